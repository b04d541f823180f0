"""Wrong answers to lesson 11's exercises that must not pass."""

import math

import torch

# 8.2 windows ----------------------------------------------------------------------------------


def right_windows(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride")
    windows, start, counted = [], 0, 0
    while counted < size:
        end = min(start + length, size)
        windows.append((start, counted, end))
        start, counted = start + stride, end
    return windows


def one_more_after_a_full_text(size, length, stride):
    windows = right_windows(size, length, stride)
    return windows + [(stride, size, size)] if size == length else windows


def nothing_for_one_byte(size, length, stride):
    return right_windows(size, length, stride) if size != 1 else []


def a_window_without_bytes(size, length, stride):
    return right_windows(size, length, stride) or [(0, 0, 0)]


def only_gaps_refused(size, length, stride):
    if stride > length:
        raise ValueError("stride")
    return right_windows(size, length, stride) if stride > 0 else []


def returns_early_without_text(size, length, stride):
    return right_windows(size, length, stride) if size else []


def none_refused(size, length, stride):
    return right_windows(size, length, max(1, min(stride, length)))


def stride_of_length_refused(size, length, stride):
    if stride == length:
        raise ValueError("stride")
    return right_windows(size, length, stride)


def short_texts_forgotten(size, length, stride):
    return right_windows(size, length, stride) if size >= length or not size else []


def negative_strides_forgotten(size, length, stride):
    if stride == 0 or stride > length:
        raise ValueError("stride")
    return right_windows(size, length, abs(stride))


def stops_when_the_rest_is_short(size, length, stride):
    windows = right_windows(size, length, stride)
    if len(windows) > 1 and windows[-1][2] - windows[-1][1] < stride:
        windows.pop()
    return windows


# 8.3 bits -------------------------------------------------------------------------------------


def from_the_first_counted(losses, counted):
    rows = [row[int(mask.float().argmax()) :] for row, mask in zip(losses, counted, strict=True)]
    return torch.cat(rows).mean() / math.log(2)


def up_to_the_last_counted(losses, counted):
    rows = []
    for row, mask in zip(losses, counted, strict=True):
        if mask.any():
            places = mask.nonzero()
            rows.append(row[int(places[0]) : int(places[-1]) + 1])
    return torch.cat(rows).mean() / math.log(2)


def weighted_means_of_rows(losses, counted):
    counts = counted.sum(dim=1)
    means = (losses * counted).sum(dim=1) / counts
    return (means * counts).sum() / counts.sum() / math.log(2)


def means_of_rows_that_count(losses, counted):
    means = [row[mask].mean() for row, mask in zip(losses, counted, strict=True) if mask.any()]
    return torch.stack(means).mean() / math.log(2)


def in_float16(losses, counted):
    return (losses[counted].half().mean().float()) / math.log(2)


def with_0_69(losses, counted):
    return losses[counted].mean() / 0.693


def first_row_s_mask(losses, counted):
    return losses[:, counted[0]].mean() / math.log(2)


def last_places_only(losses, counted):
    most = int(counted.sum(dim=1).max())
    return losses[:, -most:].mean() / math.log(2)


def median_of_bytes(losses, counted):
    return losses[counted].median() / math.log(2)


# 8.5 the test ---------------------------------------------------------------------------------


def expected_mask(q, k, window):
    distance = q[:, None] - k
    return (distance >= 0) & (distance < window)


def one_text_from_100(near):
    p = 100 + torch.tensor([0, 1, 3, 4])
    assert torch.equal(near(p, p, 2), expected_mask(p, p, 2))


def counts_alone(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 5, 50):
        assert near(q, k, window).sum() == expected_mask(q, k, window).sum()


def window_3_alone(near):
    q, k = torch.tensor([3, 9, 14]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10, 14])
    assert torch.equal(near(q, k, 3), expected_mask(q, k, 3))


def one_query(near):
    q, k = torch.tensor([9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10, 14])
    for window in (1, 3, 50):
        assert torch.equal(near(q, k, window), expected_mask(q, k, window))


def first_query_of_several(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 50):
        assert torch.equal(near(q, k, window)[0], expected_mask(q, k, window)[0])


def nothing_after_a_query(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 50):
        assert not (near(q, k, window) & (k > q[:, None])).any()


def asserts_a_list(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    alike = torch.equal(near(q, k, 3), expected_mask(q, k, 3))
    assert [alike, "wrong mask"]


# how far back news can come ---------------------------------------------------------------------


def held_after(masks, step):
    own = torch.eye(masks.shape[-1], dtype=torch.bool)
    held = own
    for mask in masks:
        held = step(held, mask, own)
    return held


def back(held):
    place = torch.arange(held.shape[-1])
    return ((place[:, None] - place) * held).amax(dim=-1)


def through(mask, held):
    return (mask.double() @ held.double()) > 0


def right_reach(masks):
    return back(held_after(masks, lambda held, mask, own: through(mask | own, held)))


def windows_times_layers(masks):
    place = torch.arange(masks.shape[-1])
    width = ((place[:, None] - place) * masks).amax()
    return (place).clamp(max=int(width) * len(masks))


def for_the_last_token_only(masks):
    return right_reach(masks)[-1]


def products_the_other_way_round(masks):
    return back(held_after(masks, lambda held, mask, own: through(held, mask | own)))


def own_news_in_the_first_layer_only(masks):
    return back(
        held_after(
            torch.cat([masks[:1] | torch.eye(masks.shape[-1], dtype=torch.bool), masks[1:]]),
            lambda held, mask, own: through(mask, held),
        )
    )


def two_layers_only(masks):
    return right_reach(masks[:2])


def as_floats(masks):
    return right_reach(masks).double() + 0.5


def counted_from_the_nearest(masks):
    held = held_after(masks, lambda held, mask, own: through(mask | own, held))
    place = torch.arange(masks.shape[-1])
    return torch.where(held, place[:, None] - place, len(place)).amin(dim=-1)


REFUSED = {
    "long-new-distances": [
        0.56, 0.563, 0.5625, 0.5599, 0.5658, 0.5651, 0.5640, 0.5621, 0.567, 0.75, 0.28, 0.437,
        56.29, 0.5600, 73_920,
    ],
    "long-windows": [
        one_more_after_a_full_text, nothing_for_one_byte, a_window_without_bytes,
        only_gaps_refused, returns_early_without_text, none_refused, stride_of_length_refused,
        short_texts_forgotten, negative_strides_forgotten, stops_when_the_rest_is_short,
    ],
    "long-corpus-bits": [
        lambda losses, counted: (losses[counted].mean() / math.log(2))[None],
        from_the_first_counted, up_to_the_last_counted, weighted_means_of_rows,
        means_of_rows_that_count, in_float16, with_0_69, first_row_s_mask, last_places_only,
        median_of_bytes,
    ],
    "long-window-test": [
        one_text_from_100, counts_alone, window_3_alone, one_query, first_query_of_several,
        nothing_after_a_query, asserts_a_list,
    ],
    "long-reach": [
        windows_times_layers, for_the_last_token_only, products_the_other_way_round,
        own_news_in_the_first_layer_only, two_layers_only, as_floats, counted_from_the_nearest,
    ],
}  # fmt: skip
