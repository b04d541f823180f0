"""Fourth room: weights from another program."""

from __future__ import annotations

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import exhibit


def to_half(weight: Tensor, num_heads: int) -> Tensor:
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def convert(q_weight: Tensor, k_weight: Tensor, num_heads: int, num_kv_heads: int):
    return to_half(q_weight, num_heads), to_half(k_weight, num_kv_heads)


def convert_by_index(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        width = len(weight) // heads
        order = [*range(0, width, 2), *range(1, width, 2)]
        return weight[[h * width + row for h in range(heads) for row in order]]

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


def convert_by_slices(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        return torch.cat([torch.cat([w[0::2], w[1::2]]) for w in weight.chunk(heads)])

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


@exhibit("nothing is moved", "09",
         "All shapes fit, so the model loads. Between two tokens at the same position every score "
         "is right, since query and key turn alike. Scores between different positions are wrong: "
         "compare rows, or compare such scores.")  # fmt: skip
def convert_nothing(q_weight, k_weight, num_heads, num_kv_heads):
    return q_weight.clone(), k_weight.clone()


@exhibit("keys split by the number of query heads", "09",
         "Grouped keys have fewer heads than the queries. If their rows can be divided by the "
         "number of query heads as well, nothing is raised. Use fewer key heads than query "
         "heads, and compare the keys.")  # fmt: skip
def convert_with_query_heads(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, num_heads), to_half(k_weight, num_heads)


@exhibit("all query heads taken for one", "09",
         "Rows of the queries move from one head to another; the keys are right. With one query "
         "head the result is right: use several heads, and compare the queries.")  # fmt: skip
def convert_as_one_head(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, 1), to_half(k_weight, num_kv_heads)


@exhibit("the way back", "09",
         "It turns halves into neighbours instead of neighbours into halves. In a head of four "
         "rows both are the same swap: use heads of six rows or more.")  # fmt: skip
def convert_backwards(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


@exhibit("queries only", "09",
         "The queries are moved and the keys are not, so queries and keys no longer fit. "
         "Compare both results.")  # fmt: skip
def convert_queries_only(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, num_heads), k_weight.clone()


CONVERSION = (
    Version("view and transpose", True, convert),
    Version("a list of row numbers", True, convert_by_index),
    Version("every second row, head by head", True, convert_by_slices),
    convert_nothing, convert_with_query_heads, convert_as_one_head, convert_backwards,
    convert_queries_only,
)  # fmt: skip


def _numbered(rows: Tensor) -> Tensor:
    return (5000 + rows / 7)[:, None]


def _marked(heads: int, width: int) -> Tensor:
    """Rows that carry their own number, which float16 and bfloat16 cannot hold."""
    return _numbered(torch.arange(heads * width))


def _in_halves(heads: int, width: int) -> Tensor:
    order = [*range(0, width, 2), *range(1, width, 2)]
    return _numbered(torch.tensor([h * width + row for h in range(heads) for row in order]))


def _convert_test(heads: int, kv_heads: int, width: int):
    def test_convert(convert):
        q, k = convert(_marked(heads, width), _marked(kv_heads, width), heads, kv_heads)
        assert torch.equal(q, _in_halves(heads, width))
        assert torch.equal(k, _in_halves(kv_heads, width))

    return test_convert


@mistake("looks at the queries only", "It accepts the two versions whose queries are right and "
         "whose keys are wrong. Compare both results.")  # fmt: skip
def _test_convert_queries(convert):
    q, _ = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q, _in_halves(4, 8))


@mistake("looks at the keys only", "It accepts the version whose keys are right and whose queries "
         "are wrong. Compare both results.")  # fmt: skip
def _test_convert_keys(convert):
    _, k = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(k, _in_halves(2, 8))


@mistake("lets every order of rows through", "Every version returns all rows, in tensors of the "
         "right shapes. Compare the order of the rows.")  # fmt: skip
def _test_convert_rows_kept(convert):
    q, k = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q.sort(dim=0)[0], _marked(4, 8)) and k.shape == (16, 1)


EXERCISE = WriteTest(
    slug="museum-weights", title="Fourth room: weights from another program",
    minutes=15, points=5,
    name="test_convert", reference=_convert_test(4, 2, 8), versions=CONVERSION,
    forbidden=("interleaved_to_half", "half_to_interleaved"),
    hints=(
        "Give weights whose rows carry their number: torch.arange(32.0)[:, None]. Then the result "
        "says where each row went.",
        "A head with the rows 0, 1, ..., 7 should come out as 0, 2, 4, 6, 1, 3, 5, 7, and the next "
        "head as 8, 10, 12, 14, 9, ...",
        "The wrong versions, in order: one moves nothing, two split the rows into the wrong number "
        "of heads, one goes in the wrong direction, and one forgets the keys. Use 4 query heads "
        "and 2 key heads with 8 rows each, and compare both results.",
    ),
    mistakes=(
        Mistake("heads of four rows",
                "In heads of four rows, the way there and the way back are the same. Take 8 rows.",
                _convert_test(4, 2, 4)),
        Mistake("as many key heads as query heads",
                "With equal numbers it does not matter which of them splits the keys. Grouped keys "
                "have fewer heads than queries.",
                _convert_test(4, 4, 8)),
        Mistake("one head", "A single head cannot be split wrongly. Take 4 heads for the queries "
                "and 2 for the keys.",
                _convert_test(1, 1, 8)),
        _test_convert_queries,
        _test_convert_keys,
        _test_convert_rows_kept,
    ),
)  # fmt: skip
