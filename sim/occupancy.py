"""Occupancy: how many blocks of a launch fit an SM, what limits them, and what the next step up needs.

The rules are those of NVIDIA's occupancy calculator: registers are handed out a warp in units, a
block's warps are rounded up, shared memory is carved out of the L1 in steps.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..isa.errors import LaunchError
from .spec import MachineSpec

SHARED_UNIT = 128  # bytes in which shared memory is handed out to a block


@dataclass(frozen=True)
class Occupancy:
    """blocks and warps resident on one SM; `limits` gives the blocks that each resource allows."""

    blocks: int
    warps: int
    max_warps: int
    limits: dict[str, int]
    limiters: tuple[str, ...]
    next_step: str
    carveout_bytes: int
    block_warps: int
    registers_per_warp: int
    block_shared_bytes: int

    @property
    def fraction(self) -> float:
        """Resident warps as a share of the SM's."""
        return self.warps / self.max_warps

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the fraction."""
        return {**asdict(self), "limiters": list(self.limiters), "fraction": self.fraction}


def round_up(value: int, unit: int) -> int:
    """The next multiple of `unit`."""
    return -(-value // unit) * unit


def occupancy(spec: MachineSpec, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """The occupancy of blocks of `threads` threads with `registers` registers a thread.

    shared_bytes: static shared memory of a block. Raises LaunchError when not even one block fits.
    """
    _check(spec, threads, registers, shared_bytes)
    sm = spec.sm
    warps = -(-threads // 32)
    per_warp = round_up(max(registers, 1) * 32, sm.register_unit)
    shared = round_up(shared_bytes + sm.reserved_shared_bytes, SHARED_UNIT)
    limits = {
        "blocks": sm.blocks,
        "warps": sm.warps // warps,
        "threads": sm.threads // threads,
        "registers": sm.registers // (per_warp * round_up(warps, sm.warp_unit)),
        "shared memory": sm.shared_bytes // shared if shared else sm.blocks,
    }
    blocks = min(limits.values())
    _refuse(blocks, limits, spec, per_warp, warps, shared)
    limiters = tuple(n for n, limit in limits.items() if limit == blocks and (shared or n != "shared memory"))
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        max_warps=sm.warps,
        limits=limits,
        limiters=limiters,
        next_step=_next_step(spec, blocks, warps, shared, registers, limiters),
        carveout_bytes=carveout(spec, blocks * shared),
        block_warps=warps,
        registers_per_warp=per_warp,
        block_shared_bytes=shared,
    )


def _check(spec: MachineSpec, threads: int, registers: int, shared_bytes: int) -> None:
    """Limits of one block, whatever else is resident."""
    sm = spec.sm
    if threads < 1:
        raise LaunchError("a block needs at least one thread")
    rows = (
        ("threads in a block", threads, sm.block_threads, "smaller blocks, and more of them"),
        ("registers a thread", registers, sm.thread_registers, "fewer values that are needed at a time"),
        ("bytes of shared memory in a block", shared_bytes, sm.block_shared_bytes, "smaller tiles"),
    )
    for name, wanted, most, hint in rows:
        if wanted > most:
            raise LaunchError(f"{wanted:,} {name}; {spec.name} has {most:,} at most", hint=hint)


def _refuse(
    blocks: int, limits: dict[str, int], spec: MachineSpec, per_warp: int, warps: int, shared: int
) -> None:
    """Say why not even one block is resident."""
    if blocks > 0:
        return
    name = next(key for key, limit in limits.items() if limit == 0)
    needs = {
        "warps": (warps, spec.sm.warps),
        "threads": (warps * 32, spec.sm.threads),
        "registers": (per_warp * round_up(warps, spec.sm.warp_unit), spec.sm.registers),
        "shared memory": (shared, spec.sm.shared_bytes),  # bytes
    }
    wanted, available = needs.get(name, (1, 0))
    raise LaunchError(
        f"no block fits an SM of {spec.name}: {wanted:,} {name} needed, {available:,} there",
        hint="smaller blocks, and more of them" if name != "shared memory" else "smaller tiles",
    )


def carveout(spec: MachineSpec, shared: int) -> int:
    """The smallest shared-memory carve-out that holds the resident blocks; the rest is L1."""
    if not spec.sm.unified_bytes:
        return spec.sm.shared_bytes
    return min((size for size in spec.sm.carveout_bytes if size >= shared), default=spec.sm.shared_bytes)


def _next_step(
    spec: MachineSpec, blocks: int, warps: int, shared: int, registers: int, limiters: tuple[str, ...]
) -> str:
    """What one more block an SM would need, in words; empty when the SM is full."""
    sm, wanted = spec.sm, blocks + 1
    if wanted * warps > sm.warps or wanted * warps * 32 > round_up(sm.threads, 32) or wanted > sm.blocks:
        if blocks * warps == sm.warps:
            return ""
        size = "1 warp" if warps == 1 else f"{warps} warps"
        return f"blocks of other sizes: {wanted} blocks of {size} are too many for an SM"
    needs = []
    if "registers" in limiters:
        per_warp = sm.registers // (wanted * round_up(warps, sm.warp_unit))
        most = per_warp // sm.register_unit * sm.register_unit // 32
        needs.append(f"{most} registers a thread instead of {registers}")
    if "shared memory" in limiters:
        most = sm.shared_bytes // wanted // SHARED_UNIT * SHARED_UNIT - sm.reserved_shared_bytes
        needs.append(f"{most} bytes of shared memory a block instead of {shared - sm.reserved_shared_bytes}")
    return f"{wanted} blocks an SM need " + " and ".join(needs)
