"""The copy of the tree: which points are drawn, how they get into the copy, and building it.

Points that do not compile are dropped: those on the lines that the compiler names, else half of a
file's points at a time."""

import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess

import points as finding
import schemata

HEADER = "lpn2sim/runtime/lpnrt/" + "lpn_mutant.h"  # where also generated code finds it
FLAGS = "-O1"
# Folder of the engines -> how many points of it are drawn.
SHARES = {
    "lpn-core/src/run": 55,
    "lpn-core/src/net": 40,
    "lpn-core/src/expr": 45,
    "lpn-core/src/classes": 60,
    "lpn-core/src/graph": 6,
    "lpn-core/src/reach": 25,
    "lpn2sim/runtime/lpnrt": 60,
    "lpn2sim/src/plan": 25,
    "lpn2sim/src/write": 55,
    "lpn2smt/src": 54,
}
# What takes no decision about a net: it is not drawn from.
LEFT_OUT = {
    "lpn2sim/runtime/lpnrt/main.h",  # the command line of a single net
    "lpn2smt/src/certificate_json.cc",
}
# The writers write out operators by the hundred, and most of their points are dropped lines: more
# points of this folder, of this kind.
MORE = ("lpn2sim/src/write", "emitted", 34)
# How often a kind is drawn, beside the others.
WEIGHTS = {"relational": 3, "logical": 3, "arithmetic": 3, "condition": 2, "dropped": 2}
# Headers that generated code includes are read through these.
GENERATED = '#include "lpnrt/static.h"\n'


def files_of(root, folder):
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    wanted = ".h" if "runtime" in folder else ".cc"
    return [f for f in listed if f.endswith(wanted) and f not in LEFT_OUT]


def arguments_of(build, root, file):
    """How clang is to read a file."""
    if file.endswith(".h"):
        return ["-x", "c++", "-std=c++20", f"-I{root}/lpn2sim/runtime", "-DLPNRT_STATS=1"]
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"] == str(root / file):
            words = shlex.split(entry["command"])[1:]
            return [w for w in words if w.startswith(("-I", "-D", "-std", "-isystem", "/usr/inc"))]
    raise ValueError(f"{file} is not in compile_commands.json of {build}")


def sha(root, file):
    return hashlib.sha1((root / file).read_bytes()).hexdigest()


def fits(point, taken):
    """A point lies in another one, around it, or apart from it."""
    return all(
        p.end <= point.start
        or point.end <= p.start
        or (p.start <= point.start and point.end <= p.end)
        or (point.start <= p.start and p.end <= point.end)
        for p in taken
        if p.file == point.file
    )


def draw(root, build, seed, scale=1.0, shares=None, again=()):
    """Points over all engines, numbered from 1; the same for the same sources and seed.

    Behind them those of the names `again` that the sample lacks, marked so."""
    drawn, more, known = [], [], []
    for folder, share in (shares or SHARES).items():
        found = []
        for file in files_of(root, folder):
            found += finding.find(str(root / file), arguments_of(build, root, file))
        found = finding.name_points(found, root)
        known += [p for p in found if p.id in again]
        dice = random.Random(f"{seed} {folder}")
        keyed = [(dice.random() ** (1 / WEIGHTS.get(p.kind, 1)), k) for k, p in enumerate(found)]
        taken = []
        for _, k in sorted(keyed, reverse=True):
            if len(taken) < round(share * scale) and fits(found[k], taken):
                taken.append(found[k])
        drawn += sorted(taken, key=lambda p: (p.file, p.start))
        if folder == MORE[0]:
            names = {p.id for p in taken}
            others = [p for p in found if p.kind == MORE[1] and p.id not in names]
            random.Random(f"{seed} {MORE[1]}").shuffle(others)
            for point in others[: round(MORE[2] * scale)]:
                if fits(point, taken + more):
                    more.append(point)
    drawn += more
    names = {p.id for p in drawn}
    for point in known:
        if point.id not in names and fits(point, drawn):
            point.again = True
            drawn.append(point)
    return drawn


def save(file, root, drawn):
    rows = {
        "sources": {p.file: sha(root, p.file) for p in drawn},
        "points": {str(k): p.row() for k, p in enumerate(drawn, 1)},
    }
    file.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def load(file):
    """Number -> Point, and file -> hash of its original."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    found = {int(k): finding.Point(**row) for k, row in rows["points"].items()}
    return found, rows["sources"]


def write(file, data):
    if not file.exists() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def copy(root, tree, numbered, header=HEADER):
    """The tracked files, with the points in them; what is the same is not written again."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    own = pathlib.Path(__file__).parent
    by_file = {}
    for number, point in numbered.items():
        by_file.setdefault(point.file, []).append((number, point))
    for file in listed:
        if not file or not (root / file).is_file() or (root / file).is_symlink():
            continue
        data = (root / file).read_bytes()
        if file in by_file:
            relative = os.path.relpath(header, pathlib.Path(file).parent)
            data = schemata.render(data, by_file[file], relative)
        write(tree / file, data)
    write(tree / header, (own / "lpn_mutant.h").read_bytes())


def configure(tree, build, optimise):
    flags = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={optimise}"]
    with_ccache = dict(os.environ, CMAKE_CXX_COMPILER_LAUNCHER="ccache")
    command = ["cmake", "-S", str(tree), "-B", str(build), *flags]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=with_ccache)


def compile_targets(build, targets, jobs):
    """What the compiler says about the targets that do not build, or nothing."""
    command = ["nice", "-n", "10", "ninja", "-C", str(build), "-k", "0", "-j", str(jobs), *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def blamed(numbered, errors):
    """The numbers of points at which errors of the compiler point."""
    places = set()
    for line in errors.splitlines():
        found = re.match(
            r"(?:In file included from )?(\S+?):(\d+):(?:\d+:)? (?:fatal )?error:", line
        )
        if found:
            places.add((found.group(1), int(found.group(2))))
    guilty = set()
    for number, point in numbered.items():
        last = point.line + point.original.count("\n")
        for file, line in places:
            if file.endswith(point.file) and point.line <= line <= last:
                guilty.add(number)
    if guilty:
        return guilty
    for file in sorted({p.file for p in numbered.values()}):
        if re.search(re.escape(file) + r":\d+:", errors) or f"{file}.o" in errors:
            inside = [n for n, p in numbered.items() if p.file == file]
            guilty |= set(inside[: (len(inside) + 1) // 2])
    return guilty


def dropped_of(work):
    file = work / "dropped.json"
    return set(json.loads(file.read_text(encoding="utf-8")) if file.exists() else [])


def drop(work, numbers):
    """These do not compile; what a compiler once made with them is void."""
    numbers = sorted(dropped_of(work) | set(numbers))
    (work / "dropped.json").write_text(json.dumps(numbers), encoding="utf-8")
    for folder in ("objects", "lpn-cache"):
        shutil.rmtree(work / folder, ignore_errors=True)


def build_all(root, work, targets, jobs, wanted=lambda point: True, optimise=FLAGS, say=print):
    """Renders those `wanted` and builds until everything compiles; the numbers of points that were
    dropped."""
    tree, build = work / "tree", work / "tree" / "build"
    numbered, sources = load(work / "points.json")
    changed = [f for f, known in sources.items() if sha(root, f) != known]
    if changed:
        raise ValueError(f"points were drawn from another {changed[0]}: draw again")
    while True:
        dropped = dropped_of(work)
        kept = {n: p for n, p in numbered.items() if n not in dropped and wanted(p)}
        copy(root, tree, kept)
        if not (build / "build.ninja").exists():
            configure(tree, build, optimise)
        errors = compile_targets(build, targets, jobs)
        if not errors:
            return dropped
        guilty = blamed(kept, errors)
        if not guilty:
            raise RuntimeError("the copy does not build:\n" + errors[-4000:])
        for number in sorted(guilty):
            say(f"does not compile: {number} {kept[number].file}:{kept[number].line}")
        drop(work, guilty)
