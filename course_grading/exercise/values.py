"""Plain values: to JSON and back exactly, and how far apart two tensors are.

What a learner's kernel sends is read by this file alone, so nothing here executes what it reads.
"""

from __future__ import annotations

import base64
import math
import numbers
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex128,
        torch.complex64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip


@dataclass(frozen=True)
class Other:
    """Stands for a value that is not plain; all that is known of it is its type."""

    type: str


def can_encode(dtype: torch.dtype) -> bool:
    """Whether tensors of this dtype can be encoded."""
    return str(dtype).removeprefix("torch.") in DTYPES


def encode(value: Any) -> Any:
    """`value` as JSON can hold it; what is not plain is kept as the name of its type."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, Tensor) and can_encode(value.dtype):
        return _encode_tensor(value)
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    kind = type(value)
    name = kind.__qualname__
    if isinstance(value, Tensor):
        return {"other": f"torch.Tensor with {value.dtype} numbers"}
    return {"other": name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"}


def elements(value: Any, enough: int) -> int:
    """How many numbers and texts `value` holds; counting ends where there are more than enough."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if not isinstance(value, (list, tuple)):
        return 1
    total = len(value)
    for item in value:
        if total > enough:
            break
        total += elements(item, enough) - 1
    return total


def _encode_tensor(tensor: Tensor) -> dict[str, Any]:
    """A tensor of numbers; a transposed view, whose axes lie otherwise in memory, stays one."""
    strides: tuple[int, ...] = tensor.stride()
    order = sorted(range(tensor.ndim), key=lambda axis: (-strides[axis], axis))
    transposed = not tensor.is_contiguous() and tensor.permute(order).is_contiguous()
    if transposed:
        tensor = tensor.permute(order)
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().reshape(-1)
    # a single number may have any stride and count as contiguous; viewed as bytes it must have 1
    flat = plain.clone(memory_format=torch.contiguous_format)
    raw = flat.view(torch.uint8).numpy().tobytes()
    encoded = {
        "tensor": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "data": base64.b64encode(raw).decode(),
    }
    return encoded | ({"axes": order} if transposed else {})


def decode(plain: Any) -> Any:
    """What `encode` was given. Raises ValueError for anything that it does not write."""
    if plain is None or isinstance(plain, (bool, str, int, float)):
        return plain
    if isinstance(plain, list):
        return [decode(item) for item in plain]
    match plain:
        case {"tensor": str(dtype), "shape": list(shape), "data": str(data)}:
            tensor = _decode_tensor(dtype, shape, data)
            order = plain.get("axes", list(range(tensor.ndim)))
            if sorted(order) != list(range(tensor.ndim)):
                raise ValueError(f"not the axes of an encoded tensor: {order!r:.40}")
            return tensor.permute([order.index(axis) for axis in range(tensor.ndim)])
        case {"float": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"tuple": list(items)}:
            return tuple(decode(item) for item in items)
        case {"dict": list(pairs)}:
            return {decode(key): decode(item) for key, item in pairs}
        case {"other": str(name)}:
            return Other(name)
    raise ValueError(f"not an encoded value: {plain!r:.80}")


def _decode_tensor(dtype: str, shape: list[int], data: str) -> Tensor:
    raw = bytearray(base64.b64decode(data, validate=True))
    if dtype not in DTYPES or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"not an encoded tensor: dtype {dtype!r:.40}, shape {shape!r:.40}")
    if len(raw) != math.prod(shape) * DTYPES[dtype].itemsize:
        raise ValueError(f"{len(raw)} bytes do not make a {dtype} tensor of shape {shape}")
    if not raw:
        return torch.empty(shape, dtype=DTYPES[dtype])
    return torch.frombuffer(raw, dtype=DTYPES[dtype]).reshape(shape)


ROUNDINGS = 8


def allowed(
    exact: Tensor,
    dtype: torch.dtype,
    scale: Tensor | float | None = None,
    roundings: float | None = ROUNDINGS,
) -> Tensor:
    """How far each element of a right answer may be from `exact`, which is in float64.

    A rounding is one unit in the last place of `dtype`, the one that the task promises. Without a
    `scale` it is that of the largest number in the element's row (the last axis): sums and
    products mix the numbers of a row. With one, it is that of the element itself, and `scale` says
    how large the numbers are that were rounded on the way to it, which may happen in float32 at
    the coarsest: the angle, for a cosine. Integers and booleans must be equal. None instead of a
    number of roundings allows half of the digits of `dtype`.
    """
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.zeros(exact.shape, dtype=torch.float64)
    eps = torch.finfo(dtype).eps
    roundings = eps**-0.5 if roundings is None else roundings
    size = exact.abs().double().nan_to_num(0, 0, 0)
    if scale is None:
        rows = size.amax(dim=-1, keepdim=True) if size.numel() and size.ndim else size
        return roundings * eps * rows.expand_as(size)
    before = min(eps, torch.finfo(torch.float32).eps) * torch.as_tensor(scale).double().abs()
    return (roundings * (eps * size + before)).expand_as(size)


@dataclass(frozen=True)
class Difference:
    """Where two tensors of one shape first differ by more than is allowed, and by how much."""

    where: tuple[int, ...]
    error: float
    allowed: float


def difference(exact: Tensor, got: Tensor, allowed: Tensor) -> Difference | None:
    """None if `got` is as good as `exact`; equal infinities and NaNs count as equal."""
    common = torch.promote_types(exact.dtype, got.dtype)
    widest = torch.float64 if common.is_floating_point else torch.int64
    wide = torch.complex128 if common.is_complex else widest
    a, b = exact.to(wide), got.to(wide)
    same = (a == b) | ((a != a) & (b != b))
    error = (a - b).abs().double().nan_to_num(nan=math.inf, posinf=math.inf)
    wrong = (error > allowed) & ~same
    if not wrong.any():
        return None
    where = tuple(wrong.nonzero()[0].tolist())
    return Difference(where, float(error[where]), float(allowed[where]))


def short(value: Any) -> str:
    """`value` in one line, for a message: a large tensor is described by its shape."""
    if isinstance(value, Other):
        return f"a value of type {value.type}"
    if isinstance(value, Tensor):
        if value.numel() > 12:
            dtype = str(value.dtype).removeprefix("torch.")
            return f"tensor of shape {tuple(value.shape)}, {dtype}"
        return " ".join(repr(value).split()).replace("[ ", "[")
    if isinstance(value, tuple):
        return "(" + ", ".join(short(item) for item in value) + ("," * (len(value) == 1)) + ")"
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{key!r}: {short(item)}" for key, item in value.items()) + "}"
    else:
        text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 400 else text[:397] + "..."
