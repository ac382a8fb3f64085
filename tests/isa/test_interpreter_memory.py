"""Loads, stores and atomics in the reference interpreter: widths, spaces, limits, faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from by_hand import at, ins, p, r, run, special

from tinygpu.isa.errors import FaultError, InputError
from tinygpu.isa.interpreter import Memory
from tinygpu.isa.program import Instruction

BASE = 0x7000
PATTERN = bytes(range(0x80, 0xA0))


def one(*instructions: Instruction, data: Any = None, **options: Any) -> tuple[list[int], bytes]:
    """Run one thread on 32 bytes of memory at BASE; gives its registers and the bytes afterwards."""
    buffer = bytearray(PATTERN) if data is None else data
    result = run(*instructions, block=1, memory=Memory([(BASE, buffer, "data")]), **options)
    return result.registers[0, 0].tolist(), bytes(buffer)


@pytest.mark.parametrize(
    ("name", "offset", "words"),
    [
        ("ld.global.s8", 1, [0xFFFFFF81]), ("ld.global.u8", 1, [0x81]), ("ld.global.b8", 1, [0x81]),
        ("ld.global.s16", 2, [0xFFFF8382]), ("ld.global.u16", 2, [0x8382]), ("ld.global.b16", 2, [0x8382]),
        ("ld.global.f16", 2, [0x8382]), ("ld.global.bf16", 2, [0x8382]), ("ld.global.s32", 4, [0x87868584]),
        ("ld.global.f32", 4, [0x87868584]), ("ld.global.f16x2", 4, [0x87868584]),
        ("ld.global.u64", 8, [0x8B8A8988, 0x8F8E8D8C]), ("ld.global.f64", 8, [0x8B8A8988, 0x8F8E8D8C]),
        ("ld.global.v2.f32", 8, [0x8B8A8988, 0x8F8E8D8C]),
        ("ld.global.v4.b32", 16, [0x93929190, 0x97969594, 0x9B9A9998, 0x9F9E9D9C]),
        ("ld.global.v2.f64", 16, [0x93929190, 0x97969594, 0x9B9A9998, 0x9F9E9D9C]),
        ("ld.global.b128", 16, [0x93929190, 0x97969594, 0x9B9A9998, 0x9F9E9D9C]),
        ("ld.global.ca.u32", 0, [0x83828180]), ("ld.global.cg.u32", 0, [0x83828180]),
        ("ld.global.cs.u32", 0, [0x83828180]), ("ld.global.volatile.u32", 0, [0x83828180]),
    ],
)  # fmt: skip
def test_loads_of_every_width(name: str, offset: int, words: list[int]) -> None:
    registers, _ = one(ins("mov.b64", r(8, 2), BASE), ins(name, r(0, len(words)), at(r(8, 2), offset)))
    assert registers[:4] == words + [0] * (4 - len(words))


@pytest.mark.parametrize(
    ("name", "offset", "stored"),
    [
        ("st.global.s8", 3, "44"), ("st.global.b16", 2, "4433"), ("st.global.f32", 4, "44332211"),
        ("st.global.u64", 8, "4433221188776655"), ("st.global.v2.u32", 8, "4433221188776655"),
        ("st.global.v4.f32", 16, "4433221188776655ccbbaa99000feedd"),
        ("st.global.b128", 16, "4433221188776655ccbbaa99000feedd"),
        ("st.global.v2.s64", 0, "4433221188776655ccbbaa99000feedd"), ("st.global.cs.u8", 31, "44"),
    ],
)  # fmt: skip
def test_stores_of_every_width(name: str, offset: int, stored: str) -> None:
    words = (0x11223344, 0x55667788, 0x99AABBCC, 0xDDEE0F00)
    count = max(len(stored) // 8, 1)
    _, after = one(
        *(ins("mov.b32", r(i), w) for i, w in enumerate(words)),
        ins("mov.b64", r(8, 2), BASE), ins(name, at(r(8, 2), offset), r(0, count)),
    )  # fmt: skip
    size = len(stored) // 2
    assert after == PATTERN[:offset] + bytes.fromhex(stored) + PATTERN[offset + size :]


def test_a_negative_offset_and_the_zero_register() -> None:
    registers, after = one(
        ins("mov.b64", r(8, 2), BASE + 8), ins("ld.global.u32", r(0), at(r(8, 2), -8)),
        ins("st.global.u64", at(r(8, 2)), r(255, 2)), ins("ld.global.u32", r(255), at(r(8, 2))),
    )  # fmt: skip
    assert registers[0] == 0x83828180
    assert after[8:16] == bytes(8)


def test_shared_memory_belongs_to_the_block_and_local_to_the_thread() -> None:
    result = run(
        ins("s2r.u32", r(0), special("tid.x")),
        ins("s2r.u32", r(1), special("ctaid.x")),
        ins("shl.b32", r(2), r(0), 2),
        ins("mad.lo.u32", r(3), r(1), 100, r(0)),
        ins("st.shared.u32", at(r(2)), r(3)),
        ins("st.local.u32", at(r(255), 4), r(3)),
        ins("bar.sync", 0),
        ins("xor.b32", r(4), r(2), 4),
        ins("ld.shared.u32", r(5), at(r(4))),
        ins("ld.local.v2.u32", r(6, 2), at(None)),
        block=4, grid=2, shared=16, local=8,
    )  # fmt: skip
    assert result.registers[:, :, 5].tolist() == [[1, 0, 3, 2], [101, 100, 103, 102]]
    assert result.registers[:, :, 7].tolist() == [[0, 1, 2, 3], [100, 101, 102, 103]]
    assert not result.registers[:, :, 6].any()


def test_arrays_of_any_type_are_changed_in_place() -> None:
    values = np.arange(4, dtype=np.float32)
    one(ins("mov.b64", r(0, 2), BASE), ins("st.global.f32", at(r(0, 2), 8), 0x3F000000), data=values)
    assert values.tolist() == [0, 1, 0.5, 3]


@pytest.mark.parametrize(
    ("name", "address", "reason", "hint"),
    [
        ("ld.global.u32", BASE + 2, r"misaligned 4-byte load: global address 0x7002 is no multiple of 4", ""),
        ("ld.global.v4.f32", BASE + 8, r"misaligned 16-byte load: global address 0x7008", ""),
        ("ld.global.u16", BASE + 1, r"misaligned 2-byte load", ""),
        ("ld.global.u64", BASE + 28, r"8-byte load of global address 0x701c lies", "byte 28"),
        ("ld.global.u8", BASE + 32, r"1-byte load of global address 0x7020 lies", "data (32 bytes at"),
        ("ld.global.u8", BASE - 1, r"lies outside of every allocation", "data begins 1 bytes further"),
        ("ld.global.u32", 0, r"global address 0x0 lies outside", "data begins 28672 bytes further"),
    ],
)  # fmt: skip
def test_bad_global_loads(name: str, address: int, reason: str, hint: str) -> None:
    words = 4 if "v4" in name else 2 if "64" in name else 1
    with pytest.raises(FaultError, match=reason) as caught:
        one(ins("nop"), ins(name, r(0, words), at(None, address)))
    text = str(caught.value)
    assert text.startswith("hand.s:2:1: error:") and "block (0, 0, 0), warp 0 lane 0" in text
    assert hint in text


def test_the_faulting_lane_is_named() -> None:
    data = np.zeros(35, np.uint32)
    with pytest.raises(FaultError, match=r"thread \(35, 0, 0\) of block \(1, 0, 0\), warp 1 lane 3"):
        run(
            ins("s2r.u32", r(0), special("tid.x")),
            ins("s2r.u32", r(1), special("ctaid.x")),
            ins("setp.eq.u32", p(0), r(1), 1),
            ins("mad.wide.u32", r(2, 2), r(0), 4, BASE),
            ins("st.global.u32", at(r(2, 2)), r(0), guard=p(0)),
            block=40, grid=2, memory=Memory([(BASE, data, "data")]),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        (ins("ld.shared.u32", r(0), at(None, 16)), "shared address 0x10 lies outside of the space"),
        (ins("st.shared.u32", at(None, 2), 0), "misaligned 4-byte store: shared address 0x2"),
        (ins("ld.shared.u8", r(0), at(None, -1)), "shared address 0xffffffff lies outside"),
        (ins("st.local.u64", at(None, 8), 0), "local address 0x8 lies outside"),
        (ins("ld.param.u32", r(0), at(None, 8)), "param address 0x8 lies outside"),
        (ins("ld.const.u32", r(0), at(None, 6)), "const address 0x6 lies outside"),
        (ins("atom.shared.add.u32", r(0), at(None, 6), 1), "misaligned 4-byte"),
        (ins("red.global.add.u64", at(None, BASE + 4), 1), "misaligned 8-byte"),
    ],
)  # fmt: skip
def test_bad_accesses_of_other_spaces(instruction: Instruction, reason: str) -> None:
    with pytest.raises(FaultError, match=reason):
        one(instruction, shared=16, local=8, parameters=bytes(8))


def test_a_lane_whose_guard_fails_cannot_fault() -> None:
    registers, _ = one(ins("ld.global.u32", r(0), at(None, 3), guard=p(0)))
    assert registers[0] == 0


def test_read_only_memory_and_overlaps() -> None:
    with pytest.raises(FaultError, match="4-byte store to read-only memory at 0x7000"):
        one(ins("st.global.u32", at(None, BASE), 1), data=bytes(8))
    with pytest.raises(InputError, match="allocations a and b overlap"):
        Memory([(8, bytearray(8), "b"), (0, bytearray(9), "a")])
    with pytest.raises(FaultError, match="lies outside") as caught:
        run(ins("ld.global.u8", r(0), at(None, 0)), block=1)
    assert "no allocation at all" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "b", "new"),
    [
        ("add.u32", 0xFFFFFFFF, 1, 0), ("add.s32", 5, 0xFFFFFFFE, 3),
        ("add.f32", 0x3F800000, 0x40000000, 0x40400000),
        ("min.s32", 0xFFFFFFFF, 0, 0xFFFFFFFF), ("min.u32", 0xFFFFFFFF, 0, 0),
        ("max.s32", 0xFFFFFFFF, 0, 0), ("max.u32", 0xFFFFFFFF, 0, 0xFFFFFFFF),
        ("inc.u32", 3, 4, 4), ("inc.u32", 4, 4, 0), ("inc.u32", 9, 4, 0),
        ("dec.u32", 3, 4, 2), ("dec.u32", 0, 4, 4), ("dec.u32", 9, 4, 4),
        ("and.b32", 0xFF00FF00, 0x0FF00FF0, 0x0F000F00), ("or.b32", 1, 0x80000000, 0x80000001),
        ("xor.b32", 0xFFFFFFFF, 1, 0xFFFFFFFE), ("exch.b32", 5, 6, 6),
        ("add.u64", 0xFFFFFFFFFFFFFFFF, 1, 0), ("add.s64", 0xFFFFFFFF, 1, 0x100000000),
        ("add.f64", 0x3FF0000000000000, 0x3FF0000000000000, 0x4000000000000000),
        ("min.u64", 1 << 63, 1, 1), ("min.s64", 1 << 63, 1, 1 << 63), ("max.u64", 1 << 63, 1, 1 << 63),
        ("max.s64", 1 << 63, 1, 1), ("and.b64", 3 << 62, 1 << 63, 1 << 63),
        ("or.b64", 1 << 63, 1, (1 << 63) + 1),
        ("xor.b64", 1 << 63, 1 << 63, 0), ("exch.b64", 1 << 40, 7, 7),
    ],
)  # fmt: skip
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_give_the_old_value_and_store_the_new_one(
    space: str, name: str, old: int, b: int, new: int
) -> None:
    size = 8 if name.endswith("64") else 4
    words = size // 4
    guards = 0x5A5A5A5A.to_bytes(4, "little")
    base = BASE if space == "global" else 0
    data = bytearray(bytes(8) + old.to_bytes(size, "little") + guards)
    seed = [ins(f"st.{space}.b{8 * size}", at(None, base + 8), old)]
    load = ins(f"ld.{space}.b{8 * size}", r(4, words), at(None, base + 8))
    atomic = ins(f"atom.{space}.{name}", r(0, words), at(None, base + 8), b)
    registers, after = one(*seed, atomic, load, data=data, shared=32)
    assert sum(w << 32 * i for i, w in enumerate(registers[:words])) == old
    assert sum(w << 32 * i for i, w in enumerate(registers[4 : 4 + words])) == new
    assert after[-4:] == guards
    if not name.startswith("exch"):
        reduction = ins(f"red.{space}.{name}", at(None, base + 8), b)
        registers, _ = one(*seed, reduction, load, data=data, shared=32)
        assert sum(w << 32 * i for i, w in enumerate(registers[4 : 4 + words])) == new


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("bits", [32, 64])
def test_compare_and_swap(space: str, bits: int) -> None:
    words, base = bits // 32, BASE if space == "global" else 0
    name = f"atom.{space}.cas.b{bits}"
    result, _ = one(
        ins(f"st.{space}.b{bits}", at(None, base), 1 << bits - 1),
        ins(name, r(0, words), at(None, base), 5, 7),
        ins(name, r(2, words), at(None, base), 1 << bits - 1, 9),
        ins(f"ld.{space}.b{bits}", r(4, words), at(None, base)), shared=16,
    )  # fmt: skip
    values = [sum(w << 32 * i for i, w in enumerate(result[k : k + words])) for k in (0, 2, 4)]
    assert values == [1 << bits - 1, 1 << bits - 1, 9]


def test_lanes_of_one_atomic_act_in_order() -> None:
    counter = np.zeros(1, np.uint32)
    result = run(
        ins("s2r.u32", r(0), special("laneid")),
        ins("atom.global.add.u32", r(1), at(None, BASE), r(0)),
        ins("atom.global.exch.b32", r(2), at(None, BASE), r(0)),
        block=32, memory=Memory([(BASE, counter, "c")]),
    )  # fmt: skip
    assert result.registers[0, :, 1].tolist() == [i * (i - 1) // 2 for i in range(32)]
    assert result.registers[0, :, 2].tolist() == [496, *range(31)]
    assert counter[0] == 31


def test_stores_of_a_warp_to_one_place_leave_the_highest_lane() -> None:
    place = np.zeros(1, np.uint32)
    run(
        ins("s2r.u32", r(0), special("laneid")), ins("st.global.u32", at(None, BASE), r(0)),
        block=20, memory=Memory([(BASE, place, "p")]),
    )  # fmt: skip
    assert place[0] == 19
