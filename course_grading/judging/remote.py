"""Calling functions at the other end of a line, over which plain values alone go.

In grading, the versions that a learner's test is run on stay with the judge, and a scheme that a
learner makes stays in the learner's kernel: each is called from the other end, and neither end
gets to see more of it than what it gives. A test in a notebook calls its versions in the same way,
within one process, so that a check says what grading says.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise.values import DTYPES, can_encode, decode, elements, encode
from course_lib.encodings.scheme import DOORS, PositionScheme
from course_lib.model import DecoderConfig

LARGEST = 4_000_000
"""Numbers and texts in one call, or in what comes back."""
CASTS = ("to", "float", "double", "half", "bfloat16")
METHODS = frozenset((*CASTS, *DOORS))
"""What else may be asked of a thing at the other end, besides calling it."""
Message = dict[str, Any]
"""As JSON can hold it, but for tensors: see `as_json`."""
Exchange = Callable[[Message], Message]
"""Send a message to the other end, and wait for the next one that comes from there."""


class Disconnected(BaseException):
    """The other end is gone, or the time is over. No program that is called may catch it."""


class RemoteCallable:
    """A function, or a module, at the other end. What it writes into is written into here, too."""

    __name__ = __qualname__ = "version"

    def __init__(self, line: Line, number: int):
        self._line, self._number = line, number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._line.call(self._number, "", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(f"of a version nothing is known but what it gives, got .{name}")
        return lambda *args, **kwargs: self._line.call(self._number, name, args, kwargs)


def remote_scheme(remote: RemoteCallable, doors: Sequence[str]) -> PositionScheme:
    """A scheme whose open doors are at the other end."""

    def door(name: str) -> Callable[..., Any]:
        return lambda self, *args: getattr(remote, name)(*args)

    kind = type("RemoteScheme", (PositionScheme,), {name: door(name) for name in doors})
    scheme: PositionScheme = kind()
    vars(scheme)["remote"] = remote
    return scheme


class Line:
    """One end of a line. Things of this end that the other may call have numbers, from 0 on.

    The judge's end lets nobody write into what it gives (`writes` False): it may need it again.
    """

    def __init__(self, exchange: Exchange, *things: Any, writes: bool = True):
        self.exchange = exchange
        self.things = list(things)
        self.writes = writes

    def call(
        self, number: int, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """What thing `number` of the other end gives, or raises: errors come as those of Python.

        Raises TypeError for values that are not plain, and OverflowError for ones too large.
        """
        given = list(contents([*args, *kwargs.values()]))
        packed = self._packed([list(args), dict(kwargs)])
        reply = self.exchange({"call": [number, method], "with": packed})
        while "call" in reply:  # the other end asks something back first
            reply = self.exchange(self.serve(reply))
        for place, packed in reply.get("wrote", ()) if self.writes else ():
            put_back(given[place][0], self._unpacked(packed))
        if "raised" in reply:
            raise _error(reply["raised"], reply["message"])
        return self._unpacked(reply["gave"])

    def serve(self, message: Message) -> Message:
        """Carry out a call that came from the other end: the answer to it.

        KeyboardInterrupt and Disconnected pass; all else that is raised is told to the other end.
        """
        given: list[tuple[Any, Any]] = []
        answer: Message
        try:
            number, method = message["call"]
            thing = self.things[number]
            if method:
                thing = getattr(thing, {name: name for name in METHODS}[method])
            args, kwargs = self._unpacked(message["with"])
            given += contents([*args, *kwargs.values()])
            answer = {"gave": self._packed(thing(*args, **kwargs))}
        except (KeyboardInterrupt, Disconnected):
            raise
        except BaseException as error:
            kinds = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            answer = {"raised": next(kinds), "message": str(error)[:500]}
        wrote = [place for place, pair in enumerate(given) if not unchanged(*pair)]
        return answer | {"wrote": [[place, self._packed(given[place][0])] for place in wrote]}

    def _packed(self, value: Any) -> Any:
        if elements(value, LARGEST) > LARGEST:
            raise OverflowError(f"more than {LARGEST} numbers are too large for one call")
        if isinstance(value, (list, tuple)):
            return {
                type(value).__name__ if type(value) in (list, tuple) else "tuple": [
                    self._packed(item) for item in value
                ]
            }
        if isinstance(value, dict):
            pairs = [[self._packed(key), self._packed(item)] for key, item in value.items()]
            return {"dict": pairs}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, DecoderConfig):
            return {"config": vars(value)}
        remote = vars(value).get("remote") if isinstance(value, PositionScheme) else value
        if isinstance(remote, RemoteCallable) and remote._line is self:
            return {"yours": remote._number}
        if callable(value):
            return self._numbered(value)
        if isinstance(value, Tensor) and can_encode(value.dtype):
            return {"plain": value.detach().clone()}
        plain = encode(value)
        if isinstance(plain, dict) and "other" in plain:
            raise TypeError(
                f"a version takes and gives tensors, numbers, texts, functions, and lists, tuples "
                f"and dictionaries of these, got a value of type {plain['other']}"
            )
        return {"plain": plain}

    def _numbered(self, thing: Any) -> Any:
        numbers = (number for number, one in enumerate(self.things) if one is thing)
        if (number := next(numbers, None)) is None:
            number = len(self.things)
            self.things.append(thing)
        doors = list(thing.open_doors) if isinstance(thing, PositionScheme) else None
        return {"thing": number, "doors": doors}

    def _unpacked(self, packed: Any) -> Any:
        match packed:
            case {"plain": plain}:
                return plain if isinstance(plain, Tensor) else decode(plain)
            case {"list": list(items)}:
                return [self._unpacked(item) for item in items]
            case {"tuple": list(items)}:
                return tuple(self._unpacked(item) for item in items)
            case {"dict": list(pairs)}:
                return {self._unpacked(key): self._unpacked(item) for key, item in pairs}
            case {"dtype": str(name)}:
                return DTYPES[name]
            case {"config": dict(sizes)}:
                return DecoderConfig(**sizes)
            case {"yours": int(number)}:
                return self.things[number]
            case {"thing": int(number), "doors": doors}:
                remote = RemoteCallable(self, number)
                if doors is None:
                    return remote
                return remote_scheme(remote, [name for name in DOORS if name in doors])
        raise ValueError(f"not a packed value: {packed!r:.80}")


def as_json(message: Message) -> str:
    """A message as JSON, which another process can read."""
    return json.dumps(message, default=encode)


def connected(*things: Any) -> Line:
    """A line whose other end is in this process, and has `things`."""
    there = Line(lambda message: here.serve(message), *things, writes=False)
    here = Line(there.serve)
    return here


def _error(name: str, message: str) -> BaseException:
    kind = getattr(builtins, str(name), None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        return kind(str(message))
    return RuntimeError(f"{name}: {message}")


def contents(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each tensor, list and dictionary in `value`, with what stands in it now."""
    if isinstance(value, Tensor):
        yield value, value.detach().clone()
    elif isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value, value.copy()
        for item in value.values() if isinstance(value, dict) else value:
            yield from contents(item)


def unchanged(value: Any, was: Any) -> bool:
    """Whether `value` still is what `contents` found in it."""
    if isinstance(value, Tensor):  # nan is what it was if it is nan
        return value.shape == was.shape and bool(((value == was) | (value != value)).all())
    if isinstance(value, dict):
        return list(value) == list(was) and all(value[key] is was[key] for key in was)
    return len(value) == len(was) and all(map(is_, value, was))


def put_back(value: Any, was: Any) -> None:
    """Write into `value` what `contents` found in it."""
    if isinstance(value, Tensor):
        if value.shape == was.shape:
            value.data.copy_(was)  # through a view, too
        else:
            value.data = was
    elif isinstance(value, dict):
        value.clear()
        value.update(was)
    else:
        value[:] = was
