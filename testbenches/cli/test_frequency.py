"""Nets that say how many ticks a second has: times in sweeps, latencies, waveforms and timelines."""

import csv
import json

import pytest

# A job of 5 ticks on `slots` servers, at a frequency that is an argument of net().
MODEL = """import lpn


class Job(lpn.Token):
    born: lpn.Birth


def net(*, mhz=250):
    net = lpn.Net("clocked")
    net.frequency = mhz * 1_000_000 if mhz else None
    slots = net.param("slots", 1, range=(1, 4))
    p = net.place("p", Job, start=True)
    out = net.place("out", Job, done=True)
    net.transition("t", take={"x": p}, put=[out.forward("x")], delay=5, servers=slots)
    return net


def workload(path, net):
    marking = lpn.Marking(net)
    for at in (0, 1, 1, 7):
        marking.add("p", at=at)
    return marking
"""


@pytest.fixture
def clocked(tmp_path):
    (tmp_path / "clocked.py").write_text(MODEL)
    (tmp_path / "input").write_text("")
    return tmp_path / "clocked.py", tmp_path / "input"


def test_a_sweep_has_a_column_of_time(lpn, clocked, tmp_path):
    model, input = clocked
    how = ("sweep", model, input, "-p", "slots=1,2", "--engine", "interp")
    shown = lpn(*how)
    assert shown.status == 0, shown.err
    rows = [line.split() for line in shown.out.splitlines()]
    assert rows[1][:5] == ["slots", "input", "latency", "time", "throughput"]
    assert [rows[2][0], *rows[2][2:5]] == ["1", "20", "80", "ns"]
    assert [rows[3][0], *rows[3][2:5]] == ["2", "12", "48", "ns"]
    assert "least latency 12 (48 ns) with slots=2" in shown.out
    data = lpn(*how, "--json").json
    assert [row["latency_seconds"] for row in data["rows"]] == [8e-8, 4.8e-8]
    table = tmp_path / "rows.csv"
    assert lpn(*how, "-o", table).status == 0
    assert [row["latency_seconds"] for row in csv.DictReader(table.open())] == ["8e-08", "4.8e-08"]
    again = lpn(*how, "-o", table, "--json").json
    assert again["resumed"] == 2 and again["rows"][1]["latency_seconds"] == 4.8e-8


def test_a_sweep_over_frequencies_compares_times(lpn, clocked):
    model, input = clocked
    how = ("sweep", model, input, "-p", "mhz=125,500", "--engine", "interp")
    assert "least latency 20 (40 ns) with mhz=500" in lpn(*how).out
    shown = lpn("sweep", model, input, "-p", "mhz=0,500", "--engine", "interp")
    assert "least latency 20 with mhz=0" in shown.out  # not all have a time
    assert [line.split()[3] for line in shown.out.splitlines()[2:4]] == ["-", "40"]


def test_time_without_a_frequency_is_refused(lpn, clocked):
    model, input = clocked
    how = (
        "sweep",
        model,
        input,
        "-p",
        "mhz=0",
        "--metric",
        "latency_seconds",
        "--engine",
        "interp",
    )
    answer = lpn(*how)
    assert answer.status == 2
    assert (
        "--metric latency_seconds: model 'clocked' does not say how many ticks a second has; write "
        "net.frequency = 250e6" in answer.err.replace("\n", " ")
    )
    assert "E-frequency" in answer.err
    assert "latency_seconds" not in lpn(*how[:-4], *how[-2:], "--json").json["rows"][0]


def test_latencies_say_what_a_cycle_is(lpn, clocked):
    model, input = clocked
    how = ("latency", model, input, "--engine", "interp")
    assert "latency from birth to done, cycles of 4 ns; 1 run" in lpn(*how).out
    assert "birth to done, cycles; 1 run" in lpn(*how, "-p", "mhz=0").out
    both = lpn(*how, "-p", "mhz=250,500")
    assert "birth to done, cycles of each point's own frequency; 1 run" in both.out
    data = lpn(*how, "-p", "mhz=250,0", "--json").json
    assert [point.get("frequency") for point in data["points"]] == [250_000_000, None]


@pytest.mark.parametrize(
    "mhz, scale, tick, times",
    [
        (0, "1 ns", "1 ns", [0, 1, 5, 7, 10, 15, 20]),
        (250, "1 ns", "4 ns", [0, 4, 20, 28, 40, 60, 80]),
        (1600, "1 ps", "625 ps", [0, 625, 3125, 4375, 6250, 9375, 12500]),
    ],
)
def test_waveforms_count_seconds(lpn, clocked, tmp_path, mhz, scale, tick, times):
    model, input = clocked
    path = tmp_path / "run.vcd"
    assert lpn("viz", model, input, "-p", f"mhz={mhz}", "-o", path).status == 0
    text = path.read_text()
    assert f"$timescale {scale} $end" in text
    assert f"one tick of the net (a cycle) is written as {tick};" in text
    assert [int(line[1:]) for line in text.splitlines() if line.startswith("#")] == times


@pytest.mark.parametrize(
    "mhz, tick, scale", [(0, "1 us", 1), (250, "0.004 us", 0.004), (1600, "1 us", 1)]
)
def test_timelines_count_seconds(lpn, clocked, tmp_path, mhz, tick, scale):
    model, input = clocked
    path = tmp_path / "run.json"
    assert lpn("viz", model, input, "-p", f"mhz={mhz}", "-o", path).status == 0
    data = json.loads(path.read_text())
    assert data["otherData"]["unit"] == f"1 tick is shown as {tick}"
    firings = [e for e in data["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
    assert [(e["ts"], e["dur"]) for e in firings] == [(5 * k * scale, 5 * scale) for k in range(4)]
