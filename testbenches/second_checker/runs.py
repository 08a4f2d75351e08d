"""Runs of inputs by the second interpreter (testbenches/second), and the quantities of claims."""

from typing import NamedTuple

import law
from document import Unknown, demand
from formula import Fault
from text import Refused as RefusedRun

MOST_FIRINGS = 200_000


class Started(NamedTuple):
    """One start: the times from which on what it needed was there, by what that was."""

    time: int
    due: int
    arcs: list  # (place, when its tokens, or room, were there) of each arc
    others: list  # server, interval, last start, turns at places


class Recorded(law.Run):
    """A run that keeps its starts, for `stall` and `busy`. `in_time()` raises Unknown when it is to be given up."""

    def __init__(self, net, params, tokens, later=(), done=None, in_time=None):
        self.in_time = in_time
        self.starts = [[] for _ in net.transitions]  # per transition
        self.came = {place.name: [] for place in net.places}  # (time, token) put or pushed there
        super().__init__(net, params, tokens, done)
        for time, place, row in later:
            self.push(time, place, row)
            self.came[place].append((time, row))
        self.tokens_at = [[0] * p.occupancy for p in self.places]  # when each token came
        self.credits_at = [[] for _ in self.places]  # beyond those there were at first
        self.credits_first = [p.credits or 0 for p in self.places]
        self.tokens_taken = [0] * len(self.places)
        self.credits_taken = [0] * len(self.places)
        self.last_taker = [{} for _ in self.places]  # transition: its last start that took there
        self.numbers = {id(place): k for k, place in enumerate(self.places)}
        self.done_times = []
        self.firings_left = MOST_FIRINGS

    def bring(self, place, values):
        super().bring(place, values)
        if self.begun:  # pushed
            self.tokens_at[self.numbers[id(place)]].append(self.now)

    def snapshot(self):
        return None

    def commit(self):
        due = sorted(f for f in self.firings if f.due == self.now)
        super().commit()
        for firing in due:
            t = self.transitions[firing.id]
            for place, credits in firing.back:
                self.credits_at[self.numbers[id(place)]] += [self.now] * credits
            for (place, _), tokens in zip(t.puts, firing.emitted):
                self.tokens_at[self.numbers[id(place)]] += [self.now] * len(tokens)
                self.came[place.spec.name] += [(self.now, values) for values in tokens]
                if "done" in place.spec.marks:
                    self.done_times += [self.now] * len(tokens)

    def start(self, t, m):
        before = self.starts[t.id]
        servers = t.in_flight, [s.due for s in before]
        next_start = t.next_start
        super().start(t, m)
        self.firings_left -= 1
        if self.firings_left < 0:
            raise Unknown("a run is not over after 200,000 firings")
        if self.in_time is not None and self.firings_left % 256 == 0:
            self.in_time()
        others = [before[-1].time if before else 0, next_start]
        if t.servers is not None and len(before) >= t.servers:
            others.append(sorted(servers[1])[len(before) - t.servers])
        arcs = []
        for arc, needed, taken in zip(t.arcs, m.needed, m.taken):
            if arc.inhibits:
                continue
            p = self.numbers[id(arc.place)]
            credit = arc.counts is not None
            came = self.credits_at[p] if credit else self.tokens_at[p]
            gone = self.credits_taken if credit else self.tokens_taken
            mine = taken if credit else len(needed)
            k = gone[p] + mine - (self.credits_first[p] if credit else 0)
            turns = self.last_taker[p].items()
            if mine:
                others += [at for (who, what), at in turns if what == credit and who != t.id]
            arcs.append((arc.place.spec.name, came[k - 1] if mine and k > 0 else 0))
            gone[p] += taken
            if taken:
                self.last_taker[p][t.id, credit] = self.now
        due = max(f.due for f in self.firings if f.id == t.id and f.number == t.starts - 1)
        before.append(Started(self.now, due, arcs, others))


class Observed:
    """How one input ends, and its quantities."""

    def __init__(self, net, params, tokens, later=(), done=None, in_time=None):
        self.net = net
        self.first = tokens
        self.ends, self.latency = False, None
        try:
            self.run = Recorded(net, params, tokens, later, done, in_time)
            result = self.run.run()
        except (Fault, RefusedRun):
            return
        self.ends = not result.stalled
        self.latency, self.last = result.latency, result.last

    def value(self, form, interface):
        """Of a form; None where the run does not have a quantity of it."""
        total = 0
        for atom, factor in form.items():
            each = self.atom(atom, interface)
            if each is None:
                return None
            total += factor * each
        return total

    def atom(self, atom, interface):
        if atom == ():
            return 1
        if atom == ("latency",):
            return self.latency
        if atom == ("E",):
            demand(interface is not None, "E cannot be computed for an input")
            return interface
        run = self.run
        if atom[0] == "completion":
            return run.done_times[atom[1] - 1] if len(run.done_times) >= atom[1] else None
        if atom[0] == "backlog":
            return self.run.by_name[atom[1]].peak
        if atom[0] == "response":
            return self.response(atom[1])
        t = next(k for k, t in enumerate(self.net.transitions) if t.name == atom[1])
        if atom[0] == "commits":
            return sum(commit.transition == t for commit in run.commits)
        if atom[0] == "busy":
            return self.busy(run.starts[t])
        return self.stall(t, atom[2])

    def response(self, name):
        """The longest from birth to arrival; None where none came."""
        return max(self.responses(name), default=None)

    def responses(self, name):
        """From birth to arrival, of those that came before the run was over."""
        spec = self.run.by_name[name].spec
        demand("born" in spec.type.fields, "a response where tokens do not say when they were born")
        taken = any(
            take.place == self.net.places.index(spec)
            for t in self.net.transitions
            for take in t.takes
        )
        demand(not taken and not spec.initial, "a response where requests do not stay")
        if self.first.get(name):
            raise Unknown("a response where requests are at first")
        k = spec.type.fields.index("born")
        return [at - values[k] for at, values in self.run.came[name] if at <= self.run.now]

    def busy(self, starts):
        total = until = 0
        for each in sorted(starts, key=lambda s: s.time):
            due = min(each.due, self.last)
            total += max(0, due - max(each.time, until))
            until = max(until, due)
        return total

    def stall(self, t, place):
        spec = self.net.transitions[t]
        demand(not any(take.inhibits for take in spec.takes), "stall of an inhibited transition")
        for take in spec.takes:
            demand(not counts(take.guard), "stall of a transition whose guards count tokens")
        waits = any(self.net.places[take.place].name == place for take in spec.takes)
        for put in spec.puts:
            waits |= (
                self.net.places[put.place].name == place
                and self.run.by_name[place].credits is not None
            )
        demand(waits, "stall for a place that is waited for by nobody")
        total = 0
        for each in self.run.starts[t]:
            others = [time for name, time in each.arcs if name != place] + each.others
            ready = max(others + [time for name, time in each.arcs if name == place])
            total += ready - max(others)
        return total


def counts(tree):
    if not isinstance(tree, tuple):
        return False
    return tree[0] in ("occupancy", "free") or any(counts(part) for part in tree[1:])
