"""lpn.simulate: the engines from Python."""

import os
import signal
import sys
import threading
import time

import pytest
from conftest import BUILD

sys.path.insert(0, str(BUILD / "python"))
lpn = pytest.importorskip("lpn")

from lpn.runs import engines  # noqa: E402
from lpn.runs.engines import compiled  # noqa: E402


@pytest.fixture(autouse=True)
def cache(environment, monkeypatch):
    monkeypatch.setenv("LPN_CACHE", environment["LPN_CACHE"])
    monkeypatch.delenv("LPN_ENGINE", raising=False)


class Job(lpn.Token):
    size: lpn.Int[0, 10_000_000]


def line():
    net = lpn.Net("line")
    jobs = net.place("jobs", Job, start=True)
    mid = net.place("mid", Job, capacity=2)
    out = net.place("out", done=True)
    net.transition("first", take={"j": jobs}, put=[mid.forward("j")], delay=1, servers=1)
    net.transition("second", take={"j": mid}, put=[out.emit()], delay=lambda j: j.size, servers=1)
    return net


def counter(period=1):
    net = lpn.Net("counter")
    tick = net.place("tick", init=1)
    net.transition("beat", take={"t": tick}, put=[tick.emit()], delay=period)
    return net


def marked(net, *sizes):
    marking = lpn.Marking(net)
    marking.add_rows("jobs", [[size] for size in sizes])
    return marking


def test_engines_agree_commit_for_commit():
    net = line()
    runs = [
        lpn.simulate(net, marked(net, 5, 7, 3), engine=engine, trace=True, stats=True)
        for engine in ("compiled", "interp")
    ]
    assert [run.engine for run in runs] == ["compiled", "interp"]
    assert runs[0].latency == runs[1].latency == 16
    assert runs[0].trace == runs[1].trace and len(runs[0].trace) == 6
    assert runs[0].stats == runs[1].stats


def test_short_runs_are_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("LPN_CACHE", str(tmp_path / "unused"))
    net = line()
    assert lpn.simulate(net, marked(net, 5, 7, 3)).engine == "interp"
    assert not (tmp_path / "unused").exists()


def test_long_runs_are_compiled():
    many = 100_000_000  # the interpreter would take half a minute
    run = lpn.simulate(counter(), limit=many)
    assert run.engine == "compiled"
    assert (run.ending, run.until, run.commits) == ("limit", many, many)


def test_long_runs_without_a_compiler_are_interpreted(tmp_path, monkeypatch):
    monkeypatch.setenv("LPN_CXX", "/nonexistent/c++")
    monkeypatch.setenv("LPN_CACHE", str(tmp_path / "empty"))
    assert lpn.simulate(counter(), limit=1_000_000).engine == "interp"
    with pytest.raises(lpn.Error) as error:
        lpn.simulate(counter(), limit=10, engine="compiled")
    assert error.value.code == "E-no-compiler" and "g++" in str(error.value)


def test_a_net_is_looked_up_once(monkeypatch):
    asked = []

    def counted(*arguments, **kept):
        asked.append(kept)
        return compiled(*arguments, **kept)

    monkeypatch.setattr(engines, "compiled", counted)
    net = line()
    for sizes in ((5, 7, 3), (4,)):
        run = lpn.simulate(net, marked(net, *sizes), engine="compiled")
        assert run.engine == "compiled" and run.done_tokens == len(sizes)
    assert lpn.run_batch(net, [marked(net, 5, 7, 3)] * 2)[1].latency == 16
    assert len(asked) == 1
    lpn.simulate(net, marked(net, 1), engine="compiled", stats=True)
    assert len(asked) == 2 and asked[1]["stats"]
    # Another net, since it is changed.
    slow = net.place("slow", init=1)
    net.transition("late", take={"t": slow}, put=[net.place("end", done=True)], delay=99)
    assert lpn.simulate(net, marked(net, 5, 7, 3), engine="compiled").latency == 99
    assert len(asked) == 3
    monkeypatch.setenv("LPN_NO_COMPILE", "1")
    with pytest.raises(lpn.Error) as refused:
        lpn.simulate(net, marked(net, 1), engine="compiled")
    assert refused.value.code == "E-never-compile"


def test_the_variable_sets_the_default(monkeypatch):
    monkeypatch.setenv("LPN_ENGINE", "compiled")
    net = line()
    assert lpn.simulate(net, marked(net, 1)).engine == "compiled"
    monkeypatch.setenv("LPN_ENGINE", "fast")
    with pytest.raises(lpn.Error, match="no engine 'fast'"):
        lpn.simulate(net, marked(net, 1))


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_a_function_sees_each_commit_once(engine):
    net = line()
    seen = []
    run = lpn.simulate(
        net,
        marked(net, 5, 7, 3),
        engine=engine,
        trace=lambda c: seen.append((c.time, c.transition)),
    )
    assert run.trace is None
    assert seen == [(1, 0), (2, 0), (6, 1), (7, 0), (13, 1), (16, 1)]


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_an_exception_of_the_function_comes_out(engine):
    net = line()
    seen = []

    def fail(commit):
        seen.append(commit.time)
        if commit.time == 6:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        lpn.simulate(net, marked(net, 5, 7, 3), engine=engine, trace=fail)
    assert seen == [1, 2, 6]


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_errors_of_a_run(engine):
    net = lpn.Net("neg")
    jobs = net.place("jobs", Job, start=True)
    net.transition("work", take={"j": jobs}, delay=lambda j: 5 - j.size, servers=1)
    with pytest.raises(lpn.RunError) as error:
        lpn.simulate(net, marked(net, 3, 9), engine=engine)
    assert error.value.code == "E-negative-delay" and error.value.time == 2
    assert "size=9" in str(error.value)


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_ctrl_c_raises_with_the_run_so_far(engine):
    lpn.simulate(counter(), limit=10, engine=engine)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with (
        pytest.raises(KeyboardInterrupt) as stop,
        pytest.warns(
            RuntimeWarning, match="'beat' goes on for ever by itself.*write limit=T"
        ) as said,
    ):
        lpn.simulate(counter(), engine=engine)
    assert [warning.filename for warning in said] == [__file__]
    assert time.monotonic() - begin < 60
    run = stop.value.run
    assert run.ending == "interrupted" and run.until == run.commits > 1000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_run_meanwhile():
    lpn.simulate(counter(), limit=10, engine="compiled")
    ticks = 0
    done = threading.Event()

    def simulate():
        lpn.simulate(counter(), limit=20_000_000, engine="compiled")
        done.set()

    thread = threading.Thread(target=simulate)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 5


def test_many_simulators_at_once():
    net = line()
    markings = [marked(net, *range(k, k + 50)) for k in range(8)]
    expected = [lpn.simulate(net, m, engine="interp").latency for m in markings]
    found = [None] * len(markings)

    def work(k):
        found[k] = lpn.simulate(net, markings[k], engine="compiled").latency

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(markings))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("limit", [-1, 1.5, "10", 2**63])
def test_limits_are_times(limit):
    net = line()
    with pytest.raises(lpn.Error, match="limit must be a time in cycles"):
        lpn.simulate(net, marked(net, 1), limit=limit)


def test_sparse_time_costs_nothing():
    # Slices of time must not be many when nothing happens for long.
    begin = time.monotonic()
    run = lpn.simulate(counter(2**40), limit=2**50, engine="interp")
    assert run.commits == 1024 and time.monotonic() - begin < 20  # a slice per cycle: hours
