"""The report card of a scheme: its curves beside the course's ten, and a page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course_lab.assessment import PROBES, Assessment, assess, known_bits, known_findings
from course_lab.figures.measured import BITS
from course_lab.figures.plots import draw_mark, lengths_axis
from course_lab.figures.style import BLACK, NAMES, figure, line_of, png
from course_lab.instruments import probes
from course_lab.instruments.probes import Report
from course_lab.studies import short
from course_lab.zoo import Make

ALT = "Left, the training loss of {name} beside the ten; right, the loss by length of context."
ENDS = (short.TIER.lengths[0], short.TIER.lengths[-1])
NOTE = (
    f"A small model, trained at {short.TIER.length} bytes. This scheme: one seed. The course's "
    f"ten: the mean of {len(short.SEEDS)} seeds, after {{steps}} steps."
)


class Card(Assessment):
    """An assessment as a figure and as a page."""

    def figure(self) -> Figure:
        """How the small model learned, and its loss by length: in black, the ten in colours."""
        fig, (left, right) = figure(7.6, 4.2, columns=2)
        lengths = short.TIER.lengths
        bits = [known_bits(length, self.rival_steps) for length in lengths]
        for name, runs in short.schemes(self.rival_steps).items():
            look = {**line_of(NAMES[name]), "label": NAMES[name], "linewidth": 1.2}
            _draw_curve(left, np.mean([run["curve"] for run in runs], axis=0), look)
            right.plot(lengths, [known[name] for known in bits], **look)
        if self.short:
            look = {"color": BLACK, "linestyle": "-", "linewidth": 3, "label": self.name}
            _draw_curve(left, self.short.curve, look)
            right.plot(list(self.short.reach), list(self.short.reach.values()), **look)
        left.set(title="Learning", xlabel="training step", ylabel=BITS)
        right.set(title="Reach", xlabel="length of the window (bytes)", ylabel=BITS)
        lengths_axis(right, lengths)
        draw_mark(right, f"trained at {short.TIER.length}", short.TIER.length)
        handles, labels = right.get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
        return fig

    def save(self, path: str | Path) -> Path:
        """Write the page as one HTML file, pictures included, and return its path."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def html(self) -> str:
        """The page."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        bits = {length: known_bits(length, self.rival_steps) for length in ENDS}
        reach = self.short.reach if self.short else {}
        rows = [_words(self.name, self.findings, [reach.get(n) for n in ENDS])]
        rows += [
            _words(NAMES[name], report, [bits[n][name] for n in ENDS])
            for name, report in known_findings().items()
        ]
        templates = Environment(
            loader=PackageLoader("course_lab.figures"),
            autoescape=True,
            trim_blocks=True,
            undefined=StrictUndefined,
        )
        return templates.get_template("report_card.html").render(
            name=self.name,
            says=self.says(),
            colour="trouble" if self.trouble else "good",
            picture=base64.b64encode(png(self.figure())).decode(),
            alt=ALT.format(name=self.name),
            note=NOTE.format(steps=self.rival_steps),
            heads=["scheme", *(f"bits at {length}" for length in ENDS), *PROBES],
            rows=rows,
            questions={name: (probes.PROBES[name].__doc__ or "").strip() for name in PROBES},
        )


def report_card(name: str, make: Make, seed: int = 0, steps: int | None = None) -> Card:
    """The report card of a scheme, in some seconds; the arguments are those of `assess`."""
    return Card(*assess(name, make, seed, steps))


def _draw_curve(ax: Any, curve: Sequence[float], look: dict[str, Any]) -> None:
    ax.plot((np.arange(len(curve)) + 0.5) * short.CURVE, curve, **look)
    ax.set_ylim(top=4.6)


def _words(name: str, findings: Report, bits: Sequence[float | None]) -> list[str]:
    """A scheme's row of the table."""
    numbers = ("-" if number is None else f"{number:.2f}" for number in bits)
    says = (findings[probe].says if probe in findings else "-" for probe in PROBES)
    return [name, *numbers, *says]
