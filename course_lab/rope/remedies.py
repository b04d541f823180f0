"""What to do about a warning: a remedy for each kind."""

from __future__ import annotations

import re

REMEDIES = {
    "rope_parameters is ignored: rope_scaling stands beside":
        "keep one of the two, with rope_theta in it",
    "has no layers of that type|belongs to no layer":
        "remove it, or call it by a type that layers have",
    "where parameters stand by layer type": "move it into the parameters of each layer type",
    "has parameters by layer type": "write one set of parameters, without layer types",
    "has nothing for": "add parameters for that layer type",
    "has one set of parameters for all layers|so what stands in it belongs under":
        "write it under each layer type, inside of rope_parameters",
    "in rope_scaling is read by nobody": "call the key rope_type",
    "does not look there": "write it as rope_theta into rope_parameters, or remove it",
    "stands in the parameters": "remove the one of the two that is wrong",
    "base .* of layer_rope_theta": "write 0 or that base there",
    "rope_theta is missing": "add rope_theta, as the model was trained",
    "is null: transformers' code fails": "write the number, or remove the key",
    "the length after stretching":
        "add original_max_position_embeddings, the length before stretching",
    "max_position_embeddings says .* more":
        "look into the model's card: raise the factor to the ratio of the two lengths, or write "
        "the length that the factor reaches",
    "max_position_embeddings says .* less":
        "write the length that the factor reaches, which engines then allow; or remove the stretch",
    "is unknown; there are": "correct the name; until then nothing is stretched",
    "needs .*; transformers refuses": "add what is missing, or remove the stretch",
    "an odd number": "take a share that makes the number of columns even",
    "makes a table of|adds up to": "correct it: the two numbers must agree",
    "does not take it": "remove it, or name the rope_type that takes it",
    "belongs into|belongs to": "move it there, or remove it",
    "does not rotate|its frequencies stand in its code|is ignored|it reads rope_parameters":
        "remove it: it changes nothing",
    "is not understood here|is not read by": "look for it in the model's own code",
    "auto_map": "compare with that code before you trust this",
    "and alpha is learned": "read the frequencies from the checkpoint",
    "position_embedding_type is": "look whether model_type is right",
    "as many as there are layers|does not choose the types of|fails on this config unless":
        "look in the model's own code which layers are of which type, or write layer_types",
    "which layers are of which type|have different values|is not known what":
        "write the list into the config, an entry for each layer",
    "in the metadata|llama.cpp's code of": "give the model's config.json instead",
}  # fmt: skip
"""Remedies, by words of the warning; the first that fits counts."""


def remedy(warning: str) -> str:
    """What to do about it; empty if nothing is known."""
    return next((done for words, done in REMEDIES.items() if re.search(words, warning)), "")
