"""Library parts of a SmartNIC: sources, cores, request queues, engines, the memory that all of them
share.

Each part adds places and transitions to a net under a prefix and returns what the next part
connects to. Times are ticks of TICK_NS. An arc named `t` carries packets, one token each, in all
transitions here; the latency of packets is followed along these arcs (steady.py).

A token of a packet has the property `kind` where a function receives several kinds of packets, and
none where all are alike. A service time is a list with one formula per kind.
"""

from dataclasses import dataclass, field

import lpn
from lpn import lib

__all__ = [
    "TICK_NS",
    "Chain",
    "Engine",
    "SharedMemory",
    "Snapshots",
    "Stage",
    "pipeline",
    "run_to_completion",
    "source",
    "ticks",
]

# 0.1 ns: a service interval of 0.2 us is then exact to 0.03 %, and 2^63 ticks are 29 years.
TICK_NS = 0.1
MOST_KINDS = 16


def ticks(us):
    """Microseconds as whole ticks."""
    return round(us * 1e3 / TICK_NS)


_types = {}


def _token(name, fields):
    key = (name, tuple(fields.items()))
    if key not in _types:
        _types[key] = type(name, (lpn.Token,), {"__annotations__": fields, "__module__": __name__})
    return _types[key]


def packet_type(kinds):
    """The token of a packet: None (tokens only count) when all are alike."""
    return _token("Packet", {"kind": lpn.Int[0, kinds - 1]}) if kinds > 1 else None


class Arrival(lpn.Token):
    """An entry of a traffic schedule: ticks since the one before, and the kind of packet."""

    gap: lpn.Int[1, 2**40]
    kind: lpn.Int[0, MOST_KINDS - 1]


class Batch(lpn.Token):
    """What a run-to-completion core has in hand."""

    size: lpn.Int[1, 1024]


def _each(times):
    """The service time of the packet on arc `t`."""
    return times[0] if len(times) == 1 else lambda t: times[t.kind]


def _all(times):
    """The service times of all packets on arc `t`, added up."""
    if len(times) == 1:
        return lambda t: t.taken * times[0]
    return lambda t: lpn.sum(t, lambda packet: _lookup(times, packet.kind))


def _lookup(times, kind):
    """times[kind] without branches: aggregates over tokens are one formula."""
    value = times[-1]
    for k in range(len(times) - 2, -1, -1):
        value = lpn.select(kind == k, times[k], value)
    return value


# ---- Sources -----------------------------------------------------------------------------------------


def source(net, name, kinds, slots):
    """Packets that arrive by a schedule, over and over, in a ring of `slots` descriptors; what
    finds it full is lost. Returns (the ring, the place that counts arrivals, the place that counts
    the lost).

    The schedule is the marking's: tokens (gap, kind) in place `name.schedule`.
    """
    schedule = net.place(f"{name}.schedule", Arrival)
    wire = net.place(f"{name}.wire", packet_type(kinds))
    ring = net.place(f"{name}.ring", packet_type(kinds))
    arrived, lost = net.place(f"{name}.arrived", sink=True), net.place(f"{name}.lost", sink=True)
    kind = {"kind": lambda next: next.kind} if kinds > 1 else {}
    net.transition(
        f"{name}.arrive",
        take={"next": schedule},
        put=[schedule.forward("next"), wire.emit(**kind), arrived],
        delay=lambda next: next.gap,
        servers=1,
    )
    kind = {"kind": lambda t: t.kind} if kinds > 1 else {}
    net.transition(
        f"{name}.admit",
        take={"t": wire, "ring": ring.watch()},
        put=[
            ring.emit(count=lambda ring: lpn.select(ring.count < slots, 1, 0), **kind),
            lost.emit(count=lambda ring: lpn.select(ring.count < slots, 0, 1)),
        ],
        servers=1,
    )
    return ring, arrived, lost


# ---- The memory --------------------------------------------------------------------------------------


class SharedMemory:
    """Accesses of all functions within a window of time, which stretch each function's time on its
    cores.

    The place `recent` holds a token per access of the last `window` ticks, whoever made it; each
    function has a place with one per packet of its own, so that its own accesses can be told from
    its rivals'.
    """

    # A slope is in ticks times 2^SLOPE_BITS per access of the others within the window.
    SLOPE_BITS = 24

    def __init__(self, net, name, window):
        self.net, self.window = net, window
        self.recent = net.place(f"{name}.recent", sink=True)

    def user(self, name, accesses, slope):
        """A function that makes `accesses` per packet and who pays `slope` per access of others."""
        own = self.net.place(f"{name}.recent", sink=True)
        # Taken tokens stay in their place until the commit, so the window is the delay.
        self.net.transition(
            f"{name}.forget",
            take={"event": own, "accesses": self.recent.take(accesses)},
            delay=self.window,
        )
        return MemoryUser(self.recent, own, accesses, slope)


class MemoryUser:
    """A function's side of the shared memory."""

    def __init__(self, recent, own, accesses, slope):
        self.recent, self.own, self.accesses, self.slope = recent, own, accesses, slope

    def arcs(self):
        return {"all": self.recent.watch(), "own": self.own.watch()}

    def stretch(self, all, own):
        """Ticks that the others' accesses add to a packet's time on a core."""
        return (all.count - self.accesses * own.count) * self.slope >> SharedMemory.SLOPE_BITS

    def touch(self, count=1):
        """What a firing puts that went through `count` packets."""
        if isinstance(count, int):
            return [self.own.emit(count=count), self.recent.emit(count=count * self.accesses)]
        return [
            self.own.emit(count=count),
            self.recent.emit(count=lambda t: count(t) * self.accesses),
        ]


# ---- Engines -----------------------------------------------------------------------------------------


class Engine:
    """An accelerator under construction: the queues connected to it so far."""

    def __init__(self, net, name, latency):
        """`latency`: ticks from the end of service to the result."""
        self.net, self.name, self.latency = net, name, latency
        self._queues, self._served, self._times, self._work = [], [], [], []

    def connect(self, name, kinds, stage):
        """The request queues of a function's Stage; returns (queues, results, counter of ticks)."""
        net, kind = self.net, packet_type(kinds)
        queues = [net.place(f"{name}.queue{k}", kind) for k in range(stage.queues)]
        served = net.place(f"{name}.served", kind)
        results = net.place(f"{name}.results", kind)
        work = net.place(f"{name}.work", sink=True)
        self._queues += queues
        self._served += [served] * stage.queues
        self._times += [_slowed(stage)] * stage.queues
        self._work += [work] * stage.queues
        # A pipeline behind the engine: as many as the engine lets in, each `latency` long.
        net.transition(
            f"{name}.return", take={"t": served}, put=[results.forward("t")], delay=self.latency
        )
        return queues, results, work

    def done(self):
        """The arbiter over all queues that were connected."""
        lib.round_robin(
            self.net,
            self.name,
            self._queues,
            self._served,
            delay=self._times,
            also=[[work.emit(count=time)] for work, time in zip(self._work, self._times)],
        )


def _slowed(stage):
    """The ticks of service of the request on arc t, more of them while the stage is overloaded."""
    times = stage.times
    if stage.overload is None:
        return _each(times)

    def slowed(t):
        time = times[0] if len(times) == 1 else times[t.kind]
        return lpn.select(
            2 * stage.queues * t.count >= stage.slots, time * stage.overload // 1000, time
        )

    return slowed


def _enqueue(net, name, kinds, queues):
    """The place that a function's requests go into: its queue, or one that deals them out in turn."""
    if len(queues) == 1:
        return queues[0]
    inlet = net.place(f"{name}.inlet", packet_type(kinds))
    turn = net.place(
        f"{name}.turn",
        _token(f"Turn{len(queues)}", {"next": lpn.Int[0, len(queues) - 1]}),
        init=[{"next": 0}],
    )
    for k, queue in enumerate(queues):
        mine = turn.take(guard=lambda turn, k=k: turn.next == k)
        net.transition(
            f"{name}.deal{k}",
            take={"turn": mine, "t": inlet},
            put=[queue.forward("t"), turn.emit(next=(k + 1) % len(queues))],
        )
    return inlet


# ---- Functions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A stage of a function in a net: ticks per kind of packet, on a core (engine None) or at an
    engine.

    slots: descriptors of all `queues` together; overload: the service takes so many thousandths of
    its ticks while half of them or more wait, None: it does not.
    """

    times: list
    engine: Engine = None
    queues: int = 1
    slots: int = 1024
    stretched: bool = False  # a core's time that the shared memory stretches
    overload: object = None


@dataclass
class Chain:
    """A network function in a net.

    delivered, arrived and lost (None when saturating): places that count packets; works: per stage
    the place that counts ticks of service; queues: per stage its request queues; descriptors: per
    engine stage the place of those that are free; single: its firings pass on one packet each;
    entry: the transition that lets packets in, their time being its start when `entry_at_start`,
    else its commit; left: the one that delivers them.
    """

    delivered: object
    arrived: object
    lost: object
    entry: str
    entry_at_start: bool
    left: str = ""
    single: bool = True
    works: list = field(default_factory=list)
    queues: list = field(default_factory=list)
    descriptors: list = field(default_factory=list)


def _ticks_of_one(times, memory):
    """(ticks of a core for the packet on arc t, arcs needed besides)."""
    if memory is None:
        return _each(times), {}
    if len(times) == 1:
        return lambda all, own: times[0] + memory.stretch(all, own), memory.arcs()
    return lambda t, all, own: times[t.kind] + memory.stretch(all, own), memory.arcs()


def _ticks_of_many(times, memory, size):
    """(ticks of a core for a batch, arcs needed besides). `size`: packets when no arc t carries
    them.
    """
    if size is not None:
        if memory is None:
            return size * times[0], {}
        return lambda all, own: size * (times[0] + memory.stretch(all, own)), memory.arcs()
    if memory is None:
        return _all(times), {}
    return lambda t, all, own: _all(times)(t) + t.taken * memory.stretch(all, own), memory.arcs()


def _arrivals(net, name, kinds, saturating, ring_slots):
    """(place of packets that wait for a core, Chain's arrived, lost, entry and entry_at_start).

    A saturating source of packets that are alike has no place of packets: None.
    """
    if not saturating:
        return *source(net, f"{name}.source", kinds, ring_slots), f"{name}.source.arrive", False
    if kinds == 1:
        return None, None, None, f"{name}.s0.run", True
    # A packet is there whenever a core asks, of the next kind in the schedule.
    schedule = net.place(f"{name}.source.schedule", Arrival)
    ring = net.place(f"{name}.source.ring", packet_type(kinds), capacity=ring_slots)
    net.transition(
        f"{name}.source.arrive",
        take={"next": schedule},
        put=[schedule.forward("next"), ring.emit(kind=lambda next: next.kind)],
    )
    return ring, None, None, f"{name}.s0.run", True


def pipeline(net, name, stages, cores, *, kinds=1, saturating=True, ring_slots=1024, memory=None):
    """A function whose packets overlap: a core hands a packet to an engine and takes the next one.

    stages: list of Stage, the first on a core. A core takes a packet when it is free and, ahead of
    an engine, when there is a descriptor; later stages go first. A descriptor is held until its
    result is taken by what follows. Neighbouring core stages run on the same core. `memory`: a
    MemoryUser. Returns a Chain.
    """
    core = net.place(f"{name}.core", init=cores)
    delivered = net.place(f"{name}.delivered", sink=True)
    inlet, arrived, lost, entry, at_start = _arrivals(net, name, kinds, saturating, ring_slots)
    chain = Chain(delivered, arrived, lost, entry, at_start)
    enqueues, descriptors, results = {}, {}, {}
    for k, stage in enumerate(stages):
        work = None
        if stage.engine is not None:
            descriptors[k] = net.place(f"{name}.s{k}.descriptors", init=stage.slots)
            queues, results[k], work = stage.engine.connect(f"{name}.s{k}", kinds, stage)
            enqueues[k] = _enqueue(net, f"{name}.s{k}", kinds, queues)
            chain.queues.append(queues)
            chain.descriptors.append(descriptors[k])
        else:
            work = net.place(f"{name}.s{k}.work", sink=True)
            chain.queues.append([])
        chain.works.append(work)

    later_first = []
    for k, stage in enumerate(stages):
        last = k + 1 == len(stages)
        before, after = (stages[k - 1] if k else None), (None if last else stages[k + 1])
        put_on, take, put = delivered, {}, []
        if after is not None and after.engine is not None:
            take["slot"] = descriptors[k + 1]
            put_on = enqueues[k + 1]
        if stage.engine is not None:
            if after is None or after.engine is not None:
                # From an engine to the next one or out: the core's part is in the core stages.
                later_first.append(
                    (
                        f"{name}.s{k}.leave",
                        {"t": results[k], **take},
                        [
                            put_on.forward("t") if put_on is not delivered else delivered.emit(),
                            descriptors[k],
                        ],
                        {},
                    )
                )
            continue
        if before is None or before.engine is not None:
            take["core"] = core
            source_of = inlet if before is None else results[k - 1]
            put += [descriptors[k - 1]] if before is not None else []
        else:
            source_of = net.place(
                f"{name}.s{k}.next", packet_type(kinds) if inlet is not None else None
            )
            _, taken, puts, _ = later_first[-1]
            puts.append(source_of.forward("t") if "t" in taken else source_of.emit())
        if source_of is not None:
            take["t"] = source_of
        delay, more = _ticks_of_one(stage.times, memory if stage.stretched else None)
        put.append(chain.works[k].emit(count=delay))
        if k == 0 and memory is not None:
            put += memory.touch()
        if after is None or after.engine is not None:
            put.append(core)
            if put_on is delivered:
                put.append(delivered.emit())
            else:
                put.append(put_on.forward("t") if source_of is not None else put_on.emit())
        later_first.append((f"{name}.s{k}.run", {**take, **more}, put, {"delay": delay}))
    for transition, take, put, options in reversed(later_first):
        net.transition(transition, take=take, put=put, **options)
    chain.left = later_first[-1][0]
    return chain


def run_to_completion(
    net, name, stages, cores, batch, *, kinds=1, saturating=True, ring_slots=1024, memory=None
):
    """A function whose cores keep a batch of packets to its end: all of its requests to an engine
    are made together, and the core waits until all results are back.

    stages: list of Stage, the first on a core. `batch`: packets a core takes, fewer when fewer have
    arrived. Batches of several cores complete in the order of their requests. `memory`: a
    MemoryUser. Returns a Chain.
    """
    kind = packet_type(kinds)
    core = net.place(f"{name}.core", init=cores)
    delivered = net.place(f"{name}.delivered", sink=True)
    inlet, arrived, lost, entry, at_start = _arrivals(net, name, kinds, saturating, ring_slots)
    chain = Chain(delivered, arrived, lost, entry, at_start, left=f"{name}.finish", single=False)
    hold = batches = None
    for k, stage in enumerate(stages):
        mine = {} if k == 0 else {"b": batches, "t": hold.take(lambda b: b.size)}
        next_batches = net.place(f"{name}.s{k}.batch", Batch)
        next_hold = net.place(f"{name}.s{k}.hold", kind)
        if stage.engine is not None:
            descriptors = net.place(f"{name}.s{k}.descriptors", init=stage.slots)
            chain.descriptors.append(descriptors)
            sent = net.place(f"{name}.s{k}.sent", Batch)
            queues, results, work = stage.engine.connect(f"{name}.s{k}", kinds, stage)
            net.transition(
                f"{name}.s{k}.enter",
                take={**mine, "slots": descriptors.take(lambda b: b.size)},
                put=[_enqueue(net, f"{name}.s{k}", kinds, queues).forward("t"), sent.forward("b")],
            )
            net.transition(
                f"{name}.s{k}.leave",
                take={"b": sent, "t": results.take(lambda b: b.size)},
                put=[
                    next_hold.forward("t"),
                    next_batches.forward("b"),
                    descriptors.emit(count=lambda b: b.size),
                ],
            )
        else:
            queues, work = [], net.place(f"{name}.s{k}.work", sink=True)
            size = None
            if k == 0:
                mine = {"core": core}
                if inlet is None:
                    size = batch
                elif saturating:
                    mine["t"] = inlet.take(batch)
                else:
                    mine["t"] = inlet.take(lambda t: lpn.min(batch, t.free), need=1)
            delay, more = _ticks_of_many(stage.times, memory if stage.stretched else None, size)
            put = [work.emit(count=delay)]
            if k == 0 and memory is not None:
                put += memory.touch(size if size is not None else lambda t: t.taken)
            if size is not None:
                put += [next_hold.emit(count=size), next_batches.emit(size=size)]
            else:
                put += [
                    next_hold.forward("t"),
                    next_batches.forward("b") if k else next_batches.emit(size=lambda t: t.taken),
                ]
            net.transition(f"{name}.s{k}.run", take={**mine, **more}, put=put, delay=delay)
        chain.works.append(work)
        chain.queues.append(queues)
        hold, batches = next_hold, next_batches
    net.transition(
        f"{name}.finish",
        take={"b": batches, "t": hold.take(lambda b: b.size)},
        put=[delivered.emit(count=lambda t: t.taken), core],
    )
    return chain


# ---- Measuring ---------------------------------------------------------------------------------------


class Count(lpn.Token):
    """How many tokens a place held."""

    tokens: lpn.Int


class Snapshots:
    """Every `window` ticks, from time 0 on, how many tokens places hold; the place `windows` is
    done with one token per snapshot.

    kept: the names of the places that keep the counts, in the order of keep().
    """

    def __init__(self, net, window):
        self._net, self._window = net, window
        self._windows = net.place("windows", done=True)
        self.kept = []

    def keep(self, place):
        """The name of the place that keeps the counts of `place`."""
        name = f"count{len(self.kept)}"
        count = self._net.place(name, Count, sink=True)
        self._net.transition(
            f"{name}.read",
            take={"place": place.watch()},
            interval=self._window,
            put=[count.emit(tokens=lambda place: place.count)],
        )
        self.kept.append(count.name)
        return count.name

    def done(self):
        """After the last place."""
        self._net.transition("windows.pass", put=[self._windows], interval=self._window)
