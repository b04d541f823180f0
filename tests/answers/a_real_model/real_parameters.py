# Answers to real-parameters: tests/grading/answers.py says what the parts are.

# %% given
def read(config):
    given = config.get("rope_parameters") or {}
    longest = config["max_position_embeddings"]
    base = given["rope_theta"] if "rope_theta" in given else config["rope_theta"]
    return given, base, given.get("original_max_position_embeddings", longest), longest

def plain(base):
    return {"rope_type": "default", "rope_theta": base}

def yarn(base, factor, trained):
    return {
        "rope_type": "yarn", "rope_theta": base, "factor": factor,
        "original_max_position_embeddings": trained,
    }

# %% right
# style: by pieces
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    factor = max(1.0, length / trained)
    return plain(base) if factor == 1 else yarn(base, factor, trained)

# %% right
# style: one dictionary that grows
def parameters_for(config, length):
    given = config.get("rope_parameters", config)
    result = {"rope_theta": given["rope_theta"], "rope_type": "default"}
    trained = config["max_position_embeddings"]
    if "original_max_position_embeddings" in given:
        trained = given["original_max_position_embeddings"]
    if trained < length:
        result.update(
            rope_type="yarn", factor=length / trained, original_max_position_embeddings=trained
        )
    return result

# %% variation
# because: too short
# named: factor cut to a whole number
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, length // trained, trained)

# %% variation
# because: at least twice as far
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, max(2.0, length / trained), trained)

# %% variation
# because: changes what it was given
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    given.update(yarn(base, length / trained, trained))
    return given | {"model_type": "llama"}

# %% right
# style: a copy of the old parameters is changed, the factor is a Fraction
def parameters_for(config, length):
    from fractions import Fraction

    result = {"rope_theta": config.get("rope_theta")} | config.get("rope_parameters", {})
    trained = result.pop("original_max_position_embeddings", config["max_position_embeddings"])
    result.pop("factor", None)
    result["rope_type"] = "yarn" if length > trained else "default"
    if length > trained:
        result["factor"] = Fraction(length, trained)
        result["original_max_position_embeddings"] = trained
    return result

# %% variation
# because: the old stretch's keys stay
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return {**given, **plain(base)}
    return {**given, **yarn(base, length / trained, trained)}

# %% variation
# because: the whole config
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    new = plain(base) if length <= trained else yarn(base, length / trained, trained)
    return {**config, "rope_parameters": new}

# %% variation
# because: the base of older configs is not looked for
def parameters_for(config, length):
    given, _, trained, _ = read(config)
    base = given.get("rope_theta")
    return plain(base) if length <= trained else yarn(base, length / trained, trained)

# %% variation
# because: rounded
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, round(length / trained, 2), trained)

# %% variation
# because: counts from what the config reaches already
def parameters_for(config, length):
    _, base, trained, longest = read(config)
    return plain(base) if length <= trained else yarn(base, length / longest, trained)

# %% wrong
# because: the caller's config loses its parameters
def parameters_for(config, length):
    given = config.pop("rope_parameters", {})
    base = given.get("rope_theta", config.get("rope_theta"))
    trained = given.get("original_max_position_embeddings", config["max_position_embeddings"])
    if length <= trained:
        return {"rope_type": "default", "rope_theta": base}
    return {"rope_type": "yarn", "rope_theta": base, "factor": length / trained, "original_max_position_embeddings": trained}
