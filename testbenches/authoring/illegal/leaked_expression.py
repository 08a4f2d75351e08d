"""An expression kept for later."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

kept = []


def first(blk):
    kept.append(blk.size)
    return 1


net.transition("huffman", take={"blk": coded}, delay=first)
net.transition("idct", take={"blk": ready}, delay=lambda blk: kept[0] + blk.size)
