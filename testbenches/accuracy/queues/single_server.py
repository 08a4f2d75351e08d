"""One server and a queue before it, under Poisson arrivals: M/M/1, or M/D/1.

`waited` is done for a request when its service starts, `done` when it ends: their latencies are the
time in the queue and the time in the system.
"""

import lpn

SERVICE = 1_000_000  # cycles, on average: what rounding to cycles costs is then 1e-6 of it


class Request(lpn.Token):
    service: lpn.Int[0, 2**50]
    born: lpn.Birth


def net():
    net = lpn.Net("single_server")
    queue = net.place("queue", Request, start=True)
    idle = net.place("idle", init=1)
    serving = net.place("serving", Request)
    waited = net.place("waited", Request, sink=True)
    done = net.place("done", Request, done=True, sink=True)
    net.transition(
        "begin",
        take={"rq": queue, "server": idle},
        put=[serving.forward("rq"), waited.forward("rq")],
    )
    net.transition(
        "serve",
        take={"rq": serving},
        put=[done.forward("rq"), idle],
        delay=lambda rq: rq.service,
        servers=1,
    )
    return net


def traffic(net, seed, load=50, requests=100_000, exponential=1):
    """`load`: how busy the server is, in percent. `exponential`: 1 for M/M/1, 0 for M/D/1."""
    traffic = lpn.Traffic(net, seed=seed)
    service = lpn.exponential(SERVICE) if exponential else SERVICE
    traffic.stream("queue", lpn.poisson(SERVICE * 100 / load), requests, service=service)
    return traffic
