"""Transitions as rules: what a step takes, when, what it costs and what it puts; equal ones share a rule."""

import re

from ...errors import Error
from .formula import Gap, Writer, identifier, refused

__all__ = ["Rule", "Step", "rules_of"]


class Step:
    """A transition as a step: `takes` [(place, tokens taken, tokens needed)], `empty` and `counts` the
    places that are looked at, `puts`, `given`: what it fills its rule's gaps with.
    """

    def __init__(self, net, number, parameters):
        core, self.net, self.number = net._core, net, number
        self.core, self.transition = core, core.transitions[number]
        self.name = self.transition.name
        values = [parameters[name] for name in net.params]
        self.takes, self.empty, needs, self.args = [], [], [], []
        self.some, several = [], []  # places of which tokens tell how many are taken; their arcs
        names = _outer(net)
        for arc in self.transition.inputs:
            where = core.places[arc.place].name
            if arc.inhibit:
                self.empty.append(where)
                needs.append(0)
                self.args.append(None)
                continue
            weight, need = (
                self._number(f, values, f"the {what} of arc {arc.name}")
                for f, what in ((arc.weight, "weight"), (arc.threshold or arc.weight, "threshold"))
            )
            if weight is None or need is None:
                self.some.append(where)
                several.append(len(needs))
                weight = need = 0
            need = max(weight, need)
            needs.append(need)
            self.args.append(identifier(arc.name, names) if need else None)
            names.add(self.args[-1])
            if need:
                self.takes.append((where, weight, need))
        writer = self.writer = Writer(net, number, self.args, needs)
        self.when = [writer.write(a.guard[0], 2) for a in self.transition.inputs if a.guard]
        self.numbers = [self._some(arc, writer) for arc in several]
        self.cost = writer.write(self.transition.delay[0])
        self.puts = [core.places[out.place].name for out in self.transition.outputs]
        self.made = [self._emissions(out, writer) for out in self.transition.outputs]
        self.servers = self._plain(self.transition.servers, "servers")
        self.interval = self._plain(self.transition.interval, "interval")
        self.ordered = self.transition.ordered
        period, phase = self.transition.clock or (None, None)
        self.clock, self.phase = self._plain(period, "clock"), self._plain(phase, "phase")
        self._rooms(values)
        if not any(taken for _, taken, _ in self.takes) and self.servers is None:
            raise refused(net, number, "it takes nothing; give it servers=1")
        self.counts = [
            (what, core.places[self.transition.inputs[arc].place].name)
            for what, arc in writer.counts
        ]
        self.params = [each for each in self.args if each] + list(writer.counts.values())

    def _some(self, number, writer):
        """How many are taken over an arc, by what other tokens say; and waits until they are there."""
        arc = self.transition.inputs[number]
        (free,), _ = writer.count("free", number)
        for formula, what in ((arc.weight, "the weight"), (arc.threshold, "the threshold")):
            if formula is not None:
                writer.within(formula[0], 0, None, what)
                self.when.append([free, " >= ", *writer.write(formula[0], 5)])
        return ["1"] if arc.weight is None else writer.write(arc.weight[0])

    def _number(self, formula, values, what):
        """The value of a formula over parameters alone; None of any other."""
        try:
            return 1 if formula is None else self.core.over_params(formula[0], values)
        except Error as error:
            raise refused(self.net, self.number, f"{what} cannot be computed: {error}") from None

    def _fixed(self, formula, values, what):
        number = self._number(formula, values, what)
        if number is None:
            text = self.core.text(self.transition, formula[0])
            raise refused(
                self.net, self.number, f"{what} depends on tokens: {text}; --fitted may fit it"
            )
        return number

    def _plain(self, formula, what):
        """A formula over parameters alone as Python; None when there is none."""
        if formula is None:
            return None
        reads = self.core.reads(formula[0])
        if any(reads[k] for k in ("tokens", "occupancy", "free", "taken")):
            raise refused(self.net, self.number, f"its {what} depends on tokens")
        before, self.writer.assumes = self.writer.assumes, False
        parts = self.writer.write(formula[0])
        if self.writer.assumes:
            raise refused(self.net, self.number, f"its {what} rests on an assumption")
        self.writer.assumes = before
        return "".join(identifier(str(p.value)) if _named(p) else _text(p) for p in parts)

    def _emissions(self, out, writer):
        """Text and Gaps of the list of tokens that an output arc gives."""
        groups = [self._group(out, each, writer) for each in out.emissions]
        parts = []
        for k, group in enumerate(groups):
            parts += [" + "] * (k > 0) + group
        return parts or ["[]"]

    def _group(self, out, emission, writer):
        type = self.core.types[self.core.places[out.place].type]
        token = self._token(type, emission, writer) if type.fields else ["()"]
        count = self._node(emission.count[0]) if emission.count else ("constant", 1)
        if any(self.core.reads(f[0])["index"] for f in emission.fields):
            times = writer.write(emission.count[0]) if emission.count else ["1"]
            return ["[", *token, " for index in range(", *times, ")]"]
        if count == ("constant", 1):
            return ["[", *token, "]"]
        if count[0] == "select" and [self.core.value(k) for k in count[2:]] == [1, 0]:
            return ["([", *token, "] if ", *writer.write(count[1], 1), " else [])"]
        times = writer.write(emission.count[0], 11)
        return ["[", *token, "] * ", *times]

    def _node(self, number):
        try:
            return self.core.node(number)
        except IndexError:
            return ("aggregate",)

    def _token(self, type, emission, writer):
        fields = [self._node(f[0]) for f in emission.fields]
        for arc, name in enumerate(self.args):  # one that is passed on as it is
            if name is None or writer.needs[arc] != 1:
                continue
            own = self.core.types[self.core.places[self.transition.inputs[arc].place].type]
            if own.name == type.name and all(
                node[:3] == ("token", arc, k) and self.core.value(node[3]) == 0
                for k, node in enumerate(fields)
            ):
                return [name]
        parts = [f"{identifier(type.name)}("]
        for k, formula in enumerate(emission.fields):
            value = writer.write(formula[0])
            if self.core.is_bool(formula[0]):
                value = ["int(", *value, ")"]
            parts += [", "] * (k > 0) + value
        return [*parts, ")"]

    def _rooms(self, values):
        """A place with a capacity is one with a second place, of its free room."""
        given, inside = {}, {}
        for k, out in enumerate(self.transition.outputs):
            if self.core.places[out.place].capacity is None:
                continue
            for each in out.emissions:
                number = self._fixed(
                    each.count,
                    values,
                    f"a number of tokens put into {self.puts[k]}, which has a capacity,",
                )
                given[self.puts[k]] = given.get(self.puts[k], 0) + number
        for arc in self.transition.inputs:
            place = self.core.places[arc.place]
            if place.capacity is not None and not arc.inhibit:
                inside[place.name] = self._fixed(arc.weight, values, "a weight")
        for name in [p.name for p in self.core.places if p.name in {*given, *inside}]:
            change = given.get(name, 0) - inside.get(name, 0)
            if change > 0:
                self.takes.append((f"room in {name}", change, change))
                self.args.append(identifier("room", {*_outer(self.net), *self.args}))
            elif change < 0:
                self.puts.append(f"room in {name}")
                self.made.append(["[()]" + (f" * {-change}" if change < -1 else "")])

    def skeleton(self):
        """What all steps of one rule share: everything but the numbers in it and where it stands."""
        formulas = [*self.when, ["="], self.cost, *self.made, ["="], *self.numbers]
        return repr([[type(p) if isinstance(p, Gap) else p for p in f] for f in formulas]) + repr(
            (
                self.params,
                [t[1:] for t in self.takes],
                len(self.empty),
                len(self.some),
                [what for what, _ in self.counts],
                self.servers,
                self.interval,
                self.ordered,
                self.clock,
                self.phase,
            )
        )

    def gaps(self):
        formulas = [*self.when, self.cost, *self.made, *self.numbers]
        return [part.value for f in formulas for part in f if isinstance(part, Gap)]


class Rule:
    """A function of the interface, and its steps."""

    def __init__(self, name, steps, used):
        self.name, self.steps = name, steps
        columns = list(zip(*(step.gaps() for step in steps)))
        first, self.params = steps[0], list(steps[0].params)
        self._texts, varying = [], {}
        for column in columns:
            if len(set(column)) == 1:
                value = column[0]
                self._texts.append(identifier(value) if isinstance(value, str) else str(value))
                continue
            if column not in varying:
                taken = {*used, *self.params, *varying.values()}
                varying[column] = next(c for c in _letters() if c not in taken)
            self._texts.append(varying[column])
        self.params += list(varying.values())
        for k, step in enumerate(steps):
            step.given = [column[k] for column in varying]
        texts = iter(self._texts)
        self.when = [self._filled(f, texts) for f in first.when]
        self.cost = self._filled(first.cost, texts)
        self.made = [self._filled(f, texts) for f in first.made]
        if first.numbers:
            numbers = ", ".join(self._filled(f, texts) for f in first.numbers)
            self.made.append(f"({numbers}{',' * (len(first.numbers) == 1)})")

    @staticmethod
    def _filled(parts, texts):
        return "".join(next(texts) if isinstance(p, Gap) else p for p in parts)


def _letters():
    yield from "abcdefghijklmnopqrstuvwz"
    yield from (f"a{k}" for k in range(10**6))


def _named(part):
    return isinstance(part, Gap) and isinstance(part.value, str)


def _text(part):
    return str(part.value) if isinstance(part, Gap) else part


def _outer(net):
    """The names that all rules may read."""
    return {identifier(name) for name in [*net.params, *(t.name for t in net._core.types)]}


def rules_of(net, parameters):
    """The Rules of a net's transitions. Raises Error "E-pi" that names the first which has none."""
    families = {}
    steps = [Step(net, number, parameters) for number in range(len(net._core.transitions))]
    used = _outer(net)
    for step in steps:
        families.setdefault(step.skeleton(), []).append(step)
    rules = []
    for family in families.values():
        name = family[0].name
        if len(family) > 1:  # what is left of m0.decode0, m0.decode1, ... without their numbers
            name = re.sub(r"_?\d+", "", name) or "step"
        name = identifier(name, used)
        used.add(name)
        rules.append(Rule(name, family, used))
        for step in family:
            step.rule = rules[-1]
    return rules, steps
