"""lpn check: what is wrong, what is suspicious, and how the net is built."""

import contextlib
import re

import click

import _lpn

from ..authoring.net import parameter_values
from ..command import (
    ANSWERED,
    WRONG,
    counted,
    json_option,
    model_argument,
    params_option,
    print_json,
)
from ..errors import Error, debugging, describe
from ..runs.models import load


@click.command()
@model_argument
@params_option
@click.option("--watch", is_flag=True, help="Checks again whenever a file of the model changes.")
@json_option
def check(model, params, watch, as_json):
    """Finds mistakes in MODEL, warns of what is probably not meant, and shows its structure.

    Exit status: 0 no errors (warnings do not count); 2 errors.
    """
    if watch and as_json:
        raise click.UsageError("--watch is for people; leave out --json")
    if watch:
        return _watch(model, params)
    return _check(model, params, as_json)


def _watch(model, params):
    """Until Ctrl-C; the status of the last check. Each is a process of its own: modules are new."""
    import os
    import subprocess
    import sys
    import time

    folder = os.path.dirname(os.path.abspath(model))
    if not os.path.isfile(model):
        raise click.UsageError(f"--watch needs a file, and {model} is none")
    command = [sys.executable, "-P", "-m", "lpn", "check", model]
    command += [word for name, value in params for word in ("-p", f"{name}={value}")]

    def state():
        found = {}
        for entry in os.scandir(folder):
            if entry.name.endswith((".py", ".lpn")):
                with contextlib.suppress(OSError):
                    found[entry.name] = entry.stat().st_mtime_ns
        return found

    status, seen = ANSWERED, None
    try:
        while True:
            now = state()
            if now != seen:
                seen = now
                click.echo(time.strftime("-- %H:%M:%S"))
                status = subprocess.run(command, check=False).returncode
            time.sleep(0.2)
    except KeyboardInterrupt:
        return status


def _check(model, params, as_json):
    errors, warnings, structure, net = [], [], None, None
    name = model
    try:
        loaded = load(model)
        name = loaded.name
        net = loaded.net(**dict(params))
        core = net._core
        errors = [_entry(core, v) for v in core.verify()]
        if not errors:
            values = parameter_values(net, None)
            warnings = [_entry(core, w) for w in core.lint()]
            structure = _structure(core, values)
            structure["unknowns"] = [u for u in net.unknowns if u not in net.bound]
    except Exception as error:
        if debugging() and not isinstance(error, Error):
            raise
        code, message = describe(error)
        at = re.search(r"^  at (\S+:\d+)", message, re.MULTILINE)
        errors = [
            {
                "code": code,
                "where": None,
                "transition": None,
                "place": None,
                "line": at.group(1) if at else None,
                "message": message,
            }
        ]
    if as_json:
        print_json(
            {
                "model": name,
                "net": net.name if net is not None else None,
                "errors": errors,
                "warnings": warnings,
                "structure": structure,
            }
        )
    else:
        _show(name, errors, warnings, structure)
    return WRONG if errors else ANSWERED


def _entry(core, found):
    """A violation or warning with the part it is about."""

    def name(number, parts):
        return None if number is None else parts[number].name

    return {
        "code": found.code,
        "where": found.where,
        "transition": name(found.transition, core.transitions),
        "place": name(found.place, core.places),
        "line": core.where(*found.source) or None,
        "message": found.message,
    }


# Why the order of declaration decides, or does not, among the consumers of a place.
PROOFS = {
    None: "the first of them that can start wins",
    "guards": "their guards take turns",
    "solver": "their guards take turns, which Z3 proves",
    "tokens": "they never have their tokens at once",
}


def _structure(core, values):
    found = _lpn.structure(core, values)
    return {
        "places": len(core.places),
        "transitions": len(core.transitions),
        "parameters": {p.name: value for p, value in zip(core.params, values)},
        **found,
    }


def _show(name, errors, warnings, structure):
    for kind, entries in (("error", errors), ("warning", warnings)):
        for entry in entries:
            text = entry["message"]
            if entry["line"] and entry["line"] not in text:
                text += f"\n  at {entry['line']}"
            first, *rest = text.split("\n")
            click.echo("\n".join([f"{kind}: {first} [{entry['code']}]", *rest]))
    if structure is None:
        click.echo(f"{name}: {counted(len(errors), 'error')}")
        return
    size = [
        (structure["places"], "place"),
        (structure["transitions"], "transition"),
        (len(structure["parameters"]), "parameter"),
    ]
    click.echo(
        f"{name}: no errors, {counted(len(warnings), 'warning')}; "
        + ", ".join(counted(*each) for each in size)
    )
    if structure["unknowns"]:
        click.echo(
            f"  unknown: {_some(structure['unknowns'])}; what is said below takes them as "
            + ", ".join(f"{structure['parameters'][u]}" for u in structure["unknowns"][:12])
            + " (lpn fit finds them)"
        )
    for conflict in structure["conflicts"]:
        how = PROOFS[conflict["proof"]]
        click.echo(f"  shared: {conflict['place']} -> {_some(conflict['consumers'])} ({how})")
    for loop in structure["credit_loops"]:
        credits = counted(loop["tokens"], "credit")
        by = f"the capacity {loop['tokens']} of" if loop["capacity"] else f"{credits} in"
        held = _some(loop["transitions"]) or "nothing"
        click.echo(f"  bounded: {held} by {by} {_some(loop['places'])}")
    if structure["unbounded_concurrency"]:
        names = _some(structure["unbounded_concurrency"])
        click.echo(f"  unbounded: nothing limits how many firings run at once of {names}")
    if structure["dead"]:
        click.echo(f"  dead: no token ever reaches {_some(structure['dead'])}")
    for loop in structure["loops"]:
        click.echo(f"  loop: {_some(loop)}")
    for part in structure["marked_graphs"]:
        click.echo(f"  marked graph: {_some(part['transitions'])}")


def _some(names, most=12):
    """'a, b, c and 40 more'."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
