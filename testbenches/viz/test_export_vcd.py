"""lpn viz -o run.vcd: read back by a reader of its own, it is what the interpreter's trace says."""

import bisect
import gzip
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict

import pytest
from conftest import BUILD, DEMO, golden_nets, load

JPEG = DEMO / "grad_16x16_q90_420.jpg"

# An instance beside a transition of its name, a place called like another instance's signal.
INSTANCES = """lpn 1
net n.with.dots
type unit ()
type job (size: 0..9)
place in : job start initial (3), (4), (0), (3)
place a.commits : unit capacity 1
place a.b.mid : unit
place a : unit
place out : unit done
transition a {
  take j from in
  delay j.size
  servers 2
  put a.commits
}
transition a.step {
  take m from a.commits
  delay 0
  put a.b.mid
}
transition a_ {
  take m from a.b.mid
  delay 1
  put a
}
transition leave {
  take m from a
  delay 2
  put out
}
end
"""


class Vcd:
    """A dump: signals as {path: [(time, value), ...]}, one entry a change."""

    def __init__(self, text):
        head, body = text.split("$enddefinitions $end", 1)
        scope, self.ids, self.kinds = [], {}, {}
        self.timescale = None
        for tokens in (part.split() for part in head.split("$end")):
            if not tokens:
                continue
            word = tokens[0]
            if word == "$scope":
                scope.append(tokens[2])
                self.kinds[tuple(scope)] = tokens[1]
            elif word == "$upscope":
                scope.pop()
            elif word == "$timescale":
                self.timescale = " ".join(tokens[1:])
            elif word == "$var":
                kind, width, identifier, name = tokens[1:]
                assert kind == "integer" and width in ("32", "64")
                assert identifier not in self.ids, "an identifier is used twice"
                assert re.fullmatch(r"[!-~]+", identifier)
                path = (*scope, name)
                assert path not in self.ids.values(), "two signals of one path"
                self.ids[identifier] = path
            else:
                assert word in ("$comment", "$version"), word
        assert scope == []
        self.signals = defaultdict(list)
        self.end = None
        for line in body.split("\n"):
            if line.startswith("#"):
                time = int(line[1:])
                assert self.end is None or time > self.end, "time must go forward"
                self.end = time
                self.begin = time if not self.signals else self.begin
            elif line.startswith("b"):
                value, identifier = line[1:].split()
                assert value == "0" or value.startswith("1"), "no leading zeros"
                self.signals[self.ids[identifier]].append((self.end, int(value, 2)))
            else:
                assert line in ("", "$dumpvars", "$end"), line
        assert set(self.signals) == set(self.ids.values()), "every signal has a first value"
        for changes in self.signals.values():
            assert changes[0][0] == self.begin
            assert all(a[1] != b[1] for a, b in zip(changes, changes[1:])), "no change that is none"

    def values(self):
        return {path[1:]: changes for path, changes in self.signals.items()}


def read(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as file:
        return Vcd(file.read())


def changes_of(steps, end):
    """[(time, difference)] from 0 as [(time, value)]: values after each instant, changes alone."""
    sums = defaultdict(int)
    for time, difference in steps:
        if time <= end:
            sums[time] += difference
    value, changes = 0, []
    for time in sorted({0, *sums}):
        value += sums[time]
        if not changes or changes[-1][1] != value:
            changes.append((time, value))
    return changes


def expected(net, marking=None, limit=None):
    """What the interpreter's trace says: {(kind, name): [(time, value)]} and the end of the run."""
    import lpn

    marking = lpn.Marking(net) if marking is None else marking
    run = lpn.simulate(net, marking, engine="interp", trace=True, limit=limit)
    core = net._core
    end = run.last_commit if run.until is None else run.until
    first = {p.name: count for p, count in zip(core.places, first_tokens(net, marking))}
    places = {name: [(0, count)] for name, count in first.items()}
    flights = {t.name: [] for t in core.transitions}
    commits = {t.name: [] for t in core.transitions}
    for c in run.trace:
        t = core.transitions[c.transition]
        flights[t.name] += [(c.start, 1), (c.time, -1)]
        commits[t.name].append((c.time, 1))
        for arc, taken in zip(t.inputs, c.taken):
            places[core.places[arc.place].name].append((c.time, -len(taken)))
        for arc, count in zip(t.outputs, c.produced):
            places[core.places[arc.place].name].append((c.time, count))
    answer = {}
    for name, steps in places.items():
        answer["place", name] = changes_of(steps, end)
    for name in flights:
        answer["in_flight", name] = changes_of(flights[name], end)
        answer["commits", name] = changes_of(commits[name], end)
    return answer, end


def first_tokens(net, marking):
    """Tokens per place before time 0, asked of an engine that has not begun."""
    import _lpn

    values = net._core.bind_params([])
    engine = _lpn.Interp(net._core, values, marking._core)
    return [engine.occupancy(k) for k in range(len(net._core.places))]


def named(vcd, net):
    """The dump's signals by what they are of, as in `expected`."""
    answer = {}
    values = vcd.values()
    for p in net._core.places:
        answer["place", p.name] = values.pop(tuple(p.name.split(".")))
    for t in net._core.transitions:
        for what in ("in_flight", "commits"):
            scopes = t.name.split(".")
            answer[what, t.name] = values.pop((*scopes, f"{scopes[-1]}_{what}"))
    assert not values, "signals of nothing"
    return answer


@pytest.mark.parametrize("path", golden_nets(), ids=lambda path: path.stem)
def test_golden_nets(path, tmp_path, lpn_command):
    net = load(path)
    answer = lpn_command(
        "viz", path, "-o", tmp_path / "run.vcd", "--engine", "interp", "--limit", 500, "--json"
    )
    assert answer.status == 0, answer.err
    vcd = read(tmp_path / "run.vcd")
    want, end = expected(net, limit=500)
    assert named(vcd, net) == want
    assert (vcd.begin, vcd.end) == (0, end)
    assert vcd.timescale == "1 ns"


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_jpeg(engine, tmp_path, lpn_command):
    from models.jpeg import model

    import lpn

    answer = lpn_command(
        "viz", "jpeg", JPEG, "-o", tmp_path / "run.vcd.gz", "--engine", engine, "--json"
    ).json
    assert (answer["format"], answer["latency"], answer["ending"]) == ("vcd", 1402, "quiet")
    net = model.net()
    net.done()
    want, end = expected(net, model.workload(str(JPEG), net))
    vcd = read(tmp_path / "run.vcd.gz")
    assert named(vcd, net) == want and vcd.end == end
    assert (
        lpn.simulate(net, model.workload(str(JPEG), net)).commits
        == answer["firings"]
        == sum(
            changes[-1][1] for (what, _), changes in named(vcd, net).items() if what == "commits"
        )
    )


@pytest.mark.parametrize(
    "begin,end", [(0, 0), (0, 700), (321, 321), (322, 900), (1300, None), (1401, 5000)]
)
def test_a_window_is_a_part_of_the_whole(begin, end, tmp_path, lpn_command):
    whole = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "whole.vcd")
    text = f"{begin}:{'' if end is None else end}"
    part = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "part.vcd", "--window", text, "--json")
    assert whole.status == part.status == 0
    assert part.json["window"] == [begin, end]
    all_of_it, cut = read(tmp_path / "whole.vcd"), read(tmp_path / "part.vcd")
    stop = all_of_it.end if end is None else min(end, all_of_it.end)
    for path, changes in all_of_it.signals.items():
        times = [time for time, _ in changes]
        first = bisect.bisect_right(times, begin) - 1
        want = [(begin, changes[first][1])] + [c for c in changes[first + 1 :] if c[0] <= stop]
        assert cut.signals[path] == want, path
    assert (cut.begin, cut.end) == (begin, stop)


def test_instances_are_scopes(tmp_path, lpn_command):
    (tmp_path / "n.lpn").write_text(INSTANCES)
    answer = lpn_command("viz", tmp_path / "n.lpn", "-o", tmp_path / "n.vcd", "--engine", "interp")
    assert answer.status == 0, answer.err
    vcd = read(tmp_path / "n.vcd")
    top = "n_with_dots"
    assert {path: kind for path, kind in vcd.kinds.items() if kind == "module"} == {
        (top,): "module",
        (top, "a"): "module",
        (top, "a", "b"): "module",
    }
    want, _ = expected(load(tmp_path / "n.lpn"))
    assert {path: changes for path, changes in vcd.values().items()} == {
        ("in",): want["place", "in"],
        ("a",): want["place", "a"],
        ("out",): want["place", "out"],
        ("a", "commits"): want["place", "a.commits"],
        ("a", "b", "mid"): want["place", "a.b.mid"],
        ("a", "step", "step_in_flight"): want["in_flight", "a.step"],
        ("a", "step", "step_commits"): want["commits", "a.step"],
        # Not a, where the instance is, nor a_, which is another transition.
        ("a__", "a___in_flight"): want["in_flight", "a"],
        ("a__", "a___commits"): want["commits", "a"],
        ("a_", "a__in_flight"): want["in_flight", "a_"],
        ("a_", "a__commits"): want["commits", "a_"],
        ("leave", "leave_in_flight"): want["in_flight", "leave"],
        ("leave", "leave_commits"): want["commits", "leave"],
    }


def test_gtkwaves_reader_reads_the_same(tmp_path, lpn_command):
    if not shutil.which("vcd2fst") or not shutil.which("fst2vcd"):
        pytest.skip("no vcd2fst: apt-get install gtkwave")
    assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "run.vcd").status == 0
    subprocess.run(
        ["vcd2fst", tmp_path / "run.vcd", tmp_path / "run.fst"], check=True, capture_output=True
    )
    back = subprocess.run(
        ["fst2vcd", tmp_path / "run.fst"], check=True, capture_output=True, text=True
    ).stdout
    ours = read(tmp_path / "run.vcd")
    scopes, ids = [], {}
    for tokens in (part.split() for part in back.split("$enddefinitions")[0].split("$end")):
        if tokens[:1] == ["$scope"]:
            scopes.append(tokens[2])
        elif tokens[:1] == ["$upscope"]:
            scopes.pop()
        elif tokens[:1] == ["$var"]:
            ids[tokens[3]] = (*scopes, tokens[4])
    time, seen = None, defaultdict(list)
    for line in back.split("$enddefinitions")[1].split("\n"):
        if line.startswith("#"):
            time = int(line[1:])
        elif line.startswith("b"):
            value, identifier = line[1:].split()
            changes = seen[ids[identifier]]
            if "x" not in value and (not changes or changes[-1][1] != int(value, 2)):
                changes.append((time, int(value, 2)))
    assert seen == ours.signals


def test_a_limit_and_a_window_beyond_the_run(tmp_path, lpn_command):
    clock = tmp_path / "clock.lpn"
    clock.write_text(
        "lpn 1\nnet clock\ntype unit ()\nplace tick : unit initial 1\ntransition beat {\n"
        "  take t from tick\n  delay 3\n  put tick\n}\nend\n"
    )
    answer = lpn_command(
        "viz", clock, "-o", tmp_path / "c.vcd", "--limit", 10, "--engine", "interp", "--json"
    )
    assert answer.status == 0 and answer.json["ending"] == "limit"
    vcd = read(tmp_path / "c.vcd")
    # The firing that is to commit at 12 is no part of this run.
    assert vcd.end == 10 and vcd.values() == {
        ("tick",): [(0, 1)],
        ("beat", "beat_in_flight"): [(0, 1), (9, 0)],
        ("beat", "beat_commits"): [(0, 0), (3, 1), (6, 2), (9, 3)],
    }
    late = lpn_command(
        "viz",
        clock,
        "-o",
        tmp_path / "d.vcd",
        "--limit",
        10,
        "--window",
        "50:60",
        "--engine",
        "interp",
    )
    assert "cycle 50" in late.refused("E-window") and not (tmp_path / "d.vcd").exists()


@pytest.mark.parametrize(
    "text", ["7", "9:3", "-1:4", "a:b", "1.5:2", ":", "0:99999999999999999999"]
)
def test_what_is_no_window(text, tmp_path, lpn_command):
    answer = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "x.vcd", f"--window={text}")
    if text == ":":
        assert answer.status == 0
    else:
        answer.refused("E-window")


def test_wrong_requests(tmp_path, lpn_command):
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "x.doc").refused("E-usage")
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "x.pnml.gz").refused("E-usage")
    lpn_command("viz", "jpeg", "-o", tmp_path / "x.vcd").refused("E-usage")
    lpn_command("viz", "jpeg", tmp_path / "none.jpg", "-o", tmp_path / "x.vcd").refused("E-input")
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "none" / "x.vcd").refused("E-input")
    for name, options in (
        ("x.vcd", ["--theme", "dark"]),
        ("x.vcd", ["--frames", 5]),
        ("x.svg", ["--window", "1:2"]),
        ("x.svg", ["--width", 500]),
        ("x.png", ["--limit", 7]),
        ("x.gif", ["--engine", "interp"]),
        ("x.html", ["--collapse", "a"]),
        ("x.pnml", ["--credits"]),
        ("x.json", ["--critical-path"]),
    ):
        text = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / name, *options).refused("E-usage")
        assert options[0] in text
    assert list(tmp_path.iterdir()) == []


def cpu_seconds(pid):
    """The processor time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_leaves_what_there_is(tmp_path, environment):
    """A run without an end: its file is whole up to where it was interrupted."""
    import json
    import signal
    import time

    clock = tmp_path / "clock.lpn"
    clock.write_text(
        "lpn 1\nnet clock\ntype unit ()\nplace tick : unit initial 1\ntransition beat {\n"
        "  take t from tick\n  delay 1000\n  put tick\n}\nend\n"
    )
    command = [BUILD / "bin" / "lpn", "viz", clock, "-o", tmp_path / "c.vcd", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        while (
            process.poll() is None and cpu_seconds(process.pid) < 1
        ):  # starting takes a third of that
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    answer = json.loads(out)
    assert answer["ending"] == "interrupted" and answer["firings"] > 0
    with open(tmp_path / "c.vcd", encoding="ascii") as file:
        head = file.read(4000)
    assert "$enddefinitions $end\n#0\n$dumpvars\n" in head
    last = subprocess.run(
        ["tail", "-n", "3", tmp_path / "c.vcd"], check=True, capture_output=True, text=True
    ).stdout
    assert (
        last.endswith("\n") and int(last.rsplit("#", 1)[1].split("\n")[0]) >= answer["last_commit"]
    )


# Jobs that come at their own times, one is there at the start; and one that nobody takes, after the
# last commit.
OPEN = """import lpn


def net():
    net = lpn.Net("open")
    jobs, out = net.place("jobs", start=True), net.place("out", done=True, sink=True)
    net.transition("serve", take={"j": jobs}, put=[out], delay=3, servers=1)
    net.place("late", start=True, sink=True)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for at in (0, 5, 5, 20):
        marking.add("jobs", at=at)
    marking.add("late", at=40)
    return marking
"""


def test_tokens_that_arrive_later_are_there_when_they_arrive(tmp_path, lpn_command):
    """They were all counted at time 0, and those of a waveform never came."""
    (tmp_path / "open.py").write_text(OPEN)
    jobs = [(0, 1), (3, 0), (5, 2), (8, 1), (11, 0), (20, 1), (23, 0)]
    for engine in ("interp", "compiled"):
        for ending in ("vcd", "json"):
            answer = lpn_command(
                "viz",
                tmp_path / "open.py",
                "x",
                "-o",
                tmp_path / f"run.{ending}",
                "--engine",
                engine,
            )
            assert answer.status == 0, answer.err
        events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        for place, levels in (("jobs", jobs), ("late", [(0, 0), (40, 1)])):
            assert read(tmp_path / "run.vcd").values()[place,] == levels
            assert [
                (e["ts"], e["args"]["tokens"])
                for e in events
                if e["ph"] == "C" and e["name"] == place
            ] == levels
    for window, part in (("6:21", [(6, 2), (8, 1), (11, 0), (20, 1)]), ("12:19", [(12, 0)])):
        lpn_command("viz", tmp_path / "open.py", "x", "-o", tmp_path / "w.vcd", "--window", window)
        assert read(tmp_path / "w.vcd").values()["jobs",] == part
    # Of a net without time all are there: PNML has no other place for them.
    lpn_command("viz", tmp_path / "open.py", "x", "-o", tmp_path / "net.pnml")
    assert re.search(r"<initialMarking>\s*<text>4</text>", (tmp_path / "net.pnml").read_text())
