#!/usr/bin/env python3
"""Exact periods of dataflow graphs: processor seconds beside Kiter's.

    testbenches/speed/dataflow.py [--graphs DIR] [--repeat 3] [--only WORD]

Whole processes of `lpn pi --loops`, one per graph, user and system, as Kiter's were measured
(../shared/truth/csdf/README.md, another day, the same kind of machine); each must print the period of
the truth. The graphs are those of ../shared/truth/csdf; --graphs names a folder of GRAPH.xml with
the public ones that are not there.
"""

import csv
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from _measure import BUILD, SHARED, Report, options

CSDF = SHARED / "truth" / "csdf"


def processor(*command):
    """(what it prints, its user and system seconds)."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE) as child:
        out = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return out, used.ru_utime + used.ru_stime


def graphs(folder):
    """(name, file, period, Kiter's seconds); None for a file that is not here."""
    folders = [CSDF / "own", CSDF / "graphs_gpl3", *([folder] if folder else [])]
    for table in ("graphs.csv", "own.csv"):
        with open(CSDF / table, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                name = f"{row['graph']}.xml"
                path = next((f / name for f in folders if (f / name).exists()), None)
                truth = Fraction(int(row["period_num"]), int(row["period_den"]))
                yield row["graph"], path, truth, float(row["kiter_cpu_s"])


def main():
    parser = options(__doc__, repeat=3)
    parser.add_argument("--graphs", type=Path, metavar="DIR", help="more graphs, as GRAPH.xml")
    given = parser.parse_args()
    if not CSDF.exists():
        sys.exit(f"no {CSDF}: set LPN_SHARED")
    report = Report(given)
    found = [row for row in graphs(given.graphs) if report.wants(row[0])]
    here = [row for row in found if row[1] is not None]
    sums, largest = [], {}
    for _ in range(report.repeat):
        total = 0.0
        for name, path, truth, _ in here:
            out, used = processor(BUILD / "bin" / "lpn", "pi", "--loops", path, "--json")
            assert Fraction(json.loads(out)["period"]) == truth, (name, out)
            largest.setdefault(name, []).append(used)
            total += used
        sums.append(total)
    kiter = sum(row[3] for row in here)
    for name, _, _, other in here:
        if other > 0.5:
            report.add(name, "s", largest[name], f"Kiter: {other:.2f}")
    missing = len(found) - len(here)
    report.add(f"{len(here)} graphs", "s", sums, f"Kiter: {kiter:.2f}; not here: {missing}")
    report.add("ratio to Kiter", "x", [total / kiter for total in sums], asked="<= 3")
    files = [row[1] for row in here]
    once = [processor(BUILD / "bin" / "lpn", "pi", "--loops", *files)[1] for _ in sums]
    report.add("all of them in one process", "s", once)
    report.finish()


if __name__ == "__main__":
    main()
