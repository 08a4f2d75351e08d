"""A lambda that reads the variable of a loop which has gone on when the transition is made."""

import lpn


class Packet(lpn.Token):
    to: lpn.Int[0, 1]


net = lpn.Net("n")
packets = net.place("packets", Packet, start=True)
queues = [net.place(f"queue{k}", Packet, sink=True) for k in range(2)]
net.transition(
    "route",
    take={"p": packets},
    put=[
        queues[k].emit(count=lambda p: lpn.select(p.to == k, 1, 0), to=lambda p: p.to)
        for k in range(2)
    ],
)
