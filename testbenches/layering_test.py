#!/usr/bin/env python3
"""Fails when code points where docs/architecture says it must not.

Three kinds of arrows are read: #include, Python's import, and the links of CMake. A folder may use
itself and what ALLOWED lists; each third-party library belongs to the folders of THIRD_PARTY. Files
are those git would commit: tracked, or new and not ignored.

    python3 testbenches/layering_test.py              checks the repository this file is in
    python3 testbenches/layering_test.py --self-test  plants a violation of each kind and wants it found
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys
import tempfile

# Longest prefix wins. What is in none of them (docs, files at the top) is not looked at.
COMPONENTS = {
    "lpn-core": "core",
    "lpn-core/test": "core-test",
    "lpn2sim": "sim",
    "lpn2sim/runtime": "runtime",  # what generated code includes: knows nobody, not even lpn-core
    "lpn2smt": "smt",
    "lpn2pi": "pi",
    "lpnviz": "viz",
    "python/bindings": "bindings",
    "python/lpn": "python",
    "models": "models",
    "testbenches": "testbenches",
}
# models/<device>/native becomes "native", models/<device> "models".
ALLOWED = {
    "core": set(),
    "core-test": {"core"},
    "runtime": set(),
    "sim": {"core", "runtime"},
    "smt": {"core"},
    "pi": {"core"},
    "viz": {"core"},
    "bindings": {"core", "sim", "runtime", "smt", "pi", "viz"},
    "python": {"bindings"},
    "models": {"python", "native"},  # and another model: see IMPORTED_MODELS
    "native": {"core", "smt"},  # of lpn2smt its view of a solver, lpn/bitvectors.h
    "testbenches": {
        "core",
        "sim",
        "runtime",
        "smt",
        "pi",
        "viz",
        "bindings",
        "python",
        "models",
        "native",
    },
}
IMPORTED_MODELS = {"pcie"}  # the only model that others build on

# Include prefix or Python module -> where it may be used. One folder each, except that pybind11 also
# binds what a device needs (models/<device>/native), and doctest is wherever C++ is tested.
THIRD_PARTY = {
    "boost/": ("lpn2sim/runtime/",),
    "xxhash.h": ("lpn2sim/src/",),
    "jpeglib.h": ("models/jpeg/",),
    "jerror.h": ("models/jpeg/",),
    "pybind11/": ("python/bindings/", "models/*/native/"),
    "z3": ("lpn2smt/",),
    "glpk.h": ("lpn2smt/src/",),
    "Python.h": ("lpn2pi/",),
    "doctest/": (
        "lpn-core/test/",
        "lpn2sim/test/",
        "lpn2smt/test/",
        "lpn2pi/test/",
        "lpnviz/test/",
        "testbenches/",
    ),
    "verilated": ("testbenches/accuracy/",),
    "Vjpeg_core": ("testbenches/accuracy/",),
}
FMT_FREE = {"runtime"}  # generated code must compile with a compiler alone
POSIX_FREE = {"core"}  # the standard library and fmt
POSIX = re.compile(r"(unistd|dlfcn|fcntl|signal|spawn|poll|pthread|sys/\w+)\.h$")
C_HEADERS = {"stdint.h", "stddef.h", "string.h", "stdio.h", "stdlib.h", "setjmp.h"}
PYTHON_PARTY = {
    "click": ("python/lpn/", "models/"),  # a device's own commands
    "rich": ("python/lpn/",),
    "PIL": ("python/lpn/", "testbenches/"),
    "pytest": ("testbenches/", "python/test/", "models/"),
    "selenium": ("testbenches/viz/",),
    "sklearn": ("models/bluefield/",),  # only training; predicting reads what it wrote
    "sympy": ("lpn2pi/", "testbenches/"),
    "z3": ("lpn2smt/",),
}
LINKS = {
    "lpn_core": "core",
    "lpn::core": "core",
    "lpn_sim": "sim",
    "lpn::sim": "sim",
    "lpn_smt": "smt",
    "lpn::smt": "smt",
    "lpn_pi": "pi",
    "lpn::pi": "pi",
    "lpn_pi_embed": "pi",
    "lpn::pi_embed": "pi",
    "lpn_viz": "viz",
    "lpn::viz": "viz",
    "_lpn": "bindings",
    "lpn_bench": "testbenches",
    "lpn_jpeg_reader": "native",
    "lpn_nfp": "native",
}
LINK_PARTY = {
    "JPEG::JPEG": ("models/jpeg/",),
    "pybind11::": ("python/bindings/", "models/*/native/"),
    "Boost::": ("lpn2sim/",),
    "z3": ("lpn2smt/",),
    "Python3::": ("lpn2pi/",),
}


def component(path):
    """The part of the house that a file belongs to; None for files outside of it."""
    parts = path.split("/")
    if parts[0] == "models" and len(parts) > 3 and parts[2] == "native":
        return "native"
    best = max((p for p in COMPONENTS if path.startswith(p + "/")), key=len, default=None)
    return COMPONENTS.get(best)


def matches(path, folders):
    return any(re.match(re.escape(f).replace(r"\*", "[^/]+"), path) for f in folders)


class Check:
    def __init__(self, root, files):
        self.root = pathlib.Path(root)
        self.files = files
        self.violations = []
        # "lpn/net.h" -> its file, for every header below an include/ or runtime/ folder
        self.headers = {}
        for path in files:
            found = re.search(r"(?:^|/)(?:include|runtime)/((?:lpn|lpnrt)/.+)$", path)
            if found:
                self.headers[found.group(1)] = path

    def run(self):
        for path in self.files:
            if component(path) is None:
                continue
            text = (self.root / path).read_text(errors="replace")
            if path.endswith((".h", ".cc", ".cpp", ".def")):
                self.includes(path, text)
            elif path.endswith(".py"):
                self.imports(path, text)
            elif path.endswith("CMakeLists.txt"):
                self.links(path, text)
        return self.violations

    def fail(self, path, line, what):
        self.violations.append(f"{path}:{line}: {what}")

    def arrow(self, path, line, target, what):
        source = component(path)
        if target != source and target not in ALLOWED[source]:
            self.fail(path, line, f"{what}: {source} must not use {target}")

    # ---- C++ --------------------------------------------------------------------------------

    def includes(self, path, text):
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not found:
                continue
            name = found.group(2)
            if name in self.headers:
                self.arrow(path, number, component(self.headers[name]), f"includes {name}")
            elif name.startswith(("lpn/", "lpnrt/")):
                self.fail(path, number, f"includes {name}, which no folder has")
            elif found.group(1) == '"' and self.local(path, name):
                self.arrow(path, number, component(self.local(path, name)), f"includes {name}")
            else:
                self.library(path, number, name)

    def local(self, path, name):
        """A header beside the file, or one that is found by an include path of its own component."""
        beside = str(pathlib.PurePosixPath(path).parent / name)
        if (self.root / beside).exists():
            return beside
        same = [f for f in self.files if f.endswith("/" + name)]
        return same[0] if same else None

    def library(self, path, number, name):
        source = component(path)
        for prefix, folders in THIRD_PARTY.items():
            if name.startswith(prefix):
                if not matches(path, folders):
                    self.fail(
                        path, number, f"includes {name}, which only {' and '.join(folders)} may"
                    )
                return
        if name.startswith("fmt/"):
            if source in FMT_FREE:
                self.fail(
                    path, number, f"includes {name}, but generated code needs a compiler alone"
                )
        elif POSIX.match(name):
            if source in POSIX_FREE:
                self.fail(
                    path, number, f"includes {name}, but {source} is standard C++ and fmt only"
                )
        elif name not in C_HEADERS and ("." in name or "/" in name):
            self.fail(
                path,
                number,
                f"includes {name}, which is in no list of {pathlib.Path(__file__).name}",
            )

    # ---- Python -----------------------------------------------------------------------------

    def imports(self, path, text):
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return  # illegal programs on purpose are no modules of ours
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
                if node.module == "models":
                    names = [f"models.{a.name}" for a in node.names]
            else:
                continue
            for name in names:
                self.imported(path, node.lineno, name)

    def imported(self, path, line, name):
        top = name.split(".")[0]
        if top in PYTHON_PARTY:
            if not matches(path, PYTHON_PARTY[top]):
                self.fail(
                    path, line, f"imports {top}, which only {' and '.join(PYTHON_PARTY[top])} may"
                )
        elif top in ("testbenches", "models"):
            other = name.split(".")[1] if "." in name else ""
            mine = path.split("/")[1] if path.startswith("models/") else None
            if top == "models" and mine and (other == mine or other in IMPORTED_MODELS):
                return
            if top == "models" and mine:
                self.fail(
                    path, line, f"imports {name}: only {', '.join(IMPORTED_MODELS)} is shared"
                )
            else:
                self.arrow(path, line, top, f"imports {name}")
        elif top == "_lpn":
            # The bindings' module: authoring stands between it and the models.
            if component(path) not in ("python", "bindings", "testbenches"):
                self.fail(path, line, "imports _lpn: use the package lpn")
        elif top == "lpn":
            self.arrow(path, line, "python", f"imports {name}")
        elif top == "lpn_models_native":
            self.arrow(path, line, "native", f"imports {name}")

    # ---- CMake ------------------------------------------------------------------------------

    def links(self, path, text):
        text = re.sub(r"#[^\n]*", "", text)
        for call in re.finditer(r"target_link_libraries\s*\(([^)]*)\)", text):
            line = text.count("\n", 0, call.start()) + 1
            for name in call.group(1).split()[1:]:
                if name in LINKS:
                    self.arrow(path, line, LINKS[name], f"links {name}")
                for prefix, folders in LINK_PARTY.items():
                    if name.startswith(prefix) and not matches(path, folders):
                        self.fail(
                            path, line, f"links {name}, which only {' and '.join(folders)} may"
                        )
        for call in re.finditer(r"pybind11_add_module\s*\(", text):
            if not matches(path, THIRD_PARTY["pybind11/"]):
                line = text.count("\n", 0, call.start()) + 1
                self.fail(
                    path, line, "makes a Python module outside python/bindings and models/*/native"
                )


def files_of(root):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return sorted(f for f in listed if f and (pathlib.Path(root) / f).is_file())


# What a checker that can fail must find: file, text, a word of the message.
PLANTED = [
    ("lpn-core/src/a.cc", '#include "lpn/sim/sim.h"\n', "core must not use sim"),
    ("lpn-core/src/b.cc", "#include <unistd.h>\n", "standard C++ and fmt only"),
    ("lpn-core/src/c.cc", "#include <boost/heap/d_ary_heap.hpp>\n", "only lpn2sim/runtime/"),
    ("lpn2sim/runtime/lpnrt/r.h", "#include <fmt/format.h>\n", "a compiler alone"),
    ("lpn2sim/runtime/lpnrt/s.h", '#include "lpn/net/net.h"\n', "runtime must not use core"),
    ("lpn2sim/src/d.cc", "#  include <z3++.h>\n", "only lpn2smt/"),
    ("lpn2sim/src/e.cc", '#include "bind.h"\n', "sim must not use bindings"),
    ("lpn2sim/src/f.cc", "#include <jpeglib.h>\n", "only models/jpeg/"),
    ("lpn2sim/src/g.cc", "#include <pybind11/pybind11.h>\n", "models/*/native/"),
    ("lpn2sim/src/h.cc", "#include <vendor/thing.h>\n", "in no list"),
    ("lpn2sim/src/i.cc", '#include "lpn/gone.h"\n', "which no folder has"),
    ("models/toy/q.py", "from sklearn.ensemble import x\n", "only models/bluefield/"),
    ("testbenches/j.cc", "#include <xxhash.h>\n", "only lpn2sim/src/"),
    ("models/toy/native/k.cc", '#include "lpn/sim/sim.h"\n', "native must not use sim"),
    ("python/lpn/l.py", "import models.toy\n", "python must not use models"),
    (
        "python/lpn/m.py",
        "def f():\n    from testbenches import x\n",
        "python must not use testbenches",
    ),
    ("models/toy/n.py", "from models.other import net\n", "only pcie is shared"),
    ("models/toy/o.py", "import _lpn\n", "use the package lpn"),
    ("python/bindings/p.py", "import click\n", "only python/lpn/ and models/"),
    (
        "lpn-core/CMakeLists.txt",
        "target_link_libraries(x PUBLIC\n  lpn::sim)\n",
        "core must not use sim",
    ),
    (
        "lpn2sim/CMakeLists.txt",
        "target_link_libraries(x PRIVATE JPEG::JPEG)\n",
        "only models/jpeg/",
    ),
]
INNOCENT = [
    ("lpn-core/include/lpn/net/net.h", "#include <vector>\n"),
    ("lpn2sim/include/lpn/sim/sim.h", '#include "lpn/net/net.h"\n#include <fmt/format.h>\n'),
    (
        "lpn2sim/runtime/lpnrt/runtime.h",
        "#include <boost/heap/d_ary_heap.hpp>\n#include <stdint.h>\n",
    ),
    ("python/bindings/bind.h", '#include <pybind11/pybind11.h>\n#include "lpn/sim/sim.h"\n'),
    ("python/lpn/ok.py", "import _lpn, click\nfrom . import x\n"),
    ("models/toy/model.py", "import lpn\nfrom models.pcie import link\nfrom models.toy import x\n"),
    ("models/jpeg/native/ok.cc", '#include <jpeglib.h>\n#include "lpn/net/net.h"\n'),
    ("testbenches/ok.py", "import models.toy, lpn, _lpn\n"),
    ("lpn2smt/CMakeLists.txt", "target_link_libraries(lpn_smt PUBLIC lpn::core z3)\n"),
]


def self_test():
    with tempfile.TemporaryDirectory() as root:

        def write(path, text):
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

        for path, text in INNOCENT:
            write(path, text)
        innocent = [path for path, _ in INNOCENT]
        wrong = Check(root, innocent).run()
        if wrong:
            return ["innocent code was blamed: " + w for w in wrong]
        problems = []
        for path, text, word in PLANTED:
            write(path, text)
            found = Check(root, innocent + [path] * (path not in innocent)).run()
            if len(found) != 1 or word not in found[0]:
                problems.append(f"planted in {path}: wanted '{word}', found {found}")
            (pathlib.Path(root) / path).unlink()
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    root = str(pathlib.Path(__file__).resolve().parent.parent)
    problems = self_test() if options.self_test else Check(root, files_of(root)).run()
    for problem in problems:
        print(problem)
    checked = f"{len(PLANTED)} planted violations" if options.self_test else "the arrows"
    print(f"layering: {len(problems)} problems with {checked}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
