"""Latency of Protoacc's serialiser of Protocol Buffers (MJChku/protoacc, commit ebfb4c7; Chisel).

    commands -> has bits -> descriptors -> [6 field handlers] -> sizes -> byte queues -> writes

Two places of the chip are shared by all: the read port of the memory and the has bits that are
scanned, a field number per cycle. Times are clocks; clock 0 takes the first command. `latency` is
the clock in which the last message's pointer has been handed to the write path, what
`messages_completed` counts.

net.py is the net, with handler.py and memory.py; messages.py what tokens a message is; inputs.py,
trees.py and schema.py read messages.
"""

import lpn

from . import net as _net
from .inputs import Batch, read, truth_rows
from .messages import DEEPEST, Field, Lowered, Message
from .space import handlers_of, space
from .tokens import Kind
from .traffic import lines_of, streams
from .trees import messages_of

__all__ = [
    "Batch",
    "Field",
    "Kind",
    "Lowered",
    "Message",
    "messages_of",
    "net",
    "read",
    "several",
    "space",
    "streams",
    "traffic",
    "truth_rows",
    "workload",
]


def several(input, number) -> Batch:
    """The messages of an input so many times, one after the other: an input of workload()."""
    return Batch(f"{number} x {input}", _messages(input) * number)


def net(*, handlers: int = 6, ports: int = 0) -> lpn.Net:
    """The serialiser with so many field handlers, 1 to 14; the RTL has 6.

    Its parameters are clocks: `read_latency` from an address to its first beat, at least 1;
    `write_ack_latency` from a write's last beat to its acknowledgement, at least 1;
    `command_interval` from one command of the host to the next. `ports`: 1 for a memory outside,
    which has accesses with addresses instead of `read_latency` (outside.py).
    """
    if ports not in (0, 1):
        raise lpn.Error("E-param", f"ports must be 0 or 1, got {ports}")
    if not isinstance(handlers, int) or not 1 <= handlers <= _net.MOST_HANDLERS:
        raise lpn.Error("E-param", f"handlers must be 1 to {_net.MOST_HANDLERS}, got {handlers}")
    return _net.build(handlers, bool(ports))


def workload(input, net: lpn.Net) -> lpn.Marking:
    """The tokens of messages, one after the other.

    `input`: a Batch, or the name of a file (also gzipped): JSON trees; the HyperProtoBench form; a
    message in text format that names its schema; or JSON {"proto", "message", "data"}, which names
    a .proto file, a type and files of messages. README.md has examples. Raises OSError when a file
    cannot be read and ValueError, with the reason, for what the hardware cannot serialise.
    """
    return Lowered(_messages(input), handlers_of(net)).marking(net)


def traffic(input, net: lpn.Net, line: int):
    """Which lines of a memory the streams() of a net with ports touch, for an input of workload().

    (whose, lines): for each line that a stream goes on to, in the order in which they are read and
    written, the stream's number and the line's.
    """
    return lines_of(Lowered(_messages(input), handlers_of(net)), net, line)


def _messages(input):
    try:
        return input.messages if isinstance(input, Batch) else read(input)
    except RecursionError:
        raise ValueError(f"a message is nested far deeper than {DEEPEST} levels") from None
