"""Exercises of lesson 09: why do implementations disagree?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Argument, Number, Positions, Tensors, as_view
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import normal, rounded_in, shuffled

Turn = Callable[[Tensor, Tensor, float], Tensor]
Places = Callable[[int, int], Tensor]
LIBRARY = ("rotate", "Rotary", "rotation_table")
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


@dataclass(frozen=True)
class Alike(Tensors):
    """Tensors that are declared as another argument is, so that the line on the sheet is short."""

    like: str = ""

    def says(self) -> str:
        return f"as `{self.like}`" + ", or empty" * self.empty


def _angles(positions: Tensor, dim: int, base: float, dtype: torch.dtype = torch.float64) -> Tensor:
    frequencies = base ** (-torch.arange(0, dim, 2).to(dtype) / dim)
    return positions.to(dtype)[..., None] * frequencies


def _halves(x: Tensor, angles: Tensor, table_dtype: torch.dtype = torch.float64) -> Tensor:
    """Pairs (i, i + dim / 2) turned by angles (..., length, dim / 2), in x's dtype."""
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos().to(table_dtype), angles.sin().to(table_dtype)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


def _turn(x: Tensor, positions: Tensor, base: float) -> Tensor:
    return _halves(x, _angles(positions, x.shape[-1], base))


def _lengths(x: Tensor) -> Tensor:
    """How long the pairs of x are, in halves."""
    return torch.hypot(*x.double().chunk(2, dim=-1))


# converting projections ------------------------------------------------------------------------

Order = Callable[[int], Tensor]


def _order(head_dim: int) -> Tensor:
    return torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])


def _rows(weight: Tensor, heads: int, order: Order) -> Tensor:
    by_head = weight.unflatten(0, (heads, -1))
    return by_head[:, order(by_head.shape[1])].flatten(0, 1)


def _columns(weight: Tensor, heads: int, order: Order) -> Tensor:
    head_dim = len(weight) // heads
    return weight.unflatten(1, (-1, head_dim))[:, :, order(head_dim)].flatten(1)


def _converting(
    *,
    which: str = "qk",
    heads: Callable[[int, int], tuple[int, int]] = lambda q_heads, kv_heads: (q_heads, kv_heads),
    move: Callable[[Tensor, int, Order], Tensor] = _rows,
    order: Order = _order,
) -> Callable[..., tuple[Tensor, ...]]:
    """The conversion, or what becomes of it when one of these choices is another."""

    def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
        q_heads, kv_heads = heads(num_heads, num_kv_heads)
        given = {"q": (q_weight, q_heads), "k": (k_weight, kv_heads), "v": (v_weight, kv_heads)}
        return tuple(
            move(weight, count, order) if name in which else weight
            for name, (weight, count) in given.items()
        )

    return to_half


def _precise(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Random numbers that a narrower dtype cannot hold."""
    return normal(rng, *shape, dtype=dtype) / 1.3


@mistake("head width from the number of columns",
         "You take the width of a head from the weight's columns. They are the model's width, "
         "which need not be num_heads times head_dim: divide the number of *rows* by the number "
         "of heads.")  # fmt: skip
def _width_of_columns(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    order = _order(q_weight.shape[1] // num_heads)

    def moved(weight):
        return weight.unflatten(0, (-1, len(order)))[:, order].flatten(0, 1)

    return moved(q_weight), moved(k_weight), v_weight


@mistake("head width from the number of columns", _width_of_columns.why)
def _counted_by_columns(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    order = _order(q_weight.shape[1] // num_heads)

    def moved(weight, heads):
        return weight[(torch.arange(heads)[:, None] * len(order) + order).flatten()]

    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight


def _weight_cases(rng: Random) -> list[Case]:
    def case(heads, kv_heads, head_dim, dim=None, dtype=torch.float32) -> Case:
        dim = dim or heads * head_dim
        rows = (heads * head_dim, kv_heads * head_dim, kv_heads * head_dim)
        q, k, v = (_precise(rng, n, dim, dtype=dtype) for n in rows)
        return {"q_weight": q, "k_weight": k, "v_weight": v,
                "num_heads": heads, "num_kv_heads": kv_heads}  # fmt: skip

    # rows of keys divide by twice the number of query heads, so that wrong heads raise nothing
    grouped = case(4, 2, 8, dim=5)
    return [
        grouped, case(1, 1, 8), case(3, 3, 6, dim=18), case(4, 2, 12, dim=10),
        case(rng.choice([6, 9]), 3, 12, dim=7, dtype=torch.bfloat16), case(4, 1, 16, dim=3),
        case(2, 2, 2), case(2, 1, 4, dim=rng.choice([12, 20])),
        case(6, 3, 8, dim=7, dtype=torch.float64), case(2, 2, 4, dim=3, dtype=torch.float16),
        # the same weights, cut into fewer heads: the two numbers cannot change one at a time
        {**grouped, "num_heads": 2, "num_kv_heads": 1},
    ]  # fmt: skip


TO_HALF = Exercise(
    slug="rotary-convert-weights", title="Convert a model with grouped heads",
    kind="implement", minutes=25, points=3, name="to_half",
    reference=_converting(), cases=_weight_cases,
    domain={
        "q_weight": Tensors((2, 2), DTYPES),
        **{name: Alike((2, 2), DTYPES, like="q_weight") for name in ("k_weight", "v_weight")},
        "num_heads": Number(1, 9, whole=True),
        "num_kv_heads": Number(1, 4, whole=True),
    },
    roundings=0,
    properties=(
        Property("each weight keeps its dtype",
                 lambda case, value: all(
                     after.dtype == before.dtype
                     for after, before in zip(value, case.values(), strict=False))),
    ),
    forbidden=("interleaved_to_half", "half_to_interleaved"),
    hints=(
        "Which rows of a weight make the numbers of head h? Take one head of width 8, with its "
        "rows numbered 0 to 7. Pairs are (0, 1), (2, 3), (4, 5), (6, 7) now and should become "
        "(0, 4), (1, 5), (2, 6), (3, 7). So which old row must stand first, and which fifth?",
        "For width 8 the new order is 0, 2, 4, 6, 1, 3, 5, 7: all first partners, then all second "
        "ones. Heads must not mix: weight.unflatten(0, (heads, -1)) gives (heads, head_dim, dim), "
        "and indexing its second axis with that order moves rows within each head.",
        "Queries have num_heads heads, keys have num_kv_heads. Values are not rotated at all.",
    ),
    mistakes=(
        Mistake("keys permuted with the query head count",
                "Where keys have fewer heads, cutting their rows into num_heads parts cuts heads "
                "into pieces, and no error shows it if the division comes out even. Keys have "
                "num_kv_heads heads.",
                _converting(heads=lambda q_heads, kv_heads: (q_heads, q_heads))),
        Mistake("columns permuted instead of rows",
                "A row of the weight makes one number of the query; a column takes in one number "
                "of the token. It is the query's numbers that change places: move rows.",
                _converting(move=_columns)),
        Mistake("the inverse permutation",
                "You convert from halves to neighbours. For one head of width 8 take the rows in "
                "the order 0, 2, 4, 6, 1, 3, 5, 7. (At width 4 both directions are the same.)",
                _converting(order=lambda head_dim: _order(head_dim).argsort())),
        Mistake("values converted, too",
                "Values are not rotated. If their rows move, everything that is read out meets the "
                "wrong columns of the output projection.",
                _converting(which="qkv")),
        Mistake("all heads permuted as one",
                "Your order runs over the whole weight, so rows leave their heads. Permute each "
                "head by itself.",
                _converting(heads=lambda q_heads, kv_heads: (1, 1))),
        Mistake("keys forgotten",
                "You convert queries only. Queries and keys must be permuted alike, or their dot "
                "product pairs the wrong numbers.",
                _converting(which="q")),
        _width_of_columns,
        _counted_by_columns,
    ),
)  # fmt: skip

# repair: decoding ------------------------------------------------------------------------------


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
            return _halves(x, places[:, None] * frequencies)

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
    sizes = (_lengths(q) * (coarse + angles)) @ _lengths(all_k).mT / q.shape[-1] ** 0.5
    weights = _weights(_halves(q, angles), all_k)
    all_v = torch.cat([past_v, v], dim=-2).abs()
    new_keys = (_lengths(k) * (coarse + angles)).repeat(1, 1, 1, 2)
    shaken = weights * (coarse + sizes)
    return (
        shaken @ all_v + shaken.sum(dim=-1, keepdim=True) * read.abs(),
        torch.cat([torch.zeros_like(past_k), new_keys], dim=-2),
    )


def _decode_cases(rng: Random) -> list[Case]:
    def case(batch, heads, old, new, dim=8, base=10_000.0, dtype=torch.float32, slow=1.0) -> Case:
        q, k, v = (normal(rng, batch, heads, new, dim, dtype=dtype) for _ in "qkv")
        frequencies = base ** (-torch.arange(0, dim, 2).double() / dim) / slow
        past_k = _halves(
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
        case(1, 1, rng.randint(2100, 2140), 2, dim=2, dtype=torch.float16),
        case(2, 1, 7, 3, base=500.0, dtype=torch.float64),
        # as the first, at another speed; the cached keys stand for themselves
        {**usual, "frequencies": usual["frequencies"] * 0.7},
    ]  # fmt: skip


DECODE = Exercise(
    slug="rotary-decode", title="Repair: every new token stands at 0",
    kind="repair", minutes=15, points=2, name="decode",
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

# repair: a table that remembers too little -----------------------------------------------------


def _serving(
    *,
    base_noticed: bool = True,
    positions_used: bool = True,
    dtype_noticed: bool = True,
    angles_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: torch.float64,
    result_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: dtype,
) -> Callable[..., list[Tensor]]:
    """A server that turns each request for itself, or has a fault that tables in servers have."""

    def serve(requests):
        results = []
        for x, positions, base in requests:
            first_x, _, first_base = requests[0]
            at = positions if positions_used else torch.arange(len(x))
            used_base = base if base_noticed else first_base
            angles = _angles(at, x.shape[-1], used_base, angles_dtype(x.dtype))
            table_dtype = torch.float64 if dtype_noticed else first_x.dtype
            results.append(_halves(x.to(result_dtype(x.dtype)), angles, table_dtype))
        return results

    return serve


@mistake("as published",
         "The table is made for the first request, and again only for a longer one: later requests "
         "get its base, its dtype, and positions 0, 1, 2, ...")  # fmt: skip
def _serve_as_published(requests):
    results, cos, sin = [], torch.empty(0, 0), torch.empty(0, 0)
    for x, _, base in requests:
        n, dim = x.shape
        if n > len(cos):
            theta = base ** (-torch.arange(0, dim, 2) / dim)
            angles = torch.arange(n)[:, None] * theta
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        turned = [first * cos[:n] - second * sin[:n], second * cos[:n] + first * sin[:n]]
        results.append(torch.cat(turned, dim=-1))
    return results


FLOAT32_ANGLES = (
    "Near a million the digits of float32 do not suffice for an angle. Frequencies and angles need "
    "float64; round the result."
)


@mistake("angles in float32", FLOAT32_ANGLES)
def _wide_cosines_of_float32_angles(requests):
    results = []
    for x, positions, base in requests:
        angles = _angles(positions, x.shape[-1], base, torch.float32).double()
        results.append(_halves(x, angles))
    return results


@mistake("frequencies in float32",
         "Your angles are in float64, but the frequencies in them were rounded to float32 before. "
         "Far positions multiply this error: frequencies need float64, too.")  # fmt: skip
def _float32_frequencies(requests):
    results = []
    for x, positions, base in requests:
        frequencies = _angles(torch.ones(1), x.shape[-1], base, torch.float32)
        results.append(_halves(x, positions.double()[:, None] * frequencies))
    return results


@mistake("counts on from the first position",
         "You take positions[0], and count on from there. Positions may have gaps, repeat, and "
         "stand in any order: use each of them.")  # fmt: skip
def _counted_on(requests):
    return _serving()([(x, at[0] + torch.arange(len(x)), base) for x, at, base in requests])


@mistake("a table kept for other positions",
         "Your table is filed under base and length. Two requests may have both alike and stand "
         "at other positions: the second then gets the first one's angles.")  # fmt: skip
def _filed_under_base_and_length(requests):
    tables: dict[tuple[float, int], Tensor] = {}
    results = []
    for x, positions, base in requests:
        angles = tables.setdefault((base, len(x)), _angles(positions, x.shape[-1], base))
        results.append(_halves(x, angles))
    return results


def _turned_by_table(x: Tensor, angles: Tensor) -> Tensor:
    """The turn with every step in x's dtype."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


@mistake("turned in the dtype of x",
         "Cosines, sines and products are rounded to x's dtype one after the other. In half "
         "precision that adds up: turn x in float32 or float64, and round the result "
         "once.")  # fmt: skip
def _turned_in_its_dtype(requests):
    results = []
    for x, positions, base in requests:
        results.append(_turned_by_table(x, _angles(positions, x.shape[-1], base)))
    return results


@mistake("no table, but the published precision",
         "Each request is served for itself now. But angles are float32 still, and x is turned in "
         "its own dtype: compute frequencies, angles and the turn in float64, and round the "
         "result.")  # fmt: skip
def _anew_with_published_precision(requests):
    results = []
    for x, positions, base in requests:
        angles = _angles(positions, x.shape[-1], base, torch.float32)
        results.append(_turned_by_table(x, angles))
    return results


@dataclass(frozen=True)
class Requests:
    """A list of tuples of arguments, perhaps empty."""

    parts: Mapping[str, Argument]

    def says(self) -> str:
        parts = "; ".join(f"`{name}` {part.says()}" for name, part in self.parts.items())
        return f"a list, perhaps empty, of tuples `({', '.join(self.parts)})`: {parts}"

    def faults(self, value: list[tuple[Any, ...]]) -> Iterator[str]:
        for request in value:
            for part, held in zip(self.parts.values(), request, strict=True):
                yield from part.faults(held)

    def uncovered(self, values: Sequence[list[tuple[Any, ...]]]) -> Iterator[str]:
        columns = zip(*(request for value in values for request in value), strict=True)
        for part, column in zip(self.parts.values(), columns, strict=True):
            yield from part.uncovered(column)
        if all(values):
            yield "no request"


def _serve_scale(requests) -> list[Tensor]:
    """Pairs are turned in float32 at the coarsest, whatever x is, and angles are float64's."""
    scales = []
    for x, positions, base in requests:
        coarsest = min(torch.finfo(x.dtype).eps, torch.finfo(torch.float32).eps)
        angles = _angles(positions, x.shape[-1], base) * torch.finfo(torch.float64).eps / coarsest
        scales.append((4 * _lengths(x) * (1 + angles)).repeat(1, 2))
    return scales


def _request_cases(rng: Random) -> list[Case]:
    def request(positions, base=10_000.0, dtype=torch.float32):
        positions = torch.as_tensor(positions)
        x = _precise(rng, len(positions), 8, dtype=dtype)
        return as_view(x) if len(x) % 2 else x, positions, base

    def run(n, start=0):
        return torch.arange(start, start + n)

    start, far = rng.randint(300, 900), rng.randint(900_000, 999_000)
    low, half, double = torch.bfloat16, torch.float16, torch.float64
    together = run(12, start)
    return [
        {"requests": [request(run(4))]},
        {"requests": [request(run(4)), request(run(3), 500.0)]},
        {"requests": [request(run(4)), request(run(3, 9)), request(shuffled(rng, 5, 300))]},
        {"requests": [request(run(2)), request(run(9, start), 100.0, low), request(run(1, 7))]},
        # alike in base, length, first and last position
        {"requests": [request([3, 5, 20]), request([3, 9, 20]), request([20, 3, 9]),
                      request([7, 7, 7])]},
        {"requests": [request(together, 500.0), request(together, 500.5), request(together)]},
        {"requests": [request(together, dtype=d) for d in (low, torch.float32, double, half)]},
        {"requests": [request(together, dtype=d) for d in (double, half, torch.float32, low)]},
        {"requests": [request(run(16, start + 3000), dtype=half)]},
        {"requests": [request(run(6, far)), request(run(6, far), 500_000.0, double)]},
        {"requests": [request(run(16, far), 100.0)]},
        {"requests": []},
    ]  # fmt: skip


def _dtypes_kept(case: Case, results: list[Tensor]) -> bool:
    pairs = zip(results, case["requests"], strict=True)
    return all(result.dtype == x.dtype for result, (x, _, _) in pairs)


SERVE = Exercise(
    slug="rotary-stale-table", title="Repair: a table that remembers too little",
    kind="repair", minutes=15, points=2, name="serve",
    reference=_serving(), cases=_request_cases,
    domain={"requests": Requests({
        "x": Tensors((2, 2), DTYPES),
        "positions": Positions(1_000_000, axes=(1, 1)),
        "base": Number(100.0, 500_000.0),
    })},
    scale=_serve_scale, roundings=1, forbidden=LIBRARY,
    properties=(
        Property("each result has the dtype of its x", _dtypes_kept),
    ),
    hints=(
        "Serve two requests that differ in base only, one after the other, then each of them "
        "alone. Which result changes? Do the same with two dtypes, and with positions 5, 6, 7 "
        "after 0, 1, 2.",
        "The table is filed under its length, and depends on base, dtype and positions as well. "
        "The surest repair is to keep nothing: make cosines and sines for each request.",
        "angles = positions[:, None].double() * frequencies, with the frequencies in float64; "
        "turn x in float64 or float32, and convert the result to x.dtype at the end.",
    ),
    mistakes=(
        _serve_as_published,
        Mistake("a new base not noticed",
                "The second request may have another base. Whatever you keep between requests must "
                "be filed under the base, too.",
                _serving(base_noticed=False)),
        Mistake("positions not used",
                "Rows 0, 1, 2, ... of the table are right only for a text that begins at 0. Each "
                "request says where its tokens stand.",
                _serving(positions_used=False)),
        Mistake("the first request's dtype stays",
                "If the first request is bfloat16, its cosines have 8 binary digits, and a float32 "
                "request after it gets those.",
                _serving(dtype_noticed=False)),
        Mistake("angles in the dtype of x",
                "In bfloat16 neighbouring positions beyond 256 cannot be told apart. Compute "
                "angles in float64, and round the result.",
                _serving(angles_dtype=lambda dtype: dtype)),
        _wide_cosines_of_float32_angles,
        Mistake("angles in float32", FLOAT32_ANGLES,
                _serving(angles_dtype=lambda dtype: torch.float32)),
        Mistake("result no longer in x's dtype",
                "The numbers are right, but x's dtype is lost: a request in half precision gets "
                "a wider dtype back.",
                _serving(result_dtype=lambda dtype: torch.promote_types(dtype, torch.float32))),
        Mistake("every result in float64",
                "The numbers are right, but every result is float64. Convert each to the dtype "
                "of its x.",
                _serving(result_dtype=lambda dtype: torch.float64)),
        Mistake("every result in float32",
                "Every result is float32. Convert each to the dtype of its x: float64 has more "
                "digits, and half precision is asked for where x has it.",
                _serving(result_dtype=lambda dtype: torch.float32)),
        _float32_frequencies,
        _filed_under_base_and_length,
        _counted_on,
        _turned_in_its_dtype,
        _anew_with_published_precision,
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


def _one_by_one(x: Tensor, positions: Tensor, base: float) -> Tensor:
    out, half = torch.empty_like(x), x.shape[-1] // 2
    for row, position in enumerate(positions.tolist()):
        for i in range(half):
            angle = position / base ** (i / half)
            a, b = x[row, i].item(), x[row, i + half].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out


def _by_complex_numbers(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    turned = torch.complex(*x.double().chunk(2, dim=-1)) * torch.exp(1j * angles)
    return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)


def _by_tables(*, sign: int = -1, repeated_pairwise: bool = False) -> Turn:
    """As most libraries do it: x times cos, plus x with its halves exchanged times sin."""

    def turn(x: Tensor, positions: Tensor, base: float) -> Tensor:
        angles = _angles(positions, x.shape[-1], base)
        angles = angles.repeat_interleave(2, dim=-1) if repeated_pairwise else angles.repeat(1, 2)
        first, second = x.float().chunk(2, dim=-1)
        exchanged = torch.cat([sign * second, first], dim=-1)
        return (x.float() * angles.cos().float() + exchanged * angles.sin().float()).to(x.dtype)

    return turn


def _to_five_decimals(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Right, and off by up to half of what the task promises: no other right version is."""
    return _turn(x.double(), positions, base).round(decimals=5).to(x.dtype)


def _neighbours(x: Tensor, positions: Tensor, base: float) -> Tensor:
    order = _order(x.shape[-1])
    return _turn(x[..., order], positions, base)[..., order.argsort()]


def _halves_exchanged(x: Tensor, positions: Tensor, base: float) -> Tensor:
    return _turn(x, positions, base).roll(x.shape[-1] // 2, dims=-1)


def _last_pair_still(x: Tensor, positions: Tensor, base: float) -> Tensor:
    turned = _turn(x, positions, base)
    last = [x.shape[-1] // 2 - 1, x.shape[-1] - 1]
    turned[:, last] = x[:, last]
    return turned


def _drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _compare(
    turn: Turn,
    at: list[int],
    dim: int,
    base: float,
    tolerance: float = 1e-4,
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64),
    dtype_seen: bool = True,
) -> None:
    positions = torch.tensor(at)
    for dtype in dtypes:
        x = _drawn(len(at), dim).to(dtype)
        got = turn(x, positions, base)
        assert got.dtype == dtype or not dtype_seen
        assert (got - _one_by_one(x, positions, base)).abs().max() <= tolerance


def _test_turn(turn: Turn) -> None:
    _compare(turn, [7, 2, 1040], 8, 10_000.0)
    _compare(turn, [0, 5], 6, 50.0)


def _by_comparing(name: str, why: str, **how: Any) -> tuple[Mistake, ...]:
    """One mistake, whether the test looks at dtypes or not."""
    return tuple(
        Mistake(name, why, partial(_compare, **how, dtype_seen=dtype_seen))
        for dtype_seen in (True, False)
    )


@mistake("asks only what every rotation does",
         "Any rotation keeps lengths and makes scores depend on distance: neighbours as pairs, "
         "backward turns and wrong frequencies all pass. Compare known values.")  # fmt: skip
def _test_lengths(turn: Turn) -> None:
    x, positions = _drawn(5, 8), torch.arange(5)
    assert torch.allclose(turn(x, positions, 100.0).norm(dim=-1), x.norm(dim=-1), atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. A test must `assert`, and it must look at values: "
         "wrong numbers have the right shape, too. And it may allow a small difference "
         "only.")  # fmt: skip
def _test_shape(turn: Turn) -> None:
    assert turn(_drawn(5, 8), torch.arange(5), 100.0).shape == (5, 8)


LAYOUT_TEST = Exercise(
    slug="rotary-halves-test", title="Write the test: is this RoPE in halves?",
    kind="test", minutes=20, points=3, name="test_turn", reference=_test_turn,
    versions=(
        Version("cut into halves", True, _turn),
        Version("one number at a time", True, _one_by_one),
        Version("with complex numbers", True, _by_complex_numbers),
        Version("with tables in float32", True, _by_tables()),
        Version("rounded to five decimals", True, _to_five_decimals,
                "It is off by up to 0.000005, and the task promises less than 0.00001: allow as "
                "much. (allclose without atol allows a hundred-thousandth of each number, which "
                "is too little for small ones.)"),
        Version("neighbours are pairs", False, _neighbours,
                "It is right with two columns, and at position 0. Give four columns or more, and "
                "compare number by number."),
        Version("frequencies repeated pairwise, rotated as halves", False,
                _by_tables(repeated_pairwise=True),
                "Its first and last columns are right: compare all columns of four or more."),
        Version("a minus sign lost", False, _by_tables(sign=1),
                "The second half of its columns is right, and the first is where the second half "
                "of x is 0: give numbers that are not 0, and compare all columns."),
        Version("turns backwards", False, lambda x, p, base: _turn(x, -p, base),
                "Lengths do not show the direction of a turn: compare with numbers that you worked "
                "out by hand."),
        Version("exponent i/dim instead of 2i/dim", False,
                lambda x, p, base: _turn(x, p, base**0.5),
                "Its first pair is right: compare the others, too."),
        Version("positions not used", False,
                lambda x, p, base: _turn(x, torch.arange(len(x)), base),
                "It counts rows: give rows at positions that are not their numbers."),
        Version("counts from 1", False, lambda x, p, base: _turn(x, p + 1, base),
                "Differences of positions do not show it: compare with numbers for a position."),
        Version("base not used", False, lambda x, p, base: _turn(x, p, 10_000.0),
                "It is right for the base 10000, and in the first pair: give another base, and "
                "compare the other pairs."),
        Version("every row at the first row's position", False,
                lambda x, p, base: _turn(x, p[:1].expand(len(p)), base),
                "Give several rows, at positions that differ."),
        Version("halves of the result exchanged", False, _halves_exchanged,
                "Its numbers are right, and each stands half a row from its place: compare "
                "number by number."),
        Version("the last pair stands still", False, _last_pair_still,
                "Compare all pairs, at positions where the slowest has turned visibly."),
        Version("result always in float32", False,
                lambda x, p, base: _turn(x, p, base).float(),
                "The result has the dtype of x: give x in another dtype, too, and compare dtypes."),
        Version("result always in float64", False,
                lambda x, p, base: _turn(x, p, base).double(),
                "The result has the dtype of x: for x in float32 this one is float64."),
        Version("cosines and sines in bfloat16", False,
                lambda x, p, base: _halves(x, _angles(p, x.shape[-1], base), torch.bfloat16),
                "It is off by some thousandths. Right versions differ by less than 0.00001."),
        Version("a table of 512 rows, used again from row 0", False,
                lambda x, p, base: _turn(x, p % 512, base), "Ask for a position far out as well."),
    ),
    hints=(
        "What a rotation *does* (it keeps lengths, scores depend on distances) holds for both "
        "layouts, and for backward turns. Only values known by other means tell them apart.",
        "Work one row out by hand: dim = 4, base = 100, position 3. Pair 0 is columns 0 and 2, "
        "turned by 3 radians; pair 1 is columns 1 and 3, turned by 0.3. The first number of a pair "
        "becomes a cos - b sin, the second b cos + a sin.",
        "Make the faults visible: different numbers in x, two rows at different positions, "
        "neither 0 nor its row's number, one of them beyond 1000, a base that is not 10000, x in "
        "two dtypes. Allow a small difference: torch.allclose(..., atol=1e-4).",
    ),
    mistakes=(
        _test_lengths,
        *_by_comparing("only position 0", "At position 0 nothing turns, and every layout agrees.",
                       at=[0], dim=8, base=100.0),
        *_by_comparing("one pair only",
                       "With dim = 2 both layouts are the same. Take at least four columns.",
                       at=[3, 9, 4], dim=2, base=100.0),
        Mistake("asks for equality to the last bit",
                "Right programs round differently. Use torch.allclose(..., atol=1e-4).",
                lambda turn: _compare(turn, [7, 2, 40], 8, 50.0, tolerance=0.0)),
        *(
            Mistake("asks for more digits than promised",
                    "The task promises right versions that differ by less than 0.00001, and your "
                    "test allows less than that. Use torch.allclose(..., atol=1e-4).",
                    partial(_compare, at=[7, 2, 1040], dim=8, base=50.0, tolerance=tolerance,
                            dtype_seen=dtype_seen))
            for tolerance in (1e-6, 1e-7) for dtype_seen in (True, False)
        ),
        _test_shape,
        Mistake("dtypes not looked at",
                "Versions pass whose result is always float32, or float64. It should have the "
                "dtype of x: compare dtypes, for x in both.",
                lambda turn: _compare(turn, [7, 2, 1040], 8, 50.0, dtype_seen=False)),
        *(
            Mistake("x in one dtype only",
                    "A version passes whose result always has that dtype. Give x in another, too.",
                    partial(_compare, at=[7, 2, 1040], dim=8, base=50.0, dtypes=(dtype,)))
            for dtype in (torch.float32, torch.float64)
        ),
        *_by_comparing("near positions only",
                       "A version with a table of 512 rows passes. Ask for a position further out.",
                       at=[7, 2, 40], dim=8, base=50.0),
        *_by_comparing("near positions, and base 10000 only",
                       "Versions pass that have 10000 written in them, or a table of 512 rows. "
                       "Take another base, and a position further out.",
                       at=[7, 2, 40], dim=8, base=10_000.0),
        *_by_comparing("rows at their own numbers only",
                       "Versions pass that count rows instead of using positions, or that have a "
                       "table of 512 rows. Take positions with gaps, and one far out.",
                       at=[0, 1, 2], dim=8, base=50.0),
        *_by_comparing("rows at their own numbers, and base 10000 only",
                       "Versions pass that count rows, that have 10000 written in them, or a table "
                       "of 512 rows. Take positions with gaps, one far out, and another base.",
                       at=[0, 1, 2], dim=4, base=10_000.0),
        *_by_comparing("a version with few digits accepted",
                       "Cosines and sines in bfloat16 pass: they are off by some thousandths. "
                       "Right versions differ by less than 0.00001, so allow 0.0001.",
                       at=[7, 2, 1040], dim=8, base=50.0, tolerance=0.1),
    ),
)  # fmt: skip

# which layout is it? --------------------------------------------------------------------------

Fits = Callable[[Tensor, Tensor], tuple[bool, bool]]
ENOUGH = 1e-4  # lengths that differ by less are equal


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The two columns of every pair, (..., pairs, 2), with neighbours and with halves."""
    return x.unflatten(-1, (-1, 2)), x.unflatten(-1, (2, -1)).mT


def _fitting(
    *,
    rows: slice = slice(None),
    pairs: slice = slice(None),
    enough: Callable[[Tensor], Tensor] = torch.all,
    tolerance: float = ENOUGH,
    size: Callable[[Tensor], Tensor] = lambda pairs: pairs.norm(dim=-1),
    difference: Callable[[Tensor, Tensor], Tensor] = lambda one, other: (one - other).abs(),
) -> Fits:
    """Whether pairs keep their lengths, or what becomes of that with one choice made otherwise."""

    def fits(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
        found = []
        for before, after in zip(_pairs(x.double()), _pairs(turned.double()), strict=True):
            gone = difference(size(before[rows, pairs]), size(after[rows, pairs]))
            found.append(bool(enough(gone <= tolerance)))
        return found[0], found[1]

    return fits


def _whole_rows(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    gone = (x.double().norm(dim=-1) - turned.double().norm(dim=-1)).abs()
    return (bool((gone <= ENOUGH).all()),) * 2


def _only_one(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    interleaved, half = _fitting()(x, turned)
    return interleaved, half and not interleaved


def _the_likelier(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    one, other = (
        (before.norm(dim=-1) - after.norm(dim=-1)).abs().max()
        for before, after in zip(_pairs(x.double()), _pairs(turned.double()), strict=True)
    )
    return bool(one <= other), bool(other <= one)


def _one_angle_for_all(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    """Lengths as they should be, and each pair turned by the same angle in all rows."""
    found = []
    fits = _fitting()(x, turned)
    for fit, before, after in zip(fits, _pairs(x.double()), _pairs(turned.double()), strict=True):
        turns = torch.view_as_complex(after.contiguous()) / torch.view_as_complex(
            before.contiguous()
        )
        found.append(fit and bool((turns - turns[:1]).abs().max() <= ENOUGH))
    return found[0], found[1]


@mistake("one layout decides for both",
         "You answer for one layout, and give the opposite for the other. Both may fit, and "
         "neither may: look at each by itself.")  # fmt: skip
def _interleaved_or_not(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    interleaved, _ = _fitting()(x, turned)
    return interleaved, not interleaved


@mistake("one layout decides for both", _interleaved_or_not.why)
def _half_or_not(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    _, half = _fitting()(x, turned)
    return not half, half


def _exchanged(x: Tensor, turned: Tensor) -> tuple[bool, bool]:
    interleaved, half = _fitting()(x, turned)
    return half, interleaved


def _layout_cases(rng: Random) -> list[Case]:
    def case(*layouts: str, dim: int = 8, dtype=torch.float32, still: int = 0) -> Case:
        """A row for each layout; its pairs turn by any angles, but the first `still` not at all."""
        x = normal(rng, len(layouts), dim, dtype=torch.float64)
        x = x + x.sign() / 2  # no short pairs, which would hide that they changed
        angles = 0.8 + 4.6 * torch.rand(
            len(layouts), dim // 2, generator=torch.Generator().manual_seed(rng.getrandbits(32))
        )
        angles[:, :still] = 0
        halves, order = _halves(x, angles.double()), _order(dim)
        neighbours = _halves(x[:, order], angles.double())[:, order.argsort()]
        stretched = x.clone()
        stretched[:, -1] *= 1.3  # the last column is in the last pair of both layouts
        shortened = x.clone()
        shortened[:, -1] *= 0.6
        middle = x.clone()
        middle[:, dim // 2] *= 1.3
        kinds = {"half": halves, "interleaved": neighbours, "unturned": x, "stretched": stretched,
                 "shortened": shortened, "middle": middle,
                 "backwards": halves.flip(-1)}  # fmt: skip
        turned = torch.stack([kinds[kind][row] for row, kind in enumerate(layouts)])
        return {"x": x.to(dtype), "turned": turned.to(dtype)}

    one, other, double = "interleaved", "half", torch.float64
    return [
        case(one, one, one), case(other, other, other, dim=4), case(one, dtype=double),
        case(other, other, dim=rng.choice([10, 12])), case(one, other), case(other, one, dim=6),
        case("unturned", "unturned", dtype=double), case("unturned", other, dim=6),
        case(one, one, one, dim=2), case("backwards", "backwards"),
        case("stretched", "stretched", dtype=double), case("unturned", "stretched"),
        case("shortened", "shortened"), case("unturned", "shortened", dtype=double),
        case("middle", "middle", dim=12), case(one, dim=20), case(other, dim=24, dtype=double),
        case(other, other, other, dim=8, still=1), case(one, one, one, dim=16, still=4),
        case(*[one] * 8, other), case(*[other] * 9, "backwards", dim=6),
    ]  # fmt: skip


WHICH_LAYOUT = Exercise(
    slug="rotary-which-layout", title="Harder: which layout is it?",
    kind="implement", minutes=15, points=3, name="layouts_that_fit",
    reference=_fitting(), cases=_layout_cases,
    domain={
        "x": Tensors((2, 2), (torch.float32, torch.float64)),
        "turned": Alike((2, 2), (torch.float32, torch.float64), like="x"),
    },
    hints=(
        "You know neither positions nor frequencies. What does every turn of a pair leave as it "
        "was, whatever the angle?",
        "Two points of the plane can be turned into each other exactly if they are equally far "
        "from the origin. So a pair (a, b) fits if sqrt(a^2 + b^2) is the same before and after.",
        "torch.hypot(x[:, 0::2], x[:, 1::2]) gives these lengths for neighbours. For halves take "
        "torch.hypot(*x.chunk(2, dim=-1)). A layout fits if *all* pairs of *all* rows keep theirs.",
    ),
    mistakes=(
        Mistake("lengths of whole rows",
                "You compare the lengths of whole rows. Every rotation keeps these, in any layout. "
                "What does a layout keep that another layout does not?",
                _whole_rows),
        Mistake("the first row only",
                "Another row may be turned in another layout: all rows have to fit.",
                _fitting(rows=slice(1))),
        Mistake("the first pair only",
                "The first pair may fit by accident, or stand still. All pairs have to fit.",
                _fitting(pairs=slice(1))),
        Mistake("one pair is enough",
                "You accept a layout as soon as one pair fits. All pairs have to fit.",
                _fitting(enough=torch.any)),
        Mistake("mean lengths",
                "You compare the means of all lengths: one pair may be longer, and another "
                "shorter. All pairs have to fit.",
                _fitting(size=lambda pairs: pairs.norm(dim=-1).mean())),
        Mistake("never both",
                "Both layouts may fit at once, for example where nothing has turned, or where "
                "there are only two columns.",
                _only_one),
        _interleaved_or_not,
        _half_or_not,
        Mistake("a pair may get shorter",
                "You look for pairs that have become longer, and accept any that are shorter. "
                "Take the difference without its sign: abs.",
                _fitting(difference=lambda before, after: after - before)),
        Mistake("a pair may get longer",
                "You look for pairs that have become shorter, and accept any that are longer. "
                "Take the difference without its sign: abs.",
                _fitting(difference=lambda before, after: before - after)),
        Mistake("always at least one",
                "You take the layout that fits better. There may be none that fits.",
                _the_likelier),
        Mistake("one angle for all rows",
                "You ask that each pair turns by the same angle in all rows. Rows stand at "
                "different positions, so their angles differ. Lengths alone decide.",
                _one_angle_for_all),
        Mistake("equal to the last bit",
                "Turned numbers are rounded. Lengths that differ by less than 0.0001 count as "
                "equal.",
                _fitting(tolerance=0.0)),
        Mistake("the two answers exchanged",
                "Your two answers stand in the wrong order: interleaved comes first.",
                _exchanged),
        Mistake("sums instead of lengths",
                "You compare a + b. A turn changes this sum; what does it keep?",
                _fitting(size=lambda pairs: pairs.sum(dim=-1))),
    ),
)  # fmt: skip

EXERCISES = (TO_HALF, DECODE, SERVE, LAYOUT_TEST, WHICH_LAYOUT)
