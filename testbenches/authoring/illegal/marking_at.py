"""One time for all rows."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

lpn.Marking(net).add_rows("coded", [(1, 2), (3, 4)], at=5)
