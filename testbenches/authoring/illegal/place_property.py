"""A property of a place in the place of an arc."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[0, 999]


net = lpn.Net("n")
queue = net.place("queue", Packet, start=True)
net.transition("send", take={"pkt": queue}, delay=lambda: queue.words, servers=1)
