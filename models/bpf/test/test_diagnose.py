"""lpn bpf diagnose: the variable that latencies were made of comes first."""

import json
import random
import re

import pytest
from test_interface import run
from test_questions import pcap, tagged

from models.bpf import diagnose
from models.bpf.errors import Error


@pytest.fixture
def trace(tmp_path):
    """(path, tags of every packet): 60 packets with 0 to 3 tags, of several lengths."""
    drawn = random.Random(3)
    tags = [drawn.randint(0, 3) for _ in range(60)]
    packets = [tagged(*[0x8100] * n, 0x800) + bytes(drawn.randint(20, 200)) for n in tags]
    return pcap(tmp_path / "trace.pcap", packets), tags


def test_the_reason_comes_first(demo, trace, tmp_path):
    path, tags = trace
    drawn = random.Random(4)
    slow = tmp_path / "ns.txt"
    slow.write_text("".join(f"{500 + 80 * n + drawn.gauss(0, 5):.3f}\n" for n in tags))
    data = json.loads(
        run("diagnose", demo("vlan_walk"), path, "--latencies", slow, "--json").stdout
    )
    first = data["variables"][0]
    assert data["target"] == "latencies" and data["packets"] == 60
    assert first["variable"] == "rounds of the loop at xdp:13"
    assert first["r2"] > 0.99 and abs(first["slope"] - 80) < 3 and first["most"] == 3
    assert [row["variable"] for row in data["costs"]] in (["mem", "insns"], ["insns", "mem"])
    rest = {row["variable"]: row["r2"] for row in data["variables"]}
    assert rest["pkt.len"] < 0.5
    text = run("diagnose", demo("vlan_walk"), path, "--latencies", slow).stdout
    assert re.match(r"the latency goes with rounds of the loop at xdp:13: 5\d\d.* \+ [78]\d", text)


def test_without_latencies_the_cost_is_explained(demo, trace):
    data = json.loads(run("diagnose", demo("vlan_walk"), trace[0], "--json").stdout)
    assert data["target"] == "insns" and data["by_class"] == 1.0
    names = [row["variable"] for row in data["variables"]]
    assert names == ["rounds of the loop at xdp:13", "pkt.len"]
    assert data["variables"][0]["r2"] > 0.99


def test_hits_and_entries_of_maps(demo, tmp_path):
    source = [bytes([2, 0, 0, 0, 0, n % 7]) for n in range(40)]
    packets = [bytes(6) + mac + bytes([8, 0]) + bytes(50) for mac in source]
    path = pcap(tmp_path / "trace.pcap", packets)
    found = json.loads(run("diagnose", demo("bridge"), path, "--carry-state", "--json").stdout)
    names = {row["variable"] for row in found["variables"]} | set(found["constant"])
    assert any(name.endswith(": lookups that hit") for name in names)
    assert any(name.endswith(": entries") for name in names)


def test_nothing_to_explain(demo, tmp_path):
    path = pcap(tmp_path / "trace.pcap", [tagged(0x800)] * 5)
    assert run("diagnose", demo("vlan_walk"), path).stdout == (
        "insns is 15 for every packet: there is nothing to explain\n"
    )
    slow = tmp_path / "ns.txt"
    slow.write_text("1\n2\n3\n4\n5")
    assert run("diagnose", demo("vlan_walk"), path, "--latencies", slow).stdout == (
        "the latency varies, but nothing that is known of the packets does\n"
    )
    few = pcap(tmp_path / "few.pcap", [tagged(0x800)] * 2)
    assert (
        "2 packets: too few for a line" in run("diagnose", demo("vlan_walk"), few, status=2).stderr
    )


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("1\n2\n", "has 2 latencies for a trace of 3 packets"),
        ("1\nx\n3\n", "line 2: 'x' is no number"),
        ("1\nnan\n3\n", "line 2: a latency is a number from 0 to 1e+18, got nan"),
        ("1\n2\n-3\n", "line 3: a latency is a number from 0 to 1e+18, got -3"),
        ("1e308\n2\n3\n", "line 1: a latency is a number from 0 to 1e+18, got 1e308"),
        (f"{10**400}\n2\n3\n", f"line 1: a latency is a number from 0 to 1e+18, got {10**39}"),
        ("1\n\n3\n", "line 2: '' is no number"),
    ],
)
def test_latencies_that_are_none(tmp_path, text, wrong):
    path = tmp_path / "ns.txt"
    path.write_text(text)
    with pytest.raises(Error, match=re.escape(wrong)):
        diagnose.read_latencies(str(path), 3)


def test_lines():
    rows = diagnose.ranked({"a": diagnose.numpy.array([0.0, 1, 2])}, [1, 3, 5])
    assert rows == [
        {"variable": "a", "r2": 1.0, "slope": 2.0, "intercept": 1.0, "least": 0.0, "most": 2.0}
    ]
    assert diagnose.by_class(["x", "y", "y"], [1, 3, 3]) == 1.0
    assert diagnose.by_class(["x", "y", "y", "x"], [1, 3, 5, 3]) == 0.5


def test_lines_of_latencies_in_seconds():
    """Rounding goes by digits: a nanosecond a round is no slope of 0."""
    (row,) = diagnose.ranked({"a": diagnose.numpy.array([0.0, 1, 2])}, [1e-7, 1.01e-7, 1.02e-7])
    assert (row["r2"], row["slope"], row["intercept"]) == (1.0, 1e-9, 1e-7)
