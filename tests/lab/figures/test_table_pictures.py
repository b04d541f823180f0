"""Pictures of a released table: rows in planes, what a shift leaves, and lengths."""

import torch

from course_lab.figures import style, tables


def test_each_plane_has_all_rows_of_each_table():
    angles = torch.linspace(0, 6, 30)
    ring = angles.cos().tolist(), angles.sin().tolist()
    fig = tables.circles({"one": [ring, ring], "other": [ring, ring]}, ["5 rows", "9 rows"], "So")
    assert [ax.get_title("left") for ax in fig.axes] == ["5 rows", "9 rows", "", ""]
    assert [ax.get_ylabel() for ax in fig.axes] == ["one", "", "other", ""]
    for ax in fig.axes:
        [points] = ax.collections
        assert len(points.get_offsets()) == 30
    assert style.png(fig)


def test_every_draw_has_a_dot_and_long_rows_have_their_number():
    left = {"released": {1: [0.1], 7: [0.4]}, "drawn": {1: [0.3, 0.5], 7: [0.8, 0.6]}}
    fig = tables.shifts_and_rows(left, [2.0, *[0.4] * 140, 0.9], "So")
    shifts, rows = fig.axes
    means = [line.get_ydata() for line in shifts.get_lines() if line.get_label() == "drawn"]
    assert torch.allclose(torch.tensor(means[0]).float(), torch.tensor([0.4, 0.7]))
    dots = [len(line.get_xdata()) for line in shifts.get_lines() if line.get_label()[0] == "_"]
    assert dots == [1, 1, 2, 2]
    assert {text.get_text() for text in rows.texts} == {"row 127", "row 141", "row 0: 2.0"}
    assert style.png(fig)
