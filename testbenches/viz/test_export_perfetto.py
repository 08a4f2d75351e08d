"""lpn viz -o run.json: what lpn sim --trace writes, and parts of it."""

import gzip
import json

import pytest
from conftest import DEMO, NETS

JPEG = DEMO / "grad_16x16_q90_420.jpg"


def test_the_same_file_as_the_trace_of_lpn_sim(tmp_path, lpn_command):
    assert lpn_command("sim", "jpeg", JPEG, "--trace", tmp_path / "a.json").status == 0
    for name in ("b.json", "b.perfetto", "b.json.gz", "c.JSON.GZ"):
        answer = lpn_command(
            "viz", "jpeg", JPEG, "-o", tmp_path / name, "--engine", "compiled", "--json"
        ).json
        assert (answer["format"], answer["stalled"], answer["bytes"]) == (
            "perfetto",
            False,
            (tmp_path / name).stat().st_size,
        )
        data = (tmp_path / name).read_bytes()
        assert (gzip.decompress(data) if name.lower().endswith(".gz") else data) == (
            tmp_path / "a.json"
        ).read_bytes()


@pytest.mark.parametrize("begin,end", [(0, 200), (500, 700), (611, 611), (1300, 9999)])
def test_a_window(begin, end, tmp_path, lpn_command):
    events = {}
    for name, more in (("whole", []), ("part", ["--window", f"{begin}:{end}"])):
        assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "x.json", *more).status == 0
        events[name] = json.loads((tmp_path / "x.json").read_text())["traceEvents"]

    def firings(which):
        return {
            (e["name"], e["args"]["firing"], e["ts"], e["dur"])
            for e in events[which]
            if e["ph"] == "X" and e["pid"] == 1
        }

    def counters(which):
        seen = {}
        for e in events[which]:
            if e["ph"] == "C":
                seen.setdefault(e["name"], []).append((e["ts"], e["args"]["tokens"]))
        return seen

    assert (
        firings("part")
        == {f for f in firings("whole") if f[2] <= end and f[2] + f[3] >= begin}
        != set()
    )
    whole = counters("whole")
    assert counters("part") == {
        place: [(begin, [v for t, v in changes if t <= begin][-1])]
        + [c for c in changes if begin < c[0] <= end]
        for place, changes in whole.items()
    }


@pytest.mark.parametrize(
    "model,inputs",
    [
        ("jpeg", [JPEG]),
        (NETS / "interval.lpn", []),
        (NETS / "priority.lpn", []),
        (NETS / "router_blocks.lpn", []),
        (NETS / "servers.lpn", []),
    ],
)
def test_waits_add_up_to_the_statistics(model, inputs, tmp_path, lpn_command):
    """Tracks of reasons: per transition and reason as many cycles as lpn sim --stats counts."""
    answer = lpn_command("viz", model, *inputs, "-o", tmp_path / "run.json", "--json")
    assert answer.status == 0, answer.err
    stats = lpn_command("sim", model, *inputs, "--stats", "--engine", "interp", "--json").json[
        "runs"
    ][0]["stats"]
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    tracks = {
        e["tid"]: e["args"]["name"] for e in events if e["pid"] == 3 and e["name"] == "thread_name"
    }
    cycles, last = {}, {}
    for e in events:
        if e.get("cat") != "wait":
            continue
        assert (
            e["ts"] >= last.get(e["tid"], 0) and e["dur"] > 0
        ), "slices of one track do not overlap"
        last[e["tid"]] = e["ts"] + e["dur"]
        key = tracks[e["tid"]], e["name"].split(":")[0]
        cycles[key] = cycles.get(key, 0) + e["dur"]
    want = {
        (t, why): row["cycles"]
        for t, about in stats["transitions"].items()
        for why, row in about["waited"].items()
        if row["cycles"] and why not in ("none", "")
    }
    assert cycles == want and cycles


def test_waits_say_for_what(tmp_path, lpn_command):
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "run.json")
    names = {
        (e["name"], e["args"].get("arc"))
        for e in json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        if e.get("cat") == "wait"
    }
    assert {
        ("no token: coded", "blk"),
        ("no token: bits", "bits"),
        ("no credit: coefficients", None),
    } <= names
    assert any(name == "no server" and arc is None for name, arc in names)
