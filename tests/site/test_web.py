"""The web pages as readers meet them: built once, opened from a folder, in a real browser.

Pages under zh/ are the Chinese ones.
Every page's text is looked at. In the browser all of them open before a release, and else a tenth
with those of OF_EACH_KIND, narrow and wide: nothing may be asked of another host, the console stays
empty, axe finds no fault that is more than minor, and every control of their explorers moves by
keyboard. To look at the pages that the tests opened: `COURSE_SCREENSHOTS=folder`, as in
tests/test_browser.py.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import browser
import numpy as np
import pytest
import sampling
from PIL import Image
from playwright.sync_api import Locator, Page, Request

sys.path.insert(0, str(browser.ROOT / "tools" / "site"))

import frames

pytestmark = pytest.mark.slow

SITE = browser.ROOT / "site"
BUILT = browser.ROOT / "build" / "frames"
WIDTHS = (360, 1280)
BEFORE_FRAMES, IN_ALL = 2_000_000, 4_000_000
"""Bytes of a page, with all that it shows: until an explorer is moved, and with every frame."""
OF_EACH_KIND = ("index", "notebooks/02_sinusoidal_encoding", "exercises/09_rotary_in_practice",
               "docs/results", "docs/findings", "zh/index",
               "zh/notebooks/03_other_waves", "zh/notebooks/08_rotary_encoding")  # fmt: skip
"""Axe reads all pages as a phone shows them, and these on a wide screen and a dark ground too.
Of the Chinese pages it reads those that are translated, on both screens; the others are English.
The pages of findings and claims are made alike: it reads one in ten."""
LEAST_PART = 0.6
"""Words of 10 points, which are 14 pixels, are then at least 8 pixels high."""
MOVED_IN_CHINESE = "zh/notebooks/08_rotary_encoding"
"""Its explorers are moved; frames and script of all Chinese pages are those of the English."""


@pytest.fixture(scope="module")
def draft(pytestconfig: pytest.Config) -> str:
    """What chooses the explorers that are drawn, where grids are sampled; empty for all of them."""
    chosen_by = sampling.chosen_by(pytestconfig)
    return "" if chosen_by == sampling.ALL else chosen_by or "the same always"


@cache
def built(draft: str) -> Path:
    """The site, made once as `make site` makes it."""
    environment = {**os.environ, "SITE_DRAFT": draft}
    command = [sys.executable, "tools/site/build.py"]
    subprocess.run(command, cwd=browser.ROOT, check=True, env=environment)
    return SITE


@pytest.fixture(scope="module")
def site(draft: str) -> Path:
    return built(draft)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Elements]:
    """All pages by their paths, without the ending."""
    return {
        path.relative_to(site).with_suffix("").as_posix(): Elements(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }


# What is written in the pages


class Elements(HTMLParser):
    """The ids of a page, where its links lead, the files that it shows, and its languages."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.ids: list[str] = []
        self.sections: list[str] = []
        self.links: list[str] = []
        self.files: list[str] = []
        self.language = ""
        self.article = ""
        """The language of the text, where it is not the page's."""
        self.others: set[tuple[str, str]] = set()
        """Address and language of the links to the other language, above and beside the title."""
        self.frames: dict[str, dict[str, Any]] = {}
        """The manifest of each explorer, by the folder of its frames."""
        self._folder = ""
        self._json = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attributes}
        if "id" in has:
            self.ids.append(has["id"])
            if tag == "section":
                self.sections.append(has["id"])
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
            if has.get("class") == "language":
                self.others.add((has["href"], has["hreflang"]))
        if tag == "html":
            self.language = has["lang"]
        if tag == "article":
            self.article = has.get("lang", "")
        others = ("canonical", "alternate")
        if tag in ("img", "script", "source", "link") and has.get("rel") not in others:
            self.files += [has[name] for name in ("src", "href") if has.get(name)]
        self._folder = has.get("data-frames", self._folder)
        self._json = tag == "script" and has.get("type") == "application/json"

    def handle_data(self, data: str) -> None:
        if self._json:
            self.frames[self._folder] = json.loads(data)
            self._json = False

    def is_translated(self) -> bool:
        """Whether there is Chinese in the text of the page."""
        return self.language == "zh-CN" and self.article != "en"

    def shown(self) -> set[Path]:
        """The page's own file, and every file that it loads, fonts included."""
        files = {(self.path.parent / unquote(urlsplit(file).path)).resolve() for file in self.files}
        for style in [file for file in files if file.suffix == ".css"]:
            for url in re.findall(r"url\([\"']?([^\"')]+)", style.read_text(encoding="utf-8")):
                if not url.startswith(("data:", "#")):
                    files.add((style.parent / unquote(urlsplit(url).path)).resolve())
        return {self.path.resolve(), *files}

    def frame_files(self, of: str = "") -> set[Path]:
        """The pictures of all settings of the page's explorers, or those in a folder of them."""
        return {
            (self.path.parent / folder / of / setting["frame"]).resolve()
            for folder, manifest in self.frames.items()
            for setting in manifest["settings"]
        }


def test_every_notebook_and_document_has_its_page(pages: dict[str, Elements]) -> None:
    root = browser.ROOT
    lessons = {f"notebooks/{path.stem}" for path in root.glob("notebooks/*.ipynb")}
    sheets = {f"exercises/{path.stem}" for path in root.glob("course_grading/blank_sheets/*.ipynb")}
    documents = {f"docs/{path.stem}" for path in root.glob("docs/*.md")}
    both = lessons | sheets | documents | {"index", "search"}
    assert both | {f"zh/{name}" for name in both} <= set(pages)


def test_every_page_leads_to_the_other_language_and_back(pages: dict[str, Elements]) -> None:
    at = {page.path.resolve(): name for name, page in pages.items()}
    back = {}
    for name, page in pages.items():
        chinese = name.startswith("zh/")
        assert page.language == ("zh-CN" if chinese else "en")
        [(address, language)] = page.others
        assert language == ("en" if chinese else "zh-CN")
        back[name] = at[(page.path.parent / address).resolve()]
        assert back[name].startswith("zh/") != chinese
    for name in pages:
        if name.startswith("zh/"):
            assert f"zh/{back[name]}" == name and back[back[name]] == name


def test_the_chinese_pages_speak_chinese_and_say_where_they_do_not(pages) -> None:
    """Of the site's and the theme's own English words none is left around a text."""
    ours = ("Hint 1 of", "How to do these", "Code of this step", "Controls of the picture")
    theme = ("Skip to content", "Back to top", "On this page", "Toggle ", ">Home<", "Made with <")
    for name, page in pages.items():
        if page.language == "zh-CN":
            written = page.path.read_text(encoding="utf-8")
            unwanted = (*theme, *ours) if page.is_translated() else theme
            assert [words for words in unwanted if words in written] == [], name
            assert page.is_translated() or '<blockquote lang="zh-CN">' in written, name
    translated = {name for name, page in pages.items() if page.is_translated()}
    assert {"zh/index", "zh/docs/notation", "zh/exercises/13_stretching_rope"} <= translated


def test_the_chinese_pages_have_no_copies_of_files(site: Path) -> None:
    kept = {
        path.name
        for path in (site / "zh").rglob("*")
        if path.is_file() and path.suffix != ".html" and "texts" not in path.parts
    }
    assert kept - {"objects.inv", ".buildinfo"} == {
        "searchindex.js",
        "documentation_options.js",
        "language_data.js",
        "translations.js",
    }


def test_every_link_and_anchor_inside_leads_somewhere(pages: dict[str, Elements]) -> None:
    at = {page.path.resolve(): page for page in pages.values()}
    nowhere = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            there = at.get(target.resolve())
            if not target.is_file() or (
                parts.fragment and there and unquote(parts.fragment) not in there.ids
            ):
                nowhere.append(f"{name}: {link}")
    assert nowhere == []


def test_every_id_stands_once_on_its_page(pages: dict[str, Elements]) -> None:
    twice = {
        name: sorted({id for id in page.ids if page.ids.count(id) > 1})
        for name, page in pages.items()
    }
    assert {name: ids for name, ids in twice.items() if ids} == {}


def test_sections_have_the_same_ids_in_both_languages(pages: dict[str, Elements]) -> None:
    compared = 0
    for name, page in pages.items():
        if not page.is_translated() or name == "zh/search":
            continue
        english = pages[name.removeprefix("zh/")].sections
        assert len(english) == len(page.sections), name
        for ours, theirs in zip(english, page.sections, strict=True):
            assert ours == theirs or re.fullmatch(r"id\d+", ours), (name, ours, theirs)
            compared += 1
    assert compared > 400


def test_questions_findings_and_claims_lead_to_cells(pages: dict[str, Elements]) -> None:
    for name in ("questions", "findings", "claims"):
        to_lessons = [
            link
            for folder in ("docs", "zh/docs")
            for link in pages[f"{folder}/{name}"].links
            if re.match(r"\.\./(notebooks|exercises)/\d\d_\w+\.html#", link)
        ]
        assert len(to_lessons) > 50 and all("#cell-" in link for link in to_lessons), name


def test_pages_are_light(pages: dict[str, Elements]) -> None:
    heavy = {}
    for name, page in pages.items():
        before = sum(file.stat().st_size for file in page.shown())
        in_all = before + max(
            sum(file.stat().st_size for file in page.frame_files(of)) for of in ("", "narrow")
        )
        if before > BEFORE_FRAMES or in_all > IN_ALL:
            heavy[name] = (before, in_all)
    assert heavy == {}


def test_every_explorer_of_the_lessons_is_there_with_the_kernels_picture(pages, draft) -> None:
    """A kernel drew the picture that is stored in the notebook, and `start.png` is the builder's of
    the same setting. The frame was drawn larger, and matplotlib then sets axes a little elsewhere.
    """
    unlike = {}
    for path in sorted(browser.ROOT.glob("notebooks/*.ipynb")):
        page = pages[f"notebooks/{path.stem}"]
        stored = dict(stored_explorers(path)) if frames.is_drawn(path.stem, draft) else {}
        assert {Path(folder).name for folder in page.frames} == set(stored)
        for folder, manifest in page.frames.items():
            output = stored[Path(folder).name]
            settings = output["metadata"]["application/vnd.course.settings"]
            start = manifest["settings"][manifest["start"]]
            assert len(manifest["settings"]) == len(settings)
            assert start["alt"] == output["metadata"]["image/png"]["alt"]
            frame = picture_of((page.path.parent / folder / start["frame"]).read_bytes())
            kernel = picture_of(base64.b64decode("".join(output["data"]["image/png"])))
            drawn = BUILT / path.stem / Path(folder).name / "start.png"
            differences = [
                difference_of(one, kernel) for one in (picture_of(drawn.read_bytes()), frame)
            ]
            if differences[0] > 0.002 or differences[1] > 0.06:
                unlike[folder] = differences
    assert unlike == {}


def stored_explorers(notebook: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if "application/vnd.course.settings" in output.get("metadata", {}):
                yield cell["id"], output


def picture_of(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def difference_of(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of two pictures at one size, where 1 is black against white."""
    size = (300, round(300 * other.height / other.width))
    first, second = (
        np.asarray(picture.resize(size, Image.Resampling.BOX), float) for picture in (one, other)
    )
    return float(np.abs(first - second).mean() / 255)


def test_another_picture_is_not_taken_for_the_kernels(pages) -> None:
    """The measure of the test above tells one step of the slowest hand from the next."""
    [(folder, manifest)] = pages["notebooks/00_start_here"].frames.items()
    files = [SITE / "notebooks" / folder / setting["frame"] for setting in manifest["settings"]]
    start, next_step = (picture_of(files[place].read_bytes()) for place in (7, 8))
    assert difference_of(start, next_step) > 0.002


# What a browser makes of them


class Reader:
    """A browser's page that writes down what it asked for and what went wrong."""

    def __init__(self, page: Page, site: Path) -> None:
        self.page, self.site = page, site
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("requestfailed", self._failed)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.complaints.append(said.text),
        )

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the next page was opened before it came
            self.complaints.append(f"failed: {request.url}, {request.failure}")

    def open(self, name: str, width: int = 1280) -> None:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto((self.site / f"{name}.html").resolve().as_uri())

    def everything_came_from_the_folder(self) -> bool:
        here = self.site.resolve().as_uri()
        return all(url.startswith((here, "data:", "blob:")) for url in self.asked)


@pytest.fixture(scope="module")
def reader(chromium: Page, site: Path) -> Reader:
    return Reader(chromium, site)


@pytest.fixture(scope="module")
def opened(pages: dict[str, Elements], pytestconfig: pytest.Config) -> dict[str, Elements]:
    """The pages that are opened one by one."""
    names = sampling.sample(pages, sampling.chosen_by(pytestconfig)) | {*OF_EACH_KIND}
    return {name: page for name, page in pages.items() if name in names}


@pytest.fixture(autouse=True)
def nothing_goes_wrong(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test does: no complaint in the console, and no request to anywhere else."""
    yield
    if "reader" in request.fixturenames:
        reader = request.getfixturevalue("reader")
        complaints, reader.complaints = reader.complaints, []
        assert complaints == [] and reader.everything_came_from_the_folder()


def axe_s_faults(page: Page) -> list[str]:
    """What axe calls moderate or worse, with the first place of each."""
    from axe_playwright_python.sync_playwright import Axe

    # It would fetch style sheets once more, which browsers refuse to pages from a folder.
    options = {"preload": False, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    grave = [one for one in found if one["impact"] in ("moderate", "serious", "critical")]
    return [f"{one['id']} at {one['nodes'][0]['target']}, {len(one['nodes'])}x" for one in grave]


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_open_fit_and_can_be_read_by_all(reader: Reader, opened, width: int) -> None:
    wide, faults = [], {}
    folder = os.environ.get("COURSE_SCREENSHOTS")
    for name, page in opened.items():
        reader.open(name, width)
        sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        if reader.page.evaluate(sideways):
            wide.append(name)
        alike = name.startswith(("findings/", "claims/")) and not name.endswith("4")
        english = width == 360 and page.language == "en" and not alike
        read = english or page.is_translated() or name in OF_EACH_KIND
        if read and (found := axe_s_faults(reader.page)):
            faults[name] = found
        if folder:
            reader.page.screenshot(path=Path(folder) / f"{name.replace('/', '-')}-{width}.png")
    assert wide == [] and faults == {}


def test_pages_can_be_read_on_a_dark_ground(reader: Reader) -> None:
    reader.page.emulate_media(color_scheme="dark")
    faults = {}
    for name in OF_EACH_KIND:
        reader.open(name)
        if found := axe_s_faults(reader.page):
            faults[name] = found
    reader.page.emulate_media(color_scheme="light")
    assert faults == {}


@pytest.mark.parametrize(
    "page, asked, found",
    [("index", "interleaved", "notebooks/09_rotary_in_practice"),
     ("zh/index", "interleaved", "notebooks/09_rotary_in_practice"),
     ("zh/notebooks/01_attention_is_order_blind", "旋转位置编码", "notebooks/08_rotary_encoding"),
     ("zh/index", "拉伸 RoPE", "notebooks/13_stretching_rope"),
     ("zh/docs/notation", "门", "notebooks/01_attention_is_order_blind")],
)  # fmt: skip
def test_search_finds_a_page_without_network(reader, page: str, asked: str, found: str) -> None:
    reader.open(page)
    assert found in results(reader, asked)


@pytest.mark.parametrize("word", ["外推", "插值", "词元"])
def test_search_finds_the_chinese_pages_that_have_a_word_and_no_others(reader, pages, word) -> None:
    reader.open("zh/index")
    written = {
        name.removeprefix("zh/"): article_of(page.path)
        for name, page in pages.items()
        if page.language == "zh-CN" and not name.endswith("/search")
    }
    assert set(results(reader, word)) == {name for name, text in written.items() if word in text}


def test_each_result_has_a_line_of_its_page_once_it_is_seen(reader: Reader, pages) -> None:
    """Of both editions; an English page has an English line in the Chinese one, too."""
    for page, asked in (("index", "interpolation"), ("zh/index", "插值"), ("zh/index", "ALiBi")):
        reader.open(page, 360)
        found = results(reader, asked)
        for item in reader.page.locator("#search-results li").all():
            item.scroll_into_view_if_needed()
            item.locator("p.context").wait_for()
        lines = reader.page.locator("#search-results li p.context").all_inner_texts()
        assert len(lines) == len(found) > 3
        marked = reader.page.locator("#search-results p.context mark").all_inner_texts()
        assert len(marked) >= len(found)
        for name, line in zip(found, lines, strict=True):
            folder = "zh/" if page.startswith("zh/") else ""
            words = squeezed(html.unescape(article_of(pages[folder + name].path)))
            assert squeezed(line.strip("… ")) in words, (name, line)
            assert len(line) <= 120


def squeezed(text: str) -> str:
    """A text without white space, which is another between the elements of a page."""
    return "".join(text.split())


def article_of(path: Path) -> str:
    """The text of a page, with a line's end in place of each tag."""
    article = path.read_text(encoding="utf-8").split("<article")[1].split("</article>")[0]
    return re.sub("<[^>]*>", "\n", article)


def results(reader: Reader, asked: str) -> list[str]:
    """The pages that a search lists, asked as a reader does it, the first one first."""
    field = reader.page.locator("input[name=q]").first
    field.fill(asked)
    field.press("Enter")
    reader.page.wait_for_function("document.querySelector('p.search-summary')?.innerText")
    links = reader.page.locator("#search-results li a").all()
    return [urlsplit(link.get_attribute("href") or "").path.removesuffix(".html") for link in links]


@pytest.mark.parametrize(
    "page, asked, found",
    [("index", "rope", "notebooks/08_rotary_encoding"),
     ("index", "alibi", "notebooks/06_linear_bias"),
     ("zh/index", "RoPE", "notebooks/08_rotary_encoding"),
     ("zh/index", "基数", "notebooks/08_rotary_encoding")],
)  # fmt: skip
def test_search_knows_other_words_and_puts_titles_first(reader, page, asked, found) -> None:
    reader.open(page)
    assert found in results(reader, asked)[:4]


def test_rows_of_models_can_be_searched(reader: Reader) -> None:
    reader.open("docs/models")
    reader.page.get_by_role("searchbox", name="Find a row").fill("gpt_neox")
    rows = reader.page.locator("table.rows tbody tr:visible")
    assert 0 < rows.count() < 5 and "rotates" in rows.first.inner_text()


def test_the_other_language_opens_at_the_same_place(reader: Reader) -> None:
    reader.open("notebooks/08_rotary_encoding", 360)
    place = "#cell-clocks-intro"
    top = f"document.querySelector('{place}').getBoundingClientRect().top"
    scroll = f"document.querySelector('{place}').scrollIntoView({{ behavior: 'instant' }})"
    reader.page.wait_for_function(f"() => {{ {scroll}; return {top} > 60 && {top} < 68 }}")
    reader.page.locator("a.language:visible").click()
    reader.page.wait_for_url(f"**/zh/notebooks/08_rotary_encoding.html{place}")
    reader.page.wait_for_function(f"() => {top} > -100 && {top} < 200")


def test_paper_has_no_links_that_float_and_no_buttons(reader: Reader) -> None:
    reader.open("notebooks/08_rotary_encoding", 700)
    reader.page.emulate_media(media="print")
    for unwanted in (".skip-to-content", ".open-all", ".whole", ".back-to-top", "a.language"):
        found = reader.page.locator(unwanted)
        assert found.count() and not any(one.is_visible() for one in found.all()), unwanted
    reader.page.emulate_media(media="screen")


def test_on_a_phone_a_picture_fits_or_fades_and_can_be_seen_whole(reader: Reader) -> None:
    reader.open("notebooks/08_rotary_encoding", 360)
    reader.page.evaluate(
        "() => { for (const one of document.querySelectorAll('details')) one.open = true }"
    )
    fit = 0
    for box in reader.page.locator("figure.picture").all():
        box.scroll_into_view_if_needed()
        whole = box.locator("xpath=following-sibling::a[@class='whole']")
        wide = box.evaluate("box => box.scrollWidth > box.clientWidth")
        fit += not wide
        assert whole.is_visible() == wide == ("cut" in (box.get_attribute("class") or ""))
        if wide:
            assert (whole.get_attribute("href") or "").endswith(".webp")
            box.evaluate("box => { box.scrollLeft = box.scrollWidth }")
            reader.page.wait_for_function(
                "box => !box.classList.contains('cut')", arg=box.element_handle()
            )
    assert fit >= 4  # the doors, a small picture, and two of two panels


def test_explorers_fit_a_phone_and_move_by_keyboard(reader: Reader, pages, opened) -> None:
    moved = 0
    for name, page in opened.items():
        if not page.frames or (name.startswith("zh/") and name != MOVED_IN_CHINESE):
            continue
        reader.open(name, 360)
        reader.page.evaluate(
            "() => { for (const one of document.querySelectorAll('details')) one.open = true }"
        )
        for figure in reader.page.locator("figure.explorer").all():
            manifest = json.loads(figure.locator("script").text_content() or "")
            assert part_of_size(figure, manifest) > LEAST_PART, figure.get_attribute("data-frames")
            for control in figure.locator("[data-control]").all():
                move(control)
                wait_for_picture(figure, manifest)
                moved += 1
            assert part_of_size(figure, manifest) > LEAST_PART, figure.get_attribute("data-frames")
    assert moved > (40 if opened == pages else 3)


def part_of_size(figure: Locator, manifest: dict[str, Any]) -> float:
    """How large an explorer's picture for phones is shown, of its size; nothing of it is hidden."""
    box, image = figure.locator(".explorer-picture"), figure.locator("img")
    image.scroll_into_view_if_needed()
    figure.page.wait_for_function(
        "image => image.complete && image.naturalWidth", arg=image.element_handle()
    )
    assert "/narrow/" in image.evaluate("image => image.currentSrc")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    shown: float = image.evaluate("image => image.getBoundingClientRect().width")
    return shown / float(manifest["narrow"][0])


def move(control: Locator) -> None:
    """One step with the keys that a control of its kind has."""
    control.focus()
    assert control.evaluate("element => element.matches(':focus-visible')")
    if control.get_attribute("type") == "checkbox":
        control.press("Space")
        return
    kind = control.evaluate("element => element.tagName")
    values = (
        "list => [list.selectedIndex, list.options.length - 1]"
        if kind == "SELECT"
        else ("slider => [Number(slider.value), Number(slider.max)]")
    )
    at, last = control.evaluate(values)
    keys = ("ArrowUp", "ArrowDown") if kind == "SELECT" else ("ArrowLeft", "ArrowRight")
    control.press(keys[at < last])
    assert control.evaluate(values)[0] == (at + 1 if at < last else at - 1)


def wait_for_picture(figure: Locator, manifest: dict[str, Any]) -> None:
    """Until picture and words are those of the setting that the controls are at."""
    places = []
    for place, control in enumerate(manifest["controls"]):
        element = figure.locator(f"[data-control='{place}']")
        if not element.count():
            places.append(0)  # one value occurs
        elif control["kind"] == "switch":
            places.append(control["values"].index(element.is_checked()))
        else:
            places.append(int(element.input_value()))
    [setting] = [one for one in manifest["settings"] if one["at"] == places]
    figure.page.wait_for_function(
        "([image, frame, alt]) => image.src.endsWith(frame) && image.alt === alt"
        " && image.complete && image.naturalWidth > 0",
        arg=[figure.locator("img").element_handle(), setting["frame"], setting["alt"]],
    )


def test_without_scripts_a_page_shows_the_still_and_no_dead_controls(reader: Reader) -> None:
    assert reader.page.context.browser
    with reader.page.context.browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((reader.site / "notebooks" / "00_start_here.html").resolve().as_uri())
        figure = page.locator("figure.explorer")
        assert figure.locator("img").get_attribute("alt")
        assert not figure.locator(".explorer-controls").is_visible()
