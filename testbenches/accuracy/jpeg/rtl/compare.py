"""Random JPEG files through the RTL and through the model.

Needs cjpeg (libjpeg-turbo), and measure.cc built twice (see there): for each build of the core a
program that takes pairs of expected pixels and file. With the build's python folder on PYTHONPATH:

    python compare.py --seed 1 --images 500 measure_fixed measure_writable

A file that the model accepts must take exactly the predicted clocks. A file that it refuses is
counted apart by whether the RTL emits all pixels: some refusals are about their values, and some
are cautious. Exit status 1 when a prediction is off.
"""

import argparse
import collections
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import lpn


def picture(rng, width, height):
    """A PPM image: flat, noise, black and white, a gradient, or noise over half of it."""
    kind = rng.choice(["flat", "noise", "two", "gradient", "top", "bottom", "checker"])
    size = rng.randrange(1, 8)
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            busy = kind == "noise" or kind == "top" and 2 * y < height
            busy = busy or kind == "bottom" and 2 * y >= height
            if busy:
                pixels += rng.randbytes(3)
            elif kind == "two":
                pixels += bytes([rng.choice((0, 255))] * 3)
            elif kind == "checker":
                pixels += bytes([255 * ((x // size + y // size) & 1)] * 3)
            elif kind == "gradient":
                pixels += bytes([x * 255 // width, y * 255 // height, 128])
            else:
                pixels += bytes([90, 90, 90])
    return b"P6 %d %d 255\n" % (width, height) + bytes(pixels)


def with_segment(rng, data):
    """The file with an application segment or comment of random length and content."""
    length = rng.choice([rng.randrange(2, 300), rng.randrange(2, 3000), 256, 257, 258, 512])
    payload = bytearray(rng.randbytes(length - 2) if rng.random() < 0.4 else length - 2)
    if length > 8 and rng.random() < 0.3:
        at = rng.randrange(length - 6)
        payload[at : at + 2] = bytes([0xFF, rng.choice(b"\xd8\xd9\xdb\xc4\xe0\xfe\xda\xc0")])
    marker = bytes([0xFF, rng.choice(b"\xe0\xe1\xef\xfe")])
    return data[:2] + marker + struct.pack(">H", length) + bytes(payload) + data[2:]


def random_jpeg(rng):
    """(file, expected pixels): the image padded to whole MCUs."""
    sampling = rng.choice(["grey", "1x1", "2x2"])
    width, height = (rng.randrange(1, rng.choice([40, 130])) for _ in range(2))
    mcu = 16 if sampling == "2x2" else 8
    if sampling == "2x2" and rng.random() < 0.9:
        width = -(-width // 16) * 16 - rng.randrange(8)
    command = ["cjpeg", "-baseline", "-quality", str(rng.choice([5, 30, 75, 95, 98, 100]))]
    command += ["-grayscale"] if sampling == "grey" else ["-sample", sampling]
    if rng.random() < 0.3:
        command.append("-optimize")
    data = subprocess.run(
        command, input=picture(rng, width, height), stdout=subprocess.PIPE, check=True
    ).stdout
    if rng.random() < 0.4:
        data = with_segment(rng, data)
    return data, -(-width // mcu) * mcu * (-(-height // mcu) * mcu)


def measure(program, files):
    """File -> (last clock, pixels) by the RTL."""
    words = [word for path, pixels in files.items() for word in (str(pixels), str(path))]
    out = subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    results = {}
    for line in out.splitlines():
        path, *fields = line.split()
        found = dict(field.split("=") for field in fields)
        results[Path(path)] = int(found["cycles_total"]), int(found["pixels_out"])
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("measure_fixed")
    parser.add_argument("measure_writable")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    model = lpn.load("jpeg")
    tally = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number in range(options.images):
            data, pixels = random_jpeg(rng)
            path = Path(folder) / f"{options.seed}_{number}.jpg"
            path.write_bytes(data)
            files[path] = pixels
        for build, program in enumerate([options.measure_fixed, options.measure_writable]):
            net = model.net(writable_tables=build)
            measured = measure(program, files)
            for path, expected in files.items():
                clocks, pixels = measured[path]
                complete = pixels >= expected
                try:
                    run = lpn.simulate(net, model.workload(path, net))
                except ValueError:
                    tally["refused, RTL " + ("emits all" if complete else "fails")] += 1
                    continue
                exact = complete and run.latency == clocks
                tally["exact" if exact else "OFF"] += 1
                if not exact:
                    kept = Path(path.name).with_suffix(f".{build}.jpg")
                    kept.write_bytes(path.read_bytes())
                    print(f"{kept}: RTL {clocks} ({pixels} of {expected}), model {run.latency}")
    print(
        f"seed {options.seed}, {options.images} images, 2 builds: "
        + ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    )
    sys.exit(1 if tally["OFF"] else 0)


if __name__ == "__main__":
    main()
