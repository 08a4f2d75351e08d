"""Request traces for a controller: files, markings, and rows of measured ones."""

import array
import os
from collections import Counter

import lpn
from lpn.runs import read_json

from . import address
from .controller.tokens import ID_BITS, PART_BITS, TICKS
from .standard import standard

__all__ = ["Requests", "Trace", "controllers"]

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "controllers")
MOST = 2**ID_BITS  # requests: a number fits beside the row
LATEST = 2**40


def controllers() -> list[str]:
    """The controllers that come with the project."""
    return sorted(file[:-5] for file in os.listdir(_FOLDER) if file.endswith(".toml"))


def wrong(text):
    """The error of a trace that cannot be used."""
    return lpn.Error("E-dram-trace", text)


class Trace:
    """Requests in their order: the cycle each arrives, its block (address / request_bytes) and
    whether it writes.
    """

    def __init__(self, name, part, arrive, block, writes):
        self.name = name
        self.part = part
        self.arrive = arrive
        self.block = block
        self.writes = writes

    def __str__(self):
        return self.name

    @property
    def standard(self):
        """The Standard of its controller. Raises ValueError for one that there is not."""
        if self.part.endswith(".toml"):
            made = standard(self.part)
            if made.controller is None:
                raise wrong(f"{self.part} describes no [controller]")
            return made
        if self.part not in controllers():
            raise ValueError(
                f"controller '{self.part}' is not modelled; there are {', '.join(controllers())}"
            )
        return standard(os.path.join(_FOLDER, f"{self.part}.toml"))

    @classmethod
    def read(cls, path, data):
        """A JSON object {"controller", "requests": [[cycle, "R", byte address], ...]}. Raises Error
        "E-dram-trace".
        """
        unknown = sorted(set(data) - {"controller", "requests"})
        if unknown:
            raise wrong(f"{path}: unknown '{unknown[0]}'")
        part, requests = data.get("controller"), data["requests"]
        if not isinstance(part, str) or not isinstance(requests, list) or not requests:
            raise wrong(
                f'{path} must be {{"controller": a name or a .toml file, "requests": [...]}}'
            )
        if part.endswith(".toml"):
            part = os.path.join(os.path.dirname(os.path.abspath(path)), part)
        trace = cls(str(path), part, [], [], [])
        try:
            size = trace.standard.controller["request_bytes"]
        except ValueError as error:
            raise wrong(f"{path}: {error}; another is a file that ends in .toml") from None
        for number, row in enumerate(requests):
            good = isinstance(row, list) and len(row) == 3 and row[1] in ("R", "W")
            if not good or type(row[0]) is not int or type(row[2]) is not int:
                raise wrong(f"{path}, request {number}: must be [cycle, R or W, address]")
            trace.arrive.append(row[0])
            trace.block.append(row[2] // size)
            trace.writes.append(row[1] == "W")
        return trace

    def coordinate(self, made, block):
        """Channel, (rank, bank group, bank), row, column of a block."""
        found = address.fields(made.controller, block)
        where = tuple(found[level] for level in made.levels)
        return found["channel"], where, found["row"], found["column"]

    def marking(self, net):
        """The tokens of the requests. Raises Error "E-dram-trace", and ValueError for more of them
        than the controller's net has room for.
        """
        made = self.standard
        banks = {where: number for number, where in enumerate(made.banks)}
        if len(self.block) > MOST:
            raise ValueError(f"a trace has at most {MOST} requests, got {len(self.block)}")
        times_named = Counter(self.block)
        columns = {k: array.array("q") for k in ("at", "arrives", "channel", "bank", "entry")}
        now = 0
        for number, (cycle, block) in enumerate(zip(self.arrive, self.block)):
            if not now <= cycle <= LATEST:
                raise wrong(
                    f"{self}, request {number}: arrives at {cycle}; cycles are 0 to 2^40 and in order, "
                    f"and the request before arrives at {now}"
                )
            if not 0 <= block < made.blocks:
                size = made.controller["request_bytes"]
                raise wrong(
                    f"{self}, request {number}: the memory of '{self.part}' has {made.blocks * size} "
                    f"bytes, not the address {block * size}; take addresses modulo its size, or give "
                    'the "row" of its [controller] address more bits'
                )
            channel, where, row, column = self.coordinate(made, block)
            part = column + 1 if times_named[block] > 1 else 0
            columns["at"].append(TICKS * cycle)
            columns["arrives"].append(cycle)
            columns["channel"].append(channel)
            columns["bank"].append(banks[where])
            columns["entry"].append(
                (row * 2 + self.writes[number] << PART_BITS | part) << ID_BITS
                | number
            )
            now = cycle
        marking = lpn.Marking(net)
        marking.add_columns("requests", **columns)
        marking.done_count = len(self.block)
        return marking

    def times(self, ready):
        """(the run, the cycle of each request's acceptance, that of its completion)."""
        run = ready.run(collect=["accepted", "done", "joined"])
        cycles = {}
        for place in ("accepted", "done"):
            found = cycles[place] = [None] * len(self.block)
            for number, tick in zip(*run.collected[place]):
                found[number] = tick // TICKS
        # A read that joined one under way for its block is answered with it.
        done, last, joined = cycles["done"], {}, set(run.collected["joined"][0])
        for number, block in enumerate(self.block):
            if number in joined:
                done[number] = done[last[block]]
            else:
                last[block] = number
        return run, cycles["accepted"], done


class Requests:
    """What was measured of a trace: cycles of acceptance and completion of each request."""

    def __init__(self, trace, accept, done):
        self.trace = trace
        self.accept = accept
        self.done = done

    @property
    def mean(self):
        """The mean of done - accept."""
        return mean_latency(self.accept, self.done)

    def compare(self, ready):
        """The run, its mean latency, bandwidth and how many cycles are met."""
        run, accept, done = self.trace.times(ready)
        if None in done:
            return run, {}
        both = zip([*accept, *done], [*self.accept, *self.done])
        return run, {
            "predicted": mean_latency(accept, done),
            "bandwidth_error": max(self.done) / max(done) - 1,
            "times": 2 * len(done),
            "times_exact": sum(a == b for a, b in both),
        }


def mean_latency(accept, done):
    """Cycles from acceptance to completion."""
    return (sum(done) - sum(accept)) / len(done)


def read(path):
    """A Trace when the file holds requests, else None."""
    data = read_json(path, what="no JSON")
    if isinstance(data, dict) and "requests" in data:
        return Trace.read(path, data)
    return None
