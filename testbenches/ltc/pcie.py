"""The reference toolchain's PCIe topology: three devices, a switch and a root complex.

    d2 --- 0 root 2 --- 0 s1 5 --- d1
                          s1 6 --- d3

A token is one transaction-layer packet (TLP); times are cycles of 1 ns. Every buffer that receives
from a link has 16 units of 16 bytes; the sender holds the credits for them. A device reads from and
writes to the two others.

The reference has 46 transitions; an arbiter of lpn.lib has up to two per input, which makes 64
here, with the same firings.
"""

import math

import lpn
from lpn import lib

import _tok

BUFFER = 16  # units that a receive buffer holds
UNIT = 16  # bytes per credit, and per flit of a link
HEADER = 30  # bytes that a TLP has on a link besides its payload
MAX_PAYLOAD = 256  # bytes; also the size at which the root and a reader split
LINK_DELAY = 405
READ_DELAY = 90

# Per switch: port -> the devices behind it.
ROUTES = {
    "root": {0: [2], 2: [1, 3]},
    "s1": {0: [2], 5: [1], 6: [3]},
}
DEVICES = [1, 2, 3]
LINKS = [
    ("s1.p6", "d3"),
    ("s1.p5", "d1"),
    ("root.p0", "d2"),
    ("root.p2", "s1.p0"),
]
PEER = {a: b for a, b in LINKS} | {b: a for a, b in LINKS}


class Tlp(lpn.Token):
    device: lpn.Int[1, 3]  # destination
    req: lpn.Int[0, 2**20]  # bytes that a read asks for; 0: the TLP carries data
    cmpl: lpn.Int[0, 4096]  # bytes of payload
    source: lpn.Int[1, 3]


class Routed(Tlp):
    """Inside a switch."""

    port: lpn.Int[0, 6]  # where it came in


def names():
    """Place of a .tok file -> place of the net, or what the net has there itself."""
    result = {}
    for switch, ports in ROUTES.items():
        for port in ports:
            result[f"{switch}_recvcap_{port}"] = _tok.BuiltIn(BUFFER)
            result[f"{switch}_tmpbuf_to_sendbuf_{port}_pidx"] = _tok.BuiltIn(1, idx=0)
    for k in DEVICES:
        result[f"d{k}_recvcap"] = _tok.BuiltIn(BUFFER)
        result[f"d{k}_reqbuf_nonpost"] = f"d{k}.nonposted"
        result[f"d{k}_reqbuf_post"] = f"d{k}.posted"
        result[f"d{k}_pidx"] = _tok.BuiltIn(1, idx=0)
        result[f"d{k}_reqbuf_cap"] = _tok.BuiltIn(8)
        # Nothing in the reference takes the slots of the first two.
        for queue in ("nonpost", "post", "cmpl"):
            result[f"d{k}_reqbuf_{queue}_cap"] = _tok.BuiltIn(1)
    return result


def units(size):
    """Credits, or flits, for `size` bytes."""
    return max(1, math.ceil(size / UNIT))


class Port:
    """One end of a link: the buffer for what arrives, and the wire that leaves."""

    def __init__(self, net, name):
        self.received = net.place(f"{name}.received", Tlp, drain=True)
        self.credits = net.place(f"{name}.credits", init=BUFFER)  # free units of `received`
        self.packets = net.place(f"{name}.packets", Tlp, drain=True)
        self.flits = net.place(f"{name}.flits", drain=True)
        self.delivered = net.place(f"{name}.delivered", drain=True)  # flits at the other end


def add_send(net, name, source, port, peer, give_back=()):
    """A transmitter: as soon as the peer has room for the payload, the TLP goes onto the link."""
    net.transition(
        name,
        take={"tlp": source, "room": peer.credits.take(lambda tlp: units(tlp.cmpl))},
        put=[
            *give_back,
            port.flits.emit(count=lambda tlp: units(tlp.cmpl + HEADER)),
            port.packets.forward("tlp"),
        ],
        delay=lambda tlp: 2 * math.ceil(tlp.cmpl / UNIT) + 7,
        servers=1,
    )


def add_switch(net, name, ports):
    """A switch, or the root complex: a buffer per pair of ports, an arbiter per output."""
    numbers = ROUTES[name]
    buffers = {}

    def forwarded(buffer, i):
        return split(buffer, i) if name == "root" else buffer.forward("tlp", port=i)

    for i in numbers:
        # Packets leave the input one after the other, whichever way they go. In the reference the
        # packet on its way still is the head of the buffer, and its destination blocks the rest.
        idle = net.place(f"{name}.p{i}.idle", init=1)
        for o in numbers:
            if i == o:
                continue
            buffers[i, o] = net.place(f"{name}.from_{i}_to_{o}", Routed, drain=True)
            net.transition(
                f"{name}.route_{i}_to_{o}",
                take={
                    "tlp": ports[f"{name}.p{i}"].received.take(
                        guard=lambda tlp, o=o: tlp.device in numbers[o]
                    ),
                    # Room at the next hop is looked at, not taken: a threshold on the credits
                    # there, those that a transmitter is taking just now included.
                    "room": ports[PEER[f"{name}.p{o}"]].credits.watch(
                        guard=lambda tlp, room: room.count >= units(tlp.cmpl)
                    ),
                    "idle": idle,
                },
                put=[forwarded(buffers[i, o], i), idle],
                delay=1,
            )
    for o in numbers:
        sources = [i for i in numbers if i != o]
        granted = lib.round_robin(
            net,
            f"{name}.arbiter_{o}",
            [buffers[i, o] for i in sources],
            out=net.place(f"{name}.granted_{o}", Routed, drain=True),
            delay=0,
        )
        add_send(
            net,
            f"{name}.send_{o}",
            granted,
            ports[f"{name}.p{o}"],
            ports[PEER[f"{name}.p{o}"]],
            give_back=[
                ports[f"{name}.p{i}"].credits.emit(
                    count=lambda tlp, i=i: units(tlp.cmpl) if tlp.port == i else 0
                )
                for i in sources
            ],
        )


def split(buffer, port):
    """Root complex: pieces of at most MAX_PAYLOAD."""
    return buffer.emit(
        count=lambda tlp: math.ceil(tlp.cmpl / MAX_PAYLOAD),
        device=lambda tlp: tlp.device,
        req=lambda tlp: tlp.req,
        cmpl=lambda tlp, i: min(MAX_PAYLOAD, tlp.cmpl - i * MAX_PAYLOAD),
        source=lambda tlp: tlp.source,
        port=port,
    )


def add_device(net, k, ports):
    """A device that answers reads and issues its own reads (nonposted) and writes (posted)."""
    name = f"d{k}"
    port, peer = ports[name], ports[PEER[name]]
    nonposted = net.place(f"{name}.nonposted", Tlp, start=True)
    posted = net.place(f"{name}.posted", Tlp, start=True)
    completions = net.place(f"{name}.completions", Tlp, capacity=1)
    outbox = net.place(f"{name}.outbox", Tlp, capacity=8)
    reads = net.place(f"{name}.reads", Tlp, drain=True)
    data = net.place(f"{name}.bytes", sink=True)  # one token per byte that arrived

    net.transition(
        f"{name}.receive",
        take={"tlp": port.received},
        put=[
            data.emit(count=lambda tlp: tlp.cmpl if tlp.req == 0 else 0),
            reads.emit(
                count=lambda tlp: math.ceil(tlp.req / MAX_PAYLOAD),
                device=lambda tlp: tlp.source,
                req=0,
                cmpl=lambda tlp, i: min(MAX_PAYLOAD, tlp.req - i * MAX_PAYLOAD),
                source=k,
            ),
            port.credits.emit(count=lambda tlp: units(tlp.cmpl)),
        ],
        servers=1,
    )
    net.transition(
        f"{name}.complete",
        take={"tlp": reads},
        put=[completions.forward("tlp")],
        delay=lambda tlp: math.ceil(tlp.cmpl / 64) + READ_DELAY,
        interval=1,
        ordered=True,
    )
    lib.round_robin(net, f"{name}.arbiter", [nonposted, posted, completions], out=outbox, delay=0)
    add_send(net, f"{name}.send", outbox, port, peer)


def add_wire(net, name, port, peer):
    """One direction of a link: flits travel on their own, a packet arrives with its last flit."""
    net.transition(
        f"{name}.transfer",
        take={"flit": port.flits},
        put=[port.delivered],
        delay=LINK_DELAY,
        interval=1,
        ordered=True,
    )
    net.transition(
        f"{name}.merge",
        take={
            "tlp": port.packets,
            "flits": port.delivered.take(lambda tlp: units(tlp.cmpl + HEADER)),
        },
        put=[peer.received.forward("tlp")],
        delay=lambda tlp: math.ceil((tlp.cmpl + HEADER) / 64),
        servers=1,
    )


def net() -> lpn.Net:
    """The topology."""
    net = lpn.Net("ltc_pcie")
    ports = {name: Port(net, name) for name in PEER}
    for switch in ROUTES:
        add_switch(net, switch, ports)
    for k in DEVICES:
        add_device(net, k, ports)
    for a, b in LINKS:
        add_wire(net, f"{a}.wire", ports[a], ports[b])
        add_wire(net, f"{b}.wire", ports[b], ports[a])
    return net


def workload(path, net: lpn.Net) -> lpn.Marking:
    """The marking in a .tok file. Raises OSError, or ValueError when it is not one for this net."""
    return _tok.marking(path, net, names(), {"from": "source"})
