"""Context extension against the formulas by hand and against transformers 5.23.

Their frequencies are float32, hence tolerances of 1e-5; attention factors agree to 1e-6. Where
they go wrong is shown in the last section.
"""

import math
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.encodings import (
    Rotary,
    by_parts,
    dynamic_ntk,
    from_rope_parameters,
    interpolated,
    llama3,
    longrope,
    ntk_aware,
    rotary_frequencies,
    yarn,
)

dims = st.integers(2, 64).map(lambda pairs: 2 * pairs)
bases = st.sampled_from([100.0, 10_000.0, 500_000.0, 1_000_000.0])
factors = st.floats(1, 64)
lengths = st.sampled_from([128, 2048, 4096, 32_768])


def close(got, expected, rel=1e-12):
    return torch.allclose(got, torch.as_tensor(expected, dtype=torch.float64), rtol=rel, atol=0)


# The formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [1.0, 0.5, -3.0])
@pytest.mark.parametrize(
    "method",
    [
        lambda base: ntk_aware(32, base, 4),
        lambda base: dynamic_ntk(32, base, 1, 64, 128),
        lambda base: dynamic_ntk(32, base, 1, 512, 128),
        lambda base: yarn(32, base, 4, 128),
        lambda base: longrope(32, base, [1] * 16, [2] * 16, 512, 128, 4),
        lambda base: from_rope_parameters(
            {"rope_type": "dynamic", "rope_theta": base, "factor": 2.0}, 64, 512, 128
        ),
    ],
    ids=["ntk_aware", "dynamic, short", "dynamic, long", "yarn", "longrope", "a config's"],
)
def test_the_base_that_was_given_is_checked_before_it_is_raised(method, base):
    with pytest.raises(ValueError, match=f"base must be above 1, got {base}"):
        method(base)


@given(dims, bases, factors)
def test_interpolation_divides_every_pair_by_the_factor(dim, base, factor):
    frequencies = rotary_frequencies(dim, base)
    scaled = interpolated(frequencies, factor)
    assert close(scaled.frequencies, [f / factor for f in frequencies.tolist()])
    assert scaled.attention_factor == 1


@given(dims, bases, factors)
def test_ntk_leaves_the_fastest_pair_and_divides_the_slowest_by_exactly_the_factor(
    dim, base, factor
):
    before, after = rotary_frequencies(dim, base), ntk_aware(dim, base, factor).frequencies
    assert after[0] == before[0] == 1
    assert math.isclose(after[-1] * factor, before[-1], rel_tol=1e-12)
    slowing = before / after  # by equal ratios in between
    for pair in range(dim // 2):
        power = factor ** (pair / (dim // 2 - 1))
        assert math.isclose(slowing[pair], power, rel_tol=1e-11)


@given(dims, bases, st.floats(1, 8), lengths, st.floats(0, 30))
def test_dynamic_ntk_is_ntk_aware_by_its_stretch_beyond_the_original_length(
    dim, base, factor, original, ratio
):
    length = int(original * ratio)
    got = dynamic_ntk(dim, base, factor, length, original).frequencies
    stretch = factor * length / original - (factor - 1) if length > original else 1
    exponent = dim / (dim - 2)
    expected = [(base * stretch**exponent) ** (-2 * i / dim) for i in range(dim // 2)]
    assert close(got, expected, rel=1e-11)


def test_dynamic_ntk_returns_to_the_original_and_with_factor_1_stretches_by_the_ratio():
    original = rotary_frequencies(64)
    for length in (1, 100, 2048, 9000, 2048, 5):
        got = dynamic_ntk(64, 10_000, 3.0, length, 2048).frequencies
        assert torch.equal(got, original) is (length <= 2048)
    exact = dynamic_ntk(64, 10_000, 1.0, 3 * 2048, 2048).frequencies
    assert close(exact, ntk_aware(64, 10_000, 3.0).frequencies)


def ramp_in_turns(frequency, factor, original, slow, fast):
    turns = original * frequency / (2 * math.pi)
    keep = min(max((turns - slow) / (fast - slow), 0), 1)
    return keep * frequency + (1 - keep) * frequency / factor


@given(dims, bases, factors, lengths, st.floats(0.1, 2), st.floats(3, 64))
def test_by_parts_keeps_fast_pairs_slows_slow_ones_and_blends_in_turns(
    dim, base, factor, original, slow, fast
):
    frequencies = rotary_frequencies(dim, base)
    got = by_parts(frequencies, factor, original, slow, fast)
    expected = [ramp_in_turns(f, factor, original, slow, fast) for f in frequencies.tolist()]
    assert close(got.frequencies, expected) and got.attention_factor == 1
    turns = original * frequencies / (2 * math.pi)
    assert close(got.frequencies[turns >= fast], frequencies[turns >= fast])
    assert close(got.frequencies[turns <= slow], frequencies[turns <= slow] / factor)


def llama3_as_released(frequency, factor, original, low, high):
    """The branches of Meta's apply_scaling, for one frequency."""
    wavelength = 2 * math.pi / frequency
    if wavelength < original / high:
        return frequency
    if wavelength > original / low:
        return frequency / factor
    smooth = (original / wavelength - low) / (high - low)
    return (1 - smooth) * frequency / factor + smooth * frequency


@given(dims, bases, factors, lengths)
def test_llama_3s_rule_is_by_parts_from_1_to_4_turns(dim, base, factor, original):
    frequencies = rotary_frequencies(dim, base)
    got = llama3(frequencies, factor, original)
    assert torch.equal(got.frequencies, by_parts(frequencies, factor, original, 1, 4).frequencies)
    expected = [llama3_as_released(f, factor, original, 1, 4) for f in frequencies.tolist()]
    assert close(got.frequencies, expected)


@given(dims, bases, factors, lengths)
def test_yarn_in_turns_is_by_parts_with_a_temperature(dim, base, factor, original):
    got = yarn(dim, base, factor, original, ramp="turns")
    expected = by_parts(rotary_frequencies(dim, base), factor, original, 1, 32)
    assert torch.equal(got.frequencies, expected.frequencies)
    assert math.isclose(got.attention_factor, 0.1 * math.log(factor) + 1)


def test_yarns_two_ramps_agree_at_the_ends_and_differ_by_2_3_in_between():
    index, turns = (
        yarn(128, 10_000, 8.0, 4096, ramp=ramp).frequencies for ramp in ("index", "turns")
    )
    ratio = (index / turns).maximum(turns / index)
    made = 4096 * rotary_frequencies(128) / (2 * math.pi)
    assert 2.2 < ratio.max() < 2.4
    assert 1 < made[ratio.argmax()] < 32  # inside the ramp
    ends = (made > 34) | (made < 0.85)  # rounding widens the index ramp by a pair at each end
    assert close(index[ends], turns[ends])


@given(dims, bases, factors, lengths, st.sampled_from(["index", "turns"]), st.booleans())
def test_yarn_slows_each_pair_by_at_most_the_factor_and_slower_pairs_more(
    dim, base, factor, original, ramp, truncate
):
    before = rotary_frequencies(dim, base)
    slowing = before / yarn(dim, base, factor, original, ramp=ramp, truncate=truncate).frequencies
    assert (slowing > 1 - 1e-12).all() and (slowing < factor * (1 + 1e-12)).all()
    assert (slowing.diff() > -1e-9 * factor).all()


def test_longrope_takes_long_factors_strictly_beyond_the_original_length():
    short, long = [1.0, 2.0, 3.0, 4.0], [1.5, 3.0, 30.0, 60.0]
    frequencies = [10_000 ** (-2 * i / 8) for i in range(4)]
    for length in (0, 1, 4095, 4096):
        got = longrope(8, 10_000, short, long, length, 4096, 32).frequencies
        assert close(got, [f / s for f, s in zip(frequencies, short, strict=True)])
    for length in (4097, 10**6):
        got = longrope(8, 10_000, short, long, length, 4096, 32)
        assert close(got.frequencies, [f / s for f, s in zip(frequencies, long, strict=True)])
        expected = math.sqrt(1 + math.log(32) / math.log(4096))
        assert math.isclose(got.attention_factor, expected)


def test_every_method_with_factor_1_changes_nothing():
    frequencies = rotary_frequencies(64)
    for scaled in (
        interpolated(frequencies, 1),
        ntk_aware(64, 10_000, 1),
        by_parts(frequencies, 1, 4096),
        yarn(64, 10_000, 1, 4096),
        yarn(64, 10_000, 1, 4096, ramp="turns"),
        llama3(frequencies, 1, 4096),
        longrope(64, 10_000, [1.0] * 32, [1.0] * 32, 9000, 4096, 1),
    ):
        assert close(scaled.frequencies, frequencies) and scaled.attention_factor == 1
        assert scaled.frequencies.dtype == torch.float64


def test_results_plug_into_rotary_and_the_factor_grows_scores_by_its_square():
    scaled = yarn(8, 10_000, 4.0, 128)
    scheme, at = Rotary(8, **scaled._asdict()), torch.arange(5)
    assert torch.equal(scheme.frequencies, scaled.frequencies)
    x = torch.randn(1, 1, 5, 8, dtype=torch.float64)
    plain = Rotary(8, frequencies=scaled.frequencies)
    (q, k), (q1, k1) = scheme.rotate(x, x, at, at), plain.rotate(x, x, at, at)
    grown = (0.1 * math.log(4) + 1) ** 2
    assert torch.allclose(q @ k.mT, grown * (q1 @ k1.mT), atol=1e-5)


# transformers, type by type ----------------------------------------------------------------------


def theirs(parameters, head_dim, maximum, length=None, **more):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.llama.configuration_llama import LlamaConfig

    config = LlamaConfig(
        hidden_size=2 * head_dim,
        num_attention_heads=2,
        head_dim=head_dim,
        max_position_embeddings=maximum,
        rope_parameters=dict(parameters),
        **more,
    )
    return ROPE_INIT_FUNCTIONS[config.rope_parameters["rope_type"]](config, "cpu", length)


def assert_agree(ours, theirs, rel=1e-5):
    frequencies, attention_factor = theirs
    assert ours.frequencies.dtype == torch.float64
    assert ours.frequencies.shape == frequencies.shape
    assert close(ours.frequencies, frequencies.double(), rel=rel)
    assert math.isclose(ours.attention_factor, attention_factor, rel_tol=1e-6)


COMMON = [
    {"rope_theta": base, **share}
    for base, share in product(
        [10_000.0, 1_000_000.0],
        [{}, {"partial_rotary_factor": 0.5}, {"partial_rotary_factor": 1.0}],
    )
]
HEAD_DIMS = [64, 96, 128]
every_common = pytest.mark.parametrize("common", COMMON, ids=str)
every_head_dim = pytest.mark.parametrize("head_dim", HEAD_DIMS)


@every_common
@every_head_dim
def test_default_is_that_of_phi(common, head_dim):
    # Each model of transformers brings its own; Llama's ignores partial_rotary_factor, Phi's not.
    from transformers.models.phi.configuration_phi import PhiConfig
    from transformers.models.phi.modeling_phi import PhiRotaryEmbedding

    config = PhiConfig(hidden_size=2 * head_dim, num_attention_heads=2)
    config.rope_parameters = {"rope_type": "default", "partial_rotary_factor": 1.0, **common}
    expected = PhiRotaryEmbedding.compute_default_rope_parameters(config)
    assert_agree(from_rope_parameters(common, head_dim), expected)
    assert_agree(from_rope_parameters({**common, "rope_type": "default"}, head_dim), expected)


@every_common
@every_head_dim
@pytest.mark.parametrize("factor", [1.0, 2, 8.0])
def test_linear_is_that_of_transformers(common, head_dim, factor):
    parameters = {"rope_type": "linear", "factor": factor, **common}
    assert_agree(from_rope_parameters(parameters, head_dim), theirs(parameters, head_dim, 4096))


@every_common
@every_head_dim
@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("length", [None, 1, 4095, 4096, 4097, 20_000])
def test_dynamic_is_that_of_transformers(common, head_dim, factor, length):
    parameters = {"rope_type": "dynamic", "factor": factor, **common}
    ours = from_rope_parameters(parameters, head_dim, length, max_position_embeddings=4096)
    assert_agree(ours, theirs(parameters, head_dim, 4096, length))


YARN_EXTRAS = [
    {},
    {"truncate": False},
    {"truncate": True},
    {"attention_factor": 1.25},
    {"attention_factor": 1.0, "mscale": 0.7, "mscale_all_dim": 0.5},
    {"beta_fast": 4.0, "beta_slow": 0.5},
    {"beta_fast": 16, "beta_slow": 2, "truncate": False},
    {"mscale": 1.0, "mscale_all_dim": 0.8},
    {"mscale": 0.707, "mscale_all_dim": 0.707},
    {"mscale": 0.7},  # alone it does nothing
    {"mscale_all_dim": 0.7},
    {"mscale": 0.0, "mscale_all_dim": 1.0},
    {"beta_fast": None, "beta_slow": None, "attention_factor": None},
]


@every_common
@every_head_dim
@pytest.mark.parametrize("extra", YARN_EXTRAS, ids=str)
def test_yarn_is_that_of_transformers(common, head_dim, extra):
    for factor, original in product([1.0, 4.0, 40], [6, 100, 2048, 32_768]):
        own = {"factor": factor, "original_max_position_embeddings": original}
        parameters = {"rope_type": "yarn", **own, **extra, **common}
        ours = from_rope_parameters(parameters, head_dim)
        assert_agree(ours, theirs(parameters, head_dim, int(original * factor)))


@every_common
@every_head_dim
@pytest.mark.parametrize(
    "extra", [{}, {"factor": 16.0}, {"attention_factor": 1.2}, {"factor": None}], ids=str
)
@pytest.mark.parametrize("length", [None, 1, 4096, 4097, 100_000])
def test_longrope_is_that_of_transformers(common, head_dim, extra, length):
    pairs = int(head_dim * common.get("partial_rotary_factor", 1.0)) // 2
    parameters = {
        "rope_type": "longrope",
        "short_factor": [1.0 + 0.05 * i for i in range(pairs)],
        "long_factor": [1.0 + 0.9 * i for i in range(pairs)],
        "original_max_position_embeddings": 4096,
        **extra,
        **common,
    }
    ours = from_rope_parameters(parameters, head_dim, length, max_position_embeddings=131_072)
    assert_agree(ours, theirs(parameters, head_dim, 131_072, length))


@every_common
@every_head_dim
@pytest.mark.parametrize(("low", "high"), [(1.0, 4.0), (1, 32), (0.5, 2.0), (1.0, 1.0)])
def test_llama3_is_that_of_transformers(common, head_dim, low, high):
    for factor, original in product([1.0, 8.0, 32], [2048, 8192]):
        parameters = {
            "rope_type": "llama3",
            "factor": factor,
            "original_max_position_embeddings": original,
            "low_freq_factor": low,
            "high_freq_factor": high,
            **common,
        }
        ours = from_rope_parameters(parameters, head_dim)
        assert_agree(ours, theirs(parameters, head_dim, 10 * original))


@every_head_dim
@pytest.mark.parametrize("share", [None, 0.25, 0.3, 0.5, 1.0, 0.0])
@pytest.mark.parametrize("factor", [None, 1.0, 8.0])
def test_proportional_is_that_of_transformers(head_dim, share, factor):
    parameters = {"rope_type": "proportional", "rope_theta": 1_000_000.0}
    parameters |= {} if share is None else {"partial_rotary_factor": share}
    parameters |= {} if factor is None else {"factor": factor}
    ours = from_rope_parameters(parameters, head_dim)
    assert_agree(ours, theirs(parameters, head_dim, 4096))
    assert (ours.frequencies > 0).sum() == int((1.0 if share is None else share) * head_dim // 2)


def test_proportional_is_the_p_rope_of_rotary():
    parameters = {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}
    p_rope = Rotary(128, 1e6, rotary_dim=32, partial="proportional")
    assert close(from_rope_parameters(parameters, 128).frequencies, p_rope.frequencies)


# Real models -------------------------------------------------------------------------------------

LLAMA = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
FLAT = {
    "Llama 3.1 8B": (
        {"rope_type": "llama3", "factor": 8.0, **LLAMA, "rope_theta": 500_000.0}, 128, 131_072, 1.0
    ),
    "Llama 3.2 1B": (
        {"rope_type": "llama3", "factor": 32.0, **LLAMA, "rope_theta": 500_000.0}, 64, 131_072, 1.0
    ),
    "Qwen2.5, 128k": (
        {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768,
         "rope_theta": 1e6}, 128, 131_072, 0.1 * math.log(4) + 1,
    ),
    "Qwen3, 128k": (
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768,
         "rope_theta": 1e6}, 128, 40_960, 0.1 * math.log(4) + 1,
    ),
    "DeepSeek-V3": (
        {"type": "yarn", "beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0,
         "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096, "rope_theta": 10_000},
        64, 163_840, 1.0,
    ),
    "gpt-oss 20B": (
        {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
         "original_max_position_embeddings": 4096, "truncate": False, "rope_theta": 150_000},
        64, 131_072, 0.1 * math.log(32) + 1,
    ),
    "Gemma 3, full attention": (
        {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}, 256, 131_072, 1.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAT)
def test_configs_of_real_models_are_read_as_transformers_reads_them(name):
    parameters, head_dim, maximum, attention_factor = FLAT[name]
    before = dict(parameters)
    ours = from_rope_parameters(parameters, head_dim)
    assert_agree(ours, theirs(parameters, head_dim, maximum))
    assert math.isclose(ours.attention_factor, attention_factor)
    assert parameters == before


@pytest.mark.parametrize("length", [None, 4096, 4097])
def test_phi_3_whose_original_length_stands_beside_and_whose_factor_is_the_ratio(length):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.phi3.configuration_phi3 import Phi3Config

    scaling = {
        "type": "longrope",
        "short_factor": [1.0 + 0.05 * i for i in range(48)],
        "long_factor": [1.0 + 1.2 * i for i in range(48)],
    }
    config = Phi3Config(  # Phi-3.5-mini's sizes
        hidden_size=3072,
        num_attention_heads=32,
        max_position_embeddings=131_072,
        original_max_position_embeddings=4096,
        rope_parameters={**scaling, "rope_theta": 10_000.0},
    )
    # transformers moves what stands beside into the dictionary; we take the dictionary
    assert config.rope_parameters["original_max_position_embeddings"] == 4096
    parameters = {**scaling, "rope_theta": 10_000.0}
    parameters["original_max_position_embeddings"] = config.original_max_position_embeddings
    ours = from_rope_parameters(parameters, 96, length, max_position_embeddings=131_072)
    assert_agree(ours, ROPE_INIT_FUNCTIONS["longrope"](config, "cpu", length))
    assert math.isclose(ours.attention_factor, math.sqrt(1 + math.log(32) / math.log(4096)))


def test_ministral_3_is_read_without_the_query_scaling_that_it_also_asks_for():
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.ministral3.configuration_ministral3 import Ministral3Config

    config = Ministral3Config()
    with pytest.raises(ValueError, match="does not take llama_4_scaling_beta, max_position_emb"):
        from_rope_parameters(config.rope_parameters, config.head_dim)
    own = {"llama_4_scaling_beta", "max_position_embeddings"}
    known = {key: value for key, value in config.rope_parameters.items() if key not in own}
    ours = from_rope_parameters(known, config.head_dim)
    assert_agree(ours, ROPE_INIT_FUNCTIONS["yarn"](config, "cpu"))
    assert ours.attention_factor == 1


def test_gemma_3_has_parameters_for_each_type_of_layer():
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.gemma3.configuration_gemma3 import Gemma3TextConfig
    from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding

    nested = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    }
    config = Gemma3TextConfig(head_dim=256, rope_parameters=nested)
    full = from_rope_parameters(config.rope_parameters, 256, layer_type="full_attention")
    assert_agree(full, ROPE_INIT_FUNCTIONS["linear"](config, "cpu", layer_type="full_attention"))
    sliding = from_rope_parameters(config.rope_parameters, 256, layer_type="sliding_attention")
    default = Gemma3RotaryEmbedding.compute_default_rope_parameters
    assert_agree(sliding, default(config, layer_type="sliding_attention"))
    assert not torch.equal(full.frequencies, sliding.frequencies)


def test_deepseek_v3_and_gpt_oss_from_their_own_config_classes():
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
    from transformers.models.gpt_oss.configuration_gpt_oss import GptOssConfig

    gpt_oss = GptOssConfig()
    ours = from_rope_parameters(gpt_oss.rope_parameters, gpt_oss.head_dim)
    assert_agree(ours, ROPE_INIT_FUNCTIONS["yarn"](gpt_oss, "cpu"))
    deepseek = DeepseekV3Config(rope_parameters=dict(FLAT["DeepSeek-V3"][0]))
    ours = from_rope_parameters(deepseek.rope_parameters, deepseek.qk_rope_head_dim)
    assert_agree(ours, ROPE_INIT_FUNCTIONS["yarn"](deepseek, "cpu"))


# Where transformers 5.23 goes wrong --------------------------------------------------------------


def test_truncate_of_nested_parameters_is_read_where_it_stands():
    """transformers 5.23 looks for `truncate` beside the layer types, and so never finds it."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.gemma3.configuration_gemma3 import Gemma3TextConfig

    own = {**FLAT["gpt-oss 20B"][0], "rope_theta": 150_000.0}
    sliding = {"rope_type": "default", "rope_theta": 10_000.0}
    nested = {"full_attention": own, "sliding_attention": sliding}
    config = Gemma3TextConfig(head_dim=64, max_position_embeddings=131_072, rope_parameters=nested)
    got = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu", layer_type="full_attention")
    ours = from_rope_parameters(nested, 64, layer_type="full_attention")
    assert_agree(ours, theirs(own, 64, 131_072))  # as if it were flat
    assert not close(ours.frequencies, got[0].double(), rel=0.1)
    assert_agree(from_rope_parameters({**own, "truncate": True}, 64), got)


def test_dynamic_frequencies_depend_on_this_text_alone():
    """In transformers 5.23 they depend on the texts before it as well.

    After a long text, one of exactly the original length keeps the stretched frequencies (`<`
    where `<=` is meant), and a longer one those of the longest text so far.
    """
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    parameters = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}
    config = LlamaConfig(
        hidden_size=128,
        num_attention_heads=2,
        max_position_embeddings=64,
        rope_parameters=dict(parameters),
    )
    module, found = LlamaRotaryEmbedding(config), {}
    for length in (64, 128, 256, 128, 64, 63):
        module(torch.zeros(1), torch.arange(length)[None])
        found.setdefault(length, []).append(module.inv_freq.double().clone())
    for length in found:
        ours = from_rope_parameters(parameters, 64, length, max_position_embeddings=64).frequencies
        assert close(found[length][0], ours, rel=1e-5)  # right at first
    assert not close(found[128][1], found[128][0], rel=0.01)  # but not after 256
    assert not close(found[64][1], found[64][0], rel=0.01)  # nor at the original length


def test_a_factor_of_none_counts_as_missing():
    """transformers 5.23 takes the ratio for None, and fails with KeyError where there is none."""
    yarn_of = {"rope_type": "yarn", "original_max_position_embeddings": 2048, "rope_theta": 1e4}
    for extra in ({}, {"factor": None}):
        ours = from_rope_parameters({**yarn_of, **extra}, 64, max_position_embeddings=8192)
        expected = theirs({**yarn_of, "factor": None}, 64, 8192)
        assert_agree(ours, expected)
    with pytest.raises(KeyError, match="factor"):
        theirs(yarn_of, 64, 8192)


def test_phi_3_s_first_name_for_longrope_is_known():
    keys = {
        "rope_theta": 10_000.0,
        "short_factor": [1.0] * 4,
        "long_factor": [2.0] * 4,
        "original_max_position_embeddings": 4096,
    }
    named = [
        from_rope_parameters({name: value, **keys}, 8, length=5000, max_position_embeddings=131_072)
        for name, value in (("type", "su"), ("rope_type", "longrope"))
    ]
    assert torch.equal(named[0].frequencies, named[1].frequencies)
    assert named[0].attention_factor == named[1].attention_factor > 1
