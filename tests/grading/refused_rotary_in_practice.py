"""Wrong answers to lesson 09's exercises that must not pass."""

import math

import torch

# 9.1 converting weights -----------------------------------------------------------------------


def neighbours_to_halves(width):
    return torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])


def width_from_columns(q, k, v, num_heads, num_kv_heads):
    width = q.shape[1] // num_heads

    def moved(weight):
        return weight.unflatten(0, (-1, width))[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q), moved(k), v


def as_in_the_script_of_transformers(q, k, v, num_heads, num_kv_heads):
    dim = q.shape[1]

    def permuted(weight, heads, dim1, dim2):
        return weight.view(heads, dim1 // heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)

    kv_dim = dim * num_kv_heads // num_heads
    return permuted(q, num_heads, dim, dim), permuted(k, num_kv_heads, kv_dim, dim), v


def first_head_only(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        return torch.cat([weight[:width][neighbours_to_halves(width)], weight[width:]])

    return moved(q, num_heads), moved(k, num_kv_heads), v


def through_bfloat16(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        by_head = weight.bfloat16().to(weight.dtype).unflatten(0, (heads, width))
        return by_head[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v


def in_float32(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        by_head = weight.float().unflatten(0, (heads, width))
        return by_head[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v.float()


def through_float32(q, k, v, num_heads, num_kv_heads):
    old = q, k, v
    new = in_float32(q, k, v, num_heads, num_kv_heads)
    return tuple(after.to(before.dtype) for before, after in zip(old, new, strict=True))


def second_partners_first(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        by_head = weight.unflatten(0, (heads, -1))
        return torch.cat([by_head[:, 1::2], by_head[:, 0::2]], dim=1).flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v


def grouped_keys_left_alone(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        by_head = weight.unflatten(0, (heads, -1))
        return torch.cat([by_head[:, 0::2], by_head[:, 1::2]], dim=1).flatten(0, 1)

    return moved(q, num_heads), moved(k, num_heads) if num_heads == num_kv_heads else k, v


# 9.2 decoding ---------------------------------------------------------------------------------


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


clamped_at_63 = decoding_at(lambda past_k, q: after_the_cache(past_k, q).clamp(max=63))
clamped_at_2047 = decoding_at(lambda past_k, q: after_the_cache(past_k, q).clamp(max=2047))
modulo_256 = decoding_at(lambda past_k, q: after_the_cache(past_k, q) % 256)
in_the_dtype_of_q = decoding_at(lambda past_k, q: after_the_cache(past_k, q).to(q.dtype))
in_bytes = decoding_at(lambda past_k, q: after_the_cache(past_k, q).to(torch.int8))
length_of_the_batch = decoding_at(lambda past_k, q: len(past_k) + torch.arange(q.shape[-2]))
number_of_heads = decoding_at(lambda past_k, q: past_k.shape[1] + torch.arange(q.shape[-2]))
last_place_for_one = decoding_at(
    lambda past_k, q: (
        torch.tensor([past_k.shape[-2]]) if q.shape[-2] == 1 else torch.arange(q.shape[-2])
    )
)


def frequencies_made_anew(q, k, v, past_k, past_v, frequencies):
    dim = q.shape[-1]
    frequencies = 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
    return decoding_at(after_the_cache)(q, k, v, past_k, past_v, frequencies)


def scaled_by_the_root_of_8(q, k, v, past_k, past_v, frequencies):
    factor = (q.shape[-1] / 8) ** 0.5
    angles = after_the_cache(past_k, q)[:, None] * frequencies
    read, keys = decoding_at(after_the_cache)(q * factor, k, v, past_k, past_v, frequencies)
    return read, torch.cat([past_k, turned(k, angles)], dim=-2)


def cached_values_forgotten(q, k, v, past_k, past_v, frequencies):
    return decoding_at(after_the_cache)(q, k, v, past_k, torch.zeros_like(past_v), frequencies)


def decoding_with(join=lambda old, new: torch.cat([old, new], dim=-2), diagonal=0):
    def decode(q, k, v, past_k, past_v, frequencies):
        angles = after_the_cache(past_k, q)[:, None] * frequencies
        q, k, v = turned(q, angles), join(past_k, turned(k, angles)), join(past_v, v)
        new, total = q.shape[-2], k.shape[-2]
        seen = torch.ones(new, total).tril(total - new + diagonal) == 1
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
        return scores.softmax(dim=-1) @ v, k

    return decode


new_keys_first = decoding_with(lambda old, new: torch.cat([new, old], dim=-2))
one_key_ahead = decoding_with(diagonal=1)
blind_to_itself = decoding_with(diagonal=-1)


# 9.3 a table ----------------------------------------------------------------------------------


def turned_exactly(x, positions, base):
    theta = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    return turned(x, positions[:, None] * theta)


def serving(turn):
    return lambda requests: [turn(x, positions, base) for x, positions, base in requests]


def filed_under(key_of):
    def serve(requests):
        tables, results = {}, []
        for x, positions, base in requests:
            key = key_of(x, positions, base)
            if key not in tables:
                tables[key] = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
            results.append(turned(x, tables[key]))
        return results

    return serve


base_and_length = filed_under(lambda x, p, base: (base, len(x)))
first_and_last_position = filed_under(lambda x, p, base: (base, len(x), int(p[0]), int(p[-1])))
largest_position = filed_under(lambda x, p, base: (base, len(x), int(p.max())))
whole_base = filed_under(lambda x, p, base: (int(base), tuple(p.tolist())))
sorted_positions = filed_under(lambda x, p, base: (base, tuple(sorted(p.tolist()))))
positions_only = filed_under(lambda x, p, base: tuple(p.tolist()))

TABLES = {}


def a_table_for_ever(requests):
    results = []
    for x, positions, base in requests:
        key = (base, len(positions))
        if key not in TABLES:
            TABLES[key] = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
        results.append(turned(x, TABLES[key]))
    return results


@serving
def float32_frequencies(x, positions, base):
    return turned(x, positions[:, None] * base ** (-torch.arange(0, 8, 2) / 8))


@serving
def float32_frequencies_float64_angles(x, positions, base):
    return turned(x, positions[:, None].double() * base ** (-torch.arange(0, 8, 2) / 8))


@serving
def angles_rounded_to_float32(x, positions, base):
    theta = base ** (-torch.arange(0, 8, 2).double() / 8)
    return turned(x, (positions[:, None] * theta).float())


@serving
def table_in_the_dtype_of_x(x, positions, base):
    angles = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


@serving
def rounded_table_wide_product(x, positions, base):
    angles = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
    a, b = x.float().chunk(2, dim=-1)
    cos, sin = (t.to(x.dtype).float() for t in (angles.cos(), angles.sin()))
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)


@serving
def all_in_float32(x, positions, base):
    return turned_exactly(x.float(), positions, base).to(x.dtype)


@serving
def x_through_float32(x, positions, base):
    return turned_exactly(x.float().double(), positions, base).to(x.dtype)


modulo_2048 = serving(lambda x, p, base: turned_exactly(x, p % 2048, base))
modulo_4096 = serving(lambda x, p, base: turned_exactly(x, p % 4096, base))
small_integers = serving(lambda x, p, base: turned_exactly(x, p.short(), base))
from_its_first_position = serving(
    lambda x, p, base: turned_exactly(x, p[0] + torch.arange(len(p)), base)
)
through_float16 = serving(
    lambda x, p, base: turned_exactly(x, p, base).half().to(x.dtype)  # float64 and float32 lose
)


# 9.4 the test ---------------------------------------------------------------------------------


def by_hand(x, positions, base):
    out, half = x.clone().double(), x.shape[-1] // 2
    for row, position in enumerate(positions.tolist()):
        for i in range(half):
            angle = position * base ** (-i / half)
            a, b = x[row, i].item(), x[row, i + half].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out


DRAWN = torch.randn(3, 6, generator=torch.Generator().manual_seed(4))
PLACES = torch.tensor([5, 2, 11])


def dtypes_not_looked_at(turn):
    assert (turn(DRAWN, PLACES, 50.0) - by_hand(DRAWN, PLACES, 50.0)).abs().max() < 1e-3


def float32_alone(turn):
    assert turn(DRAWN, PLACES, 50.0).dtype == torch.float32
    dtypes_not_looked_at(turn)


def sum_of_all_entries(turn):
    expected = by_hand(DRAWN, PLACES, 50.0).sum()
    assert abs(turn(DRAWN, PLACES, 50.0).sum() - expected) < 1e-3


def one_row(turn):
    x, place = DRAWN[:1], PLACES[:1]
    assert (turn(x, place, 50.0) - by_hand(x, place, 50.0)).abs().max() < 1e-3


def first_pair_alone(turn):
    difference = turn(DRAWN, PLACES, 50.0) - by_hand(DRAWN, PLACES, 50.0)
    assert difference[:, [0, 3]].abs().max() < 1e-3


def lengths_kept(turn):
    x = torch.ones(3, 6)
    assert abs(turn(x, PLACES, 50.0).norm() - x.norm()) < 1e-3


def only_base_10_000(turn):
    difference = turn(DRAWN, PLACES, 10_000.0) - by_hand(DRAWN, PLACES, 10_000.0)
    assert difference.abs().max() < 1e-3


def far_too_tolerant(turn):
    assert (turn(DRAWN, PLACES, 50.0) - by_hand(DRAWN, PLACES, 50.0)).abs().max() < 10


def asserts_a_list(turn):
    alike = torch.equal(turn(DRAWN, PLACES, 50.0), by_hand(DRAWN, PLACES, 50.0))
    assert [alike, "wrong"]


def asks_for_a_millionth(turn):
    places = torch.tensor([5, 2, 1011])
    for dtype in (torch.float32, torch.float64):
        x = DRAWN.to(dtype)
        got = turn(x, places, 50.0)
        assert got.dtype == dtype
        assert (got - by_hand(x, places, 50.0)).abs().max() < 1e-6


def scores_depend_on_distance(turn):
    here = turn(DRAWN, PLACES, 50.0)
    there = turn(DRAWN, PLACES + 3, 50.0)
    assert torch.allclose(here @ here.T, there @ there.T, atol=1e-3)


# 9.5 which layout? ----------------------------------------------------------------------------


def pairs_of(t):
    return t.double().unflatten(1, (-1, 2)), t.double().unflatten(1, (2, -1)).mT


def all_alike(of_pairs, tolerance=1e-4):
    def fits(x, turned):
        return tuple(
            bool(((of_pairs(a) - of_pairs(b)).abs() < tolerance).all())
            for a, b in zip(pairs_of(x), pairs_of(turned), strict=True)
        )

    return fits


def by_scores_of_neighbours(x, turned):
    def products(t):
        return (t[:-1] * t[1:]).sum(dim=1)

    same = torch.allclose(products(x), products(turned), atol=1e-4)
    return same, same


def last_pair_alone(x, turned):
    kept = [
        (a[:, -1].norm(dim=-1) - b[:, -1].norm(dim=-1)).abs().max() < 1e-4
        for a, b in zip(pairs_of(x), pairs_of(turned), strict=True)
    ]
    return tuple(map(bool, kept))


def mean_length(x, turned):
    kept = [
        (a.norm(dim=-1).mean() - b.norm(dim=-1).mean()).abs() < 1e-4
        for a, b in zip(pairs_of(x), pairs_of(turned), strict=True)
    ]
    return tuple(map(bool, kept))


exactly_equal = all_alike(lambda pairs: pairs)
far_too_generous = all_alike(lambda pairs: pairs.norm(dim=-1), tolerance=3)
largest_of_a_pair = all_alike(lambda pairs: pairs.abs().amax(dim=-1))


def changes_of(x, turned):
    """By how much each pair is longer than before, with neighbours and with halves."""
    lengths = ([pairs.norm(dim=-1) for pairs in pairs_of(t)] for t in (x, turned))
    return [after - before for before, after in zip(*lengths, strict=True)]


def longer_is_not_seen(x, turned):
    return tuple(bool((-change < 1e-4).all()) for change in changes_of(x, turned))


def shorter_is_not_seen(x, turned):
    return tuple(bool((change < 1e-4).all()) for change in changes_of(x, turned))


def interleaved_or_else_half(x, turned):
    fits = bool((changes_of(x, turned)[0].abs() < 1e-4).all())
    return fits, not fits


def half_or_else_interleaved(x, turned):
    fits = bool((changes_of(x, turned)[1].abs() < 1e-4).all())
    return not fits, fits


def turned_alike_in_all_rows(x, turned):
    """Lengths are kept, and the angle between before and after is the same one in every row."""
    answers = []
    for first, second in ((slice(0, None, 2), slice(1, None, 2)),
                          (slice(0, x.shape[1] // 2), slice(x.shape[1] // 2, None))):  # fmt: skip
        before, after = (torch.complex(t.double()[:, first], t.double()[:, second])
                         for t in (x, turned))  # fmt: skip
        kept = bool(((before.abs() - after.abs()).abs() < 1e-4).all())
        turns = after / before
        answers.append(kept and bool(((turns - turns[0]).abs() < 1e-4).all()))
    return tuple(answers)


REFUSED = {
    "rotary-convert-weights": [
        width_from_columns, as_in_the_script_of_transformers, first_head_only, through_bfloat16,
        in_float32, through_float32, second_partners_first, grouped_keys_left_alone,
    ],
    "rotary-decode": [
        clamped_at_63, clamped_at_2047, modulo_256, in_the_dtype_of_q, in_bytes,
        length_of_the_batch, number_of_heads, last_place_for_one, frequencies_made_anew,
        scaled_by_the_root_of_8, cached_values_forgotten, new_keys_first, one_key_ahead,
        blind_to_itself,
    ],
    "rotary-stale-table": [
        base_and_length, first_and_last_position, largest_position, whole_base, sorted_positions,
        positions_only, a_table_for_ever, float32_frequencies, angles_rounded_to_float32,
        table_in_the_dtype_of_x, rounded_table_wide_product, all_in_float32, x_through_float32,
        modulo_2048, modulo_4096, small_integers, from_its_first_position, through_float16,
        float32_frequencies_float64_angles,
    ],
    "rotary-halves-test": [
        dtypes_not_looked_at, float32_alone, sum_of_all_entries, one_row, first_pair_alone,
        lengths_kept, only_base_10_000, far_too_tolerant, asserts_a_list, scores_depend_on_distance,
        asks_for_a_millionth,
    ],
    "rotary-which-layout": [
        by_scores_of_neighbours, last_pair_alone, mean_length, exactly_equal, far_too_generous,
        largest_of_a_pair, turned_alike_in_all_rows, longer_is_not_seen, shorter_is_not_seen,
        interleaved_or_else_half, half_or_else_interleaved,
    ],
}  # fmt: skip
