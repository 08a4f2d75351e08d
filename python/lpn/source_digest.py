"""The Python that a model is made of, its own file and what that imports, apart from Python's and ours,
and the data files that this Python names.
"""

import ast
import glob
import hashlib
import importlib.util
import os
import re
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


_WRITES = re.compile(r"[wax][bt+]*")


def source_digest(files, written=()):
    """A hash of files, [(path, package)], of all that they import of the author's, Python without
    its comments, and of the data files that they name (_data), except those in `written`, which the
    caller writes; None where there is nothing to read.
    """
    left, digests = list(files), {}
    apart = {os.path.realpath(path) for path in written}
    while left:
        path, package = left.pop()
        place = os.path.realpath(path)
        if place in digests or place in apart:
            continue
        digests[place] = None
        try:
            with open(place, "rb") as file:
                if not place.endswith(".py"):
                    data = hashlib.file_digest(file, "sha256").hexdigest()
                    digests[place] = f"{os.path.basename(place)} {data}"
                    continue
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        digests[place] = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
        for name in sorted(set(_imported(tree, package))):
            left += _own(name)
        left += [(data, "") for data in _data(tree, os.path.dirname(path))]
    found = sorted(digest for digest in digests.values() if digest is not None)
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:24] if found else None


def _data(tree, folder):
    """The data files that a module's texts name: those beside it, by name or as "*.json", and in a folder
    beside it what has a whole name or an ending (".json") that the module has, too. What it writes
    is none.
    """
    texts = {text for text in _texts(tree) if 0 < len(text) < 256 and not set(text) & {"\n", "\0"}}
    for text in texts:
        path = os.path.join(folder, text)
        if os.path.isfile(path):
            yield path
        elif "*." in text:
            yield from filter(os.path.isfile, glob.glob(os.path.join(glob.escape(folder), text)))
        elif text.strip("./") and not os.path.isabs(text) and os.path.isdir(path):
            yield from _named_below(path, texts)


def _texts(tree):
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        left += [child for child in ast.iter_child_nodes(node) if not _writes(child)]


def _writes(node):
    """Whether what a node names is written: a file opened for that, or by `if __name__ == "__main__":`."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    given = [*node.args, *(word.value for word in node.keywords)]
    mode = any(isinstance(g, ast.Constant) and _WRITES.fullmatch(str(g.value)) for g in given)
    return name in ("write_text", "write_bytes") or (name == "open" and mode)


def _named_below(folder, texts):
    names = {os.path.basename(text) for text in texts}
    endings = tuple(text.lstrip("*") for text in texts if re.fullmatch(r"\*?(\.\w+)+", text))
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        for file in files:
            if not file.startswith(".") and (file in names or file.endswith(endings)):
                yield os.path.join(place, file)


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
