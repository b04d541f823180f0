# Answers to grow-which-f: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
saved = 1
saved = 0.616  # named: what f = 4 saves
saved = 1.7898  # named: compared with no stretch at all

# %% equal
# because: The row has another number in place of one that is not the best, nor the first.
# change: 4 to 5 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`
# change: 4 to 3 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`
# change: 64 to 65 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`
# change: 64 to 63 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`
# change: 256 to 257 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`
# change: 256 to 255 in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`

# %% equal
# because: The frequencies hardly change, and what is saved changes by less than 0.3 percent.
# change: 10000.0 to 10001.0 in `reader = stretched(model, dynamic_ntk(32, 10_000.0, f, length, 128))`
# change: 10000.0 to 9999.0 in `reader = stretched(model, dynamic_ntk(32, 10_000.0, f, length, 128))`
