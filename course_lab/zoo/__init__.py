"""Every scheme of the course in the same small decoder, trained alike: weights and measurements."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from course_lab.instruments import evaluation
from course_lab.instruments.evaluation import Difference
from course_lab.machine import device
from course_lab.studies.study import every_record, stored
from course_lab.training.checkpoints import checksum
from course_lib import encodings as enc
from course_lib.errors import CourseError
from course_lib.model import Decoder, DecoderConfig

SEEDS = (0, 1, 2)
HERE = Path(__file__).parent
VERSION = "1"  # of the weight files; another architecture needs another number
AGAIN = "run `make zoo` to make it again, or `git checkout course_lab/zoo` to get it back"


@dataclass(frozen=True)
class Tier:
    """The sizes of model and training that all schemes share, and the lengths to measure at."""

    name: str
    config: DecoderConfig
    length: int
    batch: int
    steps: int
    learning_rate: float
    dtype: str
    lengths: tuple[int, ...]

    def settings(self) -> dict[str, Any]:
        """All sizes as plain values, for JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


TIERS = {
    "small": Tier(
        "small", DecoderConfig(), length=128, batch=32, steps=1000, learning_rate=3e-3,
        dtype="float32", lengths=(64, 128, 256, 512, 1024, 2048),
    ),
}  # fmt: skip
TIERS["longer"] = replace(TIERS["small"], name="longer", steps=5000)
ENTIRE = ("rope", "alibi", "none", "sinusoidal", "learned")
"""The schemes of which all three seeds are shipped; of the others it is seed 0."""


class ClampedTable(enc.LearnedAbsolute):
    """A learned table whose last row serves every position beyond it."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions.clamp(max=len(self.table) - 1))


Scheme = enc.PositionScheme | Callable[[int], enc.PositionScheme]
"""What `Decoder` takes: one scheme for all layers, or a function from layer number to scheme."""
Make = Callable[[DecoderConfig], Scheme]
"""Makes a scheme for a model of these sizes."""


class Recipe(NamedTuple):
    """A scheme of the zoo."""

    label: str  # what figures call it
    scheme: Callable[[Tier], Scheme]
    beyond: str = "defined at every position"  # or what happens where it has no number
    layers: Callable[[Tier], dict[str, Any]] = lambda t: {}
    """What a decoder takes besides the scheme: `windows` and `sinks`."""


CLIP = 32  # positions: from this distance on, clipped bias and Shaw treat all alike
_CLIPPED = f"distances from {CLIP} on share a row"

RECIPES = {
    "rope": Recipe("RoPE", lambda t: enc.Rotary(t.config.head_dim)),
    "alibi": Recipe("ALiBi", lambda t: enc.ALiBi(t.config.num_heads)),
    "none": Recipe("no position", lambda t: enc.NoPosition(), "nothing to look up"),
    "sinusoidal": Recipe("sinusoidal", lambda t: enc.Sinusoidal(t.config.dim)),
    "learned": Recipe(
        "learned", lambda t: ClampedTable(t.length, t.config.dim),
        "positions clamped to the last row",
    ),
    "t5": Recipe(
        "T5 bias", lambda t: enc.T5Bias(t.config.num_heads, max_distance=t.length),
        "the last bucket is open: distances from 113 on in the small tier",
    ),
    "transformer_xl": Recipe(
        "Transformer-XL",
        lambda t: lambda layer: enc.TransformerXL(t.config.num_heads, t.config.head_dim),
    ),
    "shaw": Recipe("Shaw", lambda t: lambda layer: enc.Shaw(t.config.head_dim, CLIP), _CLIPPED),
    "clipped": Recipe(
        "clipped bias", lambda t: enc.ClippedBias(t.config.num_heads, CLIP), _CLIPPED
    ),
    "partial_rope": Recipe(
        "partial RoPE", lambda t: enc.Rotary(t.config.head_dim, rotary_dim=t.config.head_dim // 4)
    ),
}  # fmt: skip


def _in_last(layer: int) -> bool:
    """Whether this layer is each fourth one, which is the last of the zoo's models."""
    return layer % 4 == 3


def _windows(t: Tier) -> dict[str, Any]:
    """A quarter of the trained length in three layers of four; each fourth sees all keys."""
    return {"windows": lambda layer: None if _in_last(layer) else t.length // 4}


def _none_in_last(t: Tier) -> Scheme:
    return lambda layer: enc.NoPosition() if _in_last(layer) else enc.Rotary(t.config.head_dim)


def _two_bases(t: Tier) -> Scheme:
    return lambda layer: enc.Rotary(t.config.head_dim, 1e6 if _in_last(layer) else 1e4)


LAYERED = {
    "none_in_last": Recipe("RoPE, none in the last", _none_in_last),
    "window": Recipe("RoPE, windows", RECIPES["rope"].scheme, layers=_windows),
    "window_none_in_full": Recipe("windows, none in the full", _none_in_last, layers=_windows),
    "window_two_bases": Recipe("windows, two bases", _two_bases, layers=_windows),
    "sinks": Recipe("RoPE, sinks", RECIPES["rope"].scheme, layers=lambda t: {"sinks": True}),
}
"""Models whose layers differ in where positions come in, or in what they see: see lesson 17."""
LAYERED_SHIPPED = ("none_in_last", "window_none_in_full", "sinks")
"""Those of which seed 0 is shipped; `course measure layers` makes all others."""


class ZooError(CourseError):
    """A model or a result that is not there, or not usable; the message says what to run."""


class Record(NamedTuple):
    """One measurement on the validation text."""

    scheme: str
    tier: str
    seed: int
    method: str | None  # of context extension; None for the model as trained
    factor: float  # by which the method stretches
    tuned_steps: int  # of training at `factor` times the trained length, after stretching
    length: int  # bytes of context
    bits: tuple[float, ...]  # per byte, of every passage of `evaluation.bits_by_length`
    text: str  # the checksum of these passages

    @property
    def bits_per_byte(self) -> float:
        """The mean over passages."""
        return statistics.mean(self.bits)

    @property
    def value(self) -> float:
        """What findings compare."""
        return self.bits_per_byte

    @property
    def standard_error(self) -> float:
        """That of `bits_per_byte`, for other text: much larger than that of a `difference`."""
        return statistics.stdev(self.bits) / math.sqrt(len(self.bits))

    @property
    def steps(self) -> int:
        """How many steps the model was trained for, tuning included."""
        return TIERS[self.tier].steps + self.tuned_steps


def difference(one: Record, other: Record) -> Difference:
    """How many bits per byte more `one` pays than `other`, passage by passage.

    Raises ZooError if the two were measured on different passages, as results of two releases of
    Python are.
    """
    if one.text != other.text:
        raise ZooError(
            f"{one.scheme} was measured on passages {one.text} and {other.scheme} on {other.text}, "
            "and bits of different bytes cannot be compared: run `make zoo` to measure both again"
        )
    return evaluation.difference(torch.tensor(one.bits), torch.tensor(other.bits))


def build(name: str, tier: Tier, seed: int = 0) -> Decoder:
    """An untrained model with the zoo's scheme `name`."""
    chosen = recipe(name)
    return build_around(lambda config: chosen.scheme(tier), tier.config, seed, chosen.layers(tier))


def build_around(
    make: Make,
    config: DecoderConfig,
    seed: int = 0,
    layers: Mapping[str, Any] = MappingProxyType({}),
) -> Decoder:
    """An untrained model with the scheme that `make(config)` returns.

    `layers` are further arguments of `Decoder`. For one seed, the weights outside the scheme are
    the same whatever the scheme is.
    """
    generator = torch.default_generator  # the CPU's alone: torch.manual_seed reseeds GPUs as well
    with torch.random.fork_rng(devices=[]):
        generator.manual_seed(seed)
        model = Decoder(config, make(config), **layers)
        generator.manual_seed(seed)
        shared = Decoder(config, enc.NoPosition()).state_dict()
    model.load_state_dict(shared, strict=False)
    return model


def recipe(name: str) -> Recipe:
    """The recipe of the scheme `name`. Raises ZooError if there is none."""
    known = RECIPES | LAYERED
    if name not in known:
        raise ZooError(f"the zoo has no scheme {name!r}; it has {', '.join(known)}")
    return known[name]


def load(name: str, seed: int = 0) -> Decoder:
    """The model trained with the scheme `name` in the small tier, on `device()`.

    Seed 0 of every scheme is shipped, seeds 1 and 2 of those in ENTIRE, and seed 0 of those in
    LAYERED_SHIPPED; `course measure` makes the others, as a part of its studies zoo and layers.
    Weights are in half precision, and the model computes in float32. Raises ZooError, which says
    what to run, if there is no such scheme, or if its file is missing, damaged or of another
    version.
    """
    recipe(name)
    path = weights_path(name, seed)
    if not path.exists():
        if not is_shipped(name, seed):
            study, other = ("layers", "another") if name in LAYERED else ("zoo small", "seed 0")
            raise ZooError(
                f"seed {seed} of {name} is not shipped: run `course measure {study} {name} --seeds "
                f"{seed}` to make it, or take {other}"
            )
        raise ZooError(f"{path.name} is missing from the zoo: {AGAIN}")
    if _measured(name, seed) not in (None, checksum(path)):
        raise ZooError(f"{path.name} is damaged, or not what was measured: {AGAIN}")
    return read_weights(path, build(name, TIERS["small"], seed), name, seed)


def _measured(name: str, seed: int) -> str | None:
    """The checksum of the weights that the results are of; None if these were not measured."""
    path = HERE / ("layers.json" if name in LAYERED else "zoo.json")
    try:
        runs = stored(path, AGAIN)
    except (CourseError, OSError):
        return None
    for run in runs:
        of = {"tier": "small", **run["unit"]}
        if (of["tier"], of.get("scheme", of.get("pattern")), of["seed"]) == ("small", name, seed):
            weights: str | None = run["settings"].get("weights")
            return weights
    return None


def read_weights(path: Path, model: Decoder, name: str, seed: int) -> Decoder:
    """`model` with the weights of `path`, on `device()`. Raises ZooError if they do not fit."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ZooError(f"{path.name} is damaged ({error}): {AGAIN}") from None
    expected = {"version": VERSION, "scheme": name, "seed": str(seed)}
    if {"seed": "0", **metadata} != expected:
        raise ZooError(f"{path.name} is from another version of the course: {AGAIN}")
    try:
        model.load_state_dict(weights)
    except RuntimeError:
        raise ZooError(f"{path.name} does not fit this version's model: {AGAIN}") from None
    return model.to(device()).eval()


def weights_path(name: str, seed: int) -> Path:
    """Where the weights of the small tier lie."""
    return HERE / (f"{name}-{seed}.safetensors" if seed else f"{name}.safetensors")


def is_shipped(name: str, seed: int) -> bool:
    """Whether the course comes with the weights of this model."""
    if name in LAYERED:
        return seed == 0 and name in LAYERED_SHIPPED
    return seed == 0 or (seed in SEEDS and name in ENTIRE)


def results() -> list[Record]:
    """Everything that was measured, one record for each model, method and length."""
    try:
        return [
            Record(
                **{name: r[name] for name in Record._fields if name != "bits"},
                bits=tuple(r["bits"]),
            )
            for r in every_record(entries())
        ]
    except KeyError:
        raise ZooError(f"zoo.json is from another version of the course: {AGAIN}") from None


def study() -> list[Record]:
    """The study of extension: RoPE stretched and tuned, and as trained, for the same seeds."""
    records = [record for record in results() if (record.scheme, record.tier) == ("rope", "small")]
    seeds = {record.seed for record in records if record.method}
    return [record for record in records if record.seed in seeds]


def runs() -> list[dict[str, Any]]:
    """How each unit was made: settings, time, versions, machine; and curves.

    Runs of kind "trained" have the loss over training, "measured" the loss by position.
    """
    return [
        {**entry["unit"], **{name: entry[name] for name in entry.keys() - {"unit", "records"}}}
        for entry in entries()
    ]


def read(tier: str = "small") -> list[dict[str, Any]]:
    """What a tier's models look up: the records of `reading.records`, with scheme, seed, steps."""
    found = [run for run in runs() if (run["kind"], run["tier"]) == ("read", tier)]
    return [{"scheme": run["scheme"], "seed": run["seed"], "steps": run["settings"]["steps"], **r}
            for run in found for r in run["reading"]]  # fmt: skip


def slid() -> dict[tuple[str, int], tuple[float, ...]]:
    """What the passages cost the small models that are shipped, by scheme and seed, in bits per
    byte, if a window of the trained length slides over them: 112 to 127 bytes before each byte."""
    return {
        (run["scheme"], run["seed"]): tuple(run["slid"]) for run in runs() if run["kind"] == "slid"
    }


def entries() -> list[dict[str, Any]]:
    """What `zoo.json` holds. Raises ZooError if it is not there, or cannot be read."""
    path = HERE / "zoo.json"
    if not path.exists():
        raise ZooError(f"zoo.json is missing from the zoo: {AGAIN}")
    try:
        return stored(path, AGAIN)
    except CourseError as error:
        raise ZooError(str(error)) from None
