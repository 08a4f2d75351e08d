"""A flag of a place that is a word."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

net.place("buffer", Block, drain="no")
