# Answers to real-file-order as learners write them: tests/grading/answers.py says what the parts are.

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

# %% wrong
# because: keys have fewer heads
# named: keys moved with the query head count
def to_file(weights, num_heads, num_kv_heads):
    return {n: moved(t, num_heads) if is_query(n) or is_key(n) else t for n, t in weights.items()}

# %% wrong
# because: from neighbours to halves
# named: the inverse order
def to_file(weights, num_heads, num_kv_heads):
    def halves(width):
        return [*range(0, width, 2), *range(1, width, 2)]

    heads = {"attn_q": num_heads, "attn_k": num_kv_heads}
    return {
        n: moved(t, heads[n.split(".")[-2]], halves) if n.split(".")[-2] in heads else t
        for n, t in weights.items()
    }

# %% wrong
# because: values are not turned
# named: values moved as well
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        if is_query(name):
            tensor = moved(tensor, num_heads)
        elif is_key(name) or "attn_v." in name:
            tensor = moved(tensor, num_kv_heads)
        written[name] = tensor
    return written

# %% wrong
# because: keys need the order, too
# named: keys forgotten
def to_file(weights, num_heads, num_kv_heads):
    return {n: moved(t, num_heads) if is_query(n) else t for n, t in weights.items()}

# %% wrong
# because: takes weights for all there is
# named: biases forgotten
def to_file(weights, num_heads, num_kv_heads):
    written = dict(weights)
    for name in weights:
        if name.endswith("attn_q.weight"):
            written[name] = moved(weights[name], num_heads)
        if name.endswith("attn_k.weight"):
            written[name] = moved(weights[name], num_kv_heads)
    return written

# %% wrong
# because: heads are cut apart
# named: all heads moved as one
def to_file(weights, num_heads, num_kv_heads):
    return {n: moved(t, 1) if is_query(n) or is_key(n) else t for n, t in weights.items()}

# %% wrong
# because: the layer's number is written in
# named: layer 0 only
def to_file(weights, num_heads, num_kv_heads):
    written = dict(weights)
    for part, heads in (("attn_q", num_heads), ("attn_k", num_kv_heads)):
        for kind in ("weight", "bias"):
            name = f"blk.0.{part}.{kind}"
            if name in weights:
                written[name] = moved(weights[name], heads)
    return written

# %% wrong
# because: the rest of the file is lost
# named: only queries and keys returned
def to_file(weights, num_heads, num_kv_heads):
    return {
        n: moved(t, num_heads if is_query(n) else num_kv_heads)
        for n, t in weights.items() if is_query(n) or is_key(n)
    }

# %% wrong
# because: only the names are gone through
# named: nothing moved
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        if name in ("attn_q", "attn_k"):
            tensor = moved(tensor, num_heads)
        written[name] = tensor
    return written

# %% wrong
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

# %% wrong
# because: comes out in float32
def to_file(weights, num_heads, num_kv_heads):
    written = {}
    for name, tensor in weights.items():
        heads = num_heads if is_query(name) else num_kv_heads if is_key(name) else 0
        written[name] = moved(tensor, heads).float() if heads else tensor
    return written

# %% wrong
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
