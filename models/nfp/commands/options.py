"""Options that the commands on NFP programs share."""

import click

from lpn.command import FiniteRange, OutputFile

program_argument = click.argument("program", type=click.Path(exists=True, dir_okay=False))

unroll_option = click.option(
    "--unroll",
    metavar="N|N:BLOCK,...",
    help="How often a loop, or a block of it, may run, in all programs; found where a counter makes "
    "it evident.",
)
limit_option = click.option(
    "--limit",
    type=FiniteRange(0, min_open=True),
    metavar="S",
    help="Seconds for the search of each program: it stops with the guarantee of then.",
)
costs_option = click.option(
    "--costs",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A cost table of your own, for another firmware or NIC.",
)
margin_option = click.option(
    "--margin",
    type=FiniteRange(0, 100, max_open=True),
    metavar="PERCENT",
    help="How far the guarantee stays below the cost model; 0: not at all.  [default: the worst "
    "over-estimates measured, 1.7 for the program, 5.2 for the MAC]",
)
guaranteed_cores_option = click.option(
    "--cores", type=click.IntRange(1), help="Cores that run the programs.  [default: 50]"
)

# Of the NIC's net.
cores_option = click.option(
    "--cores",
    type=click.IntRange(1, 50),
    default=50,
    show_default=True,
    help="Cores in use, over 5 islands.",
)
threads_option = click.option(
    "--threads", type=click.IntRange(1, 8), default=4, show_default=True, help="Threads of a core."
)
buffer_option = click.option(
    "--buffer",
    type=click.IntRange(0, 10**9),
    default=0,
    metavar="PACKETS",
    help="How many packets may wait at the MAC before it drops; 0, the default: it drops none.",
)
even_option = click.option(
    "--even", is_flag=True, help="With --rate: packets arrive at equal distances."
)


def metric_option(default):
    return click.option(
        "--metric",
        type=click.Choice(["bit-rate", "packet-rate"]),
        default=default,
        show_default=True,
        help="What is to be guaranteed: bits or packets per second.",
    )


def rate_option(help):
    """--rate, packets per second that arrive; `help` says what is without it."""
    return click.option("--rate", type=FiniteRange(1, 1e9), metavar="PPS", help=help)


def file_option(name, variable, help):
    """A file that the command writes beside its answer."""
    return click.option(
        name,
        variable,
        type=OutputFile(),
        metavar="FILE",
        help=help,
    )
