"""Nets as authors write them: places, transitions with named arcs, parameters, instances."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import _lpn

from .. import source
from ..errors import listed, mistake, placed, within
from ..output_file import written
from . import trace
from .check import Spelled, check_fields, check_name, check_options, flag, plain
from .expr import Expr, Scope, as_index
from .place import Place, Tokens, Type
from .ticks import Ticks
from .token import Token
from .transition import TransitionBuilder
from .unknown import Alone, Unknown, Use, require_known, stands_alone

__all__ = ["Bound", "Instance", "Net", "parameter_values"]


class Instance:
    """A net inside another one, made by net.instance: `instance["out"]` is its place "out"."""

    def __init__(self, net, prefix, places):
        self.net = net
        self.prefix = prefix
        self.places = places

    def __getitem__(self, name):
        if name not in self.places:
            raise mistake(
                "E-place",
                f"instance '{self.prefix}' has no place '{name}'; it has: {listed(self.places)}",
            )
        return self.places[name]

    def __repr__(self):
        return f"<instance '{self.prefix}' in net '{self.net.name}'>"


class Bound(Mapping):
    """Values of parameters by name, which cannot be changed. `read`: those that were looked at.

    A sweep parses an input again only for other values of what its workload read.
    """

    def __init__(self, values):
        self._values = dict(values)
        self.read = {}

    def __getitem__(self, name: str) -> int:
        value = self._values[name]
        self.read[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self):
        return repr(dict(self))

    def __reduce__(self):  # a copy knows of no reads, so that making one reads all
        return dict, (dict(self),)


class Net(Spelled):
    """A Latency Petri Net under construction, and afterwards the net that engines run.

    `name` is a word of letters, digits and _. Times are cycles of the modelled clock. Every method
    raises lpn.Error for a mistake, naming it, what to write instead, and the line.
    """

    def __init__(self, name: str) -> None:
        check_name(name, "net", dots=True)
        self._begin(_lpn.Net(name))

    def _begin(self, core):
        self._core = core
        self._scope = Scope(core, None, f"net '{core.name}'")
        self._places = {}
        self._transitions = {}
        self._params = {}
        self._types = {}
        self._unknowns = {}
        self._of_instances: Ticks | None = None
        self.bound = {}
        self._checked = False
        self._compiling: dict = {}  # what lpn.runs.background compiles of it as it is

    @classmethod
    def _of(cls, core):
        """A Net around one that exists already: parsed from text."""
        net = cls.__new__(cls)
        net._begin(core)
        kinds = []
        for number, kind in enumerate(core.types):
            kinds.append(
                Type(
                    number, kind.name, [f.name for f in kind.fields], [f.range for f in kind.fields]
                )
            )
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
    def name(self) -> str:
        return self._core.name

    @property
    def core(self) -> Any:
        """The same net as plain data, for tools: `_lpn.Net`."""
        return self._core

    @property
    def places(self) -> dict[str, Place]:
        """Name -> Place, in order of declaration."""
        return dict(self._places)

    @property
    def transitions(self) -> list[str]:
        """The transitions' names in order of declaration, which is their priority."""
        return list(self._transitions)

    @property
    def params(self) -> dict[str, int]:
        """Name -> default value."""
        return {p.name: p.value for p in self._core.params}

    @property
    def unknowns(self) -> dict[str, Unknown]:
        """Name -> Unknown, what lpn.unknown() stands for; each is a parameter of the net too."""
        return dict(self._unknowns)

    @property
    def bound(self) -> Mapping[str, int]:
        """Name -> value of the parameters that were given one when the model was loaded; read-only.

        A workload reads here what it depends on: `net.bound["slots"]`.
        """
        return self._bound

    @bound.setter
    def bound(self, values):
        self._bound = values if isinstance(values, Bound) else Bound(values)

    def __getitem__(self, name: str) -> Place:
        """The place of that name."""
        place = self._places.get(name)
        if place is None:
            raise mistake(
                "E-place",
                f"net '{self.name}' has no place '{name}'; it has: {listed(self._places)}",
            )
        return place

    def __repr__(self):
        return (
            f"<net '{self.name}': {len(self._places)} places, {len(self._transitions)} "
            "transitions, "
            f"{len(self._params)} parameters>"
        )

    # Building.

    def param(
        self, name: str, default: int, range: tuple[int, int] | None = None, **unknown: Any
    ) -> Expr:
        """A named integer of the net, constant during a run, that the user may set.

        `range`: inclusive (lo, hi). The result may stand in formulas, init, capacity, servers and
        clock.
        """
        check_options("param", unknown, ("default", "range"))
        check_name(name, "parameter", dots=True)
        if name in self._params:
            self._taken("parameter", name, next(p for p in self._core.params if p.name == name))
        default = plain(default, f"the default of parameter '{name}'")
        if range is not None:
            if not isinstance(range, (tuple, list)) or len(range) != 2:
                raise mistake(
                    "E-param",
                    f"the range of parameter '{name}' must be (lowest, highest), got {range!r}",
                )
            lo, hi = (plain(v, f"the range of parameter '{name}'") for v in range)
            if not lo <= default <= hi:
                raise mistake(
                    "E-param",
                    f"parameter '{name}': default {default} is not in its range {lo}..{hi}",
                )
            range = (lo, hi)
        number = self._core.add_param(name, default, range, *self._here())
        self._checked = False
        self._params[name] = Expr(self._scope, self._core.param(number))
        return self._params[name]

    def place(
        self,
        name,
        type=None,
        *,
        capacity=None,
        init=None,
        start=False,
        done=False,
        drain=False,
        sink=False,
        **unknown,
    ):
        """A FIFO.

        `type`: a subclass of lpn.Token; None: tokens only count. `capacity`: most tokens it holds,
        int or parameter. `init`: tokens at time 0: a number of them, a list of dicts or tokens for
        a type with properties, or lpn.tokens(...). `start`: the workload fills it; it must drain.
        `done`: its production is what latency measures. `drain`: it must be empty at the end, else
        the run is stalled. `sink`: nothing is meant to take from it.
        """
        check_options(
            "place", unknown, ("type", "capacity", "init", "start", "done", "drain", "sink")
        )
        check_name(name, "place", dots=True)
        with within(f"net '{self.name}', place '{name}'"):
            kind = self._type(type)
        return self._add_place(name, kind, capacity, init, start, done, drain, sink)

    def _add_place(
        self, name, kind, capacity=None, init=None, start=False, done=False, drain=False, sink=False
    ):
        check_name(name, "place", dots=True)
        if name in self._places:
            self._taken("place", name, self._core.places[self._places[name]._number])
        with within(f"net '{self.name}', place '{name}'"):
            if isinstance(capacity, Alone):
                capacity = stands_alone(self, capacity, "place", name, "capacity")
            if isinstance(init, Alone):
                init = stands_alone(self, init, "place", name, "init")
            limit = self._formula(capacity, "the capacity") if capacity is not None else None
            groups = self._initial(kind, init)
            file, line = self._here()
            number = self._core.add_place(
                name,
                kind.number,
                limit,
                start=flag(start, "start"),
                done=flag(done, "done"),
                drain=flag(drain, "drain"),
                sink=flag(sink, "sink"),
                file=file,
                line=line,
            )
        for count, fields in groups:
            self._core.add_initial(number, count, fields)
        self._checked = False
        place = Place(self, number, kind, name)
        self._places[name] = place
        return place

    def transition(
        self,
        name,
        take=None,
        put=(),
        *,
        delay=0,
        guard=None,
        servers=None,
        interval=None,
        ordered=False,
        clock=None,
        **unknown,
    ):
        """A piece of hardware that takes tokens, works `delay` cycles and puts tokens.

        `take`: {arc: place or place.take(...), .peek(...), .empty(), .watch()}; formulas call the
        tokens by the arc's name. `put`: list of place.emit(...), place.forward("arc"), or a place
        whose tokens only count. `delay` and `interval` (least cycles between two starts): int,
        parameter, or a function of arcs. `guard`: a function of arcs that returns a condition; it
        belongs to the last arc it names. `servers`: most firings at once, int or parameter (None:
        unbounded). `ordered`: commits do not overtake. `clock`: (period, phase) in ticks.
        Priority is the order of declaration.
        """
        check_options(
            "transition",
            unknown,
            ("take", "put", "delay", "guard", "servers", "interval", "ordered", "clock"),
        )
        check_name(name, "transition", dots=True)
        if name in self._transitions:
            self._taken("transition", name, self._core.transitions[self._transitions[name]])
        with within(f"net '{self.name}', transition '{name}'"):
            built = TransitionBuilder(self, name).build(
                take, put, delay, guard, servers, interval, ordered, clock
            )
        number = self._core.add_transition(built)
        self._transitions[name] = number
        self._checked = False

    def always(self, name: str, look: Any, holds: Any) -> None:
        """An assertion: a condition over the marking that holds at every instant of a run.

        `look`: {name: place}, or a list of places; `holds`: a function of these that returns a
        condition over how many tokens are where, as `lambda queue, credits: queue.count +
        credits.count == 4`. It is looked at whenever commits or arrivals have changed a count. A run
        in which it does not hold ends with RunError "E-assume", which names the assertion, the time,
        the counts and the line. It is a transition that never starts, so every engine, the text form
        and proofs know it; the places it looks at are run by events.
        """
        check_name(name, "assertion", dots=True)
        if name in self._transitions:
            self._taken("transition", name, self._core.transitions[self._transitions[name]])
        with within(f"net '{self.name}', assertion '{name}'"):
            built = TransitionBuilder(self, name).build_assertion(look, holds)
        self._transitions[name] = self._core.add_transition(built)
        self._checked = False

    @property
    def assertions(self) -> list[str]:
        """The names of the assertions, those of instances included."""
        return [name for name, k in self._transitions.items() if _lpn.is_assertion(self._core, k)]

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

    @property
    def frequency(self) -> int | None:
        """Ticks a second of this net's time, for people to read: tables and pages then say ns, us and
        ms beside cycles. No run depends on it. None: not stated. Raises Error "E-frequency" for
        anything but a whole number of 1 to 10^15 Hz, and where an instance's frequency and clock
        say otherwise.
        """
        return self._core.frequency

    @frequency.setter
    def frequency(self, value: float | None) -> None:
        whole = value
        if isinstance(value, float) and value.is_integer():
            whole = int(value)  # 250e6
        if whole is not None and (
            isinstance(whole, bool) or not isinstance(whole, int) or not 1 <= whole <= 10**15
        ):
            raise mistake(
                "E-frequency",
                f"the frequency of net '{self.name}' must be ticks a second, a whole number of 1 to "
                f"10^15, got {value!r}; of 1.2 GHz write 1_200_000_000",
            )
        if whole is not None and self._of_instances is not None:
            self._of_instances.require(self.name, Ticks.stated(self.name, whole))
        self._core.frequency = whole
        self._checked = False

    def done(self) -> Net:
        """Declares the net complete: checks every rule and returns the net.

        Raises Error with all violations, one per line. Simulating and printing call it.
        """
        if not self._checked:
            self._core.require_valid()
            self._checked = True
            self._compiling = {}
        return self

    def text(self) -> str:
        """The net as a .lpn file. Raises Error "E-unknown" for a net with unknowns."""
        self.done()
        require_known(self)
        return self._core.print()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the net as a .lpn file."""
        text = self.text()
        with written(path) as file:
            file.write(text)

    @classmethod
    def parse(cls, text: str) -> Net:
        """The net that a .lpn text describes. Raises Error "E-text" with line and column."""
        net = cls._of(_lpn.parse_net(text))
        net._checked = True
        return net

    def __reduce__(self):
        """Pickles as its .lpn text."""
        return _unpickled, (self.text(), dict(self.bound))

    def instance(self, part, prefix, connect=None, params=None, clock=None, **unknown):
        """A copy of another net inside this one; returns an Instance.

        Its place "p" becomes "prefix.p", or the place of this net that `connect` gives: {their
        place: my place}; connected places have equal properties. `params`: {their parameter: int or
        parameter of this net}; those not given become parameters "prefix.name" of this net.
        A connected place keeps this net's start, done and sink; it gets the part's initial tokens
        after its own, and the part's capacity when it has none.

        `clock`: (period, phase) in ticks of this net, or a period: the part's clock. Its transitions
        start on these edges and its delays and intervals count periods; what one of them says of a
        clock counts them, too. Raises Error "E-frequency" where the frequencies of both nets, or of
        two parts, say that they are other ones.
        """
        check_options("instance", unknown, ("connect", "params", "clock"))
        for what, given in (("connect", connect), ("params", params)):
            if given is not None and not isinstance(given, Mapping):
                raise mistake("E-operand", f"{what} of an instance is a dict, got {given!r}")
        if not isinstance(part, Net):
            raise mistake("E-operand", f"instance needs a net, got {part!r}")
        if part is self:
            raise mistake(
                "E-operand",
                f"net '{self.name}' cannot be an instance inside itself; make the part first",
            )
        if not isinstance(prefix, str) or not _lpn.is_name(prefix):
            raise mistake(
                "E-name",
                f"{prefix!r} cannot be the prefix of an instance: use letters, digits and _",
            )
        part.done()
        joined = [None] * len(part._places)
        for theirs, mine in (connect or {}).items():
            name = theirs.name if isinstance(theirs, Place) else theirs
            if name not in part._places or isinstance(theirs, Place) and theirs._net is not part:
                raise mistake(
                    "E-connect",
                    f"net '{part.name}' has no place '{name}'; it has: {listed(part._places)}",
                )
            if not isinstance(mine, Place) or mine._net is not self:
                raise mistake(
                    "E-connect",
                    f"'{name}' of net '{part.name}' must be connected to a place of net "
                    f"'{self.name}', got {mine!r}; give what net.place returned",
                )
            joined[part._places[name]._number] = mine._number
        values = [None] * len(part._params)
        for name, value in (params or {}).items():
            if name not in part._params:
                raise mistake(
                    "E-param",
                    f"net '{part.name}' has no parameter '{name}'; it has: {listed(part._params)}",
                )
            number = next(k for k, p in enumerate(part._core.params) if p.name == name)
            what = f"parameter '{name}' of net '{part.name}'"
            values[number] = self._formula(value, what)[0]
            if isinstance(value, Expr):
                values[number] = self._within_range(
                    value._int(), part._core.params[number].range, what
                )
        if clock is not None:
            given = clock if isinstance(clock, (tuple, list)) else (clock, 0)
            if len(given) != 2:
                raise mistake("E-operand", f"clock must be (period, phase) in ticks, got {clock!r}")
            period, phase = given
            where = f"the clock of instance '{prefix}'"
            if isinstance(period, int) and not isinstance(period, bool) and period < 1:
                raise mistake("E-operand", f"{where} has a period of {period} ticks; at least 1")
            clock = (self._formula(period, where), self._formula(phase, where))
        ticks = self._ticks_of(part, prefix, 1 if clock is None else period)
        try:
            places, transitions, new_params = self._core.add_instance(
                part._core, prefix, joined, values, clock
            )
        except _lpn.Error as error:
            raise placed(error) from None
        self._checked = False
        self._of_instances = self._of_instances or ticks
        for number, kind in enumerate(self._core.types):
            if kind.name not in self._types:
                self._types[kind.name] = Type(
                    number, kind.name, [f.name for f in kind.fields], [f.range for f in kind.fields]
                )
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
                if name in part._unknowns:
                    self._unknowns[f"{prefix}.{name}"] = _inside(part._unknowns[name], prefix)
        by_place = list(self._places.values())
        return Instance(
            self, prefix, {name: by_place[number] for name, number in zip(part._places, places)}
        )

    # Parts.

    @property
    def _ticks(self):
        """Ticks of this net, or None where nothing says what they are."""
        if self.frequency is None:
            return self._of_instances
        return Ticks.stated(self.name, self.frequency)

    def _ticks_of(self, part, prefix, period):
        """What an instance says of this net's Ticks, which is what is known of them already; None
        where it says nothing. Raises Error "E-frequency".
        """
        if part._ticks is None or not isinstance(period, int):
            return None
        ticks = part._ticks.inside(prefix, period)
        if self._ticks is not None:
            ticks.require(self.name, self._ticks)
        return ticks

    def _within_range(self, value, range, what):
        """The number of an expression over parameters that is an error of the run beyond the range
        which a part declares for what stands for it. Raises Error "E-param" where it always is.
        """
        if range is None:
            return value._id
        (least, most), (lowest, highest) = range, value._bounds()
        if lowest > most or highest < least:
            raise mistake(
                "E-param",
                f"{what} is given {value._text()}, which is {lowest}..{highest}, outside its range "
                f"{least}..{most}",
            )
        if least <= lowest and highest <= most:
            return value._id
        core = self._core
        inside = core.logical_and(
            core.le(core.constant(least), value._id), core.le(value._id, core.constant(most))
        )
        return core.assume(inside, value._id, f"{what} is in its range {least}..{most}")

    def _taken(self, what, name, first):
        where = self._core.where(*first.source)
        raise mistake(
            "E-duplicate",
            f"net '{self.name}' has a {what} '{name}' already"
            + (f" (at {where})" if where else "")
            + "; choose another name",
        )

    def _unknown_param(self, name, default, range):
        number = self._core.add_param(name, default, range, *self._here())
        self._checked = False
        self._params[name] = Expr(self._scope, self._core.param(number))
        return self._params[name]

    def _place_like(self, name, other, **options):
        """A place of the same type as another."""
        if not isinstance(other, Place):
            raise mistake("E-arc", f"'{name}' needs a place, got {other!r}")
        if other._net is not self:
            raise mistake(
                "E-foreign",
                f"'{name}' of net '{self.name}' needs a place of that net, got '{other.name}' of net "
                f"'{other._net.name}'; join nets with net.instance",
            )
        return self._add_place(name, other._type, **options)

    def _here(self, at=None):
        filename, line = at or source.caller()
        return (self._core.file(source.shown(filename)) if line else 0), line

    def _located(self, number, at=None):
        """A formula for the C++ side: (expression, file, line)."""
        return (number, *self._here(at))

    def _formula(self, value, what):
        """An int or an expression over parameters."""
        if isinstance(value, Expr):
            if value._scope.core is not self._core:
                raise mistake("E-foreign", f"{what} reads a parameter of another net")
            if value._scope.transition is not None:
                raise mistake(
                    "E-scope",
                    f"{what} reads tokens ({value._text()}); it is decided before the run: "
                    "use ints and parameters",
                )
            return self._located(value._int()._id)
        if callable(value) and not isinstance(value, type):
            raise mistake(
                "E-scope",
                f"{what} is a function, but it is decided before the run, when there is no "
                "token; use an int or a parameter",
            )
        return self._located(self._core.constant(plain(value, what)))

    def _type(self, declared):
        if declared is None or declared is Token:
            name, fields, at = "Token", {}, None
        elif isinstance(declared, type) and issubclass(declared, Token):
            name, fields, at = (
                declared.__name__,
                declared._properties,
                getattr(declared, "_at", None),
            )
        else:
            shown = declared.__name__ if isinstance(declared, type) else repr(declared)
            raise mistake(
                "E-type",
                f"the type of a place must be a subclass of lpn.Token, got {shown}; "
                "write class Block(lpn.Token): nonzero: lpn.Int[0, 63]",
            )
        ranges = [kind.range for kind in fields.values()]
        known = self._types.get(name)
        if known is not None:
            if list(known.fields) != list(fields) or known.ranges != ranges:
                raise mistake(
                    "E-type", f"two different token types are called {name}; rename one of them"
                )
            return known
        number = self._core.add_type(
            name, list(zip(fields, ranges)), *(self._here(at) if at else (0, 0))
        )
        self._types[name] = Type(number, name, list(fields), ranges)
        return self._types[name]

    def _initial(self, kind, init):
        """[(count, [field formulas])] of an `init` argument."""
        if init is None:
            return []
        one = self._located(self._core.constant(1))
        if isinstance(init, Tokens):
            return [self._token_group(kind, init)]
        if isinstance(init, Expr) or as_index(init) is not None:
            if kind.fields:
                first = next(iter(kind.fields))
                raise mistake(
                    "E-initial",
                    f"initial tokens of type {kind.name} need values; write "
                    f"init=[{{'{first}': 0, ...}}] or init=lpn.tokens(count, {first}=...)",
                )
            return [(self._formula(init, "init"), [])]
        if isinstance(init, (dict, Token)):
            init = [init]
        try:
            init = list(init)
        except TypeError:
            raise mistake(
                "E-initial",
                f"init must be a number, a list of tokens or lpn.tokens(...), got {init!r}",
            ) from None
        groups = []
        for token in init:
            if isinstance(token, Tokens):
                groups.append(self._token_group(kind, token))
                continue
            if isinstance(token, Token):
                token = {name: getattr(token, name) for name in token._properties}
            if not isinstance(token, dict):
                raise mistake(
                    "E-initial",
                    f"an initial token must be a dict or an instance of {kind.name}, "
                    f"got {token!r}",
                )
            check_fields(kind, token, "an initial token")
            groups.append(
                (one, [self._formula(token[name], f"property '{name}'") for name in kind.fields])
            )
        return groups

    def _token_group(self, kind, group):
        check_fields(kind, group.values, "lpn.tokens(...)")
        fields = []
        for name in kind.fields:
            value = group.values[name]
            if callable(value) and not isinstance(value, (type, Expr)):
                trace.check_names(value, [], True, f"initial property '{name}'")
                index = Expr(self._scope, self._core.index())
                number = trace.trace(self._scope, value, {"i": index}, "int", "units")
                fields.append(self._located(number, source.of_function(value)))
            else:
                fields.append(self._formula(value, f"property '{name}'"))
        return (self._formula(group.count, "the number of initial tokens"), fields)


def _inside(unknown, prefix):
    """An unknown of a part as one of the net that has the part."""
    uses = [Use(use.kind, f"{prefix}.{use.owner}", use.part) for use in unknown.uses]
    return Unknown(f"{prefix}.{unknown.name}", unknown.open, uses, list(unknown.calls))


def _unpickled(text, bound):
    net = Net.parse(text)
    net.bound = bound
    return net


def parameter_values(net: Net, params: Mapping[str, int] | None) -> list[int]:
    """The values of the net's parameters in order: defaults, then the net's bound ones, then
    `params`.
    """
    given = {**net.bound, **(params or {})}
    pairs = []
    for name, value in given.items():
        if not isinstance(name, str):
            raise mistake("E-param", f"a parameter of net '{net.name}' has a name, got {name!r}")
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise mistake(
                "E-param", f"parameter '{name}' of net '{net.name}' must be int, got {value!r}"
            )
        whole = int(value)
        if not -(2**63) <= whole < 2**63:
            raise mistake(
                "E-param",
                f"parameter '{name}' of net '{net.name}' does not fit in 64 bits: {whole}",
            )
        pairs.append((name, whole))
    try:
        return net._core.bind_params(pairs)
    except _lpn.Error as error:
        raise placed(error) from None
