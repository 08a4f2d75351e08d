"""Reads the hand-checked results of truth/ebpf: conditions of expected classes as Python runs them."""

import json
import os
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "ebpf"
ACCEPT = TRUTH / "accept"
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
SLOW = bool(os.environ.get("LPN_SLOW"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


def available():
    return ACCEPT.is_dir()


def expected(name):
    return json.loads((ACCEPT / "expected" / f"{name}.json").read_text())


def names():
    """Programs with expected classes."""
    return sorted(p.stem for p in (ACCEPT / "expected").glob("*.json"))


def objects_of(name):
    """[(variant, path)]: the reference and what other compilers made of the same source."""
    rows = [("clang14_O2 (reference)", ACCEPT / "obj" / f"{name}.bpf.o")]
    for path in sorted((ACCEPT / "obj_variants").glob(f"{name}.*.bpf.o")):
        rows.append((path.name[len(name) + 1 : -len(".bpf.o")], path))
    return rows


class TruthPacket:
    """The packet of the expected conditions, by its own reading of the bytes."""

    def __init__(self, raw):
        self.raw, self.len = raw, len(raw)
        self.eth, self.ipv4, self.l4 = self, self, self

    def at(self, a, b):
        return self.raw[a:b].ljust(b - a, b"\0")

    @property
    def type(self):
        return int.from_bytes(self.at(12, 14), "big")

    @property
    def ihl(self):
        return self.at(14, 15)[0] & 15

    def is_udp(self):
        return self.at(23, 24)[0] == 17

    def is_tcp(self):
        return self.at(23, 24)[0] == 6

    @property
    def dst_port_raw(self):
        return self.at(36, 38)

    @property
    def n_vlan(self):
        """Tags as the walk counts them: how many EtherTypes in a row are 0x8100, four at most."""
        number = 0
        while number < 4 and self.inner_type(number) == 0x8100:
            number += 1
        return number

    def inner_type(self, tags):
        return int.from_bytes(self.at(12 + 4 * tags, 14 + 4 * tags), "big")


class _Ethernet(TruthPacket):
    @property
    def src(self):
        return self.at(6, 12)

    @property
    def dst(self):
        return self.at(0, 6)


class _Internet(TruthPacket):
    @property
    def src(self):
        return self.at(26, 30)


class _Table:
    def __init__(self, table):
        self.table = table

    def contains(self, key):
        return bytes(key) in self.table.entries

    def u32(self, key):
        return int.from_bytes(self.table.entries[bytes(key)][:4], "little")


class _Context:
    def __init__(self, fields):
        self.fields = fields

    def __getattr__(self, name):
        return self.fields.get(name, 0)


def expected_class(truth, world):
    """The expected class of a World: the only one whose conditions all hold."""
    pkt = TruthPacket(world.packet)
    pkt.eth, pkt.ipv4 = _Ethernet(world.packet), _Internet(world.packet)
    space = {"pkt": pkt, "ctx": _Context(world.context)}
    space.update({name: _Table(table) for name, table in world.maps.items()})
    found = [one for one in truth["classes"] if all(eval(text, space) for text in one["when"])]
    assert len(found) == 1, (world.packet.hex(), [one["name"] for one in found])
    return found[0]
