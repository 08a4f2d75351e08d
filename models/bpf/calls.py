"""Helper functions on terms: each as helpers.py names it; what is not there is refused by name."""

from . import helpers as h
from . import tables
from . import terms as t
from .objects import ARRAYS, HASHES, OF_MAPS, REDIRECTS
from .state import Fork, Pointer


def shape_of(x, name):
    """The map of a name; of inner maps it is the outer name with []."""
    if name.endswith("[]"):
        return x.program.maps[name[:-2]].inner
    return x.program.maps[name]


def helper(x, s, one):
    """Runs a call; a Fork where it decides something."""
    if one.src != 0 or one.target is not None:
        name = one.target[1] if one.target else "kernel function"
        raise x.wrong(s, f"calls '{name}', which is not modelled", "E-bpf-helper")
    name = h.name_of(one.imm)
    if name not in h.MODELLED:
        raise x.wrong(s, f"calls the helper '{name}', which is not modelled", "E-bpf-helper")
    tried = s.calls.get("tail call at", ())
    if name != "tail_call" or not tried:
        s.cost.insns += 1
        s.cost.helpers[name] = s.cost.helpers.get(name, 0) + 1
        if x.prices:
            table = _map_of(x, s, name)
            kind = table and shape_of(x, table).kind
            cycles, variables = x.prices.helper(name, kind, x.here(s))
            s.cost.cycles += cycles
            for variable, each in variables.items():
                variable = f"{shape_of(x, table).name}.{variable}"
                s.cost.variables[variable] = s.cost.variables.get(variable, 0) + each
    if name == "tail_call":
        return _tail_call(x, s)
    if name in h.ENVIRONMENT:
        result = _environment(s, name)
    else:
        result = _MODELS[name](x, s)
    if isinstance(result, Fork):
        return result
    _finish(s, result)
    return None


def _map_of(x, s, name):
    """The name of the map that a helper is given, or None."""
    p = s.regs[h.MAP_IN.get(name, 0)]
    if name not in h.MAP_IN or not isinstance(p, Pointer) or p.kind != "table":
        return None
    return p.of[0]


def _finish(s, result):
    s.regs[0] = result
    for number in range(1, 6):
        s.regs[number] = None
    s.pc += 1


def _environment(s, name):
    what, bits = h.ENVIRONMENT[name]
    if what in ("cpu", "numa"):
        return t.zext(t.symbol(f"env {what}", bits), 64)
    number = s.calls.get(what, 0)
    s.calls[what] = number + 1
    found = t.symbol(f"env {what} {number}", bits)
    if what == "ktime" and number:  # time does not run backwards
        s.assume(t.not_(t.ult(found, t.symbol(f"env {what} {number - 1}", bits))))
    return t.zext(found, 64)


def _table(x, s, number=1):
    """(name, shape, outer keys) of the map in a register."""
    p = x.read(s, number)
    if not isinstance(p, Pointer) or p.kind != "table":
        raise x.wrong(s, f"gives a helper no map in r{number}")
    if p.null is not t.FALSE and not x.certain(s, t.not_(p.null)):
        raise x.wrong(s, "uses a map that was not tested for NULL")
    name, keys = p.of
    return name, shape_of(x, name), keys


def _block(x, s, number, size):
    """Bytes that a register points to; not counted, as a part of the helper's body."""
    p = x.read(s, number)
    if not isinstance(p, Pointer) or p.kind == "ctx":
        raise x.wrong(s, f"gives a helper no memory in r{number}")
    return x.fetch(s, p, p.off, size)


def _number(x, s, register):
    value = x.read(s, register)
    if isinstance(value, Pointer):
        raise x.wrong(s, f"gives a helper a pointer for the number in r{register}")
    return value


def _lookup(x, s):
    name, shape, outer = _table(x, s)
    if shape.kind not in ARRAYS + HASHES + OF_MAPS + ("LPM_TRIE",):
        raise x.wrong(
            s, f"looks up in '{name}' of type {shape.kind}, which is not modelled", "E-bpf-map"
        )
    keys = (*outer, t.cat(*_block(x, s, 2, shape.key_size)))
    missing = t.not_(tables.present(s, shape, name, keys))
    if missing is t.TRUE:
        return t.const(0)
    if shape.kind in OF_MAPS:
        if shape.inner is None:
            raise x.wrong(
                s,
                f"looks up in '{name}', of whose inner maps nothing is known; write"
                f" --inner {name}=MAP with a map of the object that they are like",
                "E-bpf-map",
            )
        x.assuming(f"every key of {name} has an inner map of its own")
        return Pointer("table", (name + "[]", keys), t.const(0), missing)
    if shape.kind.startswith("LRU") or shape.kind == "LPM_TRIE":
        _assumed(x, s, shape, name)
    return Pointer("value", (name, keys, len(tables.updates(s, name))), t.const(0), missing)


def _assumed(x, s, shape, name):
    if shape.kind.startswith("LRU") and tables.updates(s, name):
        x.assuming(
            f"an update of {name} (LRU) puts away no entry that the same packet looks up later"
        )


def _changeable(x, s, what):
    name, shape, outer = _table(x, s)
    if shape.kind not in ARRAYS + HASHES:
        raise x.wrong(
            s, f"{what} '{name}' of type {shape.kind}, which is not modelled", "E-bpf-map"
        )
    return name, shape, (*outer, t.cat(*_block(x, s, 2, shape.key_size)))


def _update(x, s):
    name, shape, keys = _changeable(x, s, "updates")
    content = _block(x, s, 3, shape.value_size)
    return tables.updated(s, shape, name, keys, content, _number(x, s, 4))


def _delete(x, s):
    name, shape, keys = _changeable(x, s, "deletes from")
    return tables.deleted(s, shape, name, keys)


def _redirect(x, s):
    flags = _number(x, s, 2)
    return t.ite(t.eq(flags, t.const(0)), t.const(4), t.const(0))


def _redirect_map(x, s):
    name, shape, _ = _table(x, s)
    if shape.kind not in REDIRECTS:
        raise x.wrong(s, f"redirects by '{name}' of type {shape.kind}", "E-bpf-map")
    index, flags = _number(x, s, 2), _number(x, s, 3)
    key = t.swapped(t.cut(index, 31, 0))
    allowed = 3 | (24 if shape.kind.startswith("DEVMAP") else 0)
    there = tables.before(shape, name, (key,))
    to_all = t.not_(t.eq(t.and_(flags, t.const(8)), t.const(0)))
    verdict = t.ite(t.any_(there, to_all), t.const(4), t.and_(flags, t.const(3)))
    odd = t.not_(t.eq(t.and_(flags, t.const(~allowed)), t.const(0)))
    return t.ite(odd, t.const(0), verdict)


def _sized(delta):
    """A signed 32-bit number as 64 bits."""
    return t.sext(t.cut(delta, 31, 0), 64)


def _adjust_head(x, s):
    x.assuming("room in front of the packet: env.headroom, 256 bytes where nothing else is said")
    head = t.add(s.head, _sized(_number(x, s, 2)))
    room = t.neg(t.zext(t.symbol("env headroom", 16), 64))
    fails = t.any_(t.slt(head, room), t.slt(t.sub(s.tail, t.const(14)), head))
    return Fork(t.not_(fails), _moved(head, None), _failed)


def _adjust_tail(x, s):
    delta = _sized(_number(x, s, 2))
    if not x.certain(s, t.not_(t.slt(t.const(0), delta))):
        raise x.wrong(s, "may grow the packet at its end, which is not modelled", "E-bpf-helper")
    tail = t.add(s.tail, delta)
    fails = t.slt(tail, t.add(s.head, t.const(14)))
    return Fork(t.not_(fails), _moved(None, tail), _failed)


def _moved(head, tail):
    def there(state):
        state.head = state.head if head is None else head
        state.tail = state.tail if tail is None else tail
        state.generation += 1
        _finish(state, t.const(0))

    return there


def _failed(state):
    _finish(state, t.const(-h.EINVAL))


def _length(x, s):
    return t.sub(s.tail, s.head)


def _checksum(x, s):
    sizes = [t.value_of(_number(x, s, r)) for r in (2, 4)]
    if None in sizes or any(z % 4 or z > 512 for z in sizes):
        raise x.wrong(s, "sums up a variable number of bytes (csum_diff)", "E-bpf-helper")
    total = t.zext(t.cut(_number(x, s, 5), 31, 0), 64)
    for register, size, flip in ((1, sizes[0], True), (3, sizes[1], False)):
        content = _block(x, s, register, size) if size else []
        for at in range(0, size, 4):
            word = t.cat(*reversed(content[at : at + 4]))
            word = t.xor(word, t.const(-1, 32)) if flip else word
            total = t.add(total, t.zext(word, 64))
    for _ in range(2):
        low, high = t.cut(total, 31, 0), t.cut(total, 63, 32)
        total = t.add(t.zext(low, 64), t.zext(high, 64))
    return total


def _nothing(x, s):
    return t.const(0)


def _tail_call(x, s):
    """One slot after the other that is known; then the slot is empty."""
    name, shape, _ = _table(x, s, 2)
    if shape.kind != "PROG_ARRAY":
        raise x.wrong(s, f"tail-calls by '{name}' of type {shape.kind}", "E-bpf-map")
    known = x.tails.get(name)
    if known is None:
        raise x.wrong(
            s,
            f"tail-calls a program of '{name}', of which nothing is known; write"
            f" --tail-call {name}:INDEX=PROGRAM",
            "E-bpf-tail-call",
        )
    x.assuming(f"{name} holds " + ", ".join(f"[{i}] {f.name}" for i, f in sorted(known.items())))
    tried = s.calls.pop("tail call at", ())
    index = t.cut(_number(x, s, 3), 31, 0)
    left = [i for i in sorted(known) if i not in tried]
    made = s.calls.get("tail calls", 0)
    if not left or made >= 33:
        _finish(s, t.const(-h.ENOENT))
        return None
    if s.frames:
        raise x.wrong(s, "tail-calls within a function, which is not modelled", "E-bpf-tail-call")
    first = left[0]

    def enter(state):
        state.calls["tail calls"] = made + 1
        state.pc = known[first].entry
        state.regs = [None] * 11
        state.frame, state.made, state.stack = state.made, state.made + 1, {}
        state.regs[1] = Pointer("ctx", 0, t.const(0))
        state.regs[10] = Pointer("stack", state.frame, t.const(512))

    def other(state):
        state.calls["tail call at"] = (*tried, first)

    here = t.eq(index, t.const(first, 32))
    if here is t.TRUE:
        enter(s)
        return None
    if here is t.FALSE:
        other(s)
        return _tail_call(x, s)
    return Fork(here, enter, other)


_MODELS = {
    "map_lookup_elem": _lookup,
    "map_update_elem": _update,
    "map_delete_elem": _delete,
    "redirect": _redirect,
    "redirect_map": _redirect_map,
    "xdp_adjust_head": _adjust_head,
    "xdp_adjust_tail": _adjust_tail,
    "xdp_get_buff_len": _length,
    "csum_diff": _checksum,
    "spin_lock": _nothing,
    "spin_unlock": _nothing,
}
