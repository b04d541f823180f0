"""Repair: a number that is off."""

from __future__ import annotations

import math
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair
from course_grading.exercise.domain import Masks, Tensors
from course_grading.specs.draw import normal


def _bits(losses, counted):
    return (losses[counted].double().mean() / math.log(2)).float()


def _window_means(losses, counted):
    return losses.double().masked_fill(~counted, 0).sum(dim=1) / counted.sum(dim=1)


def _between(counted: Tensor) -> Tensor:
    """From the first True of each row to its last."""
    begun, to_come = counted.cummax(dim=1).values, counted.flip(1).cummax(dim=1).values.flip(1)
    return begun & to_come


def _losses_cases(rng: Random) -> list[Case]:
    def of(counted: Tensor) -> Case:
        rows = torch.arange(len(counted))[:, None]
        slope = torch.linspace(0, 2, counted.shape[1])  # so that no place stands for another
        losses = normal(rng, *counted.shape).abs() + 1.3 * (rows % 7) + slope
        return {"losses": losses, "counted": counted}

    def case(counts: list[int], length: int) -> Case:
        return of(torch.arange(length) >= length - torch.tensor(counts)[:, None])

    def somewhere(windows: int, length: int) -> Case:
        counted = normal(rng, windows, length) > torch.linspace(-1, 1, windows)[:, None]
        counted[windows // 2] = False  # a window that counts nothing
        counted[0, 0] = counted[-1, length // 2] = True
        return of(counted)

    return [
        case([4, 4, 1], 4),
        case([8, 2, 3], 8),
        case([1], 1),
        case([rng.randint(5, 9), 2, rng.randint(1, 3), 9], 9),
        of(torch.tensor([[True, True, False, False, True, False], [False, True] * 3])),
        somewhere(5, 8), somewhere(60, 20), case([3, 0, 5], 5),
    ]  # fmt: skip


EXERCISE = Repair(
    slug="long-corpus-bits", title="Repair: a number that is off",
    minutes=15, points=3, name="corpus_bits",
    reference=_bits, cases=_losses_cases,
    domain={"losses": Tensors((2, 2)), "counted": Masks((2, 2), true="a byte that counts")},
    roundings=40,  # five digits
    forbidden=("bits_by_length", "sliding_bits", "loss_by_position"),
    hints=(
        "Ask of each line: which bytes does it look at, and how much does each byte weigh in the "
        "end? There are three faults.",
        "Every counted byte weighs the same. A window that counts one byte must not weigh as much "
        "as one that counts a hundred, and bytes that do not count weigh nothing.",
        "Bits are additive, perplexities are not: take the mean of the losses themselves, and "
        "divide it by math.log(2).",
    ),
    mistakes=(
        Mistake("as published",
                "Nothing has changed yet: your function still looks at bytes that do not count, "
                "and averages perplexities of windows.",
                lambda losses, counted: losses.mean(dim=1).exp().mean().log2()),
        Mistake("perplexities averaged",
                "The right bytes count now. But you average perplexities, window by window. Take "
                "the mean of the losses.",
                lambda losses, counted: _window_means(losses, counted).exp().mean().log2().float()),
        Mistake("perplexities averaged, byte by byte",
                "The right bytes count now. But you average perplexities, byte by byte: take the "
                "mean first, of the losses themselves.",
                lambda losses, counted: losses[counted].exp().mean().log2()),
        Mistake("every window weighs the same",
                "You average the windows' means. A short last window then weighs as much as a full "
                "one: average over bytes.",
                lambda losses, counted: (
                    _window_means(losses, counted).mean() / math.log(2)
                ).float()),
        Mistake("every window that counts weighs the same",
                "You leave windows out that count nothing, and average the means of the others. A "
                "short last window then weighs as much as a full one: average over bytes.",
                lambda losses, counted: (
                    _window_means(losses, counted).nanmean() / math.log(2)
                ).float()),
        Mistake("each row cut where its counting begins",
                "You take all of a window from its first counted byte on. Bytes that do not "
                "count may stand anywhere in it: use `counted` for every place.",
                lambda losses, counted: _bits(losses, counted.long().cummax(dim=1).values > 0)),
        Mistake("each row taken from its first to its last counted byte",
                "You take all of a window from its first counted byte to its last. Bytes between "
                "them need not count: use `counted` for every place.",
                lambda losses, counted: _bits(losses, _between(counted))),
        Mistake("a window that counts nothing",
                "0 / 0 is nan: you take the mean of each window, and one of them counts nothing. "
                "Take one mean over all counted bytes.",
                lambda losses, counted: (
                    (_window_means(losses, counted) * counted.sum(dim=1)).sum()
                    / counted.sum() / math.log(2)
                ).float()),
        Mistake("bytes that do not count, counted",
                "You average over all of `losses`. Only places where `counted` is True belong to "
                "the result.",
                lambda losses, counted: losses.mean() / math.log(2)),
        Mistake("divided by all places",
                "You sum the counted losses and divide by the number of all places, so the result "
                "is too small. Divide by how many counted.",
                lambda losses, counted: (losses * counted).mean() / math.log(2)),
        Mistake("a result with an axis",
                "The number is right, but it stands in a tensor with an axis. The task asks for a "
                "tensor of one number, without axes: shape ().",
                lambda losses, counted: _bits(losses, counted)[None]),
        Mistake("a Python number instead of a tensor",
                "The number is right, but it is no tensor: leave out .item(), or float().",
                lambda losses, counted: float(_bits(losses, counted))),
        Mistake("nats",
                "This is in nats, with natural logarithms. A bit is math.log(2) = 0.693 nats.",
                lambda losses, counted: losses[counted].mean()),
        Mistake("multiplied by ln 2",
                "A nat is more than a bit: it is 1 / 0.693 bits. Divide by math.log(2).",
                lambda losses, counted: losses[counted].mean() * math.log(2)),
        Mistake("a perplexity",
                "This is the number of bytes among which the model seems to choose. The task asks "
                "for bits, the binary logarithm of that number.",
                lambda losses, counted: losses[counted].mean().exp()),
    ),
)  # fmt: skip
