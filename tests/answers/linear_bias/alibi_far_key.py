# Answers to alibi-far-key as learners write them: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
higher_by = 0.0
higher_by = 0.5
higher_by = 1.0
higher_by = 2.0
higher_by = 2.17
higher_by = 2.22
higher_by = 48 / 32 * 2 + math.log(2)
higher_by = 3.386
higher_by = -2.193
higher_by = 48.0
