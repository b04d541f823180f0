# Answers to start-count-places: tests/grading/answers.py says what the parts are.

# %% right
# style: by cumsum
import torch

def positions_of(tokens):
    return torch.ones_like(tokens[0]).cumsum(0) - 1

# %% right
# style: from a list
import torch

def positions_of(tokens):
    return torch.tensor(list(range(tokens.size(1))), dtype=torch.int32)

# %% wrong
# because: as many as tokens
import torch

def positions_of(tokens):
    return torch.arange(tokens.numel())

# %% wrong
# because: ranks of the first text
def positions_of(tokens):
    return tokens[0].argsort()

# %% wrong
# because: in eight bits
import torch

def positions_of(tokens):
    return torch.arange(tokens.shape[1]).to(torch.int8)

# %% wrong
# because: always five
import torch

def positions_of(tokens):
    return torch.arange(5)

# %% wrong
# because: the tokens
def positions_of(tokens):
    return tokens[0]

# %% wrong
# because: backwards
import torch

def positions_of(tokens):
    return torch.arange(tokens.shape[1]).flip(0)

# %% wrong
# because: by words
import torch

def positions_of(tokens):
    return torch.arange(len(tokens.unique()))

# %% wrong, blind first
# breaks: "whole numbers from 0 to 50 000"
# because: takes token number 0 for padding and does not count it as a place
# named: token 0 taken for padding
def positions_of(tokens):
    real = (tokens[0] != 0).long()
    return (real.cumsum(dim=0) - 1).clamp(min=0)

# %% wrong, blind first
# breaks: "0 for the first token, 1 for the next, and so on"
# because: looks every token up by its number, so a token that occurs twice gets its first place again
# named: a token that comes again gets its first place
def positions_of(tokens):
    text = tokens[0].tolist()
    return torch.tensor([text.index(token) for token in text], dtype=torch.long)

# %% wrong, blind first
# breaks: "as integers of shape (length,)"
# because: torch.ones is float32, so the running sum is, too
# named: positions as floats
def positions_of(tokens):
    _, length = tokens.shape
    return torch.ones(length).cumsum(dim=0) - 1

# %% wrong, blind first
# breaks: "tensor of shape (batch, length): one row for each text"
# because: takes the longer axis for the length, which fails with more texts than places
# named: the longer axis counted
def positions_of(tokens):
    length = max(tokens.shape)
    return torch.arange(length, device=tokens.device)

# %% right, blind first
# style: enumerates the columns, 32 bit integers
def positions_of(tokens):
    places = []
    for place, _column in enumerate(tokens.T):
        places.append(place)
    return torch.tensor(places, dtype=torch.int32)

# %% wrong, blind second
# breaks: "as integers of shape (length,)"
# because: keeps a leading batch axis of one, as libraries do for position ids, so the shape is (1, length)
def positions_of(tokens):
    batch, length = tokens.shape
    position_ids = torch.arange(length, dtype=torch.long, device=tokens.device)
    return position_ids.unsqueeze(0)

# %% wrong, blind second
# breaks: "0 for the first token, 1 for the next, and so on", with tokens "from 0 to 50 000"
# because: takes token number 0 for padding and does not count it
def positions_of(tokens):
    real = tokens[0] != 0
    return real.cumsum(dim=0) - 1

# %% right, blind second
# style: a Python list, made into int32
def positions_of(tokens):
    places = [place for place in range(tokens.size(1))]
    return torch.tensor(places, dtype=torch.int32)
