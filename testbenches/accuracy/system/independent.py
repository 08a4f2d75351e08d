"""What a system does, written again from models/system/README.md as a list of events, beside the rules of
PCI Express in ../pcie/replay.py. Nothing here knows of nets.

Times are ps. The accelerator is one pool of units: each takes a block in `work(bytes)` cycles, from an edge
of its clock on, and puts out as many tokens of each output as the system says.
"""

from collections import deque

from replay import Direction, Events, replay


class Messages:
    """A direction of a link without packets."""

    def __init__(self, events, latency):
        self.events, self.latency = events, latency

    def send(self, kind, payload, then, more=False):
        self.events.after(self.latency, then)

    def begin(self):
        return False


class Packets:
    """A direction of one link of PCI Express."""

    def __init__(self, events, latency, byte_fs):
        self.latency = latency
        self.way = Direction(
            events, byte_fs, latency, (), lambda kind, packet: packet["then"](), lambda kind: None
        )
        self.begin = self.way.begin

    def send(self, kind, payload, then, more=False):
        self.way.waits[kind].append({"payload": payload, "then": then})


class Guest:
    """The accelerator's place in a topology."""

    def __init__(self, name, chunk):
        self.name, self.chunk = name, chunk
        self.begins = None

    def begin(self):
        return self.begins()

    def at_root(self, kind, packet):
        packet["then"]()

    at_device = at_root


class Way:
    """A direction of the way through a topology; reads' answers come in pieces.

    To become packets takes a round of an instant, and so does to be whole again, of what is more than a
    packet: which of two that meet goes first, is no rule.
    """

    def __init__(self, events, guest, side, latency):
        self.events, self.guest, self.side, self.latency = events, guest, side, latency

    def begin(self):
        return False

    def send(self, kind, payload, then, more=False):
        number = max(1, -(-payload // self.guest.chunk)) if kind == "completion" else 1
        left = [number]

        def one():
            left[0] -= 1
            if not left[0] and (more or number > 1):
                self.events.after(0, then)
            elif not left[0]:
                then()

        def enter():
            for _ in range(number):
                packet = {"device": self.guest.number, "payload": payload // number, "then": one}
                getattr(self.guest, self.side).waits[kind].append(packet)

        self.events.after(0, enter)


class Edge:
    """The memory's, for a stream: one access at a time, answers in their order."""

    def __init__(self, events, packet):
        self.events, self.packet = events, packet
        self.free = self.last = 0

    def wait(self, time):
        """Until the answer of an access that comes now and takes so long from the edge on."""
        now = self.events.now
        edge = max(now, self.free)
        self.free, self.last = edge + self.packet, max(self.last, edge + time)
        return self.last - now


class System:
    """s: what a system file says, times in ps; sizes: bytes of each block of the input."""

    def __init__(self, s, sizes):
        self.s, self.sizes, self.events = s, sizes, Events()
        self.told = None
        self.rules = []
        self.links()
        self.host()
        self.reads()
        self.accelerator()
        self.writes()
        self.end()

    def links(self):
        s, self.guest = self.s, None
        if s.topology is not None:
            self.guest = Guest(s.device, s.topology.chunk)
            self.guest.begins = self.begin
            self.up, self.down = (
                Way(self.events, self.guest, side, s.latency) for side in ("up", "down")
            )
        elif s.byte_fs is not None:
            self.up, self.down = (Packets(self.events, s.latency, s.byte_fs) for _ in range(2))
        else:
            self.up, self.down = (Messages(self.events, s.latency) for _ in range(2))
        self.rules += [self.up.begin, self.down.begin]

    def begin(self):
        return any(rule() for rule in self.rules)

    def run(self):
        """The ps at which the driver knows; None where it never does."""
        if self.guest is None:
            self.events.run(self.begin)
        else:
            replay(self.s.topology, self.s.speeds, self.events, self.guest)
        return self.told

    def after(self, delay, then):
        self.events.after(delay, then)

    def at_edge(self, rule, edge):
        """Whether it is time `edge`, or past it; else it is looked at then."""
        if self.events.now >= edge:
            return True
        if (rule, edge) not in self.woken:
            self.woken.add((rule, edge))
            self.after(edge - self.events.now, lambda: None)
        return False

    def host(self):
        s, self.woken = self.s, set()
        self.registers, self.accessed = deque(), False
        self.begun = self.busy = self.ending = False
        self.rules.append(self.access)

        def written():
            self.down.send("posted", 4, lambda: self.registers.append(self.start), more=True)
            if s.wait == "poll":
                self.after(s.answer, self.poll)

        writes = (s.registers - 1) * (s.request + s.answer) + s.request
        self.after(s.setup + writes, written)

    def poll(self):
        arrived = lambda: self.registers.append(self.read)  # noqa: E731
        self.after(self.s.request, lambda: self.down.send("nonposted", 0, arrived))

    def access(self):
        """One access to the registers at a time; a read waits for a job that is just ending."""
        if self.accessed or not self.registers or (self.ending and self.registers[0] == self.read):
            return False
        self.accessed, then = True, self.registers.popleft()()

        def ended():
            self.accessed = False
            then()

        self.after(self.s.register_cycles * self.s.cycle, ended)
        return True

    def start(self):
        def begun():
            self.begun = self.busy = True
            self.todo = self.total

        return begun

    def read(self):
        busy, s = self.busy, self.s
        more, then = (s.pause, self.poll) if busy else (0, self.done)
        told = lambda: self.after(s.answer + more, then)  # noqa: E731
        return lambda: self.up.send("completion", 4, told)

    def done(self):
        self.told = self.events.now

    def reads(self):
        """In order, so many in flight, into a buffer; data counts in the order of its addresses."""
        s, at, self.needs = self.s, 0, deque()
        for size in self.sizes:
            self.needs.append(-(-(at + size) // s.read_bytes) - -(-at // s.read_bytes))
            at += size
        self.total = -(-at // s.read_bytes)
        self.first = min(self.total, -(-s.read_start // s.read_bytes))
        self.todo = self.asked = self.data = 0
        self.of_reads = Edge(self.events, s.packet)
        self.tags, self.room = s.read_outstanding, s.read_buffer // s.read_bytes
        self.asking = self.streaming = False
        self.arrived = 0
        self.rules += [self.ask, self.stream]

    def ask(self):
        s = self.s
        if self.asking or not (self.todo and self.tags and self.room):
            return False
        self.todo, self.tags, self.room = self.todo - 1, self.tags - 1, self.room - 1
        self.asking, at = True, self.asked * s.read_bytes
        self.asked += 1

        def ended():
            self.asking = False
            self.up.send("nonposted", 0, lambda: self.read_memory(at), more=True)

        self.after(s.read_interval * s.cycle, ended)
        return True

    def read_memory(self, at):
        s = self.s

        def arrived():
            self.arrived += 1

        answer = lambda: self.down.send("completion", s.read_bytes, arrived)  # noqa: E731
        self.after(self.of_reads.wait(self.memory(at, s.read_bytes, s.input)), answer)

    def memory(self, at, bytes, where):
        """From the memory's edge to the answer of an access of a stream."""
        s = self.s
        time = s.hit + s.behind
        if where == "dram":
            time += s.controller + s.access
            if s.page == "closed":
                time += s.activate
            elif at % s.row_bytes < bytes:  # the first of its row finds another one open
                time += s.activate + s.precharge
        return time

    def stream(self):
        s = self.s
        if self.streaming or not self.arrived:
            return False
        self.arrived, self.streaming = self.arrived - 1, True

        def ended():
            self.streaming = False
            self.data, self.tags = self.data + 1, self.tags + 1

        self.after((-(-s.read_bytes // s.bytes_per_cycle) + s.gap) * s.cycle, ended)
        return True

    def accelerator(self):
        s = self.s
        self.left, self.given, self.held, self.units = deque(self.sizes), deque(), 0, s.units
        self.running = False
        self.out = dict.fromkeys(s.outputs, 0)  # tokens of each output, those of a unit at work too
        self.there = dict.fromkeys(s.outputs, 0)
        self.slots = max(1, s.write_buffer // max(s.outputs.values()))
        self.rules += [self.run_now, self.give, self.work]

    def run_now(self):
        if not self.begun or self.running or self.ending or self.data < self.first:
            return False
        self.begun, self.running = False, True
        return True

    def give(self):
        if not (self.running and self.left and self.held < self.s.ahead):
            return False
        if self.data < self.needs[0]:
            return False
        needs = self.needs.popleft()
        self.data, self.room, self.held = self.data - needs, self.room + needs, self.held + 1
        self.given.append(self.left.popleft())
        return True

    def work(self):
        s, now = self.s, self.events.now
        if not (self.given and self.units):
            return False
        if any(self.out[name] >= self.slots for name in self.out):
            return False
        if not self.at_edge("work", -(-now // s.cycle) * s.cycle):
            return False
        size, self.units = self.given.popleft(), self.units - 1
        for name in self.out:
            self.out[name] += 1

        def ended():
            self.units, self.held = self.units + 1, self.held - 1
            for name in self.there:
                self.there[name] += 1

        self.after(s.work(size) * s.cycle, ended)
        return True

    def writes(self):
        s = self.s
        self.pieces = {name: -(-size // s.write_bytes) for name, size in s.outputs.items()}
        self.runs, self.run_room = deque(), max(64, *self.pieces.values())
        self.window, self.position, self.ends = s.write_outstanding, 0, 0
        self.issue_from = 0
        self.of_writes = Edge(self.events, s.packet)
        self.goal = len(self.sizes) * sum(self.pieces.values())
        self.rules += [self.cut, self.issue]

    def cut(self):
        for name, pieces in self.pieces.items():
            if self.there[name] and self.run_room >= pieces:
                self.there[name], self.out[name] = self.there[name] - 1, self.out[name] - 1
                self.run_room -= pieces
                for k in range(pieces):
                    self.runs.append(self.position + k * self.s.write_bytes)
                self.position += self.s.outputs[name]
                return True
        return False

    def issue(self):
        s = self.s
        if not (self.runs and self.window) or not self.at_edge("issue", self.issue_from):
            return False
        at, self.window = self.runs.popleft(), self.window - 1
        self.issue_from = self.events.now + s.write_cycles * s.cycle

        def left():
            self.run_room += 1
            self.ends += s.done == "accepted"
            self.up.send("posted", s.write_bytes, lambda: self.write_memory(at), more=True)

        self.after(s.write_latency, left)
        return True

    def write_memory(self, at):
        s = self.s

        def answered():
            self.window += 1
            self.ends += s.done == "acknowledged"

        wait = self.of_writes.wait(self.memory(at, s.write_bytes, s.output))
        self.after(wait + self.down.latency, answered)

    def end(self):
        self.rules.append(self.finish)

    def finish(self):
        s = self.s
        if not self.running or self.ends < self.goal:
            return False
        self.running, self.ending = False, True

        def ended():
            self.ending = self.busy = False
            if s.wait == "interrupt":
                self.up.send("posted", 4, lambda: self.after(s.interrupt, self.done))

        self.after(s.cycle, ended)
        return True
