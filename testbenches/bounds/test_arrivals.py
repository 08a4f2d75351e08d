"""Requests that arrive at times of their own: worst responses and backlogs, against runs of every input."""

import itertools
import json

import _lpn
import pytest

import lpn
from lpn.proofs.certificate import check
from lpn.proofs.read import data_of_text
from lpn.runs import simulate
from lpn.runs.open_loop import measure


class Request(lpn.Token):
    kind: lpn.Int[0, 1]
    born: lpn.Birth


def bank(masters=1, servers=1, delays=(4, 9)):
    """Masters with a queue each, served by the lowest first: (net, its places of arrival)."""
    net = lpn.Net("bank")
    queues = [net.place(f"queue{m}", Request, start=True) for m in range(masters)]
    free = net.place("free", init=servers)
    answers = net.place("answers", Request, done=True, sink=True)
    for m, queue in enumerate(queues):
        net.transition(
            f"serve{m}",
            take={"rq": queue, "free": free},
            put=[answers.forward("rq"), free],
            delay=lambda rq: lpn.select(rq.kind == 0, *delays),
        )
    return net, queues


def spaces():
    """Small spaces of several kinds of arrivals: [(name, space)]."""
    found = []
    for masters, servers in ((1, 1), (2, 1), (2, 2)):
        for name, at in {
            "jitter": lambda s: s.periodic(5, jitter=3),
            "late": lambda s: s.periodic(2, jitter=5),
            "phase": lambda s: s.periodic(6, offset=(0, 4)),
            "both": lambda s: s.periodic(4, jitter=2, offset=(1, 3)),
            "bucket": lambda s: s.bucket(1, 3, until=7),
            "burst": lambda s: s.bucket(2, 4, until=5),
            "list": lambda s: [0, 3],
            "ranges": lambda s: [(0, 4), (2, 9)],
            "none": lambda s: None,
        }.items():
            net, queues = bank(masters, servers)
            space = lpn.InputSpace(net)
            for queue in queues:
                space.tokens(queue, 2, at=at(space))
            found.append((f"{name}, {masters} masters, {servers} servers", space.done()))
    return found


def times(space, values):
    """Place -> when its tokens arrive, and when they are born."""
    core = space.core
    return {
        place: [
            t._at if isinstance(t._at, int) else core.value(t._at._id, space._ordered(values))
            for t in tokens
        ]
        for place, tokens in space.tokens_of.items()
    }


@pytest.mark.parametrize("name, space", spaces(), ids=lambda x: x if isinstance(x, str) else "")
def test_bounds_by_states_against_every_input(name, space):
    net = space.net
    asked = [("response", net["answers"]._number), ("latency", 0), ("completion", 1)]
    asked += [("backlog", net["queue0"]._number), ("commits", 0), ("busy", 0)]
    every, _ = _lpn.every_input(net._core, space.core, [[(each, 1)] for each in asked])
    assert every["complete"] and every["inputs"] > 0
    for (what, index), best in zip(asked, every["largest"]):
        for zones, values in ((1, 1), (1, 2), (0, 16)):
            found, _ = _lpn.bound_by_states(
                net._core, space.core, what, index, zones=zones, values=values
            )
            assert found["complete"], found["why"]
            assert not found["may_stall"] and not found["may_fail"]
            assert found["bound"] >= best[0]
            if zones == 0 and what != "busy":
                assert found["bound"] == best[0], (what, found, best)
        for states in (1, 4, 15):
            for enough in (None, best[0] - 1, best[0], best[0] + 2):
                found, _ = _lpn.bound_by_states(
                    net._core, space.core, what, index, states=states, enough=enough
                )
                assert found["bound"] is None or found["bound"] >= best[0]


def test_which_times_there_are():
    net, _ = bank()

    def all_times(number, at):
        space = lpn.InputSpace(net)
        space.tokens("queue0", number, kind=0, at=at(space))
        return {tuple(times(space, values)["queue0"]) for values in space.inputs()}

    def within(last):
        return itertools.product(range(last + 1), repeat=3)

    assert all_times(3, lambda s: s.periodic(5, offset=2)) == {(2, 7, 12)}
    assert all_times(3, lambda s: s.periodic(2, offset=(1, 2))) == {(1, 3, 5), (2, 4, 6)}
    assert all_times(3, lambda s: s.periodic(2, jitter=3)) == {
        t
        for t in within(7)
        if sorted(t) == list(t) and all(2 * k <= a <= 2 * k + 3 for k, a in enumerate(t))
    }
    assert all_times(3, lambda s: s.periodic(2, jitter=1, offset=(0, 2))) == {
        t
        for t in within(7)
        if any(all(p + 2 * k <= a <= p + 2 * k + 1 for k, a in enumerate(t)) for p in range(3))
    }
    # At most 2 + t // 3 in any t cycles.
    assert all_times(3, lambda s: s.bucket(2, 3, until=6)) == {
        t
        for t in within(6)
        if sorted(t) == list(t)
        and all(
            sum(begin <= a <= begin + length for a in t) <= 2 + length // 3
            for begin in range(7)
            for length in range(7)
        )
    }


def test_an_input_arrives_as_it_says_and_is_born_then():
    net, _ = bank()
    space = lpn.InputSpace(net)
    tokens = space.tokens("queue0", 3, kind=0, at=space.periodic(6, jitter=2, offset=(1, 4)))
    space.require(tokens[2].at >= 17)
    for values in space.inputs():
        at = times(space, values)["queue0"]
        assert at[2] >= 17
        by_hand = lpn.Marking(net)
        for time in at:
            by_hand.add("queue0", kind=0, at=time)
        marking = space.marking(values)
        assert marking.rows("queue0") == by_hand.rows("queue0")
        assert simulate(net, marking).latency == simulate(net, by_hand).latency
    again = lpn.InputSpace.from_json(net, space.to_json())
    assert again.to_json() == space.to_json() and again.describe() == space.describe()
    assert "at " in space.describe() and "born" not in space.describe()


def worst(space, place="answers"):
    """The longest response of any input of a space that lpn latency measures."""
    return max(
        measure(space.net, [], space.marking(values), None)[1][place].all.greatest
        for values in space.inputs()
    )


def test_the_worst_response_is_that_of_lpn_latency():
    net, _ = bank(2)
    space = lpn.InputSpace(net)
    for m in range(2):
        space.tokens(f"queue{m}", 2, kind=(0, 1), at=space.periodic(9, offset=(0, 3)))
    truth = worst(space)
    answer = lpn.maximize(space, "response(answers)")
    assert answer.verdict == "optimal" and answer.upper == truth and answer.inputs
    assert check(data_of_text(json.dumps(answer.certificate))).holds
    by_states = lpn.maximize(space, "response(answers)", tries=0, seconds=60)
    assert by_states.verdict == "optimal" and by_states.upper == truth and by_states.states
    assert check(data_of_text(json.dumps(by_states.certificate))).holds
    assert lpn.prove(space, f"response(answers) <= {truth}").verdict == "proved"
    assert lpn.prove(space, f"response(answers) <= {truth}", tries=0).verdict == "proved"
    refuted = lpn.prove(space, f"response(answers) < {truth}", tries=0)
    assert refuted.verdict == "refuted" and refuted.replayed
    # The phases are 3 apart at most, so one of two services of 4 waits for 1.
    assert lpn.minimize(space, "response(answers)").lower == 5


def test_more_requests_than_can_be_run():
    # A service of 9 at most, one in 10 cycles, each up to 6 late: at worst the one before came 6
    # late and takes until 5 after it.
    net, _ = bank()
    space = lpn.InputSpace(net)
    space.tokens("queue0", 8, at=space.periodic(10, jitter=6))
    answer = lpn.maximize(space, "response(answers)", seconds=120)
    assert answer.verdict == "optimal" and answer.upper == 9 + 5 and answer.states
    # Four at once, and one in 10 cycles.
    space = lpn.InputSpace(net)
    space.tokens("queue0", 8, at=space.bucket(4, 10, until=100))
    assert lpn.maximize(space, "response(answers)", seconds=120).upper == 4 * 9
    answer = lpn.maximize(space, "backlog(queue0)", seconds=120)
    assert answer.verdict == "optimal" and answer.upper == 4


def test_what_is_refused():
    net, _ = bank()

    def refused(code, text, work):
        with pytest.raises(lpn.Error) as error:
            work()
        assert (error.value.code, str(error.value).split("\n")[0]) == (code, text)

    def given(at, number=3):
        space = lpn.InputSpace(net)
        space.tokens("queue0", number, at=at(space))
        return space.done()

    for code, text, at in (
        (
            "E-space",
            "tokens of place 'queue0' must arrive in their order; give their times from the "
            "earliest on",
            lambda s: [5, 3, 9],
        ),
        (
            "E-space",
            "space.bucket: 3 tokens take at least 20 cycles; let them come until=20 or later",
            lambda s: s.bucket(1, 10, until=19),
        ),
        (
            "E-space",
            "space.periodic(period) = 0; cycles lie within 1..2**40",
            lambda s: s.periodic(0),
        ),
        (
            "E-space",
            "space.periodic(jitter) = -1; cycles lie within 0..2**40",
            lambda s: s.periodic(1, jitter=-1),
        ),
        (
            "E-space",
            "space.periodic(offset): (3, 1) is empty; the least comes first",
            lambda s: s.periodic(1, offset=(3, 1)),
        ),
        (
            "E-operand",
            "space.periodic(period) must be int, got float 2.5; use math.ceil or math.floor",
            lambda s: s.periodic(2.5),
        ),
        (
            "E-range",
            "queue0[0].at = -1 is outside its range 0..1099511627776",
            lambda s: [-1, 2, 3],
        ),
        (
            "E-space",
            "place 'queue0', token 0: the time of arrival may be -3..2; a time lies within 0..2^40",
            lambda s: s.integer("x", 0, 5) - 3,
        ),
    ):
        refused(code, text, lambda: given(at))

    space = given(lambda s: s.periodic(3, jitter=1))
    refused(
        "E-partition",
        "bank: tokens of place 'queue0' arrive later than 0, which classes do not have; runs of "
        "every input and reachable states do",
        lambda: lpn.partition(net, space),
    )
    for code, text, quantity in (
        (
            "E-partition",
            "bank: classes do not have tokens that arrive later than 0; every input of a small "
            "space is run, but not for stall(T, P), and reachable states bound all but stall(T, P) "
            "and E; stall(T, P) is told by classes alone; ask for completion(k) of a done token "
            "behind T, or for backlog(P)",
            "stall(serve0, free)",
        ),
        (
            "E-property",
            "'response(free)' in 'response(free)': tokens of 'free' do not say when their request "
            "was born; give their type the property born: lpn.Birth",
            "response(free)",
        ),
        (
            "E-property",
            "'response(queue0)' in 'response(queue0)': a response ends where a request stays, but "
            "'queue0' has tokens at the start or a transition that takes them; ask about the last "
            "place on their way",
            "response(queue0)",
        ),
        (
            "E-property",
            "'backlog(no)' in 'backlog(no)': backlog(P) needs a place; there are: queue0, free, "
            "answers",
            "backlog(no)",
        ),
    ):
        refused(code, text, lambda: lpn.maximize(space, quantity))
    least = lpn.minimize(space, "backlog(queue0)", tries=0, seconds=2)
    assert least.lower is None and least.verdict == "unknown"
    assert "the least response or backlog needs a space whose inputs can all be run" in least.why

    full = lpn.Net("full")
    queue = full.place("queue", Request, start=True, capacity=2)
    full.transition("serve", take={"rq": queue}, put=[full.place("out", done=True)], delay=1)
    space = lpn.InputSpace(full)
    space.tokens("queue", 1, at=4)
    refused(
        "E-space",
        "place 'queue' has a capacity, and tokens arrive later than 0; let them arrive in a place "
        "without one, from which a transition moves them on",
        space.done,
    )


def test_born_that_is_made_on_the_way_is_left_to_runs():
    net = lpn.Net("late")
    queue = net.place("queue", Request, start=True)
    out = net.place("out", Request, done=True, sink=True)
    net.transition(
        "serve",
        take={"rq": queue},
        put=[out.emit(kind=0, born=lambda rq: lpn.max(rq.born - 1, 0))],
        delay=3,
    )
    space = lpn.InputSpace(net)
    space.tokens("queue", 1, at=(0, 9))
    found, _ = _lpn.bound_by_states(net._core, space.core, "response", out._number)
    assert found["bound"] is None and "computes `born`" in found["why"]
    assert lpn.maximize(space, "response(out)").upper == 4


def test_a_request_that_is_done_before_it_is_born_fails():
    """Its run ends by itself, and this was called our bug."""
    net, _ = bank()
    space = lpn.InputSpace(net)
    space.tokens("queue0", 1, kind=0, born=(0, 99))
    answer = lpn.maximize(space, "response(answers)")
    assert answer.verdict == "refuted" and answer.stalled["outcome"] == "error"
    assert answer.stalled["witness"]["queue0[0].born"] == 5
    assert answer.certificate is None
