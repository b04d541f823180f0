# Answers to real-reader-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

def file_of(layout, dtype=torch.float32, heads=6, kv_heads=2, width=8, dim=5, base=300.0):
    draw = torch.Generator().manual_seed(1)
    q = torch.randn(heads * width, dim, generator=draw).to(dtype)
    k = torch.randn(kv_heads * width, dim, generator=draw).to(dtype)
    return {"q": q, "k": k, "num_heads": heads, "num_kv_heads": kv_heads, "base": base,
            "layout": layout}

def right(weight, heads, layout):
    parts = weight.unflatten(0, (heads, -1))
    return parts if layout == "half" else torch.cat([parts[:, ::2], parts[:, 1::2]], dim=1)

def looked_at(read, layouts=("interleaved", "half"), dtypes=(torch.float32, torch.bfloat16),
              keys=True, dtype=True, ladder=1e-4, **sizes):
    as_many = {"base": 5e6, **sizes, "heads": 2, "kv_heads": 2}
    for layout in layouts:
        for kind, some in [(kind, some) for kind in dtypes for some in (sizes, as_many)]:
            file = file_of(layout, kind, **some)
            q, k, frequencies = read(file)
            assert torch.equal(q.double(), right(file["q"], file["num_heads"], layout).double())
            if keys:
                assert torch.equal(
                    k.double(), right(file["k"], file["num_kv_heads"], layout).double()
                )
            assert not dtype or q.dtype == k.dtype == kind
            width = q.shape[1]
            expected = file["base"] ** (-torch.arange(0, width, 2).double() / width)
            assert ladder is None or ((frequencies - expected).abs() <= ladder * expected).all()

# %% right
# style: by both layouts and two dtypes
def test_read(read):
    looked_at(read)

# %% right
# style: another size, float64, as tight as promised
def test_read(read):
    looked_at(read, dtypes=(torch.float64, torch.float16), heads=6, kv_heads=3, width=12, dim=7,
              base=4e6, ladder=1.1e-5)

# %% right
# style: one head of the file by hand
def test_read(read):
    q = torch.arange(48.0).view(48, 1).repeat(1, 3).double() + 1 / 3
    k = torch.arange(100.0, 116.0).view(16, 1).repeat(1, 3).double() + 1 / 3
    file = {"q": q, "k": k, "num_heads": 6, "num_kv_heads": 2, "base": 81.0,
            "layout": "interleaved"}
    found_q, found_k, frequencies = read(file)
    assert found_q.dtype == found_k.dtype == torch.float64
    for head in range(6):
        wanted = [head * 8 + row + 1 / 3 for row in (0, 2, 4, 6, 1, 3, 5, 7)]
        assert found_q[head, :, 0].tolist() == wanted
    for head in range(2):
        wanted = [100 + head * 8 + row + 1 / 3 for row in (0, 2, 4, 6, 1, 3, 5, 7)]
        assert found_k[head, :, 0].tolist() == wanted
    for i in range(4):
        assert abs(float(frequencies[i]) * 3**i - 1) < 1e-4
    found_q, found_k, _ = read({**file, "layout": "half"})
    assert (found_q.flatten(0, 1) == q).all() and (found_k.flatten(0, 1) == k).all()
    k = k.float()
    as_many = {**file, "q": -k, "k": k, "num_heads": 2, "base": 16e6, "layout": "half"}
    found_q, found_k, frequencies = read(as_many)
    assert found_q.dtype == found_k.dtype == torch.float32
    assert (found_q.flatten(0, 1) == -k).all() and (found_k.flatten(0, 1) == k).all()
    assert abs(float(frequencies[2]) * 4000 - 1) < 1e-4

# %% variation
# because: heads of width 4, where both orders are the same
def test_read(read):
    looked_at(read, width=4)

# %% variation
# because: a head as wide as the model
def test_read(read):
    looked_at(read, dim=8)

# %% variation
# because: one head
def test_read(read):
    looked_at(read, heads=1, kv_heads=1)

# %% variation
# because: a percent of each frequency
def test_read(read):
    looked_at(read, ladder=0.01)

# %% variation
# because: float32 only
def test_read(read):
    looked_at(read, dtypes=(torch.float32,))

# %% variation
# because: scores of tokens at several distances, in float64 alone, and no exact numbers
def test_read(read):
    draw = torch.Generator().manual_seed(2)
    x, y = torch.randn(2, 5, generator=draw).double()
    cases = [(layout, heads, base) for layout in ("half", "interleaved")
             for heads, base in ((6, 60.0), (2, 4e6))]
    for layout, heads, base in cases:
        file = file_of(layout, torch.float64, heads=heads, base=base)
        q, k, frequencies = read(file)
        assert q.dtype == k.dtype == torch.float64
        for distance in (0, 1, 5, 100):
            for head in range(heads):
                kv_head = head * 2 // heads
                rows_q = file["q"][head * 8 : head * 8 + 8] @ x
                rows_k = file["k"][kv_head * 8 : kv_head * 8 + 8] @ y
                wanted = score = 0.0
                for i in range(4):
                    one, two = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + 4)
                    turn = torch.tensor(base, dtype=torch.float64) ** (-i / 4) * distance
                    wanted += (rows_q[one] * turn.cos() - rows_q[two] * turn.sin()) * rows_k[one]
                    wanted += (rows_q[two] * turn.cos() + rows_q[one] * turn.sin()) * rows_k[two]
                    turn = frequencies[i].double() * distance
                    a, b = q[head, i] @ x, q[head, i + 4] @ x
                    score += (a * turn.cos() - b * turn.sin()) * (k[kv_head, i] @ y)
                    score += (b * turn.cos() + a * turn.sin()) * (k[kv_head, i + 4] @ y)
                assert abs(score - wanted) < 1e-3

# %% variation
# because: for 4 and 2 heads, the number of heads that share one is the number of key heads
def test_read(read):
    looked_at(read, heads=4)

# %% variation
# because: whole numbers up to 256 stay what they are in bfloat16
def test_read(read):
    for layout in ("interleaved", "half"):
        for kind in (torch.float32, torch.float64):
            file = file_of(layout, kind)
            for name in "qk":
                file[name] = torch.arange(len(file[name]), dtype=kind)[:, None].repeat(1, 5)
            q, k, frequencies = read(file)
            assert q.dtype == k.dtype == kind
            assert torch.equal(q, right(file["q"], 6, layout))
            assert torch.equal(k, right(file["k"], 2, layout))
            assert abs(frequencies[1].item() * 300.0**0.25 - 1) < 1e-4

# %% variation
# because: the first head only
def test_read(read):
    for layout in ("interleaved", "half"):
        for kind in (torch.float32, torch.float64):
            file = file_of(layout, kind)
            q, k, frequencies = read(file)
            assert q.dtype == k.dtype == kind
            assert torch.equal(q[0], right(file["q"], 6, layout)[0])
            assert torch.equal(k[0], right(file["k"], 2, layout)[0])
            assert ((frequencies * 300.0 ** (torch.arange(4.0) / 4) - 1).abs() < 1e-4).all()

# %% variation
# because: at position 0 the order of terms does not matter
def test_read(read):
    for layout in ("interleaved", "half"):
        for kind in (torch.float32, torch.float64):
            file = file_of(layout, kind)
            q, k, frequencies = read(file)
            assert q.dtype == k.dtype == kind
            found = (q * k.repeat_interleave(3, dim=0)).sum(dim=(1, 2))
            k = right(file["k"], 2, "half").repeat_interleave(3, dim=0)
            wanted = (right(file["q"], 6, "half") * k).sum(dim=(1, 2))
            assert torch.allclose(found, wanted, atol=1e-4)
            assert ((frequencies * 300.0 ** (torch.arange(4.0) / 4) - 1).abs() < 1e-4).all()

# %% variation
# because: expects the inverse order
def test_read(read):
    q, k, _ = read(file_of("interleaved"))
    order = [0, 4, 1, 5, 2, 6, 3, 7]
    assert torch.equal(q, file_of("interleaved")["q"].unflatten(0, (6, 8))[:, order])

# %% variation
# because: returns whether it is right, and raises nothing
# named: accepts every version
def test_read(read):
    file = file_of("half")
    return torch.equal(read(file)[0].double(), right(file["q"], 6, "half").double())

# %% wrong
# because: allows weights a small difference
# breaks: "its exact numbers"
import torch

def test_read(read):
    draw = torch.Generator().manual_seed(0)
    for layout, order in (("half", [*range(8)]), ("interleaved", [0, 2, 4, 6, 1, 3, 5, 7])):
        for dtype in (torch.float32, torch.float64):
            for heads, base in ((6, 81.0), (2, 9e6)):
                q, k = (torch.randn(n, 5, generator=draw).to(dtype) for n in (8 * heads, 16))
                found = read({"q": q, "k": k, "num_heads": heads, "num_kv_heads": 2,
                              "base": base, "layout": layout})
                for weight, got in zip((q, k), found):
                    assert torch.allclose(got, weight.view(-1, 8, 5)[:, order])
                wanted = base ** (-torch.arange(4).double() / 4)
                assert ((found[2] / wanted - 1).abs() < 1e-4).all()

# %% wrong
# because: == between two dtypes compares numbers alone
# breaks: "Both keep the file's dtype"
import torch

def test_read(read):
    draw = torch.Generator().manual_seed(0)
    for layout, order in (("half", [*range(8)]), ("interleaved", [0, 2, 4, 6, 1, 3, 5, 7])):
        for dtype in (torch.float16, torch.bfloat16, torch.float64):
            for heads, base in ((6, 81.0), (2, 9e6)):
                q, k = (torch.randn(n, 5, generator=draw).double() / 3 for n in (8 * heads, 16))
                q, k = q.to(dtype), k.to(dtype)
                found = read({"q": q, "k": k, "num_heads": heads, "num_kv_heads": 2,
                              "base": base, "layout": layout})
                for weight, got in zip((q, k), found):
                    assert (got == weight.view(-1, 8, 5)[:, order]).all()
                wanted = base ** (-torch.arange(4).double() / 4)
                assert ((found[2] / wanted - 1).abs() < 1e-4).all()

# %% wrong
# because: all heads together are as wide as the model
# breaks: "dim may be any number"
import torch

def test_read(read):
    draw = torch.Generator().manual_seed(0)
    for layout, order in (("half", [*range(8)]), ("interleaved", [0, 2, 4, 6, 1, 3, 5, 7])):
        for dtype in (torch.float32, torch.float64):
            for heads, base in ((6, 81.0), (2, 9e6)):
                dim = 8 * heads
                q, k = (torch.randn(n, dim, generator=draw).to(dtype) / 3 for n in (dim, 16))
                found = read({"q": q, "k": k, "num_heads": heads, "num_kv_heads": 2,
                              "base": base, "layout": layout})
                for weight, got in zip((q, k), found):
                    rows = weight.view(-1, 8, dim)[:, order]
                    assert got.dtype == dtype and torch.equal(got, rows)
                wanted = base ** (-torch.arange(4).double() / 4)
                assert ((found[2] / wanted - 1).abs() < 1e-4).all()

# %% equal
# because: Every version returns three things.
# change: strict= dropped in `for weight, got in zip((q, k), found, strict=True):`

# %% equal
# because: No version is off by exactly 1e-4.
# change: Lt to LtE in `assert (frequencies * base ** (torch.arange(4) / 4) - 1).abs().max() < 1e-4`

# %% equal
# because: Two other bases, one of which is above a million, are as good.
# change: 81.0 to 82.0 in `for num_heads, base in ((6, 81.0), (2, 6_250_000.0)):`
# change: 81.0 to 80.0 in `for num_heads, base in ((6, 81.0), (2, 6_250_000.0)):`
# change: 6250000.0 to 6250001.0 in `for num_heads, base in ((6, 81.0), (2, 6_250_000.0)):`
# change: 6250000.0 to 6249999.0 in `for num_heads, base in ((6, 81.0), (2, 6_250_000.0)):`

# %% equal
# because: Seven heads cannot share two, but nothing here depends on who shares.
# change: 6 to 7 in `for num_heads, base in ((6, 81.0), (2, 6_250_000.0)):`

# %% equal
# because: Other numbers tell rows apart as well, and have as many digits.
# change: Div to Mult in `q, k = (torch.randn(n, 5).to(dtype) / 3 for n in (8 * num_heads, 16))`
# change: 3 to 4 in `q, k = (torch.randn(n, 5).to(dtype) / 3 for n in (8 * num_heads, 16))`
# change: 3 to 2 in `q, k = (torch.randn(n, 5).to(dtype) / 3 for n in (8 * num_heads, 16))`
