"""A DRAM standard as data: the TOML description of its commands, state and timing rules.

The ten descriptions lie in standards/; a part of a vendor is a file of its own that names one of
them as its `base` and changes parameters, organisations or deviations. README.md has the format.
A command is placed by a coordinate, a tuple of numbers outermost first, in which -1 stands for a
whole level: (rank, bank group, bank) = (0, -1, -1) is rank 0.
"""

import ast
import functools
import itertools
import math
import os
import re
from fractions import Fraction

from lpn.runs import read_toml

from . import address, dramsim, scheduled, tables
from .tables import wrong

__all__ = ["FILES", "LAST", "Standard", "beside", "names", "standard"]

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standards")

# How the name of a part's file ends: a description as README.md has it, DRAMsim3's configuration.
FILES = (".toml", ".ini")

# The refresh that ends a round of single banks: a command by its own name in the rules.
LAST = "_LAST"

# A transition has at most so many output arcs (docs/semantics.md), and one sorts all commands.
MOST = 1000
LARGEST = 2**30  # what a parameter can be, in cycles

# What a command does -> the level at which it is given.
KINDS = {
    "activate": "bank",
    "access": "bank",
    "access precharge": "bank",
    "precharge": "bank",
    "refresh": "bank",
    "precharge all": "refresh",
    "refresh all": "refresh",
    "power down": "power",
    "power up": "power",
    "sleep": "power",
    "wake": "power",
    "deep power down": "power",
    "deep power up": "power",
    "reset": "power",
}

# Entries of the read queue, the write buffer and the queue of a bank; more writes than that drain when
# no bank has work; accesses that an open row serves before an older request may close it. DRAMsim3's,
# which has the last two in its code (commit 2981759).
POLICY = {
    "read_queue": 32,
    "write_buffer": 32,
    "bank_queue": 8,
    "drain_idle": 8,
    "row_accesses": 4,
}
MOST_ENTRIES, MOST_BANK_QUEUE = 1024, 64
_CONTROLLER = {
    "page",
    "request_bytes",
    "channels",
    "dual_command",
    "join",
    "address",
    "hash",
    *POLICY,
}

_TABLES = (
    "organisations",
    "parameters",
    "commands",
    "windows",
    "buses",
    "round",
    "deviations",
    "controller",
)


def names() -> list[str]:
    """The standards that come with the project."""
    return [name.removeprefix("standards/") for name in _names("standards")]


def beside(folder, part):
    """A part as a file in the folder calls it: a name, or the path of a file that lies beside it."""
    return os.path.join(folder, part) if part.endswith(FILES) else part


def _names(folder):
    files = os.listdir(os.path.join(os.path.dirname(_FOLDER), folder))
    return sorted(f"{folder}/{file[:-5]}" for file in files if file.endswith(".toml"))


def standard(part: str, organisation: str = "full", corrected: tuple = ()) -> "Standard":
    """The Standard of a bundled name ("ddr4") or of a part's file (FILES), in an organisation
    that it names, without the deviations `corrected`. Raises Error "E-dram-part".
    """
    stamp = None
    if part.endswith(FILES) and os.path.isfile(part):  # a file may change while a program runs
        about = os.stat(part)
        stamp = about.st_mtime_ns, about.st_size, about.st_ino
    return _standard(part, organisation, corrected, stamp)


@functools.cache
def _standard(part, organisation, corrected, stamp):
    data = _read(part)
    try:
        return Standard(data, part, organisation, corrected)
    except (TypeError, AttributeError, KeyError, ValueError) as error:  # of another kind of value
        raise wrong(f"{part} is not described as models/dram/README.md says: {error!r}") from None


def _read(part):
    """The description as tables, its base filled in."""
    path = part if part.endswith(FILES) else os.path.join(_FOLDER, f"{part}.toml")
    if not part.endswith(FILES) and part not in names():
        raise wrong(
            f"there is no standard '{part}'; there are {', '.join(names())}; a part of your own is "
            "a file that ends in .toml or .ini"
        )
    data = dramsim.described(path) if path.endswith(".ini") else read_toml(path, "E-dram-part")
    known = {"base", "coordinate", "power", "refresh", "rules", "corrected", *_TABLES}
    unknown = sorted(set(data) - known)
    if unknown:
        raise wrong(f"{path}: unknown '{unknown[0]}'; known are {', '.join(sorted(known))}")
    for table in ("rules", *_TABLES):
        if not isinstance(data.get(table, {}), dict):
            raise wrong(f"{path}: {table} must be a table, [{table}]")
    if "base" not in data:
        return data
    bases = [*names(), *_names("controllers")]
    if data["base"] not in bases:
        raise wrong(f"{path}: base must be one of {', '.join(bases)}, got {data['base']!r}")
    where = "" if data["base"] in names() else os.path.dirname(_FOLDER)
    base = _read(os.path.join(where, data["base"]) + (".toml" if where else ""))
    _check_known(path, data, base)
    merged = {**base, **data}
    for table in ("rules", *_TABLES):
        if table in base or table in data:
            merged[table] = {**base.get(table, {}), **data.get(table, {})}
    return merged


def _check_known(path, data, base):
    """That a file gives no parameter that neither its base nor a formula of its own knows."""
    text = str([data.get(table) for table in ("rules", "windows", "deviations")])
    known = set(base.get("parameters", {})) | set(re.findall(r"[A-Za-z_]\w*", text))
    known |= set(tables.OF_CONTROLLERS) if "controller" in data else set()
    unknown = sorted(set(data.get("parameters", {})) - known)
    if unknown:
        raise wrong(
            f"{path}: parameter {unknown[0]} is used nowhere; '{data['base']}' has "
            f"{', '.join(sorted(base.get('parameters', {})))}"
        )


class Standard:
    """Commands, state and least distances of one organisation of a part.

    `sizes`: how many units each level of a coordinate has in the one above. `kinds`: command ->
    what it does. `banks`, `units`, `devices`: coordinates of all banks, of what is refreshed and of
    what powers down as a whole. `windows`: [(name, slots, cycles, whether slots are lost)].
    `deviations`: name -> text of those that act.
    """

    def __init__(self, data, part, organisation, corrected=()):
        self.part = part
        self.organisation = organisation
        lacking = [k for k in ("coordinate", "power", "refresh", "commands") if k not in data]
        if lacking:
            raise wrong(f"{part} lacks '{lacking[0]}', or a `base` that has it")
        tables.check(part, data)
        self._data = data
        self.levels = data["coordinate"]
        self.kinds = data["commands"]
        self.controller = data.get("controller")
        if self.controller is not None:
            self._check_controller()
        self._check_commands()
        self._read_round()
        self._read_organisation(organisation)
        self._read_deviations(tuple(data.get("corrected", ())) + tuple(corrected))
        self._read_windows_and_buses()
        self._rules = self._read_rules()

    # What stands in the file.

    def _check_commands(self):
        for command, kind in self.kinds.items():
            if kind not in KINDS:
                raise wrong(
                    f"{self.part}: command {command} is {kind!r}; it must be one of "
                    f"{', '.join(KINDS)}"
                )
        for key in ("power", "refresh"):
            if self._data[key] not in ("device", self.levels[0]):
                raise wrong(
                    f"{self.part}: {key} must be 'device' or '{self.levels[0]}', the outermost "
                    f"level, got {self._data[key]!r}"
                )

    def _check_controller(self):
        c = self.controller
        unknown = sorted(set(c) - _CONTROLLER)
        if unknown:
            raise wrong(
                f"{self.part}: unknown '{unknown[0]}' in [controller]; known are "
                f"{', '.join(sorted(_CONTROLLER))}"
            )
        lacking = {"ACT", "RD", "RDA", "WR", "WRA", "PRE", "REF"} - set(self.kinds)
        if lacking:
            raise wrong(f"{self.part}: a controller needs the command {min(lacking)}")
        if c.get("page") not in ("open", "closed"):
            raise wrong(f"{self.part}: page of controller must be open or closed")
        sizes = {
            "request_bytes": (1, 2**20),
            "channels": (1, 64),
            **{key: (1, MOST_ENTRIES) for key in POLICY},
            "bank_queue": (1, MOST_BANK_QUEUE),
            "drain_idle": (0, self.policy("write_buffer")),
        }
        for key, (least, most) in sizes.items():
            number = c.get(key, {"channels": 1, **POLICY}.get(key))
            if type(number) is not int or not least <= number <= most:
                raise wrong(
                    f"{self.part}: {key} of controller must be a number, {least} to {most}, got "
                    f"{number!r}"
                )
        for key in ("dual_command", "join"):
            if type(c.get(key, False)) is not bool:
                raise wrong(f"{self.part}: {key} of controller must be true or false")
        full = self._data.get("organisations", {}).get("full", {})
        address.check(self.part, c, self.levels, full)
        bits = dict(c["address"])
        self.row_bits = bits["row"]
        self.blocks = 2 ** sum(bits.values())

    @property
    def joins(self):
        """Whether requests of one block that are under way are joined."""
        return self.controller.get("join", True)

    def policy(self, key):
        """A number of POLICY, as [controller] has it or by default."""
        return self.controller.get(key, POLICY[key])

    def check_scheduled(self):
        """Raises Error "E-dram-part" for what the net of the controller has no place for."""
        scheduled.check(self, self._data)

    def _read_organisation(self, organisation):
        choices = self._data.get("organisations", {})
        if organisation not in choices:
            raise wrong(
                f"{self.part} has no organisation '{organisation}'; it has "
                f"{', '.join(choices) or 'none'}"
            )
        self.sizes = choices[organisation]
        counts = [range(n) for n in self.sizes.values()]
        self.banks = list(itertools.product(*counts))
        self._whole = {
            "device": [(-1,) * len(self.levels)],
            self.levels[0]: [(k,) + (-1,) * (len(self.levels) - 1) for k in counts[0]],
        }
        self.units = self._whole[self._data["refresh"]]
        self.devices = self._whole[self._data["power"]]
        given = sum(len(self.places_of(c)) for c in self.kinds)
        if given > MOST:
            raise wrong(
                f"{self.part}: organisation '{organisation}' has {given} commands, counted at each "
                f"coordinate; at most {MOST} are possible"
            )

    def _read_round(self):
        self.round = self._data.get("round")
        if self.round is None:
            return
        order, cleared_by = self.round.get("order"), self.round.get("cleared_by", [])
        if order not in ("any", "fixed") or not isinstance(cleared_by, list):
            raise wrong(f"{self.part}: round must have order, any or fixed, and list cleared_by")
        if self.round.get("pairs") not in (None, *self.levels):
            raise wrong(f"{self.part}: the pairs of round must be a level of the coordinate")
        self.round = {**self.round, "cleared_by": cleared_by}

    def _read_deviations(self, corrected):
        known = self._data.get("deviations", {})
        for name in corrected:
            if name not in known:
                raise wrong(
                    f"{self.part} has no deviation '{name}' to correct; it has "
                    f"{', '.join(known) or 'none'}"
                )
        self.deviations = {n: d["text"] for n, d in known.items() if n not in corrected}
        self.untimed = {c for n in self.deviations for c in known[n].get("untimed", ())}
        self.parameters = dict(self._data.get("parameters", {}))
        for name in corrected:
            self.parameters.update(known[name].get("parameters", {}))
        for name, value in self.parameters.items():
            if type(value) not in (int, float) or not 0 <= value <= LARGEST:
                raise wrong(
                    f"{self.part}: parameter {name} must be a number, 0 to {LARGEST}, got {value!r}"
                )

    def _read_windows_and_buses(self):
        self.windows = []
        for name, window in self._data.get("windows", {}).items():
            slots = window["slots"]
            lost = window.get("lost") in self.deviations
            self.windows.append((name, slots, max(1, self.cycles(window["cycles"])), lost))
        buses = self._data.get("buses")
        everything = frozenset(buses or ["commands"])
        self._buses = {}
        for command in self.kinds:
            own = frozenset(b for b, names in (buses or {}).items() if command in names)
            self._buses[command] = own or everything

    def _read_rules(self):
        """[(scope, from, to, cycles)], one of each pair of commands."""
        rules = []
        for scope, rows in self._data.get("rules", {}).items():
            if scope not in self.scopes:
                raise wrong(
                    f"{self.part}: there is no scope '{scope}' in rules; there are "
                    f"{', '.join(self.scopes)}"
                )
            for row in rows:
                rules.extend(self._rule(scope, row))
        return rules

    def _rule(self, scope, row):
        if not isinstance(row, list) or len(row) not in (3, 4) or not all(map(_is_text, row)):
            raise wrong(f"{self.part}: a rule is [from, to, cycles] or has a condition, got {row}")
        condition = row[3] if len(row) == 4 else ""
        name = condition.removeprefix("not ")
        if condition and name not in self._data.get("deviations", {}):
            raise wrong(f"{self.part}: rule {row} names a deviation that is not described: {name}")
        if condition and (name in self.deviations) == condition.startswith("not "):
            return
        cycles = self.cycles(row[2])
        for first, second in itertools.product(row[0].split(), row[1].split()):
            for command in (first, second):
                if command not in self.kinds:
                    raise wrong(f"{self.part}: rule {row} names an unknown command, {command}")
            for a, b in itertools.product(self.variants(first), self.variants(second)):
                if a not in self.untimed and b not in self.untimed:
                    yield scope, a, b, cycles

    # Commands and where they go.

    @property
    def scopes(self):
        """The scopes that rules of this coordinate may have, from the narrowest to the widest."""
        inner = ["same", "pair", *reversed(self.levels[:-1])]
        return [*inner, f"other_{self.levels[0]}", "any"]

    def variants(self, command):
        """A command, and for a refresh of a bank the one that ends a round."""
        if self.kinds[command] == "refresh" and self.round and self.round["order"] == "any":
            return [command, command + LAST]
        return [command]

    def base(self, variant):
        """The command of a variant."""
        return variant.removesuffix(LAST)

    def places_of(self, command):
        """All coordinates at which a command can be given."""
        level = KINDS[self.kinds[command]]
        if level == "bank":
            return self.paired if self.kinds[command] == "refresh" else self.banks
        return self.units if level == "refresh" else self.devices

    @property
    def paired(self):
        """The coordinates of refreshes of single banks, or of pairs of them."""
        if not self.pairs:
            return self.banks
        half = self.sizes[self.pairs] // 2
        return [bank for bank in self.banks if bank[self.levels.index(self.pairs)] < half]

    @property
    def pairs(self):
        """The level by which banks are refreshed in pairs, None when one by one."""
        return (self.round or {}).get("pairs")

    def partner(self, bank):
        """The other bank of a pair, None when banks are single."""
        if not self.pairs:
            return None
        k = self.levels.index(self.pairs)
        half = self.sizes[self.pairs] // 2
        other = list(bank)
        other[k] = bank[k] + half if bank[k] < half else bank[k] - half
        return tuple(other)

    def unit_of(self, coordinate):
        """What is refreshed as a whole, of a bank."""
        return self._above(coordinate, "refresh")

    def device_of(self, coordinate):
        """What powers down as a whole, of a bank or unit."""
        return self._above(coordinate, "power")

    def _above(self, coordinate, key):
        if self._data[key] == "device":
            return (-1,) * len(self.levels)
        return coordinate[:1] + (-1,) * (len(self.levels) - 1)

    def share_a_bus(self, first, second):
        """Whether two variants are given over one bus. Where one has no cycle of it, they do not."""
        free = "last_refresh_free" in self.deviations
        if free and (first.endswith(LAST) or second.endswith(LAST)):
            return False
        return bool(self._buses[self.base(first)] & self._buses[self.base(second)])

    # Timing.

    def cycles(self, formula: str) -> int:
        """A formula over the parameters, in whole cycles, rounded up. Raises E-dram-part."""
        try:
            value = _value(ast.parse(formula, mode="eval").body, self.parameters)
        except KeyError as error:
            raise wrong(f"{self.part}: no parameter {error} for '{formula}'") from None
        except (SyntaxError, ValueError, ZeroDivisionError) as error:
            raise wrong(f"{self.part}: cannot compute '{formula}': {error}") from None
        return math.ceil(value)

    def reach(self, scope, coordinate):
        """Where a command at `coordinate` makes others wait, by a rule of `scope`: keys that
        waits_at() lists for those.
        """
        if scope == "same":
            return [coordinate]
        if scope == "any":
            return [()]
        if scope == "pair":
            partner = self.partner(coordinate) if -1 not in coordinate else None
            one_way = "pairs_one_way" in self.deviations and coordinate not in self.paired
            return [] if partner is None or one_way else [partner]
        if scope.startswith("other_"):
            return [(k,) for k in range(self.sizes[self.levels[0]]) if k != coordinate[0]]
        depth = self.levels.index(scope) + 1
        if coordinate[depth - 1] != -1:
            return [coordinate[:depth]]
        if coordinate[0] == -1 and depth == 1 and "device_commands_untimed" not in self.deviations:
            return [*((k,) for k in range(self.sizes[scope])), coordinate[:1]]
        return [coordinate[:1]] if depth == 1 else []

    def waits_at(self, scope, coordinate):
        """The keys of reach() by which a command at `coordinate` is made to wait."""
        if scope in ("same", "pair"):
            return [coordinate]
        if scope == "any":
            return [()]
        if scope.startswith("other_"):
            return [coordinate[:1]] if coordinate[0] != -1 else []
        depth = self.levels.index(scope) + 1
        if coordinate[depth - 1] == -1 and depth > 1:
            return []
        if coordinate[0] == -1 and "device_commands_untimed" not in self.deviations:
            return [coordinate[:1], *((k,) for k in range(self.sizes[scope]))]
        return [coordinate[:depth]]

    def distances(self):
        """{(scope, from): {to: cycles}} of variants, without what never makes anybody wait: no
        cycles, one cycle over a bus, and what a wider scope says as well.
        """
        table = {}
        for scope, a, b, cycles in self._rules:
            row = table.setdefault((scope, a), {})
            row[b] = max(cycles, row.get(b, cycles))
        for a, b in itertools.product(self._variants, repeat=2):
            if self.share_a_bus(a, b):
                row = table.setdefault(("any", a), {})
                row[b] = max(1, row.get(b, 1))
        order = ["same", *reversed(self.levels[:-1]), "any"]
        for scope, a in list(table):
            wider = order[order.index(scope) + 1 :] if scope in order else ["any"]
            rows = [table.get((w, a), {}) for w in wider]
            table[scope, a] = {
                b: n
                for b, n in table[scope, a].items()
                if n > max([0, *(r.get(b, 0) for r in rows)])
            }
        return {key: row for key, row in table.items() if row}

    def between(self):
        """A function (command, relation, later command) -> least cycles of two banks that are the
        "same", of one "group" (the innermost), one "rank" or "other" ranks; of a "unit" of
        refreshes and its banks, either way. Over the bus, one command a cycle, is not counted.
        """
        table = self.distances()
        widest, inner = self.levels[0], self.levels[1:-1]
        scopes = {"rank": [widest], "unit": [widest], "other": [f"other_{widest}"]}
        scopes["group"] = [*inner, widest]
        scopes["same"] = ["same", *scopes["group"]]

        def cycles(first, relation, second):
            found = [table.get((s, first), {}).get(second, 0) for s in [*scopes[relation], "any"]]
            found[-1] = found[-1] if found[-1] > 1 else 0
            return max(found)

        return cycles

    @property
    def _variants(self):
        return [v for c in self.kinds for v in self.variants(c)]


def _is_text(value):
    return isinstance(value, str)


def _value(node, parameters):
    """An arithmetic expression over parameters, exactly."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name):
        return Fraction(str(parameters[node.id]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, parameters)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, parameters), _value(node.right, parameters)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "max":
        if node.args and not node.keywords:
            return max(_value(each, parameters) for each in node.args)
    raise ValueError("a formula has numbers, parameters, + - * / and max()")
