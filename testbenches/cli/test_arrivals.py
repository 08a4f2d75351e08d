"""Requests that arrive at random times, at once, late or as late as there is, against a plain replay and
between the engines: latencies, what a limit or a number of done tokens cuts off, errors at the end of time.
"""

import csv
import heapq
import random

import lpn
import pytest
from lpn.runs import compiled
from lpn.runs.open_loop import measure

CASES = 150
LAST = 2**63 - 2  # the last instant


class Request(lpn.Token):
    work: lpn.Int[0, 2**62]
    born: lpn.Birth


@pytest.fixture(scope="module")
def bank():
    """Requests of two classes for one pool of servers, and the library that runs it."""
    net = lpn.Net("bank")
    servers = net.param("servers", 1, range=(1, 4))
    requests = net.place("requests", Request, start=True)
    answers = net.place("answers", Request, done=True, sink=True)
    net.transition(
        "serve",
        take={"rq": requests},
        put=[answers.forward("rq")],
        delay=lambda rq: rq.work,
        servers=servers,
    )
    net.done()
    return net, compiled(net)


def arrivals(draw):
    """Times that never fall: in bursts, apart, near the greatest time that a marking may have."""
    t, found = draw.choice([0, 0, draw.randint(0, 9), 2**62 - 500]), []
    gap = draw.choice([0, 1, 7, 40])
    for _ in range(draw.choice([0, 1, 2, draw.randint(3, 40)])):
        found.append(t)
        t += 0 if draw.random() < 0.3 else draw.randint(0, gap)
        if draw.random() < 0.02:
            t = max(t, 2**62 - 400)
    return [min(t, 2**62 - 1) for t in found]


def replay(times, works, servers):
    """(end, arrival) of each request, in order of their starts."""
    free, found, before = [0] * servers, [], 0
    for at, work in zip(times, works):
        start = before = max(at, before, heapq.heappop(free))
        heapq.heappush(free, start + work)
        found.append((start + work, at))
    return found


def figures(run, sums):
    found = sums["answers"].all
    some = (found.least, found.greatest, found.mean) if found.count else None
    return run.ending, run.latency, run.commits, run.stalled, found.count, some


@pytest.mark.parametrize("first", range(0, CASES, 50))
def test_latencies_of_any_arrivals(bank, first, tmp_path):
    net, library = bank
    for number in range(first, first + 50):
        draw = random.Random(f"arrivals {number}")
        times, servers = arrivals(draw), draw.randint(1, 4)
        works = [draw.randint(0, 60) for _ in times]
        rows, ends = list(zip(works)), replay(times, works, servers)
        limit = draw.choice([None, None, *(t + draw.randint(-2, 70) for t in times[-1:]), 30])
        done = draw.choice([None, None, draw.randint(1, 50)])
        if done is not None and done <= len(ends):
            # Commits of the instant in which the run is over are of the same group: all are made.
            over = sorted(end for end, _ in ends)[done - 1]
        else:
            over = LAST
        last = min(over, LAST if limit is None else limit)
        answered = sorted(end - at for end, at in ends if end <= last)
        marking = lpn.Marking(net)
        marking.add_rows("requests", rows, at=times)
        marking.done_count = done
        got = [
            figures(*measure(net, [servers], marking, engine, limit=limit))
            for engine in (None, library)
        ]
        assert got[0] == got[1], f"case {number}"
        *_, count, some = got[0]
        if over > last or 0 not in works:  # an answer without delay may come in a later group
            assert count == len(answered), f"case {number}"
        if count == len(answered) and count:
            assert some[:2] == (answered[0], answered[-1]), f"case {number}"
            assert some[2] == pytest.approx(sum(answered) / count), f"case {number}"
        if done is None:
            # In parts, from a file, the same.
            path = tmp_path / f"{number}.csv"
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows([("at", "work"), *zip(times, works)])
            traffic = lpn.Traffic(net, 1)
            traffic.trace("requests", path)
            for engine in (None, library):
                again = figures(*measure(net, [servers], traffic, engine, limit=limit))
                assert again == got[0], f"case {number}, in parts"


def test_the_end_of_time(bank):
    """A start whose end would be after the last instant is an error of both engines, at the same place."""
    net, library = bank
    for at, work in (
        (2**62, 20),
        (2**62, 2**62 - 2),
        (2**62, 2**62 - 1),
        (2**62, 2**62),
        (5, 2**62),
    ):
        said = []
        for engine in (None, library):
            marking = lpn.Marking(net)
            marking.add("requests", work=1, at=3)
            marking.add("requests", work=work, at=at)
            try:
                said.append(figures(*measure(net, [1], marking, engine)))
            except lpn.Error as error:
                said.append((error.code, str(error)))
        assert said[0] == said[1], (at, work)
        if at + work <= LAST:
            assert said[0][1:3] == (at + work, 2) and said[0][5][1] == work, (at, work, said[0])
        else:
            assert said[0][0] == "E-overflow", (at, work, said[0])


def test_what_is_past_or_falls_is_refused(bank):
    net, _ = bank
    marking = lpn.Marking(net)
    for at in (-1, 2**62 + 1, LAST + 1, 2**63):
        with pytest.raises(lpn.Error):
            marking.add("requests", work=1, at=at)
    with pytest.raises(lpn.Error):
        marking.add_rows("requests", [(1,), (1,)], at=[5, 4])
    with pytest.raises(lpn.Error):
        marking.add_rows("requests", [(1,)], at=[])
    assert measure(net, [1], lpn.Marking(net), None)[1]["answers"].all.count == 0
