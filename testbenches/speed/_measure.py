"""How the speed bench measures, and the table it prints."""

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("LPN_BUILD", ROOT / "build"))
if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(BUILD / "python"))

import lpn  # noqa: E402

SHARED = Path(os.environ.get("LPN_SHARED", ROOT.parent / "shared"))
SEED = 20261121


class Missing(Exception):
    """Why something cannot be measured here."""


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


def options(about, repeat=5):
    """A parser of what every bench takes; `about`: the docstring of its module."""
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--repeat", type=int, default=repeat, help=f"runs per number (default {repeat})"
    )
    parser.add_argument("--only", metavar="TEXT", help="only the rows whose name contains this")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    return parser


class Report:
    """Rows of one benchmark run. `asked`: what a row should reach, such as ">= 60".

    `given`: the parsed options(). `more`: what else the numbers depend on, beside the machine.
    """

    def __init__(self, given, more=None):
        self.repeat = max(1, given.repeat)
        self.only = given.only
        self.as_json = given.json
        self.rows = []
        self.about = machine() | (more or {})
        if not self.as_json:
            print("\n".join(f"{key:<14}{value}" for key, value in self.about.items()))
            print(f"\n{'':<52}{'asked':>9}{'median':>11}{'min':>11}{'max':>11}")

    def finish(self):
        """With --json: prints everything."""
        if self.as_json:
            print(json.dumps({"machine": self.about, "rows": self.rows}, indent=1))

    def wants(self, name):
        return self.only is None or self.only in name

    def add(self, name, unit, values, note="", asked=""):
        """A row: the median of `values`, with the least and the greatest."""
        row = {
            "name": name,
            "unit": unit,
            "asked": asked,
            "median": statistics.median(values),
            "min": min(values),
            "max": max(values),
            "runs": len(values),
            "note": note,
        }
        self.rows.append(row)
        if not self.as_json:
            numbers = "".join(f"{shown(row[key]):>11}" for key in ("median", "min", "max"))
            print(f"{name:<52}{asked:>9}{numbers}  {unit:<16}{note}", flush=True)

    def missing(self, name, reason, asked=""):
        self.rows.append({"name": name, "asked": asked, "missing": reason})
        if not self.as_json:
            print(f"{name:<52}{asked:>9}  not measured: {reason}", flush=True)

    def measure(self, name, unit, once, note="", asked=""):
        """`once()` returns one value; it is called once to warm up and then `repeat` times."""
        if not self.wants(name):
            return
        try:
            once()
            self.add(name, unit, [once() for _ in range(self.repeat)], note, asked)
        except Missing as reason:
            self.missing(name, str(reason), asked)

    def turns(self, runs):
        """Rounds of {key: value}: all of `runs` (key: function) in turns, after a round to warm up.

        What is Missing is None in every round.
        """
        left, reasons = dict(runs), {}
        for key, once in runs.items():
            try:
                once()
            except Missing as reason:
                reasons[key] = str(reason)
                del left[key]
        rounds = [{key: once() for key, once in left.items()} for _ in range(self.repeat)]
        return rounds, reasons


def shown(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def simulated(net, marking, engine="compiled", **options):
    """A run to a regular end and the seconds its simulation took; Missing without that engine.

    `run.seconds` is wall time, which on a shared machine counts what others do; the processor time
    of the whole call counts setting up too. Neither is too small, so the smaller one is taken.
    """
    before = time.process_time()
    try:
        run = lpn.simulate(net, marking, engine=engine, **options)
    except lpn.Error as error:
        if error.code in ("E-engine", "E-no-compiler"):
            raise Missing(str(error).splitlines()[0]) from None
        raise
    processor = time.process_time() - before
    if run.stalled:
        raise AssertionError(f"{net.name} stalls: {run.blocked[:3]}")
    return run, min(run.seconds, processor)


def rate(net, marking, engine="compiled", best_of=1):
    """A function that runs the net and returns million firings per second."""

    def once():
        runs = [simulated(net, marking, engine) for _ in range(best_of)]
        return max(run.commits / seconds for run, seconds in runs) / 1e6

    return once


def wall(*command):
    """Seconds that a command takes; Missing when it fails."""
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise Missing((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0])
    return seconds
