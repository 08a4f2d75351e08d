"""The critical path from Python and on the command line."""

import sys

import pytest
from conftest import BUILD

sys.path.insert(0, str(BUILD / "python"))
lpn = pytest.importorskip("lpn")
grouped = pytest.importorskip("lpn.words").grouped


class Job(lpn.Token):
    size: lpn.Int[0, 1_000]


@pytest.fixture(autouse=True)
def cache(environment, monkeypatch):
    monkeypatch.setenv("LPN_CACHE", environment["LPN_CACHE"])
    monkeypatch.delenv("LPN_ENGINE", raising=False)


def line():
    """Ten jobs: 2 cycles to fetch, `size` to do, 3 to write, each one at a time."""
    net = lpn.Net("line")
    jobs = net.place("jobs", Job, start=True)
    fetched = net.place("fetched", Job)
    done = net.place("done_jobs")
    out = net.place("out", done=True, sink=True)
    net.transition("fetch", take={"j": jobs}, put=[fetched.forward("j")], delay=2, servers=1)
    net.transition(
        "work", take={"j": fetched}, put=[done.emit()], delay=lambda j: j.size, servers=1
    )
    net.transition("write", take={"d": done}, put=[out.emit()], delay=3, servers=1)
    return net


def jobs(net, sizes):
    marking = lpn.Marking(net)
    for size in sizes:
        marking.add("jobs", size=size)
    return marking


def by_name(path):
    return {(row["transition"], row["what"]): row for row in path["rows"]}


def test_the_slow_unit_is_named():
    net = line()
    run = lpn.simulate(net, jobs(net, [10] * 10), path=True)
    # 2 to fetch the first, ten times 10, 3 to write the last.
    assert run.latency == 105 == run.path["latency"]
    rows = by_name(run.path)
    assert {name: (row["count"], row["cycles"]) for name, row in rows.items()} == {
        ("work", "delay"): (10, 100),
        ("write", "delay"): (1, 3),
        ("fetch", "delay"): (1, 2),
    }
    assert run.path["rows"][0]["transition"] == "work"
    # Nine of its ten firings wait for its server; a what-if run with half the delays: 5 * 10 + 5.
    assert run.path["bottleneck"] == {
        "transition": "work",
        "share": round(100 / 105, 6),
        "timer": False,
        "waits": {"for": None, "cause": 2, "share": 0.9},
        "twice_as_fast": 55,
        "text": "'work' decides 95% of the latency; it waits for its own server in 90% of its firings there; twice as "
        "fast, the latency is 55 (-47.6%)",
    }


def test_what_is_gained_is_a_run_with_half_the_delay():
    net = line()
    run = lpn.simulate(net, jobs(net, [10] * 10), path=True)
    rows = by_name(run.path)
    assert rows["work", "delay"]["gain"] == 105 - (2 + 10 * 5 + 3)
    assert rows["write", "delay"]["gain"] == 105 - (2 + 100 + 2)  # 3 / 2, rounded up
    assert rows["fetch", "delay"]["gain"] == 1


def test_so_many_are_asked_for():
    net = line()
    run = lpn.simulate(net, jobs(net, [10] * 10), path=1)
    assert [("gain" in row) for row in run.path["rows"]] == [True, False, False]
    run = lpn.simulate(net, jobs(net, [10] * 10), path=0)
    assert not any("gain" in row for row in run.path["rows"])


def test_waits_that_are_no_firing_have_rows():
    net = lpn.Net("paced")
    jobs_, out = net.place("jobs", start=True), net.place("out", done=True, sink=True)
    net.transition("go", take={"j": jobs_}, put=[out.emit()], delay=1, interval=7)
    marking = lpn.Marking(net)
    marking.add("jobs", count=5)
    run = lpn.simulate(net, marking, path=True)
    assert run.latency == 29
    rows = by_name(run.path)
    assert rows["go", "interval"]["cycles"] == 28
    assert rows["go", "delay"]["cycles"] == 1


def test_an_interval_is_of_its_transition():
    """It was left out: 'go' decided 3 % of a run of which it decides all."""
    net = lpn.Net("paced")
    jobs_, out = net.place("jobs", start=True), net.place("out", done=True, sink=True)
    net.transition("go", take={"j": jobs_}, put=[out.emit()], delay=1, interval=7)
    marking = lpn.Marking(net)
    marking.add("jobs", count=5)
    bottleneck = lpn.simulate(net, marking, path=True).path["bottleneck"]
    assert (
        bottleneck["text"]
        == "'go' decides 100% of the latency; it waits for its interval to pass; twice as "
        "fast, the latency is 17 (-41.4%)"
    )
    assert bottleneck["timer"] is False


def test_beside_a_timer_the_one_that_gains_most_is_named():
    """A refresh that takes the bus now and then: the last one decides when the last line is written."""
    net = lpn.Net("camera")
    sensor, raw = net.place("sensor", start=True), net.place("raw", capacity=1)
    written, bus = net.place("written", done=True, sink=True), net.place("bus", init=1, sink=True)
    net.transition("read", take={"line": sensor}, put=[raw.emit()], delay=640, servers=1)
    net.transition("write", take={"line": raw, "bus": bus}, put=[written, bus], delay=360)
    net.transition("refresh", take={"bus": bus}, put=[bus], delay=2400, interval=6000)
    net.done_count = 20
    marking = lpn.Marking(net)
    marking.add("sensor", count=20)
    run = lpn.simulate(net, marking, path=True)
    found = run.path["bottleneck"]
    assert found["transition"] == "refresh" and found["timer"] is True
    gains = {
        r["transition"]: r["gain"]
        for r in run.path["rows"]
        if r["what"] == "delay" and r.get("gain")
    }
    best = max((name for name in gains if name != "refresh"), key=gains.get)
    less = -gains[best] / run.latency
    faster = f"{run.latency - gains[best]:,}".replace(",", " ")
    assert found["text"] == (
        f"'refresh' decides {found['share']:.0%} of the latency; it is a timer, which goes on with work or "
        f"without; of the others '{best}' gains most: twice as fast, the latency is {faster} ({less:+.1%})"
    )


def test_an_event_driven_net_has_one_too():
    net = lpn.Net("shared")
    a, b, bus = net.place("a", start=True), net.place("b", start=True), net.place("bus", init=1)
    out = net.place("out", done=True, sink=True)
    net.transition("first", take={"x": a, "bus": bus}, put=[out.emit(), bus.emit()], delay=5)
    net.transition("second", take={"x": b, "bus": bus}, put=[out.emit(), bus.emit()], delay=3)
    marking = lpn.Marking(net)
    marking.add("a", count=4)
    marking.add("b", count=4)
    run = lpn.simulate(net, marking, path=True)
    assert run.latency == 32
    rows = by_name(run.path)
    assert rows["first", "delay"]["cycles"] == 20 and rows["second", "delay"]["cycles"] == 12
    assert rows["first", "delay"]["gain"] == 4 * 2  # 5 / 2, rounded up


def test_statistics_and_trace_beside_it():
    net = line()
    run = lpn.simulate(net, jobs(net, [10] * 3), path=True, stats=True, trace=True)
    assert run.path["latency"] == run.latency
    assert run.stats["transitions"]["work"]["busy"] == 30
    assert len(run.trace) == run.commits


def test_memory_is_bounded():
    net = line()
    marking = jobs(net, [1] * 20_000)
    # 20,000 jobs wait between fetch and work, each with a past of its own.
    whole = lpn.simulate(net, marking, path=0)
    assert sum(row["cycles"] for row in whole.path["rows"]) == whole.latency
    with pytest.raises(lpn.Error) as caught:
        lpn.simulate(net, marking, path=0, path_memory=100_000)
    assert caught.value.code == "E-path-memory"
    assert str(caught.value) == (
        "the critical path of net 'line' needs more memory than it may use: the tokens alive at one time have too "
        "many different pasts; allow more (--path-memory, path_memory=)"
    )


def test_the_engines_agree():
    net = line()
    runs = [
        lpn.simulate(net, jobs(net, [5, 1, 9]), path=True, engine=engine)
        for engine in ("interp", "compiled")
    ]
    assert runs[0].path == runs[1].path and runs[0].steps == runs[1].steps
    assert [run.engine for run in runs] == ["interp", "compiled"]


def test_command_line(run, nets, marking):
    tokens = marking("jobs.json", {"in": [[5], [7], [9]]})
    row = run("lpn", "sim", nets / "line.lpn", tokens, "--critical-path", "--json").json["runs"][0]
    path = row["critical_path"]
    assert path["latency"] == row["latency"]
    assert sum(entry["cycles"] for entry in path["rows"]) == row["latency"]
    assert any("gain" in entry for entry in path["rows"])
    shown = run("lpn", "sim", nets / "line.lpn", tokens, "--critical-path").out
    assert "the critical path" in shown and "twice as fast gains" in shown


def test_path_beside_statistics_and_by_the_interpreter(run, nets, marking):
    tokens = marking("jobs.json", {"in": [[5]]})
    asked = ("sim", nets / "line.lpn", tokens, "--critical-path", "--json")
    rows = [run("lpn", *asked, "--engine", "compiled").json["runs"][0]]
    for other in (["--engine", "interp"], ["--stats"], ["--stats", "--engine", "compiled"]):
        rows.append(run("lpn", *asked, *other).json["runs"][0])
        assert rows[-1]["critical_path"] == rows[0]["critical_path"], other
    assert rows[2]["stats"] == rows[3]["stats"]


def test_an_interval_that_holds_nothing_back_is_not_on_the_path():
    """A pipeline behind a slow unit, event-driven for its free count: its starts wait for tokens."""
    net = lpn.Net("paced")
    jobs, ready = net.place("jobs", start=True), net.place("ready")
    done = net.place("out", done=True, sink=True)
    net.transition("slow", take={"j": jobs}, put=[ready], delay=80, servers=1)
    net.transition(
        "quick",
        take={"r": ready, "o": done.watch(guard=lambda o: o.free < 100)},
        put=[done],
        delay=5,
        interval=2,
    )
    marking = lpn.Marking(net)
    marking.add("jobs", count=10)
    run = lpn.simulate(net, marking, path=True)
    assert run.latency == 805
    rows = by_name(run.path)
    assert {name: (row["count"], row["cycles"]) for name, row in rows.items()} == {
        ("slow", "delay"): (10, 800),
        ("quick", "delay"): (1, 5),
    }


def test_an_interval_that_holds_starts_back_is_on_the_path():
    net = lpn.Net("paced")
    jobs, done = net.place("jobs", start=True), net.place("out", done=True, sink=True)
    net.transition(
        "quick",
        take={"j": jobs, "o": done.watch(guard=lambda o: o.free < 100)},
        put=[done],
        delay=5,
        interval=2,
    )
    marking = lpn.Marking(net)
    marking.add("jobs", count=10)
    rows = by_name(lpn.simulate(net, marking, path=True).path)
    assert {name: (row["count"], row["cycles"]) for name, row in rows.items()} == {
        ("quick", "interval"): (9, 18),
        ("quick", "delay"): (1, 5),
    }


def test_a_path_is_summed_up_by_parts(tmp_path):
    """Of 'bus.copy' the part is 'bus'; what passes in timers is told."""
    net = lpn.Net("parts")
    jobs_, sent = net.place("jobs", start=True), net.place("sent")
    wire, done = net.place("wire", init=1, sink=True), net.place("done", done=True, sink=True)
    net.transition("cpu.work", take={"j": jobs_}, put=[sent.emit()], delay=5, servers=1)
    net.transition("bus.copy", take={"s": sent, "w": wire}, put=[done.emit(), wire], delay=20)
    net.transition("bus.refresh", take={"w": wire}, put=[wire], delay=30, interval=200)
    net.done_count = 12
    marking = lpn.Marking(net)
    marking.add("jobs", count=12)
    path = lpn.simulate(net, marking, path=True).path
    parts = {part["part"]: part for part in path["parts"]}
    assert sum(part["cycles"] for part in path["parts"]) == path["latency"]
    assert list(parts)[0] == "bus"
    rows = [r for r in path["rows"] if r["transition"] == "bus.refresh"]
    assert parts["bus"]["timers"] == sum(r["cycles"] for r in rows) > 0


def test_people_see_the_parts_and_not_the_longest_tail(tmp_path, run):
    """A chain of 40 units in two parts."""
    lines = ["import lpn", "", "", "def net():", '    net = lpn.Net("chain")']
    lines += ['    last = net.place("jobs", start=True)']
    for k in range(40):
        part, end = ("front", "back")[k // 20], "done=True" if k == 39 else ""
        lines += [f'    here = net.place("p{k}", {end})']
        lines += [
            f'    net.transition("{part}.u{k}", take={{"t": last}}, put=[here], delay={k + 1})'
        ]
        lines += ["    last = here"]
    lines += ["    return net", "", "", "def workload(input, net):"]
    lines += ["    marking = lpn.Marking(net)", '    marking.add("jobs")', "    return marking", ""]
    (tmp_path / "chain.py").write_text("\n".join(lines))
    (tmp_path / "in").write_text("")
    how = ["sim", str(tmp_path / "chain.py"), str(tmp_path / "in"), "--critical-path", "--top", "0"]
    out = run("lpn", *how).out
    assert "and 20 rows more, 25.6% together; --json has all" in out
    assert out.index("back.u39") < out.index("back.u20") and "front.u19" not in out
    after = out[out.index("part ") :].split()
    assert after[-6:] == ["back", "610", "74.4%", "front", "210", "25.6%"]


def _long(net, count):
    marking = lpn.Marking(net)
    for k in range(count):
        marking.add("jobs", size=1 + k % 7)
    return marking


def test_the_interpreter_tells_a_long_path_firing_by_firing():
    """Of a path longer than some thousand firings it told the last ones alone."""
    net = line()
    run = lpn.simulate(net, _long(net, 9_000), path=0, engine="interp")
    rows = by_name(run.path)
    assert len(run.steps) == sum(
        rows[name, "delay"]["count"] for name in ("fetch", "work", "write")
    )
    assert "firings there" not in run.path["bottleneck"]["text"].replace("of its firings there", "")


def test_what_is_known_of_the_last_firings_alone_says_so():
    """The waits of the last firings were told as if they were those of all."""
    net = line()
    run = lpn.simulate(net, _long(net, 50_000), path=0, engine="compiled")
    told = sum(step[0] == 1 for step in run.steps)  # of 'work'
    assert told < by_name(run.path)["work", "delay"]["count"]
    assert f"it waits for its own server in its last {grouped(told)} firings there" in (
        run.path["bottleneck"]["text"]
    )
