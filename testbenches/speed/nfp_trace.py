"""How long lpn nfp trace takes for a capture of 10^6 packets: to its mix, rate and percentiles.

    testbenches/speed/nfp_trace.py [--repeat 3] [--only WORD] [--packets N] [--json]

Seconds by the clock of the whole command, and CPU seconds. The capture is made here, of random packets
of 60 to 1500 bytes that reach all parts of the demo program, no two alike.
"""

import json
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from _measure import BUILD, ROOT, SEED, Report, options

DEMO = ROOT / "models" / "nfp" / "demo"
SIZES = (60, 60, 60, 128, 590, 1500)


def frames(packets):
    source = random.Random(SEED)
    for _ in range(packets):
        size = source.choice(SIZES)
        frame = bytearray(source.randbytes(60) + bytes(size - 60))
        frame[12:14] = b"\x08\x00" if source.random() < 0.9 else b"\x86\xdd"
        frame[23] = 17 if source.random() < 0.7 else 6
        if source.random() < 0.3:
            frame[36:38] = b"\x00\x7b"
        yield bytes(frame)


def main():
    parser = options(__doc__, repeat=3)
    parser.add_argument("--packets", type=int, default=1_000_000)
    given = parser.parse_args()
    from lpn.runs import write_capture

    report = Report(given)
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "traffic.pcap"
        write_capture(capture, frames(given.packets), gap=1e-6)
        for name in ("portcount", "dashes"):
            if not report.wants(name):
                continue
            command = [
                str(BUILD / "bin" / "lpn"), "nfp", "trace", str(DEMO / f"{name}.asm"), str(capture),
                "--rate", "20e6", "--json",
            ]  # fmt: skip
            walls, spent = [], []
            for _ in range(report.repeat):
                before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                walls.append(time.monotonic() - begin)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            answer = json.loads(done.stdout)
            assert answer["packets"] == given.packets and answer["complete"], name
            told = f"{len(answer['paths'])} paths"
            report.add(f"{name}, {given.packets} packets", "s", walls, told, "<= 10")
            report.add(f"{name}, all of it", "CPU s", spent)
    report.finish()


if __name__ == "__main__":
    main()
