"""Symbolic numbers: what a traced function computes with in place of token properties.

`Expr` is an int or a bool of the net's expression pool, `Ratio` an exact fraction of two of them.
Both behave like Python's numbers; what a number can do and they cannot raises an Error that says
what to write instead.
"""

from fractions import Fraction

from ..errors import formulas, mistake

__all__ = ["Expr", "Ratio", "Scope", "text_of"]

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
MAX_FORK = 16
MAX_POWER = 64

# The running traces, innermost last (_trace.py); one of them answers bool() of an expression.
tracers = formulas


class Scope:
    """Whose arcs an expression names: those of one transition, or none (parameters only).

    Inside an aggregate there is one more, whose `parent` is the transition's. `hint`: what to write
    where Python asks for the truth of an expression outside of a trace.
    """

    __slots__ = ("core", "transition", "label", "parent", "hint")

    def __init__(self, core, transition=None, label="", parent=None):
        self.core = core
        self.transition = transition
        self.label = label
        self.parent = parent
        self.hint = (
            "while the net is being built: it has no value yet; use lpn.select(condition, a, b), or a plain "
            "Python argument of your function"
        )

    def sees(self, other):
        """Whether an expression of `other` may stand in this scope."""
        if self is other or other.transition is None and self.core is other.core:
            return True
        return self.parent is not None and self.parent.sees(other)


def _joined(a, b):
    """The scope of an expression made of two."""
    if a.sees(b):
        return a
    if b.sees(a):
        return b
    pair = f"an expression of {a.label} is combined with one of {b.label}"
    if a.label == b.label:
        pair = f"an expression kept from {a.label} is used in another one"
    raise mistake(
        "E-foreign",
        f"{pair}; an expression lives only "
        "inside the function that received its arcs, and a parameter only in its net",
    )


def check_visible(scope, expr):
    """Raises Error "E-foreign" unless the expression may stand in the scope."""
    if not scope.sees(expr._scope):
        raise mistake(
            "E-foreign",
            f"{expr._text()} is an expression of {expr._scope.label} and is used in {scope.label}; an expression "
            "lives only inside the function that received its arcs or tokens, and a parameter only in its net",
        )


def as_index(value):
    """The int that a number of Python or numpy is; None for anything else."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (Expr, Ratio)) or hasattr(value, "_arc_name"):
        return None
    method = getattr(type(value), "__index__", None)
    if method is None:
        return None
    try:
        return method(value)
    except TypeError:  # an array
        return None


def _constant(scope, value):
    value = int(value)
    if not INT_MIN <= value <= INT_MAX:
        raise mistake("E-overflow", f"{value} does not fit in 64 bits")
    return Expr(scope, scope.core.constant(value))


def _exact(value):
    """A float as a fraction, when it is one that an author can have meant."""
    if value != value or value in (float("inf"), float("-inf")):
        raise mistake("E-float", f"{value} is not a number of cycles")
    fraction = Fraction(value)
    if fraction.denominator > 1 << 20:
        near = fraction.limit_denominator(1000)
        times = "x" if near.numerator == 1 else f"x * {near.numerator}"
        raise mistake(
            "E-float",
            f"{value!r} is a rounded float; formulas are exact: write {times} / {near.denominator} in place "
            f"of x * {value!r}, or fractions.Fraction({near.numerator}, {near.denominator})",
        )
    return fraction


def text_of(value):
    """A value as messages show it."""
    if isinstance(value, (Expr, Ratio)):
        return value._text()
    if isinstance(value, bool):
        return str(value)
    if value is None:
        return "None"
    if isinstance(value, (int, float, str, Fraction)):
        return repr(value) if isinstance(value, str) else str(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return repr(value) if len(repr(value)) < 40 else f"a {type(value).__name__}"


def _number(scope, value, doing):
    """`value` as an int Expr, a Ratio or a Fraction; `doing`, a function, says what for: the text of a
    large expression takes longer than making it.
    """
    if isinstance(value, Expr):
        _joined(scope, value._scope)
        return value._int()
    if isinstance(value, (Ratio, Fraction)):
        return value
    if isinstance(value, float):
        return _exact(value)
    if isinstance(value, int):
        return _constant(scope, value)
    name = getattr(value, "_arc_name", None)
    if name is not None:
        raise mistake(
            "E-operand",
            f"cannot {doing()} {value!r} itself; name a property, as in "
            f"{value._written()}.{next(iter(value._names()), 'x')}, or {name}.count for the tokens in its place",
        )
    index = as_index(value)
    if index is not None:
        return _constant(scope, index)
    raise mistake("E-operand", f"cannot {doing()} {text_of(value)}; formulas are made of numbers")


def _as_ratio(value, scope):
    if isinstance(value, Ratio):
        return value
    if isinstance(value, Fraction):
        return Ratio(scope, _constant(scope, value.numerator), value.denominator)
    return Ratio(scope, value, 1)


def _binary(symbol, core_name, ratio_name):
    """The pair of methods of one arithmetic operator of Expr."""

    def compute(scope, left, right):
        core = scope.core
        return Expr(scope, getattr(core, core_name)(left._id, right._id))

    def method(self, other):
        other = _number(self._scope, other, lambda: f"compute {self._text()} {symbol}")
        if isinstance(other, Expr):
            return compute(_joined(self._scope, other._scope), self._int(), other)
        left = _as_ratio(self._int(), self._scope)
        return getattr(left, ratio_name)(_as_ratio(other, self._scope))

    def reflected(self, other):
        other = _number(
            self._scope, other, lambda: f"compute with {self._text()} the operator {symbol} and"
        )
        if isinstance(other, Expr):
            return compute(_joined(self._scope, other._scope), other, self._int())
        right = _as_ratio(self._int(), self._scope)
        return getattr(_as_ratio(other, self._scope), ratio_name)(right)

    return method, reflected


def _is_condition(value):
    return isinstance(value, bool) or isinstance(value, Expr) and value._is_bool()


def _truth(x):
    """A bool property, which is a number 0 or 1, beside a condition: a condition as well."""
    if isinstance(x, Expr) and not x._is_bool() and x._scope.core is not None:
        try:
            lo, hi = x._bounds()
        except AttributeError:  # of a space, which has no transition
            return x
        if (lo, hi) in ((0, 0), (0, 1), (1, 1)):
            return x != 0
    return x


def _bits(symbol, core_name, logic_name=None):
    """The pair of methods of one operator on bits of Expr; of two conditions it is their logic."""

    def compute(left, right, scope):
        core = scope.core
        if logic_name is not None and _is_condition(left) != _is_condition(right):
            left, right = _truth(left), _truth(right)
        if logic_name is not None and _is_condition(left) and _is_condition(right):
            left, right = (
                Expr(scope, core.boolean(x)) if isinstance(x, bool) else x for x in (left, right)
            )
            if logic_name == "ne":
                return left != right
            joined = _joined(left._scope, right._scope)
            return Expr(joined, getattr(core, logic_name)(left._id, right._id))

        def written():
            return f" {symbol} ".join(
                f"({text_of(x)})" if isinstance(x, Expr) and x._is_bool() else text_of(x)
                for x in (left, right)
            )

        operands = []
        for operand in (left, right):
            if _is_condition(operand):
                raise mistake(
                    "E-operand",
                    f"cannot compute {written()}: {text_of(operand)} is a condition; write and, or, "
                    "not, or lpn.select(condition, a, b)",
                )
            number = _number(scope, operand, lambda: f"compute {written()} with")
            if not isinstance(number, Expr):
                raise mistake(
                    "E-operand",
                    f"cannot compute {written()}: bits are of whole numbers; round with //, "
                    "math.floor or math.ceil",
                )
            operands.append(number)
        _check_shift(core_name, operands[1], written)
        joined = _joined(operands[0]._scope, operands[1]._scope)
        return Expr(joined, getattr(core, core_name)(operands[0]._id, operands[1]._id))

    def method(self, other):
        return compute(self, other, self._scope)

    def reflected(self, other):
        return compute(other, self, self._scope)

    return method, reflected


def _check_shift(core_name, count, written):
    const = count._const()
    if core_name.startswith("shift_") and const is not None and not 0 <= const <= 63:
        raise mistake("E-shift", f"cannot compute {written()}; a shift must be 0..63")


def _comparison(symbol, core_name):
    def method(self, other):
        if (
            symbol in ("==", "!=")
            and isinstance(other, Expr)
            and self._is_bool()
            and other._is_bool()
        ):
            scope = _joined(self._scope, other._scope)
            same = scope.core.select(self._id, other._id, scope.core.logical_not(other._id))
            return Expr(scope, same if symbol == "==" else scope.core.logical_not(same))
        other = _number(self._scope, other, lambda: f"compare {self._text()} {symbol}")
        if isinstance(other, Expr):
            scope = _joined(self._scope, other._scope)
            return _compare(scope, core_name, self._int(), other)
        return _compare_ratios(
            core_name, _as_ratio(self._int(), self._scope), _as_ratio(other, self._scope)
        )

    return method


def _compare(scope, name, left, right):
    core = scope.core
    if name == "gt":
        return Expr(scope, core.lt(right._id, left._id))
    if name == "ge":
        return Expr(scope, core.le(right._id, left._id))
    return Expr(scope, getattr(core, name)(left._id, right._id))


def _compare_ratios(name, left, right):
    scope = _joined(left._scope, right._scope)
    return _compare(scope, name, left._num * right._den, right._num * left._den)


def _ask(expr):
    """The answer to bool(expr): a constant's value, or the running trace's."""
    value = expr._scope.core.value(expr._id)
    if value is not None:
        return bool(value)
    if not tracers:
        raise mistake(
            "E-truth",
            f"cannot decide {expr._text()} {expr._scope.hint}",
        )
    return tracers[-1].answer(expr)


class Expr:
    """An int or bool that depends on tokens or parameters."""

    __slots__ = ("_scope", "_id")
    __array_ufunc__ = None  # numpy's numbers leave the operators to us

    def __init__(self, scope, number):
        self._scope = scope
        self._id = number

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise mistake(
            "E-operand",
            f"{self._text()} is a number and has no '{name}'; formulas have arithmetic, "
            "comparisons and lpn.lookup(table, x)",
        )

    # What it is.

    def _is_bool(self):
        return self._scope.core.is_bool(self._id)

    def _int(self):
        if not self._is_bool():
            return self
        return Expr(self._scope, self._scope.core.to_int(self._id))

    def _bool(self):
        if self._is_bool():
            return self
        return Expr(self._scope, self._scope.core.to_bool(self._id))

    def _const(self):
        """The value of a constant, else None."""
        return self._scope.core.value(self._id)

    def _bounds(self):
        return self._scope.core.bounds(self._scope.transition, self._id)

    def _text(self):
        return self._scope.core.text(self._scope.transition, self._id)

    def __repr__(self):
        return self._text()

    # Arithmetic.

    __add__, __radd__ = _binary("+", "add", "_plus")
    __sub__, __rsub__ = _binary("-", "sub", "_minus")
    __mul__, __rmul__ = _binary("*", "mul", "_times")

    def __truediv__(self, other):
        other = _number(self._scope, other, lambda: f"divide {self._text()} by")
        return _quotient(_as_ratio(self._int(), self._scope), _as_ratio(other, self._scope))

    def __rtruediv__(self, other):
        other = _number(self._scope, other, lambda: f"divide by {self._text()}")
        return _quotient(_as_ratio(other, self._scope), _as_ratio(self._int(), self._scope))

    def __floordiv__(self, other):
        other = _number(self._scope, other, lambda: f"divide {self._text()} by")
        return _floor_quotient(self._int(), other, self._scope)

    def __rfloordiv__(self, other):
        other = _number(self._scope, other, lambda: f"divide by {self._text()}")
        return _floor_quotient(other, self._int(), self._scope)

    def __mod__(self, other):
        other = _number(self._scope, other, lambda: f"compute {self._text()} %")
        return _remainder(self._int(), other, self._scope)

    def __rmod__(self, other):
        other = _number(self._scope, other, lambda: f"compute modulo {self._text()} of")
        return _remainder(other, self._int(), self._scope)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return Expr(self._scope, self._scope.core.neg(self._int()._id))

    def __pos__(self):
        return self._int()

    def __abs__(self):
        return Expr(self._scope, self._scope.core.abs(self._int()._id))

    def __pow__(self, exponent, modulus=None):
        if modulus is not None:
            return self**exponent % modulus
        exponent = _plain_int(exponent, f"raise {self._text()} to the power", "a constant")
        if not 0 <= exponent <= MAX_POWER:
            raise mistake(
                "E-operand",
                f"cannot raise {self._text()} to the power {exponent}; "
                f"the exponent must be 0..{MAX_POWER}",
            )
        result = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __rpow__(self, base):
        base = _plain_int(base, f"use {self._text()} as the exponent of", "a constant")
        return self._powers(base, f"{base} ** {self._text()}")

    def _powers(self, base, written):
        lo, hi = self._bounds()
        if lo < 0 or hi > MAX_POWER or not -INT_MAX <= base**hi <= INT_MAX:
            raise mistake(
                "E-operand",
                f"cannot compute {written}: the exponent may be {_span(lo, hi)}; "
                "declare a range on the property that keeps the power within 64 bits",
            )
        return lookup([base**k for k in range(hi + 1)], self)

    __lshift__, __rlshift__ = _bits("<<", "shift_left")
    __rshift__, __rrshift__ = _bits(">>", "shift_right")
    __and__, __rand__ = _bits("&", "bit_and", "logical_and")
    __or__, __ror__ = _bits("|", "bit_or", "logical_or")
    __xor__, __rxor__ = _bits("^", "bit_xor", "ne")

    def __invert__(self):
        if self._is_bool():
            raise mistake(
                "E-operand", f"~ of a condition is not 'not' in Python; write not {self._text()}"
            )
        return Expr(self._scope, self._scope.core.bit_not(self._id))

    # Comparisons.

    __eq__ = _comparison("==", "eq")
    __ne__ = _comparison("!=", "ne")
    __lt__ = _comparison("<", "lt")
    __le__ = _comparison("<=", "le")
    __gt__ = _comparison(">", "gt")
    __ge__ = _comparison(">=", "ge")

    def __bool__(self):
        return _ask(self._bool())

    # Conversions Python may ask for.

    def __floor__(self):
        return self._int()

    __ceil__ = __trunc__ = __floor__

    def __round__(self, digits=None):
        if digits is None or isinstance(digits, int) and digits >= 0:
            return self._int()
        raise mistake("E-operand", f"cannot round {self._text()} to tens; use // and *")

    def __index__(self):
        value = self._const()
        if value is not None:
            return int(value)
        lo, hi = self._bounds()
        if not tracers:
            raise mistake(
                "E-index",
                f"cannot use {self._text()} as an index or a range() bound while the net is being "
                "built: it has no value yet; use a plain Python argument of your function",
            )
        if hi - lo >= MAX_FORK:
            raise mistake(
                "E-index",
                f"cannot use {self._text()} as an index or a range() bound: its value differs per "
                f"token.\n  Use lpn.lookup(table, x) for tables and emit(count=x) for repetition,\n"
                f"  or declare a range of at most {MAX_FORK} values on the token field.",
            )
        for value in range(lo, hi):
            if self == value:
                return value
        return hi

    def __int__(self):
        raise mistake(
            "E-operand",
            f"int({self._text()}) is not needed: it is a whole number already; " "leave int() away",
        )

    def __float__(self):
        raise mistake(
            "E-operand",
            f"cannot make a float of {self._text()}; formulas are exact: use /, then "
            "math.ceil or math.floor; for sqrt, log and the like lpn.lookup(table, x)",
        )

    def __hash__(self):
        raise mistake(
            "E-hash",
            f"cannot use {self._text()} as a dict key or set member: its value differs per "
            "token; use lpn.lookup(table, x), or x in (1, 2, 3)",
        )


def _span(lo, hi):
    if lo == INT_MIN and hi == INT_MAX:
        return "any number"
    return f"{lo}..{hi}"


def _plain_int(value, doing, what):
    if isinstance(value, Expr):
        const = value._const()
        if const is not None:
            return int(const)
    elif as_index(value) is not None:
        return as_index(value)
    raise mistake("E-operand", f"cannot {doing} {text_of(value)}; it must be {what}")


def _check_divisor(value, dividend):
    """A divisor that is a constant must not be 0; returns the constant or None."""
    const = value._const() if isinstance(value, Expr) else value
    if const is not None and const == 0:
        raise mistake(
            "E-divisor", f"{text_of(dividend)} is divided by zero; a divisor must be positive"
        )
    return const


def _floor_quotient(left, right, scope):
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        ratio = _quotient(_as_ratio(left, scope), _as_ratio(right, scope))
        return ratio.__floor__()
    const = _check_divisor(right, left)
    scope = _joined(left._scope, right._scope)
    if const is not None and const < 0:
        left, right = -left, _constant(scope, -const)
    return Expr(scope, scope.core.floor_div(left._id, right._id))


def _remainder(left, right, scope):
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        right = _as_ratio(right, scope)
        left = _as_ratio(left, scope)
        return left - right * _quotient(left, right).__floor__()
    const = _check_divisor(right, left)
    scope = _joined(left._scope, right._scope)
    if const is not None and const < 0:
        return -Expr(scope, scope.core.mod((-left)._id, scope.core.constant(-const)))
    return Expr(scope, scope.core.mod(left._id, right._id))


def _quotient(left, right):
    """left / right, both Ratio."""
    scope = _joined(left._scope, right._scope)
    divisor = right._num
    const = _check_divisor(divisor, left)
    if const is not None and const < 0:
        return Ratio(scope, -left._num * right._den, left._den * -const)
    if const is not None:
        divisor = const
    return Ratio(scope, left._num * right._den, left._den * divisor)


class Ratio:
    """An exact fraction: what `/` gives. Ends as an int through //, math.ceil, floor or round."""

    __slots__ = ("_scope", "_num", "_den")
    __array_ufunc__ = None

    def __init__(self, scope, num, den):
        """`num`: an int Expr; `den`: a positive int, or an Expr that must be positive at run
        time.
        """
        self._scope = scope
        if isinstance(den, Expr) and den._const() is not None:
            den = den._const()
        if isinstance(den, int) and not isinstance(num, int) and num._const() is not None:
            fraction = Fraction(num._const(), den)
            num, den = _constant(scope, fraction.numerator), fraction.denominator
        self._num = num
        self._den = den

    def _text(self):
        return f"({self._num._text()} / {text_of(self._den)})"

    def __repr__(self):
        return self._text()

    def _den_expr(self):
        return self._den if isinstance(self._den, Expr) else _constant(self._scope, self._den)

    def _same_den(self, other):
        a, b = self._den, other._den
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return isinstance(a, Expr) and isinstance(b, Expr) and a._id == b._id

    def _plus(self, other):
        scope = _joined(self._scope, other._scope)
        if self._same_den(other):
            return Ratio(scope, self._num + other._num, self._den)
        return Ratio(scope, self._num * other._den + other._num * self._den, self._den * other._den)

    def _minus(self, other):
        scope = _joined(self._scope, other._scope)
        if self._same_den(other):
            return Ratio(scope, self._num - other._num, self._den)
        return Ratio(scope, self._num * other._den - other._num * self._den, self._den * other._den)

    def _times(self, other):
        scope = _joined(self._scope, other._scope)
        return Ratio(scope, self._num * other._num, self._den * other._den)

    def _other(self, value, doing):
        return _as_ratio(
            _number(self._scope, value, lambda: f"{doing} {self._text()} and"), self._scope
        )

    def __add__(self, other):
        return self._plus(self._other(other, "add"))

    def __radd__(self, other):
        return self._other(other, "add")._plus(self)

    def __sub__(self, other):
        return self._minus(self._other(other, "subtract"))

    def __rsub__(self, other):
        return self._other(other, "subtract")._minus(self)

    def __mul__(self, other):
        return self._times(self._other(other, "multiply"))

    def __rmul__(self, other):
        return self._other(other, "multiply")._times(self)

    def __truediv__(self, other):
        return _quotient(self, self._other(other, "divide"))

    def __rtruediv__(self, other):
        return _quotient(self._other(other, "divide"), self)

    def __floordiv__(self, other):
        return (self / other).__floor__()

    def __rfloordiv__(self, other):
        return (other / self).__floor__()

    def __mod__(self, other):
        return self - other * (self // other)

    def __rmod__(self, other):
        return other - self * (other // self)

    def _no_bits(self, other=None):
        raise mistake(
            "E-operand",
            f"cannot compute with the bits of {self._text()}: bits are of whole numbers; round "
            "with //, math.floor or math.ceil",
        )

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _no_bits
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _no_bits

    def __neg__(self):
        return Ratio(self._scope, -self._num, self._den)

    def __pos__(self):
        return self

    def __abs__(self):
        return Ratio(self._scope, abs(self._num), self._den)

    def __pow__(self, exponent):
        exponent = _plain_int(exponent, f"raise {self._text()} to the power", "a constant")
        if not 0 < exponent <= MAX_POWER:
            raise mistake(
                "E-operand",
                f"cannot raise {self._text()} to the power {exponent}; "
                f"the exponent must be 1..{MAX_POWER}",
            )
        return Ratio(self._scope, self._num**exponent, self._den**exponent)

    def __floor__(self):
        return self._num // self._den

    def __ceil__(self):
        return ceil_div(self._num, self._den_expr())

    def __trunc__(self):
        return select(self._num >= 0, self._num // self._den, ceil_div(self._num, self._den_expr()))

    def __round__(self, digits=None):
        if digits is not None:
            raise mistake(
                "E-operand",
                f"cannot round {self._text()} to digits; a formula ends as a "
                "whole number: round(x)",
            )
        n, d = self._num, self._den
        nearest = (2 * n + d) // (2 * d)
        if isinstance(d, int) and d % 2 == 1:
            return nearest
        tie = ((2 * n + d) % (2 * d) == 0) & (nearest % 2 == 1)
        return nearest - tie._int()

    def __int__(self):
        raise mistake(
            "E-operand",
            f"int({self._text()}) cuts towards zero; say which way to round: "
            "math.floor, math.ceil or round",
        )

    def __float__(self):
        raise mistake(
            "E-operand",
            f"cannot make a float of {self._text()}; formulas are exact: use "
            "math.floor, math.ceil or round",
        )

    def __index__(self):
        raise mistake(
            "E-index",
            f"cannot use the ratio {self._text()} as an index; use // or math.ceil "
            "to make a whole number",
        )

    def __bool__(self):
        return bool(self._num != 0)

    def __hash__(self):
        raise mistake(
            "E-hash",
            f"cannot use {self._text()} as a dict key or set member: its value "
            "differs per token; use lpn.lookup(table, x)",
        )

    def __eq__(self, other):
        return _compare_ratios("eq", self, self._other(other, "compare"))

    def __ne__(self, other):
        return _compare_ratios("ne", self, self._other(other, "compare"))

    def __lt__(self, other):
        return _compare_ratios("lt", self, self._other(other, "compare"))

    def __le__(self, other):
        return _compare_ratios("le", self, self._other(other, "compare"))

    def __gt__(self, other):
        return _compare_ratios("gt", self, self._other(other, "compare"))

    def __ge__(self, other):
        return _compare_ratios("ge", self, self._other(other, "compare"))


def _scope_of(*values):
    for value in values:
        if isinstance(value, (Expr, Ratio)):
            return value._scope
    return None


def select(condition, then, otherwise):
    """`then` where the condition holds, else `otherwise`, without a branch of the trace."""
    scope = _scope_of(condition, then, otherwise)
    if not isinstance(condition, (Expr, Ratio)):
        return then if condition else otherwise
    core = scope.core
    if isinstance(condition, Ratio):
        condition = condition != 0
    question = condition._bool()
    then = _branch(scope, then)
    otherwise = _branch(scope, otherwise)
    if isinstance(then, Expr) and isinstance(otherwise, Expr):
        if then._is_bool() != otherwise._is_bool():
            then, otherwise = then._int(), otherwise._int()
        for side in (then, otherwise):
            scope = _joined(scope, side._scope)
        return Expr(scope, core.select(question._id, then._id, otherwise._id))
    then, otherwise = _as_ratio(then, scope), _as_ratio(otherwise, scope)
    if then._same_den(otherwise):
        return Ratio(scope, select(question, then._num, otherwise._num), then._den)
    return Ratio(
        scope,
        select(question, then._num, otherwise._num),
        select(question, then._den_expr(), otherwise._den_expr()),
    )


def _branch(scope, value):
    if isinstance(value, bool):
        return Expr(scope, scope.core.boolean(value))
    if isinstance(value, Expr):
        return value
    return _number(scope, value, lambda: "select")


def lookup(table, x):
    """Entry `x` of a table of ints: `table[x]`. An x outside the table is an error of the run."""
    table = [_plain_int(entry, "put into a lookup table", "an int") for entry in table]
    if not table:
        raise mistake("E-operand", "lookup needs a table with at least one entry")
    for entry in table:
        if not INT_MIN <= entry <= INT_MAX:
            raise mistake("E-overflow", f"{entry} does not fit in 64 bits")
    if not isinstance(x, (Expr, Ratio)):
        if not 0 <= x < len(table):
            raise mistake("E-lookup", f"the table has no entry {x}; it has 0..{len(table) - 1}")
        return table[x]
    if isinstance(x, Ratio):
        raise mistake(
            "E-operand",
            f"cannot look up the ratio {x._text()}; use // or math.ceil to make " "a whole number",
        )
    return Expr(x._scope, x._scope.core.lookup(table, x._int()._id))


def ceil_div(x, y):
    """x / y rounded up. A y that differs per token must be positive at run time."""
    scope = _scope_of(x, y)
    if scope is None:
        if y == 0:
            raise mistake("E-divisor", "divides by zero")
        return -(-x // y)
    left, right = (_number(scope, v, lambda: "divide") for v in (x, y))
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return _quotient(_as_ratio(left, scope), _as_ratio(right, scope)).__ceil__()
    const = _check_divisor(right, left)
    scope = _joined(left._scope, right._scope)
    if const is not None and const < 0:
        left, right = -left, _constant(scope, -const)
    return Expr(scope, scope.core.ceil_div(left._id, right._id))


def extreme(name, values):
    """min or max of numbers without a branch of the trace."""
    scope = _scope_of(*values)
    if scope is None:
        return (min if name == "min" else max)(values)
    result = _number(scope, values[0], lambda: f"take the {name} of")
    for value in values[1:]:
        value = _number(scope, value, lambda: f"take the {name} of")
        if isinstance(result, Expr) and isinstance(value, Expr):
            scope = _joined(result._scope, value._scope)
            result = Expr(scope, getattr(scope.core, name)(result._id, value._id))
        else:
            a, b = _as_ratio(result, scope), _as_ratio(value, scope)
            result = select(a <= b, a, b) if name == "min" else select(a >= b, a, b)
    return result
