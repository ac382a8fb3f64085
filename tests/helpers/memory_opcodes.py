"""Programs that put every load, store and atomic of the table through its paces, under predicates."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tinygpu.isa import table
from tinygpu.isa.table import WORDS, Behaviour, Opcode

from .opcodes import edge

LANES = 32
LOADS, STORES, ATOMICS = (
    [o for o in table.opcodes().values() if o.behaviour is kind]
    for kind in (Behaviour.LOAD, Behaviour.STORE, Behaviour.ATOMIC)
)

HEAD = """
.kernel memory(data: ptr.u64, out: ptr.u64, p0: u64, p1: u64)
.shared s: u32[128] align 16
.local l: u32[4]
.launch grid = 1, block = 32
.arg p0 = 0x8123456789abcdef, p1 = 0xfedcba9876543210
mov.u32 lane, %laneid
mad.wide.u32 from, lane, 16, data
mad.wide.u32 to, lane, 16, out
shl.b32 mine, lane, 4
and.b32 odd, lane, 1
setp.ne.u32 g, odd, 0
"""


def names(opcode: Opcode) -> tuple[str, list[str]]:
    """The operand of a load or store as text, and its 32- or 64-bit values."""
    spec = next(o for o in opcode.operands if o.role in ("dest", "source"))
    words = WORDS[spec.type]
    if words == 4:
        return "e", ["e"]
    single = [f"{'xw'[words - 1]}{i}" for i in range(spec.vector)]
    return ("{" + ", ".join(single) + "}" if spec.vector > 1 else single[0]), single


def place(opcode: Opcode, row: str) -> str:
    """The address operand; `row` is the lane's 16 bytes in global memory."""
    return {
        "global": f"[{row}]", "shared": "[s + mine]", "local": "[l]", "param": "[0]", "const": "[0]",
    }[opcode.parts["space"]]  # fmt: skip


def keep(values: list[str], case: int) -> list[str]:
    """Store values to the lane's 16 bytes of the case."""
    kind = {"x": ("u32", 4), "w": ("u64", 8), "e": ("b128", 16)}[values[0][0]]
    return [f"st.global.{kind[0]} [to + {512 * case + kind[1] * i}], {v}" for i, v in enumerate(values)]


def fill(values: list[str], row: str) -> str:
    """Load a lane's 16 bytes into values."""
    spelled = {"x": ".v{}.u32", "w": ".v{}.u64", "e": ".b128"}[values[0][0]].format(len(values))
    if len(values) == 1:
        return f"ld.global.{ {'x': 'u32', 'w': 'u64', 'e': 'b128'}[values[0][0]] } {values[0]}, [{row}]"
    return f"ld.global{spelled} {{{', '.join(values)}}}, [{row}]"


def load_case(opcode: Opcode, case: int, guard: str) -> list[str]:
    operand, values = names(opcode)
    row = f"from + {1024 * case}"
    lines = [f"ld.global.b128 q, [{row}]", "st.shared.b128 [s + mine], q", "st.local.b128 [l], q"]
    return [*lines, fill(values, f"from + {1024 * case + 512}"),
            f"{guard}{opcode.name} {operand}, {place(opcode, row)}", *keep(values, case)]  # fmt: skip


def store_case(opcode: Opcode, case: int, guard: str) -> list[str]:
    operand, values = names(opcode)
    lines = [fill(values, f"from + {1024 * case}"), f"ld.global.b128 q, [from + {1024 * case + 512}]"]
    lines += [
        f"st.global.b128 [to + {512 * case}], q",
        "st.shared.b128 [s + mine], q",
        "st.local.b128 [l], q",
    ]
    lines.append(f"{guard}{opcode.name} {place(opcode, f'to + {512 * case}')}, {operand}")
    if opcode.parts["space"] != "global":
        base = place(opcode, "").strip("[]")
        lines += [f"ld.{opcode.parts['space']}.b128 q, [{base}]", f"st.global.b128 [to + {512 * case}], q"]
    return lines


def atomic_case(opcode: Opcode, case: int, guard: str) -> list[str]:
    """Half of the rows have a cell for each lane, half one cell for all."""
    kind = opcode.parts["type"]
    wide = WORDS[kind] == 2
    size = "b64" if wide else "b32"
    n = "w" if wide else "x"
    alone = case % 2 == 0
    row = f"from + {1024 * case}"
    lines = [f"ld.global.{size} {n}0, [{row}]", f"ld.global.{size} {n}1, [{row} + 8]",
             f"ld.global.{size} {n}2, [from + {1024 * case + 512}]", f"mov.{size} {n}3, 0"]  # fmt: skip
    if opcode.parts["space"] == "global":
        cell = f"to + {512 * case}" if alone else f"out + {512 * case}"
    else:
        cell = "s + mine" if alone else "s"
    lines.append(f"st.{opcode.parts['space']}.{size} [{cell}], {n}2")
    operands = [f"[{cell}]", f"{n}0"]
    if len(opcode.sources) == 2:
        operands.append(f"{n}1")
        if case % 4 < 2:
            lines.append(f"mov.{size} {n}0, {n}2")  # so that the comparison holds
    if opcode.dests:
        operands.insert(0, f"{n}3")
    lines.append(f"{guard}{opcode.name} {', '.join(operands)}")
    if opcode.parts["space"] == "shared":
        lines += [f"ld.shared.{size} {n}2, [{cell}]", f"st.global.{size} [to + {512 * case}], {n}2"]
    lines.append(f"st.global.{size} [to + {512 * case + 8}], {n}3")
    return lines


def program(opcodes: Sequence[Opcode], seed: int) -> tuple[str, NDArray[np.uint64]]:
    """A text with two cases of each opcode (four of an atomic), and the data that it reads."""
    source = random.Random(seed)
    lines: list[str] = []
    data: list[int] = []
    case = 0
    for opcode in opcodes:
        maker = {Behaviour.LOAD: load_case, Behaviour.STORE: store_case, Behaviour.ATOMIC: atomic_case}
        for _ in range(4 if opcode.behaviour is Behaviour.ATOMIC else 2):
            lines += maker[opcode.behaviour](opcode, case, source.choice(("", "@g ", "@!g ")))
            kind = "f64" if WORDS.get(opcode.parts["type"], 1) == 2 else opcode.parts["type"]
            kind = "b64" if kind == "b128" else kind
            data += [
                edge(kind, source) | source.getrandbits(32) << 32 * (WORDS[kind] == 1) for _ in range(128)
            ]
            case += 1
    text = HEAD + f".arg out = zeros({64 * case})\n" + "\n".join(lines) + "\nexit\n"
    return text, np.array([d & 0xFFFFFFFFFFFFFFFF for d in data], np.uint64)
