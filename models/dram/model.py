"""DRAM: when each command of a sequence is first legal, and when a controller answers reads.

`lpn sim dram SEQUENCE.json` runs a sequence of commands on the net of its part (device.py), which
is generated from a description of the standard (standard.py, standards/*.toml); a trace of requests
runs on the net of its controller (controller/, controllers/*.toml).
"""

from lpn.command import counted, table

from lpn.runs import prepare

from . import controller, device
from .sequence import Sequence, earliest, marking, truth_rows
from .standard import standard
from .trace import COLLECTED, Trace, cycles_of, mean_latency

__all__ = [
    "answer",
    "answer_of_run",
    "collected",
    "compare",
    "net",
    "net_of",
    "show",
    "truth_rows",
    "workload",
]

_nets = {}
collected = COLLECTED  # what a run keeps for answer_of_run


def net():
    """The net of the smallest organisation of DDR4. Others: net_of() of a sequence."""
    return _net(standard("ddr4", "small"))


def net_of(input):
    """The net of a sequence's part or a trace's controller: of a file, a Sequence or a Trace."""
    return _net(Sequence.of(input).standard)


def _net(standard):
    if standard not in _nets:
        build = device.build if standard.controller is None else controller.build
        _nets[standard] = build(standard)
    found = _nets[standard]
    found.bound = {}
    return found


def workload(input, net):
    """The marking of a sequence or trace for its net. Raises Error "E-dram-sequence",
    "E-dram-trace", and ValueError for what the controller does not model.
    """
    read = Sequence.of(input)
    return read.marking(net) if isinstance(read, Trace) else marking(read, net)


def answer(input) -> dict:
    """The earliest cycle of every command of a sequence; latency and bandwidth of a trace."""
    sequence = Sequence.of(input)
    if isinstance(sequence, Trace):
        net = _net(sequence.standard)
        ready = prepare(net, sequence.marking(net), engine=None)
        return answer_of_run(ready.run(collect=collected))
    rows = earliest(sequence, _net(sequence.standard))
    return {"commands": [[c, list(where), cycle] for c, where, cycle in rows]}


def answer_of_run(run):
    """Latency and bandwidth of a trace, of a run that did all its requests; else None."""
    standard = next((made for made, net in _nets.items() if net is run.net), None)
    if standard is None or standard.controller is None or run.ending != "done":
        return None
    accept, done = cycles_of(run, run.done_tokens)
    latencies = sorted(d - a for a, d in zip(accept, done))
    return {
        "requests": len(done),
        "mean_latency": mean_latency(accept, done),
        # The least that so many requests do not exceed.
        "median_latency": latencies[(len(done) - 1) // 2],
        "p99_latency": latencies[-1 - len(done) // 100],
        "max_latency": latencies[-1],
        "last_done": max(done),
        "bytes_per_cycle": len(done) * standard.controller["request_bytes"] / max(done),
    }


def show(answer):
    """Prints an answer()."""
    if "requests" in answer:
        print(
            f"{counted(answer['requests'], 'request')}, the last done in cycle {answer['last_done']}: "
            f"{answer['mean_latency']:.3f} cycles from acceptance on average (half within "
            f"{answer['median_latency']}, 99 % within {answer['p99_latency']}, all within "
            f"{answer['max_latency']}), {answer['bytes_per_cycle']:.3f} bytes per cycle"
        )
        return
    table(
        ["command", "coordinate", ">earliest cycle"],
        [[c, " ".join(map(str, where)), f"{cycle}"] for c, where, cycle in answer["commands"]],
    )


def compare(ready, expected):
    """Of a row of lpn validate: every command, and the same commands with idle gaps."""
    return expected.compare(ready)
