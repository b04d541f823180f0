"""What a model needs so that it reads N tokens, and what to write for it.

A plan starts from the parameters as they are and changes what the stretch needs: YaRN where pairs
are not slowed yet, a larger factor where YaRN or Llama 3's rule stretches already. Where the
stretch would make pairs faster than the model knows them, it says so instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from course_lab.rope.config import Reading
from course_lab.rope.engines import (
    Recipe,
    architecture,
    checked,
    commands,
    older_versions,
    unfit,
)
from course_lab.rope.ladders import ORIGINAL, TYPES, stretched
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.prices import INTERPOLATED, MODEL, too_far
from course_lab.rope.tables import Table
from course_lab.rope.words import numbers, pairs_by_pace, scored, whole

KEPT = ("partial_rotary_factor", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta")
"""Parameters that are no matter of a stretch."""
ROUNDING = 1e-6
NEED_NONE = "need none"


class Works(Enum):
    """Whether a model reads a length; the worst kind of layer counts, and it stands last."""

    YES = "yes"
    RUNS = "runs"
    """It reads on and nothing can be stretched, and the config does not say how far it was trained.
    """
    AFTER_LIMIT = "after the limit is raised"
    AFTER_STRETCH = "after a stretch"
    DEPENDS = "depends"
    """On which of two keys of the config is right, or on one that is missing."""
    UNKNOWN = "unknown"
    NO = "no"


class Need(NamedTuple):
    """What layers of one kind need."""

    works: Works
    words: str
    after: Table | None = None
    """Their table, stretched."""
    reach: float = math.inf
    """Tokens that they are made for; infinity where no length is too much."""


@dataclass
class Plan:
    """What reaches a length, and what follows from it."""

    length: int
    works: Works = Works.YES
    why: str = ""
    """The reason, of the layers that decide it."""
    said: list[str] = field(default_factory=list)
    """What is done with each kind of layer, a line each."""
    stretched: dict[str, Table] = field(default_factory=dict)
    """The tables that are stretched, by layer type, as they are afterwards."""
    recipe: Recipe | None = None
    """What to write; None if there is nothing to write."""
    unfit: dict[str, str] = field(default_factory=dict)
    """Engines that do not run the model as it was trained, and why."""

    @property
    def factor(self) -> float | None:
        """The largest factor of a stretch by YaRN; None if nothing is stretched by it."""
        factors = [one.place.given["factor"] for one in self.stretched.values()
                   if one.kind == "yarn"]  # fmt: skip
        return max(factors, default=None)

    @property
    def warnings(self) -> list[str]:
        """What speaks against this stretch."""
        return list(too_far(self.factor))

    def document(self) -> dict[str, Any]:
        """As `--json` has it."""
        found: dict[str, Any] = {
            "length": self.length, "works": self.works.value, "why": self.why, "said": self.said,
            "warnings": self.warnings, "entries": None, "checked": checked(),
            "unfit": self.unfit,
        }  # fmt: skip
        if self.recipe:
            found |= {
                "entries": self.recipe.entries, "remove": self.recipe.remove,
                "commands": commands(self.recipe),
                "older": list(older_versions(self.recipe).values()),
                "frequencies": {name: list(table.after) for name, table in self.stretched.items()},
            }  # fmt: skip
        return found


def plan(read: Reading, length: int) -> Plan:
    """What to do with each kind of layer, and what to write."""
    windows = [group.window for group in read.groups if group.window and group.window < length]
    has_alibi = any(group.kind == "ALiBi" for group in read.groups)
    made = Plan(length, unfit=unfit(
        read.source.name, read.source.levels, has_alibi, min(windows, default=None)
    ))  # fmt: skip
    needs = [(group, need) for group in read.groups if (need := _need(read, group, length))]
    if needs:  # the layers that need most decide, and of several those that reach least far
        _, worst = max(needs, key=lambda of: (list(Works).index(of[1].works), -of[1].reach))
        made.works, made.why = worst.works, worst.words
        free = [group for group in read.groups if group.kind == "none"]
        if free and made.why.startswith(NEED_NONE):
            others = f"{numbers(free[0].layers, free[0].total)} have no positions"
            made.why = f"layers with a window {made.why}; {others}"
    else:
        made.why = "no layer has positions that could run out"
        made.works = _unstretchable(read)
    for group, need in needs:
        made.said.append(f"{numbers(group.layers, group.total)}: {need.words}")
        if need.after:
            made.stretched[need.after.place.layer_type] = need.after
            made.said.append(f"  then pairs {_pairs(need.after)}")
    if made.works in (Works.NO, Works.UNKNOWN, Works.DEPENDS):
        made.stretched.clear()
        return made
    made.said += _of_windows(read, made)
    if made.works is Works.YES and _limit_is_below(read, length):
        made.works = Works.AFTER_LIMIT
    if made.works is not Works.YES:
        made.recipe = _recipe(read, made)
    return made


def _limit_is_below(read: Reading, length: int) -> bool:
    """Whether engines allow a smaller length alone."""
    most, _ = read.source.allowed
    return most is not None and most < length


def _unstretchable(read: Reading) -> Works:
    """Of layers without a rotation or table: they run at every length, and were trained at some."""
    return Works.RUNS if read.source.allowed[0] is None else Works.YES


def _pairs(after: Table) -> str:
    said, factor = pairs_by_pace(after), after.attention_factor
    scores = f"; attention factor {factor:.4g}, {scored(after)}"
    return said + (scores if factor != 1 else "")


def _of_windows(read: Reading, made: Plan) -> Iterator[str]:
    narrow = (group for group in read.groups if group.window and group.table
              and group.table.place.layer_type in made.stretched
              and group.window <= (group.table.original_length or 0))  # fmt: skip
    if any(narrow):
        yield "layers with a window take the same entries, too: the model has one set for all"


def _need(read: Reading, group: LayerGroup, length: int) -> Need | None:
    """What these layers need; None if they have no positions."""
    if group.table:
        return _of_rotated(group, group.table, length)
    if group.kind in ("none", "no attention"):
        return None
    if group.kind != "learned table":
        words = f"nothing to stretch: {group.words} (lesson {group.lesson})"
        return Need(_unstretchable(read), words)
    rows = read.source.length
    if rows and length <= rows:
        return Need(Works.YES, f"nothing to stretch: {group.words}")
    works = Works.NO if rows else Works.UNKNOWN
    return Need(works, f"{group.words}; longer texts need a longer table, trained")


def _of_rotated(group: LayerGroup, table: Table, length: int) -> Need:
    if group.window and group.window <= (table.original_length or group.window):
        seen = f"a query sees {whole(group.window)} tokens, however long the text"
        return Need(Works.YES, f"{NEED_NONE}: {seen}")
    if table.length is None or table.original_length is None:
        unknown = "the trained length is not in the config (--original-length gives it)"
        return Need(Works.UNKNOWN, unknown)
    if doubt := _doubt(table, length):
        return Need(Works.DEPENDS, doubt)
    if length <= table.length:
        is_longer = table.is_slowed or table.length > table.original_length
        how = f"stretched by its own {table.kind!r}" if is_longer else "unstretched"
        words = f"made for {whole(table.length)} tokens, {how}"
        return Need(Works.YES, words, reach=table.length)
    if refusal := _no_start(table):
        return Need(Works.NO, refusal)
    after = _stretched(table, length)
    if any(now > before * (1 + ROUNDING)
           for before, now in zip(table.after, after.after, strict=True)):  # fmt: skip
        return Need(
            Works.NO, "no stretch is known here that starts from these pairs: YaRN would make some "
            "of them faster than they were trained",
        )  # fmt: skip
    factor, before = after.place.given["factor"], table.place.given.get("factor")
    name = "YaRN" if after.kind == "yarn" else "Llama 3's rule"
    trained = f"{whole(table.original_length)} tokens that its config has without a stretch"
    if after.kind == table.kind:
        return Need(
            Works.AFTER_STRETCH, f"{name} by {factor:g} in place of {before:g}, from the {trained}"
            "; its makers chose theirs, and the new one was not measured here", after,
        )  # fmt: skip
    return Need(Works.AFTER_STRETCH, f"{name} by {factor:g}, from the {trained}", after)


def _doubt(table: Table, length: int) -> str:
    """Why the config does not say whether its own stretch reaches this length."""
    made_for, original = whole(table.length or 0), whole(table.original_length or 0)
    if table.place.guessed:
        return (
            f"{ORIGINAL} is missing; made for {made_for} tokens if the model was trained on "
            f"{original} before the stretch, and stretched wrongly if on fewer"
        )
    reach = table.place.reach or math.inf
    if reach < length <= (table.length or 0):
        factor = table.place.given["factor"]
        return f"factor {factor:g} reaches {whole(reach)}, the config says {made_for}"
    return ""


def _no_start(table: Table) -> str:
    """Why no stretch starts from a table's frequencies; empty if one does."""
    if table.kind not in ("default", "linear", "dynamic", "yarn", "llama3"):
        return f"rope_type {table.kind!r} has frequencies that no stretch here starts from"
    if table.place.fixed:
        return f"no entry of this config stretches it: {table.place.fixed}"
    slowed = table.is_slowed
    if table.kind in ("yarn", "llama3") and not (slowed and table.place.given.get("factor")):
        return f"its own rope_type {table.kind!r} lacks a factor or slows nothing: mend that first"
    if table.kind in ("linear", "dynamic") and slowed:
        return (
            f"rope_type {table.kind!r} has slowed these pairs already, by up to "
            f"{max(table.slowed):g}, and the model was trained so. YaRN starts from pairs that are "
            f"not slowed; in its place, it would make most of them faster{_larger(table)}"
        )
    return ""


def _larger(table: Table) -> str:
    """What a larger factor of interpolation would do, and to which layers."""
    if table.kind != "linear":
        return ""
    whose = f", in layers of {table.place.layer_type} alone," if table.place.layer_type else ""
    return (
        f". A larger factor{whose} slows all pairs once more, which takes training: without it, "
        f"interpolation by 2 cost {MODEL} {INTERPOLATED:.2f} nats more per token"
    )


def _stretched(table: Table, length: int) -> Table:
    """The table with a stretch that reaches the length."""
    original, reached = table.original_length or 1, table.length or 1
    if table.kind == "llama3":
        before = table.place.given["factor"]
        factor = math.ceil(2 * before * length / reached) / 2
        made_for = int(reached * factor / before)
        kind = "llama3"
    else:
        before = table.place.given.get("factor") if table.kind == "yarn" else None
        factor = max(math.ceil(2 * length / original) / 2, before or 1)
        made_for, kind = int(factor * original), "yarn"
    given = parameters(table, kind, factor)
    asked = {key: value for key, value in given.items() if key not in KEPT}
    ladder, attention_factor = stretched(asked, 2 * len(table.before), made_for)
    place = table.place._replace(given=given)
    return replace(
        table, kind=kind, after=ladder, length=made_for, place=place,
        attention_factor=attention_factor,
    )  # fmt: skip


def parameters(table: Table, kind: str, factor: float | None) -> dict[str, Any]:
    """A table's own `rope_parameters`, with another factor, or as they are where there is none.

    What the kind or the model reads besides (`truncate`, `mscale`, `mrope_interleaved`) stays.
    """
    taken = {*TYPES[kind][1], *KEPT} if kind in TYPES else {*table.place.given}
    found = {
        "rope_type": kind, "rope_theta": table.base,
        **{key: value for key, value in table.place.given.items()
           if key in taken and value is not None},
    }  # fmt: skip
    if factor:
        found |= {"factor": factor, ORIGINAL: table.original_length}
    turned = 2 * len(table.before)
    if turned < table.head_dim:
        found["partial_rotary_factor"] = turned / table.head_dim
    if table.sections and table.kind != "axial":
        found["mrope_section"] = list(table.sections)
        if list(table.axes) != sorted(table.axes):  # vLLM takes sections unless this says otherwise
            found["mrope_interleaved"] = True
    return found


def _recipe(read: Reading, made: Plan) -> Recipe:
    """The entries of config.json, nested as the file is, and what else a recipe needs."""
    tables = [group.table for group in read.groups if group.table]
    key, longest = read.source.limit[0], max([made.length, *(t.length or 0 for t in tables)])
    entries: dict[str, Any] = {}
    if made.stretched:
        longest = max(table.length or 0 for table in made.stretched.values())
        by_type: dict[str, Any] = {}
        for table in (*tables, *tables[0].place.others):
            name = table.place.layer_type
            after = made.stretched.get(name)
            by_type[name] = after.place.given if after else parameters(table, table.kind, None)
        entries["rope_parameters"] = by_type.get("", by_type)
        if tables[0].place.needs_head_dim:
            entries["head_dim"] = tables[0].head_dim
    entries[key] = longest
    for level in reversed(read.source.levels):
        entries = {level: entries}
    old = any(table.place.old for table in tables) and bool(made.stretched)
    return Recipe(
        made.length, entries, read.source.levels, key, ("rope_scaling",) if old else (),
        list(made.stretched.values()), read.source.loaded,
        several_types=len({table.place.layer_type for table in tables}) > 1,
        architecture=architecture(read.source.name, read.source.levels),
        unfit=made.unfit,
    )  # fmt: skip
