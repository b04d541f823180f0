# Answers to choose-scheme: tests/grading/answers.py says what the parts are.

# %% given
def measured(candidates, length, most_memory):
    return {
        name: candidate["bits"][length]
        for name, candidate in candidates.items()
        if length in candidate["bits"] and candidate["memory"] <= most_memory
    }

def below(first, second):
    return max(first) < min(second)

# %% right
# style: in loops
def choose_from(candidates, length, most_memory):
    left = {}
    for name, candidate in candidates.items():
        if candidate["memory"] <= most_memory and length in candidate["bits"]:
            left[name] = candidate["bits"][length]
    chosen = []
    for name, losses in left.items():
        if all(max(other) >= min(losses) for other in left.values()):
            chosen.append(name)
    chosen.sort()
    return chosen

# %% right
# style: by the best worst
def choose_from(candidates, length, most_memory):
    left = {
        name: c["bits"].get(length)
        for name, c in candidates.items()
        if not c["memory"] > most_memory and c["bits"].get(length)
    }
    limit = min(map(max, left.values()), default=0)
    return sorted(name for name, bits in left.items() if min(bits) <= limit)

# %% variation
# because: champion of neighbours
def choose_from(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    names = list(left)
    keep = names[:1]
    for name in names[1:]:
        if below(left[name], left[keep[-1]]):
            keep[-1] = name
        elif not below(left[keep[-1]], left[name]):
            keep.append(name)
    return sorted(keep)

# %% variation
# because: sorted neighbours only
from statistics import mean

def choose_from(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    order = sorted(left, key=lambda name: mean(left[name]))
    return sorted(
        name
        for place, name in enumerate(order)
        if place == 0 or not below(left[order[place - 1]], left[name])
    )

# %% variation
# because: next longer length
def choose_from(candidates, length, most_memory):
    filled = {}
    for name, candidate in candidates.items():
        longer = sorted(n for n in candidate["bits"] if n >= length)
        bits = {length: candidate["bits"][longer[0]]} if longer else {}
        filled[name] = {"memory": candidate["memory"], "bits": bits}
    left = measured(filled, length, most_memory)
    return sorted(n for n in left if not any(below(left[m], left[n]) for m in left))

# %% variation
# because: nobody left raises
def choose_from(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    limit = min(max(losses) for losses in left.values())
    return sorted(name for name, losses in left.items() if min(losses) <= limit)

# %% variation
# because: ranges of means and spreads
from statistics import mean

def choose_from(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)

    def band(losses):
        half = (max(losses) - min(losses)) / 2
        return mean(losses) - half, mean(losses) + half

    return sorted(
        n for n in left if not any(band(left[m])[1] < band(left[n])[0] for m in left if m != n)
    )

# %% variation
# because: no list
def choose_from(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    return {n for n in left if not any(below(left[m], left[n]) for m in left)}

# %% wrong, blind first
# breaks: "all losses of the other one are lower than all of its losses"
# because: compares seed by seed in pairs, not each with each
# named: seeds compared one by one
def choose_from(candidates, length, most_memory):
    left = {}
    for name, what in candidates.items():
        if what["bits"].get(length) and what["memory"] <= most_memory:
            left[name] = what["bits"][length]

    def below(a, b):
        return all(x < y for x, y in zip(a, b))

    return sorted(n for n in left
                  if not any(below(left[m], left[n]) for m in left if m != n))

# %% wrong, blind first
# breaks: "drop every candidate that has another one *wholly below* it"
# because: compares only with the one whose mean is lowest; a narrower one may be wholly below where that one is not
# named: compared with the best alone
def choose_from(candidates, length, most_memory):
    left = {name: c["bits"][length] for name, c in candidates.items()
            if length in c["bits"] and c["memory"] <= most_memory}
    if not left:
        return []
    best = min(left, key=lambda name: sum(left[name]) / len(left[name]))
    return sorted(name for name in left
                  if name == best or not max(left[best]) < min(left[name]))

# %% wrong, blind first
# breaks: "Of those left, drop every candidate that has another one *wholly below* it"
# because: a candidate that needs too much memory still beats others, since memory is looked at last
# named: beaten by what was ruled out
def choose_from(candidates, length, most_memory):
    measured = {name: c["bits"][length] for name, c in candidates.items() if length in c["bits"]}
    unbeaten = [
        name for name, losses in measured.items()
        if not any(max(other) < min(losses) for other in measured.values())
    ]
    return sorted(name for name in unbeaten if candidates[name]["memory"] <= most_memory)

# %% wrong, blind first
# breaks: "all losses of the other one are lower than all of its losses"
# because: with <= a candidate whose best seed equals the other's worst is dropped, too
# named: equal counts as below
def choose_from(candidates, length, most_memory):
    left = []
    for name in sorted(candidates):
        losses = candidates[name]["bits"].get(length, [])
        if losses and not candidates[name]["memory"] > most_memory:
            left.append((name, min(losses), max(losses)))
    chosen = []
    for name, low, high in left:
        if not any(other_high <= low for other, _, other_high in left if other != name):
            chosen.append(name)
    return chosen

# %% right, blind first
# style: the lowest of all worst losses decides; nothing is compared in pairs
def choose_from(candidates, length, most_memory):
    left = {name: what["bits"][length] for name, what in candidates.items()
            if what["bits"].get(length) and what["memory"] <= most_memory}
    lowest_ceiling = min((max(losses) for losses in left.values()), default=math.inf)
    return sorted(name for name, losses in left.items() if min(losses) <= lowest_ceiling)

# %% right, blind first
# style: explicit loops, every loss with every loss
def choose_from(candidates, length, most_memory):
    allowed = []
    for name in candidates:
        if length not in candidates[name]["bits"]:
            continue
        if len(candidates[name]["bits"][length]) == 0:
            continue
        if candidates[name]["memory"] > most_memory:
            continue
        allowed.append(name)

    remaining = []
    for name in allowed:
        beaten = False
        for other in allowed:
            if other == name:
                continue
            wholly = True
            for a in candidates[other]["bits"][length]:
                for b in candidates[name]["bits"][length]:
                    if not a < b:
                        wholly = False
            if wholly:
                beaten = True
        if not beaten:
            remaining.append(name)
    remaining.sort()
    return remaining

# %% wrong, blind second
# breaks: "all losses of the other one are lower than all of its losses"
# because: compares seed by seed with zip, and leaves out the seeds that one of them has more
# named: seeds compared one by one
def choose_from(candidates, length, most_memory):
    left = {name: one["bits"][length] for name, one in candidates.items()
            if length in one["bits"] and one["memory"] <= most_memory}

    def wholly_below(a, b):
        return all(x < y for x, y in zip(a, b))

    return sorted(name for name in left
                  if not any(wholly_below(left[other], left[name]) for other in left if other != name))

# %% equal
# because: The default is taken where no candidate is left, and then nothing is compared with it.
# change: 0 to 1 in `lowest_worst = min(map(max, left.values()), default=0)`
# change: 0 to -1 in `lowest_worst = min(map(max, left.values()), default=0)`

# %% wrong
# because: the caller's dictionary is emptied
def choose_from(candidates, length, most_memory):
    left = {}
    while candidates:
        name, c = candidates.popitem()
        if length in c["bits"] and c["memory"] <= most_memory:
            left[name] = c["bits"][length]
    lowest = min(map(max, left.values()), default=0)
    return sorted(n for n, l in left.items() if min(l) <= lowest)

# %% wrong
# because: lists within the caller's dictionary are sorted
def choose_from(candidates, length, most_memory):
    left = {}
    for name, c in candidates.items():
        if length in c["bits"] and c["memory"] <= most_memory:
            c["bits"][length].sort()
            left[name] = c["bits"][length]
    lowest = min((l[-1] for l in left.values()), default=0)
    return sorted(n for n, l in left.items() if l[0] <= lowest)
