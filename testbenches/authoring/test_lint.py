"""The warnings: which nets get them, with their texts, and which do not."""

import lpn
import pytest
from lpn import lib


class Word(lpn.Token):
    n: lpn.Int[0, 9]


def warnings(net):
    net.done()
    return [(w.code, w.message.splitlines()[0]) for w in net.core.lint()]


def base():
    net = lpn.Net("n")
    return net, net.place("a", Word, start=True), net.place("b", Word, done=True)


def test_clean_net():
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=lambda w: w.n, servers=1)
    assert warnings(net) == []


@pytest.mark.parametrize("options", [{"servers": 1}, {"interval": 1}])
def test_bounded_by_option(options):
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=3, **options)
    assert warnings(net) == []


def test_unbounded():
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=3)
    assert warnings(net) == [
        (
            "W-unbounded",
            "transition 't': nothing bounds how many firings run at once; write servers=1 for one unit, "
            "interval=1 for a pipeline that starts one per cycle, or take a credit that its consumer gives back",
        )
    ]
    assert net.core.lint()[0].source[1] > 0


def test_bounded_by_credits_and_capacity():
    net, a, b = base()
    free = net.place("free", init=2)
    mid = net.place("mid", Word)
    net.transition("t", take={"w": a, "slot": free}, put=[mid.forward("w")], delay=3)
    net.transition("u", take={"w": mid}, put=[b.forward("w"), free])
    assert warnings(net) == []
    net, a, b = base()
    mid = net.place("mid", Word, capacity=2)
    net.transition("t", take={"w": a}, put=[mid.forward("w")], delay=3)
    net.transition("u", take={"w": mid}, put=[b.forward("w")], delay=3)
    assert warnings(net) == []


def test_overtake():
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=lambda w: w.n, interval=1)
    assert warnings(net) == [
        (
            "W-overtake",
            "transition 't': its delay differs per firing and firings overlap, so a later one may commit "
            "first; write ordered=True to keep the order, or servers=1 for one at a time",
        )
    ]
    for options in ({"ordered": True, "interval": 1}, {"servers": 1}, {"servers": 2}):
        net, a, b = base()
        net.transition("t", take={"w": a}, put=[b.forward("w")], delay=lambda w: w.n, **options)
        assert warnings(net) == []


def test_a_lock_is_one_at_a_time():
    net, a, b = base()
    idle = net.place("idle", init=1)
    net.transition(
        "t", take={"w": a, "idle": idle}, put=[b.forward("w"), idle], delay=lambda w: w.n
    )
    assert warnings(net) == []


def test_overtake_needs_tokens_in_the_delay():
    net, a, b = base()
    delay = net.param("delay", 3, range=(0, 9))
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=delay, interval=1)
    assert warnings(net) == []


def test_occupancy_guard():
    net, a, b = base()
    net.transition(
        "t", take={"w": a, "b": b.watch()}, guard=lambda b: b.count < 4, put=[b.forward("w")]
    )
    assert warnings(net) == [
        (
            "W-occupancy",
            "transition 't': its guard reads how many tokens 'b' has, which a start does not change, so "
            "several start on one free slot; write servers=1, or give 'b' a capacity",
        )
    ]


def test_never_filled_never_drained_dead():
    net = lpn.Net("n")
    a, b = net.place("a", Word), net.place("b", Word)
    net.transition("t", take={"w": a}, put=[b.forward("w")], servers=1)
    assert warnings(net) == [
        (
            "W-dead",
            "transition 't': can never start: nothing fills 'a'; declare start=True if the workload does",
        ),
        (
            "W-never-filled",
            "place 'a': no transition puts tokens into it and it starts empty; declare start=True if the "
            "workload fills it",
        ),
        (
            "W-never-drained",
            "place 'b': no transition takes its tokens; declare sink=True if that is meant, or done=True "
            "if they are the result",
        ),
    ]


def test_dead_loop():
    net = lpn.Net("n")
    a, b = net.place("a"), net.place("b")
    net.transition("t", take={"x": a}, put=[b], delay=1, servers=1)
    net.transition("u", take={"x": b}, put=[a], delay=1, servers=1)
    assert [text for code, text in warnings(net) if code == "W-dead"] == [
        "transition 't': can never start: 'a' is filled only by what can never start, as 'u'; put an initial token into "
        "the loop, unless the workload does",
    ]


def test_only_causes_are_told():
    net = lpn.Net("n")
    a, b, c, d = (net.place(x) for x in "abcd")
    net.transition("last", take={"x": c}, put=[d], servers=1)
    net.transition("first", take={"x": a}, put=[b], servers=1)
    net.transition("middle", take={"x": b}, put=[c], servers=1)
    net.transition("end", take={"x": d}, servers=1)
    assert [text for code, text in warnings(net) if code == "W-dead"] == [
        "transition 'first': can never start: nothing fills 'a'; declare start=True if the workload does",
    ]


def test_dead_by_guard_or_capacity():
    net, a, b = base()
    net.transition(
        "t", take={"w": a}, guard=lambda w: w.n + 1 > 20, put=[b.forward("w")], servers=1
    )
    assert (
        "W-dead",
        "transition 't': can never start: its guard at 'w' is false for every token in range",
    ) in warnings(net)
    net, a, b = base()
    mid = net.place("mid", Word, capacity=3)
    net.transition("t", take={"w": a}, put=[mid.emit(count=4, n=0)], servers=1)
    net.transition("u", take={"w": mid.take(4)}, put=[b.emit(n=0)], servers=1)
    assert [m for c, m in warnings(net) if c == "W-dead"] == [
        "transition 't': can never start: it puts 4 tokens into 'mid', which holds at most 3",
        "transition 'u': can never start: it needs 4 tokens of 'mid', which holds at most 3",
    ]


def test_divisor():
    def warned(function):
        net, a, b = base()
        net.transition("t", take={"w": a}, put=[b.forward("w")], delay=function, servers=1)
        return [m for c, m in warnings(net) if c == "W-divisor"]

    assert warned(lambda w: 10 // w.n) == [
        "transition 't': delay divides by something that may be 0 or less; declare a range from 1 on the property, or "
        "write max(1, x)",
    ]
    assert warned(lambda w: 10 // max(1, w.n)) == []
    assert warned(lambda w: 10 // (w.n + 1)) == []
    assert warned(lambda w: 10 // w.n if w.n else 3) == []
    assert warned(lambda w: 10 // w.n if w.n > 0 else 3) == []
    assert warned(lambda w: 3 if w.n < 1 else 10 % w.n) == []
    assert warned(lambda w: 3 if w.n == 0 or 10 // w.n == 2 else 4) == []
    assert len(warned(lambda w: 10 // w.n if w.n > 3 else 3 // w.n)) == 1


def test_half_rate():
    net, a, b = base()
    mid = net.place("mid", Word, capacity=1)
    net.transition("t", take={"w": a}, put=[mid.forward("w")], delay=1)
    net.transition("u", take={"w": mid}, put=[b.forward("w")], delay=1)
    assert warnings(net) == [
        (
            "W-half-rate",
            "place 'mid': its one slot is held from the start of 't' to the commit of 'u', so it passes one "
            "token per 2 cycles; write capacity=2, or use lib.pipeline",
        )
    ]


def test_unused():
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], servers=1)
    net.place("lonely")
    net.param("spare", 3)
    assert warnings(net) == [
        ("W-unused", "place 'lonely': no transition takes from it or puts into it; remove it"),
        ("W-unused", "parameter 'spare': nothing reads it; remove it"),
    ]


def test_library_has_no_warnings():
    net, a, b = base()
    c = net.place("c", Word, start=True)
    merged = lib.round_robin(net, "rr", [a, c], delay=lambda t: t.n)
    piped = lib.pipeline(net, "pipe", merged, [1, 3, lambda t: t.n])
    queued = lib.fifo(net, "queue", piped, 4)
    x, y = net.place("x", Word), net.place("y", Word)
    lib.fork(net, "fork", queued, [x, y])
    joined = lib.join(net, "join", [x, y])
    lib.priority(net, "prio", [joined], b)
    assert warnings(net) == []
