# Answers to yarn-read-config: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
kept_pairs = 15

# %% wrong, blind first
# breaks: "How many of the 48 pairs keep their frequency?"
# because: takes the number of the last kept pair for the count, and forgets pair 0
# named: the number of the last one
number = 48 * math.log(8192 / (4.0 * 2 * math.pi)) / math.log(200_000.0)
kept_pairs = int(number)

# %% wrong, blind first
# breaks: "How many of the 48 pairs keep their frequency?" with "high_freq_factor": 4.0
# because: counts pairs of one turn or more, and so the blended ones as well
# named: pairs with at least one turn
theta = 200_000.0 ** (-torch.arange(48).double() / 48)
turns = 8192 * theta / (2 * math.pi)
kept_pairs = int((turns >= 1.0).sum())

# %% wrong, blind first
# breaks: "original_max_position_embeddings": 8192
# because: counts the turns in the stretched length, 16 times 8192
# named: turns counted in the longer text
theta = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)
turns = 16.0 * 8192 * theta / (2 * math.pi)
kept_pairs = int((turns >= 4.0).sum())

# %% wrong, blind first
# breaks: "How many of the 48 pairs keep their frequency?"
# because: takes 1 / theta for the wavelength, without the two pi
# named: 2 pi forgotten
theta = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)
wavelength = 1 / theta
kept_pairs = int((wavelength < 8192 / 4.0).sum())

# %% right, blind first
# style: the rule written in wavelengths, in plain Python
config = {"rope_type": "llama3", "rope_theta": 200000.0, "factor": 16.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
short_wave = config["original_max_position_embeddings"] / config["high_freq_factor"]
kept_pairs = 0
for i in range(48):
    wavelength = 2 * math.pi * config["rope_theta"] ** (2 * i / 96)
    if wavelength < short_wave:
        kept_pairs += 1

# %% wrong, blind second
# breaks: "How many of the 48 pairs keep their frequency?"
# because: counts pairs above low_freq_factor turns, so also those that are blended
# named: pairs with at least one turn
config = {"rope_type": "llama3", "rope_theta": 200000.0, "factor": 16.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
theta = config["rope_theta"] ** (-torch.arange(0, 96, 2).double() / 96)
wavelength = 2 * math.pi / theta
longest = config["original_max_position_embeddings"] / config["low_freq_factor"]
kept_pairs = int((wavelength < longest).sum())

# %% equal
# because: Pair 22 makes 4.8 turns and pair 23 makes 3.8. A change as small as this one moves
#   neither over the limit of 4, so the count stays 23.
# change: 200000.0 to 200001.0 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 200000.0 to 199999.0 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 96 to 97 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 96 to 95 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 96 to 97 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`, number 2
# change: 96 to 95 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`, number 2
# change: .double() dropped in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 0 to 1 in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`
# change: 8192 to 8193 in `turns = 8192 * frequencies / (2 * math.pi)`
# change: 8192 to 8191 in `turns = 8192 * frequencies / (2 * math.pi)`

# %% equal
# because: No pair makes exactly 4 turns.
# change: GtE to Gt in `kept_pairs = int((turns >= 4).sum())`

# %% wrong
# because: not a whole number
kept_pairs = 22.5
