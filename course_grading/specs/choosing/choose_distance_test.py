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


PLACES = torch.tensor([0, 1, 2, 3, 5, 6, 20, 21, 40, 170, 171, 300])
KEPT = (slice(None), slice(None, None, 2), slice(0, 5), slice(3, 9))
SHIFTS = (0, 1, 37, 500, 1000, 5000, 8500, 9700)


def _test_moved(
    *shifts: int, places: Tensor = PLACES, kept: tuple[slice, ...] = KEPT, alike: bool = False
) -> Callable[[Scores], None]:
    """A test of texts of some tokens of one text, moved by each of `shifts`."""

    def test_only_distance(scores):
        x = torch.randn(1, len(places), DIM, generator=torch.Generator().manual_seed(0))
        x = x[:, :1].expand_as(x) if alike else x
        known = scores(x, places)[0]
        for some in kept:
            for shift in shifts:
                got = scores(x[:, some], places[some] + shift)[0]
                assert torch.allclose(got, known[:, some, some], rtol=0, atol=1e-3), shift

    return test_only_distance


_test_distance = _test_moved(*SHIFTS)


def _test_without_gaps(*shifts: int) -> Callable[[Scores], None]:
    return _test_moved(*shifts, places=torch.arange(20), kept=(slice(None), slice(0, 11)))


_falls = _scores(_Bias(lambda i, j: -(i - j).abs(), (0.25, 0.01)))
_turns = _scores(Rotary(DIM // HEADS))


def _test_one_text(scores: Scores) -> None:
    x = torch.randn(1, 12, 32, generator=torch.Generator().manual_seed(0))
    known = scores(x, torch.arange(12))
    for shift in (1, 37, 500, 9000):
        assert (scores(x, torch.arange(12) + shift) - known).abs().max() < 1e-3


def _knows_places_of_some_contents(x, positions):
    strength = x[..., 0] - x[..., 1]
    return _falls(x, positions) + 0.01 * (positions * strength)[:, None, None, :]


def _divided_by_the_largest(x, positions):
    found = _turns(x, positions)
    return found / found.abs().amax(dim=(-2, -1), keepdim=True)


def _with_the_mean(x, positions):
    return _falls(x, positions) + x.mean(dim=(1, 2))[:, None, None, None]


@mistake("refuses every version", "Your test refuses every scheme, the right ones too. There are "
         "two usual causes: scores of tokens with other contents are compared, or the comparison "
         "leaves no room for rounding.")  # fmt: skip
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
    minutes=20, points=3, name="test_only_distance", reference=_test_distance,
    forbidden=("distance_only", "PROBES", "probes"),
    versions=(
        Version("turns queries and keys", True, _scores(_TurnsInFloat32(DIM // HEADS)),
                "This is RoPE, with angles in float32. Its scores rise and fall with the distance, "
                "and depend on the contents as well: ask only whether equal distances of equal "
                "contents score alike, to 1e-3 or so."),
        Version("falls with distance", True, _falls),
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
        Version("starts again at 1024", False,
                _scores(Rotary(DIM // HEADS), lambda positions: positions % 1024),
                "A text that lies across position 1024, or a multiple of it, gets other scores. "
                "Let one begin before such a position and end behind it."),
        Version("knows places from 8000 on", False,
                _scores(_Bias(lambda i, j: (j > 8000) * torch.sin(j) + 0 * i, (1.0, 1.0))),
                "It is right up to position 8000. Positions go up to 10 000 here: move a text "
                "beyond 8000."),
        Version("knows places of far keys only", False,
                _scores(_Bias(lambda i, j: ((i - j).abs() > 100) * torch.sin(j), (1.0, 1.0))),
                "It is right at distances up to 100. Give positions with a large gap."),
        Version("knows places of some contents only", False, _knows_places_of_some_contents,
                "Its scores go by the key's place times the difference of two numbers of the key. "
                "Where all numbers of a token are alike, nothing shows: give other contents."),
        Version("divided by the largest score of the text", False, _divided_by_the_largest,
                "The score of two tokens changes with the other tokens of the text. Give tokens "
                "with different contents, and leave some of them out."),
        Version("adds the mean of all contents", False, _with_the_mean,
                "The score of two tokens changes with the other tokens of the text. Give tokens "
                "with different contents, and leave some of them out."),
    ),
    hints=(
        "Compare a text with itself: the same contents, with all positions moved by one number. "
        "Then every score has to stay as it was, and you need not know what it should be.",
        "Leave tokens out, too. The scores between those that are left, at their old positions, "
        "have to stay as they were. Give tokens with different contents, such as "
        "torch.randn(1, 12, 32), and positions with gaps.",
        "Some faults show only far out: give a distance above 100, and move the text so that it "
        "lies across 512, across 1024, and beyond 8000. Compare both heads, within 1e-3.",
    ),
    mistakes=(
        Mistake("moved by a few tokens only",
                "Your texts stay near position 0. Move them by hundreds and thousands, too.",
                _test_moved(1, 5)),
        Mistake("texts without gaps only", "All your positions follow each other. Leave some out: "
                "[0, 1, 5], and compare equal distances.",
                _test_without_gaps(1, 500, 1010, 5000, 9000)),
        Mistake("no gaps, and no text across 512", "All your positions follow each other. Leave "
                "some out, and move a text so that it begins before 512 and ends behind it.",
                _test_without_gaps(1, 5000, 9000)),
        Mistake("one text without gaps, moved as a whole", "You move one text, whose positions "
                "follow each other. Leave positions out, compare equal distances in texts that "
                "lack some of the tokens, and move a text so that it begins before 512 and ends "
                "behind it.",
                _test_one_text),
        Mistake("tokens that are all alike", "All your tokens have the same contents. Schemes pass "
                "whose scores depend on other tokens, or on the place of tokens with some contents "
                "only. Give different contents, and compare the same pairs of tokens.",
                _test_moved(*SHIFTS, alike=True)),
        Mistake("no token left out", "You move a text as a whole. Schemes pass that count tokens, "
                "or whose scores depend on the other tokens of the text. Leave tokens out, and "
                "compare the pairs that are left.",
                _test_moved(*SHIFTS, kept=(slice(None),))),
        Mistake("no text beyond 8000", "Your positions end before 8000. The task says how far they "
                "go: move a text further.",
                _test_moved(0, 1, 37, 500, 1000, 5000)),
        Mistake("short distances only", "Your texts have no two tokens that stand more than 100 "
                "apart. Give positions with a large gap.",
                _test_moved(*SHIFTS, 1015, places=torch.tensor([*PLACES[:9], 43, 44, 60]))),
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
