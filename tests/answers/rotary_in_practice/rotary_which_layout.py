# Answers to rotary-which-layout: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turned(x, angles):
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)

def pairs_of(t):
    return t.double().unflatten(1, (-1, 2)), t.double().unflatten(1, (2, -1)).mT

def all_alike(of_pairs, tolerance=1e-4):
    def fits(x, turned):
        return tuple(
            bool(((of_pairs(a) - of_pairs(b)).abs() < tolerance).all())
            for a, b in zip(pairs_of(x), pairs_of(turned), strict=True)
        )

    return fits

# %% right
# style: fits in loops
import math

def layouts_that_fit(x, turned):
    def all_keep(columns):
        columns = list(columns)
        return all(
            abs(math.hypot(x[row, a], x[row, b]) - math.hypot(turned[row, a], turned[row, b]))
            < 1e-4
            for row in range(len(x))
            for a, b in columns
        )

    half = x.shape[1] // 2
    return all_keep((2 * i, 2 * i + 1) for i in range(half)), all_keep(
        [(i, i + half) for i in range(half)]
    )

# %% right
# style: fits by complex numbers
def layouts_that_fit(x, turned):
    def all_keep(pairs):
        return torch.allclose(
            *(torch.complex(*pairs(t.double())).abs() for t in (x, turned)), 0, 1e-4
        )

    return [all_keep(lambda t: (t[:, 0::2], t[:, 1::2])), all_keep(lambda t: t.chunk(2, dim=1))]

# %% variation
# because: by scores of neighbours
def layouts_that_fit(x, turned):
    def products(t):
        return (t[:-1] * t[1:]).sum(dim=1)

    same = torch.allclose(products(x), products(turned), atol=1e-4)
    return same, same

# %% variation
# because: last pair alone
def layouts_that_fit(x, turned):
    kept = [
        (a[:, -1].norm(dim=-1) - b[:, -1].norm(dim=-1)).abs().max() < 1e-4
        for a, b in zip(pairs_of(x), pairs_of(turned), strict=True)
    ]
    return tuple(map(bool, kept))

# %% variation
# because: far too generous
far_too_generous = all_alike(lambda pairs: pairs.norm(dim=-1), tolerance=3)


layouts_that_fit = far_too_generous

# %% variation
# because: largest of a pair
largest_of_a_pair = all_alike(lambda pairs: pairs.abs().amax(dim=-1))


layouts_that_fit = largest_of_a_pair

# %% wrong, blind third
# breaks: "A layout fits if every pair of every row could have been turned into what came out."
# because: compares the length of the whole row, so both layouts fit or neither
# named: lengths of whole rows
def layouts_that_fit(x, turned):
    same = torch.allclose(x.norm(dim=-1), turned.norm(dim=-1), atol=1e-4)
    return (same, same)

# %% wrong, blind third
# breaks: "every pair of every row could have been turned into what came out"
# because: any in place of all over the rows: one row that fits is enough
def layouts_that_fit(x, turned):
    n, d = x.shape
    lengths = lambda t: (t.reshape(n, d // 2, 2).norm(dim=2), t.reshape(n, 2, d // 2).norm(dim=1))
    return tuple(bool(((a - b).abs() < 1e-4).all(dim=1).any())
                 for a, b in zip(lengths(x), lengths(turned)))

# %% wrong, blind third
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

# %% right, blind third
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

# %% equal
# because: Lengths in float32 are right to a millionth, and the task allows 0.0001.
# change: .double() dropped in `pairs = t.double()`

# %% equal
# because: Both have two members, always.
# change: strict= dropped in `changes = [after - before for before, after in zip(lengths(x), lengths(turned), strict=True)]`

# %% equal
# because: No length changes by exactly a ten-thousandth.
# change: Lt to LtE in `return tuple(bool((change.abs() < 1e-4).all()) for change in changes)`

# %% equal
# because: x always has two axes, so that axis -1 and axis 1 are the same one.
# change: USub dropped in `return neighbours, torch.hypot(*pairs.chunk(2, dim=-1))`
