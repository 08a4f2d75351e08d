"""The values of tokens that a page carries, read again and compared with the interpreter's places."""

import pytest
from _numbers import Numbers
from conftest import DEMO, golden_nets, load

import _lpn
import lpn
from lpn.runs import prepare
from lpn.runs.stepping import Stepping

TYPED = [path for path in golden_nets() if any(p._type.fields for p in load(path).places.values())]


class Place:
    def __init__(self, numbers, width):
        def times(count):
            made, time = [], 0
            for _ in range(count):
                time += numbers.next()
                made.append(time)
            return made

        self.initial = numbers.next()
        self.times = times(numbers.next())
        count = self.initial + len(self.times)
        columns = []
        for _ in range(width):
            wide, value, column = numbers.next(), 0, []
            for _ in range(count):
                value = numbers.signed() + (0 if wide else value)
                column.append(value)
            columns.append(column)
        self.rows = list(zip(*columns))
        takes = times(numbers.next())
        who = [numbers.next() for _ in takes]
        self.takes = list(zip(takes, who, [numbers.next() for _ in takes]))

    def free(self, t):
        begin = sum(tokens for time, _, tokens in self.takes if time <= t)
        return self.rows[begin : self.initial + sum(time <= t for time in self.times)]

    def taken(self, transition, firing):
        begin = found = 0
        for _, who, tokens in self.takes:
            if who == transition:
                if found == firing:
                    return self.rows[begin : begin + tokens]
                found += 1
            begin += tokens


def read(net, data):
    """(instants below this are known, {place: Place})."""
    numbers = Numbers(data)
    until = numbers.next()
    places = {
        name: Place(numbers, len(place._type.fields))
        for name, place in net.places.items()
        if place._type.fields
    }
    assert numbers.at == len(data)
    return until, places


def recorded(ready, **limits):
    machine = _lpn.Interp(ready.net.core, ready.values, ready.marking._core, stats=True)
    record = _lpn.viz.Record(ready.net.core, ready.values, ready.marking._core, **limits)
    record.watch(machine)
    machine.run(10**6)
    record.finish(machine.now)
    return read(ready.net, record.values)


def compare(ready, until, places, most=2000):
    """After each instant, and of each firing that starts."""
    stepping = Stepping(ready)
    names = [t.name for t in ready.net.core.transitions]
    before = {}
    seen = 0
    while stepping.instants < most and stepping.go(steps=1, until=10**6) == "steps":
        if stepping.now >= until:
            break
        for name, place in places.items():
            fields = ready.net[name]._type.fields
            rows = [tuple(token[f] for f in fields) for token in stepping.tokens(name)]
            assert place.free(stepping.now) == rows, (stepping.now, name)
            seen += len(rows)
        # A start takes the oldest of what was free; alone of its instant it took from what was there.
        starts = [e for e in stepping.events if e["event"] == "start"]
        if len(starts) == 1 and not any(e["event"] == "arrival" for e in stepping.events):
            (start,) = starts
            commits = {n for e in stepping.events if e["event"] == "commit" for n in e["tokens"]}
            for name, count in start["tokens"].items():
                if name in places and name not in commits and name in before:
                    number = names.index(start["transition"])
                    taken = places[name].taken(number, start["firing"])
                    assert taken == before[name][:count]
        before = {name: place.free(stepping.now) for name, place in places.items()}
    return seen


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.stem)
def test_golden_nets(path):
    ready = prepare(load(path))
    compare(ready, *recorded(ready))


def test_some_of_them_have_values():
    assert sum(compare(r, *recorded(r)) > 0 for r in map(prepare, map(load, TYPED))) > 10


def test_jpeg():
    ready = prepare("jpeg", str(DEMO / "grad_16x16_q90_420.jpg"))
    until, places = recorded(ready)
    assert until > 1402 and compare(ready, until, places) > 0


class Wide(lpn.Token):
    id: lpn.Int
    small: lpn.Int[0, 9]


def late():
    net = lpn.Net("late")
    queue, done = net.place("queue", Wide, start=True), net.place("done", Wide, done=True)
    put = [done.forward("w")]
    net.transition("serve", take={"w": queue}, put=put, delay=lambda w: 3 + w.small, servers=2)
    marking = lpn.Marking(net)
    rows = [(2**63 - 1, 1), (-(2**63), 9), (0, 2), (2**52 + 1, 0), (-7, 5)]
    marking.add_rows("queue", rows, at=[0, 0, 4, 5, 5])
    return prepare(net, marking)


def test_arrivals_and_numbers_of_64_bits():
    ready = late()
    until, places = recorded(ready)
    assert compare(ready, until, places) > 0
    assert sorted(places["done"].rows)[0] == (-(2**63), 9)


@pytest.mark.parametrize("most", [0, 5, 12, 20, 30, 10**6])
def test_no_more_numbers_than_allowed(most):
    """What is kept is right up to an instant, and said to be."""
    ready = late()
    until, places = recorded(ready, values=most)
    numbers = sum(3 * len(p.rows) - p.initial + 3 * len(p.takes) for p in places.values())
    assert numbers <= most or until == 0
    compare(ready, until, places)
    assert (until > 12) == (most == 10**6)


def test_nets_whose_tokens_only_count_carry_nothing():
    net = lpn.Net("count")
    a, b = net.place("a", init=3), net.place("b", done=True)
    net.transition("t", take={"x": a}, put=[b], delay=1, servers=1)
    ready = prepare(net)
    record = _lpn.viz.Record(net.core, ready.values, ready.marking._core)
    record.finish(0)
    assert record.values == b""
