"""A token kept from inside a sum, by itself."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)


def total(blk):
    kept = []
    lpn.sum(blk, lambda t: kept.append(t.size) or t.size)
    return kept[0]


net.transition("huffman", take={"blk": coded.take(3)}, delay=total)
