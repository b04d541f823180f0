"""How far back does the top layer reach?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Described, Number

Layer = tuple[str, int | None]
Layers = list[Layer]
FULL, WINDOW, CHUNK = "full_attention", "sliding_attention", "chunked_attention"


def _of_window(position: int, size: int) -> int:
    return max(0, position - (size - 1))


def _of_chunk(position: int, size: int) -> int:
    return position // size * size


def _earliest(
    *,
    window: Callable[[int, int], int] = _of_window,
    chunk: Callable[[int, int], int] = _of_chunk,
    full: Callable[[int], int] = lambda position: 0,
    order: Callable[[Layers], Layers] = lambda layers: layers[::-1],
    result: Callable[[int, int], int] = lambda position, earliest: earliest,
) -> Callable[[Layers, int], int]:
    """The earliest position, or what becomes of it when one of these choices is another."""

    def earliest_position(layers: Layers, position: int) -> int:
        earliest = position
        for kind, size in order(layers):
            if size is None:
                earliest = full(earliest)
            else:
                earliest = (window if kind == WINDOW else chunk)(earliest, size)
        return result(position, earliest)

    return earliest_position


_reference = _earliest()


def _full_on_top_alone(layers: Layers) -> Layers:
    *lower, top = layers
    return [top, *(layer for layer in reversed(lower) if layer[1] is not None)]


def _best_layer(layers: Layers, position: int) -> int:
    return min(_reference([layer], position) for layer in layers)


def _cases(rng: Random) -> list[Case]:
    def case(position: int, *layers: Layer) -> Case:
        return {"layers": [*layers], "position": position}

    def window(size: int) -> Layer:
        return WINDOW, size

    def chunk(size: int) -> Layer:
        return CHUNK, size

    full: Layer = (FULL, None)
    gemma = [*[window(1024)] * 5, full]
    far = rng.randint(90_000, 100_000)
    return [
        case(100, window(8), window(8), window(8)),
        case(50, window(8), window(8), window(8)), case(20, window(8), window(8), window(8)),
        case(21, window(8), window(8), window(8)), case(10, window(3), chunk(4)),
        case(10, chunk(4), window(3)), case(1000, window(100), window(1), window(40), window(7)),
        case(70_000, *gemma), case(70_000, *gemma[:5]), case(far, *[window(512)] * 22),
        case(300, window(50)), case(300, full), case(12, window(5), full, window(2)),
        case(20_000, *[chunk(8192)] * 3), case(20_000, *[chunk(8192)] * 3, full),
        case(8192, chunk(8192), chunk(8192)), case(8191, chunk(8192), chunk(8192)),
        case(0, window(16), chunk(16), full), case(0, window(4)), case(5, window(1), window(1)),
        case(47, chunk(6), window(9), chunk(5), window(4), window(12)),
        case(47, window(12), chunk(5), window(9), chunk(6)), case(9, chunk(1), chunk(1)),
        case(rng.randint(900, 999), window(rng.randint(5, 40)), chunk(64), window(130), chunk(90)),
        case(far, *[window(rng.choice([256, 512, 1024])) for _ in range(32)]),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="layers-reach", title="How far back does the top layer reach?",
    minutes=15, points=2, name="earliest_position",
    reference=_reference, cases=_cases,
    domain={
        "layers": Described("a list of 1 to 32 tuples as above, with sizes from 1 to 8192"),
        "position": Number(0, 100_000, whole=True),
    },
    hints=(
        "Begin with the top layer, which is the last of the list. Which is the earliest position "
        "that it sees from `position`? What stands there was made by the layer below.",
        "So the earliest position of one layer is where you ask the layer below. A window of 8 "
        "goes 7 positions back, and never below 0. A chunk goes back to the largest multiple of "
        "its size that is not after the position.",
        "for kind, size in reversed(layers): a full layer makes the position 0, a window makes it "
        "max(0, position - size + 1), a chunk makes it position - position % size.",
    ),
    mistakes=(
        Mistake("one position too many in each window",
                "You go `size` positions back. A window of `size` holds the query's own position, "
                "so the farthest of its keys is size - 1 back.",
                _earliest(window=lambda position, size: max(0, position - size))),
        Mistake("below 0",
                "Positions begin at 0: no text stands before it.",
                _earliest(window=lambda position, size: position - (size - 1))),
        Mistake("the layers taken from the bottom",
                "You begin with layer 0, the first of the list. With windows alone the order does "
                "not matter. With chunks it does: what the top layer reads was made by the layer "
                "below.",
                _earliest(order=lambda layers: layers)),
        Mistake("the top layer alone",
                "You look at the top layer only. What it sees has read further back in the layers "
                "below.",
                _earliest(order=lambda layers: layers[-1:])),
        Mistake("the farthest layer alone",
                "You take the layer that sees farthest, as if layers did not pass on what they "
                "read. One layer's way back begins where the way of the layer above ended.",
                _best_layer),
        Mistake("a chunk taken for a window",
                "You treat a chunk like a window of its size. A query sees nothing before the "
                "beginning of its own chunk, however near that is.",
                _earliest(chunk=_of_window)),
        Mistake("chunks left out",
                "You go no step back in layers with chunks. A query there sees back to the "
                "beginning of its chunk.",
                _earliest(chunk=lambda position, size: position)),
        Mistake("full layers left out",
                "You go no step back in layers that see everything. One of them is enough to "
                "reach position 0.",
                _earliest(full=lambda position: position)),
        Mistake("how far back, and not where",
                "You return how many positions back this is. The task asks for the position.",
                _earliest(result=lambda position, earliest: position - earliest)),
        Mistake("how many positions, and not where",
                "You return how many positions the top layer can depend on. The task asks for the "
                "earliest of them.",
                _earliest(result=lambda position, earliest: position - earliest + 1)),
        Mistake("without the bottom layer",
                "You leave the bottom layer out. It sees tokens, and what the layer above makes of "
                "them comes from as far back as the bottom layer sees.",
                _earliest(order=lambda layers: layers[:0:-1])),
        Mistake("without the top layer",
                "You leave the top layer out. The way back begins with what it sees itself.",
                _earliest(order=lambda layers: layers[-2::-1])),
        *(Mistake("one layer too many",
                  "You go back through one layer more than there are. Each layer of the list takes "
                  "one step.",
                  _earliest(order=order))
          for order in (lambda layers: [*layers[::-1], layers[0]],
                        lambda layers: [*layers[::-1], layers[-1]])),
        Mistake("the beginning of a chunk taken into the chunk before",
                "A position that is a multiple of the chunk's size is the first of its own chunk. "
                "You go back to the chunk before: compute position // size, not "
                "(position - 1) // size.",
                _earliest(chunk=lambda position, size: max(0, (position - 1) // size * size))),
        Mistake("full layers left out below the top",
                "You reach position 0 only if the top layer sees everything. One full layer is "
                "enough, wherever it stands.",
                _earliest(order=_full_on_top_alone)),
    ),
)  # fmt: skip
