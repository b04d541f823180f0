"""The same stretch for four programs that run models: what to write where, and which limit.

docs/serving.md says what each of them did with these recipes, and at which version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from course_lab.rope.known import release
from course_lab.rope.ladders import ORIGINAL
from course_lab.rope.tables import Table
from course_lab.rope.words import whole

ENGINES = ("transformers", "vllm", "sglang", "llama.cpp")
CHECKED = {"vllm": "0.33.0", "sglang": "0.5.23", "llama.cpp": "llama-cpp-python 0.3.36"}
OLDER = "transformers 4 (4.57.3)"
LIMITS = {"vllm": "--max-model-len", "sglang": "--context-length", "llama.cpp": "--ctx-size"}
REST = {"beta_fast": "--yarn-beta-fast", "beta_slow": "--yarn-beta-slow"}
"""Parameters of YaRN that are flags of llama.cpp, too."""
ARCHITECTURES = {
    "bloom": "bloom", "cohere2": "cohere2", "deepseek_v3": "deepseek2", "falcon": "falcon",
    "gemma3_text": "gemma3", "gpt2": "gpt2", "gpt_neox": "gptneox", "gpt_oss": "gpt-oss",
    "jamba": "jamba", "llama": "llama", "llama4_text": "llama4", "mistral": "llama",
    "mixtral": "llama", "phi3": "phi3", "qwen2": "qwen2",
    "qwen2_vl_text": "qwen2vl", "qwen2_5_vl_text": "qwen2vl", "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe", "qwen3_vl_text": "qwen3vl", "smollm3": "smollm3", "t5": "t5",
}  # fmt: skip
"""What llama.cpp calls model types, where its converter has one name for all of a type. Sources:
ggml-org/llama.cpp, the classes of conversion/*.py, and gguf-py/gguf/constants.py."""


NOT_SERVED = {
    "vllm": ("t5",), "sglang": ("bloom", "falcon", "jamba", "t5"), "llama.cpp": ("gptj",),
}  # fmt: skip
"""Types of which an engine has no code, looked up for the configs that are shipped here. Sources:
vLLM's and SGLang's models/registry.py and the classes of SGLang's models/*.py; SGLang's
models/transformers.py refuses classes of transformers with `_supports_attention_backend` false, as
these have it; llama.cpp's src/models has no file for GPT-J, and its converter no class."""
NO_WINDOW = "its code of these models has none"
WITHOUT_WINDOW = {
    "llama.cpp": {"phi3": "its pull request 13676 of May 2025 took it out", "llama": NO_WINDOW},
    "sglang": {"mistral": NO_WINDOW, "mixtral": NO_WINDOW, "phi3": NO_WINDOW},
}  # fmt: skip
"""Models whose window an engine does not apply, by llama.cpp's names and by model types. Sources:
load_arch_hparams in src/models/phi3.cpp and src/models/llama.cpp, as llama-cpp-python 0.3.36 brings
them; RadixAttention in SGLang's models/llama.py and models/mixtral.py, without a window size."""
NO_FLAGS = "no flags"
LABELS = {"vllm": "vLLM", "sglang": "SGLang", "llama.cpp": "llama.cpp's server",
          "transformers": "transformers"}  # fmt: skip


def checked() -> dict[str, str]:
    """The releases whose code was read or run; docs/serving.md says what was done with each."""
    return {"transformers": release(), **CHECKED}


def architecture(model_type: str, levels: tuple[str, ...]) -> str:
    """llama.cpp's name for a network; empty where the type alone does not say it: the same text
    model inside of another may have another name there (Mistral's in Mistral 3)."""
    is_own = not levels or model_type.endswith("_text")
    return ARCHITECTURES.get(model_type, "") if is_own else ""


def named(engine: str) -> str:
    """An engine with the release that was checked."""
    version = checked()[engine]
    return f"{engine} ({version})" if " " in version else f"{engine} {version}"


def started(engine: str) -> str:
    """An engine, and of llama.cpp the program that takes the flags."""
    return f"llama-server of {named(engine)}" if engine == "llama.cpp" else named(engine)


def unfit(
    model_type: str, levels: tuple[str, ...], has_alibi: bool, window: int | None
) -> dict[str, str]:
    """Engines that do not run a model as it was trained, and why; `window` is the narrowest one
    that the text exceeds."""
    found = {name: "no code for this model" for name, types in NOT_SERVED.items()
             if model_type in types}  # fmt: skip
    if model_type == "falcon" and has_alibi:
        found["llama.cpp"] = (
            "its code of falcon always rotates, and this model has ALiBi: it would run, and read "
            "wrongly"
        )
    names = {"llama.cpp": architecture(model_type, levels), "sglang": model_type}
    for engine, name in names.items() if window else ():
        if why := WITHOUT_WINDOW[engine].get(name):
            found[engine] = (
                f"it does not apply this window ({why}): a query sees all tokens there, farther "
                f"back than the {whole(window or 0)} that the model knows. Keep texts within "
                f"{whole(window or 0)} tokens there, or take another engine"
            )
    return {name: found[name] for name in LIMITS if name in found}


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
    unfit: Mapping[str, str] = MappingProxyType({})
    """Engines that do not run the model as it was trained, and why."""

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
            yield f"or leave the file as it is, and start with{self._kept_elsewhere()}"
            yield from (f"  {started(name)}: {words}" for name, words in said.items())
            yield from (f"  {named(name)}: {why}" for name, why in self.unfit.items())
            if older := older_versions(self):
                yield "older versions take other keys and flags:"
                yield from (f"  {words}" for words in older.values())
        elif engine in self.unfit:
            yield f"{named(engine)}: {self.unfit[engine]}"
        elif engine != "transformers":
            yield f"{started(engine)}{self._kept_elsewhere()}:"
            yield f"  {said[engine]}"
            if engine != "llama.cpp" or NO_FLAGS in said[engine]:
                with_flag = "" if engine == "llama.cpp" else f"or with {LIMITS[engine]} alone, "
                yield f"{with_flag}in config.json, {self.where}, all other keys being kept:"
                yield from self._block()
            yield from (f"  {line}" for line in _in_full(self, engine))

    def _kept_elsewhere(self) -> str:
        """Why the options have a level that the file does not have."""
        if len(self.loaded) == len(self.levels):
            return ""
        return (
            f" (the file has no {self.loaded[-1]}: transformers reads its keys at the top, and "
            f"then keeps them under {self.loaded[-1]})"
        )

    def _file(self, in_full: bool) -> Iterator[str]:
        yield (
            f"write into config.json, {self.where}, and keep all other keys "
            f"({named('transformers')});"
        )
        yield f"{self.limit} is the limit that engines keep to:"
        yield from self._block()
        if in_full:
            yield from _in_full(self, "transformers")

    def _block(self) -> Iterator[str]:
        """The entries as they stand in a file, and what has to go there."""
        text = json.dumps(self.entries, indent=2)
        lines = re.sub(r"\[[^\[\]{}]*\]", _in_a_row, text).splitlines()
        yield from (f"  {line}" for line in lines)
        for key in self.remove:
            yield f"remove {key} {self.where}: where it stands, nothing else is read"


def _in_a_row(found: re.Match[str]) -> str:
    """A list of numbers in one line."""
    return json.dumps(json.loads(found.group()))


def flags(length: int, engine: str | None, unfit: Mapping[str, str]) -> Iterator[str]:
    """What an engine is started with where the model needs nothing."""
    if engine == "transformers":
        yield "nothing to write; transformers refuses no length"
        return
    each = {name: flag for name, flag in LIMITS.items() if engine in (None, name)}
    start = [f"{started(name)} with {flag} {length}" for name, flag in each.items()
             if name not in unfit]  # fmt: skip
    if start:
        yield f"nothing to write; start {', '.join(start)}"
    yield from (f"{named(name)}: {unfit[name]}" for name in each if name in unfit)


def commands(recipe: Recipe) -> dict[str, str]:
    """The options of the engines that take a stretch from the command line, and run the model."""
    overrides = json.dumps(recipe.overrides)
    each = {
        "vllm": f"--hf-overrides '{overrides}' --max-model-len {recipe.length}",
        "sglang": f"--json-model-override-args '{overrides}' --context-length {recipe.length}",
        "llama.cpp": _llama_cpp(recipe),
    }
    return {name: options for name, options in each.items() if name not in recipe.unfit}


def _llama_cpp(recipe: Recipe) -> str:
    """Its flags, or why there are none."""
    if not recipe.stretched:
        return f"--ctx-size {recipe.length} {_override(recipe)}"
    table = recipe.stretched[0]
    if recipe.several_types or table.kind != "yarn":
        return (
            f"{NO_FLAGS}: change config.json and convert the model again (convert_hf_to_gguf.py), "
            f"then --ctx-size {recipe.length}"
        )
    given = table.place.given
    flags = (
        f"--rope-scaling yarn --rope-scale {given['factor']:g} --yarn-orig-ctx {given[ORIGINAL]}"
    )
    flags += "".join(f" {flag} {given[key]:g}" for key, flag in REST.items() if key in given)
    return f"{flags} --ctx-size {recipe.length}"


def _override(recipe: Recipe) -> str:
    """The flag of llama.cpp that raises the length in its file."""
    name, said = recipe.architecture, ""
    if not name:
        name, said = "ARCHITECTURE", " (the architecture as the GGUF file calls it)"
    return f"--override-kv {name}.context_length=int:{recipe.length}{said}"


def older_versions(recipe: Recipe) -> dict[str, str]:
    """What differs in versions that people still have, by engine."""
    if not recipe.stretched:
        return {}
    found = {"transformers": (
        f"{OLDER} and engines that run on it read rope_scaling, not rope_parameters: give this "
        "block that name, and write rope_theta beside it, too"
    )}  # fmt: skip
    if recipe.several_types:
        found["transformers"] = (
            f"{OLDER} has no rope_parameters, and nothing of this form: take version 5"
        )
    if any(table.kind == "yarn" for table in recipe.stretched):
        found["vllm"] = (
            "vLLM before its pull request 56446 of September 2026 allowed the original length "
            f"times YaRN's factor by itself: entries without {recipe.limit} did there"
        )
    if recipe.loaded:
        found["sglang"] = (
            f"older SGLang fails on {recipe.loaded[0]} in this option (its issue 33505 of August "
            "2026): change config.json there"
        )
    if "--rope-scaling" in commands(recipe).get("llama.cpp", ""):
        found["llama.cpp"] = (
            "llama.cpp before its pull request 28030 of August 2026 wants, too: "
            f"{_override(recipe)}"
        )
    return found


def _in_full(recipe: Recipe, engine: str) -> Iterator[str]:
    """Limits and traps of one engine."""
    most = whole(recipe.inner[recipe.limit])
    under = () if engine == "llama.cpp" else ("transformers",)
    older = older_versions(recipe)
    yield from (older[name] for name in dict.fromkeys((*under, engine)) if name in older)
    if engine == "transformers":
        if recipe.levels:
            yield f"the level counts: outside of {', '.join(recipe.levels)} nobody reads them"
        yield f"limit: {recipe.limit}, {most}; no length is refused, generate reminds of it"
        yield "load the model after the change: a config that is changed later changes nothing"
    elif engine in ("vllm", "sglang"):
        yield f"limit: {LIMITS[engine]}, at most {recipe.limit} ({most}); the factor does not count"
        if engine == "vllm":
            yield "its flag --rope-scaling is gone since November 2025 (pull request 28006)"
    else:
        yield "limit: --ctx-size; its server stops at the length that the GGUF file names"
        if not recipe.stretched:
            yield "a file that is converted from the changed config.json names the new one"
            return
        if NO_FLAGS in _llama_cpp(recipe):
            return
        yield "flags of YaRN raise that length"
        yield "the flags hold for the whole process, and for every layer"
        if any("truncate" in table.place.given for table in recipe.stretched):
            yield "llama.cpp rounds the ends of the ramp, whatever truncate says"
        if any("attention_factor" in table.place.given for table in recipe.stretched):
            yield "attention_factor is no flag: llama.cpp takes 0.1 ln(factor) + 1"
