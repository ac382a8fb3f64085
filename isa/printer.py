"""Prints a program: as text that assembles to an equal program, and as a listing for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from .program import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Address,
    Control,
    Immediate,
    Instruction,
    Parameter,
    Predicate,
    Program,
    Register,
    SharedArray,
    Source,
)
from .table import BYTES, Behaviour, OperandSpec
from .values import decode, encode, is_float

Targets = Mapping[int, str]


def disassemble(program: Program) -> str:
    """The program as text with physical registers; assembling it gives an equal program."""
    names = targets(program)
    rows = [*_directives(program, names), ""]
    for index, instruction in enumerate(program.instructions):
        rows += [f"{label}:" for label in _labels_at(program, names, index)]
        rows.append("    " + instruction_text(instruction, names))
    return "\n".join(rows) + "\n"


def listing(program: Program) -> str:
    """The program for people: index, instruction, where its lanes join again, source line."""
    names = targets(program)
    texts = [instruction_text(i, names) for i in program.instructions]
    width = min(max((len(t) for t in texts), default=0), 60)
    rows = [_summary(program)]
    for index, (instruction, text) in enumerate(zip(program.instructions, texts, strict=True)):
        rows += [f"{label}:" for label in _labels_at(program, names, index)]
        line = instruction.source_line
        source = "" if line is None else f"{line.line:>5}  {_written(line.text, line.column)}"
        row = f"{index:>5}  {text:<{width}}  {source}".rstrip()
        if instruction.reconverge >= 0:
            row += f"  // joins at {names.get(instruction.reconverge, instruction.reconverge)}"
        rows.append(row)
    return "\n".join(rows) + "\n"


def _written(text: str, column: int) -> str:
    return text[column - 1 :].split("//")[0].strip()


def _summary(program: Program) -> str:
    parts = [f"{len(program.instructions)} instructions", f"{program.registers} registers"]
    if program.predicates:
        parts.append(f"{program.predicates} predicate" + "s" * (program.predicates > 1))
    if program.shared_bytes:
        parts.append(f"{program.shared_bytes} bytes of shared memory a block")
    if program.local_bytes:
        parts.append(f"{program.local_bytes} bytes of local memory a thread")
    return f"{program.name}: {', '.join(parts)}"


def targets(program: Program) -> dict[int, str]:
    """A label for every instruction that is a target or has one; missing ones are made up."""
    names: dict[int, str] = {}
    for label, index in program.labels.items():
        names.setdefault(index, label)
    wanted = {i.target for i in program.instructions} | {count.pc for count in program.counts}
    for index in sorted(wanted - {-1}):
        name = f"L{index}"
        while index not in names and name in program.labels:
            name += "_"
        names.setdefault(index, name)
    return names


def _labels_at(program: Program, names: Targets, index: int) -> list[str]:
    own = [label for label, place in program.labels.items() if place == index]
    return own or ([names[index]] if index in names else [])


# Directives


def _directives(program: Program, names: Targets) -> Iterator[str]:
    listed = ", ".join(f"{p.name}: {p.type}" for p in program.parameters)
    yield f".kernel {program.name}({listed})"
    if program.max_registers != 255:
        yield f".maxregs {program.max_registers}"
    yield from _arrays(".shared", program.shared)
    yield from _arrays(".local", program.local)
    for name, value in program.lets.items():
        yield f".let {name} = {value!r}"
    if program.launch:
        yield ".launch " + ", ".join(f"{k} = {e.text}" for k, e in program.launch.items())
    for name, expression in program.arguments.items():
        yield f".arg {name} = {expression.text}"
    for e in program.expectations:
        tolerances = [f", {n} = {t.text}" for n, t in (("rtol", e.rtol), ("atol", e.atol)) if t is not None]
        yield f".expect {e.left.text} {e.relation} {e.right.text}{''.join(tolerances)}"
    for count in program.counts:
        place = "" if count.pc < 0 else f" @{names[count.pc]}"
        yield f".count {count.counter}{place} = {count.expression.text}"


def _arrays(word: str, arrays: Sequence[SharedArray]) -> Iterator[str]:
    """Array declarations; an alignment is written where the usual one gives another address."""
    end = 0
    for array in arrays:
        shape = "".join(f"[{size}]" for size in array.shape)
        steps = [16, *(1 << n for n in range(16, -1, -1))]
        fitting = (
            s
            for s in steps
            if -(-end // max(s, BYTES[array.type])) * max(s, BYTES[array.type]) == array.address
        )
        step = next(fitting, 16)
        yield f"{word} {array.name}: {array.type}{shape}" + ("" if step == 16 else f" align {step}")
        end = max(end, array.address + array.bytes)


# Instructions


def instruction_text(instruction: Instruction, names: Targets | None = None) -> str:
    """One instruction as text; `names` gives the labels of its target."""
    opcode = instruction.opcode
    operands = ", ".join(_operands(instruction, names or {}))
    name = opcode.name
    if opcode.behaviour is Behaviour.SPECIAL:
        name = "mov." + opcode.parts["type"]
    guard = "" if instruction.guard is None else f"@{_predicate(instruction.guard)} "
    control = "" if instruction.control is None else _control(instruction.control)
    return f"{guard}{name} {operands}".rstrip() + control


def _operands(instruction: Instruction, names: Targets) -> list[str]:
    """The operands in the order of the opcode's list; further destinations behind a bar."""
    dests, sources = iter(instruction.dests), iter(instruction.sources)
    constants = iter(instruction.constants)
    written: list[str] = []
    for spec in instruction.opcode.operands:
        if spec.role == "dest":
            dest = next(dests, None)
            if dest is None:
                continue
            text = _source(dest, spec)
            if spec is not instruction.opcode.dests[0]:
                written[0] += "|" + text
                continue
            written.append(text)
        elif spec.role == "source":
            source = next(sources, None)
            written += [] if source is None else [_source(source, spec)]
        elif spec.role == "address" and instruction.address is not None:
            written.append(_address(instruction.address))
        elif spec.role == "label":
            written.append(names.get(instruction.target, f"L{instruction.target}"))
        elif spec.role == "constant":
            constant = next(constants, None)
            if constant is not None:
                written.append(f"{constant:#04x}" if spec.name == "lut" else str(constant))
    return written


def _source(source: Source, spec: OperandSpec) -> str:
    if isinstance(source, Register):
        return _register(source, spec.vector)
    if isinstance(source, Predicate):
        return _predicate(source)
    if isinstance(source, Immediate):
        return immediate_text(source.bits, spec.literal or spec.type)
    return source.name


def _register(register: Register, vector: int = 1) -> str:
    if register.index == ZERO_REGISTER:
        return "%rz"
    if vector == 1:
        return f"%r{register.index}"
    step = register.words // vector
    return "{" + ", ".join(f"%r{register.index + step * i}" for i in range(vector)) + "}"


def _predicate(predicate: Predicate) -> str:
    sign = "!" if predicate.negated else ""
    return sign + ("%pt" if predicate.index == TRUE_PREDICATE else f"%p{predicate.index}")


def _address(address: Address) -> str:
    base = address.base
    if base is None:
        return f"[{address.offset}]"
    name = base.name if isinstance(base, Parameter) else _register(base)
    if not address.offset:
        return f"[{name}]"
    return f"[{name} {'+' if address.offset > 0 else '-'} {abs(address.offset)}]"


def immediate_text(bits: int, type_: str) -> str:
    """A constant of a type such that reading it gives the same bits."""
    if type_.endswith("x2") and bits >> 16 == bits & 0xFFFF:
        half = immediate_text(bits & 0xFFFF, type_[:-2])
        return f"{bits:#010x}" if half.startswith("0x") else half
    if is_float(type_) and not type_.endswith("x2"):
        value = decode(bits, type_)
        if math.isfinite(value) and encode(value, type_) == bits:
            return repr(value)
        if type_ in ("f32", "f64"):
            return f"0f{bits:08X}" if type_ == "f32" else f"0d{bits:016X}"
    if is_float(type_):
        return f"{bits:#x}"
    if type_.startswith("b") and bits > 9:
        return f"{bits:#x}"
    return str(decode(bits, type_))


def _control(control: Control) -> str:
    """The scheduling marks behind an instruction."""
    marks = [f" &stall={control.stall}"]
    if control.yield_:
        marks.append(" &yield")
    if control.write_counter >= 0:
        marks.append(f" &wr={control.write_counter}")
    if control.read_counter >= 0:
        marks.append(f" &rd={control.read_counter}")
    if control.wait_mask:
        marks.append(f" &wait={control.wait_mask:#x}")
    if control.reuse:
        marks.append(f" &reuse={control.reuse:#x}")
    return "".join(marks)
