"""Ninth room: a config after an update."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import BASE, MORE_THAN_PROMISED, exhibit, theta

Config = Mapping[str, Any]


def parameters_of(config: Config) -> Config:
    return config.get("rope_parameters", {})


def base_of(config: Config) -> float:
    return parameters_of(config).get("rope_theta", config.get("rope_theta", BASE))


def original_length(config: Config) -> float:
    return parameters_of(config).get("original_max_position_embeddings", math.inf)


def divided(config: Config, base: float, long: bool) -> Tensor:
    """The frequencies of this base, divided by the long or the short factors if there are any."""
    parameters, trained = parameters_of(config), theta(config["head_dim"], base)
    if parameters.get("rope_type") != "longrope":
        return trained
    factors = parameters["long_factor" if long else "short_factor"]
    return trained / torch.as_tensor(factors).double()


def frequencies(config: Config, length: int) -> Tensor:
    return divided(config, base_of(config), length > original_length(config))


def frequencies_pair_by_pair(config, length):
    place = config if "rope_theta" in config else config.get("rope_parameters", {})
    base, dim = place.get("rope_theta", 10_000.0), config["head_dim"]
    factors = [1.0] * (dim // 2)
    if config.get("rope_parameters", {}).get("rope_type") == "longrope":
        rope = config["rope_parameters"]
        fits = length <= rope["original_max_position_embeddings"]
        factors = rope["short_factor"] if fits else rope["long_factor"]
    return torch.tensor([base ** (-2 * i / dim) / factors[i] for i in range(dim // 2)])


def frequencies_in_float32(config, length):
    flat = {**config, **config.get("rope_parameters", {})}
    dim, base = flat["head_dim"], flat.get("rope_theta", 10_000.0)
    inverse = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
    if flat.get("rope_type", "default") == "default":
        return inverse
    longer = length - flat["original_max_position_embeddings"] > 0
    return inverse / torch.as_tensor(flat["long_factor"] if longer else flat["short_factor"])


def frequencies_to_four_digits(config, length):
    return torch.tensor([float(f"{one:.3e}") for one in frequencies(config, length).tolist()])


@exhibit("the default base after an update", "15",
         "It looks for `rope_theta` beside `head_dim`, where older configs have it, and takes "
         "10 000 where nothing stands there. A new config has its base in `rope_parameters`, so "
         "this base is never read. Give a new config another base than 10 000.")  # fmt: skip
def frequencies_of_the_default_base(config, length):
    base = config.get("rope_theta", BASE)
    return divided(config, base, length > original_length(config))


@exhibit("the base of older configs is not read", "15",
         "It looks for `rope_theta` in `rope_parameters` only, and takes 10 000 for older configs, "
         "which have the base beside `head_dim`. Give an older config another base than "
         "10 000.")  # fmt: skip
def frequencies_of_new_configs_only(config, length):
    base = parameters_of(config).get("rope_theta", BASE)
    return divided(config, base, length > original_length(config))


@exhibit("long factors one token early", "15",
         "It takes the long factors from the original length on, and not beyond it. So a text of "
         "exactly that many tokens is read with the wrong list, and no other text is. Ask for "
         "this length.")  # fmt: skip
def frequencies_one_token_early(config, length):
    return divided(config, base_of(config), length >= original_length(config))


@exhibit("long factors wherever long texts are allowed", "15",
         "It compares the length that the model may read, `max_position_embeddings`, with the "
         "original length. So a short text gets the long factors. Ask for a short text, with a "
         "config that allows long ones.")  # fmt: skip
def frequencies_by_allowed_length(config, length):
    allowed = max(length, config.get("max_position_embeddings", length))
    return divided(config, base_of(config), allowed > original_length(config))


CONFIG = (
    Version("in float64", True, frequencies),
    Version("pair by pair", True, frequencies_pair_by_pair),
    Version("both levels of the config put into one", True, frequencies_in_float32),
    Version("rounded to four digits", True, frequencies_to_four_digits,
            "It is off by up to one part in 2000, and the task promises one part in 1000: allow "
            "as much, of each frequency."),
    frequencies_of_the_default_base, frequencies_of_new_configs_only,
    frequencies_one_token_early, frequencies_by_allowed_length,
)  # fmt: skip

ORIGINAL = 1024
SIZES = {"head_dim": 8, "max_position_embeddings": 8 * ORIGINAL}
STRETCHED = {
    "rope_type": "longrope", "original_max_position_embeddings": ORIGINAL,
    "short_factor": [1.0, 1.1, 1.3, 1.5], "long_factor": [1.0, 2.0, 4.0, 8.0],
}  # fmt: skip


def _config_test(
    *lengths: int,
    base: float = 500.0,
    older: bool = True,
    share: float = 1e-3,
    expected: Callable[[Config, int], Tensor] = frequencies,
    **sizes: int,
):
    """Asks for texts of these lengths with a new config, and for a text with an older one."""
    new = {**SIZES, **sizes, "rope_parameters": {**STRETCHED, "rope_theta": base}}
    asked: list[tuple[Config, int]] = [(new, length) for length in lengths]
    asked += [({**SIZES, "rope_theta": base}, 100)] * older + [(SIZES, 100)]

    def test_frequencies(function):
        for config, length in asked:
            got = function(config, length).double()
            assert torch.allclose(got, expected(config, length), rtol=share, atol=0)

    return test_frequencies


EDGE = ORIGINAL, ORIGINAL + 1


@mistake("accepts every version",
         "Nothing was raised for any version. Either you do not compare the numbers of all pairs, "
         "or every base is 10 000 and nothing is divided: then every version is right. Give the "
         "configs other bases, and two lists of factors.")  # fmt: skip
def _test_default_config(function):
    assert torch.allclose(function(SIZES, 100).double(), theta(8), rtol=1e-3, atol=0)


EXERCISE = WriteTest(
    slug="museum-config", title="Ninth room: a config after an update", minutes=15, points=4,
    name="test_frequencies", reference=_config_test(*EDGE), versions=CONFIG,
    forbidden=("from_rope_parameters",),
    hints=(
        "Write two configs, a new one and an older one. Which base would hide that a base was not "
        "read?",
        "Give the new config two lists of factors that differ, and allow more tokens than the "
        "original length. Around this length, which three texts would you ask for?",
        "The wrong versions, in order: one does not read the base of new configs, one that of "
        "older ones, one is wrong at exactly the original length, and one in all texts up to it. "
        "Use base 500 in both configs, and with 1024 tokens as the original length ask for 1024 "
        "and 1025 tokens.",
    ),
    mistakes=(
        _test_default_config,
        Mistake("no older config with another base", "The version that is left reads the base in "
                "`rope_parameters` only. Ask with an older config, too, with a base other than "
                "10 000.",
                _config_test(*EDGE, older=False)),
        Mistake("only base 10 000", "The two versions that are left take 10 000 where they do not "
                "find the base, one in new configs and one in older ones. Use another base in "
                "both.",
                _config_test(*EDGE, base=BASE)),
        Mistake("no new config with another base, and no text near the original length",
                "The versions that are left are wrong in new configs only. Give a new config a "
                "base other than 10 000, and two lists of factors.",
                _config_test()),
        Mistake("never exactly the original length", "The version that is left takes the long "
                "factors one token early. Ask for a text of exactly "
                "`original_max_position_embeddings` tokens.",
                _config_test(ORIGINAL - 1, ORIGINAL + 1)),
        Mistake("no short text where long ones are allowed", "The two versions that are left take "
                "the long factors for too many texts. Ask for texts up to the original length, "
                "with a config that allows longer ones.",
                _config_test(ORIGINAL + 1)),
        Mistake("no config that allows long texts", "The version that is left looks at "
                "`max_position_embeddings` and not at the text. Give a config in which this "
                "number is above the original length, and ask for a short text.",
                _config_test(*EDGE, max_position_embeddings=ORIGINAL)),
        Mistake("expects the long factors one token early", "Your test rejects every right "
                "version, and accepts the one with this fault. At exactly "
                "`original_max_position_embeddings` tokens the short factors still hold.",
                _config_test(100, *EDGE, expected=frequencies_one_token_early.function)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises each frequency to one "
                "part in a thousand of itself.",
                _config_test(*EDGE, share=1e-5)),
    ),
)  # fmt: skip
