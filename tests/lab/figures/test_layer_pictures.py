"""The pictures of layers: what a config and a model become, and what is drawn."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle

from course_lab.figures import layers as drawn
from course_lab.findings import Measured
from course_lab.rope import CONFIGS, read
from course_lab.zoo import LAYERED, TIERS, build

Layer = drawn.Layer


def config(name):
    return drawn.of_config(read(CONFIGS / f"{name}.json"))


def test_layers_of_a_config_stand_in_their_order():
    command = config("command-r7b")
    assert len(command) == 32
    assert command[:4] == [Layer(50_000.0, 4096)] * 3 + [Layer(None)]
    gemma = config("gemma-3-4b")
    assert (gemma[4], gemma[5]) == (Layer(10_000.0, 1024), Layer(1_000_000.0))
    assert {layer.base for layer in config("deepseek-v3")} == {10_000.0}


def of_pattern(name):
    return drawn.of_model(build(name, TIERS["small"]))


def test_layers_of_a_model_are_those_of_its_pattern():
    windows = [Layer(10_000.0, 32)] * 3
    assert of_pattern("window_none_in_full") == [*windows, Layer(None)]
    assert of_pattern("window_two_bases") == [*windows, Layer(1_000_000.0)]
    assert of_pattern("none") == [Layer(None)] * 4


def test_what_a_layer_can_know_grows_by_its_window_and_ends_with_the_text():
    three = [Layer(1e4, 32)] * 3
    assert drawn.reaches([*three, Layer(None)], 128) == [31, 62, 93, 127]
    assert drawn.reaches(three, 50) == [31, 49, 49]
    assert drawn.reaches([Layer(None, 1), *three], 128) == [0, 31, 62, 93]


def test_boxes_are_low_where_there_is_a_window_and_white_without_positions():
    ax = drawn.layers_of_models({"a model": [Layer(1e4, 8), Layer(1e6), Layer(None)]}, "t").axes[0]
    boxes = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [round(box.get_height(), 2) for box in boxes] == [0.34, 0.72, 0.72]
    colours = [box.get_facecolor() for box in boxes]
    assert colours[2] == (1, 1, 1, 1) and len(set(colours)) == 3


def test_bars_end_at_the_last_query():
    layers = [Layer(1e4, 32), Layer(None)]
    ax = drawn.keys_of_last(layers, 128, "t").axes[0]
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert spans == [(96, 128), (0, 128)]
    words = drawn.keys_of_last_words(layers, 128)
    assert "layer 0 (base 10000) sees 32 keys" in words and "layer 1 (no positions)" in words


@pytest.mark.parametrize("name", ["rope", "none", *LAYERED])
def test_every_pattern_has_a_look_and_words(name):
    paid = {
        name: {
            n: [Measured(s, 1, bits + s, "t") for s in range(3)]
            for n, bits in ((128, 1.0), (256, 2.0))
        }
    }
    ax = drawn.bits_of_patterns(paid, "a title").axes[0]
    assert ax.lines[0].get_ydata().tolist() == [2.0, 3.0]
    assert "2.00, 3.00" in drawn.bits_words(paid)
    assert ax.get_title(loc="left") == "a title"


def test_the_words_count_windows_and_layers_without_positions():
    words = drawn.layers_words({"Command R7B": config("command-r7b")})
    assert "32 layers, 24 with a window, 8 without positions, base 50000" in words


def test_the_sliding_model_is_a_grey_line_from_its_window_on():
    paid = {"rope": {128: [Measured(0, 1, 1.7, "t")], 2048: [Measured(0, 1, 4.8, "t")]}}
    ax = drawn.bits_of_patterns(paid, "t").axes[0]
    drawn.add_slid(ax, 1.57, 128, 2048)
    assert [*ax.lines[-1].get_xdata()] == [128, 2048]
    assert [*ax.lines[-1].get_ydata()] == [1.57, 1.57]
    assert "the best, sliding" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_your_pattern_stands_beside_the_stored_ones():
    stored, yours = {"RoPE": [1.0, 0.73]}, [0.99, 0.98]
    ax = drawn.shares_beside(stored, yours, [64, 512], "t").axes[0]
    assert [[*line.get_ydata()] for line in ax.lines[:2]] == [stored["RoPE"], yours]
    words = drawn.shares_words(stored, yours, [64, 512])
    assert words == "The share right at 64, 512: RoPE 1.00, 0.73; your pattern 0.99, 0.98."
