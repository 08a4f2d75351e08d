"""Bounds by reachable states, and inputs that come close: two numbers where classes do not finish."""

import random
import re
import time

import _lpn

from ..interrupt import Interrupt
from .answer import PARTITION
from .read import refuse
from .replay import Replays
from .tried import Tried, _plain, absent, lacked

__all__ = [
    "ENDS_BY_CLASSES",
    "ENDS_UNKNOWN",
    "Probed",
    "States",
    "StatesAgain",
    "bounded_by_states",
    "end_runs",
]

# Ways of joining states, (zones kept apart, values of a delay that are decided): each takes longer
# than the one before and may be closer.
_WAYS = ((1, 2), (1, 1), (8, 2), (64, 16))
# What reachable states bound.
QUANTITIES = ("latency", "completion", "commits", "busy", "response", "backlog")
_STATES = 500_000  # at most, which is about a gigabyte
# Seconds, and so many times what a bound took, for states that only say whether every input ends.
_ENDS, _ENDS_TIMES = 5.0, 3
_EMPTY = 3.0  # seconds for a solver to say whether there is an input, where none was drawn
_BATCH = 96  # inputs tried at once, and
_DRAWN = 200_000  # values of them, so that a limit of time is looked at often enough
ENDS_UNKNOWN = "whether every input ends is not known; the bound is of those that do"
ENDS_BY_CLASSES = (
    "that every input ends is known by classes, which a bound by states cannot certify"
)
_STALE = 40  # batches without a better input, after which the search begins at another place


def end_runs(space):
    """Lets the runs of a net that may never stop by itself, which runs of some inputs tell, end where
    no more done tokens can come: what is to be said of that; None where nothing changes. It sets the
    `done_count` of the space.
    """
    net = space.net
    if net.done_count is not None or space.done_count is not None:
        return None
    some = Probed(space, [{("latency",): 1}], None)
    for _ in range(2):  # the least values alone, then the greatest and those alike
        _, interrupted = some.run(some.batch(0), time.monotonic())
        if interrupted:
            raise KeyboardInterrupt
        if some.endless is not None or not space.variables:
            break
    if some.endless is None:
        return None
    most = _lpn.most_done_tokens(net._core, space.core)
    if not most:
        return None
    space.done_count = most
    return (
        "a run is not over for very long, perhaps never: runs end with done token "
        f"{most}, the most there can be (done_count of the space)"
    )


def bounded_by_states(form):
    """Whether the largest value of a linear form can be bounded by reachable states."""
    return all(not atom or atom[0] in QUANTITIES for atom in form)


class States(Tried):
    """A space of which reachable states bound linear forms, and of which some inputs are run.

    Fills `answer` as a Basis does. `bounds`: per form the largest value that any input that ends
    may have, None where none is known. `seconds`: a limit. `proving`: it only matters whether the
    largest values are at most 0.
    """

    def __init__(self, space, answer, term, denominator, forms, seconds, say, proving):
        super(Tried, self).__init__(space, term, denominator)
        self.forms = [self.rescaled(form)[0] for form in forms]
        self.say = say
        self.end = time.monotonic() + seconds
        self.answer = answer
        self.proving = proving
        self.states = 0
        self.may_not_end = True
        self.interrupted = False
        self.whys = []
        self.bounds = {}
        self.absent = set()  # forms that no input that ends has
        self.parts = {}  # per form: how each of its quantities was bounded, None: not to the end
        self.probed = Probed(space, self.forms, term)
        self._search()
        self.inputs = self.probed.inputs
        self.found = dict(zip(map(_key, self.forms), self.probed.best))
        self._fill()

    def left(self):
        return self.end - time.monotonic()

    def _search(self):
        """In turns: a closer bound, a better input."""
        forms = {_key(form): form for form in self.forms}
        turn = max(self.left() / 12, 0.2)
        self.interrupted |= self.probed.go_on(min(turn, 1.0), {}, self.say)
        if not self.probed.inputs and not self.interrupted:
            if _lpn.has_input(self.space.core, min(turn, _EMPTY)) is False:
                raise self.no_input()
        for zones, values in _WAYS:
            for key, form in forms.items():
                if not self._open(key) or self.left() <= 0 or self.interrupted:
                    continue
                share = self.left() * (0.8 if (zones, values) in (_WAYS[0], _WAYS[-1]) else 0.5)
                self._bound(key, form, zones, values, share)
            if not any(map(self._open, forms)) or self.left() <= 0 or self.interrupted:
                break
            self.interrupted |= self.probed.go_on(turn, self.bounds, self.say)
        if any(map(self._open, forms)) and self.left() > 0 and not self.interrupted:
            self.interrupted |= self.probed.go_on(self.left(), self.bounds, self.say)

    def _open(self, key):
        """Whether the bound of a form may still be closer, or an input better."""
        if key in self.absent:
            return False
        best = dict(zip(map(_key, self.forms), self.probed.best))[key]
        bound = self.bounds.get(key)
        if self.proving:
            return not (bound is not None and bound <= 0 or best is not None and best[0] > 0)
        return bound is None or best is None or best[0] < bound

    def _bound(self, key, form, zones, values, seconds):
        """The sum of the bounds of a form's quantities, each for itself."""
        total, parts = form.get((), 0), []
        began = time.monotonic()
        end = began + seconds
        for atom, factor in form.items():
            if not atom:
                continue
            over = None

            def progress(looked, waiting, met):
                nonlocal over
                self.say(f"{looked} states, {waiting} waiting")
                now = time.monotonic()
                if met and over is None:  # what is left only says whether every input ends
                    over = now + max(_ENDS, _ENDS_TIMES * (now - began))
                return now > end or met and now > over

            enough = self._enough(key, form)
            how = {"zones": zones, "values": values, "enough": enough}
            found, interrupted = _reach(self.space, atom, factor > 0, how, _STATES, progress)
            self.interrupted |= interrupted
            self.states += found["states"]
            self.may_not_end &= found["may_stall"] or found["may_fail"]
            if found["why"] and found["why"] not in self.whys:
                self.whys.append(found["why"])
            if found["bound"] is None:
                if found["complete"]:
                    self.absent.add(key)
                return
            total += factor * found["bound"]
            # Where the clock ended it, another run would be ended elsewhere.
            again = parts is not None and (over is not None or found["why"] != "the work was ended")
            parts = [*parts, {"atom": list(atom), **how}] if again else None
        if key not in self.bounds or total < self.bounds[key]:
            self.bounds[key], self.parts[key] = total, parts

    def _enough(self, key, form):
        """Of a form of one quantity: its value that needs no closer bound, since an input has it,
        or since it is proved then.
        """
        best = dict(zip(map(_key, self.forms), self.probed.best))[key]
        most = 0 if self.proving else best and best[0]
        factors = [factor for atom, factor in form.items() if atom]
        if most is None or len(factors) != 1:
            return None
        rest, factor = most - form.get((), 0), factors[0]
        enough = rest // factor if factor > 0 else -(-rest // factor)
        return enough if abs(enough) < 2**62 else None

    def _fill(self):
        answer, probed = self.answer, self.probed
        answer.states, answer.tried = self.states, probed.inputs
        answer.classes = answer.paths = 0
        answer.interrupted |= self.interrupted
        answer.complete = all(_key(form) in self.bounds for form in self.forms)
        answer.why = None
        if not answer.complete:
            answer.why = self.reason()
        self.undecided = self.may_not_end
        troubled = [each for each in (probed.stalled, probed.failed) if each is not None]
        if troubled:
            answer.stalled = self._trouble(troubled[0])
        for form, without in zip(self.forms, probed.without):
            names = lacked(form)
            if _key(form) in self.absent and not troubled and not answer.interrupted:
                if names:
                    raise absent(names)
                answer.silent = True
            if without:
                answer.notes.append(
                    f"some inputs have no {names or 'latency'}; they do not count in it"
                )
        if probed.endless is not None:
            self.may_not_end = self.undecided = True
            answer.notes.append(
                f"a run of {self._named(probed.endless)} is not over after "
                f"{PARTITION['max_firings']} firings; give the net a done_count"
            )
        elif self.may_not_end and not troubled and answer.complete:
            answer.notes.append(ENDS_UNKNOWN)

    def all_end(self):
        """Takes it from who knows that every input ends; False where a run was seen that does not."""
        if self.probed.endless is not None or self.answer.stalled is not None:
            return False
        self.may_not_end = self.undecided = False
        self.answer.notes = [note for note in self.answer.notes if note != ENDS_UNKNOWN]
        self.answer.notes.append(ENDS_BY_CLASSES)
        return True

    def reason(self):
        """Why there is no bound, or no closer one."""
        told = [why for why in self.whys if why != "the work was ended"]
        if told:
            return "reachable states: " + "; ".join(told)
        return "the reachable states were joined"

    def evidence(self, seed):
        """What a certificate says about how the claim was proved."""
        return {"states": {"most": _STATES}}

    def reached(self, form):
        """How the bound of a form is found again; None where the clock had a part in it."""
        return self.parts.get(_key(form))


class StatesAgain(Replays):
    """The bounds of a certificate that rests on reachable states, each found again as it says.

    `parts`: per form, of each of its quantities what it says. `most`: states that are looked at for
    one of these. `ends`: whether it is to be found, too, that every input ends; else `undecided`.
    `seconds`: a limit, 0 for none. Fills `answer` as a Basis does.
    """

    def __init__(self, space, answer, term, denominator, forms, parts, most, ends, seconds, say):
        super().__init__(space, term, denominator)
        self.end = time.monotonic() + seconds if seconds else None
        self.say = say
        self.undecided = True
        answer.states, answer.complete = 0, True
        self.bounds = {}
        for form, given in zip(forms, parts):
            atoms = [atom for atom in form if atom]
            if not bounded_by_states(form) or len(given) != len(atoms):
                raise refuse("a bound by states of other quantities")
            total = form.get((), 0)
            for atom, how in zip(atoms, given):
                if how["atom"] != list(atom):
                    raise refuse("a bound by states of another quantity")
                found = self._found(atom, form[atom] > 0, how, most, ends)
                answer.states += found["states"]
                if found["bound"] is None:
                    answer.complete = False
                    answer.why = f"reachable states: {found['why'] or 'no input has the quantity'}"
                    return
                total += form[atom] * found["bound"]
                self.undecided &= found["may_stall"] or found["may_fail"]
            self.bounds[_key(form)] = total
        if ends and self.undecided:
            answer.complete = False
            answer.why = "some input may stall or fail, as far as its states tell"
        self.undecided |= not ends

    def _found(self, atom, maximum, how, most, ends):
        def progress(looked, waiting, met):
            self.say(f"{looked} states, {waiting} waiting")
            return met and not ends or self.end is not None and time.monotonic() > self.end

        found, interrupted = _reach(self.space, atom, maximum, how, most, progress)
        if interrupted:
            raise KeyboardInterrupt
        return found

    def largest(self, form):
        """What no input that ends has more of."""
        return self.bounds[_key(form)]


def _reach(space, atom, maximum, how, most, progress):
    """(what _lpn.bound_by_states says of a quantity, whether Ctrl-C came)"""
    net = space.net
    index = {"latency": 0, "completion": atom[-1]}.get(atom[0])
    if atom[0] in ("commits", "busy"):
        index = net._transitions[atom[1]]
    elif atom[0] in ("response", "backlog"):
        index = net[atom[1]]._number
    return _lpn.bound_by_states(
        net._core,
        space.core,
        atom[0],
        index,
        maximum=maximum,
        zones=how["zones"],
        values=how["values"],
        states=most,
        enough=how["enough"],
        progress=progress,
    )


class Probed:
    """Inputs of a space, run in search of the largest values of linear forms.

    `best`: per form (value, input) or None. `stalled`, `failed`, `endless`: an input that is so, or
    None.
    """

    def __init__(self, space, forms, term):
        self.space, self.forms = space, forms
        self.plain = [_plain(form, space.net, term) for form in forms]
        self.best = [None] * len(forms)
        self.without = [0] * len(forms)  # inputs that end and have no value
        self.stalled = self.failed = self.endless = None
        self.inputs = 0
        self.random = random.Random(1)
        self.ranges = [(v.lo, v.hi) for v in space.variables]
        self.stale = 0
        self.begun = 0  # batches
        self.size = max(2, min(_BATCH, _DRAWN // max(1, len(self.ranges))))
        # Variables of one property of any token: a worst case often has one value for all.
        self.kinds = [re.sub(r".*\]\.|\[\d+\]$", "", v.name) for v in space.variables]

    def go_on(self, seconds, bounds, say):
        """Searches for so long, or until every bound is met; whether Ctrl-C ended it."""
        end = time.monotonic() + seconds
        which = 0
        with Interrupt() as stop:  # drawing inputs takes as long as running them
            while time.monotonic() < end and self.ranges and self.endless is None:
                which = (which + 1) % len(self.forms)
                better, interrupted = self.run(self.batch(which), end, stop)
                self.stale = 0 if better else self.stale + 1
                if interrupted:
                    return True
                met = [
                    best is not None and best[0] >= bounds.get(_key(form), best[0] + 1)
                    for form, best in zip(self.forms, self.best)
                ]
                if all(met):
                    return False
                say(f"{self.inputs} inputs tried")
            if not self.ranges:
                self.run([[]], end, stop)
            return stop.asked

    def batch(self, which):
        """Inputs: corners at first, then changes of the best one."""
        draw = self.random
        self.begun += 1
        if self.begun == 1:  # alone: if its run never ends, the others need not be tried
            return [[lo for lo, _ in self.ranges]]
        if self.begun == 2:
            return [[hi for _, hi in self.ranges], *(self.alike() for _ in range(self.size))]
        base = self.best[which] and self.best[which][1]
        if base is None or self.stale >= _STALE and self.stale % _STALE < 4:
            low, high = [lo for lo, _ in self.ranges], [hi for _, hi in self.ranges]
            corners = [low, high]
            corners += [[draw.choice(r) for r in self.ranges] for _ in range(self.size // 2)]
            return corners + [
                [draw.randint(*r) for r in self.ranges] for _ in range(self.size // 2)
            ]
        return [self.changed(base) for _ in range(self.size)]

    def alike(self):
        """An input whose tokens have the same value of a property, each within its range."""
        draw, chosen = self.random, {}
        for kind, range_ in zip(self.kinds, self.ranges):
            chosen.setdefault(kind, draw.choice((*range_, draw.randint(*range_))))
        return [min(max(chosen[k], lo), hi) for k, (lo, hi) in zip(self.kinds, self.ranges)]

    def changed(self, base):
        draw, values = self.random, list(base)
        count = len(values)
        kind = draw.random()
        if kind < 0.15:  # two of a kind change places
            a, b = draw.randrange(count), draw.randrange(count)
            if self.ranges[a] == self.ranges[b]:
                values[a], values[b] = values[b], values[a]
                return values
        some = 1 + min(int(draw.expovariate(0.6)), count - 1)
        for k in draw.sample(range(count), some):
            lo, hi = self.ranges[k]
            step = draw.random()
            if step < 0.5:
                values[k] = draw.choice((lo, hi))
            elif step < 0.75:
                values[k] = min(max(values[k] + draw.choice((-1, 1)), lo), hi)
            else:
                values[k] = draw.randint(lo, hi)
        return values

    def run(self, inputs, end, stop=None):
        """(whether one was better, whether Ctrl-C ended it). `stop`: an Interrupt that is entered."""

        def over(looked):
            asked = stop is not None and stop.asked
            return asked or time.monotonic() > end + 0.5 and looked > 1

        found, interrupted = _lpn.every_input(
            self.space.net._core,
            self.space.core,
            self.plain,
            threads=1,
            max_commits=PARTITION["max_firings"],
            inputs=inputs,
            progress=over,
        )
        interrupted |= stop is not None and stop.asked
        self.inputs += found["inputs"]
        self.stalled = self.stalled or found["stalled"]
        self.failed = self.failed or found["failed"]
        self.endless = self.endless or found["endless"]
        self.without = [a + b for a, b in zip(self.without, found["without"])]
        better = False
        for k, best in enumerate(found["largest"]):
            if best is not None and (self.best[k] is None or best[0] > self.best[k][0]):
                self.best[k] = tuple(best)
                better = True
        return better, interrupted


def _key(form):
    return frozenset(form.items())
