"""What is timed: every encoding beside what a user would pick instead.

Each function returns works by name, which compute the same unless their names say otherwise.
Libraries that are not installed, and compiled works where there is no compiler, are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lab.instruments.evaluation import next_byte
from course_lab.instruments.timing import Work, Works
from course_lab.machine import device
from course_lab.training.loop import Training
from course_lib import encodings as enc
from course_lib.encodings.consecutive import distances_of
from course_lib.model import Decoder, DecoderConfig
from course_lib.model.decoder import Cache
from course_lib.model.llama import Llama, LlamaConfig

HEADS, HEAD_DIM, CLIP = 8, 64, 16
CLONE, HF, RET = "torch.clone", "transformers", "rotary-embedding-torch"
PLAIN = "plain torch, learned"


def library(module: str, name: str) -> Any:
    """`name` from a library to compare with, or None if that is not installed."""
    try:
        return getattr(import_module(module), name)
    except ImportError:
        return None


def rotations(shape: tuple[int, ...], dtype: torch.dtype, compiled: bool = False) -> Works:
    q, k = (torch.randn(shape, device=device()).to(dtype) for _ in "qk")
    cos, sin = enc.rotation_table(enc.rotary_frequencies(shape[-1]), _positions(shape[-2]))

    def ours(layout: Any, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return enc.rotate(q, cos, sin, layout), enc.rotate(k, cos, sin, layout)

    works: dict[str, Callable[..., object]] = {
        layout: partial(ours, layout) for layout in ("interleaved", "half")
    }
    if apply := library("transformers.models.llama.modeling_llama", "apply_rotary_pos_emb"):
        tables = [torch.cat([t, t], dim=-1).to(dtype)[None] for t in (cos, sin)]
        works[HF] = lambda q, k: apply(q, k, *tables)
    if compiled:
        torch.compiler.reset()  # a second shape would be compiled for any shape
        works |= {f"{name}, compiled": torch.compile(work) for name, work in works.items()}
    if embedding := library("rotary_embedding_torch", "RotaryEmbedding"):
        turn = embedding(shape[-1]).to(device()).rotate_queries_or_keys
        works[RET] = lambda q, k: (turn(q), turn(k))
    works[CLONE] = lambda q, k: (q.clone(), k.clone())
    return {name: partial(work, q, k) for name, work in works.items()}


SECTIONS = (16, 24, 24)
"""Qwen2-VL's pairs for time, row and column."""


def several_axes(rows: int, columns: int) -> Works:
    """Queries and keys of a layer for one picture, cosines and sines computed in every call."""
    places = torch.cartesian_prod(*map(torch.arange, (1, rows, columns))).to(device())
    q, k = (torch.randn(1, HEADS, len(places), 128, device=device()) for _ in "qk")
    on_axes, on_a_line = enc.AxialRotary(128, SECTIONS), enc.Rotary(128)
    numbers = _positions(len(places))
    works: Works = {
        "ours": lambda: on_axes.rotate(q, k, places, places),
        "ours, one axis": lambda: on_a_line.rotate(q, k, numbers, numbers),
    }
    module = "transformers.models.qwen2_vl.modeling_qwen2_vl"
    if apply := library(module, "apply_rotary_pos_emb"):
        settings = library(module, "Qwen2VLTextConfig")
        parameters = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [*SECTIONS]}
        config = settings(hidden_size=256, num_attention_heads=2, rope_parameters=parameters)
        tables = library(module, "Qwen2VLRotaryEmbedding")(config).to(device())
        by_axis = places.T[:, None].contiguous()  # (axes, batch, places)
        works[HF] = lambda: apply(q, k, *tables(q, by_axis))
    return works


def t5_biases(n: int) -> Works:
    scheme, positions = enc.T5Bias(HEADS).to(device()), _positions(n)
    nn.init.normal_(scheme.table.weight)
    q = torch.zeros(1, HEADS, n, 1, device=device())
    works: Works = {"ours": lambda: scheme.score_bias(q, q, positions, positions)}
    if attention := library("transformers.models.t5.modeling_t5", "T5Attention"):
        config = library("transformers", "T5Config")(num_heads=HEADS, is_decoder=True)
        theirs = attention(config, has_relative_attention_bias=True, layer_idx=0).to(device())
        theirs.relative_attention_bias.weight = scheme.table.weight
        works[HF] = lambda: theirs.compute_bias(n, n)
    return works


def alibi_biases(n: int) -> Works:
    scheme, positions = enc.ALiBi(HEADS), _positions(n)
    slopes = enc.alibi_slopes(HEADS).to(device(), torch.float32)[:, None, None]
    q, hidden = torch.zeros(1, HEADS, n, 1, device=device()), positions[:, None] < positions
    scores = torch.randn(1, HEADS, n, n, device=device())

    def masked(bias: Callable[[], Tensor]) -> Tensor:
        return (scores + bias()).masked_fill(hidden, -torch.inf)

    ours = partial(scheme.score_bias, q, q, positions, positions)
    works: Works = {
        "ours": ours,
        "plain, for every pair": lambda: -slopes * (positions[:, None] - positions).abs(),
        "ours, before expansion": lambda: scheme.by_distance(distances_of(positions, positions)),
        "ours, masked scores": partial(masked, ours),
    }
    if build := library("transformers.models.bloom.modeling_bloom", "build_alibi_tensor"):
        theirs = partial(build, torch.ones(1, n, device=device()), HEADS, torch.float32)
        works |= {HF: theirs, f"{HF}, masked scores": partial(masked, theirs)}
    return works


def shaw_keys(n: int) -> Works:
    scheme, positions = enc.Shaw(HEAD_DIM, CLIP, on_values=False).to(device()), _positions(n)
    q = torch.randn(1, HEADS, n, HEAD_DIM, device=device())

    def materialised() -> Tensor:
        relative = enc.relative_positions(positions, positions)
        vectors = scheme.key_vectors[enc.clip_to_index(relative, CLIP)]
        return torch.einsum("bhid,ijd->bhij", q, vectors) / math.sqrt(HEAD_DIM)

    ours = partial(scheme.score_bias, q, q, positions, positions)
    return {"ours": ours, "materialised": materialised}


def growing(n: int) -> Works:
    """Each scheme on one head and all pairs of n positions, its tables computed in every call."""
    positions, q = _positions(n), torch.randn(1, 1, n, HEAD_DIM, device=device())
    schemes = {
        "T5 bias": enc.T5Bias(1),
        "ALiBi": enc.ALiBi(1),
        "Shaw keys": enc.Shaw(HEAD_DIM, CLIP, on_values=False),
        "Transformer-XL": enc.TransformerXL(1, HEAD_DIM),
    }
    doors: dict[str, Callable[..., object]] = {"rotation": enc.Rotary(HEAD_DIM).rotate}
    doors |= {name: scheme.to(device()).score_bias for name, scheme in schemes.items()}
    return {name: partial(door, q, q, positions, positions) for name, door in doors.items()}


class PlainBlock(nn.Module):
    """A block as one writes it without this package, in the manner of nanoGPT."""

    def __init__(self, c: DecoderConfig) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.qkv, self.out = (nn.Linear(c.dim, n * c.dim, bias=False) for n in (3, 1))
        up, down = nn.Linear(c.dim, c.hidden_dim), nn.Linear(c.hidden_dim, c.dim)
        self.heads, self.mlp = c.num_heads, nn.Sequential(up, nn.GELU(), down)

    def forward(self, x: Tensor) -> Tensor:
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(read.transpose(1, 2).flatten(-2))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class PlainDecoder(nn.Module):
    """`Decoder` with learned positions, from torch's own modules."""

    def __init__(self, c: DecoderConfig, length: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(c.vocab_size, c.dim), nn.Embedding(length, c.dim)
        blocks = (PlainBlock(c) for _ in range(c.num_layers))
        scores = nn.Linear(c.dim, c.vocab_size, bias=False)
        self.layers = nn.Sequential(*blocks, nn.LayerNorm(c.dim), scores)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        scores: Tensor = self.layers(self.tokens(tokens) + self.places(positions))
        return scores


AS_TENSOR, AS_RANGE = "positions as a tensor", "positions as a range"


def compiled_passes(n: int) -> Works:
    """A causal layer over `n` tokens, told their positions in two ways."""
    torch.compiler.reset()  # torch keeps eight graphs of one function, and then compiles no more
    config = DecoderConfig(dim=512, num_layers=1, num_heads=8, hidden_dim=512)
    tokens = torch.zeros(1, n, dtype=torch.long, device=device())
    told: dict[str, Tensor | range] = {
        AS_TENSOR: torch.arange(n, device=device()),
        AS_RANGE: range(n),
    }
    works: Works = {}
    for name, positions in told.items():
        model = Decoder(config, enc.Rotary(config.head_dim)).to(device())
        works[name] = partial(torch.compile(model, dynamic=False), tokens, positions)
    return works


SMALL_RELEASED = LlamaConfig(
    vocab_size=49_152, dim=576, num_layers=30, num_heads=9, num_kv_heads=3, hidden_dim=1536
)
"""The sizes of SmolLM2-135M; how fast a model is does not depend on what its weights are."""


def released(config: LlamaConfig, length: int, new: int) -> dict[str, Works]:
    """A prompt of `length` tokens read at once, and `new` tokens written after it, one by one."""
    tokens = torch.zeros(1, length, dtype=torch.long, device=device())
    ours = Llama(config, enc.Rotary(config.head_dim, 100_000.0)).to(device())
    kept = Cache()
    ours(tokens, range(length), cache=kept)

    def write() -> None:
        cache = Cache(kept.positions, dict(kept.layers))
        for place in range(length, length + new):
            ours(tokens[:, :1], range(place, place + 1), cache=cache)

    reading: Works = {"ours": lambda: ours(tokens, range(length), cache=Cache())}
    writing: Works = {"ours": write}
    if make := library("transformers", "LlamaForCausalLM"):
        settings = library("transformers", "LlamaConfig")
        theirs = (
            make(
                settings(
                    vocab_size=config.vocab_size,
                    hidden_size=config.dim,
                    tie_word_embeddings=True,
                    intermediate_size=config.hidden_dim,
                    num_hidden_layers=config.num_layers,
                    num_attention_heads=config.num_heads,
                    num_key_value_heads=config.kv_heads,
                )
            )
            .to(device())
            .eval()
        )
        reading[HF] = lambda: theirs(tokens, use_cache=True)
        past = theirs(tokens, use_cache=True).past_key_values

        def write_theirs() -> None:
            for _ in range(new):
                theirs(tokens[:, :1], past_key_values=past, use_cache=True)
            past.crop(-new)

        writing[HF] = write_theirs
    return {"reading": reading, "writing": writing}


def training_step(model: nn.Module, batch: int, length: int) -> Work:
    """Forward, backward and AdamW on random bytes."""
    optimizer = torch.optim.AdamW(model.to(device()).parameters())
    tokens = torch.randint(256, (batch, length + 1), device=device())

    def step() -> None:
        with torch.enable_grad():
            scores = model(tokens[:, :-1], _positions(length))
            loss = functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    return step


def training_loops(batch: int, length: int, compiled: bool = False) -> Works:
    """A plain step in float32 and a step of `train` in each dtype, all with learned positions.

    Ours draws its batch, clips gradients and changes its learning rate; the plain one does not.
    """
    torch.compiler.reset()  # as in `compiled_passes`
    config = DecoderConfig()
    works = {PLAIN: training_step(PlainDecoder(config, length), batch, length)}
    task = next_byte(torch.randint(256, (2**20,), dtype=torch.uint8), length, batch)
    for dtype in (torch.float32, torch.bfloat16):
        for compile_it in (False, True)[: 1 + compiled]:
            model = Decoder(config, enc.LearnedAbsolute(length, config.dim)).to(device())
            if compile_it:
                model.compile()
            loop = Training(model, task, 10**6, 1e-3, seed=0, dtype=dtype)
            name = f"ours, {str(dtype).removeprefix('torch.')}{', compiled' * compile_it}"
            works[name] = torch.enable_grad()(loop.step)
    return works


def _positions(n: int) -> Tensor:
    return torch.arange(n, device=device())
