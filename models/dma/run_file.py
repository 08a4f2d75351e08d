"""Inputs: what a block is asked to do, as JSON, in the words of ../shared/truth/axi/README.md.

A run is {"design": NAME, "config": {...}, ...}; what stands in `config` and in the rest is said by
the design's bench. What is not given has the default said there.
"""


import lpn
from lpn.runs import json_data, json_lines, unpacked

__all__ = ["Run", "checked", "only", "read", "read_all", "refuse", "whole"]


# What a run has beside its config, and what was measured of it: of data movers, and of blocks with masters.
_ABOUT = ("run", "design", "config", "style", "seed", "completed", "cycles_total")
_PORTS = ("axi_fifo", "axi_crossbar")
_ENTRIES = {
    False: (*_ABOUT, "descriptors", "read_bursts", "write_bursts", "packets", "transfers"),
    True: (*_ABOUT, "masters", "slave_side"),
}


class Run(dict):
    """A run; str() is its name."""

    def __str__(self):
        return str(self.get("run", self.get("design")))


def refuse(text):
    """The error that says what is wrong with an input."""
    return lpn.Error("E-input", text)


def read(path):
    """The Run in a JSON file, or run NAME of a file of many, FILE.jsonl.gz#NAME.

    Raises Error "E-input".
    """
    path, _, name = str(path).partition("#")
    if not name:
        try:
            run = json_data(_data(path))
        except ValueError as error:
            hint = "; one run of a file of many is FILE#NAME" if "jsonl" in path else ""
            raise refuse(f"{path} is not JSON: {error}{hint}") from None
        if not isinstance(run, dict):
            raise refuse(f'{path} must be a run, {{"design": ..., "config": ...}}')
        return Run(run)
    names, found = [], []
    for run in read_all(path):
        if str(run) == name:
            found.append(run)
        names.append(str(run))
    if len(found) > 1:
        raise refuse(f"{path} has {len(found)} runs '{name}'; give each a name of its own, 'run'")
    if found:
        return found[0]
    raise refuse(f"{path} has no run '{name}'; it has {', '.join(names[:3])}, ... ({len(names)})")


def read_all(path):
    """Every Run of a file with one JSON object per line, packed by gzip or not."""
    try:
        for number, run in json_lines(path, _data(path)):
            if not isinstance(run, dict):
                raise refuse(f"{path}, line {number}: a run is an object, {{...}}")
            yield Run(run)
    except ValueError as error:
        raise refuse(str(error)) from None


def _data(path):
    try:
        return unpacked(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refuse(f"cannot read {path}: {reason}") from None


def whole(about, what, value, least, most):
    """`value`, when it is a whole number in least..most. Raises Error "E-input"."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refuse(f"{about}: '{what}' must be a whole number {least}..{most}, got {value!r}")
    return value


def only(about, entries, known):
    """Raises Error "E-input" for an entry that is not `known`: nothing would read it."""
    for entry in entries:
        if entry not in known:
            raise refuse(f"{about}: there is no '{entry}'; known are: {', '.join(known)}")


def checked(run, known):
    """The run with every entry of its config; `known`: {entry: (default, what may stand there)},
    a range (least, most), a list of values, or "pattern": [n, d], active in cycles with cycle mod d
    below n.

    Raises Error "E-input" for an entry that is not known or a value that may not be there.
    """
    only(run, run, _ENTRIES[run["design"] in _PORTS])
    config = run.get("config", {})
    if not isinstance(config, dict):
        raise refuse(f"{run}: 'config' must be an object, {{...}}")
    for entry in config:
        if entry not in known:
            raise refuse(f"{run}: config has no '{entry}'; it has: {', '.join(known)}")
    filled = {}
    for entry, (default, allowed) in known.items():
        value = config.get(entry, default)
        if allowed == "pattern":
            value = _pattern(run, entry, value)
        elif isinstance(allowed, tuple):
            whole(run, entry, value, *allowed)
        elif value not in allowed or isinstance(value, bool):
            of = ", ".join(map(str, allowed))
            raise refuse(f"{run}: '{entry}' must be one of {of}, got {value!r}")
        filled[entry] = value
    return Run({**run, "config": filled})


def _pattern(run, entry, value):
    if not (isinstance(value, list) and len(value) == 2):
        raise refuse(f"{run}: '{entry}' must be [n, d], got {value!r}")
    whole(run, entry, value[1], 1, 1024)
    whole(run, entry, value[0], 1, value[1])
    return value
