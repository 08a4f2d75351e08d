"""lpn bpf interface: what every class of packets and map states costs."""

import click

from lpn.command import ANSWERED, NO, UNKNOWN, OutputFile, json_option, note, print_json, table

from ..errors import refused
from .options import (
    carry_option,
    ifindex_option,
    maps_option,
    metric_of,
    metric_option,
    object_argument,
    program_options,
    taken,
)


@click.command()
@object_argument
@program_options
@metric_option
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
@click.option(
    "--deployment",
    type=click.Path(exists=True, dir_okay=False),
    metavar="PCAP",
    help="What the packets of a trace cost.",
)
@maps_option
@carry_option
@click.option("--percentiles", default="50,90,99,max", show_default=True, metavar="LIST")
@ifindex_option
@click.option("-o", "--output", type=OutputFile(), help="The interface as a module.")
@click.option("--text", is_flag=True, help="The interface as Python text on stdout.")
@json_option
def interface(
    path,
    metric,
    resolution,
    all_resolutions,
    rule,
    budget,
    deployment,
    maps,
    carry_state,
    percentiles,
    ingress_ifindex,
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
    lpn bpf interface filter.bpf.o --deployment trace.pcap --maps state.json --percentiles 50,99
    lpn bpf interface filter.bpf.o --costs nfp --costs maps.toml

    Exit status: 0 answered; 1 there are packets above the budget; 2 something is wrong or not
    modelled; 3 answered with intervals, because time was over.
    """
    from ..coarse import coarser
    from ..interface import at_resolution, extract, merged, over_budget
    from ..report import above, as_sums, as_tree, at_resolutions, report
    from ..writer import write

    ranks = _ranks(percentiles)
    if not deployment and (maps or carry_state):
        raise click.UsageError("--maps and --carry-state belong to --deployment PCAP")
    options = taken(**options)
    metric = metric_of(metric, options["prices"])
    found = extract(path, **options)
    status = ANSWERED if found.explored.complete else UNKNOWN
    for each in found.explored.notes:
        note(each)
    joined = found.tree is None and not all_resolutions
    if joined and rule == "full" and resolution > 1:
        raise click.UsageError("--resolution-rule full needs a tree of paths; these are joined")
    coarse = coarser(found, metric, resolution) if joined and resolution > 1 else found
    wanted = (resolution > 1 and not joined) or all_resolutions
    trees = merged(found, metric, rule) if wanted else None
    tree = at_resolution(trees, resolution) if trees else None
    data = report(found) if as_json else {}
    data.update({"metric": metric, "resolution": resolution, "resolution_rule": rule})
    if tree is not None:
        data["interface"] = as_tree(found, tree)
    elif coarse is not found:
        data["interface"] = as_sums(coarse, metric)
    if all_resolutions:
        data["resolutions"] = at_resolutions(found, trees)
    if budget is not None:
        rows = over_budget(found, metric, budget)
        data["budget"], data["above"] = budget, above(found, rows)
        status = NO if rows else status
    if deployment:
        traced = (deployment, maps, carry_state, ingress_ifindex)
        data["deployment"] = _deployed(found, metric, ranks, *traced)
    module = write(coarse, metric, tree, resolution, rule) if text or output else None
    if output:
        _save(output, module)
    if as_json:
        print_json(data)
    elif text:
        click.echo(module, nl=False)
    elif deployment:
        _show_deployment(data["deployment"])
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
    elif coarse is not found:
        table(
            ["class", ">cost", ">conditions", ">off by", "verdict"],
            [
                (
                    c["class"],
                    interval((c["least"], c["most"])),
                    c["conditions"],
                    c["off"],
                    c["verdict"],
                )
                for c in data["interface"]["classes"]
            ],
        )
    elif not output:
        _show(found)
    return status


def _ranks(text):
    """--percentiles as numbers; max is always told."""
    out = []
    for each in text.split(","):
        try:
            number = None if each.strip() == "max" else float(each)
        except ValueError:
            number = -1.0
        if number is not None and not 0 < number <= 100:
            raise click.UsageError(f"--percentiles: '{each}' is none of (0, 100] and not max")
        if number is not None:
            out.append(number)
    return out


def _deployed(found, metric, ranks, path, maps, carry, ifindex):
    from ..deployment import deploy, per_class, read_trace
    from ..worlds import read_maps

    packets, cut = read_trace(path)
    if cut:
        note(f"{cut} packets of the trace are cut off; they count as short as they were captured")
    tables = read_maps(maps, found.program) if maps else {}
    rows = deploy(found, packets, tables, metric, carry, ifindex)
    out = {"packets": len(rows), "cut_off": cut, "carry_state": carry, **per_class(rows, ranks)}
    seen = out["per_class"]
    out["never_seen"] = [
        {"class": c.name, "least": c.bounds[metric][0], "most": c.bounds[metric][1]}
        for c in found.classes
        if c.name not in seen
    ]
    return out


def _show_deployment(data):
    names = [name for name in data["overall"]]
    rows = [("all", data["overall"]), *data["per_class"].items()]
    table(
        ["class", *(f">{n}" for n in names)],
        [(name, *(f"{row[n]:g}" for n in names)) for name, row in rows],
    )
    for each in data["never_seen"]:
        click.echo(f"never seen: {each['class']}, {interval((each['least'], each['most']))}")


def _save(path, text):
    from lpn.runs import written

    try:
        with written(path) as file:
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
        [">cost", "classes", ">bytes", "when"],
        [
            (
                interval((row["least"], row["most"])),
                " ".join(row["classes"]),
                "-" if row["witness"] is None else len(row["witness"]["packet"]) // 2,
                " and ".join(row["when"]),
            )
            for row in data["above"]
        ],
    )


def _show(found):
    from ..report import condition_texts, formulas

    click.echo(
        f"{found.function.name} (section {found.function.section}): {len(found.classes)} "
        f"class{'es' * (len(found.classes) != 1)},"
        f" a partition {found.partition}"
    )
    for each in found.assumptions:
        click.echo(f"assumed: {each}")
    click.echo("")
    priced = found.prices is not None
    table(
        ["class", *([">cycles"] if priced else []), ">insns", ">memory", "verdict", "when"],
        [
            (
                one.name,
                *([cycles(one)] if priced else []),
                interval(one.bounds["insns"]),
                interval(one.bounds["mem"]),
                " or ".join(v for _, v in one.verdicts),
                " and ".join(condition_texts(found, one)),
            )
            for one in sorted(found.classes, key=lambda c: (c.bounds["cycles"], c.bounds["insns"]))
        ],
    )
    for each in formulas(found):
        click.echo(
            f"{each['formula']} insns, n = {each['n']}, {each['from']}..{each['to']}:"
            f" {', '.join(each['classes'])}"
        )


def cycles(one):
    """'414', or '414 + 12*blocked_ports.chain'."""
    terms = [f" + {each}*{name}" for name, each in sorted(one.cost.variables.items())]
    return interval(one.bounds["cycles"]) + "".join(terms)


def interval(bounds):
    """'12', or '7..28'."""
    low, high = bounds
    return str(low) if low == high else f"{low}..{high}"
