"""Packets and map states as JSON, for witnesses, --maps and --json."""

from lpn.runs import json_data, unpacked

from .errors import refused
from .machine import Table
from .objects import INDEXED, OF_MAPS, PREFIX


def to_json(world):
    """A World as JSON: bytes in hexadecimal; maps as a list of entries."""
    out = {"packet": world.packet.hex(), "ctx": dict(sorted(world.context.items())), "maps": []}
    free = {}
    for name, table in sorted(world.maps.items()):
        out["maps"] += _entries(name, table)
        if table._free is not None:
            free[name] = table._free
    if free:
        out["free"] = free
    if world.environment:
        out["env"] = world.environment
    if world.data:
        out["data"] = {name: bytes(content).hex() for name, content in sorted(world.data.items())}
    return out


def _entries(name, table):
    rows = []
    for key, value in sorted(table.entries.items(), key=lambda e: e[0]):
        if isinstance(value, Table):
            rows.append({"map": name, "key": key.hex(), "entries": _entries(name, value)})
        else:
            rows.append({"map": name, "key": key.hex(), "value": bytes(value).hex()})
    return rows


def read_maps(path, program):
    """{map: Table} of a file: a list of {"map", "key", "value"}, or an object with that list as
    "maps" or "initial_maps".
    """
    try:
        data = json_data(unpacked(path))
    except (OSError, ValueError) as wrong:
        raise refused("E-bpf-file", f"cannot read the map state '{path}': {wrong}") from None
    rows = data
    if isinstance(data, dict):
        rows = data.get("maps", data.get("initial_maps"))
    if not isinstance(rows, list):
        raise refused("E-bpf-file", f"'{path}' has no list of map entries")
    tables = {name: Table(shape) for name, shape in program.maps.items()}
    for row in rows:
        put_entry(tables, row, path)
    return tables


def put_entry(tables, row, path):
    """Puts a row of such a list into the tables; refused where it does not fit."""
    try:
        name, key = row["map"], bytes.fromhex(row["key"])
    except (TypeError, KeyError, ValueError):
        raise refused("E-bpf-file", f"'{path}': {row!r} is no entry with map, key, value") from None
    if name not in tables:
        raise refused(
            "E-bpf-file", f"'{path}': the object has no map '{name}'; it has {', '.join(tables)}"
        )
    table = tables[name]
    shape = table.shape
    if len(key) != shape.key_size:
        raise refused("E-bpf-file", f"'{path}': keys of '{name}' have {shape.key_size} bytes")
    key = _place(shape, table, name, key, path)
    if shape.kind in OF_MAPS:
        if shape.inner is None:
            raise refused("E-bpf-file", f"'{path}': write --inner {name}=MAP for its inner maps")
        inner = table.entries.setdefault(key, Table(shape.inner))
        entries = row.get("entries", [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise refused("E-bpf-file", f"'{path}': {row!r} has no list of key and value")
        for each in entries:
            put_entry({name: inner}, {**each, "map": name}, path)
        return
    try:
        value = bytearray.fromhex(row["value"])
    except (KeyError, TypeError, ValueError):
        raise refused("E-bpf-file", f"'{path}': {row!r} has no value in hexadecimal") from None
    if len(value) != shape.value_size:
        raise refused("E-bpf-file", f"'{path}': values of '{name}' have {shape.value_size} bytes")
    table.entries[key] = value
    if len(table.entries) > shape.max_entries:
        raise refused("E-bpf-file", f"'{path}': '{name}' holds {shape.max_entries} entries at most")


def _place(shape, table, name, key, path):
    """The key under which the kernel keeps what `key` names: of an LPM_TRIE only the bits of the prefix
    count. Refuses one for which it has no place, or that has one already.
    """
    given = key
    if shape.kind in INDEXED:
        index = int.from_bytes(key, "little")
        if index >= shape.max_entries:
            raise refused(
                "E-bpf-file",
                f"'{path}': '{name}' has the indices 0..{shape.max_entries - 1}, not {index}",
            )
    elif shape.kind == "LPM_TRIE":
        length, most = int.from_bytes(key[:PREFIX], "little"), 8 * (len(key) - PREFIX)
        if length > most:
            raise refused(
                "E-bpf-file",
                f"'{path}': a prefix of '{name}' has at most {most} bits, not {length}",
            )
        bits = int.from_bytes(key[PREFIX:], "big") >> most - length << most - length
        key = key[:PREFIX] + bits.to_bytes(len(key) - PREFIX, "big")
    if key in table.entries:
        raise refused("E-bpf-file", f"'{path}': '{name}' has the key {given.hex()} twice")
    return key
