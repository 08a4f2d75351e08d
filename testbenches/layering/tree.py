"""The files of the repository, the component each belongs to, and what is wrong with them."""

import pathlib
import re
import subprocess

from rules import ALLOWED

_PATTERNS = [(re.compile(re.escape(name).replace(r"\*", "[^/]+") + "/"), name) for name in ALLOWED]

PYTHON_TEST = "/".join(("python", "lpn", "test"))  # what python/test is to the rules


def component(path):
    """The component of ALLOWED that a file belongs to ("X/test" for X's tests); None for others."""
    found = [(m.end(), name) for pattern, name in _PATTERNS if (m := pattern.match(path))]
    if not found:
        # python/test tests the package as its users see it.
        return PYTHON_TEST if path.startswith("python/test/") else None
    end, name = max(found)
    if name != "testbenches" and path[end:].startswith("test/"):
        return name + "/test"
    return name


def matches(path, folders):
    """Whether `path` lies below one of `folders`; `*` is one folder's name."""
    return any(re.match(re.escape(f).replace(r"\*", "[^/]+"), path) for f in folders)


def files_of(root):
    """Files that git would commit: tracked, or new and not ignored."""
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted({f for f in listed.split("\n") if f and (pathlib.Path(root) / f).is_file()})


class Tree:
    """The repository (or an imitation) at `root` with its `files`, and the violations found so far."""

    def __init__(self, root, files):
        self.root = pathlib.Path(root)
        self.files = files
        self.known = set(files)
        self.violations = []
        self.uses = {}  # file -> files that it includes or imports

    def text(self, path):
        return (self.root / path).read_text(errors="replace")

    def fail(self, path, line, what):
        self.violations.append(f"{path}:{line}: {what}")

    def arrow(self, path, line, target, what):
        """Code in `path` uses the component `target`."""
        source = component(path)
        part = source.removesuffix("/test")
        if target not in {source, part} | ALLOWED[part] and target.removesuffix("/test") != source:
            self.fail(path, line, f"{what}: {source} must not use {target}")

    def use(self, path, target):
        if target != path:
            self.uses.setdefault(path, set()).add(target)
