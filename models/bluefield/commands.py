"""Contention on a BlueField-2: what co-located functions deliver, why, and where to place them."""

import click

# Command -> (module next to this one, what it does). They are imported on use.
_COMMANDS = {
    "simulate": ("_cli_simulate", "Throughput, latency and bottleneck of a scenario, simulated."),
    "place": ("_cli_place", "Place arriving functions on NICs under promised drops; compare policies."),
}


class _Commands(click.Group):
    def list_commands(self, ctx):
        return list(_COMMANDS)

    def get_command(self, ctx, name):
        if name not in _COMMANDS:
            return None
        import importlib

        return importlib.import_module(f"{__package__}.{_COMMANDS[name][0]}").command

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in _COMMANDS.items()])


@click.command(cls=_Commands, name="bluefield")
def command():
    """Contention between network functions on one BlueField-2: cores, regex and compression engines, memory.

    SCENARIO is a JSON file; models/bluefield/scenario.py describes it.
    """
