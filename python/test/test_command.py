"""command: what a device's own commands are made of."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import termios

import _lpn
import click
import lpn
import pytest
from click.testing import CliRunner
from lpn import command
from lpn.runs import prepare


def called(made, *arguments):
    return CliRunner().invoke(made, arguments, standalone_mode=False)


def test_a_group_loads_what_is_called(monkeypatch):
    table = {
        "brew": ("made_for_this_test", "brew", "Makes coffee."),
        "gone": ("no_such_module", "gone", "Is not there."),
    }

    @click.command(cls=command.Commands, table=table)
    def group():
        """A machine."""

    module = type(command)("made_for_this_test")
    module.brew = click.command("brew")(lambda: command.UNKNOWN)
    monkeypatch.setitem(__import__("sys").modules, "made_for_this_test", module)
    assert called(group, "brew").return_value == command.UNKNOWN == 3
    text = called(group, "--help").output
    assert "brew  Makes coffee." in text and "gone  Is not there." in text
    assert isinstance(called(group, "gone").exception, ModuleNotFoundError)
    assert "No such command 'tea'" in str(called(group, "tea").exception)


def test_options():
    @click.command()
    @command.params_option
    @command.engine_option(None, "How.")
    @command.json_option
    def run(params, engine, as_json):
        return params, engine, as_json

    assert called(run, "-p", "a=0x10", "--engine", "interp").return_value == (
        (("a", 16),),
        "interp",
        False,
    )
    assert called(run, "--json").return_value == ((), None, True)
    assert "write -p a=1" in str(called(run, "-p", "a").exception)
    assert "'compiled', 'interp'" in str(called(run, "--engine", "fast").exception)


def test_a_file_to_write_is_refused_before_the_work(tmp_path):
    @click.command()
    @click.option("-o", "output", type=command.OutputFile())
    def run(output):
        return output

    there, lost = str(tmp_path / "a.json"), str(tmp_path / "no" / "a.json")
    assert called(run, "-o", there).return_value == there
    assert not os.path.exists(there)
    assert called(run, "-o", "a.json").return_value == "a.json"
    assert called(run, "-o", "/dev/stdout").return_value == "/dev/stdout"
    assert called(run).return_value is None
    assert f"cannot write {lost}: there is no folder {tmp_path / 'no'}" in str(
        called(run, "-o", lost).exception
    )
    assert "is a directory" in str(called(run, "-o", str(tmp_path)).exception)


def test_two_options_write_two_files(tmp_path):
    @click.command()
    @click.option("-o", "output", type=command.OutputFile())
    @click.option("--log", type=command.OutputFile())
    def run(output, log):
        return output, log

    one, other = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    assert called(run, "-o", one, "--log", other).return_value == (one, other)
    again = os.path.join(str(tmp_path), ".", "a.json")
    said = str(called(run, "-o", one, "--log", again).exception)
    assert f"{again} is written by -o, too; name another one" in said
    both = ("-o", "/dev/null", "--log", "/dev/null")
    assert called(run, *both).return_value == ("/dev/null", "/dev/null")


def test_need_input(pipe):
    model = lpn.load(pipe)
    command.need_input(model, "3")
    with pytest.raises(click.UsageError, match="model 'pipe' needs an INPUT for a page"):
        command.need_input(model, None, " for a page")


def test_compile_aloud_says_why_it_interprets(pipe, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LPN_CXX", "/nonexistent/c++")
    monkeypatch.setenv("LPN_CACHE", str(tmp_path))
    assert command.compile_aloud(prepare(pipe, engine="compiled")) is None
    said = capsys.readouterr().err
    assert said.startswith("note: ") and "[E-no-compiler]; this run uses the interpreter" in said


def test_table_and_numbers(capsys):
    command.table(["name", ">cycles"], [["a", command.grouped(1234567)], ["b", "-"]], title="runs")
    command.print_json({"a": None})
    assert capsys.readouterr().out == (
        "runs\nname     cycles\na     1 234 567\nb             -\n" '{"a": null}\n'
    )
    assert (command.seconds(0.0032), command.rate(1.6e9)) == ("3.2 ms", "1.6 G")
    assert command.counted(1, "row") == "1 row" and command.counted(2, "row") == "2 rows"


DRAW = """
from lpn.command import table
table([">commits", "why it did not start", ">no server [kpps]"], [["4 608", "filled_place", "35.5%"]])
"""


@pytest.mark.parametrize("columns", range(30, 50))
def test_a_table_never_cuts_a_cell(columns):
    """In a terminal of any width every figure is whole, and a unit in a heading is no markup."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", DRAW], stdout=slave, env=environment) as run:
        os.close(slave)
        text = ""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(master, 4096):
                text += piece.decode()
        assert run.wait() == 0
    os.close(master)
    for whole in ("4 608", "filled_place", "35.5%", "commits", "server", "[kpps]"):
        assert whole in text, text


def test_progress_is_silent_without_a_terminal(capsys):
    progress = command.Progress(2)
    progress.step("one")
    progress.clear()
    assert progress.finished == 1 and capsys.readouterr().err == ""


def test_ctrl_c_while_python_imports_says_nothing(tmp_path):
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    program = os.path.join(os.path.dirname(os.path.dirname(_lpn.__file__)), "bin", "lpn")
    done = subprocess.run(
        [program, "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        timeout=600,
    )
    # A shell calls this status 130.
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
