"""A sink is one more logit in the softmax, without a value: against loops, and against gpt-oss."""

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    NoPosition,
    PositionScheme,
    Rotary,
    Shaw,
    T5Bias,
    TransformerXL,
)
from course_lib.model import Decoder, DecoderConfig, View, attend, attention, attention_weights
from course_lib.model.decoder import Cache
from course_lib.model.llama import Llama, LlamaConfig


class Distance(PositionScheme):
    """Opens the bias door: a penalty of a tenth for each step between query and key."""

    def score_bias(self, q, k, q_positions, k_positions):
        gap = (q_positions[..., :, None] - k_positions[..., None, :]).abs()
        return -0.1 * gap.unsqueeze(-3).to(q.dtype)


class Reader(Distance):
    """Opens the read door as well: adds the mean position that was read."""

    def read(self, weights, q_positions, k_positions):
        return weights @ k_positions[..., None, :, None].to(weights.dtype).expand(
            *weights.shape[:2], -1, 4
        )


def by_loops(q, k, v, scheme, q_positions, k_positions, sinks, causal, mask=None, window=None):
    """Attention one pair at a time; the sink stands in the sum below the line, and nowhere else."""
    batch, heads, _, head_dim = q.shape
    out = torch.zeros_like(q)
    share = heads // k.shape[1]
    for b in range(batch):
        q_row, k_row = (p[b] if p.ndim == 2 else p for p in (q_positions, k_positions))
        for h in range(heads):
            for i, at in enumerate(q_row.tolist()):
                total, read = math.exp(sinks[h]), torch.zeros(head_dim, dtype=q.dtype)
                for j, where in enumerate(k_row.tolist()):
                    if (causal and where > at) or (mask is not None and not mask[b, 0, i, j]):
                        continue
                    if window is not None and abs(at - where) >= window:
                        continue
                    score = float(q[b, h, i] @ k[b, h // share, j]) / math.sqrt(head_dim)
                    if isinstance(scheme, Distance):
                        score -= 0.1 * abs(at - where)
                    total += math.exp(score)
                    shift = where if isinstance(scheme, Reader) else 0
                    read = read + math.exp(score) * (v[b, h // share, j] + shift)
                out[b, h, i] = read / total
    return out


def inputs(seed, heads, kv_heads, queries=3, keys=5, head_dim=4, batch=2):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)  # noqa: E731
    q, k = draw(batch, heads, queries, head_dim), draw(batch, kv_heads, keys, head_dim)
    return q, k, draw(batch, kv_heads, keys, head_dim), 2 * draw(heads), generator


# The formula -------------------------------------------------------------------------------------


@given(
    st.integers(0, 10**6),
    st.sampled_from([NoPosition(), Distance(), Reader()]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1)]),
    st.sampled_from([None, 1, 3]),
)
def test_a_sink_is_one_more_logit_without_a_value(seed, scheme, causal, batched, heads, window):
    q, k, v, sinks, generator = inputs(seed, *heads)
    k_at = torch.stack([torch.randperm(9, generator=generator)[:5] for _ in range(2)])
    q_at = torch.randint(9, (2, 3), generator=generator)
    if not batched:
        k_at, q_at = k_at[0], q_at[0]
    mask = torch.rand(2, 1, 3, 5, generator=generator) < 0.7
    for allowed in (None, mask):
        got = attend(q, k, v, scheme, View(q_at, k_at, causal, allowed, window=window), sinks)
        expected = by_loops(q, k, v, scheme, q_at, k_at, sinks, causal, allowed, window)
        assert torch.allclose(got, expected, atol=1e-10)


@pytest.mark.parametrize("kv_heads", [8, 2, 1])
@pytest.mark.parametrize("window", [None, 1, 4, 30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_equal_to_the_attention_of_gpt_oss(kv_heads, window, dtype):
    from transformers.masking_utils import (
        causal_mask_function,
        sliding_window_causal_mask_function,
    )
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    q, k, v, sinks, _ = inputs(0, 8, kv_heads, 19, 19, 16)
    q, k, v, sinks = (t.to(dtype) for t in (q, k, v, sinks))
    where = torch.arange(19)
    visible = (
        causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    )
    seen = torch.tensor([[bool(visible(0, 0, i, j)) for j in where] for i in where])
    hidden = torch.zeros(19, 19, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)
    layer = SimpleNamespace(sinks=sinks, num_key_value_groups=8 // kv_heads, training=False)
    theirs, weights = eager_attention_forward(layer, q, k, v, hidden[None, None], 16**-0.5)
    ours = attend(q, k, v, NoPosition(), View(where, where, window=window), sinks)
    tolerance = 1e-6 if dtype == torch.float32 else 0.03
    assert torch.allclose(ours.transpose(1, 2), theirs, atol=tolerance)
    k = k.repeat_interleave(8 // kv_heads, dim=1)
    ours = attention_weights(q, k, allowed=seen, sinks=sinks)
    assert torch.allclose(ours, weights, atol=tolerance)
    assert dtype != torch.float32 or (ours.sum(-1) < 1).all()  # what is missing is the sink's


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scheme", [NoPosition(), ALiBi(4), Shaw(4, 2)], ids=lambda s: str(s)[:4])
def test_a_query_that_may_see_nothing_reads_zeros(scheme, dtype):
    q, k, v, sinks, _ = (t if hasattr(t, "seed") else t.to(dtype) for t in inputs(0, 4, 2))
    sinks.requires_grad_()
    out = attend(
        q, k, v, scheme.to(dtype), View(torch.tensor([0, 5, 1]), torch.arange(1, 6)), sinks
    )
    assert (out[:, :, 0] == 0).all() and (out[:, :, 1] != 0).all() and out.isfinite().all()
    out.float().sum().backward()
    assert sinks.grad.isfinite().all() and sinks.grad.all()


def test_a_sink_far_below_all_scores_changes_nothing_and_one_far_above_leaves_nothing():
    q, k, v, _, _ = inputs(0, 4, 2)
    view = View(torch.arange(3) + 2, torch.arange(5))
    plain = attend(q, k, v, NoPosition(), view)
    low, high = (torch.full((4,), size, dtype=torch.float64) for size in (-1e3, 1e3))
    assert torch.allclose(attend(q, k, v, NoPosition(), view, low), plain, atol=1e-12)
    assert attend(q, k, v, NoPosition(), view, high).abs().max() < 1e-12


# Some queries at a time --------------------------------------------------------------------------

BLOCKED = {
    "the same tokens": (torch.arange(13), torch.arange(13)),
    "after a cache": (torch.arange(4, 13), torch.arange(13)),
    "before all keys": (torch.arange(5), torch.arange(3, 9)),
    "gaps": (torch.tensor([0, 3, 4, 9, 8, 2, 1]), torch.tensor([5, 1, 0, 9, 2])),
    "batched": (torch.arange(14).view(2, 7), torch.arange(10).view(2, 5)),
}
SCHEMES = {
    "none": NoPosition(), "rope": Rotary(8), "alibi": ALiBi(4), "shaw": Shaw(8, 3, std=1.0),
    "transformer-xl": TransformerXL(4, 8), "t5": T5Bias(4, 8, 20),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize(("q_at", "k_at"), BLOCKED.values(), ids=BLOCKED)
def test_some_queries_at_a_time_read_the_same(name, causal, window, q_at, k_at, monkeypatch):
    scheme = SCHEMES[name].double()
    q, k, v, sinks, _ = inputs(0, 4, 2, q_at.shape[-1], k_at.shape[-1], 8)
    given = q, k, v, scheme, View(q_at, k_at, causal, window=window), sinks
    whole = attend(*given)
    assert whole.requires_grad == any(p.requires_grad for p in scheme.parameters())
    for size in (1, 3, 4):
        monkeypatch.setattr(attention, "SCORES_AT_ONCE", size * 2 * 4 * k_at.shape[-1])
        with torch.no_grad():
            got = attend(*given)
            assert torch.allclose(got, whole, atol=1e-5)  # tables of angles are float32


def test_memory_for_scores_is_bounded_when_no_gradient_needs_them(monkeypatch):
    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            for t in out if isinstance(out, tuple | list) else [out]:
                if isinstance(t, torch.Tensor):
                    self.size = max(self.size, t.numel())
            return out

    monkeypatch.setattr(attention, "SCORES_AT_ONCE", 16 * 4 * 256)
    q, where = torch.randn(1, 4, 256, 8), torch.arange(256)
    with torch.no_grad(), Largest() as largest:
        attend(q, q, q, NoPosition(), View(where, where), torch.zeros(4))
    assert largest.size <= 2 * 16 * 4 * 257 < 4 * 256 * 256


# In a model --------------------------------------------------------------------------------------

CONFIG = DecoderConfig(13, 32, 2, 4, 40, num_kv_heads=2)


def made(scheme=None, sinks=True, **more):
    torch.manual_seed(0)
    model = Decoder(CONFIG, scheme or Rotary(8), sinks=sinks, **more).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("sinks"):
            parameter.data = torch.randn(4)
    return model.requires_grad_(False)


def texts(batch, length):
    return torch.randint(13, (batch, length), generator=torch.Generator().manual_seed(1))


def test_a_model_has_no_sinks_unless_asked_and_else_a_zero_for_each_head_of_each_layer():
    torch.manual_seed(0)
    with_sinks = Decoder(CONFIG, Rotary(8), sinks=True)
    torch.manual_seed(0)
    plain = Decoder(CONFIG, Rotary(8)).state_dict()
    more = with_sinks.state_dict()
    assert {*more} - {*plain} == {f"blocks.{layer}.attention.sinks" for layer in range(2)}
    assert all(torch.equal(more.pop(f"blocks.{i}.attention.sinks"), torch.zeros(4)) for i in (0, 1))
    assert all(torch.equal(more[key], plain[key]) for key in plain)  # and nothing else was drawn


def test_a_zero_is_a_key_of_score_zero_whose_value_is_zero():
    """Not the same as no sink: a model that is given sinks begins with smaller readings."""
    torch.manual_seed(0)
    model = Decoder(CONFIG, NoPosition(), sinks=True).requires_grad_(False)
    q, k, v, _, _ = inputs(0, 4, 2)
    view = View(torch.arange(3) + 2, torch.arange(5))
    got = attend(q, k, v, NoPosition(), view, model.blocks[0].attention.sinks)
    k, v = (functional.pad(t, (0, 0, 1, 0)) for t in (k, v))
    longer = view._replace(k_positions=torch.cat([torch.tensor([0]), view.k_positions]))
    assert torch.allclose(got, attend(q, k, v, NoPosition(), longer), atol=1e-12)


@pytest.mark.parametrize(
    "scheme", [Rotary(8), ALiBi(4), AxialRotary(8, (2, 2))], ids=lambda s: str(s)[:5]
)
@pytest.mark.parametrize("windows", [None, 4])
def test_decode_step_equals_full_forward(scheme, windows):
    model, tokens, cache = made(scheme, windows=windows), texts(2, 9), Cache()
    whole = model(tokens, range(9))
    steps = [model(tokens[:, i : i + 1], range(i, i + 1), cache=cache) for i in range(9)]
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)
    assert not torch.allclose(
        made(scheme, False, windows=windows)(tokens, range(9)), whole, atol=1e-3
    )


def test_gradients_reach_every_sink():
    model = made().requires_grad_(True)
    functional.cross_entropy(
        model(texts(2, 9), range(9)).flatten(0, 1), texts(2, 9).flatten()
    ).backward()
    assert all(block.attention.sinks.grad.all() for block in model.blocks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("positions", [range(9), torch.arange(9)], ids=["range", "tensor"])
@pytest.mark.parametrize("windows", [None, 4])
def test_a_model_compiles_without_graph_breaks(positions, windows):
    model, tokens = made(windows=windows), texts(2, 9)
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.allclose(compiled(tokens, positions), model(tokens, positions), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_model_in_half_precision_and_under_autocast_stays_close(dtype):
    model, tokens = made(), texts(2, 9)
    exact = model(tokens, range(9))
    with torch.autocast("cpu", dtype):
        cast = model(tokens, range(9))
    for got in (cast, model.to(dtype)(tokens, range(9))):
        assert (got.float() - exact).abs().max() < 0.1 * exact.std()


def test_llama_takes_sinks_as_well():
    config = LlamaConfig(13, 32, 2, 4, 40)
    model = Llama(config, Rotary(8), sinks=True)
    assert [block.attention.sinks.shape for block in model.blocks] == [(4,)] * 2
    assert Llama(config, Rotary(8)).num_parameters == model.num_parameters - 8


# Errors ------------------------------------------------------------------------------------------

REFUSED = {
    "a logit for each key head": (torch.zeros(2), r"sinks must have shape \(4,\), a logit for each "
                                  r"query head, got \(2,\)"),
    "one for all": (torch.tensor(0.5), r"sinks must have shape \(4,\).*got \(\)"),
    "a column": (torch.zeros(4, 1), r"sinks must have shape \(4,\).*got \(4, 1\)"),
    "on another device": (torch.zeros(4, device="meta"), "sinks is on meta and q on cpu: move one"),
}  # fmt: skip


@pytest.mark.parametrize(("sinks", "says"), REFUSED.values(), ids=REFUSED)
def test_sinks_that_do_not_fit_are_named(sinks, says):
    q, k, v, _, _ = inputs(0, 4, 2)
    with pytest.raises(ValueError, match=says):
        attend(q, k, v, NoPosition(), View(torch.arange(3), torch.arange(5)), sinks)
