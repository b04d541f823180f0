"""Reading and stretching the RoPE of a model in a folder of this machine (transformers' format)."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from course_lab.errors import CourseError
from course_lib.encodings import ScaledFrequencies, from_rope_parameters, yarn


class Settings(NamedTuple):
    """What a model's config.json says about its positions."""

    parameters: dict[str, Any]
    """`rope_parameters`, or `rope_scaling` and `rope_theta` of an older config, put together."""
    head_dim: int
    length: int
    """The longest text that the model is meant for, in tokens."""

    def frequencies(self) -> ScaledFrequencies:
        """The frequencies that these settings give."""
        return from_rope_parameters(
            self.parameters, self.head_dim, max_position_embeddings=self.length
        )


def settings(folder: Path | str) -> Settings:
    """Read `config.json`. Raises FileNotFoundError, or CourseError if there is no RoPE in it."""
    config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    parameters = config.get("rope_parameters")
    if parameters is None:
        if "rope_theta" not in config:
            raise CourseError(f"config.json in {folder} has no rope_parameters and no rope_theta")
        parameters = {**(config.get("rope_scaling") or {}), "rope_theta": config["rope_theta"]}
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return Settings(parameters, head_dim, config["max_position_embeddings"])


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
    config, model = settings(folder), load(folder)
    rotary: Any = model.rotary
    difference = (config.frequencies().frequencies / rotary.inv_freq.double() - 1).abs().max()
    shown = {key: config.parameters.get(key) for key in ("rope_type", "rope_theta", "factor")}
    lines = [f"{shown}, head_dim {config.head_dim}, length {config.length}",
             f"our frequencies are its own to 1e-5: {bool(difference < 1e-5)}"]  # fmt: skip
    tokens, base = _tokens(folder, text), config.parameters["rope_theta"]
    lengths = [int(config.length * factor) for factor in factors]
    most = max((n for n in lengths if n < len(tokens)), default=0)
    for factor, length in zip(factors, lengths, strict=True):
        if length > most:
            lines.append(f"{length} tokens: the text is too short")
            continue
        read = tokens[: most + 1]
        line = f"{length:6} tokens: {bits_per_token(model, read, length):.2f} bits a token"
        if factor > 1 and config.parameters.get("rope_type", "default") == "default":
            longer = stretched(model, yarn(config.head_dim, base, factor, config.length))
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
