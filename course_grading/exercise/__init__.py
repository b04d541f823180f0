"""What an exercise is: everything that asking, judging and hinting need, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Literal

from course_grading.exercise.domain import Argument, Tensors, as_view
from course_grading.exercise.values import ROUNDINGS, encode
from course_lib.errors import CourseError

KindName = Literal["implement", "repair", "predict", "measure", "test", "design"]
STUB = "replace this line by your code"
"""What a released function says, as NotImplementedError, until somebody writes it."""
Case = Mapping[str, Any]
"""One call: argument names, for the message, to values. Values are passed by position."""


class UnknownExercise(CourseError, ValueError):
    """A slug or number that no exercise has."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people really give, kept so that a check can call it by its name."""

    name: str
    """Short and stable, it stands in reports: "counts positions from 1"."""
    why: str
    """One or two sentences to the learner: what this answer does, and what to look at."""
    answer: Any
    """A function of the exercise's signature; for a number, the wrong number."""


def mistake(name: str, why: str) -> Callable[[Callable[..., Any]], Mistake]:
    """Make a function the named wrong answer that it computes: name and reason stand above it."""
    return lambda answer: Mistake(name, why, answer)


@dataclass(frozen=True)
class Property:
    """Something every right output has, whatever it is compared with."""

    says: str
    """What must hold, as a sentence: "the rows of a rotation have length 1"."""
    holds: Callable[[Case, Any], bool]


@dataclass(frozen=True)
class Version:
    """An implementation that a learner's test is run on."""

    name: str
    right: bool
    function: Callable[..., Any]
    why: str = ""
    """Shown when a learner's test misjudges this version: what to look at."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise: what all kinds of them have. The learner defines `name`."""

    kind: ClassVar[KindName]
    slug: str
    """For machines: in cell ids, results and links."""
    title: str
    minutes: int
    points: int
    name: str
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    reference: Any
    forbidden: tuple[str, ...] = ()
    """Names in the course's packages that do what is asked: an answer with one is not attempted."""
    number: str = ""
    """For people: "2.1" is the first exercise of lesson 02; see `numbered`."""

    def questions(self, rng: Random) -> list[Any]:
        """What an answer is asked: of a number there is nothing to ask."""
        return [None]


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """A function, called with every case and compared with `reference`.

    Where the reference raises ValueError, so must the answer.
    """

    cases: Callable[[Random], list[Case]]
    domain: Mapping[str, Argument]
    """What each argument may be: the sheet prints it, and the cases keep to it and cover it."""
    properties: tuple[Property, ...] = ()
    roundings: float = ROUNDINGS
    """How many roundings of the promised dtype an element may be off, see `values.allowed`."""
    scale: Callable[..., Any] | None = None
    """From a case to how large the numbers are that a right answer rounds, see `values.allowed`."""
    one_right_value: ClassVar[bool] = True
    """Whether what the reference gives is the only right value."""
    widened: bool = True
    """Whether the reference also holds for inputs in float64. Not where dtypes are the subject."""

    def questions(self, rng: Random) -> list[dict[str, Any]]:
        """Encoded cases."""
        return [
            {name: encode(value) for name, value in self.drawn(case, place).items()}
            for place, case in enumerate(self.cases(rng))
        ]

    def drawn(self, case: Case, place: int) -> Case:
        """The case as it is asked: in every second one, tensors that may be views are views."""
        views = {n for n, argument in self.domain.items() if isinstance(argument, Tensors)}
        return {
            name: as_view(value, place // 2) if place % 2 and name in views else value
            for name, value in case.items()
        }


class Implement(Function):
    """A function to be written."""

    kind = "implement"


class Repair(Function):
    """A function that somebody got wrong."""

    kind = "repair"


@dataclass(frozen=True, kw_only=True)
class Design(Function):
    """A function that returns something of the learner's own, which has no single right value.

    `weighing(value, *case)` makes plain values of what comes back, or `evidence(opened, *case)`
    does, which calls what `opening` makes of the answer where the answer is. These values must have
    the form of the reference's and all `properties`.
    """

    kind = "design"
    one_right_value = False
    evidence: Callable[..., Any] | None = None
    opening: Callable[..., Any] | None = None
    """Called as opening(answer, ...), beside the answer, by `evidence`, which is with the judge."""
    weighing: Callable[..., Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Value(Exercise):
    """A number, compared with `reference` within `relative_tolerance`."""

    relative_tolerance: float = 0.0


class Predict(Value):
    """A number to be found by thinking."""

    kind = "predict"


class Measure(Value):
    """A number to be found by a run."""

    kind = "measure"


@dataclass(frozen=True, kw_only=True)
class WriteTest(Exercise):
    """A function that takes an implementation, returns for a right one and raises for a wrong one.

    It is run on all `versions`, and points follow the wrong versions that it rejects.
    """

    kind = "test"
    versions: tuple[Version, ...]

    def questions(self, rng: Random) -> list[int]:
        """The versions' numbers, in a random order."""
        return rng.sample(range(len(self.versions)), len(self.versions))


def numbered(sheets: Mapping[str, Sequence[Exercise]]) -> dict[str, Exercise]:
    """All exercises by their slugs, numbered by lesson and place in the sheet."""
    return {
        exercise.slug: replace(exercise, number=f"{int(sheet[:2])}.{place}")
        for sheet, exercises in sheets.items()
        for place, exercise in enumerate(exercises, start=1)
    }


def find(exercises: Mapping[str, Exercise], name: str) -> Exercise:
    """The exercise with this slug or number."""
    for exercise in exercises.values():
        if name in (exercise.slug, exercise.number):
            return exercise
    known = ", ".join(f"{one.number} ({slug})" for slug, one in exercises.items())
    raise UnknownExercise(f"there is no exercise {name!r}; there are {known}")
