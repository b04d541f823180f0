"""The frequencies that rotary parameters ask for, in plain numbers.

The formulas and their sources are those of `course_lib.encodings.extension`, and a test compares
the two for every type. Here they need no torch, which takes longer to import than all the rest of
`course rope`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Ladder = tuple[float, ...]
"""Radians per position of each pair, the fastest first."""
ORIGINAL = "original_max_position_embeddings"
OLD_NAMES = {"su": "longrope", "mrope": "default"}
"""What the first configs of Phi-3 and of Qwen2-VL call these types."""


class Stretch(NamedTuple):
    """What parameters make of a ladder."""

    ladder: Ladder
    attention_factor: float = 1.0


class Asked(NamedTuple):
    """Rotary parameters, and what they are applied to."""

    parameters: Mapping[str, Any]
    base: float
    plain: Ladder
    length: int | None
    """The length in the config."""
    share: float

    @property
    def factor(self) -> float:
        """By how much the text becomes longer; where it is left out, the ratio of two lengths."""
        given = self.parameters.get("factor")
        return _checked((self.length or 0) / self.original if given is None else given)

    @property
    def original(self) -> float:
        """The length in which turns are counted."""
        length = self.parameters[ORIGINAL]
        if length < 2:
            raise ValueError(f"{ORIGINAL} must be 2 or more, got {length}")
        return float(length)


def plain_ladder(columns: int, base: float) -> Ladder:
    """The frequencies before anything is stretched: base^(-2i / columns)."""
    return tuple(base ** (-column / columns) for column in range(0, columns, 2))


def stretched(
    parameters: Mapping[str, Any], columns: int, length: int | None, share: float = 1.0
) -> Stretch:
    """What parameters of a type in `TYPES` make of the ladder of so many columns.

    `share` is that of a "proportional" head, of which the rest stands still. Raises ValueError, in
    one line that names the key.
    """
    base = parameters["rope_theta"]
    kind = OLD_NAMES.get(parameters["rope_type"], parameters["rope_type"])
    asked = Asked(parameters, base, plain_ladder(columns, base), length, share)
    return TYPES[kind][0](asked)


def with_larger_base(columns: int, base: float, factor: float) -> Ladder:
    """NTK-aware: the fastest pair is kept, and the slowest slowed by the factor."""
    return plain_ladder(columns, base * _checked(factor) ** (columns / (columns - 2)))


def axes_of_pairs(sections: Sequence[int], interleaved: bool = False) -> tuple[int, ...]:
    """The axis of each pair: section after section, or in turns while an axis has pairs left.

    Raises ValueError where an axis has more pairs than turns.
    """
    pairs, axes = sum(sections), len(sections)
    if not interleaved:
        return tuple(axis for axis, count in enumerate(sections) for _ in range(count))
    if any(count > len(range(axis, pairs, axes)) for axis, count in enumerate(sections) if axis):
        raise ValueError(f"sections {list(sections)} cannot be interleaved")
    return tuple(pair % axes if pair // axes < sections[pair % axes] else 0
                 for pair in range(pairs))  # fmt: skip


def _slowed(asked: Asked, keep: Iterator[float]) -> Ladder:
    """Pairs divided by the factor, but for the share that is kept."""
    factor = asked.factor
    return tuple(share * one + (1 - share) * one / factor
                 for share, one in zip(keep, asked.plain, strict=True))  # fmt: skip


def _within(value: float, least: float = 0.0, most: float = 1.0) -> float:
    return min(max(value, least), most)


def _interpolated(asked: Asked) -> Stretch:
    return Stretch(tuple(one / asked.factor for one in asked.plain))


def _dynamic(asked: Asked) -> Stretch:
    """Nothing, up to the length in the config; beyond it the base grows."""
    _checked(asked.parameters["factor"])
    return Stretch(asked.plain)


def _yarn(asked: Asked) -> Stretch:
    """The released code's: the ramp is linear in the pair's number."""
    given, columns, original = asked.parameters, 2 * len(asked.plain), asked.original
    fast, slow = given.get("beta_fast") or 32.0, given.get("beta_slow") or 1.0
    _check_ramp("beta_slow", slow, "beta_fast", fast)

    def pair_of(turns: float) -> float:
        wave = original / (turns * 2 * math.pi)
        return columns * math.log(wave) / (2 * math.log(asked.base))

    low, high = pair_of(fast), pair_of(slow)
    truncate = given.get("truncate")
    if truncate is None or truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, columns - 1)
    width = high - low if high != low else 0.001  # as released: a step instead of a ramp
    keep = (1 - _within((pair - low) / width) for pair in range(columns // 2))
    return Stretch(_slowed(asked, keep), _yarn_factor(asked))


def _yarn_factor(asked: Asked) -> float:
    """0.1 ln(factor) + 1, or what the parameters say; DeepSeek's have two weights for it."""
    given, factor = asked.parameters, asked.factor
    if (said := given.get("attention_factor")) is not None:
        return float(said)

    def grown(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    mscale, all_dim = given.get("mscale"), given.get("mscale_all_dim")
    return grown(mscale) / grown(all_dim) if mscale and all_dim else grown(1.0)


def _llama3(asked: Asked) -> Stretch:
    """Linear in the turns that a pair makes in the original length."""
    slow, fast = (asked.parameters[key] for key in ("low_freq_factor", "high_freq_factor"))
    if slow == fast:
        slow = math.nextafter(fast, 0)  # a step instead of a ramp
    _check_ramp("low_freq_factor", slow, "high_freq_factor", fast)
    turns = (asked.original * one / (2 * math.pi) for one in asked.plain)
    return Stretch(_slowed(asked, (_within((one - slow) / (fast - slow)) for one in turns)))


def _longrope(asked: Asked) -> Stretch:
    """A factor for each pair: a list for texts of the original length, and one for longer ones."""
    given, original = asked.parameters, asked.original
    lists = [given["short_factor"], given["long_factor"]]
    for key, factors in zip(("short_factor", "long_factor"), lists, strict=True):
        _check_factors(key, factors, len(asked.plain))
    factors = lists[(asked.length or 0) > original]
    grown = math.sqrt(1 + math.log(asked.factor) / math.log(original))
    said = given.get("attention_factor")
    ladder = tuple(one / factor for one, factor in zip(asked.plain, factors, strict=True))
    return Stretch(ladder, grown if said is None else float(said))


def _proportional(asked: Asked) -> Stretch:
    """The ladder of the whole head, of which the slow end stands still."""
    turning = int(asked.share * 2 * len(asked.plain) // 2)
    factor = 1.0 if asked.parameters.get("factor") is None else asked.factor
    return Stretch(tuple(one / factor if pair < turning else 0.0
                         for pair, one in enumerate(asked.plain)))  # fmt: skip


def _checked(factor: float) -> float:
    if not factor >= 1:
        raise ValueError(f"factor must be 1 or more, got {factor:g}: contexts are made longer here")
    return float(factor)


def _check_ramp(slow_name: str, slow: float, fast_name: str, fast: float) -> None:
    if not 0 < slow < fast:
        raise ValueError(
            f"{slow_name} must be below {fast_name}, got {slow} and {fast}: pairs with fewer turns "
            "than the first, above 0, are slowed, pairs with more turns than the second are kept"
        )


def _check_factors(key: str, factors: Any, pairs: int) -> None:
    def is_number(one: Any) -> bool:
        return isinstance(one, (int, float)) and not isinstance(one, bool)

    if not isinstance(factors, list) or not all(map(is_number, factors)):
        raise ValueError(f"{key} must be a list of numbers, got {factors!r:.60}")
    if len(factors) != pairs:
        raise ValueError(f"{key} must have {pairs} numbers, one for each pair, got {len(factors)}")
    if not all(0 < one < math.inf for one in factors):
        raise ValueError(f"{key} must have finite numbers above 0, got {factors!r:.60}")


OF_LLAMA = ("factor", ORIGINAL, "low_freq_factor", "high_freq_factor")
TYPES: dict[str, tuple[Callable[[Asked], Stretch], set[str]]] = {
    "default": (lambda asked: Stretch(asked.plain), set()),
    "linear": (_interpolated, {"factor"}),
    "dynamic": (_dynamic, {"factor"}),
    "yarn": (_yarn, {"factor", ORIGINAL, "attention_factor", "beta_fast", "beta_slow", "mscale",
                     "mscale_all_dim", "truncate"}),
    "longrope": (_longrope, {"factor", ORIGINAL, "attention_factor", "short_factor",
                             "long_factor"}),
    "llama3": (_llama3, set(OF_LLAMA)),
    "proportional": (_proportional, {"factor"}),
    "axial": (lambda asked: Stretch(asked.plain), set()),
}  # fmt: skip
"""For each type what it does, for texts of the length in the config, and the keys that it takes."""
