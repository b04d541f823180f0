"""Bugs from published code and courses, made again in a few lines.

Each test has a check that knows the right answer by itself: ours passes it, the bug does not.
"""

import ast
import math
from pathlib import Path

import oracles
import pytest
import torch

from course_lib.encodings import (
    ALiBi,
    Rotary,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    alibi_slopes,
    by_parts,
    dynamic_ntk,
    interleaved_to_half,
    relative_shift,
    rotary_frequencies,
    rotate,
    rotation_table,
    sinusoidal_encoding,
    t5_bucket,
    yarn,
)
from course_lib.encodings.consecutive import skew
from course_lib.model import Decoder, DecoderConfig, View, attend
from course_lib.model.decoder import Cache


def tell_apart(check, ours, *bugs):
    """The check accepts ours and catches every bug."""
    check(ours)
    for bug in bugs:
        with pytest.raises(AssertionError):
            check(bug)


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


# Sinusoids ---------------------------------------------------------------------------------------


def test_batch_index_used_as_position():
    """Code for (length, batch, dim) that is given (batch, length, dim)."""
    table = sinusoidal_encoding(torch.arange(100), 16)

    def sequence_first(x):
        return x + table[: x.shape[0]].unsqueeze(1)

    def check(embed):
        added = embed(torch.zeros(3, 5, 16))
        assert torch.equal(added[0], added[2]), "samples differ"
        assert not torch.equal(added[0, 0], added[0, 1]), "tokens do not"

    tell_apart(check, lambda x: Sinusoidal(16).embed(x, torch.arange(x.shape[1])), sequence_first)


def test_exponent_of_column_1_is_that_of_column_0():
    """The column's own number in the exponent; at position 0 every cosine is 1 all the same."""

    def column_number(positions, dim):
        angles = positions[:, None] / 10_000 ** (2 * torch.arange(dim) / dim)
        return torch.where(torch.arange(dim) % 2 == 0, angles.sin(), angles.cos())

    assert torch.allclose(column_number(torch.tensor([0]), 512)[0, 1], torch.tensor(1.0))
    assert math.isclose(column_number(torch.tensor([1]), 512)[0, 1], 0.570, abs_tol=5e-4)

    def check(encoding):
        assert math.isclose(encoding(torch.tensor([1]), 512)[0, 1], math.cos(1), abs_tol=1e-6)

    tell_apart(check, sinusoidal_encoding, column_number)


def test_exponent_i_over_d_instead_of_2i_over_d():
    def half_the_exponent(dim, base=10_000.0):
        return base ** (-torch.arange(dim // 2, dtype=torch.float64) / dim)

    def check(frequencies):
        # pair 1 of 4 with base 10 000 is a hundred times slower than pair 0, by the formula
        assert torch.allclose(frequencies(4), torch.tensor([1, 0.01], dtype=torch.float64))

    tell_apart(check, rotary_frequencies, half_the_exponent)


def test_scaling_an_integer_arange_in_place():
    def in_place(positions, factor):
        positions *= 1 / factor  # raises: a float does not fit into integers
        return positions

    def truncating(positions, factor):
        positions //= factor
        return positions

    def ours(positions, factor):
        scaled = rotary_frequencies(4) / factor
        return rotation_table(scaled, positions)[1][:, 0].asin()  # the fastest pair's angle

    def check(scaled):
        positions = torch.arange(3)
        assert torch.allclose(scaled(positions, 4).double()[1], torch.tensor(0.25).double())
        assert torch.equal(positions, torch.arange(3)), "the caller's positions were changed"

    tell_apart(check, ours, truncating)
    with pytest.raises(RuntimeError, match="can't be cast"):
        check(in_place)


# RoPE --------------------------------------------------------------------------------------------


def test_frequencies_spread_over_d_model_instead_of_head_dim():
    """Each head gets a slice of one long row of frequencies: later heads turn slowly only."""
    heads, head_dim = 4, 8

    def over_d_model(x, positions):
        whole = rotary_frequencies(heads * head_dim).view(heads, -1)
        tables = [rotation_table(own, positions) for own in whole]
        return torch.stack(
            [rotate(x[:, h], *tables[h], layout="half") for h in range(heads)], dim=1
        )

    def check(turn):
        x = drawn(1, 1, 5, head_dim).expand(1, heads, 5, head_dim)
        turned = turn(x, torch.arange(5))
        assert torch.allclose(turned[:, 0], turned[:, -1]), "heads turn differently"

    tell_apart(check, lambda x, at: Rotary(head_dim).rotate(x, x, at, at)[0], over_d_model)


def test_a_batch_by_length_table_broadcast_over_heads():
    """Silent where batch = heads: head h gets the positions of sample h."""

    def broadcast(x, positions):
        cos, sin = rotation_table(rotary_frequencies(x.shape[-1]), positions)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    def refused(x, positions):
        return rotate(x, *rotation_table(rotary_frequencies(8), positions), layout="half")

    def check(turn):
        x, positions = drawn(2, 2, 3, 8), torch.tensor([[0, 1, 2], [5, 6, 7]])
        expected = oracles.rotated(x, positions, oracles.frequencies_of(8), "half")
        assert torch.allclose(turn(x, positions), expected, atol=1e-6)

    assert broadcast(drawn(2, 2, 3, 8), torch.zeros(2, 3, dtype=torch.int64)).shape == (2, 2, 3, 8)
    tell_apart(check, lambda x, at: Rotary(8).rotate(x, x, at, at)[0], broadcast)
    with pytest.raises(ValueError, match="give .batch, 1, length, dim / 2."):
        refused(drawn(2, 2, 3, 8), torch.zeros(2, 3, dtype=torch.int64))


def test_frequencies_repeated_pairwise_but_rotated_as_halves():
    def mixed(x, positions):
        cos, sin = (
            t.repeat_interleave(2, dim=-1)
            for t in rotation_table(rotary_frequencies(x.shape[-1]), positions)
        )
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    def check(turn):
        x = drawn(1, 1, 2, 8)
        turned = turn(x.expand(1, 1, 2, 8), torch.tensor([3, 40]))
        # no rotation at all: the two columns of a pair turn by different angles
        assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-6)

    ours = [
        lambda x, at, layout=layout: Rotary(8, layout=layout).rotate(x, x, at, at)[0]
        for layout in ("half", "interleaved")
    ]
    tell_apart(check, ours[0], mixed)
    check(ours[1])


def projected_scores(q_weight, k_weight, layout, heads, kv_heads, head_dim=8):
    x, at = drawn(1, 4, 6, seed=3), torch.tensor([0, 2, 3, 50])
    q, k = ((x @ w.T).unflatten(-1, (-1, head_dim)).transpose(1, 2) for w in (q_weight, k_weight))
    q, k = Rotary(head_dim, layout=layout).rotate(q, k, at, at)
    return q @ k.repeat_interleave(heads // kv_heads, dim=1).mT


def test_interleaved_weights_loaded_into_a_half_layout_without_permuting():
    q, k = drawn(32, 6), drawn(32, 6, seed=1)
    expected = projected_scores(q, k, "interleaved", 4, 4)

    def check(load):
        got = projected_scores(load(q), load(k), "half", 4, 4)
        assert torch.allclose(got, expected, atol=1e-5)

    def all_heads_as_one(weight):
        return interleaved_to_half(weight, 1)

    tell_apart(check, lambda w: interleaved_to_half(w, 4), lambda w: w, all_heads_as_one)


def test_permutation_done_with_the_query_head_count_on_grouped_keys():
    q, k = drawn(32, 6), drawn(16, 6, seed=1)  # 4 query heads share 2 key heads
    expected = projected_scores(q, k, "interleaved", 4, 2)

    def check(convert_keys):
        got = projected_scores(interleaved_to_half(q, 4), convert_keys(k), "half", 4, 2)
        assert torch.allclose(got, expected, atol=1e-5)

    tell_apart(check, lambda k: interleaved_to_half(k, 2), lambda k: interleaved_to_half(k, 4))
    with pytest.raises(ValueError, match="grouped keys have fewer"):
        interleaved_to_half(drawn(8 * 3, 6), 16)  # where it does not divide, it is refused


class ByLength:
    """A table kept for the longest length so far, and handed out for every other call."""

    def __init__(self):
        self.kept = None

    def __call__(self, length, base=10_000.0, offset=0, dtype=torch.float32):
        if self.kept is None or len(self.kept) < length:
            positions = torch.arange(offset, offset + length)
            self.kept = rotation_table(rotary_frequencies(8, base), positions)[0].to(dtype)
        return self.kept[:length]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"base": 10_000.0}, {"base": 500_000.0}),
        ({"offset": 0}, {"offset": 7}),
        ({"dtype": torch.bfloat16}, {"dtype": torch.float32}),
    ],
    ids=["base", "offset", "dtype"],
)
def test_cos_sin_cache_that_ignores_a_change(before, after):
    def ours(length, base=10_000.0, offset=0, dtype=torch.float32):
        x = torch.cat([torch.ones(1, 1, length, 4), torch.zeros(1, 1, length, 4)], -1).to(dtype)
        at = torch.arange(offset, offset + length)
        return Rotary(8, base).rotate(x, x, at, at)[0][0, 0, :, :4]  # (1, 0) turns to (cos, sin)

    def check(cosines):
        cosines(9, **before)
        got = cosines(9, **after)
        base, offset = after.get("base", 10_000.0), after.get("offset", 0)
        expected = [
            [math.cos((offset + p) * base ** (-2 * i / 8)) for i in range(4)] for p in range(9)
        ]
        assert got.dtype == torch.float32
        assert torch.allclose(got, torch.tensor(expected), atol=1e-6)

    tell_apart(check, ours, ByLength())


def test_cos_sin_cache_that_ignores_a_change_of_device():
    """On "meta", which every machine has: a table made on one device, asked for on another."""
    scheme, at = Rotary(8), torch.arange(4)
    assert scheme.table(at)[0].device.type == "cpu"
    assert scheme.table(at.to("meta"))[0].device.type == "meta"
    assert scheme.table(at)[0].device.type == "cpu"
    kept = scheme.table(at)
    with pytest.raises(ValueError, match="cos is on cpu and x on meta"):
        rotate(torch.zeros(1, 1, 4, 8, device="meta"), *kept, layout="half")


def test_positions_in_bfloat16_beyond_256():
    """bfloat16 holds every integer up to 256, then every second one: neighbours coincide."""

    def in_bfloat16(positions, dim):
        angles = positions.bfloat16()[:, None].double() * rotary_frequencies(dim)
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2).float()

    def ours(positions, dim):
        model = Sinusoidal(dim).to(torch.bfloat16)
        return model.embed(torch.zeros(1, len(positions), dim), positions)[0]

    def check(encoding):
        near, far = encoding(torch.tensor([5, 6]), 8), encoding(torch.tensor([256, 257]), 8)
        assert not torch.equal(near[0], near[1])
        assert not torch.equal(far[0], far[1]), "positions 256 and 257 are the same"

    tell_apart(check, ours, in_bfloat16)
    with pytest.raises(ValueError, match="positions must be integers, got torch.bfloat16"):
        rotation_table(rotary_frequencies(8), torch.arange(300).bfloat16())


def test_frequencies_in_a_buffer_that_to_bfloat16_rounds():
    class Buffered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("frequencies", rotary_frequencies(64).float())

        def table(self, positions):
            return rotation_table(self.frequencies, positions)

    def check(make):
        rounded = make().to(torch.bfloat16).float()
        cos = rounded.table(torch.tensor([1000]))[0]
        expected = [math.cos(1000 * f) for f in oracles.frequencies_of(64)]
        assert torch.allclose(cos[0], torch.tensor(expected), atol=1e-6)

    tell_apart(check, lambda: Rotary(64), Buffered)


# Longer contexts ---------------------------------------------------------------------------------


def test_dynamic_ntk_that_never_shrinks_back():
    class Growing:
        def __init__(self):
            self.longest = 2048

        def __call__(self, length):
            self.longest = max(self.longest, length)
            return dynamic_ntk(64, 10_000, 2.0, self.longest, 2048).frequencies

    def check(frequencies):
        before = frequencies(500)
        assert frequencies(8192)[-1] < before[-1] / 4  # stretched 2 * 4 - 1 = 7 times
        assert torch.equal(frequencies(500), before)
        assert torch.allclose(before, torch.tensor(oracles.frequencies_of(64)).double(), rtol=1e-6)

    tell_apart(check, lambda n: dynamic_ntk(64, 10_000, 2.0, n, 2048).frequencies, Growing())


def test_yarn_ramp_inverted():
    """Fast pairs slowed and slow pairs kept: local order blurred, far positions unseen."""
    before = rotary_frequencies(128)

    def inverted(ramp):
        right = yarn(128, 10_000, 8.0, 4096, ramp=ramp).frequencies
        keep = (right / before - 1 / 8) / (1 - 1 / 8)
        return (1 - keep) * before + keep * before / 8

    def check(scaled):
        assert math.isclose(scaled[0], before[0]), "the fastest pair must be kept"
        assert math.isclose(scaled[-1], before[-1] / 8), "the slowest must be slowed by the factor"

    for ramp in ("index", "turns"):
        tell_apart(check, yarn(128, 10_000, 8.0, 4096, ramp=ramp).frequencies, inverted(ramp))
    check(by_parts(before, 8.0, 4096).frequencies)


# Biases ------------------------------------------------------------------------------------------


def test_alibi_slopes_right_for_powers_of_two_only():
    def powers_only(num_heads):
        return 2.0 ** (-8 * torch.arange(1, num_heads + 1, dtype=torch.float64) / num_heads)

    def check(slopes):
        for heads in (1, 2, 8, 16):
            geometric = [2 ** (-8 * h / heads) for h in range(1, heads + 1)]
            assert slopes(heads).tolist() == pytest.approx(geometric)
        # 12 heads: the 8 of the power below, then every other one of 16 (Press et al. 2022)
        twelve = [2.0**-h for h in range(1, 9)] + [2.0**-h for h in (0.5, 1.5, 2.5, 3.5)]
        assert slopes(12).tolist() == pytest.approx(twelve)

    tell_apart(check, alibi_slopes, powers_only)


def test_alibi_added_as_absolute_j_in_bfloat16():
    """slope * j grows with the text until bfloat16 steps are larger than whole distances."""
    n, dtype = 3000, torch.bfloat16
    q_at, k_at = torch.tensor([n - 1]), torch.arange(n)

    def absolute(slope):
        return (slope * k_at).to(dtype)[None]

    def distance(slope):
        q, k = torch.zeros(1, 8, 1, 4, dtype=dtype), torch.zeros(1, 8, n, 4, dtype=dtype)
        return ALiBi(8).score_bias(q, k, q_at, k_at)[0]

    def check(bias):
        near = bias(0.5)[0, -9:].double()  # the nine nearest keys, half a unit apart
        expected = -0.5 * torch.arange(8, -1, -1, dtype=torch.float64)
        assert torch.allclose(near.softmax(0), expected.softmax(0), atol=1e-3)

    tell_apart(check, distance, absolute)


def test_relative_shift_used_above_the_diagonal():
    """There stands what belongs to the next row; a model that sees ahead needs both sides."""
    torch.manual_seed(0)
    scheme, here = TransformerXL(1, 8), torch.arange(5)
    q = drawn(1, 1, 5, 8).float()
    zero = torch.zeros_like(q)

    def shift_only(q):
        past = scheme.vectors(torch.arange(4, -1, -1), q)  # distances n - 1 .. 0
        return relative_shift(q @ past.mT) / math.sqrt(8)

    def both_sides(q):
        return skew(q @ scheme.vectors(torch.arange(4, -5, -1), q).mT, 5) / math.sqrt(8)

    _, expected, _ = oracles.transformer_xl_terms(
        q, zero, scheme.u, scheme.v, scheme.project.weight.detach(), here, here
    )

    def check(position_scores):
        got = position_scores(q).double() * math.sqrt(8)
        assert torch.allclose(got.tril(), expected.tril(), atol=1e-5)
        assert torch.allclose(got, expected, atol=1e-5), "wrong above the diagonal"

    tell_apart(check, both_sides, shift_only)
    tell_apart(check, lambda q: scheme.score_bias(q, zero, here, here), shift_only)
    assert torch.allclose(shift_only(q).tril(), both_sides(q).tril(), atol=1e-6)  # all causal needs


def test_t5_bucket_sign_flipped():
    """T5's own argument is key - query; ours is query - key."""

    def flipped(relative, bidirectional):
        return t5_bucket(-relative, bidirectional=bidirectional)

    def ours(relative, bidirectional):
        return t5_bucket(relative, bidirectional=bidirectional)

    def check(bucket):
        ahead, behind = torch.tensor([-3]), torch.tensor([3])
        assert bucket(behind, bidirectional=False).item() == 3
        assert bucket(ahead, bidirectional=False).item() == 0  # the future is not told apart
        assert bucket(behind, bidirectional=True).item() == 3
        assert bucket(ahead, bidirectional=True).item() == 16 + 3

    tell_apart(check, ours, flipped)


@pytest.mark.parametrize("where", ["after the softmax", "before the division"])
def test_bias_added_in_the_wrong_place(where):
    torch.manual_seed(0)
    scheme, here = T5Bias(2, 8, 20).double(), torch.arange(6)
    scheme.table.weight.data = drawn(8, 2)
    q, k, v = (drawn(1, 2, 6, 16, seed=seed) for seed in range(3))

    def misplaced(q, k, v):
        bias, scores = scheme.score_bias(q, k, here, here), q @ k.mT
        if where == "after the softmax":
            return ((scores / 4).softmax(-1) + bias) @ v
        return ((scores + bias) / 4).softmax(-1) @ v

    def check(attention):
        out = attention(q, k, v)
        for h in range(2):
            for i in range(6):
                exponents = [
                    oracles.dot(q[0, h, i], k[0, h, j]) / math.sqrt(16)
                    + scheme.table.weight[oracles.t5_bucket(i - j, 8, 20, False), h].item()
                    for j in range(6)
                ]
                weights = torch.tensor([math.exp(e) for e in exponents], dtype=torch.float64)
                assert torch.allclose(out[0, h, i], weights / weights.sum() @ v[0, h])

    tell_apart(
        check, lambda q, k, v: attend(q, k, v, scheme, View(here, here, causal=False)), misplaced
    )


# Decoding ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scheme", [Sinusoidal(32), Rotary(8), ALiBi(4)], ids=lambda s: type(s).__name__
)
def test_decoding_where_the_new_tokens_position_restarts_at_0(scheme):
    """Positions taken from the length of what comes in, which is 1 for each new token."""
    torch.manual_seed(0)
    model = Decoder(DecoderConfig(11, 32, 2, 4, 32), scheme).double().eval()
    tokens = torch.randint(11, (1, 8))

    def decode(first_of):
        cache, out = Cache(), []
        for i in range(8):
            first = first_of(i)
            where = torch.arange(first, first + 1)
            out.append(model(tokens[:, i : i + 1], where, cache=cache))
        return torch.cat(out, dim=1)

    def check(first_of):
        with torch.no_grad():
            full = model(tokens, torch.arange(8))
            assert torch.allclose(decode(first_of), full, atol=1e-5)

    tell_apart(check, lambda i: i, lambda i: 0)
    with torch.no_grad():  # and generation, which counts by itself
        grown = model.generate(tokens[:, :3], 5)
        for length in range(3, 8):
            scores = model(grown[:, :length], torch.arange(length))
            assert torch.equal(scores[:, -1].argmax(-1), grown[:, length])


# Tests -------------------------------------------------------------------------------------------


def test_no_oracle_compares_an_implementation_with_itself():
    """The loops that tests trust know nothing of the library."""
    source = Path(oracles.__file__).read_text()
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module)
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    assert imported == {"math", "torch"}
