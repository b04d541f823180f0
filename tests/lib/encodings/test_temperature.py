"""The temperature by position: against loops, and against Llama 4 and Ministral 3.

transformers 5.23: their attention of one layer, with random weights, and the factors themselves.
"""

import math

import pytest
import torch

from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    LearnedAbsolute,
    NoPosition,
    QueryTemperature,
    Rotary,
    Shaw,
    from_rope_parameters,
)
from course_lib.model import Decoder, DecoderConfig, View, attend
from course_lib.model.decoder import Cache

POSITIONS = {
    "counted": torch.arange(5),
    "gaps": torch.tensor([0, 9, 3, 70_000, 199]),
    "batched": torch.tensor([[0, 1, 2, 3, 4], [7, 6, 100, 8, 20]]),
    "narrow": torch.tensor([0, 250, 255, 9, 10], dtype=torch.uint8),
}
every_positions = pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)


def drawn(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


# The formula -------------------------------------------------------------------------------------


@every_positions
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("length", "scale", "first"), [(8, 0.1, 0), (5, 0.3, 1), (1, 1.0, 0)])
def test_each_query_is_multiplied_by_the_factor_of_its_position(
    positions, dtype, length, scale, first
):
    q, k = drawn(2, 3, 5, 4, dtype=dtype), drawn(2, 1, 5, 4, seed=1, dtype=dtype)
    got, keys = QueryTemperature(length, scale, first).rotate(q, k, positions, positions)
    assert torch.equal(keys, k) and got.dtype == dtype
    expected = torch.zeros(q.shape, dtype=torch.float64)
    for batch in range(2):
        row = (positions[batch] if positions.ndim == 2 else positions).tolist()
        for i, p in enumerate(row):
            factor = 1 + scale * math.log(1 + math.floor((p + first) / length))
            expected[batch, :, i] = factor * q[batch, :, i].double()
    rounding = torch.finfo(dtype).eps if dtype != torch.float64 else 2e-7  # factors are float32
    assert torch.allclose(got.double(), expected, rtol=2 * rounding, atol=0)


def test_the_factor_takes_its_first_step_where_length_says():
    counts_from_0, counts_from_1 = QueryTemperature(8), QueryTemperature(8, first=1)
    at = torch.tensor([0, 6, 7, 8, 15, 16])
    step = 1 + 0.1 * math.log(2)
    expected = torch.tensor([1, 1, 1, step, step, 1 + 0.1 * math.log(3)])
    assert torch.allclose(counts_from_0.factor(at), expected)
    assert torch.equal(counts_from_1.factor(at), counts_from_0.factor(at + 1))
    assert counts_from_1.factor(torch.tensor([7])).item() == pytest.approx(step)


@every_positions
@pytest.mark.parametrize(
    "rotary", [Rotary(8), Rotary(8, rotary_dim=4, attention_factor=1.3)], ids=["whole", "part"]
)
def test_before_a_rotation_or_after_it_is_the_same(positions, rotary):
    q = drawn(2, 3, 5, 8)
    alone, around = QueryTemperature(4, 0.5), QueryTemperature(4, 0.5, scheme=rotary)
    first, _ = alone.rotate(q, q, positions, positions)
    before, k = rotary.rotate(first, q, positions, positions)
    after, keys = around.rotate(q, q, positions, positions)
    assert torch.allclose(before, after, atol=1e-6) and torch.equal(k, keys)


def test_a_score_grows_with_the_position_of_its_query_alone():
    scheme, x = QueryTemperature(2, 0.5), drawn(1, 1, 1, 4).expand(1, 1, 9, 4)
    q, k = scheme.rotate(x, x, torch.arange(9), torch.arange(9))
    scores = (q @ k.mT)[0, 0]
    assert torch.allclose(scores, scores[:, :1].expand(9, 9))
    assert (scores[2::2, 0] > scores[:-2:2, 0]).all()


def test_around_several_axes_the_position_on_the_first_counts():
    axial = AxialRotary(8, (2, 2))
    scheme, x = QueryTemperature(3, 0.4, scheme=axial), drawn(2, 2, 6, 8)
    assert scheme.axes == 2
    places = torch.cartesian_prod(torch.arange(2) * 5, torch.arange(3) * 40)
    turned, _ = axial.rotate(x, x, places, places)
    factor = 1 + 0.4 * math.log(1 + 5 // 3)
    expected = turned * torch.tensor([1, 1, 1, factor, factor, factor])[:, None]
    for given in (places, places.expand(2, -1, -1)):
        assert torch.allclose(scheme.rotate(x, x, given, given)[0], expected, atol=1e-6)
    tempered = x * torch.tensor([1, 1, 1, factor, factor, factor])[:, None]
    expected = attend(tempered, x, x, axial, View(places, places))
    assert torch.allclose(attend(x, x, x, scheme, View(places, places)), expected, atol=1e-5)


# In a model --------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [None, Rotary(8)], ids=["alone", "around a rotation"])
def test_layers_with_it_and_without_it_decode_token_by_token(inside):
    torch.manual_seed(0)
    config = DecoderConfig(13, 32, 2, 4, 40, num_kv_heads=2)
    tempered = QueryTemperature(3, 0.7, scheme=inside)
    model = Decoder(config, lambda layer: tempered if layer else Rotary(8)).requires_grad_(False)
    tokens, cache = torch.randint(13, (2, 9)), Cache()
    whole = model(tokens, range(9))
    steps = [model(tokens[:, i : i + 1], range(i, i + 1), cache=cache) for i in range(9)]
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)
    plain = Decoder(config, lambda layer: (inside or NoPosition()) if layer else Rotary(8))
    plain.load_state_dict(model.state_dict())
    change = (plain(tokens, range(9)) - whole).abs().amax(dim=(0, 2))
    assert change[:3].max() < 1e-5 < 1e-3 < change[4:].min()


def test_frequencies_inside_stay_exact_in_a_model_of_any_dtype():
    scheme = QueryTemperature(8, scheme=Rotary(8)).bfloat16()
    assert torch.equal(scheme.scheme.frequencies, Rotary(8).frequencies)
    assert scheme.to("meta").scheme.frequencies.device.type == "meta"


# Released code -----------------------------------------------------------------------------------

FAR = torch.tensor([0, 1, 8190, 8191, 8192, 16_383, 16_384, 100_000, 131_071, 10_000_000])


def test_factors_are_those_of_ministral_3():
    from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

    for length in (16_384, 8192, 7):
        theirs = get_llama_4_attn_scale(FAR[None], 0.1, length).flatten()
        assert torch.allclose(QueryTemperature(length).factor(FAR), theirs, rtol=2e-7, atol=0)


def test_equal_to_a_layer_of_llama_4_without_positions():
    from transformers.models.llama4 import modeling_llama4 as module

    config = module.Llama4TextConfig(
        hidden_size=32,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        num_hidden_layers=4,
        floor_scale=5,
        attn_scale=0.2,
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    layer = module.Llama4TextAttention(config, 3).requires_grad_(False)
    assert not layer.use_rope and layer.attn_temperature_tuning
    x, where = drawn(2, 23, 32), torch.arange(23)
    hidden = torch.full((23, 23), -torch.inf).triu(1)[None, None]
    theirs, _ = layer(x, (None, None), hidden)
    q, k, v = (
        project(x).unflatten(-1, (-1, 8)).transpose(1, 2)
        for project in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    read = attend(q, k, v, QueryTemperature(5, 0.2, first=1), View(where, where))
    assert torch.allclose(layer.o_proj(read.transpose(1, 2).flatten(-2)), theirs, atol=1e-6)
    other = attend(q, k, v, QueryTemperature(5, 0.2), View(where, where))
    assert not torch.allclose(layer.o_proj(other.transpose(1, 2).flatten(-2)), theirs, atol=1e-3)


def test_equal_to_a_layer_of_ministral_3():
    from transformers.models.ministral3 import modeling_ministral3 as module

    parameters = {
        "rope_type": "yarn", "rope_theta": 1e4, "factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "original_max_position_embeddings": 7, "mscale": 1.0, "mscale_all_dim": 1.0,
    }  # fmt: skip
    config = module.Ministral3Config(
        hidden_size=64,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=112,
        attn_implementation="eager",
        rope_parameters=parameters | {"llama_4_scaling_beta": 0.3},
    )
    torch.manual_seed(0)
    layer = module.Ministral3Attention(config, 0).requires_grad_(False)
    x, where = drawn(2, 30, 64), torch.stack([torch.arange(30), 3 * torch.arange(30)])
    hidden = torch.full((30, 30), -torch.inf).triu(1)[None, None]
    table = module.Ministral3RotaryEmbedding(config)(x, where)
    theirs, _ = layer(x, table, hidden, where)
    q, k, v = (
        project(x).unflatten(-1, (-1, 16)).transpose(1, 2)
        for project in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    rotary = Rotary(16, **from_rope_parameters(parameters, 16)._asdict())
    read = attend(q, k, v, QueryTemperature(7, 0.3, scheme=rotary), View(where, where))
    assert torch.allclose(layer.o_proj(read.transpose(1, 2).flatten(-2)), theirs, atol=1e-6)
    plain = attend(q, k, v, rotary, View(where, where))
    assert not torch.allclose(layer.o_proj(plain.transpose(1, 2).flatten(-2)), theirs, atol=1e-3)


# Errors ------------------------------------------------------------------------------------------

REFUSED = {
    "no length": (lambda: QueryTemperature(0), "length must be 1 or more, got 0"),
    "a bias": (
        lambda: QueryTemperature(8, scheme=ALiBi(2)),
        "scheme must open no door but rotate, got ALiBi with score_bias: q k alone",
    ),
    "two other doors": (
        lambda: QueryTemperature(8, scheme=Shaw(8, 2)), "got Shaw with read, score_bias"
    ),
    "a table": (
        lambda: QueryTemperature(8, scheme=LearnedAbsolute(9, 4)), "got LearnedAbsolute with embed"
    ),
    "fractions": (
        lambda: QueryTemperature(8).factor(torch.ones(3)),
        "positions must be integers, got torch.float32",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_named_with_its_value(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_a_query_before_the_first_token_keeps_its_size():
    """Padding on the left has such positions: a logarithm of 0 would hide in attention."""
    factor = QueryTemperature(4).factor(torch.tensor([-9, -1, 0, 4]))
    assert factor[:3].tolist() == [1, 1, 1] and factor[3] > 1
