"""The museum is complete: each exhibit has a label, a reason why it is there, and a point."""

import re

import pytest

from course_grading.notebooks import RELEASED, read
from course_grading.specs.museum import EXERCISES as ROOMS

every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.slug)


def exhibits(room):
    return [version for version in room.versions if not version.right]


@every_room
def test_a_point_for_each_exhibit(room):
    assert room.points == len(exhibits(room))


@every_room
def test_every_exhibit_says_why_it_got_past_a_test(room):
    assert all(len(version.why.split()) > 10 for version in exhibits(room))


@every_room
def test_every_exhibit_has_its_label(room):
    name = f"labels-{room.slug}-"
    cells = [cell.source for cell in read(RELEASED / "17_museum.ipynb") if name in cell.id]
    assert len(re.findall(r"^- \*", "\n".join(cells), re.MULTILINE)) == len(exhibits(room))


def test_the_museum_is_large():
    assert sum(len(exhibits(room)) for room in ROOMS) >= 20
