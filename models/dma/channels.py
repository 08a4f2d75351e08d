"""Channels: valid, ready and what moves when both are high.

A token in `offer` is valid: it is there from the clock in which the RTL's valid is high. Whoever
receives takes it in a transition without delay, in the clock in which it is ready, and puts what
`accept` says: that instant is the handshake. The slot of `offer` is then free, so that a producer's
register may be filled again in the same clock (delay 1: valid in the next one), and `taken` has a
token for a producer whose valid has to fall first.

Everything that a part puts into `offer` it puts with a delay of at least 1: all valids of a clock
are there in its group 0, before any arbiter looks. `taken` is the producer's to read.
"""

import lpn

ADDRESS = lpn.Int[0, 2**40 - 1]  # bytes
ID = lpn.Int[0, 2**20 - 1]


class Burst(lpn.Token):
    """AR or AW: INCR, of the full width of the bus."""

    addr: ADDRESS
    beats: lpn.Int[1, 256]
    id: ID


class Beat(lpn.Token):
    """R or W."""

    last: bool
    id: ID


class Response(lpn.Token):
    """B."""

    id: ID


class Word(lpn.Token):
    """AXI stream; `last`: tlast."""

    last: bool


def misuse(text):
    """The error of a part that is joined wrongly."""
    return lpn.Error("E-operand", text)


def whole(part, what, value, least, most):
    """Raises Error "E-operand" unless `value` is an int in least..most."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise misuse(f"{part}: {what} must be an int {least}..{most}, got {value!r}")


def carries(part, what, channel, token):
    """Raises Error "E-operand" unless `channel` is a Channel of `token`."""
    if not isinstance(channel, Channel) or channel.token is not token:
        got = f"one of {channel.token.__name__}" if isinstance(channel, Channel) else repr(channel)
        raise misuse(f"{part}: {what} must be a Channel of {token.__name__}, got {got}")


def has(part, port, reads, writes):
    """Raises Error "E-operand" unless `port` is a Port with these directions."""
    if not isinstance(port, Port):
        raise misuse(f"{part}: a Port is needed, got {port!r}")
    for wanted, channel, what in ((reads, port.ar, "read"), (writes, port.aw, "write")):
        if wanted and channel is None:
            raise misuse(f"{part}: port '{port.name}' has no channels to {what}")


class Channel:
    """One channel: `offer`, `taken` and `seen`, which keeps every token that was handed over.

    The parts call it as their docstrings say; a user makes it and reads `seen`.
    """

    def __init__(self, net, name, token):
        self.name = name
        self.token = token
        self.offer = net.place(name, token, capacity=1)
        self.taken = net.place(f"{name}.taken", sink=True)
        self.seen = net.place(f"{name}.seen", token, sink=True)

    def accept(self, arc):
        """What the transition without delay that takes `offer` over `arc` has to put."""
        return [self.taken.emit(), self.seen.forward(arc)]


class Port:
    """The channels between a master and a slave: `ar` and `r` for reads, `aw`, `w`, `b` for writes.

    `read`, `write`: which of them; the others are None.
    """

    def __init__(self, net, name, read=True, write=True):
        self.name = name
        self.ar = Channel(net, f"{name}.ar", Burst) if read else None
        self.r = Channel(net, f"{name}.r", Beat) if read else None
        self.aw = Channel(net, f"{name}.aw", Burst) if write else None
        self.w = Channel(net, f"{name}.w", Beat) if write else None
        self.b = Channel(net, f"{name}.b", Response) if write else None

    def channels(self):
        """Those that it has."""
        every = (self.ar, self.r, self.aw, self.w, self.b)
        return [channel for channel in every if channel is not None]


def low(net, name, channel):
    """A place with a token while the valid of `channel` is low, for a register that is filled only
    then: valid falls in the clock after the handshake.
    """
    empty = net.place(f"{name}.low", init=1)
    net.transition(f"{name}.fall", take={"h": channel.taken}, put=[empty], delay=1, interval=1)
    return empty


def room(net, name, channel, also=()):
    """A place with a token while the register of `channel` may be filled: it is empty, or emptied in
    this clock. `also`: what is put besides at each handshake.
    """
    free = net.place(f"{name}.room", init=1)
    net.transition(f"{name}.emptied", take={"h": channel.taken}, put=[free, *also])
    return free


def fill(net, name, source, channel, also=()):
    """The register of a channel: a token of `source` is offered in the next clock, when the slot is
    free. `also`: what is put then besides; it may name the arc `t`.
    """
    net.transition(
        name,
        take={"t": source},
        put=[channel.offer.forward("t"), *also],
        delay=1,
        interval=1,
    )


NONE, SIMPLE, SKID = 0, 1, 2  # the types of axi_register_rd.v and axi_register_wr.v


def register(net, name, kind, channel):
    """An axi_register of type SIMPLE or SKID in front of `channel`; returns (`ready`, `source`):
    take a token of the first and put what moves into the second, without delay.

    SIMPLE is ready while it is empty. SKID has two places, and is ready while the second is free.
    """
    source = net.place(f"{name}.source", channel.token)
    if kind == SIMPLE:
        fill(net, f"{name}.load", source, channel)
        return low(net, name, channel), source
    ready = net.place(f"{name}.ready", init=1)
    fill(net, f"{name}.load", source, channel, also=[ready])
    return ready, source


def registered(net, name, kind, channel, out=None):
    """`channel` behind an axi_register: the Channel on its other side, `channel` itself for NONE.

    `out`: the name of that Channel's place.
    """
    if kind == NONE:
        return channel
    behind = Channel(net, out or f"{name}.out", channel.token)
    ready, source = register(net, name, kind, behind)
    net.transition(
        f"{name}.in",
        take={"t": channel.offer, "ready": ready},
        put=[source.forward("t"), *channel.accept("t")],
    )
    return behind
