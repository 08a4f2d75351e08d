"""Waiting times of M/M/1 and M/D/1 queues against their formulas: is the truth in the interval?

    PYTHONPATH=build/python /usr/bin/python3 testbenches/accuracy/queues/report.py [--seeds N] [--requests N]

For each queue, load and seed a table of `lpn latency` is made: independent runs after a warm-up, mean
and p99 of the time in the queue with intervals that hold together with 95 %. Counted is in how many
of the seeds the formula's value lies inside.
"""

import argparse
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import formulas  # noqa: E402
import single_server  # noqa: E402

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
RUNS = 20  # independent runs of one table


def table(queue, load, seed, requests):
    """{figure: (estimate, half of its interval)} of the waiting time, in service times."""
    from lpn.runs import compiled
    from lpn.runs.open_loop import Replicated, measure

    _, _, exponential = formulas.QUEUES[queue]
    net = single_server.net()
    net.done()
    library = compiled(net)
    gap = single_server.SERVICE / load
    # The queue forgets its start like exp(-t (1 - sqrt(load))^2) (Kleinrock, 2.4): ten times that,
    # and the runs longer as the load needs it.
    memory = 1 / (1 - load**0.5) ** 2
    warm = 10 * memory
    count = int(requests + (40 * memory + warm) * load)
    found = []
    for run in range(RUNS):
        traffic = single_server.traffic(
            net, seed * RUNS + run, load=100 * load, requests=count, exponential=exponential
        )
        _, sums = measure(net, [], traffic, library, warm_up=int(warm * gap * load))
        found.append(sums["waited"].all)
    estimates = Replicated(found).estimates()
    unit = single_server.SERVICE
    return {name: (value / unit, half / unit) for name, (value, half) in estimates.items()}


def hits(arguments):
    """Whether mean and p99 of the formula lie in the intervals of one seed, and the estimates."""
    queue, load, seed, requests = arguments
    mean, quantile, _ = formulas.QUEUES[queue]
    truth = {"mean": mean(load), "p99": quantile(load, 0.99)}
    rows = table(queue, load, seed, requests)
    return {
        name: (abs(rows[name][0] - value) <= rows[name][1], rows[name][0] / value - 1)
        for name, value in truth.items()
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--requests", type=int, default=4_000)
    parser.add_argument("--loads", type=float, nargs="+", default=LOADS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{given.seeds} seeds, {RUNS} runs each, at least {given.requests} requests a run")
    print(
        f"{'queue':6}{'load':>6}{'mean: inside':>14}{'bias':>9}{'p99: inside':>13}{'bias':>9}{'seconds':>9}"
    )
    least = given.seeds
    with ProcessPoolExecutor(given.jobs) as pool:
        for queue in formulas.QUEUES:
            for load in given.loads:
                begin = time.monotonic()
                work = [(queue, load, seed, given.requests) for seed in range(1, given.seeds + 1)]
                found = list(pool.map(hits, work, chunksize=5))
                line = f"{queue:6}{load:6}"
                for name in ("mean", "p99"):
                    inside = sum(row[name][0] for row in found)
                    bias = sum(row[name][1] for row in found) / len(found)
                    least = min(least, inside)
                    line += (
                        f"{inside:>14}{bias:>+9.2%}"
                        if name == "mean"
                        else f"{inside:>13}{bias:>+9.2%}"
                    )
                print(f"{line}{time.monotonic() - begin:9.1f}", flush=True)
    print(f"the least: {least} of {given.seeds}")


if __name__ == "__main__":
    main()
