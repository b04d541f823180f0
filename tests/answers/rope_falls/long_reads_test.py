# Answers to long-reads-test: tests/grading/answers.py says what the parts are.

# %% right
# style: reads test by rows
import torch

def test_reads(bits):
    for seed in range(3):
        dice = torch.Generator().manual_seed(seed)
        second = torch.randperm(26, generator=dice)[:24]
        between = torch.randint(26, 100, (400,), generator=dice)
        same = bits(second.roll(1 + 3 * seed), between, second)
        for _ in range(3):
            other = second[torch.randperm(24, generator=dice)]
            assert bits(other, between, second) >= same + 0.9

# %% right
# style: reads test of reversed
import torch

def test_reads(bits):
    row, stretch = torch.tensor([*b"qwertyuiopasdfghjklzx"]) - 97, torch.arange(310) % 60 + 30
    for cut in (9, 4):
        first = torch.cat([row[cut:], row[:cut]])
        if bits(first.flip(0), stretch, row) - bits(first, stretch, row) < 1:
            raise AssertionError("pays for letters in reversed order as for those in order")

# %% wrong
# because: rows in the order of the alphabet
# named: letters in the order of the alphabet
import torch

def test_reads(bits):
    row = torch.arange(26)
    for gap in (5, 60, 300):
        for begin in (0, 3, 8):
            between = 26 + torch.arange(gap) % 74
            first, second = row[:20], row[begin:begin + 12]
            assert bits(first, between, second) <= bits(first.flip(0), between, second) - 0.9

# %% wrong
# because: one turn and one stretch, so one distance for most letters
# named: one distance alone
import torch

def test_reads(bits):
    letters = torch.randperm(26, generator=torch.Generator().manual_seed(5))[:20]
    between = 26 + torch.arange(300) % 70
    saved = bits(letters.flip(0), between, letters) - bits(letters.roll(7), between, letters)
    assert saved > 0.9

# %% wrong
# because: fresh letters far
import torch

def test_reads(bits):
    row, stretch = torch.arange(13), torch.arange(400) % 74 + 26
    assert bits(row + 13, stretch, row) - bits(row, stretch, row) > 0.9

# %% wrong
# because: order after 200
import torch

def test_reads(bits):
    row, stretch = torch.arange(20), torch.arange(200) % 74 + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 0.9

# %% wrong
# because: order right before
import torch

def test_reads(bits):
    row, stretch = torch.arange(20), torch.arange(28) + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 0.9

# %% wrong
# because: asks for three bits
import torch

def test_reads(bits):
    row, stretch = torch.arange(20), torch.arange(300) % 74 + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 3

# %% wrong, blind third
# breaks: "Others pay little for other reasons"
# because: no control: only asks that the letters cost less than three bits
def test_reads(bits):
    torch.manual_seed(0)
    first = torch.randint(0, 26, (24,))
    between = torch.randint(26, 100, (300,))
    assert bits(first, between, first) < 3

# %% wrong, blind third
# breaks: "looks up in `first` which letter followed"
# because: fresh letters are the only control, so a model that notices which letters occur passes
def test_reads(bits):
    saved = []
    for seed in range(10):
        torch.manual_seed(seed)
        letters, other = torch.randperm(26)[:12], torch.randint(0, 26, (12,))
        between = torch.randint(26, 100, (300,))
        saved.append(float(bits(other, between, letters)) - float(bits(letters, between, letters)))
    assert sum(saved) / len(saved) > 0.9

# %% wrong, blind third
# breaks: "even with 300 tokens between"
# because: a good control, but only 48 tokens between
def test_reads(bits):
    torch.manual_seed(1)
    saved = 0
    for _ in range(8):
        first = torch.randperm(26)
        between = torch.randint(26, 100, (48,))
        same, shuffled = first, first[torch.randperm(26)]
        saved += float(bits(shuffled, between, same)) - float(bits(first, between, same))
    assert saved / 8 > 0.9

# %% right, blind third
# because: the second letters stay, the first ones change; they start elsewhere, and the gap varies
def test_reads(bits):
    g = torch.Generator().manual_seed(9)
    for gap in (300, 271, 150, 20):
        saved = []
        for turn in (5, 9, 13, 17, 21):
            letters = torch.randperm(26, generator=g)
            between = torch.randint(26, 100, (gap,), generator=g)
            second = letters.roll(turn)
            told = float(bits(letters, between, second))
            other = [float(bits(letters[torch.randperm(26, generator=g)], between, second))
                     for _ in range(3)]
            saved.append(sum(other) / 3 - told)
        assert sum(saved) / len(saved) > 0.75, gap

# %% equal
# because: Rows that are turned by two other numbers begin elsewhere, too.
# change: 7 to 8 in `for turn in (7, 12):  # begins elsewhere each time: copying from one distance fails`
# change: 7 to 6 in `for turn in (7, 12):  # begins elsewhere each time: copying from one distance fails`
# change: 12 to 13 in `for turn in (7, 12):  # begins elsewhere each time: copying from one distance fails`
# change: 12 to 11 in `for turn in (7, 12):  # begins elsewhere each time: copying from one distance fails`

# %% equal
# because: Any twenty letters in no order of their own are as good.
# change: generator= dropped in `letters = torch.randperm(26, generator=torch.Generator().manual_seed(0))[:20]`
# change: 26 to 27 in `letters = torch.randperm(26, generator=torch.Generator().manual_seed(0))[:20]`
# change: 26 to 25 in `letters = torch.randperm(26, generator=torch.Generator().manual_seed(0))[:20]`
# change: 0 to 1 in `letters = torch.randperm(26, generator=torch.Generator().manual_seed(0))[:20]`
# change: 0 to -1 in `letters = torch.randperm(26, generator=torch.Generator().manual_seed(0))[:20]`

# %% equal
# because: No version saves exactly 0.9 bits.
# change: Gt to GtE in `assert saved > 0.9, f"{saved} bits by the order of letters"`

# %% equal
# because: A stretch of about 300 tokens, none of which is among the 20 letters.
# change: 26 to 27 in `between = 26 + torch.arange(300) % 74`
# change: 26 to 25 in `between = 26 + torch.arange(300) % 74`
# change: Mod to FloorDiv in `between = 26 + torch.arange(300) % 74`
# change: 74 to 75 in `between = 26 + torch.arange(300) % 74`
# change: 74 to 73 in `between = 26 + torch.arange(300) % 74`
# change: 300 to 301 in `between = 26 + torch.arange(300) % 74`
# change: 300 to 299 in `between = 26 + torch.arange(300) % 74`

# %% wrong
# because: a price compared with a number of bits
import torch

def test_reads(bits):
    letters = torch.arange(20)
    assert bits(letters.roll(7), 26 + torch.arange(300) % 74, letters) < 2
