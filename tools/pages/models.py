"""`docs/models.md`: what the networks of one release of transformers do with positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from course_lab.rope import known
from course_lab.rope.layer_groups import LayerGroup, grouped
from course_lab.rope.source import Source
from course_lab.rope.words import whole
from course_lib.errors import CourseError


class Network(NamedTuple):
    """A model type that is one network, read from its class's defaults."""

    name: str
    groups: list[LayerGroup]

    @property
    def turned(self) -> list[LayerGroup]:
        """The layers that rotate."""
        return [group for group in self.groups if group.rotates]

    @property
    def shares(self) -> set[float]:
        """The shares of the head that turn."""
        return {
            int((group.frequencies != 0).sum()) * 2 / group.head_dim
            for group in self.turned
            if group.table and group.table.kind != "axial"
        }


def networks() -> tuple[list[Network], list[str]]:
    """Every type that is one network; and those whose defaults cannot be read."""
    found, refused = [], []
    for name, kind in sorted(known.types().items()):
        if kind.parts:
            continue
        try:
            found.append(Network(name, grouped(Source(Path(name), name, {}, kind))))
        except CourseError:
            refused.append(name)
    return found, refused


def _without(network: Network) -> str:
    """A network and how many of its layers have no positions."""
    none = sum(len(group.layers) for group in network.groups if group.kind == "none")
    return f"{network.name} ({none} of {network.groups[0].total})"


def _bases(network: Network) -> str:
    bases = sorted({group.base for group in network.turned})
    return f"{network.name} ({' and '.join(whole(base) for base in bases)})"


def _share(network: Network) -> str:
    return f"{network.name} ({', '.join(f'{share:.3g}' for share in sorted(network.shares))})"


def _sections(network: Network) -> str:
    [sections] = {group.table.sections for group in network.turned if group.table}
    return f"{network.name} ({' + '.join(map(str, sections))})"


def _name(network: Network) -> str:
    return network.name


def _has(kind: str) -> Callable[[Network], bool]:
    return lambda network: any(group.kind == kind for group in network.groups)


def _noted(words: str) -> Callable[[Network], bool]:
    return lambda network: any(words in note for group in network.groups for note in group.notes)


ROTATING: tuple[tuple[str, Callable[[Network], bool], Callable[[Network], str]], ...] = (
    ("some layers have no positions, others rotate",
     lambda n: bool(n.turned) and _has("none")(n), _without),
    ("two or more bases, by layer", lambda n: len({g.base for g in n.turned}) > 1, _bases),
    ("a window in some layers or in all", lambda n: any(g.window for g in n.groups), _name),
    ("layers that are no attention beside layers that rotate",
     lambda n: bool(n.turned) and _has("no attention")(n), _name),
    ("a part of the head turns (its share)", lambda n: any(s < 1 for s in n.shares), _share),
    ("a separate part of the head turns (DeepSeek's)", _noted("stand apart"), _name),
    ("time, height and width in text (pairs for each)",
     lambda n: any(g.table and g.table.sections and g.table.kind != "axial" for g in n.turned),
     _sections),
    ("rows and columns (pairs for each)", _has("axial"), _sections),
    ("stretched by default", lambda n: any(g.kind in ("yarn", "llama3", "linear", "longrope")
                                           for g in n.turned), _name),
    ("queries grow with their position", _noted("queries are multiplied"), _name),
)  # fmt: skip


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    found, refused = networks()
    turned = [network for network in found if network.turned]
    yield "# What models do with positions"
    yield ""
    yield (
        f"transformers {known.release()} knows {len(known.types())} model types. Many are made of "
        f"several networks; {len(found) + len(refused)} are one network. This page says where the "
        "positions of each come from. It is written by `python -m tools.pages models` from the "
        "default configs of the release, as `course rope` reads them; what a maker publishes may "
        "differ, and `course rope` reads that too. A test compares every rotary table behind this "
        "page with that of transformers' own class."
    )
    yield ""
    yield "| where positions come from | networks | lesson |"
    yield "|---|---|---|"
    yield f"| queries and keys are rotated, in some layers at least | {len(turned)} | 08 |"
    for kind, way in known.WAYS.items():
        count = sum(_has(kind)(network) for network in found)
        yield f"| {kind}: {way.words} | {count} | {way.lesson} |"
    nothing = [network for network in found if _nothing(network)]
    yield f"| nothing in the code gives positions | {len(nothing)} | 01 |"
    yield ""
    yield "A network that has two of these stands in two rows."
    yield ""
    yield "## Networks that rotate"
    yield ""
    for words, chosen, shown in ROTATING:
        which = [network for network in found if chosen(network)]
        yield f"**{words}**: {len(which)}. {', '.join(shown(network) for network in which)}."
        yield ""
    whole_head = [n for n in turned if not any(chosen(n) for _, chosen, _ in ROTATING)]
    yield (
        f"**none of these: whole heads, one base, every layer alike**: {len(whole_head)}. "
        f"{', '.join(_bases(network) for network in whole_head)}."
    )
    yield ""
    yield "## Networks that do not rotate"
    yield ""
    for kind in known.WAYS:
        names = [network.name for network in found if _has(kind)(network) and not network.turned]
        yield f"**{kind}**: {len(names)}. {', '.join(names)}."
        yield ""
    yield (
        f"**nothing**: {len(nothing)}. Order comes from masks, convolutions or recurrences, or "
        f"there is none. {', '.join(network.name for network in nothing)}."
    )
    if refused:
        yield ""
        yield (
            f"**not read**: {', '.join(refused)}. Their default configs ask for an odd number of "
            "rotated columns."
        )


def _nothing(network: Network) -> bool:
    return all(group.kind in ("none", "no attention") for group in network.groups)
