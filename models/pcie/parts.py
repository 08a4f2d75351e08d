"""Parts of a PCI Express system, to be joined by ports. Times are picoseconds.

A port is where packets wait, by kind: posted (memory writes), nonposted (read requests) and
completion (data of reads). The kinds pass each other, as the ordering rules of the specification
allow (section 2.4.1) and as it takes to be free of deadlock; within a kind packets keep their order.

    up, at_root = port(net, "device.up", UP), port(net, "root.in", UP)
    direction(net, "link.up", up, at_root, byte_fs=..., latency=..., pad=4)
"""

from dataclasses import dataclass

import lpn

__all__ = [
    "DOWN",
    "Done",
    "KINDS",
    "Port",
    "Tlp",
    "Transfer",
    "UP",
    "device",
    "direction",
    "port",
    "root_complex",
    "switch",
    "wire_time",
]

KINDS = ("posted", "completion", "nonposted")  # what goes first where several wait
UP = ("posted", "nonposted")  # from devices that read and write the host's memory
DOWN = ("completion",)

# Bytes on the wire beside the payload, with addresses of 64 bits and no digest: framing, sequence
# number and link check sum 8; common header 4; then address and requester 12, or completer 8
# (specification, sections 2.2 and 3.6).
HEADER = {"posted": 24, "nonposted": 24, "completion": 20}

MOST_BYTES = 2**32  # of one transaction
_UNIT = 16  # bytes of payload that a data credit stands for (specification, section 2.6.1)


class Transfer(lpn.Token):
    """A transfer that a device is asked for."""

    write: bool  # to the memory of the host; else it reads
    size: lpn.Int[1, MOST_BYTES]  # bytes
    address: lpn.Int[0, 2**48]


class Piece(lpn.Token):
    """What is left of a transfer that is being cut into packets."""

    write: bool
    left: lpn.Int[1, MOST_BYTES]  # bytes
    address: lpn.Int[0, 2**49]
    size: lpn.Int[1, MOST_BYTES]  # bytes of the whole


class Tlp(lpn.Token):
    """A packet of the transaction layer."""

    device: lpn.Int[0, 255]  # who asked, or whom the host asks
    stream: lpn.Int[0, 15]  # of what the device does; 0 where it does one thing
    payload: lpn.Int[0, 4096]  # bytes that it carries
    length: lpn.Int[0, 4096]  # bytes that it asks for
    address: lpn.Int[0, 2**49]
    size: lpn.Int[1, MOST_BYTES]  # bytes of the whole transfer
    final: bool  # ends the answer to a read request
    last: bool  # ends the transfer


class Done(lpn.Token):
    """A transfer that has ended: a write in the host's memory, a read at the device."""

    device: lpn.Int[0, 255]
    write: bool
    size: lpn.Int[1, MOST_BYTES]


@dataclass
class Port:
    """Where packets wait: a place per kind, and where their credits go back, if there are any."""

    places: dict
    freed: dict

    def free(self, kind):
        """What a transition that takes a packet of this kind, as `tlp`, also puts."""
        back = self.freed.get(kind)
        return [back.emit(units=lambda tlp: _units(tlp.payload))] if back is not None else []


class Credit(lpn.Token):
    """Room for one packet at the receiver."""

    units: lpn.Int[0, 256]  # of 16 bytes of payload


def _units(payload):
    return (payload + _UNIT - 1) // _UNIT


def port(net, name, kinds=KINDS, capacity=None) -> Port:
    """A port for packets of these kinds.

    `capacity`: packets of each kind that wait to be sent, with the one that is being sent. What arrives
    is limited by credits alone.
    """
    return Port({k: net.place(f"{name}.{k}", Tlp, capacity=capacity) for k in kinds}, {})


def direction(net, name, sent, arrived, *, byte_fs, latency, pad, credits=None, tick=1000):
    """One direction of a link, from the port `sent` to the port `arrived`.

    byte_fs: femtoseconds per byte (rates.byte_fs). latency: ticks from the end of a packet on the wire
    to the receiver. tick: femtoseconds of one. pad: payloads are sent in multiples of so many bytes (4:
    the wire's words).
    credits: {kind: (packets, units of 16 bytes)} that the receiver has room for, where it says so;
    credits come back `latency` after the receiver is done with a packet.

    One packet at a time. Where several kinds wait, posted goes before completion, and this before
    nonposted.
    """
    wire = net.place(f"{name}.wire", init=1)
    for kind in sent.places:
        header = HEADER[kind]
        flying = net.place(f"{name}.{kind}.flying", Tlp)
        take = {"tlp": sent.places[kind], "wire": wire}
        if credits and kind in credits:
            packets, units = credits[kind]
            room = net.place(f"{name}.{kind}.packets", init=packets)
            space = net.place(f"{name}.{kind}.units", init=units)
            back = net.place(f"{name}.{kind}.freed", Credit)
            arrived.freed[kind] = back
            take["room"] = room
            take["space"] = space.take(lambda tlp: _units(tlp.payload))
            net.transition(
                f"{name}.{kind}.update",
                take={"credit": back},
                put=[room, space.emit(count=lambda credit: credit.units)],
                delay=latency,
                ordered=True,
            )
        net.transition(
            f"{name}.{kind}.send",
            take=take,
            put=[flying.forward("tlp"), wire],
            delay=lambda tlp, header=header: wire_time(tlp.payload, header, pad, byte_fs, tick),
        )
        net.transition(
            f"{name}.{kind}.fly",
            take={"tlp": flying},
            put=[arrived.places[kind].forward("tlp")],
            delay=latency,
            interval=1,  # the wire brings no two at once
            ordered=True,
        )


def wire_time(payload, header, pad, byte_fs, tick):
    """Ticks that a packet is on the wire, to the nearest. The rest as of direction()."""
    return ((header + (payload + pad - 1) // pad * pad) * byte_fs + tick // 2) // tick


def device(net, name, up, down, done, *, number, max_payload, max_read, outstanding):
    """A device with a DMA engine: the place of its jobs, which the workload fills.

    Jobs are cut one after the other into writes of up to `max_payload` bytes and read requests of
    up to `max_read`, at multiples of these in the address; packets wait in the port `up`. At most
    `outstanding` read requests are in flight. A read that has come back by the port `down` puts a
    Done into `done`; a write ends at the root complex.
    """
    jobs = net.place(f"{name}.jobs", Transfer, start=True)
    cutting = net.place(f"{name}.cutting", Piece)
    idle = net.place(f"{name}.idle", init=1)
    tags = net.place(f"{name}.tags", init=outstanding)
    net.transition(
        f"{name}.begin",
        take={"job": jobs, "idle": idle},
        put=[
            cutting.emit(
                write=lambda job: job.write,
                left=lambda job: job.size,
                address=lambda job: job.address,
                size=lambda job: job.size,
            )
        ],
        delay=0,
        servers=1,
    )

    def cut(kind, most, more):
        def part(piece):
            return lpn.min(piece.left, most - piece.address % most)

        asks = kind == "nonposted"
        net.transition(
            f"{name}.{kind}",
            take={"piece": cutting.take(), **more},
            guard=lambda piece: piece.write != asks,
            put=[
                up.places[kind].emit(
                    device=number,
                    stream=0,
                    payload=0 if asks else part,
                    length=part if asks else 0,
                    address=lambda piece: piece.address,
                    size=lambda piece: piece.size,
                    final=False,
                    last=lambda piece: piece.left == part(piece),
                ),
                cutting.emit(
                    count=lambda piece: 1 if piece.left > part(piece) else 0,
                    write=lambda piece: piece.write,
                    left=lambda piece: lpn.max(1, piece.left - part(piece)),
                    address=lambda piece: piece.address + part(piece),
                    size=lambda piece: piece.size,
                ),
                idle.emit(count=lambda piece: 1 if piece.left == part(piece) else 0),
            ],
            delay=0,
            servers=1,
        )

    cut("posted", max_payload, {})
    cut("nonposted", max_read, {"tag": tags})
    net.transition(
        f"{name}.receive",
        take={"tlp": down.places["completion"]},
        put=[
            tags.emit(count=lambda tlp: 1 if tlp.final else 0),
            done.emit(
                count=lambda tlp: 1 if tlp.last else 0,
                device=number,
                write=False,
                size=lambda tlp: tlp.size,
            ),
            *down.free("completion"),
        ],
        delay=0,
        servers=1,
    )
    return jobs


def root_complex(net, name, up, down, done, *, read, write, chunk, devices=None):
    """The root complex and the memory behind it.

    Writes that arrive by the port `up` are in memory `write` ps later and then give back their
    credits; reads are answered by completions, put into the port `down` `read` ps later, which end
    at multiples of `chunk` bytes (the read completion boundary, or the maximum payload where the
    chip set joins them). The memory takes any number at once. devices: the numbers of those that it
    answers; None: of all.
    """

    theirs = None if devices is None else lambda tlp: any(tlp.device == d for d in devices)

    net.transition(
        f"{name}.write",
        take={"tlp": up.places["posted"]},
        guard=theirs,
        put=[
            done.emit(
                count=lambda tlp: 1 if tlp.last else 0,
                device=lambda tlp: tlp.device,
                write=True,
                size=lambda tlp: tlp.size,
            ),
            *up.free("posted"),
        ],
        delay=write,
        interval=1,
        ordered=True,
    )

    def completions(tlp):
        return (tlp.address % chunk + tlp.length + chunk - 1) // chunk

    def bytes_of(tlp, i):
        """From the greater of two addresses to the lesser of two, counted from the first chunk."""
        offset = tlp.address % chunk
        return lpn.min(offset + tlp.length, (i + 1) * chunk) - lpn.max(offset, i * chunk)

    net.transition(
        f"{name}.read",
        take={"tlp": up.places["nonposted"]},
        guard=theirs,
        put=[
            down.places["completion"].emit(
                count=completions,
                device=lambda tlp: tlp.device,
                stream=0,
                payload=bytes_of,
                length=0,
                address=lambda tlp: tlp.address,
                size=lambda tlp: tlp.size,
                final=lambda tlp, i: i == completions(tlp) - 1,
                last=lambda tlp, i: tlp.last and i == completions(tlp) - 1,
            ),
            *up.free("nonposted"),
        ],
        delay=read,
        interval=1,
        ordered=True,
    )


def switch(net, name, up, down, below, *, latency):
    """A switch: `below` is [(arrived, sent, devices)] per port that leads down: the port that
    packets from there arrive at, the one that packets to there are put into, and the numbers of the
    devices there. `up`: the port of packets to the root; `down`: that of packets from it.

    Every packet is taken in whole and `latency` ps later it waits at the next port.
    """
    for k, (arrived, sent, devices) in enumerate(below):
        for kind in arrived.places:
            net.transition(
                f"{name}.port{k}.up.{kind}",
                take={"tlp": arrived.places[kind]},
                put=[up.places[kind].forward("tlp"), *arrived.free(kind)],
                delay=latency,
                ordered=True,
            )
        for kind in sent.places:
            net.transition(
                f"{name}.port{k}.down.{kind}",
                take={"tlp": down.places[kind]},
                guard=lambda tlp, devices=devices: any(tlp.device == d for d in devices),
                put=[sent.places[kind].forward("tlp"), *down.free(kind)],
                delay=latency,
                ordered=True,
            )
