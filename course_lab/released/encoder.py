"""A released encoder of BERT's architecture: its table of positions enters at door 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from course_lib.encodings import LearnedAbsolute, PositionScheme
from course_lib.model import DecoderConfig, View
from course_lib.model.decoder import Attention

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True)
class EncoderConfig(DecoderConfig):
    """Sizes of a released encoder."""

    causal: bool = False
    norm_epsilon: float = 1e-12
    """What its norms add before they divide."""
    length: int = 512
    """Rows of its table of positions."""
    name: str = ""


class BiasedAttention(Attention):
    """The course's attention, whose four linear maps also add a vector."""

    def __init__(self, config: DecoderConfig, scheme: PositionScheme, layer: int) -> None:
        super().__init__(config, scheme, layer)
        self.to_qkv = nn.Linear(config.dim, sum(self.widths))
        self.to_out = nn.Linear(config.dim, config.dim)


class EncoderBlock(nn.Module):
    """Attention, then a network of two layers, with a norm after each sum (post-norm)."""

    def __init__(self, config: EncoderConfig, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.norm1, self.norm2 = (nn.LayerNorm(config.dim, config.norm_epsilon) for _ in range(2))
        self.up = nn.Linear(config.dim, config.hidden_dim)
        self.down = nn.Linear(config.hidden_dim, config.dim)

    def forward(self, x: Tensor, view: View) -> Tensor:
        x = self.norm1(x + self.attention(x, view))
        out: Tensor = self.norm2(x + self.down(functional.gelu(self.up(x))))
        return out


class Encoder(nn.Module):
    """A released encoder in float32, and the tokens that it reads.

    Source: Devlin et al. 2018, BERT (arXiv 1810.04805); the mean of a text's vectors as its
    sentence vector is Reimers and Gurevych 2019, Sentence-BERT (arXiv 1908.10084).
    """

    def __init__(
        self,
        config: EncoderConfig,
        weights: dict[str, Tensor],
        tokenizer: Tokenizer | str,
        scheme: PositionScheme | None = None,
    ) -> None:
        super().__init__()
        self.config, self._weights, self._tokenizer = config, weights, tokenizer
        with torch.device("meta"):  # no memory for numbers that are replaced at once
            self.scheme = scheme or LearnedAbsolute(config.length, config.dim)
            self.embedding = nn.Embedding(config.vocab_size, config.dim)
            self.kinds = nn.Embedding(2, config.dim)  # of the first text, and of a second one
            self.norm = nn.LayerNorm(config.dim, config.norm_epsilon)
            self.blocks = nn.ModuleList(
                EncoderBlock(config, BiasedAttention(config, self.scheme, layer))
                for layer in range(config.num_layers)
            )
        own = {n: w for n, w in weights.items() if scheme is None or not n.startswith("scheme.")}
        self.load_state_dict(own, strict=False, assign=True)
        self.requires_grad_(False).eval()

    def with_scheme(self, scheme: PositionScheme) -> Encoder:
        """The same weights, which take no memory again, behind other doors."""
        return Encoder(self.config, self._weights, self._tokenizer, scheme)

    def with_table(self, table: Float[Tensor, "rows dim"]) -> Encoder:
        """The same weights with another table of positions."""
        scheme = LearnedAbsolute(*table.shape)
        scheme.table = nn.Parameter(table.float())
        return self.with_scheme(scheme)

    @property
    def table(self) -> Float[Tensor, "rows dim"]:
        """The table of positions that came with the weights."""
        return self._weights["scheme.table"]

    def forward(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "*batch length"],
        mask: Bool[Tensor, "*batch_heads length length"] | None = None,
    ) -> Float[Tensor, "batch length dim"]:
        """A vector for the token at every place; `mask` is `View`'s."""
        first = self.embedding(tokens) + self.kinds.weight[0]
        x: Tensor = self.norm(self.scheme.embed(first, positions))
        view = View(positions, positions, causal=False, mask=mask)
        for block in self.blocks:
            x = block(x, view)
        return x

    def sentence(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "*batch length"] | None = None,
        real: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch dim"]:
        """The mean of the vectors of a text's `real` tokens, scaled to length 1.

        Positions are 0, 1, 2, ... without others. No token sees one that is not real.
        """
        if positions is None:
            positions = torch.arange(tokens.shape[1])
        mask = None if real is None else real[:, None, None]
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        out = self(tokens, positions, mask).masked_fill(~real[..., None], 0)
        return functional.normalize(out.sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1)

    def tokens(self, text: str) -> Int[Tensor, " length"]:
        """The numbers of a text's tokens, between [CLS] and [SEP]."""
        if isinstance(self._tokenizer, str):
            raise ValueError(self._tokenizer)
        return torch.tensor(self._tokenizer.encode(text).ids)
