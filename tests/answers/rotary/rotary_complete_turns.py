# Answers to rotary-complete-turns: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
complete = 36

# %% wrong, blind first
# breaks: "How many of its 64 pairs"
# because: gives the number of the last such pair, and forgets pair 0
# named: pair 0 not counted
complete = int(64 * math.log(8192 / (2 * math.pi)) / math.log(500_000))

# %% wrong, blind first
# breaks: "complete at least one turn"
# because: compares with one radian, without 2 pi
# named: 2 pi forgotten
complete = int((500_000.0 ** (torch.arange(64) / 64) <= 8192).sum())

# %% wrong, blind first
# breaks: "base 500 000"
# because: uses the lesson's usual base of 10 000
# named: base 10 000
waves = [2 * math.pi * 10_000 ** (2 * i / 128) for i in range(64)]
complete = sum(wave <= 8192 for wave in waves)

# %% wrong, blind first
# breaks: "complete at least one turn within 8192 positions"
# because: counts the pairs that do not
# named: those that do not
complete = sum(8192 * 500_000 ** (-i / 64) < 2 * math.pi for i in range(64))

# %% right, blind first
# style: goes through the pairs and counts turns
complete = 0
for i in range(64):
    turns = 8192 * 500_000 ** (-2 * i / 128) / (2 * math.pi)
    if turns >= 1:
        complete += 1

# %% wrong, blind second
# breaks: "How many of its 64 pairs"
# because: gives the number of the last pair that completes a turn, but pairs count from 0
# named: pair 0 not counted
last = 64 * math.log(8192 / (2 * math.pi)) / math.log(500_000)
complete = math.floor(last)

# %% equal
# because: `last` is 34.44 instead of 34.98: pairs 0 to 34 as before
# change: 64 to 63 in `last = 64 * math.log(8192 / (2 * math.pi)) / math.log(500_000)`

# %% equal
# because: one more or less of so many leaves `last` at 34.98: pairs 0 to 34 as before
# change: in `last = 64 * math.log(8192 / (2 * math.pi)) / math.log(500_000)`
