"""The museum: bugs, most of them once published, and a test to be written for each room of them.

The exhibits themselves hang in `museum`. One point for each exhibit that a test catches.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Exercise, Mistake, Version
from course_grading.specs import exhibits

# 12.1 a table of waves ------------------------------------------------------------------------


def _embedded(positions: list[int], factor: float) -> Tensor:
    """What is added for dim = 4, number by number."""
    rows = [[f(p / factor / s) for s in (1, 100) for f in (math.sin, math.cos)] for p in positions]
    return torch.tensor(rows)


def _test_embed(embed):
    got = embed(torch.zeros(2, 3, 4), torch.tensor([0, 3, 11]), 2)
    assert torch.allclose(got, _embedded([0, 3, 11], 2).expand(2, 3, 4), atol=1e-3)
    _test_embed_neighbours(embed)


def _test_embed_neighbours(embed):
    far = embed(torch.zeros(1, 2, 4, dtype=torch.bfloat16), torch.tensor([256, 257]), 1)
    assert (far[0, 0] - far[0, 1]).abs().max() > 0.1


def _test_embed_with_itself(embed):
    x, positions = torch.zeros(2, 3, 4), torch.tensor([0, 3, 11])
    assert torch.equal(embed(x, positions, 2), embed(x, positions, 2))


def _test_embed_first_position(embed):
    got = embed(torch.zeros(2, 1, 4), torch.tensor([0]), 1)
    assert torch.allclose(got, _embedded([0], 1).expand(2, 1, 4))
    _test_embed_neighbours(embed)


def _test_embed_one_factor(embed):
    got = embed(torch.zeros(2, 3, 4), torch.tensor([0, 3, 11]), 1)
    assert torch.allclose(got, _embedded([0, 3, 11], 1).expand(2, 3, 4), atol=1e-3)
    _test_embed_neighbours(embed)


def _test_embed_in_float32_only(embed):
    got = embed(torch.zeros(2, 3, 4), torch.tensor([0, 3, 11]), 2)
    assert torch.allclose(got, _embedded([0, 3, 11], 2).expand(2, 3, 4), atol=1e-3)


def _test_embed_exactly(embed):
    x, positions = torch.ones(2, 3, 8), torch.tensor([0, 300, 1999])
    assert torch.equal(embed(x, positions, 2), exhibits.embed(x, positions, 2))


WAVES = Exercise(
    slug="museum-waves",
    title="First room: a table of waves",
    kind="test",
    minutes=15,
    points=5,
    name="test_embed",
    reference=_test_embed,
    forbidden=("sinusoidal_encoding", "Sinusoidal"),
    versions=(
        Version("in float64, rounded at the end", True, exhibits.embed),
        Version(
            "in float32 throughout",
            True,
            exhibits.embed_in_float32,
            "Angles in float32 are good to a thousandth up to some thousands of positions. Allow a "
            "small difference, and in bfloat16 a larger one, of a hundredth or more.",
        ),
        Version("one number at a time", True, exhibits.embed_one_by_one),
        Version(
            "the column's own number in the exponent",
            False,
            exhibits.embed_column_number,
            "Column 1 should share column 0's frequency and has one of its own: for dim = 512, "
            "position 1 reads 0.570 there instead of cos(1) = 0.540. At position 0 every cosine "
            "is 1, whatever its frequency: compare numbers at another position.",
        ),
        Version(
            "exponent i/d instead of 2i/d",
            False,
            exhibits.embed_half_exponent,
            "The slowest pairs are never reached, all clocks after the first are too fast. Only "
            "pair 1 and those after it show it: compare all columns, at a position above 0.",
        ),
        Version(
            "the number of the text used as position",
            False,
            exhibits.embed_batch_as_position,
            "Written for (length, batch, dim), called with (batch, length, dim): each text gets "
            "one row for all of its tokens, and nothing raises. Give it several texts of several "
            "tokens, and look at more than the first text.",
        ),
        Version(
            "whole numbers scaled in place",
            False,
            exhibits.embed_integers_in_place,
            "Positions are integers, and dividing integers in place leaves integers: with factor "
            "2, positions 2 and 3 both become 1. Use a factor above 1 and a position that it does "
            "not divide.",
        ),
        Version(
            "positions in the model's dtype",
            False,
            exhibits.embed_positions_in_dtype,
            "bfloat16 has every whole number up to 256 and then every second one: 257 becomes 256. "
            "It shows for x in bfloat16 and positions beyond 256 only.",
        ),
    ),
    hints=(
        "Write down numbers that you know. With dim = 4 the two frequencies are 1 and 0.01: the "
        "row of position 3 is sin 3, cos 3, sin 0.03, cos 0.03.",
        "What hides faults here: position 0, one text, one token, factor 1, float32. Change each "
        "of these at least once.",
        "Families, in order: two in the exponent, one that takes the wrong axis for the text, one "
        "that divides whole numbers, one of bfloat16. For the last, positions 256 and 257 must "
        "not come out equal.",
    ),
    mistakes=(
        Mistake(
            "compares the function with itself",
            "Both sides of the comparison come from the function under test, so they agree "
            "whatever it does. Put numbers on one side that you know from elsewhere.",
            _test_embed_with_itself,
        ),
        Mistake(
            "only position 0 for the values",
            "At position 0 sines are 0 and cosines 1, for any frequency and any factor.",
            _test_embed_first_position,
        ),
        Mistake(
            "only factor 1",
            "Nothing is stretched with factor 1, so what goes wrong in stretching cannot show.",
            _test_embed_one_factor,
        ),
        Mistake(
            "only float32",
            "Models run in bfloat16. Call it with x in bfloat16 too, and far from position 0.",
            _test_embed_in_float32_only,
        ),
        Mistake(
            "asks for equality to the last bit",
            "Two right programs round differently: torch.allclose(..., atol=1e-3).",
            _test_embed_exactly,
        ),
    ),
)

# 12.2 a turn ----------------------------------------------------------------------------------


def _score(distance: Tensor, dim: int) -> Tensor:
    """A vector of ones with itself, turned apart by `distance`: the same in every layout."""
    return 2 * torch.cos(distance[..., None] * exhibits.theta(dim)).sum(dim=-1).float()


def _check_scores(turn, batch, heads, positions):
    x = torch.ones(batch, heads, positions.shape[-1], 8)
    turned = turn(x, positions)
    distance = positions[..., :, None] - positions[..., None, :]
    expected = _score(distance, 8)
    expected = expected if positions.ndim == 1 else expected.unsqueeze(1)
    assert torch.allclose(turned @ turned.mT, expected.expand(batch, heads, -1, -1), atol=1e-2)


def _test_turn(turn):
    _check_scores(turn, 2, 2, torch.tensor([[0, 3, 17], [5, 6, 40]]))


def _test_turn_lengths(turn):
    x = torch.ones(2, 2, 3, 8)
    turned = turn(x, torch.tensor([0, 3, 17]))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-3)


def _test_turn_layout(turn):
    x, positions = torch.arange(16.0).view(1, 1, 2, 8), torch.tensor([3, 20])
    assert torch.allclose(turn(x, positions), exhibits.turn(x, positions), atol=1e-3)


def _test_turn_one_head(turn):
    _check_scores(turn, 2, 1, torch.tensor([0, 3, 17]))


def _test_turn_one_row_of_positions(turn):
    _check_scores(turn, 2, 3, torch.tensor([0, 3, 17]))


def _test_turn_counting(turn):
    _check_scores(turn, 2, 3, torch.arange(5))


TURN = Exercise(
    slug="museum-turn",
    title="Second room: a turn",
    kind="test",
    minutes=15,
    points=5,
    name="test_turn",
    reference=_test_turn,
    forbidden=("Rotary", "rotate"),
    versions=(
        Version(
            "pairs are columns i and i + d/2",
            True,
            exhibits.turn,
            "Which columns make a pair is free here. Compare what does not depend on it: scores of "
            "turned vectors, and only with vectors whose numbers are all alike.",
        ),
        Version(
            "pairs are columns 2i and 2i + 1",
            True,
            exhibits.turn_interleaved,
            "Which columns make a pair is free here. Compare what does not depend on it: scores of "
            "turned vectors, and only with vectors whose numbers are all alike.",
        ),
        Version(
            "the slowest pair first",
            True,
            exhibits.turn_slowest_first,
            "Which columns make a pair is free here. Compare what does not depend on it: scores of "
            "turned vectors, and only with vectors whose numbers are all alike.",
        ),
        Version("with a matrix for every pair", True, exhibits.turn_by_matrices),
        Version(
            "frequencies repeated for one layout, turned in the other",
            False,
            exhibits.turn_mixed,
            "The two columns of a pair turn by different angles: no rotation at all. Position 0 "
            "hides it. Everywhere else the length of the vector changes.",
        ),
        Version(
            "frequencies spread over the model's width",
            False,
            exhibits.turn_by_model_width,
            "The exponent is divided by heads * head_dim instead of head_dim, so each head has the "
            "fast pairs only. With one head the two are the same. Lengths and relative distances "
            "come out right: you have to know what the score at some distance should be.",
        ),
        Version(
            "each head has a slice of the model's frequencies",
            False,
            exhibits.turn_slices_of_model_width,
            "Head 0 gets the fast pairs and the last head the slow ones. Every head is a proper "
            "rotation of its own: compare heads with each other, or all of them with known scores.",
        ),
        Version(
            "the table of positions broadcast over heads",
            False,
            exhibits.turn_table_over_heads,
            "A table of shape (batch, length) meets (batch, heads, length): head h of every text "
            "gets the positions of text h. It is silent where there are as many texts as heads, "
            "and right where all texts have the same positions. Give each text its own.",
        ),
        Version(
            "counts by itself",
            False,
            exhibits.turn_counting_itself,
            "It turns by 0, 1, 2, ... whatever `positions` says. Prompts come out right; the token "
            "decoded next, alone in its call, stands at 0 again. Use positions with gaps.",
        ),
    ),
    hints=(
        "Which columns make a pair is free, so you cannot compare turned vectors with your own. "
        "What is the score of two turned vectors if all their numbers are 1?",
        "A pair of ones turned by a, and another turned by b: their dot product is 2 cos(a - b). "
        "So ones at distance r score 2 * sum over pairs of cos(r * base^(-2i/d)), in any layout.",
        "Families, in order: two layouts mixed, the model's width for the head's (two of them), "
        "one text's positions given to another, positions not used. So: several heads, as many "
        "texts as heads, positions with gaps that differ from text to text.",
    ),
    mistakes=(
        Mistake(
            "checks lengths only",
            "A test of lengths alone would let these through: every rotation keeps lengths, also "
            "one by the wrong angle. Compare scores with what they should be at a known distance.",
            _test_turn_lengths,
        ),
        Mistake(
            "asks for one layout",
            "This rejects right versions that pair other columns. Both layouts are in use, and "
            "scores are the same in both if the vectors hold the same number everywhere.",
            _test_turn_layout,
        ),
        Mistake(
            "one head",
            "With one head the model's width is the head's, and no heads can be mixed up.",
            _test_turn_one_head,
        ),
        Mistake(
            "one row of positions for all texts",
            "Padded and packed batches give each text its own positions, in the shape (batch, "
            "length).",
            _test_turn_one_row_of_positions,
        ),
        Mistake(
            "positions without gaps",
            "A version that counts for itself agrees with you there. Use positions with gaps, and "
            "in another test one row for each text.",
            _test_turn_counting,
        ),
    ),
)

# 12.3 a table with a memory -------------------------------------------------------------------


def _check_table(table, offset=0, base=exhibits.BASE, dim=8):
    expected = exhibits.cosines(20, offset, base, dim).float()
    assert torch.allclose(table(20, offset=offset, base=base), expected, atol=1e-3)


def _check_change(make, before, after):
    table = make(8)
    table(20, **before)
    _check_table(table, **after)


def _test_table_in_use(make):
    _check_change(make, {}, {"base": 500.0})
    _check_change(make, {}, {"offset": 7})
    _check_change(make, {"offset": 7}, {})
    _check_change(make, {"dtype": torch.bfloat16}, {})


def _test_table(make):
    _test_table_in_use(make)
    table = make(64).to(torch.bfloat16)
    _check_table(table, offset=1000, dim=64)


def _test_fresh_tables(make):
    for base in (500.0, 10_000.0):
        for offset in (0, 7):
            _check_table(make(8), offset, base)


def _test_table_twice(make):
    table = make(8)
    assert torch.equal(table(20, offset=3), table(20, offset=3))


def _test_table_shapes(make):
    _check_table(make(8))


def _test_table_exactly(make):
    for offset in (0, 7):
        expected = exhibits.cosines(20, offset, exhibits.BASE, 8).float()
        assert torch.equal(make(8)(20, offset=offset), expected)


TABLE = Exercise(
    slug="museum-table",
    title="Third room: a table with a memory",
    kind="test",
    minutes=20,
    points=5,
    name="test_table",
    reference=_test_table,
    forbidden=("rotation_table", "Rotary"),
    versions=(
        Version("computes everything anew", True, exhibits.Anew),
        Version("keeps a table for all that was asked", True, exhibits.KeptByAll),
        Version("grows one table for each base", True, exhibits.GrownExactly),
        Version(
            "in float32 throughout",
            True,
            exhibits.InFloat32,
            "A table in float32 is right to a thousandth up to position 2000 or so. Stay below, "
            "and allow that much.",
        ),
        Version(
            "keeps the table when the base changes",
            False,
            exhibits.BaseForgotten,
            "The first call decides: asked for base 500 afterwards, it hands out the table of the "
            "base before. Ask one table twice, with two bases.",
        ),
        Version(
            "keeps the table when the offset changes",
            False,
            exhibits.OffsetForgotten,
            "It remembers how many rows it has and not where they begin. A fresh table is right "
            "for any offset; ask one table twice, with two offsets.",
        ),
        Version(
            "hands out the first rows, whatever the offset",
            False,
            exhibits.RestartsAtZero,
            "It grows as far as it should and then cuts [:length] instead of [offset : offset + "
            "length]: every token decoded from a cache stands at position 0. Ask with an offset.",
        ),
        Version(
            "keeps what the first dtype rounded",
            False,
            exhibits.DtypeForgotten,
            "Asked in bfloat16 first, it rounds and remembers; asked in float32 afterwards, it "
            "converts what is rounded. The dtype is right then and the numbers are off by up to "
            "0.002. Make a new table, let its first call be in bfloat16, then ask it in float32 "
            "and allow no more than 0.001.",
        ),
        Version(
            "frequencies in a buffer",
            False,
            exhibits.RoundedBuffer,
            "model.to(torch.bfloat16) converts buffers too, and these hold frequencies, now off by "
            "up to one part in 500. Near position 0 that is nothing; near position 1000, for dim "
            "64, angles are off by up to 0.4. Call .to(torch.bfloat16) on the module, and look far "
            "out.",
        ),
    ),
    hints=(
        "A fault of memory shows in the second call, not in the first. Make one table, ask it "
        "something, then ask the same table something else and compare that with numbers of your "
        "own.",
        "Between the two calls change one thing at a time: the base, the offset (both ways), the "
        "dtype. And once change the module itself: make(64).to(torch.bfloat16).",
        "Families, in order: base, offset (two of them), dtype, and frequencies that are rounded "
        "with the model's weights. For the last ask for rows from offset 1000 on, in float32.",
    ),
    mistakes=(
        Mistake(
            "a fresh table for every question",
            "What has no past cannot remember the wrong thing. Ask the same table twice.",
            _test_fresh_tables,
        ),
        Mistake(
            "asks the same twice, or only from 0",
            "Two equal questions get equal answers from every memory, right or wrong. And from "
            "position 0 with one base there is nothing to mix up.",
            _test_table_twice,
        ),
        Mistake(
            "never converts the module",
            "Training and serving convert whole models: model.to(torch.bfloat16). See what that "
            "does to this module, at positions around 1000.",
            _test_table_in_use,
        ),
        Mistake(
            "asks for equality to the last bit",
            "This rejects tables that were computed in float32. Allow a thousandth.",
            _test_table_exactly,
        ),
    ),
)

# 12.4 weights from another house --------------------------------------------------------------


def _marked(heads: int, width: int) -> Tensor:
    """Rows that carry their own number."""
    return torch.arange(heads * width).float()[:, None]


def _in_halves(heads: int, width: int) -> Tensor:
    order = [*range(0, width, 2), *range(1, width, 2)]
    return torch.tensor([[float(h * width + row)] for h in range(heads) for row in order])


def _check_converted(convert, heads, kv_heads, width):
    q, k = convert(_marked(heads, width), _marked(kv_heads, width), heads, kv_heads)
    assert torch.equal(q, _in_halves(heads, width))
    assert torch.equal(k, _in_halves(kv_heads, width))


def _test_convert(convert):
    _check_converted(convert, 4, 2, 8)


def _test_convert_narrow(convert):
    _check_converted(convert, 4, 2, 4)


def _test_convert_equal_heads(convert):
    _check_converted(convert, 4, 4, 8)


def _test_convert_one_head(convert):
    _check_converted(convert, 1, 1, 8)


def _test_convert_queries(convert):
    q, _ = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q, _in_halves(4, 8))


def _test_convert_rows_kept(convert):
    q, k = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q.sort(dim=0)[0], _marked(4, 8)) and k.shape == (16, 1)


CONVERSION = Exercise(
    slug="museum-weights",
    title="Fourth room: weights from another house",
    kind="test",
    minutes=15,
    points=5,
    name="test_convert",
    reference=_test_convert,
    forbidden=("interleaved_to_half", "half_to_interleaved"),
    versions=(
        Version("view and transpose", True, exhibits.convert),
        Version("a list of row numbers", True, exhibits.convert_by_index),
        Version("every second row, head by head", True, exhibits.convert_by_slices),
        Version(
            "nothing is moved",
            False,
            exhibits.convert_nothing,
            "Shapes fit, the model loads, and it is nonsense beyond the first token: at position 0 "
            "nothing turns, so even scores agree there. Compare rows, or scores far from 0.",
        ),
        Version(
            "keys split by the number of query heads",
            False,
            exhibits.convert_with_query_heads,
            "Grouped keys have fewer heads. Their rows divide by the query heads as well, so "
            "nothing raises. Use fewer key heads than query heads, and look at the keys.",
        ),
        Version(
            "all heads taken for one",
            False,
            exhibits.convert_as_one_head,
            "Rows wander from head to head. With one head it is right: use several.",
        ),
        Version(
            "the way back",
            False,
            exhibits.convert_backwards,
            "This turns halves into neighbours instead of neighbours into halves. In a head of "
            "four rows both are the same swap: use heads of 8 or more.",
        ),
        Version(
            "queries only",
            False,
            exhibits.convert_queries_only,
            "Scores stay what they were only if queries and keys are moved alike. Look at both.",
        ),
    ),
    hints=(
        "Give weights whose rows carry their number: torch.arange(32.0)[:, None]. Then the result "
        "says which row went where.",
        "A head of 8 rows 0, 1, ..., 7 should come out as 0, 2, 4, 6, 1, 3, 5, 7, and the next "
        "head as 8, 10, 12, 14, 9, ...",
        "Families, in order: not moved, the wrong number of heads (two of them), the wrong "
        "direction, one of two forgotten. Use 4 query heads, 2 key heads, 8 rows each, and compare "
        "both results.",
    ),
    mistakes=(
        Mistake(
            "heads of four rows",
            "With four rows the way there and the way back are the same. Take 8.",
            _test_convert_narrow,
        ),
        Mistake(
            "as many key heads as query heads",
            "Then one head count is as good as the other. Grouped keys have fewer heads.",
            _test_convert_equal_heads,
        ),
        Mistake(
            "one head",
            "A single head cannot be split wrongly. Take 4 heads of queries and 2 of keys.",
            _test_convert_one_head,
        ),
        Mistake(
            "looks at the queries only",
            "Two of the faults are in the keys.",
            _test_convert_queries,
        ),
        Mistake(
            "checks only which rows are there",
            "All rows are there in every version, and shapes fit. What matters is their order.",
            _test_convert_rows_kept,
        ),
    ),
)

# 12.5 a slope ---------------------------------------------------------------------------------


def _check_weights(weights, slopes, here, keys, dtype=torch.float32):
    """Queries and keys of zeros: what is left is the softmax of the bias alone."""
    q = torch.zeros(1, len(slopes), 1, 4, dtype=dtype)
    k = torch.zeros(1, len(slopes), len(keys), 4, dtype=dtype)
    got = weights(q, k, torch.tensor([here]), keys)[0, :, 0].float()
    expected = (-torch.tensor(slopes)[:, None] * (here - keys)).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=0.02)


def _test_weights_decoding(weights):
    _check_weights(weights, [1 / 16, 1 / 256, 1 / 4], 9, torch.tensor([0, 2, 5, 8, 9]))


def _test_weights(weights):
    _test_weights_decoding(weights)
    _check_weights(weights, [1 / 16, 1 / 256, 1 / 4], 2999, torch.arange(3000), torch.bfloat16)


def _test_weights_two_heads(weights):
    _check_weights(weights, [1 / 16, 1 / 256], 9, torch.tensor([0, 2, 5, 8, 9]))


def _test_weights_sum(weights):
    q, here = torch.ones(1, 3, 6, 4), torch.arange(6)
    assert torch.allclose(weights(q, q, here, here).sum(dim=-1), torch.tensor(1.0), atol=0.02)


def _test_weights_square(weights):
    q, here = torch.zeros(1, 3, 6, 4), torch.arange(6)
    got = weights(q, q, here, here)[0, :, -1]
    slopes = torch.tensor([1 / 16, 1 / 256, 1 / 4])[:, None]
    assert torch.allclose(got, (slopes * here).softmax(dim=-1), atol=0.02)


SLOPE = Exercise(
    slug="museum-slope",
    title="Fifth room: a slope",
    kind="test",
    minutes=20,
    points=5,
    name="test_weights",
    reference=_test_weights,
    forbidden=("ALiBi", "alibi_slopes"),
    versions=(
        Version("slope times distance, in float32", True, exhibits.alibi_weights),
        Version(
            "slope times distance, in the dtype of q",
            True,
            exhibits.alibi_distance_in_dtype,
            "Near keys have small distances, which bfloat16 holds well enough. Allow a difference "
            "of 0.02 or so between weights.",
        ),
        Version(
            "slope times the key's position, in float32",
            True,
            exhibits.alibi_absolute_in_float32,
            "Adding the same number to all scores of a query changes no weight, so slope * j does "
            "what -slope * (i - j) does, while the precision lasts. Compare weights only.",
        ),
        Version("in loops", True, exhibits.alibi_in_loops),
        Version(
            "slopes right for powers of two only",
            False,
            exhibits.alibi_powers_of_two,
            "2^(-8h/n) is the rule where n is a power of two. For 3 heads the released code has "
            "1/16, 1/256 and 1/4: weights trained with those meet other slopes. Use 3, 6 or 12 "
            "heads.",
        ),
        Version(
            "slope times the key's position, in the dtype of q",
            False,
            exhibits.alibi_absolute_in_dtype,
            "slope * j grows with the text, and beyond 128 bfloat16 knows whole numbers only: keys "
            "that differ in distance get one bias. Ask in bfloat16, with 3000 keys.",
        ),
        Version(
            "the bias added after the softmax",
            False,
            exhibits.alibi_after_softmax,
            "These are no weights: they do not add up to 1, most are below 0. Causal masks and "
            "shapes are right. Look at the numbers.",
        ),
        Version(
            "the bias added before the division",
            False,
            exhibits.alibi_before_division,
            "The bias is divided by sqrt(head_dim) with the scores: every slope is too flat. With "
            "head_dim = 1 it cannot show. Compare weights with the softmax of the bias alone, for "
            "queries of zeros.",
        ),
        Version(
            "distances between rows and columns",
            False,
            exhibits.alibi_row_numbers,
            "The first row is taken for position 0. A whole prompt comes out right; one query "
            "after 3000 keys sees the oldest key as the nearest. Ask with one query and many keys, "
            "or with gaps.",
        ),
    ),
    hints=(
        "Queries of zeros make all scores 0: what is left is the softmax of the bias. For one "
        "query at position i that is softmax(-slope * (i - j)) over the keys it may see.",
        "What hides faults: 2, 4 or 8 heads; a query for each key; float32; short texts. The "
        "slopes of 3 heads are 1/16, 1/256, 1/4.",
        "Families, in order: slopes, one of bfloat16, the bias in the wrong place (two of them), "
        "row numbers for positions. One call with a single query at position 9 and keys at 0, 2, "
        "5, 8, 9 in float32, and one with 3000 keys in bfloat16 can catch them all.",
    ),
    mistakes=(
        Mistake(
            "only a power of two heads",
            "Half of the rule for the slopes is about other numbers of heads.",
            _test_weights_two_heads,
        ),
        Mistake(
            "only short texts, or only float32",
            "Rounding shows where numbers are large: thousands of keys, in bfloat16.",
            _test_weights_decoding,
        ),
        Mistake(
            "checks only that weights add up to 1",
            "A softmax adds up to 1 whatever goes in. Compare the weights themselves.",
            _test_weights_sum,
        ),
        Mistake(
            "only as many queries as keys",
            "Then rows are positions. In decoding there is one query, and it stands at the end.",
            _test_weights_square,
        ),
    ),
)

# 12.6 buckets ---------------------------------------------------------------------------------

ROWS = torch.arange(32.0)[:, None] * torch.tensor([1.0, 10.0])
"""A table that says which bucket was used, for two heads."""


def _read(bias, q: list[int], k: list[int]) -> Tensor:
    got = bias(ROWS, torch.tensor(q), torch.tensor(k))
    assert torch.allclose(10 * got[0], got[1])
    return got[0].int()


def _test_bias_in_order(bias):
    rows = [[0, 17, 18, 19], [1, 0, 17, 18], [2, 1, 0, 17], [3, 2, 1, 0]]
    assert _read(bias, [0, 1, 2, 3], [0, 1, 2, 3]).tolist() == rows


def _test_bias(bias):
    _test_bias_in_order(bias)
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


def _test_bias_lower(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert got.tril().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


def _test_bias_near(bias):
    _test_bias_in_order(bias)
    assert _read(bias, [50], [47, 51]).tolist() == [[3, 17]]


def _test_bias_size(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert (got % 16).tolist() == [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]


BUCKETS = Exercise(
    slug="museum-buckets",
    title="Sixth room: buckets, before and behind",
    kind="test",
    minutes=15,
    points=4,
    name="test_bias",
    reference=_test_bias,
    forbidden=("T5Bias", "t5_bucket"),
    versions=(
        Version("a row for every pair of positions", True, exhibits.t5_bias),
        Version("one number at a time", True, exhibits.t5_one_by_one),
        Version("one row for each distance, unfolded", True, exhibits.t5_unfolded),
        Version(
            "sign flipped",
            False,
            exhibits.t5_sign_flipped,
            "Keys behind the query get the rows meant for keys ahead. T5's own code subtracts the "
            "query from the key and this course the key from the query: one minus is lost easily. "
            "A table whose two halves are alike hides it. Check a key before its query.",
        ),
        Version(
            "a shift that is good below the diagonal only",
            False,
            exhibits.t5_shifted,
            "The shift trick gives each row the distances n - 1, ..., 0. Above the diagonal there "
            "is nothing left, and what stands there belongs to the next row. A causal mask covers "
            "it; this model sees ahead. Check keys that come after their query, for positions 0, "
            "1, 2, ...",
        ),
        Version(
            "distances between rows and columns",
            False,
            exhibits.t5_row_numbers,
            "`positions` are not used. Any text from position 0 on is right; one query at position "
            "500 is taken for the first. Use positions that do not begin at 0, or a gap.",
        ),
        Version(
            "the last bucket behind is left open",
            False,
            exhibits.t5_open_end,
            "From distance 128 on the bucket's number grows past 15, into the rows for keys ahead: "
            "a long text reads its own past as its future, and nothing raises, since these rows "
            "exist. Check a key far behind, at a distance of 128 or more.",
        ),
    ),
    hints=(
        "Choose a table that tells which row was used: torch.arange(32.0)[:, None] makes the bias "
        "the number of the bucket.",
        "For positions 0 to 3 you can write all sixteen buckets down: 0 on the diagonal, 1, 2, 3 "
        "below it, 17, 18, 19 above it.",
        "Families, in order: sign, the upper triangle, positions that do not begin at 0, and "
        "distances of 128 and more, whose bucket is 15 behind and 31 ahead.",
    ),
    mistakes=(
        Mistake(
            "looks below the diagonal only",
            "The keys after the query are half of what is asked here.",
            _test_bias_lower,
        ),
        Mistake(
            "only a text from position 0 on",
            "There rows are positions, and all distances are small.",
            _test_bias_in_order,
        ),
        Mistake(
            "only near keys",
            "Up to distance 127 the buckets are as they should be. Look further.",
            _test_bias_near,
        ),
        Mistake(
            "forgets which side a key is on",
            "Distance 3 ahead has bucket 19 and distance 3 behind bucket 3: your test must tell "
            "them apart, so its table must too.",
            _test_bias_size,
        ),
    ),
)

# 12.7 a longer reach --------------------------------------------------------------------------


def _check_ends(own: Tensor, stretch: float) -> None:
    ends = exhibits.theta(64)[[0, -1]] / torch.tensor([1, stretch])
    assert torch.allclose(own[[0, -1]].double(), ends, rtol=1e-3)


def _ask_lengths(make, *lengths):
    frequencies = make(64, 10_000.0, 2048)
    for length in lengths:
        _check_ends(frequencies(length), max(1, length / 2048))


def _test_reach(make):
    _ask_lengths(make, 500, 8192, 8192, 500)


def _test_reach_growing(make):
    _ask_lengths(make, 500, 2048, 8192)


def _test_reach_long_only(make):
    _ask_lengths(make, 8192, 8192, 2048)


def _test_reach_each_once(make):
    _ask_lengths(make, 500, 8192, 500)


def _test_reach_fastest(make):
    frequencies = make(64, 10_000.0, 2048)
    assert all(abs(float(frequencies(length)[0]) - 1) < 1e-3 for length in (500, 8192, 500))


REACH = Exercise(
    slug="museum-reach",
    title="Seventh room: a longer reach",
    kind="test",
    minutes=15,
    points=4,
    name="test_reach",
    reference=_test_reach,
    forbidden=("by_parts", "yarn", "llama3", "dynamic_ntk"),
    versions=(
        Version("computes everything anew", True, exhibits.stretching),
        Version("pair by pair", True, exhibits.stretching_pair_by_pair),
        Version("remembers each length", True, exhibits.stretching_remembered),
        Version(
            "never shrinks back",
            False,
            exhibits.stretching_never_back,
            "After one long text all short ones are read with stretched frequencies, until the "
            "server is restarted. Each answer depends on who asked before. Ask for a short length "
            "after a long one.",
        ),
        Version(
            "ramp upside down",
            False,
            exhibits.stretching_upside_down,
            "The fast pairs are slowed, which blurs who stands next to whom, and the slow ones "
            "kept, so they still meet angles that they never saw. Check the fastest pair and the "
            "slowest one.",
        ),
        Version(
            "stretched in place",
            False,
            exhibits.stretching_in_place,
            "Each long text stretches what the one before had stretched already. The first answer "
            "is right. Ask for the same long length twice.",
        ),
        Version(
            "short texts stretched as well",
            False,
            exhibits.stretching_short_texts,
            "For a text shorter than the original length the factor is below 1 and slow pairs "
            "turn faster than in training. Ask for a length well below the original.",
        ),
    ),
    hints=(
        "You need not know the ramp. The fastest pair keeps its frequency, 1; the slowest has "
        "base^(-(dim - 2)/dim) divided by the factor.",
        "Make one function, make(64, 10000.0, 2048), and ask it several times. In what order "
        "would a fault of memory show?",
        "Families, in order: two of memory, one of the ramp's direction, one of short texts. The "
        "lengths 500, 8192, 8192, 500, asked of one function, can catch them all.",
    ),
    mistakes=(
        Mistake(
            "asks once, or only ever for longer texts",
            "What remembers wrongly is right the first time, and while texts grow. Ask the same "
            "function again, for the same length and for a shorter one.",
            _test_reach_growing,
        ),
        Mistake(
            "no text shorter than the original length",
            "Most texts are. Their frequencies must be those of training.",
            _test_reach_long_only,
        ),
        Mistake(
            "asks for a long length once only",
            "The second long text may be stretched twice. Ask for the same long length again.",
            _test_reach_each_once,
        ),
        Mistake(
            "looks at the fastest pair only",
            "A test of the fastest pair alone would let these through: it keeps its frequency in "
            "most versions, right or wrong. Look at the slowest too, and at more than one length.",
            _test_reach_fastest,
        ),
    ),
)

# 12.8 tests -----------------------------------------------------------------------------------


def _wrong_base(positions, dim):
    return exhibits.waves(positions[..., None] * exhibits.theta(dim, 500.0)).float()


def _counting_from_one(positions, dim):
    return exhibits.encoding(positions + 1, dim)


def _half_exponent(positions, dim):
    return exhibits.waves(positions[..., None] * exhibits.theta(dim) ** 0.5).float()


def _fails(test, encoding):
    try:
        test(encoding)
    except AssertionError:
        return True
    return False


def _test_the_test(test):
    test(exhibits.encoding)
    test(exhibits.encoding_in_float32)
    assert _fails(test, _half_exponent), "accepts a wrong exponent"


def _test_that_it_accepts(test):
    test(exhibits.encoding)
    test(exhibits.encoding_in_float32)


def _test_that_it_rejects(test):
    assert _fails(test, _wrong_base)


def _test_with_one_right(test):
    test(exhibits.encoding_in_float32)
    assert _fails(test, _half_exponent)


def _test_with_a_gross_fault(test):
    test(exhibits.encoding)
    test(exhibits.encoding_in_float32)
    assert _fails(test, _counting_from_one)


def _test_never_satisfied(test):
    test(exhibits.encoding)
    assert _fails(test, exhibits.encoding)


NUMBERS = (
    "This test compares numbers at small positions, for dim = 4, 6 or 8. Try it with broken "
    "encodings that are wrong there already, for every dim."
)

TESTS = Exercise(
    slug="museum-tests",
    title="Last room: who tests the tests?",
    kind="test",
    minutes=20,
    points=6,
    name="test_the_test",
    reference=_test_the_test,
    versions=(
        Version("four numbers by hand", True, exhibits.test_by_hand, NUMBERS),
        Version("in loops", True, exhibits.test_in_loops, NUMBERS),
        Version("with complex numbers", True, exhibits.test_with_complex_numbers, NUMBERS),
        Version(
            "compares the encoding with itself",
            False,
            exhibits.test_with_itself,
            "One row at a time against all rows at once, both by the function under test. It "
            "passes for nearly any function. Show it an encoding with wrong frequencies.",
        ),
        Version(
            "a demonstration that ends in a conclusion",
            False,
            exhibits.test_that_concludes,
            "It computes, and then says what it was written to say: no number can make it fail. A "
            "test must raise AssertionError for something: show it a broken encoding.",
        ),
        Version(
            "swallows what it finds",
            False,
            exhibits.test_that_swallows,
            "Its `except Exception` was meant for missing features and catches AssertionError as "
            "well. Show it a broken encoding, and see whether anything arrives.",
        ),
        Version(
            "looks at position 0 only",
            False,
            exhibits.test_first_row,
            "It does reject some broken encodings: one that counts from 1, for example. Show it "
            "one that is right at position 0 and wrong elsewhere.",
        ),
        Version(
            "shares the mistake",
            False,
            exhibits.test_with_shared_mistake,
            "Its own numbers have the exponent i/d. It was written from the code, and so rejects "
            "right encodings. Show it one.",
        ),
        Version(
            "asks for equality to the last bit",
            False,
            exhibits.test_to_the_last_bit,
            "It knows one way to round. Show it two right encodings, one that computes angles in "
            "float32 and one in float64.",
        ),
    ),
    hints=(
        "`test` is a function that you call with an encoding. A good one returns for a right "
        "encoding and raises AssertionError for a wrong one. So you need encodings of both kinds.",
        "Call `test` with a right encoding: if that raises, your own function raises too, as it "
        "should. For a wrong one: try: test(wrong), except AssertionError: return; and after it, "
        "raise AssertionError('accepts a wrong one').",
        "Families, in order: tests that cannot fail (three of them), one whose inputs hide the "
        "fault, one that believes the wrong formula, one too strict. Against the last: two right "
        "encodings, in float32 and float64. Against the fourth: a wrong one that is right at "
        "position 0.",
    ),
    mistakes=(
        Mistake(
            "never shows it a wrong encoding",
            "A test that cannot fail accepts what is right. Show it something broken as well.",
            _test_that_it_accepts,
        ),
        Mistake(
            "never shows it a right encoding",
            "A test that rejects everything finds every bug. Show it something right as well.",
            _test_that_it_rejects,
        ),
        Mistake(
            "one right encoding only",
            "Another right program rounds differently, and a good test accepts that too.",
            _test_with_one_right,
        ),
        Mistake(
            "only a fault that shows at position 0",
            "Choose a wrong encoding that is right at position 0: wrong frequencies, say.",
            _test_with_a_gross_fault,
        ),
        Mistake(
            "rejects every test",
            "No test can both accept and reject one encoding. Use a right one and a wrong one.",
            _test_never_satisfied,
        ),
    ),
)

EXERCISES = (WAVES, TURN, TABLE, CONVERSION, SLOPE, BUCKETS, REACH, TESTS)
