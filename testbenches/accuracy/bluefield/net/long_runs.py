#!/usr/bin/env python3
"""Steady rates of random scenarios against runs 20 times as long.

    PYTHONPATH=build/python python3 testbenches/accuracy/bluefield/net/long_runs.py [--scenarios 1000] [--seed 1]

Half of the scenarios are sets of the catalogue's functions, half are functions of two engines. Rates,
arrivals, traffic, times, queues, descriptors, batches and limits of simulated time are random;
structures are drawn first, some dozen, as each is compiled. An answer that is off by more than 1 % and
has no warning is an error, printed as a scenario.
"""

import argparse
import json
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from models.bluefield import scenario as scenarios
from models.bluefield.net import answer, steady

CATALOGUE = Path(scenarios.__file__).parent / "catalogue.json"
LONGER = 20
OFF = 0.01
PER_STRUCTURE = 25
_ENGINES = ("regex", "compression")


@dataclass
class Compared:
    """A scenario as JSON, its answer's worst relative difference to the long run, and whether the
    answer says that it is unsure."""

    given: dict
    off: float
    told: bool


def offered(draw, sure):
    """How packets come to a function that could do `sure` kpps: their traffic's keys; structure first."""
    if draw.random() < 0.4:
        return None
    arrivals = "poisson" if draw.random() < 0.4 else "paced"
    return lambda own: {
        "rate_kpps": round(sure * own.uniform(0.2, 1.6), 3),
        "arrivals": arrivals,
        "seed": own.randrange(1000),
    }


def of_catalogue(draw):
    """A structure of two to four of the catalogue's functions: a function that draws a scenario."""
    listed = json.loads(CATALOGUE.read_text(encoding="utf-8"))["functions"]
    chosen = [dict(f) for f in draw.choices(listed, k=draw.randint(2, 4))]
    traffics = [offered(draw, 1e3 * f["cores"] / f["stages"][0]["service_us"]) for f in chosen]

    def one(own):
        functions = []
        for k, (f, traffic) in enumerate(zip(chosen, traffics)):
            stages = [dict(stage) for stage in f["stages"]]
            stages[0]["service_us"] = round(stages[0]["service_us"] * own.uniform(0.3, 1.2), 4)
            about = {
                "flows": own.choice([1000, 16384, 300_000]),
                "packet_bytes": own.choice([64, 512, 1500]),
                "matches_per_MB": own.uniform(0, 1100),
                **(traffic(own) if traffic else {}),
            }
            functions.append({**f, "name": f"f{k}-{f['name']}", "stages": stages, "traffic": about})
        return {"nic": {"cores": 8}, "functions": functions}

    return one


def of_two_engines(draw):
    """A structure of one to four functions that use one or both engines."""
    forms = []
    for _ in range(draw.randint(1, 4)):
        engines = draw.sample(_ENGINES, draw.choice([1, 2, 2]))
        forms.append(
            {
                "pattern": draw.choice(["pipeline", "run-to-completion"]),
                "batch": draw.choice([1, 4, 8, 32]),
                "queues": [(engine, draw.choice([1, 1, 2, 3])) for engine in engines],
                "traffic": offered(draw, 400),
            }
        )

    def one(own):
        functions = []
        for k, form in enumerate(forms):
            stages = [{"resource": "cpu", "service_us": round(own.uniform(0.2, 2), 4)}]
            for engine, queues in form["queues"]:
                stages.append(
                    {
                        "resource": engine,
                        "queues": queues,
                        "slots": own.choice([128, 256, 1024]),
                        "service_us": round(own.uniform(0.1, 2.5), 4),
                    }
                )
            function = {"name": f"f{k}", "pattern": form["pattern"], "stages": stages}
            function["cores"] = own.choice([1, 1, 2, 3])
            if form["pattern"] == "run-to-completion":
                function["batch"] = form["batch"]
            if form["traffic"]:
                function["traffic"] = form["traffic"](own)
            functions.append(function)
        return {"nic": {"cores": 16}, "functions": functions}

    return one


def drawn(seed, number):
    """[scenario as JSON] of both kinds in turns, `number` in all."""
    draw = random.Random(seed)
    found = []
    while len(found) < number:
        one = (of_two_engines if len(found) // PER_STRUCTURE % 2 else of_catalogue)(draw)
        for _ in range(min(PER_STRUCTURE, number - len(found))):
            given = one(draw)
            given["simulate"] = {"most_ms": draw.choice([20, 40, 200])}
            found.append(given)
    return found


def long_run(scenario, outcome):
    """The rates [kpps] after LONGER times the simulated time of an Outcome."""
    most = LONGER * outcome.simulated_ms
    longer = replace(scenario, simulate=replace(scenario.simulate, most_ms=most))
    run = steady._Run(longer)
    run.window_us = run.most_us
    return run


def compare(given, threads=None, progress=None):
    """[Compared] of scenarios as JSON."""
    import lpn

    parsed = [scenarios.parse(one) for one in given]
    out = [None] * len(parsed)
    groups = {}
    for k, scenario in enumerate(parsed):
        groups.setdefault(steady.build.shape(scenario), []).append(k)
    for done, group in enumerate(groups.values(), 1):
        outcomes = steady.throughputs([parsed[k] for k in group], threads=threads)
        runs = [long_run(parsed[k], outcome) for k, outcome in zip(group, outcomes)]
        answers = lpn.run_batch(
            runs[0].net,
            [run.marking for run in runs],
            [run.parameters() for run in runs],
            threads=threads,
            read=runs[0].kept,
        )
        for k, outcome, run, found in zip(group, outcomes, runs, answers):
            run.take(found)
            pairs = zip(outcome.results, run.outcome.results)
            off = max(
                abs(short.throughput_kpps / longer.throughput_kpps - 1)
                if longer.throughput_kpps
                else float(short.throughput_kpps > 0)
                for short, longer in pairs
            )
            told = not outcome.steady or bool(answer.warnings(parsed[k], outcome))
            out[k] = Compared(given[k], off, told)
        if progress is not None:
            progress(done, len(groups), [out[k] for k in group])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    def progress(done, of, compared):
        silent = sum(c.off > OFF and not c.told for c in compared)
        print(f"structure {done} of {of}: {silent} silent of {len(compared)}", file=sys.stderr)

    found = compare(drawn(options.seed, options.scenarios), options.threads, progress)
    silent = [c for c in found if c.off > OFF and not c.told]
    told = [c for c in found if c.told]
    print(
        f"{len(found)} scenarios: {len(silent)} off by more than {OFF:.0%} without a warning, worst "
        f"{max((c.off for c in found if not c.told), default=0):.2%}; {len(told)} with one, of which "
        f"{sum(c.off > OFF for c in told)} are off"
    )
    for c in silent:
        print(f"off by {c.off:.2%}: {json.dumps(c.given)}")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
