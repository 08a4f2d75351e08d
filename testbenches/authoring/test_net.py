"""What places, arcs, parameters and markings mean, by interpretation."""

import array
import enum

import _lpn
import lpn
import pytest


class Word(lpn.Token):
    n: lpn.Int[0, 100]
    k: lpn.Int


def tokens(net, place, marking=None, params=()):
    """The tokens in a place at the end of a run."""
    net.done()
    marking = marking or lpn.Marking(net)
    interp = _lpn.Interp(net.core, net.core.bind_params(list(params)), marking._core)
    interp.run()
    flat = interp.tokens(net[place]._number)
    width = len(net[place].fields)
    return (
        [tuple(flat[j : j + width]) for j in range(0, len(flat), width)]
        if width
        else interp.occupancy(net[place]._number)
    )


def words(*rows):
    return [{"n": n, "k": k} for n, k in rows]


def test_weights_thresholds_and_aggregates():
    net = lpn.Net("n")
    head = net.place("head", Word, init=words((2, 0), (3, 0)))
    items = net.place("items", Word, init=words(*[(j, 10 * j) for j in range(1, 7)]))
    out = net.place("out", Word, sink=True)
    net.transition(
        "collect",
        take={"head": head, "item": items.take(lambda head: head.n)},
        put=[
            out.emit(
                n=lambda item: lpn.max(item, lambda t: t.n) - lpn.min(item, lambda t: t.n),
                k=lambda item: lpn.sum(item, lambda t: t.k),
            )
        ],
        delay=lambda item: item.taken,
        servers=1,
    )
    assert tokens(net, "out") == [(1, 30), (2, 120)]
    assert tokens(net, "items") == [(6, 60)]


def test_need_more_than_taken():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((1, 1), (2, 2), (3, 3)))
    out = net.place("out", Word, sink=True)
    net.transition(
        "t", take={"w": a.take(1, need=2)}, put=[out.emit(n=lambda w: w[1].n, k=lambda w: w[-1].k)]
    )
    assert tokens(net, "out") == [(2, 2), (3, 3)]


def test_own_head_decides_the_weight():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((2, 5), (9, 6), (1, 7), (3, 8)))
    out = net.place("out", Word, sink=True)
    net.transition("t", take={"w": a.take(lambda w: w.n)}, put=[out.forward("w")], servers=1)
    assert tokens(net, "out") == [(2, 5), (9, 6), (1, 7)]


def test_peek_reads_and_leaves():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((7, 1)))
    go = net.place("go", init=2)
    out = net.place("out", Word, sink=True)
    net.transition(
        "t", take={"w": a.peek(), "go": go}, put=[out.forward("w", k=lambda w, i: w.k + i)]
    )
    assert tokens(net, "out") == [(7, 1), (7, 1)]
    assert tokens(net, "a") == [(7, 1)]


def test_empty_and_watch():
    net = lpn.Net("n")
    busy = net.place("busy", init=1)
    work = net.place("work", Word, init=words((1, 1), (2, 2)))
    out = net.place("out", Word, sink=True)
    net.transition("rest", take={"b": busy}, delay=10)
    net.transition(
        "t",
        take={"w": work, "b": busy.empty(), "o": out.watch()},
        delay=1,
        servers=1,
        put=[out.emit(n=lambda o, w: o.count * 10 + w.n, k=lambda o: o.free)],
    )
    assert tokens(net, "out") == [(1, 0), (12, 1)]


def test_forward_all_and_replace():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((1, 1), (2, 2), (3, 3)))
    out = net.place("out", Word, sink=True)
    net.transition(
        "t",
        take={"w": a.take(3)},
        put=[out.forward("w", k=lambda w, i: 100 * i + w[i].n), out.forward("w")],
        servers=1,
    )
    assert tokens(net, "out") == [(1, 1), (2, 102), (3, 203), (1, 1), (2, 2), (3, 3)]


def test_emission_with_index_and_bool_count():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((70, 1), (0, 2)))
    out = net.place("out", Word, sink=True)
    mark = net.place("mark", sink=True)
    net.transition(
        "split",
        take={"rq": a},
        servers=1,
        put=[
            out.emit(
                count=lambda rq: -(-rq.n // 32),
                n=lambda rq, i: min(32, rq.n - i * 32),
                k=lambda i: i,
            ),
            mark.emit(count=lambda rq: rq.n > 0),
        ],
    )
    assert tokens(net, "out") == [(32, 0), (32, 1), (6, 2)]
    assert tokens(net, "mark") == 1


def test_parameters_everywhere():
    net = lpn.Net("n")
    p = net.param("p", 2, range=(1, 9))
    q = net.param("q", 1)
    a = net.place("a", init=p * 3)
    out = net.place("out", capacity=p + 4, done=True)
    typed = net.place("typed", Word, init=[{"n": p, "k": q - 1}], sink=True)
    tags = net.place("tags", Word, init=lpn.tokens(p, n=lambda i: i * 2, k=q), sink=True)
    net.transition(
        "t",
        take={"x": a},
        put=[out],
        delay=lambda: p * 5,
        servers=p,
        clock=(p, q),
        interval=lambda: q,
    )
    run = lpn.simulate(net, engine="interp")
    assert run.done_tokens == 6 and run.latency is not None
    assert tokens(net, "typed") == [(2, 0)] and tokens(net, "tags") == [(0, 1), (2, 1)]
    assert tokens(net, "typed", params=[("p", 5), ("q", 3)]) == [(5, 2)]
    assert typed.fields == ["n", "k"] and tags.net is net


def test_parameter_decides_a_branch_inside_a_formula():
    net = lpn.Net("n")
    wide = net.param("wide", 0, range=(0, 1))
    a = net.place("a", init=1)
    out = net.place("out", done=True, sink=True)
    net.transition("t", take={"x": a}, put=[out], delay=lambda: 3 if wide else sum(range(wide + 4)))
    assert lpn.simulate(net, engine="interp").latency == 6
    assert lpn.simulate(net, params={"wide": 1}, engine="interp").latency == 3


def test_guards_stand_at_the_last_arc_they_name():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((1, 1)))
    b = net.place("b", Word, init=words((2, 1)))
    c = net.place("c", init=1)
    net.transition("t", take={"x": a, "y": b, "z": c}, guard=lambda y, x: x.k == y.k, servers=1)
    arcs = net.core.transitions[0].inputs
    assert [arc.guard is not None for arc in arcs] == [False, True, False]
    net.transition(
        "u",
        take={"x": a.take(guard=lambda x: x.n > 0), "y": b},
        guard=[lambda x: x.k == 1, lambda y: y.n == 2],
        servers=1,
    )
    arcs = net.core.transitions[1].inputs
    assert net.core.text(net.core.transitions[1], arcs[0].guard[0]) == "x.n > 0 and x.k == 1"
    assert arcs[1].guard is not None


def test_bool_field_as_guard():
    class Flagged(lpn.Token):
        last: bool

    net = lpn.Net("n")
    a = net.place("a", Flagged, init=[{"last": True}, {"last": False}])
    out = net.place("out", sink=True)
    net.transition("t", take={"x": a}, guard=lambda x: x.last, put=[out], servers=1)
    assert tokens(net, "out") == 1


def test_enum_values():
    class Kind(enum.IntEnum):
        READ = 1
        WRITE = 2

    class Op(lpn.Token):
        kind: Kind

    net = lpn.Net("n")
    a = net.place("a", Op, init=[Op(kind=Kind.WRITE), {"kind": Kind.READ}])
    out = net.place("out", Op, sink=True)
    net.transition(
        "t",
        take={"x": a},
        servers=1,
        put=[out.emit(kind=lambda x: Kind.READ if x.kind == Kind.WRITE else Kind.WRITE)],
    )
    assert tokens(net, "out") == [(1,), (2,)]


def test_inherited_properties():
    class More(Word):
        z: bool

    assert list(More._properties) == ["n", "k", "z"]


def test_take_as_a_list():
    net = lpn.Net("n")
    a, b = net.place("a", init=1), net.place("b", Word, init=words((5, 5)))
    out = net.place("out", done=True, sink=True)
    net.transition("t", take=[a, b.take(1)], put=out, delay=lambda b: b.n)
    assert lpn.simulate(net, engine="interp").latency == 5


def test_done_count():
    net = lpn.Net("n")
    tick = net.place("tick", init=1)
    out = net.place("out", done=True, sink=True)
    net.transition("t", take={"x": tick}, put=[tick, out], delay=7)
    net.done_count = net.param("runs", 3)
    run = lpn.simulate(net, engine="interp")
    assert (run.latency, run.ending) == (21, "done")
    marking = lpn.Marking(net)
    marking.done_count = 5
    assert lpn.simulate(net, marking, engine="interp").latency == 35
    assert lpn.simulate(net, limit=10, params={"runs": 99}, engine="interp").ending == "limit"


def workload_net():
    net = lpn.Net("n")
    a = net.place("a", Word, start=True)
    s = net.place("slots", start=True)
    out = net.place("out", Word, done=True, sink=True)
    net.transition("t", take={"w": a, "s": s}, put=[out.forward("w")], delay=1, servers=1)
    return net


def test_marking_forms(tmp_path):
    net = workload_net()
    m = lpn.Marking(net)
    m.add("a", n=1, k=2)
    m.add("a", Word(n=3, k=4))
    m.add(net["a"], n=5, k=6, count=2)
    m.add_rows("a", [(7, 8), {"k": 10, "n": 9}, Word(n=11, k=12)])
    m.add_columns("a", n=array.array("q", [13, 14]), k=-1)
    m.add("slots", count=9)
    want = [(1, 2), (3, 4), (5, 6), (5, 6), (7, 8), (9, 10), (11, 12), (13, -1), (14, -1)]
    assert m.rows("a") == want and m.count("slots") == 9 and m.rows("slots") == [()] * 9
    m.done_count = 4
    path = tmp_path / "m.lpnm"
    m.save(path)
    again = lpn.Marking.load(net, path)
    assert again.rows("a") == want and again.count("slots") == 9
    assert again.done_count == 4 and tokens(net, "out", again) == want[:4]
    again.done_count = None
    assert tokens(net, "out", again) == want
    assert repr(m) == "<marking of net 'n': a: 9, slots: 9>"


def test_marking_numpy_columns():
    numpy = pytest.importorskip("numpy")
    net = workload_net()
    m = lpn.Marking(net)
    m.add_columns("a", n=numpy.arange(5), k=numpy.full(5, 7))
    m.add("a", n=numpy.int64(3), k=numpy.int32(4))
    assert m.rows("a")[-2:] == [(4, 7), (3, 4)]
    with pytest.raises(lpn.Error, match="contiguous 64-bit"):
        m.add_columns("a", n=numpy.arange(10)[::2], k=1)


def test_stalled_run_names_the_reason():
    net = workload_net()
    m = lpn.Marking(net)
    m.add("a", n=1, k=1, count=2)
    m.add("slots")
    run = lpn.simulate(net, m, engine="interp")
    assert run.stalled and run.undrained == ["a"] and run.blocked == [("t", "no token", "s")]


def test_trace_and_stats():
    net = workload_net()
    m = lpn.Marking(net)
    m.add("a", n=1, k=1, count=2)
    m.add("slots", count=2)
    run = lpn.simulate(net, m, engine="interp", trace=True, stats=True)
    assert [(c.time, c.start, c.firing, c.produced) for c in run.trace] == [
        (1, 0, 0, [1]),
        (2, 1, 1, [1]),
    ]
    assert run.trace[0].taken == [[("initial", 0, 0)], [("initial", 1, 0)]]
    assert run.stats["transitions"]["t"]["busy"] == 2 and run.stats["places"]["a"]["peak"] == 2


def test_load_python_lpn_and_bundled(tmp_path):
    model = tmp_path / "tiny.py"
    model.write_text(
        "import lpn\n\n\n"
        "def net(*, stages=2):\n"
        "    net = lpn.Net('tiny')\n"
        "    p = net.param('cycles', 5)\n"
        "    a = net.place('a', start=True)\n"
        "    net.transition('t', take={'x': a}, delay=p * stages, servers=1)\n"
        "    return net\n\n\n"
        "def workload(input, net):\n"
        "    m = lpn.Marking(net)\n"
        "    m.add('a', count=int(input))\n"
        "    return m\n"
    )
    loaded = lpn.load(str(model))
    net = loaded.net(stages=3, cycles=2)
    assert lpn.simulate(net, loaded.workload("4", net), engine="interp").latency == 24
    with pytest.raises(
        lpn.Error, match="model 'tiny' has no parameter 'depth'; it has: stages, cycles"
    ):
        loaded.net(depth=1)
    net.save(tmp_path / "tiny.lpn")
    shipped = lpn.load(tmp_path / "tiny.lpn")
    again = shipped.net(cycles=3)
    (tmp_path / "in.json").write_text('{"a": 2}')
    assert (
        lpn.simulate(again, shipped.workload(tmp_path / "in.json", again), engine="interp").latency
        == 18
    )
    named = lpn.load(f"{model}:net")
    assert named.name == "tiny"


def test_round_trip_of_everything():
    net = lpn.Net("n")
    p = net.param("p", 2, range=(1, 9))
    a = net.place("a", Word, capacity=p, init=lpn.tokens(p, n=lambda i: i, k=p), drain=True)
    b = net.place("b", init=p, start=True)
    c = net.place("c", sink=True)
    d = net.place("d", Word, done=True)
    net.transition(
        "t",
        take={
            "w": a.take(2, need=lambda w: 2 + w.n % 2, guard=lambda w: w[0].n < w[1].n),
            "b": b.peek(p),
            "c": c.watch(),
        },
        put=[
            d.forward("w"),
            d.emit(
                count=lambda w: lpn.sum(w, lambda t: t.n), n=lambda i: i % 9, k=lambda c: c.count
            ),
        ],
        delay=lambda w: lpn.lookup([1, 2, 3], w[0].n % 3) if w[0].k > 0 else max(w[1].n, 3),
        servers=p,
        interval=1,
        ordered=True,
        clock=(p, 1),
    )
    net.transition(
        "u", take={"b": b, "c": c.empty()}, guard=lambda b: b.free > 1, put=[c], delay=1, servers=1
    )
    net.done_count = p * 2
    text = net.text()
    parsed = lpn.Net.parse(text)
    assert parsed.text() == text
    assert list(parsed.places) == ["a", "b", "c", "d"] and parsed.params == {"p": 2}


def test_verification_reports_every_violation():
    net = lpn.Net("n")
    a = net.place("a", start=True, done=True)
    net.transition("t", put=[a], delay=-1)
    with pytest.raises(lpn.Error) as error:
        net.done()
    assert len([line for line in str(error.value).splitlines() if not line.startswith("  at")]) == 3


def test_errors_can_be_pickled():
    import pickle

    net = workload_net()
    with pytest.raises(lpn.Error) as error:
        lpn.simulate(net, params={"x": 1})
    copy = pickle.loads(pickle.dumps(error.value))
    assert copy.code == "E-param" and str(copy) == str(error.value)


def test_property_names_never_clash_with_arguments():
    class Odd(lpn.Token):
        self: lpn.Int
        place: lpn.Int
        token: lpn.Int
        arc: lpn.Int

    net = lpn.Net("n")
    a = net.place("a", Odd, start=True)
    b = net.place("b", Odd, sink=True)
    net.transition(
        "t",
        take={"x": a},
        servers=1,
        put=[
            b.emit(self=1, place=lambda x: x.token, token=3, arc=4),
            b.forward("x", arc=lambda x: x.arc + 1, token=7),
        ],
    )
    m = lpn.Marking(net)
    m.add("a", self=5, place=6, token=7, arc=8)
    m.add("a", Odd(self=5, place=6, token=7, arc=8))
    m.add_columns("a", self=array.array("q", [5]), place=6, token=7, arc=8)
    assert tokens(net, "b", m) == [(1, 7, 3, 4), (5, 6, 7, 9)] * 3


def test_postponed_annotations():
    low = 3
    scope = {}
    exec(
        "from __future__ import annotations\nimport lpn\n\n"
        "def make(high):\n    class P(lpn.Token):\n        x: lpn.Int[0, 5]\n        y: bool\n    return P\n",
        scope,
    )
    made = scope["make"](low)
    assert repr(made._properties["x"]) == "Int[0, 5]" and made._properties["y"].range == (0, 1)


def test_a_sum_used_inside_another_sum():
    net = lpn.Net("n")
    a = net.place("a", Word, init=words((1, 10), (2, 20), (3, 30)))
    b = net.place("b", Word, init=words((5, 1), (7, 2)))
    out = net.place("out", Word, sink=True)

    def weighted(x, y):
        total = lpn.sum(x, lambda t: t.n)  # 6
        top = lpn.max(y, lambda u: u.n + lpn.sum(x, lambda t: t.n * u.k))  # 7 + 12
        return lpn.sum(y, lambda u: u.n * total + lpn.max(x, lambda t: t.k - u.n + total)) + top

    net.transition(
        "t", take={"x": a.take(3), "y": b.take(2)}, put=[out.emit(n=1, k=weighted)], servers=1
    )
    assert tokens(net, "out") == [(1, (5 * 6 + 31) + (7 * 6 + 29) + 19)]


@pytest.mark.parametrize(
    "rows, said",
    [
        ([(1,), 2], "row 1 of 'q' is 2; write a tuple of the values of n, a dict, or a token"),
        (["5"], "row 0 of 'q' is '5'; write a tuple of the values of n, a dict, or a token"),
        (5, "add_rows needs a list of rows, got 5"),
    ],
)
def test_rows_that_are_none(rows, said):
    class Word(lpn.Token):
        n: lpn.Int[0, 9]

    net = lpn.Net("n")
    net.transition(
        "t",
        take={"w": net.place("q", Word, start=True)},
        put=[net.place("d", done=True)],
        servers=1,
    )
    with pytest.raises(lpn.Error) as refused:
        lpn.Marking(net).add_rows("q", rows)
    assert (refused.value.code, str(refused.value).splitlines()[0]) == ("E-marking", said)


def test_a_bool_property_beside_a_condition():
    class Flagged(lpn.Token):
        b: bool
        k: lpn.Int[0, 3]

    net = lpn.Net("n")
    queue, done = net.place("q", Flagged, start=True), net.place("d", done=True)
    net.transition(
        "t",
        take={"p": queue.take(guard=lambda p: p.b | (p.k == 1))},
        put=[done],
        delay=1,
        servers=1,
    )
    for b in (False, True):
        for k in range(4):
            marking = lpn.Marking(net)
            marking.add("q", b=b, k=k)
            assert lpn.simulate(net, marking).stalled == (not (b or k == 1))


def test_a_property_called_at_is_a_property():
    class Due(lpn.Token):
        at: lpn.Int[0, 99]

    class Sent(lpn.Token):
        size: int

    net = lpn.Net("n")
    due, sent = net.place("due", Due, start=True), net.place("sent", Sent, start=True)
    net.transition("t", take={"due": due}, put=[net.place("q")], delay=lambda due: due.at)
    net.transition("u", take={"sent": sent}, put=[net.place("r")], delay=1)
    by_word, by_column, arriving = (lpn.Marking(net) for _ in range(3))
    by_word.add("due", at=7)
    by_column.add_columns("due", at=array.array("q", [7]))
    arriving.add("due", Due(at=7), at=3)
    arriving.add("sent", size=1, at=20)
    latencies = [lpn.simulate(net, each).last_commit for each in (by_word, by_column, arriving)]
    assert latencies == [7, 7, 21]
    with pytest.raises(lpn.Error, match="a token of 'due' needs exactly: at; got: none"):
        by_word.add("due")


def test_a_frequency_is_for_people():
    net = lpn.Net("n")
    assert net.frequency is None and "frequency" not in net.text()
    net.frequency = 250e6
    assert net.frequency == 250_000_000 and type(net.frequency) is int
    assert lpn.Net.parse(net.text()).frequency == 250_000_000
    for value in (0, -1, 1.5, True, "1 GHz", float("nan"), float("inf"), 10**15 + 1, 10**30):
        with pytest.raises(lpn.Error, match="E-frequency|must be ticks a second") as error:
            net.frequency = value
        assert error.value.code == "E-frequency"
    net.frequency = None
    assert net.frequency is None


def test_an_instance_has_the_ticks_of_the_net_around_it():
    class Item(lpn.Token):
        x: lpn.Int[0, 9]

    def chain(name, hz, *parts):
        """A net of that frequency around parts (prefix, part, clock)."""
        net = lpn.Net(name)
        net.frequency = hz
        places = [net.place(f"p{k}", Item, start=k == 0) for k in range(len(parts) + 2)]
        net.transition("t", take={"r": places[0]}, put=[places[1].forward("r")], delay=10)
        for k, (prefix, part, clock) in enumerate(parts, 1):
            ends = {"p0": places[k], list(part.places)[-1]: places[k + 1]}
            net.instance(part, prefix, connect=ends, clock=clock)
        return net

    slow, odd = chain("slow", 250e6), chain("odd", 333_333_333)
    with pytest.raises(lpn.Error, match="1000000000 ticks.*but 250000000.*'c'.*write clock=4"):
        chain("fast", 1e9, ("c", slow, None))
    with pytest.raises(lpn.Error, match="but 500000000 by instance 'c'.*write clock=4"):
        chain("fast", 1e9, ("c", slow, 2))
    with pytest.raises(lpn.Error, match="let net 'fast' have ticks of which both"):
        chain("fast", 1e9, ("c", chain("other", 300e6), 3))
    # A whole number of ticks a second is near enough; parts that say nothing say nothing wrong.
    chain("fast", 1e9, ("c", slow, (4, 1)), ("d", odd, 3), ("e", chain("any", None), None))
    # Two parts of a net that states none; then what they make of it.
    with pytest.raises(lpn.Error, match="by instance 'c', but 333333333 by instance 'd'"):
        chain("whole", None, ("c", slow, None), ("d", odd, None))
    whole = chain("whole", None, ("c", slow, None))
    assert whole.frequency is None
    with pytest.raises(lpn.Error, match="by the frequency of net 'whole', but 250000000 by inst"):
        whole.frequency = 1e9
    whole.frequency = 250e6
    with pytest.raises(lpn.Error, match="1000000000 ticks.*but 250000000 by instance 'w'"):
        chain("top", 1e9, ("w", chain("inner", None, ("c", slow, None)), None))
