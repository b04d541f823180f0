"""A small transformer that any position scheme plugs into."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int, Num
from torch import Tensor, nn
from torch.nn import functional

from course_lib.encodings.angles import check_finite, check_positions
from course_lib.encodings.consecutive import consecutive_positions, joined
from course_lib.encodings.rotary import shared_tables
from course_lib.encodings.scheme import PositionScheme, check_positions_fit, on_axes
from course_lib.model.attention import View, attend, check_window


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes of a decoder. With `causal` False it is an encoder: every token sees every other.

    `num_kv_heads` below `num_heads` makes query heads share keys and values (None: as many).
    """

    vocab_size: int = 256
    dim: int = 128
    num_layers: int = 4
    num_heads: int = 4
    hidden_dim: int = 512
    causal: bool = True
    num_kv_heads: int | None = None

    def __post_init__(self) -> None:
        if self.dim % self.num_heads:
            raise ValueError(
                f"dim {self.dim} does not divide into {self.num_heads} heads: "
                "make it a multiple of num_heads"
            )
        if self.kv_heads < 1 or self.num_heads % self.kv_heads:
            raise ValueError(
                f"{self.num_heads} query heads cannot share {self.kv_heads} key heads evenly: "
                "make num_heads a multiple of num_kv_heads"
            )

    @property
    def head_dim(self) -> int:
        return self.dim // self.num_heads

    @property
    def kv_heads(self) -> int:
        return self.num_heads if self.num_kv_heads is None else self.num_kv_heads


@dataclass
class Cache:
    """What a decoder has read: positions, and for each layer keys (before rotation) and values.

    Keys that are not rotated yet stay right when frequencies change, as in dynamic NTK; the price
    is that they are rotated again at every step.
    """

    positions: Tensor | None = None
    layers: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append a layer's new keys and values, and return all of them."""
        if layer in self.layers:
            k, v = (torch.cat(pair, -2) for pair in zip(self.layers[layer], (k, v), strict=True))
        self.layers[layer] = k, v
        return k, v

    def extend_positions(self, positions: Tensor, axes: int = 1) -> Tensor:
        """Append the positions of new tokens, and return all of them."""
        past = self.positions
        if past is not None:
            if axes > 1 and past.ndim != positions.ndim:  # a text after a picture, or before it
                past, positions = on_axes(past, axes), on_axes(positions, axes)
            length = past.ndim - (2 if axes > 1 and past.ndim > 1 else 1)  # the dimension of tokens
            if past.ndim != positions.ndim or past.shape[:length] != positions.shape[:length]:
                raise ValueError(
                    f"positions of shape {tuple(positions.shape)} cannot follow the cache's, of "
                    f"shape {tuple(past.shape)}: keep to (length,) or (batch, length)"
                )
            positions = joined(past, positions, length)
        self.positions = positions
        return positions


class Attention(nn.Module):
    """Multi-head attention whose positions come in through the doors of `scheme`.

    `window` is that of `View`; it has no weights and may be changed at any time. With `sinks`,
    the layer learns those of `attend`, from 0 on. Raises ValueError for a window below 1.
    """

    def __init__(
        self, config: DecoderConfig, scheme: PositionScheme, layer: int,
        window: int | None = None, sinks: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        check_window(window)
        self.config = config
        self.scheme = scheme
        self.layer = layer
        self.window = window
        self.widths = [config.dim, *[config.kv_heads * config.head_dim] * 2]
        self.to_qkv = nn.Linear(config.dim, sum(self.widths), bias=False)
        self.to_out = nn.Linear(config.dim, config.dim, bias=False)
        self.sinks = nn.Parameter(torch.zeros(config.num_heads)) if sinks else None

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        q, k, v = (  # (batch, length, heads * head_dim) -> (batch, heads, length, head_dim)
            t.unflatten(-1, (-1, self.config.head_dim)).transpose(1, 2)
            for t in self.to_qkv(x).split(self.widths, dim=-1)
        )
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)  # (batch, kv_heads, keys, head_dim)
        read = attend(q, k, v, self.scheme, view._replace(window=self.window), self.sinks)
        out: Tensor = self.to_out(read.transpose(1, 2).flatten(-2))  # (batch, length, dim)
        return out


class Block(nn.Module):
    """Attention, then a network of two layers, each added to what came in (pre-norm)."""

    def __init__(self, config: DecoderConfig, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.norm1, self.norm2 = nn.LayerNorm(config.dim), nn.LayerNorm(config.dim)
        self.up = nn.Linear(config.dim, config.hidden_dim)
        self.down = nn.Linear(config.hidden_dim, config.dim)

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x), view, cache)
        out: Tensor = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return out


class Decoder(nn.Module):
    """Token embeddings, blocks, and a score for every token of the vocabulary.

    `scheme` serves all layers, or is a function from layer number to scheme; only the first
    layer's scheme sees the embeddings. These start with standard deviation 1 / sqrt(dim) and are
    multiplied by sqrt(dim) (Vaswani et al. 2017, section 3.4): a scheme adds to numbers of size 1.

    `windows` are those of `View`: one size for all layers, a function from layer number to size
    or None, or None. They have no weights, so a layer's `attention.window` may be changed in a
    trained model, too. The cache keeps the keys that they hide. With `sinks`, each layer learns a
    logit for each head, from 0 on. Raises ValueError for a window below 1.

    A scheme without weights, such as RoPE or ALiBi, leaves nothing in `state_dict`: weights load
    into a decoder with any such scheme, so keep its name beside them.
    """

    def __init__(
        self, config: DecoderConfig, scheme: PositionScheme | Callable[[int], PositionScheme],
        windows: int | Callable[[int], int | None] | None = None, sinks: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.config = config
        layers = range(config.num_layers)
        schemes = [scheme if isinstance(scheme, PositionScheme) else scheme(n) for n in layers]
        sizes = [windows(n) if callable(windows) else windows for n in layers]
        self.first_scheme = schemes[0]
        self.axes = schemes[0].axes
        self.embedding = nn.Embedding(config.vocab_size, config.dim)
        self.blocks = nn.ModuleList(
            self._block(Attention(config, schemes[n], n, sizes[n], sinks)) for n in layers
        )
        self.norm = self._norm()
        self.to_scores = nn.Linear(config.dim, config.vocab_size, bias=False)
        nn.init.normal_(self.embedding.weight, std=1 / self.embedding_scale)

    @property
    def embedding_scale(self) -> float:
        return math.sqrt(self.config.dim)

    def _block(self, attention: Attention) -> nn.Module:
        return Block(self.config, attention)

    def _norm(self) -> nn.Module:
        return nn.LayerNorm(self.config.dim)

    def forward(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "*batch length"] | Num[Tensor, "*batch length axes"] | range,
        mask: Bool[Tensor, "*batch_heads length keys"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch length vocab"]:
        """Scores for the token at every place.

        `positions` may be a range where they count up one by one: a compiled pass needs that in
        order to stay causal without a mask of all pairs. `mask` is as in `View`. With a `cache`,
        tokens follow those that it has seen, keys are old and new ones, and the cache grows by
        these. Raises ValueError if `positions` do not fit `tokens`, or are not integers of 0 or
        more. On a GPU, give a range or `consecutive_positions` where they are: values of others are
        not read there, since it would have to wait.
        """
        lead = 0 if isinstance(positions, range) and not (cache and cache.layers) else None
        if isinstance(positions, range):
            positions = _counted(positions, tokens)
        self._check(tokens, positions)
        x = self.embedding(tokens) * self.embedding_scale  # (batch, length, dim)
        x = self.first_scheme.embed(x, positions)
        if self.axes > 1 and positions.ndim > 1:
            positions = on_axes(positions, self.axes, (tokens.shape[0], tokens.shape[1]))
        known = positions if cache is None else cache.extend_positions(positions, self.axes)
        view = View(positions, known, self.config.causal, mask, lead)
        with nullcontext() if torch.compiler.is_compiling() else shared_tables():
            for block in self.blocks:
                x = block(x, view, cache)
        scores: Tensor = self.to_scores(self.norm(x))
        return scores

    @torch.no_grad()
    def generate(
        self, tokens: Int[Tensor, "batch length"], count: int,
        temperature: float = 0.0, generator: torch.Generator | None = None,
    ) -> Int[Tensor, "batch longer"]:  # fmt: skip
        """`tokens`, which stand at positions 0, 1, 2, ..., and `count` more, one at a time.

        Takes the best token at temperature 0, else draws from softmax(scores / temperature).
        Raises ValueError for an empty prompt, and for a temperature that is negative or not finite.
        """
        if tokens.shape[-1] == 0:
            raise ValueError("tokens must hold at least one token to go on from, got none")
        if temperature < 0:
            raise ValueError(f"temperature must be 0 or more, got {temperature}")
        check_finite(temperature, "temperature")
        cache = Cache()
        new = tokens
        for _ in range(count):
            first = tokens.shape[-1] - new.shape[-1]
            scores = self(new, range(first, tokens.shape[-1]), cache=cache)[:, -1]  # (batch, vocab)
            if temperature == 0:
                new = scores.argmax(dim=-1, keepdim=True)
            else:
                shares = (scores / temperature).softmax(dim=-1)
                new = torch.multinomial(shares, 1, generator=generator)
            tokens = torch.cat([tokens, new], dim=-1)
        return tokens

    @property
    def num_parameters(self) -> int:
        return sum(p.numel() for p in self.parameters())

    def _check(self, tokens: Tensor, positions: Tensor) -> None:
        if tokens.ndim != 2:
            raise ValueError(
                f"tokens must have shape (batch, length), got {tuple(tokens.shape)}: give a single "
                "text as tokens[None]"
            )
        check_positions_fit(positions, (tokens.shape[0], tokens.shape[1]), self.axes)
        if positions.device != tokens.device:
            raise ValueError(
                f"positions are on {positions.device} and tokens on {tokens.device}: "
                "move one of them"
            )
        if self.axes == 1 or positions.ndim == 1:
            check_positions(positions)


def _counted(positions: range, tokens: Tensor) -> Tensor:
    """Positions that are given as a range, on the device of `tokens`."""
    length = tokens.shape[-1]
    if positions.step != 1 or positions.stop - positions.start != length:
        raise ValueError(
            f"positions must count up one by one, once for each of {length} tokens, got "
            f"{positions}: give range(start, start + {length}), or a tensor where there are gaps"
        )
    return consecutive_positions(length, positions.start, tokens.device)
