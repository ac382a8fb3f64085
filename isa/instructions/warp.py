"""Instructions in which the lanes of a warp see each other's values."""
# ruff: noqa: D103 - these have no lane function: the engines carry them out

from __future__ import annotations

from ..table import Behaviour, instruction

MASK = (
    "The instruction waits until every lane named in the mask has come here or has exited; each lane that "
    "executes it must name itself. "
)


@instruction(
    "shfl.sync.{mode}.{type}", mode=("up", "down", "bfly", "idx"), type=("b32",),
    operands="d:{type}, <p:pred?, a:{type}, b:u32, c:u32, mask:b32", timing="shuffle",
    behaviour=Behaviour.SHUFFLE, doc="Reads a register of another lane of the warp.",
    example="shfl.sync.bfly.b32 other, x, 16, 0x1f, 0xffffffff",
    notes=MASK + "c = clamp + 256 * (32 - width): 0x1f for the whole warp (0 for up), 0x181f for "
    "segments of 8 lanes. With segment = c[12:8] the last lane allowed is (lane & segment) | "
    "(c[4:0] & ~segment); up reads lane - b and needs a lane not below it, down lane + b, bfly lane ^ b, idx "
    "(lane & segment) | (b & ~segment), and need a lane not above it. Otherwise a lane reads itself. `d|p` "
    "also sets p where the lane was allowed. All sources are read before any lane writes. Reading a lane "
    "that does not take part gives what its register holds, and the run warns.",
)  # fmt: skip
def shfl():
    pass


@instruction(
    "vote.sync.{mode}.pred", mode=("all", "any", "uni"), operands="p:pred, q:pred, mask:b32", timing="vote",
    behaviour=Behaviour.VOTE, doc="Asks whether a predicate holds in all, in any, or alike in all lanes.",
    example="vote.sync.any.pred found, hit, 0xffffffff", notes=MASK,
)  # fmt: skip
def vote():
    pass


@instruction(
    "vote.sync.{mode}.b32", mode=("ballot",), operands="d:b32, q:pred, mask:b32", timing="vote",
    behaviour=Behaviour.VOTE, doc="Gathers a predicate of each lane into a word, lane 0 in bit 0.",
    example="vote.sync.ballot.b32 lanes, hit, 0xffffffff", notes=MASK + "Lanes outside the mask give 0.",
)  # fmt: skip
def vote_ballot():
    pass


@instruction(
    "activemask.b32", operands="d:b32", timing="vote", behaviour=Behaviour.VOTE,
    doc="Gives the lanes that execute this very instruction together.", example="activemask.b32 lanes",
    notes="Does not wait. Lanes whose guard is false are not in it.",
)  # fmt: skip
def activemask():
    pass


@instruction(
    "match.{mode}.sync.{type}", mode=("any",), type=("b32", "b64"), operands="d:b32, a:{type}, mask:b32",
    timing="match", behaviour=Behaviour.MATCH, doc="Gives the lanes that hold the same value as this one.",
    example="match.any.sync.b32 peers, key, 0xffffffff", notes=MASK,
)  # fmt: skip
def match():
    pass


@instruction(
    "match.{mode}.sync.{type}", mode=("all",), type=("b32", "b64"),
    operands="d:b32, <p:pred?, a:{type}, mask:b32", timing="match", behaviour=Behaviour.MATCH,
    doc="Gives the mask if all its lanes hold the same value, otherwise 0.",
    example="match.all.sync.b32 lanes|same, key, 0xffffffff", notes=MASK + "`d|p` also sets p to whether.",
)  # fmt: skip
def match_all():
    pass


@instruction(
    "redux.sync.{op}.{type}", op=("add", "min", "max", "and", "or", "xor"), type=("s32", "u32", "b32"),
    only=lambda v: (v["type"] == "b32") == (v["op"] in ("and", "or", "xor")),
    operands="d:{type}, a:{type}, mask:b32", timing="redux", behaviour=Behaviour.REDUX,
    doc="Combines an integer of all lanes of the mask; each of them gets the result.",
    example="redux.sync.add.s32 total, x, 0xffffffff", notes=MASK + "Sums wrap.",
)  # fmt: skip
def redux():
    pass
