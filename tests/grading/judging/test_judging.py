"""What a check says: the first thing that is wrong, in words, and the mistake by its name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sample_specs import EXERCISES, NUMBER, POSITIVE, TEST, a_test, careless_test, function, scaled

from course_grading import checking, exercise, specs
from course_grading.exercise import STUB, Exercise, KindName, Mistake
from course_grading.exercise.domain import as_view
from course_grading.exercise.values import allowed, decode, difference, encode, short
from course_grading.judging import ask_all, draw, judge
from course_grading.judging.comparing import SECOND_CALL, Right, disagreement
from course_grading.judging.kinds import KINDS
from course_grading.verdicts import Verdict
from course_lab.figures.style import png
from course_lab.phrases import PHRASES

SCALE = function(1)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64,
          torch.int64, torch.int32, torch.uint8, torch.bool)  # fmt: skip


def verdict_on(exercise: Exercise, answer: Any) -> Verdict:
    questions = draw(exercise, Random(0))
    return judge(exercise, questions, ask_all(exercise, answer, questions))


@given(PLAIN)
def test_plain_values_survive_json(value: Any) -> None:
    assert repr(decode(encode(value))) == repr(value)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_tensors_survive_json_to_the_bit(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    values = torch.tensor([math.nan, math.inf, 1 / 3, -0.0, 1e30, 2]).nan_to_num(
        **({} if dtype.is_floating_point else {"nan": 0, "posinf": 1})
    )
    tensor = values.clamp(-9, 9).to(dtype)[: math.prod(shape)].reshape(shape)
    back = decode(encode(tensor))
    assert back.dtype == dtype and back.shape == shape
    assert encode(back) == encode(tensor)


def test_a_single_number_cut_out_of_a_table_survives() -> None:
    """`(x > 1).nonzero()[0]` has one number and a stride of more."""
    single = torch.arange(6).reshape(3, 2)[:, 0][2:]
    assert single.stride() != (1,) and decode(encode(single)).tolist() == [4]


@pytest.mark.parametrize(
    "forged",
    [
        {"tensor": "float32", "shape": [2], "data": "AAAA"},
        {"tensor": "object", "shape": [], "data": ""},
        {"tensor": "float32", "shape": [-1], "data": ""},
        {"tensor": "float32", "shape": ["a"], "data": ""},
        {"pickle": "gASV"},
        {"float": "1"},
    ],
)
def test_what_encode_never_writes_is_refused(forged: Any) -> None:
    with pytest.raises(ValueError, match="encoded|bytes"):
        decode(forged)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_tolerance_is_counted_in_roundings_of_the_row_s_largest(dtype: torch.dtype) -> None:
    exact = torch.tensor([[1.0, 400.0, math.inf], [0.0, 0.25, 1e-9]], dtype=torch.float64)
    limits = allowed(exact, dtype, roundings=4)
    unit = torch.finfo(dtype).eps
    assert limits[:, 0].tolist() == pytest.approx([4 * unit * 400, 4 * unit * 0.25])
    assert difference(exact, exact + 0.9 * limits, limits) is None
    found = difference(exact, exact + 1.1 * limits * torch.tensor([0, 1, 0]), limits)
    assert found and found.where == (0, 1)
    assert difference(exact, exact.nan_to_num(), limits)


def test_with_a_scale_each_element_is_compared_with_itself() -> None:
    """A pair that turns a thousand times slower is checked a thousand times finer."""
    angles = torch.tensor([1000.0, 1.0, 1e-3])
    limits = allowed(angles.sin().double(), torch.float32, scale=angles)
    assert limits[1] < limits[0] / 100 and limits[2] < limits[1] / 100
    half = allowed(angles.sin().double(), torch.bfloat16, scale=angles)
    unit = torch.finfo(torch.bfloat16).eps
    assert half[2] == pytest.approx(8 * unit * 1e-3, rel=0.01)  # the angle itself is in float32
    assert (allowed(angles, torch.float32, roundings=0) == 0).all()
    assert (allowed(angles, torch.int64) == 0).all()


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (2, 1, 5, 3)])
def test_a_transposed_view_arrives_as_one(shape: tuple[int, ...]) -> None:
    view = as_view(torch.randn(shape))
    back = decode(encode(view))
    assert back.stride() == view.stride() and torch.equal(back, view)
    assert not back.is_contiguous()


def test_an_answer_that_remembers_is_asked_again() -> None:
    seen: list[torch.Tensor] = []

    def remembers(x: torch.Tensor, factor: float) -> torch.Tensor:
        seen.append(scaled(x, factor))
        return seen[-1] if len(seen) <= 2 else seen[0]

    questions = draw(SCALE, Random(0))
    verdict = judge(SCALE, questions, ask_all(SCALE, remembers, questions, again=True))
    assert verdict.verdict == "failed" and SECOND_CALL in verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda x, factor: 1 / 0, "raised ZeroDivisionError"),
        (lambda x, factor: None, "returned None: is there a `return`?"),
        (lambda x, factor: (x * factor).numpy(), "got a value of type numpy.ndarray: torch.from"),
        (lambda x, factor: (x * factor).tolist(), "got a list: torch.tensor"),
        (lambda x, factor: (x * factor)[None], "should have shape (3,), got (1, 3)"),
        (
            lambda x, factor: (x * factor).long(),
            "or a more precise one, got torch.int64",
        ),
        (lambda x, factor: (x * factor).bfloat16(), "got torch.bfloat16"),
        (lambda x, factor: (x * factor).to(torch.complex64), "got torch.complex64"),
        (
            lambda x, factor: x * factor / (x - 2) * (x - 2),
            "gives nan (not a number), first at [1]",
        ),
        (lambda x, factor: x.mul_(factor), "changed its input in place"),
        (lambda x, factor: x * factor + 0.1, "first differs at [0]: expected 2, got 2.1"),
        (lambda x, factor: exec("raise SystemExit(3)"), "raised SystemExit"),
        (lambda x: x, "raised TypeError"),
    ],
)
def test_the_first_thing_wrong_is_named(answer: Callable[..., Any], says: str) -> None:
    verdict = verdict_on(SCALE, answer)
    assert verdict.verdict == "failed" and says in verdict.message
    assert verdict.message.startswith("scale_1(x=tensor([1., 2., 3.]), factor=2)")


def test_an_item_that_is_none_is_shown_as_one() -> None:
    right = {"base": 500.0, "table": torch.zeros(20)}
    for name, expected in (("base", "500"), ("table", "tensor of shape (20,), float32")):
        problem = disagreement(Right(right, right), {**right, name: None})
        assert problem is not None
        says = f"  in result['{name}']:\n  expected  {expected}\n  got       None"
        assert problem.says == says


def test_a_short_list_of_another_length_is_shown_beside_the_right_one() -> None:
    for right, says in (
        ([128, 512], "2 items, [128, 512], got [512]"),
        (["a", "b"], "2 items, ['a', 'b'], got [512]"),
        ([0.5, 0.25], "2 items, got [512]"),
        (list(range(40)), "40 items, got [512]"),
    ):
        problem = disagreement(Right(right, right), [512])
        assert problem is not None and problem.says == f"  should return {says}"


def test_a_dictionary_is_shown_by_its_keys() -> None:
    value = {"q.weight": torch.zeros(4, 5), "heads": 2, "more": {"base": 1 / 3}}
    shown = "{'q.weight': tensor of shape (4, 5), float32, 'heads': 2, 'more': {'base': 0.333333}}"
    assert short(value) == shown
    assert len(short({name: torch.zeros(20) for name in range(100)})) == 400


@pytest.mark.parametrize(
    "answer",
    [
        scaled,
        lambda x, factor: scaled(x.double(), factor),
        lambda x, factor: torch.stack([scaled(row, factor) for row in x]),
        lambda x, factor: torch.from_numpy(np.asarray(scaled(x, factor))),
        lambda x, factor: torch.nn.Parameter(scaled(x, factor)),
    ],
)
def test_right_answers_of_any_style_pass(answer: Callable[..., Any]) -> None:
    assert verdict_on(SCALE, answer) == Verdict("passed", 2)


@pytest.mark.parametrize("mistake", SCALE.mistakes, ids=lambda mistake: mistake.name)
def test_mistakes_are_named(mistake: Any) -> None:
    verdict = verdict_on(SCALE, mistake.answer)
    assert verdict.mistake == mistake.name and mistake.why in verdict.message


def test_a_value_where_an_error_is_right_is_told_so() -> None:
    verdict = verdict_on(SCALE, lambda x, factor: x * (factor or math.pi))
    assert "should raise ValueError (factor must not be 0)" in verdict.message


def test_a_property_is_said_in_its_own_words() -> None:
    exercise = function(1, properties=(POSITIVE,))
    verdict = verdict_on(exercise, lambda x, factor: -scaled(x, factor))
    assert "this must hold, and does not: every entry is positive" in verdict.message


@pytest.mark.parametrize(
    ("answer", "verdict", "mistake"),
    [
        (42, "passed", None),
        (torch.tensor(42.2), "passed", None),
        (np.float64(41.9), "passed", None),
        (None, "not attempted", None),
        (..., "not attempted", None),
        (43, "failed", "off by one"),
        (21.0, "failed", "half"),
        (1e9, "failed", None),
        (True, "failed", None),
        (math.nan, "failed", None),
        ("42", "failed", None),
        (torch.ones(3), "failed", None),
    ],
)
def test_numbers(answer: Any, verdict: str, mistake: str | None) -> None:
    judged = verdict_on(EXERCISES[f"scale-{NUMBER}"], answer)
    assert (judged.verdict, judged.mistake) == (verdict, mistake)
    assert "42.0" not in judged.message.replace("got '42'", "")  # a message gives nothing away


def test_a_whole_number_will_do_where_a_float_is_expected() -> None:
    assert disagreement(Right(160_000.0, 160_000.0), 160_000) is None
    for right, got in ((0.5, 1), (1.0, True), (1, 1.5)):
        assert disagreement(Right(right, right), got)


def stub(*arguments: object) -> None:
    raise NotImplementedError(STUB)


def test_torch_s_own_not_implemented_error_is_an_answer_that_fails() -> None:
    """Torch raises it where it has no kernel for a dtype, as for `&` of floats."""
    verdict = verdict_on(SCALE, lambda x, factor: x & x)
    assert verdict.verdict == "failed" and "raised NotImplementedError" in verdict.message


def test_an_exception_alone_gets_no_name() -> None:
    def stumbles(x: torch.Tensor, factor: float) -> torch.Tensor:
        raise RuntimeError("too few rows")

    mistake = Mistake("stumbles", "It stumbles.", stumbles)
    exercise = replace(SCALE, mistakes=(mistake,))
    assert verdict_on(exercise, stumbles).mistake is None


def test_a_name_is_given_only_where_the_mistake_fails_and_passes_alike() -> None:
    """The third case refuses a factor of 0; the mistake named adds, and refuses it."""
    adds = Mistake("adds", "It adds.", lambda x, factor: scaled(x, factor) * 0 + x + factor)
    exercise = replace(SCALE, mistakes=(adds,))
    assert verdict_on(exercise, adds.answer).mistake == "adds"
    forgets = verdict_on(exercise, lambda x, factor: x + factor)
    assert forgets.mistake == "adds" and "Elsewhere it should raise ValueError" in forgets.message
    assert verdict_on(exercise, lambda x, factor: x + factor if len(x) > 1 else x).mistake is None
    accepts = replace(adds, answer=lambda x, factor: x + factor)
    assert verdict_on(replace(exercise, mistakes=(accepts,)), adds.answer).mistake is None


def test_a_number_given_for_a_function_is_no_function() -> None:
    assert "should be a function, got 3" in verdict_on(SCALE, 3).message


def test_pytest_s_own_failure_counts_as_raised() -> None:
    def a_test_with_raises(square: Callable[..., Any]) -> None:
        assert square(2) == 4
        with pytest.raises(ValueError):
            square(-1)

    judged = verdict_on(EXERCISES[f"scale-{TEST}"], a_test_with_raises)
    assert judged.verdict == "failed" and "rejects a version that is right" in judged.message


def test_a_stub_is_not_attempted() -> None:
    for id in ("scale-1", f"scale-{TEST}"):
        assert verdict_on(EXERCISES[id], stub).verdict == "not attempted"


def too_strict(implementation: Any) -> None:
    raise AssertionError("never")


@pytest.mark.parametrize(
    ("answer", "points", "says", "mistake"),
    [
        (a_test, 3, "", None),
        (careless_test, 1, "rejects 1 of 3 wrong versions; one that it accepts: double\nNot 2x.",
         "only positive"),
        (lambda implementation: False, 0, "rejects 0 of 3 wrong versions", "asserts nothing"),
        (too_strict, 0, "never\nEither what your test expects is not right", "rejects: power"),
        (lambda square: square("2"), 0, "\nNo `assert` failed: another error was raised",
         "raises TypeError"),
    ],
)  # fmt: skip
def test_a_test_earns_points_by_what_it_rejects(
    answer: Any, points: int, says: str, mistake: str | None
) -> None:
    judged = verdict_on(EXERCISES[f"scale-{TEST}"], answer)
    assert (judged.points, judged.mistake) == (points, mistake) and says in judged.message


@pytest.mark.parametrize(
    "forged",
    [[], [{}] * 3, [1, 2, 3], [{"value": {"tensor": "float32", "shape": [9], "data": ""}}] * 3],
)
def test_forged_outcomes_raise_and_never_pass(forged: Any) -> None:
    with pytest.raises(ValueError, match="cannot be read|bytes"):
        judge(SCALE, draw(SCALE, Random(0)), forged)


def test_the_judge_s_questions_do_not_come_from_the_kernel() -> None:
    """Outcomes for other inputs, however right there, do not answer what was asked."""
    asked, other = draw(SCALE, Random(1)), draw(SCALE, Random(2))
    assert judge(SCALE, asked, ask_all(SCALE, scaled, other)).verdict == "failed"


# In a notebook


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specs, "find", lambda name: exercise.find(EXERCISES, name))
    monkeypatch.setattr(specs, "EXERCISES", EXERCISES)
    monkeypatch.setattr(specs, "SHEETS", {"09_sample": tuple(EXERCISES.values())})
    monkeypatch.setattr(checking, "_tried", {})
    monkeypatch.setattr(checking, "_hints_given", {})


def test_check_prints_two_stable_lines_or_raises_a_short_message(
    sample: None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for folder in ("notebooks", "exercises"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "exercises")

    def right(x: torch.Tensor, factor: float) -> torch.Tensor:
        if not factor:
            raise ValueError
        return x * factor

    checking.check("9.1", right)
    assert capsys.readouterr().out == (
        '9.1 passed: Scale 1 (2 points)\nAnother way to write it, and the answer to "If you want '
        'more": solutions/09_sample.ipynb.\n'
    )
    with pytest.raises(checking.CheckFailed) as caught:
        checking.check("9.2", lambda x, factor: x + factor)
    lines = caught.value._render_traceback_()
    assert lines == str(caught.value).splitlines() and len(lines) <= 9
    assert lines[0] == "9.2 failed: Scale 2" and lines[-1] == 'hint("9.2") gives a hint.'
    checking.progress()
    out = capsys.readouterr().out
    exercises, points = len(EXERCISES), sum(one.points for one in EXERCISES.values())
    assert "2 of 2 points" in out
    assert f"exercises checked: 2 of {exercises}, 2 of {points} points" in out


def test_checks_and_hints_are_said_in_the_language_of_the_edition(
    sample: None, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    said = {
        "Multiply.": "做乘法。",
        "Scale 2": "缩放 2",
        "failed": "未通过",
        checking.HINT: "提示 {given}/{of}：{hint}",
        checking.BEGIN: "{number} {verdict}{points}：{title}",
        checking.PASSED: "{number} 通过：{title}（{points} 分）",
        "  should return a tensor, got {0}: {1}": "  应返回张量，得到的是 {0}：{1}",
        "return a torch.Tensor": "请返回 torch.Tensor",
    }
    (tmp_path / ".written").mkdir()
    (tmp_path / PHRASES).write_text(json.dumps(said), encoding="utf-8")
    (tmp_path / "exercises").mkdir()
    monkeypatch.chdir(tmp_path / "exercises")
    checking.hint("9.1")
    assert capsys.readouterr().out == "提示 1/2：做乘法。\n"
    with pytest.raises(checking.CheckFailed) as caught:
        checking.check("9.2", lambda x, factor: 3)
    first, call, tensor, *rest = str(caught.value).splitlines()
    assert first == "9.2 未通过：缩放 2"
    assert tensor == "  应返回张量，得到的是 a int：请返回 torch.Tensor"
    assert call.startswith("scale_2(") and rest[-1] == 'hint("9.2") gives a hint.'

    def right(x: Any, factor: int) -> Any:
        if factor == 0:
            raise ValueError
        return x * factor

    checking.check("9.2", right)
    assert capsys.readouterr().out.splitlines()[0] == "9.2 通过：缩放 2（2 分）"


def test_hints_come_one_at_a_time(sample: None, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        checking.hint("9.1")
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines
        == ["hint 1 of 2: Multiply."] + ["hint 2 of 2: x * factor, after a look at factor."] * 2
    )


def test_an_exercise_that_has_passed_needs_no_hint(
    sample: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that "Run All" in a sheet that is done does not print all hints."""
    (slug,) = (one.slug for one in EXERCISES.values() if one.number == "9.1")
    monkeypatch.setitem(checking._tried, slug, Verdict("passed", 2))
    checking.hint("9.1")
    assert capsys.readouterr().out == "9.1 has passed: no hint is needed.\n"


def test_the_library_s_own_function_is_no_attempt(sample: None) -> None:
    from course_grading.specs.sinusoidal import common

    sinusoidal_encoding = type(common.encoding_of)(
        scaled.__code__, {"__name__": "course_lib.encodings.absolute"}, "sinusoidal_encoding"
    )

    def helper(x: torch.Tensor, factor: float) -> torch.Tensor:
        return sinusoidal_encoding(x, factor)

    for answer in (sinusoidal_encoding, helper, lambda x, factor: helper(x, factor)):
        with pytest.raises(checking.CheckFailed, match="9.1 not attempted.*\n.*`sinusoidal_enc"):
            checking.check("9.1", answer)


def test_a_picture_is_drawn_for_any_shape() -> None:
    for shape in [(3,), (2, 3), (2, 2, 3), (4, 1)]:
        tensor = torch.rand(shape)
        assert png(checking.picture(tensor, tensor + 1)).startswith(b"\x89PNG")


def test_a_wrong_number_is_not_called_a_number_of_the_wrong_type():
    """Half of the digits agree with a mistake that is right but for its type."""
    bits = specs.EXERCISES["long-corpus-bits"]
    nearly = verdict_on(bits, lambda losses, counted: losses[counted].mean() / 0.693)
    assert nearly.verdict == "failed" and nearly.mistake != "a Python number instead of a tensor"


def test_every_kind_of_exercise_is_asked_and_judged_in_one_way() -> None:
    assert {*KINDS} == {*get_args(KindName)} == {one.kind for one in specs.EXERCISES.values()}
