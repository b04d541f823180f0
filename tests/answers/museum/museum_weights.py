# Answers to museum-weights: tests/grading/answers.py says what the parts are.

# %% given
import torch

def marked(count):
    return torch.arange(float(count))[:, None]

# %% right
# style: convert by scores
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_convert(convert):
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(rows, 5, generator=generator) for rows in (48, 16))
    x, at = torch.randn(4, 5, generator=generator), torch.tensor([0, 2, 3, 50])

    def scores(q, k, layout):
        turned = [
            rotate((x @ w.T).unflatten(-1, (-1, 8)).transpose(0, 1),
                   *rotation_table(rotary_frequencies(8), at), layout=layout)
            for w in (q, k)
        ]
        return turned[0] @ turned[1].repeat_interleave(3, dim=0).mT

    expected = scores(q, k, "interleaved")
    assert torch.allclose(scores(*convert(q, k, 6, 2), "half"), expected, atol=1e-3)

# %% right
# style: convert row by row
def test_convert(convert):
    q, k = torch.randn(24, 3), torch.randn(12, 3)
    for new, old, heads in zip(convert(q, k, 2, 1), (q, k), (2, 1), strict=True):
        width = len(old) // heads
        for head in range(heads):
            for row in range(width):
                source = 2 * row if row < width // 2 else 2 * (row - width // 2) + 1
                assert torch.equal(new[head * width + row], old[head * width + source])

# %% variation
# because: convert moves something
def test_convert(convert):
    q, k = convert(marked(32), marked(16), 4, 2)
    assert not torch.equal(q, marked(32)) and not torch.equal(k, marked(16))

# %% wrong, blind first
# breaks: "Within each head, rows $0, 2, 4, \dots$ come first, then $1, 3, 5, \dots$"
# because: heads of four rows only, where the order and its inverse are the same
# named: heads of four rows
def test_convert(convert):
    torch.manual_seed(0)
    for heads, kv_heads in ((1, 1), (4, 4), (8, 2), (6, 3)):
        q, k = torch.randn(heads * 4, 10), torch.randn(kv_heads * 4, 10)
        new_q, new_k = convert(q.clone(), k.clone(), heads, kv_heads)
        assert torch.equal(new_q, q.view(heads, 4, 10)[:, [0, 2, 1, 3]].reshape(heads * 4, 10))
        assert torch.equal(new_k, k.view(kv_heads, 4, 10)[:, [0, 2, 1, 3]].reshape(kv_heads * 4, 10))

# %% wrong, blind first
# breaks: "Keys may have fewer heads than queries."
# because: queries and keys always have equally many heads
# named: as many key heads as query heads
def test_convert(convert):
    for heads, d, inputs in ((1, 8, 16), (3, 6, 18), (4, 128, 32)):
        order = list(range(0, d, 2)) + list(range(1, d, 2))
        rows = [head * d + row for head in range(heads) for row in order]
        q = torch.arange(heads * d * inputs, dtype=torch.float32).view(heads * d, inputs)
        k = -q - 1
        new_q, new_k = convert(q.clone(), k.clone(), heads, heads)
        assert torch.allclose(new_q, q[rows])
        assert torch.allclose(new_k, k[rows])

# %% wrong, blind first
# breaks: "for a model that pairs $(i, i + d/2)$"
# because: compares scores at position 0 only, where nothing is turned; unconverted weights pass
def test_convert(convert):
    torch.manual_seed(5)
    d, inputs = 16, 24
    for heads, kv_heads in ((4, 4), (8, 2)):
        q, k = torch.randn(heads * d, inputs), torch.randn(kv_heads * d, inputs)
        new_q, new_k = convert(q.clone(), k.clone(), heads, kv_heads)
        assert new_q.shape == q.shape and new_k.shape == k.shape
        x = torch.randn(7, inputs)

        def scores(wq, wk):
            queries = (x @ wq.T).view(7, heads, d).transpose(0, 1)
            keys = (x @ wk.T).view(7, kv_heads, d).transpose(0, 1)
            keys = keys.repeat_interleave(heads // kv_heads, dim=0)
            return queries @ keys.transpose(-1, -2)

        assert torch.allclose(scores(new_q, new_k), scores(q, k), rtol=1e-4, atol=1e-2)

# %% wrong, blind first
# breaks: "gets two projections ... and returns both for a model that pairs $(i, i + d/2)$"
# because: of the keys only the shape is looked at
def test_convert(convert):
    torch.manual_seed(1)
    for heads, kv_heads, d in ((2, 2, 8), (8, 2, 10), (4, 1, 128)):
        q, k = torch.randn(heads * d, 12), torch.randn(kv_heads * d, 12)
        new_q, new_k = convert(q.clone(), k.clone(), heads, kv_heads)
        assert new_k.shape == k.shape
        for head in range(heads):
            before = q[head * d:(head + 1) * d]
            after = new_q[head * d:(head + 1) * d]
            assert torch.allclose(after, torch.cat([before[0::2], before[1::2]]))

# %% right, blind first
# style: numbers the rows, so that each new row says where it came from
def test_convert(convert):
    for heads, kv_heads, d in ((1, 1, 6), (4, 4, 8), (8, 2, 16), (6, 3, 10), (4, 1, 128)):
        inputs = 5
        q = torch.arange(heads * d).float()[:, None].repeat(1, inputs) + torch.arange(inputs) / 8
        k = torch.arange(kv_heads * d).float()[:, None].repeat(1, inputs) - torch.arange(inputs) / 4
        new_q, new_k = convert(q.clone(), k.clone(), heads, kv_heads)
        for new, old, count in ((new_q, q, heads), (new_k, k, kv_heads)):
            assert new.shape == old.shape
            for head in range(count):
                for place in range(d):
                    source = 2 * place if place < d // 2 else 2 * (place - d // 2) + 1
                    assert torch.allclose(new[head * d + place], old[head * d + source])

# %% wrong, blind second
# breaks: "Within each head, rows 0, 2, 4, ... come first, then 1, 3, 5, ..."
# because: compares scores before any turn, which every common order of rows leaves as they were
def test_convert(convert):
    torch.manual_seed(0)
    for heads, kv_heads, d, width in ((1, 1, 8, 8), (4, 4, 16, 32), (8, 2, 32, 24)):
        q_weight, k_weight = torch.randn(heads * d, width), torch.randn(kv_heads * d, width)
        x = torch.randn(5, width)

        def scores(qw, kw):
            q = (x @ qw.T).view(5, heads, d).transpose(0, 1)
            k = (x @ kw.T).view(5, kv_heads, d).transpose(0, 1)
            return q @ k.repeat_interleave(heads // kv_heads, dim=0).transpose(-1, -2)

        new_q, new_k = convert(q_weight.clone(), k_weight.clone(), heads, kv_heads)
        assert new_q.shape == q_weight.shape and new_k.shape == k_weight.shape
        assert torch.allclose(scores(new_q, new_k), scores(q_weight, k_weight), rtol=1e-3, atol=1e-2)

# %% equal
# because: Other numbers tell rows apart as well, and have more digits than float16.
# change: Add to Sub in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`
# change: 5000 to 5001 in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`
# change: 5000 to 4999 in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`
# change: Div to Mult in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`
# change: 7 to 8 in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`
# change: 7 to 6 in `rows = 5000 + torch.arange(32.0)[:, None] / 7  # numbers with many digits`

# %% equal
# because: Only the message of the assertion changes.
# change: 0 to 1 in `assert torch.equal(weight, expected), weight[:, 0].tolist()`
# change: 0 to -1 in `assert torch.equal(weight, expected), weight[:, 0].tolist()`
