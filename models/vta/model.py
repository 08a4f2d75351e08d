"""Cycles of Apache VTA, a tensor accelerator in Chisel (apache/tvm-vta, commit 36a9157).

    chunks -> fetch -> decode -> dispatch -> queues of the load, compute and store unit
    load:    inputs and weights       \\
    compute: micro-ops, accumulators  -> bursts -> 16 outstanding -> one 64-bit read port
    store:   a write port of its own

Three units work in parallel, each in order, one instruction at a time, and wait for each other by
four counting semaphores. A token of a program is an instruction; one of `*_bursts` is a request to
memory of at most 256 beats (tokens.py). A tick is a clock; `latency` is launch to the finish pulse.

Sources: RTL file and state or register; README.md has the measured figures. Commits stand one clock
after the RTL's `done`: then the unit is idle again, and a semaphore that it posted can be taken.
"""

from lpn_models_native._vta import (
    COMMAND_INTERVAL,
    FINISHES,
    OUTSTANDING,
    PADDED,
    SYNC,
    TO_COMPUTE,
    TO_LOAD,
    WIDE,
)

import lpn
from models.vta import files
from models.vta.config import DEFAULT
from models.vta.space import space
from models.vta.tokens import (
    Active,
    Burst,
    Chunk,
    Compute,
    Drained,
    Load,
    Padding,
    Run,
    Store,
    Tensor,
    columns,
)

__all__ = ["marking_of", "net", "space", "truth_rows", "workload"]

POP_PREV, POP_NEXT, PUSH_PREV, PUSH_NEXT = range(4)  # bits of `flags`, as in an instruction
QUEUE = 512  # instQueueEntries (core/Configs.scala)
# From the start of a load to its first address: sBusy, command queue (TensorLoad*VME.scala). From
# the last instruction of a chunk to the next address: count 0, sReadCmd (FetchVME64.scala).
TO_FIRST_ADDRESS = 2
# From the clock behind the last beat to the unit being idle: VME's register, one more in front of
# memories wider than a beat (vmeDataBitsPipe of TensorLoadNarrowVME.scala), done.
NARROW_TAIL = 3  # 2 where wide
DECODE = 1  # from a chunk's last beat to sDrain: VME's register
TO_FETCH = 1  # has a burst, as TO_LOAD and TO_COMPUTE have a load's last; others are 0


def net() -> lpn.Net:
    """The accelerator. Parameters, in cycles: `read_latency` from a read's address to its first
    beat, `write_ack_latency` from a write's last beat to its acknowledgement.
    """
    net = lpn.Net("vta")
    read_latency = net.param("read_latency", 20, range=(1, 100_000))
    ack_latency = net.param("write_ack_latency", 20, range=(1, 100_000))
    units = ("load", "compute", "store")
    queues = {unit: net.place(f"{unit}_queue") for unit in units}
    slots = {unit: net.place(f"{unit}_slots", init=QUEUE, sink=True) for unit in units}
    # Semaphores: (who posts, who takes).
    semaphores = {
        pair: net.place(f"{pair[0]}_to_{pair[1]}", sink=True)
        for unit in ("load", "store")
        for pair in ((unit, "compute"), ("compute", unit))
    }
    flight = net.place("flight", Burst, capacity=OUTSTANDING)
    ports = {unit: _Port(net, unit, read_latency) for unit in ("load", "compute")}
    _fetch(net, queues, slots, flight, ports, read_latency)
    _load(net, queues, slots, semaphores, ports["load"], flight, read_latency)
    _compute(net, queues, slots, semaphores, ports["compute"])
    # TensorStore*VME.scala: per burst sWriteCmd, the address, its data and the acknowledgement.
    net.transition(
        "store",
        take={
            "queued": queues["store"],
            "ins": net.place("store_program", Store, start=True),
            "sem": semaphores["compute", "store"].take(_bit(POP_PREV)),
        },
        put=[semaphores["store", "compute"].emit(count=_bit(PUSH_PREV)), slots["store"]],
        delay=lambda ins: lpn.select(
            ins.bursts == 0, SYNC, 1 + ins.beats + ins.bursts * (ack_latency + 2)
        ),
        servers=1,
    )
    return net


def _bit(number):
    """A count or weight: that bit of the instruction's flags."""
    return lambda ins: ins.flags >> number & 1


def _fetch(net, queues, slots, flight, ports, read_latency):
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


class _Port:
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
        return [self.requests.emit(count=count), self.pads.emit(count=_bit(PADDED))]

    def end(self, active, after):
        """The end of an `active` load, when its data and zeros are there; puts `after`."""
        self._net.transition(
            f"{self._unit}_done",
            take={"ins": active, "data": self.arrived, "zeros": self.padded.take(_bit(PADDED))},
            put=after,
            delay=lambda ins: NARROW_TAIL - (ins.flags >> WIDE & 1),
            servers=1,
        )


def _load(net, queues, slots, semaphores, port, flight, read_latency):
    """The load unit (core/Load.scala)."""
    idle = net.place("load_idle", init=1, sink=True)
    active = net.place("load_active", Active)
    take = {
        "queued": queues["load"],
        "ins": net.place("load_program", Load, start=True),
        "idle": idle,
        "sem": semaphores["compute", "load"].take(_bit(POP_NEXT)),
    }
    after = [semaphores["load", "compute"].emit(count=_bit(PUSH_NEXT)), idle, slots["load"]]
    net.transition(
        "load_start",
        take=take,
        guard=lambda ins: ins.bursts > 0,
        put=[
            active.emit(flags=lambda ins: ins.flags),
            *port.start(lambda ins: lpn.select(ins.beats > 0, 0, ins.bursts)),
            flight.emit(
                count=lambda ins: lpn.min(1, ins.beats),
                beats=lambda ins: lpn.max(1, ins.beats),
                to=TO_LOAD,
                low=False,
                waits=lambda ins: ins.waits,
                ahead=lambda ins: ins.ahead,
            ),
        ],
        delay=lambda ins: TO_FIRST_ADDRESS
        + ins.rows_above
        + lpn.select(ins.beats > 0, read_latency, 0),
        servers=1,
    )
    net.transition(
        "load_sync",
        take=take,
        guard=lambda ins: ins.bursts == 0,
        put=after,
        delay=SYNC,
        servers=1,
    )
    port.end(active, after)


def _compute(net, queues, slots, semaphores, port):
    """The compute unit (core/Compute.scala)."""
    idle = net.place("compute_idle", init=1, sink=True)
    active = net.place("compute_active", Active)
    take = {
        "queued": queues["compute"],
        "ins": net.place("compute_program", Compute, start=True),
        "idle": idle,
        "load": semaphores["load", "compute"].take(_bit(POP_PREV)),
        "store": semaphores["store", "compute"].take(_bit(POP_NEXT)),
    }
    after = [
        semaphores["compute", "load"].emit(count=_bit(PUSH_PREV)),
        semaphores["compute", "store"].emit(count=_bit(PUSH_NEXT)),
        idle,
        slots["compute"],
    ]
    tensors = net.place("compute_tensors", Tensor, start=True)
    net.transition(
        "compute_load",
        take={"run": take["ins"], **take, "ins": tensors},
        guard=lambda run: run.cycles == 0,
        put=[active.emit(flags=lambda ins: ins.flags), *port.start(lambda ins: ins.bursts)],
        delay=lambda ins: TO_FIRST_ADDRESS + ins.rows_above,
        servers=1,
    )
    done = net.place("done", done=True, sink=True)
    net.transition(
        "compute_run",
        take=take,
        guard=lambda ins: ins.cycles > 0,
        put=[*after, done.emit(count=_bit(FINISHES))],
        delay=lambda ins: ins.cycles,
        servers=1,
    )
    port.end(active, after)


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The tokens of a program (README.md, "The input") for `net`.

    Raises OSError when the file cannot be read and ValueError, with the reason, when it is no
    program that the hardware runs.
    """
    return marking_of(net, *files.read(input_path))


def marking_of(net, words, hardware=DEFAULT, **options):
    """The tokens of a program given as its 128-bit instructions (isa.py), for a hardware
    configuration (config.py); `options` of tokens.columns. Raises ValueError, with the reason, for
    what no hardware runs.
    """
    marking = lpn.Marking(net)
    for place, values in columns(words, hardware, **options).items():
        marking.add_columns(place, **values)
    return marking


def truth_rows(path):
    """(input, parameters, cycles) of the rows of a programs.jsonl.gz measured on the RTL."""
    for name, row in files.rows(path):
        latencies = {key: row[key] for key in ("read_latency", "write_ack_latency")}
        yield name, latencies, row["total_cycles"]
