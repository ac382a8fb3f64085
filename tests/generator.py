"""Makes random programs from the instruction table: valid, without races, with one right answer.

A program keeps a pool of named values, computes on them with every opcode of the table, goes
through divergent branches, bounded loops and calls, and meets other threads in shuffles, votes,
barriers, shared memory and atomics, always so that no order of threads can change the result.
At the end each thread stores all its values. So the interpreter and the core must agree on
every byte. The same seed makes the same program.
"""

from __future__ import annotations

from dataclasses import dataclass

from generator_base import (
    BY_FAMILY,
    CELLS,
    COMMUTING,
    COMPUTING,
    DATA_WORDS,
    FAMILIES,
    OUT_WORDS,
    OWN_BYTES,
    PAIR_POOL,
    PREDICATE_POOL,
    SHARED_WORDS,
    WORD_POOL,
)
from generator_lanes import LanePart
from generator_memory import MemoryPart

from tinygpu.isa import table
from tinygpu.isa.table import Behaviour, Opcode

__all__ = ["COMPUTING", "Generated", "generate"]


@dataclass(frozen=True)
class Generated:
    """A program text with the opcodes that it holds; its directives say how to launch it."""

    seed: int
    text: str
    blocks: int
    threads: int
    opcodes: frozenset[str]


def generate(
    seed: int,
    statements: int = 40,
    *,
    blocks: int | None = None,
    threads: int | None = None,
    must: tuple[str, ...] = (),
) -> Generated:
    """Make the program of a seed with about `statements` random statements.

    blocks, threads: of the launch (otherwise 1 or 2 blocks of 1 to 4 warps, now and then with
    a ragged last warp). must: opcodes that compute and have to occur.
    """
    return _Maker(seed, blocks, threads).program(statements, must)


class _Maker(MemoryPart, LanePart):
    """A whole program: set-up, random statements, stores, functions."""

    # --- the whole ----------------------------------------------------------------------------

    def program(self, statements: int, must: tuple[str, ...]) -> Generated:
        """Directives, set-up, random statements, the stores at the end, the functions."""
        self.set_up()
        for name in must:
            opcode = table.opcode(name)
            assert opcode is not None and opcode.behaviour is Behaviour.COMPUTE, name
            self.compute(opcode)
        self.budget = statements
        while self.budget > 0:
            self.statement()
        self.finish()
        self.functions()
        head = [
            ".kernel generated(out: ptr.u32, data: ptr.u32, own: ptr.u32, cells: ptr.u32, "
            "seed: u32, wide: u64)",
            f".shared exchange: u32[{SHARED_WORDS}] align 16",
            f".shared kept: u32[{16 * self.threads}] align 16",
            f".shared counts: u32[{CELLS * len(COMMUTING)}]",
            ".local buffer: b32[16]",
            f".launch grid = {self.blocks}, block = {self.threads}",
            f".arg out = zeros({self.blocks * self.threads * OUT_WORDS})",
            f".arg data = integers(0, 4294967296, {DATA_WORDS})",
            f".arg own = integers(0, 4294967296, {self.blocks * self.threads * OWN_BYTES // 4})",
            f".arg cells = zeros({CELLS * (len(COMMUTING) + 1)})",
            f".arg seed = {self.random.getrandbits(32)}, wide = {self.random.getrandbits(63)}",
        ]
        text = f"// Generated program {self.seed}.\n" + "\n".join(head + self.lines) + "\n"
        return Generated(self.seed, text, self.blocks, self.threads, frozenset(self.used))

    def set_up(self) -> None:
        """Addresses of the thread, and a first value for everything in the pool."""
        self.emit("mov.u32 tid, %tid.x")
        self.emit("mov.u32 block, %ctaid.x")
        self.emit(f"mad.lo.u32 gid, block, {self.threads}, tid")
        self.emit(f"mad.wide.u32 mine, gid, {OWN_BYTES}, own")
        self.emit("shl.b32 keep, tid, 6")
        self.emit("activemask.b32 m0")
        self.emit("mov.u32 x0, 0")
        for offset in range(0, 64, 4):
            self.emit(f"st.local.u32 [buffer + {offset}], x0")
            self.emit(f"st.shared.u32 [kept + keep + {offset}], x0")
        for index, name in enumerate(WORD_POOL):
            self.emit(f"add.u32 t, gid, {index * 19}")
            self.read_data("u32", name, "t")
        for index, name in enumerate(PAIR_POOL):
            self.emit(f"mad.wide.u32 {name}, a{index}, a{index + 1}, wide")
        for index, name in enumerate(PREDICATE_POOL):
            self.emit(f"setp.lt.s32 {name}, a{index}, a{index + 4}")
        clear = f"clear_{self.seed % 1000}"
        self.emit("mov.u32 t, tid")
        self.lines.append(f"{clear}:")
        self.emit(f"setp.lt.u32 c, t, {SHARED_WORDS}")
        self.emit("shl.b32 t2, t, 2")
        self.emit("@c st.shared.u32 [exchange + t2], x0")
        self.emit(f"setp.lt.u32 c, t, {CELLS * len(COMMUTING)}")
        self.emit("@c st.shared.u32 [counts + t2], x0")
        self.emit(f"add.u32 t, t, {self.threads}")
        self.emit(f"setp.lt.u32 c, t, {SHARED_WORDS}")
        self.emit(f"@c bra {clear}")
        self.emit("bar.sync 0")

    def finish(self) -> None:
        """Store every value; then the block's shared atomics, once everybody has done with them."""
        self.emit(f"mad.wide.u32 place, gid, {4 * OUT_WORDS}, out")
        for index, name in enumerate(WORD_POOL):
            self.emit(f"st.global.u32 [place + {4 * index}], {name}")
        for index, name in enumerate(PAIR_POOL):
            self.emit(f"st.global.u64 [place + {64 + 8 * index}], {name}")
        self.emit("mov.u32 t, 0")
        for index, name in enumerate(PREDICATE_POOL):
            self.emit(f"@{name} or.b32 t, t, {1 << index}")
        self.emit("st.global.u32 [place + 96], t")
        for index in range(3):
            self.emit(f"ld.local.u32 t, [buffer + {20 * index}]")
            self.emit(f"st.global.u32 [place + {100 + 4 * index}], t")
        if self.random.random() < 0.2:
            self.emit(f"@{self.random.choice(PREDICATE_POOL)} exit")
        self.emit("bar.sync 0")
        self.emit(f"and.b32 t, tid, {CELLS - 1}")
        self.emit("shl.b32 t, t, 2")
        self.emit(f"ld.shared.u32 t2, [counts + t + {4 * CELLS * self.random.randrange(len(COMMUTING))}]")
        self.emit("st.global.u32 [place + 112], t2")
        self.emit("ld.shared.u32 t2, [kept + keep + 12]")
        self.emit("st.global.u32 [place + 116], t2")
        self.emit("exit")

    def functions(self) -> None:
        """The functions that are called; they compute on the pool."""
        for name in sorted(self.called):
            self.lines.append(f"function_{name}:")
            for _ in range(3):
                self.compute()
            self.emit(f"ret back_{name}")

    # --- statements ---------------------------------------------------------------------------

    def statement(self) -> None:
        """One random statement; some only where all threads of the block come together."""
        self.budget -= 1
        anywhere = (
            (self.compute, 40), (self.read, 4), (self.private, 6), (self.local, 3), (self.atomic, 4),
            (self.own_atomic, 3), (self.shuffle, 4), (self.vote, 3), (self.match, 2), (self.redux, 2),
            (self.special, 2), (self.misc, 2), (self.call, 1), (self.branch, 5), (self.loop, 2),
        )  # fmt: skip
        together = ((self.exchange, 4), (self.barrier, 2))
        choices = [c for c in anywhere if self.depth < 2 or c[0] not in (self.branch, self.loop)]
        if self.depth == 0:
            choices += together
        (chosen,) = self.random.choices([c[0] for c in choices], [c[1] for c in choices])
        chosen()

    def compute(self, opcode: Opcode | None = None) -> None:
        """One opcode that computes; families have equal chances, so that cvt does not crowd others out."""
        if opcode is None:
            opcode = self.random.choice(BY_FAMILY[self.random.choice(FAMILIES)])
        dest = self.destination(opcode.dests[0])
        operands = [dest, *(self.operand(spec, opcode) for spec in opcode.operands[1:])]
        self.emit(f"{self.guard()}{opcode.name} {', '.join(operands)}")

    # --- control flow -------------------------------------------------------------------------

    def call(self) -> None:
        """A call; the functions stand at the end."""
        name = self.random.choice(("first", "second"))
        self.called.add(name)
        self.emit(f"call back_{name}, function_{name}")

    def inside(self) -> None:
        """Statements of a branch's side or a loop's body."""
        for _ in range(self.random.randrange(1, 5)):
            self.statement()

    def branch(self) -> None:
        """An if, often with an else; lanes of a warp part and meet again."""
        condition = self.random.choice(PREDICATE_POOL)
        outer = self.mask()
        other, join = self.label("else"), self.label("join")
        has_else = self.random.random() < 0.6
        self.depth += 1
        inner = self.mask()
        self.emit(f"vote.sync.ballot.b32 {inner}, {condition}, {outer}")
        self.emit(f"@!{condition} bra {other if has_else else join}")
        self.inside()
        if has_else:
            self.emit(f"bra {join}")
            self.lines.append(f"{other}:")
            self.emit(f"not.b32 {inner}, {inner}")
            self.emit(f"and.b32 {inner}, {inner}, {outer}")
            self.inside()
        self.depth -= 1
        self.lines.append(f"{join}:")

    def loop(self) -> None:
        """A loop of 1 to 4 turns, the same number for all lanes or one of its own for each."""
        outer = self.mask()
        self.depth += 1
        inner, counter, limit = self.mask(), f"k{self.depth}", f"l{self.depth}"
        top, done = self.label("top"), self.label("done")
        if self.random.random() < 0.5:
            self.emit(f"and.b32 {limit}, {self.word()}, 3")
        else:
            self.emit(f"mov.u32 {limit}, {self.random.randrange(1, 4)}")
        self.emit(f"mov.u32 {counter}, 0")
        self.emit(f"mov.u32 {inner}, {outer}")
        self.lines.append(f"{top}:")
        self.emit(f"setp.lt.u32 c, {counter}, {limit}")
        self.emit(f"vote.sync.ballot.b32 t, c, {inner}")
        self.emit(f"@!c bra {done}")
        self.emit(f"mov.u32 {inner}, t")
        self.inside()
        self.emit(f"add.u32 {counter}, {counter}, 1")
        self.emit(f"bra {top}")
        self.lines.append(f"{done}:")
        self.depth -= 1
