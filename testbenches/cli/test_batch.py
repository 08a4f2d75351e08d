"""lpn.run_batch against runs one by one, and lpn sim --explain."""

import os
import signal
import threading

import lpn
import pytest


class Item(lpn.Token):
    size: lpn.Int[0, 255]


def pipeline(slots=2):
    """Two stages and a buffer; every weight is constant, so batches go in lock step."""
    net = lpn.Net("pipeline")
    extra = net.param("extra", 1)
    queue = net.place("queue", Item, start=True)
    buffer = net.place("buffer", Item, capacity=slots)
    out = net.place("out", done=True)
    net.transition(
        "read",
        take={"item": queue},
        put=[buffer.forward("item")],
        servers=1,
        delay=lambda item: 1 + item.size % 7,
    )
    net.transition(
        "work",
        take={"item": buffer},
        put=[out],
        servers=1,
        delay=lambda item: extra + item.size // 4,
    )
    return net


def marking_of(net, count, step=37):
    marking = lpn.Marking(net)
    for k in range(count):
        marking.add("queue", size=k * step % 256)
    return marking


def key(run):
    return (
        run.latency,
        run.last_commit,
        run.commits,
        run.done_tokens,
        run.ending,
        run.stalled,
        run.left,
    )


def test_many_markings():
    net = pipeline()
    markings = [
        marking_of(net, count, count | 1)
        for count in (0, 1, 2, 3, 50, 51, 64, 500, 7, 9, 11, 13) * 3
    ]
    runs = lpn.run_batch(net, markings, threads=2)
    assert [key(run) for run in runs] == [
        key(lpn.simulate(net, m, engine="interp")) for m in markings
    ]
    assert all(run.seconds >= 0 for run in runs)


def test_many_parameters():
    net = pipeline()
    marking = marking_of(net, 200)
    values = [{"extra": k} for k in range(40)]
    runs = lpn.run_batch(net, marking, values)
    assert [key(run) for run in runs] == [
        key(lpn.simulate(net, marking, p, engine="interp")) for p in values
    ]
    assert len({run.latency for run in runs}) > 20


def test_stalled_and_failing_runs_are_told_apart():
    net = lpn.Net("odd")
    start = net.place("start", Item, start=True)
    done = net.place("done", done=True)
    divisor = net.param("divisor", 1)
    net.transition(
        "t",
        take={"item": start.take(guard=lambda item: item.size < 9)},
        put=[done],
        servers=1,
        delay=lambda item: 100 // (item.size - divisor + 1),
    )
    markings = []
    for size in (3, 200, 0, 5):
        markings.append(lpn.Marking(net))
        markings[-1].add("start", size=size)
    ran, stalled, failed, last = lpn.run_batch(net, markings, errors="return")
    assert ran.latency == 33 and last.latency == 20
    assert stalled.stalled and stalled.left == {"start": 1} and stalled.blocked[0][1] == "guard"
    assert isinstance(failed, lpn.RunError) and failed.code == "E-divisor" and failed.index == 2
    with pytest.raises(lpn.RunError) as caught:
        lpn.run_batch(net, markings)
    assert caught.value.index == 2


@pytest.mark.parametrize("markings, params", [(0, None), (2, [{}] * 3)])
def test_numbers_that_do_not_fit(markings, params):
    net = pipeline()
    with pytest.raises(lpn.Error) as caught:
        lpn.run_batch(net, [marking_of(net, 1)] * markings, params)
    assert caught.value.code == "E-operand"


def test_a_foreign_marking():
    with pytest.raises(lpn.Error) as caught:
        lpn.run_batch(pipeline(), marking_of(pipeline(), 1))
    assert caught.value.code == "E-foreign"


MODEL = '''"""Units that take jobs."""

import lpn


def net(*, rivals=False, choice=False):
    net = lpn.Net("units")
    jobs = net.place("jobs", init=6)
    made = [net.place(f"made_{k}") for k in range(2)]
    done = net.place("done", done=True)
    net.transition("first", take=jobs, put=[made[0].emit(%s)], delay=2, servers=1)
    net.transition("second", take=made[0], put=[made[1]], delay=3, servers=1)
    net.transition("last", take=made[1], put=[done], delay=1, servers=1)
    if rivals:
        net.transition("rival", take=made[1], put=[done], delay=2, servers=1)
    return net
'''


def ways(lpn, file, *args):
    answer = lpn("sim", file, "--explain", "--json", *args)
    assert answer.status == 0
    return answer.json["runs"], {
        t["transition"]: (t["way"], t["why_not"]) for t in answer.json["transitions"]
    }


def test_explain(lpn, tmp_path):
    file = tmp_path / "units.py"
    file.write_text(MODEL % "1")
    runs, each = ways(lpn, file, "-p", "rivals=1")
    assert runs == "mixed"
    assert each["first"][0] == each["second"][0] == "order-free"
    assert each["last"] == ("events", "competes with 'rival' for the tokens of place 'made_1'")
    answer = lpn("sim", file, "--explain")
    assert "3 transitions: 3 " in answer.out and "not faster" in answer.out


def test_explained_runs_agree(lpn, tmp_path):
    file = tmp_path / "units.py"
    file.write_text(MODEL % "1")
    answer = lpn("sim", file, "-p", "rivals=1", "--json")
    defined = lpn("sim", file, "-p", "rivals=1", "--engine", "interp", "--json")
    same = ("latency", "firings", "last_commit", "done_tokens", "stalled")
    assert [answer.json["runs"][0][k] for k in same] == [defined.json["runs"][0][k] for k in same]


def test_batch_keeps_tokens_that_are_asked_for():
    net = pipeline()
    marking = marking_of(net, 5)
    runs = lpn.run_batch(net, marking, [{"extra": 1}, {"extra": 9}], read=["out", "buffer"])
    assert [run.tokens for run in runs] == [{"out": 5, "buffer": []}] * 2
    assert lpn.run_batch(net, marking)[0].tokens == {}
    with pytest.raises(lpn.Error, match="has no place 'nothing'"):
        lpn.run_batch(net, marking, read=["nothing"])


def endless():
    """A timer that never stops."""
    net = lpn.Net("endless")
    ticks = net.place("ticks")
    net.transition("tick", put=[ticks], delay=1, servers=1)
    net.transition("eat", take={"t": ticks}, delay=1, servers=1)
    return net


@pytest.mark.parametrize("budget", [{"max_tokens": 20}, {"max_groups": 1}, {"max_memory": 4096}])
def test_a_budget_stops_what_needs_more_and_no_other(budget):
    """As run by run, in lock step too: 40 inputs, some of which have more tokens than allowed."""
    net = pipeline()
    markings = [marking_of(net, 1 + 7 * (k % 5)) for k in range(40)]
    found = lpn.run_batch(net, markings, **budget)
    for marking, run in zip(markings, found):
        alone = lpn.simulate(net, marking, engine="compiled", **budget)
        assert (run.ending, run.stopped) == (alone.ending, alone.stopped)
        assert run.ending == "budget" or run.latency == alone.latency
    if "max_tokens" in budget:
        assert [run.ending for run in found[:5]] == ["quiet"] * 3 + ["budget"] * 2
        assert found[3].stopped["text"] == (
            "stopped at time 0: limit of 20 tokens at the start reached"
        )


def test_an_endless_run_has_a_budget_of_time():
    net = endless()
    for run in lpn.run_batch(net, [lpn.Marking(net)] * 2, max_time=0.2):
        assert run.ending == "budget" and run.stopped["reason"] == "time" and run.until > 1000
        assert run.stopped["text"].endswith("time limit of 0.2 s reached")


def beside_a_timer():
    """Jobs in lock step, and a timer that runs for ever where it has its token."""
    net = lpn.Net("timed")
    jobs, ticks = net.place("jobs", start=True), net.place("ticks", start=True)
    net.transition("work", take=[jobs], put=[net.place("done", done=True)], delay=3, servers=1)
    net.transition("tick", take=[ticks], put=[ticks], delay=7)
    return net


@pytest.mark.parametrize("pattern", ["0100", "1" + 19 * "0", 10 * "0" + "1" + 9 * "0"])
def test_an_endless_run_in_lock_step_is_stopped_alone(pattern):
    net = beside_a_timer()
    markings = []
    for endless in pattern:
        markings.append(lpn.Marking(net))
        markings[-1].add("jobs")
        if endless == "1":
            markings[-1].add("ticks")
    runs = lpn.run_batch(net, markings, max_time=1, threads=1)
    assert [run.ending for run in runs] == [
        "budget" if endless == "1" else "quiet" for endless in pattern
    ]
    assert [run.latency for run in runs] == [None if endless == "1" else 3 for endless in pattern]


def test_an_interrupt_ends_a_batch_of_endless_runs_in_lock_step():
    net = beside_a_timer()
    marking = lpn.Marking(net)
    marking.add("ticks")
    lpn.run_batch(net, [lpn.Marking(net)] * 2)  # compiles
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        lpn.run_batch(net, [marking] * 4, max_time=60)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_end_at_the_limit(threads):
    net = lpn.Net("clock")
    tick, out = net.place("tick", init=1), net.place("out", done=True)
    net.transition(
        "beat", take={"t": tick}, put=[tick, out], delay=net.param("every", 10), servers=1
    )
    runs = lpn.run_batch(
        net, lpn.Marking(net), [{"every": n} for n in (10, 7, 200)], limit=100, threads=threads
    )
    assert [(run.ending, run.until, run.latency) for run in runs] == [
        ("limit", 100, 100),
        ("limit", 100, 98),
        ("limit", 100, None),
    ]
    alone = [
        lpn.simulate(net, params={"every": n}, limit=100, engine="interp") for n in (10, 7, 200)
    ]
    assert [(run.commits, run.latency) for run in runs] == [
        (run.commits, run.latency) for run in alone
    ]


def test_a_limit_is_a_time():
    net = pipeline()
    with pytest.raises(lpn.Error) as refused:
        lpn.run_batch(net, marking_of(net, 1), limit=-1)
    assert (refused.value.code, str(refused.value).splitlines()[0]) == (
        "E-operand",
        "limit must be a time in cycles, an int >= 0, got -1",
    )


def test_a_budget_that_is_none_is_refused():
    net = pipeline()
    with pytest.raises(lpn.Error) as refused:
        lpn.run_batch(net, marking_of(net, 1), max_time=-1)
    assert refused.value.code == "E-operand" and "max_time must be seconds" in str(refused.value)
