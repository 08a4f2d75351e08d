"""SmartNIC programs on the Netronome NFP: guaranteed rates, the slowest packets, simulation."""

import click
from lpn.command import Commands

# Subcommand -> (module, function, what it does).
COMMANDS = {
    "guarantee": (
        f"{__name__}.guarantee",
        "guarantee",
        "The rate sustained whatever packets arrive, and the slowest packets.",
    ),
    "graph": (
        f"{__name__}.graph",
        "graph",
        "The control-flow graph, with cycles on its edges, as Graphviz text.",
    ),
    "simulate": (
        f"{__name__}.simulate",
        "simulate",
        "Packet rate, latencies and bottleneck under a traffic mix.",
    ),
    "trace": (
        f"{__name__}.trace",
        "trace",
        "Paths, rate and latencies of the packets of a capture.",
    ),
    "chain": (
        f"{__name__}.chain",
        "chain",
        "The rate that several programs sustain, one behind the other.",
    ),
    "compare": (
        f"{__name__}.compare",
        "compare",
        "Whether the new version of a program is slower than the old.",
    ),
    "sweep": (
        f"{__name__}.sweep",
        "sweep",
        "Guaranteed rates of a family of programs that differ in a parameter.",
    ),
}


@click.command(cls=Commands, table=COMMANDS)
def command():
    """SmartNIC programs on the Netronome NFP: guaranteed rates, the slowest packets, simulation.

    PROGRAM.asm is an assembly listing as `nfp-bpf` firmware tools print it: models/nfp/README.md.
    """
