"""`course rope`: configs as they are published, read as transformers reads them.

The configs in `configs/` are reduced to the keys that concern positions; `source` says whose.
"""

import json
import math
from pathlib import Path

import pytest
import torch

from course_grading import cli
from course_lab.errors import CourseError
from course_lab.figures.real_models import slowing
from course_lab.rope import config as rope_config
from course_lab.rope import real_configs
from course_lab.rope import report as rope_report
from course_lib.encodings import dynamic_ntk, longrope, rotary_frequencies, yarn

CONFIGS = Path(__file__).parent / "configs"
PUBLISHED = {
    "Llama 3.1 8B": "llama-3.1-8b", "Llama 3.2 1B": "llama-3.2-1b",
    "Qwen2.5 7B at 128k": "qwen2.5-7b-128k", "DeepSeek-V3": "deepseek-v3",
    "gpt-oss 20B": "gpt-oss-20b", "Gemma 3 4B full attention": "gemma-3-4b",
    "Code Llama 7B": "code-llama-7b",
}  # fmt: skip
NOTES = {
    "llama-3.1-8b": ["the factor is 8 for 16 times the length"],
    "llama-3.2-1b": ["the factor is 32 for 16 times the length"],
    "qwen2.5-7b-128k": ["max_position_embeddings is the trained length, 32768"],
    "deepseek-v3": ["mscale_all_dim: DeepSeek's attention multiplies its scores by 1.874 besides"],
    "gpt-oss-20b": ["the ends of the ramp are not rounded to whole pairs"],
    "gemma-3-4b": [
        "the length before stretching is not in the config; turns are counted in "
        "max_position_embeddings, 131072 (--original-length takes another)"
    ],
    "code-llama-7b": [],
}
PLAIN = {"head_dim": 64, "max_position_embeddings": 4096, "rope_theta": 10_000.0}


@pytest.fixture
def read(tmp_path):
    """The encodings of a config with these keys beside or instead of the plain ones."""

    def read(original_length=None, **keys):
        config = {key: value for key, value in (PLAIN | keys).items() if value != "left out"}
        (tmp_path / "config.json").write_text(json.dumps(config))
        return rope_config.read(tmp_path, original_length)

    return read


@pytest.mark.parametrize("model, name", PUBLISHED.items(), ids=PUBLISHED.values())
def test_published_configs_say_what_the_lesson_says(model, name):
    known = real_configs.MODELS[model]
    rope = rope_config.read(CONFIGS / f"{name}.json")[0]
    expected = known.scaled()
    torch.testing.assert_close(rope.scaled.frequencies, expected.frequencies, rtol=0, atol=0)
    assert rope.scaled.attention_factor == expected.attention_factor
    assert (rope.head_dim, rope.length) == (known.head_dim, known.length)


@pytest.mark.parametrize("name, notes", NOTES.items(), ids=NOTES)
def test_real_models_give_notes_and_no_warning(name, notes):
    ropes = rope_config.read(CONFIGS / f"{name}.json")
    assert [note for rope in ropes for note in rope.notes] == notes
    assert not [warning for rope in ropes for warning in rope.warnings]


def test_layers_of_two_types_have_a_part_each():
    full, sliding = rope_config.read(CONFIGS / "gemma-3-4b.json")
    assert (full.layers, full.base, sliding.layers, sliding.base) == (
        "full_attention", 1e6, "sliding_attention", 1e4,
    )  # fmt: skip
    assert set(full.slowed.tolist()) == {8.0} and set(sliding.slowed.tolist()) == {1.0}


def test_old_and_new_style_mean_the_same(read):
    scaling = {"rope_type": "linear", "factor": 2.0}
    [old] = read(rope_scaling=scaling)
    [new] = read(rope_theta="left out", rope_parameters=scaling | {"rope_theta": 10_000.0})
    nested = {"full_attention": scaling | {"rope_theta": 10_000.0}}
    [layer] = read(rope_theta="left out", rope_parameters=nested)
    for rope in (old, new, layer):
        assert torch.equal(rope.scaled.frequencies, rotary_frequencies(64) / 2)
        assert not rope.warnings
    assert layer.layers == "full_attention"


def test_the_language_model_is_found_in_a_model_for_several_media(read):
    inner = PLAIN | {"rope_theta": 500.0}
    assert read(thinker_config={"text_config": inner}, head_dim="left out")[0].base == 500.0


def test_only_the_share_that_turns_is_counted(read):
    assert len(read(partial_rotary_factor=0.5)[0].plain) == 16
    assert len(read(rotary_dim=16)[0].plain) == 8
    assert len(read(model_type="gpt_neox", rotary_emb_base=10_000)[0].plain) == 8
    assert len(read(qk_rope_head_dim=32)[0].plain) == 16
    parameters = {"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    [rope] = read(rope_parameters=parameters)
    assert (rope.slowed == math.inf).sum() == 24 and "24 pairs stand still" in rope.notes


def test_types_that_depend_on_the_length_are_asked_at_the_whole_context(read):
    factors = {"short_factor": [1.0] * 32, "long_factor": [float(n) for n in range(1, 33)]}
    [rope] = read(
        max_position_embeddings=131_072, original_max_position_embeddings=4096,
        rope_scaling={"type": "su", **factors},
    )  # fmt: skip
    expected = longrope(64, 1e4, *factors.values(), 131_072, 4096, 32.0)
    assert torch.equal(rope.scaled.frequencies, expected.frequencies)
    assert rope.scaled.attention_factor == expected.attention_factor and not rope.warnings
    [rope] = read(rope_scaling={"type": "dynamic", "factor": 2.0})
    expected = dynamic_ntk(64, 1e4, 2.0, 4096, 4096)
    assert torch.equal(rope.scaled.frequencies, expected.frequencies)
    assert rope.notes == ("nothing changes up to 4096 tokens; then the base grows",)


YARN = {"rope_type": "yarn", "factor": 4.0}


@pytest.mark.parametrize(
    "keys, warning",
    [
        ({"rope_scaling": {"rope_type": "magic"}}, "rope_type 'magic' is unknown"),
        ({"rope_scaling": {"rope_type": "default", "factor": 4}}, "factor is ignored"),
        ({"rope_scaling": {"rope_type": "linear"}}, "'linear' needs factor"),
        ({"rope_scaling": YARN}, "original_max_position_embeddings is missing"),
        ({"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 1024}}, "factor"),
        ({"rope_theta": "left out"}, "rope_theta is missing; transformers takes 10000"),
        ({"rope_parameters": {"rope_theta": 500.0}}, "rope_theta 10000.0 at the top is ignored"),
        ({"rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": YARN},
         "rope_parameters is ignored: rope_scaling stands beside it"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_a_warning(read, keys, warning):
    [rope] = read(**keys)
    assert len(rope.warnings) == 1 and warning in rope.warnings[0]


def test_a_missing_original_length_is_taken_as_transformers_takes_it(read):
    [rope] = read(rope_scaling=YARN)
    assert torch.equal(rope.scaled.frequencies, yarn(64, 1e4, 4.0, 4096).frequencies)
    assert (rope.original_length, rope.length) == (4096, 16_384)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({"rope_theta": "10k"}, "rope_theta must be a number above 1, got '10k'"),
        ({"rope_scaling": [1]}, "rope_scaling must be an object of keys and values or null"),
        ({"rope_scaling": {"type": "linear", "factor": "8"}}, "factor must be a number above 0"),
        ({"rope_scaling": {"type": "linear", "factor": 0.5}}, "factor must be 1 or more, got 0.5"),
        ({"max_position_embeddings": None}, "max_position_embeddings must be a whole number"),
        ({"head_dim": "left out"}, "head_dim is missing; add it, or hidden_size and"),
        ({"head_dim": 65}, "RoPE would turn 65 of head_dim 65 numbers; give it an even number"),
        ({"partial_rotary_factor": 1.5}, "RoPE would turn 96 of head_dim 64 numbers"),
    ],
)
def test_a_broken_config_gets_one_line_with_key_value_and_remedy(read, keys, message):
    with pytest.raises(CourseError) as raised:
        read(**keys)
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["not json", "[1, 2]"])
def test_a_file_that_is_no_config_is_refused(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(CourseError, match="name a model's config.json"):
        rope_config.read(tmp_path)


def test_the_reach_is_the_first_distance_below_zero():
    frequencies = rotary_frequencies(128)
    assert rope_config.reach(frequencies) == 1707  # lesson 15 finds the same
    slow = [float(torch.cos(n * frequencies).mean()) for n in range(1708)]
    assert min(slow[:1707]) >= 0 > slow[1707]
    assert rope_config.reach(torch.zeros(4, dtype=torch.float64), furthest=9000) == 9000


def test_the_command_prints_and_draws(tmp_path, capsys):
    picture = tmp_path / "rope.png"
    path = str(CONFIGS / "llama-3.1-8b.json")
    assert cli.main(["rope", path, "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "pairs kept: 0 to 28; slowed in between: 29 to 34; slowed by 8: 35 to 63" in said
    assert "reach of the base 18 438 tokens, of the pairs as slowed 85 133" in said
    assert said.count("\n") > 64 and picture.read_bytes().startswith(b"\x89PNG")
    assert cli.main(["rope", path, "--picture", str(tmp_path / "no" / "rope.png")]) == 2
    assert cli.main(["rope", str(tmp_path)]) == 2
    assert "config.json: No such file or directory" in capsys.readouterr().err


def test_turns_are_counted_in_the_length_that_is_given(read, capsys):
    [rope] = read(original_length=2048, rope_scaling={"type": "linear", "factor": 2.0})
    assert rope.turns[0] == pytest.approx(2048 / (2 * math.pi)) and not rope.notes
    assert rope_report.groups(rope) == {"slowed by 2": "0 to 31"}
    assert slowing([rope], "Slowed").axes[0].get_ylim()[1] > 2
