# %% wrong rotary-decode
# breaks: "Positions and angles need float32 at least, because the cache may hold thousands of tokens"
# because: positions and frequencies are cast to the dtype of q before the product
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = torch.arange(past, past + new).to(q.dtype)
    angles = positions[:, None] * frequencies.to(q.dtype)
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k


# %% wrong rotary-decode
# breaks: "Its cache keeps keys *after* the turn."
# because: joins the keys first and turns them all, so old keys are turned twice
def decode(q, k, v, past_k, past_v, frequencies):
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    total, new = k.shape[-2], q.shape[-2]
    angles = torch.arange(total, dtype=torch.float64)[:, None] * frequencies
    q, k = turned(q, angles[total - new:]), turned(k, angles)
    seen = torch.ones(new, total).tril(total - new) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k


# %% wrong rotary-decode
# breaks: "here the positions of new keys restart, too"
# because: moves the queries only, as in the bug of the lesson turned round; new keys still start at 0
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    q_angles = (past + torch.arange(new))[:, None] * frequencies
    k_angles = torch.arange(new)[:, None] * frequencies
    q, k = turned(q, q_angles), turned(k, k_angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, k.shape[-2]).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k


# %% right rotary-decode
# because: pairs as complex numbers, and the attention in float64 token by token
def decode(q, k, v, past_k, past_v, frequencies):
    start, half = past_k.size(-2), q.size(-1) // 2
    where = torch.arange(start, start + q.size(-2), dtype=torch.float64)
    turn = torch.polar(torch.ones(len(where), half, dtype=torch.float64),
                       torch.outer(where, frequencies.double()))

    def turn_by(x):
        x = x.double()
        z = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous()) * turn
        return torch.cat([z.real, z.imag], dim=-1)

    keys = torch.cat([past_k, turn_by(k).to(k.dtype)], dim=-2)
    values = torch.cat([past_v, v], dim=-2)
    queries, read = turn_by(q), []
    for t in range(q.size(-2)):
        upto = start + t + 1
        one = queries[..., t:t + 1, :] @ keys[..., :upto, :].double().mT / math.sqrt(2 * half)
        read.append(one.softmax(-1) @ values[..., :upto, :].double())
    return torch.cat(read, dim=-2).to(q.dtype), keys


# %% wrong rotary-which-layout
# breaks: "A layout fits if every pair of every row could have been turned into what came out."
# because: compares the length of the whole row, so both layouts fit or neither
def layouts_that_fit(x, turned):
    same = torch.allclose(x.norm(dim=-1), turned.norm(dim=-1), atol=1e-4)
    return (same, same)


# %% wrong rotary-which-layout
# breaks: "every pair of every row could have been turned into what came out"
# because: any in place of all over the rows: one row that fits is enough
def layouts_that_fit(x, turned):
    n, d = x.shape
    lengths = lambda t: (t.reshape(n, d // 2, 2).norm(dim=2), t.reshape(n, 2, d // 2).norm(dim=1))
    return tuple(bool(((a - b).abs() < 1e-4).all(dim=1).any())
                 for a, b in zip(lengths(x), lengths(turned)))


# %% wrong rotary-which-layout
# breaks: "You know neither the positions nor the frequencies: every pair of every row may have turned by any angle."
# because: asks that the angle of a pair grows by the same step from row to row
def layouts_that_fit(x, turned):
    def fits(a, b, c, d):
        ok = ((a * a + b * b).sqrt() - (c * c + d * d).sqrt()).abs().max() < 1e-4
        angle = torch.atan2(d, c) - torch.atan2(b, a)
        step = (angle[1:] - angle[:-1]) % (2 * math.pi)
        return bool(ok and (len(step) < 2 or (step - step[0]).abs().max() < 1e-3))

    h = x.shape[1] // 2
    return (fits(x[:, 0::2], x[:, 1::2], turned[:, 0::2], turned[:, 1::2]),
            fits(x[:, :h], x[:, h:], turned[:, :h], turned[:, h:]))


# %% right rotary-which-layout
# because: looks for the turn: the nearest turned point is compared with what came out
def layouts_that_fit(x, turned):
    x, turned = x.to(torch.float64), turned.to(torch.float64)

    def fits(pairs):
        before = torch.view_as_complex(pairs(x).contiguous())
        after = torch.view_as_complex(pairs(turned).contiguous())
        angle = (after * before.conj()).angle()
        best = before * torch.polar(torch.ones_like(angle), angle)
        return bool(((best - after).abs() < 1e-4).all())

    return (fits(lambda t: t.unflatten(-1, (-1, 2))), fits(lambda t: t.unflatten(-1, (2, -1)).mT))
