"""The museum: bugs, most of them once published, and a test to be written for each room of them.

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


def _embed_test(positions: list[int], factor: float, in_bfloat16: bool = True):
    def test_embed(embed):
        got = embed(torch.zeros(2, len(positions), 4), torch.tensor(positions), factor)
        expected = _embedded(positions, factor)
        assert torch.allclose(got, expected.expand(2, -1, 4), atol=1e-3)
        if in_bfloat16:
            far = embed(torch.zeros(1, 2, 4, dtype=torch.bfloat16), torch.tensor([256, 257]), 1)
            assert (far[0, 0] - far[0, 1]).abs().max() > 0.1

    return test_embed


@mistake("accepts every version",
         "Nothing was raised for any version. Perhaps both sides of your comparison come from the "
         "function under test, perhaps you look where all versions agree, as at position 0. "
         "Compare with numbers that you know from elsewhere, at other positions.")  # fmt: skip
def _test_embed_with_itself(embed):
    x, positions = torch.zeros(2, 3, 4), torch.tensor([0, 3, 11])
    assert torch.equal(embed(x, positions, 2), embed(x, positions, 2))


@mistake("asks for equality to the last bit",
         "Two right programs round differently: torch.allclose(..., atol=1e-3).")  # fmt: skip
def _test_embed_exactly(embed):
    x, positions = torch.ones(2, 3, 8), torch.tensor([0, 300, 1999])
    assert torch.equal(embed(x, positions, 2), exhibits.embed(x, positions, 2))


WAVES = Exercise(
    slug="museum-waves", title="First room: a table of waves", kind="test", minutes=15, points=5,
    name="test_embed", reference=_embed_test([0, 3, 11], 2), versions=exhibits.WAVES,
    forbidden=("sinusoidal_encoding", "Sinusoidal"),
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
        _test_embed_with_itself,
        Mistake("only position 0 for the values",
                "At position 0 sines are 0 and cosines 1, for any frequency and any factor.",
                _embed_test([0], 1)),
        Mistake("only positions that the factor divides", "Whole numbers are divided without loss "
                "if nothing remains: with factor 1, or with positions that are multiples of it.",
                _embed_test([0, 3, 11], 1)),
        Mistake("no bfloat16, and only positions that the factor divides", "Whole numbers are "
                "divided without loss if nothing remains. And models run in bfloat16: call it with "
                "x in bfloat16, and with odd positions beyond 256.",
                _embed_test([0, 3, 11], 1, in_bfloat16=False)),
        Mistake("no far positions in bfloat16", "Models run in bfloat16. Call it with x in "
                "bfloat16, and with odd positions beyond 256: nearer ones are always right.",
                _embed_test([0, 3, 11], 2, in_bfloat16=False)),
        _test_embed_exactly,
    ),
)  # fmt: skip

# a turn ----------------------------------------------------------------------------------------


def _turn_test(batch: int, heads: int, positions: list, texts: slice = slice(None)):
    """Vectors of ones, turned apart by some distance: their score is the same in every layout."""

    def test_turn(turn):
        at = torch.tensor(positions)
        turned = turn(torch.ones(batch, heads, at.shape[-1], 8), at)
        distance = at[..., :, None] - at[..., None, :]
        angles = distance[..., None] * exhibits.theta(8)
        expected = 2 * angles.cos().sum(dim=-1).float()
        expected = expected if at.ndim == 1 else expected.unsqueeze(1)
        scores, expected = turned @ turned.mT, expected.expand(batch, heads, -1, -1)
        assert torch.allclose(scores[texts], expected[texts], atol=1e-2)

    return test_turn


@mistake("lets every rotation through", "All that it rejects is the version that is no rotation. "
         "Even a turn by wrong angles keeps lengths, and scores that depend on distance alone: "
         "compare scores with what they should be at a known distance, for several heads and "
         "positions with gaps.")  # fmt: skip
def _test_turn_lengths(turn):
    x = torch.ones(2, 2, 3, 8)
    turned = turn(x, torch.tensor([0, 3, 17]))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-3)


@mistake("asks for one layout",
         "This rejects right versions that pair other columns, or put pairs in another order. "
         "Scores are the same in all layouts if the vectors hold the same number "
         "everywhere.")  # fmt: skip
def _test_turn_layout(turn):
    x, positions = torch.arange(16.0).view(1, 1, 2, 8), torch.tensor([3, 20])
    assert torch.allclose(turn(x, positions), exhibits.turn(x, positions), atol=1e-3)


TURN = Exercise(
    slug="museum-turn", title="Second room: a turn", kind="test", minutes=15, points=6,
    name="test_turn", reference=_turn_test(2, 2, [[0, 3, 17], [5, 6, 40]]), versions=exhibits.TURN,
    forbidden=("Rotary", "rotate"),
    hints=(
        "Which columns make a pair is free, so you cannot compare turned vectors with your own. "
        "What is the score of two turned vectors if all their numbers are 1?",
        "A pair of ones turned by a, and another turned by b: their dot product is 2 cos(a - b). "
        "So ones at distance r score 2 * sum over pairs of cos(r * base^(-2i/d)), in any layout.",
        "Families, in order: two layouts mixed, the model's width for the head's (two of them), "
        "one text's positions given to another (two of them), positions not used. So: several "
        "heads, as many texts as heads, positions with gaps that differ from text to text.",
    ),
    mistakes=(
        _test_turn_lengths,
        _test_turn_layout,
        Mistake("one head",
                "With one head the model's width is the head's, and no heads can be mixed up.",
                _turn_test(2, 1, [0, 3, 17])),
        Mistake("the same distances in all texts",
                "Padded and packed batches give each text its own positions, in the shape (batch, "
                "length): give two texts positions with different gaps.",
                _turn_test(2, 3, [0, 3, 17])),
        Mistake("the first text only",
                "One version is right for the first text of a batch and wrong for the others: "
                "compare them, too.",
                _turn_test(2, 2, [[0, 3, 17], [5, 6, 40]], texts=slice(1))),
        Mistake("positions without gaps", "A version that counts for itself agrees with you there. "
                "Use positions with gaps, and in another test one row for each text.",
                _turn_test(2, 3, [0, 1, 2, 3, 4])),
    ),
)  # fmt: skip

# a table with a memory -------------------------------------------------------------------------


def _check_table(table, offset=0, base=exhibits.BASE, dim=8):
    expected = exhibits.cosines(20, offset, base, dim).float()
    assert torch.allclose(table(20, offset=offset, base=base), expected, atol=1e-3)


def _table_test(rough_first: bool = True, converted: bool = True):
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
            _check_table(table, **after)
        if converted:
            _check_table(make(64).to(torch.bfloat16), offset=1000, dim=64)

    return test_table


@mistake("a fresh table for every question", "A fresh table has nothing that it could remember "
         "wrongly. Ask the same table twice.")  # fmt: skip
def _test_fresh_tables(make):
    for base in (500.0, 10_000.0):
        for offset in (0, 7):
            _check_table(make(8), offset, base)


@mistake("accepts every version",
         "Nothing was raised for any version. Two equal questions get equal answers from every "
         "memory, and shapes and dtypes are right in all of them. Ask one table two different "
         "questions, and compare numbers.")  # fmt: skip
def _test_table_twice(make):
    table = make(8)
    assert torch.equal(table(20, offset=3), table(20, offset=3))


@mistake("asks for equality to the last bit",
         "This rejects tables that were computed in float32. Allow a thousandth.")  # fmt: skip
def _test_table_exactly(make):
    for offset in (0, 7):
        expected = exhibits.cosines(20, offset, exhibits.BASE, 8).float()
        assert torch.equal(make(8)(20, offset=offset), expected)


TABLE = Exercise(
    slug="museum-table", title="Third room: a table with a memory", kind="test",
    minutes=20, points=5, name="test_table", reference=_table_test(), versions=exhibits.TABLE,
    forbidden=("rotation_table", "Rotary"),
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
        _test_fresh_tables,
        _test_table_twice,
        Mistake("lets rounded frequencies through",
                "Training and serving convert whole models: model.to(torch.bfloat16). See what "
                "that does to this module, at positions around 1000.",
                _table_test(converted=False)),
        Mistake("lets rounded numbers through", "One version remembers what its first call had "
                "rounded. Ask a new table in bfloat16, then the same table in float32, and allow "
                "little more than 0.001: these numbers are off by less than 0.002.",
                _table_test(rough_first=False)),
        Mistake("lets both faults of bfloat16 through", "Two versions are wrong once bfloat16 "
                "comes in: as the dtype of the first call, or by .to(torch.bfloat16) on the "
                "module.",
                _table_test(rough_first=False, converted=False)),
        _test_table_exactly,
    ),
)  # fmt: skip

# weights from another house --------------------------------------------------------------------


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


@mistake("looks at the queries only", "Your test lets through the two versions whose queries are "
         "right and whose keys are not. Compare both results.")  # fmt: skip
def _test_convert_queries(convert):
    q, _ = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q, _in_halves(4, 8))


@mistake("looks at the keys only", "Your test lets through the version whose keys are right and "
         "whose queries are not. Compare both results.")  # fmt: skip
def _test_convert_keys(convert):
    _, k = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(k, _in_halves(2, 8))


@mistake("lets every order of rows through", "All rows are there in every version, and shapes fit. "
         "What matters is their order.")  # fmt: skip
def _test_convert_rows_kept(convert):
    q, k = convert(_marked(4, 8), _marked(2, 8), 4, 2)
    assert torch.equal(q.sort(dim=0)[0], _marked(4, 8)) and k.shape == (16, 1)


CONVERSION = Exercise(
    slug="museum-weights", title="Fourth room: weights from another house", kind="test",
    minutes=15, points=5,
    name="test_convert", reference=_convert_test(4, 2, 8), versions=exhibits.CONVERSION,
    forbidden=("interleaved_to_half", "half_to_interleaved"),
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
        Mistake("heads of four rows",
                "With four rows the way there and the way back are the same. Take 8.",
                _convert_test(4, 2, 4)),
        Mistake("as many key heads as query heads",
                "Then one head count is as good as the other. Grouped keys have fewer heads.",
                _convert_test(4, 4, 8)),
        Mistake("one head", "A single head cannot be split wrongly. Take 4 heads of queries and 2 "
                "of keys.",
                _convert_test(1, 1, 8)),
        _test_convert_queries,
        _test_convert_keys,
        _test_convert_rows_kept,
    ),
)  # fmt: skip

# a slope ---------------------------------------------------------------------------------------

SLOPES = [1 / 16, 1 / 256, 1 / 4]


def _check_weights(weights, slopes, position, keys, dtype=torch.float32):
    """Queries and keys of zeros: what is left is the softmax of the bias alone."""
    q = torch.zeros(1, len(slopes), 1, 4, dtype=dtype)
    k = torch.zeros(1, len(slopes), len(keys), 4, dtype=dtype)
    got = weights(q, k, torch.tensor([position]), keys)[0, :, 0].float()
    expected = (-torch.tensor(slopes)[:, None] * (position - keys)).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=0.02)


def _decoding_test(slopes: list[float]):
    return lambda weights: _check_weights(weights, slopes, 9, torch.tensor([0, 2, 5, 8, 9]))


def _weights_test(slopes: list[float]):
    def test_weights(weights):
        _decoding_test(slopes)(weights)
        _check_weights(weights, slopes, 2999, torch.arange(3000), torch.bfloat16)

    return test_weights


@mistake("takes any softmax for right", "Your test lets through every version that ends in a "
         "softmax. Their weights add up to 1 whatever goes in: compare the weights with numbers "
         "that you know.")  # fmt: skip
def _test_weights_sum(weights):
    q, positions = torch.ones(1, 3, 6, 4), torch.arange(6)
    sums = weights(q, q, positions, positions).sum(dim=-1)
    assert torch.allclose(sums, torch.tensor(1.0), atol=0.02)


@mistake("only short texts of as many queries as keys", "There row numbers are positions, and half "
         "precision does no harm. In decoding there is one query, and it stands at the end; and "
         "texts have thousands of tokens.")  # fmt: skip
def _test_weights_square(weights):
    q, positions = torch.zeros(1, 3, 6, 4), torch.arange(6)
    got = weights(q, q, positions, positions)[0, :, -1]
    expected = (torch.tensor(SLOPES)[:, None] * positions).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=0.02)


SLOPE = Exercise(
    slug="museum-slope", title="Fifth room: a slope", kind="test", minutes=20, points=5,
    name="test_weights", reference=_weights_test(SLOPES), versions=exhibits.SLOPE,
    forbidden=("ALiBi", "alibi_slopes"),
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
        Mistake("only powers of two heads",
                "Half of the rule for the slopes is about other numbers of heads.",
                _weights_test([2.0**-e for e in (2, 4, 6, 8)])),
        Mistake("only powers of two heads, in short texts or in float32", "Half of the rule for "
                "the slopes is about other numbers of heads. And rounding shows where numbers are "
                "large: thousands of keys, in bfloat16.",
                _decoding_test(SLOPES[:2])),
        Mistake("only short texts, or only float32",
                "Rounding shows where numbers are large: thousands of keys, in bfloat16.",
                _decoding_test(SLOPES)),
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
         "The one that is left goes wrong above the diagonal, where queries and keys are the same "
         "consecutive positions. Ask for a whole text, and look at keys after their "
         "query.")  # fmt: skip
def _test_bias_lower(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert got.tril().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


@mistake("only near keys", "Up to distance 127 the buckets are as they should be. Look further.")
def _test_bias_near(bias):
    _check_four_by_four(bias)
    assert _read(bias, [50], [47, 51]).tolist() == [[3, 17]]


@mistake("forgets which side a key is on", "Distance 3 ahead has bucket 19 and distance 3 behind "
         "bucket 3: your test must tell them apart, so its table must too.")  # fmt: skip
def _test_bias_size(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert (got % 16).tolist() == [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]


BUCKETS = Exercise(
    slug="museum-buckets", title="Sixth room: buckets, before and behind", kind="test",
    minutes=15, points=4, name="test_bias", reference=_test_bias, versions=exhibits.BUCKETS,
    forbidden=("T5Bias", "t5_bucket"),
    hints=(
        "Choose a table that tells which row was used: torch.arange(32.0)[:, None] makes the bias "
        "the number of the bucket.",
        "For positions 0 to 3 you can write all sixteen buckets down: 0 on the diagonal, 1, 2, 3 "
        "below it, 17, 18, 19 above it.",
        "Families, in order: sign, the upper triangle, positions that do not begin at 0, and "
        "distances of 128 and more, whose bucket is 15 behind and 31 ahead.",
    ),
    mistakes=(
        _test_bias_lower,
        Mistake("only a text from position 0 on",
                "There row numbers are positions, and all distances are small.",
                _check_four_by_four),
        _test_bias_near,
        _test_bias_size,
    ),
)  # fmt: skip

# a longer reach --------------------------------------------------------------------------------


def _reach_test(*lengths: int, pairs: tuple[int, ...] = (0, -1)):
    """Asks one function for each length in turn, and compares the fastest and the slowest pair."""

    def test_reach(make):
        frequencies = make(64, 10_000.0, 2048)
        for length in lengths:
            ends = exhibits.theta(64)[[0, -1]] / torch.tensor([1, max(1, length / 2048)])
            got = frequencies(length)[[0, -1]].double()
            assert all(math.isclose(got[end], ends[end], rel_tol=1e-3) for end in pairs)

    return test_reach


REACH = Exercise(
    slug="museum-reach", title="Seventh room: a longer reach", kind="test", minutes=15, points=5,
    name="test_reach", reference=_reach_test(500, 8192, 8192, 500), versions=exhibits.REACH,
    forbidden=("by_parts", "yarn", "llama3", "dynamic_ntk"),
    hints=(
        "You need not know the ramp. The fastest pair keeps its frequency, 1; the slowest has "
        "base^(-(dim - 2)/dim) divided by the factor.",
        "Make one function, make(64, 10000.0, 2048), and ask it several times. In what order "
        "would a fault of memory show?",
        "Families: two of memory, two of the ramp, one of short texts. The lengths 500, 8192, "
        "8192, 500, asked of one function, can catch them all, if you look at the fastest pair "
        "and at the slowest.",
    ),
    mistakes=(
        Mistake("lets both faults of memory through",
                "A version that remembers wrongly is right the first time, and as long as texts "
                "grow. Ask the same function again, for the same length and for a shorter one, and "
                "compare numbers each time.",
                _reach_test(500, 2048, 8192)),
        Mistake("no text shorter than the original length",
                "Most texts are shorter, and their frequencies must be those of training.",
                _reach_test(8192, 8192, 2048)),
        Mistake("asks for a long length once only",
                "The second long text may be stretched twice. Ask for the same long length again.",
                _reach_test(500, 8192, 500)),
        Mistake("the fastest pair alone, or a single long text", "Three versions are left, and "
                "all are wrong in the slow pairs: for a short text, for a long one asked again, or "
                "for a short one after it.",
                _reach_test(500, 8192, 8192, 500, pairs=(0,))),
        Mistake("the slow pairs alone", "One version divides all frequencies by the factor. Its "
                "slow pairs are right: compare the fastest pair in a long text, too.",
                _reach_test(500, 8192, 8192, 500, pairs=(-1,))),
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
        "`test` is a function that you call with an encoding. A good one returns for a right "
        "encoding and raises AssertionError for a wrong one. So you need encodings of both kinds.",
        "Call `test` with a right encoding: if that raises, your own function raises too, as it "
        "should. For a wrong one: try: test(wrong), except AssertionError: return; and after it, "
        "raise AssertionError('accepts a wrong one').",
        "Families, in order: tests that cannot fail (three of them), one whose inputs hide the "
        "fault, one that believes the wrong formula, two too strict. Against the last two: two "
        "right encodings, in float32 and float64. Against the fourth: a wrong one that is right at "
        "position 0.",
    ),
    mistakes=(
        Mistake("no wrong encoding has to fail", "Your function takes a test that cannot fail, "
                "since that one also accepts what is right. Show it something broken as well, and "
                "raise if it is accepted: after the `try`, for inside it is caught.",
                _shows(IN_FLOAT64, IN_FLOAT32)),
        Mistake("never insists on a right encoding", "Your function takes tests that reject right "
                "encodings. Show each test a right one, too, and let its AssertionError through.",
                _shows(wrong=_wrong_base)),
        Mistake("no right encoding but that with angles in float32",
                "Another right program rounds differently, and a good test accepts that too.",
                _shows(IN_FLOAT32, wrong=_half_exponent)),
        Mistake("no right encoding with angles in float32",
                "Angles in float32 round differently, and a good test accepts them, too.",
                _shows(IN_FLOAT64, wrong=_half_exponent)),
        Mistake("only a fault that shows at position 0",
                "Choose a wrong encoding that is right at position 0: wrong frequencies, say.",
                _shows(IN_FLOAT64, IN_FLOAT32, wrong=_counting_from_one)),
        Mistake("rejects every test", "Good tests are rejected, too. A good one returns for a "
                "right encoding and raises AssertionError for a wrong one of the same shape: see "
                "what your function does after each.",
                _shows(IN_FLOAT64, wrong=IN_FLOAT64)),
    ),
)  # fmt: skip

EXERCISES = (WAVES, TURN, TABLE, CONVERSION, SLOPE, BUCKETS, REACH, TESTS)
