"""What hangs in the museum: for each room right versions of one function, and wrong ones.

Some wrong versions are bugs of published code, made again in a few lines, and the lesson that
teaches the idea names the code; the others are close relatives of such bugs. Each is right on the
inputs that its label names as harmless (`tests/grading/labels_museum.py` runs them). What stands
above it is its name, its lesson, and what a learner reads whose test lets it pass. Each room ends
with the list of all that hangs in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from course_grading.exercise import Version

BASE = 10_000.0


def exhibit(name: str, lesson: str, why: str) -> Callable[[Callable[..., Any]], Version]:
    """Make a function a wrong version under this name; `why` says how it gets past a test.

    The idea that it gets wrong is taught in `lesson`, in its text or in its exercises.
    """
    why = f"{why} (Lesson {lesson}.)"
    return lambda function: Version(name, False, function, why)


def theta(dim: int, base: float = BASE) -> Tensor:
    """Radians per position of each pair, in float64."""
    return base ** (-torch.arange(0, dim, 2).double() / dim)


# embed(x, positions, factor) -------------------------------------------------------------------


def waves(angles: Tensor) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def embed(x: Tensor, positions: Tensor, factor: float = 1) -> Tensor:
    angles = (positions.double() / factor)[:, None] * theta(x.shape[-1])
    return x + waves(angles).to(x.dtype)


def embed_in_float32(x, positions, factor=1):
    frequencies = torch.exp(torch.arange(0, x.shape[-1], 2) * (-math.log(BASE) / x.shape[-1]))
    return (x.float() + waves((positions / factor).unsqueeze(-1) * frequencies)).to(x.dtype)


def stepped(angles: Tensor) -> Tensor:
    """The nearest of 6000 angles to a turn, as in a table of sines: off by 0.00053 at most."""
    step = 2 * math.pi / 6000
    return (angles / step).round() * step


def embed_from_a_table_of_sines(x, positions, factor=1):
    angles = (positions.double() / factor)[:, None] * theta(x.shape[-1])
    return x + waves(stepped(angles)).to(x.dtype)


def embed_one_by_one(x, positions, factor=1):
    out, dim = x.clone(), x.shape[-1]
    for row, position in enumerate(positions.tolist()):
        for column in range(dim):
            angle = position / factor / BASE ** (2 * (column // 2) / dim)
            out[:, row, column] += math.cos(angle) if column % 2 else math.sin(angle)
    return out


@exhibit("the column's own number in the exponent", "02",
         "Column 1 should have the frequency of column 0, but it has one of its own. For dim = "
         "512 it reads 0.570 at position 1, where cos(1) = 0.540 belongs. At position 0 every "
         "cosine is 1, whatever its frequency, so compare numbers at another "
         "position.")  # fmt: skip
def embed_column_number(x, positions, factor=1):
    columns = torch.arange(x.shape[-1])
    angles = (positions / factor)[:, None] / BASE ** (2 * columns / x.shape[-1])
    return x + torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(x.dtype)


@exhibit("exponent i/d instead of 2i/d", "02",
         "Every pair after the first turns too fast, and the slowest frequencies are never "
         "reached. Pair 0 is right, and so is position 0: compare the last columns at a "
         "position above 0.")  # fmt: skip
def embed_half_exponent(x, positions, factor=1):
    dim = x.shape[-1]
    frequencies = BASE ** (-torch.arange(dim // 2) / dim)
    return x + waves((positions / factor)[:, None] * frequencies).to(x.dtype)


@exhibit("the number of the text used as position", "01",
         "It was written for tensors of shape (length, batch, dim). Called with (batch, length, "
         "dim), it gives all tokens of a text the row that belongs to the number of the text, "
         "and if there are no more texts than tokens, nothing is raised. Give it texts of several "
         "tokens, and compare every token.")  # fmt: skip
def embed_batch_as_position(x, positions, factor=1):
    table = waves((positions.double() / factor)[:, None] * theta(x.shape[-1]))
    return x + table[: x.size(0)].unsqueeze(1).to(x.dtype)


@exhibit("whole numbers scaled in place", "13",
         "Positions are whole numbers, and `//=` drops the remainder: with factor 2, positions 2 "
         "and 3 both become 1. Use a factor above 1, and a position that the factor does not "
         "divide.")  # fmt: skip
def embed_integers_in_place(x, positions, factor=1):
    scaled = positions.clone()
    scaled //= factor
    return x + waves(scaled[:, None] * theta(x.shape[-1])).to(x.dtype)


@exhibit("positions in the model's dtype", "10",
         "bfloat16 has every whole number up to 256 and only every second one after that, so "
         "257 becomes 256. The fault shows if x is in bfloat16 and a position is odd and beyond "
         "256.")  # fmt: skip
def embed_positions_in_dtype(x, positions, factor=1):
    scaled = positions.to(x.dtype) / factor
    return x + waves(scaled[:, None].double() * theta(x.shape[-1])).to(x.dtype)


@exhibit("beyond row 1023 the last row", "04",
         "Its table has 1024 rows, and a later position reads the last one. Nothing is raised, and "
         "every number up to position 1023 is right. Ask for a position beyond 1023, with factor "
         "1.")  # fmt: skip
def embed_last_row(x, positions, factor=1):
    return embed(x, (positions.double() / factor).clamp(max=1023))


WAVES = (
    Version("in float64, rounded at the end", True, embed),
    Version("in float32 throughout", True, embed_in_float32,
            "Angles in float32 are right to a thousandth up to some thousands of positions. Allow "
            "a small difference, and in bfloat16 a larger one, of a hundredth or more."),
    Version("one number at a time", True, embed_one_by_one),
    Version("sines from a table of 6000", True, embed_from_a_table_of_sines,
            "It is off by up to 0.0006, and the task promises 0.001: allow as much."),
    embed_column_number, embed_half_exponent, embed_batch_as_position, embed_integers_in_place,
    embed_positions_in_dtype, embed_last_row,
)  # fmt: skip

# turn(x, positions) ----------------------------------------------------------------------------

ANY_LAYOUT = (
    "Which columns make a pair is free here. Compare what does not depend on it: scores of "
    "turned vectors, and only with vectors whose numbers are all alike."
)


def angles_for(x: Tensor, positions: Tensor, frequencies: Tensor | None = None) -> Tensor:
    """Angles that broadcast over heads: (length, pairs) or (batch, 1, length, pairs)."""
    frequencies = theta(x.shape[-1]) if frequencies is None else frequencies
    angles = positions.double()[..., None] * frequencies
    return angles if positions.ndim == 1 else angles.unsqueeze(1)


def turn_halves(x: Tensor, angles: Tensor) -> Tensor:
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.to(x.dtype)


def turn(x: Tensor, positions: Tensor) -> Tensor:
    return turn_halves(x, angles_for(x, positions))


def turn_interleaved(x, positions):
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    hands = torch.exp(1j * angles_for(x, positions))
    return torch.view_as_real(pairs * hands).flatten(-2).to(x.dtype)


def turn_slowest_first(x, positions):
    return turn_halves(x.flip(-1), angles_for(x, positions)).flip(-1)


def turn_from_a_table_of_sines(x, positions):
    return turn_halves(x, stepped(angles_for(x, positions)))


def turn_by_matrices(x, positions):
    cos, sin = angles_for(x, positions).cos(), angles_for(x, positions).sin()
    blocks = torch.stack([cos, -sin, sin, cos], dim=-1).unflatten(-1, (2, 2))
    pairs = x.double().unflatten(-1, (-1, 2)).unsqueeze(-1)
    return (blocks @ pairs).flatten(-3).to(x.dtype)


@exhibit("frequencies repeated for one layout, turned in the other", "09",
         "The two columns of a pair turn by different angles, so this is no rotation at all. At "
         "position 0 nothing turns. At other positions a turned vector has another length than "
         "before.")  # fmt: skip
def turn_mixed(x, positions):
    cos, sin = angles_for(x, positions).cos(), angles_for(x, positions).sin()
    cos, sin = cos.repeat_interleave(2, dim=-1), sin.repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-second, first], dim=-1) * sin).to(x.dtype)


@exhibit("frequencies spread over the model's width", "08",
         "The exponent is divided by heads * head_dim instead of head_dim, so each head has "
         "fast pairs only. With one head the two numbers are the same. Lengths stay right, and "
         "scores still depend on distance alone, so you have to know what the score at some "
         "distance should be. Ask with several heads.")  # fmt: skip
def turn_by_model_width(x, positions):
    heads, head_dim = x.shape[1], x.shape[-1]
    frequencies = theta(heads * head_dim)[: head_dim // 2]
    return turn_halves(x, angles_for(x, positions, frequencies))


@exhibit("each head has a slice of the model's frequencies", "08",
         "Head 0 is right. Each later head goes on in the list of frequencies where the head "
         "before it ended, with pairs that hardly turn. Every head is a rotation of its own, so "
         "compare all heads with scores that you know.")  # fmt: skip
def turn_slices_of_model_width(x, positions):
    heads, head_dim = x.shape[1], x.shape[-1]
    slices = (BASE ** (-torch.arange(0, heads * head_dim, 2).double() / head_dim)).chunk(heads)
    turned = [
        turn_halves(x[:, h : h + 1], angles_for(x, positions, frequencies))
        for h, frequencies in enumerate(slices)
    ]
    return torch.cat(turned, dim=1)


@exhibit("the table of positions broadcast over heads", "08",
         "Positions of shape (batch, length) meet a tensor of shape (batch, heads, length, "
         "head_dim), so head h of every text gets the positions of text h. With as many texts "
         "as heads nothing is raised, and texts that all have the same positions come out "
         "right. Give as many texts as heads, with positions that differ.")  # fmt: skip
def turn_table_over_heads(x, positions):
    return turn_halves(x, positions.double()[..., None] * theta(x.shape[-1]))


@exhibit("the first text's positions for all texts", "08",
         "Row 0 of `positions` serves the whole batch. The first text is right, and so are "
         "scores of a text with the same distances. Give each text positions with other gaps, "
         "and compare the second text as well.")  # fmt: skip
def turn_like_the_first_text(x, positions):
    return turn(x, positions if positions.ndim == 1 else positions[0])


@exhibit("counts by itself", "09",
         "It turns by 0, 1, 2, ... whatever `positions` says. A whole text is right, but a "
         "token that is decoded alone stands at 0 again. Use positions with gaps: without gaps "
         "all distances are right.")  # fmt: skip
def turn_counting_itself(x, positions):
    return turn_halves(x, torch.arange(x.shape[-2])[:, None] * theta(x.shape[-1]))


TURN = (
    Version("pairs are columns i and i + d/2", True, turn, ANY_LAYOUT),
    Version("pairs are columns 2i and 2i + 1", True, turn_interleaved, ANY_LAYOUT),
    Version("the slowest pair first", True, turn_slowest_first, ANY_LAYOUT),
    Version("with a matrix for every pair", True, turn_by_matrices),
    Version("sines from a table of 6000", True, turn_from_a_table_of_sines,
            "In vectors of length 1 its numbers are off by up to 0.0006, and the task promises "
            "0.001. Allow as much, and more for longer vectors and for scores of many columns."),
    turn_mixed, turn_by_model_width, turn_slices_of_model_width, turn_table_over_heads,
    turn_like_the_first_text, turn_counting_itself,
)  # fmt: skip

# make(dim)(length, offset, base, dtype) --------------------------------------------------------


def cosines(length: int, offset: int, base: float, dim: int) -> Tensor:
    return (torch.arange(offset, offset + length)[:, None] * theta(dim, base)).cos()


class Anew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        return cosines(length, offset, base, self.dim).to(dtype)


class Keeps(Anew):
    """A table for each base, made when it is first needed."""

    def __init__(self, dim):
        super().__init__(dim)
        self.kept = {}


class KeptByAll(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        key = (length, offset, base, dtype)
        if key not in self.kept:
            self.kept[key] = super().forward(length, offset, base, dtype)
        return self.kept[key]


class GrownExactly(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if base not in self.kept or len(self.kept[base]) < end:
            self.kept[base] = cosines(end, 0, base, self.dim).float()
        return self.kept[base][offset:end].to(dtype)


class InFloat32(Anew):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        frequencies = 1.0 / base ** (torch.arange(0, self.dim, 2).float() / self.dim)
        positions = torch.arange(offset, offset + length).float()
        return torch.outer(positions, frequencies).cos().to(dtype)


class FromATableOfCosines(Anew):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        angles = torch.arange(offset, offset + length)[:, None] * theta(self.dim, base)
        return stepped(angles).cos().to(dtype)


@exhibit("keeps the table when the base changes", "09",
         "The first call decides: the same table, asked for as many rows with another base, "
         "returns the rows of the first base. A longer text makes it compute a new table. Ask "
         "one table twice for the same rows, with two bases.")  # fmt: skip
class BaseForgotten(Anew):
    def __init__(self, dim):
        super().__init__(dim)
        self.kept = None

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if self.kept is None or len(self.kept) < end:
            self.kept = cosines(end, 0, base, self.dim)
        return self.kept[offset:end].to(dtype)


@exhibit("keeps the table when the offset changes", "09",
         "It remembers how many rows it has, but not where they begin. A fresh table is right "
         "for any offset: ask one table twice for as many rows, with two offsets.")  # fmt: skip
class OffsetForgotten(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base not in self.kept or len(self.kept[base]) < length:
            self.kept[base] = cosines(length, offset, base, self.dim)
        return self.kept[base][:length].to(dtype)


@exhibit("hands out the first rows, whatever the offset", "09",
         "It computes as many rows as it should, and then returns [:length] instead of [offset "
         ": offset + length]. So every token that is decoded from a cache stands at position 0. "
         "Ask with an offset above 0, in the first call or later.")  # fmt: skip
class RestartsAtZero(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base not in self.kept or len(self.kept[base]) < offset + length:
            self.kept[base] = cosines(offset + length, 0, base, self.dim)
        return self.kept[base][:length].to(dtype)


@exhibit("keeps what the first dtype rounded", "09",
         "A first call in bfloat16 makes it remember rounded numbers, and it converts these for "
         "a later call in float32. The dtype is right then, and the numbers are off by up to "
         "0.002. Make a new table, let its first call be in bfloat16, then ask it for the same "
         "rows in float32, and allow no more than 0.001.")  # fmt: skip
class DtypeForgotten(Keeps):
    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        end = offset + length
        if base not in self.kept or len(self.kept[base]) < end:
            self.kept[base] = cosines(end, 0, base, self.dim).to(dtype)
        return self.kept[base][offset:end].to(dtype)


@exhibit("frequencies in a buffer", "10",
         "model.to(torch.bfloat16) converts buffers as well, and this buffer holds the "
         "frequencies. They are then off by up to one part in 256. At position 0 that is "
         "nothing; at position 1000, for dim 64, angles are off by up to 0.44. Call "
         ".to(torch.bfloat16) on the module, and ask far out, with base 10 000 in the first "
         "call: another base makes it compute its frequencies anew.")  # fmt: skip
class RoundedBuffer(Anew):
    def __init__(self, dim):
        super().__init__(dim)
        self.base = BASE
        self.register_buffer("frequencies", theta(dim).float(), persistent=False)

    def forward(self, length, offset=0, base=BASE, dtype=torch.float32):
        if base != self.base:
            self.base, self.frequencies = base, theta(self.dim, base).float()
        positions = torch.arange(offset, offset + length)
        return (positions[:, None] * self.frequencies.float()).cos().to(dtype)


# mypy does not see what a decorator makes of a class.
TABLE: tuple[Any, ...] = (
    Version("computes everything anew", True, Anew),
    Version("keeps a table for all that was asked", True, KeptByAll),
    Version("grows one table for each base", True, GrownExactly),
    Version("in float32 throughout", True, InFloat32, "A table in float32 is right to a thousandth "
            "up to position 2000 or so. Stay below, and allow that much."),
    Version("cosines from a table of 6000", True, FromATableOfCosines,
            "It is off by up to 0.0006, and the task promises 0.001: allow as much."),
    BaseForgotten, OffsetForgotten, RestartsAtZero, DtypeForgotten, RoundedBuffer,
)  # fmt: skip

# convert(q_weight, k_weight, num_heads, num_kv_heads) ------------------------------------------


def to_half(weight: Tensor, num_heads: int) -> Tensor:
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def convert(q_weight: Tensor, k_weight: Tensor, num_heads: int, num_kv_heads: int):
    return to_half(q_weight, num_heads), to_half(k_weight, num_kv_heads)


def convert_by_index(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        width = len(weight) // heads
        order = [*range(0, width, 2), *range(1, width, 2)]
        return weight[[h * width + row for h in range(heads) for row in order]]

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


def convert_by_slices(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        return torch.cat([torch.cat([w[0::2], w[1::2]]) for w in weight.chunk(heads)])

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


@exhibit("nothing is moved", "09",
         "All shapes fit, so the model loads. Between two tokens at the same position every score "
         "is right, since query and key turn alike. Scores between different positions are wrong: "
         "compare rows, or compare such scores.")  # fmt: skip
def convert_nothing(q_weight, k_weight, num_heads, num_kv_heads):
    return q_weight.clone(), k_weight.clone()


@exhibit("keys split by the number of query heads", "09",
         "Grouped keys have fewer heads than the queries. If their rows can be divided by the "
         "number of query heads as well, nothing is raised. Use fewer key heads than query "
         "heads, and compare the keys.")  # fmt: skip
def convert_with_query_heads(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, num_heads), to_half(k_weight, num_heads)


@exhibit("all query heads taken for one", "09",
         "Rows of the queries move from one head to another; the keys are right. With one query "
         "head the result is right: use several heads, and compare the queries.")  # fmt: skip
def convert_as_one_head(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, 1), to_half(k_weight, num_kv_heads)


@exhibit("the way back", "09",
         "It turns halves into neighbours instead of neighbours into halves. In a head of four "
         "rows both are the same swap: use heads of six rows or more.")  # fmt: skip
def convert_backwards(q_weight, k_weight, num_heads, num_kv_heads):
    def one(weight, heads):
        return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)

    return one(q_weight, num_heads), one(k_weight, num_kv_heads)


@exhibit("queries only", "09",
         "The queries are moved and the keys are not, so queries and keys no longer fit. "
         "Compare both results.")  # fmt: skip
def convert_queries_only(q_weight, k_weight, num_heads, num_kv_heads):
    return to_half(q_weight, num_heads), k_weight.clone()


CONVERSION = (
    Version("view and transpose", True, convert),
    Version("a list of row numbers", True, convert_by_index),
    Version("every second row, head by head", True, convert_by_slices),
    convert_nothing, convert_with_query_heads, convert_as_one_head, convert_backwards,
    convert_queries_only,
)  # fmt: skip

# alibi_weights(q, k, q_positions, k_positions) -------------------------------------------------


def slopes(num_heads: int, filled_from: int = 1) -> Tensor:
    """What is missing to `num_heads` is filled with every other slope of a finer series."""
    power = 2 ** (num_heads.bit_length() - 1)
    first = 2.0 ** (-8 * torch.arange(1, power + 1) / power)
    finer = 2.0 ** (-4 * torch.arange(filled_from, 2 * power + 1, 2) / power)
    return torch.cat([first, finer[: num_heads - power]])


def distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return q_positions[:, None] - k_positions


def softmax_seen(scores: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    hidden = distances(q_positions, k_positions) < 0
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)


def scaled(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


def alibi(num_heads: int, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return -slopes(num_heads)[:, None, None] * distances(q_positions, k_positions)


def alibi_weights(q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    scores = scaled(q.float(), k.float()) + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


def alibi_distance_in_dtype(q, k, q_positions, k_positions):
    bias = alibi(q.shape[1], q_positions, k_positions).to(q.dtype)
    return softmax_seen(scaled(q, k) + bias, q_positions, k_positions)


def alibi_absolute_in_float32(q, k, q_positions, k_positions):
    bias = slopes(q.shape[1])[:, None, None] * k_positions
    return softmax_seen(scaled(q.float(), k.float()) + bias, q_positions, k_positions).to(q.dtype)


def alibi_in_loops(q, k, q_positions, k_positions):
    out = torch.zeros(*q.shape[:3], k.shape[2])
    for h, slope in enumerate(slopes(q.shape[1]).tolist()):
        for i, here in enumerate(q_positions.tolist()):
            seen = (k_positions <= here).nonzero()[:, 0]
            scores = torch.einsum("bd,bkd->bk", q[:, h, i].float(), k[:, h, seen].float())
            biased = scores / q.shape[-1] ** 0.5 - slope * (here - k_positions[seen])
            out[:, h, i, seen] = biased.softmax(dim=-1)
    return out.to(q.dtype)


def alibi_scores_in_steps(q, k, q_positions, k_positions):
    """Scores rounded to 0.003, so that a weight is off by 0.00075 at most."""
    scores = scaled(q.float(), k.float()) + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen((scores / 0.003).round() * 0.003, q_positions, k_positions).to(q.dtype)


@exhibit("slopes right for powers of two only", "06",
         "2^(-8h/n) is the rule where n is a power of two. For 3 heads the authors' code has "
         "1/16, 1/256 and 1/4, so weights that were trained with these slopes meet others here. "
         "Use 3, 6 or 12 heads.")  # fmt: skip
def alibi_powers_of_two(q, k, q_positions, k_positions):
    heads = q.shape[1]
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    scores = scaled(q.float(), k.float())
    scores = scores - slope[:, None, None] * distances(q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


@exhibit("filled from the second slope on", "06",
         "For 3, 6 or 12 heads the rule takes every other slope of a finer series, from the first "
         "on. This version takes them from the second on. The heads before them are right: for 3 "
         "heads, only the last one is wrong, with 1/16 instead of 1/4. Compare all "
         "heads.")  # fmt: skip
def alibi_filled_from_the_second(q, k, q_positions, k_positions):
    slope = slopes(q.shape[1], filled_from=2)[:, None, None]
    scores = scaled(q.float(), k.float()) - slope * distances(q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


@exhibit("slope times the key's position, in the dtype of q", "06",
         "slope * j grows with the text, and beyond 128 bfloat16 has whole numbers only: keys "
         "at different distances get the same bias. Ask in bfloat16, with thousands of "
         "keys.")  # fmt: skip
def alibi_absolute_in_dtype(q, k, q_positions, k_positions):
    bias = (slopes(q.shape[1])[:, None, None] * k_positions).to(q.dtype)
    return softmax_seen(scaled(q, k) + bias, q_positions, k_positions)


@exhibit("the bias added after the softmax", "05",
         "These are no weights: they do not add up to 1, and those of far keys are below 0. Causal "
         "masks, shapes and dtypes are right, so compare numbers.")  # fmt: skip
def alibi_after_softmax(q, k, q_positions, k_positions):
    weights = softmax_seen(scaled(q.float(), k.float()), q_positions, k_positions)
    weights = weights + alibi(q.shape[1], q_positions, k_positions)
    return weights.masked_fill(distances(q_positions, k_positions) < 0, 0).to(q.dtype)


@exhibit("the bias added before the division", "05",
         "The bias is divided by sqrt(head_dim) together with the scores, so every slope is too "
         "flat. With head_dim = 1 nothing shows. Compare weights with the softmax of the bias "
         "alone, for queries of zeros.")  # fmt: skip
def alibi_before_division(q, k, q_positions, k_positions):
    scores = q.float() @ k.float().mT + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen(scores / q.shape[-1] ** 0.5, q_positions, k_positions).to(q.dtype)


@exhibit("distances between rows and columns", "09",
         "The first row is taken for position 0, and positions serve the mask only. A whole text "
         "is right. One query after many keys sees the oldest key as the nearest. "
         "Ask with one query and many keys, or with gaps.")  # fmt: skip
def alibi_row_numbers(q, k, q_positions, k_positions):
    rows, columns = torch.arange(q.shape[2]), torch.arange(k.shape[2])
    bias = -slopes(q.shape[1])[:, None, None] * distances(rows, columns).abs()
    scores = scaled(q.float(), k.float()) + bias
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


SLOPE = (
    Version("slope times distance, in float32", True, alibi_weights),
    Version("slope times distance, in the dtype of q", True, alibi_distance_in_dtype,
            "Near keys have small distances, which bfloat16 holds well enough. Allow a difference "
            "of 0.02 or so between weights, and remember that later keys have weight 0."),
    Version("slope times the key's position, in float32", True, alibi_absolute_in_float32,
            "It adds slope * j to all scores, which gives the weights of -slope * (i - j). In "
            "bfloat16 its weights are rounded to two or three digits: allow 0.02 or so. And keys "
            "after the query have weight 0."),
    Version("in loops", True, alibi_in_loops),
    Version("scores in steps of 0.003", True, alibi_scores_in_steps,
            "Its weights are off by up to 0.0008 in float32, and the task promises 0.001: allow "
            "as much. In bfloat16 they are rounded to two or three digits: allow 0.02 or so."),
    alibi_powers_of_two, alibi_filled_from_the_second, alibi_absolute_in_dtype,
    alibi_after_softmax, alibi_before_division, alibi_row_numbers,
)  # fmt: skip

# t5_bias(table, q_positions, k_positions) ------------------------------------------------------

SIDE, EXACT, FARTHEST = 16, 8, 128


def near_or_far(distance: Tensor) -> Tensor:
    """Bucket of a distance of 0 or more, within one side; not closed at the end."""
    steps = (distance.clamp(min=EXACT).double() / EXACT).log() / math.log(FARTHEST / EXACT)
    far = EXACT + (steps * (SIDE - EXACT) + 1e-9).long()
    return torch.where(distance < EXACT, distance, far)


def bucket(relative: Tensor) -> Tensor:
    """Of distances query - key; keys ahead of the query have the upper half."""
    return near_or_far(relative.abs()).clamp(max=SIDE - 1) + SIDE * (relative < 0)


def t5_bias(table: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return table[bucket(distances(q_positions, k_positions))].movedim(-1, 0)


def t5_one_by_one(table, q_positions, k_positions):
    out = torch.empty(table.shape[1], len(q_positions), len(k_positions), dtype=table.dtype)
    for i, q in enumerate(q_positions.tolist()):
        for j, k in enumerate(k_positions.tolist()):
            row = abs(q - k)
            if row >= EXACT:
                row = min(15, int(8 + 8 * math.log(row / 8) / math.log(16) + 1e-9))
            out[:, i, j] = table[row + 16 * (k > q)]
    return out


def consecutive(q_positions: Tensor, k_positions: Tensor) -> bool:
    return torch.equal(q_positions, k_positions) and bool((q_positions.diff() == 1).all())


def t5_unfolded(table, q_positions, k_positions):
    if not consecutive(q_positions, k_positions):
        return t5_bias(table, q_positions, k_positions)
    n = len(q_positions)
    every = table[bucket(torch.arange(n - 1, -n, -1))].T
    return every.unfold(-1, n, 1).flip(-2)


@exhibit("sign flipped", "05",
         "Keys before the query get the rows that are meant for keys after it. T5's own code "
         "takes key minus query, and this course takes query minus key, so one minus is easily "
         "lost. A table whose two halves are alike hides the fault. Check a key before its "
         "query.")  # fmt: skip
def t5_sign_flipped(table, q_positions, k_positions):
    return table[bucket(-distances(q_positions, k_positions))].movedim(-1, 0)


@exhibit("a shift that is good below the diagonal only", "07",
         "The shift gives each row the distances n - 1, ..., 0. Next to the diagonal, above it, "
         "stands 0, and further on what belongs to the next row. A causal mask would cover it, "
         "but here both sides are seen. Check keys after their query, where queries and keys are "
         "the same consecutive positions.")  # fmt: skip
def t5_shifted(table, q_positions, k_positions):
    if not consecutive(q_positions, k_positions):
        return t5_bias(table, q_positions, k_positions)
    n = len(q_positions)
    rows = table[bucket(torch.arange(n - 1, -1, -1))].T[:, None].expand(-1, n, -1)
    padded = nn.functional.pad(rows, (1, 0))
    return padded.reshape(-1, n + 1, n)[:, 1:]


@exhibit("distances between rows and columns", "09",
         "`positions` are not used. A text from position 0 on is right, but one query at "
         "position 500 gets the rows of a query at position 0. Ask with one query far out, or "
         "with gaps.")  # fmt: skip
def t5_row_numbers(table, q_positions, k_positions):
    return t5_bias(table, torch.arange(len(q_positions)), torch.arange(len(k_positions)))


@exhibit("the last bucket behind is left open", "05",
         "From distance 128 on, the number of the row grows past 15: first to row 16, which no "
         "key should have, and then into the rows for keys after the query. Nothing is raised, "
         "since these rows exist. Check a key 128 or more before its query.")  # fmt: skip
def t5_open_end(table, q_positions, k_positions):
    relative = distances(q_positions, k_positions)
    index = near_or_far(relative.abs()) + SIDE * (relative < 0)
    return table[index.clamp(max=len(table) - 1)].movedim(-1, 0)


BUCKETS = (
    Version("a row for every pair of positions", True, t5_bias),
    Version("one number at a time", True, t5_one_by_one),
    Version("one row for each distance, unfolded", True, t5_unfolded),
    t5_sign_flipped, t5_shifted, t5_row_numbers, t5_open_end,
)  # fmt: skip

# make(dim, base, original_length)(length) ------------------------------------------------------

SLOW, FAST = 1.0, 32.0


def kept_share(frequencies: Tensor, original_length: int) -> Tensor:
    turns = original_length * frequencies / (2 * math.pi)
    return ((turns - SLOW) / (FAST - SLOW)).clamp(0, 1)


def by_parts(frequencies: Tensor, original_length: int, stretch: float) -> Tensor:
    keep = kept_share(frequencies, original_length)
    return frequencies * (keep + (1 - keep) / stretch)


def stretching(dim: int, base: float, original_length: int) -> Callable[[int], Tensor]:
    trained = theta(dim, base)
    return lambda length: by_parts(trained, original_length, max(1.0, length / original_length))


def stretching_pair_by_pair(dim, base, original_length):
    def frequencies(length):
        stretched, factor = [], max(1.0, length / original_length)
        for i in range(dim // 2):
            frequency = base ** (-2 * i / dim)
            turns = original_length * frequency / (2 * math.pi)
            slowed = min(1.0, max(0.0, (32 - turns) / 31))
            stretched.append((1 - slowed) * frequency + slowed * frequency / factor)
        return torch.tensor(stretched)

    return frequencies


def stretching_remembered(dim, base, original_length):
    anew = stretching(dim, base, original_length)
    known: dict[int, Tensor] = {}
    return lambda length: known.setdefault(length, anew(length)).clone()


def stretching_to_four_digits(dim, base, original_length):
    anew = stretching(dim, base, original_length)
    return lambda length: torch.tensor([float(f"{one:.3e}") for one in anew(length).tolist()])


@exhibit("never shrinks back", "14",
         "After one long text, all short texts get the frequencies of the long one, until the "
         "server is started again. Ask one function for a long text, and then for a short "
         "one.")  # fmt: skip
def stretching_never_back(dim, base, original_length):
    trained, longest = theta(dim, base), [original_length]

    def frequencies(length):
        longest[0] = max(longest[0], length)
        return by_parts(trained, original_length, longest[0] / original_length)

    return frequencies


@exhibit("ramp upside down", "15",
         "In a long text the fast pairs are slowed, and the slow pairs are kept. Compare the "
         "fastest pair and the slowest one at a length above the original.")  # fmt: skip
def stretching_upside_down(dim, base, original_length):
    trained = theta(dim, base)

    def frequencies(length):
        stretch = max(1.0, length / original_length)
        ramp = kept_share(trained, original_length)
        return trained / stretch * ramp + trained * (1 - ramp)

    return frequencies


@exhibit("slows all pairs alike", "13",
         "Every frequency is divided by the factor, as in position interpolation. The slowest "
         "pair is right at every length. Compare the fastest pair in a long text.")  # fmt: skip
def stretching_all_alike(dim, base, original_length):
    trained = theta(dim, base)
    return lambda length: trained / max(1.0, length / original_length)


@exhibit("a ramp over pair numbers", "15",
         "Between 32 turns and 1 turn, its ramp is linear in the number of the pair, as in YaRN's "
         "released code. The rule of this room is linear in turns, as in the paper. The pairs at "
         "both ends are right. Compare the pairs between them, in a long text.")  # fmt: skip
def stretching_by_pair_number(dim, base, original_length):
    trained = theta(dim, base)

    def pair_with(turns: float) -> float:
        return dim / 2 * math.log(original_length / (2 * math.pi * turns)) / math.log(base)

    first, last = math.floor(pair_with(FAST)), math.ceil(pair_with(SLOW))
    slowed = ((torch.arange(dim // 2) - first) / max(1, last - first)).clamp(0, 1)

    def frequencies(length):
        return trained * (1 - slowed + slowed / max(1.0, length / original_length))

    return frequencies


@exhibit("stretched in place", "14",
         "Each long text stretches what the long texts before it had stretched already. The "
         "first answer is right. Ask one function twice for the same long length.")  # fmt: skip
def stretching_in_place(dim, base, original_length):
    current = theta(dim, base)

    def frequencies(length):
        nonlocal current
        if length > original_length:
            current = by_parts(current, original_length, length / original_length)
            return current
        return theta(dim, base)

    return frequencies


@exhibit("short texts stretched as well", "14",
         "For a text shorter than the original length the factor becomes less than 1, and slow "
         "pairs turn faster than in training. Ask for a length well below the original, and "
         "compare the slow pairs.")  # fmt: skip
def stretching_short_texts(dim, base, original_length):
    trained = theta(dim, base)
    return lambda length: by_parts(trained, original_length, length / original_length)


REACH = (
    Version("computes everything anew", True, stretching),
    Version("pair by pair", True, stretching_pair_by_pair),
    Version("remembers each length", True, stretching_remembered),
    Version("rounded to four digits", True, stretching_to_four_digits,
            "It is off by up to one part in 2000, and the task promises one part in 1000: allow "
            "as much, of each frequency."),
    stretching_never_back, stretching_upside_down, stretching_all_alike,
    stretching_by_pair_number, stretching_in_place, stretching_short_texts,
)  # fmt: skip

# test(encoding), where encoding(positions, dim) is somebody's sinusoidal encoding --------------


def encoding(positions: Tensor, dim: int) -> Tensor:
    return waves(positions[..., None] * theta(dim)).float()


def encoding_in_float32(positions, dim):
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(BASE) / dim))
    return waves(positions[..., None] * frequencies)


def test_by_hand(encoding):
    row = encoding(torch.tensor([3]), 4)[0].tolist()
    expected = [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)]
    assert all(abs(got - want) < 1e-3 for got, want in zip(row, expected, strict=True))


def test_in_loops(encoding):
    table = encoding(torch.tensor([9, 2]), 6)
    for row, position in enumerate((9, 2)):
        for pair in range(3):
            angle = position / 10_000 ** (pair / 3)
            assert abs(table[row, 2 * pair] - math.sin(angle)) < 1e-3, "sine"
            assert abs(table[row, 2 * pair + 1] - math.cos(angle)) < 1e-3, "cosine"


def test_with_complex_numbers(encoding):
    positions = torch.tensor([[0, 3, 17], [5, 2, 90]])
    hands = torch.exp(1j * positions[..., None] * BASE ** (-torch.arange(4).double() / 4))
    got = encoding(positions, 8).double()
    assert torch.allclose(got[..., 0::2], hands.imag, atol=1e-3)
    assert torch.allclose(got[..., 1::2], hands.real, atol=1e-3)


@exhibit("compares the encoding with itself", "02",
         "It compares one row at a time with all rows at once, and both sides come from the "
         "function under test. It passes for nearly any function. Show it an encoding with "
         "wrong frequencies.")  # fmt: skip
def test_with_itself(encoding):
    positions = torch.arange(50)
    expected = torch.stack([encoding(p[None], 16)[0] for p in positions])
    assert torch.allclose(encoding(positions, 16), expected, atol=1e-5)


@exhibit("a demonstration that ends in a conclusion", "01",
         "It computes, and then returns the sentence that it was written to return: no number "
         "can make it fail. Show it a broken encoding, and insist on an "
         "AssertionError.")  # fmt: skip
def test_that_concludes(encoding):
    table = encoding(torch.arange(50), 16)
    near, far = table[0] @ table[1], table[0] @ table[40]
    return f"neighbours {near:.1f}, strangers {far:.1f}: the encoding knows distances, as it should"


@exhibit("swallows what it finds", "04",
         "Its `except Exception` was meant for missing features, and catches AssertionError as "
         "well. Show it a broken encoding, and see whether an error arrives.")  # fmt: skip
def test_that_swallows(encoding):
    try:
        test_in_loops(encoding)
    except Exception:
        return "skipped: not supported here"


@exhibit("looks at position 0 only", "02",
         "It rejects some broken encodings, for example one that counts from 1. Show it one "
         "that is right at position 0 and wrong elsewhere.")  # fmt: skip
def test_first_row(encoding):
    row = encoding(torch.tensor([0]), 8)[0].double()
    assert torch.allclose(row, torch.tensor([0.0, 1.0]).repeat(4).double(), atol=1e-6)


@exhibit("shares the mistake", "02",
         "The numbers that it expects have the exponent i/d, so it rejects right encodings. "
         "Show it one.")  # fmt: skip
def test_with_shared_mistake(encoding):
    positions = torch.tensor([0, 3, 17])
    expected = waves(positions[:, None] * BASE ** (-torch.arange(4).double() / 8))
    assert torch.allclose(encoding(positions, 8).double(), expected, atol=1e-3)


@exhibit("asks for equality to the last bit", "10",
         "It accepts one way to round. Show it two right encodings, one that computes its "
         "angles in float32 and one in float64.")  # fmt: skip
def test_to_the_last_bit(encoding):
    positions = torch.tensor([0, 30, 1700])
    assert torch.equal(encoding(positions, 8), encoding_in_float32(positions, 8))


@exhibit("asks for seven digits", "10",
         "It computes in float64, and allows a difference of 0.0000001. At position 90, angles "
         "in float32 are off by more than that. Show it a right encoding that computes its "
         "angles in float32.")  # fmt: skip
def test_to_seven_digits(encoding):
    positions = torch.tensor([0, 7, 90])
    expected = waves(positions[:, None] * theta(8))
    assert torch.allclose(encoding(positions, 8).double(), expected, rtol=0, atol=1e-7)


NUMBERS = (
    "This test compares numbers at small positions, for dim = 4, 6 or 8. Try it with broken "
    "encodings that are wrong there already, for every dim."
)
TESTS = (
    Version("four numbers by hand", True, test_by_hand, NUMBERS),
    Version("in loops", True, test_in_loops, NUMBERS),
    Version("with complex numbers", True, test_with_complex_numbers, NUMBERS),
    test_with_itself, test_that_concludes, test_that_swallows, test_first_row,
    test_with_shared_mistake, test_to_the_last_bit, test_to_seven_digits,
)  # fmt: skip
