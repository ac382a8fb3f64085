"""Compiled lanes: for each opcode that computes, a function over whole register rows, made from the table.

The text of these functions is derived from the instruction table and written to the cache folder,
where Numba compiles an opcode when a program first uses it and keeps the machine code. The core
calls them by address, so adding an instruction never recompiles the core.
"""

from __future__ import annotations

import functools
import importlib.util
import keyword
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..isa import arith, table
from ..isa.table import Behaviour, Opcode
from .jit import COMPILED, cache_folder, fingerprint, peek32, poke32

LANES = 32
HEADER = '''"""Row functions made from the instruction table; written by tinygpu, safe to delete."""
from numba import carray, cfunc, njit, types, uint32
from tinygpu.isa.table import opcode
from tinygpu.sim.lane_numbers import *
ROW = types.void(*([types.int64] * 5))
CELL = types.int64(*([types.int64] * 3))
'''

ROW_TEMPLATE = """
def make_{name}(cache):
    @cfunc(ROW, cache=cache, error_model="numpy", nopython=True)
    def row(out, a, b, c, d):
        target = carray(pointer(out), (128,), uint32)
{views}
        for lane in range(32):
{body}
    return row

{name}_lane = njit(opcode({spelled!r}).lane, error_model="numpy")
"""

CELL_TEMPLATE = """
def make_{name}(cache):
    @cfunc(CELL, cache=cache, error_model="numpy", nopython=True)
    def cell(old, b, c):
        return {result}
    return cell

{name}_lane = njit(opcode({spelled!r}).lane, error_model="numpy")
"""

# How a value of a type is read from its words (`lo`, `hi`) and written back to bits.
READ = {
    "s8": "signed8({lo})", "u8": "unsigned8({lo})", "b8": "unsigned8({lo})",
    "s16": "signed16({lo})", "u16": "unsigned16({lo})", "b16": "unsigned16({lo})",
    "s32": "signed32({lo})", "u32": "unsigned32({lo})", "b32": "unsigned32({lo})",
    "s64": "pair({lo}, {hi})", "u64": "pair({lo}, {hi})", "b64": "pair({lo}, {hi})",
    "f32": "f32_of({lo})", "f64": "f64_of(pair({lo}, {hi}))",
    "f16": "f16_of({lo})", "bf16": "bf16_of({lo})", "pred": "({lo} != 0)",
}  # fmt: skip
WRITE = {
    "s8": "signed8({v})", "u8": "unsigned8({v})", "b8": "unsigned8({v})",
    "s16": "signed16({v})", "u16": "unsigned16({v})", "b16": "unsigned16({v})",
    "s32": "{v}", "u32": "{v}", "b32": "{v}", "s64": "{v}", "u64": "{v}", "b64": "{v}",
    "f32": "bits_of_f32({v})", "f64": "bits_of_f64({v})",
    "f16": "bits_of_f16({v})", "bf16": "bits_of_bf16({v})", "pred": "one_if({v})",
}  # fmt: skip
PACKED = {"f16x2": "f16", "bf16x2": "bf16"}


def identifier(spelled: str) -> str:
    """A Python name for an opcode: `setp.lt.s32` is `setp_lt_s32`."""
    name = re.sub(r"\W", "_", spelled)
    return name + "_" if keyword.iskeyword(name) else name


def row_source(opcode: Opcode) -> str:
    """The text of the row function of a computing opcode."""
    name = identifier(opcode.name)
    dest = opcode.dests[0].type
    sources = [o.type for o in opcode.operands if o.role in ("source", "constant")]
    views = [f"        v{i} = carray(pointer({'abcd'[i]}), (64,), uint32)" for i in range(len(sources))]
    body = []
    if dest in PACKED and all(s in PACKED or s == dest for s in sources):
        half = PACKED[dest]
        for part, shift in (("low", 0), ("high", 16)):
            values = ", ".join(READ[half].format(lo=f"(v{i}[lane] >> {shift})") for i in range(len(sources)))
            body.append(f"{part} = " + WRITE[half].format(v=f"{name}_lane({values})"))
        body.append("target[lane] = low | (high << 16)")
    else:
        values = ", ".join(
            READ[PACKED_RAW.get(s, s)].format(lo=f"v{i}[lane]", hi=f"v{i}[lane + 32]")
            for i, s in enumerate(sources)
        )
        body.append("value = " + WRITE[PACKED_RAW.get(dest, dest)].format(v=f"{name}_lane({values})"))
        body.append("target[lane] = uint32(value & 0xFFFFFFFF)")
        if table.WORDS[dest] == 2:
            body.append("target[lane + 32] = uint32((value >> 32) & 0xFFFFFFFF)")
    return ROW_TEMPLATE.format(
        name=name,
        spelled=opcode.name,
        views="\n".join(views),
        body="\n".join("            " + line for line in body),
    )


# Where only one side is packed, the lane function sees raw bits.
PACKED_RAW = {"f16x2": "b32", "bf16x2": "b32"}


def cell_source(opcode: Opcode) -> str:
    """The text of the function that an atomic performs on one memory cell."""
    name = identifier(opcode.name)
    kind = opcode.parts["type"]
    sources = 1 + sum(o.role == "source" for o in opcode.operands)
    names = ("old", "b", "c")[:sources]
    values = []
    for word in names:
        values.append(READ[kind].format(lo=f"({word} & 0xFFFFFFFF)", hi=f"(({word} >> 32) & 0xFFFFFFFF)"))
    result = WRITE[kind].format(v=f"{name}_lane({', '.join(values)})")
    return CELL_TEMPLATE.format(name=name, spelled=opcode.name, result=result)


def module_source() -> str:
    """The whole module: one maker an opcode; nothing is compiled when it is imported."""
    parts = [HEADER]
    for opcode in table.opcodes().values():
        if opcode.behaviour == Behaviour.COMPUTE:
            parts.append(row_source(opcode))
        elif opcode.behaviour == Behaviour.ATOMIC:
            parts.append(cell_source(opcode))
    return "".join(parts)


@functools.cache
def _module() -> tuple[ModuleType, bool]:
    """The module in the cache folder (or a temporary one), and whether it may keep machine code."""
    stamp = fingerprint("isa/table.py", "isa/arith.py", "isa/instructions/*.py", "sim/lane*.py", "sim/jit.py")
    folder = cache_folder()
    keep = folder is not None
    place = (folder or Path(tempfile.mkdtemp(prefix="tinygpu-"))) / f"lanes-{stamp}"
    place.mkdir(parents=True, exist_ok=True)
    path = place / "lanes.py"
    if not path.exists():
        draft = path.with_name(f"lanes.{os.getpid()}.tmp")
        draft.write_text(module_source())
        draft.replace(path)
    specification = importlib.util.spec_from_file_location(f"tinygpu_lanes_{stamp}", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module, keep


def _sign(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def decode(kind: str, bits: int) -> Any:
    """The value of a type's bit pattern, as lane functions see it."""
    if kind in ("s8", "s16", "s32"):
        return _sign(bits, 8 * table.BYTES[kind])
    if kind in ("s64", "u64", "b64"):
        return _sign(bits, 64)
    if kind == "pred":
        return bits != 0
    if kind in _FROM_BITS:
        return _FROM_BITS[kind](bits)
    return bits & ((1 << 8 * table.BYTES[kind]) - 1)


def encode(kind: str, value: Any) -> int:
    """The bit pattern of a value; floats are rounded once, every NaN is the canonical one."""
    if kind == "pred":
        return 1 if value else 0
    if kind == "f32":
        return 0x7FFFFFFF if value != value else arith.f32_bits(value)
    if kind == "f64":
        return 0x7FF8000000000000 if value != value else arith.f64_bits(value) & (1 << 64) - 1
    if kind in ("f16", "bf16"):
        return arith.f16_bits(float(value)) if kind == "f16" else arith.bf16_bits(float(value))
    width = 8 * table.BYTES[kind]
    bits = int(value) & ((1 << width) - 1)
    return _sign(bits, width) & 0xFFFFFFFF if kind in ("s8", "s16") else bits


_FROM_BITS: dict[str, Callable[[int], Any]] = {
    "f32": arith.f32_value, "f64": arith.f64_value, "f16": arith.f16_value, "bf16": arith.bf16_value,
}  # fmt: skip

_compiled: dict[str, Any] = {}
_interpreted: list[Opcode] = []
_numbers: dict[str, int] = {}


def address(opcode: Opcode) -> int:
    """The address of an opcode's compiled function (its number, when nothing is compiled)."""
    if not COMPILED:
        if opcode.name not in _numbers:
            _numbers[opcode.name] = len(_interpreted)
            _interpreted.append(opcode)
        return _numbers[opcode.name]
    if opcode.name not in _compiled:
        module, keep = _module()
        _compiled[opcode.name] = getattr(module, "make_" + identifier(opcode.name))(keep)
    return int(_compiled[opcode.name].address)


def missing(opcodes: list[Opcode]) -> int:
    """How many of the opcodes have not been compiled in this process."""
    return len({o.name for o in opcodes} - set(_compiled))


def _word(base: int, kind: str, lane: int) -> int:
    """A lane's bit pattern in the rows at `base`."""
    word = peek32(base + 4 * lane)
    return word | peek32(base + 128 + 4 * lane) << 32 if table.WORDS[kind] == 2 else word


def call_interpreted(number: int, out: int, a: int, b: int, c: int, d: int) -> None:
    """What a compiled row function does, in plain Python."""
    opcode = _interpreted[int(number)]
    assert opcode.lane is not None
    sources = [o.type for o in opcode.operands if o.role in ("source", "constant")]
    dest = opcode.dests[0].type
    for lane in range(LANES):
        words = [_word(base, kind, lane) for base, kind in zip((a, b, c, d), sources, strict=False)]
        bits = apply(opcode.lane, dest, sources, words)
        poke32(out + 4 * lane, bits & 0xFFFFFFFF)
        if table.WORDS[dest] == 2:
            poke32(out + 128 + 4 * lane, bits >> 32)


def apply(lane: Callable[..., Any], dest: str, sources: list[str], words: list[int]) -> int:
    """One lane: bit patterns in, bit pattern out."""
    if dest in PACKED and all(s in PACKED or s == dest for s in sources):
        half = PACKED[dest]
        low = encode(half, lane(*[decode(half, w & 0xFFFF) for w in words]))
        high = encode(half, lane(*[decode(half, w >> 16) for w in words]))
        return low | high << 16
    values = [decode(PACKED_RAW.get(s, s), w) for s, w in zip(sources, words, strict=True)]
    return encode(PACKED_RAW.get(dest, dest), lane(*values))


def call_cell_interpreted(number: int, old: int, b: int, c: int) -> int:
    """What a compiled cell function does, in plain Python."""
    opcode = _interpreted[int(number)]
    assert opcode.lane is not None
    kind = opcode.parts["type"]
    count = 1 + sum(o.role == "source" for o in opcode.operands)
    mask = (1 << 32 * table.WORDS[kind]) - 1
    return apply(opcode.lane, kind, [kind] * count, [int(w) & mask for w in (old, b, c)[:count]])
