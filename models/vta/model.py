"""Cycles of Apache VTA, a tensor accelerator in Chisel (apache/tvm-vta, commit 36a9157).

    chunks -> fetch -> decode -> dispatch -> queues of the load, compute and store unit
    load:    inputs and weights       \\
    compute: micro-ops, accumulators  -> bursts -> 16 outstanding -> one 64-bit read port
    store:   a write port of its own

Three units work in parallel, each in order, one instruction at a time, and wait for each other by
four counting semaphores. A token of a program is an instruction; one of `*_bursts` is a request to
memory of at most 256 beats (tokens.py). A tick is a clock; `latency` is launch to the finish pulse.

memory.py has fetch, the read port and the bursts of a unit. Sources: RTL file and state or
register; README.md has the measured figures. Commits stand one clock after the RTL's `done`:
then the unit is idle again, and a semaphore that it posted can be taken.
"""

from lpn_models_native._vta import FINISHES, OUTSTANDING, SYNC, TO_LOAD

import lpn
from models.vta import files
from models.vta.config import DEFAULT
from models.vta.memory import TO_FIRST_ADDRESS, Port, bit, fetch
from models.vta.space import space
from models.vta.tokens import Active, Burst, Compute, Load, Store, Tensor, columns

__all__ = ["marking_of", "net", "space", "truth_rows", "workload"]

POP_PREV, POP_NEXT, PUSH_PREV, PUSH_NEXT = range(4)  # bits of `flags`, as in an instruction
QUEUE = 512  # instQueueEntries (core/Configs.scala)


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
    ports = {unit: Port(net, unit, read_latency) for unit in ("load", "compute")}
    fetch(net, queues, slots, flight, ports, read_latency)
    _load(net, queues, slots, semaphores, ports["load"], flight, read_latency)
    _compute(net, queues, slots, semaphores, ports["compute"])
    # TensorStore*VME.scala: per burst sWriteCmd, the address, its data and the acknowledgement.
    net.transition(
        "store",
        take={
            "queued": queues["store"],
            "ins": net.place("store_program", Store, start=True),
            "sem": semaphores["compute", "store"].take(bit(POP_PREV)),
        },
        put=[semaphores["store", "compute"].emit(count=bit(PUSH_PREV)), slots["store"]],
        delay=lambda ins: lpn.select(
            ins.bursts == 0, SYNC, 1 + ins.beats + ins.bursts * (ack_latency + 2)
        ),
        servers=1,
    )
    return net


def _load(net, queues, slots, semaphores, port, flight, read_latency):
    """The load unit (core/Load.scala)."""
    idle = net.place("load_idle", init=1, sink=True)
    active = net.place("load_active", Active)
    take = {
        "queued": queues["load"],
        "ins": net.place("load_program", Load, start=True),
        "idle": idle,
        "sem": semaphores["compute", "load"].take(bit(POP_NEXT)),
    }
    after = [semaphores["load", "compute"].emit(count=bit(PUSH_NEXT)), idle, slots["load"]]
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
        "load": semaphores["load", "compute"].take(bit(POP_PREV)),
        "store": semaphores["store", "compute"].take(bit(POP_NEXT)),
    }
    after = [
        semaphores["compute", "load"].emit(count=bit(PUSH_PREV)),
        semaphores["compute", "store"].emit(count=bit(PUSH_NEXT)),
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
        put=[*after, done.emit(count=bit(FINISHES))],
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
