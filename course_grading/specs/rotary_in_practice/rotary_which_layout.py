"""Harder: which layout is it?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Tensors
from course_grading.specs.draw import normal
from course_grading.specs.rotary_in_practice.common import Alike, halves_of, order_of

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
        halves, order = halves_of(x, angles.double()), order_of(dim)
        neighbours = halves_of(x[:, order], angles.double())[:, order.argsort()]
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


EXERCISE = Implement(
    slug="rotary-which-layout", title="Harder: which layout is it?",
    minutes=15, points=3, name="layouts_that_fit",
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
