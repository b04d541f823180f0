"""The museum: tests that let something through, or reject what is right."""

import math

import torch


def theta(dim, base=10_000.0):
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def waves(positions, dim, factor=1):
    angles = positions[:, None] / factor * theta(dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


# embed(x, positions, factor)


def embed_at(positions, factor, dim=8, texts=2, allowed=1e-3):
    def test(embed):
        at = torch.tensor(positions)
        got = embed(torch.zeros(texts, len(positions), dim), at, factor)
        assert torch.allclose(got, waves(at, dim, factor).expand_as(got), atol=allowed)

    return test


def embed_position_0_by_hand(embed):
    assert embed(torch.zeros(1, 1, 4), torch.tensor([0]), 1).tolist() == [[[0, 1, 0, 1]]]


def embed_first_row_of_each_text(embed):
    got = embed(torch.zeros(3, 4, 8), torch.tensor([0, 3, 11, 500]), 2)[:, 0]
    assert torch.allclose(got, waves(torch.tensor([0]), 8).expand(3, -1), atol=1e-3)


def embed_first_pair_only(embed):
    embed_at([0, 3, 11], 2, dim=2)(embed)
    half = embed(torch.zeros(1, 1, 2, dtype=torch.bfloat16), torch.tensor([257]), 1).float()
    assert torch.allclose(half, waves(torch.tensor([257]), 2).expand_as(half), atol=0.02)


def embed_near_in_bfloat16(embed):
    embed_at([0, 3, 11, 257], 2)(embed)
    at = torch.tensor([1, 2, 100])
    half = embed(torch.zeros(2, 3, 8, dtype=torch.bfloat16), at, 1).float()
    assert torch.allclose(half, waves(at, 8).expand_as(half), atol=0.02)


def embed_even_in_bfloat16(embed):
    embed_at([0, 3, 11, 257], 2)(embed)
    at = torch.tensor([256, 512, 768])
    half = embed(torch.zeros(2, 3, 8, dtype=torch.bfloat16), at, 1).float()
    assert torch.allclose(half, waves(at, 8).expand_as(half), atol=0.02)


def embed_halved_far_out(embed):
    """All that a room can ask, but beyond 1023 only with a factor of 2."""
    embed_at([0, 3, 11, 1000], 1)(embed)
    embed_at([0, 3, 11, 1999], 2)(embed)
    at = torch.tensor([256, 257])
    half = embed(torch.zeros(2, 2, 8, dtype=torch.bfloat16), at, 1).float()
    assert torch.allclose(half, waves(at, 8).expand_as(half), atol=0.02)


def embed_bfloat16_like_float32(embed):
    embed_at([0, 3, 11], 2)(embed)
    at = torch.tensor([256, 257])
    half = embed(torch.zeros(2, 2, 8, dtype=torch.bfloat16), at, 1).float()
    assert torch.allclose(half, waves(at, 8).expand_as(half), atol=1e-4)


# turn(x, positions)


def turn_scores(positions, heads=2, base=10_000.0, batch=None, looked_at=slice(None), allowed=1e-2):
    def test(turn):
        at = torch.tensor(positions)
        texts = batch or (len(positions) if at.ndim == 2 else 1)
        turned = turn(torch.ones(texts, heads, at.shape[-1], 8), at)
        apart = (at[..., :, None] - at[..., None, :]).reshape(-1, 1, *[at.shape[-1]] * 2)
        expected = 2 * (apart[..., None] * theta(8, base)).cos().sum(dim=-1).float()
        scores = turned @ turned.mT
        expected = expected.expand_as(scores)
        assert torch.allclose(scores[looked_at], expected[looked_at], atol=allowed)

    return test


def turn_keeps_distances(turn):
    x = torch.randn(2, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    here, there = (turn(x, torch.arange(5) + start) for start in (0, 5))
    assert torch.allclose(here @ here.mT, there @ there.mT, atol=0.05)
    assert torch.allclose(here.norm(dim=-1), x.norm(dim=-1), atol=1e-3)


def turn_first_head_only(turn):
    whole = turn_scores([[0, 3, 17], [5, 6, 40]])
    whole(lambda x, at: turn(x, at)[:, :1].expand_as(x))


def turn_equal_distances(turn):
    turn_scores([[0, 3, 17], [5, 8, 22]])(turn)


def turn_more_texts_than_heads(turn):
    """The version that mixes texts and heads raises here; two others stay."""
    turn_scores([[0, 1, 2], [0, 1, 2], [0, 1, 2]], heads=1)(turn)


def turn_as_halves(turn):
    x, at = torch.arange(8.0).view(1, 1, 1, 8), torch.tensor([3])
    angles = 3 * theta(8)
    first, second = x[0, 0, 0].double().chunk(2)
    expected = torch.cat([
        first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()
    ])  # fmt: skip
    assert torch.allclose(turn(x, at)[0, 0, 0].double(), expected, atol=1e-3)


# make(dim)(length, offset, base, dtype)


def rows(table, length=20, offset=0, base=10_000.0, dim=64, allowed=1e-3, **more):
    expected = (torch.arange(offset, offset + length)[:, None] * theta(dim, base)).cos().float()
    got = table(length, offset=offset, base=base, **more).float()
    assert torch.allclose(got, expected, atol=allowed)


def table_questions(*questions, converted=True, dim=64, far=1000):
    def test(make):
        table = make(dim)
        for question in questions:
            rows(table, dim=dim, **question)
        if converted:
            rows(make(dim).to(torch.bfloat16), offset=far, dim=dim)

    return test


FORWARD = ({}, {"offset": 7}, {}, {"base": 500.0})


def table_of_five_digits(make):
    table, expected = make(8), (torch.arange(7, 27)[:, None] * theta(8)).cos().float()
    table(20)
    assert torch.allclose(table(20, offset=7), expected, atol=1e-5)


def table_of_shapes(make):
    table = make(8)
    for dtype in (torch.float32, torch.bfloat16):
        got = table(20, offset=3, dtype=dtype)
        assert got.shape == (20, 4) and got.dtype == dtype


def table_rough_first_but_loosely(make):
    table = make(64)
    rows(table, dtype=torch.bfloat16, allowed=0.01)
    for question in FORWARD:
        rows(table, allowed=0.02, **question)
    rows(make(64).to(torch.bfloat16), offset=1000, allowed=0.02)


def table_to_the_last_bit(make):
    table_questions(*FORWARD)(make)
    exact = (torch.arange(1500, 1520)[:, None] * theta(64)).cos().float()
    assert torch.equal(make(64)(20, offset=1500), exact)


def table_converted_near(make):
    table = make(64)
    rows(table, dtype=torch.bfloat16, allowed=0.01)
    for question in FORWARD:
        rows(table, **question)
    rows(make(64).to(torch.bfloat16), length=1)


# convert(q_weight, k_weight, num_heads, num_kv_heads)


def marked(count):
    return torch.arange(float(count))[:, None]


def halves(heads, width):
    order = [*range(0, width, 2), *range(1, width, 2)]
    return torch.tensor([[float(h * width + row)] for h in range(heads) for row in order])


def converted(heads, kv_heads, width, pick=lambda both: both):
    def test(convert):
        both = convert(marked(heads * width), marked(kv_heads * width), heads, kv_heads)
        expected = (halves(heads, width), halves(kv_heads, width))
        assert all(torch.equal(a, b) for a, b in zip(pick(both), pick(expected), strict=True))

    return test


def convert_keeps_lengths(convert):
    q, k = torch.randn(32, 3), torch.randn(16, 3)
    new_q, new_k = convert(q, k, 4, 2)
    assert torch.allclose(new_q.norm(), q.norm()) and torch.allclose(new_k.norm(), k.norm())


def convert_moves_something(convert):
    q, k = convert(marked(32), marked(16), 4, 2)
    assert not torch.equal(q, marked(32)) and not torch.equal(k, marked(16))


# alibi_weights(q, k, q_positions, k_positions)


def slope_weights(
    slopes, position, keys, dtype=torch.float32, head_dim=4, allowed=0.02, heads=None
):
    def test(weights):
        q = torch.zeros(1, len(slopes), 1, head_dim, dtype=dtype)
        k = torch.zeros(1, len(slopes), len(keys), head_dim, dtype=dtype)
        got = weights(q, k, torch.tensor([position]), keys)[0, :heads, 0].float()
        expected = (-torch.tensor(slopes)[:heads, None] * (position - keys)).softmax(dim=-1)
        assert torch.allclose(got, expected, atol=allowed)

    return test


THREE, FEW, MANY = [1 / 16, 1 / 256, 1 / 4], torch.tensor([0, 2, 5, 8, 9]), torch.arange(3000)


def slope_sums(weights):
    q = torch.ones(1, 3, 6, 4)
    got = weights(q, q, torch.arange(6), torch.arange(6))
    assert torch.allclose(got.sum(dim=-1), torch.ones(1, 3, 6)) and (got.triu(1) == 0).all()


def slope_with_one_column(weights):
    slope_weights(THREE, 9, FEW, head_dim=1)(weights)
    slope_weights(THREE, 2999, MANY, torch.bfloat16, head_dim=1)(weights)


def slope_bfloat16_like_float32(weights):
    slope_weights(THREE, 9, FEW)(weights)
    slope_weights(THREE, 2999, MANY, torch.bfloat16, allowed=1e-5)(weights)


def slope_first_heads(weights):
    """The heads that are filled in are not compared."""
    slope_weights(THREE, 9, FEW, heads=2)(weights)
    slope_weights(THREE, 2999, MANY, torch.bfloat16, heads=2)(weights)


def slope_powers_of_two(weights):
    for keys, dtype in ((FEW, torch.float32), (MANY, torch.bfloat16)):
        slope_weights([1 / 4, 1 / 16, 1 / 64, 1 / 256], int(keys[-1]), keys, dtype)(weights)


def slope_two_and_four_heads(weights):
    slope_weights([1 / 16, 1 / 256], 9, FEW)(weights)
    slope_weights([1 / 4, 1 / 16, 1 / 64, 1 / 256], 2999, MANY, torch.bfloat16)(weights)


# t5_bias(table, q_positions, k_positions)

NUMBERS = torch.arange(32.0)[:, None].expand(32, 2)


def row_of(q, k):
    r = abs(q - k)
    row = r if r < 8 else min(15, 8 + int(8 * math.log(r / 8) / math.log(16) + 1e-9))
    return row + 16 * (k > q)


def bias_between(queries, keys, table=NUMBERS, pick=lambda got: got):
    def test(bias):
        got = bias(table, torch.tensor(queries), torch.tensor(keys))[0]
        expected = table[torch.tensor([[row_of(q, k) for k in keys] for q in queries]), 0]
        assert torch.equal(pick(got), pick(expected))

    return test


def bias_with_gaps_on_both_sides(bias):
    bias_between([0, 5, 300], [0, 4, 9, 200, 700])(bias)


def bias_one_query_at_a_time(bias):
    for query in (0, 3, 500):
        bias_between([query], [0, 1, 2, 3, 700])(bias)


def bias_causal_text(bias):
    bias_between([*range(150)], [*range(150)], pick=lambda got: got.tril())(bias)


def bias_diagonal_is_table_0(bias):
    at = torch.arange(20)
    assert (bias(NUMBERS, at, at).diagonal(0, 1, 2) == 0).all()


def bias_of_one_half_table(bias):
    table = torch.arange(16.0).repeat(2)[:, None]
    bias_between([*range(10)], [*range(10)], table)(bias)
    bias_between([500], [0, 400, 501, 700], table)(bias)


# make(dim, base, original_length)(length)


def reach_ends(*lengths, pick=(0, -1), allowed=1e-3):
    def test(make):
        frequencies = make(64, 10_000.0, 2048)
        for length in lengths:
            expected = theta(64)[[0, -1]] / torch.tensor([1, max(1, length / 2048)])
            got = frequencies(length)[[0, -1]].double()
            for end in pick:
                assert math.isclose(got[end], expected[end], rel_tol=allowed)

    return test


def reach_between_limits(make):
    """Any ramp passes that stays between the two frequencies of each pair, in order."""
    frequencies, trained = make(64, 10_000.0, 2048), theta(64)
    turns = 2048 * trained / (2 * math.pi)
    for length in (500, 8192, 8192, 500):
        slowing, most = trained / frequencies(length).double(), max(1, length / 2048)
        assert torch.allclose(slowing[turns >= 32], torch.ones(()).double(), rtol=1e-3)
        assert torch.allclose(slowing[turns <= 1], torch.tensor(most).double(), rtol=1e-3)
        assert (slowing > 0.999).all() and (slowing < 1.001 * most).all()
        assert (slowing.diff() > -1e-2).all()


def reach_in_one_long_text(make):
    """The ramp is compared once, and the memory of the function is never asked."""
    frequencies, trained = make(64, 10_000.0, 2048), theta(64)
    keep = ((2048 * trained / (2 * math.pi) - 1) / 31).clamp(0, 1)
    expected = trained * (keep + (1 - keep) / 4)
    assert torch.allclose(frequencies(8192).double(), expected, rtol=1e-3)


def reach_falls(make):
    frequencies = make(64, 10_000.0, 2048)
    for length in (500, 8192, 8192, 500):
        assert (frequencies(length).diff() < 0).all()


def reach_new_function_each_time(make):
    for length in (500, 2048, 8192, 500):
        reach_ends(length)(make)


def reach_exactly(make):
    reach_ends(500, 8192, 8192, 500)(make)
    got, expected = make(64, 10_000.0, 2048)(500), theta(64)
    assert torch.equal(got.double(), expected)


# test(encoding)


def encoding(positions, dim):
    angles = positions[..., None] * theta(dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def encoding_in_float32(positions, dim):
    return encoding_by(positions, torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim)))


def encoding_by(positions, frequencies):
    angles = positions[..., None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def rejects(test, broken):
    try:
        test(broken)
    except AssertionError:
        return True
    return False


def right_ones_only(test):
    test(encoding)
    test(encoding_in_float32)


def wrong_one_only(test):
    assert rejects(test, lambda positions, dim: encoding(2 * positions, dim))


def in_float64_alone(test):
    test(encoding)
    assert rejects(test, lambda positions, dim: encoding(2 * positions, dim))


def in_float32_alone(test):
    test(encoding_in_float32)
    assert rejects(test, lambda positions, dim: encoding(2 * positions, dim))


def wrong_at_0_already(test):
    right_ones_only(test)
    assert rejects(test, lambda positions, dim: torch.zeros(*positions.shape, dim))


def of_another_shape(test):
    right_ones_only(test)
    assert rejects(test, lambda positions, dim: encoding(positions, dim)[..., :1])


def any_error_will_do(test):
    try:
        test(encoding)
        test(encoding_in_float32)
        test(lambda positions, dim: encoding(2 * positions, dim))
    except AssertionError:
        return


def asks_for_true(test):
    assert test(encoding) is True


def broken_far_out_only(test):
    right_ones_only(test)
    assert rejects(test, lambda positions, dim: encoding(positions.clamp(max=5000), dim))


REFUSED = {
    "museum-waves": [
        embed_position_0_by_hand, embed_first_row_of_each_text, embed_first_pair_only,
        embed_near_in_bfloat16, embed_even_in_bfloat16, embed_bfloat16_like_float32,
        embed_at([0, 3, 11, 1023], 1), embed_at([0, 3, 11, 1999], 2), embed_halved_far_out,
        embed_at([0, 3, 11], 1), embed_at([0, 4, 8, 400], 4), embed_at([1, 301], 2, texts=1),
        embed_at([0, 3, 11], 2, allowed=1.0), embed_at([0, 3, 11, 1500], 2, allowed=1e-4),
    ],
    "museum-turn": [
        turn_keeps_distances, turn_first_head_only, turn_equal_distances, turn_as_halves,
        turn_more_texts_than_heads, turn_scores([0, 3, 17]),
        turn_scores([[0, 3, 17], [5, 6, 40]], looked_at=slice(1)),
        turn_scores([[0, 3, 17], [0, 3, 17]]),
        turn_scores([[0, 3, 17], [5, 6, 40]], heads=1), turn_scores([[0, 3], [5, 9]], base=500.0),
        turn_scores([[0, 3, 17], [5, 6, 40]], allowed=1e-4),
    ],
    "museum-table": [
        table_of_shapes, table_rough_first_but_loosely, table_to_the_last_bit,
        table_converted_near, table_questions(*FORWARD), table_questions({}, {"base": 500.0}),
        table_questions({"offset": 7}, {"offset": 7}), table_questions(*FORWARD, converted=False),
        table_questions(*FORWARD, dim=8, far=3), table_of_five_digits,
    ],
    "museum-weights": [
        convert_keeps_lengths, convert_moves_something, converted(4, 4, 8), converted(4, 2, 4),
        converted(1, 1, 8), converted(4, 2, 8, lambda both: both[:1]),
        converted(4, 2, 8, lambda both: both[1:]), converted(4, 2, 8, lambda both: both[0][:8]),
    ],
    "museum-slope": [
        slope_sums, slope_with_one_column, slope_bfloat16_like_float32, slope_two_and_four_heads,
        slope_weights(THREE, 9, FEW), slope_weights(THREE, 2999, MANY),
        slope_weights(THREE, 9, FEW, allowed=0.5), slope_first_heads, slope_powers_of_two,
        slope_weights(THREE, 9, FEW, allowed=1e-6), slope_weights(THREE, 9, FEW, allowed=1e-4),
    ],
    "museum-buckets": [
        bias_with_gaps_on_both_sides, bias_one_query_at_a_time, bias_causal_text,
        bias_diagonal_is_table_0, bias_of_one_half_table, bias_between([0, 1, 2], [0, 1, 2]),
        bias_between([500], [450, 501]),
    ],
    "museum-reach": [
        reach_between_limits, reach_in_one_long_text, reach_falls, reach_new_function_each_time,
        reach_exactly, reach_ends(500, 8192, 8192, 500),
        reach_ends(8192), reach_ends(500, 8192, 500), reach_ends(8192, 8192, 2048),
        reach_ends(500, 8192, 8192, 500, pick=(0,)), reach_ends(500, 8192, 8192, 500, pick=(-1,)),
        reach_ends(500, 8192, 8192, 500, allowed=0.9),
        reach_ends(500, 8192, 8192, 500, allowed=1e-7),
    ],
    "museum-tests": [
        right_ones_only, wrong_one_only, in_float32_alone, in_float64_alone, wrong_at_0_already,
        of_another_shape, any_error_will_do, asks_for_true, broken_far_out_only,
    ],
}  # fmt: skip
