"""A memory system on a bench: SMs that only send and receive, and machines made for hand counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from tinygpu.sim import counters, packed, state
from tinygpu.sim.jit import address_of, zeros
from tinygpu.sim.spec import TIMING_CLASSES, MachineSpec, Section, TimingClass
from tinygpu.sim.units import coalesce, l1, l2_places, memory_side, network

# What the memory system reads; every other number of the machine is the least that is allowed.
SECTIONS: dict[str, Any] = {
    "device": {"sms": 2, "clock_mhz": 1000},
    "sm": {"subcores": 4, "unified_bytes": 131072, "carveout_bytes": (0, 65536)},
    "lsu": {"entry_cycles": 3},
    "l1": {
        "enabled": True, "bytes": 131072, "ways": 4, "replacement": "lru", "hit_cycles": 33, "word_cycles": 1,
        "mshrs": 64, "mshr_merges": 8,
    },
    "network": {
        "request_cycles": 20, "response_cycles": 30, "request_packet_cycles": 1, "request_sector_cycles": 1,
        "response_bytes_per_cycle": 64, "outstanding": 512, "acknowledge_bytes": 8, "far_cycles": 100,
    },
    "l2": {
        "slices": 8, "partitions": 2, "near_copies": True, "bytes": 131072, "ways": 8, "replacement": "lru",
        "hit_cycles": 50, "slice_bytes_per_cycle": 64, "mshrs": 32, "atomic_lane_cycles": 2,
        "atomic_sector_cycles": 1, "write_back": True,
    },
    "dram": {
        "channels": 4, "banks": 4, "row_bytes": 1024, "interleave_bytes": 256, "burst_bytes": 32,
        "gigabytes_per_second": 128, "queue_entries": 16, "order": "fr_fcfs", "patience_cycles": 2000,
        "path_ns": 100, "activate_ns": 14, "precharge_ns": 16, "column_ns": 12, "turnaround_ns": 5,
        "refresh_interval_ns": 0, "refresh_ns": 0, "bytes": 1 << 30,
    },
}  # fmt: skip


def least(field: Any) -> Any:
    """The least value that a field of a specification allows."""
    if field.annotation is bool:
        return False
    words = get_args(field.annotation)
    if get_origin(field.annotation) is Literal:
        return words[0]
    return next((rule.ge for rule in field.metadata if hasattr(rule, "ge")), 1)


def filled(model: type[Section], values: dict[str, Any]) -> dict[str, Any]:
    """The values, and the least for every field that they leave out."""
    return {name: values.get(name, least(field)) for name, field in model.model_fields.items()}


def machine(**changes: Any) -> MachineSpec:
    """The bench machine with changes, such as `l2_slices=4` (section, then field).

    At 1000 MHz a nanosecond is a cycle; a DRAM burst lasts one cycle; an unloaded read of one sector
    takes 20 (request) + 50 (slice) + 1 (response, rounded up) + 30 cycles from L2.
    """
    sections = {key: dict(value) for key, value in SECTIONS.items()}
    for name, value in changes.items():
        section = next(key for key in sections if name.startswith(key + "_"))
        assert name[len(section) + 1 :] in sections[section], name
        sections[section][name[len(section) + 1 :]] = value
    parts: dict[str, Any] = {"name": "bench", "title": "bench"}
    for name, field in MachineSpec.model_fields.items():
        if name == "timing":
            parts[name] = {key: filled(TimingClass, {}) for key in TIMING_CLASSES}
        elif isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            parts[name] = filled(field.annotation, sections.get(name, {}))
    return MachineSpec(**parts)


class Rig:
    """SMs with nothing but ports in front of a memory side."""

    def __init__(self, spec: MachineSpec) -> None:
        self.spec = spec
        self.used = 0  # memory instructions made
        self.packed = packed.pack(spec)
        self.memory = memory_side.MemorySide(spec)
        self.sms = zeros(spec.device.sms, state.SM)
        self.code = zeros(1, state.CODE)
        self.profile = zeros(spec.device.sms, state.PROFILE)
        self.devices = zeros(1, state.DEVICE)
        self.device = self.devices[0]
        self.device.sms = address_of(self.sms)
        self.device.memory = self.memory.address
        self.device.code = address_of(self.code)
        self.device.code_count = 1
        self.device.profile = address_of(self.profile)
        self.device.spec = address_of(self.packed)
        self.record = self.packed[0]
        self.code[0].element_bytes = 4
        self.code[0].vector = 1
        self.code[0].dest_predicate = -1
        for number in range(spec.device.sms):
            self.sms[number].number = number
            self.sms[number].l1_sets = spec.sm.unified_bytes // 128 // spec.l1.ways

    def request(
        self, sm: int, kind: int, line: int, sectors: int = 15, time: int = 0, name: int = 0, lanes: int = 1
    ) -> None:
        """Send a request at cycle `time`."""
        entry = self.sms[sm].coalesced[0]
        entry.line, entry.contention, entry.bytes = line, lanes, 32
        network.send(self.sms[sm], self.record, kind, entry, sectors, name, time)

    def operation(self, sm: int, addresses: Sequence[int], mask: int = 0xFFFFFFFF, size: int = 4) -> int:
        """A memory instruction of warp 3 of an SM, through the coalescer; its index."""
        core = self.sms[sm]
        self.used += 1
        op = core.memops[self.used]
        op.warp = 3
        op.mask = mask
        op.address[: len(addresses)] = addresses
        coalesce.coalesce(core, op, size)
        self.code[0].element_bytes = size
        core.warps[3].live = 1
        return self.used

    def load(self, sm: int, index: int, time: int = 0, operator: int = l1.DEFAULT) -> int:
        """Offer a coalesced load to L1 at a cycle."""
        return int(l1.load(self.device, self.sms[sm], self.record, index, operator, time))

    def hear(self, sm: int, until: int = 1 << 40) -> None:
        """Let an SM take its answers that come before a cycle."""
        core = self.sms[sm]
        while core.inbox_count and core.inbox[0].time < until:
            core.now = core.inbox[0].time
            l1.respond(self.device, core, self.record)

    def settle(self, sm: int) -> None:
        """Let the memory side finish and an SM take every answer."""
        self.finish()
        self.hear(sm)

    def advance(self, until: int) -> None:
        """Let the memory side run up to a cycle."""
        memory_side.advance(self.device, self.record, until)

    def finish(self) -> None:
        """Let the memory side run until it is idle."""
        self.advance(1 << 40)
        self.memory.check_idle()

    def answers(self, sm: int) -> list[tuple[int, int, int, int, int]]:
        """(cycle, kind, name, sectors, level) of every response in an SM's inbox, by time and order."""
        box = self.sms[sm].inbox[: self.sms[sm].inbox_count]
        found = []
        for time, order in sorted((int(entry.time), int(entry.order)) for entry in box):
            what = (network.kind_of(order), network.name_of(order))
            found.append((time, *what, network.sectors_of(order), network.level_of(order)))
        return found

    def device_counter(self, name: str) -> int:
        """A device-wide counter by its name."""
        return int(self.device.counters[counters.DEVICE_NAMES.index(name)])

    def counter(self, sm: int, name: str) -> int:
        """A counter of an SM by its name."""
        return int(self.sms[sm].counters[counters.NAMES.index(name)])


def lines_with_home(rig: Rig, partition: int, count: int, start: int = 0) -> list[int]:
    """The first `count` line numbers from `start` whose home is in a partition."""
    each = rig.spec.l2.slices // rig.spec.l2.partitions
    found: list[int] = []
    line = start
    while len(found) < count:
        if l2_places.home_slice(rig.record, line) // each == partition:
            found.append(line)
        line += 1
    return found
