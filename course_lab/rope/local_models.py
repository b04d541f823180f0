"""Reading and stretching the RoPE of a model in a folder of this machine (transformers' format)."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from course_lab.rope.config import read
from course_lab.rope.tables import Table
from course_lib.encodings import ScaledFrequencies, from_rope_parameters, yarn
from course_lib.errors import CourseError


def only_table(folder: Path | str) -> Table:
    """The rotary table of a model whose layers all have the same. Raises CourseError otherwise."""
    groups = read(Path(folder))
    tables = [group.table for group in groups]
    if len(tables) != 1 or tables[0] is None:
        names = ", ".join(f"{group.name or 'layers'}: {group.kind}" for group in groups)
        raise CourseError(
            f"layers in {folder} do not share one rotary table ({names}); name a model whose do"
        )
    return tables[0]


class LocalModel(nn.Module):
    """A model of transformers, called as ours are: token ids and positions in, scores out."""

    def __init__(self, theirs: nn.Module) -> None:
        super().__init__()
        self.theirs = theirs

    @property
    def rotary(self) -> Any:
        """The one module that makes cosines and sines for all layers."""
        modules = [m for name, m in self.theirs.named_modules() if name.endswith("rotary_emb")]
        if len(modules) != 1:
            raise CourseError(f"a model must have one rotary_emb, as Llama has, got {len(modules)}")
        return modules[0]

    def forward(
        self, tokens: Int[Tensor, "batch length"], positions: Int[Tensor, " length"]
    ) -> Float[Tensor, "batch length vocab"]:
        out = self.theirs(input_ids=tokens, position_ids=positions[None], use_cache=False)
        scores: Tensor = out.logits
        return scores


def load(folder: Path | str) -> LocalModel:
    """The model in `folder`, in float32. Needs `transformers`; nothing is downloaded."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    theirs = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32
    )
    return LocalModel(theirs.eval())


def stretched(model: LocalModel, scaled: ScaledFrequencies) -> LocalModel:
    """A copy of `model` with the frequencies and the attention factor of `scaled`.

    Raises CourseError for "dynamic" and "longrope", whose modules set frequencies in every call.
    """
    model = copy.deepcopy(model)
    rotary = model.rotary
    if rotary.rope_type in ("dynamic", "longrope"):
        raise CourseError(f"a model of rope_type {rotary.rope_type!r} sets its frequencies itself")
    rotary.inv_freq = scaled.frequencies.to(rotary.inv_freq)
    rotary.attention_scaling = scaled.attention_factor
    return model


def write_tiny_llama(folder: Path | str, length: int = 64, seed: int = 0) -> None:
    """An untrained Llama over bytes, 31 000 parameters, saved by transformers itself."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    config = LlamaConfig(
        vocab_size=256, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=length, bos_token_id=None,
        eos_token_id=None, rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)


def difference_to_transformers(parameters: dict[str, Any], head_dim: int, length: int) -> float:
    """The largest relative difference between our frequencies and attention factor and theirs."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config: Any = LlamaConfig(
        hidden_size=head_dim, num_attention_heads=1, head_dim=head_dim,
        max_position_embeddings=length, rope_parameters=dict(parameters),
    )  # fmt: skip
    kind: str = parameters.get("rope_type") or parameters["type"]
    theirs, attention_factor = ROPE_INIT_FUNCTIONS[kind](config, "cpu")
    ours = from_rope_parameters(parameters, head_dim, max_position_embeddings=length)
    furthest = (ours.frequencies / theirs.double() - 1).abs().max().item()
    return max(furthest, abs(ours.attention_factor / attention_factor - 1))


def report(folder: Path | str, text: Tensor, factors: tuple[float, ...] = (1, 2, 4)) -> list[str]:
    """Lines on the RoPE of the model in `folder`, and on its loss at longer lengths.

    `text` is bytes; a tokenizer in the folder turns it into tokens, else bytes are the tokens. A
    model that is not stretched yet is measured twice: as it is, and with YaRN for the length. Every
    length reads the same tokens, if each divides the longest that `text` has room for.
    """
    folder = Path(folder)
    rope, model = only_table(folder), load(folder)
    rotary: Any = model.rotary
    difference = (rope.frequencies / rotary.inv_freq.double() - 1).abs().max()
    lines = [f"{rope.kind}, base {rope.base:g}, head_dim {rope.head_dim}, length {rope.length}",
             f"our frequencies are its own to 1e-5: {bool(difference < 1e-5)}"]  # fmt: skip
    tokens = _tokens(folder, text)
    if rope.length is None:
        raise CourseError(f"{folder}: max_position_embeddings is missing; add the trained length")
    lengths = [int(rope.length * factor) for factor in factors]
    most = max((n for n in lengths if n < len(tokens)), default=0)
    for factor, length in zip(factors, lengths, strict=True):
        if length > most:
            lines.append(f"{length} tokens: the text is too short")
            continue
        read = tokens[: most + 1]
        line = f"{length:6} tokens: {bits_per_token(model, read, length):.2f} bits a token"
        if factor > 1 and rope.kind == "default":
            longer = stretched(model, yarn(rope.head_dim, rope.base, factor, rope.length))
            line += f", YaRN {bits_per_token(longer, read, length):.2f}"
        lines.append(line)
    return lines


@torch.no_grad()
def bits_per_token(model: LocalModel, tokens: Int[Tensor, " tokens"], length: int) -> float:
    """The mean cross-entropy in bits over windows of `length` tokens, side by side.

    Not `evaluation`'s passages: a model may be meant for windows longer than these.
    """
    windows = tokens.long().unfold(0, length + 1, length)  # (windows, length + 1)
    nats = [
        functional.cross_entropy(model(row[None, :-1], torch.arange(length))[0], row[1:])
        for row in windows
    ]
    return torch.stack(nats).mean().item() / math.log(2)


def _tokens(folder: Path, text: Tensor) -> Tensor:
    if not any(folder.glob("tokenizer*")):
        return text
    from transformers import AutoTokenizer

    words = bytes(text.tolist()).decode("utf-8", errors="replace")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return torch.tensor(tokenizer(words, add_special_tokens=False)["input_ids"])
