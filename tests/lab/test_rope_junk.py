"""Configs with junk under some key: `course rope` answers, or says in one line why it does not."""

import copy
import json
import math
import random
import re
from collections import Counter

from course_lab.rope import CONFIGS, known
from course_lab.rope import config as rope_config
from course_lab.rope.advice import advice
from course_lab.rope.comparison import differences
from course_lab.rope.document import document
from course_lab.rope.engines import ENGINES
from course_lab.rope.remedies import remedy
from course_lab.rope.report import report, table_of_pairs
from course_lab.rope.summary import MOST, summary
from course_lib.errors import CourseError

JUNK = [None, True, 0, -1, 3.5, 1e30, 2**40, math.nan, "x", "", "two\nlines", [], {}, [1], ["a"],
        {"a": 1}, [None], {"0": None}, {"0": {"head_dim": None}}, {"full_attention": None},
        {"full_attention": [1]}, {"sliding_attention": {}}, {"rope_theta": {}}, {"type": ["a"]},
        {"rope_type": "yarn"}, [-1] * 32, [[1]], {"a": {"b": {"rope_theta": []}}},
        1e-9, 7, 64, 1e308, [0] * 64, ["full_attention"] * 32, {"rope_type": "llama3", "factor": 2},
        {"rope_type": "longrope", "factor": 4, "short_factor": [1.0], "long_factor": [2.0]},
        ]  # fmt: skip
WORD = re.compile(
    "rope|layer|head|hidden|pos|window|section|rotar|factor|theta|alibi|attn|type|per_"
)
MORE = ("auto_map", "model_type", "rope_scaling", "rope_parameters", "per_layer_config",
        "text_config", "layer_rope_theta", "layer_types", "llm_config", "factor", "attn_config",
        *known.BASES)  # fmt: skip
LENGTHS = (100, 100_000, 2**40)


def keys_of(config, before=()):
    for key, value in config.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from keys_of(value, (*before, key))


def with_junk(draw, published):
    """A published config with junk under one key or two, and sometimes under one that it lacks."""
    config = copy.deepcopy(draw.choice(published))
    for _ in range(draw.choice([1, 1, 2])):
        found = [keys for keys in keys_of(config) if WORD.search(keys[-1])]
        *inside, last = draw.choice(found) if found else ["rope_theta"]
        at = config
        for key in inside:
            at = at[key]
        at[last] = copy.deepcopy(draw.choice(JUNK))
    more = {draw.choice(MORE): draw.choice(JUNK)} if draw.random() < 0.5 else {}
    return copy.deepcopy(config | more)


def everything(read, length, engine, other):
    """All lines that the command has on a config."""
    short = [line.words for line in summary(read)]
    assert len(short) <= MOST or len(read.groups) > 1
    yield from short
    for group in read.groups:
        yield from report(group)
        yield from table_of_pairs(group)
        assert all(remedy(one) for one in group.warnings)
    yield from advice(read, length, engine)
    json.dumps(document(read), allow_nan=False)
    yield from differences(read, other or read)


def tried(seed, count, path):
    """How many configs were answered, and how many refused in one line; anything else raises."""
    draw, other, found = random.Random(seed), None, Counter()
    published = [json.loads(one.read_text()) for one in sorted(CONFIGS.glob("*.json"))]
    for number in range(count):
        config = with_junk(draw, published)
        length, engine = draw.choice(LENGTHS), draw.choice([None, *ENGINES])
        path.write_text(json.dumps(config))
        try:
            read = rope_config.reading(path)
            lines = list(everything(read, length, engine, other))
            assert lines and not [line for line in lines if "\n" in line]
            other = read
            found["answered"] += 1
        except CourseError as error:
            assert "\n" not in str(error)
            found["refused"] += 1
        except Exception as error:
            raise AssertionError(f"config {number} of seed {seed}: {json.dumps(config)}") from error
    return found


def test_whatever_stands_under_a_key_there_is_an_answer_or_one_line(tmp_path):
    found = tried(0, 1000, tmp_path / "config.json")
    assert found["answered"] > 200 and found["refused"] > 200
