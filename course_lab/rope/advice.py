"""`course rope --for N`: whether a model reads N tokens, and if not, what to write where."""

from __future__ import annotations

from collections.abc import Iterator

from course_lab.rope.config import Reading
from course_lab.rope.engines import ENGINES, flags
from course_lab.rope.plan import Plan, Works, plan
from course_lab.rope.prices import paid, prices, unread
from course_lab.rope.tables import Table
from course_lab.rope.words import whole

__all__ = ["ENGINES", "advice"]

OWN_BUT_SHORT = "do not stretch a model whose texts fit: serve the few long ones from a second one"

UNTRAINED = "the trained length is not in the config"
NOT = "is not known here"


def advice(read: Reading, length: int, engine: str | None = None) -> Iterator[str]:
    """What reaches `length` tokens, line by line; of all engines, or of one in full."""
    made = plan(read, length)
    yield f"for {whole(length)} tokens, works as it stands: {_verdict(read, made)}"
    if made.works not in (Works.YES, Works.RUNS, Works.UNKNOWN):
        yield f"if nothing is done: {_undone(read, made)}"
    if made.stretched:
        yield OWN_BUT_SHORT
    if made.works not in (Works.YES, Works.RUNS) or len(made.said) > 1:
        yield from (f"  {line}" for line in made.said)
    if made.recipe:
        yield from made.recipe.lines(engine)
    elif made.works in (Works.YES, Works.RUNS):
        yield f"nothing to write; {flags(length, engine)}"
        yield from _further(read)
    if made.stretched:
        yield from prices(made.factor)
    elif made.works in (Works.YES, Works.RUNS, Works.AFTER_LIMIT):
        yield from _own_price(read)


def _verdict(read: Reading, made: Plan) -> str:
    """In a few words."""
    if made.works is Works.YES:
        return f"yes; {made.why}"
    if made.works is Works.RUNS:
        return f"it runs, but how well is not known: {UNTRAINED}; {made.why}"
    if made.works is Works.AFTER_LIMIT:
        turns = any(group.table for group in read.groups)
        then = (
            "no pair needs another pace" if turns else f"{made.why}; how well it reads then {NOT}"
        )
        return f"only after {read.source.limit[0]} is raised; {then}"
    if made.works is Works.AFTER_STRETCH:
        return "no, only after a stretch"
    if made.works is Works.UNKNOWN:
        return f"not known; {made.why}"
    return "no, and no entry of its config changes that"


def _undone(read: Reading, made: Plan) -> str:
    """What engines do with a longer text, and what the model makes of it."""
    most, is_default = read.source.allowed
    refused = most is not None and most < made.length
    engines = "the config names no limit, so engines"
    if refused:
        whose = f" (the default of {read.source.name}'s class)" if is_default else ""
        engines = (
            f"vLLM and SGLang refuse more than {whole(most or 0)} tokens{whose}, llama.cpp's "
            "server gives a text no more, and transformers"
        )
    if made.works is Works.AFTER_LIMIT:
        return f"{engines} reads on; how well {NOT}"
    table = any(group.kind == "learned table" for group in read.groups)
    if table:
        return f"{engines} {'fails' if refused else 'fail'}: there is no vector beyond the table"
    reads = "reads" if refused else "read"
    return f"{engines} {reads} on beyond training; {unread()}"


def _further(read: Reading) -> Iterator[str]:
    """Where a stretch would go, of a model that needs none for this length."""
    tables = [group.table for group in read.groups if group.table]
    reached = [table.length for table in tables if table.length]
    if not reached:
        return
    longer = plan(read, 2 * max(reached))
    if longer.recipe and longer.stretched:
        key = "rope_parameters"
        types = [f"{key}, {name}" for name in longer.stretched if name]
        removed = f" (and {', '.join(longer.recipe.remove)} goes)" if longer.recipe.remove else ""
        yield (
            f"beyond {whole(max(reached))} tokens a stretch would go into "
            f"{' and '.join(types) or key} {longer.recipe.where}{removed}, and the length into "
            f"{longer.recipe.limit} beside it"
        )
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


def _own_price(read: Reading) -> Iterator[str]:
    """Of a model that needs no further stretch: what the one costs that it comes with."""
    slowed = [group.table for group in read.groups if group.table and group.table.is_slowed]
    own = [table for table in slowed if table.kind == "yarn"]
    if not own:
        kinds = ", ".join(dict.fromkeys(table.kind for table in slowed))
        yield (
            f"price: that of its own stretch ({kinds}) was not measured here"
            if slowed
            else ("price: none, nothing is stretched")
        )
        return
    factor = own[0].place.given.get("factor") or 1.0
    yield (
        f"price: its own YaRN by {factor:g} holds for texts of every length. If the model was "
        "trained with it, leave it. If it was added for long texts, remove it while texts fit into "
        f"{whole(own[0].original_length or 0)} tokens; such texts have a higher next-token loss in"
    )
    yield from paid(factor)
