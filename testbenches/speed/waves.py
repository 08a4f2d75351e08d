"""How fast recordings are read, on one core, and in how much memory.

    testbenches/speed/waves.py [--repeat 5] [--only WORD] [--megabytes 1000]

A design of 8 channels with 64-bit payload among 2,000 signals that nobody asks for, as a plain VCD;
asserted: the transfers that were put in. Memory is the peak of a process that reads nothing else.
"pictured" is the same with what the page of `lpn wave stalls -o` keeps; "page" is what it takes in the file.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import BUILD, SEED, Report, options

CHANNELS, OTHERS, BLOCK = 8, 2000, 500

READ = """
import json, resource, sys, time
from lpn.waves.maps import read_map
from lpn.pages.page import packed
from lpn.waves.recording import Picture, Recording
from lpn.waves.timeline import recorded_lanes
picture = Picture() if sys.argv[3:] else None
before = time.process_time()
with Recording(sys.argv[1], read_map(sys.argv[2]), picture=picture) as recording:
    recording.read()
    counts = [recording.totals(k)["transfers"] for k in range(len(recording.channels))]
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    page = len(packed(recorded_lanes(recording))) if picture else 0
print(json.dumps([seconds, counts, recording.damage, peak, page]))
"""


def identifier(k):
    text = ""
    while True:
        text += chr(33 + k % 94)
        k //= 94
        if k == 0:
            return text


def dump(path, size):
    """Writes about `size` bytes; the transfers of each channel."""
    rng = random.Random(SEED)
    ids = [identifier(k) for k in range(1 + 3 * CHANNELS + OTHERS)]
    header = ["$timescale 1ps $end", "$scope module tb $end", f"$var wire 1 {ids[0]} clk $end"]
    for c in range(CHANNELS):
        for k, (name, width) in enumerate((("valid", 1), ("ready", 1), ("data", 64))):
            header.append(f"$var wire {width} {ids[1 + 3 * c + k]} c{c}_{name} $end")
    for k in range(OTHERS):
        header.append(f"$var wire {(1, 8, 32)[k % 3]} {ids[1 + 3 * CHANNELS + k]} n{k} $end")
    header.append("$upscope $end\n$enddefinitions $end\n#0")
    lines, state, moved = [], [[0, 0] for _ in range(CHANNELS)], [0] * CHANNELS
    for _ in range(BLOCK):  # of cycles, repeated; its first one sets everything
        first = not lines
        lines.append(f"#%d\n1{ids[0]}")
        for c in range(CHANNELS):
            moved[c] += state[c] == [1, 1] and not first
            for k in (0, 1):
                if first or rng.random() < 0.3:
                    state[c][k] = 0 if first else 1 - state[c][k]
                    lines.append(f"{state[c][k]}{ids[1 + 3 * c + k]}")
            lines.append(f"b{rng.getrandbits(64):b} {ids[3 + 3 * c]}")
        for _ in range(6):
            k = rng.randrange(OTHERS)
            width = (1, 8, 32)[k % 3]
            value = format(rng.getrandbits(width), "b")
            who = ids[1 + 3 * CHANNELS + k]
            lines.append(f"{value}{who}" if width == 1 else f"b{value} {who}")
        lines.append(f"#%d\n0{ids[0]}")
    # The first edge of a block samples how the block before ended.
    carried = [int(s == [1, 1]) for s in state]
    # Identifiers may hold a %, but for the two places where times go.
    block = ("\n".join(lines) + "\n").replace("%", "%%").replace("#%%d", "#%d")
    blocks, at = 0, 1
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(header) + "\n")
        while file.tell() < size:
            times = range(at, at + 10 * 2 * BLOCK, 10)
            file.write(block % tuple(times))
            blocks, at = blocks + 1, at + 10 * 2 * BLOCK
    return [blocks * n + (blocks - 1) * c for n, c in zip(moved, carried)]


def main():
    parser = options(__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    given = parser.parse_args()
    report = Report(given)
    with tempfile.TemporaryDirectory(prefix="lpn-") as name:
        folder = Path(name)
        (folder / "map.toml").write_text(
            'clock = "tb.clk"\n'
            + "".join(
                f'[channels.c{c}]\nvalid = "tb.c{c}_valid"\nready = "tb.c{c}_ready"\n'
                f'payload = ["tb.c{c}_data"]\n'
                for c in range(CHANNELS)
            )
        )
        for megabytes, asked in ((given.megabytes // 10, ""), (given.megabytes, ">= 100")):
            title = f"VCD of {megabytes} MB"
            if not report.wants(title):
                continue
            path = folder / "dump.vcd"
            expected = dump(path, megabytes * 1_000_000)
            size = path.stat().st_size / 1e6

            def once(memory, pages, *more, path=path, expected=expected, size=size):
                done = subprocess.run(
                    [sys.executable, "-c", READ, path, folder / "map.toml", *more],
                    env={"PYTHONPATH": str(BUILD / "python")},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                seconds, counts, damage, peak, page = json.loads(done.stdout)
                assert (counts, damage) == (expected, None), (counts, expected, damage)
                memory.append(peak)
                pages.append(page / 1e6)
                return size / seconds

            for what, more in (("read", []), ("pictured", ["picture"])):
                memory, pages = [], []
                report.measure(
                    f"{title}: {what}",
                    "MB/s",
                    lambda memory=memory, pages=pages, more=more: once(memory, pages, *more),
                    asked=asked if not more else "",
                )
                if memory:
                    report.add(f"{title}: {what}, peak memory", "MiB", memory)
                if memory and more:
                    report.add(f"{title}: page", "MB", pages, asked="< 5")
            path.unlink()
    report.finish()


if __name__ == "__main__":
    main()
