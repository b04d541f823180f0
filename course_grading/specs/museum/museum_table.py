"""Third room: a table with a memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import BASE, MORE_THAN_PROMISED, exhibit, stepped, theta


def cosines(length: int, offset: int, base: float, dim: int) -> Tensor:
    return (torch.arange(offset, offset + length)[:, None] * theta(dim, base)).cos()


class Anew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        return cosines(length, offset, base, self.dim).to(dtype)


class Keeps(Anew):
    """A table for each base, made when it is first needed."""

    def __init__(self, dim):
        super().__init__(dim)
        self.kept = {}


class KeptByAll(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        key = (length, offset, base, dtype)
        if key not in self.kept:
            self.kept[key] = super().forward(length, offset, base, dtype)
        return self.kept[key]


class GrownExactly(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if base not in self.kept or len(self.kept[base]) < end:
            self.kept[base] = cosines(end, 0, base, self.dim).float()
        return self.kept[base][offset:end].to(dtype)


class InFloat32(Anew):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        frequencies = 1.0 / base ** (torch.arange(0, self.dim, 2).float() / self.dim)
        positions = torch.arange(offset, offset + length).float()
        return torch.outer(positions, frequencies).cos().to(dtype)


class FromATableOfCosines(Anew):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        angles = torch.arange(offset, offset + length)[:, None] * theta(self.dim, base)
        return stepped(angles).cos().to(dtype)


@exhibit("keeps the table when the base changes", "09",
         "The first call decides: the same table, asked for as many rows with another base, "
         "returns the rows of the first base. A longer text makes it compute a new table. Ask "
         "one table twice for the same rows, with two bases.")  # fmt: skip
class BaseForgotten(Anew):
    def __init__(self, dim):
        super().__init__(dim)
        self.kept = None

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if self.kept is None or len(self.kept) < end:
            self.kept = cosines(end, 0, base, self.dim)
        return self.kept[offset:end].to(dtype)


@exhibit("keeps the table when the offset changes", "09",
         "It remembers how many rows it has, but not where they begin. A fresh table is right "
         "for any offset: ask one table twice for as many rows, with two offsets.")  # fmt: skip
class OffsetForgotten(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base not in self.kept or len(self.kept[base]) < length:
            self.kept[base] = cosines(length, offset, base, self.dim)
        return self.kept[base][:length].to(dtype)


@exhibit("hands out the first rows, whatever the offset", "09",
         "It computes as many rows as it should, and then returns [:length] instead of [offset "
         ": offset + length]. So every token that is decoded from a cache stands at position 0. "
         "Ask with an offset above 0, in the first call or later.")  # fmt: skip
class RestartsAtZero(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base not in self.kept or len(self.kept[base]) < offset + length:
            self.kept[base] = cosines(offset + length, 0, base, self.dim)
        return self.kept[base][:length].to(dtype)


@exhibit("keeps what the first dtype rounded", "09",
         "A first call in bfloat16 makes it remember rounded numbers, and it converts these for "
         "a later call in float32. The dtype is right then, and the numbers are off by up to "
         "0.002. Make a new table, let its first call be in bfloat16, then ask it for the same "
         "rows in float32, and allow no more than 0.001.")  # fmt: skip
class DtypeForgotten(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if base not in self.kept or len(self.kept[base]) < end:
            self.kept[base] = cosines(end, 0, base, self.dim).to(dtype)
        return self.kept[base][offset:end].to(dtype)


@exhibit("frequencies in a buffer", "10",
         "model.to(torch.bfloat16) converts buffers as well, and this buffer holds the "
         "frequencies. They are then off by up to one part in 256. At position 0 that is "
         "nothing; at position 1000, for dim 64, angles are off by up to 0.44. Call "
         ".to(torch.bfloat16) on the module, and ask far out, with base 10 000 in the first "
         "call: another base makes it compute its frequencies anew.")  # fmt: skip
class RoundedBuffer(Anew):
    def __init__(self, dim):
        super().__init__(dim)
        self.base = BASE
        self.register_buffer("frequencies", theta(dim).float(), persistent=False)

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base != self.base:
            self.base, self.frequencies = base, theta(self.dim, base).float()
        positions = torch.arange(offset, offset + length)
        return (positions[:, None] * self.frequencies.float()).cos().to(dtype)


# mypy does not see what a decorator makes of a class.
TABLE: tuple[Any, ...] = (
    Version("computes everything anew", True, Anew),
    Version("keeps a table for all that was asked", True, KeptByAll),
    Version("grows one table for each base", True, GrownExactly),
    Version("in float32 throughout", True, InFloat32, "A table in float32 is right to a thousandth "
            "up to position 2000 or so. Stay below, and allow that much."),
    Version("cosines from a table of 6000", True, FromATableOfCosines,
            "It is off by up to 0.0006, and the task promises 0.001: allow as much."),
    BaseForgotten, OffsetForgotten, RestartsAtZero, DtypeForgotten, RoundedBuffer,
)  # fmt: skip


def _check_table(table, offset=0, base=BASE, dim=8, off=1e-3):
    expected = cosines(20, offset, base, dim).float()
    assert torch.allclose(table(20, offset=offset, base=base), expected, atol=off)


def _table_test(rough_first: bool = True, converted: bool = True, off: float = 1e-3):
    """Asks tables twice, with one change, and one that was converted as a module."""
    changes: list[tuple[dict, dict]] = [
        ({}, {"base": 500.0}),
        ({}, {"offset": 7}),
        ({"offset": 7}, {}),
    ]
    changes += [({"dtype": torch.bfloat16}, {})] * rough_first

    def test_table(make):
        for before, after in changes:
            table = make(8)
            table(20, **before)
            _check_table(table, **after, off=off)
        if converted:
            _check_table(make(64).to(torch.bfloat16), offset=1000, dim=64, off=off)

    return test_table


@mistake("a fresh table for every question", "A fresh table remembers nothing, so it cannot "
         "remember wrongly. Ask the same table twice.")  # fmt: skip
def _test_fresh_tables(make):
    for base in (500.0, 10_000.0):
        for offset in (0, 7):
            _check_table(make(8), offset, base)


@mistake("accepts every version",
         "Nothing was raised for any version. Every version gives equal answers to two equal "
         "questions, and right shapes and dtypes. Ask one table two different questions, and "
         "compare numbers.")  # fmt: skip
def _test_table_twice(make):
    table = make(8)
    assert torch.equal(table(20, offset=3), table(20, offset=3))


@mistake(
    "asks for equality to the last bit",
    "It rejects tables that were computed in float32. Allow a difference of 0.001.",
)
def _test_table_exactly(make):
    for offset in (0, 7):
        expected = cosines(20, offset, BASE, 8).float()
        assert torch.equal(make(8)(20, offset=offset), expected)


EXERCISE = WriteTest(
    slug="museum-table", title="Third room: a table with a memory",
    minutes=20, points=5, name="test_table", reference=_table_test(), versions=TABLE,
    forbidden=("rotation_table", "Rotary"),
    hints=(
        "A fault of memory shows in the second call, not in the first. Make one table, and ask it "
        "something. Then ask the same table something else, and compare the second answer with "
        "numbers of your own.",
        "Between the two calls change one thing at a time: the base, the offset (both ways), the "
        "dtype. And once convert the module itself: make(64).to(torch.bfloat16).",
        "The wrong versions, in order: one forgets the base, two forget the offset, one forgets "
        "the dtype, and one has frequencies that are rounded together with the weights of the "
        "model. To catch the last one, convert a table to bfloat16, and ask it for rows from "
        "offset 1000 on, in float32.",
    ),
    mistakes=(
        _test_fresh_tables,
        _test_table_twice,
        Mistake("lets rounded frequencies through",
                "Programs convert whole models: model.to(torch.bfloat16). Convert this module, and "
                "look at positions around 1000.",
                _table_test(converted=False)),
        Mistake("lets rounded numbers through", "One version remembers what its first call had "
                "rounded. Ask a new table in bfloat16, then the same table in float32, and allow "
                "no more than 0.001: these numbers are off by less than 0.002.",
                _table_test(rough_first=False)),
        Mistake("lets both faults of bfloat16 through", "One of the two versions that are left is "
                "wrong after a first call in bfloat16, the other one after .to(torch.bfloat16) on "
                "the module.",
                _table_test(rough_first=False, converted=False)),
        _test_table_exactly,
        *(Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and right ones as "
                  "well that are off by more than it allows. In float32 the task promises 0.001.",
                  _table_test(off=off)) for off in (2e-4, 1e-7)),
    ),
)  # fmt: skip
