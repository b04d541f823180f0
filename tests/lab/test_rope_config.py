"""`course rope`: configs as they are published, read as transformers reads them.

The configs in CONFIGS are reduced to the keys that concern positions; `source` says whose.
"""

import json
import math
import re
from pathlib import Path

import pytest
import torch

from course_grading import cli
from course_lab import zoo
from course_lab.figures.real_models import layers_and_pairs
from course_lab.rope import CONFIGS, known, reach, real_configs
from course_lab.rope import config as rope_config
from course_lab.rope import words as rope_words
from course_lab.rope.advice import advice
from course_lab.rope.prices import (
    GAINED,
    INTERPOLATED,
    LONGROPE,
    LONGROPE_GAINED,
    RELEASED,
    SMALL,
    UNSTRETCHED,
    prices,
)
from course_lab.studies import released as study
from course_lib.encodings import dynamic_ntk, longrope, rotary_frequencies, yarn
from course_lib.errors import CourseError
from tools.pages import models

ROOT = Path(__file__).parents[2]
PUBLISHED = {
    "Llama 3.1 8B": "llama-3.1-8b", "Llama 3.2 1B": "llama-3.2-1b",
    "Qwen2.5 7B at 128k": "qwen2.5-7b-128k", "DeepSeek-V3": "deepseek-v3",
    "gpt-oss 20B": "gpt-oss-20b", "Gemma 3 4B full attention": "gemma-3-4b",
    "Code Llama 7B": "code-llama-7b",
}  # fmt: skip
READ_AS = "read as transformers"
TAKEN = (
    "the base is not in the config: {0} is the default of {1}'s class in transformers "
    "({2}/configuration_{2}.py)"
)
ROWS = {
    "bert-base": ["all 12 layers: learned table, lesson 04"],
    "bloom-560m": ["all 24 layers: ALiBi, lesson 06"],
    "code-llama-7b": ["all 32 layers: default, 64 pairs, base 1 000 000"],
    "command-r7b": [
        "layers 0 to 2, 4 to 6, 8 to 10, ... 28 to 30 (24 of 32): default, 64 pairs, base 50 000, "
        "window 4096",
        "layers 3, 7, ... 31 (8 of 32): none, lesson 01",
    ],
    "deepseek-v3": ["all 61 layers: yarn, 32 pairs, base 10 000"],
    "falcon-rw-1b": ["all 24 layers: ALiBi, lesson 06"],
    "gemma-3-4b": [
        "layers 0 to 4, 6 to 10, 12 to 16, ... 30 to 33 (29 of 34): default, 128 pairs, base "
        "10 000, window 1024",
        "layers 5, 11, ... 29 (5 of 34): linear, 128 pairs, base 1 000 000",
    ],
    "gpt-j-6b": ["all 28 layers: default, 32 pairs, base 10 000"],
    "gpt-neox-20b": ["all 44 layers: default, 12 pairs, base 10 000"],
    "gpt-oss-20b": [
        "layers 0, 2, ... 22 (12 of 24): yarn, 32 pairs, base 150 000, window 128",
        "layers 1, 3, ... 23 (12 of 24): yarn, 32 pairs, base 150 000",
    ],
    "gpt2": ["all 12 layers: learned table, lesson 04"],
    "jamba-v0.1": [
        "layers 0 to 3, 5 to 11, 13 to 19, 21 to 27, 29 to 31 (28 of 32): no attention",
        "layers 4, 12, ... 28 (4 of 32): none, lesson 01",
    ],
    "llama-3.1-8b": ["all 32 layers: llama3, 64 pairs, base 500 000"],
    "llama-3.2-1b": ["all 16 layers: llama3, 32 pairs, base 500 000"],
    "llama-4-scout": [
        "layers 0 to 2, 4 to 6, 8 to 10, ... 44 to 46 (36 of 48): llama3, 64 pairs, base 500 000, "
        "window 8192",
        "layers 3, 7, ... 47 (12 of 48): none, lesson 01",
    ],
    "llama-7b": ["all 32 layers: default, 64 pairs, base 10 000"],
    "ministral-3-8b": ["all 34 layers: yarn, 64 pairs, base 1 000 000"],
    "mistral-7b": ["all 32 layers: default, 64 pairs, base 10 000, window 4096"],
    "nemotron-3-nano": [
        "layers 0, 2, 4, 7, 9, 11, 14, 16, 18, 21, 23, 25, 28, 30, 32, 35, 37, 39, 41, 44, 46, "
        "48, 50 (23 of 52): no attention",
        "layers 1, 3, 6, 8, 10, 13, 15, 17, 20, 22, 24, 27, 29, 31, 34, 36, 38, 40, 43, 45, 47, "
        "49, 51 (23 of 52): no attention",
        "layers 5, 12, 19, 26, 33, 42 (6 of 52): none, lesson 01",
    ],
    "phi-3-mini-4k": ["all 32 layers: default, 48 pairs, base 10 000, window 2047"],
    "qwen2-vl-7b": ["all 28 layers: default, 16 + 24 + 24 pairs, base 1 000 000"],
    "qwen2.5-7b-128k": ["all 28 layers: yarn, 64 pairs, base 1 000 000"],
    "qwen3-vl-8b": ["all 36 layers: default, 24 + 20 + 20 pairs, base 5 000 000"],
    "smollm3-3b": [
        "layers 0 to 2, 4 to 6, 8 to 10, ... 32 to 34 (27 of 36): default, 64 pairs, base "
        "5 000 000",
        "layers 3, 7, ... 35 (9 of 36): none, lesson 01",
    ],
    "t5-small": ["all 6 layers: T5 bias, lesson 05"],
}
NOTES = {
    "llama-3.1-8b": ["the factor is 8 for 16 times the length"],
    "llama-3.2-1b": ["the factor is 32 for 16 times the length"],
    "llama-4-scout": [
        "the factor is 16 for 1280 times the length",
        "low_freq_factor equals high_freq_factor: there is no ramp between kept and slowed",
        "other parts of this config: vision_config (--part reads one of them)",
        "queries are multiplied in layers without rotation, by "
        "1 + 0.1 ln(1 + floor((position + 1) / 8192))",
    ],
    "llama-7b": [TAKEN.format(10000, "llama", "llama")],
    "ministral-3-8b": [
        "queries are multiplied by 1 + 0.1 ln(1 + floor(position / 16384)) (llama_4_scaling_beta)",
        "other parts of this config: vision_config (--part reads one of them)",
    ],
    "qwen2.5-7b-128k": ["max_position_embeddings is the length before the stretch, 32768"],
    "qwen3-vl-8b": [
        "the axes take turns among the first pairs (interleaved)",
        "other parts of this config: vision_config (--part reads one of them)",
    ],
    "deepseek-v3": [
        "mscale_all_dim: attention multiplies its scores by 1.874 besides",
        "128 more numbers of each head are not rotated: the rotated 64 stand apart, one key for "
        "all heads (lesson 15)",
    ],
    "gpt-oss-20b": ["the ends of the ramp are not rounded to whole pairs"] * 2,
    "gemma-3-4b": [
        TAKEN.format(10000, "gemma3_text", "gemma3"),
        "other parts of this config: vision_config (--part reads one of them)",
        TAKEN.format(1000000, "gemma3_text", "gemma3"),
        "the length before stretching is not in the config; turns are counted in "
        "max_position_embeddings, 131072 (--original-length takes another)",
    ],
    "gpt-j-6b": ["the base, 10000, stands in gptj/modeling_gptj.py"],
    "code-llama-7b": [], "smollm3-3b": [], "phi-3-mini-4k": [], "mistral-7b": [],
}  # fmt: skip
PLAIN = {"head_dim": 64, "max_position_embeddings": 4096, "rope_theta": 10_000.0}
ALONE = "without model_type, read by its keys alone"


def row(group):
    """A group of layers in a line."""
    parts = [f"{rope_words.numbers(group.layers, group.total)}: {group.kind}"]
    if group.rotates:
        pairs = " + ".join(map(str, group.table.sections)) or str(len(group.frequencies))
        parts += [f"{pairs} pairs", f"base {rope_words.whole(group.base)}"]
    elif group.lesson:
        parts.append(f"lesson {group.lesson}")
    return ", ".join(parts + [f"window {group.window}"] * bool(group.window))


def notes(groups):
    """All notes but the one that says how the config was read."""
    said = [note for group in groups for note in group.notes]
    return [note for note in said if not note.startswith((READ_AS, ALONE))]


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
    group = rope_config.read(CONFIGS / f"{name}.json")[-1]
    expected = known.scaled()
    torch.testing.assert_close(group.frequencies, expected.frequencies, rtol=1e-13, atol=0)
    assert group.attention_factor == expected.attention_factor
    assert (group.head_dim, group.table.length) == (known.head_dim, known.length)


@pytest.mark.parametrize("name, rows", ROWS.items(), ids=ROWS)
def test_published_configs_layer_by_layer(name, rows):
    groups = rope_config.read(CONFIGS / f"{name}.json")
    assert [row(group) for group in groups] == rows
    assert not [warning for group in groups for warning in group.warnings]
    layers = sorted(n for group in groups for n in group.layers)
    assert layers == list(range(groups[0].total))


def test_every_published_config_names_its_source():
    for path in CONFIGS.glob("*.json"):
        assert path.stem in ROWS and json.loads(path.read_text())["source"], path


@pytest.mark.parametrize("name, expected", NOTES.items(), ids=NOTES)
def test_real_models_give_notes(name, expected):
    assert notes(rope_config.read(CONFIGS / f"{name}.json")) == expected


def test_layers_of_two_types_have_a_part_each():
    sliding, full = rope_config.read(CONFIGS / "gemma-3-4b.json")
    assert (full.name, full.base, sliding.name, sliding.base) == (
        "full_attention", 1e6, "sliding_attention", 1e4,
    )  # fmt: skip
    assert set(full.slowed.tolist()) == {8.0} and set(sliding.slowed.tolist()) == {1.0}


def test_another_part_is_read_by_its_key():
    table, turned = rope_config.read(CONFIGS / "llama-4-scout.json", part="vision_config")
    assert (table.kind, turned.kind, turned.table.sections) == ("learned table", "axial", (22, 22))
    table, turned = rope_config.read(CONFIGS / "qwen3-vl-8b.json", part="vision_config")
    assert (table.kind, turned.kind, turned.table.sections) == ("learned table", "axial", (18, 18))
    with pytest.raises(CourseError, match="its parts are: vision_config, text_config"):
        rope_config.read(CONFIGS / "llama-4-scout.json", part="audio_config")


def test_old_and_new_style_mean_the_same(read):
    scaling = {"rope_type": "linear", "factor": 2.0}
    [old] = read(rope_scaling=scaling)
    [new] = read(rope_theta="left out", rope_parameters=scaling | {"rope_theta": 10_000.0})
    nested = {"full_attention": scaling | {"rope_theta": 10_000.0}}
    [layer] = read(rope_theta="left out", rope_parameters=nested)
    for rope in (old, new, layer):
        assert torch.allclose(rope.frequencies, rotary_frequencies(64) / 2, rtol=1e-12, atol=0)
        assert not rope.warnings
    assert layer.name == "full_attention"


def test_the_language_model_is_found_in_a_model_for_several_media(read):
    inner = PLAIN | {"rope_theta": 500.0}
    assert read(thinker_config={"text_config": inner}, head_dim="left out")[0].base == 500.0


def test_only_the_share_that_turns_is_counted(read):
    assert len(read(partial_rotary_factor=0.5)[0].frequencies) == 16
    assert len(read(rotary_dim=16)[0].frequencies) == 8
    assert len(read(model_type="gpt_neox", rotary_emb_base=10_000)[0].frequencies) == 8
    assert len(read(qk_rope_head_dim=32)[0].frequencies) == 16
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
    assert torch.allclose(rope.frequencies, expected.frequencies, rtol=1e-12, atol=0)
    assert rope.attention_factor == expected.attention_factor and not rope.warnings
    [rope] = read(rope_scaling={"type": "dynamic", "factor": 2.0})
    expected = dynamic_ntk(64, 1e4, 2.0, 4096, 4096)
    assert torch.allclose(rope.frequencies, expected.frequencies, rtol=1e-12, atol=0)
    assert notes([rope]) == ["nothing changes up to 4096 tokens; then the base grows"]


YARN = {"rope_type": "yarn", "factor": 4.0}


@pytest.mark.parametrize(
    "keys, warning",
    [
        ({"rope_scaling": {"rope_type": "magic"}}, "rope_type 'magic' is unknown"),
        ({"rope_scaling": {"rope_type": "default", "factor": 4}}, "factor is ignored"),
        ({"rope_scaling": {"rope_type": "linear"}}, "'linear' needs factor"),
        ({"rope_scaling": YARN}, "original_max_position_embeddings is missing"),
        ({"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 1024}}, "factor"),
        ({"rope_theta": "left out", "rope_scaling": {"type": "default"}},
         "rope_theta is missing; transformers takes 10000"),
        ({"rope_parameters": {"rope_theta": 500.0}},
         "rope_theta 10000.0 at the top of the file is ignored"),
        ({"rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": YARN},
         "rope_parameters is ignored: rope_scaling stands beside it"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_a_warning(read, keys, warning):
    [rope] = read(**keys)
    assert len(rope.warnings) == 1 and warning in rope.warnings[0]


@pytest.mark.parametrize(
    "keys, said",
    [({}, "filled is not understood here"),
     ({"model_type": "llama"}, "filled is ignored: rope_type 'default' does not take it")],
)  # fmt: skip
def test_a_base_in_the_parameters_counts_whatever_stands_beside_it(read, keys, said):
    scaling = {"filled": True, "rope_type": "default", "rope_theta": 10_000.0}
    [rope] = read(rope_scaling=scaling, rope_theta=500_000.0, **keys)
    assert rope.base == 10_000.0
    ignored, unknown = rope.warnings
    assert ignored.startswith("rope_theta 500000.0 at the top of the file is ignored: 10000.0")
    assert unknown.startswith(said)


def test_a_missing_original_length_is_taken_as_transformers_takes_it(read):
    [rope] = read(rope_scaling=YARN)
    assert torch.allclose(
        rope.frequencies, yarn(64, 1e4, 4.0, 4096).frequencies, rtol=1e-12, atol=0
    )
    assert (rope.table.original_length, rope.table.length) == (4096, 16_384)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({"rope_theta": "10k"}, "rope_theta must be a number above 1 and below 1e+15, got '10k'"),
        ({"rope_scaling": [1]}, "rope_scaling must be an object of keys and values or null"),
        (
            {"rope_scaling": {"type": "linear", "factor": "8"}},
            "factor must be a number above 0 and",
        ),
        ({"rope_scaling": {"type": "linear", "factor": 0.5}}, "factor must be 1 or more, got 0.5"),
        ({"max_position_embeddings": "4k"}, "max_position_embeddings must be a whole number"),
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
    assert reach(frequencies) == 1707  # lesson 15 finds the same
    slow = [float(torch.cos(n * frequencies).mean()) for n in range(1708)]
    assert min(slow[:1707]) >= 0 > slow[1707]
    assert reach(torch.zeros(4, dtype=torch.float64), furthest=9000) == 9000


def test_the_command_prints_and_draws(tmp_path, capsys):
    picture = tmp_path / "rope.png"
    path = str(CONFIGS / "llama-3.1-8b.json")
    assert cli.main(["rope", path, "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "pairs kept: 0 to 28; slowed in between: 29 to 34; slowed by 8: 35 to 63" in said
    assert said.count("\n") == 6
    assert cli.main(["rope", path, "--pairs"]) == 0
    said = capsys.readouterr().out
    assert "reach of the base 18 438 tokens, of the pairs as slowed 85 133 (an estimate" in said
    assert said.count("\n") > 64 and picture.read_bytes().startswith(b"\x89PNG")
    assert cli.main(["rope", path, "--picture", str(tmp_path / "no" / "rope.png")]) == 2
    assert cli.main(["rope", str(tmp_path)]) == 2
    assert "has no config.json" in capsys.readouterr().err


def test_turns_are_counted_in_the_length_that_is_given(read, capsys):
    [rope] = read(original_length=2048, rope_scaling={"type": "linear", "factor": 2.0})
    assert rope.turns[0] == pytest.approx(2048 / (2 * math.pi)) and not notes([rope])
    assert rope_words.groups(rope.table) == {"slowed by 2": "0 to 31"}
    panel = layers_and_pairs([rope], "Slowed").axes[1]
    assert panel.get_ylim()[1] > 2
    assert panel.get_title(loc="left") == "32 of 32 pairs are slowed, by up to 2"


def advised(name, length):
    return list(advice(rope_config.reading(CONFIGS / f"{name}.json"), length))


@pytest.mark.parametrize(
    "name, length, words",
    [
        ("llama-7b", 100_000, "YaRN by 49"),
        ("llama-7b", 2048, "tokens: yes; made for 2 048 tokens, unstretched"),
        ("llama-3.1-8b", 100_000, "made for 131 072 tokens, stretched by its own 'llama3'"),
        ("llama-3.1-8b", 200_000, "Llama 3's rule by 12.5 in place of 8, from the 8 192"),
        ("gpt-oss-20b", 200_000, "layers with a window take the same entries, too"),
        ("gemma-3-4b", 100_000, "a query sees 1 024 tokens, however long the text"),
        ("gpt-neox-20b", 4096, '"partial_rotary_factor": 0.25'),
        ("gpt-j-6b", 4096, "transformers' and SGLang's code of this model reads no"),
        ("qwen3-vl-8b", 524_288, '"mrope_interleaved": true'),
        ("bert-base", 1000, "longer texts need a longer table"),
        ("bloom-560m", 100_000, "nothing to stretch: a bias that falls with the distance"),
        ("jamba-v0.1", 100_000, "no layer has positions that could run out"),
    ],
)
def test_what_is_advised(name, length, words):
    assert words in "\n".join(advised(name, length))


def test_the_prices_of_short_texts_are_those_of_lesson_15():
    records = [one for one in zoo.study() if one.scheme == "rope" and one.length == 128
               and one.tuned_steps == 0]  # fmt: skip
    plain = {one.seed: one for one in records if one.method is None}
    for factor, (least, most) in SMALL.items():
        more = [100 * zoo.difference(one, plain[one.seed]).mean for one in records
                if one.method == "yarn_released" and one.factor == factor]  # fmt: skip
        assert len(more) == 3
        assert (math.floor(min(more)), math.ceil(max(more))) == (
            round(100 * least), round(100 * most))  # fmt: skip
    lesson = (ROOT / "notebooks" / "15_yarn_and_beyond.ipynb").read_text(encoding="utf-8")
    said, _ = (line for line in prices(3.5) if "lesson 15" in line)
    assert "+0.25 to +0.30 bits per byte by 4" in said and "0.25 to 0.30" in lesson


@pytest.mark.parametrize(
    "method, short, long",
    [("yarn_released", SMALL, GAINED), ("longrope", LONGROPE, LONGROPE_GAINED)],
)
def test_what_small_models_paid_and_gained_is_in_their_records(method, short, long):
    records = [one for one in zoo.study() if one.scheme == "rope" and one.tuned_steps == 0]
    for factor in short:
        for length, (least, most), sign in (
            (128, short[factor], 1), (128 * factor, long[factor], -1),
        ):  # fmt: skip
            plain = {one.seed: one for one in records if not one.method and one.length == length}
            more = [100 * sign * zoo.difference(one, plain[one.seed]).mean for one in records
                    if one.method == method and one.factor == factor
                    and one.length == length]  # fmt: skip
            assert len(more) == 3
            assert (math.floor(min(more)), math.ceil(max(more))) == (
                round(100 * least), round(100 * most))  # fmt: skip


def test_the_prices_of_a_released_model_come_first_and_are_those_of_its_page():
    page = (ROOT / "docs" / "real-models.md").read_text(encoding="utf-8")
    whole_page = page.split("## One thing changed")[1]
    last = range(study.LENGTH - 4 * study.BLOCK, study.LENGTH)
    alone = study.read("alone", "unchanged", start=last)

    def long_of(setting):
        return study.dearer(study.read("by place", setting, start=last), alone).mean

    assert round(long_of("unchanged"), 2) == UNSTRETCHED
    for factor in (2, 4):
        setting, unchanged = f"YaRN by {factor}", study.read("changed", "unchanged")
        short = study.dearer(study.read("changed", setting), unchanged).mean
        long = long_of(setting)
        assert (round(short, 2), round(long, 2)) == RELEASED[factor]
        first, second = re.findall(
            rf"\| YaRN by {factor} \| \+(\S+) ± \S+ \| \+(\S+) ±", whole_page
        )[0]
        assert short == pytest.approx((float(first) + float(second)) / 2, abs=1e-3)
        assert f"| YaRN by {factor} | {long:+.3f} ±" in page.split("## At twice")[1]
    by_2 = study.read("changed", "interpolation by 2")
    assert round(study.dearer(by_2, study.read("changed", "unchanged")).mean, 2) == INTERPOLATED
    said = "\n".join(prices(4))
    assert said.index("SmolLM2") < said.index("lesson 15") < said.index("gain: on texts")
    assert "short texts: +0.03 by 2, +0.11 by 4, in nats per token in SmolLM2-135M" in said
    assert "length, -0.06 by 2, +0.06 by 4, and unstretched +4.16 nats per token" in said
    assert "note:" not in said and "warning:" not in said
    assert "note: 8 was measured here in small models alone" in "\n".join(prices(8))
    assert "warning: 49 is far beyond the stretches measured here" in "\n".join(prices(49))


def test_the_command_advises_and_draws_layers(tmp_path, capsys):
    picture, path = tmp_path / "rope.png", str(CONFIGS / "llama-4-scout.json")
    assert cli.main(["rope", path, "--for", "1000", "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "no positions: no_rope_layers has a 0 here" in said
    assert "works for 1 000 tokens: yes" in said and "wavelength" not in said
    groups = rope_config.read(CONFIGS / "llama-4-scout.json")
    drawn = layers_and_pairs(groups, "Llama 4").axes[0]
    assert [len(line.get_xdata()) for line in drawn.lines] == [36, 12]


@pytest.mark.parametrize(
    "name, part, axes, words",
    [
        ("qwen2-vl-7b", None, [0] * 16 + [1] * 24 + [2] * 24, "time 16, row 24, column 24"),
        ("qwen3-vl-8b", None, [0, 1, 2] * 20 + [0] * 4, "time 24, row 20, column 20"),
        ("qwen2-vl-7b", "vision_config", [0] * 20 + [1] * 20, "row 20, column 20"),
    ],
)
def test_the_axis_of_each_pair_is_printed_and_drawn(name, part, axes, words, tmp_path, capsys):
    path, picture = CONFIGS / f"{name}.json", tmp_path / "axes.png"
    [group] = rope_config.read(path, part=part)
    assert list(group.table.axes) == axes
    options = ["--part", part] if part else []
    assert cli.main(["rope", str(path), *options, "--pairs", "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert f"pairs for each axis: {words}" in said and picture.read_bytes().startswith(b"\x89PNG")
    last = [line for line in said.splitlines() if line.startswith(f"  {len(axes) - 1:4} ")]
    assert last[0].endswith(("time", "column"))
    [_, panel] = layers_and_pairs([group], name).axes  # nothing is slowed: no panel for it
    by_axis = {line.get_label(): line.get_xdata().tolist() for line in panel.lines}
    for number, (label, pairs) in enumerate(by_axis.items()):
        assert pairs == [pair for pair, axis in enumerate(axes) if axis == number], label


def test_a_stretched_model_with_axes_has_both_panels(read):
    groups = read(
        rope_scaling={"type": "linear", "factor": 2.0, "mrope_section": [8, 12, 12]},
    )  # fmt: skip
    assert len(layers_and_pairs(groups, "both").axes) == 3


def test_pixtral_takes_even_pairs_for_rows_and_no_axis_is_guessed(read):
    [pixtral] = read(model_type="pixtral")
    assert pixtral.table.axes[:4] == (0, 1, 0, 1)
    [short] = read(rope_scaling={"type": "default", "mrope_section": [8, 8, 8]})
    assert short.table.axes == ()


def test_a_model_that_does_not_rotate_is_an_answer(capsys, tmp_path):
    picture = tmp_path / "bert.png"
    path = str(CONFIGS / "bert-base.json")
    assert cli.main(["rope", path, "--picture", str(picture)]) == 0
    assert "all 12 layers: a learned vector for each position" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "keys, warning",
    [
        ({"rope_gain": 2}, "rope_gain is not understood here"),
        ({"rope_parameters": {"rope_theta": 1e4, "wobble": 3}}, "wobble is not understood here"),
        ({"model_type": "llama", "partial_rotary_factor": 0.5},
         "partial_rotary_factor is ignored: llama turns whole heads"),
        ({"model_type": "llama", "rope_scaling": {"type": "default", "llama_4_scaling_beta": 0.1}},
         "llama_4_scaling_beta is ignored: llama does not read it"),
        ({"model_type": "qwen2_vl_text", "rope_scaling": {"mrope_section": [8, 8, 8]}},
         "adds up to 24 pairs, and there are 32"),
    ],
)  # fmt: skip
def test_a_key_is_never_passed_over_in_silence(read, keys, warning):
    groups = read(**keys)
    assert any(warning in said for group in groups for said in group.warnings)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({"model_type": "llama", "num_hidden_layers": "8"}, "num_hidden_layers must be a whole"),
        ({"num_hidden_layers": 4, "layer_types": ["full_attention"]},
         "layer_types must have an entry for each of the 4 layers (num_hidden_layers), got 1"),
        ({"num_hidden_layers": 4, "no_rope_layers": 3}, "no_rope_layers must be a list or null"),
        ({"rope_scaling": {"mrope_section": "8"}}, "mrope_section must be a list of whole numbers"),
        ({"rope_theta": "left out", "model_type": "nobody"},
         "nothing in this config says where positions come from"),
    ],
)  # fmt: skip
def test_broken_layers_get_one_line_too(read, keys, message):
    with pytest.raises(CourseError) as raised:
        read(**keys)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_the_page_of_models_is_what_the_stored_classes_say():
    assert (ROOT / "docs" / "models.md").read_text(encoding="utf-8") == models.page()
    assert len(known.types()) > 790
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"transformers=={known.release()}" in pinned, "run python -m tools.census"
    for fact in (*known.ROTATES.values(), *known.REMARKS.values(), *known.AXES.values(),
                 *known.CAVEATS.values()):  # fmt: skip
        assert fact.source in {kind.source for kind in known.types().values()}


def test_llama_4_without_a_list_leaves_out_each_layer_of_its_interval(read):
    groups = read(model_type="llama4_text", num_hidden_layers=8, hidden_size=512,
                  num_attention_heads=8, head_dim=64, no_rope_layer_interval=2)  # fmt: skip
    assert [(g.layers, g.rotates) for g in groups] == [((0, 2, 4, 6), True), ((1, 3, 5, 7), False)]


@pytest.mark.parametrize("window, rotating", [(None, 4), (4096, 3)])
def test_exaone_4_rotates_in_all_layers_if_it_has_no_window(read, window, rotating):
    groups = read(model_type="exaone4", num_hidden_layers=4, hidden_size=512,
                  num_attention_heads=8, sliding_window=window)  # fmt: skip
    assert sum(len(group.layers) for group in groups if group.rotates) == rotating
