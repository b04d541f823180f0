# Answers to layers-sink: tests/grading/answers.py says what the parts are.

# %% given
import torch

def with_column(scores, column):
    column = column.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    return torch.cat([scores, column], dim=-1)

# %% right
# style: by a column, with views
def weights_with_sinks(scores, sinks):
    weights = torch.softmax(with_column(scores, sinks), dim=-1)
    return weights[..., : scores.shape[-1]].contiguous()

# %% right
# style: exponentials after the largest, with the sink
def weights_with_sinks(scores, sinks):
    sinks = sinks[None, :, None, None]
    largest = torch.maximum(scores.amax(dim=-1, keepdim=True), sinks)
    raised = torch.exp(scores - largest)
    return raised / (raised.sum(dim=-1, keepdim=True) + torch.exp(sinks - largest))

# %% right
# style: by logsumexp
def weights_with_sinks(scores, sinks):
    total = with_column(scores, sinks).logsumexp(dim=-1, keepdim=True)
    return (scores - total).exp()

# %% right
# style: in loops, in float64
def weights_with_sinks(scores, sinks):
    out = torch.empty_like(scores)
    for b in range(scores.shape[0]):
        for h in range(scores.shape[1]):
            for i in range(scores.shape[2]):
                row = torch.cat([sinks[h : h + 1], scores[b, h, i]]).double()
                out[b, h, i] = row.softmax(dim=0)[1:].to(scores.dtype)
    return out

# %% wrong
# because: a softmax does not change if all scores grow alike
# named: no sink, or one that changes nothing
def weights_with_sinks(scores, sinks):
    return (scores + sinks[:, None, None]).softmax(dim=-1)

# %% variation
# because: divides what is left by its sum
def weights_with_sinks(scores, sinks):
    weights = with_column(scores, sinks).softmax(dim=-1)[..., :-1]
    return weights / weights.sum(dim=-1, keepdim=True)

# %% wrong
# because: sink in front, and the last column taken away
def weights_with_sinks(scores, sinks):
    column = sinks[:, None, None].expand(*scores.shape[:3], 1)
    return torch.cat([column, scores], dim=-1).softmax(dim=-1)[..., :-1]

# %% wrong
# because: a 1 in the sum
# named: a sink of 0
def weights_with_sinks(scores, sinks):
    largest = scores.amax(dim=-1, keepdim=True).clamp(min=0)
    raised = (scores - largest).exp()
    return raised / (raised.sum(dim=-1, keepdim=True) + (-largest).exp())

# %% wrong
# because: weights times what the sink leaves of one key
# named: a share that does not depend on the scores
def weights_with_sinks(scores, sinks):
    return scores.softmax(dim=-1) / (1 + sinks.exp())[:, None, None]

# %% wrong
# because: overflows
# named: exponentials without the maximum
def weights_with_sinks(scores, sinks):
    raised, sink = scores.exp(), sinks.exp()[:, None, None]
    return raised / (raised.sum(dim=-1, keepdim=True) + sink)

# %% wrong
# because: minus infinity minus minus infinity
# named: nan where a query sees no key
def weights_with_sinks(scores, sinks):
    largest = scores.amax(dim=-1, keepdim=True)
    raised = torch.exp(scores - largest)
    return raised / (raised.sum(dim=-1, keepdim=True) + (sinks[:, None, None] - largest).exp())

# %% wrong
# because: over the queries
def weights_with_sinks(scores, sinks):
    row = sinks[:, None, None].expand(*scores.shape[:2], 1, scores.shape[3])
    return torch.cat([scores, row], dim=-2).softmax(dim=-2)[..., :-1, :]

# %% wrong
# because: the sink counts for each key
def weights_with_sinks(scores, sinks):
    column = sinks[:, None, None].expand(scores.shape)
    return torch.cat([scores, column], dim=-1).softmax(dim=-1)[..., : scores.shape[-1]]

# %% variation
# because: the mean sink
def weights_with_sinks(scores, sinks):
    return with_column(scores, sinks.mean().repeat(len(sinks))).softmax(dim=-1)[..., :-1]

# %% variation
# because: in half precision
def weights_with_sinks(scores, sinks):
    return with_column(scores, sinks).bfloat16().softmax(dim=-1)[..., :-1].to(scores.dtype)

# %% variation
# because: float32 only
def weights_with_sinks(scores, sinks):
    weights = with_column(scores.float(), sinks.float()).softmax(dim=-1)
    return weights[..., :-1].to(scores.dtype)

# %% wrong
# because: scores and sinks cut off at different numbers
def weights_with_sinks(scores, sinks):
    hidden = scores == -torch.inf
    column = sinks.clamp(min=-1400)[:, None, None].expand(*scores.shape[:3], 1)
    return torch.cat([scores.clamp(min=-1500), column], -1).softmax(-1)[..., :-1].masked_fill(hidden, 0)

# %% wrong
# because: sinks cut off
def weights_with_sinks(scores, sinks):
    column = sinks.clamp(-350, 350)[:, None, None].expand(*scores.shape[:3], 1)
    return torch.cat([scores, column], -1).softmax(-1)[..., :-1]

# %% wrong
# because: view joins batch and heads, which a view of axes 1 and 2 does not allow
def weights_with_sinks(scores, sinks):
    b, h, n, m = scores.shape
    column = sinks[:, None, None].expand(b, h, n, 1).reshape(b * h, n, 1)
    return torch.cat([scores.view(b * h, n, m), column], dim=-1).softmax(dim=-1)[..., :-1].reshape(b, h, n, m)
