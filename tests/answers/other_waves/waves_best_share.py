# Answers to waves-best-share as learners write them: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
best_share = 25 / 29  # named: uncertain questions counted as wrong
best_share = 27 / 29  # named: equal tokens forgotten
best_share = 26 / 29  # named: uncertain questions guessed among all kinds
best_share = (25 + 4 * 9 / 16) / 29  # named: 8 kinds of tokens
best_share = (27 + 2 * 5 / 8) / 29  # named: the position that asks forgotten
best_share = 30.5 / 32  # named: all 32 positions asked
best_share = 28 / 32
best_share = (26 + 3 * 5 / 8) / 29
best_share = (24 + 5 * 5 / 8) / 29
best_share = 0.5
best_share = 0.945
best_share = 1

# %% equal
# because: Divided by 1 is multiplied by 1.
# change: Mult to Div in `best_share = (25 + 4 * (1 / 2 + 1 / 2 * 1 / 4)) / 29`, number 2
