# Answers to blind-tenth-token: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
reading = 0.201

# %% wrong, blind first
# breaks: "the token at position 9"
# because: takes the token at position 9 as one that sees nine tokens; it sees ten, itself among them
# named: its own token forgotten
reading = 2 / 9

# %% wrong, blind first
# breaks: "a causal mask"
# because: divides by all twenty-four tokens, also those that the mask hides
# named: no mask
values = torch.zeros(24)
values[:2] = 1
reading = values.mean().item()

# %% wrong, blind first
# breaks: "The first *two* tokens (positions 0 and 1) have the value 1"
# because: formula of the lesson, where only the first token carries a 1
# named: one of the two forgotten
position = 9
reading = 1 / (position + 1)

# %% wrong, blind first
# breaks: "a head whose scores are all equal"
# because: gives the second 1 a larger share, as if only nine tokens had been read for it
# named: a share for each 1
reading = 1 / (9 + 1) + 1 / (8 + 1)

# %% right, blind first
# style: a Fraction
from fractions import Fraction

seen = 9 + 1
marked = 2
reading = Fraction(marked, seen)

# %% wrong, blind second
# breaks: "What number does the token at position 9 read?"
# because: counts nine visible tokens instead of ten, the token itself is left out
# named: its own token forgotten
visible = 9
reading = 2 / visible

# %% right, blind second
# style: an exact fraction
from fractions import Fraction

values = [1, 1] + [0] * 22
seen = values[: 9 + 1]
reading = Fraction(sum(seen), len(seen))
