"""The frequencies of `course rope`, in plain numbers, beside those of the library."""

import json
import random
import subprocess
import sys

import pytest
import torch

from course_lab.rope import CONFIGS
from course_lab.rope.ladders import TYPES, axes_of_pairs, stretched, with_larger_base
from course_lib.encodings import axis_of_pair, from_rope_parameters, ntk_aware
from course_lib.encodings.rope_parameters import OLD_NAMES, ROPE_TYPES

ORIGINAL = "original_max_position_embeddings"


def drawn(kind, columns, draw):
    """Parameters of a type, with some of the keys that it may have."""
    given = {"rope_type": kind, "rope_theta": draw.choice([1e4, 5e5, 1e6])}
    numbers = {
        "factor": draw.choice([1.0, 2.5, 8.0, 40.0]), ORIGINAL: draw.choice([2048, 8192]),
        "low_freq_factor": 1.0, "high_freq_factor": draw.choice([1.0, 4.0, 8.0]),
        "beta_fast": draw.choice([16.0, 32.0]), "beta_slow": draw.choice([0.5, 1.0]),
        "mscale": draw.choice([0.7, 1.0]), "mscale_all_dim": draw.choice([0.7, 1.0]),
        "attention_factor": 1.25, "truncate": draw.random() < 0.5,
        "short_factor": [1.0 + 0.01 * n for n in range(columns // 2)],
        "long_factor": [1.0 + 0.5 * n for n in range(columns // 2)],
    }  # fmt: skip
    may_be_left_out = {"beta_fast", "beta_slow", "mscale", "mscale_all_dim", "attention_factor",
                       "truncate"}  # fmt: skip
    taken = TYPES[kind][1]
    return given | {key: value for key, value in numbers.items() if key in taken
                    and (key not in may_be_left_out or draw.random() < 0.6)}  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_the_ladder_is_that_of_the_library(kind):
    draw = random.Random(0)
    for _ in range(40):
        columns, length = draw.choice([32, 64, 128]), draw.choice([4096, 131_072])
        given = drawn(kind, columns, draw)
        share = draw.choice([0.25, 0.5, 1.0]) if kind == "proportional" else 1.0
        theirs = from_rope_parameters(
            given | {"partial_rotary_factor": share}, columns, length, length
        )
        ours = stretched(given, columns, length, share)
        if kind == "axial":  # each axis has a ladder of half as many columns: `tables` makes it
            continue
        torch.testing.assert_close(
            torch.tensor(ours.ladder, dtype=torch.float64), theirs.frequencies, rtol=1e-13, atol=0
        )
        assert ours.attention_factor == pytest.approx(theirs.attention_factor, rel=1e-13)


def test_types_and_their_keys_are_those_of_the_library():
    from course_lab.rope import ladders

    assert {kind: keys for kind, (_, keys) in TYPES.items()} == {
        kind: keys for kind, (_, keys) in ROPE_TYPES.items()
    }
    assert ladders.OLD_NAMES == OLD_NAMES
    ours = torch.tensor(with_larger_base(64, 1e4, 4.0), dtype=torch.float64)
    torch.testing.assert_close(ours, ntk_aware(64, 1e4, 4.0).frequencies, rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    "change",
    [{"factor": 0.5}, {ORIGINAL: 1}, {"beta_slow": 40.0}, {"low_freq_factor": 9.0},
     {"short_factor": [1.0]}, {"long_factor": "1.0"}, {"long_factor": [0.0] * 32}],
)  # fmt: skip
def test_what_the_library_refuses_is_refused_here(change):
    [key] = change
    for kind in TYPES:
        if key in TYPES[kind][1]:
            given = drawn(kind, 64, random.Random(1)) | change
            for read in (lambda g: stretched(g, 64, 8192), lambda g: from_rope_parameters(
                    g, 64, 8192, 8192)):  # fmt: skip
                with pytest.raises(ValueError):
                    read(given)


@pytest.mark.parametrize("sections", [(16, 24, 24), (24, 20, 20), (4, 4), (1, 3), (8, 0, 2)])
@pytest.mark.parametrize("interleaved", [False, True])
def test_axes_are_those_of_the_library(sections, interleaved):
    try:
        theirs = tuple(axis_of_pair(sections, interleaved).tolist())
    except ValueError:
        with pytest.raises(ValueError):
            axes_of_pairs(sections, interleaved)
        return
    assert axes_of_pairs(sections, interleaved) == theirs


def imported(*arguments):
    """The modules that a call of `course` has imported at its end."""
    program = (
        "import json, sys\nfrom course_grading.cli import main\ntry:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    pass\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    )
    call = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    "options",
    [[], ["--for", "100000"], ["--json", "--for", "100000"], ["--pairs"], ["--help"],
     [CONFIGS / "llama-7b.json"]],
    ids=str,
)  # fmt: skip
def test_torch_is_not_imported_by_course_rope(options):
    """Importing it takes longer than all the rest."""
    there = imported("rope", CONFIGS / "qwen2.5-7b-128k.json", *options)
    assert "course_lab" in there
    assert not there & {"torch", "jaxtyping", "matplotlib", "transformers"}
