"""Fit the shift, and say what it leaves on rows that were held out."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.draw import normal

Pairs = tuple[Tensor, Tensor]
"""Rows, and the rows that they should be moved to."""


def _within(table: Tensor, k: int, fitted: int) -> Pairs:
    return table[: fitted - k], table[k:fitted]


def _beyond(table: Tensor, k: int, fitted: int) -> Pairs:
    return table[fitted:-k], table[fitted + k :]


def _everywhere(table: Tensor, k: int, fitted: int) -> Pairs:
    return table[:-k], table[k:]


def _backwards(pairs: Callable[[Tensor, int, int], Pairs]) -> Callable[[Tensor, int, int], Pairs]:
    return lambda table, k, fitted: pairs(table, k, fitted)[::-1]


def _best(before: Tensor, after: Tensor, ridge: float) -> Tensor:
    """The matrix with the smallest sum of squared errors and `ridge` times its own squares."""
    penalty = ridge * torch.eye(before.shape[1], dtype=before.dtype)
    return torch.linalg.solve(before.T @ before + penalty, before.T @ after)


def _squares(rows: Tensor) -> Tensor:
    return rows.square().sum()


def _from(mean: Callable[[Tensor, Tensor, int], Tensor]) -> Callable[..., Tensor]:
    """The variance around a mean other than that of the held-out rows."""
    return lambda before, after, table, fitted: _squares(after - mean(after, table, fitted))


_around_their_mean = _from(lambda after, table, fitted: after.mean(dim=0))


def _fitting(
    fit_on: Callable[[Tensor, int, int], Pairs] = _within,
    measure_on: Callable[[Tensor, int, int], Pairs] = _beyond,
    best: Callable[[Tensor, Tensor, float], Tensor] = _best,
    variance: Callable[[Tensor, Tensor, Tensor, int], Tensor] = _around_their_mean,
    said: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda matrix, left: (matrix, left),
) -> Callable[[Tensor, int, int, float], tuple[Tensor, float]]:
    """A fit and its measure, with one choice made differently for each wrong answer."""

    def fit_shift(table, k, fitted, ridge):
        matrix = best(*fit_on(table, k, fitted), ridge)
        before, after = measure_on(table, k, fitted)
        left = _squares(after - before @ matrix) / variance(before, after, table, fitted)
        matrix, left = said(matrix, left)
        return matrix, left.item()

    return fit_shift


def _one_step_repeated(table, k, fitted, ridge):
    matrix = torch.linalg.matrix_power(_best(*_within(table, 1, fitted), ridge), k)
    before, after = _beyond(table, k, fitted)
    return matrix, (_squares(after - before @ matrix) / _squares(after - after.mean(dim=0))).item()


def _with_a_constant(table, k, fitted, ridge):
    before, after = _within(table, k, fitted)
    matrix = _best(before - before.mean(dim=0), after - after.mean(dim=0), ridge)
    held, goal = _beyond(table, k, fitted)
    moved = (held - before.mean(dim=0)) @ matrix + after.mean(dim=0)
    return matrix, (_squares(goal - moved) / _squares(goal - goal.mean(dim=0))).item()


def _columns_averaged(table, k, fitted, ridge):
    matrix = _best(*_within(table, k, fitted), ridge)
    before, after = _beyond(table, k, fitted)
    errors = (after - before @ matrix).square().sum(dim=0)
    return matrix, (errors / (after - after.mean(dim=0)).square().sum(dim=0)).mean().item()


def _errors_centred(table, k, fitted, ridge):
    matrix = _best(*_within(table, k, fitted), ridge)
    before, after = _beyond(table, k, fitted)
    errors = after - before @ matrix
    squares = [_squares(rows - rows.mean(dim=0)) for rows in (errors, after)]
    return matrix, (squares[0] / squares[1]).item()


def _rounded(table, k, fitted, ridge):
    matrix, left = _fit_shift(table.float(), k, fitted, ridge)
    return matrix.double(), left


_fit_shift = _fitting()


def _waves(rng: Random, rows: int, width: int) -> Tensor:
    """Waves mixed into all columns, with noise, a mean that is not 0, and a drift."""
    pairs = (width + 1) // 2
    frequencies = torch.tensor([rng.uniform(0.1, 1.5) for _ in range(pairs)], dtype=torch.float64)
    angles = torch.arange(rows)[:, None] * frequencies
    waves = torch.cat([angles.sin(), angles.cos()], dim=1)
    mixed = waves @ normal(rng, 2 * pairs, width, dtype=torch.float64)
    mean, drift = normal(rng, 2, 1, width, dtype=torch.float64)
    noise = normal(rng, rows, width, dtype=torch.float64)
    return mixed + mean + drift * torch.arange(rows)[:, None] / rows + 0.3 * noise


def _fit_cases(rng: Random) -> list[Case]:
    def case(rows: int, width: int, k: int, fitted: int, ridge: float) -> Case:
        return {"table": _waves(rng, rows, width), "k": k, "fitted": fitted, "ridge": ridge}

    column = torch.tensor([[1.0], [2.0], [4.0], [8.0], [6.0], [8.0], [12.0]], dtype=torch.float64)
    plain = case(40, 6, 3, 24, 0.5)  # all ridges are exact in float32, as torch.eye is
    return [
        {"table": column, "k": 1, "fitted": 4, "ridge": 21.0},
        plain,
        case(30, 8, 1, 18, 0.125),
        case(17, 12, 2, 9, 0.25),
        case(100, 4, 12, 60, 24.0),
        case(rng.randint(24, 30), 5, 5, rng.randint(10, 14), 2.0),
        case(12, 3, 2, 4, 0.375),
        case(16, 14, 1, 6, 0.125),
        {**plain, "k": 1},
        {**plain, "k": 7},
        {**plain, "fitted": 31},
        {**plain, "fitted": 8},
        {**plain, "ridge": 0.1875},
        {**plain, "ridge": 12.0},
        {**plain, "table": _waves(rng, 40, 6)},
    ]


EXERCISE = Implement(
    slug="learned-fit-shift", title="Fit the shift", minutes=25, points=3,
    name="fit_shift", reference=_fit_shift, cases=_fit_cases,
    # solving with X.T @ X takes the digits of X twice: thousands of roundings with a small ridge
    scale=lambda table, k, fitted, ridge: (1e6, 0.0),
    domain={
        "table": Tensors((2, 2), (torch.float64,)),
        "k": Number(1, 12, whole=True),
        "fitted": Number(4, 60, whole=True),
        "ridge": Number(0.125, 24),
    },
    hints=(
        "Write down the pairs before you compute anything. With 10 rows, k = 2 and fitted = 6: "
        "which pairs (p, p + 2) lie within rows 0 to 5, and which within rows 6 to 9?",
        "table[: fitted - k] holds the rows to fit from, table[k:fitted] the rows that they should "
        "become. Call them X and Y. Without a ridge, X.T @ X @ M = X.T @ Y gives the best M. What "
        "does the ridge add to X.T @ X? (Set the derivative of the sum to zero.)",
        "M = torch.linalg.solve(X.T @ X + ridge * I, X.T @ Y), with I = torch.eye(width) in the "
        "dtype of the table. For the share use table[fitted:-k] and table[fitted + k :], and "
        "subtract the mean of the second, mean(dim=0), before you square it.",
    ),
    mistakes=(
        Mistake("measured on the fitted rows",
                "The share is that of the pairs that the matrix was fitted on. With a small ridge, "
                "and fewer pairs than columns, it is near 0 for random rows as well. Measure on "
                "pairs that were held out.",
                _fitting(measure_on=_within)),
        Mistake("measured on all rows",
                "The share counts the pairs that were fitted, too, and those are easy. Measure on "
                "pairs of two held-out rows only.",
                _fitting(measure_on=_everywhere)),
        Mistake("fitted on all rows",
                "The matrix has seen the rows that you held out, so nothing was held out. Fit on "
                "the first `fitted` rows only.",
                _fitting(_everywhere)),
        Mistake("fitted on pairs that reach into the held-out rows",
                "Pair p = fitted - 1 moves a row to row fitted - 1 + k, which is held out. Use the "
                "pairs whose two rows are both among the first `fitted`.",
                _fitting(lambda table, k, fitted: (table[:fitted], table[k:fitted + k]))),
        Mistake("measured on pairs that begin among the fitted rows",
                "The first k of these pairs start at rows that the fit has used. A pair is held "
                "out if both of its rows are.",
                _fitting(measure_on=lambda table, k, fitted: (table[fitted - k:-k],
                                                              table[fitted:]))),
        Mistake("the shift backwards",
                "This matrix takes row p + k to row p. It should move rows on: row p comes in, and "
                "row p + k should come out.",
                _fitting(_backwards(_within), _backwards(_beyond))),
        Mistake("fitted backwards",
                "The matrix was fitted to take row p + k to row p, and then measured the other way "
                "round. Exchange the two sides of the fit.",
                _fitting(_backwards(_within))),
        Mistake("moved by one",
                "The rows are moved by one, whatever k is.",
                lambda table, k, fitted, ridge: _fit_shift(table, 1, fitted, ridge)),
        Mistake("one step, taken k times",
                "This is the matrix for one row, to the power of k. For rows that are no exact "
                "waves, the best matrix for k rows is another one. Fit the pairs that are k apart.",
                _one_step_repeated),
        Mistake("no ridge",
                "The squared errors alone were made small. Add the ridge: without it, a matrix can "
                "fit any rows exactly where there are no more pairs than columns.",
                _fitting(best=lambda before, after, ridge: torch.linalg.pinv(before) @ after)),
        Mistake("the ridge beside a mean",
                "The ridge was weighed against the mean of the squared errors of the pairs. Here "
                "it stands beside their sum, so that it counts less where there are more pairs.",
                _fitting(best=lambda before, after, ridge: _best(
                    before, after, ridge * len(before)))),
        Mistake("the ridge squared",
                "Below the rows stand rows of `ridge`, which least squares squares. Put its square "
                "root there.",
                _fitting(best=lambda before, after, ridge: _best(before, after, ridge**2))),
        Mistake("the ridge added everywhere",
                "X.T @ X + ridge adds the ridge to every number of X.T @ X. Only those on the "
                "diagonal get it: ridge * torch.eye(width).",
                _fitting(best=lambda before, after, ridge: torch.linalg.pinv(
                    before.T @ before + ridge) @ before.T @ after)),
        *(Mistake("with a constant",
                  "A mean was taken off the rows before the fit, which adds a constant to what the "
                  "matrix gives. The matrix alone should move the rows as they are.",
                  answer) for answer in (
                      _with_a_constant,
                      lambda table, k, fitted, ridge: _fit_shift(
                          table - table[:fitted].mean(dim=0), k, fitted, ridge),
                      lambda table, k, fitted, ridge: _fit_shift(
                          table - table.mean(dim=0), k, fitted, ridge))),
        Mistake("the matrix transposed",
                "The share is right, but the matrix is to be multiplied from the right: row p + k "
                "is about row p @ M.",
                _fitting(said=lambda matrix, left: (matrix.T, left))),
        Mistake("variance not centred",
                "The squared errors are divided by the squares of the rows themselves. Where all "
                "rows lie far from 0, this share is small, whatever the matrix does. Subtract "
                "their mean first.",
                _fitting(variance=_from(lambda after, table, fitted: torch.zeros(())))),
        Mistake("centred on the fitted rows",
                "The mean is that of the first `fitted` rows. The variance is that of the held-out "
                "rows p + k, so it is around their mean.",
                _fitting(variance=_from(lambda after, table, fitted: table[:fitted].mean(dim=0)))),
        Mistake("centred on the whole table",
                "The mean is that of all rows of the table. Take the mean of the held-out rows "
                "p + k.",
                _fitting(variance=_from(lambda after, table, fitted: table.mean(dim=0)))),
        Mistake("centred on all held-out rows",
                "The mean is that of all rows after the first `fitted`. The first k of them are no "
                "row p + k of a pair that is measured: leave them out of the mean.",
                _fitting(variance=_from(lambda after, table, fitted: table[fitted:].mean(dim=0)))),
        Mistake("errors centred as well",
                "The variance of the errors is their squared distance from their own mean, so an "
                "error that all pairs share does not count. Sum up the squared errors themselves.",
                _errors_centred),
        *(Mistake("one mean for all columns",
                  "A single number was subtracted from all columns, as var() does without an axis. "
                  "Each column has its own mean: mean(dim=0).",
                  _fitting(variance=variance)) for variance in (
                      _from(lambda after, table, fitted: after.mean()),
                      lambda before, after, table, fitted: after.var() * after.numel())),
        Mistake("divided by one less",
                "The mean of the squared errors is divided by a variance that divides by one less "
                "than the number of rows (torch.var does). Divide sums by sums.",
                _fitting(variance=lambda before, after, table, fitted:
                         after.var(dim=0).sum() * len(after))),
        Mistake("the rows to start from in the variance",
                "The variance is that of rows p. The errors are those of rows p + k, so compare "
                "them with the variance of rows p + k.",
                _fitting(variance=lambda before, after, table, fitted:
                         _squares(before - before.mean(dim=0)))),
        Mistake("compared with rows that stay",
                "The squared errors are divided by those of a matrix that moves nothing. The task "
                "asks for the variance of rows p + k.",
                _fitting(variance=lambda before, after, table, fitted: _squares(after - before))),
        Mistake("the share that is explained",
                "This is 1 minus the share that is left. Return what is left.",
                _fitting(said=lambda matrix, left: (matrix, 1 - left))),
        Mistake("the root of the share",
                "Lengths were divided, or the root was drawn at the end. A variance is made of "
                "squares.",
                _fitting(said=lambda matrix, left: (matrix, left.sqrt()))),
        Mistake("shares of columns averaged",
                "Each column got a share of its own, and their mean was taken. Then a column that "
                "hardly varies counts as much as the others. Add up first, and divide once.",
                _columns_averaged),
        Mistake("rounded to float32",
                "Half of the digits of a float64 table are lost on the way through float32.",
                _rounded),
    ),
)  # fmt: skip
