"""The net of a memory controller that reads: FR-FCFS over queues of the banks, after DRAMsim3.

    requests -> accept -> read_queue -> move -> state of the bank -> ACT, PRE, RD -> data -> done

A cycle has four ticks, in the simulator's order: 0 requests arrive and refreshes fall due, 1 one
command issues, 2 one request moves to the queue of its bank, 3 one request is accepted. Writes are
not modelled.
"""

import lpn

from .device import Over, named

__all__ = ["ID", "ROW_BITS", "TICKS", "build"]

TICKS = 4  # in a cycle
READ_QUEUE, BANK_QUEUE = 32, 8  # entries
STREAK = 4  # accesses that an open row serves before an older request may close it
ID = 24  # bits of a request's number in an entry: row << 24 | number
ROW_BITS = 36
NONE = BANK_QUEUE


class Request(lpn.Token):
    """A read of the trace."""

    gap: lpn.Int[0, 2**40]  # cycles since the request before arrived
    bank: lpn.Int[0, 1023]
    entry: lpn.Int[0, 2**62]


class Number(lpn.Token):
    """A request's number."""

    id: lpn.Int[0, 2**ID - 1]


class Turn(lpn.Token):
    """The bank that issued last."""

    bank: lpn.Int[0, 1023]


class Bank(lpn.Token):
    """A bank and its queue, oldest entry first; -1 where there is none."""

    n: lpn.Int[0, BANK_QUEUE]
    open: bool
    row: lpn.Int[0, 2**ROW_BITS - 1]
    served: lpn.Int[0, STREAK]  # accesses of the open row
    hit: lpn.Int[0, NONE]  # the oldest entry of the open row
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


def _without(q, k):
    """Entry k of the queue without the hit."""
    e = [*_entries(q), -1]
    return lpn.select(q.hit <= k, e[k + 1], e[k])


def _next_hit(q):
    found = NONE
    for k in reversed(range(BANK_QUEUE)):
        found = lpn.select(_without(q, k) >> ID == q.row, k, found)
    return found


def _chosen(q):
    """The entry that hits."""
    e = _entries(q)
    found = e[-1]
    for k in reversed(range(BANK_QUEUE - 1)):
        found = lpn.select(q.hit == k, e[k], found)
    return found


class _Controller:
    def __init__(self, standard, net):
        self.standard = standard
        self.net = net
        self.cycles = standard.cycles
        self.closes = standard.controller["page"] == "closed"
        self.read = "RDA" if self.closes else "RD"
        self.holds, self.held = {}, {}

    def build(self):
        """All of it."""
        s, net = self.standard, self.net
        self.slot = self._once_a_cycle("command")
        self.mover = self._once_a_cycle("move")
        self.turn = net.place("turn", Turn, init=[{"bank": 0}])
        empty = dict(n=0, open=False, row=0, served=0, hit=NONE)
        empty.update({f"e{k}": -1 for k in range(BANK_QUEUE)})
        self.banks = [net.place(named("bank", s, b), Bank, init=[empty]) for b in s.banks]
        self.refreshing = {u: net.place(named("refreshing", s, u)) for u in s.units}
        self._windows()
        self._holds()
        self.returning = net.place("returning", Number, drain=True)
        self._refreshes()
        for wrapped in (False, True):
            for number, where in enumerate(s.banks):
                self._activate(number, where, wrapped)
                self._precharge(number, where, wrapped)
                self._read(number, where, wrapped)
        done = net.place("done", Number, done=True)
        latency = self.cycles("CL + burst")
        net.transition(
            "data",
            take={"r": self.returning},
            put=[done.forward("r")],
            delay=TICKS * latency,
            servers=latency,
        )
        self._front_end()
        return net

    def _once_a_cycle(self, name):
        """(a place with a token for one start per cycle, where to put it)"""
        free, spent = self.net.place(f"{name}_slot", init=1), self.net.place(f"{name}_spent")
        self.net.transition(f"{name}_again", take={"t": spent}, put=[free], delay=1, servers=1)
        return free, spent

    def _front_end(self):
        net, s = self.net, self.standard
        trace = net.place("trace", Request, start=True)
        requests = net.place("requests", Request, drain=True)
        queue = net.place("read_queue", Request, drain=True)
        accepted = net.place("accepted", Number, sink=True)
        room = net.place("room", init=READ_QUEUE)
        net.transition(
            "arrive",
            take={"r": trace},
            put=[requests.forward("r")],
            delay=lambda r: TICKS * r.gap,
            servers=1,
        )
        late = [net.place(named("late", s, b), Request, drain=True) for b in s.banks]
        for number, where in enumerate(s.banks):
            self._move(named("move_late", s, where), late[number], number, room)
        for number, where in enumerate(s.banks):
            self._move(named("move", s, where), queue, number, room)
        # A request whose bank has no room lets younger ones pass.
        for number, where in enumerate(s.banks):
            net.transition(
                named("aside", s, where),
                take={
                    "mover": self.mover[0].peek(1),
                    "r": queue.take(guard=lambda r, number=number: r.bank == number),
                    "q": self.banks[number].peek(guard=lambda q: q.n == BANK_QUEUE),
                },
                put=[late[number].forward("r")],
                clock=(TICKS, 2),
                servers=1,
            )
        net.transition(
            "accept",
            take={"r": requests, "room": room},
            put=[queue.forward("r"), accepted.emit(id=lambda r: r.entry & (2**ID - 1))],
            clock=(TICKS, 3),
            interval=1,
        )

    def _move(self, name, source, number, room):
        """One request a cycle into the queue of its bank."""
        bank = self.banks[number]

        def hit(r, q):
            first = lpn.select(r.entry >> ID == q.row, q.n, q.hit)
            return lpn.select(q.open, lpn.select(q.hit == NONE, first, q.hit), NONE)

        self.net.transition(
            name,
            take={
                "mover": self.mover[0],
                "r": source.take(guard=lambda r: r.bank == number),
                "q": bank.take(guard=lambda q: q.n < BANK_QUEUE),
            },
            put=[
                self.mover[1],
                room,
                bank.forward(
                    "q",
                    n=lambda q: q.n + 1,
                    hit=hit,
                    **{
                        f"e{k}": lambda r, q, k=k: lpn.select(
                            q.n == k, r.entry, getattr(q, f"e{k}")
                        )
                        for k in range(BANK_QUEUE)
                    },
                ),
            ],
            clock=(TICKS, 2),
            servers=1,
        )

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
        for command in ("ACT", "PRE", self.read, "REF"):
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

    def _command(self, command, number, where, wrapped, guard, put, take=(), **changes):
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
            named(command, s, where) + (".wrapped" if wrapped else ""),
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
            hit=0,
        )

    def _precharge(self, number, where, wrapped):
        def wanted(q):
            none = lpn.select(q.hit == NONE, 1, lpn.select(q.served >= STREAK, 1, 0))
            return lpn.select(q.open, lpn.select(q.hit != 0, none * q.n, 0), 0) > 0

        self._command("PRE", number, where, wrapped, wanted, [], open=False, served=0, hit=NONE)

    def _read(self, number, where, wrapped):
        entries = {f"e{k}": lambda q, k=k: _without(q, k) for k in range(BANK_QUEUE)}
        if self.closes:
            changes = dict(open=False, served=0, hit=NONE)
        else:
            changes = dict(served=lambda q: lpn.min(q.served + 1, STREAK), hit=_next_hit)
        self._command(
            self.read,
            number,
            where,
            wrapped,
            lambda q: q.hit < NONE,
            [self.returning.emit(id=lambda q: _chosen(q) & (2**ID - 1))],
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
                bank.forward("q", open=False, served=0, hit=NONE),
                *self._makes_wait("PRE", where),
            ],
            clock=(TICKS, 1),
            servers=1,
        )


def _closed(name):
    """A guard that a peeked bank is closed."""
    return Over([name], lambda q: lpn.select(q.open, 0, 1) > 0)


def build(standard) -> lpn.Net:
    """The net of a controller with one channel of a Standard that describes one."""
    return _Controller(standard, lpn.Net("controller")).build()
