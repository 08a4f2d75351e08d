"""A System -> the net: a driver, DMA engines and a memory around the accelerator's own net."""

from fractions import Fraction

import os

import lpn
from models.dram import parts as dram_parts
from models.pcie import rates

from lpn import lib
from . import host
from .accelerators import Own
from .fabric import ways
from .ports import join_ports
from .parts import Job, Pattern, Run, Where, Wire, Written, memory_time, rows_of
from .tables import BEYOND_HIT

__all__ = ["build"]

# Where the output begins in a DRAM's model, or in the middle of a smaller one; the input begins at 0.
OUTPUT = 2**28
AHEAD = 64  # runs of packets between an output and the engine that writes them; at least those of a token


def build(system, own: Own, earlier=False) -> lpn.Net:
    """The net, in ticks of `system.tick` ps; every time and size in it is a parameter. `earlier`: an
    input says how much of its output's buffer is not in DRAM alone.
    """
    return _Builder(system, own, earlier).build()


class _Builder:
    def __init__(self, system, own, earlier):
        self.system, self.own, self.earlier = system, own, earlier
        self.net = lpn.Net("system")
        ticks = Fraction(10**12) / Fraction(system.tick)
        if ticks.denominator == 1:
            self.net.frequency = int(ticks)
        self.cycle = int(system.accelerator.period // system.tick)  # of the accelerator, in ticks
        self.dram = system.memory.model == "dram"
        self.last = {}  # what goes at the end of a job, too
        # Times that parameters of the accelerator count, too: to set one alone would be half of a change.
        trips = {kind for _, kind in system.accelerator.round_trips}
        self.counted = set()
        if trips & {"read", "write"}:
            self.counted |= {
                "link.latency",
                "memory.hit",
                *(f"memory.{name}" for name in BEYOND_HIT),
            }
        if "command" in trips:
            self.counted |= {"host.request", "host.answer"}

    def time(self, name, ps):
        """A parameter: a time of the file, in ticks; a number where round trips count it."""
        ticks = int(ps // self.system.tick)
        if name in self.counted:
            return ticks
        return self.net.param(name, ticks, range=(0, 4 * 10**12))

    def number(self, name, value, most=2**24):
        return self.net.param(name, value, range=(1, most))

    def build(self):
        net = self.net
        self.ends = net.place("device.ends")  # the end of a job is counted in these
        self.running = net.place("device.running")
        most = max((self.pieces(size) for size in self.own.outputs.values()), default=1)
        self.runs = net.place(
            "writes.runs", Written if self.dram else Run, capacity=max(AHEAD, most)
        )
        self.links()
        host.driver(self)
        reads = any(size != 0 for size in self.own.inputs.values())
        if reads or self.own.outputs:
            self.memory_times()
        self.connected = {}
        if reads:
            self.reads()
        else:
            self.room, self.data = net.place("reads.room"), net.place("reads.data")
        if self.own.ports:
            self.connected = join_ports(self)
        self.accelerator()
        host.interrupt(self)
        self.finish()
        self.up.close()
        self.down.close()
        return net.done()

    def pieces(self, size):
        """Writes of a token of an output of so many bytes."""
        return -(-size // self.system.writes.bytes)

    def links(self):
        link = self.system.link
        if link.topology:
            self.up, self.down = ways(self.net, self.system)
            return
        latency = self.time("link.latency", link.latency)
        speed = None
        if link.generation:
            fs = rates.byte_fs(link.generation, link.lanes, link.max_payload)
            speed = self.number("link.byte_fs", fs, 10**8)
        self.up = Wire(self.net, "link.up", latency, speed, self.system.tick)
        self.down = Wire(self.net, "link.down", latency, speed, self.system.tick)

    def memory_times(self):
        memory = self.system.memory
        if self.dram:
            self.packet = self.time("memory.packet", memory.packet)
            names = ("hit", "behind", "controller")
            self.front = sum(self.time(f"memory.{name}", getattr(memory, name)) for name in names)
            self.memory_port()
            return
        self.hit = self.time("memory.hit", memory.hit)
        self.packet = self.time("memory.packet", memory.packet)
        self.beyond = [self.time(f"memory.{name}", getattr(memory, name)) for name in BEYOND_HIT]

    def level_of(self, kind, bytes):
        """A function: an address of a stream of so many bytes at a time -> the memory's level."""
        memory = self.system.memory
        if kind == "behind":
            return lambda at: 1
        if memory.page == "closed":
            return lambda at: 3
        # A stream takes rows in turn: the first access of a row finds another one open.
        return lambda at: lpn.select(at % memory.row_bytes < bytes, 4, 2)

    def reads(self):
        """DMA reads of the input: in order, so many at once, into a buffer."""
        net, reads = self.net, self.system.reads
        self.tags = tags = net.place(
            "reads.tags", init=self.number("reads.outstanding", reads.outstanding)
        )
        size = self.number("reads.buffer", reads.buffer // reads.bytes)
        self.room, self.data = net.place("reads.room", init=size), net.place("reads.data")
        asked, at_memory = net.place("reads.asked", Where), net.place("reads.at_memory", Where)
        answered, arrived = net.place("reads.answered"), net.place("reads.arrived")
        where = net.place("reads.where", Where, init=[{"at": 0}])
        net.transition(
            "reads.ask",
            take={"t": self.todo, "tag": tags, "room": self.room, "where": where},
            put=[asked.forward("where"), where.emit(at=lambda where: where.at + reads.bytes)],
            delay=reads.interval_cycles * self.cycle,
            servers=1,
        )
        self.up.carry("read", asked, at_memory, kind="nonposted", payload=0, type=Where)
        level = self.level_of(self.system.memory.input, reads.bytes)
        if self.dram:
            self.ask_memory("read", at_memory, reads.bytes, 0, [answered])
            self.stream(answered, arrived)
            return
        runs = net.place("memory.reads", Run)
        net.transition(
            "memory.find",
            take={"t": at_memory},
            put=[runs.emit(level=lambda t: level(t.at), late=1)],
            interval=self.packet,
            ordered=True,
        )
        net.transition(
            "memory.read",
            take={"run": runs},
            put=[answered],
            delay=memory_time(self.hit, self.beyond, self.packet, 1),
            ordered=True,  # a row is open for none before it is for the one that opens it
        )
        self.stream(answered, arrived)

    def stream(self, answered, arrived):
        """Answers of reads over the link into the buffer."""
        net, reads = self.net, self.system.reads
        self.down.carry("data", answered, arrived, kind="completion", payload=reads.bytes)
        net.transition(
            "reads.stream",
            take={"t": arrived},
            put=[self.data, self.tags],
            delay=(-(-reads.bytes // reads.bytes_per_cycle) + reads.gap_cycles) * self.cycle,
            servers=1,
        )

    def accelerator(self):
        """The accelerator's net as it is, its inputs gated by data, its outputs written."""
        net, own = self.net, self.own
        connect = dict(self.connected)
        for name in own.inputs:
            ahead = self.number(f"device.ahead.{name}", own.ahead)
            connect[name] = net.place(f"device.given.{name}", own.type_of(name), capacity=ahead)
        slots = self.system.writes.buffer // max(own.outputs.values(), default=1)
        for name in own.outputs:
            size = self.number(f"writes.buffer.{name}", max(1, slots))
            connect[name] = net.place(f"device.out.{name}", own.type_of(name), capacity=size)
        for place in own.net.core.places:
            if place.done and place.name not in connect:
                connect[place.name] = net.place(f"device.out.{place.name}", own.type_of(place.name))
        net.instance(own.net, "accelerator", connect, own.parameters, (self.cycle, 0))
        for name in own.inputs:
            self.gate(name, connect[name])
        net.transition(
            "device.begin",
            take={"job": self.started, "data": self.data.take(0, need=lambda job: job.first)},
            put=[self.running],
            servers=1,
        )
        if own.outputs:
            self.cut(connect)
            self.writes()
        for place in own.net.core.places:
            if place.done and place.name not in own.outputs:
                net.transition(
                    f"device.count.{place.name}",
                    take={"t": connect[place.name]},
                    put=[self.ends] if place.name in own.finished else [],
                    servers=1,
                )

    def gate(self, name, given):
        """Tokens of an input, each when its data is there."""
        net, type = self.net, self.own.type_of(name)
        waiting = net.place(f"device.waiting.{name}", type, start=True)
        needs = net.place(f"device.needs.{name}", Where, start=True)  # `at`: DMA reads
        net.transition(
            f"device.give.{name}",
            take={
                "go": self.running.peek(),
                "needs": needs,
                "data": self.data.take(lambda needs: needs.at),
                "t": waiting,
            },
            put=[given.forward("t") if type else given, self.room.emit(lambda needs: needs.at)],
            servers=1,
        )

    def cut(self, connect):
        """Outputs into runs of packets."""
        net, own, writes = self.net, self.own, self.system.writes
        self.packets = 1
        if own.pattern:
            self.packets = own.packets
            patterns = net.place("writes.patterns", Pattern, start=True)
            net.transition(
                f"writes.cut.{own.pattern}",
                take={"t": connect[own.pattern], "pattern": patterns},
                put=[rows_of(self.runs)],
                servers=1,
            )
            return
        where = net.place("writes.where", Where, init=[{"at": 0}])
        level = self.level_of(self.system.memory.output, writes.bytes)
        take = {"where": where}

        def warmed(at, warm):
            return lpn.select(at < warm, 1, level(at))

        if self.earlier:
            warm = net.place(
                "writes.warm", Where, start=True
            )  # `at`: bytes that are not in DRAM alone
            take["warm"], self.last["warm"] = warm.peek(), warm
        for name, size in own.outputs.items():
            pieces = self.pieces(size)
            net.transition(
                f"writes.cut.{name}",
                take={"t": connect[name], **take},
                put=[
                    self.runs.emit(
                        pieces,
                        level=(
                            (lambda where, warm, i: warmed(where.at + i * writes.bytes, warm.at))
                            if self.earlier
                            else lambda where, i: level(where.at + i * writes.bytes)
                        ),
                        late=1,
                        **(
                            {"at": lambda where, i: where.at + i * writes.bytes}
                            if self.dram
                            else {}
                        ),
                    ),
                    where.emit(at=lambda where, size=size: where.at + size),
                ],
                servers=1,
            )

    def writes(self):
        """Runs of packets to the memory, so many unanswered at once."""
        net, own, writes, packets = self.net, self.own, self.system.writes, self.packets
        window = self.number("writes.outstanding", max(1, writes.outstanding // packets))
        unanswered = net.place("writes.window", init=window)
        run_type = Written if self.dram else Run
        sent, at_memory = (net.place(f"writes.{n}", run_type) for n in ("sent", "at_memory"))
        answered = net.place("writes.answered") if self.system.link.packets else None
        accepted = [self.ends] if self.system.device.done == "accepted" else []
        net.transition(
            "writes.issue",
            take={"run": self.runs, "w": unanswered},
            put=[sent.forward("run"), *accepted],
            delay=self.time("writes.latency", writes.latency),
            interval=packets * writes.cycles * self.cycle,  # 0: several in one instant
            ordered=True,
        )
        how = {"kind": "posted", "payload": writes.bytes, "packets": packets}
        self.up.carry("write", sent, at_memory, type=run_type, **how)
        # An answer is a message, or with PCI Express an update of credits, for whose bytes
        # rates.byte_fs has charged all packets. Messages take no turns: one transition for both.
        answer = [unanswered, *([] if accepted else [self.ends])]
        apart = self.system.link.packets
        latency = self.down.latency
        if self.dram:
            back = answered or net.place("writes.answered")
            self.ask_memory("write", at_memory, writes.bytes, self.output, [back])
            net.transition(
                "link.down.answer", take={"t": back}, put=answer, delay=latency, ordered=True
            )
            return
        time = memory_time(self.hit, self.beyond, self.packet, packets)
        net.transition(
            "memory.write",
            take={"run": at_memory},
            put=[answered] if apart else answer,
            delay=time if apart else lambda run: time(run) + latency,
            interval=packets * self.packet,
            # Rows of pixels are answered by caches, too, each line by itself.
            ordered=own.pattern is None,
        )
        if apart:
            net.transition(
                "link.down.answer", take={"t": answered}, put=answer, delay=latency, ordered=True
            )

    def memory_port(self):
        """The memory: a DRAM controller behind a port (models/dram), a fixed time in front of it."""
        memory = self.system.memory
        self.port = lib.memory_port(self.net, "memory")
        part = dram_parts.beside(self.system.folder, memory.part)
        quarter = int(memory.clock / (4 * self.system.tick))
        try:
            dram_parts.dram(
                self.net, "dram", self.port, part, quarter=quarter, outstanding=memory.outstanding
            )
            self.output = min(OUTPUT, dram_parts.size(part) // 2)
        except ValueError as error:
            raise lpn.Error("E-system-file", f"{self.system.name}: memory.part: {error}") from None

    def ask_memory(self, kind, source, bytes, base, answered):
        """Accesses of a stream to the port and back: reads in the order in which they were asked for, as
        data is there for the accelerator when all before it is. `base`: the address of its first byte.
        """
        net, writing = self.net, kind == "write"
        requests = self.port.requests
        answers = self.port.responses.take(guard=lambda t: t.write == writing)
        if not writing:
            back = net.place("memory.come_back", lib.Access)
            net.transition("memory.answer", take={"t": answers}, put=[back.forward("t")])
            reads = lib.in_order(net, "memory.reads", lib.MemoryPort(requests, back))
            requests, answers = reads.requests, reads.responses
        net.transition(
            f"memory.find_{kind}",
            take={"t": source},
            put=[requests.emit(address=lambda t: t.at + base, bytes=bytes, write=writing, id=0)],
            delay=self.front,
            interval=self.packet,
            ordered=True,
        )
        net.transition(f"memory.{kind}", take={"t": answers}, put=answered)

    def finish(self):
        """The end of a job: as many ends as it says."""
        raised = [self.raised] if self.raised is not None else []
        self.net.transition(
            "device.finish",
            take={
                "job": self.ending,
                "ends": self.ends.take(lambda job: job.ends),
                "busy": self.busy,
                "go": self.running,
                **self.last,
            },
            put=raised,
            delay=self.cycle,
            servers=1,
        )
