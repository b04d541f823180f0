"""The museum is complete, and its labels are true: what they say hides a bug does, and shows it."""

import re

import pytest
import torch
from labels_museum import LABELS, MORE_TURN, one_head

from course_grading.sheets.notebooks import RELEASED, read
from course_grading.specs import SHEETS
from course_grading.specs.museum.common import BASE, theta
from course_grading.specs.museum.museum_page import places
from course_grading.specs.museum.museum_reach import stretching
from course_grading.specs.museum.museum_table import cosines

ROOMS = SHEETS["20_museum"]
every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.slug)
LABEL = re.compile(r"^- \*(.+?)\* \(lessons? (\d\d)(?: and (\d\d))?\)\. ", re.MULTILINE)


def hung(room):
    return [version for version in room.versions if not version.right]


EXHIBITS = [(room, version) for room in ROOMS for version in hung(room)]
every_exhibit = pytest.mark.parametrize(
    ("room", "version"), EXHIBITS, ids=[f"{room.slug}: {one.name}" for room, one in EXHIBITS]
)


def labels(room):
    """The lessons that each label in the sheet names, in the sheet's order."""
    cells = read(RELEASED / "20_museum.ipynb")
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
    assert room.points == len(hung(room))


@every_room
def test_every_exhibit_has_its_label_and_its_lesson(room):
    of_labels, recipes = labels(room), LABELS[room.slug]
    assert [*recipes] == [version.name for version in hung(room)]
    known = {sheet[:2] for sheet in SHEETS}
    for version, lessons in zip(hung(room), of_labels, strict=True):
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


def version_of(name):
    [version] = [version for _, version in EXHIBITS if version.name == name]
    return version.function


def test_the_numbers_in_labels_and_reasons_are_right():
    embed = version_of("the column's own number in the exponent")
    assert f"{embed(torch.zeros(1, 1, 512), torch.tensor([1]), 1)[0, 0, 1]:.3f}" == "0.570"
    assert 80 < 10_000 ** (-255 / 512) / 10_000 ** (-510 / 512) < 120  # "about a hundred times"

    rough = version_of("keeps what the first dtype rounded")(64)
    exact = cosines(2000, 0, BASE, 64)
    rough(2000, dtype=torch.bfloat16)
    assert 0.00190 < (rough(2000) - exact).abs().max() <= 0.00196
    served = version_of("frequencies in a buffer")(64).to(torch.bfloat16)
    off = (served(1000, offset=1000) - exact[1000:]).abs().max()
    assert f"{(served(1, offset=1000) - exact[1000]).abs().max():.2f}" == "0.43" and off > 0.4
    shares = (served.frequencies.double() / theta(64) - 1).abs()
    assert 1 / 300 < shares.max() < 1 / 256
    angles = 1000 * (served.frequencies.double() - theta(64))
    assert f"{angles.abs().max():.2f}" == "0.44"

    table = torch.arange(32.0)[:, None]
    shifted = version_of("a shift that is good below the diagonal only")(
        table + 100, torch.arange(5), torch.arange(5)
    )
    assert (shifted[0].diagonal(1) == 0).all() and (shifted[0].diagonal(2) > 100).all()
    far = torch.tensor([5000]), 5000 - torch.tensor([127, 128, 181, 182])
    assert version_of("the last bucket behind is left open")(table, *far).tolist() == [
        [[15, 16, 16, 17]]
    ]

    weights = version_of("slope times the key's position, in the dtype of q")
    q, k = torch.zeros(1, 3, 1, 4).bfloat16(), torch.zeros(1, 3, 3000, 4).bfloat16()
    last = weights(q, k, torch.tensor([2999]), torch.arange(3000))[0, :, 0, -16:]
    assert (last[:, 1:] == last[:, -1:]).all() and (last[:, 0] < last[:, 1]).all()

    future = version_of("the sine of the future has the sign of the past")
    ones, at = torch.ones(1, 8), torch.arange(3)
    got = future(ones.expand(3, -1), ones.expand(3, -1), ones[0], ones[0], at, at)
    assert torch.equal(got, got.T)  # as far behind as ahead

    late, right = (
        one([(30, 40), 1], 0)[-1, 0]
        for one in (version_of("the text goes on from the number of pieces"), places)
    )
    assert late - right == 1160
    exchanged = version_of("rows and columns exchanged")([(2, 3)], 0)
    assert exchanged[2].tolist() == [0, 1, 0]

    ramp = version_of("a ramp over pair numbers")(64, 10_000.0, 2048)(8192)
    assert f"{ramp[15] / stretching(64, 10_000.0, 2048)(8192)[15]:.1f}" == "1.8"


def test_the_museum_is_large():
    assert len(EXHIBITS) >= 20
