"""Measure: strangers with a memory."""

from __future__ import annotations

from course_grading.exercise import Measure, Mistake

EXERCISE = Measure(
    slug="transformer-xl-strangers", title="Measure: strangers with a memory",
    minutes=15, points=2, name="strangers",
    reference=40 * 39 // 2 - 39,  # all later keys but the zeros right beside each query
    hints=(
        "Do it on paper first, with 2 queries and 3 keys: scores 12 11 10 and 22 21 20. The first "
        "query stands at position 1, so it needs 11 and 10 at keys 0 and 1. How many numbers must "
        "be dropped after padding?",
        "The last query stays as it is, so the last numbers must fill the last row again: drop as "
        "many numbers as there are queries, and cut after every 100.",
        "Let every row carry its number, torch.arange(1.0, 41)[:, None].expand(40, 100), and "
        "compare with what comes out. Zeros are padding, and nobody's score.",
    ),
    mistakes=(
        Mistake("padding counted",
                "This is everything at later keys. Right beside each query's last key stands a 0 "
                "from the padded column, which is no row's score.", 40 * 39 // 2),
        Mistake("padding counted, but for the first zero",
                "Rows numbered from 0 hide the zeros of the padding in row 0 only. Zeros from the "
                "padding are nobody's score: number the rows from 1, and leave them out.",
                40 * 39 // 2 - 1),
        Mistake("as if all keys had queries",
                "This is a matrix of 100 rows. Here only 40 tokens are queries; the 60 of the "
                "memory are keys alone.", 100 * 99 // 2 - 99),
        Mistake("the memory as queries",
                "This is a matrix of 60 rows. The memory has no queries.", 60 * 59 // 2 - 59),
        Mistake("one row left out",
                "Row 0 has the most strangers, 38. Its last 38 entries are scores of row 1.",
                40 * 39 // 2 - 39 - 38),
        Mistake("only the padding counted",
                "This is the number of zeros. The question asks for scores of another row.", 39),
        Mistake("the last key of each query counted",
                "At its own key, distance 0, a query has its own score.", 40 * 41 // 2),
    ),
)  # fmt: skip
