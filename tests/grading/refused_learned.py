"""Wrong answers to the exercises of lesson 04."""

import torch
from torch.nn.functional import interpolate


def rows_for(x, mask, table, positions):
    rows = table[positions.clamp(0, len(table) - 1)] * mask[..., None]
    return x + rows.to(x.dtype)


def check_lengths(lengths, table):
    if lengths.max() > len(table):
        raise ValueError("too long")


def count(mask):
    return mask.long().cumsum(dim=1) - 1


def guard_on_the_first_text(x, mask, table):
    check_lengths(mask[0].sum(), table)
    return rows_for(x, mask, table, count(mask))


def guard_on_the_last_text(x, mask, table):
    check_lengths(mask[-1].sum(), table)
    return rows_for(x, mask, table, count(mask))


def guard_one_too_late(x, mask, table):
    check_lengths(mask.sum(dim=1) - 1, table)
    return rows_for(x, mask, table, count(mask))


def guard_on_the_mean(x, mask, table):
    check_lengths(mask.float().sum(dim=1).mean(), table)
    return rows_for(x, mask, table, count(mask))


def guard_by_assertion(x, mask, table):
    assert mask.sum(dim=1).max() <= len(table)
    return rows_for(x, mask, table, count(mask))


def guard_on_the_last_column(x, mask, table):
    check_lengths(mask.sum(dim=1) * mask[:, -1], table)
    return rows_for(x, mask, table, count(mask))


def counted_in_the_dtype_of_x(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, (mask.to(x.dtype).cumsum(dim=1) - 1).long())


def counted_in_eight_bits(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, (mask.cumsum(dim=1, dtype=torch.int8) - 1).long())


def first_real_token_looked_up(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    first = torch.stack([row.nonzero()[0] for row in mask])
    return rows_for(x, mask, table, torch.arange(mask.shape[1]) - first)


def wider_dtype_comes_back(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return x + table[count(mask).clamp(0, len(table) - 1)] * mask[..., None]


def everything_in_float32(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x.float(), mask, table, count(mask)).to(x.dtype)


def always_float32(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x.float(), mask, table, count(mask))


def rows_in_bfloat16(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table.bfloat16(), count(mask))


def first_mask_for_all(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask[:1]).expand(mask.shape))


def at_most_four_tokens(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask).clamp(max=3))


def padding_becomes_zero(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask)) * mask[..., None]


def aligned(table, new_length, **options):
    return interpolate(table.T[None], mode="linear", align_corners=True, **options)[0].T


def places(table, new_length, where):
    low = where.floor().long().clamp(0, len(table) - 1)
    high = (low + 1).clamp(max=len(table) - 1)
    share = (where - low)[:, None].double()
    return (table[low].double() * (1 - share) + table[high].double() * share).to(table.dtype)


def places_in_the_table_s_dtype(table, new_length):
    where = torch.linspace(0, len(table) - 1, new_length, dtype=table.dtype)
    return places(table, new_length, where)


def places_in_bfloat16(table, new_length):
    where = torch.linspace(0, len(table) - 1, new_length, dtype=torch.bfloat16)
    return places(table, new_length, where)


def by_scale_factor(table, new_length):
    return interpolate(
        table.T[None], scale_factor=new_length / len(table), mode="linear", align_corners=True
    )[0].T


def one_row_returned_unchanged(table, new_length):
    return table if len(table) == 1 else aligned(table, new_length, size=new_length)


def last_row_for_length_1(table, new_length):
    return table[-1:] if new_length == 1 else aligned(table, new_length, size=new_length)


def mean_for_length_1(table, new_length):
    mean = table.mean(dim=0, keepdim=True)
    return mean if new_length == 1 else aligned(table, new_length, size=new_length)


def only_longer(table, new_length):
    return table[:new_length] if new_length < len(table) else aligned(table, 0, size=new_length)


def float64_through_float32(table, new_length):
    return aligned(table.float(), new_length, size=new_length).to(table.dtype)


def always_float32_rows(table, new_length):
    return aligned(table.float(), new_length, size=new_length)


def corners_not_aligned(table, new_length):
    return interpolate(table.T[None], size=new_length, mode="linear")[0].T


def nearest(table, new_length):
    return interpolate(table.T[None], size=new_length)[0].T


def steps_too_short(table, new_length):
    where = torch.arange(new_length) * (len(table) - 1) / new_length
    return places(table, new_length, where.double())


def viewed_instead_of_turned(table, new_length):
    rows = table.reshape(1, table.shape[1], len(table))
    return interpolate(rows, size=new_length, mode="linear", align_corners=True)[0].T


def doubled_rows(table, new_length):
    return table.repeat_interleave(-(-new_length // len(table)), dim=0)[:new_length]


def given(rows=5):
    generator = torch.Generator().manual_seed(5)
    x, table = torch.randn(2, 3, 4, generator=generator), torch.randn(rows, 4, generator=generator)
    return x, torch.tensor([[4, 0, 2], [1, 3, 3]]), table


def rows_are_right(add_rows):
    x, positions, table = given()
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)


def refused(add_rows, positions, error=ValueError):
    x, _, table = given()
    x = x[: len(positions), : len(positions[0])]
    try:
        add_rows(x, torch.tensor(positions), table)
    except error:
        return
    raise AssertionError(f"no error for {positions}")


def any_error_will_do(add_rows):
    rows_are_right(add_rows)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]], error=Exception)


def value_or_index_error(add_rows):
    rows_are_right(add_rows)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]], error=(ValueError, IndexError))


def x_of_zeros(add_rows):
    _, positions, table = given()
    assert torch.allclose(add_rows(torch.zeros(2, 3, 4), positions, table), table[positions])
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])


def both_edges_in_one_call(add_rows):
    rows_are_right(add_rows)
    refused(add_rows, [[5, 0], [-1, 1]])


def first_text_only(add_rows):
    rows_are_right(add_rows)
    for outside in (5, -1):
        refused(add_rows, [[outside], [0]])


def one_text_only(add_rows):
    rows_are_right(add_rows)
    for outside in (5, 6, -1):
        refused(add_rows, [[outside]])


def catches_its_own_assertion(add_rows):
    rows_are_right(add_rows)
    x, _, table = given()
    for outside in (5, -1):
        try:
            add_rows(x[:, :1], torch.tensor([[0], [outside]]), table)
            raise AssertionError("no error")
        except Exception:
            pass


def flag_never_asserted(add_rows):
    rows_are_right(add_rows)
    x, _, table = given()
    for outside in (5, -1):
        raised = False
        try:
            add_rows(x[:, :1], torch.tensor([[0], [outside]]), table)
        except ValueError:
            raised = True
    return raised


def far_from_the_edges(add_rows):
    rows_are_right(add_rows)
    for outside in (100, -100):
        refused(add_rows, [[0], [outside]])


def shapes_only(add_rows):
    x, positions, table = given()
    assert add_rows(x, positions, table).shape == x.shape
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])


def last_row_left_out(add_rows):
    x, positions, table = given()
    positions = positions.clamp(max=3)
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])


def same_positions_in_both_texts(add_rows):
    x, positions, table = given()
    positions = positions[:1].expand(2, 3)
    assert torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)
    for outside in (5, -1):
        refused(add_rows, [[0], [outside]])


def steps(table, new_length, matrix):
    rows = list(table[:new_length])
    while len(rows) < new_length:
        rows.append(rows[-1] @ matrix)
    return torch.stack(rows)


def solved(before, after):
    return torch.linalg.lstsq(before, after).solution


def step_of_two_positions(table, new_length):
    return steps(table, new_length, solved(table[:-2], table[2:]))


def step_of_the_first_rows_alone(table, new_length):
    return steps(table, new_length, solved(table[:2], table[1:3]))


def mean_factor_between_rows(table, new_length):
    return steps(table, new_length, (table[1:].norm() / table[:-1].norm()).expand(1, 1)
                 * torch.eye(table.shape[1], dtype=table.dtype))  # fmt: skip


def mirrored_at_the_end(table, new_length):
    back = torch.cat([table, table.flip(0)[1:-1]])
    return back[torch.arange(new_length) % len(back)]


def everything_computed_from_row_1(table, new_length):
    return steps(table[1:], new_length, solved(table[:-1], table[1:]))


def one_row_too_many(table, new_length):
    return steps(table, new_length + 1, solved(table[:-1], table[1:]))


def sines_of_one_frequency(table, new_length):
    places = torch.arange(new_length)[:, None] * torch.ones(table.shape[1])
    return torch.cat([table, places.sin().double()[len(table) :]])[:new_length]


def at_places(add_rows, places):
    _, positions, _ = given()
    for place in places:
        for bad in (5, 6, -1):
            outside = positions.clone()
            outside[place] = bad
            refused(add_rows, outside.tolist())


def last_column_only(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(0, -1), (1, -1)])


def last_place_only(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(1, 2)])


def never_in_int32(add_rows):
    rows_are_right(add_rows)
    at_places(add_rows, [(text, column) for text in range(2) for column in range(3)])


REFUSED = {
    "learned-continue": [
        step_of_two_positions,
        step_of_the_first_rows_alone,
        mean_factor_between_rows,
        mirrored_at_the_end,
        everything_computed_from_row_1,
        one_row_too_many,
        sines_of_one_frequency,
    ],
    "learned-padded-batch": [
        guard_on_the_first_text,
        guard_on_the_last_text,
        guard_one_too_late,
        guard_on_the_mean,
        guard_by_assertion,
        guard_on_the_last_column,
        counted_in_the_dtype_of_x,
        counted_in_eight_bits,
        first_real_token_looked_up,
        wider_dtype_comes_back,
        everything_in_float32,
        always_float32,
        rows_in_bfloat16,
        first_mask_for_all,
        at_most_four_tokens,
        padding_becomes_zero,
    ],
    "learned-parameters": [
        2048,
        2049 * 1024,
        2047 * 1024,
        2048 * 1023,
        2048 * 1024 * 24,
        2048 * 1024 * 16,
        2048 * 64,
        2048 * 1024 * 2,
        50_257 * 1024,
        (50_257 + 2048) * 1024,
        2048 + 1024,
        2_000_000,
        2_097_160,
    ],
    "learned-stretch": [
        places_in_the_table_s_dtype,
        places_in_bfloat16,
        by_scale_factor,
        one_row_returned_unchanged,
        last_row_for_length_1,
        mean_for_length_1,
        only_longer,
        float64_through_float32,
        always_float32_rows,
        corners_not_aligned,
        nearest,
        steps_too_short,
        viewed_instead_of_turned,
        doubled_rows,
    ],
    "learned-test": [
        last_column_only,
        last_place_only,
        never_in_int32,
        any_error_will_do,
        value_or_index_error,
        x_of_zeros,
        both_edges_in_one_call,
        first_text_only,
        one_text_only,
        catches_its_own_assertion,
        flag_never_asserted,
        far_from_the_edges,
        shapes_only,
        last_row_left_out,
        same_positions_in_both_texts,
    ],
    "learned-alike-untrained": [0.7264, 0.726, 0.69, 0.7, 0.698, 0.6963, 0, 1, 0.5**0.5],
}
