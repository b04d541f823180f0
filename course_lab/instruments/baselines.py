"""What ignorance gets: the numbers to set beside a loss, or beside a share of attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from course_lab.training.tasks import IGNORE, Batch

BYTES = 256
DOUBT = 5.0  # imagined occurrences: how much of the next shorter context goes into each count


class CountingModel(nn.Module):
    """Predicts a byte from how often it followed the `before` bytes before it in `text`.

    With `before` 0 it knows how frequent each byte is; with 1, which byte follows which; with 2,
    which byte follows which two. It knows no word, and nothing further back. It is called as a
    decoder is, so `evaluation` measures both on the same bytes.

    Counts are smoothed, so that no byte is impossible: a context seen n times, n_b of them before
    the byte b, gives b the share (n_b + DOUBT p_b) / (n + DOUBT), where p_b is the share that the
    context without its first byte gives. Below single bytes all 256 have the same share. `before`
    3 or more would need gigabytes, and is refused with ValueError.

    Source: MacKay and Peto 1995, A hierarchical Dirichlet language model.
    """

    def __init__(self, text: UInt8[Tensor, " bytes"], before: int) -> None:
        super().__init__()
        if not 0 <= before <= 2:
            raise ValueError(
                f"before must be 0, 1 or 2, got {before}: longer tables need gigabytes"
            )
        self.before = before
        shares = torch.full((BYTES,), 1 / BYTES, dtype=torch.float64)
        tables = []
        for known in range(before + 1):
            counts = _counts(text, known)  # (*bytes before, byte)
            shares = (counts + DOUBT * shares) / (counts.sum(dim=-1, keepdim=True) + DOUBT)
            tables.append(nn.Parameter(shares.float().log(), requires_grad=False))
        self.tables = nn.ParameterList(tables)

    def forward(
        self, tokens: Int[Tensor, "batch length"], positions: Int[Tensor, "*batch length"]
    ) -> Float[Tensor, "batch length vocab"]:
        """The logarithm of every byte's share; the first places know fewer bytes before them.

        The byte at a place counts as the first one before the byte to predict. `positions` make
        no difference.
        """
        scores: Tensor = self.tables[0].expand(*tokens.shape, BYTES)
        for known in range(1, self.before + 1):
            windows = tokens.unfold(1, known, 1)  # (batch, length - known + 1, known)
            known_shares = self.tables[known][windows.unbind(-1)]
            scores = torch.cat([scores[:, : known - 1], known_shares], dim=1)
        return scores


def uniform_attention(length: int) -> Float[Tensor, "length length"]:
    """The weights of a causal head without preference: query i gives its i + 1 keys the same."""
    return torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]


def share_beyond(
    weights: Float[Tensor, "*heads length length"], distance: int, first_query: int = 0
) -> Float[Tensor, " *heads"]:
    """The share of attention on keys that stand `distance` or more before the query.

    The mean over the queries from `first_query` on; rows of `weights` are queries of a causal
    model and sum to 1. What is left is the share within `distance`.
    """
    far = weights.tril(-distance).sum(dim=-1)  # (*heads, queries)
    return far[..., first_query:].mean(dim=-1)


def guess_share(
    drawn: Batch, exam: Batch, seen: Callable[[Batch], Int[Tensor, "batch length"]]
) -> float:
    """The share of right answers in `exam` of a reader who sees one number of each question.

    `seen` gives this number for each place of a batch: the place itself, say, or its token. The
    reader answers what was right most often in `drawn`, a batch of the same task, at this number.
    """
    numbers, asked = torch.unique(_asked(seen(drawn), drawn)), _asked(exam.targets, exam)
    which = torch.searchsorted(numbers, _asked(seen(drawn), drawn))
    answers = _asked(drawn.targets, drawn)
    counts = torch.zeros(len(numbers), int(answers.max()) + 1)
    counts.index_put_((which, answers), torch.ones(len(which)), accumulate=True)
    found = torch.searchsorted(numbers, _asked(seen(exam), exam)).clamp(max=len(numbers) - 1)
    return (counts.argmax(dim=-1)[found] == asked).float().mean().item()


def _asked(numbers: Tensor, batch: Batch) -> Int[Tensor, " questions"]:
    return numbers[batch.targets != IGNORE]


def _counts(text: Tensor, before: int) -> Float[Tensor, "*before bytes"]:
    """How often each byte follows each `before` bytes in `text`."""
    size = BYTES ** (before + 1)
    places = len(text) - before
    numbers = torch.zeros(max(places, 0), dtype=torch.long)
    for k in range(before + 1):
        numbers = numbers * BYTES + text[k : k + places].long()
    return numbers.bincount(minlength=size).double().view(*[BYTES] * (before + 1))
