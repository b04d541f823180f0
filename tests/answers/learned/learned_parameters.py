# Answers to learned-parameters: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
parameters = 2048 * 1023

# %% wrong, blind first
# breaks: "a learned table of positions, added once at the bottom"
# because: counts one table for each of the 24 layers
# named: a table for every layer
parameters = 24 * 2048 * 1024

# %% wrong, blind first
# breaks: "How many numbers does training have to find for the positions?"
# because: counts the rows of the words, too
# named: the table of words counted too
parameters = (50_257 + 2048) * 1024

# %% wrong, blind first
# breaks: "It reads up to 2048 tokens."
# because: the last position is 2047, taken for the number of rows
# named: one row too few
last_position = 2048 - 1
parameters = last_position * 1024

# %% right, blind first
# style: lets torch count
parameters = sum(p.numel() for p in torch.nn.Embedding(2048, 1024).parameters())

# %% wrong, blind second
# breaks: "It reads up to 2048 tokens. How many numbers does training have to find for the positions?"
# because: adds a row for padding, as some libraries have; there is none here
# named: a row too many
parameters = (2048 + 1) * 1024
