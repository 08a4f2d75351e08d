"""A map for a recording, from the names of its signals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from .signals import Signals, Variable

__all__ = ["Proposal", "propose", "written"]

_VALID = re.compile(r"valid|vld|(?<![a-z])val(?![a-z])")
_READY = ("ready", "rdy", "accept", "ack", "acc")
_REQUEST = re.compile(r"(?<![a-z])(?:req|request|stb|strobe)(?![a-z])")
_GRANT = ("ack", "acknowledge", "gnt", "grant", "ready", "rdy")
_STROBE = re.compile(r"(?<![a-z])(?:stb|strobe|pulse)(?![a-z])")
_ALONE = re.compile(r"(?:.*_)?[io]?(?:start|done)(?:_\w)?")
_ENABLE = re.compile(r"_?en(?=$|_(?:reg|next|q|r|o|i|w)$)")
_DECORATION = re.compile(r"(_(reg|next|int|w|q|r|d|i|o|ff|wire))+$")
_CLOCK = re.compile(r"(.*_)?(a|s_|m_)?(clk|clock)(_?i)?(_\w)?")
_RESET = re.compile(r"(.*_)?a?s?y?n?c?_?(rst|reset|areset|arst)(_?(ni|n|b|i))?")


@dataclass
class Proposal:
    """`channels`: name -> keys of the map, with `payload` as a list of signals; `guesses`: of those
    that follow from little, what from; `resets` and `clocks`, most likely first.
    """

    clocks: list[str] = field(default_factory=list)
    resets: list[str] = field(default_factory=list)
    channels: dict[str, dict] = field(default_factory=dict)
    guesses: dict[str, str] = field(default_factory=dict)
    # Scope, name, keys, what a guess follows from or "".
    found: list[tuple[str, str, dict, str]] = field(default_factory=list)


def propose(signals: Signals) -> Proposal:
    """Pairs of valid and ready (rdy, accept, ack) in one scope, valid alone, start and done, busy; as
    guesses request and grant, strobes, enables of a bus, a start or done alone.
    """
    scopes: dict[str, dict[str, Variable]] = {}
    for v in signals.variables:
        scope, _, name = v.name.rpartition(".")
        scopes.setdefault(scope, {}).setdefault(name, v)
    proposal = Proposal()
    for scope, names in sorted(scopes.items(), key=lambda s: (s[0].count("."), s[0])):
        single = {name for name, v in names.items() if v.width == 1}
        for name in sorted(single, key=len):
            if _CLOCK.fullmatch(name.lower()):
                proposal.clocks.append(_full(scope, name))
            elif _RESET.fullmatch(name.lower()):
                low = re.search(r"(n|ni|b)$", name.lower()) is not None
                proposal.resets.append(("!" if low else "") + _full(scope, name))
    taken: set[int] = set()  # signals that are in a channel already: ports go on in scopes below
    for scope, names in sorted(scopes.items(), key=lambda s: (s[0].count("."), s[0])):
        _handshakes(proposal, scope, names, taken)
        _operations(proposal, scope, names, taken)
        _requests(proposal, scope, names, taken)
        _strobes(proposal, scope, names, taken)
    _name(proposal)
    return proposal


def _full(scope, name):
    return f"{scope}.{name}" if scope else name


def _handshakes(proposal, scope, names, taken):
    single = {name: v for name, v in names.items() if v.width == 1}
    plain = {}  # without decoration -> name
    for name in single:
        plain.setdefault(_DECORATION.sub("", name.lower()), name)
    for name, v in single.items():
        low = name.lower()
        if v.signal in taken or not _VALID.search(low):
            continue
        found = list(_VALID.finditer(low))[-1]
        ready = None
        for word in _READY:
            partner = low[: found.start()] + word + low[found.end() :]
            ready = next((n for n in single if n.lower() == partner), None) or plain.get(
                _DECORATION.sub("", partner)
            )
            if ready is not None:
                break
        taken.add(v.signal)
        stem = low[: found.start()].strip("_") + _DECORATION.sub("", low[found.end() :])
        keys = {"valid" if ready else "strobe": _full(scope, name)}
        if ready:
            keys["ready"] = _full(scope, ready)
        _add(proposal, scope, stem.strip("_") or name, keys, names, name[: found.start()])
    for name, v in single.items():  # dv and dr
        partner = name[:-1] + "r"
        if (
            v.signal not in taken
            and 1 < len(name) <= 3
            and name.endswith("v")
            and partner in single
        ):
            taken.add(v.signal)
            keys = {"valid": _full(scope, name), "ready": _full(scope, partner)}
            why = "two signals that differ in v and r"
            _add(proposal, scope, name[:-1], keys, names, name[:-1], why)


def _requests(proposal, scope, names, taken):
    single = {name.lower(): name for name, v in names.items() if v.width == 1}
    for low, name in single.items():
        if names[name].signal in taken:
            continue
        for found in _REQUEST.finditer(low):
            partners = (low[: found.start()] + word + low[found.end() :] for word in _GRANT)
            ready = next((single[p] for p in partners if p in single), None)
            if ready is None or names[ready].signal in taken:
                continue
            taken.update((names[name].signal, names[ready].signal))
            keys = {"valid": _full(scope, name), "ready": _full(scope, ready)}
            why = "a request and its grant; is it a transfer when both are 1?"
            stem = (low[: found.start()] + low[found.end() :]).strip("_") or low
            _add(proposal, scope, stem, keys, names, name[: found.start()], why)
            break


def _strobes(proposal, scope, names, taken):
    wide = {name.lower(): name for name, v in names.items() if v.width > 1}
    for name, v in names.items():
        low = name.lower()
        if v.width != 1 or v.signal in taken:
            continue
        enable, strobe = _ENABLE.search(low), _STROBE.search(low)
        bus = enable and wide.get(low[: enable.start()])
        keys = {"strobe": _full(scope, name)}
        if bus:
            taken.add(v.signal)
            keys["payload"] = [_full(scope, bus)]
            _add(proposal, scope, low[: enable.start()], keys, {}, "", "a bus and its enable")
        elif strobe is not None:
            taken.add(v.signal)
            stem = (low[: strobe.start()] + low[strobe.end() :]).strip("_") or low
            _add(proposal, scope, stem, keys, names, name[: strobe.start()], "a strobe by its name")
        elif _ALONE.fullmatch(low):
            taken.add(v.signal)
            _add(proposal, scope, low, keys, {}, "", "a start or done without the other")


def _operations(proposal, scope, names, taken):
    for name, v in names.items():
        if v.width != 1 or v.signal in taken:
            continue
        low = name.lower()
        if re.search(r"start", low):
            done = next((n for n in names if n.lower() == low.replace("start", "done")), None)
            if done is not None and names[done].width == 1:
                taken.update((v.signal, names[done].signal))
                keys = {"start": _full(scope, name), "done": _full(scope, done)}
                _add(proposal, scope, low.replace("start", "").strip("_") or "op", keys, {}, "")
        elif re.fullmatch(r"(.*_)?busy(_\w)?", low):
            taken.add(v.signal)
            _add(proposal, scope, low, {"busy": _full(scope, name)}, {}, "")


def _add(proposal, scope, stem, keys, names, prefix, guess=""):
    signals = {k for k in keys.values() if isinstance(k, str)}
    used = {*signals, *proposal.clocks, *(r.lstrip("!") for r in proposal.resets)}
    payload = [
        _full(scope, n)
        for n in names
        if prefix and n.startswith(prefix) and len(n) > len(prefix) and _full(scope, n) not in used
        and not _VALID.search(n.lower()) and not any(w in n.lower() for w in _READY)
    ]  # fmt: skip
    if payload:
        keys["payload"] = payload
    proposal.found.append((scope, stem, keys, guess))


def _name(proposal):
    """Gives every channel a name of its own, with as much of its scope as that takes."""
    for scope, stem, keys, guess in proposal.found:
        parts, name = scope.split("."), stem
        while parts and sum(_called(other, name) for other in proposal.found) > 1:
            name = f"{parts.pop()}.{name}"
        number, alone = 2, name
        while name in proposal.channels:
            name, number = f"{alone}_{number}", number + 1
        proposal.channels[name] = keys
        if guess:
            proposal.guesses[name] = guess


def _called(found, name):
    scope, stem, *_ = found
    return f".{scope}.{stem}".endswith("." + name)


def written(proposal: Proposal, file: str) -> str:
    """The map as TOML."""

    def text(value):
        return json.dumps(value, ensure_ascii=False)

    lines = [f"# Proposed from the names of the signals in {file}; read it before you use it."]
    if proposal.clocks:
        lines.append(f"clock = {text(proposal.clocks[0])}")
        lines += [f"# another clock: {text(c)}" for c in proposal.clocks[1:4]]
    else:
        lines.append('clock = "?" # no signal is called like a clock: name it')
    if proposal.resets:
        lines.append(f"reset = {text(proposal.resets[0])}")
        lines += [f"# another reset: {text(r)}" for r in proposal.resets[1:4]]
    for name, keys in proposal.channels.items():
        plain = re.fullmatch(r"[A-Za-z0-9_-]+", name)
        lines += ["", f"[channels.{name if plain else text(name)}]"]
        if name in proposal.guesses:
            lines[-1] += f" # a guess: {proposal.guesses[name]}"
        lines += [f"{key} = {text(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"
