"""A temperature by position: queries look more sharply where there is more to look at."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor

from course_lib.encodings.angles import check_integers
from course_lib.encodings.scheme import PositionScheme, check_places, on_axes


class QueryTemperature(PositionScheme):
    """Multiplies the query at position p by 1 + scale ln(1 + floor((p + first) / length)).

    All scores of a query grow by that factor, which is 1 until p + first reaches `length`, and
    `scale` ln 2 more there. It stands alone, or around a `scheme` that opens no door but `rotate`:
    a query may be multiplied before or after it is turned. With several axes, p is on the first.

    - Llama 4, in its layers without positions: QueryTemperature(8192, first=1).
    - Ministral 3, in all layers: QueryTemperature(16_384, scheme=Rotary(...)), where `length` is
      the original length of its YaRN.

    Raises ValueError for a `length` below 1, a `scheme` with other doors, and positions that are
    not integers.

    Source: released code of Llama 4 and Ministral 3. Nakanishi 2025, Scalable-Softmax (arXiv
    2501.19399), multiplies by s ln n for n keys, where s is learned for each head.
    """

    def __init__(
        self, length: int, scale: float = 0.1, first: int = 0, scheme: PositionScheme | None = None
    ) -> None:
        super().__init__()
        self.scheme = PositionScheme() if scheme is None else scheme
        if length < 1:
            raise ValueError(f"length must be 1 or more, got {length}: positions from step to step")
        if others := set(self.scheme.open_doors) - {"rotate"}:
            raise ValueError(
                f"scheme must open no door but rotate, got {type(scheme).__name__} with "
                f"{', '.join(sorted(others))}: q k alone is multiplied"
            )
        self.length, self.scale, self.first = length, scale, first
        self.axes = self.scheme.axes

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        check_places(self, q_positions=(q, q_positions), k_positions=(k, k_positions))
        turned, k = self.scheme.rotate(q, k, q_positions, k_positions)
        if self.axes > 1:
            q_positions = on_axes(q_positions, self.axes, (q.shape[0], q.shape[2]))[..., 0]
        factor = self.factor(q_positions)[..., None]  # (*batch, queries, 1)
        return (turned * factor.unsqueeze(-3)).to(q.dtype), k

    def factor(self, positions: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What a query at each position is multiplied by, in float32."""
        check_integers(positions)
        steps = ((positions.long() + self.first) // self.length).clamp(min=0)
        return 1 + self.scale * steps.float().log1p()
