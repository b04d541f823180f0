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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, sync_playwright

from course_grading.sheets.workspace import generated, release
from course_grading.specs import EXERCISES

ROOT = Path(__file__).parents[1]
NEEDED = ["Makefile", "tools", ".jupyter", "pyproject.toml", "constraints.txt", "README.md"]
NEEDED += ["notebooks", "docs"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
VIEWPORT = {"width": 1280, "height": 1700}
"""Tall: JupyterLab draws the cells that are in view, and few others."""
SHORTHANDS = """() => {
    window.front = () => jupyterapp.shell.currentWidget;
    window.cellOf = id => {
        const found = front().content.widgets.find(cell => cell.model.id === id);
        if (!found) throw new Error(`there is no cell ${id}`);
        return found;
    };
}"""


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
    release(generated(ROOT / "solutions", EXERCISES), root / "exercises")
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
        _stop(server, private / "runtime")


def _environment(private: Path) -> dict[str, str]:
    """Ours, without what steers Jupyter, and with folders of its own for what Jupyter keeps."""
    steering = ("JUPYTER", "JPY_", "IPYTHON", "PYTEST", "COURSE", "MAKE", "MFLAGS", "VIRTUAL_ENV")
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
    directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                info = json.loads(path.read_text())
                directly.open(f"{info['url']}api?token={info['token']}", timeout=5)
                return f"{info['url']}?token={info['token']}"
            except (ValueError, urllib.error.URLError):
                continue
        time.sleep(0.1)
    raise RuntimeError(f"`make lab` opened no JupyterLab; it said:\n{log.read_text()[-3000:]}")


def _stop(make: subprocess.Popen[bytes], runtime: Path) -> None:
    """Ask JupyterLab to end, kernels included, and `make` with it; insist after a while."""
    asked = [int(path.stem.removeprefix("jpserver-")) for path in runtime.glob("jpserver-*.json")]
    with suppress(ProcessLookupError):
        for server in asked:
            os.kill(server, signal.SIGTERM)
    try:
        make.wait(timeout=20 if asked else 0)
    except subprocess.TimeoutExpired:
        os.killpg(make.pid, signal.SIGKILL)
        make.wait()


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

    def __init__(self, page: Page, address: str, checkout: Path, screenshots: Path) -> None:
        self.page = page
        self.checkout = checkout
        self.screenshots = screenshots
        self.complaints: list[str] = []
        page.set_default_timeout(60_000)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        page.wait_for_function("window.jupyterapp")
        page.evaluate(SHORTHANDS)
        self.do("async () => { await jupyterapp.restored }")
        # A save during an autosave finds "another" file on disk, and asks which of them counts
        assert not self.do(
            """async () => {
                 await jupyterapp.commands.execute('docmanager:toggle-autosave');
                 return jupyterapp.commands.isToggled('docmanager:toggle-autosave');
               }"""
        )

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.complaints.append(f"{said.text} ({said.location['url']})")

    def do(self, script: str, argument: Any = None, seconds: float = 60) -> Any:
        """What an asynchronous function gives in the page; Error if that takes too long.

        The error says what a dialog asks, if one waits for an answer.
        """
        return self.page.evaluate(
            "([argument, seconds]) => Promise.race([(" + script + ")(argument),"
            " new Promise((_, fail) => setTimeout("
            "  () => fail(new Error(`not done after ${seconds} s ${"
            "    document.querySelector('.jp-Dialog')?.innerText ?? ''}`)), 1000 * seconds))])",
            [argument, seconds],
        )

    def first_notebook(self) -> str:
        """The path of the notebook that opens by itself."""
        self.page.wait_for_function("front()?.context")
        return self.do("async () => front().context.path")

    def open(self, path: str) -> Notebook:
        """Open a notebook, and wait until its kernel is there."""
        self.do(
            """async path => {
                 const panel = await jupyterapp.commands.execute('docmanager:open', {path});
                 await panel.context.ready;
                 await panel.sessionContext.ready;
                 await panel.revealed;
                 const kernel = panel.sessionContext.session.kernel;
                 await Promise.all([kernel.info, kernel.spec]);
               }""",
            path,
        )
        self.page.wait_for_function("path => front()?.context?.path === path", arg=path)
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

    def run_all(self, seconds: float = 300) -> None:
        """Clear what is stored and run every cell; returns when the last is done."""
        self.lab.do(
            """async () => {
                 await jupyterapp.commands.execute('notebook:clear-all-cell-outputs');
                 await jupyterapp.commands.execute('notebook:run-all-cells');
               }""",
            seconds=seconds,
        )

    def run_above(self, id: str, seconds: float = 600) -> None:
        """Run, Run All Above Selected Cell; returns when the last is done."""
        self.show(id)
        self.lab.do(
            "async () => { await jupyterapp.commands.execute('notebook:run-all-above') }",
            seconds=seconds,
        )

    def run_cells(self, ids: list[str], seconds: float = 300) -> None:
        """Run these cells, one after the other, and no others; returns when the last is done."""
        self.lab.do(
            """async ids => {
                 const notebook = front().content;
                 for (const id of ids) {
                   const cell = cellOf(id);
                   cell.model.executionCount = null;
                   notebook.deselectAll();
                   notebook.activeCellIndex = notebook.widgets.indexOf(cell);
                   await jupyterapp.commands.execute('notebook:run-cell');
                 }
               }""",
            ids,
            seconds=seconds,
        )

    def cells(self) -> list[dict[str, Any]]:
        """All cells as they would be saved, outputs included."""
        return self.lab.do("async () => front().context.model.toJSON()")["cells"]

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
                 const notebook = front().content;
                 const cell = cellOf(id);
                 notebook.deselectAll();
                 notebook.activeCellIndex = notebook.widgets.indexOf(cell);
                 await notebook.scrollToCell(cell, 'start');
                 await cell.ready;
               }""",
            id,
        )
        cell = self.panel.locator(".jp-Cell.jp-mod-active")
        cell.wait_for()
        return cell

    def open_outputs_below(self, id: str) -> list[str]:
        """The cells of the same section whose outputs are seen with this cell near the top."""
        self.show(id)
        view = self.panel.locator(".jp-WindowedPanel-outer")
        view.evaluate("element => element.scrollBy(0, -100)")
        self.lab.page.wait_for_timeout(150)  # cells come into being as they come into view
        return view.evaluate(
            """(view, id) => {
                 const all = front().content.widgets;
                 const below = all.slice(1 + all.findIndex(cell => cell.model.id === id));
                 const isHead = cell =>
                   cell.model.type === 'markdown' && /^#/.test(cell.model.sharedModel.source);
                 const end = below.findIndex(isHead);
                 const bottom = view.getBoundingClientRect().bottom;
                 return below.slice(0, end < 0 ? below.length : end).filter(cell => {
                   if (cell.model.type !== 'code' || cell.outputHidden) return false;
                   const output = cell.node.querySelector('.jp-OutputArea-output');
                   return output && output.getBoundingClientRect().top < bottom;
                 }).map(cell => cell.model.id);
               }""",
            id,
        )

    def type_into(self, id: str, source: str) -> None:
        """Replace what is in a cell, with the keyboard."""
        editor = self.show(id).locator(".cm-content")
        editor.click()
        editor.press("ControlOrMeta+a")
        self.lab.page.keyboard.insert_text(source)

    def run(self, id: str, seconds: float = 60) -> Locator:
        """Run one cell with Shift+Enter; gives its output area when it is done."""
        self.lab.do("async id => { cellOf(id).model.executionCount = null }", id)
        self.show(id).locator(".cm-content").press("Shift+Enter")
        self.lab.page.wait_for_function(
            """id => {
                 const model = cellOf(id).model;
                 return model.executionCount && model.executionState === 'idle';
               }""",
            arg=id,
            timeout=seconds * 1000,
        )
        return self.show(id).locator(".jp-OutputArea").first

    def is_unsaved(self) -> bool:
        """Whether JupyterLab marks the notebook as changed since it was read or saved."""
        return self.lab.do("async () => front().context.model.dirty")

    def save(self) -> None:
        """Save, as Ctrl+S does, whether or not anything was changed."""
        self.lab.do("async () => { await jupyterapp.commands.execute('docmanager:save') }")

    def photograph_all(self, name: str) -> None:
        """The whole notebook, screen by screen."""
        page = self.lab.page
        view = self.panel.locator(".jp-WindowedPanel-outer")
        view.evaluate("element => element.scrollTo(0, 0)")
        last = self.cells()[-1]["id"]
        for number in range(1, 100):
            page.wait_for_timeout(300)  # cells come into being as they come into view
            self.lab.photograph(f"{name}-{number:02}")
            if self._ends_above(last, view):
                return
            view.evaluate("element => element.scrollBy(0, 0.93 * element.clientHeight)")

    def _ends_above(self, id: str, view: Locator) -> bool:
        """Whether a cell's end is to be seen."""
        return view.evaluate(
            """(view, id) => {
                 const node = cellOf(id).node;
                 const bottom = node.getBoundingClientRect().bottom;
                 return node.isConnected && bottom <= view.getBoundingClientRect().bottom;
               }""",
            id,
        )

    def close(self) -> None:
        """Shut the kernel down and close the tab, without saving."""
        self.lab.do(
            """async () => {
                 const panel = front();
                 await panel.sessionContext.shutdown();
                 panel.context.model.dirty = false;
                 panel.dispose();
               }"""
        )


# Pictures and sliders


def picture_bytes(picture: Locator) -> bytes:
    """The file behind a picture in the page."""
    script = "async image => [...new Uint8Array(await (await fetch(image.src)).arrayBuffer())]"
    return bytes(picture.evaluate(script))


def is_painted(picture: Locator) -> bool:
    """Whether there is a picture, with something in it."""
    return bool(picture.evaluate("image => image.complete && image.naturalWidth > 0"))


def move(control: Locator, picture: Locator) -> float:
    """Move a slider's handle, or choose another in a list; seconds until the picture is another."""
    shown = picture.get_attribute("src")
    start = time.perf_counter()
    if control.evaluate("element => element.tagName") == "SELECT":
        at, count = control.evaluate("list => [list.selectedIndex, list.options.length]")
        control.select_option(index=at - 1 if at == count - 1 else at + 1)
    else:
        ends = {control.get_attribute(f"aria-value{end}") for end in ("now", "max")}
        control.press("ArrowLeft" if len(ends) == 1 else "ArrowRight")
    picture.page.wait_for_function(
        "([image, shown]) => image.src !== shown && image.complete && image.naturalWidth > 0",
        arg=[picture.element_handle(), shown],
    )
    return time.perf_counter() - start
