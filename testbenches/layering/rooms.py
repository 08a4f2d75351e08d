"""The inside of a part: its folders stand on floors, and no circle of files anywhere."""

import collections
import re

from rules import FLOORS, MOST_FILES
from tree import component


def _folder(part, path):
    """The room of FLOORS[part] that a file lies in; None for a file elsewhere."""
    inner = re.match(rf"{re.escape(part)}/(?:include/lpn/|src/)?(.+)$", path)
    if not inner or "/test/" in path:
        return None
    first, *rest = inner.group(1).split("/")
    return first if rest else first.rsplit(".", 1)[0]


def check_floors(tree):
    """A folder uses those on lower floors only; every folder has a floor."""
    for part, floors in FLOORS.items():
        floor = {name: k for k, names in enumerate(floors) for name in names}
        for path in tree.files:
            if not path.startswith(part + "/") or not path.endswith((".h", ".cc", ".py")):
                continue
            source = _folder(part, path)
            if source is None:
                continue
            if source not in floor:
                tree.fail(path, 1, f"'{source}' has no floor in {part}: see FLOORS in rules.py")
                continue
            for target in sorted(tree.uses.get(path, ())):
                other = _folder(part, target) if target.startswith(part + "/") else None
                if other in floor and other != source and floor[other] >= floor[source]:
                    tree.fail(path, 1, f"uses {target}: {source} must not use {other}")


def check_crowds(tree):
    """No folder of the Python package is a cellar."""
    count = collections.Counter(
        p.rsplit("/", 1)[0] for p in tree.files if p.startswith("python/lpn/") and p.endswith(".py")
    )
    for folder, files in count.items():
        if files > MOST_FILES:
            tree.fail(folder, 1, f"{files} files: a folder per concept (at most {MOST_FILES})")


def _room(path):
    """A header and the source of its name are one room."""
    if path.endswith((".h", ".cc")):
        return re.sub(r"/(include/lpn(/(sim|smt|pi|viz))?|src)/", "/", path).rsplit(".", 1)[0]
    return path


def check_circles(tree):
    """No circle of files, also not through imports inside functions."""
    graph = collections.defaultdict(set)
    for path, targets in tree.uses.items():
        if component(path) != "testbenches":
            graph[_room(path)] |= {_room(t) for t in targets} - {_room(path)}
    for circle in _components(graph):
        tree.fail(sorted(circle)[0], 1, "a circle of files: " + " <-> ".join(sorted(circle)))


def _components(graph):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, None)]
        while work:
            node, successors = work.pop()
            if successors is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on.add(node)
                successors = iter(sorted(graph.get(node, ())))
            for other in successors:
                if other not in index:
                    work += [(node, successors), (other, None)]
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    members = set()
                    while node not in members:
                        members.add(stack.pop())
                    on -= members
                    if len(members) > 1:
                        found.append(members)
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return found
