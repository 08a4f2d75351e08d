"""Runs `lpn viz` of the build tree as a user would, and makes small nets."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
NETS = REPO / "testbenches" / "nets"
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


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """Variables for the commands: an own cache for the session."""
    variables = dict(os.environ)
    for name in ("LPN_CXX", "LPN_DEBUG", "LPN_ENGINE", "LPN_RUNTIME"):
        variables.pop(name, None)
    variables.setdefault("LPN_CACHE", str(tmp_path_factory.mktemp("cache")))
    return variables


@pytest.fixture(scope="session")
def lpn_command(environment):
    """lpn_command(*arguments, **variables) -> Answer of the command line."""

    def call(*arguments, **variables):
        command = [str(BUILD / "bin" / "lpn"), *map(str, arguments)]
        return Answer(subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                                     env={**environment, **variables}))

    return call


def golden_nets():
    """Golden nets that run from their own tokens without an error."""
    return [path for path in sorted(NETS.glob("*.lpn"))
            if not path.name.startswith("fault_") and not path.with_suffix(".marking").exists()
            and path.name != "interval_for_ever.lpn"]


def load(path):
    """A .lpn file as lpn.Net."""
    from lpn import _load

    net = _load.load(str(path)).net()
    net.done()
    return net
