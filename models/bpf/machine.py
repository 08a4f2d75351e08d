"""A concrete eBPF machine: one packet through an XDP program, with what it cost.

It shares the decoder with the symbolic execution and nothing else, and confirms its witnesses.
"""

from collections import Counter
from dataclasses import dataclass, field

from . import helpers as h
from .errors import refused
from .objects import ARRAYS, HASHES, OF_MAPS, REDIRECTS

M64, M32 = (1 << 64) - 1, (1 << 32) - 1
MOST_INSTRUCTIONS = 1_000_000  # of one packet, as the kernel's verifier has it
MOST_TAIL_CALLS = 33
PAD = 1 << 16  # of addresses in front of every region, so that a pointer below is still near


class Table:
    """The content of a map: `entries` {key bytes: bytearray, or Table in maps of maps}. `free`:
    how many keys more fit in; None is the rest of max_entries.
    """

    def __init__(self, shape, entries=None, free=None):
        self.shape, self.entries = shape, dict(entries or {})
        self._free = free

    @property
    def free(self):
        return self.shape.max_entries - len(self.entries) if self._free is None else self._free

    def took(self, number):
        if self._free is not None:
            self._free -= number

    def copy(self):
        inner = self.shape.kind in OF_MAPS
        entries = {k: v.copy() if inner else bytearray(v) for k, v in self.entries.items()}
        return Table(self.shape, entries, self._free)

    def find(self, key):
        """The value of a key, or None."""
        shape = self.shape
        if shape.kind in ARRAYS:
            if int.from_bytes(key, "little") >= shape.max_entries:
                return None
            if key not in self.entries:
                self.entries[key] = bytearray(shape.value_size)
            return self.entries[key]
        if shape.kind == "LPM_TRIE":
            return self._longest(key)
        found = self.entries.get(key)
        if found is not None and shape.kind.startswith("LRU"):
            self.entries[key] = self.entries.pop(key)
        return found

    def _longest(self, key):
        bits, best = int.from_bytes(key[:4], "little"), None
        for entry, value in self.entries.items():
            length = int.from_bytes(entry[:4], "little")
            width = 8 * (len(entry) - 4)
            if length <= bits and (best is None or length > best[0]):
                a = int.from_bytes(entry[4:], "big") >> (width - length)
                if a == int.from_bytes(key[4:], "big") >> (width - length):
                    best = (length, value)
        return None if best is None else best[1]

    def update(self, key, value, flags):
        """What the helper answers, 0 or an error below 0."""
        shape = self.shape
        if flags > h.BPF_EXIST:
            return -h.EINVAL
        if shape.kind in ARRAYS:
            if int.from_bytes(key, "little") >= shape.max_entries:
                return -h.E2BIG
            if flags == h.BPF_NOEXIST:
                return -h.EEXIST
            self.find(key)[:] = value
            return 0
        if key in self.entries:
            if flags == h.BPF_NOEXIST:
                return -h.EEXIST
            self.entries[key] = bytearray(value)  # a new element; old pointers keep the old one
            return 0
        if flags == h.BPF_EXIST:
            return -h.ENOENT
        if self.free <= 0:
            if not shape.kind.startswith("LRU"):
                return -h.E2BIG
            if self.entries:
                del self.entries[next(iter(self.entries))]
                self.took(-1)
        self.took(1)
        self.entries[key] = bytearray(value)
        return 0

    def delete(self, key):
        if self.shape.kind in ARRAYS:
            return -h.EINVAL
        if self.entries.pop(key, None) is None:
            return -h.ENOENT
        self.took(-1)
        return 0


@dataclass
class World:
    """What a run depends on beside the program. `environment`: {"ktime": [..], "random": [..],
    "cpu": n}, answers of helpers in the order of their calls.
    """

    packet: bytes = b""
    context: dict = field(default_factory=dict)
    maps: dict = field(default_factory=dict)
    data: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)

    def copy(self):
        return World(
            self.packet,
            dict(self.context),
            {n: t.copy() for n, t in self.maps.items()},
            {n: bytearray(d) for n, d in self.data.items()},
            {k: list(v) if isinstance(v, list) else v for k, v in self.environment.items()},
        )


@dataclass
class Run:
    """What a packet did: the verdict, executed instructions, memory accesses by region, helpers,
    and the price of all by the machine's cost table (0 without one).
    """

    verdict: str
    insns: int
    mem: Counter
    helpers: Counter
    trace: list | None
    cycles: int = 0
    lookups: Counter = field(default_factory=Counter)  # (map, found) -> how often
    packet: bytes = b""  # behind the program
    variables: Counter = field(default_factory=Counter)  # of the cost table -> cycles for each

    @property
    def mem_accesses(self):
        return sum(self.mem.values())

    def of(self, metric):
        """insns, mem or cycles."""
        return self.mem_accesses if metric == "mem" else getattr(self, metric)


class _Region:
    __slots__ = ("kind", "bytes", "start", "end", "writable")

    def __init__(self, kind, content, start=0, end=None, writable=True):
        self.kind, self.bytes, self.writable = kind, content, writable
        self.start, self.end = start, len(content) if end is None else end


CONTEXT = {12: "ingress_ifindex", 16: "rx_queue_index", 20: "egress_ifindex"}


def fresh_maps(program):
    """Empty maps of an object."""
    return {name: Table(shape) for name, shape in program.maps.items()}


class Machine:
    """Runs packets through a function of an object. `tails`: {map: {index: Function}}. `prices`: a
    cost table.
    """

    def __init__(self, program, function, tails=None, prices=None):
        self.program, self.function, self.prices = program, function, prices
        self.code, self.tails = program.code, tails or {}

    def run(self, world, trace=False):
        """One packet; changes the maps of `world`."""
        return _Running(self, world, trace).run()


class _Running:
    def __init__(self, machine, world, trace):
        self.m, self.world = machine, world
        self.regions = []
        self.by_content = {}
        self.mem, self.helpers, self.lookups = Counter(), Counter(), Counter()
        self.trace = [] if trace else None
        for name, shape in machine.program.maps.items():
            world.maps.setdefault(name, Table(shape))
        room = world.environment.get("headroom", h.HEADROOM)
        packet = bytearray(room) + bytearray(world.packet)
        self.packet = _Region("pkt", packet, room)
        self.packet_at = self.place(self.packet)
        self.context_at = self.place(_Region("ctx", bytearray(24), writable=False))
        self.calls = Counter()
        self.cycles = machine.prices.packet if machine.prices else 0
        self.variables = Counter()

    def where(self):
        return self.m.program.where(self.pc)

    def place(self, region):
        """The address of a region's first byte."""
        self.regions.append(region)
        return (len(self.regions) << 32) + PAD

    def place_value(self, content):
        if id(content) not in self.by_content:
            self.by_content[id(content)] = (self.place(_Region("map", content)), content)
        return self.by_content[id(content)][0]

    def place_table(self, table):
        if id(table) not in self.by_content:
            region = _Region("table", table, 0, 0)
            self.by_content[id(table)] = (self.place(region), table)
        return self.by_content[id(table)][0]

    def wrong(self, what, code="E-bpf-access"):
        return refused(code, f"instruction {self.m.program.where(self.pc)} {what}")

    def region(self, address, size, kind=None):
        """(region, offset) of an access that is allowed."""
        index, offset = (address >> 32) - 1, (address & M32) - PAD
        if not 0 <= index < len(self.regions):
            raise self.wrong("accesses memory by what is no pointer")
        region = self.regions[index]
        if offset < region.start or offset + size > region.end:
            raise self.wrong(f"accesses {region.kind} memory out of its bounds (byte {offset})")
        if kind:
            self.mem[kind + region.kind] += 1
            if self.m.prices:
                self.cycles += self.m.prices.access(kind, region.kind, self.where)
        return region, offset

    def load(self, address, size):
        region, offset = self.region(address, size, "ld_")
        if region.kind == "ctx":
            return self.load_context(offset, size)
        return int.from_bytes(region.bytes[offset : offset + size], "little")

    def load_context(self, offset, size):
        if size == 4 and offset in (0, 8):
            return self.packet_at + self.packet.start
        if size == 4 and offset == 4:
            return self.packet_at + self.packet.end
        if size == 4 and offset in CONTEXT:
            return self.world.context.get(CONTEXT[offset], 0) & M32
        raise self.wrong(f"reads {size} bytes at {offset} of the context, which is no field")

    def store(self, address, size, value, kind="st_"):
        region, offset = self.region(address, size, kind)
        if not region.writable:
            raise self.wrong("writes where nothing may be written")
        region.bytes[offset : offset + size] = (value & (1 << 8 * size) - 1).to_bytes(
            size, "little"
        )

    def block(self, address, size):
        """Bytes that a helper reads; not counted, as a part of its body."""
        region, offset = self.region(address, size)
        return bytes(region.bytes[offset : offset + size])

    def run(self):
        code, r = self.m.code, [0] * 11
        self.pc = self.m.function.entry
        r[1], r[10] = self.context_at, self.stack()
        frames, count = [], 0
        while True:
            one = code.get(self.pc)
            if one is None:
                raise self.wrong("does not exist; the program runs out of its end")
            count += 1
            if count > MOST_INSTRUCTIONS:
                raise self.wrong(f"is past {MOST_INSTRUCTIONS} instructions", "E-bpf-limit")
            if self.trace is not None:
                self.trace.append(self.pc)
            kind = one.kind
            following = self.pc + 1
            if self.m.prices and kind != "jump" and (kind != "call" or one.src == 1):
                self.cycles += self.m.prices.instruction(one, self.where)
            if kind == "alu":
                r[one.dst] = _alu(one, r[one.dst], one.imm if one.src is None else r[one.src])
            elif kind == "load":
                value = self.load((r[one.src] + one.off) & M64, one.size)
                r[one.dst] = _signed(value, 8 * one.size) & M64 if one.signed else value
            elif kind == "jump":
                holds = _holds(one, r[one.dst], one.imm if one.src is None else r[one.src])
                if holds:
                    following = one.target
                if self.m.prices:
                    self.cycles += self.m.prices.jump(holds, self.where)
            elif kind == "store":
                value = one.imm if one.src is None else r[one.src]
                self.store((r[one.dst] + one.off) & M64, one.size, value)
            elif kind == "goto":
                following = one.target
            elif kind == "lddw":
                r[one.dst] = self.constant(one)
                following = self.pc + 2
            elif kind == "call" and one.src == 1:
                frames.append((following, r[6:11]))
                r[10] = self.stack()
                following = one.target
            elif kind == "call":
                following = self.helper(one, r, frames) or following
            elif kind == "exit":
                if not frames:
                    name = h.verdict_of(r[0])
                    counted = self.mem, self.helpers, self.trace, self.cycles, self.lookups
                    packet = self.packet.bytes[self.packet.start : self.packet.end]
                    return Run(name, count, *counted, bytes(packet), self.variables)
                following, r[6:11] = frames.pop()
            else:
                self.atomic(one, r)
            self.pc = following

    def stack(self):
        return self.place(_Region("stack", bytearray(512))) + 512

    def constant(self, one):
        if one.target is None:
            return one.imm
        if one.target[0] == "map":
            return self.place_table(self.world.maps[one.target[1]])
        if one.target[0] == "data":
            _, name, offset = one.target
            known = self.m.program.data[name]
            if name not in self.world.data:
                self.world.data[name] = bytearray(known.content)
            return self.place_value(self.world.data[name]) + offset
        raise self.wrong(f"loads '{one.target[1]}', which is not modelled", "E-bpf-helper")

    def atomic(self, one, r):
        address = (r[one.dst] + one.off) & M64
        region, offset = self.region(address, one.size, "atomic_")
        mask = (1 << 8 * one.size) - 1
        old = int.from_bytes(region.bytes[offset : offset + one.size], "little")
        operand = r[one.src] & mask
        new = {
            "add": old + operand,
            "or": old | operand,
            "and": old & operand,
            "xor": old ^ operand,
            "xchg": operand,
            "cmpxchg": operand if old == r[0] & mask else old,
        }[one.op]
        region.bytes[offset : offset + one.size] = (new & mask).to_bytes(one.size, "little")
        if one.op == "cmpxchg":
            r[0] = old
        elif one.fetch:
            r[one.src] = old

    # Helpers

    def helper(self, one, r, frames):
        """Runs a helper; where to go on, or None for the next instruction."""
        if one.src != 0 or one.target is not None:
            name = one.target[1] if one.target else "kernel function"
            raise self.wrong(f"calls '{name}', which is not modelled", "E-bpf-helper")
        name = h.name_of(one.imm)
        if name not in h.MODELLED:
            raise self.wrong(f"calls the helper '{name}', which is not modelled", "E-bpf-helper")
        self.helpers[name] += 1
        if self.m.prices:
            shape = self.table(r[h.MAP_IN[name]]).shape if name in h.MAP_IN else None
            cycles, variables = self.m.prices.helper(name, shape and shape.kind, self.where)
            self.cycles += cycles
            for variable, each in variables.items():
                self.variables[f"{shape.name}.{variable}"] += each
        if name in h.ENVIRONMENT:
            what, bits = h.ENVIRONMENT[name]
            given = self.world.environment.get(what, 0)
            if isinstance(given, list):
                at = self.calls[what]
                given = given[at] if at < len(given) else 0
            self.calls[what] += 1
            r[0] = given & (1 << bits) - 1
            return None
        if name == "tail_call":
            return self.tail_call(r, frames)
        r[0] = getattr(self, "_" + name)(*r[1:6]) & M64
        return None

    def table(self, address):
        index = (address >> 32) - 1
        if 0 <= index < len(self.regions) and self.regions[index].kind == "table":
            return self.regions[index].bytes
        raise self.wrong("gives a helper what is no map")

    def _map_lookup_elem(self, table, key, *_):
        table = self.table(table)
        shape = table.shape
        if shape.kind not in ARRAYS + HASHES + OF_MAPS + ("LPM_TRIE",):
            raise self.wrong(f"looks up in '{shape.name}' of type {shape.kind}", "E-bpf-map")
        found = table.find(self.block(key, shape.key_size))
        self.lookups[shape.name, found is not None] += 1
        if found is None:
            return 0
        return self.place_table(found) if shape.kind in OF_MAPS else self.place_value(found)

    def _writable(self, table, what):
        table = self.table(table)
        if table.shape.kind not in ARRAYS + HASHES:
            raise self.wrong(
                f"{what} '{table.shape.name}' of type {table.shape.kind}, which is not modelled",
                "E-bpf-map",
            )
        return table

    def _map_update_elem(self, table, key, value, flags, *_):
        table = self._writable(table, "updates")
        key = self.block(key, table.shape.key_size)
        return table.update(key, self.block(value, table.shape.value_size), flags)

    def _map_delete_elem(self, table, key, *_):
        table = self._writable(table, "deletes from")
        return table.delete(self.block(key, table.shape.key_size))

    def _redirect(self, _ifindex, flags, *_):
        return h.VERDICTS.index("XDP_ABORTED" if flags else "XDP_REDIRECT")

    def _redirect_map(self, table, index, flags, *_):
        table = self.table(table)
        if table.shape.kind not in REDIRECTS:
            raise self.wrong(f"redirects by '{table.shape.name}', {table.shape.kind}", "E-bpf-map")
        allowed = 3 | (24 if table.shape.kind.startswith("DEVMAP") else 0)
        if flags & ~allowed:
            return h.VERDICTS.index("XDP_ABORTED")
        key = (index & M32).to_bytes(4, "little")
        inside = table.shape.kind == "DEVMAP_HASH" or index & M32 < table.shape.max_entries
        if (inside and key in table.entries) or flags & 8:
            return h.VERDICTS.index("XDP_REDIRECT")
        return flags & 3

    def _xdp_adjust_head(self, _ctx, delta, *_):
        start = self.packet.start + _signed(delta & M32, 32)
        if start < 0 or start > self.packet.end - 14:
            return -h.EINVAL
        self.moved(start, self.packet.end)
        return 0

    def _xdp_adjust_tail(self, _ctx, delta, *_):
        end = self.packet.end + _signed(delta & M32, 32)
        if end < self.packet.start + 14:
            return -h.EINVAL
        if end > self.packet.end:
            # Growing needs room behind the packet, of which nothing is known here.
            raise self.wrong("grows the packet at its end, which is not modelled", "E-bpf-helper")
        self.moved(self.packet.start, end)
        return 0

    def moved(self, start, end):
        """A new packet at new addresses: pointers to the old one are none any more."""
        old = self.packet
        self.packet = _Region("pkt", old.bytes, start, end)
        self.packet_at = self.place(self.packet)
        old.start = old.end = 0

    def _xdp_get_buff_len(self, *_):
        return self.packet.end - self.packet.start

    def _csum_diff(self, a, a_size, b, b_size, seed):
        if a_size % 4 or b_size % 4 or a_size + b_size > 512:
            return -h.EINVAL
        total = seed & M32
        block = self.block(a, a_size) if a_size else b""
        for at in range(0, a_size, 4):
            total += ~int.from_bytes(block[at : at + 4], "little") & M32
        block = self.block(b, b_size) if b_size else b""
        for at in range(0, b_size, 4):
            total += int.from_bytes(block[at : at + 4], "little")
        total = (total & M32) + (total >> 32)
        return (total & M32) + (total >> 32)

    def _spin_lock(self, *_):
        return 0

    _spin_unlock = _spin_lock

    def tail_call(self, r, frames):
        table, index = self.table(r[2]), r[3] & M32
        if table.shape.kind != "PROG_ARRAY":
            raise self.wrong(f"tail-calls by '{table.shape.name}', {table.shape.kind}", "E-bpf-map")
        known = self.m.tails.get(table.shape.name)
        if known is None:
            raise self.wrong(
                f"tail-calls a program of '{table.shape.name}', of which nothing is known; write"
                f" --tail-call {table.shape.name}:INDEX=PROGRAM",
                "E-bpf-tail-call",
            )
        self.calls["tail_call"] += 1
        if index not in known or self.calls["tail_call"] > MOST_TAIL_CALLS:
            r[0] = -h.ENOENT & M64
            return None
        if frames:
            raise self.wrong(
                "tail-calls within a function, which is not modelled", "E-bpf-tail-call"
            )
        r[1], r[10] = self.context_at, self.stack()
        return known[index].entry


def _signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _divided(op, a, b, bits):
    """Quotients are cut towards 0; by 0 they are 0, and the rest is all."""
    if op in ("div", "mod"):
        if b == 0:
            return 0 if op == "div" else a
        return a // b if op == "div" else a % b
    a, b = _signed(a, bits), _signed(b, bits)
    if b == 0:
        return 0 if op == "sdiv" else a
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op == "sdiv" else a - quotient * b


def _alu(one, a, b):
    op, bits = one.op, one.bits
    mask = M64 if bits == 64 else M32
    if op in ("le", "be", "bswap"):
        a &= (1 << one.imm) - 1
        return a if op == "le" else int.from_bytes(a.to_bytes(one.imm // 8, "little"), "big")
    a, b = a & mask, b & mask
    if op == "mov":
        return b
    if op == "add":
        return (a + b) & mask
    if op == "sub":
        return (a - b) & mask
    if op == "and":
        return a & b
    if op == "or":
        return a | b
    if op == "xor":
        return a ^ b
    if op == "lsh":
        return (a << (b % bits)) & mask
    if op == "rsh":
        return a >> (b % bits)
    if op == "arsh":
        return (_signed(a, bits) >> (b % bits)) & mask
    if op == "mul":
        return (a * b) & mask
    if op == "neg":
        return -a & mask
    if op == "movsx":
        return _signed(b, 8 * one.size) & mask
    return _divided(op, a, b, bits) & mask


def _holds(one, a, b):
    op, bits = one.op, one.bits
    mask = M64 if bits == 64 else M32
    a, b = a & mask, b & mask
    if op[0] == "s" and op != "set":
        a, b, op = _signed(a, bits), _signed(b, bits), op[1:]
    return {
        "eq": a == b,
        "ne": a != b,
        "gt": a > b,
        "ge": a >= b,
        "lt": a < b,
        "le": a <= b,
        "set": op == "set" and bool(a & b),
    }[op]
