"""What transformers' model types do, as far as their configs do not say it.

models.json is read off the classes of one release by `python -m tools.census`. The tables below are
by hand, each entry from the source file that it names.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("models.json")
ABOUT_POSITIONS = re.compile(
    r"rope|rotary|nope|alibi|yarn|ntk|logn|original_seq_len|initial_context_length|mscale|temperature_tuning|floor_scale|attn_scale$|log_scaling|"
    r"llama_4|position_embedding_type|position_embeddings_type|relative_att"
)
"""Names of keys that may change where positions come from."""


BASES = (
    "rope_theta", "rotary_emb_base", "rotary_embedding_base", "global_rope_theta",
    "rope_local_base_freq", "local_rope_theta", "swa_rope_theta", "compress_rope_theta",
)  # fmt: skip
"""Keys at the top of a config that hold a base, for all layers or for those of one type."""


class ModelType(NamedTuple):
    """A model type of transformers: what its classes do with positions."""

    source: str
    """The folder and file of its code: llama/modeling_llama.py."""
    ways: tuple[str, ...]
    """Where positions come from, as keys of `WAYS`; empty if from nothing in this code."""
    defaults: dict[str, Any]
    """What a config of this type leaves out, for the keys that concern positions."""
    aliases: dict[str, str]
    """Its own names for standard keys: {"hidden_size": "n_embd"}."""
    parts: dict[str, str]
    """The configs inside this one, by key, and their types."""
    partial: bool
    """Whether its plain rotary table reads `partial_rotary_factor`."""
    reads: tuple[str, ...]
    """Keys about positions that its config or its code mentions."""
    by_layer: bool
    """Whether its rotary code knows layer types."""
    bases: dict[str, dict[str, list[Any]]]
    """Where its class looks for the base of each layer type ("": of all), by the form of the
    parameters without a base: the keys at the top that it reads, and then what it takes itself."""
    flat: dict[str, list[str] | None]
    """The layer types that flat parameters reach, by their key; None: its code fails on them."""
    fills: bool
    """Whether it fills in the parameters of a layer type that nested ones leave out."""
    sections: tuple[int, ...] = ()
    """The pairs of each axis that its code takes where a config names none."""
    interleaved: bool = False
    """Whether its axes take turns among the pairs (else: section by section)."""


class Way(NamedTuple):
    """A way to tell a model positions, and the lesson on it."""

    words: str
    lesson: str


WAYS = {
    "learned table": Way("a learned vector for each position, added at the input", "04"),
    "sinusoids": Way("sines and cosines of the position, added at the input", "02"),
    "T5 bias": Way("a learned number for each bucket of distances, added to scores", "05"),
    "relative table": Way("a learned number for each distance, added to scores", "05"),
    "ALiBi": Way("a bias that falls with the distance, added to scores", "06"),
    "relative vectors": Way("a vector for each distance, multiplied with queries", "07"),
    "convolution": Way("a convolution over neighbours before the first layer", ""),
}


class Fact(NamedTuple):
    """Something that a type's code decides, and the file that does it."""

    value: str
    source: str


ROTATES = {
    "cohere2": Fact("sliding_attention", "cohere2/modeling_cohere2.py"),
    "cohere2_moe": Fact("sliding_attention", "cohere2_moe/modeling_cohere2_moe.py"),
    "exaone4": Fact("sliding_attention", "exaone4/modeling_exaone4.py"),
    "exaone_moe": Fact("sliding_attention", "exaone_moe/modeling_exaone_moe.py"),
    "kolibri1": Fact("sliding_attention", "kolibri1/modeling_kolibri1.py"),
    "afmoe": Fact("sliding_attention", "afmoe/modeling_afmoe.py"),
    "flint": Fact("sliding_attention", "flint/modeling_flint.py"),
    "olmo_hybrid": Fact("full_attention", "olmo_hybrid/modeling_olmo_hybrid.py"),
}
"""Types that rotate in layers of one type alone, and no key says so."""

ROTATES_IF = {"zamba2": Fact("use_mem_rope", "zamba2/modeling_zamba2.py")}
"""Types that rotate if this key is true, which no module of theirs shows."""

OFF = {
    "zamba2": "use_mem_rope is false",
    "granitemoehybrid": 'position_embedding_type is not "rope"',
}
"""Why types that could rotate do not."""

WITHOUT_WINDOW = ("exaone4", "exaone_moe", "kolibri1")
"""Of these, types that rotate in all layers if `sliding_window` is null."""

CHUNKED = {"llama4_text": Fact("chunked_attention", "llama4/configuration_llama4.py")}
"""Types whose layers are of this type where they rotate, unless `layer_types` says another."""

LISTED = {"bamba": Fact("attn_layer_indices", "bamba/configuration_bamba.py")}
"""Types in which no layer has attention but those that this key lists; without it, none."""

STRETCH_ALL = ("modernbert", "modernbert-decoder")
"""Types that stretch all their layers by a `rope_scaling` of the old style, not the full ones."""

TABLES = {"deepseek_v4": Fact("sliding_attention", "deepseek_v4/modeling_deepseek_v4.py")}
"""Types with tables "main", for layers of this type, and "compress", for all others."""

READ_AT_TOP = {
    "dots3_note": Fact("text_config", "dots3_note/configuration_dots3_note.py"),
    "fuyu": Fact("text_config", "fuyu/configuration_fuyu.py"),
    "hunyuan_vl": Fact("text_config", "hunyuan_vl/configuration_hunyuan_vl.py"),
    "paddleocr_vl": Fact("text_config", "paddleocr_vl/configuration_paddleocr_vl.py"),
    "qwen2_vl": Fact("text_config", "qwen2_vl/configuration_qwen2_vl.py"),
    "qwen2_5_vl": Fact("text_config", "qwen2_5_vl/configuration_qwen2_5_vl.py"),
}
"""Types of several networks that read this part at the top of a config that leaves it out."""

WIDTHS = {
    "zamba2": Fact("attention_head_dim", "zamba2/configuration_zamba2.py"),
    "jetmoe": Fact("kv_channels", "jetmoe/configuration_jetmoe.py"),
    "qwen2_vl_vision": Fact("embed_dim", "qwen2_vl/modeling_qwen2_vl.py"),
}
"""Types with another key for the width of a head, or for the width of all heads (embed_dim)."""

AXES = {
    "dinov3_vit": Fact("2", "dinov3_vit/modeling_dinov3_vit.py"),
    "sapiens2": Fact("2", "sapiens2/modeling_sapiens2.py"),
    "eomt_dinov3": Fact("2", "eomt_dinov3/modeling_eomt_dinov3.py"),
    "llama4_vision_model": Fact("2", "llama4/modeling_llama4.py"),
    "minimax_m3_vl_vision": Fact("3", "minimax_m3_vl/modeling_minimax_m3_vl.py"),
    "vjepa2": Fact("3", "vjepa2/modeling_vjepa2.py"),
}
"""Types whose positions have this many axes, with the same ladder for each, and no key says so."""

ALTERNATE = {
    "pixtral": Fact("rows take the even pairs of one ladder, columns the odd ones",
                    "pixtral/modeling_pixtral.py"),
    "ernie4_5_vl_moe_text": Fact("height and width take turns from the first pair on, time takes "
                                 "the last section", "ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py"),
}  # fmt: skip
"""Types that share the pairs out between axes in another way than in sections one by one."""

BY_TURNS = ("pixtral",)
"""Of these, types whose two axes take the pairs of one ladder in turns."""

UNIT_SQUARE = ("dinov3_vit", "sapiens2", "eomt_dinov3")
"""Types whose angles are 2 pi times a coordinate from -1 to 1, times the frequency."""

NO_YARN = {
    "phi3": Fact("its class takes 'yarn' for an old name of longrope",
                 "phi3/configuration_phi3.py"),
    "phimoe": Fact("its class wants the keys of longrope", "phimoe/configuration_phimoe.py"),
    "cosmos3_edge_text": Fact("its class takes no other rope_type than default",
                              "cosmos3_edge/configuration_cosmos3_edge.py"),
    "ernie4_5_vl_moe_text": Fact("its code takes no other rope_type than default",
                                 "ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py"),
    "molmo2_text": Fact("only the layers in rope_scaling_layers are stretched",
                        "molmo2/modeling_molmo2.py"),
}  # fmt: skip
"""Types that no entry of a config stretches by YaRN."""

NEED_HEAD_DIM = {
    "mixtral": Fact("head_dim", "mixtral/configuration_mixtral.py"),
    "minimax": Fact("head_dim", "minimax/configuration_minimax.py"),
    "hunyuan_v1_dense": Fact("head_dim", "hunyuan_v1_dense/configuration_hunyuan_v1_dense.py"),
    "hunyuan_v1_moe": Fact("head_dim", "hunyuan_v1_moe/configuration_hunyuan_v1_moe.py"),
    "hunyuan_vl_text": Fact("head_dim", "hunyuan_vl/configuration_hunyuan_vl.py"),
}
"""Types on whose configs transformers' YaRN fails while they have no head_dim: it reads null."""

REMARKS = {
    "mistral_large4_text": Fact(
        "queries are multiplied by a ln(position + 1) + c, with a and c learned for each head",
        "mistral_large4/modeling_mistral_large4.py"),
    "beam": Fact("queries of layers without positions are multiplied by "
                 "(1 + (position + 1) / 2048)^0.1", "beam/modeling_beam.py"),
    "modernbert": Fact("windows reach as far to both sides: local_attention is twice as much",
                       "modernbert/modeling_modernbert.py"),
    "inkling_text": Fact("the vectors for distances depend on each token's hidden state",
                         "inkling/modeling_inkling.py"),
    "kimi_linear": Fact("its separate part of the keys, made to be rotated, is not rotated",
                        "kimi_linear/modeling_kimi_linear.py"),
}  # fmt: skip
"""What no key says and no number of ours shows."""

CAVEATS = {
    "mistral_large4_text": Fact(
        "these are not its frequencies: each is multiplied by exp(alpha), and alpha is learned and "
        "stands in the checkpoint", "mistral_large4/modeling_mistral_large4.py"),
}  # fmt: skip
"""Types whose configs do not say all that a table is made of."""


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def types() -> dict[str, ModelType]:
    """The model types of transformers, by name."""
    return {name: ModelType(**one) for name, one in _stored()["types"].items()}


def release() -> str:
    """The release of transformers that was read."""
    version: str = _stored()["transformers"]
    return version
