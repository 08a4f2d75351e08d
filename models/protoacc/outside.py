"""The memory around the serialiser: latencies, or ports for accesses with addresses.

What net.py, handler.py and memory.py do is the same with both; requests on the way to the memory
say more with ports. A read that the memory answers after so many clocks is answered in the same
clock by a latency of two more, since it leaves in one and arrives in another.
"""

import lpn
from lpn import lib

from .tokens import (
    Beat,
    Beats,
    Item,
    PlacedItem,
    PlacedRead,
    PlacedWrite,
    TAGS,
    WORD_BYTES,
    string_words,
)

__all__ = ["Latencies", "Ports", "strings_of"]


class Latencies:
    """`read_latency` and `write_ack_latency` are all there is to it."""

    Item, Read, Write = Item, Beats, Beats

    def __init__(self, net):
        self._net = net
        self._read = net.param("read_latency", 20, range=(1, 10**6))
        self._acknowledge = net.param("write_ack_latency", 1, range=(1, 10**6))

    def read(self, client, beats):
        """The properties of a client's read."""
        return {"beats": beats}

    def string(self, client):
        """Those of the reads of a string, the item of the arc `item`."""
        return {"beats": 2}

    def piece(self, size):
        """Those of the write of so many bytes of output, after the bytes of the arc `sum`."""
        return {"beats": 2 if size == WORD_BYTES else 1}

    def pointer(self):
        """Those of the write of a message's pointer."""
        return {"beats": 1}

    def transfer(self, parts, addressed, bus):
        """A write, from `addressed` until the bus is free."""
        # Address, the beats, the acknowledgement; then sWriteIdle.
        busy = lambda write: 1 + write.beats + self._acknowledge
        parts.step("transfer", {"write": addressed}, [bus], busy)

    def reads(self, arrived):
        """`arrived`: where the beats of answers come in."""
        self._memory = self._net.place("memory", Beat, drain=True)
        self._arrived = arrived

    def asked(self, client):
        """Where a read goes that has its address."""
        # A latency of 1 is no wait.
        latency = self._read

        def beats(place, used):
            count = lambda read: lpn.select(used, read.beats, 0)
            return place.emit(count, client=client, last=lambda read, i: i == read.beats - 1)

        return [beats(self._memory, latency > 1), beats(self._arrived, latency == 1)]

    def answered(self):
        """The memory's part of a read."""
        self._net.transition(
            "wait",
            take={"read": self._memory},
            put=[self._arrived.forward("read")],
            delay=self._read - 1,
        )


class Ports:
    """Two memory ports, `reads` and `writes`, whose answers may take any time; reads must be answered
    in order.

    An access's id says who asks: of reads the client, and of a string's words the client and
    `strings_of`; of writes 0 for the output, 1 for pointers. Strings lie from the parameter `strings`
    on, the output below `output`; where objects, tables and pointers are is not known: address 0. At
    most `write_window` writes are unanswered: no address goes out before.
    """

    Item, Read, Write = PlacedItem, PlacedRead, PlacedWrite

    def __init__(self, net, clients):
        self._net, self._clients = net, clients
        self._acknowledge = net.param("write_ack_latency", 1, range=(1, 10**6))
        self._strings = net.param("strings", 2**30, range=(0, 2**40))
        self._output = net.param("output", 2**31, range=(0, 2**45))
        window = net.param("write_window", 16, range=(1, 10**6))
        self._reads, self._writes = (
            lib.memory_port(net, name, open=True) for name in ("reads", "writes")
        )
        self._window = net.place("write_window", init=window)

    def read(self, client, beats):
        return {"beats": beats, "at": 0, "id": client}

    def string(self, client):
        return {
            "beats": 2,
            "at": lambda item, i: self._strings
            + item.at
            + WORD_BYTES * (string_words(item.bytes, item.skew) - 1 - i),
            "id": strings_of(client, self._clients),
        }

    def piece(self, size):
        def at(sum):
            assert sum.total <= self._output - size, "the output goes below address 0"
            return self._output - sum.total - size

        return {
            "beats": 2 if size == WORD_BYTES else 1,
            "at": at,
            "bytes": size,
            "id": 0,
        }

    def pointer(self):
        return {"beats": 1, "at": 0, "bytes": 8, "id": 1}

    def transfer(self, parts, addressed, bus):
        sent = self._net.place("sent", drain=True)
        parts.step(
            "transfer",
            {"write": addressed, "window": self._window},
            [
                self._writes.requests.emit(
                    address=lambda write: write.at,
                    bytes=lambda write: write.bytes,
                    write=True,
                    id=lambda write: write.id,
                ),
                sent,
            ],
            lambda write: 1 + write.beats,
        )
        parts.step("acknowledge", {"t": sent}, [bus], self._acknowledge)
        parts.step("written", {"t": self._writes.responses}, [self._window])

    def reads(self, arrived):
        self._arrived = arrived

    def asked(self, client):
        return [
            self._reads.requests.emit(
                address=lambda read: read.at,
                bytes=lambda read: 8 * read.beats,
                write=False,
                id=lambda read: read.id,
            )
        ]

    def answered(self):
        clients = self._clients

        def client(t):
            assert t.id < strings_of(clients, clients), "the memory answers whom nobody asked for"
            return t.id % clients

        self._net.transition(
            "return",
            take={"t": self._reads.responses},
            put=[
                self._arrived.emit(
                    lambda t: lpn.select(t.bytes > 8, 2, 1),
                    client=client,
                    last=lambda t, i: i == lpn.select(t.bytes > 8, 1, 0),
                )
            ],
            delay=1,
            servers=TAGS,
        )


def strings_of(client, clients):
    """The id of a client's reads of strings, with so many clients."""
    return client + clients
