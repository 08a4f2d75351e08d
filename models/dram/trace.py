"""Request traces for a controller: files, markings, and rows of measured ones."""

import os
import re
from collections import defaultdict

import lpn
from lpn.runs import read_json, unpacked

from .address import located
from .controller.tokens import ID_BITS, PART_BITS, TICKS
from .standard import FILES, beside, standard

__all__ = ["Requests", "Trace", "controllers"]

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "controllers")
NUMBERS = (
    2**ID_BITS
)  # one fits beside the row; requests under way are far fewer, and take them in turn
LATEST = 2**40
COLLECTED = ("accepted", "done")  # places of a controller's net


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
        self.files = []  # that it was read from, the one that names the controller first

    def __str__(self):
        return self.name

    @property
    def standard(self):
        """The Standard of its controller. Raises ValueError for one that there is not."""
        if self.part.endswith(FILES):
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
        """A JSON object of a "controller" and its "requests": [[cycle, "R", byte address], ...], or a
        "trace", a file of them; "wrap": addresses are modulo the memory's size. Raises Error
        "E-dram-trace".
        """
        unknown = sorted(set(data) - {"controller", "requests", "trace", "wrap"})
        if unknown:
            raise wrong(f"{path}: unknown '{unknown[0]}'")
        part, wrap = data.get("controller"), data.get("wrap", False)
        if not isinstance(part, str) or ("requests" in data) == ("trace" in data):
            raise wrong(
                f'{path} must be {{"controller": a name or a .toml file, "requests": [...]}}, or have a '
                '"trace", the name of a file, in place of requests'
            )
        if not isinstance(wrap, bool):
            raise wrong(f"{path}: wrap must be true or false, got {wrap!r}")
        folder = os.path.dirname(os.path.abspath(path))
        trace = cls(str(path), beside(folder, part), [], [], [])
        try:
            made = trace.standard
        except ValueError as error:
            raise wrong(f"{path}: {error}; another is a file that ends in .toml or .ini") from None
        size = made.controller["request_bytes"]
        if "trace" in data:
            if not isinstance(data["trace"], str):
                raise wrong(f"{path}: trace must be the name of a file, got {data['trace']!r}")
            trace.files = [path, os.path.join(folder, data["trace"])]
            rows = _lines(trace.files[1])
        else:
            trace.files = [path]
            rows = _rows(path, data["requests"])
        for cycle, writes, address in rows:
            block = address // size
            trace.arrive.append(cycle)
            trace.block.append(block % made.blocks if wrap else block)
            trace.writes.append(writes)
        if not trace.block:
            raise wrong(f"{path}: there are no requests")
        return trace

    def marking(self, net):
        """The tokens of the requests. Raises Error "E-dram-trace"."""
        import numpy as np  # not before it is needed: it takes a tenth of a second

        made = self.standard
        self._check(made)
        arrive, block, writes = (
            np.array(v, np.int64) for v in (self.arrive, self.block, self.writes)
        )
        channel, bank, row, column = located(made, block)
        _, which, times = np.unique(block, return_inverse=True, return_counts=True)
        part = np.where(times[which] > 1, column + 1, 0) if made.joins else 0
        marking = lpn.Marking(net)
        marking.add_columns(
            "requests",
            at=TICKS * arrive,
            arrives=arrive,
            channel=channel,
            bank=bank,
            entry=((row * 2 + writes << PART_BITS | part) << ID_BITS)
            + np.arange(len(block)) % NUMBERS,
        )
        marking.done_count = len(self.block)
        return marking

    def _check(self, made):
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
                    f'bytes, not the address {block * size}; write "wrap": true beside "controller", '
                    'which takes addresses modulo that, or give the "row" of its [controller] address '
                    "more bits"
                )
            now = cycle

    def times(self, ready):
        """(the run, the cycle of each request's acceptance, that of its completion)."""
        run = ready.run(collect=COLLECTED)
        return run, *cycles_of(run, len(self.block))


def cycles_of(run, count):
    """([the cycle of each request's acceptance], [that of its completion]) of a run that keeps what
    reaches COLLECTED, for the `count` requests of its trace; None for what did not happen.
    """
    cycles = []
    for place in COLLECTED:
        found = [None] * count
        turn = defaultdict(int)  # how many requests of each number there were before
        for number, tick in zip(*run.collected[place]):
            found[turn[number] + number] = tick // TICKS
            turn[number] += NUMBERS
        cycles.append(found)
    return cycles


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


def _rows(path, requests):
    """(cycle, whether it writes, byte address) of each row of JSON."""
    if not isinstance(requests, list):
        raise wrong(f"{path}: requests must be a list")
    for number, row in enumerate(requests):
        good = isinstance(row, list) and len(row) == 3 and row[1] in ("R", "W")
        if not good or type(row[0]) is not int or type(row[2]) is not int:
            raise wrong(f"{path}, request {number}: must be [cycle, R or W, address]")
        yield row[0], row[1] == "W", row[2]


_WAYS = {b"R": False, b"READ": False, b"W": True, b"WRITE": True}


def _lines(path):
    """The same of a file of lines, packed or not, as simulators of memories read them: 0x1f80 R, or
    0x1f80 READ 25 with the cycle, without which requests come as fast as they are accepted.
    """
    try:
        lines = unpacked(path).split(b"\n")
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise wrong(str(error)) from None
    timed = None
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        way = _WAYS.get(match[2].upper()) if match else None
        if way is None:
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
            raise wrong(
                f"{path}:{number}: must be ADDRESS R|W|READ|WRITE [CYCLE], the address as 0x1f80, got "
                f"'{line.decode('latin1').strip()[:60]}'"
            )
        address, _, cycle = match.groups()
        if timed is not (cycle is not None):
            if timed is not None:
                raise wrong(f"{path}:{number}: either all requests have a cycle or none")
            timed = cycle is not None
        yield int(cycle or 0), way, int(address, 16)


_LINE = re.compile(rb"\s*(0x[0-9a-f]{1,16})\s+([a-z]+)(?:\s+([0-9]{1,18}))?\s*", re.IGNORECASE)


def mean_latency(accept, done):
    """Cycles from acceptance to completion."""
    return (sum(done) - sum(accept)) / len(done)


_last: list = []  # the stamps of the files of the last trace, and the trace


def read(path):
    """A Trace when the file holds requests, else None. A run asks for it several times, so the last
    one is kept as long as its files are the same.
    """
    if _last and _last[0] == _stamps(path, *_last[1].files[1:]):
        return _last[1]
    data = read_json(path, what="no JSON")
    if not isinstance(data, dict) or not {"requests", "trace"} & set(data):
        return None
    trace = Trace.read(path, data)
    _last[:] = _stamps(*trace.files), trace
    return trace


def _stamps(*files):
    """What tells whether files are the same; None where one is not there."""
    try:
        found = [os.stat(file) for file in files]
    except OSError:
        return None
    where = [os.path.abspath(file) for file in files]
    return where, [(one.st_mtime_ns, one.st_size, one.st_ino) for one in found]
