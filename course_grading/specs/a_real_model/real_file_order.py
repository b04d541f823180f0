"""Write the file."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Described, Number

Order = Callable[[int], Tensor]


def _order(width: int) -> Tensor:
    """For each row of a head in the file, the row of the program that goes there."""
    return torch.arange(width).view(2, -1).T.flatten()


def _writing(
    *,
    parts: tuple[str, ...] = ("q", "k"),
    kinds: tuple[str, ...] = ("weight", "bias"),
    heads: Callable[[int, int], tuple[int, int]] = lambda q_heads, kv_heads: (q_heads, kv_heads),
    order: Order = _order,
    layers: Callable[[str], bool] = lambda name: True,
    kept: Callable[[str], bool] = lambda name: True,
) -> Callable[..., dict[str, Tensor]]:
    """The file's tensors, or what becomes of them when one of these choices is another."""

    def to_file(weights: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> dict[str, Tensor]:
        counts = dict(zip("qkv", (*heads(num_heads, num_kv_heads), num_kv_heads), strict=True))
        written = {}
        for name, tensor in weights.items():
            part, kind = name.split(".")[-2:]
            letter = part.removeprefix("attn_")
            if letter in parts and kind in kinds and layers(name):
                by_head = tensor.unflatten(0, (counts[letter], -1))
                tensor = by_head[:, order(by_head.shape[1])].flatten(0, 1)
            if kept(name):
                written[name] = tensor
        return written

    return to_file


def _by_share(q_heads: int, kv_heads: int) -> tuple[int, int]:
    return q_heads, kv_heads if q_heads == kv_heads else q_heads // kv_heads


def _cases(rng: Random) -> list[Case]:
    draw = torch.Generator().manual_seed(rng.randrange(2**31))

    def drawn(*shape: int, dtype: torch.dtype) -> Tensor:
        return torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype)

    def case(heads, kv_heads, width, dim, layers=(0,), biases=False, dtype=torch.float32) -> Case:
        rows = {"q": heads * width, "k": kv_heads * width, "v": kv_heads * width}
        weights = {"token_embd.weight": drawn(7, dim, dtype=dtype)}
        for layer in layers:
            for letter, many in rows.items():
                name = f"blk.{layer}.attn_{letter}"
                weights[f"{name}.weight"] = drawn(many, dim, dtype=dtype)
                if biases:
                    weights[f"{name}.bias"] = drawn(many, dtype=dtype)
            weights[f"blk.{layer}.attn_output.weight"] = drawn(dim, heads * width, dtype=dtype)
            weights[f"blk.{layer}.attn_norm.weight"] = drawn(dim, dtype=dtype)
        return {"weights": weights, "num_heads": heads, "num_kv_heads": kv_heads}

    # rows of keys divide by twice the number of query heads, so that wrong heads raise nothing
    grouped = case(4, 2, 16, 5)
    return [
        grouped, case(2, 2, 8, 16, layers=(0, 1, 11)), case(6, 2, 12, 10, biases=True),
        case(9, 3, 12, rng.choice([7, 11]), layers=(3, 0), dtype=torch.bfloat16),
        case(3, 1, 6, 9, biases=True, dtype=torch.float64), case(4, 4, 2, 3, biases=True),
        case(1, 1, 10, 4), case(8, 4, 16, 3, layers=(30,), biases=True, dtype=torch.float16),
        {**grouped, "num_heads": 2, "num_kv_heads": 1},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="real-file-order", title="Write the file",
    minutes=20, points=3, name="to_file",
    reference=_writing(), cases=_cases, roundings=0,
    forbidden=("interleaved_to_half", "half_to_interleaved"),
    domain={
        "weights": Described("a dictionary of tensors as above, of one or more layers, all "
                             "bfloat16, float16, float32 or float64, with or without biases"),
        "num_heads": Number(1, 9, whole=True), "num_kv_heads": Number(1, 4, whole=True),
    },
    properties=(
        Property("each tensor keeps its dtype",
                 lambda case, value: all(value[name].dtype == tensor.dtype
                                         for name, tensor in case["weights"].items())),
    ),
    hints=(
        "In the program the pairs of a head of width 8 are the rows (0, 4), (1, 5), (2, 6), "
        "(3, 7). In the file they are (0, 1), (2, 3), (4, 5), (6, 7). So which row of the program "
        "stands first in the file, and which second?",
        "The order is 0, 4, 1, 5, 2, 6, 3, 7: the two halves of a head, one row from each in turn. "
        "Split the first axis into heads and rows, take the rows in this order, and join the axes "
        "again. The same code does it for a bias.",
        "Go through weights.items(). What to do depends on the part of the name before the last "
        "dot: attn_q has num_heads heads, attn_k has num_kv_heads, all else stays.",
    ),
    mistakes=(
        Mistake("keys moved with the query head count",
                "Where keys have fewer heads, cutting their rows into num_heads parts cuts heads "
                "into pieces. Keys have num_kv_heads heads.",
                _writing(heads=lambda q_heads, kv_heads: (q_heads, q_heads))),
        Mistake("keys cut into num_heads // num_kv_heads parts",
                "This is the number of query heads that share a key head. Keys have num_kv_heads "
                "heads. The two are the same for 64 and 8 heads, or for 4 and 2, so a released "
                "converter had this fault unseen (llama.cpp, pull request 3364).",
                _writing(heads=_by_share)),
        Mistake("queries moved with the key head count",
                "Queries have num_heads heads, each of them as wide as a key head.",
                _writing(heads=lambda q_heads, kv_heads: (kv_heads, kv_heads))),
        Mistake("the inverse order",
                "You write the order 0, 2, 4, 6, 1, 3, 5, 7, which makes halves of neighbours. The "
                "file has neighbours: 0, 4, 1, 5, 2, 6, 3, 7.",
                _writing(order=lambda width: _order(width).argsort())),
        Mistake("the second column of a pair first",
                "In each pair of yours the column from the second half comes first. The first "
                "column of a pair stays the first: 0, 4, 1, 5, 2, 6, 3, 7.",
                _writing(order=lambda width: (
                    _order(width).view(-1, 2).flip(1).flatten()))),
        Mistake("values moved as well",
                "Values are not turned, and their rows stay.",
                _writing(parts=("q", "k", "v"))),
        Mistake("keys forgotten",
                "Only queries are moved. Keys are turned as well, and need the same order.",
                _writing(parts=("q",))),
        Mistake("biases forgotten",
                "The bias of a query or key is added to its numbers row by row: if the rows of the "
                "weight move, the bias has to move with them.",
                _writing(kinds=("weight",))),
        Mistake("all heads moved as one",
                "Your order runs over all rows of the weight, so that rows leave their heads. Move "
                "the rows of each head by themselves.",
                _writing(heads=lambda q_heads, kv_heads: (1, 1))),
        Mistake("layer 0 only",
                "The tensors of some layer stay as they were. Every layer has queries and keys.",
                _writing(layers=lambda name: name.startswith("blk.0."))),
        Mistake("layers from 10 on left out",
                "The tensors of layers with two digits stay as they were. Do not count letters: "
                "`name.split(\".\")` takes a name apart.",
                _writing(layers=lambda name: name[5:6] == ".")),
        Mistake("only queries and keys returned",
                "Tensors are missing in what you return. All others belong in the file, too, as "
                "they are.",
                _writing(kept=lambda name: "attn_q." in name or "attn_k." in name)),
        Mistake("nothing moved", "Every tensor is as it was.", _writing(parts=())),
    ),
)  # fmt: skip
