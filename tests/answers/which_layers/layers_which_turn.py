# Answers to layers-which-turn: tests/grading/answers.py says what the parts are.

# %% given
def flags_of(config, list_means=1):
    total, period = config["num_hidden_layers"], config.get("no_rope_layer_interval")
    if "no_rope_layers" in config:
        return [flag == list_means for flag in config["no_rope_layers"]]
    if period:
        return [(layer + 1) % period != 0 for layer in range(total)]
    if config["model_type"] == "cohere2":
        return [kind == "sliding_attention" for kind in config["layer_types"]]
    return [True] * total

def numbers(flags):
    return [layer for layer, flag in enumerate(flags) if flag]

# %% right
# style: flags first
def rotating_layers(config):
    return numbers(flags_of(config))

# %% right
# style: one layer at a time
def rotating_layers(config):
    found = []
    for layer in range(config["num_hidden_layers"]):
        turns = True
        if config.get("no_rope_layers") is not None:
            turns = config["no_rope_layers"][layer] > 0
        elif config.get("no_rope_layer_interval") is not None:
            turns = layer % config["no_rope_layer_interval"] != config["no_rope_layer_interval"] - 1
        elif config["model_type"] == "cohere2" and config["layer_types"][layer] == "full_attention":
            turns = False
        if turns:
            found.append(layer)
    return found

# %% right
# style: layers taken away
def rotating_layers(config):
    layers = set(range(config["num_hidden_layers"]))
    if "no_rope_layers" in config:
        layers -= {n for n, flag in enumerate(config["no_rope_layers"]) if not flag}
    elif "no_rope_layer_interval" in config:
        n = config["no_rope_layer_interval"]
        layers -= set(range(n - 1, config["num_hidden_layers"], n))
    elif config["model_type"] == "cohere2":
        layers -= {n for n, kind in enumerate(config["layer_types"]) if kind != "sliding_attention"}
    return tuple(sorted(layers))

# %% right
# style: torch
import torch

def rotating_layers(config):
    return torch.tensor(flags_of(config)).nonzero().flatten().tolist()

# %% variation
# because: returns True and False
def rotating_layers(config):
    return flags_of(config)

# %% variation
# because: an interval of 4, whatever the config says
def rotating_layers(config):
    if "no_rope_layer_interval" in config:
        config = {**config, "no_rope_layer_interval": 4}
    return numbers(flags_of(config))

# %% variation
# because: windows before the interval
def rotating_layers(config):
    if "no_rope_layers" not in config and "layer_types" in config:
        return [n for n, kind in enumerate(config["layer_types"]) if kind == "sliding_attention"]
    return numbers(flags_of(config))

# %% variation
# because: an empty list is taken for all layers
def rotating_layers(config):
    return numbers(flags_of(config)) or [*range(config["num_hidden_layers"])]

# %% variation
# because: both keys must agree
def rotating_layers(config):
    flags = flags_of(config)
    if "no_rope_layers" in config and "no_rope_layer_interval" in config:
        n = config["no_rope_layer_interval"]
        flags = [flag and (layer + 1) % n != 0 for layer, flag in enumerate(flags)]
    return numbers(flags)
