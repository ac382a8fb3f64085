"""tinygpu: a cycle-level simulator of a small GPU that a person can read, drive and believe.

`run` runs a program and gives a result, `assemble` makes a program of a text, `Launch` runs a
program on NumPy arrays in place. Nothing is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        FaultError,
        InputError,
        Launch,
        LimitError,
        Program,
        RunResult,
        TinygpuError,
        TraceOptions,
        assemble,
        load_machine,
        machines,
        programs,
        run,
    )

__all__ = [
    "FaultError", "InputError", "Launch", "LimitError", "Program", "RunResult", "TinygpuError",
    "TraceOptions", "__version__", "assemble", "load_machine", "machines", "programs", "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("tinygpu-sim")
    if name in __all__:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module 'tinygpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*globals(), *__all__])
