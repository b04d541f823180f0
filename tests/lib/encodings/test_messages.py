"""Bad input: ValueError, with the value it had and what would be right."""

import re

import pytest
import torch

from course_lib.encodings import (
    ALiBi,
    ClippedBias,
    LearnedAbsolute,
    Rotary,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    alibi_slopes,
    by_parts,
    clip_to_index,
    dynamic_ntk,
    from_rope_parameters,
    half_to_interleaved,
    interleaved_to_half,
    interpolated,
    llama3,
    longrope,
    ntk_aware,
    relative_positions,
    relative_shift,
    rotary_frequencies,
    rotate,
    rotation_table,
    shift_matrix,
    sinusoidal_encoding,
    t5_bucket,
    yarn,
)
from course_lib.model import Decoder, DecoderConfig, View, attend

HERE = torch.arange(4)
X = torch.zeros(2, 3, 4, 8)  # batch, heads, length, head_dim
TABLE = torch.ones(4, 4), torch.zeros(4, 4)
ABSOLUTE = torch.zeros(2, 4, 8)  # batch, length, dim


def table(*shape):
    return torch.ones(shape), torch.zeros(shape)


def bias(scheme, q_positions=HERE, k_positions=HERE):
    return scheme.score_bias(X, X, q_positions, k_positions)


ENCODINGS = {
    # absolute
    "odd dim": (
        lambda: sinusoidal_encoding(HERE, 7), "dim must be positive and even, got 7: sinusoids"
    ),
    "negative dim": (lambda: sinusoidal_encoding(HERE, -2), "must be positive and even, got -2"),
    "odd dim of a shift": (lambda: shift_matrix(1, 9), "dim must be positive and even, got 9"),
    "odd dim of a scheme": (lambda: Sinusoidal(5), "dim must be positive and even, got 5"),
    "base 1": (lambda: sinusoidal_encoding(HERE, 4, base=1), "base must be above 1, got 1"),
    "base nan": (lambda: rotary_frequencies(4, float("nan")), "base must be above 1, got nan"),
    "float positions": (
        lambda: sinusoidal_encoding(HERE.float(), 4),
        "positions must be integers, got torch.float32: use torch.arange",
    ),
    "bool positions": (lambda: sinusoidal_encoding(HERE > 1, 4), "integers, got torch.bool"),
    "negative positions": (
        lambda: sinusoidal_encoding(HERE - 2, 4),
        "positions must be 0 or more, got -2: count from the first token",
    ),
    "sinusoids of another width": (
        lambda: Sinusoidal(4).embed(ABSOLUTE, HERE),
        "Sinusoidal was made for dim 4, got 8: make it with dim = 8",
    ),
    "sinusoids onto a width of 1": (
        lambda: Sinusoidal(4).embed(ABSOLUTE[..., :1], HERE),
        "Sinusoidal was made for dim 4, got 1",
    ),
    "learned table of another width": (
        lambda: LearnedAbsolute(9, 4).embed(ABSOLUTE, HERE),
        "LearnedAbsolute was made for dim 4, got 8",
    ),
    "position beyond the table": (
        lambda: LearnedAbsolute(512, 8).embed(ABSOLUTE, HERE + 509),
        "position 512 is beyond the table, which has 512 rows (0 to 511): train a longer",
    ),
    "negative row of the table": (
        lambda: LearnedAbsolute(9, 8).embed(ABSOLUTE, HERE - 1), "0 or more, got -1"
    ),
    "float row of the table": (
        lambda: LearnedAbsolute(9, 8).embed(ABSOLUTE, HERE.bfloat16()),
        "positions must be integers, got torch.bfloat16",
    ),
    "stretched to nothing": (
        lambda: LearnedAbsolute(9, 8).stretched(0), "new_length must be 1 or more, got 0"
    ),
    # relative
    "float queries": (
        lambda: relative_positions(HERE.float(), HERE),
        "q_positions must be integers, got torch.float32",
    ),
    "half-precision keys": (
        lambda: relative_positions(HERE, HERE.bfloat16()),
        "k_positions must be integers, got torch.bfloat16",
    ),
    "float positions in a bias": (
        lambda: bias(ALiBi(3), HERE, HERE.float()), "k_positions must be integers"
    ),
    "batched float positions in a bias": (
        lambda: bias(ALiBi(3), HERE.expand(2, -1).float(), HERE), "q_positions must be integers"
    ),
    "negative clipping": (
        lambda: clip_to_index(HERE, -1), "max_distance must be 0 or more, got -1"
    ),
    "negative clipping of a bias": (lambda: ClippedBias(3, -4), "must be 0 or more, got -4"),
    "one bucket": (
        lambda: t5_bucket(HERE, 1, bidirectional=False), "num_buckets must be 2 or more, got 1"
    ),
    "three buckets both ways": (
        lambda: t5_bucket(HERE, 3, bidirectional=True), "num_buckets must be 4 or more, got 3"
    ),
    "no room for far buckets": (
        lambda: T5Bias(3, 32, 16), "max_distance must be above 16 exact buckets, got 16"
    ),
    "no heads": (lambda: alibi_slopes(0), "num_heads must be 1 or more, got 0"),
    "bias of too many heads": (
        lambda: bias(ALiBi(8)), "ALiBi was made for num_heads 8, got 3: make it with num_heads = 3"
    ),
    "bias of one head": (lambda: bias(T5Bias(1)), "T5Bias was made for num_heads 1, got 3"),
    "batched bias of too many heads": (
        lambda: bias(ClippedBias(2, 4), HERE.expand(2, -1), HERE),
        "ClippedBias was made for num_heads 2, got 3",
    ),
    # content
    "shift of a rectangle": (
        lambda: relative_shift(torch.zeros(3, 4)),
        "scores must be square in the last two dimensions, got 3 x 4",
    ),
    "Shaw with negative clipping": (lambda: Shaw(8, -1), "max_distance must be 0 or more, got -1"),
    "Shaw of another width": (
        lambda: bias(Shaw(4, 2)), "Shaw was made for head_dim 4, got 8: make it with head_dim = 8"
    ),
    "Transformer-XL of other heads": (
        lambda: bias(TransformerXL(2, 8)), "TransformerXL was made for num_heads 2, got 3"
    ),
    "Transformer-XL of another width": (
        lambda: bias(TransformerXL(3, 4)), "TransformerXL was made for head_dim 4, got 8"
    ),
    "Transformer-XL with odd sinusoids": (lambda: TransformerXL(3, 4, 5), "and even, got 5"),
    # rotary
    "odd head_dim": (lambda: rotary_frequencies(7), "head_dim must be positive and even, got 7"),
    "float positions in a table": (
        lambda: rotation_table(rotary_frequencies(8), HERE / 2), "positions must be integers, got"
    ),
    "odd x": (lambda: rotate(X[..., :7], *TABLE, layout="half"), "dim even, since it holds pairs"),
    "x without a length": (lambda: rotate(X[0, 0, 0], *TABLE, layout="half"), "got (8,)"),
    "integer x": (
        lambda: rotate(X.long(), *TABLE, layout="half"), "x must be floating point, got torch.int64"
    ),
    "table too short": (
        lambda: rotate(X, *table(3, 4), layout="half"),
        "cos must have shape (length, dim / 2) = (4, 4), or as many dimensions as x (4), got (3, "
        "4)",
    ),
    "table as wide as x": (
        lambda: rotate(X, *table(4, 8), layout="interleaved"),
        "cos must have shape (length, dim / 2)",
    ),
    "table of shape (batch, length)": (
        lambda: rotate(X, *table(2, 4, 4), layout="half"),
        "got (2, 4, 4): for positions of shape (batch, length) give (batch, 1, length, dim / 2)",
    ),
    "table of another batch": (
        lambda: rotate(X, *table(5, 1, 4, 4), layout="half"), "cos must have shape"
    ),
    "table of more samples than x": (
        lambda: rotate(X[:1], *table(2, 1, 4, 4), layout="interleaved"), "cos must have shape"
    ),
    "table with dimensions in front of x's": (
        lambda: rotate(X[0, 0], *table(1, 1, 4, 4), layout="half"), "cos must have shape"
    ),
    "sines of another shape": (
        lambda: rotate(X, TABLE[0], TABLE[1][:1], layout="half"), "sin must have shape"
    ),
    "mixed devices": (
        lambda: rotate(X.to("meta"), *TABLE, layout="half"), "cos is on cpu and x on meta: move one"
    ),
    "unknown layout": (
        lambda: rotate(X, *TABLE, layout="neox"),
        "layout must be 'half' or 'interleaved', got 'neox'",
    ),
    "unknown layout of a scheme": (
        lambda: Rotary(8, layout="pairs"), "or 'interleaved', got 'pairs'"
    ),
    "unknown partial": (
        lambda: Rotary(8, partial="first"), "partial must be 'own' or 'proportional', got 'first'"
    ),
    "odd rotary_dim": (
        lambda: Rotary(8, rotary_dim=3),
        "rotary_dim must be even and from 2 to head_dim = 8, got 3",
    ),
    "rotary_dim beyond the head": (
        lambda: Rotary(8, rotary_dim=10), "from 2 to head_dim = 8, got 10"
    ),
    "frequencies that do not fit": (
        lambda: Rotary(8, frequencies=[1.0, 0.1]),
        "frequencies must have shape (4,), one for each pair of 8 columns, got (2,)",
    ),
    "a narrow Rotary on a wide head": (
        lambda: Rotary(4).rotate(X, X, HERE, HERE), "Rotary was made for head_dim 4, got 8"
    ),
    "a wide Rotary on a narrow head": (
        lambda: Rotary(16).rotate(X, X, HERE, HERE), "Rotary was made for head_dim 16, got 8"
    ),
    "rows that do not divide": (
        lambda: interleaved_to_half(torch.zeros(24, 5), 5),
        "24 rows do not divide into 5 heads: give the number of heads of this projection",
    ),
    "no heads to convert": (
        lambda: half_to_interleaved(torch.zeros(24, 5), 0), "24 rows do not divide into 0 heads"
    ),
    "odd heads to convert": (
        lambda: half_to_interleaved(torch.zeros(9, 5), 3), "to head_dim = 3, got 3"
    ),
    # extension
    "factor below 1": (
        lambda: interpolated(rotary_frequencies(8), 0.5), "factor must be 1 or more, got 0.5"
    ),
    "factor nan": (lambda: ntk_aware(8, 1e4, float("nan")), "factor must be 1 or more, got nan"),
    "NTK factor below 1": (lambda: ntk_aware(8, 1e4, 0.9), "factor must be 1 or more, got 0.9"),
    "dynamic factor below 1": (lambda: dynamic_ntk(8, 1e4, 0, 9, 9), "1 or more, got 0"),
    "by parts, factor below 1": (
        lambda: by_parts(rotary_frequencies(8), 0.1, 99), "factor must be 1 or more, got 0.1"
    ),
    "YaRN factor below 1": (lambda: yarn(8, 1e4, 0.1, 99), "factor must be 1 or more, got 0.1"),
    "LongRoPE factor below 1": (
        lambda: longrope(4, 1e4, [1, 1], [2, 2], 9, 99, 0.5), "factor must be 1 or more, got 0.5"
    ),
    "one pair has no ends": (
        lambda: ntk_aware(2, 1e4, 4), "dim must be even and 4 or more, got 2: with one pair"
    ),
    "odd dim to extend": (lambda: yarn(9, 1e4, 4, 99), "dim must be even and 4 or more, got 9"),
    "no original length": (
        lambda: yarn(8, 1e4, 4, 0), "original_length must be 2 or more, got 0"
    ),
    "LongRoPE of length 1": (
        lambda: longrope(4, 1e4, [1, 1], [2, 2], 9, 1, 4),
        "original_length must be 2 or more, got 1",
    ),
    "ramp upside down": (
        lambda: by_parts(rotary_frequencies(8), 4, 99, slow=4, fast=1),
        "slow must be below fast, got 4 and 1: pairs with fewer turns than the first, above 0, are",
    ),
    "YaRN's ramp upside down": (
        lambda: yarn(8, 1e4, 4, 99, beta_fast=1, beta_slow=32), "beta_slow must be below beta_fast"
    ),
    "Llama 3's ramp upside down": (
        lambda: llama3(rotary_frequencies(8), 4, 99, 4, 1),
        "low_freq_factor must be below high_freq_factor",
    ),
    "unknown ramp": (
        lambda: yarn(8, 1e4, 4, 99, ramp="cosine"), "ramp must be 'index' or 'turns', got 'cosine'"
    ),
    "too few short factors": (
        lambda: longrope(8, 1e4, [1, 1], [2] * 4, 9, 99, 4),
        "short_factors must have 4 numbers, one for each pair, got 2",
    ),
    "too many long factors": (
        lambda: longrope(8, 1e4, [1] * 4, [2] * 5, 100, 99, 4),
        "long_factors must have 4 numbers, one for each pair, got 5",
    ),
}  # fmt: skip


def rope(rope_type="default", head_dim=64, layer_type=None, maximum=None, **parameters):
    parameters = {"rope_theta": 1e4, **parameters}
    if rope_type is not None:
        parameters["rope_type"] = rope_type
    return from_rope_parameters(
        parameters, head_dim, layer_type=layer_type, max_position_embeddings=maximum
    )


ORIGINAL = "original_max_position_embeddings"
LLAMA3 = {"factor": 8.0, ORIGINAL: 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
CONFIGS = {
    "unknown rope type": (
        lambda: rope("spiral", factor=2.0),
        "rope_type 'spiral' is not supported; there are default, linear, dynamic, yarn, longrope",
    ),
    "unknown rope type under its old name": (
        lambda: from_rope_parameters({"type": "spiral"}, 64), "rope_type 'spiral' is not supp"
    ),
    "no base": (
        lambda: from_rope_parameters({"rope_type": "default"}, 64),
        "rope_type 'default' needs rope_theta, which these parameters do not have",
    ),
    "base of None": (lambda: rope(rope_theta=None), "'default' needs rope_theta"),
    "linear without factor": (lambda: rope("linear"), "rope_type 'linear' needs factor"),
    "linear, factor below 1": (lambda: rope("linear", factor=0.5), "1 or more, got 0.5"),
    "dynamic without factor": (lambda: rope("dynamic", maximum=9), "'dynamic' needs factor"),
    "dynamic without the length": (
        lambda: rope("dynamic", factor=2.0),
        "needs max_position_embeddings, which these parameters do not have: give the config's",
    ),
    "yarn without original length": (
        lambda: rope("yarn", factor=4.0), f"rope_type 'yarn' needs {ORIGINAL}"
    ),
    "yarn without factor or length": (
        lambda: rope("yarn", **{ORIGINAL: 99}), "rope_type 'yarn' needs max_position_embeddings"
    ),
    "yarn with factor 0": (
        lambda: rope("yarn", factor=0, maximum=999, **{ORIGINAL: 99}), "1 or more, got 0"
    ),
    "proportional with factor 0": (lambda: rope("proportional", factor=0), "1 or more, got 0"),
    "longrope without factors": (
        lambda: rope("longrope", factor=4.0, **{ORIGINAL: 99}), "'longrope' needs short_factor"
    ),
    "Llama 3 without low_freq_factor": (
        lambda: rope("llama3", **{**LLAMA3, "low_freq_factor": None}),
        "rope_type 'llama3' needs low_freq_factor",
    ),
    "a key that changes results": (
        lambda: rope("yarn", factor=4.0, llama_4_scaling_beta=0.1, **{ORIGINAL: 99}),
        "rope_type 'yarn' does not take llama_4_scaling_beta: results would differ",
    ),
    "an axial type for an odd number of pairs": (
        lambda: from_rope_parameters({"rope_type": "axial", "rope_theta": 1e4}, 6),
        "head_dim must be a multiple of 4 for two axes of pairs, got 6",
    ),
    "a key of another type": (
        lambda: rope("linear", factor=4.0, attention_factor=1.0), "does not take attention_factor"
    ),
    "two keys at once": (
        lambda: rope(zeta=1, alpha=2), "rope_type 'default' does not take alpha, zeta"
    ),
    "unknown layer type": (
        lambda: from_rope_parameters(
            {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}},
            64, layer_type="chunked_attention",
        ),
        "layer_type must be one of full_attention, sliding_attention, got 'chunked_attention'",
    ),
    "no layer type": (
        lambda: from_rope_parameters({"full_attention": {"rope_theta": 1e6}}, 64),
        "layer_type must be one of full_attention, got None",
    ),
    "no parameters": (
        lambda: from_rope_parameters(None, 64), "parameters must be a mapping with rope_theta, got"
    ),
    "a factor in quotes": (
        lambda: rope("linear", factor="4"),
        "factor must be a number, got '4': give numbers without quotes",
    ),
    "a base in quotes": (lambda: rope(rope_theta="10000"), "rope_theta must be a number, got '10"),
    "a list of bases": (lambda: rope(rope_theta=[1e4, 1e6]), "rope_theta must be a number, got [1"),
    "a length in quotes": (
        lambda: rope("yarn", factor=4.0, **{ORIGINAL: "4096"}),
        f"{ORIGINAL} must be a number, got '4096': give numbers without quotes",
    ),
    "the longest text in quotes": (
        lambda: rope("dynamic", factor=4.0, maximum="4096"),
        "max_position_embeddings must be a number, got '4096'",
    ),
    "a share that is a truth": (
        lambda: rope(partial_rotary_factor=True), "partial_rotary_factor must be a number, got True"
    ),
    "a list in quotes": (
        lambda: rope("longrope", factor=4.0, short_factor="1.0", long_factor=[1.0]),
        "short_factor must be a list of numbers, got '1.0'",
    ),
    "a number of a list in quotes": (
        lambda: rope(mrope_section=[16, "24"]), "mrope_section must be a list of numbers, got [16,"
    ),
    "odd head_dim": (lambda: rope(head_dim=9), "head_dim must be positive and even, got 9"),
    "nothing left to rotate": (lambda: rope(partial_rotary_factor=0.0), "and even, got 0"),
}  # fmt: skip


def attention(**change):
    given = {"q": X, "k": X, "v": X, "q_positions": HERE, "k_positions": HERE} | change
    q, k, v = (given.pop(name) for name in ("q", "k", "v"))
    return attend(q, k, v, ALiBi(3), View(**given))


def decoder(scheme=None, **sizes):
    config = DecoderConfig(11, dim=24, num_layers=1, num_heads=3, hidden_dim=8, **sizes)
    return Decoder(config, scheme or Rotary(8))


TOKENS = torch.zeros(2, 4, dtype=torch.int64)
MODEL = {
    "q without heads": (
        lambda: attention(q=X[:, 0]), "q must have shape (batch, heads, length, head_dim)"
    ),
    "k and v of other lengths": (lambda: attention(v=X[:, :, :3]), "k and v must agree in batch"),
    "q and k of other widths": (
        lambda: attention(q=X[..., :6]),
        "q and k must agree in batch and head_dim, got (2, 3, 4, 6)",
    ),
    "q and k of other batches": (lambda: attention(q=X[:1]), "q and k must agree in batch"),
    "heads that do not divide": (
        lambda: attention(k=X[:, :2], v=X[:, :2]),
        "3 query heads cannot share 2 key heads evenly: make the first a multiple of the second",
    ),
    "too few positions": (
        lambda: attention(q_positions=HERE[:3]),
        "q_positions must have shape (length,) or (batch, length), here (4,) or (2, 4), got (3,)",
    ),
    "positions of another batch": (
        lambda: attention(k_positions=HERE.expand(3, -1)), "k_positions must have shape"
    ),
    "float positions": (
        lambda: attention(q_positions=HERE.float()),
        "q_positions must be integers, got torch.float32",
    ),
    "positions elsewhere": (
        lambda: attention(k_positions=HERE.to("meta")),
        "k_positions is on meta and q on cpu: move one of them",
    ),
    "values elsewhere": (lambda: attention(v=X.to("meta")), "v is on meta and q on cpu"),
    "mask that adds": (
        lambda: attention(mask=torch.zeros(4, 4)),
        "mask must be bool, True where a query may look, got torch.float32",
    ),
    "mask of 0 and 1": (lambda: attention(mask=TOKENS[:, None, None]), "got torch.int64"),
    "mask of keys only": (
        lambda: attention(mask=TOKENS == 0),
        "give one of shape (batch, keys) as mask[:, None, None, :]",
    ),
    "mask without heads": (
        lambda: attention(mask=torch.ones(2, 4, 4, dtype=torch.bool)),
        "mask must fit (batch, heads, queries, keys) = (2, 3, 4, 4) or (queries, keys) = (4, 4), "
        "got (2, 4, 4)",
    ),
    "mask of too few keys": (
        lambda: attention(mask=torch.ones(4, 3, dtype=torch.bool)), "mask must fit"
    ),
    "dim that does not divide": (
        lambda: DecoderConfig(dim=30, num_heads=4),
        "dim 30 does not divide into 4 heads: make it a multiple of num_heads",
    ),
    "key heads that do not divide": (
        lambda: decoder(num_kv_heads=2), "3 query heads cannot share 2 key heads evenly"
    ),
    "no key heads": (lambda: decoder(num_kv_heads=0), "3 query heads cannot share 0 key heads"),
    "tokens without a batch": (
        lambda: decoder()(TOKENS[0], HERE),
        "tokens must have shape (batch, length), got (4,): give a single text as tokens[None]",
    ),
    "positions of another length": (
        lambda: decoder()(TOKENS, torch.arange(5)), "here (4,) or (2, 4), got (5,)"
    ),
    "negative positions": (
        lambda: decoder()(TOKENS, HERE - 1), "positions must be 0 or more, got -1: count from the"
    ),
    "float positions in a model": (
        lambda: decoder()(TOKENS, HERE.float()), "positions must be integers, got torch.float32"
    ),
    "tokens elsewhere": (
        lambda: decoder()(TOKENS, HERE.to("meta")), "positions are on meta and tokens on cpu"
    ),
    "positions beyond a learned table": (
        lambda: decoder(LearnedAbsolute(6, 24))(TOKENS, HERE + 3), "position 6 is beyond the table"
    ),
    "generating beyond a learned table": (
        lambda: decoder(LearnedAbsolute(6, 24)).generate(TOKENS, 4),
        "position 6 is beyond the table",
    ),
    "scheme of another head_dim": (
        lambda: decoder(Rotary(16))(TOKENS, HERE), "Rotary was made for head_dim 16, got 8"
    ),
    "empty prompt": (
        lambda: decoder().generate(TOKENS[:, :0], 3), "tokens must hold at least one token"
    ),
    "negative temperature": (
        lambda: decoder().generate(TOKENS, 3, temperature=-1.0),
        "temperature must be 0 or more, got -1.0",
    ),
}  # fmt: skip

CASES = [
    pytest.param(call, says, id=f"{group}: {name}")
    for group, cases in {"encodings": ENCODINGS, "configs": CONFIGS, "model": MODEL}.items()
    for name, (call, says) in cases.items()
]


@pytest.mark.parametrize(("call", "says"), CASES)
def test_bad_input_is_refused_with_its_value_and_the_remedy(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


@pytest.mark.parametrize(("call", "says"), CASES)
def test_no_message_shows_a_tensor_or_a_line_break(call, says):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert "tensor(" not in message and "\n" not in message and len(message) < 300


def test_a_refused_position_leaves_the_cache_as_it_was():
    from course_lib.model.decoder import Cache

    model, cache = decoder(LearnedAbsolute(6, 24)), Cache()
    model(TOKENS, HERE, cache=cache)
    with pytest.raises(ValueError, match="position 6 is beyond the table"):
        model(TOKENS, HERE + 3, cache=cache)
    assert cache.positions.tolist() == [0, 1, 2, 3]
    model(TOKENS[:, :1], torch.tensor([4]), cache=cache)
    with pytest.raises(ValueError, match="cannot follow the cache's, of shape .5,."):
        model(TOKENS[:, :1], torch.tensor([[5], [5]]), cache=cache)
