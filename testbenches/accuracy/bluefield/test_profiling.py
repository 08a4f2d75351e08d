"""Profiling under a quota: what is measured, what is left out, what a model learns from it."""

import json
import shlex
import subprocess
import sys

import pytest
import synthetic
from lpn import Error

from models.bluefield import profiles, profiling, training
from models.bluefield.profiling import Attribute, Profiler


def test_adaptive_halves_the_error_of_random_profiling():
    """On half of the family at least, at equal quota; the table is printed by synthetic.py."""
    found = {
        name: synthetic.compare(name, 60, 2, ("random", "adaptive")) for name in synthetic.FUNCTIONS
    }
    halved = [name for name, of in found.items() if of["adaptive"] <= 0.5 * of["random"]]
    assert len(halved) * 2 >= len(found), found
    # Where there is nothing to gain it does not lose much either.
    assert all(of["adaptive"] <= of["random"] + 2 for of in found.values()), found


@pytest.mark.parametrize(
    "name, kept",
    [
        ("FlowStats", {"flow_count"}),
        ("ACL", set()),
        ("IPTunnel", {"pkt_size_B"}),
        ("NIDS", {"mtbr_matches_per_MB"}),
        ("Firewall", {"flow_count", "mtbr_matches_per_MB"}),
    ],
)
def test_what_changes_nothing_is_dropped(name, kept):
    assert set(synthetic.compare(name, 40, 1, ("adaptive",))["kept"]) == kept


def test_measurements_go_where_the_function_changes():
    """A table outgrown at 16 K of 16 M flows: uniform samples would hardly see that range."""
    profiler = Profiler(synthetic.noisy("NAT", 0), synthetic.ATTRIBUTES, synthetic.CONTENTIONS, 60)
    profiling.adaptive(profiler)
    near = [point["flow_count"] <= 64_000 for point, _ in profiler.rows()]
    assert sum(near) >= 30


@pytest.mark.parametrize("quota", [1, 5, 12, 60])
@pytest.mark.parametrize(
    "method", [profiling.adaptive, profiling.uniform, lambda p: profiling.full(p, [3, 3, 3])]
)
def test_the_quota_is_kept_and_nothing_is_measured_twice(quota, method):
    asked = []

    def measure(point):
        asked.append(json.dumps(point, sort_keys=True))
        return synthetic.rate("Meter", point)

    profiler = Profiler(measure, synthetic.ATTRIBUTES, synthetic.CONTENTIONS, quota)
    method(profiler)
    assert len(asked) == len(set(asked)) == len(profiler.rows()) == quota


def test_full_is_every_combination():
    profiler = Profiler(lambda point: 1.0, synthetic.ATTRIBUTES, synthetic.CONTENTIONS[:4], 10**6)
    profiling.full(profiler, [5, 3, 2])
    assert len(profiler.rows()) == 5 * 3 * 2 * 4


def test_a_hump_between_equal_ends_is_not_missed():
    attribute = Attribute("x", 0, 1000, 0)
    profiler = Profiler(
        lambda point: 1.0 if 300 < point["x"] < 700 else 2.0,
        [attribute],
        [{"w": 0.0}, {"w": 1.0}],
        30,
    )
    assert profiling.adaptive(profiler)["kept"] == ["x"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Attribute("x", 5, 5, 5),
        lambda: Attribute("x", 0, 5, 9),
        lambda: Attribute("x", 0, 5, 1, log=True),
    ],
)
def test_wrong_attributes_are_refused(wrong):
    with pytest.raises(Error):
        wrong()


@pytest.mark.parametrize(
    "line, told",
    [
        ("false", "ended with status 1"),
        ("echo many", "it must print a number"),
        ("echo '{}'", "it must print a number"),
        ("echo -3", "answered -3"),
        ("echo oh no >&2; exit 3", "status 3"),
        ("sleep 5", "did not answer within"),
    ],
)
def test_measurements_that_fail_are_told(line, told):
    profiler = Profiler(profiling.command(line, timeout=0.5), [Attribute("x", 0, 1, 0)], [{}], 3)
    with pytest.raises(Error, match=told) as error:
        profiling.uniform(profiler)
    assert error.value.code == "E-measurement"


SCENARIO = {
    "functions": [
        {
            "name": "Counter",
            "cores": 1,
            "stages": [
                {
                    "resource": "memory",
                    "service_us": {"us": 0.5, "us_by_flows": [[1, 0.0], [40000, 0.8]]},
                }
            ],
            "memory": {"wss_MB": 1, "us_per_MB": 0.0136, "us_per_MB_1e8": 0.00957},
        }
    ]
}


def test_the_net_is_a_testbed(tmp_path):
    """profile drives `lpn bluefield measure`; what it writes, train reads, and predicts the net with it."""
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(SCENARIO))
    lpn = [sys.executable, "-m", "lpn", "bluefield"]
    measure = shlex.join([*lpn, "measure", str(scenario)])
    profile = str(tmp_path / "profile.csv")
    done = subprocess.run(
        [
            *lpn,
            "profile",
            "--measure",
            measure,
            "-o",
            profile,
            "--quota",
            "45",
            "--attribute",
            "flow_count=1..200000:16384/100",
            "--attribute",
            "mtbr_matches_per_MB=0..1100:600/20",
            "--json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kept"] == ["flow_count"] and told["measurements"] == 45
    read = profiles.read(profile)
    predictor, _ = training.train([read])
    point = {
        "flow_count": 20_000.0,
        "mtbr_matches_per_MB": 600.0,
        "comp_wss_MB": 5.0,
        "comp_l2d_rd_per_s": 1e8,
        "comp_l2d_wr_per_s": 5e7,
    }
    net = profiling.command(measure)(point) / 1e3
    assert predictor.answer(point).rate == pytest.approx(net, rel=0.12)


def test_profile_stops_at_a_failing_command(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "lpn",
            "bluefield",
            "profile",
            "--measure",
            "exit 4",
            "-o",
            str(tmp_path / "x.csv"),
            "--json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "E-measurement"
