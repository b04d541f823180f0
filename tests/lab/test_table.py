"""What a table of positions is made of, and what the study of a released one changes."""

import pytest
import torch

from course_lab.instruments import tables
from course_lab.studies import table as study
from course_lib.encodings import sinusoidal_encoding


def draw(seed=0):
    return torch.Generator().manual_seed(seed)


def waves(rows=128, lengths=(8.0, 32.0), dim=12):
    """Exact waves in random directions, and a mean row."""
    places = torch.arange(rows, dtype=torch.float64)[:, None]
    angles = 2 * torch.pi * places / torch.tensor(lengths, dtype=torch.float64)
    mixed, _ = torch.linalg.qr(torch.randn(dim, dim, generator=draw(), dtype=torch.float64))
    found = torch.cat([angles.cos(), angles.sin()], dim=1)
    return found @ mixed[: found.shape[1]] + mixed[-1]


def test_two_waves_have_four_directions_and_two_peaks():
    shares, power = tables.shares(waves()), tables.power(waves())
    assert torch.allclose(shares[:4], torch.tensor(0.25).double(), atol=1e-6)
    assert shares[4:].sum() < 1e-9 and sorted(power.topk(2).indices.tolist()) == [4, 16]


def test_a_sine_and_its_cosine_turn_one_way_and_others_do_not():
    pair = tables.pair(waves(), 6, 10)
    assert pair.wavelength == pytest.approx(8) and pair.share == pytest.approx(0.5)
    assert pair.flat == pytest.approx(1) and pair.one_way == pytest.approx(1)
    noise = torch.randn(128, 12, generator=draw())
    assert tables.pair(noise, 3, 10).one_way < 0.75 and tables.pair(noise, 3, 10).flat < 0.6


def test_a_matrix_moves_waves_and_neither_noise_nor_rows_in_another_order():
    noise = torch.randn(128, 12, generator=draw())
    for by in (1, 5):
        assert tables.left_after_shift(waves(), by) < 1e-6
        for other in (noise, tables.shuffled(waves(), draw())):
            assert 0.9 < tables.left_after_shift(other, by) < 1.3
    assert tables.left_if_unmoved(waves(lengths=(8.0,)), 4) == pytest.approx(4, rel=0.2)
    assert tables.left_if_unmoved(waves(lengths=(8.0,)), 8) < 1e-9
    with pytest.raises(ValueError, match="blocks have 16 rows, and none stands 16 after another"):
        tables.left_after_shift(waves(), 16)


def test_tables_beside_it_keep_what_they_say_and_nothing_else():
    table = sinusoidal_encoding(torch.arange(96), 16)
    one, other = (tables.of_same_spectrum(table, draw(seed)) for seed in range(2))
    assert torch.allclose(tables.shares(one), tables.shares(table), atol=1e-6)
    assert torch.allclose(one.mean(dim=0), table.double().mean(dim=0), atol=1e-6)
    assert not torch.allclose(one, other, atol=0.1)
    moved = tables.with_other_phases(table, draw())
    assert torch.allclose(tables.power(moved), tables.power(table), atol=1e-6)
    assert not torch.allclose(moved, table.double(), atol=0.1)
    mixed = tables.shuffled(table, draw())
    assert sorted(mixed.tolist()) == sorted(table.tolist()) and not torch.equal(mixed, table)


def test_a_long_row_stands_out_among_its_neighbours():
    table = torch.nn.functional.normalize(torch.randn(60, 8, generator=draw()), dim=-1)
    table *= 1 + 0.01 * torch.randn(60, 1, generator=draw(1))
    table[20] *= 2
    found = tables.standing_out(table)
    assert found.abs().argmax() == 20 and found[20] > 30 and found.abs().median() < 1


def test_level_tables_lack_a_part_and_keep_the_rest():
    table = torch.cat([torch.zeros(1, 12), waves().float()])
    pair = tables.pair(table[1:], 6, 10).directions
    less, alone = tables.without(table, pair), tables.only(table, pair)
    mean = table[1:].double().mean(dim=0)
    assert torch.allclose(less[1:] + alone[1:] - mean, table[1:].double(), atol=1e-6)
    assert tables.pair(less[1:], 6, 10).share < 1e-6
    assert tables.pair(alone[1:], 6, 10).share == pytest.approx(1, abs=1e-6)


# The study ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tokens():
    return study.passage("typing, middle")


def test_passages_are_different_and_of_one_length(tokens):
    found = [study.passage(name) for name in study.PASSAGES]
    assert len({tuple(one.tolist()) for one in found}) == len(found) == 12
    assert all(len(one) == 128 and one[[0, -1]].tolist() == [101, 102] for one in found)


def test_one_thing_is_changed():
    table, places = study.changed("begins at 100", draw())
    assert torch.equal(table, study._model().table) and places[[0, -1]].tolist() == [100, 227]
    assert sorted(study.changed("shuffled", draw())[1].tolist()) == [*range(128)]
    assert study.changed("reversed", draw())[1].tolist() == [*range(127, -1, -1)]
    whole = tables.shares(table[1:])[:10].sum()
    for setting in ("without pair 0", "without two of the ten"):
        less, places = study.changed(setting, draw())
        assert places.tolist() == [*range(128)]
        lost = (
            1 - tables.centred(less[1:]).square().sum() / tables.centred(table[1:]).square().sum()
        )
        assert 0.1 < lost < 0.3 < whole


def test_positions_beyond_the_table_get_a_row_in_three_ways():
    table = study._model().table
    for way, row in (("clamped", 511), ("wrapped", 88)):
        rows, places = study.lengthened(way, 601)
        assert torch.equal(rows, table) and places[600] == row and places[5] == 5
    rows, places = study.lengthened("interpolated", 1023)
    assert torch.allclose(rows[::2], table, atol=1e-6) and places[1022] == 1022
    assert torch.equal(study.lengthened("interpolated", 512)[0], table)


def test_heads_look_where_the_model_s_own_attention_does(tokens):
    from transformers import AutoModel

    from course_lab.released.installed import MINILM, installed

    folder = installed(MINILM).parent
    theirs = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        wanted = torch.cat(theirs(tokens[None], output_attentions=True).attentions)
    assert torch.allclose(study.looks(study._model(), tokens, torch.arange(128)), wanted, atol=1e-5)


def test_what_was_measured_comes_out_again():
    unit = study.Unit("changed", "begins at 100", "typing, middle")
    [again], stored = study.when_changed(unit).records, study.STUDY.records(**unit._asdict())[0]
    assert abs(again["cosine"] - stored["cosine"]) < 1e-3
