"""lpn bpf interface: what every class of packets and map states costs."""

import click

from lpn.command import ANSWERED, UNKNOWN, json_option, note, print_json, table

from .options import object_argument, program_options, taken


@click.command()
@object_argument
@program_options
@click.option("--metric", type=click.Choice(["insns", "mem"]), default="insns", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The interface as a module.")
@click.option("--text", is_flag=True, help="The interface as Python text on stdout.")
@json_option
def interface(path, metric, output, text, as_json, **options):
    """The performance interface of an XDP program: classes of packets and map states, what each
    costs, how it ends, and a packet with a map state as a witness.

    \b
    lpn bpf interface filter.bpf.o
    lpn bpf interface filter.bpf.o --section xdp --json
    lpn bpf interface filter.bpf.o -o perf.py

    Exit status: 0 answered; 2 something is wrong or not modelled; 3 answered with intervals,
    because time was over.
    """
    from ..interface import extract
    from ..report import report
    from ..writer import write

    found = extract(path, **taken(**options))
    status = ANSWERED if found.explored.complete else UNKNOWN
    for each in found.explored.notes:
        note(each)
    module = write(found, metric) if text or output else None
    if output:
        with open(output, "w", encoding="utf-8") as file:
            file.write(module)
    if as_json:
        print_json(report(found, metric))
    elif text:
        click.echo(module, nl=False)
    elif not output:
        _show(found)
    return status


def _show(found):
    from ..report import condition_texts, formulas

    click.echo(
        f"{found.function.name} (section {found.function.section}): {len(found.classes)} classes,"
        f" a partition {found.partition}"
    )
    for each in found.assumptions:
        click.echo(f"assumed: {each}")
    click.echo("")
    table(
        ["class", ">insns", ">memory", "verdict", "when"],
        [
            (
                one.name,
                interval(one.bounds["insns"]),
                interval(one.bounds["mem"]),
                " or ".join(v for _, v in one.verdicts),
                " and ".join(condition_texts(found, one)),
            )
            for one in sorted(found.classes, key=lambda c: c.bounds["insns"])
        ],
    )
    for each in formulas(found):
        click.echo(
            f"{each['formula']} insns, n = {each['n']}, {each['from']}..{each['to']}:"
            f" {', '.join(each['classes'])}"
        )


def interval(bounds):
    """'12', or '7..28'."""
    low, high = bounds
    return str(low) if low == high else f"{low}..{high}"
