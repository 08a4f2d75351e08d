"""Chains of programs: what rate the NIC sustains when each packet runs through several."""

import dataclasses
from array import array

from lpn_models_native import _nfp

from . import costs as cost_table
from . import limits
from .guarantee import BITS, guarantee
from .program import load

__all__ = ["Chain", "chain"]


@dataclasses.dataclass
class Chain:
    """What `chain` returns.

    rate, decides, limits, margins, mac_fault: as of a Guarantee; limits has a "program" that stands
    for all. programs: a Guarantee each, of the second and later ones without the firmware's cycles,
    which a packet pays once. complete: all searches came to their end. found: {"rate", "paths",
    "cycles", "dram_cycles", "packet_size"} of the slowest packet that was tried in the whole chain,
    in the metric's unit and as limits["program"]; None: none could be.
    """

    metric: str
    cores: float
    rate: float
    decides: str
    limits: dict
    margins: limits.Margins
    mac_fault: dict
    programs: list
    complete: bool
    found: dict


def chain(paths, metric="bit-rate", cores=None, unroll=None, limit=None, costs=None, margin=None):
    """The Chain of the programs in the listings `paths`, run one behind the other on every packet
    that the one before passes.

    A packet takes no longer than the slowest of each program together, and the firmware's share
    once: that is what the guarantee is made of. It is the least possible when one packet is the
    slowest in all of them; the slowest packets of each are tried in the chain to see how far it is
    from that. Arguments and errors as of `guarantee`; limit: seconds for each program.
    """
    costs = costs or cost_table.load()
    cores = limits.check_cores(cores, costs)
    margins = limits.margins_of(costs, margin)
    per_byte = metric == "bit-rate"
    tables = [costs if k == 0 else {**costs, "overhead": 0} for k in range(len(paths))]
    programs = [
        guarantee(path, metric, cores, unroll, 1, limit, table, margin=margin)
        for path, table in zip(paths, tables)
    ]
    # Times of a packet, or of each of its bytes, add up.
    program = 1 / sum(1 / one.limits["program"] for one in programs)
    nic = limits.of_nic(costs, per_byte)
    rate, decides = limits.guaranteed(program, "programs", margins, nic)
    packets = 1 / sum(1 / one.naive["packet_rate"] for one in programs)
    return Chain(
        metric=metric,
        cores=cores,
        rate=rate,
        decides=decides,
        limits={"program": program, **nic},
        margins=margins,
        mac_fault=limits.mac_fault_band(costs, per_byte, rate, packets),
        programs=programs,
        complete=all(one.verdict == "exact" for one in programs),
        found=_slowest_tried(paths, tables, unroll, cores, per_byte, programs),
    )


def _slowest_tried(paths, tables, unroll, cores, per_byte, programs):
    """The slowest packet programs have, run through all of them."""
    loaded = [load(path, table, unroll) for path, table in zip(paths, tables)]
    memories = [one.slowest[0].memory if one.slowest else {} for one in programs]
    clock, worst = tables[0]["clock_hz"], None
    for one in programs:
        if not one.slowest:
            continue
        slow = one.slowest[0]
        frame = bytes(slow.packet.get(k, 0) for k in range(slow.packet_size))
        size = array("Q", [len(frame)])
        taken = _nfp.follow(loaded, memories, frame, array("Q", [0]), size, size)["paths"][0]
        parts = [program.path_cost(path) for program, path in zip(loaded, taken)]
        cycles = sum(part["cycles"] for part in parts)
        dram = sum(part["dram_cycles"] for part in parts)
        rate = clock / max(cycles / cores, dram) * (BITS * len(frame) if per_byte else 1)
        if worst is None or rate < worst["rate"]:
            worst = {
                "rate": rate,
                "paths": list(taken),
                "cycles": cycles,
                "dram_cycles": dram,
                "packet_size": len(frame),
            }
    return worst
