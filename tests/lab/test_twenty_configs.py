"""`course rope` beside transformers' own classes, for configs as makers publish them.

They are reduced to the keys that concern positions, and written here from what is known of the
published files: a maker's file of today may differ in a number. What counts is that their keys are
read as the class reads them.
"""

import json

import pytest
import torch

from course_lab.rope import config as rope_config
from course_lab.rope import known

transformers = pytest.importorskip("transformers")
from tools import census  # noqa: E402

if transformers.__version__ != known.release():
    pytest.skip("models.json is of another transformers", allow_module_level=True)


def of(kind, hidden, heads, layers, length, **more):
    return {"model_type": kind, "hidden_size": hidden, "num_attention_heads": heads,
            "num_hidden_layers": layers, "max_position_embeddings": length, **more}  # fmt: skip


def longrope(pairs):
    lists = {f"{name}_factor": [1.0 + step * n for n in range(pairs)]
             for name, step in {"short": 0.01, "long": 0.5}.items()}  # fmt: skip
    return {"type": "longrope", **lists}


CONFIGS = {
    "Qwen2.5-7B": of("qwen2", 3584, 28, 28, 32_768, rope_theta=1e6, sliding_window=131_072,
                     use_sliding_window=False, max_window_layers=28),
    "Qwen3-8B": of("qwen3", 4096, 32, 36, 40_960, rope_theta=1e6, head_dim=128),
    "Mistral-Nemo": of("mistral", 5120, 32, 40, 131_072, rope_theta=1e6, head_dim=128,
                       sliding_window=None),
    "Mixtral-8x7B": of("mixtral", 4096, 32, 32, 32_768, rope_theta=1e6, sliding_window=None),
    "Phi-2": of("phi", 2560, 32, 32, 2048, rope_theta=1e4, partial_rotary_factor=0.4),
    "Phi-3-mini-128k": of("phi3", 3072, 32, 32, 131_072, rope_theta=1e4, sliding_window=262_144,
                          original_max_position_embeddings=4096, rope_scaling=longrope(48)),
    "Phi-4-mini": of("phi3", 3072, 24, 32, 131_072, rope_theta=1e4, partial_rotary_factor=0.75,
                     original_max_position_embeddings=4096, rope_scaling=longrope(48)),
    "Pythia-1.4B": of("gpt_neox", 2048, 16, 24, 2048, rotary_pct=0.25, rotary_emb_base=10_000),
    "GPT-NeoX, all columns": of("gpt_neox", 2048, 16, 24, 2048, rotary_pct=1.0),
    "StableLM-2-1.6B": of("stablelm", 2048, 32, 24, 4096, rope_theta=1e4,
                          partial_rotary_factor=0.25),
    "Gemma-2-9B": of("gemma2", 3584, 16, 42, 8192, head_dim=256, rope_theta=1e4,
                     sliding_window=4096),
    "OLMo-2-7B": of("olmo2", 4096, 32, 32, 4096, rope_theta=5e5),
    "Granite-3.1-8B": of("granite", 4096, 32, 40, 131_072, rope_theta=1e7),
    "Yi-34B-200K": of("llama", 7168, 56, 60, 200_000, rope_theta=5e6),
    "DeepSeek-Coder-6.7B": of("llama", 4096, 32, 32, 16_384, rope_theta=1e5,
                              rope_scaling={"type": "linear", "factor": 4.0}),
    "Llama-3.3-70B": of("llama", 8192, 64, 80, 131_072, rope_theta=5e5, rope_scaling={
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}),
    "Command-R": of("cohere", 8192, 64, 40, 131_072, rope_theta=8e6),
    "StarCoder2-7B": of("starcoder2", 4608, 36, 32, 16_384, rope_theta=1e6, sliding_window=4096),
    "GLM-4-9B": of("glm4", 4096, 32, 40, 32_768, rope_theta=1e4, head_dim=128,
                   partial_rotary_factor=0.5),
    "GLM-4.5-Air": of("glm4_moe", 4096, 96, 46, 131_072, rope_theta=1e6, head_dim=128,
                      partial_rotary_factor=0.5),
    "Falcon-7B": of("falcon", 4544, 71, 32, 2048, alibi=False, rope_theta=1e4),
    "ModernBERT-base": of("modernbert", 768, 12, 22, 8192, global_attn_every_n_layers=3,
                          global_rope_theta=160_000.0, local_attention=128,
                          local_rope_theta=10_000.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_a_published_config_is_read_as_its_class_reads_it(name, tmp_path):
    given = CONFIGS[name]
    (path := tmp_path / "config.json").write_text(json.dumps(given))
    groups = rope_config.read(path)
    theirs = transformers.AutoConfig.for_model(**given)
    checked = 0
    for rotary in census.built(theirs).rotary.values():
        for layer_type, frequencies in census.tables(rotary).items():
            if "longrope" in str(given):  # the list for long texts comes at the whole length
                ask = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["longrope"]
                frequencies, _ = ask(theirs, seq_len=given["max_position_embeddings"])
            ours = [one for one in groups if one.rotates and layer_type in ("", one.name)]
            assert ours, layer_type
            for one in ours:
                torch.testing.assert_close(
                    one.frequencies.float(), frequencies.float(), rtol=1e-5, atol=1e-12
                )
                factor = census.attention_factor(rotary, layer_type)
                assert one.attention_factor == pytest.approx(factor)
            checked += 1
    assert checked
    names = {layer: one.name for one in groups for layer in one.layers}
    windows = {layer: one.window for one in groups for layer in one.layers}
    assert len(names) == given["num_hidden_layers"]
    if types := getattr(theirs, "layer_types", None):
        narrow = [one != "full_attention" for one in types]
        assert [windows[layer] is not None for layer in sorted(windows)] == narrow
    elif theirs.sliding_window if hasattr(theirs, "sliding_window") else None:
        assert {*windows.values()} == {theirs.sliding_window}
