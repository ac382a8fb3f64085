"""The end of warps and blocks: slots, fences and occupancy while data is still on its way."""

from __future__ import annotations

from helpers.bench import bench
from helpers.launch import run

CONFLICTED = """
.shared buffer: u32[1024]
mov.u32 i, %laneid
shl.b32 at, i, 7
st.shared.u32 [buffer + at], i
exit
"""


def test_a_slot_is_not_given_away_before_its_warp_has_ended() -> None:
    """Blocks of one warp end with a store of 32 wavefronts on its way: `assert_laws` looks at the slots."""
    spec = bench({"sm.warps": 8, "sm.blocks": 4, "device.block_start_cycles": 1, "device.sms": 1})
    outcome = run(CONFLICTED, spec, grid=60)
    assert outcome.counters["blocks"] == 60


def test_schedulers_are_never_busy_longer_than_the_run() -> None:
    spec = bench({"sm.warps": 8, "sm.blocks": 4, "device.block_start_cycles": 1, "device.sms": 1})
    raw = run(CONFLICTED, spec, grid=60).raw
    assert raw.schedulers["empty"] >= 0
    assert sum(raw.schedulers.values()) == raw.cycles * 4


def test_a_fence_waits_for_data_that_is_on_its_way() -> None:
    """A shared load is done for the queue long before its data is there; the fence waits for the data."""
    text = """
    .shared buffer: u32[32]
    load: ld.shared.u32 x, [buffer]
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    fence: fence.cta
    after: nop
    exit
    """
    outcome = run(text, bench({"shared.load_cycles": 200}))
    assert outcome.gap("load", "after") == 200


def test_a_wide_local_access_counts_all_its_sectors() -> None:
    text = """
    .local buffer: b64[4]
    mov.u64 x, 7
    wide: st.local.b64 [buffer], x
    mov.u32 y, 7
    word: st.local.b32 [buffer + 8], y
    exit
    """
    outcome = run(text)
    profile = outcome.raw.profile
    sectors = {name: int(profile[outcome.program.labels[name]]["sectors"]) for name in ("wide", "word")}
    assert sectors == {"wide": 8, "word": 4}
