"""Maps on a path: what the state before the packet and the updates so far say of a key."""

from . import terms as t
from .helpers import BPF_EXIST, BPF_NOEXIST, E2BIG, EEXIST, EINVAL, ENOENT
from .objects import ARRAYS, HASHES
from .state import Change

MINUS = {n: t.const(-n) for n in (E2BIG, EEXIST, EINVAL, ENOENT)}


def index_of(key):
    """The number that a key of an array is; keys are in the order of memory."""
    return t.swapped(key)


def same(keys, others):
    """When two keys are one."""
    return t.all_(*[t.eq(a, b) for a, b in zip(keys, others)])


def before(shape, name, keys):
    """Whether the map has the key before the packet."""
    if shape.kind in ARRAYS:
        return t.ult(index_of(keys[-1]), t.const(shape.max_entries, 32))
    if shape.kind in ("ARRAY_OF_MAPS", "DEVMAP", "CPUMAP", "XSKMAP"):
        inside = t.ult(index_of(keys[-1]), t.const(shape.max_entries, 32))
        return t.all_(inside, t.has(name, keys))
    return t.has(name, keys)


def present(state, shape, name, keys):
    """Whether the map has the key now."""
    now = before(shape, name, keys)
    for change in state.changes.get(name, ()):
        if change.kind == "put":
            now = t.any_(t.all_(change.when, same(change.keys, keys)), now)
        elif change.kind == "del":
            now = t.all_(t.not_(t.all_(change.when, same(change.keys, keys))), now)
    return now


def value(state, name, keys, off, count):
    """`count` bytes of a key's value now."""
    out = []
    for k in range(count):
        at = t.add(off, t.const(k))
        now = t.val(name, keys, at)
        for change in state.changes.get(name, ()):
            if change.kind == "del":
                continue
            here = t.all_(change.when, same(change.keys, keys))
            if here is t.FALSE:
                continue
            first = t.const(0) if change.off is None else change.off
            n = t.value_of(t.sub(at, first))
            if n is not None:
                if n < len(change.content):
                    now = t.ite(here, change.content[n], now)
                continue
            for i, byte in enumerate(change.content):
                now = t.ite(t.all_(here, t.eq(t.add(first, t.const(i)), at)), byte, now)
        out.append(now)
    return out


def free_before(name):
    """How many keys more fit into a map before the packet."""
    return t.symbol(f"free {name}", 32)


def updated(state, shape, name, keys, content, flags):
    """Changes the map; the helper's answer (64 bits)."""
    bad = t.ult(t.const(BPF_EXIST), flags)
    if shape.kind in ARRAYS:
        inside = before(shape, name, keys)
        fresh_only = t.eq(flags, t.const(BPF_NOEXIST))
        done = t.all_(t.not_(bad), inside, t.not_(fresh_only))
        _note(state, name, Change("store", keys, done, tuple(content), t.const(0)))
        answer = t.ite(fresh_only, MINUS[EEXIST], t.const(0))
        answer = t.ite(inside, answer, MINUS[E2BIG])
        return t.ite(bad, MINUS[EINVAL], answer)
    have = present(state, shape, name, keys)
    only_new, only_old = (t.eq(flags, t.const(n)) for n in (BPF_NOEXIST, BPF_EXIST))
    refused = t.ite(have, only_new, only_old)
    full = t.FALSE
    if not shape.kind.startswith("LRU"):
        full = t.all_(t.not_(have), t.eq(free_now(state, name), t.const(0, 32)))
    done = t.all_(t.not_(bad), t.not_(refused), t.not_(full))
    adds = t.all_(done, t.not_(have))
    _note(state, name, Change("put", keys, done, tuple(content), None, adds))
    answer = t.ite(full, MINUS[E2BIG], t.const(0))
    answer = t.ite(refused, t.ite(have, MINUS[EEXIST], MINUS[ENOENT]), answer)
    return t.ite(bad, MINUS[EINVAL], answer)


def deleted(state, shape, name, keys):
    """Changes the map; the helper's answer."""
    if shape.kind not in HASHES:
        return MINUS[EINVAL]
    have = present(state, shape, name, keys)
    _note(state, name, Change("del", keys, t.TRUE, adds=have))
    return t.ite(have, t.const(0), MINUS[ENOENT])


def free_now(state, name):
    free = free_before(name)
    for change in state.changes.get(name, ()):
        if change.adds is not t.FALSE:
            step = t.const(-1 if change.kind == "put" else 1, 32)
            free = t.add(free, t.ite(change.adds, step, t.const(0, 32)))
    return free


def stored(state, name, keys, off, content):
    """A write through a pointer into a value."""
    _note(state, name, Change("store", keys, t.TRUE, tuple(content), off))


def _note(state, name, change):
    if change.when is not t.FALSE:
        state.changes[name] = (*state.changes.get(name, ()), change)


def updates(state, name):
    """Puts and deletions so far: pointers of before may be to an element that is none any more."""
    return [c for c in state.changes.get(name, ()) if c.kind != "store"]
