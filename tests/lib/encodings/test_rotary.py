"""RoPE against loops and other people's code.

transformers 5.23 (Llama, GPT-J, GPT-NeoX, Phi) and rotary-embedding-torch 0.9.1. Both take angles
in float32, so they are compared at small positions, or given our tables; how far they drift is
shown in test_angles.
"""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import frequencies_of, rotated
from torch.autograd import gradcheck

from course_lib.encodings import (
    Rotary,
    half_to_interleaved,
    interleaved_to_half,
    rotary_frequencies,
    rotate,
    rotation_table,
)
from course_lib.encodings.rotary import shared_tables
from course_lib.model import Decoder, DecoderConfig

LAYOUTS = ["half", "interleaved"]
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
both_layouts = pytest.mark.parametrize("layout", LAYOUTS)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
seeds = st.integers(0, 10**6)


def drawn(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


# The formula -------------------------------------------------------------------------------------

POSITIONS = {
    "from 0": torch.arange(5),
    "one": torch.tensor([3]),
    "offset": torch.arange(1000, 1005),
    "gaps": torch.tensor([7, 0, 900, 7]),
    "batched": torch.tensor([[0, 1, 2], [50, 3, 999]]),
    "none": torch.arange(0),
}


@both_layouts
@every_dtype
@pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("dim", [2, 6, 8])
def test_rotation_is_the_formula_for_every_pair(layout, dtype, positions, dim):
    x = drawn(2, 3, positions.shape[-1], dim, dtype=dtype)
    scheme = Rotary(dim, base=500.0, layout=layout)
    q, k = scheme.rotate(x, 2 * x, positions, positions)
    expected = rotated(x, positions, frequencies_of(dim, 500.0), layout)
    assert q.dtype == dtype and q.shape == x.shape
    tolerance = {"rtol": torch.finfo(dtype).eps, "atol": 6e-7}
    assert torch.allclose(q.double(), expected, **tolerance)
    assert torch.allclose(k.double(), 2 * expected, **tolerance)


@both_layouts
@pytest.mark.parametrize("shape", [(4, 6), (2, 4, 6), (2, 3, 4, 6), (2, 1, 3, 4, 6)])
def test_rotate_takes_any_number_of_leading_dimensions(layout, shape):
    x, positions = drawn(*shape), torch.tensor([0, 5, 6, 70])
    got = rotate(x, *rotation_table(rotary_frequencies(6), positions), layout=layout)
    expected = rotated(x.reshape(1, -1, 4, 6), positions, frequencies_of(6), layout)
    assert torch.allclose(got, expected.reshape(shape), atol=1e-6)


@both_layouts
def test_a_table_of_its_own_for_each_sample(layout):
    x, positions = drawn(2, 3, 4, 6), torch.tensor([[0, 1, 2, 3], [9, 7, 5, 3]])
    cos, sin = rotation_table(rotary_frequencies(6), positions)
    got = rotate(x, cos[:, None], sin[:, None], layout=layout)
    assert torch.allclose(got, rotated(x, positions, frequencies_of(6), layout), atol=1e-6)


def test_worked_example_of_two_dimensions():
    quarter = torch.tensor([[math.cos(math.pi / 2)]]), torch.tensor([[math.sin(math.pi / 2)]])
    for layout in LAYOUTS:  # with one pair there is nothing to lay out
        got = rotate(torch.tensor([[3.0, 4.0]]), *quarter, layout=layout)
        assert torch.allclose(got, torch.tensor([[-4.0, 3.0]]), atol=1e-6)


def test_which_columns_are_a_pair():
    x = torch.tensor([[1.0, 0, 0, 0]])
    turned = torch.zeros(1, 2), torch.ones(1, 2)  # a quarter turn for both pairs
    assert rotate(x, *turned, layout="interleaved").tolist() == [[0, 1, 0, 0]]
    assert rotate(x, *turned, layout="half").tolist() == [[0, 0, 1, 0]]


@both_layouts
def test_queries_and_keys_have_positions_of_their_own(layout):
    scheme = Rotary(8, layout=layout)
    q, k = drawn(2, 3, 2, 8), drawn(2, 1, 5, 8, seed=1)
    q_at, k_at = torch.tensor([7, 9]), torch.tensor([[0, 1, 2, 3, 4], [9, 8, 3, 5, 6]])
    got_q, got_k = scheme.rotate(q, k, q_at, k_at)
    assert torch.allclose(got_q, rotated(q, q_at, frequencies_of(8), layout), atol=1e-6)
    assert torch.allclose(got_k, rotated(k, k_at, frequencies_of(8), layout), atol=1e-6)


# What must hold ----------------------------------------------------------------------------------


@both_layouts
@given(seeds, st.integers(0, 10**7), st.sampled_from([2, 8, 64]))
def test_norms_are_kept(layout, seed, position, dim):
    x, at = drawn(1, 1, 1, dim, seed=seed), torch.tensor([position])
    got, _ = Rotary(dim, layout=layout).rotate(x, x, at, at)
    assert math.isclose(got.norm(), x.norm(), rel_tol=2e-7)


@both_layouts
@given(seeds, st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 10**6))
def test_scores_depend_only_on_distance(layout, seed, i, j, offset):
    q, k = drawn(1, 1, 1, 64, seed=seed), drawn(1, 1, 1, 64, seed=seed + 1)
    scheme = Rotary(64, layout=layout)

    def score(i, j):
        turned = scheme.rotate(q, k, torch.tensor([i]), torch.tensor([j]))
        return (turned[0] * turned[1]).sum().item()

    scale = q.norm().item() * k.norm().item()
    assert math.isclose(score(i, j), score(i + offset, j + offset), abs_tol=1e-5 * scale)


@both_layouts
def test_scores_are_equivariant_in_float32_far_out(layout):
    q, k = (
        drawn(1, 2, 9, 128, dtype=torch.float32),
        drawn(1, 2, 9, 128, seed=1, dtype=torch.float32),
    )
    scheme, here = Rotary(128, layout=layout), torch.arange(9)
    scores = []
    for offset in (0, 1_000_000):
        turned = scheme.rotate(q, k, here + offset, here + offset)
        scores.append(turned[0].double() @ turned[1].double().mT)
    relative = (scores[0] - scores[1]).abs().max() / scores[0].abs().max()
    assert relative < 1e-5


@both_layouts
@given(seeds, st.integers(0, 10**6))
def test_a_turn_back_undoes_a_turn(layout, seed, position):
    x = drawn(3, 1, 8, seed=seed)
    cos, sin = rotation_table(rotary_frequencies(8), torch.tensor([position]))
    there = rotate(x, cos, sin, layout=layout)
    assert torch.allclose(rotate(there, cos, -sin, layout=layout), x, atol=2e-6)


@both_layouts
def test_inputs_are_left_as_they_were_and_may_be_views(layout):
    wide = drawn(2, 4, 3, 20)
    x = wide.transpose(1, 2)[..., 3:11]  # neither contiguous nor aligned to a complex number
    before = wide.clone()
    table = rotation_table(rotary_frequencies(8), torch.arange(4))
    assert torch.equal(rotate(x, *table, layout=layout), rotate(x.clone(), *table, layout=layout))
    assert torch.equal(wide, before)


@both_layouts
def test_gradients_of_rotate(layout):
    x = drawn(2, 2, 3, 4).requires_grad_()
    cos, sin = (drawn(3, 2, seed=seed).requires_grad_() for seed in (1, 2))
    assert gradcheck(lambda x, c, s: rotate(x, c, s, layout=layout), (x, cos, sin))


@both_layouts
@every_dtype
def test_the_gradient_is_the_turn_back(layout, dtype):
    x, g = drawn(2, 3, 8, dtype=dtype).requires_grad_(), drawn(2, 3, 8, seed=1, dtype=dtype)
    cos, sin = rotation_table(rotary_frequencies(8), torch.arange(3))
    rotate(x, cos, sin, layout=layout).backward(g)
    assert x.grad.dtype == dtype
    expected = rotate(g, cos, -sin, layout=layout)
    eps = torch.finfo(dtype).eps
    assert torch.allclose(x.grad.double(), expected.double(), rtol=2 * eps, atol=2 * eps)


@both_layouts
@pytest.mark.filterwarnings("ignore")
def test_rotate_compiles_without_graph_breaks(layout):
    positions = torch.arange(5)
    x, table = drawn(2, 3, 5, 8), rotation_table(rotary_frequencies(8), positions)
    backend = "aot_eager" if layout == "half" else "eager"
    compiled = torch.compile(
        lambda x, cos, sin: rotate(x, cos, sin, layout=layout), fullgraph=True, backend=backend
    )
    assert torch.allclose(compiled(x, *table), rotate(x, *table, layout=layout), atol=1e-12)
    module = torch.compile(Rotary(8, layout=layout).rotate, fullgraph=True, backend=backend)
    got, _ = module(x, x, positions, positions)
    assert torch.allclose(got, rotate(x, *table, layout=layout), atol=1e-12)


@both_layouts
def test_autocast_does_not_round_the_table(layout):
    x, scheme, at = (
        drawn(1, 2, 4, 8, dtype=torch.float32),
        Rotary(8, layout=layout),
        torch.arange(4),
    )
    with torch.autocast("cpu", torch.bfloat16):
        cos, sin = scheme.table(at + 1_000_000)
        got, _ = scheme.rotate(x, x, at, at)
    assert cos.dtype == sin.dtype == got.dtype == torch.float32
    assert torch.equal(cos, scheme.table(at + 1_000_000)[0])
    assert torch.equal(got, scheme.rotate(x, x, at, at)[0])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@both_layouts
@every_dtype
def test_rotation_is_the_same_on_a_gpu(layout, dtype):
    x, at = drawn(2, 3, 5, 64, dtype=dtype), torch.arange(5) + 1_000_000
    scheme = Rotary(64, layout=layout)
    here, _ = scheme.rotate(x, x, at, at)
    there, _ = scheme.cuda().rotate(x.cuda(), x.cuda(), at.cuda(), at.cuda())
    assert there.is_cuda and torch.allclose(
        there.cpu().double(), here.double(), rtol=torch.finfo(dtype).eps, atol=1e-6
    )


# Layouts and weights -----------------------------------------------------------------------------

heads_and_dims = st.tuples(st.integers(1, 4), st.integers(1, 5).map(lambda pairs: 2 * pairs))


@given(seeds, heads_and_dims, st.data())
def test_conversion_there_and_back_changes_nothing(seed, sizes, data):
    heads, head_dim = sizes
    rotary_dim = 2 * data.draw(st.integers(1, head_dim // 2))
    for shape in ((heads * head_dim, 3), (heads * head_dim,)):
        weight = drawn(*shape, seed=seed)
        there = interleaved_to_half(weight, heads, rotary_dim)
        assert torch.equal(half_to_interleaved(there, heads, rotary_dim), weight)
        assert there.shape == weight.shape
        assert torch.equal(there.sort(dim=0).values, weight.sort(dim=0).values)


def test_worked_example_of_the_conversion():
    rows = torch.arange(8)
    assert interleaved_to_half(rows, 1).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert interleaved_to_half(rows, 2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert interleaved_to_half(rows, 1, rotary_dim=4).tolist() == [0, 2, 1, 3, 4, 5, 6, 7]
    assert half_to_interleaved(rows, 1).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


@given(
    seeds, st.sampled_from([(4, 4), (4, 2), (6, 1)]), st.sampled_from([None, 2, 4]), st.booleans()
)
def test_scores_survive_the_conversion_of_grouped_projections(seed, heads, rotary_dim, back):
    """Weights and biases of queries and of fewer keys, partial rotation, both ways."""
    num_heads, kv_heads = heads
    head_dim, length = 6, 4
    x, at = drawn(2, length, 5, seed=seed), torch.tensor([0, 3, 4, 100])
    q_layer = drawn(num_heads * head_dim, 5, seed=seed + 1), drawn(num_heads * head_dim, seed=seed)
    k_layer = drawn(kv_heads * head_dim, 5, seed=seed + 2), drawn(kv_heads * head_dim, seed=seed)

    def scores(q_layer, k_layer, layout):
        q, k = (
            torch.nn.functional.linear(x, *layer).unflatten(-1, (-1, head_dim)).transpose(1, 2)
            for layer in (q_layer, k_layer)
        )
        q, k = Rotary(head_dim, layout=layout, rotary_dim=rotary_dim).rotate(q, k, at, at)
        return q @ k.repeat_interleave(num_heads // kv_heads, dim=1).mT

    first, second = ("half", "interleaved") if back else ("interleaved", "half")
    convert = half_to_interleaved if back else interleaved_to_half
    converted = (
        [convert(t, count, rotary_dim) for t in layer]
        for layer, count in ((q_layer, num_heads), (k_layer, kv_heads))
    )
    before = scores(q_layer, k_layer, first)
    assert torch.allclose(scores(*converted, second), before, atol=1e-5)
    if (rotary_dim or head_dim) > 2:  # one pair has one layout
        assert not torch.allclose(scores(q_layer, k_layer, second), before, atol=1e-2)


def test_conversion_is_that_of_the_script_which_made_llama_for_transformers():
    # `permute` in transformers' convert_llama_weights_to_hf.py, which is no importable function
    def permute(w, n_heads, dim1, dim2):
        return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)

    weight = drawn(24, 5)
    assert torch.equal(interleaved_to_half(weight, 3), permute(weight, 3, 24, 5))


# Partial rotation --------------------------------------------------------------------------------


@both_layouts
@pytest.mark.parametrize("rotary_dim", [2, 4, 8])
def test_own_partial_rotation_turns_the_first_columns_as_a_narrow_head(layout, rotary_dim):
    x, at = drawn(2, 3, 4, 8), torch.tensor([0, 3, 4, 100])
    got, _ = Rotary(8, layout=layout, rotary_dim=rotary_dim).rotate(x, x, at, at)
    narrow = rotated(x[..., :rotary_dim], at, frequencies_of(rotary_dim), layout)
    assert torch.allclose(got[..., :rotary_dim], narrow, atol=1e-6)
    assert torch.equal(got[..., rotary_dim:], x[..., rotary_dim:])


@both_layouts
@pytest.mark.parametrize("rotary_dim", [2, 4, 8])
def test_proportional_partial_rotation_keeps_the_slow_pairs_still(layout, rotary_dim):
    x, at = drawn(2, 3, 4, 8), torch.tensor([0, 3, 4, 100])
    scheme = Rotary(8, layout=layout, rotary_dim=rotary_dim, partial="proportional")
    got, _ = scheme.rotate(x, x, at, at)
    frequencies = [f if 2 * i < rotary_dim else 0.0 for i, f in enumerate(frequencies_of(8))]
    assert torch.allclose(got, rotated(x, at, frequencies, layout), atol=1e-6)


def test_the_two_meanings_of_partial_differ_from_the_second_pair_on():
    own, proportional = (
        Rotary(16, rotary_dim=8, partial=p).frequencies for p in ("own", "proportional")
    )
    assert own.shape == (4,) and proportional.shape == (8,)
    assert own[0] == proportional[0] == 1 and (own[1:] < proportional[1:4]).all()
    assert (proportional[4:] == 0).all()


def test_given_frequencies_and_attention_factor_are_used():
    x, at = drawn(1, 1, 3, 4), torch.arange(3)
    got, _ = Rotary(4, frequencies=[0.5, 0.25], attention_factor=1.5).rotate(x, x, at, at)
    assert torch.allclose(got, 1.5 * rotated(x, at, [0.5, 0.25], "half"), atol=1e-6)
    tenths = Rotary(4, frequencies=[0.1, 0.3]).frequencies
    assert tenths.dtype == torch.float64 and tenths.tolist() == [0.1, 0.3]


# Precision ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda module: module.to(torch.bfloat16),
        lambda module: module.half(),
        lambda module: module.bfloat16().float(),
        lambda module: module.double(),
        lambda module: torch.nn.Sequential(module).half()[0],
    ],
)
def test_a_change_of_dtype_does_not_round_the_frequencies(change):
    scheme = Rotary(64)
    before = scheme.table(torch.tensor([10**6]))
    changed = change(scheme)
    assert torch.equal(changed.frequencies, rotary_frequencies(64))
    after = changed.table(torch.tensor([10**6]))
    assert torch.equal(before[0], after[0]) and torch.equal(before[1], after[1])
    assert not list(changed.buffers()) and not changed.state_dict()


@both_layouts
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_rounded_once_after_the_rotation(layout, dtype):
    x, at = drawn(1, 4, 6, 64, dtype=dtype), torch.arange(6) + 500_000
    got, _ = Rotary(64, layout=layout).rotate(x, x, at, at)
    precise, _ = Rotary(64, layout=layout).rotate(x.float(), x.float(), at, at)
    assert torch.equal(got, precise.to(dtype))


def test_each_call_has_positions_of_its_own_and_no_memory_of_others():
    scheme, x = Rotary(8), drawn(1, 1, 4, 8)
    first = scheme.rotate(x, x, torch.arange(4), torch.arange(4))[0]
    scheme.rotate(x, x, torch.arange(4) + 9, torch.arange(4) + 9)
    scheme.rotate(x.bfloat16(), x.bfloat16(), torch.arange(4), torch.arange(4))
    assert torch.equal(scheme.rotate(x, x, torch.arange(4), torch.arange(4))[0], first)


# Other people's code -----------------------------------------------------------------------------


def doubled(table, layout):
    """Their tables hold each angle twice: one after the other, or halves after each other."""
    return torch.cat([table, table], -1) if layout == "half" else table.repeat_interleave(2, -1)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("dim", [2, 64, 128])
def test_half_layout_is_llamas(dim, batched):
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    at = torch.tensor([[0, 1, 2, 3], [7, 500, 3, 9000]]) if batched else torch.arange(4)
    q, k = drawn(2, 4, 4, dim), drawn(2, 2, 4, dim, seed=1)
    cos, sin = rotation_table(rotary_frequencies(dim), at.expand(2, -1))
    theirs = apply_rotary_pos_emb(q, k, doubled(cos, "half"), doubled(sin, "half"))
    ours = Rotary(dim, layout="half").rotate(q, k, at, at)
    assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(ours, theirs, strict=True))


def test_tables_are_llamas_at_small_positions_and_better_than_its_at_large_ones():
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(hidden_size=256, num_attention_heads=2, head_dim=128)
    theirs = LlamaRotaryEmbedding(config)
    near = torch.arange(16)[None]
    cos, sin = theirs(torch.zeros(1), near)
    ours = rotation_table(rotary_frequencies(128), near)
    assert torch.allclose(cos, doubled(ours[0], "half"), atol=2e-6)
    assert torch.allclose(sin, doubled(ours[1], "half"), atol=2e-6)
    # Far out the float32 angles of transformers 5.23 are off by thousandths, for every model.
    far = torch.arange(131_072 - 2048, 131_072)[None]
    drift = (theirs(torch.zeros(1), far)[0][..., :64].double() - float64_cos(far)).abs().max()
    assert drift > 4e-3 > 1e-7 > (rotary_table_cos(far).double() - float64_cos(far)).abs().max()


def float64_cos(positions):
    return (positions[..., None].double() * rotary_frequencies(128)).cos()


def rotary_table_cos(positions):
    return rotation_table(rotary_frequencies(128), positions)[0]


@pytest.mark.parametrize("rotary_dim", [4, 16])
def test_interleaved_layout_is_gptjs_with_its_partial_rotation(rotary_dim):
    from transformers.models.gptj.modeling_gptj import (
        apply_rotary_pos_emb,
        create_sinusoidal_positions,
    )

    # GPT-J keeps length before heads, and rotates the first columns only
    x, at = drawn(2, 5, 3, 16), torch.tensor([[0, 1, 2, 3, 4], [3, 9, 40, 41, 0]])
    sin, cos = create_sinusoidal_positions(64, rotary_dim)[at].double().chunk(2, dim=-1)
    turned = apply_rotary_pos_emb(x[..., :rotary_dim], sin, cos)
    theirs = torch.cat([turned, x[..., rotary_dim:]], -1).transpose(1, 2)
    ours = Rotary(16, layout="interleaved", rotary_dim=rotary_dim)
    got, _ = ours.rotate(x.transpose(1, 2), x.transpose(1, 2), at, at)
    assert torch.allclose(got, theirs, atol=1e-5)


def test_partial_rotation_is_that_of_gpt_neox_and_phi():
    from transformers.models.gpt_neox import modeling_gpt_neox as gpt_neox
    from transformers.models.gpt_neox.configuration_gpt_neox import GPTNeoXConfig
    from transformers.models.phi import modeling_phi as phi
    from transformers.models.phi.configuration_phi import PhiConfig

    q, k = drawn(2, 2, 5, 32), drawn(2, 2, 5, 32, seed=1)
    at = torch.tensor([[0, 1, 2, 3, 4], [3, 9, 40, 41, 0]])
    sizes = {"hidden_size": 64, "num_attention_heads": 2}
    neox = GPTNeoXConfig(**sizes, rotary_pct=0.25)
    table = gpt_neox.GPTNeoXRotaryEmbedding(neox)(q, at)
    theirs = gpt_neox.apply_rotary_pos_emb(q, k, *table)
    ours = Rotary(32, rotary_dim=8).rotate(q, k, at, at)
    assert all(torch.allclose(a, b, atol=2e-5) for a, b in zip(ours, theirs, strict=True))

    half = PhiConfig(**sizes, partial_rotary_factor=0.5)
    cos, sin = phi.PhiRotaryEmbedding(half)(q, at)
    assert cos.shape[-1] == 16  # Phi's attention slices these columns off, as we do inside
    turned = phi.apply_rotary_pos_emb(q[..., :16], k[..., :16], cos, sin)[0]
    got, _ = Rotary(32, rotary_dim=16).rotate(q, k, at, at)
    assert torch.allclose(got[..., :16], turned, atol=2e-5)
    assert torch.equal(got[..., 16:], q[..., 16:])


@pytest.mark.parametrize("offset", [0, 5])
@pytest.mark.parametrize(("dim", "rotary_dim"), [(16, 16), (16, 8), (64, 32)])
def test_interleaved_layout_is_that_of_rotary_embedding_torch(dim, rotary_dim, offset):
    from rotary_embedding_torch import RotaryEmbedding

    x = drawn(2, 3, 6, dim, dtype=torch.float32)
    theirs = RotaryEmbedding(rotary_dim).rotate_queries_or_keys(x, offset=offset)
    at = torch.arange(offset, offset + 6)
    got, _ = Rotary(dim, layout="interleaved", rotary_dim=rotary_dim).rotate(x, x, at, at)
    assert torch.allclose(got, theirs, atol=3e-6)


def test_rotary_embedding_torch_remembers_angles_of_half_precision_positions():
    """Version 0.9.1 counts positions in the dtype of its input, and keeps the angles by length.

    After one bfloat16 call, float32 calls of that length get positions rounded to multiples of 2
    beyond 256, of 4 beyond 512. Ours has no memory, and positions are integers.
    """
    from rotary_embedding_torch import RotaryEmbedding

    x, at = drawn(1, 1, 600, 8, dtype=torch.float32), torch.arange(600)
    theirs, ours = RotaryEmbedding(8), Rotary(8, layout="interleaved")
    fresh = theirs.rotate_queries_or_keys(x)
    assert torch.allclose(ours.rotate(x, x, at, at)[0], fresh, atol=1e-3)
    used = RotaryEmbedding(8)
    for module in (lambda t: used.rotate_queries_or_keys(t), lambda t: ours.rotate(t, t, at, at)):
        module(x.bfloat16())
    assert (used.rotate_queries_or_keys(x) - fresh).abs().max() > 0.5
    assert torch.allclose(ours.rotate(x, x, at, at)[0], fresh, atol=1e-3)


def test_rotary_embedding_torch_rounds_its_frequencies_with_the_model():
    """Version 0.9.1 holds frequencies in a parameter, which `.to(torch.bfloat16)` rounds."""
    from rotary_embedding_torch import RotaryEmbedding

    rounded = RotaryEmbedding(64).to(torch.bfloat16).freqs.double()
    assert (rounded / rotary_frequencies(64) - 1).abs().max() > 1e-3
    ours = Rotary(64).to(torch.bfloat16).frequencies
    assert torch.equal(ours, rotary_frequencies(64))


# Tables of one pass ---------------------------------------------------------------------------


def test_within_a_pass_a_table_is_computed_once_for_the_same_positions():
    slow, fast = Rotary(8), Rotary(8, base=100.0)
    positions = torch.arange(5)
    with shared_tables():
        assert slow.table(positions) is slow.table(positions)
        assert slow.table(positions) is not slow.table(positions.clone())
        assert not torch.equal(slow.table(positions)[1], fast.table(positions)[1])
        for start in range(50):  # a tensor that is gone leaves its place in memory to the next
            cos, _ = slow.table(torch.arange(start, start + 3))
            assert torch.equal(
                cos, rotation_table(slow.frequencies, torch.arange(start, start + 3))[0]
            )


def test_no_table_outlives_its_pass():
    scheme, positions = Rotary(8), torch.arange(5)
    with shared_tables():
        kept = scheme.table(positions)
    assert scheme.table(positions) is not kept
    scheme.frequencies = scheme.frequencies / 2
    with shared_tables():
        assert torch.equal(
            scheme.table(positions)[0], rotation_table(scheme.frequencies, positions)[0]
        )


def test_a_model_computes_one_table_for_all_layers(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "course_lib.encodings.rotary.rotation_table",
        lambda *arguments: asked.append(arguments) or rotation_table(*arguments),
    )
    scheme = Rotary(8)
    model = Decoder(DecoderConfig(16, 16, num_layers=3, num_heads=2, hidden_dim=8), scheme)
    model(torch.zeros(1, 5, dtype=torch.long), range(5))
    assert len(asked) == 1
