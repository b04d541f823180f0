"""Which tests of a grid are run: a tenth of them, and another tenth for another commit.

A test with the mark `grid` is one of many that protect the same promise. Of the tests of one
function that have it, a tenth runs, at least one: those whose checksums of commit and name are the
lowest. `.ci/run` gives the commit in COURSE_SAMPLE, so that in time all are run; without it the
tenth is always the same. All run with `COURSE_SAMPLE=all`, and where it is not given and tests are
asked for by name: with -k, or by their file.
"""

import hashlib
import math
import os

ALL = "all"
SHARE = 10


def chosen_by(config):
    """What chooses the tests of grids: a commit, nothing, or ALL."""
    by_name = config.option.keyword or any(".py" in one for one in config.args)
    return os.environ.get("COURSE_SAMPLE", ALL if by_name else "")


def sample(names, chosen_by):
    """A tenth of these names, rounded up; all if `chosen_by` is ALL."""
    if chosen_by == ALL:
        return {*names}
    lowest = sorted(names, key=lambda name: hashlib.sha256(f"{chosen_by} {name}".encode()).digest())
    return {*lowest[: math.ceil(len(lowest) / SHARE)]}


def left_out(items, chosen_by):
    """The tests of grids that are not in the sample."""
    grids = {}
    for item in items:
        if item.get_closest_marker("grid"):
            grids.setdefault(grid_of(item), []).append(item)
    kept = {
        name for grid in grids.values() for name in sample([one.nodeid for one in grid], chosen_by)
    }
    return [one for grid in grids.values() for one in grid if one.nodeid not in kept]


def grid_of(item):
    """A test's function; of what is asked of notebooks, all notebooks are one grid."""
    function = getattr(item, "originalname", None)
    return (item.path, function) if function else item.name


def said_of(chosen_by, what="grids"):
    """A line that says what is run, and how to run the same again."""
    if chosen_by == ALL:
        return f"{what}: all"
    again = f"COURSE_SAMPLE={chosen_by} chooses the same" if chosen_by else "always the same"
    return f"{what}: a tenth of each ({again}, COURSE_SAMPLE={ALL} takes all)"
