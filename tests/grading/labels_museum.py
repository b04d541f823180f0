"""What the museum's labels say, run as tests: where each bug hides, and where it shows.

For each exhibit, by its name: a test on the inputs that hide the bug, which the exhibit passes, and
a test on the inputs that show it, which the exhibit fails. Right versions pass all of them.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from course_lib.encodings import (
    alibi_slopes,
    by_parts,
    interleaved_to_half,
    longrope,
    rotary_frequencies,
    rotate,
    rotation_table,
    sinusoidal_encoding,
    t5_bucket,
)

HALF = torch.bfloat16
Test = Callable[[Any], None]


class Label(NamedTuple):
    """The label's own recipe."""

    lesson: str
    hides: Test
    shows: Test


# embed(x, positions, factor)


def embed_at(positions, factor=1, texts=2, dim=64, dtype=torch.float32, columns=slice(None)):
    def test(embed):
        at = torch.tensor(positions)
        angles = (at.double() / factor)[:, None] * rotary_frequencies(dim)
        expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        got = embed(torch.zeros(texts, len(positions), dim, dtype=dtype), at, factor)
        off = (got.double() - expected)[..., columns].abs().max()
        assert off < (0.02 if dtype == HALF else 1e-3)

    return test


def second_column_by_hand(embed):
    got = embed(torch.zeros(1, 1, 512), torch.tensor([1]), 1)[0, 0, 1]
    assert abs(got - math.cos(1)) < 1e-3, f"{got:.3f}"


def slowest_wave_by_hand(embed):
    """The last sine at position 100 is 0.0104; it is a hundred times as much in the exhibit."""
    got = embed(torch.zeros(1, 1, 512), torch.tensor([100]), 1)[0, 0, -2]
    assert abs(got - 100 * 10_000 ** (-510 / 512)) < 1e-3, f"{got:.3f}"


def two_positions_differ(first, second, factor=1, dtype=torch.float32):
    def test(embed):
        rows = embed(torch.zeros(1, 2, 8, dtype=dtype), torch.tensor([first, second]), factor)[0]
        assert (rows[0] - rows[1]).abs().max() > 0.1

    return test


WAVES = {
    "the column's own number in the exponent": Label(
        "02", embed_at([0], dim=512), second_column_by_hand),
    "exponent i/d instead of 2i/d": Label(
        "02", embed_at([0, 3, 500], dim=512, columns=slice(2)), slowest_wave_by_hand),
    "the number of the text used as position": Label(
        "01", embed_at([7], texts=1), embed_at([7, 8], texts=1)),
    "whole numbers scaled in place": Label(
        "13", lambda embed: [embed_at([2, 3], 1)(embed), embed_at([2, 4], 2)(embed)],
        two_positions_differ(2, 3, factor=2)),
    "positions in the model's dtype": Label(
        "10", lambda embed: [embed_at([257, 999])(embed), embed_at(range(257), dtype=HALF)(embed),
                             embed_at(range(256, 513, 2), dtype=HALF)(embed)],
        two_positions_differ(256, 257, dtype=HALF)),
    "beyond row 1023 the last row": Label(
        "04", embed_at(range(1024)), two_positions_differ(1023, 1500)),
}  # fmt: skip

# turn(x, positions)


def scores_at(positions, heads=2, texts=2, compared=(slice(None), slice(None))):
    def test(turn):
        at = torch.tensor(positions)
        turned = turn(torch.ones(texts, heads, at.shape[-1], 8), at)
        apart = (at[..., :, None] - at[..., None, :]).reshape(-1, 1, *[at.shape[-1]] * 2)
        expected = 2 * (apart[..., None] * rotary_frequencies(8)).cos().sum(dim=-1).float()
        scores = turned @ turned.mT
        assert torch.allclose(scores[compared], expected.expand_as(scores)[compared], atol=1e-2)

    return test


def nothing_turns_at_0(turn):
    x = torch.randn(2, 2, 1, 8, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(turn(x, torch.tensor([0])), x, atol=1e-3)


def lengths_stay(turn):
    x = torch.randn(2, 2, 3, 8, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(turn(x, torch.tensor([1, 3, 17])).norm(dim=-1), x.norm(dim=-1), atol=1e-3)


def distance_alone(turn):
    here, there = (turn(torch.ones(1, 4, 5, 8), torch.arange(5) + start) for start in (0, 5))
    assert torch.allclose(here @ here.mT, there @ there.mT, atol=2e-2)
    lengths_stay(turn)


def raises(call) -> bool:
    try:
        call()
    except RuntimeError:
        return True
    return False


def three_texts_and_two_heads(turn):
    """The label says that this raises; no right version does."""
    assert not raises(lambda: turn(torch.ones(3, 2, 2, 8), torch.tensor([[0, 1], [0, 2], [0, 3]])))


def decoded_alone(turn):
    text, alone = (turn(torch.ones(1, 1, len(at), 8), torch.tensor(at)) for at in ([0, 1, 2], [2]))
    assert torch.allclose(text[:, :, 2], alone[:, :, 0], atol=1e-3)


GAPS = [[0, 3, 17], [5, 6, 40]]
TURN = {
    "frequencies repeated for one layout, turned in the other": Label(
        "09", nothing_turns_at_0, lengths_stay),
    "frequencies spread over the model's width": Label(
        "08", lambda turn: [scores_at([0, 3, 17], heads=1)(turn), distance_alone(turn)],
        scores_at([0, 3, 17], heads=2)),
    "each head has a slice of the model's frequencies": Label(
        "08", lambda turn: [scores_at([0, 3, 17], heads=1)(turn),
                            scores_at([0, 3, 17], 4, compared=(slice(None), [0]))(turn)],
        scores_at([0, 3, 17], heads=4)),
    "the table of positions broadcast over heads": Label(
        "08", scores_at([[0, 3, 17], [0, 3, 17]]), scores_at(GAPS)),
    "the first text's positions for all texts": Label(
        "08", lambda turn: [scores_at(GAPS, heads=3, compared=([0], slice(None)))(turn),
                            scores_at([[0, 3, 17], [5, 8, 22]], heads=3)(turn)],
        scores_at(GAPS, heads=3, compared=([1], slice(None)))),
    "counts by itself": Label(
        "09", scores_at([5, 6, 7, 8]), scores_at([0, 3, 17])),
}  # fmt: skip
MORE_TURN = {
    "the table of positions broadcast over heads": three_texts_and_two_heads,
    "counts by itself": decoded_alone,
}
"""What else a label says that shows the bug."""

# make(dim)(length, offset, base, dtype)


def asked(*questions, dim=64, convert=False, compared=None):
    """Asks one table in turn, and compares these answers; without a number all of them."""

    def test(make):
        table = make(dim).to(HALF) if convert else make(dim)
        for number, question in enumerate(questions):
            length, offset, base, dtype = (
                {"length": 20, "offset": 0, "base": 10_000.0, "dtype": torch.float32} | question
            ).values()
            got = table(length, offset=offset, base=base, dtype=dtype)
            exact, _ = rotation_table(
                rotary_frequencies(dim, base), torch.arange(offset, offset + length)
            )
            assert got.dtype == dtype and got.shape == exact.shape
            if compared in (None, number):
                allowed = 0.01 if dtype == HALF else 1e-3
                assert (got.float() - exact).abs().max() <= allowed

    return test


LARGE, LATE, ROUGH = {"base": 500_000.0}, {"offset": 7}, {"dtype": HALF}
TABLE = {
    "keeps the table when the base changes": Label(
        "09", lambda make: [asked({})(make), asked(LARGE)(make),
                            asked({}, {**LARGE, "length": 40})(make)],
        asked({}, LARGE, compared=1)),
    "keeps the table when the offset changes": Label(
        "09", lambda make: [asked(LATE)(make), asked({})(make), asked({"offset": 1000})(make)],
        asked(LATE, {}, compared=1)),
    "hands out the first rows, whatever the offset": Label(
        "09", asked({}, LARGE, ROUGH, {}), asked(LATE)),
    "keeps what the first dtype rounded": Label(
        "09", asked({}, ROUGH), asked(ROUGH, {}, compared=1)),
    "frequencies in a buffer": Label(
        "10", lambda make: [asked({"length": 1}, convert=True)(make),
                            asked({"offset": 1000}, {})(make),
                            asked(LARGE, {"offset": 1000}, convert=True)(make)],
        asked({"offset": 1000}, convert=True)),
}  # fmt: skip

# convert(q_weight, k_weight, num_heads, num_kv_heads)


def rows_of(heads, kv_heads, width, compared=slice(None)):
    def test(convert):
        q, k = (torch.arange(float(n * width))[:, None] for n in (heads, kv_heads))
        expected = interleaved_to_half(q, heads), interleaved_to_half(k, kv_heads)
        got = convert(q, k, heads, kv_heads)
        assert all(map(torch.equal, got[compared], expected[compared]))

    return test


def scores_from(first, step=1, heads=4, kv_heads=2):
    """Scores of three tokens from position `first` on, `step` apart."""

    def test(convert):
        generator = torch.Generator().manual_seed(0)
        weights = [torch.randn(n * 8, 5, generator=generator) for n in (heads, kv_heads)]
        x, at = torch.randn(3, 5, generator=generator), torch.arange(3) * step + first

        def scores(pair, layout):
            q, k = (
                rotate(
                    (x @ w.T).unflatten(-1, (-1, 8)).transpose(0, 1),
                    *rotation_table(rotary_frequencies(8), at),
                    layout=layout,
                )
                for w in pair
            )
            return q @ k.repeat_interleave(heads // kv_heads, dim=0).mT

        got = scores(convert(*weights, heads, kv_heads), "half")
        assert torch.allclose(got, scores(weights, "interleaved"), atol=1e-3)

    return test


CONVERSION = {
    "nothing is moved": Label(
        "09", lambda convert: [scores_from(at, step=0)(convert) for at in (0, 5)], scores_from(1)),
    "keys split by the number of query heads": Label("09", rows_of(4, 4, 8), rows_of(4, 2, 8)),
    "all query heads taken for one": Label(
        "09", lambda convert: [rows_of(1, 1, 8)(convert), rows_of(4, 2, 8, slice(1, 2))(convert)],
        rows_of(4, 2, 8, slice(1))),
    "the way back": Label("09", rows_of(4, 2, 4), rows_of(4, 2, 6)),
    "queries only": Label("09", rows_of(4, 2, 8, slice(1)), rows_of(4, 2, 8, slice(1, 2))),
}  # fmt: skip

# alibi_weights(q, k, q_positions, k_positions)


def bias_alone(heads, keys, dtype=torch.float32, head_dim=4, compared=slice(None)):
    """One query at the last key, queries and keys of zeros."""

    def test(weights):
        at = torch.tensor(keys)
        q, k = (torch.zeros(1, heads, n, head_dim, dtype=dtype) for n in (1, len(keys)))
        got = weights(q, k, at[-1:], at)[0, compared, 0].float()
        expected = (-alibi_slopes(heads)[compared, None] * (at[-1] - at)).softmax(dim=-1)
        assert torch.allclose(got, expected.float(), atol=0.02 if dtype == HALF else 1e-3)

    return test


def whole_text(length, heads=3):
    def test(weights):
        at = torch.arange(length)
        q, k = torch.randn(2, 1, heads, length, 4, generator=torch.Generator().manual_seed(0))
        scores = q @ k.mT / 2 - alibi_slopes(heads)[:, None, None] * (at[:, None] - at)
        expected = scores.masked_fill(at > at[:, None], -torch.inf).softmax(dim=-1).float()
        assert torch.allclose(weights(q, k, at, at), expected, atol=1e-3)

    return test


def shapes_and_mask(weights):
    for dtype in (torch.float32, HALF):
        q = torch.ones(2, 3, 6, 4, dtype=dtype)
        got = weights(q, q, torch.arange(6), torch.arange(6))
        assert got.shape == (2, 3, 6, 6) and got.dtype == dtype and (got.triu(1) == 0).all()


def no_negative_weights(weights):
    q, at = torch.zeros(1, 3, 6, 4), torch.arange(6)
    got = weights(q, q, at, at)
    assert (got >= 0).all() and torch.allclose(got.sum(dim=-1), torch.ones(1, 3, 6), atol=1e-3)


def last_keys_differ(weights):
    q, k = torch.zeros(1, 3, 1, 4, dtype=HALF), torch.zeros(1, 3, 3000, 4, dtype=HALF)
    got = weights(q, k, torch.tensor([2999]), torch.arange(3000))[0, :, 0]
    assert got[2, -1] > got[2, -15]


def the_last_key_weighs_most(weights):
    q, k = torch.zeros(1, 3, 1, 4), torch.zeros(1, 3, 5, 4)
    got = weights(q, k, torch.tensor([9]), torch.tensor([0, 2, 5, 8, 9]))[0, :, 0]
    assert (got.argmax(dim=-1) == 4).all()


def heads_of(*numbers, keys=(0, 2, 5, 8, 9), **more):
    return lambda weights: [bias_alone(heads, [*keys], **more)(weights) for heads in numbers]


def one_head(heads, head):
    return bias_alone(heads, [0, 2, 5, 8, 9], compared=[head])


SLOPE = {
    "slopes right for powers of two only": Label("06", heads_of(1, 2, 4, 8), heads_of(12)),
    "filled from the second slope on": Label(
        "06", lambda weights: [heads_of(2, 4, 8)(weights),
                               heads_of(3, compared=slice(2))(weights),
                               heads_of(12, compared=slice(8))(weights)],
        heads_of(3, compared=[2])),
    "slope times the key's position, in the dtype of q": Label(
        "06", lambda weights: [heads_of(3, 4, keys=range(3000))(weights),
                               heads_of(3, 4, keys=range(100), dtype=HALF)(weights)],
        last_keys_differ),
    "the bias added after the softmax": Label("05", shapes_and_mask, no_negative_weights),
    "the bias added before the division": Label("05", heads_of(3, head_dim=1), heads_of(3)),
    "distances between rows and columns": Label("09", whole_text(12), the_last_key_weighs_most),
}  # fmt: skip

# t5_bias(table, q_positions, k_positions)

NUMBERED = torch.arange(32.0)[:, None].expand(32, 2)


def rows_between(queries, keys, table=NUMBERED, below=False):
    def test(bias):
        q, k = torch.tensor(queries), torch.tensor(keys)
        expected = table[t5_bucket(q[:, None] - k, 32, 128, bidirectional=True)].movedim(-1, 0)
        got = bias(table, q, k)
        assert torch.equal(*((got.tril(), expected.tril()) if below else (got, expected)))

    return test


ALIKE = torch.arange(16.0).repeat(2)[:, None]
FOUR = [0, 1, 2, 3]
BUCKETS = {
    "sign flipped": Label("05", rows_between(range(50), range(50), ALIKE), rows_between([9], [6])),
    "a shift that is good below the diagonal only": Label(
        "07", lambda bias: [rows_between(range(200), range(200), below=True)(bias),
                            rows_between([7], range(200))(bias),
                            rows_between([0, 1, 3], [0, 1, 3])(bias)],
        rows_between(FOUR, FOUR)),
    "distances between rows and columns": Label(
        "05", lambda bias: [rows_between(FOUR, FOUR)(bias),
                            rows_between(range(90, 99), range(90, 99))(bias)],
        rows_between([500], [497, 499])),
    "the last bucket behind is left open": Label(
        "05", rows_between(range(128), range(128)), rows_between([128], [0])),
}  # fmt: skip

# make(dim, base, original_length)(length)


def reads(*lengths, compared=None, pairs=slice(None)):
    """Asks one function in turn for dim = 64, and compares these answers."""

    def test(make):
        frequencies, trained = make(64, 10_000.0, 2048), rotary_frequencies(64)
        for number, length in enumerate(lengths):
            got = frequencies(length).double()
            stretch = max(1, length / 2048)
            expected = by_parts(trained, stretch, 2048, slow=1, fast=32).frequencies
            if compared in (None, number):
                assert torch.allclose(got[pairs], expected[pairs], rtol=1e-3, atol=0)

    return test


TURNS = 2048 * rotary_frequencies(64) / (2 * math.pi)
REACH = {
    "never shrinks back": Label(
        "14", lambda make: [reads(500, 2048, 4096, 8192)(make), reads(500)(make)],
        reads(8192, 500, compared=1)),
    "ramp upside down": Label("15", reads(500, 2048), reads(8192, pairs=[0, -1])),
    "slows all pairs alike": Label(
        "13", reads(500, 2048, 4096, 8192, pairs=[-1]), reads(8192, pairs=[0])),
    "a ramp over pair numbers": Label(
        "15", reads(500, 2048, 4096, 8192, 500, pairs=(TURNS >= 32) | (TURNS <= 1)),
        reads(8192, pairs=[15])),
    "stretched in place": Label("14", reads(500, 8192, 500), reads(8192, 8192, compared=1)),
    "short texts stretched as well": Label("14", reads(2048, 8192, 8192), reads(500, pairs=[-1])),
}  # fmt: skip

# relative_scores(q, k, u, v, q_positions, k_positions)


def scores_between(queries, keys, alike=False, cosines=False, seen=lambda r: r == r):
    """Random vectors; `alike`: v is u. `cosines`: q + v is 0 in the columns of the sines."""

    def test(relative_scores):
        generator = torch.Generator().manual_seed(0)
        q, k = (torch.randn(len(n), 8, generator=generator) for n in (queries, keys))
        u, v = torch.randn(2, 8, generator=generator)
        v = u if alike else v
        if cosines:
            q[:, 0::2] = -v[0::2]
        i, j = torch.tensor(queries), torch.tensor(keys)
        apart = i[:, None] - j
        angles = apart[..., None] * rotary_frequencies(8)
        vectors = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        position = ((q + v)[:, None] * vectors).sum(dim=-1)
        off = relative_scores(q, k, u, v, i, j) - ((q + u) @ k.T + position) / math.sqrt(8)
        assert off[seen(apart)].abs().max() < 0.01

    return test


def the_first_key_behind_differs_from_the_first_ahead(relative_scores):
    ones, at = torch.ones(1, 8), torch.tensor([5])
    got = relative_scores(ones, ones.expand(2, -1), ones[0], ones[0], at, torch.tensor([4, 6]))
    assert abs(got[0, 0] - got[0, 1]) > 0.1


def a_moved_text_keeps_its_scores(relative_scores):
    x, at = torch.randn(8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(6)
    here, there = (relative_scores(x[:6], x[:6], *x[6:], at + n, at + n) for n in (0, 100))
    assert torch.allclose(here, there, atol=0.02)


def at_the_end_of_a_memory(relative_scores):
    scores_between([9], range(10))(relative_scores)


WHOLE = [*range(6)]
SCORES = {
    "the sine of the future has the sign of the past": Label(
        "07", lambda scores: [scores_between([5, 9], [0, 4, 5, 30], seen=lambda r: r >= 0)(scores),
                              scores_between([5, 9], [0, 4, 5, 30], cosines=True)(scores)],
        the_first_key_behind_differs_from_the_first_ahead),
    "no shift: the position of the key for its distance": Label(
        "07", scores_between([8], [4]), a_moved_text_keeps_its_scores),
    "one bias for both terms": Label(
        "07", scores_between([5, 9], [0, 4, 5, 30], alike=True), scores_between(WHOLE, WHOLE)),
    "distances between rows and columns": Label(
        "09", lambda scores: [scores_between([n + first for n in WHOLE],
                                             [n + first for n in WHOLE])(scores)
                              for first in (0, 50)],
        at_the_end_of_a_memory),
}  # fmt: skip

# frequencies(config, length)


def config_of(base=500_000.0, older=False, allowed=1024, original=256):
    sizes = {"head_dim": 32, "max_position_embeddings": allowed}
    if older:
        return {**sizes, "rope_theta": base}
    parameters = {
        "rope_type": "longrope", "rope_theta": base, "short_factor": [1.0] * 16,
        "long_factor": [4.0] * 16, "original_max_position_embeddings": original,
    }  # fmt: skip
    return {**sizes, "rope_parameters": parameters}


def read_from(*lengths, **changed):
    def test(frequencies):
        config = config_of(**changed)
        base = changed.get("base", 500_000.0)
        for length in lengths:
            expected = rotary_frequencies(32, base)
            if "rope_parameters" in config:
                rope = config["rope_parameters"]
                factors = rope["short_factor"], rope["long_factor"]
                expected = longrope(32, base, *factors, length, 256, 4.0).frequencies
            got = frequencies(config, length).double()
            assert torch.allclose(got, expected, rtol=1e-3, atol=0)

    return test


CONFIG = {
    "the default base after an update": Label(
        "15", lambda f: [read_from(10, older=True)(f), read_from(10, 256, 257, base=1e4)(f)],
        read_from(10)),
    "the base of older configs is not read": Label(
        "15", lambda f: [read_from(10, 256, 257)(f), read_from(10, older=True, base=1e4)(f)],
        read_from(10, older=True)),
    "long factors one token early": Label("15", read_from(10, 255, 257), read_from(256)),
    "long factors wherever long texts are allowed": Label(
        "15", lambda f: [read_from(257, 1000)(f), read_from(10, 256, 257, allowed=256)(f)],
        read_from(10)),
}  # fmt: skip

# places(parts, new)


def page_of(*parts, new=0, compared=slice(None)):
    def test(places):
        found, start = [], 0
        for part in (*parts, new):
            if isinstance(part, tuple):
                rows, columns = part
                found += [
                    (start, start + r, start + c) for r in range(rows) for c in range(columns)
                ]
            else:
                found += [(start + n,) * 3 for n in range(part)]
            start = max(map(max, found), default=-1) + 1
        got = places(list(parts), new)
        assert got.shape == (len(found), 3)
        assert got[compared].tolist() == [[*place] for place in found[compared]]

    return test


def third_piece_in_the_first_row(places):
    assert places([(2, 3)], 0)[2].tolist() == [0, 0, 2]


PAGE = {
    "rows and columns exchanged": Label(
        "18", lambda places: [page_of(2, (3, 3), 1, (2, 2), 2, new=3)(places),
                              page_of(7, new=2)(places),
                              page_of(2, (2, 3), 4, new=2, compared=slice(8, None))(places)],
        third_piece_in_the_first_row),
    "the text goes on from the number of pieces": Label(
        "18", lambda places: [page_of(2, (3, 4))(places), page_of(2, (1, 4), 3, new=1)(places),
                              page_of(2, (3, 4), 3, compared=slice(14))(places)],
        page_of(2, (3, 4), 3)),
    "generated tokens are counted on from the cache": Label(
        "18", lambda places: [page_of(2, (3, 4), 3, (2, 5), 1)(places), page_of(7, new=3)(places)],
        page_of(2, (3, 4), 3, new=1, compared=slice(-1, None))),
    "later pictures read as text": Label(
        "18", lambda places: [page_of(2, (3, 4), 3, new=2)(places), page_of((5, 2), 3)(places)],
        page_of((3, 4), 1, (2, 3))),
}  # fmt: skip

# test(encoding)


def broken(positions, dim):
    return sinusoidal_encoding(2 * positions, dim)


def counting_from_1(positions, dim):
    return sinusoidal_encoding(positions + 1, dim)


def in_float32(positions, dim):
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
    angles = positions[..., None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def accepts(*encodings):
    return lambda test: [test(encoding) for encoding in encodings]


def rejects(encoding):
    def test_of_test(test):
        try:
            test(encoding)
        except AssertionError:
            return
        raise AssertionError("it accepts what is broken")

    return test_of_test


BOTH = accepts(sinusoidal_encoding, in_float32)
TESTS = {
    "compares the encoding with itself": Label("02", BOTH, rejects(broken)),
    "a demonstration that ends in a conclusion": Label("01", BOTH, rejects(broken)),
    "swallows what it finds": Label("04", BOTH, rejects(broken)),
    "looks at position 0 only": Label(
        "02", lambda test: [BOTH(test), rejects(counting_from_1)(test)], rejects(broken)),
    "shares the mistake": Label("02", rejects(broken), accepts(sinusoidal_encoding)),
    "asks for equality to the last bit": Label(
        "10", lambda test: [accepts(in_float32)(test), rejects(broken)(test)],
        accepts(sinusoidal_encoding)),
    "asks for seven digits": Label(
        "10", lambda test: [accepts(sinusoidal_encoding)(test), rejects(broken)(test)],
        accepts(in_float32)),
}  # fmt: skip

LABELS = {
    "museum-waves": WAVES, "museum-turn": TURN, "museum-table": TABLE,
    "museum-weights": CONVERSION, "museum-slope": SLOPE, "museum-buckets": BUCKETS,
    "museum-reach": REACH, "museum-scores": SCORES, "museum-config": CONFIG,
    "museum-page": PAGE, "museum-tests": TESTS,
}  # fmt: skip
