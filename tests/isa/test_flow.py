"""Basic blocks, post-dominators and reconvergence, by hand and against the definition."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa.assembler import assemble
from tinygpu.isa.flow import Step, blocks, postdominators, reconvergence, successors
from tinygpu.isa.table import Behaviour

PLAIN = Step(Behaviour.COMPUTE)
EXIT = Step(Behaviour.EXIT)
RET = Step(Behaviour.RET)


def jump(target: int) -> Step:
    """An unconditional branch."""
    return Step(Behaviour.BRANCH, False, target)


def branch(target: int) -> Step:
    """A guarded branch."""
    return Step(Behaviour.BRANCH, True, target)


def call(target: int) -> Step:
    """A call."""
    return Step(Behaviour.CALL, False, target)


# What can follow


def test_successors_of_straight_code_and_exit() -> None:
    assert successors([PLAIN, PLAIN, EXIT]) == [(1,), (2,), ()]


def test_successors_of_branches() -> None:
    assert successors([branch(2), jump(0), EXIT]) == [(2, 1), (0,), ()]


def test_branch_to_the_next_instruction_has_one_successor() -> None:
    assert successors([branch(1), EXIT]) == [(1,), ()]


def test_guarded_exit_falls_through() -> None:
    assert successors([Step(Behaviour.EXIT, True), EXIT]) == [(1,), ()]


def test_trap_ends_and_guarded_trap_does_not() -> None:
    steps = [Step(Behaviour.TRAP, True), Step(Behaviour.TRAP), EXIT]
    assert successors(steps) == [(1,), (), ()]


def test_call_falls_through_unless_followed() -> None:
    steps = [call(2), EXIT, PLAIN, RET]
    assert successors(steps) == [(1,), (), (3,), ()]
    assert successors(steps, through_calls=True) == [(2,), (), (3,), (1,)]


def test_ret_leads_behind_every_call() -> None:
    steps = [call(4), call(4), EXIT, EXIT, RET]
    assert successors(steps, through_calls=True)[4] == (1, 2)


def test_guarded_call_and_ret_also_fall_through() -> None:
    steps = [Step(Behaviour.CALL, True, 2), EXIT, Step(Behaviour.RET, True), RET]
    assert successors(steps, through_calls=True) == [(2, 1), (), (1, 3), (1,)]


# Blocks


def test_blocks_are_cut_at_targets_and_behind_branches() -> None:
    steps = [PLAIN, PLAIN, branch(1), PLAIN, EXIT]
    found = blocks(steps)
    assert [(b.start, b.stop, b.successors) for b in found] == [(0, 1, (1,)), (1, 3, (1, 2)), (3, 5, ())]


def test_call_target_begins_a_block_though_the_call_falls_through() -> None:
    found = blocks([call(2), EXIT, RET])
    assert [(b.start, b.stop) for b in found] == [(0, 1), (1, 2), (2, 3)]
    assert found[0].successors == (1,)


def test_unreachable_code_is_a_block_too() -> None:
    assert [(b.start, b.stop) for b in blocks([jump(2), PLAIN, EXIT])] == [(0, 1), (1, 2), (2, 3)]


# Post-dominators


def test_postdominators_of_a_diamond() -> None:
    assert postdominators([(1, 2), (3,), (3,), ()], [3]) == [3, 3, 3, -1]


def test_postdominators_of_a_loop() -> None:
    assert postdominators([(1,), (1, 2), ()], [2]) == [1, 2, -1]


def test_two_ends_have_no_common_node() -> None:
    assert postdominators([(1, 2), (), ()], [1, 2]) == [-1, -1, -1]


def test_nodes_that_reach_no_end_are_ignored() -> None:
    assert postdominators([(1, 2), (1,), ()], [2]) == [2, -1, -1]


def reference_postdominators(graph: Sequence[Sequence[int]], ends: Sequence[int]) -> list[int]:
    """By definition: d post-dominates n when no path from n to an end avoids d."""
    count = len(graph)

    def reaches(start: int, without: int) -> bool:
        seen, stack = {start}, [start]
        while stack:
            node = stack.pop()
            if node == without:
                continue
            if node in ends:
                return True
            for other in graph[node]:
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return False

    result = []
    for node in range(count):
        if not reaches(node, -1):
            result.append(-1)
            continue
        strict = [d for d in range(count) if d != node and not reaches(node, d)]
        # The immediate one is post-dominated by all the others.
        nearest = [d for d in strict if all(o == d or not reaches(d, o) for o in strict)]
        result.append(nearest[0] if nearest else -1)
    return result


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[int]]:
    """A random graph of up to nine nodes with at most two successors each, and its ends."""
    count = draw(st.integers(1, 9))
    nodes = st.integers(0, count - 1)
    edges = [tuple(dict.fromkeys(draw(st.lists(nodes, max_size=2)))) for _ in range(count)]
    return edges, sorted(draw(st.sets(nodes, min_size=1, max_size=3)))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_postdominators_match_the_definition(case: tuple[list[tuple[int, ...]], list[int]]) -> None:
    graph, ends = case
    assert postdominators(graph, ends) == reference_postdominators(graph, ends)


# Reconvergence


def test_if_then_joins_behind() -> None:
    assert reconvergence([branch(2), PLAIN, EXIT]) == [2, -1, -1]


def test_if_then_else_joins_behind_both() -> None:
    steps = [branch(3), PLAIN, jump(4), PLAIN, EXIT]
    assert reconvergence(steps) == [4, -1, -1, -1, -1]


def test_loop_branch_joins_behind_the_loop() -> None:
    assert reconvergence([PLAIN, branch(0), EXIT]) == [-1, 2, -1]


def test_loop_with_break() -> None:
    # 0: head; 1: break to 4; 2: body; 3: back; 4: exit
    assert reconvergence([PLAIN, branch(4), PLAIN, branch(0), EXIT])[1:4] == [4, -1, 4]


def test_nested_ifs() -> None:
    # outer if around an inner if
    steps = [branch(5), branch(3), PLAIN, PLAIN, PLAIN, EXIT]
    assert reconvergence(steps) == [5, 3, -1, -1, -1, -1]


def test_unconditional_branches_part_nobody() -> None:
    assert reconvergence([jump(1), EXIT]) == [-1, -1]


def test_early_exit_does_not_keep_the_others_apart() -> None:
    # @p bra 4; @q bra 3; exit; (3) plain; (4) exit
    steps = [branch(4), branch(3), EXIT, PLAIN, EXIT]
    assert reconvergence(steps) == [4, 3, -1, -1, -1]


def test_guarded_exit_does_not_move_the_join() -> None:
    steps = [branch(2), Step(Behaviour.EXIT, True), EXIT]
    assert reconvergence(steps) == [2, -1, -1]


def test_trap_path_counts_as_left() -> None:
    assert reconvergence([branch(2), Step(Behaviour.TRAP), PLAIN, EXIT])[0] == 2


def test_endless_loop_has_no_join() -> None:
    assert reconvergence([branch(0), jump(0)]) == [-1, -1]


def test_functions_join_on_their_own() -> None:
    # 0: call 2; 1: exit; function: 2: branch 4; 3: plain; 4: ret
    assert reconvergence([call(2), EXIT, branch(4), PLAIN, RET]) == [-1, -1, 4, -1, -1]


def test_a_function_with_two_returns_has_no_join_inside() -> None:
    # 2: branch 4; 3: ret; 4: ret: the lanes go on in the caller either way
    assert reconvergence([call(2), EXIT, branch(4), RET, RET])[2] == -1


def test_branches_around_a_call_join_behind_it() -> None:
    assert reconvergence([branch(2), call(3), EXIT, RET])[0] == 2


def test_empty_program() -> None:
    assert reconvergence([]) == []


@pytest.mark.parametrize("suffix", ["", ".uni"])
def test_assembled_branches_carry_the_join(suffix: str) -> None:
    program = assemble(
        f"""
        mov.u32 i, %tid.x
        setp.lt.u32 p, i, 16
        @p bra{suffix} low
        add.u32 i, i, 1
        low:
        add.u32 i, i, 2
        exit
        """
    )
    assert program.instructions[2].target == 4
    assert program.instructions[2].reconverge == 4
    assert {i.reconverge for n, i in enumerate(program.instructions) if n != 2} == {-1}
