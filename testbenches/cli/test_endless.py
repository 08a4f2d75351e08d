"""Runs that nothing ends: a timer goes on for ever, and nobody says how many done tokens are enough."""

import pytest

MODEL = """import lpn


class Request(lpn.Token):
    born: lpn.Birth


def net():
    net = lpn.Net("memory")
    timer = net.place("timer", init=1)
    requests = net.place("requests", Request, start=True)
    done = net.place("done", Request, done=True)
    net.transition("refresh", take={"t": timer}, put=[timer], delay=100, servers=1)
    each = net.param("each", 7, range=(1, 50))
    net.transition("serve", take={"r": requests}, put=[done.forward("r")], delay=each, servers=1)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for _ in range(5):
        marking.add("requests", born=0)
    if "counted" in str(input):
        marking.done_count = 5
    return marking


def truth(row):
    return row["input"], {}, int(row["cycles"])
"""

COMMANDS = {
    "sweep": ["-p", "each=6,7"],
    "latency": [],
    "validate": ["--truth"],
}


@pytest.fixture
def told(lpn, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    for name in ("timed", "counted"):
        (tmp_path / name).write_text("")
        (tmp_path / f"{name}.csv").write_text(f"input,cycles\n{name},35\n")

    def told(command, name, *more):
        file = [f"{name}.csv"] if command == "validate" else []
        name = [] if command == "validate" else [name]
        return lpn(command, "model.py", *name, *COMMANDS[command], *file, *more, cwd=tmp_path)

    return told


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_refused(told, command):
    answer = told(command, "timed")
    said = answer.out + answer.err
    assert answer.status == 2 and "'refresh' goes on for ever" in said
    assert "marking.done_count" in said and ("--limit" in said) == (command != "validate")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_number_of_done_tokens_ends_it(told, command):
    answer = told(command, "counted", "--json")
    assert answer.status == 0 and "35" in answer.out


@pytest.mark.parametrize("command", ["sweep", "latency"])
@pytest.mark.parametrize("limit", [["--limit", 1000], ["--max-time", 0.2]])
def test_a_limit_ends_it(told, command, limit):
    assert told(command, "timed", *limit).status == 3
