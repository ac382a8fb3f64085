"""Random accesses to memory that no order of threads can change: the generator's memory part."""

from __future__ import annotations

from generator_base import (
    ATOMICS,
    CELLS,
    COMMUTING,
    DATA_WORDS,
    OWN_BYTES,
    PAIR_POOL,
    SHARED_WORDS,
    WORD_POOL,
    Maker,
)

from tinygpu.isa.table import BYTES, WORDS


class MemoryPart(Maker):
    """Loads, stores, atomics, exchange through shared memory."""

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
