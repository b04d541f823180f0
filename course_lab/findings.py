"""Sentences that carry their evidence: what was measured, over which seeds, beside which control.

A lesson calls `finding(...)` on records. Means and spreads are computed from these, and a sentence
whose records do not carry it is refused; `course findings` writes all of them to docs/findings.md.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import torch

from course_lab.instruments.evaluation import difference
from course_lab.markdown import spread, table
from course_lib.errors import CourseError

MIME = "application/vnd.course.finding"  # text: JupyterLab would write the number 1.0 as 1
SEEDS = 3  # fewer carry no sentence
TEXTS = 6  # of a model that was trained once, by others
OUTCOMES = ("holds", "differs", "does not hold")
"""What a released model says of a finding in small ones: all of it, a part of it, or none."""


class FindingError(CourseError):
    """A sentence that its records do not carry; the message says what is missing."""


class Record(Protocol):
    """What a finding needs of a measurement."""

    @property
    def seed(self) -> int | str: ...
    @property
    def steps(self) -> int:
        """Of training."""

    @property
    def value(self) -> float: ...
    @property
    def text(self) -> str:
        """What it was measured on: passages by their checksum, or an exam by its name."""


class Measured(NamedTuple):
    """A measurement of a lesson's own; `bits` are those of every passage, where there are any.

    A released model has no seeds: the name of the text that it read takes their place, or the
    number of a draw, with 0 steps.
    """

    seed: int | str
    steps: int
    value: float
    text: str
    bits: tuple[float, ...] = ()


Groups = Mapping[str, Sequence[Record]]
"""Records of several seeds under the name of what they measure, such as "RoPE at 512"."""
Controls = Mapping[str, Sequence[Record] | float]
"""The same, or a number that needs no seeds: a ceiling, or what ignorance would get."""


def finding(
    number: str,
    sentence: str,
    records: Groups,
    *,
    unit: str,
    control: Controls,
    asks: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Show a sentence, closed over its evidence, for the reader and for docs/findings.md.

    `unit` is what every value is counted in, such as "bits per byte" or "share of right answers".
    Every group has at least three seeds, trained for equally many steps and measured on the same
    text, or a released model on at least six texts, the same in every group; `control` stands
    beside them, measured alike. Raises FindingError if not.
    """
    found = Finding(
        number,
        sentence,
        {name: [_plain(record) for record in group] for name, group in records.items()},
        {
            name: group if isinstance(group, float) else [_plain(record) for record in group]
            for name, group in control.items()
        },
        unit,
        dict(asks),
    )
    found.check()
    from IPython.display import display  # a learner's package

    display({"text/markdown": found.shown(), MIME: found.stored()}, raw=True)


@dataclass(frozen=True)
class Finding:
    """A sentence, and the records on both sides of it."""

    number: str
    sentence: str
    records: dict[str, list[Measured]]
    control: dict[str, list[Measured] | float]
    unit: str
    asks: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise FindingError, which says why, if the records do not carry the sentence."""
        if not re.fullmatch(r"F[1-9]\d*", self.number):
            raise FindingError(f"a finding has a number such as F1, got {self.number!r}")
        if not self.unit.strip():
            raise FindingError(
                f"{self.number} needs a unit of its values, such as 'bits per byte': got "
                f"{self.unit!r}"
            )
        for other, outcome in self.asks.items():
            if not re.fullmatch(r"F[1-9]\d*", other) or outcome not in OUTCOMES:
                raise FindingError(
                    f"{self.number} answers {outcome!r} for {other!r}: give the number of a "
                    f"finding, and one of {', '.join(OUTCOMES)}"
                )
        if not self.records or not self.control:
            raise FindingError(f"{self.number} needs records, and a control to stand beside them")
        sides = {**self.records, **{n: g for n, g in self.control.items() if isinstance(g, list)}}
        for name, group in sides.items():
            seeds, needed = [record.seed for record in group], TEXTS if self.of_texts else SEEDS
            if len(set(seeds)) < needed or len(set(seeds)) < len(seeds):
                raise FindingError(
                    f"{self.number} rests on the {self.units} {sorted(seeds, key=str)} of "
                    f"{name!r}, and a sentence needs {needed} different ones: measure more of them"
                )
            if len(steps := {record.steps for record in group}) > 1:
                raise FindingError(
                    f"{self.number} mixes trainings of {sorted(steps)} steps in {name!r}: put each "
                    "budget into a group of its own"
                )
        read = {frozenset(record.seed for record in group) for group in sides.values()}
        if self.of_texts and len(read) > 1:
            raise FindingError(f"{self.number} compares different texts: measure both sides on all")
        if len(texts := {record.text for group in sides.values() for record in group}) > 1:
            raise FindingError(
                f"{self.number} compares what was measured on different text, {sorted(texts)}: "
                "measure both sides on the same"
            )

    @property
    def of_texts(self) -> bool:
        """Whether texts stand in place of seeds."""
        return any(isinstance(r.seed, str) for group in self.records.values() for r in group)

    @property
    def units(self) -> str:
        """What was measured again and again: numbers drawn without any training are no seeds."""
        trained = any(r.steps for group in self.records.values() for r in group)
        return "texts" if self.of_texts else "seeds" if trained else "draws"

    def rows(self) -> list[list[str]]:
        """What was measured, its value, and its seeds and steps, on both sides."""
        rows = []
        for name, group in [*self.records.items(), *self.control.items()]:
            if isinstance(group, float):
                rows.append([name, f"{group:.2f}", ""])
                continue
            about = f"{self.units} " + ", ".join(str(record.seed) for record in group)
            if self.of_texts and len(group) > TEXTS:
                about = group[0].text  # too many to be named in every line
            if self.units == "seeds":
                about += f"; {group[0].steps} steps"
            rows.append([name, spread([record.value for record in group]), about])
        return rows

    def change(self) -> str:
        """The difference between the first group and the first control, where bytes are paired."""
        group, other = next(iter(self.records.values())), next(iter(self.control.values()))
        if isinstance(other, float):
            return ""
        theirs = {record.seed: record for record in other}
        if self.of_texts:
            values = [[record.value for record in group], [theirs[r.seed].value for r in group]]
            mean, error = difference(*torch.tensor(values))
            return f"{mean:+.3f} (standard error {error:.3f}, over {len(group)} texts)"
        if not all(record.bits for record in [*group, *other]):
            return ""
        pairs = [(record, theirs[record.seed]) for record in group if record.seed in theirs]
        if not pairs:
            return ""
        a, b = (torch.tensor([r.bits for r in side]) for side in zip(*pairs, strict=True))
        mean, error = difference(a, b)
        return f"{mean:+.3f} (standard error {error:.3f}, over {a.shape[-1]} passages)"

    def evidence(self) -> str:
        """What was measured, on both sides, with its unit."""
        change, first, control = self.change(), next(iter(self.records)), next(iter(self.control))
        head = ["", f"{self.unit}, mean over {self.units} ± half their range", "measured on"]
        by = "text by text" if self.of_texts else "passage by passage"
        paired = f"\n\n{first} minus {control}, {by}: {change}." if change else ""
        return f"{table(head, self.rows())}{paired}"

    def shown(self) -> str:
        """The finding as a learner sees it: one line, which opens to its evidence."""
        line = f"<b>{self.number}.</b> {html.escape(self.sentence, quote=False)} <i>(evidence)</i>"
        return f"<details><summary>{line}</summary>\n\n{self.evidence()}\n\n</details>"

    def stored(self) -> str:
        """Plain values for a notebook's output, in lists, since it sorts the keys of dictionaries.

        `read` is the way back.
        """
        sides: dict[str, Mapping[str, Any]] = {"records": self.records, "control": self.control}
        groups = {side: [[n, g] for n, g in groups.items()] for side, groups in sides.items()}
        asked = {"asks": [*self.asks.items()]} if self.asks else {}
        said = {"number": self.number, "sentence": self.sentence, "unit": self.unit}
        return json.dumps({**said, **groups, **asked})


def read(text: str) -> Finding:
    """The finding that `Finding.stored` wrote."""
    stored = json.loads(text)

    def side(name: str) -> dict[str, Any]:
        return {
            label: group if isinstance(group, float) else [Measured(*record) for record in group]
            for label, group in stored[name]
        }

    return Finding(
        stored["number"],
        stored["sentence"],
        side("records"),
        side("control"),
        stored["unit"],
        dict(stored.get("asks", [])),
    )


def _plain(record: Record) -> Measured:
    bits = tuple(round(float(value), 4) for value in getattr(record, "bits", ()))
    return Measured(record.seed, record.steps, round(float(record.value), 4), record.text, bits)
