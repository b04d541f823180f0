"""What a direct call refuses: places that do not fit, infinities, and what is no number."""

import math
import re

import pytest
import torch

from course_lib.encodings import (
    ALiBi,
    LearnedAbsolute,
    QueryTemperature,
    Shaw,
    Sinusoidal,
    TransformerXL,
    by_parts,
    clip_to_index,
    dynamic_ntk,
    llama3,
    longrope,
    ntk_aware,
    rotary_frequencies,
    sinusoidal_encoding,
    t5_bucket,
    yarn,
)
from course_lib.model import Decoder, DecoderConfig

HERE = torch.arange(4)
X = torch.zeros(2, 3, 4, 8)  # batch, heads, length, head_dim
ABSOLUTE = torch.zeros(2, 4, 8)  # batch, length, dim


def bias(scheme, q_positions, k_positions):
    return scheme.score_bias(X, X, q_positions, k_positions)


CASES = {
    "beta_slow 0": (
        lambda: yarn(8, 1e4, 4, 99, beta_slow=0), "beta_slow must be below beta_fast, got 0"
    ),
    "slow below 0": (
        lambda: by_parts(rotary_frequencies(8), 4, 99, slow=-1), "slow must be below fast, got -1"
    ),
    "endless beta_fast": (
        lambda: yarn(8, 1e4, 4, 99, beta_fast=math.inf), "beta_fast, got 1.0 and inf"
    ),
    "one ramp, below 0": (
        lambda: llama3(rotary_frequencies(8), 4, 99, -1, -1), "low_freq_factor must be below"
    ),
    "endless factor": (lambda: yarn(8, 1e4, math.inf, 99), "factor must be 1 or more, got inf"),
    "factor beyond all lengths": (lambda: ntk_aware(4, 1e4, 1e300), "factor must be 1 or more"),
    "endless original length": (
        lambda: yarn(8, 1e4, 4, math.inf), "original_length must be 2 or more, got inf"
    ),
    "negative length": (
        lambda: dynamic_ntk(8, 1e4, 4, -5, 99), "length must be 0 or more, got -5"
    ),
    "factor of a pair that is 0": (
        lambda: longrope(4, 1e4, [1, 0], [2, 2], 9, 99, 4), "short_factors must be above 0"
    ),
    "factor of a pair that turns it back": (
        lambda: longrope(4, 1e4, [1, 1], [2, -2], 9, 99, 4), "long_factors must be above 0"
    ),
    "endless base": (lambda: rotary_frequencies(8, math.inf), "base must be above 1, got inf"),
    "one position for all tokens": (
        lambda: Sinusoidal(8).embed(ABSOLUTE, HERE[:1]), "here (4,) or (2, 4), got (1,)"
    ),
    "a position for each text": (
        lambda: LearnedAbsolute(9, 8).embed(torch.zeros(4, 1, 8), HERE), "got (4,)"
    ),
    "a row of learned keys too few": (
        lambda: bias(Shaw(8, 2), HERE, HERE[:3]),
        "k_positions must have shape (length,) or (batch, length), here (4,) or (2, 4), got (3,)",
    ),
    "read with too few positions": (
        lambda: Shaw(8, 2).read(torch.zeros(2, 3, 4, 4), HERE[:1], HERE), "q_positions must have"
    ),
    "a row of another layout": (
        lambda: bias(TransformerXL(3, 8), HERE[:2], HERE), "q_positions must have shape"
    ),
    "positions of more texts than there are": (
        lambda: bias(ALiBi(3), HERE.expand(3, -1), HERE), "q_positions must have shape"
    ),
    "more temperatures than queries": (
        lambda: QueryTemperature(4).rotate(X[:, :, :1], X, HERE, HERE), "q_positions must have"
    ),
    "integers without arithmetic": (
        lambda: sinusoidal_encoding(HERE.to(torch.uint16), 4), "integers, got torch.uint16"
    ),
    "half a distance": (lambda: clip_to_index(HERE / 2, 4), "relative must be integers"),
    "half a distance to bucket": (
        lambda: t5_bucket(HERE / 2, bidirectional=True), "relative must be integers"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CASES.values(), ids=CASES)
def test_a_direct_call_is_refused_by_name_and_value(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


@pytest.mark.parametrize("temperature", [math.nan, math.inf, -math.inf, -1.0])
def test_a_temperature_that_divides_nothing_is_refused(temperature):
    model = Decoder(DecoderConfig(vocab_size=9, dim=24, num_layers=1, num_heads=3), ALiBi(3))
    with pytest.raises(ValueError, match="temperature must be"):
        model.generate(torch.zeros(1, 2, dtype=torch.long), 3, temperature=temperature)
