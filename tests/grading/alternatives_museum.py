"""The museum: other tests that catch everything, two or more for each room."""

import math
import random

import torch

from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding


def close(got, want, allowed=1e-3):
    return abs(float(got) - want) <= allowed


def embed_by_entries(embed):
    x = torch.full((3, 2, 6), 0.5)
    out = embed(x, torch.tensor([7, 300]), 4)
    for text in range(3):
        for row, position in enumerate((7 / 4, 75)):
            for pair in range(3):
                angle = position / 10_000 ** (pair / 3)
                assert close(out[text, row, 2 * pair], 0.5 + math.sin(angle))
                assert close(out[text, row, 2 * pair + 1], 0.5 + math.cos(angle))
    for dtype, allowed in ((torch.float32, 1e-3), (torch.bfloat16, 0.02)):
        late = embed(torch.zeros(1, 2, 2, dtype=dtype), torch.tensor([999, 1999]), 1)
        assert close(late[0, 0, 0], math.sin(999), allowed)
        assert close(late[0, 1, 0], math.sin(1999), allowed)


def embed_by_what_it_does(embed):
    x = torch.zeros(2, 40, 64)
    table = embed(x, torch.arange(300, 340), 1)
    assert torch.equal(table[0], table[1])
    assert torch.allclose((table**2).sum(-1), torch.tensor(32.0), atol=1e-2)
    frequencies = 10_000 ** (-torch.arange(0, 64, 2) / 64)
    assert close(table[0, 0] @ table[0, 9], float(torch.cos(9 * frequencies).sum()), 0.1)
    stretched = embed(x, torch.arange(300, 340), 3)
    assert close(stretched[0, 0] @ stretched[0, 1], float(torch.cos(frequencies / 3).sum()), 0.1)
    half = embed(x.bfloat16(), torch.arange(300, 340), 1)
    assert torch.allclose(half.float(), table, atol=0.02)
    late = embed(x, torch.arange(1960, 2000), 1)
    assert torch.allclose(late[0] @ late[0].mT, table[0] @ table[0].mT, atol=0.1)


def embed_up_to_its_promise(embed):
    """At the largest position, in the widest table, and as exactly as the task says."""
    at = torch.tensor([1999, 0, 1001, 258, 257])
    for factor in (1, 7):
        angles = at[:, None] / factor * rotary_frequencies(512)
        expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        for dtype, allowed in ((torch.float32, 1e-3), (torch.bfloat16, 0.02)):
            x = torch.linspace(-1, 1, 512).expand(3, 5, -1).to(dtype)
            got = embed(x, at, factor)
            assert got.dtype == dtype
            assert (got.float() - (x.float() + expected)).abs().max() < allowed


def turn_up_to_its_promise(turn):
    """All pairs of texts, heads and rows, each at its exact score, far from 0."""
    at = torch.tensor([[1999, 3], [1500, 1200]])
    turned = turn(torch.full((2, 2, 2, 64), 1 / 8), at)
    apart = at.flatten()[:, None] - at.flatten()
    expected = (apart[..., None] * rotary_frequencies(64)).cos().sum(dim=-1) / 32
    for head in range(2):
        rows = turned[:, head].flatten(0, 1)
        assert torch.allclose(rows @ rows.T, expected.float(), atol=1e-3)
    assert torch.allclose(turned[:, 0], turned[:, 1], atol=1e-3)


def turn_by_two_layouts(turn):
    """What comes out is equal to one layout or the other, for vectors that any layout may have."""
    positions = torch.tensor([[4, 9], [30, 2], [77, 5]])
    x = torch.ones(3, 3, 2, 6)
    turned = turn(x, positions).double().sort(dim=-1)[0]
    for text in range(3):
        for row in range(2):
            angles = [int(positions[text, row]) * 10_000 ** (-i / 3) for i in range(3)]
            pairs = [math.cos(a) + sign * math.sin(a) for a in angles for sign in (-1, 1)]
            expected = torch.tensor(sorted(pairs), dtype=torch.float64)
            for head in range(3):
                assert torch.allclose(turned[text, head, row], expected, atol=1e-3)


def turn_by_scores(turn):
    def score(first, second, heads=4):
        x = torch.ones(1, heads, 1, 8)
        return (turn(x, torch.tensor([first])) * turn(x, torch.tensor([second]))).sum(-1)[0, :, 0]

    for first, second in ((0, 0), (3, 10), (100, 90)):
        expected = sum(2 * math.cos((first - second) * 10_000 ** (-i / 4)) for i in range(4))
        assert all(close(s, expected, 1e-2) for s in score(first, second))
    x, places = torch.ones(4, 4, 2, 8), torch.tensor([[0, 1], [5, 8], [3, 3], [9, 2]])
    together = turn(x, places)
    for text in range(4):
        alone = turn(x[text : text + 1], places[text])
        assert torch.allclose(together[text], alone[0], atol=1e-4)
        apart = score(*places[text].tolist())[0]
        assert close(together[text, 0, 0] @ together[text, 0, 1], apart, 1e-2)


def tables_in_a_random_order(make):
    draw = random.Random(0)
    for _ in range(20):
        table = make(12)
        for _ in range(6):
            length, offset, base = draw.randint(1, 9), draw.randint(0, 9), draw.choice((50.0, 1e4))
            dtype, allowed = draw.choice(((torch.float32, 1e-3), (torch.bfloat16, 1e-2)))
            got = table(length, offset=offset, base=base, dtype=dtype)
            at = torch.arange(offset, offset + length)
            exact, _ = rotation_table(rotary_frequencies(12, base), at)
            assert got.shape == (length, 6) and got.dtype == dtype
            assert torch.allclose(got.float(), exact, atol=allowed)
    converted = make(12).bfloat16()(1, offset=1900)[0]
    assert all(close(c, math.cos(1900 * 10_000 ** (-i / 6))) for i, c in enumerate(converted))


def table_against_a_fresh_one(make):
    used = make(32)
    used(50, offset=3, base=77.0, dtype=torch.bfloat16)
    used(50, offset=3, dtype=torch.bfloat16)
    for asked in ({}, {"offset": 9}, {"offset": 30}, {"base": 300.0}, {"base": 77.0}):
        assert torch.allclose(used(5, **asked), make(32)(5, **asked), atol=1e-3)
    assert close(make(32)(1, offset=5)[0, 0], math.cos(5))
    converted = make(32).to(torch.bfloat16)(10, offset=1500)
    assert torch.allclose(converted, make(32)(10, offset=1500), atol=2e-3)


def convert_by_scores(convert):
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(rows, 5, generator=generator) for rows in (48, 16))
    x, at = torch.randn(4, 5, generator=generator), torch.tensor([0, 2, 3, 50])

    def scores(q, k, layout):
        turned = [
            rotate((x @ w.T).unflatten(-1, (-1, 8)).transpose(0, 1),
                   *rotation_table(rotary_frequencies(8), at), layout=layout)
            for w in (q, k)
        ]  # fmt: skip
        return turned[0] @ turned[1].repeat_interleave(3, dim=0).mT

    expected = scores(q, k, "interleaved")
    assert torch.allclose(scores(*convert(q, k, 6, 2), "half"), expected, atol=1e-3)


def convert_row_by_row(convert):
    q, k = torch.randn(24, 3), torch.randn(12, 3)
    for new, old, heads in zip(convert(q, k, 2, 1), (q, k), (2, 1), strict=True):
        width = len(old) // heads
        for head in range(heads):
            for row in range(width):
                source = 2 * row if row < width // 2 else 2 * (row - width // 2) + 1
                assert torch.equal(new[head * width + row], old[head * width + source])


def weights_in_loops(weights):
    generator = torch.Generator().manual_seed(0)
    slopes = [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    q, k = (torch.randn(2, 6, n, 9, generator=generator) for n in (2, 7))
    q_at, k_at = torch.tensor([20, 31]), torch.tensor([3, 9, 18, 20, 25, 30, 31])
    got = weights(q, k, q_at, k_at)
    for h, slope in enumerate(slopes):
        for i, here in enumerate(q_at.tolist()):
            e = [math.exp(float(q[1, h, i] @ k[1, h, j]) / 3 - slope * (here - there))
                 if there <= here else 0 for j, there in enumerate(k_at.tolist())]  # fmt: skip
            assert all(close(g, w / sum(e), 1e-2) for g, w in zip(got[1, h, i], e, strict=True))
    zeros, at = torch.zeros(1, 6, 1, 4, dtype=torch.bfloat16), torch.arange(2000)
    far = weights(zeros, zeros.expand(-1, -1, 2000, -1), at[-1:], at)[0, 4, 0].float()
    assert close(far[-1], 1 - math.exp(-0.5), 0.02) and far[-1] > 1.4 * far[-2]


def weights_up_to_their_promise(weights):
    slopes = torch.tensor([2.0**-e for e in (2, 4, 6, 8, 1)])
    at = torch.arange(3000)
    expected = (-slopes[:, None] * (2999 - at)).softmax(dim=-1)
    for dtype, allowed in ((torch.float32, 1e-3), (torch.bfloat16, 0.02)):
        zeros = torch.zeros(2, 5, 3000, 8, dtype=dtype)
        got = weights(zeros[:, :, -1:], zeros, at[-1:], at)
        assert got.dtype == dtype and got.shape == (2, 5, 1, 3000)
        assert torch.allclose(got[:, :, 0].float(), expected.expand(2, -1, -1), atol=allowed)


def weights_by_ratios(weights):
    """Two neighbouring keys differ by a factor of e^slope, wherever the text stands."""
    for dtype in (torch.float32, torch.bfloat16):
        for heads, slopes in ((3, [1 / 16, 1 / 256, 1 / 4]), (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256])):
            q = torch.zeros(1, heads, 1, 16, dtype=dtype)
            k_at = torch.tensor([2000, 2004, 2008, 2009])
            w = weights(q, q.expand(-1, -1, 4, -1), torch.tensor([2008]), k_at)[0, :, 0].float()
            for row, slope in zip(w, slopes, strict=True):
                assert row[3] == 0 and close(row.sum(), 1, 0.02)
                assert close(row[2] / row[1], math.exp(4 * slope), 0.1)
                assert close(row[1] / row[0], math.exp(4 * slope), 0.1)


def bias_by_hand(bias):
    table = torch.stack([torch.arange(32.0), torch.arange(32.0) + 100], dim=1)
    positions = torch.tensor([10, 11, 12, 13, 14])
    for head, start in enumerate((0, 100)):
        got = bias(table, positions, positions)[head]
        for i in range(5):
            for j in range(5):
                assert got[i, j] == start + (i - j if j <= i else 16 + j - i)
    for q, k, row in ((300, 0, 15), (0, 300, 31), (9, 4, 5), (4, 9, 21)):
        got = bias(table, torch.tensor([q]), torch.tensor([k]))
        assert got.flatten().tolist() == [row, 100 + row]
    assert bias(table, torch.tensor([7]), torch.tensor([6, 7])).shape == (2, 1, 2)


def bias_by_distance(bias):
    table = torch.randn(32, 3, generator=torch.Generator().manual_seed(0))
    n = torch.arange(200)
    square = bias(table, n, n)
    for d in range(1, 8):
        assert torch.allclose(square.diagonal(-d, 1, 2), table[d][:, None])
        assert torch.allclose(square.diagonal(d, 1, 2), table[16 + d][:, None])
    assert torch.allclose(square[:, 199, 0], table[15])
    assert torch.allclose(square[:, 0, 199], table[31])
    assert torch.allclose(bias(table, n[150:151], n), square[:, 150:151])


def reach_pair_by_pair(make):
    frequencies = make(32, 500.0, 1024)
    for length in (4096, 100, 2048, 2048, 1024):
        got = frequencies(length)
        for i in range(16):
            trained = 500 ** (-i / 16)
            keep = min(1, max(0, (1024 * trained / (2 * math.pi) - 1) / 31))
            wanted = trained * (keep + (1 - keep) / max(1, length / 1024))
            assert math.isclose(got[i], wanted, rel_tol=1e-3)


def reach_between_two_limits(make):
    """Every pair lies between its two frequencies, and a line leads from one to the other."""
    for dim, base, original in ((8, 100.0, 64), (128, 500_000.0, 8192)):
        frequencies, trained = make(dim, base, original), rotary_frequencies(dim, base)
        for length in (3 * original, 3 * original, original // 3, 10 * original, original):
            slowing = trained / torch.as_tensor(frequencies(length)).double()
            longest = max(1, length / original)
            turns = original * trained / (2 * math.pi)
            assert (slowing > 0.999).all() and (slowing < 1.001 * longest).all()
            assert torch.allclose(slowing[turns >= 32], torch.ones(()).double(), rtol=1e-3)
            assert torch.allclose(slowing[turns <= 1], torch.tensor(longest).double(), rtol=1e-3)
            assert (slowing.diff() > -1e-3 * longest).all()
            if longest > 1:
                kept, between = (1 / slowing - 1 / longest) / (1 - 1 / longest), (turns - 1) / 31
                inside = (turns > 1) & (turns < 32)
                assert torch.allclose(kept[inside], between[inside], atol=1e-3)


def reach_by_order(make):
    """A function that was asked before answers as one that was not."""
    used = make(64, 10_000.0, 512)
    for length in (100, 5120, 5120, 100, 700):
        assert torch.allclose(used(length), make(64, 10_000.0, 512)(length), rtol=2e-3, atol=0)
    trained = 10_000 ** (-torch.arange(0, 64, 2) / 64)
    assert torch.allclose(used(100).float(), trained, rtol=1e-3, atol=0)
    divided = trained / used(5120).float()
    assert torch.allclose(divided[[0, -1]], torch.tensor([1.0, 10.0]), rtol=2e-3)
    kept, turns = (10 / divided - 1) / 9, 512 * trained / (2 * torch.pi)
    inside = (turns > 1) & (turns < 32)
    assert torch.allclose(kept[inside], (turns[inside] - 1) / 31, atol=0.01)


def test_of_tests_with_many_mutants(test):
    test(sinusoidal_encoding)
    test(lambda p, dim: sinusoidal_encoding(p, dim).double())
    test(lambda p, dim: (p[..., None].float() * 10_000 ** -(torch.arange(dim) // 2 * 2 / dim)
                         + torch.arange(dim) % 2 * torch.pi / 2).sin())  # fmt: skip
    for broken in (
        lambda p, dim: torch.zeros(*p.shape, dim),
        lambda p, dim: sinusoidal_encoding(p + 1, dim),
        lambda p, dim: sinusoidal_encoding(p, dim, base=77.0),
        lambda p, dim: sinusoidal_encoding(3 * p, dim),
    ):
        rejected = False
        try:
            test(broken)
        except AssertionError:
            rejected = True
        assert rejected


def test_of_tests_with_noise(test):
    def shaken(amount):
        generator = torch.Generator().manual_seed(0)
        return lambda p, dim: (
            sinusoidal_encoding(p, dim) + amount * torch.randn(*p.shape, dim, generator=generator)
        )

    def random_but_right_at_0(p, dim):
        return sinusoidal_encoding(p * p, dim)

    test(shaken(1e-5))
    test(sinusoidal_encoding)
    for broken in (shaken(1.0), random_but_right_at_0):
        try:
            test(broken)
        except AssertionError:
            pass
        else:
            raise AssertionError("accepts what is broken")


ALTERNATIVES = {
    "museum-waves": [embed_by_entries, embed_by_what_it_does, embed_up_to_its_promise],
    "museum-turn": [turn_by_two_layouts, turn_by_scores, turn_up_to_its_promise],
    "museum-table": [tables_in_a_random_order, table_against_a_fresh_one],
    "museum-weights": [convert_by_scores, convert_row_by_row],
    "museum-slope": [weights_in_loops, weights_by_ratios, weights_up_to_their_promise],
    "museum-buckets": [bias_by_hand, bias_by_distance],
    "museum-reach": [reach_pair_by_pair, reach_by_order, reach_between_two_limits],
    "museum-tests": [test_of_tests_with_many_mutants, test_of_tests_with_noise],
}
