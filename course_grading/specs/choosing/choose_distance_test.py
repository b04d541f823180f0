"""Write the test: distance, and nothing else?"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_lab.instruments.probes import Subject
from course_lib.encodings import PositionScheme, Rotary, Shaw, Sinusoidal, T5Bias
from course_lib.encodings.angles import check_positions
from course_lib.encodings.rotary import rotate, rotation_table
from course_lib.model import DecoderConfig

DIM, HEADS = 32, 2
Scores = Callable[[Tensor, Tensor], Tensor]


def _scores(
    scheme: PositionScheme, counted: Callable[[Tensor], Tensor] = lambda positions: positions
) -> Scores:
    """What enters the softmax, by (batch, length, DIM) contents and (length,) positions."""
    scheme = Subject(scheme, DecoderConfig(dim=DIM, num_heads=HEADS), 16).awake()
    turned = torch.linalg.qr(torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(4))).Q

    def scores(x, positions):
        check_positions(positions)
        at = counted(positions)
        with torch.no_grad():
            q = k = (scheme.embed(x, at) @ turned).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            bias = scheme.score_bias(q, k, at, at)
            q, k = scheme.rotate(q, k, at, at)
            products = q @ k.mT / math.sqrt(q.shape[-1])
            return products if bias is None else products + bias

    return scores


class _Bias(PositionScheme):
    """A bias from query and key positions, multiplied by a number for each head."""

    def __init__(self, of: Callable[[Tensor, Tensor], Tensor], heads: tuple[float, ...]) -> None:
        super().__init__()
        self.of, self.heads = of, torch.tensor(heads)[:, None, None]

    def score_bias(self, q, k, q_positions, k_positions):
        i, j = q_positions.float()[:, None], k_positions.float()[None, :]
        return (self.heads * self.of(i, j)).to(q.dtype)


class _TurnsInFloat32(Rotary):
    def table(self, positions):
        angles = positions.float()[:, None] * self.frequencies.float()
        return angles.cos(), angles.sin()


class _TurnsQueries(Rotary):
    def rotate(self, q, k, q_positions, k_positions):
        table = rotation_table(self.frequencies, q_positions)
        return rotate(q, *table, "half"), k


def _test_moved(*shifts: int) -> Callable[[Scores], None]:
    """A test of three texts, with gaps and without, moved by each of `shifts`."""

    def test_only_distance(scores):
        x = torch.randn(1, 1, DIM, generator=torch.Generator().manual_seed(0))
        known = scores(x.expand(1, 41, -1), torch.arange(41))[0]
        for text in (list(range(20)), [0, 1, 5, 6, 20], [2, 9, 30]):
            for shift in shifts:
                at = torch.tensor(text)
                got = scores(x.expand(1, len(text), -1), at + shift)[0]
                i, j = at[:, None].expand(-1, len(at)), at[None, :].expand(len(at), -1)
                assert torch.allclose(got, known[:, i, j], atol=1e-3), f"moved by {shift}: {text}"

    return test_only_distance


_test_distance = _test_moved(1, 500, 5000)


def _test_without_gaps(*shifts: int) -> Callable[[Scores], None]:
    def test_only_distance(scores):
        x = torch.randn(1, 20, DIM, generator=torch.Generator().manual_seed(0))
        for shift in shifts:
            moved = scores(x, torch.arange(20) + shift)
            assert torch.allclose(scores(x, torch.arange(20)), moved, atol=1e-3)

    return test_only_distance


@mistake("refuses every version", "Your test refuses every scheme, the right ones too. There are "
         "two usual causes: tokens that are not alike, so that scores differ by contents, or a "
         "comparison that leaves no room for rounding.")  # fmt: skip
def _test_random_contents(scores):
    x = torch.randn(1, 12, DIM, generator=torch.Generator().manual_seed(0))
    got = scores(x, torch.arange(12))[0]
    for offset in range(-11, 12):
        line = got.diagonal(offset, dim1=-2, dim2=-1)
        assert torch.allclose(line, line[:, :1].expand_as(line), atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. Compare scores, with `assert`. (An `assert` with "
         "condition and message in one pair of brackets is always true.)")  # fmt: skip
def _test_nothing(scores):
    assert scores(torch.ones(1, 4, DIM), torch.arange(4)).shape == (1, HEADS, 4, 4)


EXERCISE = WriteTest(
    slug="choose-distance-test", title="Write the test: distance, and nothing else?",
    minutes=15, points=3, name="test_only_distance", reference=_test_distance,
    forbidden=("distance_only", "PROBES", "probes"),
    versions=(
        Version("turns queries and keys", True, _scores(_TurnsInFloat32(DIM // HEADS)),
                "This is RoPE, with angles in float32. Its scores rise and fall with the distance, "
                "and depend on the contents as well: ask only whether equal distances of equal "
                "contents score alike, to 1e-3 or so."),
        Version("falls with distance", True,
                _scores(_Bias(lambda i, j: -(i - j).abs(), (0.25, 0.01)))),
        Version("learned buckets", True, _scores(T5Bias(HEADS))),
        Version("vectors for distances", True, _scores(Shaw(DIM // HEADS, 8)),
                "Its vectors meet the contents, and beyond distance 8 all are the same: ask only "
                "whether equal distances of equal contents score alike, to 1e-3 or so."),
        Version("adds a sinusoid", False, _scores(Sinusoidal(DIM))),
        Version("turns the queries alone", False, _scores(_TurnsQueries(DIM // HEADS))),
        Version("bias by the key's place", False,
                _scores(_Bias(lambda i, j: torch.sin(j) + 0 * i, (1.0, 1.0)))),
        Version("the second head knows places", False,
                _scores(_Bias(lambda i, j: -(i - j).abs() + 0.01 * j, (0.0, 1.0))),
                "Only one of its two heads goes by the key's place. Compare both heads."),
        Version("the first head knows places", False,
                _scores(_Bias(lambda i, j: -(i - j).abs() + 0.01 * j, (1.0, 0.0))),
                "Only one of its two heads goes by the key's place. Compare both heads."),
        Version("knows places of later keys only", False,
                _scores(_Bias(lambda i, j: (j > i) * torch.sin(j), (1.0, 1.0))),
                "It is right for keys before the query. Scores of later keys count here, too."),
        Version("counts tokens itself", False,
                _scores(Rotary(DIM // HEADS), lambda positions: torch.arange(len(positions))),
                "It ignores `positions`: leave tokens out, and compare scores at the same "
                "distances."),
        Version("positions in half precision", False,
                _scores(Rotary(DIM // HEADS), lambda positions: positions.bfloat16().long()),
                "Far out, neighbouring positions become one."),
        Version("starts again at 512", False,
                _scores(Rotary(DIM // HEADS), lambda positions: positions % 512),
                "A text that lies across position 512, or a multiple of it, gets other scores. Let "
                "one begin before such a position and end behind it."),
        Version("measures from the text's end", False,
                _scores(_Bias(lambda i, j: 0.1 * (j.max() - j).sqrt() + 0 * i, (1.0, 1.0))),
                "The same two tokens get another score in a longer text."),
    ),
    hints=(
        "Give all tokens the same content, such as torch.ones(1, n, 32): then every difference "
        "between scores comes from positions.",
        "With positions 0 to 40 once, you know what each distance should score. Then try other "
        "positions: moved by 1, by 37, by 1000; with gaps; in a shorter text.",
        "Some faults show only far out: move a text so that it lies across 512, and beyond 1000. "
        "Compare both heads, within 1e-3.",
    ),
    mistakes=(
        Mistake("moved by a few tokens only",
                "Your texts stay near position 0. Move them by hundreds and thousands, too.",
                _test_moved(1, 5)),
        Mistake("texts without gaps only", "All your positions follow each other. Leave some out: "
                "[0, 1, 5], and compare equal distances.",
                _test_without_gaps(1, 500, 5000)),
        Mistake("no gaps, and no text across 512", "All your positions follow each other. Leave "
                "some out, and move a text so that it begins before 512 and ends behind it.",
                _test_without_gaps(1, 5000)),
        Mistake("first head only", "You look at one head. The other may do something else.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions)[:, :1])),
        Mistake("second head only", "You look at one head. The other may do something else.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions)[:, 1:])),
        Mistake("earlier keys only", "You look at keys before the query. Later keys have scores, "
                "too, and theirs may go by place.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions).tril())),
        _test_random_contents,
        _test_nothing,
    ),
)  # fmt: skip
