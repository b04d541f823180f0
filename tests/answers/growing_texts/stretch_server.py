# Answers to stretch-server: tests/grading/answers.py says what the parts are.

# %% given
import torch

def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def raised(base, dim, stretch):
    return base * max(1.0, stretch) ** (dim / (dim - 2))

def serving(one):
    def serve(lengths, dim, base, original_length):
        return [one(n, dim, base, original_length) for n in lengths]

    return serve

def right_one(n, dim, base, original_length):
    return frequencies_of(dim, raised(base, dim, n / original_length))

KEPT = {"n": {}, "dim": {}, "base": {}, "length": {}, "longest": [0]}

# %% right
# style: one by one
def serve(lengths, dim, base, original_length):
    plain = base ** (-torch.arange(dim // 2) / (dim // 2))
    even = torch.arange(dim // 2) / (dim // 2 - 1)
    return [plain / (n / original_length if n > original_length else 1.0) ** even for n in lengths]

# %% right
# style: by exponentials in float32
def serve(lengths, dim, base, original_length):
    pairs = torch.arange(dim // 2, dtype=torch.float32)
    stretches = (torch.tensor(lengths, dtype=torch.float32) / original_length).clamp(min=1)
    plain, more = torch.tensor(float(base)).log() * 2 / dim, stretches.log() * 2 / (dim - 2)
    return list(torch.exp(-pairs * (plain + more)[:, None]))

# %% right
# style: by numpy
import numpy as np

def serve(lengths, dim, base, original_length):
    stretch = np.maximum(1, np.array(lengths) / original_length)[:, None]
    found = (base * stretch ** (dim / (dim - 2))) ** (-np.arange(0, dim, 2) / dim)
    return list(torch.from_numpy(found))

# %% right
# style: from the slowed pairs
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        slower = [max(1, n / original_length) ** (2 * i / (dim - 2)) for i in range(dim // 2)]
        served.append(torch.tensor([base ** (-2 * i / dim) / s for i, s in enumerate(slower)]))
    return served

# %% variation
# because: kept by length and dim
@serving
def serve(n, dim, base, original_length):
    return KEPT["dim"].setdefault((n, dim), right_one(n, dim, base, original_length))

# %% variation
# because: kept without the original length
@serving
def serve(n, dim, base, original_length):
    return KEPT["base"].setdefault((n, dim, base), right_one(n, dim, base, original_length))

# %% variation
# because: kept without the base
@serving
def serve(n, dim, base, original_length):
    key = n, dim, original_length
    return KEPT["length"].setdefault(key, right_one(n, dim, base, original_length))

# %% variation
# because: kept by length
@serving
def serve(n, dim, base, original_length):
    return KEPT["n"].setdefault(n, right_one(n, dim, base, original_length))

# %% variation
# because: longest of all calls
@serving
def serve(n, dim, base, original_length):
    KEPT["longest"][0] = max(KEPT["longest"][0], n)
    return right_one(KEPT["longest"][0], dim, base, original_length)

# %% variation
# because: slowest pair stands still
@serving
def serve(n, dim, base, original_length):
    frequencies = right_one(n, dim, base, original_length)
    return frequencies.masked_fill(frequencies < 1e-3, 0)

# %% variation
# because: from twice the length
# named: stretched from twice the length on
@serving
def serve(n, dim, base, original_length):
    return right_one(n if n >= 2 * original_length else 0, dim, base, original_length)

# %% variation
# because: from half as much again
@serving
def serve(n, dim, base, original_length):
    return right_one(n if n >= 1.5 * original_length else 0, dim, base, original_length)

# %% variation
# because: whole stretches
# named: whole stretches only
@serving
def serve(n, dim, base, original_length):
    return right_one(n // original_length * original_length, dim, base, original_length)

# %% variation
# because: all get the longest
# named: all get the frequencies of the longest
def serve(lengths, dim, base, original_length):
    longest = max(lengths, default=1)
    return [right_one(longest, dim, base, original_length) for _ in lengths]

# %% variation
# because: base raised again
# named: the base raised again and again
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        if n > original_length:
            base = raised(base, dim, n / original_length)
        served.append(frequencies_of(dim, base))
    return served

# %% wrong, blind first
# breaks: "short texts are bad even right after a restart"
# because: the memory is gone, but a short text still gets a stretch below 1
# named: short texts are squeezed together
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        stretch = n / original_length
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served

# %% wrong, blind first
# breaks: "it depends on who called before"
# because: short texts are fine now, but the longest text so far is still remembered
# named: never shrinks back
def serve(lengths, dim, base, original_length):
    served, longest = [], original_length
    for n in lengths:
        longest = max(longest, n)
        raised = base * (longest / original_length) ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served

# %% wrong, blind first
# breaks: "it depends on who called before"
# because: a table that outlives the call is keyed by n only, not by dim, base and length
_known = {}


def serve(lengths, dim, base, original_length):
    for n in lengths:
        if n not in _known:
            stretch = max(1.0, n / original_length)
            raised = base * stretch ** (dim / (dim - 2))
            _known[n] = raised ** (-torch.arange(0, dim, 2).double() / dim)
    return [_known[n] for n in lengths]

# %% wrong, blind first
# breaks: "For each text, in order"
# because: equal lengths are served once, and in the order of their size
# named: in the order of their size, equal ones once
def serve(lengths, dim, base, original_length):
    served = []
    for n in sorted(set(lengths)):
        stretch = max(1.0, n / original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served

# %% right, blind first
# style: no base is raised; each pair is slowed by s ** (2i / (d - 2))
def serve(lengths, dim, base, original_length):
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    trained = torch.exp(-even / dim * math.log(base))

    def one(n):
        if n <= original_length:
            return trained.clone()
        return trained * torch.exp(-even / (dim - 2) * math.log(n / original_length))

    return [one(n) for n in lengths]

# %% wrong, blind second
# breaks: "Its users say that it depends on who called before"
# because: remembers frequencies by length only, also for callers with another dim, base or original length
_ready = {}


def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        if n not in _ready:
            stretch = max(1.0, n / original_length)
            raised = base * stretch ** (dim / (dim - 2))
            _ready[n] = raised ** (-torch.arange(0, dim, 2).double() / dim)
        served.append(_ready[n])
    return served

# %% wrong, blind second
# breaks: "each number right to five digits" (dynamic NTK stretches by n / L)
# because: takes whole multiples of the original length, so 1.5 times as long is not stretched at all
# named: whole stretches only
def serve(lengths, dim, base, original_length):
    exponents = -torch.arange(0, dim, 2).double() / dim
    served = []
    for n in lengths:
        stretch = max(1, n // original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** exponents)
    return served

# %% right, blind second
# style: numpy, powers of the base and of the stretch taken apart
import numpy as np


def serve(lengths, dim, base, original_length):
    pair = np.arange(dim // 2, dtype=np.float64)
    trained = np.exp(-2 * pair / dim * np.log(float(base)))

    def for_length(n):
        stretch = n / original_length if n > original_length else 1.0
        slowed_by = np.power(stretch, 2 * pair / (dim - 2))
        return torch.from_numpy(trained / slowed_by)

    return [for_length(n) for n in lengths]

# %% equal
# because: Float32 holds seven digits, and the task asks for five.
# change: .double() dropped in `served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))`

# %% variation
# because: the last text gets no frequencies
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        stretch = max(1.0, n / original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served[:-1]

# %% variation
# because: one result too many
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        stretch = max(1.0, n / original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served + served[-1:]
