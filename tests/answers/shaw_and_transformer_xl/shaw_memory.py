# Answers to shaw-memory: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
mebibytes = 504
mebibytes = 503.78  # named: distance 16 left out
mebibytes = 504.78  # named: distance 15 counted
mebibytes = 512  # named: the whole tensor
mebibytes = 252.14  # named: one end of the table
mebibytes = 7.72  # named: what is left
mebibytes = 1008.56  # named: twice too much

# %% wrong, blind first
# breaks: "The vectors are the same for all heads and all texts."
# because: multiplies by the number of heads
# named: the whole tensor, eight times
mebibytes = 8 * 2048 * 2048 * 64 * 2 / 2**20

# %% wrong, blind first
# breaks: "How many MiB"
# because: divides by a million, so these are megabytes
n, head_dim, bytes_per_number = 2048, 64, 2
mebibytes = n * n * head_dim * bytes_per_number / 10**6

# %% wrong, blind first
# breaks: "one for every pair (i, j)"
# because: counts only pairs with a key that is not later than the query
n = 2048
pairs = n * (n + 1) // 2
mebibytes = pairs * 64 * 2 / 2**20

# %% wrong, blind first
# breaks: "in bfloat16"
# because: copies the lesson's 4 bytes of float32
mebibytes = 2048 * 2048 * 64 * 4 // 2**20

# %% wrong, blind first
# relabelled: When it was written the task asked for the size of the tensor of all pairs, and this
#   was right. It now asks how much of that tensor two rows of the table fill.
# style: asks torch for the size of one number, then doubles as often as needed
# named: the whole tensor
size = torch.empty(0, dtype=torch.bfloat16).element_size()
mebibytes = 2048**2 * 64 * size / 1024 / 1024

# %% wrong, blind second
# breaks: "The vectors are the same for all heads and all texts."
# because: counts the vectors once for each of the 8 heads
# named: the whole tensor, eight times
n, heads, width, bytes_each = 2048, 8, 64, 2
mebibytes = heads * n * n * width * bytes_each / 2**20
