"""An interface of lpn pi answers for the inputs that it was made for, and refuses all others."""

import inspect
import os
import signal
import sys
import threading
import time
from pathlib import Path

import lpn
import pytest
from lpn.interfaces import fitted
from lpn.interfaces.extract import extract
from lpn.interfaces.fitted import extract_fitted
from lpn.interfaces.input import aggregate, execute_interface, rows_of
from lpn.interfaces.prove import predicted as as_property
from lpn.interfaces.steps import extract_steps

sys.path.insert(0, str(Path(__file__).resolve().parent))

import crossbar  # noqa: E402


class Job(lpn.Token):
    kind: lpn.Int[0, 1]
    size: lpn.Int[1, 1000]


def net():
    net = lpn.Net("two_units")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True, sink=True)
    net.transition(
        "fast",
        take={"j": jobs.take(guard=lambda j: j.kind == 0)},
        put=[done],
        delay=lambda j: j.size,
        servers=1,
    )
    net.transition(
        "slow",
        take={"j": jobs.take(guard=lambda j: j.kind == 1)},
        put=[done],
        delay=lambda j: 100 * j.size,
        servers=1,
    )
    return net


def interface(net, jobs, require=None, **properties):
    space = lpn.InputSpace(net)
    tokens = space.tokens("jobs", jobs, **properties)
    if require:
        space.require(require(tokens))
    return execute_interface(extract(net, space).text, "interface.py")


def marking(net, rows):
    marking = lpn.Marking(net)
    for kind, size in rows:
        marking.add("jobs", kind=kind, size=size)
    return marking


def predicted(net, interface, rows):
    return interface.latency(aggregate(interface, rows_of(net, marking(net, rows))))


def simulated(net, rows):
    return lpn.simulate(net, marking(net, rows), engine="interp").latency


def test_a_constant_of_a_single_token_counts():
    """A guard reads it, no formula of the interface does."""
    made = net()
    found = interface(made, 1, kind=0, size=(1, 10))
    assert predicted(made, found, [(0, 5)]) == simulated(made, [(0, 5)]) == 5
    with pytest.raises(NotImplementedError, match=r"jobs\[0\].kind is 1, but .* is for 0"):
        predicted(made, found, [(1, 5)])


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_token_must_be_in_its_range_not_their_sum_alone(jobs):
    made = net()
    found = interface(made, jobs, kind=0, size=(10, 20))
    good = [(0, 10 + k) for k in range(jobs)]
    assert predicted(made, found, good) == simulated(made, good)
    for k in range(jobs):
        for size in (9, 21):
            rows = list(good)
            rows[k] = (0, size)
            with pytest.raises(NotImplementedError, match=rf"jobs\[{k}\].size is {size}, but"):
                predicted(made, found, rows)


def sink_of_two():
    """A list, since its tokens differ: the first is of kind 1."""
    made = net()
    found = interface(
        made,
        2,
        lambda tokens: tokens[0].size + tokens[1].size <= 30,
        kind=[1, 0],
        size=(10, 20),
    )
    return made, found


def test_conditions_of_the_space_are_looked_at():
    made, found = sink_of_two()
    good = [(1, 15), (0, 15)]
    assert predicted(made, found, good) == simulated(made, good)
    with pytest.raises(NotImplementedError, match=r"jobs\[0\].size \+ jobs\[1\].size <= 30"):
        predicted(made, found, [(1, 16), (0, 15)])


def test_an_interface_without_what_it_covers_is_none():
    made = net()
    space = lpn.InputSpace(made)
    space.tokens("jobs", 1, kind=0, size=(1, 10))
    text = extract(made, space).text.replace("COVERED", "SPOILT")
    with pytest.raises(lpn.Error, match="it has no COVERED") as caught:
        execute_interface(text, "interface.py")
    assert caught.value.code == "E-pi-file"


class Access(lpn.Token):
    row: lpn.Int[0, 7]


def memory():
    """A bank with a row buffer: the time of an access depends on the one before."""
    net = lpn.Net("bank")
    asked = net.place("asked", Access, start=True)
    buffer = net.place("buffer", Access, init=[{"row": 0}])
    done = net.place("done", done=True, sink=True)
    net.transition(
        "access",
        take={"rq": asked, "open": buffer},
        put=[done.emit(), buffer.forward("rq")],
        delay=lambda rq, open: lpn.select(rq.row == open.row, 4, 12),
    )
    space = lpn.InputSpace(net)
    space.tokens("asked", 4, row=(0, 7))
    return net, space


def test_a_delay_that_is_no_sum_is_refused_at_the_first_input_with_its_line():
    net, space = memory()
    began = time.monotonic()
    with pytest.raises(lpn.Error) as refused:
        extract(net, space, seconds=600)
    assert time.monotonic() - began < 200 and refused.value.code == "E-pi"
    text = str(refused.value)
    line = inspect.getsourcelines(memory)[1] + 10
    where = f"transition access (test_interface_cover.py:{line})"
    assert f"{where}: a delay depends on several tokens at once: " in text
    assert text.count("several tokens") == 1, "the same reason is said once, for all its classes"


def test_a_limit_of_time_is_not_reported_as_a_property_of_the_net():
    net = crossbar.net()
    with pytest.raises(lpn.Error) as refused:
        extract(net, crossbar.space(net), seconds=1)
    text = str(refused.value)
    assert "too many ways through the net to be sorted: the limit of 1 s" in text
    assert "larger --limit" in text and "no loop" not in text


def test_ctrl_c_ends_an_extraction():
    """Also within a question to Z3, which would take the signal for itself."""
    net = crossbar.net()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    def told(text):
        if text.startswith("class 1 of ") and timer.ident is None:
            timer.start()

    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            extract(net, crossbar.space(net), seconds=300, progress=told)
    finally:
        timer.cancel()
    assert time.monotonic() - began < 150


def named(name, other, delay):
    """(net, space) of two tokens with properties of these names."""
    kind = type(
        "Odd", (lpn.Token,), {"__annotations__": {name: lpn.Int[0, 3], other: lpn.Int[0, 2]}}
    )
    made = lpn.Net("odd")
    jobs, done = made.place("jobs", kind, start=True), made.place("done", done=True, sink=True)
    made.transition(
        "work",
        take={"j": jobs},
        put=[done],
        delay=lambda j: delay(getattr(j, name), getattr(j, other)),
        servers=1,
    )
    made.done()
    space = lpn.InputSpace(made)
    space.tokens("jobs", 2, **{name: (0, 3), other: (0, 2)})
    return made, space


@pytest.mark.parametrize(
    "name", ["max", "min", "abs", "select", "lookup", "ceil_div", "x", "phases"]
)
def test_a_property_may_have_the_name_of_a_function(name):
    """It took the function's place in formulas of sums, which then had no value."""
    made, space = named(name, "b", lambda a, b: lpn.max(a, b) + lpn.select(a == 2, 5, 1))
    found = execute_interface(extract(made, space).text, "interface.py")
    for first in range(4):
        tokens = lpn.Marking(made)
        tokens.add("jobs", **{name: first, "b": 1})
        tokens.add("jobs", **{name: 2, "b": 0})
        expected = lpn.simulate(made, tokens, engine="interp").latency
        assert found.latency(aggregate(found, rows_of(made, tokens))) == expected


@pytest.mark.parametrize("name", ["return", "True", "and", "None", "lambda"])
def test_a_property_named_by_a_word_of_python(name):
    """In a formula of it the text would mean something else, or nothing; alone it is what it is."""
    made, space = named(name, "b", lambda a, b: 3 * a + b + 1)
    found = execute_interface(extract(made, space).text, "interface.py")
    tokens = lpn.Marking(made)
    tokens.add_rows("jobs", [(3, 1), (2, 2)])
    assert found.latency(aggregate(found, rows_of(made, tokens))) == 20
    made, space = named(name, "b", lambda a, b: lpn.select(a == 2, 5, 1) + b)
    with pytest.raises(lpn.Error, match=f"the property '{name}' is named by a word of Python's"):
        extract(made, space)


@pytest.mark.parametrize("place", ["lambda", "x", "a", "max", "SHAPES", "in.q", "jobs"])
def test_a_place_may_have_any_name(place):
    """It became a variable of the program, where it hid another or was none of Python's."""
    made = lpn.Net("odd")
    jobs, others = made.place(place, Job, start=True), made.place("in_q", Job, start=True)
    done = made.place("done", done=True, sink=True)
    for name, source, factor in (("one", jobs, 1), ("two", others, 3)):
        made.transition(
            name,
            take={"j": source},
            put=[done],
            delay=lambda j, factor=factor: factor * lpn.max(j.size, 500 * j.kind),
        )
    made.done()
    space = lpn.InputSpace(made)
    for each in (place, "in_q"):
        space.tokens(each, 1, kind=(0, 1), size=(1, 1000))
    found = execute_interface(extract(made, space).text, "interface.py")
    for size, other in ((900, 1), (1, 700)):
        tokens = lpn.Marking(made)
        tokens.add(place, kind=1, size=size)
        tokens.add("in_q", kind=0, size=other)
        expected = max(max(size, 500), 3 * other)
        assert lpn.simulate(made, tokens, engine="interp").latency == expected
        assert found.latency(aggregate(found, rows_of(made, tokens))) == expected


class Signed(lpn.Token):
    kind: lpn.Int[0, 3]
    work: lpn.Int[-5, 40]


def worker(factor=2):
    made = lpn.Net("worker")
    factor = made.param("factor", factor, range=(1, 9))
    asked, done = made.place("asked", Signed, start=True), made.place("done", done=True)
    made.transition(
        "work",
        take={"j": asked},
        put=[done],
        delay=lambda j: factor * abs(j.work - 6) + 1,
        servers=1,
    )
    return made


def test_units_of_a_stream_may_have_ranges_of_their_own():
    """Chains were looked for in the range of the first unit, and its own samples then refused."""
    made = worker()
    space = lpn.InputSpace(made)
    space.tokens("asked", 2, kind=0, work=[(0, 1), (2, 3)])
    found = execute_interface(extract(made, space).text, "interface.py")
    for rows in ([(0, 0), (0, 2)], [(0, 1), (0, 3)]):
        tokens = lpn.Marking(made)
        tokens.add_rows("asked", rows)
        expected = lpn.simulate(made, tokens, engine="interp").latency
        assert found.latency(aggregate(found, rows_of(made, tokens))) == expected


def test_classes_of_which_x_would_have_to_differ_are_refused():
    """One or several tokens, constants of other names: the classes had one SINGLES and CONSTANTS."""
    made = worker()
    space = lpn.InputSpace(made)
    space.tokens("asked", 3, count=(1, 3), kind=[(0, 2), 2, 0], work=[2, 0, (-1, 1)])
    extracted = extract(made, space)
    found = execute_interface(extracted.text, "interface.py")
    assert any("in class" in why and "one kind of x" in why for _, why in extracted.refused)
    answered = 0
    for values in space.inputs():
        tokens = space.marking(values)
        try:
            x = aggregate(found, rows_of(made, tokens))
        except NotImplementedError:
            continue
        answered += 1
        assert found.latency(x) == lpn.simulate(made, tokens, engine="interp").latency
    assert answered > 0


@pytest.mark.parametrize("fit", [False, True])
def test_a_parameter_that_the_space_sets_is_in_the_interface(fit, monkeypatch):
    """It said that of the net, which the formulas are not for."""
    made = worker()
    space = lpn.InputSpace(made)
    space.tokens("asked", 2, kind=0, work=(0, 40))
    space.param("factor", 5)
    for name in ("_LEARNT", "_CHOSEN", "CHECKS"):
        monkeypatch.setattr(fitted, name, 300)
    text = (extract_fitted if fit else extract)(made, space, parameters=made.params).text
    assert execute_interface(text, "interface.py").PARAMETERS == {"factor": 5}


def test_a_fitted_interface_has_no_arrivals():
    """The times were in its latencies, and not in x."""
    made = worker()
    space = lpn.InputSpace(made)
    space.tokens("asked", 2, kind=0, work=(0, 40), at=[0, 100])
    with pytest.raises(lpn.Error, match="tokens of place 'asked' come later than 0") as refused:
        extract_fitted(made, space)
    assert refused.value.code == "E-pi"


@pytest.mark.parametrize("other", ["count", "at", "factor", "free factor", "done_count"])
def test_a_space_that_an_interface_is_not_for_is_no_question_about_it(other):
    """`lpn smt --interface` answered of inputs that the interface itself refuses."""
    made = worker()

    def space_of(**options):
        space = lpn.InputSpace(made)
        space.tokens("asked", 3, kind=0, work=(0, 2), **options)
        return space

    of = as_property(extract(made, space_of(), parameters=made.params).text, "interface.py")
    assert lpn.prove(space_of(), "E - latency <= 1", interface=of).verdict == "proved"
    options = {"count": {"count": (1, 3)}, "at": {"at": [0, 0, 9]}}.get(other, {})
    space, what = space_of(**options), "tokens"
    if other.endswith("factor"):
        space.param("factor", *((1, 3) if "free" in other else (5,)))
        what = "parameter 'factor' is (5|factor), but the interface is for 2"
    if other == "done_count":
        space.done_count = 2
        what = "ends after 2 done tokens"
    with pytest.raises(lpn.Error, match=f"does not cover this space: .*{what}") as refused:
        lpn.prove(space, "E - latency <= 1", interface=of)
    assert refused.value.code == "E-property"


def test_a_condition_on_tokens_that_an_input_lacks():
    """It was a KeyError."""
    made = worker()
    space = lpn.InputSpace(made)
    first, second = space.tokens("asked", 2, count=(1, 2), kind=0, work=(0, 5))
    space.require(first.work <= second.work)
    found = execute_interface(extract_steps(made, space, checks=50).text, "interface.py")
    tokens = lpn.Marking(made)
    tokens.add("asked", kind=0, work=3)
    with pytest.raises(NotImplementedError, match=r"reads asked\[1\].work, but asked has fewer"):
        aggregate(found, rows_of(made, tokens))
    tokens.add("asked", kind=0, work=4)
    expected = lpn.simulate(made, tokens, engine="interp").latency
    assert found.latency(aggregate(found, rows_of(made, tokens))) == expected


def test_a_class_is_not_asked_for_the_sums_of_another():
    """Of two tokens the sum of three was too small, so that no input of the class was covered."""
    made = worker()
    space = lpn.InputSpace(made)
    space.tokens("asked", 3, count=(2, 3), kind=[0, 1, 2], work=(10, 12))
    extracted = extract(made, space, parameters=made.params)
    found = execute_interface(extracted.text, "interface.py")
    assert len(found.SHAPES) == 2 and not extracted.refused
    for values in space.inputs():
        tokens = space.marking(values)
        expected = lpn.simulate(made, tokens, engine="interp").latency
        assert found.latency(aggregate(found, rows_of(made, tokens))) == expected
    two = lpn.InputSpace(made)
    two.tokens("asked", 2, kind=[0, 1], work=(10, 12))
    of = as_property(extracted.text, "interface.py")
    assert lpn.prove(two, "E == latency", interface=of).verdict == "proved"


def test_an_input_of_no_cycles_has_no_throughput():
    """It was a division by zero."""
    made = lpn.Net("quick")
    asked, done = made.place("asked", Signed, start=True), made.place("done", done=True)
    made.transition("work", take={"j": asked}, put=[done], delay=lambda j: j.kind, servers=1)
    space = lpn.InputSpace(made)
    space.tokens("asked", 1, kind=(0, 3), work=0)
    found = execute_interface(extract_steps(made, space, checks=50).text, "interface.py")
    tokens = lpn.Marking(made)
    tokens.add("asked", kind=0, work=0)
    x = aggregate(found, rows_of(made, tokens))
    assert found.latency(x) == 0 and found.throughput(x) != found.throughput(x)
