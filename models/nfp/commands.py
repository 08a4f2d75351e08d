"""SmartNIC programs on the Netronome NFP: guaranteed rates, the slowest packets, simulation."""

import importlib

import click

# Subcommand -> (module, function); loaded when called.
COMMANDS = {
    "guarantee": ("models.nfp._cli_guarantee", "guarantee"),
    "graph": ("models.nfp._cli_graph", "graph"),
    "simulate": ("models.nfp._cli_simulate", "simulate"),
    "compare": ("models.nfp._cli_compare", "compare"),
    "sweep": ("models.nfp._cli_sweep", "sweep"),
}


class _Commands(click.Group):
    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        module, function = COMMANDS[name]
        return getattr(importlib.import_module(module), function)


@click.command(cls=_Commands)
def command():
    """SmartNIC programs on the Netronome NFP: guaranteed rates, the slowest packets, simulation.

    PROGRAM.asm is an assembly listing as `nfp-bpf` firmware tools print it: models/nfp/README.md.
    """
