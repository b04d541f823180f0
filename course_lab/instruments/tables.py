"""What a table of positions is made of: directions, waves, shifts, and the rows that stand out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

Table = Float[Tensor, "rows dim"]
RIDGES = tuple(10.0**power for power in range(-8, 3))
"""Times the mean square of the rows."""
BLOCKS = 8
"""Of rows: a matrix is fitted in every second one."""
NEAR = 8
"""Rows on either side that a row's length is compared with."""


def centred(table: Table) -> Table:
    """The table in float64, less its mean row."""
    return table.double() - table.double().mean(dim=0)


def shares(table: Table) -> Float[Tensor, " directions"]:
    """The share of the rows' variance along each of their directions, the largest first."""
    squares = torch.linalg.svdvals(centred(table)).square()
    found: Tensor = squares / squares.sum()
    return found


def power(table: Table) -> Float[Tensor, " frequencies"]:
    """The share of the rows' variance that turns 0, 1, 2, ... times in the length of the table."""
    squares = torch.fft.rfft(centred(table), dim=0).abs().square().sum(dim=1)
    found: Tensor = squares / squares.sum()
    return found


class Pair(NamedTuple):
    """The two directions in which the waves of a band are largest."""

    directions: Float[Tensor, "2 dim"]
    wavelength: float
    """Of the largest wave, in rows."""
    share: float
    """Of the table's variance, in the band."""
    flat: float
    """The share of the band's variance that lies in these two directions."""
    one_way: float
    """The share of it that turns one way: 1 for two waves of one length, near 0.5 for many."""


def pair(table: Table, shortest: float, longest: float) -> Pair:
    """What waves of `shortest` to `longest` rows do in a table."""
    rows = centred(table)
    waves = torch.fft.fft(rows, dim=0)
    turns = len(rows) * torch.fft.fftfreq(len(rows), dtype=torch.float64)
    lengths = len(rows) / turns.abs()
    inside = (lengths >= shortest) & (lengths < longest)
    band = torch.where(inside[:, None], waves, 0.0)
    filtered = torch.fft.ifft(band, dim=0).real
    _, sizes, directions = torch.linalg.svd(filtered, full_matrices=False)
    x, y = (filtered @ directions[:2].T).unbind(dim=1)
    turning = torch.fft.fft(torch.complex(x / x.norm(), y / y.norm())).abs().square()
    one, other = turning[turns > 0].sum(), turning[turns < 0].sum()
    sizes = sizes.square()
    by_turns = band.abs().square().sum(dim=1)
    return Pair(
        directions[:2],
        float(lengths[by_turns.argmax()]),
        float(by_turns.sum() / waves.abs().square().sum()),
        float(sizes[:2].sum() / sizes.sum()),
        float(torch.maximum(one, other) / (one + other)),
    )


def alike(table: Table, distances: Sequence[int]) -> list[float]:
    """The mean cosine of two rows so far apart."""
    rows = normalize(table.double(), dim=-1)
    return [float((rows[d:] * rows[: len(rows) - d]).sum(dim=-1).mean()) for d in distances]


# Is a shift a matrix? -----------------------------------------------------------------------------


def left_after_shift(table: Table, by: int) -> float:
    """The share of variance that a fitted matrix leaves when it moves other rows on by `by`.

    Row p + by is fitted as a matrix times row p, in every second of BLOCKS blocks of rows, and
    tried in the blocks between; then these change places, and the mean is taken. The strength of
    the ridge is the one that leaves least in the last block that is fitted, fitted without it.
    """
    return _mean_of_halves(table, by, _left)


def left_if_unmoved(table: Table, by: int) -> float:
    """The same share, if each row stands for the one that comes `by` rows after it."""
    return _mean_of_halves(table, by, lambda fitted, tried: _share_left(*_joined(tried)))


Steps = tuple[Table, Table]
"""Rows, and those that come so many rows after them."""


def _mean_of_halves(
    table: Table, by: int, left: Callable[[Sequence[Steps], Sequence[Steps]], float]
) -> float:
    size = len(table) // BLOCKS
    if by >= size:
        raise ValueError(f"blocks have {size} rows, and none stands {by} after another")
    blocks = [block for block in table.double().split(size) if len(block) == size]
    steps = [(block[: size - by], block[by:]) for block in blocks]
    return (left(steps[::2], steps[1::2]) + left(steps[1::2], steps[::2])) / 2


def _left(fitted: Sequence[Steps], tried: Sequence[Steps]) -> float:
    rows, wanted = _joined(fitted[-1:])
    left = [_share_left(found, wanted) for found in _moved(fitted[:-1], RIDGES, rows)]
    ridge = RIDGES[left.index(min(left))]
    rows, wanted = _joined(tried)
    [found] = _moved(fitted, [ridge], rows)
    return _share_left(found, wanted)


def _joined(steps: Sequence[Steps]) -> Steps:
    starts, goals = zip(*steps, strict=True)
    return torch.cat(starts), torch.cat(goals)


def _moved(fitted: Sequence[Steps], ridges: Sequence[float], rows: Table) -> list[Table]:
    """`rows`, moved on by the matrix that does it best for `fitted`, for each strength of ridge."""
    start, goal = _joined(fitted)
    mean, goal_mean = start.mean(dim=0), goal.mean(dim=0)
    start, goal = start - mean, goal - goal_mean
    values, vectors = torch.linalg.eigh(start @ start.T)
    inside, outside = (rows - mean) @ start.T @ vectors, vectors.T @ goal
    size = values.mean()
    return [inside / (values + ridge * size) @ outside + goal_mean for ridge in ridges]


def _share_left(found: Table, wanted: Table) -> float:
    return float((found - wanted).square().sum() / centred(wanted).square().sum())


# Rows that stand out ------------------------------------------------------------------------------


def standing_out(table: Table) -> Float[Tensor, " rows"]:
    """By how much each row is longer than the median of its neighbours, in robust deviations.

    The unit is 1.4826 times the median of the absolute differences: a standard deviation, if they
    were normally distributed.
    """
    lengths = table.double().norm(dim=-1)
    around = (
        torch.cat([lengths[max(0, i - NEAR) : i], lengths[i + 1 : i + 1 + NEAR]])
        for i in range(len(lengths))
    )  # a quantile, as torch's median of an even number is the lower one of two
    differences = lengths - torch.stack([near.quantile(0.5) for near in around])
    found: Tensor = differences / (1.4826 * differences.abs().median())
    return found


# Tables to compare with ---------------------------------------------------------------------------


def shuffled(table: Table, draw: torch.Generator) -> Table:
    """The same rows in another order."""
    return table[torch.randperm(len(table), generator=draw)]


def of_same_spectrum(table: Table, draw: torch.Generator) -> Table:
    """Random rows with the same mean, and as much variance along the same directions."""
    _, sizes, directions = torch.linalg.svd(centred(table), full_matrices=False)
    noise = torch.randn(len(table), len(sizes), generator=draw, dtype=torch.float64)
    places, _ = torch.linalg.qr(noise - noise.mean(dim=0))
    drawn: Tensor = places * sizes @ directions + table.double().mean(dim=0)
    return drawn


def with_other_phases(table: Table, draw: torch.Generator) -> Table:
    """Along each direction the same waves, as large as before, but each begins anywhere."""
    places, sizes, directions = torch.linalg.svd(centred(table), full_matrices=False)
    waves = torch.fft.rfft(places, dim=0)
    angles = 2 * torch.pi * torch.rand(waves.shape, generator=draw, dtype=torch.float64)
    angles[0] = 0
    if len(table) % 2 == 0:
        angles[-1] = 0
    moved = torch.fft.irfft(waves * torch.polar(torch.ones_like(angles), angles), len(table), dim=0)
    drawn: Tensor = moved * sizes @ directions + table.double().mean(dim=0)
    return drawn


def with_columns_turned(table: Table, draw: torch.Generator) -> Table:
    """Every column turned by one angle of its own: its waves keep together, partners are lost."""
    waves = torch.fft.rfft(centred(table), dim=0)
    angles = 2 * torch.pi * torch.rand(table.shape[1], generator=draw, dtype=torch.float64)
    turned = waves * torch.polar(torch.ones_like(angles), angles)
    drawn: Tensor = torch.fft.irfft(turned, len(table), dim=0) + table.double().mean(dim=0)
    return drawn


# Tables that lack a part --------------------------------------------------------------------------


def without(table: Table, directions: Float[Tensor, "some dim"]) -> Table:
    """The table, level along these directions: every row has there what the mean row has."""
    basis, _ = torch.linalg.qr(directions.double().T)
    rows = table.double()
    level: Tensor = rows - (rows - rows[1:].mean(dim=0)) @ basis @ basis.T
    return level


def only(table: Table, directions: Float[Tensor, "some dim"]) -> Table:
    """The table, level along all other directions."""
    basis, _ = torch.linalg.qr(directions.double().T)
    mean = table.double()[1:].mean(dim=0)
    level: Tensor = (table.double() - mean) @ basis @ basis.T + mean
    return level
