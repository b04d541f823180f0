"""What did a released table of positions learn, and what does its model read from it?

`course measure table` looks at the 512 rows of all-MiniLM-L6-v2 (`make model ARGS=minilm` brings
it) beside tables that lack one thing, and changes the rows while the model reads twelve passages.
There are no seeds: draws of a random table, or passages, take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lab import released, zoo
from course_lab.findings import Measured
from course_lab.instruments import tables
from course_lab.released.installed import MINILM
from course_lab.released.texts import TEXTS, checksum, text
from course_lab.studies.study import Entry, Kind, Result, Study
from course_lib.encodings import LearnedAbsolute, sinusoidal_encoding
from course_lib.model import attention_weights

BANDS = ((4.5, 9.0), (12.0, 25.0), (36.0, 70.0), (120.0, 200.0), (200.0, 600.0))
"""Wavelengths, in rows, of the released table's waves: chosen after its spectrum was seen."""
SHIFTS = (1, 2, 3, 7, 14, 28)
DISTANCES = (*range(1, 21), 30, 50, 100, 200, 400)
DRAWS = 5
LENGTH = 128
"""Tokens of a passage, [CLS] and [SEP] counted."""
PASSAGES = tuple(f"{name}, {part}" for name in TEXTS for part in ("beginning", "middle"))
FRONTS = (0, 128, 384, 448, 512, 640)
"""Tokens before a passage; with 448 its last 64 positions are beyond the table's 512 rows."""
WAYS = ("clamped", "wrapped", "interpolated")


class Unit(NamedTuple):
    """What is measured at once; `text` is empty where no text is read."""

    question: str
    setting: str
    text: str


@cache
def _model() -> released.Encoder:
    return released.load_encoder()


def of_zoo(name: str) -> Float[Tensor, "rows dim"]:
    """The table of one of ZOO's small models."""
    scheme: Any = zoo.load("learned", ZOO.index(name)).first_scheme
    table: Tensor = scheme.table.detach().cpu()
    return table


# Tables -------------------------------------------------------------------------------------------


def compared(name: str) -> list[Float[Tensor, "rows dim"]]:
    """The released table, or one of those beside it, without row 0: one, or one for each draw."""
    if name in ZOO:
        return [of_zoo(name)[1:]]
    if name == "sinusoidal":
        return [sinusoidal_encoding(torch.arange(1, 512), 384)]
    rows = _model().table[1:]
    if name == "released":
        return [rows]
    if name == "five exact waves":
        return [exact_waves(rows)]
    return [DRAWN[name](rows, torch.Generator().manual_seed(draw)) for draw in range(DRAWS)]


def exact_waves(rows: Float[Tensor, "rows dim"]) -> Float[Tensor, "rows dim"]:
    """One sine with its cosine in place of each band, as large and in the same two directions."""
    places, table = torch.arange(len(rows)), rows.double().mean(dim=0).expand(rows.shape).clone()
    for limits in BANDS:
        pair = tables.pair(rows, *limits)
        angles = 2 * torch.pi * places.double() / pair.wavelength
        size = (tables.centred(rows) @ pair.directions.T).square().sum(dim=1).mean().sqrt()
        table += size * torch.stack([angles.cos(), angles.sin()], dim=1) @ pair.directions
    return table


DRAWN: dict[str, Callable[[Tensor, torch.Generator], Tensor]] = {
    "rows shuffled": tables.shuffled,
    "same spectrum": tables.of_same_spectrum,
    "phases drawn anew": tables.with_other_phases,
    "columns turned": tables.with_columns_turned,
}
ZOO = tuple(f"small model, start {seed}" for seed in zoo.SEEDS)
BESIDE = ("released", "sinusoidal", "five exact waves", *DRAWN)


def directions(unit: Unit) -> Result:
    """The shares of variance of the first 16 directions, and how many hold 90 % together."""
    records = []
    for draw, table in enumerate(compared(unit.setting)):
        shares = tables.shares(table)
        many = int((shares.cumsum(dim=0) < 0.9).sum()) + 1
        records.append({"draw": draw, "for 90 %": many, "ten": _round(shares[:10].sum()),
                        "shares": _rounded(shares[:16])})  # fmt: skip
    return Result(records)


def waves(unit: Unit) -> Result:
    """The two directions of each band: see `tables.Pair`."""
    return Result([
        {"draw": draw, "band": band, "wavelength": round(pair.wavelength, 1),
         "share": _round(pair.share), "flat": _round(pair.flat), "one way": _round(pair.one_way)}
        for draw, table in enumerate(compared(unit.setting))
        for band, limits in enumerate(BANDS)
        for pair in [tables.pair(table, *limits)]
    ])  # fmt: skip


def circles(unit: Unit) -> Result:
    """Where every row stands in the two directions of each band."""
    table = compared(unit.setting)[0]
    return Result([
        {"band": band, "x": _rounded(x, 3), "y": _rounded(y, 3)}
        for band, limits in enumerate(BANDS)
        for x, y in [(tables.centred(table) @ tables.pair(table, *limits).directions.T).T]
    ])  # fmt: skip


def spectrum(unit: Unit) -> Result:
    """The share of variance at each number of turns in the length of the table."""
    return Result([{"power": _rounded(tables.power(compared(unit.setting)[0]))}])


def shifts(unit: Unit) -> Result:
    """What a fitted matrix leaves, and what is left if rows stay where they are."""
    return Result([
        {"draw": draw, "by": by, "left": _round(tables.left_after_shift(table, by)),
         "unmoved": _round(tables.left_if_unmoved(table, by))}
        for draw, table in enumerate(compared(unit.setting))
        for by in SHIFTS
        if by < len(table) // tables.BLOCKS
    ])  # fmt: skip


def similarities(unit: Unit) -> Result:
    """The mean cosine of rows so far apart."""
    records = []
    for draw, table in enumerate(compared(unit.setting)):
        distances = [distance for distance in DISTANCES if distance < len(table)]
        cosines = tables.alike(table, distances)
        records += [{"draw": draw, "distance": distance, "cosine": round(cosine, 4)}
                    for distance, cosine in zip(distances, cosines, strict=True)]  # fmt: skip
    return Result(records)


def lengths(unit: Unit) -> Result:
    """How long each row is, and how far it stands out among its neighbours; row 0 as well."""
    table = of_zoo(unit.setting) if unit.setting in ZOO else _model().table
    return Result([
        {"row": row, "length": round(length, 3), "deviations": round(deviations, 2)}
        for row, (length, deviations) in enumerate(
            zip(table.norm(dim=-1).tolist(), tables.standing_out(table).tolist(), strict=True)
        )
    ])  # fmt: skip


# What the model does with them --------------------------------------------------------------------


def passage(name: str, length: int = LENGTH) -> Int[Tensor, " length"]:
    """So many tokens of one of PASSAGES, between [CLS] and [SEP]."""
    book, part = name.split(", ")
    letters = text(book)
    start = 0 if part == "beginning" else len(letters) // 2
    tokens = _model().tokens(letters[start : start + 20 * length])
    return torch.cat([tokens[: length - 1], tokens[-1:]])


@cache
def pairs() -> list[Float[Tensor, "2 dim"]]:
    """The two directions of each band of the released table."""
    rows = _model().table[1:]
    return [tables.pair(rows, *limits).directions for limits in BANDS]


def changed(setting: str, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """A table and the positions of a passage, where one thing is not as usual."""
    table, places = _model().table, torch.arange(LENGTH)
    if setting.startswith("begins at"):
        places = places + int(setting.split()[-1])
    elif setting == "shuffled":
        places = torch.randperm(LENGTH, generator=draw)
    elif setting == "reversed":
        places = places.flip(0)
    elif setting == "all the same":
        places = torch.full_like(places, LENGTH // 2)
    elif setting == "every row the mean row":
        table = table[1:].mean(dim=0).expand_as(table)
    elif setting == "without two of the ten":
        mixed, _ = torch.linalg.qr(torch.randn(10, 2, generator=draw, dtype=torch.float64))
        table = tables.without(table, mixed.T @ torch.linalg.qr(torch.cat(pairs()).T)[0].T)
    elif setting != "usual":
        part, band = setting.split(" pair ")
        table = {"without": tables.without, "only": tables.only}[part](table, pairs()[int(band)])
    return table, places


CUT = [f"{part} pair {band}" for part in ("without", "only") for band in range(len(BANDS))]
MOVED = ("begins at 100", "begins at 300", "shuffled", "reversed", "all the same",
         "every row the mean row", *CUT, "without two of the ten")  # fmt: skip
LOOKING = ("usual", "begins at 100", "begins at 300", "every row the mean row",
           *CUT[: len(BANDS)], "without two of the ten")  # fmt: skip


def when_changed(unit: Unit) -> Result:
    """The sentence vector's cosine to the usual one, and how much weight heads give elsewhere."""
    tokens = passage(unit.text)
    table, places = changed(unit.setting, _draw(unit))
    usual, model = _model(), _model().with_table(table)
    cosine = usual.sentence(tokens[None])[0] @ model.sentence(tokens[None], places)[0]
    before = looks(usual, tokens, torch.arange(LENGTH))
    elsewhere = (looks(model, tokens, places) - before).abs().sum(dim=-1).mean() / 2
    return Result([{"cosine": _round(cosine), "elsewhere": _round(elsewhere)}])


def first_row(unit: Unit) -> Result:
    """The same if the row of [CLS] alone is changed, or alone stays as it is."""
    tokens, table, places = passage(unit.text), _model().table, torch.arange(LENGTH)
    what, where = unit.setting.split(" at ")
    if where == "the mean row":
        table = torch.cat([table[:1], table[1:].mean(dim=0).expand(len(table) - 1, -1)])
    elif what == "all others":
        places[1:] += int(where)
    else:
        places[0] = int(where)
    model = _model().with_table(table)
    cosine = _model().sentence(tokens[None])[0] @ model.sentence(tokens[None], places)[0]
    return Result([{"cosine": _round(cosine)}])


FIRST = ("[CLS] alone at 100", "[CLS] alone at 300", "all others at 100", "all others at 300",
         "all others at the mean row")  # fmt: skip


def another(unit: Unit) -> Result:
    """The cosine to the other passage of the same text, or to one of the next text: a scale."""
    place = PASSAGES.index(unit.text)
    step = {"same text": 1 - 2 * (place % 2), "another text": 2}[unit.setting]
    one, other = unit.text, PASSAGES[(place + step) % len(PASSAGES)]
    ours, theirs = (_model().sentence(passage(name)[None])[0] for name in (one, other))
    return Result([{"cosine": _round(ours @ theirs)}])


def farther(unit: Unit) -> Result:
    """A passage's cosine to itself at the beginning, with more and more tokens before it.

    These are hidden, as padding is, so that positions alone differ; or they are another text, which
    the passage sees. The vector is the mean over the passage's own tokens in both cases.
    """
    way, front = unit.setting.split(", ")
    tokens = passage(unit.text)
    alone = _model().sentence(tokens[None])[0]
    other = PASSAGES[(PASSAGES.index(unit.text) + 2) % len(PASSAGES)]
    records = []
    for count in FRONTS:
        both = torch.cat([passage(other, max(FRONTS))[:count], tokens])
        table, places = lengthened(way, len(both))
        own = torch.arange(len(both)) >= count
        mask = None if front == "text" else own[None, None, None]
        out = _model().with_table(table)(both[None], places, mask)[0, count:].mean(dim=0)
        cosine = torch.nn.functional.cosine_similarity(alone, out, dim=0)
        records.append({"tokens": count, "cosine": _round(cosine)})
    return Result(records)


def lengthened(way: str, length: int) -> tuple[Tensor, Tensor]:
    """A table and positions for so many tokens, where they are more than there are rows."""
    table, places = _model().table, torch.arange(length)
    if way == "clamped":
        return table, places.clamp(max=len(table) - 1)
    if way == "wrapped":
        return table, places % len(table)
    scheme = LearnedAbsolute(*table.shape)
    scheme.table = torch.nn.Parameter(table)
    return scheme.stretched(max(length, len(table))).table.detach(), places


def heads(unit: Unit) -> Result:
    """What each head, layer by layer, gives the token before a query and the one after it."""
    table, places = changed(unit.setting, _draw(unit))
    weights = looks(_model().with_table(table), passage(unit.text), places).flatten(0, 1)
    sides = {"back": -1, "on": 1}
    return Result([{
        name: _rounded(weights.diagonal(side, dim1=-2, dim2=-1).mean(dim=-1), 3)
        for name, side in sides.items()
    }])  # fmt: skip


@torch.no_grad()
def looks(
    model: released.Encoder, tokens: Int[Tensor, " length"], places: Int[Tensor, " length"]
) -> Float[Tensor, "layers heads length length"]:
    """Where every head looks in one text."""
    found: list[Tensor] = []

    def keep(to_qkv: Any, inputs: Any, out: Tensor) -> None:
        q, k, _ = (t.unflatten(-1, (-1, model.config.head_dim)).transpose(1, 2)
                   for t in out.chunk(3, dim=-1))  # fmt: skip
        found.append(attention_weights(q, k)[0])

    blocks = list[Any](model.blocks)
    handles = [block.attention.to_qkv.register_forward_hook(keep) for block in blocks]
    try:
        model(tokens[None], places)
    finally:
        for handle in handles:
            handle.remove()
    return torch.stack(found)


def _draw(unit: Unit) -> torch.Generator:
    return torch.Generator().manual_seed(PASSAGES.index(unit.text))


def _round(value: Tensor | float, digits: int = 4) -> float:
    return round(float(value), digits)


def _rounded(values: Tensor, digits: int = 4) -> list[float]:
    return [round(value, digits) for value in values.tolist()]


# The study ----------------------------------------------------------------------------------------


def _kind(
    question: str, measure: Callable[[Unit], Result], settings: Iterable[str], *code: Any,
    texts: Iterable[str] = PASSAGES,
) -> Kind[Unit]:  # fmt: skip
    units = [Unit(question, setting, text) for setting in settings for text in texts]
    used = (measure, *code)
    return Kind(question, lambda name: units, measure, _settings, lambda unit: used)


def _settings(unit: Unit) -> Entry:
    letters = {"letters": checksum(unit.text.split(",")[0])} if unit.text else {}
    return {"weights": MINILM.sha256[:8], **letters}


_TABLES = (compared, exact_waves, tables)
_READ = (released.Encoder, passage)
_CHANGED = (*_READ, changed, pairs, tables.pair, tables.without, tables.only)
STUDY = Study(
    "table", "The table of lesson 04's released encoder, and what reads it (minutes).", Unit,
    kinds=(
        _kind("directions", directions, [*BESIDE, *ZOO], *_TABLES, texts=[""]),
        _kind("spectrum", spectrum, ["released", "sinusoidal"], *_TABLES, texts=[""]),
        _kind("waves", waves, BESIDE, *_TABLES, texts=[""]),
        _kind("circles", circles, ["released", "phases drawn anew"], *_TABLES, texts=[""]),
        _kind("shift", shifts, [*BESIDE, *ZOO], *_TABLES, texts=[""]),
        _kind("alike", similarities, [*BESIDE, *ZOO], *_TABLES, texts=[""]),
        _kind("rows", lengths, ["released", *ZOO], tables.standing_out, texts=[""]),
        _kind("changed", when_changed, MOVED, *_CHANGED, looks),
        _kind("first row", first_row, FIRST, *_READ),
        _kind("another", another, ["same text", "another text"], *_READ),
        _kind("farther", farther, [f"{way}, {front}" for way in WAYS for front in
                                   ("padding", "text")], *_READ, lengthened),
        _kind("heads", heads, LOOKING, *_CHANGED, looks),
    ),
)  # fmt: skip


# Reading ------------------------------------------------------------------------------------------


def of_passages(question: str, setting: str, field: str, **where: Any) -> list[Measured]:
    """A field of every passage's record, such as its cosine."""
    found = STUDY.records(question=question, setting=setting, **where)
    return [Measured(r["text"], 0, r[field], "twelve passages") for r in found]


def of_draws(question: str, setting: str, field: str, **where: Any) -> list[float]:
    """A field of every draw's record; of one, where nothing was drawn."""
    return [r[field] for r in STUDY.records(question=question, setting=setting, **where)]


def of_heads(setting: str, side: str) -> list[tuple[tuple[int, int], list[Measured]]]:
    """The weight that every head (layer, number) gives one token, for each passage."""
    found = STUDY.records(question="heads", setting=setting)
    per_layer = 12
    return [
        (divmod(head, per_layer),
         [Measured(r["text"], 0, r[side][head], "twelve passages") for r in found])
        for head in range(len(found[0][side]))
    ]  # fmt: skip


def mean(records: Iterable[Measured]) -> float:
    """Over passages."""
    return fmean(record.value for record in records)
