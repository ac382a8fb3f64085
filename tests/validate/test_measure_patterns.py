"""Address patterns: enough of them, aligned, reproducible, and as their names say."""

import pytest

from tinygpu.validate.measure import patterns_global as pg
from tinygpu.validate.measure import patterns_shared as ps


def by_name(rows):
    return {row.name: row for row in rows}


def test_there_are_at_least_300_shared_and_150_global_patterns():
    assert len(ps.every_pattern()) == 490
    assert len(pg.every_pattern()) == 230


@pytest.mark.parametrize("module", [ps, pg])
@pytest.mark.parametrize("width", ps.WIDTHS)
def test_patterns_are_aligned_complete_and_uniquely_named(module, width):
    rows = module.patterns(width)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.width == width
        assert len(row.offsets) == 32
        assert 1 <= row.active <= 32
        assert all(o == -1 or (o >= 0 and o % (width // 8) == 0) for o in row.offsets), row.name


@pytest.mark.parametrize("width", ps.WIDTHS)
def test_shared_patterns_fit_their_limit(width):
    assert max(o for row in ps.patterns(width) for o in row.offsets) < ps.LIMIT


@pytest.mark.parametrize("width", pg.WIDTHS)
def test_global_patterns_fit_64_kilobytes(width):
    assert max(o for row in pg.patterns(width) for o in row.offsets) < 65536


def test_all_strides_from_0_to_33_are_there():
    rows = by_name(ps.patterns(32))
    for s in range(34):
        assert rows[f"stride_{s}"].offsets == tuple(4 * s * i for i in range(32))


def test_permutations_are_permutations():
    for k in range(3):
        assert sorted(by_name(ps.patterns(64))[f"permutation_{k}"].offsets) == [8 * i for i in range(32)]


def test_masks_are_ragged_as_named():
    rows = by_name(ps.patterns(32))
    assert rows["first_5_stride_2"].offsets[:6] == (0, 8, 16, 24, 32, -1)
    assert rows["first_5_stride_2"].active == 5
    assert rows["odd_stride_1"].offsets[:4] == (-1, 4, -1, 12)
    assert rows["upper_stride_1"].offsets[15:17] == (-1, 64)


def test_patterns_are_the_same_every_time():
    assert ps.patterns(16) == ps.patterns(16)
    assert by_name(ps.patterns(32))["random_48"].offsets == by_name(ps.patterns(32))["random_48"].offsets


def test_swizzled_column_is_free_of_conflicts_and_the_plain_one_is_not():
    rows = by_name(ps.patterns(32))
    banks = {o // 4 % 32 for o in rows["xor_column"].offsets}
    assert len(banks) == 32
    assert {o // 4 % 32 for o in rows["stride_32"].offsets} == {0}


def test_conflicts_of_a_degree_put_that_many_lanes_on_bank_zero():
    for degree in (1, 2, 7, 32):
        words = [o // 4 for o in ps.conflicts(degree).offsets]
        assert sum(w % 32 == 0 for w in words) == degree
        assert len(set(words)) == 32
        assert all(sum(w % 32 == bank for w in words) <= 1 for bank in range(1, 32))


@pytest.mark.parametrize("lines", [1, 2, 4, 8, 16, 32])
def test_distinct_lines_touch_that_many(lines):
    pattern = pg.distinct_lines(lines, 4)
    assert len({o // 128 for o in pattern.offsets}) == lines
    assert len(set(pattern.offsets)) == 32


def test_shifted_row_touches_a_fifth_sector():
    row = by_name(pg.patterns(32))["shifted_1"]
    assert len({o // 32 for o in row.offsets}) == 5


def test_matrix_rows_are_aligned_to_their_16_bytes():
    for row in ps.matrix_rows():
        assert row.active == 32
        assert all(o % 16 == 0 for o in row.offsets)
