"""The machine code of one micro-benchmark: PTX text between clock stamps, repeated inside one kernel.

A body runs as one block of inline PTX. Each repetition does the setup, meets the block's other warps at a
barrier, reads the clock (stamp 0), and then alternates parts and stamps. The barrier is there twice: a warp
goes on issuing for a while after it has arrived (`BAR.SYNC.DEFER_BLOCKING`), so that a clock read after one
barrier tells the time of arrival, not of release; the second barrier can only be arrived at after the first
has let go. The stamps, and the number of the SM, go to memory after the last of them, so that no store
disturbs what is timed.

Registers that a body may use (declared here once):

| name | what |
|---|---|
| `x0..x79`, `y0..y7` | 32 bits; `y` is for operands that do not change |
| `d0..d31`, `e0..e7` | 64 bits, likewise |
| `p0..p7`, `on` | predicates; `on` is false for lanes whose table entry is negative |
| `off`, `mem` | byte offset of this lane from the launch's table; start of the global buffer |
| `zero` | a 32-bit zero that the compiler cannot know to be zero |
| `after` | `zero` again, but only known after stamp 0: what depends on it cannot move before the stamp |
| `iters`, `pa`, `pb` | a 32-bit and two 64-bit numbers of the launch point |
| `sh`, `a` | start of the shared buffer; `sh + off`, this lane's shared address |
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

OPERANDS = ("off", "mem", "outp", "stride", "zero", "iters", "reps", "gap", "pa", "pb")
CONSTRAINTS = "l,l,l,l,r,r,r,r,l,l,~{memory}"

NOUNROLL = '.pragma "nounroll";'  # stands inside the loop, after its label

_DECLARE = """.reg .b32 x<80>, y<8>, s<40>, zero, after, iters, reps, gap, lane, it, sh, a, w0, w1;
.reg .b64 d<32>, e<8>, off, mem, outp, stride, pa, pb;
.reg .b16 h<8>;
.reg .pred p<8>, on, q, first;
.shared .align 1024 .b8 buffer[{shared}];
mov.u64 off, $0; mov.u64 mem, $1; mov.u64 outp, $2; mov.u64 stride, $3; mov.u32 zero, $4;
mov.u32 iters, $5; mov.u32 reps, $6; mov.u32 gap, $7; mov.u64 pa, $8; mov.u64 pb, $9;
mov.u32 lane, %laneid; mov.u32 sh, buffer; cvt.u32.u64 a, off; add.u32 a, a, sh; mov.u32 after, zero;
setp.ge.s64 on, off, 0; setp.eq.u32 first, lane, 0;
"""


@dataclass(frozen=True, slots=True)
class Body:
    """PTX of one benchmark: `once` before the repetitions, `setup` before stamp 0, `parts` between the
    stamps.

    `start` runs right after stamp 0 in every repetition (it seeds chains from `after`); `sink` names the
    32-bit registers whose values must look used; `wide_sink` the 64-bit ones. `counts` says how many
    operations of interest each part holds (per iteration, for a part that loops). `every_lane` keeps the
    stamps of all lanes. `shared` is the size of the shared buffer in bytes. `align` puts the barriers
    before stamp 0.
    """

    name: str
    parts: tuple[str, ...]
    counts: tuple[int, ...]
    start: str = ""
    setup: str = ""
    once: str = ""
    finish: str = ""
    sink: tuple[str, ...] = ()
    wide_sink: tuple[str, ...] = ()
    extra_stamps: int = 0
    every_lane: bool = False
    shared: int = 1024
    align: bool = True

    @property
    def stamps(self) -> int:
        """Clock stamps of one repetition: one before each part, one at the end, and the body's own."""
        return len(self.parts) + 1 + self.extra_stamps

    @property
    def columns(self) -> int:
        """32-bit words that a repetition writes for one row: stamps, the SM's number, the folded values of
        the sinks."""
        return self.stamps + 2

    def text(self) -> str:
        """The whole block of inline PTX, with `$0..$9` for the operands of `OPERANDS`."""
        lines = ["{", _DECLARE.format(shared=self.shared), self.once, "AGAIN:", NOUNROLL]
        lines += [self.setup, "bar.sync 0;\nbar.sync 0;" if self.align else ""]
        for index, part in enumerate(self.parts):
            lines.append(_stamp(index))
            if index == 0:
                lines += ["and.b32 after, s0, zero;", self.start]
            lines.append(part)
        lines += [_stamp(len(self.parts)), self.finish, *self._uses(), *self._stores(), _WAIT, "}"]
        return "\n".join(line for line in lines if line)

    def _uses(self) -> list[str]:
        uses = ["mov.u32 w0, zero;"]
        uses += [f"xor.b32 w0, w0, {name};" for name in self.sink]
        for name in self.wide_sink:
            uses += [f"cvt.u32.u64 w1, {name};", "xor.b32 w0, w0, w1;"]
        return uses

    def _stores(self) -> list[str]:
        guard = "" if self.every_lane else "@first "
        rows = [f"{guard}st.global.u32 [outp+{4 * i}], s{i};" for i in range(self.stamps)]
        rows += ["mov.u32 w1, %smid;", f"{guard}st.global.u32 [outp+{4 * self.stamps}], w1;"]
        return [*rows, f"{guard}st.global.u32 [outp+{4 * self.stamps + 4}], w0;"]

    def digest(self) -> str:
        """SHA-256 of the text: two records with equal digests ran the same instructions."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def _stamp(index: int) -> str:
    return f"mov.u32 s{index}, %clock;"


_WAIT = """add.s64 outp, outp, stride;
mov.u32 w0, %clock;
PAUSE:
.pragma "nounroll";
mov.u32 w1, %clock; sub.u32 w1, w1, w0; setp.lt.u32 q, w1, gap;
@q bra PAUSE;
sub.u32 reps, reps, 1; setp.ne.u32 q, reps, 0;
@q bra AGAIN;"""


def repeated(lines: list[str], times: int) -> str:
    """`lines` once after another, `times` times, `{i}` replaced by the running number of the line."""
    count = len(lines)
    return "\n".join(lines[i % count].replace("{i}", str(i)) for i in range(times * count))


def loop(inner: str, label: str = "LOOP") -> str:
    """`inner` run `iters` times by a counted loop that the compiler may not unroll."""
    return (
        f"mov.u32 it, iters;\n{label}:\n{NOUNROLL}\n{inner}\n"
        f"sub.u32 it, it, 1; setp.ne.u32 q, it, 0;\n@q bra {label};"
    )


def masked(part: str, label: int = 0) -> str:
    """`part` for the lanes that are on: one branch around all of it, so that it costs the same at any
    length."""
    return f"@!on bra OFF{label};\n{part}\nOFF{label}:\nbar.warp.sync 0xffffffff;"
