"""Positional encodings: what the course teaches, one file for each family."""

from course_lib.encodings.absolute import (
    LearnedAbsolute,
    Sinusoidal,
    shift_matrix,
    sinusoidal_encoding,
)
from course_lib.encodings.angles import rotary_frequencies, rotation_table
from course_lib.encodings.axial import AxialRotary, axis_of_pair
from course_lib.encodings.consecutive import consecutive_positions
from course_lib.encodings.content import Shaw, TransformerXL, relative_shift
from course_lib.encodings.extension import (
    ScaledFrequencies,
    by_parts,
    dynamic_ntk,
    interpolated,
    llama3,
    longrope,
    ntk_aware,
    yarn,
)
from course_lib.encodings.relative import (
    ALiBi,
    ClippedBias,
    NoPosition,
    T5Bias,
    alibi_slopes,
    clip_to_index,
    relative_positions,
    t5_bucket,
)
from course_lib.encodings.rope_parameters import from_rope_parameters
from course_lib.encodings.rotary import Rotary, half_to_interleaved, interleaved_to_half, rotate
from course_lib.encodings.scheme import PositionScheme
from course_lib.encodings.temperature import QueryTemperature

__all__ = [
    "ALiBi", "AxialRotary", "ClippedBias", "LearnedAbsolute", "NoPosition", "PositionScheme",
    "QueryTemperature", "Rotary", "ScaledFrequencies", "Shaw", "Sinusoidal", "T5Bias",
    "TransformerXL", "alibi_slopes", "axis_of_pair", "by_parts", "clip_to_index",
    "consecutive_positions", "dynamic_ntk", "from_rope_parameters", "half_to_interleaved",
    "interleaved_to_half", "interpolated", "llama3", "longrope", "ntk_aware",
    "relative_positions", "relative_shift", "rotary_frequencies", "rotate", "rotation_table",
    "shift_matrix", "sinusoidal_encoding", "t5_bucket", "yarn",
]  # fmt: skip
