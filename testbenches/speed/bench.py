#!/usr/bin/python3
"""Speed of the engines: the numbers of README.md, each the median of several runs.

    testbenches/speed/bench.py [--repeat 5] [--only WORD] [--quick] [--json]

Uses the built package in build/ (or $LPN_BUILD, or PYTHONPATH) and the compiled simulators' cache.
What cannot be measured here is listed with the reason. Rates that are compared with each other are
measured in turns, so that other work on the machine hits all of them.
"""

import argparse
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("LPN_BUILD", ROOT / "build"))
if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(BUILD / "python"))

import lpn  # noqa: E402

SHARED = Path(os.environ.get("LPN_SHARED", ROOT.parent / "shared"))
IMAGE = ROOT / "models" / "jpeg" / "demo" / "plasma12_512x384_q50_420.jpg"
SEED = 20261121
BLOCKS = 99_996  # of the generated JPEG marking: 16 666 MCUs, 466 648 firings


class Missing(Exception):
    """Why something cannot be measured here."""


# The machine.


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return (done.stdout or done.stderr).splitlines()[0]


def machine():
    """What the numbers depend on besides the code."""
    cpu = platform.processor() or "unknown"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), cpu)
    except OSError:
        pass
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2),
        "compiler": first_line(os.environ.get("LPN_CXX", "g++"), "--version"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "commit": first_line("git", "describe", "--always", "--dirty"),
        "seed": SEED,
    }


# Measuring.


class Report:
    """Rows of one benchmark run."""

    def __init__(self, repeat, only, as_json):
        self.repeat = repeat
        self.only = only
        self.as_json = as_json
        self.rows = []

    def wants(self, name):
        return self.only is None or self.only in name

    def add(self, name, unit, values, note=""):
        """A row: the median of `values`, with the least and the greatest."""
        row = {
            "name": name,
            "unit": unit,
            "median": statistics.median(values),
            "min": min(values),
            "max": max(values),
            "runs": len(values),
            "note": note,
        }
        self.rows.append(row)
        if not self.as_json:
            numbers = "  ".join(f"{shown(row[key]):>9}" for key in ("median", "min", "max"))
            print(f"{name:<52}{numbers}  {unit:<16}{note}", flush=True)

    def missing(self, name, reason):
        self.rows.append({"name": name, "missing": reason})
        if not self.as_json:
            print(f"{name:<52}not measured: {reason}", flush=True)

    def measure(self, name, unit, once, note=""):
        """`once()` returns one value; it is called once to warm up and then `repeat` times."""
        if not self.wants(name):
            return
        try:
            once()
            self.add(name, unit, [once() for _ in range(self.repeat)], note)
        except Missing as reason:
            self.missing(name, str(reason))


def shown(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def simulated(net, marking, engine):
    """A run; Missing when there is no such engine here."""
    try:
        return lpn.simulate(net, marking, engine=engine)
    except lpn.Error as error:
        if error.code in ("E-engine", "E-no-compiler"):
            raise Missing(str(error).splitlines()[0]) from None
        raise


def rate(net, marking, engine):
    """A function that runs the net and returns million firings per second."""

    def once():
        run = simulated(net, marking, engine)
        return run.commits / run.seconds / 1e6

    return once


# What is measured.


def generated_jpeg(net):
    """A marking of BLOCKS blocks, most of them nearly empty, as in photos."""
    rng = random.Random(SEED)
    marking = lpn.Marking(net)
    marking.add("tasks", count=BLOCKS)
    nonzero = (min(63, int(rng.expovariate(0.15))) for _ in range(BLOCKS))
    marking.add_columns("coded", nonzero=array("q", nonzero))
    return marking


def reference_jpeg(report):
    """The reference toolchain's JPEG net, generated simulator and interpreter."""
    model = lpn.load(ROOT / "testbenches" / "ltc" / "jpeg.py")
    net = model.net()
    generated = generated_jpeg(net)
    files = sorted((SHARED / "truth" / "ltc" / "tokens" / "jpeg").glob("*.tok"),
                   key=lambda path: path.stat().st_size)
    name = "ltc jpeg, largest image, generated simulator"
    if files and report.wants(name):
        largest = model.workload(files[-1], net)
        report.measure(name, "M firings/s", rate(net, largest, "compiled"), files[-1].name)
    elif report.wants(name):
        report.missing(name, f"no token files in {SHARED}")
    note = f"{BLOCKS} blocks"
    report.measure("ltc jpeg, generated simulator", "M firings/s",
                   rate(net, generated, "compiled"), note)
    report.measure("ltc jpeg, interpreter", "M firings/s", rate(net, generated, "interp"), note)


def own_jpeg(report):
    """models/jpeg on one image: simulated cycles per second of the simulation alone."""
    names = {engine: f"models/jpeg 512x384, {engine}"
             for engine in ("generated simulator", "interpreter")}
    if not any(map(report.wants, names.values())):
        return
    try:
        model = lpn.load("jpeg")
        net = model.net()
        marking = model.workload(IMAGE, net)
    except (ImportError, OSError) as error:
        for name in names.values():
            report.missing(name, str(error))
        return
    for engine, name in (("compiled", names["generated simulator"]),
                         ("interp", names["interpreter"])):

        def once(engine=engine):
            # One run takes a millisecond: the best of some, else the clock's ticks are measured.
            runs = [simulated(net, marking, engine) for _ in range(5)]
            return max(run.last_commit / run.seconds for run in runs) / 1e6

        report.measure(name, "M cycles/s", once, IMAGE.name)


def scaling(report, firings):
    """Rings and fork-joins of 10, 100 and 1 000 transitions, and how far apart their rates are."""
    families = [
        ("ring", "ring.py", {}),
        ("fork_join, 8 branches", "fork_join.py", {}),
        ("fork_join, n/2 branches", "fork_join.py", {"branches": 0}),
    ]
    for family, file, options in families:
        if not report.wants(family):
            continue
        model = lpn.load(HERE / "nets" / file)
        for engine, word in (("compiled", "generated simulator"), ("interp", "interpreter")):
            nets = {n: model.net(n=n, **options) for n in (10, 100, 1000)}
            runs = {n: rate(net, model.workload(firings // n, net), engine)
                    for n, net in nets.items()}
            try:
                for once in runs.values():
                    once()
                rounds = [{n: once() for n, once in runs.items()} for _ in range(report.repeat)]
            except Missing as reason:
                report.missing(f"{family}, {word}", str(reason))
                continue
            for n in runs:
                report.add(f"{family}, n={n}, {word}", "M firings/s", [r[n] for r in rounds])
            report.add(f"{family}, fastest/slowest, {word}", "times",
                       [max(r.values()) / min(r.values()) for r in rounds])


def compared(report, divisor):
    """The nets that other tools were measured on, with the known end as a check."""
    for name, count, end in (("pipe4", 1_000_000, 14_437_999), ("ring64", 62_500, 5_375_963),
                             ("forkjoin", 222_222, 2_768_018)):
        if not report.wants(name):
            continue
        model = lpn.load(HERE / "nets" / f"{name}.py")
        net = model.net()
        marking = model.workload(count // divisor, net)

        def once():
            run = simulated(net, marking, "compiled")
            if divisor == 1 and run.last_commit != end:
                raise AssertionError(f"{name} ends at {run.last_commit}, not {end}")
            return run.commits / run.seconds / 1e6

        report.measure(f"{name}, generated simulator", "M firings/s", once)


BUILD_ONCE = """
import sys, lpn, _lpn
net = lpn.load("jpeg").net().done()
print(_lpn.sim.Library.build(net.core).seconds)
"""


def compiling(report):
    """The JPEG simulator: compiled with an empty cache, then taken from it."""
    cold, cached = "compile the JPEG simulator, cold", "load it from the cache, in Python"
    alone = "load it from the cache and run, lpn-run"
    if not any(map(report.wants, (cold, cached, alone))):
        return

    def build(folder):
        environment = {**os.environ, "LPN_CACHE": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", BUILD_ONCE], env=environment, text=True,
                              capture_output=True)
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["failed"])[-1])
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as top:
        count = iter(range(1000))
        report.measure(cold, "s", lambda: build(f"{top}/{next(count)}"))
        report.measure(cached, "s", lambda: build(f"{top}/0"))

        def run_alone():
            program = BUILD / "bin" / "lpn-run"
            if not program.exists():
                raise Missing(f"there is no {program.name} in the build")
            if not Path(f"{top}/jpeg.lpn").exists():
                model = lpn.load("jpeg")
                net = model.net()
                net.save(f"{top}/jpeg.lpn")
                model.workload(IMAGE, net).save(f"{top}/jpeg.marking")
            return wall(program, f"{top}/jpeg.lpn", f"{top}/jpeg.marking")

        report.measure(alone, "s", run_alone, "whole process, " + IMAGE.name)


def wall(*command):
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise Missing((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0])
    return seconds


def end_to_end(report):
    """lpn sim jpeg IMAGE: start, decode, simulate, print."""
    program = BUILD / "bin" / "lpn"

    def once():
        if not program.exists():
            raise Missing(f"there is no {program.name} in the build")
        return wall(program, "sim", "jpeg", IMAGE)

    report.measure("lpn sim jpeg IMAGE, end to end, cached", "s", once, IMAGE.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs per number (default 5)")
    parser.add_argument("--only", help="only the rows whose name contains this")
    parser.add_argument("--quick", action="store_true", help="a tenth of the firings")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    given = parser.parse_args()
    report = Report(max(1, given.repeat), given.only, given.json)
    about = machine()
    if not given.json:
        print("\n".join(f"{key:<14}{value}" for key, value in about.items()))
        print(f"\n{'':<52}{'median':>9}  {'min':>9}  {'max':>9}")
    reference_jpeg(report)
    own_jpeg(report)
    scaling(report, 200_000 if given.quick else 2_000_000)
    compared(report, 10 if given.quick else 1)
    compiling(report)
    end_to_end(report)
    if given.json:
        print(json.dumps({"machine": about, "rows": report.rows}, indent=1))


if __name__ == "__main__":
    main()
