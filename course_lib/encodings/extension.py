"""Context extension: other frequencies for a trained RoPE, so that it reads further.

Every method returns `ScaledFrequencies`; `Rotary(head_dim, **scaled._asdict())` uses them. All
raise ValueError, by the argument's name, for a `factor` below 1, a `dim` that is odd or below 4, an
`original_length` below 2, a `base` of 1 or less, a negative `length`, and a ramp whose slow end is
not above 0 and below the fast; and for infinities and what is no number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.encodings.angles import rotary_frequencies


class ScaledFrequencies(NamedTuple):
    """What a context extension method changes."""

    frequencies: Float[Tensor, " pairs"]
    """Radians per position of each pair, in float64."""
    attention_factor: float = 1.0
    """Multiplies cosines and sines of queries and keys, so scores grow by its square."""


def interpolated(frequencies: Float[Tensor, " pairs"], factor: float) -> ScaledFrequencies:
    """Every pair `factor` times slower: position p turns as p / factor did.

    Source: Chen et al. 2023, Position Interpolation, section 2.3 (arXiv 2306.15595).
    """
    _check(factor=factor)
    return ScaledFrequencies(frequencies.double() / factor)


def ntk_aware(dim: int, base: float, factor: float) -> ScaledFrequencies:
    """A larger base, base * factor^(dim / (dim - 2)).

    The fastest pair is unchanged, and the slowest exactly `factor` times slower.

    Source: bloc97 2023, NTK-aware scaled RoPE; Peng et al. 2023, definition 1 (arXiv 2309.00071).
    """
    _check(factor=factor, dim=dim)
    rotary_frequencies(dim, base)  # checks the base that was given: a raised one may be above 1
    return ScaledFrequencies(rotary_frequencies(dim, base * factor ** (dim / (dim - 2))))


def dynamic_ntk(
    dim: int, base: float, factor: float, length: int, original_length: int
) -> ScaledFrequencies:
    """NTK-aware by the stretch f n / L - (f - 1) for length n beyond L; unchanged up to L.

    `factor` f is not the extension: with f = 1 the stretch is exactly n / L. Computed anew from
    the length at hand, so a short text after a long one gets the original frequencies back.

    Source: emozilla 2023; the released code of transformers, type "dynamic".
    """
    _check(factor=factor, dim=dim, original_length=original_length, length=length)
    stretch = factor * length / original_length - (factor - 1)
    return ntk_aware(dim, base, max(1.0, stretch))


def by_parts(
    frequencies: Float[Tensor, " pairs"], factor: float, original_length: int,
    slow: float = 1.0, fast: float = 32.0,
) -> ScaledFrequencies:  # fmt: skip
    """Pairs interpolated by how many turns they make in the original context.

    A pair of r = original_length * frequency / 2 pi turns is divided by `factor` if r <= slow,
    kept if r >= fast, and blended linearly in r between: the ramp as the paper writes it.

    Source: Peng et al. 2023, YaRN, definition 2 (arXiv 2309.00071).
    """
    _check(factor=factor, original_length=original_length)
    _check_ramp("slow", slow, "fast", fast)
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return ScaledFrequencies(_blended(frequencies, factor, keep))


def yarn(
    dim: int, base: float, factor: float, original_length: int,
    beta_fast: float = 32.0, beta_slow: float = 1.0, ramp: Literal["index", "turns"] = "index",
    truncate: bool = True, attention_factor: float | None = None,
) -> ScaledFrequencies:  # fmt: skip
    """By parts, and cosines and sines multiplied by 0.1 ln(factor) + 1.

    With ramp "turns" this is the paper's formula. With "index", the released code's, the blend is
    linear in the pair's number, between the pairs that make `beta_fast` and `beta_slow` turns
    (rounded outwards if `truncate`, and clamped to 0..dim - 1). For single pairs the two are up to
    2.3 times apart at dim 128, base 10 000, factor 8 and original_length 4096.

    Source: Peng et al. 2023, sections 3.2 to 3.4 (arXiv 2309.00071), and its released code.
    """
    _check(factor=factor, dim=dim, original_length=original_length)
    frequencies = rotary_frequencies(dim, base)
    if attention_factor is None:
        attention_factor = yarn_factor(factor)
    if ramp == "turns":
        scaled = by_parts(frequencies, factor, original_length, slow=beta_slow, fast=beta_fast)
        return scaled._replace(attention_factor=attention_factor)
    if ramp != "index":
        raise ValueError(f"ramp must be 'index' or 'turns', got {ramp!r}")
    _check_ramp("beta_slow", beta_slow, "beta_fast", beta_fast)

    def pair_of(turns: float) -> float:
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(beta_fast), pair_of(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    width = high - low if high != low else 0.001  # as released: a step instead of a ramp
    pairs = torch.arange(dim // 2, dtype=torch.float64, device=frequencies.device)
    slowed = ((pairs - low) / width).clamp(0, 1)
    return ScaledFrequencies(_blended(frequencies, factor, keep=1 - slowed), attention_factor)


def longrope(
    dim: int, base: float, short_factors: Sequence[float], long_factors: Sequence[float],
    length: int, original_length: int, factor: float,
) -> ScaledFrequencies:  # fmt: skip
    """Each pair divided by a factor found by search: a short one up to L, a long one beyond.

    `long_factors` apply if length > original_length, strictly. The attention factor is
    sqrt(1 + ln(factor) / ln(original_length)). Raises ValueError unless there is a factor above 0
    for each pair in both lists.

    Source: Ding et al. 2024, LongRoPE (arXiv 2402.13753); Phi-3's released code.
    """
    _check(factor=factor, dim=dim, original_length=original_length, length=length)
    for name, factors in {"short_factors": short_factors, "long_factors": long_factors}.items():
        if len(factors) != dim // 2:
            raise ValueError(
                f"{name} must have {dim // 2} numbers, one for each pair, got {len(factors)}"
            )
        if not all(0 < one < math.inf for one in factors):
            raise ValueError(f"{name} must be above 0 and finite, got {list(factors)}")
    factors = long_factors if length > original_length else short_factors
    frequencies = rotary_frequencies(dim, base)
    divided = frequencies / frequencies.new_tensor(factors)
    return ScaledFrequencies(divided, math.sqrt(1 + math.log(factor) / math.log(original_length)))


def llama3(
    frequencies: Float[Tensor, " pairs"], factor: float, original_length: int,
    low_freq_factor: float = 1.0, high_freq_factor: float = 4.0,
) -> ScaledFrequencies:  # fmt: skip
    """Llama 3.1's rule: exactly `by_parts`, with its formula, slow = 1 and fast = 4 turns.

    Where both are the same number (Llama 4), there is no ramp: pairs with fewer turns are slowed.

    Source: Grattafiori et al. 2024, The Llama 3 Herd of Models (arXiv 2407.21783), released code.
    """
    if low_freq_factor == high_freq_factor:
        low_freq_factor = math.nextafter(high_freq_factor, 0)  # a step instead of a ramp
    _check_ramp("low_freq_factor", low_freq_factor, "high_freq_factor", high_freq_factor)
    return by_parts(frequencies, factor, original_length, low_freq_factor, high_freq_factor)


def yarn_factor(factor: float, weight: float = 1.0) -> float:
    """YaRN's attention factor, 0.1 weight ln(factor) + 1; DeepSeek's configs give it a weight."""
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def _blended(frequencies: Tensor, factor: float, keep: Tensor) -> Tensor:
    return keep * frequencies.double() + (1 - keep) * frequencies.double() / factor


MOST = 2**63
"""Above all lengths: positions are counted in int64."""


def _check(*, factor: float, dim: int = 4, original_length: int = 2, length: int = 0) -> None:
    if not 1 <= factor < MOST:
        raise ValueError(f"factor must be 1 or more, got {factor}: contexts are made longer here")
    if dim < 4 or dim % 2:
        raise ValueError(
            f"dim must be even and 4 or more, got {dim}: with one pair, the fastest is the slowest"
        )
    if not 2 <= original_length < MOST:
        raise ValueError(
            f"original_length must be 2 or more, got {original_length}: the length of trained texts"
        )
    if not 0 <= length < MOST:
        raise ValueError(f"length must be 0 or more, got {length}: that of the text at hand")


def _check_ramp(slow_name: str, slow: float, fast_name: str, fast: float) -> None:
    if not 0 < slow < fast < math.inf:
        raise ValueError(
            f"{slow_name} must be below {fast_name}, got {slow} and {fast}: pairs with fewer turns "
            "than the first, above 0, are slowed, pairs with more turns than the second are kept"
        )
