"""RoPE on several axes: against loops, against plain RoPE, and against released code.

transformers 5.23: Qwen2-VL and Qwen3-VL (text: time, row, column), Pixtral and DINOv3 (pictures).
Theirs take angles in float32; positions are small here, so that this is not what is compared.
"""

import math

import pytest
import torch
from oracles import rotated
from torch import nn

from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    Rotary,
    axis_of_pair,
    from_rope_parameters,
    rotary_frequencies,
    rotate,
)
from course_lib.model import Decoder, DecoderConfig, View, attend
from course_lib.model.decoder import Cache


def drawn(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def grid(*sizes):
    """The places of a picture or video, the last axis counting fastest: (places, axes)."""
    return torch.cartesian_prod(*map(torch.arange, sizes))


# The formula -------------------------------------------------------------------------------------

SECTIONS = {
    "one after the other": ((3, 2, 1), False, [0, 0, 0, 1, 1, 2]),
    "interleaved": ((2, 2, 2), True, [0, 1, 2, 0, 1, 2]),
    "interleaved, the first has more": ((4, 1, 1), True, [0, 1, 2, 0, 0, 0]),
    "two axes": ((2, 4), False, [0, 0, 1, 1, 1, 1]),
    "two axes, interleaved": ((3, 3), True, [0, 1, 0, 1, 0, 1]),
    "four axes": ((1, 2, 1, 2), False, [0, 1, 1, 2, 3, 3]),
}


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(("sections", "interleaved", "axes"), SECTIONS.values(), ids=SECTIONS)
@pytest.mark.parametrize("batched", [False, True])
def test_each_pair_turns_by_the_position_on_its_axis(
    sections, interleaved, axes, layout, dtype, batched
):
    scheme = AxialRotary(12, sections, 500.0, interleaved, layout)
    assert scheme.axis_of_pair.tolist() == axes
    generator = torch.Generator().manual_seed(1)
    shape = (2, 5, len(sections)) if batched else (5, len(sections))
    positions = torch.randint(900, shape, generator=generator)
    x = drawn(2, 3, 5, 12, dtype=dtype)
    q, k = scheme.rotate(x, 2 * x, positions, positions)
    expected = torch.zeros(x.shape, dtype=torch.float64)
    for pair, axis in enumerate(axes):  # one pair at a time, the others standing still
        frequencies = [500.0 ** (-2 * pair / 12) if i == pair else 0.0 for i in range(6)]
        turned = rotated(x, positions[..., axis], frequencies, layout)
        mine = [pair, pair + 6] if layout == "half" else [2 * pair, 2 * pair + 1]
        expected[..., mine] = turned[..., mine]
    tolerance = {"rtol": torch.finfo(dtype).eps, "atol": 6e-7}
    assert q.dtype == dtype and torch.allclose(q.double(), expected, **tolerance)
    assert torch.allclose(k.double(), 2 * expected, **tolerance)


@pytest.mark.parametrize("sections", [(8, 12, 12), (16, 16), (4, 3, 3)])
@pytest.mark.parametrize(
    "positions", [torch.tensor([0, 7, 3]), torch.tensor([[2, 0, 9], [5, 6, 7]])]
)
def test_a_text_is_turned_as_by_plain_rope_to_the_last_digit(sections, positions):
    x = drawn(2, 3, 3, 64)
    plain = Rotary(64, rotary_dim=2 * sum(sections)).rotate(x, x, positions, positions)
    for given in (positions, positions[..., None].expand(*positions.shape, len(sections))):
        scheme = AxialRotary(64, sections)
        assert all(map(torch.equal, scheme.rotate(x, x, given, given), plain))


def test_a_score_depends_on_the_distance_along_each_axis_alone():
    scheme, places = AxialRotary(16, (3, 5)), grid(3, 5)
    q, k = drawn(1, 1, 1, 16), drawn(1, 1, 1, 16, seed=1)

    def score(there, here):
        turned_q, turned_k = scheme.rotate(q, k, there[None], here[None])
        return (turned_q * turned_k).sum().item()

    by_distance = {}
    for one in places:
        for other in places:
            by_distance.setdefault(tuple((one - other).tolist()), []).append(score(one, other))
    assert all(max(found) - min(found) < 1e-5 for found in by_distance.values())
    assert abs(score(places[1], places[0]) - score(places[5], places[0])) > 1e-3


def test_the_frequencies_are_those_that_are_given():
    x, places = drawn(1, 1, 6, 8), grid(2, 3)
    ladder = rotary_frequencies(4, 100.0)
    scheme = AxialRotary(8, (2, 2), frequencies=ladder.repeat(2), attention_factor=1.5)
    rows, columns = (Rotary(4, 100.0, attention_factor=1.5).table(place) for place in places.T)
    table = [torch.cat(parts, dim=-1) for parts in zip(rows, columns, strict=True)]
    assert torch.allclose(scheme.rotate(x, x, places, places)[0], rotate(x, *table, "half"))


# Released code -----------------------------------------------------------------------------------


def turned_by_theirs(module, x, cos, sin):
    cos, sin = (t if t.ndim == 3 else t[None] for t in (cos, sin))  # (1, length, dim)
    return module.apply_rotary_pos_emb(x, x, cos, sin)[0]


MROPE = {
    "Qwen2-VL": (
        "qwen2_vl",
        "Qwen2VLRotaryEmbedding",
        "Qwen2VLTextConfig",
        {"mrope_section": [16, 24, 24]},
    ),
    "Qwen3-VL": (
        "qwen3_vl",
        "Qwen3VLTextRotaryEmbedding",
        "Qwen3VLTextConfig",
        {"mrope_section": [24, 20, 20], "mrope_interleaved": True},
    ),
}


@pytest.mark.parametrize(("model", "rotary", "config", "parameters"), MROPE.values(), ids=MROPE)
@pytest.mark.parametrize("size", [(1, 3, 5), (2, 4, 7), (3, 8, 2)])
def test_equal_to_the_language_models_of_qwen(model, rotary, config, parameters, size):
    module = pytest.importorskip(f"transformers.models.{model}.modeling_{model}")
    parameters = {"rope_type": "default", "rope_theta": 1e6} | parameters
    made = getattr(module, config)(
        hidden_size=256, num_attention_heads=2, head_dim=128, rope_parameters=parameters
    )
    places = grid(*size)
    x = drawn(1, 2, len(places), 128)
    cos, sin = getattr(module, rotary)(made)(x, places.T[:, None])
    theirs = turned_by_theirs(module, x, cos, sin)
    scheme = AxialRotary(128, **from_rope_parameters(parameters, 128)._asdict())
    assert torch.allclose(scheme.rotate(x, x, places, places)[0], theirs, atol=1e-5)


@pytest.mark.parametrize("size", [(3, 5), (8, 2), (4, 4)])
def test_equal_to_qwen_2_s_pictures_by_the_type_axial(size):
    from transformers.models.qwen2_vl import modeling_qwen2_vl as module

    config = module.Qwen2VLVisionConfig(embed_dim=128, hidden_size=128, num_heads=2)
    places = grid(*size)
    x = drawn(1, 2, len(places), 64)
    theirs = module.Qwen2VLVisionRotaryEmbedding(config)
    cos, sin = theirs(x, places)
    scaled = from_rope_parameters({"rope_type": "axial", "rope_theta": 10_000.0}, 64)
    ours, _ = AxialRotary(64, **scaled._asdict()).rotate(x, x, places, places)
    assert torch.allclose(ours, turned_by_theirs(module, x, cos, sin), atol=1e-5)


@pytest.mark.parametrize("size", [(3, 5), (8, 2), (4, 4)])
def test_equal_to_pixtral_whose_axes_share_one_ladder_by_turns(size):
    from transformers.models.pixtral import modeling_pixtral as module

    config = module.PixtralVisionConfig(hidden_size=128, num_attention_heads=2)
    places = grid(*size)
    x = drawn(1, 2, len(places), 64)
    cos, sin = module.PixtralVisionRotaryEmbedding(config)(x, places)
    ladder = rotary_frequencies(64)
    scheme = AxialRotary(64, (16, 16), frequencies=torch.cat([ladder[0::2], ladder[1::2]]))
    ours, _ = scheme.rotate(x, x, places, places)
    assert torch.allclose(ours, turned_by_theirs(module, x, cos, sin), atol=1e-5)


@pytest.mark.parametrize("size", [(3, 5), (8, 2), (4, 4)])
def test_equal_to_dinov3_whose_places_go_from_minus_1_to_1(size):
    from transformers.models.dinov3_vit import modeling_dinov3_vit as module

    config = module.DINOv3ViTConfig(hidden_size=128, num_attention_heads=2, patch_size=16)
    theirs = module.DINOv3ViTRopePositionEmbedding(config).eval()
    x = drawn(1, 2, size[0] * size[1], 64)
    cos, sin = theirs(torch.zeros(1, 3, 16 * size[0], 16 * size[1]))
    expected, _ = module.apply_rotary_pos_emb(x, x, cos, sin)
    middles = [(2 * torch.arange(n).double() + 1) / n - 1 for n in size]
    places = torch.cartesian_prod(*middles)
    ladder = 2 * math.pi * rotary_frequencies(32, config.rope_theta)
    scheme = AxialRotary(64, (16, 16), frequencies=ladder.repeat(2))
    assert torch.allclose(scheme.rotate(x, x, places, places)[0], expected, atol=1e-5)


# In a model --------------------------------------------------------------------------------------

CONFIG = DecoderConfig(vocab_size=13, dim=32, num_layers=2, num_heads=2, hidden_dim=40)


def made(scheme=None, causal=True):
    torch.manual_seed(0)
    config = DecoderConfig(13, 32, 2, 2, 40, causal)
    return Decoder(config, scheme or AxialRotary(16, (4, 2, 2))).eval().requires_grad_(False)


def page():
    """Four words, a picture of 2 x 3 pieces, two words: (12, 3)."""
    words = torch.arange(4)[:, None].expand(4, 3)
    picture = 4 + grid(1, 2, 3)
    more = 4 + 3 + torch.arange(2)[:, None].expand(2, 3)
    return torch.cat([words, picture, more])


def test_a_page_read_in_pieces_scores_as_in_one_pass():
    tokens, places, model = torch.randint(13, (2, 12)), page(), made()
    whole = model(tokens, places)
    cache, pieces = Cache(), []
    for start, stop in [(0, 4), (4, 10), (10, 11), (11, 12)]:
        plain_text = start != 4 and stop != 10
        some = places[start:stop]
        given = range(int(some[0, 0]), int(some[-1, 0]) + 1) if plain_text else some
        pieces.append(model(tokens[:, start:stop], given, cache=cache))
    assert torch.allclose(torch.cat(pieces, dim=1), whole, atol=1e-5)
    assert torch.equal(cache.positions, places)


def test_under_a_causal_mask_pieces_of_a_picture_see_each_other():
    model, places = made(), page()
    tokens = torch.randint(13, (1, 12))
    changed = tokens.clone()
    changed[0, 9] = (tokens[0, 9] + 1) % 13  # the picture's last piece
    moved = (model(tokens, places) - model(changed, places)).abs().amax(dim=(0, 2)) > 0
    assert moved.tolist() == [False] * 4 + [True] * 8


def test_texts_of_a_batch_may_have_their_own_places():
    model, tokens = made(causal=False), torch.randint(13, (2, 12))
    shifted = page() + 5
    both = model(tokens, torch.stack([page(), shifted]))
    assert torch.allclose(both[0], model(tokens, page())[0], atol=1e-5)
    assert torch.allclose(both, model(tokens, page()), atol=1e-4)  # only distances count


def test_three_texts_of_three_tokens_on_three_axes_are_asked_for_plainly():
    model, tokens = made(), torch.randint(13, (3, 3))
    with pytest.raises(ValueError, match=r"give them as \(batch, length, axes\)"):
        model(tokens, torch.arange(3).expand(3, 3))
    assert model(tokens, torch.arange(3)[:, None].expand(3, 3, 3)).shape == (3, 3, 13)


def test_gradients_reach_queries_and_keys():
    scheme, places = AxialRotary(8, (2, 1, 1)).double(), grid(2, 2, 1).double()
    x = drawn(1, 1, 4, 8, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: scheme.rotate(x, x, places, places), x)


def test_a_model_that_is_rounded_or_moved_keeps_its_frequencies():
    model = made().bfloat16()
    assert model.first_scheme.frequencies.dtype == torch.float64
    moved = made().to("meta")
    tokens = torch.zeros(1, 12, dtype=torch.long, device="meta")
    assert moved(tokens, page().to("meta")).shape == (1, 12, 13)


def test_a_compiled_model_takes_places():
    model, tokens = made(), torch.randint(13, (2, 12))
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    assert torch.allclose(compiled(tokens, page()), model(tokens, page()), atol=1e-5)


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AxialRotary(16, (8,)), r"sections must give 2 axes or more .* got \(8,\)"),
        (lambda: AxialRotary(16, (8, 0)), r"at least one pair each, got \(8, 0\)"),
        (lambda: AxialRotary(16, (4, 5)), r"at most head_dim / 2 = 8 pairs together, got \(4, 5\)"),
        (lambda: AxialRotary(16, (2, 3, 3), interleaved=True),
         r"\(2, 3, 3\) cannot be interleaved: axis 2 has its turn at 2 of 8 pairs. Give it 2"),
        (lambda: axis_of_pair((4, 4, 1), interleaved=True), "axis 1 has its turn at 3 of 9 pairs"),
        (lambda: AxialRotary(16, (4, 4), layout="pairs"), "layout must be 'half' or 'interleaved'"),
        (lambda: AxialRotary(16, (4, 4), frequencies=[1.0]), r"frequencies must have shape \(8,\)"),
        (lambda: axis_of_pair((1, 2), interleaved=True), "cannot be interleaved"),
        (lambda: made()(torch.zeros(1, 4, dtype=torch.long), torch.zeros(4, 2)),
         r"here \(4,\) or \(1, 4\) or \(4, 3\) or \(1, 4, 3\), got \(4, 2\)"),
        (lambda: made(ALiBi(2))(torch.zeros(1, 12, dtype=torch.long), page()),
         r"here \(12,\) or \(1, 12\), got \(12, 3\)"),
        (lambda: made()(torch.zeros(1, 4, dtype=torch.long), torch.zeros(4)), "must be integers"),
        (lambda: from_rope_parameters({"rope_type": "axial", "rope_theta": 100.0}, 6),
         "head_dim must be a multiple of 4 for two axes of pairs, got 6"),
        (lambda: from_rope_parameters(
            {"rope_type": "default", "rope_theta": 1e4, "mrope_sections": [2, 2]}, 8),
         "does not take mrope_sections"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_cache_of_one_batch_is_not_followed_by_another():
    model, cache = made(), Cache()
    model(torch.zeros(2, 12, dtype=torch.long), page().expand(2, 12, 3), cache=cache)
    with pytest.raises(ValueError, match="cannot follow the cache's"):
        model(torch.zeros(2, 1, dtype=torch.long), torch.zeros(1, 3).long(), cache=cache)


def test_attend_alone_takes_places():
    q = drawn(1, 2, 6, 16)
    scheme, places = AxialRotary(16, (4, 4)), grid(2, 3)
    got = attend(q, q, q, scheme, View(places, places, causal=False))
    turned, _ = scheme.rotate(q, q, places, places)
    weights = (turned @ turned.mT / 4).softmax(dim=-1)
    assert torch.allclose(got, weights @ q, atol=1e-5)
    assert isinstance(scheme, nn.Module) and scheme.open_doors == ("rotate",)
