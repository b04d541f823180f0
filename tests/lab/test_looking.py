"""Looking into a decoder: what is seen is what the model computes with."""

from dataclasses import replace

import pytest
import torch

from course_lab.instruments import looking
from course_lib.encodings import ALiBi, LearnedAbsolute, NoPosition, Rotary, Shaw
from course_lib.model import Decoder, DecoderConfig

CONFIG = DecoderConfig(11, dim=16, num_layers=2, num_heads=2, hidden_dim=32)


def model_with(scheme):
    torch.manual_seed(0)
    return Decoder(CONFIG, scheme)


@pytest.mark.parametrize(
    "scheme", [NoPosition(), LearnedAbsolute(9, 16, std=1.0), ALiBi(2), Rotary(8)]
)
def test_weights_rebuild_what_the_model_computes(scheme):
    model, tokens = model_with(scheme), torch.randint(11, (9,))
    seen, found = looking.weights(model, tokens), looking.layers(model, tokens[None])
    x = scheme.embed(model.embedding(tokens[None]) * 4.0, torch.arange(9))
    for block, weights, layer in zip(model.blocks, seen, found, strict=True):
        own = block.attention
        v = own.to_qkv(block.norm1(x))[..., -16:].unflatten(-1, (2, 8)).transpose(1, 2)
        x = x + own.to_out((weights @ v).transpose(1, 2).flatten(-2))
        x = x + block.down(torch.nn.functional.gelu(block.up(block.norm2(x))))
        torch.testing.assert_close(layer.out, x, rtol=1e-4, atol=1e-4)


def test_windows_sinks_and_masks_are_those_of_the_model():
    torch.manual_seed(0)
    model = Decoder(CONFIG, Rotary(8), windows=lambda layer: (3, None)[layer], sinks=True)
    with torch.no_grad():
        for block in model.blocks:
            block.attention.sinks.normal_()
    tokens, mask = torch.randint(11, (9,)), torch.ones(9, 9, dtype=torch.bool)
    mask[6:, 5] = False
    seen, found = looking.weights(model, tokens), looking.layers(model, tokens[None], mask)
    assert not seen[0].tril(-3).any() and seen[1].tril(-3).any() and (seen.sum(dim=-1) < 1).all()
    seen = [looks.weights for looks in looking.by_layer(model, tokens, mask)]
    assert not any(weights[:, 6:, 5].any() for weights in seen)
    x = model.embedding(tokens[None]) * 4.0
    for block, weights, layer in zip(model.blocks, seen, found, strict=True):
        own = block.attention
        v = own.to_qkv(block.norm1(x))[..., -16:].unflatten(-1, (2, 8)).transpose(1, 2)
        x = x + own.to_out((weights @ v).transpose(1, 2).flatten(-2))
        x = x + block.down(torch.nn.functional.gelu(block.up(block.norm2(x))))
        torch.testing.assert_close(layer.out, x, rtol=1e-4, atol=1e-4)


def test_rows_sum_to_one_and_nothing_looks_ahead():
    seen = looking.weights(model_with(lambda layer: Shaw(8, 3)), torch.arange(9))
    torch.testing.assert_close(seen.sum(dim=-1), torch.ones(2, 2, 9))
    assert not seen.triu(1).any()


def test_heads_that_share_keys_have_the_same_and_weigh_them_alone():
    torch.manual_seed(0)
    model = Decoder(replace(CONFIG, num_kv_heads=1), Rotary(8))
    for looks in looking.by_layer(model, torch.randint(11, (7,))):
        assert torch.equal(looks.k[0], looks.k[1]) and not torch.equal(looks.q[0], looks.q[1])
        for q, k, weights in zip(looks.q, looks.k, looks.weights, strict=True):
            for i in range(7):
                expected = (k[: i + 1] @ q[i] / 8**0.5).softmax(dim=0)
                torch.testing.assert_close(weights[i, : i + 1], expected)


def test_the_share_one_back_is_a_mean_over_queries_that_have_one():
    weights = torch.tensor([[1.0, 0, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]])
    assert looking.one_back(weights) == 0.375


def test_no_hook_stays():
    model = model_with(NoPosition())
    assert len(looking.layers(model, torch.randint(11, (1, 5)))) == 2
    assert not any(block._forward_hooks for block in model.blocks)


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match="one text"):
        looking.weights(model_with(NoPosition()), torch.zeros(2, 5, dtype=torch.long))
