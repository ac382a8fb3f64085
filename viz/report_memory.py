"""The tables of a report that count memory: global and local accesses, caches, DRAM, shared memory."""

from __future__ import annotations

from collections.abc import Mapping

from .text_layout import number, percent, size

SECTOR_BYTES = 32
Row = tuple[str, ...]


def memory_table(counters: Mapping[str, int], rates: Mapping[str, float]) -> list[Row]:
    """Name, requests, sectors, sectors a request, hit rate, bytes; rows without traffic are left out.

    rates: `dram_burst_bytes`, bytes of a burst. A hit is found where it was looked for; sectors that
    were already on the way count as neither hit nor miss but are part of the accesses.
    """
    rows: list[Row] = [("", "requests", "sectors", "/request", "hit rate", "bytes")]

    def row(name: str, requests: int, sectors: int, hits: float, unit: int = SECTOR_BYTES) -> None:
        if requests or sectors:
            each = number(round(sectors / requests, 3)) if requests else "-"
            asked = number(requests) if requests else "-"
            rows.append((name, asked, number(sectors), each, percent(hits), size(sectors * unit)))

    none = float("nan")
    for kind in ("load", "store", "atomic"):
        requests = counters[f"global_{kind}_requests"]
        row(f"global {kind}s", requests, counters[f"global_{kind}_sectors"], none)
    local = counters["local_load_requests"] + counters["local_store_requests"]
    row("local", local, counters["local_sectors"], none)
    accesses = counters["l1_accesses"]
    row("L1 look-ups", 0, accesses, _ratio(counters["l1_hits"], accesses))
    accesses = counters["l2_accesses"]
    hits = counters["l2_hits"] + counters["l2_far_hits"]
    row("L2 look-ups", counters["l2_requests"], accesses, _ratio(hits, accesses))
    row("L2 writes", 0, counters["l2_writes"] + counters["l2_atomics"], none)
    burst = int(rates.get("dram_burst_bytes", SECTOR_BYTES))
    bursts = counters["dram_row_hits"] + counters["dram_row_misses"]
    row("DRAM reads", 0, counters["dram_read_bursts"], none, burst)
    row("DRAM writes", 0, counters["dram_write_bursts"], none, burst)
    if bursts:
        rows.append(
            ("DRAM row hits", "-", number(bursts), "-", percent(counters["dram_row_hits"] / bursts), "")
        )
    return rows


def shared_table(counters: Mapping[str, int]) -> list[Row]:
    """Name, requests, wavefronts, wavefronts a request, conflicts; rows without traffic are left out."""
    rows: list[Row] = [("", "requests", "wavefronts", "/request", "conflicts")]
    for kind in ("load", "store", "atomic"):
        requests = counters[f"shared_{kind}_requests"]
        if requests:
            wavefronts = counters[f"shared_{kind}_wavefronts"]
            each = number(round(wavefronts / requests, 3))
            conflicts = number(counters[f"shared_{kind}_conflicts"])
            rows.append((f"{kind}s", number(requests), number(wavefronts), each, conflicts))
    return rows


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
