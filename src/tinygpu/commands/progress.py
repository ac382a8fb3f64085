"""Progress of a long run on the terminal, and Ctrl-C that ends it with a partial report."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO

SILENT_SECONDS = 1.0  # shorter runs show nothing
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Called after each burst with the cycles simulated and the seconds that it took so far.

    A first Ctrl-C while the core runs is remembered and raised as KeyboardInterrupt at the next
    call, where the machine's books are in order; a second one is not waited with.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        """Show progress on `stream` (stderr by default) if it is a terminal."""
        self._stream = stream or sys.stderr
        self._shows = self._stream.isatty()
        self._next = SILENT_SECONDS
        self._shown = False
        self._running = False
        self._asked_to_stop = False

    def __call__(self, cycles: int, seconds: float) -> None:
        """Take note of the progress; raises KeyboardInterrupt when the user has asked for it."""
        self._running = True
        if self._shows and seconds >= self._next:
            rate = cycles / seconds
            self._stream.write(f"{CLEAR_LINE}{cycles:,} cycles simulated, {rate:,.0f} a second")
            self._stream.flush()
            self._shown = True
            self._next = seconds + 0.2
        if self._asked_to_stop:
            raise KeyboardInterrupt

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT."""
        if self._asked_to_stop or not self._running:
            raise KeyboardInterrupt
        self._asked_to_stop = True

    def clear(self) -> None:
        """Take the line away again."""
        if self._shown:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()
            self._shown = False


@contextmanager
def progress() -> Iterator[Progress]:
    """A Progress that handles SIGINT while the block runs (in the main thread, where one can)."""
    shown = Progress()
    before: Callable[..., object] | int | None = None
    try:
        before = signal.signal(signal.SIGINT, shown.interrupt)
    except ValueError:
        before = None
    try:
        yield shown
    finally:
        shown.clear()
        if before is not None:
            signal.signal(signal.SIGINT, before)
