"""The biases against loops, whole-number arithmetic, and T5 and BLOOM in transformers 5.23."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import for_every_pair
from oracles import t5_bucket as t5_bucket_exactly

from course_lib.encodings import (
    ALiBi,
    ClippedBias,
    NoPosition,
    T5Bias,
    alibi_slopes,
    clip_to_index,
    relative_positions,
    t5_bucket,
)
from course_lib.encodings.relative import DistanceBias

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]


def filled(scheme, seed=0):
    """The scheme with random numbers in its table, which starts from zeros."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in scheme.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return scheme


def value(scheme, head, distance):
    """What the scheme's formula gives one head at one distance, from its table alone."""
    if isinstance(scheme, ClippedBias):
        far = scheme.max_distance
        return scheme.table.weight[min(max(distance, -far), far) + far, head].item()
    if isinstance(scheme, T5Bias):
        sizes = scheme.num_buckets, scheme.max_distance, scheme.bidirectional
        return scheme.table.weight[t5_bucket_exactly(distance, *sizes), head].item()
    return -slope(head, len(scheme.slopes)) * abs(distance)


def slope(head, num_heads):
    """Press et al. 2022 by hand: a geometric series, gaps filled from the next finer one."""
    power = 2 ** math.floor(math.log2(num_heads))
    if head < power:
        return 2 ** (-8 / power * (head + 1))
    return 2 ** (-8 / (2 * power) * (2 * (head - power) + 1))


MAKERS = {
    "clipped": lambda heads: ClippedBias(heads, 3),
    "clipped at 0": lambda heads: ClippedBias(heads, 0),
    "T5": lambda heads: T5Bias(heads, 8, 20),
    "T5 both ways": lambda heads: T5Bias(heads, 12, 17, bidirectional=True),
    "ALiBi": ALiBi,
}
every_bias = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def bias_of(scheme, q_positions, k_positions, heads=3, dtype=torch.float64):
    q = torch.zeros(2, heads, q_positions.shape[-1], 4, dtype=dtype)
    k = torch.zeros(2, heads, k_positions.shape[-1], 4, dtype=dtype)
    bias = scheme.score_bias(q, k, q_positions, k_positions)
    return bias.expand(2, heads, q.shape[2], k.shape[2])


POSITIONS = {
    "square": (torch.arange(7), torch.arange(7)),
    "one token": (torch.tensor([0]), torch.tensor([0])),
    "decoding": (torch.tensor([9]), torch.arange(10)),
    "chunk after a cache": (torch.arange(4, 9), torch.arange(9)),
    "more queries than keys": (torch.arange(8), torch.arange(2, 5)),
    "keys later than queries": (torch.arange(3), torch.arange(40, 45)),
    "gaps": (torch.tensor([0, 5, 6, 90]), torch.tensor([2, 0, 77, 78, 700])),
    "backwards": (torch.tensor([4, 3, 2, 1]), torch.arange(5)),
    "batched": (
        torch.tensor([[3, 4, 5], [0, 0, 9]]),
        torch.tensor([[0, 1, 2, 3], [7, 5, 200, 1]]),
    ),
    "batched queries only": (torch.tensor([[3, 4, 5], [0, 0, 9]]), torch.arange(4)),
}
everywhere = pytest.mark.parametrize(
    ("q_positions", "k_positions"), POSITIONS.values(), ids=POSITIONS
)


@every_bias
@everywhere
def test_bias_is_the_formula_for_every_pair(make, q_positions, k_positions):
    scheme = filled(make(3))
    shape = (2, 3, q_positions.shape[-1], k_positions.shape[-1])
    expected = for_every_pair(
        shape, q_positions, k_positions, lambda b, h, i, j, distance: value(scheme, h, distance)
    )
    got = bias_of(scheme, q_positions, k_positions)
    assert torch.allclose(got, expected, rtol=1e-7, atol=0)


@every_bias
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_fast_path_for_consecutive_positions_is_the_general_one(
    make, queries, keys, q_start, k_start
):
    scheme = filled(make(2))
    q_positions, k_positions = torch.arange(queries) + q_start, torch.arange(keys) + k_start
    fast = bias_of(scheme, q_positions, k_positions, heads=2)
    general = bias_of(scheme, q_positions.expand(2, -1), k_positions.expand(2, -1), heads=2)
    assert torch.equal(fast, general)


@every_bias
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6), st.integers(0, 10**6))
def test_a_shift_of_all_positions_changes_nothing(make, positions, shift):
    scheme, here = filled(make(2)), torch.tensor(positions)
    there = here + shift
    assert torch.equal(bias_of(scheme, here, here, heads=2), bias_of(scheme, there, there, heads=2))


@every_bias
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@everywhere
def test_bias_comes_in_the_dtype_of_the_queries_rounded_once(make, dtype, q_positions, k_positions):
    scheme = filled(make(3))
    exact = bias_of(scheme, q_positions, k_positions)
    got = bias_of(scheme, q_positions, k_positions, dtype=dtype)
    assert got.dtype == dtype
    assert torch.allclose(got.double(), exact, rtol=0.51 * torch.finfo(dtype).eps + 1e-7)


@every_bias
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("batched", [False, True])
def test_narrow_integer_positions_do_not_wrap_around(make, dtype, batched):
    scheme = filled(make(3))
    wide = torch.tensor([[0, 1, 2], [127, 3, 90]] if batched else [0, 1, 2])
    narrow = wide.to(dtype)
    assert torch.equal(bias_of(scheme, narrow, narrow), bias_of(scheme, wide, wide))


@every_bias
@pytest.mark.parametrize(("queries", "keys"), [(0, 0), (0, 3), (3, 0)])
def test_empty_lengths_give_empty_biases(make, queries, keys):
    bias = bias_of(make(3), torch.arange(queries), torch.arange(keys))
    assert bias.shape == (2, 3, queries, keys)


@pytest.mark.parametrize("make", list(MAKERS.values())[:4], ids=list(MAKERS)[:4])
@pytest.mark.parametrize("batched", [False, True])
def test_gradients_reach_the_table(make, batched):
    scheme = filled(make(2))
    here = torch.arange(6).expand(2, -1) if batched else torch.arange(6)
    q = torch.zeros(2, 2, 6, 4, dtype=torch.float64)
    table = scheme.table.weight.detach().requires_grad_()

    def bias(weight):
        call = torch.func.functional_call
        return call(scheme, {"table.weight": weight}, (q, q, here, here))

    scheme.forward = scheme.score_bias
    assert torch.autograd.gradcheck(bias, (table,))


@every_bias
def test_memory_before_expansion_is_a_number_for_each_distance(make):
    asked = []

    scheme = make(2)
    by_distance = scheme.by_distance
    scheme.by_distance = lambda relative: asked.append(relative.shape) or by_distance(relative)
    bias_of(scheme, torch.arange(50), torch.arange(70), heads=2)
    assert [shape.numel() for shape in asked] == [119]


@every_bias
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_biases_compile_without_graph_breaks(make):
    scheme, here = filled(make(2)), torch.arange(6)
    compiled = torch.compile(
        lambda q, where: scheme.score_bias(q, q, where, where), fullgraph=True, backend="aot_eager"
    )
    with torch.no_grad():
        got = compiled(torch.zeros(2, 2, 6, 4, dtype=torch.float64), here)
    assert torch.equal(got.expand(2, -1, -1, -1), bias_of(scheme, here, here, heads=2))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@every_bias
@everywhere
def test_biases_are_the_same_on_a_gpu(make, q_positions, k_positions):
    scheme = filled(make(3))
    here = bias_of(scheme, q_positions, k_positions)
    q = torch.zeros(2, 3, q_positions.shape[-1], 4, dtype=torch.float64, device="cuda")
    k = torch.zeros(2, 3, k_positions.shape[-1], 4, dtype=torch.float64, device="cuda")
    there = scheme.cuda().score_bias(q, k, q_positions.cuda(), k_positions.cuda())
    assert torch.allclose(there.cpu().expand(here.shape), here, rtol=1e-7)


def test_relative_positions_are_query_minus_key():
    got = relative_positions(torch.tensor([5, 9]), torch.tensor([0, 5, 7]))
    assert got.tolist() == [[5, 0, -2], [9, 4, 2]]
    batched = relative_positions(torch.tensor([[5], [9]]), torch.tensor([0, 7]))
    assert batched.tolist() == [[[5, -2]], [[9, 2]]]


def test_clipping_counts_from_the_farthest_key_after_the_query():
    assert clip_to_index(torch.tensor([-9, -2, 0, 1, 2, 9]), 2).tolist() == [0, 0, 2, 3, 4, 4]


# T5's buckets ------------------------------------------------------------------------------------

DISTANCES = torch.arange(-600, 601)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32])
def test_narrow_distances_do_not_wrap_around(dtype):
    distances = torch.tensor([100, 3], dtype=dtype)
    assert clip_to_index(distances, 32).tolist() == [64, 35]
    assert clip_to_index(distances, 100).tolist() == [200, 103]
    far = torch.iinfo(dtype).min
    for distance in (torch.tensor([far], dtype=dtype), torch.tensor([far])):
        [bucket] = t5_bucket(distance, bidirectional=True).tolist()
        assert bucket == (0 if far == 0 else 31)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("num_buckets", [2, 4, 5, 8, 9, 15, 16, 32, 33, 64, 128, 320])
@pytest.mark.parametrize("max_distance", [3, 17, 20, 64, 100, 128, 129, 256, 500, 800])
def test_t5_buckets_are_exact_and_those_of_transformers(num_buckets, max_distance, bidirectional):
    half = num_buckets // 2 if bidirectional else num_buckets
    if half < 2 or max_distance <= half // 2:  # no exact bucket, or no room for the others
        with pytest.raises(ValueError, match="num_buckets must be|max_distance must be above"):
            t5_bucket(DISTANCES, num_buckets, max_distance, bidirectional=bidirectional)
        return
    got = t5_bucket(DISTANCES, num_buckets, max_distance, bidirectional=bidirectional)
    sizes = num_buckets, max_distance, bidirectional
    assert got.tolist() == [t5_bucket_exactly(d, *sizes) for d in DISTANCES.tolist()]

    from transformers.models.t5.modeling_t5 import T5Attention

    # Their argument is key - query, ours query - key: the sign flips.
    theirs = T5Attention._relative_position_bucket(
        -DISTANCES, bidirectional, num_buckets, max_distance
    )
    # transformers 5.23 takes logarithms in float32, which may round a distance beside a bucket's
    # beginning across it. Rare, and in no model's sizes: distance 63 of 65 buckets up to 1328 is
    # in bucket 37, theirs gives 38.
    for distance in DISTANCES[got != theirs].tolist():
        beside = {t5_bucket_exactly(distance + step, *sizes) for step in (-1, 0, 1)}
        assert len(beside) > 1 and theirs[distance + 600] in beside
    if (num_buckets, max_distance) == (32, 128):  # what T5 models use
        assert torch.equal(got, theirs)


@given(st.integers(-(10**7), 10**7), st.integers(4, 400), st.integers(1, 10**5), st.booleans())
def test_t5_buckets_are_exact_for_any_sizes(distance, num_buckets, room, bidirectional):
    exact = num_buckets // 4 if bidirectional else num_buckets // 2
    sizes = num_buckets, exact + room, bidirectional
    got = t5_bucket(torch.tensor(distance), *sizes[:2], bidirectional=bidirectional)
    assert got == t5_bucket_exactly(distance, *sizes)


def test_t5_buckets_use_every_row_and_no_other():
    for bidirectional in (False, True):
        got = t5_bucket(torch.arange(-2000, 2000), bidirectional=bidirectional)
        # 0 is not after itself: with both directions, the upper half's first row stays empty.
        expected = set(range(32)) - ({16} if bidirectional else set())
        assert set(got.tolist()) == expected


@pytest.mark.parametrize("is_decoder", [False, True])
@pytest.mark.parametrize("past", [0, 5])
def test_t5_bias_is_that_of_transformers(is_decoder, past):
    from transformers.models.t5.configuration_t5 import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=16, d_kv=4, num_heads=3, d_ff=8, is_decoder=is_decoder)
    theirs = T5Attention(config, has_relative_attention_bias=True)
    ours = T5Bias(3, bidirectional=not is_decoder)
    ours.table.load_state_dict(theirs.relative_attention_bias.state_dict())
    expected = theirs.compute_bias(200, 200 + past, past_seen_tokens=past)
    got = bias_of(ours, torch.arange(past, 200 + past), torch.arange(200 + past)).float()
    assert torch.equal(got[:1], expected)


# ALiBi -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_heads", range(1, 70))
def test_alibi_slopes_are_the_closed_form_for_any_number_of_heads(num_heads):
    from transformers.models.bloom.modeling_bloom import _get_alibi_slopes

    slopes = alibi_slopes(num_heads)
    assert slopes.tolist() == pytest.approx([slope(h, num_heads) for h in range(num_heads)])
    theirs = _get_alibi_slopes(num_heads, torch.device("cpu"))
    assert torch.allclose(slopes.float(), theirs, rtol=1e-6)  # transformers 5.23: float32 powers


def test_worked_example_of_alibi():
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(3).tolist() == [2.0**-4, 2.0**-8, 2.0**-2]
    bias = bias_of(ALiBi(8), torch.arange(3), torch.arange(3), heads=8)[0, 0]
    assert bias.tolist() == [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]


@pytest.mark.parametrize("num_heads", [1, 3, 8, 12, 20])
def test_alibi_is_blooms_up_to_a_number_for_each_query(num_heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    # BLOOM (transformers 5.23) adds slope * j, one row for all queries. Softmax forgets a number
    # that a whole row shares (here slope * i), so under a causal mask the weights are the same.
    n = 60
    theirs = build_alibi_tensor(torch.ones(1, n, dtype=torch.int64), num_heads, torch.float64)
    theirs = theirs.view(1, num_heads, 1, n).expand(-1, -1, n, -1)
    ours = bias_of(ALiBi(num_heads), torch.arange(n), torch.arange(n), num_heads)[:1]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    scores = torch.randn(1, num_heads, n, n, dtype=torch.float64).masked_fill(future, -torch.inf)
    assert torch.allclose((scores + ours).softmax(-1), (scores + theirs).softmax(-1), atol=1e-5)
    # Without a mask they differ: j grows past i where |i - j| falls again.
    assert not torch.allclose(ours.softmax(-1), theirs.softmax(-1), atol=1e-3)


def test_alibi_with_left_padding_counts_from_the_text_as_bloom_does():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    seen = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    positions = ((seen.cumsum(-1) - 1) * seen).clamp(min=0)
    theirs = build_alibi_tensor(seen, 2, torch.float64).view(2, 2, 1, 5)
    ours = bias_of(ALiBi(2), positions, positions, heads=2)
    # up to slope * i, for the rows and columns of the text
    shifted = ours + alibi_slopes(2).view(1, 2, 1, 1) * positions[:, None, :, None]
    lower = torch.ones(5, 5, dtype=torch.bool).tril() & seen[:, None, None] & seen[:, None, :, None]
    difference = (shifted - theirs).masked_fill(~lower.bool(), 0)
    assert difference.abs().max() < 1e-6


def test_slopes_stay_exact_when_a_model_is_halved():
    scheme = ALiBi(12).to(torch.bfloat16).half()
    assert torch.equal(scheme.slopes, alibi_slopes(12)) and scheme.slopes.dtype == torch.float64


def test_a_scheme_without_positions_opens_no_door():
    assert NoPosition().open_doors == ()
    assert NoPosition().score_bias(*[torch.zeros(1)] * 4) is None


def test_a_bias_of_ones_own_needs_its_value_for_a_distance_only():
    class Step(DistanceBias):
        def by_distance(self, relative):
            return (relative > 2).double().expand(3, *relative.shape)

    got = bias_of(Step(), torch.arange(4), torch.arange(4))
    assert got[0, 0].tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
