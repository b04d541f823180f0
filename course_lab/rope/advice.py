"""`course rope --for N`: whether a model reads N tokens, and if not, what to write where."""

from __future__ import annotations

from collections.abc import Iterator

from course_lab.rope.config import Reading
from course_lab.rope.engines import (
    ENGINES,
    LABELS,
    OLDER,
    flags,
)
from course_lab.rope.plan import Plan, Works, plan
from course_lab.rope.prices import gains, of_longrope, paid, prices, unread
from course_lab.rope.tables import Table
from course_lab.rope.words import whole

__all__ = ["ENGINES", "advice"]

OWN_BUT_SHORT = "do not stretch a model whose texts fit: serve the few long ones from a second one"

UNTRAINED = "the trained length is not in the config"
NOT = "is not known here"
UNNAMED = 2048
"""What SGLang 0.5.23 takes where a config has no length (`get_context_length`), and vLLM 0.33.0 if
it is started without a length (`_get_and_verify_max_len`)."""


def advice(read: Reading, length: int, engine: str | None = None) -> Iterator[str]:
    """What reaches `length` tokens, line by line; of all engines, or of one in full."""
    made = plan(read, length)
    yield f"works for {whole(length)} tokens: {_verdict(read, made)}"
    if made.works is Works.DEPENDS:
        yield "mend the config first, as the remedy above says, and then ask again"
    elif made.works not in (Works.YES, Works.UNKNOWN):
        yield f"if nothing is done: {_undone(read, made, engine)}"
    if made.stretched:
        yield OWN_BUT_SHORT
    if made.works not in (Works.YES, Works.RUNS, Works.DEPENDS) or len(made.said) > 1:
        yield from (f"  {line}" for line in made.said)
    if made.recipe:
        yield from made.recipe.lines(engine)
    elif made.works is Works.YES:
        yield from flags(length, engine, made.unfit)
    if made.stretched:
        yield from prices(made.factor)
    elif made.works is not Works.UNKNOWN:
        if made.works not in (Works.NO, Works.DEPENDS):
            yield from _further(read, made)
        if engine in (None, "transformers", "vllm", "sglang"):
            yield from _unread_in_version_4(read)
        yield from _own_price(read, engine)


def _verdict(read: Reading, made: Plan) -> str:
    """In a few words."""
    if made.works is Works.YES:
        return f"yes; {made.why}"
    if made.works is Works.RUNS:
        return f"it runs, but how well is not known: {UNTRAINED}; {made.why}"
    if made.works is Works.AFTER_LIMIT:
        is_made_for = made.why.startswith("made for")  # else by a window, a bias or nothing
        then = "no pair needs another pace" if is_made_for else (
            f"then it runs, but how well is not known: {made.why}"
        )  # fmt: skip
        return f"only after {read.source.limit[0]} is raised; {then}"
    if made.works is Works.AFTER_STRETCH:
        return "by its config, only after a stretch"
    if made.works is Works.DEPENDS:
        return f"depends: {made.why}"
    if made.works is Works.UNKNOWN:
        return f"not known; {made.why}"
    where = " in transformers and SGLang" if read.source.name == "gptj" else ""
    return f"no, and no entry of its config changes that{where}"


def _undone(read: Reading, made: Plan, engine: str | None) -> str:
    """What engines do with a longer text, and what the model makes of it."""
    said: dict[str, list[str]] = {}
    for name in LABELS if engine is None else (engine,):
        said.setdefault(_does(read, made, name), []).append(LABELS[name])
    *first, last = (f"{' and '.join(names)} {_verb(does, len(names))}"
                    for does, names in said.items())  # fmt: skip
    clauses = f"{', '.join(first)}, and {last}" if first else last
    if made.works in (Works.RUNS, Works.AFTER_LIMIT):
        return f"{clauses}; how well {NOT}" if READS in said else clauses
    return f"{clauses}; {unread()}" if FURTHER in said else clauses


READS = "reads on"
FURTHER = "reads on beyond training"


def _verb(does: str, names: int) -> str:
    """In the plural, for several."""
    verb, rest = does.split(" ", 1)
    plural = {"reads": "read", "refuses": "refuse", "has": "have", "fails:": "fail:"}
    return f"{verb if names == 1 else plural[verb]} {rest}"


def _does(read: Reading, made: Plan, engine: str) -> str:
    """What an engine does with a longer text, if nothing is done."""
    if made.unfit.get(engine, "").startswith("no code"):
        return "has no code for this model"
    most, is_default = read.source.allowed
    reads = READS if made.works in (Works.RUNS, Works.AFTER_LIMIT) else FURTHER
    if any(group.kind == "learned table" for group in read.groups):
        reads = "fails: there is no vector beyond the table"
    if engine == "transformers":
        return reads
    if engine == "llama.cpp":
        return f"gives a text no more than {whole(most) if most else 'its file names'}"
    if most is None:
        unless = " unless --max-model-len is given" if engine == "vllm" else ""
        return f"refuses more than {whole(UNNAMED)} tokens{unless}"
    most = int(most * _counted(read))
    if most >= made.length:
        return reads
    whose = f" (the default of {read.source.name}'s class)" if is_default else ""
    return f"refuses more than {whole(most)} tokens{whose}"


def _counted(read: Reading) -> float:
    """The factor by which vLLM and SGLang multiply the limit: that of two old kinds of stretch."""
    tables = [group.table for group in read.groups if group.table]
    factors = [table.place.given.get("factor") or 1 for table in tables
               if table.kind in ("linear", "dynamic") and not table.place.layer_type]  # fmt: skip
    return float(max(factors, default=1))


def _further(read: Reading, made: Plan) -> Iterator[str]:
    """Where a stretch would go, of a model that needs none for this length."""
    tables = [group.table for group in read.groups if group.table]
    reached = [table.length for table in tables if table.length]
    if not reached:
        most, _ = read.source.allowed
        if most and not tables and not made.recipe:
            yield (
                f"beyond {whole(most)} tokens nothing can be stretched: {read.source.limit[0]} "
                f"alone is raised, and how well it reads then {NOT}"
            )
        return
    longer = plan(read, 2 * max(reached))
    if longer.recipe and longer.stretched:
        key = "rope_parameters"
        types = [f"{key}, {name}" for name in longer.stretched if name]
        removed = f" (and {', '.join(longer.recipe.remove)} goes)" if longer.recipe.remove else ""
        yield (
            f"beyond {whole(max(reached))} tokens a stretch would go into "
            f"{' and '.join(types) or key} {longer.recipe.where}{removed}, and the length into "
            f"{longer.recipe.limit} beside it (--for {2 * max(reached)} prints all). "
            + ("A larger stretch than the one that it has was not measured here"
               if any(table.is_slowed for table in tables) else
               "Do it only for texts that need it: short ones would pay")
        )  # fmt: skip
    elif longer.works is Works.NO:
        where = f"under {', '.join(read.source.levels)}" if read.source.levels else "at the top"
        last = next((one for one in tables if one.is_slowed), tables[0])
        yield (
            f"beyond {whole(max(reached))} tokens no entry helps: {longer.why}. Its parameters are "
            f"those in {_key(last)} {where}"
        )


def _key(table: Table) -> str:
    """Where the parameters of a table stand."""
    if table.place.old:
        return "rope_scaling"
    of_type = f", {table.place.layer_type}" if table.place.layer_type else ""
    return f"rope_parameters{of_type}"


def _unread_in_version_4(read: Reading) -> Iterator[str]:
    """Of files that transformers 5 saved, and that say more than a base."""
    if "rope_parameters" in read.source.given and "rope_scaling" not in read.source.given:
        yield (
            f"{OLDER} does not read rope_parameters: where it knows this model, it takes the file "
            "without what stands there"
        )


def _own_price(read: Reading, engine: str | None) -> Iterator[str]:
    """Of a model that needs no further stretch: what the one costs and gives that it has."""
    slowed = [group.table for group in read.groups if group.table
              and (group.table.is_slowed or group.table.kind == "longrope")]  # fmt: skip
    if not slowed:
        yield "price: none, nothing is stretched"
        yield "gain: none, nothing is stretched"
        return
    table = next((one for one in slowed if one.kind in ("yarn", "longrope")), slowed[0])
    if table.kind == "longrope":
        yield from of_longrope((table.length or 1) / (table.original_length or 1), engine)
        return
    if table.kind != "yarn":
        yield (
            f"price of its own stretch ({table.kind}): not known here; no model that was trained "
            "with this rule was measured"
        )
        yield "gain: not known here, for the same reason"
        return
    factor = table.place.given.get("factor") or 1.0
    yield (
        f"price: its own YaRN by {factor:g} holds for texts of every length. If its makers "
        "published the file with it, leave it. If it was added for long texts, as some model cards "
        f"advise, remove it while texts fit into {whole(table.original_length or 0)} tokens: these "
        "models were not trained with it. Next-token loss against the unstretched, + is worse:"
    )
    yield from paid(factor)
    yield from gains(factor)
    yield "what its own stretch costs and gives this model itself is not known here"
