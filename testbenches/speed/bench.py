#!/usr/bin/python3
"""Speed of the engines: the numbers of docs/numbers.md beside what was asked, medians of several runs.

    testbenches/speed/bench.py [--repeat 5] [--only WORD] [--quick] [--long] [--json]

Uses the built package in build/ (or $LPN_BUILD, or PYTHONPATH) and the compiled simulators' cache.
What cannot be measured here is listed with the reason. Rates that are compared with each other are
measured in turns, so that other work on the machine hits all of them.
"""

import os
import subprocess
import sys
import tempfile
import time

import _workloads
from _measure import BUILD, HERE, Missing, Report, lpn, options, rate, simulated, wall
from observed import observed
from _peers import ENDS, FLAGS, LANES, Peers

IMAGE = _workloads.IMAGE
COMPARED = {"pipe4": 1_000_000, "ring64": 62_500, "forkjoin": 222_222}  # net: workload


# The nets that other tools were measured on.


def compared(report, peers, divisor):
    """pipe4, ring64, forkjoin: ours against the hand-made limit and the small engines."""
    for name, count in COMPARED.items():
        if not report.wants(name):
            continue
        model = lpn.load(HERE / "nets" / f"{name}.py")
        net = model.net()
        marking = model.workload(count // divisor, net)

        def ours():
            run, seconds = simulated(net, marking)
            if divisor == 1 and run.last_commit != ENDS[name]:
                raise AssertionError(f"{name} ends at {run.last_commit}, not {ENDS[name]}")
            return run.commits / seconds / 1e6

        rounds, reasons = report.turns(
            {
                "generated simulator": ours,
                "maxplus, one input": peers.maxplus(name),
                "engines dataflow": peers.engine(name, "dataflow"),
                "engines wheel": peers.engine(name, "wheel"),
                "engines heap": peers.engine(name, "heap"),
                "interpreter": rate(net, marking, "interp"),
            }
        )
        for key in rounds[0]:
            report.add(f"{name}, {key}", "M firings/s", [r[key] for r in rounds])
        for key, reason in reasons.items():
            report.missing(f"{name}, {key}", reason)
        row = f"{name}, generated / maxplus"
        if "maxplus, one input" in rounds[0] and "generated simulator" in rounds[0]:
            report.add(
                row,
                "times",
                asked=">= 0.7",
                values=[r["generated simulator"] / r["maxplus, one input"] for r in rounds],
            )
        else:
            report.missing(row, next(iter(reasons.values())), ">= 0.7")


def batches(report, peers, divisor):
    """The same nets, many inputs in lock step, against the limit's best number of lanes."""
    sizes = (16, 32, 64)
    for name, count in COMPARED.items():
        title = f"{name}, batch"
        if not report.wants(title):
            continue
        row = f"{title}, best / maxplus's best"
        if not hasattr(lpn, "run_batch"):
            report.missing(row, "there is no lpn.run_batch", ">= 0.6")
            continue
        model = lpn.load(HERE / "nets" / f"{name}.py")
        net = model.net()

        layouts = {}

        def ours(size):
            # A quarter of the tokens: 64 inputs of a million tokens are more than some machines
            # have.
            markings = [model.workload(count // divisor // 4, net) for _ in range(size)]

            def once():
                start = time.process_time()
                runs = lpn.run_batch(net, markings, threads=1)
                processor = time.process_time() - start
                # The peers' inputs lie side by side before their clock starts; so do ours, and what
                # that takes is a row of its own.
                layout = sum(run.layout_seconds for run in runs)
                seconds = min(processor, sum(run.seconds for run in runs)) - layout
                layouts.setdefault(size, []).append(layout / seconds)
                return sum(run.commits for run in runs) / seconds / 1e6

            return once

        rounds, reasons = report.turns(
            {f"{size} inputs": ours(size) for size in sizes}
            | {f"maxplus, {lanes} lanes": peers.maxplus(name, lanes) for lanes in LANES}
        )
        for key in rounds[0]:
            report.add(f"{title}, {key}", "M firings/s", [r[key] for r in rounds])
        for size, values in layouts.items():
            report.add(f"{title}, {size} inputs: layout / run", "times", values)
        for key, reason in reasons.items():
            report.missing(f"{title}, {key}", reason)
        if any(key.startswith("maxplus") for key in reasons):
            report.missing(row, next(iter(reasons.values())), ">= 0.6")
        else:
            report.add(
                row,
                "times",
                asked=">= 0.6",
                values=[
                    max(r[f"{size} inputs"] for size in sizes)
                    / max(r[f"maxplus, {lanes} lanes"] for lanes in LANES)
                    for r in rounds
                ],
            )


# The reference toolchain's nets, and our decoder.


def reference_nets(report, quick):
    """ltc's JPEG, VTA, Menshen and Protoacc on large workloads."""
    part = 10 if quick else 1
    name = "ltc jpeg, largest image"
    path = _workloads.largest_jpeg()
    if report.wants("ltc jpeg"):
        model, net = _workloads.reference_net("jpeg")
        if path is None:
            report.missing(name, "no ../shared/truth/ltc/tokens")
        else:
            report.measure(
                name,
                "M firings/s",
                rate(net, model.workload(path, net), best_of=20),
                path.name,
                ">= 60",
            )
        marking = _workloads.jpeg(net, 16_666 // part)
        report.measure("ltc jpeg", "M firings/s", rate(net, marking), "100k blocks", ">= 60")
        report.measure(
            "ltc jpeg, interpreter",
            "M firings/s",
            rate(net, marking, "interp"),
            "100k blocks",
            ">= 1",
        )
    if report.wants("ltc vta"):
        model, net = _workloads.reference_net("vta")
        marking, note = _workloads.vta(model, net, 64_000 // part)
        report.measure("ltc vta", "M firings/s", rate(net, marking), note, ">= 90")
    if report.wants("ltc menshen"):
        model, net = _workloads.reference_net("menshen")
        marking = _workloads.menshen(net, 20_000 // part)
        report.measure("ltc menshen", "M firings/s", rate(net, marking), "20k packets", ">= 60")
    if report.wants("ltc protoacc"):
        model, net = _workloads.reference_net("protoacc")
        marking = _workloads.protoacc(model, net, 1_500 // part)
        report.measure("ltc protoacc", "M firings/s", rate(net, marking), "1,500 messages", ">= 60")


def own_jpeg(report):
    """models/jpeg on one image: simulated cycles per second of the simulation alone."""
    rows = {
        "compiled": ("models/jpeg 512x384, generated simulator", ">= 2000"),
        "interp": ("models/jpeg 512x384, interpreter", ""),
    }
    if not any(report.wants(name) for name, _ in rows.values()):
        return
    try:
        model = lpn.load("jpeg")
        net = model.net()
        marking = model.workload(IMAGE, net)
    except (ImportError, OSError) as error:
        for name, asked in rows.values():
            report.missing(name, str(error), asked)
        return
    for engine, (name, asked) in rows.items():

        def once(engine=engine):
            # One run takes a fifth of a millisecond: the best of some, else interrupts count.
            runs = [simulated(net, marking, engine) for _ in range(20)]
            return max(run.last_commit / seconds for run, seconds in runs) / 1e6

        report.measure(name, "M cycles/s", once, IMAGE.name, asked)


# Conflicts and sizes.


def arbiters(report, quick):
    """Requesters that compete for resources: no order of evaluation avoids the event queue."""
    jobs = 100_000 if quick else 1_000_000
    if not report.wants("arbiter"):
        return
    model = lpn.load(HERE / "nets" / "arbiter.py")
    variants = {
        **{f"arbiter, {n} requesters": {"n": n} for n in (4, 16, 64, 256)},
        "arbiter, 64 requesters, 4 resources": {"n": 64, "resources": 4},
        "arbiter, 64 requesters that come and go": {"n": 64, "think": True},
        "arbiter, 64 that come and go, 4 resources": {"n": 64, "resources": 4, "think": True},
    }
    runs = {}
    for name, given in variants.items():
        net = model.net(**given)
        runs[name] = rate(net, model.workload(jobs, net))
    rounds, reasons = report.turns(runs)
    for name in rounds[0]:
        report.add(
            name,
            "M firings/s",
            [r[name] for r in rounds],
            asked=">= 20" if variants[name].get("n") == 64 else "",
        )
    for name, reason in reasons.items():
        report.missing(name, reason)
    if not reasons:
        sizes = [f"arbiter, {n} requesters" for n in (4, 16, 64, 256)]
        report.add(
            "arbiter, fastest/slowest of 4..256 requesters",
            "times",
            [max(r[s] for s in sizes) / min(r[s] for s in sizes) for r in rounds],
        )


def scaling(report, firings):
    """Rings and fork-joins of 10, 100 and 1 000 transitions, and how far apart their rates are."""
    families = [
        ("ring", "ring.py", {}),
        ("fork_join, 8 branches", "fork_join.py", {}),
        ("fork_join, n/2 branches", "fork_join.py", {"branches": 0}),
    ]
    for family, file, given in families:
        if not report.wants(family):
            continue
        model = lpn.load(HERE / "nets" / file)
        for engine, word in (("compiled", "generated simulator"), ("interp", "interpreter")):
            nets = {n: model.net(n=n, **given) for n in (10, 100, 1000)}
            rounds, reasons = report.turns(
                {n: rate(net, model.workload(firings // n, net), engine) for n, net in nets.items()}
            )
            if reasons:
                report.missing(f"{family}, {word}", next(iter(reasons.values())))
                continue
            for n in nets:
                report.add(f"{family}, n={n}, {word}", "M firings/s", [r[n] for r in rounds])
            report.add(
                f"{family}, fastest/slowest, {word}",
                "times",
                [max(r.values()) / min(r.values()) for r in rounds],
                asked="<= 3",
            )


def growth(report, largest):
    """Firings per second and peak memory from 10^4 firings on, each size in its own process."""
    for net in ("ring64", "arbiter"):
        title = f"growth, {net}"
        if not report.wants(title):
            continue
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

        def size(count):
            command = [sys.executable, HERE / "_growth.py", net, str(count), "0.3"]
            done = subprocess.run(
                [str(w) for w in command], env=environment, text=True, capture_output=True
            )
            if done.returncode:
                raise Missing((done.stderr.strip().splitlines() or ["failed"])[-1])
            firings, speed, peak = done.stdout.split()
            if not 0.9 * count < int(firings) < 1.1 * count:
                raise AssertionError(f"{net}: {firings} firings, not about {count}")
            return float(speed), float(peak)

        rates, peaks, exponent = {}, {}, 4
        try:
            size(10**4)  # compiles
            repeat = max(1, report.repeat // 2)
            for exponent in range(4, largest + 1):
                values = [size(10**exponent) for _ in range(1 if exponent > 7 else repeat)]
                rates[exponent] = [v[0] for v in values]
                peaks[exponent] = [v[1] for v in values]
        except Missing as reason:
            report.missing(f"{title}, 10^{exponent} firings", str(reason))
            continue
        for exponent, values in rates.items():
            report.add(
                f"{title}, 10^{exponent} firings",
                "M firings/s",
                values,
                f"peak memory {max(peaks[exponent]):.1f} MiB",
            )
        middle = [sorted(values)[len(values) // 2] for values in rates.values()]
        report.add(
            f"{title}, fastest/slowest", "times", [max(middle) / min(middle)], asked="<= 1.1"
        )
        tops = [max(values) for values in peaks.values()]
        report.add(
            f"{title}, most/least peak memory", "times", [max(tops) / min(tops)], asked="<= 1.1"
        )


# From model to result.


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
        done = subprocess.run(
            [sys.executable, "-c", BUILD_ONCE], env=environment, text=True, capture_output=True
        )
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["failed"])[-1])
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as top:
        count = iter(range(1000))
        report.measure(cold, "s", lambda: build(f"{top}/{next(count)}"), asked="<= 6")
        report.measure(cached, "s", lambda: build(f"{top}/0"), asked="<= 0.1")

        def run_alone():
            program = BUILD / "bin" / "lpn-run"
            if not program.exists():
                raise Missing(f"there is no {program.name} in the build")
            if not os.path.exists(f"{top}/jpeg.lpn"):
                model = lpn.load("jpeg")
                net = model.net()
                net.save(f"{top}/jpeg.lpn")
                model.workload(IMAGE, net).save(f"{top}/jpeg.marking")
            return wall(program, f"{top}/jpeg.lpn", f"{top}/jpeg.marking")

        report.measure(alone, "s", run_alone, "whole process, " + IMAGE.name, "<= 0.1")


def end_to_end(report):
    """lpn sim jpeg IMAGE: start, decode, simulate, print."""
    program = BUILD / "bin" / "lpn"

    def once():
        if not program.exists():
            raise Missing(f"there is no {program.name} in the build")
        return wall(program, "sim", "jpeg", IMAGE)

    report.measure("lpn sim jpeg IMAGE, end to end, cached", "s", once, IMAGE.name, "<= 0.5")


def main():
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the firings")
    parser.add_argument("--long", action="store_true", help="growth to 10^9 firings: minutes")
    given = parser.parse_args()
    report = Report(given, {"peers": f"compiled with {FLAGS}"})
    divisor = 10 if given.quick else 1
    with Peers() as peers:
        compared(report, peers, divisor)
        batches(report, peers, divisor)
    reference_nets(report, given.quick)
    own_jpeg(report)
    arbiters(report, given.quick)
    scaling(report, 2_000_000 // divisor)
    growth(report, 9 if given.long else 6 if given.quick else 7)
    observed(report, given.quick)
    compiling(report)
    end_to_end(report)
    report.finish()


if __name__ == "__main__":
    main()
