"""lpn.tune: strategies, the journal, what is refused."""

import itertools
import json
import os
import signal

import pytest

lpn = pytest.importorskip("lpn")

GRID = [{"x": x, "y": y} for x, y in itertools.product(range(20), range(20))]


def bowl(batch):
    return [(c["x"] - 13) ** 2 + 3 * (c["y"] - 4) ** 2 + 1 for c in batch]


def test_exhaustive_random_and_guided():
    every = lpn.tune(GRID, bowl, strategy="exhaustive")
    assert every.best.candidate == {"x": 13, "y": 4} and len(every.trials) == 400
    assert [trial.candidate for trial in every.trials] == GRID
    some = lpn.tune(GRID, bowl, strategy="random", trials=50, seed=5)
    assert len({json.dumps(trial.candidate) for trial in some.trials}) == 50
    assert some.trials == lpn.tune(GRID, bowl, strategy="random", trials=50, seed=5).trials
    assert some.trials != lpn.tune(GRID, bowl, strategy="random", trials=50, seed=6).trials
    pytest.importorskip("sklearn")
    guided = lpn.tune(GRID, bowl, trials=60)
    assert guided.best.cost <= 5 and guided.best.cost < some.best.cost
    assert guided.so_far()[-1] == (guided.best.number, guided.best.cost)
    prior = lpn.tune(GRID, bowl, trials=4, prior=lambda c: abs(c["x"] - 13) + abs(c["y"] - 4) + 1)
    assert prior.best.candidate == {"x": 13, "y": 4}


def test_candidates_that_cannot_run_are_no_best():
    tuning = lpn.tune(GRID, lambda batch: [None] * len(batch), trials=9)
    assert tuning.best is None and len(tuning.trials) == 9 and tuning.so_far() == []


def test_a_search_goes_on_from_its_journal(tmp_path):
    path = tmp_path / "trials.jsonl"
    asked = []

    def counted(batch):
        asked.extend(batch)
        return bowl(batch)

    options = {"strategy": "random", "journal": path, "subject": {"bowl": 1}}
    lpn.tune(GRID, counted, trials=30, **options)
    with open(path, "a") as file:
        file.write('{"candidate": {"x"')  # killed while it wrote
    longer = lpn.tune(GRID, counted, trials=50, **options)
    assert len(asked) == 50
    assert longer.trials == lpn.tune(GRID, bowl, strategy="random", trials=50).trials
    with pytest.raises(lpn.Error, match="holds trials of something else"):
        lpn.tune(GRID, bowl, trials=5, **{**options, "subject": {"bowl": 2}})
    path.write_text("no\n")
    with pytest.raises(lpn.Error, match="holds no trials; write to another file"):
        lpn.tune(GRID, bowl, trials=5, **options)


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    path = tmp_path / "trials.jsonl"
    calls = []

    def stopped(batch):
        calls.append(len(batch))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return bowl(batch)

    options = {"strategy": "random", "journal": path}
    tuning = lpn.tune(GRID, stopped, **options)
    assert tuning.ending == "interrupted" and len(tuning.trials) == sum(calls[:2])
    assert tuning.best.cost == min(trial.cost for trial in tuning.trials)
    assert len(path.read_text().splitlines()) == 1 + len(tuning.trials)
    assert lpn.tune(GRID, bowl, **options).best.cost == 1


def test_what_cannot_be_is_refused():
    for options, text in (
        ({"strategy": "clever"}, "strategy must be guided, random, exhaustive, got 'clever'"),
        ({"trials": 0}, "trials must be at least 1, got 0"),
        ({"batch": 1.5}, "batch must be at least 1, got 1.5"),
    ):
        with pytest.raises(lpn.Error) as caught:
            lpn.tune(GRID, bowl, **options)
        assert caught.value.code == "E-tune" and text in str(caught.value)
    for cost, text in (
        (lambda batch: [1.0], "cost() must return 4 numbers for as many, got 1"),
        (lambda batch: [float("nan")] * len(batch), "finite numbers or None, got nan"),
    ):
        with pytest.raises(lpn.Error) as caught:
            lpn.tune(GRID, cost, strategy="random")
        assert text in str(caught.value)
    with pytest.raises(lpn.Error, match="there is no candidate to try"):
        lpn.tune([], bowl)
    with pytest.raises(lpn.Error, match="it has no number"):
        lpn.tune(["a", "b"], lambda batch: [1] * len(batch))


def alone(scale, batch):
    return [scale * (c["x"] - 13) ** 2 + c["y"] for c in batch]


def died(batch):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(batch):
    raise ValueError("no cost of that")


def too_few(batch):
    return [1]


def test_costs_by_several_processes():
    with lpn.Spread(alone, 5, jobs=3) as cost:
        assert cost(GRID) == alone(5, GRID)
        assert cost(GRID[:1]) == alone(5, GRID[:1])
        found = lpn.tune(GRID, cost, strategy="random", trials=50, seed=5)
    same = lpn.tune(GRID, lambda b: alone(5, b), strategy="random", trials=50, seed=5)
    assert found.trials == same.trials


def test_costs_that_do_not_come():
    for function, words in (
        (refused, "^no cost of that$"),
        (died, "^a worker that computed costs died, twice\n"),
        (too_few, r"^cost\(\) must return 200 numbers for as many, got 1\n"),
    ):
        with lpn.Spread(function, jobs=2) as cost, pytest.raises(Exception, match=words):
            cost(GRID)
    with pytest.raises(lpn.Error, match=r"^Spread needs a function of a module, .*got .*<lambda>"):
        lpn.Spread(lambda batch: batch, jobs=2)


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    """Also one without a whole line, which was taken for an empty one and written over."""
    for data in (
        b"a text without an end of line",
        b"\x1f\x8b\x08\x00",
        b"one\n",
        b'{"tune": 1}\nx\n',
    ):
        path = tmp_path / "file"
        path.write_bytes(data)
        with pytest.raises(lpn.Error, match="holds (no trials|trials of something else); write to"):
            lpn.tune(GRID, bowl, trials=3, strategy="random", journal=path)
        assert path.read_bytes() == data
    path.write_bytes(b'{"tune": 1, "strat')  # killed in its first line
    assert len(lpn.tune(GRID, bowl, trials=3, strategy="random", journal=path).trials) == 3
