"""A host that runs a program on several cores, as a Latency Petri Net: what processing cost does to
throughput, losses and latency under a load.

    wire -> arrive -> arriving -> accept_i -> ring_i -> serve_i -> done
                                          \\-> dropped

The receive side spreads packets over the cores; a packet that finds the ring of its core full is
dropped. A core runs a packet to its end, which frees its place in the ring, then takes the next.
A tick is a cycle of the cores.
"""

import random
import zlib
from array import array
from dataclasses import dataclass, field

import lpn
from lpn.runs import compiled, execute, parameter_values

from .deployment import nearest_rank

__all__ = ["Load", "Result", "gaps_of", "net", "queue_of", "run"]

MOST_CORES = 64
MOST_CYCLES = 2**40  # between two packets, or of one
PERCENTILES = (50, 90, 99, 99.9)
INTERPRETED = 50_000  # packets that the interpreter runs sooner than the compiler is done


class Packet(lpn.Token):
    """A packet. `gap`: cycles on the wire since the packet before."""

    id: lpn.Int[0, 2**40]
    gap: lpn.Int[0, MOST_CYCLES]
    core: lpn.Int[0, MOST_CORES - 1]
    cycles: lpn.Int[0, MOST_CYCLES]


class Ended(lpn.Token):
    """A packet that was served, or dropped."""

    id: lpn.Int[0, 2**40]


def net(cores: int = 1) -> lpn.Net:
    """The host with so many cores, 1 to 64. Parameters: `ring`, packets at most that a core has, the
    one it works on included; `overhead`, cycles per packet beside the program.
    """
    if not isinstance(cores, int) or not 1 <= cores <= MOST_CORES:
        raise ValueError(f"cores must be 1..{MOST_CORES}, got {cores}")
    host = lpn.Net("bpf_host")
    ring = host.param("ring", 512, range=(1, 2**20))
    overhead = host.param("overhead", 0, range=(0, 2**20))
    arriving = host.place("arriving", Packet)
    done = host.place("done", Ended, done=True, sink=True)
    dropped = host.place("dropped", Ended, done=True, sink=True)
    host.transition(
        "arrive",
        take={"pkt": host.place("wire", Packet, start=True)},
        put=[arriving.forward("pkt")],
        delay=lambda pkt: pkt.gap,
        servers=1,
    )
    for i in range(cores):
        waiting = host.place(f"ring{i}", Packet)
        host.transition(
            f"accept{i}",
            take={"pkt": arriving, "held": waiting.watch()},
            guard=lambda pkt, i=i: pkt.core == i,
            put=[
                waiting.emit(
                    count=lambda held: lpn.select(held.count < ring, 1, 0),
                    id=lambda pkt: pkt.id,
                    gap=lambda pkt: pkt.gap,
                    core=lambda pkt: pkt.core,
                    cycles=lambda pkt: pkt.cycles,
                ),
                dropped.emit(
                    count=lambda held: lpn.select(held.count < ring, 0, 1), id=lambda pkt: pkt.id
                ),
            ],
            servers=1,
        )
        host.transition(
            f"serve{i}",
            take={"pkt": waiting},
            put=[done.emit(id=lambda pkt: pkt.id)],
            delay=lambda pkt: overhead + pkt.cycles,
            servers=1,
        )
    return host


@dataclass
class Load:
    """Packets in the order of their arrival: class, cycles, core, and gap in cycles."""

    names: list
    cycles: list
    cores: list
    gaps: list

    def __len__(self):
        return len(self.names)

    def marking(self, host):
        marking = lpn.Marking(host)
        whole = lambda values: array("q", values)
        marking.add_columns(
            "wire",
            id=whole(range(len(self))),
            gap=whole(self.gaps),
            core=whole(self.cores),
            cycles=whole(self.cycles),
        )
        return marking


@dataclass
class Result:
    """What a load met. Rates in packets/s, latencies in seconds from arrival to the end of service.

    `busy`: the share of the time that each core works. `latency`: {"50": ..., "mean", "max"} of all
    that were served; `by_class`: {name: (packets, dropped, latency)}.
    """

    packets: int
    dropped: int
    offered: float
    served: float
    seconds: float
    busy: list
    latency: dict
    by_class: dict = field(default_factory=dict)


def run(load, cores, hertz, ring=512, overhead=0):
    """The Result of a Load on so many cores at a clock of so many hertz."""
    host = net(cores)
    host.done()
    values = parameter_values(host, {"ring": ring, "overhead": overhead})
    library = compiled(host) if len(load) > INTERPRETED else None
    found = execute(host, values, load.marking(host), library, collect=("done", "dropped"))
    if found.ending == "interrupted":
        raise KeyboardInterrupt
    arrived, now = [], 0
    for gap in load.gaps:
        now += gap
        arrived.append(now)
    ids, ends = found.collected["done"]
    lost = found.collected["dropped"][0]
    end = max([*ends, *arrived])
    work = [0] * cores
    taken = {}
    for k, at in zip(ids, ends):
        work[load.cores[k]] += overhead + load.cycles[k]
        taken.setdefault(load.names[k], []).append((at - arrived[k]) / hertz)
    missed = {}
    for k in lost:
        missed[load.names[k]] = missed.get(load.names[k], 0) + 1
    names = sorted({*taken, *missed}, key=lambda name: (len(name), name))
    return Result(
        packets=len(load),
        dropped=len(lost),
        offered=(len(load) - 1) * hertz / (arrived[-1] - arrived[0]),
        served=len(ids) * hertz / end,
        seconds=end / hertz,
        busy=[each / end for each in work],
        latency=_percentiles([one for each in taken.values() for one in each]),
        by_class={
            name: (
                len(taken.get(name, ())) + missed.get(name, 0),
                missed.get(name, 0),
                _percentiles(taken.get(name, [])),
            )
            for name in names
        },
    )


def _percentiles(values):
    """By nearest rank; {} of nothing."""
    if not values:
        return {}
    ordered = sorted(values)
    out = {"mean": sum(ordered) / len(ordered)}
    for each in PERCENTILES:
        out[f"p{each:g}"] = nearest_rank(ordered, each)
    out["max"] = ordered[-1]
    return out


def gaps_of(nanoseconds, hertz, rate=None, arrivals="trace", seed=1):
    """Cycles between packets. `nanoseconds`: when each was recorded, not decreasing. `rate`: packets/s
    in place of the trace's own. `arrivals`: "trace" (its gaps, stretched to the rate), "even" or
    "poisson", which need a rate.

    Raises ValueError for a trace that goes back in time, that has no time in it, or that has gaps of
    more than MOST_CYCLES.
    """
    count = len(nanoseconds)
    if arrivals == "trace":
        for number, (before, after) in enumerate(zip(nanoseconds, nanoseconds[1:]), 2):
            if after < before:
                raise ValueError(f"packet {number} of the trace is earlier than the one before it")
        whole = nanoseconds[-1] - nanoseconds[0]
        if whole == 0:
            raise ValueError("the trace has no time in it; give a rate with other arrivals")
        scale = (count - 1) / rate / (whole / 1e9) if rate else 1.0
        at = [(one - nanoseconds[0]) * scale / 1e9 for one in nanoseconds]
    elif arrivals == "even":
        at = [k / rate for k in range(count)]
    else:
        draw, now, at = random.Random(seed).expovariate, 0.0, []
        for _ in range(count):
            now += draw(rate)
            at.append(now)
    ticks = [round(one * hertz) for one in at]
    gaps = [ticks[0], *(b - a for a, b in zip(ticks, ticks[1:]))]
    if not any(gaps[1:]):
        raise ValueError(
            f"at {hertz:g} Hz all its packets come within one cycle; give a lower --rate"
        )
    widest = max(gaps)
    if widest > MOST_CYCLES:
        raise ValueError(
            f"packet {gaps.index(widest) + 1} comes {widest / hertz:.6g} s after the one before it, more "
            f"than 2^40 cycles; cut the trace there, or give --rate"
        )
    return gaps


def queue_of(content, cores):
    """The core of a packet by the hash of its flow: addresses, protocol and ports of IPv4 and IPv6
    behind at most two VLAN tags, of fragments without ports; all else goes to core 0, as network cards
    have it. The hash is CRC-32, since a card's key is not known.
    """
    at = 12
    for _ in range(2):
        if content[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    kind, at = content[at : at + 2], at + 2
    if kind == b"\x08\x00" and len(content) >= at + 20:
        protocol, flow = content[at + 9], content[at + 12 : at + 20]
        after = at + 4 * (content[at] & 15)
        whole = not int.from_bytes(content[at + 6 : at + 8], "big") & 0x3FFF  # more, or an offset
    elif kind == b"\x86\xdd" and len(content) >= at + 40:
        protocol, flow = content[at + 6], content[at + 8 : at + 40]
        after, whole = at + 40, True  # fragments have another protocol there
    else:
        return 0
    if whole and protocol in (6, 17) and len(content) >= after + 4:
        flow += content[after : after + 4]
    return zlib.crc32(flow + bytes([protocol])) % cores
