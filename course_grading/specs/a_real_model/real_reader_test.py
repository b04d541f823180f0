"""Write the test: does it read the file?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

File = dict[str, Any]
Read = Callable[[File], tuple[Tensor, Tensor, Tensor]]


def _halves(width: int) -> Tensor:
    """For each row of a head in halves, the row of neighbours that comes there."""
    return torch.arange(width).view(-1, 2).T.flatten()


def _heads(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1))


def _in_halves(by_head: Tensor, layout: str) -> Tensor:
    return by_head[:, _halves(by_head.shape[1])] if layout == "interleaved" else by_head


def _frequencies(file: File, width: int) -> Tensor:
    return file["base"] ** (-torch.arange(0, width, 2).double() / width)


def _reading(
    *,
    move: Callable[[Tensor, str], Tensor] = _in_halves,
    moved: str = "qk",
    keys: Callable[[Tensor, File], Tensor] | None = None,
    frequencies: Callable[[File, int], Tensor] = _frequencies,
    split: Callable[[Tensor, int], Tensor] = _heads,
    result: Callable[[Tensor], Tensor] = lambda weight: weight,
) -> Read:
    """What a reader returns, or what becomes of it when one of these choices is another."""

    def read(file: File) -> tuple[Tensor, Tensor, Tensor]:
        q, k = split(file["q"], file["num_heads"]), split(file["k"], file["num_kv_heads"])
        ladder = frequencies(file, q.shape[1])
        q = move(q, file["layout"]) if "q" in moved else q
        if keys:
            k = keys(file["k"], file)
        elif "k" in moved:
            k = move(k, file["layout"])
        return result(q), result(k), ladder

    return read


def _row_by_row(file: File) -> tuple[Tensor, Tensor, Tensor]:
    found = []
    for name, heads in (("q", file["num_heads"]), ("k", file["num_kv_heads"])):
        weight = file[name]
        width = len(weight) // heads
        out = torch.empty(heads, width, weight.shape[1], dtype=weight.dtype)
        for head in range(heads):
            for row in range(width):
                place = row
                if file["layout"] == "interleaved":
                    place = row // 2 + (row % 2) * (width // 2)
                out[head, place] = weight[head * width + row]
        found.append(out)
    ladder = [file["base"] ** (-2 * i / width) for i in range(width // 2)]
    return found[0], found[1], torch.tensor(ladder)


def _query_count(weight: Tensor, file: File) -> Tensor:
    """Keys moved in as many parts as there are query heads; it raises if these do not fit."""
    return _by_parts(weight, file, file["num_heads"])


def _share(weight: Tensor, file: File) -> Tensor:
    """Keys moved in as many parts as there are query heads for each key head."""
    heads, kv_heads = file["num_heads"], file["num_kv_heads"]
    return _by_parts(weight, file, heads if heads == kv_heads else heads // kv_heads)


def _by_parts(weight: Tensor, file: File, parts: int) -> Tensor:
    if file["layout"] == "interleaved":
        weight = _in_halves(_heads(weight, parts), file["layout"]).flatten(0, 1)
    return _heads(weight, file["num_kv_heads"])


def _exchanged(file: File) -> tuple[Tensor, Tensor, Tensor]:
    q, k, ladder = _reading()(file)
    return (k, q, ladder) if q.shape == k.shape else (q, k, ladder)


def _of_the_models_width(file: File, width: int) -> Tensor:
    share = file["q"].shape[1] / file["num_heads"]
    return file["base"] ** (-torch.arange(0, width, 2).double() / share)


def _first_head_only(by_head: Tensor, layout: str) -> Tensor:
    return torch.cat([_in_halves(by_head[:1], layout), by_head[1:]])


def _file(
    heads: int = 6,
    kv_heads: int = 2,
    width: int = 8,
    dim: int = 6,
    base: float = 500.0,
    layout: str = "interleaved",
    dtype: torch.dtype = torch.float32,
) -> File:
    draw = torch.Generator().manual_seed(heads)
    q, k = (torch.randn(n * width, dim, generator=draw).to(dtype) for n in (heads, kv_heads))
    return {"q": q, "k": k, "num_heads": heads, "num_kv_heads": kv_heads, "base": base,
            "layout": layout}  # fmt: skip


ALSO = {"heads": 2, "kv_heads": 2, "base": 5e6}


def _compare(
    read: Read,
    layouts: tuple[str, ...] = ("interleaved", "half"),
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64, torch.bfloat16),
    dtype_seen: bool = True,
    ladder_seen: bool = True,
    keys_seen: bool = True,
    tolerance: float = 1e-4,
    also: dict[str, Any] = ALSO,
    **sizes: Any,
) -> None:
    for layout in layouts:
        for dtype, some in [(dtypes[0], {**sizes, **also}), *((one, sizes) for one in dtypes)]:
            file = _file(layout=layout, dtype=dtype, **some)
            q, k, ladder = read(file)
            right_q, right_k, _ = _row_by_row(file)
            assert q.shape == right_q.shape and k.shape == right_k.shape
            assert not dtype_seen or q.dtype == k.dtype == dtype
            assert (q.double() == right_q.double()).all()
            assert not keys_seen or (k.double() == right_k.double()).all()
            expected = _frequencies(file, q.shape[1])
            assert not ladder_seen or ((ladder / expected - 1).abs() <= tolerance).all()


def _compared(
    name: str,
    why: str,
    seen: tuple[bool, ...] = (True, False),
    sizes: tuple[dict[str, Any], ...] = ({}, {"heads": 4}),
    **choice: Any,
) -> Iterator[Mistake]:
    """A mistake that goes by one choice, whether dtypes are compared, and for each of these sizes.

    With four query heads and two key heads one wrong version is right.
    """
    for dtype_seen in seen:
        for size in sizes:
            yield Mistake(name, why, partial(_compare, dtype_seen=dtype_seen, **size, **choice))


@mistake("accepts every version",
         "Nothing was raised for any version. Compare numbers: a reader that moves the wrong rows "
         "returns the right shapes.")  # fmt: skip
def _test_shapes(read: Read) -> None:
    q, k, ladder = read(_file(heads=4))
    assert q.shape == (4, 8, 6) and k.shape == (2, 8, 6) and len(ladder) == 4


EXERCISE = WriteTest(
    slug="real-reader-test", title="Write the test: does it read the file?",
    minutes=25, points=3, name="test_read", reference=_compare,
    versions=(
        Version("by one index for all heads", True, _reading()),
        Version("row by row", True, _row_by_row),
        Version("by splitting and turning axes", True, _reading(
            move=lambda by_head, layout: (
                by_head.unflatten(1, (-1, 2)).transpose(1, 2).flatten(1, 2)
                if layout == "interleaved" else by_head))),
        Version("frequencies in float32", True, _reading(
            frequencies=lambda file, width: _frequencies(file, width).float())),
        Version("layout not looked at, nothing moved", False,
                _reading(move=lambda by_head, layout: by_head),
                "It is right for files in halves: give an interleaved one, and compare rows."),
        Version("layout not looked at, always moved", False,
                _reading(move=lambda by_head, layout: _in_halves(by_head, "interleaved")),
                "It is right for interleaved files: give one in halves, too."),
        Version("moved in the inverse order", False,
                _reading(move=lambda by_head, layout: (
                    by_head[:, _halves(by_head.shape[1]).argsort()]
                    if layout == "interleaved" else by_head)),
                "For heads of width 4 both orders are the same: take wider ones."),
        Version("keys not moved", False, _reading(moved="q"),
                "Its queries are right: compare keys, too."),
        Version("queries not moved", False, _reading(moved="k"),
                "Its keys are right: compare queries, too."),
        Version("keys moved with the query head count", False, _reading(keys=_query_count),
                "It is right where there are as many key heads as query heads: give fewer key "
                "heads."),
        Version("keys cut into num_heads // num_kv_heads parts", False, _reading(keys=_share),
                "It is right for 4 query heads and 2 key heads, and for 64 and 8: there "
                "num_heads // num_kv_heads is num_kv_heads. Give other numbers, such as 6 and 2. A "
                "released converter had this fault unseen (llama.cpp, pull request 3364)."),
        Version("only the first head moved", False, _reading(move=_first_head_only),
                "It is right for one head: give several, and compare all of them."),
        Version("heads taken as the inner axis", False,
                _reading(split=lambda weight, heads: (
                    weight.unflatten(0, (-1, heads)).transpose(0, 1))),
                "It is right for one head. With several, the rows of each head stand together."),
        Version("base 10 000 written in", False,
                _reading(frequencies=lambda file, width: _frequencies({"base": 1e4}, width)),
                "Its weights are right, and its frequencies are where the base is 10 000: give "
                "another base, and compare frequencies."),
        Version("frequencies spread over the model's width", False,
                _reading(frequencies=lambda file, width: (
                    _frequencies(file, file["q"].shape[1])[: width // 2]
                    if file["q"].shape[1] >= width
                    else file["base"] ** (-torch.arange(0, width, 2) / file["q"].shape[1]))),
                "It is right where a head is as wide as the model: give weights whose number of "
                "columns is not the width of a head."),
        Version("the width of a head taken for dim / num_heads", False,
                _reading(frequencies=_of_the_models_width),
                "It is right where all heads together are as wide as the model. In some released "
                "models they are not: give another number of columns, and compare frequencies."),
        Version("frequencies with half of the exponent", False,
                _reading(frequencies=lambda file, width: _frequencies(file, width).sqrt()),
                "Its first frequency is right: compare all of them."),
        Version("frequencies rounded to bfloat16", False,
                _reading(frequencies=lambda file, width: (
                    _frequencies(file, width).bfloat16().double())),
                "They are off by up to a few thousandths of themselves. Right versions agree to "
                "one part in 100 000."),
        Version("base 10 000 for every base above a million", False,
                _reading(frequencies=lambda file, width: _frequencies(
                    file if file["base"] <= 1e6 else {"base": 1e4}, width)),
                "It is right for bases up to 1 000 000. Released models have larger ones: give "
                "one."),
        Version("queries and keys exchanged where both have as many heads", False, _exchanged,
                "It is right where there are fewer key heads than query heads. Give a file with as "
                "many, too."),
        Version("weights rounded to three digits", False,
                _reading(result=lambda w: (w.double() * 1000).round().div(1000).to(w.dtype)),
                "Its numbers are right to three digits after the point. Give numbers with more "
                "digits, and compare them exactly."),
        Version("weights off by a rounding", False,
                _reading(result=lambda w: w * 1.1 / 1.1 if w.dtype.itemsize > 2 else w),
                "In float32 and float64 its numbers are off by a rounding here and there, as after "
                "a product that was undone. Give numbers with many digits, and compare them "
                "exactly."),
        Version("weights always in float64", False, _reading(result=lambda w: w.double()),
                "Its numbers are right, and its dtype is not that of the file: compare dtypes."),
        Version("weights always in float32", False, _reading(result=lambda w: w.float()),
                "Give weights in another dtype, and compare dtypes."),
        Version("weights rounded to bfloat16", False,
                _reading(result=lambda w: w.bfloat16().to(w.dtype)),
                "Most of its numbers are off by some thousandths, but whole numbers up to 256 are "
                "not. Give numbers with many digits, and compare them exactly."),
    ),
    hints=(
        "Make a small file whose rows you can recognise: 1000.5 + torch.arange(rows * dim) as "
        "numbers. Then write down which row must stand where, for a head of width 8.",
        "In an interleaved file row 2 i of a head belongs to place i, and row 2 i + 1 to place "
        "i + width / 2. In a file in halves every row stays.",
        "Make faults visible: three query heads for each of two key heads, heads of width 8 or "
        "more, another number of columns than the width of a head, a base that is not 10 000, both "
        "layouts, two dtypes. Compare numbers exactly, and frequencies to 1e-4 of each.",
    ),
    mistakes=(
        _test_shapes,
        *_compared("interleaved files only",
                   "A version passes that moves rows whatever the file says. Give a file in "
                   "halves, too.",
                   layouts=("interleaved",)),
        *_compared("dtypes not looked at",
                   "A version passes that returns float32 whatever it is given. Compare dtypes, "
                   "for weights in two of them.",
                   seen=(False,)),
        *_compared("as many key heads as query heads",
                   "A version passes that moves keys with the query head count. Give fewer key "
                   "heads.",
                   sizes=({"kv_heads": 6},)),
        *_compared("frequencies not looked at",
                   "Versions pass whose frequencies are wrong. Compare them, too.",
                   ladder_seen=False),
        *_compared("keys not looked at",
                   "Versions pass whose keys are wrong. Compare them as you compare queries.",
                   sizes=({}, {"width": 12}), keys_seen=False),
        *_compared("base 10 000 only",
                   "A version passes that has 10 000 written in it. Give another base.",
                   base=10_000.0, also={**ALSO, "base": 10_000.0}),
        *_compared("no base above a million",
                   "A version passes that takes 10 000 for every base above 1 000 000. Released "
                   "models have larger ones: give one.",
                   also={**ALSO, "base": 500.0}),
        *_compared("never as many key heads as query heads",
                   "A version passes that exchanges queries and keys where both have as many "
                   "heads. Give a file with as many key heads as query heads, too.",
                   also={"base": 5e6}),
        *_compared("asks for equality of frequencies",
                   "Right versions have frequencies in float32 or float64, which agree to one part "
                   "in 100 000. Allow a small difference.",
                   tolerance=0.0),
    ),
)  # fmt: skip
