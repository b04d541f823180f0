# Answers to choose-bits-to-words: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
times_as_many = 0.52
times_as_many = 1.434  # named: for a byte instead of a word
times_as_many = 1.294  # named: ratio of the bits
times_as_many = 7.17  # named: five times the factor of a byte
times_as_many = 8.69  # named: six bytes a word
times_as_many = 13.46  # named: e instead of 2
times_as_many = 0.165  # named: the other way round

# %% wrong, blind first
# breaks: "Here a word has five bytes, its space included"
# because: takes the six bytes per word of the lesson
# named: six bytes a word
bytes_per_word = 6
times_as_many = 2 ** (bytes_per_word * (2.29 - 1.77))

# %% wrong, blind first
# breaks: "A model that pays $b$ bits for a word is as unsure as if it chose among $2^b$ words"
# because: takes the ratio for one byte times five, where it has to be raised to the fifth power
# named: five times the factor of a byte
times_as_many = 5 * 2 ** (2.29 - 1.77)

# %% wrong, blind first
# breaks: "as if it chose among $2^b$ words"
# because: treats bits as nats and uses e as the base
# named: e instead of 2
first = math.exp(5 * 1.77)
second = math.exp(5 * 2.29)
times_as_many = second / first

# %% right, blind first
# style: both numbers of words as tensors, then their ratio
bits_per_word = 5 * torch.tensor([1.77, 2.29], dtype=torch.float64)
words = torch.exp2(bits_per_word)
times_as_many = words[1] / words[0]

# %% wrong, blind second
# breaks: "Here a word has five bytes, its space included."
# because: takes the six bytes of the lesson's example
# named: six bytes a word
bytes_per_word = 6
times_as_many = 2 ** (bytes_per_word * (2.29 - 1.77))
