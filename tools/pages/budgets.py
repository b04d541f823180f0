"""`docs/budgets.md`: small models after more training."""

from __future__ import annotations

from typing import Any

from course_lab.figures.budgets import MOST, Curves, budget_alt, curves, levels
from course_lab.markdown import spread, table
from course_lab.studies.questions import QUESTIONS
from tools.pages.results import RIGHT

TEXT = """\
# How far small models come with more training

Written by `make pages ARGS=results` from what `course measure budgets` measures. Lessons
train small models for seconds; here each of these trainings was made again for more steps, on three
seeds. Every column of steps has trainings of its own, whose learning rates fall to zero at their
end. A number is the share of right answers: the mean over seeds and, after ±, half of the distance
between the best seed and the worst. The first column of each length has the lesson's own steps, and
a dash stands where a model was not trained for so many steps. (No lesson trains for sooner,
own-place and one-before; their first column has the fewest steps.) Under a table stands what
simpler readers get, who know only some part of a text.
"""
NO_LESSON = ("one-before", "own-place", "sooner")  # trains for these; lessons read what is stored


def pictures() -> dict[str, dict[str, Any]]:
    """What `budget` is called with for each picture of the page, by the name of its file."""
    found = {}
    for slug, question in QUESTIONS.items():
        names = list(question.variants)
        for first in range(0, len(names), MOST):
            part = f"-{first // MOST + 1}" if len(names) > MOST else ""
            shown = {"variants": names[first : first + MOST], "lengths": _lengths(slug)}
            found[f"budgets-{slug}{part}.png"] = {
                "slug": slug,
                **shown,
                "mark": slug not in NO_LESSON,
            }
    return found


def report() -> str:
    """The whole page, as Markdown."""
    drawn = pictures()
    parts = [TEXT]
    for slug, question in QUESTIONS.items():
        links = [
            f"![{budget_alt(**shown)}]({name})\n"
            for name, shown in drawn.items()
            if shown["slug"] == slug
        ]
        parts += [f"## {slug}: {question.label}\n", _table(slug), *links]
    return "\n".join(parts)


def _lengths(slug: str) -> tuple[int, ...]:
    """The trained length, and the longest one that was examined."""
    question = QUESTIONS[slug]
    return (question.length, *question.lengths[-1:])


def _table(slug: str) -> str:
    question, lengths = QUESTIONS[slug], _lengths(slug)
    steps = question.all_steps
    found: dict[int, Curves] = {length: curves(slug, length=length) for length in lengths}
    rows = [
        [name, *(spread(found[n][name].get(count, ())) for n in lengths for count in steps)]
        for name in found[question.length]
    ]
    heads = [f"{n} tokens, {count} steps" for n in lengths for count in steps]
    ceilings = [f"in texts of {n}: {', '.join(levels(slug, n))}" for n in lengths]
    return f"{table(['model', *heads], rows, RIGHT)}\n\nFor comparison, {'; '.join(ceilings)}.\n"
