#!/usr/bin/env python3
"""The mutation test on a toy: which places are found, that the choice is made at run time, that a
wrong engine is noticed, and that what is not tested survives."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # what CTest takes for "not run"
try:
    import points as finding
    import schemata
    import suites
except ImportError as missing:
    print(f"skipped: {missing}; apt-get install python3-clang")
    sys.exit(SKIPPED)

TOY = pathlib.Path(__file__).resolve().parent / "toy"


def build(work):
    file = work / "engine.cc"
    found = finding.find(str(file), ["-std=c++20", f"-I{work}"])
    found = finding.name_points(found, work)
    numbered = dict(enumerate(found, 1))
    text = schemata.render(file.read_bytes(), list(numbered.items()), "lpn_mutant.h")
    (work / "changed.cc").write_bytes(text)
    sources = [work / "changed.cc", work / "test.cc"]
    command = ["g++", "-std=c++20", "-O0", f"-I{work}", "-o", work / "test", *sources]
    subprocess.run(command, check=True)
    return numbered


def check_points(numbered):
    texts = {(p.kind, p.original, p.mutated) for p in numbered.values()}
    for wanted in (
        ("extreme", "std::max(kDepth - held, 0)", "std::min(kDepth - held, 0)"),
        ("arithmetic", "kDepth - held", "kDepth + held"),
        ("relational", "busy > at", "busy >= at"),
        ("condition", "busy > at", "!(busy > at)"),
        ("dropped", "busy > at", "false"),
        ("dropped", "at += 1", ""),
        ("literal", "2", "2 + 1"),
        ("emitted", 'text = "x <= y"', 'text = "x < y"'),
        ("emitted", 'text = "x == y"', 'text = "x != y"'),
    ):
        assert wanted in texts, f"not found: {wanted}"
    for p in numbered.values():
        assert "CHECKED" not in p.original, f"inside a macro: {p}"
        assert "kDepth =" not in p.original and p.line not in (10, 11), f"a constant: {p}"
    assert len({p.id for p in numbered.values()}) == len(numbered)


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "tmp").mkdir()
        for file in [*TOY.iterdir(), TOY.parent / "lpn_mutant.h"]:
            shutil.copy(file, work)
        numbered = build(work)
        check_points(numbered)
        suite = suites.Suite("core/toy", [work / "test"])
        ran = suites.measure(suite, work, numbered)
        assert ran.status == "ok", ran
        survived, not_covered = [], []
        for number, point in numbered.items():
            if number not in suite.reaches:
                not_covered.append(point)
            elif suites.notices(suite, number, work).status == "ok":
                survived.append(point)
        # `at += 1` is not even come by.
        assert {p.line for p in not_covered} == {18, 31}, not_covered
        for p in survived:
            assert p.line == 18 or (p.original, p.mutated) == ("busy > at", "busy >= at"), p
        assert any(p.line == 17 for p in survived) and any(p.line == 18 for p in survived), survived
        asleep = suites.run(["sleep", "100"], suites.environment(work), work / "tmp", 5, 1)
        assert asleep.status == "hung", asleep
        noticed = len(numbered) - len(survived) - len(not_covered)
        assert noticed >= 12, (noticed, survived)
    print(f"{len(numbered)} changes, {noticed} noticed, {len(survived)} survived", end=", ")
    print(f"{len(not_covered)} not covered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
