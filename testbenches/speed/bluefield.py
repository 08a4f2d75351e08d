#!/usr/bin/env python3
"""How long the BlueField-2 net and its predictor take: firings, scenarios, sets of functions,
placement.

    testbenches/speed/bluefield.py [--repeat 5] [--only WORD] [--json]

Every row asserts its answer: rates against the laws, placements against the oracle, the optimum of
its own.
"""

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from _measure import BUILD, ROOT, SEED, SHARED, Missing, Report, options, simulated, wall

sys.path.insert(0, str(ROOT))

from models.bluefield import scenario as scenarios  # noqa: E402
from models.bluefield.net import build, placement, steady  # noqa: E402
from models.bluefield.predictor import laws, scenario_forecast  # noqa: E402

FOLDER = ROOT / "models" / "bluefield"
MONITOR = FOLDER / "scenarios" / "flowmonitor_regex_bench.json"


def firings(path, most_ms):
    """A function that simulates a scenario's net for `most_ms` and returns million firings per
    second.
    """
    scenario = scenarios.read(path)
    shaped = build.net_of_shape(build.shape(scenario))
    net, kept = shaped.net, shaped.kept
    marking = build.marking(scenario, net, steady.WINDOWS + 1)
    net.bound = build.parameters(scenario, most_ms * 1e3 / steady.WINDOWS)

    def once():
        run, seconds = simulated(net, marking, read=kept)
        delivered = run.tokens[kept[0]]
        packets = delivered[-1][0] - delivered[steady.WINDOWS // 2][0]
        if path == MONITOR:
            # Both are backlogged at the engine: one round is 0.5609 + 1.476 us.
            law = laws.shares([laws.Load(0.56094), laws.Load(1.476)])[0]
            assert abs(packets / (most_ms * 500) / law - 1) < 0.002, packets
        assert packets > 0
        return run.commits / seconds / 1e6

    return once


def catalogue():
    return placement.Catalogue(*scenarios.read_catalogue(FOLDER / "catalogue.json"))


def sets():
    """Milliseconds of this process per distinct set of co-located functions, all of up to four."""
    fresh = catalogue()
    keys = fresh.sets()
    begin = time.process_time()
    fresh.prepare(keys)
    spent = time.process_time() - begin
    assert all(drop >= -0.01 for key in keys for drop in fresh.drops(key))
    return 1e3 * spent / len(keys)


def lpn_bluefield(*arguments):
    """(processor seconds with start-up, the JSON answer) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(BUILD / "bin" / "lpn"), "bluefield", *map(str, arguments), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout or "error" in json.loads(done.stdout):
        raise Missing(done.stderr.strip().split("\n")[-1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(
        done.stdout
    )


def predictor(report):
    """Training and predicting the published FlowMonitor profile; forecasts of a scenario."""
    profile = SHARED / "truth" / "bluefield" / "flowmon"
    train = [profile / f"flowmon_{name}_train.csv" for name in ("slomo", "yala_mem", "yala_reg")]
    test = profile / "flowmon_test.csv"

    def trained():
        if not profile.is_dir():
            raise Missing(f"no FlowMonitor profile at {profile}: set LPN_SHARED")
        seconds, told = lpn_bluefield("train", *train, "-o", file)
        assert told["memory"].startswith("boosting on flowmon_slomo_train"), told["memory"]
        return seconds

    def predicted():
        if not profile.is_dir():
            raise Missing(f"no FlowMonitor profile at {profile}: set LPN_SHARED")
        if not os.path.exists(file):
            trained()
        seconds, told = lpn_bluefield("predict", test, "--model", file)
        assert all(
            row["low_kpps"] < row["throughput_kpps"] < row["high_kpps"] for row in told["rows"]
        )
        return seconds

    def forecast_once():
        read = scenarios.read(MONITOR)
        begin = time.process_time()
        answers = scenario_forecast.forecast(read)
        spent = 1e3 * (time.process_time() - begin)
        # Both are backlogged at the engine: one round is 0.5609 + 1.476 us.
        assert abs(answers[0].rate - laws.shares([laws.Load(0.56094), laws.Load(1.476)])[0]) < 1e-4
        return spent

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "FlowMonitor.json")
        report.measure(
            "lpn bluefield train, FlowMonitor, end to end", "s of processor", trained, asked="<= 3"
        )
        report.measure(
            "lpn bluefield predict, its test rows, end to end",
            "s of processor",
            predicted,
            asked="<= 1",
        )
    report.measure("forecast with intervals, two functions", "ms", forecast_once)


def main():
    report = Report(options(__doc__).parse_args())

    report.measure("two functions, 100 ms of NIC", "M firings/s", firings(MONITOR, 100))
    report.measure(
        "four functions, Poisson, mix, batches, 100 ms",
        "M firings/s",
        firings(FOLDER / "scenarios" / "four_functions.json", 100),
    )
    report.measure("a set of up to 4 of 11 functions, of 1364 sets", "ms", sets)

    known = catalogue()
    known.prepare(known.sets())
    known.train(range(len(known.functions)))
    sequences = [placement.draw(known, 500, SEED + k) for k in range(5)]

    def placed(policy):
        def once():
            begin = time.process_time()
            for arrivals in sequences:
                nics = placement.place(known, arrivals, policy).nics
                assert sum(map(len, nics)) == len(arrivals)
            return 1e3 * (time.process_time() - begin) / len(sequences)

        return once

    for policy in placement.POLICIES:
        report.measure(f"place 500 arrivals, {policy}", "ms", placed(policy), "sets known")
    numbers = itertools.count()

    def exact():
        arrivals = placement.draw(known, 12, SEED + next(numbers))
        begin = time.process_time()
        best = placement.optimum(known, arrivals)
        spent = 1e3 * (time.process_time() - begin)
        assert not placement._broken(known, arrivals, best.nics)
        assert len(best.nics) <= len(placement.place(known, arrivals, "oracle").nics)
        return spent

    report.measure("exact optimum of 12 arrivals", "ms", exact, "sets known")
    report.measure(
        "lpn bluefield simulate, end to end, interpreted",
        "s",
        lambda: wall(
            BUILD / "bin" / "lpn",
            "bluefield",
            "simulate",
            "--no-alone",
            FOLDER / "scenarios" / "rxp_host.json",
        ),
    )
    report.measure(
        "lpn bluefield place, 20 x 500, end to end, cached",
        "s",
        lambda: wall(BUILD / "bin" / "lpn", "bluefield", "place", "--sequences", "20"),
    )
    predictor(report)
    report.finish()


if __name__ == "__main__":
    main()
