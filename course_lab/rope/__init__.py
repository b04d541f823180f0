"""Where the positions of published models come from, and how far their rotation reaches."""

from course_lab.rope.config import CONFIGS, read
from course_lab.rope.layer_groups import LayerGroup, reach

__all__ = ["CONFIGS", "LayerGroup", "reach", "read"]
