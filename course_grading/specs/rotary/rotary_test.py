"""Write the test: is this a rotary encoding?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.rotary.common import (
    Rotation,
    frequencies_of,
    positions_ignored,
    turn_halves,
    turn_neighbours,
    two_layouts_mixed,
)


def _by_matrices(x: Tensor, positions: Tensor, base: float) -> Tensor:
    frequencies = frequencies_of(x.shape[-1], base).tolist()
    blocks = [torch.tensor([[0.0, -f], [f, 0.0]], dtype=torch.float64) for f in frequencies]
    generator = torch.block_diag(*blocks)
    turns = torch.linalg.matrix_exp(positions.double()[:, None, None] * generator)
    return (turns @ x.double()[..., None])[..., 0].to(x.dtype)


def _adds_waves(x, positions, base):
    angles = positions[:, None] * frequencies_of(x.shape[-1], base)
    return (x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)).to(x.dtype)


def _positions_in_bfloat16(x, positions, base):
    return turn_neighbours(x, positions.bfloat16().double(), base)


def _last_token_still(x, positions, base):
    return torch.cat([turn_neighbours(x[:-1], positions[:-1], base), x[-1:]])


def _first_token_still(x, positions, base):
    return torch.cat([x[:1], turn_neighbours(x[1:], positions[1:], base)])


def _last_pair_longer(x, positions, base):
    return torch.cat([turn_neighbours(x, positions, base)[..., :-2], 1.2 * x[..., -2:]], dim=-1)


def _one_token_still(x, positions, base):
    return torch.where(positions[:, None] == 1003, x, turn_neighbours(x, positions, base))


def _pieces() -> tuple[Tensor, Tensor, Tensor]:
    q, k = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0))
    return q, k, torch.tensor([0, 1, 2, 5, 9, 20])


def _same_scores_when_moved(
    rotation: Rotation, far: tuple[int, ...] = (4, 331), room: float = 1e-2
) -> None:
    q, k, positions = _pieces()
    first, *moved = (
        rotation(q, positions + by, 100.0) @ rotation(k, positions + by, 100.0).T
        for by in (0, *far)
    )
    for later in moved:
        assert torch.allclose(first, later, atol=room), "scores change when all tokens move"


def _same_lengths(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    lengths = rotation(q, positions, 100.0).norm(dim=-1)
    assert torch.allclose(lengths, q.norm(dim=-1), atol=1e-2), "lengths change"


def _same_scores_all_along(rotation: Rotation) -> None:
    places = torch.arange(10_001)
    q, k = (one[:1].expand(len(places), -1) for one in _pieces()[:2])
    queries, keys = rotation(q, places, 100.0), rotation(k, places, 100.0)
    for distance in (1, 300):
        scores = (queries[distance:] * keys[:-distance]).sum(dim=-1)
        assert torch.allclose(scores, scores[:1], atol=1e-2), "scores change along the text"


def _distance_matters(rotation: Rotation) -> None:
    q, k, positions = _pieces()
    near, far = (rotation(k, p, 100.0) for p in (positions, positions + 1))
    still = rotation(q, positions, 100.0)
    assert not torch.allclose(still @ near.T, still @ far.T, atol=1e-2), "distance has no effect"


def _test_of(*promises: Callable[[Rotation], None]) -> Callable[[Rotation], None]:
    def test(rotation):
        for promise in promises:
            promise(rotation)

    return test


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted (returning or printing "
         "False is not failing), or only what wrong numbers satisfy as well, such as a "
         "shape.")  # fmt: skip
def _test_shape(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    assert rotation(q, positions, 100.0).shape == q.shape


@mistake("compares with one layout",
         "This rejects right versions: columns may be paired as neighbours or as halves, and turn "
         "left or right. Test what all of them have in common.")  # fmt: skip
def _test_against_neighbours(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    assert torch.allclose(
        rotation(q, positions, 100.0), turn_neighbours(q, positions, 100.0), atol=1e-3
    )


EXERCISE = WriteTest(
    slug="rotary-test", title="Write the test: is this a rotary encoding?",
    minutes=20, points=3, name="test_rotation",
    reference=_test_of(
        _same_lengths, _same_scores_when_moved, _same_scores_all_along, _distance_matters),
    versions=(
        Version("neighbours", True, turn_neighbours),
        Version("halves", True, turn_halves),
        Version("turns to the right", True, lambda x, p, base: turn_neighbours(x, -p, base)),
        Version("by matrices", True, _by_matrices),
        Version("adds the sinusoid", False, _adds_waves),
        Version("turns by the square of the position", False,
                lambda x, p, base: turn_neighbours(x, p**2, base)),
        Version("two layouts mixed", False, two_layouts_mixed.answer),
        Version("fades with the position", False,
                lambda x, p, base: turn_neighbours(x, p, base) * 0.99 ** p[:, None]),
        Version("fades slowly", False,
                lambda x, p, base: turn_neighbours(x, p, base) * 0.9999 ** p[:, None],
                "It fades so slowly that several hundred positions take a few hundredths away."),
        Version("makes everything longer", False,
                lambda x, p, base: 1.1 * turn_neighbours(x, p, base)),
        Version("turns nothing", False, lambda x, p, base: x.clone()),
        Version("counts for itself", False, positions_ignored.answer),
        Version("loses count beyond 256", False, _positions_in_bfloat16,
                "Its positions are rounded to bfloat16. Move all tokens far."),
        Version("leaves the first token where it is", False, _first_token_still,
                "At position 0 that is right, farther on it is not."),
        Version("leaves the last token where it is", False, _last_token_still),
        Version("makes the last pair longer", False, _last_pair_longer),
        Version("begins again at 4096", False,
                lambda x, p, base: turn_neighbours(x, p % 4096, base),
                "Scores between tokens on one side of 4096 are right. Let the query stand beyond "
                "it, and the key before."),
        Version("leaves one token where it is", False, _one_token_still,
                "It turns all tokens but the one at a single position below 10 000. Ask for all of "
                "them in one call: the same vector everywhere, and one distance."),
    ),
    hints=(
        "You cannot compare numbers with a rotation of your own: columns may be paired in any way. "
        "Test what a rotation *does*. Which three things does lesson 08 say of it?",
        "Lengths stay. Scores stay when query and key move by the same number of positions. Scores "
        "do change when only one of them moves: otherwise a version that does nothing passes.",
        "Take q and k of shape (6, 8), and positions with gaps, such as [0, 1, 2, 5, 9, 20]: one "
        "version counts 0, 1, 2, ... itself, and moving everything does not find it. Moving only "
        "the keys, by one, does find it. Move all tokens by a little, and by several hundred. "
        "Then put one q and one k at all positions up to 10 000: for one distance, all scores must "
        "be the same. Allow differences of 0.01.",
    ),
    mistakes=(
        Mistake("lengths not tested",
                "Your test misses a version that stretches: scores may depend on the distance "
                "alone while vectors get longer. Compare norms before and after.",
                _test_of(_same_scores_when_moved, _same_scores_all_along, _distance_matters)),
        Mistake("lengths not tested",
                "Your test misses a version that stretches: scores may depend on the distance "
                "alone while vectors get longer. Compare norms before and after. And it looks at "
                "some positions only: ask for all of them up to 10 000.",
                _test_of(_same_scores_when_moved, _distance_matters)),
        Mistake("some positions only",
                "Your test looks at some positions. One version leaves a single token where it is, "
                "and one begins again at 4096. Put one q and one k at all positions up to 10 000, "
                "and compare the scores of one distance.",
                _test_of(_same_lengths, _same_scores_when_moved, _distance_matters)),
        Mistake("never asks whether distance matters",
                "A version that does nothing keeps every length and every score. So does one that "
                "ignores `positions`. Move the key alone: the score has to change.",
                _test_of(_same_lengths, _same_scores_when_moved, _same_scores_all_along)),
        Mistake("never asks whether distance matters",
                "A version that does nothing keeps every length and every score. So does one that "
                "ignores `positions`. Move the key alone: the score has to change. And ask for all "
                "positions up to 10 000.",
                _test_of(_same_lengths, _same_scores_when_moved)),
        Mistake("moved by a little only",
                "Moved by this little, all positions are still small. One version loses count "
                "beyond 256.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, (4,)))),
        Mistake("moved by a little only",
                "Moved by this little, all positions are still small. One version loses count "
                "beyond 256.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, (100,)))),
        Mistake("leaves too much room",
                "One version fades so slowly that far out its scores are off by some tenths. Allow "
                "differences of 0.01.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, room=1.0))),
        Mistake("lengths only",
                "Turning by the wrong angle keeps lengths as well. The point of a rotation is its "
                "scores: move query and key together, and compare.", _same_lengths),
        _test_shape,
        _test_against_neighbours,
    ),
)  # fmt: skip
