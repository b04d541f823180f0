"""Repair: every new token stands at 0."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Property, Repair
from course_grading.exercise.domain import Tensors
from course_grading.specs.draw import normal, rounded_in
from course_grading.specs.rotary_in_practice.common import (
    DTYPES,
    LIBRARY,
    Alike,
    halves_of,
    lengths,
)

Places = Callable[[int, int], Tensor]


def _weights(q: Tensor, k: Tensor, sees_ahead: int = 0, scaled: bool = True) -> Tensor:
    new, total = q.shape[-2], k.shape[-2]
    seen = torch.ones(new, total, dtype=torch.bool).tril(total - new + sees_ahead)
    scores = q @ k.mT / (q.shape[-1] ** 0.5 if scaled else 1.0)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


def _after_the_cache(old: int, new: int) -> Tensor:
    return old + torch.arange(new)


def _from_0(old: int, new: int) -> Tensor:
    return torch.arange(new)


def _decoding(
    *,
    queries: Places = _after_the_cache,
    keys: Places | None = None,  # None: as the queries
    cache_turned_again: bool = False,
    sees_ahead: Callable[[int, int], int] = lambda old, new: 0,
    scaled: bool = True,
    new_keys_alone: bool = False,
    new_keys_first: bool = False,
    positions_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: torch.float64,
    read_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: dtype,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Decoding; `queries` and `keys` say where new ones stand, from the numbers of old and new."""

    def decode(q, k, v, past_k, past_v, frequencies):
        def turned(x: Tensor, positions: Tensor) -> Tensor:
            places = positions.to(positions_dtype(x.dtype)).double()
            return halves_of(x, places[:, None] * frequencies)

        def joined(past: Tensor, now: Tensor) -> Tensor:
            return torch.cat([now, past] if new_keys_first else [past, now], dim=-2)

        old, new = past_k.shape[-2], k.shape[-2]
        if cache_turned_again:
            past_k = turned(past_k, torch.arange(old))
        all_k = joined(past_k, turned(k, (keys or queries)(old, new)))
        all_v = joined(past_v, v)
        turned_q = turned(q, queries(old, new))
        wide_q, wide_k, wide_v = (t.to(read_dtype(q.dtype)) for t in (turned_q, all_k, all_v))
        read = _weights(wide_q, wide_k, sees_ahead(old, new), scaled) @ wide_v
        return read, all_k[..., old:, :] if new_keys_alone else all_k

    return decode


def _decode_scale(q, k, v, past_k, past_v, frequencies) -> tuple[Tensor, Tensor]:
    """Keys, scores and weights are rounded in q's dtype, angles in float32 at the coarsest."""
    coarse = rounded_in(q.dtype, torch.ones(()))
    q, k, v, past_k, past_v = (t.double() for t in (q, k, v, past_k, past_v))
    read, all_k = _decoding()(q, k, v, past_k, past_v, frequencies)
    old, new = past_k.shape[-2], k.shape[-2]
    angles = (old + torch.arange(new))[:, None] * frequencies
    sizes = (lengths(q) * (coarse + angles)) @ lengths(all_k).mT / q.shape[-1] ** 0.5
    weights = _weights(halves_of(q, angles), all_k)
    all_v = torch.cat([past_v, v], dim=-2).abs()
    new_keys = (lengths(k) * (coarse + angles)).repeat(1, 1, 1, 2)
    shaken = weights * (coarse + sizes)
    return (
        shaken @ all_v + shaken.sum(dim=-1, keepdim=True) * read.abs(),
        torch.cat([torch.zeros_like(past_k), new_keys], dim=-2),
    )


def _decode_cases(rng: Random) -> list[Case]:
    def case(batch, heads, old, new, dim=8, base=10_000.0, dtype=torch.float32, slow=1.0) -> Case:
        q, k, v = (normal(rng, batch, heads, new, dim, dtype=dtype) for _ in "qkv")
        frequencies = base ** (-torch.arange(0, dim, 2).double() / dim) / slow
        past_k = halves_of(
            normal(rng, batch, heads, old, dim, dtype=dtype),
            torch.arange(old).double()[:, None] * frequencies,
        )
        return {"q": q, "k": k, "v": v, "past_k": past_k,
                "past_v": normal(rng, batch, heads, old, dim, dtype=dtype),
                "frequencies": frequencies}  # fmt: skip

    usual = case(3, 2, 5, 4, dim=6, slow=2.5)
    return [
        usual, case(1, 1, 0, 4), case(2, 2, 3, 1), case(2, 1, 1, 5, dim=4),
        case(1, 2, rng.randint(6, 20), 3, dim=16, base=100.0),
        # past where int8, bfloat16 and float16 lose count
        case(1, 2, rng.randint(300, 340), 4, dim=4, dtype=torch.bfloat16),
        case(1, 1, rng.randint(2100, 2140), 3, dim=2),
        case(2, 2, rng.randint(2100, 2140), 3, dim=2, dtype=torch.float16),
        case(2, 1, 7, 3, base=500.0, dtype=torch.float64),
        # as the first, at another speed; the cached keys stand for themselves
        {**usual, "frequencies": usual["frequencies"] * 0.7},
    ]  # fmt: skip


EXERCISE = Repair(
    slug="rotary-decode", title="Repair: every new token stands at 0",
    minutes=15, points=2, name="decode",
    reference=_decoding(), cases=_decode_cases,
    domain={
        "q": Tensors((4, 4), DTYPES),
        **{name: Alike((4, 4), DTYPES, like="q") for name in ("k", "v")},
        **{name: Alike((4, 4), DTYPES, empty=True, like="q") for name in ("past_k", "past_v")},
        "frequencies": Tensors((1, 1), (torch.float64,)),
    },
    scale=_decode_scale, roundings=2,
    forbidden=(*LIBRARY, "attend"),
    properties=(
        Property("both results have the dtype of q",
                 lambda case, value: all(t.dtype == case["q"].dtype for t in value)),
    ),
    hints=(
        "Run it on six tokens at once, with an empty cache; then on five, and on the sixth with "
        "the cache of the five. Which angle does the sixth get in each case?",
        "The cache holds past_k.shape[-2] tokens, at positions 0, 1, 2, ... Where does the first "
        "new token stand, and where the second?",
        "Positions of new tokens: past_k.shape[-2] + torch.arange(q.shape[-2]). The cached keys "
        "are turned already: leave them alone.",
    ),
    mistakes=(
        Mistake("positions restart at 0",
                "You count positions from the new tokens alone, so the first of them is always at "
                "0. It stands behind all tokens that the cache holds.",
                _decoding(queries=_from_0)),
        Mistake("new keys still restart at 0",
                "Queries stand where they should, but new keys stand at 0, 1, 2, ... Turn both by "
                "the same positions.",
                _decoding(keys=_from_0)),
        Mistake("counts the new token twice",
                "With 5 tokens in the cache, at 0 to 4, the next one stands at 5, not at 6.",
                _decoding(queries=lambda old, new: old + 1 + torch.arange(new))),
        Mistake("all new tokens at one position",
                "One position is enough for one new token. When several come at once, each stands "
                "one further than the one before.",
                _decoding(queries=lambda old, new: torch.full((new,), old))),
        Mistake("cached keys turned again",
                "The cached keys are turned already. Turn the new ones only, then append.",
                _decoding(cache_turned_again=True)),
        Mistake("no mask among new tokens",
                "Every new token sees all the others, those after it as well. Hide the keys that "
                "stand after a query.",
                _decoding(sees_ahead=lambda old, new: new)),
        Mistake("mask that forgets the cache",
                "Your mask lets query 0 see key 0 only, as if the cache were empty. The diagonal "
                "begins at past_k.shape[-2]. (is_causal=True in torch does the same.)",
                _decoding(sees_ahead=lambda old, new: -old)),
        Mistake("mask that shows one key too many",
                "Each new token but the last sees the token after it. The diagonal of the mask "
                "begins at past_k.shape[-2], as in the published version.",
                _decoding(sees_ahead=lambda old, new: 1)),
        Mistake("mask that hides the token itself",
                "Your mask hides each new token from itself. The diagonal of the mask begins at "
                "past_k.shape[-2], as in the published version.",
                _decoding(sees_ahead=lambda old, new: -1)),
        Mistake("new keys before the cached ones",
                "You put new keys and values before those of the cache. Column j of the mask is "
                "the token at position j, and the next step counts on that order: the cache "
                "comes first.",
                _decoding(new_keys_first=True)),
        Mistake("scores not divided by the root of head_dim",
                "The published version divides scores by the root of head_dim, rightly. Yours "
                "does not.",
                _decoding(scaled=False)),
        Mistake("new keys returned without the cached ones",
                "Your second result holds the keys of the new tokens. The next step needs *all* "
                "keys, those of the cache first.",
                _decoding(new_keys_alone=True)),
        Mistake("positions in the dtype of q",
                "You count positions in the dtype of q. bfloat16 cannot count beyond 256, nor "
                "float16 beyond 2048: keep positions and angles in float32 or float64.",
                _decoding(positions_dtype=lambda dtype: dtype)),
        Mistake("what is read left in float32",
                "The numbers are right, but what the new tokens read is always float32. Convert "
                "it to the dtype of q.",
                _decoding(read_dtype=lambda dtype: torch.float32)),
    ),
)  # fmt: skip
