"""How Sphinx makes the pages that stage.py writes. `make site` calls it, once for each language."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

import words
from around import two_languages, without_shared_files
from formulas import mathml
from han import SearchHan
from ranking import SearchCourse
from texts import without_old_texts, write_text

project = "Where Am I?"
author = "the course's authors"
smartquotes = False
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
templates_path = ["templates"]
html_css_files = ["site.css", "explorers.css"]
html_js_files = [("site.js", {"defer": "defer"}), ("explorers.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_domain_indices = False
# Sphinx would fetch whole pages for them, which browsers refuse in a folder: search.js does not.
html_show_search_summary = False
add_module_names = False
python_maximum_signature_line_length = 72
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
# The blue of the course's figures, and on dark pages its light blue.
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}


LONG_FORMULA = 40
"""Signs of a formula that may be wider than a phone: it scrolls in its line."""


def visit_math(translator: Any, node: nodes.math) -> None:
    formula = mathml(node.astext(), display=False)
    signs = len("".join(re.sub("<[^>]*>", "", formula).split()))
    translator.body.append(
        f'<span class="long-formula" tabindex="0">{formula}</span>'
        if signs > LONG_FORMULA
        else formula
    )
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def english_ids(app: Sphinx, doctree: nodes.document) -> None:
    """Give the headings of a translated page the ids that they have on the English page."""
    meta = app.env.metadata[app.env.docname]
    new = str(meta.get("anchors", "")).split()
    sections = list(doctree.findall(nodes.section))
    if not new or len(new) != len(sections):
        return
    of = {section["ids"][0]: id for section, id in zip(sections, new, strict=True)}
    for section in sections:
        section["ids"][0] = of[section["ids"][0]]
    slugs: Any = meta.get("myst_slugs", {})
    for slug, (line, id, title) in slugs.items():
        slugs[slug] = (line, of.get(id, id), title)
    for link in doctree.findall(nodes.reference):
        if "refid" in link:
            link["refid"] = of.get(link["refid"], link["refid"])


def neighbours_of_sheets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Before a sheet comes its lesson, and after it the next lesson."""
    if not (number := re.match(r"exercises/(\d\d)_", page)) or page == "exercises/20_museum":
        return
    lessons = sorted(name for name in app.env.found_docs if name.startswith("notebooks/"))
    order = [*lessons, "exercises/20_museum"]
    place = [name[10:12] for name in lessons].index(number[1])
    for key, name in (("prev", order[place]), ("next", order[place + 1])):
        context[key] = {
            "link": app.builder.get_relative_uri(page, name),
            "title": app.env.titles[name].astext(),
        }


def with_roles_complete(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Mend what screen readers stumble over: headings without a level, lists within signatures."""
    tree = context["furo_navigation_tree"]
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    lines = {
        "<dl>": '<span class="lines">',
        "</dl>": "</span>",
        "<dd>": "<span>",
        "</dd>": "</span>",
    }

    def flat(signature: re.Match[str]) -> str:
        return re.sub("</?d[ld]>", lambda tag: lines[tag[0]], signature[0])

    if "body" in context:
        context["body"] = re.sub(r'<dt class="sig.*?</dt>', flat, context["body"], flags=re.DOTALL)


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_display, None))
    app.add_search_language(SearchCourse)
    app.add_search_language(SearchHan)
    app.add_js_file(None, body=words.script(words.of(app.config.language)))
    app.connect("doctree-read", english_ids, priority=100)  # before Sphinx lists the headings
    app.connect("html-page-context", neighbours_of_sheets)
    # After the theme's own, at 500, which makes the tree.
    app.connect("html-page-context", two_languages, priority=800)
    app.connect("html-page-context", with_roles_complete, priority=900)
    app.connect("html-page-context", write_text, priority=900)
    app.connect("build-finished", without_old_texts)
    app.connect("build-finished", without_shared_files, priority=900)
