"""Interfaces of random small nets with odd names and edges, as programs that stand alone: the simulator's
number on every point of their spaces.

    LPN_SLOW=1 pytest testbenches/bounds/test_interface_points.py      more of them
"""

import itertools
import json
import keyword
import os
import random
import subprocess
import sys

import lpn
import pytest
from lpn.interfaces.extract import extract
from lpn.interfaces.input import aggregate, execute_interface, rows_of
from lpn.interfaces.steps import extract_steps

NETS = 60 if os.environ.get("LPN_SLOW") else 24
# Python's words, its builtins, and what the programs call their own.
NAMES = (
    *(
        "lambda",
        "class",
        "None",
        "True",
        "import",
        "def",
        "if",
        "return",
        "max",
        "min",
        "sum",
        "abs",
    ),
    *("print", "int", "len", "math", "heapq", "lpn", "self", "latency", "bottleneck", "chain", "x"),
    *(
        "classify",
        "phases",
        "header",
        "unit",
        "UNITS",
        "borders",
        "steps",
        "tokens",
        "now",
        "p",
        "t",
    ),
)
ALONE = """
import json, sys
told = []
for text, inputs in json.load(open(sys.argv[1])):
    names = {}
    exec(compile(text, "interface.py", "exec"), names)
    for x in inputs:
        try:
            told.append(names["latency"](x))
        except Exception as error:
            told.append(type(error).__name__)
print(json.dumps(told))
"""


def function(arc, made):
    """A function of one arc, of this name."""
    names = {"made": made}
    exec(f"def function({arc}): return made({arc})", names)
    return names["function"]


def small(draw):
    """(net, space, tokens): ranges of one value or below zero, guards that never hold, delays that are
    constant or 0, parameters that do not matter, no tokens.
    """
    a, b, param, spare, *names = draw.sample(NAMES, 14)
    lo, least = draw.choice([0, 1, -3, 5]), draw.choice([0, 1])
    hi, most = lo + draw.choice([0, 0, 1, 3]), least + draw.choice([0, 1, 2])
    ranges = {a: lpn.Int[lo, hi], b: lpn.Int[least, most]}
    kind = type("Item", (lpn.Token,), {"__annotations__": ranges})
    net = lpn.Net(names[0])
    scale = net.param(param, draw.choice([0, 1, 3]), range=(0, 5))
    net.param(spare, 2, range=(1, 4))  # does not matter
    delay = draw.choice(
        [
            lambda v: 7,
            lambda v: (getattr(v, a) - lo) * 3 + scale,
            lambda v: lpn.select(getattr(v, b) == least, getattr(v, a) - lo + 2, 9),
            lambda v: lpn.max(getattr(v, a) - lo, getattr(v, b)) + 1,
            lambda v: getattr(v, a) - lo + getattr(v, b),
        ]
    )
    guard = draw.choice(
        [None, None, None, lambda v: getattr(v, a) > hi, lambda v: getattr(v, a) >= lo]
    )
    source = net.place(names[1], kind, start=True)
    middle = net.place(names[2], kind, capacity=draw.choice([None, 1, 2]))
    done = net.place(names[3], done=True, sink=True)
    arcs = [name for name in names[4:] if not keyword.iskeyword(name)] + ["arc", "other"]
    first, second = arcs[:2]
    net.transition(
        names[-1],
        take={first: source.take(guard=function(first, guard)) if guard else source},
        put=[middle.forward(first)],
        delay=draw.choice([0, 0, 2]),
        servers=draw.choice([None, 1]),
    )
    net.transition(
        names[-2],
        take={second: middle},
        put=[done],
        delay=function(second, delay),
        servers=draw.choice([None, 1, 2]),
    )
    net.done()
    space, count = lpn.InputSpace(net), draw.choice([0, 1, 1, 2])
    space.tokens(names[1], count, **{a: (lo, hi), b: (least, most)})
    return net, space, count


def points(space):
    """Every input of a small space."""
    ranges = {v.name: range(v.lo, v.hi + 1) for v in space.variables}
    return [dict(zip(ranges, values)) for values in itertools.product(*ranges.values())]


@pytest.mark.parametrize("steps", [False, True])
def test_the_program_alone_gives_the_simulators_number(steps, tmp_path):
    programs, expected, refused = [], [], 0
    for number in range(NETS):
        net, space, count = small(random.Random(f"points {number}"))
        if not steps and count > 1:
            continue  # those are of averages, with their errors
        try:
            text = (
                extract_steps(net, space, net.name, checks=5) if steps else extract(net, space)
            ).text
        except lpn.Error as error:
            assert error.code == "E-pi", (number, error)
            refused += 1
            continue
        interface, inputs = execute_interface(text, "interface.py"), []
        for values in points(space):
            marking = space.marking(values)
            run = lpn.simulate(net, marking, engine="interp")
            inputs.append(aggregate(interface, rows_of(net, marking)))
            expected.append((number, values, None if run.stalled else run.latency))
        programs.append((text, inputs))
    (tmp_path / "programs.json").write_text(json.dumps(programs))
    ran = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, tmp_path / "programs.json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert len(told) == len(expected) and refused < NETS * 2 // 3, (len(programs), refused)
    for found, (number, values, latency) in zip(told, expected):
        if latency is None:
            assert isinstance(found, str), (number, values, found)
        else:
            assert found == latency, (number, values, found, latency)
