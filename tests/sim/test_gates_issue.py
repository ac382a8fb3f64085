"""Tight gates of issue: latencies, intervals and bypass rules of the machine file, to the cycle.

Each gate is read from the trace of one warp (or two) for the bench machine's value and for one more:
the dependent instruction issues exactly then, so neither a cycle earlier nor later.
"""

from __future__ import annotations

import pytest
from helpers.bench import bench, value_of
from helpers.launch import Outcome, run

# class: what makes `x`, what reads it, and what the rules add to the latency ("path" in the machine).
DEPENDENT: dict[str, tuple[str, str, str | None]] = {
    "fp32": ("add.f32 x, 1.0, 2.0", "add.f32 y, x, x", None),
    "int32": ("add.u32 x, 1, 2", "add.u32 y, x, x", None),
    "imad": ("mul.lo.u32 x, 3, 4", "mul.lo.u32 y, x, x", None),
    "imad_wide": ("mul.wide.u32 x, 3, 4", "mad.wide.u32 y, 1, 1, x", None),
    "int64": ("add.u64 x, 1, 2", "add.u64 y, x, x", None),
    "half": ("add.f16x2 x, 1, 2", "add.f16x2 y, x, x", None),
    "fp64": ("add.f64 x, 1.0, 2.0", "add.f64 y, x, x", None),
    "sfu": ("rcp.approx.f32 x, 2.0", "add.f32 y, x, x", None),
    "convert": ("cvt.rni.s32.f32 x, 2.0", "add.s32 y, x, x", None),
    "popc": ("popc.b32 x, 255", "add.u32 y, x, x", None),
    "compare": ("setp.lt.s32 x, 1, 2", "selp.b32 y, 1, 2, x", None),
    "special": ("mov.u32 x, %laneid", "add.u32 y, x, x", None),
    "vote": ("activemask.b32 x", "add.u32 y, x, x", None),
    "match": ("match.any.sync.b32 x, 7, 0xffffffff", "add.u32 y, x, x", None),
    "redux": ("redux.sync.add.u32 x, 7, 0xffffffff", "add.u32 y, x, x", None),
}

# class: two instructions that do not depend on each other (nor share a register, as a dead value's
# successor would); the pipe and the port keep them apart.
PAIRS: dict[str, tuple[str, str]] = {
    "fp32": ("add.f32 x, 1.0, 2.0", "add.f32 %r40, 1.0, 2.0"),
    "int32": ("add.u32 x, 1, 2", "add.u32 %r40, 1, 2"),
    "imad": ("mul.lo.u32 x, 3, 4", "mul.lo.u32 %r40, 3, 4"),
    "imad_wide": ("mul.wide.u32 x, 3, 4", "mul.wide.u32 %r40, 3, 4"),
    "int64": ("add.u64 x, 1, 2", "add.u64 %r40, 1, 2"),
    "half": ("add.f16x2 x, 1, 2", "add.f16x2 %r40, 1, 2"),
    "fp64": ("add.f64 x, 1.0, 2.0", "add.f64 %r40, 1.0, 2.0"),
    "sfu": ("rcp.approx.f32 x, 2.0", "rcp.approx.f32 %r40, 2.0"),
    "convert": ("cvt.rni.s32.f32 x, 2.0", "cvt.rni.s32.f32 %r40, 2.0"),
    "popc": ("popc.b32 x, 255", "popc.b32 %r40, 255"),
    "compare": ("setp.lt.s32 x, 1, 2", "setp.lt.s32 %p5, 1, 2"),
    "special": ("mov.u32 x, %laneid", "mov.u32 %r40, %laneid"),
    "vote": ("activemask.b32 x", "activemask.b32 %r40"),
    "match": ("match.any.sync.b32 x, 7, 0xffffffff", "match.any.sync.b32 %r40, 7, 0xffffffff"),
    "redux": ("redux.sync.add.u32 x, 7, 0xffffffff", "redux.sync.add.u32 %r40, 7, 0xffffffff"),
    "control": ("nop", "nop"),
}


def two(first: str, second: str, changes: dict[str, int], *more: str) -> Outcome:
    """Run two instructions, labelled a and b, on the bench machine with changes."""
    return run("\n".join(["nop", f"a: {first}", f"b: {second}", *more, "exit"]), bench(changes))


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("name", sorted(DEPENDENT))
def test_a_dependent_instruction_issues_at_the_latency(name: str, more: int) -> None:
    first, second, _ = DEPENDENT[name]
    path = f"timing.{name}.latency_cycles"
    cycles = value_of(bench(), path) + more
    outcome = two(first, second, {path: cycles})
    assert outcome.gap("a", "b") == cycles
    state = "short_scoreboard" if name in ("sfu", "convert", "popc", "special") else "wait"
    assert outcome.waits("b") == {state: cycles - 1, "selected": 1} or cycles == 1


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_pipe_takes_the_next_instruction_after_issue_cycles(name: str, more: int) -> None:
    first, second = PAIRS[name]
    path = f"timing.{name}.issue_cycles"
    cycles = value_of(bench(), path) + 1 + more
    outcome = two(first, second, {path: cycles, f"timing.{name}.port_cycles": 1})
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b") == {"math_pipe_throttle": cycles - 1, "selected": 1}


@pytest.mark.parametrize("cycles", [1, 2, 3, 4])
@pytest.mark.parametrize("name", sorted(set(PAIRS) - {"control"}))
def test_the_port_takes_another_pipe_s_instruction_after_port_cycles(name: str, cycles: int) -> None:
    fma = bench().timing[name].pipe == "fma"
    other = "add.u32 %r40, 1, 2" if fma else "add.f32 %r40, 1.0, 2.0"
    outcome = two(PAIRS[name][0], other, {f"timing.{name}.port_cycles": cycles})
    assert outcome.gap("a", "b") == cycles


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_pipe_is_shared_by_the_warps_of_a_sub_core(name: str) -> None:
    """Two warps of one sub-core: the second waits for the pipe, not for the first warp."""
    timing = bench().timing[name]
    text = "\n".join([f"a: {PAIRS[name][0]}", "exit"])
    outcome = run(text, bench({"sm.subcores": 1, "issue.scheduler": "lrr"}), block=64)
    assert outcome.cycle("a", 1) - outcome.cycle("a", 0) == max(timing.issue_cycles, timing.port_cycles)


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_sub_cores_have_pipes_of_their_own(name: str) -> None:
    outcome = run("\n".join([f"a: {PAIRS[name][0]}", "exit"]), bench(), block=128)
    assert len({outcome.cycle("a", warp) for warp in range(4)}) == 1


@pytest.mark.parametrize("extra", [0, 2, 3])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("add.u32 x, 1, 2", "add.f32 y, x, x"),
        ("add.f32 x, 1.0, 2.0", "add.u32 y, x, x"),
        ("mul.lo.u32 x, 3, 4", "xor.b32 y, x, x"),
        ("add.u64 x, 1, 2", "mad.wide.u32 y, 1, 1, x"),
    ],
)
def test_a_result_takes_longer_to_the_other_pipe(first: str, second: str, extra: int) -> None:
    outcome = two(first, second, {"bypass.cross_pipe_extra_cycles": extra})
    pc = outcome.program.labels["a"]
    latency = outcome.spec.timing[outcome.program.instructions[pc].opcode.timing].latency_cycles
    assert outcome.gap("a", "b") == latency + extra


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize(
    "second",
    [
        "ld.shared.u32 y, [s + x]",
        "st.shared.u32 [s], x",
        "st.shared.u32 [s + x], 5",
        "ld.local.u32 y, [l + x]",
        "atom.shared.add.u32 y, [s], x",
        "red.shared.add.u32 [s + x], 1",
        "ld.param.u32 y, [x]",
        "shfl.sync.idx.b32 y, x, 0, 31, 0xffffffff",
        "shfl.sync.idx.b32 y, 1, x, 31, 0xffffffff",
        "bar.sync 1, x",
    ],
)
def test_a_result_takes_longer_to_a_memory_instruction(second: str, extra: int) -> None:
    value = 32 if "bar" in second else 8
    text = f"""
        .kernel k(p: u64, q: u64)
        .shared s: u32[64]
        .local l: b32[16]
        .arg p = 1, q = 2
        nop
        a: add.u32 x, {value - 1}, 1
        b: {second}
        exit"""
    outcome = run(text, bench({"bypass.address_extra_cycles": extra}))
    assert outcome.gap("a", "b") == 5 + extra


@pytest.mark.parametrize("extra", [0, 9, 10])
@pytest.mark.parametrize(
    ("second", "late"),
    [
        ("@x bra end", True),
        ("@x exit", True),
        ("@x ld.shared.u32 y, [s]", True),
        ("@x st.shared.u32 [s], 1", True),
        ("@x ld.param.u32 y, [0]", True),
        ("vote.sync.all.pred y, x, 0xffffffff", True),
        ("@x vote.sync.all.pred y, x, 0xffffffff", True),
        ("@x shfl.sync.idx.b32 y, 1, 0, 31, 0xffffffff", True),
        ("@x bar.sync 0", True),
        ("@x add.f32 y, 1.0, 2.0", False),
        ("@x add.u32 y, 1, 2", False),
        ("and.pred y, x, x", False),
    ],
)
def test_a_predicate_takes_longer_to_some_guards(second: str, late: bool, extra: int) -> None:
    text = f"""
        .kernel k(p: u64)
        .shared s: u32[64]
        .arg p = 1
        nop
        a: setp.lt.s32 x, 1, 2
        b: {second}
        end: exit"""
    outcome = run(text, bench({"bypass.guard_extra_cycles": extra}))
    assert outcome.gap("a", "b") == 10 + (extra if late else 0)


@pytest.mark.parametrize("cycles", [1, 7, 8])
def test_a_branch_that_is_not_taken_bars_its_warp(cycles: int) -> None:
    text = "setp.eq.s32 p, 1, 2\na: @p bra end\nb: nop\nend: exit"
    outcome = run(text, bench({"issue.branch_stall_cycles": cycles}))
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b").get("branch_resolving", 0) == cycles - 1


@pytest.mark.parametrize("cycles", [1, 7, 8])
@pytest.mark.parametrize("refill", [0, 2, 3])
def test_a_taken_branch_also_refills_the_buffer(cycles: int, refill: int) -> None:
    changes = {"issue.branch_stall_cycles": cycles, "front_end.refill_cycles": refill}
    outcome = run("a: bra b\nnop\nb: nop\nexit", bench(changes))
    assert outcome.gap("a", "b") == cycles + refill
    assert outcome.waits("b").get("no_instruction", 0) == refill


@pytest.mark.parametrize("cycles", [1, 7, 8])
def test_call_and_ret_are_branches(cycles: int) -> None:
    text = "a: call back, f\nc: nop\nexit\nf: nop\nb: ret back"
    outcome = run(text, bench({"issue.branch_stall_cycles": cycles}))
    assert outcome.cycle("f") - outcome.cycle("a") == cycles + 2
    assert outcome.cycle("c") - outcome.cycle("b") == cycles + 2


@pytest.mark.parametrize("other", [0, 1])
def test_a_branch_bars_only_its_own_warp(other: int) -> None:
    """While warp 0 resolves its branch, warp 1 of the same sub-core issues."""
    text = "\n".join(
        ["mov.u32 w, %warpid", "setp.eq.u32 p, w, 0", "a: @p bra end"] + ["nop"] * 9 + ["end: exit"]
    )
    outcome = run(text, bench({"sm.subcores": 1}), block=32 * (1 + other))
    assert outcome.cycle("end") - outcome.cycle("a") == 9


@pytest.mark.parametrize("cycles", [1, 14, 15])
def test_a_fence_with_nothing_outstanding_takes_its_latency(cycles: int) -> None:
    outcome = two("fence.gpu", "nop", {"timing.fence.latency_cycles": cycles})
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b").get("membar", 0) == cycles - 1


@pytest.mark.parametrize("cycles", [1, 12, 13])
def test_a_warp_barrier_takes_its_latency(cycles: int) -> None:
    outcome = two("bar.warp.sync 0xffffffff", "nop", {"timing.warp_barrier.latency_cycles": cycles})
    assert outcome.gap("a", "b") == cycles


@pytest.mark.parametrize(("nanoseconds", "cycles"), [(1, 1), (100, 100), (101, 101)])
def test_nanosleep_lasts_its_time_at_one_cycle_a_nanosecond(nanoseconds: int, cycles: int) -> None:
    outcome = two(f"nanosleep {nanoseconds}", "nop", {})
    assert outcome.gap("a", "b") == cycles


def test_nanosleep_follows_the_clock_and_the_longest_lane() -> None:
    text = "mov.u32 t, %laneid\nmul.lo.u32 t, t, 10\na: nanosleep t\nb: nop\nexit"
    assert run(text, bench({"device.clock_mhz": 2000})).gap("a", "b") == 620


@pytest.mark.parametrize("name", ["int32", "fp32", "imad"])
def test_a_write_after_a_write_arrives_after_it(name: str) -> None:
    """A short instruction that writes what a long one writes waits until it would come in later."""
    spec = bench()
    outcome = two("rcp.approx.f32 x, 2.0", {"int32": "add.u32 x, 1, 2", "fp32": "add.f32 x, 1.0, 2.0",
                                            "imad": "mul.lo.u32 x, 3, 4"}[name], {})  # fmt: skip
    assert outcome.gap("a", "b") == 19 - spec.timing[name].latency_cycles + 1
