"""lpn nfp simulate: a program under a traffic mix on the net of the NIC."""

import click

from lpn.command import (
    ANSWERED,
    UNKNOWN,
    Progress,
    grouped,
    json_option,
    print_json,
    precise_rate as per_second,
    table,
)

from .options import (
    buffer_option,
    cores_option,
    even_option,
    file_option,
    program_argument,
    rate_option,
    threads_option,
    unroll_option,
)
from .shown import LIMITED_BY, busy, latencies


@click.command()
@program_argument
@cores_option
@threads_option
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
@rate_option(
    "Packets per second that arrive, at random times; without it there is always a packet waiting."
)
@even_option
@click.option(
    "--overload",
    is_flag=True,
    help="More arrives than the MAC takes, which slows it down to 53.2 M/s.",
)
@buffer_option
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
@unroll_option
@file_option(
    "--curve",
    "curve_file",
    "Instead: latencies over the offered load, up to the rate the mix reaches, also as .svg or .png.",
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
    curve_file,
    as_json,
):
    """The packet rate, latencies and bottleneck of PROGRAM under a traffic mix.

    \b
    lpn nfp simulate firewall.asm --cores 20
    lpn nfp simulate firewall.asm --mix traffic.json --rate 20e6 --json
    lpn nfp simulate firewall.asm --cores 10 --curve load.svg
    """
    from lpn.plots import check_plot

    from .. import mac_fault
    from .. import nic as constants
    from ..mix_file import build, load
    from ..simulate import simulate as run

    if mix_file and paths:
        raise click.UsageError(
            "--mix and --path both say which paths packets take; give one of them"
        )
    if overload and rate:
        raise click.UsageError("--overload is a source without a rate; give one of them")
    if even and rate is None and not mix_file and not curve_file:
        raise click.UsageError("--even is how packets of a --rate arrive; give --rate PPS")
    if buffer and rate is None and not mix_file and not curve_file:
        raise click.UsageError("--buffer is where packets of a --rate wait; give --rate PPS")
    if curve_file and (rate or overload or buffer):
        raise click.UsageError(
            "--curve goes through rates of its own; leave out --rate, --overload and --buffer"
        )
    if curve_file:
        check_plot(curve_file)
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
        mix = load(mix_file, program, cores, any_rate=bool(curve_file), **changes)
    else:
        mix = build(
            {"paths": [_path(p) for p in paths or ["slowest"]]},
            "the command line",
            program,
            cores,
            any_rate=bool(curve_file),
            **changes,
        )
    progress.say("making the simulator, once for all programs", now=True)

    def on_slice(time, firings):
        progress.say(f"{grouped(firings)} firings")

    options = {
        "cores": cores,
        "threads": threads,
        "on_slice": on_slice if progress.on else None,
    }
    if curve_file:
        return _curve(program, mix, options, curve_file, progress, as_json)
    try:
        found = run(mix, buffer=buffer, **options)
        fault = None
        if overload and found.complete:
            # Without its MAC: whether the NIC is one in which that has its fault.
            able = run(mix, parameters={"mac_interval": 1}, **options)
            fault = mac_fault.outcome(constants.load(), able.packet_rate, found.packet_rate)
    finally:
        progress.clear()
    if as_json:
        print_json(_fields(program, cores, threads, mix, found, fault))
    else:
        _show(program, cores, threads, mix, found, fault)
    return ANSWERED if found.complete else UNKNOWN


def _curve(program, mix, options, file, progress, as_json):
    """Latencies over the load: simulated, drawn and told."""
    from ..curve import SHARES, curve, plot
    from ..mix import Mix
    from ..simulate import simulate as run

    def at(rate):
        return Mix(
            mix.paths,
            mix.packets,
            rate=rate,
            arrivals=mix.arrivals,
            seed=mix.seed,
            overhead=mix.overhead,
        )

    reached = run(at(None), **options)
    if not reached.complete:  # Ctrl-C: what it says is not the rate that the mix reaches
        progress.clear()
        raise KeyboardInterrupt
    most = reached.packet_rate
    points = curve(
        at,
        most,
        progress=lambda share: progress.say(f"at {share:.0%} of the rate", now=True),
        **options,
    )
    progress.clear()
    complete = len(points) == len(SHARES)
    if points:
        name = program.rpartition("/")[2]
        plot(points, file, f"{name}, {options['cores']} cores of {options['threads']} threads")
    if as_json:
        print_json(
            {
                "program": program,
                "cores": options["cores"],
                "threads": options["threads"],
                "seed": mix.seed,
                "packets": mix.packets,
                "most": most,
                "complete": complete,
                "curve": points,
            }
        )
    else:
        click.echo(f"{program}: at most {most / 1e6:.3f} M packets/s of this mix")
        ranks = ("50", "90", "99", "99.9", "mean")
        table(
            [">offered", ">reached", *(f">{r if r == 'mean' else r + ' %'}" for r in ranks)],
            [
                (
                    f"{p['offered_rate'] / 1e6:.3f} M/s",
                    f"{p['packet_rate'] / 1e6:.3f} M/s",
                    *(f"{1e6 * p['latency_seconds'][r]:.2f} us" for r in ranks),
                )
                for p in points
            ],
        )
    return ANSWERED if complete else UNKNOWN


def _fields(program, cores, threads, mix, found, fault):
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
        "mac_fault": fault,
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


def _show(program, cores, threads, mix, found, fault):
    offered = f"{per_second(mix.rate)} packets/s arrive" if mix.rate else "there is always a packet"
    click.echo(f"{program}: {cores} cores of {threads} threads, {offered}")
    click.echo(
        f"packet rate  {found.packet_rate / 1e6:.3f} M/s, limited by {LIMITED_BY[found.bottleneck]}"
    )
    if fault:
        click.echo(
            f"or           {fault['low'] / 1e6:.3f} M/s and more, when the MAC's fault strikes: it did "
            f"in {fault['struck']} of {fault['measured']} measurements of such rates"
        )
    if found.dropped:
        click.echo(f"dropped      {grouped(found.dropped)} of {grouped(mix.packets)} packets")
    click.echo(f"busy         {busy(found.utilisation)}")
    click.echo(f"latency      {latencies(found.latency)}")
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


def _path(text):
    name, star, weight = text.rpartition("*")
    if not star:
        return {"path": text}
    try:
        return {"path": name, "weight": float(weight)}
    except ValueError:
        raise click.UsageError(f"--path {text}: '{weight}' is no weight; write PATH*2.5") from None
