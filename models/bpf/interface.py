"""The performance interface of a program: classes of packets and map states with what they cost."""

from dataclasses import dataclass, field

from . import helpers as h
from . import terms as t
from .errors import refused
from .explore import Leaf, Node, explore
from .layout import Context
from .merge import Leaf as MergedLeaf
from .merge import Merging
from .machine import Machine, Table, World
from .names import Names
from .objects import ARRAYS, OF_MAPS, load
from .state import Cost

METRICS = ("insns", "mem", "cycles")  # cycles: by a cost table, 0 without one
HALVING = 1.0  # seconds for a question about the bounds of a class
CHECKED_AT_ONCE = 400  # classes whose partition one question to the solver confirms


@dataclass
class Class:
    """Packets and map states of one cost. `facts`: [(condition, holds)] in the order of the
    program; `witness`: a World that is in the class; `off`: how far `cost` may be off (coarse.py).
    """

    name: str
    facts: list
    cost: Cost
    verdicts: list
    rest: tuple | None
    witness: World | None = None
    bounds: dict = field(default_factory=dict)
    run: object = None
    off: int = 0

    @property
    def conditions(self):
        return tuple(c if holds else t.not_(c) for c, holds in self.facts)

    @property
    def verdict(self):
        return self.verdicts[0][1]

    def cost_of(self, metric):
        """(least, most) in a metric."""
        return self.bounds[metric]


@dataclass
class Interface:
    """All of it. `tree`: Nodes with Classes as leaves, or None where paths were joined."""

    program: object
    function: object
    explored: object
    classes: list
    tree: object
    partition: str
    tails: dict
    prices: object = None

    @property
    def names(self):
        return Names(self.program.maps, self.program.data)

    @property
    def assumptions(self):
        return [f"packets of 0 to {h.LARGEST} bytes", *self.explored.executor.assumptions]


def tails_of(program, given=()):
    """{map: {index: Function}} from `.values` of the object and ["MAP:INDEX=PROGRAM"]."""
    by_name = {f.name: f for f in program.functions}
    out = {}
    for one in program.maps.values():
        if one.kind == "PROG_ARRAY" and one.slots:
            out[one.name] = {i: by_name[n] for i, n in one.slots.items() if n in by_name}
    for text in given:
        place, _, name = text.partition("=")
        table, _, index = place.partition(":")
        if table not in program.maps or program.maps[table].kind != "PROG_ARRAY":
            raise refused("E-bpf-tail-call", f"--tail-call {text}: no PROG_ARRAY '{table}'")
        found = [f for f in program.functions if name in (f.name, f.section)]
        if len(found) != 1 or not (index.isascii() and index.isdigit()):
            known = ", ".join(by_name)
            raise refused(
                "E-bpf-tail-call",
                f"--tail-call {text}: write MAP:INDEX=PROGRAM with one of the programs {known}",
            )
        out.setdefault(table, {})[int(index)] = found[0]
    return out


def extract(
    path,
    section=None,
    prog=None,
    tail_calls=(),
    inner=None,
    paths=1000,
    seconds=(10.0, 40.0),
    beside=False,
    prices=None,
):
    """The interface of a program of an object file, every class with a witness that was run.
    `beside`: terms of an earlier interface stay good; without it they do not. `prices`: a cost table
    (prices.read); classes then have one price too.
    """
    program = load(path, inner)
    function = program.program(section, prog)
    tails = tails_of(program, tail_calls)
    explored = explore(program, function, tails, paths, seconds, beside=beside, prices=prices)
    classes = []
    if explored.root is not None:
        tree = _with_classes(explored.root, [], classes)
    else:
        tree = None
        for leaf in explored.leaves:
            classes.append(_class(leaf, [(c, True) for c in leaf.conditions], len(classes)))
    found = Interface(program, function, explored, classes, tree, "", tails, prices)
    solver = explored.executor.solver
    machine = Machine(program, function, tails, prices)
    for one in classes:
        _bound(one, solver, prices)
        _witness(one, found, solver, machine)
    found.partition = _partition(classes, solver)
    return found


def _with_classes(node, facts, classes):
    """The tree with a Class for every leaf; a leaf's facts are the decisions that are left."""
    if isinstance(node, Leaf):
        one = _class(node, list(facts), len(classes))
        classes.append(one)
        return one
    return Node(
        node.condition,
        _with_classes(node.yes, [*facts, (node.condition, True)], classes),
        _with_classes(node.no, [*facts, (node.condition, False)], classes),
    )


def _class(leaf, facts, number):
    return Class(f"c{number + 1}", facts, leaf.cost, leaf.verdicts, leaf.rest)


# Costs


def cost_term(cost, metric):
    """A cost as a term of 32 bits."""
    total = t.const(cost.of(metric), 32)
    for when, a, b in cost.choices:
        total = t.add(total, t.ite(when, cost_term(a, metric), cost_term(b, metric)))
    return total


def _bound(one, solver, prices=None):
    """Least and most of every metric, made exact by the solver where it answers in time."""
    with solver.at_most(HALVING):
        one.cost = _settled(one.cost, one.conditions, solver)
    for metric in METRICS:
        low, high = one.cost.bounds(metric)
        if metric == "cycles" and prices is None:
            one.bounds[metric] = (0, 0)
            continue
        if one.cost.choices and one.rest is None:
            low, high = _tight(one, metric, low, high, solver)
        if one.rest is not None:
            least, most = one.rest
            if metric == "cycles":
                most *= prices.most()
            low, high = low + (least if metric == "insns" else 0), high + most
        if high >= 1 << 31:
            raise refused("E-bpf-limit", f"class {one.name} may cost {high}: costs end at 2^31")
        one.bounds[metric] = (low, high)


def _settled(cost, conditions, solver):
    """The cost without choices that the conditions decide."""
    out = cost.copy()
    out.choices = ()
    left = list(cost.choices)
    while left:
        when, a, b = left.pop(0)
        side = b if solver.can(conditions, when) is False else None
        if side is None and solver.can(conditions, t.not_(when)) is False:
            side = a
        if side is None:
            out.choices = (*out.choices, (when, a, b))
            continue
        out.insns += side.insns
        out.cycles += side.cycles
        for name in ("mem", "helpers", "variables"):
            mine, theirs = getattr(out, name), getattr(side, name)
            for each, number in theirs.items():
                mine[each] = mine.get(each, 0) + number
        left = [*side.choices, *left]
    return out


def _extreme(cost, metric, top):
    """Conditions under which every choice costs most (`top`) or least by itself."""
    out = []
    for when, a, b in cost.choices:
        x, y = a.bounds(metric)[top], b.bounds(metric)[top]
        if x == y and not (a.choices or b.choices):
            continue
        first = x >= y if top else x <= y
        inner = t.all_(*_extreme(a if first else b, metric, top))
        if x == y:  # either side will do where it is extreme itself
            other = t.all_(*_extreme(b if first else a, metric, top))
            out.append(t.ite(when, inner, other) if first else t.ite(when, other, inner))
        else:
            out.append(t.all_(when if first else t.not_(when), inner))
    return out


def _tight(one, metric, low, high, solver):
    """Both ends moved to numbers that are reached: at once where choices are independent, else by
    halving for as long as the solver answers soon.
    """
    conditions, term = one.conditions, cost_term(one.cost, metric)
    with solver.at_most(HALVING):
        if not solver.can(conditions, *_extreme(one.cost, metric, 1)):
            high = _halved(conditions, term, low, high, solver, True)
        if not solver.can(conditions, *_extreme(one.cost, metric, 0)):
            low = _halved(conditions, term, low, high, solver, False)
    return low, high


def _halved(conditions, term, low, high, solver, top):
    """The most (`top`) or least that a term reaches, or a bound of it."""
    while low < high:
        middle = (low + high + top) // 2
        above = t.not_(t.ult(term, t.const(middle, 32)))
        below = t.ult(term, t.const(middle + 1, 32))
        answer = solver.can(conditions, above if top else below)
        if answer is None:
            return high if top else low
        if answer == top:
            low = middle if top else middle + 1
        else:
            high = middle - 1 if top else middle
    return low


# Witnesses


def _witness(one, found, solver, machine):
    """Finds a packet and a state of the class, runs them, and refuses what does not agree."""
    length = t.symbol("len", 16)
    conditions = one.conditions
    wanted = [one.verdicts[0][0]]
    if one.cost.choices and one.rest is None:  # the dearest of the class
        worst = t.all_(*_extreme(one.cost, "insns", 1))
        with solver.at_most(HALVING):
            if not solver.can(conditions, *wanted, worst):
                most = t.const(one.bounds["insns"][1], 32)
                worst = t.not_(t.ult(cost_term(one.cost, "insns"), most))
                if not solver.can(conditions, *wanted, worst):
                    worst = t.TRUE
        wanted.append(worst)
    model = None
    for limit in (64, 128, 1514, h.LARGEST):
        model = solver.model(conditions, *wanted, t.not_(t.ult(t.const(limit, 16), length)))
        if model is not None:
            break
    if model is None:
        if one.rest is not None:
            return
        raise refused("E-bpf-limit", f"the solver found no witness of class {one.name} in time")
    short = t.ult(length, t.const(model.value(length), 16))
    for _ in range(12):  # a short packet is the better example
        shorter = solver.model(conditions, *wanted, short)
        if shorter is None:
            break
        model = shorter
        short = t.ult(length, t.const(model.value(length), 16))
    one.witness = world_of(found.program, model, [*conditions, *wanted])
    if one.rest is not None:
        return
    run = machine.run(one.witness.copy(), trace=True)
    one.run = run
    expected = {m: model.value(cost_term(one.cost, m)) for m in METRICS}
    got = {m: run.of(m) for m in METRICS}
    exact = not one.cost.choices
    if got != expected or run.verdict != one.verdict or (exact and _parts(run) != _parts(one.cost)):
        raise refused(
            "E-bpf-witness",
            f"class {one.name}: the concrete machine says {got} {run.verdict}, the symbolic"
            f" {expected} {one.verdict}; please report the object",
        )


def _parts(counted):
    """Of a run or a cost, what is counted by name."""
    return dict(counted.mem), dict(counted.helpers), dict(counted.variables)


def world_of(program, model, conditions):
    """The packet and the state that a model of conditions describes."""
    seen, leaves = set(), []
    for condition in conditions:
        t.leaves(condition, seen, leaves)
    packet = bytearray(model.value(t.symbol("len", 16)))
    world = World()
    present, values = {}, {}
    for leaf in leaves:
        value = model.value(leaf)
        if leaf.op == "pkt":
            at = t.signed(model.value(leaf.args[0]), 32)
            if 0 <= at < len(packet):
                packet[at] = value
        elif leaf.op == "symbol":
            _set_symbol(world, program, leaf.args[0], value)
        else:
            keys = tuple(model.value(k).to_bytes(k.width // 8, "big") for k in _keys_of(leaf))
            if leaf.op == "has":
                present[leaf.args[0], keys] = value
            else:
                values.setdefault((leaf.args[0], keys), {})[model.value(leaf.args[-1])] = value
    world.packet = bytes(packet)
    for name in program.maps:
        world.maps.setdefault(name, Table(program.maps[name]))
    for (name, keys), there in present.items():
        if there:
            _entry(world, program, name, keys, values.get((name, keys), {}))
    for (name, keys), content in values.items():
        if name.startswith("."):
            raw = bytearray(program.data[name].content)
            for at, byte in content.items():
                if at < len(raw):
                    raw[at] = byte
            world.data[name] = raw
        elif _shape(program, name).kind in ARRAYS:
            _entry(world, program, name, keys, content)
    return world


def _keys_of(leaf):
    return leaf.args[1:] if leaf.op == "has" else leaf.args[1:-1]


def _shape(program, name):
    return program.maps[name[:-2]].inner if name.endswith("[]") else program.maps[name]


def _set_symbol(world, program, name, value):
    if name.startswith("free "):
        table = name[5:]
        if table in program.maps:
            world.maps.setdefault(table, Table(program.maps[table]))._free = value
    elif name.startswith("env "):
        _, what, *number = name.split()
        if number:
            row = world.environment.setdefault(what, [])
            row += [0] * (int(number[0]) + 1 - len(row))
            row[int(number[0])] = value
        else:
            world.environment[what] = value
    elif name != "len":
        world.context[name] = value


def _entry(world, program, name, keys, content):
    """Puts an entry into a map of a world."""
    shape = _shape(program, name)
    table = world.maps.setdefault(
        name.removesuffix("[]"), Table(program.maps[name.removesuffix("[]")])
    )
    if name.endswith("[]"):
        table = table.entries.setdefault(keys[0], Table(shape))
    if shape.kind in OF_MAPS:
        table.entries.setdefault(keys[-1], Table(shape.inner))
        return
    raw = table.entries.setdefault(keys[-1], bytearray(shape.value_size))
    for at, byte in content.items():
        if at < len(raw):
            raw[at] = byte


# The partition


def _partition(classes, solver):
    """Whether the solver agrees that every input is in exactly one class."""
    if len(classes) > CHECKED_AT_ONCE:
        return "by construction"
    whole = [t.all_(*one.conditions) for one in classes]
    answer = solver.can((), t.not_(t.any_(*whole))) if t.any_(*whole) is not t.TRUE else False
    if answer is not False and any(".assumed" in c.name for c in classes):
        answer = None
    twice = []
    once = t.FALSE
    for one in whole:
        twice.append(t.all_(once, one))
        once = t.any_(once, one)
    again = solver.can((), t.any_(*twice)) if t.any_(*twice) is not t.FALSE else False
    if answer or again:
        raise refused("E-bpf-witness", "the classes are no partition; please report the object")
    return "checked by the solver" if answer is False and again is False else "by construction"


def when(interface, one):
    """The conditions of a class as text."""
    return texts(interface, one.facts)


def verdict_cases(interface, one):
    """[(text, verdict)] where a class has several verdicts (a redirect into an empty slot)."""
    names, context = interface.names, Context(one.facts)
    return [(names.condition(c, context), v) for c, v in one.verdicts]


# Resolutions


def either(c, holds, d, also):
    """A condition: c is as `holds` says, or d as `also` does."""
    return t.any_(c if holds else t.not_(c), d if also else t.not_(d))


def merged(interface, metric, rule):
    """[(resolution, tree)] of merge.Merging.all; refused where paths were joined."""
    if interface.tree is None:
        raise refused(
            "E-bpf-limit",
            "there were too many paths to tell them apart one by one, so that classes are joined"
            " and --all-resolutions has no tree to merge; a larger --paths and --seconds may have;"
            " one --resolution R is answered",
        )
    merging = Merging(rule, either)
    return merging.all(_costs(interface.tree, metric))


def _costs(node, metric):
    if isinstance(node, Node):
        return Node(node.condition, _costs(node.yes, metric), _costs(node.no, metric))
    low, high = node.bounds[metric]
    verdict = node.verdict if len(node.verdicts) == 1 else None
    variables = dict(node.cost.variables) if metric == "cycles" else {}
    return MergedLeaf(low, high, variables, verdict, node.name)


def at_resolution(interfaces, resolution):
    """The coarsest of [(resolution, tree)] that a resolution allows."""
    return [tree for r, tree in interfaces if r <= resolution][-1]


def over_budget(interface, metric, budget):
    """[(facts, least, most, names of classes, witness)] of packets that may cost more than the
    budget: whole subtrees above it are one row.
    """
    if interface.tree is None:
        return [
            (one.facts, *one.bounds[metric], [one.name], one.witness)
            for one in interface.classes
            if one.bounds[metric][1] > budget
        ]
    rows = []

    def walk(node, facts):
        leaves = _classes_of(node)
        above = [one for one in leaves if one.bounds[metric][1] > budget]
        if not above:
            return
        if len(above) == len(leaves):
            worst = max(leaves, key=lambda one: one.bounds[metric][1])
            least = min(one.bounds[metric][0] for one in leaves)
            names = [one.name for one in leaves]
            rows.append((facts, least, worst.bounds[metric][1], names, worst.witness))
            return
        walk(node.yes, [*facts, (node.condition, True)])
        walk(node.no, [*facts, (node.condition, False)])

    walk(interface.tree, [])
    return rows


def _classes_of(node):
    if isinstance(node, Node):
        return _classes_of(node.yes) + _classes_of(node.no)
    return [node]


def texts(interface, facts):
    """Decisions as text, each readable after those before it."""
    names, out = interface.names, []
    for k, (condition, holds) in enumerate(facts):
        context = Context(facts[:k])
        out.append(names.condition(condition if holds else t.not_(condition), context))
    return out
