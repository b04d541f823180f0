"""Last room: who tests the tests?"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest
from course_grading.specs.museum.common import BASE, exhibit, theta, waves


def encoding(positions: Tensor, dim: int) -> Tensor:
    return waves(positions[..., None] * theta(dim)).float()


def encoding_in_float32(positions, dim):
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(BASE) / dim))
    return waves(positions[..., None] * frequencies)


def test_by_hand(encoding):
    row = encoding(torch.tensor([3]), 4)[0].tolist()
    expected = [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)]
    assert all(abs(got - want) < 1e-3 for got, want in zip(row, expected, strict=True))


def test_in_loops(encoding):
    table = encoding(torch.tensor([9, 2]), 6)
    for row, position in enumerate((9, 2)):
        for pair in range(3):
            angle = position / 10_000 ** (pair / 3)
            assert abs(table[row, 2 * pair] - math.sin(angle)) < 1e-3, "sine"
            assert abs(table[row, 2 * pair + 1] - math.cos(angle)) < 1e-3, "cosine"


def test_with_complex_numbers(encoding):
    positions = torch.tensor([[0, 3, 17], [5, 2, 90]])
    hands = torch.exp(1j * positions[..., None] * BASE ** (-torch.arange(4).double() / 4))
    got = encoding(positions, 8).double()
    assert torch.allclose(got[..., 0::2], hands.imag, atol=1e-3)
    assert torch.allclose(got[..., 1::2], hands.real, atol=1e-3)


@exhibit("compares the encoding with itself", "02",
         "It compares one row at a time with all rows at once, and both sides come from the "
         "function under test. It passes for nearly any function. Show it an encoding with "
         "wrong frequencies.")  # fmt: skip
def test_with_itself(encoding):
    positions = torch.arange(50)
    expected = torch.stack([encoding(p[None], 16)[0] for p in positions])
    assert torch.allclose(encoding(positions, 16), expected, atol=1e-5)


@exhibit("a demonstration that ends in a conclusion", "01",
         "It computes, and then returns the sentence that it was written to return: no number "
         "can make it fail. Show it a broken encoding, and insist on an "
         "AssertionError.")  # fmt: skip
def test_that_concludes(encoding):
    table = encoding(torch.arange(50), 16)
    near, far = table[0] @ table[1], table[0] @ table[40]
    return f"neighbours {near:.1f}, strangers {far:.1f}: the encoding knows distances, as it should"


@exhibit("swallows what it finds", "04",
         "Its `except Exception` was meant for missing features, and catches AssertionError as "
         "well. Show it a broken encoding, and see whether an error arrives.")  # fmt: skip
def test_that_swallows(encoding):
    try:
        test_in_loops(encoding)
    except Exception:
        return "skipped: not supported here"


@exhibit("looks at position 0 only", "02",
         "It rejects some broken encodings, for example one that counts from 1. Show it one "
         "that is right at position 0 and wrong elsewhere.")  # fmt: skip
def test_first_row(encoding):
    row = encoding(torch.tensor([0]), 8)[0].double()
    assert torch.allclose(row, torch.tensor([0.0, 1.0]).repeat(4).double(), atol=1e-6)


@exhibit("shares the mistake", "02",
         "The numbers that it expects have the exponent i/d, so it rejects right encodings. "
         "Show it one.")  # fmt: skip
def test_with_shared_mistake(encoding):
    positions = torch.tensor([0, 3, 17])
    expected = waves(positions[:, None] * BASE ** (-torch.arange(4).double() / 8))
    assert torch.allclose(encoding(positions, 8).double(), expected, atol=1e-3)


@exhibit("asks for equality to the last bit", "10",
         "It accepts one way to round. Show it two right encodings, one that computes its "
         "angles in float32 and one in float64.")  # fmt: skip
def test_to_the_last_bit(encoding):
    positions = torch.tensor([0, 30, 1700])
    assert torch.equal(encoding(positions, 8), encoding_in_float32(positions, 8))


@exhibit("asks for seven digits", "10",
         "It computes in float64, and allows a difference of 0.0000001. At position 90, angles "
         "in float32 are off by more than that. Show it a right encoding that computes its "
         "angles in float32.")  # fmt: skip
def test_to_seven_digits(encoding):
    positions = torch.tensor([0, 7, 90])
    expected = waves(positions[:, None] * theta(8))
    assert torch.allclose(encoding(positions, 8).double(), expected, rtol=0, atol=1e-7)


NUMBERS = (
    "This test compares numbers at small positions, for dim = 4, 6 or 8. Try it with broken "
    "encodings that are wrong there already, for every dim."
)

TESTS = (
    Version("four numbers by hand", True, test_by_hand, NUMBERS),
    Version("in loops", True, test_in_loops, NUMBERS),
    Version("with complex numbers", True, test_with_complex_numbers, NUMBERS),
    test_with_itself, test_that_concludes, test_that_swallows, test_first_row,
    test_with_shared_mistake, test_to_the_last_bit, test_to_seven_digits,
)  # fmt: skip


def _wrong_base(positions, dim):
    return waves(positions[..., None] * theta(dim, 500.0)).float()


def _counting_from_one(positions, dim):
    return encoding(positions + 1, dim)


def _half_exponent(positions, dim):
    return waves(positions[..., None] * theta(dim) ** 0.5).float()


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


IN_FLOAT64, IN_FLOAT32 = encoding, encoding_in_float32


def _test_the_test(test):
    _shows(IN_FLOAT64, IN_FLOAT32)(test)
    assert _fails(test, _half_exponent), "accepts a wrong exponent"


EXERCISE = WriteTest(
    slug="museum-tests", title="Last room: who tests the tests?", minutes=20, points=7,
    name="test_the_test", reference=_test_the_test, versions=TESTS,
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
