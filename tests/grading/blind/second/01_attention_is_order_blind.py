# %% wrong blind-causal-mask
# breaks: "Scores may be far below or far above 0. Every query sees at least one key."
# because: subtracts the maximum over hidden keys too; where a hidden score is far above, all that is seen underflows: 0 / 0
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp() * allowed
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ v.float()).to(q.dtype)

# %% wrong blind-causal-mask
# breaks: "a query sees only keys that do not stand after it", positions "from 0 to 100 000"
# because: compares positions after rounding them to the dtype of q, so in half precision keys a little later are seen
def masked_attention(q, k, v, q_positions, k_positions):
    q_places = q_positions.to(q.dtype).unsqueeze(-1)
    k_places = k_positions.to(q.dtype).unsqueeze(-2)
    hidden = k_places > q_places
    scores = torch.matmul(q.float(), k.float().transpose(1, 2)) / (q.shape[-1] ** 0.5)
    scores = scores.masked_fill(hidden, float("-inf"))
    return torch.matmul(scores.softmax(dim=-1), v.float()).to(q.dtype)

# %% right blind-causal-mask
# style: loops over texts and queries, picks the visible keys, float64 throughout and in the result
def masked_attention(q, k, v, q_positions, k_positions):
    batch, queries, head_dim = q.shape
    keys = k.shape[1]
    q_positions = q_positions.expand(batch, queries)
    k_positions = k_positions.expand(batch, keys)
    q, k, v = q.double(), k.double(), v.double()
    out = torch.zeros(batch, queries, v.shape[-1], dtype=torch.float64)
    for b in range(batch):
        for i in range(queries):
            visible = k_positions[b] <= q_positions[b, i]
            scores = (k[b][visible] * q[b, i]).sum(dim=-1) / head_dim**0.5
            weights = torch.softmax(scores, dim=0)
            out[b, i] = (weights[:, None] * v[b][visible]).sum(dim=0)
    return out

# %% wrong blind-tenth-token
# breaks: "What number does the token at position 9 read?"
# because: counts nine visible tokens instead of ten, the token itself is left out
visible = 9
reading = 2 / visible

# %% right blind-tenth-token
# style: an exact fraction
from fractions import Fraction

values = [1, 1] + [0] * 22
seen = values[: 9 + 1]
reading = Fraction(sum(seen), len(seen))

# %% wrong blind-position-from-mask
# breaks: "positions go up to a million"
# because: clamps to 999 999, so that position 1 000 000 itself comes out one too small
def position_from_mean(mean):
    positions = (1.0 / mean.double() - 1.0).round().long()
    return positions.clamp(min=0, max=1_000_000 - 1)

# %% wrong blind-position-from-mask
# breaks: "return the positions: integers", "positions go up to a million"
# because: cuts off after adding a small safety of 0.01; far out float32 is off by more than that
def position_from_mean(mean):
    return (1 / mean - 1 + 0.01).to(torch.long)

# %% wrong blind-wrong-axis
# breaks: "The result keeps the dtype of x, and nothing is rounded more coarsely than that."
# because: adds in float32 always, so a float64 x loses half of its digits
def add_positions(x, positions, table):
    rows = table[positions.long()]
    return (x.float() + rows.float()).to(x.dtype)

# %% wrong blind-test
# breaks: "shuffled tokens give shuffled outputs, and nothing else changes"
# because: compares the mean over tokens only; a layer that adds a row for each place has the same mean
def test_order_blind(layer):
    torch.manual_seed(0)
    for length in (5, 7, 12):
        x = torch.randn(3, length, 8)
        with torch.no_grad():
            plain = layer(x.clone())
            for _ in range(10):
                order = torch.randperm(length)
                shuffled = layer(x[:, order].clone())
                assert shuffled.shape == plain.shape
                difference = (shuffled.mean(dim=1) - plain.mean(dim=1)).abs().max()
                assert difference < 1e-5, "the layer depends on order"
