"""What stands around the text of a page: the way to the other language, the theme's own words."""

from __future__ import annotations

import html
import re
from typing import Any

from breaks import broken_well
from links import counterpart, in_both, up_from
from sphinx.application import Sphinx
from words import CHINESE, EDITIONS, Words, of

STATIC = re.compile(r"_static/(?!(?:documentation_options|language_data|translations)\.js)")
"""The static files that are the same in each language."""
ARTICLE = '<article role="main" id="furo-main-content"'
ASIDE = re.compile(r"<p>(<em>(?:(?!</?em>).)*</em>)</p>", re.DOTALL)
"""A paragraph that is slanted in English as a whole."""
LATIN_EM = re.compile("<em>(?=[^<一-鿿]*</em>)")
"""What is slanted in Latin letters, such as the title of a paper."""
LANDMARKS = {
    '<aside class="sidebar-drawer"': "contents",
    '<aside class="toc-drawer': "on_this_page",
}
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
LINK = re.compile(r"<a (?=[^>]*>([^<]*)</a>)")
HAN = re.compile("[\u4e00-\u9fff]")


def two_languages(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """What our page.html asks for: `alternates` for its head, and `finished` for its body."""
    here = of(app.config.language)
    [there] = [words for words in EDITIONS if words is not here]
    address = f"{up_from(here.folder + page)}{there.folder}{counterpart(page)}.html"
    both = {here.language: f"{page.rpartition('/')[2]}.html", there.language: address}
    context["alternates"] = both if in_both(page) else {}
    english = here is CHINESE and "english" in (context.get("meta") or {})
    if here is CHINESE:
        in_chinese(page, context, english)

    def finished(body: str) -> str:
        for element, name in LANDMARKS.items():
            label = f'<aside aria-label="{getattr(here, name)}"'
            body = body.replace(element, element.replace("<aside", label))
        if page == "search":
            results = '<div id="search-results">'
            body = body.replace(results, f"<h1>{here.search}</h1>{results}")
        return with_link(with_words(body, here, english), address, here, there)

    context["finished"] = finished
    context["description"] = ""
    if "body" in context:
        context["description"] = description(context["body"])
        context["body"] = broken_well(context["body"])


def description(body: str) -> str:
    """The first paragraph of a page of over 40 letters, as plain text of at most 160."""
    plain = [" ".join(re.sub("<[^>]*>", "", one).split()) for one in PARAGRAPH.findall(body)]
    first = html.unescape(next((one for one in plain if len(one) > 40), ""))
    return first if len(first) <= 160 else first[:159].rpartition(" ")[0] + " …"


def with_link(body: str, address: str, here: Words, there: Words) -> str:
    """A page with the link to its other language: on a phone above it, else beside its title."""
    link = (
        f'<a class="language" href="{address}" '
        f'hreflang="{there.language}" lang="{there.language}">{there.name}</a>'
    )
    landmark = f'<nav aria-label="{here.other_language}">{link}</nav>'  # the header is one itself
    places = {'<div class="header-right">': link, '<div class="content-icon-container">': landmark}
    for place, what in places.items():
        if body.count(place) != 1:
            raise ValueError(f"the theme has no {place} any more, where the other language stands")
        body = body.replace(place, place + what)
    return body


def with_words(body: str, words: Words, english: bool) -> str:
    """A page with the theme's words in its language; an article in English is marked as such."""
    for before, after in words.theme.items():
        body = body.replace(before, after)
    return body.replace(ARTICLE, f'{ARTICLE} lang="en"') if english else body


def in_chinese(page: str, context: dict[str, Any], english: bool) -> None:
    """Mend what is peculiar to a page of the Chinese edition."""
    for name in ("pathto", "css_tag", "js_tag"):
        context[name] = shared(context[name])
    context["favicon_url"] = STATIC.sub("../_static/", context["favicon_url"])
    tree = context["furo_navigation_tree"] + english_pages(page)
    context["furo_navigation_tree"] = LINK.sub(in_its_language, tree)
    if "body" in context:
        body = ASIDE.sub(r'<p class="aside">\1</p>', context["body"])
        body = LATIN_EM.sub('<em lang="en">', body)
        # The first quotation is the line which says that the page is English.
        mark = f'<blockquote lang="{CHINESE.language}">'
        context["body"] = body.replace("<blockquote>", mark, 1) if english else body


def shared(address: Any) -> Any:
    """A function of Sphinx that gives an address, so that static files are the English pages'."""
    return lambda *args, **options: STATIC.sub("../_static/", address(*args, **options))


def in_its_language(link: re.Match[str]) -> str:
    """The beginning of a link of the contents, marked where its text is English."""
    return link[0] if HAN.search(link[1]) else '<a lang="en" '


def english_pages(page: str) -> str:
    """The part of the contents that leads to pages which are English only."""
    up = up_from(CHINESE.folder + page)
    lines = "".join(
        f'<li class="toctree-l1"><a class="reference" href="{up}{name}.html" hreflang="en">'
        f"{text}</a></li>"
        for name, text in CHINESE.english_pages.items()
    )
    caption = f'<span class="caption-text">{CHINESE.only_english}</span>'
    return f'<p class="caption" role="heading">{caption}</p><ul>{lines}</ul>'


def without_shared_files(app: Sphinx, exception: Exception | None) -> None:
    """Of the static files that the English pages have, the Chinese edition keeps no copies."""
    if exception is None and of(app.config.language) is CHINESE:
        for file in (app.outdir / "_static").rglob("*"):
            if file.is_file() and STATIC.match(f"_static/{file.name}"):
                file.unlink()
