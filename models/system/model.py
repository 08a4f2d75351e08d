"""A whole system: a driver, a link, DMA engines and a memory around an accelerator's own net.

    driver -> link -> [DMA reads -> accelerator -> DMA writes] -> link -> memory -> link -> driver

`lpn sim FILE.toml INPUT...` runs the system of a file (system_file.py) on inputs of its accelerator;
`lpn sim system IMAGE.jpg` that of demo/jpeg.toml. `latency` counts ticks from the driver's first
register write until it knows that the job has ended; what a tick is, and nanoseconds and cycles of
each clock, the answer says.
"""

import functools
import os

import lpn
from lpn.command import grouped, table

from . import idle, system_file, truth
from .accelerators import fill, own_of
from .build import build
from .fabric import add_traffic

__all__ = ["answer_of_run", "compare", "configured", "net", "show", "truth_rows", "workload"]

_DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo", "jpeg.toml")


class Configured:
    """The model of a system file: what a model's module has, with its answers in ns."""

    def __init__(self, path):
        self._file = os.fspath(path)
        self._built = {}  # id of a net -> its System and Own

    @functools.cached_property
    def system(self):
        """The System of the file."""
        return system_file.read(self._file)

    @property
    def made_of(self):
        """What says what the model is beside this Python, as lpn.runs has it: the file, and the Python
        of its accelerator.
        """
        return [(self._file, ""), *own_of(self.system).model.files]

    def net(
        self,
        *,
        generation: int | None = None,
        lanes: int | None = None,
        max_payload: int | None = None,
        latency_ns: int | None = None,
        read_bytes: int | None = None,
        outstanding_reads: int | None = None,
        write_bytes: int | None = None,
        outstanding_writes: int | None = None,
        open_page: int | None = None,
        rounds: int | None = None,
        guest_clock_ppm: int | None = None,
        setup_ns: int | None = None,
        command_ns: int | None = None,
        in_dram: int | None = None,
        earlier: int = 0,
    ) -> lpn.Net:
        """The net; what is given stands in place of the file's.

        generation, lanes, max_payload, latency_ns: of [link]. read_bytes, outstanding_reads: of
        [reads]; write_bytes, outstanding_writes: of [writes]. open_page: 1 or 0, memory.page.
        guest_clock_ppm, rounds, setup_ns, command_ns: of [host]. in_dram: 1 or 0, where inputs and outputs
        are: those of memory.input and memory.output that something reads.
        earlier: 1 when the outputs of the inputs in its folder whose names stand before its own were
        written to the same buffer before, so that its lines are not in DRAM alone; the JPEG decoder, or
        a model with a function output_bytes(input). With accelerator.ports: 1 when the same accesses went
        through the cache behind the edge before; else it is empty.
        """
        flags = {"open_page": open_page, "in_dram": in_dram, "earlier": earlier}
        for name, value in flags.items():
            if value not in (None, 0, 1):
                raise lpn.Error("E-param", f"{name} must be 0 or 1, got {value}")
        if in_dram is not None and self.system.accelerator.ports:
            raise lpn.Error(
                "E-param",
                "in_dram is of DMA and of round_trips; accelerator.ports have a cache behind the edge, which "
                "says what is in DRAM",
            )
        sides = ("memory.input", "memory.output")
        read = [key for key in sides if idle.of(self.system, key) is None]
        if in_dram is not None and not read:
            why = " and ".join(f"{key} is of {idle.of(self.system, key)}" for key in sides)
            raise lpn.Error("E-param", f"in_dram sets what nothing would read: {why}; leave it out")
        page = None if open_page is None else "open" if open_page else "closed"
        where = None if in_dram is None else "dram" if in_dram else "behind"
        given = {
            "link.generation": generation,
            "link.lanes": lanes,
            "link.max_payload": max_payload,
            "link.latency_ns": latency_ns,
            "reads.bytes": read_bytes,
            "reads.outstanding": outstanding_reads,
            "writes.bytes": write_bytes,
            "writes.outstanding": outstanding_writes,
            "memory.page": page,
            **dict.fromkeys(read, where),
            "host.rounds": rounds,
            "host.guest_clock_ppm": guest_clock_ppm,
            "host.setup_ns": setup_ns,
            "host.command_ns": command_ns,
        }
        system = self.system.changed(**{k: v for k, v in given.items() if v is not None})
        own = own_of(system)
        idle.check(system)
        net = build(system, own, bool(earlier))
        net.system = system, own, bool(earlier)
        return net

    def workload(self, input, net: lpn.Net) -> lpn.Marking:
        """The tokens of an input of the accelerator. Raises what the accelerator's model raises."""
        system, own, earlier = net.system
        marking = lpn.Marking(net)
        fill(system, own, marking, os.fspath(input), earlier)
        add_traffic(system, marking)
        if system.memory.model == "dram":
            marking.done_count = 1  # refreshes never stop: the run ends when the driver knows
        return marking

    def answer_of_run(self, run) -> dict:
        """ns of a run and cycles of each clock in them, and ps of a tick; None where it did not end."""
        if run.latency is None:
            return None
        return _told(run.net.system[0], run.latency)

    def show(self, answer):
        """Prints an answer_of_run()."""
        rows = [[name, f"{mhz:g}", grouped(cycles)] for name, mhz, cycles in answer["clocks"]]
        table(["clock", ">MHz", ">cycles"], rows, title=f"{answer['ns']:,.3f} ns".replace(",", " "))

    def truth_rows(self, path):
        """(image, parameters, ns, what else is known) of each row of a jpeg.csv, measured with the device
        that device.truth says; of a protoacc.csv where the accelerator is Protoacc.
        """
        if self.system.accelerator.model == "protoacc":
            return truth.protoacc_rows(path, bool(self.system.accelerator.ports))
        return truth.jpeg_rows(path, self.system.device.truth)

    def compare(self, ready, expected):
        """The run and its ns by the guest's cycle counter. Raises ValueError, with both, for a row that was
        measured in ticks of its timer, which counts true ns.
        """
        run = ready.run()
        if run.latency is None:
            return run, {}
        told = _told(ready.net.system[0], run.latency)
        if expected is not None:
            ns = told["ns"]
            apart = abs(ns - expected)
            raise ValueError(
                f"measured in ticks of {truth.TICK} ns: {grouped(expected)} ns; predicted "
                f"{grouped(round(ns))} ns, {'within' if apart < truth.TICK else 'not within'} a tick"
            )
        return run, {"predicted": told["guest_ns"]}


def _told(system, ticks):
    ns = float(ticks * system.tick / 1000)
    clocks = {"accelerator": 10**6 / system.accelerator.period, "host": system.host.clock_mhz}
    return {
        "ns": ns,
        "guest_ns": round(ns * (10**6 + system.host.guest_clock_ppm) / 10**6, 3),
        "tick_ps": system.tick if isinstance(system.tick, int) else float(system.tick),
        "clocks": [(name, mhz, round(ns * mhz / 1000)) for name, mhz in clocks.items()],
    }


def configured(path) -> Configured:
    """The model of a system file, for `lpn sim FILE.toml`."""
    return Configured(path)


_default = Configured(_DEMO)
net, workload, answer_of_run = _default.net, _default.workload, _default.answer_of_run
show, truth_rows, compare = _default.show, _default.truth_rows, _default.compare
