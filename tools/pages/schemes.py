"""`docs/schemes.md`: what each scheme is good for, what it costs and where it fails, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from course_lab import zoo
from course_lab.figures.style import NAMES
from course_lab.markdown import table
from course_lab.studies import budgets, costs, layers
from course_lab.training import recall

LESSONS = {
    "learn": "04_learned_positions", "T5": "05_relative_bias", "ALiBi": "06_linear_bias",
    "Shaw": "07_shaw_and_transformer_xl", "RoPE": "08_rotary_encoding",
    "part": "10_rotary_costs", "long": "11_train_short_test_long", "fall": "12_why_rope_falls",
    "YaRN": "15_yarn_and_beyond", "layers": "17_which_layers", "choose": "19_choosing",
    "sine": "02_sinusoidal_encoding", "none": "01_attention_is_order_blind",
}  # fmt: skip
TEXT = """\
# Which scheme?

What each scheme of the course is good for, what it costs and where it fails. After a number stands
the lesson that shows how it was measured. `make pages ARGS=schemes` writes this page from the
records.

{table}

How to read the numbers:

- *Bits* are bits per byte of Python source; fewer are better. All models were trained alike, on
  windows of 128 bytes for 1 000 steps, three seeds. At 512 and 2 048 they read windows four and
  sixteen times as long, without further training unless the row says so.
- *Finds* is the share of values that were named 256 tokens or more before, in texts eight times as
  long as those of training: models of one layer, 300 steps, three seeds ({fall}). Whoever names
  the value that was stated most often finds {commonest:.2f}.
- *Memory* and *time* are those of a training step of this course's code, with 8 windows of 512
  bytes; a model without positions has 1. Other code has other costs.
- *A window that slides* reads the same text, and never sees more than 128 bytes of it.

Small models of one text decide nothing for yours. The order of the losses at 128 bytes held on each
of three seeds for 43 of the 45 pairs of schemes; [lesson 19](../notebooks/19_choosing.ipynb) says
what that is worth, and chooses for a given window, batch and length.
"""


def _link(name: str) -> str:
    return f"[{LESSONS[name][:2]}](../notebooks/{LESSONS[name]}.ipynb)"


def _bits(name: str, length: int, method: str | None = None) -> str:
    """The mean over seeds of the small tier, untuned."""
    found = [
        r.bits_per_byte
        for r in zoo.results()
        if (r.tier, r.scheme, r.length, r.method, r.tuned_steps)
        == ("small", name, length, method, 0)
        and r.factor == (length / 128 if method else 1)
    ]
    return f"{fmean(found):.2f} bits"


def _finds(name: str, method: str | None = None) -> str:
    found = [
        fmean(r["bins"][4:])
        for r in budgets.records("recall")
        if (r["variant"], r["method"], r["length"], r["steps"]) == (NAMES[name], method, 512, 300)
    ]
    return f"finds {fmean(found):.2f}"


def _costs(name: str, length: int = 512) -> str:
    price = {
        r["kind"]: r["relative"]
        for r in costs.results()
        if (r["scheme"], r["batch"], r["length"]) == (name, 8, length)
    }
    return f"memory {price['memory']:.2f}, time {price['time']:.2f}"


def _slid(name: str) -> str:
    found = [fmean(bits) for (scheme, _), bits in zoo.slid().items() if scheme == name]
    return f"{fmean(found):.2f} bits"


Row = tuple[str, str, str, str]
"""Scheme, good for, costs, fails."""


def rotating() -> Iterator[Row]:
    """Those that rotate, the plain one first."""
    mixed, turned = (
        f"{fmean(one.value for one in layers.paid(pattern, 2048)):.2f} bits"
        for pattern in ("window_none_in_full", "window")
    )
    yield (
        f"RoPE ({_link('RoPE')})",
        f"The trained length: {_bits('rope', 128)}. It can be stretched after training: by YaRN, "
        f"{_bits('rope', 512, 'yarn')} at 512, and then it {_finds('rope', 'yarn')} "
        f"({_link('YaRN')})",
        f"{_costs('rope')} ({_link('choose')}); nothing to learn",
        f"Beyond the trained length, unstretched: {_bits('rope', 512)} at 512 ({_link('long')}), "
        f"and it {_finds('rope')} ({_link('fall')})",
    )
    yield (
        f"RoPE on a part of the head ({_link('part')})",
        f"The same: {_bits('partial_rope', 128)}. It {_finds('partial_rope')} ({_link('fall')})",
        f"{_costs('partial_rope')} ({_link('choose')}); nothing to learn",
        f"Beyond the trained length: {_bits('partial_rope', 512)} at 512 ({_link('long')})",
    )
    yield (
        f"RoPE and windows in three layers, no positions in the fourth ({_link('layers')})",
        f"Longer texts, untouched: {mixed} at 2 048",
        "A layer with a window of 32 keeps 32 keys in its cache",
        f"With RoPE in the fourth layer, too: {turned} at 2 048",
    )


def others() -> Iterator[Row]:
    """Those that add to scores, and those that add to the input."""
    yield (
        f"ALiBi ({_link('ALiBi')})",
        f"Longer texts, untouched: {_bits('alibi', 2048)} at 2 048 ({_link('long')})",
        f"{_costs('alibi')} ({_link('choose')}); nothing to learn",
        f"It {_finds('alibi')} of what is far ({_link('fall')}); a window of 128 that slides "
        f"pays as little, {_slid('alibi')} ({_link('long')})",
    )
    yield (
        f"T5's bias ({_link('T5')})",
        f"Finding what is far: it {_finds('t5')} ({_link('fall')})",
        f"{_costs('t5')} ({_link('choose')}); a number for each bucket and head",
        f"{_bits('t5', 128)} at 128, and {_bits('t5', 2048)} at 2 048 ({_link('long')})",
    )
    yield (
        f"Transformer-XL ({_link('Shaw')})",
        f"The lowest loss: {_bits('transformer_xl', 128)} at 128, {_bits('transformer_xl', 2048)} "
        f"at 2 048 ({_link('long')})",
        f"{_costs('transformer_xl')} ({_link('choose')})",
        f"In windows of 2 048: {_costs('transformer_xl', 2048)} ({_link('choose')})",
    )
    yield (
        f"Shaw ({_link('Shaw')})",
        f"As low at 128: {_bits('shaw', 128)}; {_bits('shaw', 2048)} at 2 048 ({_link('long')})",
        f"{_costs('shaw')} ({_link('choose')}), the most of all",
        f"In windows of 2 048: {_costs('shaw', 2048)} ({_link('choose')})",
    )
    yield (
        f"Sinusoid, added ({_link('sine')})",
        f"Nothing to learn and no cost; every position has a vector. {_bits('sinusoidal', 128)}",
        f"{_costs('sinusoidal')} ({_link('choose')})",
        f"Beyond the trained length: {_bits('sinusoidal', 512)} at 512 ({_link('long')})",
    )
    yield (
        f"Learned table ({_link('learn')})",
        f"Texts of a fixed length: {_bits('learned', 128)}, the most of those with positions",
        f"{_costs('learned')} ({_link('choose')}); a row for each position",
        f"It has no row beyond; its last row for all of them: {_bits('learned', 512)} at 512 "
        f"({_link('long')})",
    )
    yield (
        f"No positions ({_link('none')})",
        f"Finding what is far, behind a causal mask: it {_finds('none')} ({_link('fall')})",
        "memory 1.00, time 1.00: the others are measured by it",
        f"The highest loss, {_bits('none', 128)} at 128; without a mask it does not see the order "
        f"({_link('none')})",
    )


def page() -> str:
    """The whole page, as Markdown."""
    commonest = recall.commonest_share(512, at_least=256)
    shown = table(["scheme", "good for", "costs", "fails"], [*rotating(), *others()])
    return TEXT.format(table=shown, fall=_link("fall"), commonest=commonest)
