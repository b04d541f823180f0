"""Attention and the decoder against loops in float64, and against what positions must mean."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_lib.encodings import LearnedAbsolute, NoPosition, PositionScheme, Sinusoidal
from course_lib.model import Decoder, DecoderConfig, View, attend


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


class Doubler(PositionScheme):
    """Opens the rotate door: not a rotation, but seen if it is left shut."""

    def rotate(self, q, k, q_positions, k_positions):
        return 2 * q, k


def by_loops(q, k, v, scheme, q_positions, k_positions, causal, mask=None):
    batch, heads, queries, head_dim = q.shape
    out = torch.zeros(batch, heads, queries, v.shape[-1], dtype=torch.float64)
    share = heads // k.shape[1]
    factor = 2 if isinstance(scheme, Doubler) else 1
    for b in range(batch):
        for h in range(heads):
            for i in range(queries):
                at = (q_positions[b] if q_positions.ndim == 2 else q_positions)[i].item()
                keys_at = (k_positions[b] if k_positions.ndim == 2 else k_positions).tolist()
                seen = [
                    j
                    for j, where in enumerate(keys_at)
                    if (not causal or where <= at) and (mask is None or mask[b, 0, i, j])
                ]
                scores = [
                    factor * float(q[b, h, i] @ k[b, h // share, j]) / math.sqrt(head_dim)
                    - (0.1 * abs(at - keys_at[j]) if isinstance(scheme, Distance) else 0)
                    for j in seen
                ]
                total = sum(map(math.exp, scores))
                for j, score in zip(seen, scores, strict=True):
                    read = v[b, h // share, j] + (keys_at[j] if isinstance(scheme, Reader) else 0)
                    out[b, h, i] += math.exp(score) / total * read
    return out


def inputs(seed, batch, heads, kv_heads, queries, keys):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)  # noqa: E731
    q, k = draw(batch, heads, queries, 4), draw(batch, kv_heads, keys, 4)
    return q, k, draw(batch, kv_heads, keys, 4), generator


@given(
    st.integers(0, 10**6),
    st.sampled_from([NoPosition(), Distance(), Reader(), Doubler()]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1)]),
)
def test_attend_is_the_sum_over_what_may_be_seen(seed, scheme, causal, padded, heads):
    q, k, v, generator = inputs(seed, 2, *heads, queries=3, keys=5)
    k_positions = torch.stack([torch.randperm(9, generator=generator)[:5] for _ in range(2)])
    q_positions = k_positions.amax(dim=1, keepdim=True) + torch.tensor([[0, 2, 7]])
    if not padded:
        k_positions, q_positions = k_positions[0], q_positions[0]
    mask = torch.rand(2, 1, 3, 5, generator=generator) < 0.7
    mask[..., 0] = True
    for allowed in (None, mask):
        got = attend(q, k, v, scheme, View(q_positions, k_positions, causal, allowed))
        expected = by_loops(q, k, v, scheme, q_positions, k_positions, causal, allowed)
        assert torch.allclose(got, expected, atol=1e-10)


@pytest.mark.parametrize("scheme", [NoPosition(), Distance()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("masked", [False, True])
def test_scores_of_all_pairs_are_never_held_where_torch_can_do_without(scheme, masked):
    q, k, v, _ = inputs(0, 2, 2, 2, queries=4, keys=6)
    at, seen = torch.tensor([2, 3, 5, 9]), torch.tensor([0, 1, 2, 3, 5, 8])
    mask = torch.ones(4, 6).bool() if masked else None
    expected = attend(q, k, v, scheme, View(at, seen, mask=mask))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # raises where this one cannot be used
        assert torch.allclose(attend(q, k, v, scheme, View(at, seen, mask=mask)), expected)


@pytest.mark.parametrize(
    "scheme", [NoPosition(), Distance(), Reader()], ids=lambda s: type(s).__name__
)
def test_a_query_that_may_see_nothing_reads_zeros(scheme):
    q, k, v, _ = inputs(0, 1, 2, 2, queries=2, keys=3)
    out = attend(q, k, v, scheme, View(torch.tensor([0, 5]), torch.tensor([1, 2, 3])))
    assert torch.equal(out[:, :, 0], torch.zeros_like(out[:, :, 0])) and out.isfinite().all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"q": torch.zeros(2, 3, 4)}, "q must have shape .batch, heads, length, head_dim."),
        ({"v": torch.zeros(2, 4, 6, 4)}, "k and v must agree"),
        (
            {"k": torch.zeros(2, 3, 5, 4), "v": torch.zeros(2, 3, 5, 4)},
            "4 query heads cannot share 3",
        ),
        ({"q_positions": torch.arange(4)}, "q_positions must have shape"),
        (
            {"k_positions": torch.zeros(3, 5, dtype=torch.int64)},
            r"k_positions must .* got \(3, 5\)",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_named(change, says):
    given = {
        "q": torch.zeros(2, 4, 3, 4),
        "k": torch.zeros(2, 4, 5, 4),
        "v": torch.zeros(2, 4, 5, 4),
        "q_positions": torch.arange(3),
        "k_positions": torch.arange(5),
    } | change
    q, k, v, *positions = given.values()
    with pytest.raises(ValueError, match=says):
        attend(q, k, v, NoPosition(), View(*positions))


def test_the_read_door_alone_is_open_in_a_whole_text():
    class Alone(PositionScheme):
        read = Reader.read

    q, k, v, _ = inputs(0, 1, 2, 2, queries=4, keys=4)
    whole = attend(q, k, v, Alone(), View(torch.arange(4), torch.arange(4)))
    last = attend(q[:, :, 3:], k, v, Alone(), View(torch.tensor([3]), torch.arange(4)))
    assert torch.allclose(whole[:, :, 3:], last, atol=1e-10)


def test_open_doors_are_those_that_a_scheme_overrides():
    assert NoPosition().open_doors == ()
    assert Sinusoidal(4).open_doors == ("embed",)
    assert Reader().open_doors == ("score_bias", "read")


def small(scheme, causal=True):
    torch.manual_seed(0)
    config = DecoderConfig(11, dim=16, num_layers=2, num_heads=2, hidden_dim=32, causal=causal)
    return Decoder(config, scheme).eval()


SCHEMES = [NoPosition(), Sinusoidal(16), LearnedAbsolute(64, 16, std=1.0), Distance()]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: type(s).__name__)


@every_scheme
def test_the_past_does_not_see_the_future(scheme):
    model, tokens = small(scheme), torch.randint(11, (2, 9))
    changed = tokens.clone()
    changed[:, 6:] = (changed[:, 6:] + 1) % 11
    before, after = model(tokens, torch.arange(9)), model(changed, torch.arange(9))
    assert torch.allclose(before[:, :6], after[:, :6], atol=1e-5)
    assert not torch.allclose(before[:, 6:], after[:, 6:], atol=1e-2)


@every_scheme
def test_left_padding_with_a_mask_changes_nothing(scheme):
    model, text = small(scheme), torch.randint(11, (1, 5))
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.int64), text], dim=1)
    positions = torch.tensor([[0, 0, 0, 0, 1, 2, 3, 4]])
    mask = (torch.arange(8) >= 3).expand(1, 1, 8, 8)
    alone = model(text, torch.arange(5))
    assert torch.allclose(model(padded, positions, mask)[:, 3:], alone, atol=1e-5)


@every_scheme
def test_order_of_the_batch_does_not_matter(scheme):
    model, tokens = small(scheme), torch.randint(11, (4, 7))
    order = torch.tensor([2, 0, 3, 1])
    out = model(tokens, torch.arange(7))
    assert torch.allclose(model(tokens[order], torch.arange(7)), out[order], atol=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES[1:], ids=lambda s: type(s).__name__)
def test_only_a_model_without_positions_is_blind_to_order(scheme):
    tokens, order = torch.arange(9)[None], torch.randperm(9)

    def change(which):
        model = small(which, causal=False)
        return model(tokens[:, order], torch.arange(9)) - model(tokens, torch.arange(9))[:, order]

    assert change(NoPosition()).abs().max() < 1e-5 < 1e-2 < change(scheme).abs().max()


def test_positions_are_explicit_and_their_shape_is_checked():
    model, tokens = small(Sinusoidal(16)), torch.randint(11, (2, 5))
    with pytest.raises(
        ValueError, match=r"positions must have shape .*\(5,\) or \(2, 5\), got \(4,\)"
    ):
        model(tokens, torch.arange(4))
    later = model(tokens, torch.arange(5) + 7)
    assert not torch.allclose(later, model(tokens, torch.arange(5)), atol=1e-2)


def test_one_scheme_for_each_layer():
    made = []

    def scheme_of(layer):
        made.append(Distance())
        return made[layer]

    model = small(scheme_of)
    assert [block.attention.scheme for block in model.blocks] == made and len(made) == 2


def test_embeddings_start_at_size_one():
    model = small(NoPosition())
    x = model.embedding.weight * math.sqrt(16)
    assert 0.8 < x.std() < 1.2


def test_heads_that_do_not_divide_are_named():
    with pytest.raises(ValueError, match="dim 30 does not divide into 4 heads"):
        DecoderConfig(dim=30, num_heads=4)
