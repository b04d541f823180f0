# %% wrong stretch-cache-test
# breaks: "For item $t$ both queries and keys are turned by dynamic NTK for a text of $t + 1$ tokens"
# because: the text is never longer than original_length, so nothing is ever stretched
def test_rows(rows):
    torch.manual_seed(0)
    q, k = torch.randn(12, 8), torch.randn(12, 8)
    theta = 10000.0 ** (-torch.arange(4) / 4)
    angle = torch.arange(12)[:, None] * theta

    def turn(x):
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    full = turn(q) @ turn(k).T
    for t, row in enumerate(rows(q, k, 16)):
        assert torch.allclose(row, full[t, : t + 1], atol=1e-3)


# %% wrong stretch-cache-test
# breaks: "Item $t$ holds $t + 1$ scores $q_t \cdot k_j$" for all items, and "Scores have the dtype of `q`"
# because: compares the last item only, without a look at the dtype
def test_rows(rows):
    torch.manual_seed(0)
    n, d, trained = 20, 8, 6
    q, k = torch.randn(n, d), torch.randn(n, d)
    base = 10000 * (n / trained) ** (d / (d - 2))
    theta = base ** (-torch.arange(0, d, 2).double() / d)
    angle = torch.arange(n).double()[:, None] * theta

    def turn(x):
        a, b = x.double().chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    expected = turn(q)[-1] @ turn(k).T
    assert torch.allclose(rows(q, k, trained)[-1].double(), expected, atol=1e-3)


# %% wrong stretch-cache-test
# breaks: "dynamic NTK for a text of $t + 1$ tokens"
# because: only asks that item t does not change when later tokens come, so a stretch that is wrong everywhere passes
def test_rows(rows):
    torch.manual_seed(4)
    q, k = torch.randn(30, 8), torch.randn(30, 8)
    whole = rows(q, k, 10)
    assert [len(row) for row in whole] == list(range(1, 31))
    for t in range(1, 31):
        part = rows(q[:t], k[:t], 10)
        assert torch.allclose(part[-1], whole[t - 1], atol=1e-3)


# %% right stretch-cache-test
# because: no key is turned at all: the score is a sum over pairs of cosines and sines of the distance
def test_rows(rows):
    g = torch.Generator().manual_seed(8)
    for dtype in (torch.float32, torch.float64):
        for n, d, trained in ((1, 4, 1), (5, 4, 8), (8, 8, 8), (9, 8, 8), (40, 4, 7), (33, 16, 5),
                              (30, 6, 1), (26, 10, 25), (70, 32, 16), (3, 8, 100), (20, 12, 19)):
            q = torch.randn(n, d, generator=g, dtype=dtype)
            k = torch.randn(n, d, generator=g, dtype=dtype)
            keep = q.clone(), k.clone()
            got = rows(q, k, trained)
            assert torch.equal(q, keep[0]) and torch.equal(k, keep[1])
            assert len(got) == n
            (a, b), (c, e) = (x.double().chunk(2, -1) for x in keep)
            for t in range(n):
                s = max((t + 1) / trained, 1.0)
                base = 10_000.0 * s ** (d / (d - 2))
                theta = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
                angle = (t - torch.arange(t + 1).double())[:, None] * theta
                along = a[t] * c[: t + 1] + b[t] * e[: t + 1]
                across = a[t] * e[: t + 1] - b[t] * c[: t + 1]
                want = (along * angle.cos() + across * angle.sin()).sum(-1)
                assert got[t].shape == want.shape
                assert got[t].dtype == dtype
                assert (got[t].double() - want).abs().max() < 4e-4, (n, d, trained, t)


# %% wrong grow-turn-on
# breaks: "It was turned with the frequencies in row $j$ of `was`"
# because: takes the first row of was for all keys
def turn_on(turned, positions, was, now):
    if turned.numel() == 0:
        return turned
    angle = positions.double()[:, None] * (now - was[0])
    a, b = turned.double().chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)


# %% wrong grow-turn-on
# breaks: "Angles are to be computed in float64."
# because: casts positions and frequencies to the dtype of the keys
def turn_on(turned, positions, was, now):
    t = turned.dtype
    angle = positions.to(t)[:, None] * now.to(t) - positions.to(t)[:, None] * was.to(t)
    a, b = turned.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


# %% wrong grow-turn-on
# breaks: "leave `turned` as it is"
# because: the halves are views of turned, and are written in place
def turn_on(turned, positions, was, now):
    angle = positions.double()[:, None] * (now - was)
    half = turned.shape[-1] // 2
    a, b = turned[..., :half].double(), turned[..., half:].double()
    turned[..., :half] = (a * angle.cos() - b * angle.sin()).to(turned.dtype)
    turned[..., half:] = (b * angle.cos() + a * angle.sin()).to(turned.dtype)
    return turned


# %% right grow-turn-on
# because: turns back and then on, with complex numbers
def turn_on(turned, positions, was, now):
    half = turned.shape[-1] // 2
    p = positions.double().reshape(-1, 1)
    z = torch.complex(turned[..., :half].double(), turned[..., half:].double())
    one = torch.ones((), dtype=torch.float64)
    unturned = z * torch.polar(one.expand(was.shape), -p * was)
    fresh = unturned * torch.polar(one.expand(len(p), half), p * now)
    return torch.cat((fresh.real, fresh.imag), -1).type(turned.dtype)
