"""An edition in another language: what is shown, what stays, and that no answer is ever lost."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sample_specs
import sampling
from samples import NAME, MakeWorkshop, Workshop, cell, cells_of, save

from course_grading import cli
from course_grading.cli import main
from course_grading.running import runner
from course_grading.sheets import notebooks
from course_grading.sheets.languages import language_of
from course_lab import command_line
from course_lab.figures.explorer import WAKE
from course_lab.findings import MIME
from tools.translation import catalogue, edition, pages, phrases, texts, writing
from tools.translation.__main__ import main as translation
from tools.translation.catalogue import Entry
from tools.translation.edition import NOT_BEGUN, STALE, UNTRANSLATED

ROOT = Path(__file__).parents[2]
Cells = list[dict[str, Any]]


def words(id: str, source: str) -> dict[str, Any]:
    return {"id": id, "cell_type": "markdown", "metadata": {"tags": ["kept"]}, "source": source}


def code(id: str, source: str) -> dict[str, Any]:
    return {**cell(id, source), "execution_count": None, "outputs": []}


def plot(id: str, alt: str) -> dict[str, Any]:
    metadata = {"image/png": {"alt": alt}, "more": [1]}
    output = {"data": {"image/png": "iVBO"}, "metadata": metadata, "output_type": "display_data"}
    return {**code(id, "plot()"), "outputs": [output]}


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"a": 1}, "nbformat": 4, "nbformat_minor": 5}


LESSON = notebook(words("title", "# Head\n\nIt is 7."), code("run", "x = 7"), plot("plot", "One."))
CHINESE = [
    Entry("title", "# Head\n\nIt is 7.", "# 头\n\n是 7。"),
    Entry("plot alt", "One.", "一。"),
]


def shown(lesson: dict[str, Any], entries: list[Entry]) -> dict[str, str]:
    return {one["id"]: one["source"] for one in edition.translated(lesson, entries)["cells"]}


def test_words_are_translated_and_all_else_stays():
    before = json.dumps(LESSON)
    translated = edition.translated(LESSON, CHINESE)
    assert json.dumps(LESSON) == before
    expected = json.loads(before)
    expected["cells"][0]["source"] = "# 头\n\n是 7。"
    expected["cells"][2]["outputs"][0]["metadata"]["image/png"]["alt"] = "一。"
    assert translated == expected


def test_the_sentence_of_a_finding_is_said_in_chinese_and_its_numbers_stay():
    shown = "<details><summary><b>F1.</b> 1 &lt; 2. <i>(evidence)</i></summary>\n\n| 1 |</details>"
    data = {MIME: json.dumps({"number": "F1", "sentence": "1 < 2."}), "text/markdown": [shown]}
    before = notebook(plot("plot", "1.") | {"outputs": [{"data": data}]})
    said = {"1 < 2.": "1 < 2，没错。", "(evidence)": "（证据）"}
    (cell,) = edition.translated(before, [], said)["cells"]
    assert cell["outputs"][0]["data"]["text/markdown"] == (
        "<details><summary><b>F1.</b> 1 &lt; 2，没错。 <i>（证据）</i></summary>\n\n| 1 |</details>"
    )
    (untranslated,) = edition.translated(before, [])["cells"]
    assert untranslated["outputs"][0]["data"]["text/markdown"] == shown


def test_checks_and_explorers_have_phrases_for_what_they_put_together():
    lines = [text.english for text in phrases.checks(ROOT)]
    assert "  should have shape {0}, got {1}" in lines
    assert "  changed its input in place: work on a new one (x = x * 2, not x *= 2)" in lines
    assert "{number} {verdict}{points}: {title}" in lines and "The sinusoidal encoding" in lines
    assert not [line for line in lines if "What is wrong with one outcome" in line]
    mistakes = {text.english for text in phrases.mistakes("02_sinusoidal_encoding", ROOT)}
    assert {"counts from 1", "Ask for a position far out as well."} <= mistakes
    labels = {text.english for text in phrases.explorers(ROOT)}
    assert {"move both together", "a ladder each", WAKE} <= labels


def test_what_stands_over_an_explorer_is_said_in_chinese():
    before = notebook(plot("plot", "1.") | {"outputs": [{"text": [f"{WAKE}\n"]}]})
    (cell,) = edition.translated(before, [], {WAKE: "请运行。"})["cells"]
    assert cell["outputs"] == [{"text": "请运行。\n"}]


def test_a_changed_cell_shows_its_english_marked_and_no_old_number():
    changed = notebook(
        words("title", "# Head\n\nIt is 8."), words("next", "Next."), plot("plot", "2.")
    )
    entries = [*CHINESE, Entry("next", "Next.", "下面。")]
    assert shown(changed, entries)["title"] == f"# Head\n\n{STALE}\n\nIt is 8."
    alt = edition.translated(changed, entries)["cells"][2]["outputs"][0]["metadata"]["image/png"]
    assert alt == {"alt": "2."}
    in_line = catalogue.updated(entries, texts.of_notebook(changed))
    assert edition.translated(changed, in_line) == edition.translated(changed, entries)


def test_a_cell_that_was_never_translated_is_marked_too():
    more = notebook(*LESSON["cells"], words("new", "New."))
    assert shown(more, CHINESE)["new"] == f"{UNTRANSLATED}\n\nNew."


def test_a_notebook_without_translations_has_one_mark():
    more = notebook(*LESSON["cells"], words("new", "New."))
    for nothing in ([], [Entry("new", "New.")]):
        sources = shown(more, nothing)
        assert sources["title"] == f"# Head\n\n{NOT_BEGUN}\n\nIt is 7." and sources["new"] == "New."


PAGE = "# Top\n\nOne.\n\n- a\n\n  Two.\n\n```sh\nmake\n\n```\n\n## Under\n\nSee [it](#under).\n"


def test_a_page_is_translated_around_its_code_and_its_links_find_their_headings():
    entries = [
        Entry("top", "# Top", "# 顶"), Entry("top", "One.", "一。"), Entry("top", "- a", "- 甲"),
        Entry("under", "## Under", "## 下面"),
        Entry("under", "See [it](#under).", "见[这里](#under)。"),
    ]  # fmt: skip
    assert edition.translated_page(PAGE, entries) == (
        f"# 顶\n\n一。\n\n- 甲\n\n  {UNTRANSLATED}\n\n  Two.\n\n```sh\nmake\n\n```\n\n"
        "## 下面\n\n见[这里](#下面)。\n"
    )
    assert edition.translated_page(PAGE, []) == PAGE.replace("# Top", f"# Top\n\n{NOT_BEGUN}", 1)


def test_a_changed_paragraph_of_a_page_shows_its_english_marked():
    entries = [Entry("top", "Once upon a time one.", "从前有一。")]
    page = edition.translated_page("# Top\n\nOnce upon a time two.\n", entries)
    assert f"{STALE}\n\nOnce upon a time two.\n" in page and "从前" not in page


@pytest.mark.parametrize(
    ("link", "becomes"),
    [
        ("[a](../docs/a.md)", "[a](../docs/a.md)"),
        ("[a](../docs/a.md#b)", "[a](../docs/a.md#b)"),
        ("[a](../docs/a.md#gpu)", "[a](../docs/a.md#使用-gpu)"),
        ("[a](../other.md#gpu)", "[a](../../other.md#gpu)"),
        ("[a](../docs)", "[a](../docs)"),
        ("![a](../docs/a.png)", "![a](../../docs/a.png)"),
        ("[`a`](../course_lib/a.py)", "[`a`](../../course_lib/a.py)"),
        ("[a](https://a.b/c)", "[a](https://a.b/c)"),
        ("[a](#b) `[a](x.py)`", "[a](#b) `[a](x.py)`"),
        ("```\n[a](x.py)\n```\n[a](x.py)", "```\n[a](x.py)\n```\n[a](../x.py)"),
    ],
)
def test_links_lead_to_pages_of_the_edition_and_else_to_the_course(link, becomes):
    inside = {"docs/a.md", "notebooks/a.ipynb"}
    anchors = {"docs/a.md": edition.anchors_of("# A\n\n## GPU", "# 甲\n\n## 使用 GPU")}
    assert writing.with_links(link, "notebooks/a.ipynb", inside, anchors) == becomes


def test_a_page_and_its_translation_have_the_same_headings():
    with pytest.raises(ValueError, match="shorter"):
        edition.anchors_of("# A\n\n## B", "# 甲")


# A course with an edition


@dataclass
class Course:
    """A small course in a temporary folder, with a sheet of sample exercises."""

    shop: Workshop
    folder: Path
    run: Callable[..., str]

    @property
    def sheet(self) -> Path:
        return self.folder / "zh" / "exercises" / NAME

    @property
    def lesson(self) -> Path:
        return self.folder / "zh" / "notebooks" / NAME

    def say(self, name: str, *entries: Entry) -> None:
        catalogue.write(self.folder / "translations" / "zh" / f"{name}.po", entries, "zh_CN")

    def translate(self, *arguments: str) -> str:
        where = ("--course", str(self.folder), "--released", str(self.shop.released))
        return self.run(translation, "zh", *where, *arguments)

    def release(self, cells: Cells) -> None:
        save(self.shop.released / NAME, cells)


@pytest.fixture
def course(workshop: MakeWorkshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Course:
    def run(command: Callable[[list[str]], int], *arguments: str) -> str:
        assert command([*arguments]) == 0
        return capsys.readouterr().out

    made = Course(workshop([1, 2, sample_specs.NUMBER]), tmp_path, run)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Read me\n\n![A picture](docs/a.png)\n")
    (tmp_path / "docs" / "a.md").write_text("# A page\n\n[Back](../README.md)\n")
    notebooks.write(tmp_path / "notebooks" / NAME, LESSON)
    made.say(f"notebooks/{NAME[:-6]}", *CHINESE)
    made.say(f"exercises/{NAME[:-6]}", Entry("title", "# Sample", "# 样本"))
    return made


def source(path: Path, id: str) -> str:
    return str(next(one["source"] for one in cells_of(path) if one["id"] == id))


def change(path: Path, id: str, text: str) -> None:
    cells = cells_of(path)
    next(one for one in cells if one["id"] == id)["source"] = text
    save(path, cells)


def test_the_command_writes_the_course_into_a_folder_and_says_what_is_missing(
    course: Course,
) -> None:
    said = course.translate()
    written = {
        path.relative_to(course.folder / "zh").as_posix()
        for path in (course.folder / "zh").rglob("*.*")
        if ".written" not in path.parts
    } - {".written"}
    folders = ("notebooks", "exercises", "solutions")
    assert written == {"README.md", "docs/a.md", *(f"{folder}/{NAME}" for folder in folders)}
    assert source(course.sheet, "title") == "# 样本" and source(course.lesson, "title")[2] == "头"
    assert "### BEGIN SOLUTION" in source(
        course.folder / "zh" / "solutions" / NAME, "answer-scale-1"
    )
    assert (course.folder / "zh" / "README.md").read_text().endswith("](../docs/a.png)\n")
    assert "](../README.md)" in (course.folder / "zh" / "docs" / "a.md").read_text()
    left = f"task-scale-1, task-scale-2, task-scale-{sample_specs.NUMBER}"
    assert f"exercises/09_sample: not translated: {left}" in said
    assert "not begun: 2 of docs" in said
    assert "2 of 5 pages are begun; of their 6 texts translated 3 (50.0%), stale 0 (0.0%)" in said


def test_a_changed_english_sentence_is_found_by_one_command(course: Course) -> None:
    course.translate()
    change(course.folder / "notebooks" / NAME, "title", "# Head\n\nIt is 8.")
    said = course.translate()
    assert "notebooks/09_sample: stale: title\n" in said and "stale 1 (16.7%)" in said
    assert source(course.lesson, "title") == f"# Head\n\n{STALE}\n\nIt is 8."
    path = course.folder / "translations" / "zh" / "notebooks" / f"{NAME[:-6]}.po"
    before = path.read_text()
    assert "fuzzy" not in before
    assert f"{path}: brought in line" in course.translate("--update")
    assert '#| "It is 7."' in path.read_text() and "#, fuzzy" in path.read_text()
    assert source(course.lesson, "title") == f"# Head\n\n{STALE}\n\nIt is 8."
    change(course.folder / "notebooks" / NAME, "title", "# Head\n\nIt is 7.")
    course.translate("--update")
    assert path.read_text() == before
    assert source(course.lesson, "title") == "# 头\n\n是 7。"


def test_a_catalogue_is_begun_by_its_page(course: Course) -> None:
    course.translate("--begin", "docs/a")
    page = pages.named(course.folder, "docs/a")
    entries = catalogue.read(course.folder / "translations" / "zh" / "docs" / "a.po")
    assert [entry.english for entry in entries] == [text.english for text in page.texts()]
    assert translation(["zh", "--course", str(course.folder), "--begin", "docs/b"]) == 2


def test_what_is_up_to_date_is_not_touched(course: Course) -> None:
    course.translate()
    before = {path: path.stat().st_mtime_ns for path in (course.folder / "zh").rglob("*.ipynb")}
    course.translate()
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_an_answered_sheet_is_never_overwritten(course: Course) -> None:
    course.translate()
    cells = cells_of(course.sheet)
    answer = next(one for one in cells if one["id"] == "answer-scale-1")
    answer["source"] = "def scale_1(x, factor): return 1"
    output = {"output_type": "stream", "name": "stdout", "text": ["mine\n"]}
    answer["outputs"], answer["execution_count"] = [output], 3
    cells[3:3] = [words("my-note", "my note"), code("own", "mine = 1")]
    next(one for one in cells if one["id"] == "task-scale-2")["source"] = "I wrote into this."
    save(course.sheet, cells)
    before = course.sheet.read_bytes()
    course.translate()
    assert course.sheet.read_bytes() == before

    task = next(
        text
        for text in pages.named(course.folder, "exercises/09_sample").texts()
        if text.context == "task-scale-1"
    )
    title = Entry("title", "# Sample", "# 更好的样本")
    course.say("exercises/09_sample", title, Entry(*task, "## 任务"))
    course.translate()
    now = {one["id"]: one for one in cells_of(course.sheet)}
    assert now["title"]["source"] == "# 更好的样本" and now["task-scale-1"]["source"] == "## 任务"
    assert now["task-scale-2"]["source"] == "I wrote into this."
    for id in ("answer-scale-1", "my-note", "own", "check-scale-2"):
        assert now[id] == next(one for one in cells if one["id"] == id)
    assert list(now) == [one["id"] for one in cells]
    assert not (course.sheet.parent / ".backup").exists()


def test_a_sheet_that_was_only_run_follows_a_new_translation(course: Course) -> None:
    course.translate()
    course.say("exercises/09_sample", Entry("title", "# Sample", "# 更好的样本"))
    course.translate()
    assert source(course.sheet, "title") == "# 更好的样本"


def test_a_new_release_carries_answers_into_its_chinese_sheets(course: Course) -> None:
    course.translate()
    mine = "def scale_1(x, factor): return 1"
    change(course.sheet, "answer-scale-1", mine)
    before = course.sheet.read_bytes()
    newer = cells_of(course.shop.released / NAME)
    newer.insert(2, cell("new-cell", "print('new')"))
    course.release(newer)
    assert "1 answer in; your file is kept as " in course.translate()
    assert source(course.sheet, "answer-scale-1") == mine
    assert source(course.sheet, "new-cell") and source(course.sheet, "title") == "# 样本"
    (kept,) = (course.sheet.parent / ".backup").iterdir()
    assert kept.read_bytes() == before
    before = course.sheet.read_bytes()
    assert "kept" not in course.translate()
    assert course.sheet.read_bytes() == before


def test_a_sheet_that_was_renamed_gives_its_answers_to_the_new_one(course: Course) -> None:
    course.translate()
    mine = "def scale_1(x, factor): return 1"
    change(course.sheet, "answer-scale-1", mine)
    for folder in (course.shop.released, course.shop.solutions):
        (folder / NAME).rename(folder / "10_sample.ipynb")
    assert "1 answer in 10_sample.ipynb" in course.translate()
    assert source(course.sheet.with_name("10_sample.ipynb"), "answer-scale-1") == mine
    assert not course.sheet.exists()
    assert course.translate().startswith("notebooks") is False


def test_where_nobody_knows_what_was_written_answers_stay_and_a_copy_is_kept(
    course: Course,
) -> None:
    course.translate()
    mine = "def scale_1(x, factor): return 1"
    change(course.sheet, "answer-scale-1", mine)
    before = course.sheet.read_bytes()
    (course.folder / "zh" / ".written" / "exercises" / NAME).unlink()
    course.say("exercises/09_sample", Entry("title", "# Sample", "# 更好的样本"))
    assert "its words are new; yours is kept as" in course.translate()
    assert source(course.sheet, "answer-scale-1") == mine
    assert source(course.sheet, "title") == "# 更好的样本"
    (kept,) = (course.sheet.parent / ".backup").iterdir()
    assert kept.read_bytes() == before


def test_a_changed_lesson_stays_too_and_a_copy_is_kept_where_its_code_is_new(
    course: Course,
) -> None:
    course.translate()
    change(course.lesson, "run", "x = 8  # mine")
    before = course.lesson.read_bytes()
    course.say("notebooks/09_sample", Entry("title", "# Head\n\nIt is 7.", "# 头"))
    course.translate()
    assert source(course.lesson, "run") == "x = 8  # mine"
    assert source(course.lesson, "title") == "# 头"
    before = course.lesson.read_bytes()
    change(course.folder / "notebooks" / NAME, "run", "x = 9")
    assert "notebooks/09_sample.ipynb: written anew" in course.translate()
    assert source(course.lesson, "run") == "x = 9"
    (kept,) = (course.lesson.parent / ".backup").iterdir()
    assert kept.read_bytes() == before


def test_a_lesson_that_the_course_no_longer_has_goes_unless_it_was_changed(
    course: Course,
) -> None:
    lessons = course.folder / "notebooks"
    (lessons / "10_second.ipynb").write_bytes((lessons / NAME).read_bytes())
    course.translate()
    change(course.lesson, "run", "x = 8  # mine")
    for lesson in lessons.iterdir():
        lesson.unlink()
    assert f"notebooks/{NAME}: left where it is" in course.translate()
    assert [path.name for path in course.lesson.parent.iterdir()] == [NAME]


@pytest.mark.parametrize("content", ["", "{ damaged"])
def test_a_file_that_cannot_be_read_is_left_alone(course: Course, content: str) -> None:
    course.translate()
    course.sheet.write_text(content)
    course.say("exercises/09_sample", Entry("title", "# Sample", "# 更好的样本"))
    assert "09_sample.ipynb: left alone" in course.translate()
    assert course.sheet.read_text() == content


# The other commands


def test_course_exercises_does_not_put_english_into_a_chinese_folder(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.translate()
    before = course.sheet.read_bytes()
    assert main(["exercises", "--exercises", str(course.sheet.parent), "--force"]) == 2
    assert "`make lab EDITION=zh` writes its sheets" in capsys.readouterr().err
    assert course.sheet.read_bytes() == before


def test_nothing_is_released_from_chinese_solutions(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.translate()
    solutions = str(course.folder / "zh" / "solutions")
    for command in (
        ["exercises", "--exercises", str(course.shop.exercises)],
        ["new-exercise", "rotary", "rotary-x"],
    ):
        assert main([*command, "--solutions", solutions]) == 2
        assert "is of the zh edition" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("inside", "exercises"),
    [
        ("", "exercises"), ("notebooks", "exercises"), ("zh", "zh/exercises"),
        ("zh/exercises", "zh/exercises"), ("zh/notebooks", "zh/exercises"),
    ],
)  # fmt: skip
def test_commands_find_the_exercises_of_the_edition_they_are_run_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str, exercises: str
) -> None:
    for folder in ("course_lab", "exercises", "notebooks", "zh/exercises", "zh/notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "Makefile").touch()
    monkeypatch.setattr(command_line, "__file__", str(tmp_path / "course_lab" / "command_line.py"))
    monkeypatch.chdir(tmp_path / inside)
    assert command_line.home("exercises").resolve() == (tmp_path / exercises).resolve()
    monkeypatch.chdir(tmp_path.parent)
    assert command_line.home("exercises") == tmp_path / "exercises"


def test_course_reset_brings_one_answer_back_and_leaves_the_words(course: Course) -> None:
    course.translate()
    change(course.sheet, "answer-scale-1", "mine = 1")
    options = ("--released", str(course.shop.released), "--specs", "sample_specs")
    course.run(main, "reset", "9.1", "--exercises", str(course.sheet.parent), *options)
    assert "YOUR CODE HERE" in source(course.sheet, "answer-scale-1")
    assert source(course.sheet, "title") == "# 样本"


def test_update_pulls_for_the_course_and_says_what_brings_the_chinese_sheets(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.translate()
    pulled: list[Path] = []
    monkeypatch.setattr(cli, "updated", lambda folder: pulled.append(folder) or ["up to date"])
    said = course.run(main, "update", "--exercises", str(course.sheet.parent))
    assert pulled == [(course.folder / "exercises").resolve()]
    assert "now `make lab EDITION=zh` carries your answers" in said


def test_grading_says_how_chinese_sheets_are_made(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grade", "--exercises", str(course.sheet.parent)]) == 2
    assert "`make lab EDITION=zh` makes it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "edition", "commands"),
    [
        (
            "lab",
            "EDITION=zh",
            ["-m tools.translation zh", "default_url=/lab/tree/zh/notebooks/00_"],
        ),
        ("grade", "EDITION=zh", ['course" grade --exercises zh/exercises']),
        ("lab", "EDITION=", []),
        ("grade", "EDITION=", []),
    ],
)
def test_make_knows_the_edition(target: str, edition: str, commands: list[str]) -> None:
    dry = ["make", "--dry-run", target, edition]
    said = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(command in said for command in commands)
    assert ("zh" in said.replace(f"{ROOT}", "")) == bool(commands)


def test_a_language_without_catalogues_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert translation(["zh", "--course", str(tmp_path)]) == 2
    assert "with catalogues" in capsys.readouterr().err


def test_the_language_of_a_folder_is_that_of_its_edition(tmp_path: Path) -> None:
    (tmp_path / "translations" / "zh").mkdir(parents=True)
    assert language_of(tmp_path / "zh" / "exercises") == "zh"
    assert language_of(tmp_path / "exercises") == ""
    assert language_of(tmp_path / "elsewhere" / "zh" / "exercises") == ""


# Grades


def graded(paths: list[Path], settings: runner.Settings) -> list[Any]:
    report = runner.grade(paths, settings).plain()
    return [(one["points"], one["exercises"]) for one in report["notebooks"]]


def test_a_chinese_sheet_is_graded_as_the_english_one(course: Course) -> None:
    """A right answer, a known mistake, none, and own cells; messages are English in both."""
    shop = course.shop
    shop.answer(1)
    shop.answer(2, "def {name}(x, factor):\n    return x + factor")
    shop.insert_after("answer-scale-1", cell("own", "mine = 1"), words("note", "我的笔记"))
    english = save(shop.path, shop.cells)
    course.translate()
    cells = cells_of(course.sheet)
    for one in cells:
        if one["cell_type"] == "code":
            one["source"] = source(english, one["id"])
    cells[4:4] = [cell("own", "mine = 1"), words("note", "我的笔记")]
    assert [one["source"] for one in cells] != [one["source"] for one in shop.cells]
    save(course.sheet, cells)
    (in_english,), (in_chinese,) = (
        graded([path], shop.settings()) for path in (english, course.sheet)
    )
    assert in_english == in_chinese
    assert [one["verdict"] for one in in_chinese[1]] == ["passed", "failed", "not attempted"]


@pytest.mark.slow
def test_grades_of_solved_chinese_sheets_equal_the_english(tmp_path, pytestconfig) -> None:
    """Of a tenth of the sheets, or of all before a release."""
    translations = ROOT / "translations" / "zh"
    sheets = {
        page.path.name: page
        for page in pages.every(ROOT)
        if page.kind == "exercises" and pages.path_of(translations, page).exists()
    }
    if not sheets:
        pytest.skip("no sheet has a catalogue yet")
    solved, chinese = [], []
    for name in sampling.sample(sheets, sampling.chosen_by(pytestconfig)):
        page = sheets[name]
        sheet = edition.translated(page.notebook(), pages.entries(translations, page))
        notebooks.write(tmp_path / name, sheet)
        solved.append(page.path)
        chinese.append(tmp_path / name)
    expected = graded(solved, runner.Settings())
    assert graded(chinese, runner.Settings()) == expected
    assert all(one["verdict"] == "passed" for _, exercises in expected for one in exercises)
