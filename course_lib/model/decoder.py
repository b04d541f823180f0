"""A small transformer that any position scheme plugs into."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from course_lib.encodings.scheme import PositionScheme
from course_lib.model.attention import attend


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes of a decoder. With `causal` False it is an encoder: every token sees every other."""

    vocab_size: int = 256
    dim: int = 128
    num_layers: int = 4
    num_heads: int = 4
    hidden_dim: int = 512
    causal: bool = True

    def __post_init__(self) -> None:
        if self.dim % self.num_heads:
            raise ValueError(
                f"dim {self.dim} does not divide into {self.num_heads} heads: "
                "make it a multiple of num_heads"
            )


class Attention(nn.Module):
    """Multi-head attention whose positions come in through the doors of `scheme`."""

    def __init__(self, config: DecoderConfig, scheme: PositionScheme) -> None:
        super().__init__()
        self.num_heads, self.causal, self.scheme = config.num_heads, config.causal, scheme
        self.to_qkv = nn.Linear(config.dim, 3 * config.dim, bias=False)
        self.to_out = nn.Linear(config.dim, config.dim, bias=False)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (
            t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        read = attend(q, k, v, self.scheme, positions, positions, self.causal, mask)
        return self.to_out(read.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """Attention, then a network of two layers, each added to what came in (pre-norm)."""

    def __init__(self, config: DecoderConfig, scheme: PositionScheme) -> None:
        super().__init__()
        self.attention = Attention(config, scheme)
        self.norm1, self.norm2 = nn.LayerNorm(config.dim), nn.LayerNorm(config.dim)
        self.up = nn.Linear(config.dim, config.hidden_dim)
        self.down = nn.Linear(config.hidden_dim, config.dim)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        x = x + self.attention(self.norm1(x), positions, mask)
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    """Token embeddings, blocks, and a score for every token of the vocabulary.

    `scheme` serves all layers, or is a function from layer number to scheme; only the first
    layer's scheme sees the embeddings. Embeddings start with standard deviation 1 / sqrt(dim) and
    are multiplied by sqrt(dim), as in Vaswani et al. 2017: what a scheme adds meets numbers of
    size 1.
    """

    def __init__(
        self, config: DecoderConfig, scheme: PositionScheme | Callable[[int], PositionScheme]
    ) -> None:
        super().__init__()
        self.config = config
        schemes = [
            scheme if isinstance(scheme, PositionScheme) else scheme(layer)
            for layer in range(config.num_layers)
        ]
        self.first_scheme = schemes[0]
        self.embedding = nn.Embedding(config.vocab_size, config.dim)
        self.blocks = nn.ModuleList(Block(config, each) for each in schemes)
        self.norm = nn.LayerNorm(config.dim)
        self.to_scores = nn.Linear(config.dim, config.vocab_size, bias=False)
        nn.init.normal_(self.embedding.weight, std=1 / math.sqrt(config.dim))

    def forward(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "*batch length"],
        mask: Bool[Tensor, "*batch_heads length length"] | None = None,
    ) -> Float[Tensor, "batch length vocab"]:
        """Scores for the token at every place; `mask` as in `attend`."""
        if positions.shape not in {tokens.shape, tokens.shape[1:]}:
            raise ValueError(
                f"positions must have shape (length,) or (batch, length), here "
                f"({tokens.shape[1]},) or {tuple(tokens.shape)}, got {tuple(positions.shape)}"
            )
        x = self.embedding(tokens) * math.sqrt(self.config.dim)
        x = self.first_scheme.embed(x, positions)
        for block in self.blocks:
            x = block(x, positions, mask)
        return self.to_scores(self.norm(x))

    @property
    def num_parameters(self) -> int:
        return sum(p.numel() for p in self.parameters())
