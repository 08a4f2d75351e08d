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
from .acceptance import accepts
from .channel import Channel
from .tokens import At, Number, POSTED, Request, TICKS


def build(standard, outstanding=0) -> lpn.Net:
    """The net of a controller of a Standard that describes one. Raises Error "E-dram-part".

    `outstanding`: where not 0, no trace, but so many accesses at a time, which come into the place
    `asked` and are answered in `answered` (memory.py).
    """
    traced = outstanding == 0
    standard.check_scheduled()
    net = lpn.Net("controller")
    requests = net.place("requests", Request, start=traced, drain=True)
    done = net.place("done", Number, done=traced)
    if not traced:
        memory.open_port(net, standard, requests, done, outstanding)
    accepted = net.place("accepted", Number, sink=True)
    posted = net.place("posted", Number, drain=True)
    port = net.place("port", At, init=[{"at": 0}])
    number = standard.controller.get("channels", 1)
    channels = []
    for k in range(number):
        name = f"channel{k}." if number > 1 else ""
        channel = Channel(standard, net, name, port, done)
        # The port as this channel hears of it: what the others accept concerns no drain here.
        channel.heard = net.place(name + "heard", At, init=[{"at": 0}]) if name else port
        channel.build()
        channels.append(channel)
    accepts(net, channels, port, requests, (accepted, posted), traced)
    net.transition(
        "post",
        take={"w": posted},
        put=[done.forward("w")],
        delay=TICKS * POSTED,
        servers=POSTED,
    )
    return net
