"""The arrays of one simulated device: allocated once, made ready for each launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import pieces
from .jit import address_of, zeros
from .packed import pack
from .spec import MachineSpec
from .state import DEVICE, EVENT, MEMORY_EVENT, NEVER, PROFILE, SM
from .units.memory_side import MemorySide

# Fields of an SM that count or hold what belongs to one launch.
EMPTY_AT_LAUNCH = (
    "counters", "ended_blocks", "launched", "lsu_blocked",
    "memop_count", "memop_top", "lsu_turn",
)  # fmt: skip

EMPTY_SUBCORE = (
    "warps", "queue_head", "queue_count", "issued", "occupied", "occupied_until", "in_active_set", "l0_tag",
)  # fmt: skip


class MachineState:
    """State of a device that lasts over its launches: SMs, caches, DRAM, the clock."""

    def __init__(self, spec: MachineSpec, notice: Callable[[str], None] | None = None) -> None:
        """Allocate for a machine, and compile the core if need be (`notice` is told).

        Pages are taken only when they are used.
        """
        self.spec = spec
        self.packed = pack(spec)
        self.sms = zeros(spec.device.sms, SM)
        self.device = zeros(1, DEVICE)
        self.memory = MemorySide(spec)
        self.profile: NDArray[Any] = zeros(1, PROFILE)
        self.events: NDArray[Any] = zeros(1, EVENT)
        self.memory_events: NDArray[Any] = zeros(1, MEMORY_EVENT)
        self.local: NDArray[np.uint8] = zeros(1, np.uint8)
        self.allocation_names: list[tuple[str, int, int]] = []  # name, address, bytes: to explain faults
        self.sms["number"] = np.arange(spec.device.sms)
        row = self.device[0]
        row.spec = address_of(self.packed)
        row.sms = address_of(self.sms)
        row.memory = self.memory.address
        pieces.install(row, notice)

    def prepare(self, instructions: int, shared_carveout: int, local_bytes: int) -> None:
        """Empty what belongs to one launch: statistics, warps, queues, the L1 caches."""
        spec, sms, row = self.spec, self.sms, self.device[0]
        self.profile = zeros(spec.device.sms * instructions, PROFILE)
        self.local = zeros(spec.device.sms * spec.sm.warps * 32 * max(local_bytes, 1), np.uint8)
        row.profile, row.local = address_of(self.profile), address_of(self.local)
        for name in EMPTY_AT_LAUNCH:
            sms[name] = 0
        sms["memop_free"] = -1
        sms["lsu_next"], sms["next"], sms["now"] = NEVER, NEVER, row.now
        sms["block_free_at"] = row.now
        sms["drained"] = row.now
        sms["warps"]["used"] = 0
        sms["blocks"]["used"] = 0
        self._prepare_subcores()
        self._prepare_l1(shared_carveout)
        self.memory.begin_launch()
        for name in ("counters", "event_count", "memory_event_count", "dropped", "next_block", "done_blocks",
                     "stale_shuffles"):  # fmt: skip
            row[name] = 0
        row.fault[0].kind = 0
        row.started = row.now
        row.launches += 1

    def _prepare_subcores(self) -> None:
        subcores = self.sms["subcores"]
        for name in EMPTY_SUBCORE:
            subcores[name] = 0
        subcores["next"], subcores["wake"], subcores["last"] = NEVER, NEVER, -1
        subcores["reuse_warp"] = -1

    def _prepare_l1(self, shared_carveout: int) -> None:
        spec, sms = self.spec, self.sms
        size = spec.sm.unified_bytes - shared_carveout if spec.sm.unified_bytes else spec.l1.bytes
        sms["l1_sets"] = max(size, 0) // (128 * spec.l1.ways) if spec.l1.enabled else 0
        sms["l1i_tag"][:, : spec.front_end.l1_lines] = 0

    def trace(self, events: int, sms: int, window: tuple[int, int]) -> None:
        """Room for a trace of the first `sms` SMs in the window of cycles (from the launch)."""
        row = self.device[0]
        row.tracing = int(events > 0)
        row.trace_sms = sms
        row.trace_from, row.trace_until = row.started + window[0], min(row.started + window[1], NEVER)
        self.events, self.memory_events = (
            zeros(max(events, 1), EVENT),
            zeros(max(events // 4, 1), MEMORY_EVENT),
        )
        row.events, row.memory_events = address_of(self.events), address_of(self.memory_events)
        row.event_limit, row.memory_event_limit = len(self.events), len(self.memory_events)
