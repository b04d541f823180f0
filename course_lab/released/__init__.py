"""Released models of Llama's architecture, behind the doors of the course."""

from course_lab.released.files import load
from course_lab.released.installed import FILE, MissingModel
from course_lab.released.model import Released, ReleasedConfig

__all__ = ["FILE", "MissingModel", "Released", "ReleasedConfig", "load"]
