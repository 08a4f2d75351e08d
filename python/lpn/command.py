"""What the commands share: options, models with parameters, JSON and tables."""

import os
import sys

import click

from .runs.models import load

model_argument = click.argument("model")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there."
)


class _Parameter(click.ParamType):
    name = "name=value"

    def convert(self, value, param, ctx):
        name, equals, number = value.partition("=")
        try:
            return name.strip(), int(number, 0)
        except ValueError:
            self.fail(
                f"'{value}' is not name=value with a whole number"
                + ("" if equals else f"; write -p {value}=1")
            )


params_option = click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    type=_Parameter(),
    help="Sets a parameter of the model; may be given several times.",
)


def load_model(spec, params=()):
    """(model, net, parameter values) of a MODEL argument; the net is checked."""
    from .runs.run import parameter_values

    model = load(spec)
    net = model.net(**dict(params))
    net.done()
    return model, net, parameter_values(net, None)


def print_json(data):
    """The one object of --json on stdout."""
    import json

    click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False))


def note(message):
    """A remark for the user that is no part of the answer."""
    click.echo(f"note: {message}", err=True)


def grouped(number):
    """1234567 as '1 234 567'; None as '-'."""
    return "-" if number is None else f"{number:,}".replace(",", " ")


def seconds(value):
    """A duration to read: '3.2 ms', '1.4 s'."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.2f} s"


def rate(value):
    """Something per second to read: '1.6 G', '420 M', '17 k'."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.{1 if value < 10 * scale else 0}f} {unit}"
    return f"{value:.0f}"


def counted(number, noun):
    """'1 place', '3 places'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def table(columns, rows, title=None):
    """A table on stdout. `columns`: names; a leading '>' aligns to the right.

    On a terminal wide enough it is drawn by rich (imported only then: that takes longer than most
    runs), else it is plain text.
    """
    names = [c.lstrip(">") for c in columns]
    right = [c.startswith(">") for c in columns]
    rows = [[str(cell) for cell in row] for row in rows]
    cells = [[row[k] for row in rows] for k in range(len(names))]
    if title:
        click.echo(title)
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        # Headings may break between words, names and numbers may not.
        least = [
            max(map(len, [*name.split(), *column]), default=0) for name, column in zip(names, cells)
        ]
        if sum(least) + 3 * len(least) <= os.get_terminal_size(sys.stdout.fileno()).columns:
            _draw(names, right, least, rows)
            return
    widths = [max(map(len, [name, *column])) for name, column in zip(names, cells)]
    for row in [names, *rows]:
        line = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)]
        click.echo("  ".join(line).rstrip())


def _draw(names, right, least, rows):
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, is_right, width in zip(names, right, least):
        drawn.add_column(name, justify="right" if is_right else "left", min_width=width)
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


class Progress:
    """One line on stderr, rewritten at most ten times a second; silent unless it is a terminal."""

    def __init__(self, total):
        import time

        self._clock = time.monotonic
        self._total = total
        self._finished = 0
        self._begin = self._last = self._clock()
        self._shown = False
        self.on = sys.stderr.isatty()

    def step(self, what):
        """One of `total` is finished."""
        self._finished += 1
        self.say(what)

    def say(self, what, now=False):
        time = self._clock()
        if not self.on or not now and time - self._last < 0.1:
            return
        self._last = time
        spent = time - self._begin
        text = f"{self._finished}/{self._total}" if self._total > 1 else ""
        if 0 < self._finished < self._total:
            left = spent / self._finished * (self._total - self._finished)
            text += f"  {spent:.0f} s, about {left:.0f} s to go"
        sys.stderr.write(f"\r\x1b[K{text}  {what}"[:118])
        sys.stderr.flush()
        self._shown = True

    def clear(self):
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
