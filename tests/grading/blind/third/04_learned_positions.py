# %% wrong learned-test
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


# %% wrong learned-test
# breaks: "`add_rows` must raise ValueError"
# because: takes every error as good, so an IndexError passes as well
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


# %% wrong learned-test
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


# %% right learned-test
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
