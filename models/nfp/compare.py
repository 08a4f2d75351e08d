"""Two versions of a program: which packets got slower."""

import dataclasses

from . import costs as cost_table
from .guarantee import guarantee
from .program import load

__all__ = ["Comparison", "Packet", "compare"]


@dataclasses.dataclass
class Packet:
    """An example packet of one version, run through both.

    origin: "a" or "b", whose rank-th slowest path it takes. size: bytes. path, cycles, dram_cycles,
    rate: of version a and of version b; rate in the metric's unit. change: rate b / rate a - 1.
    """

    origin: str
    rank: int
    size: int
    path: tuple
    cycles: tuple
    dram_cycles: tuple
    rate: tuple
    change: float


@dataclasses.dataclass
class Comparison:
    """What `compare` returns. `a`, `b`: the Guarantees. `change`: of the guaranteed rate. `ranks`:
    per rank the rates of the slowest paths, None where a version has fewer, and the change.
    `packets`: list of Packet. `slower`: whether the guarantee or a packet lost more than the
    threshold. `complete`: both searches came to their end.
    """

    a: object
    b: object
    change: float
    ranks: list
    packets: list
    slower: bool
    complete: bool


def compare(
    a,
    b,
    metric="packet-rate",
    cores=None,
    unroll=(None, None),
    paths=5,
    threshold=0.01,
    limit=None,
    costs=None,
):
    """The Comparison of the listings `a` and `b`.

    paths: how many of the slowest paths of each are looked at. threshold: the share of a rate that
    may be lost. limit: seconds for each search. The example of each path is run through both
    versions by the interpreter; its DRAM content is meant for the layout of the version it comes
    from.
    """
    costs = costs or cost_table.load()
    cores = costs["islands"] * costs["cores_per_island"] if cores is None else cores
    found = [guarantee(p, metric, cores, u, paths, limit, costs) for p, u in zip((a, b), unroll)]
    programs = [load(p, costs, u) for p, u in zip((a, b), unroll)]
    per_byte = metric == "bit-rate"

    def rate(cost, size):
        packets = costs["clock_hz"] * cores / cost["cycles"]
        if cost["dram_cycles"]:
            packets = min(packets, costs["clock_hz"] / cost["dram_cycles"])
        return packets * 8 * size if per_byte else packets

    packets = []
    for origin, guaranteed in zip("ab", found):
        for rank, slow in enumerate(guaranteed.slowest, 1):
            taken = tuple(
                p.path_taken(slow.packet_size, slow.packet, slow.memory) for p in programs
            )
            if any(taken == other.path for other in packets):
                continue  # the same case, found from the other side
            met = [p.path_cost(path) for p, path in zip(programs, taken)]
            rates = tuple(rate(cost, slow.packet_size) for cost in met)
            packets.append(
                Packet(
                    origin,
                    rank,
                    slow.packet_size,
                    taken,
                    tuple(c["cycles"] for c in met),
                    tuple(c["dram_cycles"] for c in met),
                    rates,
                    rates[1] / rates[0] - 1,
                )
            )
    ranks = []
    for k in range(max(len(g.slowest) for g in found)):
        both = [g.slowest[k] if k < len(g.slowest) else None for g in found]
        rates = [None if s is None else s.bit_rate if per_byte else s.packet_rate for s in both]
        ranks.append((*rates, None if None in rates else rates[1] / rates[0] - 1))
    change = found[1].rate / found[0].rate - 1
    slower = change < -threshold or any(p.change < -threshold for p in packets)
    return Comparison(
        found[0],
        found[1],
        change,
        ranks,
        packets,
        slower,
        all(
            g.verdict == "exact" or g.slowest and not g.interrupted and len(g.slowest) < paths
            for g in found
        ),
    )
