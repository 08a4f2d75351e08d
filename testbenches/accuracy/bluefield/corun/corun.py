#!/usr/bin/env python3
"""Network functions of our own in contention on this machine's CPU: predicted against measured.

    PYTHONPATH=build/python python3 testbenches/accuracy/bluefield/corun/corun.py [--measure]

--measure runs models/bluefield/benches on two cores, some minutes, and writes measured.csv beside this
file; without it the recorded rows are read. Each function is profiled alone and beside the memory
benchmark; what it does beside the other functions, which no model has seen, is predicted.
"""

import argparse
import statistics
import sys
from pathlib import Path

from models.bluefield.predictor import training
from models.bluefield.predictor.profile_table import Profile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import measured  # noqa: E402
from measured import mape  # noqa: E402

FILE = Path(__file__).parent / "measured.csv"
COLUMNS = (
    "part", "function", "rival", "throughput_kpps", "solo_kpps", "comp_wss_MB", "comp_l2d_rd_per_s",
    "comp_l2d_wr_per_s",
)  # fmt: skip
FEATURES = ("comp_wss_MB", "comp_l2d_rd_per_s", "comp_l2d_wr_per_s")


def plan(config):
    """(functions, memory benchmarks, rivals): the functions with the traffic they are tested at."""
    functions = [
        config("parse"),
        config("flows", flows=60_000),
        config("regex"),
        config("deflate"),
    ]
    benchmarks = [
        config("memory", wss_KB=kb, pace=pace)
        for kb in (256, 1024, 4096, 16384, 65536)
        for pace in (0, 8, 40)
    ]
    rivals = [
        config(function, flows=flows, bytes=size)
        for function in ("parse", "flows", "regex", "deflate")
        for flows, size in ((2_000, 256), (60_000, 1024), (400_000, 1500), (1_000_000, 512))
    ]
    return functions, benchmarks, rivals


def measure():
    """The rows of measured.csv. A function is measured alone right before each co-run."""
    from models.bluefield.benches.bench import Bench, Config

    bench = Bench(seconds=0.06)
    functions, benchmarks, rivals = plan(Config)
    pressures = {rival: bench.pressure(rival) for rival in (*benchmarks, *rivals)}
    rows = []
    for part, others in (("profile", (None, *benchmarks)), ("co-run", rivals)):
        for function in functions:
            for rival in others:
                solo = bench.rate(function)
                rate = bench.rate(function, rival) if rival else solo
                p = pressures.get(rival)
                rows.append(
                    {
                        "part": part,
                        "function": function.function,
                        "rival": " ".join(rival.arguments(0)) if rival else "",
                        "throughput_kpps": f"{rate / 1e3:.3f}",
                        "solo_kpps": f"{solo / 1e3:.3f}",
                        "comp_wss_MB": f"{p.wss_MB if p else 0:.3f}",
                        "comp_l2d_rd_per_s": f"{p.reads_per_s if p else 0:.0f}",
                        "comp_l2d_wr_per_s": f"{p.writes_per_s if p else 0:.0f}",
                    }
                )
                print(rows[-1], file=sys.stderr)
    return rows


def read(path=FILE):
    """(what the file says of its machine, rows with numbers)."""
    about, rows = measured.read(path)
    for row in rows:
        row.update((name, float(row[name])) for name in COLUMNS[3:])
    return about, rows


def predicted(rows):
    """{method: [(function, predicted, measured)]} of the co-runs, rates relative to those alone.

    Rates are divided by the one alone right before, so that what the rest of the machine does at the
    time counts in neither. Methods: the predictor; a straight line through the counters; no
    contention at all.
    """
    found = {"predictor": [], "linear": [], "alone": []}
    for function in dict.fromkeys(row["function"] for row in rows):
        own = [
            {
                "throughput_kpps": row["throughput_kpps"] / row["solo_kpps"] * 1e3,
                **{name: row[name] for name in FEATURES},
                "part": row["part"],
            }
            for row in rows
            if row["function"] == function
        ]
        profiled = [
            {k: v for k, v in r.items() if k != "part"} for r in own if r["part"] == "profile"
        ]
        asked = [{k: v for k, v in r.items() if k != "part"} for r in own if r["part"] == "co-run"]
        profile = Profile(function, "memory", profiled, list(range(len(profiled))))
        predictor, _ = training.train([profile], "pipeline", function=function)
        line = training.linear_rates(profiled, asked, list(FEATURES))
        for row, straight in zip(asked, line):
            truth = row["throughput_kpps"] / 1e3
            found["predictor"].append((function, predictor.memory.model.rate(row), truth))
            found["linear"].append((function, float(straight), truth))
            found["alone"].append((function, 1.0, truth))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measured.write(FILE, COLUMNS, measure)
    about, rows = read()
    found = predicted(rows)
    solos = {}
    for row in rows:
        solos.setdefault(row["function"], []).append(row["solo_kpps"])
    print(*about, sep="\n")
    for function, rates in solos.items():
        spread = statistics.stdev(rates) / statistics.fmean(rates)
        print(f"{function}: alone {statistics.fmean(rates):.1f} kpps, varying by {spread:.1%}")
    for method, triples in found.items():
        each = {f: mape([t for t in triples if t[0] == f]) for f in solos}
        print(
            f"{method:10} {len(triples)} co-runs, mean error {mape(triples):.2f} %: "
            + ", ".join(f"{f} {e:.2f}" for f, e in each.items())
        )
    drops = [1 - m for _, _, m in found["alone"]]
    print(f"measured drops: mean {statistics.fmean(drops):.1%}, greatest {max(drops):.1%}")


if __name__ == "__main__":
    main()
