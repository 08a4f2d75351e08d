"""Bounds and classes in Python: against brute force, and what happens when our own search is wrong."""

import itertools
import random
import sys
from pathlib import Path

import _lpn
import lpn
import pytest
from lpn.proofs.answer import PARTITION
from lpn.proofs.question import maximize, minimize, prove
from lpn.proofs.certificate import check

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pipeline  # noqa: E402
from test_spaces import recurrence  # noqa: E402


class Sized(lpn.Token):
    size: lpn.Int[0, 4]


def random_pipeline(seed):
    """(net, slopes, constants, capacities) of a pipeline like a decoder's."""
    rng = random.Random(seed)
    n = rng.randint(3, 5)
    slopes = [rng.choice((0, 0, 1, 2, 3, 4)) for _ in range(n)]
    slopes[rng.randrange(n)] = rng.randint(1, 4)
    constants = [rng.randint(1, 70) for _ in range(n)]
    capacities = [rng.randint(1, 4) for _ in range(n - 1)]
    return (
        pipeline.net(slopes=slopes, constants=constants, capacities=capacities),
        slopes,
        constants,
        capacities,
    )


@pytest.mark.parametrize("seed", range(8))
def test_random_pipelines_agree_with_brute_force(seed):
    net, *shape = random_pipeline(seed)
    most, budget = 5, random.Random(seed).randint(3, 20)
    space = pipeline.space(net, 5, budget=budget, most=most)
    values = [
        recurrence(x, *shape)
        for x in itertools.product(range(most + 1), repeat=5)
        if sum(x) <= budget
    ]
    for answer, expected in (
        (maximize(space), max(values)),
        (minimize(space), min(values)),
    ):
        assert (answer.verdict, answer.lower, answer.upper) == ("optimal", expected, expected)
        assert answer.replayed and check(answer.certificate).holds
    assert prove(space, f"{min(values)} <= latency <= {max(values)}").verdict == "proved"
    assert prove(space, f"latency < {max(values)}").verdict == "refuted"


@pytest.mark.parametrize("seed", range(20))
def test_random_pipelines_of_48_blocks(seed):
    net, *_ = random_pipeline(100 + seed)
    space = pipeline.space(net, 48, budget=random.Random(seed).randint(10, 40) * 48)
    answer = maximize(space)
    assert answer.verdict == "optimal" and answer.lower == answer.upper
    assert answer.replayed
    assert check(answer.certificate).holds


@pytest.mark.parametrize("clock", [None, (4, 1)])
def test_how_long_one_server_in_order_is_busy(clock):
    """`ordered` changes nothing of one server, neither its runs nor whether it is answered."""

    class Job(lpn.Token):
        cycles: lpn.Int[0, 9]

    net = lpn.Net("lane")
    jobs, done = net.place("jobs", Job, start=True), net.place("done", done=True)
    net.transition(
        "work", take={"t": jobs}, put=[done], delay=lambda t: t.cycles, servers=1, ordered=True,
        clock=clock,
    )  # fmt: skip
    space = lpn.InputSpace(net)
    space.tokens("jobs", 3, cycles=(1, 5))
    runs = [
        lpn.simulate(net, space.marking(i), engine="interp", stats=True) for i in space.inputs()
    ]
    values = [run.stats["transitions"]["work"]["busy"] for run in runs]
    for ask, extreme in ((maximize, max(values)), (minimize, min(values))):
        answer = ask(space, "2 * busy(work)", tries=0, states=False)
        assert answer.verdict == "optimal" and answer.upper == 2 * extreme
        assert check(answer.certificate).holds


def test_quantities_agree_with_brute_force():
    net, slopes, constants, capacities = random_pipeline(5)
    space = pipeline.space(net, 3, budget=7, most=4)
    inputs = space.inputs()
    last = f"stage_{len(slopes) - 1}"
    runs = [
        lpn.simulate(net, space.marking(i), engine="interp", trace=True, stats=True) for i in inputs
    ]
    second = [
        sorted(c.time for c in run.trace if c.transition == len(slopes) - 1)[1] for run in runs
    ]
    busy = [run.stats["transitions"]["stage_0"]["busy"] for run in runs]
    for quantity, values in (
        ("completion(2)", second),
        ("busy(stage_0)", busy),
        (f"commits({last})", [3]),
        ("2 * latency + 1", [2 * run.latency + 1 for run in runs]),
        ("latency / 3", None),
        ("max(latency, 10000)", [10_000]),
        ("latency + 2 * commits(stage_0)", [run.latency + 6 for run in runs]),
        ("latency - completion(2)", [run.latency - t for run, t in zip(runs, second)]),
        ("2 * busy(stage_0) - latency", [2 * b - run.latency for run, b in zip(runs, busy)]),
    ):
        values = values or [
            lpn.simulate(net, space.marking(i), engine="interp").latency / 3 for i in inputs
        ]
        answer = maximize(space, quantity)
        assert answer.verdict == "optimal" and float(answer.upper) == max(values), quantity
        if not quantity.startswith("max"):
            answer = minimize(space, quantity)
            assert answer.verdict == "optimal" and float(answer.lower) == min(values), quantity


class Job(lpn.Token):
    kind: lpn.Int[0, 2]
    size: lpn.Int[0, 3]


def sorter():
    net = lpn.Net("sorter")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True)
    slots = net.param("slots", 1, range=(1, 3))
    pool = net.place("pool", init=slots)
    net.transition(
        "small",
        take={"j": jobs.take(guard=lambda j: j.kind == 0), "slot": pool},
        put=[done, pool],
        delay=lambda j: j.size,
    )
    net.transition(
        "big",
        take={"j": jobs.take(guard=lambda j: j.kind == 1), "slot": pool},
        put=[done.emit(count=lambda j: j.size // 2 + 1), pool],
        delay=lambda j: 7 - j.size,
    )
    space = lpn.InputSpace(net)
    space.tokens("jobs", 3, kind=(0, 1), count=(1, 3))
    space.param("slots", 1, 3)
    return net, space


def test_every_input_is_in_the_class_of_what_happens():
    net, space = sorter()
    parts = lpn.partition(net, space, enumerate=0)
    assert parts.complete
    latencies = []
    for values in space.inputs():
        [path] = [p for c in parts.classes for p in c.paths if p.contains(values)]
        [each] = [c for c in parts.classes if c.contains(values)]
        run = lpn.simulate(
            net, space.marking(values), params=space.parameters(values), engine="interp", trace=True
        )
        counts = dict.fromkeys(net.transitions, 0)
        for commit in run.trace:
            counts[net.transitions[commit.transition]] += 1
        assert each.commits == counts
        assert path.latency(values) == run.latency
        latencies.append(run.latency)
    assert len({str(c.commits) + str(c.outcome) for c in parts.classes}) <= len(parts.classes)
    answer = maximize(space)
    assert (answer.verdict, answer.upper) == ("optimal", max(latencies))
    answer = minimize(space)
    assert (answer.verdict, answer.lower) == ("optimal", min(latencies))
    assert check(answer.certificate).holds


def test_a_witness_that_does_not_replay_is_our_bug(monkeypatch):
    space = pipeline.space(pipeline.net(), 4)
    honest = _lpn.bound

    def lying(*arguments, **options):
        result, interrupted = honest(*arguments, **options)
        result["found"] -= 1
        return result, interrupted

    monkeypatch.setattr(_lpn, "bound", lying)
    with pytest.raises(lpn.Error, match="this is our bug") as caught:
        maximize(space)
    assert caught.value.code == "E-bug"


def test_a_bound_whose_certificate_fails_is_our_bug(monkeypatch):
    space = pipeline.space(pipeline.net(), 4)
    monkeypatch.setattr(_lpn, "check_bound", lambda *_, **__: "it is wrong")
    with pytest.raises(lpn.Error, match="does not prove it: it is wrong") as caught:
        maximize(space)
    assert caught.value.code == "E-bug"


def test_an_incomplete_partition_proves_nothing(monkeypatch):
    net, space = sorter()
    monkeypatch.setitem(PARTITION, "max_paths", 2)
    answer = maximize(space, tries=0, states=False)
    assert answer.verdict == "unknown" and answer.upper is None and not answer.complete
    assert answer.certificate is None and answer.why
    assert prove(space, "latency <= 1000", tries=0, states=False).verdict == "unknown"
    assert prove(space, "latency <= 0", tries=0, states=False).verdict in ("refuted", "unknown")


def test_numbers_beyond_64_bits_are_refused_or_out_of_reach():
    net = lpn.Net("plain")
    jobs, done = net.place("jobs", start=True), net.place("done", done=True)
    net.transition("work", take={"j": jobs}, put=[done], delay=3)
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 2)
    for quantity in (f"{10**26} * latency", "1e308 * latency", f"completion({10**20})"):
        with pytest.raises(lpn.Error) as refused:
            lpn.maximize(space, quantity)
        assert refused.value.code == "E-property", quantity
    with pytest.raises(lpn.Error, match=r"counts completion\(2\) 1e\+20 times"):
        lpn.prove(space, f"throughput(1, 2) >= {10**20}")
    with pytest.raises(lpn.Error, match=r"compares with (-1e\+308|1e300 or more)"):
        lpn.prove(space, "latency <= 1e308")
    for bound in (10**26, 10**38, 2**63 - 1):
        assert lpn.prove(space, f"latency <= {bound}").verdict == "proved"
        assert lpn.prove(space, f"latency >= {bound}").verdict == "refuted"
        assert lpn.prove(space, f"latency >= -{bound}").verdict == "proved"


def test_an_input_that_fails_is_told_with_what_its_run_says():
    """Classes know only that the delay cannot be computed."""

    def delay(job):
        assert job.size != 3, "the RTL loses it"
        return job.size

    net = lpn.Net("plain")
    jobs, done = net.place("jobs", Sized, start=True), net.place("done", done=True)
    net.transition("work", take={"job": jobs}, put=[done.emit()], delay=delay, servers=1)
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 1)
    answer = lpn.maximize(space)
    assert answer.upper == 4 and answer.stalled["witness"] == {"jobs[0].size": 3}
    assert "transition 'work.delay' at time 0: the assumption 'the RTL loses it'" in (
        answer.stalled["why"]
    )
