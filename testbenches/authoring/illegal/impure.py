"""A function that draws random numbers."""

import random

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

random.seed(1)


def jitter(blk):
    if blk.size > random.randint(0, 1000000):
        return 1
    return 2


net.transition("huffman", take={"blk": coded}, delay=jitter)
