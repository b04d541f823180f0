# Answers to transformer-xl-strangers: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
strangers = 740

# %% wrong, blind first
# breaks: "Zeros that come from the padding are nobody's score and do not count."
# because: counts the whole triangle above the diagonal
n = 64
strangers = n * (n - 1) // 2

# %% wrong, blind first
# breaks: "Zeros that come from the padding ... do not count"
# because: compares the owner only, so all padded zeros but the first are counted
def pad_and_reshape(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n))


rows = torch.arange(64)[:, None]
owner = pad_and_reshape(rows.expand(64, 64))
strangers = int((owner != rows).sum())

# %% wrong, blind first
# breaks: "a matrix of 64 rows and 64 columns"
# because: takes over the lesson's share, which was for 100 rows
strangers = round(0.485 * 64 * 64)

# %% wrong, blind first
# breaks: "How many entries of the result are scores of another row?"
# because: off by one, starts at the second row and loses its 62 strangers
strangers = sum(64 - i - 2 for i in range(1, 63))

# %% wrong, blind first
# relabelled: When it was written the task had 64 queries and 64 keys, and this was right. It now
#   has 40 queries, and a memory of 60 keys before them.
# style: brute force with the row's number as score, left as a tensor
def move(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n))


own = torch.arange(1, 65)[:, None]
found = move(own.expand(64, 64))
strangers = ((found != own) & (found != 0)).sum()

# %% wrong, blind second
# breaks: "Zeros that come from the padding are nobody's score and do not count."
# because: counts everything above the diagonal, the padding next to it as well
n = 64
strangers = n * (n - 1) // 2

# %% wrong, blind second
# relabelled: When it was written the task had 64 queries and 64 keys, and this was right. It now
#   has 40 queries, and a memory of 60 keys before them.
# style: brute force with a Python list that names the owner of each entry
n = 64
flat = []
for row in range(n):
    flat.append(None)
    flat.extend([row] * n)
flat = flat[n:]
strangers = 0
for i in range(n):
    for j in range(n):
        owner = flat[i * n + j]
        if owner is not None and owner != i:
            strangers += 1
