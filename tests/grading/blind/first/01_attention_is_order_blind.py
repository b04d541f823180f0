# %% wrong blind-causal-mask
# breaks: "Scores may be far below or far above 0"
# because: the softmax runs over hidden keys too; if one of them is far ahead, the rest is 0 / 0
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q.float() @ k.float().transpose(-1, -2) / q.shape[-1] ** 0.5
    allowed = k_positions.unsqueeze(-2) <= q_positions.unsqueeze(-1)
    weights = torch.softmax(scores, dim=-1) * allowed
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ v.float()).to(q.dtype)

# %% wrong blind-causal-mask
# breaks: "rows differ"
# because: when positions come with a batch, the mask of the first text is used for all texts
def masked_attention(q, k, v, q_positions, k_positions):
    if q_positions.dim() == 2:
        q_positions = q_positions[0]
    if k_positions.dim() == 2:
        k_positions = k_positions[0]
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = torch.einsum("bqd,bkd->bqk", q.float(), k.float()) / q.size(-1) ** 0.5
    weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
    return torch.einsum("bqk,bkd->bqd", weights, v.float()).to(v.dtype)

# %% wrong blind-causal-mask
# breaks: "a query sees only keys that do not stand after it"
# because: hides every score that is 0 after multiplying, also a visible key whose score is 0 by itself
def masked_attention(q, k, v, q_positions, k_positions):
    allowed = (q_positions.unsqueeze(-1) >= k_positions.unsqueeze(-2)).float()
    scores = (q.float() @ k.float().mT) / q.shape[-1] ** 0.5
    scores = scores * allowed
    scores = torch.where(scores == 0, torch.tensor(float("-inf")), scores)
    return (scores.softmax(-1) @ v.float()).to(q.dtype)

# %% wrong blind-causal-mask
# breaks: "whole numbers from 0 to 100 000"
# because: compares positions in the dtype of q; in bfloat16 and float16 later keys round to the same number
def masked_attention(q, k, v, q_positions, k_positions):
    dtype = q.dtype
    where_q = q_positions.to(dtype)[..., :, None]
    where_k = k_positions.to(dtype)[..., None, :]
    scores = q.float() @ k.float().transpose(1, 2) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(where_k > where_q, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ v.float()).to(dtype)

# %% wrong blind-causal-mask
# breaks: "in any order"
# because: counts the visible keys and then takes that many from the front
def masked_attention(q, k, v, q_positions, k_positions):
    visible = k_positions.unsqueeze(-2) <= q_positions.unsqueeze(-1)
    how_many = visible.sum(dim=-1, keepdim=True)
    allowed = torch.arange(k.shape[1]) < how_many
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    return (weights @ v.float()).to(q.dtype)

# %% right blind-causal-mask
# style: loops over texts and queries, picks the visible keys, float64 throughout
def masked_attention(q, k, v, q_positions, k_positions):
    batch, queries, head_dim = q.shape
    keys = k.shape[1]
    q_positions = q_positions.expand(batch, queries)
    k_positions = k_positions.expand(batch, keys)
    result = torch.zeros(batch, queries, v.shape[-1], dtype=torch.float64)
    for b in range(batch):
        for i in range(queries):
            seen = k_positions[b] <= q_positions[b, i]
            chosen_keys = k[b][seen].double()
            chosen_values = v[b][seen].double()
            scores = chosen_keys @ q[b, i].double() / head_dim**0.5
            result[b, i] = torch.softmax(scores, dim=0) @ chosen_values
    return result

# %% right blind-causal-mask
# style: einsum and a softmax by hand: largest visible score taken off, then exp
def masked_attention(q, k, v, q_positions, k_positions):
    hidden = k_positions.unsqueeze(-2) > q_positions.unsqueeze(-1)
    scale = q.shape[-1] ** -0.5
    scores = torch.einsum("bqd,bkd->bqk", q.float() * scale, k.float())
    scores = scores.masked_fill(hidden, -torch.inf)
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp()
    total = weights.sum(dim=-1, keepdim=True)
    out = torch.einsum("bqk,bkd->bqd", weights, v.float()) / total
    return out.to(q.dtype)

# %% wrong blind-tenth-token
# breaks: "the token at position 9"
# because: takes the token at position 9 as one that sees nine tokens; it sees ten, itself among them
reading = 2 / 9

# %% wrong blind-tenth-token
# breaks: "a causal mask"
# because: divides by all twenty-four tokens, also those that the mask hides
values = torch.zeros(24)
values[:2] = 1
reading = values.mean().item()

# %% wrong blind-tenth-token
# breaks: "The first *two* tokens (positions 0 and 1) have the value 1"
# because: formula of the lesson, where only the first token carries a 1
position = 9
reading = 1 / (position + 1)

# %% wrong blind-tenth-token
# breaks: "a head whose scores are all equal"
# because: gives the second 1 a larger share, as if only nine tokens had been read for it
reading = 1 / (9 + 1) + 1 / (8 + 1)

# %% right blind-tenth-token
# style: a Fraction
from fractions import Fraction

seen = 9 + 1
marked = 2
reading = Fraction(marked, seen)

# %% wrong blind-position-from-mask
# breaks: "positions go up to a million"
# because: the small number that guards the division is as large as the late readings themselves
def position_from_mean(mean):
    eps = 1e-6
    return torch.round(1 / (mean + eps) - 1).long()

# %% wrong blind-position-from-mask
# breaks: "also as a transposed view"
# because: view does not work on a tensor that does not lie contiguous in memory
def position_from_mean(mean):
    flat = mean.view(-1).double()
    places = (1 / flat).round().long() - 1
    return places.view(mean.shape)

# %% wrong blind-position-from-mask
# breaks: "a token at position p reads 1/(p + 1)"
# because: rounds up, so a quotient a hair above a whole number gives the next position
def position_from_mean(mean):
    return (mean.reciprocal() - 1).ceil().to(torch.long)

# %% wrong blind-position-from-mask
# breaks: "The tokens need not stand in order"
# because: takes the first reading in each row for that of position 0
def position_from_mean(mean):
    mark = mean[:, :1].double()
    return (mark / mean.double()).round().long() - 1

# %% right blind-position-from-mask
# style: Python numbers in nested lists
def position_from_mean(mean):
    rows = []
    for row in mean.tolist():
        rows.append([round(1 / reading) - 1 for reading in row])
    return torch.tensor(rows, dtype=torch.int64)

# %% right blind-position-from-mask
# style: numpy in float64, rounds after taking off 1
import numpy as np


def position_from_mean(mean):
    readings = mean.detach().numpy().astype(np.float64)
    places = np.rint((1.0 - readings) / readings)
    return torch.from_numpy(places.astype(np.int64))

# %% wrong blind-wrong-axis
# breaks: "nothing is rounded more coarsely than that"
# because: adds in float32, so a float64 x loses half of its digits on the way
def add_positions(x, positions, table):
    rows = table[positions].float()
    return (x.float() + rows).to(x.dtype)

# %% wrong blind-wrong-axis
# breaks: "`x` itself stays as it was"
# because: contiguous() makes no copy if x is contiguous already, and += writes into x
def add_positions(x, positions, table):
    out = x.contiguous()
    out += table[positions].to(x.dtype)
    return out

# %% wrong blind-wrong-axis
# breaks: "with a late start"
# because: counts from the smallest position of the text, so that every text starts at row 0
def add_positions(x, positions, table):
    start = positions.min(dim=-1, keepdim=True).values
    rows = torch.nn.functional.embedding(positions - start, table)
    return x + rows.to(x.dtype)

# %% wrong blind-wrong-axis
# breaks: "The result keeps the dtype of `x`"
# because: float16 or bfloat16 plus a float32 table gives float32
def add_positions(x, positions, table):
    if positions.dim() == 1:
        positions = positions.unsqueeze(0)
    return x + table[positions]

# %% right blind-wrong-axis
# style: loops over texts and tokens, sums in float64, rounds once when stored
def add_positions(x, positions, table):
    batch, length, _ = x.shape
    where = positions.expand(batch, length).tolist()
    out = torch.empty_like(x)
    for b in range(batch):
        for t in range(length):
            total = x[b, t].double() + table[where[b][t]].double()
            out[b, t] = total.to(x.dtype)
    return out

# %% wrong blind-test
# breaks: "in one token or number only, or by a few thousandths"
# because: the mean over all numbers hides an error that one number has
def test_order_blind(layer):
    torch.manual_seed(0)
    x = torch.randn(4, 7, 8)
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    difference = layer(x[:, order]) - layer(x)[:, order]
    assert difference.abs().mean() < 1e-4, "depends on order"

# %% wrong blind-test
# breaks: "Allow for rounding in float32, which is about a millionth here"
# because: too strict, asks for equality to the last bit
def test_order_blind(layer):
    torch.manual_seed(1)
    x = torch.randn(3, 7, 8)
    for _ in range(10):
        order = torch.randperm(7)
        assert torch.equal(layer(x[:, order]), layer(x)[:, order])

# %% wrong blind-test
# breaks: "shuffled tokens give shuffled outputs"
# because: swaps the first two tokens only; what goes wrong at later places stays where it is
def test_order_blind(layer):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 7, 8, generator=generator)
    swapped = x.clone()
    swapped[:, 0], swapped[:, 1] = x[:, 1], x[:, 0]
    expected = layer(x.clone()).clone()
    first = expected[:, 0].clone()
    expected[:, 0] = expected[:, 1]
    expected[:, 1] = first
    torch.testing.assert_close(layer(swapped), expected, rtol=1e-5, atol=1e-5)

# %% wrong blind-test
# breaks: "Some of these err in one text only"
# because: looks at the first text of the batch and at no other
def test_order_blind(layer):
    torch.manual_seed(0)
    x = torch.randn(4, 9, 8)
    for seed in range(20):
        order = torch.randperm(9, generator=torch.Generator().manual_seed(seed))
        one = layer(x[:, order])[0]
        other = layer(x)[0][order]
        assert torch.allclose(one, other, atol=1e-5)

# %% right blind-test
# style: many random orders, two lengths, assert_close
def test_order_blind(layer):
    generator = torch.Generator().manual_seed(7)
    for length in (7, 12):
        x = torch.randn(5, length, 8, generator=generator)
        with torch.no_grad():
            plain = layer(x.clone()).clone()
        assert plain.shape == x.shape
        for _ in range(12):
            order = torch.randperm(length, generator=generator)
            with torch.no_grad():
                shuffled = layer(x[:, order].clone())
            torch.testing.assert_close(shuffled, plain[:, order], rtol=1e-5, atol=1e-5)

# %% right blind-test
# style: all rotations and the reversal of eight tokens, outputs put back, largest difference
def test_order_blind(layer):
    torch.manual_seed(11)
    length = 8
    x = torch.randn(4, length, 8)
    places = torch.arange(length)
    orders = [places.roll(n) for n in range(length)]
    orders += [places.flip(0), torch.tensor([5, 2, 7, 0, 3, 6, 1, 4])]
    plain = layer(x.clone()).detach().clone()
    for order in orders:
        out = layer(x[:, order].clone()).detach()
        put_back = out[:, order.argsort()]
        worst = (put_back - plain).abs().max().item()
        assert worst < 2e-5, f"order {order.tolist()}: differs by {worst}"
