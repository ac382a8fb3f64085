"""Instruction supply: a sub-core's L0 cache, the SM's L1 instruction cache, prefetch of next lines.

The instruction buffer hides a fetch that hits, so only three things delay a warp: a taken branch
(the buffer refills), a line that is not there yet, and a line that must come from L2. A line that
is used for the first time asks for the lines after it, like a stream buffer.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core


@core
def l1_line(sm: Any, spec: Any, line: int, time: int) -> int:
    """The cycle at which the SM's L1 instruction cache has `line`; asks L2 for it when it is not there."""
    place = line % spec.front_end_l1_lines
    if sm.l1i_tag[place] != line + 1:
        sm.l1i_tag[place] = line + 1
        sm.l1i_ready[place] = time + spec.front_end_l1_miss_cycles
        sm.counters[C.INSTRUCTION_L1_MISSES] += 1
    return max(time, sm.l1i_ready[place])


@core
def request_line(sm: Any, spec: Any, sub: Any, line: int, time: int) -> None:
    """Bring `line` into the sub-core's L0; the lines of an SM pass one after another."""
    place = line % spec.front_end_l0_lines
    start = max(time, sm.l1i_free)
    sm.l1i_free = start + spec.front_end_l1_line_interval_cycles
    sub.l0_tag[place] = line + 1
    sub.l0_ready[place] = l1_line(sm, spec, line, start) + spec.front_end_l0_miss_cycles


@core
def fetch(device: Any, sm: Any, spec: Any, sub: Any, warp: Any, pc: int, time: int) -> None:
    """Set when the instruction at `pc` is in the warp's buffer, as its path enters a new line."""
    lines = spec.front_end_line_bytes // spec.front_end_instruction_bytes
    if pc >= device.code_count:
        return
    line = pc // lines
    place = line % spec.front_end_l0_lines
    if sub.l0_tag[place] != line + 1:
        sm.counters[C.INSTRUCTION_L0_MISSES] += 1
        request_line(sm, spec, sub, line, time)
    warp.fetch_until = max(warp.fetch_until, sub.l0_ready[place])
    last = (device.code_count - 1) // lines
    for ahead in range(line + 1, min(line + spec.front_end_prefetch_lines, last) + 1):
        if sub.l0_tag[ahead % spec.front_end_l0_lines] != ahead + 1:
            request_line(sm, spec, sub, ahead, time)


@core
def follow(device: Any, sm: Any, spec: Any, sub: Any, warp: Any, old: int, new: int, time: int) -> None:
    """The warp goes from instruction `old` to `new`; only a jump or a new line costs anything."""
    lines = spec.front_end_line_bytes // spec.front_end_instruction_bytes
    warp.fetch_until = 0
    if new != old + 1:
        warp.fetch_until = warp.wait_until + spec.front_end_refill_cycles
        fetch(device, sm, spec, sub, warp, new, time)
    elif new // lines != old // lines:
        fetch(device, sm, spec, sub, warp, new, time)
