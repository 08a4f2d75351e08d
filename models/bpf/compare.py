"""Two versions of a program, class by class: which packets became dearer, which end otherwise."""

from dataclasses import dataclass
from types import SimpleNamespace

from . import terms as t
from .errors import refused
from .interface import texts, world_of
from .machine import Machine


@dataclass
class Difference:
    """Packets and map states of one class before and one after."""

    old: object
    new: object
    facts: list
    before: int
    after: int
    verdicts: tuple
    witness: object

    @property
    def percent(self):
        return 100 * (self.after - self.before) / self.before

    @property
    def verdict_changed(self):
        return self.verdicts[0] != self.verdicts[1]


def compare(old, new, metric="insns"):
    """[Difference] of two interfaces: every pair of classes that has packets in common. `new` must
    have been extracted `beside` the old. Costs are the most of a class.
    """
    solver = new.explored.executor.solver
    found = []
    for one in old.classes:
        for other in _meeting(one.conditions, new, solver):
            found.append(_difference(one, other, old, new, solver, metric))
    return found


def _meeting(conditions, new, solver):
    """The classes of an interface that have packets in common with conditions."""
    if new.tree is None:
        for other in new.classes:
            if solver.can(conditions, *other.conditions) is not False:
                yield other
        return
    stack = [(new.tree, conditions)]
    while stack:
        node, held = stack.pop()
        if not hasattr(node, "yes"):
            yield node
            continue
        for child, more in ((node.no, t.not_(node.condition)), (node.yes, node.condition)):
            if solver.can(held, more) is not False:
                stack.append((child, (*held, more)))


def _difference(one, other, old, new, solver, metric):
    facts = list(one.facts)
    held = one.conditions
    for condition, holds in other.facts:  # what the old class does not say already
        more = condition if holds else t.not_(condition)
        if solver.can(held, t.not_(more)) is not False:
            facts.append((condition, holds))
            held = (*held, more)
    verdicts = tuple(tuple(sorted({v for _, v in c.verdicts})) for c in (one, other))
    before, after = one.bounds[metric][1], other.bounds[metric][1]
    witness = _witness(one, other, held, old, new, solver)
    return Difference(one, other, facts, before, after, verdicts, witness)


def _witness(one, other, held, old, new, solver):
    """A packet and a state of both classes, run through both programs."""
    conditions = (*one.conditions, *other.conditions)
    length = t.symbol("len", 16)
    model = None
    for limit in (64, 128, 1514, 65535):
        short = t.not_(t.ult(t.const(limit, 16), length))
        model = solver.model(conditions, short)
        if model is not None:
            break
    if model is None:
        return None
    both = SimpleNamespace(
        maps={**old.program.maps, **new.program.maps},
        data={**old.program.data, **new.program.data},
    )
    world = world_of(both, model, conditions)
    if any(
        name in new.program.maps
        and (m.kind, m.key_size, m.value_size) != _kind(new.program.maps[name])
        for name, m in old.program.maps.items()
    ):
        return world  # one state of maps is no state of both
    for interface, mine in ((old, one), (new, other)):
        run = Machine(interface.program, interface.function, interface.tails).run(world.copy())
        low, high = mine.bounds["insns"]
        if not low <= run.insns <= high or run.verdict not in [v for _, v in mine.verdicts]:
            if mine.rest is None:
                raise refused(
                    "E-bpf-witness",
                    f"class {mine.name}: the concrete machine says {run.insns} {run.verdict};"
                    " please report the objects",
                )
    return world


def _kind(one):
    return one.kind, one.key_size, one.value_size


def summary(differences, old, new, metric):
    """The numbers that a comparison ends with."""
    most = [max(c.bounds[metric][1] for c in i.classes) for i in (old, new)]
    return {
        "max_before": most[0],
        "max_after": most[1],
        "max_delta_pct": round(100 * (most[1] - most[0]) / most[0], 2),
        "regressed": sum(d.after > d.before for d in differences),
        "improved": sum(d.after < d.before for d in differences),
        "unchanged": sum(d.after == d.before for d in differences),
        "verdicts_changed": sum(d.verdict_changed for d in differences),
        "maps_added": [n for n in new.program.maps if n not in old.program.maps],
        "maps_removed": [n for n in old.program.maps if n not in new.program.maps],
    }


def conditions_of(difference, old, new):
    """The conditions of a difference as text."""
    if old.tree is None or new.tree is None:
        return [f"{difference.old.name} of the old, {difference.new.name} of the new version"]
    names = SimpleNamespace(names=_names(old, new))
    return texts(names, difference.facts)


def _names(old, new):
    from .names import Names

    return Names({**old.program.maps, **new.program.maps}, {**old.program.data, **new.program.data})
