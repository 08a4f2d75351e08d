"""lpn nfp guarantee: what rate a program sustains whatever packets arrive, and its slowest packets."""

import os

import click

from lpn.command import (
    ANSWERED,
    UNKNOWN,
    Progress,
    json_option,
    note,
    print_json,
    precise_rate as rate,
    seconds,
    table,
)

from .. import costs as cost_table
from ..guarantee import guarantee as find
from ..program import load
from ..worst import write_packets
from .options import (
    costs_option,
    file_option,
    guaranteed_cores_option,
    limit_option,
    margin_option,
    metric_option,
    program_argument,
    unroll_option,
)
from .shown import shortened, unit_of

HOT = 12  # instructions that are shown
ROW = 16  # bytes of a packet per line
LONGEST = 565  # characters of a path


@click.command()
@program_argument
@metric_option("bit-rate")
@guaranteed_cores_option
@unroll_option
@click.option(
    "--paths",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many of the slowest paths.",
)
@limit_option
@costs_option
@margin_option
@click.option(
    "--overload",
    is_flag=True,
    help="The guarantee shall also hold when more arrives than it: the NIC's MAC has a fault that may "
    "strike then.",
)
@file_option(
    "--pcap",
    "pcap",
    "Also the slowest packets, one of each path, as a capture to be sent by a traffic generator.",
)
@click.option(
    "--listing", is_flag=True, help="Also the whole slowest path, instruction by instruction."
)
@json_option
def guarantee(
    program,
    metric,
    cores,
    unroll,
    paths,
    limit,
    costs,
    margin,
    overload,
    pcap,
    listing,
    as_json,
):
    """What rate PROGRAM sustains whatever packets arrive, and the packets that are slowest.

    \b
    lpn nfp guarantee firewall.asm
    lpn nfp guarantee firewall.asm --metric packet-rate --paths 5
    lpn nfp guarantee loop.asm --unroll 160 --json

    Exit status: 0 the slowest packet was found; 2 something is wrong; 3 a limit or Ctrl-C came
    first: what is guaranteed by then is shown.
    """
    table_of_costs = cost_table.load(costs)
    shown = Progress(1)
    unit = unit_of(metric)
    found = find(
        program,
        metric,
        cores,
        unroll,
        paths,
        limit,
        table_of_costs,
        progress=lambda r, n, states: shown.say(
            f"at least {rate(r)}{unit}; {n} found, {states} states"
        ),
        margin=margin,
        overload=overload,
    )
    shown.clear()
    for slow in found.slowest:
        if not slow.replayed:
            raise RuntimeError(
                f"the interpreter does not confirm path {slow.path}; please report this program"
            )
    if pcap:
        write_packets(pcap, load(program, table_of_costs, unroll), found.slowest)
    if as_json:
        print_json(_fields(program, found, table_of_costs, unroll))
    else:
        _show(program, found, table_of_costs, unit, unroll, listing)
    return ANSWERED if found.verdict == "exact" else UNKNOWN


def _fields(program, found, costs, unroll):
    slowest = [_slow(one) for one in found.slowest]
    if slowest:
        steps = load(program, costs, unroll).steps(found.slowest[0].path)
        slowest[0]["source"] = _by_source(steps)
    return {
        "program": os.path.basename(program),
        "metric": found.metric,
        "cores": found.cores,
        "verdict": found.verdict,
        "guarantee": {
            "rate": found.rate,
            "unit": unit_of(found.metric),
            "decides": found.decides,
            "holds_in_overload": found.overload or found.mac_fault is None,
            "margin_percent": {"program": found.margins.program, "mac": found.margins.mac},
            "limits": found.limits,
        },
        "mac_fault": found.mac_fault,
        "naive": found.naive,
        "slowest": slowest[0] if slowest else None,
        "paths": slowest,
        "unsat_before": None if found.unsat_before is None else int(found.unsat_before),
        "loops": found.loops,
        "search": found.search,
        "seconds": round(found.seconds, 6),
    }


def _slow(one):
    out = {
        "path": one.path,
        "cycles": one.cycles,
        "max_cycles": one.max_cycles,
        "dram_cycles": one.dram_cycles,
        "packet_size": one.packet_size,
        "bit_rate": one.bit_rate,
        "packet_rate": one.packet_rate,
        "bottleneck": one.bottleneck,
        "packet": " ".join(_packet(one)),
        "memory": _memory(one),
    }
    beyond = {k: v for k, v in one.packet.items() if not 0 <= k < one.packet_size}
    if beyond:
        out["beyond_packet"] = {str(k): f"{v:02x}" for k, v in sorted(beyond.items())}
    return out


def _packet(one):
    """Its bytes in hex, '--' where any will do."""
    return [f"{one.packet[k]:02x}" if k in one.packet else "--" for k in range(one.packet_size)]


def _memory(one):
    """{offset of the first: bytes in hex} of neighbouring bytes."""
    runs = {}
    begin = last = None
    for offset in sorted(one.memory):
        if last is None or offset != last + 1:
            begin = offset
            runs[begin] = []
        runs[begin].append(f"{one.memory[offset]:02x}")
        last = offset
    return {f"0x{begin:08x}": " ".join(run) for begin, run in runs.items()}


def _show(program, found, costs, unit, unroll, listing):
    exact = found.verdict == "exact"
    click.echo(
        f"{os.path.basename(program)}: {rate(found.rate)}{unit} guaranteed with {found.cores} cores"
        + ("" if exact else ", as far as the search came")
    )
    click.echo(_why(found, unit))
    rows = [
        [
            "control flow alone",
            "",
            found.naive["cycles"],
            f"{found.naive['dram_cycles']:.2f}",
            found.naive["packet_size"],
            rate(found.naive["packet_rate"]),
            rate(found.naive["bit_rate"]),
            "",
        ]
    ]
    for k, one in enumerate(found.slowest):
        rows.append(
            [
                f"path {k + 1}",
                len(one.path.replace("->", "--").split("--")) - 1,
                one.cycles,
                f"{one.dram_cycles:.2f}",
                one.packet_size,
                rate(one.packet_rate),
                rate(one.bit_rate),
                one.bottleneck,
            ]
        )
    click.echo("")
    table(
        ["", ">blocks", ">cycles", ">DRAM cycles", ">bytes", ">packets/s", ">bit/s", "bottleneck"],
        rows,
    )
    if found.slowest:
        slow = found.slowest[0]
        click.echo(f"\npath 1: {shortened(slow.path, LONGEST)}")
        if found.unsat_before:
            click.echo(
                f"{found.unsat_before:.6g} paths of the control flow would be slower; no packet takes them"
            )
        _hot(program, slow, costs, unroll, listing)
        click.echo("\npacket")
        parts = _packet(slow)
        for at in range(0, len(parts), ROW):
            click.echo(f"  0x{at:04x}  " + " ".join(parts[at : at + ROW]))
        memory = _memory(slow)
        if memory:
            click.echo("memory")
            for offset, run in memory.items():
                click.echo(f"  {offset}  {run}")
    if not found.overload:
        _warn_of_fault(found.mac_fault)
    if found.loops["found"]:
        note(f"loops run at most {found.loops['limit']} times: a counter says so")
    elif not found.loops["proved"]:
        note(
            f"that loops end within --unroll {found.loops['limit']} was not proved: the guarantee holds for "
            "packets that do not loop longer"
        )
    if not exact:
        note(
            "stopped by "
            + ("Ctrl-C" if found.interrupted else "--limit, or by Z3's limit for one question")
        )
    search = found.search
    click.echo(
        f"\n{seconds(found.seconds)}, {search['states']} states, {search['refuted']} contradictions, "
        f"{search['z3_checks']} questions to Z3",
        err=True,
    )


def _why(found, unit):
    """What decides the guarantee, beside what does not."""
    margins = {"program": found.margins.program, "MAC": found.margins.mac, "ports": 0}
    rest = ", ".join(
        f"{name} {rate(value)}{unit}" + (f" less {margins[name]:g} %" if margins[name] else "")
        for name, value in found.limits.items()
    )
    return f"decided by the {found.decides}: {rest}"


def _warn_of_fault(fault):
    if fault:
        note(
            f"warning: when more arrives than a NIC does that could do {fault['from'] / 1e6:g} to "
            f"{fault['to'] / 1e6:g} M packets/s, its MAC may fall to {fault['falls_to'] / 1e6:.3g} M "
            "packets/s, less than guaranteed here; packets of this program may be such, so keep what "
            "arrives below the guarantee, or ask for one that holds then too: --overload"
        )


def _hot(program, slow, costs, unroll, listing):
    """The instructions of a path that take most, over all times they are run."""
    steps = load(program, costs, unroll).steps(slow.path)
    sums = {}
    for number, line, text, cycles, dram, place, statement in steps:
        if text == "fin":
            continue
        entry = sums.setdefault(number, [number, line, text, 0, 0, 0.0, place or statement])
        entry[3] += 1
        entry[4] += cycles
        entry[5] += dram
    weight = 5 if slow.bottleneck == "memory engine" else 4
    hot = sorted(sums.values(), key=lambda entry: (-entry[weight], -entry[4], entry[0]))[:HOT]
    sourced = any(entry[6] for entry in hot)
    click.echo("")
    table(
        [
            ">line",
            ">id",
            "instruction",
            ">times",
            ">cycles",
            ">DRAM cycles",
            *(["source"] if sourced else []),
        ],
        [
            [
                line,
                f".{number}",
                text,
                times,
                cycles,
                f"{dram:.2f}" if dram else "",
                *([source] if sourced else []),
            ]
            for number, line, text, times, cycles, dram, source in hot
        ],
        title=f"hot instructions; {costs['overhead']} cycles are the firmware's",
    )
    if sourced:
        click.echo("")
        table(
            ["source", "", ">cycles", ">DRAM cycles"],
            [
                (
                    s["place"],
                    s["statement"],
                    s["cycles"],
                    f"{s['dram_cycles']:.2f}" if s["dram_cycles"] else "",
                )
                for s in _by_source(steps)[:HOT]
            ],
            title="hot lines of the source",
        )
    if not listing:
        return
    chosen = {entry[0] for entry in hot}
    click.echo("")
    table(
        [">line", ">id", ">cycles", "", "instruction"],
        [
            [line, f".{number}", cycles, "*" if number in chosen else "", text]
            for number, line, text, cycles, *_ in steps
            if text != "fin"
        ],
        title="the whole path; * is hot",
    )


def _by_source(steps):
    """[{"place", "statement", "cycles", "dram_cycles"}] of the source that the listing names, the
    costliest first; none where it names none.
    """
    sums = {}
    for _, _, text, cycles, dram, place, statement in steps:
        if text != "fin" and (place or statement):
            entry = sums.setdefault((place, statement), [0, 0.0])
            entry[0] += cycles
            entry[1] += dram
    return [
        {"place": place, "statement": statement, "cycles": cycles, "dram_cycles": dram}
        for (place, statement), (cycles, dram) in sorted(
            sums.items(), key=lambda s: (-s[1][0], s[0])
        )
    ]
