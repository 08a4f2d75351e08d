"""The Python that a model is made of: its own file and what that imports, apart from Python's and ours."""

import ast
import hashlib
import importlib.util
import os
import sysconfig

from .source import is_ours

__all__ = ["source_digest"]

# What is installed is of a version that nobody edits between two sweeps.
_INSTALLED = tuple(
    os.path.realpath(folder) + os.sep
    for folder in (
        *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
        "/usr/lib/python3/dist-packages",
    )
)


def source_digest(files):
    """A hash of files, [(path, package)], and of all that they import of the author's, Python without
    its comments; None where there is nothing to read.
    """
    left, digests = list(files), {}
    while left:
        path, package = left.pop()
        place = os.path.realpath(path)
        if place in digests:
            continue
        digests[place] = None
        try:
            with open(place, "rb") as file:
                data = file.read()
            tree = ast.parse(data) if place.endswith(".py") else None
        except (OSError, SyntaxError, ValueError):
            continue
        if tree is not None:
            data = ast.dump(tree).encode()
            for name in sorted(set(_imported(tree, package))):
                left += _own(name)
        digests[place] = hashlib.sha256(data).hexdigest()
    found = sorted(digest for digest in digests.values() if digest is not None)
    if len(found) > 1:
        return hashlib.sha256("".join(found).encode()).hexdigest()[:24]
    return found[0][:24] if found else None


def _imported(tree, package):
    """The names of all modules that may be meant by the imports in a module of a package, also by
    those inside functions.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(filter(None, [*(above if node.level else ()), node.module]))
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _own(name):
    """[(path, package)] of a module that the author wrote, and of the packages that it is in."""
    parts, found = name.split("."), []
    for k in range(1, len(parts) + 1):
        try:
            spec = importlib.util.find_spec(".".join(parts[:k]))
        except Exception:  # not there, or what it is in fails: then the workload says so
            break
        if spec is None:
            break
        if spec.origin is None and spec.submodule_search_locations is not None:
            continue  # a folder
        if not spec.has_location or not _written(spec):
            break
        package = spec.name if spec.submodule_search_locations is not None else spec.parent
        found.append((spec.origin, package))
    return found


def _written(spec):
    place = os.path.realpath(spec.origin)
    ours = spec.name.partition(".")[0] in ("lpn", "_lpn") or is_ours(spec.origin)
    return not ours and not place.startswith(_INSTALLED)
