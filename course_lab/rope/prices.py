"""What a stretch costs short texts and brings long ones, as far as this course has measured it.

The numbers are those of the studies "released" and "zoo"; a test works them out again. Reading them
there takes torch, and seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

RELEASED = {2: (0.03, -0.06), 4: (0.11, 0.06)}
"""Nats per token by YaRN's factor, in the model of lesson 16: more than unchanged within 2 048
tokens; at twice its length, more than it pays, unchanged, for the same tokens within its length."""
UNSTRETCHED = 4.16
"""The second of these for the model as it is."""
SMALL = {2: (0.05, 0.12), 4: (0.25, 0.30), 8: (0.35, 0.39), 16: (0.44, 0.48)}
"""Bits per byte by YaRN's factor, in small models, at 128 bytes: more than unstretched, least and
most of three seeds (lesson 15)."""
MODEL = "SmolLM2-135M"


def prices(factor: float | None) -> Iterator[str]:
    """What YaRN by such a factor cost; None: another stretch, of which nothing is known."""
    if factor is None:
        yield "price: no stretch by this rule was measured here; compare losses on your texts"
        return
    yield from (f"warning: {one}" for one in too_far(factor))
    if max(RELEASED) < factor <= max(SMALL):
        yield (
            f"note: {factor:g} was measured here in small models alone; in a released one "
            f"{max(RELEASED)} is the largest factor that was"
        )
    yield "price: YaRN holds for every text (dynamic and longrope wait for long ones). On texts"
    yield "that need no stretch, these models paid more than unstretched, in next-token loss:"
    yield from paid(factor)
    longer = ", ".join(f"by {by}: {long:+.2f}" for by, (_, long) in RELEASED.items())
    others = "" if factor in RELEASED else "; other factors: not measured"
    yield (
        f"gain: at twice its length {MODEL} paid, against the same tokens within its length, "
        f"{longer}, unstretched: {UNSTRETCHED:+.2f} nats per token{others}"
    )


def paid(factor: float) -> Iterator[str]:
    """By how much texts that need no stretch became dearer, in models that were measured."""
    said = ", ".join(f"by {by}: {short:.2f} nats{_bits(short)}" for by, (short, _) in
                     RELEASED.items())  # fmt: skip
    yield f"  {MODEL}, trained on 8 192 tokens (lesson 16), {said} per token"
    at = next((by for by in SMALL if by >= factor), max(SMALL))
    least, most = SMALL[at]
    yield (
        f"  three small models, trained on 128 bytes (lesson 15), by {at}: {least:.2f} to "
        f"{most:.2f} bits ({_nats(least)} to {_nats(most)} nats) per byte"
    )


def too_far(factor: float | None) -> Iterator[str]:
    """A warning of a factor beyond all that were measured."""
    if (factor or 0) > max(SMALL):
        yield (
            f"{factor:g} is far beyond the stretches measured here ({max(RELEASED)} at most in a "
            f"released model, {max(SMALL)} in small ones). Nothing here says that it works: train "
            "the model at that length, or take one that is made for it"
        )


def unread() -> str:
    """What happens to a model beyond its training."""
    return (
        f"at twice its trained length {MODEL} paid {UNSTRETCHED:.2f} nats{_bits(UNSTRETCHED)} "
        "more per token, in next-token loss (lesson 16)"
    )


def _bits(nats: float) -> str:
    return f" ({nats / math.log(2):.2f} bits)"


def _nats(bits: float) -> str:
    return f"{bits * math.log(2):.2f}"
