# Answers to museum-page as learners write them: tests/grading/answers.py says what the parts are.

# %% given
import torch

def wanted(parts, new, pieces=False):
    found, start = [], 0
    for part in list(parts) + [new]:
        if isinstance(part, tuple):
            rows, columns = part
            found += [[start, start + r, start + c] for r in range(rows) for c in range(columns)]
            start += rows * columns if pieces else max(part)
        else:
            found += [[start + n] * 3 for n in range(part)]
            start += part
    return found

# %% right
# style: against a formula
def test_places(places):
    parts = [3, (3, 2), 2, (2, 4), 2]
    assert places(parts, 2).tolist() == wanted(parts, 2)

# %% right
# style: some places, in words
def test_places(places):
    got = places([(2, 3), 1, (3, 2)], 2).long()
    third, text, fourth, last = got[2], got[6], got[7 + 1], got[-1]
    assert third.tolist() == [0, 0, 2], "the last piece of the first row"
    assert (text == 3).all(), "the text after the picture"
    assert fourth.tolist() == [4, 4, 5], "the second picture"
    assert (last == 8).all() and (got[-2] == 7).all(), "generated tokens"

# %% right
# style: several pages
def test_places(places):
    for parts in ([5], [(2, 3)], [1, (4, 2), (3, 5), 2], [(2, 2), (2, 2)]):
        for new in (0, 1, 3):
            assert (places(parts, new) == torch.tensor(wanted(parts, new))).all()

# %% wrong
# because: text alone
# named: accepts every version
def test_places(places):
    assert places([4], 2).tolist() == [[n, n, n] for n in range(6)]

# %% wrong
# because: the shape
# named: accepts every version
def test_places(places):
    assert places([2, (2, 3), 1], 1).shape == (10, 3)

# %% wrong
# because: squares
# named: square pictures alone
def test_places(places):
    parts = [1, (3, 3), 2, (2, 2), 1]
    assert places(parts, 2).tolist() == wanted(parts, 2)

# %% wrong
# because: nothing is generated
# named: no generated token
def test_places(places):
    parts = [1, (3, 2), 2, (2, 4), 1]
    assert places(parts, 0).tolist() == wanted(parts, 0)

# %% wrong
# because: one picture to a page
# named: one picture
def test_places(places):
    for parts in ([1, (3, 2), 2], [(2, 4), 1]):
        assert places(parts, 2).tolist() == wanted(parts, 2)

# %% wrong
# because: one picture to a page, and nothing is generated
# named: one picture and no generated token
def test_places(places):
    for parts in ([1, (3, 2), 2], [(2, 4), 1]):
        assert places(parts, 0).tolist() == wanted(parts, 0)

# %% wrong
# because: ends with the picture
# named: nothing after the picture
def test_places(places):
    for parts in ([1, (3, 2)], [(2, 4)]):
        assert places(parts, 0).tolist() == wanted(parts, 0)

# %% wrong
# because: one row
# named: pictures of one row
def test_places(places):
    parts = [1, (1, 2), 2, (1, 4), 1]
    assert places(parts, 2).tolist() == wanted(parts, 2)

# %% wrong
# because: counts pieces
# named: expects the text after the pieces
def test_places(places):
    parts = [1, (3, 2), 2, (2, 4), 1]
    assert places(parts, 2).tolist() == wanted(parts, 2, pieces=True)

# %% wrong
# because: asks for int64
# named: asks for more than the task promises
def test_places(places):
    parts = [3, (3, 2), 2, (2, 4), 2]
    got = places(parts, 2)
    assert got.dtype == torch.int64 and got.tolist() == wanted(parts, 2)

# %% wrong
# because: the largest position alone
def test_places(places):
    parts = [3, (3, 2), 2, (2, 4), 2]
    assert places(parts, 2).max() == max(map(max, wanted(parts, 2)))

# %% wrong
# because: axes first
def test_places(places):
    assert places([2, (2, 3), 1], 1).shape == (3, 10)

# %% wrong
# because: only that positions never fall
def test_places(places):
    got = places([2, (2, 3), 1, (3, 2)], 1)
    assert (got[:, 0].diff() >= 0).all()
