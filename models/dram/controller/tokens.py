"""What the tokens of a controller's net say, and its fixed sizes."""

import lpn

from ..standard import MOST_BANK_QUEUE, MOST_ENTRIES

TICKS = 4  # in a cycle
POSTED = 2  # cycles from acceptance to completion of a write
NONE = MOST_BANK_QUEUE  # no entry of a bank's queue
STUCK = 2**13  # cycles in which reads that a write waits for must have left, or never do

# An entry is row << 37 | write << 36 | part << 22 | number. Its part of the row is 1 + its column when
# other requests name the same block, else 0.
ID_BITS, PART_BITS, ROW_BITS = 22, 14, 25
WRITE_BIT = ID_BITS + PART_BITS
BANKS, BANK_BITS = 62, 6  # in a channel: a bit each

END = 2**42  # cycles
MASK = 2**62 - 1

# What an event says of banks.
ACT, READ, WRITE, OLDER, PRE, CLOSE, ACT_OK, READ_OK, WRITE_OK, ALL, REFRESH = (
    1 << k for k in range(11)
)
# Kinds of commands.
ACTIVATES, PRECHARGES, READS, WRITES, REFRESHES = range(5)

Mask, Cycle = lpn.Int[0, MASK], lpn.Int[0, END]
Access = lpn.Int[
    0, 2 ** (BANK_BITS + ROW_BITS + PART_BITS + 1) - 1
]  # block * 2 + whether it writes


class Request(lpn.Token):
    """A request of the trace."""

    arrives: Cycle
    channel: lpn.Int[0, 63]
    bank: lpn.Int[0, BANKS - 1]
    entry: lpn.Int[0, MASK]


class Waiting(lpn.Token):
    """A request in a queue of the channel."""

    at: Cycle
    bank: lpn.Int[0, BANKS - 1]
    entry: lpn.Int[0, MASK]


class Shared(Waiting):
    """A request that has been accepted, whose block others name as well."""

    ways: lpn.Int[0, 3]  # what is under way for its block: 1 a read, 2 a write, 3 both


class Number(lpn.Token):
    """A request's number."""

    id: lpn.Int[0, 2**ID_BITS - 1]


class At(lpn.Token):
    """A cycle."""

    at: Cycle


class Pending(lpn.Token):
    """A read or a write that is under way for a block that several requests name."""

    what: Access


class Joined(Pending):
    """A read that is answered with the one that is under way for its block."""

    id: lpn.Int[0, 2**ID_BITS - 1]


class Queues(lpn.Token):
    """What moves to the banks' queues; `c0`, `c1`, ...: how full they are, in binary, bit b of each is of
    bank b.
    """

    at: Cycle
    moved: Cycle
    reads: Mask  # banks with requests that stepped aside
    writes: Mask
    left: lpn.Int[0, MOST_ENTRIES]  # writes that are still to leave their buffer
    stopped: lpn.Int[0, STUCK]


class Event(lpn.Token):
    """From `at` on, what the bits of `what` say holds for `banks`."""

    at: Cycle
    banks: Mask
    what: lpn.Int[0, 2 * REFRESH - 1]


class Later(lpn.Token):
    """An event in some ticks."""

    wait: lpn.Int[0, TICKS * END]
    at: Cycle
    banks: Mask
    what: lpn.Int[0, 2 * REFRESH - 1]


class Asked(lpn.Token):
    """A bank is asked in cycle `at` whether to close its row."""

    wait: lpn.Int[0, TICKS * END]
    at: Cycle
    bank: lpn.Int[0, BANKS - 1]
    refresh: bool


class Wants(lpn.Token):
    """What banks want of the scheduler, and which of it their own timing allows."""

    at: Cycle
    turn: lpn.Int[0, BANKS - 1]  # the bank that issued last
    wake: Cycle
    act: Mask
    read: Mask
    write: Mask
    older: Mask  # the write is older than the read
    pre: Mask
    close: Mask  # for a refresh
    act_ok: Mask
    read_ok: Mask
    write_ok: Mask
    open: Mask
    blocked: Mask  # of the rank that waits for a refresh
    issued: lpn.Int[0, 2]  # in this cycle: 1 an access, 2 another command; for a second one


class Chosen(Wants):
    """What banks want, and the command that one of them is given."""

    command: lpn.Int[0, 5 * BANKS]  # 4 * bank + kind; from 4 * BANKS on, the refresh of a rank
    second: bool


class Call(lpn.Token):
    """A request aside may go on: its bank, and whether it is a write."""

    bank: lpn.Int[0, BANKS - 1]
    write: bool


class Refresh(lpn.Token):
    """A rank's turn to be refreshed."""

    at: Cycle
    unit: lpn.Int[0, 63]


class Bank(lpn.Token):
    """A bank and its queue: its entries `e0`, `e1`, ..., oldest first; -1 where there is none."""

    n: lpn.Int[0, MOST_BANK_QUEUE]
    open: bool
    row: lpn.Int[0, 2**ROW_BITS - 1]
    served: lpn.Int[0, MOST_ENTRIES]  # accesses of the open row
    read: lpn.Int[0, NONE]  # the oldest entry that reads the open row
    write: lpn.Int[0, NONE]  # the oldest that writes it
    pre_at: Cycle  # when its row may be closed
    act_at: Cycle  # when the next may be opened, for the sake of the one before


def bank_of(entries):
    """The type Bank with so many entries."""
    return _more(Bank, "e", entries, lpn.Int[-1, MASK])


def queues_of(entries):
    """The type Queues for banks with so many entries."""
    return _more(Queues, "c", entries.bit_length(), Mask)


def _more(token, letter, number, kind):
    annotations = {f"{letter}{k}": kind for k in range(number)}
    return type(token.__name__, (token,), {"__annotations__": annotations})
