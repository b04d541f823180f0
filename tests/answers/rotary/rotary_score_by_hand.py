# Answers to rotary-score-by-hand: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
score = 2

# %% wrong, blind first
# breaks: "turns it by a quarter of a turn to the left"
# because: turns to the right, from (x, y) to (y, -x)
# named: turned the wrong way
q = (1, 2)
for _ in range((42 - 17) % 4):
    q = (q[1], -q[0])
score = q[0] * 4 + q[1] * 1

# %% wrong, blind first
# breaks: "not divided by anything"
# because: divides by the root of the width
score = -7 / math.sqrt(2)

# %% wrong, blind first
# breaks: "What is their score"
# because: multiplies the complex numbers without conjugating the key
# named: the two numbers exchanged
q = (1 + 2j) * 1j ** (42 % 4)
k = (4 + 1j) * 1j ** (17 % 4)
score = round((q * k).real)

# %% wrong, blind first
# breaks: "a key (4, 1) at position 17"
# because: turns the query only, to (-1, -2), and leaves the key as it is
# named: half a turn
score = (-1) * 4 + (-2) * 1

# %% right, blind first
# style: complex numbers, both turned to their own place
q = (1 + 2j) * 1j ** (42 % 4)
k = (4 + 1j) * 1j ** (17 % 4)
score = round((q * k.conjugate()).real)

# %% wrong, blind second
# breaks: "each position turns it by a quarter of a turn to the left"
# because: turns the key forwards by the distance 25, but seen from the query it goes back by 25
# named: turned the wrong way
x, y = 4, 1
for _ in range((42 - 17) % 4):
    x, y = -y, x
score = 1 * x + 2 * y
