# Answers to t5-bucket: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
bucket = 26

# %% wrong, blind first
# breaks: "a key that stands 30 tokens *after* the query"
# because: the bucket of a key 30 tokens before, the other half of the buckets forgotten
# named: a key before the query
bucket = 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))

# %% wrong, blind first
# breaks: "T5's encoder looks both ways"
# because: the decoder's formula, all 32 buckets for one side
# named: the decoder's buckets
exact = 32 // 2
bucket = exact + int((32 - exact) * math.log(30 / exact) / math.log(128 / exact))

# %% wrong, blind first
# breaks: "Into which bucket goes a key"
# because: not rounded down, so it is the number of no bucket
# named: the fraction kept
bucket = 16 + 8 + 8 * math.log(30 / 8) / math.log(128 / 8)

# %% right, blind first
# style: counts the bucket edges that 30 has reached, in whole numbers
side, exact, distance = 16, 8, 30
edges_reached = sum(distance**8 >= exact**8 * 16**b for b in range(1, 8))
bucket = side + exact + edges_reached

# %% wrong, blind second
# breaks: "Into which bucket goes a key that stands 30 tokens after the query?"
# because: rounds the logarithmic part to the nearest whole number instead of down
# named: one too many
side, exact = 16, 8
bucket = side + exact + round(8 * math.log(30 / exact) / math.log(128 / exact))

# %% equal
# because: The number before the fraction is dropped changes, but stays between 3 and 4.
# change: 8 to 7 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 8 to 9 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 128 to 129 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 128 to 127 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 30 to 31 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 30 to 29 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`
# change: 8 to 7 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`, number 2
# change: 8 to 7 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`, number 3
# change: 8 to 9 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`, number 3
# change: 8 to 9 in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`, number 4
