"""lpn sweep: rows, files to go on with, workers that die, plots; lpn.sweep; pickling."""

import contextlib
import copy
import csv
import itertools
import json
import os
import pickle
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BUILD, DEMO, interrupted

sys.path.insert(0, str(BUILD / "python"))
lpn = pytest.importorskip("lpn")

# A buffer of `slots` between a unit of 4 cycles and one of slow * size.
PAIR = """lpn 1
net pair
param slow = 1 in 1..1000
param slots = 2 in 1..64
type unit ()
type job (size: 0..1000)
place in : job start
place mid : job capacity slots
place out : unit done
transition first {
  take j from in
  delay 4
  servers 1
  put mid (j.size)
}
transition second {
  take j from mid
  delay slow * j.size
  servers 1
  put out
}
end
"""

# `each` is an argument of net(), so that each value of it is another net; n and m are values.
MODEL = """import os
import time

import lpn


def net(*, each=1):
    net = lpn.Net("model")
    n = net.param("n", 1, range=(1, 1000))
    net.param("m", 1, range=(1, 1000))
    p = net.place("p", start=True)
    out = net.place("out", done=True)
    net.transition("t", take={"x": p.take(each)}, put=[out], delay=n, servers=1)
    return net


def workload(input, net):
    log(input)
    if input.startswith("sleep"):
        time.sleep(60)
    if input.startswith("die"):
        os.kill(os.getpid(), 9)
    if input.startswith("bad"):
        raise ValueError("a bad input")
    if input.startswith("exit"):
        raise SystemExit(3)
    marking = lpn.Marking(net)
    marking.add("p", count=net.bound["m"] if input.startswith("reads") else 12)
    return marking


def log(input):
    with open(os.path.join(os.path.dirname(__file__), "parses"), "a") as file:
        file.write(input + "\\n")
"""


@pytest.fixture(autouse=True)
def cache(environment, monkeypatch):
    monkeypatch.setenv("LPN_CACHE", environment["LPN_CACHE"])
    monkeypatch.delenv("LPN_ENGINE", raising=False)


@pytest.fixture
def folder(tmp_path, marking):
    """A folder with pair.lpn, model.py, and markings a.json and b.json for the pair."""
    (tmp_path / "pair.lpn").write_text(PAIR)
    (tmp_path / "model.py").write_text(MODEL)
    marking("a.json", {"in": [[k % 7] for k in range(50)]})
    marking("b.json", {"in": [[9 - k % 10] for k in range(70)]})
    return tmp_path


@pytest.fixture
def sweep(lpn, folder):
    """sweep(*arguments) -> Answer, in the folder."""
    return lambda *arguments, **variables: lpn("sweep", *arguments, cwd=folder, **variables)


def without_seconds(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def jsonl(path):
    """(header, rows) of a JSON lines file."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return lines[0]["sweep"], lines[1:]


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def parses(folder):
    """Input -> how often it was parsed."""
    names = (folder / "parses").read_text().split()
    (folder / "parses").unlink()
    return {name: names.count(name) for name in sorted(set(names))}


def test_rows_are_those_of_lpn_sim(lpn, sweep, folder):
    grid = ["-p", "slots=1,2,4", "-p", "slow=1:3"]
    data = sweep("pair.lpn", "a.json", "b.json", *grid, "--jobs", 2, "--json").json
    rows = data["rows"]
    assert [row["row"] for row in rows] == list(range(18))
    expected = list(itertools.product((1, 2, 4), (1, 2, 3), ("a.json", "b.json")))
    assert [
        (r["parameters"]["slots"], r["parameters"]["slow"], r["input"]) for r in rows
    ] == expected
    assert data["swept"] == ["slots", "slow"] and data["inputs"] == ["a.json", "b.json"]
    for slots, slow in itertools.product((1, 2, 4), (1, 2, 3)):
        runs = lpn(
            "sim",
            "pair.lpn",
            "a.json",
            "b.json",
            "-p",
            f"slots={slots}",
            "-p",
            f"slow={slow}",
            "--json",
            cwd=folder,
        ).json["runs"]
        for run in runs:
            [row] = [
                r
                for r in rows
                if r["parameters"] == {"slots": slots, "slow": slow} and r["input"] == run["input"]
            ]
            for field in ("latency", "last_commit", "firings", "done_tokens", "stalled", "ending"):
                assert row[field] == run[field], field
            assert row["throughput"] == pytest.approx(row["done_tokens"] / row["latency"], abs=1e-8)
            assert 0 < row["seconds"] < 1 and row["code"] is None and row["message"] is None
    assert len({row["latency"] for row in rows}) > 9


@pytest.mark.parametrize(
    "extra",
    [["--jobs", 1], ["--jobs", 2], ["--jobs", 5], ["--engine", "interp"], ["--engine", "compiled"]],
)
def test_who_does_the_work_changes_nothing(sweep, extra):
    arguments = ["pair.lpn", "a.json", "b.json", "-p", "slots=1:64", "-p", "slow=1:5", "--json"]
    rows = sweep(*arguments, *extra).json["rows"]
    assert len(rows) == 640
    assert without_seconds(rows) == without_seconds(sweep(*arguments).json["rows"])


def test_one_compilation_for_all_values(sweep, tmp_path):
    empty = {"LPN_CACHE": str(tmp_path / "empty")}
    data = sweep(
        "pair.lpn",
        "a.json",
        "b.json",
        "-p",
        "slots=1:9",
        "-p",
        "slow=1:9",
        "--jobs",
        2,
        "--engine",
        "compiled",
        "--json",
        **empty,
    ).json
    assert data["compiled"] == 1 and data["compile_seconds"] > 0.1 and len(data["rows"]) == 162
    assert len(list((tmp_path / "empty").glob("*.so"))) == 1
    again = ["pair.lpn", "a.json", "-p", "slots=10:20", "--engine", "compiled", "--json"]
    data = sweep(*again, **empty).json
    assert data["compiled"] == 0 and data["engine"] == "compiled"


def test_short_runs_compile_nothing(sweep, tmp_path):
    """Three runs of microseconds waited 8 s for a compiler."""
    empty = {"LPN_CACHE": str(tmp_path / "empty")}
    answer = sweep("pair.lpn", "a.json", "-p", "slots=1:3", **empty)
    assert "(interpreted)" in answer.out and not (tmp_path / "empty").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_sweeps_of_many_points_move_over_to_the_compiled_net(sweep, marking, tmp_path, jobs):
    empty = {"LPN_CACHE": str(tmp_path / "empty")}
    marking("many.json", {"in": [[k % 7] for k in range(100_000)]})
    grid = [
        "pair.lpn",
        "many.json",
        "-p",
        "slots=1:64",
        "-p",
        "slow=1:15",
        "--jobs",
        jobs,
        "--json",
    ]
    data = sweep(*grid, **empty).json
    assert data["engine"] == "compiled" and data["compiled"] == 1
    plain = sweep(*grid, "--engine", "compiled", **empty).json
    assert without_seconds(data["rows"]) == without_seconds(plain["rows"])


def test_a_long_point_moves_over(folder, tmp_path, monkeypatch):
    """It is begun again; what it may take counts from its beginning."""
    monkeypatch.setenv("LPN_CACHE", str(tmp_path / "empty"))
    net = lpn.Net.parse(PAIR)
    marking = lpn.Marking(net)
    marking.add("in", count=30_000_000, size=1)
    [row] = lpn.sweep(net, [marking], {"slow": [3]}, jobs=1, max_time=600)
    assert (row["latency"], row["ending"]) == (4 * 30_000_000 + 3, "quiet")
    assert list((tmp_path / "empty").glob("*.so"))


def test_an_argument_of_net_is_another_net(lpn, sweep, folder):
    data = sweep(
        "model.py", "x", "y", "-p", "each=1,2,3", "-p", "n=5,7", "--jobs", 2, "--json"
    ).json
    assert data["nets"] == 3
    got = {
        (r["parameters"]["each"], r["parameters"]["n"]): r["latency"]
        for r in data["rows"]
        if r["input"] == "y"
    }
    assert got == {(each, n): 12 // each * n for each in (1, 2, 3) for n in (5, 7)}
    assert parses(folder) == {"x": 3, "y": 3}
    assert (
        lpn("sim", "model.py", "x", "-p", "each=3", "-p", "n=7", "--json", cwd=folder).json["runs"][
            0
        ]["latency"]
        == 28
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_input_is_parsed_once(sweep, folder, jobs):
    data = sweep(
        "model.py", "x", "y", "-p", "n=1:200", "-p", "m=1:5", "--jobs", jobs, "--json"
    ).json
    assert len(data["rows"]) == 2000 and parses(folder) == {"x": 1, "y": 1}
    assert all(r["latency"] == 12 * r["parameters"]["n"] for r in data["rows"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_workload_that_reads_a_parameter(sweep, folder, jobs):
    data = sweep(
        "model.py", "reads", "x", "-p", "n=1:50", "-p", "m=1:5", "--jobs", jobs, "--json"
    ).json
    assert parses(folder) == {"reads": 5, "x": 1}
    for row in data["rows"]:
        tokens = row["parameters"]["m"] if row["input"] == "reads" else 12
        assert row["done_tokens"] == tokens and row["latency"] == tokens * row["parameters"]["n"]


def test_many_inputs(sweep, folder, marking):
    names = []
    for k in range(300):
        marking(f"{k}.json", {"in": [[k]]})
        names.append(f"{k}.json")
    data = sweep("pair.lpn", *names, "-p", "slow=1,3", "--json").json
    assert [r["latency"] for r in data["rows"]] == [
        4 + slow * k for slow in (1, 3) for k in range(300)
    ]


def test_jpeg_depends_on_its_build(lpn):
    images = sorted(DEMO.glob("*_420.jpg"))
    if not images:
        pytest.skip("no demo images")
    rows = lpn("sweep", "jpeg", *images, "-p", "writable_tables=0,1", "--json").json["rows"]
    truth = {(r["file"], int(r["dht"])): int(r["cycles_total"]) for r in table(DEMO / "cycles.csv")}
    got = {
        (os.path.basename(r["input"]), r["parameters"]["writable_tables"]): r["latency"]
        for r in rows
    }
    assert len(got) == 2 * len(images)
    assert got == {key: truth[key] for key in got}


def test_list_of_points(sweep, folder):
    (folder / "points.csv").write_text("slots, slow\n1, 0x2\n\n4, 1\n")
    data = sweep("pair.lpn", "a.json", "--list", "points.csv", "--json").json
    assert [r["parameters"] for r in data["rows"]] == [
        {"slots": 1, "slow": 2},
        {"slots": 4, "slow": 1},
    ]
    (folder / "points.csv").write_text("slots\n1\n4\n")
    data = sweep(
        "pair.lpn", "a.json", "b.json", "--list", "points.csv", "-p", "slow=1,2", "--json"
    ).json
    assert [(*r["parameters"].values(), r["input"]) for r in data["rows"]] == list(
        itertools.product((1, 4), (1, 2), ("a.json", "b.json"))
    )


def test_list_with_inputs(sweep, folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "c.json").write_text('{"in": [[5]]}')
    (folder / "sub" / "points.csv").write_text("input,slots\na.json,1\nc.json,2\na.json,4\n")
    data = sweep(
        "pair.lpn", "--list", "sub/points.csv", "-p", "slow=1,2", "--json", "-o", "t.csv"
    ).json
    assert [(r["input"], *r["parameters"].values()) for r in data["rows"]] == [
        (name, slots, slow)
        for name, slots in (("a.json", 1), ("sub/c.json", 2), ("a.json", 4))
        for slow in (1, 2)
    ]
    assert [r["latency"] for r in data["rows"] if "c.json" in r["input"]] == [9, 14]
    assert [r["input"] for r in table(folder / "t.csv")] == [r["input"] for r in data["rows"]]


def test_stalls_and_errors_are_rows(sweep, folder, marking):
    marking("wide.json", {"in": [[1001]]})
    answer = sweep(
        "pair.lpn", "a.json", "wide.json", "none.json", "-p", "slots=1,2", "-o", "t.csv", "--json"
    )
    assert answer.status == 2
    assert [r["code"] for r in answer.json["rows"]] == [None, "E-range", "E-input"] * 2
    assert [r["code"] for r in table(folder / "t.csv")] == ["", "E-range", "E-input"] * 2
    assert "1001" in answer.json["rows"][1]["message"] and answer.json["rows"][1]["latency"] is None
    text = sweep("pair.lpn", "a.json", "wide.json", "-p", "slots=1,2")
    assert (
        text.status == 2
        and "and 1 more row" in text.refused("E-range")
        and "2 with an error" in text.out
    )
    (folder / "stall.lpn").write_text(
        PAIR.replace("take j from mid", "take j from mid weight slots")
    )
    answer = sweep("stall.lpn", "a.json", "-p", "slots=1,5,7", "--json")
    assert answer.status == 1  # 50 jobs go into pairs of 1 and 5, not of 7
    assert [r["stalled"] for r in answer.json["rows"]] == [False, False, True]
    assert answer.json["rows"][2]["message"] == "waiting: second (no token: j)"
    assert answer.json["rows"][2]["done_tokens"] == 7
    assert (
        "slots=7  a.json stalled: waiting: second (no token: j)"
        in sweep("stall.lpn", "a.json", "-p", "slots=1,7").out
    )


def test_an_error_of_a_run_is_a_row(sweep, folder, marking):
    (folder / "neg.lpn").write_text(
        "lpn 1\nnet neg\nparam base = 5\ntype job (n)\nplace in : job start\n"
        "transition t {\n  take j from in\n  delay base - j.n\n  servers 1\n}\nend\n"
    )
    marking("n.json", {"in": [[6]]})
    rows = sweep("neg.lpn", "n.json", "-p", "base=5:8", "--json").json["rows"]
    assert [r["code"] for r in rows] == ["E-negative-delay", None, None, None]
    assert [r["latency"] for r in rows] == [None, 0, 1, 2] and rows[0]["stalled"] is None


def test_a_net_that_cannot_be_made_is_a_row(sweep):
    answer = sweep("model.py", "x", "-p", "each=-1,1", "--json")
    assert answer.status == 2
    assert (
        answer.json["rows"][0]["code"].startswith("E-") and answer.json["rows"][1]["latency"] == 12
    )
    refused = sweep("model.py", "x", "-p", "each=-2,-1", "--json")
    assert refused.status == 2 and refused.json["error"]["code"].startswith("E-")


def test_limit(sweep, nets):
    (nets / "ticks.lpn").write_text(
        (nets / "clock.lpn")
        .read_text()
        .replace("net clock", "net clock\nparam d = 1")
        .replace("delay 1", "delay d")
    )
    answer = sweep("ticks.lpn", "-p", "d=1:4", "--limit", 120, "--json")
    assert answer.status == 3
    assert [(r["ending"], r["firings"], r["input"]) for r in answer.json["rows"]] == [
        ("limit", 120 // d, None) for d in (1, 2, 3, 4)
    ]


def test_a_budget_is_a_row_that_says_where_it_stopped(sweep, nets, tmp_path):
    (nets / "growing.lpn").write_text(
        (nets / "clock.lpn")
        .read_text()
        .replace("net clock", "net growing\nparam d = 1")
        .replace("delay 1", "delay d")
    )
    table = tmp_path / "rows.csv"
    command = ["growing.lpn", "-p", "d=1,2", "--max-time", "0.2", "-o", table]
    answer = sweep(*command, "--json")
    assert answer.status == 3
    for row in answer.json["rows"]:
        assert row["ending"] == "budget" and row["code"] is None and row["latency"] is None
        assert row["message"].startswith("stopped at time ")
        assert row["message"].endswith(": time limit of 0.2 s reached") and row["firings"] > 100
    # The rows are kept, with their budget: another budget is another sweep.
    again = sweep(*command)
    assert again.status == 3 and "2 stopped" in again.out and "stopped by its budget" in again.out
    other = sweep(*command[:3], "--max-time", "0.3", "-o", table)
    assert other.status == 2 and "another limit or budget" in other.err
    lines = tmp_path / "rows.jsonl"
    assert sweep(*command[:-2], "--jsonl", lines).status == 3
    assert "what a run may use differs" in sweep(*command[:3], "--jsonl", lines).err
    refused = sweep(*command[:3], "--max-time", "nan")
    assert refused.status == 2 and "E-usage" in refused.err


def test_budgets_of_tokens_and_firings(sweep, folder):
    rows = sweep("pair.lpn", "a.json", "--max-tokens", 2, "--json").json["rows"]
    assert rows[0]["message"] == "stopped at time 0: limit of 2 tokens at the start reached"
    whole = sweep("pair.lpn", "a.json", "--max-tokens", 1000, "--max-firings", 1000, "--json")
    assert whole.status == 0 and whole.json["rows"][0]["ending"] == "quiet"


def test_files(sweep, folder):
    data = sweep(
        "pair.lpn",
        "a.json",
        "b.json",
        "-p",
        "slots=1,2",
        "-p",
        "slow=3",
        "-o",
        "t.csv",
        "--jsonl",
        "t.jsonl",
        "--json",
    ).json
    header, rows = jsonl(folder / "t.jsonl")
    assert (
        rows == data["rows"]
        and header["rows"] == 4
        and header["parameters"] == {"slots": "1,2", "slow": "3"}
    )
    for row, cells in zip(rows, table(folder / "t.csv"), strict=True):
        assert list(cells) == [
            "row",
            "sweep",
            "slots",
            "slow",
            "input",
            "latency",
            "last_commit",
            "firings",
            "done_tokens",
            "throughput",
            "stalled",
            "ending",
            "seconds",
            "code",
            "message",
        ]
        assert (
            cells["sweep"] == header["id"] and cells["slow"] == "3" and cells["stalled"] == "false"
        )
        for name in ("row", "latency", "firings", "done_tokens", "last_commit"):
            assert int(cells[name]) == row[name]
        assert (
            float(cells["throughput"]) == row["throughput"]
            and float(cells["seconds"]) == row["seconds"]
        )


def test_files_of_a_net_that_needs_no_input(sweep, folder):
    (folder / "own.lpn").write_text(
        "lpn 1\nnet own\ntype u ()\nparam n = 3 in 1..9\nplace q : u start initial n\n"
        "place out : u done\ntransition t {\n  take x from q\n  delay 3\n  servers 1\n"
        "  put out\n}\nend\n"
    )
    command = ["own.lpn", "-p", "n=1,2", "--jobs", 1, "-o", "own.csv", "--jsonl", "own.jsonl"]
    first = sweep(*command, "--json").json
    assert [(row["input"], row["latency"]) for row in first["rows"]] == [(None, 3), (None, 6)]
    assert jsonl(folder / "own.jsonl")[1] == first["rows"]
    again = sweep(*command, "--json").json
    assert again["resumed"] == 2 and again["rows"] == first["rows"]


def test_a_row_nested_without_end_is_made_again(sweep, folder):
    command = ["pair.lpn", "a.json", "-p", "slots=1,2", "--jobs", 1, "--jsonl", "rows.jsonl"]
    rows = sweep(*command, "--json").json["rows"]
    lines = (folder / "rows.jsonl").read_text().splitlines()
    (folder / "rows.jsonl").write_text("\n".join([*lines[:2], "[" * 100_000]) + "\n")
    again = sweep(*command, "--json").json
    assert again["resumed"] == 1
    assert without_seconds(again["rows"]) == without_seconds(rows)


def test_a_parameter_with_the_name_of_a_column(sweep, folder):
    (folder / "odd.lpn").write_text(PAIR.replace("slots", "latency"))
    sweep("odd.lpn", "a.json", "-p", "latency=1,2", "-o", "t.csv")
    assert [r["parameter.latency"] for r in table(folder / "t.csv")] == ["1", "2"]
    assert int(table(folder / "t.csv")[0]["latency"]) > 100


GRID = ["pair.lpn", "a.json", "b.json", "-p", "slots=1:8", "-p", "slow=1,2"]


def damage(path, how):
    """What is left of a file after a crash."""
    lines = path.read_text().splitlines(keepends=True)
    if how == "cut":
        path.write_text("".join(lines[:12]) + lines[12][: len(lines[12]) // 2])
    elif how == "cut at its end":
        path.write_text("".join(lines[:12]) + lines[12][:-1])
    elif how == "only the first line":
        path.write_text(lines[0])
    elif how == "empty":
        path.write_text("")
    elif how == "a row twice":
        path.write_text("".join(lines[:12]) + lines[5])
    elif how == "other order":
        path.write_text(lines[0] + "".join(reversed(lines[4:])))


@pytest.mark.parametrize(
    "how, there",
    [
        ("cut", 11),
        ("cut at its end", 11),
        ("only the first line", 0),
        ("empty", 0),
        ("a row twice", 11),
        ("other order", 29),
        ("whole", 32),
    ],
)
def test_goes_on_where_it_stopped(sweep, folder, how, there):
    whole = sweep(*GRID, "-o", "t.csv", "--jsonl", "t.jsonl", "--json").json["rows"]
    damage(folder / "t.csv", how)
    damage(folder / "t.jsonl", how)
    for option, name in (("-o", "t.csv"), ("--jsonl", "t.jsonl")):
        answer = sweep(*GRID, option, name, "--json")
        assert answer.status == 0 and answer.json["resumed"] == there
        assert without_seconds(answer.json["rows"]) == without_seconds(whole)
        assert ("were there already" in answer.err) == (there > 0)
    assert [int(r["row"]) for r in table(folder / "t.csv")] == list(range(32))
    assert without_seconds(jsonl(folder / "t.jsonl")[1]) == without_seconds(whole)
    assert [int(r["latency"]) for r in table(folder / "t.csv")] == [r["latency"] for r in whole]
    assert sorted(p.name for p in folder.glob("t.*")) == ["t.csv", "t.jsonl"]


def test_a_row_in_one_file_is_written_to_the_other(sweep, folder):
    sweep(*GRID, "-o", "t.csv")
    damage(folder / "t.csv", "cut")
    data = sweep(*GRID, "-o", "t.csv", "--jsonl", "t.jsonl", "--json").json
    assert data["resumed"] == 11
    for file in (table(folder / "t.csv"), jsonl(folder / "t.jsonl")[1]):
        assert [int(r["row"]) for r in file] == list(range(32))
    assert [r["latency"] for r in jsonl(folder / "t.jsonl")[1]] == [
        int(r["latency"]) for r in table(folder / "t.csv")
    ]
    assert jsonl(folder / "t.jsonl")[1] == data["rows"]


def test_another_sweep_is_refused(sweep, folder, marking):
    files = ["-o", "t.csv", "--jsonl", "t.jsonl"]
    base = ["pair.lpn", "a.json", "-p", "slots=1,2"]
    sweep(*base, *files)
    before = (folder / "t.csv").read_text(), (folder / "t.jsonl").read_text()

    def refused(arguments, words, first="t.jsonl"):
        for option, name in (("--jsonl", "t.jsonl"), ("-o", "t.csv")):
            text = sweep(*arguments, option, name).refused("E-sweep")
            assert f"{name} has rows of another sweep" in text
            assert name != first or words in text, text

    refused(["pair.lpn", "a.json", "-p", "slots=1,2,4"], "(then slots=1,2, now slots=1,2,4)")
    refused(["pair.lpn", "a.json", "-p", "slow=1,2"], "(then slots=1,2, now slow=1,2)")
    refused(["pair.lpn", "a.json", "-p", "slow=1,2"], "then slots, now slow", "t.csv")
    refused(["pair.lpn", "b.json", "-p", "slots=1,2"], "the inputs' names")
    refused([*base, "--limit", "9"], "--limit")
    (folder / "pair.lpn").write_text(PAIR.replace("delay 4", "delay 3"))
    refused(base, "the net differs")
    refused(base, "another net", "t.csv")
    (folder / "pair.lpn").write_text(PAIR)
    marking("a.json", {"in": [[1]]})
    refused(base, "the content of an input differs")
    marking("a.json", {"in": [[k % 7] for k in range(50)]})
    assert ((folder / "t.csv").read_text(), (folder / "t.jsonl").read_text()) == before
    assert sweep(*base, *files, "--json").json["resumed"] == 2


def test_a_model_with_another_workload_is_another_one(sweep, folder):
    sweep("model.py", "x", "-p", "n=1,2", "--jsonl", "t.jsonl")
    (folder / "model.py").write_text("# a remark\n" + MODEL)
    assert (
        sweep("model.py", "x", "-p", "n=1,2", "--jsonl", "t.jsonl", "--json").json["resumed"] == 2
    )
    (folder / "model.py").write_text(MODEL.replace("12", "13"))
    assert "the model's Python" in sweep(
        "model.py", "x", "-p", "n=1,2", "--jsonl", "t.jsonl"
    ).refused("E-sweep")


def test_files_of_others(sweep, folder, environment):
    for name, text in (
        ("t.csv", "a,b\n1,2\n"),
        ("t.csv", "notes"),
        ("t.csv", "row,sweep\n1,2\n"),
        ("t.csv", "\xff\n"),
    ):
        (folder / name).write_bytes(text.encode("latin-1"))
        assert "was not written by a sweep" in sweep(*GRID, "-o", name).refused("E-sweep")
        assert (folder / name).read_bytes() == text.encode("latin-1")
    for text in ("a,b\n", "[]\n", '{"sweep": 1}\n', '{"sweep": {}}\n', '{"row": 0}\n'):
        (folder / "t.jsonl").write_text(text)
        assert "was not written by a sweep" in sweep(*GRID, "--jsonl", "t.jsonl").refused("E-sweep")
    assert "is not a file" in sweep(*GRID, "-o", "/dev/null").refused("E-sweep")
    assert "no/t.csv" in sweep(*GRID, "-o", "no/t.csv").refused("E-input")


def test_two_sweeps_do_not_share_a_file(sweep, folder, environment):
    import fcntl

    sweep(*GRID, "-o", "t.csv")
    with open(folder / "t.csv") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another sweep is writing t.csv" in sweep(*GRID, "-o", "t.csv").refused("E-sweep")
    assert sweep(*GRID, "-o", "t.csv").status == 0


LONG = ["pair.lpn", "long.json", "-p", "slots=1:60", "-p", "slow=1:10", "--engine", "interp"]


@pytest.fixture
def long(folder, marking):
    """An input with which LONG takes seconds."""
    marking("long.json", {"in": [[k % 7] for k in range(12_000)]})
    return folder


def started(environment, folder, *arguments):
    return subprocess.Popen(
        [BUILD / "bin" / "lpn", "sweep", *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_lines(path, number, process, timeout=60):
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):
            if path.read_bytes().count(b"\n") >= number:
                return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("no rows came")


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_and_going_on(environment, sweep, long, jobs):
    files = ["-o", "t.csv", "--jsonl", "t.jsonl"]
    with started(environment, long, *LONG, *files, "--jobs", jobs, "--json") as process:
        wait_for_lines(long / "t.jsonl", 5, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=100)
    assert process.returncode == 3 and "Traceback" not in err, (out, err)
    data = json.loads(out)
    finished = len(data["rows"])
    assert data["interrupted"] is True and 4 <= finished < 600
    assert len(jsonl(long / "t.jsonl")[1]) == len(table(long / "t.csv")) == finished
    answer = sweep(*LONG, *files, "--json")
    assert (
        answer.status == 0
        and answer.json["resumed"] == finished
        and answer.json["interrupted"] is False
    )
    assert [int(r["row"]) for r in table(long / "t.csv")] == list(range(600))
    assert [r["row"] for r in jsonl(long / "t.jsonl")[1]] == list(range(600))


def test_a_killed_sweep_goes_on_and_leaves_no_process(environment, sweep, long):
    with started(environment, long, *LONG, "-o", "t.csv", "--jobs", 2) as process:
        wait_for_lines(long / "t.csv", 5, process)
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        children = [pid for task in tasks for pid in (task / "children").read_text().split()]
        process.kill()
        process.communicate()
    assert len(children) == 2
    until = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}") for pid in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in children)
    data = sweep(*LONG, "-o", "t.csv", "--json").json
    assert 4 <= data["resumed"] < 600
    assert [int(r["row"]) for r in table(long / "t.csv")] == list(range(600))


@pytest.mark.parametrize(
    "model, jobs",
    [("model.py sleep", 1), ("model.py sleep x", 2), ("clock.lpn --limit 1000000000000", 1)],
)
def test_interrupt_of_what_does_not_end(environment, nets, folder, model, jobs):
    answer = interrupted(
        [BUILD / "bin" / "lpn", "sweep", *model.split(), "--jobs", jobs],
        environment,
        begun=lambda out, err: "1 row without a result" in err,
        cwd=folder,
        start_new_session=True,
    )
    assert answer.status == 3 and "Traceback" not in answer.err, answer.err
    assert "interrupted; 1 row without a result" in answer.err


def test_a_worker_that_dies(sweep, folder):
    files = ["-o", "t.csv"]
    arguments = [
        "model.py",
        "x",
        "die",
        "y",
        "bad",
        "exit",
        "-p",
        "n=1:4",
        *files,
        "--jobs",
        2,
        "--json",
    ]
    answer = sweep(*arguments)
    assert answer.status == 2 and "Traceback" not in answer.err
    codes = {"x": None, "die": "E-worker", "y": None, "bad": "E-input", "exit": "E-model"}
    assert [(r["input"], r["code"]) for r in answer.json["rows"]] == [*codes.items()] * 4
    assert [r["latency"] for r in answer.json["rows"] if r["input"] == "y"] == [12, 24, 36, 48]
    (folder / "parses").unlink()
    again = sweep(*arguments).json  # only those rows are tried again
    assert again["resumed"] == 16 and [r["code"] for r in again["rows"]] == [*codes.values()] * 4
    assert set(parses(folder)) == {"die"}
    assert [int(r["row"]) for r in table(folder / "t.csv")] == list(range(20))


def test_a_suspect_point_runs_alone(folder):
    """While a point is tried again nothing else runs, or it could be blamed for another one's
    death.
    """
    from lpn.sweeps.definition import Definition
    from lpn.sweeps.queue import Queue

    definition = Definition(
        str(folder / "model.py"), ["x", "y", "z"], {"n": [1, 2]}, engine="interp"
    )
    waiting = Queue(definition, range(6), 0.1, lambda: 4)
    first = waiting.take()
    assert first.parts == [] and waiting.take() is None  # the net is made first
    assert list(waiting.answered(first, [])) == []

    def rows(task):
        return [row for part in task.parts for row, _ in part.points]

    first, second = waiting.take(), waiting.take()
    assert rows(first) and rows(second) and not set(rows(first)) & set(rows(second))
    assert waiting.lost(first) is None
    assert waiting.take() is None  # not while the other one runs
    assert waiting.lost(second) is None
    suspects = rows(first) + rows(second)
    blamed = []
    for _ in suspects:
        task = waiting.take()
        assert len(rows(task)) == 1 and waiting.take() is None and waiting.in_flight == 1
        blamed.append(waiting.lost(task))
    assert blamed == suspects
    rest = rows(waiting.take())
    assert rest and not set(rest) & set(suspects)


def test_without_a_compiler_the_interpreter_answers(sweep, tmp_path):
    answer = sweep(
        "pair.lpn",
        "a.json",
        "-p",
        "slots=1:3",
        "--engine",
        "compiled",
        "--json",
        LPN_CXX="/nonexistent/c++",
        LPN_CACHE=str(tmp_path / "none"),
    )
    assert answer.status == 0 and "E-no-compiler" in answer.err
    assert answer.json["engine"] == "interp" and answer.json["fallback"]["code"] == "E-no-compiler"
    assert len(answer.json["rows"]) == 3


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["pair.lpn", "a.json", "-p", "slots"], "E-usage", "write -p slots=1,2,8:64:8"),
        (["pair.lpn", "a.json", "-p", "slots="], "E-usage", "write -p slots="),
        (
            ["pair.lpn", "a.json", "-p", "slots=1,x"],
            "E-sweep",
            "'x' is no value of parameter 'slots'",
        ),
        (["pair.lpn", "a.json", "-p", "slots=1:2:3:4"], "E-sweep", "lowest:highest:step"),
        (
            ["pair.lpn", "a.json", "-p", "slots=4:1"],
            "E-sweep",
            "the range 4:1 of parameter 'slots' is empty",
        ),
        (["pair.lpn", "a.json", "-p", "slots=1:9:0"], "E-sweep", "a step of 1 or more"),
        (["pair.lpn", "a.json", "-p", "slots=1:99999999"], "E-sweep", "use a larger step"),
        (["pair.lpn", "a.json", "-p", "slots=1,2,1"], "E-sweep", "is given 1 twice"),
        (["pair.lpn", "a.json", "-p", "slots=1,65"], "E-param", "1..64"),
        (
            ["pair.lpn", "a.json", "-p", "fast=1"],
            "E-param",
            "has no parameter 'fast'; it has: slow, slots",
        ),
        (["pair.lpn", "a.json", "-p", f"slots={2**70}"], "E-param", "does not fit in 64 bits"),
        (
            ["pair.lpn", "a.json", "-p", "slots=1", "-p", "slots=2"],
            "E-usage",
            "write all its values into one",
        ),
        (["pair.lpn", "a.json", "a.json"], "E-sweep", "input 'a.json' is given twice"),
        (
            ["pair.lpn", "a.json", "-p", "slow=1:1000", "-p", "slots=1:64", "--list", "p100.csv"],
            "E-sweep",
            "1 000 000",
        ),
        (["pair.lpn", "a.json", "--list", "none.csv"], "E-input", "cannot read none.csv"),
        (["pair.lpn", "a.json", "--list", "empty.csv"], "E-sweep", "empty.csv is empty"),
        (["pair.lpn", "a.json", "--list", "head.csv"], "E-sweep", "has no points"),
        (
            ["pair.lpn", "a.json", "--list", "word.csv"],
            "E-sweep",
            "row 3: 'two' is no whole number for parameter 'slots'",
        ),
        (["pair.lpn", "a.json", "--list", "ragged.csv"], "E-sweep", "row 2: 2 values for 1 column"),
        (
            ["pair.lpn", "a.json", "--list", "twice.csv"],
            "E-sweep",
            "point 1 is the same as point 0",
        ),
        (
            ["pair.lpn", "a.json", "--list", "ok.csv", "-p", "slots=1"],
            "E-sweep",
            "in the list of points and in the grid",
        ),
        (["pair.lpn", "a.json", "--list", "inputs.csv"], "E-sweep", "inputs of their own"),
        (
            ["pair.lpn", "a.json", "-p", "slots=1,2", "--plot", "p.doc"],
            "E-plot",
            ".svg, .png, .pdf",
        ),
        (
            ["pair.lpn", "a.json", "-p", "slots=1,2", "--plot", "no/p.svg"],
            "E-plot",
            "there is no folder no",
        ),
        (
            ["pair.lpn", "a.json", "-p", "slots=1", "--plot", "p.svg"],
            "E-plot",
            "no parameter has two values",
        ),
        (
            [
                "pair.lpn",
                "a.json",
                "b.json",
                "-p",
                "slots=1:9",
                "-p",
                "slow=1:20",
                "--plot",
                "p.svg",
            ],
            "E-plot",
            "40 lines, one per slow and the input",
        ),
        (["pair.lpn", "a.json", "--metric", "speed"], "E-usage", "'throughput'"),
        (["pair.lpn", "a.json", "--jobs", "0"], "E-usage", "0"),
        (
            ["pair.lpn", "a.json", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"],
            "E-usage",
            "--jobs",
        ),
        (["pair.lpn", "a.json", "--scheduler", "nonsense:"], "E-scheduler", "nonsense:"),
        (
            ["pair.lpn", "a.json", "--scheduler", "tcp://127.0.0.1:1"],
            "E-scheduler",
            "cannot reach a Dask scheduler",
        ),
        (["model.py", "-p", "n=1,2"], "E-usage", "needs an INPUT"),
        (["model.py", "x", "-p", "q=1,2"], "E-param", "it has: each, n, m"),
        (["nothing", "x"], "E-model", "there is no model 'nothing'"),
    ],
)
def test_refusals(sweep, folder, arguments, code, words):
    for name, text in (
        ("empty", ""),
        ("head", "slots\n"),
        ("word", "slots\n1\ntwo\n"),
        ("ragged", "slots\n1,2\n"),
        ("twice", "slots\n1\n1\n"),
        ("ok", "slots\n1\n"),
        ("inputs", "input,slots\na.json,1\n"),
        ("p100", "q\n" + "".join(f"{k}\n" for k in range(100))),
    ):
        (folder / f"{name}.csv").write_text(text)
    answer = sweep(*arguments, "-o", "t.csv", "--json")
    assert answer.status == 2 and "Traceback" not in answer.err
    assert f"[{code}" in answer.err and words in answer.err, answer.err
    assert answer.json["error"]["code"].startswith(code)
    assert not (folder / "p.svg").exists()


def test_plot(sweep, folder):
    (folder / "stall.lpn").write_text(
        PAIR.replace("take j from mid", "take j from mid weight slots")
    )
    arguments = [
        "-p",
        "slots=1,2,4,5,8,16,32",
        "-p",
        "slow=1,2",
        "--metric",
        "latency",
        "--metric",
        "throughput",
    ]
    answer = sweep("stall.lpn", "a.json", *arguments, "--plot", "p.svg", "--json")
    assert answer.status == 1 and answer.json["plot"] == "p.svg"
    text = (folder / "p.svg").read_text()
    for words in (
        "slots",
        "slow=1",
        "slow=2",
        "latency (cycles)",
        "throughput (done tokens per cycle)",
        "stalled or without a result",
    ):
        assert f"<!-- {words} -->" in text
    sweep("stall.lpn", "a.json", *arguments, "--plot", "q.svg")
    assert (folder / "q.svg").read_text() == text
    sweep("pair.lpn", "a.json", "b.json", "--plot", "p.png", "--metric", "firings")
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    sweep("pair.lpn", "a.json", "-p", "slots=1,2,3", "--plot", "p.pdf")
    assert (folder / "p.pdf").read_bytes().startswith(b"%PDF")
    refused = sweep(
        "pair.lpn", "a.json", "-p", "slots=1,2,3", "--limit", 0, "--plot", "r.svg"
    ).refused("E-plot")
    assert "no row has a latency" in refused and not (folder / "r.svg").exists()


def test_a_long_table_shows_the_best(sweep):
    answer = sweep("pair.lpn", "a.json", "-p", "slots=1:64")
    assert "the 20 rows of 64 with the least latency (--all prints all)" in answer.out
    assert "least latency 203 with slots=3" in answer.out and answer.out.count("a.json") == 20
    assert sweep("pair.lpn", "a.json", "-p", "slots=1:64", "--all").out.count("a.json") == 64
    assert (
        "with the most throughput"
        in sweep("pair.lpn", "a.json", "-p", "slots=1:64", "--metric", "throughput").out
    )


def test_progress_only_on_a_terminal(environment, sweep, long):
    assert sweep("pair.lpn", "a.json", "-p", "slots=1:64").err == ""
    ours, theirs = pty.openpty()
    with open(long / "out.json", "w") as out, subprocess.Popen(
        [BUILD / "bin" / "lpn", "sweep", *LONG, "--json"],
        stdout=out,
        stderr=theirs,
        env=environment,
        cwd=long,
    ):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while chunk := os.read(ours, 4096):
                shown += chunk
    os.close(ours)
    assert (
        b"/600" in shown
        and b"to go" in shown
        and b"slots=" in shown
        and shown.endswith(b"\r\x1b[K")
    )
    assert len(json.loads((long / "out.json").read_text())["rows"]) == 600


# A cluster.


class Cluster:
    """A Dask scheduler and workers, each a process of its own, on the loopback."""

    def __init__(self, environment, folder, workers=2, path=None):
        pytest.importorskip("distributed")
        self.environment = {
            **environment,
            "PYTHONPATH": str(BUILD / "python") if path is None else path,
            "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "30s",
        }
        self.folder = folder
        self.processes = []
        self.start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            "scheduler.json",
        )
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(FileNotFoundError, ValueError):
                self.address = json.loads((folder / "scheduler.json").read_text())["address"]
                break
            assert time.monotonic() < until and self.processes[0].poll() is None
            time.sleep(0.05)
        for number in range(workers):
            self.start(
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--name",
                f"w{number}",
                "--host",
                "127.0.0.1",
            )

    def start(self, kind, *arguments):
        with open(self.folder / f"{kind}.log", "a") as log:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                )
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def test_cluster_with_a_worker_killed_half_way(environment, sweep, long):
    whole = sweep(*LONG, "--json").json["rows"]
    from distributed import Client

    with Cluster(environment, long) as cluster:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            with started(
                environment,
                long,
                *LONG,
                "--scheduler",
                cluster.address,
                "-o",
                "t.csv",
                "--jsonl",
                "t.jsonl",
                "--json",
            ) as process:
                wait_for_lines(long / "t.jsonl", 150, process)
                names = {
                    w["name"]: address for address, w in client.scheduler_info()["workers"].items()
                }
                while not all(client.processing()[address] for address in names.values()):
                    assert process.poll() is None  # a worker is without a task for a moment
                cluster.processes[1].kill()
                before = len(table(long / "t.csv"))
                assert process.poll() is None and before < 450
                out, err = process.communicate(timeout=120)
            assert process.returncode == 0 and err == "", err
            assert len(client.scheduler_info()["workers"]) == 1
    data = json.loads(out)
    assert without_seconds(data["rows"]) == without_seconds(whole)
    assert data["workers"] == 2
    assert [int(r["row"]) for r in table(long / "t.csv")] == list(range(600))
    assert without_seconds(jsonl(long / "t.jsonl")[1]) == without_seconds(whole)


def test_cluster_of_models(environment, sweep, folder, marking):
    with Cluster(environment, folder) as cluster:
        at = ["--scheduler", cluster.address, "--json"]
        for arguments in (
            ["pair.lpn", "a.json", "b.json", "c.json", "-p", "slots=1:64", "-p", "slow=1:5"],
            ["model.py", "x", "reads", "bad", "-p", "each=1,2", "-p", "n=1:9", "-p", "m=1:3"],
        ):
            marking("c.json", {"in": [[1001]]})
            local = sweep(*arguments, "--json")
            here = parses(folder) if "model.py" in arguments else None
            remote = sweep(*arguments, *at)
            assert remote.status == local.status == 2
            assert without_seconds(remote.json["rows"]) == without_seconds(local.json["rows"])
            if here is not None:
                assert parses(folder) == here == {"x": 2, "reads": 6, "bad": 2}


def test_cluster_interrupt(environment, sweep, long, nets):
    with Cluster(environment, long) as cluster:
        with started(
            environment, long, *LONG, "--scheduler", cluster.address, "-o", "t.csv", "--json"
        ) as process:
            wait_for_lines(long / "t.csv", 20, process)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 3 and "Traceback" not in err, err
        assert 19 <= len(json.loads(out)["rows"]) == len(table(long / "t.csv")) < 600
        # A run without end is given up by its worker too.
        with started(
            environment,
            nets,
            "clock.lpn",
            "--scheduler",
            cluster.address,
            "--engine",
            "interp",
            "--limit",
            10**12,
        ) as process:
            time.sleep(4)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 3 and "Traceback" not in err, err
        data = sweep(*LONG, "--scheduler", cluster.address, "-o", "t.csv", "--json").json
        assert data["resumed"] >= 19 and [int(r["row"]) for r in table(long / "t.csv")] == list(
            range(600)
        )


def test_cluster_whose_scheduler_goes_away(environment, sweep, long):
    with Cluster(environment, long) as cluster:
        with started(
            environment, long, *LONG, "--scheduler", cluster.address, "-o", "t.csv"
        ) as process:
            wait_for_lines(long / "t.csv", 20, process)
            cluster.processes[0].kill()
            out, err = process.communicate(timeout=60)
    assert process.returncode == 2 and "[E-scheduler]" in err and "Traceback" not in err, err
    assert 19 <= len(table(long / "t.csv")) < 600
    assert sweep(*LONG, "-o", "t.csv", "--json").json["resumed"] >= 19


def test_cluster_without_this_package(environment, sweep, folder):
    with Cluster(environment, folder, 1, "") as cluster:
        text = sweep(
            "pair.lpn", "a.json", "-p", "slots=1,2", "--scheduler", cluster.address
        ).refused("E-scheduler")
    assert "start workers with this package on their PYTHONPATH" in text


# From Python.


def pair():
    net = lpn.Net("pair")
    slots = net.param("slots", default=2, range=(1, 64))
    work = net.param("work", default=3, range=(0, 100))
    words = net.place("words", start=True)
    buffer = net.place("buffer", capacity=slots)
    done = net.place("done", done=True, sink=True)
    net.transition("write", take={"word": words}, put=[buffer], delay=3, servers=1)
    net.transition("read", take={"word": buffer}, put=[done], delay=work, servers=1)
    return net


def load_of(net, count):
    work = lpn.Marking(net)
    work.add("words", count=count)
    return work


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_sweep_of_a_net(jobs):
    net = pair()
    inputs = {"few": load_of(net, 3), "many": load_of(net, 100)}
    seen = []
    rows = lpn.sweep(
        net, inputs, {"slots": [1, 2, 3], "work": "2:4"}, jobs=jobs, on_rows=seen.extend
    )
    assert [(r["input"], *r["parameters"].values()) for r in rows] == [
        (name, slots, work) for slots in (1, 2, 3) for work in (2, 3, 4) for name in ("few", "many")
    ]
    for row in rows:
        assert row["latency"] == lpn.simulate(net, inputs[row["input"]], row["parameters"]).latency
    assert sorted(r["row"] for r in seen) == list(range(18))
    assert net.bound == {}


def test_sweep_of_a_model(folder):
    model = lpn.load(str(folder / "model.py"))
    rows = lpn.sweep(
        model, ["x", "reads"], {"each": [1, 2]}, points=[{"n": 2, "m": 4}, {"n": 3, "m": 8}], jobs=1
    )
    assert [r["latency"] for r in rows] == [24, 8, 12, 4, 36, 24, 18, 12]
    rows = lpn.sweep(
        folder / "pair.lpn",
        str(folder / "a.json"),
        {"slots": 4},
        csv=folder / "t.csv",
        engine="interp",
    )
    assert len(rows) == 1 and rows[0]["done_tokens"] == 50 and len(table(folder / "t.csv")) == 1
    assert (
        lpn.sweep(folder / "pair.lpn", str(folder / "a.json"), {"slots": 4}, csv=folder / "t.csv")
        == rows
    )


def test_sweep_keeps_a_net_s_own_values(tmp_path):
    net = pair()
    net.bound = {"work": 7}
    marking = load_of(net, 10)
    rows = lpn.sweep(net, marking, {"slots": [1, 2]}, jobs=1, jsonl=tmp_path / "t.jsonl")
    assert [r["latency"] for r in rows] == [100, 73] and net.bound == {"work": 7}
    net.bound = {"work": 8}
    with pytest.raises(lpn.Error, match="the net differs"):
        lpn.sweep(net, marking, {"slots": [1, 2]}, jobs=1, jsonl=tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    "change, code, words",
    [
        ({"params": {"slots": 1.5}}, "E-sweep", "whole numbers, got 1.5"),
        ({"params": {"slots": []}}, "E-sweep", "has no values"),
        ({"params": {"slots": [0]}}, "E-param", "outside its range"),
        ({"params": {"other": [0]}}, "E-param", "it has: slots, work"),
        ({"points": []}, "E-sweep", "the list of points is empty"),
        (
            {"points": [{"slots": 1}, {"work": 1}]},
            "E-sweep",
            "all points of a sweep have the same ones",
        ),
        ({"points": [{"slots": "1"}]}, "E-sweep", "must be a whole number"),
        ({"jobs": 0}, "E-sweep", "jobs"),
        ({"engine": "fast"}, "E-engine", "fast"),
        ({"limit": -1}, "E-operand", "-1"),
    ],
)
def test_sweep_refuses(change, code, words):
    net = pair()
    with pytest.raises(lpn.Error, match=words) as caught:
        lpn.sweep(net, load_of(net, 3), **change)
    assert caught.value.code == code


def test_sweep_of_a_foreign_marking():
    net = pair()
    [row] = lpn.sweep(net, [load_of(pair(), 3)], jobs=1)
    assert row["code"] == "E-foreign"
    with pytest.raises(lpn.Error, match="needs a net, a model"):
        lpn.sweep(7)


def test_reads_of_bound_parameters():
    def seen(look):
        net = pair()
        net.bound = {"a": 1, "b": 2}
        look(net.bound)
        return net.bound.read

    assert seen(lambda r: r["a"]) == seen(lambda r: r.get("a")) == {"a": 1}
    assert seen(lambda r: (r.get("c"), len(r), list(r))) == {}
    whole = {"a": 1, "b": 2}
    for look in (
        dict,
        lambda r: {**r},
        lambda r: {**{"c": 3}, **r},
        lambda r: list(r.values()),
        lambda r: list(r.items()),
        copy.copy,
        copy.deepcopy,
        repr,
        lambda r: r == {},
        lambda r: dict(**r),
        pickle.dumps,
        lambda r: {k: r[k] for k in r},
        lambda r: {}.update(r),
        lambda r: "{a}{b}".format_map(r),
    ):
        assert seen(look) == whole
    with pytest.raises(TypeError):
        pair().bound["a"] = 1


# Pickling.


def test_nets_and_markings_can_be_pickled():
    net = pair()
    net.bound = {"slots": 5}
    marking = load_of(net, 9)
    marking.done_count = 7
    net2, marking2, again = pickle.loads(pickle.dumps((net, marking, marking)))
    assert marking2.net is net2 and again is marking2 and net2 is not net
    assert net2.text() == net.text() and net2.bound == {"slots": 5} and marking2.done_count == 7
    assert marking2.rows("words") == marking.rows("words")
    runs = [
        lpn.simulate(n, m, engine=engine)
        for n, m in ((net, marking), (net2, marking2))
        for engine in ("interp", "compiled")
    ]
    assert len({(r.latency, r.commits, r.ending) for r in runs}) == 1 and runs[0].ending == "done"
    assert copy.deepcopy(marking).net is not net
    # The interpreter of another process has the same net.
    marking3 = load_of(net2, 9)
    assert lpn.simulate(net2, marking3).commits == lpn.simulate(net, load_of(net, 9)).commits


def test_a_pickled_net_is_compiled_no_second_time(folder):
    import _lpn

    net = lpn.load(str(folder / "model.py")).net(each=2).done()
    _lpn.sim.Library.build(net._core)
    assert _lpn.sim.Library.build(pickle.loads(pickle.dumps(net))._core).cached


def test_an_invalid_net_cannot_be_pickled():
    net = lpn.Net("empty")
    net.transition("t", take={}, put=[])
    with pytest.raises(lpn.Error, match="t"):
        pickle.dumps(net)
