"""Protoacc's serialiser a clock at a time, register by register as the Chisel sources have them.

Written apart from the net, to compare both on messages that nobody ran on the RTL. A class is a
module, `clock()` what it does between two edges with the registers as they were, and a queue takes
over at the edge. The file of the sources stands beside each class.
"""

from collections import deque
from types import SimpleNamespace

SCALAR, STRING, CLOSE, END = range(4)


class Queue:
    """Chisel's Queue: what goes in, or out, is seen in the next clock."""

    def __init__(self, depth, all_queues):
        self.depth, self.entries, self.coming, self.going = depth, deque(), [], False
        all_queues.append(self)

    @property
    def ready(self):
        return len(self.entries) < self.depth

    @property
    def valid(self):
        return bool(self.entries)

    @property
    def head(self):
        return self.entries[0]

    def put(self, entry):
        assert self.ready and not self.coming
        self.coming.append(entry)

    def get(self):
        assert self.valid and not self.going
        self.going = True
        return self.entries[0]

    def edge(self):
        if self.going:
            self.entries.popleft()
        self.entries.extend(self.coming)
        self.coming, self.going = [], False


class Client:
    """L1ReadMemHelper of l1shim_interface.scala, and its command queue in VME (VMESimple.scala)."""

    def __init__(self, queues):
        self.requests, self.responses = Queue(160, queues), Queue(160, queues)
        self.command = Queue(1, queues)
        self.data = [Queue(16, queues), Queue(16, queues)]
        self.sizes = deque()  # outstandingReqQueue
        self.active = self.popped = self.outstanding = 0

    def clock(self, beat):
        """`beat`: eight bytes come in. Returns what to do at the edge."""
        later = []
        if beat:
            self.data[self.active].put(None)
            later.append(lambda: setattr(self, "active", 1 - self.active))
        if self.requests.valid and self.outstanding < 16 and self.command.ready:
            beats = self.requests.get()
            self.command.put(beats)
            later.append(lambda: (self.sizes.append(beats), self._count(1)))
        if self.sizes and self.responses.ready:
            wide = self.sizes[0] == 2
            used = self.data if wide else [self.data[self.popped]]
            if all(queue.valid for queue in used):
                for queue in used:
                    queue.get()
                self.responses.put(None)
                later.append(lambda: (self.sizes.popleft(), self._count(-1)))
                if not wide:
                    later.append(lambda: setattr(self, "popped", 1 - self.popped))
        return later

    def _count(self, change):
        self.outstanding += change


class Memory:
    """The read half of VME on a memory that answers in order, `latency` clocks after an address."""

    def __init__(self, clients, latency):
        self.clients, self.latency = clients, latency
        self.reads = deque()  # [clock of the first beat, client, beats left]
        self.tags, self.arriving = 16, None

    def clock(self, now):
        arriving, self.arriving, last = self.arriving, None, False
        if self.reads and self.reads[0][0] <= now:
            read = self.reads[0]
            read[2] -= 1
            last = not read[2]
            self.arriving = read[1]
            if last:
                self.reads.popleft()
        chosen = next((k for k, client in enumerate(self.clients) if client.command.valid), None)
        later = [lambda: setattr(self, "tags", self.tags + last)]
        if chosen is not None and self.tags and not last:
            beats = self.clients[chosen].command.get()
            self.reads.append([now + self.latency, chosen, beats])
            later.append(lambda: setattr(self, "tags", self.tags - 1))
        for k, client in enumerate(self.clients):
            later += client.clock(arriving == k)
        return later


class Scanner:
    """descriptortablehandler_serializer.scala up to descr_request_Q, and the command queue."""

    def __init__(self, lowered, queues, client, interval):
        self.commands, self.interval, self.accepted = len(lowered.sizes), interval, 0
        self.client, self.entries = client, Queue(4, queues)
        self.meta, self.loader, self.busy = Queue(4, queues), "load", False
        self.iterating, self.position, self.issued, self.loaded = False, 0, False, 0
        self.chunks, bits = [], iter(lowered.bits)
        for (advance,) in lowered.chunks:
            self.chunks.append((int(advance), []))
            while not self.chunks[-1][1] or not self.chunks[-1][1][-1][2]:
                self.chunks[-1][1].append(next(bits))

    def clock(self, now):
        new = {}
        if not self.busy and self.accepted < self.commands and now >= self.interval * self.accepted:
            new.update(busy=True, accepted=self.accepted + 1)
        if self.loader == "load" and self.busy and self.meta.ready:
            self.meta.put(self.loaded)
            self.client.requests.put(1)
            new.update(loader="has bits", loaded=self.loaded + 1)
        elif self.loader == "has bits":
            self.client.requests.put(1)
            new.update(loader="wait")
        advance = 0
        if not self.iterating:
            if self.loader == "wait" and self.meta.valid and self.client.responses.valid:
                self.client.responses.get()
                advance = self.chunks[self.meta.head][0]
                new.update(iterating=True, issued=bool(advance))
        elif self.client.responses.valid and self.meta.valid and self.entries.ready:
            bits = self.chunks[self.meta.head][1]
            present, child, last, _ = bits[self.position]
            if present:
                self.entries.put(child)
            if bits[0][3] and not self.issued:
                advance = int(bits[0][3])
                new.update(issued=True)
            new.update(position=self.position + 1)
            if last:
                self.client.responses.get()
                self.meta.get()
                new.update(position=0, iterating=False, issued=False)
        if self.loader == "wait" and advance:
            new.update(loader="load")
            if advance == 2:
                new.update(busy=False)
        return [lambda: self.__dict__.update(new)]


class Descriptors:
    """descriptortablehandler_serializer.scala from descr_request_Q on, and FieldDispatchRouter."""

    ASKING = {"wait": (2, "entry"), "object": (1, "header"), "header": (2, "take object")}
    TAKING = {"entry": "object", "take object": "take header", "take header": "wait"}

    def __init__(self, scanner, queues, client, handlers):
        self.scanner, self.client, self.handlers = scanner, client, handlers
        self.meta, self.path = Queue(4, queues), Queue(10, queues)
        self.fields, self.state, self.turn = Queue(4, queues), "wait", 0

    def clock(self):
        later = []
        entries, client = self.scanner.entries, self.client
        if entries.valid and not entries.head:
            if self.meta.ready and self.path.ready:
                client.requests.put(1)
                self.meta.put(None)
                self.path.put(True)
                entries.get()
        elif entries.valid and self.state in self.ASKING:
            beats, state = self.ASKING[self.state]
            client.requests.put(beats)
            self.path.put(False)
            later.append(lambda: setattr(self, "state", state))
        elif entries.valid and client.responses.valid and self.path.valid and not self.path.head:
            client.responses.get()
            self.path.get()
            if self.state == "take header":
                entries.get()
                later.append(lambda: setattr(self.scanner, "loader", "load"))
            state = self.TAKING[self.state]
            later.append(lambda: setattr(self, "state", state))
        if client.responses.valid and self.fields.ready and self.path.valid and self.path.head:
            for queue in (client.responses, self.meta, self.path):
                queue.get()
            self.fields.put(None)
        target = self.handlers[self.turn].fields
        if self.fields.valid and target.ready:
            target.put(self.fields.get())
            later.append(lambda: setattr(self, "turn", (self.turn + 1) % len(self.handlers)))
        return later


class Handler:
    """fieldhandler_serializer.scala."""

    def __init__(self, queues, client, items):
        self.client, self.items = client, deque(SimpleNamespace(**item) for item in items)
        self.fields, self.words, self.state = Queue(4, queues), Queue(4, queues), "wait"
        self.left = self.answered = 0

    def clock(self):
        item = self.items[0] if self.items else None
        new = getattr(self, "_" + self.state.replace(" ", "_"))(item)
        return [lambda: setattr(self, "state", new)] if new else []

    def _write(self, bytes, last=False, ends=False):
        self.words.put((bytes, last, ends))

    def _wait(self, item):
        if not self.fields.valid:
            return None
        if item.kind in (SCALAR, STRING):
            return "get pointer" if item.repeated else self._element(item)
        if not self.words.ready:
            return None
        if item.kind == CLOSE:
            self._write(item.bytes)
            return "key"
        self._write(0, last=True, ends=True)
        self.fields.get()
        self.items.popleft()
        return None

    def _element(self, item):
        return "scalar" if item.kind == SCALAR else "string"

    def _ask(self, new, beats=1):
        if not self.client.requests.ready:
            return None
        self.client.requests.put(beats)
        return new

    def _take(self, new):
        if not self.client.responses.valid:
            return None
        self.client.responses.get()
        return new

    def _get_pointer(self, item):
        return self._ask("get size")

    def _get_size(self, item):
        return self._ask("take pointer")

    def _take_pointer(self, item):
        return self._take("take size")

    def _take_size(self, item):
        return self._take(self._element(item))

    def _scalar(self, item):
        return self._ask("value")

    def _value(self, item):
        if not self.words.ready or not self._take("key"):
            return None
        self._write(item.bytes)
        return "key"

    def _key(self, item):
        if not self.words.ready:
            return None
        self._write(item.key, last=item.last)
        self.items.popleft()
        if not item.last:
            return self._element(item)
        self.fields.get()
        return "wait"

    def _string(self, item):
        return self._ask("header 1")

    def _header_1(self, item):
        return self._take("header 2") and self._ask("header 2")

    def _header_2(self, item):
        return self._ask("receive 1")

    def _receive_1(self, item):
        return self._take("receive 2")

    def _receive_2(self, item):
        self.left = (item.bytes + item.skew + 15) // 16
        self.answered = 0
        return self._take("load")

    def _load(self, item):
        total = (item.bytes + item.skew + 15) // 16
        if self.left and self._ask("load", 2):
            self.left -= 1
        if not self.words.ready or not self._take("load"):
            return None
        self.answered += 1
        bytes = (item.bytes + item.skew - 1) % 16 + 1 if self.answered == 1 else 16
        self._write(bytes - item.skew if self.answered == total else bytes)
        return "key" if self.answered == total else None


class Writer:
    """multi_fieldhandler.scala (MemWriteArbiter), memwriter_serializer.scala, VME's write half."""

    def __init__(self, queues, handlers, acknowledge):
        self.handlers, self.acknowledge, self.turn = handlers, acknowledge, 0
        self.collected, self.injected = Queue(4, queues), Queue(4, queues)
        self.pointers, self.writes = Queue(10, queues), Queue(16, queues)
        self.poured = self.written = 0
        self.state, self.until, self.beats = "idle", 0, 0
        self.completed = []

    def clock(self, now):
        new = {}
        words = self.handlers[self.turn].words
        if words.valid and self.collected.ready:
            word = words.get()
            self.collected.put(word)
            if word[1]:
                new.update(turn=(self.turn + 1) % len(self.handlers))
        if self.collected.valid and self.injected.ready:
            self.injected.put(self.collected.get())
        buffered = self.poured - self.written
        if self.injected.valid and buffered <= 240:
            bytes, _, ends = self.injected.head
            if not ends or self.pointers.ready:
                self.injected.get()
                new.update(poured=self.poured + bytes)
                if ends:
                    self.pointers.put(self.poured)
        if self.writes.ready:
            if self.pointers.valid and self.pointers.head <= self.written:
                self.pointers.get()
                self.writes.put(1)
                self.completed.append(now + 1)
            elif buffered:
                there = 1 << min(16, buffered).bit_length() - 1
                aligned = self.written % 16 & -(self.written % 16) or 16
                piece = min(there, aligned)
                self.writes.put(2 if piece == 16 else 1)
                new.update(written=self.written + piece)
        new.update(self._bus(now))
        return [lambda: self.__dict__.update(new)]

    def _bus(self, now):
        if self.state == "idle":
            return {"state": "address", "beats": self.writes.get()} if self.writes.valid else {}
        if self.state == "address":
            return {"state": "data"}
        if self.state == "data":
            done = {"state": "response", "until": now + self.acknowledge}
            return done if self.beats == 1 else {"beats": self.beats - 1}
        return {"state": "idle"} if now >= self.until else {}


def completions(lowered, read_latency, write_ack_latency, command_interval=29):
    """The clocks at which the messages of a Lowered of models/protoacc complete."""
    queues = []
    count = len(lowered.items)
    clients = [Client(queues) for _ in range(2 + count)]
    names = ("kind", "repeated", "last", "bytes", "skew", "key")
    handlers = [
        Handler(queues, client, [dict(zip(names, item)) for item in items])
        for client, items in zip(clients[2:], lowered.items)
    ]
    scanner = Scanner(lowered, queues, clients[0], command_interval)
    descriptors = Descriptors(scanner, queues, clients[1], handlers)
    writer = Writer(queues, handlers, write_ack_latency)
    memory = Memory(clients, read_latency)
    now = 0
    while len(writer.completed) < len(lowered.sizes):
        edge = memory.clock(now) + scanner.clock(now) + descriptors.clock()
        for handler in handlers:
            edge += handler.clock()
        edge += writer.clock(now)
        for change in edge:
            change()
        for queue in queues:
            queue.edge()
        now += 1
    return writer.completed
