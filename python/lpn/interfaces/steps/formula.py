"""Formulas of a net as Python, with gaps for the numbers that equal transitions may differ in."""

import builtins
import keyword
import re
from typing import NamedTuple

import _lpn

from ..closed_form import transition_text
from ...errors import mistake

__all__ = ["Gap", "Writer", "field", "identifier", "refused"]

_OPERATORS = _lpn.OPERATORS
_CHOICE, _OR, _AND, _NOT, _COMPARED, _BITS, _SIGN, _TIGHT = 0, 1, 2, 3, 4, 5, 11, 12
_TURNED = {"lt": ">", "le": ">="}  # a number stands on the right
_MODULE = """Counter deque namedtuple heappop heappush Step STEPS TOKENS COVERED CONDITIONS RANGES TYPES FIRST
    CAPACITY DRAIN DONE DONE_COUNT MODEL PARAMETERS CLOCK_PERIOD latency throughput bottleneck chain need
    need_ranges assume index x"""  # names of the modules that are written
_TAKEN = {*keyword.kwlist, *dir(builtins), *_MODULE.split()}


class Gap(NamedTuple):
    """A number in a formula: an int, or a parameter's name."""

    value: object


def identifier(name, used=()):
    """A name of a net as one of Python that is none of `used`."""
    made = re.sub(r"\W", "_", name)
    if made.startswith("_") or made[0].isdigit():  # fields of named tuples may not
        made = "n" + made
    while made in _TAKEN or made in used:
        made += "_"
    return made


def field(name):
    """A property's name as a field of a named tuple."""
    made = ("n" if name.startswith("_") else "") + name
    return made + "_" if keyword.iskeyword(made) else made


def refused(net, number, why):
    """The Error "E-pi" of a transition that steps cannot say."""
    return mistake("E-pi", f"{transition_text(net, number)}: {why}")


class Writer:
    """Writes the formulas of one transition, None for those over parameters alone, as lists of text and
    Gaps.

    `arcs`: what its tokens are called, by arc; `needs`: how many each arc needs. `counts`: what was
    read of places, {("free" or "occupancy", arc): name}. `assumes`: whether an assumption was.
    """

    def __init__(self, net, number, arcs, needs):
        self.net, self.number, self.arcs, self.needs = net, number, arcs, needs
        self.core = net._core
        self.transition = None if number is None else self.core.transitions[number]
        self.params, self.counts, self.assumes = list(net.params), {}, False

    def refuse(self, why):
        if self.number is None:
            return mistake("E-pi", f"net {self.net.name}: {why}")
        return refused(self.net, self.number, why)

    def write(self, number, outer=_CHOICE):
        """An int or a condition; in brackets where it holds together less tightly than `outer`."""
        try:
            made_by, *given = self.core.node(number)
        except IndexError:
            text = self.core.text(self.transition, number)
            raise self.refuse(
                f"{text} goes over several tokens; write it out as a sum, or take --fitted"
            ) from None
        parts, level = getattr(self, f"_{made_by}", self._operation(made_by))(*given)
        return ["(", *parts, ")"] if level < outer else parts

    def within(self, number, least, most, what):
        """Raises Error "E-pi" unless a formula stays in least..most, by the declared ranges."""
        low, high = self.core.bounds(self.transition, number)
        if low < least or most is not None and high > most:
            text = self.core.text(self.transition, number)
            raise self.refuse(
                f"{what} {text} may be {low}..{high}, beyond {least}..{'' if most is None else most}; "
                "declare ranges that keep it there"
            )

    # Each gives (text and Gaps, how tightly it holds together).

    def _constant(self, value):
        return [Gap(value)], _TIGHT if value >= 0 else _SIGN

    def _boolean(self, value):
        return [str(value)], _TIGHT

    def _param(self, k):
        return [Gap(self.params[k])], _TIGHT

    def _token(self, arc, number, which):
        k = self.core.value(which)
        if not self.needs[arc]:
            raise self.refuse(
                f"tokens of arc {self._arc(arc)} are read, whose number depends on others"
            )
        if k is None or not 0 <= k < self.needs[arc]:
            raise self.refuse(f"which token of arc {self._arc(arc)} is read is no constant")
        type = self.core.types[self.core.places[self.transition.inputs[arc].place].type]
        index = f"[{k}]" if self.needs[arc] > 1 else ""
        return [f"{self.arcs[arc]}{index}.{field(type.fields[number].name)}"], _TIGHT

    def _arc(self, arc):
        return self.transition.inputs[arc].name

    def _index(self):
        return ["index"], _TIGHT

    def _free(self, arc):
        return self.count("free", arc)

    def _occupancy(self, arc):
        return self.count("occupancy", arc)

    def count(self, what, arc):
        """What the tokens in an arc's place are called, the free ones or all."""
        name = {"free": "free_", "occupancy": "all_"}[what] + identifier(self._arc(arc))
        return [self.counts.setdefault((what, arc), name)], _TIGHT

    def _taken(self, arc):
        weight = self.transition.inputs[arc].weight
        return (["0"], _TIGHT) if weight is None else (self.write(weight[0], _TIGHT), _TIGHT)

    def _lookup(self, table, x):
        self.within(x, 0, len(table) - 1, "the index of a lookup,")
        return [f"{list(table)}[", *self.write(x), "]"], _TIGHT

    def _assume(self, condition, value, text):
        self.assumes = True
        return [
            "assume(", *self.write(condition), ", ", *self.write(value), f", {text!r})"
        ], _TIGHT  # fmt: skip

    def _select(self, condition, then, otherwise):
        # Of `a and b and c`, which authors write as a loop: c ? x : (b and x) is (c or b) and x.
        if self.core.is_bool(then):
            made_by, *given = self.core.node(otherwise)
            if made_by == "logical_and" and given[1] == then:
                either = [
                    "(",
                    *self.write(condition, _OR),
                    " or ",
                    *self.write(given[0], _AND),
                    ")",
                ]
                return [*either, " and ", *self.write(then, _AND)], _AND
        return [
            *self.write(then, _OR), " if ", *self.write(condition, _OR), " else ",
            *self.write(otherwise, _OR),
        ], _CHOICE  # fmt: skip

    def _abs(self, x):
        return ["abs(", *self.write(x), ")"], _TIGHT

    def _min(self, x, y):
        return ["min(", *self.write(x), ", ", *self.write(y), ")"], _TIGHT

    def _max(self, x, y):
        return ["max(", *self.write(x), ", ", *self.write(y), ")"], _TIGHT

    def _ceil_div(self, x, y):
        self.within(y, 1, None, "the divisor")
        return ["-(-", *self.write(x, _TIGHT), " // ", *self.write(y, _SIGN), ")"], _SIGN

    def _logical_not(self, x):
        return ["not ", *self.write(x, _NOT)], _NOT

    def _operation(self, made_by):
        """What writes an operator between its operands, or in front of it."""
        operator = _OPERATORS[made_by]

        def written(x, y=None):
            if y is None:
                return [operator.text, *self.write(x, _SIGN)], _SIGN
            if made_by in ("floor_div", "mod"):
                self.within(y, 1, None, "the divisor")
            if made_by.startswith("shift_"):
                self.within(y, 0, 63, "the shift")
            if made_by in _TURNED and self.core.value(x) is not None:
                return [
                    *self.write(y, _BITS), f" {_TURNED[made_by]} ", *self.write(x, _BITS)
                ], _COMPARED  # fmt: skip
            left = operator.level + (operator.level == _COMPARED)  # comparisons do not chain
            return [
                *self.write(x, left), f" {operator.text} ", *self.write(y, operator.level + 1)
            ], operator.level  # fmt: skip

        return written
