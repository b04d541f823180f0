"""`course rope --for N`: whether a model reads N tokens, and if not, what to write where."""

from __future__ import annotations

from collections.abc import Iterator

from course_lab.rope.config import Reading
from course_lab.rope.engines import (
    ENGINES,
    NOT_SERVED,
    OLDER,
    architecture,
    flags,
    without_window,
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
"""What SGLang 0.5.23 takes where a config has no length (`get_context_length`)."""


def advice(read: Reading, length: int, engine: str | None = None) -> Iterator[str]:
    """What reaches `length` tokens, line by line; of all engines, or of one in full."""
    made = plan(read, length)
    yield f"for {whole(length)} tokens, works as it stands: {_verdict(read, made)}"
    if made.works is Works.DEPENDS:
        yield "mend the config first, as the remedy above says; until then nothing to write follows"
    elif made.works not in (Works.YES, Works.UNKNOWN):
        yield f"if nothing is done: {_undone(read, made)}"
    if made.stretched:
        yield OWN_BUT_SHORT
    if made.works not in (Works.YES, Works.RUNS) or len(made.said) > 1:
        yield from (f"  {line}" for line in made.said)
    if made.recipe:
        yield from made.recipe.lines(engine)
    elif made.works is Works.YES:
        yield f"nothing to write; {flags(length, engine, read.source.name)}"
    if engine in (None, "llama.cpp") and made.works not in (Works.UNKNOWN, Works.NO):
        yield from _windows(read, length)
    if made.stretched:
        yield from prices(made.factor)
    elif made.works is not Works.UNKNOWN:
        if made.works not in (Works.NO, Works.DEPENDS):
            yield from _further(read, made)
        if engine in (None, "transformers", "vllm", "sglang"):
            yield from _unread_in_version_4(read)
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
    if made.works is Works.DEPENDS:
        return f"depends: {made.why}"
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
        refuse = f"vLLM and SGLang refuse more than {whole(most or 0)} tokens{whose}"
        if read.source.name in NOT_SERVED:
            refuse = "vLLM and SGLang have no code for this model"
        engines = f"{refuse}, llama.cpp's server gives a text no more, and transformers"
    if made.works is Works.RUNS:
        return (
            f"the config names no limit, so SGLang refuses more than {whole(UNNAMED)} tokens, "
            "llama.cpp's server gives a text no more than its file names, and vLLM and "
            f"transformers read on; how well {NOT}"
        )
    if made.works is Works.AFTER_LIMIT:
        return f"{engines} reads on; how well {NOT}"
    table = any(group.kind == "learned table" for group in read.groups)
    if table:
        return f"{engines} {'fails' if refused else 'fail'}: there is no vector beyond the table"
    reads = "reads" if refused else "read"
    return f"{engines} {reads} on beyond training; {unread()}"


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


def _windows(read: Reading, length: int) -> Iterator[str]:
    """Of windows narrower than the text: llama.cpp's, where it leaves them out."""
    name = architecture(read.source.name, read.source.levels)
    windows = [group.window for group in read.groups if group.window and group.window < length]
    if said := windows and without_window(name, min(windows)):
        yield str(said)


def _unread_in_version_4(read: Reading) -> Iterator[str]:
    """Of files that transformers 5 saved, and that say more than a base."""
    if "rope_parameters" in read.source.given and "rope_scaling" not in read.source.given:
        yield (
            f"{OLDER} does not read rope_parameters: where it knows this model, it takes the file "
            "without what stands there"
        )


def _own_price(read: Reading) -> Iterator[str]:
    """Of a model that needs no further stretch: what the one costs and gives that it has."""
    slowed = [group.table for group in read.groups if group.table
              and (group.table.is_slowed or group.table.kind == "longrope")]  # fmt: skip
    if not slowed:
        yield "price: none, nothing is stretched"
        return
    table = next((one for one in slowed if one.kind in ("yarn", "longrope")), slowed[0])
    if table.kind == "longrope":
        yield from of_longrope((table.length or 1) / (table.original_length or 1))
        return
    if table.kind != "yarn":
        yield (
            f"price and gain of its own stretch ({table.kind}): not known here; no model that was "
            "trained with this rule was measured"
        )
        return
    factor = table.place.given.get("factor") or 1.0
    yield (
        f"price: its own YaRN by {factor:g} holds for texts of every length. If its makers "
        "published the file with it, leave it. If it was added for long texts, as some model cards "
        f"advise, remove it while texts fit into {whole(table.original_length or 0)} tokens: these "
        "models, which were not trained with it, had a higher next-token loss on such texts:"
    )
    yield from paid(factor)
    yield from gains(factor)
    yield "what its own stretch costs and gives this model itself is not known here"
