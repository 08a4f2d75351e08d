"""Parameters where the marking belongs."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)
slots = net.param("slots", 4, range=(1, 16))
net.transition("huffman", take={"blk": coded, "slot": free}, put=[ready.forward("blk"), done], delay=slots, servers=1)

lpn.simulate(net, {"slots": 3})
