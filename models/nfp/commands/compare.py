"""lpn nfp compare: did a new version of a program get slower, and for which packets."""

import click

from lpn.command import ANSWERED, NO, UNKNOWN, FiniteRange, json_option, print_json, table

from .. import costs as cost_table
from .options import costs_option, guaranteed_cores_option, limit_option, metric_option
from .shown import unit_of


@click.command()
@click.argument("a", type=click.Path(exists=True, dir_okay=False), metavar="A.asm")
@click.argument("b", type=click.Path(exists=True, dir_okay=False), metavar="B.asm")
@metric_option("packet-rate")
@guaranteed_cores_option
@click.option(
    "--paths",
    type=click.IntRange(1, 10000),
    default=5,
    show_default=True,
    metavar="K",
    help="How many of the slowest paths of each version to look at.",
)
@click.option(
    "--threshold",
    type=FiniteRange(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="How much slower is still the same.",
)
@click.option(
    "--unroll",
    metavar="N|N:BLOCK,...",
    help="How often a loop may run, in A and, without --unroll-b, in B.",
)
@click.option("--unroll-b", metavar="N|N:BLOCK,...", help="The same for B.")
@limit_option
@costs_option
@json_option
def compare(a, b, metric, cores, paths, threshold, unroll, unroll_b, limit, costs, as_json):
    """Compares the old version A of a program with the new version B.

    The slowest paths of both are found, with a packet for each; every one of these packets is run
    through both versions. B is slower when its guarantee, or its rate for one of the packets, is
    lower by more than the threshold.

    \b
    lpn nfp compare main/firewall.asm branch/firewall.asm --paths 20
    lpn nfp compare old.asm new.asm --metric bit-rate --threshold 0.5 --json

    Exit status: 0 not slower; 1 slower; 2 something is wrong; 3 a limit came first and nothing
    slower was found.
    """
    from ..compare import compare as run

    found = run(
        a,
        b,
        metric,
        cores,
        (unroll, unroll_b or unroll),
        paths,
        threshold / 100,
        limit,
        cost_table.load(costs),
    )
    status = NO if found.slower else ANSWERED if found.complete else UNKNOWN
    if as_json:
        print_json({"a": a, "b": b, **_fields(found, metric, threshold / 100)})
    else:
        _show(found, unit_of(metric), threshold)
    return status


def _fields(found, metric, threshold):
    """What --json says of a comparison; `threshold`: a fraction."""
    return {
        "metric": metric,
        "cores": found.a.cores,
        "threshold": threshold,
        "slower": found.slower,
        "complete": found.complete,
        "guarantee": {"a": found.a.rate, "b": found.b.rate, "change": found.change},
        "ranks": [
            {"rank": k, "a": x, "b": y, "change": c} for k, (x, y, c) in enumerate(found.ranks, 1)
        ],
        "packets": [
            {
                "of": p.origin,
                "rank": p.rank,
                "size": p.size,
                "a": {
                    "path": p.path[0],
                    "cycles": p.cycles[0],
                    "dram_cycles": p.dram_cycles[0],
                    "rate": p.rate[0],
                },
                "b": {
                    "path": p.path[1],
                    "cycles": p.cycles[1],
                    "dram_cycles": p.dram_cycles[1],
                    "rate": p.rate[1],
                },
                "change": p.change,
                "slower": p.change < -threshold,
            }
            for p in found.packets
        ],
    }


def _show(found, unit, threshold):
    """The comparison as tables; `threshold` in percent."""
    click.echo(
        f"guaranteed: {rate(found.a.rate)}{unit} -> {rate(found.b.rate)}{unit}, {_change(found.change)}"
        + ("" if found.complete else ", as far as the searches came")
    )
    click.echo("")
    table(
        ["path", ">A " + unit, ">B " + unit, ">change"],
        [
            (
                f"slowest {k}",
                "-" if x is None else rate(x),
                "-" if y is None else rate(y),
                "-" if c is None else _change(c),
            )
            for k, (x, y, c) in enumerate(found.ranks, 1)
        ],
    )
    click.echo("")
    table(
        ["packet of", ">bytes", ">A cycles", ">B cycles", ">A DRAM", ">B DRAM", ">change", ""],
        [
            (
                f"{p.origin.upper()}, path {p.rank}",
                p.size,
                *p.cycles,
                *(f"{d:.2f}" for d in p.dram_cycles),
                _change(p.change),
                "slower" if p.change < -threshold / 100 else "",
            )
            for p in sorted(found.packets, key=lambda p: p.change)
        ],
    )
    click.echo("")
    click.echo(
        f"slower by more than {threshold:g} %"
        if found.slower
        else f"not slower by more than {threshold:g} % for any of these packets"
    )


def rate(value, guaranteed=True):
    """Of packets or bits per second, with the digits that a comparison needs: three, cut off of what
    is guaranteed, which is not to be told larger, and else rounded.
    """
    scale, unit = (1e9, "G") if value >= 1e9 else (1e6, "M")
    shown = value // (scale / 1000) / 1000 if guaranteed else value / scale
    return f"{shown:.3f} {unit}"


def _change(share):
    return f"{100 * share:+.2f} %"
