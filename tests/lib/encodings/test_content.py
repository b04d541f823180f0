"""Shaw and Transformer-XL against loops over pairs, term by term."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import shaw_read, shaw_scores, transformer_xl_terms
from torch.autograd import gradcheck

from course_lib.encodings import Shaw, TransformerXL, relative_shift

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
HEADS, HEAD_DIM = 3, 4


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def filled(scheme):
    """The scheme in float64, with numbers of size 1 everywhere (u and v start from zeros)."""
    for seed, parameter in enumerate(scheme.parameters()):
        parameter.data = drawn(*parameter.shape, seed=seed + 10)
    return scheme


def inputs(q_positions, k_positions, batch=2):
    q = drawn(batch, HEADS, q_positions.shape[-1], HEAD_DIM, seed=1)
    return q, drawn(batch, HEADS, k_positions.shape[-1], HEAD_DIM, seed=2)


POSITIONS = {
    "square": (torch.arange(6), torch.arange(6)),
    "one token": (torch.tensor([0]), torch.tensor([0])),
    "decoding": (torch.tensor([7]), torch.arange(8)),
    "chunk after a cache": (torch.arange(3, 7), torch.arange(7)),
    "more queries than keys": (torch.arange(6), torch.arange(2, 4)),
    "keys later than queries": (torch.arange(3), torch.arange(30, 34)),
    "gaps": (torch.tensor([0, 5, 6, 90]), torch.tensor([2, 0, 77, 78, 700])),
    "gap in keys only": (torch.arange(4), torch.tensor([0, 2, 3])),
    "backwards": (torch.tensor([3, 2, 1]), torch.arange(4)),
    "batched": (torch.tensor([[3, 4, 5], [0, 0, 9]]), torch.tensor([[0, 1, 2, 3], [7, 5, 20, 1]])),
    "batched keys only": (torch.arange(3), torch.tensor([[0, 1, 2, 3], [7, 5, 20, 1]])),
}
everywhere = pytest.mark.parametrize(
    ("q_positions", "k_positions"), POSITIONS.values(), ids=POSITIONS
)


# The shift ---------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.sampled_from([(), (2,), (2, 3)]))
def test_the_shift_moves_scores_to_their_keys_on_and_below_the_diagonal(n, batch):
    scores = drawn(*batch, n, n)
    got = relative_shift(scores)
    assert got.shape == scores.shape
    for i in range(n):
        for j in range(i + 1):
            assert torch.equal(got[..., i, j], scores[..., i, n - 1 - (i - j)])


def test_the_shift_by_hand():
    # columns stand for distances 2, 1, 0; rows for queries 0, 1, 2
    scores = torch.tensor([[2, 1, 0], [12, 11, 10], [22, 21, 20]])
    got = relative_shift(scores)
    assert got.tril().tolist() == [[0, 0, 0], [11, 10, 0], [22, 21, 20]]


def test_gradients_of_the_shift():
    assert gradcheck(relative_shift, (drawn(2, 4, 4).requires_grad_(),))


# Shaw --------------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("max_distance", [0, 1, 4, 50])
def test_shaw_scores_and_read_are_the_sums_over_pairs(q_positions, k_positions, max_distance):
    scheme = filled(Shaw(HEAD_DIM, max_distance))
    q, k = inputs(q_positions, k_positions)
    where = q_positions, k_positions
    got = scheme.score_bias(q, k, *where)
    assert torch.allclose(got, shaw_scores(q, scheme.key_vectors, max_distance, *where), atol=1e-12)
    weights = drawn(*got.shape, seed=5).softmax(-1)
    read = scheme.read(weights, *where)
    expected = shaw_read(weights, scheme.value_vectors, max_distance, *where)
    assert torch.allclose(read, expected, atol=1e-12)


def test_shaw_without_values_reads_nothing():
    scheme = Shaw(HEAD_DIM, 2, on_values=False)
    assert scheme.read(torch.ones(1, HEADS, 1, 1), torch.arange(1), torch.arange(1)) is None
    assert {name for name, _ in scheme.named_parameters()} == {"key_vectors"}


def with_parameters(scheme, door, *arguments):
    """One of the scheme's doors as a function of its parameters, for gradcheck."""
    names, values = zip(*scheme.named_parameters(), strict=True)
    scheme.forward = getattr(scheme, door)

    def call(first, *values):
        own = dict(zip(names, values, strict=True))
        return torch.func.functional_call(scheme, own, (first, *arguments))

    return call, [value.detach().requires_grad_() for value in values]


def test_gradients_of_shaw():
    here = torch.tensor([0, 1, 5])
    q, k = inputs(here, here, batch=1)
    scores, parameters = with_parameters(filled(Shaw(HEAD_DIM, 2)), "score_bias", k, here, here)
    assert gradcheck(scores, (q.requires_grad_(), *parameters))
    weights = drawn(1, HEADS, 3, 3, seed=4).softmax(-1)
    read, parameters = with_parameters(filled(Shaw(HEAD_DIM, 2)), "read", here, here)
    assert gradcheck(read, (weights.requires_grad_(), *parameters))


# Transformer-XL ----------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("dim", [None, 6])
def test_transformer_xl_is_the_sum_of_its_terms_over_pairs(q_positions, k_positions, dim):
    scheme = filled(TransformerXL(HEADS, HEAD_DIM, dim))
    q, k = inputs(q_positions, k_positions)
    where = q_positions, k_positions
    terms = transformer_xl_terms(q, k, scheme.u, scheme.v, scheme.project.weight, *where)
    got = scheme.score_bias(q, k, *where)
    # sinusoids are float32, everything else float64
    assert torch.allclose(got, sum(terms) / math.sqrt(HEAD_DIM), atol=3e-6)


def test_all_four_terms_of_transformer_xl():
    scheme, here = filled(TransformerXL(HEADS, HEAD_DIM)), torch.arange(5)
    q, k = inputs(here, here)
    full = scheme.score_bias(q, k, here, here)
    terms = transformer_xl_terms(q, k, scheme.u, scheme.v, scheme.project.weight, here, here)
    for zeroed, term in (("u", terms[0]), ("v", terms[2])):
        alone = filled(TransformerXL(HEADS, HEAD_DIM))
        getattr(alone, zeroed).data.zero_()
        difference = (full - alone.score_bias(q, k, here, here)) * math.sqrt(HEAD_DIM)
        assert torch.allclose(difference, term, atol=1e-5), zeroed
    # and the fourth, q k, is attention's own: (q + u) k + (q + v) W R
    attention = q @ k.mT
    expected = (q + scheme.u) @ k.mT + terms[1] + terms[2]
    assert torch.allclose(attention + full * math.sqrt(HEAD_DIM), expected, atol=1e-5)


@pytest.mark.parametrize("positions", [[0, 1, 2], [0, 1, 5]], ids=["consecutive", "gaps"])
def test_gradients_of_transformer_xl(positions):
    here = torch.tensor(positions)
    q, k = inputs(here, here, batch=1)
    scheme = filled(TransformerXL(HEADS, HEAD_DIM, 6))
    scores, parameters = with_parameters(scheme, "score_bias", k, here, here)
    assert gradcheck(scores, (q.requires_grad_(), *parameters))
    keys, _ = with_parameters(scheme, "score_bias")
    scheme.forward = lambda k: scheme.score_bias(q.detach(), k, here, here)
    assert gradcheck(keys, (k.requires_grad_(), *parameters))


# Both --------------------------------------------------------------------------------------------

MAKERS = {
    "Shaw": lambda: filled(Shaw(HEAD_DIM, 3)),
    "Transformer-XL": lambda: filled(TransformerXL(HEADS, HEAD_DIM)),
}
both = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
starts = st.integers(0, 10**6)


@both
@given(st.integers(1, 7), st.integers(1, 7), starts, starts)
def test_the_fast_path_for_consecutive_positions_is_the_general_one(
    make, queries, keys, q_start, k_start
):
    scheme = make()
    where = torch.arange(queries) + q_start, torch.arange(keys) + k_start
    q, k = inputs(*where)
    fast = scheme.score_bias(q, k, *where)
    general = scheme.score_bias(q, k, *(positions.expand(2, -1) for positions in where))
    # tables of sinusoids are float32, and the general path multiplies two of them
    atol = 3e-6 if isinstance(scheme, TransformerXL) else 1e-12
    assert torch.allclose(fast, general, atol=atol)
    weights = general.softmax(dim=-1)
    read = scheme.read(weights, *where)
    assert read is None or torch.allclose(
        read, scheme.read(weights, *(positions.expand(2, -1) for positions in where)), atol=1e-12
    )


@both
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=5), starts)
def test_a_shift_of_all_positions_changes_nothing(make, positions, shift):
    scheme, here = make(), torch.tensor(positions)
    q, k = inputs(here, here)
    there = here + shift
    assert torch.allclose(
        scheme.score_bias(q, k, here, here), scheme.score_bias(q, k, there, there), atol=1e-12
    )


@both
@everywhere
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scores_come_in_the_dtype_of_the_queries(make, q_positions, k_positions, dtype):
    scheme, (q, k) = make(), inputs(q_positions, k_positions)
    exact = scheme.score_bias(q, k, q_positions, k_positions)
    size = exact.abs().max()
    got = scheme.to(dtype).score_bias(q.to(dtype), k.to(dtype), q_positions, k_positions)
    assert got.dtype == dtype
    assert (got.double() - exact).abs().max() < 12 * torch.finfo(dtype).eps * size + 1e-12
    # parameters in float32, activations in half precision, as in mixed-precision training
    mixed = scheme.float().score_bias(q.to(dtype), k.to(dtype), q_positions, k_positions)
    assert mixed.dtype == dtype
    weights = got.softmax(-1)
    read = scheme.read(weights, q_positions, k_positions)
    assert read is None or read.dtype == dtype


@both
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("batched", [False, True])
def test_narrow_integer_positions_do_not_wrap_around(make, dtype, batched):
    wide = torch.tensor([[0, 1, 2], [127, 3, 90]] if batched else [0, 1, 2])
    scheme, (q, k) = make(), inputs(wide, wide)
    narrow = wide.to(dtype)
    expected = scheme.score_bias(q, k, wide, wide)
    assert torch.equal(scheme.score_bias(q, k, narrow, narrow), expected)
    weights = expected.softmax(-1)
    read = scheme.read(weights, wide, wide)
    assert read is None or torch.equal(scheme.read(weights, narrow, narrow), read)


@both
@pytest.mark.parametrize(("queries", "keys"), [(0, 0), (0, 3), (3, 0)])
def test_empty_lengths_give_empty_scores(make, queries, keys):
    where = torch.arange(queries), torch.arange(keys)
    scores = make().score_bias(*inputs(*where), *where)
    assert scores.shape == (2, HEADS, queries, keys)


@both
def test_inputs_that_are_views_are_read_right(make):
    here, scheme = torch.arange(5), make()
    q, k = inputs(here, here)
    views = (t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k))
    assert torch.allclose(
        scheme.score_bias(*views, here, here), scheme.score_bias(q, k, here, here), atol=1e-12
    )


def test_memory_of_shaw_and_transformer_xl_is_not_a_vector_for_each_pair():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            for t in out if isinstance(out, tuple | list) else [out]:
                if isinstance(t, torch.Tensor):
                    self.size = max(self.size, t.untyped_storage().nbytes() // t.element_size())
            return out

    n, head_dim = 128, 64
    here, q = torch.arange(n), torch.zeros(1, 1, n, head_dim)
    for scheme in (Shaw(head_dim, 16), TransformerXL(1, head_dim)):
        with Largest() as largest, torch.no_grad():
            scheme.score_bias(q, q, here, here)
            scheme.read(q.new_ones(1, 1, n, n), here, here)
        # a few numbers for each pair (the scores), not head_dim of them: 64 n^2
        assert largest.size <= 2 * n * n + 2 * n * head_dim


def test_frequencies_of_transformer_xl_stay_exact_when_a_model_is_halved():
    scheme = TransformerXL(HEADS, HEAD_DIM)
    before = scheme.frequencies.clone()
    scheme.to(torch.bfloat16).half()
    assert scheme.frequencies.dtype == torch.float64 and torch.equal(scheme.frequencies, before)


def test_shaw_compiles_without_graph_breaks():
    scheme, here = filled(Shaw(HEAD_DIM, 2)), torch.arange(5)
    q, k = inputs(here, here)
    compiled = torch.compile(scheme.score_bias, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(q, k, here, here), scheme.score_bias(q, k, here, here))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@both
@everywhere
def test_scores_are_the_same_on_a_gpu(make, q_positions, k_positions):
    scheme, (q, k) = make(), inputs(q_positions, k_positions)
    here = scheme.score_bias(q, k, q_positions, k_positions)
    there = scheme.cuda().score_bias(*(t.cuda() for t in (q, k, q_positions, k_positions)))
    assert torch.allclose(there.cpu(), here, atol=1e-6)
