"""The two prices of a stretch: what the picture shows, and what its words say."""

import torch

from course_lab.figures.prices import two_prices, two_prices_words

PRICES = {
    "unchanged": (torch.zeros(3), torch.tensor([1.7, 1.2, 1.6])),
    "NTK-aware,\n6 and 7": (torch.tensor([0.1, 0.2, 0.1]), torch.tensor([0.1, 0.2, 0.3])),
}


def test_bars_are_means_of_both_prices_and_dots_are_the_whole_of_each_seed():
    [ax] = two_prices(PRICES, "title").axes
    assert [round(bar.get_width(), 3) for bar in ax.patches] == [0, 1.5, 0.133, 0.2]
    assert ax.patches[3].get_x() == ax.patches[2].get_width()
    assert [round(x, 3) for x in ax.lines[1].get_xdata()] == [0.2, 0.4, 0.4]


def test_words_give_both_prices_in_one_line():
    words = two_prices_words(PRICES)
    assert "NTK-aware, 6 and 7 0.13 at the trained length, 0.20 added" in words
