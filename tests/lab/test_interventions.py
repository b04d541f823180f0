"""Each intervention changes what it says, by slow loops, and leaves everything else alone."""

import math

import pytest
import torch

from course_lab.instruments import interventions
from course_lab.instruments.interventions import (
    Replaced,
    Shifted,
    Windowed,
    by_pair,
    frequencies_of,
    held,
    pair_with,
    removed,
    score_change,
    seeing,
    silenced,
    stopped,
    with_pairs,
    with_scheme,
)
from course_lab.instruments.stretching import METHODS, stretched
from course_lib import encodings as enc
from course_lib.encodings import ALiBi, NoPosition, Rotary, Shaw, TransformerXL
from course_lib.model import Decoder, DecoderConfig

DIM, HEADS, BASE = 8, 2, 50.0
CONFIG = DecoderConfig(vocab_size=16, dim=16, num_layers=2, num_heads=HEADS, hidden_dim=16)
TOKENS = torch.randint(16, (3, 20), generator=torch.Generator().manual_seed(0))
AT = torch.arange(20)
ROTARIES = {
    "half": Rotary(DIM, BASE),
    "interleaved": Rotary(DIM, BASE, layout="interleaved", attention_factor=1.3),
    "partial": Rotary(DIM, BASE, rotary_dim=6),
}
POSITIONS = {
    "consecutive": (torch.arange(12), torch.arange(12)),
    "gaps": (torch.tensor([3, 5, 11]), torch.tensor([0, 1, 3, 5, 9, 11])),
    "rows": (torch.tensor([[4, 9], [7, 30]]), torch.tensor([[0, 4, 9], [1, 2, 30]])),
}


def decoder(scheme, config=CONFIG):
    torch.manual_seed(0)
    model = Decoder(config, scheme)
    with torch.no_grad():  # sharper attention, so that scores matter
        for block in model.blocks:
            block.attention.to_qkv.weight.mul_(4)
            for parameter in block.attention.scheme.parameters():
                parameter.normal_()
    return model.eval()


def scores_of(model, tokens=TOKENS, positions=AT):
    with torch.no_grad():
        return model(tokens, positions)


def schemes_of(model):
    return [block.attention.scheme for block in model.blocks]


def drawn(queries, keys, batch=2):
    generator = torch.Generator().manual_seed(1)
    shapes = (batch, HEADS, queries, DIM), (batch, HEADS, keys, DIM)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def given(scheme, q, k, positions):
    """The scores that `scheme` gives, through its doors."""
    turned_q, turned_k = scheme.rotate(q, k, *positions)
    bias = scheme.score_bias(q, k, *positions)
    scores = turned_q @ turned_k.mT / math.sqrt(DIM)
    return (scores if bias is None else scores + bias).detach()


def each_pair(q, k, positions):
    """Batch, head, query, key, and the distance between the latter two."""
    at_q, at_k = (p.expand(len(q), -1).tolist() for p in positions)
    for b in range(len(q)):
        for h in range(HEADS):
            for i, here in enumerate(at_q[b]):
                for j, there in enumerate(at_k[b]):
                    yield b, h, i, j, here - there


def by_loops(rotary, q, k, positions, seen):
    """RoPE's scores by pairs; `seen(pair, distance)` is the distance a pair sees, if any."""
    scores = torch.zeros(len(q), HEADS, q.shape[2], k.shape[2])
    turning, half = rotary.frequencies.tolist(), rotary.rotary_dim // 2
    for b, h, i, j, distance in each_pair(q, k, positions):
        one, other = q[b, h, i].tolist(), k[b, h, j].tolist()
        total = sum(one[c] * other[c] for c in range(rotary.rotary_dim, DIM))
        for pair, frequency in enumerate(turning):
            if (as_seen := seen(pair, distance)) is None:
                continue
            a, c = (pair, pair + half) if rotary.layout == "half" else (2 * pair, 2 * pair + 1)
            product = complex(one[a], one[c]) * complex(other[a], -other[c])
            angle = frequency * as_seen
            turned = product * complex(math.cos(angle), math.sin(angle))
            total += turned.real * rotary.attention_factor**2
        scores[b, h, i, j] = total / math.sqrt(DIM)
    return scores


CHANGES = {
    "stopped": (lambda m: stopped(m, [0, 2]), lambda pair, d: 0 if pair in (0, 2) else d),
    "removed": (lambda m: removed(m, [1, 2]), lambda pair, d: None if pair in (1, 2) else d),
    "held": (lambda m: held(m, [0, 2], 4), lambda pair, d: min(d, 4) if pair in (0, 2) else d),
    "held at 2": (
        lambda m: held(m, [1], limit=4, seen_as=2),
        lambda pair, d: 2 if pair == 1 and d > 4 else d,
    ),
    "nothing": (lambda m: held(m, [], 4), lambda pair, d: d),
}


@pytest.mark.parametrize("places", POSITIONS)
@pytest.mark.parametrize("rotary", ROTARIES.values(), ids=ROTARIES)
@pytest.mark.parametrize("change, seen", CHANGES.values(), ids=CHANGES)
def test_chosen_pairs_see_what_was_asked_and_others_what_they_saw(change, seen, rotary, places):
    q_positions, k_positions = POSITIONS[places]
    q, k = drawn(q_positions.shape[-1], k_positions.shape[-1])
    expected = by_loops(rotary, q, k, (q_positions, k_positions), seen)
    for scheme in schemes_of(change(decoder(rotary))):
        found = given(scheme, q, k, (q_positions, k_positions))
        assert torch.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("change", [change for change, _ in CHANGES.values()], ids=CHANGES)
def test_the_given_model_is_left_alone(change):
    model = decoder(Rotary(DIM, BASE))
    before = scores_of(model)
    changed = change(model)
    same = change is CHANGES["nothing"][0]
    assert torch.allclose(scores_of(changed), before, atol=1e-4) == same
    with torch.no_grad():
        changed.to_scores.weight.zero_()
    assert torch.equal(scores_of(model), before)


def test_what_is_held_may_be_stretched_and_has_its_first_scheme_too():
    model = decoder(Rotary(DIM, BASE))
    slower = by_pair(Rotary(DIM, BASE).frequencies, 4, 0, 2)
    both = held(stretched(model, slower), [1], 4), stretched(held(model, [1], 4), slower)
    assert torch.allclose(scores_of(both[0]), scores_of(both[1]), atol=1e-5)
    assert both[0].first_scheme is schemes_of(both[0])[0]


def test_pairs_that_see_other_distances_are_held_pairs_where_they_see_one():
    model = decoder(Rotary(DIM, BASE))
    same = seeing(model, lambda distance, pair: distance)
    assert torch.allclose(scores_of(same), scores_of(model), atol=1e-5)
    stops = seeing(model, lambda distance, pair: distance.clamp(max=4) if pair == 1 else distance)
    assert torch.allclose(scores_of(stops), scores_of(held(model, [1], 4)), atol=1e-5)
    assert not torch.allclose(scores_of(stops), scores_of(model), atol=1e-3)
    with pytest.raises(ValueError, match="whole head, without an attention factor"):
        seeing(decoder(ROTARIES["partial"]), lambda distance, pair: distance)


def test_pairs_out_of_range_and_models_without_rotation_are_refused():
    model = decoder(Rotary(DIM))
    for change in (stopped, removed, held):
        with pytest.raises(ValueError, match=r"pairs must be from 0 to 3, got \[0, 4\]"):
            change(model, [0, 4])
        with pytest.raises(ValueError, match="RoPE"):
            change(decoder(ALiBi(HEADS)), [0])


def test_pairs_take_other_frequencies():
    scaled = METHODS["yarn"](32, 128, 4.0)
    plain = enc.rotary_frequencies(32)
    found = with_pairs(scaled, (3, 12), plain)
    for pair in range(16):
        source = plain if pair in (3, 12) else scaled.frequencies
        assert found.frequencies[pair] == source[pair]
    assert found.attention_factor == scaled.attention_factor
    assert with_pairs(scaled, range(16), 0.0).frequencies.tolist() == [0] * 16
    assert frequencies_of(stretched(decoder(Rotary(32), WIDE), found)) == found


WIDE = DecoderConfig(vocab_size=16, dim=32, num_layers=1, num_heads=1, hidden_dim=16)


@pytest.mark.parametrize("kept, divided", [(-2.5, 3.2), (0, 16), (4, 5), (20, 30), (-9, -1)])
def test_a_ramp_by_pair_is_that_of_a_loop(kept, divided):
    plain = enc.rotary_frequencies(32)
    found = by_pair(plain, 4, kept, divided).frequencies
    for pair in range(16):
        slowed = min(1, max(0, (pair - kept) / (divided - kept)))
        expected = plain[pair].item() * ((1 - slowed) + slowed / 4)
        assert math.isclose(found[pair], expected, rel_tol=1e-12)


@pytest.mark.parametrize("dim, length, base", [(32, 128, 1e4), (128, 4096, 1e4), (64, 2048, 5e5)])
def test_the_released_ramp_is_by_pair_between_rounded_and_cut_ends(dim, length, base):
    low, high = (pair_with(turns, length, dim, base) for turns in (32, 1))
    ends = max(math.floor(low), 0), min(math.ceil(high), dim - 1)
    released = enc.yarn(dim, base, 8.0, length)
    plain = enc.rotary_frequencies(dim, base)
    found = by_pair(plain, 8, *ends)
    torch.testing.assert_close(found.frequencies, released.frequencies, rtol=1e-12, atol=0)
    for pair, frequency in enumerate(plain.tolist()):
        turns = length * frequency / (2 * math.pi)
        assert math.isclose(pair_with(turns, length, dim, base), pair, abs_tol=1e-9)


def test_ends_in_the_wrong_order_are_named():
    with pytest.raises(ValueError, match="kept must be below divided, got 5 and 5"):
        by_pair(enc.rotary_frequencies(32), 4, 5, 5)


@pytest.mark.parametrize("places", POSITIONS)
@pytest.mark.parametrize("terms", ["", "a", "b", "c", "d", "cd", "abcd"])
def test_terms_of_transformer_xl_fall_silent_alone(terms, places):
    model = decoder(lambda layer: TransformerXL(HEADS, DIM))
    positions = POSITIONS[places]
    q, k = drawn(*(p.shape[-1] for p in positions))
    for plain, scheme in zip(schemes_of(model), schemes_of(silenced(model, terms)), strict=True):
        found = given(scheme, q, k, positions)
        for b, h, i, j, distance in each_pair(q, k, positions):
            r = plain.vectors(torch.tensor([distance]), q)[h, 0]
            one, other, u, v = q[b, h, i], k[b, h, j], plain.u[h, 0], plain.v[h, 0]
            each = {"a": one @ other, "b": one @ r, "c": u @ other, "d": v @ r}
            expected = sum(value.item() for name, value in each.items() if name not in terms)
            assert math.isclose(found[b, h, i, j], expected / math.sqrt(DIM), abs_tol=1e-4)


@pytest.mark.parametrize(
    "scheme, terms",
    [(lambda _: Shaw(DIM, 3), "a"), (lambda _: TransformerXL(HEADS, DIM), ["keys"]),
     (Rotary(DIM), "a"), (lambda _: TransformerXL(HEADS, DIM), "e")],
)  # fmt: skip
def test_terms_that_a_scheme_does_not_have_are_named(scheme, terms):
    with pytest.raises(ValueError, match="terms must be of a to d, of Transformer-XL"):
        silenced(decoder(scheme), terms)


@pytest.mark.parametrize("keys", [1, 3, 6])
def test_a_window_in_each_layer_reaches_further_than_the_window(keys):
    model = decoder(Rotary(DIM, BASE))
    windowed, reach = Windowed(model, keys), CONFIG.num_layers * (keys - 1)
    last = scores_of(windowed)[:, -1]
    for back in range(14):
        other = TOKENS.clone()
        other[:, -1 - back] = (other[:, -1 - back] + 1) % 16
        changes = not torch.allclose(scores_of(windowed, other)[:, -1], last, atol=1e-6)
        assert changes == (back <= reach), back


def test_far_keys_are_seen_beside_a_window_and_keys_between_are_not():
    model = decoder(Rotary(16), DecoderConfig(16, 16, num_layers=1, num_heads=1, hidden_dim=16))
    windowed = Windowed(model, 3, far=(6, 8))
    last = scores_of(windowed)[:, -1]
    for back in range(14):
        other = TOKENS.clone()
        other[:, -1 - back] = (other[:, -1 - back] + 1) % 16
        changes = not torch.allclose(scores_of(windowed, other)[:, -1], last, atol=1e-6)
        assert changes == (back < 3 or 6 <= back < 8), back


def test_a_window_in_one_layer_is_a_text_cut_for_distances():
    model = decoder(Rotary(16), DecoderConfig(16, 16, num_layers=1, num_heads=1, hidden_dim=16))
    windowed = scores_of(Windowed(model, 5))
    for place in range(20):
        start = max(0, place - 4)
        cut = scores_of(model, TOKENS[:, start : place + 1], torch.arange(place + 1 - start))
        assert torch.allclose(windowed[:, place], cut[:, -1], atol=1e-5)
    with pytest.raises(ValueError, match="keys must be 1 or more, got 0"):
        Windowed(model, 0)


def test_replaced_text_is_read_in_place_of_the_first_tokens():
    model, other = decoder(Rotary(8)), torch.randint(16, (5, 6))
    found = scores_of(Replaced(model, other))
    expected = TOKENS.clone()
    expected[:, :6] = other[TOKENS[:, :6].sum(dim=1) % 5]
    assert torch.equal(found, scores_of(model, expected))
    assert not torch.allclose(found[:, 6:], scores_of(model)[:, 6:], atol=1e-4)


def test_shifted_texts_begin_elsewhere():
    model = decoder(enc.Sinusoidal(16))
    found = scores_of(Shifted(model, 7))
    assert torch.equal(found, scores_of(model, positions=AT + 7))
    assert not torch.allclose(found, scores_of(model), atol=1e-2)
    distances = decoder(Rotary(DIM, BASE))
    assert torch.allclose(scores_of(Shifted(distances, 7)), scores_of(distances), atol=1e-4)


def test_another_scheme_in_each_layer():
    model = decoder(Rotary(DIM, BASE))
    blind = with_scheme(model, lambda scheme: NoPosition())
    assert all(isinstance(scheme, NoPosition) for scheme in schemes_of(blind))
    assert isinstance(blind.first_scheme, NoPosition)
    assert all(isinstance(scheme, Rotary) for scheme in schemes_of(model))
    assert torch.equal(scores_of(blind), scores_of(decoder(NoPosition())))


@pytest.mark.parametrize("beyond", [0, 4, 15])
def test_the_size_of_a_change_is_that_of_a_loop(beyond, monkeypatch):
    model = decoder(Rotary(DIM, BASE))
    changed = held(model, [0, 2], 4)
    squares = []
    seen = interventions.looking.layers(model, TOKENS)
    for layer, plain, other in zip(seen, schemes_of(model), schemes_of(changed), strict=True):
        before, after = (given(s, layer.q, layer.k, (AT, AT)) for s in (plain, other))
        for b, h, i, j, distance in each_pair(layer.q, layer.k, (AT, AT)):
            if distance > beyond:
                squares.append((after - before)[b, h, i, j].item() ** 2)
    expected = math.sqrt(sum(squares) / len(squares))
    assert math.isclose(score_change(model, changed, TOKENS, beyond), expected, rel_tol=1e-4)
    assert score_change(model, model, TOKENS, beyond) == 0
