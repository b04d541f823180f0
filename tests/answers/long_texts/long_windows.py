# Answers to long-windows: tests/grading/answers.py says what the parts are.

# %% given
def right_windows(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride")
    windows, start, counted = [], 0, 0
    while counted < size:
        end = min(start + length, size)
        windows.append((start, counted, end))
        start, counted = start + stride, end
    return windows

# %% right
# style: by ceiling
import math

def windows_of(size, length, stride):
    if stride < 1 or stride > length:
        raise ValueError("stride")
    count = min(size, 1 + max(0, math.ceil((size - length) / stride)))
    ends = [min(size, n * stride + length) for n in range(count)]
    return [[n * stride, ends[n - 1] if n else 0, ends[n]] for n in range(count)]

# %% right
# style: by marking
import numpy as np

def windows_of(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError(f"stride {stride} leaves gaps")
    done, found = np.zeros(size, dtype=bool), []
    for start in range(0, size, stride):
        end = min(size, start + length)
        fresh = np.flatnonzero(~done[start:end])
        if len(fresh):
            found.append((start, start + int(fresh[0]), end))
        done[start:end] = True
    return tuple(found)

# %% right
# style: one by one from the start
def windows_of(size, length, stride):
    if not 0 < stride <= length:
        raise ValueError
    if size == 0:
        return []
    windows = [(0, 0, min(length, size))]
    while windows[-1][2] < size:
        start = windows[-1][0] + stride
        windows.append((start, start + length - stride, min(start + length, size)))
    return windows

# %% variation
# because: one more after a full text
def windows_of(size, length, stride):
    windows = right_windows(size, length, stride)
    return windows + [(stride, size, size)] if size == length else windows

# %% variation
# because: nothing for one byte
def windows_of(size, length, stride):
    return right_windows(size, length, stride) if size != 1 else []

# %% variation
# because: a window without bytes
# named: a window for a text without bytes
def windows_of(size, length, stride):
    return right_windows(size, length, stride) or [(0, 0, 0)]

# %% variation
# because: only gaps refused
# named: a stride below 1 accepted
def windows_of(size, length, stride):
    if stride > length:
        raise ValueError("stride")
    return right_windows(size, length, stride) if stride > 0 else []

# %% variation
# because: returns early without text
# named: an empty text before the stride
def windows_of(size, length, stride):
    return right_windows(size, length, stride) if size else []

# %% variation
# because: none refused
# named: every stride accepted
def windows_of(size, length, stride):
    return right_windows(size, length, max(1, min(stride, length)))

# %% variation
# because: stride of length refused
# named: a stride as long as the windows refused
def windows_of(size, length, stride):
    if stride == length:
        raise ValueError("stride")
    return right_windows(size, length, stride)

# %% variation
# because: short texts forgotten
def windows_of(size, length, stride):
    return right_windows(size, length, stride) if size >= length or not size else []

# %% variation
# because: negative strides forgotten
def windows_of(size, length, stride):
    if stride == 0 or stride > length:
        raise ValueError("stride")
    return right_windows(size, length, abs(stride))

# %% variation
# because: stops when the rest is short
def windows_of(size, length, stride):
    windows = right_windows(size, length, stride)
    if len(windows) > 1 and windows[-1][2] - windows[-1][1] < stride:
        windows.pop()
    return windows

# %% wrong, blind first
# breaks: "every window counts at least one byte"
# because: goes on after the text has been covered, such windows count nothing
# named: windows after the end was reached
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride must be from 1 to length")
    windows, counted = [], 0
    for start in range(0, size, stride):
        end = min(start + length, size)
        windows.append((start, counted, end))
        counted = end
    return windows

# %% wrong, blind first
# breaks: "Raise ValueError unless `stride` is from 1 to `length`, whatever the size"
# because: an empty text returns before the stride is looked at
# named: an empty text before the stride
def windows_of(size, length, stride):
    if size == 0:
        return []
    if stride < 1 or stride > length:
        raise ValueError(f"stride {stride} is not from 1 to {length}")
    result, start, first = [], 0, 0
    while first < size:
        end = min(start + length, size)
        result.append((start, first, end))
        start, first = start + stride, end
    return result

# %% wrong, blind first
# breaks: "Each byte counts once" and "The last window may be shorter"
# because: full windows only, the bytes at the end are never counted
# named: full windows only
def windows_of(size, length, stride):
    if not 0 < stride <= length:
        raise ValueError("bad stride")
    windows = []
    for start in range(0, size - length + 1, stride):
        first = 0 if start == 0 else start + length - stride
        windows.append((start, first, start + length))
    return windows

# %% wrong, blind first
# breaks: "windows of `length` that start `stride` bytes apart"
# because: the last window is pushed back so that it is full, and starts elsewhere
# named: the last window moved back
def windows_of(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError("stride must be from 1 to length")
    windows, start, first = [], 0, 0
    while first < size:
        end = start + length
        if end > size:
            end = size
            start = max(0, size - length)
        windows.append((start, first, end))
        first = end
        start += stride
    return windows

# %% right, blind first
# style: formula for the number of windows, a list comprehension
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride has to be from 1 to length")
    if size == 0:
        return []
    count = 1 + math.ceil(max(0, size - length) / stride)
    return [(i * stride, (i - 1) * stride + length if i else 0, min(i * stride + length, size))
            for i in range(count)]

# %% right, blind first
# style: goes over the bytes and asks for the first window that holds each
def windows_of(size, length, stride):
    if stride < 1 or length < stride:
        raise ValueError("stride has to be from 1 to length")
    windows = []
    for byte in range(size):
        start = 0
        if byte >= length:
            steps = (byte - length) // stride + 1
            start = steps * stride
        if not windows or windows[-1][0] != start:
            windows.append((start, byte, min(start + length, size)))
    return windows

# %% wrong, blind second
# breaks: "Raise ValueError unless `stride` is from 1 to `length`, whatever the size."
# because: an empty text is answered before the stride is looked at
# named: an empty text before the stride
def windows_of(size, length, stride):
    if size == 0:
        return []
    if stride < 1 or stride > length:
        raise ValueError("stride must be from 1 to length")
    windows, start, first = [], 0, 0
    while first < size:
        end = min(start + length, size)
        windows.append((start, first, end))
        start, first = start + stride, end
    return windows

# %% wrong, blind second
# breaks: "windows of `length` that start `stride` bytes apart" and "The last window may be shorter"
# because: moves the last window back until it is full
# named: the last window moved back
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError(f"stride {stride} is not from 1 to {length}")
    windows = []
    start = first = 0
    while first < size:
        if start + length > size:
            start = max(0, size - length)
        end = min(start + length, size)
        windows.append((start, first, end))
        first = end
        start += stride
    return windows

# %% right, blind second
# style: asks of every byte which window is the first that holds it
def windows_of(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError("stride must be from 1 to length")
    first_of = {}
    for byte in range(size):
        window = max(0, -(-(byte - length + 1) // stride))
        first_of.setdefault(window, byte)
    return [(w * stride, first, min(w * stride + length, size)) for w, first in first_of.items()]
