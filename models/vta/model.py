"""Cycles of Apache VTA, a tensor accelerator in Chisel (apache/tvm-vta, commit 36a9157).

    chunks -> fetch -> decode -> dispatch -> queues of the load, compute and store unit
    load:    inputs and weights       \\
    compute: micro-ops, accumulators  -> bursts -> 16 outstanding -> one 64-bit read port
    store:   a write port of its own

Three units work in parallel, each in order, one instruction at a time, and wait for each other by
four counting semaphores. A token of a program is an instruction; one of `*_bursts` is a request to
memory of at most 256 beats. A tick is a clock; `latency` is launch to the finish pulse.

Sources: RTL file and state or register; README.md has the measured figures. Commits stand one clock
after the RTL's `done`: then the unit is idle again, and a semaphore that it posted can be taken.
"""

import lpn
from models.vta import files
from models.vta.config import DEFAULT
from models.vta.shape import COMMAND_INTERVAL, NARROW_TAIL, OUTSTANDING, PADDED, WIDE
from models.vta.tokens import COMPUTE, FINISH, LOAD, SYNC, columns

# Bits of `flags`: as they follow each other in an instruction.
POP_PREV, POP_NEXT, PUSH_PREV, PUSH_NEXT = range(4)

QUEUE = 512  # instQueueEntries (core/Configs.scala)
# From the start of a load to its first address: sBusy, command queue (TensorLoad*VME.scala).
# From the last instruction of a chunk to the next address: count 0, sReadCmd (FetchVME64.scala).
TO_FIRST_ADDRESS = 2
# From the clock behind a chunk's last beat to its first instruction in a queue: VME's register,
# sDrain.
DECODE = 1
FETCH = 1  # has a burst, as LOAD and COMPUTE have a load's last; others are 0


class Chunk(lpn.Token):
    """Instructions that are fetched together."""

    instructions: lpn.Int[1, 128]


class Run(lpn.Token):
    """Instructions for one unit that follow each other in a chunk. Dispatch passes one a clock and
    no unit takes one a clock, so that they may enter their queue together.
    """

    unit: lpn.Int[0, 2]  # load, compute, store
    instructions: lpn.Int[1, 128]
    last: bool  # of its chunk


class Drained(lpn.Token):
    """A chunk has been dispatched."""

    late: lpn.Int[0, 127]  # clocks after the first of its last run


class Burst(lpn.Token):
    """A read of memory."""

    beats: lpn.Int[1, 2**40]
    to: lpn.Int[0, 3]
    low: bool  # an accumulator's, behind all others
    waits: lpn.Int[0, 2**31]  # of many that are one token: see Load
    ahead: lpn.Int[0, 2**40]


class Load(lpn.Token):
    """An instruction of the load unit. No bursts: a sync; no beats: its bursts are tokens; else all
    are one, since no other reader can come between.
    """

    flags: lpn.Int[0, 63]
    bursts: lpn.Int[0, 2**31]
    beats: lpn.Int[0, 2**40]
    waits: lpn.Int[0, 2**31]  # times that all 16 requests are outstanding
    ahead: lpn.Int[0, 2**40]  # beats of the 15 others when the first is answered
    rows_above: lpn.Int[0, 15]  # of zeros; one a clock before the first address


class Active(lpn.Token):
    """A load that runs."""

    flags: lpn.Int[0, 63]


class Compute(lpn.Token):
    """An instruction of the compute unit; no cycles: it loads the next of `compute_tensors`."""

    flags: lpn.Int[0, 127]
    cycles: lpn.Int[0, 2**40]


class Tensor(lpn.Token):
    """What an instruction of the compute unit loads."""

    flags: lpn.Int[0, 63]
    bursts: lpn.Int[1, 2**31]
    rows_above: lpn.Int[0, 15]


class Store(lpn.Token):
    """An instruction of the store unit; no bursts: a sync."""

    flags: lpn.Int[0, 63]
    beats: lpn.Int[0, 2**40]  # clocks in which it reads its memory or writes
    bursts: lpn.Int[0, 2**31]


class Padding(lpn.Token):
    """The zeros around a tensor, one element a clock in which no data arrives."""

    cycles: lpn.Int[1, 2**40]  # with all its data
    skipped: lpn.Int[0, 2**20]  # clocks at the start that need not wait for data
    rows: lpn.Int[0, 2**20]  # of these, the ones behind the zeros above
    with_data: bool  # starts when the first beat may come


def net() -> lpn.Net:
    """The accelerator. Parameters, in cycles: `read_latency` from a read's address to its first
    beat, `write_ack_latency` from a write's last beat to its acknowledgement.
    """
    net = lpn.Net("vta")
    read_latency = net.param("read_latency", 20, range=(1, 100_000))
    ack_latency = net.param("write_ack_latency", 20, range=(1, 100_000))

    # Fetch: a chunk is read as a whole, then dispatched, then the next one is asked for.
    chunks = net.place("chunks", Chunk, start=True)
    drained = net.place("drained", Drained, init=[{"late": 0}], sink=True)
    asked = net.place("asked")
    fetched = net.place("fetched", Chunk)
    buffer = net.place("buffer")
    queues = [net.place(f"{unit}_queue") for unit in ("load", "compute", "store")]
    slots = [
        net.place(f"{unit}_slots", init=QUEUE, sink=True) for unit in ("load", "compute", "store")
    ]
    # Semaphores, by who posts and who takes.
    to_compute = net.place("load_to_compute", sink=True)
    to_load = net.place("compute_to_load", sink=True)
    to_store = net.place("compute_to_store", sink=True)
    from_store = net.place("store_to_compute", sink=True)
    done = net.place("done", done=True, sink=True)

    flight = net.place("flight", Burst, capacity=OUTSTANDING)
    ports = {who: _Port(net, who, read_latency) for who in ("load", "compute")}
    net.transition(
        "ask",
        take={"chunk": chunks.peek(1), "drained": drained},
        put=[asked],
        delay=lambda drained: TO_FIRST_ADDRESS + drained.late,
        servers=1,
    )
    _reads(net, ports, chunks, asked, fetched, flight, read_latency)
    net.transition(
        "decode",
        take={"chunk": fetched},
        put=[buffer.emit(count=lambda chunk: chunk.instructions)],
        delay=DECODE,
        servers=1,
    )
    _dispatch(net, buffer, queues, slots, drained)
    semaphores = to_load, to_compute
    _load(net, queues[0], slots[0], semaphores, ports["load"], flight, read_latency)
    _compute(
        net,
        {"queued": queues[1], "from_load": to_compute, "from_store": from_store},
        {"to_load": to_load, "to_store": to_store, "slots": slots[1], "done": done},
        ports["compute"],
    )
    program = net.place("store_program", Store, start=True)
    # TensorStoreNarrowVME: per burst sWriteCmd, the address, its data and the acknowledgement.
    net.transition(
        "store",
        take={
            "queued": queues[2],
            "ins": program,
            "sem": to_store.take(bit(POP_PREV)),
        },
        put=[from_store.emit(count=bit(PUSH_PREV)), slots[2]],
        delay=lambda ins: lpn.select(
            ins.bursts == 0, SYNC, 1 + ins.beats + ins.bursts * (ack_latency + 2)
        ),
        servers=1,
    )
    return net


def _dispatch(net, buffer, queues, slots, drained):
    """One instruction a clock, in order, into the queues of the units (FetchVME64.scala)."""

    def those_of(unit):
        return lambda run: lpn.select(run.unit == unit, run.instructions, 0)

    net.transition(
        "dispatch",
        take={
            "run": net.place("order", Run, start=True),
            "ready": buffer.take(lambda run: run.instructions),
            **{f"room{unit}": slots[unit].take(those_of(unit)) for unit in range(3)},
        },
        put=[
            *(queues[unit].emit(count=those_of(unit)) for unit in range(3)),
            drained.emit(
                count=lambda run: lpn.select(run.last, 1, 0),
                late=lambda run: run.instructions - 1,
            ),
        ],
        delay=1,
        interval=lambda run: run.instructions,
    )


def bit(number):
    """A count or weight: that bit of the instruction's flags."""
    return lambda ins: ins.flags >> number & 1


class _Port:
    """What a unit asks of memory: bursts in its program's order, requests for them, zeros around."""

    def __init__(self, net, who, read_latency):
        self.bursts = net.place(f"{who}_bursts", Burst, start=True)
        self.requests = net.place(f"{who}_requests")
        self.arrived = net.place(f"{who}_arrived")
        self.pads = net.place(f"{who}_pads")
        self.padded = net.place(f"{who}_padded")
        # ZeroPadding (TensorLoadNarrowVME.scala). Rows without zeros at their sides are skipped,
        # one a clock, while data arrives or not: what is left of them when the first beat comes
        # overlaps with data.
        net.transition(
            f"{who}_pad",
            take={"go": self.pads, "pad": net.place(f"{who}_zeros", Padding, start=True)},
            put=[self.padded],
            delay=lambda pad: lpn.max(
                0,
                pad.cycles
                - lpn.max(0, lpn.min(pad.rows, pad.skipped - read_latency - 4))
                - lpn.select(pad.with_data, read_latency, 0),
            ),
            servers=1,
        )

    def start(self, count=lambda ins: ins.bursts):
        """What the start of a load emits; `count` requests."""
        return [
            self.requests.emit(count=count),
            self.pads.emit(count=bit(PADDED)),
        ]

    def end(self):
        """What the end of a load waits for."""
        return {"data": self.arrived, "zeros": self.padded.take(bit(PADDED))}


def _reads(net, ports, chunks, asked, fetched, flight, read_latency):
    """The read port (VME.scala): by priority fetch, micro-ops, inputs and weights, accumulators."""

    one = {"waits": 0, "ahead": 0}

    def issue(name, port, guard=None):
        net.transition(
            name,
            take={"asked": port.requests, "burst": port.bursts},
            guard=guard,
            put=[flight.forward("burst")],
            delay=read_latency,
            interval=COMMAND_INTERVAL,
        )

    net.transition(
        "read_instructions",
        take={"asked": asked, "chunk": chunks},
        put=[flight.emit(beats=lambda chunk: 2 * chunk.instructions, **one, to=FETCH, low=False)],
        delay=read_latency,
        interval=COMMAND_INTERVAL,
    )
    issue("read_uop", ports["compute"], lambda burst: not burst.low)
    issue("read_load", ports["load"])
    issue("read_acc", ports["compute"], lambda burst: burst.low)

    def goes_to(who):
        return lambda burst: lpn.select(burst.to == who, 1, 0)

    net.transition(
        "beats",
        take={"burst": flight},
        put=[
            fetched.emit(
                count=goes_to(FETCH),
                instructions=lambda burst: lpn.min(128, lpn.max(1, burst.beats // 2)),
            ),
            ports["load"].arrived.emit(count=goes_to(LOAD)),
            ports["compute"].arrived.emit(count=goes_to(COMPUTE)),
        ],
        # A request more is sent when the first of 16 is answered, and answered read_latency later.
        delay=lambda burst: burst.beats + burst.waits * lpn.max(0, read_latency - burst.ahead),
        servers=1,
    )


def _load(net, queue, slots, semaphores, port, flight, read_latency):
    """The load unit (core/Load.scala)."""
    to_load, to_compute = semaphores
    program = net.place("load_program", Load, start=True)
    idle = net.place("load_idle", init=1, sink=True)
    active = net.place("load_active", Active)
    take = {
        "queued": queue,
        "ins": program,
        "idle": idle,
        "sem": to_load.take(bit(POP_NEXT)),
    }
    after = [to_compute.emit(count=bit(PUSH_NEXT)), idle, slots]
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
                to=LOAD,
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
    net.transition(
        "load_done",
        take={"ins": active, **port.end()},
        put=after,
        delay=lambda ins: NARROW_TAIL - (ins.flags >> WIDE & 1),
        servers=1,
    )


def _compute(net, from_others, to_others, port):
    """The compute unit (core/Compute.scala)."""
    program = net.place("compute_program", Compute, start=True)
    idle = net.place("compute_idle", init=1, sink=True)
    active = net.place("compute_active", Active)
    take = {
        "queued": from_others["queued"],
        "ins": program,
        "idle": idle,
        "load": from_others["from_load"].take(bit(POP_PREV)),
        "store": from_others["from_store"].take(bit(POP_NEXT)),
    }
    after = [
        to_others["to_load"].emit(count=bit(PUSH_PREV)),
        to_others["to_store"].emit(count=bit(PUSH_NEXT)),
        idle,
        to_others["slots"],
    ]
    # The tensor's flags are those of the instruction and its own.
    net.transition(
        "compute_load",
        take={"run": program, **take, "ins": net.place("compute_tensors", Tensor, start=True)},
        guard=lambda run: run.cycles == 0,
        put=[active.emit(flags=lambda ins: ins.flags), *port.start()],
        delay=lambda ins: TO_FIRST_ADDRESS + ins.rows_above,
        servers=1,
    )
    net.transition(
        "compute_run",
        take=take,
        guard=lambda ins: ins.cycles > 0,
        put=[*after, to_others["done"].emit(count=bit(FINISH))],
        delay=lambda ins: ins.cycles,
        servers=1,
    )
    net.transition(
        "compute_done",
        take={"ins": active, **port.end()},
        put=after,
        delay=lambda ins: NARROW_TAIL - (ins.flags >> WIDE & 1),
        servers=1,
    )


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
