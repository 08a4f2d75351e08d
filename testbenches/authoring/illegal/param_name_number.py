"""The number of a parameter instead of its name."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

net.transition("work", take={"blk": coded}, put=[ready.forward("blk")], delay=net.param("slots", 4))
lpn.simulate(net, params={0: 5})
