"""SmartNIC programs on the Netronome NFP: guaranteed rates, the slowest packets, simulation."""

import importlib

import click

# Subcommand -> (module, function); loaded when called.
COMMANDS = {
    "guarantee": ("models.nfp.commands.guarantee", "guarantee"),
    "graph": ("models.nfp.commands.graph", "graph"),
    "simulate": ("models.nfp.commands.simulate", "simulate"),
    "compare": ("models.nfp.commands.compare", "compare"),
    "sweep": ("models.nfp.commands.sweep", "sweep"),
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
