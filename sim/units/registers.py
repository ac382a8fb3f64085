"""A warp's registers: where a row lies, how results are merged under a mask, and bank conflicts.

Each bank of a sub-core delivers `reads_per_cycle` operands a cycle, and an instruction has
`window_cycles` to collect its own (Huerta et al., MICRO 2025), so a conflict costs only when the
backlog of a bank outgrows the window. A reuse slot keeps an operand of the previous instruction of
the same warp at the same operand position.
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..rows import blend_row, copy_row, expand_mask, fill_row
from ..state import NEVER, ROW_BYTES

FULL = 0xFFFFFFFF
OUTPUT_ROW = 0  # scratch rows 0-3: a result before it is merged
PREDICATE_ROW = 4  # scratch rows 4-7: a predicate source, spread to one word a lane


@core
def scratch(sm: Any, row: int) -> int:
    """Address of a scratch row of the SM."""
    return sm.scratch.ctypes.data + row * ROW_BYTES


@core
def register_row(sm: Any, warp: Any, register: int) -> int:
    """Address of the row of 32 lanes of one register."""
    return sm.registers.ctypes.data + (warp.row + register) * ROW_BYTES


@core
def predicate_value(warp: Any, predicate: int, negated: int) -> int:
    """Lanes in which a predicate (or its negation) holds."""
    value = warp.predicates[predicate]
    return (value ^ FULL) if negated else value


@core
def source_row(device: Any, sm: Any, warp: Any, code: Any, i: int) -> int:
    """Address of the row (or consecutive rows) of source `i`."""
    kind = code.source_kind[i]
    if kind == 0:
        return register_row(sm, warp, code.source[i])
    if kind == 1:
        return device.constants + code.source[i] * ROW_BYTES
    row = scratch(sm, PREDICATE_ROW + i)
    expand_mask(row, predicate_value(warp, code.source[i], code.source_negated[i]))
    return row


@core
def write_row(sm: Any, warp: Any, register: int, row: int, mask: int) -> None:
    """Lanes of `mask` of a register take the words of the row at address `row`."""
    target = register_row(sm, warp, register)
    if mask == FULL:
        copy_row(target, row)
    else:
        blend_row(target, row, mask)


@core
def write_predicate(warp: Any, predicate: int, value: int, mask: int) -> None:
    """Lanes of `mask` of a predicate take the bits of `value`."""
    warp.predicates[predicate] = (warp.predicates[predicate] & ~mask) | (value & mask)


@core
def bank_wait(spec: Any, sub: Any, code: Any, slot: int, time: int) -> int:
    """The first cycle in which the instruction can collect its operands in time; `time` if now."""
    rate = spec.register_file_reads_per_cycle
    until = time
    for bank in range(spec.register_file_banks):
        reads = 0
        for i in range(code.source_count):
            reads += bank_reads(spec, sub, code, slot, i, bank)
        if reads:
            # More reads than the window holds wait for an idle bank, not for ever.
            reads = min(reads, spec.register_file_window_cycles * rate)
            first = max(sub.bank_free[bank], time * rate) + reads - spec.register_file_window_cycles * rate
            until = max(until, -((-first) // rate))
    return until


@core
def bank_reads(spec: Any, sub: Any, code: Any, slot: int, i: int, bank: int) -> int:
    """Reads of a bank for source `i`; none when the reuse slot holds it."""
    if code.source_kind[i] != 0:
        return 0
    register = code.source[i]
    if spec.register_file_reuse and sub.reuse_warp == slot and sub.reuse[i] == register:
        return 0
    reads = 0
    for r in range(register, register + code.source_words[i]):
        if r % spec.register_file_banks == bank:
            reads += 1
    return reads


@core
def collect(spec: Any, sub: Any, code: Any, slot: int, time: int) -> None:
    """Take the banks for the operands of an instruction issued at `time`; fill the reuse slots."""
    rate = spec.register_file_reads_per_cycle
    for i in range(code.source_count):
        for bank in range(spec.register_file_banks):
            reads = bank_reads(spec, sub, code, slot, i, bank)
            if reads:
                sub.bank_free[bank] = max(sub.bank_free[bank], time * rate) + reads
    sub.reuse_warp = slot
    for i in range(4):
        keep = i < code.source_count and code.source_kind[i] == 0 and (code.reuse >> i) & 1
        sub.reuse[i] = code.source[i] if keep else NEVER >> 40


@core
def clear_ready(warp: Any, registers: int) -> None:
    """A new warp: every register is ready and nobody reads or writes it."""
    for r in range(registers):
        warp.ready[r] = 0
        warp.producer[r] = 0
        warp.readers[r] = 0
        warp.writers[r] = 0
    for p in range(8):
        warp.predicates[p] = 0
        warp.predicate_ready[p] = 0
        warp.predicate_guard[p] = 0
    warp.predicates[7] = FULL


__all__ = [
    "FULL", "OUTPUT_ROW", "PREDICATE_ROW", "bank_reads", "bank_wait", "clear_ready", "collect", "fill_row",
    "predicate_value", "register_row", "scratch", "source_row", "write_predicate", "write_row",
]  # fmt: skip
