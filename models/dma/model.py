"""verilog-axi's data movers, FIFO and crossbar, with the memories they were measured with."""

import gzip
import json
import os

import lpn

from . import movers_bench

DESIGNS = {
    "axi_cdma": movers_bench,
    "axi_dma_rd": movers_bench,
    "axi_dma_wr": movers_bench,
}


class Measured(dict):
    """A run of a truth file, which is its own input."""

    def __str__(self):
        return self["run"]


def net_of(input):
    run = _run(input)
    return DESIGNS[run["design"]].build(run)


def net():
    raise NotImplementedError


def _run(input):
    if isinstance(input, dict):
        return input
    with open(input) as file:
        return json.load(file)


def workload(input, net):
    run = _run(input)
    return DESIGNS[run["design"]].mark(run, net)


def truth_rows(path):
    with gzip.open(path, "rt") as file:
        for line in file:
            run = Measured(json.loads(line))
            yield run, {}, run["cycles_total"], DESIGNS[run["design"]].instants(run)


def compare(ready, expected):
    run = ready.run(collect=sorted({place for place, *_ in expected}))
    met = 0
    run.missed = []
    for place, index, time, what in expected:
        times = run.collected[place][1]
        got = times[index] if index < len(times) else None
        if got == time:
            met += 1
        else:
            run.missed.append((place, index, time, got, what))
    return run, {"times": len(expected), "times_exact": met}
