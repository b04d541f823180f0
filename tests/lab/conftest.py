"""Results of a zoo, for the page and the pictures that are made from them."""

import pytest
from tiny import store

from course_lab import zoo
from course_lab.instruments import stretching

LENGTHS = (64, 128, 256, 512, 1024, 2048)
SETTINGS = zoo.TIERS["small"].settings()


def record(scheme, seed, length, bits, method=None, factor=1.0, steps=0):
    passages = (bits - 0.1, bits + 0.1)
    return zoo.Record(scheme, "small", seed, method, factor, steps, length, passages, "one text")


def run(scheme, seed):
    return {
        "kind": "trained", "tier": "small", "scheme": scheme, "seed": seed, "method": None,
        "factor": 1.0,
        "settings": SETTINGS, "parameters": 1000, "seconds": 120, "machine": "a machine",
        "curve": [4.0, 3.0, 2.0],
    }  # fmt: skip


def look(scheme, seed):
    by_position = [2.0 + scheme.count("o")] * 32
    return {**run(scheme, seed), "kind": "measured", "by_position": by_position}


@pytest.fixture
def measured_zoo(tmp_path, monkeypatch):
    """Two seeds of two schemes, 0.2 apart, and RoPE stretched and tuned."""
    records = [
        record(s, seed, n, 2 + 0.2 * seed)
        for s in ("rope", "none")
        for seed in (0, 1)
        for n in LENGTHS
    ]
    for method in [m for m in stretching.METHODS if m != "unchanged"] + ["longrope"]:
        for factor in (2.0, 4.0, 8.0, 16.0):
            reached = int(128 * factor)
            records += [
                record("rope", 0, n, factor, method, factor) for n in (128, reached, 2 * reached)
            ]
    for method in ("unchanged", "yarn"):
        records += [
            record("rope", 0, n, 1.5 + 10 / steps, method, 4.0, steps)
            for steps in (50, 100)
            for n in (128, 512, 1024)
        ]
    monkeypatch.setattr(zoo, "HERE", tmp_path)
    runs = [make(s, seed) for s in ("rope", "none") for seed in (0, 1) for make in (run, look)]
    store(runs, records)
