"""net.always: assertions over the marking, in every engine, in text, inside instances."""

import lpn
import pytest


class Packet(lpn.Token):
    words: lpn.Int[1, 64]


def queues(most=2, checked=True):
    """`fetch` fills `buffer` every 2 cycles, `send` takes 10: the third packet is there at 6."""
    net = lpn.Net("queues")
    queue = net.place("queue", Packet, start=True)
    buffer = net.place("buffer", Packet)
    sent = net.place("sent", done=True)
    put = [buffer.forward("pkt")]
    net.transition("fetch", take={"pkt": queue}, put=put, delay=2, servers=1)
    if checked:
        net.always("short", {"b": buffer}, lambda b: b.count <= most)
    net.transition("send", take={"pkt": buffer}, put=[sent], delay=10, servers=1)
    return net


def packets(net, count=5, place="queue"):
    work = lpn.Marking(net)
    work.add(place, words=1, count=count)
    return work


LINE = queues.__code__.co_firstlineno + 9

WORDS = f"""net 'queues' at time 6: the assertion 'short' does not hold
  in occupancy(b) <= 2
  tokens: b.count=3
  at test_always.py:{LINE}"""


@pytest.mark.parametrize("engine", ["interp", "compiled"])
@pytest.mark.parametrize("stats", [False, True])
def test_a_violated_one_ends_the_run_and_says_all(engine, stats):
    net = queues()
    with pytest.raises(lpn.RunError) as error:
        lpn.simulate(net, packets(net), engine=engine, stats=stats)
    assert error.value.code == "E-assume" and error.value.time == 6
    assert str(error.value).replace("testbenches/authoring/", "") == WORDS


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_one_that_holds_changes_nothing(engine):
    net, plain = queues(most=9), queues(checked=False)
    checked = lpn.simulate(net, packets(net), engine=engine)
    other = lpn.simulate(plain, packets(plain), engine=engine)
    assert (checked.latency, checked.commits, checked.ending, checked.stalled) == (
        other.latency,
        other.commits,
        other.ending,
        other.stalled,
    )
    assert net.assertions == ["short"] and plain.assertions == []


def test_batches():
    net = queues()
    runs = lpn.run_batch(net, [packets(net, n) for n in (1, 2, 3, 4)], errors="return")
    assert [getattr(run, "latency", None) for run in runs] == [12, 22, None, None]
    assert str(runs[3]).replace("testbenches/authoring/", "") == WORDS


def test_text_form_and_back():
    net = queues()
    again = lpn.Net.parse(net.text())
    assert again.assertions == ["short"] and again.text() == net.text()
    with pytest.raises(lpn.RunError, match="the assertion 'short' does not hold"):
        lpn.simulate(again, packets(again))


def test_inside_an_instance():
    top = lpn.Net("top")
    feed = top.place("feed", Packet, start=True)
    top.instance(queues(), "part", {"queue": feed})
    assert top.assertions == ["part.short"]
    with pytest.raises(lpn.RunError, match="time 6: the assertion 'part.short' does not hold"):
        lpn.simulate(top, packets(top, place="feed"))


def test_several_places_and_a_parameter():
    """Slots in use and free ones are together as many as there are, at every instant."""
    net = lpn.Net("credits")
    slots = net.param("slots", default=3, range=(1, 8))
    queue = net.place("queue", Packet, start=True)
    free = net.place("free", init=slots)
    used = net.place("used", Packet)
    sent = net.place("sent", done=True)
    net.transition("get", take={"p": queue, "f": free}, put=[used.forward("p")], delay=3)
    give = net.transition("give", take={"p": used}, put=[sent, free], delay=7)
    assert give is None
    net.always("conserved", [free, used], lambda free, used: free.count + used.count == slots)
    for value in (1, 3, 8):
        assert not lpn.simulate(net, packets(net, 9), {"slots": value}).stalled


def test_a_lost_credit_is_found_at_its_instant():
    net = lpn.Net("lost")
    queue = net.place("queue", Packet, start=True)
    free, sent = net.place("free", init=3), net.place("sent", done=True)
    net.transition("use", take={"p": queue, "f": free}, put=[sent], delay=4, servers=1)
    net.always("conserved", [free], lambda free: free.count == 3)
    with pytest.raises(lpn.RunError, match="at time 4: .*'conserved'.*\n.*\n.*free.count=2"):
        lpn.simulate(net, packets(net, 2))


def test_arrivals_are_seen():
    net = lpn.Net("late")
    queue, done = net.place("queue", start=True), net.place("done", done=True)
    net.transition("serve", take={"x": queue}, put=[done], delay=30, servers=1)
    net.always("short", [queue], lambda queue: queue.count < 3)
    work = lpn.Marking(net)
    work.add_rows("queue", [(), (), ()], at=[5, 9, 11])
    for engine in ("interp", "compiled"):
        with pytest.raises(lpn.RunError, match="at time 11"):
            lpn.simulate(net, work, engine=engine)


def test_an_assert_inside_says_its_own_words():
    def holds(b):
        assert b.count != 3, "three is a crowd"
        return b.count < 5

    net = lpn.Net("words")
    queue, b = net.place("queue", start=True), net.place("b", sink=True)
    net.transition("move", take={"q": queue}, put=[b], delay=1, servers=1)
    net.always("few", {"b": b}, holds)
    work = lpn.Marking(net)
    work.add("queue", count=4)
    with pytest.raises(lpn.RunError) as error:
        lpn.simulate(net, work)
    assert "the assertion 'few' does not hold: three is a crowd\n  in occupancy(b) != 3" in str(
        error.value
    )


def test_check_has_no_warning_for_it():
    assert [w.code for w in queues().done().core.lint()] == ["W-unread"] or not [
        w for w in queues().done().core.lint() if w.transition == 1
    ]


def bad(call):
    net = lpn.Net("n")
    a = net.place("a", Packet, start=True)
    with pytest.raises(lpn.Error) as error:
        call(net, a)
    return error.value.code, str(error.value).splitlines()[0]


@pytest.mark.parametrize(
    "call, code, message",
    [
        (
            lambda net, a: net.always("x", [a], lambda a: a.free < 3),
            "E-arc",
            "an assertion reads no 'a.free', which changes from start to start within an instant; "
            "write a.count, the tokens in the hands of a firing included",
        ),
        (
            lambda net, a: net.always("x", [a], lambda a: a.words < 3),
            "E-arc",
            "an assertion looks at no token of 'a'; write a.count, how many",
        ),
        (
            lambda net, a: net.always("x", [a], lambda a: a.count),
            "E-result",
            "the lambda must return a condition, got int occupancy(a); compare it with something: "
            "x > 0",
        ),
        (
            lambda net, a: net.always("x", [a], lambda a: True),
            "E-operand",
            "holds does not depend on how many tokens are where",
        ),
        (
            lambda net, a: net.always("x", [], lambda: True),
            "E-arc",
            "an assertion is over places; look at one: {arc: place}",
        ),
        (
            lambda net, a: net.always("x", {"a": 3}, lambda a: a.count < 3),
            "E-arc",
            "an assertion looks at places, got 3",
        ),
        (
            lambda net, a: net.always("x", [a], True),
            "E-operand",
            "holds is a function of the places looked at that returns a condition, got True",
        ),
    ],
)
def test_mistakes(call, code, message):
    found, text = bad(call)
    assert found == code and message in text


def test_a_name_twice():
    net = queues()
    with pytest.raises(lpn.Error, match="has a transition 'send' already"):
        net.always("send", [net["queue"]], lambda queue: queue.count < 9)


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_condition_that_cannot_be_computed_is_an_error_too(engine):
    net = lpn.Net("n")
    a, out = net.place("a", start=True), net.place("out", done=True)
    net.transition("t", take={"x": a}, put=[out], delay=2, servers=1)
    net.always("ratio", [a], lambda a: 6 // a.count < 7)
    work = lpn.Marking(net)
    work.add("a", count=2)
    with pytest.raises(lpn.RunError, match="transition 'ratio.a.guard' at time 4: divides by 0"):
        lpn.simulate(net, work, engine=engine)
