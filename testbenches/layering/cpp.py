"""Arrows and bans in C++ and CMake."""

import pathlib
import re

from rules import (
    C_HEADERS,
    FMT_FREE,
    LINK_PARTY,
    LONGEST_BINDING_FILE,
    LONGEST_CONVERSION,
    POSIX,
    POSIX_FREE,
    THIRD_PARTY,
)
from tree import component, matches

_INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Includes:
    """#include, of ours and of others."""

    def __init__(self, tree):
        self.tree = tree
        # "lpn/net/net.h" -> its file, for every header below an include/ or runtime/ folder
        self.headers = {}
        for path in tree.files:
            if found := re.search(r"(?:^|/)(?:include|runtime)/((?:lpn|lpnrt)/.+)$", path):
                self.headers[found.group(1)] = path

    def check(self, path, text):
        for number, line in enumerate(text.splitlines(), 1):
            if found := _INCLUDE.match(line):
                quoted, name = found.group(1) == '"', found.group(2)
                if name in self.headers:
                    self.ours(path, number, self.headers[name], name)
                elif name.startswith(("lpn/", "lpnrt/")):
                    self.tree.fail(path, number, f"includes {name}, which no folder has")
                elif quoted and (local := self.local(path, name)):
                    self.ours(path, number, local, name)
                else:
                    self.library(path, number, name)

    def ours(self, path, number, target, name):
        self.tree.arrow(path, number, component(target), f"includes {name}")
        self.tree.use(path, target)

    def local(self, path, name):
        """A header beside the file, or one that an include path of some component finds."""
        beside = str(pathlib.PurePosixPath(path).parent / name)
        plain = []  # without x/../
        for part in beside.split("/"):
            plain = plain[:-1] if part == ".." else [*plain, part]
        if "/".join(plain) in self.tree.known:
            return "/".join(plain)
        same = [f for f in self.tree.files if f.endswith("/" + name)]
        mine = [f for f in same if component(f) == component(path)]
        return (mine or same or [None])[0]

    def library(self, path, number, name):
        source = component(path).removesuffix("/test")
        for prefix, folders in THIRD_PARTY.items():
            if name.startswith(prefix):
                if not matches(path, folders):
                    self.tree.fail(
                        path, number, f"includes {name}, which only {' and '.join(folders)} may"
                    )
                return
        if name.startswith("fmt/"):
            if source in FMT_FREE:
                self.tree.fail(
                    path, number, f"includes {name}, but generated code needs a compiler alone"
                )
        elif POSIX.match(name):
            if component(path) in POSIX_FREE:
                self.tree.fail(
                    path, number, f"includes {name}, but {source} is standard C++ and fmt only"
                )
        elif name not in C_HEADERS and ("." in name or "/" in name):
            self.tree.fail(path, number, f"includes {name}, which is in no list of rules.py")


def _blank(text):
    """`text` with comments and literals blanked, so that braces and words in them do not count."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)


def _closing(text, at):
    """Behind the bracket that closes the one at `at`."""
    pairs = {"{": "}", "(": ")"}
    opening, closing = text[at], pairs[text[at]]
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == opening) - (text[k] == closing)
        if depth == 0:
            return k + 1
    return len(text)


def check_switches(tree, path, text):
    """No `default:` in a switch over operators: the compiler is to name each place that a new one
    needs. Such a switch is known by its labels."""
    code = _blank(text)
    for found in re.finditer(r"\bswitch\s*\(", code):
        head = _closing(code, found.end() - 1)
        brace = code.find("{", head)
        if brace < 0 or code[head:brace].strip():
            continue
        body = code[brace : _closing(code, brace)]
        while inner := re.search(r"\bswitch\s*\(", body):  # one inside answers for itself
            start = body.find("{", _closing(body, inner.end() - 1))
            body = body[: inner.start()] + body[_closing(body, start) :]
        if re.search(r"\bcase (?:lpn::)?Op::k", body) and re.search(r"\bdefault\s*:", body):
            line = code.count("\n", 0, found.start()) + 1
            tree.fail(path, line, "default: in a switch over operators; name every one")


def check_binding(tree, path, text):
    """Bindings bind: no long file, no function that computes."""
    lines = text.count("\n")
    if lines > LONGEST_BINDING_FILE:
        tree.fail(path, 1, f"{lines} lines: bindings bind, what computes belongs below")
    code = _blank(text)
    for found in re.finditer(r"^[\w:<>,&*\[\] ]+?\b(\w+)\(", code, flags=re.MULTILINE):
        name = found.group(1)
        after = _closing(code, found.end() - 1)
        brace = re.match(r"[\s\w]*\{", code[after:])
        if (
            not brace
            or name.startswith("bind_")
            or name in ("if", "for", "while", "PYBIND11_MODULE")
        ):
            continue
        start = after + brace.end() - 1
        length = code.count("\n", found.start(), _closing(code, start)) + 1
        if length > LONGEST_CONVERSION:
            line = code.count("\n", 0, found.start()) + 1
            tree.fail(path, line, f"{name} has {length} lines: bindings bind")


class Links:
    """target_link_libraries; the libraries are those that the CMakeLists.txt of ours add."""

    def __init__(self, tree):
        self.tree = tree
        self.targets = {}  # target or alias -> component
        for path in tree.files:
            if path.endswith("CMakeLists.txt") and component(path):
                text = re.sub(r"#[^\n]*", "", tree.text(path))
                made = r"\b(?:add_library|pybind11_add_module)\s*\(\s*([\w:]+)"
                for found in re.finditer(made, text):
                    self.targets[found.group(1)] = component(path)

    def check(self, path, text):
        text = re.sub(r"#[^\n]*", "", text)
        for call in re.finditer(r"target_link_libraries\s*\(([^)]*)\)", text):
            line = text.count("\n", 0, call.start()) + 1
            for name in call.group(1).split()[1:]:
                if name in self.targets:
                    self.tree.arrow(path, line, self.targets[name], f"links {name}")
                for prefix, folders in LINK_PARTY.items():
                    if name.startswith(prefix) and not matches(path, folders):
                        self.tree.fail(
                            path, line, f"links {name}, which only {' and '.join(folders)} may"
                        )
        for call in re.finditer(r"pybind11_add_module\s*\(", text):
            if not matches(path, THIRD_PARTY["pybind11/"]):
                line = text.count("\n", 0, call.start()) + 1
                self.tree.fail(
                    path, line, "makes a Python module outside python/bindings and models/*/native"
                )
