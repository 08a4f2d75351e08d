#!/usr/bin/env python3
"""Every suite but those that measure time, under the address and undefined-behaviour sanitizers.

    cmake --preset debug && cmake --build --preset debug
    testbenches/sanitizers/run.py                 # Ctrl-C, and later the same again: it goes on
    testbenches/sanitizers/run.py --again         # what was not clean, once more
    testbenches/sanitizers/run.py --table         # the table alone

Suites are those of ctest. One in Python is run file by file, each a piece that need not be run again.
What a sanitizer says goes to files of its own, so that a test that hides what a program prints hides no
report. 1 if something is not clean."""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

OWN = pathlib.Path(__file__).resolve().parent
ROOT = OWN.parents[1]
# They run nothing that is compiled with the sanitizers, or measure time.
LEFT_OUT = re.compile(r"lint|lint_tidy|layering|golden_sentences|mutation_self_test|speed_.*")
# Run once more with generated code checked, too (sanitized_cxx).
GENERATED = ("embedding", "static_nets", "golden_nets", "critical_path")
# Tests that fail by what the sanitizers themselves change, and say nothing of the code: name -> what.
MEASURES = {
    "test_memory_of_an_isolated_run_is_bounded": "a limit of address space, of which they reserve 20 TB",
    "test_what_is_isolated_answers_or_its_death_is_the_answer": "the same",
    "test_a_net_that_takes_all_memory_is_no_difference": "the same",
    "test_a_long_trace_does_not_sit_in_memory": "peak memory, which freed blocks in quarantine raise",
    "test_jpeg_without_python": "a time of loading",
    "test_training_and_predicting_take_seconds": "processor time",
}
REPORT = re.compile(r"(runtime error: .*|(?:ERROR|WARNING): \w+Sanitizer: .*)")
COUNTED = re.compile(r"(\d+) (passed|failed|errors?|skipped)")


def suites_of(build):
    """Name -> (command, environment, folder) of every suite, in the order of ctest; no command: not built."""
    shown = subprocess.run(
        ["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True
    ).stdout
    found = {}
    for test in json.loads(shown)["tests"]:
        if LEFT_OUT.fullmatch(test["name"]):
            continue
        given = {p["name"]: p["value"] for p in test.get("properties", [])}
        env = dict(line.split("=", 1) for line in given.get("ENVIRONMENT", []))
        found[test["name"]] = (test.get("command", []), env, given["WORKING_DIRECTORY"])
    return found


def without(file):
    """What tells pytest to leave out the tests of MEASURES that are in a file."""
    text = file.read_text(encoding="utf-8")
    found = [test for test in MEASURES if f"def {test}(" in text]
    return ["-k", " and ".join(f"not {test}" for test in found)] if found else []


def pieces_of(name, command, env, folder):
    """(name, command, environment, folder) of what is run at once."""
    rows = []
    if "pytest" in command:
        paths = [w for w in command if w.startswith("/") and pathlib.Path(w).exists()][1:]
        others = [w for w in command if w not in paths]
        for path in map(pathlib.Path, paths):
            files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
            for file in files:
                whole = [*others, *without(file), str(file)]
                rows.append((f"{name}/{file.stem}", whole, env, folder))
    else:
        rows.append((name, command, env, folder))
        if name in GENERATED:
            checked = dict(env, LPN_CXX=str(OWN / "sanitized_cxx"))
            rows.append((f"{name} (generated code, too)", command, checked, folder))
    return rows


def run(piece, work):
    """Runs one piece to its end: its row of the record."""
    name, command, more, folder = piece
    for part in ("reports", "cache", "tmp"):
        (work / part).mkdir(parents=True, exist_ok=True)
    for old in (work / "reports").iterdir():
        old.unlink()
    env = dict(os.environ, LPN_CACHE=str(work / "cache"), TMPDIR=str(work / "tmp"))
    env.setdefault("LPN_SHARED", str(ROOT.parent / "shared"))
    env.update(more)
    said = f"log_path={work}/reports/of"
    for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        given = env.get(variable)
        env[variable] = f"{given}:{said}" if given else said
    # A test may plant a crash: its signal, not the sanitizer's exit.
    env["ASAN_OPTIONS"] += ":handle_segv=0:handle_sigbus=0"
    env["UBSAN_OPTIONS"] += ":print_stacktrace=1"
    log = work / "logs" / (re.sub(r"\W+", "_", name) + ".txt")
    log.parent.mkdir(exist_ok=True)
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    code = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    reports = [f.read_text(errors="replace") for f in sorted((work / "reports").iterdir())]
    found = sorted({m for r in [text, *reports] for m in REPORT.findall(r)})
    if reports:
        with open(log, "a", encoding="utf-8") as output:
            output.write("\n== reports ==\n" + "\n".join(reports))
    counts = {what.rstrip("s"): int(n) for n, what in COUNTED.findall(text[-400:])}
    empty = "pytest" in command and code == 5  # a file without tests
    outcome = "report" if found else "clean" if code == 0 or empty else "failed"
    row = {"piece": name, "outcome": outcome, "code": code, "reports": found, "tests": counts}
    row["failed"] = sorted(set(re.findall(r"^_{3,} (\w\S*) _{3,}$", text, re.MULTILINE)))
    row["seconds"] = round(used.ru_utime + used.ru_stime, 1)
    return row


def read(state):
    """The last word on each piece."""
    lines = state.read_text(encoding="utf-8").splitlines() if state.exists() else []
    return {row["piece"]: row for row in map(json.loads, lines)}


def table(pieces, rows):
    """Prints the record, a row per suite; whether everything ran and is clean."""
    print("\n| suite | pieces run | tests | processor s | outcome |\n|---|---|---|---|---|")
    by_suite = collections.defaultdict(list)
    for name, *_ in pieces:
        by_suite[name.split("/")[0]].append(name)
    total, good = 0.0, True
    for suite, names in by_suite.items():
        ran = [rows[n] for n in names if n in rows]
        seconds = sum(r["seconds"] for r in ran)
        total += seconds
        tests = collections.Counter()
        for row in ran:
            tests.update(row["tests"])
        bad = [r for r in ran if r["outcome"] != "clean"]
        said = "; ".join(
            f"{r['piece'].split('/')[-1]}: "
            + (", ".join(r["reports"] or r["failed"]) or f"ended with {r['code']}")
            for r in bad
        )
        outcome = said or ("clean" if len(ran) == len(names) else "clean so far")
        outcome = outcome if ran else "not run"  # or not built
        good = good and outcome == "clean"
        counted = ", ".join(f"{n} {what}" for what, n in sorted(tests.items()))
        print(f"| {suite} | {len(ran)} of {len(names)} | {counted} | {seconds:.0f} | {outcome} |")
    print(f"\n{sum(n in rows for n, *_ in pieces)} of {len(pieces)} pieces, {total:.0f} s")
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-debug")
    parser.add_argument("--only", default="", help="pieces whose name has this regular expression")
    parser.add_argument("--order", default="", help="suites to run first, by comma")
    parser.add_argument("--again", action="store_true", help="what was not clean, once more")
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    build = options.build.resolve()
    work = build / "sanitizers"
    work.mkdir(exist_ok=True)
    pieces = [p for name, what in suites_of(build).items() for p in pieces_of(name, *what)]
    rows = read(work / "state.jsonl")
    todo = [p for p in pieces if p[1] and re.search(options.only, p[0])]
    todo = [
        p for p in todo if p[0] not in rows or options.again and rows[p[0]]["outcome"] != "clean"
    ]
    first = options.order.split(",")
    todo.sort(key=lambda p: first.index(n) if (n := p[0].split("/")[0]) in first else len(first))
    begin, stopped = time.monotonic(), False
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell has turned them off
        signal.signal(number, signal.default_int_handler)
    try:
        for done, piece in enumerate([] if options.table else todo, 1):
            row = run(piece, work)
            rows[row["piece"]] = row
            with open(work / "state.jsonl", "a", encoding="utf-8") as log:
                log.write(json.dumps(row) + "\n")
            left = (time.monotonic() - begin) / done * (len(todo) - done) / 60
            print(
                f"{done}/{len(todo)} {row['piece']}: {row['outcome']},"
                f" {row['seconds']} s {' '.join(row['failed'])}; about {left:.0f} min left",
                flush=True,
            )
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here")
        stopped = True
    good = table(pieces, rows)
    return 130 if stopped else 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
