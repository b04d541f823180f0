"""What a search shows of a page: the lines that texts.py writes, and one that search.js picks."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import browser
import pytest

TOOLS = Path(__file__).parents[2] / "tools" / "site"
sys.path.insert(0, str(TOOLS))

import texts  # noqa: E402

BODY = """\
<section id="title"><h1>Title<a class="headerlink" href="#title">¶</a></h1>
<p>Open <code>title.ipynb</code> there.</p>
<p>First <em>words</em> &amp; a <a href="x">link</a>.</p>
<section id="part"><h2>Part<a class="headerlink" href="#part">¶</a></h2>
<div class="highlight"><pre><span>x</span> = [1,\n 2]</pre></div>
<ul><li><p>an item</p></li></ul><script type="application/json">{"no": 1}</script></section>
<p>After <code>a &lt; b</code><br>it.</p>
<dl><dt class="sig" id="f"><code>f</code>(x)</dt><dd><p>Its words.</p></dd></dl></section>"""


def test_lines_stand_under_the_heading_that_they_belong_to_and_sentences_come_first():
    assert texts.parts_of(BODY) == [
        ("title", ["First words & a link.", "After a < b it."], ["Open title.ipynb there."]),
        ("part", ["an item"], ["Part", "x = [1, 2]"]),
        ("f", ["Its words."], ["f(x)"]),
    ]


def test_the_text_of_a_page_that_is_gone_is_deleted(tmp_path):
    for name in ("here", "folder/here", "gone", "folder/gone"):
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / f"{name}.js").write_text("TEXTS")
        if "here" in name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / f"{name}.html").write_text("a page")
    texts.without_old_texts(SimpleNamespace(outdir=tmp_path), None)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.js")}
    assert left == {"texts/here.js", "texts/folder/here.js"}


PAGE = f"""# Turning

One line is about rotations, and no more.

Rotary is the word that this course has.

Of keys that are rotated: `a <b> & c`.

Nothing.{" Nothing again, of which there is a lot." * 40} Then queries, at last.{" More." * 40}

## Mixed

旋转一个向量。位置编码有两种：旋转位置编码，和别的。

```python
x = interleaved("<img src=x onerror=alert()>")
```
"""
INDEX = "# Contents\n\nA page.\n\n```{toctree}\npage\n```\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two pages in both editions, made as the site's are."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "staged").mkdir()
    (folder / "staged" / "index.md").write_text(INDEX, encoding="utf-8")
    (folder / "staged" / "page.md").write_text(PAGE, encoding="utf-8")
    for language, into in (("en", "built"), ("zh_CN", "built/zh")):
        settings = ["-D", f"language={language}", "-D", "html_title=T", "-D", "html_use_index=0"]
        folders = ["-d", folder / f"trees-{language}", folder / "staged", folder / into]
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", TOOLS, *settings, *folders]
        subprocess.run(command, cwd=browser.ROOT, check=True)
    return folder / "built"


@pytest.fixture
def shown(chromium, site):
    """A function that searches and gives the lines under the results, by the results' names."""
    complaints = []
    chromium.on("console", lambda said: complaints.append(said.text))
    chromium.on("pageerror", lambda error: complaints.append(str(error)))

    def ask(query, edition=""):
        chromium.goto(f"{(site / edition / 'search.html').as_uri()}?q={quote(query)}")
        chromium.locator("#search-results li p.context").first.wait_for()
        names = chromium.locator("#search-results li > a").all_inner_texts()
        lines = chromium.locator("#search-results li p.context").all()
        return dict(zip(names, [line.inner_html() for line in lines], strict=True))

    yield ask
    assert complaints == []


@pytest.mark.parametrize(
    "query, line",
    [("rotation", "One line is about <mark>rotations</mark>, and no more."),
     ("rotate keys", "Of <mark>keys</mark> that are <mark>rotated</mark>: a &lt;b&gt; &amp; c."),
     ("rope", "<mark>Rotary</mark> is the word that this course has."),
     ("x", '<mark>x</mark> = interleaved("&lt;img src=<mark>x</mark> onerror=alert()&gt;")'),
     ("leav", 'x = <mark>interleaved</mark>("&lt;img src=x onerror=alert()&gt;")'),
     ("旋转", "<mark>旋转</mark>一个向量。位置编码有两种：<mark>旋转</mark>位置编码，和别的。")],
)  # fmt: skip
def test_a_line_has_all_words_that_were_asked_for_marked(shown, query, line):
    assert shown(query, "zh" if query == "旋转" else "")["Turning"] == line


def test_words_of_han_characters_are_marked_as_one_where_they_are_all_there(shown):
    line = shown("旋转位置编码", "zh")["Turning"]
    assert "<mark>旋转位置编码</mark>" in line


def test_a_long_line_is_cut_between_words_around_the_first_one_found(shown):
    line = shown("queries")["Turning"]
    assert re.fullmatch(r"… .*\. Then <mark>queries</mark>, at last\. More\..* …", line)
    words = {*re.findall(r"\w+", re.sub("<[^>]*>", "", line))}
    assert len(line) < 150 and words < {*re.findall(r"\w+", PAGE)}


def test_a_part_of_a_page_shows_a_line_of_its_own(shown):
    lines = shown("mixed", "zh")
    assert lines["Turning > Mixed"].startswith("旋转一个向量")


def test_what_a_page_says_or_a_reader_asks_becomes_no_part_of_the_page(shown):
    line = shown("<img src=x onerror=alert()>")["Turning"]
    assert "&lt;<mark>img</mark> <mark>src</mark>=" in line and "<img" not in line
