"""Released models of Llama's and of BERT's architecture, behind the doors of the course."""

from course_lab.released.encoder import Encoder, EncoderConfig
from course_lab.released.files import load, load_encoder
from course_lab.released.installed import MINILM, SMOLLM2, MissingModel
from course_lab.released.model import Released, ReleasedConfig

__all__ = [
    "MINILM",
    "SMOLLM2",
    "Encoder",
    "EncoderConfig",
    "MissingModel",
    "Released",
    "ReleasedConfig",
    "load",
    "load_encoder",
]
