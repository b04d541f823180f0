"""Search that knows the field's other words, and puts titles and headings first."""

from __future__ import annotations

from collections.abc import Mapping

from sphinx.search.en import SearchEnglish


class SearchCourse(SearchEnglish):
    """Where the course has its own word, a page is found by those that others use, too."""

    also: Mapping[str, str] = {
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

    def split(self, input: str) -> list[str]:
        """The words of a text, and the others."""
        written = input.lower()
        found = [other for ours, other in self.also.items() if ours in written]
        return self.pieces(" ".join([input, *found]))

    def pieces(self, text: str) -> list[str]:
        """The words of a text."""
        return super().split(text)

    js_splitter_code = """
Scorer.score = ([page, title, , , score]) => {
  const query = new URLSearchParams(window.location.search).get("q").trim().toLowerCase();
  const headings = Object.entries(Search._index.alltitles).filter(
    ([heading, places]) =>
      heading.toLowerCase().includes(query) &&
      places.some(([file]) => Search._index.docnames[file] === page),
  );
  const inTitle = title.toLowerCase().includes(query);
  return score + (inTitle ? Scorer.title : 0) + 3 * Math.min(headings.length, 3);
};
"""
