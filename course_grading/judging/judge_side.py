"""The judge's end of the line, while a learner's test or design is asked in its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from course_grading.judging.asking import Outcome
from course_grading.judging.remote import Exchange, Line, Message, RemoteCallable


class JudgeSide(Protocol):
    """What answers the messages of a kernel."""

    outcomes: list[Outcome]
    """What was found, for the judge: one for each question when all is over."""
    began: bool
    """Whether the kernel has sent anything."""

    def answer(self, message: Message, exchange: Exchange) -> Message:
        """The answer to `message`. With `exchange` something is asked back before that."""


class ServesVersions:
    """Lets a test call versions, one after the other.

    Only one version can be called at a time, and none after it was judged: so what is said of it
    rests on what it does, and not on what most others do.
    """

    def __init__(self, versions: Sequence[Callable[..., Any]]):
        self.versions = versions
        self.outcomes: list[Outcome] = []
        self.began = False
        self.line: Line | None = None

    def answer(self, message: Message, exchange: Exchange) -> Message:
        """A call is carried out; {"said": ...} ends one version's turn and begins the next's."""
        self.began = True
        if "said" in message:
            self.outcomes.append(message["said"])
            self.line = None
            return {}
        self.line = self.line or Line(exchange, self.versions[len(self.outcomes)], writes=False)
        return self.line.serve(message)


class CallsDesign:
    """Calls what the learner has designed, which stays in the kernel."""

    def __init__(self, ask: Callable[[RemoteCallable | None], list[Outcome]]):
        self.ask = ask
        self.outcomes: list[Outcome] = []
        self.began = False

    def answer(self, message: Message, exchange: Exchange) -> Message:
        """On {"ready": whether it can be called}, all questions are asked."""
        self.began = True
        ready = message["ready"]
        design = RemoteCallable(Line(exchange, writes=False), 0) if ready else None
        self.outcomes = self.ask(design)
        return {}
