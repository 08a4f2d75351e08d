"""The same by way of a function that the lambda calls."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[0, 2]


def build():
    net = lpn.Net("n")
    packets = net.place("packets", Packet, start=True)
    scale = net.param("scale", 1)

    def scaled(p):
        return p.words * scale

    weights = packets.take(lambda p: scaled(p))
    scale = net.param("other", 2)
    net.transition("drop", take={"p": weights}, delay=1, servers=1)


build()
