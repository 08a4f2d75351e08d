"""The net of a memory controller: FR-FCFS over queues of the banks, after DRAMsim3.

    requests -> accept -> read_queue, write_buffer -> move -> state of the bank -> ACT, PRE, RD, WR
        RD -> data -> done; an accepted write is done at once

A cycle has four ticks, in the simulator's order: 0 requests arrive and refreshes fall due, 1 one
command issues, 2 one request moves to the queue of its bank, 3 one request is accepted.
"""

import lpn

from .device import Over, named

__all__ = ["ID", "ROW_BITS", "TICKS", "build"]

TICKS = 4  # in a cycle
READ_QUEUE, BANK_QUEUE = 32, 8  # entries
WRITE_BUFFER, DRAIN_IDLE = 32, 8  # entries; more than 8 drain when no bank has work
POSTED = 2  # cycles from acceptance to completion of a write
STREAK = 4  # accesses that an open row serves before an older request may close it
ID = 25  # an entry is row << 25 | write << 24 | number
ROW_BITS = 36
NONE = BANK_QUEUE


class Request(lpn.Token):
    """A request of the trace."""

    gap: lpn.Int[0, 2**40]  # cycles since the request before arrived
    bank: lpn.Int[0, 1023]
    entry: lpn.Int[0, 2**62]


class Number(lpn.Token):
    """A request's number."""

    id: lpn.Int[0, 2**ID - 1]


class Drain(lpn.Token):
    """Writes that are still to leave their buffer before reads go on."""

    left: lpn.Int[0, 1024]


class Turn(lpn.Token):
    """The bank that issued last."""

    bank: lpn.Int[0, 1023]


class Bank(lpn.Token):
    """A bank and its queue, oldest entry first; -1 where there is none."""

    n: lpn.Int[0, BANK_QUEUE]
    open: bool
    row: lpn.Int[0, 2**ROW_BITS - 1]
    served: lpn.Int[0, STREAK]  # accesses of the open row
    read: lpn.Int[0, NONE]  # the oldest entry that reads the open row
    write: lpn.Int[0, NONE]  # the oldest that writes it
    e0: lpn.Int[-1, 2**62]
    e1: lpn.Int[-1, 2**62]
    e2: lpn.Int[-1, 2**62]
    e3: lpn.Int[-1, 2**62]
    e4: lpn.Int[-1, 2**62]
    e5: lpn.Int[-1, 2**62]
    e6: lpn.Int[-1, 2**62]
    e7: lpn.Int[-1, 2**62]


def _entries(q):
    return [getattr(q, f"e{k}") for k in range(BANK_QUEUE)]


def _without(q, gone, k):
    """Entry k of the queue when entry `gone` has left."""
    e = [*_entries(q), -1]
    return lpn.select(gone <= k, e[k + 1], e[k])


def _first(entries, key):
    """The oldest entry of a row and direction."""
    found = NONE
    for k in reversed(range(BANK_QUEUE)):
        found = lpn.select(entries[k] >> ID - 1 == key, k, found)
    return found


def _chosen(q, k):
    """Entry k."""
    e = _entries(q)
    found = e[-1]
    for j in reversed(range(BANK_QUEUE - 1)):
        found = lpn.select(k == j, e[j], found)
    return found


class _Controller:
    def __init__(self, standard, net):
        self.standard = standard
        self.net = net
        self.cycles = standard.cycles
        self.closes = standard.controller["page"] == "closed"
        self.read, self.write = ("RDA", "WRA") if self.closes else ("RD", "WR")
        self.holds, self.held = {}, {}

    def build(self):
        """All of it."""
        s, net = self.standard, self.net
        self.slot = self._once_a_cycle("command")
        self.mover = self._once_a_cycle("move")
        self.turn = net.place("turn", Turn, init=[{"bank": 0}])
        empty = dict(n=0, open=False, row=0, served=0, read=NONE, write=NONE)
        empty.update({f"e{k}": -1 for k in range(BANK_QUEUE)})
        self.banks = [net.place(named("bank", s, b), Bank, init=[empty]) for b in s.banks]
        self.refreshing = {u: net.place(named("refreshing", s, u)) for u in s.units}
        self._windows()
        self._holds()
        self.returning = net.place("returning", Number, drain=True)
        self.written = net.place("written", Number, sink=True)
        # A token: a bank may have got room since the requests passed over were looked at.
        self.stale = {way: net.place(f"stale_{way}") for way in ("read", "write")}
        self.queued = net.place("queued")  # a token per entry of all queues of banks
        self._refreshes()
        for wrapped in (False, True):
            for number, where in enumerate(s.banks):
                self._activate(number, where, wrapped)
                self._precharge(number, where, wrapped)
                # The older of a read and a write that are both possible.
                self._access("read", number, where, wrapped, lambda q: q.read < q.write)
                self._access("write", number, where, wrapped, lambda q: q.write < NONE)
                self._access("read", number, where, wrapped, _younger_read)
        done = net.place("done", Number, done=True)
        latency = self.cycles("CL + burst")
        net.transition(
            "data",
            take={"r": self.returning},
            put=[done.forward("r")],
            delay=TICKS * latency,
            servers=latency,
        )
        self._front_end(done)
        return net

    def _once_a_cycle(self, name):
        """(a place with a token for one start per cycle, where to put it)"""
        free, spent = self.net.place(f"{name}_slot", init=1), self.net.place(f"{name}_spent")
        self.net.transition(f"{name}_again", take={"t": spent}, put=[free], delay=1, servers=1)
        return free, spent

    def _front_end(self, done):
        net = self.net
        trace = net.place("trace", Request, start=True)
        requests = net.place("requests", Request, drain=True)
        accepted = net.place("accepted", Number, sink=True)
        posted = net.place("posted", Number, drain=True)
        net.transition(
            "arrive",
            take={"r": trace},
            put=[requests.forward("r")],
            delay=lambda r: TICKS * r.gap,
            servers=1,
        )
        room = {"read": net.place("read_room", init=READ_QUEUE)}
        room["write"] = net.place("write_room", init=WRITE_BUFFER)
        drain = net.place("drain", Drain, init=[{"left": 0}])
        self._drain_starts(drain, room["write"])
        port = net.place("port", init=1)
        port_spent = net.place("port_spent")
        net.transition("port_again", take={"t": port_spent}, put=[port], delay=1, servers=1)
        for way in ("write", "read"):
            queue = net.place("write_buffer" if way == "write" else "read_queue", Request)
            self._movers(way, queue, room[way], drain)
            writes = int(way == "write")
            net.transition(
                f"accept_{way}",
                take={
                    "port": port,
                    "r": requests.take(guard=lambda r, w=writes: (r.entry >> ID - 1) & 1 == w),
                    "room": room[way],
                },
                put=[
                    port_spent,
                    queue.forward("r"),
                    accepted.emit(id=_number),
                    *([posted.emit(id=_number)] if writes else []),
                ],
                clock=(TICKS, 3),
                servers=1,
            )
        net.transition(
            "post",
            take={"w": posted},
            put=[done.forward("w")],
            delay=TICKS * POSTED,
            servers=POSTED,
        )

    def _drain_starts(self, drain, room):
        """Writes go to the banks when their buffer is full, or when it is half a burst full and
        no bank has anything to do.
        """
        idle = {"nobody": self.queued.empty()}
        for name, more, least in (("full", {}, WRITE_BUFFER), ("idle", idle, DRAIN_IDLE + 1)):
            self.net.transition(
                f"drain_when_{name}",
                take={
                    "d": drain.take(guard=lambda d: d.left == 0),
                    "room": room.watch(guard=lambda room, n=least: room.count <= WRITE_BUFFER - n),
                    **more,
                },
                put=[drain.emit(left=lambda room: WRITE_BUFFER - room.count)],
                clock=(TICKS, 2),
                servers=1,
            )

    def _movers(self, way, queue, room, drain):
        """From a queue to those of the banks, one a cycle, the oldest whose bank has room. Requests
        that were passed over wait in `passed`, in their order; when a bank may have got room, all
        of them are looked at again.
        """
        net, s = self.net, self.standard
        passed = net.place(f"passed_{way}", Request, drain=True)
        again = net.place(f"looked_at_{way}", Request, drain=True)
        one = net.place(f"look_{way}", init=1)  # one request at a time keeps its place in the order
        stale = self.stale[way]
        mine = {"d": drain.peek(guard=_turn_of(way))}
        phase = {"clock": (TICKS, 2), "servers": 1}
        free, spent = self.mover
        net.transition(
            f"look_again_{way}",
            take={
                "mover": free.peek(1),
                **mine,
                "stale": stale.take(lambda stale: stale.count, need=1),
                "looked_at": again.empty(),
                "r": passed.take(lambda r: r.count, need=0),
            },
            put=[again.forward("r")],
            **phase,
        )
        for number, where in enumerate(s.banks):
            self._move(named(f"move_again_{way}", s, where), again, number, way, room, drain, one)
            full = self.banks[number].peek(guard=lambda q: q.n == BANK_QUEUE)
            take = {
                "one": one,
                "mover": free.peek(1),
                **mine,
                "r": again.take(guard=lambda r, number=number: r.bank == number),
                "q": full,
            }
            net.transition(
                named(f"pass_again_{way}", s, where),
                take=take,
                put=[passed.forward("r"), one],
                **phase,
            )
        net.transition(  # one has moved; the others stay, to be looked at in the next cycle
            f"put_back_{way}",
            take={
                "moved": free.empty(),
                "one": one.peek(1),
                "r": again.take(lambda r: r.count, need=1),
            },
            put=[passed.forward("r"), stale],
            **phase,
        )
        fresh = {"stale": stale.empty(), "looked_at": again.empty()}
        for number, where in enumerate(s.banks):
            name = named(f"move_{way}", s, where)
            self._move(name, queue, number, way, room, drain, one, fresh)
            full = self.banks[number].peek(guard=lambda q: q.n == BANK_QUEUE)
            take = {
                "one": one,
                "mover": free.peek(1),
                **mine,
                **fresh,
                "r": queue.take(guard=lambda r, number=number: r.bank == number),
                "q": full,
            }
            net.transition(
                named(f"aside_{way}", s, where), take=take, put=[passed.forward("r"), one], **phase
            )

    def _move(self, name, source, number, way, room, drain, one, fresh=()):
        """One request into the queue of its bank."""
        bank = self.banks[number]
        writes = int(way == "write")

        def hits(q):
            return q.write if writes else q.read

        def hit(r, q):
            first = lpn.select(r.entry >> ID == q.row, q.n, NONE)
            return lpn.select(q.open, lpn.select(hits(q) == NONE, first, hits(q)), NONE)

        changed = {f"e{k}": _entered(k) for k in range(BANK_QUEUE)}
        changed[way] = hit
        take = {
            "mover": self.mover[0],
            "one": one.peek(1),
            **dict(fresh),
            "r": source.take(guard=lambda r: r.bank == number),
            "q": bank.take(guard=lambda q: q.n < BANK_QUEUE),
        }
        put = [self.mover[1], room, self.queued]
        if writes:
            take["d"] = drain.take(guard=_turn_of(way))
            put.append(drain.emit(left=lambda d: d.left - 1))
        else:
            take["d"] = drain.peek(guard=_turn_of(way))
        put.append(bank.forward("q", n=lambda q: q.n + 1, **changed))
        self.net.transition(name, take=take, put=put, clock=(TICKS, 2), servers=1)

    # Timing: as in device.py, four ticks to the cycle.

    def _windows(self):
        (name, number, cycles, _), *_ = self.standard.windows
        self.free, self.taken = {}, {}
        for unit in self.standard.units:
            self.free[unit] = self.net.place(named("free", self.standard, unit), init=number)
            self.taken[unit] = self.net.place(named("taken", self.standard, unit))
            self.net.transition(
                named("window", self.standard, unit),
                take={"slot": self.taken[unit]},
                put=[self.free[unit]],
                delay=TICKS * cycles,
                servers=number,
            )

    def _rows(self, command):
        """[(scope, targets, cycles)] of what a command makes wait, but for the bus."""
        rows = []
        for (scope, source), row in self.standard.distances().items():
            if source == command and scope != "any":
                for cycles in sorted(set(row.values())):
                    rows.append((scope, tuple(b for b, n in row.items() if n == cycles), cycles))
        return rows

    def _holds(self):
        s = self.standard
        for command in ("ACT", "PRE", self.read, self.write, "REF"):
            for scope, targets, cycles in self._rows(command):
                for where in s.places_of(command):
                    for key in s.reach(scope, where):
                        self._hold((scope, key, targets, cycles))

    def _hold(self, identity):
        if identity in self.holds:
            return
        scope, key, targets, cycles = identity
        name = f"{len(self.holds)}"
        place = self.net.place(f"hold{name}")
        self.net.transition(
            f"release{name}", take={"held": place}, delay=TICKS * cycles, servers=cycles
        )
        self.holds[identity] = place
        for target in targets:
            self.held.setdefault((scope, key, target), []).append(place)

    def _free_to(self, command, where):
        """Arcs by which a command is held."""
        s = self.standard
        places = [
            place
            for scope in s.scopes
            for key in s.waits_at(scope, where)
            for place in self.held.get((scope, key, command), ())
        ]
        return {f"hold{k}": place.empty() for k, place in enumerate(dict.fromkeys(places))}

    def _makes_wait(self, command, where):
        s = self.standard
        return [
            self.holds[scope, key, targets, cycles]
            for scope, targets, cycles in self._rows(command)
            for key in s.reach(scope, where)
        ]

    # Commands.

    def _command(self, command, number, where, wrapped, guard, put, take=(), suffix="", **changes):
        s = self.standard
        bank = self.banks[number]
        arcs = {
            "slot": self.slot[0],
            "q": bank.take(guard=guard),
            "refreshing": self.refreshing[s.unit_of(where)].empty(),
            **dict(take),
            **self._free_to(command, where),
        }
        if wrapped:
            arcs["last"] = self.turn.take()
        else:
            arcs["last"] = self.turn.take(guard=lambda last: last.bank < number)
        self.net.transition(
            named(command, s, where) + suffix + (".wrapped" if wrapped else ""),
            take=arcs,
            put=[
                self.slot[1],
                self.turn.emit(bank=number),
                bank.forward("q", **changes),
                *self._makes_wait(command, where),
                *put,
            ],
            clock=(TICKS, 1),
            servers=1,
        )

    def _activate(self, number, where, wrapped):
        unit = self.standard.unit_of(where)
        self._command(
            "ACT",
            number,
            where,
            wrapped,
            lambda q: lpn.select(q.open, 0, q.n) > 0,
            [self.taken[unit]],
            {"window": self.free[unit]},
            open=True,
            row=lambda q: q.e0 >> ID,
            served=0,
            read=lambda q: _first(_entries(q), (q.e0 >> ID) * 2),
            write=lambda q: _first(_entries(q), (q.e0 >> ID) * 2 + 1),
        )

    def _precharge(self, number, where, wrapped):
        def wanted(q):
            streak = lpn.select(q.served >= STREAK, q.n, 0)
            none = lpn.select(q.read + q.write == 2 * NONE, q.n, streak)
            oldest_hits = lpn.min(q.read, q.write) == 0
            return lpn.select(q.open, lpn.select(oldest_hits, 0, none), 0) > 0

        self._command(
            "PRE", number, where, wrapped, wanted, [], open=False, served=0, read=NONE, write=NONE
        )

    def _access(self, way, number, where, wrapped, guard):
        def index(q):
            return q.read if way == "read" else q.write

        def left(q):
            return [_without(q, index(q), k) for k in range(BANK_QUEUE)]

        entries = {f"e{k}": lambda q, k=k: left(q)[k] for k in range(BANK_QUEUE)}
        if self.closes:
            changes = dict(open=False, served=0, read=NONE, write=NONE)
        else:
            changes = dict(
                served=lambda q: lpn.min(q.served + 1, STREAK),
                read=lambda q: _first(left(q), q.row * 2),
                write=lambda q: _first(left(q), q.row * 2 + 1),
            )

        def number_of(q):
            return _chosen(q, index(q)) & (2 ** (ID - 1) - 1)

        self._command(
            self.read if way == "read" else self.write,
            number,
            where,
            wrapped,
            guard,
            [
                (self.returning if way == "read" else self.written).emit(id=number_of),
                *self.stale.values(),
            ],
            {"entry": self.queued},
            suffix=".younger" if guard is _younger_read else "",
            n=lambda q: q.n - 1,
            **entries,
            **changes,
        )

    def _refreshes(self):
        """One rank after the other falls due; its banks are closed, then it is refreshed."""
        s, net = self.standard, self.net
        interval = self.cycles("tREFI") // len(s.units)
        turns = [
            net.place(named("refresh_turn", s, u), init=int(k == 0)) for k, u in enumerate(s.units)
        ]
        for k, unit in enumerate(s.units):
            net.transition(
                named("refresh_due", s, unit),
                take={"turn": turns[k]},
                put=[turns[(k + 1) % len(turns)], self.refreshing[unit]],
                delay=TICKS * interval,
                servers=1,
            )
        for unit in s.units:
            for number, where in enumerate(s.banks):
                if s.unit_of(where) == unit:
                    self._close(number, where, unit)
            take = {"slot": self.slot[0], "due": self.refreshing[unit]}
            for number, where in enumerate(s.banks):
                if s.unit_of(where) == unit:
                    take[f"bank{number}"] = self.banks[number].peek(1)
            guards = [_closed(f"bank{n}") for n, b in enumerate(s.banks) if s.unit_of(b) == unit]
            net.transition(
                named("REF", s, unit),
                take={**take, **self._free_to("REF", unit)},
                put=[self.slot[1], *self._makes_wait("REF", unit)],
                guard=guards,
                clock=(TICKS, 1),
                servers=1,
            )

    def _close(self, number, where, unit):
        bank = self.banks[number]
        self.net.transition(
            named("PRE", self.standard, where) + ".for_refresh",
            take={
                "slot": self.slot[0],
                "due": self.refreshing[unit].peek(1),
                "q": bank.take(guard=lambda q: q.open),
                **self._free_to("PRE", where),
            },
            put=[
                self.slot[1],
                bank.forward("q", open=False, served=0, read=NONE, write=NONE),
                *self._makes_wait("PRE", where),
            ],
            clock=(TICKS, 1),
            servers=1,
        )


def _younger_read(q):
    return lpn.select(q.read < NONE, q.read - q.write, 0) > 0


def _turn_of(way):
    if way == "write":
        return lambda d: d.left > 0
    return lambda d: d.left == 0


def _number(r):
    return r.entry & (2 ** (ID - 1) - 1)


def _entered(k):
    return lambda r, q: lpn.select(q.n == k, r.entry, getattr(q, f"e{k}"))


def _closed(name):
    """A guard that a peeked bank is closed."""
    return Over([name], lambda q: lpn.select(q.open, 0, 1) > 0)


def build(standard) -> lpn.Net:
    """The net of a controller with one channel of a Standard that describes one."""
    return _Controller(standard, lpn.Net("controller")).build()
