"""llama.cpp runs the released model of lesson 16 with each recipe; prints losses as JSON.

    python tools/serving/llama_losses.py MODEL.gguf REQUEST.json

is run by `tools.serving` in an environment that has llama-cpp-python. The request holds tokens by
name of text, and parameters of a context by name of recipe.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

import llama_cpp as lib  # type: ignore[import-not-found]
import numpy as np

BLOCK = 1024


def losses(model: Any, tokens: list[int], parameters: dict[str, float]) -> list[float]:
    """Mean nats per token in each block, the first token of all being given."""
    settings = lib.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_ubatch = len(tokens), len(tokens), 512
    settings.n_threads = settings.n_threads_batch = 1
    settings.type_k = settings.type_v = lib.GGML_TYPE_F32
    settings.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
    for name, value in parameters.items():
        setattr(settings, name, value)
    context = lib.llama_init_from_model(model, settings)
    words = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    found: list[float] = []
    for start in range(0, len(tokens), BLOCK):
        part = tokens[start : start + BLOCK]
        batch = lib.llama_batch_init(len(part), 0, 1)
        batch.n_tokens = len(part)
        for n, token in enumerate(part):
            batch.token[n], batch.pos[n], batch.n_seq_id[n] = token, start + n, 1
            batch.seq_id[n][0], batch.logits[n] = 0, 1
        if lib.llama_decode(context, batch):
            raise RuntimeError("llama_decode failed")
        targets = tokens[start + 1 : start + len(part) + 1]
        scores = np.ctypeslib.as_array(
            ctypes.cast(lib.llama_get_logits(context), ctypes.POINTER(ctypes.c_float)),
            (len(part), words),
        )[: len(targets)].astype(np.float64)
        scores -= scores.max(axis=-1, keepdims=True)
        paid = np.log(np.exp(scores).sum(axis=-1)) - scores[np.arange(len(targets)), targets]
        found.append(float(paid.mean()))
        lib.llama_batch_free(batch)
    lib.llama_free(context)
    return found


def main(path: str, request: str) -> None:
    """Measure all texts with all recipes."""
    with open(request, encoding="utf-8") as file:
        asked = json.load(file)
    silence = lib.llama_log_callback(lambda *_: None)  # kept: llama.cpp calls it to the end
    lib.llama_log_set(silence, None)
    lib.llama_backend_init()
    model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
    print(json.dumps({
        recipe: {name: losses(model, tokens, parameters) for name, tokens in asked["texts"].items()}
        for recipe, parameters in asked["recipes"].items()
    }))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
