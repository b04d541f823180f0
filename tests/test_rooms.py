"""The rooms: imports run one way, encodings can be read alone, and no room grows unseen."""

import ast
import io
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("course_lib", "course_lab", "course_grading")
# A room imports from itself and from the rooms before it, so there is no circle of rooms.
# `course_lib` is what stands outside of encodings and model: its __init__.
ROOMS = (
    "course_lib",
    "course_lib.encodings",
    "course_lib.model",
    "course_lab",
    "course_lab.training",
    "course_lab.instruments",
    "course_lab.findings",
    "course_lab.released",
    "course_lab.studies.study",
    "course_lab.zoo",
    "course_lab.studies",
    "course_lab.assessment",
    "course_lab.rope",
    "course_lab.figures",
    "course_lab.commands",
    "course_lab.__main__",
    "course_grading.texts",
    "course_grading.exercise.values",
    "course_grading.verdicts",
    "course_grading.exercise",
    "course_grading.judging",
    "course_grading.sheets",
    "course_grading.specs",
    "course_grading.running",
    "course_grading.classes",
    "course_grading",
)
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
ENCODINGS = sorted((ROOT / "course_lib" / "encodings").glob("*.py"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
every_encoding = pytest.mark.parametrize("path", ENCODINGS, ids=lambda path: path.stem)


def imported(tree):
    """The names of all modules that a file imports, also inside of functions or by a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, (
                f"line {node.lineno}: write the whole name, without dots in front"
            )
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (part.value for part in node.args if isinstance(part, ast.Constant))


def room_of(module):
    """The innermost room that a module stands in; None for a module of somebody else."""
    rooms = [room for room in ROOMS if f"{module}.".startswith(f"{room}.")]
    return max(rooms, key=len, default=None)


def climbs(source, module):
    """The imports in `module` that lead to a room above it."""
    floor = ROOMS.index(room_of(module))
    names = {name for name in imported(ast.parse(source)) if room_of(name)}
    return sorted(name for name in names if ROOMS.index(room_of(name)) > floor)


@every_file
def test_imports_run_one_way(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    assert climbs(path.read_text(), module) == []


def test_a_module_of_the_laboratory_has_one_address():
    import course_lab

    offered = {name for name, value in vars(course_lab).items() if not name.startswith("__")}
    rooms = {path.stem for path in Path(course_lab.__file__).parent.iterdir()}
    assert offered <= rooms and not hasattr(course_lab, "__getattr__")


@pytest.mark.parametrize(
    ("source", "module", "above"),
    [
        ("from course_lab import figures", "course_lab.instruments.probes", "course_lab.figures"),
        ("import course_lib.model.decoder", "course_lib.encodings.rotary", "course_lib.model"),
        ("def late():\n    import course_grading", "course_lab.figures.plots", "course_grading"),
        ("import_module('course_grading.cli')", "course_lab.__main__", "course_grading"),
        ("from course_lab.__main__ import run", "course_lab.figures", "course_lab.__main__"),
        ("from course_lab.figures import show", "course_lab.__main__", None),
        ("from course_lib import encodings\nimport torch", "course_grading.specs.yarn", None),
        ("import course_grading", "course_lib", "course_grading"),
        (
            "from course_grading.running import kernels",
            "course_grading.judging.remote",
            "course_grading.running",
        ),
    ],
)
def test_an_import_from_above_is_seen_wherever_it_stands(source, module, above):
    assert {room_of(name) for name in climbs(source, module)} == ({above} if above else set())


@every_encoding
def test_encodings_stand_on_torch_alone(path):
    packages = {name.split(".")[0] for name in imported(ast.parse(path.read_text()))}
    assert packages - sys.stdlib_module_names <= {"torch", "jaxtyping", "course_lib"}


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def leaning_functions(source, beneath=("angles", "consecutive")):
    """The functions of a file of encodings that need another file than those `beneath`."""
    beneath = {f"course_lib.encodings.{name}" for name in beneath}
    tree = ast.parse(source)
    others = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and room_of(node.module)
        for alias in node.names
        if not {node.module, f"{node.module}.{alias.name}"} & beneath
    }
    for node in tree.body:  # a class that stands on another file leads there, too
        if isinstance(node, ast.ClassDef) and names_in(node) & others:
            others.add(node.name)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [function.name for function in functions if names_in(function) & others]


@every_encoding
def test_functions_of_encodings_can_be_read_or_copied_alone(path):
    formulas = ("extension",) if path.stem == "rope_parameters" else ()  # keys name formulas
    assert leaning_functions(path.read_text(), ("angles", "consecutive", *formulas)) == []


def test_a_function_that_leans_on_another_file_is_seen():
    imports = "from course_lib.encodings.scheme import PositionScheme\n"
    scheme = "class Mine(PositionScheme):\n    def table(self): ...\n"
    assert leaning_functions(imports + "def of(scheme: PositionScheme): ...") == ["of"]
    assert leaning_functions(imports + scheme + "def make(): return Mine()") == ["make"]
    assert leaning_functions(imports + scheme + "def alone(x): return x") == []
    angles = "from course_lib.encodings.angles import rotation_table\n"
    assert leaning_functions(angles + "def turn(x): return rotation_table(x)") == []


def lines_of_code(path):
    """The lines of a file that hold code: no blank ones, no comments, no docstrings."""
    source = path.read_text()
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in EMPTY
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):  # a text that stands alone is a docstring
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return lines


EMPTY = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
FULL = (
    "course_lib has {lines} lines of code, and {most} are what somebody reads whole. Does a "
    "lesson, a test or a command use all of it? What only measures or draws belongs in course_lab."
)


def test_the_reference_is_small_enough_to_be_read_whole():
    lines = sum(len(lines_of_code(path)) for path in (ROOT / "course_lib").rglob("*.py"))
    assert lines <= 1400, FULL.format(lines=lines, most=1400)


def test_air_and_explanations_do_not_count(tmp_path):
    (path := tmp_path / "one.py").write_text(
        '"""A\ndocstring."""\n\n# a comment\nx = """two\nlines"""  # and this\n'
        '"""Of x."""\ndef f():\n    """Of f."""\n    return (\n        1\n    )\n'
    )
    assert lines_of_code(path) == {5, 6, 8, 10, 11, 12}


CODE = [
    path
    for folder in (*PACKAGES, "tools", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "answers" not in path.relative_to(ROOT).parts[:-1]
]
MOST_OF_A_FILE, MOST_OF_A_FUNCTION = 500, 60


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_can_be_read_at_once(path):
    code = lines_of_code(path)
    assert len(code) <= MOST_OF_A_FILE, "split it where its subjects part"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = [line for line in code if node.lineno <= line <= node.end_lineno]
            assert len(lines) <= MOST_OF_A_FUNCTION, f"{node.name}: give a part of it a name"
