"""Guaranteed rates of NFP programs: the slowest packets, and what rate the NIC sustains whatever
arrives.
"""

import dataclasses
import time

from . import costs as cost_table
from .program import load

__all__ = ["Guarantee", "SlowPath", "guarantee"]

METRICS = ("bit-rate", "packet-rate")
BITS = 8  # of a byte


@dataclasses.dataclass
class SlowPath:
    """A path of the program that a packet can take, with the smallest such packet.

    cycles: of a core per packet, exact; max_cycles: as the search over-estimates them; dram_cycles:
    of the memory engine. packet: bytes by offset, those that matter; memory: DRAM bytes by offset.
    packet_rate in 1/s, bit_rate in bit/s, both with all cores on packets of this kind. replayed:
    the interpreter took this path and these cycles.
    """

    path: str
    cycles: int
    max_cycles: int
    dram_cycles: float
    packet_size: int
    packet_rate: float
    bit_rate: float
    bottleneck: str
    packet: dict
    memory: dict
    replayed: bool


@dataclasses.dataclass
class Guarantee:
    """What `guarantee` returns.

    verdict: "exact" (slowest[0] is the slowest packet), or "bounded" (a limit or Ctrl-C came
    first). rate: guaranteed, in bit/s or packets/s as the metric says, whatever the verdict. It
    covers every packet: it is that of the slowest path by its over-estimated cycles, or of all that
    is not excluded yet. naive: {cycles, dram_cycles, packet_size, bit_rate, packet_rate}, from the
    control flow alone. unsat_before: paths of the control flow that would be slower and are
    impossible; None: too many to count.
    """

    metric: str
    cores: float
    verdict: str
    rate: float
    naive: dict
    slowest: list
    unsat_before: float
    loops: dict
    seconds: float
    search: dict
    interrupted: bool = False


def guarantee(
    path, metric="bit-rate", cores=None, unroll=None, paths=1, limit=None, costs=None, progress=None
):
    """The Guarantee of the program in the listing `path`.

    cores: that run it and share the memory engine (default: all of the cost table's). unroll: text
    as of --unroll; without it the limits of loops are found. paths: how many of the slowest. limit:
    seconds. costs: what models.nfp.costs.load returns. progress(rate, found, states) is called now
    and then. Raises Error E-nfp-listing, E-nfp-loop, E-nfp-cost, E-nfp-undefined, E-nfp-none.
    """
    begin = time.monotonic()
    costs = costs or cost_table.load()
    cores = costs["islands"] * costs["cores_per_island"] if cores is None else cores
    program = load(path, costs, unroll)
    per_byte = metric == "bit-rate"
    clock = costs["clock_hz"]

    def rate_of(value):
        return clock * cores / value * (BITS if per_byte else 1)

    def go_on(bound, states, refuted, found):
        if progress is not None and bound > 0:
            progress(rate_of(bound), found, states)
        return limit is None or time.monotonic() - begin < limit

    z3_seconds = 20.0 if limit is None else max(0.1, min(20.0, limit))
    found = program.slowest(per_byte, float(cores), paths, go_on, z3_seconds)
    slowest = [_slow_path(program, one, clock, cores) for one in found["slowest"]]
    worst = max([one["value"] for one in found["slowest"]] + [found["bound"]])
    return Guarantee(
        metric=metric,
        cores=cores,
        verdict="exact" if found["complete"] else "bounded",
        rate=rate_of(worst),
        naive=_naive(found["naive"], clock, cores),
        slowest=slowest,
        unsat_before=found["slower"] if slowest else None,
        loops={
            "limit": program.rounds if program.rounds is not None else unroll,
            "found": program.rounds is not None,
            "proved": found["loops_bounded"],
        },
        seconds=time.monotonic() - begin,
        search={key: found[key] for key in ("states", "refuted", "restarts", "z3_checks")},
        interrupted=found["interrupted"],
    )


def _naive(naive, clock, cores):
    core = clock * cores / naive["cycles"]
    dram = clock / naive["dram_cycles"] if naive["dram_cycles"] else float("inf")
    return {
        "cycles": naive["cycles"],
        "dram_cycles": naive["dram_cycles"],
        "packet_size": naive["cycles_size"],
        "dram_packet_size": naive["dram_size"],
        "packet_rate": min(core, dram),
        "bit_rate": min(core * BITS * naive["cycles_size"], dram * BITS * naive["dram_size"]),
    }


def _slow_path(program, one, clock, cores):
    core = clock * cores / one["cycles"]
    dram = clock / one["dram_cycles"] if one["dram_cycles"] else float("inf")
    packets = min(core, dram)
    # Twice: what a program must not depend on differs between the runs.
    replays = [
        program.replay(one["size"], one["packet"], one["memory"], one["path"], seed)
        for seed in (1, 2)
    ]
    replayed = all(r["takes_path"] and r["cycles"] == one["cycles"] for r in replays)
    return SlowPath(
        path=one["path"],
        cycles=one["cycles"],
        max_cycles=one["max_cycles"],
        dram_cycles=one["dram_cycles"],
        packet_size=one["size"],
        packet_rate=packets,
        bit_rate=packets * BITS * one["size"],
        bottleneck="memory engine" if dram < core else "cores",
        packet=one["packet"],
        memory=one["memory"],
        replayed=replayed,
    )
