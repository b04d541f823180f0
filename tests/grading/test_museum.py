"""The museum is complete, and its labels are true: what they say hides a bug does, and shows it."""

import re

import pytest
from labels_museum import LABELS, MORE_TURN, one_head

from course_grading.notebooks import RELEASED, read
from course_grading.specs import SHEETS
from course_grading.specs.museum import EXERCISES as ROOMS

every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.slug)
LABEL = re.compile(r"^- \*(.+?)\* \(lessons? (\d\d)(?: and (\d\d))?\)\. ", re.MULTILINE)


def exhibits(room):
    return [version for version in room.versions if not version.right]


EXHIBITS = [(room, version) for room in ROOMS for version in exhibits(room)]
every_exhibit = pytest.mark.parametrize(
    ("room", "version"), EXHIBITS, ids=[f"{room.slug}: {one.name}" for room, one in EXHIBITS]
)


def labels(room):
    """The lessons that each label in the sheet names, in the sheet's order."""
    cells = read(RELEASED / "17_museum.ipynb")
    text = "\n".join(cell.source for cell in cells if cell.id.startswith(f"labels-{room.slug}-"))
    assert len(LABEL.findall(text)) == len(re.findall(r"^- ", text, re.MULTILINE))
    return [{*filter(None, lessons)} for _, *lessons in LABEL.findall(text)]


def passes(test, version):
    try:
        test(version.function)
    except Exception:
        return False
    return True


@every_room
def test_a_point_for_each_exhibit(room):
    assert room.points == len(exhibits(room))


@every_room
def test_every_exhibit_has_its_label_and_its_lesson(room):
    of_labels, recipes = labels(room), LABELS[room.slug]
    assert [*recipes] == [version.name for version in exhibits(room)]
    known = {sheet[:2] for sheet in SHEETS}
    for version, lessons in zip(exhibits(room), of_labels, strict=True):
        assert len(version.why.split()) > 10
        named = re.search(r" \(Lesson (\d\d)\.\)$", version.why)
        assert named and named[1] in lessons <= known
        assert recipes[version.name].lesson in lessons


@every_exhibit
def test_an_exhibit_passes_where_its_label_says_so_and_fails_where_it_says_so(room, version):
    label = LABELS[room.slug][version.name]
    assert passes(label.hides, version)
    assert not passes(label.shows, version)
    for right in (one for one in room.versions if one.right):
        assert passes(label.hides, right) and passes(label.shows, right), right.name


@pytest.mark.parametrize("name", MORE_TURN)
def test_what_else_a_label_says_that_shows_the_bug(name):
    [turn] = [room for room in ROOMS if room.slug == "museum-turn"]
    for version in turn.versions:
        if version.right or version.name == name:
            assert passes(MORE_TURN[name], version) == version.right


def test_no_head_is_right_where_the_label_says_that_every_slope_is_wrong():
    [slope] = [room for room in ROOMS if room.slug == "museum-slope"]
    version = next(one for one in slope.versions if one.name.startswith("slopes right for powers"))
    for heads in (3, 6, 12):
        for head in range(heads):
            assert not passes(one_head(heads, head), version)


def test_the_museum_is_large():
    assert len(EXHIBITS) >= 20
