"""Hardware parts and idioms as functions over a net: each only calls net.place and net.transition.

Read them as documentation of the idiom; copy and change them when yours differs. `name` prefixes
every place and transition that a function adds. Where an argument is a delay, it may be a function
of the arc `t`, the token that passes. docs/parts has a page of each: what it models, what not, what
is provable.
"""

from ._arbiters import priority, round_robin
from ._bursts import Burst, Transfer, bursts
from ._caches import cache
from ._clocks import clock_crossing
from ._crossbars import crossbar, interconnect
from ._dma import Move, dma
from ._flow import threshold, token_bucket
from ._forks import fork, join
from ._ports import Access, MemoryPort, memory, memory_port
from ._queues import credit, fifo, pipeline
from ._reorder import in_order, reorder_buffer

__all__ = [
    "Access",
    "Burst",
    "MemoryPort",
    "Move",
    "Transfer",
    "bursts",
    "cache",
    "clock_crossing",
    "credit",
    "crossbar",
    "dma",
    "fifo",
    "fork",
    "in_order",
    "interconnect",
    "join",
    "memory",
    "memory_port",
    "pipeline",
    "priority",
    "reorder_buffer",
    "round_robin",
    "threshold",
    "token_bucket",
]
