"""What counts of bytes know, and where attention without preference looks."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch

from course_lab.instruments.baselines import DOUBT, CountingModel, share_beyond, uniform_attention
from course_lab.instruments.evaluation import PASSAGE, bits_by_length

TEXT = torch.tensor(list(b"def far(a): return a + far(a - 1)\n" * 4 + b"class Far: pass\n")).byte()


def loop_share(context, byte):
    """The share of `byte` after `context`, counted in plain loops."""
    if context is None:
        return 1 / 256
    text, size = bytes(TEXT.tolist()), len(context)
    after = Counter(
        text[i + size] for i in range(len(text) - size) if text[i : i + size] == context
    )
    shorter = context[1:] if size else None
    return (after[byte] + DOUBT * loop_share(shorter, byte)) / (after.total() + DOUBT)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_shares_are_those_of_slow_counts(before):
    model, read = CountingModel(TEXT, before), b"far: xar"
    shares = model(torch.tensor([list(read), list(read[::-1])]), torch.arange(len(read))).exp()
    for row, line in zip(shares, (read, read[::-1]), strict=True):
        assert torch.allclose(row.sum(-1), torch.ones(len(line)), atol=1e-5)
        for place in range(len(line)):
            known = line[max(0, place + 1 - before) : place + 1]
            for byte in b"ar:\nz\x00":
                assert math.isclose(row[place, byte], loop_share(known, byte), rel_tol=1e-4)


def test_counting_models_are_measured_as_decoders_are_and_know_more_with_each_byte():
    data = TEXT.repeat(3 * PASSAGE // len(TEXT) + 1)
    bits = [bits_by_length(CountingModel(TEXT, k), data, [64, 512], 2) for k in (0, 1, 2)]
    for fewer, more in pairwise(bits):
        assert (more < fewer).all()
    assert torch.allclose(bits[0][0], bits[0][1], atol=1e-5)  # no byte before: no matter where
    assert (bits[2][0] > bits[2][1]).all()  # the first byte of a window has only one before it
    strange = torch.arange(256).byte().repeat(50)
    assert bits_by_length(CountingModel(TEXT, 2), strange, [128], 2).isfinite().all()


@pytest.mark.parametrize("text", [b"", b"a", b"ab"])
def test_a_text_too_short_to_count_leaves_every_byte_possible(text):
    model = CountingModel(torch.tensor(list(text), dtype=torch.uint8), 2)
    shares = model(torch.tensor([[97, 98, 99]]), torch.arange(3)).exp()
    assert (shares > 0).all() and torch.allclose(shares.sum(-1), torch.ones(1, 3), atol=1e-5)


def test_longer_contexts_are_refused():
    with pytest.raises(ValueError, match="before must be 0, 1 or 2, got 3"):
        CountingModel(TEXT, 3)


@pytest.mark.parametrize("distance, first", [(1, 0), (5, 0), (5, 13), (20, 3)])
def test_the_share_beyond_a_distance_is_that_of_a_loop(distance, first):
    drawn = torch.rand(3, 20, 20, generator=torch.Generator().manual_seed(0)).tril()
    for weights in (drawn / drawn.sum(-1, keepdim=True), uniform_attention(20).expand(3, -1, -1)):
        for head in range(3):
            shares = [
                sum(weights[head, i, j].item() for j in range(i + 1) if i - j >= distance)
                for i in range(first, 20)
            ]
            expected = sum(shares) / len(shares)
            found = share_beyond(weights, distance, first)
            assert found.shape == (3,)
            assert math.isclose(found[head], expected, rel_tol=1e-5, abs_tol=1e-7)


def test_uniform_attention_gives_each_visible_key_the_same():
    weights = uniform_attention(7)
    for i in range(7):
        for j in range(7):
            assert weights[i, j] == (torch.tensor(1 / (i + 1)) if j <= i else 0)
