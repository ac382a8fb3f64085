"""The exception tree: every error keeps its words and its hint when it is copied from its args."""

from __future__ import annotations

import pytest

from tinygpu.isa import errors


def _all(cls: type[errors.TinygpuError]) -> list[type[errors.TinygpuError]]:
    return [cls, *(found for sub in cls.__subclasses__() for found in _all(sub))]


PLAIN = [cls for cls in _all(errors.TinygpuError) if cls is not errors.SourceError]


@pytest.mark.parametrize("cls", PLAIN, ids=lambda cls: cls.__name__)
def test_a_copy_keeps_message_and_hint(cls: type[errors.TinygpuError]) -> None:
    error = cls("what went wrong", hint="what helps")
    copy = type(error)(*error.args)
    assert (str(copy), copy.message, copy.hint) == ("what went wrong", "what went wrong", "what helps")


def test_a_copy_of_a_source_error_keeps_its_diagnostics() -> None:
    found = errors.Diagnostic("a.s", 3, 5, "no such thing", "add x, y", 3, "did you mean add.u32?")
    error = errors.SourceError([found])
    copy = type(error)(*error.args)
    assert copy.diagnostics == (found,)
    assert (
        str(copy)
        == "a.s:3:5: error: no such thing\n    add x, y\n        ^~~\n    hint: did you mean add.u32?"
    )


def test_more_than_twenty_errors_are_counted() -> None:
    many = [errors.Diagnostic("a.s", line, 1, "wrong") for line in range(1, 24)]
    assert str(errors.SourceError(many)).endswith("(3 more errors)")


@pytest.mark.parametrize(
    ("cls", "code"),
    [(errors.InputError, 2), (errors.LaunchError, 2), (errors.MachineError, 2), (errors.WrongResult, 1),
     (errors.FaultError, 1), (errors.DeadlockError, 3), (errors.LimitError, 3), (errors.MissingError, 4)],
)  # fmt: skip
def test_exit_codes(cls: type[errors.TinygpuError], code: int) -> None:
    assert cls.exit_code == code
