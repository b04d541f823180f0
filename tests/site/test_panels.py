"""Pictures of several panels as phones show them: the panels below each other, and nothing lost."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from course_lab import figures
from course_lab.figures import style

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "site"))

import panels

TITLE = "A title of many words, so many of them that it has to be broken on a phone"


def picture(fig):
    return Image.open(io.BytesIO(style.png(fig))).convert("RGB")


def maps(title=TITLE):
    names = {"original": torch.eye(5), "shuffled": torch.eye(5).flip(0), "other": torch.ones(5, 5)}
    return picture(figures.heat_maps(names, title, xlabel="key", ylabel="query"))


def two(**options):
    """Two panels of lines under a title, over one legend."""
    fig, axes = figures.figure(7.4, 3.4, columns=2, **options)
    for ax, height in zip(axes, (1, 30), strict=True):
        ax.plot([0, 1], [0, height], label="one")
        ax.plot([0, 1], [height, 0], label="another")
        ax.set_title(f"up to {height}")
        ax.set_xlabel("steps")
    axes[0].set_ylabel("accuracy")
    fig.suptitle(TITLE)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return picture(fig)


def inked(image):
    return int(panels.ink_of([image]).sum())


@pytest.mark.parametrize("wide, count", [(maps(), 3), (two(), 2)], ids=["maps", "lines"])
def test_panels_stand_below_each_other_and_no_mark_is_lost(wide, count):
    narrow = panels.stacked(wide)
    assert narrow.width <= panels.WIDEST + 8 < wide.width
    layout = panels.layout_of(panels.ink_of([wide]))
    assert len(layout.panels) == count
    assert narrow.height > count * (layout.bottom - layout.top)
    assert inked(narrow) == inked(wide)


def test_a_panel_that_reads_its_numbers_off_the_first_one_gets_them():
    wide = two(sharey=True)
    layout = panels.layout_of(panels.ink_of([wide]))
    (first,), (numbers, second) = layout.panels
    assert first.left == numbers.left and 15 < numbers.width < first.width / 3
    narrow = panels.stacked(wide)
    row = narrow.height - layout.bottom + layout.top
    assert inked(narrow) > inked(wide) and row > second.top


def test_one_panel_with_bars_or_a_legend_stays_as_it_is():
    fig, ax = figures.figure(7, 3)
    ax.plot([0, 1], label="a line")
    fig.legend(loc="outside right")
    assert panels.stacked(picture(fig)) is None
    fig, ax = figures.figure(7, 3)
    ax.barh(["a name", "another name"], [1, 2])
    assert panels.stacked(picture(fig)) is None


def test_frames_of_an_explorer_have_their_panels_at_the_same_places():
    short, long = maps("Step 7"), maps()
    frames, (width, height) = panels.stacked_alike([short, long], short.size)
    assert [frame.size for frame in frames] == [(width, height)] * 2
    last = [np.asarray(frame)[height // 2 :] for frame in frames]
    assert (last[0] == last[1]).all()


def test_a_finer_frame_is_cut_at_the_same_places():
    fine = maps().resize((1140, maps().height * 3 // 2))
    [frame], (width, height) = panels.stacked_alike([fine], maps().size)
    assert frame.size == (round(width * 1.5), round(height * 1.5))
