"""`course rope`: at which level of a config keys about rotation count, held beside transformers."""

import copy
import json

import pytest
import sampling
import torch

from course_lab.rope import config as rope_config
from course_lab.rope import known
from course_lib.errors import CourseError

transformers = pytest.importorskip("transformers")
from tools import census  # noqa: E402

SIZES = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4,
         "max_position_embeddings": 4096}  # fmt: skip
LINEAR = {"rope_type": "linear", "factor": 2.0}
LAYERS = {"full_attention": {**LINEAR, "rope_theta": 123_457.0},
          "sliding_attention": {"rope_type": "default", "rope_theta": 777.0}}  # fmt: skip
FILES = {
    "nothing": {},
    **{key: {key: 123_457.0} for key in known.BASES},
    "all bases": {key: 1000.0 + number for number, key in enumerate(known.BASES)},
    "old": {"rope_scaling": LINEAR},
    "old, by type": {"rope_scaling": {"type": "linear", "factor": 2.0}},
    "old and a base": {"rope_scaling": LINEAR, "rope_theta": 123_457.0},
    "old with a base": {"rope_scaling": {**LINEAR, "rope_theta": 123_457.0}},
    "new": {"rope_parameters": LINEAR},
    "new and a base": {"rope_parameters": LINEAR, "rope_theta": 123_457.0},
    "new with a base": {"rope_parameters": {**LINEAR, "rope_theta": 123_457.0}, "rope_theta": 9e3},
    "by layer": {"rope_parameters": LAYERS},
    "by layer, one": {"rope_parameters": {"full_attention": LAYERS["full_attention"]}},
    "by layer, bases outside": {"rope_theta": 123_457.0, "rope_local_base_freq": 777.0,
                                "rope_parameters": {"full_attention": LINEAR,
                                                    "sliding_attention": {"rope_type": "default"}}},
    "by layer and beside": {"rope_parameters": {**LAYERS, "rope_theta": 5555.0, "factor": 3.0}},
    "by layer and old": {"rope_parameters": LAYERS,
                         "rope_scaling": {"rope_type": "linear", "factor": 3.0}},
}  # fmt: skip
EIGHT = ("llama", "apertus", "gemma3_text", "modernbert", "gpt_neox", "ministral3", "olmo3",
         "cohere2_moe")  # fmt: skip
OF_CODE = ("eomt_dinov3", "llama4_vision_model")
"""Types whose code makes a table for two axes of what their config calls default."""

ODD = ("glm4_moe", "glm4v_moe_text", "qwen3_omni_moe_text")
"""Types whose default config asks for an odd number of rotated columns."""
NOT_YET = ("dots3_note_text", "by layer, one")
"""Its class gives a layer type that is left out the base of the other; this is not read so here."""


@pytest.fixture
def read(tmp_path):
    """The groups of layers of a config."""

    def read(**config):
        (tmp_path / "config.json").write_text(json.dumps(config))
        return rope_config.read(tmp_path)

    return read


def said(groups):
    return [one for group in groups for one in (*group.warnings, *group.notes)]


def theirs(name, file):
    """Kind and base of each layer type in the class's own config; None if it refuses the file."""
    return census.rotary_parameters(name, copy.deepcopy(file))


def unlike(name, file, read):
    """The layer types of which something else is read than the class reads, in silence."""
    expected = theirs(name, file)
    if expected is None or {base for _, base in expected.values()} == {None}:
        return {}
    groups = read(model_type=name, **{**census.TWEAKS.get(name, {}), **file})
    if any("transformers' code fails" in one for one in said(groups)):
        return {}
    ours = {group.table.name: (group.table.kind, group.base) for group in groups if group.table}
    for_all = expected.get("")
    return {
        layers: (found, expected) for layers, found in ours.items()
        if found != (for_all or expected.get(layers)) and set(expected.values()) != {found}
    }  # fmt: skip


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("name", EIGHT)
def test_keys_count_at_the_level_at_which_the_class_reads_them(name, form, read):
    assert unlike(name, FILES[form], read) == {}


@pytest.mark.slow
def test_keys_count_at_the_level_at_which_every_class_reads_them(read, pytestconfig):
    names = [name for name, kind in known.types().items()
             if kind.bases and not kind.parts and name not in (*OF_CODE, *ODD)]  # fmt: skip
    assert len(names) > 190
    for name in sampling.sample(dict.fromkeys(names), sampling.chosen_by(pytestconfig)):
        for form, file in FILES.items():
            if (name, form) != NOT_YET:
                assert unlike(name, file, read) == {}, (name, form)


@pytest.mark.parametrize("name, given, base, warning", [
    ("llama", {"rotary_emb_base": 1e6}, 10_000,
     "rotary_emb_base 1000000.0 at the top of the file is read by nobody"),
    ("llama", {"rope_theta": 5e5, "local_rope_theta": 4e4}, 500_000,
     "local_rope_theta 40000.0 at the top of the file is read by nobody"),
    ("apertus", {"rope_theta": 5e5}, 12_000_000,
     "apertus's class does not look there, and takes 12000000"),
    ("llama", {"rope_theta": 5e5, "text_config": {"rope_theta": 1e6}}, 500_000,
     "text_config.rope_theta is not read by llama's code"),
    ("llama", {"rope_theta": 5e5, "text_config": {**SIZES, "rope_theta": 1e6}}, 500_000,
     "text_config.rope_theta is not read by llama's code"),
    ("llama", {"rope_theta": 5e5, "one": {"two": {"rope_theta": 1e6}}}, 500_000,
     "one.two.rope_theta is not read by llama's code"),
    ("llama", {"rope_theta": 5e5, "vision_config": {"hidden_size": 8, "rope_theta": 1e6}}, 500_000,
     "vision_config.rope_theta is not read by llama's code"),
    ("llama", {"rope_theta": 5e5, "factor": 4}, 500_000,
     "factor at the top of the file is read by nobody: it belongs into rope_parameters"),
    ("llama", {"rope_parameters": {"full_attention": {"rope_theta": 7e5}}}, 10_000,
     "rope_parameters, full_attention is read by nobody: llama has no layers of that type"),
    ("gptj", {"rope_scaling": LINEAR}, 10_000, "rope_scaling at the top of the file is read by"),
    ("llama", {"rope_theta": None}, 10_000,
     "rope_theta is null: transformers' code fails on this config"),
    ("cohere2_moe", {"rope_parameters": LINEAR, "rope_theta": 1e6}, 10_000,
     "rope_theta is missing in the parameters: transformers' code fails on this config"),
])  # fmt: skip
def test_a_key_at_a_level_that_nobody_reads_is_named(read, name, given, base, warning):
    groups = read(model_type=name, **SIZES, **given)
    assert {group.base for group in groups if group.table} == {base}
    assert len([one for group in groups for one in group.warnings if warning in one]) == 1


@pytest.mark.parametrize("given, warning", [
    ({"rope_parameters": {**LAYERS, "rope_theta": 5e5}},
     "rope_parameters, rope_theta is read by nobody: where parameters stand by layer type"),
    ({"rope_parameters": {**LAYERS, "sliding": {"rope_theta": 5e5}}},
     "rope_parameters, sliding is read by nobody: gemma3_text has no layers of that type"),
    ({"rope_parameters": LINEAR},
     "rope_parameters at the top of the file is read by nobody: gemma3_text takes parameters by"),
    ({"rope_scaling": {"type": "linear", "factor": 8.0}},
     "type 'linear' in rope_scaling is read by nobody"),
])  # fmt: skip
def test_what_stands_at_another_level_than_layer_types_is_named(read, given, warning):
    groups = read(model_type="gemma3_text", **SIZES, **given)
    assert len([one for group in groups for one in group.warnings if warning in one]) == 1


def test_parameters_of_another_level_that_fail_in_transformers_are_said_to(read):
    flat = read(model_type="gemma4_text", **SIZES, rope_parameters=LINEAR)
    assert any("takes them by layer type" in one for one in said(flat))
    named = read(model_type="qwen2", **SIZES, rope_parameters=LAYERS)
    assert any("qwen2 takes one set for all layers" in one for one in said(named))
    part = {"sliding_attention": LAYERS["sliding_attention"]}
    lacking = read(model_type="gemma4_text", **SIZES, rope_parameters=part)
    assert any("rope_parameters has nothing for full_attention" in one for one in said(lacking))


def test_a_layer_type_without_parameters_does_not_take_those_of_another(read):
    one = {"full_attention": LAYERS["full_attention"]}
    groups = read(model_type="gemma3_text", **SIZES, rope_parameters=one)
    assert [(group.name, group.base, group.kind) for group in groups] == [
        ("sliding_attention", 10_000, "default")
    ]


@pytest.mark.parametrize("name", ["qwen2_vl", "qwen2_5_vl", "paddleocr_vl", "hunyuan_vl", "fuyu",
                                  "dots3_note", "qwen3_vl", "gemma3"])  # fmt: skip
@pytest.mark.parametrize("inside", [False, True])
def test_a_base_beside_the_part_for_text_counts_where_the_class_reads_it(read, name, inside):
    file = {"rope_theta": 123_457.0} | ({"text_config": {}} if inside else {})
    mapping = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    found = mapping[name](**copy.deepcopy(file)).text_config.rope_parameters
    each = found.values() if any(isinstance(one, dict) for one in found.values()) else [found]
    groups = [group for group in read(model_type=name, **file) if group.table]
    assert {group.base for group in groups} == {one["rope_theta"] for one in each}
    moved = any(group.base == 123_457.0 for group in groups)
    assert moved != any("rope_theta at the top of the file is" in one for one in said(groups))


def test_an_original_length_outside_counts_where_the_class_reads_it(read):
    scaling = {"rope_type": "yarn", "factor": 4.0}
    [group] = read(model_type="llama", **SIZES, rope_scaling=scaling,
                   original_max_position_embeddings=1024)  # fmt: skip
    config = transformers.LlamaConfig(**SIZES, rope_scaling=dict(scaling),
                                      original_max_position_embeddings=1024)  # fmt: skip
    there = config.rope_parameters["original_max_position_embeddings"]
    assert group.table.original_length == there == 4096
    assert any("original_max_position_embeddings at the top" in one for one in group.warnings)


AUTO = {"AutoConfig": "configuration_mine.MineConfig", "AutoTokenizer": ["tokenization.T", None],
        "AutoModelForCausalLM": "someone/else--modeling_mine.MineForCausalLM"}  # fmt: skip


@pytest.mark.parametrize("name, given, words", [
    ("llama", {}, "the default of that class may not be the default of this one"),
    ("mine", {"rope_theta": 1e4}, "the model's own code, configuration_mine.MineConfig, modeling_"),
])  # fmt: skip
def test_code_of_its_own_is_said_with_the_class_that_is_named(read, name, given, words):
    [group] = read(model_type=name, **SIZES, **given, auto_map=AUTO)
    [told] = [one for one in group.warnings if one.startswith("auto_map")]
    assert words in told and "configuration_mine.MineConfig" in told and "someone" not in told


def test_code_of_its_own_counts_for_the_part_inside(read):
    groups = read(model_type="vision_chat", llm_config={**SIZES, "model_type": "qwen2"},
                  auto_map=AUTO)  # fmt: skip
    assert len([one for one in said(groups) if one.startswith("auto_map")]) == 1


@pytest.mark.parametrize("value", [
    None, {}, [], 3, "\n", {"AutoTokenizer": "a.B"}, {"AutoConfig": 3},
    {"AutoImageProcessor": "a.B"}, [["AutoConfig"]],
])  # fmt: skip
def test_code_for_something_else_is_no_matter(read, value):
    groups = read(model_type="llama", **SIZES, auto_map=value)
    assert not [one for one in said(groups) if one.startswith("auto_map")]


def test_a_default_base_says_whose_it_is(read):
    for name, base in (("llama", 10_000), ("qwen3_moe", 10_000), ("phimoe", 1_000_000)):
        config = transformers.models.auto.configuration_auto.CONFIG_MAPPING[name]()
        groups = read(model_type=name, **SIZES)
        assert config.rope_parameters["rope_theta"] == base == groups[0].base
        file = f"({name}/configuration_{name}.py)"
        assert f"{base} is the default of {name}'s class in transformers {file}" in "".join(
            said(groups)
        )


@pytest.mark.parametrize("head_dim, share", [(42, 0.5), (30, 0.5), (50, 0.3)])
def test_an_odd_number_of_columns_is_rounded_up_as_transformers_does(read, head_dim, share):
    sizes = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1,
             "max_position_embeddings": 64, "head_dim": head_dim}  # fmt: skip
    config = transformers.models.auto.configuration_auto.CONFIG_MAPPING["glm4_moe"](
        **sizes, partial_rotary_factor=share
    )
    [rotary] = census.built(config).rotary.values()
    [expected] = census.tables(rotary).values()
    [group] = read(model_type="glm4_moe", **sizes, partial_rotary_factor=share)
    torch.testing.assert_close(group.frequencies, expected.double(), rtol=1e-5, atol=0)
    assert any("an odd number: transformers makes" in one for one in group.warnings)


def test_an_odd_head_that_is_turned_as_a_whole_is_refused_here_and_there(read):
    sizes = {**SIZES, "head_dim": 73}
    with pytest.raises(Exception, match="even rotary dimension"):
        transformers.LlamaConfig(**sizes)
    with pytest.raises(CourseError, match="RoPE would turn 73 of head_dim 73 numbers"):
        read(model_type="llama", **sizes)


def test_keys_of_a_rotation_say_nothing_to_a_model_that_has_none(read):
    groups = read(model_type="bert", **SIZES, rope_theta=2e4, rope_scaling=LINEAR)
    for key in ("rope_theta", "rope_scaling"):
        assert f"{key} at the top of the file is read by nobody: bert does not rotate" in said(
            groups
        )


def test_a_layer_s_own_entry_may_be_null(read):
    layers = ["sliding_attention"] * 3 + ["full_attention"]
    for junk in (None, [], "x", {"head_dim": None}):
        groups = read(model_type="gemma4_text", **SIZES, layer_types=layers,
                      per_layer_config={"0": junk, "3": junk})  # fmt: skip
        assert sum(len(group.layers) for group in groups) == 4


@pytest.mark.parametrize("name", [["llama"], {"a": 1}, 3, "two\nlines", "x" * 1000])
def test_a_model_type_that_is_no_name_is_refused(read, name):
    with pytest.raises(CourseError, match="model_type must be a name") as raised:
        read(model_type=name, **SIZES)
    assert "\n" not in str(raised.value)
