"""Where the positions of published models come from, and how far their rotation reaches."""

from course_lab.rope.config import read
from course_lab.rope.layers import LayerGroup, reach

__all__ = ["LayerGroup", "reach", "read"]
