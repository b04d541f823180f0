# Answers to t5-decoder-bucket: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def bucket_with(rest=lambda count, exact: count - exact, nearest=math.floor, places=None):
    def answer(relative, num_buckets, max_distance):
        exact = num_buckets // 2

        def bucket(distance):
            if distance < exact:
                return max(distance, 0)
            share = math.log(distance / exact) / math.log(max_distance / exact)
            far = exact + nearest(share * rest(num_buckets, exact) + 1e-9)
            return min(far, num_buckets - 1)

        numbers = relative if places is None else relative.to(places)
        flat = [bucket(int(distance)) for distance in numbers.flatten().tolist()]
        return torch.tensor(flat).reshape(relative.shape)

    return answer

# %% right
# style: in loops
def decoder_bucket(relative, num_buckets, max_distance):
    def bucket(distance):
        exact = num_buckets // 2
        if distance < exact:
            return max(distance, 0)
        share = math.log(distance / exact) / math.log(max_distance / exact)
        return min(exact + int(share * (num_buckets - exact) + 1e-9), num_buckets - 1)

    flat = [bucket(distance) for distance in relative.flatten().tolist()]
    return torch.tensor(flat).reshape(relative.shape)

# %% right
# style: by masking
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    bucket = relative.clamp(min=0)
    far = bucket >= exact
    ratio = torch.log(bucket[far].double() / exact) / math.log(max_distance / exact)
    log_bucket = exact + torch.floor(ratio * (num_buckets - exact) + 1e-9).long()
    bucket[far] = torch.minimum(log_bucket, torch.tensor(num_buckets - 1))
    return bucket

# %% right
# style: in float32
def decoder_bucket(relative, num_buckets, max_distance):
    exact, distance = num_buckets // 2, torch.relu(relative)
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact) + 1e-4).to(torch.long)
    return torch.where(distance < exact, distance, far.clamp(max=num_buckets - 1))

# %% right
# style: as published but mended
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.float().clamp(min=1) / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=num_buckets - 1))

# %% variation
decoder_bucket = bucket_with(rest=lambda count, exact: exact)

# %% variation
# because: bucket with places = torch.bfloat16
decoder_bucket = bucket_with(places=torch.bfloat16)

# %% variation
# because: bucket with places = torch.float16
decoder_bucket = bucket_with(places=torch.float16)

# %% variation
# because: bucket with places = torch.int8
decoder_bucket = bucket_with(places=torch.int8)

# %% variation
# because: always 32 buckets
def decoder_bucket(relative, num_buckets, max_distance):
    return bucket_with()(relative, 32, max_distance)

# %% variation
# because: always 128
def decoder_bucket(relative, num_buckets, max_distance):
    return bucket_with()(relative, num_buckets, 128)

# %% variation
# because: one axis only
def decoder_bucket(relative, num_buckets, max_distance):
    return torch.stack([bucket_with()(row, num_buckets, max_distance) for row in relative])

# %% variation
# because: last bucket never used
def decoder_bucket(relative, num_buckets, max_distance):
    return bucket_with()(relative, num_buckets, max_distance).clamp(max=num_buckets - 2)

# %% variation
# because: exact part one longer
def decoder_bucket(relative, num_buckets, max_distance):
    right = bucket_with()(relative, num_buckets, max_distance)
    return right + (relative == num_buckets // 2)

# %% variation
# because: clamped in place
def decoder_bucket(relative, num_buckets, max_distance):
    return bucket_with()(relative.clamp_(min=0), num_buckets, max_distance)

# %% wrong, blind first
# breaks: "no bucket is above `num_buckets - 1`"
# because: only the sign is repaired, distances from max_distance on go beyond the last bucket
# named: last bucket not open
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.clamp(min=exact).double() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    return torch.where(distance < exact, distance, far)

# %% wrong, blind first
# breaks: "`relative` holds i - j, as int64, and stays as it was"
# because: clamp_ sets the negative distances of the caller to 0
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp_(min=0)
    exact = num_buckets // 2
    safe = distance.clamp(min=exact).double()
    ratio = torch.log(safe / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = far.clamp(max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)

# %% wrong, blind first
# breaks: "If `num_buckets` is odd, the exact part is the smaller one"
# because: rounds half of the buckets up
def decoder_bucket(relative, num_buckets, max_distance):
    exact = math.ceil(num_buckets / 2)
    distance = torch.clamp(relative, min=0)
    safe = torch.clamp(distance, min=exact).double()
    ratio = torch.log(safe / exact) / math.log(max_distance / exact)
    far = exact + torch.floor(ratio * (num_buckets - exact)).long()
    far = torch.clamp(far, max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)

# %% wrong, blind first
# breaks: "`relative`: whole numbers from -500 to 100 000, 0 to 3 axes"
# because: expects a matrix of queries and keys
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    queries, keys = relative.shape
    result = torch.zeros(queries, keys, dtype=torch.long)
    for i in range(queries):
        for j in range(keys):
            distance = max(0, int(relative[i, j]))
            if distance < exact:
                result[i, j] = distance
            else:
                share = math.log(distance / exact) / math.log(max_distance / exact)
                far = exact + int(share * (num_buckets - exact))
                result[i, j] = min(far, num_buckets - 1)
    return result

# %% right, blind first
# style: the first distance of each far bucket in whole numbers, then comparisons
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    far_buckets = num_buckets - exact
    begins, d = [], exact
    for b in range(1, far_buckets):
        # (d / exact) ** far_buckets >= (max_distance / exact) ** b, without fractions
        while d**far_buckets * exact**b < max_distance**b * exact**far_buckets:
            d += 1
        begins.append(d)
    distance = relative.clamp(min=0)
    reached = (distance[..., None] >= torch.tensor(begins)).sum(dim=-1)
    return torch.where(distance < exact, distance, exact + reached)

# %% wrong, blind second
# breaks: "relative holds i - j, as int64, and stays as it was"
# because: clamps the caller's tensor in place
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp_(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.clamp(min=1).double() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = far.clamp(max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)

# %% wrong, blind second
# breaks: "If num_buckets is odd, the exact part is the smaller one"
# because: rounds half of the buckets up
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = math.ceil(num_buckets / 2)
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = torch.minimum(far, torch.full_like(far, num_buckets - 1))
    return torch.where(distance < exact, distance, far)

# %% right, blind second
# style: the first distance of each bucket in exact whole numbers, then a search among these
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    shared = num_buckets - exact

    def reaches(distance, step):
        # (distance / exact) ** shared >= (max_distance / exact) ** step, without fractions
        return distance**shared * exact**step >= max_distance**step * exact**shared

    starts = list(range(1, exact + 1))
    for step in range(1, shared):
        low, high = exact, max_distance
        while low < high:
            middle = (low + high) // 2
            if reaches(middle, step):
                high = middle
            else:
                low = middle + 1
        starts.append(low)
    flat = relative.clamp(min=0).reshape(-1).contiguous()
    found = torch.searchsorted(torch.tensor(starts), flat, right=True)
    return found.reshape(relative.shape)

# %% equal
# because: At a distance of exact the logarithm is 0, so both branches give the bucket exact.
# change: Lt to LtE in `return torch.where(distance < exact, distance, far.clamp(max=num_buckets - 1))`

# %% equal
# because: A whole number divided by another is a float32, which is exact enough, since no
#   distance in the cases falls on the edge between two buckets.
# change: .double() dropped in `ratio = torch.log(distance.clamp(min=1).double() / exact) / math.log(max_distance / exact)`

# %% equal
# because: The 1e-9 decides for a distance on the edge between two buckets alone. None is asked
#   for, because the published code in float32 may round either way there.
# change: Add to Sub in `far = exact + (ratio * (num_buckets - exact) + 1e-9).long()`, number 2

# %% equal
# because: Distances below exact, which is 2 or more, take themselves as a bucket; what the
#   logarithm gives for them is thrown away by torch.where.
# change: 1 to 2 in `ratio = torch.log(distance.clamp(min=1).double() / exact) / math.log(max_distance / exact)`
# change: 1 to 0 in `ratio = torch.log(distance.clamp(min=1).double() / exact) / math.log(max_distance / exact)`
