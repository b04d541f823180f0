"""A reader, a model that only notices which letters are about, and one that does neither."""

import math

import pytest
import torch
from torch import nn

from course_lab.instruments import reading
from course_lab.instruments.reading import FIRST, LEAD, LETTERS, bits_per_letter, records, texts
from course_lib.encodings import Rotary
from course_lib.model import Decoder, DecoderConfig

DATA = torch.randint(32, 60, (3000,), generator=torch.Generator().manual_seed(0)).byte()


class Knowing(nn.Module):
    """Half of the share goes to what `guess` says of the tokens so far, the rest to all bytes."""

    def __init__(self):
        super().__init__()
        self.rest = nn.Parameter(torch.tensor(0.5))

    def forward(self, tokens, positions):
        assert torch.equal(positions, torch.arange(tokens.shape[1]))
        guesses = torch.stack(
            [torch.stack([self.guess(row[: i + 1]) for i in range(len(row))]) for row in tokens]
        )
        return (self.rest / 256 + (1 - self.rest) * guesses).log()


class Reader(Knowing):
    """Expects what followed the last three bytes the last time."""

    def guess(self, past):
        for i in range(len(past) - 2, 2, -1):
            if torch.equal(past[i - 2 : i + 1], past[-3:]):
                return nn.functional.one_hot(past[i + 1], 256).float()
        return torch.full((256,), 1 / 256)


class Noticing(Knowing):
    """Expects the letters that it has seen."""

    def guess(self, past):
        seen = torch.bincount(past, minlength=256).clamp(max=1)
        seen[:97] = 0
        return seen / seen.sum() if seen.any() else torch.full((256,), 1 / 256)


class Blind(Knowing):
    def guess(self, past):
        return torch.full((256,), 1 / 256)


@pytest.mark.parametrize("distance", [25, 48, 96])
def test_texts_differ_in_their_first_letters_alone(distance):
    made = texts(DATA, distance, draws=20)
    assert tuple(made) == FIRST
    same, shuffled, fresh = made.values()
    for draw in range(20):
        rows = [row[draw].tolist() for row in (same, shuffled, fresh)]
        firsts = [row[:LETTERS] for row in rows]
        assert rows[0][LETTERS:] == rows[1][LETTERS:] == rows[2][LETTERS:]
        assert all(rows[0][i] == rows[0][i + distance] for i in range(LETTERS))
        assert sorted(firsts[0]) == sorted(firsts[1]) and firsts[0] != firsts[1]
        assert sorted(firsts[2]) != sorted(firsts[0])
        letters = [c for row in firsts for c in row] + rows[0][distance:]
        assert all(97 <= c <= 122 for c in letters)
        between = bytes(rows[0][LETTERS:distance])
        assert len(between) == distance - LETTERS and between in bytes(DATA.tolist())
    assert torch.equal(texts(DATA, distance, draws=20)["fresh"], fresh)
    stretches = {tuple(row) for row in same[:, LETTERS:distance].tolist()}
    assert distance == 25 or len(stretches) == 20  # from other places


def test_bits_per_letter_are_those_of_a_loop():
    torch.manual_seed(0)
    model = Decoder(DecoderConfig(dim=16, num_layers=1, num_heads=2, hidden_dim=16), Rotary(8))
    text = texts(DATA, 40, draws=5)["shuffled"]
    found = bits_per_letter(model, text)
    for row, bits in zip(text, found, strict=True):
        with torch.no_grad():
            shares = model(row[None], torch.arange(len(row)))[0].softmax(dim=-1)
        places = range(40 + LEAD, 40 + LETTERS)
        expected = [-math.log2(shares[p - 1, row[p]].item()) for p in places]
        assert math.isclose(bits, sum(expected) / len(expected), rel_tol=1e-4)


def test_memory_is_bounded_and_changes_nothing(monkeypatch):
    torch.manual_seed(0)
    model = Decoder(DecoderConfig(dim=16, num_layers=1, num_heads=2, hidden_dim=16), Rotary(8))
    text = texts(DATA, 40, draws=7)["same"]
    whole = bits_per_letter(model, text)
    rows, forward = [], Decoder.forward

    def seen(self, tokens, positions):
        rows.append(len(tokens))
        return forward(self, tokens, positions)

    monkeypatch.setattr(Decoder, "forward", seen)
    monkeypatch.setattr(reading, "PAIRS_AT_ONCE", 2 * 63**2)
    assert torch.allclose(bits_per_letter(model, text), whole, atol=1e-5)
    assert rows == [2, 2, 2, 1]


def gains(model, distance=40):
    found = records(model, DATA, {"scheme": "test", "seed": 7}, [distance], draws=12)
    assert [r["first"] for r in found] == list(FIRST)
    assert all((r["scheme"], r["seed"], r["distance"]) == ("test", 7, distance) for r in found)
    assert found[2]["gain"] == found[2]["gain_error"] == 0
    for r in found:
        paid_less = found[2]["bits_per_letter"] - r["bits_per_letter"]
        assert math.isclose(r["gain"], paid_less, abs_tol=2e-4)
    return found[0], found[1]


def test_a_reader_gains_by_the_same_letters_in_the_same_order_alone():
    same, shuffled = gains(Reader())
    assert same["gain"] > 4 and same["gain"] > 20 * same["gain_error"]
    assert abs(shuffled["gain"]) < 0.2


def test_who_notices_letters_gains_in_any_order():
    same, shuffled = gains(Noticing())
    assert same["gain"] > 0.1 and math.isclose(same["gain"], shuffled["gain"], abs_tol=1e-3)


def test_who_does_neither_gains_nothing():
    same, shuffled = gains(Blind())
    assert abs(same["gain"]) < 1e-4 and abs(shuffled["gain"]) < 1e-4


@pytest.mark.parametrize("distance", [24, 3024])
def test_a_distance_without_a_stretch_is_named(distance):
    with pytest.raises(ValueError, match=f"distance must be from 25 to 3023, .* got {distance}"):
        texts(DATA, distance)
