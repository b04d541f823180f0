# Answers to grow-seems: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
seems_at = 10877  # named: the slowest pair
seems_at = 13533  # named: as if it came before any stretch
seems_at = 7882  # named: exponent 2 i / d
seems_at = 6526  # named: f = 1
seems_at = 59.0  # named: how far before the query
seems_at = 8000
seems_at = 8132 * 1.006  # named: where the query stands

# %% equal
# because: One in thousands moves the result by less than half a percent.
# change: 3000 to 3001 in `seems_at = 3000 * (stretch_now / stretch_then) ** (2 * 24 / (64 - 2))`
# change: 3000 to 2999 in `seems_at = 3000 * (stretch_now / stretch_then) ** (2 * 24 / (64 - 2))`
# change: 2048 to 2049 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
# change: 2048 to 2047 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
# change: 3001 to 3002 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
# change: 3001 to 3000 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
# change: 8192 to 8193 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
# change: 8192 to 8191 in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`
