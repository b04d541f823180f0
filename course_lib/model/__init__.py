"""The transformer that a position scheme plugs into."""

from course_lib.model.attention import View, attend, attention_weights, causal_mask
from course_lib.model.decoder import Decoder, DecoderConfig

__all__ = ["Decoder", "DecoderConfig", "View", "attend", "attention_weights", "causal_mask"]
