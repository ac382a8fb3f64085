"""Branches, calls, barriers, fences and the end of a thread."""
# ruff: noqa: D103 - these have no lane function: the engines carry them out

from __future__ import annotations

from ..table import Behaviour, instruction


@instruction(
    "bra{mode}", mode=("", ".uni"), operands="@target", timing="branch", behaviour=Behaviour.BRANCH,
    doc="Continues at a label.", example="@p bra loop",
    notes="Lanes whose guard is false fall through; the two sides come together again at the branch's "
    "immediate post-dominator. .uni promises that all lanes go the same way.",
)  # fmt: skip
def bra():
    pass


@instruction(
    "call", operands="d:u32, @target", timing="branch", behaviour=Behaviour.CALL,
    doc="Continues at a label and keeps where to return to.", example="call back, function",
    notes="d is the index of the following instruction, in each lane.",
)  # fmt: skip
def call():
    pass


@instruction(
    "ret", operands=">a:u32", timing="branch", behaviour=Behaviour.RET,
    doc="Continues where a call left off.", example="ret back",
    notes="Lanes may return to different places. An index outside the program stops the launch.",
)  # fmt: skip
def ret():
    pass


@instruction(
    "exit", operands="", timing="branch", behaviour=Behaviour.EXIT,
    doc="Ends the thread.", example="@outside exit",
    notes="Barriers and warp instructions no longer wait for it.",
)  # fmt: skip
def exit_():
    pass


@instruction(
    "trap", operands="", timing="control", behaviour=Behaviour.TRAP,
    doc="Stops the launch with an error that names the thread.", example="@bad trap",
)  # fmt: skip
def trap():
    pass


@instruction(
    "nop", operands="", timing="control", behaviour=Behaviour.NOP,
    doc="Does nothing for one issue slot.", example="nop",
)  # fmt: skip
def nop():
    pass


@instruction(
    "nanosleep", operands=">t:u32", timing="sleep", behaviour=Behaviour.SLEEP,
    doc="Lets the warp rest for about t nanoseconds.", example="nanosleep 100",
    notes="The longest time of the lanes counts.",
)  # fmt: skip
def nanosleep():
    pass


@instruction(
    "bar.{mode}", mode=("sync",), operands="#b:u32, >count:u32?", timing="barrier",
    behaviour=Behaviour.BARRIER,
    doc="Waits at barrier b until all threads of the block, or `count` of them, have arrived.",
    example="bar.sync 0",
    notes="b is 0 to 15. Threads that have exited leave the count. A count is a multiple of 32 and the same "
    "for all who take part; an exited lane of a warp that takes part counts as arrived. Without a count all "
    "threads must come to the same line: a part of the block, or two places, is an error with both lines.",
)  # fmt: skip
def bar():
    pass


@instruction(
    "bar.{mode}", mode=("arrive",), operands="#b:u32, >count:u32", timing="barrier",
    behaviour=Behaviour.BARRIER, doc="Counts as arrived at barrier b, and does not wait.",
    example="bar.arrive 1, 64", notes="The partner of bar.sync with the same count.",
)  # fmt: skip
def bar_arrive():
    pass


@instruction(
    "bar.warp.sync", operands=">mask:b32", timing="warp_barrier", behaviour=Behaviour.WARP_BARRIER,
    doc="Waits until every lane of the mask has come here or has exited.", example="bar.warp.sync 0xffffffff",
)  # fmt: skip
def bar_warp():
    pass


@instruction(
    "fence.{scope}", scope=("cta", "gpu", "sys"), operands="", timing="fence", behaviour=Behaviour.FENCE,
    doc="Orders the thread's earlier memory accesses before its later ones, as seen by the scope.",
    example="fence.gpu", notes="It orders memory only: other warps keep issuing.",
)  # fmt: skip
def fence():
    pass
