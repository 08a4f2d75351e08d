"""From the read queue and the write buffer to the queues of the banks."""

import lpn

from ..device import Over
from .formulas import (
    bit_number,
    bit_of,
    both,
    full,
    nothing_to_do,
    plus,
    read_under_way,
    room_at_most,
    stopped_again,
    when,
    where_is,
)
from .tokens import Call, MASK, TICKS, Waiting


class Movers:
    """The part of a Channel that holds requests until their bank has room."""

    def _front(self):
        self.room = {
            "read": self.place("read_room", init=self.read_queue),
            "write": self.place("write_room", init=self.write_buffer),
        }
        self.queue = {
            "read": self.place("read_queue", Waiting, drain=True),
            "write": self.place("write_buffer", Waiting),
        }
        self._drain_starts()
        self.calls = self.place("call", Call)
        self.spent = self.place("mover_spent")
        for way in ("write", "read"):
            self._mover(way)
        self.step("move_again", take={"t": self.spent}, put=[self.mover], delay=1, servers=1)

    def _drain_starts(self):
        """Writes go to the banks when their buffer is full, or when it is half a burst full and
        no bank has anything to do.
        """
        for name, least in (("full", self.write_buffer), ("idle", self.drain_idle + 1)):
            idle = name == "idle"
            self.step(
                f"drain_when_{name}",
                take={
                    "mover": self.mover.peek(1),
                    "room": self.room["write"].watch(guard=room_at_most(self.write_buffer - least)),
                    "s": self.queues.take(
                        guard=nothing_to_do(self.bank_queue) if idle else lambda s: s.left == 0
                    ),
                    "port": self.heard.peek(1),
                },
                put=[
                    self.queues.forward(
                        "s",
                        left=lambda room: self.write_buffer - room.count,
                        at=lambda s, port: lpn.max(s.at, port.at),
                    )
                ],
                clock=(TICKS, 2),
                servers=1,
            )

    def _mover(self, way):
        """From a queue to those of the banks, one a cycle, the oldest whose bank has room. A request
        whose bank has none steps aside, into a queue of its bank; all there are older than the head.
        """
        s = self.standard
        queue = self.queue[way]
        writes = way == "write"
        aside = [self.place(self.bank_name(f"aside_{way}", b), Waiting) for b in s.banks]
        phase = {"clock": (TICKS, 2), "servers": 1}

        def turn(s):
            return when(s.left > 0, 1) == int(writes)

        def movable(s):
            """Banks that have room, and requests aside."""
            return (s.writes if writes else s.reads) & ~full(s, self.bank_queue)

        def several(s):
            return movable(s) & movable(s) - 1

        def oldest(*arcs):
            """The number of the bank of the oldest request aside that can go on."""
            found = MASK
            for k, r in enumerate(arcs[1:]):
                seen = lpn.select(movable(arcs[0]) >> k & 1 == 0, MASK, r.at * 64 + k)
                found = lpn.min(found, seen)
            return found & 63

        # The only bank with requests aside that has room, or that of the oldest of several.
        self._call(
            way,
            "recall",
            lambda s: both(turn(s), both(movable(s) != 0, several(s) == 0)),
            {},
            lambda s: bit_number(movable(s)),
        )
        heads = {
            f"b{k}": place.peek(lambda s, k=k: movable(s) >> k & 1) for k, place in enumerate(aside)
        }
        self._call(
            way,
            "oldest",
            lambda s: both(turn(s), several(s) != 0),
            heads,
            Over(["s", *heads], oldest),
        )
        for number, where in enumerate(s.banks):
            self._recall(way, number, where, aside[number])

        # Where there is none, the head of the queue.
        base = {"s": self.queues.take(guard=lambda s: both(turn(s), movable(s) == 0))}
        room = lambda s, r: (full(s, self.bank_queue) >> r.bank & 1) == 0  # noqa: E731
        if writes:
            self.step(
                "stay_write",
                take={
                    "mover": self.mover,
                    **base,
                    "r": queue.peek(1, guard=room),
                    "p": self.pending.peek(
                        lambda p: p.count, guard=lambda r, p: read_under_way(r, p) != 0
                    ),
                },
                put=[
                    self.queues.forward(
                        "s",
                        left=0,
                        stopped=stopped_again,
                        at=lambda s, r: lpn.max(s.at, r.at) + 1,
                    ),
                    self.spent,
                ],
                **phase,
            )

        def now(s, r):
            return lpn.max(s.at, r.at)

        self.step(
            f"move_{way}",
            take={"mover": self.mover, **base, "r": queue.take(guard=room)},
            put=[
                self.queues.forward(
                    "s",
                    **{f"c{k}": plus(k, lambda s, r: bit_of(r.bank)) for k in range(self.digits)},
                    at=lambda s, r: now(s, r) + 1,
                    moved=now,
                    left=lambda s: s.left - int(writes),
                    stopped=0,
                ),
                self.room[way],
                self.entering.emit(at=now, bank=lambda r: r.bank, entry=lambda r: r.entry),
            ],
            **phase,
        )
        mask = "writes" if writes else "reads"
        self.step(
            f"aside_{way}",
            take={
                "mover": self.mover.peek(1),
                **base,
                "r": queue.take(guard=lambda s, r: (full(s, self.bank_queue) >> r.bank & 1) == 1),
            },
            put=[
                self.queues.forward("s", **{mask: lambda s, r: getattr(s, mask) | bit_of(r.bank)}),
                *[
                    place.emit(
                        count=where_is(lambda r: r.bank, k),
                        at=lambda r: r.at,
                        bank=k,
                        entry=lambda r: r.entry,
                    )
                    for k, place in enumerate(aside)
                ],
            ],
            **phase,
        )

    def _call(self, way, name, guard, more, bank):
        """A request aside is called to go on."""
        self.step(
            f"{name}_{way}",
            take={"mover": self.mover, "s": self.queues.peek(1, guard=guard), **more},
            put=[self.calls.emit(bank=bank, write=way == "write")],
            clock=(TICKS, 2),
            servers=1,
        )

    def _recall(self, way, number, where, aside):
        """The oldest request aside of a bank goes on. A write stays where it is while a read of its
        block is under way.
        """
        bit = 1 << number
        writes = way == "write"
        call = self.calls.take(guard=lambda c: c.bank * 2 + c.write == number * 2 + writes)
        take, put = {"c": call, "s": self.queues}, []
        if writes:
            gone = lambda p, r: 1 - read_under_way(r[0], p)  # noqa: E731
            take["p"] = self.pending.peek(lambda p: p.count)
            put.append(self.spent.emit(count=lambda p, r: read_under_way(r[0], p)))
        else:
            gone = lambda r: 1  # noqa: E731
        take["r"] = aside.take(gone, need=1)
        arcs = [arc for arc in ("p", "r") if arc in take]
        mask = "writes" if writes else "reads"

        def changed(value):
            """A property of `queues`, of (whether it goes, s, r)."""
            return Over(["s", *arcs], lambda s, *arcs: value(gone(*arcs) == 1, s, arcs[-1]))

        def asides(goes, s, r):
            return getattr(s, mask) & ~when(goes, bit) | when(r.count > 1, bit)

        changes = dict(
            moved=changed(lambda goes, s, r: lpn.select(goes, s.at, s.moved)),
            left=changed(lambda goes, s, r: lpn.select(goes, s.left - int(writes), 0)),
            stopped=changed(lambda goes, s, r: lpn.select(goes, 0, stopped_again(s))),
        )
        if not writes:  # it always goes
            changes |= dict(left=lambda s: s.left, stopped=0)
        entered = Over(["s", *arcs], lambda s, *arcs: when(gone(*arcs) == 1, bit))
        self.step(
            self.bank_name(f"recall_{way}", where),
            take=take,
            put=[
                self.entering.emit(
                    count=gone, at=lambda s: s.at, bank=number, entry=lambda r: r[0].entry
                ),
                self.room[way].emit(count=gone),
                self.queues.forward(
                    "s",
                    at=lambda s: s.at + 1,
                    **{f"c{k}": plus(k, entered) for k in range(self.digits)},
                    **{mask: changed(asides)},
                    **changes,
                ),
                *put,
            ],
            servers=1,
        )
