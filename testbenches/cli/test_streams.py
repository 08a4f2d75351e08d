"""Files and streams that cannot be written: the error names which, and never an input."""

import json
import subprocess

import pytest
from conftest import BUILD

JOBS = {"in": [[5], [7], [3]]}
FULL = "No space left on device [E-input]\n"


@pytest.fixture
def full(tmp_path):
    """A file of a name on a disk that is full."""

    def made(name):
        path = tmp_path / name
        path.symlink_to("/dev/full")
        return path

    return made


@pytest.mark.parametrize("name", ["run.vcd", "run.vcd.gz", "run.json", "run.pnml"])
def test_a_full_disk_names_the_file(lpn, nets, marking, full, name):
    path = full(name)
    answer = lpn("viz", nets / "line.lpn", marking("m.json", JOBS), "-o", path)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {path}: {FULL}")


def test_a_full_disk_is_no_wrong_input(lpn, nets, marking, full):
    path, tokens = full("trace.json"), marking("m.json", JOBS)
    answer = lpn("sim", nets / "line.lpn", tokens, "--trace", path)
    assert (answer.status, answer.out, answer.err) == (2, "", f"error: {path}: {FULL}")
    assert lpn("print", nets / "line.lpn", "-o", full("x.lpn")).err.endswith(f"x.lpn: {FULL}")
    answer = lpn("marking", nets / "line.lpn", tokens, "-o", full("x.lpnm"))
    assert answer.status == 2 and answer.err.endswith(f"x.lpnm: {FULL}")


@pytest.mark.parametrize(
    "words",
    [
        ["viz", "line.lpn", "m.json", "-o", "m.json"],
        ["viz", "line.lpn", "m.json", "--output=./m.json"],
        ["sim", "line.lpn", "m.json", "--trace", "m.json"],
        ["marking", "line.lpn", "m.json", "-o", "m.json"],
    ],
)
def test_what_is_read_is_not_written(lpn, nets, marking, words):
    tokens = marking("m.json", JOBS)
    before = tokens.read_text()
    answer = lpn(*words, cwd=tokens.parent)
    assert answer.status == 2 and "m.json is a file that the command reads" in answer.err
    assert tokens.read_text() == before
    assert lpn("print", "line.lpn", "-o", "line.lpn", cwd=nets).status == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_stdout_that_is_full_is_an_error(nets, marking, more, unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    command = [BUILD / "bin" / "lpn", "sim", nets / "line.lpn", marking("m.json", JOBS), *more]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: stdout: {FULL}")


def test_closed_streams_lead_nowhere(nets, marking, tmp_path):
    """The trace is not what would have gone to stdout."""
    trace = tmp_path / "trace.json"
    line = (
        f"exec {BUILD / 'bin' / 'lpn'} sim {nets / 'line.lpn'} {marking('m.json', JOBS)} "
        f"--trace {trace} <&- >&- 2>&-"
    )
    assert subprocess.run(["bash", "-c", line], check=False).returncode == 0
    assert json.loads(trace.read_text())["ending"] == "quiet"
