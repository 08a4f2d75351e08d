"""Banks: their commands, their queues, when they may close a row; refreshes."""

import lpn

from .formulas import (
    access_of,
    both,
    entered_at,
    entries_of,
    entry_at,
    hits_of,
    minus,
    number_of,
    oldest_of,
    shared,
    to_close,
    when,
    where_is,
    without_entry,
)
from .tokens import (
    ACT,
    ACTIVATES,
    ACT_OK,
    ALL,
    At,
    CLOSE,
    NONE,
    PRE,
    PRECHARGES,
    READS,
    READ_OK,
    REFRESH,
    Refresh,
    TICKS,
    WRITES,
    WRITE_BIT,
    WRITE_OK,
)


class Banks:
    """The part of a Channel that is there once for each bank."""

    def entries(self, q):
        """Those of a bank's queue."""
        return entries_of(q, self.bank_queue)

    def _bank(self, number, where):
        bit = 1 << number
        bank = self.banks[number]
        d = self.distance

        def name(command):
            return self.bank_name(command, where)

        def key(q):
            return (q.e0 >> WRITE_BIT + 1) * 2

        # The row can be read and written from two cycles on; what hits it is told in the first.
        ways = (d("ACT", "same", self.read), READ_OK), (d("ACT", "same", self.write), WRITE_OK)
        (soon, first), (late, second) = sorted(ways)
        together = soon == late
        other = self.later.emit(
            wait=TICKS * late - 1, at=lambda c: c.at + late, banks=bit, what=second
        )
        self._command(
            number,
            name("ACT"),
            ACTIVATES,
            [
                bank.forward(
                    "q",
                    open=True,
                    row=lambda q: q.e0 >> WRITE_BIT + 1,
                    served=0,
                    read=lambda q: oldest_of(self.entries(q), key(q)),
                    write=lambda q: oldest_of(self.entries(q), key(q) + 1),
                    pre_at=lambda c: c.at + d("ACT", "same", "PRE"),
                    act_at=lambda c: c.at + d("ACT", "same", "ACT"),
                ),
                self.opening.emit(
                    at=lambda c: c.at + soon,
                    banks=bit,
                    what=lambda q: first
                    + (second if together else 0)
                    + hits_of(
                        oldest_of(self.entries(q), key(q)), oldest_of(self.entries(q), key(q) + 1)
                    ),
                ),
                *([] if together else [other]),
            ],
        )

        def reopens(command):
            """When the row that the command closes may be followed by another."""

            def at(c, q):
                return lpn.max(c.at + d(command, "same", "ACT"), q.act_at)

            return at

        def reopened(command, n):
            at = reopens(command)
            if command == "PRE" and self.reopens is not None:
                return self.reopening.emit(
                    at=lambda c: c.at + self.reopens,
                    banks=bit,
                    what=lambda q: ACT_OK + when(n(q) > 0, ACT),
                )
            return self.later.emit(
                wait=lambda c, q: TICKS * (at(c, q) - c.at) - 1,
                at=at,
                banks=bit,
                what=lambda q: ACT_OK + when(n(q) > 0, ACT),
            )

        self._command(
            number,
            name("PRE"),
            PRECHARGES,
            [
                bank.forward("q", open=False, served=0, read=NONE, write=NONE),
                reopened("PRE", lambda q: q.n),
            ],
        )
        for kind, command in ((READS, self.read), (WRITES, self.write)):
            self._access(number, name(command), command, kind, reopened)
        self._enter(number, name("enter"), bit)
        self._ask(number, name("ask"), bit)

    def _command(self, number, name, kind, put, **more_taken):
        """A command: what it does to its bank, beside what the scheduler hears of it."""
        take, more = self.given(kind, number)
        self.step(
            name,
            take={**take, "q": self.banks[number], **more_taken},
            put=[*put, *more],
            delay=self.command_delay(),
            servers=1,
        )

    def _access(self, number, name, command, kind, reopened):
        bit, bank, d = 1 << number, self.banks[number], self.distance

        def index(q):
            return q.read if kind == READS else q.write

        def left_at(q, k):
            return without_entry(self.entries(q), index(q), k)

        def left(q):
            return [left_at(q, k) for k in range(self.bank_queue)]

        def served(q):
            return lpn.min(q.served + 1, self.row_accesses)

        def hit(q, writes):
            return oldest_of(left(q), q.row * 2 + int(writes))

        def hits(q):
            return hit(q, False), hit(q, True)

        def wanted(q):
            return to_close(q.n - 1, served(q), *hits(q), self.row_accesses)

        def pre_at(c, q):
            return lpn.max(q.pre_at, c.at + d(command, "same", "PRE"))

        def entry(q):
            return entry_at(self.entries(q), index(q))

        entries = {f"e{k}": lambda q, k=k: left_at(q, k) for k in range(self.bank_queue)}
        if self.closes:
            changes = dict(open=False, served=0, read=NONE, write=NONE)
            follows = [reopened(command, lambda q: q.n - 1)]
        else:
            changes = dict(
                served=served,
                read=lambda q: hit(q, False),
                write=lambda q: hit(q, True),
                pre_at=pre_at,
            )

            def wants(c, q):
                close = both(wanted(q), pre_at(c, q) <= c.at + 1)
                return hits_of(*hits(q)) + when(close, PRE)

            follows = [
                self.events.emit(
                    count=lambda c, q: when(wants(c, q) | self.others(c, bit) != 0, 1),
                    at=lambda c: c.at + 1,
                    banks=bit,
                    what=lambda c, q: ALL + wants(c, q),
                ),
                self.closing.emit(
                    count=lambda c, q: when(both(wanted(q), pre_at(c, q) > c.at + 1), 1),
                    wait=lambda c, q: TICKS * lpn.max(1, pre_at(c, q) - c.at) - 2,
                    at=pre_at,
                    bank=number,
                    refresh=False,
                ),
            ]
        self._command(
            number,
            name,
            kind,
            [
                bank.forward("q", n=lambda q: q.n - 1, **entries, **changes),
                *follows,
                self.queues.forward(
                    "s",
                    at=lambda c, s: lpn.max(s.at, c.at),
                    **{f"c{k}": minus(k, bit) for k in range(self.digits)},
                ),
                (self.returning if kind == READS else self.written).emit(
                    id=lambda q: number_of(entry(q))
                ),
                self.finished.emit(
                    count=lambda q: when(shared(entry(q)), 1),
                    what=lambda q: access_of(number, entry(q), kind == WRITES),
                ),
            ],
            s=self.queues,
        )

    def _enter(self, number, name, bit):
        """A request enters the queue of its bank."""
        bank = self.banks[number]

        def hit(r, q, writes):
            old = q.write if writes else q.read
            new = lpn.select(r.entry >> WRITE_BIT == q.row * 2 + int(writes), q.n, NONE)
            return lpn.select(q.open, lpn.min(old, new), NONE)

        def before(q):
            return to_close(q.n, q.served, q.read, q.write, self.row_accesses)

        def wanted(r, q):
            return to_close(q.n + 1, q.served, hit(r, q, False), hit(r, q, True), self.row_accesses)

        entries = {f"e{k}": entered_at(k) for k in range(self.bank_queue)}
        self.step(
            name,
            take={
                "r": self.entering.take(guard=lambda r: r.bank == number),
                "q": bank,
            },
            put=[
                bank.forward(
                    "q",
                    n=lambda q: q.n + 1,
                    read=lambda r, q: hit(r, q, False),
                    write=lambda r, q: hit(r, q, True),
                    **entries,
                ),
                self.events.emit(
                    at=lambda r: r.at + 1,
                    banks=bit,
                    what=lambda r, q: ALL
                    + lpn.select(
                        q.open,
                        hits_of(hit(r, q, False), hit(r, q, True))
                        + when(both(wanted(r, q), q.pre_at <= r.at + 1), PRE),
                        ACT,
                    ),
                ),
                self.closing.emit(
                    count=lambda r, q: when(
                        q.open,
                        when(
                            q.pre_at > r.at + 1,
                            when(wanted(r, q), lpn.select(before(q), 0, 1)),
                        ),
                    ),
                    wait=lambda r, q: TICKS * lpn.max(1, q.pre_at - r.at) - 4,
                    at=lambda q: q.pre_at,
                    bank=number,
                    refresh=False,
                ),
                self.mover,
            ],
            delay=1,
            servers=1,
        )

    def _ask(self, number, name, bit):
        """Whether the row is to be closed, now that it may be."""

        def wanted(a, q):
            still = when(to_close(q.n, q.served, q.read, q.write, self.row_accesses), 1)
            return when(q.open, lpn.select(a.refresh, 1, still))

        self.step(
            name,
            take={
                "a": self.asked.take(guard=lambda a: a.bank == number),
                "q": self.banks[number].peek(1),
            },
            put=[
                self.events.emit(
                    count=lambda a, q: when(q.pre_at <= a.at, wanted(a, q)),
                    at=lambda a: a.at,
                    banks=bit,
                    what=lambda a: lpn.select(a.refresh, CLOSE, PRE),
                ),
                self.closing.emit(
                    count=lambda a, q: when(q.pre_at > a.at, when(a.refresh, wanted(a, q))),
                    wait=lambda a, q: TICKS * lpn.max(0, q.pre_at - a.at),
                    at=lambda q: q.pre_at,
                    bank=number,
                    refresh=True,
                ),
            ],
            servers=1,
        )

    def _refreshes(self):
        """One rank after the other falls due; its banks are closed, then it is refreshed."""
        s = self.standard
        n = len(self.ranks)
        interval = s.cycles("tREFI") // n
        timer = self.place("refresh_timer", Refresh, init=[{"at": 0, "unit": 0}])
        due = self.place("refreshes", Refresh)
        ready = self.place("no_refresh", At, init=[{"at": 0}])
        self.step(
            "refresh_due",
            take={"t": timer},
            put=[
                due.emit(at=lambda t: t.at + interval, unit=lambda t: t.unit),
                timer.emit(
                    at=lambda t: t.at + interval,
                    unit=lambda t: lpn.select(t.unit == n - 1, 0, t.unit + 1),
                ),
            ],
            # The first a tick early: banks are asked before the cycle begins.
            delay=lambda t: TICKS * interval - when(t.at == 0, 1),
            servers=1,
        )
        self.step(
            "refresh_ends",
            take={"t": self.refreshed},
            put=[ready.forward("t")],
            delay=TICKS - 2,
            servers=1,
        )

        def now(r, ready):
            return lpn.max(r.at, ready.at)

        put = [
            self.events.emit(
                at=now,
                banks=lambda r: lpn.lookup(self.rank_masks, r.unit),
                what=REFRESH,
            )
        ]
        for number, unit in enumerate(self.units):
            put.append(
                self.asked.emit(
                    count=where_is(lambda r: r.unit, self.ranks.index(unit)),
                    wait=0,
                    at=now,
                    bank=number,
                    refresh=True,
                )
            )
        self.step("refresh_begins", take={"r": due, "ready": ready}, put=put, servers=1)
