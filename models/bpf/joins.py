"""Joining the states of paths that meet again: one state, whose values depend on what differed."""

from . import tables
from . import terms as t
from .helpers import name_of
from .state import Bytes, Change, Pointer, joined_cost

# How many registers a helper reads, from r1 on; others are taken to read five.
ARGUMENTS = {
    "map_lookup_elem": 2, "map_update_elem": 4, "map_delete_elem": 2, "tail_call": 3,
    "ktime_get_ns": 0, "get_prandom_u32": 0, "get_smp_processor_id": 0, "redirect": 2,
    "redirect_map": 3, "xdp_adjust_head": 2, "xdp_adjust_tail": 2, "ktime_get_boot_ns": 0,
}  # fmt: skip


class Apart(Exception):
    """Two states that stay two."""


def successors(code, pc):
    """Slots that may follow within a function."""
    one = code[pc]
    if one.kind == "exit":
        return []
    if one.kind == "goto":
        return [one.target]
    following = pc + (2 if one.kind == "lddw" else 1)
    return [one.target, following] if one.kind == "jump" else [following]


def reachable(code, entry):
    seen, stack = set(), [entry]
    while stack:
        pc = stack.pop()
        if pc not in seen and pc in code:
            seen.add(pc)
            stack.extend(successors(code, pc))
    return seen


def live_registers(code, nodes):
    """{slot: registers that are read from here on}."""
    live = {pc: frozenset() for pc in nodes}
    again = True
    while again:
        again = False
        for pc in sorted(nodes, reverse=True):
            after = set().union(*(live.get(n, ()) for n in successors(code, pc)))
            now = frozenset(_before(code[pc], after))
            if now != live[pc]:
                live[pc], again = now, True
    return live


def _before(one, after):
    kind, src = one.kind, set() if one.src is None else {one.src}
    if kind == "exit":
        return {0, 10, 6, 7, 8, 9}
    if kind == "goto":
        return after
    if kind == "jump":
        return after | {one.dst} | src
    if kind == "call":
        count = 5 if one.src else ARGUMENTS.get(name_of(one.imm), 5)
        return (after - set(range(6))) | set(range(1, count + 1))
    if kind in ("store", "atomic"):
        return after | {one.dst} | src | ({0} if one.op == "cmpxchg" else set())
    if kind in ("lddw",) or (kind == "alu" and one.op in ("mov", "movsx")) or kind == "load":
        return (after - {one.dst}) | (set() if kind == "lddw" else src)
    return after | {one.dst} | src


def order(code, nodes, entry):
    """{slot: position}: forwards, with all of a loop in front of what follows it."""
    out = {}

    def number(part, first, cut):
        # Components in topological order, by Tarjan's algorithm without recursion.
        index, low, on, stack, components = {}, {}, set(), [], []
        for root in [first, *sorted(part)]:
            if root in index or root not in part:
                continue
            work = [(root, iter(_inside(code, root, part, cut)))]
            index[root] = low[root] = len(index)
            stack.append(root)
            on.add(root)
            while work:
                node, rest = work[-1]
                for n in rest:
                    if n not in index:
                        index[n] = low[n] = len(index)
                        stack.append(n)
                        on.add(n)
                        work.append((n, iter(_inside(code, n, part, cut))))
                        break
                    if n in on:
                        low[node] = min(low[node], index[n])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == index[node]:
                        component = []
                        while True:
                            n = stack.pop()
                            on.discard(n)
                            component.append(n)
                            if n == node:
                                break
                        components.append((node, component))
        for head, component in reversed(components):
            if len(component) == 1:
                out[component[0]] = len(out)
            else:
                number(set(component), head, cut | {head})

    number(set(nodes), entry, frozenset())
    return out


def _inside(code, pc, part, cut):
    return [n for n in successors(code, pc) if n in part and n not in cut]


def joined(a, b, live):
    """One state for two at the same place; Apart where they cannot be one. `live`: registers that
    are still read.
    """
    if (a.frame, a.made, a.generation, a.calls) != (b.frame, b.made, b.generation, b.calls):
        raise Apart
    if len(a.frames) != len(b.frames):
        raise Apart
    same = 0
    for x, y in zip(a.conditions, b.conditions):
        if x is not y:
            break
        same += 1
    mine, others = a.conditions[same:], b.conditions[same:]
    when = t.all_(*mine)
    if mine and others and t.not_(mine[0]) is others[0]:
        when = mine[0]
    new = a.copy()
    for number in range(11):
        new.regs[number] = _value(when, a.regs[number], b.regs[number], number in live)
    frames = []
    for x, y in zip(a.frames, b.frames):
        if (x[0], x[2]) != (y[0], y[2]):
            raise Apart
        frames.append((x[0], tuple(_value(when, p, q, True) for p, q in zip(x[1], y[1])), x[2]))
    new.frames = tuple(frames)
    _join_stack(new, a, b, when)
    new.packet = _join_bytes(a.packet, b.packet, when)
    new.head, new.tail = t.ite(when, a.head, b.head), t.ite(when, a.tail, b.tail)
    for name in {**a.changes, **b.changes}:
        new.changes[name] = _join_changes(a, b, name, when)
    either = t.any_(t.all_(*mine), t.all_(*others))
    new.conditions = a.conditions[:same] + (() if either is t.TRUE else (either,))
    new.known = {k: v for k, v in a.known.items() if b.known.get(k) is v}
    new.bounds = {
        k: (min(v[0], b.bounds[k][0]), max(v[1], b.bounds[k][1]))
        for k, v in a.bounds.items()
        if k in b.bounds
    }
    new.cost = joined_cost(when, a.cost, b.cost)
    return new


def _value(when, x, y, needed):
    if x is y or x == y:
        return x
    if x is None or y is None:  # nobody reads what was written on one path only
        return y if x is None else x
    if isinstance(x, t.Term) and isinstance(y, t.Term):
        return t.ite(when, x, y)
    if isinstance(x, Pointer) and isinstance(y, Pointer) and (x.kind, x.of) == (y.kind, y.of):
        return Pointer(x.kind, x.of, t.ite(when, x.off, y.off), t.ite(when, x.null, y.null))
    if isinstance(x, Pointer) and isinstance(y, t.Term) and t.value_of(y) == 0:
        return Pointer(x.kind, x.of, x.off, t.ite(when, x.null, t.TRUE))
    if isinstance(y, Pointer) and isinstance(x, t.Term) and t.value_of(x) == 0:
        return Pointer(y.kind, y.of, y.off, t.ite(when, t.TRUE, y.null))
    if needed:
        raise Apart
    return None


def _join_stack(new, a, b, when):
    for key in a.stack.keys() | b.stack.keys():
        x, y = a.stack.get(key), b.stack.get(key)
        if x is y or x == y:
            continue
        if x is None or y is None:
            new.stack[key] = y if x is None else x
        elif isinstance(x, t.Term) and isinstance(y, t.Term):
            new.stack[key] = t.ite(when, x, y)
        elif isinstance(x, tuple) and isinstance(y, tuple) and x[1] == y[1]:
            new.stack[key] = (_value(when, x[0], y[0], True), x[1])
        else:
            raise Apart


def _join_bytes(a, b, when):
    if a is b or a.layers == b.layers:
        return a
    same = 0
    for x, y in zip(a.layers, b.layers):
        if x is not y and x != y:
            break
        same += 1
    mine, others = a.layers[same:], b.layers[same:]
    if all(layer[0] == "at" for layer in (*mine, *others)):
        places = {k for layer in (*mine, *others) for k in layer[1]}
        new = {}
        for place in places:
            off = t.const(place)
            new[place] = t.ite(when, a.load(off, t.pkt), b.load(off, t.pkt))
        return Bytes((*a.layers[:same], ("at", new)))
    return Bytes((*a.layers[:same], *_guarded(mine, when), *_guarded(others, t.not_(when))))


def _guarded(layers, when):
    out = []
    for layer in layers:
        if layer[0] == "at":
            out += [("any", t.const(k), (byte,), when) for k, byte in layer[1].items()]
        else:
            out.append(("any", layer[1], layer[2], t.all_(layer[3], when)))
    return out


def _join_changes(a, b, name, when):
    x, y = a.changes.get(name, ()), b.changes.get(name, ())
    same = 0
    for p, q in zip(x, y):
        if p is not q:
            break
        same += 1
    if same == len(x) == len(y):
        return x
    if len(tables.updates(a, name)) != len(tables.updates(b, name)) or any(
        c.kind != "store" for c in (*x[same:], *y[same:])
    ):
        for s in (a, b):  # a pointer counts the updates before it
            held = [r for r in s.regs if isinstance(r, Pointer)]
            held += [v[0] for v in s.stack.values() if isinstance(v, tuple)]
            held += [r for f in s.frames for r in f[1] if isinstance(r, Pointer)]
            if any(p.kind == "value" and p.of[0] == name for p in held):
                raise Apart
    return (*x[:same], *_when(x[same:], when), *_when(y[same:], t.not_(when)))


def _when(changes, when):
    return [
        Change(c.kind, c.keys, t.all_(c.when, when), c.content, c.off, t.all_(c.adds, when))
        for c in changes
    ]
