# %% wrong start-count-places
# breaks: "as integers of shape (length,)"
# because: keeps a leading batch axis of one, as libraries do for position ids, so the shape is (1, length)
def positions_of(tokens):
    batch, length = tokens.shape
    position_ids = torch.arange(length, dtype=torch.long, device=tokens.device)
    return position_ids.unsqueeze(0)

# %% wrong start-count-places
# breaks: "0 for the first token, 1 for the next, and so on", with tokens "from 0 to 50 000"
# because: takes token number 0 for padding and does not count it
def positions_of(tokens):
    real = tokens[0] != 0
    return real.cumsum(dim=0) - 1

# %% right start-count-places
# style: a Python list, made into int32
def positions_of(tokens):
    places = [place for place in range(tokens.size(1))]
    return torch.tensor(places, dtype=torch.int32)
