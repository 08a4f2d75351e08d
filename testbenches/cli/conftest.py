"""Runs the command line of the build tree as a user would, and makes small nets."""

import json
import os
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
DEMO = REPO / "models" / "jpeg" / "demo"

# A worker with one server between two queues; `busy` reads its token.
LINE = """lpn 1
net line
param slow = 1 in 1..100
type unit ()
type job (size: 0..1000)
place in : job start
place mid : job capacity 2
place out : unit done
transition first {
  take j from in
  delay 1
  servers 1
  put mid (j.size)
}
transition second {
  take j from mid
  delay slow * j.size
  servers 1
  put out
}
end
"""

# Both inputs of the join are needed; a start place keeps what is not taken.
JOIN = """lpn 1
net join
type unit ()
place left : unit start
place right : unit start
place out : unit done
transition join {
  take a from left
  take b from right weight 2
  delay 3
  put out
}
end
"""

# Runs for ever.
CLOCK = """lpn 1
net clock
type unit ()
place tick : unit initial 1
place out : unit done
transition beat {
  take t from tick
  delay 1
  put tick
}
end
"""


class Answer:
    """What a command printed and how it ended."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        """The one object on stdout."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1, self.out
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
    if not (BUILD / "bin" / "lpn").exists():
        pytest.skip(f"no command line at {BUILD}: set LPN_BUILD to the build folder")
    variables = dict(os.environ)
    for name in ("LPN_CXX", "LPN_DEBUG", "LPN_ENGINE", "LPN_RUNTIME"):
        variables.pop(name, None)
    variables.setdefault("LPN_CACHE", str(tmp_path_factory.mktemp("cache")))
    return variables


@pytest.fixture(scope="session")
def run(environment):
    """run(program, *arguments, **variables) -> Answer."""

    def call(program, *arguments, **variables):
        cwd = variables.pop("cwd", None)
        command = [str(BUILD / "bin" / program), *map(str, arguments)]
        return Answer(subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300,
                                     env={**environment, **variables}, check=False))

    return call


@pytest.fixture(scope="session")
def lpn(run):
    """lpn(*arguments, **variables) -> Answer of the command line."""
    return lambda *arguments, **variables: run("lpn", *arguments, **variables)


@pytest.fixture
def nets(tmp_path):
    """A folder with line.lpn, join.lpn and clock.lpn."""
    for name, text in (("line", LINE), ("join", JOIN), ("clock", CLOCK)):
        (tmp_path / f"{name}.lpn").write_text(text)
    return tmp_path


@pytest.fixture
def marking(tmp_path):
    """marking(name, {place: tokens}) -> path of a JSON marking."""

    def write(name, tokens):
        path = tmp_path / name
        path.write_text(json.dumps(tokens))
        return path

    return write
