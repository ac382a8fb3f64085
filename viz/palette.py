"""How each warp state looks: colour, pattern, letter and words, told apart without colour as well.

The hues are Okabe and Ito's, which people with any kind of colour vision tell apart; states of
one family share a hue and differ by pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """One state: words for people, `#rrggbb`, matplotlib hatch ("" for plain), letters for text."""

    words: str
    colour: str
    hatch: str
    letter: str
    block: str
    ansi: int  # number in the terminal's 256 colours


GREEN, BLUE, SKY, RED = "#009E73", "#0072B2", "#8CCBEF", "#D55E00"
ORANGE, YELLOW, PINK, GREY = "#E69F00", "#F0E442", "#CC79A7", "#D0D0D0"
LIGHT_RED, LIGHT_ORANGE, DARK_GREY = "#EFA273", "#F6CF7F", "#9A9A9A"

LOOKS: Mapping[str, Look] = {
    "selected": Look("issuing", GREEN, "", "#", "█", 35),
    "not_selected": Look("not selected", SKY, "", "+", "▓", 117),
    "wait": Look("wait (fixed latency)", GREY, "", ".", "░", 250),
    "no_instruction": Look("no instruction", YELLOW, "", "n", "n", 227),
    "branch_resolving": Look("branch resolving", YELLOW, "////", "b", "b", 227),
    "long_scoreboard": Look("long scoreboard (L1, L2, DRAM)", RED, "", "L", "L", 166),
    "short_scoreboard": Look("short scoreboard (shared, shuffle)", ORANGE, "", "S", "S", 214),
    "math_pipe_throttle": Look("math pipe throttle", PINK, "", "m", "m", 175),
    "mio_throttle": Look("MIO throttle", LIGHT_ORANGE, "////", "q", "q", 222),
    "lg_throttle": Look("LG throttle", LIGHT_RED, "////", "g", "g", 216),
    "dispatch_stall": Look("dispatch stall", PINK, "////", "d", "d", 175),
    "barrier": Look("barrier", BLUE, "", "B", "B", 32),
    "membar": Look("memory fence", BLUE, "////", "f", "f", 32),
    "sleeping": Look("sleeping", DARK_GREY, "....", "z", "z", 246),
    "drain": Look("drain", DARK_GREY, "////", "x", "x", 246),
    "misc": Look("other", DARK_GREY, "", "?", "?", 246),
}

# What a stretch of a state that this version does not know looks like.
UNKNOWN = Look("unknown", DARK_GREY, "xxxx", "?", "?", 246)
EMPTY_COLOUR = "#F4F4F4"  # no warp is there
INK = "#222222"

# Letter and words for an issued instruction in a close-up, and the timing classes that they stand for.
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "F": ("fp32", ("fp32",)),
    "H": ("half", ("half",)),
    "D": ("fp64", ("fp64",)),
    "T": ("special function", ("sfu",)),
    "I": ("integer", ("int32", "imad", "imad_wide", "int64", "popc")),
    "C": ("convert", ("convert",)),
    "P": ("compare", ("compare",)),
    "R": ("special register", ("special",)),
    "M": ("memory", ("memory",)),
    "X": ("across lanes", ("shuffle", "vote", "match", "redux")),
    "B": ("branch, exit", ("branch",)),
    "S": ("barrier, fence", ("barrier", "warp_barrier", "fence")),
    "Z": ("sleep", ("sleep",)),
    "E": ("trap, nop", ("control",)),
}
LETTERS = {timing: letter for letter, (_, classes) in KINDS.items() for timing in classes}


def look(state: str) -> Look:
    """The look of a state by its name; an unknown one gets a look of its own."""
    return LOOKS.get(state, UNKNOWN)


def kind(timing: str) -> str:
    """The letter of an instruction by its timing class, "?" when unknown."""
    return LETTERS.get(timing, "?")


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green, blue of `#rrggbb`, each 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def textured(states: Array, names: tuple[str, ...], row_pixels: int) -> Array:
    """Pixels of a grid of states: uint8 of shape (rows * row_pixels, columns, 3).

    states: shape (rows, columns), numbers into `names`; a number beyond them is empty. Hatched
    states get darker diagonals or dots, pixel for pixel, and rows are parted by a light line
    where they are at least four pixels high.
    """
    table = np.full((256, 3), rgb(EMPTY_COLOUR), np.float64)
    stripes = np.zeros(256, bool)
    dots = np.zeros(256, bool)
    for number, name in enumerate(names):
        seen = look(name)
        table[number] = rgb(seen.colour)
        stripes[number] = seen.hatch.startswith(("/", "x"))
        dots[number] = seen.hatch.startswith(".")
    big = np.repeat(states, row_pixels, axis=0)
    pixels = table[big]
    y = np.arange(big.shape[0])[:, None]
    x = np.arange(big.shape[1])[None, :]
    dark = stripes[big] & ((x + y) % 6 < 2) | dots[big] & (x % 4 < 2) & (y % 4 < 2)
    pixels[dark] *= 0.55
    if row_pixels >= 4:
        pixels[row_pixels - 1 :: row_pixels] = rgb("#FFFFFF")
    painted: Array = pixels.astype(np.uint8)
    return painted
