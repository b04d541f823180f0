# %% wrong long-right-by-distance
# breaks: "distances beyond the last part count nowhere"
# because: repairs the distance and the nan, but leaves the clamp
def right_by_distance(right, asked, given, width, parts):
    part = ((asked - given) // width).clamp(max=parts - 1)
    shares = torch.full((parts,), torch.nan)
    for number in range(parts):
        here = right[part == number]
        if len(here) > 0:
            shares[number] = here.float().mean()
    return shares


# %% wrong long-right-by-distance
# breaks: "part 0 has the distances from 0 to `width - 1`" and "A part in which nothing was asked gets nan"
# because: counts distances from 1 (a key is always earlier), and takes a part with nothing right for an empty one
def right_by_distance(right, asked, given, width, parts):
    part = (asked - given - 1) // width
    shares = torch.full((parts,), float("nan"))
    for number in range(parts):
        here = right[part == number]
        if here.sum() > 0:
            shares[number] = here.sum() / len(here)
    return shares


# %% right long-right-by-distance
# because: a matrix of parts and questions, 0 / 0 gives the nan
def right_by_distance(right, asked, given, width, parts):
    d = asked - given
    low = torch.arange(parts).unsqueeze(1) * width
    member = ((d >= low) & (d < low + width)).double()
    return (member * right.double()).sum(1) / member.sum(1)


# %% right long-right-by-distance
# because: dictionaries of counts in plain Python
def right_by_distance(right, asked, given, width, parts):
    hits, all_of = {}, {}
    for r, a, g in zip(right.tolist(), asked.tolist(), given.tolist()):
        part = (a - g) // width
        all_of[part] = all_of.get(part, 0) + 1
        hits[part] = hits.get(part, 0) + int(r)
    return torch.tensor([hits[p] / all_of[p] if p in all_of else math.nan for p in range(parts)])


# %% wrong long-reads-test
# breaks: "Others pay little for other reasons"
# because: no control: only asks that the letters cost less than three bits
def test_reads(bits):
    torch.manual_seed(0)
    first = torch.randint(0, 26, (24,))
    between = torch.randint(26, 100, (300,))
    assert bits(first, between, first) < 3


# %% wrong long-reads-test
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


# %% wrong long-reads-test
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


# %% right long-reads-test
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
