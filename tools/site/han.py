"""Search in Chinese without a dictionary: a run of Han characters is found by its pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ranking import SearchCourse, scorer

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")
ONLY_HAN = re.compile(rf"[{HAN}]+")
MARK = "__"
"""Ends a term of Han characters: the search asks that all terms of three letters and more occur."""

ALSO: Mapping[str, str] = {
    "旋转位置编码": "RoPE",
    "底数": "基数",
    "插值": "内插",
    "正弦位置编码": "正余弦 三角函数式",
    "远近对比": "远程衰减",
    "线性偏置": "ALiBi",
}


class SearchHan(SearchCourse):
    """旋转位置 is indexed as 旋转, 转位 and 位置, and as each character; other words as in English.

    A query is split into pairs, and into a character where it stands alone.
    """

    lang = "zh"
    also = ALSO

    def pieces(self, text: str) -> list[str]:
        """The words of a text."""
        return [part for word in WORD.findall(text) for part in parts(word)]

    def stem(self, word: str) -> str:
        """The term under which a word is indexed."""
        return word + MARK if ONLY_HAN.fullmatch(word) else super().stem(word)

    # What a page's title has in one piece counts more than what has the same pairs elsewhere.
    js_splitter_code = rf"""{scorer(ALSO)}
const ONLY_HAN = /^[{HAN}]+$/;

var splitQuery = (query) =>
  (query.match(/[{HAN}]+|(?:(?![{HAN}])[\p{{Letter}}\p{{Number}}_])+/gu) || []).flatMap((word) =>
    ONLY_HAN.test(word) && word.length > 1
      ? [...Array(word.length - 1).keys()].map((at) => word.slice(at, at + 2))
      : [word],
  );

window.Stemmer = function () {{
  const english = new EnglishStemmer();
  this.stemWord = (word) => (ONLY_HAN.test(word) ? word + "{MARK}" : english.stemWord(word));
}};
"""


def parts(word: str) -> list[str]:
    """The pairs of a run of Han characters, and the characters; another word as it is."""
    if not ONLY_HAN.fullmatch(word):
        return [word]
    return [*word, *(word[at : at + 2] for at in range(len(word) - 1))]
