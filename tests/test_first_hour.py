"""Lesson 00: the decoder that is written there is the library's in small."""

import json
import re
from pathlib import Path

import pytest
import torch

from course_lib import encodings, model
from course_lib.encodings import consecutive_positions

CELLS = json.loads((Path(__file__).parents[1] / "notebooks/00_start_here.ipynb").read_text())[
    "cells"
]
SOURCES = {cell["id"]: "".join(cell["source"]) for cell in CELLS}
PROGRAM = ("attend", "attention", "block", "decoder", "sinusoidal", "bias", "rotary", "generate")
CONFIG = model.DecoderConfig(vocab_size=11, dim=64, num_layers=2, num_heads=2, hidden_dim=48)
SCHEMES = {
    "nothing": encodings.PositionScheme,
    "sinusoidal": lambda: encodings.Sinusoidal(64),
    "bias": lambda: encodings.ClippedBias(2, 5),
    "ALiBi": lambda: encodings.ALiBi(2),
    "rotary": lambda: encodings.Rotary(32),
}
TEXTS = torch.randint(11, (3, 40), generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def lesson():
    names = {}
    for cell in ("imports", *PROGRAM):
        exec(SOURCES[cell], names)
    return names


def lines(source):
    return [line for line in source.splitlines() if not re.match(r"\s*(#|$)", line)]


def test_the_program_has_sixty_lines_and_the_text_an_hour():
    assert sum(len(lines(SOURCES[cell])) for cell in PROGRAM) <= 60
    prose = [SOURCES[cell["id"]] for cell in CELLS if cell["cell_type"] == "markdown"]
    words = [word for text in prose for word in text.split() if re.search(r"\w", word)]
    assert len(words) <= 2500
    pictures = [o for c in CELLS for o in c.get("outputs", []) if "image/png" in o.get("data", {})]
    assert len(pictures) <= 10


@pytest.mark.parametrize("name", SCHEMES)
def test_scores_are_those_of_the_library(lesson, name):
    torch.manual_seed(1)
    scheme = SCHEMES[name]()
    for parameter in scheme.parameters():
        torch.nn.init.normal_(parameter)
    theirs, ours = model.Decoder(CONFIG, scheme), lesson["Decoder"](CONFIG, scheme)
    weights = theirs.state_dict()
    weights = {key.replace("first_scheme", "scheme"): value for key, value in weights.items()}
    weights["embedding.weight"] = weights["embedding.weight"] * theirs.embedding_scale
    ours.load_state_dict({**ours.state_dict(), **weights})
    assert {*ours.state_dict()} - {*weights} <= {f"scheme.{key}" for key in scheme.state_dict()}
    positions = consecutive_positions(40, 3)
    torch.testing.assert_close(
        ours(TEXTS, positions), theirs(TEXTS, positions), atol=2e-5, rtol=1e-5
    )


def test_its_schemes_are_those_of_the_library(lesson):
    positions, x = torch.arange(5, 45), torch.randn(3, 40, 32)
    torch.testing.assert_close(
        lesson["Sinusoidal"]().embed(x, positions),
        encodings.Sinusoidal(32).embed(x, positions), atol=1e-5, rtol=0,
    )  # fmt: skip
    q, k = torch.randn(2, 3, 2, 40, 32)
    for ours, theirs in zip(
        lesson["Rotary"]().rotate(q, k, positions, positions),
        encodings.Rotary(32).rotate(q, k, positions, positions), strict=True,
    ):  # fmt: skip
        torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=0)


def test_its_bias_is_a_number_for_each_distance(lesson):
    scheme = lesson["DistanceBias"]()
    scheme.table.data = torch.arange(32.0)
    bias = scheme.score_bias(None, None, torch.tensor([40, 7]), torch.tensor([0, 4, 7]))
    assert bias.tolist() == [[31, 31, 31], [7, 3, 0]]


def test_it_writes(lesson):
    ours = lesson["Decoder"](CONFIG, lesson["PositionScheme"]())
    with torch.no_grad():
        longer = lesson["generate"](ours, TEXTS, 4)
    assert longer.shape == (3, 44) and torch.equal(longer[:, :40], TEXTS)
