"""Tokens, FIFOs and small helpers of Menshen's net."""

import lpn

QUEUES = 4


class Packet(lpn.Token):
    """A packet on the input link."""

    id: lpn.Int[0, 2**31]
    beats: lpn.Int[1, 1024]
    wait: lpn.Int[0, 2**40]  # clocks from the last beat before it to its first
    data: bool  # VLAN, IPv4 and UDP, no control packet: the filter lets it pass
    queue: lpn.Int[0, 3]  # data packets are dealt in turn (parser_top.v, cur_queue)


class Beat(lpn.Token):
    """64 bytes of a packet."""

    id: lpn.Int[0, 2**31]
    queue: lpn.Int[0, 3]
    nth: lpn.Int[0, 2]  # first, second, or behind them
    last: bool
    data: bool


class Header(lpn.Token):
    """A packet's header vector."""

    queue: lpn.Int[0, 3]


class Age(lpn.Token):
    """The header that came so many clocks ago. The next one is late 3 clocks after it if `level` is
    above 0, and then has one less.
    """

    level: lpn.Int[0, 2]


class Sent(lpn.Token):
    """A packet that has begun, or ended, to leave."""

    id: lpn.Int[0, 2**31]


class Turn(lpn.Token):
    """The idle arbiter: it looks at queue (k + clock) mod 4."""

    k: lpn.Int[0, 3]


class Sending(lpn.Token):
    """The arbiter at a queue."""

    k: lpn.Int[0, 3]  # what Turn would have if it ended now
    idle: bool  # the beat that it takes in its idle state
    stale: bool  # behind a packet of one beat, whose tlast still stands at the FIFO's output


BEAT = ("id", "queue", "nth", "last", "data")
HEADER = ("queue",)


class Fifo:
    """fallthrough_small_fifo.v: a word written in clock t can be read in t + 3, one per clock.
    `inner` is what nearly_full counts; three more words lie in registers behind it.
    """

    def __init__(self, net, name, depth, type):
        self.depth = depth
        self.inner = net.place(f"{name}.inner", type, drain=True)
        self.free = net.place(f"{name}.free", init=3, sink=True)  # registers; the reader frees one
        falling = net.place(f"{name}.falling", type, drain=True)
        self.out = net.place(f"{name}.out", type, drain=True)
        step(net, f"{name}.pop", {"x": self.inner, "free": self.free}, [falling.forward("x")])
        step(net, f"{name}.fall", {"x": falling}, [self.out.forward("x")])


def step(net, name, take, put, delay=1, **options):
    """One thing per clock."""
    net.transition(name, take=take, put=put, delay=delay, servers=1, **options)


def given(place, fields, arc, when, **changed):
    """`place` gets the token of `arc` if `when(token)`; `arc` is b or h."""
    if arc == "b":
        count = lambda b: 1 if when(b) else 0
        values = {name: (lambda b, name=name: getattr(b, name)) for name in fields}
    else:
        count = lambda h: 1 if when(h) else 0
        values = {name: (lambda h, name=name: getattr(h, name)) for name in fields}
    return place.emit(count=count, **{**values, **changed})


def one_if(condition):
    """The count of an emission: 1 if the condition on the beat holds."""
    return lambda b: 1 if condition(b) else 0


def chosen(queue, arcs):
    """How many tokens the place of arcs[queue] has."""
    low = lpn.select(queue == 0, arcs[0].count, arcs[1].count)
    return lpn.select(queue < 2, low, lpn.select(queue == 2, arcs[2].count, arcs[3].count))


def watched(fifos):
    """Arcs that look at the counters of four FIFOs."""
    return {f"seen{q}": fifo.inner.watch() for q, fifo in enumerate(fifos)}
