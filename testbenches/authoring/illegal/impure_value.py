"""A function whose constant differs per call."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

calls = []


def drift(blk):
    calls.append(1)
    return blk.size + len(calls)


net.transition("huffman", take={"blk": coded}, delay=drift)
