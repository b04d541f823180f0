"""Which answers are wrong in the same way: a short name for what an answer returned."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise.values import Other, decode

DIGITS = 4
"""Significant digits in which alike answers agree: the roundings of different programs do not."""


def fingerprint(outcomes: list[dict[str, Any]]) -> str:
    """The same eight letters for outcomes that are the same but for rounding and words.

    Compare answers to the same questions only.
    """
    return _short(repr([_outline(outcome) for outcome in outcomes]))


def fingerprint_of_test(questions: list[int], outcomes: list[dict[str, Any]]) -> str:
    """Of a test to write it counts which versions it refused, whatever the order of questions."""
    seen = sorted(zip(questions, ("raised" in one for one in outcomes), strict=True))
    return _short(repr(seen))


def _outline(outcome: dict[str, Any]) -> Any:
    if "raised" in outcome:
        return ("raised", outcome["raised"])
    return _rounded(decode(outcome["value"]))


def _rounded(value: Any) -> Any:
    if isinstance(value, Tensor):
        return (tuple(value.shape), str(value.dtype), _rounded(_numbers(value)))
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return [(_rounded(key), _rounded(item)) for key, item in value.items()]
    if isinstance(value, float):
        return f"{value + 0.0:.{DIGITS}g}"  # 0.0 has no sign then
    return value.type if isinstance(value, Other) else repr(value)


def _numbers(value: Tensor) -> list[Any]:
    flat = value.reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    return list(flat.double().tolist() if flat.is_floating_point() else flat.tolist())


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
