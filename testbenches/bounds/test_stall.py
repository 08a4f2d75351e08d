"""stall(T, P), cycles in which a transition waits for nothing but a place: against all inputs, added
up by hand.
"""

import lpn
import pytest
from lpn.proofs.certificate import check


class Word(lpn.Token):
    size: lpn.Int[0, 9]


def two_engines(engines):
    """A pipeline whose last stage gives its slots back out of order when it has two engines."""
    net = lpn.Net("three")
    words = net.place("words", Word, start=True)
    a, b = net.place("a", Word, capacity=2), net.place("b", Word, capacity=1)
    sent = net.place("sent", done=True)
    net.transition(
        "read", take={"t": words}, put=[a.forward("t")], delay=lambda t: 30 + t.size, servers=1
    )
    net.transition("work", take={"t": a}, put=[b.forward("t")], delay=3, servers=1)
    net.transition(
        "send", take={"t": b}, put=[sent], delay=lambda t: 6 + 2 * t.size, servers=engines
    )
    space = lpn.InputSpace(net)
    space.tokens("words", 4, size=(0, 4))
    return net, space


def by_hand(net, space, values):
    """How long `work` waits for a, and for room in b."""
    run = lpn.simulate(net, space.marking(values), engine="interp", trace=True)
    at = {(c.transition, c.firing): c for c in run.trace}
    slots = [0] + sorted(c.time for c in run.trace if c.transition == 2)
    token = room = 0
    for n in range(4):
        server = at[1, n - 1].time if n else 0
        here, slot = at[0, n].time, slots[n]
        assert at[1, n].start == max(server, here, slot)
        token += at[1, n].start - max(server, slot)
        room += at[1, n].start - max(server, here)
    return token, room


@pytest.mark.parametrize("engines", [1, 2, 3])
def test_slots_that_come_back_out_of_order(engines):
    net, space = two_engines(engines)
    seen = [by_hand(net, space, values) for values in space.inputs()]
    for place, column in (("a", 0), ("b", 1)):
        values = [each[column] for each in seen]
        for ask, extreme in ((lpn.maximize, max(values)), (lpn.minimize, min(values))):
            answer = ask(space, f"stall(work, {place})")
            assert answer.lower <= extreme <= answer.upper
            found = answer.lower if ask is lpn.maximize else answer.upper
            assert found == extreme and answer.verdict == "optimal", answer
            assert check(answer.certificate).holds
            assert by_hand(net, space, answer.witness)[column] == extreme


def merged():
    net = lpn.Net("merged")
    a, b, q = net.place("a", start=True), net.place("b", start=True), net.place("q")
    out, done = net.place("out", capacity=1), net.place("done", done=True)
    net.transition("pa", take={"t": a}, put=[q], delay=1, servers=1)
    net.transition("pb", take={"t": b}, put=[q], delay=5, servers=1)
    net.transition("work", take={"t": q}, put=[out], delay=2)
    net.transition("drain", take={"t": out}, put=[done], delay=2, servers=1)
    space = lpn.InputSpace(net)
    space.tokens("a", 1)
    space.tokens("b", 1)
    return space


def test_a_slot_and_a_token_of_one_tick_are_waited_for_together():
    """Tokens reach q at 1 and 5; the only slot of out is taken at 1 and given back at 5."""
    space = merged()
    assert lpn.maximize(space, "stall(work, out)").upper == 0
    assert lpn.maximize(space, "stall(work, q)").upper == 1
    assert lpn.prove(space, "stall(work, out) >= 1").verdict == "refuted"


def test_an_edge_of_a_clock_is_not_waited_for():
    net = lpn.Net("clk")
    a, b, q, r = (net.place(n, start=n in "ab") for n in "abqr")
    done = net.place("done", done=True)
    net.transition("src", take={"t": a}, put=[q], delay=3, servers=1)
    net.transition("src2", take={"t": b}, put=[r], delay=1, servers=1)
    net.transition("work", take={"t": q, "u": r}, put=[done], delay=2, clock=(8, 0))
    space = lpn.InputSpace(net)
    space.tokens("a", 1)
    space.tokens("b", 1)
    assert lpn.maximize(space, "stall(work, q)").upper == 2
    assert lpn.maximize(space, "stall(work, r)").upper == 0


def test_a_transition_that_is_inhibited_is_refused():
    net = lpn.Net("inh")
    a, h, q = net.place("a", start=True), net.place("h", init=1), net.place("q")
    done = net.place("done", done=True)
    net.transition("src", take={"t": a}, put=[q], delay=5, servers=1)
    net.transition("unblock", take={"x": h}, put=[], delay=10, servers=1)
    net.transition("work", take={"h": h.empty(), "t": q}, put=[done], delay=2, servers=1)
    space = lpn.InputSpace(net)
    space.tokens("a", 1)
    with pytest.raises(lpn.Error, match="work is inhibited by h") as caught:
        lpn.maximize(space, "stall(work, q)")
    assert caught.value.code == "E-property"
