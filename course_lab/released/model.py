"""A released model: a decoder, its tokenizer, and other doors for the same weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Int
from torch import Tensor

from course_lib.encodings import PositionScheme, Rotary
from course_lib.encodings.rotary import Layout
from course_lib.model.llama import Llama, LlamaConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True)
class ReleasedConfig(LlamaConfig):
    """Sizes of a released model, and what its file says of positions."""

    name: str = ""
    base: float = 10_000.0
    """Of its rotary ladder."""
    length: int = 0
    """Tokens that it was made for; 0 if the file does not say."""
    layout: Layout = "half"
    """Which columns make a pair in this file: its converter may have changed their order."""
    frequencies: tuple[float, ...] = ()
    """Radians per position of each pair, where they are not those of the base."""
    attention_factor: float = 1.0
    tied: bool = True
    """Whether the embeddings also score the next token."""

    def scheme(self) -> Rotary:
        """The rotation that the model was trained with."""
        return Rotary(
            self.head_dim,
            self.base,
            self.layout,
            frequencies=self.frequencies or None,
            attention_factor=self.attention_factor,
        )


class Released(Llama):
    """A released model in float32: a `Decoder`, and the tokens that it reads."""

    config: ReleasedConfig

    def __init__(
        self,
        config: ReleasedConfig,
        weights: dict[str, Tensor],
        tokenizer: Tokenizer | str,
        scheme: PositionScheme | Callable[[int], PositionScheme] | None = None,
    ) -> None:
        scheme = scheme or config.scheme()
        if not isinstance(scheme, PositionScheme):
            scheme = [scheme(layer) for layer in range(config.num_layers)].__getitem__
        with torch.device("meta"):  # no memory for numbers that are replaced at once
            super().__init__(config, scheme, config.tied)
        self._weights, self._tokenizer = weights, tokenizer
        self.load_state_dict(weights, strict=False, assign=True)
        if config.tied:
            self.to_scores.weight = self.embedding.weight
        self.requires_grad_(False).eval()

    def with_scheme(self, scheme: PositionScheme | Callable[[int], PositionScheme]) -> Released:
        """The same weights, which take no memory again, behind other doors."""
        return Released(self.config, self._weights, self._tokenizer, scheme)

    def tokens(self, text: str) -> Int[Tensor, " length"]:
        """The numbers of a text's tokens; nothing is put in front of them."""
        return torch.tensor(self._spelling.encode(text, add_special_tokens=False).ids)

    def text(self, tokens: Int[Tensor, " length"]) -> str:
        """What tokens spell."""
        spelled: str = self._spelling.decode(tokens.tolist(), skip_special_tokens=False)
        return spelled

    @property
    def _spelling(self) -> Tokenizer:
        if isinstance(self._tokenizer, str):
            raise ValueError(self._tokenizer)
        return self._tokenizer
