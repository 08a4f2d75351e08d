"""Too many independent branches."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)


def bits(blk):
    total = 0
    for k in range(9):
        if blk.size // 2**k % 2 == 1:
            total += 1
    return total


net.transition("huffman", take={"blk": coded}, delay=bits)
