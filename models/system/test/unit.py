"""The accelerator of the systems tested here: 10 cycles per block, one after the other."""

import lpn


class Block(lpn.Token):
    bytes: lpn.Int[0, 4096]


def net():
    net = lpn.Net("unit")
    blocks = net.place("blocks", Block, start=True)
    out = net.place("out", done=True, sink=True)
    net.transition("work", take={"b": blocks}, put=[out], delay=10, servers=1)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for size in open(input).read().split():
        marking.add("blocks", bytes=int(size))
    return marking
