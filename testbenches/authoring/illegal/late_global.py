"""The same outside of any function, in a guard."""

import lpn


class Packet(lpn.Token):
    to: lpn.Int[0, 2]


net = lpn.Net("n")
packets = net.place("packets", Packet, start=True)
arcs = []
for port in range(3):
    arcs.append(packets.take(guard=lambda p: p.to == port))
for k in range(3):
    net.transition(f"drop{k}", take={"p": arcs[k]}, delay=1, servers=1)
