"""Formulas of the controller's net: bits of masks, entries of queues, functions of arcs."""

import functools
import inspect
import operator

import lpn

from ..device import Over
from .tokens import (
    ACT,
    ACT_OK,
    Cycle,
    ALL,
    BANKS,
    CLOSE,
    ID_BITS,
    NONE,
    OLDER,
    PRE,
    READ,
    READ_OK,
    REFRESH,
    PART_BITS,
    ROW_BITS,
    STUCK,
    WRITE,
    WRITE_BIT,
    WRITE_OK,
)


def fields_of(token):
    inherited = fields_of(token.__base__) if token.__base__ is not lpn.Token else []
    return inherited + list(token.__annotations__)


def when(condition, value):
    return lpn.select(condition, value, 0)


def lowest(mask):
    return mask & -mask


def number_of(entry):
    return entry & (2**ID_BITS - 1)


def part_of(entry):
    return entry >> ID_BITS & (2**PART_BITS - 1)


def read_of(r):
    return 1 - is_write(r.entry)


def shared(entry):
    """Whether other requests name its block."""
    return part_of(entry) > 0


def is_write(entry):
    return entry >> WRITE_BIT & 1


# 2 generates the remainders of 67, so bits have different ones.
_BIT_OF = [0] * 67
for bit_of in range(BANKS):
    _BIT_OF[2**bit_of % 67] = bit_of


def bit_number(mask):
    """The number of the only bit of a mask."""
    return lpn.lookup(_BIT_OF, mask % 67)


# The queue of a bank.


def entries_of(q, number):
    return [getattr(q, f"e{k}") for k in range(number)]


def without_entry(entries, gone, k):
    """Entry k of a queue when entry `gone` has left."""
    return lpn.select(gone <= k, entries[k + 1] if k + 1 < len(entries) else -1, entries[k])


def oldest_of(entries, key):
    """The oldest entry of a row and direction."""
    found = NONE
    for k in reversed(range(len(entries))):
        found = lpn.select(entries[k] >> WRITE_BIT == key, k, found)
    return found


def entry_at(entries, k):
    """Entry k."""
    found = entries[-1]
    for j in reversed(range(len(entries) - 1)):
        found = lpn.select(k == j, entries[j], found)
    return found


def to_close(n, served, read, write, most):
    """Whether an open row is to be closed for the oldest entry; `most`: accesses that it may serve
    before that.
    """
    streak = lpn.select(served >= most, n, 0)
    none = lpn.select(read + write == 2 * NONE, n, streak)
    return lpn.select(lpn.min(read, write) == 0, 0, none) > 0


def hits_of(read, write):
    """What an open row makes a bank want."""
    return when(read < NONE, READ) + when(write < NONE, WRITE) + when(write < read, OLDER)


def cycles_type(name, fields):
    """A token type of cycles."""
    return type(name, (lpn.Token,), {"__annotations__": dict.fromkeys(fields, Cycle)})


def copied(arc, kind):
    """The properties of a type, copied from an arc."""
    return {k: Over([arc], lambda t, k=k: getattr(t, k)) for k in fields_of(kind)}


def both(a, b):
    """Whether both hold; `and` of the two would be asked as a branch."""
    return lpn.select(a, when(b, 1), 0) != 0


def where_is(number, k):
    """1 where `number`, a function, is k."""
    names = list(inspect.signature(number).parameters)
    return Over(names, lambda *arcs: when(number(*arcs) == k, 1))


def of_chosen(function, k):
    return Over(["c"], lambda c: function(c, k))


def one_of(kind, *kinds):
    """Whether a kind is one of these."""
    found = 0
    for k in kinds:
        found = lpn.select(kind == k, 1, found)
    return found == 1


def padded(table):
    """A table over banks with an entry for every number that a bank may have."""
    return [*table, *[0] * (BANKS - len(table))]


def bit_of(k):
    return 1 << k


def plus(k, bit):
    """Digit k of the entries in the queues when one more is in that of the bank `bit`."""

    def digit(s, *arcs):
        carry = bit(s, *arcs)
        for j in range(k):
            carry = carry & getattr(s, f"c{j}")
        return getattr(s, f"c{k}") ^ carry

    return Over(list(inspect.signature(bit).parameters), digit)


def minus(k, bit):
    """Digit k when one fewer is in it."""

    def digit(s):
        borrow = bit
        for j in range(k):
            borrow = borrow & ~getattr(s, f"c{j}")
        return getattr(s, f"c{k}") ^ borrow

    return digit


def stopped_again(s):
    """How often in a row draining has stopped for a read that is under way."""
    assert s.stopped < STUCK, (
        "the controller hangs: its write buffer is full, the next write waits for a read of the "
        "same block, and that read behind the writes; 'join = false' in the [controller] of its file "
        "serves each request by itself"
    )
    return s.stopped + 1


def room_at_most(n):
    return lambda room: room.count <= n


def full(s, entries):
    """The banks whose queues have all their entries."""
    # None has more of them, so the digits that are 1 say it.
    ones = [getattr(s, f"c{k}") for k in range(entries.bit_length()) if entries >> k & 1]
    return functools.reduce(operator.and_, ones)


def nothing_to_do(entries):
    """That no queue has any, and no write is to leave its buffer."""

    def nothing(s):
        digits = [getattr(s, f"c{k}") for k in range(entries.bit_length())]
        return functools.reduce(operator.or_, digits) + s.left == 0

    return nothing


def access_of(bank, entry, writes):
    """What Pending says of a read or a write of the block of an entry: bank, row, part, direction."""
    row = entry >> WRITE_BIT + 1
    return ((bank << ROW_BITS | row) << PART_BITS | part_of(entry)) * 2 + int(writes)


def read_wanted(r):
    """The read of the block of a request."""
    return access_of(r.bank, r.entry, False)


def read_under_way(r, p):
    """Whether a read of the block of the request `r` is under way."""
    what = read_wanted(r)
    return when(shared(r.entry), lpn.sum(p, lambda t: when(t.what == what, 1)))


def under_way(r, p):
    """What is under way for the block of a shared request, as `ways` of Shared."""
    read = read_wanted(r)
    return lpn.sum(p, lambda t: when(t.what >> 1 == read >> 1, 1 + t.what - read))


def enters(t):
    """Whether a Shared has to be served itself: a write joins one that is under way, a read is answered
    by a write, or joins a read.
    """
    return lpn.select(t.ways < 2, 1 - joins(t), 0)


def joins(t):
    """Whether it is a read that waits for another."""
    return when(t.ways == 1, read_of(t))


def entered_at(k):
    return lambda r, q: lpn.select(q.n == k, r.entry, getattr(q, f"e{k}"))


def heard_of(field):
    """A property of `wants` after an event."""
    if field in ("turn", "wake", "issued"):
        return lambda w: getattr(w, field)

    def value(e, w):
        return Heard(e, w)[field]

    return value


class State:
    """`wants` as it is."""

    def __init__(self, w):
        self.w = w

    def __getitem__(self, field):
        return getattr(self.w, field)


class Heard:
    """`wants` after an event."""

    def __init__(self, e, w):
        self.e, self.w = e, w

    def __getitem__(self, field):
        e, old = self.e, getattr(self.w, field)
        if field == "at":
            return lpn.max(e.at, old)
        bits = {
            "act": ACT,
            "read": READ,
            "write": WRITE,
            "older": OLDER,
            "pre": PRE,
            "close": CLOSE,
            "act_ok": ACT_OK,
            "read_ok": READ_OK,
            "write_ok": WRITE_OK,
            "blocked": REFRESH,
        }
        if field not in bits:
            return old
        if field in ("act", "read", "write", "older", "pre"):
            old = old & ~when(e.what & ALL != 0, e.banks)
        return old | when(e.what & bits[field] != 0, e.banks)
