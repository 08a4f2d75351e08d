"""lpn nfp graph: the control flow of a program, for Graphviz or as JSON."""

import click

from lpn.command import ANSWERED, json_option, print_json

from .. import costs as cost_table
from ..program import load


@click.command()
@click.argument("program", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--unroll", metavar="N|N:BLOCK,...", help="How often a loop, or a block of it, may run."
)
@click.option(
    "--costs",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A cost table of your own.",
)
@click.option("--code", is_flag=True, help="Every block with its instructions.")
@json_option
def graph(program, unroll, costs, code, as_json):
    """The control-flow graph of PROGRAM, with cycles on its edges, as Graphviz text.

    \b
    lpn nfp graph firewall.asm | dot -Tsvg > firewall.svg
    lpn nfp graph loop.asm --unroll 4 --json
    """
    drawn = load(program, cost_table.load(costs), unroll).graph()
    if as_json:
        print_json(
            {
                "instructions": [
                    {"id": i, "line": line, "text": text} for i, line, text in drawn["instructions"]
                ],
                "blocks": [
                    {"id": i, "round": depth, "instructions": parts}
                    for i, depth, parts in drawn["blocks"]
                ],
                "edges": [
                    {
                        "from": None if source < 0 else source,
                        "to": to,
                        "taken": taken,
                        "cycles": body,
                        "last_cycles": last,
                        "last_cycles_taken": last_taken,
                        "dram_cycles": dram,
                    }
                    for source, to, taken, body, last, last_taken, dram in drawn["edges"]
                ],
            }
        )
        return ANSWERED
    names = [f".{i}" + (f" round {depth + 1}" if depth else "") for i, depth, _ in drawn["blocks"]]
    click.echo("digraph program {\n  node [shape=box, fontname=monospace];")
    for k, (_, _, parts) in enumerate(drawn["blocks"]):
        lines = [names[k]]
        if code:
            lines += [
                f".{drawn['instructions'][p][0]}  {drawn['instructions'][p][2]}" for p in parts
            ]
        else:
            lines.append(f"{len(parts)} instruction" + ("" if len(parts) == 1 else "s"))
        text = "".join(line.replace("\\", "\\\\").replace('"', '\\"') + "\\l" for line in lines)
        click.echo(f'  b{k} [label="{text}"];')
    for source, to, taken, body, last, last_taken, dram in drawn["edges"]:
        if source < 0:
            click.echo(f"  start [shape=point];\n  start -> b{to};")
            continue
        label = f"{body}+{last}" + (f"/{last_taken}" if last_taken != last else "")
        label += f", DRAM {dram:.2f}" if dram else ""
        click.echo(f'  b{source} -> b{to} [label="{label}"{"" if taken else ", style=dashed"}];')
    click.echo("}")
    return ANSWERED
