"""First room: a table of waves."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import (
    BASE,
    MORE_THAN_PROMISED,
    exhibit,
    stepped,
    theta,
    waves,
)


def embed_in_float64(x: Tensor, positions: Tensor, factor: float = 1) -> Tensor:
    angles = (positions.double() / factor)[:, None] * theta(x.shape[-1])
    return x + waves(angles).to(x.dtype)


def embed_in_float32(x, positions, factor=1):
    frequencies = torch.exp(torch.arange(0, x.shape[-1], 2) * (-math.log(BASE) / x.shape[-1]))
    return (x.float() + waves((positions / factor).unsqueeze(-1) * frequencies)).to(x.dtype)


def embed_from_a_table_of_sines(x, positions, factor=1):
    angles = (positions.double() / factor)[:, None] * theta(x.shape[-1])
    return x + waves(stepped(angles)).to(x.dtype)


def embed_one_by_one(x, positions, factor=1):
    out, dim = x.clone(), x.shape[-1]
    for row, position in enumerate(positions.tolist()):
        for column in range(dim):
            angle = position / factor / BASE ** (2 * (column // 2) / dim)
            out[:, row, column] += math.cos(angle) if column % 2 else math.sin(angle)
    return out


@exhibit("the column's own number in the exponent", "02",
         "Column 1 should have the frequency of column 0, but it has one of its own. For dim = "
         "512 it reads 0.570 at position 1, where cos(1) = 0.540 belongs. At position 0 every "
         "cosine is 1, whatever its frequency, so compare numbers at another "
         "position.")  # fmt: skip
def embed_column_number(x, positions, factor=1):
    columns = torch.arange(x.shape[-1])
    angles = (positions / factor)[:, None] / BASE ** (2 * columns / x.shape[-1])
    return x + torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(x.dtype)


@exhibit("exponent i/d instead of 2i/d", "02",
         "Every pair after the first turns too fast, and the slowest frequencies are never "
         "reached. Pair 0 is right, and so is position 0: compare the last columns at a "
         "position above 0.")  # fmt: skip
def embed_half_exponent(x, positions, factor=1):
    dim = x.shape[-1]
    frequencies = BASE ** (-torch.arange(dim // 2) / dim)
    return x + waves((positions / factor)[:, None] * frequencies).to(x.dtype)


@exhibit("the number of the text used as position", "01",
         "It was written for tensors of shape (length, batch, dim). Called with (batch, length, "
         "dim), it gives all tokens of a text the row that belongs to the number of the text, "
         "and if there are no more texts than tokens, nothing is raised. Give it texts of several "
         "tokens, and compare every token.")  # fmt: skip
def embed_batch_as_position(x, positions, factor=1):
    table = waves((positions.double() / factor)[:, None] * theta(x.shape[-1]))
    return x + table[: x.size(0)].unsqueeze(1).to(x.dtype)


@exhibit("whole numbers scaled in place", "13",
         "Positions are whole numbers, and `//=` drops the remainder: with factor 2, positions 2 "
         "and 3 both become 1. Use a factor above 1, and a position that the factor does not "
         "divide.")  # fmt: skip
def embed_integers_in_place(x, positions, factor=1):
    scaled = positions.clone()
    scaled //= factor
    return x + waves(scaled[:, None] * theta(x.shape[-1])).to(x.dtype)


@exhibit("positions in the model's dtype", "10",
         "bfloat16 has every whole number up to 256 and only every second one after that, so "
         "257 becomes 256. The fault shows if x is in bfloat16 and a position is odd and beyond "
         "256.")  # fmt: skip
def embed_positions_in_dtype(x, positions, factor=1):
    scaled = positions.to(x.dtype) / factor
    return x + waves(scaled[:, None].double() * theta(x.shape[-1])).to(x.dtype)


@exhibit("beyond row 1023 the last row", "04",
         "Its table has 1024 rows, and a later position reads the last one. Nothing is raised, and "
         "every number up to position 1023 is right. Ask for a position beyond 1023, with factor "
         "1.")  # fmt: skip
def embed_last_row(x, positions, factor=1):
    return embed_in_float64(x, (positions.double() / factor).clamp(max=1023))


WAVES = (
    Version("in float64, rounded at the end", True, embed_in_float64),
    Version("in float32 throughout", True, embed_in_float32,
            "Angles in float32 are right to a thousandth up to some thousands of positions. Allow "
            "a small difference, and in bfloat16 a larger one, of a hundredth or more."),
    Version("one number at a time", True, embed_one_by_one),
    Version("sines from a table of 6000", True, embed_from_a_table_of_sines,
            "It is off by up to 0.0006, and the task promises 0.001: allow as much."),
    embed_column_number, embed_half_exponent, embed_batch_as_position, embed_integers_in_place,
    embed_positions_in_dtype, embed_last_row,
)  # fmt: skip


def _embedded(positions: list[int], factor: float) -> Tensor:
    """What is added for dim = 4, number by number."""
    rows = [[f(p / factor / s) for s in (1, 100) for f in (math.sin, math.cos)] for p in positions]
    return torch.tensor(rows)


NEAR, FAR = [0, 3, 11], [0, 3, 11, 700, 1500]


def _embed_test(positions: list[int], factor: float = 2, in_bfloat16: bool = True, off=1e-3):
    """Asks with factor 1 and with `factor`, and in bfloat16 at 256 and 257."""

    def test_embed(embed):
        for divided_by in (1, factor):
            got = embed(torch.zeros(2, len(positions), 4), torch.tensor(positions), divided_by)
            expected = _embedded(positions, divided_by)
            assert torch.allclose(got, expected.expand(2, -1, 4), atol=off)
        if in_bfloat16:
            far = embed(torch.zeros(1, 2, 4, dtype=torch.bfloat16), torch.tensor([256, 257]), 1)
            assert far.dtype == torch.bfloat16 and (far[0, 0] - far[0, 1]).abs().max() > 0.1

    return test_embed


@mistake("accepts every version",
         "Nothing was raised for any version. Perhaps both sides of your comparison come from the "
         "function under test, or you look where all versions agree, as at position 0. Compare "
         "with numbers that you know from elsewhere, at other positions.")  # fmt: skip
def _test_embed_with_itself(embed):
    x, positions = torch.zeros(2, 3, 4), torch.tensor([0, 3, 11])
    assert torch.equal(embed(x, positions, 2), embed(x, positions, 2))


@mistake("asks for equality to the last bit", "Right programs round differently. Allow what the "
         "task allows: torch.allclose(..., atol=1e-3) in float32.")  # fmt: skip
def _test_embed_exactly(embed):
    x, positions = torch.ones(2, 3, 8), torch.tensor([0, 300, 1999])
    assert torch.equal(embed(x, positions, 2), embed_in_float64(x, positions, 2))


EXERCISE = WriteTest(
    slug="museum-waves", title="First room: a table of waves", minutes=15, points=6,
    name="test_embed", reference=_embed_test(FAR), versions=WAVES,
    forbidden=("sinusoidal_encoding", "Sinusoidal"),
    hints=(
        "Write down numbers that you know. With dim = 4 the two frequencies are 1 and 0.01, so the "
        "row of position 3 is sin 3, cos 3, sin 0.03, cos 0.03.",
        "Some inputs hide faults: position 0, positions below 1024, a single text, a single token, "
        "factor 1, float32. Ask with something else in place of each of them.",
        "The wrong versions, in order: two have other frequencies, one takes the number of the "
        "text for the position, one divides whole numbers, one rounds positions to bfloat16, and "
        "one has no row beyond 1023. So ask for several texts, in float32 and in bfloat16, with "
        "factors 1 and 2, at positions such as 0, 3, 11, 257 and 1500.",
    ),
    mistakes=(
        _test_embed_with_itself,
        Mistake("only position 0 for the values", "Whoever is right at position 0 passes this. "
                "There sines are 0 and cosines 1, for any frequency and any factor.",
                _embed_test([0])),
        Mistake("never whole numbers with a remainder", "Dividing whole numbers loses nothing "
                "where the factor divides them: ask for positions that it does not divide.",
                _embed_test(FAR, 1)),
        Mistake("no position beyond 1023", "Divided by its factor, no position of your test is "
                "above 1023. The version that is left has 1024 rows, and reads the last one for "
                "all later positions. Ask for 1500, say, with factor 1.",
                _embed_test(NEAR)),
        Mistake("no odd position beyond 256 in bfloat16", "Models run in bfloat16. Call it with x "
                "in bfloat16, and with odd positions beyond 256: with factor 1, all positions up "
                "to 256 are right.",
                _embed_test(FAR, in_bfloat16=False)),
        Mistake("near positions, or float32 alone", "Two versions are left. One is wrong in "
                "bfloat16 at odd positions beyond 256, the other one beyond position 1023.",
                _embed_test(NEAR, in_bfloat16=False)),
        _test_embed_exactly,
        *(Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and right ones as "
                  "well that are off by more than it allows. In float32 the task promises 0.001.",
                  _embed_test(FAR, off=off)) for off in (1e-4, 1e-6)),
    ),
)  # fmt: skip
