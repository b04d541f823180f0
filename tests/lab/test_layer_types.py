"""Which layers are of which type, and their windows: as the class of each model type has it."""

import json

import pytest

from course_lab.rope import config as rope_config
from course_lab.rope import known
from course_lab.rope.layer_types import (
    NO_ATTENTION,
    WINDOWED,
    by_type,
    names_of,
    total_of,
    window_of,
)
from course_lab.rope.source import open_config

pytest.importorskip("transformers")
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tools import census

PUBLISHED = {
    "deepseek_v4": {"num_hidden_layers": 6, "compress_ratios": [0, 128, 4, 128, 4, 0, 0]},
    "kimi_linear": {"num_hidden_layers": 5, "linear_attn_config": {
        "full_attn_layers": [1, 5], "kda_layers": [2, 3, 4]}},
    "qwen2": {"num_hidden_layers": 6, "use_sliding_window": True, "max_window_layers": 2,
              "sliding_window": 512},
    "qwen3": {"num_hidden_layers": 6, "use_sliding_window": True, "max_window_layers": 4},
    "qwen2_moe": {"num_hidden_layers": 6, "use_sliding_window": True, "max_window_layers": 3},
    "modernbert": {"num_hidden_layers": 7, "global_attn_every_n_layers": 4,
                   "local_attention": 96, "global_rope_theta": 8e4, "local_rope_theta": 2e4},
    "afmoe": {"num_hidden_layers": 9, "global_attn_every_n_layers": 3},
    "step3p5": {"num_hidden_layers": 4, "num_nextn_predict_layers": 1, "sliding_window": 512,
                "layer_types": ["full_attention", *["sliding_attention"] * 3, "full_attention"],
                "rope_theta": [5e6, 1e4, 1e4, 1e4, 5e6],
                "partial_rotary_factors": [0.5, 1.0, 1.0, 1.0, 0.5]},
    "mimo_v2_flash": {"num_hidden_layers": 9, "sliding_window_size": 64},
    "ultrabert": {"num_hidden_layers": 4, "attention_windows": [0, 64, 64, 0],
                  "rope_theta": [1e6, 2e4, 2e4, 1e6]},
    "minimax_m3_vl_text": {"num_hidden_layers": 4, "sparse_attention_config": {
        "sparse_attention_freq": [0, 1, 1, 1]}},
    "cohere2_moe": {"num_hidden_layers": 9, "first_k_dense_replace": 3,
                    "prefix_dense_sliding_window_pattern": 2, "sliding_window_pattern": 3},
    "inkling_text": {"num_hidden_layers": 4, "local_layer_ids": [1, 3]},
    "nemotron_h": {"hybrid_override_pattern": "M*ME-*"},
    "dots3_note_text": {"num_hidden_layers": 9, "use_sliding_window": False},
    "smollm3": {"num_hidden_layers": 8, "use_sliding_window": True, "sliding_window": 64},
    "gemma3_text": {"num_hidden_layers": 8, "sliding_window_pattern": 4,
                    "use_bidirectional_attention": True, "sliding_window": 512},
    "zamba": {"num_hidden_layers": 16, "attn_layer_period": 4, "attn_layer_offset": 2},
    "bailing_hybrid": {"num_hidden_layers": 9, "layer_group_size": 4},
}  # fmt: skip
"""Configs as makers write them: keys that transformers turns into `layer_types`."""
HELD = {}
"""What does not move with its class, by type and key, and why."""


def made(name, given):
    return CONFIG_MAPPING[name](**{**census.TWEAKS.get(name, {}), **json.loads(json.dumps(given))})


def of_class(config):
    """Each layer's type and window, by the class; None for a class that has no such lists."""
    names = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    window = getattr(config, "sliding_window", None) or None
    if not isinstance(names, (list, tuple)):
        return None
    chunk = getattr(config, "attention_chunk_size", None)
    windows = {"chunked_attention": chunk} | dict.fromkeys(
        set(WINDOWED) - {"chunked_attention"}, window)  # fmt: skip
    return [(plain(one), windows.get(one)) for one in names]


def plain(name):
    """A layer's type without what its mixer is called, where it has no attention."""
    return "no attention" if name in NO_ATTENTION else name


def of_ours(path):
    source = by_type(open_config(path))
    total = total_of(source)
    names = names_of(source, total)
    if names is None:
        return None
    return [(plain(one), window_of(source, one, number, True)) for number, one in enumerate(names)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("types") / "config.json"


@pytest.mark.parametrize("name", PUBLISHED)
def test_layers_are_of_the_types_that_the_class_makes_of_a_maker_s_keys(name, path):
    path.write_text(json.dumps({"model_type": name, **PUBLISHED[name]}))
    theirs = of_class(made(name, PUBLISHED[name]))
    assert of_ours(path) == theirs
    groups = rope_config.read(path)
    if "rotary" in known.types()[name].ways:
        shown = {n: group.window for group in groups for n in group.layers}
        assert shown == {n: window for n, (_, window) in enumerate(theirs)}


@pytest.mark.parametrize("name", ["deepseek_v4", "modernbert", "step3p5", "ultrabert"])
def test_tables_follow_the_types_that_a_maker_s_keys_give(name, path):
    path.write_text(json.dumps({"model_type": name, **PUBLISHED[name]}))
    config = made(name, PUBLISHED[name])
    [rotary] = list(census.built(config).rotary.values())[:1]
    theirs = census.tables(rotary)
    types = of_class(config)
    for group in rope_config.read(path):
        for layer in group.layers:
            kind = types[layer][0]
            if name == "deepseek_v4":
                kind = "main" if kind == "sliding_attention" else "compress"
            assert group.frequencies.tolist() == pytest.approx(theirs[kind].tolist(), rel=1e-5)
