"""The machine code that a benchmark became: assembled and disassembled with the CUDA tools, stamps found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tinygpu.isa.errors import MissingError

_LINE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\d\s+)?([A-Z0-9_.]+)(.*?);")


def tool(name: str) -> str:
    """Path of `ptxas` or `nvdisasm`: on the PATH, or inside a pip package of this Python."""
    found = shutil.which(name)
    if found:
        return found
    for folder in sys.path:
        for path in sorted(Path(folder).glob(f"nvidia/**/bin/{name}")) if folder else []:
            return str(path)
    raise MissingError(
        f"{name} is not installed", hint=f"pip install nvidia-cuda-{name.replace('ptxas', 'nvcc')}"
    )


def disassemble(ptx: str, arch: str = "sm_90") -> list[str]:
    """Instructions of the one kernel in `ptx`, in order, e.g. `@P0 FFMA R1, R2, R3, R1`."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        source.write_text(ptx, encoding="utf-8")
        command = [tool("ptxas"), f"-arch={arch}", "-O3", str(source), "-o", str(cubin)]
        subprocess.run(command, check=True, capture_output=True)
        done = subprocess.run(
            [tool("nvdisasm"), "-c", str(cubin)], check=True, capture_output=True, text=True
        )
    return instructions(done.stdout)


def instructions(listing: str) -> list[str]:
    """Instructions of a disassembler's listing, without addresses, comments and encodings."""
    rows = []
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match:
            guard, name, rest = match.groups()
            rows.append(f"{guard or ''}{name}{rest}".replace("  ", " ").strip())
    return rows


def between_stamps(code: list[str]) -> list[list[str]]:
    """The instructions between successive clock reads (`CS2R ... SR_CLOCKLO`), in program order."""
    parts: list[list[str]] = []
    current: list[str] | None = None
    for row in code:
        if "SR_CLOCK" in row:
            if current is not None:
                parts.append(current)
            current = []
        elif current is not None:
            current.append(row)
    return parts


def mnemonics(code: list[str]) -> dict[str, int]:
    """How often each instruction name occurs, without modifiers and guards."""
    names = Counter(row.split()[1 if row.startswith("@") else 0].split(".")[0] for row in code)
    return dict(sorted(names.items()))
