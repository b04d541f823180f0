"""What a translation keeps of its English, for made-up texts and for every catalogue there is."""

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from tools.translation import catalogue, glossary, pages
from tools.translation.__main__ import total
from tools.translation.contract import broken, with_marked_code
from tools.translation.glossary import Term

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted((ROOT / "translations").glob("*/*/*.po"))


@pytest.mark.parametrize(
    "path", CATALOGUES, ids=lambda path: path.relative_to(ROOT / "translations").as_posix()
)
def test_every_translation_keeps_the_contract(path):
    terms = glossary.read(path.parents[1] / "glossary.csv")
    problems = [
        f"{entry.context}: {problem}"
        for entry in catalogue.read(path)
        if entry.current
        for problem in broken(*_marked(path, entry.english, entry.translation), terms)
    ]
    assert not problems, "\n".join(problems)


def _marked(path, english, chinese):
    """Outside of Markdown code has no marks."""
    bare = path.parent.name == "around"
    return with_marked_code(english, chinese) if bare else (english, chinese)


def test_what_is_said_around_pages_is_said_in_one_way():
    """It is looked up by its English alone."""
    ways = {}
    for path in CATALOGUES:
        for entry in catalogue.read(path) if path.parent.name == "around" else ():
            if entry.current:
                ways.setdefault((path.parents[1], entry.english), set()).add(entry.translation)
    assert not {english: ways for english, ways in ways.items() if len(ways) > 1}


EDITIONS = sorted({path.parents[1] for path in CATALOGUES})


@pytest.mark.parametrize("folder", EDITIONS, ids=lambda folder: folder.name)
def test_says_how_much_is_stale(folder, record_property):
    says = total(pages.standings(ROOT, folder))
    record_property("says", f"translation into {folder.name}: {says}")


KEPT = [
    ("Take $q = (2, 1)$ for 10 000 tokens, `x`.", "`x`：对 10\u2009000 个词元取 $q = (2, 1)$。"),
    ("Three of the 7th, at -7 to 0.5", "第 7 个里的三个，在-7 到 0.5"),
    ("See [lesson 09](09.ipynb#a) or https://a.b/c-1.",
     "见 https://a.b/c-1 或[第 09 课](09.ipynb#a)。"),
    ("Turned by one position (Su et al. 2021).", "转动一个位置（Su 等，2021）。"),
    ("Of shape (batch, length), or [0, 1): (2, 1).", "形状为 (batch, length)，或 [0, 1)：(2, 1)。"),
    ("- Su et al., *RoFormer: Rotary*, 2021, arXiv 2104.09864: section 3.4.1 of it.",
     "- Su 等，*RoFormer: Rotary*，2021，arXiv 2104.09864：第 3.4.1 节。"),
    ("- Su and Lu, *RoFormer: A B*, 2021, arXiv 2104.09864.",
     "- Su and Lu, *RoFormer: A B*, 2021, arXiv 2104.09864。"),
    ("For a shape () is PE(p + 1).", "对形状 ()，是 PE(p + 1)。"),
    ("# A\n\n| a | $|b|$ |\n|---|---|\n\n1. c\n2. d",
     "# 甲\n\n| 甲 | $|b|$ |\n|---|---|\n\n1. 丙\n2. 丁"),
    ("Run:\n\n```python\nprint(7)\n```\n\nThen `a b`.",
     "运行：\n\n```python\nprint(7)\n```\n\n然后 `a\nb`。"),
    ("$$a\n= b$$ is long, $5$ short.", "$5$ 短，$$a = b$$ 长。"),
    ("![A 3 by 3 table](a.png)", "![一张 3 乘 3 的表](a.png)"),
    ("Neighbours − halves", "相邻 − 两半"),
    ("To 22 thousand, 2.56 million, 128 000, 10 000", "到 2.2 万、256 万、12.8 万、1 万"),
    ("0.86 to 0.92 million, 3 to 5", "86 万到 92 万，3 到 5"),
    ("LLaMA 30B and 7B have 30 billion, -0.5 M", "LLaMA 300 亿和 7B 有 300 亿，-50 万"),
    ("On **28 November 2026** it may", "**2026 年 11 月 28 日**，它可能"),
    ("- Su et al. 2021", "- Su 等，2021\n- 中文资料：某某的[第 2 篇](https://a.b/c)。"),
]  # fmt: skip


@pytest.mark.parametrize(("english", "chinese"), KEPT)
def test_a_good_translation_breaks_nothing(english, chinese):
    assert broken(english, chinese) == []


BROKEN = [
    ("It is 10 000.", "是 1 000。", ["number 10000 is missing", "number 1000 is not in"]),
    ("It is 22 thousand.", "是 22 万。", ["number 22000 is", "number 220000 is not"]),
    ("It is -7.", "是 7。", ["number -7 is missing", "number 7 is not in the English"]),
    ("8 and 8", "8", ["number 8 is missing"]),
    ("three tokens", "3 个词元", ["number 3 is not in the English"]),
    ("at $n = 7$", "在 $n = 8$", ["formula $n = 7$ is missing", "formula $n = 8$ is not in"]),
    ("call `a`, `b`", "调用 `a`、`c`", ["code `b` is missing", "code `c` is not in"]),
    ("```sh\nls\n```", "```sh\nls -l\n```", ["code ```sh ls ``` is missing", "ls -l"]),
    ("[this](a.md)", "[这](b.md)", ["link a.md is missing", "link b.md is not in"]),
    ("![this](a.png)", "[这](a.png)", ["link !a.png is missing", "link a.png is not in"]),
    ("at https://a.b/c", "在那里", ["link https://a.b/c is missing"]),
    ("Su et al. turn", "苏等人转动", ["citation Su is missing"]),
    ("Shaw, Uszkoreit and Vaswani (2018)", "Shaw 和 Vaswani（2018）", ["citation Uszkoreit"]),
    ("*A Title*, 2021", "*标题*，2021", ["citation A Title is missing"]),
    ("arXiv 2104.09864", "论文 2104.09864", ["citation 2104.09864 is missing"]),
    ("# A", "## 甲", ["heading of level 1 is missing", "heading of level 2 is not in"]),
    ("| a | b |\n|---|---|", "| 甲 |\n|---|", ["table row of width 2 is missing (2 times)", "1"]),
    ("- a\n- b", "- 甲，乙", ["1 items of lists, and 2 in the English"]),
    ("one two three four five six", "one two three four five six", ["no Chinese in it"]),
]  # fmt: skip


@pytest.mark.parametrize(("english", "chinese", "says"), BROKEN)
def test_what_a_translation_lost_or_invented_is_named(english, chinese, says):
    problems = broken(english, chinese)
    assert len(problems) == len(says)
    assert all(part in problem for part, problem in zip(says, problems, strict=True)), problems


@pytest.mark.parametrize(
    ("chinese", "mark"),
    [
        ("甲, 乙", ","), ("它是甲.", "."), ("甲:乙", ":"), ("甲;", ";"), ("甲?", "?"), ("甲!", "!"),
        ('说 "甲" 了', '"'), ("说 'a' 了", "'"), ("甲(乙)", "("), ("甲（乙)", ")"),
        ("`a`, `b` 是甲", ","),
        ("是 RoPE.", "."), ("**甲:** 乙", ":"), ("| 甲. | a |", "."), ("见[这里](a.md).", "."),
        ("有 7, 8 个", ","),
    ],
)  # fmt: skip
def test_latin_punctuation_in_a_chinese_sentence_is_found(chinese, mark):
    found = [problem for problem in broken(chinese, chinese) if "punctuation" in problem]
    assert found and all(f"punctuation {mark} " in problem or mark in "()\"'" for problem in found)


@pytest.mark.parametrize(
    "chinese",
    ["甲，乙；丙：丁。", "`a, b`、$c, d$ 甲", "甲 3.11 乙", "RoPE, ALiBi.", "1. 甲\n2. 乙",
     "# 8.1 甲", "甲 (2, 1) 乙", "形状 (batch, d/2) 为甲", "“甲”", "Su et al. 的甲"],
)  # fmt: skip
def test_other_punctuation_is_left_alone(chinese):
    assert broken(chinese, chinese) == []


@pytest.mark.parametrize("chinese", ["**甲：**乙", "甲**（乙）**", "** 甲**乙", "*[甲](a.md)*乙"])
def test_stars_that_markdown_does_not_take_for_emphasis_are_found(chinese):
    assert [problem for problem in broken(chinese, chinese) if "stars" in problem]


@pytest.mark.parametrize(
    "chinese", ["**甲：** 乙", "甲**乙**丙", "甲 * 乙", "*甲*，**`a`**。", "* 甲"]
)
def test_emphasis_is_left_alone(chinese):
    assert broken(chinese, chinese) == []


def test_a_group_in_brackets_is_notation_only_where_the_english_has_it():
    assert broken("(2, 1)", "甲 (2, 1) 乙") == []
    assert "punctuation" in "".join(broken("at 2 and 1", "甲 (2, 1) 乙"))
    assert "punctuation" in "".join(broken("(one, two)", "甲 (one) 乙"))


def test_code_of_a_hint_needs_no_marks_and_stays_as_it_is():
    english = "Take f(x)[0], then f(y) = 2."
    assert broken(*with_marked_code(english, "先取 f(x)[0]，再取 f(y) = 2。")) == []
    assert broken(*with_marked_code(english, "先取 f(x)[1]，再取 f(y) = 2。")) != []


BASE = Term("base", "底数", ("基数", "基"))


@pytest.mark.parametrize(
    ("english", "chinese", "terms", "says"),
    [
        ("the base", "底数", [BASE], []),
        ("The Bases", "基数", [BASE], ["the term 'base' is 底数, not 基数", "not 基"]),
        ("a database", "基数", [BASE], []),
        ("`base` and $base$", "`base` 和 $base$ 基数", [BASE], []),
        ("the base of the radix", "底数，基数", [BASE, Term("radix", "基数")], []),
        ("attention head", "注意头", [Term("head", "头", ("注意头",)),
                                   Term("attention head", "注意力头")], []),
        ("head\ndim", "头", [Term("head dim", "头宽", must=True)], ["must be 头宽"]),
        ("head", "头", [Term("head dim", "头宽", must=True)], []),
    ],
)  # fmt: skip
def test_terms_follow_the_glossary(english, chinese, terms, says):
    problems = broken(english, chinese, terms)
    assert len(problems) == len(says)
    assert all(part in problem for part, problem in zip(says, problems, strict=True)), problems


def test_a_glossary_is_read(tmp_path):
    path = tmp_path / "glossary.csv"
    path.write_text(
        "english,chinese,avoid,note\n"
        "base,底数,基数; 基 ,\nhead,头,,must occur\nkey,键,,not a must\n",
        encoding="utf-8",
    )
    assert glossary.read(path) == [BASE, Term("head", "头", must=True), Term("key", "键")]
    assert glossary.read(tmp_path / "none.csv") == []
    path.write_text("english;chinese\n")
    with pytest.raises(CourseError, match="must have the columns"):
        glossary.read(path)


@pytest.mark.parametrize(
    "chosen", [slice(3, None, 8), pytest.param(slice(None), marks=pytest.mark.slow)], ids=str
)
def test_the_english_keeps_the_contract_with_itself(chosen):
    """Nothing in the course's own texts is taken apart in two ways, or for Chinese."""
    for page in pages.every(ROOT)[chosen]:
        for text in page.texts():
            problems = set(broken(*_marked(Path(page.name), text.english, text.english))) - {
                "there is no Chinese in it"
            }
            assert not problems, f"{page.name}, {text.context}: {problems}"
