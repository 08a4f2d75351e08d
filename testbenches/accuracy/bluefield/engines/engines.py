#!/usr/bin/env python3
"""Functions that share an engine in software on this machine's CPU: predicted against measured.

    PYTHONPATH=build/python python3 testbenches/accuracy/bluefield/engines/engines.py [--measure]

--measure runs models/bluefield/benches/engine.c, two minutes on two cores with nothing else to do, and writes
measured.csv beside this file; without it the recorded rows are read. What the net is told of a function
is its rate alone; its rate beside one or two others is predicted.
"""

import argparse
import random
import statistics
import sys
from pathlib import Path

from models.bluefield import scenario as scenarios
from models.bluefield.benches.engine import Client, EngineBench
from models.bluefield.net import steady

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import measured  # noqa: E402
from measured import mape  # noqa: E402

FILE = Path(__file__).parent / "measured.csv"
COLUMNS = ("co_run", "engine", "bytes", "matches", "queues", "offered_kpps", "solo_kpps", "kpps")
CO_RUNS = 32
_REPEATS = 7
_OWN_US = 0.05  # what a client does itself, beside the engine: next to nothing
_SLOTS = 128  # of a queue, as in engine.c


def plan(seed=1):
    """[(engine, [(Client, share of its rate alone that it offers, or None)])]"""
    draw = random.Random(seed)
    found = []
    for number in range(CO_RUNS):
        clients = [
            (
                Client(
                    draw.choice([256, 512, 1024, 1500, 4096]),
                    draw.choice([0, 200, 600, 1100]),
                    draw.choice([1, 1, 2, 3]),
                ),
                draw.choice([None, None, draw.uniform(0.05, 0.7)]),
            )
            for _ in range(draw.choice([2, 2, 3]))
        ]
        found.append((("regex", "deflate")[number % 2], clients))
    return found


def measure(bench):
    """The rows of measured.csv: a client each.

    What the machine can do wobbles by tens of percent from second to second, so that each co-run is
    measured right after its clients alone, again and again: the median of the rates in parts of those
    alone counts.
    """
    rows = []
    for number, (engine, clients) in enumerate(plan()):
        solos, parts = [], []
        for _ in range(_REPEATS):
            alone = [bench.rates(engine, [client])[0] for client, _ in clients]
            together = [
                Client(c.bytes, c.matches, c.queues, share and share * solo)
                for (c, share), solo in zip(clients, alone)
            ]
            rates = bench.rates(engine, together)
            solos.append(alone)
            parts.append([rate / solo for rate, solo in zip(rates, alone)])
        for k, (client, share) in enumerate(clients):
            solo = statistics.median(alone[k] for alone in solos)
            rate = solo * statistics.median(part[k] for part in parts)
            offered = "" if share is None else f"{share * solo:.4f}"
            values = (number, engine, client.bytes, f"{client.matches:g}", client.queues, offered)
            rows.append(dict(zip(COLUMNS, (*values, f"{solo:.4f}", f"{rate:.4f}"))))
            print(rows[-1], file=sys.stderr)
    return rows


def read(path=FILE):
    """(what the file says of its machine, [[row of a client] of a co-run])."""
    about, rows = measured.read(path)
    together = {}
    for row in rows:
        together.setdefault(row["co_run"], []).append(row)
    return about, list(together.values())


def scenario(rows):
    """What the net is told: a function for each row, whose requests take 1 / its rate alone."""
    functions = []
    for k, row in enumerate(rows):
        stage = {
            "resource": row["engine"],
            "queues": int(row["queues"]),
            "slots": _SLOTS,
            "service_us": 1e3 / float(row["solo_kpps"]),
        }
        function = {
            "name": f"f{k}",
            "pattern": "pipeline",
            "stages": [{"resource": "cpu", "service_us": _OWN_US}, stage],
        }
        if row["offered_kpps"]:
            offered = float(row["offered_kpps"])
            function["traffic"] = {"rate_kpps": offered, "arrivals": "paced"}
        functions.append(function)
    given = {"nic": {"engines": {rows[0]["engine"]: {"latency_us": 0}}}, "functions": functions}
    return scenarios.parse(given, "co-run")


def equal_time(rows):
    """Rates [kpps] if all had equal parts of the engine's time, and those who need less left the rest."""
    solo = [float(row["solo_kpps"]) for row in rows]
    wanted = [min(float(row["offered_kpps"] or kpps), kpps) / kpps for row, kpps in zip(rows, solo)]
    parts, left, more = [0.0] * len(rows), 1.0, sorted(range(len(rows)), key=wanted.__getitem__)
    for position, k in enumerate(more):
        parts[k] = min(wanted[k], left / (len(more) - position))
        left -= parts[k]
    return [part * kpps for part, kpps in zip(parts, solo)]


def predicted(co_runs):
    """{method: [(engine, predicted, measured)]}: the net; equal parts of engine time; no contention."""
    found = {"net": [], "equal time": [], "alone": []}
    for rows in co_runs:
        outcome = steady.simulate(scenario(rows), latencies=False)
        for row, result, part in zip(rows, outcome.results, equal_time(rows)):
            solo = float(row["solo_kpps"])
            wanted = min(float(row["offered_kpps"] or solo), solo)
            for method, value in zip(found, (result.throughput_kpps, part, wanted)):
                found[method].append((row["engine"], value, float(row["kpps"])))
    return found


def worst(triples):
    """The largest absolute error in percent."""
    return 100 * max(abs(p / m - 1) for _, p, m in triples)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    if options.measure:
        bench = EngineBench(seconds=0.1)
        about = f"; regular expressions by {bench.regex}"
        measured.write(FILE, COLUMNS, lambda: measure(bench), about)
    about, co_runs = read()
    print("; ".join(about))
    print(f"{len(co_runs)} co-runs of two or three functions; error of their rates, mean and worst")
    for method, triples in predicted(co_runs).items():
        parts = [
            f"{engine} {mape(own):5.2f} % {worst(own):6.1f} %"
            for engine in ("regex", "deflate")
            for own in [[t for t in triples if t[0] == engine]]
        ]
        print(
            f"  {method:12}  all {mape(triples):5.2f} % {worst(triples):6.1f} %   {'   '.join(parts)}"
        )


if __name__ == "__main__":
    main()
