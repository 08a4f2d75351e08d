"""lpn bpf explain: a class of an interface, by a packet and a map state that reach it."""

import click

from lpn.command import ANSWERED, json_option, print_json, table

from ..errors import refused
from .options import object_argument, program_options, taken


@click.command()
@object_argument
@click.option("--class", "name", metavar="NAME", help="A class of `lpn bpf interface`.")
@program_options
@json_option
def explain(path, name, as_json, **options):
    """A class, by its witness: the packet's bytes that decide, the map entries, and the source lines
    with the instructions that are executed for each. Without --class the dearest.

    \b
    lpn bpf explain filter.bpf.o --class c3
    """
    from ..explain import explained
    from ..interface import extract

    found = extract(path, **taken(**options))
    chosen = [c for c in found.classes if c.name == name]
    if name is None:
        chosen = [max(found.classes, key=lambda c: c.bounds["insns"][1])]
    if not chosen or chosen[0].run is None:
        known = ", ".join(c.name for c in found.classes if c.run is not None)
        raise refused("E-bpf-program", f"no class '{name}' with a witness; there are {known}")
    data = explained(found, chosen[0])
    if as_json:
        print_json(data)
    else:
        _show(data)
    return ANSWERED


def _show(data):
    click.echo(
        f"{data['class']}: {data['witness_insns']} instructions, {data['witness_verdict']}\n"
        f"when {' and '.join(data['when'])}\n"
    )
    click.echo(f"packet of {data['length']} bytes; -- does not matter")
    for at in range(0, len(data["bytes"]), 16):
        click.echo(f"  {at:#06x}  {' '.join(data['bytes'][at : at + 16])}")
    for what in ("ctx", "env", "free", "data"):
        for key, value in data["witness"].get(what, {}).items():
            click.echo(f"{what}.{key} = {value}")
    if data["witness"]["maps"]:
        click.echo("")
        table(
            ["map", "key", "value"],
            [(m["map"], m["key"], m.get("value", "a map")) for m in data["witness"]["maps"]],
        )
    click.echo("")
    table(
        [">insns", ">line", "source"],
        [(row["insns"], row["line"] or "-", row["text"]) for row in data["source"]],
    )
