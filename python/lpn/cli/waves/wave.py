"""lpn wave: recorded waveforms of RTL: their channels, why they waited, where two recordings part."""

import click

from ...command import (
    ANSWERED,
    UNKNOWN,
    Commands,
    Progress,
    counted,
    grouped,
    json_option,
    note,
    print_json,
    table,
)
from ...errors import without_place
from ...interrupt import Interrupt
from .page import check, name_of, page_options, write

TABLE = {
    "channels": (
        "lpn.cli.waves.wave",
        "channels",
        "Propose a map of FILE's channels from its names.",
    ),
    "stalls": (
        "lpn.cli.waves.wave",
        "stalls",
        "Transfers, back-pressure and starvation per channel.",
    ),
    "compare": (
        "lpn.cli.waves.compare",
        "compare",
        "Where two recordings, or a model and one, part.",
    ),
}

map_option = click.option(
    "--map",
    "map_file",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="M",
    help="Which signals are channels: a TOML file (lpn wave channels proposes one).",
)


@click.command(cls=Commands, table=TABLE)
def wave():
    """Recorded waveforms of RTL: .vcd, .vcd.gz, .vcd.xz, .fst, or - for a VCD on stdin."""


def read(recordings, step):
    """Reads by `step()` until it is False, with progress; True when Ctrl-C ended it."""
    progress = Progress(1)
    with Interrupt() as stop:
        try:
            while step():
                done = [r.position for r in recordings]
                megabytes = sum(at for at, _ in done) / 1e6
                share = ""
                if all(total for _, total in done):
                    share = f" of {sum(total for _, total in done) / 1e6:.0f}"
                progress.say(f"{recordings[0].path}: {megabytes:.0f}{share} MB")
                if stop.asked:
                    return True
        finally:
            progress.clear()
    return False


def whole(recording, interrupted):
    """Says what of a recording is missing; the status that follows."""
    if recording.damage is not None:
        if recording.time < 0:
            raise without_place("E-wave", f"{recording.path}, {recording.damage}")
        note(
            f"{recording.path}, {recording.damage}; what follows is complete up to time "
            f"{grouped(recording.time)}"
        )
    elif interrupted:
        note(f"interrupted: complete up to time {grouped(recording.time)} of the recording")
    return UNKNOWN if recording.damage is not None or interrupted else ANSWERED


@click.command()
@click.argument("file")
@json_option
def channels(file, as_json):
    """Prints a map of FILE's channels, a TOML file, proposed from the names of its signals.

    Found are pairs of valid and ready (rdy, accept, ack) in one scope, valid alone, start with done,
    busy, and as payload what begins like the valid. Read the map before you use it.
    """
    from ...waves.propose import propose, written
    from ...waves.recording import read_signals

    signals = read_signals(file)
    proposal = propose(signals)
    if as_json:
        print_json(
            {
                "file": file,
                "signals": len(signals.variables),
                "clocks": proposal.clocks,
                "resets": proposal.resets,
                "channels": {
                    name: {**keys, "guess": proposal.guesses.get(name)}
                    for name, keys in proposal.channels.items()
                },
            }
        )
        return ANSWERED
    click.echo(written(proposal, file), nl=False)
    if not proposal.channels:
        note(
            f"no name among {counted(len(signals.variables), 'signal')} looks like a valid, start or "
            "busy signal; write [channels.NAME] yourself"
        )
    return ANSWERED


@click.command()
@click.argument("file")
@map_option
@click.option(
    "--window",
    type=click.IntRange(1, 100_000),
    default=16,
    show_default=True,
    metavar="N",
    help="Cycles within which one channel's release is looked for behind another's.",
)
@page_options
@json_option
def stalls(file, map_file, window, output, part, as_json):
    """Counts, per channel of the recording FILE: transfers, back-pressure (valid without ready),
    starvation (ready without valid), bursts; and tells whose back-pressure holds whose.

    Exit status: 0 counted; 2 something is wrong; 3 FILE ends before its end, or Ctrl-C: the counts
    are those up to there.
    """
    from ...waves.maps import read_map
    from ...waves.recording import Picture, Recording
    from ...waves.stalls import stalls as of
    from ...waves.timeline import about_stalls, recorded_lanes

    check(output, part)
    picture = None if output is None else Picture(part, times=True)
    with Recording(file, read_map(map_file), window=window, picture=picture) as recording:
        interrupted = read([recording], recording.step)
        found = of(recording)
        status = whole(recording, interrupted)
        found["interrupted"] = interrupted
        found["complete_to"] = recording.time
        origin = recording.clock_totals(0)[1]
        if output is not None:
            about = about_stalls(recording, found, name_of(file))
            size = write(output, about, [recorded_lanes(recording)], part)
            found["page"] = {"file": output, "bytes": size}
    if as_json:
        print_json(found)
        return status
    if origin is None:
        note(
            "cycles are counted from the first edge: reset, or the origin's channel, never allows more"
        )
    _show(found)
    if output is not None:
        tell_page(output, size)
    return status


def tell_page(output, size):
    click.echo(f"\n{output}: {size / 1e6:.1f} MB; open it in a browser")


def _percent(part):
    return "-" if part is None else f"{part:.1%}"


def _number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def _show(found):
    handshakes = [row for row in found["channels"] if "bursts" in row]
    operations = [row for row in found["channels"] if "duration" in row]
    if handshakes:
        table(
            ["channel", *(f">{name}" for name in (
                "transfers", "first", "last", "per cycle", "back-pressure", "longest", "starved",
                "longest", "bursts", "mean", "longest",
            ))],
            [_handshake(row) for row in handshakes],
        )  # fmt: skip
    if operations:
        if handshakes:
            click.echo("")
        table(
            [
                "operation",
                *(
                    f">{name}"
                    for name in ("times", "first", "last", "busy", "shortest", "mean", "longest")
                ),
            ],
            [
                [
                    row["channel"],
                    grouped(row["transfers"]),
                    grouped(row["first"]),
                    grouped(row["last"]),
                    grouped(row["busy"]),
                    grouped(row["duration"]["least"]),
                    _number(row["duration"]["mean"], 1),
                    grouped(row["duration"]["most"]),
                ]
                for row in operations
            ],
        )
    for row in found["channels"]:
        if row["unknown"]:
            note(
                f"{row['channel']}: x or z decides in {counted(row['unknown'], 'cycle')}, which count as none"
            )
    click.echo("")
    if not found["links"]:
        click.echo("no channel's back-pressure follows that of another one")
    for chain in found["chains"]:
        click.echo("held by: " + " <- ".join(chain))
    for link in found["links"]:
        when = (
            "in the same cycle as" if link["lag"] == 0 else f"{counted(link['lag'], 'cycle')} after"
        )
        click.echo(
            f"  {link['victim']}: {grouped(link['following'])} of {grouped(link['releases'])} releases "
            f"{when} one of {link['culprit']}; begun after it in {grouped(link['begun_before'])} of "
            f"{counted(link['episodes'], 'episode')}"
        )


def _handshake(row):
    stalled, starved = row.get("back_pressure"), row.get("starvation")

    def waited(of):
        if of is None:
            return ["-", "-"]
        return [f"{grouped(of['cycles'])} {_percent(of['share'])}", grouped(of["longest"])]

    return [
        row["channel"],
        grouped(row["transfers"]),
        grouped(row["first"]),
        grouped(row["last"]),
        _number(row["throughput"], 3),
        *waited(stalled),
        *waited(starved),
        grouped(row["bursts"]["count"]),
        _number(row["bursts"]["mean"], 1),
        grouped(row["bursts"]["longest"]),
    ]
