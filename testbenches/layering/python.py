"""Arrows in Python."""

import ast
import pathlib

from rules import IMPORTED_MODELS, PUBLIC_MODULES, PYTHON_PARTY
from tree import component, matches

# Where a module's name begins in the tree.
_ROOTS = {"lpn": "python/lpn", "models": "models", "testbenches": "testbenches"}


class Imports:
    def __init__(self, tree):
        self.tree = tree

    def check(self, path, text):
        try:
            parsed = ast.parse(text)
        except SyntaxError:
            return  # illegal programs on purpose are no modules of ours
        for node in ast.walk(parsed):
            if isinstance(node, ast.Import):
                for name in [a.name for a in node.names]:
                    self.imported(path, node.lineno, name)
                    self.file_of(path, name, [])
            elif isinstance(node, ast.ImportFrom):
                self.from_(path, node)

    def from_(self, path, node):
        names = [a.name for a in node.names]
        if node.level == 0:
            whole = [f"models.{n}" for n in names] if node.module == "models" else [node.module]
            for name in whole:
                self.imported(path, node.lineno, name)
            self.file_of(path, node.module, names)
            return
        folder = pathlib.PurePosixPath(path).parents[node.level - 1]
        base = "/".join([str(folder), *(node.module.split(".") if node.module else [])])
        self.used(path, base, names)

    def file_of(self, path, module, names):
        """Notes the file of ours that an absolute import reads."""
        top, _, rest = module.partition(".")
        if top in _ROOTS:
            base = "/".join([_ROOTS[top], *(rest.split(".") if rest else [])])
            self.used(path, base, names)

    def used(self, path, base, names):
        """`from base import names`: each is a module of the package `base`, or part of it."""
        for name in names or [""]:
            for file in (f"{base}/{name}.py", f"{base}/{name}/__init__.py"):
                if name and file in self.tree.known:
                    self.tree.use(path, file)
                    break
            else:
                for file in (f"{base}.py", f"{base}/__init__.py"):
                    if file in self.tree.known:
                        self.tree.use(path, file)

    def imported(self, path, line, name):
        top = name.split(".")[0]
        if top in PYTHON_PARTY:
            if not matches(path, PYTHON_PARTY[top]):
                folders = " and ".join(PYTHON_PARTY[top])
                self.tree.fail(path, line, f"imports {top}, which only {folders} may")
        elif top == "models":
            self.model(path, line, name)
        elif top == "testbenches":
            self.tree.arrow(path, line, "testbenches", f"imports {name}")
        elif top == "_lpn":
            # The bindings' module: authoring stands between it and the models.
            if component(path).split("/")[0] == "models":
                self.tree.fail(path, line, "imports _lpn: use the package lpn")
        elif top == "lpn":
            self.tree.arrow(path, line, "python/lpn", f"imports {name}")
            if path.startswith("models/") and name not in PUBLIC_MODULES:
                public = ", ".join(sorted(PUBLIC_MODULES))
                self.tree.fail(path, line, f"imports {name}: models use {public}")
        elif top == "lpn_models_native":
            self.tree.arrow(path, line, "models/*/native", f"imports {name}")

    def model(self, path, line, name):
        other = name.split(".")[1] if "." in name else ""
        if not path.startswith("models/"):
            self.tree.arrow(path, line, "models/*", f"imports {name}")
        elif other != path.split("/")[1] and other not in IMPORTED_MODELS:
            shared = ", ".join(sorted(IMPORTED_MODELS))
            self.tree.fail(path, line, f"imports {name}: shared are only {shared}")
