"""Models that read grids of letters, as `docs/results.md` lists them."""

from __future__ import annotations

from collections.abc import Iterable

from course_lab.findings import Measured
from course_lab.markdown import spread, table
from course_lab.studies import grids
from course_lab.studies.grids import QUESTIONS, STUDY, Unit, shapes_of

RIGHT = "---:"
CHANGED = ("numbers as in training", *grids.MASKS)


def parts() -> list[str]:
    """The tables of what `course measure grids` measured; none if there is nothing yet."""
    if not STUDY.results():
        return []
    others = shapes_of("letter")[1:]
    return [
        "## Grids of letters\n\nSmall models of lesson 18, trained in 8 x 8 and asked in other "
        "shapes, as `course measure grids` makes them: the share of right answers, a mean of three "
        "seeds with their spread.\n",
        *(_question(slug) for slug in QUESTIONS),
        "\nThe first question in other shapes, after the lesson's steps, with the model changed: "
        "places numbered as in the trained grid, or letters hidden.\n",
        table(["scheme, changed", *map(str, others)], [
            [f"{name}, {changed}", *(_share(grids.right("letter", name, shape, changed=changed))
                                     for shape in others)]
            for name in QUESTIONS["letter"].variants for changed in CHANGED], RIGHT),
        f"\nHow often models with one number say in {grids.LOW} that a letter stands once more in "
        "its column, after 1800 steps, by how many places apart the two stand.\n",
        table(["places apart", "yes"], [
            ["16, 32 or 48, and yes is right", _share(grids.said_yes(right=True, multiple=True))],
            ["8, 24, 40 or 56", _share(grids.said_yes(right=False, multiple=True))],
            ["any other number", _share(grids.said_yes(right=False, multiple=False))]], RIGHT),
        "",
    ]  # fmt: skip


def _question(slug: str) -> str:
    question, shapes = QUESTIONS[slug], shapes_of(slug)
    rows = [
        [name, str(steps), *(_share(grids.right(slug, name, shape, steps)) for shape in shapes)]
        for name in question.variants
        for steps in question.all_steps
        if not STUDY.missing([Unit(slug, name, seed, steps) for seed in grids.SEEDS])
    ]
    label = question.label[0].upper() + question.label[1:]
    chance = f" Chance is {question.chance:g}.\n\n"
    return f"\n{label}{chance}{table(['scheme', 'steps', *map(str, shapes)], rows, RIGHT)}"


def _share(found: Iterable[Measured]) -> str:
    return spread([one.value for one in found])
