"""An expression that is beyond the range of the parameter in this run."""

import lpn


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]
    size: lpn.Int


net = lpn.Net("n")
coded = net.place("coded", Block, start=True)
free = net.place("free", init=4)
ready = net.place("ready", Block, sink=True)
done = net.place("done", done=True)

part = lpn.Net("part")
inlet = part.place("inlet", start=True, capacity=2)
width = part.param("width", 4, range=(1, 8))
part.transition("work", take={"x": inlet}, delay=width, servers=1)

slots = net.param("slots", 4)
net.instance(part, "core", params={"width": slots + 2})
work = lpn.Marking(net)
work.add("core.inlet")
lpn.simulate(net, work, {"slots": 7})
