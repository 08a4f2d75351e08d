"""The way between a host and its accelerator through a topology of models/pcie: links and switches that
other devices share."""

import itertools

from models.pcie import parts
from models.pcie import topology as topologies
from models.pcie.fabric import add_devices, add_jobs, fabric

__all__ = ["PREFIX", "Way", "add_traffic", "ways"]

PREFIX = "link."  # of every name of the topology


def ways(net, system):
    """(up, down): from the accelerator to the memory, and back, as two parts.Wire would be.

    The other devices of the topology transfer their jobs meanwhile, to a memory of their own that takes
    [root]'s times and any number at once.
    """
    topology, own = system.topology, system.link.device
    tick = int(1000 * system.tick)  # fs
    polls = system.host.wait == "poll"
    made = fabric(
        net,
        topology,
        prefix=PREFIX,
        tick=tick,
        host=own,
        up=parts.KINDS if polls else parts.UP,
        down=parts.KINDS if polls else ("posted", "completion"),
    )

    def time(name, ps):
        return net.param(PREFIX + name, ps * 1000 // tick, range=(0, 4 * 10**12))

    read, write = time("root.read", topology.read), time("root.write", topology.write)
    _others(net, system, made, read, write)
    way = topologies.way(topology, topology.devices[own].link)
    delays = [made.delays[f"{link}.latency"] for link in way]
    for link in way[:-1]:
        delays.append(made.delays[f"{topology.links[link].parent}.forward"])
    about = {
        "number": made.numbers[own],
        "chunk": topology.chunk,
        "latency": sum(delays[1:], delays[0]),
    }
    sent, arrived = made.devices[own]
    at_root, leaving = made.roots[way[-1]]
    root = {"posted": write, "nonposted": read, "completion": 0}
    up = Way(net, f"{PREFIX}up", sent, at_root, after=root, **about)
    return up, Way(net, f"{PREFIX}down", leaving, arrived, after=dict.fromkeys(root, 0), **about)


def _others(net, system, made, read, write):
    """The devices beside the accelerator that transfer something."""
    topology = system.topology
    busy = {name: device for name, device in topology.devices.items() if device.jobs}
    if not busy:
        return
    done = net.place(f"{PREFIX}done", parts.Done, sink=True)
    add_devices(net, topology, made, busy, done, prefix=PREFIX)
    for link, (at_root, down) in made.roots.items():
        below = [n for n, d in busy.items() if link in topologies.way(topology, d.link)]
        if below:
            parts.root_complex(
                net,
                f"{PREFIX}root.{link}",
                at_root,
                down,
                done,
                read=read,
                write=write,
                chunk=topology.chunk,
                devices=[made.numbers[name] for name in below],
            )


def add_traffic(system, marking):
    """Adds what the other devices transfer."""
    if system.topology is not None:
        add_jobs(marking, system.topology, PREFIX)


class Way:
    """One direction between the memory and the accelerator.

    number: of the accelerator in packets. chunk: bytes at whose multiples completions end. latency:
    ticks of the way without waiting and without time on a wire. after: {kind: ticks from a packet's
    arrival until it counts}.
    """

    def __init__(self, net, name, sent, arrived, *, number, chunk, latency, after):
        self._net, self._name, self._sent, self._arrived = net, name, sent, arrived
        self._number, self._chunk, self._after = number, chunk, after
        self._streams = itertools.count()
        self.latency = latency

    def close(self):
        """As parts.Wire.close: whose turn it is, the links of the topology say."""

    def carry(self, what, source, target, *, kind, payload, packets=1, type=None, servers=None):
        """As parts.Wire.carry. What a token says goes beside its packets, which keep their order."""
        name, net, number, stream = (
            f"{self._name}.{what}",
            self._net,
            self._number,
            next(self._streams),
        )
        if kind == "completion":
            packets, payload = packets * -(-payload // self._chunk), min(payload, self._chunk)
        about = None if type is None else net.place(f"{name}.about", type)
        packet = self._sent.places[kind].emit(
            packets,
            device=number,
            stream=stream,
            payload=payload,
            length=0,
            address=0,
            size=max(1, payload),
            final=False,
            last=False,
        )
        net.transition(
            f"{name}.enter",
            take={"t": source},
            put=[packet] if about is None else [packet, about.forward("t")],
            servers=servers,
        )
        whole = packets == 1 and about is None
        here = target if whole else net.place(f"{name}.arrived")
        net.transition(
            f"{name}.leave",
            take={"tlp": self._arrived.places[kind]},
            guard=lambda tlp: tlp.device == number and tlp.stream == stream,
            put=[here, *self._arrived.free(kind)],
            delay=self._after[kind],
            interval=1,  # a wire brings no two at once
            ordered=True,
        )
        if whole:
            return
        take = {"packets": here.take(packets)}
        if about is not None:
            take["t"] = about
        put = target if about is None else target.forward("t")
        net.transition(name, take=take, put=[put], servers=servers)
