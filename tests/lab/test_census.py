"""`course rope` against transformers' own code: every model type of the release in models.json."""

import importlib.metadata
import inspect
import json
import re

import pytest
import sampling
import torch
from torch import nn

from course_lab.rope import config as rope_config
from course_lab.rope import known
from course_lab.rope import tables as rope_tables
from course_lab.rope.source import open_config
from course_lib.errors import CourseError

transformers = pytest.importorskip("transformers")
from tools import census  # noqa: E402

TWENTY = (
    "llama", "llama4_text", "smollm3", "gemma3_text", "gemma4_text", "qwen2_vl_text", "qwen3_vl",
    "gpt_oss", "deepseek_v3", "deepseek_v4", "mistral4", "zamba2", "jetmoe", "jamba", "bert",
    "bloom", "cohere2", "exaone4", "granite_swa", "pixtral",
)  # fmt: skip
APART = {
    "musicflamingo": "its own table is for the time in audio; the network that writes text is read",
    "clvp_encoder": "the width of its rotation follows from projection_dim, by a formula in code",
}
"""Types whose rotary class makes another table than the one that is read, and why."""
BROKEN = {
    "glm4v_moe": "21 of head_dim 42",
    "glm4v_moe_text": "21 of head_dim 42", "qwen3_omni_moe": "73 of head_dim 73",
    "qwen3_omni_moe_text": "73 of head_dim 73", "qwen3_omni_moe_thinker": "73 of head_dim 73",
}  # fmt: skip
"""Types whose default config asks for an odd number of rotated columns; none is published so."""
SEVERAL = "made of several networks"
SHARE = "partial_rotary_factor"
OTHER_SIZES = {
    "glm4_moe": {"head_dim": 128}, "glm4v_moe_text": {"head_dim": 128},
    "moonshine": {"hidden_size": 320},
    "laguna": {"num_hidden_layers": 2, "layer_types": ["full_attention", "sliding_attention"]},
    "zaya": {"num_hidden_layers": 2, "layer_types": ["hybrid", "hybrid_sliding"],
             "sliding_window": 64},
}  # fmt: skip
"""Sizes with which 0.75 of a head is an even number of columns, and layers of each type."""
MISMATCHED = ("glm4_moe_lite", "mistral_large4_text")
"""Types whose table takes a share that their attention, which turns the whole part, fails on."""
NO_ROTATION = {"glm5_next_text": "its layers with attention have no positions"}
SIX = ("phi", "gpt_neox", "phi3", "glm4_moe", "glm4_moe_lite", "lfm3")


@pytest.fixture(scope="module", autouse=True)
def same_release():
    """models.json is read off one release, and holds for that one."""
    here = importlib.metadata.version("transformers")
    if here != known.release():
        pytest.skip(f"models.json is of transformers {known.release()}, here is {here}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("config")


def written(config, folder):
    path = folder / "config.json"
    path.write_text(json.dumps(config.to_dict(), default=str))
    return path


def same(ours, theirs):
    """Whether the frequencies are the same, in any order; one ladder may serve several axes."""
    ours, theirs = ours.double().sort().values, theirs.detach().double().flatten()
    if len(ours) % len(theirs) == 0:
        theirs = theirs.repeat(len(ours) // len(theirs))
    theirs = theirs.sort().values
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=1e-5, atol=1e-12)


def differences(name, config, path):
    """What is wrong about what is read for a model type; the number of its tables."""
    kind = known.types()[name]
    built = census.built(config)
    try:
        groups = rope_config.read(path)
    except CourseError as error:
        true = BROKEN.get(name) or (SEVERAL if kind.parts else "nothing")
        return ([] if true in str(error) else [f"{name} is refused: {error}"]), 0
    ours = [group.table for group in groups if group.table]
    source = open_config(path)
    if ours and "rotary" not in known.types()[source.name].ways:
        return [f"{name} has no rotary code and is given a rotation"], 0
    if "rotary" in known.types()[source.name].ways and not source.get("layer_rope_theta"):
        ours += [table for table in rope_tables.tables(source).values() if table]
    wrong, count = [], 0
    for rotary in built.rotary.values():
        for layer_type, theirs in census.tables(rotary).items():
            factor = census.attention_factor(rotary, layer_type)
            count += 1
            if name not in APART and source.name == name and not any(
                same(table.frequencies, theirs) and abs(table.attention_factor - factor) < 1e-5
                for table in ours
            ):  # fmt: skip
                wrong.append(f"{name}, {layer_type}: other frequencies than its class")
    return wrong, count


@pytest.mark.parametrize("name", TWENTY)
def test_twenty_types_are_read_as_their_classes_read_them(name, folder):
    config = transformers.models.auto.configuration_auto.CONFIG_MAPPING[name](
        **census.TWEAKS.get(name, {})
    )
    assert differences(name, config, written(config, folder))[0] == []


@pytest.mark.slow
def test_every_type_is_read_as_its_class_reads_it(folder, pytestconfig):
    wrong, tables = [], 0
    configs = {name: config for name, config in census.configs() if config is not None}
    asked = sampling.sample(configs, sampling.chosen_by(pytestconfig))
    for name in asked:
        found, count = differences(name, configs[name], written(configs[name], folder))
        wrong, tables = wrong + found, tables + count
    assert wrong == []
    assert len(configs) > 790 and tables > len(asked) / 8 and len(APART) <= 5


def has_share(defaults):
    """Whether a model type's class fills in a share of rotated columns."""
    parameters = defaults.get("rope_parameters") or {}
    each = [defaults, parameters, *(one for one in parameters.values() if isinstance(one, dict))]
    return any(one.get(SHARE) is not None for one in each)


WITH_SHARE = [name for name, kind in known.types().items() if has_share(kind.defaults)]
SAID = {
    "at the top": lambda share, parameters: {SHARE: share},
    "beside parameters": lambda share, parameters: {SHARE: share, "rope_parameters": parameters},
    "inside": lambda share, parameters: {
        "rope_parameters": {key: {**one, SHARE: share} for key, one in parameters.items()}
        if nested(parameters) else {**parameters, SHARE: share}
    },
    "in both": lambda share, parameters: {SHARE: 0.25, **SAID["inside"](share, parameters)},
    "by its old name": lambda share, parameters: {"rotary_pct": share},
}  # fmt: skip
"""Where a config says a share; its other parameters are the class's own, in kind and in base."""


def nested(parameters):
    return any(isinstance(one, dict) for one in parameters.values())


def plain(parameters):
    """The class's own parameters without its share."""
    if nested(parameters):
        return {key: plain(one) for key, one in parameters.items() if one is not None}
    return {key: value for key, value in parameters.items() if key != SHARE}


def wrong_with_share(name, share, how, folder):
    """What is read of a file that says a share itself, against the class that loads the file."""
    parameters = plain(known.types()[name].defaults.get("rope_parameters") or {})
    file = {**census.TWEAKS.get(name, {}), **OTHER_SIZES.get(name, {})}
    file |= SAID[how](share, parameters)
    path = folder / "config.json"
    path.write_text(json.dumps({"model_type": name, **file}))
    config = transformers.AutoConfig.for_model(name, **json.loads(json.dumps(file)))
    found, count = differences(name, config, path)
    return [f"{one} (share {share} {how})" for one in found], count


@pytest.mark.parametrize("how", SAID)
@pytest.mark.parametrize("name", SIX)
def test_what_a_file_says_counts_in_six_types(name, how, folder):
    wrong, count = wrong_with_share(name, 0.75, how, folder)
    assert wrong == [] and count


@pytest.mark.slow
def test_what_a_file_says_counts_in_every_type(folder):
    wrong, tables = [], 0
    assert len(WITH_SHARE) == 37
    for name in (*WITH_SHARE, *MISMATCHED, *NO_ROTATION):
        for how in SAID:
            for share in (0.75, 1.0):
                found, count = wrong_with_share(name, share, how, folder)
                wrong, tables = wrong + found, tables + count
                assert count or name in NO_ROTATION, f"{name} has no table to compare with"
    assert wrong == []
    assert tables > 1500


@pytest.mark.parametrize("name", MISMATCHED)
def test_a_share_that_a_model_s_attention_fails_on_is_warned_of(name, folder):
    path = folder / "config.json"
    path.write_text(json.dumps({"model_type": name, SHARE: 0.75}))
    [table] = [group.table for group in rope_config.read(path) if group.table]
    assert len(table.frequencies) == 24
    assert any("24 pairs, and 32 are to be turned" in one for one in table.warnings)


@pytest.mark.slow
def test_models_json_is_of_this_release_and_of_today_s_census():
    names = {name for name, config in census.configs() if config is not None}
    assert names == set(known.types())
    for name, config in census.configs():
        if name in TWENTY:
            now = json.loads(json.dumps(census.described(name, config)))
            assert known.ModelType(**now) == known.types()[name], "run python -m tools.census"


TINY = {
    "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "intermediate_size": 16, "vocab_size": 64, "num_hidden_layers": 8, "pad_token_id": 0,
    "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False,
    "attn_implementation": "eager",
}  # fmt: skip
EXPERTS = {"num_local_experts": 2, "num_experts": 2, "num_experts_per_tok": 1,
           "moe_intermediate_size": 8, "n_routed_experts": 2}  # fmt: skip
HALF = ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"] * 2
FAMILIES = {
    "llama": {}, "llama4_text": {"num_local_experts": 2, "intermediate_size_mlp": 16},
    "smollm3": {}, "cohere2": {}, "exaone4": {"layer_types": HALF, "sliding_window": 8},
    "granite_swa": {"layer_types": HALF, "layer_rope_theta": [1e4, 0] * 4},
    "afmoe": {"num_local_experts": 2, "moe_intermediate_size": 8},
    "kolibri1": {"layer_types": HALF, **EXPERTS},
    "exaone_moe": {"layer_types": HALF, **EXPERTS},
    "olmo_hybrid": {"layer_types": ["linear_attention", "full_attention"] * 4},
    "gpt_neox": {}, "gemma3_text": {}, "mllama_text_model": {"cross_attention_layers": [3]},
    "qwen3_next": {**EXPERTS, "shared_expert_intermediate_size": 8},
    "recurrent_gemma": {"lru_width": 64}, "jamba": {"mamba_d_state": 4, **EXPERTS},
    "cohere2_moe": EXPERTS, "lfm2": {"full_attn_idxs": [2, 5], "layer_types": None},
}  # fmt: skip
"""Families of which some layers do not rotate, or could not, as tiny as they can be made."""


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("name", FAMILIES)
def test_layers_rotate_where_the_model_s_own_code_rotates(name, folder, monkeypatch):
    mapping = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    config = mapping[name](**{**TINY, **FAMILIES[name]})
    groups = rope_config.read(written(config, folder))
    ours = {layer for group in groups if group.rotates for layer in group.layers}
    assert ours == rotating(config, monkeypatch)
    assert sum(len(group.layers) for group in groups) == 8


def rotating(config, monkeypatch):
    """The layers in which a tiny random model of this config turns its queries and keys."""
    now, seen = [None], set()
    module = census.modeling(config)
    for name, function in list(vars(module).items()):
        if inspect.isfunction(function) and re.match(r"apply_\w*rot", name):
            monkeypatch.setattr(module, name, noting(function, now, seen))
    torch.manual_seed(0)
    classes = [one for _, one in inspect.getmembers(module, inspect.isclass)
               if getattr(one, "config_class", None) is type(config)
               and not one.__name__.endswith("PreTrainedModel")]  # fmt: skip
    model = min(classes, key=lambda one: ("For" in one.__name__, len(one.__name__)))(config)
    [layers] = [one for path, one in model.named_modules()
                if isinstance(one, nn.ModuleList) and len(one) == 8]  # fmt: skip
    for number, layer in enumerate(layers):
        layer.register_forward_pre_hook(lambda *_, number=number: now.__setitem__(0, number))
    with torch.no_grad():
        model.eval()(input_ids=torch.arange(3, 9)[None])
    return seen


def noting(function, now, seen):
    def noted(*args, **kwargs):
        seen.add(now[0])
        return function(*args, **kwargs)

    return noted
