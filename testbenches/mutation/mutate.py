#!/usr/bin/env python3
"""Do the tests notice when an engine is wrong? Changes the engines in many places, one at a time.

    mutate.py draw --build build      # which places (needs compile_commands.json of a build)
    mutate.py build                   # a copy of the tree with all of them in it, switched off
    mutate.py measure                 # what each suite costs, and which places it comes by
    mutate.py run                     # each mutant against the suites that reach it; resumable
    mutate.py run --again             # the survivors, after tests were added, built and measured
    mutate.py report                  # the table; survivors; 1 if one was not judged

All of it lies in --work (build/mutation). Where a run is stopped (Ctrl-C), the next one goes on."""

import argparse
import collections
import json
import pathlib
import sys
import time

import suites as running
import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
JUDGED = pathlib.Path(__file__).resolve().parent / "judged.json"
# What the text of generated code depends on.
WRITES = ("lpn2sim/src/", "lpn-core/src/expr/", "lpn-core/src/net/", "lpn-core/src/graph/")
NOTICED = ("failed", "crashed", "hung")


def do_draw(options):
    build = pathlib.Path(options.build).resolve()
    gaps = {name for name, said in verdicts().items() if said["verdict"] == "gap"}
    drawn = tree.draw(ROOT, build, options.seed, options.scale, again=gaps)
    options.work.mkdir(parents=True, exist_ok=True)
    for old in ("dropped.json", "suites.json", "state.jsonl"):
        (options.work / old).unlink(missing_ok=True)
    tree.save(options.work / "points.json", ROOT, drawn)
    for kind, count in sorted(collections.Counter(p.kind for p in drawn).items()):
        print(f"{kind:12} {count}")
    again = sum(p.again for p in drawn)
    print(f"{'':12} {len(drawn)} points, seed {options.seed}; {again} of them survived before")
    return 0


def do_build(options):
    dropped = tree.build_all(
        ROOT, options.work, running.targets(), options.jobs, wanted(options), options.flags
    )
    print(f"built; {len(dropped)} points do not compile")
    return 0


def wanted(options):
    """Whether a point is one of those that are asked for."""
    folders = tuple(options.folder.split(","))
    return lambda point: point.file.startswith(folders)


def numbers_of(options):
    numbered, _ = tree.load(options.work / "points.json")
    dropped = tree.dropped_of(options.work)
    inside = wanted(options)
    return {n: p for n, p in numbered.items() if n not in dropped and inside(p)}


def do_measure(options):
    """A suite that fails unchanged is an error: it could notice nothing."""
    numbered = numbers_of(options)
    file = options.work / "suites.json"
    rows = json.loads(file.read_text()) if file.exists() else {}
    for suite in running.all_suites(options.work / "tree"):
        if (
            options.only
            and options.only not in suite.name
            or (not options.only)
            and suite.name in rows
        ):
            continue
        ran = running.measure(suite, options.work, numbered)
        if ran.status != "ok":
            print(ran.output[-3000:])
            print(f"{suite.name} {ran.status} with no mutant on")
            guilty = tree.blamed(numbered, ran.output)
            if guilty:
                tree.drop(options.work, guilty)
                print(
                    f"generated code does not compile with {sorted(guilty)}: dropped, build again"
                )
            return 1
        rows = json.loads(file.read_text()) if file.exists() else {}  # others measure, too
        rows[suite.name] = {"seconds": suite.seconds, "reaches": sorted(suite.reaches)}
        file.write_text(json.dumps(rows), encoding="utf-8")
        print(f"{suite.name:28} {suite.seconds:6.1f} s, reaches {len(suite.reaches)}", flush=True)
    return 0


def measured(options):
    rows = json.loads((options.work / "suites.json").read_text())
    found = [s for s in running.all_suites(options.work / "tree") if s.name in rows]
    for suite in found:
        suite.seconds = rows[suite.name]["seconds"]
        suite.reaches = set(rows[suite.name]["reaches"])
    return found


def read_state(options):
    """The last word on each mutant, by number."""
    file = options.work / "state.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return {row["number"]: row for row in map(json.loads, lines)}


def in_order(suites, point, number):
    """Those that reach the point: the test of the same name first, then what costs least."""
    stem = pathlib.Path(point.file).stem
    reaching = [s for s in suites if number in s.reaches]
    return sorted(reaching, key=lambda s: (not s.name.endswith(f"/{stem}_test"), s.seconds))


def tried_of(state, number):
    """Suites that have run since, and noticed nothing."""
    return set(state[number]["tried"]) if number in state else set()


def judge(options, suites, number, point, tried):
    """The verdict on one mutant, after the suites `tried` noticed nothing."""
    row = {"number": number, "id": point.id, "suite": "", "tried": list(tried)}
    row["verdict"] = "survived" if tried else "not covered"
    begin = time.monotonic()
    for suite in in_order(suites, point, number):
        if suite.name in tried:
            continue
        ran = running.notices(suite, number, options.work, point.file.startswith(WRITES))
        row["tried"].append(suite.name)
        row["verdict"] = "survived" if ran.status == "ok" else ran.status
        if ran.status != "ok":
            row["suite"] = suite.name
            break
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def do_run(options):
    numbered, suites, state = numbers_of(options), measured(options), read_state(options)
    suites = [s for s in suites if s.name.startswith(tuple(options.suites.split(",")))]
    if options.only:
        todo = [int(n) for n in options.only.split(",")]
    else:
        again = [n for n in state if state[n]["verdict"] in ("survived", "not covered")]
        more = [n for n in again if {s.name for s in suites if n in s.reaches} - tried_of(state, n)]
        todo = [n for n in numbered if n not in state] + (again if options.again else more)
    todo = [n for n in todo if n in numbered]
    # Spread over the engines, so that a run that is cut short tells of all of them.
    todo.sort(key=lambda n: (n * 7919) % 1009)
    begin, log = time.monotonic(), open(options.work / "state.jsonl", "a", encoding="utf-8")
    try:
        for done, number in enumerate(todo):
            if options.seconds and time.monotonic() - begin > options.seconds:
                break
            point = numbered[number]
            tried = tried_of(state, number)
            if options.again or options.only:
                tried -= {s.name for s in suites}
            row = judge(options, suites, number, point, tried)
            log.write(json.dumps(row) + "\n")
            log.flush()
            passed = time.monotonic() - begin
            left = passed / (done + 1) * (len(todo) - done - 1)
            print(
                f"{done + 1}/{len(todo)} {number:4} {row['verdict']:11} {row['suite']:24}"
                f" {row['seconds']:6.1f} s  {point.file}:{point.line} {point.kind};"
                f" {left / 60:.0f} min left",
                flush=True,
            )
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here")
        return 130
    return 0


def verdicts():
    return json.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}


def show(point, number, row, said):
    print(f"\n{number} {point.id} {point.file}:{point.line} {point.kind}: {row['verdict']}")
    print(f"  - {point.original}\n  + {point.mutated or '(left out)'}")
    if said:
        print(f"  {said['verdict']}: {said['why']}")


def do_report(options):
    numbered, state, judged = numbers_of(options), read_state(options), verdicts()
    every, inside = tree.load(options.work / "points.json")[0], wanted(options)
    every = {n: p for n, p in every.items() if inside(p)}
    state = {n: row for n, row in state.items() if n in numbered}
    drawn = sum(not p.again for p in every.values())
    table = collections.defaultdict(collections.Counter)
    before = collections.Counter()
    unjudged = 0
    for number, row in sorted(state.items()):
        point = numbered[number]
        if judged.get(point.id, {}).get("verdict") == "gap":
            before["noticed" if row["verdict"] in NOTICED else "not"] += 1
        if point.again:
            if row["verdict"] not in NOTICED and options.all:
                show(point, number, row, judged.get(point.id))
            continue
        said = judged.get(point.id) if row["verdict"] not in NOTICED else None
        verdict = row["verdict"]
        if verdict in NOTICED:
            verdict = "noticed"
        elif said and said["verdict"] in ("equivalent", "effort"):
            verdict = said["verdict"]
        table[str(pathlib.Path(point.file).parent)][verdict] += 1
        unjudged += verdict in ("survived", "not covered") and said is None
        if row["verdict"] not in NOTICED and (options.all or said is None):
            show(point, number, row, said)
    print("\n| folder | mutants | noticed | equivalent | effort | survived | not covered |")
    print("|---|---|---|---|---|---|---|")
    total = collections.Counter()
    for folder in sorted(table):
        total.update(table[folder])
        print(table_row(folder, table[folder]))
    print(table_row("together", total))
    noticed = total["noticed"]
    changing = noticed + total["survived"] + total["not covered"]
    lost = sum(not p.again and n not in numbered for n, p in every.items())
    print(f"\n{drawn} drawn, {lost} do not compile, {sum(total.values())} run;", end=" ")
    if changing:
        print(f"noticed {noticed} of {changing} that change a result: {noticed / changing:.1%}")
    found = sum(before.values())
    print(f"of {found} recorded gaps that were run again {before['noticed']} are noticed now")
    print("\n| first noticed by | mutants |\n|---|---|")
    by_suite = collections.Counter(r["suite"] for r in state.values() if r["verdict"] in NOTICED)
    for suite, count in by_suite.most_common():
        print(f"| {suite} | {count} |")
    return 1 if unjudged else 0


def table_row(name, counts):
    columns = [sum(counts.values())]
    columns += [counts[v] for v in ("noticed", "equivalent", "effort", "survived", "not covered")]
    return "| " + " | ".join([name, *map(str, columns)]) + " |"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = {
        "draw": do_draw,
        "build": do_build,
        "measure": do_measure,
        "run": do_run,
        "report": do_report,
    }
    parser.add_argument("command", choices=commands)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/mutation")
    parser.add_argument("--build", default=ROOT / "build", help="with compile_commands.json")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="times 400 points")
    parser.add_argument("--jobs", type=int, default=1, help="of the compiler")
    parser.add_argument("--seconds", type=float, default=0, help="begin no mutant after so long")
    parser.add_argument("--only", default="", help="measure: part of a suite's name; run: numbers")
    parser.add_argument(
        "--folder", default="", help="only points of files that begin so, by comma; not of draw"
    )
    parser.add_argument("--flags", default=tree.FLAGS, help="build: of the optimiser")
    parser.add_argument(
        "--suites", default="", help="run: only those whose names begin so, by comma"
    )
    parser.add_argument("--again", action="store_true", help="run: survivors too, with new tests")
    parser.add_argument("--all", action="store_true", help="report: survivors that were judged too")
    options = parser.parse_args()
    options.work = options.work.resolve()
    return commands[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
