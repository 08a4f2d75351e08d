"""A divisor that is 0 in a run."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

net.transition("huffman", take={"blk": coded}, delay=lambda blk: 100 // blk.size, servers=1)
marking = lpn.Marking(net)
marking.add("coded", nonzero=3, size=0)
lpn.simulate(net, marking, engine="interp")
