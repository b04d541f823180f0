"""Llama's architecture, as most released models have it, with the doors of a position scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from course_lib.encodings.scheme import PositionScheme
from course_lib.model.attention import View
from course_lib.model.decoder import Attention, Cache, Decoder, DecoderConfig


@dataclass(frozen=True)
class LlamaConfig(DecoderConfig):
    """Sizes of a released decoder, and `norm_epsilon`, which its norms add before they divide."""

    norm_epsilon: float = 1e-5


class LlamaBlock(nn.Module):
    """Attention, then a gated network, each added to what came in, with RMS norms before them."""

    def __init__(self, config: LlamaConfig, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.norm1, self.norm2 = (nn.RMSNorm(config.dim, config.norm_epsilon) for _ in range(2))
        self.gate = nn.Linear(config.dim, config.hidden_dim, bias=False)
        self.up = nn.Linear(config.dim, config.hidden_dim, bias=False)
        self.down = nn.Linear(config.hidden_dim, config.dim, bias=False)

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x), view, cache)
        y = self.norm2(x)
        out: Tensor = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return out


class Llama(Decoder):
    """A `Decoder` with RMS norms, gated networks without biases, and embeddings taken as they are.

    With `tied`, the embeddings are also what scores the next token. `windows` and `sinks` are those
    of `Decoder`.

    Source: Touvron et al. 2023, LLaMA, section 2.2 (arXiv 2302.13971); the gated network is
    SwiGLU, Shazeer 2020 (arXiv 2002.05202).
    """

    config: LlamaConfig

    def __init__(
        self, config: LlamaConfig, scheme: PositionScheme | Callable[[int], PositionScheme],
        tied: bool = True, windows: int | Callable[[int], int | None] | None = None,
        sinks: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(config, scheme, windows, sinks)
        if tied:
            self.to_scores.weight = self.embedding.weight

    @property
    def embedding_scale(self) -> float:
        return 1.0

    def _block(self, attention: Attention) -> nn.Module:
        return LlamaBlock(self.config, attention)

    def _norm(self) -> nn.Module:
        return nn.RMSNorm(self.config.dim, self.config.norm_epsilon)
