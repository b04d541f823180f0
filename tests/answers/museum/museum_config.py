# Answers to museum-config: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

SHORT, LONG = [1.0, 1.5, 2.0, 2.5], [1.0, 3.0, 9.0, 27.0]

def trained(base, dim=8):
    return torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)])

def new(base=500_000.0, allowed=4096, original=256):
    parameters = {"rope_type": "longrope", "rope_theta": base, "short_factor": SHORT,
                  "long_factor": LONG, "original_max_position_embeddings": original}
    return {"head_dim": 8, "max_position_embeddings": allowed, "rope_parameters": parameters}

def older(base=500_000.0):
    return {"head_dim": 8, "max_position_embeddings": 4096, "rope_theta": base}

def reads(frequencies, config, length, expected, share=1e-3):
    got = torch.as_tensor(frequencies(config, length)).double()
    assert torch.allclose(got, expected.double(), rtol=share, atol=0), (config, length, got)

def reads_around(frequencies, config, *lengths, base=500_000.0, original=256):
    for length in lengths:
        factors = torch.tensor(LONG if length > original else SHORT)
        reads(frequencies, config, length, trained(base) / factors)

# %% right
# style: config number by number
def test_frequencies(frequencies):
    for base in (500.0, 1e6):
        for config in (older(base), {**older(base), "max_position_embeddings": 100}):
            for i, got in enumerate(frequencies(config, 50)):
                assert math.isclose(got, base ** (-i / 4), rel_tol=1e-3)
        for length, factors in ((1, SHORT), (255, SHORT), (256, SHORT), (257, LONG), (900, LONG)):
            for i, got in enumerate(frequencies(new(base), length).tolist()):
                assert math.isclose(got, base ** (-i / 4) / factors[i], rel_tol=1e-3)

# %% right
# style: config by comparing configs
def test_frequencies(frequencies):
    """A base means the same in both places, and a text the same whatever may be longer."""
    sizes = {"head_dim": 64, "max_position_embeddings": 2048}
    plain = {"rope_type": "default", "rope_theta": 250.0}
    here, there = {**sizes, "rope_theta": 250.0}, {**sizes, "rope_parameters": plain}
    assert torch.allclose(frequencies(here, 9).float(), frequencies(there, 9).float(), rtol=2e-3)
    assert abs(frequencies(there, 9)[-1] * 250 ** (62 / 64) - 1) < 1e-3
    tight, wide = (frequencies(new(allowed=n), 256) for n in (256, 512))
    assert torch.allclose(tight.float(), wide.float(), rtol=2e-3, atol=0)
    change = frequencies(new(), 257) / frequencies(new(), 256)
    assert torch.allclose(change.float(), torch.tensor(SHORT) / torch.tensor(LONG), rtol=3e-3)

# %% right
# style: config with the defaults as well
def test_frequencies(frequencies):
    nothing = {"head_dim": 8, "max_position_embeddings": 4096}
    reads(frequencies, nothing, 10, trained(10_000.0))
    reads(frequencies, nothing | {"rope_parameters": {"rope_type": "default"}}, 10, trained(1e4))
    reads(frequencies, older(700.0), 5000, trained(700.0))
    reads_around(frequencies, new(700.0), 10, 256, 257, base=700.0)

# %% variation
# because: only the form of today
# named: no older config with another base
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 10, 256, 257)

# %% variation
# because: both forms, with the base that is the default
# named: only base 10 000
def test_frequencies(frequencies):
    reads_around(frequencies, new(10_000.0), 10, 256, 257, base=10_000.0)
    reads(frequencies, older(10_000.0), 10, trained(10_000.0))

# %% variation
# because: only the form of before
# named: no new config with another base, and no text near the original length
def test_frequencies(frequencies):
    for base in (500.0, 1e6):
        reads(frequencies, older(base), 10, trained(base))

# %% variation
# because: one text on either side, neither of the original length
# named: never exactly the original length
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 100, 255, 257, 4096)
    reads(frequencies, older(), 10, trained(500_000.0))

# %% variation
# because: long texts alone
# named: no short text where long ones are allowed
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 257, 1000, 4096)
    reads(frequencies, older(), 10, trained(500_000.0))

# %% variation
# because: the model may read as much as it was trained with
# named: no config that allows long texts
def test_frequencies(frequencies):
    reads_around(frequencies, new(allowed=256), 10, 256, 257)
    reads(frequencies, older(), 10, trained(500_000.0))

# %% variation
# because: asks for five digits
# named: asks for more than the task promises
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 10, 256, 257)
    reads(frequencies, older(), 10, trained(500_000.0), share=1e-5)

# %% variation
# because: the expected numbers take the long factors from the original length on
# named: expects the long factors one token early
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 10, 256, 257, original=255)
    reads(frequencies, older(), 10, trained(500_000.0))

# %% variation
# because: the fastest pair alone
def test_frequencies(frequencies):
    for config in (new(), older()):
        for length in (10, 256, 257):
            assert abs(frequencies(config, length)[0] - 1) < 1e-3

# %% variation
# because: the base is looked for in the wrong place of an older config
def test_frequencies(frequencies):
    reads_around(frequencies, new(), 10, 256, 257)
    reads(frequencies, older(), 10, trained(10_000.0))

# %% equal
# because: The model may still read more tokens than its original length.
# change: 8192 to 8193 in `sizes = {"head_dim": 8, "max_position_embeddings": 8192}`
# change: 8192 to 8191 in `sizes = {"head_dim": 8, "max_position_embeddings": 8192}`

# %% equal
# because: A config without factors is read alike at every length, and 1026 tokens are a long text as well.
# change: 10 to 11 in `asked = ((older, 10, 1), (new, 1024, 1), (new, 1025, 4), ({}, 10, 1))`
# change: 10 to 9 in `asked = ((older, 10, 1), (new, 1024, 1), (new, 1025, 4), ({}, 10, 1))`
# change: 1025 to 1026 in `asked = ((older, 10, 1), (new, 1024, 1), (new, 1025, 4), ({}, 10, 1))`
# change: 10 to 11 in `asked = ((older, 10, 1), (new, 1024, 1), (new, 1025, 4), ({}, 10, 1))`, number 2
# change: 10 to 9 in `asked = ((older, 10, 1), (new, 1024, 1), (new, 1025, 4), ({}, 10, 1))`, number 2

# %% equal
# because: One part in 10 000 is less than the one part in 1000 that is allowed.
# change: 10000.0 to 10001.0 in `theta = (500.0 if more else 10_000.0) ** (-torch.arange(0, 8, 2) / 8)`
# change: 10000.0 to 9999.0 in `theta = (500.0 if more else 10_000.0) ** (-torch.arange(0, 8, 2) / 8)`

# %% equal
# because: The even numbers below 7 are those below 8.
# change: 8 to 7 in `theta = (500.0 if more else 10_000.0) ** (-torch.arange(0, 8, 2) / 8)`, number 2

# %% equal
# because: The difference is never equal to the limit.
# change: Lt to LtE in `assert off < 0.001, f"off by a share of {off:.3f} at length {length}"`
