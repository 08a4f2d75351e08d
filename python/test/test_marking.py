"""authoring.marking: tokens in their order, checked."""

import subprocess
import sys
from array import array

import lpn
import pytest


class Block(lpn.Token):
    size: lpn.Int(0, 100)
    last: lpn.Bool


@pytest.fixture
def net():
    net = lpn.Net("n")
    blocks = net.place("blocks", Block, start=True)
    net.transition("t", take={"b": blocks}, put=[net.place("out", done=True)], delay=1)
    return net


def test_one_by_one_and_in_columns(net):
    marking = lpn.Marking(net)
    marking.add("blocks", size=3, last=False)
    marking.add_rows("blocks", [(4, 0), {"size": 5, "last": True}])
    marking.add_columns("blocks", size=array("q", [6, 7]), last=0)
    assert marking.count("blocks") == 5 and marking.net is net
    assert marking.rows(net["blocks"]) == [(3, 0), (4, 0), (5, 1), (6, 0), (7, 0)]


def test_as_a_file(net, tmp_path):
    marking = lpn.Marking(net)
    marking.add("blocks", size=9, last=True)
    marking.save(tmp_path / "m.lpnm")
    again = lpn.Marking.load(net, tmp_path / "m.lpnm")
    assert again.rows("blocks") == [(9, 1)] and again.save_bytes() == marking.save_bytes()


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_place_that_is_newer_than_the_marking(net, engine):
    """As in a notebook: the next cell adds a part, and the marking goes on being one of the net."""
    marking = lpn.Marking(net)
    marking.add("blocks", size=9, last=True)
    assert lpn.simulate(net, marking, engine=engine).latency == 1
    extra = net.place("extra", Block, start=True)
    net.transition("u", take={"b": extra}, put=[net["out"]], delay=5)
    assert lpn.simulate(net, marking, engine=engine).latency == 1
    assert lpn.run_batch(net, [marking])[0].latency == 1
    assert lpn.Marking.parse(net, marking.save_bytes()).rows("blocks") == [(9, 1)]
    assert marking.rows("extra") == []
    marking.add("extra", size=3, last=False)
    assert lpn.simulate(net, marking, engine=engine).latency == 5


@pytest.mark.parametrize(
    "add, code",
    [
        (lambda m: m.add("blocks", size=101, last=False), "E-range"),
        (lambda m: m.add("blocks", size=1), "E-marking"),
        (lambda m: m.add("block", count=1), "E-place"),
        (lambda m: m.add(lpn.Net("other").place("blocks"), count=1), "E-foreign"),
    ],
)
def test_what_does_not_fit(net, add, code):
    with pytest.raises(lpn.Error) as caught:
        add(lpn.Marking(net))
    assert caught.value.code == code


def test_more_tokens_than_memory_is_an_error_that_names_their_place():
    program = """
import resource, lpn
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
class Job(lpn.Token):
    size: lpn.Int
net = lpn.Net("n")
jobs, units = net.place("jobs", Job, start=True), net.place("units", start=True)
net.transition("t", take={"j": jobs, "u": units}, delay=1)
for arguments in ({"size": 1}, {"at": 5}):
    try:
        lpn.Marking(net).add("jobs" if "size" in arguments else "units", count=2**31, **arguments)
    except lpn.Error as error:
        print(error.code, str(error).splitlines()[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == [
        f"E-memory 2147483648 tokens of '{place}' need more memory than there is"
        for place in ("jobs", "units")
    ]
