#!/usr/bin/env python3
"""Fails when code points where docs/architecture says it must not.

Arrows are #include, Python's import and the links of CMake. A part may use itself and what rules.py
allows it; folders inside a part stand on floors; each third-party library has its folders; there is
no circle of files; bindings bind; no switch over operators has a `default:`. Files are those git
would commit: tracked, or new and not ignored.

    python3 testbenches/layering/layering_test.py              checks the repository this file is in
    python3 testbenches/layering/layering_test.py --self-test  plants violations and wants them found
"""

import argparse
import pathlib
import sys
import tempfile

from cpp import Includes, Links, check_binding, check_switches
from planted import INNOCENT, PLANTED
from python import Imports
from rooms import check_circles, check_crowds, check_floors
from tree import Tree, component, files_of


def violations(root, files):
    """What is wrong with the repository's files, as "file:line: what"."""
    tree = Tree(root, files)
    includes, imports, links = Includes(tree), Imports(tree), Links(tree)
    for path in files:
        if component(path) is None:
            continue
        text = tree.text(path)
        if path.endswith((".h", ".cc", ".cpp", ".def")):
            includes.check(path, text)
            check_switches(tree, path, text)
            if path.startswith("python/bindings/"):
                check_binding(tree, path, text)
        elif path.endswith(".py"):
            imports.check(path, text)
        elif path.endswith("CMakeLists.txt"):
            links.check(path, text)
    check_floors(tree)
    check_crowds(tree)
    check_circles(tree)
    return tree.violations


def self_test():
    """Innocent code passes; of what is planted each is found, and nothing else."""
    with tempfile.TemporaryDirectory() as root:

        def write(files):
            for path, text in files.items():
                file = pathlib.Path(root) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)

        write(INNOCENT)
        problems = [f"innocent code was blamed: {w}" for w in violations(root, sorted(INNOCENT))]
        for files, word in PLANTED:
            write(files)
            found = violations(root, sorted({**INNOCENT, **files}))
            if len(found) != 1 or word not in found[0]:
                problems.append(f"planted {sorted(files)}: wanted '{word}', found {found}")
            for path in files:
                (pathlib.Path(root) / path).unlink()
            write({path: text for path, text in INNOCENT.items() if path in files})
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    root = str(pathlib.Path(__file__).resolve().parents[2])
    problems = self_test() if options.self_test else violations(root, files_of(root))
    for problem in problems:
        print(problem)
    checked = f"{len(PLANTED)} planted violations" if options.self_test else "the arrows"
    print(f"layering: {len(problems)} problems with {checked}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
