"""lib.token_bucket and lib.threshold beside programs written from their page, cycle by cycle: random sizes,
arrivals at one instant, work of no duration.
"""

import os
import random

import lpn
import pytest
from lpn import lib

CASES = 3000 if os.environ.get("LPN_SLOW") else 300


class Packet(lpn.Token):
    bytes: lpn.Int[1, 64]


def ends(net, name, tokens, at, params):
    """The times at which firings of a transition ended, and the run."""
    marking = lpn.Marking(net)
    marking.add_rows(next(iter(net.places)), tokens, at=at)
    run = lpn.simulate(net, marking, params, trace=True)
    names = list(net.transitions)
    return [c.time for c in run.trace if names[c.transition] == name], run


def shaped(period):
    net = lpn.Net("shaped")
    asked = net.place("asked", Packet, start=True)
    rate, burst, speed = (net.param(n, 64, range=(1, 100)) for n in ("rate", "burst", "speed"))
    bucket = lib.token_bucket(net, "shaper", rate=rate, period=period, burst=burst)
    done = net.place("done", done=True, sink=True)
    net.transition(
        "send",
        take={"p": asked, "b": bucket.take(lambda p: p.bytes)},
        put=[done],
        delay=lambda p: p.bytes // speed,
        servers=1,
    )
    return net


def shaped_by_hand(sizes, at, period, rate, burst, speed):
    level, coming, sending, ended, k, t = burst, 0, None, [], 0, 0
    while len(ended) < len(sizes):
        may_refill = t % period == 0
        while True:  # rounds: what is due, then what starts
            if sending is not None and sending <= t:
                ended.append(sending)
                sending = None
            level, coming = level + coming, 0
            for what in ("refill", "send", "refill"):
                if what == "send" and sending is None and k < len(sizes) and at[k] <= t:
                    if sizes[k] <= level:
                        level, sending, k = level - sizes[k], t + sizes[k] // speed, k + 1
                elif what == "refill" and may_refill and level < burst:
                    may_refill, coming = False, min(rate, burst - level)
            if not coming and (sending is None or sending > t):
                break
        t += 1
    return ended


def test_token_bucket():
    nets = {period: shaped(period) for period in (1, 3, 10)}
    held = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        period = rng.choice([1, 3, 10])
        rate, burst, speed = (
            rng.choice([1, 5, 64, 100]),
            rng.choice([1, 8, 64]),
            rng.choice([1, 8, 100]),
        )
        sizes = [rng.randint(1, burst) for _ in range(rng.randint(1, 12))]
        at, t = [], 0
        for _ in sizes:
            t += rng.choice([0, 0, 1, rng.randint(0, 30)])
            at.append(t)
        params = {"rate": rate, "burst": burst, "speed": speed}
        got, run = ends(nets[period], "send", [(n,) for n in sizes], at, params)
        assert got == shaped_by_hand(sizes, at, period, rate, burst, speed), seed
        assert run.ending == "quiet" and not run.stalled
        sent = [(g - n // speed, n) for g, n in zip(got, sizes)]
        for k, (first, _) in enumerate(
            sent
        ):  # no stretch has more than burst, and a refill per edge
            for last in range(k, len(sent)):
                edges = sent[last][0] // period - (first - 1) // period
                assert sum(n for _, n in sent[k : last + 1]) <= burst + rate * edges
        held += got[-1] > at[-1] + sizes[-1] // speed
    assert held > CASES // 4


def paused():
    net = lpn.Net("paused")
    asked = net.place("asked", start=True)
    high, low, wire, slow, fast = (
        net.param(n, v, range=(0, 99))
        for n, v in (("high", 3), ("low", 1), ("wire", 2), ("slow", 4), ("fast", 1))
    )
    level, done = net.place("level"), net.place("done", done=True, sink=True)
    closed = lib.threshold(net, "pause", level, high, low, delay=wire)
    net.transition(
        "receive", take={"t": asked, "x": closed.empty()}, put=[level], delay=fast, servers=1
    )
    net.transition("send", take={"t": level}, put=[done], delay=slow, servers=1)
    return net


def paused_by_hand(at, high, low, wire, slow, fast):
    level = waiting = k = t = 0
    closed, change, receiving, sending, ended = False, None, None, None, []
    while len(ended) < len(at):
        while True:
            if change is not None and change <= t:
                closed, change = not closed, None
            if receiving is not None and receiving <= t:
                level, waiting, receiving = level + 1, waiting + 1, None
            if sending is not None and sending <= t:
                ended.append(sending)
                level, sending = level - 1, None
            if change is None and (level <= low if closed else level >= high):
                change = t + wire
            if receiving is None and not closed and k < len(at) and at[k] <= t:
                receiving, k = t + fast, k + 1
            if sending is None and waiting:
                waiting, sending = waiting - 1, t + slow
            if all(due is None or due > t for due in (change, receiving, sending)):
                break
        t += 1
    return ended


def test_threshold():
    net = paused()
    for seed in range(CASES):
        rng = random.Random(seed)
        high = rng.randint(1, 5)
        params = {"high": high, "low": rng.randint(0, high - 1), "wire": rng.choice([0, 1, 7])}
        params |= {"slow": rng.choice([0, 1, 5]), "fast": rng.choice([0, 1, 3])}
        at, t = [], 0
        for _ in range(rng.randint(1, 15)):
            t += rng.choice([0, 0, 1, rng.randint(0, 12)])
            at.append(t)
        got, run = ends(net, "send", [()] * len(at), at, params)
        assert got == paused_by_hand(at, **params), (seed, params)
        assert run.ending == "quiet" and not run.stalled


def test_what_is_refused():
    net = lpn.Net("n")
    level = net.place("level")
    for wrong, said in (
        (lambda: lib.threshold(net, "a", level, 2, 2), "'a': low must be below high, got 2 and 2"),
        (lambda: lib.threshold(net, "b", "level", 2, 1), "'b': level must be a place, got 'level'"),
        (lambda: lib.token_bucket(net, "c", rate=0, period=1, burst=1), "'c': rate must be an int"),
        (
            lambda: lib.token_bucket(net, "d", rate=1, period=0, burst=1),
            "'d': period must be an int",
        ),
    ):
        with pytest.raises(lpn.Error) as error:
            wrong()
        assert error.value.code == "E-operand" and said in str(error.value)
