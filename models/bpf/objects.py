"""eBPF object files: sections, programs, maps in both styles, relocations, names from BTF."""

import hashlib
import io
from dataclasses import dataclass, field
from struct import error as StructError
from struct import unpack_from

from . import btf as types
from .errors import refused
from .instructions import decode

EM_BPF = 247
R_64, R_CALL = 1, 10  # R_BPF_64_64 (lddw), R_BPF_64_32 (call)
MAP_TYPES = (
    "UNSPEC HASH ARRAY PROG_ARRAY PERF_EVENT_ARRAY PERCPU_HASH PERCPU_ARRAY STACK_TRACE "
    "CGROUP_ARRAY LRU_HASH LRU_PERCPU_HASH LPM_TRIE ARRAY_OF_MAPS HASH_OF_MAPS DEVMAP SOCKMAP "
    "CPUMAP XSKMAP SOCKHASH CGROUP_STORAGE REUSEPORT_SOCKARRAY PERCPU_CGROUP_STORAGE QUEUE STACK "
    "SK_STORAGE DEVMAP_HASH STRUCT_OPS RINGBUF INODE_STORAGE TASK_STORAGE BLOOM_FILTER "
    "USER_RINGBUF CGRP_STORAGE"
).split()
ARRAYS = ("ARRAY", "PERCPU_ARRAY")
HASHES = ("HASH", "LRU_HASH", "PERCPU_HASH", "LRU_PERCPU_HASH")
OF_MAPS = ("ARRAY_OF_MAPS", "HASH_OF_MAPS")
REDIRECTS = ("DEVMAP", "CPUMAP", "XSKMAP", "DEVMAP_HASH")
PREFIX = 4  # bytes of an LPM_TRIE's key that are the length of its prefix
INDEXED = (*ARRAYS, "ARRAY_OF_MAPS", "PROG_ARRAY", "DEVMAP", "CPUMAP", "XSKMAP")  # by 0, 1, ..
# Sections of programs that are no XDP programs, as libbpf names them.
OTHER_PROGRAMS = (
    "tc", "classifier", "cls", "action", "socket", "sockops", "sk_", "kprobe", "kretprobe", "uprobe",
    "uretprobe", "tracepoint", "tp", "raw_tp", "raw_tracepoint", "perf_event", "cgroup", "lwt_",
    "fentry", "fexit", "fmod_ret", "lsm", "iter", "struct_ops", "flow_dissector", "syscall", "usdt",
    "netfilter", "freplace",
)  # fmt: skip


@dataclass
class Map:
    """A map. `kind`: the name of MAP_TYPES; sizes in bytes. `key_fields`, `value_fields`:
    [(name, offset, size)] where BTF has them. `slots`: what the object puts into it,
    {index: name of a program or a map}.
    """

    name: str
    kind: str
    key_size: int = 0
    value_size: int = 0
    max_entries: int = 0
    flags: int = 0
    key_type: str | None = None
    value_type: str | None = None
    key_fields: list = field(default_factory=list)
    value_fields: list = field(default_factory=list)
    inner: "Map | None" = None
    slots: dict = field(default_factory=dict)


@dataclass
class Function:
    """A function: its section, first slot in the numbering of all code, slots."""

    name: str
    section: str
    entry: int
    size: int
    is_global: bool


@dataclass
class Data:
    """A section of data: `is_constant` where no program writes it. `variables`: [(name, offset,
    size, is volatile)].
    """

    name: str
    content: bytes
    is_constant: bool
    variables: list


@dataclass
class Object:
    """An object file that was read. `code`: {slot: Instruction} of all sections; `bases`: where
    each begins.
    """

    path: str
    sha256: str
    code: dict
    bases: dict
    functions: list
    maps: dict
    data: dict
    lines: dict

    def where(self, pc):
        """(section, instruction) of a slot: 'xdp:12' for messages."""
        section = max((s for s in self.bases if self.bases[s] <= pc), key=self.bases.get)
        return f"{section}:{pc - self.bases[section]}"

    def source(self, pc):
        """(file, line number, text) of a slot, or None."""
        section = max((s for s in self.bases if self.bases[s] <= pc), key=self.bases.get)
        offset = (pc - self.bases[section]) * 8
        best = None
        for row in self.lines.get(section, ()):
            if row[0] <= offset and (best is None or row[0] >= best[0]):
                best = row
        return None if best is None else (best[1], best[3], best[2])

    def program(self, section=None, name=None):
        """The function to analyse; refused where it is not one."""
        found = [
            f
            for f in self.functions
            if (section is None or f.section == section) and (name is None or f.name == name)
        ]
        if section is not None and section not in {f.section for f in self.functions}:
            raise refused(
                "E-bpf-program",
                f"'{self.path}' has no program in a section '{section}'; it has: {self._listed()}",
            )
        if name is None and section is None:
            named = [f for f in found if f.section != ".text"]
            xdp = [f for f in named if not is_other(f.section)]
            found = xdp or named or found
        if name is None:
            found = [f for f in found if f.is_global] or found
        if len(found) != 1:
            what = "no such program" if not found else "several programs"
            raise refused(
                "E-bpf-program",
                f"'{self.path}': {what}; choose with --section or --prog: {self._listed()}",
            )
        if is_other(found[0].section):
            raise refused(
                "E-bpf-program",
                f"'{found[0].name}' in section '{found[0].section}' is no XDP program; only XDP"
                " is modelled",
            )
        return found[0]

    def _listed(self):
        return ", ".join(f"{f.section}/{f.name}" for f in self.functions) or "none"


def is_other(section):
    """Whether a section's name says that it is for another hook than XDP."""
    return not section.startswith("xdp") and any(section.startswith(p) for p in OTHER_PROGRAMS)


def load(path, inner=None):
    """Reads an object file. `inner`: {map of maps: a map of the object that inner maps are like}."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise refused("E-bpf-object", "reading objects needs Debian's python3-pyelftools") from None
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as wrong:
        raise refused("E-bpf-object", f"cannot read '{path}': {wrong.strerror}") from None
    try:
        elf = ELFFile(io.BytesIO(raw))
        if elf["e_machine"] not in ("EM_BPF", EM_BPF) or not elf.little_endian:
            raise refused("E-bpf-object", f"'{path}' is no little-endian eBPF object file")
        return _Reader(path, raw, elf).read(inner or {})
    except (ELFError, StructError, AssertionError, UnicodeDecodeError, ValueError) as wrong:
        raise refused("E-bpf-object", f"'{path}' is no sound eBPF object: {wrong}") from None
    except (
        KeyError, IndexError, AttributeError, TypeError, OverflowError, RecursionError
    ) as wrong:  # fmt: skip
        raise refused(
            "E-bpf-object", f"'{path}' is a damaged eBPF object: {type(wrong).__name__} {wrong}"
        ) from None


class _Reader:
    def __init__(self, path, raw, elf):
        self.path, self.raw, self.elf = path, raw, elf
        self.sections = list(elf.iter_sections())
        self.named = {s.name: s for s in self.sections}
        table = self.named.get(".symtab")
        self.symbols = list(table.iter_symbols()) if table is not None else []
        content = self.named[".BTF"].data() if ".BTF" in self.named else b""
        self.btf = types.Btf(content)
        self.code, self.bases, self.maps, self.data = {}, {}, {}, {}

    def read(self, inner):
        base = 0
        for section in self.sections:
            if section["sh_flags"] & 4 and section["sh_type"] == "SHT_PROGBITS":
                if section["sh_size"]:
                    if section.name in self.bases:
                        raise refused(
                            "E-bpf-object",
                            f"'{self.path}' has two sections of code '{section.name}'; give each "
                            "program a section of its own",
                        )
                    self.bases[section.name] = base
                    self.code.update(decode(section.data(), section.name, base))
                    base += section["sh_size"] // 8 + 1
        if not self.code:
            raise refused("E-bpf-object", f"'{self.path}' has no program")
        functions = self._functions()
        self._legacy_maps()
        self._btf_maps()
        self._data()
        for outer, like in inner.items():
            if outer not in self.maps or like not in self.maps:
                known = ", ".join(self.maps) or "none"
                raise refused("E-bpf-map", f"--inner {outer}={like}: maps of the object: {known}")
            self.maps[outer].inner = self.maps[like]
        self._relocate()
        lines = {}
        if ".BTF.ext" in self.named:
            lines = types.line_info(self.named[".BTF.ext"].data(), self.btf)
        sha = hashlib.sha256(self.raw).hexdigest()
        return Object(self.path, sha, self.code, self.bases, functions, self.maps, self.data, lines)

    def _section_of(self, symbol):
        index = symbol["st_shndx"]
        return self.sections[index] if isinstance(index, int) else None

    def _functions(self):
        found = []
        for symbol in self.symbols:
            section = self._section_of(symbol)
            if symbol["st_info"]["type"] == "STT_FUNC" and section is not None:
                if section.name in self.bases:
                    found.append(
                        Function(
                            symbol.name,
                            section.name,
                            self.bases[section.name] + symbol["st_value"] // 8,
                            symbol["st_size"] // 8,
                            symbol["st_info"]["bind"] == "STB_GLOBAL",
                        )
                    )
        have = {f.section for f in found}
        for name, base in self.bases.items():
            if name not in have:  # stripped, or of a compiler that makes no FUNC symbols
                size = self.named[name]["sh_size"] // 8
                found.append(Function(name.strip("."), name, base, size, True))
        return sorted(found, key=lambda f: f.entry)

    def _legacy_maps(self):
        for index, section in enumerate(self.sections):
            if section.name != "maps" and not section.name.startswith("maps/"):
                continue
            content = section.data()
            here = sorted(
                (s["st_value"], s.name)
                for s in self.symbols
                if s["st_shndx"] == index and s["st_info"]["type"] in ("STT_OBJECT", "STT_NOTYPE")
                if s.name
            )
            if not here:
                raise refused("E-bpf-object", f"'{self.path}': the maps have no symbols")
            each = len(content) // len(here)
            if each < 16:
                raise refused("E-bpf-object", f"'{self.path}': section '{section.name}' is damaged")
            for at, name in here:
                words = unpack_from("<4I", content, at)
                flags = unpack_from("<I", content, at + 16)[0] if each >= 20 else 0
                self._add(Map(name, self._kind(words[0], name), *words[1:4], flags))
        for one in self.btf.types:
            # BPF_ANNOTATE_KV_PAIR: struct ____btf_map_NAME { key; value; }
            if one.kind == types.STRUCT and one.name.startswith("____btf_map_"):
                known = self.maps.get(one.name[len("____btf_map_") :])
                if known and len(one.members) == 2:
                    self._typed(known, one.members[0][1], one.members[1][1])

    def _add(self, one):
        if one.name in self.maps:
            raise refused("E-bpf-object", f"'{self.path}' has two maps '{one.name}'")
        for each in (one, one.inner):
            if each is not None and each.kind == "LPM_TRIE" and each.key_size <= PREFIX:
                raise refused(
                    "E-bpf-map",
                    f"map '{each.name}' is an LPM_TRIE with keys of {each.key_size} bytes; they "
                    f"are a prefix's length of {PREFIX} bytes and the data behind it",
                )
        self.maps[one.name] = one

    def _kind(self, number, name):
        if not 0 < number < len(MAP_TYPES):
            raise refused("E-bpf-map", f"map '{name}' is of the unknown type {number}")
        return MAP_TYPES[number]

    def _typed(self, one, key, value):
        if key is not None:
            one.key_type, one.key_fields = self.btf.name(key), self.btf.members(key)
        if value is not None:
            one.value_type, one.value_fields = self.btf.name(value), self.btf.members(value)

    def _btf_maps(self):
        section = self.named.get(".maps")
        if section is None:
            return
        variables = {
            one.name: one.size for one in self.btf.types if one.kind == types.VAR and one.name
        }
        index = self.sections.index(section)
        for symbol in self.symbols:
            if symbol["st_shndx"] != index or not symbol.name:
                continue
            if symbol.name not in variables:
                raise refused("E-bpf-object", f"map '{symbol.name}' has no type in .BTF")
            name = symbol.name
            self._add(self._btf_map(name, self.btf.through(variables[name])))
            self._values(self.maps[name], symbol, section)

    def _btf_map(self, name, shape):
        one = Map(name, "")
        key = value = None
        for member, of, *_ in shape.members:
            target = self.btf.through(of)
            inner = self.btf.through(target.size) if target.kind == types.PTR else None
            if member in ("key", "value") and inner is not None:
                size = self.btf.size(target.size)
                setattr(one, member + "_size", size or 0)
                key, value = (target.size, value) if member == "key" else (key, target.size)
            elif member == "values" and target.kind == types.ARRAY:
                of_maps = self.btf.through(target.members[0][0])
                kept = self.btf.through(of_maps.size) if of_maps.kind == types.PTR else None
                if kept is not None and kept.kind == types.STRUCT:
                    one.inner = self._btf_map(name + "[]", kept)
            elif inner is not None and inner.kind == types.ARRAY:
                number = inner.members[0][2]
                if member == "type":
                    one.kind = self._kind(number, name)
                elif member in ("key_size", "value_size", "max_entries"):
                    setattr(one, member, number)
                elif member == "map_flags":
                    one.flags = number
        if not one.kind:
            raise refused("E-bpf-map", f"map '{name}' has no type")
        if one.kind in OF_MAPS + ("PROG_ARRAY",) + REDIRECTS:
            one.key_size, one.value_size = one.key_size or 4, one.value_size or 4
        self._typed(one, key, value)
        return one

    def _values(self, one, symbol, section):
        """What `.values` of a map names: relocations within .maps."""
        begin, size = symbol["st_value"], symbol["st_size"]
        shape = self.btf.through(
            next(t.size for t in self.btf.types if t.kind == types.VAR and t.name == one.name)
        )
        at = next((bits // 8 for m, _, bits, _ in shape.members if m == "values"), None)
        relocations = self.named.get(".rel" + section.name)
        if at is None or relocations is None:
            return
        for each in relocations.iter_relocations():
            offset = each["r_offset"] - begin
            if at <= offset < size:
                one.slots[(offset - at) // 8] = self.symbols[each["r_info_sym"]].name

    def _data(self):
        found = {}
        for one in self.btf.types:
            if one.kind == types.DATASEC:
                found[one.name] = {
                    self.btf.types[v].name: self.btf.types[v] for v, _, _ in one.members
                }
        for index, section in enumerate(self.sections):
            name = section.name
            if not name.startswith((".rodata", ".data", ".bss")):
                continue
            content = bytes(section["sh_size"]) if name[:4] == ".bss" else section.data()
            variables = [
                (
                    s.name,
                    s["st_value"],
                    s["st_size"],
                    s.name in found.get(name, {})
                    and self.btf.is_volatile(found[name][s.name].size),
                )
                for s in self.symbols
                if s["st_shndx"] == index and s["st_info"]["type"] == "STT_OBJECT"
            ]
            self.data[name] = Data(name, content, name.startswith(".rodata"), variables)

    def _relocate(self):
        for section in self.sections:
            if not section.name.startswith(".rel") or section["sh_type"] != "SHT_REL":
                continue
            target = self.sections[section["sh_info"]]
            if target.name in self.bases:
                for each in section.iter_relocations():
                    self._one(each, self.bases[target.name])
        for one in self.code.values():
            if one.kind == "call" and one.src == 1 and one.target is None:
                one.target = one.pc + 1 + one.imm
            elif one.kind == "lddw" and one.src and one.target is None:
                raise refused(
                    "E-bpf-object",
                    f"'{self.path}': instruction {one.pc} loads what no relocation names",
                )

    def _one(self, relocation, base):
        pc = base + relocation["r_offset"] // 8
        symbol = self.symbols[relocation["r_info_sym"]]
        section = self._section_of(symbol)
        one = self.code.get(pc)
        if one is None:
            raise refused("E-bpf-object", f"'{self.path}': a relocation of no instruction")
        if one.kind == "call":
            if section is None or section.name not in self.bases:
                one.target = ("extern", symbol.name)
                return
            start = self.bases[section.name] + symbol["st_value"] // 8
            # Against a section's symbol the call holds its distance, against a function -1.
            one.src, one.target = 1, start + one.imm + 1
        elif one.kind == "lddw":
            if section is None:
                one.target = ("extern", symbol.name)
            elif section.name == ".maps" or section.name.split("/")[0] == "maps":
                name = symbol.name
                if name not in self.maps:
                    name = next(
                        (
                            s.name
                            for s in self.symbols
                            if self._section_of(s) is section
                            and s["st_value"] == one.imm
                            and s.name in self.maps
                        ),
                        name,
                    )
                if name not in self.maps:
                    raise refused("E-bpf-object", f"'{self.path}': no map '{name}'")
                one.target = ("map", name)
            elif section.name in self.data:
                one.target = ("data", section.name, symbol["st_value"] + (one.imm & 0xFFFFFFFF))
            else:
                one.target = ("function", symbol.name)
