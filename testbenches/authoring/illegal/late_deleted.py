"""A function whose variable is gone when the transition is made."""

import lpn


class Packet(lpn.Token):
    to: lpn.Int[0, 2]


def build():
    net = lpn.Net("n")
    source, queue = net.place("source", start=True), net.place("queue", Packet)
    port = 1
    emission = queue.emit(to=lambda: port)
    del port
    net.transition("send", take={"s": source}, put=[emission], delay=1)


build()
