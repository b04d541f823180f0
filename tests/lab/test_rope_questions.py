"""`course rope --for`: ten questions of people who serve a model, asked of each shipped config."""

import json
import re
from pathlib import Path

import pytest

from course_lab.rope import CONFIGS
from course_lab.rope.advice import advice
from course_lab.rope.config import reading
from course_lab.rope.engines import CHECKED, ENGINES, checked, named
from course_lab.rope.plan import Works, plan
from course_lab.rope.summary import summary
from tools.serving.page import RECORD

SHIPPED = sorted(path.stem for path in CONFIGS.glob("*.json"))


def of(name):
    return reading(CONFIGS / f"{name}.json")


def said_of(name, length=100_000, engine=None):
    return "\n".join(advice(of(name), length, engine))


@pytest.mark.parametrize("name", SHIPPED)
def test_each_config_s_lines_say_whether_it_is_stretched_by_what_and_for_which_length(name):
    read = of(name)
    said = "\n".join(line.words for line in summary(read))
    assert len(said.splitlines()) <= 12
    assert "not stretched" in said or re.search(r"stretched by .+ factor \d", said)
    assert re.search(r"made for [\d ]+ tokens", said) or "the length is not in the config" in said
    before = "before the stretch: " in said or "no other length is named" in said
    assert before == any(group.table for group in read.groups)
    for group in read.groups:
        assert (group.kind == "none") <= ("no positions" in said)
    if any(group.table and group.table.is_slowed for group in read.groups):
        assert re.search(r"pairs (kept: .*)?slowed by \d+: \d", said)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_config_s_advice_answers_what_to_do_and_what_it_costs(name):
    made, said = plan(of(name), 100_000), said_of(name)
    assert said.startswith("works for 100 000 tokens: ")
    nothing = made.works is Works.YES
    assert ("nothing to write" in said) == nothing
    assert ("if nothing is done: " in said) == (not nothing)
    if made.works is not Works.NO:
        for engine in ("vllm", "sglang", "llama.cpp"):
            assert named(engine) in said
    for lines in (said, *(said_of(name, 100_000, engine) for engine in ENGINES)):
        for word in ("price", "gain"):
            assert len(re.findall(rf"^{word}\b", lines, re.MULTILINE)) == 1
    further = ("beyond ", "do not stretch a model whose texts fit", "however long", "no entry of",
               "nothing to stretch")  # fmt: skip
    assert any(words in said for words in further)


def test_the_versions_are_those_that_were_run_and_pinned():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    constraints = (Path(__file__).parents[2] / "constraints.txt").read_text()
    assert record["versions"] == {"vLLM": CHECKED["vllm"], "SGLang": CHECKED["sglang"]}
    assert CHECKED["llama.cpp"] == f"llama-cpp-python {record['llama.cpp']['version']}"
    assert f"transformers=={checked()['transformers']}\n" in constraints


def test_what_older_versions_take_is_said_where_a_stretch_is_written():
    said = said_of("qwen3-vl-8b", 500_000)
    old = (
        "transformers 4 (4.57.3) and engines that run on it read rope_scaling, not rope_parameters"
    )
    assert old in said and "older SGLang fails on text_config" in said
    assert (
        "llama.cpp before its pull request 28030 of August 2026 wants, too: --override-kv" in said
    )
    assert "older SGLang" not in said_of("llama-7b") and old in said_of("llama-7b")
    assert "older versions" not in said_of("mistral-7b")  # a limit alone is the same in all
    for engine in ("transformers", "vllm", "sglang"):
        assert said_of("qwen3-vl-8b", 500_000, engine).count(old) == 1
    assert old not in said_of("qwen3-vl-8b", 500_000, "llama.cpp")
    saved_by_5 = said_of("ministral-3-8b")
    assert "transformers 4 (4.57.3) does not read rope_parameters" in saved_by_5
    assert "does not read rope_parameters" not in said_of("deepseek-v3")


def test_windows_that_engines_leave_out_are_named_with_the_length_that_is_safe():
    for name, window in (("phi-3-mini-4k", "2 047"), ("mistral-7b", "4 096")):
        said = said_of(name)
        assert "does not apply this window" in said and f"within {window} tokens there" in said
        for engine, flag in (("llama.cpp", "--ctx-size"), ("sglang", "--context-length")):
            assert "does not apply this window" in said_of(name, 4_097, engine)
            assert flag not in said and flag not in said_of(name, 4_097, engine)
        assert "does not apply" not in said_of(name, 2_000)
        assert "does not apply" not in said_of(name, engine="vllm")
    assert "pull request 13676" in said_of("phi-3-mini-4k")
    for name in ("gemma-3-4b", "gpt-oss-20b", "command-r7b", "llama-4-scout"):
        assert "does not apply this window" not in said_of(name)


def test_qwen2_vl_s_level_is_said_in_the_file_and_in_the_options():
    head, *_ = summary(of("qwen2-vl-7b"))
    assert "qwen2_vl_text at the top of the file (no text_config in it)" in head.words
    assert "reads its keys at the top, and then keeps them under text_config)" in said_of(
        "qwen2-vl-7b"
    )
    assert "at the top of the file" not in summary(of("qwen3-vl-8b"))[0].words
    assert "then keeps them" not in said_of("qwen3-vl-8b", 500_000)


def test_columns_without_positions_and_llama_cpp_s_names_are_said():
    said = "\n".join(line.words for line in summary(of("gpt-neox-20b")))
    assert "(heads of 96, of which 24 columns turn and 72 have no position)" in said
    for name, key in (("gpt-neox-20b", "gptneox"), ("qwen3-vl-8b", "qwen3vl"),
                      ("deepseek-v3", "deepseek2")):  # fmt: skip
        assert f"--override-kv {key}.context_length=int:500000" in said_of(name, 500_000)


def test_gemma_3_s_larger_factor_concerns_the_global_layers_alone():
    said = said_of("gemma-3-4b", 262_144)
    sliding, full = (one for one in said.splitlines() if one.startswith("  layers"))
    assert "need none: a query sees 1 024 tokens" in sliding
    assert "A larger factor, in layers of full_attention alone, slows all pairs once more" in full


def test_a_model_that_engines_have_no_code_of_gets_no_options_for_them():
    said = said_of("t5-small")
    assert "vLLM and SGLang have no code for this model" in said and "--hf-overrides" not in said
    assert "vllm 0.33.0: no code for this model" in said_of("t5-small", 512, "vllm")
    for name in ("jamba-v0.1", "bloom-560m", "falcon-rw-1b"):
        said = said_of(name, 1 << 20)
        assert "sglang 0.5.23: no code for this model" in said and "--context-length" not in said
        assert "--max-model-len" in said
    assert "0.3.36): no code for this model" in said_of("gpt-j-6b", 2048)
    assert "--ctx-size" not in said_of("gpt-j-6b", 2048)
    assert "no entry of its config changes that in transformers and SGLang" in said_of("gpt-j-6b")
    assert "vLLM 0.33.0's gpt_j.py does, which was not tried here" in said_of("gpt-j-6b")


def test_transformers_says_of_its_classes_what_sglang_asks_them():
    """SGLang runs classes of transformers that it has not, if they take other attention."""
    transformers = pytest.importorskip("transformers")
    for name in ("JambaForCausalLM", "BloomForCausalLM", "FalconForCausalLM"):
        assert not getattr(transformers, name).is_backend_compatible()
    for name in ("SmolLM3ForCausalLM", "GPTNeoXForCausalLM"):
        assert getattr(transformers, name).is_backend_compatible()


def test_an_alibi_that_llama_cpp_rotates_gets_no_flags_and_a_falcon_that_rotates_has_them(tmp_path):
    said = said_of("falcon-rw-1b", 2048)
    assert "its code of falcon always rotates, and this model has ALiBi" in said
    assert "--ctx-size" not in said and "--ctx-size" not in said_of("falcon-rw-1b", 1 << 20)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "falcon", "alibi": False, "hidden_size": 4544,
                                "num_attention_heads": 71, "num_hidden_layers": 32,
                                "max_position_embeddings": 2048}))  # fmt: skip
    assert "--ctx-size 2000" in "\n".join(advice(reading(path), 2000))


def test_vllm_and_sglang_multiply_the_limit_by_the_factor_of_two_old_stretches(tmp_path):
    path = tmp_path / "config.json"
    for kind, times in (("linear", 4), ("dynamic", 4), ("llama3", 1)):
        block = {"rope_type": kind, "rope_theta": 1e4, "factor": 4.0}
        if kind == "llama3":
            block |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0,
                      "original_max_position_embeddings": 2048}  # fmt: skip
        path.write_text(json.dumps({
            "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
            "num_hidden_layers": 32, "max_position_embeddings": 2048 * 4 // times,
            "rope_parameters": block}))  # fmt: skip
        assert "vLLM and SGLang refuse more than 8 192 tokens" in "\n".join(
            advice(reading(path), 100_000))  # fmt: skip


def test_what_an_answer_is_about_stands_in_it():
    said = said_of("llama-4-scout")
    assert "yes; layers with a window need none: a query sees 8 192 tokens, however long" in said
    assert "layers 3, 7, ... 47 (12 of 48) have no positions" in said
    partly = "attention factor 1.069, the turned columns' part of scores times 1.143"
    assert partly in said_of("gpt-neox-20b", 4096)
    assert "; attention factor 1.139, scores times 1.296" in said_of("llama-7b", 8192)
    assert "by its config, only after a stretch" in said_of("code-llama-7b")


def test_a_longrope_of_its_own_has_a_price_and_a_gain_from_the_records(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32,
        "num_hidden_layers": 32, "max_position_embeddings": 16_384, "rope_theta": 1e4,
        "original_max_position_embeddings": 4096, "rope_scaling": {
            "type": "longrope", "short_factor": [1.0] * 48,
            "long_factor": [1.0 + n / 12 for n in range(48)]}}))  # fmt: skip
    said = "\n".join(advice(reading(path), 10_000))
    assert "price of its own stretch (longrope): not known of this model" in said
    assert "short texts: +0.11 to +0.13 bits per byte in three small models" in said
    assert "1.22 to 1.61 bits per byte less than unstretched" in said
    assert "llama.cpp take the long list for every text when started for more" in said
