"""lpn nfp trace: what the packets of a capture do on the NIC."""

import os

import click

from lpn.command import (
    ANSWERED,
    UNKNOWN,
    Progress,
    grouped,
    json_option,
    note,
    print_json,
    precise_rate as per_second,
    table,
)

from .. import costs as cost_table
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
from .shown import LIMITED_BY, busy, latencies, shortened, time

_LONGEST = 60  # characters of a path in the table
_SUSTAINED = 100_000  # packets of the simulation of what rate the mix reaches
_ON_CURVE = 30_000  # and of each load of the curve


@click.command()
@program_argument
@click.argument("capture", type=click.Path(exists=True, dir_okay=False), metavar="CAPTURE.pcap")
@click.option(
    "--then",
    "more",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="PROGRAM.asm",
    help="Runs on the packets that the program before passes (XDP_PASS); may be given several times.",
)
@click.option(
    "--memory",
    "memories",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A program's DRAM before the first packet, as JSON; the first one is PROGRAM's, and so on. "
    " [default: zeros]",
)
@rate_option("Packets per second that arrive, in the capture's order; without it at its times.")
@even_option
@cores_option
@threads_option
@buffer_option
@click.option("--seed", type=click.IntRange(0, 2**62), default=1, show_default=True)
@unroll_option
@click.option(
    "--top",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many paths, and how many places of the programs, are shown.",
)
@file_option("--mix", "mix_file", "Also the mix of paths as a file for lpn nfp simulate.")
@file_option("--plot", "plot_file", "Also the paths' shares and latencies as .svg or .png.")
@file_option("--curve", "curve_file", "Also latencies of the mix over the load, as .svg or .png.")
@json_option
def trace(
    program,
    capture,
    more,
    memories,
    rate,
    even,
    cores,
    threads,
    buffer,
    seed,
    unroll,
    top,
    mix_file,
    plot_file,
    curve_file,
    as_json,
):
    """Which paths the packets of CAPTURE.pcap take through PROGRAM, and what that means.

    The mix of paths, what rate the NIC sustains of it, the latencies of these packets at the
    capture's times or at --rate, and where in the programs the cycles go.

    \b
    lpn nfp trace firewall.asm monday.pcap --rate 20e6 --plot monday.svg
    lpn nfp trace firewall.asm monday.pcap --then balancer.asm --mix monday.json

    Exit status: 0 answered; 2 something is wrong; 3 Ctrl-C came first: what is known is shown.
    """
    from lpn.plots import check_plot

    from .. import traffic as packets
    from ..curve import SHARES
    from ..mix_file import save
    from ..program import load

    if even and rate is None:
        raise click.UsageError("--even is how packets of a --rate arrive; give --rate PPS")
    names = [program, *more]
    if len(memories) > len(names):
        raise click.UsageError(f"{len(memories)} files of --memory for {len(names)} programs")
    for file in (plot_file, curve_file):
        if file:
            check_plot(file)
    if mix_file and more:
        raise click.UsageError("--mix is a file for one program; leave out --then")
    progress = Progress(1)
    progress.say("reading the capture", now=True)
    programs = [load(name, unroll=unroll) for name in names]
    contents = [packets.memory_of(file) for file in memories]
    contents += [{}] * (len(names) - len(contents))
    captured = packets.load_capture(capture)
    found = packets.follow(
        programs,
        captured,
        contents,
        progress=lambda n: progress.say(f"{grouped(n)} of {grouped(len(captured))} packets"),
    )
    mix = packets.Trace(
        programs,
        found,
        captured,
        rate=rate,
        arrivals="even" if even else "poisson",
        seed=seed,
    )

    sustained, measured, points = _simulated(mix, buffer, cores, threads, curve_file, progress)
    if points:
        from ..curve import plot

        plot(points, curve_file, f"{os.path.basename(capture)}, {cores} cores")
    progress.clear()
    complete = found.complete and sustained.complete and measured.complete
    complete = complete and (points is None or len(points) == len(SHARES))
    data = _fields(names, capture, found, mix, sustained, measured, points)
    data["complete"] = complete
    data["memory_assumed_zero"] = [
        name
        for k, (name, content) in enumerate(zip(names, contents))
        if not content
        and _reads_dram(programs[k], [path[k] for path in found.paths if k < len(path)])
    ]
    data["work"] = packets.work_of(names, programs, found)
    if mix_file:
        save(
            mix_file,
            program,
            [(path[0], number) for path, number in zip(found.paths, found.packets)],
            unroll,
        )
    if plot_file:
        _plot(plot_file, data, os.path.basename(capture))
    if as_json:
        print_json(data)
    else:
        _show(data, top)
    return ANSWERED if complete else UNKNOWN


def _simulated(mix, buffer, cores, threads, curve_file, progress):
    """(what the NIC sustains of a mix, what its packets meet, the points of the curve or None)."""
    from ..curve import curve
    from ..simulate import simulate

    def on_slice(time, firings):
        progress.say(f"{grouped(firings)} firings")

    options = {"cores": cores, "threads": threads, "on_slice": on_slice if progress.on else None}
    sustained = simulate(mix.mixture(min(_SUSTAINED, max(mix.packets, 10_000))), **options)
    measured = simulate(mix, buffer=buffer, whole=True, **options)
    if not (curve_file and sustained.complete and measured.complete):
        return sustained, measured, None
    points = curve(
        lambda at: mix.mixture(_ON_CURVE, rate=at),
        sustained.packet_rate,
        progress=lambda share: progress.say(f"at {share:.0%} of the rate", now=True),
        **options,
    )
    return sustained, measured, points


def _fields(names, capture, found, mix, sustained, measured, points):
    """What --json says."""
    clock = cost_table.load()["clock_hz"]
    paths = []
    for path, part in enumerate(mix.paths):
        cycles, banks = part.work(mix.overhead)
        paths.append(
            {
                "programs": list(found.paths[path]),
                "packets": found.packets[path],
                "share": found.packets[path] / len(found.of),
                "core_cycles": cycles,
                "bank_cycles": max(banks),
                "latency_seconds": _keys(measured.latency_by_path[path]),
            }
        )
    return {
        "programs": names,
        "capture": capture,
        "packets": len(found.of),
        "cut": found.cut,
        "padded": found.padded,
        "beyond": found.beyond,
        "paths": paths,
        "sustained_rate": sustained.packet_rate,
        "sustained_bottleneck": sustained.bottleneck,
        "offered_rate": mix.rate,
        "packet_rate": measured.packet_rate,
        "dropped": measured.dropped,
        "latency_seconds": _keys(measured.latency),
        "utilisation": measured.utilisation,
        "core_cycles": measured.cycles,
        "clock_hz": clock,
        **({"curve": points} if points is not None else {}),
    }


def _reads_dram(program, paths):
    return any(part[1] == "dram_read" for path in paths for part in program.segments(path))


def _keys(latency):
    return latency and {str(k): v for k, v in latency.items()}


def _plot(path, data, capture):
    """Share and latencies of each path, the most frequent one first."""
    from lpn.plots import plot_lines

    shares = [(k, 100 * p["share"]) for k, p in enumerate(data["paths"], 1)]
    lines = [
        (
            f"{at} %",
            [
                (k, 1e6 * p["latency_seconds"][at])
                for k, p in enumerate(data["paths"], 1)
                if p["latency_seconds"]
            ],
            False,
        )
        for at in ("50", "99", "99.9")
    ]
    panels = [("packets (%)", [(None, shares, False)]), ("latency (us)", lines)]
    plot_lines(panels, "path, by how many packets take it", path, capture)


def _show(data, top):
    names = " => ".join(os.path.basename(name) for name in data["programs"])
    click.echo(
        f"{names}: {grouped(data['packets'])} packets of {os.path.basename(data['capture'])} take "
        f"{grouped(len(data['paths']))} path{'s' * (len(data['paths']) != 1)}"
    )
    click.echo(
        f"this mix     at most {data['sustained_rate'] / 1e6:.3f} M packets/s, limited by "
        f"{LIMITED_BY[data['sustained_bottleneck']]}"
    )
    click.echo(
        f"offered      {per_second(data['offered_rate'])} packets/s; busy {busy(data['utilisation'])}"
    )
    if data["dropped"]:
        click.echo(f"dropped      {grouped(data['dropped'])} packets")
    click.echo(f"latency      {latencies(data['latency_seconds'])}")
    click.echo("")
    rows = []
    for path in data["paths"][:top]:
        latency = path["latency_seconds"]
        rows.append(
            [
                grouped(path["packets"]),
                f"{100 * path['share']:.2f} %",
                path["core_cycles"],
                f"{path['bank_cycles']:.2f}",
                *((time(latency[p]) for p in ("50", "99")) if latency else ("-", "-")),
                shortened(" => ".join(path["programs"]), _LONGEST),
            ]
        )
    table(
        [">packets", ">share", ">cycles", ">DRAM bank", ">50 %", ">99 %", "path"],
        rows,
    )
    rest = data["paths"][top:]
    if rest:
        share = sum(path["share"] for path in rest)
        click.echo(
            f"and {grouped(len(rest))} more paths, {100 * share:.2f} % of the packets; --top"
        )
    several = len(data["programs"]) > 1
    click.echo("")
    table(
        [
            ">share",
            ">cycles/packet",
            ">DRAM cycles",
            *(["program"] if several else []),
            ">line",
            "where",
            "",
        ],
        [
            (
                f"{100 * w['share']:.1f} %",
                f"{w['cycles_per_packet']:.2f}",
                f"{w['dram_cycles_per_packet']:.2f}",
                *([os.path.basename(w["program"])] if several else []),
                w["line"],
                w["place"],
                w.get("statement", ""),
            )
            for w in data["work"][:top]
        ],
        title="where the cycles of the programs go",
    )
    for sentence in _notes(data):
        note(sentence)


def _notes(data):
    if data["cut"]:
        yield (
            f"{grouped(data['cut'])} packets are left out: a program reads bytes of them that the "
            "capture does not have; capture whole packets (tcpdump -s 0)"
        )
    if data["padded"]:
        yield f"{grouped(data['padded'])} packets are shorter than the wire allows; padded with zeros"
    if data["beyond"]:
        most = cost_table.load()["max_packet"]
        yield f"{grouped(data['beyond'])} packets are larger than {most} bytes, which no guarantee covers"
    for name in data["memory_assumed_zero"]:
        yield (
            f"{os.path.basename(name)} reads DRAM, taken to hold zeros before the first packet; "
            "--memory FILE says what it holds"
        )
    if not data["complete"]:
        yield "interrupted: the figures are those of the packets so far"
