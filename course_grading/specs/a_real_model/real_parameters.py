"""Parameters for a longer text."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Described, Number

Config = dict[str, Any]


def _of(config: Config) -> Config:
    parameters: Config = config.get("rope_parameters", {})
    return parameters


def _base(config: Config) -> float:
    base: float = (config | _of(config))["rope_theta"]
    return base


def _trained(config: Config) -> int:
    longer: int = config["max_position_embeddings"]
    trained: int = _of(config).get("original_max_position_embeddings", longer)
    return trained


def _stretching(
    *,
    base: Callable[[Config], float] = _base,
    trained: Callable[[Config], int] = _trained,
    ratio: Callable[[Config, float], float] = lambda config, ratio: ratio,
    short: Callable[[Config, int], bool] = lambda config, length: length <= _trained(config),
    names: Callable[[Config], Config] = lambda parameters: parameters,
) -> Callable[[Config, int], Config]:
    """The parameters, or what becomes of them when one of these choices is another."""

    def parameters_for(config: Config, length: int) -> Config:
        if short(config, length):
            return names({"rope_type": "default", "rope_theta": base(config)})
        return names({
            "rope_type": "yarn",
            "rope_theta": base(config),
            "factor": ratio(config, length / trained(config)),
            "original_max_position_embeddings": trained(config),
        })  # fmt: skip

    return parameters_for


def _by_factor(config: Config) -> int:
    return int(config["max_position_embeddings"] / _of(config).get("factor", 1))


def _left_as_it_was(config: Config, length: int) -> Config:
    if "factor" in _of(config) and length <= config["max_position_embeddings"]:
        return _of(config)
    return _stretching()(config, length)


def _cases(rng: Random) -> list[Case]:
    def case(config: Config, length: int) -> Case:
        return {"config": config, "length": length}

    def plain(length: int, base: float) -> Config:
        return {"model_type": "llama", "max_position_embeddings": length, "head_dim": 64,
                "rope_parameters": {"rope_type": "default", "rope_theta": base}}  # fmt: skip

    def older(length: int, base: float) -> Config:
        return {"model_type": "llama", "max_position_embeddings": length, "rope_theta": base}

    def stretched(length: int, factor: float, base: float) -> Config:
        parameters = {"rope_type": "yarn", "rope_theta": base, "factor": factor,
                      "original_max_position_embeddings": length}  # fmt: skip
        return {"max_position_embeddings": int(length * factor), "rope_parameters": parameters}

    roomy = stretched(32_768, 4.0, 1_000_000.0) | {"max_position_embeddings": 40_960}
    usual, twice = plain(8192, 100_000.0), stretched(4096, 2.0, 10_000.0)
    return [
        case(usual, 32_768), case(usual, 12_000), case(usual, 8192), case(usual, 8193),
        case(usual, 500), case(older(2048, 10_000.0), 5000), case(older(2048, 10_000.0), 2000),
        case(older(32_768, 1_000_000.0), 100_000), case(twice, 16_384), case(twice, 8192),
        case(twice, 6000), case(twice, 4096), case(twice, 3000),
        case(stretched(32_768, 4.0, 1_000_000.0), 262_144),
        case(stretched(2048, 16.0, 50_000.0), 2 * rng.randint(1100, 9000)),
        case(plain(2 * rng.randint(1000, 4000), 500_000.0), 2 * rng.randint(5000, 50_000)),
        case(plain(131_072, 5_000_000.0), 128),
        # it was stretched by more than max_position_embeddings says
        *[case(roomy, length) for length in (30_000, 32_768, 36_000, 50_000)],
    ]  # fmt: skip


EXERCISE = Implement(
    slug="real-parameters", title="Parameters for a longer text",
    minutes=20, points=3, name="parameters_for",
    reference=_stretching(), cases=_cases, forbidden=("parameters", "advice"),
    domain={
        "config": Described("a dictionary as above"),
        "length": Number(128, 262_144, whole=True),
    },
    hints=(
        "A config that was stretched before has two lengths. Which one is the length of training?",
        "Read the base and the length of training first: parameters = "
        'config.get("rope_parameters", {}), then parameters.get("rope_theta", '
        'config.get("rope_theta")). In the same way, take original_max_position_embeddings from '
        "the parameters, and max_position_embeddings where they have none.",
        "Then compare: a text that is not longer than the training needs no stretch. Otherwise the "
        "factor is length / original, unrounded.",
    ),
    mistakes=(
        Mistake("stretched from the stretched length",
                "Some configs were stretched before: their max_position_embeddings is the longer "
                "length. The model was trained at original_max_position_embeddings.",
                _stretching(trained=lambda config: config["max_position_embeddings"],
                            short=lambda config, length: (
                                length <= config["max_position_embeddings"]))),
        Mistake("no stretch up to the stretched length",
                "A config that was stretched before reaches max_position_embeddings only because "
                "of its stretch. Beyond the length of training the model needs YaRN.",
                _stretching(short=lambda config, length: (
                    length <= config["max_position_embeddings"]))),
        Mistake("a stretched config left as it was",
                "Up to max_position_embeddings you return the old parameters. They stretch by the "
                "old factor, which is not what this length needs.",
                _left_as_it_was),
        Mistake("the length of training computed from the factor",
                "You divide max_position_embeddings by the old factor. A config need not be "
                "stretched by exactly this ratio: original_max_position_embeddings says the "
                "length of training.",
                _stretching(trained=_by_factor,
                            short=lambda config, length: length <= _by_factor(config))),
        Mistake("the old factor kept on top",
                "You multiply by the factor that the config had. The new parameters stand in place "
                "of the old ones, and are counted from the length of training.",
                _stretching(ratio=lambda config, ratio: ratio * _of(config).get("factor", 1.0))),
        Mistake("the old factor kept",
                "You keep the factor that the config had. The new one is the new length divided by "
                "the length of training.",
                _stretching(ratio=lambda config, ratio: _of(config).get("factor", ratio))),
        Mistake("factor rounded up",
                "You round the factor up. It may be any number of 1 or more, and a larger one than "
                "needed costs something.",
                _stretching(ratio=lambda config, ratio: math.ceil(ratio))),
        Mistake("factor cut to a whole number",
                "You divide with //, and the stretch does not reach the length.",
                _stretching(ratio=lambda config, ratio: ratio // 1)),
        Mistake("short texts stretched",
                "A text that is not longer than the training needs no stretch, and a factor of 1 "
                "or less is none.",
                _stretching(short=lambda config, length: False)),
        Mistake("a stretch by 1",
                "At exactly the length of training no stretch is needed: the type is default.",
                _stretching(short=lambda config, length: length < _trained(config))),
        Mistake("base 10 000 where it is not in the parameters",
                "In older configs rope_theta stands beside max_position_embeddings, not in "
                "rope_parameters.",
                _stretching(base=lambda config: _of(config).get("rope_theta", 10_000.0))),
        Mistake("the length of training forgotten",
                "original_max_position_embeddings is missing. Without it the reader takes "
                "max_position_embeddings for the length of training.",
                _stretching(names=lambda parameters: {
                    name: value for name, value in parameters.items()
                    if name != "original_max_position_embeddings"})),
        Mistake("the old name of the type",
                'You write "type". That was its name in older configs; now it is "rope_type".',
                _stretching(names=lambda parameters: {
                    name.replace("rope_type", "type"): value
                    for name, value in parameters.items()})),
    ),
)  # fmt: skip
