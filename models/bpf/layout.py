"""Packet headers: which field lies where, and which headers a path has established."""

from . import terms as t

# Header -> {field: (first byte, bytes)}; network byte order.
FIELDS = {
    "eth": {"dst": (0, 6), "src": (6, 6), "type": (12, 2)},
    "vlan": {"tci": (0, 2), "type": (2, 2)},
    "ipv4": {
        "tos": (1, 1), "length": (2, 2), "id": (4, 2), "fragment": (6, 2), "ttl": (8, 1),
        "protocol": (9, 1), "checksum": (10, 2), "src": (12, 4), "dst": (16, 4),
    },
    "ipv6": {
        "length": (4, 2), "next_header": (6, 1), "hop_limit": (7, 1), "src": (8, 16),
        "dst": (24, 16),
    },
    "arp": {
        "htype": (0, 2), "ptype": (2, 2), "hlen": (4, 1), "plen": (5, 1), "op": (6, 2),
        "sender_mac": (8, 6), "sender_ip": (14, 4), "target_mac": (18, 6), "target_ip": (24, 4),
    },
    "l4": {"src_port": (0, 2), "dst_port": (2, 2)},
    "tcp": {
        "seq": (4, 4), "ack": (8, 4), "flags": (13, 1), "window": (14, 2), "checksum": (16, 2),
        "urgent": (18, 2),
    },
    "udp": {"length": (4, 2), "checksum": (6, 2)},
    "icmp": {"type": (0, 1), "code": (1, 1), "checksum": (2, 2)},
}  # fmt: skip
# Parts of a byte: header -> {field: (byte, high bit, low bit)}.
BITS = {"ipv4": {"version": (0, 7, 4), "ihl": (0, 3, 0)}, "ipv6": {"version": (0, 7, 4)}}
PORTS = (6, 17, 132, 136)  # TCP, UDP, SCTP, UDPLite
VLANS = (0x8100, 0x88A8)
MOST_TAGS = 8


class Context:
    """What decisions of a path say of the packet. `facts`: [(condition, holds)]."""

    def __init__(self, facts=()):
        self.values, self.facts = {}, facts
        for condition, holds in facts:
            self._learn(condition, holds)
        self.layers = self._layers()

    def _learn(self, c, holds):
        if c.op == "not":
            self._learn(c.args[0], not holds)
        elif (c.op == "all" and holds) or (c.op == "any" and not holds):
            for each in c.args:
                self._learn(each, holds)
        elif c.op == "eq" and holds and c.args[1].op == "const":
            at, number = c.args[0].width, c.args[1].args[0]
            for part in t.parts(c.args[0]):
                at -= part.width
                self.values[part.number] = number >> at & t.ones(part.width)

    def byte(self, at):
        return self.values.get(t.pkt(t.const(at)).number)

    def word(self, at):
        """Two bytes in network order, or None."""
        high, low = self.byte(at), self.byte(at + 1)
        return None if high is None or low is None else high << 8 | low

    def _layers(self):
        """[(header's name as it is written, header, offset)]; an offset is a number or a term."""
        out, off, kind, tags = [("eth", "eth", 0)], 14, self.word(12), 0
        while kind in VLANS and tags < MOST_TAGS:
            out.append((f"vlan[{tags}]", "vlan", off))
            kind, off, tags = self.word(off + 2), off + 4, tags + 1
        if kind == 0x0806:
            out.append(("arp", "arp", off))
        elif kind == 0x86DD:
            out.append(("ipv6", "ipv6", off))
            out += self._transport(off + 40, self.byte(off + 6))
        elif kind == 0x0800:
            out.append(("ipv4", "ipv4", off))
            first = t.pkt(t.const(off))
            words = t.cut(first, 3, 0)
            known, whole = self.values.get(words.number), self.byte(off)
            if whole is not None:
                known = whole & 15
            protocol = self.byte(off + 9)
            if known is not None:
                out += self._transport(off + 4 * known, protocol)
            length = t.shl(t.zext(words, 64), t.const(2))
            out += self._transport(t.add(length, t.const(off)), protocol)
        return out

    def _transport(self, off, protocol):
        out = []
        if protocol in PORTS:
            out.append(("l4", "l4", off))
        name = {6: "tcp", 17: "udp", 1: "icmp", 58: "icmp"}.get(protocol)
        if name:
            out.append((name, name, off))
        return out

    def field(self, off, size):
        """The name of bytes at an offset (a 32-bit term), or None."""
        for name, header, base in self.layers:
            rel = t.sub(off, t.const(base, 32) if isinstance(base, int) else t.cut(base, 31, 0))
            at = t.value_of(rel)
            if at is None:
                continue
            for field, (first, width) in FIELDS[header].items():
                if (first, width) == (at, size):
                    return f"pkt.{name}.{field}"
                if size == 1 and width in (4, 6, 16) and first <= at < first + width:
                    if field in ("src", "dst") or field.endswith(("_mac", "_ip")):
                        return f"pkt.{name}.{field}[{at - first}]"
        return None

    def bits(self, off, high, low):
        """The name of a part of a byte, or None."""
        for name, header, base in self.layers:
            if header not in BITS or not isinstance(base, int):
                continue
            for field, (byte, top, bottom) in BITS[header].items():
                if (t.value_of(off), high, low) == (base + byte, top, bottom):
                    return f"pkt.{name}.{field}"
        return None
