"""The golden nets, the fuzzers' finds and the illegal texts, by the second interpreter.

    golden_test.py

A trace or table of statistics in testbenches/nets was derived by hand; the second interpreter has to give the
same. A find of the fuzzers has no trace: that it runs is all that is asked. A text that lpn-core refuses is refused.
"""

import pathlib
import sys

from compare import same_mean
from text import Refused, parse
from trace import Inputs, trace

sys.setrecursionlimit(50000)
ROOT = pathlib.Path(__file__).resolve().parents[2]
NETS, FOUND = ROOT / "testbenches/nets", ROOT / "testbenches/fuzz/found"
ILLEGAL = ROOT / "lpn-core/test/illegal"


def read(file):
    return file.read_bytes().decode("utf-8", "surrogateescape")


def lines_of(file):
    return [line.rstrip() for line in read(file).splitlines() if line and not line.startswith("#")]


def run(file, metered=False):
    net = parse(read(file))
    marking = file.with_suffix(".marking")
    return trace(net, Inputs(net, read(marking) if marking.exists() else ""), metered)


def statistics(lines):
    """Those of the last run."""
    last = max(i for i, line in enumerate(lines) if line.startswith("over "))
    return lines[last:]


def golden(file):
    """What differs from the hand-derived trace and statistics, in words."""
    wanted, got = lines_of(file.with_suffix(".trace")), run(file)
    problems = [f"{a!r} instead of {b!r}" for a, b in zip(got, wanted) if a != b]
    if len(got) != len(wanted):
        problems.append(f"{len(got)} lines instead of {len(wanted)}")
    figures = file.with_suffix(".stats")
    if figures.exists():
        wanted, got = lines_of(figures), statistics(run(file, metered=True))
        pairs = list(zip(wanted, got))
        problems += [f"{b!r} instead of {a!r}" for a, b in pairs if a != b and not same_mean(a, b)]
        if len(got) != len(wanted):
            problems.append(f"{len(got)} lines of statistics instead of {len(wanted)}")
    return problems


def illegal(file):
    """What lpn-core refuses is refused here too, with the same code."""
    code = read(file.with_suffix(".err")).split()[0]
    try:
        parse(read(file))
    except Refused as refused:
        return [] if refused.code == code else [f"{refused.code} instead of {code}"]
    return ["is read without complaint"]


def main():
    failed, count = 0, 0
    kinds = [(NETS, golden), (FOUND, lambda file: run(file) and []), (ILLEGAL, illegal)]
    for folder, check in kinds:
        files = sorted(folder.glob("*.lpn"))
        count += len(files)
        for file in files:
            for problem in check(file):
                print(f"{file.relative_to(ROOT)}: {problem}")
                failed += 1
    print(f"{count} nets, {failed} differences")
    return 1 if failed or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
