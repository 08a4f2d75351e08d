"""What the benches of ../shared/truth/axi do around a block: offer descriptors, words and bursts,
and take what comes back.
"""

import lpn

from .channels import ADDRESS, ID
from .stages import Copy, Move

__all__ = ["descriptors", "read_master", "sink", "words_of", "write_master"]


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
    field = {
        Copy: {"read_addr": "read_addr", "write_addr": "write_addr"},
        Move: {"addr": "read_addr"},
    }
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


def phases(pattern, shift=0):
    """(suffix, clock) of the transitions that act only in cycles with cycle + shift mod d < n."""
    active, period = pattern
    if active >= period:
        return [("", None)]
    return [(f".phase{k}", (period, (k - shift) % period)) for k in range(active)]


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
    net.transition(f"{stream.name}.next", take={"h": stream.taken}, put=[turn], delay=1, interval=1)
    return packets


class Timed(lpn.Token):
    """A burst of a master; it may be offered so many clocks after the one before might."""

    wait: lpn.Int[0, 2**40]
    addr: ADDRESS
    beats: lpn.Int[1, 256]
    id: ID


def read_master(net, port, outstanding, done, pattern=(1, 1), shift=0):
    """A master that reads: offers the bursts of its place `reads` in order, at most `outstanding` of
    them open; returns the place.

    It takes R in cycles with cycle + `shift` mod d < n of the `pattern` (n, d). A token into `done`
    for each burst, a clock after its last beat.
    """
    name = f"{port.name}.read"
    given, due = _timed(net, name)
    turn = net.place(f"{name}.turn", init=1)
    open_ = net.place(f"{name}.open", init=outstanding)
    ended = net.place(f"{name}.ended")
    net.transition(
        f"{name}.give",
        take={"t": due, "turn": turn, "open": open_},
        put=[_burst(port.ar)],
    )
    net.transition(f"{name}.next", take={"h": port.ar.taken}, put=[turn], delay=1, interval=1)
    for suffix, clock in phases(pattern, shift):
        net.transition(
            f"{name}.take{suffix}",
            take={"t": port.r.offer},
            put=[ended.emit(count=lambda t: 1 if t.last else 0), *port.r.accept("t")],
            clock=clock,
        )
    net.transition(f"{name}.end", take={"e": ended}, put=[open_, done], delay=1, interval=1)
    return given


def write_master(net, port, outstanding, done, after_previous=True):
    """A master that writes: offers the bursts of its place `writes` in order, at most `outstanding`
    of them open; returns the place.

    The first W is offered with its AW, or right after the burst before. `after_previous`: AW is
    offered only when the last W of the burst before was taken. B is always taken; a token into
    `done` for each, a clock later.
    """
    name = f"{port.name}.write"
    given, due = _timed(net, name)
    turn = net.place(f"{name}.turn", init=1)
    open_ = net.place(f"{name}.open", init=outstanding)
    queue = net.place(f"{name}.queue", port.w.token)
    w_turn = net.place(f"{name}.w_turn", init=1)
    ended = net.place(f"{name}.ended")
    moved = net.place(f"{name}.moved", port.w.token)
    clear = {"previous": net.place(f"{name}.previous", init=1)} if after_previous else {}
    net.transition(
        f"{name}.give",
        take={"t": due, "turn": turn, "open": open_, **clear},
        put=[
            _burst(port.aw),
            queue.emit(
                count=lambda t: t.beats, last=lambda t, i: i == t.beats - 1, id=lambda t: t.id
            ),
        ],
    )
    net.transition(f"{name}.next", take={"h": port.aw.taken}, put=[turn], delay=1, interval=1)
    net.transition(
        f"{name}.w",
        take={"t": queue, "turn": w_turn},
        put=[port.w.offer.forward("t"), moved.forward("t")],
    )
    net.transition(
        f"{name}.w_next",
        take={"h": port.w.taken, "t": moved},
        put=[
            w_turn,
            *(place.emit(count=lambda t: 1 if t.last else 0) for place in clear.values()),
        ],
        delay=1,
        interval=1,
    )
    net.transition(f"{name}.b", take={"t": port.b.offer}, put=[ended, *port.b.accept("t")])
    net.transition(f"{name}.end", take={"e": ended}, put=[open_, done], delay=1, interval=1)
    return given


def _timed(net, name):
    """(place of the workload, place for the bursts that may be offered)."""
    given = net.place(f"{name}s", Timed, start=True)
    due = net.place(f"{name}.due", Timed)
    net.transition(
        f"{name}.wait", take={"t": given}, put=[due.forward("t")], delay=lambda t: t.wait, servers=1
    )
    return given, due


def _burst(channel):
    return channel.offer.emit(addr=lambda t: t.addr, beats=lambda t: t.beats, id=lambda t: t.id)
