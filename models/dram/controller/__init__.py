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

from ..device import Over
from . import memory
from .channel import Channel
from .formulas import block_of, is_write, number_of, under_way, when, word_of
from .tokens import At, Finished, Number, POSTED, Pending, Request, TICKS, WORD


def accepts(net, channels, shared, requests, accepted, posted, joined):
    """One request a cycle, in order, when there is room for it."""
    port, pending, _, _ = shared
    taken = net.place("port_taken", At)
    net.transition("port_free", take={"t": taken}, put=[port.forward("t")], delay=1, servers=1)
    for number, channel in enumerate(channels):
        queues = {way: channel.queue[way] for way in ("read", "write")}

        def way_in(r):
            """Which transition takes it: by its channel, and whether its block is shared."""
            return r.channel * 2 + lpn.min(block_of(r.entry), 1)

        def now(r, port, s):
            return lpn.max(r.arrives, lpn.max(port.at, s.moved))

        own = channel.heard is not port

        def take(guard, entering):
            arcs = {
                "r": requests.take(guard=guard),
                "port": port,
                "s": channel.queues.peek(1),
            }
            if own:
                arcs["heard"] = channel.heard
            for way in ("read", "write"):
                mine = Over(["r"], lambda r, w=int(way == "write"): when(is_write(r.entry) == w, 1))
                if entering is None:
                    arcs[way] = channel.room[way].take(mine)
                    continue
                arcs[way] = channel.room[way].take(
                    lambda r, p, w=int(way == "write"): when(
                        is_write(r.entry) == w, entering(r, p)
                    ),
                    need=mine,
                )
            return arcs

        def values(cycle):
            return dict(at=cycle, bank=lambda r: r.bank, entry=lambda r: r.entry)

        next_ = lambda r, port, s: now(r, port, s) + 1  # noqa: E731
        common = [taken.emit(at=next_), accepted.emit(id=lambda r: number_of(r.entry))]
        if own:
            common.append(channel.heard.emit(at=next_))
        phase = {"clock": (TICKS, 3), "servers": 1}
        net.transition(
            channel.name + "accept",
            take=take(lambda r, n=number: way_in(r) == 2 * n, None),
            put=[
                *common,
                queues["read"].emit(count=lambda r: 1 - is_write(r.entry), **values(next_)),
                queues["write"].emit(count=lambda r: is_write(r.entry), **values(next_)),
                posted.emit(count=lambda r: is_write(r.entry), id=lambda r: number_of(r.entry)),
            ],
            **phase,
        )

        # Of blocks that several requests name: a write joins one that is under way, a read is
        # answered by a write, or joins a read.
        def enters(r, p):
            block = block_of(r.entry)
            other = lpn.select(is_write(r.entry) == 1, 0, under_way("read", block, p))
            return 1 - lpn.max(under_way("write", block, p), other)

        def joins(r, p):
            reads = lpn.select(is_write(r.entry) == 1, 0, under_way("read", block_of(r.entry), p))
            return lpn.select(under_way("write", block_of(r.entry), p) == 1, 0, reads)

        def marked(field):
            def value(r, p, i):
                block = block_of(r.entry)
                mine = when(
                    word_of(block) == i, when(is_write(r.entry) == int(field == "write"), 1)
                )
                new = when(mine == 1, when(enters(r, p) == 1, 1 << (block - 1) % WORD))
                return getattr(p[i], field) | new

            return value

        arcs = take(lambda r, n=number: way_in(r) == 2 * n + 1, enters)
        arcs = {
            "r": arcs.pop("r"),
            "p": pending.take(lambda p: p.count, need=1),
            **arcs,
        }
        net.transition(
            channel.name + "accept_shared",
            take=arcs,
            put=[
                *common,
                queues["read"].emit(
                    count=lambda r, p: when(is_write(r.entry) == 0, enters(r, p)), **values(next_)
                ),
                queues["write"].emit(
                    count=lambda r, p: when(is_write(r.entry) == 1, enters(r, p)), **values(next_)
                ),
                posted.emit(
                    count=lambda r, p: lpn.select(
                        is_write(r.entry) == 1, 1, under_way("write", block_of(r.entry), p)
                    ),
                    id=lambda r: number_of(r.entry),
                ),
                joined.emit(count=joins, id=lambda r: number_of(r.entry)),
                pending.emit(count=lambda p: p.taken, read=marked("read"), write=marked("write")),
            ],
            **phase,
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
    pending, finished = net.place("pending", Pending), net.place("finished", Finished)
    shared = port, pending, finished, done

    def cleared(field):
        def value(f, p, i):
            mine = when(f.write == (field == "write"), when(word_of(f.block) == i, 1))
            return getattr(p[i], field) & ~when(mine == 1, 1 << (f.block - 1) % WORD)

        return value

    net.transition(
        "finish",
        take={"f": finished, "p": pending.take(lambda p: p.count, need=1)},
        put=[pending.emit(count=lambda p: p.taken, read=cleared("read"), write=cleared("write"))],
        servers=1,
    )
    number = standard.controller.get("channels", 1)
    channels = []
    for k in range(number):
        name = f"channel{k}." if number > 1 else ""
        channel = Channel(standard, net, name, shared)
        # The port as this channel hears of it: what the others accept concerns no drain here.
        channel.heard = net.place(name + "heard", At, init=[{"at": 0}]) if name else port
        channel.build()
        channels.append(channel)
    accepts(net, channels, shared, requests, accepted, posted, joined)
    net.transition(
        "post",
        take={"w": posted},
        put=[done.forward("w")],
        delay=TICKS * POSTED,
        servers=POSTED,
    )
    return net
