"""Keys of a system file that nothing of the system would read. A file that says one is refused: its number
would have no effect, without a word.

A key that only a value of another one makes idle, and `-p` may change, is no mistake: DRAM's times where
all data is behind the edge, precharge_ns with closed pages.
"""

from dataclasses import dataclass
from functools import cached_property

from .trips import wrong

__all__ = ["check", "of"]


@dataclass(frozen=True)
class _Use:
    """What of a System is there to be told something."""

    system: object

    @property
    def jpeg(self):
        return self.system.accelerator.model == "jpeg"

    @property
    def ports(self):
        return {kind for _, kind in self.system.accelerator.ports}

    @cached_property
    def trips(self):
        return {kind for _, kind in self.system.accelerator.round_trips}

    @cached_property
    def dma_reads(self):
        return self.jpeg or any(size != 0 for _, size in self.system.accelerator.inputs)

    @cached_property
    def dma_writes(self):
        return self.jpeg or bool(self.system.accelerator.outputs)

    @property
    def dma(self):
        return self.dma_reads or self.dma_writes

    @property
    def reads(self):
        return self.dma_reads or "read" in self.trips

    @property
    def writes(self):
        return self.dma_writes or "write" in self.trips

    @property
    def dram(self):
        return self.system.memory.model == "dram"


_NO_READS = "DMA reads, and accelerator.inputs has 0 bytes of each place"
_NO_WRITES = "DMA writes, and there are no accelerator.outputs"
_NO_DMA = "DMA and of accelerator.ports, and the accelerator has neither"
_NOTHING = (
    'a memory that nothing reads or writes here: no bytes in accelerator.inputs or outputs, no "read" or '
    '"write" in round_trips, no ports'
)
_DRAM_SAYS = 'memory.model = "latency"; with "dram" the part says it, see memory.part'
_STREAMS = "rows that streams of DMA go through; round_trips have one latency"

# Keys of a table, None: all -> when something reads them; what they are of, where nothing does.
_RULES = (
    (
        "accelerator",
        ("ahead",),
        lambda u: not u.jpeg,
        "nets that are not known; jpeg holds 2 blocks",
    ),
    ("device", ("done",), lambda u: u.dma_writes, _NO_WRITES),
    (
        "device",
        ("truth",),
        lambda u: u.system.accelerator.model != "protoacc",
        "rows of a jpeg.csv, which are not of protoacc",
    ),
    ("reads", None, lambda u: not u.ports, "DMA, which a net with accelerator.ports has not"),
    ("writes", None, lambda u: not u.ports, "DMA, which a net with accelerator.ports has not"),
    ("reads", None, lambda u: u.dma_reads, _NO_READS),
    ("writes", None, lambda u: u.dma_writes, _NO_WRITES),
    (
        "link",
        ("lanes", "max_payload"),
        lambda u: u.system.link.packets,
        "packets of PCI Express, and there is no link.generation",
    ),
    (
        "host",
        ("pause_ns", "polls"),
        lambda u: u.system.host.wait == "poll",
        'host.wait = "poll", and it is "interrupt"',
    ),
    (
        "host",
        ("interrupt_ns",),
        lambda u: u.system.host.wait == "interrupt",
        'host.wait = "interrupt", and it is "poll"',
    ),
    (
        "memory",
        ("input", "output"),
        lambda u: not u.ports,
        "DMA, which a net with accelerator.ports has not",
    ),
    (
        "memory",
        ("read_packet_ns", "behind_bytes", "behind_ways"),
        lambda u: u.ports,
        "accelerator.ports, which are not there",
    ),
    (
        "memory",
        ("read_packet_ns",),
        lambda u: "read" in u.ports,
        'accelerator.ports of "read", and all are of "write"',
    ),
    (
        "memory",
        ("packet_ns",),
        lambda u: not u.ports or "write" in u.ports,
        'accelerator.ports of "write", and all are of "read"',
    ),
    (
        "memory",
        (
            *(
                "cache_lines",
                "activate_ns",
                "access_ns",
                "precharge_ns",
                "page",
                "row_bytes",
                "banks",
            ),
            *("input", "output"),
        ),
        lambda u: not u.dram,
        _DRAM_SAYS,
    ),
    (
        "memory",
        ("part", "clock_mhz", "outstanding"),
        lambda u: u.dram,
        'memory.model = "dram", which is not there',
    ),
    (
        "memory",
        ("cache_lines", "banks"),
        lambda u: u.jpeg,
        "jpeg, whose writes are no streams; others' writes go from row to row, beyond the edge's lines",
    ),
    ("memory", ("line",), lambda u: u.jpeg or u.ports, "jpeg and of accelerator.ports"),
    ("memory", None, lambda u: u.reads or u.writes or u.ports, _NOTHING),
    ("memory", ("packet_ns",), lambda u: u.dma or u.ports, _NO_DMA),
    ("memory", ("row_bytes", "precharge_ns"), lambda u: u.dma, _STREAMS),
    (
        "memory",
        ("input",),
        lambda u: u.reads,
        "what is read, and nothing is: no bytes in accelerator.inputs",
    ),
    (
        "memory",
        ("output",),
        lambda u: not u.jpeg,
        "nets that are not known; jpeg's lines come from DRAM until they were written once",
    ),
    (
        "memory",
        ("output",),
        lambda u: u.writes,
        "what is written, and nothing is: there are no accelerator.outputs",
    ),
)


def of(system, key):
    """What a key is of where nothing of the system would read it, else None."""
    use, (head, _, name) = _Use(system), key.partition(".")
    for table, keys, read, what in _RULES:
        if head == table and (keys is None or name in keys) and not read(use):
            return what
    return None


def check(system):
    """Raises Error "E-system-file" for a key of the file, or of -p, that nothing would read."""
    for key in sorted(system.stated):
        if what := of(system, key):
            raise wrong(system, f"{key} is of {what}: leave it out")
