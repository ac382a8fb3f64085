"""The tables of a report that count memory: global and local accesses, caches, DRAM, shared memory."""

from __future__ import annotations

from collections.abc import Mapping

from .text_layout import number, percent, size

NONE = float("nan")
Row = tuple[str, ...]


def memory_table(counters: Mapping[str, int], rates: Mapping[str, float]) -> list[Row]:
    """Name, requests, sectors, sectors a request, hits, merges, bytes; rows without traffic are left out.

    rates: `dram_burst_bytes`, bytes of a burst; a sector has 32. Hits are the share of the
    looked-up sectors that were there, merges the share that was already on the way.
    """
    rows: list[Row] = [("", "requests", "sectors", "/request", "hits", "merges", "bytes")]

    def row(
        name: str,
        requests: int,
        sectors: int,
        hits: float = NONE,
        merges: float = NONE,
        unit: int = 32,
    ) -> None:
        if requests or sectors:
            each = number(round(sectors / requests, 3)) if requests else "-"
            asked = number(requests) if requests else "-"
            found = percent(hits), percent(merges)
            rows.append((name, asked, number(sectors), each, *found, size(sectors * unit)))

    for kind in ("load", "store", "atomic"):
        row(f"global {kind}s", counters[f"global_{kind}_requests"], counters[f"global_{kind}_sectors"])
    local = counters["local_load_requests"] + counters["local_store_requests"]
    row("local", local, counters["local_sectors"])
    looked = counters["l1_accesses"]
    row("L1 look-ups", 0, looked, _ratio(counters["l1_hits"], looked), _ratio(counters["l1_merges"], looked))
    sent = sum(counters[f"l2_{kind}_sectors"] for kind in ("read", "write", "atomic"))
    row("SM to L2", counters["l2_requests"], sent)
    looked = counters["l2_accesses"]
    hits = counters["l2_hits"] + counters["l2_far_hits"]
    row("L2 look-ups", 0, looked, _ratio(hits, looked), _ratio(counters["l2_merges"], looked))
    burst = int(rates.get("dram_burst_bytes", 32))
    row("DRAM reads", 0, counters["dram_read_bursts"], unit=burst)
    row("DRAM writes", 0, counters["dram_write_bursts"], unit=burst)
    bursts = counters["dram_row_hits"] + counters["dram_row_misses"]
    if bursts:
        hits = counters["dram_row_hits"]
        rows.append(("DRAM rows", "-", number(bursts), "-", percent(hits / bursts), "-", ""))
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
    return part / whole if whole else NONE
