"""`lpn pi --fitted`: interfaces fitted to runs, for nets whose classes are too many."""

import random
import re

import lpn
import pytest
from lpn.interfaces import fitted
from lpn.interfaces.fitted import extract_fitted
from lpn.interfaces.input import aggregate, execute_interface, rows_of
from lpn.interfaces.prove import predicted


class Job(lpn.Token):
    kind: lpn.Int[0, 2]
    size: lpn.Int[1, 1000]


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    monkeypatch.setattr(fitted, "_LEARNT", 1500)
    monkeypatch.setattr(fitted, "_CHOSEN", 500)
    monkeypatch.setattr(fitted, "CHECKS", 1000)


def net(ports=2):
    """Jobs of several ports go to the unit of their kind: which one decides depends on the sums."""
    net = lpn.Net("units")
    done = net.place("done", done=True, sink=True)
    queues = [net.place(f"port{p}", Job, start=True) for p in range(ports)]
    free = [net.place(f"free{kind}", init=1) for kind in range(3)]
    for p, queue in enumerate(queues):
        for kind in range(3):
            net.transition(
                f"serve{p}_{kind}",
                take={"j": queue.take(guard=lambda j, kind=kind: j.kind == kind), "u": free[kind]},
                put=[done, free[kind]],
                delay=lambda j, kind=kind: (kind + 1) * j.size + 5,
            )
    return net.done()


def space(net, jobs=3, size=(1, 100), kind=(0, 2)):
    space = lpn.InputSpace(net)
    for place in [name for name in net.places if name.startswith("port")]:
        space.tokens(place, jobs, kind=kind, size=size)
    return space


def marking(net, rows):
    found = lpn.Marking(net)
    for place, tokens in rows.items():
        for kind, size in tokens:
            found.add(place, kind=kind, size=size)
    return found


def test_sums_by_kind_over_all_ports_are_found_and_the_error_holds():
    units = net()
    found = extract_fitted(units, space(units))
    interface = execute_interface(found.text, "interface.py")
    assert any("port0+port1.select(kind == 2, size, 0) of 0..2" in key for key in interface.SUMS)
    (about,) = found.classes
    assert about["mean_error"] < 0.06 and about["samples"] == 1000
    source, errors = random.Random(7), []
    for _ in range(300):
        rows = {
            f"port{p}": [(source.randint(0, 2), source.randint(1, 100)) for _ in range(3)]
            for p in range(2)
        }
        given = marking(units, rows)
        told = interface.latency(aggregate(interface, rows_of(units, given)))
        errors.append(abs(told / lpn.simulate(units, given).latency - 1))
    # Other inputs, drawn evenly: no worse than those that the error was told of by more than luck.
    assert sum(errors) / len(errors) < 1.5 * about["mean_error"] + 0.005
    assert max(errors) < 1.5 * about["worst_error"] + 0.01


def test_a_sum_that_decides_is_found_exactly_and_proved():
    one = lpn.Net("line")
    jobs = one.place("jobs", Job, start=True)
    done = one.place("done", done=True, sink=True)
    one.transition("work", take={"j": jobs}, put=[done], delay=lambda j: 3 * j.size + 7, servers=1)
    inputs = lpn.InputSpace(one.done())
    inputs.tokens("jobs", 4, kind=1, size=(1, 50))
    found = extract_fitted(one, inputs)
    assert "{a: 3 * s[0] + 28}" in found.text
    assert "SUMS = {'jobs.size of 0..3': (4, 200)}" in found.text  # the space's, drawn or not
    assert found.classes[0]["worst_error"] == 0
    proof = lpn.prove(
        inputs,
        "abs(E - latency) <= 0",
        interface=predicted(found.text, "interface.py"),
    )
    assert proof.verdict == "proved"


def test_what_the_space_had_not_is_refused():
    units = net()
    interface = execute_interface(extract_fitted(units, space(units)).text, "interface.py")
    for rows, message in (
        ({"port0": [(0, 101)] * 3, "port1": [(0, 1)] * 3}, "port0[0].size is 101, but this"),
        ({"port0": [(0, 1)] * 2, "port1": [(0, 1)] * 3}, "are in no class; covered:"),
    ):
        with pytest.raises(NotImplementedError, match=re.escape(message)):
            aggregate(interface, rows_of(units, marking(units, rows)))


def test_inputs_without_a_latency_are_told_of():
    deadly = lpn.Net("deadly")
    jobs = deadly.place("jobs", Job, start=True)
    done = deadly.place("done", done=True, sink=True)
    deadly.transition(
        "work",
        take={"j": jobs.take(guard=lambda j: j.size > 20)},
        put=[done],
        delay=lambda j: j.size,
        servers=1,
    )
    inputs = lpn.InputSpace(deadly.done())
    inputs.tokens("jobs", 2, kind=0, size=(1, 100))
    found = extract_fitted(deadly, inputs)
    assert list(found.without) == ["it stalls"] and 500 < found.without["it stalls"] < 2000
    assert f"Beside them {found.without['it stalls']} had no latency" in found.text
    assert "- " + str(found.without["it stalls"]) + ": it stalls" in found.text


def beside_a_timer():
    """Jobs, and a timer that never ends."""
    timed = lpn.Net("timed")
    jobs, ticks = timed.place("jobs", Job, start=True), timed.place("ticks", start=True)
    done = timed.place("done", done=True, sink=True)
    timed.transition(
        "work", take={"j": jobs}, put=[done], delay=lambda j: 2 * j.size + 3, servers=1
    )
    timed.transition("tick", take={"t": ticks}, put=[ticks], delay=7)
    inputs = lpn.InputSpace(timed.done())
    inputs.tokens("jobs", 3, kind=0, size=(1, 100))
    inputs.tokens("ticks", 1)
    return timed, inputs


def test_runs_that_end_by_done_tokens():
    timed, inputs = beside_a_timer()
    inputs.done_count = 3
    found = extract_fitted(timed, inputs)
    assert found.classes[0]["worst_error"] == 0
    assert execute_interface(found.text, "interface.py").DONE_COUNT == 3
    assert "DONE_COUNT = 3  # done tokens that end a run" in found.text
    assert "Not looked at" not in found.text


def test_runs_that_never_end_are_refused(monkeypatch):
    monkeypatch.setattr(fitted, "_MOST_SECONDS", 0.05)
    assert (
        "4 of 4 random inputs have no latency; 4 of them: more than 0.05 s to run; where the net "
        "runs for ever, give it or the space a done_count; take a space whose inputs run"
    ) in refusal(lambda: extract_fitted(*beside_a_timer()))


def refusal(make):
    with pytest.raises(lpn.Error) as refused:
        make()
    assert refused.value.code == "E-pi"
    return str(refused.value)


def test_refusals():
    units = net(1)
    assert "no property of the space's tokens varies" in refusal(
        lambda: extract_fitted(units, space(units, size=5, kind=1))
    )
    varying = lpn.InputSpace(units)
    number = varying.integer("number", 1, 4)
    varying.tokens("port0", 4, count=number, kind=0, size=(1, 9))
    assert "place 'port0' gets more or fewer tokens within the space" in refusal(
        lambda: extract_fitted(units, varying)
    )
    narrow = lpn.InputSpace(units)
    tokens = narrow.tokens("port0", 3, kind=0, size=(1, 1000))
    narrow.require(tokens[0].size + tokens[1].size + tokens[2].size == 1500)
    assert re.search(
        r"only \d+ of \d+ random inputs meet the conditions of the space",
        refusal(lambda: extract_fitted(units, narrow)),
    )


def test_the_whole_range_of_the_space_is_covered_though_its_ends_are_hardly_drawn():
    class Wide(lpn.Token):
        size: lpn.Int[0, 10**9]
        far: lpn.Int[0, 2**62]

    wide = lpn.Net("wide")
    jobs = wide.place("jobs", Wide, start=True)
    done = wide.place("done", done=True, sink=True)
    wide.transition(
        "work", take={"j": jobs}, put=[done], delay=lambda j: j.size // 1000 + 9, servers=1
    )
    inputs = lpn.InputSpace(wide.done())
    inputs.tokens("jobs", 2, size=(0, 10**9), far=(0, 2**62))
    interface = execute_interface(extract_fitted(wide, inputs).text, "interface.py")
    assert not any("far" in key for key in interface.SUMS)  # its sum may not be exact
    for size in (0, 10**9):
        given = lpn.Marking(wide)
        for _ in range(2):
            given.add("jobs", size=size, far=0)
        told = interface.latency(aggregate(interface, rows_of(wide, given)))
        assert told == lpn.simulate(wide, given).latency


def test_no_formula_is_better_than_a_wrong_one():
    """A latency by a hash of the property: no sum tells it."""
    odd = lpn.Net("odd")
    jobs = odd.place("jobs", Job, start=True)
    done = odd.place("done", done=True, sink=True)
    odd.transition(
        "work", take={"j": jobs}, put=[done], delay=lambda j: 1 + (j.size * 7919) % 1009, servers=1
    )
    inputs = lpn.InputSpace(odd.done())
    inputs.tokens("jobs", 1, kind=0, size=(1, 1000))
    message = refusal(lambda: extract_fitted(odd, inputs))
    assert "no largest of a few lines over sums of the tokens comes near" in message


def test_a_sum_over_places_of_one_token_each():
    units = net()
    found = extract_fitted(units, space(units, jobs=1, kind=1))
    interface = execute_interface(found.text, "<interface>")
    assert list(interface.SUMS) == ["port0+port1.size"] or "+" in next(iter(interface.SUMS))
    rows = rows_of(units, marking(units, {"port0": [(1, 30)], "port1": [(1, 12)]}))
    assert interface.latency(aggregate(interface, rows)) == 2 * (30 + 12) + 2 * 5
