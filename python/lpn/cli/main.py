"""The command line `lpn`: which commands there are, and how every one of them ends.

Exit status: 0 answered; 1 the answer is no (stalled, refuted); 2 the request or the model is wrong;
3 unknown (a limit or Ctrl-C ended it). Commands are loaded when they are called: a run of a small
net should not wait for imports.
"""

import contextlib
import os
import sys

import click

from .. import source
from ..command import ANSWERED, UNKNOWN, WRONG, Commands
from ..errors import debugging, describe
from ..runs import models

__all__ = ["COMMANDS", "main"]

# Command -> (module, function, what it does). A device adds its own in models/NAME/commands.py.
COMMANDS = {
    "sim": ("lpn.cli.sim", "sim", "Simulate a model on inputs: latency, and why it waited."),
    "debug": ("lpn.cli.debug", "debug", "Go through a run: step, break, tokens, why not."),
    "sweep": ("lpn.cli.sweep", "sweep", "Simulate many parameter values and inputs: a table."),
    "latency": (
        "lpn.cli.latency.command",
        "latency",
        "Open-loop traffic: how long each request takes, load by load.",
    ),
    "classes": ("lpn.cli.classes", "classes", "Sort all inputs of a space by what happens."),
    "smt": ("lpn.cli.smt", "smt", "Prove bounds over all inputs of a space."),
    "pi": ("lpn.cli.pi", "pi", "Write a model's performance interface, use it, compare two."),
    "tune": ("lpn.cli.main", "tune", "Search the best way to use a device, as schedules of vta."),
    "viz": ("lpn.cli.viz", "viz", "A net or its run as a picture, a timeline, a waveform, PNML."),
    "wave": ("lpn.cli.waves.wave", "wave", "Recorded waveforms of RTL: stalls, where two part."),
    "fit": ("lpn.cli.waves.fit", "fit", "Find delays and capacities of a net from waveforms."),
    "new": ("lpn.cli.files", "new", "Begin a model: a folder with net, workload, space and test."),
    "check": ("lpn.cli.check", "check", "Find mistakes in a model and show its structure."),
    "validate": ("lpn.cli.validate", "validate", "Compare predictions with measured truth."),
    "compile": ("lpn.cli.files", "compile", "Write a model as C++, a shared library or a program."),
    "marking": ("lpn.cli.files", "marking", "Write an input as a marking file."),
    "print": ("lpn.cli.files", "print_net", "Print a model as a .lpn file."),
}


class _AllCommands(Commands):
    """These, and those that the devices add."""

    def list_commands(self, ctx):
        return [*self.table, *models.commands()]

    def get_command(self, ctx, name):
        if name in self.table:
            return super().get_command(ctx, name)
        return models.command(name) if name in models.commands() else None

    def format_commands(self, ctx, formatter):
        super().format_commands(ctx, formatter)
        devices = models.commands()
        if devices:
            with formatter.section("Commands of one device"):
                formatter.write_dl(list(devices.items()))


class _Tuned(click.Group):
    """The devices that have a command `tune`."""

    def list_commands(self, ctx):
        return [name for name in models.commands() if self.get_command(ctx, name) is not None]

    def get_command(self, ctx, name):
        if name not in models.commands():
            return None
        device = models.command(name)
        return device.get_command(ctx, "tune") if isinstance(device, click.Group) else None


@click.command(cls=_Tuned)
def tune():
    """The best way to use a device: schedules, tried on its simulated net.

    `lpn tune DEVICE ...` is `lpn DEVICE tune ...`; a search of your own is lpn.tune in Python.
    """


@click.command(
    cls=_AllCommands,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--never-compile",
    is_flag=True,
    help="Interpret: no code of a net is compiled, loaded or run (also LPN_NO_COMPILE=1).",
)
def _lpn(never_compile):
    """Latency Petri Nets: performance models of hardware.

    MODEL is a bundled name (jpeg), a file.py[:function] or a .lpn file.

    Exit status: 0 answered; 1 the answer is no (stalled); 2 the request or the model is wrong; 3
    unknown (a limit was reached, or Ctrl-C).
    """
    if never_compile:
        os.environ["LPN_NO_COMPILE"] = "1"


def main(arguments=None):
    """Runs one command and exits with its status."""
    source.count_as_ours(os.path.dirname(click.__file__) + os.sep, "<frozen runpy>", "<string>")
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _open_streams()
    try:
        status = _lpn.main(arguments, prog_name="lpn", standalone_mode=False, obj=arguments)
    except click.UsageError as error:
        hint = f"\n  try: {error.ctx.command_path} --help" if error.ctx is not None else ""
        status = _refuse("E-usage", error.format_message() + hint, arguments)
    except click.ClickException as error:
        status = _refuse("E-usage", error.format_message(), arguments)
    except (click.Abort, KeyboardInterrupt):
        status = _refuse(
            "E-interrupted", "stopped by Ctrl-C before there was a result", arguments, UNKNOWN
        )
    except BrokenPipeError:
        # The reader of stdout went away; what it wanted it has.
        _give_up_stdout()
        status = ANSWERED
    except SystemExit as error:  # click itself returns its status, but for this:
        if isinstance(error.__context__, BrokenPipeError):
            _give_up_stdout()
            status = ANSWERED
        elif "_LPN_COMPLETE" in os.environ:  # click's answer to a shell, which ends it this way
            status = error.code
        else:
            status = _refuse(
                "E-model", f"the model ended Python itself (SystemExit: {error})", arguments
            )
    except Exception as error:
        if debugging():
            raise
        if isinstance(error, OSError) and _of_echo(error):
            error.filename = "stdout"
            _give_up_stdout()  # else what is left in its buffer is an error again
        status = _refuse(*describe(error), arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        _give_up_stdout()
        if not isinstance(error, BrokenPipeError):  # the answer is nowhere
            status = _refuse("E-input", f"stdout: {error.strerror}", ())
    sys.exit(status or ANSWERED)


def _of_echo(error):
    """Whether an OSError is of writing an answer."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code is click.echo.__code__


def _give_up_stdout():
    """What is still written there leads nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _open_streams():
    """Standard streams that whoever began this closed lead nowhere, not into files opened later."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))


def _refuse(code, message, arguments, status=WRONG):
    click.echo(
        f"error: {message} [{code}]"
        if "\n" not in message
        else f"error: {message.replace(chr(10), f' [{code}]' + chr(10), 1)}",
        err=True,
    )
    if "--json" in arguments:
        import json

        with contextlib.suppress(OSError):  # of stdout; main() says so
            click.echo(json.dumps({"error": {"code": code, "message": message}}))
    return status
