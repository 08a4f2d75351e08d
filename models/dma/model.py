"""verilog-axi's data movers, FIFO and crossbar and the memories they were measured with (MIT,
commit 516bd5d), each as a part of a net: a function that joins Channels.

    descriptors -> axi_cdma | axi_dma_rd | axi_dma_wr -> axi_fifo, axi_crossbar -> axi_ram | delay

A time is a clock: a transition without delay is the clock of a handshake, a delay of 1 a register.
`net_of(input)` joins the parts as a run's design and configuration say; movers.py, memories.py,
fifo.py and crossbar.py are for nets of your own.
"""

import lpn

from . import movers_bench, port_bench, run_file

__all__ = ["compare", "net", "net_of", "space", "truth_rows", "workload"]

_BENCHES = (movers_bench, port_bench)
_BENCH = {design: bench for bench in _BENCHES for design in bench.DESIGNS}
_MOVERS = movers_bench.DESIGNS


def _read(input):
    """(bench, checked Run) of an input: the name of a file, or a run as a dict."""
    run = run_file.Run(input) if isinstance(input, dict) else run_file.read(input)
    design = run.get("design")
    bench = _BENCH.get(design) if isinstance(design, str) else None
    if bench is None:
        raise run_file.refuse(
            f"{run}: there is no design {design!r}; there are: {', '.join(_BENCH)}"
        )
    return bench, bench.check(run)


def net(*, mover: int = 0, memory_latency: int = 0) -> lpn.Net:
    """A data mover with one memory; its parameters are `width` of the bus in bytes, `max_burst` in
    beats and `unaligned`.

    mover: 0 axi_cdma, 1 axi_dma_rd, 2 axi_dma_wr. memory_latency: 0 an axi_ram, else the memory
    `delay` with so many clocks. Whatever else was measured is the net of an input: net_of(input).
    """
    if mover not in range(len(_MOVERS)):
        raise lpn.Error("E-param", f"mover must be 0..{len(_MOVERS) - 1}, got {mover}")
    memory = {"memory": "delay", "memory_latency": memory_latency} if memory_latency else {}
    descriptors = [{"addr": 0, "len": 1}]
    return net_of({"design": _MOVERS[mover], "config": memory, "descriptors": descriptors})


def net_of(input) -> lpn.Net:
    """The net of an input: a JSON file with a run, FILE#NAME for one of many, or a dict.

    Raises Error "E-input".
    """
    bench, run = _read(input)
    return bench.build(run)


def workload(input, net: lpn.Net) -> lpn.Marking:
    """The marking of an input for the net that net_of() makes of it."""
    bench, run = _read(input)
    return bench.mark(run, net)


def truth_rows(path):
    """(run, {}, its last cycle, the measured instants) of every run of a file of
    ../shared/truth/axi.
    """
    for run in run_file.read_all(path):
        if not isinstance(run.get("cycles_total"), int):
            raise lpn.Error("E-truth-file", f"{path}: {run} has no 'cycles_total'")
        bench, checked = _read(run)
        try:
            expected = bench.instants(checked)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise lpn.Error(
                "E-truth-file", f"{path}: what was measured of {run} cannot be read: {error!r}"
            ) from None
        yield run, {}, run["cycles_total"], expected


def compare(ready, expected):
    """The run of `ready`, and how many of the `expected` instants it meets."""
    run = ready.run(collect=sorted({place for place, *_ in expected}))
    seen = {place: _Seen(run.net[place], *found) for place, found in run.collected.items()}
    met = sum(seen[place].time(which) == time for place, which, time in expected)
    return run, {"times": len(expected), "times_exact": met}


class _Seen:
    """When tokens came to a place, by their number, as bursts, and as the bursts of an ID."""

    def __init__(self, place, values, times):
        self._times = times
        fields = place.fields
        self._bursts = []  # (ID, first time, last time)
        self._of = {}
        first = None
        for k, time in enumerate(times):
            token = dict(zip(fields, values[k * len(fields) : (k + 1) * len(fields)]))
            first = time if first is None else first
            if token.get("last", 1):
                burst = (token.get("id"), first, time)
                self._bursts.append(burst)
                self._of.setdefault(burst[0], []).append(burst)
                first = None

    def time(self, which):
        """The time of token number `which`; of (ID, j, end): the first or last beat of the j-th burst
        of an ID; of ("burst", k, end, ID): of the k-th burst, when it has this ID. None: there is
        none.
        """
        if isinstance(which, int):
            return self._times[which] if which < len(self._times) else None
        if which[0] == "burst":
            _, k, end, id_ = which
            found = self._bursts[k : k + 1]
            if found and id_ is not None and found[0][0] != id_:
                return None
        else:
            id_, k, end = which
            found = self._of.get(id_, [])[k : k + 1]
        return found[0][1 + end] if found else None


def space(net: lpn.Net, len: int = (1, 64), addr: int = (0, 3), write_addr: int = (0, 3)):
    """One descriptor, from idle, of a net of net(): any length and any alignment.

    len: bytes, a number or a range. addr: byte address, of the read side in axi_cdma; write_addr:
    the other, of axi_cdma alone. 4096 is a boundary that no burst crosses. axi_dma_wr: the stream
    offers the whole packet at once.
    """
    width = movers_bench.width_of(net)
    space = lpn.InputSpace(net)
    copies = net.name == "axi_cdma"
    given = space.tokens(
        "desc.given",
        1,
        gap=0,
        statuses=0,
        read_addr=addr,
        write_addr=write_addr if copies else 0,
        len=len,
    )
    if net.name == "axi_dma_wr":
        space.tokens("stream.packets", 1, words=(given[0].len + width - 1) // width)
    return space
