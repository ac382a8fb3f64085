"""The machine code that ran: instructions between the stamps of every body, for the record."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tinygpu.validate.measure import sass
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.experiments import experiments
from tinygpu.validate.measure.kernel import compiled

GROUPS = ("latency", "rate", "mix", "shared", "atomic", "l1", "flow", "issue", "curve", "bandwidth")
"""Groups whose machine code is kept; the others repeat theirs."""

LONGEST = 96
"""Instructions kept of a part; longer ones repeat themselves."""


def listing(kernel: Any) -> str:
    """The disassembly of a compiled kernel (needs `nvdisasm` on the PATH)."""
    text = kernel.inspect_sass()
    return str(text if isinstance(text, str) else next(iter(text.values())))


def parts(body: Body, text: str) -> list[list[str]]:
    """Instructions of each part of the body, cut at `LONGEST`."""
    found = sass.between_stamps(sass.instructions(text))[: len(body.parts)]
    return [part[:LONGEST] for part in found]


def collect(groups: tuple[str, ...] = GROUPS) -> dict[str, Any]:
    """Body name -> digest and instructions of each part, for all bodies of the groups."""
    bodies = {e.body.name: e.body for e in experiments(groups)}
    kernels = {name: compiled(body) for name, body in bodies.items()}
    with ThreadPoolExecutor(8) as pool:
        texts = dict(zip(kernels, pool.map(listing, kernels.values()), strict=True))
    return {
        name: {"digest": body.digest(), "parts": ["\n".join(p) for p in parts(body, texts[name])]}
        for name, body in bodies.items()
    }
