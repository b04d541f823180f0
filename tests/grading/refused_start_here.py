"""Wrong answers to the exercise of lesson 00."""

import torch


def as_many_as_tokens(tokens):
    return torch.arange(tokens.numel())


def ranks_of_the_first_text(tokens):
    return tokens[0].argsort()


def in_eight_bits(tokens):
    return torch.arange(tokens.shape[1]).to(torch.int8)


def places_that_are_not_zero(tokens):
    return (tokens[0] != 0).long().cumsum(0) - 1


def always_five(tokens):
    return torch.arange(5)


def the_longer_side(tokens):
    return torch.arange(max(tokens.shape))


def the_tokens(tokens):
    return tokens[0]


def backwards(tokens):
    return torch.arange(tokens.shape[1]).flip(0)


def by_words(tokens):
    return torch.arange(len(tokens.unique()))


REFUSED = {
    "start-count-places": [
        as_many_as_tokens,
        ranks_of_the_first_text,
        in_eight_bits,
        places_that_are_not_zero,
        always_five,
        the_longer_side,
        the_tokens,
        backwards,
        by_words,
    ],
}
