"""`lpn pi --evaluate` answers only for runs that begin and end as those of its interface do."""

import json
import subprocess
import sys

import lpn
import pytest
from lpn.interfaces.fitted import extract_fitted
from lpn.interfaces.input import execute_interface, need_ending
from lpn.interfaces.steps import extract_steps

MODEL = """
import lpn


class Job(lpn.Token):
    size: lpn.Int[1, 9]


def net():
    net = lpn.Net("jobs")
    jobs, done = net.place("jobs", Job, start=True), net.place("done", done=True)
    net.transition("work", take={"j": jobs}, put=[done.emit()], delay=lambda j: j.size, servers=1)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    with open(input) as file:
        for line in file:
            word, *values = line.split()
            if word == "done":
                marking.done_count = int(values[0])
            else:
                marking.add("jobs", size=int(word), at=int((values or "0")[0]))
    return marking


def space(net):
    space = lpn.InputSpace(net)
    space.tokens("jobs", 3, size=(1, 9))
    return space
"""


@pytest.mark.parametrize("way", [[], ["--steps"], ["--fitted"]])
def test_an_input_that_ends_or_begins_otherwise_is_refused(tmp_path, way):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "lpn", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
        )

    (tmp_path / "jobs.py").write_text(MODEL)
    (tmp_path / "plain.txt").write_text("4\n5\n6\n")
    (tmp_path / "done.txt").write_text("4\n5\n6\ndone 1\n")
    (tmp_path / "late.txt").write_text("4\n5\n6 100\n")
    made = run("pi", "jobs.py", "-o", "interface.py", *way)
    assert made.returncode == 0, made.stderr
    inputs = ["plain.txt", "done.txt", "late.txt"]
    told = run("pi", "--evaluate", "interface.py", "--model", "jobs.py", "--json", *inputs)
    found = json.loads(told.stdout)
    assert told.returncode == 1 and [row["predicted"] for row in found["rows"]] == [15]
    done, late = found["not_covered"]
    assert done["code"] == late["code"] == "E-pi-input"
    assert done["reason"] == (
        "its run ends after 1 done tokens, but this interface is for runs that end when nothing is "
        "left to do; give the marking and the space the same done_count"
    )
    assert late["reason"].startswith("jobs has tokens that come later than 0; ")


@pytest.mark.parametrize("extract", [extract_steps, extract_fitted])
def test_a_done_count_of_the_space(extract):
    names = {"__name__": "jobs"}
    exec(MODEL, names)
    net = names["net"]().done()
    inputs = names["space"](net)
    inputs.done_count = 2
    interface = execute_interface(extract(net, inputs).text, "interface.py")
    marking = lpn.Marking(net)
    marking.add_rows("jobs", [(4,), (5,), (6,)])
    with pytest.raises(NotImplementedError, match="for runs that end after 2 done tokens"):
        need_ending(interface, net, marking)
    marking.done_count = 2
    need_ending(interface, net, marking)


def test_a_done_count_of_the_net():
    names = {"__name__": "jobs"}
    exec(MODEL, names)
    net = names["net"]()
    number = net.param("number", default=2)
    net.done_count = number
    inputs = names["space"](net.done())
    inputs.param("number", 3)
    interface = execute_interface(extract_steps(net, inputs).text, "interface.py")
    marking = lpn.Marking(net)
    need_ending(interface, net, marking)  # both as the net says
    marking.done_count = 2
    with pytest.raises(NotImplementedError, match="for runs that end after 3 done tokens"):
        need_ending(interface, net, marking)
    marking.done_count = 3
    need_ending(interface, net, marking)
