"""What a bound is about, written out: paths as conditions and instants, so that a checker needs no
executor of ours to know what the steps of a certificate prove. docs/certificates.md is the form.
"""

import json

import _lpn

from ..spaces.nodes import Nodes

__all__ = ["Problems", "same"]

_MOST_ARCS = 1_000_000  # of all problems of a certificate; more are left out


def same(given, made):
    """Whether two pieces of JSON data are the same; true is not 1."""
    return json.dumps(given, sort_keys=True) == json.dumps(made, sort_keys=True)


class Problems:
    """The problems of goals over the terms of one partition; `nodes`: these terms, as a space's
    JSON has them. `full`: there are too many to be written; those written are of no use then.
    """

    def __init__(self, core):
        self.core = core
        self._terms = Nodes(core.variables)
        self.arcs, self.full = 0, False

    @property
    def nodes(self):
        return self._terms.nodes

    def of(self, goal):
        """A goal as JSON data, None when it is too much."""
        if self.full:
            return None
        path, target, constant, units, limits = _lpn.problem(self.core, goal)
        instants = self._instants(path, target)
        if self.full:
            return None
        problem = {
            "conditions": [self._terms.number(k) for k in path.conditions],
            "orders": [list(order) for order in path.orders],
            "instants": instants,
            "target": [list(each) for each in target],
            "constant": constant,
            "units": units,
            "limits": [[self._terms.number(condition), negated] for condition, negated in limits],
        }
        if path.fault is not None:
            problem["fault"] = self._terms.number(path.fault)
        return problem

    def _instants(self, path, target):
        wanted = {k for before, after, _ in path.orders for k in (before, after)}
        wanted |= {k for _, k in target}
        found = [None] * (max(wanted, default=0) + 1)
        for k in range(len(found) - 1, 0, -1):
            if k not in wanted:
                continue
            kind, after, period, phase = path.instant(k)
            wanted |= {before for before, _ in after}
            found[k] = kind, after, period, phase
            self.arcs += len(after) + 1
            if self.arcs > _MOST_ARCS:
                self.full = True
                return None
        return [self._instant(*each) if each else None for each in found]

    def _instant(self, kind, after, period, phase):
        arcs = [[before, self._terms.number(delay)] for before, delay in after]
        return [kind, *arcs, period, phase] if kind == "edge" else [kind, *arcs]
