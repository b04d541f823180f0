"""`course rope`: the files that people have in hand."""

import io
import json
import shutil
import struct
import sys
from pathlib import Path

import pytest
import torch

from course_grading import cli
from course_lab.rope import CONFIGS, read
from course_lab.rope.config import reading
from course_lab.rope.gguf import metadata as metadata_of
from course_lib.encodings import llama3, rotary_frequencies, yarn
from course_lib.errors import CourseError

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
         "num_hidden_layers": 32, "max_position_embeddings": 2048, "rope_theta": 1e4}  # fmt: skip
MISTRAL = {"dim": 4096, "n_layers": 34, "head_dim": 128, "n_heads": 32, "rope_theta": 1e6,
           "max_position_embeddings": 262_144,
           "yarn": {"factor": 16.0, "original_max_position_embeddings": 16_384, "beta": 32,
                    "alpha": 1, "apply_scale": False},
           "llama_4_scaling": {"original_max_position_embeddings": 16_384,
                               "beta": 0.1}}  # fmt: skip
META = {"dim": 4096, "n_layers": 32, "n_heads": 32, "rope_theta": 5e5, "use_scaled_rope": True}
LITGPT = """
name: Llama-3.1-8B
n_layer: 32
n_head: 32
n_embd: 4096
block_size: 131072
rope_base: 500000
rope_adjustments: {factor: 8.0, low_freq_factor: 1.0, high_freq_factor: 4.0,
                   original_max_seq_len: 8192}
"""
NEMO = """
trainer: {devices: 8}
model:  # of NeMo
  hidden_size: 4096
  num_attention_heads: 32
  num_layers: 32
  encoder_seq_length: 4096
  rotary_percentage: 0.5
  rotary_base: 10000
"""


@pytest.fixture
def wrote(tmp_path):
    def wrote(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return wrote


def refused(path):
    with pytest.raises(CourseError) as raised:
        read(path)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_mistrals_params_are_those_of_its_config(wrote):
    path = wrote("m/params.json", json.dumps(MISTRAL))
    [ours] = read(path.parent)
    [theirs] = read(CONFIGS / "ministral-3-8b.json")
    assert torch.equal(ours.frequencies, theirs.frequencies)
    assert ours.attention_factor == theirs.attention_factor == 1
    assert ours.table.temperature == theirs.table.temperature and not ours.warnings
    assert reading(path.parent).name == "m"


def test_metas_params_and_litgpts_yaml_are_llama_3s_rule(wrote):
    expected = llama3(rotary_frequencies(128, 5e5), 8.0, 8192).frequencies
    for path in (wrote("params.json", json.dumps(META)), wrote("model_config.yaml", LITGPT)):
        [group] = read(path)
        assert (
            torch.allclose(group.frequencies, expected, rtol=1e-12, atol=0) and not group.warnings
        )


def test_nemos_settings_stand_inside_of_model(wrote):
    [group] = read(wrote("nemo.yaml", NEMO))
    assert len(group.frequencies) == 32 and group.head_dim == 128 and not group.warnings


@pytest.mark.parametrize("extra", ["// a comment\n", "/* one */", "\ufeff"])
def test_comments_and_trailing_commas_are_read(extra, wrote):
    text = json.dumps(LLAMA)
    [group] = read(wrote("c.json", extra + text[:-1] + ("}" if extra == "\ufeff" else ",}")))
    assert group.base == 1e4


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(LLAMA)))
    assert cli.main(["rope", "-"]) == 0
    assert capsys.readouterr().out.startswith("standard input: llama, 32 layers")


def test_an_index_and_weights_mean_the_config_beside_them(wrote):
    index = wrote("model.safetensors.index.json", '{"weight_map": {}}')
    assert "give the config.json that belongs beside it" in refused(index)
    wrote("config.json", json.dumps(LLAMA))
    assert read(index)[0].base == 1e4
    assert read(wrote("model-00001-of-00002.safetensors", b"\0" * 9))[0].base == 1e4


def test_an_adapter_and_a_trainer_name_their_model(wrote, tmp_path):
    lora = wrote("lora/adapter_config.json", '{"base_model_name_or_path": "meta/Llama"}')
    for path in (lora, lora.parent):
        assert "an adapter of 'meta/Llama': give the config.json of that model" in refused(path)
    assert "a trainer's file for 'a/b'" in refused(wrote("axolotl.yaml", "base_model: a/b\n"))
    base = wrote("base/config.json", json.dumps(LLAMA)).parent
    lora = wrote("lora/adapter_config.json", json.dumps({"base_model_name_or_path": str(base)}))
    assert f"course rope {base} reads it" in refused(lora)


@pytest.mark.parametrize(
    "content, words",
    [(b'{"a": [1,,2}', "is not JSON"), (b"\xff\xfe\x00", "is no text"), (b"", "is not JSON"),
     (b"- 1\n- 2\n", "is not JSON"), (b"GGUF\3\0\0\0\xff\xff", "is a damaged GGUF file"),
     (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "is a damaged GGUF file"),
     (b"[" * 100_000, "is not JSON"), (b"a: " * 1000, "is not JSON")],
)  # fmt: skip
def test_what_cannot_be_read_says_so_in_one_line(content, words, wrote):
    path = wrote("file.json", content)
    said = refused(path)
    assert words in said and str(path) in said and "config.json" in said


def gguf(kind, tensors=(), **keys):
    """A GGUF file with metadata and names of tensors, and no weights."""

    def string(text):
        return struct.pack("<Q", len(text)) + text.encode()

    def value(one):
        if isinstance(one, str):
            return struct.pack("<I", 8) + string(one)
        if isinstance(one, list):
            return struct.pack("<IIQ", 9, 5, len(one)) + struct.pack(f"<{len(one)}i", *one)
        if isinstance(one, float):
            return struct.pack("<If", 6, one)
        return struct.pack("<II", 4, one)

    keys = {"general.architecture": kind, "tokenizer.ggml.token_type": [1] * 1000,
            **{f"{kind}.{key}": one for key, one in keys.items()}}  # fmt: skip
    body = struct.pack("<IQQ", 3, len(tensors), len(keys))
    body += b"".join(string(key) + value(one) for key, one in keys.items())
    for name in tensors:
        body += string(name) + struct.pack("<IQIQ", 1, 32, 0, 0)
    return b"GGUF" + body


SIZES = {"block_count": 4, "embedding_length": 512, "attention.head_count": 8,
         "context_length": 8192, "rope.freq_base": 1e5, "rope.dimension_count": 64}  # fmt: skip


def test_the_metadata_of_a_gguf_file_are_a_config(wrote):
    path = wrote("x/model.gguf", gguf("llama", **SIZES))
    for given in (path, path.parent):
        [group] = read(given)
        assert torch.allclose(group.frequencies, rotary_frequencies(64, 1e5), rtol=1e-12, atol=0)
        assert group.table.length == 8192 and group.total == 4 and not group.warnings
    stretched = SIZES | {"context_length": 32_768, "rope.scaling.type": "yarn",
                         "rope.scaling.factor": 4.0,
                         "rope.scaling.original_context_length": 8192}  # fmt: skip
    [group] = read(wrote("y.gguf", gguf("llama", **stretched)))
    torch.testing.assert_close(group.frequencies, yarn(64, 1e5, 4.0, 8192).frequencies)


def test_what_a_gguf_file_does_not_say_is_warned_of(wrote):
    path = wrote("m.gguf", gguf("llama", ["rope_freqs.weight"], **SIZES))
    [warning] = read(path)[0].warnings
    assert "stand in a tensor, rope_freqs.weight" in warning
    path = wrote("g.gguf", gguf("gemma3", **SIZES, **{"attention.sliding_window": 512}))
    [warning] = read(path)[0].warnings
    assert "stands in llama.cpp's code of gemma3" in warning
    assert read(wrote("b.gguf", gguf("gpt2", **SIZES)))[0].kind == "learned table"


def test_the_readers_of_json5_and_yaml_may_be_missing(wrote, monkeypatch):
    for name, content in (("json5", "{'a': 1}"), ("yaml", "a: 1")):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, name, None)
            assert "pip install" in refused(wrote("config.json", content))


def test_no_weights_are_read(wrote, tmp_path):
    path = wrote("m.gguf", gguf("llama", **SIZES))
    long = tmp_path / "long.gguf"
    shutil.copy(path, long)
    with long.open("r+b") as file:
        file.truncate(1 << 40)  # a hole of a terabyte
    assert read(Path(long))[0].base == 1e5


def test_the_metadata_are_those_that_the_package_reads(tmp_path):
    package = pytest.importorskip("gguf")
    writer = package.GGUFWriter(path := tmp_path / "m.gguf", "qwen2")
    for key, value in {
        "block_count": 24,
        "context_length": 32_768,
        "embedding_length": 896,
    }.items():
        writer.add_uint32(f"qwen2.{key}", value)
    writer.add_uint32("qwen2.attention.head_count", 14)
    writer.add_float32("qwen2.rope.freq_base", 1e6)
    writer.add_array("tokenizer.ggml.tokens", [f"token {n}" for n in range(600)])
    writer.add_array("qwen2.rope.dimension_sections", [16, 24, 24, 0])
    writer.add_tensor("rope_freqs.weight", torch.ones(32).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    theirs = {name: field.contents() for name, field in package.GGUFReader(path).fields.items()
              if name.startswith("qwen2.")}  # fmt: skip
    with path.open("rb") as file:
        ours, tensors = metadata_of(file)
    assert {name: ours[name] for name in theirs} == theirs and len(theirs) == 6
    assert tensors == {"rope_freqs.weight"} and ours["tokenizer.ggml.tokens"] is None
