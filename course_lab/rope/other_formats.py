"""Settings in other programs' formats, as a config.json of transformers would say them.

`params.json` of Mistral and of Meta, LitGPT's model_config.yaml, and what NeMo and Megatron write.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

SAME = {
    "n_layers": "num_hidden_layers", "num_layers": "num_hidden_layers", "n_layer":
    "num_hidden_layers", "dim": "hidden_size", "n_embd": "hidden_size", "n_heads":
    "num_attention_heads", "n_head": "num_attention_heads", "head_size": "head_dim", "kv_channels":
    "head_dim", "block_size": "max_position_embeddings", "encoder_seq_length":
    "max_position_embeddings", "max_seq_len": "max_position_embeddings", "max_seq_length":
    "max_position_embeddings", "rope_base": "rope_theta", "rotary_base": "rope_theta",
    "rotary_percentage": "partial_rotary_factor", "rotary_percent": "partial_rotary_factor",
}  # fmt: skip
"""Their names for numbers, and ours."""
OF_YARN = {"beta": "beta_fast", "alpha": "beta_slow", "factor": "factor",
           "original_max_position_embeddings": "original_max_position_embeddings"}  # fmt: skip
OF_LITGPT = {"factor": "factor", "low_freq_factor": "low_freq_factor", "high_freq_factor":
             "high_freq_factor", "original_max_seq_len":
             "original_max_position_embeddings"}  # fmt: skip
META = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}  # fmt: skip
"""What Meta's code does where `use_scaled_rope` is true."""
INSIDE = ("model", "model_config", "llm", "transformer")
"""Where trainers keep the settings of the model in a file with others."""
SIGNS = {"hidden_size", "dim", "n_embd", "num_attention_heads", "rope_theta", "rotary_base",
         "rope_scaling", "rope_parameters"}  # fmt: skip


def as_config(
    path: Path, found: dict[str, Any], known: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The settings by transformers' names, and what was done; a known model type stays as it is."""
    if not SIGNS & found.keys():
        for key in INSIDE:
            inner = found.get(key)
            if isinstance(inner, dict) and SIGNS & inner.keys() and "model_type" not in found:
                config, how = as_config(path, inner, known)
                return config, [f"read from {key} in the file", *how]
    kind = found.get("model_type")
    if (
        (isinstance(kind, str) and kind in known)
        or "vision_config" in found
        or "text_config" in found
    ):
        return found, []
    config, how = dict(found), []
    renamed = [key for key in SAME if key in config and SAME[key] not in config]
    for key in renamed:
        config[SAME[key]] = config.pop(key)
    if renamed and path.name == "params.json":
        how.append("params.json, by the names of its makers")
    of_mistral = {"dim", "n_layers"} <= found.keys()
    for key, read in (("yarn", _of_mistral), ("rope_adjustments", _of_litgpt)):
        if (key != "yarn" or of_mistral) and (inner := config.pop(key, None)):
            if not isinstance(inner, dict):
                raise CourseError(
                    f"{path}: {key} must be an object of keys and values or null, got {inner!r:.40}"
                )
            config["rope_scaling"] = read(inner)
            how.append(f"{key} in the file is read as rope_scaling")
    if config.pop("use_scaled_rope", None) is True and "rope_scaling" not in config:
        factor = config.pop("rope_scaling_factor", META["factor"])
        config["rope_scaling"] = META | {"factor": factor}
        how.append("use_scaled_rope is read as Llama 3's rule from 8 192 tokens, as in Meta's code")
    beta = config.get("llama_4_scaling")
    if of_mistral and isinstance(beta, dict) and "beta" in beta:
        scaling = config.get("rope_scaling") or {"rope_type": "default"}
        config["rope_scaling"] = scaling | {"llama_4_scaling_beta": beta["beta"]}
        del config["llama_4_scaling"]
    return config, how


def _of_mistral(yarn: Mapping[str, Any]) -> dict[str, Any]:
    """As vLLM 0.33.0 reads it: `apply_scale: false` means an attention factor of 1."""
    found = {OF_YARN[key]: value for key, value in yarn.items() if key in OF_YARN}
    if yarn.get("apply_scale") is False:
        found["attention_factor"] = 1.0
    return {"rope_type": "yarn", **found}


def _of_litgpt(adjusted: Mapping[str, Any]) -> dict[str, Any]:
    found = {OF_LITGPT[key]: value for key, value in adjusted.items() if key in OF_LITGPT}
    kind = "llama3" if "low_freq_factor" in found else "linear"
    return {"rope_type": kind, **found}
