"""The same stretch for four programs that run models: what to write where, and which limit.

docs/serving.md says what each of them did with these recipes, and at which version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from course_lab.rope.ladders import ORIGINAL
from course_lab.rope.tables import Table
from course_lab.rope.words import whole

ENGINES = ("transformers", "vllm", "sglang", "llama.cpp")
LIMITS = {"vllm": "--max-model-len", "sglang": "--context-length", "llama.cpp": "--ctx-size"}
REST = {"beta_fast": "--yarn-beta-fast", "beta_slow": "--yarn-beta-slow"}
"""Parameters of YaRN that are flags of llama.cpp, too."""
ARCHITECTURES = {
    "bloom": "bloom", "cohere2": "cohere2", "falcon": "falcon", "gemma3_text": "gemma3",
    "gpt2": "gpt2", "gpt_oss": "gpt-oss", "jamba": "jamba", "llama": "llama",
    "llama4_text": "llama4", "mistral": "llama", "mixtral": "llama", "phi3": "phi3",
    "qwen2": "qwen2", "qwen2_vl_text": "qwen2vl", "qwen2_5_vl_text": "qwen2vl", "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe", "smollm3": "smollm3",
}  # fmt: skip
"""What llama.cpp calls model types, where its converter has one name for all of a type. Sources:
ggml-org/llama.cpp, the classes of conversion/*.py, and gguf-py/gguf/constants.py."""


def architecture(model_type: str, levels: tuple[str, ...]) -> str:
    """llama.cpp's name for a network; empty where the type alone does not say it: the same text
    model inside of another may have another name there (Mistral's in Mistral 3)."""
    is_own = not levels or model_type.endswith("_text")
    return ARCHITECTURES.get(model_type, "") if is_own else ""


class Recipe(NamedTuple):
    """What a model needs so that it reads a longer text."""

    length: int
    entries: dict[str, Any]
    """What config.json gets, nested as the file is."""
    levels: tuple[str, ...]
    """The keys under which the entries stand."""
    limit: str
    """The key of the length."""
    remove: tuple[str, ...]
    """Old keys at the level of the entries, which would be read in their place."""
    stretched: list[Table]
    loaded: tuple[str, ...]
    """The keys under which the entries stand when transformers has read the file."""
    several_types: bool
    """Whether layers of several types have parameters of their own."""
    architecture: str = ""
    """llama.cpp's name for the model; empty if it is not known."""

    @property
    def where(self) -> str:
        """The level of the entries, in words."""
        return f"under {', '.join(self.levels)}" if self.levels else "at the top of the file"

    @property
    def inner(self) -> dict[str, Any]:
        """The entries without their levels."""
        found = self.entries
        for level in self.levels:
            found = found[level]
        return found

    @property
    def overrides(self) -> dict[str, Any]:
        """The entries as an engine takes them, which overrides what transformers has read."""
        found = self.inner
        for level in reversed(self.loaded):
            found = {level: found}
        return found

    def lines(self, engine: str | None) -> Iterator[str]:
        """For all engines in short, or for one in full."""
        if engine in (None, "transformers"):
            yield from self._file(engine == "transformers")
        said = commands(self)
        if engine is None:
            yield "or leave the file as it is, and start with"
            yield from (f"  {name}: {words}" for name, words in said.items())
        elif engine != "transformers":
            yield f"{engine}:"
            yield f"  {said[engine]}"
            yield from (f"  {line}" for line in _in_full(self, engine))

    def _file(self, in_full: bool) -> Iterator[str]:
        yield f"write into config.json, {self.where}, and keep all other keys; {self.limit} is"
        yield "the limit that engines keep to:"
        text = json.dumps(self.entries, indent=2)
        lines = re.sub(r"\[[^\[\]{}]*\]", _in_a_row, text).splitlines()
        yield from (f"  {line}" for line in lines)
        for key in self.remove:
            yield f"remove {key} {self.where}: where it stands, nothing else is read"
        if in_full:
            yield from _in_full(self, "transformers")


def _in_a_row(found: re.Match[str]) -> str:
    """A list of numbers in one line."""
    return json.dumps(json.loads(found.group()))


def flags(length: int, engine: str | None = None) -> str:
    """What an engine is started with where the model needs nothing."""
    each = {name: f"{name} {flag} {length}" for name, flag in LIMITS.items()}
    if engine == "transformers":
        return "transformers refuses no length"
    return f"start {each[engine] if engine else ', '.join(each.values())}"


def commands(recipe: Recipe) -> dict[str, str]:
    """The options of the engines that take a stretch from the command line."""
    overrides = json.dumps(recipe.overrides)
    return {
        "vllm": f"--hf-overrides '{overrides}' --max-model-len {recipe.length}",
        "sglang": f"--json-model-override-args '{overrides}' --context-length {recipe.length}",
        "llama.cpp": _llama_cpp(recipe),
    }


def _llama_cpp(recipe: Recipe) -> str:
    """Its flags, or why there are none."""
    if not recipe.stretched:
        name, said = recipe.architecture, ""
        if not name:
            name, said = "ARCHITECTURE", " (the architecture as the GGUF file calls it)"
        key = f"{name}.context_length"
        return f"--ctx-size {recipe.length} --override-kv {key}=int:{recipe.length}{said}"
    table = recipe.stretched[0]
    if recipe.several_types or table.kind != "yarn":
        return (
            "no flags: change config.json and convert the model again (convert_hf_to_gguf.py), "
            f"then --ctx-size {recipe.length}"
        )
    given = table.place.given
    flags = (
        f"--rope-scaling yarn --rope-scale {given['factor']:g} --yarn-orig-ctx {given[ORIGINAL]}"
    )
    flags += "".join(f" {flag} {given[key]:g}" for key, flag in REST.items() if key in given)
    return f"{flags} --ctx-size {recipe.length}"


def _in_full(recipe: Recipe, engine: str) -> Iterator[str]:
    """Limits and traps of one engine."""
    most = whole(recipe.inner[recipe.limit])
    if engine == "transformers":
        if recipe.levels:
            yield f"the level counts: outside of {', '.join(recipe.levels)} nobody reads them"
        yield f"limit: {recipe.limit}, {most}; no length is refused, generate reminds of it"
        yield "load the model after the change: a config that is changed later changes nothing"
    elif engine in ("vllm", "sglang"):
        yield f"limit: {LIMITS[engine]}, at most {recipe.limit} ({most}); the factor does not count"
        yield "the entries may stand in config.json instead; then the flag alone is needed"
    else:
        yield "limit: --ctx-size; its server stops at the length that the GGUF file names"
        if not recipe.stretched:
            yield "a file that is converted from the changed config.json names the new one"
            return
        yield "flags of YaRN raise that length (since August 2026; before, --override-kv did)"
        yield "the flags hold for the whole process, and for every layer"
        if any("truncate" in table.place.given for table in recipe.stretched):
            yield "llama.cpp rounds the ends of the ramp, whatever truncate says"
        if any("attention_factor" in table.place.given for table in recipe.stretched):
            yield "attention_factor is no flag: llama.cpp takes 0.1 ln(factor) + 1"
