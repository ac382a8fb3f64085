"""Hardware counters of single accesses through Nsight Compute: wavefronts and conflicts, sectors and
requests.

`collect` starts `ncu` over `python -m tinygpu.validate.measure.counters GROUP`, which launches every case
once, and pairs the rows of its table with the cases in order. Each count is of one access of the pattern.
What a kernel moves through global memory besides (reading its table, writing its stamps) is measured by a
launch with no lane active, and taken off the global counts; it touches no shared memory.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure import global_memory, shared_memory
from tinygpu.validate.measure import patterns_global as pg
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.launch import WARM, Gpu, Point

METRICS = {
    "shared": (
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    ),
    "global": (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "lts__t_requests_srcunit_tex_op_read.sum",
        "lts__t_requests_srcunit_tex_op_write.sum",
        "smsp__sass_l1tex_tags_mem_global.sum",
    ),
    "launch": (
        "gpu__time_duration.sum",
        "gpc__cycles_elapsed.max",
        "sm__cycles_elapsed.max",
        "sm__cycles_active.max",
        "sm__cycles_active.sum",
        "sm__inst_executed.sum",
    ),
}
"""Metrics by group of cases."""

NOBODY = ps.Pattern("nobody", 32, (-1,) * 32)


@dataclass(frozen=True, slots=True)
class Case:
    """One profiled launch: the operation, its pattern, and how many accesses the kernel makes."""

    operation: str
    pattern: ps.Pattern
    body: Body

    @property
    def accesses(self) -> int:
        """Accesses of the pattern that one launch makes (the loop runs once)."""
        return self.body.counts[0]


def cases(group: str) -> Iterator[Case]:
    """The cases of `shared` or `global`, each operation and width preceded by one with no lane active."""
    for operation, width, body, rows in _shared() if group == "shared" else _global():
        if not operation.startswith("ldmatrix"):  # which has all lanes active, and nothing else beside it
            yield Case(operation, ps.Pattern("nobody", width, NOBODY.offsets), body)
        for pattern in rows:
            yield Case(operation, pattern, body)


def _shared() -> Iterator[tuple[str, int, Body, list[ps.Pattern]]]:
    for width in ps.WIDTHS:
        yield "load", width, shared_memory.loads(width), ps.patterns(width)
        yield "store", width, shared_memory.stores(width), ps.patterns(width)
    yield "atomic_add", 32, shared_memory.atomics("add", False), ps.patterns(32)
    yield "atomic_add_return", 32, shared_memory.atomics("add", True), ps.patterns(32)
    for matrices in (1, 2, 4):
        yield f"ldmatrix_x{matrices}", 128, shared_memory.matrix_loads(matrices), ps.matrix_rows()


def _global() -> Iterator[tuple[str, int, Body, list[ps.Pattern]]]:
    for width in pg.WIDTHS:
        yield "load", width, global_memory.pattern_loads(width, "cg"), pg.patterns(width)
        yield "store", width, global_memory.pattern_stores(width), pg.patterns(width)


def launch(group: str) -> int:
    """Launches every case once, in order; the number of launches."""
    gpu = Gpu(64 << 20)
    count = 0
    for case in cases(group):
        gpu.run(case.body, Point(table=case.pattern.offsets, reps=1 - WARM, gap=0), 1)
        count += 1
    return count


def launch_empty() -> int:
    """Launches an empty kernel over some grids, three times each; the number of launches."""
    from tinygpu.validate.measure.kernel import numba_cuda

    cuda = numba_cuda()

    def benchmark(out):  # type: ignore[no-untyped-def]
        return

    kernel = cuda.jit(benchmark)
    out = cuda.device_array(1, "int64")
    for blocks, threads in EMPTY:
        for _ in range(3):
            kernel[blocks, threads](out)
            cuda.synchronize()
    return 3 * len(EMPTY)


EMPTY = (
    (1, 32),
    (1, 1024),
    (16, 256),
    (64, 256),
    (132, 128),
    (132, 1024),
    (264, 1024),
    (1320, 256),
    (13200, 256),
    (132000, 256),
)
"""Blocks and threads of the empty launches."""


def parse(text: str, metrics: tuple[str, ...]) -> list[dict[str, float]]:
    """The profiler's raw table as one dictionary a launch; numbers may have thousands commas."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise MissingError("ncu printed no table", hint=" | ".join(lines[-3:]))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    return [{m: float(row[m].replace(",", "")) for m in metrics if row.get(m)} for row in rows if row["ID"]]


def profile(group: str) -> list[dict[str, float]]:
    """Runs the group's launches under `ncu`; MissingError when it is not installed or reads no counters."""
    tool = shutil.which("ncu")
    if tool is None:
        raise MissingError("ncu (Nsight Compute) is not installed: timing only")
    control = "all" if group == "global" else "none"
    command = [
        tool,
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--cache-control",
        control,
    ]
    command += ["-k", "regex:benchmark", "--metrics", ",".join(METRICS[group])]
    command += [sys.executable, "-W", "ignore", "-m", "tinygpu.validate.measure.counters", group]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return parse(done.stdout, METRICS[group])


def collect(group: str) -> list[dict[str, Any]]:
    """One row a case: operation, width, pattern, active lanes, and counts for one access."""
    if group == "launch":
        shapes = [shape for shape in EMPTY for _ in range(3)]
        return [
            {"blocks": b, "threads": t, **row} for (b, t), row in zip(shapes, profile(group), strict=True)
        ]
    return pair(list(cases(group)), profile(group), less_nobody=group == "global")


def pair(planned: list[Case], measured: list[dict[str, float]], less_nobody: bool) -> list[dict[str, Any]]:
    """Counts of each case for one access, less those of the case with no lane active before it if so asked.

    A count of zero is left out of its row.
    """
    if len(planned) != len(measured):
        raise MissingError(f"ncu measured {len(measured)} launches of {len(planned)}")
    rows: list[dict[str, Any]] = []
    base: dict[str, float] = {}
    for case, counts in zip(planned, measured, strict=True):
        if case.pattern.name == "nobody" and less_nobody:
            base = counts
            continue
        per = {
            name: round((value - base.get(name, 0.0)) / case.accesses, 4) for name, value in counts.items()
        }
        rows.append(
            {
                "operation": case.operation,
                "width": case.pattern.width,
                "pattern": case.pattern.name,
                "active": case.pattern.active,
                **{name: value for name, value in per.items() if value},
            }
        )
    return rows


if __name__ == "__main__":
    raise SystemExit(0 if (launch_empty() if sys.argv[1] == "launch" else launch(sys.argv[1])) else 1)
