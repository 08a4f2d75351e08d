"""lpn nfp chain: what rate several programs sustain, one behind the other on every packet."""

import os

import click

from lpn.command import ANSWERED, UNKNOWN, json_option, note, print_json, table
from lpn.command import precise_rate as rate

from .. import costs as cost_table
from .options import (
    costs_option,
    guaranteed_cores_option,
    limit_option,
    margin_option,
    metric_option,
    unroll_option,
)
from .shown import unit_of


@click.command()
@click.argument(
    "programs",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="PROGRAM.asm...",
)
@metric_option("bit-rate")
@guaranteed_cores_option
@unroll_option
@limit_option
@costs_option
@margin_option
@json_option
def chain(programs, metric, cores, unroll, limit, costs, margin, as_json):
    """What rate PROGRAMS sustain, one behind the other, whatever packets arrive.

    A packet goes on as long as the program before answers XDP_PASS. The guarantee takes every
    packet to be the slowest of each program; beside it stands the slowest packet that was found.

    \b
    lpn nfp chain firewall.asm balancer.asm --metric packet-rate

    Exit status: 0 answered; 2 something is wrong; 3 a limit or Ctrl-C came first: what is
    guaranteed by then is shown.
    """
    from ..chain import chain as run

    found = run(programs, metric, cores, unroll, limit, cost_table.load(costs), margin)
    if as_json:
        print_json(_fields(programs, found))
    else:
        _show(programs, found)
    return ANSWERED if found.complete else UNKNOWN


def _fields(programs, found):
    return {
        "programs": list(programs),
        "metric": found.metric,
        "cores": found.cores,
        "complete": found.complete,
        "guarantee": {
            "rate": found.rate,
            "unit": unit_of(found.metric),
            "decides": found.decides,
            "margin_percent": {"program": found.margins.program, "mac": found.margins.mac},
            "limits": found.limits,
        },
        "mac_fault": found.mac_fault,
        "each": [one.limits["program"] for one in found.programs],
        "found": found.found,
    }


def _show(programs, found):
    unit = unit_of(found.metric)
    names = [os.path.basename(name) for name in programs]
    click.echo(
        f"{' => '.join(names)}: {rate(found.rate)}{unit} guaranteed with {found.cores} cores"
        + ("" if found.complete else ", as far as the searches came")
    )
    limits = ", ".join(f"{name} {rate(value)}{unit}" for name, value in found.limits.items())
    click.echo(f"decided by the {found.decides}: {limits}, before margins")
    click.echo("")
    rows = [
        (
            name,
            *(
                (
                    one.slowest[0].cycles,
                    f"{one.slowest[0].dram_cycles:.2f}",
                    one.slowest[0].packet_size,
                )
                if one.slowest
                else ("-", "-", "-")
            ),
            rate(one.limits["program"]),
        )
        for name, one in zip(names, found.programs)
    ]
    if found.found:
        slow = found.found
        rows.append(
            (
                "slowest packet found",
                slow["cycles"],
                f"{slow['dram_cycles']:.2f}",
                slow["packet_size"],
                rate(slow["rate"]),
            )
        )
    table(["", ">cycles", ">DRAM cycles", ">bytes", f">{unit}"], rows)
    if found.found and len(found.found["paths"]) < len(programs):
        click.echo(
            f"that packet ends in {names[len(found.found['paths']) - 1]}, which does not pass it"
        )
    if found.mac_fault:
        note(
            "warning: when more arrives than guaranteed, the MAC's fault may let through only "
            f"{found.mac_fault['falls_to'] / 1e6:.3g} M packets/s"
        )
