"""Launch plans: grids, arguments, overrides, checks of results and counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import InputError, LaunchError, SourceError
from tinygpu.isa.launch import LaunchPlan, pack_parameters, plan, reassemble, split_overrides
from tinygpu.isa.program import Program

MATMUL = """
.kernel matmul(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)
.shared As: f32[T][T]
.let N = 32
.let T = 16
.launch grid = (N/T, N/T), block = (T, T)
.arg A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B, rtol = 1e-5
.count requests = 2 * warps
.count sectors @load = 4 * warps
.count sectors_per_request @load = 4
.repeat k, T
    nop
.end
load:
    exit
"""


def program(text: str = MATMUL, **lets: Any) -> Program:
    return assemble(text, "matmul.s", lets=lets)


def small(directives: str, parameters: str = "A: ptr.f32", lets: str = "") -> Program:
    """A kernel that does nothing, with the given directives."""
    return assemble(
        f".kernel k({parameters})\n{lets}\n.launch grid = 1, block = 32\n{directives}\nexit", "k.s"
    )


# Grid and block


def test_the_directives_alone_make_a_launch() -> None:
    found = plan(program())
    assert (found.grid, found.block) == ((2, 2, 1), (16, 16, 1))
    assert list(found.arguments) == ["A", "B", "C", "n"]
    assert {n: (a.dtype, a.shape) for n, a in found.arrays.items()} == dict.fromkeys(
        "ABC", (np.dtype("float32"), (32, 32))
    )
    assert found.arguments["n"] == 32 and found.arguments["n"].dtype == np.int32


@pytest.mark.parametrize(
    ("given", "dimensions"),
    [(5, (5, 1, 1)), ((2, 3), (2, 3, 1)), ((2, 3, 4), (2, 3, 4)), ("7", (7, 1, 1)), ("2, N/16", (2, 2, 1)),
     ("(1, 2, 3)", (1, 2, 3)), (np.int64(6), (6, 1, 1))],
)  # fmt: skip
def test_grid_and_block_from_the_caller(given: Any, dimensions: tuple[int, int, int]) -> None:
    found = plan(program(), grid=given, block=given)
    assert found.grid == dimensions and found.block == dimensions


@pytest.mark.parametrize("given", [0, -1, "0", (1, 2, 3, 4), (), 2.5, "2.5", True, (4, 0), 1 << 31])
def test_impossible_grids(given: Any) -> None:
    with pytest.raises(LaunchError, match="the grid is"):
        plan(program(), grid=given)


def test_a_grid_that_is_no_expression() -> None:
    with pytest.raises(InputError, match=r"grid = 2 \+: this is not an expression"):
        plan(program(), grid="2 +")


def test_a_missing_launch_is_named() -> None:
    with pytest.raises(LaunchError) as caught:
        plan(assemble("exit"))
    assert caught.value.message == "the program does not say its grid"
    assert caught.value.hint == "add .launch grid = ..."


def test_a_wrong_launch_directive_is_shown_at_its_place() -> None:
    bad = assemble(".let N = 3\n.launch grid = N/2, block = 1\nexit", "g.s")
    with pytest.raises(SourceError) as caught:
        plan(bad)
    (found,) = caught.value.diagnostics
    assert (found.file, found.line, found.column, found.message) == ("g.s", 2, 16, "3 / 2 leaves a remainder")
    with pytest.raises(SourceError, match="the block is 0"):
        plan(assemble(".launch grid = 1, block = 0\nexit"))


# Overrides


def test_a_let_override_changes_everything_that_depends_on_it() -> None:
    found = plan(program(), {"N": "64", "T": "8"})
    assert found.grid == (8, 8, 1) and found.block == (8, 8, 1)
    assert found.arguments["A"].shape == (64, 64) and found.arguments["n"] == 64
    assert len(found.program.instructions) == 9 and len(program().instructions) == 17
    assert found.program.shared_bytes == 256 and program().shared_bytes == 1024


def test_an_override_may_be_an_expression() -> None:
    assert plan(program(), {"N": "4 * 16"}).arguments["n"] == 64


def test_unknown_overrides_name_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        plan(program(), {"M": "3"})
    assert caught.value.message == "the program has no constant or parameter M"
    with pytest.raises(InputError) as caught:
        plan(small(".arg A = zeros(4)", lets=".let SIZE = 3"), {"SIZES": "3"})
    assert caught.value.hint == "did you mean SIZE?"


def test_overrides_are_parted() -> None:
    assert split_overrides(program(), {"N": "1", "A": "x"}) == ({"N": "1"}, {"A": "x"})


def test_reassembling_without_lets_keeps_the_program() -> None:
    one = program()
    assert reassemble(one, {}) is one


def test_reassembling_reads_includes_from_memory() -> None:
    texts = {"part.s": ".repeat k, N\nnop\n.end\n"}
    one = assemble('.let N = 2\n.include "part.s"\nexit', include=texts.__getitem__)
    assert one.includes == texts
    assert len(reassemble(one, {"N": "5"}).instructions) == 6


def test_an_argument_override_is_an_expression() -> None:
    found = plan(program(), {"A": "full((N, N), 2)", "n": "7"})
    assert (found.arguments["A"] == 2).all() and found.arguments["n"] == 7


def test_an_argument_override_from_a_file(tmp_path: Path) -> None:
    data = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "a.npy", data)
    found = plan(small(".arg A = zeros(4)"), {"A": f"@{tmp_path / 'a.npy'}"})
    np.testing.assert_array_equal(found.arguments["A"], data)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file or directory"), (b"", "it is no .npy file"), (b"hello", "it is no .npy file")],
)
def test_argument_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "a.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        plan(small(".arg A = zeros(4)"), {"A": f"@{path}"})


def test_pickled_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read"):
        plan(small(".arg A = zeros(4)"), {"A": f"@{tmp_path / 'a.npy'}"})


# Arguments


def test_random_arguments_depend_on_name_and_seed_only() -> None:
    one, two, other = plan(program()), plan(program()), plan(program(), seed=1)
    np.testing.assert_array_equal(one.arguments["A"], two.arguments["A"])
    assert not np.array_equal(one.arguments["A"], one.arguments["B"])
    assert not np.array_equal(one.arguments["A"], other.arguments["A"])
    alone = plan(small(".arg A = uniform(32, 32)"))
    np.testing.assert_array_equal(alone.arguments["A"], one.arguments["A"])


def test_the_first_random_numbers_stay_what_they_are() -> None:
    # Frozen: recorded results depend on these inputs.
    found = plan(small(".arg A = uniform(3)")).arguments["A"]
    np.testing.assert_allclose(found, FROZEN, rtol=1e-7)


FROZEN = np.float32([0.010661711916, 0.6508258581161, 0.9936212301254])


def test_arguments_may_use_earlier_arguments() -> None:
    found = plan(small(".arg n = 3, A = full(n, 2), B = A + n", "A: ptr.f32, B: ptr.f32, n: s32"))
    np.testing.assert_array_equal(found.arguments["B"], [5, 5, 5])
    assert list(found.arguments) == ["A", "B", "n"]


def test_arguments_are_read_only_copies() -> None:
    given = np.zeros(4, dtype=np.float32)
    found = plan(small(""), args={"A": given}).arguments["A"]
    given[0] = 1
    assert found[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(LaunchError) as caught:
        plan(small(""))
    assert caught.value.message == "the parameter A (ptr.f32) has no value"


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(InputError, match="the kernel has no parameter a"):
        plan(small(".arg A = zeros(1)"), args={"a": 1})


@pytest.mark.parametrize(
    ("type_", "text", "dtype"),
    [
        ("f32", "zeros(3)", "float32"), ("f64", "zeros(3)", "float64"), ("f16", "ones(3)", "float16"),
        ("s32", "arange(3)", "int32"), ("u32", "zeros(3)", "uint32"), ("b32", "full(3, 0 - 1)", "uint32"),
        ("s8", "full(3, 0 - 128)", "int8"), ("u8", "full(3, 255)", "uint8"), ("s64", "arange(3)", "int64"),
        ("u64", "zeros(3)", "uint64"), ("s16", "arange(3)", "int16"), ("f16x2", "f16(arange(4))", "uint32"),
        ("bf16", "full(3, 1.5)", "uint16"),
    ],
)  # fmt: skip
def test_array_types(type_: str, text: str, dtype: str) -> None:
    found = plan(small(f".arg A = {text}", f"A: ptr.{type_}")).arguments["A"]
    assert found.dtype == np.dtype(dtype) and found.flags["C_CONTIGUOUS"]


def test_special_patterns() -> None:
    assert plan(small(".arg A = full(1, 1.5)", "A: ptr.bf16")).arguments["A"][0] == 0x3FC0
    assert plan(small(".arg A = full(1, 0 - 1)", "A: ptr.b32")).arguments["A"][0] == 0xFFFFFFFF
    packed = plan(small(".arg A = f16(arange(2))", "A: ptr.f16x2")).arguments["A"]
    assert packed.shape == (1,) and packed[0] == 0x3C000000


@pytest.mark.parametrize(
    ("type_", "text", "message"),
    [
        ("ptr.s32", "full(2, 0.5)", "takes whole numbers"),
        ("ptr.u8", "full(2, 256)", "cannot hold 256"),
        ("ptr.u32", "full(2, 0 - 1)", "cannot hold -1"),
        ("ptr.f32", "3", "takes an array, not 3"),
        ("s32", "zeros(2)", "is one s32, not an array of shape (2,)"),
        ("s32", "1.5", "takes whole numbers"),
        ("s32", "1 << 31", "cannot hold 2147483648"),
        ("u32", "0 - 1", "cannot hold -1"),
        ("s32", "(1, 2)", "is one s32, not an array of shape (2,)"),
        ("ptr.f32", "zeros(2) / (1, 2)", "a tuple takes no part in arithmetic"),
        ("ptr.f32", "zeros(0 - 2)", "-2 is not the size of an array"),
    ],
)
def test_wrong_arguments_are_shown_at_their_place(type_: str, text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        plan(small(f".arg A = {text}", f"A: {type_}"))
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert (found.file, found.line) == ("k.s", 4) and found.column >= 10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(2), "is float64, not float32"),
        (np.zeros(2, dtype=np.int32), "is int32, not float32"),
        (np.array(["a"]), "takes numbers, not <U1"),
        (np.zeros(2, dtype=complex), "takes numbers, not complex128"),
        (3.0, "takes an array, not 3.0"),
    ],
)
def test_wrong_arguments_from_python(given: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        plan(small(""), args={"A": given})


def test_lists_and_signedness_from_python() -> None:
    assert plan(small(""), args={"A": [1, 2]}).arguments["A"].dtype == np.float32
    found = plan(small("", "A: ptr.u32"), args={"A": np.array([-1], dtype=np.int32)}).arguments["A"]
    assert found.dtype == np.uint32 and found[0] == 0xFFFFFFFF


# Parameter space


def test_pack_parameters() -> None:
    one = small("", "a: s32, P: ptr.f32, b: u8, c: s16, d: f64")
    values = {
        "a": np.int32(-2),
        "P": 0x1122334455667788,
        "b": np.uint8(7),
        "c": np.int16(-3),
        "d": np.float64(1),
    }
    assert [(p.name, p.offset, p.bytes) for p in one.parameters] == [
        ("a", 0, 4), ("P", 8, 8), ("b", 16, 4), ("c", 20, 4), ("d", 24, 8),
    ]  # fmt: skip
    packed = pack_parameters(one, values)
    assert packed == bytes.fromhex(
        "feffffff00000000" + "8877665544332211" + "07000000" + "fdffffff" + "000000000000f03f"
    )


# Checks


def checked(directives: str, finals: dict[str, Any], parameters: str = "A: ptr.f32", **options: Any) -> Any:
    found = plan(small(directives, parameters), **options)
    return found.check(finals)[0]


def test_a_right_result() -> None:
    found = plan(program())
    product = found.arguments["A"].astype(float) @ found.arguments["B"].astype(float)
    (result,) = found.check({"C": product.astype(np.float32)})
    assert result.ok and result.name == "C" and result.line == 8 and result.bad == 0
    assert 0 < result.max_rel_error < 1e-6 and result.first_bad_index is None
    assert result.elements == 1024


def test_a_wrong_result_names_the_first_bad_element() -> None:
    found = plan(program(), {"A": "full((N, N), 1)", "B": "full((N, N), 1)"})
    final = np.full((32, 32), 32, dtype=np.float32)
    final[3, 5] = 33
    final[4, 0] = 16
    (result,) = found.check({"C": final})
    assert not result.ok and result.first_bad_index == (3, 5)
    assert (result.expected, result.got, result.bad) == (32.0, 33.0, 2)
    assert (result.max_abs_error, result.max_rel_error) == (16.0, 0.5)


def test_names_mean_final_values_left_and_initial_ones_right() -> None:
    good = checked(".arg A = arange(4)\n.expect A == A + 1", {"A": np.float32([1, 2, 3, 4])})
    assert good.ok and good.relation == "=="


def test_exact_comparison_allows_no_error() -> None:
    final = np.float32([1.0000001])
    assert not checked(".arg A = ones(1)\n.expect A == A", {"A": final}).ok
    assert checked(".arg A = ones(1)\n.expect A ~ A", {"A": final}).ok


def test_exact_comparison_computes_in_the_arrays_type() -> None:
    final = np.float32([0.1]) + np.float32([0.2])
    assert checked(".arg A = full(1, 0.1)\n.expect A == A + f32(full(1, 0.2))", {"A": final}).ok


def test_tolerances() -> None:
    final = np.float32([1.05])
    assert not checked(".arg A = ones(1)\n.expect A ~ A, rtol = 0.01", {"A": final}).ok
    assert checked(".arg A = ones(1)\n.expect A ~ A, rtol = 0.1", {"A": final}).ok
    assert checked(".arg A = ones(1)\n.expect A ~ A, rtol = 0, atol = 0.06", {"A": final}).ok


def test_nan_and_infinity() -> None:
    directives = ".arg A = full(2, nan)\n.expect A ~ A"
    assert checked(directives, {"A": np.float32([np.nan, np.nan])}).ok
    bad = checked(directives, {"A": np.float32([np.nan, 1])})
    assert not bad.ok and bad.first_bad_index == (1,) and bad.max_abs_error == np.inf
    assert checked(".arg A = full(1, inf)\n.expect A ~ A", {"A": np.float32([np.inf])}).ok
    assert not checked(".arg A = full(1, inf)\n.expect A ~ A", {"A": np.float32([-np.inf])}).ok
    assert not checked(".arg A = ones(1)\n.expect A ~ A", {"A": np.float32([np.inf])}).ok


def test_large_integers_are_compared_exactly() -> None:
    directives = ".arg A = full(1, 1 << 62)\n.expect A == A"
    assert checked(directives, {"A": np.int64([1 << 62])}, "A: ptr.s64").ok
    assert not checked(directives, {"A": np.int64([(1 << 62) + 1])}, "A: ptr.s64").ok


def test_bf16_arrays_are_compared_as_numbers() -> None:
    directives = ".arg A = full(2, 1.5)\n.expect A == A * 2"
    assert checked(directives, {"A": np.uint16([0x4040, 0x4040])}, "A: ptr.bf16").ok


def test_an_expression_on_the_left() -> None:
    assert checked(".arg A = ones(4)\n.expect sum(A[0:2]) == 6", {"A": np.float32([3, 3, 0, 0])}).ok


def test_a_scalar_is_broadcast_and_shapes_must_fit() -> None:
    assert checked(".arg A = zeros(2, 2)\n.expect A == 5", {"A": np.full((2, 2), 5, np.float32)}).ok
    with pytest.raises(SourceError, match=r"the expected value has the shape \(3,\), A has \(2, 2\)"):
        checked(".arg A = zeros(2, 2)\n.expect A == arange(3)", {"A": np.zeros((2, 2), np.float32)})


def test_an_expectation_that_cannot_be_computed() -> None:
    with pytest.raises(SourceError) as caught:
        checked(".arg A = zeros(2)\n.expect A == A[5]", {"A": np.zeros(2, np.float32)})
    (found,) = caught.value.diagnostics
    assert (found.line, found.column) == (5, 14)


# Counts


def counters(values: dict[tuple[str, int], float]) -> Any:
    return lambda name, pc: values[name, pc]


def test_counts_are_compared() -> None:
    found: LaunchPlan = plan(program())  # 4 blocks of 8 warps
    good = {("requests", -1): 64, ("sectors", 16): 128, ("requests", 16): 32}
    results = found.check_counts(counters(good))
    assert [(r.name, r.pc, r.ok, r.expected, r.got, r.line) for r in results] == [
        ("requests", -1, True, 64, 64, 9), ("sectors", 16, True, 128, 128, 10),
        ("sectors_per_request", 16, True, 4, 4.0, 11),
    ]  # fmt: skip
    bad = found.check_counts(counters(good | {("sectors", 16): 129}))
    assert [r.ok for r in bad] == [True, False, False]


def test_a_ratio_to_nothing_is_zero() -> None:
    found = plan(small(".arg A = zeros(1)\n.count sectors_per_request = 4"))
    (result,) = found.check_counts(lambda name, pc: {"sectors": 0, "requests": 0}[name])
    assert not result.ok and result.got == 0.0


def test_an_unknown_counter_is_shown_at_its_place() -> None:
    found = plan(small(".arg A = zeros(1)\n.count sectorz = 4"))

    def read(name: str, pc: int) -> float:
        raise KeyError(name)

    with pytest.raises(SourceError) as caught:
        found.check_counts(read, ("sectors", "lines"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "there is no counter sectorz" and diagnostic.hint == "did you mean sectors?"
    assert (diagnostic.line, diagnostic.column) == (5, 8)


def test_count_expressions_know_the_launch_and_scalars() -> None:
    found = plan(
        small(".arg A = zeros(1), n = 5\n.count issued = n * warps + blocks * threads", "A: ptr.f32, n: s32")
    )
    (result,) = found.check_counts(lambda name, pc: 5 + 32)
    assert result.ok
