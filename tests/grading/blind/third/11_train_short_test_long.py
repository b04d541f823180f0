# %% wrong long-window-test
# breaks: "Positions may have gaps. There may be fewer queries than keys, as with a cache."
# because: lazy test: the positions are 0 to 9 on both sides
def test_near(near):
    p = torch.arange(10)
    for window in (1, 3, 20):
        d = p[:, None] - p[None, :]
        assert torch.equal(near(p, p, window), (d >= 0) & (d < window))


# %% wrong long-window-test
# breaks: "It is True where a query may look"
# because: counts only how many keys each query sees, not which
def test_near(near):
    q, k = torch.tensor([5, 9, 14, 30]), torch.tensor([0, 1, 4, 5, 9, 12, 14, 29, 30])
    for window in (1, 2, 5, 10, 100):
        d = q[:, None] - k[None, :]
        seen = ((d >= 0) & (d < window)).sum(dim=1)
        assert torch.equal(near(q, k, window).sum(dim=1), seen)


# %% wrong long-window-test
# breaks: "at its own position and at the `window - 1` positions before it"
# because: counts the window without the own position, so right versions are refused
def test_near(near):
    torch.manual_seed(0)
    for window in (1, 2, 7, 50):
        k = torch.randperm(60)[:25].sort().values
        q = k[-6:]
        mask = near(q, k, window)
        for i in range(6):
            for j in range(25):
                assert bool(mask[i, j]) == (0 <= int(q[i] - k[j]) <= window)


# %% right long-window-test
# because: builds sets of the positions that a query may see, in plain Python
def test_near(near):
    import random

    rng = random.Random(4)
    texts = [list(range(n)) for n in (1, 2, 5, 16)]
    texts += [sorted(rng.sample(range(span), n)) for span in (20, 60, 500) for n in (3, 8, 17)]
    texts += [[t + 1000 for t in texts[3]], [0, 100, 101, 102, 250], [p + 70000 for p in texts[5]]]
    for keys in texts:
        for new in {1, 2, len(keys) // 2, len(keys) - 1, len(keys)}:
            if not 1 <= new <= len(keys):
                continue
            for window in (1, 2, 3, 4, 5, 8, 16, 17, 33, 100, 1000):
                q = torch.tensor(keys[len(keys) - new:])
                got = near(q, torch.tensor(keys), window)
                assert tuple(got.shape) == (new, len(keys))
                assert got.dtype == torch.bool
                for row, at in zip(got.tolist(), q.tolist()):
                    visible = set(range(at - window + 1, at + 1))
                    assert row == [key in visible for key in keys]
