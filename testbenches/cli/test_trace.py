"""lpn sim --trace: valid JSON that Perfetto shows properly, one event per commit, streamed."""

import gzip
import json
import os
import resource
import subprocess
from collections import defaultdict

import pytest
from conftest import BUILD, interrupted

JOBS = {"in": [[5], [7], [3]]}

# Any number of `work` at once, with delays that let later ones overtake.
WIDE = """lpn 1
net wide
type unit ()
type job (size: 0..1000)
place in : job start
place out : unit done
transition work {
  take j from in
  delay j.size
  put out
}
end
"""


def events(path, kind):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as file:
        data = json.load(file)
    return data, [event for event in data["traceEvents"] if event["ph"] == kind]


def lanes_do_not_overlap(complete):
    by_lane = defaultdict(list)
    for event in complete:
        by_lane[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_lane.values():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            assert end <= begin
    return by_lane


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_events_are_the_commits(lpn, nets, marking, engine):
    path = nets / f"{engine}.json"
    answer = lpn(
        "sim",
        nets / "line.lpn",
        marking("m.json", JOBS),
        "--trace",
        path,
        "--engine",
        engine,
        "--json",
    )
    assert answer.status == 0
    data, complete = events(path, "X")
    assert len(complete) == answer.json["runs"][0]["firings"] == 6
    assert [(e["ts"], e["dur"]) for e in complete if e["name"] == "second"] == [
        (1, 5),
        (6, 7),
        (13, 3),
    ]
    assert [(e["ts"], e["dur"]) for e in complete if e["name"] == "first"] == [
        (0, 1),
        (1, 1),
        (6, 1),
    ]
    lanes_do_not_overlap(complete)
    assert data["otherData"]["net"] == "line" and "1 tick" in data["otherData"]["unit"]
    assert data["ending"] == "quiet"
    names = {
        e["tid"]: e["args"]["name"]
        for e in data["traceEvents"]
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    assert {names[e["tid"]] for e in complete} == {"first", "second"}


def test_counters_are_occupancies(lpn, nets, marking):
    path = nets / "t.json"
    lpn("sim", nets / "line.lpn", marking("m.json", JOBS), "--trace", path, "--engine", "interp")
    _, counters = events(path, "C")
    seen = defaultdict(list)
    for event in counters:
        seen[event["name"]].append((event["ts"], event["args"]["tokens"]))
    # Locked tokens count until the commit; a place is written when its number has changed.
    assert seen["in"] == [(0, 3), (1, 2), (2, 1), (7, 0)]
    assert seen["mid"] == [(0, 0), (1, 1), (2, 2), (6, 1), (7, 2), (13, 1), (16, 0)]
    assert seen["out"] == [(0, 0), (6, 1), (13, 2), (16, 3)]


def test_overlapping_firings_have_lanes(lpn, nets, marking):
    (nets / "wide.lpn").write_text(WIDE)
    sizes = [(37 * k) % 61 for k in range(64)]
    path = nets / "t.json.gz"
    lpn(
        "sim",
        nets / "wide.lpn",
        marking("m.json", {"in": [[s] for s in sizes]}),
        "--trace",
        path,
        "--engine",
        "interp",
    )
    data, complete = events(path, "X")
    lanes = lanes_do_not_overlap(complete)
    asynchronous = [e for e in data["traceEvents"] if e["ph"] == "b"]
    assert len(complete) + len(asynchronous) == 64
    assert len(lanes) <= 64
    assert sorted(e["dur"] for e in complete) == sorted(sizes)[: len(complete)]


def test_more_firings_than_lanes_are_asynchronous(lpn, nets, marking):
    (nets / "wide.lpn").write_text(WIDE)
    path = nets / "t.json"
    lpn(
        "sim",
        nets / "wide.lpn",
        marking("m.json", {"in": [[9]] * 100}),
        "--trace",
        path,
        "--engine",
        "interp",
    )
    data, complete = events(path, "X")
    begins = {e["id"]: e["ts"] for e in data["traceEvents"] if e["ph"] == "b"}
    ends = {e["id"]: e["ts"] for e in data["traceEvents"] if e["ph"] == "e"}
    assert len(complete) == 64 and len(begins) == 36 and begins.keys() == ends.keys()
    assert all(ends[i] - begins[i] == 9 for i in begins)


def test_lanes_are_as_few_as_firings_overlap(lpn, nets, marking):
    (nets / "three.lpn").write_text(
        WIDE.replace("  delay j.size\n", "  delay j.size\n  servers 3\n")
    )
    path = nets / "t.json"
    sizes = [1 + (37 * k) % 61 for k in range(200)]
    lpn(
        "sim",
        nets / "three.lpn",
        marking("m.json", {"in": [[s] for s in sizes]}),
        "--trace",
        path,
        "--engine",
        "interp",
    )
    _, complete = events(path, "X")
    assert len(complete) == 200 and len(lanes_do_not_overlap(complete)) == 3


def test_interrupted_trace_is_valid(environment, lpn, nets):
    path = nets / "t.json"
    lpn("sim", nets / "clock.lpn", "--limit", 1, "--trace", path)  # compiles
    answer = interrupted(
        [BUILD / "bin" / "lpn", "sim", nets / "clock.lpn", "--trace", path, "--json"], environment
    )
    assert answer.status == 3, answer.err
    row = answer.json["runs"][0]
    assert path.stat().st_size < 2e9
    with open(path, "rb") as file:
        file.seek(-40, os.SEEK_END)
        assert file.read().endswith(b'],\n"ending":"interrupted"}\n')
    if row["firings"] < 1_000_000:
        assert len(events(path, "X")[1]) == row["firings"]


def test_a_long_trace_does_not_sit_in_memory(environment, lpn, nets):
    lpn("sim", nets / "clock.lpn", "--limit", 1, "--trace", nets / "t.json")

    def peak(commits):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        process = subprocess.Popen(
            [
                BUILD / "bin" / "lpn",
                "sim",
                nets / "clock.lpn",
                "--limit",
                str(commits),
                "--trace",
                "/dev/null",
                "--json",
            ],
            stdout=subprocess.DEVNULL,
            env=environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 3 and before >= 0
        return usage.ru_maxrss  # KiB

    assert peak(1_000_000) < peak(1000) + 20 * 1024


def test_full_disk(lpn, nets):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    answer = lpn("sim", nets / "clock.lpn", "--limit", "100000", "--trace", "/dev/full", "--json")
    assert answer.status == 2 and "Traceback" not in answer.err
    assert answer.json == {
        "error": {"code": "E-input", "message": "/dev/full: No space left on device"}
    }


@pytest.mark.parametrize("command", ["sim", "viz"])
@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_run_that_fails_leaves_the_file_of_the_one_before(lpn, nets, marking, command, engine):
    """The other token does not fit into the type of 'out': an error at 9."""
    (nets / "fails.lpn").write_text(
        "lpn 1\nnet fails\ntype job (size: 0..1000)\ntype small (size: 0..10)\nplace in : job start\n"
        "place out : small done\ntransition t {\n  take j from in\n  delay 9\n  servers 1\n"
        "  put out (j.size)\n}\nend\n"
    )
    path = nets / "t.json"
    out = ("--trace", path) if command == "sim" else ("-o", path)
    run = command, nets / "fails.lpn"
    assert lpn(*run, marking("good.json", {"in": [[3]]}), *out, "--engine", engine).status == 0
    before = path.read_bytes()
    failed = lpn(*run, marking("bad.json", {"in": [[3], [30]]}), *out, "--engine", engine)
    failed.refused("E-range") if command == "viz" else None
    assert failed.status == 2 and path.read_bytes() == before
    assert sorted(p.name for p in nets.iterdir() if "t.json" in p.name or "-" in p.name) == [
        "t.json"
    ]
