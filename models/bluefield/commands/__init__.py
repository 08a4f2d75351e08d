"""Contention on a BlueField-2: what co-located functions deliver, why, and where to place them."""

import click
from lpn.command import Commands

_ABOUT = {
    "simulate": "Throughput, latency and bottleneck of a scenario, simulated.",
    "predict": "Throughput by laws and trained predictors, with intervals.",
    "diagnose": "What holds each function back, and how that shifts with traffic.",
    "profile": "Measure a function under a quota, where it matters.",
    "measure": "Measure one configuration by simulation, for profile.",
    "train": "Train a predictor of one function from its profiles.",
    "evaluate": "Judge a predictor and its baselines on measured rows.",
    "place": "Place arriving functions on NICs under promised drops; compare policies.",
}
# Command -> (module, function, what it does). `measure` is what `profile` may drive, and lies with it.
COMMANDS = {
    name: (f"{__name__}.{'profile' if name == 'measure' else name}", name, about)
    for name, about in _ABOUT.items()
}


@click.command(cls=Commands, table=COMMANDS, name="bluefield")
def command():
    """Contention between network functions on one BlueField-2: cores, regex and compression engines, memory.

    SCENARIO is a JSON file; models/bluefield/scenario.py describes it.
    """
