"""Contention on a BlueField-2: what co-located functions deliver, why, and where to place them."""

import click

# Command -> (module in this folder, what it does). They are imported on use. The module's object is
# `command`, or has the command's name.
_COMMANDS = {
    "simulate": ("simulate", "Throughput, latency and bottleneck of a scenario, simulated."),
    "predict": ("predict", "Throughput by laws and trained predictors, with intervals."),
    "diagnose": (
        "diagnose",
        "What holds each function back, and how that shifts with traffic.",
    ),
    "profile": ("profile", "Measure a function under a quota, where it matters."),
    "measure": ("profile", "Measure one configuration by simulation, for profile."),
    "train": ("train", "Train a predictor of one function from its profiles."),
    "evaluate": ("evaluate", "Judge a predictor and its baselines on measured rows."),
    "place": (
        "place",
        "Place arriving functions on NICs under promised drops; compare policies.",
    ),
}


class _Commands(click.Group):
    def list_commands(self, ctx):
        return list(_COMMANDS)

    def get_command(self, ctx, name):
        if name not in _COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"{__package__}.{_COMMANDS[name][0]}")
        return getattr(module, name, module.command)

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in _COMMANDS.items()])


@click.command(cls=_Commands, name="bluefield")
def command():
    """Contention between network functions on one BlueField-2: cores, regex and compression engines, memory.

    SCENARIO is a JSON file; models/bluefield/scenario.py describes it.
    """
