"""Requests come into the queues of their channel."""

import lpn

from .formulas import (
    copied,
    enters,
    is_write,
    joins,
    number_of,
    read_of,
    read_wanted,
    shared,
    under_way,
    when,
)
from .tokens import At, TICKS, Waiting

__all__ = ["accepts"]


def accepts(net, channels, port, requests, answers, traced):
    """One request a cycle, in order, when there is room for it. `answers`: the places that get its
    number: when it is accepted, when it is done at once. `traced`: what comes is known, and which blocks
    several requests name; else each is taken for one of these.
    """
    taken = net.place("port_taken", At)
    net.transition("port_free", take={"t": taken}, put=[port.forward("t")], delay=1, servers=1)
    for number, channel in enumerate(channels):
        way_in = _WayIn(number, channel, port, requests, taken, *answers)
        if traced or not channel.standard.joins:
            way_in.alone()
        if channel.standard.joins:
            way_in.sharing()


def _next(r, port, s):
    """The cycle after that of the acceptance."""
    return lpn.max(r.arrives, lpn.max(port.at, s.moved)) + 1


class _WayIn:
    """Into one channel."""

    def __init__(self, number, channel, port, requests, taken, accepted, posted):
        self.number, self.channel, self.port, self.requests = number, channel, port, requests
        self.posted = posted
        self.own = channel.heard is not port
        self.common = [taken.emit(at=_next), accepted.emit(id=lambda r: number_of(r.entry))]
        if self.own:
            self.common.append(channel.heard.emit(at=_next))
        self.now = dict(at=_next, bank=lambda r: r.bank, entry=lambda r: r.entry)
        self.ways = {"read": read_of, "write": lambda r: is_write(r.entry)}

    def _step(self, name, shares, room, put):
        """A request of this channel goes, whose block others name or not."""
        code = 2 * self.number + shares
        take = {
            "r": self.requests.take(
                guard=lambda r: r.channel * 2 + when(shared(r.entry), 1) == code
            ),
            "port": self.port,
            "s": self.channel.queues.peek(1),
            **({"heard": self.channel.heard} if self.own else {}),
            **room,
        }
        put = [*self.common, *put]
        self.channel.step(name, take=take, put=put, clock=(TICKS, 3), servers=1)

    def alone(self):
        """No other request names its block."""
        channel = self.channel
        self._step(
            "accept",
            False,
            {way: channel.room[way].take(is_it) for way, is_it in self.ways.items()},
            [
                *[
                    channel.queue[way].emit(count=is_it, **self.now)
                    for way, is_it in self.ways.items()
                ],
                self.posted.emit(count=self.ways["write"], id=lambda r: number_of(r.entry)),
            ],
        )

    def sharing(self):
        """Others do: a write joins one that is under way, a read is answered by a write, or joins a
        read. Which it is is asked once, since it is a look at all that is under way.
        """
        channel = self.channel
        self._step(
            "accept_shared",
            True,
            {
                **{way: channel.room[way].peek(is_it) for way, is_it in self.ways.items()},
                "p": channel.pending.peek(lambda p: p.count),
            },
            [channel.sharing.emit(**self.now, ways=under_way)],
        )
        own = {
            way: lambda t, w=int(way == "write"): when(is_write(t.entry) == w, enters(t))
            for way in self.ways
        }
        channel.step(
            "share",
            take={
                "t": channel.sharing,
                **{way: channel.room[way].take(count) for way, count in own.items()},
            },
            put=[
                *[
                    channel.queue[way].emit(count=count, **copied("t", Waiting))
                    for way, count in own.items()
                ],
                self.posted.emit(
                    count=lambda t: lpn.select(t.ways >= 2, 1, is_write(t.entry)),
                    id=lambda t: number_of(t.entry),
                ),
                channel.joined.emit(
                    count=joins, id=lambda t: number_of(t.entry), what=lambda t: read_wanted(t)
                ),
                channel.pending.emit(
                    count=enters,
                    what=lambda t: read_wanted(t) + is_write(t.entry),
                ),
            ],
            servers=1,
        )
