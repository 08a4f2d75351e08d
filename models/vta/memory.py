"""VTA's way to memory: fetch and dispatch of instructions, the read port, the bursts of a unit."""

from lpn_models_native._vta import COMMAND_INTERVAL, PADDED, TO_COMPUTE, TO_LOAD, WIDE

import lpn
from models.vta.tokens import Burst, Chunk, Drained, Padding, Run

__all__ = ["TO_FIRST_ADDRESS", "Port", "bit", "fetch"]

# From the start of a load to its first address: sBusy, command queue (TensorLoad*VME.scala). From
# the last instruction of a chunk to the next address: count 0, sReadCmd (FetchVME64.scala).
TO_FIRST_ADDRESS = 2
# From the clock behind the last beat to the unit being idle: VME's register, one more in front of
# memories wider than a beat (vmeDataBitsPipe of TensorLoadNarrowVME.scala), done.
NARROW_TAIL = 3  # 2 where wide
DECODE = 1  # from a chunk's last beat to sDrain: VME's register
TO_FETCH = 1  # has a burst, as TO_LOAD and TO_COMPUTE have a load's last; others are 0


def bit(number):
    """A count or weight: that bit of the instruction's flags."""
    return lambda ins: ins.flags >> number & 1


def fetch(net, queues, slots, flight, ports, read_latency):
    """FetchVME64.scala: a chunk is read as a whole, then dispatched, one instruction a clock and in
    order, then the next one is asked for. With the memory port, of which fetch is the first client.
    """
    chunks = net.place("chunks", Chunk, start=True)
    drained = net.place("drained", Drained, init=[{"late": 0}], sink=True)
    asked, fetched, buffer = net.place("asked"), net.place("fetched", Chunk), net.place("buffer")
    net.transition(
        "ask",
        take={"chunk": chunks.peek(1), "drained": drained},
        put=[asked],
        delay=lambda drained: TO_FIRST_ADDRESS + drained.late,
        servers=1,
    )
    net.transition(
        "read_instructions",
        take={"asked": asked, "chunk": chunks},
        put=[
            flight.emit(
                beats=lambda chunk: 2 * chunk.instructions, to=TO_FETCH, low=False, waits=0, ahead=0
            )
        ],
        delay=read_latency,
        interval=COMMAND_INTERVAL,
    )
    _reads(net, ports, fetched, flight, read_latency)
    net.transition(
        "decode",
        take={"chunk": fetched},
        put=[buffer.emit(count=lambda chunk: chunk.instructions)],
        delay=DECODE,
        servers=1,
    )
    for_unit = {
        unit: lambda run, number=number: lpn.select(run.unit == number, run.instructions, 0)
        for number, unit in enumerate(queues)
    }
    net.transition(
        "dispatch",
        take={
            "run": net.place("order", Run, start=True),
            "ready": buffer.take(lambda run: run.instructions),
            **{f"{unit}_room": slots[unit].take(count) for unit, count in for_unit.items()},
        },
        put=[
            *(queues[unit].emit(count=count) for unit, count in for_unit.items()),
            drained.emit(
                count=lambda run: lpn.select(run.last, 1, 0),
                late=lambda run: run.instructions - 1,
            ),
        ],
        delay=1,
        interval=lambda run: run.instructions,
    )


def _reads(net, ports, fetched, flight, read_latency):
    """VME.scala: by priority fetch, micro-ops, inputs and weights, accumulators."""
    for name, unit, guard in (
        ("read_uop", "compute", lambda burst: not burst.low),
        ("read_load", "load", None),
        ("read_acc", "compute", lambda burst: burst.low),
    ):
        net.transition(
            name,
            take={"asked": ports[unit].requests, "burst": ports[unit].bursts},
            guard=guard,
            put=[flight.forward("burst")],
            delay=read_latency,
            interval=COMMAND_INTERVAL,
        )
    last_of = lambda unit: lambda burst: lpn.select(burst.to == unit, 1, 0)
    net.transition(
        "beats",
        take={"burst": flight},
        put=[
            fetched.emit(
                count=last_of(TO_FETCH),
                instructions=lambda burst: lpn.min(128, lpn.max(1, burst.beats // 2)),
            ),
            ports["load"].arrived.emit(count=last_of(TO_LOAD)),
            ports["compute"].arrived.emit(count=last_of(TO_COMPUTE)),
        ],
        # One more request is sent when the first of 16 is answered; read_latency later it is.
        delay=lambda burst: burst.beats + burst.waits * lpn.max(0, read_latency - burst.ahead),
        servers=1,
    )


class Port:
    """What a unit asks of memory: bursts in its program's order, requests for them, zeros."""

    def __init__(self, net, unit, read_latency):
        self._net, self._unit = net, unit
        self.bursts = net.place(f"{unit}_bursts", Burst, start=True)
        self.requests, self.arrived = net.place(f"{unit}_requests"), net.place(f"{unit}_arrived")
        self.pads, self.padded = net.place(f"{unit}_pads"), net.place(f"{unit}_padded")
        # ZeroPadding (TensorLoadNarrowVME.scala). Rows without zeros at their sides are skipped,
        # one a clock, while data arrives or not: what is left of them when it does overlaps.
        net.transition(
            f"{unit}_pad",
            take={"go": self.pads, "pad": net.place(f"{unit}_zeros", Padding, start=True)},
            put=[self.padded],
            delay=lambda pad: lpn.max(
                0,
                pad.cycles
                - lpn.max(0, lpn.min(pad.rows, pad.skipped - read_latency - 4))
                - lpn.select(pad.with_data, read_latency, 0),
            ),
            servers=1,
        )

    def start(self, count):
        """What the start of a load emits: so many requests."""
        return [self.requests.emit(count=count), self.pads.emit(count=bit(PADDED))]

    def end(self, active, after):
        """The end of an `active` load, when its data and zeros are there; puts `after`."""
        self._net.transition(
            f"{self._unit}_done",
            take={"ins": active, "data": self.arrived, "zeros": self.padded.take(bit(PADDED))},
            put=after,
            delay=lambda ins: NARROW_TAIL - (ins.flags >> WIDE & 1),
            servers=1,
        )
