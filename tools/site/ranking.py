"""Search that knows the field's other words, and puts titles and headings first."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sphinx.search.en import SearchEnglish

ALSO = {
    "rotary": "RoPE",
    "order-blind": "NoPE permutation",
    "sinusoidal": "sine cosine absolute",
    "learned positions": "absolute embedding",
    "relative bias": "T5 relative embedding",
    "linear bias": "ALiBi",
    "several axes": "M-RoPE MRoPE multimodal 2D",
    "train short": "extrapolation length generalization",
    "stretching": "context extension scaling interpolation NTK",
    "why rope falls": "long-term decay extrapolation",
    "position encoding": "positional embedding",
}
"""Words of the course, and others that are indexed with them."""


def scorer(also: Mapping[str, str]) -> str:
    """JavaScript that puts pages first which have the query, or the course's word, in the title.

    Pages that have it in headings follow, and then those that have it in their text alone.
    """
    ours: dict[str, list[str]] = {}
    for word, others in also.items():
        for other in others.lower().split():
            ours.setdefault(other, []).append(word)
    return f"""
const OURS = {json.dumps(ours, ensure_ascii=False)};
Scorer.score = ([page, , , , score]) => {{
  const query = new URLSearchParams(window.location.search).get("q").trim().toLowerCase();
  const words = [query, ...(OURS[query] ?? [])];
  const has = (text) => words.some((word) => text.toLowerCase().includes(word));
  const {{ alltitles, docnames, titles }} = Search._index;
  const headings = Object.entries(alltitles).filter(
    ([heading, places]) => has(heading) && places.some(([file]) => docnames[file] === page),
  );
  const inTitle = has(titles[docnames.indexOf(page)] ?? "");
  return score + (inTitle ? 4 * Scorer.title : 0) + 2 * Math.min(headings.length, 3);
}};
"""


class SearchCourse(SearchEnglish):
    """Where the course has its own word, a page is found by those that others use, too."""

    also: Mapping[str, str] = ALSO

    def split(self, input: str) -> list[str]:
        """The words of a text, and the others."""
        written = input.lower()
        found = [other for ours, other in self.also.items() if ours in written]
        return self.pieces(" ".join([input, *found]))

    def pieces(self, text: str) -> list[str]:
        """The words of a text."""
        return super().split(text)

    js_splitter_code = scorer(ALSO)
