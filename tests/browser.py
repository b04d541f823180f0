"""Drive the course in a real browser: a checkout to learn in, its JupyterLab, and Chromium.

Nothing here touches the checkout under test: a learner's copy is made in a temporary folder, and
`make lab` is run there, in an environment that is the tests' own under another name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, sync_playwright

from course_lib.grading.specs import EXERCISES
from course_lib.grading.workspace import release

ROOT = Path(__file__).parents[1]
NEEDED = ["Makefile", "tools", ".jupyter", "pyproject.toml", "constraints.txt", "README.md"]
NEEDED += ["notebooks", "docs"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
VIEWPORT = {"width": 1280, "height": 1700}
"""Tall: JupyterLab draws the cells that are in view, and few others."""
HARMLESS = [
    # JupyterLab asks whether there is a saved workspace; the first time there is none.
    r"Failed to load resource: .* 404 .*api/workspaces",
]


def find_chromium() -> str | None:
    """The program of a browser that Playwright can drive, as Debian and others call it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


# A checkout and its server


def make_checkout(root: Path) -> Path:
    """A learner's fresh copy of the course: lessons, and exercises that nobody has answered."""
    root.mkdir()
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns(".*"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    release(ROOT / "solutions", root / "exercises", EXERCISES)
    return root


def lend_environment(checkout: Path) -> None:
    """Make the tests' own environment the checkout's `.venv`, stamped as set up.

    Each of its folders is a link, so the stamp stays here, and `make` finds nothing to install.
    """
    there = checkout / ".venv"
    there.mkdir()
    for path in Path(sys.prefix).iterdir():
        if not path.name.startswith(".course-"):
            (there / path.name).symlink_to(path)
    setup = (checkout / "tools" / "setup.sh").read_text()
    function = re.search(r"^checksum\(\) \{.*?^\}", setup, re.DOTALL | re.MULTILINE)
    assert function, "tools/setup.sh no longer has a function `checksum`"
    stamp = ["sh", "-c", f"{function[0]}\nchecksum >.venv/.course-test"]
    subprocess.run(stamp, cwd=checkout, check=True)


@contextmanager
def jupyterlab(checkout: Path) -> Iterator[str]:
    """The address of JupyterLab, started as a learner starts it; it ends with the block."""
    private = checkout.parent / "jupyter"
    options = "--no-browser --port=0 --LabApp.expose_app_in_browser=True"
    if os.geteuid() == 0:
        options += " --allow-root"
    log = checkout.parent / "jupyterlab.log"
    with log.open("w") as said:
        server = subprocess.Popen(
            ["make", "lab", f"ARGS={options}"],
            cwd=checkout,
            env=_environment(private),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield _wait_for_address(server, private / "runtime", log)
    finally:
        _stop(server)


def _environment(private: Path) -> dict[str, str]:
    """Ours, without what steers Jupyter, and with folders of its own for what Jupyter keeps."""
    steering = ("JUPYTER", "JPY_", "IPYTHON", "PYTEST", "COURSE", "MAKE", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return kept | {
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTER_DATA_DIR": str(private / "data"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "IPYTHONDIR": str(private / "ipython"),
        "PIP_DRY_RUN": "1",  # should set-up ever run pip here, it changes nothing
    }


def _wait_for_address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """The server writes its port and token to a file; then it takes a moment to answer."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                info = json.loads(path.read_text())
                urllib.request.urlopen(f"{info['url']}api?token={info['token']}", timeout=5)
                return f"{info['url']}?token={info['token']}"
            except (ValueError, urllib.error.URLError):
                continue
        time.sleep(0.1)
    raise RuntimeError(f"`make lab` opened no JupyterLab; it said:\n{log.read_text()[-3000:]}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Ask everything that `make lab` started to end, kernels included; insist after a while."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, how)
            server.wait(timeout=15)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


# A browser


@contextmanager
def chromium(program: str) -> Iterator[Page]:
    """A page in a headless browser; the browser ends with the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser.new_page(viewport=VIEWPORT)
        finally:
            browser.close()


class Lab:
    """JupyterLab in a page, as far as a learner uses it."""

    def __init__(self, page: Page, address: str, screenshots: Path) -> None:
        self.page = page
        self.screenshots = screenshots
        self.complaints: list[str] = []
        page.on("console", lambda said: said.type == "error" and self._complain(said.text, said))
        page.on("pageerror", lambda error: self._complain(str(error)))
        page.goto(address)
        self.do("async () => { await jupyterapp.restored }", wait_for="window.jupyterapp")

    def _complain(self, text: str, message: Any = None) -> None:
        where = message.location.get("url", "") if message else ""
        if not any(re.search(pattern, f"{text} {where}") for pattern in HARMLESS):
            self.complaints.append(f"{text} {where}".strip())

    def do(self, script: str, argument: Any = None, seconds: float = 60, wait_for: str = "") -> Any:
        """What an asynchronous function gives in the page; TimeoutError if it takes too long."""
        if wait_for:
            self.page.wait_for_function(wait_for, timeout=seconds * 1000)
        return self.page.evaluate(
            "([argument, seconds]) => Promise.race([(" + script + ")(argument),"
            " new Promise((_, fail) => setTimeout("
            "  () => fail(new Error(`not done after ${seconds} s`)), 1000 * seconds))])",
            [argument, seconds],
        )

    def current_path(self) -> str:
        """The file that is open in front."""
        return self.do("async () => jupyterapp.shell.currentWidget.context.path")

    def open(self, path: str) -> Notebook:
        """Open a notebook, and wait until its kernel is there."""
        self.do(
            """async path => {
                 const panel = await jupyterapp.commands.execute('docmanager:open', {path});
                 await panel.context.ready;
                 await panel.sessionContext.ready;
                 await panel.revealed;
                 await panel.sessionContext.session.kernel.info;
               }""",
            path,
        )
        return Notebook(self, path)

    def photograph(self, name: str) -> None:
        """Write what is in view to a file."""
        self.page.screenshot(path=self.screenshots / f"{name}.png")


class Notebook:
    """The notebook in front. Cells go by their ids."""

    def __init__(self, lab: Lab, path: str) -> None:
        self.lab = lab
        self.path = path
        self.panel = lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def run_all(self, seconds: float = 90) -> None:
        """Run every cell; returns when the last is done, whether or not one failed."""
        self.lab.do(
            "async () => { await jupyterapp.commands.execute('notebook:run-all-cells') }",
            seconds=seconds,
        )

    def cells(self) -> list[dict[str, Any]]:
        """All cells as they would be saved, outputs included."""
        cells = self.lab.do("async () => jupyterapp.shell.currentWidget.context.model.toJSON()")
        return cells["cells"]

    def errors(self) -> dict[str, str]:
        """What failed: cell id to the error's name and words."""
        return {
            cell["id"]: f"{output['ename']}: {output['evalue']}"
            for cell in self.cells()
            for output in cell.get("outputs", [])
            if output["output_type"] == "error"
        }

    def not_run(self) -> list[str]:
        """The code cells that have something in them and no number yet."""
        code = [cell for cell in self.cells() if cell["cell_type"] == "code"]
        return [cell["id"] for cell in code if cell["source"] and not cell["execution_count"]]

    def show(self, id: str) -> Locator:
        """Bring a cell into view; it is then the active one."""
        self.lab.do(
            """async id => {
                 const notebook = jupyterapp.shell.currentWidget.content;
                 const cells = notebook.widgets;
                 const place = cells.findIndex(cell => cell.model.id === id);
                 if (place < 0) throw new Error(`there is no cell ${id}`);
                 notebook.deselectAll();
                 notebook.activeCellIndex = place;
                 await notebook.scrollToCell(cells[place], 'start');
                 await cells[place].ready;
               }""",
            id,
        )
        cell = self.panel.locator(".jp-Cell.jp-mod-active")
        cell.wait_for()
        return cell

    def type_into(self, id: str, source: str) -> None:
        """Replace what is in a cell, with the keyboard."""
        editor = self.show(id).locator(".cm-content")
        editor.click()
        editor.press("ControlOrMeta+a")
        self.lab.page.keyboard.insert_text(source)

    def run(self, id: str, seconds: float = 60) -> Locator:
        """Run one cell with Shift+Enter; gives its output area when it is done."""
        cell = self.show(id)
        place = self._place(id)
        cell.locator(".cm-content").press("Shift+Enter")
        self.lab.page.wait_for_function(
            """place => {
                 const model = jupyterapp.shell.currentWidget.content.widgets[place].model;
                 return model.executionCount && model.executionState === 'idle';
               }""",
            arg=place,
            timeout=seconds * 1000,
        )
        return self.show(id).locator(".jp-OutputArea").first

    def _place(self, id: str) -> int:
        return [cell["id"] for cell in self.cells()].index(id)

    def save(self) -> None:
        """Save with the keyboard."""
        self.lab.page.keyboard.press("ControlOrMeta+s")
        self.lab.page.wait_for_function(
            "() => !jupyterapp.shell.currentWidget.context.model.dirty"
        )

    def photograph_all(self, name: str) -> None:
        """The whole notebook, screen by screen."""
        page = self.lab.page
        view = self.panel.locator(".jp-WindowedPanel-outer")
        view.evaluate("element => element.scrollTo(0, 0)")
        for number in range(1, 100):
            page.wait_for_timeout(300)  # cells come into being as they come into view
            self.lab.photograph(f"{name}-{number:02}")
            if view.evaluate(
                """element => {
                     const before = element.scrollTop;
                     element.scrollBy(0, 0.93 * element.clientHeight);
                     return element.scrollTop - before < 1;
                   }"""
            ):
                return

    def close(self) -> None:
        """Shut the kernel down and close the tab, without saving."""
        self.lab.do(
            """async () => {
                 const panel = jupyterapp.shell.currentWidget;
                 await panel.sessionContext.shutdown();
                 panel.context.model.dirty = false;
                 panel.dispose();
               }"""
        )
