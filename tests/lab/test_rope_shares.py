"""`course rope`: which of several shares of rotated columns, and which of several bases, counts."""

import json

import pytest

from course_lab.rope import config as rope_config
from course_lib.encodings import rotary_frequencies

PHI_2 = {"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32,
         "num_hidden_layers": 32, "partial_rotary_factor": 0.4}  # fmt: skip
PHI_4_MINI = {
    "model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 24, "num_hidden_layers": 32,
    "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
    "partial_rotary_factor": 0.75, "rope_scaling": {
        "type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48},
}  # fmt: skip
GLM_4_MOE = {"model_type": "glm4_moe", "head_dim": 128, "partial_rotary_factor": 0.25}
PYTHIA = {"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8}
INSIDE = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}


@pytest.fixture
def tables(tmp_path):
    """The tables of a config."""

    def tables(config):
        (tmp_path / "config.json").write_text(json.dumps(config))
        return [group.table for group in rope_config.read(tmp_path) if group.table]

    return tables


@pytest.mark.parametrize("config, columns", [
    (PHI_2, 32), ({**PHI_2, "partial_rotary_factor": None}, 80), (PHI_4_MINI, 96), (GLM_4_MOE, 32),
    ({**PYTHIA, "rotary_pct": 1.0}, 64), ({**PYTHIA, "rotary_pct": 0.5, **INSIDE}, 32),
    ({**PYTHIA, "partial_rotary_factor": 1.0}, 16),
    ({"model_type": "minimax_m2", "rotary_dim": 64}, 64),
    ({"model_type": "minimax_m2", "rotary_dim": 64, "partial_rotary_factor": 0.75}, 96),
    ({"model_type": "moonshine_streaming", "partial_rotary_factor": 0.5}, 32),
    ({"model_type": "moonshine_streaming", "partial_rotary_factor": 0.5, **INSIDE}, 20),
    ({"model_type": "deepseek_v4", "partial_rotary_factor": 0.25}, 128),
    ({"model_type": "pixtral", "partial_rotary_factor": 0.5}, 64),
])  # fmt: skip
def test_a_config_s_own_share_counts_where_its_model_type_reads_it(tables, config, columns):
    assert {2 * len(table.frequencies) for table in tables(config)} == {columns}


@pytest.mark.parametrize("config, said", [
    ({**PYTHIA, "partial_rotary_factor": 1.0}, "partial_rotary_factor 1.0 is ignored: gpt_neox"),
    ({**PHI_2, "rotary_pct": 1.0}, "rotary_pct 1.0 is ignored: phi turns 0.4"),
    ({"model_type": "bamba", "attn_layer_indices": [1], "partial_rotary_factor": 1.0},
     "1.0 is ignored: bamba turns 0.5"),
    ({"model_type": "stablelm", "rope_pct": 1.0}, "rope_pct 1.0 is ignored: stablelm turns 0.25"),
    ({"model_type": "dots3_note_text", "partial_rotary_factor": 0.75}, "0.75 is ignored"),
    ({"model_type": "deepseek_v3", "partial_rotary_factor": 0.75}, "turns whole heads"),
])  # fmt: skip
def test_a_share_that_is_not_read_is_warned_of(tables, config, said):
    assert any(said in warning for table in tables(config) for warning in table.warnings)


def test_a_share_that_counts_is_not_warned_of(tables):
    for config in (PHI_2, PHI_4_MINI, GLM_4_MOE, {**PYTHIA, "rotary_pct": 1.0}):
        assert [warning for table in tables(config) for warning in table.warnings
                if "ignored" in warning] == []  # fmt: skip


@pytest.mark.parametrize("top", [{}, {"rope_theta": 5e5}, INSIDE])
def test_a_layer_s_own_base_wins_over_the_one_for_all(tables, top):
    own = {"layer_rope_theta": [2e4, 0, 3e4, 0]}
    made = tables({"model_type": "granite_swa", "num_hidden_layers": 4, **top, **own})
    assert [table.base for table in made] == [2e4, 3e4]
    assert made[0].frequencies.allclose(rotary_frequencies(made[0].head_dim, 2e4))


@pytest.mark.parametrize("name", ["granite_swa", "muse_glimmer_text"])
@pytest.mark.parametrize("given", [{"rope_theta": 7e5}, {"rope_parameters": {"rope_theta": 7e5}}])
def test_layers_without_a_base_of_their_own_take_the_one_for_all(tables, name, given):
    assert {table.base for table in tables({"model_type": name, **given})} == {7e5}


def test_a_base_that_a_model_type_reads_as_yes_or_no_is_warned_of(tables):
    [table] = tables({"model_type": "muse_glimmer_text", "num_hidden_layers": 2, "rope_theta": 7e5,
                      "layer_rope_theta": [1e4, 0]})  # fmt: skip
    assert table.base == 7e5
    assert any("base 10000 of layer_rope_theta is ignored" in one for one in table.warnings)
