"""Sequences of commands: files, markings, and rows of measured ones."""

import os

import lpn
from lpn.runs import json_data, prepare, read_json, unpacked

from . import trace
from .device import LONGEST, codes, named
from .standard import LAST, beside, standard
from .trace import Requests, Trace

__all__ = ["Sequence", "Times", "marking", "truth_rows"]


def wrong(text):
    """The error of a sequence that cannot be used."""
    return lpn.Error("E-dram-sequence", text)


class Sequence:
    """Commands in their order, of one part: `commands` are (command, coordinate, not before,
    only asks).
    """

    def __init__(self, name, standard, commands):
        self.name = name
        self.standard = standard
        self.commands = commands

    def __str__(self):
        return self.name

    @classmethod
    def of(cls, input):
        """The Sequence or Trace of a file; or itself, when it is one."""
        return input if isinstance(input, (cls, Trace)) else trace.read(input) or cls.read(input)

    @classmethod
    def read(cls, path):
        """A JSON file {"part", "organisation", "commands": [[command, coordinate, not before]]};
        `not before` is a cycle and may be left out, a fourth entry, "ask", only asks. A part is the
        name of a standard or a .toml file, beside this one. Raises Error "E-dram-sequence",
        "E-dram-part".
        """
        data = read_json(path, what="no JSON")
        if not isinstance(data, dict) or not isinstance(data.get("commands"), list):
            raise wrong(f'{path} must be {{"part": ..., "organisation": ..., "commands": [...]}}')
        unknown = sorted(set(data) - {"part", "organisation", "commands", "corrected"})
        if unknown:
            raise wrong(f"{path}: unknown '{unknown[0]}'")
        part = data.get("part", "")
        if not isinstance(part, str):
            raise wrong(f"{path}: part must be a name, got {part!r}")
        part = beside(os.path.dirname(os.path.abspath(path)), part)
        corrected = data.get("corrected", [])
        if not isinstance(corrected, list) or not all(isinstance(c, str) for c in corrected):
            raise wrong(f"{path}: corrected must be a list of deviations' names")
        made = standard(part, str(data.get("organisation", "full")), tuple(corrected))
        commands = []
        for number, row in enumerate(data["commands"]):
            commands.append(_command(path, number, row))
        return cls(str(path), made, commands)


def _command(path, number, row):
    """(command, coordinate, not before, asks) of a row of a file."""
    where = f"{path}, command {number}"
    if not isinstance(row, list) or not 2 <= len(row) <= 4 or not isinstance(row[0], str):
        raise wrong(f"{where}: must be [command, coordinate] or with the cycle before which it is")
    coordinate, not_before = row[1], row[2] if len(row) > 2 else 0
    if not isinstance(coordinate, list) or not all(type(n) is int for n in coordinate):
        raise wrong(f"{where}: the coordinate must be a list of numbers, got {coordinate!r}")
    if type(not_before) is not int or not 0 <= not_before <= LONGEST:
        raise wrong(f"{where}: not before must be a cycle, 0 to {LONGEST}, got {not_before!r}")
    if len(row) == 4 and row[3] != "ask":
        raise wrong(f'{where}: a fourth entry can only be "ask", got {row[3]!r}')
    return row[0], tuple(coordinate), not_before, len(row) == 4


def marking(sequence, net):
    """The tokens of a sequence. Raises Error "E-dram-sequence" for a command that the part lacks."""
    numbers = codes(sequence.standard)
    result = lpn.Marking(net)
    now = 0
    for number, (command, where, not_before, asks) in enumerate(sequence.commands):
        code = numbers.get((command, where))
        if code is None:
            raise wrong(
                f"{sequence}, command {number}: {_lacks(sequence.standard, command, where)}"
            )
        gap = max(0, not_before - now)
        now += gap
        result.add("program", code=code, gap=gap, asks=asks)
    _check_legal(sequence, net, result)
    return result


# What a place of the net says of a command that waits for ever: for a token in it, or for none.
_REASONS = {
    ("open", "no token"): "the bank is idle",
    ("open", "inhibited"): "a bank that must be idle is active",
    ("powered_down", "inhibited"): "the device is in power-down",
    ("powered_down", "no token"): "the device is not in power-down",
    ("asleep", "inhibited"): "the device is in self refresh",
    ("asleep", "no token"): "the device is not in self refresh",
    ("deep_powered_down", "inhibited"): "the device is in deep power-down",
    ("deep_powered_down", "no token"): "the device is not in deep power-down",
    ("off", "inhibited"): "no RESET since deep power-down",
    ("off", "no token"): "no RESET is due",
    ("owes_refresh", "inhibited"): "no refresh since self refresh",
    ("visited", "inhibited"): "the bank has been refreshed in this round",
    ("due", "no token"): "another bank is next in the round of refreshes",
    ("due", "inhibited"): "another bank is next in the round of refreshes",
    ("free", "no token"): "the activation window has too few slots left for ever",
    ("to_go", "no token"): "the round of refreshes waits for its last bank",
}


def _check_legal(sequence, net, marking):
    """Raises Error "E-dram-sequence" for a command that its part's state refuses. That does not
    depend on time, so a run as fast as can be tells.
    """
    run = lpn.simulate(net, marking, engine="interp", read=["issued", "asked"])
    if not run.stalled:
        return
    number = run.tokens["issued"] + run.tokens["asked"]
    command, where, *_ = sequence.commands[number]
    raise wrong(
        f"{sequence}, command {number}: {command} {list(where)} is refused: "
        f"{_reason(sequence.standard, net, run, command, where)}"
    )


def _reason(standard, net, run, command, where):
    """Why a command that has its turn never goes."""
    core = {t.name: t for t in net.core.transitions}
    found = {}
    for name, reason, arc in run.blocked:
        found[name] = (reason, arc)
    for variant in reversed(standard.variants(command)):  # the last of a round first
        name = named(variant, standard, where)
        reason, arc = found[name]
        place = next(a.place for a in core[name].inputs if a.name == arc)
        place = net.core.places[place].name
        if variant.endswith(LAST) and place.startswith("to_go"):
            continue
        kind, _, at = place.partition(".")
        return _REASONS[kind, reason] + (f" ({at})" if at else "")


def _lacks(standard, command, where):
    if command not in standard.kinds:
        return f"{standard.part} has no command {command}; it has {', '.join(standard.kinds)}"
    example = list(standard.places_of(command)[0])
    return (
        f"{command} cannot be given at {list(where)} in organisation "
        f"'{standard.organisation}' of {standard.part}; coordinates are "
        f"({', '.join(standard.levels)}), as {example}"
    )


def earliest(sequence, net) -> list:
    """[(command, coordinate, earliest cycle)] of the commands that go, in their order."""
    marking(sequence, net)  # refuses what is illegal, by its number in the sequence
    going = [c for c in sequence.commands if not c[3]]
    asking = []
    for command, where, not_before, _ in going:
        asking += [(command, where, 0, True), (command, where, not_before, False)]
    other = Sequence(sequence.name, sequence.standard, asking)
    run = prepare(net, marking(other, net)).run(collect=["asked"])
    return [(c, w, t) for (c, w, *_), t in zip(going, run.collected["asked"][1])]


class Times:
    """What was measured of a sequence: the cycle of each command and, of the same commands with
    idle gaps, [earliest cycle, cycle issued].
    """

    def __init__(self, sequence, cycles, gapped):
        self.sequence = sequence
        self.cycles = cycles
        self.gapped = gapped

    def compare(self, ready):
        """The run without gaps, and how many cycles of both are met."""
        run = ready.run(collect=["issued"])
        met = _equal(run.collected["issued"][1], self.cycles)
        if self.gapped:
            met += self._met_with_gaps(ready)
        return run, {"times": len(self.cycles) + len(self.gapped), "times_exact": met}

    def _met_with_gaps(self, ready):
        """Each command first asks when it could, and goes at the cycle given."""
        commands, before = [], 0
        for (command, where, *_), (_, issued) in zip(self.sequence.commands, self.gapped):
            commands += [(command, where, before, True), (command, where, issued, False)]
            before = issued
        other = Sequence(f"{self.sequence} with gaps", self.sequence.standard, commands)
        run = ready.on(other).run(collect=["asked"])
        return _equal(run.collected["asked"][1], [first for first, _ in self.gapped])


def _equal(found, expected):
    return sum(a == b for a, b in zip(found, expected))


def truth_rows(path):
    """Rows of lpn validate from a file of measured sequences, or of traces of a controller, one in
    JSON per line (.xz or not).
    """
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json_data(line)
            made = _trace_row(row) if "block" in row else _sequence_row(row)
        except KeyError as error:
            raise _no_row(path, number, f"there is no {error}") from None
        except (ValueError, TypeError, lpn.Error) as error:
            raise _no_row(path, number, error) from None
        yield made


def _no_row(path, number, reason):
    text = f"{path}, line {number}: no measured sequence or trace: {reason}"
    return lpn.Error("E-truth-file", text)


def _sequence_row(row):
    name, part, organisation = (_text(row, key) for key in ("id", "std", "org"))
    commands, gapped = row["cmds"], row.get("gapped", [])
    if not (
        isinstance(commands, list)
        and commands
        and all(isinstance(c, list) and len(c) == 3 for c in commands)
        and all(isinstance(c, str) and _whole(where) and _whole([t]) for c, where, t in commands)
    ):
        raise ValueError("'cmds' must be a list of [command, coordinate, cycle]")
    if not (
        isinstance(gapped, list)
        and len(gapped) in (0, len(commands))
        and all(_whole(cycles) and len(cycles) == 2 for cycles in gapped)
    ):
        raise ValueError("'gapped' must have [earliest cycle, cycle] for each command")
    going = [(c, tuple(where), 0, False) for c, where, _ in commands]
    cycles = [cycle for _, _, cycle in commands]
    sequence = Sequence(name, standard(part, organisation), going)
    return sequence, {}, cycles[-1], Times(sequence, cycles, gapped)


def _trace_row(row):
    name, part, writes = (_text(row, key) for key in ("name", "part", "write"))
    columns = [row[key] for key in ("arrive", "block", "accept", "done")]
    if not all(_whole(values) and len(values) == len(writes) > 0 for values in columns):
        raise ValueError("'arrive', 'block', 'accept' and 'done' must have a number per request")
    if set(writes) - {"0", "1"}:
        raise ValueError("'write' must have 0 or 1 per request")
    arrive, block, accept, done = columns
    requests = Trace(name, part, arrive, block, [w == "1" for w in writes])
    measured = Requests(requests, accept, done)
    return requests, {}, measured.mean, measured


def _text(row, key):
    if not isinstance(row[key], str):
        raise ValueError(f"'{key}' must be text, got {row[key]!r:.40}")
    return row[key]


def _whole(values):
    return isinstance(values, list) and all(type(value) is int for value in values)


def _lines(path):
    try:
        return unpacked(path).splitlines()
    except OSError as error:
        raise lpn.Error("E-input", f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise lpn.Error("E-truth-file", str(error)) from None
