"""Attention through the doors of a position scheme."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Num
from torch import Tensor
from torch.nn import functional

from course_lib.encodings.consecutive import known_lead
from course_lib.encodings.relative import relative_positions
from course_lib.encodings.scheme import PositionScheme, check_positions_fit, on_axes

SCORES_AT_ONCE = 2**19
"""For all texts and heads: 2 MiB in float32, which stay in a CPU's cache."""


class View(NamedTuple):
    """Which keys every query may attend to, and where both stand.

    A query may attend to a key if `k_position <= q_position` (when `causal`; with several axes, on
    the first of them), if `mask` is True for the pair (when given), and if the key is in its
    `window` (when given). `mask` has the shape (queries, keys), or four dimensions, of which any
    may be 1: three could mean batch or heads.

    With a `window`, a query sees keys at distances 0 to window - 1 alone, by position, on the first
    of several axes; without `causal`, as far to the other side. For decoders this is transformers'
    `sliding_window`; for encoders theirs does not count the query itself, and is one less.

    `lead` says how far the first query is from the first key where both count up one by one, if
    the caller knows: a compiled graph cannot look, and keeps the name of the causal mask this way.
    """

    q_positions: Int[Tensor, "*batch queries"] | Num[Tensor, "*batch queries axes"]
    k_positions: Int[Tensor, "*batch keys"] | Num[Tensor, "*batch keys axes"]
    causal: bool = True
    mask: Bool[Tensor, "*batch_heads queries keys"] | None = None
    lead: int | None = None
    window: int | None = None


def attend(
    q: Float[Tensor, "batch heads queries head_dim"],
    k: Float[Tensor, "batch kv_heads keys head_dim"],
    v: Float[Tensor, "batch kv_heads keys head_dim"],
    scheme: PositionScheme,
    view: View,
    sinks: Float[Tensor, " heads"] | None = None,
) -> Float[Tensor, "batch heads queries head_dim"]:
    """What every query reads from the values: softmax(q k / sqrt(head_dim) + bias) v.

    `view` says where queries and keys stand, and which keys a query may attend to; one that may
    attend to nothing reads zeros. With fewer key and value heads than query heads, neighbouring
    query heads share one.

    `sinks` are a logit for each query head, which the softmax counts as one more key, without a
    value: all keys together get less than 1 (gpt-oss, arXiv 2508.10925; the name is that of Xiao
    et al. 2023, arXiv 2309.17453, for first tokens that serve so). Torch's fused kernels have no
    place for them, so all scores are held; on a CPU, without gradients and without a mask, those of
    some queries at a time.

    Raises ValueError for shapes, dtypes and devices that do not fit together, and for a `window`
    below 1.
    """
    _check_shapes(q, k, v, view, scheme.axes, sinks)
    if view.mask is not None:
        _check_mask(view.mask, (*q.shape[:3], k.shape[2]))
    check_window(view.window)

    # A scheme that looks at queries and sinks fill matrices as large as all scores: some queries at
    # a time.
    size = _queries_at_once(q, k, scheme, sinks)
    if size < q.shape[2] and view.mask is None:
        return _in_blocks(size, q, k, v, scheme, view, sinks)

    # With several axes each token has a position on each of them, and its turn on the first.
    q_positions, k_positions, lead = view.q_positions, view.k_positions, view.lead
    if view.causal and lead is None:
        lead = known_lead(q_positions, k_positions)
    turns = view
    if scheme.axes > 1:
        same = k_positions is q_positions
        q_positions = _of_each_text(q_positions, scheme.axes, q)
        k_positions = q_positions if same else _of_each_text(k_positions, scheme.axes, k)
        turns = view._replace(q_positions=q_positions[..., 0], k_positions=k_positions[..., 0])

    # What comes in through the doors. A scheme that reads needs the weights themselves, and so do
    # sinks; these and a bias need one key head for each query head.
    doors = scheme.open_doors
    weighed = "read" in doors or sinks is not None
    if "score_bias" in doors or weighed:
        k, v = (shared(t, q.shape[1]) for t in (k, v))
    bias = scheme.score_bias(q, k, q_positions, k_positions)
    q, k = scheme.rotate(q, k, q_positions, k_positions)

    # A whole text with nothing added to its scores: torch knows this mask by name.
    plain = bias is None and view.mask is None and view.window is None and not weighed
    if plain and view.causal and lead == 0 and q.shape[2] == k.shape[2]:
        return _fused(q, k, v, is_causal=True)

    # Decoding, one new token at a time: the first query already sees every key.
    if lead is not None and lead >= k.shape[2] - 1:
        turns = turns._replace(causal=False)

    # All else: a mask of pairs, with the bias added where there is one.
    allowed = pairs_allowed(turns)
    if not weighed:
        return _fused(q, k, v, attn_mask=_additive(bias, allowed, q.dtype))
    weights = attention_weights(q, k, bias, allowed, sinks)  # (batch, heads, queries, keys)
    read = scheme.read(weights, q_positions, k_positions)
    return weights @ v if read is None else weights @ v + read


def shared(
    t: Float[Tensor, "batch kv_heads keys head_dim"], num_heads: int
) -> Float[Tensor, "batch heads keys head_dim"]:
    """Each key or value head once for every query head that shares it (grouped-query)."""
    return t if t.shape[1] == num_heads else t.repeat_interleave(num_heads // t.shape[1], dim=1)


def _of_each_text(positions: Tensor, axes: int, t: Tensor) -> Tensor:
    """(batch or 1, length, axes): three dimensions, which nobody takes for two others."""
    places = on_axes(positions, axes, (t.shape[0], t.shape[2]))
    return places if places.ndim == 3 else places[None]


def _fused(q: Tensor, k: Tensor, v: Tensor, **masking: Any) -> Tensor:
    return functional.scaled_dot_product_attention(
        q, k, v, enable_gqa=q.shape[1] != k.shape[1], **masking
    )


def _queries_at_once(q: Tensor, k: Tensor, scheme: PositionScheme, sinks: Tensor | None) -> int:
    """All queries, or on a CPU so few that their scores stay in its cache until they are used."""
    kept = torch.is_grad_enabled() or torch.compiler.is_compiling()
    large = scheme.looks_at_queries or sinks is not None
    if kept or scheme.axes > 1 or not large or q.device.type != "cpu":
        return q.shape[2]
    return max(1, SCORES_AT_ONCE // max(1, q.shape[:2].numel() * k.shape[2]))


def _in_blocks(
    size: int, q: Tensor, k: Tensor, v: Tensor, scheme: PositionScheme, view: View,
    sinks: Tensor | None,
) -> Tensor:  # fmt: skip
    """`attend` for `size` queries at a time, and for the keys that the last of them may see."""
    q, k, v = (t.contiguous() for t in (q, k, v))  # else every product copies its part again
    blocks = []
    for start in range(0, q.shape[2], size):
        some = slice(start, start + size)
        where = view.q_positions[..., some]
        lead = known_lead(where, view.k_positions) if view.causal else None
        seen = slice(None if lead is None else max(0, lead + len(where)))
        part = View(where, view.k_positions[..., seen], view.causal, window=view.window)
        blocks.append(attend(q[:, :, some], k[:, :, seen], v[:, :, seen], scheme, part, sinks))
    return torch.cat(blocks, dim=2)


def attention_weights(
    q: Float[Tensor, "batch heads queries head_dim"],
    k: Float[Tensor, "batch heads keys head_dim"],
    bias: Tensor | None = None,
    allowed: Bool[Tensor, "*batch_heads queries keys"] | None = None,
    sinks: Float[Tensor, " heads"] | None = None,
) -> Float[Tensor, "batch heads queries keys"]:
    """The weights themselves: softmax over the keys of q k / sqrt(head_dim) + bias.

    Pairs that are not `allowed` get weight 0. `sinks` take part in the softmax: see `attend`.
    """
    scores = q / math.sqrt(q.shape[-1]) @ k.mT  # (batch, heads, queries, keys)
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        sees = allowed.any(dim=-1, keepdim=True)  # a query that sees nothing would get 0 / 0
        scores += scores.new_zeros(allowed.shape).masked_fill(~allowed & sees, -torch.inf)
    if sinks is not None:
        column = sinks.to(scores.dtype)[:, None, None].expand(*scores.shape[:3], 1)
        scores = torch.cat([scores, column], dim=-1)  # (batch, heads, queries, keys + 1)
    weights = scores.softmax(dim=-1)[..., : k.shape[-2]]
    return weights if allowed is None else weights * sees


def causal_mask(
    q_positions: Int[Tensor, "*batch queries"], k_positions: Int[Tensor, "*batch keys"]
) -> Bool[Tensor, "*batch 1 queries keys"]:
    """True where a query may look: at keys that do not come after it."""
    return k_positions[..., None, None, :] <= q_positions[..., None, :, None]


def pairs_allowed(view: View) -> Bool[Tensor, "*batch_heads queries keys"] | None:
    """True for every query and key that `view` lets meet, None where it lets all meet.

    Positions have one axis here: with several, give those on the first.
    """
    allowed = view.mask
    if view.causal:
        visible = causal_mask(view.q_positions, view.k_positions)
        allowed = visible if allowed is None else visible & allowed
    if view.window is not None:
        distances = relative_positions(view.q_positions, view.k_positions).abs()
        near = distances.unsqueeze(-3) < view.window
        allowed = near if allowed is None else near & allowed
    return allowed


def _additive(bias: Tensor | None, allowed: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The mask that scaled_dot_product_attention takes: added to scores, or True where allowed.

    Torch never uses its fused kernel with a mask of three dimensions, so such a mask gets a fourth.
    In a compiled graph it stays as it is, because there the code that torch generates took half of
    that kernel's time in a bfloat16 training step.
    """
    mask = allowed
    if bias is not None:
        mask = bias.to(dtype)
        mask = mask if allowed is None else mask.masked_fill(~allowed, -torch.inf)
    if mask is None or mask.ndim != 3 or torch.compiler.is_compiling():
        return mask
    return mask[None]


def _check_shapes(
    q: Tensor, k: Tensor, v: Tensor, view: View, axes: int, sinks: Tensor | None
) -> None:
    for name, t in {"q": q, "k": k, "v": v}.items():
        if t.ndim != 4:
            raise ValueError(
                f"{name} must have shape (batch, heads, length, head_dim), got {tuple(t.shape)}"
            )
    if k.shape[:3] != v.shape[:3]:
        raise ValueError(
            f"k and v must agree in batch, heads and length, got {tuple(k.shape)} and "
            f"{tuple(v.shape)}"
        )
    if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise ValueError(
            f"q and k must agree in batch and head_dim, got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads evenly: "
            "make the first a multiple of the second"
        )
    if sinks is not None and sinks.shape != q.shape[1:2]:
        raise ValueError(
            f"sinks must have shape ({q.shape[1]},), a logit for each query head, got "
            f"{tuple(sinks.shape)}"
        )
    places = {"q_positions": view.q_positions, "k_positions": view.k_positions}
    for (name, positions), t in zip(places.items(), (q, k), strict=True):
        check_positions_fit(positions, (t.shape[0], t.shape[2]), axes, name)
    for name, other in {"k": k, "v": v, **places, "sinks": sinks}.items():
        if other is not None and other.device != q.device:
            raise ValueError(f"{name} is on {other.device} and q on {q.device}: move one of them")


def check_window(window: int | None) -> None:
    """Raise ValueError for a window that no key is in."""
    if window is not None and window < 1:
        raise ValueError(f"window must be 1 or more, got {window}: in 1, a query sees itself alone")


def _check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool, True where a query may look, got {mask.dtype}")
    sizes = zip(mask.shape[::-1], shape[::-1], strict=False)
    if mask.ndim not in (2, 4) or any(n not in (1, m) for n, m in sizes):
        raise ValueError(
            f"mask must fit (batch, heads, queries, keys) = {shape} or (queries, keys) = "
            f"{shape[2:]}, got {tuple(mask.shape)}: give one of shape (batch, keys) as "
            "mask[:, None, None, :]"
        )
