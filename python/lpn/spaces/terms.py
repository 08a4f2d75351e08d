"""Terms over the variables of a space."""

import _lpn

from ..authoring.expr import Expr

__all__ = ["Variables", "decided", "if_present", "plain_or", "total"]


class Variables(_lpn.Net):
    """The variables as parameters of a net, and the terms over them as its expressions.

    sum() adds one summand at a time; each partial sum is built as a balanced tree, since terms may
    not be deep.
    """

    def __init__(self, name):
        super().__init__(name)
        self._forests = {}  # a partial sum -> the balanced trees it is made of: (term, summands)

    def add(self, x, y):
        trees = self._forests.get(x, ((x, 1),)) + ((y, 1),)
        while len(trees) > 1 and trees[-2][1] == trees[-1][1]:
            (a, n), (b, m) = trees[-2:]
            trees = trees[:-2] + ((super().add(a, b), n + m),)
        sum_ = trees[-1][0]
        for term, _ in reversed(trees[:-1]):
            sum_ = super().add(term, sum_)
        self._forests[sum_] = trees
        return sum_


def total(values):
    """The sum of ints and expressions, 0 of none; as shallow as it can be, whatever their
    number.
    """
    values = list(values)
    while len(values) > 1:
        values = [
            values[k] + values[k + 1] if k + 1 < len(values) else values[k]
            for k in range(0, len(values), 2)
        ]
    return values[0] if values else 0


def if_present(present, condition):
    """The condition, for a token that is there."""
    core = present._scope.core
    return Expr(present._scope, core.logical_or(core.logical_not(present._id), condition._id))


def plain_or(expr):
    """The int of a constant expression, else the expression."""
    value = expr._const()
    return expr if value is None else int(value)


def decided(condition):
    """The bool of a condition that the ranges decide, else the condition."""
    lo, hi = condition._bounds()
    return condition if lo != hi else bool(lo)
