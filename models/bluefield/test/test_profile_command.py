"""lpn bluefield profile, with the net as a testbed: `lpn bluefield measure`."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from models.bluefield.predictor import measurements, profile_table, training


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
    """profile drives `lpn bluefield measure`; what it writes, train reads, and predicts the net
    with it.
    """
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
    read = profile_table.read(profile)
    predictor, _ = training.train([read])
    point = {
        "flow_count": 20_000.0,
        "mtbr_matches_per_MB": 600.0,
        "comp_wss_MB": 5.0,
        "comp_l2d_rd_per_s": 1e8,
        "comp_l2d_wr_per_s": 5e7,
    }
    net = measurements.command(measure)(point) / 1e3
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


@pytest.mark.parametrize(
    "asked, words",
    [
        ('{"comp_wss_MB": -4}', "comp_wss_MB is -4; it must be a finite number, 0 or more"),
        ('{"comp_l2d_rd_per_s": NaN}', "comp_l2d_rd_per_s is NaN; it must be"),
        ('{"flow_count": -1}', "flow_count is -1; it must be a finite number, 1 or more"),
        ('{"pkt_size_B": 0}', "pkt_size_B is 0; it must be a finite number, 1 or more"),
        ('{"flow_count": true}', "flow_count is true; it must be"),
        ('{"flow_count": "1"}', 'flow_count is "1"; it must be'),
        ('{"flow_count": 1, "flow_count": 2}', "'flow_count' is given twice"),
        ('{"wss_MB": 3}', "there is no input 'wss_MB'; there are: flow_count, "),
        ('{"comp_ipc": 1}', "the net has no counter comp_ipc; there are: "),
        ("[]", "standard input must be a JSON object of numbers"),
        ('{"pkt_size_B": 1e9}', "pkt_size_B is 1e+09; it must be a number from 0 to 65536"),
        ('{"mtbr_matches_per_MB": 1e12}', "it must be a number from 0 to 1e+06"),
        ('{"comp_wss_MB": 1e9}', "wss_MB is 1e+09; it must be a number from 0 to 1e+06"),
    ],
)
def test_measure_refuses_what_cannot_be(asked, words):
    from click.testing import CliRunner
    from lpn import Error
    from models.bluefield.commands import profile

    scenario = Path(profile.__file__).parents[1] / "scenarios" / "flowmonitor_regex_bench.json"
    done = CliRunner().invoke(profile.measure, [str(scenario)], input=asked)
    assert isinstance(done.exception, Error)
    assert done.exception.code in ("E-measurement", "E-usage")
    assert words in str(done.exception)


@pytest.mark.parametrize(
    "levels, says",
    [
        ("comp_wss_MB,comp_wss_MB\n0,1\n", "levels.csv has two columns 'comp_wss_MB'"),
        ("comp_wss_MB, comp_wss_MB\n0,1\n", "levels.csv has two columns 'comp_wss_MB'"),
        ("comp_wss_MB\n0,1\n", "levels.csv, row 2: the row has more cells than the header, 1"),
        ("comp_wss_MB,comp_ipc\n0\n", "levels.csv, row 2: there is no value of comp_ipc"),
        ("comp_wss_MB\n0\nnan\n", "levels.csv:3: comp_wss_MB is 'nan'; it must be a number, 0 or"),
        ("comp_wss_MB\ninf\n", "levels.csv:2: comp_wss_MB is 'inf'"),
        ("comp_wss_MB\n-1\n", "levels.csv:2: comp_wss_MB is '-1'"),
        ("comp_wss_MB,\n0,1\n", "levels.csv:1: '' is no column of contention levels"),
        ("comp_wss_MB,flow_count\n0,1\n", "levels.csv:1: 'flow_count' is no column of"),
        ("comp_wss_MB,throughput_kpps\n0,1\n", "levels.csv:1: 'throughput_kpps' is no column"),
        ("comp_wss_MB\n", "levels.csv: no contention levels below the header"),
        ("comp_\xff\n", "levels.csv is not a CSV file: byte 5 is not UTF-8"),
    ],
)
def test_contention_levels_that_are_refused(tmp_path, levels, says):
    (tmp_path / "levels.csv").write_text(levels, encoding="latin-1")
    done = _profile(tmp_path, "--contention", "levels.csv")
    assert done.returncode == 2 and "[E-profile]" in done.stderr
    assert says in done.stderr


def test_an_attribute_is_given_once(tmp_path):
    one = "flow_count=1..100:50"
    done = _profile(tmp_path, "--attribute", one, "--attribute", "flow_count=1..9:5")
    assert done.returncode == 2
    assert "--attribute flow_count is given twice" in done.stderr


def _profile(folder, *options):
    measure = ["--measure", "echo 5", "-o", "profile.csv", "--quota", "3"]
    return subprocess.run(
        [sys.executable, "-m", "lpn", "bluefield", "profile", *measure, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
