# Answers to real-parameters as learners write them: tests/grading/answers.py says what the parts are.

# %% given
import math

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

# %% wrong
# because: the stretched length is taken for the trained one
# named: stretched from the stretched length
def parameters_for(config, length):
    _, base, _, longest = read(config)
    return plain(base) if length <= longest else yarn(base, length / longest, longest)

# %% wrong
# because: believes that the model reads so far without a stretch
# named: no stretch up to the stretched length
def parameters_for(config, length):
    _, base, trained, longest = read(config)
    return plain(base) if length <= longest else yarn(base, length / trained, trained)

# %% wrong
# because: two stretches
# named: the old factor kept on top
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    return yarn(base, given.get("factor", 1.0) * length / trained, trained)

# %% wrong
# because: the config's factor
# named: the old factor kept
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    return yarn(base, given["factor"] if "factor" in given else length / trained, trained)

# %% wrong
# because: whole factors only
# named: factor rounded up
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, math.ceil(length / trained), trained)

# %% wrong
# because: too short
# named: factor cut to a whole number
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, length // trained, trained)

# %% wrong
# because: always YaRN
# named: short texts stretched
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return yarn(base, length / trained, trained)

# %% wrong
# because: a factor of 1
# named: a stretch by 1
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length < trained else yarn(base, length / trained, trained)

# %% wrong
# because: the default of libraries
# named: base 10 000 where it is not in the parameters
def parameters_for(config, length):
    given = config.get("rope_parameters", {})
    base = given.get("rope_theta", 10_000.0)
    trained = given.get("original_max_position_embeddings", config["max_position_embeddings"])
    return plain(base) if length <= trained else yarn(base, length / trained, trained)

# %% wrong
# because: a key is missing
# named: the length of training forgotten
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    return {"rope_type": "yarn", "rope_theta": base, "factor": length / trained}

# %% wrong
# because: the key of older configs
# named: the old name of the type
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    if length <= trained:
        return {"type": "default", "rope_theta": base}
    found = yarn(base, length / trained, trained)
    return {"type": found.pop("rope_type"), **found}

# %% wrong
# because: at least twice as far
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, max(2.0, length / trained), trained)

# %% wrong
# because: changes what it was given
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    given.update(yarn(base, length / trained, trained))
    return given | {"model_type": "llama"}

# %% wrong
# because: raises the base instead
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return {"rope_type": "default", "rope_theta": base * max(1.0, length / trained)}

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

# %% wrong
# because: good enough, it seems
# named: a stretched config left as it was
def parameters_for(config, length):
    given, base, trained, longest = read(config)
    if "factor" in given and length <= longest:
        return dict(given)
    return plain(base) if length <= trained else yarn(base, length / trained, trained)

# %% wrong
# because: the two lengths need not have the ratio of the factor
# named: the length of training computed from the factor
def parameters_for(config, length):
    given, base, _, longest = read(config)
    trained = int(longest / given.get("factor", 1.0))
    return plain(base) if length <= trained else yarn(base, length / trained, trained)

# %% wrong
# because: the old stretch's keys stay
def parameters_for(config, length):
    given, base, trained, _ = read(config)
    if length <= trained:
        return {**given, **plain(base)}
    return {**given, **yarn(base, length / trained, trained)}

# %% wrong
# because: a key that was not asked for
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    if length <= trained:
        return plain(base)
    factor = length / trained
    return {**yarn(base, factor, trained), "attention_factor": 0.1 * math.log(factor) + 1}

# %% wrong
# because: the whole config
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    new = plain(base) if length <= trained else yarn(base, length / trained, trained)
    return {**config, "rope_parameters": new}

# %% wrong
# because: the base of older configs is not looked for
def parameters_for(config, length):
    given, _, trained, _ = read(config)
    base = given.get("rope_theta")
    return plain(base) if length <= trained else yarn(base, length / trained, trained)

# %% wrong
# because: rounded
def parameters_for(config, length):
    _, base, trained, _ = read(config)
    return plain(base) if length <= trained else yarn(base, round(length / trained, 2), trained)

# %% wrong
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
