"""Every scheme in a decoder: one token at a time, in chunks, padded, packed, shifted, halved.

The oracle is the same model in one full pass over each text alone, in float64.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    ClippedBias,
    LearnedAbsolute,
    NoPosition,
    PositionScheme,
    QueryTemperature,
    Rotary,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    yarn,
)
from course_lib.encodings.scheme import on_axes
from course_lib.model import Decoder, DecoderConfig, View, attend, attention, attention_weights
from course_lib.model.decoder import Cache

DIM, HEADS, HEAD_DIM, VOCAB = 32, 4, 8, 13

SCHEMES = {
    "none": lambda layer: NoPosition(),
    "sinusoidal": lambda layer: Sinusoidal(DIM),
    "learned": lambda layer: LearnedAbsolute(256, DIM, std=1.0),
    "clipped": lambda layer: ClippedBias(HEADS, 3),
    "T5": lambda layer: T5Bias(HEADS, 8, 20),
    "T5 both ways": lambda layer: T5Bias(HEADS, 8, 20, bidirectional=True),
    "ALiBi": lambda layer: ALiBi(HEADS),
    "Shaw": lambda layer: Shaw(HEAD_DIM, 3, std=1.0),
    "Shaw, keys only": lambda layer: Shaw(HEAD_DIM, 3, on_values=False, std=1.0),
    "Transformer-XL": lambda layer: TransformerXL(HEADS, HEAD_DIM, 12),
    "rotary, half": lambda layer: Rotary(HEAD_DIM),
    "rotary, interleaved": lambda layer: Rotary(HEAD_DIM, layout="interleaved"),
    "rotary, partial": lambda layer: Rotary(HEAD_DIM, rotary_dim=4),
    "rotary, partial, interleaved": lambda layer: Rotary(
        HEAD_DIM, rotary_dim=4, layout="interleaved"
    ),
    "rotary, proportional": lambda layer: Rotary(HEAD_DIM, rotary_dim=4, partial="proportional"),
    "rotary, three axes": lambda layer: AxialRotary(HEAD_DIM, (2, 1, 1)),
    "rotary, two axes, interleaved": lambda layer: AxialRotary(HEAD_DIM, (2, 2), interleaved=True),
    "rotary, YaRN": lambda layer: Rotary(HEAD_DIM, **yarn(HEAD_DIM, 1e4, 4, 64)._asdict()),
    "temperature": lambda layer: QueryTemperature(3, 0.5, scheme=Rotary(HEAD_DIM)),
}
RELATIVE = [name for name in SCHEMES if name not in ("sinusoidal", "learned", "temperature")]
every_scheme = pytest.mark.parametrize("name", SCHEMES)
every_sharing = pytest.mark.parametrize("kv_heads", [HEADS, 2, 1])


def made(name, kv_heads=HEADS, causal=True, per_layer=True):
    torch.manual_seed(0)
    config = DecoderConfig(VOCAB, DIM, 2, HEADS, 40, causal, kv_heads)
    scheme = SCHEMES[name] if per_layer else SCHEMES[name](0)
    model = Decoder(config, scheme).eval().double()
    for parameter in model.parameters():  # those that start from zero as well
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model.requires_grad_(False)


def texts(batch, length, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (batch, length), generator=generator)


def same(a, b, atol=1e-5):
    """Tables of angles are float32, hence not 1e-12."""
    return torch.allclose(a, b, atol=atol)


# Decoding ----------------------------------------------------------------------------------------


@every_scheme
@every_sharing
@pytest.mark.parametrize("batched", [False, True])
def test_decode_step_equals_full_forward(name, kv_heads, batched):
    model, tokens, where = made(name, kv_heads), texts(2, 9), torch.arange(9)
    where = where.expand(2, -1) if batched else where
    full = model(tokens, where)
    cache = Cache()
    steps = [model(tokens[:, i : i + 1], where[..., i : i + 1], cache=cache) for i in range(9)]
    assert same(torch.cat(steps, dim=1), full)
    kept = on_axes(where, model.axes) if batched and model.axes > 1 else where
    assert torch.equal(cache.positions, kept)
    assert all(k.shape == v.shape == (2, kv_heads, 9, HEAD_DIM) for k, v in cache.layers.values())


@every_scheme
@settings(max_examples=10)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 200))
def test_decoding_in_chunks_from_any_start_equals_full_forward(name, chunks, start):
    length = sum(chunks)
    model, tokens, where = made(name, 2), texts(1, length), torch.arange(length) + start
    cache, parts, done = Cache(), [], 0
    for size in chunks:
        part = slice(done, done + size)
        parts.append(model(tokens[:, part], where[part], cache=cache))
        done += size
    assert same(torch.cat(parts, dim=1), model(tokens, where))


@every_scheme
@every_sharing
def test_rows_of_a_batch_decode_at_positions_of_their_own(name, kv_heads):
    """Two texts of different lengths, padded on the left, continued token by token."""
    model, long, short = made(name, kv_heads), texts(1, 9), texts(1, 6, seed=1)
    padding = torch.zeros(1, 3, dtype=torch.int64)
    tokens = torch.cat([long, torch.cat([padding, short], dim=1)])
    where = torch.tensor([list(range(9)), [0, 0, 0, *range(6)]])
    seen = torch.ones(2, 1, 1, 9, dtype=torch.bool)
    seen[1, ..., :3] = False
    cache = Cache()
    parts = [model(tokens[:, :5], where[:, :5], seen[..., :5], cache)]
    for i in range(5, 9):
        here = slice(i, i + 1)
        parts.append(model(tokens[:, here], where[:, here], seen[..., : i + 1], cache))
    out = torch.cat(parts, dim=1)
    assert same(out[:1], model(long, torch.arange(9)))
    assert same(out[1:, 3:], model(short, torch.arange(6)))
    assert out.isfinite().all()


@every_scheme
def test_generate_takes_the_best_token_of_the_full_forward(name):
    model, tokens = made(name, 2), texts(3, 4)
    got = model.generate(tokens, 6)
    expected = tokens
    for _ in range(6):
        scores = model(expected, torch.arange(expected.shape[1]))[:, -1]
        expected = torch.cat([expected, scores.argmax(-1, keepdim=True)], dim=1)
    assert torch.equal(got, expected)


def test_generate_draws_from_the_shares_of_the_scores():
    model, prompt = made("rotary, half"), texts(1, 4)
    shares = (model(prompt, torch.arange(4))[0, -1] / 2.0).softmax(-1)
    generator = torch.Generator().manual_seed(1)
    drawn = model.generate(prompt.expand(4000, -1), 1, temperature=2.0, generator=generator)[:, -1]
    counts = drawn.bincount(minlength=VOCAB) / 4000
    assert (counts - shares).abs().max() < 4 * math.sqrt(0.25 / 4000)
    again = torch.Generator().manual_seed(1)
    assert torch.equal(drawn, model.generate(prompt.expand(4000, -1), 1, 2.0, again)[:, -1])
    assert torch.equal(model.generate(prompt, 0), prompt)


def test_keys_in_the_cache_are_not_rotated_yet():
    model, tokens, cache = made("rotary, half"), texts(1, 5), Cache()
    model(tokens, torch.arange(5), cache=cache)
    far = Cache()
    model(tokens, torch.arange(5) + 100, cache=far)
    assert torch.equal(cache.layers[0][0], far.layers[0][0])


# What positions must mean ------------------------------------------------------------------------


@every_scheme
@pytest.mark.parametrize("causal", [True, False])
def test_the_fast_path_for_consecutive_positions_equals_the_general_one(name, causal):
    model, tokens, where = made(name, 2, causal), texts(3, 8), torch.arange(8) + 5
    assert same(model(tokens, where), model(tokens, where.expand(3, -1)), atol=1e-12)


@every_scheme
def test_order_of_the_batch_does_not_matter(name):
    model, tokens, order = made(name), texts(4, 7), torch.tensor([2, 0, 3, 1])
    where = torch.stack([torch.arange(7) + 3 * row for row in range(4)])
    out = model(tokens, where)
    assert same(model(tokens[order], where[order]), out[order], atol=1e-12)
    for row in range(4):
        assert same(model(tokens[row : row + 1], where[row]), out[row : row + 1])


@every_scheme
@every_sharing
@pytest.mark.parametrize("causal", [True, False])
def test_left_padding_with_a_mask_changes_nothing(name, kv_heads, causal):
    model, text = made(name, kv_heads, causal), texts(2, 5)
    padded = torch.cat([texts(2, 3, seed=9), text], dim=1)
    mask = (torch.arange(8) >= 3)[None, None, None]
    alone = model(text, torch.arange(5))
    for where in (torch.tensor([0, 0, 0, 0, 1, 2, 3, 4]), torch.tensor([7, 1, 4, 0, 1, 2, 3, 4])):
        out = model(padded, where, mask)
        assert same(out[:, 3:], alone)
        assert out.isfinite().all()


@every_scheme
@pytest.mark.parametrize("causal", [True, False])
def test_packed_documents_do_not_see_each_other(name, causal):
    model, first, second = made(name, 2, causal), texts(1, 4), texts(1, 6, seed=1)
    packed, document = torch.cat([first, second], 1), torch.tensor([0] * 4 + [1] * 6)
    where = torch.cat([torch.arange(4), torch.arange(6)])
    out = model(packed, where, document[:, None] == document)
    assert same(out[:, :4], model(first, torch.arange(4)))
    assert same(out[:, 4:], model(second, torch.arange(6)))


@every_scheme
def test_gaps_in_positions_are_those_of_tokens_left_out(name):
    """A token that nobody may look at is as good as gone, and leaves its position empty."""
    model, tokens = made(name, 2), texts(2, 9)
    kept = torch.tensor([0, 1, 3, 6, 8])
    mask = torch.zeros(9, dtype=torch.bool).index_fill(0, kept, True).expand(9, 9)
    full = model(tokens, torch.arange(9), mask)[:, kept]
    assert same(model(tokens[:, kept], kept), full)


@every_scheme
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("batched", [False, True])
def test_positions_may_be_integers_of_any_width(name, dtype, batched):
    model, tokens = made(name, 2), texts(2, 4)
    where = torch.tensor([[0, 1, 2, 3], [120, 3, 127, 90]] if batched else [0, 1, 2, 3])
    assert same(model(tokens, where.to(dtype)), model(tokens, where), atol=1e-12)


@pytest.mark.parametrize("name", RELATIVE)
def test_a_shift_of_all_positions_changes_nothing_for_relative_schemes(name):
    model, tokens = made(name, 2), texts(2, 8)
    here = model(tokens, torch.arange(8))
    assert same(model(tokens, torch.arange(8) + 100_000), here, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "none"])
def test_every_scheme_sees_order_and_distance(name):
    model, tokens = made(name, causal=False), texts(1, 8)
    order = torch.tensor([5, 0, 3, 7, 1, 6, 4, 2])
    here = model(tokens, torch.arange(8))
    assert not same(model(tokens[:, order], torch.arange(8)), here[:, order], atol=1e-2)
    assert not same(model(tokens, 2 * torch.arange(8)), here, atol=1e-3)
    # and with its position, a token may stand anywhere in the tensor
    assert same(model(tokens[:, order], order), here[:, order])


@every_scheme
def test_one_scheme_may_serve_all_layers(name):
    model, tokens, cache = made(name, per_layer=False), texts(1, 6), Cache()
    assert model.blocks[0].attention.scheme is model.blocks[1].attention.scheme
    full = model(tokens, torch.arange(6))
    parts = [model(tokens[:, i : i + 1], torch.tensor([i]), cache=cache) for i in range(6)]
    assert same(torch.cat(parts, dim=1), full)


# dtypes and devices ------------------------------------------------------------------------------

TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 0.2, torch.float16: 0.03}


@every_scheme
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_a_model_in_any_dtype_gives_the_scores_of_float64(name, dtype):
    model, tokens, where = made(name, 2), texts(2, 8), torch.arange(8) + 40
    exact = model(tokens, where)
    rounded = model.to(dtype).double()  # its weights are rounded: compare with those
    reference = rounded(tokens, where)
    got = rounded.to(dtype)(tokens, where)
    assert got.dtype == dtype
    size = exact.std()
    assert (got.double() - reference).abs().max() < TOLERANCES[dtype] * size
    assert (reference - exact).abs().max() < 4 * TOLERANCES[dtype] * size


@every_scheme
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_decode_step_equals_full_forward_in_half_precision(name, dtype):
    model, tokens, where, cache = made(name, 2).to(dtype), texts(2, 6), torch.arange(6), Cache()
    full = model(tokens, where)
    parts = [model(tokens[:, i : i + 1], where[i : i + 1], cache=cache) for i in range(6)]
    error = (torch.cat(parts, dim=1).double() - full.double()).abs().max()
    assert error < TOLERANCES[dtype] * full.double().std()


@pytest.mark.parametrize("name", [name for name in SCHEMES if name.startswith("rotary")])
@pytest.mark.parametrize(
    "change", [lambda m: m.to(torch.bfloat16), lambda m: m.half(), lambda m: m.float()]
)
def test_frequencies_stay_exact_in_a_model_of_any_dtype(name, change):
    model = made(name)
    before = [block.attention.scheme.frequencies.clone() for block in model.blocks]
    for block, exact in zip(change(model).blocks, before, strict=True):
        assert block.attention.scheme.frequencies.dtype == torch.float64
        assert torch.equal(block.attention.scheme.frequencies, exact)


@every_scheme
def test_autocast_runs_and_stays_close(name):
    model, tokens, where = made(name, 2).float(), texts(2, 8), torch.arange(8)
    exact, cache = model(tokens, where), Cache()
    with torch.autocast("cpu", torch.bfloat16):
        got = model(tokens, where)
        parts = [model(tokens[:, i : i + 1], where[i : i + 1], cache=cache) for i in range(8)]
    for out in (got, torch.cat(parts, dim=1)):
        assert (out - exact).abs().max() < 0.2 * exact.std()


@every_scheme
def test_gradients_reach_every_parameter_that_matters(name):
    model, tokens = made(name, 2).requires_grad_(True), texts(2, 8)
    model(tokens, torch.arange(8)).square().mean().backward()
    without = {
        key
        for key, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    }
    # a learned table is added once, before the first layer
    assert without == ({"blocks.1.attention.scheme.table"} if name == "learned" else set())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["learned", "T5", "Shaw", "rotary, half"])
def test_a_model_compiles_without_graph_breaks(name):
    model, tokens, where = made(name, 2), texts(2, 6), torch.arange(6)
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert same(compiled(tokens, where), model(tokens, where))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@every_scheme
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_model_on_a_gpu_gives_the_scores_of_the_cpu(name, dtype):
    model, tokens, where = made(name, 2), texts(2, 8), torch.arange(8)
    exact, cache = model(tokens, where), Cache()
    model, tokens, where = model.to("cuda", dtype), tokens.cuda(), where.cuda()
    parts = [model(tokens[:, i : i + 1], where[i : i + 1], cache=cache) for i in range(8)]
    for out in (model(tokens, where), torch.cat(parts, dim=1)):
        assert (out.double().cpu() - exact).abs().max() < 5 * TOLERANCES[dtype] * exact.std()
    hidden = torch.zeros(8, 8, dtype=torch.bool, device="cuda")  # nobody may look at anybody
    assert model(tokens, where, hidden).isfinite().all()


# attend itself -----------------------------------------------------------------------------------


@every_scheme
@every_sharing
@pytest.mark.parametrize("causal", [True, False])
def test_attend_is_the_softmax_written_out(name, kv_heads, causal):
    """Bias before the softmax and after the division, values read with the same weights."""
    torch.manual_seed(1)
    scheme = SCHEMES[name](0).double()
    for parameter in scheme.parameters():
        parameter.data = torch.randn_like(parameter)
    q = torch.randn(2, HEADS, 5, HEAD_DIM, dtype=torch.float64)
    k, v = torch.randn(2, 2, kv_heads, 7, HEAD_DIM, dtype=torch.float64)
    q_at, k_at = torch.arange(2, 7), torch.arange(7)
    got = attend(q, k, v, scheme, View(q_at, k_at, causal))
    wide_k, wide_v = (t.repeat_interleave(HEADS // kv_heads, dim=1) for t in (k, v))
    bias = scheme.score_bias(q, wide_k, q_at, k_at)
    turned_q, turned_k = scheme.rotate(q, wide_k, q_at, k_at)
    scores = turned_q @ turned_k.mT / math.sqrt(HEAD_DIM) + (0 if bias is None else bias)
    if causal:
        scores = scores.masked_fill(k_at > q_at[:, None], -torch.inf)
    weights = scores.softmax(-1)
    read = scheme.read(weights, q_at, k_at)
    expected = weights @ wide_v + (0 if read is None else read)
    assert torch.allclose(got, expected, atol=1e-12)


@every_scheme
@pytest.mark.parametrize("dtype", [torch.float64, *TOLERANCES], ids=str)
def test_a_query_that_may_see_nothing_reads_zeros(name, dtype):
    scheme = SCHEMES[name](0).to(dtype)
    x, where = torch.ones(1, HEADS, 3, HEAD_DIM, dtype=dtype), torch.arange(3)
    mask = torch.tensor([[True] * 3, [False] * 3, [True] * 3])
    x.requires_grad_()
    out = attend(x, x, x, scheme, View(where, where, mask=mask))
    assert (out[:, :, 1] == 0).all() and out.isfinite().all()
    out.float().sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("name", RELATIVE)
def test_as_many_keys_as_queries_are_not_the_same_tokens_for_that(name):
    """The causal fast path is for one and the same run of positions."""
    scheme = SCHEMES[name](0).double()
    q, k, v = torch.randn(3, 2, HEADS, 4, HEAD_DIM, dtype=torch.float64)
    for first in (0, 2, 9):
        q_at, k_at = torch.arange(4) + 5, torch.arange(4) + first
        mask = k_at <= q_at[:, None]
        expected = attend(q, k, v, scheme, View(q_at, k_at, causal=False, mask=mask))
        assert torch.allclose(attend(q, k, v, scheme, View(q_at, k_at)), expected, atol=1e-12)


CONTENT = ["Shaw", "Shaw, keys only", "Transformer-XL"]


def by_loops(q, k, v, scheme, q_positions, k_positions, causal):
    """Attention with the vectors of Shaw or Transformer-XL, one pair at a time."""
    batch, heads, _, head_dim = q.shape
    out = torch.zeros_like(q)

    def shaw(vectors, distance):
        limit = len(vectors) // 2
        return vectors[min(max(distance, -limit), limit) + limit]

    def sinusoid(distance):
        dim = scheme.project.in_features
        angles = [distance * 1e4 ** (-2 * pair / dim) for pair in range(dim // 2)]
        return torch.tensor([f(a) for a in angles for f in (math.sin, math.cos)]).double()

    for b in range(batch):
        for h in range(heads):
            for i, at in enumerate(
                (q_positions if q_positions.ndim == 1 else q_positions[b]).tolist()
            ):
                scores, values = [], []
                for j, where in enumerate(
                    (k_positions if k_positions.ndim == 1 else k_positions[b]).tolist()
                ):
                    if causal and where > at:
                        continue
                    key, value = k[b, h * k.shape[1] // heads, j], v[b, h * k.shape[1] // heads, j]
                    score = q[b, h, i] @ key
                    if isinstance(scheme, Shaw):
                        score = score + q[b, h, i] @ shaw(scheme.key_vectors, at - where)
                        if scheme.on_values:
                            value = value + shaw(scheme.value_vectors, at - where)
                    else:
                        weight = scheme.project.weight.unflatten(0, (heads, -1))[h]
                        score = score + scheme.u[h, 0] @ key
                        score = score + (q[b, h, i] + scheme.v[h, 0]) @ (
                            weight @ sinusoid(at - where)
                        )
                    scores.append(score / math.sqrt(head_dim))
                    values.append(value)
                if scores:
                    out[b, h, i] = torch.stack(scores).softmax(0) @ torch.stack(values)
    return out


BLOCKED = {
    "the same tokens": (torch.arange(13), torch.arange(13)),
    "after a cache": (torch.arange(4, 13), torch.arange(13)),
    "before all keys": (torch.arange(5), torch.arange(3, 9)),
    "after all keys": (torch.arange(50, 57), torch.arange(3, 9)),
    "gaps": (torch.tensor([0, 3, 4, 9, 8, 2, 1]), torch.tensor([5, 1, 0, 9, 2])),
    "batched": (torch.arange(14).view(2, 7), torch.arange(10).view(2, 5)),
}


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("kv_heads", [HEADS, 2])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("q_at", "k_at"), BLOCKED.values(), ids=BLOCKED)
def test_some_queries_at_a_time_read_the_same(name, kv_heads, causal, q_at, k_at, monkeypatch):
    torch.manual_seed(1)
    scheme = SCHEMES[name](0).double().requires_grad_(False)
    for parameter in scheme.parameters():
        parameter.data = torch.randn_like(parameter)
    q = torch.randn(2, HEADS, q_at.shape[-1], HEAD_DIM, dtype=torch.float64)
    k, v = torch.randn(2, 2, kv_heads, k_at.shape[-1], HEAD_DIM, dtype=torch.float64)
    expected = by_loops(q, k, v, scheme, q_at, k_at, causal)
    whole = attend(q, k, v, scheme, View(q_at, k_at, causal))
    assert torch.allclose(whole, expected, atol=1e-5)  # tables of angles are float32
    for size in (1, 3, 4):
        monkeypatch.setattr(attention, "SCORES_AT_ONCE", size * 2 * HEADS * k_at.shape[-1])
        with torch.no_grad():
            got = attend(q, k, v, scheme, View(q_at, k_at, causal))
        assert torch.allclose(got, whole, atol=1e-5 if name == "Transformer-XL" else 1e-12)


@pytest.mark.parametrize("name", CONTENT)
def test_memory_for_scores_is_bounded_when_no_gradient_needs_them(name, monkeypatch):
    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            for t in out if isinstance(out, tuple | list) else [out]:
                if isinstance(t, torch.Tensor):
                    self.size = max(self.size, t.numel())
            return out

    n = 256
    monkeypatch.setattr(attention, "SCORES_AT_ONCE", 16 * HEADS * n)
    q, where = torch.randn(1, HEADS, n, HEAD_DIM), torch.arange(n)
    with torch.no_grad(), Largest() as largest:
        attend(q, q, q, SCHEMES[name](0), View(where, where))
    assert largest.size <= 2 * 16 * HEADS * n < HEADS * n * n
    with Largest() as largest:
        attend(q, q, q, SCHEMES[name](0), View(where, where))
    assert largest.size >= HEADS * n * n  # and gradients are not computed twice for less memory


def test_a_bias_may_come_in_another_dtype_than_the_queries():
    class Far(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            return -(q_positions[:, None] - k_positions).abs().double()

    x, where = torch.randn(1, 2, 5, 4), torch.arange(5)
    out = attend(x, x, x, Far(), View(where, where))
    exact = attend(*[x.double()] * 3, Far(), View(where, where))
    assert out.dtype == torch.float32 and torch.allclose(out.double(), exact, atol=1e-5)


@pytest.mark.parametrize("length", [2, 5, 9, 40])
def test_a_stretched_table_reaches_further_with_its_ends_in_place(length):
    table = LearnedAbsolute(5, 3, std=1.0)
    rows = table.stretched(length).table.detach().double()
    at = np.linspace(0, 4, length)
    for column in range(3):
        known = table.table[:, column].detach().double().numpy()
        expected = torch.from_numpy(np.interp(at, np.arange(5), known))
        assert torch.allclose(rows[:, column], expected, atol=1e-6)


def test_attention_weights_add_up_to_one_where_something_may_be_seen():
    q = torch.randn(1, 2, 3, 4)
    allowed = torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    weights = attention_weights(q, q, allowed=allowed)
    assert torch.allclose(weights.sum(-1), torch.tensor([1.0, 0.0, 1.0]).expand(1, 2, 3))
    assert (weights[..., ~allowed] == 0).all()
