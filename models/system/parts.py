"""What lies around an accelerator: a driver, a link, DMA engines and a memory, joined by places.

A write is a run of packets that leave one after the other for neighbouring addresses (a row of
pixels): one token, for which a unit takes what each of its packets needs. Times are ticks.
"""

import lpn
from models.pcie.parts import HEADER, KINDS, wire_time

from .tables import levels

__all__ = [
    "Job",
    "Pattern",
    "ROWS",
    "Run",
    "Where",
    "Wire",
    "Written",
    "memory_time",
    "rows_of",
]

MOST = 2**40
BITS, ROWS = 6, 8  # of a Pattern: native/lines.h


class Job(lpn.Token):
    """What the driver asks for."""

    reads: lpn.Int[0, MOST]  # DMA reads of the input
    first: lpn.Int[0, MOST]  # of them there before the accelerator starts
    ends: lpn.Int[0, MOST]  # tokens of `device.ends` that end it


class Run(lpn.Token):
    """Packets that are written one after the other."""

    level: lpn.Int[0, 4]  # the slowest level of the memory that one of them waits for
    late: lpn.Int[0, 8]  # how many of them wait


class Written(Run):
    """A write to a DRAM's model."""

    at: lpn.Int[0, MOST]  # from the start of the output


class Pattern(lpn.Token):
    """The runs of a block of pixels."""

    rows: lpn.Int[0, 2 ** (BITS * ROWS) - 1]


class Where(lpn.Token):
    """The next address of a stream, from its start."""

    at: lpn.Int[0, MOST]


class Wire:
    """One direction of the link: a latency, and with PCI Express packets one after the other.

    latency: ticks. byte_fs: femtoseconds per byte on the wire, of which `tick` ps are a tick; None:
    any number of messages at once. Packets that wait for the wire go by kind, as on a link of
    models.pcie.parts.direction, and of one kind what was joined first goes first: call close() after the
    last carry().
    """

    def __init__(self, net, name, latency, byte_fs, tick):
        self._net, self._name, self.latency = net, name, latency
        self._byte_fs, self._tick = byte_fs, tick
        self._free = net.place(f"{name}.wire", init=1) if byte_fs is not None else None
        self._sends = (
            []
        )  # (kind, name, arcs and delay) of the transitions that compete for the wire

    def carry(self, what, source, target, *, kind, payload, packets=1, type=None, servers=None):
        """A transition from place to place, of which `type` is the tokens' (None: they count).

        kind: a key of models.pcie.parts.HEADER. payload: bytes of each of its `packets`. servers: most
        at once, where the sender bounds them.
        """
        name, net = f"{self._name}.{what}", self._net

        def into(place):
            return place if type is None else place.forward("t")

        if self._byte_fs is None:
            net.transition(
                name,
                take={"t": source},
                put=[into(target)],
                delay=self.latency,
                servers=servers,
                ordered=True,
            )
            return
        flying, tick = net.place(f"{name}.flying", type), int(1000 * self._tick)  # fs
        send = dict(
            take={"t": source, "wire": self._free},
            put=[into(flying), self._free],
            delay=packets * wire_time(payload, HEADER[kind], 4, self._byte_fs, tick),
        )
        self._sends.append((kind, f"{name}.send", send))
        net.transition(
            name,
            take={"t": flying},
            put=[into(target)],
            delay=self.latency,
            ordered=True,
        )

    def close(self):
        """Makes what takes turns on the wire, what goes first first."""
        for _, name, send in sorted(self._sends, key=lambda s: KINDS.index(s[0])):
            self._net.transition(name, **send)


def rows_of(place):
    """The emission of the runs that the arc `pattern` tells."""
    return place.emit(
        ROWS,
        level=lambda pattern, i: (pattern.rows >> BITS * i) & 7,
        late=lambda pattern, i: (pattern.rows >> BITS * i + 3) & 7,
    )


def memory_time(hit, beyond, packet, packets):
    """The delay of the arc `run`: how long its packets take on average from the memory's edge to the
    answer.

    hit, packet: ticks; beyond: those of BEYOND_HIT of an access. Packets come `packet` apart and wait
    for the same line, so that each waits so much less than the one before.
    """

    def time(run):
        waits, late = (*levels(*beyond), 0, 0, 0)[run.level], run.late
        return hit + lpn.max(0, late * waits - packet * (late * (late - 1) // 2)) // packets

    return time
