"""A trained RoPE made to read further: each method as it is, and after some more training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn

from course_lab.instruments.evaluation import bits_by_length, next_byte
from course_lab.training.loop import Training
from course_lib import encodings as enc

Model = TypeVar("Model", bound=nn.Module)
BASE = 10_000.0
TUNING_RATE = 5e-4
SEARCH_PASSAGES = 4  # of training text, on which factors of pairs are searched for

# (head_dim, original length, factor) -> frequencies. No pair makes 32 turns in 128 bytes, so
# `by_parts` (with Llama 3's numbers) and `yarn` have ramps that fit a window of 128.
METHODS: dict[str, Callable[[int, int, float], enc.ScaledFrequencies]] = {
    "unchanged": lambda d, n, s: enc.ScaledFrequencies(enc.rotary_frequencies(d)),
    "interpolation": lambda d, n, s: enc.interpolated(enc.rotary_frequencies(d), s),
    "ntk_aware": lambda d, n, s: enc.ntk_aware(d, BASE, s),
    "dynamic_ntk": lambda d, n, s: enc.dynamic_ntk(d, BASE, 2.0, int(s * n), n),
    "by_parts": lambda d, n, s: enc.by_parts(enc.rotary_frequencies(d), s, n, slow=1.0, fast=4.0),
    "yarn": lambda d, n, s: enc.yarn(d, BASE, s, n, beta_fast=4.0, beta_slow=0.5, ramp="turns"),
    "yarn_released": lambda d, n, s: enc.yarn(d, BASE, s, n),
}


def stretched(model: Model, scaled: enc.ScaledFrequencies) -> Model:
    """A copy of `model` whose rotations use `scaled`."""
    model = copy.deepcopy(model)
    rotaries = [module for module in model.modules() if isinstance(module, enc.Rotary)]
    if not rotaries:
        raise ValueError("model has no Rotary to stretch: take one trained with RoPE")
    for rotary in rotaries:
        rotary.frequencies = scaled.frequencies.to(rotary.frequencies.device)
        rotary.attention_factor = scaled.attention_factor
    return model


def tuned(
    model: nn.Module, data: Tensor, length: int, tokens: int, steps: int, seed: int
) -> Iterator[int]:
    """Train `model` further at `length`, `tokens` bytes a step, and yield after each step.

    The learning rate rises for 10 steps and then stays constant, so that the model after any step
    can be measured as it is.
    """
    task = next_byte(data, length, batch=tokens // length)
    training = Training(
        model, task, steps, TUNING_RATE, seed, schedule=lambda step, _: min(1.0, (step + 1) / 10)
    )
    for step in range(1, steps + 1):
        training.step()
        yield step


def searched(
    model: nn.Module, data: Tensor, original_length: int, factor: float, rounds: int = 40
) -> enc.ScaledFrequencies:
    """A small version of LongRoPE: a factor for each pair, searched for on passages of `data`.

    Starts from the best of three: no stretch, NTK-aware, YaRN. Each round changes the factors of
    all pairs at random and keeps the change if the loss falls; as in the paper, factors grow from
    pair to pair and lie between 1 and `factor`. (The paper evolves a population of candidates.)
    """
    rotary = next(module for module in model.modules() if isinstance(module, enc.Rotary))
    dim, length = rotary.head_dim, int(original_length * factor)
    plain = enc.rotary_frequencies(dim)
    generator = torch.Generator().manual_seed(0)

    def scaled(factors: Tensor) -> enc.ScaledFrequencies:
        values = factors.tolist()
        return enc.longrope(dim, BASE, values, values, length, original_length, factor)

    def cost(factors: Tensor) -> float:
        longer = stretched(model, scaled(factors))
        return bits_by_length(longer, data, [length], SEARCH_PASSAGES).mean().item()

    known = (METHODS[name](dim, original_length, factor) for name in ("ntk_aware", "yarn"))
    starts = [plain / method.frequencies for method in known]
    best = min([torch.ones_like(plain), *starts], key=cost)
    least = cost(best)
    for _ in range(rounds):
        change = 0.3 * torch.randn(len(best), generator=generator, dtype=torch.float64)
        tried = (best.log() + change).exp().clamp(1, factor).sort().values
        if (loss := cost(tried)) < least:
            best, least = tried, loss
    return scaled(best)
