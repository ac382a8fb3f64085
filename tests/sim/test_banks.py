"""Shared-memory wavefronts: the hardware's rule by hand-checked counts and by a second statement of it."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa.errors import InputError
from tinygpu.sim.units.banks import BankCount, bank_conflicts

FULL = 0xFFFFFFFF


# The rule once more, as plainly as it can be said: sets of words for each bank.
def rule(operation: str, width: int, addresses: list[int], mask: int) -> tuple[int, int]:
    """(wavefronts, phases) by the written rule."""
    active = [lane for lane in range(32) if mask >> lane & 1]
    size = width // 8

    def equal(distance: int) -> bool:
        return all(addresses[i] == addresses[i ^ distance] for i in active if i ^ distance in active)

    if operation == "ldmatrix":
        groups = [range(8 * k, 8 * k + 8) for k in range(size // 4)]
    else:
        lanes = {16: 8, 8: 16}.get(size, 32)
        if operation == "load" and size >= 8 and (equal(1) or equal(2)):
            lanes *= 2
        groups = [range(start, start + lanes) for start in range(0, 32, lanes)]
    total = phases = 0
    for group in groups:
        members = [lane for lane in group if lane in active]
        if not members:
            continue
        phases += 1
        words = defaultdict(list)
        for lane in members:
            bytes_ = 16 if operation == "ldmatrix" else size
            for address in range(addresses[lane], addresses[lane] + bytes_, min(4, bytes_)):
                words[address // 4 % 32].append(address // 4)
        counts = (len(w) if operation == "atomic" else len(set(w)) for w in words.values())
        total += max(counts)
    return total, phases


def strided(stride_words: int, width: int) -> list[int]:
    """Lane i at i * stride elements of the width."""
    return [lane * stride_words * width // 8 for lane in range(32)]


# Wavefronts of a 32-bit access at strides 0 to 33, counted by hand: gcd(stride, 32), and 1 for 0.
STRIDES_32 = [1, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1,
              32, 1]  # fmt: skip


@pytest.mark.parametrize("operation", ["load", "store"])
@pytest.mark.parametrize("stride", range(34))
def test_stride_of_words(operation: str, stride: int) -> None:
    count = bank_conflicts(operation, 32, strided(stride, 32))
    assert count == BankCount(STRIDES_32[stride], 1, STRIDES_32[stride] - 1)


# Two phases of 16 lanes: lane i at 8 * stride * i bytes; bank groups of 8 bytes, 16 of them.
@pytest.mark.parametrize(
    ("stride", "load", "store"),
    [
        (0, (1, 1), (2, 2)),  # a broadcast merges the two phases of a load
        (1, (2, 2), (2, 2)),
        (2, (4, 2), (4, 2)),
        (3, (2, 2), (2, 2)),
        (4, (8, 2), (8, 2)),
        (8, (16, 2), (16, 2)),
        (16, (32, 2), (32, 2)),
        (17, (2, 2), (2, 2)),
        (33, (2, 2), (2, 2)),
    ],
)
def test_stride_of_64_bits(stride: int, load: tuple[int, int], store: tuple[int, int]) -> None:
    assert bank_conflicts("load", 64, strided(stride, 64))[:2] == load
    assert bank_conflicts("store", 64, strided(stride, 64))[:2] == store


# Four phases of 8 lanes; bank groups of 16 bytes, 8 of them.
@pytest.mark.parametrize(
    ("stride", "load", "store"),
    [
        (0, (2, 2), (4, 4)),
        (1, (4, 4), (4, 4)),
        (2, (8, 4), (8, 4)),
        (3, (4, 4), (4, 4)),
        (4, (16, 4), (16, 4)),
        (8, (32, 4), (32, 4)),
        (9, (4, 4), (4, 4)),
        (32, (32, 4), (32, 4)),
    ],
)
def test_stride_of_128_bits(stride: int, load: tuple[int, int], store: tuple[int, int]) -> None:
    assert bank_conflicts("load", 128, strided(stride, 128))[:2] == load
    assert bank_conflicts("store", 128, strided(stride, 128))[:2] == store


@pytest.mark.parametrize("width", [8, 16])
def test_lanes_that_share_a_word_share_a_wavefront(width: int) -> None:
    assert bank_conflicts("load", width, strided(1, width)) == (1, 1, 0)
    assert bank_conflicts("store", width, strided(1, width)) == (1, 1, 0)


def test_bytes_of_different_words_in_one_bank_conflict() -> None:
    addresses = [128 * (lane % 2) + lane % 4 for lane in range(32)]
    assert bank_conflicts("load", 8, addresses) == (2, 1, 1)


@pytest.mark.parametrize("distance", [1, 2])
def test_equal_partners_merge_the_phases_of_a_load(distance: int) -> None:
    # 16 distinct 8-byte elements over the whole warp: one phase of 32 lanes.
    rank = [(lane >> 1) if distance == 1 else (lane >> 2) * 2 + (lane & 1) for lane in range(32)]
    addresses = [8 * r for r in rank]
    assert bank_conflicts("load", 64, addresses) == (1, 1, 0)
    assert bank_conflicts("store", 64, addresses) == (2, 2, 0)
    wide = [16 * r for r in rank]
    assert bank_conflicts("load", 128, wide) == (2, 2, 0)
    assert bank_conflicts("store", 128, wide) == (4, 4, 0)


def test_partners_at_distance_four_do_not_merge() -> None:
    addresses = [8 * ((lane >> 3) * 4 + (lane & 3)) for lane in range(32)]
    assert bank_conflicts("load", 64, addresses) == (2, 2, 0)


def test_one_unequal_pair_spoils_the_merge_for_the_whole_warp() -> None:
    addresses = [8 * (lane >> 1) for lane in range(32)]
    addresses[31] = 8 * 16
    assert bank_conflicts("load", 64, addresses) == (2, 2, 0)
    # ... unless one of the two is inactive.
    assert bank_conflicts("load", 64, addresses, FULL & ~(1 << 31)) == (1, 1, 0)
    assert bank_conflicts("load", 64, addresses, FULL & ~(1 << 30)) == (2, 1, 1)


def test_a_merged_phase_can_conflict() -> None:
    # Even lanes of the two halves hit the same bank group with different words.
    addresses = [8 * (lane >> 1) if lane < 16 else 8 * (lane - 16 >> 1) + 128 for lane in range(32)]
    assert bank_conflicts("load", 64, addresses) == (2, 1, 1)


def test_inactive_lanes_do_not_count() -> None:
    column = strided(32, 32)
    assert bank_conflicts("load", 32, column, 0b1011) == (3, 1, 2)
    assert bank_conflicts("load", 32, column, 0) == (0, 0, 0)


def test_a_phase_without_active_lanes_costs_nothing() -> None:
    assert bank_conflicts("store", 64, strided(1, 64), 0xFFFF) == (1, 1, 0)
    assert bank_conflicts("store", 128, strided(1, 128), 0xFF00FF) == (2, 2, 0)


def test_a_row_of_a_16_by_16_tile_is_free_and_its_column_is_not() -> None:
    row = [4 * (lane % 16) + 64 * (lane // 16) for lane in range(32)]
    column = [64 * (lane % 16) + 4 * (lane // 16) for lane in range(32)]
    assert bank_conflicts("load", 32, row) == (1, 1, 0)
    assert bank_conflicts("load", 32, column) == (8, 1, 7)


@pytest.mark.parametrize("lanes", range(1, 33))
def test_shared_atomics_on_one_address_take_one_wavefront_a_lane(lanes: int) -> None:
    assert bank_conflicts("atomic", 32, [64] * 32, (1 << lanes) - 1) == (lanes, 1, lanes - 1)


def test_shared_atomics_of_one_bank_serialise_even_on_different_words() -> None:
    assert bank_conflicts("atomic", 32, [128 * (lane % 2) for lane in range(32)]) == (32, 1, 31)
    assert bank_conflicts("atomic", 32, strided(1, 32)) == (1, 1, 0)
    assert bank_conflicts("atomic", 32, strided(2, 32)) == (2, 1, 1)


# ldmatrix from a tile of rows of 16 f16 (32 bytes): rows of a matrix are 32 bytes apart, so rows 0
# and 4 of eight share banks; with a row pitch of 16 or 144 bytes they do not.
@pytest.mark.parametrize(("pitch", "each"), [(16, 1), (32, 2), (64, 4), (128, 8), (144, 1), (256, 8)])
@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_ldmatrix(pitch: int, each: int, matrices: int) -> None:
    addresses = [pitch * lane for lane in range(32)]
    count = bank_conflicts("ldmatrix", 32 * matrices, addresses)
    assert count == (each * matrices, matrices, (each - 1) * matrices)


def test_published_count_of_ldmatrix_conflicts() -> None:
    # One warp a block, A[16][16] by x4 and B[16][8] by x2 in f16, 1024 cubed: 64 k-steps, 8192 warps.
    a = [32 * (lane % 16) + 16 * (lane // 16) for lane in range(32)]
    b = [16 * (lane % 16) for lane in range(32)]
    conflicts = bank_conflicts("ldmatrix", 128, a).conflicts + bank_conflicts("ldmatrix", 64, b).conflicts
    assert conflicts * 64 * 8192 == 2_097_152
    swizzled = [32 * (lane % 16) + 16 * (lane // 16 ^ lane % 16 >> 2 & 1) for lane in range(32)]
    assert bank_conflicts("ldmatrix", 128, swizzled).conflicts == 0


ELEMENTS = st.lists(st.integers(0, 255), min_size=32, max_size=32)
FEW = st.lists(st.integers(0, 5), min_size=32, max_size=32)
PAIRED = st.lists(st.integers(0, 40), min_size=16, max_size=16).map(lambda h: [h[i // 2] for i in range(32)])
CROSSED = st.lists(st.integers(0, 40), min_size=16, max_size=16).map(
    lambda h: [h[i // 4 * 2 + (i & 1)] for i in range(32)]
)
MASKS = st.one_of(st.just(FULL), st.integers(0, FULL), st.integers(0, 32).map(lambda n: (1 << n) - 1))


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(
        [("load", w) for w in (8, 16, 32, 64, 128)]
        + [("store", w) for w in (8, 16, 32, 64, 128)]
        + [("atomic", 32), ("ldmatrix", 32), ("ldmatrix", 64), ("ldmatrix", 128)]
    ),
    st.one_of(ELEMENTS, FEW, PAIRED, CROSSED),
    MASKS,
)
def test_every_access_follows_the_written_rule(
    access: tuple[str, int], elements: list[int], mask: int
) -> None:
    operation, width = access
    unit = 16 if operation == "ldmatrix" else width // 8
    addresses = [unit * e for e in elements]
    assert bank_conflicts(operation, width, addresses, mask)[:2] == rule(operation, width, addresses, mask)


def test_bad_questions_are_answered_precisely() -> None:
    with pytest.raises(InputError, match="unknown operation 'lod'"):
        bank_conflicts("lod", 32, [0] * 32)
    with pytest.raises(InputError, match="load of 24 bits does not exist"):
        bank_conflicts("load", 24, [0] * 32)
    with pytest.raises(InputError, match="3 addresses for a warp of 32 lanes"):
        bank_conflicts("load", 32, [0, 4, 8])
    with pytest.raises(InputError, match="lane 5: address 6 is not a multiple of 4 bytes"):
        bank_conflicts("load", 32, [0, 4, 8, 12, 16, 6] + [0] * 26)
    # An inactive lane may have any address.
    assert bank_conflicts("load", 32, [0, 4, 8, 12, 16, 6] + [0] * 26, FULL & ~(1 << 5)).wavefronts == 1
