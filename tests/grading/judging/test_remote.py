"""A line between two ends: plain values go over it, functions are called on the other side."""

from __future__ import annotations

import json

import pytest
import torch

from course_grading.judging.remote import Line, RemoteCallable, as_json, connected
from course_lib.encodings import ALiBi, PositionScheme
from course_lib.model import DecoderConfig


def connected_to(thing):
    return RemoteCallable(connected(thing), 0)


def over_json(thing):
    """The same, with each message as text, as between two processes."""
    there = Line(lambda message: json.loads(as_json(here.serve(message))), thing, writes=False)
    here = Line(lambda message: json.loads(as_json(there.serve(message))))
    return RemoteCallable(here, 0)


both = pytest.mark.parametrize("reach", [connected_to, over_json])


@both
@pytest.mark.parametrize(
    "value",
    [3, 0.5, None, True, "text", [1, [2.0]], (1, (2,)), {"a": [1], 2: None}, torch.bfloat16,
     torch.arange(6).reshape(2, 3), torch.ones(2, 3).T, torch.ones((), dtype=torch.float16)],
)  # fmt: skip
def test_values_arrive_as_they_are(reach, value):
    back = reach(lambda one: one)(value)
    if isinstance(value, torch.Tensor):
        assert torch.equal(back, value) and back.dtype == value.dtype
        assert back.stride() == value.stride()
    else:
        assert back == value and type(back) is type(value)


@both
def test_functions_are_called_where_they_are(reach):
    makes = reach(lambda factor: lambda x, more=0: factor * x + more)
    assert makes(3)(2, more=1) == 7  # it gives a function
    assert reach(lambda f: f(2) + 1)(lambda x: 10 * x) == 21  # it calls one of ours
    assert reach(lambda f: f(f))(lambda f: 5) == 5
    ours = object.__new__(type("Ours", (), {"__call__": lambda self: 1}))
    assert reach(lambda one: one)(ours) is ours  # what comes back is the same again


@both
def test_a_module_may_be_cast(reach):
    table = reach(lambda: torch.nn.Linear(2, 2))()
    assert table.to(torch.float64)(torch.ones(2, dtype=torch.float64)).dtype == torch.float64
    with pytest.raises(AttributeError, match="nothing is known"):
        table.weight  # noqa: B018


@both
def test_errors_come_as_pythons_own(reach):
    class Odd(ValueError):
        pass

    def raising(error):
        raise {"odd": Odd, "key": KeyError}[error]("why")

    with pytest.raises(ValueError, match="why"):
        reach(raising)("odd")
    with pytest.raises(KeyError):
        reach(raising)("key")
    with pytest.raises(TypeError, match="got a value of type set"):
        reach(raising)({1, 2})
    with pytest.raises(OverflowError, match="too large"):
        reach(raising)(torch.zeros(1).expand(10_000, 10_000))


@both
def test_what_the_other_end_writes_is_written_here(reach):
    rows, items = torch.zeros(2, 2), [1]
    reach(lambda row, some: (row.add_(1), some.append(2)))(rows[0], items)
    assert rows.tolist() == [[1, 1], [0, 0]] and items == [1, 2]


@both
def test_nobody_writes_into_what_the_judge_gives(reach):
    kept = torch.zeros(2)
    reach(lambda ours: ours(kept))(lambda given: given.add_(1))
    assert kept.tolist() == [0, 0]


@both
def test_a_scheme_is_asked_through_its_doors(reach):
    config = DecoderConfig(dim=8, num_heads=2)
    scheme = reach(lambda sizes: [ALiBi(sizes.num_heads)] * 2)(config)[0]
    assert isinstance(scheme, PositionScheme) and scheme.open_doors == ("score_bias",)
    q, positions = torch.ones(1, 2, 3, 4), torch.arange(3)
    bias = ALiBi(2).score_bias(q, q, positions, positions)
    assert torch.equal(scheme.score_bias(q, q, positions, positions), bias)
