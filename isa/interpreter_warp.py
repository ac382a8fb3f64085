"""Instructions in which lanes of a warp meet: shuffle, vote, match, redux, warp barrier.

A lane that executes one of these waits until every lane that its membermask names has come to
the same instruction or has exited (the rule since Volta). Lanes with different masks are
different meetings. All sources are read before any lane writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .interpreter_operands import bits_reader, bits_writer, operand, predicate_reader
from .interpreter_state import Launch, Status, Thread, Warp, fault, report, who
from .interpreter_values import signed
from .program import Instruction, Predicate
from .table import Behaviour

# What the lanes of one meeting do: the warp, the lanes in order, their membermask.
Meeting = Callable[[Warp, Sequence[Thread], int], None]

COLLECTIVE = frozenset(
    {Behaviour.SHUFFLE, Behaviour.VOTE, Behaviour.MATCH, Behaviour.REDUX, Behaviour.WARP_BARRIER}
)


def warp_step(launch: Launch, instruction: Instruction) -> tuple[Callable[[Thread], int] | None, Meeting]:
    """The reader of the membermask (None: whoever is here) and what the lanes do together."""
    opcode = instruction.opcode
    makers: dict[Behaviour, Callable[[Launch, Instruction], Meeting]] = {
        Behaviour.SHUFFLE: _shuffle,
        Behaviour.VOTE: _vote,
        Behaviour.MATCH: _match,
        Behaviour.REDUX: _redux,
        Behaviour.WARP_BARRIER: lambda launch, instruction: lambda warp, lanes, mask: None,
    }
    source = operand(opcode.sources, "mask", instruction.sources)
    mask = bits_reader(launch, source, 1) if source is not None else None
    return mask, makers[opcode.behaviour](launch, instruction)


def meetings(
    launch: Launch, warp: Warp, lanes: Sequence[Thread], mask: Callable[[Thread], int] | None
) -> tuple[list[tuple[int, list[Thread]]], list[Thread]]:
    """Sort lanes at one instruction into meetings that are complete and lanes that must wait."""
    if mask is None:
        return [(lane_bits(lanes), list(lanes))] if lanes else [], []
    parties: dict[int, list[Thread]] = {}
    for thread in lanes:
        named = mask(thread)
        if not named >> thread.lane & 1:
            raise fault(
                launch, thread, f"the membermask {named:#010x} does not name the lane itself",
                "a lane that executes the instruction must be in its own mask",
            )  # fmt: skip
        parties.setdefault(named, []).append(thread)
    live = lane_bits(t for t in warp.threads if t.status is not Status.EXITED)
    complete, waiting = [], []
    for named, party in parties.items():
        if named & live & ~lane_bits(party):
            waiting += party
        else:
            complete.append((named, party))
    return complete, waiting


def lane_bits(threads: Iterable[Thread]) -> int:
    """A bit for each thread's lane."""
    bits = 0
    for thread in threads:
        bits |= 1 << thread.lane
    return bits


def source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that a shuffle reads and whether it was in range (PTX ISA, shfl.sync)."""
    segment, clamp, step = c >> 8 & 31, c & 31, b & 31
    top = lane & segment | clamp & ~segment
    if mode == "up":
        wanted = lane - step
        inside = wanted >= top
    else:
        wanted = {"down": lane + step, "bfly": lane ^ step, "idx": lane & segment | step & ~segment}[mode]
        inside = wanted <= top
    return (wanted, True) if inside else (lane, False)


def _shuffle(launch: Launch, instruction: Instruction) -> Meeting:
    opcode = instruction.opcode
    mode = opcode.parts["mode"]
    value, step, limit = (bits_reader(launch, instruction.sources[i], 1) for i in range(3))
    write = bits_writer(instruction.dests[0], 1)
    inside_dest = operand(opcode.dests, "p", instruction.dests)
    write_inside = bits_writer(inside_dest, 0) if inside_dest is not None else None

    def meet(warp: Warp, lanes: Sequence[Thread], mask: int) -> None:
        taking_part = lane_bits(lanes)
        values = [value(thread) for thread in warp.threads]
        values += [0] * (32 - len(values))
        picks = [source_lane(mode, t.lane, step(t), limit(t)) for t in lanes]
        for thread, (lane, inside) in zip(lanes, picks, strict=True):
            if not taking_part >> lane & 1:
                _warn(launch, instruction, thread, lane)
            write(thread, values[lane])
            if write_inside:
                write_inside(thread, inside)

    return meet


def _warn(launch: Launch, instruction: Instruction, thread: Thread, lane: int) -> None:
    """Report, once an instruction, that a lane reads one that does not take part."""
    if thread.pc not in launch.warnings:
        message = f"the shuffle reads lane {lane}, which does not take part; {who(thread, launch.warp_size)}"
        text = report(instruction, thread.pc, message)
        launch.warnings[thread.pc] = text.replace("error:", "warning:", 1)


def _vote(launch: Launch, instruction: Instruction) -> Meeting:
    dest = instruction.dests[0]
    if not instruction.sources:  # activemask
        write = bits_writer(dest, 1)

        def active(warp: Warp, lanes: Sequence[Thread], mask: int) -> None:
            for thread in lanes:
                write(thread, mask)

        return active
    source = instruction.sources[0]
    assert isinstance(source, Predicate)
    vote = predicate_reader(source)
    mode = instruction.opcode.parts["mode"]
    give = bits_writer(dest, 1)

    def meet(warp: Warp, lanes: Sequence[Thread], mask: int) -> None:
        ballot = lane_bits([t for t in lanes if vote(t)])
        everyone = lane_bits(lanes)
        results = {
            "ballot": ballot, "all": ballot == everyone, "any": ballot != 0, "uni": ballot in (0, everyone),
        }  # fmt: skip
        for thread in lanes:
            give(thread, results[mode])

    return meet


def _match(launch: Launch, instruction: Instruction) -> Meeting:
    opcode = instruction.opcode
    spec = opcode.sources[0]
    key = bits_reader(launch, instruction.sources[0], spec.words)
    write = bits_writer(instruction.dests[0], 1)
    same_dest = operand(opcode.dests, "p", instruction.dests)
    write_same = bits_writer(same_dest, 0) if same_dest is not None else None
    wants_all = opcode.parts["mode"] == "all"

    def meet(warp: Warp, lanes: Sequence[Thread], mask: int) -> None:
        keys = [key(t) for t in lanes]
        peers = {k: lane_bits([t for t, other in zip(lanes, keys, strict=True) if other == k]) for k in keys}
        same = len(peers) == 1
        for thread, own in zip(lanes, keys, strict=True):
            write(thread, peers[own] if same or not wants_all else 0)
            if write_same:
                write_same(thread, same)

    return meet


def _redux(launch: Launch, instruction: Instruction) -> Meeting:
    op, type_ = instruction.opcode.parts["op"], instruction.opcode.parts["type"]
    read = bits_reader(launch, instruction.sources[0], 1)
    write = bits_writer(instruction.dests[0], 1)
    combine: dict[str, Callable[[int, int], int]] = {
        "add": lambda a, b: a + b, "min": min, "max": max,
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    }  # fmt: skip

    def meet(warp: Warp, lanes: Sequence[Thread], mask: int) -> None:
        values = [signed(read(t), 32) if type_ == "s32" else read(t) for t in lanes]
        total = values[0]
        for value in values[1:]:
            total = combine[op](total, value)
        for thread in lanes:
            write(thread, total & 0xFFFFFFFF)

    return meet
