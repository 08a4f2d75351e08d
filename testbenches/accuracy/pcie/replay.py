"""What a topology does, written again from docs/parts/pcie.md and models/pcie/README.md as a list of
events. Nothing here knows of nets; topologies are read by their fields alone.

Times are ps. An instant is gone through in rounds: all that is due, then all that can begin; what takes
no time is due in the next round.
"""

import heapq
from collections import deque

HEADERS = {"posted": 24, "completion": 20, "nonposted": 24}
FIRST = ("posted", "completion", "nonposted")  # of those that wait for one wire


class Events:
    """What happens when."""

    def __init__(self):
        self.queue, self.number, self.now, self.round = [], 0, 0, 0

    def after(self, delay, what):
        round_ = self.round + 1 if delay == 0 else 0
        self.number += 1
        heapq.heappush(self.queue, (self.now + delay, round_, self.number, what))

    def run(self, begin):
        """`begin()`: begins one thing that can begin; False when there is none."""
        while begin():
            pass
        while self.queue:
            self.now, self.round = self.queue[0][:2]
            while self.queue and self.queue[0][:2] == (self.now, self.round):
                heapq.heappop(self.queue)[3]()
            while begin():
                pass


class Direction:
    """One direction of a link. `waits`: packets by kind; `arrive(kind, packet)` is at its far end."""

    def __init__(self, events, byte_fs, latency, credits, arrive, sent):
        self.events, self.byte_fs, self.latency, self.arrive = events, byte_fs, latency, arrive
        self.waits = {kind: deque() for kind in FIRST}
        self.room = {kind: [packets, units] for kind, packets, units in credits}
        self.idle = True
        self.sent = sent  # called when a packet is on the wire to its end

    def begin(self):
        if not self.idle:
            return False
        for kind in FIRST:
            if not self.waits[kind]:
                continue
            packet = self.waits[kind][0]
            units = -(-packet["payload"] // 16)
            if kind in self.room:
                packets, left = self.room[kind]
                if packets < 1 or left < units:
                    continue
                self.room[kind] = [packets - 1, left - units]
            self.waits[kind].popleft()
            self.idle = False
            size = HEADERS[kind] + -(-packet["payload"] // 4) * 4
            self.events.after((size * self.byte_fs + 500) // 1000, lambda: self.ended(kind, packet))
            return True
        return False

    def ended(self, kind, packet):
        self.idle = True
        self.sent(kind)
        self.events.after(self.latency, lambda: self.arrive(kind, packet))

    def free(self, kind, packet):
        """The receiver is done with a packet; the sender knows a latency later."""
        if kind in self.room:
            self.events.after(self.latency, lambda: self.returned(kind, packet))

    def returned(self, kind, packet):
        self.room[kind][0] += 1
        self.room[kind][1] += -(-packet["payload"] // 16)


class Engine:
    """The DMA engine of a device."""

    def __init__(self, events, number, device, payload, up, done):
        self.events, self.number, self.device, self.payload = events, number, device, payload
        self.up, self.done = up, done
        self.jobs, self.piece, self.cutting = deque(), None, False
        self.tags = device.outstanding
        self.slots = {"posted": device.queue, "nonposted": device.queue}
        for jobs in device.jobs:
            step = jobs.size if jobs.step is None else jobs.step
            for k in range(jobs.count):
                for kind in {"both": ("write", "read")}.get(jobs.kind, (jobs.kind,)):
                    self.jobs.append((kind == "write", jobs.size, jobs.address + k * step))

    def left_queue(self, kind):
        self.slots[kind] += 1

    def begin(self):
        if self.cutting:
            return False
        if self.piece is None:
            if not self.jobs:
                return False
            write, size, address = self.jobs.popleft()
            self.later(lambda: setattr(self, "piece", (write, size, address, size)))
            return True
        write, left, address, size = self.piece
        kind = "posted" if write else "nonposted"
        if self.slots[kind] == 0 or (not write and self.tags == 0):
            return False
        self.slots[kind] -= 1
        self.tags -= not write
        most = self.payload if write else self.device.max_read
        part = min(left, most - address % most)
        packet = {
            "device": self.number,
            "payload": part if write else 0,
            "length": 0 if write else part,
            "address": address,
            "size": size,
            "last": part == left,
        }
        rest = None if part == left else (write, left - part, address + part, size)

        def cut():
            self.up.waits[kind].append(packet)
            self.piece = rest

        self.later(cut)
        return True

    def later(self, what):
        self.cutting = True

        def then():
            self.cutting = False
            what()

        self.events.after(0, then)

    def receive(self, packet):
        self.tags += packet["final"]
        if packet["last"]:
            self.done(self.events.now, self.number, False, packet["size"])


def completions(request, chunk):
    """The packets that answer a read request."""
    at, end = request["address"], request["address"] + request["length"]
    found = []
    while at < end:
        to = min(end, (at // chunk + 1) * chunk)
        final = to == end
        found.append(
            {
                "device": request["device"],
                "payload": to - at,
                "size": request["size"],
                "final": final,
                "last": final and request["last"],
            }
        )
        at = to
    return found


def replay(topology, byte_fs, events=None, guest=None):
    """[(instant, device, write, size)] of transfers as they end. byte_fs: of each link, by name.

    guest: who is in the place of the device `guest.name`, whose `up` and `down` are then its directions and
    the root's to it: guest.at_root(kind, packet) and guest.at_device(kind, packet) are told what has arrived,
    guest.begin() begins one thing that can begin.
    """
    events, ended = events or Events(), []
    at_device = {device.link: name for name, device in topology.devices.items()}
    at_switch = {switch.link: name for name, switch in topology.switches.items()}
    numbers = {name: k for k, name in enumerate(topology.devices)}
    ups, downs, engines = {}, {}, {}

    def done(*transfer):
        ended.append(transfer)

    def theirs(packet):
        return guest is not None and packet["device"] == numbers[guest.name]

    def below(link):
        """The numbers of devices under a link."""
        if link in at_device:
            return {numbers[at_device[link]]}
        found = set()
        for name, other in topology.links.items():
            if other.parent == at_switch[link]:
                found |= below(name)
        return found

    def at_parent(link):
        """What becomes of a packet that has come up by a link."""
        parent = topology.links[link].parent

        def forward(kind, packet):
            def there():
                ups[topology.switches[parent].link].waits[kind].append(packet)
                ups[link].free(kind, packet)

            events.after(topology.switches[parent].latency, there)

        def memory(kind, packet):
            def written():
                if theirs(packet):
                    guest.at_root(kind, packet)
                elif packet["last"]:
                    done(events.now, packet["device"], True, packet["size"])
                ups[link].free(kind, packet)

            def read():
                if theirs(packet):
                    guest.at_root(kind, packet)
                else:
                    downs[link].waits["completion"].extend(completions(packet, topology.chunk))
                ups[link].free(kind, packet)

            after = {"posted": topology.write, "nonposted": topology.read, "completion": 0}
            events.after(after[kind], written if kind == "posted" else read)

        return memory if parent == "root" else forward

    def at_lower(link):
        """What becomes of a packet that has come down by a link."""

        def forward(kind, packet):
            name = at_switch[link]
            way = next(
                other
                for other, about in topology.links.items()
                if about.parent == name and packet["device"] in below(other)
            )

            def there():
                downs[way].waits[kind].append(packet)
                downs[link].free(kind, packet)

            events.after(topology.switches[name].latency, there)

        def receive(kind, packet):
            def taken():
                if theirs(packet):
                    guest.at_device(kind, packet)
                else:
                    engines[link].receive(packet)
                downs[link].free(kind, packet)

            events.after(0, taken)

        return receive if link in at_device else forward

    for name, link in topology.links.items():
        how = (events, byte_fs[name], link.latency, link.credits)
        ups[name] = Direction(
            *how,
            at_parent(name),
            lambda kind, name=name: name in engines and engines[name].left_queue(kind),
        )
        downs[name] = Direction(*how, at_lower(name), lambda kind: None)
    for name, device in topology.devices.items():
        if guest is None or name != guest.name:
            engines[device.link] = Engine(
                events, numbers[name], device, topology.max_payload, ups[device.link], done
            )
    parts = [*engines.values(), *ups.values(), *downs.values()]
    if guest is not None:
        link = topology.devices[guest.name].link
        guest.number, guest.up = numbers[guest.name], ups[link]
        while topology.links[link].parent != "root":
            link = topology.switches[topology.links[link].parent].link
        guest.down = downs[link]
        parts.insert(0, guest)
    events.run(lambda: any(part.begin() for part in parts))
    return ended
