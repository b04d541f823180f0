"""A scheme put to the test, the learner's too: probed, trained, and set beside the course's ten."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from course_lab import probes, short
from course_lab.probes import Finding, Report
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
        length = short.TIER.length
        bits, known = self.short.reach[length], known_bits(length).values()
        return (
            f"{self.name} works. After {short.TIER.steps} short steps it pays {bits:.2f} bits per "
            f"byte at {length} bytes, less than {sum(other > bits for other in known)} of the "
            f"course's {len(known)}, which pay from {min(known):.2f} to {max(known):.2f}."
        )


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
        for name, findings in short.results()["probes"].items()
    }


def known_bits(length: int) -> dict[str, float]:
    """Bits per byte of the course's ten at `length`, means over seeds."""
    schemes = short.results()["schemes"]
    return {n: statistics.mean(r["reach"][length] for r in runs) for n, runs in schemes.items()}


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
