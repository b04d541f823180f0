"""`make serving`: fetch the engines' wheels, run their code on six configs, write docs/serving.md.

The wheels come from the package index (380 MB) into a folder, once. For llama.cpp, --llama names
the Python of an environment that has llama-cpp-python; without it the stored losses stay.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from course_lab import released
from course_lab.released.installed import installed
from course_lab.released.texts import TEXTS, tokens
from course_lab.rope import CONFIGS
from course_lab.rope.advice import plan
from course_lab.rope.config import reading
from course_lab.rope.engines import CHECKED
from tools.serving.engines import Sglang, Vllm, yarn_of
from tools.serving.page import PAGE, RECORD, page

VERSIONS = {name: CHECKED[name] for name in ("vllm", "sglang")}
TIMES = 2
"""How much further than before each model is to read."""
LONGROPE = {
    "model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "num_hidden_layers": 32,
    "max_position_embeddings": 131_072, "original_max_position_embeddings": 4096,
    "rope_theta": 1e4, "sliding_window": None, "rope_scaling": {
        "type": "longrope", "short_factor": [1.0 + 0.01 * n for n in range(48)],
        "long_factor": [1.0 + 0.5 * n for n in range(48)]},
}  # fmt: skip
"""As Phi-3-mini-128k's, with other factors."""
SIX = {
    "llama-7b": "plain", "qwen2.5-7b-128k": "YaRN", "qwen3-vl-8b": "nested text part",
    "qwen2-vl-7b": "M-RoPE, all keys at the top", "longrope": "LongRoPE", "llama-3.1-8b": "Llama 3",
}  # fmt: skip
LENGTHS = (2048, 100_000, 1_000_000)
"""Tokens that all shipped configs are asked for."""
TRAINED, BASE, DIM = 8192, 100_000.0, 64
RECIPES: dict[str, tuple[str, dict[str, float]]] = {
    "unchanged": ("", {}),
    "YaRN by 2": ("--rope-scaling yarn --rope-scale 2 --yarn-orig-ctx 8192",
                  {"rope_scaling_type": 2, "rope_freq_scale": 0.5, "yarn_orig_ctx": TRAINED}),
    "YaRN by 4": ("--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 8192",
                  {"rope_scaling_type": 2, "rope_freq_scale": 0.25, "yarn_orig_ctx": TRAINED}),
    "interpolation by 2": ("--rope-scaling linear --rope-scale 2",
                           {"rope_scaling_type": 1, "rope_freq_scale": 0.5}),
    "NTK-aware by 2": ("--rope-freq-base 204521",
                       {"rope_freq_base": BASE * 2 ** (DIM / (DIM - 2))}),
}  # fmt: skip
"""llama.cpp's flags, and the same as parameters of a context."""


def fetched(folder: Path) -> list[Vllm | Sglang]:
    """The engines, from wheels that are fetched if they are not there."""
    made: list[Vllm | Sglang] = []
    for name, engine in (("vllm", Vllm), ("sglang", Sglang)):
        wanted = f"{name}-{VERSIONS[name]}-*.whl"
        if not list(folder.glob(wanted)):
            call = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest",
                    str(folder), f"{name}=={VERSIONS[name]}"]  # fmt: skip
            subprocess.run(call, check=True)
        made.append(engine(next(folder.glob(wanted))))
    return made


def asked(name: str, engines: list[Vllm | Sglang]) -> dict[str, Any]:
    """What each engine says of a config with the recipe for a longer text."""
    from transformers import AutoConfig

    with tempfile.TemporaryDirectory() as folder:
        file = CONFIGS / f"{name}.json"
        if name == "longrope":
            file = Path(folder) / "config.json"
            file.write_text(json.dumps(LONGROPE))
        read = reading(file)
        config = AutoConfig.for_model(**json.loads(file.read_text()))
    reached = max(group.table.length or 0 for group in read.groups if group.table)
    length = TIMES * reached
    made = plan(read, length)
    found: dict[str, Any] = {"kind": SIX[name], "length": length, "said": made.said, "engines": {}}
    for engine in engines:
        one: dict[str, Any] = {"as it is": _tried(engine, config, length)}
        if made.recipe:
            found["overrides"] = made.recipe.overrides
            changed = engine.overridden(config, made.recipe.overrides)
            one["with the recipe"] = _tried(engine, changed, length)
            for table in made.stretched.values():
                theirs = yarn_of(engine, changed, 2 * len(table.plain))
                if theirs is not None:
                    one["pairs off by"] = float((theirs / table.frequencies - 1).abs().max())
        found["engines"][engine.name] = one
    return found


def shipped(engines: list[Vllm | Sglang]) -> dict[str, dict[str, list[str]]]:
    """By length and config: the engines that serve it as it is, and with its recipe."""
    from transformers import AutoConfig

    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(CONFIGS.glob("*.json")):
        read, given = reading(path), json.loads(path.read_text())
        if path.stem == "llama-4-scout":  # 4 as published; this release takes true or false alone
            given["text_config"]["attn_temperature_tuning"] = True
        config = AutoConfig.for_model(**given)
        for length in LENGTHS:
            recipe, serving = plan(read, length).recipe, []
            for engine in engines:
                if _tried(engine, config, length).startswith("serves"):
                    serving.append(f"{engine.name} as it is")
                changed = recipe and engine.overridden(config, recipe.overrides)
                if changed and _tried(engine, changed, length).startswith("serves"):
                    serving.append(f"{engine.name} with the recipe")
            found.setdefault(str(length), {})[path.stem] = serving
    return found


def _tried(engine: Vllm | Sglang, config: Any, length: int) -> str:
    try:
        return f"serves {engine.accepted(config, length)}"
    except ValueError as error:
        return f"refused: {error}"


def measured(python: str) -> dict[str, Any]:
    """Losses of llama.cpp on the first tokens of the six texts, with each recipe."""
    model = released.load()
    request = {
        "texts": {name: tokens(model, name, 2048).tolist() for name in TEXTS},
        "recipes": {name: parameters for name, (_, parameters) in RECIPES.items()},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "request.json"
        path.write_text(json.dumps(request))
        script = Path(__file__).with_name("llama_losses.py")
        call = [python, str(script), str(installed()), str(path)]
        said = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    version = "import importlib.metadata as m; print(m.version('llama-cpp-python'))"
    of = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    return {"version": of.stdout.strip(), "losses": json.loads(said),
            "flags": {name: flags for name, (flags, _) in RECIPES.items()}}  # fmt: skip


def main() -> None:
    """Run everything, keep what came out, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.serving", description=__doc__)
    parser.add_argument("--wheels", type=Path, default=Path(".serving"), metavar="DIR")
    parser.add_argument("--llama", metavar="PYTHON", help="has llama-cpp-python")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if not arguments.page:
        arguments.wheels.mkdir(exist_ok=True)
        engines = fetched(arguments.wheels)
        record["date"] = datetime.date.today().isoformat()
        record["versions"] = {engine.name: engine.version for engine in engines}
        record["configs"] = {name: asked(name, engines) for name in SIX}
        record["shipped"] = shipped(engines)
        if arguments.llama:
            record["llama.cpp"] = measured(arguments.llama)
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    main()
