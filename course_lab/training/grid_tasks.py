"""Grids of letters that are read row by row, and questions about places in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lab.training.tasks import IGNORE, Batch, Task

LETTERS = 8
UP, RIGHT = 1, 2
"""Where the letter stands that `letter_at` asks for."""


class Shape(NamedTuple):
    """The size of a grid."""

    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns}"


# Questions ----------------------------------------------------------------------------------------


def letter_at(shape: Shape, batch: int = 32, letters: int = LETTERS) -> Task:
    """At every place: which letter stands UP rows above and RIGHT columns to the right?

    Nothing is asked where that is outside of the grid. Chance is 1 / letters.
    """

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(letters, (batch, *shape), generator=generator)
        targets = tokens.roll((UP, -RIGHT), dims=(1, 2))
        targets[:, :UP] = IGNORE
        targets[:, :, shape.columns - RIGHT :] = IGNORE
        return Batch(tokens.flatten(1), targets.flatten(1))

    return draw


def pair_in_column(shape: Shape, batch: int = 32, letters: int = LETTERS) -> Task:
    """At each letter, which occurs twice: do both stand in one column (1) or not (0)?

    They never stand in one row, so that rows alone tell nothing. See `_pairs`. Chance is 1 / 2.
    """

    def draw(generator: torch.Generator) -> Batch:
        def below(count: int) -> Tensor:
            return torch.randint(count, (batch, letters), generator=generator)

        row, column, answers = below(shape.rows), below(shape.columns), below(2)
        other_row = (row + 1 + below(shape.rows - 1)) % shape.rows
        elsewhere = (column + 1 + below(shape.columns - 1)) % shape.columns
        other_column = torch.where(answers == 1, column, elsewhere)
        first, second = (row, column), (other_row, other_column)
        return _pairs(shape, first, second, answers)

    return draw


def pair_on_diagonal(shape: Shape, batch: int = 32, letters: int = LETTERS) -> Task:
    r"""At each letter, which occurs twice: are both on one line like \ (1) or on one like / (0)?

    They stand on neighbouring corners of a square on its tip, which lies within the grid. So from
    every place where it is asked the other letter is as often on a line of the one kind as of the
    other, and neither the place of one of the two, nor how many rows or columns they are apart,
    tells anything by itself. See `_pairs`. Chance is 1 / 2.
    """

    def draw(generator: torch.Generator) -> Batch:
        def below(count: int | Tensor) -> Tensor:
            return (torch.rand(batch, letters, generator=generator) * count).long()

        apart = 1 + below((min(shape) - 1) // 2)
        row = apart + below(shape.rows - 2 * apart)
        column = apart + below(shape.columns - 2 * apart)
        one, backward = below(4), below(2)
        other = (one + 1 + 2 * backward) % 4
        up, right = torch.tensor(_CORNERS).T

        def corner(which: Tensor) -> Place:
            return row - up[which] * apart, column + right[which] * apart

        return _pairs(shape, corner(one), corner(other), (one + backward + 1) % 2)

    return draw


_CORNERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Of a square on its tip, from the upper one clockwise: how far up and right of the middle."""


Place = tuple[Tensor, Tensor]
"""A row and a column for each letter of each grid."""


def _pairs(shape: Shape, first: Place, second: Place, answers: Tensor) -> Batch:
    """Each letter at two places of an empty grid, and at both the answer.

    A letter on the place of another replaces it, and of the one that lost a place nothing is asked.
    The token of an empty place comes after the letters.
    """
    batch, letters = answers.shape
    tokens = torch.full((batch, shape.rows * shape.columns), letters)
    targets = torch.full_like(tokens, IGNORE)
    for row, column in (first, second):
        place = row * shape.columns + column
        tokens.scatter_(1, place, torch.arange(letters).expand(batch, -1))
        targets.scatter_(1, place, answers)
    count = torch.zeros(batch, letters + 1, dtype=torch.long)
    count.scatter_add_(1, tokens, torch.ones_like(tokens))
    whole = count.gather(1, tokens) == 2
    return Batch(tokens, targets.masked_fill(~whole, IGNORE))


# How places become positions ----------------------------------------------------------------------

Numbering = Callable[[Tensor, Tensor, int], Tensor]
"""Positions of places, from their rows, their columns, and the number of columns of the grid."""


def one_number(row: Tensor, column: Tensor, columns: int) -> Int[Tensor, " places"]:
    """Row by row: the first of a row comes after the last of the row above."""
    return row * columns + column


def two_axes(row: Tensor, column: Tensor, columns: int) -> Int[Tensor, "places axes"]:
    return torch.stack([row, column], dim=-1)


def number_and_axes(row: Tensor, column: Tensor, columns: int) -> Int[Tensor, "places axes"]:
    return torch.stack([one_number(row, column, columns), row, column], dim=-1)


def diagonals(row: Tensor, column: Tensor, columns: int) -> Int[Tensor, "places axes"]:
    r"""Two axes that stand aslant: one is the same along each /, the other along each \."""
    return torch.stack([row + column, row - column], dim=-1)


def shuffled_axes(row: Tensor, column: Tensor, columns: int) -> Int[Tensor, "places axes"]:
    """The places of `two_axes`, each given to another place, always the same one."""
    order = torch.randperm(len(row), generator=torch.Generator().manual_seed(0))
    return two_axes(row, column, columns)[order.to(row.device)]


class GridReader(nn.Module):
    """A decoder that reads grids of `columns` columns row by row, with positions by `numbering`.

    It is called as a decoder, with the places 0, 1, 2, ... of a text; `mask` is the decoder's.
    """

    def __init__(self, model: nn.Module, columns: int, numbering: Numbering) -> None:
        super().__init__()
        self.model, self.columns, self.numbering = model, columns, numbering
        self.mask: Tensor | None = None

    def forward(
        self, tokens: Int[Tensor, "batch places"], places: Int[Tensor, " places"]
    ) -> Float[Tensor, "batch places vocab"]:
        places = places.as_subclass(Tensor)
        row, column = places // self.columns, places % self.columns
        positions = self.numbering(row, column, self.columns)
        scores: Tensor = self.model(tokens, positions, mask=self.mask)
        return scores
