# Answers to learned-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

def places(table, new_length, where):
    low = where.floor().long().clamp(0, len(table) - 1)
    high = (low + 1).clamp(max=len(table) - 1)
    share = (where - low)[:, None].double()
    return (table[low].double() * (1 - share) + table[high].double() * share).to(table.dtype)

def given(rows=5):
    generator = torch.Generator().manual_seed(5)
    x, table = torch.randn(2, 3, 4, generator=generator), torch.randn(rows, 4, generator=generator)
    return x, torch.tensor([[4, 0, 2], [1, 3, 3]]), table

def rows_are_right(add_rows):
    x, positions, table = given()
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)

def refused(add_rows, positions, error=ValueError):
    x, _, table = given()
    x = x[: len(positions), : len(positions[0])]
    try:
        add_rows(x, torch.tensor(positions), table)
    except error:
        return
    raise AssertionError(f"no error for {positions}")

def at_places(add_rows, places):
    _, positions, _ = given()
    for place in places:
        for bad in (5, 6, -1):
            outside = positions.clone()
            outside[place] = bad
            refused(add_rows, outside.tolist())

# %% right
# style: add rows test with pytest
import pytest

def test_add_rows(add_rows):
    table, x = torch.eye(6), torch.ones(2, 2, 6)
    for dtype in (torch.int64, torch.int32):
        out = add_rows(x, torch.tensor([[5, 1], [0, 4]], dtype=dtype), table)
        assert ((out - 1).argmax(dim=-1) == torch.tensor([[5, 1], [0, 4]])).all()
        assert out.sum() == 28 and x.sum() == 24
    none = torch.empty(2, 0, dtype=torch.int64)
    assert add_rows(x[:, :0], none, table).shape == (2, 0, 6)
    for outside in (6, -1):
        for positions in ([[2, 0], [outside, 1]], [[0, outside], [1, 2]]):
            with pytest.raises(ValueError):
                add_rows(x, torch.tensor(positions), table)

# %% right
# style: add rows test in int32
import contextlib

def test_add_rows(add_rows):
    table, x = torch.randn(7, 3), torch.randn(3, 2, 3)
    before = x.tolist()
    positions = torch.tensor([[6, 1], [0, 4], [2, 3]], dtype=torch.int32)
    torch.testing.assert_close(add_rows(x, positions, table), x + table[positions.long()])
    assert x.tolist() == before
    for outside in (7, -1):
        for there in range(7):
            with contextlib.suppress(ValueError):
                add_rows(x, positions.where(positions != there, outside).int(), table)
                assert there == 5, f"no error for {outside} at {there}"

# %% right
# style: add rows test with a flag
def test_add_rows(add_rows):
    table = torch.arange(12.0).reshape(6, 2)
    x = torch.full((2, 2, 2), 100.0)
    out = add_rows(x, torch.tensor([[5, 1], [0, 4]]).int(), table)
    assert (out - 100).tolist() == [[[10, 11], [2, 3]], [[0, 1], [8, 9]]]
    assert (x == 100).all()
    for positions in ([[0, 6], [1, 2]], [[0, 1], [-1, 2]], [[0, 1], [2, 6]], [[-1, 1], [2, 0]]):
        raised = False
        try:
            add_rows(x, torch.tensor(positions), table)
        except ValueError:
            raised = True
        assert raised, f"no ValueError for {positions}"

# %% right
# style: add rows test one position at a time
def test_add_rows(add_rows):
    table = torch.eye(4)
    for position in range(-3, 8):
        for place in range(4):
            x = torch.full((2, 2, 4), 3.0)
            positions = torch.ones(2, 2).int()
            positions[place // 2, place % 2] = position
            try:
                out = add_rows(x, positions, table)
            except ValueError:
                out = None
            inside = 0 <= position < 4
            assert (out is not None) == inside and (x == 3).all(), position
            right = torch.full((2, 2, 4), 3.0) + table[positions.clamp(0, 3).long()]
            assert not inside or torch.allclose(out, right, atol=1e-4), position

# %% variation
# because: last column only
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(0, -1), (1, -1)])

# %% variation
# because: last place only
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(1, 2)])

# %% variation
# because: never in int32
# named: int64 only
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(text, column) for text in range(2) for column in range(3)])

# %% variation
# because: any error will do
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]], error=Exception)

# %% variation
# because: x of zeros
def test_add_rows(add_rows):
    _, positions, table = given()
    assert torch.allclose(add_rows(torch.zeros(2, 3, 4), positions, table), table[positions])
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])

# %% variation
# because: both edges in one call
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    refused(add_rows, [[5, 0], [-1, 1]])

# %% variation
# because: first text only
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    for outside in (5, -1):
        refused(add_rows, [[outside], [0]])

# %% variation
# because: one text only
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    for outside in (5, 6, -1):
        refused(add_rows, [[outside]])

# %% variation
# because: catches its own assertion
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    x, _, table = given()
    for outside in (5, -1):
        try:
            add_rows(x[:, :1], torch.tensor([[0], [outside]]), table)
            raise AssertionError("no error")
        except Exception:
            pass

# %% variation
# because: flag never asserted
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    x, _, table = given()
    for outside in (5, -1):
        raised = False
        try:
            add_rows(x[:, :1], torch.tensor([[0], [outside]]), table)
        except ValueError:
            raised = True
    return raised

# %% variation
# because: far from the edges
def test_add_rows(add_rows):
    rows_are_right(add_rows)
    for outside in (100, -100):
        refused(add_rows, [[0], [outside]])

# %% variation
# because: shapes only
def test_add_rows(add_rows):
    x, positions, table = given()
    assert add_rows(x, positions, table).shape == x.shape
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])

# %% variation
# because: last row left out
def test_add_rows(add_rows):
    x, positions, table = given()
    positions = positions.clamp(max=3)
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])

# %% variation
# because: same positions in both texts
def test_add_rows(add_rows):
    x, positions, table = given()
    positions = positions[:1].expand(2, 3)
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])

# %% wrong, blind first
# breaks: "it must raise ValueError"
# because: too weak, any error at all counts as a refusal, IndexError too
def test_add_rows(add_rows):
    torch.manual_seed(1)
    rows, dim = 5, 3
    table = torch.randn(rows, dim)
    for dtype in (torch.int32, torch.int64):
        positions = torch.tensor([[0, 1, 2, 3, 4, 4], [4, 0, 3, 3, 1, 2]], dtype=dtype)
        x = torch.randn(2, 6, dim)
        assert torch.allclose(add_rows(x.clone(), positions, table), x + table[positions.long()])
        for bad in (-1, -rows, -rows - 1, rows, rows + 1, 1000):
            for text in range(2):
                for place in range(6):
                    broken = positions.clone()
                    broken[text, place] = bad
                    refused = False
                    try:
                        add_rows(x.clone(), broken, table)
                    except Exception:
                        refused = True
                    assert refused, f"position {bad} was accepted"

# %% wrong, blind first
# breaks: "For a position without a row, below 0 or beyond the end"
# because: too weak, never asks for a position below 0
def test_add_rows(add_rows):
    torch.manual_seed(2)
    table = torch.randn(7, 4)
    x = torch.randn(3, 7, 4)
    for dtype in (torch.int32, torch.int64):
        positions = torch.stack([torch.randperm(7) for _ in range(3)]).to(dtype)
        out = add_rows(x.clone(), positions, table)
        assert out.shape == (3, 7, 4)
        assert torch.allclose(out, x + table[positions.long()], atol=1e-6)
        for bad in (7, 8, 13, 14, 500):
            for text in range(3):
                for place in (0, 3, 6):
                    broken = positions.clone()
                    broken[text, place] = bad
                    try:
                        add_rows(x.clone(), broken, table)
                    except ValueError:
                        continue
                    raise AssertionError(f"position {bad} in text {text} was accepted")

# %% wrong, blind first
# breaks: "accepts right versions": ValueError is for "a position without a row" only
# because: too strict, wants an error for texts longer than the table though all positions have rows
def test_add_rows(add_rows):
    def refuses(x, positions, table):
        try:
            add_rows(x.clone(), positions, table)
        except ValueError:
            return True
        return False

    torch.manual_seed(3)
    table = torch.randn(4, 6)
    x = torch.randn(2, 4, 6)
    for dtype in (torch.int32, torch.int64):
        positions = torch.tensor([[0, 1, 2, 3], [3, 2, 0, 1]], dtype=dtype)
        assert torch.allclose(add_rows(x.clone(), positions, table), x + table[positions.long()])
        for bad in (-5, -4, -1, 4, 5, 99):
            for text in (0, 1):
                for place in range(4):
                    broken = positions.clone()
                    broken[text, place] = bad
                    assert refuses(x, broken, table)
    too_long = torch.arange(5).clamp(max=3).repeat(2, 1)
    assert refuses(torch.randn(2, 5, 6), too_long, table), "five tokens, four rows"

# %% wrong, blind first
# breaks: "in whichever text the position stands"
# because: too weak, bad positions stand in the first text only
def test_add_rows(add_rows):
    torch.manual_seed(4)
    table = torch.randn(6, 5)
    x = torch.randn(3, 6, 5)
    order = torch.tensor([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 2, 0, 5, 5, 1]])
    for positions in (order, order.int()):
        out = add_rows(x.clone(), positions, table)
        torch.testing.assert_close(out, x + table[order])
        for bad in (-7, -6, -1, 6, 7, 12, 600):
            for place in range(6):
                broken = positions.clone()
                broken[0, place] = bad
                try:
                    add_rows(x.clone(), broken, table)
                except ValueError:
                    pass
                else:
                    raise AssertionError(f"no ValueError for position {bad}")

# %% wrong, blind first
# relabelled: When it was written nothing was said of x. The task now has it stay as it is, and a
#   version that changes it is among the wrong ones.
# style: several tables, each with all of its rows, and chosen bad positions in each text
# named: x not looked at afterwards
def test_add_rows(add_rows):
    torch.manual_seed(5)
    for rows, dim in ((1, 3), (4, 2), (3, 7), (300, 2)):
        table = torch.randn(rows, dim)
        up = torch.arange(rows)
        shuffled = torch.randperm(rows)
        texts = torch.stack([torch.cat([up, shuffled]), torch.cat([up.flip(0), up]),
                             torch.cat([shuffled, shuffled])])
        x = torch.randn(3, 2 * rows, dim)
        expected = x + table[texts]
        for dtype in (torch.int32, torch.int64):
            positions = texts.to(dtype)
            out = add_rows(x.clone(), positions.clone(), table.clone())
            assert out.shape == expected.shape
            assert torch.allclose(out, expected, rtol=1e-5, atol=1e-6)
            for bad in (-1, -2, -rows, -rows - 1, rows, rows + 1, 2 * rows, 10_000):
                for text in range(3):
                    for place in (0, rows, 2 * rows - 1):
                        broken = positions.clone()
                        broken[text, place] = bad
                        try:
                            add_rows(x.clone(), broken, table.clone())
                        except ValueError:
                            continue
                        raise AssertionError(f"{rows} rows, position {bad}: no ValueError")

# %% wrong, blind first
# relabelled: When it was written nothing was said of x. The task now has it stay as it is, and a
#   version that changes it is among the wrong ones.
# style: every position from far below to far above at every place, sums made number by number
# named: x not looked at afterwards
def test_add_rows(add_rows):
    generator = torch.Generator().manual_seed(6)
    rows, dim = 6, 3
    table = torch.randn(rows, dim, generator=generator)
    for batch, length in ((1, 1), (1, 8), (3, 4)):
        x = torch.randn(batch, length, dim, generator=generator)
        for dtype in (torch.int64, torch.int32):
            for p in [*range(-14, 21), -1000, 1000]:
                for text in range(batch):
                    for place in range(length):
                        positions = torch.full((batch, length), 2, dtype=dtype)
                        positions[text, place] = p
                        if 0 <= p < rows:
                            out = add_rows(x.clone(), positions, table)
                            assert tuple(out.shape) == (batch, length, dim)
                            for b in range(batch):
                                for t in range(length):
                                    row = p if (b, t) == (text, place) else 2
                                    for d in range(dim):
                                        want = x[b, t, d].item() + table[row, d].item()
                                        assert abs(out[b, t, d].item() - want) < 1e-5
                        else:
                            try:
                                add_rows(x.clone(), positions, table)
                            except ValueError:
                                pass
                            else:
                                assert False, f"position {p} has no row"
    large = torch.randn(3000, 2, generator=generator)
    everything = torch.arange(3000).reshape(2, 1500)
    zeros = torch.zeros(2, 1500, 2)
    for dtype in (torch.int64, torch.int32):
        out = add_rows(zeros.clone(), everything.to(dtype), large)
        assert torch.allclose(out, large.reshape(2, 1500, 2))

# %% wrong, blind second
# breaks: "For a position without a row [...] it must raise ValueError, in whichever text the position stands."
# because: too weak: makes all positions bad at once, so versions that look at one text or one place only are accepted
def test_add_rows(add_rows):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 4, 5, generator=generator)
    table = torch.randn(6, 5, generator=generator)
    for dtype in (torch.int32, torch.int64):
        good = torch.tensor([[0, 1, 2, 3], [5, 5, 0, 4], [2, 3, 1, 5]], dtype=dtype)
        assert torch.allclose(add_rows(x, good, table), x + table[good.long()], atol=1e-6)
        for bad in (-1, -6, -7, 6, 7, 1000):
            raised = False
            try:
                add_rows(x, torch.full((3, 4), bad, dtype=dtype), table)
            except ValueError:
                raised = True
            assert raised, f"position {bad} has no row"

# %% wrong, blind second
# relabelled: When it was written nothing was said of x. The task now has it stay as it is, and a
#   version that changes it is among the wrong ones.
# style: every place of the batch gets every bad position in turn, for several sizes and both dtypes
# named: x not looked at afterwards
def test_add_rows(add_rows):
    def must_raise(x, positions, table):
        try:
            add_rows(x, positions, table)
        except ValueError:
            return
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} instead of ValueError") from error
        raise AssertionError("no error for a position without a row")

    generator = torch.Generator().manual_seed(1)
    for batch, length, dim, rows in ((3, 4, 5, 7), (2, 6, 3, 3), (1, 1, 4, 1), (4, 2, 2, 2)):
        x = torch.randn(batch, length, dim, generator=generator)
        table = torch.randn(rows, dim, generator=generator)
        for dtype in (torch.int64, torch.int32):
            for _ in range(5):
                good = torch.randint(rows, (batch, length), generator=generator)
                for b in range(batch):
                    for t in range(length):
                        for edge in range(rows):
                            inside = good.clone()
                            inside[b, t] = edge
                            out = add_rows(x.clone(), inside.to(dtype), table.clone())
                            expected = x + table[inside]
                            assert out.shape == expected.shape
                            assert torch.allclose(out.float(), expected, rtol=1e-5, atol=1e-5)
            good = torch.randint(rows, (batch, length), generator=generator)
            for b in range(batch):
                for t in range(length):
                    for bad in (-1, -2, -rows, -rows - 1, -1000, rows, rows + 1, 2 * rows, 10_000):
                        outside = good.clone()
                        outside[b, t] = bad
                        must_raise(x.clone(), outside.to(dtype), table.clone())

# %% wrong, blind third
# breaks: "Some positions have no row: those below 0 and those beyond the end."
# because: lazy test, tries one position beyond the end and none below 0, in int64 only
def test_add_rows(add_rows):
    x, table = torch.randn(2, 3, 4), torch.randn(5, 4)
    positions = torch.tensor([[0, 1, 2], [2, 3, 4]])
    assert torch.allclose(add_rows(x, positions, table), x + table[positions])
    positions[1, 2] = 5
    try:
        add_rows(x, positions, table)
    except ValueError:
        return
    assert False, "no error"

# %% wrong, blind third
# breaks: "`add_rows` must raise ValueError"
# because: takes every error as good, so an IndexError passes as well
# named: any error will do
def test_add_rows(add_rows):
    x, table = torch.randn(3, 4, 6), torch.randn(9, 6)
    for dtype in (torch.int32, torch.int64):
        good = torch.randint(0, 9, (3, 4)).to(dtype)
        before = x.clone()
        assert torch.allclose(add_rows(x, good, table), before + table[good.long()])
        assert torch.equal(x, before)
        for bad in (-1, -9, -10, 9, 10, 1000):
            for b in range(3):
                for t in range(4):
                    wrong = good.clone()
                    wrong[b, t] = bad
                    raised = False
                    try:
                        add_rows(x, wrong, table)
                    except Exception:
                        raised = True
                    assert raised

# %% wrong, blind third
# breaks: "`x` must stay as it is" and "If such a position stands anywhere in the batch"
# because: two mistakes: x is compared with itself, and bad positions stand at the first place only
def test_add_rows(add_rows):
    x, table = torch.randn(2, 5, 4), torch.randn(8, 4)
    before = x
    for dtype in (torch.int32, torch.int64):
        positions = torch.tensor([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], dtype=dtype)
        expected = x.clone() + table[positions.long()]
        assert torch.allclose(add_rows(x, positions, table), expected)
        assert torch.equal(x, before)
        for bad in (-1, -8, -9, 8, 9):
            wrong = positions.clone()
            wrong[0, 0] = bad
            try:
                add_rows(x, wrong, table)
            except ValueError:
                continue
            raise AssertionError(bad)

# %% right, blind third
# because: a helper that returns the class of the error, and a product over dtypes, places and bad values
def test_add_rows(add_rows):
    import itertools

    def outcome(*args):
        try:
            return add_rows(*args)
        except Exception as error:
            return type(error)

    torch.manual_seed(0)
    for dtype, (batch, length, rows, dim) in itertools.product(
            (torch.int32, torch.int64), ((1, 1, 1, 2), (2, 3, 7, 4), (4, 6, 12, 3), (3, 12, 12, 8))):
        table, x = torch.randn(rows, dim), torch.randn(batch, length, dim)
        keep_x, keep_table = x.clone(), table.clone()
        fine = [torch.full((batch, length), r) for r in range(rows)]
        fine += [torch.randint(0, rows, (batch, length)) for _ in range(5)]
        for positions in fine:
            positions = positions.to(dtype)
            keep = positions.clone()
            got = outcome(x, positions, table)
            assert isinstance(got, torch.Tensor)
            assert got.shape == x.shape
            assert torch.allclose(got, keep_x + keep_table[keep.long()], atol=1e-5)
            assert torch.equal(x, keep_x)
            assert torch.equal(positions, keep)
        bad_ones = [-1, -2, -rows, -rows - 1, -1000, rows, rows + 1, 2 * rows, 10**6, 2**31 - 1]
        if dtype == torch.int64:
            bad_ones += [2**32, 2**32 + 1, 2**40, -(2**32), -(2**40)]
        for bad, b, t in itertools.product(bad_ones, range(batch), range(length)):
            positions = torch.randint(0, rows, (batch, length)).to(dtype)
            positions[b, t] = bad
            got = outcome(x, positions, table)
            assert isinstance(got, type) and issubclass(got, ValueError), (bad, b, t)
            assert torch.equal(x, keep_x)
        whole = torch.full((batch, length), rows, dtype=dtype)
        got = outcome(x, whole, table)
        assert isinstance(got, type) and issubclass(got, ValueError)

# %% equal
# because: Every right version adds the same two float32 numbers, whose sum is rounded in one way
#   only, so no room is needed.
# change: atol= dropped in `assert torch.allclose(add_rows(x, inside, table), x + table[inside], atol=1e-5)`

# %% equal
# because: 5 is asked for as well, and a version that refuses 5 refuses what is beyond it, too.
# change: 6 to 7 in `for bad, place in [(bad, place) for bad in (5, 6, -1) for place in range(6)]:`
# change: 6 to 5 in `for bad, place in [(bad, place) for bad in (5, 6, -1) for place in range(6)]:`

# %% equal
# because: The last place of the first text is still asked for, and each of the second but one.
# change: 6 to 5 in `for bad, place in [(bad, place) for bad in (5, 6, -1) for place in range(6)]:`, number 2

# %% equal
# because: There is one axis, so the last is the first.
# change: 0 to -1 in `add_rows(x, positions.index_fill(0, torch.tensor(place), bad).view(2, 3), table)`

# %% equal
# because: The positions are still out of order, differ between the texts and include the first
#   and the last row, and no version errs at a row between those two alone.
# change: in `table, x, positions = torch.randn(5, 4), torch.randn(2, 3, 4), torch.tensor([4, 0, 2, 1, 3, 3])`
# change: in `table, x, positions = torch.randn(5, 4), torch.randn(2, 3, 4), torch.tensor([4, 0, 2, 1, 3, 3])`, number 2
# change: in `table, x, positions = torch.randn(5, 4), torch.randn(2, 3, 4), torch.tensor([4, 0, 2, 1, 3, 3])`, number 3
