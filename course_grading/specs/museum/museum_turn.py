"""Second room: a turn."""

from __future__ import annotations

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import BASE, MORE_THAN_PROMISED, exhibit, stepped, theta

ANY_LAYOUT = (
    "Which columns make a pair is free here. Compare what does not depend on it: scores of "
    "turned vectors, and only with vectors whose numbers are all alike."
)


def angles_for(x: Tensor, positions: Tensor, frequencies: Tensor | None = None) -> Tensor:
    """Angles that broadcast over heads: (length, pairs) or (batch, 1, length, pairs)."""
    frequencies = theta(x.shape[-1]) if frequencies is None else frequencies
    angles = positions.double()[..., None] * frequencies
    return angles if positions.ndim == 1 else angles.unsqueeze(1)


def turn_halves(x: Tensor, angles: Tensor) -> Tensor:
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.to(x.dtype)


def turn_in_halves(x: Tensor, positions: Tensor) -> Tensor:
    return turn_halves(x, angles_for(x, positions))


def turn_interleaved(x, positions):
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    hands = torch.exp(1j * angles_for(x, positions))
    return torch.view_as_real(pairs * hands).flatten(-2).to(x.dtype)


def turn_slowest_first(x, positions):
    return turn_halves(x.flip(-1), angles_for(x, positions)).flip(-1)


def turn_from_a_table_of_sines(x, positions):
    return turn_halves(x, stepped(angles_for(x, positions)))


def turn_by_matrices(x, positions):
    cos, sin = angles_for(x, positions).cos(), angles_for(x, positions).sin()
    blocks = torch.stack([cos, -sin, sin, cos], dim=-1).unflatten(-1, (2, 2))
    pairs = x.double().unflatten(-1, (-1, 2)).unsqueeze(-1)
    return (blocks @ pairs).flatten(-3).to(x.dtype)


@exhibit("frequencies repeated for one layout, turned in the other", "09",
         "The two columns of a pair turn by different angles, so this is no rotation at all. At "
         "position 0 nothing turns. At other positions a turned vector has another length than "
         "before.")  # fmt: skip
def turn_mixed(x, positions):
    cos, sin = angles_for(x, positions).cos(), angles_for(x, positions).sin()
    cos, sin = cos.repeat_interleave(2, dim=-1), sin.repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-second, first], dim=-1) * sin).to(x.dtype)


@exhibit("frequencies spread over the model's width", "08",
         "The exponent is divided by heads * head_dim instead of head_dim, so each head has "
         "fast pairs only. With one head the two numbers are the same. Lengths stay right, and "
         "scores still depend on distance alone, so you have to know what the score at some "
         "distance should be. Ask with several heads.")  # fmt: skip
def turn_by_model_width(x, positions):
    heads, head_dim = x.shape[1], x.shape[-1]
    frequencies = theta(heads * head_dim)[: head_dim // 2]
    return turn_halves(x, angles_for(x, positions, frequencies))


@exhibit("each head has a slice of the model's frequencies", "08",
         "Head 0 is right. Each later head goes on in the list of frequencies where the head "
         "before it ended, with pairs that hardly turn. Every head is a rotation of its own, so "
         "compare all heads with scores that you know.")  # fmt: skip
def turn_slices_of_model_width(x, positions):
    heads, head_dim = x.shape[1], x.shape[-1]
    slices = (BASE ** (-torch.arange(0, heads * head_dim, 2).double() / head_dim)).chunk(heads)
    turned = [
        turn_halves(x[:, h : h + 1], angles_for(x, positions, frequencies))
        for h, frequencies in enumerate(slices)
    ]
    return torch.cat(turned, dim=1)


@exhibit("the table of positions broadcast over heads", "08",
         "Positions of shape (batch, length) meet a tensor of shape (batch, heads, length, "
         "head_dim), so head h of every text gets the positions of text h. With as many texts "
         "as heads nothing is raised, and texts that all have the same positions come out "
         "right. Give as many texts as heads, with positions that differ.")  # fmt: skip
def turn_table_over_heads(x, positions):
    return turn_halves(x, positions.double()[..., None] * theta(x.shape[-1]))


@exhibit("the first text's positions for all texts", "08",
         "Row 0 of `positions` serves the whole batch. The first text is right, and so are "
         "scores of a text with the same distances. Give each text positions with other gaps, "
         "and compare the second text as well.")  # fmt: skip
def turn_like_the_first_text(x, positions):
    return turn_in_halves(x, positions if positions.ndim == 1 else positions[0])


@exhibit("counts by itself", "09",
         "It turns by 0, 1, 2, ... whatever `positions` says. A whole text is right, but a "
         "token that is decoded alone stands at 0 again. Use positions with gaps: without gaps "
         "all distances are right.")  # fmt: skip
def turn_counting_itself(x, positions):
    return turn_halves(x, torch.arange(x.shape[-2])[:, None] * theta(x.shape[-1]))


TURN = (
    Version("pairs are columns i and i + d/2", True, turn_in_halves, ANY_LAYOUT),
    Version("pairs are columns 2i and 2i + 1", True, turn_interleaved, ANY_LAYOUT),
    Version("the slowest pair first", True, turn_slowest_first, ANY_LAYOUT),
    Version("with a matrix for every pair", True, turn_by_matrices),
    Version("sines from a table of 6000", True, turn_from_a_table_of_sines,
            "In vectors of length 1 its numbers are off by up to 0.0006, and the task promises "
            "0.001. Allow as much, and more for longer vectors and for scores of many columns."),
    turn_mixed, turn_by_model_width, turn_slices_of_model_width, turn_table_over_heads,
    turn_like_the_first_text, turn_counting_itself,
)  # fmt: skip


def _turn_test(batch: int, heads: int, positions: list, texts: slice = slice(None), off=1e-2):
    """Vectors of ones, turned apart by some distance: their score is the same in every layout."""

    def test_turn(turn):
        at = torch.tensor(positions)
        turned = turn(torch.ones(batch, heads, at.shape[-1], 8), at)
        distance = at[..., :, None] - at[..., None, :]
        angles = distance[..., None] * theta(8)
        expected = 2 * angles.cos().sum(dim=-1).float()
        expected = expected if at.ndim == 1 else expected.unsqueeze(1)
        scores, expected = turned @ turned.mT, expected.expand(batch, heads, -1, -1)
        assert torch.allclose(scores[texts], expected[texts], atol=off)

    return test_turn


@mistake("lets every rotation through",
         "The only version that it rejects is the one that is no rotation. A turn by wrong angles "
         "keeps lengths, too, and its scores depend on distance alone. Compare scores with what "
         "they should be at a known distance, for several heads, and for positions with "
         "gaps.")  # fmt: skip
def _test_turn_lengths(turn):
    x = torch.ones(2, 2, 3, 8)
    turned = turn(x, torch.tensor([0, 3, 17]))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-3)


@mistake("asks for one layout",
         "It rejects right versions that pair other columns, or that put pairs in another order. "
         "If all numbers of the vectors are the same, scores are the same in every "
         "layout.")  # fmt: skip
def _test_turn_layout(turn):
    x, positions = torch.arange(16.0).view(1, 1, 2, 8), torch.tensor([3, 20])
    assert torch.allclose(turn(x, positions), turn_in_halves(x, positions), atol=1e-3)


EXERCISE = WriteTest(
    slug="museum-turn", title="Second room: a turn", minutes=15, points=6,
    name="test_turn", reference=_turn_test(2, 2, [[0, 3, 17], [5, 6, 40]]), versions=TURN,
    forbidden=("Rotary", "rotate"),
    hints=(
        "Which columns make a pair is left open, so you cannot compare turned vectors with your "
        "own. What is the dot product of two vectors of ones after their turns?",
        "Turn one pair of ones by a, and another pair of ones by b: their dot product is "
        "2 cos(a - b). So two vectors of ones at distance r have the dot product 2 * sum over "
        "pairs of cos(r * base^(-2i/d)), in any layout.",
        "The wrong versions, in order: one mixes two layouts, two take the width of the model for "
        "the width of a head, two give a text the positions of another text, and one does not use "
        "positions. So ask with several heads, with as many texts as heads, and with positions "
        "whose gaps differ from text to text.",
    ),
    mistakes=(
        _test_turn_lengths,
        _test_turn_layout,
        Mistake("one head",
                "With one head the width of the model is the width of the head, and no heads can "
                "be mixed up.",
                _turn_test(2, 1, [0, 3, 17])),
        Mistake("the same distances in all texts",
                "In padded and packed batches each text has its own positions, in the shape "
                "(batch, length): give two texts positions with different gaps.",
                _turn_test(2, 3, [0, 3, 17])),
        Mistake("the first text only",
                "The version that is left is right for the first text of a batch, and wrong for "
                "the other texts: compare these, too.",
                _turn_test(2, 2, [[0, 3, 17], [5, 6, 40]], texts=slice(1))),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The numbers of a vector of length 1 are "
                "right to 0.001: in scores of vectors of eight ones allow 0.01 or more.",
                _turn_test(2, 2, [[0, 3, 17], [5, 6, 40]], off=1e-4)),
        Mistake("positions without gaps", "A version that counts by itself is right there. Use "
                "positions with gaps, and one row of positions for each text.",
                _turn_test(2, 3, [0, 1, 2, 3, 4])),
    ),
)  # fmt: skip
