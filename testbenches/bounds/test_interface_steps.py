"""`lpn pi --steps`: interfaces by steps, for nets whose latency is no largest of sums."""

import ast
import importlib.util
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import lpn
import pytest
from lpn.interfaces.compare import compare
from lpn.interfaces.fitted import drawn_inputs
from lpn.interfaces.input import aggregate, execute_interface, rows_of
from lpn.interfaces.prove import predicted
from lpn.interfaces.steps import extract_steps
from lpn.interfaces.write import wrapped

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fuzz")]

import crossbar  # noqa: E402
from _truth import SHARED  # noqa: E402

FRONTIER = SHARED / "reviews/proofs/frontier"
LONG = [f"some_name_{k}" for k in range(20)]
HELD_OUT = 5000 if os.environ.get("LPN_SLOW") else 500


class Burst(lpn.Token):
    row: lpn.Int[0, 7]
    beats: lpn.Int[1, 8]


class Row(lpn.Token):
    row: lpn.Int[0, 7]


def memory():
    """Bursts through two banks with a row buffer each; credits come back when a burst is written."""
    net = lpn.Net("memory")
    hit = net.param("hit", default=4, range=(1, 20))
    asked, written = net.place("asked", Burst, start=True), net.place(
        "written", done=True, sink=True
    )
    credit, bus = net.place("credit", init=2), net.place("bus", init=1)
    back = net.place("back", Burst)
    for b in range(2):
        bank = net.place(f"bank{b}", Burst, capacity=1)
        row = net.place(f"row{b}", Row, init=[{"row": 0}])
        ready = net.place(f"ready{b}", Burst)
        net.transition(
            f"route{b}",
            take={"rq": asked.take(guard=lambda rq, b=b: rq.row % 2 == b), "c": credit},
            put=[bank.forward("rq")],
            delay=1,
        )
        net.transition(
            f"open{b}",
            take={"rq": bank, "at": row},
            put=[ready.forward("rq"), row.emit(row=lambda rq: rq.row)],
            delay=lambda rq, at: lpn.select(rq.row == at.row, hit, 3 * hit),
            servers=1,
        )
        net.transition(
            f"send{b}",
            take={"rq": ready, "bus": bus},
            put=[back.forward("rq"), bus],
            delay=lambda rq: rq.beats,
        )
    net.transition("write", take={"rq": back}, put=[written, credit], delay=2, servers=1)
    return net.done()


def memory_space(net, bursts=4):
    space = lpn.InputSpace(net)
    space.tokens("asked", bursts, row=(0, 7), beats=(1, 8))
    return space


def held_out(net, space, interface, number, seed):
    """The worst difference over inputs that the extraction did not see."""
    worst, decided = 0, set()
    for values in drawn_inputs(space, random.Random(seed), number):
        marking = space.marking(values)
        x = aggregate(interface, rows_of(net, marking))
        run = lpn.simulate(net, marking, params=space.parameters(values), engine="interp")
        worst = max(worst, abs(interface.latency(x) - run.latency))
        decided.add(interface.bottleneck(x))
        assert sum(cycles for _, cycles in interface.chain(x)) == run.latency
    return worst, decided


def interface_of(net, space, checks=200):
    found = extract_steps(net, space, net.name, checks=checks)
    return found, execute_interface(found.text, "interface.py")


def test_row_buffers_credits_and_a_shared_bus_are_exact():
    net = memory()
    space = memory_space(net)
    found, interface = interface_of(net, space)
    assert held_out(net, space, interface, HELD_OUT, seed=99)[0] == 0
    assert "Checked on 200 random inputs: error mean 0.00%, max 0.00%" in found.text
    # One rule for both banks, with the net's own names, numbers and parameter.
    assert len(re.findall(r"^def (route|open|send|write)", found.text, re.M)) == 4
    assert "return hit if at.row == rq.row" in found.text or "rq.row == at.row" in found.text
    assert "# send0 and 1 more, test_interface_steps.py:" in found.text
    assert found.classes[0]["worst_error"] == 0 and len(found.text.splitlines()) < 260


def test_an_arbiter_by_round_robin_is_exact():
    net = crossbar.net()
    space = crossbar.space(net)
    _, interface = interface_of(net, space)
    worst, decided = held_out(net, space, interface, HELD_OUT, seed=3)
    assert worst == 0 and decided <= {"answer", "access", "grant", "decode"}


@pytest.mark.parametrize("name", ["axi", "dma_dram", "gemm"])
def test_the_crossbar_the_dma_with_dram_and_the_queues_of_the_frontier(name):
    path = FRONTIER / f"{name}.py"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.net()
    space = module.space(net)
    _, interface = interface_of(net, space)
    assert held_out(net, space, interface, HELD_OUT, seed=2024)[0] == 0


def test_what_the_space_had_not_is_refused_by_the_module_alone():
    net = memory()
    space = lpn.InputSpace(net)
    tokens = space.tokens("asked", 2, row=(0, 3), beats=(2, 5))
    space.require(tokens[0].beats + tokens[1].beats <= 8)
    found, interface = interface_of(net, space, checks=20)
    alone = {}
    exec(compile(found.text, "interface.py", "exec"), alone)
    good = [{"row": 1, "beats": 3}, {"row": 0, "beats": 5}]
    assert alone["latency"]({"asked": good}) == interface.latency({"asked": good}) > 0
    swapped = [{"beats": 3, "row": 1}, {"beats": 5, "row": 0}]
    assert alone["latency"]({"asked": swapped}) == alone["latency"]({"asked": good})
    for rows, why in (
        (good[:1], "asked must have 2..2 tokens, got 1"),
        ([good[0], {"row": 4, "beats": 3}], r"asked\[1\].row must be 0..3, got 4"),
        ([good[0], {"row": 0, "beats": 1}], r"asked\[1\].beats must be 2..5, got 1"),
    ):
        with pytest.raises(NotImplementedError, match=why):
            alone["latency"]({"asked": rows})
    with pytest.raises(NotImplementedError, match="knows no tokens in bank0"):
        alone["latency"]({"asked": good, "bank0": good})
    with pytest.raises(NotImplementedError, match="do not meet a condition of the space"):
        aggregate(interface, {"asked": [{"row": 0, "beats": 5}] * 2})


def test_inputs_that_stall_or_fail_have_no_latency():
    net = lpn.Net("deadly")
    jobs, done = net.place("jobs", Burst, start=True), net.place("done", Row, done=True)
    net.transition(
        "work", take={"j": jobs.take(guard=lambda j: j.beats > 2)}, put=[done.emit(row=lambda j: j.row + 1)],
        delay=lambda j: j.beats, servers=1,
    )  # fmt: skip
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 1, row=(0, 7), beats=(1, 8))
    found, interface = interface_of(net, space)
    assert sum(found.without.values()) + found.classes[0]["samples"] == 200
    with pytest.raises(
        NotImplementedError, match=r"the run stalls, with tokens left in \['jobs'\]"
    ):
        interface.latency({"jobs": [{"row": 0, "beats": 1}]})
    with pytest.raises(NotImplementedError, match="a token of done is out of its range"):
        interface.latency({"jobs": [{"row": 7, "beats": 5}]})


def test_clocks_intervals_inhibitors_and_a_done_count():
    net = lpn.Net("clocked")
    jobs, done = net.place("jobs", Burst, start=True), net.place("done", done=True, sink=True)
    ticks, middle = net.place("ticks", init=1), net.place("middle", Burst)
    net.transition("tick", take={"t": ticks}, put=[ticks], delay=7)
    net.transition(
        "first",
        take={"j": jobs, "idle": middle.empty()},
        put=[middle.forward("j")],
        delay=1,
        clock=(4, 1),
    )
    net.transition(
        "second",
        take={"j": middle},
        put=[done.emit(count=lambda j: j.beats)],
        delay=lambda j: j.row,
        interval=5,
    )
    space = lpn.InputSpace(net.done())
    tokens = space.tokens("jobs", 3, row=(0, 7), beats=(1, 3))
    space.require(tokens[0].beats + tokens[1].beats + tokens[2].beats >= 4)
    space.done_count = 4
    found, interface = interface_of(net, space)
    assert interface.DONE_COUNT == 4 and "clock=(4, 1)" in found.text
    for values in drawn_inputs(space, random.Random(8), 200):
        marking = space.marking(values)
        marking.done_count = 4
        run = lpn.simulate(net, marking, engine="interp")
        assert interface.latency(rows_of(net, marking)) == run.latency


def test_tokens_that_say_how_many_others_are_taken():
    """Dependences between the queues of an accelerator: an instruction pops some."""
    net = lpn.Net("queues")
    jobs, done = net.place("jobs", Burst, start=True), net.place("done", done=True, sink=True)
    free, flags = net.place("free", init=15), net.place("flags", sink=True)
    net.transition(
        "load",
        take={"j": jobs, "f": free.take(lambda j: j.beats, need=lambda j: j.beats + 1)},
        put=[flags.emit(count=lambda j: j.beats // 2), done],
        delay=lambda j: j.row + 1,
    )
    net.transition("give", take={"f": flags}, put=[free.emit(count=2)], delay=5, servers=1)
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 5, row=(0, 7), beats=(1, 8))
    runs = drawn_inputs(space, random.Random(4), 300)
    found, interface = interface_of(net, space)
    assert "if not (free_f >= j.beats and free_f >= j.beats + 1):" in found.text
    equal = 0
    for values in runs:
        marking = space.marking(values)
        run = lpn.simulate(net, marking, engine="interp")
        if run.stalled:
            with pytest.raises(NotImplementedError, match="stalls"):
                interface.latency(rows_of(net, marking))
        else:
            assert interface.latency(rows_of(net, marking)) == run.latency
            equal += 1
    assert equal > 100


def refusal(build):
    net = lpn.Net("refused")
    jobs = net.place("jobs", Burst, start=True)
    done = net.place("done", done=True, sink=True)
    build(net, jobs, done)
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 2, row=(0, 7), beats=(1, 8))
    with pytest.raises(lpn.Error) as refused:
        extract_steps(net, space, checks=5)
    assert refused.value.code == "E-pi"
    return str(refused.value).splitlines()[0]


def test_what_steps_cannot_say_is_refused_with_its_line():
    def paced(net, jobs, done):
        net.transition("work", take={"j": jobs}, put=[done], delay=1, interval=lambda j: j.beats)

    def shifted(net, jobs, done):
        net.transition(
            "work", take={"j": jobs}, put=[done], delay=lambda j: 100 // (j.beats - 1), servers=1
        )

    def summed(net, jobs, done):
        number = net.param("number", default=2, range=(1, 9))
        net.transition(
            "work",
            take={"j": jobs.take(number)},
            put=[done],
            delay=lambda j: lpn.sum(j, lambda t: t.beats),
            servers=1,
        )

    assert re.fullmatch(
        r"transition work \(test_interface_steps.py:\d+\): its interval depends on tokens",
        refusal(paced),
    )
    assert re.fullmatch(
        r"transition work \(test_interface_steps.py:\d+\): the divisor j.beats - 1 may be 0..7, beyond 1..; "
        r"declare ranges that keep it there",
        refusal(shifted),
    )
    assert re.fullmatch(
        r"transition work \(test_interface_steps.py:\d+\): sum\(.*\) goes over several tokens; write it out as "
        r"a sum, or take --fitted",
        refusal(summed),
    )


def test_what_others_make_of_such_an_interface():
    net = memory()
    found, interface = interface_of(net, memory_space(net), checks=10)
    with pytest.raises(
        lpn.Error, match="^interface.py is an interface by steps, which has no sums to go along"
    ):
        compare(interface, interface)
    with pytest.raises(
        lpn.Error, match="is an interface by steps, a loop and no formula over an input"
    ):
        predicted(found.text, "interface.py")


def test_random_nets():
    """As testbenches/fuzz/steps_fuzz.py does, which finds more."""
    if not (
        Path(os.environ.get("LPN_BUILD", HERE.parents[1] / "build")) / "testbenches/fuzz/lpn_fuzz"
    ).exists():
        pytest.skip("lpn_fuzz is not built")
    command = [
        sys.executable,
        str(HERE.parent / "fuzz/steps_fuzz.py"),
        "--chunks",
        "4",
        "--seed",
        "5",
    ]
    command += ["--build", os.environ.get("LPN_BUILD", str(HERE.parents[1] / "build"))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and "latencies equal" in ran.stdout, ran.stdout + ran.stderr


def test_long_statements_stay_whole():
    """Of a net with so many parameters that their names do not fit into a line."""
    net = lpn.Net("long")
    names = [f"parameter_number_{k}" for k in range(12)]
    params = [net.param(name, k) for k, name in enumerate(names)]
    asked, done = net.place("asked", Row, start=True), net.place("done", done=True, sink=True)
    net.transition(
        "work", take={"t": asked}, put=[done], delay=lambda t: t.row + sum(params), servers=1
    )
    space = lpn.InputSpace(net)
    space.tokens("asked", 2)
    interface = execute_interface(extract_steps(net, space, checks=20).text, "<test>")
    assert interface.latency({"asked": [{"row": 3}, {"row": 5}]}) == 8 + 2 * 66


@pytest.mark.parametrize(
    "text",
    [
        f"({', '.join(LONG)}) = x",
        f"A, B = {'m' * 90!r}, {{'a': 1, 'b': 2}}",
        f"start = {' + '.join(LONG)}",
        f"return ({', '.join(LONG)}) if a else b",
        f"if not ({' or '.join(LONG)}):",
        f"A = {['a (b ' * 9] * 4!r}",
    ],
)
def test_what_is_broken_into_lines_is_the_same_statement(text):
    def tree(code):
        return ast.dump(ast.parse("def f():\n    " + code + "\n        pass" * text.endswith(":")))

    assert tree(wrapped(text, 8, 4).lstrip()) == tree(text)


def test_on_the_command_line_where_no_class_has_one(tmp_path):
    (tmp_path / "bank.py").write_text(_BANK)
    lpn_program = [sys.executable, "-m", "lpn"]

    def run(*words):
        return subprocess.run(
            [*lpn_program, *words], capture_output=True, text=True, cwd=tmp_path, timeout=300
        )

    made = run("pi", "bank.py", "-o", "interface.py")
    assert made.returncode == 0, made.stderr
    assert "a delay depends on several tokens at once" in made.stderr
    assert "; written by steps instead" in made.stderr and "0.00%" in made.stdout
    (tmp_path / "rows.txt").write_text("1 1 2\n")
    told = run("pi", "--evaluate", "interface.py", "--model", "bank.py", "rows.txt")
    assert told.returncode == 0 and re.search(r"rows.txt +28 +access", told.stdout), told.stdout
    both = run("pi", "bank.py", "--steps", "--fitted")
    assert (
        both.returncode == 2
        and "--fitted and --steps are two ways; take one [E-usage]" in both.stderr
    )


_BANK = """
import lpn


class Access(lpn.Token):
    row: lpn.Int[0, 7]


def net():
    net = lpn.Net("bank")
    asked, done = net.place("asked", Access, start=True), net.place("done", done=True, sink=True)
    buffer = net.place("buffer", Access, init=[{"row": 0}])
    net.transition("access", take={"rq": asked, "open": buffer}, put=[done.emit(), buffer.forward("rq")],
                   delay=lambda rq, open: lpn.select(rq.row == open.row, 4, 12))
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for row in open(input).read().split():
        marking.add("asked", row=int(row))
    return marking


def space(net):
    space = lpn.InputSpace(net)
    space.tokens("asked", 3, row=(0, 7))
    return space
"""
