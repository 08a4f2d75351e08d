"""Nets as authors write them: places, transitions with named arcs, parameters, instances."""

import _lpn

from . import _expr, _source, _trace
from ._arc import Arc
from ._errors import listed, mistake, placed, within
from ._expr import Expr, Scope
from ._token import Int, Token

__all__ = ["ArcSpec", "Emission", "Instance", "Net", "Place", "Tokens", "tokens"]


class _Type:
    """A token type of one net: its number and the properties by name."""

    __slots__ = ("number", "name", "fields", "ranges", "enums")

    def __init__(self, number, name, fields, ranges, enums=None):
        self.number = number
        self.name = name
        self.fields = {field: k for k, field in enumerate(fields)}
        self.ranges = ranges
        self.enums = enums or {}


class ArcSpec:
    """What a transition needs of a place: made by Place.take, peek, empty and watch."""

    __slots__ = ("place", "kind", "weight", "need", "guard", "at")

    def __init__(self, place, kind, weight, need, guard, at):
        self.place = place
        self.kind = kind
        self.weight = weight
        self.need = need
        self.guard = guard
        self.at = at

    def __repr__(self):
        return f"{self.place.name}.{self.kind}(...)"


class Emission:
    """What a firing appends to a place: made by Place.emit and forward."""

    __slots__ = ("place", "arc", "count", "values", "at")

    def __init__(self, place, arc, count, values, at):
        self.place = place
        self.arc = arc
        self.count = count
        self.values = values
        self.at = at

    def __repr__(self):
        return f"{self.place.name}.{'forward' if self.arc else 'emit'}(...)"


class Tokens:
    """A number of initial tokens, made by lpn.tokens."""

    __slots__ = ("count", "values")

    def __init__(self, count, values):
        self.count = count
        self.values = values


def tokens(count, /, **values):
    """`count` initial tokens for net.place(init=...), whose properties may be functions of `i`.

    `net.place("tags", Tag, init=lpn.tokens(slots, id=lambda i: i))`
    """
    return Tokens(count, values)


class Place:
    """A FIFO of tokens of one type. Made by net.place."""

    __slots__ = ("_net", "_number", "_type", "name")

    def __init__(self, net, number, type_, name):
        self._net = net
        self._number = number
        self._type = type_
        self.name = name

    def __repr__(self):
        return f"<place '{self.name}' of net '{self._net.name}'>"

    @property
    def net(self):
        return self._net

    @property
    def fields(self):
        """The names of the properties of its tokens, in order."""
        return list(self._type.fields)

    def take(self, n=1, need=None, guard=None):
        """An arc that takes `n` tokens when `need` (default n) are there and `guard` holds.

        `n` and `need` may be functions of earlier arcs and of the head of this place; `guard` is a
        function of this and earlier arcs that returns a condition.
        """
        return ArcSpec(self, "take", n, need, guard, _source.caller())

    def peek(self, n=1, guard=None):
        """An arc that needs `n` tokens and reads them, but takes none."""
        return ArcSpec(self, "peek", 0, n, guard, _source.caller())

    def empty(self):
        """An arc that lets the transition start only while the place has no token (inhibitor)."""
        return ArcSpec(self, "empty", 0, None, None, _source.caller())

    def watch(self, guard=None):
        """An arc that needs and takes nothing; formulas may read `arc.count` and `arc.free`."""
        return ArcSpec(self, "watch", 0, 0, guard, _source.caller())

    def emit(self, /, count=1, **values):
        """`count` tokens appended at commit, with one value per property.

        Count and values are ints, parameters or functions of arcs; a function of a value may also
        name `i`, the position 0..count-1 of the token.
        """
        return Emission(self, None, count, values, _source.caller())

    def forward(self, arc, /, **values):
        """A copy of every token that the arc named `arc` takes (or peeks), with some values replaced."""
        return Emission(self, arc, None, values, _source.caller())


class Instance:
    """A net inside another one, made by net.instance: `instance["out"]` is its place "out"."""

    def __init__(self, net, prefix, places):
        self.net = net
        self.prefix = prefix
        self.places = places

    def __getitem__(self, name):
        if name not in self.places:
            raise mistake("E-place", f"instance '{self.prefix}' has no place '{name}'; it has: {listed(self.places)}")
        return self.places[name]

    def __repr__(self):
        return f"<instance '{self.prefix}' in net '{self.net.name}'>"


def _owner(name):
    return f"transition '{name}'"


class Net:
    """A Latency Petri Net under construction, and afterwards the net that engines run.

    `name` is a word of letters, digits and _. Times are cycles of the modelled clock. Every method
    raises lpn.Error for a mistake, naming it, what to write instead, and the line.
    """

    def __init__(self, name):
        _check_name(name, "net", dots=True)
        self._begin(_lpn.Net(name))

    def _begin(self, core):
        self._core = core
        self._scope = Scope(core, None, f"net '{core.name}'")
        self._places = {}
        self._transitions = {}
        self._params = {}
        self._types = {}
        self.bound = {}  # values given to parameters when a model was loaded
        self._checked = False

    @classmethod
    def _of(cls, core):
        """A Net around one that exists already: parsed from text."""
        net = cls.__new__(cls)
        net._begin(core)
        kinds = []
        for number, kind in enumerate(core.types):
            kinds.append(_Type(number, kind.name, [f.name for f in kind.fields], [f.range for f in kind.fields]))
            net._types[kind.name] = kinds[-1]
        for number, place in enumerate(core.places):
            net._places[place.name] = Place(net, number, kinds[place.type], place.name)
        for number, transition in enumerate(core.transitions):
            net._transitions[transition.name] = number
        for number, param in enumerate(core.params):
            net._params[param.name] = Expr(net._scope, core.param(number))
        return net

    # Reading.

    @property
    def name(self):
        return self._core.name

    @property
    def core(self):
        """The same net as plain data, for tools: `_lpn.Net`."""
        return self._core

    @property
    def places(self):
        """Name -> Place, in order of declaration."""
        return dict(self._places)

    @property
    def transitions(self):
        """The transitions' names in order of declaration, which is their priority."""
        return list(self._transitions)

    @property
    def params(self):
        """Name -> default value."""
        return {p.name: p.value for p in self._core.params}

    def __getitem__(self, name):
        """The place of that name."""
        place = self._places.get(name)
        if place is None:
            raise mistake("E-place", f"net '{self.name}' has no place '{name}'; it has: {listed(self._places)}")
        return place

    def __repr__(self):
        return (f"<net '{self.name}': {len(self._places)} places, {len(self._transitions)} transitions, "
                f"{len(self._params)} parameters>")

    # Building.

    def param(self, name, default, range=None, **unknown):
        """A named integer of the net, constant during a run, that the user may set.

        `range`: inclusive (lo, hi). The result may stand in formulas, init, capacity, servers and
        clock.
        """
        _check_options("param", unknown, ("default", "range"))
        _check_name(name, "parameter", dots=True)
        if name in self._params:
            raise mistake("E-duplicate", f"net '{self.name}' has a parameter '{name}' already; choose another name")
        default = _plain(default, f"the default of parameter '{name}'")
        if range is not None:
            if not isinstance(range, (tuple, list)) or len(range) != 2:
                raise mistake("E-param", f"the range of parameter '{name}' must be (lowest, highest), got {range!r}")
            lo, hi = (_plain(v, f"the range of parameter '{name}'") for v in range)
            if not lo <= default <= hi:
                raise mistake("E-param", f"parameter '{name}': default {default} is not in its range {lo}..{hi}")
            range = (lo, hi)
        number = self._core.add_param(name, default, range, *self._here())
        self._checked = False
        self._params[name] = Expr(self._scope, self._core.param(number))
        return self._params[name]

    def place(self, name, type=None, *, capacity=None, init=None, start=False, done=False, drain=False,
              sink=False, **unknown):
        """A FIFO.

        `type`: a subclass of lpn.Token; None: tokens only count. `capacity`: most tokens it holds,
        int or parameter. `init`: tokens at time 0: a number of them, a list of dicts or tokens for
        a type with properties, or lpn.tokens(...). `start`: the workload fills it; it must drain.
        `done`: its production is what latency measures. `drain`: it must be empty at the end, else
        the run is stalled. `sink`: nothing is meant to take from it.
        """
        _check_options("place", unknown, ("type", "capacity", "init", "start", "done", "drain", "sink"))
        _check_name(name, "place", dots=True)
        with within(f"net '{self.name}', place '{name}'"):
            kind = self._type(type)
        return self._add_place(name, kind, capacity, init, start, done, drain, sink)

    def _add_place(self, name, kind, capacity=None, init=None, start=False, done=False, drain=False, sink=False):
        _check_name(name, "place", dots=True)
        if name in self._places:
            where = self._core.where(*self._core.places[self._places[name]._number].source)
            raise mistake("E-duplicate", f"net '{self.name}' has a place '{name}' already"
                          + (f" (at {where})" if where else "") + "; choose another name")
        with within(f"net '{self.name}', place '{name}'"):
            limit = self._formula(capacity, "the capacity") if capacity is not None else None
            groups = self._initial(kind, init)
            number = self._core.add_place(name, kind.number, limit, start=bool(start), done=bool(done),
                                          drain=bool(drain), sink=bool(sink), file=self._here()[0],
                                          line=self._here()[1])
        for count, fields in groups:
            self._core.add_initial(number, count, fields)
        self._checked = False
        place = Place(self, number, kind, name)
        self._places[name] = place
        return place

    def transition(self, name, take=None, put=(), *, delay=0, guard=None, servers=None, interval=None,
                   ordered=False, clock=None, **unknown):
        """A piece of hardware that takes tokens, works `delay` cycles and puts tokens.

        `take`: {arc: place or place.take(...), .peek(...), .empty(), .watch()}; formulas call the
        tokens by the arc's name. `put`: list of place.emit(...), place.forward("arc"), or a place
        whose tokens only count. `delay` and `interval` (least cycles between two starts): int,
        parameter, or a function of arcs. `guard`: a function of arcs that returns a condition; it
        belongs to the last arc it names. `servers`: most firings at once, int or parameter (None:
        unbounded). `ordered`: commits do not overtake. `clock`: (period, phase) in ticks.
        Priority is the order of declaration.
        """
        _check_options("transition", unknown, ("take", "put", "delay", "guard", "servers", "interval", "ordered",
                                               "clock"))
        _check_name(name, "transition", dots=True)
        if name in self._transitions:
            where = self._core.where(*self._core.transitions[self._transitions[name]].source)
            raise mistake("E-duplicate", f"net '{self.name}' has a transition '{name}' already"
                          + (f" (at {where})" if where else "") + "; choose another name")
        with within(f"net '{self.name}', transition '{name}'"):
            built = _TransitionBuilder(self, name).build(take, put, delay, guard, servers, interval, ordered, clock)
        number = self._core.add_transition(built)
        self._transitions[name] = number
        self._checked = False

    @property
    def done_count(self):
        """The run ends when so many done tokens were produced; None: when nothing can happen."""
        formula = self._core.done_count
        return None if formula is None else Expr(self._scope, formula[0])

    @done_count.setter
    def done_count(self, value):
        with within(f"net '{self.name}'"):
            self._core.set_done_count(None if value is None else self._formula(value, "done_count"))
        self._checked = False

    def done(self):
        """Declares the net complete: checks every rule and returns the net.

        Raises Error with all violations, one per line. Simulating and printing call it.
        """
        if not self._checked:
            self._core.require_valid()
            self._checked = True
        return self

    def text(self):
        """The net as a .lpn file."""
        self.done()
        return self._core.print()

    def save(self, path):
        """Writes the net as a .lpn file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    @classmethod
    def parse(cls, text):
        """The net that a .lpn text describes. Raises Error "E-text" with line and column."""
        net = cls._of(_lpn.parse_net(text))
        net._checked = True
        return net

    def instance(self, part, prefix, connect=None, params=None):
        """A copy of another net inside this one; returns an Instance.

        Its place "p" becomes "prefix.p", or the place of this net that `connect` gives: {their
        place: my place}; connected places have equal properties. `params`: {their parameter: int or
        parameter of this net}; those not given become parameters "prefix.name" of this net.
        A connected place keeps this net's start, done and sink; it gets the part's initial tokens
        after its own, and the part's capacity when it has none.
        """
        if not isinstance(part, Net):
            raise mistake("E-operand", f"instance needs a net, got {part!r}")
        if part is self:
            raise mistake("E-operand", f"net '{self.name}' cannot be an instance inside itself; make the part first")
        if not isinstance(prefix, str) or not _lpn.is_name(prefix):
            raise mistake("E-name", f"{prefix!r} cannot be the prefix of an instance: use letters, digits and _")
        part.done()
        joined = [None] * len(part._places)
        for theirs, mine in (connect or {}).items():
            name = theirs.name if isinstance(theirs, Place) else theirs
            if name not in part._places:
                raise mistake("E-connect", f"net '{part.name}' has no place '{name}'; it has: {listed(part._places)}")
            if not isinstance(mine, Place) or mine._net is not self:
                raise mistake("E-connect", f"'{name}' of net '{part.name}' must be connected to a place of net "
                              f"'{self.name}', got {mine!r}; give what net.place returned")
            joined[part._places[name]._number] = mine._number
        values = [None] * len(part._params)
        for name, value in (params or {}).items():
            if name not in part._params:
                raise mistake("E-param", f"net '{part.name}' has no parameter '{name}'; it has: {listed(part._params)}")
            number = next(k for k, p in enumerate(part._core.params) if p.name == name)
            values[number] = self._formula(value, f"parameter '{name}' of net '{part.name}'")[0]
        try:
            places, transitions, new_params = self._core.add_instance(part._core, prefix, joined, values)
        except _lpn.Error as error:
            raise placed(error) from None
        self._checked = False
        for number, kind in enumerate(self._core.types):
            if kind.name not in self._types:
                self._types[kind.name] = _Type(number, kind.name, [f.name for f in kind.fields],
                                               [f.range for f in kind.fields])
        core_places = self._core.places
        by_number = {kind.number: kind for kind in self._types.values()}
        for number in places:
            name = core_places[number].name
            if name not in self._places:
                self._places[name] = Place(self, number, by_number[core_places[number].type], name)
        for name, number in zip(part._transitions, transitions):
            self._transitions[f"{prefix}.{name}"] = number
        for name, number in zip(part._params, new_params):
            if number is not None:
                self._params[f"{prefix}.{name}"] = Expr(self._scope, self._core.param(number))
        by_place = list(self._places.values())
        return Instance(self, prefix, {name: by_place[number] for name, number in zip(part._places, places)})

    # Parts.

    def _place_like(self, name, other, **options):
        """A place of the same type as another."""
        if not isinstance(other, Place):
            raise mistake("E-arc", f"'{name}' needs a place, got {other!r}")
        return self._add_place(name, other._type, **options)

    def _here(self, at=None):
        filename, line = at or _source.caller()
        return (self._core.file(_source.shown(filename)) if line else 0), line

    def _located(self, number, at=None):
        """A formula for the C++ side: (expression, file, line)."""
        return (number, *self._here(at))

    def _formula(self, value, what):
        """An int or an expression over parameters."""
        if isinstance(value, Expr):
            if value._scope.core is not self._core:
                raise mistake("E-foreign", f"{what} reads a parameter of another net")
            if value._scope.transition is not None:
                raise mistake("E-scope", f"{what} reads tokens ({value._text()}); it is decided before the run: "
                              "use ints and parameters")
            return self._located(value._int()._id)
        if callable(value) and not isinstance(value, type):
            raise mistake("E-scope", f"{what} is a function, but it is decided before the run, when there is no "
                          "token; use an int or a parameter")
        return self._located(self._core.constant(_plain(value, what)))

    def _type(self, declared):
        if declared is None:
            name, fields, at = "Token", {}, None
        elif isinstance(declared, type) and issubclass(declared, Token):
            name, fields, at = declared.__name__, declared._properties, getattr(declared, "_at", None)
        else:
            shown = declared.__name__ if isinstance(declared, type) else repr(declared)
            raise mistake("E-type", f"the type of a place must be a subclass of lpn.Token, got {shown}; "
                          "write class Block(lpn.Token): nonzero: lpn.Int[0, 63]")
        if declared is Token:
            name, fields, at = "Token", {}, None
        ranges = [kind.range for kind in fields.values()]
        known = self._types.get(name)
        if known is not None:
            if list(known.fields) != list(fields) or known.ranges != ranges:
                raise mistake("E-type", f"two different token types are called {name}; rename one of them")
            return known
        number = self._core.add_type(name, list(zip(fields, ranges)), *self._here(at)) if at else \
            self._core.add_type(name, list(zip(fields, ranges)), 0, 0)
        enums = {field: kind.enum for field, kind in fields.items() if kind.enum}
        self._types[name] = _Type(number, name, list(fields), ranges, enums)
        return self._types[name]

    def _initial(self, kind, init):
        """[(count, [field formulas])] of an `init` argument."""
        if init is None:
            return []
        one = self._located(self._core.constant(1))
        if isinstance(init, Tokens):
            return [self._token_group(kind, init)]
        if isinstance(init, Expr) or _expr.as_index(init) is not None:
            if kind.fields:
                first = next(iter(kind.fields))
                raise mistake("E-initial", f"initial tokens of type {kind.name} need values; write "
                              f"init=[{{'{first}': 0, ...}}] or init=lpn.tokens(count, {first}=...)")
            return [(self._formula(init, "init"), [])]
        if isinstance(init, (dict, Token)):
            init = [init]
        try:
            init = list(init)
        except TypeError:
            raise mistake("E-initial", f"init must be a number, a list of tokens or lpn.tokens(...), got {init!r}") \
                from None
        groups = []
        for token in init:
            if isinstance(token, Tokens):
                groups.append(self._token_group(kind, token))
                continue
            if isinstance(token, Token):
                token = {name: getattr(token, name) for name in token._properties}
            if not isinstance(token, dict):
                raise mistake("E-initial", f"an initial token must be a dict or an instance of {kind.name}, "
                              f"got {token!r}")
            _check_fields(kind, token, "an initial token")
            groups.append((one, [self._formula(token[name], f"property '{name}'") for name in kind.fields]))
        return groups

    def _token_group(self, kind, group):
        _check_fields(kind, group.values, "lpn.tokens(...)")
        fields = []
        for name in kind.fields:
            value = group.values[name]
            if callable(value) and not isinstance(value, (type, Expr)):
                _trace.check_names(value, [], True, f"initial property '{name}'")
                index = Expr(self._scope, self._core.index())
                number = _trace.trace(self._scope, value, {"i": index}, "int", "units")
                fields.append(self._located(number, _source.of_function(value)))
            else:
                fields.append(self._formula(value, f"property '{name}'"))
        return (self._formula(group.count, "the number of initial tokens"), fields)


def _check_fields(kind, given, what, missing_ok=False):
    for name in given:
        if name not in kind.fields:
            raise mistake("E-field", f"{what} has a property '{name}' that type {kind.name} lacks; it has: "
                          f"{listed(kind.fields)}")
    lacking = [name for name in kind.fields if name not in given]
    if lacking and not missing_ok:
        raise mistake("E-field", f"{what} lacks {listed(lacking)}; type {kind.name} has: {listed(kind.fields)}")


def _check_name(name, what, dots=False):
    if not isinstance(name, str) or not _lpn.is_name(name) or (not dots and "." in name):
        raise mistake("E-name", f"{name!r} cannot name a {what}: use letters, digits and _, starting with a letter "
                      "or _")


def _check_options(what, unknown, known):
    if unknown:
        import difflib

        name = next(iter(unknown))
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise mistake("E-option", f"net.{what} has no option '{name}'; it has: {listed(known)}{hint}")


def _plain(value, what):
    """An int from an author's number."""
    if isinstance(value, float):
        raise mistake("E-operand", f"{what} must be int, got float {value!r}; use math.ceil or math.floor")
    number = _expr.as_index(value)
    if number is None:
        raise mistake("E-operand", f"{what} must be int, got {_expr.text_of(value)}")
    value = number
    if not _expr.INT_MIN <= value <= _expr.INT_MAX:
        raise mistake("E-overflow", f"{what} is {value}, which does not fit in 64 bits")
    return value


def _is_function(value):
    return callable(value) and not isinstance(value, (type, Expr, Place))


class _TransitionBuilder:
    """One call of net.transition: checks it and makes the C++ transition, touching nothing else."""

    def __init__(self, net, name):
        self.net = net
        self.core = net._core
        self.name = name
        self.at = _source.caller()
        self.t = _lpn.Transition(name, *net._here(self.at))
        self.scope = Scope(self.core, self.t, _owner(name))
        self.arcs = {}  # name -> Arc
        self.specs = {}

    def build(self, take, put, delay, guard, servers, interval, ordered, clock):
        specs = self._named_specs(take)
        self.later = [name for name, _ in specs]
        for name, spec in specs:
            self.later.remove(name)
            self._input(name, spec)
        for name, spec in self.specs.items():
            if spec.guard is not None:
                self._guard(spec.guard, at_least=name)
        for each in guard if isinstance(guard, (list, tuple)) else [guard] if guard is not None else []:
            self._guard(each)
        self.t.set_delay(self._value(delay, "delay", "cycles"))
        if interval is not None:
            self.t.set_interval(self._value(interval, "interval", "cycles"))
        if servers is not None:
            self.t.set_servers(self.net._formula(servers, "servers"))
        self.t.ordered = bool(ordered)
        if clock is not None:
            if not isinstance(clock, (tuple, list)):
                clock = (clock, 0)
            if len(clock) != 2:
                raise mistake("E-operand", f"clock must be (period, phase) in ticks, got {clock!r}")
            self.t.set_clock(self.net._formula(clock[0], "the clock's period"),
                             self.net._formula(clock[1], "the clock's phase"))
        if isinstance(put, (Place, Emission)):
            put = [put]
        elif put is None:
            put = []
        elif not isinstance(put, (list, tuple)):
            raise mistake("E-emit", f"put is a list of place.emit(...) or place.forward(\"arc\"), got {put!r}")
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
            items = []
            for spec in take:
                place = spec.place if isinstance(spec, ArcSpec) else spec
                if not isinstance(place, Place):
                    raise mistake("E-arc", f"take is a dict {{arc: place}}, got {place!r} in a list")
                items.append((place.name.rsplit(".", 1)[-1], spec))
        seen = {}
        result = []
        for name, spec in items:
            _check_name(name, "arc")
            if name == "i":
                raise mistake("E-name", "'i' cannot name an arc: in the values of emit it is the position of the token")
            if isinstance(spec, Place):
                spec = ArcSpec(spec, "take", 1, None, None, self.at)
            if not isinstance(spec, ArcSpec):
                raise mistake("E-arc", f"arc '{name}' must be a place or place.take(...), .peek(...), .empty() or "
                              f".watch(), got {spec!r}")
            self._check_place(spec.place, f"arc '{name}'")
            if name in dict(result):
                raise mistake("E-duplicate", f"two arcs are called '{name}'; name them in a dict {{arc: place}}")
            if spec.place._number in seen:
                raise mistake("E-arc", f"arcs '{seen[spec.place._number]}' and '{name}' lead from one place, "
                              f"'{spec.place.name}'; use one arc: take(2)")
            seen[spec.place._number] = name
            result.append((name, spec))
        return result

    def _check_place(self, place, what):
        if not isinstance(place, Place):
            raise mistake("E-arc", f"{what} needs a place, got {place!r}")
        if place._net is not self.net:
            raise mistake("E-foreign", f"{what} uses place '{place.name}' of net '{place._net.name}'; a transition "
                          "joins places of its own net: include the other one with net.instance")

    def _input(self, name, spec):
        place = spec.place
        number = len(self.arcs)
        one = self.net._located(self.core.constant(0 if spec.kind != "take" else 1), spec.at)
        self.t.add_input(name, place._number, spec.kind == "empty", one, *self.net._here(spec.at))
        arc = Arc(self.scope, number, name, place.name, place._type.fields, "own")
        self.arcs[name] = arc
        self.specs[name] = spec
        if spec.kind == "take":
            self.t.set_weight(number, self._value(spec.weight, f"{name}.take", "tokens", spec.at))
            if spec.need is not None:
                self.t.set_threshold(number, self._value(spec.need, f"{name}.need", "tokens", spec.at))
        elif spec.kind in ("peek", "watch"):
            self.t.set_threshold(number, self._value(spec.need, f"{name}.{spec.kind}", "tokens", spec.at))
        arc._kind = spec.kind

    def _guard(self, function, at_least=None):
        """A guard stands at the last arc it names, and not before `at_least`."""
        if isinstance(function, (Expr, bool)):
            value = function
            function = lambda: value  # noqa: E731
        if not _is_function(function):
            raise mistake("E-operand", f"a guard is a function of arcs that returns a condition, got "
                          f"{_expr.text_of(function)}")
        order = list(self.arcs)
        if not order:
            raise mistake("E-arc", "a guard needs an input arc to stand at; take or watch a place")
        known = order if at_least is None else order[: order.index(at_least) + 1]
        names = _trace.check_names(function, known, False, _owner(self.name), order[len(known):])
        place = max([order.index(n) for n in names], default=0)
        if at_least is not None:
            place = order.index(at_least)
        if self.specs[order[place]].kind == "empty":
            raise mistake("E-arc", f"the guard would stand at arc '{order[place]}', which needs an empty place; "
                          "name an arc that takes, peeks or watches last")
        at = _source.of_function(function) or self.at
        with within("guard"):
            number = _trace.trace(self.scope, function, self.arcs, "bool")
        old = self.t.inputs[place].guard
        if old is not None:
            number = self.core.logical_and(old[0], number)
        self.t.set_guard(place, self.net._located(number, at))

    # Formulas.

    def _value(self, value, part, what, at=None, index=False):
        """An int formula over the arcs known so far."""
        with within(part):
            if _is_function(value):
                _trace.check_names(value, list(self.arcs), index, _owner(self.name), self.later)
                arguments = self.arcs
                if index:
                    arguments = dict(self.arcs, i=Expr(self.scope, self.core.index()))
                number = _trace.trace(self.scope, value, arguments, "int", what)
                return self.net._located(number, _source.of_function(value) or at or self.at)
            if isinstance(value, Expr):
                if value._scope.core is not self.core or value._scope.transition is not None:
                    raise mistake("E-foreign", f"{value._text()} belongs to {value._scope.label}; use a function of "
                                  "arcs, or a parameter of this net")
                return self.net._located(value._int()._id, at or self.at)
            if value is None:
                raise mistake("E-operand", f"{part} is None; write a number, a parameter or a function of arcs")
            if isinstance(value, _expr.Ratio) or type(value).__name__ == "Fraction":
                raise mistake("E-result", f"{part} must be int, got ratio {_expr.text_of(value)}; use // or math.ceil "
                              f"to make a whole number of {what}")
            return self.net._located(self.core.constant(_plain(value, part)), at or self.at)

    # Output arcs.

    def _output(self, emission):
        if isinstance(emission, Place):
            if emission._type.fields:
                first = next(iter(emission._type.fields))
                raise mistake("E-emit", f"tokens of '{emission.name}' need values; write "
                              f"{emission.name}.emit({first}=...) or {emission.name}.forward(\"arc\")")
            emission = Emission(emission, None, 1, {}, self.at)
        if not isinstance(emission, Emission):
            raise mistake("E-emit", f"put is a list of place.emit(...) or place.forward(\"arc\"), got {emission!r}")
        place = emission.place
        self._check_place(place, "put")
        kind = place._type
        with within(f"put {place.name}"):
            if emission.arc is not None:
                count, fields = self._forwarded(emission, kind)
            else:
                _check_fields(kind, emission.values, f"{place.name}.emit(...)")
                count, fields = self._value(emission.count, "count", "tokens", emission.at), {}
            for name, value in emission.values.items():
                fields[name] = self._value(value, name, "units", emission.at, index=True)
        self.t.add_emission(place._number, count, [fields[name] for name in kind.fields],
                            *self.net._here(emission.at))

    def _forwarded(self, emission, kind):
        """Count and copied fields of place.forward(arc)."""
        name, core = emission.arc, self.core
        if isinstance(name, ArcSpec) or isinstance(name, Place):
            raise mistake("E-arc-name", f"forward takes the name of an arc, one of: {listed(self.arcs)}; "
                          f"write forward(\"{next(iter(self.arcs), 'arc')}\")")
        if name not in self.arcs:
            raise mistake("E-arc-name", f"forward names '{name}', but the transition's arcs are: {listed(self.arcs)}")
        arc, spec = self.arcs[name], self.specs[name]
        if spec.kind in ("empty", "watch"):
            raise mistake("E-arc", f"arc '{name}' has no token to forward; use peek() or take()")
        _check_fields(kind, emission.values, f"{emission.place.name}.forward(...)", missing_ok=True)
        source = spec.place._type
        lacking = [f for f in kind.fields if f not in source.fields and f not in emission.values]
        if lacking:
            raise mistake("E-emit", f"tokens of '{emission.place.name}' have {listed(lacking)}, which tokens of "
                          f"'{spec.place.name}' lack; write forward(\"{name}\", {lacking[0]}=...)")
        arcs = self.t.inputs[arc._number]
        formula = arcs.weight if spec.kind == "take" else arcs.threshold
        const = core.value(formula[0])
        if const is not None or spec.kind == "peek":
            count = self.net._located(formula[0], emission.at)
        else:
            count = self.net._located(core.taken(arc._number), emission.at)
        which = core.constant(0) if const == 1 else core.index()
        fields = {
            f: self.net._located(core.token(arc._number, source.fields[f], which), emission.at)
            for f in kind.fields if f in source.fields
        }
        return count, fields
