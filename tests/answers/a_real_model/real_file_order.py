# Answers to real-file-order: tests/grading/answers.py says what the parts are.

# %% given
import torch

def order_of(width):
    return [row for i in range(width // 2) for row in (i, i + width // 2)]

def moved(tensor, heads, order=order_of):
    width = len(tensor) // heads
    rows = [head * width + row for head in range(heads) for row in order(width)]
    return tensor[rows]

def is_query(name):
    return "attn_q." in name

def is_key(name):
    return "attn_k." in name

# %% right
# style: row by row
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        heads = num_heads if is_query(name) else num_kv_heads if is_key(name) else 0
        written[name] = moved(tensor, heads) if heads else tensor.clone()
    return written

# %% right
# style: by stacking the halves
def to_file(weights, num_heads, num_kv_heads):
    def woven(tensor, heads):
        first, second = tensor.unflatten(0, (heads, -1)).chunk(2, dim=1)
        return torch.stack([first, second], dim=2).reshape(tensor.shape)

    written = dict(weights)
    for name in weights:
        if is_query(name):
            written[name] = woven(weights[name], num_heads)
        elif is_key(name):
            written[name] = woven(weights[name], num_kv_heads)
    return written

# %% variation
# because: a product with a matrix in float32 rounds float64
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        heads = num_heads if is_query(name) else num_kv_heads if is_key(name) else 0
        if heads:
            order = torch.eye(len(tensor))[moved(torch.arange(len(tensor)), heads)]
            tensor = (order @ tensor.float()).to(tensor.dtype)
        written[name] = tensor
    return written

# %% variation
# because: comes out in float32
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        heads = num_heads if is_query(name) else num_kv_heads if is_key(name) else 0
        written[name] = moved(tensor, heads).float() if heads else tensor
    return written

# %% variation
# because: the token embeddings' columns are moved as well
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        heads = num_heads if is_query(name) else num_kv_heads if is_key(name) else 0
        if heads:
            tensor = moved(tensor, heads)
        elif name == "token_embd.weight":
            tensor = tensor.flip(1)
        written[name] = tensor
    return written

# %% right
# style: places in a copy are filled head by head
def to_file(weights, num_heads, num_kv_heads):
    new = {}
    for name, tensor in weights.items():
        new[name] = tensor.clone()
        if not (is_query(name) or is_key(name)):
            continue
        heads = num_heads if is_query(name) else num_kv_heads
        d = tensor.shape[0] // heads
        for h in range(heads):
            new[name][h * d : (h + 1) * d : 2] = tensor[h * d : h * d + d // 2]
            new[name][h * d + 1 : (h + 1) * d : 2] = tensor[h * d + d // 2 : (h + 1) * d]
    return new

# %% variation
# because: it is the rows that make the numbers of a query
def to_file(weights, num_heads, num_kv_heads):
    written = dict(weights)
    for name, tensor in weights.items():
        if (is_query(name) or is_key(name)) and tensor.ndim == 2:
            columns = tensor.shape[1]
            order = order_of(columns) + [columns - 1] * (columns % 2)
            written[name] = tensor[:, order]
    return written

# %% variation
# because: layer 11 has two digits
def to_file(weights, num_heads, num_kv_heads):
    import re

    written = dict(weights)
    for name, tensor in weights.items():
        if re.match(r"blk\.\d\.attn_[qk]\.", name):
            written[name] = moved(tensor, num_heads if is_query(name) else num_kv_heads)
    return written

# %% variation
# because: the width of a head is not the width of the model divided by the number of heads
def to_file(weights, num_heads, num_kv_heads):
    width = weights["token_embd.weight"].shape[1] // num_heads
    written = dict(weights)
    for name, tensor in weights.items():
        if is_query(name) or is_key(name):
            by_head = tensor.reshape(num_heads if is_query(name) else num_kv_heads, width, -1)
            written[name] = by_head[:, order_of(width)].reshape(tensor.shape)
    return written
