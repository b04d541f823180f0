# Answers to waves-equal-neighbours as learners write them: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
equal_neighbours = 21  # named: neighbours that differ
equal_neighbours = 43  # named: 64 pairs of neighbours
equal_neighbours = 53  # named: the partner forgotten
equal_neighbours = 40  # named: five whole turns counted
equal_neighbours = 41
equal_neighbours = 44
equal_neighbours = 52
equal_neighbours = 31
equal_neighbours = 10
equal_neighbours = 11
equal_neighbours = 5
equal_neighbours = 0
equal_neighbours = 63
