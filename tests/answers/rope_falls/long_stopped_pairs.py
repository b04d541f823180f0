# Answers to long-stopped-pairs: tests/grading/answers.py says what the parts are.

# %% given
import torch

def scores_by(distance_of):
    def scores(q, k, positions, frequencies, stops, limit):
        distance = distance_of(positions, stops, limit)
        angles = distance * frequencies
        (a, b), (x, y) = q.chunk(2, dim=-1), k.chunk(2, dim=-1)
        along = a[:, None] * x + b[:, None] * y
        across = a[:, None] * y - b[:, None] * x
        return (along * angles.cos() + across * angles.sin()).sum(dim=-1).to(q.dtype)

    return scores

def apart(positions):
    return (positions[:, None] - positions)[..., None]

def stopped(distance, stops, limit):
    return torch.where(stops, distance.clamp(max=limit), distance)

right_scores = scores_by(lambda p, stops, limit: stopped(apart(p), stops, limit))

def distance(asked, given):
    return asked - given

# %% right
# style: in loops
import math

def stopping_scores(q, k, positions, frequencies, stops, limit):
    n, pairs = len(q), len(frequencies)
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for pair in range(pairs):
                m = int(positions[i] - positions[j])
                if stops[pair] and m > limit:
                    m = limit
                c, s = math.cos(m * frequencies[pair]), math.sin(m * frequencies[pair])
                (a, b), (x, y) = ((t[at, pair], t[at, pair + pairs]) for t, at in ((q, i), (k, j)))
                scores[i, j] += (a * c - b * s) * x + (a * s + b * c) * y
    return scores

# %% right
# style: in two halves
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def product(angles, chosen):
        cos, sin = angles.cos() * chosen, angles.sin() * chosen
        (a, b), (x, y) = (t.double().chunk(2, dim=-1) for t in (q, k))
        along = a[:, None] * x + b[:, None] * y
        across = a[:, None] * y - b[:, None] * x
        return (along * cos + across * sin).sum(-1)

    distance = (positions[:, None] - positions)[..., None]
    going = product(distance * frequencies, ~stops)
    return (going + product(distance.clamp(max=limit) * frequencies, stops)).float()

# %% right
# style: by matrices
import numpy as np

def stopping_scores(q, k, positions, frequencies, stops, limit):
    scores, pairs = torch.zeros(len(q), len(k), dtype=torch.float64), len(frequencies)
    for i, (frequency, stop) in enumerate(zip(frequencies.tolist(), stops.tolist(), strict=True)):
        for row, p in enumerate(positions.tolist()):
            distance = p - positions.numpy()
            if stop:
                distance = np.minimum(distance, limit)
            cos, sin = np.cos(distance * frequency), np.sin(distance * frequency)
            a, b = q[row, [i, i + pairs]].tolist()
            x, y = k[:, i].numpy(), k[:, i + pairs].numpy()
            scores[row] += torch.from_numpy((a * cos - b * sin) * x + (a * sin + b * cos) * y)
    return scores

# %% right
# style: with float32 angles
def stopping_scores(q, k, positions, frequencies, stops, limit):
    distance = positions.unsqueeze(1) - positions
    seen = torch.where(stops, distance.clamp(max=limit).unsqueeze(-1), distance.unsqueeze(-1))
    angles = seen.float() * frequencies.float()
    cos, sin = (torch.cat([t, t], dim=-1) for t in (angles.cos(), angles.sin()))
    turned_q = torch.cat([-q[:, q.shape[1] // 2 :], q[:, : q.shape[1] // 2]], dim=-1)
    return torch.einsum("qd,kd,qkd->qk", q, k, cos) + torch.einsum(
        "qd,kd,qkd->qk", turned_q, k, sin
    )

# %% right
# style: by two rotations
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def turned(x, at):
        pairs = torch.complex(*x.double().chunk(2, dim=-1))
        return pairs * torch.exp(1j * at[:, None] * frequencies)

    here, there, still = turned(q, positions), turned(k, positions), turned(k, 0 * positions)
    q_limit = turned(q, torch.full_like(positions, limit))
    going, stopped = here[:, None] * there.conj(), q_limit[:, None] * still.conj()
    far = (positions[:, None] - positions > limit)[..., None]
    return torch.where(far & stops, stopped, going).real.sum(dim=-1).float()

# %% variation
# because: limit of places
# named: places compared with the limit
@scores_by
def stopping_scores(positions, stops, limit):
    far = apart(torch.arange(len(positions))) > limit
    return torch.where(far & stops, torch.tensor(limit), apart(positions))

# %% variation
# because: later keys at 0
# named: negative distances set to 0
@scores_by
def stopping_scores(positions, stops, limit):
    return torch.where(stops, apart(positions).clamp(0, limit), apart(positions))

# %% variation
# because: as many of the slowest
@scores_by
def stopping_scores(positions, stops, limit):
    pairs = torch.arange(len(stops))
    return stopped(apart(positions), pairs >= len(stops) - int(stops.sum()), limit)

# %% variation
# because: as many of the fastest
@scores_by
def stopping_scores(positions, stops, limit):
    return stopped(apart(positions), torch.arange(len(stops)) < int(stops.sum()), limit)

# %% variation
# because: all stop if any does
@scores_by
def stopping_scores(positions, stops, limit):
    return stopped(apart(positions), stops.any(), limit)

# %% variation
# because: in bytes
in_bytes = scores_by(lambda p, stops, limit: stopped(apart(p.to(torch.int8)), stops, limit))


stopping_scores = in_bytes

# %% variation
# because: in half
in_half = scores_by(lambda p, stops, limit: stopped(apart(p.half()).double(), stops, limit))


stopping_scores = in_half

# %% variation
# because: in bfloat16
in_bfloat16 = scores_by(lambda p, stops, limit: stopped(apart(p.bfloat16()).double(), stops, limit))


stopping_scores = in_bfloat16

# %% variation
# because: sorted first
sorted_first = scores_by(lambda p, stops, limit: stopped(apart(p.sort().values), stops, limit))


stopping_scores = sorted_first

# %% variation
# because: from the first
# named: counts positions itself
from_the_first = scores_by(
    lambda p, stops, limit: stopped(apart(p[0] + torch.arange(len(p))), stops, limit)
)


stopping_scores = from_the_first

# %% variation
# because: angles stopped
# named: angles stopped instead of distances
def stopping_scores(q, k, positions, frequencies, stops, limit):
    one = torch.ones_like(frequencies)
    angles = stopped(apart(positions) * frequencies, stops, limit)
    return scores_by(lambda *more: angles)(q, k, positions, one, stops, limit)

# %% variation
# because: frequencies made anew
def stopping_scores(q, k, positions, frequencies, stops, limit):
    dim = q.shape[-1]
    frequencies = 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
    return right_scores(q, k, positions, frequencies, stops, limit)

# %% variation
# because: a row for each key
# named: a row for each key
def stopping_scores(q, k, positions, frequencies, stops, limit):
    return right_scores(q, k, positions, frequencies, stops, limit).T

# %% wrong, blind first
# breaks: "negative distances stay as they are"
# because: distances are clamped on both sides
# named: negative distances stopped as well
def stopping_scores(q, k, positions, frequencies, stops, limit):
    distance = (positions[:, None] - positions).double()[..., None]
    distance = torch.where(stops, distance.clamp(-limit, limit), distance)
    angles = distance * frequencies
    q1, q2 = q.double().chunk(2, dim=-1)
    k1, k2 = k.double().chunk(2, dim=-1)
    same = q1[:, None] * k1 + q2[:, None] * k2
    cross = q1[:, None] * k2 - q2[:, None] * k1
    return (same * angles.cos() + cross * angles.sin()).sum(dim=-1).to(q.dtype)

# %% wrong, blind first
# breaks: "see every distance beyond `limit` as `limit`" ("positions ... with a late start, gaps and repeats")
# because: which keys are far is decided by the number of the row, not by the position
# named: places compared with the limit
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def turn(x, places):
        angles = places.double()[:, None] * frequencies
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    own = k * torch.cat([stops, stops])
    nowhere = torch.zeros_like(positions)
    moving = turn(q, positions) @ turn(k, positions).T
    stopping = turn(q, positions) @ turn(own, positions).T
    held = turn(q, nowhere + limit) @ turn(own, nowhere).T
    place = torch.arange(len(q))
    far = place[:, None] - place > limit
    return torch.where(far, moving - stopping + held, moving).to(q.dtype)

# %% wrong, blind first
# breaks: "angles of far positions need float64"
# because: queries and keys are rotated at their positions with float32 angles
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def turn(x, places):
        angles = places.float()[:, None] * frequencies.float()
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    own = k * torch.cat([stops, stops])
    nowhere = torch.zeros_like(positions)
    moving = turn(q, positions) @ turn(k, positions).T
    stopping = turn(q, positions) @ turn(own, positions).T
    held = turn(q, nowhere + limit) @ turn(own, nowhere).T
    far = positions[:, None] - positions > limit
    return torch.where(far, moving - stopping + held, moving)

# %% wrong, blind first
# breaks: "turned forwards as in lesson 08" and "Distance is query minus key"
# because: the sign of the sine part is the one of a turn backwards
# named: turned the other way
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[1] // 2
    scores = torch.zeros(len(q), len(q), dtype=torch.float64)
    distance = positions[:, None] - positions[None, :]
    for i in range(half):
        seen = distance.clamp(max=limit) if stops[i] else distance
        angle = seen * frequencies[i]
        qa, qb = q[:, i].double()[:, None], q[:, i + half].double()[:, None]
        ka, kb = k[:, i].double(), k[:, i + half].double()
        scores += (qa * ka + qb * kb) * angle.cos() + (qb * ka - qa * kb) * angle.sin()
    return scores.to(q.dtype)

# %% right, blind first
# style: complex numbers, one pair after the other
def stopping_scores(q, k, positions, frequencies, stops, limit):
    queries = torch.complex(*q.double().chunk(2, dim=-1))
    keys = torch.complex(*k.double().chunk(2, dim=-1)).conj()
    distance = positions.long()[:, None] - positions.long()[None, :]
    scores = torch.zeros(distance.shape, dtype=torch.float64)
    for i in range(len(frequencies)):
        seen = distance.clamp(max=limit) if bool(stops[i]) else distance
        angle = seen.double() * frequencies[i].item()
        turn = torch.polar(torch.ones_like(angle), angle)
        scores += (queries[:, i, None] * keys[None, :, i] * turn).real
    return scores.to(q.dtype)

# %% right, blind first
# style: einsum over query, key and pair
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[-1] // 2
    qa, qb = q[:, :half].double(), q[:, half:].double()
    ka, kb = k[:, :half].double(), k[:, half:].double()
    distance = (positions[:, None] - positions[None, :])[:, :, None].expand(-1, -1, half)
    stopped = torch.minimum(distance, torch.full_like(distance, limit))
    angles = torch.where(stops, stopped, distance) * frequencies
    cos, sin = torch.cos(angles), torch.sin(angles)
    scores = torch.einsum("ip,jp,ijp->ij", qa, ka, cos) + torch.einsum("ip,jp,ijp->ij", qb, kb, cos)
    scores = scores + torch.einsum("ip,jp,ijp->ij", qa, kb, sin)
    scores = scores - torch.einsum("ip,jp,ijp->ij", qb, ka, sin)
    return scores.float()

# %% wrong, blind second
# breaks: "negative distances stay as they are"
# because: clamps on both sides
# named: negative distances stopped as well
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[-1] // 2
    queries = torch.complex(q[:, :half].double(), q[:, half:].double())
    keys = torch.complex(k[:, :half].double(), k[:, half:].double())
    distance = (positions[:, None] - positions)[..., None]
    distance = torch.where(stops, distance.clamp(-limit, limit), distance)
    angles = distance * frequencies
    turns = torch.polar(torch.ones_like(angles), angles)
    return (queries[:, None] * keys.conj() * turns).real.sum(dim=-1).to(q.dtype)

# %% wrong, blind second
# breaks: "angles of far positions need float64"
# because: the pairs that do not stop are rotated at their own positions with float32 angles
def stopping_scores(q, k, positions, frequencies, stops, limit):
    frequencies = frequencies.float()
    q1, q2 = q.chunk(2, dim=-1)
    k1, k2 = k.chunk(2, dim=-1)
    goes = ~stops

    def turn(a, b, angles):
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    angles = positions.float()[:, None] * frequencies[goes]
    scores = turn(q1[:, goes], q2[:, goes], angles) @ turn(k1[:, goes], k2[:, goes], angles).T
    distance = (positions[:, None] - positions).clamp(max=limit)
    angles = distance[..., None] * frequencies[stops]
    turned_q = turn(q1[:, None, stops], q2[:, None, stops], angles)
    still_k = torch.cat([k1[:, stops], k2[:, stops]], dim=-1)
    return scores + (turned_q * still_k).sum(dim=-1)

# %% right, blind second
# style: a loop over pairs, real numbers, float64
def stopping_scores(q, k, positions, frequencies, stops, limit):
    n, dim = q.shape
    half = dim // 2
    distance = positions.reshape(n, 1) - positions.reshape(1, n)
    total = torch.zeros(n, n, dtype=torch.float64)
    for i in range(half):
        seen = distance.clamp(max=limit) if bool(stops[i]) else distance
        angle = seen.double() * float(frequencies[i])
        a, b = q[:, i].double().unsqueeze(1), q[:, i + half].double().unsqueeze(1)
        c, e = k[:, i].double().unsqueeze(0), k[:, i + half].double().unsqueeze(0)
        total += (a * c + b * e) * angle.cos() - (b * c - a * e) * angle.sin()
    return total.to(q.dtype)

# %% equal
# because: The angles are float64, so the result is float64 here, and more digits are welcome.
# change: .to() dropped in `return (along * angles.cos() + across * angles.sin()).sum(dim=-1).to(q.dtype)`

# %% equal
# because: q and k always have two axes, so that axis -1 and axis 1 are the same one.
# change: USub dropped in `(a, b), (x, y) = q.chunk(2, dim=-1), k.chunk(2, dim=-1)`
# change: USub dropped in `(a, b), (x, y) = q.chunk(2, dim=-1), k.chunk(2, dim=-1)`, number 2
