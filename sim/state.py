"""All state of the machine: a handful of record types, no objects in the hot path.

Sizes are maxima (spec.py), so that one compiled core serves every machine; pages that a machine
does not use are never touched. Times are SM cycles in int64 unless a name says ticks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import counters
from .jit import record_at
from .spec import MAX_BLOCKS, MAX_PIPES, MAX_SUBCORES, MAX_WARPS


def field_offset(dtype: np.dtype[Any], name: str) -> int:
    """Byte offset of a field of a record."""
    fields = dtype.fields
    assert fields is not None
    return int(fields[name][1])


NEVER = 1 << 62  # later than any time that a run reaches
LANES = 32
REGISTERS = 256  # registers a warp can name; 255 is the zero register
PREDICATES = 8
ROW_BYTES = LANES * 4  # one register of a warp: 32 lanes of 4 bytes
SM_ROWS = 65536 // LANES  # register rows of an SM
BUFFER = 16  # most entries of a warp's instruction buffer
QUEUE = 8  # most entries of a sub-core's memory queue
INBOX = 4096
L1_LINES_MAX = 4096
MSHRS_MAX = 1024
MSHR_BUCKETS = 1024  # a power of two
WAITERS_MAX = 4096
PENDING_MAX = 2048
OUTBOX = 4096  # a ring of as many as may be unanswered
SHARED_BYTES = 262144
L0_LINES_MAX = 256
L1I_LINES_MAX = 4096
BARRIERS = 16

# Warp states: every warp is in exactly one in every cycle (law 1). The words are Nsight Compute's.
STATES = (
    "selected", "not_selected", "wait", "no_instruction", "branch_resolving", "long_scoreboard",
    "short_scoreboard", "math_pipe_throttle", "mio_throttle", "lg_throttle", "dispatch_stall",
    "barrier", "membar", "sleeping", "drain", "misc",
)  # fmt: skip
(
    SELECTED, NOT_SELECTED, WAIT, NO_INSTRUCTION, BRANCH_RESOLVING, LONG_SCOREBOARD,
    SHORT_SCOREBOARD, MATH_PIPE_THROTTLE, MIO_THROTTLE, LG_THROTTLE, DISPATCH_STALL,
    BARRIER, MEMBAR, SLEEPING, DRAIN, MISC,
) = range(len(STATES))  # fmt: skip

SPLIT = np.dtype(
    [
        ("pc", "i8"),
        ("mask", "i8"),
        ("group", "i8"),  # convergence group that it will arrive at, -1 for none
        ("barrier", "i8"),  # barrier that it waits at, -1 when it can run
    ],
    align=True,
)

GROUP = np.dtype(
    [
        ("mask", "i8"),  # lanes that have to come; 0: free
        ("arrived", "i8"),
        ("pc", "i8"),  # where they come together
        ("parent", "i8"),
    ],
    align=True,
)

FREE, RUNNING, RETIRED = range(3)  # values of `used` of a warp slot

WARP = np.dtype(
    [
        ("used", "i8"),  # FREE; RUNNING; RETIRED: its block still holds the slot
        ("pc", "i8"),  # of the path that runs
        ("active", "i8"),  # lanes of the path that runs; 0 when none can
        ("live", "i8"),  # lanes that exist and have not exited
        ("block", "i8"),  # slot of its block
        ("number", "i8"),  # warp of the block
        ("row", "i8"),  # first register row
        ("rows", "i8"),
        ("slot", "i8"),
        ("group", "i8"),  # convergence group of the path that runs, -1 for none
        ("join_pc", "i8"),  # where that group comes together, -1 for none
        ("fence", "i8"),  # waits for its stores to be acknowledged
        ("since", "i8"),  # first cycle not yet booked to a state
        ("wait_until", "i8"),  # own stall of the last instruction ends
        ("wait_state", "i8"),  # state booked until then: WAIT, BRANCH_RESOLVING, MEMBAR, SLEEPING
        ("buffer", "i8", (BUFFER,)),  # by pc: when an instruction of the buffer is there
        ("fetch_until", "i8"),  # next instruction is in the buffer
        ("depend_until", "i8"),  # operands are ready; NEVER while a response is out
        ("depend_state", "i8"),
        ("age", "i8"),  # launch order in the SM
        ("memory_until", "i8"),  # data of completed memory instructions is there
        ("stores_out", "i8"),  # stores and reductions not yet acknowledged by L2
        ("polls", "i8"),
        ("spins", "i8"),  # polls since anything changed, for the watchdog
        ("spun_at", "i8"),  # device.progress at the last of them
        ("split_count", "i8"),
        ("memory_out", "i8"),  # memory instructions not completed
        ("splits", SPLIT, (LANES,)),
        ("groups", GROUP, (LANES,)),
        ("predicates", "i8", (PREDICATES,)),
        ("predicate_ready", "i8", (PREDICATES,)),
        ("predicate_guard", "i8", (PREDICATES,)),  # ready for the guard of branch, memory, exit, vote
        ("predicate_state", "i8", (PREDICATES,)),  # how a wait for it is called
        ("ready", "i8", (REGISTERS,)),  # cycle in which a same-pipe ALU consumer may issue
        ("producer", "u1", (REGISTERS,)),  # pipe of the producer + 1, or a state for variable latency
        ("readers", "u1", (REGISTERS,)),  # memory instructions that have yet to read it
        ("writers", "u1", (REGISTERS,)),  # memory instructions that have yet to write it
    ],
    align=True,
)

# A memory instruction on its way from issue to completion.
MEMOP = np.dtype(
    [
        ("used", "i8"),
        ("warp", "i8"),
        ("pc", "i8"),
        ("mask", "i8"),
        ("issued", "i8"),
        ("dispatched", "i8"),
        ("ready", "i8"),  # completion as known so far
        ("remaining", "i8"),  # lines still to come
        ("level", "i8"),  # deepest level that served it: 1 L1, 2 L2, 3 far L2, 4 DRAM
        ("dest", "i8"),  # first destination register, -1 for none
        ("words", "i8"),
        ("sectors", "i8"),
        ("wavefronts", "i8"),
        ("next", "i8"),  # free list
        ("address", "i8", (LANES,)),
    ],
    align=True,
)

BARRIER_STATE = np.dtype(
    [
        ("arrived", "i8"),  # threads
        ("expected", "i8"),  # threads; 0: every live thread of the block
        ("pc", "i8"),  # where the first of this generation arrived, -1 for none
        ("warps", "i8"),
        ("first", "i8"),
        ("last", "i8"),
    ],
    align=True,
)

BLOCK = np.dtype(
    [
        ("used", "i8"),
        ("number", "i8"),  # linear block id
        ("x", "i8"),
        ("y", "i8"),
        ("z", "i8"),
        ("warps", "i8"),
        ("live_warps", "i8"),
        ("live_threads", "i8"),
        ("ended", "i8"),
        ("shared", "i8"),  # byte offset of its shared memory
        ("shared_bytes", "i8"),
        ("barriers", BARRIER_STATE, (BARRIERS,)),
    ],
    align=True,
)

SUBCORE = np.dtype(
    [
        ("next", "i8"),  # next cycle in which it has something to decide
        ("warps", "i8"),
        ("last", "i8"),  # warp that issued last, -1 for none
        ("port_free", "i8"),
        ("pipe_free", "i8", (MAX_PIPES,)),
        ("bank_free", "i8", (8,)),
        ("reuse", "i8", (4,)),  # register kept in the reuse slot of each operand position
        ("reuse_warp", "i8"),
        ("queue", "i8", (QUEUE,)),  # memory operations waiting for dispatch
        ("queue_head", "i8"),
        ("queue_count", "i8"),
        ("dispatch_free", "i8"),
        ("issued", "i8"),
        ("occupied", "i8"),  # cycles with a resident warp
        ("occupied_since", "i8"),
        ("occupied_until", "i8"),  # last end of a warp
        # Of each of its warps (slot // sub-cores): what the scheduler looks at in every cycle.
        ("wake", "i8", (MAX_WARPS,)),  # first cycle in which the next instruction could issue
        ("state", "i8", (MAX_WARPS,)),  # booked from wake on: NOT_SELECTED or a throttle
        ("in_active_set", "i8", (MAX_WARPS,)),
        ("l0_tag", "i8", (L0_LINES_MAX,)),  # line number + 1; direct mapped
        ("l0_ready", "i8", (L0_LINES_MAX,)),
    ],
    align=True,
)

# A line that L1 waits for. Entry 0 is never used: a link of 0 is "none".
MSHR = np.dtype(
    [
        ("line", "i8"),  # line number
        ("asked", "i8"),  # sectors requested
        ("came", "i8"),
        ("waiters", "i8"),  # first waiter
        ("count", "i8"),  # waiters
        ("next", "i8"),  # of its hash bucket, or of the free list
        ("bypass", "i8"),  # not to be kept in L1, and no other request may join
    ],
    align=True,
)

# A memory instruction that waits for `sectors` of a line. Entry 0 is never used.
WAITER = np.dtype([("memop", "i8"), ("sectors", "i8"), ("next", "i8")], align=True)

# One line of a coalesced warp access.
COALESCED = np.dtype(
    [
        ("line", "i8"),  # line number: address / 128
        ("lanes", "i8"),  # mask of the lanes that touch it
        ("sectors", "i8"),  # bit i: sector i is touched
        ("bytes", "i8"),  # written at most
        ("contention", "i8"),  # most lanes on one address; filled for atomics
    ],
    align=True,
)

# A message from an SM to L2; `bytes` is the store data of the line.
REQUEST = np.dtype(
    [
        ("time", "i8"),  # arrival at the slice, in ticks
        ("line", "i8"),
        ("sm", "i8"),
        ("kind", "i8"),  # READ, WRITE, ATOMIC (wants an answer), REDUCTION
        ("sectors", "i8"),  # bit i: sector i of the line
        ("id", "i8"),  # MSHR of a read, memop of an atomic, warp slot of the others
        ("lanes", "i8"),  # atomics: most lanes on one address
        ("bytes", "i8"),
    ],
    align=True,
)
READ, WRITE, ATOMIC, REDUCTION = range(4)

# A message from L2 to an SM, kept in a binary heap; network.py packs and unpacks the order.
RESPONSE = np.dtype(
    [
        ("time", "i8"),  # arrival at the SM, in cycles
        ("order", "i8"),  # sequence number, then what it answers
    ],
    align=True,
)

SM = np.dtype(
    [
        ("number", "i8"),
        ("now", "i8"),
        ("next", "i8"),
        ("random", "i8"),
        ("launched", "i8"),  # warps launched, for ages
        ("block_free_at", "i8"),
        ("ended_blocks", "i8"),  # blocks whose slot the dispatcher has yet to free
        ("drained", "i8"),  # last cycle in which anything happened
        ("lsu_free", "i8"),  # SM-wide memory pipe, in quarter-cycles
        ("lsu_next", "i8"),  # next cycle in which the pipe could take an instruction
        ("lsu_blocked", "i8"),  # the next instruction waits for an MSHR or the like
        ("lsu_turn", "i8"),  # sub-core served last
        ("port_free", "i8"),  # request port, cycles
        ("response_free", "i8"),  # response port, in ticks (kept by the memory side)
        ("response_sequence", "i8"),  # responses sent (kept by the memory side)
        ("l1i_free", "i8"),
        ("l1_sets", "i8"),
        ("l1_clock", "i8"),
        ("memop_free", "i8"),  # freed records, linked by `next`; -1 for none
        ("memop_top", "i8"),  # records never used start here
        ("memop_count", "i8"),
        ("mshr_free", "i8"),
        ("mshr_count", "i8"),
        ("mshr_fresh", "i8"),  # entries that were ever used; the rest is not in the free list
        ("waiter_free", "i8"),
        ("waiter_count", "i8"),
        ("waiter_fresh", "i8"),
        ("coalesced_lines", "i8"),
        ("coalesced_sectors", "i8"),
        ("requests_out", "i8"),  # not yet answered by L2
        ("outbox_head", "i8"),  # oldest entry of the ring, which the memory side takes next
        ("outbox_count", "i8"),
        ("inbox_count", "i8"),
        ("counters", "i8", (counters.COUNT,)),
        ("subcores", SUBCORE, (MAX_SUBCORES,)),
        ("warps", WARP, (MAX_WARPS,)),
        ("blocks", BLOCK, (MAX_BLOCKS,)),
        ("inbox", RESPONSE, (INBOX,)),
        ("outbox", REQUEST, (OUTBOX,)),
        ("memops", MEMOP, (PENDING_MAX + 1,)),  # one more for a constant load, which is never out
        ("mshrs", MSHR, (MSHRS_MAX + 1,)),
        ("waiters", WAITER, (WAITERS_MAX + 1,)),
        ("l1_tags", "i8", (2 * L1_LINES_MAX,)),  # a tag store of cache.py
        ("mshr_buckets", "i8", (MSHR_BUCKETS,)),  # by hash of the line; first of the chain
        ("coalesced", COALESCED, (LANES,)),  # lines of the access at the coalescer
        ("l1i_tag", "i8", (L1I_LINES_MAX,)),
        ("l1i_ready", "i8", (L1I_LINES_MAX,)),
        ("host", "i8", (LANES,)),  # host addresses of the memory instruction at issue
        ("scratch", "u4", (16 * LANES,)),
        ("registers", "u4", (SM_ROWS * LANES,)),
        ("shared", "u1", (SHARED_BYTES,)),
    ],
    align=True,
)
sm_at = record_at(SM)

# What the core knows of the code: one record an instruction, made by decode.py.
SOURCES = 4
CODE = np.dtype(
    [
        ("behaviour", "i8"),
        ("timing", "i8"),
        ("pipe", "i8"),  # of the timing class in the machine at hand, as are the cycles
        ("latency_cycles", "i8"),
        ("issue_cycles", "i8"),
        ("port_cycles", "i8"),
        ("queued", "i8"),  # goes through the sub-core's memory queue
        ("throttle", "i8"),  # state of a warp that waits for a place in that queue
        ("scoreboard", "i8"),  # state of a warp that waits for the result
        ("guard_late", "i8"),  # its guard is read late: branch, memory, exit, vote
        ("function", "i8"),  # address of the compiled row function, or its number when not compiled
        ("guard", "i8"),
        ("guard_negated", "i8"),
        ("source_count", "i8"),
        ("source_kind", "i8", (SOURCES,)),  # 0 register, 1 constant row, 2 predicate
        ("source", "i8", (SOURCES,)),
        ("source_words", "i8", (SOURCES,)),
        ("source_negated", "i8", (SOURCES,)),
        ("dest", "i8"),
        ("dest_words", "i8"),
        ("dest_predicate", "i8"),  # -1 for none
        ("base_kind", "i8"),  # address: 0 register, 1 constant row, 2 none
        ("address_base", "i8"),
        ("base_words", "i8"),
        ("offset", "i8"),
        ("space", "i8"),
        ("cache", "i8"),
        ("element_bytes", "i8"),
        ("vector", "i8"),
        ("signed", "i8"),
        ("mode", "i8"),  # shuffle mode, vote kind, redux operation, special register number, fence scope
        ("barrier_count", "i8"),  # index of the source that holds the thread count, -1 for none
        ("shuffle_predicate", "i8"),
        ("target", "i8"),
        ("reconverge", "i8"),
        ("polling", "i8"),  # a backward branch whose loop waits for other lanes
        ("constant", "i8"),
        ("reuse", "i8"),
        ("stall", "i8"),
        ("yield_", "i8"),
        ("write_counter", "i8"),
        ("read_counter", "i8"),
        ("wait_mask", "i8"),
        ("has_control", "i8"),
    ],
    align=True,
)
code_at = record_at(CODE)

# What happened at one instruction of one SM; `stall` counts warp-cycles by state.
PROFILE = np.dtype(
    [
        ("issued", "i8"),
        ("lanes", "i8"),
        ("requests", "i8"),
        ("lines", "i8"),
        ("sectors", "i8"),
        ("wavefronts", "i8"),
        ("conflicts", "i8"),
        ("stall", "i8", (len(STATES),)),
    ],
    align=True,
)
profile_at = record_at(PROFILE)

# One allocation of device memory, for bounds.
ALLOCATION = np.dtype([("address", "i8"), ("bytes", "i8"), ("host", "i8")], align=True)
allocation_at = record_at(ALLOCATION)

# A stretch of a warp's life in the trace: `cycles` cycles in `state` from `start`.
EVENT = np.dtype(
    [
        ("start", "i8"),
        ("cycles", "i4"),
        ("pc", "i4"),
        ("active", "u4"),
        ("block", "i4"),
        ("sm", "i2"),
        ("warp", "u1"),
        ("state", "u1"),
    ],
    align=True,
)
event_at = record_at(EVENT)

# A memory instruction in the trace, from issue to completion.
MEMORY_EVENT = np.dtype(
    [
        ("issued", "i8"),
        ("dispatched", "i8"),
        ("completed", "i8"),
        ("pc", "i4"),
        ("sectors", "i4"),
        ("wavefronts", "i4"),
        ("sm", "i2"),
        ("warp", "u1"),
        ("level", "u1"),
    ],
    align=True,
)
memory_event_at = record_at(MEMORY_EVENT)

FAULT = np.dtype(
    [
        ("kind", "i8"),
        ("sm", "i8"),
        ("warp", "i8"),
        ("block", "i8"),
        ("thread", "i8"),
        ("lane", "i8"),
        ("pc", "i8"),
        ("other_pc", "i8"),
        ("address", "i8"),
        ("time", "i8"),
    ],
    align=True,
)

DEVICE = np.dtype(
    [
        ("now", "i8"),
        ("started", "i8"),
        ("spec", "i8"),  # addresses of the arrays that a launch uses
        ("sms", "i8"),
        ("code", "i8"),
        ("profile", "i8"),
        ("constants", "i8"),  # rows of 32 equal words: immediates and parameters
        ("parameters", "i8"),  # bytes of the parameter space
        ("allocations", "i8"),
        ("local", "i8"),  # local memory, host address
        ("memory", "i8"),  # the memory side's own record (memory_records.py)
        ("events", "i8"),
        ("memory_events", "i8"),
        ("entries", "i8", (16,)),  # addresses of the compiled pieces, see pieces.py
        ("code_count", "i8"),
        ("allocation_count", "i8"),
        ("parameter_bytes", "i8"),
        ("event_count", "i8"),
        ("event_limit", "i8"),
        ("memory_event_count", "i8"),
        ("memory_event_limit", "i8"),
        ("tracing", "i8"),  # 0 off, 1 on
        ("trace_from", "i8"),
        ("trace_until", "i8"),
        ("trace_sms", "i8"),  # the first SMs only
        ("dropped", "i8"),
        ("grid_x", "i8"),
        ("grid_y", "i8"),
        ("grid_z", "i8"),
        ("block_x", "i8"),
        ("block_y", "i8"),
        ("block_z", "i8"),
        ("block_threads", "i8"),
        ("block_warps", "i8"),
        ("blocks", "i8"),
        ("next_block", "i8"),
        ("done_blocks", "i8"),
        ("sm_block_limit", "i8"),  # resident blocks by occupancy
        ("registers", "i8"),  # a thread
        ("rows_per_warp", "i8"),
        ("block_shared", "i8"),  # shared memory a block is allotted
        ("block_shared_bytes", "i8"),  # of it, what the program may address
        ("local_bytes", "i8"),
        ("window", "i8"),
        ("communicates", "i8"),
        ("launches", "i8"),
        ("progress", "i8"),  # changes of memory, exits, barrier releases: the watchdog looks at it
        ("stale_shuffles", "i8"),  # shuffles that read a lane that did not take part
        ("stale_pc", "i8"),
        ("fault", FAULT, (1,)),
        ("counters", "i8", (counters.DEVICE_COUNT,)),
    ],
    align=True,
)
device_at = record_at(DEVICE)
