# Answers to rotary-fooled-head: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
helper = 0

# %% wrong, blind first
# breaks: "looks for the token 100 back", "Of the distances 0 to 2000"
# because: gives how far the rival is from 100, and not its distance
theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)
away = torch.arange(3, 1901)
found = torch.cos(away[:, None] * theta[:8]).mean(dim=-1)
rival = int(away[found.argmax()])

# %% wrong, blind first
# breaks: "A head of width 64 ... only its eight fastest pairs"
# because: builds a head of width 16, which has eight pairs in all, slow ones too
theta = 10_000.0 ** (-torch.arange(8).double() / 8)
found = torch.cos((torch.arange(2001)[:, None] - 100) * theta).mean(dim=-1)
found[98:103] = -1
rival = int(found.argmax())

# %% wrong, blind first
# breaks: "leave out 98 to 102"
# because: leaves out 100 alone, so its neighbour wins
theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)
found = torch.cos((torch.arange(2001)[:, None] - 100) * theta[:8]).mean(dim=-1)
found[100] = -1
rival = int(found.argmax())

# %% wrong, blind first
# relabelled: When it was written the task asked for the rival of eight pairs, and this was right.
#   The task gives the rival now, and asks for the pair that helps against it.
# style: plain Python, sums of cosines and max with a key
def fooled(distance):
    return math.fsum(math.cos((distance - 100) * 10_000 ** (-i / 32)) for i in range(8))


rival = max((r for r in range(2001) if not 98 <= r <= 102), key=fooled)

# %% equal
# because: nearly the same frequencies: pair 15 helps most
# change: 64 to 65 in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`, number 2
# change: 64 to 63 in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`, number 2

# %% equal
# because: frequencies that differ by so little: pair 15 leaves 6.31, and no other less than 6.42
# change: in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`

# %% equal
# because: the rivals of 201 stand as far from it as those of 200 from 200
# change: 200 to 201 in `parts = torch.cos((torch.arange(4001)[:, None] - 200) * frequencies)  # (distances, pairs)`

# %% equal
# because: the rivals of 199 stand as far from it as those of 200 from 200
# change: 200 to 199 in `parts = torch.cos((torch.arange(4001)[:, None] - 200) * frequencies)  # (distances, pairs)`

# %% equal
# because: the rival with pair 15 stands nearer than 4000
# change: 4001 to 4002 in `parts = torch.cos((torch.arange(4001)[:, None] - 200) * frequencies)  # (distances, pairs)`
# change: 4001 to 4000 in `parts = torch.cos((torch.arange(4001)[:, None] - 200) * frequencies)  # (distances, pairs)`

# %% equal
# because: the parts have two axes: axis 1 is the last
# change: USub dropped in `scores = parts[:, :8].sum(dim=-1, keepdim=True) + parts[:, 8:]`

# %% equal
# because: all scores are above -9
# change: 9 to 10 in `scores[198:203] = -9`

# %% equal
# because: the highest scores are far above -8
# change: 9 to 8 in `scores[198:203] = -9`

# %% equal
# because: with pair 15, 198 and 202 have scores of 5.3, 197 and 203 of 2.7, and the rival of 6.3:
#   none of them is in its way
# change: in `scores[198:203] = -9`
