"""lpn compile, marking, print: a model and its inputs as files for programs without Python."""

import os

import click

import _lpn

from ..authoring.unknown import require_known
from ..command import ANSWERED, json_option, model_argument, params_option, print_json
from ..errors import without_place
from ..runs import prepare


@click.command()
@model_argument
@params_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="FILE.cc: the source; FILE.so: a library with the C interface of lpnrt/abi.h; "
    "else a program.",
)
@json_option
def compile(model, params, output, as_json):
    """Compiles MODEL into a FILE that runs without Python and without this project.

    The program reads a marking file (lpn marking) and prints JSON; call it with --help. Parameters
    given here become its defaults.
    """
    ready = prepare(model, params=params)
    require_known(ready.net)
    name = ready.model.name
    core = _lpn.sim.with_defaults(ready.net.core, ready.values)
    seconds = _lpn.sim.write_program(core, name, output)
    size = os.path.getsize(output)
    if as_json:
        print_json({"model": name, "file": output, "bytes": size, "seconds": round(seconds, 6)})
    else:
        click.echo(
            f"{output}: {name}, {size / 1e3:.0f} kB"
            + (f", compiled in {seconds:.1f} s" if seconds else "")
        )
    return ANSWERED


@click.command()
@model_argument
@click.argument("input")
@params_option
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), metavar="FILE")
@json_option
def marking(model, input, params, output, as_json):
    """Writes the tokens that MODEL's workload makes of INPUT as a marking file."""
    ready = prepare(model, input, params)
    if ready.model.has_net_per_input:
        raise without_place(
            "E-usage",
            f"the net of model '{ready.model.name}' follows its input, and a marking file does not "
            "say which; give the input itself to lpn sim",
        )
    tokens = ready.read()
    tokens.save(output)
    counts = {name: tokens.count(name) for name in ready.net.places if tokens.count(name)}
    if as_json:
        print_json(
            {
                "model": ready.model.name,
                "input": input,
                "file": output,
                "bytes": os.path.getsize(output),
                "tokens": counts,
            }
        )
    else:
        click.echo(
            f"{output}: "
            + ", ".join(f"{n} in {name}" for name, n in counts.items())
            + f"; {os.path.getsize(output) / 1e3:.1f} kB"
        )
    return ANSWERED


@click.command("print")
@model_argument
@params_option
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Default: stdout."
)
def print_net(model, params, output):
    """Prints MODEL as a .lpn file, which needs no Python to run (lpn-run)."""
    ready = prepare(model, params=params)
    require_known(ready.net)
    text = _lpn.sim.with_defaults(ready.net.core, ready.values).print()
    if output:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        click.echo(text, nl=False)
    return ANSWERED
