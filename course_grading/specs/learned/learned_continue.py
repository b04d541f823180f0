"""Harder: continue the circle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.draw import normal
from course_grading.specs.learned.common import stretch


def _step(table: Tensor) -> Tensor:
    """The matrix that makes every row of the next one: row p + 1 is row p times it."""
    return torch.linalg.lstsq(table[:-1], table[1:]).solution


def _continuing(
    step: Callable[[Tensor], Tensor] = _step,
    start: int = -1,
    after: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    cut: bool = True,
) -> Callable[[Tensor, int], Tensor]:
    """A table continued row by row, with one choice made differently for each wrong answer."""

    def continued(table: Tensor, new_length: int) -> Tensor:
        matrix, rows = step(table), list(table)
        row = rows[start]
        while len(rows) < new_length:
            row = after(row, matrix)
            rows.append(row)
        return torch.stack(rows)[:new_length] if cut else torch.stack(rows)

    return continued


_continued = _continuing()


@mistake(
    "one step from the last row, not from the newest",
    "Every new row is one step after the last old one, so all new rows are alike. Each new row "
    "begins where the row before it ended.",
)
def _continued_from_the_old_end(table, new_length):
    more = max(new_length - len(table), 0)
    return torch.cat([table, (table[-1:] @ _step(table)).expand(more, -1)])[:new_length]


def _waves_turned(rng: Random, rows: int, pairs: int) -> Tensor:
    """A sine and a cosine for each pair, mixed into columns that are no waves of one length."""
    places = [pair + 0.5 + rng.uniform(-0.35, 0.35) for pair in range(pairs)]
    frequencies = torch.tensor(places, dtype=torch.float64) * 3 / pairs
    angles = torch.arange(rows)[:, None] * frequencies
    turn, _ = torch.linalg.qr(normal(rng, 2 * pairs, 2 * pairs, dtype=torch.float64))
    sizes = torch.tensor([rng.uniform(0.5, 2) for _ in range(2 * pairs)], dtype=torch.float64)
    return torch.cat([angles.sin(), angles.cos()], dim=1) @ turn * sizes


def _continue_cases(rng: Random) -> list[Case]:
    def case(rows: int, pairs: int, new_length: int) -> Case:
        return {"table": _waves_turned(rng, rows, pairs), "new_length": new_length}

    clock = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0]], dtype=torch.float64)
    plain = case(9, 2, 14)
    return [
        {"table": clock, "new_length": 6},
        plain,
        case(12, 3, 13),
        case(7, 3, 30),
        case(rng.randint(20, 30), 4, 200),
        case(3, 1, 40),
        case(15, 2, 15),
        case(16, 3, 5),
        case(10, 2, 1),
        {**plain, "new_length": 37},
        {**plain, "new_length": 4},
        {**plain, "table": _waves_turned(rng, 9, 2)},
    ]


EXERCISE = Implement(
    slug="learned-continue", title="Harder: continue the circle", minutes=25,
    points=3,
    name="continued", reference=_continued, cases=_continue_cases,
    # the matrix is off by some hundred roundings, and up to 200 steps add theirs
    roundings=1e5,
    domain={
        "table": Tensors((2, 2), (torch.float64,)),
        "new_length": Number(1, 200, whole=True),
    },
    hints=(
        "In lesson 02 one matrix took the vector of every position to the vector of the next one. "
        "Nobody gives you this matrix, but you have many pairs of a row and the next row.",
        "You look for a matrix M with table[:-1] @ M = table[1:]. More rows than columns make this "
        "a system of linear equations with more equations than it needs: least squares solves it.",
        "torch.linalg.lstsq(table[:-1], table[1:]).solution is M. Then multiply the last row by M, "
        "the new row by M again, and so on. A small new_length needs no new row.",
    ),
    mistakes=(
        Mistake("the last row repeated",
                "This is the clamped table: the circle stops. The next row is a step further on.",
                _continuing(after=lambda row, matrix: row)),
        Mistake("begins again at row 0",
                "This is the wrapped table. Its step from the last row to row 0 is not the step "
                "between other rows.",
                lambda table, new_length: table[torch.arange(new_length) % len(table)]),
        Mistake("stretched instead of continued",
                "The old rows are spread out, so they are no longer where they were. Keep them, "
                "and add rows after the last one.",
                lambda table, new_length: stretch(table, new_length)),
        Mistake("continued in a straight line",
                "The last difference is added again and again, so the rows leave the circle.",
                lambda table, new_length: torch.cat([
                    table,
                    table[-1] + (table[-1] - table[-2])
                    * torch.arange(1, max(new_length - len(table), 0) + 1)[:, None],
                ])[:new_length]),
        Mistake("the matrix transposed",
                "A row times M is not M times the row: the circle is followed backwards.",
                _continuing(lambda table: _step(table).T)),
        Mistake("the step backwards",
                "Your matrix takes each row to the row before it.",
                _continuing(lambda table: torch.linalg.lstsq(table[1:], table[:-1]).solution)),
        Mistake("the last row comes twice",
                "Your first new row is the last old one. It should be one step after it.",
                lambda table, new_length: torch.cat(
                    [table, _continued(table, max(new_length - 1, len(table)))[len(table) - 1:]]
                )[:new_length]),
        Mistake("rounded to float32",
                "Half of the digits of a float64 table are lost on the way through float32.",
                lambda table, new_length: _continued(table, new_length).float().double()),
        Mistake("never shorter",
                "With a small `new_length` the first rows are asked for, and no more.",
                _continuing(cut=False)),
        Mistake("one matrix for each column",
                "Each column is continued by a factor of its own. The columns are mixtures of "
                "waves: a new number depends on the whole row before it.",
                _continuing(lambda table: torch.diag(
                    (table[:-1] * table[1:]).sum(dim=0) / table[:-1].square().sum(dim=0)))),
        _continued_from_the_old_end,
    ),
)  # fmt: skip
