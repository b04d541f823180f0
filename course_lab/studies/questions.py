"""What the lessons ask small models: tasks, models and budgets, each as its lesson has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lab import zoo
from course_lab.instruments.stretching import METHODS
from course_lab.training import recall, tasks, waveforms
from course_lab.training.tasks import IGNORE, Batch, Task
from course_lab.training.waveforms import AMPLITUDES, QUARTER, WAVEFORMS, Mirrored, Waveform, Waves
from course_lab.zoo import Make, Scheme
from course_lib import encodings as enc
from course_lib.model import Decoder, DecoderConfig

EXAM_SEED = 10**6
EXAM_TOKENS = 2**14  # of each exam, at every length

STRETCHES: dict[str, Callable[[int, int, float], enc.ScaledFrequencies]] = {
    **{name: METHODS[name] for name in ("interpolation", "ntk_aware", "by_parts", "yarn")},
    "interpolation, with YaRN's factor": lambda d, n, s: METHODS["interpolation"](d, n, s)._replace(
        attention_factor=METHODS["yarn"](d, n, s).attention_factor
    ),
    "yarn, without its factor": lambda d, n, s: METHODS["yarn"](d, n, s)._replace(
        attention_factor=1.0
    ),
}
"""Ways to stretch a trained RoPE; the last two tell YaRN's ramp from its attention factor."""


class Variant(NamedTuple):
    """A model that is trained for a question, in what it differs from the others."""

    make: Make
    sizes: Mapping[str, Any] = {}
    """What changes in the question's config."""
    task: Mapping[str, Any] = {}
    """Further arguments of the question's task."""
    stretches: tuple[str, ...] = ()
    """The STRETCHES that texts longer than the trained ones are read with as well."""
    further: tuple[int, ...] = ()
    """Multiples of the question's steps that this one alone is trained for as well."""
    layers: Mapping[str, Any] = {}
    """Further arguments of `Decoder`: windows and sinks."""


@dataclass(frozen=True)
class Question:
    """What small models are asked: the training as the lesson does it, and the exam."""

    label: str  # as an axis of a figure says it
    task: Callable[..., Task]  # of length and batch
    config: DecoderConfig
    length: int  # trained
    batch: int
    steps: int  # the lesson's own
    variants: Mapping[str, Variant]
    chance: float
    learning_rate: float = 1e-2
    multiples: tuple[int, ...] = (1, 2, 5, 10)  # of `steps`, to train for
    lengths: tuple[int, ...] = ()  # examined besides the trained one
    later_half: bool = False  # whether only the second half of a text is examined
    bins: Callable[[Batch], Int[Tensor, "batch length"]] | None = None
    """A number for each question: accuracy is also kept by this number, in bins of `length`."""
    ceilings: Mapping[str, Callable[[Batch], float]] = field(default_factory=dict)
    """What simpler readers get in an exam, by name."""

    @property
    def all_steps(self) -> list[int]:
        """The numbers of steps that any variant is trained for, the smallest first."""
        further = {multiple for variant in self.variants.values() for multiple in variant.further}
        return [multiple * self.steps for multiple in sorted({*self.multiples, *further})]


class ValuesOnly(enc.PositionScheme):
    """Shaw's vectors on values alone."""

    def __init__(self, head_dim: int, max_distance: int) -> None:
        super().__init__()
        self.shaw = enc.Shaw(head_dim, max_distance)

    def read(
        self, weights: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries head_dim"] | None:
        return self.shaw.read(weights, q_positions, k_positions)


# Makers of schemes: what they are called with stands in the settings of a run.


def none(config: DecoderConfig) -> Scheme:
    return enc.NoPosition()


def rope(config: DecoderConfig) -> Scheme:
    return enc.Rotary(config.head_dim)


def alibi(config: DecoderConfig) -> Scheme:
    return enc.ALiBi(config.num_heads)


def clipped(config: DecoderConfig, max_distance: int) -> Scheme:
    return enc.ClippedBias(config.num_heads, max_distance)


def learned(config: DecoderConfig, rows: int, std: float) -> Scheme:
    return enc.LearnedAbsolute(rows, config.dim, std=std)


def sinusoidal(config: DecoderConfig, scale: float) -> Scheme:
    return enc.Sinusoidal(config.dim, scale=scale)


def waves(config: DecoderConfig, waveform: Waveform | Mirrored) -> Scheme:
    return Waves(waveform, config.dim)


def transformer_xl(config: DecoderConfig) -> Scheme:
    return lambda layer: enc.TransformerXL(config.num_heads, config.head_dim)


def shaw(
    config: DecoderConfig, max_distance: int, keys: bool = True, values: bool = True
) -> Scheme:
    if not keys:
        return lambda layer: ValuesOnly(config.head_dim, max_distance)
    return lambda layer: enc.Shaw(config.head_dim, max_distance, on_values=values)


def of_the_zoo(config: DecoderConfig, name: str, length: int) -> Scheme:
    """The zoo's scheme `name`, with tables for texts of `length`."""
    return zoo.recipe(name).scheme(replace(zoo.TIERS["small"], config=config, length=length))


def known(length: int, *names: str) -> dict[str, Variant]:
    """Schemes of the zoo as variants, for texts of `length` in training, by their labels."""
    tier = replace(zoo.TIERS["small"], length=length)
    return {
        zoo.recipe(name).label: Variant(
            partial(of_the_zoo, name=name, length=length), layers=zoo.recipe(name).layers(tier)
        )
        for name in names
    }


def places(batch: Batch) -> Int[Tensor, "batch length"]:
    """The place of each token in its text."""
    return torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)


def bag(weights: Callable[[Batch], Tensor]) -> Callable[[Batch], float]:
    """The ceiling of a reader of bags, to whom answers are likely as `weights` says."""
    return lambda exam: tasks.bag_ceiling(exam, weights(exam))


OF_THE_TEXT = "bag of the other tokens"
OF_THE_PAST = "bag of the past"
ENCODER = DecoderConfig(8, 32, num_layers=1, num_heads=2, hidden_dim=64, causal=False)
DECODER = replace(ENCODER, causal=True)
IN_16 = replace(ENCODER, vocab_size=16)
EVERY_DISTANCE = partial(clipped, max_distance=11)
BY_DISTANCE: dict[str, Variant] = {
    "clipped bias": Variant(partial(clipped, max_distance=8)),
    "ALiBi": Variant(alibi),
    "ALiBi, 2 layers": Variant(alibi, {"num_layers": 2}),
    **known(32, "t5", "rope", "sinusoidal", "learned", "none"),
}  # fmt: skip
"""The schemes that are asked for a distance, and then for the latest name."""

QUESTIONS: dict[str, Question] = {
    "order-blind": Question(
        "which token stood three before, in texts of 16?",
        partial(tasks.steps_back, 3, 8),
        DecoderConfig(8, 64, num_layers=2, num_heads=4, hidden_dim=128, causal=False),
        length=16, batch=64, steps=300, chance=1 / 8,
        variants={
            "no position": Variant(none),
            "no position, causal, 1 layer": Variant(none, {"causal": True, "num_layers": 1}),
            "no position, causal, 2 layers": Variant(none, {"causal": True}),
            **known(16, "sinusoidal"),
        },
        ceilings={OF_THE_TEXT: bag(tasks.others), OF_THE_PAST: bag(tasks.past)},
    ),
    "waveforms": Question(
        "which token stood five before?",
        partial(tasks.steps_back, waveforms.DISTANCE, waveforms.VOCAB), waveforms.CONFIG,
        length=waveforms.LENGTH, batch=64, steps=waveforms.STEPS, learning_rate=3e-3,
        chance=1 / waveforms.VOCAB, lengths=(256,),
        bins=places, multiples=(1, 3, 10),
        variants={
            **{name: Variant(partial(waves, waveform=wave)) for name, wave in WAVEFORMS.items()},
            **{f"amplitude {scale:g}": Variant(partial(sinusoidal, scale=scale))
               for scale in AMPLITUDES},
        },
        ceilings={OF_THE_TEXT: bag(tasks.others)},
    ),
    "sooner": Question(
        "which token stood five before?",
        partial(tasks.steps_back, waveforms.DISTANCE, waveforms.VOCAB), waveforms.CONFIG,
        length=waveforms.LENGTH, batch=64, steps=50, learning_rate=3e-3,
        chance=1 / waveforms.VOCAB, multiples=(1, 3, 5, 10),
        variants={
            **{f"32 numbers, {name}": Variant(partial(waves, waveform=WAVEFORMS[name]))
               for name in ("sines, a quarter turn apart", "overtones, half a turn apart",
                            "sines, random frequencies")},
            **{f"16 numbers, base {base}, {name}":
               Variant(partial(waves, waveform=Mirrored(base, ahead)))
               for base, name, ahead in (
                   (10_000, "sines alone", None), (10_000, "with cosines", QUARTER),
                   (10_000, "partner 1/8 ahead", QUARTER / 2),
                   (10, "sines alone", None), (10, "with cosines", QUARTER))},
        },
        ceilings={OF_THE_TEXT: bag(tasks.others)},
    ),
    "holes": Question(
        "which letter is behind the hole?",
        tasks.runs_with_holes, replace(ENCODER, vocab_size=9, num_heads=1),
        length=32, batch=64, steps=300, chance=1 / 8,
        variants={
            "learned": Variant(partial(learned, rows=32, std=0.02)),
            "learned, large start": Variant(partial(learned, rows=32, std=1.0)),
            **known(32, "sinusoidal", "none"),
        },
        ceilings={
            "nearest letter": lambda exam: tasks.share_right(tasks.nearest_letter(exam), exam),
            "commonest letter": lambda exam: tasks.share_right(tasks.commonest_letter(exam), exam),
        },
    ),
    "six-back": Question(
        "which token stood six before?",
        partial(tasks.steps_back, 6, 8), IN_16,
        length=24, batch=32, steps=200, chance=1 / 8,
        variants={
            "clipped bias, at 4": Variant(partial(clipped, max_distance=4)),
            "clipped bias, at 4, 2 layers": Variant(
                partial(clipped, max_distance=4), {"num_layers": 2}
            ),
            "clipped bias, at 8": Variant(partial(clipped, max_distance=8)),
        },
        ceilings={"bag of all from four before on": bag(partial(tasks.past, back=4))},
    ),
    "three-back": Question(
        "which token stood three before?",
        partial(tasks.steps_back, 3, 8), replace(IN_16, num_heads=8, causal=True),
        length=32, batch=32, steps=150, chance=1 / 8, lengths=(128, 512), later_half=True,
        variants=BY_DISTANCE,
        ceilings={OF_THE_PAST: bag(tasks.past)},
    ),
    "latest-name": Question(
        "which name occurred last?",
        tasks.latest_name, replace(IN_16, num_heads=8, causal=True),
        length=32, batch=32, steps=150, chance=1 / 8, lengths=(128, 512), later_half=True,
        variants=BY_DISTANCE,
        ceilings={"bag of the names so far": bag(tasks.names_so_far)},
    ),
    "one-before": Question(
        "which token stood one before, without a mask?",
        partial(tasks.steps_back, 1, 8),
        DecoderConfig(9, 32, num_layers=2, num_heads=8, hidden_dim=64, causal=False),
        length=16, batch=64, steps=600, chance=1 / 8, learning_rate=3e-3, multiples=(1, 5),
        variants={
            "ALiBi": Variant(alibi),
            "ALiBi, start mark": Variant(alibi, task={"start_mark": True}),
        },
        ceilings={"both neighbours": bag(tasks.neighbours)},
    ),
    "token-at-3": Question(
        "which token stands at position 3?",
        partial(tasks.token_at, 3, 8), replace(IN_16, num_layers=2),
        length=12, batch=32, steps=300, chance=1 / 8,
        variants={
            "learned": Variant(partial(learned, rows=12, std=1.0)),
            "clipped bias": Variant(EVERY_DISTANCE),
            "clipped bias, causal": Variant(EVERY_DISTANCE, {"causal": True}),
            "clipped bias, start mark": Variant(EVERY_DISTANCE, task={"start_mark": True}),
        },
        ceilings={
            OF_THE_TEXT: bag(tasks.own_or_other),
            OF_THE_PAST: bag(partial(tasks.own_or_past, place=3)),
        },
    ),
    "named-distance": Question(
        "which token stands as far back as this one says?",
        tasks.named_distance, replace(DECODER, num_heads=1),
        length=24, batch=32, steps=200, chance=1 / 8,
        variants={
            "clipped bias": Variant(partial(clipped, max_distance=9)),
            "clipped bias, 8 heads": Variant(partial(clipped, max_distance=9), {"num_heads": 8}),
            "Shaw": Variant(partial(shaw, max_distance=9)),
            "Shaw, clipped at 8": Variant(partial(shaw, max_distance=8)),
            "Transformer-XL": Variant(transformer_xl),
            "RoPE": Variant(rope),
            "ALiBi": Variant(alibi),
            "no position": Variant(none),
        },
        ceilings={OF_THE_PAST: bag(tasks.past)},
    ),
    "last-seen": Question(
        "how far back did this token occur last?",
        tasks.last_seen, DECODER,
        length=16, batch=16, steps=250, chance=1 / 7,
        variants={
            "no position": Variant(none),
            "Shaw, keys": Variant(partial(shaw, max_distance=16, values=False), further=(48,)),
            "Shaw, values": Variant(partial(shaw, max_distance=16, keys=False)),
            "Shaw, both": Variant(partial(shaw, max_distance=16)),
        },
        ceilings={"always 1": lambda exam: tasks.share_right(torch.ones_like(exam.tokens), exam)},
    ),
    "own-place": Question(
        "at which place does this token stand?",
        partial(tasks.own_index, vocab_size=16), replace(IN_16, num_layers=2),
        length=16, batch=64, steps=150, chance=1 / 16,
        variants={
            "no position": Variant(none),
            "no position, causal": Variant(none, {"causal": True}, further=(100,)),
            "RoPE, all see all": Variant(rope),
            "RoPE, causal": Variant(rope, {"causal": True}),
        },
    ),
    "recall": Question(
        "which value has this key?",
        recall.recall, DecoderConfig(recall.VOCAB, 64, num_layers=1, num_heads=2, hidden_dim=64),
        length=64, batch=16, steps=300, learning_rate=5e-3, chance=1 / recall.VALUES,
        lengths=(128, 256, 512), bins=recall.distances,
        multiples=(1, 3, 10),
        variants={
            **(ten := known(64, *zoo.RECIPES)),
            "RoPE": ten["RoPE"]._replace(stretches=tuple(STRETCHES)),
        },
    ),
    "recall-layers": Question(
        "which value has this key? (four layers)",
        recall.recall, DecoderConfig(recall.VOCAB, 64, num_layers=4, num_heads=2, hidden_dim=64),
        length=64, batch=16, steps=300, learning_rate=3e-3, chance=1 / recall.VALUES,
        lengths=(128, 256, 512), bins=recall.distances,
        multiples=(1, 3),
        variants=known(64, "rope", "none", *zoo.LAYERED),
    ),
}  # fmt: skip
"""The questions of the lessons, in their order."""


def model_for(slug: str, variant: str, seed: int = 0) -> Decoder:
    """An untrained model for a question."""
    chosen = QUESTIONS[slug].variants[variant]
    config = replace(QUESTIONS[slug].config, **chosen.sizes)
    return zoo.build_around(chosen.make, config, seed, chosen.layers)


def exam(slug: str, length: int | None = None, **arguments: Any) -> Batch:
    """The questions that every model is asked at `length` (default: trained), always the same ones.

    `arguments` are further ones of the task.
    """
    question = QUESTIONS[slug]
    length = length or question.length
    task = question.task(length=length, batch=EXAM_TOKENS // length, **arguments)
    tokens, targets = task(torch.Generator().manual_seed(EXAM_SEED))
    if question.later_half:
        targets[:, : length // 2] = IGNORE
    return Batch(tokens, targets)


def ceilings(slug: str, length: int | None = None) -> dict[str, float]:
    """What simpler readers get in the exam at `length` (default: trained), by name."""
    batch = exam(slug, length)
    return {name: ceiling(batch) for name, ceiling in QUESTIONS[slug].ceilings.items()}
