"""One net at one size, in a process of its own: prints firings, their rate and the peak memory.

    _growth.py NET COUNT SECONDS     NET: ring64 or arbiter
"""

import resource
import statistics
import sys

from _measure import HERE, lpn, simulated


def main():
    name, count, patience = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    model = lpn.load(HERE / "nets" / f"{name}.py")
    net = model.net(think=True) if name == "arbiter" else model.net()
    per_count = 2 if name == "arbiter" else 64
    marking = model.workload(max(1, count // per_count), net)
    rates, spent = [], 0.0
    while not rates or (spent < patience and len(rates) < 2000):
        run, seconds = simulated(net, marking)
        rates.append(run.commits / seconds / 1e6)
        spent += seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(run.commits, statistics.median(rates), peak)


if __name__ == "__main__":
    main()
