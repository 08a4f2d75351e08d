"""Nets that the tests of the package's parts share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

PIPE = '''import lpn


def net(lanes=1):
    """`lanes` workers between two queues; a word takes `work` cycles."""
    net = lpn.Net("pipe")
    slots = net.param("slots", 2, range=(1, 64))
    work = net.param("work", 3, range=(1, 64))
    words = net.place("words", start=True)
    middle = net.place("middle", capacity=slots)
    out = net.place("out", done=True)
    net.transition("read", take={"w": words}, put=[middle], delay=1, servers=1)
    net.transition("write", take={"w": middle}, put=[out], delay=work, servers=lanes)
    return net


def workload(input, net):
    """An input is a number of words; 'slots' is as many as there are slots."""
    if input == "slots":
        count = net.bound.get("slots", net.params["slots"])
    else:
        count = int(input)
    marking = lpn.Marking(net)
    marking.add("words", count=count)
    return marking
'''


@pytest.fixture
def pipe(tmp_path):
    """The file of a small model with a workload."""
    path = tmp_path / "pipe.py"
    path.write_text(PIPE)
    return str(path)
