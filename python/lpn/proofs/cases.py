"""A term over all inputs as cases that are sums, for what is proved about sums."""

import math

__all__ = ["cases"]

_MOST = 64  # cases; more are not worth it


def cases(core, term):
    """[(conditions, term)]: the term without max, min and select over several variables, one case
    each.

    Under its conditions, which exclude each other and leave nothing out, each term has the value of
    the one given. What reads a single variable stays as it is. A term of too many cases is one
    case.
    """
    found = _Cases(core).of(term)
    return found if len(found) <= _MOST else [([], term)]


class _Cases:
    def __init__(self, core):
        self.core = core
        self.known = {}

    def of(self, term):
        if term not in self.known:
            self.known[term] = self.split(term)
        return self.known[term]

    def split(self, term):
        core = self.core
        made_by, *given = core.node(term)
        if len(core.reads(term)["params"]) < 2:
            return [([], term)]
        if made_by in ("add", "sub"):
            return self.joined(term, given, lambda x, y: [([], getattr(core, made_by)(x, y))])
        if made_by == "neg":
            return [(conditions, core.neg(x)) for conditions, x in self.of(given[0])]
        if made_by == "mul" and any(not core.reads(x)["params"] for x in given):
            return self.joined(term, given, lambda x, y: [([], core.mul(x, y))])
        if made_by == "max":
            return self.joined(
                term, given, lambda x, y: [([core.le(y, x)], x), ([core.lt(x, y)], y)]
            )
        if made_by == "min":
            return self.joined(
                term, given, lambda x, y: [([core.le(x, y)], x), ([core.lt(y, x)], y)]
            )
        if made_by == "select":
            condition, yes, no = given
            return [([condition, *more], x) for more, x in self.of(yes)] + [
                ([core.logical_not(condition), *more], x) for more, x in self.of(no)
            ]
        return [([], term)]

    def joined(self, term, given, join):
        """All pairs of cases of the two operands; `join` makes cases of each pair."""
        parts = [self.of(x) for x in given]
        if math.prod(map(len, parts)) > _MOST:
            return [([], term)]
        return [
            ([*first, *second, *more], x)
            for first, a in parts[0]
            for second, b in parts[1]
            for more, x in join(a, b)
        ]
