"""What the elements of lpn.lib do, by interpretation."""

import lpn
import pytest
from lpn import lib


class Word(lpn.Token):
    n: lpn.Int[0, 1000]
    port: lpn.Int[0, 3]


def done_times(net, marking, place, **params):
    """Commit time and token of everything that the sink transition took from `place`."""
    commits = []
    run = lpn.simulate(net, marking, params, engine="interp", trace=commits.append)
    return [c.time for c in commits if net.transitions[c.transition] == place], run


def source(net, count=None, **options):
    return net.place("source", Word, start=True, **options)


def fill(net, rows):
    marking = lpn.Marking(net)
    marking.add_rows("source", rows)
    return marking


def order_at_sink(net, marking, name="sink"):
    """(time, values) per token taken by the transition `name`, in order."""
    import _lpn

    class Log(lpn.Token):
        pass

    interp = _lpn.Interp(net.core, [], marking._core)
    interp.run()
    flat = interp.tokens(net[name]._number)
    width = len(net[name].fields)
    return [tuple(flat[k : k + width]) for k in range(0, len(flat), width)]


def arrivals(net, marking, transition):
    times, _ = done_times(net, marking, transition)
    return times


def test_fifo_writes_once_per_cycle_and_holds_its_depth():
    net = lpn.Net("n")
    s = source(net)
    f = lib.fifo(net, "f", s, 2)
    net.transition("read", take={"t": f}, delay=10, servers=1)
    # Written at 0 and 1 (readable at 1 and 2); the third when the first read commits at 11.
    m = fill(net, [(k, 0) for k in range(5)])
    commits = []
    lpn.simulate(net, m, trace=commits.append, engine="interp")
    starts = [c.start for c in commits if net.transitions[c.transition] == "f.write"]
    reads = [c.time for c in commits if net.transitions[c.transition] == "read"]
    assert starts == [0, 1, 11, 21, 31]
    assert reads == [11, 21, 31, 41, 51]


def test_fifo_latency_and_parameter_depth():
    net = lpn.Net("n")
    depth = net.param("depth", 4, range=(1, 8))
    s = source(net)
    f = lib.fifo(net, "f", s, depth, latency=3)
    out = net.place("out", done=True, sink=True)
    net.transition("read", take={"t": f}, put=[out], servers=1)
    m = fill(net, [(k, 0) for k in range(4)])
    assert lpn.simulate(net, m, engine="interp").latency == 6
    # One slot: it is free again when the read commits, at the same instant.
    m = fill(net, [(k, 0) for k in range(4)])
    assert lpn.simulate(net, m, {"depth": 1}, engine="interp").latency == 12


def test_pipeline_passes_one_per_cycle():
    net = lpn.Net("n")
    s = source(net)
    out = lib.pipeline(net, "p", s, 5)
    done = net.place("done", Word, done=True, sink=True)
    net.transition("end", take={"t": out}, put=[done.forward("t")])
    assert arrivals(net, fill(net, [(k, 0) for k in range(10)]), "end") == list(range(5, 15))
    assert order_at_sink(net, fill(net, [(k, 0) for k in range(10)]), "done") == [
        (k, 0) for k in range(10)
    ]


def test_pipeline_slow_stage_stalls_those_behind():
    net = lpn.Net("n")
    s = source(net)
    out = lib.pipeline(net, "p", s, [1, 4, 1])
    done = net.place("done", done=True, sink=True)
    net.transition("end", take={"t": out}, put=[done])
    assert arrivals(net, fill(net, [(k, 0) for k in range(4)]), "end") == [6, 10, 14, 18]


def test_pipeline_holds_one_token_per_stage():
    net = lpn.Net("n")
    s = source(net)
    stuck = net.place("stuck", Word, capacity=1, sink=True)
    lib.pipeline(net, "p", s, 3, out=stuck)
    run = lpn.simulate(net, fill(net, [(k, 0) for k in range(9)]), engine="interp")
    # One in `stuck`, three in the registers, five still outside.
    assert run.stalled and "source" in run.undrained
    import _lpn

    interp = _lpn.Interp(net.core, [], fill(net, [(k, 0) for k in range(9)])._core)
    interp.run()
    assert interp.occupancy(s._number) == 5


def test_pipeline_delay_of_the_token():
    net = lpn.Net("n")
    s = source(net)
    out = lib.pipeline(net, "p", s, [lambda t: t.n])
    done = net.place("done", done=True, sink=True)
    net.transition("end", take={"t": out}, put=[done])
    assert arrivals(net, fill(net, [(3, 0), (5, 0), (1, 0)]), "end") == [3, 8, 9]


def arbiter(kind, fills, **options):
    net = lpn.Net("n")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(len(fills))]
    out = net.place("out", Word, done=True, sink=True)
    kind(net, "arb", inputs, out, **options)
    marking = lpn.Marking(net)
    for k, count in enumerate(fills):
        marking.add_rows(f"q{k}", [(j + 1, k) for j in range(count)])
    return net, marking


def ports(net, marking):
    return [port for _, port in order_at_sink(net, marking, "out")]


def test_round_robin_takes_turns_and_skips_the_empty():
    assert ports(*arbiter(lib.round_robin, [2, 2, 2])) == [0, 1, 2, 0, 1, 2]
    assert ports(*arbiter(lib.round_robin, [3, 0, 1])) == [0, 2, 0, 0]
    assert ports(*arbiter(lib.round_robin, [0, 0, 3, 2])) == [2, 3, 2, 3, 2]
    assert ports(*arbiter(lib.round_robin, [3])) == [0, 0, 0]


def test_round_robin_with_an_entry_per_input():
    net = lpn.Net("n")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(2)]
    outs = [net.place(f"out{k}", Word, done=True, sink=True) for k in range(2)]
    busy = net.place("busy", sink=True)
    lib.round_robin(
        net,
        "arb",
        inputs,
        outs,
        delay=[3, lambda t: 10 * t.n],
        also=[[busy.emit(count=3)], [busy.emit(count=lambda t: 10 * t.n)]],
    )
    marking = lpn.Marking(net)
    marking.add_rows("q0", [(1, 0), (2, 0)])
    marking.add_rows("q1", [(4, 1)])
    for engine in ("interp", "compiled"):
        run = lpn.simulate(net, marking, engine=engine, read=["out0", outs[1], "busy"])
        assert run.latency == 3 + 40 + 3
        assert run.tokens == {"out0": [(1, 0), (2, 0)], "out1": [(4, 1)], "busy": 46}
    with pytest.raises(lpn.Error, match="has 2 inputs, but 1 entries in delay") as refused:
        lib.round_robin(net, "other", inputs, outs, delay=[1])
    assert refused.value.code == "E-operand"


def test_one_place_where_a_list_is_asked_for():
    """It ended with a TypeError of Python's."""
    net = lpn.Net("n")
    one = net.place("one", Word)
    for what, made in (
        ("inputs of 'x'", lambda: lib.round_robin(net, "x", one)),
        ("inputs of 'x'", lambda: lib.priority(net, "x", one)),
        ("outputs of 'x'", lambda: lib.crossbar(net, "x", [one], one, lambda t: 0)),
        ("inputs of 'x'", lambda: lib.join(net, "x", one)),
        ("outs of 'x'", lambda: lib.fork(net, "x", one, one)),
    ):
        with pytest.raises(lpn.Error) as refused:
            made()
        assert refused.value.code == "E-operand"
        assert f"{what} must be a list of places, got one: write [one]" in str(refused.value)


def test_functions_of_a_list_may_differ_in_what_their_defaults_keep():
    """And read the same variable besides."""
    net, extra = lpn.Net("n"), 2
    inputs = [net.place(f"i{k}", Tagged, start=True) for k in range(3)]
    guards = [lambda t, k=k: t.tag + extra == k + 2 for k in range(3)]
    lib.priority(net, "p", inputs, guard=guards)
    with pytest.raises(lpn.Error, match="read the same variable extra"):
        lib.priority(net, "q", inputs, guard=[lambda t: t.tag == extra for _ in range(3)])


def test_round_robin_waits_for_its_turn():
    net, marking = arbiter(lib.round_robin, [2, 1, 2], skip_empty=False)
    assert ports(net, marking) == [0, 1, 2, 0]
    assert lpn.simulate(net, marking, engine="interp").stalled


def test_round_robin_is_busy_for_its_delay():
    net, marking = arbiter(lib.round_robin, [3, 2], delay=lambda t: t.n + 1)
    assert lpn.simulate(net, marking, engine="interp").latency == 2 + 2 + 3 + 3 + 4


def test_round_robin_is_fair_to_late_arrivals():
    net = lpn.Net("n")
    a, b = net.place("a", Word, start=True), net.place("b", Word)
    late = net.place("late", Word, start=True)
    net.transition("arrive", take={"t": late}, put=[b.forward("t")], delay=3, servers=1)
    out = net.place("out", Word, sink=True)
    lib.round_robin(net, "arb", [a, b], out, delay=2)
    marking = lpn.Marking(net)
    marking.add_rows("a", [(k, 0) for k in range(4)])
    marking.add_rows("late", [(9, 1)])
    assert ports(net, marking) == [0, 0, 1, 0, 0]


def test_priority_serves_the_first_input_first():
    assert ports(*arbiter(lib.priority, [2, 3, 1])) == [0, 0, 1, 1, 1, 2]
    net, marking = arbiter(lib.priority, [2, 3, 1], delay=4)
    assert lpn.simulate(net, marking, engine="interp").latency == 24


def test_credit_comes_back_after_its_latency():
    net = lpn.Net("n")
    s = source(net)
    take, give = lib.credit(net, "credits", 2, latency=5)
    link = net.place("link", Word)
    done = net.place("done", done=True, sink=True)
    net.transition(
        "send", take={"t": s, "credit": take}, put=[link.forward("t")], delay=1, servers=1
    )
    net.transition("receive", take={"t": link}, put=[done, give], delay=1, servers=1)
    # Sent at 0, 1; received at 2, 3; credits back at 7, 8.
    commits = []
    lpn.simulate(net, fill(net, [(k, 0) for k in range(4)]), trace=commits.append, engine="interp")
    assert [c.start for c in commits if net.transitions[c.transition] == "send"] == [0, 1, 7, 8]
    take, give = lib.credit(lpn.Net("m"), "c", 3)
    assert take is give


def test_credits_given_at_once_come_back_one_per_cycle():
    net = lpn.Net("n")
    take, give = lib.credit(net, "credits", 0, latency=5)
    done = net.place("done", done=True, sink=True)
    net.transition("all", take={"x": net.place("one", init=1)}, put=[give.emit(count=3)], delay=2)
    net.transition("use", take={"credit": take}, put=[done])
    run = lpn.simulate(net, trace=True, engine="interp")
    assert [c.time for c in run.trace if net.transitions[c.transition] == "use"] == [7, 8, 9]


def test_fork_waits_for_room_everywhere():
    net = lpn.Net("n")
    s = source(net)
    a, b = net.place("a", Word, sink=True), net.place("b", Word, capacity=2, sink=True)
    lib.fork(net, "split", s, [a, b])
    run = lpn.simulate(net, fill(net, [(k, 1) for k in range(3)]), engine="interp")
    assert run.stalled and run.blocked == [("split", "no credit", "b")]
    assert order_at_sink(net, fill(net, [(7, 1)]), "b") == [(7, 1)]


def test_join_waits_for_all_and_merges():
    net = lpn.Net("n")
    a, b = net.place("a", Word, start=True), net.place("b", Word, start=True)
    out = lib.join(
        net, "j", {"left": a, "right": b}, n=lambda left, right: left.n + right.n, delay=2
    )
    out2 = net.place("end", Word, sink=True)
    net.transition("e", take={"t": out}, put=[out2.forward("t")])
    marking = lpn.Marking(net)
    marking.add("a", n=1, port=2)
    marking.add("b", n=10, port=3)
    assert order_at_sink(net, marking, "end") == [(11, 2)]


def test_join_lacking_a_property():
    net = lpn.Net("n")
    a, out = net.place("a"), net.place("out", Word)
    with pytest.raises(
        lpn.Error, match="join 'j': no input has the property 'n' of 'out'; write join"
    ):
        lib.join(net, "j", [a], out)


def test_library_nets_round_trip():
    net, _ = arbiter(lib.round_robin, [1, 1, 1])
    text = net.text()
    assert lpn.Net.parse(text).text() == text


def test_a_guard_leaves_heads_to_others():
    net = lpn.Net("n")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(2)]
    out = net.place("out", Word, done=True, sink=True)
    odd = net.place("odd", Word, sink=True)
    lib.round_robin(net, "arb", inputs, out, delay=4, guard=lambda t: t.n % 2 == 0)
    for k, source in enumerate(inputs):
        net.transition(
            f"drop{k}",
            take={"t": source.take(guard=lambda t: t.n % 2 == 1)},
            put=[odd.forward("t")],
        )
    marking = lpn.Marking(net)
    marking.add_rows("q0", [(1, 0), (2, 0), (3, 0), (4, 0)])
    marking.add_rows("q1", [(5, 1), (6, 1)])
    for engine in ("interp", "compiled"):
        run = lpn.simulate(net, marking, engine=engine, read=["out", "odd"])
        assert run.tokens["out"] == [(2, 0), (6, 1), (4, 0)] and run.latency == 12
        assert sorted(n for n, _ in run.tokens["odd"]) == [1, 3, 5]


@pytest.mark.parametrize("grant", [lib.round_robin, lib.priority])
def test_an_input_without_its_own_credit_is_passed_over(grant):
    net = lpn.Net("n")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(2)]
    out = net.place("out", Word, done=True, sink=True)
    none, two = net.place("none"), net.place("two", init=2)
    later = net.place("later", init=1)
    net.transition("give", take={"x": later}, put=[none], delay=50)
    grant(net, "arb", inputs, out, delay=3, credit=[none, two])
    marking = lpn.Marking(net)
    marking.add_rows("q0", [(1, 0)])
    marking.add_rows("q1", [(2, 1), (3, 1)])
    run = lpn.simulate(net, marking, engine="interp", read=["out"])
    assert run.tokens["out"] == [(2, 1), (3, 1), (1, 0)] and run.latency == 53


@pytest.mark.parametrize("inputs", [1, 2, 12])
def test_a_round_robin_has_two_transitions_per_input(inputs):
    """And proofs by classes on any number of them; beyond 8 they needed guards on free counts."""

    class Job(lpn.Token):
        cycles: lpn.Int[1, 5]

    net = lpn.Net("n")
    places = [net.place(f"q{k}", Job, start=True) for k in range(inputs)]
    out = net.place("out", Job, done=True, sink=True)
    lib.round_robin(net, "arb", places, out, delay=lambda t: t.cycles)
    assert len(net.transitions) == 2 * inputs - 1
    space = lpn.InputSpace(net)
    for k in range(inputs):
        space.tokens(f"q{k}", 1)
    proved = lpn.maximize(space)
    assert proved.lower == proved.upper == 5 * inputs


def test_the_first_of_a_crossbar_by_priority_goes_first():
    """Two busy inputs had the output by turns, as a head came to the front an instant too late."""
    net = lpn.Net("n")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(2)]
    outputs = [net.place(f"out{k}", Word, done=True, sink=True) for k in range(2)]
    lib.crossbar(net, "xbar", inputs, outputs, lambda t: t.port, delay=3, grant=lib.priority)
    marking = lpn.Marking(net)
    marking.add_rows("q0", [(1, 0), (2, 0), (3, 1)])
    marking.add_rows("q1", [(4, 0), (5, 1)])
    run = lpn.simulate(net, marking, engine="interp", read=["out0", "out1"])
    assert [n for n, _ in run.tokens["out0"]] == [1, 2, 4]
    assert [n for n, _ in run.tokens["out1"]] == [3, 5] and run.latency == 12


@pytest.mark.parametrize("inputs", [3, 9])
def test_an_input_whose_token_is_in_other_hands_is_passed_over(inputs):
    """It held up the arbiter until the other one had committed."""
    net = lpn.Net("n")
    places = [net.place(f"q{k}", Word, start=True) for k in range(inputs)]
    out = net.place("out", Word, done=True, sink=True)
    net.transition("drop", take={"t": places[0], "x": net.place("once", init=1)}, put=[], delay=100)
    lib.round_robin(net, "arb", places, out)
    marking = lpn.Marking(net)
    marking.add("q0", n=1, port=0)
    marking.add("q1", n=1, port=1, count=3)
    assert lpn.simulate(net, marking, engine="interp").latency == 3


class Tagged(lpn.Token):
    tag: lpn.Int[0, 7]


def _port(net, name):
    return lib.memory_port(net, name)


MISUSES = {
    "arbiter 'p' needs at least one input": lambda n: lib.round_robin(n, "p", []),
    "arbiter 'p' has 1 inputs, but 2 entries in credit": lambda n: lib.priority(
        n, "p", [n.place("a")], credit=[n.place("b"), n.place("c")]
    ),
    "crossbar 'p' needs at least one input and one output": lambda n: lib.crossbar(
        n, "p", [], [n.place("a")], lambda t: 0
    ),
    "interconnect 'p' needs at least one master and one slave": lambda n: lib.interconnect(
        n, "p", [], [], lambda t: 0
    ),
    "'p': bytes_per_cycle must be an int 1..1099511627776, got 0": lambda n: lib.memory(
        n, "p", _port(n, "m"), latency=1, bytes_per_cycle=0
    ),
    "'p': most must be an int 1..4294967295, got -1": lambda n: lib.bursts(
        n, "p", n.place("t", lib.Transfer), most=-1
    ),
    "'p': stages must be an int 1..16, got 0": lambda n: lib.clock_crossing(
        n, "p", n.place("a"), 4, write=2, read=3, stages=0
    ),
    "'p': entries must be an int 1..256, got 257": lambda n: lib.reorder_buffer(
        n, "p", n.place("a", Tagged), n.place("b", Tagged), 257
    ),
    "reorder buffer 'p': tokens of 'a' have no property 'tag'": lambda n: lib.reorder_buffer(
        n, "p", n.place("a"), n.place("b", Tagged), 2
    ),
    "in_order 'p': port must be a MemoryPort, got 3": lambda n: lib.in_order(n, "p", 3),
    "dma 'p': read must be a MemoryPort, got None": lambda n: lib.dma(
        n, "p", n.place("a", lib.Move), None, _port(n, "m")
    ),
    "'p': buffer must be an int from 512 on or a parameter, got 511": lambda n: lib.dma(
        n, "p", n.place("a", lib.Move), _port(n, "m"), _port(n, "o"), buffer=511
    ),
    "dma 'p': read and write must be two ports; join them by lib.interconnect": lambda n: lib.dma(
        n, "p", n.place("a", lib.Move), (one := _port(n, "m")), one
    ),
    "cache 'p': line must be a power of two, got 48": lambda n: lib.cache(
        n, "p", _port(n, "u"), _port(n, "d"), sets=4, ways=2, line=48
    ),
    "'p': ways must be an int 1..16, got 17": lambda n: lib.cache(
        n, "p", _port(n, "u"), _port(n, "d"), sets=4, ways=17, line=64
    ),
    "cache 'p': below must be a MemoryPort, got 7": lambda n: lib.cache(
        n, "p", _port(n, "u"), 7, sets=4, ways=2, line=64
    ),
    "cache 'p': above and below must be two ports": lambda n: lib.cache(
        n, "p", (one := _port(n, "u")), one, sets=4, ways=2, line=64
    ),
    "'p': hit must be an int from 1 on or a parameter, got 0": lambda n: lib.cache(
        n, "p", _port(n, "u"), _port(n, "d"), sets=4, ways=2, line=64, hit=0
    ),
    "cache 'p': write_back must be True or False, got 'no'": lambda n: lib.cache(
        n, "p", _port(n, "u"), _port(n, "d"), sets=4, ways=2, line=64, write_back="no"
    ),
    "memory 'p': port must be a MemoryPort, got None": lambda n: lib.memory(
        n, "p", None, latency=1, bytes_per_cycle=1
    ),
    "'p': outstanding must be an int from 0 on or a parameter, got None": lambda n: lib.memory(
        n, "p", _port(n, "m"), latency=1, bytes_per_cycle=1, outstanding=None
    ),
    "'p': reads must be an int from 0 on or a parameter, got None": lambda n: lib.dma(
        n, "p", n.place("a", lib.Move), _port(n, "m"), _port(n, "o"), reads=None
    ),
    "masters of 'p' must be a list of MemoryPorts, got one": lambda n: lib.interconnect(
        n, "p", _port(n, "m"), [_port(n, "o")], lambda t: 0
    ),
    "masters and slaves of 'p' have 'm.requests' twice": lambda n: lib.interconnect(
        n, "p", [(one := _port(n, "m"))], [one], lambda t: 0
    ),
    "inputs of 'p' have 'a' twice": lambda n: lib.priority(n, "p", [n.place("a")] * 2),
    "'p': queue must be an int from 1 on or a parameter, got 0": lambda n: lib.crossbar(
        n, "p", [n.place("a")], [n.place("b")], lambda t: 0, queue=0
    ),
    "crossbar 'p': grant must be lib.round_robin or lib.priority, got 'fair'": lambda n: lib.crossbar(
        n, "p", [n.place("a")], [n.place("b")], lambda t: 0, grant="fair"
    ),
    "'p': room must be a place, got 4096": lambda n: lib.bursts(
        n, "p", n.place("t", lib.Transfer), most=64, room=4096
    ),
    "'p': write must be a clock: a period in ticks, or (period, phase)": lambda n: lib.clock_crossing(
        n, "p", n.place("a"), 4, write=None, read=3
    ),
    "'p': depth must be an int from 1 on or a parameter, got None": lambda n: lib.fifo(
        n, "p", n.place("a"), None
    ),
    "'p': latency must be an int from 1 on or a parameter, got 0": lambda n: lib.fifo(
        n, "p", n.place("a"), 4, latency=0
    ),
    "'p': stages must be an int 1..10000, got 2.5": lambda n: lib.pipeline(
        n, "p", n.place("a"), 2.5
    ),
    "'p': count must be an int from 0 on or a parameter, got 1.5": lambda n: lib.credit(
        n, "p", 1.5
    ),
}


@pytest.mark.parametrize("text", MISUSES)
def test_misused_parts_say_how(text):
    with pytest.raises(lpn.Error) as refused:
        MISUSES[text](lpn.Net("n"))
    assert str(refused.value).split("\n", 1)[0] == text
    assert refused.value.code == ("E-emit" if "property" in text else "E-operand")


def test_a_place_of_another_net_is_refused():
    """It was taken for a place of this one by the number of its type, or ended with an IndexError."""
    with pytest.raises(lpn.Error) as refused:
        lib.fifo(lpn.Net("n"), "p", lpn.Net("other").place("a", Tagged), 4)
    assert refused.value.code == "E-foreign"
    assert "'p' of net 'n' needs a place of that net, got 'a' of net 'other'" in str(refused.value)


def test_ints_of_numpy_are_ints():
    import numpy

    net = lpn.Net("n")
    one = numpy.int64(1)
    for part in (
        lib.pipeline(net, "pipeline", net.place("a", Tagged), one),
        lib.clock_crossing(net, "cdc", net.place("b", Tagged), one, write=2, read=3, stages=one),
        *lib.reorder_buffer(net, "rob", net.place("c", Tagged), net.place("d", Tagged), one),
    ):
        assert list(part.fields) == ["tag"]


def _stuck_memory(net, done):
    port = _port(net, "m")
    asks = net.place("asks", lib.Access, start=True, init=[dict(address=0, bytes=8, write=0, id=0)])
    net.transition("ask", take={"t": asks}, put=[port.requests.forward("t")])
    net.transition("end", take={"t": port.responses}, put=[done])
    lib.memory(net, "memory", port, latency=1, bytes_per_cycle=8, outstanding=0)


def _stuck_dma(net, done):
    ports = [_port(net, "a"), _port(net, "b")]
    row = {"source": 0, "destination": 0, "bytes": 100}
    moves = net.place("moves", lib.Move, start=True, init=[row])
    end = lib.dma(net, "dma", moves, *ports, writes=0)
    net.transition("end", take={"t": end}, put=[done])
    for k, port in enumerate(ports):
        lib.memory(net, f"memory{k}", port, latency=1, bytes_per_cycle=8)


def _stuck_interconnect(net, done):
    one, other = _port(net, "m"), _port(net, "s")
    asks = net.place("asks", lib.Access, start=True, init=[dict(address=0, bytes=8, write=0, id=0)])
    net.transition("ask", take={"t": asks}, put=[one.requests.forward("t")])
    net.transition("end", take={"t": one.responses}, put=[done])
    lib.interconnect(net, "bus", [one], [other], lambda t: 1)
    lib.memory(net, "memory", other, latency=1, bytes_per_cycle=8)


def _stuck_reorder_buffer(net, done):
    asks = net.place("asks", Tagged, start=True, init=[{"tag": 0}] * 2)
    answers = net.place("answers", Tagged)
    issued, out = lib.reorder_buffer(net, "rob", asks, answers, 2)
    lost = net.place("lost", Tagged, sink=True)
    for k, target in enumerate((answers, lost)):
        served = issued.take(guard=lambda t, k=k: t.tag == k)
        net.transition(f"serve{k}", take={"t": served}, put=[target.forward("t")])
    net.transition("end", take={"t": out}, put=[done])


def _stuck_pipeline(net, done):
    words = net.place("words", Tagged, start=True, init=[{"tag": k} for k in range(3)])
    out = net.place("out", Tagged, capacity=1, sink=True)
    lib.pipeline(net, "pipeline", words, 2, out=out)


def test_more_requests_than_ids_are_no_answer_of_another(monkeypatch):
    monkeypatch.setattr("lpn.lib._reorder.IDS", 4)
    net = lpn.Net("n")
    memory = _port(net, "memory")
    net.transition(
        "bank",
        take={"t": memory.requests},
        put=[memory.responses.forward("t")],
        delay=lambda t: lpn.select(t.address == 0, 100, 1),
    )
    front = lib.in_order(net, "front", memory)
    asks = net.place("asks", lib.Access, start=True)
    net.transition("ask", take={"t": asks}, put=[front.requests.forward("t")], delay=1, servers=1)
    done = net.place("done", lib.Access, done=True, sink=True)
    net.transition("end", take={"t": front.responses}, put=[done.forward("t")])
    work = lpn.Marking(net)
    work.add_rows("asks", [(k, 1, False, 0) for k in range(4)])
    assert lpn.simulate(net, work).latency == 101
    work.add("asks", address=4, bytes=1, write=False, id=0)
    with pytest.raises(lpn.RunError, match="told apart by their ids"):
        lpn.simulate(net, work)


@pytest.mark.parametrize(
    "stuck, left",
    [
        (_stuck_memory, "m.requests"),
        (_stuck_dma, "dma.ending"),
        (_stuck_interconnect, "bus.asked0"),
        (_stuck_reorder_buffer, "rob.order"),
        (_stuck_pipeline, "pipeline.s1.result"),
    ],
)
def test_a_part_that_keeps_work_for_ever_has_stalled(stuck, left):
    """Such a run ended as a quiet one, whose latency was that of what had come out before."""
    net = lpn.Net("n")
    stuck(net, net.place("done", done=True, sink=True))
    run = lpn.simulate(net, engine="interp")
    assert run.stalled and left in run.undrained


def test_an_access_of_two_lines_is_an_error():
    net = lpn.Net("n")
    up, down = _port(net, "up"), _port(net, "down")
    lib.cache(net, "l1", up, down, sets=2, ways=1, line=64)
    lib.memory(net, "m", down, latency=1, bytes_per_cycle=8)
    asks = net.place("asks", lib.Access, start=True)
    net.transition("ask", take={"t": asks}, put=[up.requests.forward("t")])
    marking = lpn.Marking(net)
    marking.add("asks", address=60, bytes=8, write=False, id=0)
    with pytest.raises(lpn.Error, match="an access lies in one line") as failed:
        lpn.simulate(net, marking, engine="interp")
    assert failed.value.code == "E-assume"


def test_caches_of_different_sizes_stand_behind_each_other():
    """Each size has token types of its own; the second was refused for the name of the first's."""
    net = lpn.Net("n")
    core, middle, memory = (_port(net, name) for name in ("core", "middle", "memory"))
    lib.cache(net, "l1", core, middle, sets=2, ways=2, line=64, mshrs=2, merges=1)
    lib.cache(net, "l2", middle, memory, sets=4, ways=2, line=128, mshrs=4, merges=4)
    lib.memory(net, "m", memory, latency=20, bytes_per_cycle=8)
    asks = net.place("asks", lib.Access, start=True)
    done = net.place("done", lib.Access, done=True, sink=True)
    net.transition("ask", take={"t": asks}, put=[core.requests.forward("t")])
    net.transition("end", take={"t": core.responses}, put=[done.forward("t")])
    marking = lpn.Marking(net)
    for address in (0, 64, 8):
        marking.add("asks", address=address, bytes=8, write=False, id=0)
    run = lpn.simulate(net, marking, engine="interp", stats=True)
    # Both lines of l1 are halves of one line of l2.
    commits = {t: run.stats["transitions"][t]["commits"] for t in ("l1.written", "m.bus")}
    assert run.done_tokens == 3 and commits == {"l1.written": 0, "m.bus": 1}


def test_a_transfer_ends_beyond_the_last_address_that_one_begins_at():
    net = lpn.Net("n")
    transfers = net.place("transfers", lib.Transfer, start=True)
    done = net.place("done", lib.Burst, done=True, sink=True)
    lib.bursts(net, "cut", transfers, most=4096, out=done)
    marking = lpn.Marking(net)
    marking.add("transfers", address=2**48 - 4096, bytes=8192)
    run = lpn.simulate(net, marking, engine="interp", read=["done"])
    assert run.tokens["done"] == [(2**48 - 4096, 4096, 0), (2**48, 4096, 1)]
