"""lpn bpf load: what a program's cost does to rates and latencies on a host with several cores."""

import click

from lpn.command import (
    ANSWERED,
    FiniteRange,
    grouped,
    json_option,
    note,
    print_json,
    precise_rate as per_second,
    seconds,
    table,
)

from ..errors import refused
from .options import (
    aloud,
    carry_option,
    ifindex_option,
    maps_option,
    object_argument,
    program_options,
    taken,
)


@click.command()
@object_argument
@click.argument("trace", type=click.Path(exists=True, dir_okay=False), metavar="PCAP")
@program_options
@click.option("--clock", type=FiniteRange(1e3, 1e12), required=True, help="Of the cores, in hertz.")
@click.option("--cores", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option(
    "--ring",
    type=click.IntRange(1, 2**20),
    default=512,
    show_default=True,
    help="Packets that a core has, the one it works on included, before more are dropped.",
)
@click.option(
    "--overhead",
    type=click.IntRange(0, 2**20),
    default=0,
    show_default=True,
    help="Cycles of a packet beside what the cost table says.",
)
@click.option(
    "--spread",
    type=click.Choice(["flows", "even"]),
    default="flows",
    show_default=True,
    help="Which core has a packet: by a hash of its flow, or one after the other.",
)
@click.option(
    "--rate",
    type=FiniteRange(1, 1e12),
    help="Packets per second that arrive, in place of the trace's.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["trace", "even", "poisson"]),
    default="trace",
    show_default=True,
    help="The trace's gaps, stretched to --rate; or even or random ones of that rate.",
)
@click.option("--seed", type=click.IntRange(0), help="Of --arrivals poisson.  [default: 1]")
@maps_option
@carry_option
@ifindex_option
@json_option
def load(
    path,
    trace,
    clock,
    cores,
    ring,
    overhead,
    spread,
    rate,
    arrivals,
    seed,
    maps,
    carry_state,
    ingress_ifindex,
    as_json,
    **options,
):
    """The packet rate, losses and latencies of a program under the traffic of a trace, on a host whose
    cores run it: every packet takes the cycles that its class costs by the cost table.

    \b
    lpn bpf load lb.bpf.o trace.pcap --costs xeon.toml --clock 2.4e9 --cores 4
    lpn bpf load lb.bpf.o trace.pcap --costs xeon.toml --clock 2.4e9 --rate 20e6 --arrivals poisson

    Exit status: 0 answered; 2 something is wrong or not modelled.
    """
    from .. import host
    from ..deployment import read_trace, replay
    from ..interface import extract
    from ..worlds import read_maps

    options = taken(**options)
    if options["prices"] is None:
        raise click.UsageError("cycles need a cost table: give --costs TABLE")
    if arrivals != "trace" and rate is None:
        raise click.UsageError(f"--arrivals {arrivals} needs --rate R")
    if seed is not None and arrivals != "poisson":
        raise click.UsageError(f"--seed does nothing with --arrivals {arrivals}; leave it out")
    packets, cut = read_trace(trace)
    if cut:
        note(f"{cut} packets of the trace are cut off; they count as short as they were captured")
    if len(packets) < 2:
        raise refused("E-bpf-file", f"'{trace}' has one packet: that is no load")
    try:
        times = [when for when, _ in packets]
        gaps = host.gaps_of(times, clock, rate, arrivals, 1 if seed is None else seed)
    except ValueError as wrong:
        raise refused("E-bpf-file", f"'{trace}': {wrong}") from None
    found = extract(path, **options)
    tables = read_maps(maps, found.program) if maps else {}
    names, cycles = [], []
    replayed = replay(found, packets, tables, carry_state, ingress_ifindex)
    for one in aloud(replayed, len(packets)):
        names.append(one.name)
        cycles.append(one.run.cycles)
    by_core = [
        host.queue_of(content, cores) if spread == "flows" else number % cores
        for number, (_, content) in enumerate(packets)
    ]
    result = host.run(host.Load(names, cycles, by_core, gaps), cores, clock, ring, overhead)
    mean = sum(cycles) / len(cycles) + overhead
    capacity = cores * clock / mean if mean else None
    if as_json:
        print_json(_data(result, cores, clock, capacity, mean))
    else:
        _show(found, result, cores, capacity, mean)
    return ANSWERED


def _data(result, cores, clock, capacity, mean):
    return {
        "cores": cores,
        "clock_hz": clock,
        "packets": result.packets,
        "dropped": result.dropped,
        "offered_rate": result.offered,
        "packet_rate": result.served,
        "capacity": capacity,
        "cycles_per_packet": mean,
        "busy": result.busy,
        "latency_seconds": result.latency,
        "classes": [
            {"class": name, "packets": number, "dropped": lost, "latency_seconds": latency}
            for name, (number, lost, latency) in result.by_class.items()
        ],
        "seconds": result.seconds,
    }


def _time(value):
    return seconds(value) if value >= 1e-4 else f"{value * 1e6:.3f} us"


def _show(found, result, cores, capacity, mean):
    click.echo(
        f"{found.function.name}: {grouped(result.packets)} packets, {per_second(result.offered)}"
        f" packets/s on {cores} core{'s' if cores > 1 else ''}, {mean:.1f} cycles each"
    )
    lost = 100 * result.dropped / result.packets
    click.echo(
        f"served     {per_second(result.served)} packets/s, {grouped(result.dropped)} dropped"
        f" ({lost:.2g} %); evenly spread the cores would do {per_second(capacity)}"
        if capacity
        else f"served     {per_second(result.served)} packets/s"
    )
    click.echo("busy       " + ", ".join(f"{100 * each:.1f} %" for each in result.busy))
    heads = list(result.latency)
    table(
        ["class", ">packets", ">dropped", *(f">{name}" for name in heads)],
        [
            ("all", grouped(result.packets), result.dropped, *map(_time, result.latency.values())),
            *(
                (
                    name,
                    grouped(number),
                    gone,
                    *(_time(latency[h]) if latency else "-" for h in heads),
                )
                for name, (number, gone, latency) in result.by_class.items()
            ),
        ],
    )
