#!/usr/bin/python3
"""Which lines and branches of the generators no random net reaches.

    unreached.py --build build [--nets 2000] [--seed 1] [--branches]

Compiles lpn2sim/src/write and lpn2sim/src/plan with gcov's counters into a folder of its own, generates
so many nets of each profile, and prints FILE:LINE of what was never executed. With --branches also the
directions never taken on lines that were; those of exceptions are left out.
"""

import argparse
import collections
import gzip
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
INCLUDES = (
    "lpn-core/include",
    "lpn2sim/include",
    "lpn2sim/runtime",
    "lpn2sim/src",
    "testbenches/equivalence",
    "testbenches/fuzz",
)


def compile_one(file, folder, flags):
    target = folder / (file.stem + ".o")
    command = ["g++", "-std=c++20", "-w", *flags, *(f"-I{SOURCE / i}" for i in INCLUDES)]
    subprocess.run([*command, "-c", str(file), "-o", str(target)], check=True)
    return target


def measured(folder, files):
    """Per source line: executions, and per branch of it how often it was taken."""
    lines = collections.defaultdict(lambda: [0, []])
    for file in files:
        subprocess.run(
            [
                "gcov",
                "--json-format",
                "--branch-probabilities",
                str(folder / (file.stem + ".gcda")),
            ],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    for report in folder.glob("*.gcov.json.gz"):
        for source in json.load(gzip.open(report))["files"]:
            path = (SOURCE / source["file"]).resolve()
            if not path.is_relative_to(SOURCE / "lpn2sim/src"):
                continue
            for line in source["lines"]:
                entry = lines[(path.relative_to(SOURCE), line["line_number"])]
                entry[0] += line["count"]
                taken = [b["count"] for b in line["branches"] if not b["throw"]]
                if len(taken) == len(entry[1]):
                    entry[1] = [a + b for a, b in zip(entry[1], taken)]
                elif not entry[1]:
                    entry[1] = taken
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=SOURCE / "build", help="for the other libraries"
    )
    parser.add_argument("--nets", type=int, default=2000, help="of each profile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--branches", action="store_true")
    options = parser.parse_args()
    sources = sorted((SOURCE / "lpn2sim/src/write").glob("*.cc"))
    sources += sorted((SOURCE / "lpn2sim/src/plan").glob("*.cc"))
    own = [SOURCE / "testbenches/fuzz/generate_nets.cc"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ThreadPoolExecutor(options.jobs) as pool:
            counted = list(
                pool.map(lambda f: compile_one(f, folder, ["-O0", "--coverage"]), sources)
            )
            plain = list(pool.map(lambda f: compile_one(f, folder, ["-O1"]), own))
        build = options.build.resolve()
        libraries = [
            build / "testbenches" / "fuzz" / "liblpn_random_nets.a",
            build / "testbenches" / "equivalence" / "liblpn_bench.a",
            build / "lpn2sim" / "liblpn_sim.a",
            build / "lpn-core" / "liblpn_core.a",
        ]
        program = folder / "generate_nets"
        command = [
            "g++",
            "--coverage",
            *counted,
            *plain,
            *libraries,
            "-lfmt",
            "-ldl",
            "-o",
            program,
        ]
        subprocess.run([str(w) for w in command], check=True)
        said = subprocess.run(
            [str(program), str(options.nets), str(options.seed)],
            check=True,
            capture_output=True,
            text=True,
        )
        lines = measured(folder, sources)
    texts = {}
    unreached = taken = ways = 0
    for (path, number), (count, branches) in sorted(lines.items()):
        text = texts.setdefault(path, (SOURCE / path).read_text().splitlines())
        unreached += count == 0
        ways += len(branches)
        taken += sum(b > 0 for b in branches)
        if count == 0:
            print(f"{path}:{number}: {text[number - 1].strip()}")
        elif options.branches and 0 in branches:
            never = ", ".join(str(k) for k, b in enumerate(branches) if b == 0)
            print(f"{path}:{number}: branch {never} of {len(branches)}: {text[number - 1].strip()}")
    print(said.stdout, end="")
    print(f"{unreached} of {len(lines)} lines unreached; {taken} of {ways} branches taken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
