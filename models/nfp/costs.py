"""The cost table of the NFP as data: costs.json beside this file, or a user's own."""

import os

__all__ = ["load", "BUNDLED"]

BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "costs.json")
WHOLE = {
    "islands",
    "cores_per_island",
    "threads",
    "overhead",
    "instruction",
    "branch_not_taken",
    "branch_taken",
    "branch_taken_late",
    "jump",
    "access",
    "swap",
    "distance_sram",
    "distance_dram",
    "min_packet",
    "max_packet",
    "ports",
    "frame_overhead",
}
UNKNOWN_ALLOWED = {"dram_write"}


def load(path=None):
    """{name: value} of the bundled table, with what the table in the file `path` replaces.

    A file has the form of costs.json, with any of its names. Raises Error E-nfp-costs for a file
    that is no such table.
    """
    out, units = _read(BUNDLED)
    if path is not None:
        own, its_units = _read(path)
        unknown = sorted(set(own) - set(out))
        if unknown:
            raise _error(path, f"'{unknown[0]}' is no cost; the table has {', '.join(out)}")
        for name, unit in its_units.items():
            if unit != units[name]:
                raise _error(path, f"'{name}' is counted in {units[name]}, not in {unit!r}")
        if own.get("threads", out["threads"]) != out["threads"]:
            raise _error(
                path,
                f"'threads' is {out['threads']}, by which distance_sram and distance_dram are as they "
                "are; write these of your NIC, and leave 'threads' out",
            )
        out.update(own)
    if out["min_packet"] > out["max_packet"] or out["max_packet"] >= 1 << 14:
        raise _error(path or BUNDLED, "packet sizes must satisfy min_packet <= max_packet < 16384")
    return out


def _read(path):
    """({name: value}, {name: unit}) of a file."""
    from lpn.runs import read_json

    table = read_json(path, "E-nfp-costs")
    if not isinstance(table, dict):
        raise _error(path, 'is no JSON object; write {"overhead": {"value": 224, "source": "..."}}')
    out, units = {}, {}
    for name, entry in table.items():
        if name == "about":
            continue
        if isinstance(entry, dict):
            unknown = next((key for key in entry if key not in ("value", "unit", "source")), None)
            if unknown is not None:
                raise _error(
                    path, f"'{name}' has an unknown '{unknown}'; an entry has value, unit, source"
                )
            if "unit" in entry:
                units[name] = entry["unit"]
        value = entry.get("value") if isinstance(entry, dict) else entry
        if (
            value is None
            and isinstance(entry, dict)
            and "value" in entry
            and name in UNKNOWN_ALLOWED
        ):
            out[name] = None
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
            raise _error(path, f"'{name}' needs a number that is not negative")
        if name in WHOLE and value != int(value):
            raise _error(path, f"'{name}' needs a whole number, not {value}")
        out[name] = int(value) if name in WHOLE else float(value)
    for name in ("clock_hz", "mac_rate", "ports", "port_rate"):
        if out.get(name) == 0:
            raise _error(path, f"'{name}' must be above 0")
    for name in ("margin_program", "margin_mac"):
        if out.get(name, 0) >= 100:
            raise _error(path, f"'{name}' must be below 100 %")
    return out, units


def _error(path, message):
    from lpn import Error

    return Error("E-nfp-costs", f"{path}: {message}")
