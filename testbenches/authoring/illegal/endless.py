"""A loop that never ends."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)


def spin(blk):
    cycles = 0
    while blk.size > 0:
        cycles += 1
    return cycles


net.transition("huffman", take={"blk": coded}, delay=spin)
