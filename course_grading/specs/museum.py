"""The museum: wrong versions of eight functions, and a test to be written for each room of them.

The exhibits themselves hang in `exhibits`. One point for each exhibit that a test catches.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Exercise, Mistake, mistake
from course_grading.specs import exhibits

# a table of waves ------------------------------------------------------------------------------


def _embedded(positions: list[int], factor: float) -> Tensor:
    """What is added for dim = 4, number by number."""
    rows = [[f(p / factor / s) for s in (1, 100) for f in (math.sin, math.cos)] for p in positions]
    return torch.tensor(rows)


NEAR, FAR = [0, 3, 11], [0, 3, 11, 1500]
MORE_THAN_PROMISED = "asks for more than the task promises"


def _embed_test(positions: list[int], factor: float = 2, in_bfloat16: bool = True, off=1e-3):
    """Asks with factor 1 and with `factor`, and in bfloat16 at 256 and 257."""

    def test_embed(embed):
        for divided_by in (1, factor):
            got = embed(torch.zeros(2, len(positions), 4), torch.tensor(positions), divided_by)
            expected = _embedded(positions, divided_by)
            assert torch.allclose(got, expected.expand(2, -1, 4), atol=off)
        if in_bfloat16:
            far = embed(torch.zeros(1, 2, 4, dtype=torch.bfloat16), torch.tensor([256, 257]), 1)
            assert (far[0, 0] - far[0, 1]).abs().max() > 0.1

    return test_embed


@mistake("accepts every version",
         "Nothing was raised for any version. Perhaps both sides of your comparison come from the "
         "function under test, or you look where all versions agree, as at position 0. Compare "
         "with numbers that you know from elsewhere, at other positions.")  # fmt: skip
def _test_embed_with_itself(embed):
    x, positions = torch.zeros(2, 3, 4), torch.tensor([0, 3, 11])
    assert torch.equal(embed(x, positions, 2), embed(x, positions, 2))


@mistake("asks for equality to the last bit", "Right programs round differently. Allow what the "
         "task allows: torch.allclose(..., atol=1e-3) in float32.")  # fmt: skip
def _test_embed_exactly(embed):
    x, positions = torch.ones(2, 3, 8), torch.tensor([0, 300, 1999])
    assert torch.equal(embed(x, positions, 2), exhibits.embed(x, positions, 2))


WAVES = Exercise(
    slug="museum-waves", title="First room: a table of waves", kind="test", minutes=15, points=6,
    name="test_embed", reference=_embed_test(FAR), versions=exhibits.WAVES,
    forbidden=("sinusoidal_encoding", "Sinusoidal"),
    hints=(
        "Write down numbers that you know. With dim = 4 the two frequencies are 1 and 0.01, so the "
        "row of position 3 is sin 3, cos 3, sin 0.03, cos 0.03.",
        "Some inputs hide faults: position 0, positions below 1024, a single text, a single token, "
        "factor 1, float32. Ask with something else in place of each of them.",
        "The wrong versions, in order: two have other frequencies, one takes the number of the "
        "text for the position, one divides whole numbers, one rounds positions to bfloat16, and "
        "one has no row beyond 1023. So ask for several texts, in float32 and in bfloat16, with "
        "factors 1 and 2, at positions such as 0, 3, 11, 257 and 1500.",
    ),
    mistakes=(
        _test_embed_with_itself,
        Mistake("only position 0 for the values", "Whoever is right at position 0 passes this. "
                "There sines are 0 and cosines 1, for any frequency and any factor.",
                _embed_test([0])),
        Mistake("never whole numbers with a remainder", "Dividing whole numbers loses nothing "
                "where the factor divides them: ask for positions that it does not divide.",
                _embed_test(FAR, 1)),
        Mistake("no position beyond 1023", "Divided by its factor, no position of your test is "
                "above 1023. The version that is left has 1024 rows, and reads the last one for "
                "all later positions. Ask for 1500, say, with factor 1.",
                _embed_test(NEAR)),
        Mistake("no odd position beyond 256 in bfloat16", "Models run in bfloat16. Call it with x "
                "in bfloat16, and with odd positions beyond 256: with factor 1, all positions up "
                "to 256 are right.",
                _embed_test(FAR, in_bfloat16=False)),
        Mistake("near positions, or float32 alone", "Two versions are left. One is wrong in "
                "bfloat16 at odd positions beyond 256, the other one beyond position 1023.",
                _embed_test(NEAR, in_bfloat16=False)),
        _test_embed_exactly,
        *(Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and right ones as "
                  "well that are off by more than it allows. In float32 the task promises 0.001.",
                  _embed_test(FAR, off=off)) for off in (1e-4, 1e-6)),
    ),
)  # fmt: skip

# a turn ----------------------------------------------------------------------------------------


def _turn_test(batch: int, heads: int, positions: list, texts: slice = slice(None), off=1e-2):
    """Vectors of ones, turned apart by some distance: their score is the same in every layout."""

    def test_turn(turn):
        at = torch.tensor(positions)
        turned = turn(torch.ones(batch, heads, at.shape[-1], 8), at)
        distance = at[..., :, None] - at[..., None, :]
        angles = distance[..., None] * exhibits.theta(8)
        expected = 2 * angles.cos().sum(dim=-1).float()
        expected = expected if at.ndim == 1 else expected.unsqueeze(1)
        scores, expected = turned @ turned.mT, expected.expand(batch, heads, -1, -1)
        assert torch.allclose(scores[texts], expected[texts], atol=off)

    return test_turn


@mistake("lets every rotation through",
         "The only version that it rejects is the one that is no rotation. A turn by wrong angles "
         "keeps lengths, too, and its scores depend on distance alone. Compare scores with what "
         "they should be at a known distance, for several heads, and for positions with "
         "gaps.")  # fmt: skip
def _test_turn_lengths(turn):
    x = torch.ones(2, 2, 3, 8)
    turned = turn(x, torch.tensor([0, 3, 17]))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-3)


@mistake("asks for one layout",
         "It rejects right versions that pair other columns, or that put pairs in another order. "
         "If all numbers of the vectors are the same, scores are the same in every "
         "layout.")  # fmt: skip
def _test_turn_layout(turn):
    x, positions = torch.arange(16.0).view(1, 1, 2, 8), torch.tensor([3, 20])
    assert torch.allclose(turn(x, positions), exhibits.turn(x, positions), atol=1e-3)


TURN = Exercise(
    slug="museum-turn", title="Second room: a turn", kind="test", minutes=15, points=6,
    name="test_turn", reference=_turn_test(2, 2, [[0, 3, 17], [5, 6, 40]]), versions=exhibits.TURN,
    forbidden=("Rotary", "rotate"),
    hints=(
        "Which columns make a pair is left open, so you cannot compare turned vectors with your "
        "own. What is the dot product of two vectors of ones after their turns?",
        "Turn one pair of ones by a, and another pair of ones by b: their dot product is "
        "2 cos(a - b). So two vectors of ones at distance r have the dot product 2 * sum over "
        "pairs of cos(r * base^(-2i/d)), in any layout.",
        "The wrong versions, in order: one mixes two layouts, two take the width of the model for "
        "the width of a head, two give a text the positions of another text, and one does not use "
        "positions. So ask with several heads, with as many texts as heads, and with positions "
        "whose gaps differ from text to text.",
    ),
    mistakes=(
        _test_turn_lengths,
        _test_turn_layout,
        Mistake("one head",
                "With one head the width of the model is the width of the head, and no heads can "
                "be mixed up.",
                _turn_test(2, 1, [0, 3, 17])),
        Mistake("the same distances in all texts",
                "In padded and packed batches each text has its own positions, in the shape "
                "(batch, length): give two texts positions with different gaps.",
                _turn_test(2, 3, [0, 3, 17])),
        Mistake("the first text only",
                "The version that is left is right for the first text of a batch, and wrong for "
                "the other texts: compare these, too.",
                _turn_test(2, 2, [[0, 3, 17], [5, 6, 40]], texts=slice(1))),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The numbers of a vector of length 1 are "
                "right to 0.001: in scores of vectors of eight ones allow 0.01 or more.",
                _turn_test(2, 2, [[0, 3, 17], [5, 6, 40]], off=1e-4)),
        Mistake("positions without gaps", "A version that counts by itself is right there. Use "
                "positions with gaps, and one row of positions for each text.",
                _turn_test(2, 3, [0, 1, 2, 3, 4])),
    ),
)  # fmt: skip

# a table with a memory -------------------------------------------------------------------------


def _check_table(table, offset=0, base=exhibits.BASE, dim=8, off=1e-3):
    expected = exhibits.cosines(20, offset, base, dim).float()
    assert torch.allclose(table(20, offset=offset, base=base), expected, atol=off)


def _table_test(rough_first: bool = True, converted: bool = True, off: float = 1e-3):
    """Asks tables twice, with one change, and one that was converted as a module."""
    changes: list[tuple[dict, dict]] = [
        ({}, {"base": 500.0}),
        ({}, {"offset": 7}),
        ({"offset": 7}, {}),
    ]
    changes += [({"dtype": torch.bfloat16}, {})] * rough_first

    def test_table(make):
        for before, after in changes:
            table = make(8)
            table(20, **before)
            _check_table(table, **after, off=off)
        if converted:
            _check_table(make(64).to(torch.bfloat16), offset=1000, dim=64, off=off)

    return test_table


@mistake("a fresh table for every question", "A fresh table remembers nothing, so it cannot "
         "remember wrongly. Ask the same table twice.")  # fmt: skip
def _test_fresh_tables(make):
    for base in (500.0, 10_000.0):
        for offset in (0, 7):
            _check_table(make(8), offset, base)


@mistake("accepts every version",
         "Nothing was raised for any version. Every version gives equal answers to two equal "
         "questions, and right shapes and dtypes. Ask one table two different questions, and "
         "compare numbers.")  # fmt: skip
def _test_table_twice(make):
    table = make(8)
    assert torch.equal(table(20, offset=3), table(20, offset=3))


@mistake(
    "asks for equality to the last bit",
    "It rejects tables that were computed in float32. Allow a difference of 0.001.",
)
def _test_table_exactly(make):
    for offset in (0, 7):
        expected = exhibits.cosines(20, offset, exhibits.BASE, 8).float()
        assert torch.equal(make(8)(20, offset=offset), expected)


TABLE = Exercise(
    slug="museum-table", title="Third room: a table with a memory", kind="test",
    minutes=20, points=5, name="test_table", reference=_table_test(), versions=exhibits.TABLE,
    forbidden=("rotation_table", "Rotary"),
    hints=(
        "A fault of memory shows in the second call, not in the first. Make one table, and ask it "
        "something. Then ask the same table something else, and compare the second answer with "
        "numbers of your own.",
        "Between the two calls change one thing at a time: the base, the offset (both ways), the "
        "dtype. And once convert the module itself: make(64).to(torch.bfloat16).",
        "The wrong versions, in order: one forgets the base, two forget the offset, one forgets "
        "the dtype, and one has frequencies that are rounded together with the weights of the "
        "model. To catch the last one, convert a table to bfloat16, and ask it for rows from "
        "offset 1000 on, in float32.",
    ),
    mistakes=(
        _test_fresh_tables,
        _test_table_twice,
        Mistake("lets rounded frequencies through",
                "Programs convert whole models: model.to(torch.bfloat16). Convert this module, and "
                "look at positions around 1000.",
                _table_test(converted=False)),
        Mistake("lets rounded numbers through", "One version remembers what its first call had "
                "rounded. Ask a new table in bfloat16, then the same table in float32, and allow "
                "no more than 0.001: these numbers are off by less than 0.002.",
                _table_test(rough_first=False)),
        Mistake("lets both faults of bfloat16 through", "One of the two versions that are left is "
                "wrong after a first call in bfloat16, the other one after .to(torch.bfloat16) on "
                "the module.",
                _table_test(rough_first=False, converted=False)),
        _test_table_exactly,
        *(Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and right ones as "
                  "well that are off by more than it allows. In float32 the task promises 0.001.",
                  _table_test(off=off)) for off in (2e-4, 1e-7)),
    ),
)  # fmt: skip

# weights from another program ------------------------------------------------------------------


def _marked(heads: int, width: int) -> Tensor:
    """Rows that carry their own number."""
    return torch.arange(heads * width).float()[:, None]


def _in_halves(heads: int, width: int) -> Tensor:
    order = [*range(0, width, 2), *range(1, width, 2)]
    return torch.tensor([[float(h * width + row)] for h in range(heads) for row in order])


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


CONVERSION = Exercise(
    slug="museum-weights", title="Fourth room: weights from another program", kind="test",
    minutes=15, points=5,
    name="test_convert", reference=_convert_test(4, 2, 8), versions=exhibits.CONVERSION,
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

# a slope ---------------------------------------------------------------------------------------

SLOPES = [1 / 16, 1 / 256, 1 / 4]


def _check_weights(weights, slopes, position, keys, dtype=torch.float32, compared=None, off=0.02):
    """Queries and keys of zeros: what is left is the softmax of the bias alone."""
    q = torch.zeros(1, len(slopes), 1, 4, dtype=dtype)
    k = torch.zeros(1, len(slopes), len(keys), 4, dtype=dtype)
    got = weights(q, k, torch.tensor([position]), keys)[0, :compared, 0].float()
    expected = (-torch.tensor(slopes)[:compared, None] * (position - keys)).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=off)


def _decoding_test(slopes: list[float], compared: int | None = None, off: float = 0.02):
    few = torch.tensor([0, 2, 5, 8, 9])
    return lambda weights: _check_weights(weights, slopes, 9, few, compared=compared, off=off)


def _weights_test(slopes: list[float], compared: int | None = None, off: float = 0.02):
    def test_weights(weights):
        _decoding_test(slopes, compared, off)(weights)
        _check_weights(weights, slopes, 2999, torch.arange(3000), torch.bfloat16, compared)

    return test_weights


@mistake("takes any softmax for right", "It accepts every version that ends in a softmax. Such "
         "weights add up to 1 whatever goes in: compare the weights with numbers that you "
         "know.")  # fmt: skip
def _test_weights_sum(weights):
    q, positions = torch.ones(1, 3, 6, 4), torch.arange(6)
    sums = weights(q, q, positions, positions).sum(dim=-1)
    assert torch.allclose(sums, torch.tensor(1.0), atol=0.02)


@mistake("only short texts of as many queries as keys",
         "In a short text from position 0 on, row numbers are positions, and half precision does "
         "no harm. In decoding there is a single query, which stands at the end, and texts have "
         "thousands of tokens.")  # fmt: skip
def _test_weights_square(weights):
    q, positions = torch.zeros(1, 3, 6, 4), torch.arange(6)
    got = weights(q, q, positions, positions)[0, :, -1]
    expected = (torch.tensor(SLOPES)[:, None] * positions).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=0.02)


SLOPE = Exercise(
    slug="museum-slope", title="Fifth room: a slope", kind="test", minutes=20, points=6,
    name="test_weights", reference=_weights_test(SLOPES), versions=exhibits.SLOPE,
    forbidden=("ALiBi", "alibi_slopes"),
    hints=(
        "Queries of zeros make every q . k zero, so what is left is the softmax of the bias. For a "
        "query at position i these are the weights softmax(-slope * (i - j)) over the keys that it "
        "may see.",
        "Some inputs hide faults: 2, 4 or 8 heads, a query for each key, float32, short texts, and "
        "a look at the first heads alone. The slopes of 3 heads are 1/16, 1/256, 1/4.",
        "The wrong versions, in order: two have wrong slopes (one of them in its last heads only), "
        "one is wrong in bfloat16 only, two add the bias in the wrong place, and one takes row "
        "numbers for positions. Two calls with 3 heads can catch them all: one with a single query "
        "at position 9 and keys at 0, 2, 5, 8, 9 in float32, and one with 3000 keys in bfloat16.",
    ),
    mistakes=(
        Mistake("only powers of two heads",
                "Half of the rule for the slopes is about other numbers of heads.",
                _weights_test([2.0**-e for e in (2, 4, 6, 8)])),
        Mistake("only powers of two heads, in short texts or in float32", "Half of the rule for "
                "the slopes is about other numbers of heads. And rounding shows where numbers are "
                "large: with thousands of keys, in bfloat16.",
                _decoding_test(SLOPES[:2])),
        Mistake("only short texts, or only float32",
                "Rounding shows where numbers are large: with thousands of keys, in bfloat16.",
                _decoding_test(SLOPES)),
        Mistake("the first heads alone", "The version that is left is wrong in the heads that are "
                "filled in, which are the last ones. Compare all heads.",
                _weights_test(SLOPES, compared=2)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises 0.001 in float32, and "
                "0.02 in bfloat16 for queries of zeros.",
                _weights_test(SLOPES, off=1e-5)),
        _test_weights_sum,
        _test_weights_square,
    ),
)  # fmt: skip

# buckets ---------------------------------------------------------------------------------------

ROWS = torch.arange(32.0)[:, None] * torch.tensor([1.0, 10.0])
"""A table that says which bucket was used, for two heads."""


def _read(bias, q: list[int], k: list[int]) -> Tensor:
    got = bias(ROWS, torch.tensor(q), torch.tensor(k))
    assert torch.allclose(10 * got[0], got[1])
    return got[0].int()


def _check_four_by_four(bias):
    rows = [[0, 17, 18, 19], [1, 0, 17, 18], [2, 1, 0, 17], [3, 2, 1, 0]]
    assert _read(bias, [0, 1, 2, 3], [0, 1, 2, 3]).tolist() == rows


def _test_bias(bias):
    _check_four_by_four(bias)
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


@mistake("no later keys in a whole text",
         "The version that is left is wrong above the diagonal, where queries and keys are the "
         "same consecutive positions. Ask for a whole text, and look at keys after their "
         "query.")  # fmt: skip
def _test_bias_lower(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert got.tril().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


@mistake("only near keys", "The version that is left is right up to distance 127. Look further.")
def _test_bias_near(bias):
    _check_four_by_four(bias)
    assert _read(bias, [50], [47, 51]).tolist() == [[3, 17]]


@mistake("forgets which side a key is on", "A key 3 ahead has row 19, one 3 behind has row 3. The "
         "numbers in your table must tell these rows apart.")  # fmt: skip
def _test_bias_size(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert (got % 16).tolist() == [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]


BUCKETS = Exercise(
    slug="museum-buckets", title="Sixth room: buckets, before and behind", kind="test",
    minutes=15, points=4, name="test_bias", reference=_test_bias, versions=exhibits.BUCKETS,
    forbidden=("T5Bias", "t5_bucket"),
    hints=(
        "Choose a table that says which row was used: with torch.arange(32.0)[:, None] the bias is "
        "the number of the row.",
        "For positions 0 to 3 you can write down all sixteen rows: 0 on the diagonal, 1, 2, 3 "
        "below it, and 17, 18, 19 above it.",
        "The wrong versions, in order: one has the sign flipped, one is wrong above the diagonal "
        "of a whole text, one does not use positions, and one is wrong where a key is 128 or more "
        "behind its query, whose row should be 15.",
    ),
    mistakes=(
        _test_bias_lower,
        Mistake("only a short text from position 0 on",
                "In such a text row numbers are positions, and all distances are small.",
                _check_four_by_four),
        _test_bias_near,
        _test_bias_size,
    ),
)  # fmt: skip

# a longer reach --------------------------------------------------------------------------------


def _reach_test(*lengths: int, pairs: slice | list[int] = slice(None), share: float = 1e-3):
    """Asks one function for each length in turn, and compares these pairs."""

    def test_reach(make):
        frequencies, trained = make(64, 10_000.0, 2048), exhibits.theta(64)
        for length in lengths:
            expected = exhibits.by_parts(trained, 2048, max(1, length / 2048))
            got = frequencies(length).double()
            assert torch.allclose(got[pairs], expected[pairs], rtol=share, atol=0)

    return test_reach


IN_TURN = (500, 8192, 8192, 500)

REACH = Exercise(
    slug="museum-reach", title="Seventh room: a longer reach", kind="test", minutes=15, points=6,
    name="test_reach", reference=_reach_test(*IN_TURN), versions=exhibits.REACH,
    forbidden=("by_parts", "yarn", "llama3", "dynamic_ntk"),
    hints=(
        "Write the rule for all 32 pairs of a head of 64 at once: theta, the turns, the share "
        "that is kept, and from these the frequencies.",
        "Make one function, make(64, 10000.0, 2048), and ask it several times. In which order of "
        "lengths would a fault of memory show?",
        "The wrong versions: two remember a long text, three are wrong in some pairs of a long "
        "text, and one is wrong in short texts. Ask one function for the lengths 500, 8192, 8192 "
        "and 500, and compare all pairs each time.",
    ),
    mistakes=(
        Mistake("lets both faults of memory through",
                "The two versions that are left are right the first time, and as long as texts "
                "grow. Ask the same function again, for the same length and for a shorter one, and "
                "compare all pairs each time.",
                _reach_test(500, 2048, 8192)),
        Mistake("no text shorter than the original length",
                "The version that is left is wrong in short texts, whose frequencies must be those "
                "of training.",
                _reach_test(8192, 8192, 2048)),
        Mistake("asks for a long length once only",
                "The second long text may be stretched twice. Ask for the same long length again.",
                _reach_test(500, 8192, 500)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises each frequency to one "
                "part in a thousand of itself.",
                _reach_test(*IN_TURN, share=1e-4)),
        Mistake("the two ends alone", "The version that is left is right in all pairs that are "
                "kept whole or divided by s. Compare the pairs between them, too.",
                _reach_test(*IN_TURN, pairs=[0, -1])),
        Mistake("the fastest pair alone", "It is right in most wrong versions. Compare all pairs.",
                _reach_test(*IN_TURN, pairs=[0])),
        Mistake("the slow pairs alone", "The two versions that are left are right there. Compare "
                "the fast pairs and those in the middle, too, in a long text.",
                _reach_test(*IN_TURN, pairs=[-1])),
    ),
)  # fmt: skip

# tests -----------------------------------------------------------------------------------------


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


def _shows(*right, wrong=None):
    """A test of tests that shows them these encodings."""

    def test_the_test(test):
        for encoding in right:
            test(encoding)
        assert wrong is None or _fails(test, wrong)

    return test_the_test


IN_FLOAT64, IN_FLOAT32 = exhibits.encoding, exhibits.encoding_in_float32


def _test_the_test(test):
    _shows(IN_FLOAT64, IN_FLOAT32)(test)
    assert _fails(test, _half_exponent), "accepts a wrong exponent"


TESTS = Exercise(
    slug="museum-tests", title="Last room: who tests the tests?", kind="test", minutes=20, points=7,
    name="test_the_test", reference=_test_the_test, versions=exhibits.TESTS,
    hints=(
        "`test` is a function that you call with an encoding. A good test returns for a right "
        "encoding, and raises AssertionError for a wrong encoding. So you need encodings of both "
        "kinds.",
        "Call `test` with a right encoding: if `test` raises, your own function raises too, as it "
        "should. For a wrong encoding write: try: test(wrong), except AssertionError: return. "
        "After these lines, raise AssertionError('accepts a wrong one').",
        "The wrong tests, in order: three cannot fail, one looks where the fault is hidden, one "
        "expects the wrong formula, and two are too strict. Against the last two, show two right "
        "encodings, in float32 and in float64. Against the fourth, show a wrong encoding that is "
        "right at position 0.",
    ),
    mistakes=(
        Mistake("no wrong encoding has to fail", "Your function accepts tests that cannot fail, "
                "because they accept what is right. Show each test a broken encoding as well, and "
                "raise if the test accepts it. Raise after the `try`: inside it would be caught.",
                _shows(IN_FLOAT64, IN_FLOAT32)),
        Mistake("never insists on a right encoding", "Your function accepts tests that reject "
                "right encodings. Show each test a right one, too, and let its AssertionError "
                "through.",
                _shows(wrong=_wrong_base)),
        Mistake("no right encoding but that with angles in float32",
                "Another right program rounds differently, and a good test accepts it as well.",
                _shows(IN_FLOAT32, wrong=_half_exponent)),
        Mistake("no right encoding with angles in float32",
                "Angles in float32 round differently, and a good test accepts them as well.",
                _shows(IN_FLOAT64, wrong=_half_exponent)),
        Mistake("only a fault that shows at position 0",
                "Show a wrong encoding that is right at position 0, such as one with wrong "
                "frequencies.",
                _shows(IN_FLOAT64, IN_FLOAT32, wrong=_counting_from_one)),
        Mistake("rejects every test", "Good tests are rejected, too. Either an encoding that you "
                "call right is wrong, or one that you call wrong is right at small positions, or "
                "your function asks for more than this: a good test returns for a right encoding, "
                "and raises AssertionError for a wrong one of the same shape.",
                _shows(IN_FLOAT64, wrong=IN_FLOAT64)),
    ),
)  # fmt: skip

EXERCISES = (WAVES, TURN, TABLE, CONVERSION, SLOPE, BUCKETS, REACH, TESTS)
