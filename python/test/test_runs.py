"""runs: all that a run takes, prepared, and the engines."""

import os
import re
import signal
import sys
import time

import _lpn
import lpn
import pytest
from lpn.errors import describe
from lpn.runs import ENGINES, compiled, execute, fields_of, isolated, prepare
from lpn.runs.engines import check_engine, library_of, name_of


def test_prepare_by_name(pipe):
    ready = prepare(pipe, "5", {"work": 4, "lanes": 2})
    assert ready.parameters == {"slots": 2, "work": 4} and ready.values == [2, 4]
    assert ready.marking.count("words") == 5 and ready.library is None
    run = ready.run()
    assert run.engine == "interp" and run.done_tokens == 5
    assert run.latency == lpn.simulate(ready.net, ready.marking, {"work": 4}).latency


def test_another_input_shares_the_library(pipe):
    first = prepare(pipe, engine="compiled")
    second = first.on("7")
    assert second.library is first.library is not None and second.fallback is None
    assert second.net is first.net and second.run().done_tokens == 7
    assert first.marking.count("words") == 0


def test_a_refused_input(pipe):
    ready = prepare(pipe, "many")
    with pytest.raises(ValueError, match="many"):
        ready.marking
    with pytest.raises(lpn.Error, match="many: invalid literal") as caught:
        ready.read()
    assert caught.value.code == "E-input"


def test_a_refused_input_is_named_with_the_file_that_it_names(pipe, tmp_path):
    """Of a file that another names only "No such file" was said, as if of the other."""
    outer, inner = tmp_path / "outer.json", tmp_path / "none.bin"
    outer.write_text('{"program": "none.bin"}')
    with pytest.raises(lpn.Error) as caught:
        prepare("vta", str(outer)).read()
    assert str(caught.value) == f"{outer}: {inner}: No such file or directory"
    with pytest.raises(lpn.Error) as caught:
        prepare("vta", str(inner)).read()
    assert str(caught.value) == f"{inner}: No such file or directory"


def test_prepare_a_net_or_a_marking():
    net = lpn.Net("n")
    place = net.place("p", start=True)
    net.transition("t", take={"a": place}, put=[net.place("q", done=True)], delay=3)
    marking = lpn.Marking(net)
    marking.add("p", count=2)
    assert prepare(net, marking).run().latency == 3


def test_every_run_ends_with_its_last_arrival():
    """That of run_batch ended with its last commit."""
    net = lpn.Net("n")
    place, more = net.place("p", start=True), net.place("more", start=True)
    net.transition("t", take={"a": place}, put=[net.place("q", done=True)], delay=3)
    net.transition("u", take={"a": place, "b": more}, put=[])
    marking = lpn.Marking(net)
    marking.add("p")
    marking.add("more", at=50)
    for engine in ("interp", "compiled"):
        assert lpn.simulate(net, marking, engine=engine).end == 50
    (run,) = lpn.run_batch(net, marking)
    assert run.end == 50 and run.last_commit == 3


def test_a_net_keeps_its_parameters(pipe):
    net = lpn.load(pipe).net(work=9)
    marking = lpn.Marking(net)
    marking.add("words")
    mine = lpn.simulate(net, marking).latency
    assert prepare(net, marking).run().latency == mine
    assert prepare(net, marking, {"work": 2}).run().latency == mine - 7
    assert lpn.simulate(net, marking).latency == mine
    with pytest.raises(lpn.Error, match="no parameter 'wrok'"):
        prepare(net, marking, {"wrok": 2})
    with pytest.raises(lpn.Error, match="a run needs a net, a model or the name of one, got 3"):
        prepare(3)


def test_a_model_with_a_net_per_input(tmp_path):
    path = tmp_path / "shaped.py"
    path.write_text(
        "import lpn\n"
        "def net(stages=1):\n"
        "    net = lpn.Net('shaped')\n"
        "    at = net.place('p0', start=True)\n"
        "    for k in range(stages):\n"
        "        to = net.place(f'p{k + 1}', done=k + 1 == stages)\n"
        "        net.transition(f't{k}', take={'a': at}, put=[to], delay=2)\n"
        "        at = to\n"
        "    return net\n"
        "def net_of(input):\n"
        "    return net(int(input))\n"
        "def workload(input, net):\n"
        "    marking = lpn.Marking(net)\n"
        "    marking.add('p0', count=1)\n"
        "    return marking\n"
    )
    ready = prepare(str(path), "3")
    assert [ready.on(n).run().latency for n in ("3", "5")] == [6, 10]
    assert ready.on("3").net is ready.net


def test_engines(pipe, monkeypatch):
    assert list(ENGINES) == ["compiled", "interp"]
    with pytest.raises(lpn.Error, match="no engine 'fast'"):
        check_engine("fast")
    ready = prepare(pipe, "20")
    library = compiled(ready.net)
    runs = [execute(ready.net, ready.values, ready.marking, way) for way in (None, library)]
    assert [run.engine for run in runs] == [name_of(None), name_of(library)]
    first, second = (fields_of(run) for run in runs)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_what_cannot_be_compiled_is_interpreted(pipe, monkeypatch, tmp_path):
    monkeypatch.setenv("LPN_CXX", "/nonexistent/c++")
    monkeypatch.setenv("LPN_CACHE", str(tmp_path / "none"))
    ready = prepare(pipe, "4", engine="compiled")
    assert ready.library is None and ready.fallback.code == "E-no-compiler"
    assert ready.run().engine == "interp"
    assert library_of(ready.net, "interp") == (None, None)


def test_why_a_run_stalled():
    net = lpn.Net("stuck")
    left, right = net.place("left", start=True), net.place("right", start=True)
    net.transition("join", take={"a": left, "b": right}, put=[net.place("out", done=True)], delay=1)
    marking = lpn.Marking(net)
    marking.add("left", count=2)
    fields = fields_of(prepare(net, marking).run())
    assert fields["stalled"] and fields["undrained"] == [{"place": "left", "tokens": 2}]
    [blocked] = fields["blocked"]
    assert (blocked["transition"], blocked["reason"], blocked["arc"]) == ("join", "no token", "b")
    assert blocked["text"].startswith("join waits for tokens over arc 'b': place 'right' has 0")


@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_what_comes_to_a_sink_is_collected(engine):
    """With its times and beside an observer; what stays in a stalled run is counted with it."""

    class Tag(lpn.Token):
        tag: lpn.Int[0, 99]

    net = lpn.Net("collected")
    left, out = net.place("left", Tag, start=True), net.place("out", Tag, sink=True)
    put = [out.emit(tag=lambda x: x[0].tag)]
    net.transition("t", take={"x": left.take(2)}, put=put, delay=3, servers=1)
    marking = lpn.Marking(net)
    marking.add("out", tag=7)
    marking.add("out", tag=8, at=5)  # comes from outside
    marking.add_rows("left", [(1,), (2,), (3,), (4,), (5,)])
    commits = []
    ready = prepare(net, marking, engine=engine, trace=True)
    run = ready.run(collect=["out"], observe=lambda: commits.append)
    assert [list(column) for column in run.collected["out"]] == [[7, 1, 8, 3], [0, 3, 5, 6]]
    assert [(commit.time, list(commit.produced)) for commit in commits] == [(3, [1]), (6, [1])]
    assert run.stalled and run.left == {"left": 1, "out": 4}
    again = lpn.simulate(net, marking, engine=engine, stats=True, path=True, collect=[out, "out"])
    assert again.collected == run.collected and again.stats and again.path
    assert ready.run(collect="out", read="out").tokens == {"out": [(7,), (1,), (8,), (3,)]}
    with pytest.raises(lpn.Error, match="3 is no place; give its name or the lpn.Place"):
        ready.run(collect=[3])
    with pytest.raises(lpn.Error, match="cannot collect its tokens: a transition takes from it"):
        ready.run(collect=["left"])


def test_what_is_isolated_answers_or_its_death_is_the_answer():
    def refuse():
        raise lpn.Error("E-input", "no")

    def odd():
        raise type("Local", (Exception,), {})("cannot be pickled")

    assert isolated(lambda: {"pid": os.getpid()})["pid"] != os.getpid()
    with pytest.raises(lpn.Error, match="^no$") as refused:
        isolated(refuse)
    assert refused.value.code == "E-input"
    for work, code, text in (
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "E-killed", "killed by signal 9"),
        (lambda: os._exit(7), "E-killed", r"ended without an answer \(status 7\)"),
        (lambda: len(bytearray(1 << 40)), "E-memory", "out of memory"),
        (odd, "E-model", "cannot be pickled"),
        (lambda: isolated, None, None),
        (lambda: (lambda: 0), "E-model", "pickle"),
    ):
        if code is None:
            assert isolated(work) is isolated
            continue
        with pytest.raises((lpn.Error, MemoryError, AttributeError)) as failed:
            isolated(work, memory=1 << 34)
        assert describe(failed.value)[0] == code and re.search(text, describe(failed.value)[1])
    begin = time.monotonic()
    with pytest.raises(lpn.Error, match="ran longer than 0.2 s"):
        isolated(lambda: time.sleep(60), seconds=0.2)
    assert time.monotonic() - begin < 10
    with pytest.raises(KeyboardInterrupt):
        isolated(interrupted_child)


def interrupted_child():
    """Presses Ctrl-C in the parent, and does not end by it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)


def test_a_model_that_was_edited_within_a_second_is_read_again(tmp_path, monkeypatch):
    """Python's own cache goes by length and second of a file."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path, text = tmp_path / "edited.py", "import lpn\nDELAY = 4\n\n\ndef net():\n    pass\n"
    for delay in (4, 7):
        path.write_text(text.replace("4", str(delay)))
        os.utime(path, (10**9, 10**9))
        assert lpn.load(str(path)).module.DELAY == delay


def _engine(**options):
    net = lpn.Net("pair")
    net.place("a", init=2)
    net.place("b", done=True)
    net.transition("move", {"x": net["a"]}, [net["b"]], delay=3, servers=1)
    return _lpn.Interp(net.done().core, [], lpn.Marking(net)._core, **options)


def test_what_an_interpreter_was_not_made_for():
    machine = _engine()
    with pytest.raises(lpn.Error) as caught:
        machine.stats()
    assert (caught.value.code, str(caught.value)) == (
        "E-call",
        "the interpreter of net 'pair' was made without stats=True, which this call needs",
    )
    with pytest.raises(lpn.Error) as caught:
        _lpn.sim.run(machine, observer=lambda commit: None)
    assert (caught.value.code, str(caught.value)) == (
        "E-call",
        "the interpreter of net 'pair' was made without trace=True, which this call needs",
    )
    for call in (machine.tokens, machine.occupancy, machine.free_tokens, machine.take):
        with pytest.raises(IndexError):
            call(2)
    assert machine.run().commits == 2


def test_an_observer_cannot_change_its_run():
    told = []

    def observe(commit):
        for act in (
            lambda: machine.run(9),
            lambda: machine.push(0, [], 100),
            lambda: machine.take(1),
            lambda: machine.collect(1),
        ):
            with pytest.raises(lpn.Error) as caught:
                act()
            told.append((caught.value.code, str(caught.value)))
        assert machine.tokens(0) == [] and machine.now == commit.time  # but look at it

    machine = _engine(trace=True)
    result = _lpn.sim.run(machine, observer=observe)[0]
    assert (result.commits, machine.now) == (2, 6)
    under_way = (
        "E-call",
        "a run of net 'pair' is under way; nobody, its observer neither, may change it or begin "
        "another one before it has ended",
    )
    assert told == [under_way] * 8


def test_a_broken_promise_of_ours_is_an_exception():
    with pytest.raises(lpn.Error) as caught:
        _lpn.wave.Vcd().sample(
            [0], [1], [], [], (0, 0, 0), 1, False, None, False
        )  # without a header
    assert caught.value.code == "E-bug"
    assert re.fullmatch(
        r"internal error at vcd_reader\.cc:\d+: in_body_ && signal < watched_\.size\(\)\n"
        r"  This is a bug of ours; please report it with what led to it\.",
        str(caught.value),
    )


def test_what_ends_an_endless_net_is_not_warned_of(recwarn):
    """A limit, a condition, a time, a function that sees every commit. (Else: test_simulate.py, with Ctrl-C.)"""
    net = lpn.Net("memory")
    timer, due = net.place("timer", init=1), net.place("due", sink=True)
    net.transition("refresh", take={"t": timer}, put=[timer, due], delay=10, servers=1)
    assert lpn.simulate(net, limit=35).commits == 3
    assert lpn.simulate(net, until="due.count >= 4").end == 40
    assert lpn.simulate(net, max_time=0.2).ending == "budget"

    class Enough(Exception):
        pass

    def see(*commit):
        raise Enough

    with pytest.raises(Enough):
        lpn.simulate(net, trace=see)
    assert not recwarn.list


def test_a_stalled_run_names_first_what_keeps_its_tokens():
    """Idle units and those whose turn it is not come behind, whatever the order of declaration."""

    class Job(lpn.Token):
        kind: lpn.Int[0, 2]

    net = lpn.Net("stalled")
    free = net.place("free", init=1)
    work, jobs = net.place("work"), net.place("jobs", Job, start=True)
    slots, done = net.place("slots"), net.place("done", done=True)
    net.transition("idle", take={"f": free, "w": work}, put=[free, done], delay=1)
    for kind in range(3):
        take = {"j": jobs.take(guard=lambda j, kind=kind: j.kind == kind), "s": slots}
        net.transition(f"serve{kind}", take=take, put=[done], delay=1, servers=1)
    marking = lpn.Marking(net)
    marking.add("jobs", kind=2)
    run = lpn.simulate(net, marking)
    assert run.stalled and [name for name, _, _ in run.blocked] == [
        "serve2", "serve0", "serve1", "idle",
    ]  # fmt: skip
    assert run.blocked[0] == ("serve2", "no token", "s")
    (row,) = lpn.sweep(net, marking, {})
    assert row["message"].startswith("waiting: serve2 (no token: s), ")
