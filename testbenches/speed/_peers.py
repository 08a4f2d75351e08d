"""The comparison programs of ../shared/truth/speed, built when the bench runs.

`maxplus` is the limit: hand-made straight-line code for three nets, for one input or for 8, 16 or
32 in SIMD lanes. `engines` are small engines for any net of this kind.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import SHARED, Missing

FLAGS = "-std=c++20 -O3 -march=native"
SOURCE = SHARED / "truth" / "speed"
LANES = (8, 16, 32)

# Where the nets end; maxplus stops after whole laps of the ring.
ENDS = {"pipe4": 14_437_999, "ring64": 5_375_963, "forkjoin": 2_768_018}
MAXPLUS_ENDS = ENDS | {"ring64": 5_375_002}


class Peers:
    """The programs, built when the first one is asked for; `with` removes them."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._built = False
        self._reason = None  # why there are none

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def _need(self):
        if not self._built:
            self._built = True
            try:
                self._build(Path(self._folder.name))
            except (OSError, subprocess.CalledProcessError) as error:
                lines = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
                self._reason = f"maxplus: {lines[0] if lines else error}"
        if self._reason:
            raise Missing(self._reason)

    def _build(self, folder):
        if not (SOURCE / "maxplus.cpp").exists():
            raise OSError(f"no sources in {os.path.relpath(SOURCE)}")
        compiler = os.environ.get("LPN_CXX", "g++")

        def output(*command):
            done = subprocess.run(
                [str(word) for word in command],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
            return done.stdout

        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
        header = output(sys.executable, SOURCE / "gen_maxplus.py")
        (folder / "maxplus_gen.hh").write_text(header)
        output(sys.executable, SOURCE / "nets.py")  # writes NET.1.net
        for program in ("maxplus", "engines"):
            output(
                compiler,
                *FLAGS.split(),
                "-I",
                SOURCE,
                "-I",
                folder,
                "-w",
                SOURCE / f"{program}.cpp",
                "-o",
                program,
            )

    def _run(self, end, *command):
        self._need()
        done = subprocess.run(
            [f"./{command[0]}", *command[1:]],
            cwd=self._folder.name,
            check=True,
            capture_output=True,
            text=True,
        )
        found = re.search(r"final_time=(\d+) .*Mfirings/s=([\d.]+)", done.stdout)
        if found is None or int(found[1]) != end:
            raise AssertionError(f"{' '.join(command)} ends otherwise than at {end}: {done.stdout}")
        return float(found[2])

    def maxplus(self, net, lanes=1):
        """A function that returns the million firings per second over all lanes."""
        word = f"v{lanes}" if lanes > 1 else "scalar"
        return lambda: self._run(MAXPLUS_ENDS[net], "maxplus", word, net)

    def engine(self, net, kind):
        """`kind`: heap, wheel or dataflow."""
        return lambda: self._run(ENDS[net], "engines", kind, f"{net}.1.net")
