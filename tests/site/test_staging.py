"""The pages of the site before Sphinx: links, outputs, hints, the map, and all that in Chinese."""

import base64
import hashlib
import io
import json
import re
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import around  # noqa: E402
import breaks  # noqa: E402
import evidence  # noqa: E402
import formulas  # noqa: E402
import front  # noqa: E402
import han  # noqa: E402
import languages  # noqa: E402
import links  # noqa: E402
import models  # noqa: E402
import panels  # noqa: E402
import ranking  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402
from pictures import Pictures  # noqa: E402
from words import CHINESE, ENGLISH, STILL_ENGLISH  # noqa: E402

import notebooks  # noqa: E402
from course_grading.specs import SHEETS  # noqa: E402
from tools.translation import edition  # noqa: E402

LESSON = "notebooks/02_sinusoidal_encoding.ipynb"


def read(path):
    return json.loads((ROOT / path).read_text())


def picture(color="white"):
    buffer = io.BytesIO()
    Image.new("RGBA", (30, 20), color).save(buffer, "PNG")
    return buffer.getvalue()


class Named(Pictures):
    """Pictures that have their names, and are not encoded: that takes most of the time."""

    def save(self, picture):
        return f"pictures/{hashlib.sha256(picture).hexdigest()[:16]}.webp"


def shown(output, pictures=None):
    return notebooks.output_block(output, "a-cell", LESSON, "", pictures)


@pytest.mark.parametrize(
    "link, page",
    [
        ("[a](../docs/notation.md)", "[a](../docs/notation.md)"),
        ("[a](03_other_waves.ipynb)", "[a](03_other_waves.md)"),
        ("[a](../exercises/20_museum.ipynb)", "[a](../exercises/20_museum.md)"),
        ("[a](../README.md#lessons)", "[a](../index.md#lessons)"),
        ("[`a`](#wheels)", "[`a`](#wheels)"),
        ("[a](https://example.org/a.md)", "[a](https://example.org/a.md)"),
        ("[a](../tools/setup.sh)", "[a](https://host/blob/v2/tools/setup.sh)"),
    ],
)
def test_links_lead_to_pages_or_to_the_sources(link, page):
    assert links.with_page_links(link, LESSON, "https://host/blob/v2/") == page


def test_a_link_to_a_source_is_text_where_no_address_is_known():
    assert links.with_page_links("see [the `code`](../tools/setup.sh)", LESSON, "") == (
        "see the `code`"
    )


def test_a_link_to_nothing_is_refused_by_name():
    with pytest.raises(ValueError, match="notebooks/02.*'missing.md'"):
        links.with_page_links("[a](missing.md)", LESSON, "")


def test_code_is_left_as_it_is():
    block = "```python\nx = [a](03_other_waves.ipynb)\n```"
    assert links.with_page_links(block, LESSON, "") == block


@pytest.mark.parametrize("name", sorted(SHEETS))
def test_every_hint_of_a_sheet_is_folded_once_and_in_order(name):
    file = f"exercises/{name}.ipynb"
    hints = {exercise.slug: exercise.hints for exercise in SHEETS[name]}
    page = notebooks.sheet(read(f"course_grading/blank_sheets/{name}.ipynb"), file, "", hints)
    folds = re.findall(r"<details.*?</summary><p>(.*?)</p></details>", page)
    assert folds == [notebooks.with_code(hint) for one in SHEETS[name] for hint in one.hints]
    assert f"open `{file}`" in page


def test_plumbing_is_closed_and_what_it_shows_is_not(tmp_path):
    lesson = {"cells": [
        {"cell_type": "code", "id": "open", "metadata": {}, "source": ["x = 1"], "outputs": []},
        {"cell_type": "code", "id": "closed", "metadata": {"jupyter": {"source_hidden": True}},
         "source": ["assert x\n", "print(x)"],
         "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]},
    ]}  # fmt: skip
    page = notebooks.lesson(lesson, LESSON, "", Pictures(tmp_path))
    before, inside, after = re.split(r"<details.*?>|</details>", page)
    assert "x = 1" in before and "2 lines</summary>" in inside and "assert x" in inside
    assert '<pre class="output">1' in after and "assert" not in before + after


def test_what_is_printed_is_plain_text_in_one_piece():
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["a < b\n\n"]},
        {"output_type": "stream", "name": "stdout", "text": ["**c**\n"]},
    ]
    [output] = notebooks.joined(outputs)
    assert '<pre class="output">a &lt; b\n\n**c**\n</pre>' in shown(output)


def test_a_picture_keeps_its_pixels_its_words_and_its_size(tmp_path):
    png, alt = picture("#0072B2"), 'It says "7" & more.'
    data = {"image/png": base64.b64encode(png).decode()}
    output = {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": alt}}}
    html = shown(output, Pictures(tmp_path))
    path = re.search(r'src="\.\./([^"]+)"', html)[1]
    assert Image.open(tmp_path / path).getpixel((0, 0)) == (0x00, 0x72, 0xB2)
    assert 'alt="It says &quot;7&quot; &amp; more." width="30" height="20" loading="lazy"' in html
    with pytest.raises(ValueError, match="a-cell: a picture needs an alternative text"):
        shown({**output, "metadata": {}}, Pictures(tmp_path))


def test_pictures_that_no_page_shows_any_more_are_deleted(tmp_path):
    Pictures(tmp_path).save(picture("red"))
    later = Pictures(tmp_path)
    kept = later.save(picture("blue"))
    later.remove_unused()
    assert [file for file in (tmp_path / "pictures").iterdir()] == [tmp_path / kept]


def test_progress_bars_are_left_out_and_unknown_outputs_are_refused():
    bar = {"text/plain": "  0%|          | 0/300 [00:00<?, ?it/s]"}
    assert shown({"output_type": "display_data", "data": bar}) == ""
    with pytest.raises(ValueError, match="a-cell: an output of .'text/html'."):
        shown({"output_type": "display_data", "data": {"text/html": "<b>"}})


def test_what_is_the_same_is_not_written_again(tmp_path):
    stage.write({"a": "one", "folder/b": "two", "c": "three"}, tmp_path)
    before = (tmp_path / "a.md").stat().st_mtime_ns
    stage.write({"a": "one", "folder/b": "2"}, tmp_path)
    assert (tmp_path / "a.md").stat().st_mtime_ns == before
    assert (tmp_path / "folder" / "b.md").read_text() == "2"
    assert not (tmp_path / "c.md").exists()


def test_the_map_leads_from_each_door_to_its_lessons(tmp_path):
    files = sorted((ROOT / "notebooks").glob("*.ipynb"))
    lessons = {f"notebooks/{file.name}": json.loads(file.read_text()) for file in files}
    html = front.course_map(lessons, Pictures(tmp_path))
    lines = dict(re.findall(r'<li id="door-(\w+)">(.*?)</li>', html))
    behind = {door: re.findall(r"notebooks/(\d\d)_", line) for door, line in lines.items()}
    assert behind["embed"] == ["02", "03", "04"]
    assert behind["read"] == ["07"] and "07" in behind["score_bias"]
    assert {"08", "13"} <= set(behind["rotate"])
    assert {number for numbers in behind.values() for number in numbers} == {
        file.name[:2] for file in files
    }
    assert set(re.findall(r'href="#door-(\w+)"', html)) <= set(lines)


def test_signatures_keep_their_shapes_and_docstrings_their_stars():
    page = reference.pages()["reference/encodings"]
    assert 'rotate(x: Float[Tensor, "*batch length dim"], cos: ' in page
    assert "{py:class} Rotary(head_dim: int, base: float = 10_000.0, " in page
    assert reference.words("`a * b` is a * b") == r"`a * b` is a \* b"


def test_a_formula_sets_functions_apart_and_words_upright():
    assert formulas.mathml(r"2 \cos a", display=False).count("<mspace") == 2
    assert formulas.mathml(r"\cos(a)", display=False).count("<mspace") == 0
    assert "<mi>PE</mi>" in formulas.mathml(r"\mathrm{PE}(p)", display=False)


def test_every_finding_and_claim_has_a_page_with_its_numbers_and_its_lesson(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "explorer_html", lambda *_, **words: "")  # needs frames
    lessons = {
        f"notebooks/{path.name}": read(f"notebooks/{path.name}")
        for path in (ROOT / "notebooks").glob("*.ipynb")
    }
    pages = evidence.pages(lessons, Named(tmp_path))
    tables = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("findings", "claims")}
    for name, table in tables.items():
        linked = evidence.with_links(table, f"docs/{name}.md")
        numbers = set(re.findall(r"^\| ([FC]\d+) \|", table, re.MULTILINE))
        assert {f"{name}/{number}" for number in numbers} == {p for p in pages if name in p}
        assert all(f"[{number}](../{name}/{number}.md)" in linked for number in numbers)
    shown = {
        file: notebooks.lesson(one, file, "", Named(tmp_path)) for file, one in lessons.items()
    }
    for name, page in pages.items():
        (file, cell), *_ = re.findall(r"notebooks/(\w+)\.html#cell-([\w-]+)", page)
        assert f'<span id="cell-{cell}"></span>' in shown[f"notebooks/{file}.ipynb"], name
        assert "<img" in page or name.startswith("claims/"), name


def test_a_link_to_the_number_of_a_finding_leads_to_its_page():
    linked = links.with_page_links("[F22](../docs/findings.md)", LESSON, "")
    assert linked == "[F22](../findings/F22.md)"
    assert links.with_page_links("[findings](../docs/findings.md)", LESSON, "") == (
        "[findings](../docs/findings.md)"
    )


def test_a_phone_gets_narrow_pictures_of_the_doors_and_of_panels_side_by_side(monkeypatch):
    monkeypatch.setattr(notebooks, "has_frames", lambda *_: True)
    monkeypatch.setattr(notebooks, "explorer_html", lambda *_, **words: "")
    lessons = ("00_start_here", "01_attention_is_order_blind")
    for name, count in zip(lessons, (4, 2), strict=True):
        file = f"notebooks/{name}.ipynb"
        page = notebooks.lesson(read(file), file, "", Named(ROOT / "site"))
        widths = re.findall(r'<source media="\(max-width: 40em\)"[^>]* width="(\d+)"', page)
        assert len(widths) == count, name
        assert all(int(width) <= panels.WIDEST for width in widths)


def test_a_question_leads_to_the_cell_that_it_names_and_a_lesson_s_words_do_not():
    text = "[08](../notebooks/08_rotary_encoding.ipynb), *Any angle*, `any-angle-run`, `more`"
    link = '<a href="../notebooks/08_rotary_encoding.html#cell-any-angle-run">08</a>'
    shown = links.with_page_links(text, "docs/questions.md", "")
    assert shown == f"{link}, *Any angle*, `any-angle-run`, `more`"
    assert "#cell" not in links.with_page_links(text, LESSON, "")


def test_findings_are_cards_with_both_sides_and_nothing_is_lost():
    table = (ROOT / "docs" / "findings.md").read_text()
    linked = evidence.with_links(table, "docs/findings.md")
    shown = evidence.cards(linked)
    assert "\n| " not in shown
    rows = re.findall(r"^\| \[F\d+\].*$", linked, re.MULTILINE)
    assert shown.count("::{container} card") == len(rows) > 50
    for row in rows:
        for cell in evidence.PIPE.split(row)[1:-1]:
            assert cell.strip() in shown
    assert evidence.cards("no table") == "no table"


def test_each_model_has_a_row_with_what_all_lists_say_of_it():
    page = (ROOT / "docs" / "models.md").read_text()
    shown = models.rows_of_models(page)
    rows = dict(re.findall(r"<tr><td><code>(.*?)</code></td><td>(.*?)</td></tr>", shown))
    listed = [
        model[1]
        for list_ in models.LISTED.finditer(page)
        for model in models.MODEL.finditer(list_[2])
    ]
    counts = [int(count) for count in re.findall(r"^\*\*.+?\*\*: (\d+)\. ", page, re.MULTILINE)]
    assert len(listed) == sum(counts) and set(rows) == set(listed)
    assert rows["bloom"] == "ALiBi" and rows["gpt_neox"].startswith("rotates: a part of the head")
    assert rows["lfm3"].count("; ") > 1 and list(rows) == sorted(rows, key=str.lower)
    assert "glm4v_moe_text" in shown.split("</table>")[1]


def test_the_chinese_page_has_a_row_for_each_model_too():
    page = (ROOT / "docs" / "models.md").read_text()
    said = (
        "## a\n\n**窗口**：2 个。括号里是层数。beam（9/52）、cwm。\n\n"
        "## b\n\n**ALiBi**：1 个。bloom。\n"
    )
    shown = models.rows_of_models(said, "zh")
    rows = dict(re.findall(r"<tr><td><code>(.*?)</code></td><td>(.*?)</td></tr>", shown))
    assert rows == {
        "beam": "旋转：窗口（括号里是层数：9/52）",
        "cwm": "旋转：窗口",
        "bloom": "ALiBi",
    }
    assert models.SECTION.findall(shown) == ["## 逐个模型\n\n"] and "**" not in shown
    assert len(models.SECTION.findall(models.rows_of_models(page))) == 1


# In Chinese


@pytest.fixture(scope="module")
def english():
    return languages.english()


@pytest.fixture(scope="module")
def chinese(english):
    return languages.chinese(english)


@pytest.fixture(scope="module")
def pages_of(english, chinese, tmp_path_factory):
    """The sources of all pages that are made from files, in English and in Chinese."""
    pictures = Named(tmp_path_factory.mktemp("site"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebooks, "explorer_html", lambda *_, **words: "")  # needs frames
        return [stage.pages(one, english, "", pictures) for one in (english, chinese)]


def braces(sentence):
    return sorted(re.findall(r"(?<!{){(\w+)}", sentence))


def test_whatever_the_site_says_it_says_in_chinese():
    for before, after in zip(ENGLISH, CHINESE, strict=True):
        assert after
        if isinstance(before, str):
            assert set(braces(after)) <= set(braces(before))
    assert {name: braces(one) for name, one in ENGLISH.script.items()} == {
        name: braces(one) for name, one in CHINESE.script.items()
    }
    assert list(CHINESE.doors) == list(front.DOORS)


def test_there_is_a_chinese_page_of_every_file_but_those_that_are_english_only(pages_of, english):
    alone = {links.PAGES[file] for file in languages.ALONE}
    assert set(pages_of[0]) - set(pages_of[1]) == alone
    assert {page for page in pages_of[0] if not links.in_both(page)} == alone


def test_a_page_that_is_not_begun_is_english_under_a_line_that_says_so(pages_of, chinese):
    begun = {file for file in [*chinese.texts, *chinese.notebooks] if chinese.is_begun(file)}
    assert {"README.md", "notebooks/08_rotary_encoding.ipynb"} <= begun
    for file in [*chinese.texts, *chinese.notebooks]:
        page = pages_of[1][links.PAGES[file]]
        assert page.startswith("---\nenglish: true") == (file not in begun)
        assert (edition.NOT_BEGUN in page) == (file not in begun)
        if file.startswith("exercises/"):
            said = (CHINESE if file in begun else STILL_ENGLISH).how_to_do.format(file=file)
            assert said in page


def test_hints_and_findings_are_translated_by_their_english(pages_of, chinese):
    page = pages_of[1]["exercises/08_rotary_encoding"]
    assert "`zh/exercises/08_rotary_encoding.ipynb`" in page
    [hints] = [one.hints for one in SHEETS["08_rotary_encoding"] if one.slug == "rotary-rotate"]
    assert f"<p>{notebooks.with_code(chinese.said[hints[0]])}</p>" in page
    lesson = pages_of[1]["notebooks/08_rotary_encoding"]
    assert '<details class="output finding" lang="en"><summary lang="zh-CN"><b>F19.</b>' in lesson
    hint = next(iter(SHEETS["20_museum"])).hints[0]
    assert f'<p lang="en">{notebooks.with_code(hint)}</p>' in notebooks.folded([hint], CHINESE)


def test_a_lesson_that_is_not_begun_has_its_chinese_name_in_lists(pages_of, chinese):
    names = chinese.names()
    for page, name in names.items():
        assert f"{name} <{page}>" in pages_of[1]["index"]
        assert name.endswith("（英文）") and not name.startswith("20")
    assert "notebooks/08_rotary_encoding" not in names


@pytest.mark.parametrize(
    "link, page",
    [
        ("[a](../docs/notation.md)", "[a](../docs/notation.md)"),
        ("[a](../exercises/20_museum.ipynb#b)", "[a](../exercises/20_museum.md#b)"),
        ("[F22](../docs/findings.md)",
         '<a href="../../findings/F22.html" hreflang="en">F22</a>'),
        ("[`a`](../CHANGELOG.md#b)", '<a href="../../CHANGELOG.html#b" hreflang="en">`a`</a>'),
    ],
)  # fmt: skip
def test_chinese_pages_lead_to_chinese_pages_and_else_to_english_ones(link, page):
    assert links.with_page_links(link, LESSON, "", CHINESE) == page


@pytest.mark.parametrize(
    "page, there",
    [("index", "index"), ("docs/notation", "docs/notation"), ("findings/F12", "docs/findings"),
     ("claims/C7", "docs/claims"), ("reference/model", "index"), ("search", "search")],
)  # fmt: skip
def test_every_page_has_one_in_the_other_language_or_one_near_it(page, there):
    assert links.counterpart(page) == there


def test_translated_headings_have_the_english_ids(pages_of, chinese):
    for file in [*chinese.texts, *chinese.notebooks]:
        page = pages_of[1][links.PAGES[file]]
        anchors = re.match(r"---\nanchors: (.*)\n---\n", page)
        assert bool(anchors) == chinese.is_begun(file)
        if anchors:
            ids = anchors[1].split()
            assert len(ids) == len(languages.titles(page)) == len(set(ids)), file
    assert "\nanchors: why-does-model-a-fail-at-129 " not in pages_of[1]["index"]
    assert languages.ids("# A `b` [c](d.md)\n\n## $x$ it\n\n## $x$ it") == [
        "a-b-c", "x-it", "heading-2",
    ]  # fmt: skip


def test_links_to_headings_of_other_pages_lead_to_the_translated_headings():
    anchors = {
        "README.md": languages.anchors_of("# A\n\n## GPU", "# 甲\n\n## 使用 GPU"),
        LESSON: {},
    }
    shown = languages.with_anchors("[a](../README.md#gpu) [b](#gpu) `[c](#gpu)`", LESSON, anchors)
    assert shown == "[a](../README.md#使用-gpu) [b](#gpu) `[c](#gpu)`"
    with pytest.raises(ValueError, match="2 headings, and its translation 1"):
        languages.anchors_of("# A\n\n## B", "# 甲")


def test_the_chinese_map_has_the_same_doors_before_the_same_section(pages_of):
    lists = [re.search(r'<ul class="map-list">.*?</ul>', pages["index"])[0] for pages in pages_of]
    ours, theirs = (
        [re.findall(r"notebooks/(\d\d)_", line) for line in re.findall("<li.*?</li>", one)]
        for one in lists
    )
    assert ours == theirs and any(ours)
    sections = [re.findall("^## .*", pages["index"], re.MULTILINE) for pages in pages_of]
    assert sections[1].index("## 地图") == sections[0].index("## The map")
    assert 'src="../pictures/' in pages_of[1]["index"]


def test_a_translated_lesson_has_the_same_narrow_pictures(pages_of):
    for page in ("notebooks/02_sinusoidal_encoding", "notebooks/08_rotary_encoding"):
        sources = [re.findall("<source.*?>", pages[page]) for pages in pages_of]
        assert len(sources[0]) >= 1
        assert sources[1] == [one.replace("../", "../../") for one in sources[0]]


def test_pictures_are_shared_by_both_languages(pages_of):
    ours, theirs = (
        {page: re.findall(r'src="[./]*(pictures/\w+)', text) for page, text in pages.items()}
        for pages in pages_of
    )
    assert {page: ours[page] for page in theirs} == theirs


# Search, and lines


def test_han_characters_are_found_by_pairs_and_alone_and_latin_words_as_ever():
    search = han.SearchHan({})
    words = search.split("RoPE的旋转，位 rotations")
    assert words == ["RoPE", "的", "旋", "转", "的旋", "旋转", "位", "rotations"]
    assert [search.stem(word) for word in ("rotations", "旋转")] == ["rotat", "旋转__"]


def test_a_number_stays_on_its_line_in_prose_and_nowhere_else():
    page = "<p>of 4 096 bytes, 8 heads</p><pre>1 000</pre><code>1 000</code><a title='1 000'>"
    assert breaks.broken_well(page) == page.replace("4 096", "4\u00a0096")


def test_a_formula_keeps_the_mark_behind_it_and_an_empty_heading_is_none():
    page = "<p><math>x</math>, and <math>y</math> <math display='block'>z</math>.</p><th></th>"
    shown = breaks.broken_well(page)
    assert shown.count("joint") == 1 and '<span class="joint"><math>x</math>,</span>' in shown
    assert "<th" not in shown and "<th>a</th>" in breaks.broken_well("<th>a</th>")


def test_a_page_is_described_by_its_first_sentences():
    page = "<p><em>Minutes: 40.</em></p><p>How does a &lt;model&gt; know " + "where " * 40 + "</p>"
    described = around.description(page)
    assert described.startswith("How does a <model> know where") and len(described) <= 161
    assert around.description("<h1>None</h1>") == ""


def test_a_page_is_found_by_the_other_words_of_the_field():
    english, chinese_ = ranking.SearchCourse({}), han.SearchHan({})
    assert {"Rotary", "RoPE"} <= set(english.split("08 · Rotary encoding"))
    assert "RoPE" not in english.split("Order")
    assert "基数" in chinese_.split("换一个底数") and "基数" not in chinese_.split("换一个数")


def test_names_in_tables_break_after_words_and_sentences_are_marked():
    name = '<td><code><span class="pre">head_dim</span></code></td>'
    assert "head_<wbr>dim" in breaks.broken_well(name)
    assert breaks.broken_well("<td>short</td>") == "<td>short</td>"
    for sentence in ("word " * 13, "字" * 31):
        assert breaks.broken_well(f"<td>{sentence}</td>").startswith('<td class="long">')
