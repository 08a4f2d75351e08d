"""A net that is a controller behind a memory port and nothing else: for tests and benchmarks."""

import lpn
from lpn import lib

lpn.load("dram")

from models.dram import parts  # noqa: E402

__all__ = ["lone_port"]


def lone_port(part, **options):
    """Accesses of the place `asks` come to it; each is in `done` when it is answered. `options`: of
    parts.dram.
    """
    net = lpn.Net("port")
    port = lib.memory_port(net, "memory")
    asks = net.place("asks", lib.Access, start=True)
    net.transition("ask", take={"t": asks}, put=[port.requests.forward("t")])
    done = net.place("done", lib.Access, done=True, sink=True)
    net.transition("end", take={"t": port.responses}, put=[done.forward("t")])
    parts.dram(net, "dram", port, part, **options)
    return net
