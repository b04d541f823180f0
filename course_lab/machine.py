"""Where the course computes."""

from __future__ import annotations

import os
import platform

import torch

from course_lib.errors import CourseError


def device() -> torch.device:
    """The GPU if torch sees one, else the CPU; or what the environment's COURSE_DEVICE names.

    Raises CourseError if torch knows no device of that name.
    """
    if chosen := os.environ.get("COURSE_DEVICE"):
        try:
            return torch.device(chosen)
        except RuntimeError:
            raise CourseError(
                f"COURSE_DEVICE must be a device of torch, such as cpu or cuda:0, got {chosen}"
            ) from None
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe() -> str:
    """One line on the Python, the torch and the device in use."""
    place = device()
    name = torch.cuda.get_device_name(place) if place.type == "cuda" else platform.machine()
    return (
        f"Python {platform.python_version()}, torch {torch.__version__}, device {place} ({name}), "
        f"CPU threads {torch.get_num_threads()}"
    )
