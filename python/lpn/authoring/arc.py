"""What formulas see: arcs and the tokens on them."""

import builtins

from ..errors import listed, mistake
from . import trace
from .expr import Expr, Ratio, Scope, _joined, as_index, extreme, text_of, tracers

__all__ = ["Arc", "TokenProxy", "max", "min", "sum"]


def _field(arc, which, name, scope=None):
    field = arc._fields.get(name)
    if field is None:
        raise mistake(
            "E-field",
            f"arc '{arc._arc_name}' of {arc._scope.label} has no property '{name}'; "
            f"tokens of '{arc._place}' have: {listed(arc._fields)}",
        )
    core = arc._scope.core
    return Expr(scope or arc._scope, core.token(arc._number, field, which))


def _no_number(symbol):
    def method(self, *_):
        raise mistake(
            "E-operand",
            f"cannot compute with {self!r} itself ({symbol}); name a property, as in "
            f"{self._written()}.{next(iter(self._names()), 'x')}, or {self._arc_name}.count for "
            "the tokens in its "
            "place",
        )

    return method


class _NoNumber:
    """Arcs and tokens are no numbers: every operator says so."""

    __slots__ = ()

    __hash__ = object.__hash__


for _name, _symbol in [
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("truediv", "/"),
    ("floordiv", "//"),
    ("mod", "%"),
    ("pow", "**"),
    ("lshift", "<<"),
    ("rshift", ">>"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
    ("divmod", "divmod"),
]:
    setattr(_NoNumber, f"__{_name}__", _no_number(_symbol))
    setattr(_NoNumber, f"__r{_name}__", _no_number(_symbol))
for _name, _symbol in [
    ("neg", "-"),
    ("pos", "+"),
    ("abs", "abs"),
    ("invert", "~"),
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("index", "index"),
    ("int", "int"),
    ("float", "float"),
    ("round", "round"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
]:
    setattr(_NoNumber, f"__{_name}__", _no_number(_symbol))


class TokenProxy(_NoNumber):
    """One token of an arc: its properties are expressions."""

    __slots__ = ("_arc", "_which", "_scope")

    def __init__(self, arc, which, scope=None):
        self._arc = arc
        self._which = which
        self._scope = scope or arc._scope

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _field(self._arc, self._which, name, self._scope)

    @property
    def _arc_name(self):
        return self._arc._arc_name

    def _written(self):
        return f"{self._arc_name}[k]"

    def _names(self):
        return self._arc._fields

    def __repr__(self):
        return f"a token of arc '{self._arc._arc_name}'"

    def __bool__(self):
        raise mistake(
            "E-truth",
            f"a token of arc '{self._arc._arc_name}' is no condition; name a property of it",
        )


def _index(which):
    index = as_index(which)
    if index is None:
        raise mistake("E-index", f"the number of a token must be int, got {text_of(which)}")
    return index


class Arc(_NoNumber):
    """An input arc inside a formula.

    `arc.x`: property x of its token; `arc[k].x` when it needs several; `arc.count`: tokens in its
    place, locked ones too; `arc.free`: unlocked ones; `arc.taken`: tokens that this firing takes.
    """

    __slots__ = ("_scope", "_number", "_arc_name", "_place", "_fields", "_kind")

    def __init__(self, scope, number, name, place, fields, kind):
        """`kind`: "take", "peek", "watch", "empty", or "own" inside its own weight."""
        self._scope = scope
        self._number = number
        self._arc_name = name
        self._place = place
        self._fields = fields  # name -> position
        self._kind = kind

    def __repr__(self):
        return f"arc '{self._arc_name}'"

    def _written(self):
        return self._arc_name

    def _names(self):
        return self._fields

    # The tokens in its place.

    @property
    def count(self):
        return Expr(self._scope, self._scope.core.occupancy(self._number))

    @property
    def free(self):
        return Expr(self._scope, self._scope.core.free(self._number))

    @property
    def taken(self):
        if self._kind == "own":
            raise mistake(
                "E-arc", f"'{self._arc_name}.taken' is read in the weight that decides it"
            )
        arc = self._scope.transition.inputs[self._number]
        weight = Expr(self._scope, arc.weight[0])
        if weight._const() is not None:
            return weight
        return Expr(self._scope, self._scope.core.taken(self._number))

    # The tokens it needs.

    def _needed(self):
        arc = self._scope.transition.inputs[self._number]
        needed = Expr(self._scope, arc.weight[0])
        if arc.threshold is not None:
            needed = extreme("max", [needed, Expr(self._scope, arc.threshold[0])])
        return needed

    def _check_readable(self):
        if self._kind in ("watch", "empty"):
            what = (
                "only watches its place" if self._kind == "watch" else "needs its place to be empty"
            )
            raise mistake(
                "E-arc",
                f"arc '{self._arc_name}' {what}, so it has no token to read; use "
                f"peek() to read a token without taking it, or {self._arc_name}.count",
            )

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._fields:
            return _field(self, 0, name)  # raises
        self._check_readable()
        if self._kind != "own":
            lo, hi = self._needed()._bounds()
            if hi > 1:
                raise mistake(
                    "E-arc",
                    f"arc '{self._arc_name}' needs {'up to ' if lo != hi else ''}"
                    f"{hi if hi < 1 << 31 else 'any number of'} tokens; say which: "
                    f"{self._arc_name}[0].{name}, or lpn.sum({self._arc_name}, lambda t: t.{name})",
                )
        return _field(self, self._scope.core.constant(0), name)

    def __getitem__(self, which):
        self._check_readable()
        if isinstance(which, slice):
            raise mistake(
                "E-arc",
                f"cannot slice the arc '{self._arc_name}'; use lpn.sum, lpn.min or lpn.max "
                "over it, or single tokens: arc[k]",
            )
        if self._kind == "own":
            if isinstance(which, Expr) or which != 0:
                raise mistake(
                    "E-arc",
                    f"of '{self._arc_name}' itself only the head, "
                    f"{self._arc_name}[0], may be read in its weight",
                )
            return TokenProxy(self, self._scope.core.constant(0))
        if isinstance(which, Ratio):
            raise mistake(
                "E-index",
                f"cannot use the ratio {which} as the number of a token; use // or math.ceil",
            )
        if isinstance(which, Expr):
            return TokenProxy(self, which._int()._id, _joined(self._scope, which._scope))
        which = _index(which)
        needed = self._needed()
        const = needed._const()
        if which < 0:
            if const is None:
                return TokenProxy(self, (needed + which)._id)
            which += const
        if which < 0 or const is not None and which >= const:
            raise mistake(
                "E-arc",
                f"arc '{self._arc_name}' needs {const} token{'s' if const != 1 else ''}, so "
                f"there is no token {which}; raise what it takes or peeks",
            )
        return TokenProxy(self, self._scope.core.constant(which))

    def __len__(self):
        const = self._needed()._const() if self._kind not in ("own", "empty", "watch") else None
        if const is None:
            raise mistake(
                "E-arc",
                f"len({self._arc_name}) differs per firing; use {self._arc_name}.taken, or "
                f"{self._arc_name}.count for the tokens in its place",
            )
        return const

    def __iter__(self):
        const = self._needed()._const() if self._kind not in ("own", "empty", "watch") else None
        if const is None or const > 64:
            raise mistake(
                "E-arc",
                f"cannot loop over arc '{self._arc_name}': "
                + (
                    "it needs a number of tokens that differs per firing"
                    if const is None
                    else f"it needs {const} tokens"
                )
                + f"; use lpn.sum({self._arc_name}, lambda t: t.x), lpn.min or lpn.max",
            )
        return iter([self[k] for k in range(const)])

    def __bool__(self):
        raise mistake(
            "E-truth", f"arc '{self._arc_name}' is no condition; write {self._arc_name}.count > 0"
        )


class Looked(Arc):
    """A place that an assertion looks at: how many tokens it has is all there is to read."""

    __slots__ = ()

    @property
    def free(self):
        name = self._arc_name
        raise mistake(
            "E-arc",
            f"an assertion reads no '{name}.free', which changes from start to start within an "
            f"instant; write {name}.count, the tokens in the hands of a firing included",
        )

    @property
    def taken(self):
        name = self._arc_name
        raise mistake("E-arc", f"an assertion takes no tokens; write {name}.count")

    def _check_readable(self):
        name = self._arc_name
        raise mistake(
            "E-arc", f"an assertion looks at no token of '{name}'; write {name}.count, how many"
        )


_depth = [0]  # how many aggregates are being traced inside each other


def _aggregate(op, arc, body):
    arc._check_readable()
    if arc._kind == "own":
        raise mistake(
            "E-arc",
            f"aggregates over the tokens of '{arc._arc_name}' in the weight that decides them",
        )
    scope = arc._scope
    depth = _depth[0]
    _depth[0] += 1
    outer = tracers[-1].scope if tracers else scope
    inner = Scope(scope.core, scope.transition, f"lpn.{op} over arc '{arc._arc_name}'", outer)
    try:
        bound = scope.core.bound(depth)
        number = trace.trace_body(inner, body, TokenProxy(arc, bound, inner), op)
    finally:
        _depth[0] -= 1
    return Expr(outer, scope.core.aggregate(op, arc._number, depth, number))


def sum(values, body=None):
    """lpn.sum(arc, lambda t: t.x): the sum over the tokens that an arc needs; 0 for none.

    Without a body it is Python's sum of an iterable.
    """
    if isinstance(values, Arc) and body is not None:
        return _aggregate("sum", values, body)
    if body is not None:
        return builtins.sum(body(v) for v in values)
    return builtins.sum(values)


def _extreme(name, values):
    if len(values) == 2 and isinstance(values[0], Arc) and callable(values[1]):
        return _aggregate(name, *values)
    if len(values) == 1:
        values = list(values[0])
    if not values:
        raise mistake("E-operand", f"lpn.{name} of nothing")
    return extreme(name, list(values))


def min(*values):
    """The least of several numbers, or lpn.min(arc, lambda t: t.x) over the tokens of an arc.

    Asks no question of the trace. Over an arc that needs no token it is an error of the run.
    """
    return _extreme("min", values)


def max(*values):
    """The greatest of several numbers, or lpn.max(arc, lambda t: t.x); like lpn.min."""
    return _extreme("max", values)
