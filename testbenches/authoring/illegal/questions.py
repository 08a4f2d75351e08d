"""A loop bound that differs per token."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)


def drain(blk):
    cycles, left = 0, 0
    while left < blk.size:
        left += 1
        cycles += 2
    return cycles


net.transition("huffman", take={"blk": coded}, delay=drain)
