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
}


@click.command(cls=Commands, table=COMMANDS)
def command():
    """Performance interfaces of eBPF/XDP programs, from object files.

    OBJECT is an ELF file for eBPF, as clang and libbpf make and load them: models/bpf/README.md.
    """
