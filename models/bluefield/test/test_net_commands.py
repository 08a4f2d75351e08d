"""lpn sim bluefield, lpn bluefield simulate and place, as a user calls them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
SCENARIOS = REPO / "models" / "bluefield" / "scenarios"
SLOW_QUEUE = REPO / "models" / "bluefield" / "test" / "slow_queue.json"


def lpn(*arguments, cwd=None):
    done = subprocess.run(
        [BUILD / "bin" / "lpn", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "TERM": "dumb"},
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def answer(*arguments):
    done = lpn(*arguments, "--json")
    return done.returncode, json.loads(done.stdout)


def write(path, **changes):
    data = json.loads((SCENARIOS / "flowmonitor_regex_bench.json").read_text())
    data.update(changes)
    path.write_text(json.dumps(data))
    return path


def test_simulate():
    path = SCENARIOS / "flowmonitor_regex_bench.json"
    status, data = answer("bluefield", "simulate", path, "--engine", "interp")
    assert status == 1 and data["steady"]  # the promise of 10 % is broken
    monitor, bench = data["functions"]
    # 1 / (0.5609 + 1.476) us each: the same rate, as each has one queue.
    assert monitor["throughput_kpps"] == pytest.approx(490.9, abs=0.3)
    assert bench["throughput_kpps"] == pytest.approx(monitor["throughput_kpps"], rel=1e-3)
    assert monitor["bottleneck"]["resource"] == bench["bottleneck"]["resource"] == "regex"
    assert monitor["promise_kept"] is False and monitor["drop"] == pytest.approx(0.3235, abs=0.001)
    assert data["engines"]["regex"]["utilisation"] == pytest.approx(1, abs=1e-3)
    latency = monitor["latency_us"]
    assert latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p99.9"] <= latency["max"]
    # Little: 1022 descriptors' worth of packets and those on the way to the result, at this rate.
    assert latency["mean"] == pytest.approx(1024 / 0.4909, rel=0.01)


def test_queues_that_still_drain_are_not_steady():
    """For some 20 ms f0 gets what f1 gets, while the requests of f2 drain into results that wait for
    the compression engine; then more than three quarters more.
    """
    status, data = answer("bluefield", "simulate", "--no-alone", SLOW_QUEUE)
    f0 = data["functions"][0]["throughput_kpps"]
    assert status == 3 and not data["steady"] or f0 == pytest.approx(199.2, rel=0.01)


def test_rest_looks_at_every_queue():
    from models.bluefield.net.steady import _rest

    held, still = [100] * 9, [[[50] * 9]]
    draining = [[list(range(90, 0, -10))]]
    assert _rest([held], still, 2)
    assert not _rest([held], draining, 2)  # its results hold the descriptors
    assert not _rest([list(range(1000, 100, -100))], still, 2)
    assert _rest([held], [[[50, 50, 50, 50, 50, 51, 49, 50, 52]]], 2)


def test_rest_knows_batches_of_others_and_first_engines():
    from models.bluefield.net.steady import _rest

    full = [128] + 8 * [0]
    swings = [[[0, 62, 56, 62, 55, 61, 55, 55, 61]]]
    assert _rest([full], swings, 2, burst=32) and not _rest([full], swings, 2)
    drains = [[[0, 62, 59, 56, 53, 50, 47, 44, 41]]]
    assert not _rest([full], drains, 2, burst=32)
    # Requests pile up: nothing to wait for at the first engine, as long as it is slow.
    in_use, waiting = [100, 94, 92, 90, 88, 86, 84, 82, 80], [0, 5, 7, 9, 11, 13, 15, 17, 19]
    assert _rest([in_use], [[], [waiting]], 2, filling=8)
    assert not _rest([in_use], [[], [waiting]], 2, filling=7)
    assert not _rest([[99] * 9, in_use], [[], [[0] * 9], [waiting]], 2, filling=8)
    assert not _rest([in_use[::-1]], [[], [waiting[::-1]]], 2, filling=8)
    # What waits is results, which go elsewhere next.
    assert not _rest([in_use], [[], [[5] * 9]], 2, filling=8)


def test_sim_gives_the_same_answer():
    path = SCENARIOS / "flowmonitor_regex_bench.json"
    status, data = answer("sim", "bluefield", path, "--engine", "interp")
    assert status == 0
    run = data["runs"][0]
    assert run["ending"] == "done" and run["firings"] > 10_000
    direct = answer("bluefield", "simulate", path, "--engine", "interp")[1]
    assert [f["throughput_kpps"] for f in run["answer"]["functions"]] == [
        f["throughput_kpps"] for f in direct["functions"]
    ]
    text = lpn("sim", "bluefield", path, "--engine", "interp").stdout
    assert "FlowMonitor" in text and "490.9" in text and "regex" in text


def test_sim_takes_parameters_and_refuses_unknown_ones():
    path = SCENARIOS / "flowmonitor_regex_bench.json"
    status, data = answer("sim", "bluefield", path, "--engine", "interp", "-p", "f1.s1.time0=20000")
    # The model's own answer is of the scenario as it stands, so it is left out.
    assert (
        status == 0
        and "answer" not in data["runs"][0]
        and data["parameters"]["f1.s1.time0"] == 20000
    )
    done = lpn("sim", "bluefield", path, "-p", "f9.cores=1")
    assert done.returncode == 2 and "[E-param]" in done.stderr and "f1.cores" in done.stderr


def test_not_steady_is_status_3(tmp_path):
    path = write(tmp_path / "s.json", simulate={"most_ms": 0.01})
    done = lpn("bluefield", "simulate", path, "--engine", "interp")
    assert done.returncode == 3 and "raise simulate.most_ms" in done.stdout


def test_refusals(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(
        '{"functions": [{"name": "f", "stages": [{"resource": "gpu", "service_us": 1}]}]}'
    )
    for command in (("bluefield", "simulate"), ("sim", "bluefield")):
        done = lpn(*command, path)
        assert done.returncode == 2 and "[E-scenario]" in done.stderr
        assert f"{path}: functions[0].stages[0].resource: must be cpu or memory" in done.stderr
    status, data = answer("bluefield", "simulate", tmp_path / "none.json")
    assert status == 2 and data["error"]["code"] == "E-scenario"


@pytest.mark.parametrize(
    "text, words",
    [
        ("name,promised_drop\nNAT,0.1\n", ":1: there is no column function"),
        (
            "function,promised_drop\nNAP,0.1\n",
            ":2: the catalogue has no function 'NAP'; it has: FlowStats",
        ),
        (
            "function,promised_drop\nNAT,0.1\nNAT,ten\n",
            ":3: promised_drop is 'ten'; it must be a number from 0",
        ),
        ("function,promised_drop\nNAT,nan\n", ":2: promised_drop is 'nan'"),
        ("function,promised_drop\n", ": no arrivals below the header"),
        ("function,promised_drop,function\nNAT,0.1,ACL\n", " has two columns 'function'"),
        (
            "function,promised_drop\nNAT,0.1,0.9\n",
            ", row 2: the row has more cells than the header",
        ),
        ("function,promised_drop\nNAT\n", ", row 2: there is no value of promised_drop"),
        (
            "function,promised_drop,nic\nNAT,0.1,2\n",
            ":1: an arrival has no column 'nic'; the columns",
        ),
    ],
)
def test_arrivals_that_are_refused(tmp_path, text, words):
    path = tmp_path / "a.csv"
    path.write_text(text)
    done = lpn("bluefield", "place", path)
    assert done.returncode == 2 and "[E-arrivals]" in done.stderr
    assert f"{path}{words}" in done.stderr


def test_place_and_refusals_of_options():
    status, data = answer("bluefield", "place", SCENARIOS / "arrivals.csv")
    assert status == 0 and data["arrivals"] == 6
    by_policy = {entry["policy"]: entry for entry in data["policies"]}
    assert list(by_policy) == [
        "monopolisation",
        "greedy",
        "memory-only",
        "both-resources",
        "oracle",
        "optimum",
    ]
    assert by_policy["monopolisation"]["nics"] == 6 and by_policy["optimum"]["nics"] == 2
    assert by_policy["memory-only"]["broken"] == 2 and by_policy["both-resources"]["broken"] == 0
    plan = next(p for p in data["plans"] if p["policy"] == "both-resources")
    assert sorted(f["arrival"] for nic in plan["nics"] for f in nic) == [1, 2, 3, 4, 5, 6]
    assert all(f["kept"] and f["drop"] <= f["promised_drop"] for nic in plan["nics"] for f in nic)
    done = lpn("bluefield", "place", "--promised", "0.2", "0.1")
    assert done.returncode == 2 and "the least comes first" in done.stderr
    done = lpn("bluefield", "place", "--count", "13", "--policy", "greedy", "--optimum")
    assert done.returncode == 2 and "[E-optimum]" in done.stderr
