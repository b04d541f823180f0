"""docs/serving.md stands on what engines' own code did, and is what that run wrote."""

import datetime
import json
import re
import zipfile

import pytest

from course_lab.rope import CONFIGS
from course_lab.rope.config import reading
from course_lab.rope.plan import Works, plan
from tools.serving.__main__ import RECIPES
from tools.serving.engines import functions
from tools.serving.page import OLD, PAGE, RECORD, page

WORDS = json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_page_is_what_the_record_says():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(WORDS)
    day = datetime.date.fromisoformat(WORDS["date"])
    assert f"{day + datetime.timedelta(OLD):%d %B %Y}" in text.split("##")[0]


@pytest.mark.parametrize("name", WORDS["configs"])
def test_each_recipe_was_accepted_or_its_refusal_is_shown(name):
    one = WORDS["configs"][name]
    for said in one["engines"].values():
        if "overrides" in one:
            assert said["with the recipe"] == f"serves {one['length']}"
            assert said.get("pairs off by", 0) < 1e-6
        else:
            assert one["said"][0] in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [one for one in WORDS["configs"] if one != "longrope"])
def test_the_recipes_that_were_run_are_those_that_are_printed_today(name):
    made = plan(reading(CONFIGS / f"{name}.json"), WORDS["configs"][name]["length"])
    assert made.recipe.overrides == WORDS["configs"][name]["overrides"]


@pytest.mark.parametrize("length", WORDS["shipped"])
def test_both_engines_accepted_what_the_advice_promises_for_each_shipped_config(length):
    names = {path.stem for path in CONFIGS.glob("*.json")}
    assert names == {*WORDS["shipped"][length]}
    for name in names - {"t5-small"}:
        made = plan(reading(CONFIGS / f"{name}.json"), int(length))
        serving = WORDS["shipped"][length]
        how = "as it is" if made.works is Works.YES else "with the recipe"
        accepted = {f"{engine} {how}" for engine in ("vLLM", "SGLang")}
        if made.works in (Works.NO, Works.UNKNOWN):
            assert not serving[name], name
        else:
            assert accepted <= {*serving[name]}, name


def test_the_versions_are_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for engine, version in WORDS["versions"].items():
        assert re.search(rf"{engine}\s+{re.escape(version)}", text)


def test_functions_are_taken_out_of_a_wheel(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("a.py", "import nothing\nN = 2\ndef f(x): return g(x) + N\n"
                               "class C:\n    @property\n    def m(self): return 3\n")  # fmt: skip
    found = functions(tmp_path / "a.whl", "a.py", ["N", "f", "C.m"], g=lambda x: 10 * x)
    assert found.f(4) == 42 and found.m(None) == 3


def test_losses_of_llama_cpp_stand_beside_ours():
    """With made-up losses of theirs: ours are those of the stored records."""
    losses = {name: {"a": [3.0, 3.1], "b": [2.9, 3.0]} for name in RECIPES}
    flags = {name: flag for name, (flag, _) in RECIPES.items()}
    record = {**WORDS, "llama.cpp": {"version": "0.3.36", "losses": losses, "flags": flags}}
    section = page(record).split("## What llama.cpp computed")[1].split("##")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| ")]
    assert [row[0].strip() for row in rows[2:]] == list(RECIPES)
    assert {row[2].strip() for row in rows[2:]} == {"3.000"}
    assert all(2 < float(row[3]) < 5 for row in rows[2:]) and "0.3.36" in section
