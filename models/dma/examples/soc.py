"""Two data movers behind a crossbar: a copy from a fast memory to a slow one, beside a stream that
is read from the slow one through a FIFO.

    axi_cdma ----------+            +- axi_ram       0x00000
                       axi_crossbar |
    axi_dma_rd - fifo -+            +- delay memory  0x10000

    lpn sim models/dma/examples/soc.py
"""

import lpn

lpn.load("dma")  # its parts can be imported now
from models.dma import parts  # noqa: E402


def net(*, bytes=256):
    """`bytes`: of the copy, and of the stream."""
    net = lpn.Net("soc")
    latency = net.param("latency", 20, range=(1, 1000))  # of the slow memory, clocks
    bus = {"width": 8, "max_burst": 16}

    copies = parts.Channel(net, "copies", parts.Copy)
    copied = net.place("copied", done=True, sink=True)
    copier = parts.Port(net, "copier")
    parts.axi_cdma(net, "cdma", copies, copier, copied, **bus)

    moves = parts.Channel(net, "moves", parts.Move)
    moved = net.place("moved", done=True, sink=True)
    reader = parts.Port(net, "reader", write=False)
    stream = parts.Channel(net, "stream", parts.Word)
    parts.axi_dma_rd(net, "dma_rd", moves, reader, stream, moved, **bus)
    parts.sink(net, "sink", stream)
    buffered = parts.axi_fifo(net, "fifo", reader, read_depth=32)

    fast, slow = parts.axi_crossbar(net, "xbar", [copier, buffered], 2)
    parts.axi_ram(net, "ram", fast)
    parts.delay_memory(net, "slow", slow, latency)

    # One descriptor each, in clock 0.
    copy = net.place(
        "copy", parts.Copy, init=[{"read_addr": 0, "write_addr": 0x10000, "len": bytes}]
    )
    move = net.place("move", parts.Move, init=[{"addr": 0x11000, "len": bytes}])
    net.transition("give_copy", take={"t": copy}, put=[copies.offer.forward("t")])
    net.transition("give_move", take={"t": move}, put=[moves.offer.forward("t")])
    return net
