"""The tables of a DRAM description: an entry that nothing reads, or of another kind, is refused by its name."""

import re

import lpn

__all__ = ["OF_CONTROLLERS", "check", "wrong"]

OF_CONTROLLERS = (
    "CL",
    "burst",
    "tREFI",
)  # parameters that a controller's net reads, whatever the rules
_WINDOW, _ROUND, _DEVIATION = (
    ("slots", "cycles", "lost"),
    ("order", "cleared_by", "pairs"),
    ("text", "untimed", "parameters"),
)


def wrong(text):
    """The error of a description that cannot be used."""
    return lpn.Error("E-dram-part", text)


def check(part, data):
    """Raises Error "E-dram-part". `data`: the whole description, its base filled in."""

    def only(name, table, known):
        if not isinstance(table, dict):
            raise wrong(f"{part}: {name} must be a table, [{name}]")
        for key in table:
            if key not in known:
                raise wrong(f"{part}: unknown '{key}' in [{name}]; known are {', '.join(known)}")

    def commands(name, given):
        if not isinstance(given, list):
            raise wrong(f"{part}: {name} must be a list of commands, got {given!r}")
        for command in given:
            if (
                not isinstance(command, str)
                or command.removesuffix("_LAST") not in data["commands"]
            ):
                raise wrong(f"{part}: {name} names an unknown command, {command!r}")

    levels = data["coordinate"]
    texts = isinstance(levels, list) and all(isinstance(n, str) and n for n in levels)
    if not texts or not levels or len(set(levels)) < len(levels):
        raise wrong(f'{part}: coordinate must list its levels, as ["rank", "bank"], got {levels!r}')
    for name, sizes in data.get("organisations", {}).items():
        good = isinstance(sizes, dict) and list(sizes) == levels
        if not good or not all(type(n) is int and 1 <= n <= 64 for n in sizes.values()):
            raise wrong(
                f"{part}: organisation '{name}' must say how many of {', '.join(levels)} there are, in this order, "
                "1 to 64 each"
            )
    deviations = data.get("deviations", {})
    for name, deviation in deviations.items():
        only(f"deviations.{name}", deviation, _DEVIATION)
        if not isinstance(deviation.get("text"), str):
            raise wrong(f"{part}: deviations.{name} must have a text")
        commands(f"deviations.{name}.untimed", deviation.get("untimed", []))
    for name, window in data.get("windows", {}).items():
        only(f"windows.{name}", window, _WINDOW)
        slots = window.get("slots")
        if type(slots) is not int or slots < 1 or not isinstance(window.get("cycles"), str):
            raise wrong(f"{part}: window {name} must have slots >= 1 and cycles")
        if slots > 1024:
            raise wrong(f"{part}: window {name} has {slots} slots; at most 1024 are possible")
        if "lost" in window and window["lost"] not in list(deviations):
            raise wrong(
                f"{part}: windows.{name}.lost must name a deviation, got {window['lost']!r}"
            )
    if "round" in data:
        only("round", data["round"], _ROUND)
        commands("round.cleared_by", data["round"].get("cleared_by", []))
    for name, given in data.get("buses", {}).items():
        commands(f"buses.{name}", given)
    for scope, rows in data.get("rules", {}).items():
        if not isinstance(rows, list):
            raise wrong(f"{part}: rules.{scope} must be a list of [from, to, cycles], got {rows!r}")
    text = str([data.get(table) for table in ("rules", "windows", "deviations")])
    used = set(re.findall(r"[A-Za-z_]\w*", text))
    used |= set(OF_CONTROLLERS) if "controller" in data else set()
    for name in data.get("parameters", {}):
        if name not in used:
            raise wrong(f"{part}: parameter {name} is used nowhere: no rule or window names it")
