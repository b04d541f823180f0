"""The command `course rope`: what it prints, for people and for programs."""

import json
import os
import pty
import subprocess
import sys

import pytest
import torch

from course_grading import cli
from course_lab.rope import CONFIGS, read
from course_lab.rope.command import COLOURS
from course_lab.rope.config import reading
from course_lab.rope.document import document
from course_lab.rope.remedies import remedy
from course_lab.rope.summary import MOST, summary

SHIPPED = sorted(CONFIGS.glob("*.json"))
BROKEN = {
    "model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2,
    "max_position_embeddings": 4096, "rope_theta": 1e4, "factor": 4.0, "rotary_dim": 3,
    "partial_rotary_factor": 0.5, "mrope_section": [8, 8, 16],
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e6, "beta": 3},
}  # fmt: skip


@pytest.fixture
def config(tmp_path):
    def config(name="model", **keys):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps(keys))
        return tmp_path / name

    return config


def said(capsys, *call):
    assert cli.main(["rope", *map(str, call)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_published_config_takes_twelve_lines_at_most(path, capsys):
    printed = said(capsys, path)
    assert len(printed.splitlines()) <= MOST
    assert printed.startswith(f"{path.stem}: ")
    last = "; what is unusual is no fault" if "\nunusual: " in printed else ""
    assert printed.endswith(f"\nconfig: no warnings{last}\n")


def test_a_config_full_of_faults_takes_twelve_lines_too_and_each_has_its_remedy(config, capsys):
    path = config(**BROKEN)
    lines = said(capsys, path).splitlines()
    assert len(lines) <= MOST and "more warnings: --pairs and --json have all" in lines[-1]
    warned = [n for n, line in enumerate(lines) if line.startswith("warning: ")]
    assert len(warned) >= 2 and all(lines[n + 1].startswith("  remedy: ") for n in warned)
    whole = said(capsys, path, "--pairs")
    found = json.loads(said(capsys, path, "--json"))["warnings"]
    assert len(found) == len(warned) + int(lines[-1].split()[1])
    for one in found:
        assert one["remedy"] and one["warning"] in whole and one["remedy"] in whole


def test_what_a_practitioner_asks_first_stands_in_the_lines(capsys):
    printed = said(capsys, CONFIGS / "qwen2.5-7b-128k.json")
    for words in ("all 28 layers: rotated, base 1 000 000", "made for 131 072 tokens",
                  "(before the stretch: 32 768), stretched by YaRN (yarn), factor 4",
                  "pairs kept: 0 to 23; slowed in between: 24 to 39; slowed by 4: 40 to 63",
                  "attention factor 1.139, scores times 1.296"):  # fmt: skip
        assert words in printed
    printed = said(capsys, CONFIGS / "gpt-neox-20b.json")
    assert "heads of 96, of which 24 columns turn" in printed
    printed = said(capsys, CONFIGS / "gpt-oss-20b.json")
    assert "length, stretch and pairs as above" in printed


def test_two_bases_that_the_class_fills_in_stand_in_one_line_with_their_layers(capsys):
    printed = said(capsys, CONFIGS / "gemma-3-4b.json")
    assert printed.count("the base is not in the config") == 1
    assert (
        "unusual: the base is not in the config: 10000 (sliding_attention) and 1000000 "
        "(full_attention) are the defaults of gemma3_text's class in transformers "
        "(gemma3/configuration_gemma3.py)\n"
    ) in printed
    assert "10000 is the default of llama's class" in said(capsys, CONFIGS / "llama-7b.json")


def test_the_exit_status_says_whether_there_are_warnings_if_it_is_to(config, capsys):
    good = str(CONFIGS / "llama-7b.json")
    bad = str(config(**BROKEN))
    assert cli.main(["rope", good, "--strict"]) == 0
    assert cli.main(["rope", bad]) == 0
    assert cli.main(["rope", bad, "--strict"]) == 1
    assert cli.main(["rope", bad, "--strict", "--json"]) == 1
    assert cli.main(["rope", good, bad, "--strict"]) == 1
    assert cli.main(["rope", "nowhere", "--strict"]) == 2
    assert cli.main(["rope", good, good, good]) == 2
    assert "give one config, or two to compare, not 3" in capsys.readouterr().err


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_programs_get_what_read_gives(path, capsys):
    found = json.loads(said(capsys, path, "--json"))
    assert found["course_rope"] == 1 and found["warnings"] == []
    groups = read(path)
    assert found == json.loads(json.dumps(document(reading(path))))
    for ours, group in zip(found["groups"], groups, strict=True):
        for key in ("total", "name", "kind", "words", "lesson", "window"):
            assert ours[key] == getattr(group, key)
        assert ours["layers"] == list(group.layers) and ours["notes"] == list(group.notes)
        if group.table is None:
            assert ours["table"] is None
            continue
        for key in ("kind", "base", "head_dim", "length", "original_length", "attention_factor"):
            assert ours["table"][key] == getattr(group.table, key)
        frequencies = torch.tensor(ours["table"]["frequencies"], dtype=torch.float64)
        assert torch.equal(frequencies, group.frequencies)


def test_an_option_that_does_not_exist_is_said_with_those_of_the_command(capsys):
    for command, wrong in (("rope x", "--length 9"), ("measure zoo", "--fast")):
        with pytest.raises(SystemExit) as ended:
            cli.main([*command.split(), *wrong.split()])
        said = capsys.readouterr().err
        assert ended.value.code == 2 and f"there is no {wrong} here" in said
        assert said.startswith(f"usage: course {command.removesuffix(' x')} [-h] ")


def test_a_warning_about_a_stretch_counts_as_one_of_the_config_does(capsys):
    call = ["rope", str(CONFIGS / "llama-7b.json"), "--strict", "--for"]
    for length, warned in (("16384", 0), ("100000", 1)):
        assert cli.main([*call, length]) == warned
        printed = capsys.readouterr().out
        assert "config: no warnings" in printed and ("\nwarning: 49 is far" in printed) == warned
        assert cli.main([*call, length, "--json"]) == warned
        found = json.loads(capsys.readouterr().out)
        assert not found["warnings"] and len(found["advice"]["warnings"]) == warned


def test_programs_get_the_advice_and_the_differences(capsys):
    one, other = CONFIGS / "qwen3-vl-8b.json", CONFIGS / "qwen2-vl-7b.json"
    advised = json.loads(said(capsys, one, "--json", "--for", "500000"))["advice"]
    assert advised["remove"] == ["rope_scaling"] and advised["checked"]["vllm"] == "0.33.0"
    assert any("read rope_scaling, not rope_parameters" in line for line in advised["older"])
    assert advised["entries"]["text_config"]["max_position_embeddings"] == 524_288
    assert set(advised["commands"]) == {"vllm", "sglang", "llama.cpp"}
    nothing = json.loads(said(capsys, one, "--json", "--for", "500"))["advice"]
    assert nothing["entries"] is None and nothing["works"] == "yes"
    assert advised["works"] == "after a stretch"
    both = json.loads(said(capsys, one, other, "--json"))
    assert both["other"]["name"] == "qwen2-vl-7b"
    assert "pairs by axis: 24 + 20 + 20 and 16 + 24 + 24" in both["differences"]


def test_two_configs_are_compared(config, capsys):
    llama, other = CONFIGS / "llama-3.1-8b.json", CONFIGS / "llama-7b.json"
    printed = said(capsys, llama, other)
    for words in ("base: 500 000 and 10 000", "stretch: llama3 by 8 and default",
                  "before the stretch: 8 192 and 2 048",
                  "63 of 64 pairs turn at another"):  # fmt: skip
        assert words in printed
    assert said(capsys, llama, llama) == "llama-3.1-8b and llama-3.1-8b: no difference\n"
    gemma, bert = CONFIGS / "gemma-3-4b.json", CONFIGS / "bert-base.json"
    printed = said(capsys, gemma, bert)
    assert "only bert-base has all 12 layers: a learned vector for each position" in printed
    assert "only gemma-3-4b has layers 5, 11, ... 29 (5 of 34): queries and keys" in printed
    plain = {key: value for key, value in BROKEN.items() if key in (
        "model_type", "hidden_size", "num_attention_heads", "num_hidden_layers",
        "max_position_embeddings", "rope_theta")}  # fmt: skip
    printed = said(capsys, config("a", **plain), config("b", **plain, rope_interleave=True))
    assert printed == "a and b: no difference\n"


def test_layers_are_paired_by_what_they_do_and_not_by_their_name_alone(capsys):
    """Scout's rotated layers are the chunked ones; Nemotron's experts are no attention."""
    printed = said(capsys, CONFIGS / "smollm3-3b.json", CONFIGS / "llama-4-scout.json")
    both = "rotated layers (full_attention and chunked_attention)"
    assert f"  {both}, base: 5 000 000 and 500 000\n" in printed
    assert "\n  full_attention" not in printed and "only " not in printed
    printed = said(capsys, CONFIGS / "nemotron-3-nano.json", CONFIGS / "jamba-v0.1.json")
    assert printed.count("only ") == 1
    assert "only nemotron-3-nano has layers 1, 3, 6, 8," in printed
    assert "(23 of 52): no attention, experts alone\n" in printed
    printed = said(capsys, CONFIGS / "gemma-3-4b.json", CONFIGS / "llama-7b.json")
    assert "rotated layers (full_attention and all), base: 1 000 000 and 10 000" in printed
    assert "only gemma-3-4b has layers 0 to 4, 6 to 10" in printed


def what_came(terminal):
    """The next bytes of a terminal, and none at its end, which Linux calls an error."""
    try:
        return terminal.read(100_000)
    except OSError:
        return b""


def test_colours_are_for_terminals_alone(config, capsys, monkeypatch):
    path = str(config(**BROKEN))
    assert "\033" not in said(capsys, path)
    for no_colour in (None, "1"):
        if no_colour:
            monkeypatch.setenv("NO_COLOR", no_colour)
        ours, theirs = pty.openpty()
        with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patched:
            patched.setattr("sys.stdout", terminal)
            cli.main(["rope", path])
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            printed = "".join(part.decode() for part in iter(lambda: what_came(terminal), b""))
        assert (COLOURS["warning"] in printed) == (no_colour is None)


def test_a_reader_that_has_read_enough_is_no_error():
    call = [sys.executable, "-m", "course_grading.cli", "rope", str(CONFIGS / "llama-7b.json")]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.stderr == "" and done.returncode == 141


def test_a_warning_without_a_remedy_is_none_that_is_known():
    assert remedy("something else") == ""
    assert not [line for path in SHIPPED for line in summary(reading(path)) if "remedy" in line]


def test_the_help_has_three_examples(capsys):
    with pytest.raises(SystemExit):
        cli.main(["rope", "--help"])
    assert capsys.readouterr().out.count("\n  course rope path/to/model") == 3
