"""Lessons and solutions as files: what CONTRIBUTING.md asks of every cell and stored output."""

import copy
import json
import re
import symtable
from pathlib import Path

import nbformat
import pytest

from course_grading.sheets.notebooks import RELEASED
from course_grading.sheets.routes import SHORT_ROUTES, numbers
from course_lab import zoo
from course_lab.figures.explorer import MIME, MOST_SETTINGS
from tools.pages import findings
from tools.pages.claims import claims, page
from tools.pages.notebooks import close_answers

ROOT = Path(__file__).parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
MOST_LINES, MOST_FOLDED_LINES, MOST_WORDS, MOST_CODE_CELLS_IN_A_ROW = 12, 24, 120, 2
MOST_OPEN_LINES = 160  # of a lesson
FILLER = r"\b(simply|just|of course|obviously|clearly|basically|delve|let's)\b|!(?=\s|$)"
BOUND = r"at least|at most|up to|more than|less than|fewer than|over|under|below|above|within"
ROUNDED = r"\{[^{}]*:[+,]?(\.\d)?[fg%]\}"  # round to the nearest: course_lab.bounds rounds outward
ROUNDED_BOUND = rf"\b({BOUND}) {ROUNDED}|{ROUNDED}( \w+)? or (more|less)\b"


def cells(path):
    return nbformat.read(path, as_version=4).cells


def outputs(cell):
    return cell.get("outputs", [])


def lines(cell):
    """Of code: without blank lines and comments."""
    return [line for line in cell.source.splitlines() if not re.match(r"\s*(#|$)", line)]


def folded(cell):
    """Plumbing, whose code is closed when a lesson opens."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def before_more(path):
    """The cells of a lesson that its minutes count."""
    for cell in cells(path):
        if cell.cell_type == "markdown" and re.match(r"#+ If you want more", cell.source):
            return
        yield cell


def words(cell):
    without_formulas = re.sub(r"\$\$.*?\$\$|\$.*?\$", "x", cell.source, flags=re.DOTALL)
    return without_formulas.split()


def name(path):
    return f"{path.parent.name}/{path.stem}"


every_notebook = pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=name)
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=name)


@every_notebook
def test_format_and_ids(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    text = path.read_text(encoding="utf-8")
    as_saved = json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True)
    assert text == f"{as_saved}\n", "JupyterLab would save it otherwise"
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9-]+", cell.id), cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4})*", cell.id), f"{cell.id} is random"


@every_notebook
def test_cells_are_short(path):
    in_a_row = 0
    for cell in cells(path):
        if cell.cell_type == "code" and folded(cell):
            assert len(lines(cell)) <= MOST_FOLDED_LINES, (cell.id, len(lines(cell)))
        elif cell.cell_type == "code":
            in_a_row += 1
            assert len(lines(cell)) <= MOST_LINES, (cell.id, len(lines(cell)))
            assert in_a_row <= MOST_CODE_CELLS_IN_A_ROW, f"{cell.id}: no prose before it"
        else:
            in_a_row = 0
            assert len(words(cell)) <= MOST_WORDS, (cell.id, len(words(cell)))


@every_lesson
def test_what_stays_open_teaches(path):
    code = [cell for cell in before_more(path) if cell.cell_type == "code"]
    assert sum(len(lines(cell)) for cell in code if not folded(cell)) <= MOST_OPEN_LINES
    for cell in code:
        if not folded(cell):
            found = re.search(r"^(assert|finding\()", cell.source, re.MULTILINE)
            assert not found, (cell.id, found[0])


@every_lesson
def test_an_answer_is_closed_until_its_cell_is_run(path):
    """What JupyterLab shows of a closed cell is its first line, so that gives nothing away."""
    written = json.loads(path.read_text(encoding="utf-8"))["cells"]
    closed = copy.deepcopy(written)
    close_answers(closed)
    assert [c["metadata"] for c in written] == [c["metadata"] for c in closed]
    for cell in cells(path):
        if cell.cell_type == "code" and folded(cell):
            first = cell.source.splitlines()[0]
            assert first.startswith("# ") and not re.search(r"\d\.\d", first), (cell.id, first)
        if re.match(r"guess\w* = None", cell.source) and cell.outputs:
            assert cell.metadata.get("collapsed"), cell.id


@every_lesson
def test_the_way_on_comes_before_what_is_optional(path):
    titles = [c.source.splitlines()[0] for c in cells(path) if c.cell_type == "markdown"]
    order = ["## Exercises", "## What you can now do", "## If you want more"]
    assert [title for title in titles if title in order] == order[: 2 if "00_" in path.name else 3]


@every_notebook
def test_printed_bounds_are_rounded_outward(path):
    for cell in cells(path):
        if cell.cell_type == "code":
            joined = re.sub(r'"\s*f?"', "", cell.source)  # a string in pieces is one string
            assert not (found := re.search(ROUNDED_BOUND, joined)), (cell.id, found[0])


@every_notebook
def test_prose_has_no_filler(path):
    for cell in cells(path):
        if cell.cell_type == "markdown":
            own = "\n".join(line for line in cell.source.splitlines() if not line.startswith(">"))
            own = re.sub(r"\$.*?\$", "", own)
            assert not (found := re.search(FILLER, own, re.IGNORECASE)), (cell.id, found[0])


def notation():
    return (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")


def unused_words():
    """What the page of notation says is not used, from the table at its end."""
    table = notation().split("| not | but |")[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    return [word.strip() for row in rows for word in row.split(",")]


@every_lesson
def test_lessons_keep_to_the_words_of_the_course(path):
    unused = unused_words()
    assert {"told", "the latter", "worth"} <= {*unused}
    pattern = r"\b(" + "|".join(unused) + r")\b"
    for cell in cells(path):
        if cell.cell_type == "markdown":
            quoted = "\n".join(line for line in cell.source.splitlines() if line.startswith(">"))
            prose = cell.source.replace(quoted, "") if quoted else cell.source
            assert not (found := re.search(pattern, prose, re.IGNORECASE)), (cell.id, found[0])


SCHEMES = (
    "no position", "sinusoid", "sinusoidal", "learned table", "clipped bias", "T5", "ALiBi",
    "KERPLE", "FIRE", "Shaw", "Transformer-XL", "RoPE", "partial RoPE", "p-RoPE",
    "interpolation", "NTK-aware", "dynamic NTK", "by parts", "Llama 3's rule", "YaRN", "LongRoPE",
    "xPos", "CoPE",
)  # fmt: skip


def test_schemes_of_the_short_routes_have_a_row_in_the_notation():
    table = notation().split("## Schemes")[1].split("## Words that are not used")[0]
    rows = " | ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| "))
    stops = {number for route in SHORT_ROUTES.values() for number in numbers(route)}
    routes = [path for path in LESSONS if int(path.stem[:2]) in stops]
    prose = "\n".join(c.source for path in routes for c in cells(path) if c.cell_type == "markdown")
    named = [scheme for scheme in SCHEMES if re.search(rf"\b{scheme}\b", prose, re.IGNORECASE)]
    assert {"ALiBi", "Shaw", "YaRN", "CoPE"} <= {*named}
    assert not [scheme for scheme in named if scheme.lower() not in rows.lower()]
    labels = {zoo.recipe(name).label for name in zoo.RECIPES}
    assert not [label for label in labels if label.lower() not in rows.lower()]


@every_notebook
def test_stored_outputs_hold_on_another_machine(path):
    for cell in cells(path):
        assert "execution" not in cell.metadata
        for output in outputs(cell):
            assert output.get("name") != "stderr", cell.id
            assert output.output_type != "error", cell.id
            text = json.dumps({**output, "data": without_pictures(output)})
            here = "|".join(re.escape(str(folder)) for folder in (ROOT, Path.home()))
            assert not re.search(rf"/home/|/Users/|/tmp/|{here}|Warning", text), cell.id


def without_pictures(output):
    return {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}


@every_notebook
def test_pictures_have_words_and_widgets_a_still(path):
    for cell in cells(path):
        for output in outputs(cell):
            data = output.get("data", {})
            assert "application/vnd.jupyter.widget-view+json" not in data, cell.id
            if "image/png" in data:
                assert output.metadata["image/png"]["alt"], cell.id
                assert len(data["image/png"]) < 300_000, f"{cell.id}: a large picture"


@every_lesson
def test_explorers_name_the_settings_for_a_page(path):
    for cell in cells(path):
        if cell.cell_type == "code" and "figures.explore(" in cell.source:
            settings = [o.metadata[MIME] for o in cell.outputs if MIME in o.get("metadata", {})]
            assert settings and 2 <= len(settings[0]) <= MOST_SETTINGS, cell.id


@every_lesson
def test_a_name_that_another_cell_reads_is_not_bound_again_below(path):
    """A learner goes back to a cell, and it has to find what it found the first time."""
    names = [(cell.id, *names_of(cell.source)) for cell in cells(path) if cell.cell_type == "code"]
    for place, (cell, bound, read) in enumerate(names):
        above, below = (set().union(*(one[1] for one in part))
                        for part in (names[:place], names[place + 1 :]))  # fmt: skip
        assert not (again := (read - bound) & above & below), (cell, again)


def names_of(source):
    """The names that code binds, other than by import, and the global ones that it reads."""
    module = symtable.symtable(source, "cell", "exec")
    scopes = [module]
    for scope in scopes:  # which grows
        scopes += scope.get_children()
    bound = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned()}
    read = [one.get_name() for scope in scopes for one in scope.get_symbols()
            if one.is_global() and one.is_referenced()]  # fmt: skip
    return bound, {*read}


@every_lesson
def test_every_code_cell_was_run(path):
    assert all(cell.execution_count for cell in cells(path) if cell.cell_type == "code")


@every_lesson
def test_head_and_end(path):
    all_cells = cells(path)
    head, text = all_cells[0].source, "\n".join(cell.source for cell in all_cells)
    assert re.match(r"# \d\d · ", head) and "*Minutes: " in head and "notation.md" in head
    for part in ("## What you can now do", "**Unsolved:**", "**Read more", path.name):
        assert part in text, part
    assert "figures.explore(" in text, "no explorer"
    if not path.name.startswith("00"):
        assert "## Heard on the internet" in text


@every_lesson
def test_numbered_claims_are_computed_and_judged(path):
    all_cells = cells(path)
    for place, cell in enumerate(all_cells):
        if claim := cell.metadata.get("course", {}).get("claim"):
            assert re.fullmatch(r"C\d+", claim) and cell.cell_type == "code"
            after = next(n for n in (1, 2) if all_cells[place + n].cell_type == "markdown")
            computed = "".join(one.source for one in all_cells[place : place + after])
            assert "assert " in computed, f"{cell.id} asserts nothing"
            assert "**Verdict:**" in all_cells[place + after].source


HOMES = {
    "C1": ["04"], "C2": ["04", "11"], "C3": ["11"], "C4": ["02"], "C5": ["03"], "C6": ["02"],
    "C7": ["02", "11"], "C8": ["01", "08"], "C9": ["10"], "C10": ["14", "15"], "C11": ["02", "08"],
    "C12": ["12"], "C13": ["06", "12"], "C14": ["08"], "C15": ["02", "08"],
    "C16": ["19"], "C17": ["07"], "C18": ["16"], "C19": ["16"], "C20": ["17"], "C21": ["17"],
    "C22": ["18"], "C23": ["18"], "C24": ["04"],
}  # fmt: skip


@pytest.mark.parametrize("number, homes", HOMES.items())
def test_every_claim_has_its_homes(number, homes):
    written = {path.stem[:2] for path in LESSONS}
    found = [c.notebook[:2] for c in claims(ROOT / "notebooks") if c.number == number]
    assert sorted(set(found)) == [home for home in homes if home in written]


def test_a_claim_is_heard_judged_and_measured():
    for claim in claims(ROOT / "notebooks"):
        assert len(claim.heard) > 15 and claim.verdict and re.search(r"\d", claim.measured), claim


def test_the_page_of_claims_is_what_the_lessons_say():
    assert (ROOT / "docs" / "claims.md").read_text(encoding="utf-8") == page(ROOT / "notebooks")


def test_the_lessons_give_their_findings_with_evidence():
    found = findings.findings(ROOT / "notebooks")
    assert [one.finding.number for one in found] == [f"F{n}" for n in range(1, len(found) + 1)]
    assert len(found) >= 20
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == findings.page(
        ROOT / "notebooks"
    )


def test_local_links_lead_somewhere():
    pages = [*LESSONS, *SOLUTIONS, *RELEASED.glob("*.ipynb")]
    for path in pages:
        at = ROOT / "exercises" if path.parent == RELEASED else path.parent
        for cell in cells(path):
            if cell.cell_type == "markdown":
                for link in re.findall(r"\]\((?!http)([^)#]+)", cell.source):
                    assert (at / link).exists(), (path.name, cell.id, link)
