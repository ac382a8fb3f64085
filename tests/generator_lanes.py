"""Random meetings of lanes, warps and blocks, and what only takes time: the generator's lane part."""

from __future__ import annotations

from generator_base import FIXED_SPECIALS, PAIR_POOL, PREDICATE_POOL, REDUCTIONS, Maker


class LanePart(Maker):
    """Shuffles, votes, matches, reductions, barriers, special registers."""

    def shuffle(self) -> None:
        """A shuffle; where the lane read may not be here, the result is kept only if it is."""
        mode = self.random.choice(("up", "down", "bfly", "idx"))
        width = self.random.choice((2, 4, 8, 16, 32))
        c = (32 - width) << 8 | (0 if mode == "up" else 31)
        step = self.random.choice((str(self.random.randrange(32)), self.word()))
        value = self.word()
        if self.depth == 0 and self.threads % 32 == 0:
            dest = self.word() + self.random.choice(("", f"|{self.random.choice(PREDICATE_POOL)}"))
            self.emit(f"shfl.sync.{mode}.b32 {dest}, {value}, {step}, {c:#x}, {self.mask()}")
            return
        target = self.word()
        self.emit(f"and.b32 t, {self.word()}, 31")
        self.emit(f"shfl.sync.idx.b32 t2, {value}, t, 31, {self.mask()}")
        self.emit(f"shr.u32 t3, {self.mask()}, t")
        self.emit("and.b32 t3, t3, 1")
        self.emit("setp.ne.u32 c, t3, 0")
        self.emit(f"selp.b32 {target}, t2, {value}, c")
        self.emit("mov.u32 t2, 0")  # nothing uncertain may stay in a register

    def vote(self) -> None:
        """A vote of the lanes that are here."""
        source = self.random.choice(("", "!")) + self.random.choice(PREDICATE_POOL)
        mode = self.random.choice(("all", "any", "uni", "ballot"))
        if mode == "ballot":
            self.emit(f"vote.sync.ballot.b32 {self.word()}, {source}, {self.mask()}")
        else:
            self.emit(f"vote.sync.{mode}.pred {self.random.choice(PREDICATE_POOL)}, {source}, {self.mask()}")

    def match(self) -> None:
        """A match on few different values."""
        self.emit(f"and.b32 t, {self.word()}, 3")
        mode = self.random.choice(("any", "all", "all64"))
        if mode == "any":
            self.emit(f"match.any.sync.b32 {self.word()}, t, {self.mask()}")
        elif mode == "all":
            dest = f"{self.word()}|{self.random.choice(PREDICATE_POOL)}"
            self.emit(f"match.all.sync.b32 {dest}, t, {self.mask()}")
        else:
            self.emit(f"match.any.sync.b64 {self.word()}, {self.random.choice(PAIR_POOL)}, {self.mask()}")

    def redux(self) -> None:
        """A reduction over the lanes that are here."""
        opcode = self.random.choice(REDUCTIONS)
        self.emit(f"{opcode.name} {self.word()}, {self.word()}, {self.mask()}")

    def special(self) -> None:
        """A special register that does not depend on time or place."""
        self.emit(f"{self.guard()}mov.u32 {self.word()}, %{self.random.choice(FIXED_SPECIALS)}")

    def misc(self) -> None:
        """What takes time and computes nothing."""
        self.emit(self.random.choice(
            ("nop", "fence.cta", "fence.gpu", "fence.sys", "nanosleep 20", f"bar.warp.sync {self.mask()}")
        ))  # fmt: skip

    def barrier(self) -> None:
        """Barriers of the whole block, with and without a count, and an arrival."""
        size = 32 * self.warps
        if self.random.random() < 0.5:
            self.emit(f"bar.sync {self.random.randrange(16)}, {size}")
        else:
            self.emit("setp.lt.u32 c, tid, 32")
            self.emit(f"@c bar.arrive 3, {size}")
            self.emit(f"@!c bar.sync 3, {size}")
        self.emit("bar.sync 0")
