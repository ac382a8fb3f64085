"""Programs that put every computing opcode through edge values in 32 lanes, under predicates."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tinygpu.isa import table
from tinygpu.isa.table import WORDS, Behaviour, Opcode

LANES = 32
COMPUTING = [o for o in table.opcodes().values() if o.behaviour is Behaviour.COMPUTE]


def _f32(*values: float) -> list[int]:
    return [struct.unpack("<I", struct.pack("<f", v))[0] for v in values]


def _f64(*values: float) -> list[int]:
    return [struct.unpack("<Q", struct.pack("<d", v))[0] for v in values]


WORD = [0, 1, 2, 31, 32, 33, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
        0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x55555555, 0x12345678]  # fmt: skip
PAIR = [0, 1, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF,
        0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0x8000000000000001, 0x5555555555555555]  # fmt: skip
SINGLE = [
    *_f32(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.14159, 1e-3, 65504.0, 65520.0, 1e30),
    *_f32(-1e30, 127.5, 255.0, 256.5, 2147483520.0, 2147483648.0, 4294967296.0, -2147483648.0),
    *_f32(9.2e18, 1.8e19, 16777217.0),
    0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345,
    0x7F800001,
    0x33000000, 0x33000001, 0x38800000, 0x387FF000,  # around half of the least f16, and its least normal
]  # fmt: skip
DOUBLE = [
    *_f64(0.0, -0.0, 1.0, -1.5, 0.1, 1e300, -1e300, 1e-310, 3.4028235e38, 3.4028236e38, 65520.0, 2.5, -0.5),
    *_f64(2147483647.5, -2147483648.5, 4294967295.5, 9.3e18, -9.3e18, 1.8446744073709552e19, 5e-46, 7.1e-46),
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 1, 0x3FF0000010000000,
    0x3FF0000030000000, 0x3FF0000010000001,  # ties on the way to f32
]  # fmt: skip
HALF = [
    0,
    0x8000,
    0x3C00,
    0xBC00,
    0x0001,
    0x03FF,
    0x0400,
    0x7BFF,
    0xFBFF,
    0x7C00,
    0xFC00,
    0x7E00,
    0x7C01,
    0x3555,
]
BRAIN = [
    0,
    0x8000,
    0x3F80,
    0xBF80,
    0x0001,
    0x007F,
    0x0080,
    0x7F7F,
    0xFF7F,
    0x7F80,
    0xFF80,
    0x7FC0,
    0x7F81,
    0x4049,
]


def edge(kind: str, source: random.Random) -> int:
    """A register's bits for an operand type: an edge, or random; above a small type anything may stand."""
    if kind == "pred":
        return source.getrandbits(1)
    if kind in ("f16", "bf16"):
        low = (
            source.choice(HALF if kind == "f16" else BRAIN)
            if source.random() < 0.7
            else source.getrandbits(16)
        )
        return low | source.getrandbits(16) << 16
    if kind in ("f16x2", "bf16x2"):
        low, high = (edge(kind[:-2], source) & 0xFFFF for _ in range(2))
        return low | high << 16
    if source.random() < 0.25:
        return source.getrandbits(32 * WORDS[kind])
    if kind == "f32":
        return source.choice(SINGLE)
    if kind == "f64":
        return source.choice(DOUBLE)
    return source.choice(PAIR if WORDS[kind] == 2 else WORD)


class Case:
    """One opcode with a set of values: the text that runs it, and the words that it reads."""

    def __init__(self, opcode: Opcode, number: int, source: random.Random) -> None:
        self.opcode = opcode
        self.number = number
        self.kinds = [o.type for o in opcode.sources]
        # Operands, what the destination holds before, the guard.
        held = ["b64" if WORDS[opcode.dests[0].type] == 2 else "b32", "pred"]
        self.data = [[edge(kind, source) for _ in range(LANES)] for kind in (*self.kinds, *held)]
        self.constants = [
            str(source.randrange(32 if o.name == "shift" else 256))
            for o in opcode.operands
            if o.role == "constant"
        ]
        self.guard = source.choice(("", "@g ", "@!g "))

    def lines(self, row: int) -> list[str]:
        """The instructions; `row` is the case's first row of 32 pairs in the data."""
        dest = self.opcode.dests[0]
        rows = []
        names = []
        for index, kind in enumerate((*self.kinds, dest.type, "pred")):
            name = (
                ("abcdefh"[index]) if index < len(self.kinds) else ("d" if index == len(self.kinds) else "g")
            )
            name += f"_{WORDS[kind]}"
            place = f"[from + {256 * (row + index)}]"
            if WORDS[kind] == 2:
                rows.append(f"ld.global.b64 {name}, {place}")
            elif WORDS[kind] == 1:
                rows.append(f"ld.global.b32 {name}, {place}")
            else:
                rows += [f"ld.global.b32 bit, {place}", f"setp.ne.u32 {name}, bit, 0"]
            names.append(name)
        *sources, target, guard = names
        operands = ", ".join([target, *sources, *self.constants])
        rows.append(f"{self.guard.replace('g', guard)}{self.opcode.name} {operands}")
        place = f"[to + {256 * self.number}]"
        words = WORDS[dest.type]
        if words == 0:
            rows += [f"selp.b32 bit, 1, 0, {target}", f"st.global.b32 {place}, bit"]
        else:
            rows.append(f"st.global.b{32 * words} {place}, {target}")
        return rows


def program(opcodes: Sequence[Opcode], sets: int, seed: int) -> tuple[str, NDArray[np.uint64], list[Case]]:
    """A text that runs `sets` cases of each opcode, the data that it reads, and the cases.

    Case i stores its result of lane l at `out[32 * i + l]`.
    """
    source = random.Random(seed)
    cases: list[Case] = []
    for opcode in opcodes:
        cases += [Case(opcode, len(cases) + i, source) for i in range(sets)]
    data: list[int] = []
    body: list[str] = []
    for case in cases:
        body += case.lines(len(data) // LANES)
        for row in case.data:
            data += row
    head = [
        ".kernel opcodes(data: ptr.u64, out: ptr.u64)",
        ".launch grid = 1, block = 32",
        f".arg out = zeros({len(cases) * LANES})",
        "mov.u32 lane, %laneid",
        "mad.wide.u32 from, lane, 8, data",
        "mad.wide.u32 to, lane, 8, out",
    ]
    return "\n".join([*head, *body, "exit"]) + "\n", np.array(data, np.uint64), cases
