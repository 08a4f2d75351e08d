"""The Netronome NFP of an Agilio CX 2x40GbE as a net: cores of four threads around one memory
engine.

    wire -> arrive -> buffer -> mac -> rx[island] -> start -> ready[core] -> run -> issue[island]
    issue -> sram -> ready                       a blocking access to the island's memory
    issue -> command -> bank -> dram -> answer -> back -> ready         a read of DRAM
    issue -> command -> bank -> dram                                    atomic adds: posted
    issue -> end -> free threads, done

A token is a packet with the steps of its program path (steps.py): run so many cycles, then access a
memory, post adds or end. A core runs one thread at a time and never takes it off the core before it
accesses memory (cooperative switching); what comes back from memory joins the core's ready list,
first in, first out. nic.json and costs.json have every constant with its source, README.md what is
modelled and what is not. A tick is 1/20 of a core cycle, so that service times are whole ticks.
"""

import lpn
from models.nfp import nic as constants
from models.nfp.steps import (
    ADDS,
    BANK,
    END,
    FENCE,
    KIND,
    MOST_RUN,
    POST,
    READ,
    SRAM,
    STEP,
    WAIT,
    WORD,
)


class Thread(lpn.Token):
    """A free thread of an island."""

    core: lpn.Int[0, 63]


class Result(lpn.Token):
    """A packet whose program has ended, or that the MAC dropped."""

    id: lpn.Int[0, 2**40]


def packet_type(words):
    """The token type of packets with room for so many words of steps."""
    fields = {
        "id": lpn.Int[0, 2**40],
        "gap": lpn.Int[0, 2**40],  # ticks on the wire since the packet before it
        "island": lpn.Int[0, 15],
        "core": lpn.Int[0, 63],  # of the island
        "now": lpn.Int[0, WORD - 1],  # what is left of word 0; its lowest step is next
        "round": lpn.Int[0, 7],  # how often word 0 has been used before
    }
    fields.update((f"w{k}", lpn.Int[0, 2**63 - 1]) for k in range(words))
    return type("Packet", (lpn.Token,), {"__annotations__": fields, "__module__": __name__})


def net(*, words: int = 28) -> lpn.Net:
    """The NIC.

    words: room for the steps of a path (steps.py): a shape of the net, so that another value
    compiles another simulator.

    Its parameters: `cores` in use, spread evenly over the islands, and `threads` of each. In ticks:
    `mac_interval` from packet to packet; `sram` and `dram`, from the end of a thread's run to its
    being ready again; `dram_read` and `dram_add`, what an access takes of its bank. `buffer`:
    packets that may wait at the MAC before it drops them; 0: it drops none.
    """
    nic = constants.load()
    if not 1 <= words <= 57:
        raise ValueError(f"words must be 1..57, got {words}")
    islands = nic["islands"]
    packet = packet_type(words)
    names = list(packet.__annotations__)
    cycle = constants.TICKS

    net = lpn.Net("nfp")
    net.frequency = nic["clock_hz"] * cycle
    cores = net.param(
        "cores", islands * nic["cores_per_island"], range=(1, islands * nic["cores_per_island"])
    )
    threads = net.param("threads", nic["threads"], range=(1, 8))
    mac_interval = net.param(
        "mac_interval", constants.ticks(nic["clock_hz"] / nic["mac_rate"]), range=(1, 10**6)
    )
    sram = net.param("sram", constants.ticks(nic["sram_latency"]), range=(0, 10**6))
    dram = net.param("dram", constants.ticks(nic["dram_latency"]), range=(10**3, 10**6))
    dram_read = net.param("dram_read", constants.ticks(nic["dram_read"]), range=(1, 10**3))
    dram_add = net.param("dram_add", constants.ticks(nic["dram_add"]), range=(1, 10**3))
    room = net.param("buffer", 0, range=(0, 10**9))

    def copy(place, when=None, **replaced):
        """An emission of the packet; `when(pkt)`: only then."""
        fields = {name: _property(name) for name in names}
        count = 1 if when is None else _once(when)
        return place.emit(count=count, **{**fields, **replaced})

    # The next step: of what is left of word 0, else word 0 once more, else the next word.
    def spent(pkt):
        return pkt.now >> STEP == 0

    def again(pkt):
        return pkt.round < pkt.w0 // WORD

    def next_now(pkt):
        following = pkt.w1 if words > 1 else 0
        return lpn.select(
            spent(pkt), lpn.select(again(pkt), pkt.w0, following) & (WORD - 1), pkt.now >> STEP
        )

    def next_round(pkt):
        return lpn.select(spent(pkt), lpn.select(again(pkt), pkt.round + 1, 0), pkt.round)

    def next_word(k):
        def word(pkt):
            own = getattr(pkt, f"w{k}")
            following = getattr(pkt, f"w{k + 1}") if k + 1 < words else 0
            return lpn.select(spent(pkt), lpn.select(again(pkt), own, following), own)

        return word

    stepped = {
        "now": next_now,
        "round": next_round,
        **{f"w{k}": next_word(k) for k in range(words)},
    }

    def kind(pkt):
        return pkt.now >> KIND & 7

    # In front of the cores: the wire, the MAC with its buffer, a queue and free threads per island.
    wire = net.place("wire", packet, start=True)
    buffer = net.place("buffer", packet, start=True)
    done = net.place("done", Result, done=True, sink=True)
    accepted = net.place("accepted", sink=True)
    dropped = net.place("dropped", Result, sink=True)
    arriving = net.place("arriving", packet)
    net.transition(
        "arrive",
        take={"pkt": wire},
        put=[arriving.forward("pkt")],
        delay=lambda pkt: pkt.gap,
        servers=1,
    )
    net.transition(
        "accept",
        take={"pkt": arriving, "held": buffer.watch()},
        put=[
            buffer.emit(
                count=lambda held: lpn.select((room == 0) | (held.count < room), 1, 0),
                **{name: _property(name) for name in names},
            ),
            dropped.emit(
                count=lambda held: lpn.select((room == 0) | (held.count < room), 0, 1),
                id=lambda pkt: pkt.id,
            ),
        ],
        servers=1,
    )
    rx = [net.place(f"rx{i}", packet, capacity=nic["island_queue"]) for i in range(islands)]
    free = [
        net.place(f"free{i}", Thread, init=_threads(cores, threads, i, islands), sink=True)
        for i in range(islands)
    ]
    net.transition(
        "mac",
        take={"pkt": buffer},
        put=[accepted, *(copy(rx[i], lambda pkt, i=i: pkt.island == i) for i in range(islands))],
        delay=mac_interval,
        servers=1,
    )

    banks = [net.place(f"bank{b}", packet) for b in range(nic["dram_banks"])]
    answer = [net.place(f"answer{i}", packet) for i in range(islands)]
    issued = [net.place(f"issue{i}", packet) for i in range(islands)]
    cores_here = nic["cores_per_island"]
    for i, issue in enumerate(issued):
        ready = [net.place(f"ready{i}_{c}", packet) for c in range(cores_here)]
        for c in range(cores_here):
            net.transition(
                f"run{i}_{c}",
                take={"pkt": ready[c]},
                put=[copy(issue, core=c)],
                delay=lambda pkt: (pkt.now & MOST_RUN) * cycle,
                servers=1,
            )
        to_core = lambda **values: [
            copy(ready[c], lambda pkt, c=c: pkt.core == c, **values) for c in range(cores_here)
        ]
        net.transition(
            f"sram{i}",
            take={"pkt": issue},
            guard=lambda pkt: kind(pkt) == SRAM,
            put=to_core(**stepped),
            delay=sram,
        )
        net.transition(
            f"command{i}",
            take={"pkt": issue},
            guard=lambda pkt: (kind(pkt) != SRAM) & (kind(pkt) != END),
            put=[
                *(
                    copy(banks[b], lambda pkt, b=b: pkt.now >> BANK & 3 == b)
                    for b in range(len(banks))
                ),
                copy(issue, lambda pkt: kind(pkt) == POST, **stepped),
            ],
        )
        net.transition(
            f"end{i}",
            take={"pkt": issue},
            guard=lambda pkt: kind(pkt) == END,
            put=[free[i].emit(core=lambda pkt: pkt.core), done.emit(id=lambda pkt: pkt.id)],
        )
        net.transition(f"back{i}", take={"pkt": answer[i]}, put=to_core(), delay=dram - dram_read)
        net.transition(
            f"start{i}",
            take={"pkt": rx[i], "thread": free[i]},
            put=[
                ready[c].emit(count=_thread_on(c), **{name: _property(name) for name in names})
                for c in range(cores_here)
            ],
        )

    def service(pkt):
        adds = pkt.now >> ADDS & 7
        return lpn.select(kind(pkt) == READ, dram_read, adds * dram_add)

    for b, bank in enumerate(banks):
        net.transition(
            f"dram{b}",
            take={"pkt": bank},
            put=[
                *(
                    copy(
                        answer[i],
                        lambda pkt, i=i: (kind(pkt) == READ) & (pkt.island == i),
                        **stepped,
                    )
                    for i in range(islands)
                ),
                *(
                    copy(issue, lambda pkt, i=i: (kind(pkt) == WAIT) & (pkt.island == i), **stepped)
                    for i, issue in enumerate(issued)
                ),
                *(
                    free[i].emit(
                        count=_once(lambda pkt, i=i: (kind(pkt) == FENCE) & (pkt.island == i)),
                        core=lambda pkt: pkt.core,
                    )
                    for i in range(islands)
                ),
                done.emit(count=_once(lambda pkt: kind(pkt) == FENCE), id=lambda pkt: pkt.id),
            ],
            delay=service,
            servers=1,
        )
    return net


def _threads(cores, threads, island, islands):
    """The free threads of an island: one of each of its cores, then the second of each."""
    here = (cores + (islands - 1 - island)) // islands
    return lpn.tokens(threads * here, core=lambda i: i % lpn.max(here, 1))


def _property(name):
    return lambda pkt: getattr(pkt, name)


def _once(condition):
    return lambda pkt: lpn.select(condition(pkt), 1, 0)


def _thread_on(core):
    return lambda thread: lpn.select(thread.core == core, 1, 0)


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The packets of a mix file (README.md, "Mixes") for `net`. Raises Error E-nfp-mix,
    E-nfp-steps.
    """
    from models.nfp import mix, mix_file

    values = {**net.params, **net.bound}
    found = mix_file.load(input_path, cores=values["cores"])
    found.check_buffer(values["buffer"])
    slow = mix.overloaded_interval()
    if found.overload and values["mac_interval"] != slow:
        raise lpn.Error(
            "E-nfp-mix",
            f"{input_path}: 'overload' slows the MAC, which is a parameter of the net: write -p "
            f"mac_interval={slow}, too, or ask lpn nfp simulate",
        )
    return found.marking(net)
