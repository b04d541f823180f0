"""docs/serving.md stands on what engines' own code did, and is what that run wrote."""

import datetime
import json
import re
import zipfile

import pytest

from course_lab.rope import CONFIGS
from course_lab.rope.config import reading
from course_lab.rope.plan import plan
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
