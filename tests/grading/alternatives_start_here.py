"""Right answers to lesson 00's exercises, written in other styles."""

import torch


def positions_by_cumsum(tokens):
    return torch.ones_like(tokens[0]).cumsum(0) - 1


def positions_from_a_list(tokens):
    return torch.tensor(list(range(tokens.size(1))), dtype=torch.int32)


ALTERNATIVES = {
    "start-count-places": [positions_by_cumsum, positions_from_a_list],
}
