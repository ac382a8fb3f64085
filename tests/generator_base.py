"""What all parts of the program generator share: the pool of values, lines, names, operands."""

from __future__ import annotations

import random

from tinygpu.isa import table
from tinygpu.isa.table import BYTES, Behaviour, Opcode, OperandSpec

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


class Maker:
    """One program in the making: its lines, and the values that it may use."""

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

    def guard(self) -> str:
        """A guard, now and then."""
        if self.random.random() < 0.25:
            return f"@{self.random.choice(('', '!'))}{self.random.choice(PREDICATE_POOL)} "
        return ""

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
