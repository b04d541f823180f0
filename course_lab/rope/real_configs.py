"""The RoPE of published models: `rope_parameters` from their config.json, before and after.

Older configs have `rope_theta` beside `rope_scaling`; here it stands inside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from course_lib.encodings import ScaledFrequencies, from_rope_parameters, rotary_frequencies


class RealModel(NamedTuple):
    """A model that was trained at one length and then stretched to a longer one."""

    parameters: dict[str, Any]
    head_dim: int
    original_length: int
    """Tokens of context before it was stretched."""
    length: int
    """Tokens of context afterwards."""
    base: float
    """Before it was stretched."""
    layer_type: str | None = None

    @property
    def factor(self) -> float:
        """The factor in the config; without one, how many times longer the texts became."""
        parameters = self.parameters.get(self.layer_type or "", self.parameters)
        factor: float = parameters.get("factor", self.length / self.original_length)
        return factor

    def plain(self) -> Tensor:
        """The frequencies before it was stretched."""
        return rotary_frequencies(self.head_dim, self.base)

    def scaled(self) -> ScaledFrequencies:
        """The frequencies that the config gives."""
        found = from_rope_parameters(self.parameters, self.head_dim, layer_type=self.layer_type)
        return ScaledFrequencies(found.frequencies, found.attention_factor)


def _llama3(factor: float) -> dict[str, Any]:
    return {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": factor,
            "original_max_position_embeddings": 8192, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0}  # fmt: skip


MODELS = {
    "Llama 3.1 8B": RealModel(_llama3(8.0), 128, 8192, 131_072, 500_000.0),
    "Llama 3.2 1B": RealModel(_llama3(32.0), 64, 8192, 131_072, 500_000.0),
    "Qwen2.5 7B at 128k": RealModel(
        {"type": "yarn", "rope_theta": 1_000_000.0, "factor": 4.0,
         "original_max_position_embeddings": 32_768},
        128, 32_768, 131_072, 1_000_000.0,
    ),
    "DeepSeek-V3": RealModel(
        {"type": "yarn", "rope_theta": 10_000, "factor": 40, "beta_fast": 32, "beta_slow": 1,
         "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096},
        64, 4096, 163_840, 10_000.0,
    ),
    "gpt-oss 20B": RealModel(
        {"rope_type": "yarn", "rope_theta": 150_000, "factor": 32.0, "beta_fast": 32.0,
         "beta_slow": 1.0, "truncate": False, "original_max_position_embeddings": 4096},
        64, 4096, 131_072, 150_000.0,
    ),
    "Gemma 3 4B full attention": RealModel(
        {"full_attention": {"rope_type": "linear", "rope_theta": 1_000_000.0, "factor": 8.0},
         "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0}},
        256, 32_768, 131_072, 1_000_000.0, "full_attention",
    ),
    "Code Llama 7B": RealModel(
        {"rope_type": "default", "rope_theta": 1_000_000.0}, 128, 4096, 16_384, 10_000.0
    ),
}  # fmt: skip
