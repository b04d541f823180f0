# Answers to long-looks-near: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
looks_like = 48.1
looks_like = 51  # named: from half a turn
looks_like = -48.7  # named: a negative distance
looks_like = -1.0022  # named: pair counted from 1

# %% equal
# because: It moves the answer by less than the percent that is allowed.
# change: 10000 to 10001 in `theta = 10_000 ** (-24 / 64)`
# change: 10000 to 9999 in `theta = 10_000 ** (-24 / 64)`
