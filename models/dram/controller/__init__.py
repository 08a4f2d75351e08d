"""The net of a memory controller: FR-FCFS over queues of the banks, after DRAMsim3.

    requests -> accept -> read_queue, write_buffer -> move -> entering -> enter -> queue of the bank
        choose -> ACT, PRE, RD, WR of the bank; RD -> data -> done; a write is done at once

One token per channel, `wants`, has a bit for each bank that could be given a command; so `choose`
takes the next bank in turn by a few operations on bits, whatever their number. A net cannot read
the time, so tokens carry the cycle from which on they count (`at`), and the cycle of a firing is
the latest of those it reads: what it waited for is among them.

A cycle has four ticks: 0 a command issues, 1 the bank has changed, 2 a request moves to the queue
of its bank, 3 one is accepted, and banks whose rows may now be closed say so.
"""

import lpn

from . import memory
from .channel import Channel
from .formulas import (
    access_of,
    copied,
    enters,
    is_write,
    joins,
    number_of,
    shared,
    under_way,
    when,
)
from .tokens import At, Number, POSTED, Request, TICKS, Waiting


def accepts(net, channels, ports, requests, accepted, posted, joined):
    """One request a cycle, in order, when there is room for it."""
    port, _ = ports
    taken = net.place("port_taken", At)
    net.transition("port_free", take={"t": taken}, put=[port.forward("t")], delay=1, servers=1)
    for number, channel in enumerate(channels):
        queues = {way: channel.queue[way] for way in ("read", "write")}

        def way_in(r):
            """Which transition takes it: by its channel, and whether its block is shared."""
            return r.channel * 2 + when(shared(r.entry), 1)

        def now(r, port, s):
            return lpn.max(r.arrives, lpn.max(port.at, s.moved))

        own = channel.heard is not port

        def take(shares):
            arcs = {
                "r": requests.take(guard=lambda r, n=2 * number + shares: way_in(r) == n),
                "port": port,
                "s": channel.queues.peek(1),
            }
            if own:
                arcs["heard"] = channel.heard
            return arcs

        def of_way(way):
            return lambda r: when(is_write(r.entry) == int(way == "write"), 1)

        def values(cycle):
            return dict(at=cycle, bank=lambda r: r.bank, entry=lambda r: r.entry)

        next_ = lambda r, port, s: now(r, port, s) + 1  # noqa: E731
        common = [taken.emit(at=next_), accepted.emit(id=lambda r: number_of(r.entry))]
        if own:
            common.append(channel.heard.emit(at=next_))
        phase = {"clock": (TICKS, 3), "servers": 1}
        net.transition(
            channel.name + "accept",
            take={**take(False), **{way: channel.room[way].take(of_way(way)) for way in queues}},
            put=[
                *common,
                queues["read"].emit(count=lambda r: 1 - is_write(r.entry), **values(next_)),
                queues["write"].emit(count=lambda r: is_write(r.entry), **values(next_)),
                posted.emit(count=lambda r: is_write(r.entry), id=lambda r: number_of(r.entry)),
            ],
            **phase,
        )

        # Whether a block's request has to be served is asked once: it is a look at all that is under way.
        net.transition(
            channel.name + "accept_shared",
            take={
                **take(True),
                **{way: channel.room[way].peek(of_way(way)) for way in queues},
                "p": channel.pending.peek(lambda p: p.count),
            },
            put=[*common, channel.sharing.emit(**values(next_), ways=under_way)],
            **phase,
        )
        takes = {
            way: lambda t, w=int(way == "write"): when(is_write(t.entry) == w, enters(t))
            for way in queues
        }
        net.transition(
            channel.name + "share",
            take={
                "t": channel.sharing,
                **{way: channel.room[way].take(count) for way, count in takes.items()},
            },
            put=[
                *[
                    place.emit(count=takes[way], **copied("t", Waiting))
                    for way, place in queues.items()
                ],
                posted.emit(
                    count=lambda t: lpn.select(t.ways >= 2, 1, is_write(t.entry)),
                    id=lambda t: number_of(t.entry),
                ),
                joined.emit(count=joins, id=lambda t: number_of(t.entry)),
                channel.pending.emit(
                    count=enters,
                    what=lambda t: access_of(t.bank, t.entry, False) + is_write(t.entry),
                ),
            ],
            servers=1,
        )


def build(standard, port=False) -> lpn.Net:
    """The net of a controller of a Standard that describes one. Raises Error "E-dram-part".

    `port`: no trace; accesses come into the place `asked` and are answered in `answered` (memory.py).
    """
    standard.check_scheduled()
    net = lpn.Net("controller")
    requests = net.place("requests", Request, start=not port, drain=True)
    done = net.place("done", Number, done=not port)
    if port:
        memory.open_port(net, standard, requests, done)
    joined = net.place(
        "joined", Number, done=not port, sink=port
    )  # reads that a read under way answers
    accepted = net.place("accepted", Number, sink=True)
    posted = net.place("posted", Number, drain=True)
    port = net.place("port", At, init=[{"at": 0}])
    ports = port, done
    number = standard.controller.get("channels", 1)
    channels = []
    for k in range(number):
        name = f"channel{k}." if number > 1 else ""
        channel = Channel(standard, net, name, ports)
        # The port as this channel hears of it: what the others accept concerns no drain here.
        channel.heard = net.place(name + "heard", At, init=[{"at": 0}]) if name else port
        channel.build()
        channels.append(channel)
    accepts(net, channels, ports, requests, accepted, posted, joined)
    net.transition(
        "post",
        take={"w": posted},
        put=[done.forward("w")],
        delay=TICKS * POSTED,
        servers=POSTED,
    )
    return net
