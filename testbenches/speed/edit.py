#!/usr/bin/python3
"""The author's loop: a delay is edited, and `lpn sim` says what that changed; nothing is compiled before.

    testbenches/speed/edit.py [--repeat 5] [--only WORD] [--compile] [--json]

Seconds of the whole command, by the clock and of processor (with its children), with an empty cache:
the four models that a newcomer wrote (../shared/reviews/newcomer, each with --stats and
--critical-path), and a net of 256 and of 1,024 equal processing elements (nets/array.py). --compile:
also what compiling these two takes, minutes.
"""

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from _measure import BUILD, HERE, SHARED, Report, options

REVIEW = SHARED / "reviews" / "newcomer"
# Model: (file, what is edited, what it becomes).
EDITS = {
    "a_dma": ("dma_dram.py", "put=[written, credit], delay=2", "put=[written, credit], delay=3"),
    "b_gemm": ("gemm.py", "delay=4, interval=1", "delay=5, interval=1"),
    "c_axi": ("axi.py", "guard=first, delay=1", "guard=first, delay=2"),
    "d_rob": ("rob.py", "delay=4, interval=1", "delay=5, interval=1"),
}
ELEMENTS = {256: 16, 1024: 32}
OPERANDS = 100


def command(*arguments, cache):
    """(seconds by the clock, of processor) of `lpn sim`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [str(word) for word in (BUILD / "bin" / "lpn", "sim", *arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "LPN_CACHE": str(cache)},
    )
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return seconds, sum(after[:2]) - sum(before[:2])


def inputs(folder):
    """An input of each model: 50 descriptors, 16 tiles, 19 reads, 500 instructions."""
    draw = random.Random(20261121)
    lines = {
        "a_dma": [f"{draw.randrange(4000)} {draw.randint(1, 32)}" for _ in range(50)],
        "b_gemm": [
            line
            for k in range(16)
            for line in (
                f"load 8192{' pop_next' if k >= 2 else ''} push_next",
                f"gemm 64 64 64 pop_prev{' pop_next' if k >= 2 else ''} push_prev push_next",
                "store 16384 pop_prev push_prev",
            )
        ],
        "c_axi": [f"{k % 4} {draw.randrange(3)} {draw.randint(1, 16)}" for k in range(19)],
        "d_rob": [draw.choice(["alu", "mul", "div 100", "ld hit", "ld miss"]) for _ in range(500)],
    }
    for name, text in lines.items():
        (folder / f"{name}.txt").write_text("\n".join(text) + "\n")


def rows(report, name, asked, once):
    """Two rows of `once()` by the clock and of processor."""
    both = [once() for _ in range(report.repeat)]
    report.add(f"{name}, by the clock", "s", [clock for clock, _ in both], asked=asked)
    report.add(f"{name}, of processor", "s", [processor for _, processor in both])


def edited(report, folder):
    """One delay of a model edited, then statistics and critical path."""
    inputs(folder)
    for name, (file, old, new) in EDITS.items():
        title = f"edit, {name}"
        if not report.wants(title):
            continue
        if not (REVIEW / name / file).exists():
            report.missing(title, f"no {REVIEW / name / file}", "<= 0.5")
            continue
        shutil.copytree(REVIEW / name, folder / name)
        model = folder / name / file
        model.chmod(0o644)
        text = model.read_text()
        assert old in text, (name, old)
        model.write_text(text.replace(old, new))
        asked = (model, folder / f"{name}.txt", "--stats", "--critical-path")
        rows(report, title, "<= 0.5", lambda a=asked: command(*a, cache=folder / "cache"))


def arrays(report, folder, compiles):
    """Nets of equal processing elements: the first answer, and compiling."""
    for elements, n in ELEMENTS.items():
        asked = (HERE / "nets" / "array.py", OPERANDS, "-p", f"n={n}")
        if report.wants(f"{elements} elements, first answer"):
            for more in ((), ("--stats", "--critical-path")):
                rows(
                    report,
                    " ".join((f"{elements} elements, first answer", *more)),
                    "<= 1",
                    lambda a=(*asked, *more): command(*a, cache=folder / "cache"),
                )
        title = f"{elements} elements, compiled, of processor"
        if compiles and report.wants(title):
            cold = [
                command(*asked, "--engine", "compiled", cache=folder / f"cold{elements}_{k}")[1]
                for k in range(max(1, report.repeat // 3))
            ]
            report.add(title, "s", cold, asked="<= 15" if elements == 256 else "<= 40")


def main():
    parser = options(__doc__)
    parser.add_argument("--compile", action="store_true", help="compile the two large nets, too")
    given = parser.parse_args()
    report = Report(given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edited(report, folder)
        arrays(report, folder, given.compile)
    report.finish()


if __name__ == "__main__":
    main()
