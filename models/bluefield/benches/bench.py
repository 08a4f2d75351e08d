"""Runs nf.c on this machine's CPU: alone, and beside another on a second core.

    python3 models/bluefield/benches/bench.py < configuration.json     one measurement, for
                                                                 lpn bluefield profile --measure

Rates are packets per second of the function's own processor time, so that what else runs on the machine
takes no packets from them; that it presses on caches and memory cannot be undone. What a rival did is
counted by itself: cache lines that it touched per second, a third of which the memory benchmark
writes; its working set is what the kernel saw referenced.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Bench", "Config", "Pressure", "compiled", "two_cores"]

FOLDER = Path(__file__).parent
HYPERSCAN = Path("/usr/include/hs/hs.h")  # libhyperscan-dev or libvectorscan-dev
FUNCTIONS = ("parse", "flows", "regex", "deflate", "memory")
_FOREVER = 3600.0  # seconds of a rival, which is ended when the function has finished


@dataclass(frozen=True)
class Config:
    """A function of nf.c with its traffic; wss_KB and pace are those of the memory benchmark."""

    function: str
    flows: int = 16384
    bytes: int = 1024
    matches: float = 600.0
    wss_KB: int = 4096
    pace: int = 0

    def arguments(self, seconds):
        """Of nf."""
        rest = (self.flows, self.bytes, self.matches, self.wss_KB, self.pace)
        return [self.function, f"{seconds:g}", *(f"{value:g}" for value in rest)]


@dataclass(frozen=True)
class Pressure:
    """What a rival does alone: working set, and cache lines read and written per second."""

    wss_MB: float
    reads_per_s: float
    writes_per_s: float


def two_cores():
    """Numbers of two cores that this process may run on; RuntimeError where there is one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise RuntimeError("co-runs need two cores")
    return cores[:2]


def compiled(source, program):
    """Compiles a source of this folder; which library does its regular expressions.

    Raises RuntimeError where that fails.
    """
    hyperscan = HYPERSCAN.exists()
    command = [os.environ.get("CC", "cc"), "-O2", "-o", program, str(FOLDER / source)]
    command += ["-DWITH_HYPERSCAN"] * hyperscan + ["-lz"] + ["-lhs"] * hyperscan
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as wrong:
        raise RuntimeError(
            f"{source} cannot be compiled: {getattr(wrong, 'stderr', wrong)}"
        ) from None
    return "hyperscan" if hyperscan else "regex(3)"


class Bench:
    """nf.c compiled, with a Hyperscan where Debian's package is installed, on two cores.

    seconds: of processor time of one measurement; repeats: the median of so many. Raises
    RuntimeError without a compiler or a second core.
    """

    def __init__(self, seconds=0.1, repeats=3):
        self.seconds, self.repeats = seconds, repeats
        self.cores = two_cores()
        self._folder = tempfile.TemporaryDirectory()
        self._program = os.path.join(self._folder.name, "nf")
        self.regex = compiled("nf.c", self._program)

    def _start(self, config, seconds, core):
        """A running function whose data are made."""
        running = subprocess.Popen(
            ["taskset", "-c", str(core), self._program, *config.arguments(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if running.stdout.readline() != "ready\n":
            _, why = running.communicate()
            raise RuntimeError(f"nf {' '.join(config.arguments(seconds))} failed: {why.strip()}")
        return running

    def _run(self, config):
        """What nf printed of one run on the first core."""
        running = self._start(config, self.seconds, self.cores[0])
        text, why = running.communicate()
        if running.returncode:
            raise RuntimeError(f"nf {' '.join(config.arguments(self.seconds))} failed: {why}")
        return json.loads(text)

    def rate(self, config, rival=None):
        """Packets per second of processor time, beside a rival on the other core: the median."""
        other = None
        if rival is not None:
            other = self._start(rival, _FOREVER, self.cores[1])
        try:
            runs = [self._run(config) for _ in range(self.repeats)]
            if other is not None and other.poll() is not None:
                raise RuntimeError("the rival ended before the measurement")
        finally:
            if other is not None:
                other.kill()
                other.communicate()
        return statistics.median(run["packets"] / run["cpu_seconds"] for run in runs)

    def pressure(self, config):
        """The Pressure of a rival, measured alone."""
        runs = [self._run(config) for _ in range(self.repeats)]
        lines = statistics.median(run["lines"] / run["cpu_seconds"] for run in runs)
        written = lines / 3
        return Pressure(self._working_set(config), lines - written, written)

    def _working_set(self, config):
        """MB of a running function's own memory that were used within a while.

        Pages of files (code, libraries) are left out: those that another process used count as used here.
        """
        running = self._start(config, _FOREVER, self.cores[1])
        try:
            _worked(running, self.seconds)
            _forget_references(running)
            _worked(running, 3 * self.seconds)
            told = Path(f"/proc/{running.pid}/smaps").read_text(encoding="utf-8")
        finally:
            running.kill()
            running.communicate()
        used, own = 0, False
        for line in told.splitlines():
            name, *rest = line.split()
            if not name.endswith(":"):  # a mapping: addresses, mode, offset, device, inode, path
                own = rest[3] == "0"
            elif name == "Referenced:" and own:
                used += int(rest[0])
        return used / 1024


def _forget_references(running):
    """Clears the referenced bits of a process's pages, and what the processor's TLB holds of them.

    "1" clears the bits in the page tables only: a page whose translation still lies in the TLB is not
    marked again, and a quiet machine keeps some thousand translations. "4" (soft-dirty bits) clears
    nothing more that is read here, but makes the kernel flush the process's TLB entries.
    """
    clear_refs = Path(f"/proc/{running.pid}/clear_refs")
    for what in "14":
        clear_refs.write_text(what, encoding="ascii")


def _worked(running, seconds):
    """Waits until a process has had so much processor time more, however busy the machine is."""
    until, over = _processor(running) + seconds, time.monotonic() + 60.0
    while _processor(running) < until:
        if running.poll() is not None or time.monotonic() > over:
            raise RuntimeError("nf ended, or got no processor, while its working set was measured")
        time.sleep(seconds / 10)


def _processor(running):
    """Seconds of processor time that a process has used."""
    told = Path(f"/proc/{running.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def main():
    """One measurement of the FlowTable under the memory benchmark, as `profile --measure` asks."""
    asked = json.load(sys.stdin)
    bench = Bench()
    config = Config(
        os.environ.get("NF", "flows"),
        flows=int(asked.get("flow_count", 16384)),
        bytes=int(asked.get("pkt_size_B", 1024)),
        matches=float(asked.get("mtbr_matches_per_MB", 600)),
    )
    rival, pressure = None, Pressure(0.0, 0.0, 0.0)
    if asked.get("comp_wss_MB"):
        rival = Config("memory", wss_KB=max(1, int(1024 * asked["comp_wss_MB"])))
        pressure = bench.pressure(rival)
    # What was measured of the rival, not what was asked of it.
    print(
        json.dumps(
            {
                "throughput_kpps": bench.rate(config, rival) / 1e3,
                "comp_wss_MB": pressure.wss_MB,
                "comp_l2d_rd_per_s": pressure.reads_per_s,
                "comp_l2d_wr_per_s": pressure.writes_per_s,
            }
        )
    )


if __name__ == "__main__":
    main()
