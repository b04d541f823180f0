# Answers to alibi-far-key: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
higher_by = 0.0
