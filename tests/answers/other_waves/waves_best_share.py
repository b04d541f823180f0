# Answers to waves-best-share: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
best_share = 28 / 32

# %% equal
# because: Divided by 1 is multiplied by 1.
# change: Mult to Div in `best_share = (25 + 4 * (1 / 2 + 1 / 2 * 1 / 4)) / 29`, number 2
