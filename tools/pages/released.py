"""`docs/real-model.md`: what the course found in small models, asked of a released one."""

from __future__ import annotations

from collections.abc import Sequence

from course_lab.figures.released import by_place_words
from course_lab.findings import Measured
from course_lab.instruments.evaluation import Difference
from course_lab.markdown import table
from course_lab.released.texts import LENGTH, SEEN, TEXTS, UNSEEN
from course_lab.studies.released import (
    BLOCK,
    CHANGED,
    CONTEXTS,
    DISTANCES,
    FRONTS,
    SHIFTS,
    SHORT,
    STRETCHED,
    TRAINED,
    dearer,
    measured,
    read,
)
from tools.pages.results import RIGHT

TEXT = f"""\
# A model that people use

Written by `make pages ARGS=released` from what `course released` measures: SmolLM2-135M-Instruct,
which was made for {TRAINED} tokens, read by `course_lib`'s own attention and rotation in float32.
Its weights are four-bit (GGUF, Q4_1), and it is one model: nothing here says what others do.

Losses are in nats per token. There are no seeds to repeat, so every comparison is of the same
tokens of six texts of {LENGTH} tokens: the mean of six differences and, after ±, its standard error
over texts. Four texts ({", ".join(SEEN)}: Python's library and documentation) the model has most
likely read in training, two ({", ".join(UNSEEN)}: this course's) it cannot have. Blocks of one text
are never compared with each other: they differ by more than a nat by what they say.

The tables have what was measured so far; `course released` goes on with what is missing.
"""


def shown(change: Difference) -> str:
    """A difference as a table has it."""
    return f"{change.mean:+.3f} ± {change.standard_error:.3f}"


def of(texts: Sequence[str], records: Sequence[Measured]) -> list[Measured]:
    """The records of some texts."""
    return [record for record in records if record.seed in texts]


def report() -> str:
    """The whole page, as Markdown."""
    parts = [TEXT, *_by_place(), *_alone(), *_changed(), *_in_front(), *_told()]
    return "\n".join(parts)


def _by_place() -> list[str]:
    parts = {
        f"first {BLOCK}": range(BLOCK),
        f"{TRAINED // 2} to {TRAINED - 1}": range(TRAINED // 2, TRAINED),
        f"{TRAINED} to {TRAINED + 2 * BLOCK - 1}": range(TRAINED, TRAINED + 2 * BLOCK),
        f"{LENGTH - 4 * BLOCK} to {LENGTH - 1}": range(LENGTH - 4 * BLOCK, LENGTH),
    }
    rows = []
    for setting in measured("by place", STRETCHED):
        row = [setting]
        for where in parts.values():
            mine, theirs = (read("by place", s, start=where) for s in (setting, "YaRN by 2"))
            row.append(shown(dearer(mine, theirs)))
        rows.append(row)
    last = parts[f"{LENGTH - 4 * BLOCK} to {LENGTH - 1}"]
    groups = []
    for name, texts in {"seen": SEEN, "unseen": UNSEEN}.items():
        pair = (of(texts, read("by place", s, start=last)) for s in ("unchanged", "YaRN by 2"))
        groups.append(f"{name} {shown(dearer(*pair))}")
    return [
        "## Stretched to 16 384 tokens, by place\n",
        "Nats per token more than YaRN by 2, on the same tokens.\n",
        table(["places", *parts], rows, RIGHT),
        f"\nUnchanged in the last column, by kind of text: {'; '.join(groups)}.\n",
        f"![{by_place_words()}](real-model-places.png)\n",
    ]


def _alone() -> list[str]:
    last = range(LENGTH - 4 * BLOCK, LENGTH)
    if not measured("alone", ["unchanged"]):
        return []
    alone = read("alone", "unchanged", start=last)
    rows = [
        [setting, shown(dearer(read("by place", setting, start=last), alone))]
        for setting in measured("by place", STRETCHED)
    ]
    return [
        "## At twice the length\n",
        f"The last {4 * BLOCK} tokens of each text, which have {LENGTH - 4 * BLOCK} or more in "
        f"front of them: nats per token more than the model pays, unchanged, if the text begins at "
        f"token {TRAINED}, so that it has {TRAINED // 2} or more in front of them and no angle is "
        "new.\n",
        table(["stretched", "more than unchanged within its length"], rows, RIGHT) + "\n",
    ]


def _changed() -> list[str]:
    rows = []
    for setting in measured("changed", [*CHANGED, *(f"shifted by {n}" for n in SHIFTS)]):
        if setting == "unchanged":
            continue
        row = [setting]
        for start in range(0, SHORT, BLOCK):
            pair = (read("changed", s, start=start) for s in (setting, "unchanged"))
            row.append(shown(dearer(*pair)))
        rows.append(row)
    head = ["changed", f"first {BLOCK} tokens", f"next {BLOCK}"]
    return [
        f"## One thing changed, within {SHORT} tokens\n",
        "Nats per token more than unchanged.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _in_front() -> list[str]:
    rows = []
    for front in FRONTS[1:]:
        near = read("in front", "own", front=FRONTS[0])
        own, other = (read("in front", s, front=front) for s in ("own", "other"))
        rows.append([str(front), *(shown(dearer(*p)) for p in ((own, near), (other, near),
                                                             (own, other)))])  # fmt: skip
    head = ["tokens in front", f"own, less {FRONTS[0]} in front", "far part of another text",
            "own less other"]  # fmt: skip
    return [
        "## What far text is worth\n",
        f"The same 512 tokens with more and more in front of them; the nearest {FRONTS[0]} are "
        "always their own.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _told() -> list[str]:
    rows = []
    for setting in measured("told", STRETCHED):
        for context in CONTEXTS:
            for distance in [d for d in DISTANCES if d < context]:
                where = {"context": context, "distance": distance}
                fields = ("copy, same", "copy, another order", "copy, never told", "digits",
                          "digits, never told")  # fmt: skip
                cells = (_mean(read("told", setting, field, **where)) for field in fields)
                rows.append([f"{setting}, {context} tokens, told {distance} back", *cells])
    if not rows:
        return []
    head = ["", "same tokens again", "in another order", "never told", "digits right",
            "of a code never told"]  # fmt: skip
    return [
        "## Is what stands far back found?\n",
        "Twenty rare tokens come again, after so many others: nats per token, means over "
        f"{len(TEXTS)} texts. A code of five digits is asked for: the share of digits that are the "
        "first choice, where a guess gets 0.10.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _mean(records: Sequence[Measured]) -> str:
    return f"{sum(record.value for record in records) / len(records):.2f}"
