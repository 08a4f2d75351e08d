"""A list of functions for a part of the library, of which each reads the variable of one loop."""

import lpn
from lpn import lib


class Packet(lpn.Token):
    to: lpn.Int[0, 2]


def build():
    net = lpn.Net("n")
    queues = [net.place(f"queue{k}", Packet, start=True) for k in range(3)]
    lib.round_robin(net, "merge", queues, guard=[lambda t: t.to == k for k in range(3)])


build()
