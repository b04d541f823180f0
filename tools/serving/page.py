"""docs/serving.md, from what the engines said."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from statistics import fmean
from typing import Any

from course_lab.markdown import table
from course_lab.studies.released import read

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
RECORD = Path(__file__).with_name("record.json")
TEXT = Path(__file__).with_name("serving.md")
"""The words of the page, with a place for each table."""
OLD = 60
"""Days after which the page says that it is old."""


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    day = datetime.date.fromisoformat(record["date"])
    until = day + datetime.timedelta(OLD)
    return TEXT.read_text(encoding="utf-8").format(
        date=f"{day:%d %B %Y}", until=f"{until:%d %B %Y}", configs=_configs(record),
        refused=_refused(record), llama=_llama(record), **record["versions"],
        recipes=_recipes(record),
    )  # fmt: skip


def _configs(record: dict[str, Any]) -> str:
    rows = []
    for name, one in record["configs"].items():
        cells = [f"{name}: {one['kind']}", f"{one['length']:,}".replace(",", " ")]
        for said in one["engines"].values():
            with_recipe = said.get("with the recipe")
            if with_recipe is None:
                cells.append(f"no recipe; as it is {_short(said['as it is'])}")
                continue
            pairs = said.get("pairs off by")
            same = "" if pairs is None else f", frequencies within {pairs:.0e}"
            cells.append(f"{_short(with_recipe)}{same}")
        rows.append(cells)
    return table(["config", "asked for", *record["versions"]], rows)


def _short(said: str) -> str:
    return "refused" if said.startswith("refused") else said


def _refused(record: dict[str, Any]) -> str:
    lines = []
    for engine, said in record["configs"]["llama-7b"]["engines"].items():
        words = said["as it is"].removeprefix("refused: ")
        lines.append(f'- {engine}, llama-7b as it is: "{words}"')
    for name, one in record["configs"].items():
        if "overrides" not in one:
            lines += [f'- `course rope`, {name}: "{said}"' for said in one["said"]]
    return "\n".join(lines)


def _recipes(record: dict[str, Any]) -> str:
    return "\n".join(
        f"{json.dumps(one['overrides'])}"
        for one in record["configs"].values()
        if "overrides" in one
    )


def _llama(record: dict[str, Any]) -> str:
    if "llama.cpp" not in record:
        return "llama.cpp was not run."
    stored = record["llama.cpp"]
    rows = []
    for recipe, by_text in stored["losses"].items():
        theirs = fmean(fmean(blocks) for blocks in by_text.values())
        ours = fmean(
            fmean(one.value for one in read("changed", recipe, start=start)) for start in (0, 1024)
        )
        flags = f"`{stored['flags'][recipe]}`" if stored["flags"][recipe] else "none"
        rows.append([recipe, flags, f"{theirs:.3f}", f"{ours:.3f}"])
    head = (
        f"llama.cpp, as llama-cpp-python {stored['version']} brings it, read the first 2 048 "
        "tokens of six texts with the released model of lesson 16. Nats per token, beside the "
        "course's own attention on the same tokens:\n\n"
    )
    return head + table(["stretch", "flags", "llama.cpp", "here"], rows)
