"""Which layers rotate?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Described

Config = dict[str, Any]
Rotates = Callable[[int], bool]


def _listed(config: Config) -> Rotates:
    return lambda layer: config["no_rope_layers"][layer] == 1


def _counted(config: Config) -> Rotates:
    return lambda layer: (layer + 1) % config["no_rope_layer_interval"] != 0


def _windows(config: Config) -> Rotates:
    return lambda layer: config["layer_types"][layer] == "sliding_attention"


def _always(config: Config) -> Rotates:
    return lambda layer: True


def _layers(
    *,
    listed: Callable[[Config], Rotates] = _listed,
    counted: Callable[[Config], Rotates] = _counted,
    windows: Callable[[Config], Rotates] = _windows,
    list_first: bool = True,
    by_windows: Callable[[Config], bool] = lambda config: config["model_type"] == "cohere2",
    first: int = 0,
    wanted: bool = True,
) -> Callable[[Config], list[int]]:
    """The layers that rotate, or what becomes of them when one of these choices is another."""

    def rotating_layers(config: Config) -> list[int]:
        ways = {"no_rope_layers": listed, "no_rope_layer_interval": counted}
        fitting = [way for key, way in ways.items() if key in config]
        if not list_first:
            fitting.reverse()
        rotates = [*fitting, windows if by_windows(config) else _always][0](config)
        layers = range(config["num_hidden_layers"])
        return [layer + first for layer in layers if rotates(layer) == wanted]

    return rotating_layers


FULL, WINDOW = "full_attention", "sliding_attention"


def _type_before(*keys: str) -> Callable[[Config], list[int]]:
    """The layers that rotate, if the model type decides before these keys."""

    def rotating_layers(config: Config) -> list[int]:
        left_out = keys if config["model_type"] == "cohere2" else ()
        return _layers()({key: value for key, value in config.items() if key not in left_out})

    return rotating_layers


def _list_returned(config: Config) -> list[int]:
    return list(config["no_rope_layers"]) if "no_rope_layers" in config else _layers()(config)


def _a_flag_for_each(config: Config) -> list[int]:
    rotating = _layers()(config)
    return [int(layer in rotating) for layer in range(config["num_hidden_layers"])]


def _cases(rng: Random) -> list[Case]:
    def case(model_type: str, layers: int, **keys: Any) -> Case:
        return {"config": {"model_type": model_type, "num_hidden_layers": layers, **keys}}

    def every(period: int, layers: int) -> list[str]:
        return [WINDOW if (layer + 1) % period else FULL for layer in range(layers)]

    drawn = [rng.randint(0, 1) for _ in range(8)]
    return [
        case("llama", 5),
        case("smollm3", 8, no_rope_layers=[1, 1, 1, 0, 1, 1, 1, 0]),
        case("llama4_text", 12, no_rope_layer_interval=4),
        case("cohere2", 8, layer_types=every(4, 8)),
        case("gemma3_text", 12, layer_types=every(6, 12)),
        # the list does not do what the interval says
        case("smollm3", 9, no_rope_layers=[0, 1, 1, 1, 0, 1, 1, 1, 1], no_rope_layer_interval=4),
        case("smollm3", 8, no_rope_layers=[*drawn[:-2], 1, 0], layer_types=[FULL] * 8,
             no_rope_layer_interval=3),
        case("llama4_text", 7, no_rope_layer_interval=rng.choice([2, 4]), layer_types=every(3, 7)),
        case("llama4_text", 3, no_rope_layer_interval=1),
        # the model type does not do what the list or the interval says
        case("cohere2", 4, no_rope_layers=[1, 0, 0, 1], layer_types=[FULL, WINDOW, WINDOW, FULL]),
        case("cohere2", 5, no_rope_layer_interval=2, layer_types=every(3, 5)),
        case("smollm3", 4, no_rope_layers=[0, 0, 0, 0]),
        case("smollm3", 3, no_rope_layers=[1, 1, 1], no_rope_layer_interval=2),
        case("llama4_text", 6, no_rope_layer_interval=8),
        case("cohere2", 5, layer_types=[FULL, FULL, WINDOW, FULL, WINDOW]),
        case("cohere2", 3, layer_types=[FULL] * 3),
        case("gemma3_text", 4, layer_types=[FULL] * 4),
        case("llama", 1), case("gemma3_text", 5, layer_types=[WINDOW, WINDOW, FULL, WINDOW, FULL]),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="layers-which-turn", title="Which layers rotate?",
    minutes=15, points=3, name="rotating_layers",
    reference=_layers(), cases=_cases,
    forbidden=("read", "grouped", "LayerGroup"),
    domain={
        "config": Described("a dictionary as above, with 1 to 12 layers"),
    },
    hints=(
        "Ask the keys in the order of the rules: first no_rope_layers, then "
        "no_rope_layer_interval, and last the model type. The first rule that fits decides alone.",
        "In no_rope_layers, 1 means that the layer rotates, whatever the name of the key says. "
        "With an interval of 4 the layers 3, 7, 11, ... do not rotate: these are the layers for "
        "which (layer + 1) % 4 is 0.",
        "Where neither key is there, all layers rotate, unless model_type is cohere2: then a layer "
        'rotates if its entry in layer_types is "sliding_attention".',
    ),
    mistakes=(
        Mistake("1 read as a layer without a rotation",
                "The name `no_rope_layers` says so, but its numbers mean the opposite: 1 stands "
                "where a layer rotates.",
                _layers(listed=lambda config: lambda layer: config["no_rope_layers"][layer] == 0)),
        Mistake("the list itself returned",
                "You return `no_rope_layers` as it is: a 1 or a 0 for each layer. The task asks "
                "for the numbers of the layers that rotate: for [1, 0, 1] these are [0, 2].",
                _list_returned),
        Mistake("a 1 or a 0 for each layer",
                "You return a 1 or a 0 for each layer. The task asks for the numbers of the layers "
                "that rotate: for [1, 0, 1] these are [0, 2].",
                _a_flag_for_each),
        Mistake("every nth layer rotates, and no other",
                "`no_rope_layer_interval` counts the layers that do *not* rotate. All others do.",
                _layers(counted=lambda config: lambda layer: not _counted(config)(layer))),
        Mistake("the interval counted from layer 0",
                "With an interval of 4 your layers 0, 4, 8, ... do not rotate. It is the fourth "
                "layer of each four that does not: 3, 7, 11, ...",
                _layers(counted=lambda config: lambda layer: (
                    layer % config["no_rope_layer_interval"] != 0))),
        Mistake("the interval before the list",
                "Some configs have both keys. Then `no_rope_layers` decides, and the interval is "
                "not looked at.",
                _layers(list_first=False)),
        Mistake("the model type first",
                "Your cohere2 goes by its windows, whatever else its config says. Where "
                "`no_rope_layers` or `no_rope_layer_interval` stands, it decides alone, in every "
                "model type.",
                _type_before("no_rope_layers", "no_rope_layer_interval")),
        Mistake("the model type before the interval",
                "Your cohere2 goes by its windows where its config has an interval. Where "
                "`no_rope_layer_interval` stands, it decides alone, in every model type.",
                _type_before("no_rope_layer_interval")),
        Mistake("the interval left out",
                "Where `no_rope_layer_interval` stands without a list, some layers do not rotate.",
                _layers(counted=_always)),
        Mistake("all layers of cohere2 rotate",
                "In cohere2 layers that see the whole text do not rotate. No key of the config "
                "says so: the model type does.",
                _layers(by_windows=lambda config: False)),
        Mistake("layers with a window alone rotate, in every model type",
                "You let `layer_types` decide wherever it stands. In other types than cohere2 it "
                "says which layers have a window, and nothing about rotation.",
                _layers(by_windows=lambda config: "layer_types" in config)),
        Mistake("full layers of cohere2 rotate",
                "It is the other way round: in cohere2 the layers with a window rotate.",
                _layers(windows=lambda config: lambda layer: not _windows(config)(layer))),
        Mistake("layers counted from 1",
                "The first layer is layer 0.",
                _layers(first=1)),
        Mistake("the layers that do not rotate",
                "You return the other layers: those that do not rotate.",
                _layers(wanted=False)),
    ),
)  # fmt: skip
