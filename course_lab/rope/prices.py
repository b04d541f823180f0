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
GAINED = {2: (0.39, 0.60), 4: (1.06, 1.46), 8: (1.72, 2.04), 16: (1.80, 2.01)}
"""The same at the end of the stretch: less than unstretched there."""
LONGROPE = {2: (0.01, 0.03), 4: (0.11, 0.13), 8: (0.28, 0.33), 16: (0.34, 0.46)}
LONGROPE_GAINED = {2: (0.43, 0.66), 4: (1.22, 1.61), 8: (1.82, 2.12), 16: (1.84, 2.12)}
"""Both with divisors that were searched for each model, as LongRoPE's long list is."""
INTERPOLATED = 1.16
"""What interpolation by 2 costs without training, as the first of `RELEASED`."""
MODEL = "SmolLM2-135M"


def prices(factor: float | None) -> Iterator[str]:
    """What YaRN by such a factor cost; None: another stretch, of which nothing is known."""
    if factor is None:
        yield "price: not known here, no stretch by this rule was measured; compare losses yourself"
        yield "gain: not known here, for the same reason"
        return
    yield from (f"warning: {one}" for one in too_far(factor))
    if max(RELEASED) < factor <= max(SMALL):
        yield (
            f"note: {factor:g} was measured here in small models alone; in a released one "
            f"{max(RELEASED)} is the largest factor that was"
        )
    yield "price: YaRN holds for every text, short ones, too."
    yield "Next-token loss against the unstretched model, + is worse:"
    yield from paid(factor)
    yield from gains(factor)


def gains(factor: float) -> Iterator[str]:
    """What texts that are too long without it gained, in models that were measured."""
    longer = ", ".join(f"{long:+.2f} by {by}" for by, (_, long) in RELEASED.items())
    others = "" if factor in RELEASED else "; other factors: not measured"
    yield "gain: on texts that are too long without a stretch:"
    yield (
        f"  at twice its length {MODEL} (lesson 16) pays, against the same tokens within its "
        f"length, {longer}, and unstretched {UNSTRETCHED:+.2f} nats per token{others}"
    )
    at, least, most = _near(GAINED, factor)
    yield (
        f"  at the end of a stretch by {at}, {least:.2f} to {most:.2f} bits per byte "
        "less than unstretched in three small models (lesson 15)"
    )


LONG_LIST = {
    ("transformers", "SGLang"): "only once a text is longer than those of training",
    ("vLLM", "llama.cpp"): "for every text when started for more",
}
"""When engines take it."""


def of_longrope(factor: float, engine: str | None) -> Iterator[str]:
    """What is known of a model's own LongRoPE."""
    at, least, most = _near(LONGROPE, factor)
    _, less, more = _near(LONGROPE_GAINED, factor)
    yield (
        "price of its own stretch (longrope): not known of this model. "
        f"{'; '.join(_who_takes_the_long_list(engine))}"
    )
    small = f"in three small models with a list searched for a stretch by {at} (lesson 15)"
    yield f"  short texts: {least:+.2f} to {most:+.2f} bits per byte {small}"
    yield "gain of its own stretch: not known of this model"
    yield (
        f"  long texts: at the end of the stretch {less:.2f} to {more:.2f} bits per byte less than "
        f"unstretched {small}"
    )


def _who_takes_the_long_list(engine: str | None) -> Iterator[str]:
    for engines, when in LONG_LIST.items():
        asked = [name for name in engines if engine in (None, name.lower())]
        if asked:
            take = "takes" if len(asked) == 1 else "take"
            yield f"{' and '.join(asked)} {take} the long list {when}"


def _near(measured: dict[int, tuple[float, float]], factor: float) -> tuple[int, float, float]:
    """The factor that was measured next above, or the largest, and the numbers for it."""
    at = next((by for by in measured if by >= factor), max(measured))
    return at, *measured[at]


def paid(factor: float) -> Iterator[str]:
    """By how much texts that need no stretch became dearer, in models that were measured."""
    said = ", ".join(f"{short:+.2f} by {by}" for by, (short, _) in RELEASED.items())
    yield f"  short texts: {said}, in nats per token in {MODEL} (lesson 16)"
    at, least, most = _near(SMALL, factor)
    yield (
        f"  short texts: {least:+.2f} to {most:+.2f} bits per byte by {at} in three small models "
        "(lesson 15)"
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
