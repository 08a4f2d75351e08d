"""lpn bpf interface: what every class of packets and map states costs."""

import click

from lpn.command import ANSWERED, NO, UNKNOWN, json_option, note, print_json, table

from ..errors import refused
from .options import object_argument, program_options, taken


@click.command()
@object_argument
@program_options
@click.option("--metric", type=click.Choice(["insns", "mem"]), default="insns", show_default=True)
@click.option(
    "--resolution",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="R",
    help="Merges classes: no packet is off by more than R.",
)
@click.option("--all-resolutions", is_flag=True, help="The interface at every resolution.")
@click.option(
    "--resolution-rule",
    "rule",
    type=click.Choice(["half", "full"]),
    default="half",
    show_default=True,
    help="full: costs of a class differ by less than R.",
)
@click.option("--budget", type=click.IntRange(0), metavar="N", help="Which packets exceed N.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The interface as a module.")
@click.option("--text", is_flag=True, help="The interface as Python text on stdout.")
@json_option
def interface(
    path,
    metric,
    resolution,
    all_resolutions,
    rule,
    budget,
    output,
    text,
    as_json,
    **options,
):
    """The performance interface of an XDP program: classes of packets and map states, what each
    costs, how it ends, and a packet with a map state as a witness.

    \b
    lpn bpf interface filter.bpf.o
    lpn bpf interface filter.bpf.o --section xdp --json
    lpn bpf interface filter.bpf.o --resolution 3 -o perf.py
    lpn bpf interface filter.bpf.o --budget 27

    Exit status: 0 answered; 1 there are packets above the budget; 2 something is wrong or not
    modelled; 3 answered with intervals, because time was over.
    """
    from ..interface import at_resolution, extract, merged, over_budget
    from ..report import above, as_tree, at_resolutions, report
    from ..writer import write

    found = extract(path, **taken(**options))
    status = ANSWERED if found.explored.complete else UNKNOWN
    for each in found.explored.notes:
        note(each)
    trees = merged(found, metric, rule) if resolution > 1 or all_resolutions else None
    tree = at_resolution(trees, resolution) if trees else None
    data = report(found) if as_json else {}
    data.update({"metric": metric, "resolution": resolution, "resolution_rule": rule})
    if tree is not None:
        data["interface"] = as_tree(found, tree)
    if all_resolutions:
        data["resolutions"] = at_resolutions(found, trees)
    if budget is not None:
        rows = over_budget(found, metric, budget)
        data["budget"], data["above"] = budget, above(found, rows)
        status = NO if rows else status
    module = write(found, metric, tree, resolution, rule) if text or output else None
    if output:
        _save(output, module)
    if as_json:
        print_json(data)
    elif text:
        click.echo(module, nl=False)
    elif budget is not None:
        _show_budget(data)
    elif all_resolutions:
        table(
            [">resolution", ">classes"],
            [(each["resolution"], each["classes"]) for each in data["resolutions"]],
        )
    elif tree is not None:
        for line in _lines(data["interface"]):
            click.echo(line)
    elif not output:
        _show(found)
    return status


def _save(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as wrong:
        raise refused("E-bpf-file", f"cannot write '{path}': {wrong.strerror}") from None


def _lines(tree, indent=""):
    """A tree of --json, to read."""
    if "return" in tree:
        span = "" if tree["lo"] == tree["hi"] else f"  ({tree['lo']}..{tree['hi']})"
        return [f"{indent}{tree['return']}{span}  {tree['verdict'] or 'several verdicts'}"]
    return [
        f"{indent}if {tree['if']}:",
        *_lines(tree["then"], indent + "    "),
        f"{indent}else:",
        *_lines(tree["else"], indent + "    "),
    ]


def _show_budget(data):
    if not data["above"]:
        click.echo(f"no packet is above {data['budget']}")
        return
    table(
        [">cost", "classes", "when", "a packet"],
        [
            (
                interval((row["least"], row["most"])),
                " ".join(row["classes"]),
                " and ".join(row["when"]),
                "-" if row["witness"] is None else row["witness"]["packet"] or "empty",
            )
            for row in data["above"]
        ],
    )


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
