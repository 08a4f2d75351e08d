"""Nets inside nets."""

import lpn
import pytest


class Word(lpn.Token):
    n: lpn.Int[0, 9]


def stage(delay=2):
    """A unit with an input queue of two entries."""
    net = lpn.Net("stage")
    inlet = net.place("inlet", Word, start=True, capacity=2)
    outlet = net.place("outlet", Word, done=True)
    extra = net.param("extra", 0, range=(0, 5))
    net.transition(
        "work",
        take={"w": inlet},
        put=[outlet.forward("w")],
        delay=lambda w: w.n + delay + extra,
        servers=1,
    )
    return net


def chain(**params):
    net = lpn.Net("chain")
    first = net.place("first", Word, start=True)
    middle = net.place("middle", Word)
    last = net.place("last", Word, done=True, sink=True)
    part = stage()
    net.instance(part, "a", {"inlet": first, "outlet": middle})
    net.instance(part, "b", {"inlet": middle, "outlet": last}, params)
    return net


def latency(net, rows, params=None, place="first"):
    marking = lpn.Marking(net)
    marking.add_rows(place, rows)
    return lpn.simulate(net, marking, params, engine="interp").latency


def test_two_instances_in_a_row():
    net = chain()
    assert net.transitions == ["a.work", "b.work"]
    assert list(net.places) == ["first", "middle", "last"]
    assert net.params == {"a.extra": 0, "b.extra": 0}
    assert latency(net, [(1,)]) == 6
    assert latency(net, [(1,), (1,)]) == 9
    assert latency(net, [(1,)], {"a.extra": 5}) == 11


def test_parameters_bound_to_constants_and_to_parameters():
    net = chain(extra=4)
    assert net.params == {"a.extra": 0}
    assert latency(net, [(1,)]) == 10

    outer = lpn.Net("outer")
    slow = outer.param("slow", 1, range=(0, 2))
    inst = outer.instance(stage(), "s", params={"extra": slow * 2 + 1})
    assert outer.params == {"slow": 1}
    assert latency(outer, [(0,)], {"slow": 2}, "s.inlet") == 7
    assert inst["outlet"].name == "s.outlet"


def test_unconnected_places_keep_their_roles():
    net = lpn.Net("outer")
    net.instance(stage(), "s")
    places = {p.name: p for p in net.core.places}
    assert places["s.inlet"].start and places["s.outlet"].done
    assert latency(net, [(3,)], place="s.inlet") == 5


def test_connected_place_gets_capacity_and_initial_tokens():
    part = lpn.Net("part")
    slots = part.place("slots", init=3)
    part.transition("use", take={"s": slots}, delay=1, servers=1)
    net = lpn.Net("outer")
    mine = net.place("mine", init=1)
    net.instance(part, "p", {slots: mine})
    assert len(net.core.places[0].initial) == 2
    run = lpn.simulate(net, engine="interp")
    assert run.commits == 4
    net = chain()
    assert net.core.places[0].capacity is not None


def test_instance_inside_instance_and_round_trip():
    outer = lpn.Net("outer")
    outer.instance(chain(), "c")
    text = outer.text()
    assert outer.transitions == ["c.a.work", "c.b.work"]
    assert lpn.Net.parse(text).text() == text
    assert latency(outer, [(1,)], place="c.first") == 6


def test_instance_of_a_parsed_net():
    part = lpn.Net.parse(stage().text())
    net = lpn.Net("outer")
    first = net.place("first", Word, start=True)
    net.instance(part, "a", {"inlet": first})
    assert latency(net, [(4,)]) == 6


def test_same_type_name_with_other_properties():
    class Other(lpn.Token):
        m: lpn.Int

    Other.__name__ = "Word"
    net = lpn.Net("outer")
    net.place("mine", Other, start=True, sink=True)
    net.instance(stage(), "s")
    assert [t.name for t in net.core.types] == ["Word", "s.Word"]
    net.done()


def test_sources_travel():
    net = chain()
    file, line = net.core.transitions[1].source
    assert net.core.where(file, line).startswith(("test_compose.py:", "testbenches"))


def test_failed_instance_changes_nothing():
    net = chain()
    before = net.text()
    with pytest.raises(lpn.Error, match="E-|already"):
        net.instance(stage(), "a")
    assert net.text() == before


def test_an_instance_with_a_clock_counts_its_periods():
    net = lpn.Net("outer")
    first, last = net.place("first", Word, start=True), net.place("last", Word, done=True)
    middle = net.place("middle", Word)
    net.transition("early", take={"w": first}, put=[middle.forward("w")], delay=3, servers=1)
    net.instance(stage(), "s", {"inlet": middle, "outlet": last}, clock=(10, 4))
    # Arrives at 3, starts on the edge 4, works 2 + 1 periods.
    assert latency(net, [(1,)]) == 34
    # The second arrives at 6 and starts when the first has left, which is an edge.
    assert latency(net, [(1,), (0,)]) == 54


def test_a_clock_may_be_a_parameter_and_is_at_least_one_tick():
    net = lpn.Net("outer")
    period = net.param("period", 7, range=(1, 100))
    first, last = net.place("first", Word, start=True), net.place("last", Word, done=True)
    net.instance(stage(), "s", {"inlet": first, "outlet": last}, clock=period)
    assert latency(net, [(1,)]) == 21
    assert latency(net, [(1,)], {"period": 1}) == 3
    with pytest.raises(lpn.Error) as refused:
        net.instance(stage(), "t", clock=0)
    assert refused.value.code == "E-operand"
    assert "the clock of instance 't' has a period of 0 ticks; at least 1" in str(refused.value)
