"""Interfaces by steps (lpn pi --steps) of random nets against the interpreter: latencies, stalls and errors.

    steps_fuzz.py --build BUILD --seed 1 --chunks 5

Nets are those of lpn_fuzz (`--export`), 40 a chunk, with a few inputs each.
"""

import argparse
import collections
import pathlib
import re
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "second_checker")]

import compare  # noqa: E402
import lpn  # noqa: E402
from lpn.authoring.net import Net  # noqa: E402
from lpn.interfaces.extract import Extracted  # noqa: E402
from lpn.interfaces.input import aggregate, execute_interface, rows_of  # noqa: E402
from lpn.interfaces.steps import written  # noqa: E402

SECONDS = 5  # of one net


def inputs_of(net, text):
    """(parameters, marking, space of that input alone) of the inputs of a case; None where tokens are pushed."""
    space, marking, params = lpn.InputSpace(net), lpn.Marking(net), {}
    for line in text.splitlines():
        word, *rest = line.split() or [""]
        if word == "param":
            params[rest[0]] = int(rest[1])
            space.param(rest[0], int(rest[1]))
        elif word == "tokens":
            number, values = min(int(rest[1]), 20), [int(v) for v in rest[2:]]
            fields = list(net[rest[0]]._type.fields)
            columns = {
                name: [values[k * len(fields) + f] for k in range(number)]
                for f, name in enumerate(fields)
            }
            space.tokens(rest[0], number, **columns)
            for k in range(number):
                marking.add(rest[0], **{name: column[k] for name, column in columns.items()})
        elif word in ("done", "push"):
            return None
    return {**net.params, **params}, marking, space


def looked_at(text, inputs):
    """What became of a case; raises AssertionError where the interface differs."""
    net = Net.parse(text)
    given = inputs_of(net, inputs)
    if given is None:
        return "pushed"
    params, marking, space = given
    found = Extracted(net, space, params)
    found.parameters = params
    try:
        text, *_ = written(net, space, found, "net", 1.0)
    except lpn.Error as error:
        assert error.code in (
            "E-pi",
            "E-overflow",
        ), error  # the latter: of a formula over parameters
        return (
            "refused: "
            + re.sub(r"transition \S+( \(.*?\))?: ", "", str(error).splitlines()[0])[:40]
        )
    try:
        interface = execute_interface(text([]).replace("1_000_000", "3_000"), "<interface>")
    except lpn.Error as error:  # of parameters; extraction runs some inputs before it gets here
        assert "the model does not hold" in str(error), error
        interface = None
    try:
        told = interface and interface.latency(
            aggregate(interface, rows_of(net, marking), conditions=False)
        )
    except NotImplementedError as error:
        told = None
        if "million" in str(error):
            return "long, or a negative delay"
    try:
        run = lpn.simulate(net, marking, params=params, engine="interp")
    except lpn.Error as error:
        if error.code in ("E-overflow", "E-too-many"):
            return "beyond 64 bits"  # Python's integers go on
        assert told is None, (error.code, told)
        return "an error in both"
    latency = None if run.stalled else run.latency
    assert told == latency, (told, latency, run.stalled)
    return "no latency in both" if latency is None else "latencies equal"


class TooLong(BaseException):
    """A net took too long."""


def too_long(*_):
    raise TooLong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(HERE.parents[1] / "build"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chunks", type=int, default=5)
    options = parser.parse_args()
    tally = collections.Counter()
    signal.signal(signal.SIGALRM, too_long)
    for number in range(options.chunks):
        for name, net, inputs in compare.cases(options.build, options.seed, number):
            signal.alarm(SECONDS)
            try:
                tally[looked_at(net, inputs)] += 1
            except TooLong:
                tally["given up"] += 1
            except Exception as error:
                tally["differences"] += 1
                print(
                    f"net {name} of seed {options.seed}: {type(error).__name__}: {error}",
                    flush=True,
                )
            finally:
                signal.alarm(0)
    for what, n in sorted(tally.items()):
        print(f"{n:>8}  {what}")
    return 1 if tally["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
