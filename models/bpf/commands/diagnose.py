"""lpn bpf diagnose: what the cost or the measured latency of a trace goes with."""

import click

from lpn.command import ANSWERED, counted, json_option, note, print_json, table

from ..errors import refused
from .options import (
    aloud,
    carry_option,
    ifindex_option,
    maps_option,
    metric_of,
    metric_option,
    object_argument,
    program_options,
    taken,
)

SHOWN = 12  # lines of the table


@click.command()
@object_argument
@click.argument("trace", type=click.Path(exists=True, dir_okay=False), metavar="PCAP")
@program_options
@metric_option
@click.option(
    "--latencies",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Measured latencies, a number per packet and line; without it what the packets cost.",
)
@maps_option
@carry_option
@ifindex_option
@json_option
def diagnose(
    path, trace, metric, latencies, maps, carry_state, ingress_ifindex, as_json, **options
):
    """Which variable of a packet explains what the packets of a trace cost, or how long they took:
    bytes, rounds of loops, helpers, hits and misses of maps, how full they are. Ranked by the share
    of the variation (R^2) that a straight line in the variable explains.

    \b
    lpn bpf diagnose lb.bpf.o slow.pcap --latencies ns.txt --carry-state

    Exit status: 0 answered; 2 something is wrong or not modelled.
    """
    from ..deployment import read_trace, replay
    from ..diagnose import FEWEST, by_class, costs_of, ranked, read_latencies, variables_of
    from ..interface import extract
    from ..worlds import read_maps

    options = taken(**options)
    metric = metric_of(metric, options["prices"])
    packets, cut = read_trace(trace)
    if cut:
        note(f"{cut} packets of the trace are cut off; they count as short as they were captured")
    measured = read_latencies(latencies, len(packets)) if latencies else None
    if len(packets) < FEWEST:
        raise refused(
            "E-bpf-file", f"'{trace}' has {counted(len(packets), 'packet')}: too few for a line"
        )
    found = extract(path, **options)
    tables = read_maps(maps, found.program) if maps else {}
    replayed = list(
        aloud(
            replay(found, packets, tables, carry_state, ingress_ifindex, trace=True), len(packets)
        )
    )
    variables = variables_of(replayed)
    costs = costs_of(replayed, ["insns", "mem", *(["cycles"] if options["prices"] else [])])
    target = measured if latencies else costs[metric].tolist()
    rows = ranked(variables, target)
    data = {
        "packets": len(packets),
        "target": "latencies" if latencies else metric,
        "variables": rows,
        "constant": sorted(set(variables) - {row["variable"] for row in rows}),
        "costs": ranked(costs, target) if latencies else [],
        "by_class": by_class([one.name for one in replayed], target),
    }
    if as_json:
        print_json(data)
    else:
        _show(data, target)
    return ANSWERED


def _show(data, target):
    rows = data["variables"]
    what = "the latency" if data["target"] == "latencies" else data["target"]
    if min(target) == max(target):
        click.echo(f"{what} is {min(target):g} for every packet: there is nothing to explain")
        return
    if not rows:
        click.echo(f"{what} varies, but nothing that is known of the packets does")
        return
    best = rows[0]
    click.echo(
        f"{what} goes with {best['variable']}: {best['intercept']:g} + {best['slope']:g} * it"
        f" explains {100 * best['r2']:.1f} % of the variation\n"
    )
    table(
        [">R^2", "variable", ">least", ">most", ">slope", ">intercept"],
        [
            (
                f"{row['r2']:.4f}",
                row["variable"],
                f"{row['least']:g}",
                f"{row['most']:g}",
                f"{row['slope']:g}",
                f"{row['intercept']:g}",
            )
            for row in rows[:SHOWN]
        ],
    )
    if len(rows) > SHOWN:
        click.echo(f"and {len(rows) - SHOWN} more under --json")
    whole = [("the class of a packet", data["by_class"])]
    whole += [(row["variable"], row["r2"]) for row in data["costs"]]
    click.echo("in all: " + ", ".join(f"{name} explains {100 * r2:.1f} %" for name, r2 in whole))
