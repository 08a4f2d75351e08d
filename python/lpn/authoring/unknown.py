"""Numbers and formulas that a recording is to tell: lpn.unknown()."""

from __future__ import annotations

import fnmatch
import sys
from contextlib import contextmanager
from typing import Any, NamedTuple

import _lpn

from .. import source
from ..errors import listed, mistake, without_place

__all__ = [
    "Alone",
    "Unknown",
    "Use",
    "forget",
    "require_known",
    "settle",
    "stands_alone",
    "unknown",
    "within_formula",
]

# (net, owner, part) of the formula that is being traced, innermost last.
_formulas: list[tuple[Any, str, str]] = []

_MOST = 1 << 31
_RANGES = {
    "delay": (0, _MOST),
    "interval": (0, _MOST),
    "servers": (1, 1 << 20),
    "capacity": (1, 1 << 20),
    "init": (0, 1 << 20),
}


class Use(NamedTuple):
    """Where an unknown of a net stands: `part` of the transition or place `owner`."""

    kind: str  # "transition" or "place"
    owner: str
    part: str

    def __str__(self):
        return f"{self.part} of {self.kind} '{self.owner}'"


class Unknown:
    """An unknown of a net, a parameter of the net by the same name.

    `open`: a formula of which not even the shape is given. `uses`: where it stands. `calls`: (file,
    line, end line, column, end column) of each call, None where it is not known.
    """

    __slots__ = ("calls", "name", "open", "uses")

    def __init__(self, name: str, shapeless: bool, uses: list[Use], calls: list[tuple | None]):
        self.name, self.open, self.uses, self.calls = name, shapeless, uses, calls


def unknown(name: str | None = None, *, least: int | None = None) -> Any:
    """A number, or with `delay=` and `interval=` a formula, that `lpn fit` finds from recordings.

    Alone it leaves everything open: `delay=lpn.unknown()` may become any formula of the grammar over
    the tokens' properties. Inside a function it is one whole number, and the function is the shape:
    `delay=lambda pkt: lpn.unknown() * pkt.words + lpn.unknown()`. Uses with the same `name` are the
    same number. `least`: no value below it; a register has a delay of at least 1. By default 0, inside
    of a function any. A net with unknowns can be checked and drawn, and is refused by every engine.
    """
    if name is not None and not (isinstance(name, str) and _lpn.is_name(name)):
        raise mistake("E-name", f"{name!r} cannot name an unknown: use letters, digits, _ and dots")
    if least is not None and (isinstance(least, bool) or not isinstance(least, int)):
        raise mistake("E-operand", f"least is an int, got {least!r}")
    alone = Alone(name, _call_site(), least)
    return alone._expr() if _formulas else alone


class Alone:
    """What lpn.unknown() is outside of a formula; it computes inside of one only."""

    def __init__(self, name, at, least=None):
        self._name = name
        self._at = at
        self._least = least

    def _expr(self):
        if not _formulas:
            raise mistake(
                "E-unknown",
                "an unknown has no value to compute with; compute in the function: "
                "delay=lambda pkt: lpn.unknown() + pkt.words",
            )
        net, owner, part = _formulas[-1]
        name = self._name
        if name is None:
            stem = name = f"{owner}.{part}"
            number = 1
            while name in net._params and not self._same(net._unknowns.get(name)):
                number += 1
                name = f"{stem}{number}"
        least = -_MOST if self._least is None else self._least
        return _declare(net, name, self._at, "transition", owner, part, (least, _MOST))

    def _same(self, other):
        """Whether an unknown is of this call: a function is run once per path."""
        return other is not None and not other.open and self._at in other.calls


def _number(name):
    def method(self, *others):
        return getattr(self._expr(), name)(*others)

    return method


for _name in (
    *("add", "sub", "mul", "floordiv", "mod", "truediv", "lshift", "rshift", "and", "or", "xor"),
    *("pow",),
):
    setattr(Alone, f"__{_name}__", _number(f"__{_name}__"))
    setattr(Alone, f"__r{_name}__", _number(f"__r{_name}__"))
for _name in ("neg", "abs", "lt", "le", "gt", "ge", "bool"):
    setattr(Alone, f"__{_name}__", _number(f"__{_name}__"))


def _call_site():
    frame = sys._getframe(2)
    positions = next(
        (p for k, p in enumerate(frame.f_code.co_positions()) if k == frame.f_lasti // 2), None
    )
    if positions is None or positions[0] is None:
        return None
    return (frame.f_code.co_filename, *positions)


@contextmanager
def within_formula(net, owner, part):
    """While a function of `part` of the transition `owner` is traced."""
    _formulas.append((net, owner, part))
    try:
        yield
    finally:
        _formulas.pop()


def _declare(net, name, at, kind, owner, part, range):
    """The parameter that stands for an unknown, made when it is new."""
    use = Use(kind, owner, part)
    known = net._unknowns.get(name)
    if known is None:
        default = min(max(1, range[0]), range[1])
        expr = net._unknown_param(name, default, range)
        net._unknowns[name] = Unknown(name, False, [use], [at])
        return expr
    if at not in known.calls:
        known.calls.append(at)
    if use not in known.uses:
        known.uses.append(use)
    return net._params[name]


def stands_alone(net, value, kind, owner, part):
    """An Expr for `value` where it is an unknown that stands alone as `part` of `owner`."""
    name = value._name or f"{owner}.{part}"
    low, high = _RANGES.get(part, (0, 1 << 20))
    low = max(low, value._least or 0)
    expr = _declare(net, name, value._at, kind, owner, part, (low, high))
    made = net._unknowns[name]
    made.open = part in ("delay", "interval") and len(made.uses) == 1
    return expr


def settle(net):
    """Takes the unknowns of a net that were given as parameters for known; gives them, by name."""
    given = {name: u for name, u in net._unknowns.items() if name in net.bound}
    for name in given:
        del net._unknowns[name]
    return given


def require_known(net):
    """Raises Error "E-unknown" for a net with unknowns that were not given as parameters."""
    open = [u for u in net.unknowns.values() if u.name not in net.bound]
    if not open:
        return
    first = open[0]
    at = "" if first.calls[0] is None else source.excerpt(first.calls[0][:2])
    others = f" (and {len(open) - 1} more: {listed(u.name for u in open[1:6])})" if open[1:] else ""
    raise without_place(
        "E-unknown",
        f"net '{net.name}': the {first.uses[0]} is unknown{others}; find it with "
        f"'lpn fit MODEL RECORDING --map MAP', or give it with -p {first.name}=NUMBER{at}",
    )


def forget(net, patterns, least=0):
    """Makes unknown what a net says: the delays, intervals, servers and capacities whose name,
    "transition.delay" or "place.capacity", one of the glob `patterns` fits. With `least`, what is
    forgotten is no less, and delays and intervals that the net says are less stay: a transition without
    delay is a decision, no register. Raises Error "E-unknown" for a pattern that fits none.
    """
    core = net.core
    used = set()

    def wanted(owner, part):
        fitting = [p for p in patterns if fnmatch.fnmatchcase(f"{owner}.{part}", p)]
        used.update(fitting)
        return bool(fitting)

    def asked(kind, owner, part, old):
        expr = stands_alone(net, Alone(None, None, least), kind, owner, part)
        return (expr._int()._id, old[1], old[2])

    for number, name in enumerate(net.transitions):
        transition = core.transitions[number]
        for part in ("delay", "interval", "servers"):
            old = getattr(transition, part)
            if old is None or not wanted(name, part):
                continue
            known = core.value(old[0])
            if part == "servers" or known is None or known >= least:
                getattr(transition, f"set_{part}")(asked("transition", name, part, old))
        core.replace_transition(number, transition)
    for number, place in enumerate(core.places):
        if place.capacity is not None and wanted(place.name, "capacity"):
            core.set_capacity(number, asked("place", place.name, "capacity", place.capacity))
    for pattern in patterns:
        if pattern not in used:
            raise without_place(
                "E-unknown",
                f"--forget {pattern}: the net has nothing of that name; names are TRANSITION.delay, "
                ".interval or .servers, and PLACE.capacity, with * for any part",
            )
    net.done()
