"""Numbers of the instruction table that the compiled core compares with."""

from __future__ import annotations

from ..isa.table import Behaviour

COMPUTE = int(Behaviour.COMPUTE)
LOAD = int(Behaviour.LOAD)
STORE = int(Behaviour.STORE)
ATOMIC = int(Behaviour.ATOMIC)
SHUFFLE = int(Behaviour.SHUFFLE)
VOTE = int(Behaviour.VOTE)
MATCH = int(Behaviour.MATCH)
REDUX = int(Behaviour.REDUX)
SPECIAL = int(Behaviour.SPECIAL)
BRANCH = int(Behaviour.BRANCH)
CALL = int(Behaviour.CALL)
RET = int(Behaviour.RET)
EXIT = int(Behaviour.EXIT)
BARRIER = int(Behaviour.BARRIER)
WARP_BARRIER = int(Behaviour.WARP_BARRIER)
FENCE = int(Behaviour.FENCE)
SLEEP = int(Behaviour.SLEEP)
TRAP = int(Behaviour.TRAP)
NOP = int(Behaviour.NOP)
