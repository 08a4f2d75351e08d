"""Round robins over busy inputs: firings a second of lpn.lib's, compiled, beside one whose guards ask
which inputs are empty.

    PYTHONPATH=build/python /usr/bin/python3 testbenches/speed/arbiters.py

400,000 grants of 1 to 16 cycles over 4 to 64 inputs; both in turns, each five times, on one core; what
counts is the least time.
"""

import random
import sys

from _measure import ROOT, SEED, machine
from lpn import lib

import lpn

sys.path.insert(0, str(ROOT / "testbenches"))

from _round_robin import by_free_counts  # noqa: E402

GRANTS, REPEAT = 400_000, 5


class Flit(lpn.Token):
    cycles: lpn.Int[1, 16]


def net_of(arbiter, n):
    net = lpn.Net("merge")
    inputs = [net.place(f"in{k}", Flit, start=True) for k in range(n)]
    out = net.place("out", Flit)
    arbiter(net, "arbiter", inputs, out, delay=lambda t: t.cycles)
    done = net.place("done", Flit, done=True, sink=True)
    net.transition("use", take={"t": out}, put=[done.forward("t")], delay=1, servers=1)
    return net


def work_of(net, n):
    draw, work = random.Random(SEED), lpn.Marking(net)
    for k in range(n):
        work.add_rows(f"in{k}", [(draw.randint(1, 16),) for _ in range(GRANTS // n)])
    return work


def main():
    print("  ".join(f"{key}: {value}" for key, value in machine().items()))
    print("inputs, transitions, M firings/s, by free counts, ratio")
    for n in (4, 8, 16, 64):
        nets = [net_of(arbiter, n) for arbiter in (lib.round_robin, by_free_counts)]
        works = [work_of(net, n) for net in nets]
        least, ends = [float("inf")] * 2, set()
        for _ in range(REPEAT):
            for k, (net, work) in enumerate(zip(nets, works)):
                run = lpn.simulate(net, work, engine="compiled")
                least[k] = min(least[k], run.seconds)
                ends.add((run.latency, run.commits))
        if len(ends) != 1:
            raise SystemExit(f"{n} inputs: the two do not agree: {ends}")
        (_, commits), (ours, theirs) = ends.pop(), least
        print(
            f"{n}, {len(nets[0].transitions)}, {commits / ours / 1e6:.1f}, "
            f"{commits / theirs / 1e6:.1f}, {theirs / ours:.1f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
