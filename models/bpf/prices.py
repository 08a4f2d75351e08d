"""Cost tables: what an instruction, a memory access and a helper cost, as TOML.

    about = "which machine, measured how"
    packet = 90                        once per packet; 0 where nothing is said

    [instructions]                     alu, mul, div: of 64 and 32 bits; or alu64, alu32, ... apart
    alu = 1
    mul = 3
    div = 20
    swap = 1                           byte order
    lddw = 1
    jump = {taken = 2, not_taken = 1}  or one number for both
    goto = 1
    call = 2                           of a function of the object
    exit = 2

    [memory]                           ctx, pkt, stack, map; load, store, atomic
    pkt = {load = 4, store = 4}
    stack = {load = 4, store = 4}

    [helpers]                          the call with all that the helper does
    ktime_get_ns = 25
    map_lookup_elem = {ARRAY = 5, LPM_TRIE = 200}    by type of map, or one number
    map_lookup_elem.HASH = {base = 70, chain = 12}   and 12 for each of what is called MAP.chain

A name beside `base` is a performance-critical variable: how often a helper does something that no
packet and map state of this model tells, as the steps of a hash chain. Costs are formulas in them.

Numbers are whole cycles, 0 to 100000. What a program uses and no table prices is an error, never 0.
"""

import os
from dataclasses import dataclass, field

from lpn.runs import toml_data

from . import helpers as h
from .errors import refused
from .objects import MAP_TYPES

__all__ = ["Prices", "read"]

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "costs")
MOST = 100_000
WIDE = ("alu", "mul", "div")
INSTRUCTIONS = (*(f"{kind}{bits}" for kind in WIDE for bits in (64, 32)),) + (
    "swap", "lddw", "goto", "call", "exit",
)  # fmt: skip
REGIONS = ("ctx", "pkt", "stack", "map")
ACCESSES = {"ld_": "load", "st_": "store", "atomic_": "atomic"}
_GROUPS = {"mul": "mul", "div": "div", "mod": "div", "sdiv": "div", "smod": "div"}
_SWAPS = ("le", "be", "bswap")


@dataclass
class Prices:
    """What `read` found. `name`: of the tables, for headers and errors."""

    name: str = ""
    about: tuple = ()
    packet: int = 0
    instructions: dict = field(default_factory=dict)
    memory: dict = field(default_factory=dict)
    helpers: dict = field(default_factory=dict)

    def instruction(self, one, where):
        """Of one that is no jump and no call of a helper; 0 for loads and stores, which are accesses."""
        kind = one.kind
        if kind in ("load", "store", "atomic"):
            return 0
        if kind == "alu":
            kind = "swap" if one.op in _SWAPS else f"{_GROUPS.get(one.op, 'alu')}{one.bits}"
        return self._of(self.instructions, kind, f"[instructions] {kind}", where)

    def jump(self, taken, where):
        key = "taken" if taken else "not_taken"
        return self._of(self.instructions.get("jump", {}), key, f"[instructions] jump.{key}", where)

    def access(self, how, region, where):
        """`how`: ld_, st_ or atomic_; `region`: ctx, pkt, stack or map."""
        kind = ACCESSES[how]
        return self._of(self.memory.get(region, {}), kind, f"[memory] {region}.{kind}", where)

    def helper(self, name, kind, where):
        """(cycles, {variable: cycles for each}). `kind`: the type of the map it is given, or None."""
        price = self._of(self.helpers, name, f"[helpers] {name}", where)
        if isinstance(price, dict):
            price = self._of(price, kind, f"[helpers] {name}.{kind or 'without a map'}", where)
        if isinstance(price, dict):
            return price["base"], {k: v for k, v in price.items() if k != "base"}
        return price, {}

    def most(self):
        """What one instruction costs at most."""
        found = [v for k, v in self.instructions.items() if k != "jump"]
        found += self.instructions.get("jump", {}).values()
        found += [v for each in self.memory.values() for v in each.values()]
        for each in self.helpers.values():
            found += each.values() if isinstance(each, dict) else [each]
        return max((f["base"] if isinstance(f, dict) else f for f in found), default=0)

    def _of(self, table, key, what, where):
        if key not in table:
            raise refused(
                "E-bpf-costs",
                f"{self.name} has no price '{what}', which instruction {where()} needs; add it"
                " there, or in a further --costs FILE",
            )
        return table[key]


def read(paths):
    """The Prices of cost tables, a later one before an earlier one where both have a price. A path
    may be the name of a shipped table ("nfp"). Raises Error E-bpf-costs for what is no table.
    """
    out = Prices(name=" and ".join(map(os.path.basename, paths)))
    for path in paths:
        _add(out, path, _toml(path))
    return out


def shipped():
    """Names of the tables that come with the model."""
    return sorted(name.removesuffix(".toml") for name in os.listdir(SHIPPED))


def _toml(path):
    if not os.path.isfile(path) and path in shipped():
        path = os.path.join(SHIPPED, f"{path}.toml")
    try:
        with open(path, "rb") as file:
            return toml_data(file.read())
    except OSError as wrong:
        names = ", ".join(shipped())
        raise refused(
            "E-bpf-costs", f"cannot read '{path}': {wrong.strerror}; shipped tables: {names}"
        ) from None
    except ValueError as wrong:
        raise refused("E-bpf-costs", f"'{path}' is no TOML: {wrong}") from None


def _add(out, path, data):
    _known(path, "", data, ("about", "packet", "instructions", "memory", "helpers"))
    if "about" in data:
        out.about += (" ".join(str(data["about"]).split()),)
    out.packet = _number(path, "packet", data.get("packet", out.packet))
    for name, price in _table(path, "instructions", data).items():
        _instruction(out, path, name, price)
    for region, prices in _table(path, "memory", data).items():
        _known(path, "memory.", {region: 0}, REGIONS)
        mine = out.memory.setdefault(region, {})
        _known(
            path, f"memory.{region}.", _table(path, f"memory.{region}", prices), ACCESSES.values()
        )
        for kind, price in prices.items():
            mine[kind] = _number(path, f"memory.{region}.{kind}", price)
    for name, price in _table(path, "helpers", data).items():
        _known(path, "helpers.", {name: 0}, h.MODELLED)
        if isinstance(price, dict):
            had = out.helpers.get(name)
            _known(path, f"helpers.{name}.", price, MAP_TYPES)
            mine = dict(had) if isinstance(had, dict) else {}
            for kind, each in price.items():
                mine[kind] = _helper(path, f"helpers.{name}.{kind}", each)
            out.helpers[name] = mine
        else:
            out.helpers[name] = _number(path, f"helpers.{name}", price)


def _helper(path, name, price):
    """A number, or {base, variables}."""
    if not isinstance(price, dict):
        return _number(path, name, price)
    if "base" not in price:
        raise refused("E-bpf-costs", f"'{path}': {name} has no base; write base = 0")
    for key in price:
        if not key.isidentifier():
            raise refused("E-bpf-costs", f"'{path}': {name}: '{key}' cannot name a variable")
    return {key: _number(path, f"{name}.{key}", value) for key, value in price.items()}


def _instruction(out, path, name, price):
    _known(path, "instructions.", {name: 0}, (*WIDE, *INSTRUCTIONS, "jump"))
    if name == "jump" and isinstance(price, dict):
        _known(path, "instructions.jump.", price, ("taken", "not_taken"))
        mine = out.instructions.setdefault("jump", {})
        mine.update({k: _number(path, f"instructions.jump.{k}", v) for k, v in price.items()})
        return
    number = _number(path, f"instructions.{name}", price)
    if name == "jump":
        out.instructions["jump"] = {"taken": number, "not_taken": number}
    elif name in WIDE:
        out.instructions[f"{name}64"] = out.instructions[f"{name}32"] = number
    else:
        out.instructions[name] = number


def _table(path, name, data):
    found = data.get(name, {}) if "." not in name else data
    if not isinstance(found, dict):
        raise refused("E-bpf-costs", f"'{path}': {name} must be a table, got {found!r}")
    return found


def _known(path, prefix, data, known):
    for name in data:
        if name not in known:
            raise refused(
                "E-bpf-costs", f"'{path}': there is no {prefix}{name}; write {', '.join(known)}"
            )


def _number(path, name, value):
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise refused(
            "E-bpf-costs", f"'{path}': {name} must be a whole number, 0 to {MOST}, got {value!r}"
        )
    return value
