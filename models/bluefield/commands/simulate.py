"""lpn bluefield simulate: a scenario's functions, by simulation."""

import click
from lpn.command import ANSWERED, NO, UNKNOWN, engine_option, json_option, print_json

from .. import scenario as scenarios


@click.command("simulate")
@click.argument("scenario", type=click.Path(dir_okay=False))
@click.option(
    "--alone/--no-alone",
    default=True,
    show_default=True,
    help="Also simulate each function alone, to tell what contention costs it.",
)
@engine_option(default=None, help="Default: interpreted when that is quick, else compiled.")
@json_option
def simulate(scenario, alone, engine, as_json):
    """Simulates SCENARIO until its throughputs are steady: throughput, latency, bottleneck of each
    function.

    Exit status: 0 answered; 1 a promised drop is broken; 2 something is wrong; 3 not steady in the
    time of simulate.most_ms.
    """
    from ..net import answer as answers

    read = scenarios.read(scenario)
    data = answers.answer(read, alone=alone, engine=engine)
    print_json(data) if as_json else answers.show(data)
    if not data["steady"]:
        return UNKNOWN
    return NO if any(f.get("promise_kept") is False for f in data["functions"]) else ANSWERED
