"""Conditions over a marking, as text: "buffer.count >= 4 and credits.free == 0"."""

from __future__ import annotations

import ast
from typing import Any

import _lpn

from ..authoring.expr import Expr, Scope, extreme
from ..authoring.net import Net
from ..errors import Error, listed, near, without_place
from ..words import shortened

__all__ = ["Condition"]

_GRAMMAR = (
    "PLACE.count, PLACE.free, parameters, whole numbers, + - * // %, min, max, abs, comparisons, "
    "and, or, not"
)
_MOST_CHARACTERS = 10_000
_COUNTS = ("count", "free")


class Condition:
    """A condition that a run stops at, or a break of one that is gone through.

    `PLACE.count` are the tokens of a place, those in the hands of a firing included, `PLACE.free` the
    others; names of parameters are their values. A place whose name is a word of Python's is
    count("NAME"). `text` is as given; `core` is what `_lpn` takes. Raises Error "E-condition" for
    what is none of this net.
    """

    def __init__(self, net: Net, text: str) -> None:
        if not isinstance(text, str):
            raise without_place(
                "E-condition", f'a condition is text, as "buffer.count >= 4", got {text!r}'
            )
        self.text = text.strip()
        self._net = net
        self._places: list[str] = []
        self._looks = _lpn.Transition("condition", 0, 0)
        self._scope = Scope(net.core, self._looks, "a condition")
        if len(text) > _MOST_CHARACTERS:
            raise self._refusal(f"it has more than {_MOST_CHARACTERS} characters")
        try:
            found = self._value(ast.parse(self.text, mode="eval").body)
        except Error as error:
            if error.code == "E-condition":
                raise
            raise self._refusal(str(error).splitlines()[0]) from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
            raise self._refusal(f"it cannot be read ({why})") from None
        if not (isinstance(found, Expr) and found._is_bool()):
            raise self._refusal(
                "it is a number; compare it with something, as in buffer.count >= 4"
            )
        if found._const() is not None or not self._places:
            raise self._refusal("it does not depend on any place")
        numbers = [net[name]._number for name in self._places]
        self.core = (numbers, found._id)

    def values(self, machine: Any) -> str:
        """'buffer.count=5, credits.free=0': what it reads, as it stands in a machine now."""
        shown = []
        for which, name in self._read:
            number = self._net[name]._number
            tokens = machine.occupancy(number) if which == "count" else machine.free_tokens(number)
            shown.append(f"{name}.{which}={tokens}")
        return ", ".join(shown)

    @property
    def _read(self):
        """(count or free, place) that stand in it, in order, once each."""
        found = {}
        for node in ast.walk(ast.parse(self.text, mode="eval")):
            place = self._place_of(node)
            if place is not None:
                found[place] = None
        return list(found)

    def _refusal(self, why):
        shown = shortened(self.text, 200)
        return without_place(
            "E-condition",
            f"'{shown}': {why}; a condition over the places of net '{self._net.name}' is made of "
            f"{_GRAMMAR}",
        )

    def _place_of(self, node):
        """(count or free, name of a place) that a node names; None: something else."""
        if isinstance(node, ast.Attribute) and node.attr in _COUNTS:
            name = ast.unparse(node.value)
            if name not in self._net.places and ast.unparse(node) in self._net._params:
                return None  # of an instance, whose parameter has that name
            return node.attr, name
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _COUNTS
            and len(node.args) == 1
            and not node.keywords
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            return node.func.id, node.args[0].value
        return None

    def _value(self, node) -> Any:
        """An Expr, or a plain int."""
        if isinstance(node, ast.BoolOp):
            return self._logic(node)
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand)
            if isinstance(node.op, ast.Not):
                return Expr(self._scope, self._net.core.logical_not(self._truth(value)))
            if isinstance(node.op, (ast.USub, ast.UAdd)):
                value = self._number(value)
                return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node)
        place = self._place_of(node)
        if place is not None:
            return self._tokens(*place)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            values = [self._number(self._value(each)) for each in node.args]
            if node.func.id == "abs" and len(values) == 1:
                return abs(values[0])
            if node.func.id in ("min", "max") and len(values) > 1:
                return extreme(node.func.id, values)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._parameter(ast.unparse(node))
        raise self._refusal(f"'{ast.unparse(node)}' is not understood")

    def _logic(self, node):
        core = self._net.core
        join = core.logical_and if isinstance(node.op, ast.And) else core.logical_or
        found = self._truth(self._value(node.values[0]))
        for each in node.values[1:]:
            found = join(found, self._truth(self._value(each)))
        return Expr(self._scope, found)

    def _truth(self, value):
        if isinstance(value, Expr) and value._is_bool():
            return value._id
        raise self._refusal("a number stands where a condition should; compare it with something")

    def _number(self, value):
        if isinstance(value, Expr) and value._is_bool():
            raise self._refusal("a condition stands where a number should")
        return value

    def _comparison(self, node):
        made = {
            ast.Eq: lambda a, b: a == b,
            ast.NotEq: lambda a, b: a != b,
            ast.Lt: lambda a, b: a < b,
            ast.LtE: lambda a, b: a <= b,
            ast.Gt: lambda a, b: a > b,
            ast.GtE: lambda a, b: a >= b,
        }
        values = [self._number(self._value(each)) for each in (node.left, *node.comparators)]
        found = None
        for left, op, right in zip(values, node.ops, values[1:]):
            if type(op) not in made:
                raise self._refusal(f"'{ast.unparse(node)}' is not understood")
            one = made[type(op)](left, right)
            if not isinstance(one, Expr):
                one = Expr(self._scope, self._net.core.boolean(one))
            both = self._net.core.logical_and
            found = one._id if found is None else both(found, one._id)
        return Expr(self._scope, found)

    def _arithmetic(self, node):
        made = {
            ast.Add: lambda a, b: a + b,
            ast.Sub: lambda a, b: a - b,
            ast.Mult: lambda a, b: a * b,
            ast.FloorDiv: lambda a, b: a // b,
            ast.Mod: lambda a, b: a % b,
        }
        left, right = (self._number(self._value(each)) for each in (node.left, node.right))
        if type(node.op) not in made:
            raise self._refusal(f"'{ast.unparse(node)}' is not understood")
        try:
            return made[type(node.op)](left, right)
        except ZeroDivisionError:
            raise self._refusal(f"'{ast.unparse(node)}' divides by zero") from None

    def _tokens(self, which, name):
        net = self._net
        if name not in net.places:
            raise self._refusal(f"there is no place '{name}'{near(name, net.places)}")
        if name not in self._places:
            one = (net.core.constant(0), 0, 0)
            self._looks.add_input(name, net[name]._number, False, one, 0, 0)
            self._places.append(name)
        number = self._places.index(name)
        core = net.core
        return Expr(self._scope, core.occupancy(number) if which == "count" else core.free(number))

    def _parameter(self, name):
        if name in self._net._params:
            return self._net._params[name]
        if name in self._net.places:
            raise self._refusal(f"'{name}' is a place; write {name}.count or {name}.free")
        raise self._refusal(
            f"there is no parameter '{name}'; there are: {listed(self._net.params) or 'none'}"
        )
