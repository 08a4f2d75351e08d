"""All inputs of a space at once, by the law of testbenches/second.

A property is decided when a formula reads it, each way; states from which all goes on alike are looked at once. Times are
those of runs, and no bound is in between: what is found is the largest and the least of all inputs that end.
"""

import itertools
import math
from collections import Counter, deque

import law
from document import Unknown, demand
from formula import Fault

MOST_ROWS = 4_096  # of variables that conditions or terms join
MOST_STARTS = 20_000  # of parameters, counts and times
MOST_STATES = 200_000
FARTHEST = 1 << 40  # that an instant may be from the one before
TIMES = ("latency", "completion")  # the others are sums, but for backlog
OPEN, STALLED = object(), object()


class Ask(Exception):
    """A formula reads what is not decided."""


class Unread:
    """A value that nobody has read: an entry of the column; which row it is, all of its group share."""

    def __init__(self, group, column):
        self.group, self.column = group, column

    def read(self, *_):
        raise Ask(self)


for operation in (
    "add radd sub rsub mul rmul floordiv rfloordiv mod rmod and rand or ror xor rxor lshift rlshift rshift rrshift"
    " eq ne lt le gt ge neg abs invert int index bool"
).split():
    setattr(Unread, f"__{operation}__", Unread.read)


def perhaps_unread(group, column):
    return Unread(group, column) if len(set(column)) > 1 else column[0]


def changed(value, change):
    """A state with other values where it has Unread ones."""
    if type(value) is tuple:
        return tuple([changed(part, change) for part in value])
    return change(value) if type(value) is Unread else value


def decided(state, asked):
    """The states of each value that may be read."""
    for value in sorted(set(asked.column)):
        kept = [x == value for x in asked.column]

        def change(one):
            if one.group != asked.group:
                return one
            return perhaps_unread(one.group, tuple(itertools.compress(one.column, kept)))

        yield changed(state, change)


class Run(law.Run):
    """A run that can be put into a state, from which it makes steps. A state is made of tuples; times count from now."""

    def snapshot(self):
        return None

    def fits(self, place, values, code):
        """Values that are not decided have been looked at."""
        super().fits(place, [x.column[0] if type(x) is Unread else x for x in values], code)

    def field(self, formula, m, allowed):
        value = formula(m)
        if type(value) is Unread and (
            not allowed or allowed[0] <= min(value.column) and max(value.column) <= allowed[1]
        ):
            return value
        return super().field(lambda m: value, m, allowed)

    def save(self):
        """(what decides how it goes on, what follows from that)"""
        now, numbers = self.now, {id(place): k for k, place in enumerate(self.places)}
        tokens = tuple([tuple([token.values for token in place.free]) for place in self.places])
        firings = [
            (f.due - now, f.id, tuple(map(len, f.locked)), tuple(map(tuple, f.emitted)),
             tuple([(numbers[id(place)], credits) for place, credits in f.back]))
            for f in sorted(self.firings)
        ]  # fmt: skip
        if firings and firings[-1][0] > FARTHEST:
            raise Unknown("times that are too far apart")
        spaced = [
            (max(0, t.next_start - now), max(0, t.last_due - now) if t.spec.ordered else 0)
            for t in self.transitions
        ]
        pushes = [(at - now, name, tuple(values)) for at, _, name, values in sorted(self.pushes)]
        turn = now % math.lcm(*(t.period or 1 for t in self.transitions))
        credits = tuple([place.credits for place in self.places])
        rest = credits, tuple(spaced), turn, self.produced
        return (tokens, tuple(firings), tuple(pushes), rest), (self.begun, tuple(self.reasons))

    def load(self, state):
        (tokens, firings, pushes, (credits, spaced, self.now, self.produced)), (
            begun,
            reasons,
        ) = state
        self.begun, self.reasons, self.commits = begun, list(reasons), []
        for place, values, left in zip(self.places, tokens, credits):
            place.free, place.credits = deque(law.Token(each, None) for each in values), left
            place.occupancy = len(values)
        for t, (next_start, last_due) in zip(self.transitions, spaced):
            t.next_start, t.last_due = self.now + next_start, self.now + last_due
            t.starts = t.in_flight = 0
        self.firings = []
        for due, id, locked, emitted, back in firings:
            t = self.transitions[id]
            held = [[law.Token((), None)] * number for number in locked]
            back = [(self.places[k], number) for k, number in back]
            firing = law.Firing(self.now + due, id, t.starts, self.now, held, emitted, back)
            self.firings.append(firing)
            t.starts, t.in_flight = t.starts + 1, t.in_flight + 1
            for arc, number in zip(t.arcs, locked):
                arc.place.occupancy += number
        for place in self.places:
            place.peak = place.occupancy
        self.pushes = [(self.now + at, k, name, row) for k, (at, name, row) in enumerate(pushes)]

    def step(self):
        """Makes the next instant; whether there was one."""
        at = 0
        if self.begun:
            at = None if self.ended_done() else self.next_instant()
        if at is not None:
            self.begun = True
            self.instant(at)
        return at is not None


def all_at_once(check):
    """(how many inputs there are, whether one stalls or fails, the forms of which one has a value, how they were seen)"""
    states, valued = States(check), set()
    demand(check.data["stalls"] is not False or not states.stalls, "an input stalls or fails")
    for k, (bound, form) in enumerate(zip(check.bounds, check.forms)):
        atoms = [atom for atom in form if atom]
        parts = [] if states.found is None else [(form[a], *states.found[a]) for a in atoms]
        if states.found is None or any(most is None for _, _, most, _ in parts):
            continue
        most = form.get((), 0) + sum(max(c * least, c * most) for c, least, most, _ in parts)
        if most > bound["most"] and len(parts) > 1:
            raise Unknown("quantities that are largest in different inputs, perhaps")
        demand(most <= bound["most"], f"an input has {most}, not at most {bound['most']}")
        if len(parts) > 1 and any(none for *_, none in parts):
            raise Unknown("quantities that no input has at once, perhaps")
        valued.add(k)
    return states.inputs, states.stalls, valued, f"by {states.number} states"


class States:
    """`inputs`: how many there are; `stalls`: whether one stalls or fails; `found`: {atom: (least, most, whether an
    input has none)} of those that end, None where none does; `number`: of states.
    """

    def __init__(self, check):
        self.check, self.net, self.space = check, check.net, check.space
        self.atoms, self.known, self.number, self.stalls = check.atoms, {}, 0, False
        if {"E", "response"} & {atom[0] for atom in self.atoms}:
            raise Unknown("a quantity that states do not know")
        self.done_places = any("done" in place.marks for place in self.net.places)
        self.counted = any(atom[0] == "completion" for atom in self.atoms)
        self.live, self.found, before = self.live_properties(), None, None
        try:
            for known in self.starts():
                params, tokens, later = self.space.input(known)
                self.run = Run(self.net, params, tokens, self.space.done)
                for time, place, row in later:
                    self.run.push(time, place, row)
                self.counted |= self.run.wanted is not None
                if params != before:  # they are no part of states
                    self.number, self.known, before = self.number + len(self.known), {}, params
                self.found = joined(self.found, self.measured(self.run.save()))
            self.number += len(self.known)
        except law.Refused:
            raise Unknown("an input that is none of the net's") from None
        except RecursionError:
            raise Unknown("runs of too many instants") from None

    # ---- inputs ----

    def starts(self):
        """The values of the space's nodes, Unread but for what a run's beginning is made from."""
        space, terms = self.space, self.space.terms
        at_once = [
            k for _, _, count, times in space.tokens.values() for k in [count, *(times or [])]
        ]
        at_once = [*space.params.values(), *(k for k in at_once if k is not None)]
        shown = [k for _, rows, _, _ in space.tokens.values() for row in rows for k in row]
        conditions = [part for k in space.constraints for part in terms.conjuncts(k)]
        groups = [{v} for v in range(len(space.variables))]
        for k in (*at_once, *shown, *conditions):
            apart = [group for group in groups if not group & terms.reads[k]]
            met = [group for group in groups if group & terms.reads[k]]
            groups = [*apart, set().union(*met)] if met else apart
        tables = [self.rows_of(sorted(group), conditions) for group in groups]
        fixed = terms.values([lo for _, lo, _ in space.variables])
        holds = all(fixed[k] is True for k in conditions if not terms.reads[k])
        self.inputs = math.prod(map(len, tables)) if holds else 0
        read = set().union(*(terms.reads[k] for k in at_once))
        first = [g for g, group in enumerate(groups) if group & read]
        if math.prod(len(tables[g]) for g in first) > MOST_STARTS:
            raise Unknown("too many parameters, counts and times")
        for rows in itertools.product(*(tables[g] for g in first)) if self.inputs else ():
            known = dict(fixed)
            for g, table in enumerate(tables):
                table = [rows[first.index(g)]] if g in first else table
                for k in (*at_once, *shown):
                    if terms.reads[k] & groups[g]:
                        known[k] = perhaps_unread(g, tuple(row[k] for row in table))
            yield known

    def rows_of(self, group, conditions):
        """The values of nodes, for all that the variables of a group may be together."""
        space, terms = self.space, self.space.terms
        ends = [space.variables[v][1:] for v in group]
        if math.prod(hi - lo + 1 for lo, hi in ends) > MOST_ROWS:
            raise Unknown("too many values that conditions join")
        wanted = [
            k for k in range(len(terms.nodes)) if terms.reads[k] and terms.reads[k] <= {*group}
        ]
        values, rows = [lo for _, lo, _ in space.variables], []
        for row in itertools.product(*(range(lo, hi + 1) for lo, hi in ends)):
            for v, x in zip(group, row):
                values[v] = x
            known = terms.values(values, terms.program(wanted))
            if all(known[k] is True for k in conditions if k in known and terms.reads[k]):
                rows.append(known)
        return rows

    # ---- states ----

    def live_properties(self):
        """Per place the numbers of properties that formulas read, now or when they are passed on."""
        net, live = self.net, set()
        passed = []  # (place, property of a token that is put there, what it is in the token taken)
        for t in net.transitions:
            formulas = [t.delay, t.interval]
            for take in t.takes:
                formulas += [take.weight, take.threshold, take.guard]
            for put in t.puts:
                for group in put.groups:
                    formulas.append(group.count)
                    for f, tree in enumerate(group.values):
                        to = put.place, f
                        if tree[0] == "token" and self.same_range(
                            to, (t.takes[tree[1]].place, tree[3])
                        ):
                            passed.append((to, (t.takes[tree[1]].place, tree[3])))
                            formulas.append(tree[2])
                        else:
                            formulas.append(tree)
            live |= {(t.takes[arc].place, f) for tree in formulas for arc, f in reads(tree)}
        before = None
        while before != len(live):
            before = len(live)
            live |= {source for to, source in passed if to in live}
        return [
            [f for f in range(len(place.type.fields)) if (p, f) in live]
            for p, place in enumerate(net.places)
        ]

    def same_range(self, *properties):
        ranges = [self.net.places[p].type.ranges[f] for p, f in properties]
        return not ranges[0] or ranges[0] == ranges[1]

    def key(self, state):
        """Equal for states from which all goes on alike."""
        (tokens, firings, pushes, (*rest, produced)), (begun, _) = state
        numbers = {place.name: p for p, place in enumerate(self.net.places)}

        def alive(p, values):
            return tuple([values[f] for f in self.live[p]])

        tokens = tuple([tuple([alive(p, v) for v in free]) for p, free in enumerate(tokens)])
        firings = tuple([
            (due, id, locked, back, tuple([
                tuple([alive(put.place, values) for values in each])
                for put, each in zip(self.net.transitions[id].puts, emitted)
            ]))
            for due, id, locked, emitted, back in firings
        ])  # fmt: skip
        pushes = tuple([(at, name, alive(numbers[name], row)) for at, name, row in pushes])
        columns = {}  # of each group, in the order in which the state has them

        def named(one):
            own = columns.setdefault(one.group, [])
            own.append(one.column)
            return "unread", list(columns).index(one.group)

        named_state = changed((tokens, firings, pushes, tuple(rest)), named)
        rows = tuple([tuple(sorted(set(zip(*own)))) for own in columns.values()])
        return named_state, rows, begun, produced if self.counted else 0

    def steps(self, state):
        """(what it adds to each atom, the state behind it) of each way to the next instant; STALLED, or None at the end."""
        pending = [state]
        while pending:
            before = pending.pop()
            self.check.in_time()
            self.run.load(before)
            now, produced = self.run.now, self.run.produced
            busy = {t.spec.name for t in self.run.transitions if t.in_flight}
            try:
                if not self.run.step():
                    yield STALLED if self.run.result(
                        "quiet"
                    ).stalled and not self.run.ended_done() else None
                    continue
            except Ask as ask:
                pending += decided(before, ask.args[0])
                continue
            except Fault:
                yield STALLED
                continue
            ticks = self.run.now - now
            yield {
                a: self.added(a, before, ticks, produced, busy) for a in self.atoms
            }, self.run.save()

    def added(self, atom, before, ticks, produced, busy):
        run, (kind, *names) = self.run, atom
        if kind == "latency":
            begins = not before[1][0] and not self.done_places  # 0 where nothing commits
            return ticks, bool(
                begins or (run.produced > produced if self.done_places else run.commits)
            )
        if kind == "completion":
            return ticks, produced < names[0] <= run.produced
        if kind == "backlog":
            return run.by_name[names[0]].peak
        if kind == "busy":
            return ticks if names[0] in busy else 0
        return Counter(self.net.transitions[c.transition].name for c in run.commits)[names[0]]

    def measured(self, state):
        """`found` of the runs that go on from a state."""
        key = self.key(state)
        if key in self.known:
            if self.known[key] is OPEN:
                raise Unknown("a run that may have no end")
            return self.known[key]
        self.check.in_time()
        if len(self.known) >= MOST_STATES:
            raise Unknown("too many states")
        self.known[key], best = OPEN, None
        for step in list(self.steps(state)):
            if step is STALLED:
                self.stalls = True
            elif step is None:
                ends = {
                    a: (None, None, True) if a[0] in TIMES else (0, 0, False) for a in self.atoms
                }
                best = joined(best, ends)
            else:
                added, after = step
                rest = self.measured(after)
                if rest is not None:
                    best = joined(best, {a: behind(a, added[a], rest[a]) for a in self.atoms})
        self.known[key] = best
        return best


def reads(tree):
    """(arc, property) of all that a formula reads of tokens."""
    if type(tree) is tuple:
        if tree[:1] == ("token",):
            yield tree[1], tree[3]
        for part in tree:
            yield from reads(part)


def behind(atom, added, rest):
    """What an atom is before a step, from what it is behind it."""
    least, most, none = rest
    if atom[0] not in TIMES:
        together = max if atom[0] == "backlog" else int.__add__
        return together(added, least), together(added, most), False
    ticks, counts = added
    ends = [ticks + x for x in (least, most) if x is not None] + [ticks] * (counts and none)
    return min(ends, default=None), max(ends, default=None), none and not counts


def joined(one, other):
    """`found` of two sets of runs."""
    if one is None or other is None:
        return other if one is None else one
    both = {}
    for atom, (*ends, none) in one.items():
        *more, other_none = other[atom]
        ends = [x for x in (*ends, *more) if x is not None]
        both[atom] = min(ends, default=None), max(ends, default=None), none or other_none
    return both
