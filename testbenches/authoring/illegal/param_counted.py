"""A parameter as a range() bound while building."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

slots = net.param("slots", 4)
banks = [net.place(f"bank{k}") for k in range(slots)]
