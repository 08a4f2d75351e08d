"""The VTA tensor accelerator: the best schedules of convolutions and matrix products."""

import click
from lpn.command import Commands

# Subcommand -> (module, function, what it does).
COMMANDS = {
    "tune": (f"{__name__}.tune", "tune", "The fastest schedule of a convolution or a product."),
}


@click.command(cls=Commands, table=COMMANDS)
def command():
    """The VTA tensor accelerator: the best schedules of convolutions and matrix products."""
