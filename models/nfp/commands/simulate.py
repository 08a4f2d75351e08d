"""lpn nfp simulate: a program under a traffic mix on the net of the NIC."""

import click

from lpn.command import (
    ANSWERED,
    UNKNOWN,
    FiniteRange,
    Progress,
    grouped,
    json_option,
    print_json,
    rate as per_second,
    seconds,
    table,
)


@click.command()
@click.argument("program", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--cores",
    type=click.IntRange(1, 50),
    default=50,
    show_default=True,
    help="Cores in use, over 5 islands.",
)
@click.option(
    "--threads", type=click.IntRange(1, 8), default=4, show_default=True, help="Threads of a core."
)
@click.option(
    "--mix",
    "mix_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The paths that packets take and how often, as JSON (models/nfp/README.md); without it all take the "
    "slowest path.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATH[*WEIGHT]",
    help="A path in the notation ->0--15->15000, or `slowest`, in place of a mix file; may be given several "
    "times.",
)
@click.option(
    "--rate",
    type=FiniteRange(1, 1e9),
    metavar="PPS",
    help="Packets per second that arrive, at random times; without it there is always a packet waiting.",
)
@click.option("--even", is_flag=True, help="With --rate: packets arrive at equal distances.")
@click.option(
    "--overload",
    is_flag=True,
    help="More arrives than the MAC takes, which slows it down to 53.2 M/s.",
)
@click.option(
    "--buffer",
    type=click.IntRange(0, 10**9),
    default=0,
    metavar="PACKETS",
    help="How many packets may wait at the MAC before it drops; 0, the default: it drops none.",
)
@click.option(
    "--packets",
    type=click.IntRange(1, 10**8),
    metavar="N",
    help="How many arrive; 100000 unless the mix says.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**62),
    metavar="S",
    help="Of arrivals and of which packet takes which path.",
)
@click.option(
    "--unroll", metavar="N|N:BLOCK,...", help="How often a loop, or a block of it, may run."
)
@json_option
def simulate(
    program,
    cores,
    threads,
    mix_file,
    paths,
    rate,
    even,
    overload,
    buffer,
    packets,
    seed,
    unroll,
    as_json,
):
    """The packet rate, latencies and bottleneck of PROGRAM under a traffic mix.

    \b
    lpn nfp simulate firewall.asm --cores 20
    lpn nfp simulate firewall.asm --mix traffic.json --rate 20e6 --json
    """
    from ..mix_file import build, load
    from ..simulate import simulate as run

    if mix_file and paths:
        raise click.UsageError(
            "--mix and --path both say which paths packets take; give one of them"
        )
    if overload and rate:
        raise click.UsageError("--overload is a source without a rate; give one of them")
    if even and rate is None and not mix_file:
        raise click.UsageError("--even is how packets of a --rate arrive; give --rate PPS")
    changes = {
        "packets": packets,
        "rate": rate,
        "seed": seed,
        "unroll": unroll,
        "overload": overload or None,
        "arrivals": "even" if even else None,
    }
    progress = Progress(1)
    progress.say("reading the program", now=True)
    if mix_file:
        mix = load(mix_file, program, cores, **changes)
    else:
        mix = build(
            {"paths": [_path(p) for p in paths or ["slowest"]]},
            "the command line",
            program,
            cores,
            **changes,
        )
    if even and mix.rate is None:
        raise click.UsageError(
            f"--even is how packets of a rate arrive, and {mix_file} has none; give --rate PPS"
        )
    progress.say("making the simulator, once for all programs", now=True)

    def on_slice(time, firings):
        progress.say(f"{grouped(firings)} firings")

    try:
        found = run(
            mix,
            cores=cores,
            threads=threads,
            buffer=buffer,
            on_slice=on_slice if progress.on else None,
        )
    finally:
        progress.clear()
    if as_json:
        print_json(_fields(program, cores, threads, mix, found))
    else:
        _show(program, cores, threads, mix, found)
    return ANSWERED if found.complete else UNKNOWN


def _fields(program, cores, threads, mix, found):
    """What --json says of the run `found` of a mix."""
    return {
        "program": program,
        "cores": cores,
        "threads": threads,
        "seed": mix.seed,
        "offered_rate": mix.rate,
        "packets": found.packets,
        "dropped": found.dropped,
        "complete": found.complete,
        "packet_rate": found.packet_rate,
        "latency_seconds": {str(k): v for k, v in found.latency.items()},
        "bottleneck": found.bottleneck,
        "utilisation": found.utilisation,
        "core_cycles": found.cycles,
        "paths": [
            {"path": p.name, "weight": p.weight, "share": s}
            for p, s in zip(mix.paths, found.by_path)
        ],
        "firings": found.firings,
        "seconds": found.seconds,
    }


def _show(program, cores, threads, mix, found):
    offered = f"{per_second(mix.rate)} packets/s arrive" if mix.rate else "there is always a packet"
    click.echo(f"{program}: {cores} cores of {threads} threads, {offered}")
    click.echo(
        f"packet rate  {found.packet_rate / 1e6:.3f} M/s, limited by {_BOTTLENECKS[found.bottleneck]}"
    )
    if found.dropped:
        click.echo(f"dropped      {grouped(found.dropped)} of {grouped(mix.packets)} packets")
    click.echo(
        "busy         "
        + ", ".join(f"{name} {100 * share:.1f} %" for name, share in found.utilisation.items())
    )
    click.echo(
        "latency      "
        + ", ".join(
            f"{'mean' if k == 'mean' else f'{k} %'} {seconds(v) if v >= 1e-4 else f'{v * 1e6:.2f} us'}"
            for k, v in found.latency.items()
        )
    )
    if len(mix.paths) > 1:
        table(
            ["path", ">weight", ">share"],
            [
                (p.name, f"{p.weight:g}", f"{100 * s:.1f} %")
                for p, s in zip(mix.paths, found.by_path)
            ],
        )
    if not found.complete:
        click.echo("interrupted: the figures are those of the packets that had ended by then")


_BOTTLENECKS = {
    "cores": "the cores",
    "dram": "a bank of the memory engine",
    "mac": "the MAC",
    "latency": "answers of memories that all threads of a core wait for",
    "load": "what arrives",
}


def _path(text):
    name, star, weight = text.rpartition("*")
    if not star:
        return {"path": text}
    try:
        return {"path": name, "weight": float(weight)}
    except ValueError:
        raise click.UsageError(f"--path {text}: '{weight}' is no weight; write PATH*2.5") from None
