"""Measure: which f?"""

from __future__ import annotations

from course_grading.exercise import Measure, Mistake

PAYS = {1: 3.3529, 4: 2.7368, 16: 2.5620, 64: 2.8315, 256: 3.2233}  # bits, on two passages


def _saves(best: int = 16) -> float:
    return PAYS[1] - PAYS[best]


EXERCISE = Measure(
    slug="grow-which-f", title="Measure: which f?",
    minutes=15, points=2, name="saved",
    reference=_saves, relative_tolerance=0.003,
    hints=(
        "dynamic_ntk(32, 10_000.0, f, 1024, 128) has the frequencies, and stretched(model, ...) "
        "the model that reads with them.",
        "bits_by_length(reader, text, [1024], passages=2).mean() for each of the five. Then take "
        "the smallest of the five away from what f = 1 pays.",
    ),
    mistakes=(
        Mistake("the f itself",
                "This is the f that pays the fewest bits. The question asks how many bits fewer "
                "it pays than f = 1.", 16),
        Mistake("what the best f pays",
                "This is what the best f pays for a byte. The question asks how much less that is "
                "than what f = 1 pays.", lambda: PAYS[16]),
        Mistake("windows of 512 bytes",
                "That is what the best f saves in windows of 512 bytes, f = 4. Read windows of "
                "1024, with the frequencies for 1024.", 0.4084),
        Mistake("frequencies for 512 tokens",
                "You read windows of 1024 bytes with the frequencies for 512 tokens.", 1.0308),
        Mistake("compared with no stretch at all",
                "That is what the best f saves against the model with its own frequencies. Compare "
                "with f = 1, which stretches by 8 here.", 4.3517 - PAYS[16]),
        *(Mistake(f"what f = {f} saves",
                  f"That is what f = {f} saves. Another f of the five pays less.",
                  lambda f=f: _saves(f)) for f in (4, 64, 256)),
        Mistake("the wrong way round",
                "The best f pays fewer bits than f = 1. What it saves is above 0.",
                lambda: -_saves()),
    ),
)  # fmt: skip
