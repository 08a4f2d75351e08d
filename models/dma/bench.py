"""What the benches of ../shared/truth/axi do around a block: offer descriptors, words and bursts,
and take what comes back.
"""

import lpn

from .channels import ADDRESS
from .stages import Copy, Move

__all__ = ["descriptors", "sink", "words_of"]


class Given(lpn.Token):
    """A descriptor and when it is offered."""

    gap: lpn.Int[0, 2**30]  # idle clocks before it is offered
    statuses: lpn.Int[0, 2**20]  # so many descriptors more have to be done before
    read_addr: ADDRESS
    write_addr: ADDRESS
    len: lpn.Int[1, 2**20 - 1]


class Packet(lpn.Token):
    """A packet of a stream."""

    words: lpn.Int[1, 2**20]


def descriptors(net, desc, status, done):
    """Offers the workload's `Given` on the Channel `desc`; returns their place.

    Each is offered `gap` clocks after the one before was accepted, or done where `statuses` is not
    0. `status`: where the block puts a token per descriptor; it reaches `done` a clock later.
    """
    given = net.place(f"{desc.name}.given", Given, start=True)
    turn = net.place(f"{desc.name}.turn", init=1)
    reported = net.place(f"{desc.name}.reported", sink=True)
    field = {Copy: {"read_addr": "read_addr", "write_addr": "write_addr"}, Move: {"addr": "read_addr"}}
    values = {
        name: (lambda t, source=source: getattr(t, source))
        for name, source in {**field[desc.token], "len": "len"}.items()
    }
    net.transition(
        f"{desc.name}.give",
        take={"t": given, "turn": turn, "reports": reported.take(lambda t: t.statuses)},
        put=[desc.offer.emit(**values)],
        delay=lambda t: t.gap,
    )
    net.transition(
        f"{desc.name}.given_next", take={"h": desc.taken}, put=[turn], delay=1, interval=1
    )
    net.transition(
        f"{desc.name}.report", take={"s": status}, put=[reported, done], delay=1, interval=1
    )
    return given


def phases(pattern):
    """(suffix, clock) of the transitions that act only in cycles with cycle mod d < n."""
    active, period = pattern
    if active >= period:
        return [("", None)]
    return [(f".phase{phase}", (period, phase)) for phase in range(active)]


def sink(net, name, channel, pattern=(1, 1)):
    """Takes what `channel` offers, in cycles with cycle mod d < n of the `pattern` (n, d)."""
    for suffix, clock in phases(pattern):
        net.transition(
            f"{name}{suffix}", take={"t": channel.offer}, put=channel.accept("t"), clock=clock
        )


def words_of(net, stream, pattern=(1, 1)):
    """Offers the workload's packets, word by word, on the Channel `stream`; returns their place.

    A new word is offered in cycles with cycle mod d < n of the `pattern` (n, d).
    """
    packets = net.place(f"{stream.name}.packets", Packet, start=True)
    words = net.place(f"{stream.name}.words", stream.token)
    turn = net.place(f"{stream.name}.turn", init=1)
    net.transition(
        f"{stream.name}.cut",
        take={"packet": packets},
        put=[
            words.emit(
                count=lambda packet: packet.words, last=lambda packet, i: i == packet.words - 1
            )
        ],
    )
    for suffix, clock in phases(pattern):
        net.transition(
            f"{stream.name}.give{suffix}",
            take={"t": words, "turn": turn},
            put=[stream.offer.forward("t")],
            clock=clock,
        )
    net.transition(
        f"{stream.name}.next", take={"h": stream.taken}, put=[turn], delay=1, interval=1
    )
    return packets
