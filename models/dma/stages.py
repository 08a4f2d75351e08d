"""What axi_cdma.v, axi_dma_rd.v and axi_dma_wr.v have in common."""

import lpn

from .channels import ADDRESS, fill

__all__ = [
    "HALF_FULL",
    "IN_FLIGHT",
    "Copy",
    "Move",
    "Entry",
    "OutputFifo",
    "Step",
    "engine",
    "half_full",
    "piece",
    "responses",
]

IN_FLIGHT = 32  # STATUS_FIFO_ADDR_WIDTH = 5: active_count_reg
HALF_FULL = 16  # OUTPUT_FIFO_ADDR_WIDTH = 5: out_fifo_half_full_reg
PAGE = 4096  # no burst of AXI crosses it


class Copy(lpn.Token):
    """A descriptor of axi_cdma."""

    read_addr: ADDRESS
    write_addr: ADDRESS
    len: lpn.Int[1, 2**20 - 1]  # bytes


class Move(lpn.Token):
    """A descriptor of axi_dma_rd or axi_dma_wr."""

    addr: ADDRESS
    len: lpn.Int[1, 2**20 - 1]  # bytes


class Step(lpn.Token):
    """A clock of a data engine in which it does something."""

    read: bool  # it takes an input word
    write: bool  # it gives an output word
    last: bool  # the last of its command
    wlast: bool  # its output word ends a burst or packet
    ends: bool  # with it the descriptor's data have passed
    inlast: bool  # the last input word of a descriptor
    leak: bool  # the input's ready is still high although nothing is expected, see axi_cdma


class Entry(lpn.Token):
    """An entry of a status FIFO: a write burst whose response is expected."""

    ends: bool  # it is the last of its descriptor


def piece(addr, left, max_bytes, width):
    """Bytes of the next burst at `addr` (bytes): up to the longest burst, up to 4 KiB."""
    return lpn.min(left, max_bytes - addr % width, PAGE - addr % PAGE)


def words(count, offset, width):
    """Words that `count` bytes from byte `offset` of a word on touch."""
    return (count + offset + width - 1) // width


class OutputFifo:
    """The 32-word FIFO and the register behind it, towards `channel`.

    `put` is what a transition puts that commits a Step `t` one clock after the word was written.
    `seen` tells the writer how full it was two clocks ago: the flag half-full is a register, and so
    is the ready made of it. Nothing but this flag holds the writer back, which stops it long before
    the 32 words are there.
    """

    def __init__(self, net, name, channel, values):
        """`values`: the properties of a word for `channel`, of the Step `t`."""
        self.words = net.place(f"{name}.words", channel.token)
        written = net.place(f"{name}.written")
        read = net.place(f"{name}.read")
        gone = net.place(f"{name}.gone")
        self.seen = net.place(f"{name}.seen_words")
        fill(net, f"{name}.load", self.words, channel, also=[read.emit()])
        # A word written at t counts for who writes from t + 3 on, one read at t no more from t + 3.
        net.transition(f"{name}.count", take={"w": written}, put=[self.seen], delay=2, interval=1)
        net.transition(f"{name}.uncount", take={"r": read}, put=[gone], delay=2, interval=1)
        net.transition(f"{name}.settle", take={"g": gone, "s": self.seen})
        self.put = [
            self.words.emit(count=lambda t: 1 if t.write else 0, **values),
            written.emit(count=lambda t: 1 if t.write else 0),
        ]


def half_full(fifo):
    """The arc that holds a writer back while the FIFO was half full."""
    return fifo.seen.watch(guard=lambda fifo: fifo.count < HALF_FULL)


def engine(net, name, source, fifo, also, leaking=None, idle=None, check=0):
    """A data engine that takes the Steps of `steps` one by one; returns (`steps`, `go`).

    Put the steps of a command into `steps` and a token into `go` when it begins. A step that reads
    waits for `source`, a Channel, and for the FIFO; one that does not is made in its clock whatever
    the FIFO holds. `also`: emissions in the clock after a step, over the arc `t`. `leaking`: a place
    for a token in the clock of a step that leaks. `idle`: a place for one in the clock of the last
    step of a descriptor. `check`: a function of the Step `t` and the word `in_` that asserts what is
    assumed of them and returns 0.
    """
    ended = [idle.emit(count=lambda t: 1 if t.last and t.ends else 0)] if idle else []
    leak = [leaking.emit(count=lambda t: 1 if t.leak else 0)] if leaking else []
    steps = net.place(f"{name}.steps", Step, drain=True)
    go = net.place(f"{name}.go")
    stepped = net.place(f"{name}.stepped", Step)
    net.transition(
        f"{name}.word",
        take={
            "t": steps.take(guard=lambda t: t.read),
            "go": go,
            "in_": source.offer,
            "fifo": half_full(fifo),
        },
        put=[stepped.forward("t"), *ended, *source.accept("in_")],
        delay=check,
    )
    net.transition(
        f"{name}.flush",
        take={"t": steps.take(guard=lambda t: not t.read), "go": go},
        put=[stepped.forward("t"), *ended, *leak],
    )
    net.transition(
        f"{name}.step",
        take={"t": stepped},
        put=[go.emit(count=lambda t: 0 if t.last else 1), *fifo.put, *also],
        delay=1,
        interval=1,
    )
    return steps, go


def responses(net, name, b, status):
    """The status FIFO; returns (`entries`, `active`).

    Put an Entry into `entries` so that it is there one clock after the burst's last word was
    written; take a token of `active` for each burst begun. bready is high one clock after an entry
    is there, and low for one clock after each response. Each descriptor puts a token into `status`.
    """
    entries = net.place(f"{name}.entries", Entry)
    active = net.place(f"{name}.active", init=IN_FLIGHT)
    turn = net.place(f"{name}.turn", init=1)
    expected = net.place(f"{name}.expected", Entry)
    answered = net.place(f"{name}.answered", Entry)
    net.transition(
        f"{name}.arm",
        take={"t": entries, "turn": turn},
        put=[expected.forward("t")],
        delay=1,
        interval=1,
    )
    net.transition(
        f"{name}.b",
        take={"t": expected, "b": b.offer},
        put=[answered.forward("t"), *b.accept("b")],
    )
    net.transition(
        f"{name}.finish",
        take={"t": answered},
        put=[status.emit(count=lambda t: 1 if t.ends else 0), active, turn],
        delay=1,
        interval=1,
    )
    return entries, active
