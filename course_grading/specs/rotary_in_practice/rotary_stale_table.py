"""Repair: a table that remembers too little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Property, Repair, mistake
from course_grading.exercise.domain import Argument, Number, Positions, Tensors, as_view
from course_grading.specs.draw import shuffled
from course_grading.specs.rotary_in_practice.common import (
    DTYPES,
    LIBRARY,
    angles_of,
    halves_of,
    lengths,
    precise,
)


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
            angles = angles_of(at, x.shape[-1], used_base, angles_dtype(x.dtype))
            table_dtype = torch.float64 if dtype_noticed else first_x.dtype
            results.append(halves_of(x.to(result_dtype(x.dtype)), angles, table_dtype))
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
        angles = angles_of(positions, x.shape[-1], base, torch.float32).double()
        results.append(halves_of(x, angles))
    return results


@mistake("frequencies in float32",
         "Your angles are in float64, but the frequencies in them were rounded to float32 before. "
         "Far positions multiply this error: frequencies need float64, too.")  # fmt: skip
def _float32_frequencies(requests):
    results = []
    for x, positions, base in requests:
        frequencies = angles_of(torch.ones(1), x.shape[-1], base, torch.float32)
        results.append(halves_of(x, positions.double()[:, None] * frequencies))
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
        angles = tables.setdefault((base, len(x)), angles_of(positions, x.shape[-1], base))
        results.append(halves_of(x, angles))
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
        results.append(_turned_by_table(x, angles_of(positions, x.shape[-1], base)))
    return results


@mistake("no table, but the published precision",
         "Each request is served for itself now. But angles are float32 still, and x is turned in "
         "its own dtype: compute frequencies, angles and the turn in float64, and round the "
         "result.")  # fmt: skip
def _anew_with_published_precision(requests):
    results = []
    for x, positions, base in requests:
        angles = angles_of(positions, x.shape[-1], base, torch.float32)
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
        angles = angles_of(positions, x.shape[-1], base) * torch.finfo(torch.float64).eps / coarsest
        scales.append((4 * lengths(x) * (1 + angles)).repeat(1, 2))
    return scales


def _request_cases(rng: Random) -> list[Case]:
    def request(positions, base=10_000.0, dtype=torch.float32):
        positions = torch.as_tensor(positions)
        x = precise(rng, len(positions), 8, dtype=dtype)
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


EXERCISE = Repair(
    slug="rotary-stale-table", title="Repair: a table that remembers too little",
    minutes=15, points=2, name="serve",
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
