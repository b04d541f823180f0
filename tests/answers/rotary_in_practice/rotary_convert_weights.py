# Answers to rotary-convert-weights: tests/grading/answers.py says what the parts are.

# %% given
import torch

def neighbours_to_halves(width):
    return torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])

def in_float32(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        by_head = weight.float().unflatten(0, (heads, width))
        return by_head[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v.float()

# %% right
# style: in loops
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight, heads):
        head_dim = weight.shape[0] // heads
        rows = [
            weight[head * head_dim + 2 * i + second]
            for head in range(heads)
            for second in (0, 1)
            for i in range(head_dim // 2)
        ]
        return torch.stack(rows)

    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight

# %% right
# style: by views
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight, heads):
        rows, dim = weight.shape
        by_pair = weight.view(heads, rows // heads // 2, 2, dim)
        return by_pair.transpose(1, 2).reshape(rows, dim)

    return [moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight.clone()]

# %% variation
# because: width from columns
def to_half(q, k, v, num_heads, num_kv_heads):
    width = q.shape[1] // num_heads

    def moved(weight):
        return weight.unflatten(0, (-1, width))[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q), moved(k), v

# %% wrong
# because: as in the script of transformers
def to_half(q, k, v, num_heads, num_kv_heads):
    dim = q.shape[1]

    def permuted(weight, heads, dim1, dim2):
        return weight.view(heads, dim1 // heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)

    kv_dim = dim * num_kv_heads // num_heads
    return permuted(q, num_heads, dim, dim), permuted(k, num_kv_heads, kv_dim, dim), v

# %% variation
# because: first head only
def to_half(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        return torch.cat([weight[:width][neighbours_to_halves(width)], weight[width:]])

    return moved(q, num_heads), moved(k, num_kv_heads), v

# %% variation
# because: through bfloat16
def to_half(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        width = len(weight) // heads
        by_head = weight.bfloat16().to(weight.dtype).unflatten(0, (heads, width))
        return by_head[:, neighbours_to_halves(width)].flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v

# %% variation
# because: in float32
to_half = in_float32

# %% variation
# because: through float32
def to_half(q, k, v, num_heads, num_kv_heads):
    old = q, k, v
    new = in_float32(q, k, v, num_heads, num_kv_heads)
    return tuple(after.to(before.dtype) for before, after in zip(old, new, strict=True))

# %% wrong
# because: second partners first
def to_half(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        by_head = weight.unflatten(0, (heads, -1))
        return torch.cat([by_head[:, 1::2], by_head[:, 0::2]], dim=1).flatten(0, 1)

    return moved(q, num_heads), moved(k, num_kv_heads), v

# %% wrong
# because: grouped keys left alone
def to_half(q, k, v, num_heads, num_kv_heads):
    def moved(weight, heads):
        by_head = weight.unflatten(0, (heads, -1))
        return torch.cat([by_head[:, 0::2], by_head[:, 1::2]], dim=1).flatten(0, 1)

    return moved(q, num_heads), moved(k, num_heads) if num_heads == num_kv_heads else k, v

# %% wrong, blind first
# breaks: "`k_weight` and `v_weight` have (num_kv_heads · head_dim, dim), and `num_kv_heads` may be smaller"
# because: keys are split by the number of query heads
# named: keys permuted with the query head count
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight):
        rows, dim = weight.shape
        return weight.reshape(num_heads, rows // num_heads // 2, 2, dim).transpose(1, 2).reshape(rows, dim)

    return moved(q_weight), moved(k_weight), v_weight

# %% wrong, blind first
# breaks: "`dim`, the model's width, need not be num_heads · head_dim"
# because: takes head_dim from the width of the model
# named: head width from the number of columns
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    head_dim = q_weight.shape[1] // num_heads
    order = torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])
    q_order = (torch.arange(num_heads)[:, None] * head_dim + order).flatten()
    k_order = (torch.arange(num_kv_heads)[:, None] * head_dim + order).flatten()
    return q_weight[q_order], k_weight[k_order], v_weight

# %% wrong, blind first
# breaks: "A model was trained with interleaved pairs (2i, 2i + 1). Your code rotates in halves"
# because: the inverse order, from halves to interleaved; the same only for heads of width 2 or 4
# named: the inverse permutation
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def convert(w, heads):
        return w.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)

    return convert(q_weight, num_heads), convert(k_weight, num_kv_heads), v_weight

# %% wrong, blind first
# breaks: "Return its three weights as your code needs them"
# because: values are not rotated, but their rows are moved as well
# named: values converted, too
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    converted = []
    for weight, heads in ((q_weight, num_heads), (k_weight, num_kv_heads), (v_weight, num_kv_heads)):
        parts = []
        for head in weight.chunk(heads):
            parts += [head[::2], head[1::2]]
        converted.append(torch.cat(parts))
    return tuple(converted)

# %% wrong, blind first
# breaks: "All three are of one dtype, and keep it and their exact numbers"
# because: the permutation is a product in float32, float64 weights are rounded
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def permuted(weight, heads):
        width = weight.shape[0] // heads
        order = torch.arange(width).view(-1, 2).T.flatten()
        one_head = torch.eye(width)[order]
        matrix = torch.block_diag(*[one_head] * heads)
        return (matrix @ weight.float()).to(weight.dtype)

    return permuted(q_weight, num_heads), permuted(k_weight, num_kv_heads), v_weight

# %% right, blind first
# style: a list of row numbers from plain loops
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def take_rows(weight, heads):
        head_dim = weight.shape[0] // heads
        rows = []
        for head in range(heads):
            start = head * head_dim
            for i in range(head_dim // 2):
                rows.append(start + 2 * i)
            for i in range(head_dim // 2):
                rows.append(start + 2 * i + 1)
        return weight[torch.tensor(rows)]

    return take_rows(q_weight, num_heads), take_rows(k_weight, num_kv_heads), v_weight

# %% right, blind first
# style: splits axes and swaps them, compact
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def halves(w, n):
        return w.unflatten(0, (n, w.shape[0] // n // 2, 2)).transpose(1, 2).flatten(0, 2)

    return halves(q_weight, num_heads), halves(k_weight, num_kv_heads), v_weight.clone()

# %% wrong, blind second
# breaks: "trained with interleaved pairs (2i, 2i + 1). Your code rotates in halves"
# because: it is the inverse, from halves to interleaved; the same only for heads of width 4 or 2
# named: the inverse permutation
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def permute(weight, heads):
        rows, dim = weight.shape
        head_dim = rows // heads
        weight = weight.reshape(heads, 2, head_dim // 2, dim)
        return weight.transpose(1, 2).reshape(rows, dim)

    return permute(q_weight, num_heads), permute(k_weight, num_kv_heads), v_weight

# %% wrong, blind second
# breaks: "`dim`, the model's width, need not be num_heads . head_dim"
# because: takes the width of a head from the model's width
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    head_dim = q_weight.shape[1] // num_heads
    order = torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])

    def reorder(weight):
        starts = torch.arange(0, weight.shape[0], head_dim)
        return weight[(starts[:, None] + order).flatten()]

    return reorder(q_weight), reorder(k_weight), v_weight

# %% wrong
# because: the values are not returned
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(w, h):
        by = w.unflatten(0, (h, -1)); r = torch.arange(by.shape[1])
        return by[:, torch.cat([r[0::2], r[1::2]])].flatten(0, 1)
    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads)

# %% wrong
# because: one weight too many is returned
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(w, h):
        by = w.unflatten(0, (h, -1)); r = torch.arange(by.shape[1])
        return by[:, torch.cat([r[0::2], r[1::2]])].flatten(0, 1)
    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight, v_weight

# %% wrong
# because: all weights in float32
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(w, h):
        by = w.unflatten(0, (h, -1)); r = torch.arange(by.shape[1])
        return by[:, torch.cat([r[0::2], r[1::2]])].flatten(0, 1)
    return moved(q_weight, num_heads).float(), moved(k_weight, num_kv_heads).float(), v_weight.float()
