"""Runs the command line of the build tree as a user would, and makes small nets."""

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _command import BUILD, DEMO, REPO, environment, interrupted, run  # noqa: E402, F401

SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))

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
