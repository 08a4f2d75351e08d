#!/usr/bin/env python3
"""A C++ compiler (LPN_CXX) for generated nets that compiles only what a mutant changed.

A test compiles many nets as one source. The object of the unchanged sources is kept; of a changed
one only the nets that differ are compiled, and are linked in front of that object, whose own
definitions of these nets give way (-z muldefs). The folder is LPN_MUTATION_OBJECTS.

Where more than LPN_MUTATION_NETS nets differ (0: no limit), so many of them, spread evenly, are
compiled, and the others stay what they were without the mutant: a test notices less, never more."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

COMPILER = os.environ.get("LPN_MUTATION_CXX", "clang++")
FIRST_LINE = '#include "lpnrt/static.h"\n'  # of each net


def sha(text):
    return hashlib.sha1(text.encode()).hexdigest()


def compile_nets(flags, nets, stem):
    source, made = pathlib.Path(f"{stem}.cc"), pathlib.Path(f"{stem}.o")
    source.write_text("".join(nets), encoding="utf-8")
    subprocess.run([COMPILER, *flags, "-c", "-o", made, source], check=True)
    source.unlink()
    return made


def build(folder, flags, text, to):
    nets = [FIRST_LINE + net for net in text.split(FIRST_LINE)[1:]]
    hashes = [sha(net) for net in nets]
    own = folder / f"{os.getpid()}"
    first, best = None, set()
    for kept in folder.glob("*.nets"):
        known = set(kept.read_text(encoding="utf-8").split())
        if len(known & set(hashes)) > len(best & set(hashes)):
            first, best = kept.with_suffix(".o"), known
    changed = [net for net, name in zip(nets, hashes) if name not in best]
    objects = [first] if first else []
    most = int(os.environ.get("LPN_MUTATION_NETS", "0"))
    if first and len(best) == len(nets) and 0 < most < len(changed):  # the same nets
        changed = changed[:: -(-len(changed) // most)]
    if first is None or 2 * len(changed) > len(nets):
        made = compile_nets(flags, nets, own)
        objects = [made]
        if os.environ.get("LPN_MUTANT", "0") == "0":
            kept = folder / f"{sha(text)}.o"
            made.rename(kept)
            objects = [kept]
            kept.with_suffix(".nets").write_text("\n".join(hashes), encoding="utf-8")
    elif changed:
        objects = [compile_nets(flags, changed, own), first]
    command = [COMPILER, *flags, "-shared", "-Wl,-z,muldefs", "-o", to, *objects]
    subprocess.run(command, check=True)
    for made in objects:
        if made.stem == own.name:
            made.unlink()


def main(arguments):
    to = arguments[arguments.index("-o") + 1]
    sources = [a for a in arguments if a.endswith(".cc")]
    text = pathlib.Path(sources[0]).read_text(encoding="utf-8") if len(sources) == 1 else ""
    if "-shared" not in arguments or not text.startswith(FIRST_LINE):
        return subprocess.run([COMPILER, *arguments], check=False).returncode
    flags = [a for a in arguments if a not in ("-shared", "-o", to, sources[0])]
    folder = pathlib.Path(os.environ["LPN_MUTATION_OBJECTS"]) / sha(" ".join(flags))[:12]
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / f"{sha(text)}.so"
    if not whole.exists():
        try:
            build(folder, flags, text, to)
        except subprocess.CalledProcessError as failed:
            return failed.returncode
        if os.environ.get("LPN_MUTANT", "0") == "0":
            shutil.copy(to, f"{whole}.{os.getpid()}")
            os.replace(f"{whole}.{os.getpid()}", whole)
        return 0
    shutil.copy(whole, to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
