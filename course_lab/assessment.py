"""A scheme put to the test, the learner's too: probed, trained, and set beside the course's ten."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from course_lab.instruments import probes
from course_lab.instruments.probes import Finding, Report
from course_lab.studies import short
from course_lab.zoo import Make
from course_lib.encodings import PositionScheme
from course_lib.model import DecoderConfig

PROBES = [name for name in probes.PROBES if name != "training time"]
"""The probes of a report card; times of two machines cannot be compared."""


class Assessment(NamedTuple):
    """What was measured of a scheme."""

    name: str
    findings: Report
    short: short.Short | None
    """How a small model with it learned; None if it could not be trained."""
    trouble: list[str]
    """What does not work, a sentence each; empty for a scheme that works."""

    def says(self) -> str:
        """The verdict, in a line or more."""
        if self.short is None or self.trouble:
            return "\n".join([f"{self.name} is not ready:", *(f"- {t}" for t in self.trouble)])
        length, steps = short.TIER.length, len(self.short.curve) * short.CURVE
        bits, known = self.short.reach[length], known_seeds(length, self.rival_steps)
        behind = sum(min(seeds) > bits for seeds in known.values())
        means = [statistics.mean(seeds) for seeds in known.values()]
        return (
            f"{self.name} works. After {steps} short steps it pays {bits:.2f} bits per byte at "
            f"{length} bytes. The course's {len(known)} pay from {min(means):.2f} to "
            f"{max(means):.2f} after {self.rival_steps} steps; {behind} of them pay more with each "
            f"of their {len(short.SEEDS)} seeds."
        )

    @property
    def rival_steps(self) -> int:
        """The steps of the trainings of the course's ten that this one is set beside."""
        trained = len(self.short.curve) * short.CURVE if self.short else 0
        return short.LONGER if trained >= short.LONGER else short.TIER.steps


def assess(name: str, make: Make, seed: int = 0, steps: int | None = None) -> Assessment:
    """Probe a scheme and train a small model with it, in some seconds.

    `make(config)` returns a scheme, or a function from layer number to scheme, for a model with
    the sizes `config.dim`, `config.num_heads` and `config.head_dim`. Errors of the scheme are not
    raised: they stand in `trouble`.
    """
    try:
        scheme = make(DecoderConfig())
    except Exception as error:  # a scheme under test may do anything wrong
        return Assessment(name, {}, None, [f"making it failed: {_in_words(error)}"])
    if not isinstance(scheme, PositionScheme) and not callable(scheme):
        reason = f"make(config) must return a PositionScheme, got {type(scheme).__name__}"
        return Assessment(name, {}, None, [reason])
    findings = probes.run(scheme, only=PROBES)
    trouble = [f"{probe}: {f.says}" for probe, f in findings.items() if f.good is False]
    try:
        learned = short.run(make, seed, steps=steps or short.TIER.steps)
    except Exception as error:
        learned, trouble = None, [*trouble, f"training stopped: {_in_words(error)}"]
    return Assessment(name, findings, learned, trouble)


def known_findings() -> dict[str, Report]:
    """The findings of the same probes on the course's ten."""
    return {
        name: {probe: Finding(**finding) for probe, finding in findings.items()}
        for name, findings in short.findings().items()
    }


def known_seeds(length: int, steps: int = short.TIER.steps) -> dict[str, list[float]]:
    """Bits per byte of each seed of the course's ten at `length`, trained for `steps`."""
    return {
        name: [run["reach"][length] for run in runs] for name, runs in short.schemes(steps).items()
    }


def known_bits(length: int, steps: int = short.TIER.steps) -> dict[str, float]:
    """Bits per byte of the course's ten at `length`, means over seeds."""
    return {name: statistics.mean(seeds) for name, seeds in known_seeds(length, steps).items()}


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
