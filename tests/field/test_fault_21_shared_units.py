"""Fault 21: two results meet in one write-back slot. Classes with random latencies share one pipe here."""

from __future__ import annotations

import random
from typing import Any

import pytest
from helpers.bench import bench
from helpers.launch import agree, prepare

CLASSES = ("fp32", "int32", "imad", "sfu", "popc", "convert", "compare", "half", "fp64", "int64", "special")
BODY = (
    "fma.f32 {d}, {a}, {b}, {c}", "add.u32 {d}, {a}, {b}", "mad.lo.u32 {d}, {a}, {b}, {c}",
    "ex2.approx.f32 {d}, {a}", "popc.b32 {d}, {a}", "cvt.rni.s32.f32 {d}, {a}",
    "lop3.b32 {d}, {a}, {b}, {c}, 0x96",
    "add.f16x2 {d}, {a}, {b}", "mov.u32 {d}, %laneid", "ld.shared.u32 {d}, [s + 64]",
    "shfl.sync.bfly.b32 {d}, {a}, 5, 31, 0xffffffff", "atom.shared.add.u32 {d}, [s + o], {a}",
)  # fmt: skip


@pytest.mark.parametrize("pipe", ["fma", "int", "sfu", "control"])
@pytest.mark.parametrize("seed", range(4))
def test_results_of_many_latencies_come_through_one_pipe(seed: int, pipe: str) -> None:
    source = random.Random(seed)
    registers = [f"v{i}" for i in range(10)]
    lines = [
        ".kernel k(out: ptr.u32)", ".shared s: u32[64]", ".arg out = zeros(640)", "mov.u32 t, %tid.x",
        "and.b32 o, t, 31", "shl.b32 o, o, 2", "mad.wide.u32 p, t, 40, out",
        *(f"mad.lo.u32 {name}, t, {i + 3}, {i}" for i, name in enumerate(registers)),
    ]  # fmt: skip
    for _ in range(120):
        a, b, c = (source.choice(registers) for _ in range(3))
        lines.append(source.choice(BODY).format(d=source.choice(registers), a=a, b=b, c=c))
    lines += [f"st.global.u32 [p + {4 * i}], {name}" for i, name in enumerate(registers)] + ["exit"]
    changes: dict[str, Any] = {}
    for name in CLASSES:
        changes[f"timing.{name}.pipe"] = pipe
        changes[f"timing.{name}.latency_cycles"] = source.randint(1, 40)
        changes[f"timing.{name}.issue_cycles"] = source.randint(1, 3)
    agree(prepare("\n".join(lines), 1, 32), bench(changes), bench({**changes, "sm.subcores": 1}))
