"""A table, the biases and the weights: what is drawn is what was given."""

import torch

from course_lab.figures.bias_tables import table_to_weights


def test_the_three_panels_show_table_bias_and_weights():
    table = torch.tensor([0.0, 1.0, -2.0])
    place = torch.arange(3)
    bias = table[(place[:, None] - place).clamp(-1, 1) + 1]
    hidden = bias.masked_fill(place > place[:, None], -torch.inf)
    fig = table_to_weights(table, hidden, hidden.softmax(dim=-1), 1000, "Title")
    drawn = [torch.tensor(ax.images[0].get_array().filled(torch.nan)) for ax in fig.axes]
    assert torch.equal(drawn[0][:, 0], table.double())
    assert torch.equal(drawn[1].isnan(), hidden.isinf())
    assert torch.allclose(drawn[2], hidden.softmax(dim=-1).double())
    assert fig.axes[0].images[0].get_clim() == fig.axes[1].images[0].get_clim() == (-2, 2)
    assert [label.get_text() for label in fig.axes[1].get_xticklabels()] == ["1000", "", ""]
