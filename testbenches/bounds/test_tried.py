"""Bounds by running every input: where classes refuse a net or leave a gap, with certificates that
stand being checked.
"""

import copy
import itertools
import json
import os
import signal

import lpn
import pytest
from lpn import lib

from lpn.proofs import question, tried
from lpn.proofs.certificate import check
from lpn.runs import prepare

from _round_robin import by_free_counts


def arbitrated(masters=3, stuck=None):
    """Bursts of several masters, one after the other: the arbiter's guards read free counts. One of
    `stuck` beats never ends.
    """

    class Burst(lpn.Token):
        beats: lpn.Int[1, 8]

    net = lpn.Net("arbitrated")
    done = net.place("done", done=True)
    waiting = [net.place(f"m{k}", Burst, start=True) for k in range(masters)]
    out = net.place("out", Burst, drain=True)
    by_free_counts(net, "bus", waiting, out, delay=lambda t: t.beats + 2)
    net.transition(
        "end",
        take={"t": out.take(guard=lambda t: t.beats != (stuck or 0))},
        put=[done],
        delay=lambda t: t.beats * t.beats,
        servers=1,
    )
    return net


def bursts(net, beats=(1, 5), masters=3):
    space = lpn.InputSpace(net)
    for k in range(masters):
        space.tokens(f"m{k}", 1, beats=beats)
    return space


def by_hand(space, value):
    """The values of all inputs, each run by itself."""
    return [
        value(lpn.simulate(space.net, space.marking(x), engine="interp", stats=True, trace=True))
        for x in space.inputs()
    ]


def test_the_same_as_every_run_by_itself():
    space = bursts(arbitrated())
    runs = by_hand(space, lambda run: run.latency)
    for ask, expected in (lpn.maximize, max(runs)), (lpn.minimize, min(runs)):
        answer = ask(space)
        assert answer.verdict == "optimal" and answer.lower == answer.upper == expected
        assert answer.inputs == len(runs) == 125 and answer.replayed and answer.complete
        assert "free()" in answer.notes[0]  # why classes do not answer


@pytest.mark.parametrize(
    "quantity", ["completion(2)", "busy(end)", "commits(end)", "2*latency - completion(1)"]
)
def test_other_quantities(quantity):
    space = bursts(arbitrated())

    def value(run):
        done = sorted(c.time for c in run.trace if c.transition == space.net._transitions["end"])
        return {
            "completion(2)": done[1],
            "busy(end)": run.stats["transitions"]["end"]["busy"],
            "commits(end)": len(done),
            "2*latency - completion(1)": 2 * run.latency - done[0],
        }[quantity]

    answer = lpn.maximize(space, quantity)
    assert answer.verdict == "optimal" and answer.upper == max(by_hand(space, value))


def test_properties():
    space = bursts(arbitrated())
    most = max(by_hand(space, lambda run: run.latency))
    assert lpn.prove(space, f"latency <= {most}").verdict == "proved"
    refuted = lpn.prove(space, f"latency < {most}")
    assert refuted.verdict == "refuted" and refuted.replayed
    assert lpn.simulate(space.net, space.marking(refuted.witness)).latency == most


def test_certificates():
    answer = lpn.maximize(bursts(arbitrated()))
    data = json.loads(json.dumps(answer.certificate))
    found = lpn.check_certificate(data)
    assert found.holds and found.inputs == 125
    forged = [copy.deepcopy(data) for _ in range(5)]
    forged[0]["bounds"][0]["most"] -= 1
    forged[0]["claim"]["proved"] -= 1
    forged[1]["tried"]["inputs"] -= 1
    forged[2]["claim"]["proved"] -= 1
    forged[3]["stalls"] = True
    forged[4]["bounds"] = []
    for each in forged:
        checked = lpn.check_certificate(each)
        assert not checked.holds and checked.why
    data["tried"]["seed"] = 1
    with pytest.raises(lpn.Error, match="which nobody knows") as refused:
        lpn.check_certificate(data)
    assert refused.value.code == "E-certificate"


def test_a_certificate_of_too_many_inputs_is_refused():
    answer = lpn.maximize(bursts(arbitrated()))
    data = json.loads(json.dumps(answer.certificate))
    for variable in data["space"]["variables"]:
        variable[1:3] = -(2**62), 2**62
    with pytest.raises(lpn.Error) as refused:
        lpn.check_certificate(data)
    assert refused.value.code == "E-certificate"


def test_never_and_too_many():
    for options, space in ({"tries": 0}, bursts(arbitrated())), (
        {},
        bursts(arbitrated(8), (1, 8), 8),
    ):
        with pytest.raises(lpn.Error) as refused:
            lpn.maximize(space, states=False, **options)
        assert refused.value.code == "E-partition"


def test_what_a_run_does_not_tell_is_not_tried():
    with pytest.raises(lpn.Error) as refused:
        lpn.maximize(bursts(arbitrated()), "stall(end, out)")
    assert refused.value.code == "E-partition"


def test_inputs_that_stall_are_named():
    space = bursts(arbitrated(stuck=5))
    ended = [v for v in by_hand(space, lambda run: None if run.stalled else run.latency) if v]
    assert 0 < len(ended) < 125
    answer = lpn.maximize(space)
    assert answer.verdict == "refuted" and answer.upper == answer.lower == max(ended)
    assert answer.stalled["outcome"] == "stalled" and "left in out" in answer.stalled["why"]
    assert lpn.simulate(space.net, space.marking(answer.stalled["witness"])).stalled
    assert lpn.check_certificate(json.loads(json.dumps(answer.certificate))).stalls
    assert lpn.prove(space, "latency <= 1000").verdict == "refuted"


def refreshed(stuck=None):
    """Two masters, and a timer that never stops."""
    net = arbitrated(2, stuck)
    tick = net.place("tick", init=1)
    net.transition("refresh", take={"t": tick}, put=[tick], delay=10)
    return net


def test_a_run_that_does_not_end_is_no_proof():
    answer = lpn.maximize(bursts(refreshed(stuck=2), (1, 2), 2))
    assert answer.verdict == "unknown" and answer.upper is None and answer.certificate is None
    assert "is not over after 200000 firings" in answer.why


@pytest.mark.parametrize("seconds", [None, 20])
def test_runs_that_never_stop_end_where_no_more_can_be_done(seconds):
    """Without a limit, too: classes, which do not have such runs, are not waited for."""
    space = bursts(refreshed(), (1, 4), 2)
    answer = lpn.maximize(space, seconds=seconds)
    values = by_hand(space, lambda run: run.latency)
    assert space.done_count == 2 and any("done token 2" in note for note in answer.notes)
    assert answer.verdict == "optimal" and answer.upper == max(values)
    assert answer.inputs == len(values) == 16
    assert lpn.check_certificate(json.loads(json.dumps(answer.certificate))).holds


def test_runs_of_which_only_some_never_stop():
    """A burst of 5 beats or more starts a timer: the least values alone do not tell."""

    class Burst(lpn.Token):
        beats: lpn.Int[1, 8]

    net = lpn.Net("partly")
    done = net.place("done", done=True)
    jobs = net.place("jobs", Burst, start=True)
    out, tick = net.place("out", Burst), net.place("tick")
    net.transition(
        "work", take={"t": jobs}, put=[out.forward("t")], delay=lambda t: t.beats, servers=1
    )
    net.transition("short", take={"t": out.take(guard=lambda t: t.beats < 5)}, put=[done])
    net.transition("long", take={"t": out.take(guard=lambda t: t.beats >= 5)}, put=[done, tick])
    net.transition("refresh", take={"t": tick}, put=[tick], delay=10)
    space = lpn.InputSpace(net)
    space.tokens("jobs", 2, beats=(3, 7))
    answer = lpn.maximize(space)
    assert space.done_count == 2 and answer.verdict == "optimal"
    assert answer.inputs == 25 and answer.upper == max(by_hand(space, lambda run: run.latency))


def test_a_limit_leaves_what_was_found():
    net = arbitrated(6)
    space = bursts(net, (1, 8), 6)
    answer = lpn.maximize(space, seconds=0.5, states=False)
    assert answer.verdict == "unknown" and answer.upper is None and answer.lower is not None
    assert answer.replayed and "inputs were run" in answer.why
    values = list(itertools.islice(answer.witness.values(), 6))
    assert all(1 <= v <= 8 for v in values)


def test_ctrl_c_leaves_what_was_found():
    said = []

    def stop_at_first_inputs(text):
        if "inputs run" in text and not said:
            said.append(text)
            os.kill(os.getpid(), signal.SIGINT)

    space = bursts(arbitrated(6), (1, 8), 6)
    answer = lpn.maximize(space, progress=stop_at_first_inputs)
    assert said and answer.interrupted and answer.verdict == "unknown" and answer.upper is None
    assert answer.lower is not None and "inputs were run" in answer.why


def test_a_run_that_grows_within_an_instant_is_no_proof():
    net = arbitrated(2)
    seed = net.place("seed", init=1)
    net.transition("grow", take={"s": seed}, put=[seed.emit(count=2)], delay=0)
    answer = lpn.maximize(bursts(net, (1, 2), 2))
    assert answer.verdict == "unknown" and "is not over" in answer.why


def test_some_at_a_time_find_what_all_at_once_do(monkeypatch):
    """The net is compiled meanwhile, or not: which part is run by what makes no difference."""
    space = bursts(arbitrated())
    whole = lpn.maximize(space)
    monkeypatch.setattr(tried, "_CHUNK", 7)
    monkeypatch.setattr(tried, "_CHUNK_SECONDS", 0.0)
    for worth in (0.0, 1e9):
        monkeypatch.setattr(question, "WORTH_COMPILING", worth)
        parts = lpn.maximize(space)
        assert (parts.verdict, parts.upper, parts.inputs) == ("optimal", whole.upper, whole.inputs)
        assert parts.witness == whole.witness
    stuck = lpn.maximize(bursts(arbitrated(stuck=4)))
    assert stuck.verdict == "refuted" and 4 in stuck.stalled["witness"].values()


def test_what_cannot_be_run_in_time_has_a_bound_by_states(monkeypatch):
    """It had none, and all of the time was spent."""
    monkeypatch.setattr(question, "_TRYING", 0.0)
    space = bursts(arbitrated(5), beats=(1, 8), masters=5)
    truth = lpn.maximize(space, seconds=None)
    answer = lpn.maximize(space, seconds=60)
    assert answer.states and answer.verdict == "optimal" and answer.upper == truth.upper
    assert any("and " in note and " inputs were run" in note for note in answer.notes)
    assert check(json.loads(json.dumps(answer.certificate))).holds


@pytest.mark.parametrize("options", [{}, {"tries": 0}], ids=["every input", "states"])
def test_when_done_tokens_of_two_outputs_come(options):
    """Which output has the k-th depends on the input, within a class: it was refused."""

    class Word(lpn.Token):
        to: lpn.Int[0, 1]
        cycles: lpn.Int[1, 3]

    net = lpn.Net("switch")
    inputs = [net.place(f"in{k}", Word, start=True) for k in range(2)]
    outputs = [net.place(f"out{k}", Word, done=True, sink=True) for k in range(2)]
    lib.crossbar(net, "bar", inputs, outputs, lambda t: t.to, delay=lambda t: t.cycles, queue=1)
    space = lpn.InputSpace(net)
    for k in range(2):
        space.tokens(f"in{k}", 2 if k else 1)
    times = [[], [], []]
    for tokens in itertools.product(itertools.product((0, 1), (1, 2, 3)), repeat=3):
        marking = lpn.Marking(net)
        marking.add_rows("in0", tokens[:1])
        marking.add_rows("in1", tokens[1:])
        ready = prepare(net, marking, engine="interp")
        found = ready.run(collect=["out0", "out1"]).collected.values()
        for k, t in enumerate(sorted(t for _, at in found for t in at)):
            times[k].append(t)
    for k, of in enumerate(times, 1):
        for ask, best in ((lpn.maximize, max), (lpn.minimize, min)):
            answer = ask(space, f"completion({k})", **options)
            assert (answer.verdict, answer.lower, answer.upper) == ("optimal", best(of), best(of))
        assert lpn.prove(space, f"completion({k}) <= {max(of)}", **options).verdict == "proved"
        assert lpn.prove(space, f"completion({k}) < {max(of)}", **options).verdict == "refuted"


class Item(lpn.Token):
    work: lpn.Int[0, 4]
    lost: bool


def losing(at=None):
    """Some items are lost, so that there are two, one or no done tokens."""
    net = lpn.Net("losing")
    items, worked = net.place("items", Item, start=True), net.place("worked", Item)
    done, gone = net.place("done", done=True), net.place("gone", sink=True)
    net.transition(
        "work", take={"x": items}, put=[worked.forward("x")], delay=lambda x: x.work, servers=2
    )
    for name, lost, into in (("keep", 0, done), ("lose", 1, gone)):
        net.transition(
            name,
            take={"x": worked.take(guard=lambda x, lost=lost: x.lost == lost)},
            put=[into],
            delay=1,
        )
    space = lpn.InputSpace(net)
    space.tokens("items", 2, at=at)
    return space


@pytest.mark.parametrize("tries", [1000, 0])
def test_inputs_that_have_not_what_is_asked_are_told(tries):
    """They were passed over without a word."""
    how = {"tries": tries, "seconds": 30}
    told = "75 inputs have no completion(2); they do not count in it"
    for at, most in (([0, 5], 10), (None, 5)):  # of the latter classes refuse what some have not
        answer = lpn.maximize(losing(at), "completion(2)", **how)
        assert (answer.verdict, answer.upper) == ("optimal", most)
        assert (told if tries else told.replace("75", "some")) in answer.notes
    answer = lpn.maximize(losing([0, 5]), **how)
    told = "some inputs have no latency; they do not count in it"
    if tries:
        told = "25 inputs produce no done token; they have no latency and do not count in it"
    assert told in answer.notes
    answer = lpn.maximize(losing([0, 5]), "commits(work)", **how)
    assert not any("have no completion" in note for note in answer.notes)


@pytest.mark.parametrize("tries", [1000, 0])
def test_what_no_input_has_is_no_question(tries):
    """It was not decided, for a limit that nobody had set."""
    for at in ([0, 5], None):
        match = r"no (input of the space has completion\(9\)|done token 9)"
        with pytest.raises(lpn.Error, match=match) as refused:
            lpn.prove(losing(at), "completion(9) <= 99", tries=tries, seconds=30)
        assert refused.value.code == "E-property"
