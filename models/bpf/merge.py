"""Merging at a resolution: classes that cost nearly the same become one.

Three merges of a tree of decisions (Iyer et al., NSDI'22): an inner node becomes a leaf; a decision
whose sides are the same tree goes; two decisions with one side in common become one, by `or`. At a
resolution all that is allowed is done, in this order, until nothing changes; then comes the next
resolution at which something is allowed.
"""

from dataclasses import dataclass, field

RULES = ("half", "full")


@dataclass
class Leaf:
    """Packets that are not told apart. `low`..`high`: their costs; `terms`: coefficients of
    performance-critical variables, {name: most}. `verdict`: None where there are several.
    """

    low: int
    high: int
    terms: dict = field(default_factory=dict)
    verdict: str | None = None
    name: str = ""
    shape = 0

    @property
    def value(self):
        """What an interface says: the middle, rounded down."""
        return (self.low + self.high) // 2


class Node:
    """A decision; `shape` is one number for trees that differ in costs only."""

    __slots__ = ("condition", "yes", "no", "low", "high", "shape")

    def __init__(self, condition, yes, no, shapes):
        self.condition, self.yes, self.no = condition, yes, no
        self.low, self.high = min(yes.low, no.low), max(yes.high, no.high)
        self.shape = shapes.setdefault((condition, yes.shape, no.shape), len(shapes) + 1)


def threshold(low, high, rule):
    """The least resolution at which costs low..high may be one: `half`, the value printed is at
    most so far from each; `full`, that of the released scripts of PIX. 1 is always exact.
    """
    if low == high:
        return 1
    return (high - low + 1) // 2 if rule == "half" else high - low + 1


class Merging:
    """Merges a tree. `either(c, holds, d, holds)`: a condition for `c is so, or d is so`."""

    def __init__(self, rule, either):
        self.rule, self.either = rule, either
        self.shapes = {}

    def leaf(self, node):
        """A tree as one leaf."""
        leaves = list(leaves_of(node))
        terms, verdicts = {}, {one.verdict for one in leaves}
        for one in leaves:
            for name, most in one.terms.items():
                terms[name] = max(terms.get(name, 0), most)
        verdict = verdicts.pop() if len(verdicts) == 1 else None
        return Leaf(node.low, node.high, terms, verdict, "+".join(x.name for x in leaves if x.name))

    def node(self, condition, yes, no):
        return Node(condition, yes, no, self.shapes)

    def may(self, low, high, r):
        """Whether costs may be one at a resolution."""
        return low == high or r > 1 and threshold(low, high, self.rule) <= r

    def pair(self, a, b):
        """The threshold of laying two trees of one shape over each other."""
        if isinstance(a, Node):
            return max(self.pair(a.yes, b.yes), self.pair(a.no, b.no))
        return threshold(min(a.low, b.low), max(a.high, b.high), self.rule)

    def allowed(self, a, b, r):
        if a.shape != b.shape:
            return False
        if isinstance(a, Node):
            return self.allowed(a.yes, b.yes, r) and self.allowed(a.no, b.no, r)
        return self.may(min(a.low, b.low), max(a.high, b.high), r)

    def over(self, a, b):
        if isinstance(a, Node):
            return self.node(a.condition, self.over(a.yes, b.yes), self.over(a.no, b.no))
        low, high = min(a.low, b.low), max(a.high, b.high)
        terms = {n: max(a.terms.get(n, 0), b.terms.get(n, 0)) for n in {**a.terms, **b.terms}}
        verdict = a.verdict if a.verdict == b.verdict else None
        return Leaf(low, high, terms, verdict, "+".join(x for x in (a.name, b.name) if x))

    # The three merges

    def collapse(self, node, r):
        if not isinstance(node, Node):
            return node
        if self.may(node.low, node.high, r):
            return self.leaf(node)
        yes, no = self.collapse(node.yes, r), self.collapse(node.no, r)
        return node if yes is node.yes and no is node.no else self.node(node.condition, yes, no)

    def irrelevant(self, node, r):
        if not isinstance(node, Node):
            return node
        yes, no = self.irrelevant(node.yes, r), self.irrelevant(node.no, r)
        if self.allowed(yes, no, r):
            return self.over(yes, no)
        return node if yes is node.yes and no is node.no else self.node(node.condition, yes, no)

    def _nephews(self, node):
        """(other child's side, side of the common tree in it) of decisions that can be one."""
        for side in (True, False):
            uncle, dad = (node.yes, node.no) if side else (node.no, node.yes)
            if not isinstance(dad, Node):
                continue
            for below in (True, False):
                nephew = dad.yes if below else dad.no
                if nephew.shape == uncle.shape:
                    yield side, below, uncle, dad, nephew

    def coalesce(self, node, r):
        """The first pair of decisions, from the root, that may be one; None where there is none."""
        if not isinstance(node, Node):
            return None
        for side, below, uncle, dad, nephew in self._nephews(node):
            if self.allowed(uncle, nephew, r):
                condition = self.either(node.condition, side, dad.condition, below)
                rest = dad.no if below else dad.yes
                return self.node(condition, self.over(uncle, nephew), rest)
        for side in (True, False):
            child = node.yes if side else node.no
            new = self.coalesce(child, r)
            if new is not None:
                yes, no = (new, node.no) if side else (node.yes, new)
                return self.node(node.condition, yes, no)
        return None

    def at(self, node, r):
        """All that is allowed at a resolution, to the end."""
        while True:
            before = node
            node = self.irrelevant(self.collapse(node, r), r)
            new = self.coalesce(node, r)
            while new is not None:
                node = new
                new = self.coalesce(node, r)
            if node is before:
                return node

    def thresholds(self, node):
        """The resolutions at which one merge or another of this tree is allowed."""
        found = set()
        stack = [node]
        while stack:
            one = stack.pop()
            if isinstance(one, Node):
                found.add(threshold(one.low, one.high, self.rule))
                if one.yes.shape == one.no.shape:
                    found.add(self.pair(one.yes, one.no))
                for *_, uncle, _, nephew in self._nephews(one):
                    found.add(self.pair(uncle, nephew))
                stack += [one.yes, one.no]
        return found

    def all(self, root):
        """[(resolution, tree)]: every interface there is, from the exact one to a single number."""
        tree = self.at(self.shaped(root), 1)
        found, r = [(1, tree)], 1
        while isinstance(tree, Node):
            # What is nearly exact is merged from resolution 2 on: 1 says every cost as it is.
            r = min(x for x in (max(t, 2) for t in self.thresholds(tree)) if x > r)
            new = self.at(tree, r)
            if new is not tree:
                found.append((r, new))
            tree = new
        return found

    def shaped(self, node):
        """A copy of a tree of anything with condition, yes, no, with this object's shapes."""
        if hasattr(node, "yes"):
            return self.node(node.condition, self.shaped(node.yes), self.shaped(node.no))
        return node


def leaves_of(node):
    """From left to right."""
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, Node):
            stack += [one.no, one.yes]
        else:
            yield one
