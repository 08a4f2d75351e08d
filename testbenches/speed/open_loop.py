"""What latencies of requests cost: an open-loop run of many requests with and without them.

    PYTHONPATH=build/python /usr/bin/python3 testbenches/speed/open_loop.py [--requests N]

Each run is a process of its own, compiled, fed in parts. `plain`: requests without a birth, nothing
measured, done tokens only counted. `births`: they carry it, and stay where they are done.
`latencies`: they are summed up, by class, and forgotten. The same for requests that only pass one
server, and for a small system in which each makes nine firings.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

SEED = 20261123
KINDS = ("plain", "births", "latencies")


def server(born):
    """One server: a firing per request."""
    import lpn

    Request = _request(born)
    net = lpn.Net("server")
    queue = net.place("queue", Request, start=True)
    answer = _done(net, Request, born)
    net.transition(
        "serve",
        take={"rq": queue},
        put=[answer],
        delay=lambda rq: 20 + rq.kind,
        servers=1,
    )
    return net


def system(born):
    """Eight stages with buffers of four, and a link back: nine firings per request."""
    import lpn

    Request = _request(born)
    net = lpn.Net("system")
    place = net.place("queue", Request, start=True)
    for k in range(8):
        after = net.place(f"buffer{k}", Request, capacity=4)
        net.transition(
            f"stage{k}",
            take={"rq": place},
            put=[after.forward("rq")],
            delay=lambda rq, k=k: 6 + (rq.kind + k) % 5,
            servers=1,
        )
        place = after
    answer = _done(net, Request, born)
    net.transition("answer", take={"rq": place}, put=[answer], delay=3, servers=1)
    return net


def _done(net, Request, born):
    """What to put where requests are done: only a count where nobody asks."""
    done = net.place("done", Request if born else None, done=True, sink=True)
    return done.forward("rq") if born else done


def _request(born):
    import lpn

    class Request(lpn.Token):
        kind: lpn.Int[0, 7]

    class Born(lpn.Token):
        kind: lpn.Int[0, 7]
        born: lpn.Birth

    return Born if born else Request


NETS = {"server": server, "system": system}


def run(name, kind, requests):
    """(processor seconds, bytes at the most): one run, in this process."""
    import _lpn
    import lpn
    from lpn.runs import compiled
    from lpn.runs.engines import start
    from lpn.runs.open_loop import measure

    net = NETS[name](kind != "plain")
    net.done()
    library = compiled(net)
    traffic = lpn.Traffic(net, SEED)
    traffic.stream("queue", lpn.poisson(30), requests, kind=lpn.uniform(0, 7))
    used = time.process_time()
    if kind == "latencies":
        measure(net, [], traffic, library, by="kind")
    else:
        machine = start(net, [], lpn.Marking(net), library)
        for horizon, parts in traffic.blocks():
            for place, rows, times in parts:
                _lpn.sim.feed(machine, place._number, rows.ravel(), times)
            _lpn.sim.run(machine, horizon - 1)
        _lpn.sim.run(machine)
    return time.process_time() - used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=10_000_000)
    parser.add_argument(
        "--one", nargs=3, metavar=("NET", "KIND", "N"), help="one run, in this process"
    )
    given = parser.parse_args()
    if given.one:
        print(*run(given.one[0], given.one[1], int(given.one[2])))
        return

    def apart(*arguments):
        found = subprocess.run(
            [sys.executable, __file__, "--one", *map(str, arguments)],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ,
        )
        seconds, size = found.stdout.split()
        return float(seconds), float(size)

    print(f"{platform.machine()}, Python {platform.python_version()}, seed {SEED}")
    print(f"{given.requests} requests, processor seconds (median of 3), most memory")
    for name in NETS:
        apart(name, "plain", 1000), apart(name, "births", 1000)  # compiled
        plain = None
        runs = {kind: [] for kind in KINDS}
        for _ in range(3):  # beside each other, for a machine with other work
            for kind in KINDS:
                runs[kind].append(apart(name, kind, given.requests))
        for kind in KINDS:
            seconds = sorted(s for s, _ in runs[kind])[1]
            plain = plain or seconds
            small = apart(name, kind, given.requests // 10)[1]
            print(
                f"  {name:7} {kind:10} {seconds:7.2f} s  {seconds / plain:5.2f}x  "
                f"{runs[kind][0][1] / 2**20:6.0f} MiB ({small / 2**20:.0f} MiB for a tenth)"
            )


if __name__ == "__main__":
    main()
