"""What commands are made of, those of `lpn` and those that a device adds in models/NAME/commands.

A command is a click command that returns one of the exit codes below; what goes wrong it raises as
lpn.Error, which `lpn` shows. Groups load their commands when they are called (Commands).
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

import click

from .errors import near, without_place
from .runs.endless import endless_text
from .runs.engines import ENGINES
from .runs.models import Model
from .runs.ready import Ready
from .words import counted, duration, grouped, integer, modelled, precise_rate, rate, seconds

__all__ = [
    "ANSWERED",
    "Commands",
    "FiniteRange",
    "NO",
    "OutputFile",
    "Parameter",
    "Progress",
    "UNKNOWN",
    "WRONG",
    "budget_options",
    "compile_aloud",
    "counted",
    "duration",
    "engine_option",
    "grouped",
    "json_option",
    "model_argument",
    "modelled",
    "need_input",
    "note",
    "params_option",
    "print_json",
    "precise_rate",
    "rate",
    "refuse_beside",
    "refuse_without",
    "say_compiled",
    "say_endless",
    "seconds",
    "table",
]

# Exit codes: answered; the answer is no; the request or the model is wrong; not known, because of a
# limit or Ctrl-C.
ANSWERED, NO, WRONG, UNKNOWN = 0, 1, 2, 3

model_argument = click.argument("model")
_answers: TextIO | None = None  # stdout, while what a model prints goes elsewhere


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--json as `as_json`. With it, what a model prints while the command runs goes to stderr."""

    @functools.wraps(command)
    def run(*arguments, **options):
        global _answers
        if not options["as_json"]:
            return command(*arguments, **options)
        before, _answers = _answers, _answers or sys.stdout
        try:
            with contextlib.redirect_stdout(sys.stderr):
                return command(*arguments, **options)
        finally:
            _answers = before

    about = "One JSON object on stdout, nothing else there."
    return click.option("--json", "as_json", is_flag=True, help=about)(run)


class Parameter(click.ParamType):
    """NAME=NUMBER, as (name, number)."""

    name = "name=value"

    def convert(self, value, param, ctx):
        name, equals, number = value.partition("=")
        try:
            return name.strip(), integer(number)
        except ValueError:
            self.fail(
                f"'{value}' is not name=value with a whole number"
                + ("" if equals else f"; write -p {value}=1")
            )


class FiniteRange(click.FloatRange):
    """A number within a range; click's FloatRange takes nan and, where the range is open, inf."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


class OutputFile(click.Path):
    """A file that a command will write, refused before the work when it cannot be: Error E-input; or
    when the command line names it twice, as what is read or is written by another option:
    UsageError, unless `in_place`. The value is the path.
    """

    def __init__(self, in_place: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True)
        self.in_place = in_place

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise without_place("E-input", f"cannot write {path}: there is no folder {folder}")
        if not os.path.exists(path) and not os.access(folder, os.W_OK):
            raise without_place("E-input", f"cannot write {path}: {folder} is not writable")
        words = ctx.find_root().obj if ctx is not None and not self.in_place else None
        if os.path.isfile(path) and sum(_names(word, path) for word in words or ()) > 1:
            self.fail(f"{path} is a file that the command reads; name another one", param, ctx)
        special = os.path.exists(path) and not os.path.isfile(path)  # /dev/stdout may have both
        if ctx is not None and param is not None and not special:
            written = ctx.meta.setdefault("lpn.written", {}).setdefault(
                os.path.realpath(path), param
            )
            if written is not param:
                self.fail(
                    f"{path} is written by {written.opts[0]}, too; name another one", param, ctx
                )
        return path


def _names(word, path):
    """Whether a word of the command line names the file at `path`."""
    word = word.partition("=")[2] if word.startswith("--") else word
    word = word.rpartition(":")[0] if ".py:" in word else word.partition("#")[0]
    return os.path.isfile(word) and os.path.samefile(word, path)


def _each_once(ctx, _param, pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"-p {name} is given twice; give one value", ctx)
    return pairs


params_option = click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    type=Parameter(),
    callback=_each_once,
    help="Sets a parameter of the model; may be given several times.",
)


def engine_option(
    default: str | None = "compiled", help: str | None = None
) -> Callable[[Any], Any]:
    """--engine, one of lpn.runs.ENGINES; a default of None leaves the choice to the command."""
    return click.option(
        "--engine",
        type=click.Choice(list(ENGINES)),
        default=default,
        show_default=default is not None,
        help=help,
    )


_BUDGET = (
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


def budget_options(command: Any) -> Any:
    """--max-memory, --max-time, --max-tokens, --max-firings and --max-groups: what a run may use."""
    for option in reversed(_BUDGET):
        command = option(command)
    return command


class Commands(click.Group):
    """A group whose commands are imported when they are called: a short run should not wait for
    them.

    `table`: command -> (module, its click command there, what it does).
    """

    def __init__(self, *args, table, **options):
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx):
        return list(self.table)

    def resolve_command(self, ctx, args):
        """As click has it; of a command that there is not, one that is called alike."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            error.message = error.message.rstrip(".") + near(args[0], self.list_commands(ctx))
            raise

    def get_command(self, ctx, name):
        import importlib

        if name not in self.table:
            return None
        module, command, _ = self.table[name]
        return getattr(importlib.import_module(module), command)

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, _, about) in self.table.items()])


def refuse_beside(option: str, kept: Iterable[str]) -> None:
    """Refuses options that do nothing beside `option`; `kept`: the parameters that do something."""
    context = click.get_current_context()
    for each in context.command.params:
        name = each.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        idle = isinstance(each, click.Option) and name not in kept
        if given and idle and option not in each.opts:
            raise click.UsageError(
                f"{max(each.opts, key=len)} does nothing with {option}; leave it out"
            )


def refuse_without(option: str, names: Iterable[str]) -> None:
    """Refuses the options of these parameters: they say more of `option`, which is not given."""
    context = click.get_current_context()
    for each in context.command.params:
        name = each.name or ""
        given = context.get_parameter_source(name)
        if name in names and given is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{max(each.opts, key=len)} does nothing without {option}")


def need_input(model: Model, input: object, what: str = "") -> None:
    """Refuses a call without INPUT where the model's workload needs one, ' for this' or in
    general.
    """
    if not input and model.has_workload and not model.has_traffic:
        raise click.UsageError(f"model '{model.name}' needs an INPUT{what}")


def compile_aloud(ready: Ready) -> Any:
    """The library of a lpn.runs.Ready, said while it is compiled; a note when it has to be
    interpreted.
    """
    if ready.engine != "compiled":
        return ready.library
    progress = Progress(1)
    progress.say(f"compiling '{ready.net.name}', once for all inputs and parameters", now=True)
    try:
        library = ready.library
    finally:
        progress.clear()
    say_compiled(ready)
    return library


def say_compiled(ready: Ready) -> None:
    """What the user should know of how a net was compiled, or why not, if anything."""
    library, error = ready.library, ready.fallback
    if error is not None:
        note(f"{str(error).splitlines()[0]} [{error.code}]; this run uses the interpreter")
    elif library is not None and library.notice:
        note(library.notice)


def say_endless(ready: Ready) -> None:
    """That a run without a limit will not end, where that is sure."""
    names = ready.endless
    if names:
        note(f"{ready.input or ready.net.name}: {endless_text(names[0])}")


def print_json(data: object) -> None:
    """The one object of --json on stdout. A name of a file that is no text (bytes of another encoding)
    is in it as Python reads it, in escapes.
    """
    import json

    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    click.echo(text.encode("utf-8", "backslashreplace").decode(), file=_answers)


def note(message: str) -> None:
    """A remark for the user that is no part of the answer."""
    click.echo(f"note: {message}", err=True)


def table(
    columns: Sequence[str], rows: Iterable[Iterable[object]], title: str | None = None
) -> None:
    """A table on stdout. `columns`: names; a leading '>' aligns to the right.

    On a terminal wide enough it is drawn by rich (imported only then: that takes longer than most
    runs), else it is plain text.
    """
    names = [c.lstrip(">") for c in columns]
    right = [c.startswith(">") for c in columns]
    texts = [[str(cell) for cell in row] for row in rows]
    cells = [[row[k] for row in texts] for k in range(len(names))]
    if title:
        click.echo(title)
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        widths = _widths(names, cells, os.get_terminal_size(sys.stdout.fileno()).columns)
        if widths:
            _draw(names, right, widths, texts)
            return
    widths = [max(map(len, [name, *column])) for name, column in zip(names, cells)]
    for row in [names, *texts]:
        line = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)]
        click.echo("  ".join(line).rstrip())


def _widths(names, cells, room):
    """The widths of a table's columns in a terminal of so many columns; None where it has no room.

    Headings may break between words, names and numbers may not.
    """
    widths = [max(map(len, [name, *column])) for name, column in zip(names, cells)]
    least = [
        max(map(len, [*name.split(), *column]), default=0) for name, column in zip(names, cells)
    ]
    over = sum(widths) + 3 * len(widths) - room
    while over > 0:
        slack = [now - small for now, small in zip(widths, least)]
        if not any(slack):
            return None
        widths[slack.index(max(slack))] -= 1
        over -= 1
    return widths


def _draw(names, right, widths, texts):
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, is_right, width in zip(names, right, widths):
        # Text: a heading such as "predicted [kpps]" is no markup.
        drawn.add_column(Text(name), justify="right" if is_right else "left", width=width)
    for row in texts:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


class Progress:
    """One line on stderr, rewritten at most ten times a second; silent unless it is a terminal.

    `finished`: how many of the `total` are.
    """

    def __init__(self, total: int) -> None:
        import time

        self._clock = time.monotonic
        self._total = total
        self.finished = 0
        self._begin = self._last = self._clock()
        self._shown = False
        self.on = sys.stderr.isatty()

    def step(self, what: str) -> None:
        """One of `total` is finished."""
        self.finished += 1
        self.say(what)

    def say(self, what: str, now: bool = False) -> None:
        time = self._clock()
        if not self.on or not now and time - self._last < 0.1:
            return
        self._last = time
        spent = time - self._begin
        text = f"{self.finished}/{self._total}" if self._total > 1 else ""
        if 0 < self.finished < self._total:
            left = spent / self.finished * (self._total - self.finished)
            text += f"  {spent:.0f} s, about {left:.0f} s to go"
        # A line that is wider than the terminal would stay there.
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80  # 0: it does not say
        sys.stderr.write(f"\r\x1b[K{text}  {what}"[: width + 3])
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
