"""`course rope --for`: what it prints, followed to the letter, and read by transformers."""

import json

import pytest
import torch

from course_lab.rope import CONFIGS
from course_lab.rope import config as rope_config
from course_lab.rope.advice import advice
from course_lib.encodings import rotary_frequencies, yarn

transformers = pytest.importorskip("transformers")
SIZES = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4,
         "max_position_embeddings": 4096}  # fmt: skip


def merged(file, entries):
    """A file with these entries, at their levels; all others stay."""
    return {**file, **{
        key: merged(file.get(key) or {}, value)
        if isinstance(value, dict) and key != "rope_parameters" else value
        for key, value in entries.items()
    }}  # fmt: skip


@pytest.fixture
def followed(tmp_path):
    """The groups of a config before and after what is advised for `times` its length, the changed
    file, and the words."""

    def followed(file, times):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(file))
        before = rope_config.read(path)
        longest = max(group.table.length for group in before if group.table)
        said = "\n".join(advice(before, int(times * longest)))
        entries = json.loads(said[said.index("{") : said.rindex("}") + 1])
        file, levels = merged(file, entries), before[0].table.place.levels
        inner = file
        for level in levels:
            inner = inner[level]
        if "Remove rope_scaling from" in said:
            del inner["rope_scaling"]
        path.write_text(json.dumps(file))
        return before, rope_config.read(path), inner, said

    return followed


def shipped(name):
    return json.loads((CONFIGS / f"{name}.json").read_text())


STRETCHED = ["llama-7b", "llama-3.1-8b", "llama-3.2-1b", "qwen2.5-7b-128k",
             "qwen2-vl-7b", "qwen3-vl-8b", "deepseek-v3", "gpt-oss-20b", "ministral-3-8b",
             "gpt-neox-20b", "smollm3-3b", "code-llama-7b"]  # fmt: skip


@pytest.mark.parametrize("name", STRETCHED)
def test_what_is_advised_is_read_as_it_was_meant(name, followed):
    before, after, inner, _ = followed(shipped(name), 4)
    old, new = before[-1].table or before[0].table, after[-1].table or after[0].table
    assert new.kind == "yarn" and new.base == old.base
    assert new.length == inner["max_position_embeddings"] >= 4 * old.length
    assert torch.equal(new.plain, old.plain) and new.axes == old.axes
    factor = new.length / old.original_length
    expected = yarn(2 * len(new.plain), old.base, factor, old.original_length,
                    truncate=old.place.given.get("truncate", True))  # fmt: skip
    torch.testing.assert_close(new.frequencies, expected.frequencies)


@pytest.mark.parametrize("name", ["qwen2.5-7b-128k", "deepseek-v3", "gpt-oss-20b", "llama-7b",
                                  "gpt-neox-20b", "ministral-3-8b", "qwen3-vl-8b"])  # fmt: skip
def test_transformers_reads_what_is_advised(name, followed, tmp_path):
    _, after, inner, _ = followed(shipped(name), 4)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    config = getattr(config, "text_config", config)
    for key, value in inner["rope_parameters"].items():
        assert config.rope_parameters[key] == value, key
    width = {"head_dim": after[-1].head_dim, "hidden_size": after[-1].head_dim,
             "num_attention_heads": 1}  # fmt: skip
    asked = transformers.LlamaConfig(
        **width, max_position_embeddings=config.max_position_embeddings,
        rope_parameters={key: value for key, value in config.rope_parameters.items()
                         if not key.startswith("mrope")},
    )  # fmt: skip
    make = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["yarn"]
    theirs, factor = make(asked, "cpu")
    torch.testing.assert_close(after[-1].frequencies, theirs.double(), rtol=1e-5, atol=0)
    assert after[-1].attention_factor == pytest.approx(factor)


def test_deepseek_keeps_its_temperature(followed):
    _, [after], inner, _ = followed(shipped("deepseek-v3"), 2)
    assert inner["rope_parameters"]["mscale_all_dim"] == 1.0
    assert after.attention_factor == 1.0  # mscale over mscale_all_dim, and not 0.1 ln 80 + 1


def test_axes_that_take_turns_do_so_afterwards(followed):
    _, [after], inner, said = followed(shipped("qwen3-vl-8b"), 2)
    assert inner["rope_parameters"]["mrope_interleaved"] is True
    assert after.table.axes[:3] == (0, 1, 2)
    assert (
        '"text_config": {' in said and "outside of text_config nobody reads rope_parameters" in said
    )
    assert "Remove rope_scaling from text_config" in said


def test_pairs_that_are_slowed_already_are_no_start_for_yarn():
    said = "\n".join(advice(rope_config.read(CONFIGS / "gemma-3-4b.json"), 262_144))
    assert "rope_type 'linear' has slowed these pairs already, by up to 8" in said
    assert "{" not in said


def test_layers_of_two_types_get_one_block_with_both(followed):
    layers = {"full_attention": {"rope_type": "default", "rope_theta": 1e6},
              "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}  # fmt: skip
    file = {"model_type": "gemma3_text", **SIZES, "num_hidden_layers": 12, "sliding_window": 512,
            "rope_parameters": layers}  # fmt: skip
    _, after, inner, said = followed(file, 4)
    assert inner["rope_parameters"]["sliding_attention"] == layers["sliding_attention"]
    config = transformers.Gemma3TextConfig(**{k: v for k, v in inner.items() if k != "model_type"})
    assert config.rope_parameters["full_attention"]["rope_type"] == "yarn"
    sliding, full = after
    assert torch.equal(sliding.frequencies, rotary_frequencies(256, 1e4))
    torch.testing.assert_close(full.frequencies, yarn(256, 1e6, 4.0, 4096).frequencies)
    assert said.count("rope_parameters") == 1


def test_a_table_that_two_types_of_layers_share_is_printed_once(followed):
    file = {"model_type": "deepseek_v4", "num_hidden_layers": 4, "max_position_embeddings": 4096,
            "rope_theta": 1e4, "compress_rope_theta": 1.6e5}  # fmt: skip
    _, _, _, said = followed(file, 4)
    assert said.count("YaRN by 4") == 2 and said.count('"compress"') == 1


def test_layers_with_a_window_are_said_to_share_the_entries(followed):
    *_, said = followed(shipped("gpt-oss-20b"), 4)
    assert "Layers with a window take these entries, too" in said
