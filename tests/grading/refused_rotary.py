"""Wrong answers to the exercises of lesson 08."""

import torch


def turned(x, angles, wide=torch.float64):
    """Neighbours of x turned by (length, pairs) or (batch, 1, length, pairs) angles."""
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)
    first, second = x[..., 0::2].to(wide), x[..., 1::2].to(wide)
    pairs = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def axis_for_heads(angles):
    return angles[:, None] if angles.ndim == 3 else angles


def right(x, positions, base):
    return turned(x, axis_for_heads(positions[..., None] * frequencies_of(x.shape[-1], base)))


# the rotation


def frequencies_in_float32(x, positions, base):
    frequencies = frequencies_of(x.shape[-1], base).float()
    return turned(x, axis_for_heads(positions.double()[..., None] * frequencies))


def angles_in_float32(x, positions, base):
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).float() / x.shape[-1])
    return turned(x, axis_for_heads(positions.float()[..., None] * frequencies))


def product_rounded_to_float32(x, positions, base):
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    return turned(x, axis_for_heads(angles.float()))


def exponent_in_float32(x, positions, base):
    exponent = -torch.arange(0, x.shape[-1], 2) / x.shape[-1]
    return turned(x, axis_for_heads(positions[..., None] * (base**exponent).double()))


def cos_in_x_dtype(x, positions, base):
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    return turned(x, axis_for_heads(angles), wide=x.dtype)


def cos_rounded_product_wide(x, positions, base):
    angles = axis_for_heads(positions[..., None] * frequencies_of(x.shape[-1], base))
    cos, sin = angles.cos().to(x.dtype).double(), angles.sin().to(x.dtype).double()
    first, second = x[..., 0::2].double(), x[..., 1::2].double()
    pairs = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


def all_in_float32(x, positions, base):
    return right(x.float(), positions, base).to(x.dtype)


def through_bfloat16(x, positions, base):
    return right(x, positions, base).bfloat16().to(x.dtype)


def positions_modulo(most):
    return lambda x, positions, base: right(x, positions % most, base)


def positions_as(dtype):
    return lambda x, positions, base: right(x, positions.to(dtype).double(), base)


def equal_batch_and_heads_asked_for(x, positions, base):
    assert positions.ndim == 1 or x.shape[0] == x.shape[1]
    return right(x, positions, base)


def positions_of_the_first_text(x, positions, base):
    return right(x, positions[0] if positions.ndim == 2 else positions, base)


def first_head_only(x, positions, base):
    out = x.clone()
    out[:, :1] = right(x[:, :1], positions, base)
    return out


def viewed(x, positions, base):
    return right(x.view(-1).view(x.shape), positions, base)


def slow_pairs_still(x, positions, base):
    frequencies = frequencies_of(x.shape[-1], base)
    frequencies[frequencies < 1e-3] = 0
    return turned(x, axis_for_heads(positions[..., None] * frequencies))


def base_10_000_where_not_100(x, positions, base):
    return right(x, positions, 100.0 if base == 100 else 10_000.0)


# heads


def halves(x, angles, wide=torch.float64):
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)
    first, second = x.to(wide).chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def heads_right(x, positions, num_heads, base):
    x = split(x, num_heads)
    angles = (positions[..., None] * frequencies_of(x.shape[-1], base)).unsqueeze(-3)
    return halves(x, angles)


def heads_with_angles_in_float32(x, positions, num_heads, base):
    x = split(x, num_heads)
    frequencies = frequencies_of(x.shape[-1], base).float()
    return halves(x, (positions.float()[..., None] * frequencies).unsqueeze(-3))


def heads_turned_in_x_dtype(x, positions, num_heads, base):
    x = split(x, num_heads)
    angles = (positions[..., None] * frequencies_of(x.shape[-1], base)).unsqueeze(-3)
    return halves(x, angles, wide=x.dtype)


def only_the_first_head_split_right(x, positions, num_heads, base):
    out = heads_right(x, positions, num_heads, base)
    out[:, 1:] = split(x, num_heads)[:, 1:]
    return out


def positions_of_text_0(x, positions, num_heads, base):
    return heads_right(x, positions[0] if positions.ndim == 2 else positions, num_heads, base)


def later_heads_slower(x, positions, num_heads, base):
    x = split(x, num_heads)
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    slower = 0.999 ** torch.arange(num_heads).double()[:, None, None]
    return halves(x, angles.unsqueeze(-3) * slower)


def exponent_over_pairs(x, positions, num_heads, base):
    x = split(x, num_heads)
    pairs = x.shape[-1] // 2
    frequencies = base ** (-torch.arange(pairs).double() / max(pairs - 1, 1))
    return halves(x, (positions[..., None] * frequencies).unsqueeze(-3))


# the test


def pieces():
    q, k = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0))
    return q, k, torch.tensor([0, 1, 2, 5, 9, 20])


def scores(rotation, q_positions, k_positions):
    q, k, _ = pieces()
    return rotation(q, q_positions, 100.0) @ rotation(k, k_positions, 100.0).T


def test_with(lengths=True, by=337, room=0.01, tokens=slice(None), distance=True):
    def test(rotation):
        q, _, p = pieces()
        if lengths:
            norm = rotation(q, p, 100.0).norm(dim=-1)
            assert torch.allclose(norm[tokens], q.norm(dim=-1)[tokens], atol=room)
        here, moved = scores(rotation, p, p), scores(rotation, p + by, p + by)
        assert torch.allclose(here[tokens, tokens], moved[tokens, tokens], atol=room)
        if distance:
            further = scores(rotation, p, p + 1)
            assert not torch.allclose(here[tokens, tokens], further[tokens, tokens], atol=room)

    return test


def test_of_the_sum(rotation):
    _, _, p = pieces()
    here, moved = scores(rotation, p, p), scores(rotation, p + 337, p + 337)
    assert torch.isclose(here.sum(), moved.sum(), atol=0.01)


def test_of_the_diagonal(rotation):
    _, _, p = pieces()
    here, moved = scores(rotation, p, p), scores(rotation, p + 337, p + 337)
    assert torch.allclose(here.diagonal(), moved.diagonal(), atol=0.01)


def test_of_position_0(rotation):
    q, _, p = pieces()
    assert torch.allclose(rotation(q, p, 100.0)[0], q[0], atol=0.01)


def test_for_halves(rotation):
    q, _, p = pieces()
    want = halves(q, p[:, None] * frequencies_of(8, 100.0))
    assert torch.allclose(rotation(q, p, 100.0), want, atol=0.01)


def test_in_order(rotation):
    p = torch.arange(6)
    here, moved = scores(rotation, p, p), scores(rotation, p + 337, p + 337)
    assert torch.allclose(here, moved, atol=0.01)
    q = pieces()[0]
    assert torch.allclose(rotation(q, p, 100.0).norm(dim=-1), q.norm(dim=-1), atol=0.01)


def kept_under(*arguments):
    """Tables kept under these arguments only, of positions, width, base and dtype."""
    kept = {}

    def rotate(x, positions, base):
        found = {"positions": str(positions.tolist()), "shape": positions.shape, "base": base}
        found |= {"width": x.shape[-1], "dtype": x.dtype}
        key = tuple(found[argument] for argument in arguments)
        if key not in kept:
            angles = positions[..., None] * frequencies_of(x.shape[-1], base)
            kept[key] = angles if positions.ndim == 1 else angles[:, None]
        return turned(x, kept[key])

    return rotate


def heads_kept_under(*arguments):
    """The same for heads that are split off."""
    kept = {}

    def rotate(x, positions, num_heads, base):
        found = {"positions": str(positions.tolist()), "shape": positions.shape, "base": base}
        found |= {"model": x.shape[-1], "heads": num_heads}
        key = tuple(found[argument] for argument in arguments)
        x = split(x, num_heads)
        if key not in kept:
            angles = positions[..., None] * frequencies_of(x.shape[-1], base)
            kept[key] = angles.unsqueeze(-3)
        return halves(x, kept[key])

    return rotate


def all_turned(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = (positions[..., None] * frequencies).unsqueeze(-3)
    first, second = x.double()[..., 0::2], x.double()[..., 1::2]
    both = (
        first * angles.cos() - second * angles.sin(),
        second * angles.cos() + first * angles.sin(),
    )
    return torch.stack(both, -1).flatten(-2).to(x.dtype)


def first_text_s_positions(x, positions, base):
    return all_turned(x, positions.reshape(-1, x.shape[-2])[0], base)


def float32_inside(x, positions, base):
    return all_turned(x.float(), positions, base).to(x.dtype)


def looks_at_some_positions(rotation):
    q, k = torch.randn(2, 40, 8, generator=torch.Generator().manual_seed(2))
    places = torch.arange(40) ** 2
    here, there, far = (
        rotation(q, places + by, 100.0) @ rotation(k, places + by, 100.0).T
        for by in (0, 1000, 2500)
    )
    assert torch.allclose(here, there, atol=0.01) and torch.allclose(here, far, atol=0.01)
    assert torch.allclose(rotation(q, places, 100.0).norm(dim=-1), q.norm(dim=-1), atol=0.01)
    assert not torch.allclose(here, rotation(q, places, 100.0) @ rotation(k, places + 1, 100.0).T)


REFUSED = {
    "rotary-score-by-hand": [7, 6, -6, 2, 9, -9, -3.5],
    "rotary-rotate": [
        first_text_s_positions,
        float32_inside,
        frequencies_in_float32,
        angles_in_float32,
        product_rounded_to_float32,
        exponent_in_float32,
        cos_in_x_dtype,
        cos_rounded_product_wide,
        all_in_float32,
        through_bfloat16,
        positions_modulo(2048),
        positions_modulo(4096),
        positions_modulo(65_536),
        positions_as(torch.int16),
        positions_as(torch.float16),
        positions_as(torch.bfloat16),
        equal_batch_and_heads_asked_for,
        positions_of_the_first_text,
        first_head_only,
        viewed,
        slow_pairs_still,
        base_10_000_where_not_100,
        kept_under("positions", "width"),
        kept_under("positions", "base"),
        kept_under("shape", "width", "base"),
    ],
    "rotary-complete-turns": [34, 36, 18, 35.4, 44, 50, 64, 29],
    "rotary-head-frequencies": [
        heads_with_angles_in_float32,
        heads_turned_in_x_dtype,
        only_the_first_head_split_right,
        positions_of_text_0,
        later_heads_slower,
        exponent_over_pairs,
        lambda x, *more: heads_right(x, *more).float(),
        lambda x, *more: heads_right(x, *more).double(),
        lambda x, *more: heads_right(x.float(), *more).to(x.dtype),
        lambda x, *more: heads_right(x.view(-1).view(x.shape), *more),
        lambda x, positions, *more: heads_right(x, positions % 2048, *more),
        lambda x, positions, *more: heads_right(x, -positions, *more),
        lambda *given: heads_right(*given).mT,
        lambda x, *more: heads_right(x.float().double(), *more).to(x.dtype),
        heads_kept_under("positions", "model", "heads"),
        heads_kept_under("shape", "model", "heads", "base"),
        heads_kept_under("positions", "model", "base"),
        heads_kept_under("positions", "heads", "base"),
    ],
    "rotary-test": [
        looks_at_some_positions,
        test_with(lengths=False),
        test_with(by=4),
        test_with(by=37),
        test_with(by=100),
        test_with(room=1),
        test_with(room=10),
        test_with(tokens=slice(-1)),
        test_with(tokens=slice(1)),
        test_with(tokens=slice(1, None)),
        test_with(distance=False),
        test_of_the_sum,
        test_of_the_diagonal,
        test_of_position_0,
        test_for_halves,
        test_in_order,
    ],
    "rotary-fooled-head": [
        *[0, 7, 8, 9, 11, 12, 13, 14, 16, 17, 20, 21, 22, 23, 24, 25, 26, 31, 47],
        *[200, 2682, 2782, 2882, 2983, 6.31, 6.28],
    ],
}
