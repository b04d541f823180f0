# Answers to yarn-score-growth: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
growth = 1.631  # named: twice the growth instead of the square
growth = 1.3178 ** 0.5
growth = 2.127  # named: logarithm to base 2

# %% wrong, blind first
# breaks: "By what number are the scores of attention multiplied"
# because: this is the attention factor of queries alone; keys are multiplied by it, too
# named: the factor of cosines and sines
growth = 0.1 * math.log(24) + 1

# %% wrong, blind first
# breaks: "By what number are the scores of attention multiplied"
# because: turned upside down, as if a temperature made the scores smaller
# named: scores shrink
growth = 1 / (0.1 * math.log(24) + 1) ** 2

# %% wrong, blind first
# breaks: "stretched by s = 24 with YaRN, its usual temperature included"
# because: the logarithm to base 10 instead of the natural one
# named: logarithm to base 10
growth = (0.1 * math.log10(24) + 1) ** 2

# %% wrong, blind first
# breaks: "it should be right to half a percent"
# because: doubles the growth instead of squaring the factor
# named: twice the growth instead of the square
growth = 1 + 2 * 0.1 * math.log(24)

# %% right, blind first
# style: measured on a score of two made-up vectors
attention_factor = 1 + math.log(24) / 10
q, k = torch.tensor([0.3, -1.2]).double(), torch.tensor([0.7, 0.4]).double()
growth = float((attention_factor * q) @ (attention_factor * k) / (q @ k))

# %% wrong, blind second
# breaks: "By what number are the scores of attention multiplied"
# because: counts cosine and sine as two factors, of queries and of keys: fourth power instead of the square
# named: the fourth power
attention_factor = 0.1 * math.log(24) + 1
of_queries = attention_factor * attention_factor
of_keys = attention_factor * attention_factor
growth = of_queries * of_keys
