"""A channel: places that its parts share, and what comes about with time alone."""

import lpn

from ..device import named
from ..standard import POLICY
from .banks import Banks
from .commands import Commands
from .formulas import both, copied, fields_of, when
from .queues import Movers
from .scheduler import Scheduler
from .tokens import (
    Asked,
    At,
    Event,
    Joined,
    Later,
    NONE,
    Number,
    PRECHARGES,
    Pending,
    READS,
    Shared,
    TICKS,
    WRITES,
    Waiting,
    Wants,
    bank_of,
    queues_of,
)


class Channel(Scheduler, Commands, Banks, Movers):
    """One channel's queues, scheduler and banks."""

    def __init__(self, standard, net, name, port, done):
        self.standard, self.net, self.name = standard, net, name
        self.port, self.done = port, done
        self.closes = standard.controller["page"] == "closed"
        self.twice = bool(standard.controller.get("dual_command"))
        self.read_queue, self.write_buffer, self.bank_queue, self.drain_idle, self.row_accesses = (
            standard.policy(key) for key in POLICY
        )
        # Of the number of entries in the queue of a bank.
        self.digits = self.bank_queue.bit_length()
        self.read, self.write = ("RDA", "WRA") if self.closes else ("RD", "WR")
        self.names = ["ACT", "PRE", self.read, self.write, "REF"]
        self.closing_kinds = [PRECHARGES, READS, WRITES] if self.closes else [PRECHARGES]
        self.groups = list(dict.fromkeys(bank[:-1] for bank in standard.banks))
        self.group_of = [self.groups.index(bank[:-1]) for bank in standard.banks]
        self.units = [standard.unit_of(bank) for bank in standard.banks]
        self.distance = standard.between()
        # From PRE to the next ACT, unless the time since the last one may be what counts.
        pre, act = (self.distance(a, "same", b) for a, b in (("PRE", "ACT"), ("ACT", "PRE")))
        self.reopens = pre if pre + act >= self.distance("ACT", "same", "ACT") else None

    def place(self, name, *args, **options):
        """A place of the channel."""
        return self.net.place(self.name + name, *args, **options)

    def step(self, name, **options):
        """A transition of the channel."""
        return self.net.transition(self.name + name, **options)

    def bank_name(self, command, where):
        """The name of a bank's own transition or place."""
        return named(command, self.standard, where)

    def build(self):
        """All of it."""
        s = self.standard
        Bank, Queues = bank_of(self.bank_queue), queues_of(self.bank_queue)
        empty = dict.fromkeys(fields_of(Bank), 0) | {"read": NONE, "write": NONE}
        empty |= {f"e{k}": -1 for k in range(self.bank_queue)}
        self.banks = [self.place(self.bank_name("bank", b), Bank, init=[empty]) for b in s.banks]
        self.events = self.place("events", Event)
        ready = dict.fromkeys(fields_of(Wants), 0) | {
            "act_ok": 2 ** len(s.banks) - 1,
            "turn": 0,
        }
        self.wants = self.place("wants", Wants, init=[ready])
        self.queues = self.place("queues", Queues, init=[dict.fromkeys(fields_of(Queues), 0)])
        self.mover = self.place("mover", init=1)
        self.entering = self.place("entering", Waiting)
        self.asked = self.place("bank_asked", Asked)
        self.closing = self.place("closing", Asked)
        self.later = self.place("later", Later)
        self.opening = self.place("opening", Event)
        self.reopening = self.place("reopening", Event)
        self.returning = self.place("returning", Number, drain=True)
        self.written = self.place("written", Number, sink=True)
        self.refreshed = self.place("refreshed", At)
        names = ("pending", "finished", "answering")
        self.pending, self.finished, self.answering = (self.place(x, Pending) for x in names)
        self.joined = self.place("joined", Joined, drain=True)
        self.sharing = self.place("sharing", Shared)
        self._scheduler()
        for number, where in enumerate(s.banks):
            self._bank(number, where)
        self._delays()
        self._finish()
        self._refreshes()
        self._front()

    def _finish(self):
        """A command has been given for a block that several requests name: the last of those that are
        under way takes the place of what no longer is. Reads that joined it have its data.
        """

        def other(f, p, i):
            return lpn.select(p[i].what == f.what, p[p.count - 1].what, p[i].what)

        def waiting(f, j):
            return lpn.sum(j, lambda t: when(t.what == f.what, 1))

        self.step(
            "finish",
            take={
                "f": self.finished,
                "p": self.pending.take(lambda p: p.count, need=1),
                "j": self.joined.peek(lambda j: j.count),
            },
            put=[
                self.pending.emit(count=lambda p: p.count - 1, what=other),
                self.answering.emit(count=waiting, what=lambda f: f.what),
            ],
            servers=1,
        )

        def answered(a, j):
            """The number of one of them."""
            return lpn.max(j, lambda t: when(t.what == a.what, t.id))

        def remains(field):
            def value(a, j, i):
                gone = both(j[i].what == a.what, j[i].id == answered(a, j))
                return lpn.select(gone, getattr(j[j.count - 1], field), getattr(j[i], field))

            return value

        self.step(
            "answer_joined",
            take={"a": self.answering, "j": self.joined.take(lambda j: j.count, need=1)},
            put=[
                self.returning.emit(id=answered),
                self.joined.emit(
                    count=lambda j: j.count - 1, what=remains("what"), id=remains("id")
                ),
            ],
            servers=1,
        )

    def _delays(self):
        """What comes about with time alone."""
        opens = min(self.distance("ACT", "same", access) for access in (self.read, self.write))
        self.step(
            "wait",
            take={"t": self.later},
            put=[self.events.emit(**copied("t", Event))],
            delay=lambda t: t.wait,
        )
        # Most waits are as long as each other, which costs an engine less.
        delays = {"open": (self.opening, opens), "reopen": (self.reopening, self.reopens)}
        for name, (place, cycles) in delays.items():
            if cycles is not None:
                self.step(
                    name,
                    take={"t": place},
                    put=[self.events.forward("t")],
                    delay=TICKS * cycles - 1,
                    servers=len(self.banks),
                )
        self.step(
            "may_close",
            take={"t": self.closing},
            put=[self.asked.emit(**{**copied("t", Asked), "wait": 0})],
            delay=lambda t: t.wait,
        )
        latency = self.standard.cycles("CL + burst")
        self.step(
            "data",
            take={"r": self.returning},
            put=[self.done.forward("r")],
            delay=TICKS * latency,
        )
