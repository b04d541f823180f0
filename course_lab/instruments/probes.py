"""A battery of tests for any position scheme, the course's or a learner's."""

from __future__ import annotations

import copy
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from course_lab.instruments.costs import bytes_kept
from course_lab.training.loop import one_thread
from course_lib.encodings import NoPosition, PositionScheme
from course_lib.model import Decoder, DecoderConfig, View, attend
from course_lib.model.decoder import Cache

SAME = 1e-4  # smaller differences are rounding
SHIFT = 37  # positions
FAR = 100_000  # positions


class Finding(NamedTuple):
    """What a probe measured: a number, whether it is good, and a sentence for the table."""

    value: float
    good: bool | None  # None where no value is better than another
    says: str


Report = Mapping[str, Finding]


@dataclass(frozen=True)
class Subject:
    """A scheme under test, with the sizes of the model and the length that it is meant for."""

    scheme: PositionScheme | Callable[[int], PositionScheme]
    config: DecoderConfig
    length: int

    def awake(self) -> PositionScheme:
        """A copy, for the first layer, with random parameters: many schemes start at zero."""
        one = self.scheme if isinstance(self.scheme, PositionScheme) else self.scheme(0)
        generator = torch.Generator().manual_seed(1)
        one = copy.deepcopy(one).cpu().float()
        for parameter in one.parameters():
            drawn = torch.randn(parameter.shape, generator=generator)
            parameter.data = drawn * (0.5 if parameter.ndim < 2 else parameter.shape[-1] ** -0.25)
        return one

    def model(self) -> Decoder:
        """A decoder around `awake`, with the same weights at every call."""
        torch.manual_seed(0)
        return Decoder(self.config, self.awake()).eval()


def run(
    scheme: PositionScheme | Callable[[int], PositionScheme],
    config: DecoderConfig | None = None,
    length: int = 128,
    only: Sequence[str] | None = None,
) -> Report:
    """Put `scheme` through every probe, or `only` those named, and return their findings.

    `scheme` is what `Decoder` takes, made for the sizes of `config` (default: the zoo's), and must
    work for at least `length` positions. An error in a probe is reported in its finding. Takes
    some seconds; time is measured on one CPU thread.
    """
    subject = Subject(scheme, config or DecoderConfig(), length)
    with one_thread(), torch.random.fork_rng(devices=[]):
        return {name: _finding(PROBES[name], subject) for name in only or PROBES}


def decay(subject: Subject, contents: int = 64) -> Float[Tensor, " distances"]:
    """The mean score of two tokens of the same content, by their distance.

    Averaged over random contents and all heads; the scheme keeps its parameters.
    """
    scheme = subject.scheme if isinstance(subject.scheme, PositionScheme) else subject.scheme(0)
    positions = torch.arange(subject.length)
    x = _content(contents, 1, subject.config.dim).expand(-1, subject.length, -1)
    with torch.no_grad():
        scores = _scores(copy.deepcopy(scheme).cpu().float(), x, positions, subject.config)
    return scores[..., -1, :].flip(-1).mean(dim=(0, 1))


# The probes ---------------------------------------------------------------------------------


def order(subject: Subject) -> Finding:
    """Does attention without a mask tell a text from the same tokens in another order?"""
    scheme, config = subject.awake(), subject.config
    positions = torch.arange(16)
    x = _content(1, 16, config.dim)
    shuffled = torch.randperm(16, generator=torch.Generator().manual_seed(0))
    read = _read(scheme, x, positions, config)[:, :, shuffled]
    change = (_read(scheme, x[:, shuffled], positions, config) - read).abs().max().item()
    return Finding(change, change > SAME, "sees order" if change > SAME else "blind to order")


def distance_only(subject: Subject) -> Finding:
    """How much does a score change if both of its positions move on, content held fixed?

    Not at all where it depends on the distance alone, as with rotations and biases by distance.
    """
    scheme, positions = subject.awake(), torch.arange(subject.length - SHIFT)
    x = _content(1, 1, subject.config.dim).expand(-1, len(positions), -1)
    here, there = (_scores(scheme, x, p, subject.config) for p in (positions, positions + SHIFT))
    change = (here - there).abs().max().item()
    moved = f"changes by {change:.2g} (relative: none)"
    return Finding(change, None, "no change" if change < 1e-3 else moved)


def fades(subject: Subject) -> Finding:
    """How much lower is the mean score of like with like far away than side by side?

    It falls or stays in all schemes of the course; where it rises, look at the sign of a bias.
    """
    curve = decay(subject)
    drop = (curve[1] - curve[-len(curve) // 4 :].mean()).item()
    says = f"falls by {drop:.2f}" if drop > 0 else f"rises by {-drop:.2f} (usual: falls)"
    return Finding(drop, None, "no decay" if abs(drop) < 0.05 else says)


def norm(subject: Subject) -> Finding:
    """Do embeddings, queries and keys keep their lengths?

    A rotation keeps them, if both columns of a pair turn by one angle. What is added to embeddings
    changes theirs, and a factor, as YaRN's, those of queries and keys.
    """
    scheme, config = subject.awake(), subject.config
    positions = torch.arange(subject.length)
    x = _content(1, subject.length, config.dim)
    q = _heads(x, config)
    after = (scheme.embed(x, positions), *scheme.rotate(q, q, positions, positions))
    change = max(
        (new.norm(dim=-1) / old.norm(dim=-1) - 1).abs().max().item()
        for old, new in zip((x, q, q), after, strict=True)
    )
    changed = f"changes by {change:.0%} (rotation: none)"
    return Finding(change, None, "kept" if change < SAME else changed)


def beyond(subject: Subject) -> Finding:
    """Does it take positions up to four times `length`?"""
    tokens = torch.zeros(1, 4 * subject.length, dtype=torch.long)
    subject.model()(tokens, torch.arange(tokens.shape[1]))
    return Finding(1.0, True, "defined")


def decoding(subject: Subject) -> Finding:
    """Do tokens one at a time, over a cache, score as the whole text does?"""
    model, tokens = subject.model(), _tokens(subject, 24)
    positions, kept = torch.arange(24), Cache()
    one_by_one = [model(tokens[:, i : i + 1], positions[i : i + 1], cache=kept) for i in range(24)]
    return _equal(torch.cat(one_by_one, dim=1), model(tokens, positions))


def gaps(subject: Subject) -> Finding:
    """Is a text with tokens left out like one where they are hidden by a mask?"""
    model, tokens = subject.model(), _tokens(subject, 24)
    kept = torch.tensor([0, 1, 4, 5, 9, 17, 23])
    seen = torch.zeros(24, dtype=torch.bool)
    seen[kept] = True
    whole = model(tokens, torch.arange(24), mask=seen.expand(24, 24) | torch.eye(24).bool())
    return _equal(model(tokens[:, kept], kept), whole[:, kept])


def padding(subject: Subject) -> Finding:
    """Does a text score the same with padding to its left, hidden and not counted?"""
    model, tokens = subject.model(), _tokens(subject, 16)
    padded = functional.pad(tokens, (8, 0))
    positions = (torch.arange(24) - 8).clamp(min=0).expand(1, -1)
    real = torch.arange(24) >= 8
    mask = real.expand(24, 24) | torch.eye(24).bool()
    return _equal(model(padded, positions, mask=mask)[:, 8:], model(tokens, torch.arange(16)))


def rows(subject: Subject) -> Finding:
    """Do two texts of a batch, whose positions have other gaps, score as each does alone?"""
    model, tokens = subject.model(), _tokens(subject, 7, batch=2)
    positions = torch.tensor([[0, 1, 4, 5, 9, 17, 23], [0, 2, 3, 10, 11, 12, 20]])
    alone = [model(tokens[row : row + 1], positions[row]) for row in range(2)]
    return _equal(model(tokens, positions), torch.cat(alone))


def far_in_half(subject: Subject) -> Finding:
    """How much larger is the error of bfloat16 scores at position 100 000 than at 0?"""
    scheme, config = subject.awake(), subject.config
    half = copy.deepcopy(scheme).bfloat16()
    scheme = copy.deepcopy(half).float()  # the same, rounded parameters
    x = _content(1, 32, config.dim).bfloat16()

    def error(start: int) -> float:
        positions = torch.arange(start, start + 32)
        exact = _scores(scheme, x.float(), positions, config)
        return (_scores(half, x, positions, config).float() - exact).abs().max().item()

    times = error(FAR) / error(0)
    return Finding(times, times < 4, f"{times:.1f} times")


def parameters(subject: Subject) -> Finding:
    """How many numbers does it learn, over all layers of the model?"""
    plain = Decoder(subject.config, NoPosition()).num_parameters
    extra = Decoder(subject.config, subject.scheme).num_parameters - plain
    return Finding(extra, None, f"{extra:,}")


def training_time(subject: Subject) -> Finding:
    """How long does a training step take, in steps of a model without positions?"""
    tokens = _tokens(subject, subject.length, batch=8)
    models = [Decoder(subject.config, s) for s in (NoPosition(), copy.deepcopy(subject.scheme))]
    seconds: list[list[float]] = [[], []]
    for _ in range(6):
        for model, times in zip(models, seconds, strict=True):
            start = time.perf_counter()
            _step(model, tokens)
            times.append(time.perf_counter() - start)
    plain, tested = (statistics.median(times[1:]) for times in seconds)
    return Finding(tested / plain, None, f"x {tested / plain:.2f}")


def training_memory(subject: Subject) -> Finding:
    """How much does a training step keep for its way back, against a model without positions?"""
    tokens = _tokens(subject, subject.length, batch=8)
    schemes = NoPosition(), copy.deepcopy(subject.scheme)
    plain, tested = (bytes_kept(Decoder(subject.config, scheme), tokens) for scheme in schemes)
    return Finding(tested / plain, None, f"x {tested / plain:.2f}")


PROBES: dict[str, Callable[[Subject], Finding]] = {
    "order": order,
    "moved on by 37": distance_only,
    "far against near": fades,
    "norm": norm,
    "at 4 times the length": beyond,
    "token by token": decoding,
    "gaps": gaps,
    "left padding": padding,
    "rows of a batch": rows,
    "bfloat16 at 100 000": far_in_half,
    "parameters": parameters,
    "training time": training_time,
    "training memory": training_memory,
}


def _finding(probe: Callable[[Subject], Finding], subject: Subject) -> Finding:
    try:
        with torch.set_grad_enabled(probe in (training_time, training_memory)):
            return probe(subject)
    except Exception as error:  # a scheme under test may do anything wrong: that is the finding
        reason = (str(error) or type(error).__name__).splitlines()[0].split(":")[0]
        return Finding(math.nan, False, f"refused: {reason}")


def _equal(actual: Tensor, expected: Tensor) -> Finding:
    error = (actual - expected).abs().max().item()
    return Finding(error, error < SAME, "equal" if error < SAME else f"off by {error:.2g}")


def _content(batch: int, length: int, dim: int) -> Float[Tensor, "batch length dim"]:
    return torch.randn(batch, length, dim, generator=torch.Generator().manual_seed(2))


def _tokens(subject: Subject, length: int, batch: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(subject.config.vocab_size, (batch, length), generator=generator)


def _heads(x: Tensor, config: DecoderConfig) -> Tensor:
    """`x` as queries or keys of all heads: one projection for both, so that equal content fits."""
    generator = torch.Generator().manual_seed(4)
    drawn = torch.randn(config.dim, config.dim, generator=generator)
    turned = torch.linalg.qr(drawn).Q.to(x.dtype)
    heads: Tensor = (x @ turned).unflatten(-1, (config.num_heads, -1)).transpose(1, 2)
    return heads


def _scores(
    scheme: PositionScheme, x: Tensor, positions: Tensor, config: DecoderConfig
) -> Float[Tensor, "batch heads length length"]:
    """What goes into the softmax when every token of `x` looks at every other."""
    q = k = _heads(scheme.embed(x, positions), config)
    bias = scheme.score_bias(q, k, positions, positions)
    q, k = scheme.rotate(q, k, positions, positions)
    scores = q @ k.mT / math.sqrt(config.head_dim)
    return scores if bias is None else scores + bias


def _read(scheme: PositionScheme, x: Tensor, positions: Tensor, config: DecoderConfig) -> Tensor:
    q = k = _heads(scheme.embed(x, positions), config)
    return attend(q, k, k, scheme, View(positions, positions, causal=False))


def _step(model: nn.Module, tokens: Tensor) -> None:
    model.zero_grad()
    scores = model(tokens, torch.arange(tokens.shape[1]))
    functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
