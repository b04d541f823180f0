"""Which layers are of which type, and their windows: as the class of each model type has it."""

import contextlib
import importlib.metadata
import inspect
import json
import re
import sys

import pytest
import sampling

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
from course_lib.errors import CourseError

pytest.importorskip("transformers")
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tools import census

PUBLISHED = {
    "deepseek_v4": {"num_hidden_layers": 6, "compress_ratios": [0, 128, 4, 128, 4, 0, 0],
                    "qk_rope_head_dim": 64, "compress_rope_theta": 150_000, "rope_scaling": {
                        "type": "yarn", "factor": 16, "beta_fast": 32, "beta_slow": 1,
                        "original_max_position_embeddings": 65536}},
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
                "partial_rotary_factors": [0.5, 1.0, 1.0, 1.0, 0.5], "rope_scaling": {
                    "rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0,
                    "high_freq_factor": 32.0, "original_max_position_embeddings": 131072}},
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
    "neomme": {"num_hidden_layers": 13},
    "bailing_hybrid": {"num_hidden_layers": 9, "layer_group_size": 4},
}  # fmt: skip
"""Configs as makers write them: keys that transformers turns into `layer_types`."""
HELD = {}
"""What does not move with its class, by type and key, and why."""


def made(name, given):
    return CONFIG_MAPPING[name](**{**census.TWEAKS.get(name, {}), **json.loads(json.dumps(given))})


def of_class(config):
    """Each layer's type and window, by the class; no types for one that has none."""
    names = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    own = config.to_dict()
    layered = "sliding_window" in str(own.get("per_layer_config"))
    window = (own["sliding_window"] if layered else getattr(config, "sliding_window", None)) or None
    if not isinstance(names, (list, tuple)):
        layers = getattr(config, "num_hidden_layers", None)
        return [("", window)] * (layers if isinstance(layers, int) else 1)
    each = {int(number): one for number, one in (own.get("per_layer_config") or {}).items()}
    of_layer = [each.get(number, {}) for number in range(len(names))]
    chunk = getattr(config, "attention_chunk_size", None)
    windows = {"chunked_attention": chunk} | dict.fromkeys(
        set(WINDOWED) - {"chunked_attention"}, window)  # fmt: skip
    return [
        (plain(one), apart.get("sliding_window", windows.get(one)))
        for one, apart in zip(names, of_layer, strict=True)
    ]


def plain(name):
    """A layer's type without what its mixer is called, where it has no attention."""
    return "no attention" if name in NO_ATTENTION else name


def of_ours(path):
    source = by_type(open_config(path))
    total = total_of(source)
    names = names_of(source, total)
    return [
        (plain(one), window_of(source, one, number, names is not None))
        for number, one in enumerate(names or [""] * (total or 1))
    ]


@pytest.fixture(scope="module", autouse=True)
def same_release():
    """models.json is read off one release, and holds for that one."""
    here = importlib.metadata.version("transformers")
    if here != known.release():
        pytest.skip(f"models.json is of transformers {known.release()}, here is {here}")


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


def test_step_3_7_is_read_as_its_network_for_text(path):
    path.write_text(json.dumps({
        "model_type": "step3p7", "text_config": {"model_type": "step3p5", **PUBLISHED["step3p5"]},
    }))  # fmt: skip
    full, sliding = rope_config.read(path)
    assert (full.layers, full.base, full.rotary_dim, full.kind) == ((0,), 5e6, 64, "llama3")
    assert (sliding.layers, sliding.base, sliding.rotary_dim) == ((1, 2, 3), 1e4, 128)


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
            assert group.attention_factor == census.attention_factor(rotary, kind)


READ = ("sliding_window_pattern", "global_attn_every_n_layers", "full_attention_interval",
        "layer_group_size", "max_window_layers", "use_sliding_window", "attn_layer_indices",
        "full_attn_idxs", "no_rope_layers", "layers_block_type", "layer_types")  # fmt: skip
"""Keys that are read here, and should not be for types whose class does not."""
APART = {
    "align_vision_model": "its layers are blocks of convolutions, counted by num_block_repeats",
    "efficientnet": "its layers are blocks of convolutions, counted by num_block_repeats",
    "bridgetower": "it has two networks, and gives num_hidden_layers to both",
    "esmfold2": "its window is that of one of its parts; its own layers are not counted",
    "funnel": "its layers are counted by block_sizes",
    "hrm_text": "its layers are passed through several times, by four keys",
    "longcat_flash": "its layers are counted twice, by num_layers",
    "prophetnet": "its layers are counted by num_encoder_layers",
    "step3p5_vision": "an older name for num_hidden_layers, layers, is not read",
}
"""Types of which a key does not move what is read as it moves the class, and why."""


def changes(config):
    """Each key of a type's signature, and of its older configs, with other values of its kind."""
    older = re.findall(r"kwargs\.(?:get|pop)\(\s*\"(\w+)\"(?:, (\d+))?", source_of(type(config)))
    usual = {key: int(number) if number else None for key, number in older}
    parameters = inspect.signature(type(config).__init__).parameters
    usual |= {key: value for key, value in config.to_dict().items() if key in parameters}
    for key, value in sorted(usual.items()):
        if key not in census.TWEAKS.get(config.model_type, {}):
            yield from ((key, other) for other in others(key, value))


def source_of(kind):
    """The source of a configuration class."""
    return census._classes(sys.modules[kind.__module__]).get(kind.__name__, "")


def others(key, value):
    """Other values for a key that has this one by default."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2, 3]
    if value is None:
        return [2, 3, [1, 2]] if re.search("layer|wind|pattern|idx|every|freq", key) else []
    if isinstance(value, str) and re.fullmatch(r"[A-Z*-]{2,}", value):
        return [value[1:] + value[:1]]
    if isinstance(value, list) and value:
        last = value[-1]
        return [value[1:] + value[:1], value[::-1], [*value[:-1], last + 1 if last in (0, 1) else 0]
                if isinstance(last, int) else value]  # fmt: skip
    return []


def moved(name, path):
    """Changes of one key that are not read as the class reads them; how many moved the class."""
    usual, count, wrong = made(name, {}), 0, []
    base = of_class(usual)
    for key, value in changes(usual):
        with contextlib.suppress(Exception):  # the class refuses this value
            theirs = of_class(made(name, {key: value}))
            if theirs == base and key not in READ:
                continue
            count += theirs != base
            path.write_text(json.dumps(
                {"model_type": name, **census.TWEAKS.get(name, {}), key: value}))  # fmt: skip
            if tried(path) != theirs:
                wrong.append(f"{name}: {key} = {value}")
    return wrong, count


def tried(path):
    try:
        return of_ours(path)
    except CourseError as error:
        return str(error)


SIX = {"model_type": "llama", "num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4,
       "rope_theta": 1e4, "max_position_embeddings": 512}  # fmt: skip


def warnings_of(path, **given):
    path.write_text(json.dumps({**SIX, **given}))
    return [one for group in rope_config.read(path) for one in group.warnings]


@pytest.mark.parametrize("given", [
    {"span_by_layer": [1, 2, 3, 4, 5, 6]}, {"span_by_layer": ["far", "near"] * 3},
    {"attention": {"span_by_layer": [1, 2, 3, 4, 5, 6]}}, {"compress_ratios": [0, 4] * 3},
    {"span_by_layer": [0] * 7, "num_nextn_predict_layers": 1},
    {"model_type": "its_own", "attention_windows": [0, 64] * 3},
])  # fmt: skip
def test_a_list_as_long_as_there_are_layers_that_is_not_read_is_named(given, path):
    [warning] = warnings_of(path, **given)
    assert re.match(r"(attention, )?(span_by_layer|compress_ratios|attention_windows) has [67] val",
                    warning)  # fmt: skip
    assert "is not read here" in warning


def test_lists_that_are_read_or_say_nothing_of_positions_are_not_named(path):
    assert warnings_of(path, mlp_layer_types=["dense"] * 6, eos_token_id=[1, 2, 3, 4, 5, 6]) == []
    for name, given in PUBLISHED.items():
        path.write_text(json.dumps({"model_type": name, **given}))
        found = [one for group in rope_config.read(path) for one in group.warnings]
        assert [one for one in found if "not read" in one] == []


def test_a_key_that_counts_layers_and_that_the_class_does_not_read_is_named(path):
    [warning] = warnings_of(path, sliding_window_pattern=3)
    words = "is not read: llama does not choose the types of its layers by it"
    assert warning == f"sliding_window_pattern = 3 {words}"
    [warning] = warnings_of(path, model_type="exaone4", sliding_window_pattern="LLLG")
    assert "transformers takes a whole number" in warning


@pytest.mark.parametrize(("name", "given", "words"), [
    ("deepseek_v4", {"compress_ratios": [0, 4, 8]}, "0, 4 or 128 for each of the 3 layers"),
    ("deepseek_v4", {"compress_ratios": [0, 4]}, "(num_hidden_layers), got 2 of them"),
    ("kimi_linear", {"linear_attn_config": {"full_attn_layers": [4], "kda_layers": [1, 2, 3]}},
     "must list layers from 1 to 3, got 4"),
    ("kimi_linear", {"linear_attn_config": {"full_attn_layers": [3], "kda_layers": [1]}},
     "layer 2 is in neither"),
])  # fmt: skip
def test_lists_that_name_no_type_for_a_layer_are_refused(name, given, words, path):
    path.write_text(json.dumps({"model_type": name, "num_hidden_layers": 3, **given}))
    with pytest.raises(CourseError, match=re.escape(words)):
        rope_config.read(path)


JUNK = (None, True, 0, -1, 1.5, "x", [], [None] * 6, ["a"] * 6, [[]] * 6, [{}] * 4, {}, {"a": 1})


@pytest.mark.parametrize("name", PUBLISHED)
def test_any_value_of_these_keys_is_read_or_refused_in_words(name, path):
    for key, value in PUBLISHED[name].items():
        inner = [{**value, one: junk} for one in value for junk in JUNK] if value and isinstance(
            value, dict) else []  # fmt: skip
        for junk in (*JUNK, *inner):
            given = {"hidden_size": 64, "num_attention_heads": 4, **PUBLISHED[name], key: junk}
            path.write_text(json.dumps({"model_type": name, **given}))
            with contextlib.suppress(CourseError):
                assert rope_config.read(path)


FEW = (
    "neomme",
    "qwen2",
    "gemma3_text",
    "deepseek_v4",
    "modernbert",
    "cohere2_moe",
    "muse_spark_text",
)


@pytest.mark.parametrize("name", FEW)
def test_a_change_of_one_key_moves_what_is_read_as_it_moves_the_class(name, path):
    wrong, count = moved(name, path)
    assert wrong == [] and count > 3


@pytest.mark.slow
def test_a_change_of_any_key_of_any_type_moves_what_is_read_as_it_moves_the_class(
    path, pytestconfig
):
    census._quiet()
    asked = sampling.sample(sorted(known.types()), sampling.chosen_by(pytestconfig))
    found = {name: moved(name, path) for name in asked}
    assert [one for name, (wrong, _) in found.items() for one in wrong if name not in APART] == []
    assert all(found[name][0] for name in APART if name in found), "this one is read by now"
    assert sum(count for _, count in found.values()) > len(asked) / 2
