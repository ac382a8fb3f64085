"""Brings README's output and picture up to date: `python docs/refresh.py`; `--check` only compares."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- (tinygpu .*?) -->\n```\n)(.*?)(```\n<!-- end -->)", re.S)
# What differs from host to host: the wall clock and the size of compressed files.
VARYING = re.compile(r"[\d.,]+ [num]?s wall, .* a second|\([\d.,]+ [kM]?B")


def output(command: str, folder: Path) -> str:
    """What the command prints on stdout, run in `folder` as from a pipe."""
    arguments = [sys.executable, "-m", *command.split()]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.rstrip() + "\n"


def steady(text: str) -> list[str]:
    """The lines without what differs from host to host."""
    return [VARYING.sub("~", line) for line in text.splitlines()]


def main(check: bool) -> int:
    """Compare each block with what its command prints, or write it; 1 when a comparison fails."""
    text = README.read_text(encoding="utf-8")
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for match in BLOCK.finditer(text):
            now = output(match[2], Path(folder))
            if steady(now) != steady(match[3]):
                stale.append(match[2])
            text = text.replace(match[0], match[1] + now + match[4])
        if not check:
            README.write_text(text, encoding="utf-8")
            shutil.copy(Path(folder) / "matmul.trace.png", ROOT / "docs" / "img" / "matmul.png")
    for command in stale:
        print(f"README's output of `{command}` was out of date", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
