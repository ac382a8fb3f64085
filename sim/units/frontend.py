"""Instruction supply: a warp's buffer, the sub-core's L0 cache, the SM's L1, prefetch of next lines.

An instruction is asked for when its place in the buffer becomes free, and is there `refill_cycles`
later if its line is in L0. So straight code runs at full rate while the buffer holds at least as
many instructions as the fetch takes cycles. A jump empties the buffer. A line that is used for the
first time asks for the lines after it, like a stream buffer.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..state import BUFFER


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
def line_ready(device: Any, sm: Any, spec: Any, sub: Any, pc: int, time: int, jumped: bool) -> int:
    """The cycle at which the line of the instruction at `pc`, wanted at `time`, is in L0."""
    lines = spec.front_end_line_bytes // spec.front_end_instruction_bytes
    line = pc // lines
    place = line % spec.front_end_l0_lines
    if sub.l0_tag[place] != line + 1:
        sm.counters[C.INSTRUCTION_L0_MISSES] += 1
        request_line(sm, spec, sub, line, time)
    ready = sub.l0_ready[place]
    if jumped or pc % lines == 0:
        last = (device.code_count - 1) // lines
        for ahead in range(line + 1, min(line + spec.front_end_prefetch_lines, last) + 1):
            if sub.l0_tag[ahead % spec.front_end_l0_lines] != ahead + 1:
                request_line(sm, spec, sub, ahead, time)
    return ready


@core
def refill(device: Any, sm: Any, spec: Any, sub: Any, warp: Any, asked: int, start: int) -> None:
    """Fill the empty buffer from the warp's pc on: lines are asked for at `asked`, decoded from `start`."""
    for ahead in range(spec.front_end_buffer_entries):
        pc = warp.pc + ahead
        if pc < device.code_count:
            ready = line_ready(device, sm, spec, sub, pc, asked, ahead == 0)
            warp.buffer[pc % BUFFER] = max(ready, start)
    warp.fetch_until = warp.buffer[warp.pc % BUFFER]


@core
def follow(device: Any, sm: Any, spec: Any, sub: Any, warp: Any, old: int, time: int) -> None:
    """The warp has issued instruction `old` and goes on at its pc."""
    if warp.pc != old + 1:
        refill(device, sm, spec, sub, warp, time, warp.wait_until + spec.front_end_refill_cycles)
        return
    pc = old + spec.front_end_buffer_entries
    if pc < device.code_count:
        ready = line_ready(device, sm, spec, sub, pc, time, False)
        warp.buffer[pc % BUFFER] = max(ready, time + spec.front_end_refill_cycles)
    warp.fetch_until = warp.buffer[warp.pc % BUFFER]
