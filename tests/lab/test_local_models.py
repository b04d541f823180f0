"""A model on disk, written by transformers itself: read, run, and stretched."""

import json
import math
import warnings

import pytest
import torch

from course_lab.rope import local_models
from course_lab.rope.real_configs import MODELS
from course_lib.encodings import from_rope_parameters, rotary_frequencies, yarn
from course_lib.errors import CourseError

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiny-llama")
    local_models.write_tiny_llama(made, length=32)
    return made


def test_settings_give_the_frequencies_that_the_model_has(folder):
    own = local_models.only_table(folder)
    assert (own.head_dim, own.length, own.kind) == (16, 32, "default")
    theirs = local_models.load(folder).rotary.inv_freq.double()
    assert torch.allclose(own.frequencies, theirs, rtol=1e-5)


def test_older_configs_are_put_together(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    del config["rope_parameters"]
    config |= {"rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 2.0}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = local_models.only_table(tmp_path).frequencies
    assert torch.allclose(found, rotary_frequencies(16, 1e6) / 2)


def test_a_model_whose_layers_differ_is_refused(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {
        name: {"rope_type": "default", "rope_theta": base}
        for name, base in (("full_attention", 1e6), ("sliding_attention", 1e4))
    }
    config["model_type"] = "gemma3_text"  # Llama's class has one set of parameters for all layers
    config["layer_types"] = ["full_attention", "sliding_attention"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CourseError, match=r"share one rotary table \(full_attention: default"):
        local_models.only_table(tmp_path)


def test_stretching_is_what_transformers_does_from_the_config(folder, tmp_path):
    tokens, positions = torch.arange(48)[None] * 5 % 256, torch.arange(48)
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0,
                                 "original_max_position_embeddings": 32}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    weights = (folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights)
    plain, asked = local_models.load(folder), local_models.load(tmp_path)
    ours = local_models.stretched(plain, yarn(16, 10_000, 4.0, 32))
    with torch.no_grad():
        before, after = plain(tokens, positions), ours(tokens, positions)
        assert torch.allclose(after, asked(tokens, positions), atol=1e-5)
        assert not torch.allclose(after, before, atol=1e-5)
    assert plain.rotary.attention_scaling == 1  # the given model is left alone


def test_a_model_that_sets_its_own_frequencies_is_refused(folder):
    model = local_models.load(folder)
    model.rotary.rope_type = "dynamic"
    with pytest.raises(CourseError, match="'dynamic' sets its frequencies itself"):
        local_models.stretched(model, yarn(16, 10_000, 4.0, 32))


def test_the_report_reads_within_and_beyond_the_length(folder):
    text = torch.randint(256, (100,), dtype=torch.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = local_models.report(folder, text, factors=(1, 2, 4))
    assert "own to 1e-5: True" in lines[1]
    assert abs(float(lines[2].split()[2]) - 8) < 0.2 and "64 tokens: " in lines[3]
    assert abs(float(lines[3].split()[-1]) - 8) < 0.2 and "YaRN" in lines[3]
    assert lines[4] == "128 tokens: the text is too short"


def test_every_length_reads_the_same_tokens(folder, monkeypatch):
    text, read = torch.randint(256, (150,), dtype=torch.uint8), []
    forward = local_models.LocalModel.forward

    def seen(self, tokens, positions):
        assert torch.equal(positions, torch.arange(tokens.shape[1]))
        read.append(tokens[0])
        return forward(self, tokens, positions)

    monkeypatch.setattr(local_models.LocalModel, "forward", seen)
    local_models.report(folder, text, factors=(1, 4))
    assert [len(tokens) for tokens in read] == [32] * 4 + [128] * 2  # the last for YaRN
    assert torch.equal(torch.cat(read[:4]), text[:128].long())
    assert torch.equal(read[4], read[5]) and torch.equal(read[4], text[:128].long())


def test_bits_per_token_are_those_of_a_loop(folder):
    model, text = local_models.load(folder), torch.randint(256, (71,))
    paid = []
    for start in (0, 32):  # the last 6 fill no window
        with torch.no_grad():
            shares = model(text[None, start : start + 32], torch.arange(32))[0].softmax(dim=-1)
        paid += [-math.log2(shares[i, text[start + i + 1]].item()) for i in range(32)]
    found = local_models.bits_per_token(model, text, 32)
    assert math.isclose(found, sum(paid) / len(paid), rel_tol=1e-5)


def test_configs_of_the_lesson_are_read_as_transformers_reads_them():
    for name, model in MODELS.items():
        if model.layer_type is None and model.parameters.get("rope_type") != "default":
            error = local_models.difference_to_transformers(
                model.parameters, model.head_dim, model.length
            )
            assert error < 1e-5, name
        plain, scaled = model.plain(), model.scaled().frequencies
        assert ((plain / scaled) > 1 - 1e-9).all() and model.factor > 1
    gemma = MODELS["Gemma 3 4B full attention"].parameters
    assert len(from_rope_parameters(gemma, 256, layer_type="sliding_attention")[0]) == 128
