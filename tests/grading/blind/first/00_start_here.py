# %% wrong start-count-places
# breaks: "whole numbers from 0 to 50 000"
# because: takes token number 0 for padding and does not count it as a place
def positions_of(tokens):
    real = (tokens[0] != 0).long()
    return (real.cumsum(dim=0) - 1).clamp(min=0)

# %% wrong start-count-places
# breaks: "0 for the first token, 1 for the next, and so on"
# because: looks every token up by its number, so a token that occurs twice gets its first place again
def positions_of(tokens):
    text = tokens[0].tolist()
    return torch.tensor([text.index(token) for token in text], dtype=torch.long)

# %% wrong start-count-places
# breaks: "as integers of shape (length,)"
# because: torch.ones is float32, so the running sum is, too
def positions_of(tokens):
    _, length = tokens.shape
    return torch.ones(length).cumsum(dim=0) - 1

# %% wrong start-count-places
# breaks: "tensor of shape (batch, length): one row for each text"
# because: takes the longer axis for the length, which fails with more texts than places
def positions_of(tokens):
    length = max(tokens.shape)
    return torch.arange(length, device=tokens.device)

# %% right start-count-places
# style: enumerates the columns, 32 bit integers
def positions_of(tokens):
    places = []
    for place, _column in enumerate(tokens.T):
        places.append(place)
    return torch.tensor(places, dtype=torch.int32)
