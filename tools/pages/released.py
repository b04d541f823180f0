"""`docs/real-models.md`: what the course found in small models, asked of released ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from course_lab.figures.released import by_place_words
from course_lab.findings import Measured
from course_lab.instruments.evaluation import Difference
from course_lab.markdown import table
from course_lab.released.texts import LENGTH, SEEN, TEXTS, UNSEEN
from course_lab.studies.released import (
    BLINDED,
    BLOCK,
    CHANGED,
    CLOSELY,
    CONTEXTS,
    DISTANCES,
    FINE,
    FRONTS,
    HEADS,
    HOLDING,
    LONE,
    NEAR,
    REMOVED,
    SHIFTS,
    SHORT,
    STRETCHED,
    TRAINED,
    VALUES,
    WINDOWS,
    dearer,
    looking_back,
    measured,
    read,
)
from tools.pages import released_table
from tools.pages.results import RIGHT

TEXT = f"""\
# Models that people use

Written by `make pages ARGS=released` from what `course measure released` and `course measure table`
measure. The first model is a decoder, SmolLM2-135M-Instruct, which was made for {TRAINED} tokens,
read by `course_lib`'s own attention and rotation in float32. The second is an encoder, and stands
[below](#a-learned-table).

The weights of its layers have four bits and its embedding eight (GGUF), and it is one model:
nothing here says what others do.

Losses are in nats per token. There are no seeds to repeat, so every comparison is of the same
tokens of six texts of {LENGTH} tokens: the mean of six differences and, after ±, its standard error
over texts. Four texts ({", ".join(SEEN)}: Python's library and documentation) the model has most
likely read in training, two ({", ".join(UNSEEN)}: this course's) it cannot have. Blocks of one text
are never compared with each other: they differ by nearly a nat or more by what they say.

The tables have what was measured so far; `course measure released` goes on with what is missing.
"""


SECRET = 34
"""Tokens of a row and the line with its code, which are put into the text; one name has 35."""
KINDS = {"seen": SEEN, "unseen": UNSEEN}


def shown(change: Difference) -> str:
    """A difference as a table has it."""
    return f"{change.mean:+.3f} ± {change.standard_error:.3f}"


def of(texts: Sequence[str], records: Sequence[Measured]) -> list[Measured]:
    """The records of some texts."""
    return [record for record in records if record.seed in texts]


def _apart(mine: Sequence[Measured], theirs: Sequence[Measured]) -> list[str]:
    """A difference for seen and for unseen texts."""
    return [shown(dearer(of(texts, mine), of(texts, theirs))) for texts in KINDS.values()]


def report() -> str:
    """The whole page, as Markdown."""
    parts = [
        TEXT,
        *_by_place(),
        *_alone(),
        *_rising(),
        *_held(),
        *_changed(),
        *_in_windows(),
        *_removed(),
        *_in_front(),
        *_told(),
        *_heads(),
        *_blind(),
        *_values(),
        *released_table.parts(),
    ]
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
            pair = [read("by place", s, start=where) for s in (setting, "YaRN by 2")]
            row.append(shown(dearer(*pair)))
        rows.append(row + _apart(*pair))
    return [
        "## Stretched to 16 384 tokens, by place\n",
        "Nats per token more than YaRN by 2, on the same tokens. The last two columns are the one "
        "before them for seen and unseen texts apart.\n",
        table(["places", *parts, *KINDS], rows, RIGHT) + "\n",
        f"![{by_place_words()}](real-models-places.png)\n",
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
            pair = [read("changed", s, start=start) for s in (setting, "unchanged")]
            row.append(shown(dearer(*pair)))
        rows.append(row + _apart(*pair))
    head = ["changed", f"first {BLOCK} tokens", f"next {BLOCK}", *KINDS]
    return [
        f"## One thing changed, within {SHORT} tokens\n",
        "Nats per token more than unchanged; the last two columns are the one before them for seen "
        "and unseen texts apart.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _in_windows() -> list[str]:
    rows = []
    for setting in measured("in windows", ("layout half", "no rotation")):
        pairs = (
            [read("in windows", s, window=length) for s in (setting, "unchanged")]
            for length in WINDOWS
        )
        rows.append([setting, *(shown(dearer(*pair)) for pair in pairs)])
    return [
        f"## The same {SHORT} tokens in windows\n",
        "Nats per token more than unchanged, in windows of so many tokens side by side.\n",
        table(["changed", *map(str, WINDOWS)], rows, RIGHT) + "\n",
    ]


def _in_front() -> list[str]:
    rows = []
    for front in FRONTS[1:]:
        near = read("in front", "own", front=FRONTS[0])
        own, other = (read("in front", s, front=front) for s in ("own", "other"))
        rows.append([str(front), *(shown(dearer(*p)) for p in ((own, near), (other, near),
                                                             (own, other)))])  # fmt: skip
    head = [
        "tokens in front",
        f"own, less {FRONTS[0]} in front",
        "far part of another text",
        "own less other",
    ]
    return [
        "## What far text is worth\n",
        f"The same 512 tokens with more and more in front of them; the nearest {FRONTS[0]} are "
        "always their own.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _rising() -> list[str]:
    rows = []
    for setting in measured("rising", HOLDING):
        for start in range(TRAINED, TRAINED + 3 * BLOCK, FINE):
            free, held = (read("rising", setting, s, start=start) for s in ("unchanged", "held"))
            each = " ".join(f"{x.value - y.value:+.3f}" for x, y in zip(free, held, strict=True))
            rows.append([f"{start} to {start + FINE - 1}", shown(dearer(free, held)), each])
    return [
        "## Where the loss begins to rise\n",
        f"Unchanged, nats per token more than with pairs 20 to 31 held at {TRAINED - 1}: to them "
        f"every key farther back seems to stand {TRAINED - 1} back. Up to there the two models are "
        f"the same. Blocks of {FINE} tokens; each text in the order of above.\n",
        table(["tokens", "more than held", "each text"], rows, RIGHT) + "\n",
    ]


def _held() -> list[str]:
    part = range(TRAINED + 2 * BLOCK, TRAINED + 4 * BLOCK)
    yarn = read("by place", "YaRN by 2", start=part)
    rows = [["unchanged", shown(dearer(read("by place", "unchanged", start=part), yarn))]]
    rows += [
        [setting, shown(dearer(read("held", setting, start=part), yarn))]
        for setting in measured("held", HOLDING)
    ]
    return [
        "## Some pairs held\n",
        f"Tokens {TRAINED + 2 * BLOCK} to {TRAINED + 4 * BLOCK - 1}: nats per token more than YaRN "
        f"by 2. Held pairs see each distance of {TRAINED} or more as the one that is named, and "
        "smaller distances as they are.\n",
        table(["held", "more than YaRN by 2"], rows, RIGHT) + "\n",
    ]


def _removed() -> list[str]:
    rows = []
    for setting in measured("removed", REMOVED):
        row = [setting]
        for start in range(0, SHORT, BLOCK):
            pair = read("removed", setting, start=start), read("changed", "unchanged", start=start)
            row.append(shown(dearer(*pair)))
        rows.append(row)
    return [
        "Pairs that are left out of all scores, where those above only stand still:\n",
        table(["left out", f"first {BLOCK} tokens", f"next {BLOCK}"], rows, RIGHT) + "\n",
    ]


def _told() -> list[str]:
    rows, fields = (
        [],
        ("copy, same", "copy, another order", "copy, never told", "digits", "digits, never told"),
    )
    questions: dict[str, Mapping[int, Sequence[int]]] = {
        "told": {n: [d for d in DISTANCES if d < n] for n in CONTEXTS},
        "told closely": CLOSELY,
    }
    for question, contexts in questions.items():
        for setting in measured(question, STRETCHED):
            for context, distances in contexts.items():
                for rows_between, distance in enumerate(distances, start=1):
                    where = {"context": context, "distance": distance}
                    cells = (_mean(read(question, setting, field, **where)) for field in fields)
                    back = str(distance + SECRET * rows_between)
                    rows.append([setting, str(context + SECRET * len(distances)), back, *cells])
    head = ["", "tokens", "row to row", "same tokens again", "in another order",
            "never given", "digits right", "of a code never given"]  # fmt: skip
    return [
        "## Is what stands far back found?\n",
        "Twenty rare tokens come again, so many tokens after their first time: nats per token, "
        f"means over {len(TEXTS)} texts. A code of five digits is asked for: the share of digits "
        f"that are the first choice, where a guess gets 0.10. Rows with their codes, of about "
        f"{SECRET} tokens each, are counted.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _heads() -> list[str]:
    rows = [
        [f"layer {layer}, head {head}", *(f"{value:.2f}" for value in values)]
        for (layer, head), values in looking_back()[:HEADS]
    ]
    everybody = [values for _, values in looking_back()]
    rows.append(
        [
            f"all {len(everybody)} heads, mean",
            *(f"{fmean(v):.2f}" for v in zip(*everybody, strict=True)),
        ]
    )
    eights = [f"pairs {i} to {i + 7}" for i in range(0, 32, 8)]
    head = ["", "one back", "first token", "mean distance", *eights]
    return [
        "## Where heads look\n",
        f"The {HEADS} heads that look one token back most, in the first {BLOCK} tokens of the "
        "texts, means over texts: shares of a query's weight, the mean distance in tokens, and "
        "how much of the lengths of queries and keys, multiplied pair by pair, belongs to each "
        "eight of the pairs. Layers and heads count from 0.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _blind() -> list[str]:
    names = {
        "nothing hidden": "nothing hidden",
        "the ten, one back": f"the {HEADS} that look one back most do not see the key one back",
        "the ten, two back": "the same heads do not see the key two back",
        "the others, one back": "all other heads do not see the key one back",
        "all, 2 to 40 back": "no head sees any of the keys 2 to 40 back",
    }
    fields = ("copy", "copy, another order", "nats")
    rows = [
        [names[setting], *(_mean(read("blind", setting, field)) for field in fields)]
        for setting in measured("blind", BLINDED)
    ]
    return [
        "Keys are hidden from some heads. Twenty rare tokens come again after 100 others, in the "
        "same order or in another one; and the text is read without them. Nats per token:\n",
        table(["", "tokens that come again", "in another order", "the text"], rows, RIGHT) + "\n",
    ]


def _values() -> list[str]:
    asked: dict[str, Sequence[str]] = {
        "first token": ("unchanged", "first hidden", "window", "window and the first"),
        "value": [*VALUES],
    }
    plain = read("first token", "unchanged")
    rows = [
        [f"{question}: {setting}", shown(dearer(read(question, setting), plain))]
        for question, settings in asked.items()
        for setting in measured(question, settings)
    ]
    return [
        "## What is read at the first token\n",
        f"The last 512 of {BLOCK} tokens: nats per token more than unchanged. A key is hidden from "
        f"later queries, or queries see the last {NEAR} keys alone, or these and the first; or a "
        "key keeps its weight, and later queries read nothing there, or the mean of the first "
        f"values of the five other texts. The other key is number {LONE}.\n",
        table(["", "more than unchanged"], rows, RIGHT) + "\n",
    ]


def _mean(records: Sequence[Measured]) -> str:
    return f"{fmean(record.value for record in records):.2f}"
