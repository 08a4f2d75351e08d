"""One call of net.transition: from places and functions to arcs and expressions."""

import _lpn

from .. import source
from ..errors import listed, mistake, within
from . import trace
from .arc import Arc, Looked
from .around import check_around
from .check import check_fields, check_name, flag, plain
from .expr import Expr, Ratio, Scope, text_of
from .place import ArcSpec, Emission, Place
from .token import BORN, birth_of
from .unknown import Alone, stands_alone, within_formula

__all__ = ["TransitionBuilder"]


def _owner(name):
    return f"transition '{name}'"


def _is_function(value):
    return callable(value) and not isinstance(value, (type, Expr, Place))


def _watched(place):
    if not isinstance(place, Place):
        raise mistake("E-arc", f"an assertion looks at places, got {place!r}")
    return place.watch()


class TransitionBuilder:
    """One call of net.transition: checks it and makes the C++ transition, touching nothing else."""

    def __init__(self, net, name):
        self.net = net
        self.core = net._core
        self.name = name
        self.at = source.caller()
        self.t = _lpn.Transition(name, *net._here(self.at))
        self.scope = Scope(self.core, self.t, _owner(name))
        self.arcs = {}  # name -> Arc
        self.specs = {}

    def build_assertion(self, look, holds):
        """The transition that only watches these places and fails where `holds` does not."""
        owner = f"assertion '{self.name}'"
        self.scope.label = owner
        if isinstance(look, dict):
            look = {name: _watched(place) for name, place in look.items()}
        elif isinstance(look, (list, tuple)):
            look = [_watched(place) for place in look]
        elif look is not None:
            look = [_watched(look)]
        for name, spec in self._named_specs(look):
            self._input(name, spec)
        if not self.arcs:
            raise mistake("E-arc", "an assertion is over places; look at one: {arc: place}")
        if not _is_function(holds):
            raise mistake(
                "E-operand",
                "holds is a function of the places looked at that returns a condition, got "
                f"{text_of(holds)}",
            )
        trace.check_names(holds, list(self.arcs), False, owner)
        with within("holds"):
            looked = {
                name: Looked(self.scope, arc._number, name, arc._place, arc._fields, "watch")
                for name, arc in self.arcs.items()
            }
            number = trace.trace(self.scope, holds, looked, "bool")
        if Expr(self.scope, number)._const() is not None:
            raise mistake("E-operand", "holds does not depend on how many tokens are where")
        core = self.core
        guard = core.assume(number, core.boolean(False), self.name)
        at = source.of_function(holds) or self.at
        self.t.set_guard(len(self.arcs) - 1, self.net._located(guard, at))
        self.t.set_delay(self.net._located(core.constant(0), self.at))
        self.t.set_servers(self.net._located(core.constant(1), self.at))
        return self.t

    def build(self, take, put, delay, guard, servers, interval, ordered, clock):
        specs = self._named_specs(take)
        self.later = [name for name, _ in specs]
        for name, spec in specs:
            self.later.remove(name)
            self._input(name, spec)
        for name, spec in self.specs.items():
            if spec.guard is not None:
                self._guard(spec.guard, at_least=name)
        for each in (
            guard if isinstance(guard, (list, tuple)) else [guard] if guard is not None else []
        ):
            self._guard(each)
        self.t.set_delay(self._value(delay, "delay", "cycles"))
        if interval is not None:
            self.t.set_interval(self._value(interval, "interval", "cycles"))
        if servers is not None:
            if isinstance(servers, Alone):
                servers = stands_alone(self.net, servers, "transition", self.name, "servers")
            self.t.set_servers(self.net._formula(servers, "servers"))
        self.t.ordered = flag(ordered, "ordered")
        if clock is not None:
            if not isinstance(clock, (tuple, list)):
                clock = (clock, 0)
            if len(clock) != 2:
                raise mistake("E-operand", f"clock must be (period, phase) in ticks, got {clock!r}")
            self.t.set_clock(
                self.net._formula(clock[0], "the clock's period"),
                self.net._formula(clock[1], "the clock's phase"),
            )
        if isinstance(put, (Place, Emission)):
            put = [put]
        elif put is None:
            put = []
        elif not isinstance(put, (list, tuple)):
            raise mistake(
                "E-emit", f'put is a list of place.emit(...) or place.forward("arc"), got {put!r}'
            )
        for emission in put:
            self._output(emission)
        return self.t

    # Input arcs.

    def _named_specs(self, take):
        if take is None:
            return []
        if isinstance(take, dict):
            items = list(take.items())
        else:
            if isinstance(take, (Place, ArcSpec)):
                take = [take]
            if not isinstance(take, (list, tuple)):
                raise mistake("E-arc", f"take is a dict {{arc: place}}, got {take!r}")
            items = []
            for spec in take:
                place = spec.place if isinstance(spec, ArcSpec) else spec
                if not isinstance(place, Place):
                    raise mistake(
                        "E-arc", f"take is a dict {{arc: place}}, got {place!r} in a list"
                    )
                items.append((place.name.rsplit(".", 1)[-1], spec))
        seen = {}
        result = []
        for name, spec in items:
            check_name(name, "arc")
            if name == "i":
                raise mistake(
                    "E-name",
                    "'i' cannot name an arc: in the values of emit it is the position of the token",
                )
            if isinstance(spec, Place):
                spec = ArcSpec(spec, "take", 1, None, None, self.at)
            if not isinstance(spec, ArcSpec):
                raise mistake(
                    "E-arc",
                    f"arc '{name}' must be a place or place.take(...), .peek(...), .empty() or "
                    f".watch(), got {spec!r}",
                )
            self._check_place(spec.place, f"arc '{name}'")
            if any(name == other for other, _ in result):
                raise mistake(
                    "E-duplicate",
                    f"two arcs are called '{name}'; name them in a dict {{arc: place}}",
                )
            if spec.place._number in seen:
                raise mistake(
                    "E-arc",
                    f"arcs '{seen[spec.place._number]}' and '{name}' lead from one place, "
                    f"'{spec.place.name}'; use one arc: take(2)",
                )
            seen[spec.place._number] = name
            result.append((name, spec))
        return result

    def _check_place(self, place, what):
        if not isinstance(place, Place):
            raise mistake("E-arc", f"{what} needs a place, got {place!r}")
        if place._net is not self.net:
            raise mistake(
                "E-foreign",
                f"{what} uses place '{place.name}' of net '{place._net.name}'; a transition "
                "joins places of its own net: include the other one with net.instance",
            )

    def _input(self, name, spec):
        place = spec.place
        check_around(spec.around, f"{spec!r}")
        number = len(self.arcs)
        one = self.net._located(self.core.constant(0 if spec.kind != "take" else 1), spec.at)
        self.t.add_input(name, place._number, spec.kind == "empty", one, *self.net._here(spec.at))
        arc = Arc(self.scope, number, name, place.name, place._type.fields, "own")
        self.arcs[name] = arc
        self.specs[name] = spec
        if spec.kind == "take":
            self.t.set_weight(number, self._value(spec.weight, f"{name}.take", "tokens", spec.at))
            if spec.need is not None:
                self.t.set_threshold(
                    number, self._value(spec.need, f"{name}.need", "tokens", spec.at)
                )
        elif spec.kind in ("peek", "watch"):
            self.t.set_threshold(
                number, self._value(spec.need, f"{name}.{spec.kind}", "tokens", spec.at)
            )
        arc._kind = spec.kind

    def _guard(self, function, at_least=None):
        """A guard stands at the last arc it names, and not before `at_least`."""
        if isinstance(function, (Expr, bool)):
            value = function
            function = lambda: value  # noqa: E731
        if not _is_function(function):
            raise mistake(
                "E-operand",
                f"a guard is a function of arcs that returns a condition, got "
                f"{text_of(function)}",
            )
        order = list(self.arcs)
        if not order:
            raise mistake("E-arc", "a guard needs an input arc to stand at; take or watch a place")
        known = order if at_least is None else order[: order.index(at_least) + 1]
        names = trace.check_names(function, known, False, _owner(self.name), order[len(known) :])
        place = max([order.index(n) for n in names], default=0)
        if at_least is not None:
            place = order.index(at_least)
        if self.specs[order[place]].kind == "empty":
            raise mistake(
                "E-arc",
                f"the guard would stand at arc '{order[place]}', which needs an empty place; "
                "name an arc that takes, peeks or watches last",
            )
        at = source.of_function(function) or self.at
        with within("guard"), within_formula(self.net, self.name, "guard"):
            number = trace.trace(self.scope, function, self.arcs, "bool")
        old = self.t.inputs[place].guard
        if old is not None:
            number = self.core.logical_and(old[0], number)
        self.t.set_guard(place, self.net._located(number, at))

    # Formulas.

    def _value(self, value, part, what, at=None, index=False):
        """An int formula over the arcs known so far."""
        with within(part):
            if isinstance(value, Alone):
                value = stands_alone(self.net, value, "transition", self.name, part)
            if _is_function(value):
                trace.check_names(value, list(self.arcs), index, _owner(self.name), self.later)
                arguments = self.arcs
                if index:
                    arguments = dict(self.arcs, i=Expr(self.scope, self.core.index()))
                with within_formula(self.net, self.name, part):
                    number = trace.trace(self.scope, value, arguments, "int", what)
                return self.net._located(number, source.of_function(value) or at or self.at)
            if isinstance(value, Expr):
                if value._scope.core is not self.core or value._scope.transition is not None:
                    raise mistake(
                        "E-foreign",
                        f"{value._text()} belongs to {value._scope.label}; use a function of "
                        "arcs, or a parameter of this net",
                    )
                return self.net._located(value._int()._id, at or self.at)
            if value is None:
                raise mistake(
                    "E-operand",
                    f"{part} is None; write a number, a parameter or a function of arcs",
                )
            if isinstance(value, Ratio) or type(value).__name__ == "Fraction":
                raise mistake(
                    "E-result",
                    f"{part} must be int, got ratio {text_of(value)}; use // or math.ceil "
                    f"to make a whole number of {what}",
                )
            return self.net._located(self.core.constant(plain(value, part)), at or self.at)

    # Output arcs.

    def _output(self, emission):
        if isinstance(emission, Place):
            if emission._type.fields:
                first = next(iter(emission._type.fields))
                raise mistake(
                    "E-emit",
                    f"tokens of '{emission.name}' need values; write "
                    f'{emission.name}.emit({first}=...) or {emission.name}.forward("arc")',
                )
            emission = Emission(emission, None, 1, {}, self.at)
        if not isinstance(emission, Emission):
            raise mistake(
                "E-emit",
                f'put is a list of place.emit(...) or place.forward("arc"), got {emission!r}',
            )
        place = emission.place
        self._check_place(place, "put")
        check_around(emission.around, f"{emission!r}")
        kind = place._type
        with within(f"put {place.name}"):
            if emission.arc is not None:
                count, fields = self._forwarded(emission, kind)
            else:
                fields = self._handed_on(emission, kind)
                check_fields(kind, {**emission.values, **fields}, f"{place.name}.emit(...)")
                count = self._value(emission.count, "count", "tokens", emission.at)
            for name, value in emission.values.items():
                fields[name] = self._value(value, name, "units", emission.at, index=True)
        self.t.add_emission(
            place._number,
            count,
            [fields[name] for name in kind.fields],
            *self.net._here(emission.at),
        )

    def _handed_on(self, emission, kind):
        """{born: that of the one request that the transition takes}, where nothing else is said."""
        if not birth_of(kind) or BORN in emission.values:
            return {}
        of_requests = [
            (self.arcs[name], spec)
            for name, spec in self.specs.items()
            if spec.kind in ("take", "peek") and birth_of(spec.place._type)
        ]
        if len(of_requests) != 1:
            raise mistake(
                "E-field",
                f"{emission.place.name}.emit(...) must say of which request its tokens are, since "
                + ("the transition takes none" if not of_requests else "it takes several")
                + f"; write {BORN}=..., as {BORN}=lambda pkt: pkt.{BORN}",
            )
        ((arc, spec),) = of_requests
        which = self.core.constant(0)
        number = self.core.token(arc._number, spec.place._type.fields[BORN], which)
        return {BORN: self.net._located(number, emission.at)}

    def _forwarded(self, emission, kind):
        """Count and copied fields of place.forward(arc)."""
        name, core = emission.arc, self.core
        if isinstance(name, ArcSpec) or isinstance(name, Place):
            raise mistake(
                "E-arc-name",
                f"forward takes the name of an arc, one of: {listed(self.arcs)}; "
                f"write forward(\"{next(iter(self.arcs), 'arc')}\")",
            )
        if name not in self.arcs:
            raise mistake(
                "E-arc-name",
                f"forward names '{name}', but the transition's arcs are: {listed(self.arcs)}",
            )
        arc, spec = self.arcs[name], self.specs[name]
        if spec.kind in ("empty", "watch"):
            raise mistake("E-arc", f"arc '{name}' has no token to forward; use peek() or take()")
        check_fields(kind, emission.values, f"{emission.place.name}.forward(...)", missing_ok=True)
        taken = spec.place._type
        lacking = [f for f in kind.fields if f not in taken.fields and f not in emission.values]
        if lacking:
            raise mistake(
                "E-emit",
                f"tokens of '{emission.place.name}' have {listed(lacking)}, which tokens of "
                f"'{spec.place.name}' lack; write forward(\"{name}\", {lacking[0]}=...)",
            )
        arcs = self.t.inputs[arc._number]
        formula = arcs.weight if spec.kind == "take" else arcs.threshold
        const = core.value(formula[0])
        if const is not None or spec.kind == "peek":
            count = self.net._located(formula[0], emission.at)
        else:
            count = self.net._located(core.taken(arc._number), emission.at)
        which = core.constant(0) if const == 1 else core.index()
        fields = {
            f: self.net._located(core.token(arc._number, taken.fields[f], which), emission.at)
            for f in kind.fields
            if f in taken.fields
        }
        return count, fields
