"""A first draft has two faults: usual ones, with and without the error that is forgotten first."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from course_grading.checking import verdict_on
from course_grading.judging.naming import ANOTHER, ELSEWHERE_RIGHT
from course_grading.specs import find

FORMULA = {
    "positions": "positions = positions",
    "frequencies": "frequencies = base ** (-torch.arange(0, dim, 2) / dim)",
    "angles": "angles = positions[..., None] * frequencies",
    "waves": "waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)",
}
OTHER_LINES = {
    "2i doubled once more": "frequencies = base ** (-2 * torch.arange(0, dim, 2) / dim)",
    "base not used": "frequencies = 10000 ** (-torch.arange(0, dim, 2) / dim)",
    "last axis of positions counted": "positions = torch.arange(positions.shape[-1])",
    "exponents that reach 1": "frequencies = base ** -torch.linspace(0, 1, dim // 2)",
    "exponent i/dim instead of 2i/dim": "frequencies = base ** (-torch.arange(dim // 2) / dim)",
    "divided by dim - 1": "frequencies = base ** (-torch.arange(0, dim, 2) / (dim - 1))",
    "every pair turned alike": "frequencies = 1 / base ** (torch.arange(0, dim, 2) // dim)",
    "base times the exponent": "frequencies = 1 / (base * torch.arange(0, dim, 2) / dim)",
    "sign of the exponent lost": "frequencies = base ** (torch.arange(0, dim, 2) / dim)",
    "a whole turn for each position": "angles = 2 * math.pi * positions[..., None] * frequencies",
    "angles taken for degrees": "angles = torch.deg2rad(positions[..., None] * frequencies)",
    "positions[:, None]": "angles = positions[:, None] * frequencies",
    "positions without a new axis": "angles = positions * frequencies",
    "sines first, then cosines": "waves = torch.cat([angles.sin(), angles.cos()], dim=-1)",
    "cosine before sine": "waves = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)",
    "counts from 1": "positions = positions + 1",
}


def draft(*lines: str, refuses: bool) -> Any:
    """The formula of exercise 2.1 with these lines in place of the right ones."""
    whole = FORMULA | {line.split(" = ")[0]: line for line in lines}
    head = ["if dim % 2:", "    raise ValueError('dim must be even')"] if refuses else []
    body = "\n    ".join([*head, *whole.values(), "return waves"])
    names = {"torch": torch, "math": math}
    exec(f"def encoding(positions, dim, base):\n    {body}", names)
    return names["encoding"]


@pytest.mark.parametrize("refuses", [True, False], ids=["refuses", "forgets-to-refuse"])
@pytest.mark.parametrize(("name", "line"), OTHER_LINES.items(), ids=OTHER_LINES)
def test_a_usual_mistake_is_named_also_where_the_error_was_forgotten(
    name: str, line: str, refuses: bool
) -> None:
    verdict = verdict_on(find("2.1"), draft(line, refuses=refuses))
    assert verdict.mistake == name
    assert f"Likely mistake: {name}. " in verdict.message
    forgotten = "Elsewhere it should raise ValueError (dim must be even, got 1)."
    assert (forgotten in verdict.message) != refuses


def test_what_is_forgotten_alone_is_what_is_said() -> None:
    assert verdict_on(find("2.1"), draft(refuses=True)).verdict == "passed"
    verdict = verdict_on(find("2.1"), draft(refuses=False))
    assert "should raise ValueError (dim must be even, got 1)\n" in verdict.message
    assert "Elsewhere" not in verdict.message


def test_of_two_mistakes_the_one_is_named_that_the_shown_call_has_alone() -> None:
    """In the first call the base is 10000, so that only the layout is wrong there."""
    lines = OTHER_LINES["base not used"], OTHER_LINES["sines first, then cosines"]
    verdict = verdict_on(find("2.1"), draft(*lines, refuses=True))
    assert verdict.mistake is None
    assert "\nHere your answer makes this mistake: sines first, then cosines. " in verdict.message
    assert verdict.message.endswith(f"\n{ANOTHER}")


def test_a_mistake_that_is_made_only_here_is_said_to_be() -> None:
    right, wrong = draft(refuses=True), draft(OTHER_LINES["cosine before sine"], refuses=True)

    def encoding(positions: torch.Tensor, dim: int, base: float) -> Any:
        return (wrong if dim == 4 else right)(positions, dim, base)

    verdict = verdict_on(find("2.1"), encoding)
    assert verdict.mistake is None
    assert "\nHere your answer makes this mistake: cosine before sine. " in verdict.message
    assert verdict.message.endswith(f"\n{ELSEWHERE_RIGHT}")


OF_OTHERS = {
    "2.3": ("frequencies mended, positions not", """
def answer(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = positions.to(x.dtype)[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x + encoding).to(x.dtype)"""),
    "8.2": ("the first number overwritten too early", """
def answer(x, positions, base):
    d = x.shape[-1]
    angles = positions[..., None] * base ** (-torch.arange(0, d, 2).double() / d)
    angles = angles if positions.ndim == 1 else angles[:, None]
    out = x.double().clone()
    first, second = out[..., 0::2], out[..., 1::2]
    out[..., 0::2] = first * angles.cos() - second * angles.sin()
    out[..., 1::2] = second * angles.cos() + first * angles.sin()
    return out.to(x.dtype)"""),
    "13.3": ("the exponent without its 2", "answer = 16383 / 2047 / 8 ** (24 / 62)"),
    "17.1": ("the list itself returned", """
def answer(config):
    layers = range(config["num_hidden_layers"])
    if "no_rope_layers" in config:
        return config["no_rope_layers"]
    if "no_rope_layer_interval" in config:
        return [layer for layer in layers if (layer + 1) % config["no_rope_layer_interval"]]
    if config["model_type"] == "cohere2":
        return [n for n in layers if config["layer_types"][n] == "sliding_attention"]
    return list(layers)"""),
    "17.3": ("the sinks of all heads in each row", """
def answer(scores, sinks):
    batch, heads, queries, keys = scores.shape
    columns = sinks.expand(batch, heads, queries, heads)
    return torch.cat([scores, columns], dim=-1).softmax(dim=-1)[..., :keys]"""),
    "17.4": ("a logarithm of base 10", """
def answer(q, positions, floor_scale, attn_scale):
    factor = 1 + attn_scale * torch.log10(1 + (positions + 1) // floor_scale)
    return (q * factor[..., None, :, None]).to(q.dtype)"""),
}  # fmt: skip


@pytest.mark.parametrize(("number", "name", "source"), [(n, *one) for n, one in OF_OTHERS.items()])
def test_a_learner_s_draft_is_named(number: str, name: str, source: str) -> None:
    names: dict[str, Any] = {"torch": torch}
    exec(source, names)
    assert verdict_on(find(number), names["answer"]).mistake == name


def test_of_a_larger_result_the_row_that_differs_is_shown() -> None:
    verdict = verdict_on(find("2.1"), draft(OTHER_LINES["base not used"], refuses=True))
    assert verdict.message.splitlines()[1:5] == [
        "  in row [1] of a tensor of shape (4, 6), float32:",
        "  expected    0.8415   0.5403   0.2138   0.9769   0.0464   0.9989",
        "  got         0.8415   0.5403   0.0464   0.9989 0.002154        1",
        "  first differs at [1, 2]: expected 0.213781, got 0.0463992",
    ]
