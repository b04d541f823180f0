"""Two hands on every clock, and one bar for its part of the score."""

import torch

from course_lab.figures import style
from course_lab.figures.clock_hands import LONGEST, two_hands


def test_hands_point_where_the_angles_say():
    fig = two_hands([0.0, 1.0], [2.0, -3.0], [0.5, -9.0], "t", ["a", "b"])
    clocks, bars = fig.axes
    tips = [line.get_xydata() for line in clocks.lines if line.get_marker() == "o"]
    angles = torch.tensor([[0.0, 1.0], [2.0, -3.0]], dtype=torch.float64)
    for tip, angle in zip(tips, angles, strict=True):
        drawn = torch.as_tensor(tip - [[0.0, 0.0], [2.7, 0.0]])
        assert torch.allclose(drawn, torch.stack([angle.cos(), angle.sin()], dim=-1))
    assert [bar.get_height() for bar in bars.patches] == [0.5, -9.0]
    assert bars.get_ylim()[0] < -LONGEST and style.png(fig)
