"""`course rope`: keys about positions that nobody reads, and configs that are none, are named."""

import json

import pytest

from course_lab.rope import CONFIGS
from course_lab.rope import config as rope_config
from course_lab.rope.config import reading
from course_lab.rope.summary import summary
from course_lib.errors import CourseError

SIZES = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4,
         "max_position_embeddings": 4096}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def read(tmp_path, config):
    (path := tmp_path / "config.json").write_text(json.dumps(config))
    return rope_config.read(path)


def warnings(tmp_path, config):
    return [said for group in read(tmp_path, config) for said in group.warnings]


@pytest.mark.parametrize(
    ("config", "warning"),
    [
        (SIZES | {"rope_theta": 1e4, "yarn": {"factor": 16, "beta": 32}}, "yarn is not understood"),
        (SIZES | {"rope_theta": 1e4, "llama_4_scaling": {"beta": 0.1}}, "llama_4_scaling is not"),
        (SIZES | {"rope_theta": 1e4, "rotary_scaling": {"factor": 2}}, "rotary_scaling is not"),
        (SIZES | {"rope_theta": 1e4, "use_dynamic_ntk": True}, "use_dynamic_ntk is not understood"),
        (SIZES | {"rope_theta": 1e4, "use_logn_attn": True}, "use_logn_attn is not understood"),
        (SIZES | {"rope_theta": 1e4, "original_seq_len": 4096}, "original_seq_len is not"),
        (SIZES | {"rope_theta": 1e4, "initial_context_length": 4096}, "initial_context_length is"),
        ({"model_type": "dbrx", "d_model": 512, "n_heads": 8, "n_layers": 4, "max_seq_len": 4096,
          "attn_config": {"rope_theta": 5e5}},
         "attn_config.rope_theta is not read by dbrx's code in transformers, nor here"),
        (SIZES | {"model_type": "llama", "rope_scaling": {"rope_type": "default",
                                                          "mrope_section": [8, 12, 12]}},
         "mrope_section is ignored: llama's positions have one axis"),
        ({"model_type": "qwen3_vl", "text_config": SIZES | {"model_type": "qwen3_vl_text"},
          "rope_scaling": YARN},
         "rope_scaling at the top of the file is read by nobody: it belongs into text_config"),
        (SIZES | {"model_type": "bert", "position_embedding_type": "alibi",
                  "auto_map": {"AutoModel": "jinaai/jina-bert--modeling_bert.JinaBertModel"}},
         "auto_map: the repository brings classes of its own, modeling_bert.JinaBertModel, and"),
        (SIZES | {"model_type": "bert", "position_embedding_type": "rotary"},
         "position_embedding_type is 'rotary', and bert does not do that: it takes learned table"),
    ],
)  # fmt: skip
def test_what_nobody_reads_is_one_warning(tmp_path, config, warning):
    said = warnings(tmp_path, config)
    assert len([one for one in said if warning in one]) == 1, said


def test_what_is_read_gets_no_such_word(tmp_path):
    nested = {"model_type": "qwen3_vl", "text_config": SIZES | {"model_type": "qwen3_vl_text"},
              "rope_scaling": None}  # fmt: skip
    mpt = {"model_type": "mpt", "d_model": 512, "n_heads": 8, "n_layers": 4,
           "attn_config": {"alibi": True, "alibi_bias_max": 8}}  # fmt: skip
    for config in (nested, SIZES | {"model_type": "llama", "rope_theta": 1e4}):
        assert warnings(tmp_path, config) == []
    assert [one.kind for one in read(tmp_path, mpt)] == ["ALiBi"]
    published = [path for path in CONFIGS.glob("*.json")]
    said = [one for path in published for g in rope_config.read(path) for one in g.warnings]
    assert not [one for one in said if "auto_map" in one or "by nobody" in one]


def test_axes_that_nobody_reads_are_one_axis(tmp_path):
    [group] = read(tmp_path, SIZES | {"model_type": "llama", "rope_theta": 1e4,
                                      "rope_scaling": {"mrope_section": [8, 12, 12]}})  # fmt: skip
    assert group.table.sections == () and group.lesson == "08"


@pytest.mark.parametrize(
    "sizes",
    [{"n_embd": 512, "n_head": 8, "n_layer": 4}, {"dim": 512, "n_heads": 8, "n_layers": 4},
     {"d_model": 512, "n_heads": 8, "num_layers": 4}],
)  # fmt: skip
def test_sizes_of_an_unknown_type_have_other_names(tmp_path, sizes):
    [group] = read(tmp_path, sizes | {"rope_theta": 5e5})
    assert (group.head_dim, group.total, group.base) == (64, 4, 5e5)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "this is no config of one model (it has neither model_type nor hidden_size)"),
        ({"weight_map": {}}, "give the config.json beside a model's weights"),
        ({"peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.1-8B"},
         "this is an adapter of 'meta-llama/Llama-3.1-8B': give the config.json of that model"),
        (SIZES | {"model_type": "chatglm", "rope_ratio": 10_000, "original_rope": True},
         "it is not known here what its own code makes of rope_ratio, original_rope"),
        (SIZES | {"model_type": "llama", "rope_scaling": {
            "type": "longrope", "short_factor": [1.0] * 32, "long_factor": "1.0, 2.0",
            "original_max_position_embeddings": 4096}},
         "long_factor must be a list of numbers, got '1.0, 2.0'"),
    ],
)  # fmt: skip
def test_what_is_no_config_is_refused_with_the_true_reason(tmp_path, config, says):
    with pytest.raises(CourseError) as raised:
        read(tmp_path, config)
    assert says in str(raised.value) and "\n" not in str(raised.value)


def test_llama_3_s_ramp_is_named_only_where_it_is_there(tmp_path):
    scaling = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 4096}
    [group] = read(tmp_path, SIZES | {"model_type": "llama", "rope_scaling": scaling})
    assert not [one for one in group.notes if "there is no ramp" in one]
    assert any("needs low_freq_factor, high_freq_factor" in one for one in group.warnings)
    assert group.table.length == 4096  # what follows is not stretched, and not made for more


def test_an_unknown_stretch_is_made_for_no_more_than_the_file_says(tmp_path):
    scaling = {"rope_type": "ntk", "factor": 4.0, "original_max_position_embeddings": 1024}
    [group] = read(tmp_path, SIZES | {"model_type": "llama", "rope_scaling": scaling})
    assert (group.table.length, group.table.original_length) == (4096, 4096)


def test_a_path_with_nothing_there_says_what_to_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cached = tmp_path / "models--Qwen--Qwen3-8B"
    (cached / "snapshots" / "abc").mkdir(parents=True)
    (cached / "snapshots" / "abc" / "config.json").write_text("{}")
    for path, says in {
        "Qwen/Qwen3-8B": "Nothing is downloaded here: give the folder",
        "none.json": "there is no file none.json",
        str(cached): "has no config.json; there is ",
    }.items():
        with pytest.raises(CourseError, match=says):
            rope_config.read(rope_config.Path(path))
    (strange := tmp_path / "strange.json").write_text("[" * 100_000)
    with pytest.raises(CourseError, match="is not JSON"):
        rope_config.read(strange)
    strange.write_text('{"rope_theta": 1' + 5000 * "0" + "}")  # more digits than Python reads
    with pytest.raises(CourseError, match="is not JSON"):
        rope_config.read(strange)


@pytest.mark.parametrize("key", ["rotary_base", "rope_base"])
def test_a_base_by_another_program_s_name_is_no_silent_default(tmp_path, key):
    [group] = read(tmp_path, SIZES | {"model_type": "llama", key: 500_000})
    assert group.base == 10_000
    assert any(f"{key} 500000 at the top of the file is read by nobody" in one
               and one.endswith("and takes 10000") for one in group.warnings)  # fmt: skip


@pytest.mark.parametrize(
    "scaling",
    [{"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 4096},
     {"rope_type": "YaRN", "factor": 4.0}],
)  # fmt: skip
def test_what_is_not_stretched_is_not_called_stretched(tmp_path, scaling):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(SIZES | {"model_type": "llama", "rope_scaling": scaling}))
    said = "\n".join(line.words for line in summary(reading(path)))
    assert f"not stretched: rope_type {scaling['rope_type']!r} slows no pair here" in said
    assert "stretched by" not in said


def test_a_length_by_its_old_name_is_one_for_types_that_are_not_known(tmp_path):
    [group] = read(tmp_path, {"model_type": "phi-msft", "n_embd": 2048, "n_head": 32, "n_layer": 2,
                              "n_positions": 2048, "rotary_dim": 32})  # fmt: skip
    assert group.table.length == 2048 and group.total == 2
