"""A text with a property in it, looked up."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[0, 999]


net = lpn.Net("n")
queue = net.place("queue", Packet, start=True)
net.transition("send", take={"pkt": queue}, delay=lambda pkt: {"7 words": 9}[f"{pkt.words} words"], servers=1)
