"""Runs of the net: what rate a mix reaches, how long packets take, what limits it."""

from array import array
from collections import Counter
from operator import sub

from lpn import Error
from lpn.runs import compiled, execute, parameter_values

from . import model
from . import nic as constants
from .mix import overloaded_interval

__all__ = ["Result", "nic_for", "simulate"]

_WORDS = (8, 28, 56)  # shapes of the net, each compiled once; narrow packets are moved faster
PERCENTILES = (50, 90, 99, 99.9)


class Nic:
    """A net with its compiled simulator, for any number of mixes."""

    def __init__(self, words):
        self.net = model.net(words=words)
        self.net.done()
        self.library = compiled(self.net)


_NICS = {}


def nic_for(words=1):
    """The Nic whose packets have room for `words`. Raises Error E-nfp-steps when there is none."""
    shape = next((w for w in _WORDS if w >= words), None)
    if shape is None:
        raise Error(
            "E-nfp-steps",
            f"a path needs {words} words of steps; packets carry at most {_WORDS[-1]}",
        )
    if shape not in _NICS:
        _NICS[shape] = Nic(shape)
    return _NICS[shape]


class Result:
    """What a simulation measured.

    `packet_rate`: packets per second that ended, over the part of the run between its middle and
    its last tenth of packets. `latency`: {percentile: seconds} of those packets, from their arrival
    at the MAC (a saturated source: from when the MAC has passed them on) to the program's end.
    `utilisation`: {"cores", "dram", "mac"}: the busy share of the cores, of the busiest bank and of
    the MAC. `bottleneck`: the one of them that is busy for 98 % of the time, else "latency" of
    memory when the source is saturated, else "load". `dropped`: packets. `cycles`: of a core per
    packet, without waiting. `by_path`: the share of each path among the packets measured.
    `latency_by_path`: of a `whole` run, {percentile: seconds} of each path's packets.
    `complete`: False after Ctrl-C; then the figures are those of the packets that had ended.
    `firings`, `seconds`: of the simulation.
    """

    __slots__ = (
        "complete",
        "packets",
        "dropped",
        "packet_rate",
        "latency",
        "utilisation",
        "bottleneck",
        "cycles",
        "firings",
        "seconds",
        "offered",
        "by_path",
        "latency_by_path",
    )


def simulate(mix, *, cores=50, threads=4, parameters=None, buffer=0, whole=False, on_slice=None):
    """A Result of a Mix on so many cores.

    `whole`: latencies and shares are those of all packets, not of the run's second half.
    `parameters`: of the net, in ticks, in place of those of nic.json. `buffer`: packets that may
    wait at the MAC before it drops, 0: it drops none. `on_slice(time, firings)`: called about 20
    times a second.
    """
    nic = constants.load()
    machine = nic_for(mix.needs())
    saturated = mix.rate is None
    mix.check_buffer(buffer)
    given = {"cores": cores, "threads": threads, "buffer": buffer, **(parameters or {})}
    if mix.overload:
        given.setdefault("mac_interval", overloaded_interval())
    net = machine.net
    values = parameter_values(net, given)
    interval = dict(zip((p.name for p in net.core.params), values))["mac_interval"]
    run = execute(
        net,
        values,
        mix.marking(net, cores),
        machine.library,
        on_slice=on_slice,
        collect=("done", "accepted", "dropped"),
    )
    ids, ends = run.collected["done"]
    if not ids:
        raise KeyboardInterrupt  # of a run of at least one packet there is no other way
    out = Result()
    out.complete = run.ending != "interrupted"
    out.packets, out.dropped = len(ids), len(run.collected["dropped"][0])
    out.firings, out.seconds, out.offered = run.commits, run.seconds, mix.rate
    # From the middle to the last tenth: near saturation it takes some thousand packets until queues
    # are as long as they get. Threads in step end in bursts, so the time that half of those packets
    # take is averaged over where one begins to count.
    first, last = len(ids) // 2, len(ids) - 1 - len(ids) // 10
    half = (last - first) // 2
    second = nic["clock_hz"] * constants.TICKS
    spans = sum(ends[first + half : first + 2 * half]) - sum(ends[first : first + half])
    if half and spans:
        out.packet_rate = half * half * second / spans
    else:
        first, last = 0, len(ids) - 1
        out.packet_rate = second * len(ids) / max(1, ends[-1])
    if saturated:
        arrivals = run.collected["accepted"][1]
    else:
        arrivals, now = array("q"), 0
        for gap in mix.gaps():
            now += gap
            arrivals.append(now)
    if whole:
        first, last = 0, len(ids) - 1
    measured = ids[first : last + 1]
    taken = list(map(sub, ends[first : last + 1], map(arrivals.__getitem__, measured)))
    drawn = list(map(mix.draw().__getitem__, measured))
    out.latency_by_path = None
    if whole:
        of_path = [[] for _ in mix.paths]
        for path, ticks in zip(drawn, taken):
            of_path[path].append(ticks)
        out.latency_by_path = [_percentiles(each, second) if each else None for each in of_path]
    out.latency = _percentiles(taken, second)
    counts = Counter(drawn)
    shares = [counts[k] / len(measured) for k in range(len(mix.paths))]
    work = [p.work(mix.overhead) for p in mix.paths]
    per_second = out.packet_rate / nic["clock_hz"]
    busiest = max(sum(s * w[1][b] for s, w in zip(shares, work)) for b in range(nic["dram_banks"]))
    mean_cycles = sum(s * w[0] for s, w in zip(shares, work))
    out.cycles = mean_cycles
    out.utilisation = {
        "cores": per_second * mean_cycles / cores,
        "dram": per_second * busiest,
        "mac": out.packet_rate * interval / second,
    }
    limit = max(out.utilisation, key=out.utilisation.get)
    out.bottleneck = limit if out.utilisation[limit] >= 0.98 else "latency" if saturated else "load"
    out.by_path = shares
    return out


def _percentiles(taken, second):
    """{percentile: seconds} of times in ticks, and their "mean"."""
    taken.sort()
    most = len(taken) - 1
    found = {p: taken[min(most, int(len(taken) * p / 100))] / second for p in PERCENTILES}
    found["mean"] = sum(taken) / len(taken) / second
    return found
