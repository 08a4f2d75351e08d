"""Runs the programs of the build tree as a user would: for the conftest.py of the suites that do."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
DEMO = REPO / "models" / "jpeg" / "demo"

if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(BUILD / "python"))


class Answer:
    """What a command printed and how it ended."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        """The one object on stdout."""
        assert self.out.count("\n") == 1 and self.out.endswith("\n"), (self.out, self.err)
        return json.loads(self.out)

    def refused(self, code, status=2):
        """The text of an error: one `error:` on stderr with its code, no traceback."""
        assert self.status == status, (self.status, self.out, self.err)
        assert "Traceback" not in self.err and "Traceback" not in self.out
        assert "error: " in self.err and f"[{code}]" in self.err, self.err
        return self.err


def interrupted(
    command, environment, begun=lambda out, err: bool(out), after=(1.5, 6, 24), **options
):
    """The Answer of a command that Ctrl-C meets at its work. When it is there nobody knows of another
    machine: where it had not `begun` by what it says, it is called again and given longer.

    `after`: seconds to wait, call by call. `options`: of subprocess.Popen; with start_new_session=True its children get the signal too, as
    from a terminal.
    """
    for wait in after:
        running = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            **options,
        )
        try:
            time.sleep(wait)
            if options.get("start_new_session"):
                os.killpg(running.pid, signal.SIGINT)
            else:
                running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=100)
        finally:
            running.kill()
        if begun(out, err):
            break
    return Answer(subprocess.CompletedProcess(command, running.returncode, out, err))


def variables(tmp_path_factory):
    """Environment variables without what would change a test, and with a cache of its own."""
    found = dict(os.environ)
    for name in ("LPN_CXX", "LPN_DEBUG", "LPN_ENGINE", "LPN_RUNTIME"):
        found.pop(name, None)
    found.setdefault("LPN_CACHE", str(tmp_path_factory.mktemp("cache")))
    return found


def shell_variables(tmp_path_factory):
    """Those for commands as pages show them: `lpn` is on PATH, its package can be imported, $LPN is
    the checkout.
    """
    found = variables(tmp_path_factory)
    found["PYTHONPATH"] = os.pathsep.join(
        filter(None, [found.get("PYTHONPATH"), str(BUILD / "python")])
    )
    found["PATH"] = f"{BUILD / 'bin'}{os.pathsep}{found['PATH']}"
    found["LPN"] = str(REPO)
    return found


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """Variables for the commands."""
    if not (BUILD / "bin" / "lpn").exists():
        pytest.skip(f"no command line at {BUILD}: set LPN_BUILD to the build folder")
    return variables(tmp_path_factory)


@pytest.fixture(scope="session")
def run(environment):
    """run(program, *arguments, **variables) -> Answer."""

    def call(program, *arguments, **variables):
        cwd = variables.pop("cwd", None)
        command = [str(BUILD / "bin" / program), *map(str, arguments)]
        return Answer(
            subprocess.run(
                command,
                capture_output=True,
                text=True,
                cwd=cwd,
                timeout=300,
                env={**environment, **variables},
                check=False,
            )
        )

    return call
