"""The text of a property, measured."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[0, 999]


net = lpn.Net("n")
queue = net.place("queue", Packet, start=True)
net.transition("send", take={"pkt": queue}, delay=lambda pkt: len(str(pkt.words)), servers=1)
