"""Windows of keys, layer by layer: against masks, and against transformers' `sliding_window`."""

import copy

import pytest
import torch

from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    NoPosition,
    Rotary,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    relative_positions,
)
from course_lib.model import Decoder, DecoderConfig, View, attend, attention
from course_lib.model.decoder import Cache
from course_lib.model.llama import Llama, LlamaConfig

CONFIG = DecoderConfig(13, 32, 3, 4, 40, num_kv_heads=2)
SCHEMES = {
    "none": NoPosition(), "rope": Rotary(8), "sinusoidal": Sinusoidal(32), "alibi": ALiBi(4),
    "t5": T5Bias(4, 8, 20), "shaw": lambda layer: Shaw(8, 3, std=1.0),
    "transformer-xl": lambda layer: TransformerXL(4, 8), "several axes": AxialRotary(8, (2, 2)),
}  # fmt: skip
every_scheme = pytest.mark.parametrize("name", SCHEMES)
POSITIONS = {
    "range": range(4, 13),
    "counted": torch.arange(9),
    "gaps": torch.tensor([0, 1, 2, 5, 6, 20, 21, 23, 24]),
    "batched": torch.stack([torch.arange(9), 3 * torch.arange(9)]),
    "narrow": torch.arange(9, dtype=torch.uint8),
}
every_positions = pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
param, slow = pytest.param, pytest.mark.slow
ATTENTION = torch.nn.functional.scaled_dot_product_attention


def made(name="rope", windows=None, causal=True):
    torch.manual_seed(0)
    config = DecoderConfig(13, 32, 3, 4, 40, causal, 2)
    model = Decoder(config, copy.deepcopy(SCHEMES[name]), windows).eval()
    for parameter in model.parameters():  # those that start from zero as well
        parameter.data += 0.2 * torch.randn_like(parameter)
    return model.requires_grad_(False)


def texts(batch, length):
    return torch.randint(13, (batch, length), generator=torch.Generator().manual_seed(1))


def near(positions, window):
    """A mask of distances below `window`: (queries, keys), or (batch, 1, queries, keys)."""
    where = torch.tensor(positions) if isinstance(positions, range) else positions
    rows = [
        [[abs(i - j) < window for j in row] for i in row]
        for row in (where if where.ndim == 2 else where[None]).tolist()
    ]
    mask = torch.tensor(rows)
    return mask[:, None] if where.ndim == 2 else mask[0]


# What a window hides -----------------------------------------------------------------------------


@every_scheme
@every_positions
@pytest.mark.parametrize("window", [param(1, marks=slow), 3, param(100, marks=slow)])
@pytest.mark.parametrize("causal", [True, param(False, marks=slow)])
def test_a_window_hides_what_a_mask_of_distances_hides(name, positions, window, causal):
    tokens = texts(2, 9)
    got = made(name, window, causal)(tokens, positions)
    expected = made(name, None, causal)(tokens, positions, near(positions, window))
    assert torch.allclose(got, expected, atol=1e-5)
    hidden = torch.rand(2, 1, 9, 9, generator=torch.Generator().manual_seed(2)) < 0.7
    for mask in (hidden[0, 0], hidden, hidden[:1, :, :1]):
        got = made(name, window, causal)(tokens, positions, mask)
        both = mask & near(positions, window)
        assert torch.allclose(got, made(name, None, causal)(tokens, positions, both), atol=1e-5)


def test_each_layer_has_its_window_and_they_add_up_to_what_a_model_sees():
    """Through layers of windows 3, all and 2 a query sees all; through 3, 4 and 2 the last 7."""
    model = made(windows=lambda layer: (3, None, 2)[layer])
    assert [block.attention.window for block in model.blocks] == [3, None, 2]

    def first_seen(windows):
        model, tokens = made(windows=windows.__getitem__), texts(1, 12)
        here = model(tokens, range(12))[0, -1]
        for place in range(12):
            changed = tokens.clone()
            changed[0, place] = (changed[0, place] + 1) % 13
            if not torch.equal(model(changed, range(12))[0, -1], here):
                return place
        return None

    assert first_seen([3, None, 2]) == 0
    assert first_seen([3, 4, 2]) == 11 - (2 + 3 + 1)
    assert first_seen([1, 1, 1]) == 11


@pytest.mark.parametrize("window", [1, 2, 5, 40])
def test_the_same_keys_as_in_transformers(window):
    from transformers.masking_utils import (
        sliding_window_bidirectional_mask_function,
        sliding_window_causal_mask_function,
    )

    theirs = sliding_window_causal_mask_function(window)
    # for encoders they do not count the query itself
    both_sides = sliding_window_bidirectional_mask_function(window - 1)
    q, where = torch.zeros(1, 1, 20, 20), torch.arange(20)
    values = torch.eye(20)[None, None]
    for causal, sees in ((True, theirs), (False, both_sides)):
        read = attend(q, q, values, NoPosition(), View(where, where, causal, window=window))
        expected = [[bool(sees(0, 0, i, j)) for j in where] for i in where]
        assert torch.equal(read[0, 0] > 0, torch.tensor(expected))


@pytest.mark.parametrize("window", [1, 3, 7, 100])
def test_equal_to_a_whole_model_of_transformers_with_a_sliding_window(window):
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    theirs = (
        MistralForCausalLM(
            MistralConfig(
                vocab_size=13,
                hidden_size=32,
                intermediate_size=40,
                num_hidden_layers=3,
                num_attention_heads=4,
                num_key_value_heads=2,
                sliding_window=window,
                tie_word_embeddings=False,
                rms_norm_eps=1e-5,
                attn_implementation="eager",
                rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
            )
        )
        .eval()
        .requires_grad_(False)
    )
    config = LlamaConfig(13, 32, 3, 4, 40, num_kv_heads=2)
    ours = Llama(config, Rotary(8), tied=False, windows=window).eval().requires_grad_(False)
    weights = {
        "embedding.weight": theirs.model.embed_tokens.weight,
        "norm.weight": theirs.model.norm.weight,
        "to_scores.weight": theirs.lm_head.weight,
    }
    for i, layer in enumerate(theirs.model.layers):
        a, net = layer.self_attn, layer.mlp
        qkv = torch.cat([a.q_proj.weight, a.k_proj.weight, a.v_proj.weight])
        weights |= {
            f"blocks.{i}.attention.to_qkv.weight": qkv,
            f"blocks.{i}.attention.to_out.weight": a.o_proj.weight,
            f"blocks.{i}.norm1.weight": layer.input_layernorm.weight,
            f"blocks.{i}.norm2.weight": layer.post_attention_layernorm.weight,
            f"blocks.{i}.gate.weight": net.gate_proj.weight,
            f"blocks.{i}.up.weight": net.up_proj.weight,
            f"blocks.{i}.down.weight": net.down_proj.weight,
        }
    ours.load_state_dict(weights)
    for model in (ours, theirs):  # weights as large as trained ones: heads prefer some keys
        for parameter in model.parameters():
            parameter.data *= 10 if parameter.ndim > 1 else 1
    tokens = texts(2, 23)
    expected = theirs(tokens).logits
    assert torch.allclose(ours(tokens, range(23)), expected, atol=1e-5 * expected.std())
    for block in ours.blocks:  # windows may be changed in a model that was trained
        block.attention.window = window + 1
    change = (ours(tokens, range(23)) - expected).abs().amax(dim=(0, 2))
    assert change[:window].max() < 1e-5 * expected.std()
    assert window > 22 or change[window:].min() > 1e-2 * expected.std()


@pytest.mark.parametrize("batched", [False, True])
def test_with_several_axes_the_distance_on_the_first_counts(batched):
    places = torch.cartesian_prod(torch.tensor([0, 2, 3]), torch.arange(3) * 50)
    given = places.expand(2, -1, -1) if batched else places
    tokens, window = texts(2, 9), 2
    got = made("several axes", window)(tokens, given)
    mask = near(places[:, 0], window)
    assert torch.allclose(got, made("several axes")(tokens, given, mask), atol=1e-5)
    assert not torch.allclose(got, made("several axes")(tokens, given), atol=1e-2)


@pytest.mark.parametrize("name", ["shaw", "transformer-xl"])
@pytest.mark.parametrize("causal", [True, False])
def test_some_queries_at_a_time_have_the_same_window(name, causal, monkeypatch):
    torch.manual_seed(0)
    scheme = SCHEMES[name](0)
    q, k, v = torch.randn(3, 2, 4, 11, 8)
    for where in (torch.arange(11), 2 * torch.arange(11)):
        with torch.no_grad():
            whole = attend(q, k, v, scheme, View(where, where, causal, window=4))
            monkeypatch.setattr(attention, "SCORES_AT_ONCE", 3 * 2 * 4 * 11)
            parts = attend(q, k, v, scheme, View(where, where, causal, window=4))
            monkeypatch.undo()
        mask = relative_positions(where, where).abs() < 4
        with torch.no_grad():
            expected = attend(q, k, v, scheme, View(where, where, causal, mask))
        assert torch.allclose(parts, whole, atol=1e-5) and torch.allclose(
            whole, expected, atol=1e-5
        )


# Decoding, compiling -----------------------------------------------------------------------------


@every_scheme
@pytest.mark.parametrize(
    "windows", [2, lambda layer: None if layer == 1 else 3], ids=["all", "some layers"]
)
@pytest.mark.parametrize("parts", [[9], [1] * 9, [4, 1, 3, 1]], ids=str)
def test_decoding_over_a_cache_equals_a_full_forward(name, windows, parts):
    model, tokens = made(name, windows), texts(2, 9)
    for positions in (torch.arange(9), POSITIONS["gaps"], POSITIONS["batched"]):
        cache, scores, start = Cache(), [], 0
        for size in parts:
            some = slice(start, start + size)
            scores.append(model(tokens[:, some], positions[..., some], cache=cache))
            start += size
        assert torch.allclose(torch.cat(scores, dim=1), model(tokens, positions), atol=1e-5)
        assert cache.layers[0][0].shape[2] == 9  # what a window hides is kept


def test_generate_reads_through_windows():
    model, tokens = made(windows=3), texts(2, 4)
    expected = tokens
    for _ in range(5):
        length = expected.shape[1]
        best = model(expected, range(length), near(range(length), 3))[:, -1].argmax(-1)
        expected = torch.cat([expected, best[:, None]], dim=1)
    assert torch.equal(model.generate(tokens, 5), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["none", "rope", "sinusoidal"])
@torch.no_grad()
def test_a_compiled_layer_without_a_window_stays_causal_without_a_mask(name):
    model, tokens = made(name, lambda layer: 3 if layer == 1 else None), texts(2, 9)
    calls = []

    def look(graph, inputs):
        calls.extend(dict(n.kwargs) for n in graph.graph.nodes if n.target is ATTENTION)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend=look)(tokens, range(9))
    assert [call.get("is_causal", False) for call in calls] == [True, False, True]
    assert [call.get("attn_mask") is None for call in calls] == [True, False, True]
    torch.testing.assert_close(compiled, model(tokens, range(9)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SCHEMES)
def test_windows_read_no_value_of_a_position(name):
    """The meta device raises where a value is read, as a GPU would wait for it."""
    model = made(name, 3).to("meta")
    assert model(texts(2, 9).to("meta"), torch.zeros(9, dtype=torch.int64, device="meta")).is_meta


# Errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("windows", [0, -3, lambda layer: 2 - layer], ids=["0", "-3", "by layer"])
def test_a_window_that_holds_no_key_is_refused(windows):
    size = windows if isinstance(windows, int) else 0
    with pytest.raises(ValueError, match=f"window must be 1 or more, got {size}: in 1, a query"):
        Decoder(CONFIG, Rotary(8), windows)
    with pytest.raises(ValueError, match=f"window must be 1 or more, got {size}"):
        Llama(LlamaConfig(13, 32, 3, 4, 40), Rotary(8), windows=windows)
    x, where = torch.zeros(1, 1, 3, 4), torch.arange(3)
    with pytest.raises(ValueError, match=f"window must be 1 or more, got {size}"):
        attend(x, x, x, NoPosition(), View(where, where, window=size))


def test_a_mask_that_does_not_fit_is_named_in_a_layer_with_a_window_as_well():
    model, tokens = made(windows=3), texts(2, 9)
    with pytest.raises(
        ValueError, match=r"mask must fit .batch, heads, queries, keys. = \(2, 4, 9"
    ):
        model(tokens, range(9), torch.ones(2, 8, dtype=torch.bool))
    with pytest.raises(ValueError, match="mask must be bool"):
        model(tokens, range(9), torch.ones(9, 9))
