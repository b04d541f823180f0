"""A page about one scheme, the learner's own, beside the ten of the course."""

from __future__ import annotations

import base64
import statistics
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from course_lab import probes, short
from course_lab.figures.measured import BITS, lengths_axis
from course_lab.figures.plots import draw_mark
from course_lab.figures.style import BLACK, NAMES, figure, line_of, png
from course_lab.probes import Finding, Report
from course_lib.encodings import PositionScheme
from course_lib.model import DecoderConfig

PROBES = [name for name in probes.PROBES if name != "training time"]
"""What stands on the card; time is the machine's, and cannot be set beside a stored one."""
ALT = "Left, the training loss of {name} beside the ten; right, the loss by length of context."


ENDS = (short.TIER.lengths[0], short.TIER.lengths[-1])
NOTE = (
    f"A small model, trained for {short.TIER.steps} steps at {short.TIER.length} bytes. This "
    f"scheme: one seed. The course's ten: the mean of {short.SEEDS} seeds."
)


class Card(NamedTuple):
    """What was found about a scheme."""

    name: str
    findings: Report
    short: short.Short | None
    """How a small model around it learned; None if it could not be trained."""
    trouble: list[str]
    """What is broken, in words; empty for a scheme that works."""

    def says(self) -> str:
        """The verdict in a line or more."""
        if self.short is None or self.trouble:
            return "\n".join([f"{self.name} is not ready:", *(f"- {t}" for t in self.trouble)])
        at, home = short.TIER.length, short.TIER.lengths[0]
        known = _known_bits(home)
        worse = sum(bits > self.short.reach[home] for bits in known.values())
        return (
            f"{self.name} works. After {short.TIER.steps} short steps it pays "
            f"{self.short.reach[home]:.2f} bits per byte at {at} bytes, less than {worse} of "
            f"the course's {len(known)}, which pay from {min(known.values()):.2f} to "
            f"{max(known.values()):.2f}."
        )

    def table(self) -> str:
        """Markdown: what every probe found, this scheme's row first."""
        known = {NAMES[name]: report for name, report in known_findings().items()}
        return probes.table({self.name: self.findings, **known})

    def figure(self) -> Figure:
        """How the small model learned, and how far it reads: black, the others in colours."""
        fig, (left, right) = figure(7.6, 4.2, columns=2)
        for name, runs in short.results()["schemes"].items():
            look = {**line_of(NAMES[name]), "label": NAMES[name], "linewidth": 1.2}
            _draw_curve(left, np.mean([run["curve"] for run in runs], axis=0), look)
            reach = [statistics.mean(run["reach"][n] for run in runs) for n in short.TIER.lengths]
            right.plot(short.TIER.lengths, reach, **look)
        if self.short:
            look = {"color": BLACK, "linestyle": "-", "linewidth": 3, "label": self.name}
            _draw_curve(left, self.short.curve, look)
            right.plot(list(self.short.reach), list(self.short.reach.values()), **look)
        left.set(title="Learning", xlabel="training step", ylabel=BITS)
        right.set(title="Reach", xlabel="bytes of context", ylabel=BITS)
        lengths_axis(right, short.TIER.lengths)
        draw_mark(right, f"trained at {short.TIER.length}", short.TIER.length)
        handles, labels = right.get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
        return fig

    def save(self, path: str | Path) -> Path:
        """Write the page as one HTML file, pictures included, and return where it is."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def html(self) -> str:
        """The page."""
        picture = base64.b64encode(png(self.figure())).decode()
        says = escape(self.says()).replace("\n", "<br>")
        colour = "#FBE3C0" if self.trouble else "#D5EFE5"
        bits = {length: _known_bits(length) for length in ENDS}
        own = self.short.reach if self.short else {}
        rows = [_Row(self.name, self.findings, [own.get(n) for n in ENDS], colour)]
        rows += [
            _Row(NAMES[name], report, [bits[n][name] for n in ENDS], "#FFFFFF")
            for name, report in known_findings().items()
        ]
        return "\n".join([
            "<!doctype html>", "<html lang='en'><head><meta charset='utf-8'>",
            f"<title>{escape(self.name)}</title></head>",
            "<body style='font-family: sans-serif; max-width: 75em; margin: 2em auto'>",
            f"<h1>{escape(self.name)}</h1>",
            f"<p style='background: {colour}; padding: 0.8em'>{says}</p>",
            f"<img alt='{escape(ALT.format(name=self.name), quote=True)}' "
            f"src='data:image/png;base64,{picture}'>",
            "<h2>Bits per byte, and what the probes found</h2>", _html_table(rows),
            f"<p>{NOTE}</p>", _html_questions(), "</body></html>",
        ])  # fmt: skip


def report_card(name: str, make: short.Make, seed: int = 0, steps: int | None = None) -> Card:
    """Probe a scheme and train a small model around it, in some seconds.

    `make(config)` returns a scheme, or a function from layer number to scheme, for a model with
    the sizes `config.dim`, `config.num_heads` and `config.head_dim`. A scheme that breaks raises
    nothing: what went wrong stands in the card's `trouble`.
    """
    try:
        scheme = make(DecoderConfig())
    except Exception as error:  # whatever a scheme under test does wrong is told, not raised
        return Card(name, {}, None, [f"making it failed: {_told(error)}"])
    if not isinstance(scheme, PositionScheme) and not callable(scheme):
        told = f"make(config) must return a PositionScheme, got {type(scheme).__name__}"
        return Card(name, {}, None, [told])
    findings = probes.run(scheme, only=PROBES)
    trouble = [f"{probe}: {f.says}" for probe, f in findings.items() if f.good is False]
    try:
        learned = short.run(make, seed, steps=steps or short.TIER.steps)
    except Exception as error:
        return Card(name, findings, None, [*trouble, f"training stopped: {_told(error)}"])
    return Card(name, findings, learned, trouble)


def known_findings() -> dict[str, Report]:
    """What the same probes found about the course's ten."""
    stored = short.results()["probes"]
    return {
        name: {probe: Finding(**finding) for probe, finding in found.items()}
        for name, found in stored.items()
    }


def _known_bits(length: int) -> dict[str, float]:
    schemes = short.results()["schemes"]
    return {n: statistics.mean(r["reach"][length] for r in runs) for n, runs in schemes.items()}


def _draw_curve(ax: Any, curve: Sequence[float], look: dict[str, Any]) -> None:
    ax.plot((np.arange(len(curve)) + 0.5) * short.CURVE, curve, **look)
    ax.set_ylim(top=4.6)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"


class _Row(NamedTuple):
    """A scheme's line in the page's table."""

    name: str
    findings: Report
    bits: Sequence[float | None]
    colour: str


def _html_table(rows: Sequence[_Row]) -> str:
    cell = "style='border: 1px solid #BBBBBB; padding: 0.3em'"
    heads = ["scheme", *(f"bits at {length}" for length in ENDS), *PROBES]
    lines = ["<tr>" + "".join(f"<th {cell}>{escape(head)}</th>" for head in heads) + "</tr>"]
    for name, findings, bits, colour in rows:
        words = [name, *("-" if paid is None else f"{paid:.2f}" for paid in bits)]
        words += [findings[probe].says if probe in findings else "-" for probe in PROBES]
        cells = "".join(f"<td {cell}>{escape(word)}</td>" for word in words)
        lines.append(f"<tr style='background: {colour}'>{cells}</tr>")
    return f"<table style='border-collapse: collapse; font-size: 80%'>{''.join(lines)}</table>"


def _html_questions() -> str:
    asked = {probe: (probes.PROBES[probe].__doc__ or "").strip() for probe in PROBES}
    told = (f"<dt>{escape(name)}</dt><dd>{escape(ask)}</dd>" for name, ask in asked.items())
    return f"<h2>What each probe asks</h2><dl>{''.join(told)}</dl>"
