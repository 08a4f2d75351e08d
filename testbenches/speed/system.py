"""Images through a whole system (models/system/demo/jpeg.toml): seconds of one core, compiled engine.

    PYTHONPATH=build/python python3 testbenches/speed/system.py FOLDER     # *.jpg in it

The 42 images of the figures are dslab-epfl/SimBricks-LPN, experiments/jpeg_data (commit 276f647).
"""

import pathlib
import platform
import sys
import time

from lpn.runs import prepare

SYSTEM = pathlib.Path(__file__).resolve().parents[2] / "models" / "system" / "demo" / "jpeg.toml"
ROUNDS = 5


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} x {names[0] if names else 'unknown'}, Python {platform.python_version()}"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else None
    images = sorted(map(str, folder.glob("*.jpg"))) if folder else []
    if not images:
        sys.exit(f"usage: {sys.argv[0]} FOLDER of .jpg files")
    ready = prepare(str(SYSTEM), images[0], {"earlier": 1}, "compiled")
    if ready.library is None:
        sys.exit(str(ready.fallback))
    print(machine())
    reading, runs, seconds, firings, simulated = 0.0, [], [], 0, 0.0
    inputs = []
    for image in images:
        begin = time.process_time()
        inputs.append(ready.on(image))
        inputs[-1].read()
        reading += time.process_time() - begin
    for round_ in range(ROUNDS):
        begin, clock = time.process_time(), time.perf_counter()
        done = [one.run() for one in inputs]
        runs.append(time.process_time() - begin)
        seconds.append(time.perf_counter() - clock)
        if round_ == 0:
            firings = sum(run.commits for run in done)
            answers = [ready.model.module.answer_of_run(run) for run in done]
            simulated = sum(answer["ns"] for answer in answers) / 1e9
    runs.sort()
    middle = runs[ROUNDS // 2]
    print(f"{len(images)} images, {simulated:.3f} s simulated, {firings / 1e6:.1f} M firings")
    print(f"reading the files: {reading:.2f} s of processor time")
    print(
        f"runs: {middle:.2f} s of processor time (median of {ROUNDS}; least {runs[0]:.2f}, most "
        f"{runs[-1]:.2f}; by the clock {min(seconds):.2f}), {firings / middle / 1e6:.0f} M firings/s"
    )


if __name__ == "__main__":
    main()
