"""What a net does: docs/semantics.md from "Behaviour" to "Trace", as directly as it can be said.

Nothing is clever here: after every start all transitions are judged anew, and after every instant the whole
state is written down for the statistics.
"""

import heapq
from collections import deque
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from formula import Fault, Moment, fit, function_of
from text import Refused

LAST = 2**63 - 2  # the last instant there is
MOST_TOKENS = 2**31
REASONS = ["no token", "no credit", "guard", "inhibited", "no server", "interval", "clock"]


class Token(NamedTuple):
    values: tuple
    origin: tuple  # (transition, firing, output arc, index), or (place, index)


class Commit(NamedTuple):
    time: int
    group: int
    transition: int
    firing: int
    start: int
    taken: list  # origins, per declared input arc
    produced: list  # how many, per declared output arc


class Place:
    """A FIFO: locked tokens lie with the firings that hold them, and are only counted here."""

    def __init__(self, spec):
        self.spec = spec
        self.free = deque()
        self.occupancy = self.peak = self.outside = 0  # outside: initial and pushed tokens so far
        self.credits = None

    def append(self, token):
        self.free.append(token)
        self.occupancy += 1
        self.peak = max(self.peak, self.occupancy)


class Arc:
    """An input arc; one with `counts` is a credit arc, for what the emissions into a place will fill."""

    def __init__(self, place, take=None, params=None, counts=None, same=None):
        self.place, self.counts, self.same = (
            place,
            counts,
            same,
        )  # same: the arc that takes from there
        self.inhibits = self.own_head = False
        self.threshold = self.guard = None
        if take:
            self.inhibits, self.own_head = take.inhibits, take.reads_own_head
            self.weight = function_of(take.weight, params)
            self.threshold = take.threshold and function_of(take.threshold, params)
            self.guard = take.guard and function_of(take.guard, params)


class Firing(NamedTuple):
    due: int
    id: int
    number: int
    start: int
    locked: list  # tokens, per declared input arc
    emitted: list  # per output arc: values of each token
    back: list  # (place, credits given back)


class Transition:
    def __init__(self, id, spec, places, params):
        def made(formula):
            return formula and function_of(formula, params)

        self.id, self.spec = id, spec
        self.arcs = [Arc(places[take.place], take, params) for take in spec.takes]
        self.delay, self.interval = made(spec.delay), made(spec.interval)
        self.puts = [
            (places[put.place], [(made(g.count), [made(v) for v in g.values]) for g in put.groups])
            for put in spec.puts
        ]
        for place in places:  # credit arcs come after all declared arcs, in the order of the places
            if place.spec.capacity and any(target is place for target, _ in self.puts):
                counts = [
                    count for target, groups in self.puts if target is place for count, _ in groups
                ]
                same = [
                    i
                    for i, arc in enumerate(self.arcs)
                    if arc.place is place and arc.counts is None
                ]
                self.arcs.append(Arc(place, counts=counts, same=same[0] if same else None))
        self.places = [arc.place for arc in self.arcs]
        self.servers = self.period = None
        self.phase = 0
        self.starts = self.in_flight = 0
        self.next_start = 0  # where the interval ends
        self.last_due = 0

    def edge(self, time):
        """The first edge of the clock at `time` or later."""
        return time if self.period is None else time + (self.phase - time) % self.period


class Result(NamedTuple):
    ending: str
    latency: int  # or None
    last: int
    commits: int
    done: int
    stalled: bool
    undrained: list
    blocked: list  # (transition, reason, arc or place or None)


class Run:
    """One run of a net. `tokens`: {place name: rows} of the marking; `done`: its done count."""

    def __init__(self, net, params=None, tokens=None, done=None, group_limit=2**20):
        self.net, self.group_limit = net, group_limit
        self.params = {name: default for name, (default, _) in net.params.items()}
        for name, value in (params or {}).items():
            if name not in net.params:
                raise Refused("E-param", f"there is no parameter '{name}'")
            allowed = net.params[name][1]
            if allowed and not allowed[0] <= value <= allowed[1]:
                raise Refused("E-param", f"parameter '{name}' is {value}, outside its range")
            self.params[name] = value
        self.places = [Place(spec) for spec in net.places]
        self.by_name = {place.spec.name: place for place in self.places}
        self.transitions = [
            Transition(i, spec, self.places, self.params) for i, spec in enumerate(net.transitions)
        ]
        self.now, self.group, self.begun = 0, 0, False
        self.firings, self.pushes, self.pushed = [], [], 0
        self.commits, self.fault = [], None
        self.produced = self.last = 0
        self.last_done = None  # when a token was last produced into a done place
        self.reasons = [None] * len(self.transitions)
        self.history = (
            []
        )  # (time, occupancies, firings in flight, reasons) at the end of each instant
        self.check(tokens or {}, done)

    # ---- before time 0 ----

    def fixed(self, formula, index=0):
        moment = Moment([])
        moment.index = index
        try:
            return int(function_of(formula, self.params)(moment))
        except Fault as fault:
            raise Refused("E-param-value", f"{fault.code} before time 0") from None

    def at_least(self, least, formula, what):
        value = self.fixed(formula)
        if value < least:
            raise Refused("E-param-value", f"{what} is {value}; it must be >= {least}")
        return value

    def check(self, tokens, done):
        for name, rows in tokens.items():
            if name not in self.by_name:
                raise Refused("E-place", f"there is no place '{name}'")
            for row in rows:
                self.fits(self.by_name[name], row, "E-marking")
        for t in self.transitions:
            if t.spec.servers:
                t.servers = self.at_least(1, t.spec.servers, "servers")
            if t.spec.clock:
                t.period = self.at_least(1, t.spec.clock, "period")
                t.phase = self.at_least(0, t.spec.phase, "phase") if t.spec.phase else 0
        for place in self.places:
            for group in place.spec.initial:
                for index in range(self.count_of(group)):
                    self.bring(place, [self.fixed(value, index) for value in group.values])
            for row in tokens.get(place.spec.name, []):
                self.bring(place, row)
            if place.spec.capacity:
                slots = self.at_least(0, place.spec.capacity, "capacity")
                place.credits = slots - place.occupancy
                if place.credits < 0:
                    raise Refused("E-capacity", f"place '{place.spec.name}' starts too full")
        self.wanted = self.net.done and self.at_least(0, self.net.done, "the done count")
        if done is not None:
            self.wanted = done

    def count_of(self, group):
        if not group.count:
            return 1
        count = self.at_least(0, group.count, "count of initial tokens")
        if count > MOST_TOKENS:
            raise Refused("E-param-value", f"{count} initial tokens")
        return count

    def fits(self, place, values, code):
        if len(values) != len(place.spec.type.fields):
            raise Refused(code, f"a token of place '{place.spec.name}' with {len(values)} values")
        for value, allowed in zip(values, place.spec.type.ranges):
            if allowed and not allowed[0] <= value <= allowed[1]:
                raise Refused("E-range", f"{value} is outside its range")

    def bring(self, place, values):
        """Appends an initial or pushed token."""
        self.fits(place, values, "E-marking")
        place.append(Token(tuple(values), (place.spec.name, place.outside)))
        place.outside += 1

    def push(self, time, name, values):
        """A token from outside, for an instant that has not been simulated."""
        place = self.by_name[name]
        if time < 0 or time > LAST or (self.begun and time <= self.now) or self.ended_done():
            raise Refused("E-push", f"time {time} is over")
        if place.spec.capacity:
            raise Refused("E-push", f"place '{name}' has a capacity")
        self.fits(place, values, "E-push")
        heapq.heappush(self.pushes, (time, self.pushed, name, values))
        self.pushed += 1

    # ---- Behaviour ----

    def run(self, limit=None):
        """To the end, or to the limit. Raises Fault; continuing after one gives the same."""
        if self.fault:
            raise self.fault
        if limit is not None and limit < 0 and not self.begun:
            return self.result("limit")
        try:
            if not self.begun:
                self.begun = True
                self.instant(0)
            while not self.ended_done():
                next = self.next_instant()
                if next is None:
                    return self.result("quiet")
                if limit is not None and next > limit:
                    return self.result("limit")
                self.instant(next)
            return self.result("done")
        except Fault as fault:
            self.fault = fault
            fault.time, fault.group = self.now, self.group
            raise

    def ended_done(self):
        return self.begun and self.wanted is not None and self.produced >= self.wanted

    def instant(self, now):
        self.now, self.group = now, 0
        while self.pushes and self.pushes[0][0] == now:  # 1
            _, _, name, values = heapq.heappop(self.pushes)
            self.bring(self.by_name[name], values)
        while True:
            self.commit()  # 2
            while self.start_one():  # 3
                pass
            if not (self.firings and self.firings[0].due == now):
                break
            self.group += 1  # 4
            if self.group > self.group_limit:
                fault = Fault("E-zero-delay", self.group_limit, ("start",))
                fault.transition = self.firings[0].id
                raise fault
        self.history.append(self.snapshot())

    def commit(self):
        due = []
        while self.firings and self.firings[0].due == self.now:
            due.append(heapq.heappop(self.firings))  # by id, then by the order of starts
        for firing in due:
            t = self.transitions[firing.id]
            t.in_flight -= 1
            for arc, tokens in zip(t.arcs, firing.locked):
                arc.place.occupancy -= len(tokens)
            for place, credits in firing.back:
                place.credits += credits
            for a, (place, tokens) in enumerate(
                zip((place for place, _ in t.puts), firing.emitted)
            ):
                for i, values in enumerate(tokens):
                    place.append(Token(values, (t.spec.name, firing.number, a, i)))
                if "done" in place.spec.marks and tokens:
                    self.produced += len(tokens)
                    self.last_done = self.now
            self.last = self.now
            taken = [[token.origin for token in tokens] for tokens in firing.locked]
            produced = [len(tokens) for tokens in firing.emitted]
            self.commits.append(
                Commit(self.now, self.group, t.id, firing.number, firing.start, taken, produced)
            )

    def next_instant(self):
        times = [firing.due for firing in self.firings[:1]] + [push[0] for push in self.pushes[:1]]
        for t, reason in zip(self.transitions, self.reasons):
            if reason and reason[0] in ("interval", "clock"):  # its arcs are satisfied
                times.append(t.edge(max(self.now, t.next_start)))
        return min(times, default=None)

    # ---- Readiness ----

    def start_one(self):
        """The ready transition of the least id starts one firing; False if none is ready."""
        for t in self.transitions:
            try:
                moment = Moment(t.places)
                if t.in_flight == t.servers:
                    self.reasons[t.id] = ("no server", None)
                    continue
                self.reasons[t.id] = self.first_failing(t, moment) or self.held_back(t)
                if self.reasons[t.id] is None:
                    self.start(t, moment)
                    return True
            except Fault as fault:
                fault.transition = t.id
                raise
        return False

    def held_back(self, t):
        """What keeps a transition back whose arcs all hold: the interval before the clock."""
        start = t.edge(max(self.now, t.next_start))
        if start > LAST:  # no edge is left
            raise Fault("E-overflow", 0, ("start",))
        if self.now < t.next_start:
            return ("interval", None)
        return None if start == self.now else ("clock", None)

    def first_failing(self, t, m):
        """Examines the arcs in order up to the first that does not hold: (reason, arc), or None."""
        for i, arc in enumerate(t.arcs):
            if arc.inhibits:
                if arc.place.occupancy:
                    return ("inhibited", i)
                continue
            if arc.counts is not None:
                m.taken[i] = evaluate(("weight", i), self.credits_wanted, arc, m)
                if arc.place.credits < m.taken[i]:
                    return ("no credit", i)
                continue
            free = arc.place.free
            if arc.own_head:
                if not free:
                    return ("no token", i)
                m.needed[i] = (free[0],)
            weight = evaluate(("weight", i), not_negative, arc.weight, m, "E-negative-weight")
            threshold = weight
            if arc.threshold:
                threshold = evaluate(
                    ("threshold", i), not_negative, arc.threshold, m, "E-negative-weight"
                )
            needed = max(weight, threshold, arc.own_head)
            if len(free) < needed:
                return ("no token", i)
            m.needed[i] = tuple(islice(free, needed))
            m.taken[i] = weight
            if arc.guard and not evaluate(("guard", i), arc.guard, m):
                return ("guard", i)
        return None

    def credits_wanted(self, arc, m):
        """What the emissions into the place fill, less what is taken from there."""
        total = 0
        for count in arc.counts:
            total = fit(total + (1 if count is None else count(m)))
        return max(0, fit(total - (m.taken[arc.same] if arc.same is not None else 0)))

    # ---- A start in detail ----

    def start(self, t, m):
        ticks = t.period or 1
        due = evaluate(("delay",), self.after, t.delay, m, ticks, "E-negative-delay")
        next_start, spaced = self.now, False
        if t.interval:
            next_start = evaluate(
                ("interval",), self.after, t.interval, m, ticks, "E-negative-interval"
            )
            spaced = next_start > self.now
        if not any(m.taken) and t.servers is None and not spaced:
            raise Fault("E-takes-nothing", 0, ("start",))
        emitted = [self.emission(t, m, a) for a in range(len(t.puts))]
        # Nothing has changed up to here.
        if t.spec.ordered:
            due = max(due, t.last_due)
        locked, back = [], []
        for arc, taken in zip(t.arcs, m.taken):
            if arc.counts is not None:
                arc.place.credits -= taken
                continue
            locked.append([arc.place.free.popleft() for _ in range(taken)])
            if arc.place.credits is not None:
                filled = sum(len(e) for (place, _), e in zip(t.puts, emitted) if place is arc.place)
                back.append((arc.place, max(0, taken - filled)))
        heapq.heappush(self.firings, Firing(due, t.id, t.starts, self.now, locked, emitted, back))
        t.starts += 1
        t.in_flight += 1
        t.last_due, t.next_start = due, next_start

    def after(self, formula, m, ticks, negative):
        time = self.now + fit(not_negative(formula, m, negative) * ticks)
        if time > LAST:
            raise Fault("E-overflow")
        return time

    def emission(self, t, m, a):
        place, groups = t.puts[a]
        tokens = []
        for e, (count, formulas) in enumerate(groups):
            number = 1
            if count:
                number = evaluate(("count", a, e), not_negative, count, m, "E-negative-count")
            if number > MOST_TOKENS:
                raise Fault("E-too-many", number, ("count", a, e))
            if not formulas:
                tokens += [()] * number
                continue
            for m.index in range(number):
                tokens.append(
                    tuple(
                        evaluate(("field", a, e, f), self.field, formula, m, allowed)
                        for f, (formula, allowed) in enumerate(
                            zip(formulas, place.spec.type.ranges)
                        )
                    )
                )
        return tokens

    def field(self, formula, m, allowed):
        """What a new token has."""
        value = int(formula(m))
        if allowed and not allowed[0] <= value <= allowed[1]:
            raise Fault("E-range", value)
        return value

    # ---- Result ----

    def result(self, ending):
        latency = self.last_done
        if not any("done" in place.spec.marks for place in self.places):
            latency = self.last
        full = [
            place.spec.name for place in self.places if place.occupancy and must_drain(place.spec)
        ]
        few = self.wanted is not None and self.produced < self.wanted
        stalled = ending == "quiet" and (bool(full) or few)
        blocked = []
        for t, reason in zip(self.transitions, self.reasons):
            declared = t.arcs[: len(t.spec.takes)]
            if stalled and any(arc.place.occupancy for arc in declared):
                blocked.append((t.spec.name, *self.named(t, reason)))
        undrained = full if stalled else []
        return Result(
            ending,
            latency,
            self.last,
            len(self.commits),
            self.produced,
            stalled,
            undrained,
            blocked,
        )

    def named(self, t, reason):
        kind, i = reason
        if i is None:
            return kind, None
        return kind, t.arcs[i].place.spec.name if kind == "no credit" else t.spec.takes[i].name

    # ---- Statistics ----

    def snapshot(self):
        reasons = []
        for t in self.transitions:
            kind = self.reasons[t.id][0]
            if kind == "no server":  # here arcs come before servers, and an error is a guard
                try:
                    failing = self.first_failing(t, Moment(t.places))
                except Fault:
                    failing = ("guard", None)
                kind = failing[0] if failing else "no server"
            reasons.append(kind)
        occupancies = [place.occupancy for place in self.places]
        return self.now, occupancies, [t.in_flight for t in self.transitions], reasons

    def statistics(self, ending, limit):
        """The end, and over [0, end] per transition (commits, busy, waited per reason), per place (mean, peak)."""
        end = max(limit, self.now) if ending == "limit" else self.last
        busy = [0] * len(self.transitions)
        waited = [dict.fromkeys(REASONS, 0) for _ in self.transitions]
        area = [0] * len(self.places)
        until = [entry[0] for entry in self.history[1:]] + [end]
        for (time, occupancies, in_flight, reasons), next in zip(self.history, until):
            ticks = max(0, min(next, end) - time)
            for id, (firings, reason) in enumerate(zip(in_flight, reasons)):
                busy[id] += ticks if firings else 0
                waited[id][reason] += ticks
            for p, occupancy in enumerate(occupancies):
                area[p] += ticks * occupancy
        counts = [0] * len(self.transitions)
        for commit in self.commits:
            counts[commit.transition] += 1
        means = [
            Fraction(a, end) if end else Fraction(p.occupancy) for a, p in zip(area, self.places)
        ]
        return (
            end,
            list(zip(counts, busy, waited)),
            [(m, p.peak) for m, p in zip(means, self.places)],
        )


def must_drain(spec):
    if spec.marks & {"start", "drain"}:
        return True
    return bool(spec.capacity) and not spec.marks & {"done", "sink"}


def evaluate(site, function, *arguments):
    """What `function` gives; an error in it gets the site."""
    try:
        return function(*arguments)
    except Fault as fault:
        fault.site = site
        raise


def not_negative(formula, m, code):
    value = formula(m)
    if value < 0:
        raise Fault(code, value)
    return value
