"""Latency of Protoacc's serialiser of Protocol Buffers (MJChku/protoacc, commit ebfb4c7; Chisel).

    commands -> has bits -> descriptors -> [6 field handlers] -> sizes -> byte queues -> writes

Two places of the chip are shared by all: the read port of the memory and the has bits that are
scanned, a field number per cycle. Times are clocks; clock 0 takes the first command. `latency` is
the clock in which the last message's pointer has been handed to the write path, what
`messages_completed` counts.

net.py is the net, messages.py what tokens a message is, trees.py and schema.py read messages.
"""

import os
import re

import lpn
from lpn.runs import json_data, json_lines, unpacked

from . import net as _net
from .messages import DEEPEST, Field, Lowered, Message
from .tokens import Bit, Item, Kind
from .trees import messages_of


def net(*, handlers: int = 6) -> lpn.Net:
    """The serialiser with so many field handlers, 1 to 14; the RTL has 6.

    Its parameters are clocks: `read_latency` from an address to its first beat, at least 1;
    `write_ack_latency` from a write's last beat to its acknowledgement, at least 1;
    `command_interval` from one command of the host to the next.
    """
    if not isinstance(handlers, int) or not 1 <= handlers <= _net.MOST_HANDLERS:
        raise lpn.Error("E-param", f"handlers must be 1 to {_net.MOST_HANDLERS}, got {handlers}")
    return _net.build(handlers)


class Batch:
    """Messages for the serialiser, in the order of their commands, under a name.

    messages: or the ValueError that says why there are none, which `workload` raises.
    """

    def __init__(self, name: str, messages: list[Message] | ValueError) -> None:
        self.name = name
        self._messages = messages

    @property
    def messages(self) -> list[Message]:
        """Raises ValueError when there are none."""
        if isinstance(self._messages, ValueError):
            raise self._messages
        return self._messages

    def __str__(self):
        return self.name


def workload(input, net: lpn.Net) -> lpn.Marking:
    """The tokens of messages, one after the other.

    `input`: a Batch, or the name of a file (also gzipped): JSON trees; the HyperProtoBench form; a
    message in text format that names its schema; or JSON {"proto", "message", "data"}, which names
    a .proto file, a type and files of messages. README.md has examples. Raises OSError when a file
    cannot be read and ValueError, with the reason, for what the hardware cannot serialise.
    """
    try:
        messages = input.messages if isinstance(input, Batch) else _read(input)
    except RecursionError:
        raise ValueError(f"a message is nested far deeper than {DEEPEST} levels") from None
    return Lowered(messages, _handlers(net)).marking(net)


def _handlers(net):
    return sum(name.startswith("items") for name in net.places)


def _read(path):
    path = os.fspath(path)
    if path.endswith(".proto"):
        raise ValueError('a schema is no message; write {"proto", "message", "data"} as JSON')
    from .schema import TEXT_SUFFIXES, header_of

    if os.path.splitext(path)[1] in TEXT_SUFFIXES:
        schema, name = header_of(path)
        return _from_schema(schema, name, [("the message", path)])
    data = _json(path)
    if isinstance(data, dict) and data.keys() & {"proto", "message"}:
        return _job(data, os.path.dirname(path))
    return messages_of(data)


def _json(path):
    """JSON in a file, gzipped or not."""
    data = unpacked(path)
    try:
        return json_data(data)
    except ValueError as error:
        raise ValueError(f"neither JSON nor a message that names its schema: {error}") from None


def _job(data, folder):
    """The messages that {"proto": file, "message": type, "data": [files]} names."""
    if data.keys() != {"proto", "message", "data"}:
        raise ValueError('expected exactly "proto", "message" and "data"')
    files = data["data"] if isinstance(data["data"], list) else [data["data"]]
    if not files or not all(isinstance(x, str) for x in (data["proto"], data["message"], *files)):
        raise ValueError('"proto", "message" and "data" name a file, a type and files')
    return _from_schema(
        os.path.join(folder, data["proto"]),
        data["message"],
        [(file, os.path.join(folder, file)) for file in files],
    )


def _from_schema(schema, name, files):
    from .schema import read_message, type_of

    message_class = type_of(schema, name)
    return [read_message(path, message_class, name) for name, path in files]


def space(
    net: lpn.Net, scalars: int = 1, strings: int = 1, least: int = 1, most: int = 64
) -> lpn.InputSpace:
    """Every message of so many int64 fields and, with lower numbers, strings; all are present.

    The variables are the bytes of each value.

    scalars, strings: how many, 1 to 15 together (their keys are one byte).
    least, most: bytes of a string, up to 127 (its length is one byte); 16-byte aligned.
    """
    count = scalars + strings
    if not all(isinstance(n, int) for n in (scalars, strings, least, most)):
        raise ValueError("scalars, strings, least and most are whole numbers")
    if min(scalars, strings) < 0 or not 1 <= count <= 15:
        raise ValueError(f"scalars and strings must be 1 to 15 together, got {count}")
    if not 1 <= least <= most <= 127:
        raise ValueError(f"least and most must be 1 to 127, in order, got {least} and {most}")
    fields = [Field(count - k, Kind.SCALAR, [1]) for k in range(scalars)]
    fields += [Field(strings - k, Kind.STRING, [1]) for k in range(strings)]
    lowered = Lowered([Message(fields, 1, count)], _handlers(net))
    ranges = {Kind.SCALAR: (1, 10), Kind.STRING: (least, most), Kind.END: 0}
    space = lpn.InputSpace(net)
    space.tokens("messages", 1)
    space.tokens("chunks", len(lowered.chunks), advance=[int(a) for a, in lowered.chunks])
    columns = [[int(value) for value in column] for column in zip(*lowered.bits)]
    space.tokens("bits", len(lowered.bits), **dict(zip(Bit.__annotations__, columns)))
    for k, items in enumerate(lowered.items):
        columns = dict(zip(Item.__annotations__, ([int(v) for v in c] for c in zip(*items))))
        columns["bytes"] = [ranges[item[0]] for item in items]
        space.tokens(f"items{k}", len(items), **(columns if items else {}))
    return space


def truth_rows(path):
    """(Batch, parameters, clocks) of each row of a .jsonl.gz of RTL runs; a row without a shape is
    of hyperprotobench_processed/, beside the file."""
    folder = os.path.join(os.path.dirname(path), "hyperprotobench_processed")
    benchmarks = {}
    for _, row in json_lines(path, unpacked(path)):
        _check_row(row)
        clocks = row["completed"][-1] if row["completed"] else 0
        try:
            messages = _messages_of_row(row, folder, benchmarks)
        except ValueError as error:  # one row that is not covered
            messages = error
        yield Batch(row["name"], messages), _parameters(row), clocks


def _check_row(row):
    if not isinstance(row, dict) or not isinstance(row["name"], str):
        raise ValueError("a row must be an object with a name")
    for key in ("completed", "enq"):
        if not isinstance(row[key], list) or any(type(clock) is not int for clock in row[key]):
            raise ValueError(f"{row['name']}: '{key}' must be a list of clocks")


def _messages_of_row(row, folder, benchmarks):
    if row["shape"] is not None:
        messages = messages_of(row["shape"])
    else:
        messages = _benchmark_row(row, folder, benchmarks)
    sizes = Lowered(messages, 6).sizes
    if sizes != row["ser_bytes"]:
        raise ValueError(f"the row's messages have {row['ser_bytes']} bytes, its input {sizes}")
    return messages


def _benchmark_row(row, folder, kept):
    """The messages of HPBi_msgj, message j of bench i, or of HPBi_batchn, its first n."""
    found = re.fullmatch(r"HPB(\d+)_(msg|batch)(\d+)", row["name"])
    if found is None:
        raise ValueError(f"{row['name']} has no shape, and is no HPBi_msgj or HPBi_batchn")
    bench, what, number = found[1], found[2], int(found[3])
    if bench not in kept:
        kept[bench] = messages_of(_json(os.path.join(folder, f"bench{bench}-ser.json.gz")))
    messages = kept[bench]
    if number >= len(messages) + (what == "batch"):
        raise ValueError(f"{row['name']}: bench {bench} has {len(messages)} messages")
    return [messages[number]] if what == "msg" else messages[:number]


def _parameters(row):
    parameters = {name: row[name] for name in ("read_latency", "write_ack_latency")}
    intervals = {b - a for a, b in zip(row["enq"], row["enq"][1:])}
    if len(intervals) > 1:
        raise ValueError(f"{row['name']}: its commands come at unequal intervals")
    return {**parameters, **({"command_interval": intervals.pop()} if intervals else {})}
