"""Where the course computes."""

from __future__ import annotations

import os
import platform

import torch


def device() -> torch.device:
    """The GPU when torch sees one, else the CPU.

    Set the environment variable COURSE_DEVICE (say, to "cpu") to choose yourself.
    """
    if chosen := os.environ.get("COURSE_DEVICE"):
        return torch.device(chosen)
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
