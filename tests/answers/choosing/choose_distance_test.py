# Answers to choose-distance-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

AT = torch.tensor([0, 1, 2, 4, 5, 9, 20, 23, 41, 180, 181, 290])
X = torch.randn(1, len(AT), 32, generator=torch.Generator().manual_seed(8))

def known_and_moved(scores, texts, shifts, pick=lambda got: got, allowed=1e-3):
    known = scores(X, AT)[0]
    for text in texts:
        some = torch.tensor(text)
        for shift in shifts:
            got = scores(X[:, some], AT[some] + shift)[0]
            expected = known[:, some][:, :, some]
            assert (pick(got) - pick(expected)).abs().max() < allowed

TEXTS = ([*range(12)], [0, 2, 3, 7, 9], [1, 2, 3])
SHIFTS = (0, 1, 37, 500, 1010, 5000, 8600, 9700)

# %% right
# style: distance test by pairs
def test_only_distance(scores):
    torch.manual_seed(5)
    kinds = torch.randn(2, 32)
    seen = {}
    texts = ([0, 1, 2, 3, 150], [4, 6, 7, 9, 30], [500, 505, 511, 512, 514, 530, 661],
             [1015, 1020, 1025, 1030], [8100, 8101, 8103, 8249], [9700, 9701, 9703, 9850],
             [40, 41], [60, 62])
    for at in [at for at in texts for _ in range(4)]:
        which = torch.randint(2, (len(at),))
        got = scores(kinds[which][None], torch.tensor(at))[0]
        for i, p in enumerate(at):
            for j, q in enumerate(at):
                of = int(which[i]), int(which[j]), p - q
                first = seen.setdefault(of, got[:, i, j])
                assert (got[:, i, j] - first).abs().max() < 1e-3, (p, q)

# %% right
# style: distance test two by two
def test_only_distance(scores):
    """Pairs of tokens, alone in their text or among others, at distances of 1 to 300."""
    torch.manual_seed(6)
    x = torch.randn(1, 4, 32)
    for distance in (1, 2, 7, 300):
        alone = scores(x[:, 1:3], torch.tensor([0, distance]))[0]
        for start in (3, 40, 212, 509, 1000, 1020, 4097, 9000):
            pair = scores(x[:, 1:3], torch.tensor([start, start + distance]))[0]
            assert torch.allclose(pair, alone, atol=1e-3)
            among = torch.tensor([start - 2, start, start + distance, start + distance + 50])
            inner = scores(x, among)[0, :, 1:3, 1:3]
            assert torch.allclose(inner, alone, atol=1e-3)
            if distance > 1:
                among = torch.tensor([start, start + 1, start + distance])
                outer = scores(x[:, [1, 0, 2]], among)[0, :, ::2, ::2]
                assert torch.allclose(outer, alone, atol=1e-3)

# %% variation
# because: first head only
# named: first head only
def test_only_distance(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got[0])

# %% variation
# because: last head only
# named: second head only
def test_only_distance(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got[-1])

# %% variation
# because: past only
# named: earlier keys only
def test_only_distance(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got.tril())

# %% variation
# because: falling scores
def test_only_distance(scores):
    first = scores(torch.ones(1, 9, 32), torch.arange(9))[0, :, -1]
    assert (first.diff(dim=-1) > 0).all()
    known_and_moved(scores, TEXTS, SHIFTS)

# %% wrong, blind first
# breaks: "a score depends on the distance $i - j$ alone, in any text"
# because: only moves one text without gaps, so a scheme that counts tokens and ignores positions passes
# named: one text without gaps, moved as a whole
def test_only_distance(scores):
    torch.manual_seed(0)
    x = torch.randn(1, 12, 32)
    here = torch.arange(12)
    at_start = scores(x, here)
    for shift in (1, 37, 500, 9000):
        moved = scores(x, here + shift)
        assert torch.allclose(moved, at_start, rtol=0, atol=3e-3), f"changes when moved by {shift}"

# %% wrong, blind first
# breaks: "for keys before and after the query"
# because: compares the lower triangle only
def test_only_distance(scores):
    torch.manual_seed(1)
    positions = torch.tensor([0, 1, 2, 3, 7, 20, 33, 150, 600, 2049, 5000, 9999])
    x = torch.randn(1, len(positions), 32)
    whole = scores(x, positions)
    for query in range(len(positions)):
        for key in range(query):
            distance = positions[query] - positions[key]
            pair = scores(x[:, [key, query]], torch.tensor([0, int(distance)]))
            error = (pair[0, :, 1, 0] - whole[0, :, query, key]).abs().max()
            assert error < 3e-3, (query, key)

# %% wrong, blind first
# breaks: "accepts schemes in which, for given contents, a score depends on the distance $i - j$ alone"
# because: wants the same score at i - j and at j - i, and so rejects schemes that tell before from after
def test_only_distance(scores):
    torch.manual_seed(2)
    one = torch.randn(1, 1, 32)
    for positions in (torch.arange(20), torch.tensor([0, 3, 4, 10, 11, 50, 400, 401, 3000])):
        s = scores(one.expand(1, len(positions), 32), positions)
        seen = {}
        for a, i in enumerate(positions.tolist()):
            for b, j in enumerate(positions.tolist()):
                found = s[0, :, a, b]
                first = seen.setdefault(abs(i - j), found)
                assert torch.allclose(found, first, rtol=0, atol=3e-3), (i, j)

# %% wrong, blind first
# breaks: "for given contents, a score depends on the distance $i - j$ alone"
# because: contents are all zero, so whatever goes wrong where positions meet contents is not seen
def test_only_distance(scores):
    seen = {}
    texts = [torch.arange(30), torch.arange(0, 200, 7),
             torch.tensor([0, 1, 4, 9, 100, 101, 2000, 9998, 9999])]
    for positions in texts:
        n = len(positions)
        found = scores(torch.zeros(1, n, 32), positions)
        assert found.shape == (1, 2, n, n)
        for a in range(n):
            for b in range(n):
                distance = int(positions[a] - positions[b])
                first = seen.setdefault(distance, found[0, :, a, b])
                assert (found[0, :, a, b] - first).abs().max() < 3e-3, distance

# %% right, blind first
# style: each pair of tokens of several texts is compared with a text of just these two, at 0 and d
def test_only_distance(scores):
    generator = torch.Generator().manual_seed(11)
    texts = [
        torch.arange(40),
        3 * torch.arange(300),
        torch.tensor([0, 1, 2, 5, 9, 40, 130, 300, 1030, 2500, 5000, 9990]),
        torch.tensor([0, 6000, 6001, 6002, 6010, 9000, 9999]),
    ]
    for positions in texts:
        n = len(positions)
        x = torch.randn(1, n, 32, generator=generator)
        whole = scores(x, positions)
        assert whole.shape == (1, 2, n, n)
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        if len(pairs) > 100:
            order = torch.randperm(len(pairs), generator=generator)[:100].tolist()
            pairs = [pairs[i] for i in order]
        for a, b in pairs:
            two = torch.tensor([a, b])
            alone = scores(x[:, two], torch.tensor([0, int(positions[b] - positions[a])]))
            inside = whole[:, :, two][:, :, :, two]
            assert torch.allclose(alone, inside, rtol=0, atol=3e-3), (
                f"tokens at {int(positions[a])} and {int(positions[b])} score otherwise alone")

# %% wrong, blind second
# breaks: "depends on the distance i - j alone, in any text"
# because: moves texts without gaps only, so a scheme that counts its tokens passes
# named: one text without gaps, moved as a whole
def test_only_distance(scores):
    torch.manual_seed(0)
    for n in (2, 7, 20):
        x, positions = torch.randn(1, n, 32), torch.arange(n)
        at_start = scores(x, positions)
        assert at_start.shape == (1, 2, n, n)
        for shift in (1, 50, 999, 9000):
            moved = scores(x, positions + shift)
            assert torch.allclose(moved, at_start, atol=3e-3)

# %% wrong, blind second
# breaks: "for keys before and after the query"
# because: looks at the lower triangle only
# named: earlier keys only
def test_only_distance(scores):
    torch.manual_seed(1)
    x = torch.randn(1, 6, 32)
    positions = torch.tensor([0, 2, 3, 10, 200, 1500])
    seen = torch.ones(6, 6).tril().bool()
    whole = scores(x, positions)
    for shift in (1, 64, 8000):
        moved = scores(x, positions + shift)
        assert (moved - whole)[..., seen].abs().max() < 3e-3
    for keep in ([0, 1, 2], [1, 3, 4], [0, 5], [2, 3, 4, 5], [4]):
        keep = torch.tensor(keep)
        part = scores(x[:, keep], positions[keep])
        wanted = whole[..., keep[:, None], keep]
        lower = torch.ones(len(keep), len(keep)).tril().bool()
        assert (part - wanted)[..., lower].abs().max() < 3e-3
    other = scores(x, torch.tensor([0, 2, 7, 10, 11, 12]))
    for i, j in ((1, 0), (3, 0), (3, 1), (2, 2)):
        assert (other[..., i, j] - whole[..., i, j]).abs().max() < 3e-3

# %% wrong
# because: all contents are ones, distances below 41, nothing beyond 5040
def test_only_distance(scores):
    x = torch.ones(1, 41, 32)
    known = scores(x, torch.arange(41))[0]
    for text in ([*range(20)], [0, 1, 5, 6, 20], [2, 9, 30]):
        at = torch.tensor(text)
        for shift in (0, 1, 37, 500, 1000, 5000):
            got = scores(x[:, : len(at)], at + shift)[0]
            assert torch.allclose(got, known[:, at[:, None], at[None, :]], atol=1e-3)

# %% equal
# because: Any random numbers show the wrong versions.
# change: generator= dropped in `x = torch.randn(1, 12, 32, generator=torch.Generator().manual_seed(0))`
# change: 0 to 1 in `x = torch.randn(1, 12, 32, generator=torch.Generator().manual_seed(0))`
# change: 0 to -1 in `x = torch.randn(1, 12, 32, generator=torch.Generator().manual_seed(0))`

# %% equal
# because: The batch holds one text, so the last one is the first one, and a second one is not read.
# change: 1 to 2 in `x = torch.randn(1, 12, 32, generator=torch.Generator().manual_seed(0))`
# change: 0 to -1 in `known = scores(x, at)[0]  # what two tokens should score, wherever they stand`
# change: 0 to -1 in `got = scores(x[:, kept], at[kept] + shift)[0]`

# %% equal
# because: There are still gaps, a distance above 100, and neighbours at either end.
# change: in `at = torch.tensor([0, 1, 2, 3, 5, 6, 20, 21, 40, 170, 171, 300])`

# %% equal
# because: Other tokens are left out, and still some at the end, at the beginning and between others.
# change: in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`
# change: 0 to 1 in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`, number 2
# change: Lt to LtE in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`, number 2
# change: Lt to Gt in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`, number 2
# change: 2 to 3 in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`, number 2
# change: 2 to 1 in `for kept in (at >= 0, at % 2 == 0, at < 6, (at > 2) & (at < 100)):`, number 2

# %% equal
# because: The texts still come across 512, across 1024 and beyond 8000, and no wrong version errs at one
#   single shift.
# change: in `for shift in (0, 1, 37, 500, 1000, 5000, 8500, 9700):`

# %% equal
# because: A hundred-thousandth of each score more is less than a wrong version is off somewhere.
# change: rtol= dropped in `same = torch.allclose(got, known[:, kept][:, :, kept], rtol=0, atol=1e-3)`
