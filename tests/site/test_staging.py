"""The pages of the site before Sphinx: links, outputs, hints, the map, what is not rewritten."""

import base64
import io
import json
import re
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import evidence  # noqa: E402
import formulas  # noqa: E402
import front  # noqa: E402
import links  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402
from pictures import Pictures  # noqa: E402

import notebooks  # noqa: E402
from course_grading.specs import SHEETS  # noqa: E402

LESSON = "notebooks/02_sinusoidal_encoding.ipynb"


def read(path):
    return json.loads((ROOT / path).read_text())


def picture(color="white"):
    buffer = io.BytesIO()
    Image.new("RGBA", (30, 20), color).save(buffer, "PNG")
    return buffer.getvalue()


def shown(output, pictures=None):
    return notebooks.output_block(output, "a-cell", LESSON, "", pictures)


@pytest.mark.parametrize(
    "link, page",
    [
        ("[a](../docs/notation.md)", "[a](../docs/notation.md)"),
        ("[a](03_other_waves.ipynb)", "[a](03_other_waves.md)"),
        ("[a](../exercises/20_museum.ipynb)", "[a](../exercises/20_museum.md)"),
        ("[a](../README.md#gpu)", "[a](../index.md#gpu)"),
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
    page = notebooks.sheet(read(f"course_grading/released/{name}.ipynb"), file, "", hints)
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
    monkeypatch.setattr(notebooks, "explorer_html", lambda *_: "")  # needs frames
    lessons = {f"notebooks/{path.name}": read(f"notebooks/{path.name}")
               for path in (ROOT / "notebooks").glob("*.ipynb")}  # fmt: skip
    pages = evidence.pages(lessons, Pictures(tmp_path))
    tables = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("findings", "claims")}
    for name, table in tables.items():
        linked = evidence.with_links(table)
        numbers = set(re.findall(r"^\| ([FC]\d+) \|", table, re.MULTILINE))
        assert {f"{name}/{number}" for number in numbers} == {p for p in pages if name in p}
        assert all(f"[{number}](../{name}/{number}.md)" in linked for number in numbers)
    for name, page in pages.items():
        (file, cell), *_ = re.findall(r"notebooks/(\w+)\.html#cell-([\w-]+)", page)
        on_page = notebooks.lesson(
            lessons[f"notebooks/{file}.ipynb"], f"notebooks/{file}.ipynb", "", Pictures(tmp_path)
        )
        assert f'<span id="cell-{cell}"></span>' in on_page, name
        assert "<img" in page or name.startswith("claims/"), name


def test_a_link_to_the_number_of_a_finding_leads_to_its_page():
    linked = links.with_page_links("[F22](../docs/findings.md)", LESSON, "")
    assert linked == "[F22](../findings/F22.md)"
    assert links.with_page_links("[findings](../docs/findings.md)", LESSON, "") == (
        "[findings](../docs/findings.md)"
    )


def test_a_phone_gets_a_narrow_picture_of_the_doors_and_of_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "explorer_html", lambda *_: "")
    page = notebooks.lesson(read(LESSON), LESSON, "", Pictures(tmp_path))
    assert page.count('<source media="(max-width: 40em)"') == 1
    (width,) = re.findall(r'<source media[^>]* width="(\d+)"', page)
    assert int(width) <= 344  # on a phone of 360, with a margin
