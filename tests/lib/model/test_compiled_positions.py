"""Positions as a range: the same scores, and a compiled pass that needs no mask of all pairs."""

import pytest
import torch

from course_lib.encodings import ALiBi, NoPosition, Rotary, Shaw, Sinusoidal, T5Bias
from course_lib.model import Decoder, DecoderConfig
from course_lib.model.decoder import Cache

CONFIG = DecoderConfig(vocab_size=17, dim=16, num_layers=2, num_heads=2, hidden_dim=16)
TOKENS = torch.randint(17, (2, 8), generator=torch.Generator().manual_seed(0))
SCHEMES = {
    "rope": Rotary(8), "none": NoPosition(), "sinusoidal": Sinusoidal(16), "alibi": ALiBi(2),
    "t5": T5Bias(2), "shaw": lambda layer: Shaw(8, 3),
}  # fmt: skip
PLAIN = ("rope", "none", "sinusoidal")
ATTENTION = torch.nn.functional.scaled_dot_product_attention


def model_with(name):
    torch.manual_seed(0)
    return Decoder(CONFIG, SCHEMES[name]).eval()


def calls_of_attention(model, positions):
    """What a compiled pass hands to torch's attention, layer by layer, and its scores."""
    found = []

    def look(graph, inputs):
        found.extend(dict(n.kwargs) for n in graph.graph.nodes if n.target is ATTENTION)
        return graph.forward

    torch._dynamo.reset()
    scores = torch.compile(model, fullgraph=True, backend=look)(TOKENS, positions)
    return found, scores


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("positions", [range(8), range(5, 13)], ids=str)
@torch.no_grad()
def test_a_range_gives_the_scores_of_a_tensor(name, positions):
    model, tensor = model_with(name), torch.tensor(positions)
    expected = model(TOKENS, tensor)
    assert torch.equal(model(TOKENS, positions), expected)
    mask = torch.ones(8, 8, dtype=torch.bool).tril().triu(-2)
    assert torch.equal(model(TOKENS, positions, mask), model(TOKENS, tensor, mask))
    _, compiled = calls_of_attention(model, positions)
    torch.testing.assert_close(compiled, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("positions", [range(8), range(5, 13)], ids=str)
@torch.no_grad()
def test_a_compiled_pass_with_a_range_is_causal_without_a_mask(name, positions):
    model = model_with(name)
    calls, _ = calls_of_attention(model, positions)
    assert [(call.get("is_causal"), call.get("attn_mask")) for call in calls] == [(True, None)] * 2
    calls, _ = calls_of_attention(model, torch.tensor(positions))
    assert all(not call.get("is_causal") and call["attn_mask"] is not None for call in calls)


@pytest.mark.parametrize("name", SCHEMES)
@torch.no_grad()
def test_a_range_goes_on_where_a_cache_ends(name):
    model, cache = model_with(name), Cache()
    parts = [
        model(TOKENS[:, part.start : part.stop], part, cache=cache)
        for part in (range(3), range(3, 4), range(4, 8))
    ]
    whole = model(TOKENS, torch.arange(8))
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-4, atol=1e-5)


def test_an_encoder_takes_a_range():
    encoder = Decoder(DecoderConfig(17, 16, 1, 2, 16, causal=False), Rotary(8))
    assert torch.equal(encoder(TOKENS, range(8)), encoder(TOKENS, torch.arange(8)))


@pytest.mark.parametrize("positions", [range(7), range(0, 16, 2), range(8, 0, -1)], ids=str)
def test_a_range_that_does_not_count_the_tokens_is_refused(positions):
    with pytest.raises(ValueError, match=r"8 tokens, got range.*give range\(start, start \+ 8\)"):
        model_with("rope")(TOKENS, positions)


def test_a_range_below_zero_is_refused():
    with pytest.raises(ValueError, match="positions must be 0 or more, got -3"):
        model_with("rope")(TOKENS, range(-3, 5))


@torch.no_grad()
def test_a_compiled_model_takes_ranges_of_other_lengths_and_starts():
    """After the first few, torch compiles for sizes that it does not know."""
    model = model_with("rope")
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    for positions in (range(8), range(6), range(3), range(2, 8), range(1, 6), range(8)):
        tokens = TOKENS[:, : len(positions)]
        expected = model(tokens, torch.tensor(positions))
        torch.testing.assert_close(compiled(tokens, positions), expected, rtol=1e-4, atol=1e-5)
