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
        (
            "W-unused",
            "parameter 'spare': nothing of the net reads it; remove it, unless the workload does",
        ),
    ]


def test_values_that_ranges_promise_and_a_run_refuses():
    net, a, b = base()
    net.transition(
        "t", take={"w": a}, put=[b.emit(n=lambda w: w.n * 3)], delay=lambda w: w.n - 2, servers=1
    )
    assert warnings(net) == [
        (
            "W-negative",
            "transition 't': delay is -2 for w.n=0, and must not be negative; write max(0, x), or narrow the range "
            "of the property",
        ),
        (
            "W-range",
            "transition 't': 'n' put into 'b' is 12 for w.n=4, and 'n' is declared as 0..9; declare a wider range, "
            "or narrow that of the other property",
        ),
    ]


class Large(lpn.Token):
    n: lpn.Int[0, 2**40]


def test_values_of_a_large_range():
    net = lpn.Net("n")
    a, b = net.place("a", Large, start=True), net.place("b", done=True)
    net.transition("t", take={"w": a}, put=[b], delay=lambda w: abs(w.n - 700_000) - 1, servers=1)
    assert [code for code, _ in warnings(net)] == ["W-negative"]


@pytest.mark.parametrize(
    "delay",
    [
        lambda w: w.n - 2 if w.n > 1 else 0,
        lambda w: max(0, w.n - 5),
        lambda w: abs(w.n - 5),
    ],
)
def test_values_that_cannot_be(delay):
    net, a, b = base()
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=delay, servers=1)
    assert warnings(net) == []


def test_guards_and_counts_tell_what_can_be():
    net, a, b = base()
    loop = net.place("loop", Word)
    net.transition("in", take={"w": a}, put=[loop.forward("w")], servers=1)
    net.transition(
        "t",
        take={"w": loop.take(guard=lambda w: w.n >= 2)},
        put=[
            loop.emit(count=lambda w: 1 if w.n > 4 else 0, n=lambda w: w.n - 3),
            b.emit(count=lambda w: w.n <= 4, n=lambda w: 2 * w.n),
        ],
        delay=lambda w: w.n - 2,
        servers=1,
    )
    assert warnings(net) == []


def test_a_count_that_goes_on_is_ended_elsewhere():
    net, a, b = base()
    net.transition(
        "t", take={"w": a}, put=[b.forward("w"), a.emit(n=lambda w: w.n + 1)], delay=1, servers=1
    )
    assert "W-range" not in [code for code, _ in warnings(net)]


def test_endless():
    net, a, b = base()
    ticks = net.place("ticks")
    net.transition("tick", put=[ticks], delay=1, servers=1)
    net.transition("eat", take={"t": ticks}, delay=1, servers=1)
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=1, servers=1)
    assert warnings(net) == [
        (
            "W-endless",
            "transition 'tick': goes on for ever by itself, so a run does not end by itself; write net.done_count = "
            "..., or let the workload set marking.done_count",
        )
    ]
    net.done_count = 4
    assert warnings(net) == []


def test_a_refresh_timer_is_endless():
    net, a, b = base()
    idle, due = net.place("idle", init=1), net.place("due")
    net.transition("wait", take={"x": idle}, put=[due], delay=100)
    net.transition("refresh", take={"x": due}, put=[idle], delay=10)
    net.transition("t", take={"w": a}, put=[b.forward("w")], delay=1, servers=1)
    assert warnings(net) == [
        (
            "W-endless",
            "transition 'wait': the loop of 'wait', 'refresh' goes on for ever by itself, so a run does not end by itself; "
            "write net.done_count = ..., or let the workload set marking.done_count",
        )
    ]


def test_a_loop_that_never_leaves_an_instant():
    net, a, b = base()
    back = net.place("back", Word)
    net.transition("t", take={"w": a}, put=[back.forward("w")])
    net.transition("u", take={"w": back}, put=[a.forward("w")])
    assert (
        "W-endless",
        "transition 't': with a token in it the loop of 't', 'u' never leaves an instant, since nothing in it has a "
        "delay; give one a delay >= 1",
    ) in warnings(net)


def refreshed(**due):
    """A memory whose bank is lent to each access and to refreshes, which a timer asks for."""
    net = lpn.Net("memory")
    queue, done = net.place("queue", start=True), net.place("done", done=True)
    bank, timer = net.place("bank", init=1), net.place("timer", init=1)
    due = net.place("due", **due)
    net.transition("access", take={"q": queue, "b": bank}, put=[done, bank], delay=8, servers=1)
    net.transition("tick", take={"t": timer}, put=[timer, due], delay=100, servers=1)
    return net, bank, due


def endless(net):
    return [text for code, text in warnings(net) if code == "W-endless"]


@pytest.mark.parametrize("due", [{}, {"capacity": 1}])
def test_a_refresh_timer_beside_a_memory_is_endless(due):
    net, bank, due = refreshed(**due)
    net.transition("refresh", take={"d": due, "b": bank}, put=[bank], delay=30, servers=1)
    assert endless(net) == [
        "transition 'tick': goes on for ever by itself, so a run does not end by itself; write net.done_count = ..., or "
        "let the workload set marking.done_count"
    ]
    work = lpn.Marking(net)
    work.add("queue", count=3)
    run = lpn.simulate(net, work, limit=10**6)
    assert (run.ending, run.commits > 15_000) == ("limit", True)


@pytest.mark.parametrize("stop", ["bank", "full", "guard", "far"])
def test_refresh_timers_that_something_may_end(stop):
    net, bank, due = refreshed(capacity=1)
    halted = net.place("halted", sink=True)
    put = {"bank": [halted], "full": [bank, net.place("log", capacity=9, sink=True)]}
    take = {"d": due.take(2) if stop == "far" else due, "b": bank}
    guard = {"guard": lambda d: d.count > 1} if stop == "guard" else {}
    net.transition("refresh", take=take, put=put.get(stop, [bank]), delay=30, servers=1, **guard)
    assert endless(net) == []
    work = lpn.Marking(net)
    work.add("queue", count=3)
    assert lpn.simulate(net, work, limit=10**6).ending == "quiet"


def test_a_loop_that_an_idle_one_feeds_ends():
    net = lpn.Net("n")
    idle, fed, timer = net.place("idle"), net.place("fed", init=1), net.place("timer", init=1)
    net.transition("never", take={"x": idle}, put=[idle, fed], delay=1, servers=1)
    net.transition("tick", take={"t": timer, "f": fed}, put=[timer], delay=1, servers=1)
    assert endless(net) == []
    assert lpn.simulate(net).ending == "quiet"


@pytest.mark.parametrize("stop", ["guard", "empty", "capacity", "no token", "consumer"])
def test_loops_that_something_ends(stop):
    net, a, b = base()
    idle = net.place("idle", init=0 if stop == "no token" else 1)
    halted = net.place("halted", sink=True)
    out = net.place("out", capacity=4) if stop == "capacity" else halted
    take = {"x": idle}
    if stop == "empty":
        take["off"] = halted.empty()
    guard = {"guard": lambda x: x.count > 0} if stop == "guard" else {}
    net.transition("tick", take=take, put=[idle, out], delay=5, servers=1, **guard)
    if stop == "consumer":
        net.transition("eat", take={"x": idle}, put=[halted], delay=1, servers=1)
    assert [code for code, _ in warnings(net) if code == "W-endless"] == []


class Instruction(lpn.Token):
    kind: lpn.Int[0, 1]


def routers(share=False, delays=(1, 1)):
    net = lpn.Net("n")
    queue = net.place("queue", Instruction, start=True)
    rob = net.place("rob", Instruction, done=True, sink=True)
    slot = net.place("slot", init=1)
    for k in (0, 1):
        take = {"ins": queue.take(guard=lambda ins, k=k: ins.kind == k)}
        put = [rob.forward("ins")]
        if share:
            take["slot"] = slot
            put.append(slot)
        net.transition(f"dispatch{k}", take=take, put=put, delay=delays[k], servers=1)
    return net


def test_consumers_that_start_at_one_instant():
    assert ("W-order" in [code for code, _ in warnings(routers())]) is True
    (text,) = [text for code, text in warnings(routers()) if code == "W-order"]
    assert text == (
        "place 'queue': 'dispatch0' and 'dispatch1' may start at one instant for different tokens, and both put into "
        "'rob': there those of 'dispatch0' come first, in the order of declaration and not of 'queue'; let both take "
        "one common token and give it back, if they are one unit"
    )
    assert "W-order" not in [code for code, _ in warnings(routers(share=True))]
    assert "W-order" not in [code for code, _ in warnings(routers(delays=(1, 2)))]


def test_slots_too_few_for_the_pipeline_before_them():
    net, a, b = base()
    mid = net.place("mid", Word, capacity=2)
    net.transition("t", take={"w": a}, put=[mid.forward("w")], delay=4, interval=1)
    net.transition("u", take={"w": mid}, put=[b.forward("w")], delay=1, servers=1)
    assert warnings(net) == [
        (
            "W-half-rate",
            "place 'mid': its 2 slots are held from the start of 't' to the commit of 'u', so it passes 2 tokens per "
            "5 cycles, and 't' could start one per 1; write capacity=5",
        )
    ]
    net, a, b = base()
    mid = net.place("mid", Word, capacity=5)
    net.transition("t", take={"w": a}, put=[mid.forward("w")], delay=4, interval=1)
    net.transition("u", take={"w": mid}, put=[b.forward("w")], delay=1, servers=1)
    assert warnings(net) == []


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


def test_parts_have_no_warnings():
    net, a, b = base()
    crossed = lib.clock_crossing(net, "cdc", a, 4, write=2, read=3)
    lib.crossbar(net, "xbar", [crossed], [b], lambda t: t.n)
    moves = net.place("moves", lib.Move, start=True)
    ports = [lib.memory_port(net, f"port{k}") for k in range(4)]
    moved = lib.dma(net, "dma", moves, ports[0], ports[1])
    net.transition("end", take={"m": moved}, put=[net.place("ended", done=True)], servers=1)
    lib.interconnect(net, "ic", ports[:2], [ports[2]], lambda t: 0)
    lib.cache(net, "cache", ports[2], ports[3], sets=2, ways=2, line=4096)
    lib.memory(net, "memory", ports[3], latency=9, bytes_per_cycle=8)
    assert warnings(net) == []
