"""Bounds by reachable states (lpn/reach/reach.h): where classes are refused or do not finish."""

import json
import os
import signal

import _lpn
import pytest

import lpn
from lpn.proofs.states import Probed
from lpn.runs import simulate

from _round_robin import by_free_counts


class Burst(lpn.Token):
    gap: lpn.Int[0, 255]
    beats: lpn.Int[1, 64]


class Request(lpn.Token):
    bank: lpn.Int[0, 3]
    row: lpn.Int[0, 15]


class Row(lpn.Token):
    row: lpn.Int[0, 15]


class Wide(lpn.Token):
    size: lpn.Int[-(2**60), 2**60]


def masters(count, gap=20, beats=16):
    """Masters that think, then hold a bus in turn: (net, space). All may think for `gap` and then queue
    for the bus: gap + count * (beats + 2) + 1.
    """
    net = lpn.Net("masters")
    done = net.place("done", done=True)
    waiting = []
    for k in range(count):
        jobs = net.place(f"m{k}", Burst, start=True)
        waiting.append(net.place(f"w{k}", Burst, drain=True))
        net.transition(
            f"think{k}", take={"t": jobs}, put=[waiting[-1].forward("t")], delay=lambda t: t.gap
        )
    out = net.place("out", Burst, drain=True)
    by_free_counts(net, "bus", waiting, out, delay=lambda t: t.beats + 2)
    net.transition("end", take={"t": out}, put=[done], delay=1)
    space = lpn.InputSpace(net)
    for k in range(count):
        space.tokens(f"m{k}", 1, gap=(0, gap), beats=(1, beats))
    return net, space


def banks(requests, refresh=None, done_count=None):
    """Two banks with open rows behind one queue, and a refresh that never ends: (net, space)."""
    net = lpn.Net("banks")
    queue = net.place("queue", Request, start=True)
    done = net.place("done", done=True, sink=True)
    for b in range(2):
        row = net.place(f"row{b}", Row, init=[{"row": 0}], sink=True)
        net.transition(
            f"access{b}",
            take={"t": queue.take(guard=lambda t, b=b: t.bank == b), "open": row},
            put=[done, row.emit(row=lambda t: t.row)],
            delay=lambda t, open: lpn.select(t.row == open.row, 14, 42),
        )
    if refresh:
        due = net.place("due", sink=True)
        net.transition("tick", put=[due], delay=1, clock=(refresh, 0), servers=1)
        row = net["row0"]
        net.transition(
            "refresh",
            take={"due": due, "row": row},
            put=[row.emit(row=lambda row: row.row)],
            delay=9,
        )
    if done_count:
        net.done_count = done_count
    space = lpn.InputSpace(net)
    space.tokens("queue", requests, bank=(0, 1), row=(0, 3))
    return net, space


def replayed(space, answer):
    """The latency of an answer's witness, by another run than its own."""
    run = simulate(space.net, space.marking(answer.witness), engine="interp")
    return run.latency


def test_an_arbiter_of_more_inputs_than_can_be_run():
    net, space = masters(5)
    answer = lpn.maximize(space, seconds=40)
    assert answer.verdict == "optimal" and answer.upper == 20 + 5 * 18 + 1
    assert replayed(space, answer) == answer.upper
    assert answer.certificate is not None and answer.states > 0 and answer.tried > 0
    assert any("reachable states" in note for note in answer.notes)


def test_a_property_of_it():
    net, space = masters(5)
    assert lpn.prove(space, "latency <= 111", seconds=40).verdict == "proved"
    refuted = lpn.prove(space, "latency <= 110", seconds=40)
    assert refuted.verdict == "refuted" and replayed(space, refuted) == 111
    assert lpn.prove(space, "commits(end) == 5", seconds=40).verdict == "proved"


@pytest.mark.parametrize(
    "what, index", [("latency", 0), ("completion", 1), ("completion", 3), ("commits", 0)]
)
@pytest.mark.parametrize("maximum", [True, False])
@pytest.mark.parametrize("states", [0, 5])
def test_against_all_inputs(what, index, maximum, states):
    net, space = banks(4)
    sign = 1 if maximum else -1
    every, _ = _lpn.every_input(net._core, space.core, [[((what, index), sign)]])
    truth = sign * every["largest"][0][0]
    for zones, values in ((1, 1), (1, 2), (8, 16)):
        found, _ = _lpn.bound_by_states(
            net._core, space.core, what, index, maximum=maximum, zones=zones, values=values,
            states=states,
        )  # fmt: skip
        assert sign * found["bound"] >= sign * truth
        assert found["complete"] == (states == 0)
        if states == 0 and values > 1:
            assert found["bound"] == truth
            assert not found["may_stall"] and not found["may_fail"]


def test_a_net_that_never_stops():
    net, space = banks(4, refresh=100)
    answer = lpn.maximize(space, seconds=40, tries=0)
    assert space.done_count == 4 and any("done token 4" in note for note in answer.notes)
    assert answer.upper is not None and answer.lower >= 4 * 42
    assert replayed(space, answer) == answer.lower
    assert answer.upper <= 1.1 * answer.lower


def test_a_done_count_of_the_net():
    net, space = banks(12, refresh=100, done_count=3)
    answer = lpn.maximize(space, seconds=40)
    assert answer.verdict == "optimal" and replayed(space, answer) == answer.upper


def test_a_space_with_a_done_count_is_read_again():
    net, space = banks(3, refresh=100)
    space.done_count = 3
    again = lpn.InputSpace.from_json(net, json.loads(json.dumps(space.to_json())))
    assert again.done_count == 3
    assert again.marking({v.name: v.lo for v in again.variables}).done_count == 3
    with pytest.raises(lpn.Error) as refused:
        space.done_count = -1
    assert refused.value.code == "E-space"


def test_what_is_not_bounded_by_states_is_refused_as_before():
    net, space = masters(5)
    with pytest.raises(lpn.Error) as refused:
        lpn.maximize(space, "stall(end, out)", seconds=5)
    assert refused.value.code == "E-partition"
    assert (
        str(refused.value)
        .split("\n  at ")[0]
        .endswith(
            "; stall(T, P) is told by classes alone; ask for completion(k) of a done token behind T, or "
            "for backlog(P)"
        )
    )


def test_how_long_a_bus_is_busy():
    """A grant takes at most 16 + 2 cycles; the first master's is one firing, of one server."""
    net, space = masters(5)
    grant = next(name for name in net.transitions if name.startswith("bus"))
    answer = lpn.maximize(space, f"busy('{grant}')", seconds=40)
    assert (answer.verdict, answer.upper) == ("optimal", 18)
    run = simulate(net, space.marking(answer.witness), engine="interp", stats=True)
    assert run.stats["transitions"][grant]["busy"] == 18
    assert lpn.prove(space, f"busy('{grant}') + busy(end) <= 23", seconds=40).verdict == "proved"


class Kind(lpn.Token):
    kind: lpn.Int[0, 1]


@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize("maximum", [True, False])
def test_an_input_that_goes_round_for_ever_is_no_proof(delay, maximum):
    net = lpn.Net("round")
    given = net.place("given", Kind, start=True)
    done = net.place("done", done=True)
    net.transition("end", take={"t": given.take(guard=lambda t: t.kind == 0)}, put=[done], delay=3)
    net.transition(
        "again",
        take={"t": given.take(guard=lambda t: t.kind == 1)},
        put=[given.forward("t")],
        delay=delay,
    )
    space = lpn.InputSpace(net)
    space.tokens("given", 1)
    found, _ = _lpn.bound_by_states(net._core, space.core, "latency", maximum=maximum, states=1000)
    assert found["may_fail"] and found["bound"] in (3, None, 0)


def test_inputs_of_many_variables_are_tried_a_few_at_once():
    """Else drawing them took four times a limit of 5 s, before any was run."""
    net = lpn.Net("many")
    queue = net.place("queue", Burst, start=True)
    net.transition("t", take={"job": queue}, put=[net.place("out", done=True)], delay=1, servers=1)
    space = lpn.InputSpace(net)
    space.tokens("queue", 50_000)
    probed = Probed(space, [{("latency",): 1}], None)
    drawn = [sum(map(len, probed.batch(0))) for _ in range(3)]
    assert max(drawn) < 10 * 50_000


def test_ctrl_c_while_inputs_are_drawn_keeps_what_was_found(monkeypatch):
    """It was an exception there, and the answer was lost."""
    net = lpn.Net("wide")
    jobs, done = net.place("jobs", Wide, start=True), net.place("done", done=True)
    net.transition(
        "work", take={"j": jobs}, put=[done], delay=lambda j: abs(j.size) // 2, servers=1
    )
    space = lpn.InputSpace(net)
    space.tokens("jobs", 3)
    drawn = Probed.batch

    def batch(self, which):
        if self.begun == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return drawn(self, which)

    monkeypatch.setattr(Probed, "batch", batch)
    answer = lpn.maximize(space)
    assert answer.interrupted and answer.lower > 0 and answer.witness is not None


@pytest.mark.parametrize("other", [lambda x, y: y > x, lambda x, y: x * y == 7919])
@pytest.mark.parametrize("ask", ["maximize", "prove"])
def test_conditions_that_contradict_each_other_are_said(other, ask):
    """Where inputs are not run one by one the bound stayed open, without an input, until the limit."""

    class Job(lpn.Token):
        size: lpn.Int[1, 100]

    net = lpn.Net("m")
    place = net.place("a", Job, start=True)
    out = net.place("out", done=True)
    net.transition("t", take={"j": place}, put=[out], delay=lambda j: j.size, servers=1)
    space = lpn.InputSpace(net)
    first, second = space.tokens("a", 2)
    space.require(first.size > second.size)
    space.require(other(first.size, second.size))
    options = {"tries": 0, "seconds": 20}
    with pytest.raises(
        lpn.Error, match="no input: its conditions contradict each other"
    ) as refused:
        if ask == "prove":
            lpn.prove(space, "backlog(a) <= 1", **options)
        else:
            lpn.maximize(space, "backlog(a)", **options)
    assert refused.value.code == "E-space"
