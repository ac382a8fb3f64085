"""Makes random programs from the instruction table: valid, without races, with one right answer.

A program keeps a pool of named values, computes on them with every opcode of the table, goes
through divergent branches, bounded loops and calls, and meets other threads in shuffles, votes,
barriers, shared memory and atomics, always so that no order of threads can change the result.
At the end each thread stores all its values. So the interpreter and the core must agree on
every byte. The same seed makes the same program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tinygpu.isa import table
from tinygpu.isa.table import BYTES, WORDS, Behaviour, Opcode, OperandSpec

WORD_POOL = [f"a{i}" for i in range(12)]
PAIR_POOL = [f"w{i}" for i in range(4)]
PREDICATE_POOL = [f"q{i}" for i in range(4)]
OUT_WORDS = 32  # stored by each thread
OWN_BYTES = 64  # of global scratch memory that belongs to a thread
DATA_WORDS = 256  # of input that everybody reads
SHARED_WORDS = 256  # for exchange between barriers
CELLS = 8  # of each kind of atomic

COMPUTING = [o for o in table.opcodes().values() if o.behaviour is Behaviour.COMPUTE]
FAMILIES = sorted({o.entry.family for o in COMPUTING})
BY_FAMILY = {family: [o for o in COMPUTING if o.entry.family == family] for family in FAMILIES}
COMMUTING = ("add.u32", "add.s32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32")
FIXED_SPECIALS = (
    "tid.x", "ntid.x", "ctaid.x", "nctaid.x", "laneid", "warpid",
    "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge",
)  # fmt: skip


FLOATS = ("0.0", "1.0", "-1.5", "0.1", "3.0e10", "-2.5e-3", "65504.0", "8388609.0")
ATOMICS = [o for o in table.opcodes().values() if o.entry.key in ("atom", "atom_cas")]
REDUCTIONS = [o for o in table.opcodes().values() if o.behaviour is Behaviour.REDUX]


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


class _Maker:
    """One program in the making."""

    def __init__(self, seed: int, blocks: int | None, threads: int | None) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.blocks = blocks or self.random.choice((1, 1, 2))
        self.threads = threads or self.random.choice((32, 32, 64, 96, 128, 50, 7))
        self.warps = -(-self.threads // 32)
        self.lines: list[str] = []
        self.used: set[str] = set()
        self.depth = 0  # of branches and loops that may divide a warp
        self.labels = 0
        self.called: set[str] = set()
        self.budget = 0

    # --- text ---------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        """Add an instruction and note its opcode."""
        self.lines.append("    " + text)
        words = text.split()
        name = words[1] if words[0].startswith("@") else words[0]
        self.used.add(name if "%" not in text else name.replace("mov", "s2r"))

    def label(self, stem: str) -> str:
        """A fresh label's name."""
        self.labels += 1
        return f"{stem}_{self.labels}"

    def word(self) -> str:
        """A 32-bit value of the pool."""
        return self.random.choice(WORD_POOL)

    def mask(self) -> str:
        """The value that holds the lanes of the warp that are here."""
        return f"m{self.depth}"

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

    def guard(self) -> str:
        """A guard, now and then."""
        if self.random.random() < 0.25:
            return f"@{self.random.choice(('', '!'))}{self.random.choice(PREDICATE_POOL)} "
        return ""

    def compute(self, opcode: Opcode | None = None) -> None:
        """One opcode that computes; families have equal chances, so that cvt does not crowd others out."""
        if opcode is None:
            opcode = self.random.choice(BY_FAMILY[self.random.choice(FAMILIES)])
        dest = self.destination(opcode.dests[0])
        operands = [dest, *(self.operand(spec, opcode) for spec in opcode.operands[1:])]
        self.emit(f"{self.guard()}{opcode.name} {', '.join(operands)}")

    def destination(self, spec: OperandSpec) -> str:
        """A value of the pool that the operand fits."""
        pools = {0: PREDICATE_POOL, 1: WORD_POOL, 2: PAIR_POOL}
        return self.random.choice(pools[spec.words])

    def operand(self, spec: OperandSpec, opcode: Opcode) -> str:
        """A source: a value of the pool, an immediate or a parameter."""
        if spec.role == "constant":
            return str(self.random.randrange(32 if spec.name == "shift" else 256))
        if spec.type == "pred":
            return self.random.choice(("", "!")) + self.destination(spec)
        chance = self.random.random()
        type_ = spec.literal or spec.type
        if chance < 0.08 and type_ in ("u32", "s32", "b32"):
            return "seed"
        if chance < 0.08 and type_ in ("u64", "s64", "b64"):
            return "wide"
        if chance < 0.25 and (literal := self.literal(type_)):
            return literal
        return self.destination(spec)

    def literal(self, type_: str) -> str:
        """An immediate of a type, edges included; nothing for types that are held in halves."""
        if type_ in ("f32", "f64"):
            return self.random.choice(FLOATS)
        if type_[0] not in "sub" or BYTES[type_] < 4 or type_.endswith("x2") or type_.startswith("bf"):
            return ""
        bits = 8 * BYTES[type_]
        if type_[0] == "s":
            return str(self.random.choice((0, 1, -1, 7, -100, (1 << bits - 1) - 1, -(1 << bits - 1))))
        edge = self.random.choice((0, 1, 5, 31, 32, 33, 255, (1 << bits - 1), (1 << bits) - 1))
        return hex(edge)

    # --- memory -------------------------------------------------------------------------------

    def read_data(self, type_: str, dest: str, index: str, vector: int = 1, cop: str = "") -> None:
        """Load element `index` (taken modulo their number) of the input that everybody reads."""
        size = BYTES[type_] * vector
        self.emit(f"and.b32 t3, {index}, {4 * DATA_WORDS // size - 1}")
        self.emit(f"mad.wide.u32 where, t3, {size}, data")
        vec = f".v{vector}" if vector > 1 else ""
        self.emit(f"ld.global{cop}{vec}.{type_} {dest}, [where]")

    def read(self) -> None:
        """A global load of any width, mixed into the pool."""
        cop = self.random.choice(("", "", ".ca", ".cg", ".cs", ".volatile"))
        kind = self.random.choice(("byte", "word", "pair", "v2", "v4", "v2 pair", "b128"))
        index = self.word()
        if kind == "byte":
            type_ = self.random.choice(("s8", "u8", "b8", "s16", "u16", "b16", "f16", "bf16"))
            self.read_data(type_, self.word(), index, cop=cop)
        elif kind == "word":
            type_ = self.random.choice(("s32", "u32", "b32", "f32", "f16x2", "bf16x2"))
            self.read_data(type_, self.word(), index, cop=cop)
        elif kind == "pair":
            type_ = self.random.choice(("s64", "f64", "b64"))
            self.read_data(type_, self.random.choice(PAIR_POOL), index, cop=cop)
        elif kind == "v2":
            self.read_data("f32", "{y0, y1}", index, 2, cop)
            self.mix("y0", "y1")
        elif kind == "v4":
            self.read_data("u32", "{x0, x1, x2, x3}", index, 4, cop)
            self.mix("x0", "x1", "x2", "x3")
        elif kind == "v2 pair":
            self.read_data("f64", "{z0, z1}", index, 2, cop)
            self.emit(f"xor.b64 {self.random.choice(PAIR_POOL)}, z0, z1")
        else:
            self.read_data("b128", "e", index, 1, cop)
            self.emit("st.global.b128 [mine + 16], e")

    def mix(self, *names: str) -> None:
        """Take loaded words into the pool."""
        for name in names:
            target = self.word()
            self.emit(f"xor.b32 {target}, {target}, {name}")

    def private(self) -> None:
        """Store to and load from memory that belongs to the thread, mixed widths and spaces."""
        space = self.random.choice(("global", "shared"))
        base = "mine" if space == "global" else "kept + keep"
        type_ = self.random.choice(("u8", "s8", "b16", "u16", "u32", "f32", "u64", "f64"))
        size = BYTES[type_]
        value = self.random.choice(PAIR_POOL if WORDS[type_] == 2 else WORD_POOL)
        offset = size * self.random.randrange(OWN_BYTES // size)
        self.emit(f"{self.guard()}st.{space}.{type_} [{base} + {offset}], {value}")
        if self.random.random() < 0.5:
            offset = 16 * self.random.randrange(OWN_BYTES // 16)
            self.emit(f"ld.{space}.v4.u32 {{x0, x1, x2, x3}}, [{base} + {offset}]")
            self.mix("x0", "x3")
            self.emit(f"st.{space}.v4.f32 [{base} + {16 * self.random.randrange(4)}], {{x0, x1, x2, x3}}")
        else:
            offset = size * self.random.randrange(OWN_BYTES // size)
            dest = self.random.choice(PAIR_POOL if WORDS[type_] == 2 else WORD_POOL)
            self.emit(f"{self.guard()}ld.{space}.{type_} {dest}, [{base} + {offset}]")

    def local(self) -> None:
        """Local memory at an address that each lane computes, and the parameter space."""
        self.emit(f"and.b32 t, {self.word()}, 60")
        self.emit(f"{self.guard()}st.local.u32 [buffer + t], {self.word()}")
        self.emit(f"and.b32 t, {self.word()}, 60")
        self.emit(f"ld.local.u32 {self.word()}, [buffer + t]")
        if self.random.random() < 0.4:
            self.emit(f"ld.{self.random.choice(('param', 'const'))}.u32 {self.word()}, [seed]")

    def exchange(self) -> None:
        """Everybody writes one word of shared memory, all of them different; then reads any word."""
        step = self.random.choice((1, 1, 3, 5, 7, 31, 33))  # odd: a permutation of the words
        self.emit(f"mad.lo.u32 t, tid, {step}, {self.random.randrange(64)}")
        self.emit(f"and.b32 t, t, {SHARED_WORDS - 1}")
        self.emit("shl.b32 t, t, 2")
        self.emit(f"st.shared.u32 [exchange + t], {self.word()}")
        self.emit("bar.sync 0")
        vector = self.random.choice((1, 1, 2, 4))
        index = self.random.choice((self.word(), "tid"))
        self.emit(f"and.b32 t, {index}, {SHARED_WORDS // vector - 1}")
        self.emit(f"shl.b32 t, t, {(4 * vector).bit_length() - 1}")
        if vector == 1:
            self.emit(f"{self.guard()}ld.shared.u32 {self.word()}, [exchange + t]")
        else:
            names = ["y0", "y1"] if vector == 2 else ["x0", "x1", "x2", "x3"]
            self.emit(f"ld.shared.v{vector}.f32 {{{', '.join(names)}}}, [exchange + t]")
            self.mix(*names)
        self.emit("bar.sync 0")

    def atomic(self) -> None:
        """An atomic that commutes, on cells that only its own kind changes."""
        kind = self.random.randrange(len(COMMUTING) + 1)
        self.emit(f"and.b32 t, {self.random.choice((self.word(), 'tid'))}, {CELLS - 1}")
        if kind == len(COMMUTING):  # sums of small whole numbers are exact in any order
            self.emit("mad.wide.u32 where, t, 4, cells")
            self.emit(f"and.b32 t2, {self.word()}, 15")
            self.emit("cvt.rn.f32.u32 t2, t2")
            self.emit(f"{self.guard()}red.global.add.f32 [where + {4 * CELLS * kind}], t2")
            return
        value = self.word()
        offset = 4 * CELLS * kind
        if self.random.random() < 0.5:
            self.emit("mad.wide.u32 where, t, 4, cells")
            space, place = "global", f"[where + {offset}]"
        else:
            self.emit("shl.b32 t, t, 2")
            space, place = "shared", f"[counts + t + {offset}]"
        if self.random.random() < 0.5:
            self.emit(f"{self.guard()}red.{space}.{COMMUTING[kind]} {place}, {value}")
        else:
            self.emit(f"{self.guard()}atom.{space}.{COMMUTING[kind]} t3, {place}, {value}")
            self.emit("mov.u32 t3, 0")  # the old value depends on the order of threads

    def own_atomic(self) -> None:
        """Any atomic on memory of the thread, so that the old value is certain."""
        opcode = self.random.choice(ATOMICS)
        pair = WORDS[opcode.parts["type"]] == 2
        pool = PAIR_POOL if pair else WORD_POOL
        base = "mine" if opcode.parts["space"] == "global" else "kept + keep"
        offset = self.random.randrange(8) * 8
        values = ", ".join(self.random.choice(pool) for _ in opcode.sources)
        dest = self.random.choice(pool)
        self.emit(f"{self.guard()}{opcode.name} {dest}, [{base} + {offset}], {values}")

    # --- lanes --------------------------------------------------------------------------------

    def shuffle(self) -> None:
        """A shuffle; where the lane read may not be here, the result is kept only if it is."""
        mode = self.random.choice(("up", "down", "bfly", "idx"))
        width = self.random.choice((2, 4, 8, 16, 32))
        c = (32 - width) << 8 | (0 if mode == "up" else 31)
        step = self.random.choice((str(self.random.randrange(32)), self.word()))
        value = self.word()
        if self.depth == 0 and self.threads % 32 == 0:
            dest = self.word() + self.random.choice(("", f"|{self.random.choice(PREDICATE_POOL)}"))
            self.emit(f"shfl.sync.{mode}.b32 {dest}, {value}, {step}, {c:#x}, {self.mask()}")
            return
        target = self.word()
        self.emit(f"and.b32 t, {self.word()}, 31")
        self.emit(f"shfl.sync.idx.b32 t2, {value}, t, 31, {self.mask()}")
        self.emit(f"shr.u32 t3, {self.mask()}, t")
        self.emit("and.b32 t3, t3, 1")
        self.emit("setp.ne.u32 c, t3, 0")
        self.emit(f"selp.b32 {target}, t2, {value}, c")
        self.emit("mov.u32 t2, 0")  # nothing uncertain may stay in a register

    def vote(self) -> None:
        """A vote of the lanes that are here."""
        source = self.random.choice(("", "!")) + self.random.choice(PREDICATE_POOL)
        mode = self.random.choice(("all", "any", "uni", "ballot"))
        if mode == "ballot":
            self.emit(f"vote.sync.ballot.b32 {self.word()}, {source}, {self.mask()}")
        else:
            self.emit(f"vote.sync.{mode}.pred {self.random.choice(PREDICATE_POOL)}, {source}, {self.mask()}")

    def match(self) -> None:
        """A match on few different values."""
        self.emit(f"and.b32 t, {self.word()}, 3")
        mode = self.random.choice(("any", "all", "all64"))
        if mode == "any":
            self.emit(f"match.any.sync.b32 {self.word()}, t, {self.mask()}")
        elif mode == "all":
            dest = f"{self.word()}|{self.random.choice(PREDICATE_POOL)}"
            self.emit(f"match.all.sync.b32 {dest}, t, {self.mask()}")
        else:
            self.emit(f"match.any.sync.b64 {self.word()}, {self.random.choice(PAIR_POOL)}, {self.mask()}")

    def redux(self) -> None:
        """A reduction over the lanes that are here."""
        opcode = self.random.choice(REDUCTIONS)
        self.emit(f"{opcode.name} {self.word()}, {self.word()}, {self.mask()}")

    def special(self) -> None:
        """A special register that does not depend on time or place."""
        self.emit(f"{self.guard()}mov.u32 {self.word()}, %{self.random.choice(FIXED_SPECIALS)}")

    def misc(self) -> None:
        """What takes time and computes nothing."""
        self.emit(self.random.choice(
            ("nop", "fence.cta", "fence.gpu", "fence.sys", "nanosleep 20", f"bar.warp.sync {self.mask()}")
        ))  # fmt: skip

    def barrier(self) -> None:
        """Barriers of the whole block, with and without a count, and an arrival."""
        size = 32 * self.warps
        if self.random.random() < 0.5:
            self.emit(f"bar.sync {self.random.randrange(16)}, {size}")
        else:
            self.emit("setp.lt.u32 c, tid, 32")
            self.emit(f"@c bar.arrive 3, {size}")
            self.emit(f"@!c bar.sync 3, {size}")
        self.emit("bar.sync 0")

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
