"""The running kernel as an oracle: an object is loaded by libbpf, its maps are filled, a packet is run
by BPF_PROG_TEST_RUN, and the verdict, the packet and the maps behind it are read.

Needs the right to load programs (CAP_BPF, CAP_NET_ADMIN) and libbpf 1.
"""

import ctypes
import ctypes.util
import os

from models.bpf.helpers import verdict_of
from models.bpf.objects import ARRAYS, OF_MAPS, REDIRECTS

SHORTEST, LONGEST = 14, 3000  # bytes of a packet that the kernel runs (ETH_HLEN; a page)
LOOPBACK = 1  # the interface that a packet comes in by, where no context is given
_QUIET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
    lambda *_: 0
)


class _Options(ctypes.Structure):
    """struct bpf_test_run_opts of libbpf 1."""

    _fields_ = [
        ("sz", ctypes.c_size_t),
        ("data_in", ctypes.c_void_p),
        ("data_out", ctypes.c_void_p),
        ("data_size_in", ctypes.c_uint32),
        ("data_size_out", ctypes.c_uint32),
        ("ctx_in", ctypes.c_void_p),
        ("ctx_out", ctypes.c_void_p),
        ("ctx_size_in", ctypes.c_uint32),
        ("ctx_size_out", ctypes.c_uint32),
        ("retval", ctypes.c_uint32),
        ("repeat", ctypes.c_int),
        ("duration", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("cpu", ctypes.c_uint32),
        ("batch_size", ctypes.c_uint32),
    ]


def _library():
    name = ctypes.util.find_library("bpf") or "libbpf.so.1"
    try:
        lib = ctypes.CDLL(name, use_errno=True)
    except OSError:
        return None
    lib.libbpf_set_print(_QUIET)
    for function in ("bpf_object__open", "bpf_object__next_program"):
        getattr(lib, function).restype = ctypes.c_void_p
    lib.bpf_object__open.argtypes = [ctypes.c_char_p]
    lib.bpf_object__next_program.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    for function in ("bpf_object__load", "bpf_program__fd"):
        getattr(lib, function).argtypes = [ctypes.c_void_p]
    lib.bpf_object__close.argtypes = [ctypes.c_void_p]
    lib.bpf_object__find_map_fd_by_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    pointers = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    lib.bpf_map_update_elem.argtypes = [*pointers, ctypes.c_uint64]
    lib.bpf_map_lookup_elem.argtypes = pointers
    lib.bpf_map_get_next_key.argtypes = pointers
    lib.bpf_map_delete_elem.argtypes = pointers[:2]
    return lib


LIB = _library()


class Refused(Exception):
    """The kernel does not load the program, run it or take a map's entries, or libbpf is not there."""


class Kernel:
    """A loaded object; its first program runs. Maps of maps and data sections are not filled."""

    def __init__(self, path, program):
        if LIB is None:
            raise Refused("no libbpf")
        self.maps, self.cpus = program.maps, LIB.libbpf_num_possible_cpus()
        self.object = LIB.bpf_object__open(str(path).encode())
        if not self.object:
            raise Refused(f"libbpf does not open {path}")
        if LIB.bpf_object__load(self.object):
            LIB.bpf_object__close(self.object)
            raise Refused(f"the kernel does not load {path}: {os.strerror(ctypes.get_errno())}")
        self.fd = LIB.bpf_program__fd(LIB.bpf_object__next_program(self.object, None))
        self.fds = {
            name: LIB.bpf_object__find_map_fd_by_name(self.object, name.encode())
            for name in self.maps
        }

    def close(self):
        LIB.bpf_object__close(self.object)

    def _room(self, shape):
        """Bytes of a value as the system call has it: of maps per CPU one for every CPU."""
        if "PERCPU" in shape.kind:
            return -(-shape.value_size // 8) * 8 * self.cpus
        return shape.value_size

    def _keys(self, name):
        size, found, before = self.maps[name].key_size, [], None
        following = ctypes.create_string_buffer(size)
        while LIB.bpf_map_get_next_key(self.fds[name], before, following) == 0:
            found.append(following.raw)
            before = ctypes.create_string_buffer(following.raw, size)
        return found

    def fill(self, tables):
        """The maps become these (machine.Table): what is not in them is gone, or 0."""
        for name, shape in self.maps.items():
            if shape.kind in OF_MAPS or shape.kind == "PROG_ARRAY":
                continue
            zero = bytes(self._room(shape))
            for key in self._keys(name):
                if shape.kind in REDIRECTS or shape.kind not in ARRAYS:
                    LIB.bpf_map_delete_elem(self.fds[name], key)
                else:
                    LIB.bpf_map_update_elem(self.fds[name], key, zero, 0)
            for key, value in tables[name].entries.items():
                if _beyond(shape, key):
                    continue
                if self._put(name, key, bytes(value)):
                    why = os.strerror(ctypes.get_errno())
                    raise Refused(f"map {name} does not take {key.hex()}: {why}")

    def _put(self, name, key, value):
        shape = self.maps[name]
        if shape.kind in REDIRECTS:
            value = LOOPBACK.to_bytes(4, "little").ljust(shape.value_size, b"\0")
        if "PERCPU" in shape.kind:
            value = value.ljust(-(-shape.value_size // 8) * 8, b"\0") * self.cpus
        return LIB.bpf_map_update_elem(self.fds[name], bytes(key), value, 0)

    def content(self, name):
        """{key: value on this CPU}."""
        shape, found = self.maps[name], {}
        room = ctypes.create_string_buffer(self._room(shape))
        (cpu,) = os.sched_getaffinity(0)
        at = cpu * -(-shape.value_size // 8) * 8 if "PERCPU" in shape.kind else 0
        for key in self._keys(name):
            if LIB.bpf_map_lookup_elem(self.fds[name], key, room) == 0:
                found[key] = room.raw[at : at + shape.value_size]
        return found

    def run(self, packet):
        """(verdict, packet behind the program)."""
        given = ctypes.create_string_buffer(packet, len(packet))
        out = ctypes.create_string_buffer(LONGEST + 512)
        options = _Options(
            sz=ctypes.sizeof(_Options),
            data_in=ctypes.addressof(given),
            data_out=ctypes.addressof(out),
            data_size_in=len(packet),
            data_size_out=len(out),
            repeat=1,
        )
        if LIB.bpf_prog_test_run_opts(self.fd, ctypes.byref(options)):
            raise Refused(f"the kernel does not run it: {os.strerror(ctypes.get_errno())}")
        return verdict_of(options.retval), out.raw[: options.data_size_out]


def _beyond(shape, key):
    """Whether a map that redirects has no such slot, so that nothing can be put there."""
    indexed = shape.kind in REDIRECTS and shape.kind != "DEVMAP_HASH"
    return indexed and int.from_bytes(key, "little") >= shape.max_entries
