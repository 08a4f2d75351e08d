"""Where messages come from: files in their forms, and rows of RTL runs."""

import os
import re

from lpn.runs import json_data, json_lines, unpacked

from .messages import Lowered, Message
from .trees import messages_of


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


def read(path):
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
    found = re.fullmatch(r"HPB([0-9]+)_(msg|batch)([0-9]+)", row["name"])
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
