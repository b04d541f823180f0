"""Phrases: what is said in the language of the edition in which a notebook lies."""

import json

import pytest

from course_lab.phrases import PHRASES, in_language, known, said

CHINESE = {
    "  should have {0}, got {1}": "  应为 {0}，得到的是 {1}",
    "  should have shape {0}, got {1}": "  形状应为 {0}，得到的是 {1}",
    "dtype {0}, or a more precise one": "dtype {0}，或更精确的 dtype",
    "`{0}` is not right.": "`{0}` 不对。",
    "It asks for a whole number.": "题目要求整数。",
    "{number} {verdict}": "{number} {verdict}！",
    "tensor of shape {0}, {1}": "形状为 {0} 的张量，{1}",
    "length": "长度",
}


@pytest.mark.parametrize(
    ("english", "other"),
    [
        ("  should have shape (2, 3), got (3,)", "  形状应为 (2, 3)，得到的是 (3,)"),
        (
            "  should have dtype float32, or a more precise one, got float16",
            "  应为 dtype float32，或更精确的 dtype，得到的是 float16",
        ),
        ("`length` is not right. It asks for a whole number.", "`length` 不对。题目要求整数。"),
        ("`x` is not right. Nobody translated this.", "`x` 不对。Nobody translated this."),
        ("tensor of shape (2, 3), float32", "形状为 (2, 3) 的张量，float32"),
        ("First.\n`x` is not right.", "First.\n`x` 不对。"),
        ("9.1 failed", "9.1 failed"),  # a phrase that begins with a place would fit too much
        ("", ""),
    ],
)
def test_a_text_is_said_line_by_line_with_what_was_filled_in(english, other):
    assert in_language(english, CHINESE) == other
    assert in_language(english, {}) == english


def test_phrases_are_those_of_the_folder_around_a_notebook(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert (known(), said("length")) == ({}, "length")
    (tmp_path / PHRASES).parent.mkdir()
    (tmp_path / PHRASES).write_text(json.dumps(CHINESE), encoding="utf-8")
    assert (known(), said("length"), said("width")) == (CHINESE, "长度", "width")
    (tmp_path / PHRASES).write_text("{", encoding="utf-8")
    assert known() == {}
