"""Occupancy against examples worked out by hand with the rules of the CUDA occupancy calculator."""

from __future__ import annotations

import pytest

from tinygpu.isa.errors import LaunchError
from tinygpu.sim import machinefile
from tinygpu.sim.occupancy import Occupancy, carveout, occupancy
from tinygpu.sim.spec import MachineSpec

SPECS = {name: machinefile.load(name).spec for name in ("h200", "v100", "a6000", "tiny")}


def of(machine: str, threads: int, registers: int, shared: int = 0) -> Occupancy:
    return occupancy(SPECS[machine], threads, registers, shared)


def test_one_block_of_a_thousand_threads_on_an_a6000() -> None:
    # The shared-memory matmul of siboehm's worklog: 1024 threads, 37 registers, 8 KB a block.
    # 1536 threads hold one block: 32 of 48 warps. 37 * 32 = 1184 registers a warp are rounded to 1280.
    found = of("a6000", 1024, 37, 8192)
    assert (found.blocks, found.warps, found.max_warps) == (1, 32, 48)
    assert found.fraction == pytest.approx(2 / 3)
    assert found.registers_per_warp == 1280
    assert found.limits == {
        "blocks": 16,
        "warps": 1,  # 48 / 32
        "threads": 1,  # 1536 / 1024
        "registers": 1,  # 65536 / (32 * 1280)
        "shared memory": 11,  # 102400 / (8192 + 1024)
    }
    assert found.limiters == ("warps", "threads", "registers")
    assert found.next_step == "blocks of other sizes: 2 blocks of 32 warps are too many for an SM"


def test_the_same_kernel_on_an_h200_is_limited_by_registers() -> None:
    found = of("h200", 1024, 37, 8192)
    assert (found.blocks, found.warps, found.fraction) == (1, 32, 0.5)
    assert found.limits["warps"] == found.limits["threads"] == 2
    assert found.limiters == ("registers",)
    assert found.next_step == "2 blocks an SM need 32 registers a thread instead of 37"


def test_thirty_two_registers_give_the_next_step_that_was_promised() -> None:
    found = of("h200", 1024, 32, 8192)
    assert (found.blocks, found.fraction, found.next_step) == (2, 1.0, "")
    assert found.limiters == ("warps", "threads", "registers")


@pytest.mark.parametrize(
    ("registers", "per_warp", "blocks"),
    [
        (1, 256, 32),  # 256 threads: 8 warps; 65536 / (8 * 256) = 32, but 64 warps hold 8 blocks
        (32, 1024, 8),
        (33, 1280, 6),  # 65536 / (8 * 1280) = 6.4
        (40, 1280, 6),
        (41, 1536, 5),
        (64, 2048, 4),
        (128, 4096, 2),
        (255, 8192, 1),
    ],
)
def test_registers_come_in_units_of_256_a_warp(registers: int, per_warp: int, blocks: int) -> None:
    found = of("h200", 256, registers)
    assert found.registers_per_warp == per_warp
    assert found.limits["registers"] == 65536 // (8 * per_warp)
    assert found.blocks == min(blocks, 8)


@pytest.mark.parametrize(
    ("threads", "warps", "rounded"), [(1, 1, 4), (32, 1, 4), (33, 2, 4), (128, 4, 4), (160, 5, 8)]
)
def test_warps_of_a_block_are_rounded_to_four_for_registers(threads: int, warps: int, rounded: int) -> None:
    found = of("h200", threads, 64)
    assert found.block_warps == warps
    assert found.limits["registers"] == 65536 // (rounded * 2048)
    assert found.limits["warps"] == 64 // warps
    assert found.warps == found.blocks * warps


def test_blocks_limit_small_ones() -> None:
    found = of("h200", 32, 8)
    assert (found.blocks, found.warps, found.limiters) == (32, 32, ("blocks",))
    assert found.next_step == "blocks of other sizes: 33 blocks of 1 warp are too many for an SM"


def test_shared_memory_reserves_a_kilobyte_a_block() -> None:
    # 3 stages of 16 KB: 49152 + 1024 = 50176; 233472 / 50176 = 4.65. One byte more than 4 allow: 3.
    assert of("h200", 128, 32, 49152).blocks == 4
    assert of("h200", 128, 32, 233472 // 4 - 1024).blocks == 4
    found = of("h200", 128, 32, 233472 // 4 - 1024 + 1)
    assert (found.blocks, found.limiters) == (3, ("shared memory",))
    assert found.block_shared_bytes == 233472 // 4 + 128  # handed out in units of 128
    assert "4 blocks an SM need 57344 bytes of shared memory a block instead of" in found.next_step


def test_the_next_step_of_shared_memory_is_one() -> None:
    assert of("h200", 128, 32, 57344).blocks == 4
    assert of("h200", 128, 32, 57344 + 1).blocks == 3


def test_two_limiters_at_once_are_both_named() -> None:
    # 512 threads: 16 warps with 48 registers: 1536 a warp, 24576 a block: 2. 100 KB: 2.
    found = of("h200", 512, 48, 102400)
    assert (found.blocks, found.limiters) == (2, ("registers", "shared memory"))
    assert found.next_step == (
        "3 blocks an SM need 40 registers a thread instead of 48 and "
        "76800 bytes of shared memory a block instead of 102400"
    )
    assert of("h200", 512, 40, 76800).blocks == 3


def test_the_largest_block_of_shared_memory_fits_once() -> None:
    assert of("h200", 1024, 32, 232448).blocks == 1
    with pytest.raises(LaunchError) as caught:
        of("h200", 1024, 32, 232449)
    assert caught.value.message == "232,449 bytes of shared memory in a block; h200 has 232,448 at most"


@pytest.mark.parametrize(
    ("machine", "threads", "registers", "shared", "size"),
    [
        ("h200", 256, 32, 0, 8192),  # 8 blocks, a kilobyte reserved for each
        ("h200", 1024, 32, 0, 8192),  # 2 blocks
        ("h200", 256, 32, 2048, 32768),  # 8 * 3072 = 24576: the next larger one
        ("h200", 256, 32, 7168, 65536),  # 8 * 8192: exactly
        ("h200", 256, 32, 7169, 102400),  # 8 * 8320 = 66560
        ("h200", 64, 32, 232448, 233472),
        ("v100", 256, 32, 0, 0),  # nothing reserved before Ampere
        ("v100", 256, 32, 12288, 98304),
        ("tiny", 64, 16, 0, 16384),  # apart from L1
    ],
)
def test_the_carve_out_is_the_smallest_that_holds_the_blocks(
    machine: str, threads: int, registers: int, shared: int, size: int
) -> None:
    assert of(machine, threads, registers, shared).carveout_bytes == size


def test_a_carve_out_beyond_the_list_is_the_whole() -> None:
    assert carveout(SPECS["h200"], 233472) == 233472
    assert carveout(SPECS["h200"], 0) == 0


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "message"),
    [
        (1025, 32, 0, "1,025 threads in a block; h200 has 1,024 at most"),
        (32, 256, 0, "256 registers a thread; h200 has 255 at most"),
        (0, 32, 0, "a block needs at least one thread"),
        (1024, 72, 0, "no block fits an SM of h200: 73,728 registers needed, 65,536 there"),
    ],
)
def test_a_launch_that_does_not_fit_says_what_is_needed(
    threads: int, registers: int, shared: int, message: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        of("h200", threads, registers, shared)
    assert caught.value.message == message


def test_the_hint_tells_what_would_help() -> None:
    with pytest.raises(LaunchError) as caught:
        of("tiny", 512, 16)
    assert caught.value.message == "512 threads in a block; tiny has 256 at most"
    assert caught.value.hint == "smaller blocks, and more of them"


def test_warps_can_limit_before_threads() -> None:
    spec: MachineSpec = machinefile.load("h200", ["sm.warps=32", "sm.threads=1024"]).spec
    found = occupancy(spec, 33, 16, 0)  # 2 warps of which one has a single thread
    assert (found.limits["warps"], found.limits["threads"]) == (16, 31)
    assert found.limiters == ("warps",)


def test_json_holds_all_of_it() -> None:
    facts = of("h200", 256, 33).to_json()
    assert facts["fraction"] == 0.75 and facts["blocks"] == 6 and facts["limiters"] == ["registers"]
    assert facts["limits"]["warps"] == 8


@pytest.mark.parametrize("machine", list(SPECS))
@pytest.mark.parametrize("threads", [1, 31, 32, 33, 96, 128, 255, 256])
@pytest.mark.parametrize("registers", [1, 17, 40])
@pytest.mark.parametrize("shared", [0, 1, 3000])
def test_resident_blocks_never_exceed_any_resource(
    machine: str, threads: int, registers: int, shared: int
) -> None:
    sm = SPECS[machine].sm
    found = of(machine, threads, registers, shared)
    assert 1 <= found.blocks <= sm.blocks
    assert found.blocks * threads <= sm.threads
    assert found.warps == found.blocks * -(-threads // 32) <= sm.warps
    assert found.warps * found.registers_per_warp <= sm.registers
    assert found.blocks * (shared + sm.reserved_shared_bytes) <= found.carveout_bytes <= sm.shared_bytes
    assert min(found.limits.values()) == found.blocks
