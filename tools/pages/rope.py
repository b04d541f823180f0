"""docs/course-rope.md: what `course rope` prints for six published configs, with pictures."""

from __future__ import annotations

from course_lab.figures import real_models, style
from course_lab.rope import CONFIGS
from course_lab.rope.advice import advice
from course_lab.rope.config import Reading, reading
from course_lab.rope.summary import summary

SIX = ("llama-3.1-8b", "qwen2.5-7b-128k", "gemma-3-4b", "qwen3-vl-8b", "deepseek-v3",
       "smollm3-3b")  # fmt: skip
STRETCHED, LENGTH = "llama-7b", 8192
TEXT = """\
# What course rope prints

Written by `make pages ARGS=rope`. `course rope path/to/model` reads a config as transformers reads
it, downloads nothing and needs no GPU. It takes a folder, a config.json, Mistral's or Meta's
`params.json`, a GGUF file (its metadata alone), JSON with comments, YAML, an index of weights
beside a config, or `-` for standard input. An adapter's folder is answered
with the name of its model.

| option | what it does |
| --- | --- |
| two configs | says in what they differ, for positions |
| `--for N` | what to write where for N tokens, which limit to raise, and the price |
| `--engine NAME` | of transformers, vllm, sglang or llama.cpp, one in full |
| `--pairs` | all notes, and a line for each pair |
| `--json` | for programs, see below |
| `--strict` | the exit status is 1 if there are warnings, those of `--for` too; else 0, and 2 \
for a file that cannot be read |
| `--part KEY` | another network of the file, such as `vision_config` |
| `--picture FILE` | draws it |

Two words have one meaning each. A model is *made for* the length that it reads as its config
stands, a stretch in it included. The length *before the stretch* is the one that its config names
for the time before it: its makers may have trained on longer texts afterwards. Pairs whose
frequencies change are *slowed*, all others *kept*.

What `--for` says of engines was checked with the versions that it names: their keys, limits and
flags. Whether an engine has a model's code was looked up for the configs that are shipped. Of a
stretch that a model comes with, it gives prices and gains of other models, which were stretched
without training, and none where no record has them.

## Six published configs
"""
AS_JSON = """\
## For programs

`--json` prints one object. `course_rope` is the version of this form, 1; it grows when a key goes
or changes its meaning, and new keys may come without.

| key | value |
| --- | --- |
| `name`, `model_type`, `known` | the model; its type, or null; whether transformers has this type |
| `inside`, `other_parts` | the keys under which the text model stands; the networks beside it |
| `groups` | layers that are alike: `layers`, `total`, `name`, `kind`, `words`, `lesson`, \
`window`, `notes`, `warnings`, and `table`, null where nothing turns |
| `table` | `kind` (the rope_type), `base`, `head_dim`, `original_length`, `length`, \
`attention_factor`, `temperature`, `sections`, `axes`, `plain` and `frequencies` (radians per \
position for each pair, before and after a stretch), `parameters` (as in the file) |
| `warnings` | each with its `remedy` |
| `advice` | with `--for`: `works` (yes, runs, after the limit is raised, after a stretch, \
depends, unknown, no), `why`, `said`, `warnings`, `entries`, `remove`, `commands`, `unfit` \
(engines that do not run the model as it was trained, and why), `frequencies`, `checked` \
(the versions of engines) and `older` (what earlier ones read) |
| `other`, `differences` | with two configs |

It holds what `course_lab.rope.read` gives in Python.
"""


def page() -> str:
    """The whole page."""
    parts = [TEXT]
    for name in SIX:
        read = reading(CONFIGS / f"{name}.json")
        words = "\n".join(line.words for line in summary(read))
        parts.append(f"```text\n{words}\n```\n\n![{_alt(read)}](course-rope-{name}.png)\n")
    said = "\n".join(advice(reading(CONFIGS / f"{STRETCHED}.json"), LENGTH))
    parts.append(
        f"## A longer text\n\n`course rope {STRETCHED}.json --for {LENGTH}` prints, besides:\n\n"
        f"```text\n{said}\n```\n\n[Serving](serving.md) has what engines did with such entries.\n"
    )
    return "\n".join([*parts, AS_JSON])


def _alt(read: Reading) -> str:
    kinds = "; ".join(f"{group.name or 'all layers'}: {group.kind}" for group in read.groups)
    return f"{read.name}, layers and pairs: {kinds}. The lines above say the same in numbers."


def pictures() -> dict[str, bytes]:
    """The pictures of the page, by the names of their files."""
    found = {}
    for name in SIX:
        read = reading(CONFIGS / f"{name}.json")
        drawn = real_models.layers_and_pairs(read.groups, read.name)
        found[f"course-rope-{name}.png"] = style.png(drawn)
    return found
