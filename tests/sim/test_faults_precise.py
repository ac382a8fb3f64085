"""Faults name the block, the thread, the lane, the line and the address; both engines name the same."""

from __future__ import annotations

import re

import pytest
from helpers.bench import bench
from helpers.launch import interpret, prepare, run

from tinygpu.isa.errors import FaultError, TinygpuError

HEAD = """
    .kernel k(A: ptr.u32, n: u32, far: u64)
    .shared s: u32[64]
    .local l: u32[8]
    .arg A = zeros(64), n = 5, far = 0x123456789abc0
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    setp.eq.u32 mine, t, 37
    mov.u64 a, A
    mov.u32 o, 0
    """

# name: (what lane 5 of warp 1 does, words of the core's fault)
FAULTS = {
    "global load outside": ("@mine add.u64 a, a, 256\nbad: ld.global.u32 x, [a]", "outside every allocation"),
    "global load before": ("@mine sub.u64 a, a, 4\nbad: ld.global.u32 x, [a]", "outside every allocation"),
    "global store across the end": (
        "@mine add.u64 a, a, 252\n@mine add.u64 a, a, 4\nbad: st.global.u32 [a], t",
        "outside",
    ),
    "global wide across the end": (
        "@mine add.u64 a, a, 256\nbad: ld.global.v4.u32 {x, y, z, w}, [a]",
        "outside",
    ),
    "global atomic outside": (
        "@mine add.u64 a, a, 4096\nbad: red.global.add.u32 [a], 1",
        "outside every allocation",
    ),
    "a pointer into nowhere": ("@mine mov.u64 a, far\nbad: ld.global.u32 x, [a]", "outside every allocation"),
    "null": ("@mine mov.u64 a, 0\nbad: st.global.u32 [a], t", "outside every allocation"),
    "global halfword": ("@mine add.u64 a, a, 1\nbad: ld.global.u16 x, [a]", "not aligned to the 2"),
    "global word": ("@mine add.u64 a, a, 2\nbad: st.global.u32 [a], t", "not aligned to the 4"),
    "global double": ("@mine add.u64 a, a, 4\nbad: ld.global.u64 x, [a]", "not aligned to the 8"),
    "global vector": (
        "@mine add.u64 a, a, 8\nbad: ld.global.v4.u32 {x, y, z, w}, [a]",
        "not aligned to the 16",
    ),
    "global atomic": ("@mine add.u64 a, a, 4\nbad: atom.global.add.u64 x, [a], 1", "not aligned to the 8"),
    "shared load outside": (
        "@mine mov.u32 o, 256\nbad: ld.shared.u32 x, [s + o]",
        "outside the block's 256 bytes",
    ),
    "shared store outside": ("@mine mov.u32 o, 248\nbad: st.shared.v2.u32 [s + o + 8], {t, b}", "256 bytes"),
    "shared before": ("@mine mov.u32 o, 0xfffffffc\nbad: ld.shared.u32 x, [s + o]", "256 bytes"),
    "shared word": ("@mine mov.u32 o, 2\nbad: ld.shared.u32 x, [s + o]", "not aligned to the 4"),
    "shared atomic": ("@mine mov.u32 o, 1\nbad: atom.shared.add.u32 x, [s + o], 1", "not aligned to the 4"),
    "local outside": ("@mine mov.u32 o, 32\nbad: ld.local.u32 x, [l + o]", "outside the thread's 32 bytes"),
    "local halfword": ("@mine mov.u32 o, 3\nbad: st.local.u16 [l + o], t", "not aligned to the 2"),
    "parameter outside": ("@mine mov.u32 o, 24\nbad: ld.param.u32 x, [o]", "outside the 24 bytes"),
    "parameter word": ("@mine mov.u32 o, 2\nbad: ld.param.u32 x, [o]", "not aligned to the 4"),
    "trap": ("bad: @mine trap", "trap"),
    "a return to nowhere": ("mov.u32 o, 8\n@mine mov.u32 o, 999\nbad: ret o", "999"),
}


@pytest.mark.parametrize("policy", ["stack", "independent"])
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_is_precise(name: str, policy: str) -> None:
    body, words = FAULTS[name]
    text = HEAD + body + "\nbar.sync 0\nexit"
    launch = prepare(text, (3, 2), 64)
    line = launch.program.instructions[launch.program.labels["bad"]].source_line
    assert line is not None
    with pytest.raises(FaultError) as caught:
        run(launch, bench({"divergence.policy": policy}))
    message = str(caught.value)
    assert words in message
    assert f"test.s:{line.line}" in message
    assert re.search(r"thread \(37, 0, 0\)", message) and "lane 5" in message
    assert re.search(r"block \([012], [01], 0\)", message)
    with pytest.raises(FaultError) as reference:
        interpret(launch)
    assert f"test.s:{line.line}" in str(reference.value)
    assert "thread (37, 0, 0)" in str(reference.value) and "lane 5" in str(reference.value)


def test_the_lowest_lane_of_several_is_named() -> None:
    text = HEAD + "setp.gt.u32 mine, t, 11\n@mine add.u64 a, a, 4096\nld.global.u32 x, [a]\nexit"
    with pytest.raises(FaultError, match=r"thread \(12, 0, 0\).*lane 12"):
        run(text)


def test_threads_are_named_in_three_dimensions() -> None:
    text = "mov.u32 y, %tid.y\nmov.u32 z, %tid.z\nadd.u32 x, y, z\nsetp.eq.u32 p, x, 3\n@p trap\nexit"
    with pytest.raises(FaultError, match=r"thread \(0, 2, 1\)"):
        run(text, block=(4, 3, 2))


@pytest.mark.parametrize("when", ["first", "late"])
def test_a_fault_stops_the_launch_wherever_the_others_are(when: str) -> None:
    """One block faults while others sleep, wait for memory or stand at barriers: it ends at once."""
    text = (
        HEAD
        + """
        setp.eq.u32 bad, b, 4
        @bad bra fails
        ld.global.u32 x, [A]
        nanosleep 400000
        bar.sync 0
        exit
        fails: nanosleep {}
        mov.u64 a, 8
        ld.global.u32 x, [a]
        exit""".format(1 if when == "first" else 5000)
    )
    with pytest.raises(FaultError) as caught:
        run(text, grid=6, block=64)
    cycle = int(re.findall(r"cycle (\d+)", str(caught.value))[0])
    assert cycle < 700 if when == "first" else 5000 < cycle < 5700


def test_reading_and_writing_the_last_byte_is_legal() -> None:
    text = """
        .kernel k(A: ptr.u8)
        .shared s: u8[7]
        .local l: u8[3]
        .arg A = zeros(5)
        mov.u32 x, 255
        st.global.u8 [A + 4], x
        st.shared.u8 [s + 6], x
        st.local.u8 [l + 2], x
        exit"""
    assert list(run(text, block=1).outputs["A"]) == [0, 0, 0, 0, 255]
    for line, place in (("st.global.u8 [A + 5], x", "[A + 5]"), ("st.shared.u8 [s + 7], x", "[s + 7]"),
                        ("st.local.u8 [l + 3], x", "[l + 3]")):  # fmt: skip
        broken = text.replace("exit", line + "\nexit")
        with pytest.raises(TinygpuError) as caught:
            run(broken, block=1)
        assert place in str(caught.value)
