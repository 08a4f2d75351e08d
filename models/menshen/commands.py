"""When each packet leaves Menshen's pipeline, and the rate of a stream."""

import dataclasses

import click

from lpn.command import ANSWERED, counted, engine_option, grouped, json_option, params_option
from lpn.command import print_json, precise_rate as rate, table


@click.command()
@click.argument("stream")
@params_option
@engine_option("interp")
@click.option("--each", is_flag=True, help="Every packet.")
@json_option
def command(stream, params, engine, each, as_json):
    """Latency of each data packet of STREAM, and the stream's throughput.

    STREAM: a capture, a list of packets or one of several by name (models/menshen/README.md). A
    latency is the clocks from a packet's first beat in to its last beat out.
    """
    from .latencies import departures, summary

    found, clock_mhz = departures(stream, params, engine)
    said = summary(found, clock_mhz)
    if as_json:
        packets = [{**dataclasses.asdict(p), "latency": p.latency} for p in found]
        print_json({"stream": stream, "clock_mhz": clock_mhz, **said, "each": packets})
        return ANSWERED
    if each:
        table(
            [">packet", ">bytes", ">first in", ">first out", ">last out", ">latency"],
            [
                [str(p.packet), *map(grouped, dataclasses.astuple(p)[1:]), grouped(p.latency)]
                for p in found
            ],
        )
        click.echo("")
    latency = said["latency"]
    click.echo(
        f"{counted(said['packets'], 'packet')} in {grouped(said['clocks'])} clocks of "
        f"{clock_mhz} MHz: {rate(said['packets_per_second'])}packets/s, "
        f"{rate(said['bits_per_second'])}bit/s"
    )
    click.echo(
        f"latency in clocks: least {grouped(latency['least'])}, mean {latency['mean']:.1f}, "
        f"p99 {grouped(latency['p99'])}, most {grouped(latency['most'])}"
    )
    return ANSWERED
