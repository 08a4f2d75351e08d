"""lpn sim and lpn.simulate without --engine: what answers first, and what is left of the other."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD

sys.path.insert(0, str(BUILD / "python"))
lpn = pytest.importorskip("lpn")

LINE = """lpn 1
net line
type unit ()
place from : unit start
place between : unit capacity 2
place to : unit done
transition first {
  take a from from
  delay 3
  servers 1
  put between
}
transition second {
  take b from between
  delay 2
  servers 1
  put to
}
end
"""
SHORT, LONG = (
    100,
    400_000_000,
)  # firings that a compiled net makes in seconds, the interpreter in minutes
ENDLESS = """lpn 1
net endless
type unit ()
place p : unit initial 1
transition again {
  take t from p
  delay 1
  put p
}
end
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "line.lpn").write_text(LINE)
    (tmp_path / "endless.lpn").write_text(ENDLESS)
    (tmp_path / "cache").mkdir(mode=0o700)
    for name, count in (("short", SHORT), ("long", LONG), ("medium", 2_000_000)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"from": count}))
    return tmp_path


@pytest.fixture
def sim(folder, environment):
    """sim(arguments...) -> the finished process, in the folder, with a cache that is empty."""

    def call(*arguments, **variables):
        command = [BUILD / "bin" / "lpn", "sim", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**environment, "LPN_CACHE": str(folder / "cache"), **variables},
        )

    return call


@pytest.fixture
def stuck(folder):
    """A compiler that never ends; its process writes its number into the file `pid`."""
    compiler = folder / "cxx"
    compiler.write_text(
        f"#!/bin/sh\necho $$ > {folder}/pid.new\nmv {folder}/pid.new {folder}/pid\nsleep 1000\n"
    )
    compiler.chmod(0o755)
    return str(compiler)


def is_gone(pid):
    """Whether a process ends within some time."""
    for _ in range(600):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


def work_left(folder):
    return [name for name in os.listdir(folder / "cache") if name.startswith("work-")]


def test_a_short_run_compiles_nothing(sim, folder, stuck):
    done = sim("line.lpn", "short.json", "--stats", "--critical-path", "--json", LPN_CXX=stuck)
    [row] = json.loads(done.stdout)["runs"]
    assert row["latency"] == 3 * SHORT + 2 and row["engine"] == "interp"
    assert row["stats"]["transitions"]["first"]["commits"] == SHORT
    assert row["critical_path"]["bottleneck"]["transition"] == "first"
    assert os.listdir(folder / "cache") == [] and not (folder / "pid").exists()


def test_a_long_run_moves_over(sim, folder):
    done = sim("line.lpn", "short.json", "long.json", "short.json", "--json")
    answer = json.loads(done.stdout)
    assert answer["engine"] == "compiled" and answer["cached"] is False
    short, long, again = answer["runs"]
    assert long["latency"] == 3 * LONG + 2 and long["firings"] == 2 * LONG
    assert long["engine"] == "compiled" == again["engine"]
    assert {**short, "seconds": 0, "engine": 0} == {**again, "seconds": 0, "engine": 0}
    assert work_left(folder) == []
    # The next one takes it from the cache.
    assert json.loads(sim("line.lpn", "long.json", "--json").stdout)["cached"] is True


def test_statistics_and_path_together_are_those_of_the_engines_alone(sim, environment):
    asked = ("line.lpn", "short.json", "--stats", "--critical-path", "--json")
    cache = environment["LPN_CACHE"]  # where the nets may be already
    rows = []
    for more in ((), ("--engine", "interp"), ("--engine", "compiled")):
        [row] = json.loads(sim(*asked, *more, LPN_CACHE=cache).stdout)["runs"]
        assert row.pop("engine") == ("compiled" if "compiled" in more else "interp")
        del row["seconds"]
        rows.append(row)
    assert rows[0] == rows[1] == rows[2]


def test_a_trace_is_the_same(sim, folder):
    for name, more in (("a", ()), ("b", ("--engine", "compiled")), ("c", ("--engine", "interp"))):
        done = sim("line.lpn", "short.json", "--trace", f"{name}.json", "--critical-path", *more)
        assert done.returncode == 0 and "the critical path" in done.stdout, done.stderr
    first = (folder / "a.json").read_bytes()
    assert first == (folder / "b.json").read_bytes() == (folder / "c.json").read_bytes()


def test_without_a_compiler_a_long_run_goes_on_and_says_so(sim):
    done = sim("line.lpn", "medium.json", "--json", LPN_CXX="/nonexistent/g++")
    answer = json.loads(done.stdout)
    assert answer["engine"] == "interp" and answer["fallback"]["code"] == "E-no-compiler"
    assert answer["runs"][0]["firings"] == 4_000_000
    assert "this run uses the interpreter" in done.stderr and "[E-no-compiler]" in done.stderr


def test_a_run_that_ends_first_ends_the_compiler(sim, folder, stuck):
    for count in (2_000_000, 20_000_000, 100_000_000):  # until a compiler is started before the end
        (folder / "some.json").write_text(json.dumps({"from": count}))
        done = sim("line.lpn", "some.json", LPN_CXX=stuck)
        assert done.returncode == 0 and "(interpreted)" in done.stdout, done.stderr
        assert work_left(folder) == []
        if (folder / "pid").exists():
            break
    assert is_gone(int((folder / "pid").read_text()))


def begin(folder, environment, stuck):
    """An endless run with a compiler that never ends: the process and the compiler's number."""
    process = subprocess.Popen(
        [BUILD / "bin" / "lpn", "sim", "endless.lpn", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "LPN_CACHE": str(folder / "cache"), "LPN_CXX": stuck},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup ignores it
    )
    for _ in range(600):
        if (folder / "pid").exists():
            return process, int((folder / "pid").read_text())
        if process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    pytest.fail("no compiler was started: " + process.communicate()[1])


def test_interrupt_ends_run_and_compiler(environment, folder, stuck):
    process, compiler = begin(folder, environment, stuck)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "Traceback" not in err, err
    [row] = json.loads(out)["runs"]
    assert row["ending"] == "interrupted" and row["firings"] > 0
    assert is_gone(compiler) and work_left(folder) == []


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_no_compiler_outlives_its_run(environment, folder, stuck, sim, sign):
    process, compiler = begin(folder, environment, stuck)
    process.send_signal(sign)
    process.communicate(timeout=60)
    assert is_gone(compiler)
    # Whatever was left in the cache is no harm, and the next compilation removes it.
    done = sim("line.lpn", "short.json", "--engine", "compiled", "--json")
    assert json.loads(done.stdout)["runs"][0]["latency"] == 3 * SHORT + 2
    assert work_left(folder) == []


def test_an_error_of_a_run_is_one(sim, folder):
    (folder / "bad.lpn").write_text(ENDLESS.replace("delay 1", "delay 0"))
    done = sim("bad.lpn")
    assert done.returncode == 2 and "[E-zero-delay]" in done.stderr


def test_the_variable_chooses(sim):
    done = sim("line.lpn", "short.json", "--json", LPN_ENGINE="compiled")
    assert json.loads(done.stdout)["engine"] == "compiled"
    done = sim("line.lpn", "short.json", LPN_ENGINE="quick")
    assert done.returncode == 2 and "[E-engine]" in done.stderr


# From Python.


@pytest.fixture
def line(folder, monkeypatch):
    monkeypatch.setenv("LPN_CACHE", str(folder / "cache"))
    monkeypatch.delenv("LPN_ENGINE", raising=False)
    return lpn.Net.parse(LINE)


def of(net, count):
    marking = lpn.Marking(net)
    marking.add("from", count=count)
    return marking


def test_simulate_moves_over_and_stays(line):
    long = lpn.simulate(line, of(line, LONG))
    assert long.engine == "compiled" and long.latency == 3 * LONG + 2
    assert lpn.simulate(line, of(line, SHORT)).engine == "compiled"


def test_simulate_forgets_what_was_compiled_of_a_net_that_changed(line):
    lpn.simulate(line, of(line, LONG))
    line.place("extra")
    run = lpn.simulate(line, of(line, SHORT))
    assert run.engine == "interp" and run.latency == 3 * SHORT + 2


def test_nets_of_one_text_share_what_was_compiled(line):
    from lpn.runs.background import PATIENCE, background_of

    lpn.simulate(line, of(line, LONG))
    same, other = lpn.Net.parse(LINE), lpn.Net.parse(LINE.replace("delay 2", "delay 4"))
    assert background_of(same, False, False).there(PATIENCE + 1)
    assert not background_of(other, False, False).there(PATIENCE + 1)


def test_short_runs_move_over_when_they_are_many(line):
    deadline = time.monotonic() + 60
    while lpn.simulate(line, of(line, 1000)).engine == "interp":
        assert time.monotonic() < deadline


def test_simulate_gives_path_and_statistics_without_a_compiler(line, monkeypatch):
    monkeypatch.setenv("LPN_CXX", "/nonexistent/g++")
    for engine in (None, "interp"):
        run = lpn.simulate(line, of(line, SHORT), path=True, stats=True, trace=True, engine=engine)
        assert run.path["rows"][0]["transition"] == "first" and run.steps
        assert len(run.trace) == 2 * SHORT
        assert run.stats["transitions"]["second"]["commits"] == SHORT


def test_a_function_sees_each_commit_once(line):
    seen = []
    run = lpn.simulate(line, of(line, 50_000), trace=seen.append)
    assert len(seen) == run.commits == 100_000


def test_budgets_hold_over_both_engines(line):
    run = lpn.simulate(line, of(line, LONG), max_tokens=10)
    assert run.ending == "budget" and run.stopped["reason"] == "tokens"
