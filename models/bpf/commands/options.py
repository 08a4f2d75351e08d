"""Options that the commands on objects share."""

import click

from lpn.command import FiniteRange, Progress

from ..errors import refused

metric_option = click.option(
    "--metric",
    type=click.Choice(["insns", "mem", "cycles"]),
    help="What is counted; insns, or with --costs cycles, where nothing is said.",
)

maps_option = click.option(
    "--maps", type=click.Path(exists=True, dir_okay=False), metavar="JSON", help="Maps before it."
)
carry_option = click.option(
    "--carry-state", is_flag=True, help="Packets find the maps as those before left them."
)
ifindex_option = click.option(
    "--ingress-ifindex", type=click.IntRange(0), default=1, show_default=True
)


def aloud(replayed, packets):
    """The packets of a trace as they are replayed, with progress."""
    progress = Progress(packets)
    try:
        for one in replayed:
            yield one
            progress.step("packets replayed")
    finally:
        progress.clear()


def metric_of(metric, prices):
    """The metric that --metric and --costs mean."""
    if metric == "cycles" and prices is None:
        raise click.UsageError("--metric cycles needs --costs TABLE")
    return metric or ("insns" if prices is None else "cycles")


object_argument = click.argument(
    "path", type=click.Path(exists=True, dir_okay=False), metavar="OBJECT"
)


def program_options(function):
    """--section, --prog, --tail-call, --inner, --paths, --seconds, --costs; `taken` makes them
    keywords.
    """
    for option in reversed(
        [
            click.option("--section", metavar="S", help="The section of the program."),
            click.option("--prog", metavar="NAME", help="The program's function."),
            click.option(
                "--tail-call",
                "tail_calls",
                multiple=True,
                metavar="MAP:INDEX=PROGRAM",
                help="What a slot of a PROG_ARRAY holds; may be given several times.",
            ),
            click.option(
                "--inner",
                multiple=True,
                metavar="MAP=LIKE",
                help="Inner maps of MAP are like the map LIKE, where the object does not say it.",
            ),
            click.option(
                "--paths",
                type=click.IntRange(0),
                default=1000,
                show_default=True,
                metavar="N",
                help="With more paths than this they are joined where they meet.",
            ),
            click.option(
                "--seconds",
                type=FiniteRange(0, min_open=True),
                default=40.0,
                show_default=True,
                metavar="S",
                help="After S seconds of joined paths the rest is answered as an interval;"
                " a quarter of it before paths are joined.",
            ),
            click.option(
                "--costs",
                multiple=True,
                metavar="TABLE",
                help="A cost table in TOML, or nfp; of several the last that has a price.",
            ),
        ]
    ):
        function = option(function)
    return function


def taken(section, prog, tail_calls, inner, paths, seconds, costs):
    """The options as keywords of interface.extract."""
    from ..prices import read

    pairs = {}
    for text in inner:
        outer, equals, like = text.partition("=")
        if not equals:
            raise refused("E-bpf-map", f"--inner {text}: write MAP=LIKE")
        pairs[outer] = like
    return {
        "section": section,
        "prog": prog,
        "tail_calls": tail_calls,
        "inner": pairs,
        "paths": paths,
        "seconds": (seconds / 4, seconds),
        "prices": read(costs) if costs else None,
    }
