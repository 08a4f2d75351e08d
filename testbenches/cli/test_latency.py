"""Open-loop traffic: arrival times, births, lpn latency."""

import json
import math
import statistics

import lpn as lpn_package
import numpy
import numpy
import pytest
from lpn.runs import compiled
from lpn.runs.open_loop import QUANTILES, estimate, measure

BANK = """
import lpn


class Request(lpn.Token):
    kind: lpn.Int[0, 1]
    born: lpn.Birth


def net(*, servers=1):
    net = lpn.Net("bank")
    requests = net.place("requests", Request, start=True)
    answers = net.place("answers", Request, done=True, sink=True)
    net.transition("serve", take={"rq": requests}, put=[answers.forward("rq")],
                   delay=lambda rq: 40 if rq.kind == 0 else net.param("write", 14), servers=servers)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for line in open(input):
        at, kind = line.split()
        marking.add("requests", kind="rw".index(kind), at=int(at))
    return marking


def traffic(net, seed, gap=50):
    traffic = lpn.Traffic(net, seed)
    traffic.stream("requests", lpn.poisson(gap), 3000, kind=lpn.choice({0: 3, 1: 1}))
    return traffic
""".replace(
    '    net = lpn.Net("bank")\n', '    net = lpn.Net("bank")\n    write = net.param("write", 14)\n'
).replace(
    'net.param("write", 14), servers', "write, servers"
)


@pytest.fixture
def bank(tmp_path):
    (tmp_path / "bank.py").write_text(BANK)
    (tmp_path / "four.txt").write_text("0 r\n10 w\n20 r\n200 r\n")
    return lpn_package.load(str(tmp_path / "bank.py"))


@pytest.fixture
def here(lpn, tmp_path):
    """The command line in the folder of the models."""
    return lambda *arguments: lpn(*arguments, cwd=tmp_path)


# Latencies by hand: 40; from 40 to 54, born at 10; from 54 to 94, born at 20; 40.
BY_HAND = [40, 44, 74, 40]


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_latencies_by_hand(bank, tmp_path, engine):
    net = bank.net()
    net.done()
    library = compiled(net) if engine == "compiled" else None
    marking = bank.workload(str(tmp_path / "four.txt"), net)
    assert marking.times("requests") == [0, 10, 20, 200]
    run, sums = measure(net, [14], marking, library, by="kind")
    found = sums["answers"]
    assert (run.engine, run.latency, run.commits) == (engine, 240, 4)
    assert sorted(first for first, _, n in found.all.cells() for _ in range(n)) == sorted(BY_HAND)
    assert (found.all.mean, found.all.least, found.all.greatest) == (49.5, 40, 74)
    assert [found.all.quantile(q) for q in (0.0, 0.5, 0.75, 0.99, 1.0)] == [40, 40, 44, 74, 74]
    assert found.classes == [0, 1] and found.of(1).greatest == 44
    assert found.of(0).count == 3
    assert run.ending == "quiet" and not run.stalled


def random_net(seed):
    """Places that share arrivals, with priorities, an inhibitor, an interval and a buffer."""
    rng = numpy.random.default_rng(seed)

    class Job(lpn_package.Token):
        work: lpn_package.Int[0, 50]
        born: lpn_package.Birth

    net = lpn_package.Net("random")
    low, high = net.place("low", Job, start=True), net.place("high", Job, start=True)
    mid = net.place("mid", Job, capacity=int(rng.integers(1, 4)))
    halt = net.place("halt")
    done = net.place("done", Job, done=True, sink=True)
    net.transition(
        "urgent", take={"j": high}, put=[mid.forward("j")], delay=int(rng.integers(0, 3)), servers=2
    )
    net.transition(
        "usual",
        take={"j": low, "no": halt.empty()},
        put=[mid.forward("j"), halt],
        delay=lambda j: j.work // 8,
        interval=int(rng.integers(1, 4)),
    )
    net.transition("resume", take={"h": halt}, delay=int(rng.integers(0, 6)))
    net.transition(
        "work", take={"j": mid}, put=[done.forward("j")], delay=lambda j: j.work, servers=1
    )
    marking = lpn_package.Marking(net)
    for place in ("low", "high"):
        times = numpy.sort(rng.integers(0, 400, 30)).tolist()
        marking.add_rows(place, [(int(w),) for w in rng.integers(0, 51, 30)], at=times)
    return net, marking


@pytest.mark.parametrize("seed", range(4))
def test_engines_agree_on_arrivals_and_so_do_pushes(seed):
    net, marking = random_net(seed)
    runs = [
        lpn_package.simulate(net, marking, engine=engine, trace=True, stats=True)
        for engine in ("interp", "compiled")
    ]
    assert runs[0].trace == runs[1].trace and runs[0].stats == runs[1].stats
    plain = lpn_package.simulate(net, marking, engine="compiled")
    assert (plain.latency, plain.commits) == (runs[0].latency, runs[0].commits)
    # The law says what arrivals are: pushes before the run.
    import _lpn

    start = lpn_package.Marking(net)
    for place in ("low", "high"):
        for row, at in zip(marking.rows(place), marking.times(place)):
            if at == 0:
                start.add_rows(place, [row])
    pushed = _lpn.Interp(net.core, [], start._core, trace=True)
    for place in ("low", "high"):
        for row, at in zip(marking.rows(place), marking.times(place)):
            if at > 0:
                pushed.push(net[place]._number, list(row), at)
    assert pushed.run_recorded()[1] == runs[0].trace


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_stream_is_the_marking_in_parts(engine, monkeypatch):
    import lpn.traffic.processes as processes

    monkeypatch.setattr(processes, "BLOCK", 16)
    net, _ = random_net(3)
    net.done()
    traffic = lpn_package.Traffic(net, seed=7)
    traffic.stream("low", lpn_package.poisson(40), 150, work=lpn_package.uniform(0, 50))
    traffic.stream("high", lpn_package.bursts(5, 300), 60, work=3)
    traffic.stream("low", lpn_package.periodic(33.4, phase=2), 100, work=list(range(50)) * 2)
    whole = traffic.marking()
    assert whole.count("low") == 250 and traffic.requests == 310
    assert whole.times("low") == sorted(whole.times("low"))
    assert [row[1] for row in whole.rows("low")] == whole.times("low")
    library = compiled(net) if engine == "compiled" else None
    by_parts, sums = measure(net, [], traffic, library, by="work")
    at_once, same = measure(net, [], whole, None, by="work")
    assert (by_parts.commits, by_parts.latency, by_parts.ending) == (
        at_once.commits,
        at_once.latency,
        "quiet",
    )
    assert sums["done"].all.cells() == same["done"].all.cells()
    assert sums["done"].over_time == same["done"].over_time
    assert sums["done"].classes == same["done"].classes
    assert sums["done"].all.count == 310


def test_the_seed_is_the_only_randomness(bank):
    net = bank.net()
    rows = [bank.traffic(net, seed).marking().save_bytes() for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize(
    "process, gap",
    [
        (lambda: lpn_package.poisson(12.5), 12.5),
        (lambda: lpn_package.periodic(12.5), 12.5),
        (lambda: lpn_package.bursts(8, 58, within=6), 12.5),
    ],
)
def test_arrivals_come_at_their_rate(process, gap):
    class Job(lpn_package.Token):
        born: lpn_package.Birth

    net = lpn_package.Net("n")
    queue, done = net.place("q", Job, start=True), net.place("d", Job, done=True, sink=True)
    net.transition("t", take={"j": queue}, put=[done.forward("j")], delay=1, servers=1)
    traffic = lpn_package.Traffic(net, seed=5)
    traffic.stream("q", process(), 40_000)
    times = traffic.marking().times("q")
    assert times == sorted(times)
    assert abs(times[-1] / 40_000 / gap - 1) < 0.02


def one_server():
    """(net, its done place): jobs from q to d, a cycle each."""

    class Job(lpn_package.Token):
        born: lpn_package.Birth

    net = lpn_package.Net("n")
    done = net.place("d", Job, done=True, sink=True)
    net.transition(
        "t",
        take={"j": net.place("q", Job, start=True)},
        put=[done.forward("j")],
        delay=1,
        servers=1,
    )
    return net, done


def test_quantiles_are_those_of_all_values():
    import _lpn

    rng = numpy.random.default_rng(4)
    values = numpy.concatenate(
        [rng.integers(0, 30_000, 4000), rng.exponential(3e9, 4000).astype(numpy.int64)]
    )

    net, done = one_server()
    marking = lpn_package.Marking(net)
    last = int(values.max())
    marking.add_columns("d", born=numpy.sort(last - values), at=last)
    _, sums = measure(net, [], marking, None)
    ordered = numpy.sort(values)
    histogram = sums["d"].all
    assert histogram.count == 8000 and histogram.greatest == last and histogram.least == ordered[0]
    assert math.isclose(histogram.mean, values.mean(), rel_tol=1e-12)
    for q in (0.001, 0.25, 0.499, 0.5, 0.9, 0.99, 0.999, 1.0):
        exact = int(ordered[max(1, math.ceil(q * 8000)) - 1])
        found = histogram.quantile(q)
        assert exact <= found <= exact * (1 + 2**-14)
        assert exact >= 32_768 or found == exact
    assert _lpn.sim.birth_field(net.core, done._number) == 0


def test_intervals_are_students():
    # t(0.975, 4) = 2.776445; t(0.995, 4) = 4.604095 (tables)
    values = [3.0, 5.0, 4.0, 8.0, 10.0]
    deviation = statistics.stdev(values)
    mean, half = estimate(values)
    assert (mean, round(half, 5)) == (6.0, round(2.776445 * deviation / math.sqrt(5), 5))
    assert math.isclose(estimate(values, 5)[1], 4.604095 * deviation / math.sqrt(5), rel_tol=1e-6)
    assert estimate([4.0]) == (4.0, None)
    assert set(QUANTILES) == {"p50", "p90", "p99", "p99.9"}


def test_a_marking_file_keeps_arrivals(bank, tmp_path, here):
    net = bank.net()
    marking = bank.workload(str(tmp_path / "four.txt"), net)
    marking.save(tmp_path / "four.lpnm")
    again = lpn_package.Marking.load(net, tmp_path / "four.lpnm")
    assert (again.times("requests"), again.rows("requests")) == (
        [0, 10, 20, 200],
        [(0, 0), (1, 10), (0, 20), (0, 200)],
    )
    assert here("print", "bank.py", "-o", "bank.lpn").status == 0
    (tmp_path / "four.json").write_text(
        '{"requests": [{"kind": 0, "at": 0}, {"kind": 1, "at": 10}, {"kind": 0, "at": 20}, {"kind": 0, "at": 200}]}'
    )
    for input in ("four.lpnm", "four.json"):
        done = here("sim", "bank.lpn", input, "--engine", "interp", "--json")
        assert json.loads(done.out)["runs"][0]["latency"] == 240
    done = here("latency", "bank.lpn", "four.json", "--engine", "interp", "--json")
    assert json.loads(done.out)["points"][0]["latencies"][0]["mean"] == 49.5
    assert here("compile", "bank.py", "-o", "bank").status == 0
    import subprocess

    made = subprocess.run(
        [tmp_path / "bank", tmp_path / "four.lpnm"], check=True, capture_output=True, text=True
    )
    assert json.loads(made.stdout)["latency"] == 240


def test_the_command(bank, here):
    done = here("latency", "bank.py", "four.txt", "--engine", "interp")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(
        "bank (interpreted)\n"
        "latency from birth to done, cycles; 1 run\n"
        "place    requests  mean  p50  p90  p99  p99.9  greatest\n"
        "answers         4  49.5   40   74   74     74        74\n"
    )
    done = here(
        "latency",
        "bank.py",
        "-p",
        "gap=200,50",
        "--seeds",
        "1:4",
        "--by",
        "kind",
        "--engine",
        "interp",
        "--json",
    )
    data = json.loads(done.out)
    assert (data["seeds"], data["confidence"], data["figures_together"]) == ([1, 2, 3, 4], 0.95, 5)
    assert [point["parameters"] for point in data["points"]] == [{"gap": 200}, {"gap": 50}]
    easy, busy = (point["latencies"] for point in data["points"])
    assert [(row["class"], row["place"]) for row in easy] == [
        (None, "answers"),
        (0, "answers"),
        (1, "answers"),
    ]
    assert easy[0]["requests"] == 12_000 == easy[1]["requests"] + easy[2]["requests"]
    assert easy[0]["mean"] < busy[0]["mean"] and easy[0]["mean_within"] > 0
    assert sum(count for _, _, count in easy[0]["histogram"]) == 12_000
    assert easy[1]["least"] == 40 and easy[2]["least"] == 14
    assert sum(easy[0]["over_time"]["requests"]) == 3000


def test_runs_that_are_cut_off_say_so(bank, here):
    done = here("latency", "bank.py", "--limit", "1000", "--engine", "interp")
    assert done.status == 3
    assert done.err == (
        "note: a run ended by limit at cycle 1 000: requests that were under way are not in these figures\n"
    )
    done = here("latency", "bank.py", "--warm-up", "10000000", "--engine", "interp")
    assert done.status == 0 and "no request was done" in done.out


def test_simulations_and_sweeps_take_the_traffic_too(bank, here):
    done = here("sim", "bank.py", "--engine", "interp", "--json")
    assert json.loads(done.out)["runs"][0]["firings"] == 3000
    done = here("sweep", "bank.py", "-p", "write=14,30", "--engine", "interp", "--json")
    assert [row["firings"] for row in json.loads(done.out)["rows"]] == [3000, 3000]


REFUSED = {
    "falls": (
        lambda m, t: m.add_rows("q", [(), ()], at=[5, 4]),
        "E-marking",
        "place 'q', token 1: it arrives at 4, after one that arrives at 5; add them in the order of their arrival",
    ),
    "before": (
        lambda m, t: (m.add("q", at=7), m.add("q", at=3)),
        "E-marking",
        "place 'q', token 1: it arrives at 3, after one that arrives at 7; add them in the order of their arrival",
    ),
    "negative": (
        lambda m, t: m.add("q", at=-1, born=0),
        "E-marking",
        "place 'q', token 0: there is no time -1; times are 0..9223372036854775806",
    ),
    "no number": (
        lambda m, t: m.add("q", at=1.5),
        "E-marking",
        "property 'at' must be int, got 1.5",
    ),
    "bounded": (
        lambda m, t: m.add("buffer", at=3),
        "E-marking",
        "place 'buffer' has a capacity, so no token can arrive in it at time 3: who brings it could not wait; let it "
        "arrive in a place without one, in front of it",
    ),
    "too few times": (
        lambda m, t: m.add_rows("q", [(), ()], at=[5]),
        "E-marking",
        "row 1 of 'q' has no time in at=[...]",
    ),
    "too many times": (
        lambda m, t: m.add_rows("q", [()], at=[5, 6]),
        "E-marking",
        "1 rows and 2 times (at=)",
    ),
    "gap": (
        lambda m, t: t.stream("q", lpn_package.poisson(0), 3),
        "E-traffic",
        "poisson(gap) must be a number of cycles > 0, got 0",
    ),
    "nan": (
        lambda m, t: t.stream("q", lpn_package.periodic(math.nan), 3),
        "E-traffic",
        "periodic(gap) must be a number of cycles > 0, got nan",
    ),
    "times that floats cannot tell apart": (
        lambda m, t: (t.stream("q", lpn_package.periodic(10, phase=2**60), 3), t.marking()),
        "E-traffic",
        "arrivals of 'q' go on beyond cycle 2^53, where a float is no exact time; give a list of ints",
    ),
    "half a byte": (
        lambda m, t: (
            t.stream("sized", [1, 2, 3], 3, size=lambda rng, n: [1, 2.5, 3]),
            t.marking(),
        ),
        "E-traffic",
        "traffic of 'sized': size = 2.5 is no whole number of 64 bits; round what is drawn",
    ),
    "nan drawn": (
        lambda m, t: (t.stream("sized", [1, 2], 2, size=lambda rng, n: [1, math.nan]), t.marking()),
        "E-traffic",
        "traffic of 'sized': size = nan is no whole number of 64 bits; round what is drawn",
    ),
    "unsigned": (
        lambda m, t: (
            t.stream("sized", [1], 1, size=numpy.array([2**63], numpy.uint64)),
            t.marking(),
        ),
        "E-traffic",
        "traffic of 'sized': size = 9223372036854775808 is no whole number of 64 bits; round what is drawn",
    ),
    "one drawn too few": (
        lambda m, t: (
            t.stream("sized", [1, 2, 3], 3, size=lambda rng, n: [1] * (n - 1)),
            t.marking(),
        ),
        "E-traffic",
        "traffic of 'sized': size needs 3 numbers, got an array of shape (2,)",
    ),
    "bounded stream": (
        lambda m, t: t.stream("buffer", lpn_package.poisson(5), 3),
        "E-traffic",
        "place 'buffer' has a capacity, so nothing can arrive in it: who brings it could not wait; let it arrive in a "
        "place without one, in front of it",
    ),
    "other properties": (
        lambda m, t: t.stream("q", lpn_package.poisson(5), 3, size=4),
        "E-marking",
        "traffic of 'q' needs exactly: none; got: size",
    ),
    "short list": (
        lambda m, t: t.stream("q", [1, 2], 3),
        "E-traffic",
        "'arrivals' has 2 values for 3 requests",
    ),
    "falling list": (
        lambda m, t: (t.stream("q", [3, 2], 2), t.marking()),
        "E-traffic",
        "arrivals of 'q' must be times that never fall",
    ),
    "born later": (
        lambda m, t: (m.add("q", born=50), measure(m.net, [], m, None)),
        "E-born",
        "a request was done at 2 and born at 50, which is later; `born` is when it came, and is only copied on its way",
    ),
}


def test_listed_times_are_exact_however_large():
    class Job(lpn_package.Token):
        born: lpn_package.Birth

    net = lpn_package.Net("n")
    net.transition("t", take={"j": net.place("q", Job, start=True)}, delay=1)
    traffic = lpn_package.Traffic(net)
    traffic.stream("q", [2**53 - 1, 2**53 + 1, 2**61 + 3], 3)  # no double is the last two
    assert traffic.marking().times("q") == [2**53 - 1, 2**53 + 1, 2**61 + 3]


class Sized(lpn_package.Token):
    size: lpn_package.Int


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    class Job(lpn_package.Token):
        born: lpn_package.Birth

    net = lpn_package.Net("n")
    queue, buffer = net.place("q", Job, start=True), net.place("buffer", Job, capacity=2)
    done = net.place("d", Job, done=True, sink=True)
    net.place("sized", Sized, sink=True)
    net.transition("t", take={"j": queue}, put=[buffer.forward("j")], delay=1, servers=1)
    net.transition("u", take={"j": buffer}, put=[done.emit()], delay=1, servers=1)
    act, code, text = REFUSED[name]
    with pytest.raises(lpn_package.Error) as refused:
        act(lpn_package.Marking(net), lpn_package.Traffic(net))
    assert (refused.value.code, str(refused.value).splitlines()[0]) == (code, text)


def test_births_that_nobody_hands_on():
    class Job(lpn_package.Token):
        born: lpn_package.Birth

    net = lpn_package.Net("n")
    left, right = net.place("left", Job, start=True), net.place("right", Job, start=True)
    tick, done = net.place("tick", init=1), net.place("d", Job, done=True, sink=True)
    for take, said in (
        ({"a": left, "b": right}, "it takes several"),
        ({"t": tick}, "the transition takes none"),
    ):
        with pytest.raises(lpn_package.Error) as refused:
            net.transition(f"t{len(take)}", take=take, put=[done.emit()], delay=1, servers=1)
        assert (refused.value.code, str(refused.value).splitlines()[0]) == (
            "E-field",
            f"d.emit(...) must say of which request its tokens are, since {said}; write born=..., as "
            "born=lambda pkt: pkt.born",
        )
    with pytest.raises(lpn_package.Error) as refused:

        class Late(lpn_package.Token):
            came: lpn_package.Birth

    assert str(refused.value).splitlines()[0] == (
        "property 'came' of token type Late is lpn.Birth; call it 'born', by which it is known"
    )


def test_a_net_without_births(tmp_path, here):
    (tmp_path / "line.lpn").write_text(
        "lpn 1\nnet line\ntype unit ()\nplace in : unit start\nplace out : unit done\n"
        "transition t {\n  take x from in\n  delay 1\n  servers 1\n  put out\n}\nend\n"
    )
    (tmp_path / "in.json").write_text('{"in": 3}')
    done = here("latency", "line.lpn", "in.json")
    assert (done.status, done.err) == (
        2,
        "error: net 'line' does not say how long a request takes: no place that keeps its tokens has a property born: "
        "lpn.Birth; declare it for the tokens of requests, from where they arrive to where they are done [E-born]\n",
    )


@pytest.mark.parametrize(
    "text, said",
    [
        ("at,kind\n3,0\n2,1\n", "request 1 comes at 2, after one at 3"),
        ("when,kind\n3,0\n", "there is no column 'at'"),
        ("at,kind\n3,x\n", "t.csv:2: column 'kind' has 'x', which is no whole number"),
        ("at,kind\n3\n", "t.csv:2: column 'kind' has no value, which is no whole number"),
        ("at,kind\n3,1,7\n", "t.csv:2: more values than columns"),
        ("at,kind,kind\n3,0,1\n5,1,1\n", "t.csv: there are two columns 'kind'"),
        ("at,kind\n-3,1\n", "request 0 comes at -3"),
    ],
)
def test_traces_that_are_wrong(bank, tmp_path, text, said):
    (tmp_path / "t.csv").write_text(text)
    traffic = lpn_package.Traffic(bank.net())
    with pytest.raises(lpn_package.Error) as refused:
        traffic.trace("requests", tmp_path / "t.csv")
    assert refused.value.code == "E-input" and said in str(refused.value)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_trace(bank, tmp_path, mark):
    (tmp_path / "t.csv").write_text(mark + "kind,at\n0,0\n1,10\n0,20\n0,200\n")
    net = bank.net()
    traffic = lpn_package.Traffic(net)
    traffic.trace("requests", tmp_path / "t.csv")
    _, sums = measure(net, [14], traffic, None)
    assert sums["answers"].all.mean == 49.5


def test_intervals_of_quantiles_hold_as_often_as_they_say():
    """1 - 0.05 / 5 each, for independent values: 0.99 of 400 tables, within 4 deviations."""
    import _lpn
    from lpn.runs.open_loop import Replicated

    net, done = one_server()
    net.done()
    rng = numpy.random.default_rng(8)

    def run_of(values):
        marking = lpn_package.Marking(net)
        marking.add_columns("d", born=10**6 - values, at=10**6)
        machine = _lpn.Interp(net.core, [], marking._core)
        machine.collect(done._number)
        sums = _lpn.sim.Latencies(1, 0, None, 0)
        machine.run()
        sums.drain(machine, done._number)
        return sums.all

    inside = {"mean": 0, "p50": 0, "p99": 0}
    truth = {"mean": 10_000, "p50": 10_000 * math.log(2), "p99": 10_000 * math.log(100)}
    for _ in range(400):
        runs = [
            run_of(rng.exponential(10_000, 1000).round().astype(numpy.int64)) for _ in range(10)
        ]
        rows = Replicated(runs).estimates()
        for name, value in truth.items():
            inside[name] += abs(rows[name][0] - value) <= rows[name][1]
    assert all(388 <= count for count in inside.values()), inside


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_sweep_has_the_latencies_of_requests(bank, here, tmp_path, engine):
    """In its table, files and metrics: 40, 44, 74 and 40 cycles, by hand; two servers: 40, 14, 40, 40."""
    more = ["-p", "write=14", "--engine", engine, "-o", "t.csv", "--jsonl", "t.jsonl"]
    answer = here("sweep", "bank.py", "four.txt", *more, "--json")
    (row,) = answer.json["rows"]
    expected = {"requests": 4, "latency_mean": statistics.mean(BY_HAND), "latency_p50": 40}
    expected.update({f"latency_{name}": 74 for name in ("p90", "p99", "p99.9")})
    assert {name: row[name] for name in expected} == expected
    head, cells = (line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines())
    written = dict(zip(head, cells))
    assert {name: float(written[name]) for name in expected} == expected
    # The same command goes on: all rows are there, and read as they were.
    again = here("sweep", "bank.py", "four.txt", *more, "--json")
    assert again.json["resumed"] == 1 and again.json["rows"] == answer.json["rows"]
    shown = here("sweep", "bank.py", "four.txt", "-p", "write=14", "--engine", engine).out
    assert "latency p50  latency p99" in shown and " 40 " in shown and "74" in shown


def test_a_sweep_of_a_net_without_births_has_none(lpn, tmp_path):
    (tmp_path / "plain.lpn").write_text(
        "lpn 1\nnet plain\ntype unit ()\nplace a : unit start initial 3\nplace b : unit done\n"
        "transition t {\n  take x from a\n  delay 2\n  put b\n}\nend\n"
    )
    answer = lpn("sweep", tmp_path / "plain.lpn", "--engine", "interp", "--json")
    assert "requests" not in answer.json["rows"][0]
    refused = lpn("sweep", tmp_path / "plain.lpn", "--metric", "latency_p99", "--engine", "interp")
    refused.refused("E-born")
    assert (
        "--metric latency_p99: model 'plain' does not say how long a request takes; declare a property "
        "born: lpn.Birth for the tokens of requests" in " ".join(refused.err.split())
    )


def test_a_seed_or_value_that_is_given_twice_is_one(bank, here):
    """Equal runs made an interval of 0 that was said to hold with 95 %; equal loads ended in IndexError."""
    found = here("latency", "bank.py", "--seeds", "3,3", "--engine", "interp", "--json").json
    assert found["seeds"] == [3] and len(found["points"][0]["runs"]) == 1
    assert found["points"][0]["latencies"][0]["mean_within"] is None
    said = here("latency", "bank.py", "-p", "gap=50,50", "--plot", "x.svg").refused("E-usage")
    assert "give a parameter several values" in said
    for form in ([], ["--json"]):
        assert here("latency", "bank.py", "--seeds=-1", *form).status == 2


def test_a_parameter_that_is_none_is_refused_with_those_of_traffic(lpn, tmp_path):
    assert lpn("new", tmp_path / "job").status == 0
    said = lpn("latency", tmp_path / "job" / "job.py", "-p", "gab=1").refused("E-param")
    assert "it has: units, setup; its traffic() has, for lpn latency: gap" in said
