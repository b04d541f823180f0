"""A page with a picture."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Number

Grid = Callable[[int, int], tuple[Tensor, Tensor]]


def _row_by_row(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Row and column of each piece."""
    piece = torch.arange(rows * columns)
    return piece // columns, piece % columns


def _column_by_column(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    piece = torch.arange(rows * columns)
    return piece % rows, piece // rows


def _divided_by_rows(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    piece = torch.arange(rows * columns)
    return piece // rows, piece % rows


def _same_on_all(positions: Tensor) -> Tensor:
    return positions[:, None].expand(-1, 3)


def _on_time_alone(positions: Tensor) -> Tensor:
    return torch.stack([positions, 0 * positions, 0 * positions], dim=-1)


def _page(
    *,
    start: Callable[[int], int] = lambda before: before,
    grid: Grid = _row_by_row,
    first: Callable[[int], int | Tensor] = lambda start: start,
    time: Callable[[Tensor], Tensor] = lambda row: 0 * row,
    goes_on: Callable[[int, int, int], int] = lambda start, rows, columns: (
        start + max(rows, columns)
    ),
    text: Callable[[Tensor], Tensor] = _same_on_all,
    axes: tuple[int, int, int] = (0, 1, 2),
    result: Callable[[Tensor], Tensor] = lambda positions: positions,
) -> Callable[[int, int, int, int], Tensor]:
    """The positions of a page, or what becomes of them when one of these choices is another."""

    def page_positions(before: int, rows: int, columns: int, after: int) -> Tensor:
        begins = start(before)
        row, column = grid(rows, columns)
        picture = first(begins) + torch.stack([time(row), row, column], dim=-1)[:, list(axes)]
        later = goes_on(begins, rows, columns) + torch.arange(after)
        return result(torch.cat([text(torch.arange(before)), picture, text(later)]))

    return page_positions


def _cases(rng: Random) -> list[Case]:
    def case(before: int, rows: int, columns: int, after: int) -> Case:
        return {"before": before, "rows": rows, "columns": columns, "after": after}

    drawn = case(rng.randint(10, 90), rng.randint(3, 9), rng.randint(11, 20), rng.randint(2, 30))
    return [
        case(4, 2, 3, 2), case(5, 2, 3, 2), case(4, 4, 3, 2), case(4, 2, 5, 2), case(4, 2, 3, 4),
        case(3, 7, 2, 3), case(0, 3, 5, 2), case(0, 6, 2, 4), case(6, 3, 3, 2), case(7, 1, 1, 3),
        case(2, 1, 8, 1), case(2, 9, 1, 2), case(3, 4, 6, 0), case(0, 2, 3, 0), case(1, 2, 4, 1),
        case(960, 5, 38, 3), case(8, 39, 6, 980), drawn,
    ]  # fmt: skip


EXERCISE = Implement(
    slug="axes-page", title="A page with a picture",
    minutes=15, points=2, name="page_positions",
    reference=_page(), cases=_cases, forbidden=("AxialRotary", "on_page"),
    domain={
        "before": Number(0, 1000, whole=True), "rows": Number(1, 40, whole=True),
        "columns": Number(1, 40, whole=True), "after": Number(0, 1000, whole=True),
    },
    properties=(
        Property("there is a row for each token and piece, and a column for each axis",
                 lambda case, value: value.shape == (
                     case["before"] + case["rows"] * case["columns"] + case["after"], 3)),
    ),
    hints=(
        "Make three tensors, for the text before, for the picture and for the text after, each of "
        "shape (number, 3), and join them with torch.cat. Which is the first position of each?",
        "Number the pieces 0, 1, 2, ... row by row. Piece n stands in row n // columns, and in "
        "column n % columns. The picture starts at `before`, because the text before it has the "
        "positions 0 to before - 1.",
        "The largest position of the picture is start + max(rows, columns) - 1, on the row axis or "
        "on the column axis. The text after it begins one later, at start + max(rows, columns), on "
        "all three axes.",
    ),
    mistakes=(
        Mistake("goes on from the number of tokens",
                "You count every piece of the picture as one position, so that the text after it "
                "begins too late. It begins one after the largest position so far.",
                _page(goes_on=lambda start, rows, columns: start + rows * columns)),
        Mistake("goes on from the time",
                "The text after the picture begins one after the picture's time. Rows and columns "
                "reach further: begin one after the largest position on any axis.",
                _page(goes_on=lambda start, rows, columns: start + 1)),
        Mistake("goes on from the largest row",
                "Your text goes on one after the last row. In a picture that is wider than high, "
                "the last column is a larger position.",
                _page(goes_on=lambda start, rows, columns: start + rows)),
        Mistake("goes on from the largest column",
                "Your text goes on one after the last column. In a picture that is higher than "
                "wide, the last row is a larger position.",
                _page(goes_on=lambda start, rows, columns: start + columns)),
        Mistake("goes on at the largest position",
                "The first token after the picture has the largest position of the picture. It "
                "must be one more.",
                _page(goes_on=lambda start, rows, columns: start + max(rows, columns) - 1)),
        Mistake("goes on one position late",
                "The first token after the picture stands two after the largest position so far. "
                "It must be one after it.",
                _page(goes_on=lambda start, rows, columns: start + max(rows, columns) + 1)),
        Mistake("the picture starts one position late",
                "The picture starts two after the largest position of the text before it, which is "
                "before - 1. It must be one after it.",
                _page(start=lambda before: before + 1)),
        *(Mistake("the time grows with the pieces",
                  "The time of your picture grows from piece to piece. A picture is seen at one "
                  "time: all its pieces have the start as their time.",
                  _page(time=lambda row: torch.arange(len(row)), goes_on=goes_on))
          for goes_on in (lambda start, rows, columns: start + max(rows, columns),
                          lambda start, rows, columns: start + rows * columns)),
        *(Mistake("rows and columns from 0",
                  "The time of your picture is right. Its rows and columns are counted from 0: add "
                  "the start to them, too.",
                  _page(first=lambda start: torch.tensor([start, 0, 0]), goes_on=goes_on))
          for goes_on in (lambda start, rows, columns: start + max(rows, columns),
                          lambda start, rows, columns: max(start + 1, rows, columns))),
        Mistake("the picture starts at the last position of the text",
                "The picture starts one after the largest position of the text before it, which "
                "is before - 1.",
                _page(start=lambda before: max(before - 1, 0))),
        *(Mistake("the picture starts at 0",
                  "Rows and columns of your picture are counted from 0, and its time is 0. Add the "
                  "start to all three axes.",
                  _page(first=lambda start: 0, goes_on=goes_on))
          for goes_on in (lambda start, rows, columns: start + max(rows, columns),
                          lambda start, rows, columns: max(rows, columns),
                          lambda start, rows, columns: max(start, rows, columns))),
        Mistake("rows and columns swapped",
                "The column of each piece stands where its row should stand, and its row where its "
                "column should stand. The order of the axes is time, row, column.",
                _page(axes=(0, 2, 1))),
        Mistake("the pieces in the order of the columns",
                "Your pieces go down the first column, then down the second one. They come row by "
                "row: the column changes with every piece.",
                _page(grid=_column_by_column)),
        Mistake("divided by the number of rows",
                "You divide a piece's number by the number of rows. A row has as many pieces as "
                "there are columns. In a square picture both are the same.",
                _page(grid=_divided_by_rows)),
        Mistake("text on the time axis alone",
                "The tokens of your text have 0 as their row and column. Text has the same "
                "position on all three axes.",
                _page(text=_on_time_alone)),
        Mistake("the axes first",
                "Your result has the shape (3, length). The last dimension holds the axes: "
                "(length, 3).",
                _page(result=lambda positions: positions.T)),
    ),
)  # fmt: skip
