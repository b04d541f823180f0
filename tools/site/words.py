"""What the site itself says around the course's text, in each of its languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple


class Words(NamedTuple):
    """The words of one language. What stands in braces is filled in."""

    language: str
    """As in `lang="zh-CN"`."""
    name: str
    """What the language calls itself: the text of the link to its pages."""
    folder: str
    """Where its pages are, seen from the root of the site."""
    english: str
    """The attribute of what stays English on its pages."""
    title: str
    captions: tuple[str, str, str, str, str]
    """Of the table of contents: lessons, exercises, measured, to look up, about the course."""
    contents: str
    on_this_page: str
    other_language: str
    """Names of parts of a page, for readers of screens."""
    search: str
    only_english: str
    in_english: str
    """The name of a page that is not begun, in a list."""
    english_pages: Mapping[str, str]
    """The names of pages that this language lists and does not have."""

    map_title: str
    map_about: str
    map_alt: str
    """Empty where it is the picture's own."""
    door: str
    doors: Mapping[str, str]
    """What happens at each door, where it is not in the picture's own words."""
    no_door: str
    all_doors: str
    every_door_again: str
    museum: str
    colon: str
    comma: str
    """Between the items of a row."""

    closed_code: str
    answer: str
    """Over what answers a question of the text."""
    how_to_do: str
    hint: str
    controls: str
    theme: Mapping[str, str]
    """The words of the theme that it does not translate itself, each with the mark-up beside it."""
    script: Mapping[str, str]
    """For site.js and explorers.js."""


ENGLISH = Words(
    language="en",
    name="English",
    folder="",
    english="",
    title="Where Am I?",
    captions=("Lessons", "Exercises", "Measured", "To look up", "About the course"),
    contents="All pages",
    on_this_page="On this page",
    other_language="This page in another language",
    search="Search",
    only_english="",
    in_english="{name}",
    english_pages={},
    map_title="The map",
    map_about="Position can enter a transformer by four doors. A click on a door leads to the "
    "lessons behind it.",
    map_alt="",
    door="Door {number}, {what}",
    doors={},
    no_door="No door",
    all_doors="All doors",
    every_door_again="Through every door once more, to find bugs",
    museum="20 · The museum",
    colon=": ",
    comma=", ",
    closed_code="Code of this step, {lines} line{s}",
    answer="Guess first, then open",
    how_to_do=(
        ":::{{admonition}} How to do these exercises\n"
        "This page is for reading. You write and check your answers in JupyterLab, in a copy of "
        "the course: open `{file}` there.\n\n"
        "```sh\n"
        "make lab     # set up, and open the course in JupyterLab\n"
        "make grade   # grade what you have saved\n"
        "```\n"
        ":::"
    ),
    hint="Hint {number} of {of}",
    controls="Controls of the picture",
    theme={},
    script={
        "code": "Code or output",
        "table": "Table, formula or picture",
        "picture": "Picture",
        "whole": "The whole picture",
        "filter": "Find a row",
        "showCode": "Show all code",
        "hideCode": "Hide the code of pictures and checks",
        "showAnswers": "Show all answers",
        "hideAnswers": "Close the answers, to guess first",
        "isNow": "“{label}” is now {text}",
        "and": " and ",
        "movedAlong": "This page has no picture of that combination, so {moved}.",
        "notLoaded": "That picture could not be loaded, so the controls are back where they were.",
    },
)

CHINESE = Words(
    language="zh-CN",
    name="中文",
    folder="zh/",
    english=' lang="en"',
    title="我在哪里？",
    captions=("课程", "练习", "测量", "查阅", "关于本课程"),
    contents="全部页面",
    on_this_page="本页目录",
    other_language="本页的其他语言",
    search="搜索",
    only_english="只有英文的页面",
    in_english="{name}（英文）",
    english_pages={
        "reference/encodings": "course_lib.encodings",
        "reference/model": "course_lib.model",
        "CHANGELOG": "更新记录",
        "CONTRIBUTING": "参与改进",
    },
    map_title="地图",
    map_about="位置可以从四扇门进入 Transformer。点击一扇门，就到这扇门后面的各课。",
    map_alt=(
        "一个 Transformer：词元变成向量；在每个块里，向量变成查询、键和值，查询和键给出分数，"
        "分数给出权重，权重和值给出读出，读出再经过前馈网络。标出的门："
        "第 1 扇门，embed，给每个词元的向量加上一个向量；第 2 扇门，rotate，旋转查询和键；"
        "第 3 扇门，score_bias，给每个分数加上一个数；第 4 扇门，read，给读出加上一个向量。"
    ),
    door="第 {number} 扇门，{what}",
    doors={
        "embed": "给每个词元的向量加上一个向量",
        "rotate": "旋转查询和键",
        "score_bias": "给每个分数加上一个数",
        "read": "给读出加上一个向量",
    },
    no_door="没有门",
    all_doors="所有的门",
    every_door_again="每扇门再走一遍，去找错误",
    museum="20 · 博物馆",
    colon="：",
    comma="、",
    closed_code="这一步的代码，{lines} 行",
    answer="先猜一猜，再打开",
    how_to_do=(
        ":::{{admonition}} 怎样做这些练习\n"
        "这一页供阅读。请在课程副本的 JupyterLab 里作答和检查：打开 `zh/{file}`。\n\n"
        "```sh\n"
        "make lab EDITION=zh     # 安装，并在 JupyterLab 里打开课程\n"
        "make grade EDITION=zh   # 给保存的答案评分\n"
        "```\n"
        ":::"
    ),
    hint="提示 {number}，共 {of} 条",
    controls="图的控件",
    theme={
        "Toggle site navigation sidebar": "打开或收起网站目录",
        "Toggle table of contents sidebar": "打开或收起本页目录",
        "Toggle Light / Dark / Auto color theme": "切换浅色、深色或自动配色",
        "Skip to content</a>": "跳到正文</a>",
        "<span>Back to top</span>": "<span>回到顶部</span>",
        "<span>Next</span>": "<span>下一页</span>",
        "<span>Previous</span>": "<span>上一页</span>",
        "On this page\n": "本页目录\n",
        '<div class="title">Home</div>': '<div class="title">首页</div>',
        "Made with <a": "制作工具：<a",
        ">Sphinx</a> and <a": ">Sphinx</a> 和 <a",
        ">@pradyunsg</a>'s": ">@pradyunsg</a> 的",
    },
    script={
        "code": "代码或输出",
        "table": "表格、公式或图",
        "picture": "图",
        "whole": "看整张图",
        "filter": "在表中查找",
        "showCode": "显示全部代码",
        "hideCode": "收起画图和检查的代码",
        "showAnswers": "显示全部答案",
        "hideAnswers": "收起答案，先猜一猜",
        "isNow": "“{label}”现在是 {text}",
        "and": "，",
        "movedAlong": "这一页没有这个组合的图，因此{moved}。",
        "notLoaded": "这张图没能加载，控件已回到原处。",
    },
)

STILL_ENGLISH = ENGLISH._replace(folder=CHINESE.folder)
"""For a page of the Chinese edition that nobody has begun to translate."""

EDITIONS = (ENGLISH, CHINESE)


def of(language: str) -> Words:
    """The words of a language as Sphinx calls it: en or zh_CN."""
    return next(words for words in EDITIONS if words.language == language.replace("_", "-"))


def script(words: Words) -> str:
    """What the scripts of a page need to know, as JavaScript."""
    inside = json.dumps(words.script, ensure_ascii=False).replace("<", "\\u003c")
    return f"const WORDS = {inside};"
