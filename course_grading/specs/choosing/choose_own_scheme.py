"""Capstone: a scheme of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Case, Design, Mistake, Property
from course_grading.exercise.domain import Described
from course_grading.specs.choosing.common import (
    by_keys,
    counted_from_zero,
    differences,
    first_row,
    log_bias_of,
    without_head_axis,
)
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_lab.instruments.probes import Subject
from course_lib.encodings import PositionScheme, Sinusoidal
from course_lib.model import Decoder, DecoderConfig
from course_lib.model.decoder import Cache

TRAINED, TEXT = 128, 5  # tokens
SAME = 1e-4  # smaller differences are rounding
KEPT = torch.tensor([0, 1, 4])
PROMPT = 3  # tokens
FAR = torch.tensor([0, *(4 * TRAINED - 1 - n * (n + 1) // 2 for n in range(31, -1, -1))])
"""Up to four times the trained length, with gaps of 31, 30, ..., 1."""


def _made(my_scheme: Any, config: DecoderConfig, awake: bool = True) -> list[PositionScheme]:
    """A new scheme for each layer, with random parameters if `awake`, else with its own."""
    torch.default_generator.manual_seed(0)
    scheme = my_scheme(config)
    other_module = isinstance(scheme, torch.nn.Module) and not isinstance(scheme, PositionScheme)
    if other_module or not callable(scheme):
        raise TypeError(
            "my_scheme(config) must return a PositionScheme, or a function from layer number to "
            f"scheme, got {type(scheme).__name__}"
        )

    def ready(one: PositionScheme) -> PositionScheme:
        _must_be_own(one)
        return (Subject(one, config, TRAINED).awake() if awake else one).eval()

    if isinstance(scheme, PositionScheme):
        return [ready(scheme)] * config.num_layers

    def of_layer(layer: int) -> PositionScheme:
        try:
            one = scheme(layer)
        except Exception as error:
            says = f"{type(error).__name__}: {error}"
            raise RuntimeError(
                f"what my_scheme returned, called with layer {layer}: {says}"
            ) from None
        if not isinstance(one, PositionScheme):
            kind = type(one).__name__
            raise TypeError(f"for layer {layer} my_scheme gives no PositionScheme, but {kind}")
        return ready(one)

    return [of_layer(layer) for layer in range(config.num_layers)]


def _must_be_own(scheme: PositionScheme) -> None:
    """Raises RuntimeError if a class of the library, apart from PositionScheme, is part of it."""
    for part in scheme.modules():
        for kind in type(part).__mro__:
            if kind.__module__.startswith("course_lib") and kind is not PositionScheme:
                raise RuntimeError("a class of the library is part of it: write it yourself")


def _trunk(config: DecoderConfig) -> Callable[..., Tensor]:
    """Scores of a small model with random parameters, around the schemes that it is given."""
    torch.default_generator.manual_seed(0)
    model = Decoder(config, PositionScheme()).eval()

    def scores(schemes: list[PositionScheme], *inputs: Tensor, **more: Any) -> Tensor:
        model.first_scheme = schemes[0]
        for block, scheme in zip(model.blocks, schemes, strict=True):
            block.attention.scheme = scheme  # type: ignore[union-attr]
        return model(*inputs, **more)

    return scores


def _token_by_token(score: Callable[..., Tensor], tokens: Tensor, at: Tensor, prompt: int = 1):
    cache, ends = Cache(), [0, *range(prompt, len(at) + 1)]
    steps = [slice(*ends[i : i + 2]) for i in range(len(ends) - 1)]
    return torch.cat([score(tokens[:, step], at[step], cache=cache) for step in steps], dim=1)


@torch.no_grad()
def _scores_of(made: Any, config: Any, texts: Any) -> dict[str, Tensor]:
    """What two small models do with the scheme: a new one each time, and at last a used one."""
    one, two = (DecoderConfig(16, d, num_layers=2, num_heads=n, hidden_dim=8) for d, n in config)
    used, score = made(one), _trunk(one)
    look_both_ways = _trunk(replace(two, causal=False))
    tokens, start = texts
    many, positions = tokens.flatten().repeat(4)[None, : len(FAR)], torch.arange(TEXT)
    late = 3 * positions + start
    rows = [0] + [1] * (one.num_heads - 1)  # as many as heads: axes mixed up raise nothing then
    mask = torch.isin(positions, KEPT) | torch.eye(TEXT).bool()
    scores: dict[str, Tensor] = {}

    def new(*inputs, **more):
        return score(made(one), *inputs, **more)

    def both_ways(shuffled):
        return look_both_ways(made(two), shuffled, positions)

    def decode(at, prompt=1):
        schemes = made(one)
        return _token_by_token(lambda *t, **c: score(schemes, *t, **c), tokens, at, prompt)

    computations = {
        "a whole text": lambda: score(used, tokens, positions),
        "token by token": lambda: decode(positions),
        "a whole text that starts late": lambda: new(tokens, late),
        "token by token from a late start": lambda: decode(late, PROMPT),
        "tokens hidden": lambda: new(tokens, positions, mask=mask)[:, KEPT],
        "tokens left out": lambda: new(tokens[:, KEPT], KEPT),
        "rows with positions of their own": lambda: new(
            tokens[rows], torch.stack([positions, late])[rows]
        ),
        "each row alone": lambda: torch.cat(
            [scores["a whole text"][:1], scores["a whole text that starts late"][rows[1:]]]
        ),
        "shuffled after": lambda: both_ways(tokens).roll(1, 1),
        "shuffled before": lambda: both_ways(tokens.roll(1, 1)),
        "positions up to 511": lambda: score(used, many, FAR),
        "before any training": lambda: score(made(one, False), many, FAR),
        "a new scheme for each text": lambda: torch.cat(
            [new(tokens, 3 * positions), scores["a whole text"]]
        ),
        "one scheme for all texts": lambda: torch.cat(
            [score(used, tokens, at) for at in (3 * positions, positions)]
        ),
        "the last text again": lambda: score(used, tokens, positions),
    }  # fmt: skip
    for what, compute in computations.items():
        try:
            scores[what] = compute()
        except Exception as error:  # whatever it is, the learner should know where
            raise RuntimeError(f"{what}: {type(error).__name__}: {error}") from None
    return scores


def _same(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() < SAME)


def _evidence(made, config, texts):
    """What holds of the scheme, and signs of why something does not; the worst faults alone."""
    scores = _scores_of(made, config, texts)
    finite = {what: bool(values.isfinite().all()) for what, values in scores.items()}
    whole, late = scores["a whole text"], scores["a whole text that starts late"]
    reused = scores["one scheme for all texts"]
    numbers = {
        "numbers at first": finite["a whole text"],
        "numbers when trained": all(finite[one] for one in finite if one != "before any training"),
        "numbers": all(finite.values()),
    }
    steady = {
        "nothing kept": _same(reused, scores["a new scheme for each text"]),
        "nothing random": _same(reused[-2:], scores["the last text again"]),
    }
    rest = {
        "tells order": not _same(scores["shuffled before"], scores["shuffled after"]),
        "token by token": _same(scores["token by token"], whole),
        "token by token, late": _same(scores["token by token from a late start"], late),
        "tokens left out": _same(scores["tokens left out"], scores["tokens hidden"]),
        "rows": _same(scores["rows with positions of their own"], scores["each row alone"]),
        "first row": _same(scores["rows with positions of their own"][:1], whole[:1]),
        "goes by positions": not _same(whole, late),
        "earlier scores stay": _same(
            scores["token by token from a late start"][:, :PROMPT], late[:, :PROMPT]
        ),
    }
    if not numbers["numbers"]:
        steady = dict.fromkeys(steady, True)
    if not (numbers["numbers"] and steady["nothing kept"]):
        rest = dict.fromkeys(rest, True)
    return numbers | steady | rest


def _holds(what: str) -> Callable[[Case, dict[str, bool]], bool]:
    return lambda case, evidence: evidence[what]


def _scheme_cases(rng: Random) -> list[Case]:
    sizes = [(width * heads, heads) for width, heads in zip(
        rng.sample([8, 12, 16], 3), rng.sample([2, 3, 4], 3), strict=True)]  # fmt: skip
    tokens = torch.stack([shuffled(rng, TEXT, below=16) for _ in range(2)])
    texts = tokens, rng.randint(2, 40)
    return [{"config": [one, other], "texts": texts}
            for one, other in zip(sizes, sizes[1:] + sizes[:1], strict=True)]  # fmt: skip


class _LogSlopes(PositionScheme):
    """The solution's: a learned slope for each head, on the logarithm of the distance."""

    def __init__(self, heads: int, bias: Callable[..., Tensor]) -> None:
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.linspace(0.5, 3, heads))
        self.bias = bias

    def score_bias(self, q, k, q_positions, k_positions):
        return self.bias(q_positions, k_positions, self.slopes).to(q.dtype)


def _scheme(**choices):
    """The right answer, or one whose bias has choices made otherwise."""
    return lambda config: _LogSlopes(config.num_heads, log_bias_of(**choices))


class _Sealed(PositionScheme):
    """All doors shut, though it has something to learn."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.ones(heads))


class _Rows(PositionScheme):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(TRAINED + 40, dim))

    def embed(self, x, positions):
        return x + self.table[positions]


class _Remembers(PositionScheme):
    """Divides positions by the longest text that it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 1

    def embed(self, x, positions):
        self.longest = max(self.longest, int(positions.max()) + 1)
        angles = positions[..., None] / self.longest * torch.arange(1, x.shape[-1] + 1)
        return x + angles.sin().to(x.dtype)


class _Explodes(PositionScheme):
    """Grows with every step, and is no number any more far out."""

    def rotate(self, q, k, q_positions, k_positions):
        growth = 4.0 ** (q_positions[..., :, None] * 2).float().unsqueeze(-3)
        return q * growth.to(q.dtype), k * (4.0 ** (-2 * k_positions[..., :, None])).unsqueeze(-3)


class _Borrows(PositionScheme):
    """A scheme of the library in a class of its own."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.waves = Sinusoidal(dim)

    def embed(self, x, positions):
        return self.waves.embed(x, positions)


class _DividesByNothing(_LogSlopes):
    """Begins with reaches of 0, and divides distances by them."""

    def __init__(self, heads: int) -> None:
        super().__init__(heads, log_bias_of())
        torch.nn.init.zeros_(self.slopes)

    def score_bias(self, q, k, q_positions, k_positions):
        return -super().score_bias(q, k, q_positions, k_positions) / self.slopes[:, None, None] ** 2


class _InEachDraw(Described):
    """Two of these are in every draw."""

    def uncovered(self, values):
        yield from ()


EXERCISE = Design(
    slug="choose-own-scheme", title="Capstone: a scheme of your own",
    minutes=35, points=4,
    name="my_scheme", reference=_scheme(), cases=_scheme_cases, evidence=_evidence,
    opening=_made,
    domain={
        "config": _InEachDraw("2, 3 or 4 heads, each 8, 12 or 16 wide; `dim` is their product"),
        "texts": _InEachDraw("five tokens from position 0 on, or with gaps up to position 52, and "
                             "a longer text that ends at position 511"),
    },
    forbidden=("Sinusoidal", "LearnedAbsolute", "NoPosition", "DistanceBias", "ClippedBias",
               "T5Bias", "ALiBi", "Shaw", "TransformerXL", "Rotary", "Waves", "RECIPES"),
    properties=(
        Property("all scores are numbers, before any training and at positions up to 511, too",
                 _holds("numbers")),
        Property("a text scores the same after other texts (nothing is kept between calls)",
                 _holds("nothing kept")),
        Property("without a mask, a text in another order is read otherwise (it tells order)",
                 _holds("tells order")),
        Property("token by token over a cache, a text scores as it does at once",
                 _holds("token by token")),
        Property("token by token after a prompt that starts late, with gaps, it scores as at once",
                 _holds("token by token, late")),
        Property("a text with tokens left out scores like one where they are hidden",
                 _holds("tokens left out")),
        Property("rows of a batch with positions of their own score as each does alone",
                 _holds("rows")),
    ),
    hints=(
        "Begin with one door. In score_bias, the distances of all pairs are q_positions[..., :, "
        "None] - k_positions[..., None, :]: with rows of their own these have three dimensions.",
        "Heads go before the last two dimensions: bias.unsqueeze(-3) * slopes[:, None, None]. Give "
        "back q's dtype with .to(q.dtype).",
        "Never use the length of a tensor as a position. report_card names the probe that fails.",
    ),
    mistakes=(
        Mistake("changes no score", "Your scheme changes nothing, or next to it. Override embed, "
                "rotate, score_bias or read, with exactly these names. What is the same for all "
                "columns of a token is lost in the norm, and what is the same for all keys of a "
                "query in the softmax.",
                lambda config: _Sealed(config.num_heads)),
        Mistake("counts tokens itself", COUNTS_ITSELF,
                _scheme(distances=counted_from_zero)),
        Mistake("depends on the length of the text", "The same two tokens get another score when "
                "the text grows, so what was computed before is wrong after the next token.",
                _scheme(scale=by_keys)),
        Mistake("all rows like the first",
                "It takes the positions of the first row for the whole batch.",
                _scheme(distances=first_row)),
        Mistake("rows mixed up", "In a batch whose rows have positions of their own, even the "
                "first row is read otherwise than alone. Perhaps the axis of the rows meets that "
                "of the heads: with as many texts as heads this raises nothing, and head h of "
                "every text gets the positions of text h. Positions need an axis for the heads.",
                lambda config: _LogSlopes(config.num_heads, without_head_axis)),
        Mistake("counts tokens itself in one part",
                "One part goes by positions, another counts tokens. It may be a door, or a head, "
                "or a layer: if you return a function, each layer's scheme is checked.",
                lambda config: lambda layer: (
                    _scheme(distances=counted_from_zero) if layer else _scheme())(config)),
        Mistake("counts on from the first position", "It takes the first number in `positions`, "
                "and counts on from there. Positions may have gaps: use all of them.",
                _scheme(distances=lambda *both: differences(
                    *(t[..., :1] + torch.arange(t.shape[-1]) for t in both)))),
        Mistake("other numbers in every call", "The same model scores the same text otherwise when "
                "it is asked again: something is drawn at random in each call.",
                _scheme(fall=lambda d: d.clamp(min=0) * (1 + 0.1 * torch.rand(1)))),
        Mistake("keeps something between calls", "What it does depends on the texts that it saw "
                "before. A scheme may keep parameters, and nothing that a call changes.",
                lambda config: _Remembers()),
        Mistake("a table that ends",
                "It has no rows beyond what it was made for. What should happen there?",
                lambda config: _Rows(config.dim)),
        Mistake("a class of the library",
                "Part of your scheme is a class of course_lib. Only PositionScheme may be used; "
                "functions of the library are free.",
                lambda config: _Borrows(config.dim)),
        Mistake("no numbers in a short text", "Its scores are no numbers in a text of five tokens "
                "already: something is divided by 0, say, or a logarithm is taken of 0, as it may "
                "be at distance 0 or at position 0.",
                _scheme(fall=lambda d: d.abs().log())),
        Mistake("no numbers before it is trained", "Its scores are numbers with random parameters, "
                "but not with those that it starts with: look at what stands in them at first.",
                lambda config: _DividesByNothing(config.num_heads)),
        Mistake("no numbers far out", "From some position on its scores are no numbers any more: "
                "something grows beyond float32 there, as a power does, or a root or a logarithm "
                "is taken of a number below 0.",
                lambda config: _Explodes()),
    ),
)  # fmt: skip
