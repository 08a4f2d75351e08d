"""lpn debug: steps, breaks, tokens, why not, back; from -c, from a file, and in a terminal."""

import os
import pty
import select
import signal
import subprocess
import time

import pytest

from conftest import BUILD

# LINE takes a job a cycle; `mid` holds two; a job of size 3 keeps `second` for 3 cycles.
TOKENS = {"in": [[3], [2], [1], [5]]}


@pytest.fixture
def line(nets, marking):
    return nets / "line.lpn", marking("in.json", TOKENS)


@pytest.fixture
def debug(lpn, line):
    def run(*commands):
        more = [text for text in commands if text.startswith("--")]
        return lpn(
            "debug", *line, "-c", "; ".join(text for text in commands if text not in more), *more
        )

    return run


def answers(answer):
    assert answer.status == 0, answer.err
    return answer.json["answers"]


def test_a_run_step_by_step(debug):
    answer = debug("where", "s", "step 2", "tokens mid", "flying", "why first", "why second", "run")
    assert answer.status == 0, answer.err
    assert (
        answer.out
        == """> where
before the first cycle
next: cycle 0
breaks: none
> s
       0 first #0 starts, due 1; takes 1 in
> step 2
       2 first #1 commits; puts 1 mid
> tokens mid
mid: 1 free token
  size=2
> flying
second #0: since 1, due 4
> why first
first waits for room in place 'mid', which is full (2 tokens)
> why second
second waits for a free server
> run
      12 second #3 commits; puts 1 out
the run is over, nothing can happen any more: latency 12
"""
    )


def test_breaks_on_a_transition_and_on_a_place(debug):
    found = answers(
        debug("break second", "break out", "run", "run", "delete second", "run", "run 7", "--json")
    )
    runs = [answer for answer in found if answer["command"].startswith("run")]
    assert [(run["stopped"], run["cycle"]) for run in runs] == [
        ("break", 1),
        ("break", 4),
        ("break", 6),
        ("break", 7),
    ]
    assert found[4]["breaks"] == ["out"]
    assert runs[0]["events"] == [
        {
            "cycle": 1,
            "event": "commit",
            "transition": "first",
            "firing": 0,
            "start": 0,
            "tokens": {"mid": 1},
        },
        {
            "cycle": 1,
            "event": "start",
            "transition": "first",
            "firing": 1,
            "due": 2,
            "tokens": {"in": 1},
        },
        {
            "cycle": 1,
            "event": "start",
            "transition": "second",
            "firing": 0,
            "due": 4,
            "tokens": {"mid": 1},
        },
    ]


def test_to_a_cycle_and_back(debug):
    commands = [
        "run 5",
        "places",
        "run 100",
        "back 3",
        "places",
        "back 99",
        "where",
        "run 5",
        "places",
    ]
    found = answers(debug(*commands, "--json"))
    five, there, end, back, again, none, _, once_more, same = found
    assert five["stopped"] == "limit" and five["cycle"] == 5
    assert end["stopped"] == "quiet" and end["cycle"] == 12 and end["next"] is None
    assert back["cycle"] == 5 and there["places"] == again["places"] == same["places"]
    assert none["instants"] == 0 and none["cycle"] == -1
    assert {**once_more, "events": 0} == {**five, "events": 0}


def test_every_prefix_of_a_run_is_that_of_lpn_sim(lpn, line):
    """Stepping changes nothing: tokens and firings after each cycle, against a run with a limit."""
    commands = [text for cycle in range(13) for text in (f"run {cycle}", "places all")]
    found = answers(lpn("debug", *line, "-c", ";".join(commands), "--json"))
    for cycle in range(13):
        run = lpn("sim", *line, "--engine", "interp", "--limit", cycle, "--json").json["runs"][0]
        assert found[2 * cycle]["firings"] == run["firings"]
    assert sum(found[-1]["places"].values()) == 4 == found[-1]["places"]["out"]


def test_a_stalled_run_says_who_waits(lpn, nets, marking):
    answer = lpn(
        "debug", nets / "join.lpn", marking("one.json", {"left": 1}), "-c", "run; why join"
    )
    text = "join waits for tokens over arc 'b': place 'right' has 0, it needs 2"
    assert answer.out == (f"> run\nthe run is over and has stalled\n  {text}\n> why join\n{text}\n")


def test_tokens_that_arrive_later(lpn, tmp_path):
    (tmp_path / "late.py").write_text(
        """import lpn


def net():
    net = lpn.Net("late")
    queue, done = net.place("queue", start=True), net.place("done", done=True)
    net.transition("serve", take={"x": queue}, put=[done], delay=3, servers=1)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    marking.add_rows("queue", [(), ()], at=[5, 9])
    return marking
"""
    )
    path = tmp_path / "late.py"
    answer = lpn("debug", path, path, "-c", "break queue; run; run; run", "--json")
    found = answers(answer)
    assert [run["cycle"] for run in found[1:]] == [5, 9, 12]
    assert found[1]["events"][0] == {"cycle": 5, "event": "arrival", "place": "queue"}


def test_the_log_is_every_event(debug, lpn, line, tmp_path):
    log = tmp_path / "run.log"
    assert debug(f"log {log}", "run", "log off").status == 0
    lines = log.read_text().splitlines()
    run = lpn("sim", *line, "--engine", "interp", "--json").json["runs"][0]
    assert sum(" commits" in text for text in lines) == run["firings"] == 8
    assert sum(" starts" in text for text in lines) == 8
    assert lines[-1].split()[0] == str(run["latency"])
    assert [int(text.split()[0]) for text in lines] == sorted(int(t.split()[0]) for t in lines)


@pytest.mark.parametrize(
    "command, message",
    [
        ("fly", "there is no command 'fly'; did you mean 'flying'?; help lists them"),
        ("tokens midd", "net 'line' has no place and no transition 'midd'; did you mean 'mid'?"),
        ("tokens first", "'first' is a transition, no place"),
        ("why mid", "'mid' is a place, no transition"),
        ("step x", "'x' is no whole number of at most 18 digits"),
        ("run 1e3", "'1e3' is no whole number of at most 18 digits"),
        ("break", "write: break NAME"),
        ("places some", "write: places [all]"),
        ("delete mid", "there is no break on 'mid'; breaks: none"),
    ],
)
def test_refusals(debug, command, message):
    answer = debug(command, "where")
    assert answer.status == 2
    assert answer.err == f"error: {message} [E-debug]\n"
    assert answer.out == f"> {command}\n"


def test_files_that_cannot_be_written(debug, tmp_path):
    answer = debug(f"log {tmp_path}")
    assert answer.status == 2 and answer.err.endswith("Is a directory [E-input]\n")


def test_commands_from_a_file(line, environment):
    done = subprocess.run(
        [BUILD / "bin" / "lpn", "debug", *map(str, line)],
        input="# to the middle\nrun 5\n\nplaces\nq\nwhere\n",
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done
    assert done.stdout == (
        "> run 5\nnothing more happens up to there; last in cycle 5\n"
        "> places\nin   1\nmid  2\nout  1\n> q\n"
    )


def test_an_error_of_the_run_can_be_gone_back_from(lpn, tmp_path):
    (tmp_path / "wrong.lpn").write_text(
        """lpn 1
net wrong
type unit ()
type job (size: 0..3)
place in : job start
place out : job done
transition grow {
  take j from in
  delay 2
  servers 1
  put out (j.size + 2)
}
end
"""
    )
    (tmp_path / "in.json").write_text('{"in": [[1], [3]]}')
    asked = ["debug", tmp_path / "wrong.lpn", tmp_path / "in.json"]
    answer = lpn(*asked, "-c", "run")
    assert answer.status == 2 and "grow" in answer.err and "Traceback" not in answer.err


class Terminal:
    """lpn debug in a terminal of its own."""

    def __init__(self, environment, *words):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [BUILD / "bin" / "lpn", "debug", *map(str, words)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, "TERM": "dumb"},
            start_new_session=True,
        )
        os.close(slave)
        self.said = ""

    def until(self, text):
        """Reads until the text is there, and returns what was read."""
        while text not in self.said:
            assert select.select([self.master], [], [], 60)[0], self.said
            self.said += os.read(self.master, 65536).decode()
        read, _, self.said = self.said.partition(text)
        return read

    def type(self, text):
        os.write(self.master, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def test_in_a_terminal_errors_are_shown_and_one_goes_on(line, environment):
    with Terminal(environment, *line) as terminal:
        terminal.until("(start) ")
        terminal.type("fly\n")
        assert "error: there is no command 'fly'" in terminal.until("(start) ")
        terminal.type("step 2\n")
        terminal.until("(cycle 1) ")
        terminal.type("\n")  # once more
        terminal.until("(cycle 4) ")
        terminal.type("quit\n")
        assert terminal.process.wait(timeout=60) == 0


def test_ctrl_c_stops_a_run_where_it_is(nets, environment):
    with Terminal(environment, nets / "clock.lpn") as terminal:
        terminal.until("(start) ")
        for _ in range(20):
            terminal.type("run\n")
            time.sleep(0.5)
            os.killpg(terminal.process.pid, signal.SIGINT)
            said = terminal.until(") ")
            if "stopped by Ctrl-C" in said:
                break
        else:
            raise AssertionError(said)
        terminal.type("quit\n")
        assert terminal.process.wait(timeout=60) == 0
