"""Contention on a BlueField-2: cores, request queues, round-robin engines and a shared memory as
one net.

    source -> core (memory stretches its time) -> request queues -> engine, round robin -> ... ->
    delivered

`lpn sim bluefield SCENARIO.json` simulates the functions of a scenario file (scenario.py) until
their throughputs are steady. Here is what the commands of every model ask for; the net is built in
net/, and predictor/ says the same by laws and profiles.
"""

import os

import lpn

from . import scenario as scenarios
from .net import build

__all__ = ["answer", "net", "net_of", "show", "workload"]

_SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")
_DEFAULT = os.path.join(_SCENARIOS, "flowmonitor_regex_bench.json")


def net() -> lpn.Net:
    """The net of the bundled scenario: FlowMonitor beside a regex benchmark. Others: net_of()."""
    return net_of(_DEFAULT)


def net_of(path) -> lpn.Net:
    """The net of a scenario file; the scenario's numbers are the defaults of its parameters."""
    return build.net_of_scenario(scenarios.read(path))


def workload(input_path, net) -> lpn.Marking:
    """The marking of a scenario file for its net: traffic schedules, and an end after eight
    windows.

    Raises Error "E-scenario" when the net is not the one of this file.
    """
    scenario = scenarios.read(input_path)
    if net.text() != net_of(input_path).text():
        raise lpn.Error(
            "E-scenario",
            f"{input_path}: the net is that of another scenario; each has its own, "
            "by net_of(path), and lpn sim takes it",
        )
    return build.marking(scenario, net, 9)


def answer(input_path) -> dict:
    """Steady throughputs, latencies and bottlenecks of a scenario file's functions."""
    from .net import answer as answers

    return answers.answer(scenarios.read(input_path))


def show(answer):
    """Prints an answer()."""
    from .net import answer as answers

    answers.show(answer)
