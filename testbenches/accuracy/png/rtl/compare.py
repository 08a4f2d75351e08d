"""Random PNG files through the RTL and through the model.

Needs the program of measure.v (see there). With the build's python folder on PYTHONPATH:

    python compare.py --seed 1 --images 200 --core ./measure

A file that the model accepts must take exactly the predicted clocks, with as many pixels as the
image has, and their values where the file is grey or RGB. A file that it refuses is counted by
whether the RTL emits all pixels. Exit status 1 when a prediction is off.
"""

import argparse
import collections
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import lpn

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "models" / "png" / "test"))
from files import PIXEL_BYTES, chunk, png  # noqa: E402


def stream_of(rng, raw):
    """The rows compressed with random settings, at times with flushes on the way."""
    strategies = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE)
    packer = zlib.compressobj(
        rng.randrange(1, 10),
        zlib.DEFLATED,
        15,
        rng.randrange(1, 10),
        rng.choice((*strategies, zlib.Z_FIXED)),
    )
    found, at = b"", 0
    while at < len(raw):
        size = rng.choice((len(raw), rng.randrange(1, 2000)))
        found += packer.compress(raw[at : at + size])
        if rng.random() < 0.3:
            found += packer.flush(rng.choice((zlib.Z_PARTIAL_FLUSH, zlib.Z_BLOCK)))
        at += size
    return found + packer.flush()


def long_codes(rng):
    """Grey rows whose values have Fibonacci numbers as counts: codes of up to 15 bits."""
    counts = [1, 1]
    while len(counts) < rng.randrange(12, 18):
        counts.append(sum(counts[-2:]))
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    rng.shuffle(values)
    width = 50
    height = len(values) // width
    rows = [bytes(values[width * y : width * (y + 1)]) for y in range(height)]
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    stream = packer.compress(b"".join(b"\0" + row for row in rows)) + packer.flush()
    pixels = [f"{value:02x}" * 3 + "ff" for row in rows for value in row]
    return png(width, height, stream), width * height, pixels


def random_png(rng):
    """(file, pixels as RRGGBBAA where known)."""
    if rng.random() < 0.1:
        return long_codes(rng)
    colour = rng.choice(list(PIXEL_BYTES))
    width, height = rng.choice(((1, 30), (rng.randrange(1, 60), rng.randrange(1, 30)), (300, 2)))
    bits, count = rng.randrange(9), PIXEL_BYTES[colour]
    rows, pixels = [], []
    for _ in range(height):
        row = bytes(rng.randrange(1 << bits) for _ in range(width * count))
        if rng.random() < 0.3 and rows:
            row = rows[-1][1:]
        rows.append(bytes([0 if colour in (0, 2) else rng.randrange(5)]) + row)
        for k in range(0, len(row), count):
            value = row[k : k + count].hex()
            pixels.append((value if colour == 2 else value * 3) + "ff")
    stream = stream_of(rng, b"".join(rows))
    sizes = []
    if rng.random() < 0.5:
        sizes = [rng.choice((0, 1, 2, rng.randrange(1, 50))) for _ in range(rng.randrange(1, 40))]
    before = chunk(b"tEXt", rng.randbytes(rng.randrange(1, 50))) if rng.random() < 0.3 else b""
    between = chunk(b"tEXt", b"a") if rng.random() < 0.1 else b""
    data = png(width, height, stream, colour, sizes, before, between)
    return data, width * height, pixels if colour in (0, 2) else None


def measure(core, path, limit):
    """(clock of the last pixel + 1, pixels)."""
    size = path.stat().st_size
    command = ["vvp", core, f"+file={path}", f"+bytes={size}", f"+limit={limit}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("pixel")]
    return (int(lines[-1][1]) + 1 if lines else None), [line[2] for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--core", default="./measure")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    model = lpn.load("png")
    net = model.net()
    outcome = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.png"
        for number in range(options.images):
            data, expected, pixels = random_png(rng)
            path.write_bytes(data)
            try:
                run = lpn.simulate(net, model.workload(path, net), engine="interp")
            except ValueError as reason:
                _, found = measure(options.core, path, 40000)
                outcome[f"refused, RTL {'emits all' if len(found) == expected else 'fails'}"] += 1
                if len(found) == expected:
                    print(f"image {number}: {reason}")
                continue
            clocks, found = measure(options.core, path, run.latency + 3000)
            right = len(found) == expected and (pixels is None or found == pixels)
            exact = not run.stalled and clocks == run.latency and right
            outcome["exact" if exact else "wrong"] += 1
            if not exact:
                print(f"image {number}: model {run.latency}, RTL {clocks}, {len(found)} pixels")
                Path(f"wrong_{number}.png").write_bytes(data)
    print(f"seed {options.seed}, {options.images} images:", dict(outcome))
    return 1 if outcome["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
