"""RoPE and YaRN in thirty lines: the page shows the lesson's cell, and the cell computes the truth.

transformers 5.23 takes angles in float32. So its rotation is compared on one table for both, and
its own table near the beginning, and far out with the error that lesson 10 measures.
"""

import ast
import importlib
import json
import math
import re
from itertools import product
from pathlib import Path

import pytest
import torch
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.cohere.modeling_cohere import apply_rotary_pos_emb as rotate_interleaved
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as rotate_half

from course_lib.encodings import Rotary, yarn
from course_lib.encodings.extension import yarn_factor

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "rope.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
MOST_LINES = 30

DIM, FAR = 128, 131_072
NEAR = torch.arange(257)
POSITIONS = torch.cat(
    [NEAR, torch.tensor([4095, 4096, 32_767, 65_537]), torch.arange(-64, 1) + FAR]
)
DTYPES = (torch.float32, torch.bfloat16)
BASES = (10_000.0, 1_000_000.0)
STRETCH = {"factor": 4.0, "original_max_position_embeddings": 32_768}

both_layouts = pytest.mark.parametrize("layout", ["half", "interleaved"])
both_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
both_bases = pytest.mark.parametrize("base", BASES)
plain_and_stretched = pytest.mark.parametrize("stretched", [False, True], ids=["plain", "yarn"])


def text_of_the_cell():
    lesson = json.loads((ROOT / "notebooks" / "08_rotary_encoding.ipynb").read_text("utf-8"))
    [cell] = [cell for cell in lesson["cells"] if cell["id"] == "thirty-lines"]
    return "".join(cell["source"])


@pytest.fixture(scope="module")
def copied():
    """What a model has in which the cell was pasted."""
    names = {}
    exec(text_of_the_cell(), names)
    return names


def drawn(*shape, dtype):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def config(base, parameters, head_dim=DIM, maximum=FAR):
    kind = {"rope_type": "yarn"} if parameters else {"rope_type": "default"}
    return LlamaConfig(
        hidden_size=2 * head_dim,
        num_attention_heads=2,
        head_dim=head_dim,
        max_position_embeddings=maximum,
        rope_parameters={**kind, "rope_theta": base, **parameters},
    )


def frequencies_of(copied, base, stretched):
    if stretched:
        return copied["yarn_frequencies"](DIM, base, *STRETCH.values())
    return copied["rope_frequencies"](DIM, base), 1.0


# The text ----------------------------------------------------------------------------------------


def test_the_page_shows_the_cell_of_the_lesson():
    assert BLOCKS[0] == text_of_the_cell(), "copy the cell `thirty-lines` into docs/rope.md"


def test_it_has_at_most_thirty_lines_and_imports_torch_alone():
    text = text_of_the_cell()
    assert sum(bool(line.strip()) for line in text.splitlines()) < MOST_LINES  # with comments
    tree = ast.parse(text)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imports] == ["import torch"]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert all(f"`{name}`" in PAGE for name in functions) and len(functions) == 4


# The library -------------------------------------------------------------------------------------


@both_layouts
@both_dtypes
@both_bases
@plain_and_stretched
def test_it_turns_as_the_library_does(copied, layout, dtype, base, stretched):
    x = drawn(2, 3, len(POSITIONS), DIM, dtype=dtype)
    scaled = yarn(DIM, base, *STRETCH.values())._asdict() if stretched else {}
    scheme = Rotary(DIM, base, layout, **scaled)
    expected, _ = scheme.rotate(x, x, POSITIONS, POSITIONS)
    frequencies, attention_factor = frequencies_of(copied, base, stretched)
    table = copied["rope_table"](frequencies, POSITIONS, attention_factor)
    got = copied["apply_rope"](x, *table, layout)
    assert got.dtype == dtype and got.shape == x.shape
    rounding = 0 if dtype == torch.float32 else torch.finfo(dtype).eps
    assert torch.allclose(got.double(), expected.double(), rtol=rounding, atol=1e-6)


@both_layouts
def test_rows_of_a_batch_may_have_positions_of_their_own(copied, layout):
    x, positions = (
        drawn(2, 3, 4, 8, dtype=torch.float32),
        torch.tensor([[0, 1, 2, 3], [9, 7, 5, FAR]]),
    )
    cos, sin = copied["rope_table"](copied["rope_frequencies"](8), positions)
    got = copied["apply_rope"](x, cos[:, None], sin[:, None], layout)
    expected, _ = Rotary(8, layout=layout).rotate(x, x, positions, positions)
    assert torch.allclose(got, expected, atol=1e-6)


def test_a_part_of_a_head_turns_as_the_page_says(copied):
    [line] = re.findall(r"`(torch\.cat\(\[apply_rope.*?)`", PAGE)
    x, positions = drawn(1, 2, 5, 16, dtype=torch.float32), torch.arange(5) + 40
    cos, sin = copied["rope_table"](copied["rope_frequencies"](4), positions)
    got = eval(line, {**copied, "x": x, "r": 4, "cos": cos, "sin": sin})
    expected, _ = Rotary(16, rotary_dim=4).rotate(x, x, positions, positions)
    assert torch.allclose(got, expected, atol=1e-6)


YARN = [
    dict(zip(("beta_fast", "beta_slow", "truncate", "attention_factor"), one, strict=True))
    for one in product((32.0, 16), (1.0, 2), (True, False), (None, 1.25))
]


@pytest.mark.parametrize("arguments", YARN, ids=str)
def test_yarn_is_that_of_the_library(copied, arguments):
    for dim, base, factor, length in product(
        (64, 96, DIM), BASES, (1.0, 4, 40), (100, 4096, 32_768)
    ):
        frequencies, attention_factor = copied["yarn_frequencies"](
            dim, base, factor, length, **arguments
        )
        expected = yarn(dim, base, factor, length, **arguments)
        assert torch.allclose(frequencies, expected.frequencies, rtol=1e-12, atol=0)
        assert math.isclose(attention_factor, expected.attention_factor, rel_tol=1e-12)


# transformers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", YARN, ids=str)
def test_yarn_is_that_of_transformers(copied, arguments):
    for dim, base, factor, length in product(
        (64, 96, DIM), BASES, (1.0, 4, 40), (100, 4096, 32_768)
    ):
        given = {"factor": factor, "original_max_position_embeddings": length, **arguments}
        theirs = config(base, given, dim, int(factor * length))
        expected, expected_factor = ROPE_INIT_FUNCTIONS["yarn"](theirs, "cpu")
        frequencies, attention_factor = copied["yarn_frequencies"](
            dim, base, factor, length, **arguments
        )
        assert torch.allclose(frequencies, expected.double(), rtol=1e-5, atol=0)
        assert math.isclose(attention_factor, expected_factor, rel_tol=1e-12)


def test_mscale_becomes_the_attention_factor_that_the_page_writes():
    [formula] = re.findall(r"`attention_factor=(\(0\.1.*?)`", PAGE)
    for given in ({"mscale": 1.0, "mscale_all_dim": 0.8}, {"mscale": 0.707, "mscale_all_dim": 1.0}):
        _, expected = ROPE_INIT_FUNCTIONS["yarn"](config(BASES[0], {**STRETCH, **given}), "cpu")
        assert math.isclose(eval(formula, {**given, "ln_s": math.log(4)}), expected, rel_tol=1e-12)
    for given in ({"mscale": 0.7}, {"mscale_all_dim": 0.7}, {"mscale": 0.0, "mscale_all_dim": 1.0}):
        _, expected = ROPE_INIT_FUNCTIONS["yarn"](config(BASES[0], {**STRETCH, **given}), "cpu")
        assert math.isclose(expected, yarn_factor(4), rel_tol=1e-12)


@both_layouts
@both_dtypes
@both_bases
@plain_and_stretched
def test_it_turns_as_transformers_does_from_one_table(copied, layout, dtype, base, stretched):
    """Their frequencies and their factor go into our table, which both rotations read."""
    theirs = LlamaRotaryEmbedding(config(base, STRETCH if stretched else {}))
    cos, sin = copied["rope_table"](theirs.inv_freq, POSITIONS, theirs.attention_scaling)
    x = drawn(2, 3, len(POSITIONS), DIM, dtype=dtype)
    got = copied["apply_rope"](x, cos, sin, layout)
    if layout == "half":
        wide = [torch.cat([table, table], dim=-1)[None].to(dtype) for table in (cos, sin)]
        expected, _ = rotate_half(x, x, *wide)
    else:
        wide = [table.repeat_interleave(2, dim=-1)[None].to(dtype) for table in (cos, sin)]
        expected, _ = rotate_interleaved(x, x, *wide)
    # in bfloat16 they round the table, each product, and the sum
    size = x.abs().double().max()
    atol = 1e-6 if dtype == torch.float32 else 2 * torch.finfo(dtype).eps * size
    assert torch.allclose(got.double(), expected.double(), rtol=0, atol=float(atol))


@both_bases
@plain_and_stretched
def test_its_table_is_that_of_transformers_near_and_differs_far_out(copied, base, stretched):
    theirs = LlamaRotaryEmbedding(config(base, STRETCH if stretched else {}))
    ours = copied["rope_table"](
        frequencies_of(copied, base, stretched)[0], POSITIONS, theirs.attention_scaling
    )
    tables = theirs(torch.empty(1), POSITIONS[None])
    off = torch.stack([
        (our - their[0, :, : DIM // 2]).abs().amax(dim=-1)
        for our, their in zip(ours, tables, strict=True)
    ])  # fmt: skip
    assert off[:, : len(NEAR)].max() < 3e-5
    assert 5e-3 < off.max() < 0.015


LAYOUT_ROWS = re.findall(r"^\| `(half|interleaved)` \| .*? \| (.*?) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    ("layout", "model_type"),
    [(layout, one) for layout, types in LAYOUT_ROWS for one in re.findall(r"`(\w+)`", types)],
)
def test_a_model_type_has_the_layout_that_the_page_says(layout, model_type):
    module = importlib.import_module(f"transformers.models.{model_type}.modeling_{model_type}")
    first = torch.eye(8)[:1].view(1, 1, 1, 8)
    quarter = torch.zeros(1, 1, 8), torch.ones(1, 1, 8)
    turned, _ = module.apply_rotary_pos_emb(first, first, *quarter)
    assert turned.flatten().nonzero().item() == {"half": 4, "interleaved": 1}[layout]


def test_the_page_names_types_of_both_layouts():
    assert [layout for layout, _ in LAYOUT_ROWS] == ["half", "interleaved"]


# The page ----------------------------------------------------------------------------------------


@both_layouts
def test_the_call_in_attention_gives_the_same_scores_token_by_token(copied, layout):
    """Also with the other frequencies, which stand in a comment, and with fewer heads of keys."""
    call, length, head_dim = BLOCKS[1], 6, 16
    stretched = call.replace("# or: ", "")
    assert stretched != call
    q, k = (
        drawn(2, 4, length, head_dim, dtype=torch.float32),
        drawn(2, 2, length, head_dim, dtype=torch.float32),
    )
    sizes = {"head_dim": head_dim, "base": 100.0, "factor": 2.0, "original_length": 64}
    for code in (call, stretched):
        whole = {**copied, **sizes, "q": q, "k": k, "past": 0, "length": length, "layout": layout}
        exec(code, whole)
        for past in range(length):
            one = slice(past, past + 1)
            alone = {**copied, **sizes, "q": q[:, :, one], "k": k[:, :, one], "past": past,
                     "length": 1, "layout": layout}  # fmt: skip
            exec(code, alone)
            assert torch.allclose(alone["q"], whole["q"][:, :, one], atol=1e-6)
            assert torch.allclose(alone["k"], whole["k"][:, :, one], atol=1e-6)
    assert not torch.equal(whole["q"], q)


def test_an_unknown_layout_is_refused(copied):
    cos, sin = copied["rope_table"](copied["rope_frequencies"](8), torch.arange(2))
    with pytest.raises(KeyError, match="halves"):
        copied["apply_rope"](torch.ones(2, 8), cos, sin, layout="halves")
