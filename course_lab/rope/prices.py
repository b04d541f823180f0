"""What a stretch costs short texts and brings long ones, as far as this course has measured it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lab import zoo

FACTORS = (2, 4)
"""Factors at which the released model of lesson 16 was stretched by YaRN."""
MEASURED = (2, 4, 8, 16)
"""Factors at which the zoo's stretched models read short texts (lesson 15)."""


def prices(factor: float | None) -> Iterator[str]:
    """What YaRN by such a factor cost; None: another stretch, of which nothing is known."""
    if factor is None:
        yield "price: no stretch by this rule was measured here; compare losses on your texts"
        return
    yield "price: YaRN holds for every text (dynamic and longrope wait for long ones). Measured"
    yield "on texts that need no stretch, as more than unstretched:"
    *short, longer = _released(factor)
    yield from short
    at = next((one for one in MEASURED if one >= factor), MEASURED[-1])
    least, most = (100 * bits for bits in price("yarn_released", at))
    yield (
        f"  three small models, made for 128 bytes (lesson 15), by {at}: "
        f"{math.floor(least) / 100:.2f} to {math.ceil(most) / 100:.2f} bits per byte"
    )
    yield longer
    yield "do not stretch a model whose texts fit: serve the few long ones from a second one"


def _released(factor: float) -> Iterator[str]:
    """SmolLM2-135M, in nats per token."""
    paid = {by: released(f"YaRN by {by}") for by in FACTORS}
    said = ", ".join(f"by {by}: {short:.2f}" for by, (short, _) in paid.items())
    yield f"  SmolLM2-135M, made for 8 192 tokens (lesson 16), {said} nats per token"
    if factor > FACTORS[-1]:
        yield f"    (by {factor:g} was not measured there)"
    unchanged = released("unchanged")[1]
    longer = ", ".join(f"by {by}: {long:+.2f}" for by, (_, long) in paid.items())
    yield (
        f"what a longer text got: tokens 12 288 to 16 383 there, against the same tokens within "
        f"8 192, {longer}, unstretched: {unchanged:+.2f}"
    )


def released(setting: str) -> tuple[float, float]:
    """Nats per token more than unchanged: within 2 048 tokens, and at twice the trained length.

    The second is more than the model pays, unchanged, for the same tokens within its length.
    """
    from course_lab.studies import released as study  # takes its time

    short = study.dearer(study.read("changed", setting), study.read("changed", "unchanged"))
    last = range(study.LENGTH - 4 * study.BLOCK, study.LENGTH)
    alone = study.read("alone", "unchanged", start=last)
    long = study.dearer(study.read("by place", setting, start=last), alone)
    return short.mean, long.mean


def price(method: str, factor: int) -> tuple[float, float]:
    """Bits per byte more at 128 bytes than unstretched: least and most of three seeds."""
    records = [one for one in zoo.study() if one.scheme == "rope" and one.length == 128
               and one.tuned_steps == 0]  # fmt: skip
    plain = {one.seed: one for one in records if one.method is None}
    more = [
        zoo.difference(one, plain[one.seed]).mean for one in records
        if one.method == method and one.factor == factor
    ]  # fmt: skip
    return min(more), max(more)
