"""Performance interfaces of eBPF/XDP programs: what every class of packets costs, from object files."""

import click
from lpn.command import Commands

# Subcommand -> (module, function, what it does).
COMMANDS = {
    "interface": (
        f"{__name__}.interface",
        "interface",
        "What every class of packets and map states costs.",
    ),
    "diff": (
        f"{__name__}.diff",
        "diff",
        "Which packets a new version makes dearer, or end otherwise.",
    ),
    "diagnose": (
        f"{__name__}.diagnose",
        "diagnose",
        "Which variable explains what the packets of a trace cost, or how long they took.",
    ),
    "load": (
        f"{__name__}.load",
        "load",
        "Rates, losses and latencies of a trace on a host with several cores.",
    ),
    "explain": (
        f"{__name__}.explain",
        "explain",
        "A class by a packet and map entries that reach it, with source lines.",
    ),
}


@click.command(cls=Commands, table=COMMANDS)
def command():
    """Performance interfaces of eBPF/XDP programs, from object files.

    OBJECT is an ELF file for eBPF, as clang and libbpf make and load them: models/bpf/README.md.
    """
