"""The memory of an accelerator that has ports for it: an edge, caches, a DRAM controller under load.

    port -> link -> edge -+-> the line that its stream is in, or what no stream tells ----+-> order -> link -> port
                          +-> the stream's next line: behind the edge -------------------+
                          +-> or not: DRAM, and the dirty line that it throws out ------ -+

Which lines are behind the edge follows from the addresses alone; workload() has gone through them
(native/levels.h). An answer goes back in the order of its port's requests.
"""

import lpn
from lpn import lib

from .trips import wrong

__all__ = ["fill_ports", "join_ports", "streams_of"]

SLOTS = 32  # lines that a port waits for at once
HIT = -2  # native/levels.h
MOST_LINES = 2**48
# The access of the arc `t`, as it is.
_SAME = {k: lambda t, k=k: getattr(t, k) for k in lib.Access.__annotations__}


class Found(lpn.Token):
    """What a stream finds when it goes on to a line."""

    line: lpn.Int[0, MOST_LINES]
    found: lpn.Int[HIT, MOST_LINES]  # HIT, -1: in DRAM, or the dirty line that goes for it


class Turn(lpn.Token):
    """Whose access comes to the edge next."""

    port: lpn.Int[0, 2**16]


class Line(lpn.Token):
    """The line that a stream is in."""

    at: lpn.Int[-1, MOST_LINES]


class Near(lpn.Token):
    """An access that does not wait for DRAM."""

    behind: bool


class Slot(lpn.Token):
    """A number of a line that is waited for."""

    id: lpn.Int[0, SLOTS - 1]


class Arrived(lpn.Token):
    """Slots whose lines have come, a bit each."""

    slots: lpn.Int[0, 2**SLOTS - 1]


class Answer(lpn.Token):
    """An access on its way to its answer."""

    address: lib.Access.__annotations__["address"]
    bytes: lpn.Int[1, 2**32 - 1]
    write: bool
    id: lpn.Int[0, 2**31 - 1]
    slot: lpn.Int[-1, SLOTS - 1]
    victim: lpn.Int[-1, MOST_LINES]


def streams_of(system, own):
    """(port, id) of the accesses whose lines the accelerator's model tells. Raises Error
    "E-system-file" where it has no such ports.
    """
    name = system.accelerator.model
    module = own.model.module
    if not (hasattr(module, "streams") and hasattr(module, "traffic")):
        raise wrong(
            system,
            f"accelerator.ports: '{name}' does not say which lines it touches: its module has no functions "
            "streams(net) and traffic(input, net, line)",
        )
    for port, _ in system.accelerator.ports:
        if not {f"{port}.requests", f"{port}.responses"} <= set(own.net.places):
            raise wrong(
                system,
                f"accelerator.ports: '{name}' has no memory port '{port}' with its parameters",
            )
    return module.streams(own.net)


def join_ports(b):
    """Adds the memory of the builder `b` behind the ports of its accelerator. {place of the
    accelerator: the place that is joined to it}.
    """
    net, connect = b.net, {}
    edge, turns = net.place("memory.edge", init=1), net.place("memory.turns", Turn)
    b.memory_port()
    for number, (name, kind) in enumerate(b.system.accelerator.ports):
        port = lib.memory_port(net, f"memory.{name}")
        _Port(b, name, kind, number * SLOTS, port, edge, turns).build()
        connect |= {f"{name}.requests": port.requests, f"{name}.responses": port.responses}
    net.transition(
        "memory.written_back",
        take={"t": b.port.responses.take(guard=lambda t: t.write)},
        put=[],
    )
    return connect


class _Port:
    def __init__(self, b, name, kind, base, port, edge, turns):
        self.b, self.net, self.name, self.base = b, b.net, f"memory.{name}", base
        self.port, self.edge, self.turns = port, edge, turns
        self.ids = [id for owner, id in b.own.streams if owner == name]
        self.line = b.system.memory.line
        memory = b.system.memory
        self.pass_time = memory.read_packet if kind == "read" else memory.packet
        self.near_time = memory.hit - self.pass_time

    def place(self, name, *args, **options):
        return self.net.place(f"{self.name}.{name}", *args, **options)

    def step(self, name, **options):
        self.net.transition(f"{self.name}.{name}", **options)

    def time(self, name, ps):
        return self.b.time(f"{self.name}.{name}", ps)

    def build(self):
        memory, latency = self.b.system.memory, self.b.down.latency
        sent, inside = self.place("sent", lib.Access), self.place("inside", lib.Access)
        self.step(
            "link",
            take={"t": self.port.requests},
            put=[sent.forward("t"), self.turns.emit(port=self.base // SLOTS)],
            delay=latency,
            ordered=True,
        )
        self.step(
            "pass",
            take={
                "turn": self.turns.take(guard=lambda turn: turn.port == self.base // SLOTS),
                "t": sent,
                "edge": self.edge,
            },
            put=[inside.forward("t"), self.edge],
            delay=self.time("edge", self.pass_time),
            servers=1,
        )
        self.near, near_done = self.place("near", Near), self.place("near_done")
        hit, behind = self.time("hit", self.near_time), self.time("behind", memory.behind)
        self.step(
            "find",
            take={"t": self.near},
            put=[near_done],
            delay=lambda t: hit + lpn.select(t.behind, behind, 0),
            ordered=True,
        )
        controller = self.time("controller", memory.controller)
        self.fetched = self.place("fetched", lib.Access)
        self.step(
            "fetch",
            take={"t": self.fetched},
            put=[self.b.port.requests.forward("t")],
            delay=lambda t: hit + behind + controller,
            ordered=True,
        )
        self.slots = self.place("slots", Slot, init=lpn.tokens(SLOTS, id=lambda i: i))
        self.order, leaving = self.place("order", Answer), self.place("leaving", lib.Access)
        for id in self.ids:
            self._stream(id, inside)
        self._others(inside)
        self._answers(near_done, leaving)
        self.step(
            "back",
            take={"t": leaving},
            put=[self.port.responses.forward("t")],
            delay=latency,
            ordered=True,
        )

    def _stream(self, id, inside):
        """What an access of a stream finds: the line that it is in, or another."""
        size, last = self.line, self.place(f"stream{id}.line", Line, init=[{"at": -1}])
        found = self.place(f"stream{id}.found", Found, start=True)

        def number(t):
            return t.address // size

        def at(t, f):
            assert f.line == number(t), "traffic() tells another line than the accelerator touches"
            return f.line

        mine = inside.take(guard=lambda t: t.id == id)
        goes_on = last.take(guard=lambda t, last: last.at != number(t))
        self.step(
            f"stream{id}.stay",
            take={"t": mine, "last": last.peek(guard=lambda t, last: last.at == number(t))},
            put=[self.near.emit(behind=False), self._ordered()],
            servers=1,
        )
        self.step(
            f"stream{id}.behind",
            take={
                "t": mine,
                "last": goes_on,
                "f": found.take(guard=lambda f: f.found == HIT),
            },
            put=[last.emit(at=at), self.near.emit(behind=True), self._ordered()],
            servers=1,
        )
        self.step(
            f"stream{id}.miss",
            take={
                "t": mine,
                "last": goes_on,
                "f": found.take(guard=lambda f: f.found > HIT),
                "slot": self.slots,
            },
            put=[
                last.emit(at=at),
                self.fetched.emit(
                    address=lambda t: number(t) * size,
                    bytes=size,
                    write=False,
                    id=lambda slot: slot.id + self.base,
                ),
                self._ordered(slot=lambda slot: slot.id, victim=lambda f: f.found),
            ],
            servers=1,
        )

    def _others(self, inside):
        """What no stream tells is behind the edge."""

        def other(t):
            mine = 0
            for id in self.ids:
                mine = lpn.select(t.id == id, 1, mine)
            return mine == 0

        self.step(
            "others",
            take={"t": inside.take(guard=other)},
            put=[self.near.emit(behind=True), self._ordered()],
            servers=1,
        )

    def _ordered(self, slot=-1, victim=-1):
        return self.order.emit(**_SAME, slot=slot, victim=victim)

    def _answers(self, near_done, leaving):
        size, back = self.line, self.b.port
        here = self.place("here", Arrived, init=[{"slots": 0}])
        answer = leaving.emit(**_SAME)
        self.step(
            "found",
            take={"t": self.order.take(guard=lambda t: t.slot < 0), "n": near_done},
            put=[answer],
        )
        self.step(
            "filled",
            take={
                "r": back.responses.take(
                    guard=lambda r: lpn.select(r.write, -1, r.id // SLOTS) == self.base // SLOTS
                ),
                "here": here,
            },
            put=[here.emit(slots=lambda r, here: here.slots | 1 << r.id % SLOTS)],
        )
        self.step(
            "fetched",
            take={
                "t": self.order.take(guard=lambda t: t.slot >= 0),
                "here": here.take(guard=lambda t, here: here.slots >> t.slot & 1 == 1),
            },
            put=[
                answer,
                here.emit(slots=lambda t, here: here.slots & ~(1 << t.slot)),
                self.slots.emit(id=lambda t: t.slot),
                back.requests.emit(
                    lambda t: lpn.select(t.victim >= 0, 1, 0),
                    address=lambda t: lpn.max(0, t.victim) * size,
                    bytes=size,
                    write=True,
                    id=0,
                ),
            ],
        )


def fill_ports(system, own, marking, input, earlier):
    """Adds what the streams of an input find. `earlier`: after one pass of the same accesses."""
    from lpn_models_native import _system

    memory, ports = system.memory, dict(system.accelerator.ports)
    whose, lines = own.model.module.traffic(input, own.net, memory.line)
    found = _system.cached(
        whose,
        lines,
        [ports[port] == "write" for port, _ in own.streams],
        sets=memory.behind_sets,
        ways=memory.behind_ways,
        earlier=int(bool(earlier)),
    )
    for (port, id), (touched, finds) in zip(own.streams, found):
        marking.add_columns(f"memory.{port}.stream{id}.found", line=touched, found=finds)
