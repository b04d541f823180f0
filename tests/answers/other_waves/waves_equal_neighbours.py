# Answers to waves-equal-neighbours: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
equal_neighbours = 41
