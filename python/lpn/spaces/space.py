"""Input spaces: what inputs there may be, as markings and parameters over integer variables."""

import itertools

import _lpn

from .. import source
from ..authoring import trace
from ..authoring.check import Spelled, plain
from ..authoring.expr import Expr, Ratio, Scope, as_index, text_of
from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..authoring.unknown import require_known
from ..authoring.place import Place
from ..authoring.token import BORN, birth_of
from ..errors import Error, listed, mistake, near, placed, within
from ..words import counted
from . import document, text
from .arrivals import LATEST, Bucket, Periodic
from .terms import Variables, decided, if_present, plain_or
from .token import SpaceToken, Variable, any_later

__all__ = ["InputSpace"]

# Ranges of variables lie within -WIDEST..WIDEST, so that their differences fit in 64 bits.
WIDEST = 1 << 62
MAX_TOKENS = 1 << 20
MAX_INPUTS = 1_000_000


class InputSpace(Spelled):
    """The inputs of a net: tokens and parameters that may vary, and the relations between them.

    Made by a model's `space(net, **bounds)`. Variables are integers with finite ranges; an input is
    a value for each of them under which every required condition holds. Every method raises Error
    for a mistake, "E-space" unless said otherwise, naming it, what to write instead, and the line.
    """

    def __init__(self, net):
        if not isinstance(net, Net):
            raise mistake("E-space", f"InputSpace needs a net, got {net!r}")
        net.done()
        require_known(net)
        self._net = net
        self._names = {}  # variable -> its number
        self._variables = []
        self._params = {}  # parameter of the net -> its value
        self._set = {}  # parameters that a file gives as the net had them
        self._tokens = {}  # place -> [SpaceToken]
        self._counts = {}  # place -> Expr
        self._constraints = []
        self._done_count = None
        self._made = None
        self._terms = Variables(net.name)
        self._scope = Scope(self._terms, None, f"an input space of net '{net.name}'")
        self._scope.hint = (
            "here: it has a value per input only; join conditions with & and |, use lpn.select, "
            "or write "
            "a function: space.require(lambda: 0 <= x <= 9)"
        )

    # Reading.

    @property
    def net(self):
        return self._net

    @property
    def variables(self):
        """The variables in their order, as Variable."""
        return list(self._variables)

    @property
    def tokens_of(self):
        """Place -> its tokens, as SpaceToken."""
        return {place: list(tokens) for place, tokens in self._tokens.items()}

    def __repr__(self):
        return (
            f"<input space of net '{self._net.name}': "
            f"{counted(len(self._variables), 'variable')}, "
            f"{counted(len(self._constraints), 'constraint')}>"
        )

    def describe(self):
        """The space in words: per place its tokens, the parameters that vary, the constraints."""
        return text.describe(self)

    def text(self, expression):
        """A condition or number of this space, to read."""
        return text.term(self, self._own(expression, "text"))

    # Building.

    def integer(self, name, lo, hi=None, **unknown):
        """A variable in lo..hi, inclusive; the result stands in properties, counts and
        conditions.
        """
        if unknown:
            raise mistake(
                "E-option",
                f"space.integer has no option '{next(iter(unknown))}'; write "
                f"space.integer('{name}', lo, hi)",
            )
        if hi is None and isinstance(lo, tuple) and len(lo) == 2:
            lo, hi = lo
        if hi is None:
            raise mistake(
                "E-space",
                f"variable '{name}' needs its least and its largest value; write "
                f"space.integer('{name}', {text_of(lo)}, ...)",
            )
        if not isinstance(name, str) or not _lpn.is_name(name):
            raise mistake(
                "E-name",
                f"{name!r} cannot name a variable: use letters, digits and _, starting with a "
                "letter or _",
            )
        return self._variable(name, lo, hi)

    def integers(self, name, number, lo, hi):
        """A list of `number` variables name[0], name[1], ..., each in lo..hi."""
        if not isinstance(name, str) or not _lpn.is_name(name):
            raise mistake(
                "E-name",
                f"{name!r} cannot name variables: use letters, digits and _, starting with a "
                "letter or _",
            )
        return [
            self._variable(f"{name}[{k}]", lo, hi)
            for k in range(self._number(number, f"variables '{name}'"))
        ]

    def param(self, name, lo, hi=None):
        """Gives a parameter of the net a value: `param("slots", 4)`, an expression of the space, or
        a range, `param("slots", 4, 8)`, which makes it a variable. Returns the value.

        Parameters not given have their value of the net.
        """
        known = self._known_param(name)
        if name in self._params:
            raise mistake(
                "E-duplicate", f"parameter '{name}' has a value in this space already; give it once"
            )
        if hi is None and isinstance(lo, tuple) and len(lo) == 2:
            lo, hi = lo
        if hi is None:
            value = self._value(lo, f"parameter '{name}'")
            self._fits(value, known.range, f"parameter '{name}'")
        else:
            value = self._variable(name, lo, hi, known.range, f"parameter '{name}'")
        self._params[name] = value
        self._made = None
        return value

    def tokens(self, place, number=None, /, *, count=None, at=None, **properties):
        """The tokens that the workload puts into a place: a list of SpaceToken, in FIFO order.

        A property is given as an int, a range (lo, hi) that makes a variable per token, an
        expression of the space, a list with one of these per token, or a function of the token's
        index that returns one of these. A property that is not given varies over its declared
        range. `count`: how many of the tokens there are in an input, from the first on: an
        expression, or a range; default all `number` of them. Conditions hold for tokens that are
        not there too, unless they say `token.present`.
        `at`: when they arrive, in this order: given as a property is, or as space.periodic(...) or
        space.bucket(...); default all at 0. For tokens with a property `at` it is the property. A
        property `born: lpn.Birth` that is not given is the time of arrival.
        Raises "E-place" and "E-field" for unknown names, "E-range" for values outside a declared
        range.
        """
        place = self._place(place)
        fields = place._type.fields
        if "at" in fields and at is not None:
            properties["at"], at = at, None
        number = self._number(number, f"tokens of place '{place.name}'")
        for name in properties:
            if name not in fields:
                raise mistake(
                    "E-field",
                    f"tokens of place '{place.name}' have no property '{name}'; they have: "
                    f"{listed(fields)}{near(name, fields)}",
                )
        before = self._tokens.get(place.name, [])
        if before and (count is not None or place.name in self._counts):
            raise mistake(
                "E-space",
                f"place '{place.name}' has tokens in this space already, and a count says how "
                "many of them there are; declare all its tokens at once",
            )
        size = self._count(place, number, count)
        times = self._times(place, number, at, before)
        births = birth_of(place._type) and BORN not in properties
        made = []
        with within(f"the tokens of place '{place.name}'"):
            for k in range(number):
                index = len(before) + k
                present = True if size is None else decided(size > index)
                values = {}
                for (name, _), declared in zip(fields.items(), place._type.ranges):
                    if births and name == BORN:
                        values[name] = times[k]
                        continue
                    what = f"{place.name}[{index}].{name}"
                    values[name] = self._property(
                        properties.get(name), properties, name, k, number, what, declared, present
                    )
                made.append(SpaceToken(place.name, index, values, present, times[k]))
        self._tokens[place.name] = before + made
        if size is not None:
            self._counts[place.name] = size
        self._made = None
        return made

    def periodic(self, period, *, jitter=0, offset=0):
        """Times of arrival, for tokens(at=...): one every `period` cycles, the first at `offset` (a
        cycle, or a range of a phase that is not known), each up to `jitter` cycles late.
        """
        return Periodic(period, jitter=jitter, offset=offset)

    def bucket(self, burst, period, *, until):
        """Times of arrival, for tokens(at=...): at most `burst` at once and one more in each `period`
        cycles, the last at `until` at the latest.
        """
        return Bucket(burst, period, until=until)

    def require(self, *conditions):
        """Only inputs under which the conditions hold.

        A condition is a comparison of expressions, several joined with & and |, or a function
        without parameters that returns one, in which Python's `and`, `or`, `not`, `if` and chained
        comparisons work.
        """
        for condition in conditions:
            self._require(condition)

    def _require(self, condition):
        if callable(condition) and not isinstance(condition, (type, Expr)):
            condition = Expr(self._scope, trace.trace(self._scope, condition, {}, "bool"))
        if isinstance(condition, bool):
            if not condition:
                raise mistake(
                    "E-space",
                    "a required condition is False whatever the input is, so the space is "
                    "empty; compare variables of the space",
                )
            return
        if not isinstance(condition, Expr):
            raise mistake(
                "E-space",
                f"a condition must compare expressions of the space, got {text_of(condition)}",
            )
        condition = self._own(condition, "a condition")
        if not condition._is_bool():
            raise mistake(
                "E-space",
                f"a condition must be a comparison, got the number {self.text(condition)}; "
                "compare it with something: x <= 5",
            )
        value = condition._const()
        if value or condition._id in [c._id for c in self._constraints[-8:]]:
            return
        if value is False or condition._bounds()[1] == 0:
            raise mistake(
                "E-space",
                f"{self.text(condition)} never holds within the ranges, so the space is empty; "
                "widen a range or loosen the condition",
            )
        self._constraints.append(condition)
        self._made = None

    @property
    def done_count(self):
        """How many done tokens end the run of every input, as Marking.done_count; None: as the net
        says. Nets with a part that never stops, such as a refresh timer, need it.
        """
        return self._done_count

    @done_count.setter
    def done_count(self, value):
        if value is not None:
            value = plain(value, "done_count")
            if not 0 <= value < 2**63:
                raise mistake("E-space", f"done_count must be 0..2**63-1, got {value}")
        self._done_count = value
        self._made = None

    # Inputs.

    @property
    def core(self):
        """The same space as plain data, for tools: `_lpn.InputSpace`. Checked against the net."""
        if self._made is None:
            terms = self._terms
            params = [
                self._term(self._params[name]) if name in self._params else terms.constant(value)
                for name, value in self._fixed().items()
            ]
            tokens = [
                (
                    self._net[place]._number,
                    [[self._term(v) for v in t._values.values()] for t in tokens],
                    self._counts[place]._id if place in self._counts else None,
                    [self._term(t._at) for t in tokens] if any_later(tokens) else [],
                )
                for place, tokens in self._tokens.items()
            ]
            made = _lpn.InputSpace(terms, params, tokens, [c._id for c in self._constraints])
            if self._done_count is not None:
                made.done_count = self._done_count
            try:
                made.check(self._net._core)
            except _lpn.Error as error:
                raise placed(error) from None
            self._made = made
        return self._made

    def done(self):
        """Declares the space complete: checks it against the net, and returns it."""
        self.core
        return self

    def contains(self, values):
        """Whether the values are an input: within their ranges, and every condition holds.

        `values`: {variable: int}, or ints in the order of `variables`.
        """
        return self.core.contains(self._ordered(values))

    def marking(self, values):
        """The tokens of an input, as lpn.Marking. Raises "E-range" for tokens that no place
        takes.
        """
        marking = Marking(self._net)
        try:
            marking._core = self.core.marking_of(self._net._core, self._ordered(values))
        except _lpn.Error as error:
            raise placed(error) from None
        return marking

    def parameters(self, values):
        """The net's parameters for an input: {name: int}."""
        try:
            found = self.core.params_of(self._net._core, self._ordered(values))
        except _lpn.Error as error:
            raise placed(error) from None
        return dict(zip(self._net.params, found))

    def assignment(self, values):
        """Ints in the order of the variables as {variable: int}, and such a dict checked."""
        return dict(zip(self._names, self._ordered(values)))

    def inputs(self, limit=MAX_INPUTS):
        """Every input, as {variable: int}, in lexicographic order. For small spaces: raises when
        the ranges alone allow more than `limit`.
        """
        if self.core.assignments(limit) is None:
            raise mistake(
                "E-space",
                f"the ranges of {counted(len(self._variables), 'variable')} allow more than "
                f"{limit} assignments; list the inputs of small spaces only",
            )
        return [dict(zip(self._names, values)) for values in self.core.inputs()]

    # As data.

    def to_json(self, terms=None):
        """The space as plain lists, dicts, ints and strings; from_json reads it.

        Terms share nodes: `nodes[k]` is [operator, ...] with the numbers of earlier nodes. `fixed`:
        the parameters that the space leaves to the net, with the values they have there. `terms`:
        numbers of more terms to be written, by name.
        """
        return document.written(self, terms)

    @classmethod
    def from_json(cls, net, data):
        """The space that to_json wrote, for a net. Raises Error "E-space" for anything else."""
        space = cls(net)
        try:
            document.read(space, data)
        except Error:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise mistake(
                "E-space",
                f"this is no input space as to_json writes it ({type(error).__name__}: "
                f"{error})",
            ) from None
        return space.done()

    def __reduce__(self):
        """Pickles as the net and its JSON form."""
        return InputSpace.from_json, (self._net, self.to_json())

    # Parts.

    def _variable(self, name, lo, hi, declared=None, what=None):
        what = what or f"variable '{name}'"
        lo, hi = (plain(v, f"the range of {what}") for v in (lo, hi))
        if lo > hi:
            raise mistake(
                "E-space", f"{what} has the empty range {lo}..{hi}; write the least value first"
            )
        if declared is not None and (lo < declared[0] or hi > declared[1]):
            raise mistake(
                "E-range",
                f"{what} has the range {lo}..{hi}, but declared is {declared[0]}..{declared[1]}; "
                "stay within it",
            )
        if lo < -WIDEST or hi > WIDEST:
            raise mistake(
                "E-space",
                f"{what} has the range {lo}..{hi}; a variable lies within -2**62..2**62, so give "
                "it the range that occurs",
            )
        if name in self._names:
            raise mistake(
                "E-duplicate", f"the space has a variable '{name}' already; choose another name"
            )
        filename, line = source.caller()
        file = self._terms.file(source.shown(filename)) if line else 0
        number = self._terms.add_param(name, lo, (lo, hi), file, line)
        self._names[name] = number
        self._variables.append(Variable(name, lo, hi))
        self._made = None
        return Expr(self._scope, self._terms.param(number))

    def _property(self, given, properties, name, k, number, what, declared, present):
        """One property of one token: an int or an Expr."""
        if name not in properties:
            if declared is None:
                raise mistake(
                    "E-space",
                    f"property '{name}' has no declared range, so its variable needs one; write "
                    f"{name}=(lo, hi), or declare {name}: lpn.Int[lo, hi]",
                )
            if declared[0] < -WIDEST or declared[1] > WIDEST:
                raise mistake(
                    "E-space",
                    f"property '{name}' is declared for {declared[0]}..{declared[1]}, too wide for "
                    f"a variable; write {name}=(lo, hi) with the range that occurs",
                )
            given = tuple(declared)
        elif callable(given) and not isinstance(given, (type, Expr)):
            try:
                given = given(k)
            except Error:
                raise
            except Exception as error:
                raise mistake(
                    "E-space",
                    f"the function for property '{name}' raised {type(error).__name__}: {error} "
                    f"for token {k}; it is called with the index of each token",
                ) from error
        elif isinstance(given, list):
            if len(given) != number:
                raise mistake(
                    "E-space",
                    f"property '{name}' has {len(given)} values for {number} tokens; give one per "
                    "token",
                )
            given = given[k]
        if isinstance(given, tuple):
            if len(given) != 2:
                raise mistake(
                    "E-space",
                    f"property '{name}' must be a range (lo, hi), got {given!r}; give values per "
                    "token as a list",
                )
            return self._variable(what, *given, declared, f"property '{name}'")
        value = self._value(given, f"property '{name}'")
        self._fits(value, declared, what, present)
        return value

    @property
    def _arrives(self):
        """Whether some token comes later than 0."""
        return any(map(any_later, self._tokens.values()))

    def _times(self, place, number, at, before):
        """When each of the tokens arrives, as ints and expressions, in this order."""
        what = f"{place.name}[{{}}].at"
        if at is None:
            times = [0] * number
        elif isinstance(at, (Periodic, Bucket)):
            times = at.times(
                number,
                lambda k, lo, hi: self._variable(what.format(len(before) + k), lo, hi),
                lambda condition: self._require(condition),
            )
        else:
            times = [
                self._property(
                    at, {"at": at}, "at", k, number, what.format(len(before) + k), (0, LATEST), True
                )
                for k in range(number)
            ]
        last = [token._at for token in before[-1:]]
        for earlier, later in zip(last + times, (last + times)[1:]):
            order = later >= earlier
            if order is False or not isinstance(order, bool) and not order._bounds()[1]:
                raise mistake(
                    "E-space",
                    f"tokens of place '{place.name}' must arrive in their order; give their times "
                    "from the earliest on",
                )
            if not isinstance(order, bool) and not order._bounds()[0]:
                self._require(order)
        return times

    def _count(self, place, number, count):
        """The number of tokens as an Expr, or None for all of them."""
        if count is None:
            return None
        what = f"the number of tokens of place '{place.name}'"
        if isinstance(count, tuple):
            if len(count) != 2:
                raise mistake("E-space", f"{what} must be a range (lo, hi), got {count!r}")
            return self._variable(f"{place.name}.count", *count, (0, number), what)
        count = self._value(count, what)
        if isinstance(count, int):
            count = Expr(self._scope, self._terms.constant(count))
        self._fits(count, (0, number), what)
        return count

    def _fits(self, value, declared, what, present=True):
        """An int in its declared range; for an expression that may leave it, the inputs that do
        not.
        """
        if declared is None:
            return
        lo, hi = declared
        if isinstance(value, int):
            if not lo <= value <= hi:
                raise mistake("E-range", f"{what} = {value} is outside its range {lo}..{hi}")
            return
        least, most = value._bounds()
        if least > hi or most < lo:
            raise mistake(
                "E-range",
                f"{what} = {self.text(value)} is {least}..{most}, outside its range {lo}..{hi}",
            )
        if present is False:
            return
        for inside in ([value >= lo] if least < lo else []) + ([value <= hi] if most > hi else []):
            self._require(inside if present is True else if_present(present, inside))

    def _value(self, value, what):
        """An int, or an int expression of this space."""
        if isinstance(value, Expr):
            return plain_or(self._own(value, what)._int())
        if isinstance(value, Ratio):
            raise mistake(
                "E-space",
                f"{what} is the ratio {text_of(value)}; use // or math.ceil to make a whole number",
            )
        if as_index(value) is None:
            raise mistake(
                "E-space",
                f"{what} must be an int, a range (lo, hi) or an expression of the space, got "
                f"{text_of(value)}",
            )
        return plain(value, what)

    def _own(self, expr, what):
        if expr._scope is not self._scope:
            owner = expr._scope.label
            if owner == self._scope.label:
                owner = "another input space"
            raise mistake(
                "E-foreign",
                f"{what} reads {owner}; use variables of this space, which "
                "space.integer, space.param and space.tokens return",
            )
        return expr

    def _term(self, value):
        return value._id if isinstance(value, Expr) else self._terms.constant(value)

    def _fixed(self):
        """The parameters' values in the net, in order."""
        return dict(zip(self._net.params, parameter_values(self._net, self._set)))

    def _known_param(self, name):
        for param in self._net._core.params:
            if param.name == name:
                return param
        raise mistake(
            "E-param",
            f"net '{self._net.name}' has no parameter '{name}'; it has: "
            f"{listed(self._net.params)}{near(name, self._net.params)}",
        )

    def _place(self, place):
        if isinstance(place, Place):
            if place._net is not self._net:
                raise mistake(
                    "E-foreign",
                    f"place '{place.name}' belongs to net '{place._net.name}', the space to net "
                    f"'{self._net.name}'",
                )
            return place
        found = self._net._places.get(place) if isinstance(place, str) else None
        if found is None:
            raise mistake(
                "E-place",
                f"net '{self._net.name}' has no place {place!r}; it has: "
                f"{listed(self._net._places)}{near(place, self._net._places)}",
            )
        return found

    def _number(self, number, what):
        index = as_index(number)
        if index is None or not 0 <= index <= MAX_TOKENS:
            raise mistake(
                "E-space",
                f"the number of {what} must be an int in 0..{MAX_TOKENS}, got "
                f"{text_of(number)}"
                + (
                    "; give the most there can be, and count=... for how many there are"
                    if isinstance(number, Expr)
                    else ""
                ),
            )
        return index

    def _ordered(self, values):
        """The values in the order of the variables."""
        if hasattr(values, "keys"):
            for name in values:
                if name not in self._names:
                    raise mistake(
                        "E-space",
                        f"the space has no variable '{name}'; it has: {self._some_names()}"
                        f"{near(name, self._names)}",
                    )
            lacking = [name for name in self._names if name not in values]
            if lacking:
                raise mistake(
                    "E-space",
                    f"variable '{lacking[0]}' has no value"
                    + (f", nor have {len(lacking) - 1} others" if len(lacking) > 1 else ""),
                )
            values = [values[name] for name in self._names]
        if values is None:
            raise mistake(
                "E-space",
                "there are no values: a question that was not answered has no witness; look at its "
                "verdict first",
            )
        values = list(values)
        if len(values) != len(self._variables):
            raise mistake(
                "E-space",
                f"{len(values)} values for {counted(len(self._variables), 'variable')}; give one "
                "each, in order",
            )
        return [plain(value, f"variable '{v.name}'") for value, v in zip(values, self._variables)]

    def _some_names(self):
        names = list(itertools.islice(self._names, 8))
        return listed(names) + (f" and {len(self._names) - 8} more" if len(self._names) > 8 else "")
