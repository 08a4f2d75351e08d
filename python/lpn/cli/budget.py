"""The options that say what a run may use."""

import click

from ..command import FiniteRange

__all__ = ["budget_options"]

_OPTIONS = (
    click.option(
        "--max-memory",
        type=click.IntRange(0),
        metavar="MIB",
        help="What tokens and firings of a run may use; three quarters of the machine's memory unless "
        "given, 0: any.",
    ),
    click.option("--max-time", type=FiniteRange(0), metavar="SECONDS", help="What a run may take."),
    click.option(
        "--max-tokens",
        type=click.IntRange(0),
        metavar="N",
        help="Tokens there may be at the start.",
    ),
    click.option(
        "--max-firings",
        type=click.IntRange(0),
        metavar="N",
        help="Firings there may be at one time.",
    ),
    click.option(
        "--max-groups", type=click.IntRange(0), metavar="N", help="Groups there may be at one time."
    ),
)


def budget_options(command):
    """--max-memory, --max-time, --max-tokens, --max-firings and --max-groups of a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
