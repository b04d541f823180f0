"""Take away from a kernel what an answer must not call, for as long as it is asked.

A function is the same under whatever name it is found, so it is its code that changes. Who has
copied that beforehand still has it, as does who pastes it into the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NoReturn

PACKAGES = ("course_lib", "course_lab")


@contextmanager
def hidden_library(names: Iterable[str]) -> Iterator[None]:
    """Functions, and classes, that PACKAGES call by one of these names raise RuntimeError."""
    chosen, functions = set(names), set()
    for home, module in list(sys.modules.items()):
        if home.startswith(PACKAGES):
            for name, thing in vars(module).items():
                if name in chosen and getattr(thing, "__module__", "").startswith(PACKAGES):
                    methods = vars(thing).values() if isinstance(thing, type) else (thing,)
                    whole = (getattr(one, "__wrapped__", one) for one in methods)
                    functions |= {one for one in whole if isinstance(one, FunctionType)}
    codes = {function: function.__code__ for function in functions}
    try:
        for function, code in codes.items():
            function.__code__ = _taken_away.__code__.replace(co_freevars=code.co_freevars)
        yield
    finally:
        for function, code in codes.items():
            function.__code__ = code


def _taken_away(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("what does all that an exercise asks for is taken away: write it yourself")
