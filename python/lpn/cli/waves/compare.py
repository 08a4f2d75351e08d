"""lpn wave compare: where two recordings part, or a recording and a model."""

import click

from ...command import (
    ANSWERED,
    NO,
    UNKNOWN,
    compile_aloud,
    counted,
    engine_option,
    grouped,
    json_option,
    note,
    params_option,
    print_json,
    refuse_beside,
    table,
)
from ...errors import without_place
from .page import check, name_of, page_options, write
from .wave import map_option, read, tell_page, whole

ROUNDS = 6  # of runs in which given firings that overtake one another are told apart


@click.command()
@click.argument("words", nargs=-1, metavar="[MODEL INPUT FILE]")
@click.option(
    "--between",
    nargs=2,
    metavar="FILE1 FILE2",
    help="Two recordings, the reference first, in place of a model and one.",
)
@map_option
@params_option
@engine_option("interp")
@page_options
@json_option
def compare(words, between, map_file, params, engine, output, part, as_json):
    """Tells where two recordings part first (--between FILE1 FILE2), or MODEL's run on INPUT and the
    recording FILE: per channel or transition the first difference, with its cause as far as it can
    be told.

    Exit status: 0 no difference; 1 a difference; 2 something is wrong; 3 no difference as far as a
    recording goes that ends before its end, or until Ctrl-C; or nothing was compared.
    """
    check(output, part)
    page = None if output is None else (output, part)
    if between:
        if words:
            raise click.UsageError(
                f"--between compares two recordings; leave out {', '.join(words)}"
            )
        if params:
            raise click.UsageError("-p is of MODEL; leave it out with --between")
        refuse_beside("--between", {"map_file", "output", "part", "as_json"})
        return _between(*between, map_file, page, as_json)
    if len(words) not in (2, 3):
        raise click.UsageError("write MODEL INPUT FILE, or --between FILE1 FILE2")
    model, *input, file = words
    return _model(model, input[0] if input else None, file, map_file, params, engine, page, as_json)


def _status(found, recordings, interrupted):
    """Says what is missing of the recordings, and what may be wrong with the map; the status."""
    statuses = [whole(r, interrupted) for r in recordings]
    for recording in recordings:
        for k, channel in enumerate(recording.channels):
            unknown = recording.totals(k)["cycles"]["unknown"]
            if unknown:
                note(
                    f"{recording.path}, {channel.name}: x or z decides in {counted(unknown, 'cycle')}, "
                    "compared as without a transfer"
                )
    if found["first_divergence"] is not None:
        return NO
    if not any(row["compared"] for row in found.get("channels") or found["transitions"]):
        note("there was nothing to compare: no transfer on any channel; look at clock and reset")
        return UNKNOWN
    return UNKNOWN if UNKNOWN in statuses else ANSWERED


def _between(one, two, map_file, page, as_json):
    from ...waves.between import Comparison
    from ...waves.maps import read_map
    from ...waves.recording import Picture, Recording
    from ...waves.timeline import about_between, recorded_lanes

    if one == two == "-":
        raise click.UsageError("only one of the two can be stdin")
    pictures = [None if page is None else Picture(page[1]) for _ in range(2)]
    with Recording(one, read_map(map_file), keep=True, picture=pictures[0]) as first:
        with Recording(two, read_map(map_file), keep=True, picture=pictures[1]) as second:
            comparison = Comparison(first, second)
            interrupted = read([first, second], comparison.step)
            found = comparison.result(not interrupted)
            status = _status(found, [first, second], interrupted)
            if page is not None:
                about = about_between([first, second], found, [name_of(one), name_of(two)])
                lanes = [recorded_lanes(first), recorded_lanes(second)]
                found["page"] = {"file": page[0], "bytes": write(page[0], about, lanes, page[1])}
    if as_json:
        print_json(found | {"interrupted": interrupted})
        return status
    table(
        ["channel", *(f">{n}" for n in ("transfers", "in the other", "different", "first at", "transfer"))],
        [
            [
                row["channel"],
                *map(grouped, row["transfers"]),
                grouped(row["different"]),
                *_first(row),
            ]
            for row in found["channels"]
        ],
    )  # fmt: skip
    click.echo("")
    _tell(found["first_divergence"], found["channels"], "channel")
    if found["first_divergence"] is None:
        click.echo(
            "no difference" + ("" if found["whole"] else " as far as both recordings are complete")
        )
    if page is not None:
        tell_page(*found["page"].values())
    return status


def _first(row):
    first = row["first_divergence"]
    return ["-", "-"] if first is None else [grouped(first["cycle"]), grouped(first["transfer"])]


def _tell(first, rows, key):
    if first is None:
        return
    click.echo(
        f"first difference: cycle {grouped(first['cycle'])}, channel {first['channel']}, transfer "
        f"{grouped(first['transfer'])}"
    )
    different = [row for row in rows if row["first_divergence"] is not None]
    for row in sorted(different, key=lambda row: row["first_divergence"]["cycle"]):
        click.echo(f"  {row[key]}: {row['cause']}")
        payload = row.get("payload")
        if payload and payload[0] != payload[1] and None not in payload:
            names = [name for name in payload[0] if payload[0][name] != payload[1][name]]
            click.echo(
                "    "
                + ", ".join(
                    f"{name} {payload[0][name]} against {payload[1][name]}" for name in names
                )
            )


def _model(model, input, file, map_file, params, engine, page, as_json):
    from ...runs import execute, prepare
    from ...waves.maps import read_map
    from ...waves.model import Firings, Matched, guide_of
    from ...waves.model import compare as of
    from ...waves.recording import Picture, Recording
    from ...waves.timeline import about_model

    map = read_map(map_file)
    picture = None if page is None else Picture(page[1])
    with Recording(file, map, keep=True, picture=picture) as recording:
        names = [c.name for c in recording.channels]
        for firing in map.firings:
            if firing.channel not in names:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: transitions.{firing.name}: write the channel's number",
                )
        ready = prepare(model, input, map.parameters | dict(params), engine, trace=True)
        firings = Firings(map, ready.net)
        marking = ready.read()
        matched = [Matched(firing, recording) for firing in map.firings]

        def step():
            more = recording.step()
            for k in range(len(names)):
                rows = recording.take(k)
                for m in matched:
                    if m.k == k:
                        m.take(rows)
            return more

        interrupted = read([recording], step)
        _check_given(map, matched, firings)
        guide = guide_of(matched, firings, ready.net)
        library = None if guide else compile_aloud(ready)
        for _ in range(ROUNDS):
            firings.begin()
            run = execute(ready.net, ready.values, marking, library, observer=firings, guide=guide)
            firings.end(run.probed)
            interrupted = interrupted or run.ending == "interrupted"
            better = guide_of(matched, firings, ready.net)
            if interrupted or better == guide:
                break
            guide = better
        found = of(matched, firings, recording, recording.damage is None and not interrupted)
        status = _status(found, [recording], interrupted)
        if page is not None:
            titles = [
                f"{ready.model.name} {name_of(input) if input else ''}".strip(),
                name_of(file),
            ]
            about, lanes = about_model(map, recording, matched, firings, found, titles)
            found["page"] = {"file": page[0], "bytes": write(page[0], about, lanes, page[1])}
    found = {
        "model": ready.model.name,
        "input": input,
        "parameters": ready.parameters,
        "latency": run.latency,
        **found,
        "interrupted": interrupted,
    }
    if run.stalled:
        note(f"{ready.model.name} stalled; its firings up to there are compared")
    if as_json:
        print_json(found)
        return status
    _show_model(found)
    if page is not None:
        tell_page(*found["page"].values())
    return status


def _check_given(map, matched, firings):
    """Refuses instants that are given before the model begins."""
    for m in matched:
        times = m.times(firings.offset(m.firing)) if m.firing.given else []
        if times and times[0] < 0:
            raise without_place(
                "E-wave-map",
                f"{map.file}: transitions.{m.firing.name}: the first {m.firing.event} of "
                f"'{m.firing.transition}' would be at cycle {times[0]}; its offset is too large, or "
                "the origin too late",
            )


def _show_model(found):
    table(
        ["transition", "channel", *(f">{n}" for n in (
            "firings", "compared", "exact", "mean error", "worst", "first at", "firing",
        ))],
        [
            [
                f"{row['transition']} {row['event']}",
                row["channel"],
                grouped(row["firings"]),
                grouped(row["compared"]),
                grouped(row["exact"]),
                "-" if row["mean_error"] is None else f"{row['mean_error']:.1f}",
                grouped(row["worst_error"]),
                *(
                    ["-", "-"]
                    if row["first_divergence"] is None
                    else [
                        grouped(row["first_divergence"]["cycle"]),
                        grouped(row["first_divergence"]["firing"]),
                    ]
                ),
            ]
            for row in found["transitions"]
        ],
    )  # fmt: skip
    click.echo("")
    first = found["first_divergence"]
    if first is None:
        compared = sum(row["compared"] for row in found["transitions"])
        click.echo(f"no difference in {counted(compared, 'firing')}")
    _tell(first, found["transitions"], "entry")
