"""What the values of a machine must be to one another; ranges of single values stand in spec.py."""

from __future__ import annotations

from collections.abc import Iterator

from .spec import MachineSpec

LINE_BYTES = 128
WARP_THREADS = 32
Finding = tuple[str, str]  # key path, sentence


def contradictions(spec: MachineSpec) -> list[Finding]:
    """Every pair of values that cannot both be true, at the key of one of them."""
    return [*_threads(spec), *_shared_memory(spec), *_caches(spec), *_memory_path(spec)]


def _threads(spec: MachineSpec) -> Iterator[Finding]:
    sm = spec.sm
    if sm.warps % sm.subcores:
        yield "sm.warps", f"{sm.warps} warps do not spread evenly over {sm.subcores} sub-cores"
    if sm.threads > sm.warps * WARP_THREADS:
        yield "sm.threads", f"{sm.threads} threads are more than {sm.warps} warps have"
    if sm.block_threads > sm.threads:
        yield "sm.block_threads", f"a block of {sm.block_threads} threads does not fit {sm.threads} of an SM"
    if sm.register_unit > sm.registers:
        yield "sm.register_unit", f"is more than all {sm.registers} registers"


def _shared_memory(spec: MachineSpec) -> Iterator[Finding]:
    sm = spec.sm
    if sm.block_shared_bytes + sm.reserved_shared_bytes > sm.shared_bytes:
        yield (
            "sm.block_shared_bytes",
            f"{sm.block_shared_bytes} and {sm.reserved_shared_bytes} reserved are more than "
            f"the {sm.shared_bytes} of an SM",
        )
    sizes = sm.carveout_bytes
    if not sizes or list(sizes) != sorted(set(sizes)) or sizes[0] < 0:
        yield "sm.carveout_bytes", "should be sizes in ascending order"
    elif sizes[-1] != sm.shared_bytes:
        yield "sm.carveout_bytes", f"the largest should be shared_bytes ({sm.shared_bytes}), not {sizes[-1]}"
    if sm.unified_bytes and sm.shared_bytes > sm.unified_bytes:
        yield "sm.unified_bytes", f"shared_bytes ({sm.shared_bytes}) is a part of it"


def _caches(spec: MachineSpec) -> Iterator[Finding]:
    front, l1 = spec.front_end, spec.l1
    if front.line_bytes % front.instruction_bytes:
        yield "front_end.line_bytes", f"should be whole instructions of {front.instruction_bytes} bytes"
    if l1.enabled and not spec.sm.unified_bytes and l1.bytes < LINE_BYTES * l1.ways:
        yield "l1.bytes", f"should hold a set of {l1.ways} lines of {LINE_BYTES} bytes"


def _memory_path(spec: MachineSpec) -> Iterator[Finding]:
    """Data cannot be there before the instruction has left its queue."""
    entry = spec.lsu.entry_cycles
    for key, cycles in (
        ("shared.load_cycles", spec.shared.load_cycles),
        ("shared.atomic_cycles", spec.shared.atomic_cycles),
        ("shared.shuffle_cycles", spec.shared.shuffle_cycles),
        ("l1.hit_cycles", spec.l1.hit_cycles),
    ):
        if cycles <= entry:
            yield key, f"should be more than lsu.entry_cycles ({entry}), not {cycles}"
