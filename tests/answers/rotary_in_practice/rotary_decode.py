# Answers to rotary-decode: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turned(x, angles):
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)

def decoding_at(positions_of):
    def decode(q, k, v, past_k, past_v, frequencies):
        angles = positions_of(past_k, q)[:, None] * frequencies
        q, k = turned(q, angles), turned(k, angles)
        k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
        seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
        return scores.softmax(dim=-1) @ v, k

    return decode

def after_the_cache(past_k, q):
    return past_k.shape[-2] + torch.arange(q.shape[-2])

# %% right
# style: in loops
import math

def decode(q, k, v, past_k, past_v, frequencies):
    half, old = q.shape[-1] // 2, past_k.shape[-2]
    turned_q, turned_k = q.clone(), k.clone()
    for t in range(q.shape[-2]):
        cos, sin = ((old + t) * frequencies).cos(), ((old + t) * frequencies).sin()
        for out, x in ((turned_q, q), (turned_k, k)):
            a, b = x[..., t, :half].double(), x[..., t, half:].double()
            out[..., t, :half] = (a * cos - b * sin).to(x.dtype)
            out[..., t, half:] = (b * cos + a * sin).to(x.dtype)
    k, v = torch.cat([past_k, turned_k], -2), torch.cat([past_v, v], -2)
    read = torch.empty_like(q)
    for t in range(q.shape[-2]):
        seen = old + t + 1
        scores = turned_q[..., t : t + 1, :] @ k[..., :seen, :].mT / math.sqrt(q.shape[-1])
        read[..., t : t + 1, :] = scores.softmax(-1) @ v[..., :seen, :]
    return read, k

# %% right
# style: by torch
def decode(q, k, v, past_k, past_v, frequencies):
    old, new = past_k.shape[-2], q.shape[-2]
    hands = torch.polar(
        torch.ones(new, len(frequencies)).double(),
        torch.arange(old, old + new)[:, None] * frequencies,
    )

    def turned(x):
        pairs = torch.complex(*x.double().chunk(2, dim=-1)) * hands
        return torch.cat([pairs.real, pairs.imag], dim=-1).to(x.dtype)

    k, v = torch.cat([past_k, turned(k)], dim=2), torch.cat([past_v, v], dim=2)
    mask = torch.arange(old + new) <= torch.arange(old, old + new)[:, None]
    return torch.nn.functional.scaled_dot_product_attention(turned(q), k, v, attn_mask=mask), k

# %% right
# style: in the dtype of q with float32 angles
def decode(q, k, v, past_k, past_v, frequencies):
    old, new = past_k.shape[-2], q.shape[-2]
    angles = torch.arange(old, old + new, dtype=frequencies.dtype)[:, None] * frequencies
    if q.dtype != torch.float64:
        angles = torch.arange(old, old + new).float()[:, None] * frequencies.float()
    cos, sin = (torch.cat([t, t], dim=-1).to(q.dtype) for t in (angles.cos(), angles.sin()))

    def turned(x):
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    k, v = torch.cat([past_k, turned(k)], dim=2), torch.cat([past_v, v], dim=2)
    late = torch.arange(old + new) > torch.arange(old, old + new)[:, None]
    scores = turned(q) @ k.transpose(2, 3) * q.shape[-1] ** -0.5
    return torch.softmax(scores + torch.zeros_like(scores).masked_fill(late, -1e4), -1) @ v, k

# %% variation
# because: clamped at 63
clamped_at_63 = decoding_at(lambda past_k, q: after_the_cache(past_k, q).clamp(max=63))


decode = clamped_at_63

# %% variation
# because: clamped at 2047
clamped_at_2047 = decoding_at(lambda past_k, q: after_the_cache(past_k, q).clamp(max=2047))


decode = clamped_at_2047

# %% variation
# because: length of the batch
length_of_the_batch = decoding_at(lambda past_k, q: len(past_k) + torch.arange(q.shape[-2]))


decode = length_of_the_batch

# %% variation
# because: number of heads
number_of_heads = decoding_at(lambda past_k, q: past_k.shape[1] + torch.arange(q.shape[-2]))


decode = number_of_heads

# %% variation
# because: last place for one
last_place_for_one = decoding_at(
    lambda past_k, q: (
        torch.tensor([past_k.shape[-2]]) if q.shape[-2] == 1 else torch.arange(q.shape[-2])
    )
)


decode = last_place_for_one

# %% variation
# because: frequencies made anew
def decode(q, k, v, past_k, past_v, frequencies):
    dim = q.shape[-1]
    frequencies = 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
    return decoding_at(after_the_cache)(q, k, v, past_k, past_v, frequencies)

# %% variation
# because: scaled by the root of 8
def decode(q, k, v, past_k, past_v, frequencies):
    factor = (q.shape[-1] / 8) ** 0.5
    angles = after_the_cache(past_k, q)[:, None] * frequencies
    read, keys = decoding_at(after_the_cache)(q * factor, k, v, past_k, past_v, frequencies)
    return read, torch.cat([past_k, turned(k, angles)], dim=-2)

# %% variation
# because: cached values forgotten
def decode(q, k, v, past_k, past_v, frequencies):
    return decoding_at(after_the_cache)(q, k, v, past_k, torch.zeros_like(past_v), frequencies)

# %% wrong, blind first
# breaks: "`past_k` (turned) ... belong to the tokens before, at positions 0, 1, 2, ..."
# because: only the queries are moved on, new keys are still counted from 0
# named: new keys still restart at 0
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    q = turned(q, (past + torch.arange(new))[:, None] * frequencies)
    k = turned(k, torch.arange(new)[:, None] * frequencies)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind first
# breaks: "Positions and angles need float32 at least, because the cache may hold thousands of tokens"
# because: positions are made in the dtype of q, bfloat16 cannot count beyond 256
# named: positions in the dtype of q
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = past + torch.arange(new)
    angles = positions.to(q.dtype)[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k = torch.cat([past_k, k], dim=-2)
    v = torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind first
# breaks: "`q`, `k`, `v` are of shape (batch, heads, new, head_dim) and belong to new tokens"
# because: puts all new tokens at one position, right only for one new token
# named: all new tokens at one position
def decode(q, k, v, past_k, past_v, frequencies):
    here = past_k.shape[-2]
    angles = (here * frequencies)[None, :]
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind first
# breaks: "`past_k` (turned)"
# because: the keys of the cache are turned a second time
# named: cached keys turned again
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    angles = torch.arange(past + new)[:, None] * frequencies
    q = turned(q, angles[past:])
    k = turned(torch.cat([past_k, k], dim=-2), angles)
    v = torch.cat([past_v, v], dim=-2)
    seen = torch.arange(past + new) <= torch.arange(past, past + new)[:, None]
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind first
# breaks: "are of one dtype, and both results have it, too"
# because: attention is computed in float32 for safety and never taken back
# named: what is read left in float32
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    angles = torch.arange(past, past + new)[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = q.float() @ k.float().mT / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v.float(), k

# %% right, blind first
# style: complex numbers, everything in float64 and rounded at the end
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    places = torch.arange(past, past + new)
    angles = places.double()[:, None] * frequencies.double()
    spin = torch.polar(torch.ones_like(angles), angles)

    def spun(x):
        a, b = x.double().chunk(2, dim=-1)
        z = torch.complex(a, b) * spin
        return torch.cat([z.real, z.imag], dim=-1)

    keys = torch.cat([past_k.to(k.dtype), spun(k).to(k.dtype)], dim=-2)
    values = torch.cat([past_v.to(v.dtype), v], dim=-2)
    scores = spun(q) @ keys.double().mT / math.sqrt(q.shape[-1])
    hidden = torch.arange(past + new)[None, :] > places[:, None]
    weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
    return (weights @ values.double()).to(q.dtype), keys

# %% right, blind first
# style: the new tokens one after the other, no mask needed
def decode(q, k, v, past_k, past_v, frequencies):
    keys, values = past_k.to(q.dtype), past_v.to(q.dtype)
    read = []
    for t in range(q.shape[-2]):
        position = keys.shape[-2]
        angles = (position * frequencies)[None, :]
        query = turned(q[:, :, t : t + 1], angles)
        keys = torch.cat([keys, turned(k[:, :, t : t + 1], angles)], dim=-2)
        values = torch.cat([values, v[:, :, t : t + 1]], dim=-2)
        scores = torch.einsum("bhqd,bhkd->bhqk", query.double(), keys.double())
        weights = (scores / q.shape[-1] ** 0.5).softmax(dim=-1)
        read.append(torch.einsum("bhqk,bhkd->bhqd", weights, values.double()).to(q.dtype))
    return torch.cat(read, dim=-2), keys

# %% wrong, blind second
# breaks: "Positions and angles need float32 at least"
# because: the positions are made in the dtype of q, and bfloat16 counts to 256 only
# named: positions in the dtype of q
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = torch.arange(past, past + new, dtype=q.dtype)
    angles = positions[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind second
# breaks: "`past_k` (turned)" and "with keys kept *after* the turn"
# because: turns the kept keys once more at every step
# named: cached keys turned again
def decode(q, k, v, past_k, past_v, frequencies):
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    total, new = k.shape[-2], q.shape[-2]
    angles = torch.arange(total)[:, None] * frequencies
    q, k = turned(q, angles[total - new :]), turned(k, angles)
    seen = torch.ones(new, total).tril(total - new) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% right, blind second
# style: one query after the other, no mask, everything in float64 until the end
def decode(q, k, v, past_k, past_v, frequencies):
    dtype = q.dtype
    past, new, width = past_k.shape[-2], q.shape[-2], q.shape[-1]
    angles = torch.arange(past, past + new, dtype=torch.float64)[:, None] * frequencies.double()
    cos, sin = torch.cos(angles), torch.sin(angles)

    def turn(x):
        a, b = x.double()[..., : width // 2], x.double()[..., width // 2 :]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    all_keys = torch.cat([past_k, turn(k).to(dtype)], dim=-2)
    all_values = torch.cat([past_v, v], dim=-2).double()
    turned_q = turn(q)
    reads = []
    for i in range(new):
        visible = past + i + 1
        keys = all_keys[:, :, :visible].double()
        scores = (turned_q[:, :, i : i + 1] * keys).sum(dim=-1) / math.sqrt(width)
        weights = torch.softmax(scores, dim=-1)
        reads.append((weights.unsqueeze(-1) * all_values[:, :, :visible]).sum(dim=-2))
    return torch.stack(reads, dim=-2).to(dtype), all_keys

# %% wrong, blind third
# breaks: "Positions and angles need float32 at least, because the cache may hold thousands of tokens"
# because: positions and frequencies are cast to the dtype of q before the product
# named: positions in the dtype of q
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = torch.arange(past, past + new).to(q.dtype)
    angles = positions[:, None] * frequencies.to(q.dtype)
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind third
# breaks: "Its cache keeps keys *after* the turn."
# because: joins the keys first and turns them all, so old keys are turned twice
# named: cached keys turned again
def decode(q, k, v, past_k, past_v, frequencies):
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    total, new = k.shape[-2], q.shape[-2]
    angles = torch.arange(total, dtype=torch.float64)[:, None] * frequencies
    q, k = turned(q, angles[total - new:]), turned(k, angles)
    seen = torch.ones(new, total).tril(total - new) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong, blind third
# breaks: "here the positions of new keys restart, too"
# because: moves the queries only, as in the bug of the lesson turned round; new keys still start at 0
# named: new keys still restart at 0
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    q_angles = (past + torch.arange(new))[:, None] * frequencies
    k_angles = torch.arange(new)[:, None] * frequencies
    q, k = turned(q, q_angles), turned(k, k_angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, k.shape[-2]).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% right, blind third
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

# %% equal
# because: Every tensor has four axes, so that axis -2 and axis 2 are the same one.
# change: USub dropped in `positions = past_k.shape[-2] + torch.arange(q.shape[-2])`
# change: USub dropped in `positions = past_k.shape[-2] + torch.arange(q.shape[-2])`, number 2
# change: USub dropped in `k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)`
# change: USub dropped in `k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)`, number 2
# change: USub dropped in `seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1`
# change: USub dropped in `seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1`, number 2
# change: USub dropped in `seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1`, number 3
# change: USub dropped in `seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1`, number 4
