"""Explorers on a page without a kernel: their frames, their HTML, and how they move in a browser.

A lesson of four cells is drawn once. Its explorer has a slider and a switch, and a list that
has "far" only at step 4: so some combinations have no picture.
"""

import io
import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import browser
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image

from course_lab import figures
from course_lab.figures import style

TOOLS = Path(__file__).parents[2] / "tools" / "site"
sys.path.insert(0, str(TOOLS))

import explorers  # noqa: E402
import frames  # noqa: E402
import words  # noqa: E402

EXPLORER = """\
def draw(step, grid, place):
    fig, ax = figures.figure(3, 1.5)
    ax.plot([0, step], [0, 1 if place == "near" else 2], color="#D55E00")
    ax.grid(grid)
    return fig


def words(step, grid, place):
    return f"A line to {step}, {place}, {'with' if grid else 'without'} a grid."


settings = figures.grid(step=[0, 2, 4], grid=[False, True], place=["near"])
settings += figures.grid(step=[4], grid=[True], place=["far"])
figures.explore(draw, words, settings, step=figures.slider("how <far>", 0, 4, 2),
                grid=figures.switch("grid"), place=figures.choice("place", ["near", "far"]))"""


def lesson(path, explorer=EXPLORER, prose="Move it."):
    cells = [
        new_code_cell("from course_lab import figures", id="imports"),
        new_markdown_cell(prose, id="prose"),
        new_code_cell(explorer, id="explorer"),
        new_code_cell("raise RuntimeError('a cell after the last explorer is not run')", id="end"),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """What is said of a lesson whose explorer divides by zero; another is drawn all the same."""
    folder = tmp_path_factory.mktemp("site")
    tiny = lesson(folder / "tiny.ipynb")
    broken = lesson(folder / "broken.ipynb", EXPLORER.replace("[0, step]", "[0, 1 / step]"))
    with pytest.raises(frames.FrameError) as raised:
        frames.build_frames([broken, tiny], folder / "frames")
    return folder, str(raised.value)


@pytest.fixture(scope="module")
def site(refused):
    """A folder with a lesson and its frames."""
    return refused[0]


@pytest.fixture
def manifest(site):
    return json.loads((site / "frames/tiny/explorer/manifest.json").read_text())


def test_each_setting_has_its_frame_and_its_words(site, manifest):
    assert len(manifest["settings"]) == 7
    assert manifest["settings"][manifest["start"]]["alt"] == "A line to 2, near, without a grid."
    assert [setting["at"] for setting in manifest["settings"]][-1] == [2, 1, 1]
    for setting in manifest["settings"]:
        with Image.open(site / "frames/tiny/explorer" / setting["frame"]) as picture:
            assert (setting["width"], setting["height"]) == (300, 150)
            assert picture.size == (450, 225)
        with Image.open(site / "frames/tiny/explorer/narrow" / setting["frame"]) as picture:
            assert manifest["narrow"] == [300, 150] and picture.size == (450, 225)


def test_controls_have_the_values_that_occur(manifest):
    described = [(c["name"], c["label"], c["kind"], c["values"]) for c in manifest["controls"]]
    assert described == [
        ("step", "how <far>", "slider", [0, 2, 4]),
        ("grid", "grid", "switch", [False, True]),
        ("place", "place", "choice", ["near", "far"]),
    ]


def test_equal_frames_are_stored_once(site, manifest):
    named = {setting["frame"] for setting in manifest["settings"]}
    stored = {path.name for path in (site / "frames/tiny/explorer").glob("*.webp")}
    assert named == stored


def test_numbers_and_switches_read_as_people_write_them():
    assert [frames.as_text(value) for value in (True, 512, 10_000_000, 1.05, "yarn")] == [
        "on",
        "512",
        "10,000,000",
        "1.05",
        "yarn",
    ]


def test_a_setting_that_cannot_be_drawn_is_named(refused):
    folder, said = refused
    named = r"broken.ipynb, cell explorer: the setting \{'step': 0, 'grid': False, .* cannot be dr"
    assert re.match(named, said)
    assert not (folder / "frames/broken").exists()


def test_another_sentence_runs_nothing_and_another_setting_does(site, tmp_path, monkeypatch):
    shutil.copytree(site / "frames", tmp_path / "frames")
    drawn = []
    monkeypatch.setattr(frames, "_draw_apart", lambda *which: drawn.append(which[0].name) or "")
    reworded = lesson(tmp_path / "tiny.ipynb", prose="Another sentence.")
    assert frames.build_frames([reworded], tmp_path / "frames") == []
    assert drawn == []
    changed = lesson(tmp_path / "tiny.ipynb", EXPLORER.replace("[0, 2, 4]", "[0, 2]"))
    frames.build_frames([changed], tmp_path / "frames")
    assert drawn == ["tiny.ipynb"]


def test_without_the_released_model_its_lesson_is_left_out_and_the_page_has_the_still(
    tmp_path, monkeypatch
):
    needy = lesson(tmp_path / "needy.ipynb", "model = released.load()\n" + EXPLORER)
    (tmp_path / "frames" / "needy").mkdir(parents=True)
    monkeypatch.setattr(frames, "_draw_apart", lambda *which: "drawn")
    monkeypatch.setattr(frames, "find_model", lambda: False)
    [said] = frames.build_frames([needy], tmp_path / "frames")
    assert "make model" in said and not (tmp_path / "frames" / "needy").exists()
    assert not explorers.has_frames("needy", "explorer", tmp_path / "frames")
    monkeypatch.setattr(frames, "find_model", lambda: True)
    assert frames.build_frames([needy], tmp_path / "frames") == ["drawn"]


def test_a_change_in_what_a_lesson_imports_is_another_key(site, monkeypatch):
    cells = frames.cells_to_run(site / "tiny.ipynb")
    assert list(cells) == ["imports", "explorer"]
    before = frames.key_of_frames(cells)
    assert before == frames.key_of_frames(cells)
    files = {frames.ROOT / "course_lab/figures/explorer.py", frames.ROOT / "course_lib/errors.py"}
    monkeypatch.setattr(frames, "files_of", lambda sources: files)
    assert frames.key_of_frames(cells) != before


def test_a_change_in_how_frames_are_drawn_is_another_key(monkeypatch):
    monkeypatch.setattr(frames, "key_of", lambda cells, drawing, files: files)
    assert frames.key_of_frames({}) >= {
        TOOLS / name for name in ("frames.py", "phones.py", "panels.py")
    }


def test_a_draft_draws_three_lessons():
    lessons = [path.stem for path in sorted((frames.ROOT / "notebooks").glob("*.ipynb"))]
    assert all(frames.is_drawn(lesson, "") for lesson in lessons)
    drafts = [
        {lesson for lesson in lessons if frames.is_drawn(lesson, f"commit {n}")} for n in range(300)
    ]
    assert set().union(*drafts) == {*lessons}
    assert all({*frames.IN_EVERY_DRAFT} < drawn and len(drawn) == 3 for drawn in drafts)


def test_a_draft_draws_one_setting_of_ten_and_the_first_with_its_next():
    assert frames.drawn_places(25, 3) == [3, 0, 1, 2, *range(4, 25)]
    drafts = [frames.drawn_places(25, 3, f"commit {n}") for n in range(100)]
    assert all(places[0] == 3 and 4 in places and len(places) <= 5 for places in drafts)
    assert {place for places in drafts for place in places} == {*range(25)}


def test_in_a_draft_the_first_picture_stands_for_what_is_not_drawn(monkeypatch):
    places = frames.drawn_places
    monkeypatch.setattr(frames, "drawn_places", lambda count, start: places(count, start, "one"))
    drawn = []

    def draw(step):
        drawn.append(step)
        fig, ax = figures.figure(1, 1)
        ax.plot([0, step])
        return fig

    settings = figures.grid(step=[*range(25)])
    controls = {"step": figures.slider("step", 0, 24, 3)}
    explorer = frames.recorded(draw, "words", settings, controls)
    pictures = frames.lesson_pictures({"cell": explorer}, "a draft")["cell"]
    assert len(drawn) == len({*pictures}) <= 5 and len(pictures) == 25
    assert pictures[3] != pictures[4]
    assert pictures.count(pictures[3]) == 26 - len(drawn)


def test_a_frame_is_the_picture_that_a_kernel_would_show():
    def anew():
        fig, _ = figures.figure(3, 2, columns=2)
        fig.suptitle("A title that asks for room")
        return fig

    once = frames.packed(frames.drawn(anew(), 100), frames.Look(100, 256))
    assert frames.light_picture(anew(), anew, cap=0) == frames.packed(
        frames.drawn(anew(), 100), frames.LOOKS[-1]
    )  # no picture is as light as that, and none of them is drawn with the figure of another
    frame = Image.open(io.BytesIO(once))
    with Image.open(io.BytesIO(style.png(anew()))) as live:
        difference = np.asarray(live.convert("RGB"), int) - np.asarray(frame)
    assert abs(difference).max() <= 16  # of 255: the palette has 256 colours


class Noise:
    """A figure of which no picture is small."""

    def savefig(self, file, format, dpi, **options):
        Image.effect_noise((2 * dpi, dpi), 90).save(file, format)


def explorer_of(figures):
    settings = [{"step": step} for step in range(len(figures))]
    return frames.Explorer(
        {}, settings, settings[0], ["words"] * len(figures), figures, lambda step: figures[step]
    )


def sizes_of(figure):
    """Bytes of a figure in the finest look and in the coarsest."""
    looks = (frames.LOOKS[0], frames.LOOKS[-1])
    return [len(frames.packed(frames.drawn(figure, look.dpi), look)) for look in looks]


def test_a_heavy_frame_gets_a_coarser_look_or_is_refused(monkeypatch):
    finest, coarsest = sizes_of(Noise())
    monkeypatch.setattr(frames, "HEAVIEST_FRAME", finest // 2)
    [one] = frames.lesson_pictures({"cell": explorer_of([Noise()])}, "noise")["cell"]
    assert coarsest <= len(one) <= finest // 2
    monkeypatch.setattr(frames, "HEAVIEST_FRAME", coarsest // 2)
    with pytest.raises(frames.FrameError, match=r"cell c: .* \{'step': 0\} .* draw a smaller"):
        frames.lesson_pictures({"c": explorer_of([Noise()])}, "noise")


def test_frames_of_a_heavy_page_are_coarser_or_it_is_refused(monkeypatch):
    finest, coarsest = sizes_of(Noise())
    monkeypatch.setattr(frames, "HEAVIEST_FRAME", 2 * finest)
    monkeypatch.setattr(frames, "HEAVIEST_PAGE", finest)
    pictures = frames.lesson_pictures({"c": explorer_of([Noise(), Noise()])}, "noise")
    assert frames.page_bytes(pictures) <= finest
    monkeypatch.setattr(frames, "HEAVIEST_PAGE", coarsest)
    with pytest.raises(frames.FrameError, match="noise: .* name fewer settings"):
        frames.lesson_pictures({"c": explorer_of([Noise(), Noise()])}, "noise")


def sizes_for_phones(draw, settings=({"step": 0}, {"step": 1})):
    """The size at which a phone shows the frames of two settings, and those of their files."""
    start, *_ = settings
    figures = [draw(**one) for one in settings]
    explorer = frames.Explorer({}, [*settings], start, ["words"] * 2, figures, draw)
    names = ["b.webp", "a.webp"]
    pictures = frames.lesson_pictures({"cell": explorer}, "two")["cell"]
    manifest = frames.manifest_of(explorer, names)
    narrow, size = frames.narrow_frames(explorer, names, pictures, manifest)
    assert {*narrow} == {*names}
    return size, {Image.open(io.BytesIO(one)).size for one in narrow.values()}


def test_frames_for_phones_are_drawn_anew_or_have_their_panels_below_each_other():
    def draw(step, columns=1):
        fig, axes = figures.figure(7, 3, columns=columns, squeeze=False)
        for ax in axes[0]:
            ax.plot([0, step])
        return fig

    assert sizes_for_phones(draw) == ((400, 300), {(600, 450)})
    [size, files] = sizes_for_phones(partial(draw, columns=2))
    assert size[0] < 400 and size[1] > 500 and files == {tuple(side * 3 // 2 for side in size)}


def page_of(site, language=words.ENGLISH):
    """The lesson's page, as a file with everything beside it."""
    still = io.BytesIO()
    Image.new("RGB", (300, 150), "white").save(still, "png")
    (site / "still.png").write_bytes(still.getvalue())
    figure = explorers.explorer_html(
        "tiny", "explorer", "still.png", "The first words.", "pictures", site / "frames", language
    )
    explorers.copy_frames(site / "pictures", site / "frames")
    for name in ("explorers.js", "explorers.css"):
        shutil.copy(TOOLS / "static" / name, site)
    page = site / "page.html"
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>tiny</title>'
        '<link rel="icon" href="still.png"><link rel="stylesheet" href="explorers.css">'
        f"{figure}<script>{words.script(language)}</script>"
        '<script src="explorers.js"></script>'
    )
    return page


def test_html_holds_a_still_hidden_controls_and_the_manifest(site, manifest):
    text = page_of(site).read_text()
    assert '<img src="still.png" alt="The first words." width="300" height="150" ' in text
    assert re.search(r'class="explorer-controls"[^>]* hidden>', text)
    assert "how &lt;far&gt;</label>" in text
    inline = re.search(r'<script type="application/json">(.*?)</script>', text)[1]
    assert "<" not in inline and json.loads(inline) == manifest
    with pytest.raises(FileNotFoundError, match=r"run tools/site/frames\.py first"):
        explorers.explorer_html("tiny", "another", "still.png", "", frames=site / "frames")


def test_labels_and_choices_are_what_is_said_for_them(site):
    said = {"how <far>": "多远", "grid": "网格", "place": "位置", "near": "近", "on": "开"}
    place = ("tiny", "explorer", "still.png", "", "pictures", site / "frames", words.CHINESE)
    figure = explorers.explorer_html(*place, said)
    assert 'lang="en"' not in figure and "多远</label>" in figure and ">近</option>" in figure
    inline = json.loads(re.search(r'<script type="application/json">(.*?)</script>', figure)[1])
    texts = [control["texts"] for control in inline["controls"]]
    assert texts == [["0", "2", "4"], ["off", "开"], ["近", "far"]]
    del said["grid"]
    assert explorers.explorer_html(*place, said).count('lang="en"') == 3


@pytest.fixture
def page(chromium, site):
    """The lesson's page, opened from the folder; whatever a test does, nothing goes wrong in it."""
    complaints, requests = [], []
    chromium.on("console", lambda said: complaints.append(said.text))
    chromium.on("pageerror", lambda error: complaints.append(str(error)))
    chromium.on("request", lambda request: requests.append(request.url))
    chromium.goto(page_of(site).as_uri())
    yield chromium
    assert complaints == []
    assert requests and all(url.startswith(site.as_uri()) for url in requests)


def wait_for_words(page, words):
    """Wait until the picture's words are these; then it is the frame of the same setting."""
    page.wait_for_function("words => document.querySelector('img').alt === words", arg=words)
    manifest = page.evaluate("JSON.parse(document.querySelector('figure script').textContent)")
    frame = next(one["frame"] for one in manifest["settings"] if one["alt"] == words)
    assert page.locator("img").get_attribute("src").endswith(frame)


def test_keys_move_the_slider_and_with_it_picture_and_words(page):
    slider = page.get_by_role("slider", name="how <far>")
    assert slider.get_attribute("aria-valuetext") == "2"
    slider.press("ArrowRight")
    wait_for_words(page, "A line to 4, near, without a grid.")
    assert page.locator("output").inner_text() == slider.get_attribute("aria-valuetext") == "4"
    slider.press("Home")
    wait_for_words(page, "A line to 0, near, without a grid.")
    page.get_by_role("checkbox", name="grid").press("Space")
    wait_for_words(page, "A line to 0, near, with a grid.")
    page.wait_for_function(
        "words => document.querySelector('[role=status]').textContent === words",
        arg="A line to 0, near, with a grid.",
    )


def test_a_phone_gets_frames_of_its_own(page):
    page.set_viewport_size({"width": 360, "height": 740})
    assert "/narrow/" in page.locator("img").evaluate("image => image.currentSrc")
    page.get_by_role("slider").press("ArrowRight")
    wait_for_words(page, "A line to 4, near, without a grid.")
    assert "/explorer/narrow/" in page.locator("img").get_attribute("src")
    page.set_viewport_size(browser.VIEWPORT)


def test_other_controls_move_to_the_nearest_setting_and_the_page_says_so(page):
    page.get_by_role("combobox", name="place").select_option(label="far")
    wait_for_words(page, "A line to 4, far, with a grid.")
    assert page.locator("output").inner_text() == "4"
    assert page.get_by_role("checkbox").is_checked()
    note = "This page has no picture of that combination, so “how <far>” is now 4 and"
    assert page.locator(".explorer-note").inner_text() == f"{note} “grid” is now on."
    page.get_by_role("slider").press("ArrowLeft")
    wait_for_words(page, "A line to 2, near, with a grid.")
    assert "“place” is now near" in page.locator(".explorer-note").inner_text()


def test_a_chinese_page_says_the_same_in_chinese_and_marks_what_is_english(chromium, site):
    chromium.goto(page_of(site, words.CHINESE).as_uri())
    assert chromium.get_by_role("group", name="图的控件").count() == 1
    chromium.get_by_role("combobox", name="place").select_option(label="far")
    wait_for_words(chromium, "A line to 4, far, with a grid.")
    note = "这一页没有这个组合的图，因此“how <far>”现在是 4，“grid”现在是 on。"
    assert chromium.locator(".explorer-note").inner_text() == note
    assert chromium.locator("img").get_attribute("lang") == "en"
    assert chromium.locator(".explorer-control[lang=en]").count() == 3


def test_a_frame_that_is_missing_leaves_controls_at_the_picture_shown(chromium, site):
    page = site / "nowhere.html"
    page.write_text(
        page_of(site).read_text().replace('data-frames="pictures/', 'data-frames="none/')
    )
    chromium.goto(page.as_uri())
    chromium.get_by_role("checkbox").press("Space")
    chromium.wait_for_function(
        "document.querySelector('.explorer-note').textContent.includes('could not be loaded')"
    )
    assert not chromium.get_by_role("checkbox").is_checked()
    assert chromium.locator("img").get_attribute("alt") == "The first words."


def test_without_javascript_the_still_shows_and_no_control(site, chromium):
    context = chromium.context.browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(page_of(site).as_uri())
    assert still.get_by_role("img", name="The first words.").is_visible()
    assert still.locator("input:visible, select:visible").count() == 0
    context.close()
