# Answers to museum-page: tests/grading/answers.py says what the parts are.

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

# %% variation
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
