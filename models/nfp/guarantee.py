"""Guaranteed rates of NFP programs: the slowest packets, and what rate the NIC sustains whatever
arrives.
"""

import dataclasses
import time

from lpn import Error

from . import costs as cost_table
from . import limits
from .program import load

__all__ = ["Guarantee", "SlowPath", "guarantee"]

METRICS = ("bit-rate", "packet-rate")
BITS = 8  # of a byte
Z3_SECONDS = 20.0  # for one question
LEAST_Z3_SECONDS = 0.05


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
    first). rate: guaranteed, in bit/s or packets/s as the metric says, whatever the verdict: the
    least of what the program and the NIC around it let through, each less its margin. decides:
    "cores", "memory engine", "MAC", "MAC's fault" or "ports"; "cores or memory engine" when a limit
    came first. limits: {"program", "MAC", "ports"} without margins. That of the program covers every packet: it
    is that of the slowest path by its over-estimated cycles, or of all that is not excluded yet; the
    others are for the smallest packets. margins: limits.Margins. mac_fault: as limits.mac_fault_band
    returns it. overload: whether the guarantee also holds when more arrives than it. naive:
    {cycles, dram_cycles, packet_size, bit_rate, packet_rate}, from the control flow alone.
    unsat_before: paths of the control flow that would be slower and are impossible; None: too many
    to count.
    """

    metric: str
    cores: float
    verdict: str
    rate: float
    decides: str
    limits: dict
    margins: limits.Margins
    mac_fault: dict
    naive: dict
    slowest: list
    unsat_before: float
    loops: dict
    seconds: float
    search: dict
    interrupted: bool = False
    overload: bool = False


def guarantee(
    path,
    metric="bit-rate",
    cores=None,
    unroll=None,
    paths=1,
    limit=None,
    costs=None,
    progress=None,
    margin=None,
    overload=False,
):
    """The Guarantee of the program in the listing `path`.

    cores: that run it and share the memory engine (default: all of the cost table's). unroll: text
    as of --unroll; without it the limits of loops are found. paths: how many of the slowest. limit:
    seconds, above 0. costs: what models.nfp.costs.load returns. progress(rate, found, states) is
    called now and then. margin: percent that the guarantee stays below the cost model; without it
    those of the cost table. overload: it shall also hold when more arrives than guaranteed, when the
    MAC's fault may strike. Raises Error E-nfp-listing, E-nfp-loop, E-nfp-cost, E-nfp-undefined,
    E-nfp-none, E-nfp-cores, E-nfp-margin, E-nfp-limit.
    """
    begin = time.monotonic()
    costs = costs or cost_table.load()
    cores = limits.check_cores(cores, costs)
    margins = limits.margins_of(costs, margin)
    if limit is not None and not 0 < limit < float("inf"):
        raise Error("E-nfp-limit", f"a limit of {limit} seconds is none; write a number above 0")
    program = load(path, costs, unroll)
    per_byte = metric == "bit-rate"
    clock = costs["clock_hz"]
    nic = limits.of_nic(costs, per_byte)

    def rate_of(value):
        return clock * cores / value * (BITS if per_byte else 1)

    def go_on(bound, states, refuted, found):
        if progress is not None and bound > 0:
            progress(limits.guaranteed(rate_of(bound), "", margins, nic)[0], found, states)
        return limit is None or time.monotonic() - begin < limit

    def z3_seconds():
        if limit is None:
            return Z3_SECONDS
        left = limit - (time.monotonic() - begin)
        # A question may take what is left, but where much is left others shall have their turn.
        return max(LEAST_Z3_SECONDS, min(left, max(Z3_SECONDS, left / 2)))

    found = program.slowest(per_byte, float(cores), paths, go_on, z3_seconds)
    slowest = [_slow_path(program, one, clock, cores) for one in found["slowest"]]
    worst = max([one["value"] for one in found["slowest"]] + [found["bound"]])
    exact = found["complete"]
    bottleneck = slowest[0].bottleneck if exact and slowest else "cores or memory engine"
    rate, decides = limits.guaranteed(rate_of(worst), bottleneck, margins, nic)
    naive = _naive(found["naive"], clock, cores)
    capacity = naive["packet_rate"] if per_byte else max(rate_of(worst), naive["packet_rate"])
    fault = limits.mac_fault_band(costs, per_byte, rate, capacity)
    if fault and overload:
        rate = fault["falls_to"] * (BITS * costs["min_packet"] if per_byte else 1)
        decides = "MAC's fault"
    return Guarantee(
        metric=metric,
        cores=cores,
        verdict="exact" if exact else "bounded",
        rate=rate,
        decides=decides,
        limits={"program": rate_of(worst), **nic},
        margins=margins,
        mac_fault=fault,
        overload=overload,
        naive=naive,
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
