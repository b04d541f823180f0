"""The same stretch for four programs that run models: what to write where, and which limit.

docs/serving.md says what each of them did with these recipes, and at which version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from course_lab.rope.known import release
from course_lab.rope.ladders import ORIGINAL
from course_lab.rope.tables import Table
from course_lab.rope.words import whole

ENGINES = ("transformers", "vllm", "sglang", "llama.cpp")
CHECKED = {
    "transformers": release(), "vllm": "0.33.0", "sglang": "0.5.23",
    "llama.cpp": "llama-cpp-python 0.3.36",
}  # fmt: skip
"""The releases whose code was read or run; docs/serving.md says what was done with each."""
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


NOT_SERVED = ("t5",)
"""Types of which vLLM 0.33.0 and SGLang 0.5.23 have no code: looked up for the configs that are
shipped here."""
WITHOUT_WINDOW = {
    "phi3": "its pull request 13676 of May 2025 took it out",
    "llama": "its code of these models has none",
}  # fmt: skip
"""Models, as llama.cpp calls them, whose window it does not apply. Sources: load_arch_hparams in
src/models/phi3.cpp and src/models/llama.cpp, as llama-cpp-python 0.3.36 brings them."""


def architecture(model_type: str, levels: tuple[str, ...]) -> str:
    """llama.cpp's name for a network; empty where the type alone does not say it: the same text
    model inside of another may have another name there (Mistral's in Mistral 3)."""
    is_own = not levels or model_type.endswith("_text")
    return ARCHITECTURES.get(model_type, "") if is_own else ""


def named(engine: str) -> str:
    """An engine with the release that was checked."""
    version = CHECKED[engine]
    return f"{engine} ({version})" if " " in version else f"{engine} {version}"


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
    model_type: str = ""

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
            yield from (f"  {named(name)}: {words}" for name, words in said.items())
            if older := older_versions(self):
                yield "older versions take other keys and flags:"
                yield from (f"  {words}" for words in older.values())
        elif engine != "transformers":
            yield f"{named(engine)}{self._kept_elsewhere()}:"
            yield f"  {said[engine]}"
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


def flags(length: int, engine: str | None = None, model_type: str = "") -> str:
    """What an engine is started with where the model needs nothing."""
    each = {name: f"{named(name)} with {flag} {length}" for name, flag in LIMITS.items()
            if name == "llama.cpp" or model_type not in NOT_SERVED}  # fmt: skip
    if engine == "transformers":
        return "transformers refuses no length"
    if engine and engine not in each:
        return f"{named(engine)} has no code for this model"
    return f"start {each[engine] if engine else ', '.join(each.values())}"


def without_window(name: str, window: int) -> str:
    """What a model loses in llama.cpp, which calls it `name`; empty if it loses nothing."""
    if name not in WITHOUT_WINDOW:
        return ""
    return (
        f"{named('llama.cpp')} does not apply this window ({WITHOUT_WINDOW[name]}): a query sees "
        f"all tokens there, farther back than the {whole(window)} that the model knows. Keep texts "
        f"within {whole(window)} tokens there, or take another engine"
    )


def commands(recipe: Recipe) -> dict[str, str]:
    """The options of the engines that take a stretch from the command line."""
    overrides = json.dumps(recipe.overrides)
    if recipe.model_type in NOT_SERVED:
        none = "no code for this model"
        return {"vllm": none, "sglang": none, "llama.cpp": _llama_cpp(recipe)}
    return {
        "vllm": f"--hf-overrides '{overrides}' --max-model-len {recipe.length}",
        "sglang": f"--json-model-override-args '{overrides}' --context-length {recipe.length}",
        "llama.cpp": _llama_cpp(recipe),
    }


def _llama_cpp(recipe: Recipe) -> str:
    """Its flags, or why there are none."""
    if not recipe.stretched:
        return f"--ctx-size {recipe.length} {_override(recipe)}"
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
    if recipe.loaded:
        found["sglang"] = (
            f"older SGLang fails on {recipe.loaded[0]} in this option (its issue 33505 of August "
            "2026): change config.json there"
        )
    if "--rope-scaling" in _llama_cpp(recipe):
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
        yield "the entries may stand in config.json instead; then the flag alone is needed"
        if engine == "vllm":
            yield "its flag --rope-scaling is gone since November 2025 (pull request 28006)"
    else:
        yield "limit: --ctx-size; its server stops at the length that the GGUF file names"
        if not recipe.stretched:
            yield "a file that is converted from the changed config.json names the new one"
            return
        yield "flags of YaRN raise that length"
        yield "the flags hold for the whole process, and for every layer"
        if any("truncate" in table.place.given for table in recipe.stretched):
            yield "llama.cpp rounds the ends of the ramp, whatever truncate says"
        if any("attention_factor" in table.place.given for table in recipe.stretched):
            yield "attention_factor is no flag: llama.cpp takes 0.1 ln(factor) + 1"
