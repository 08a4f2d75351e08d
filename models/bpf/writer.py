"""Interfaces as text: a Python module that needs nothing else."""

import inspect

from . import layout, runtime
from . import terms as t
from .layout import Context
from .names import Names, _identifier

_COMPOUND = {
    "ite", "any", "all", "add", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "urem",
    "sdiv", "srem", "eq", "ult", "slt", "cat", "cut", "sext", "neg",
}  # fmt: skip
METRIC_TEXT = {
    "insns": "executed eBPF instructions (helper bodies not included)",
    "mem": "memory accesses of the program (of helper bodies not included)",
    "cycles": "cycles by the cost table {table}",
}


def metric_text(interface, metric):
    """What a metric counts."""
    table = interface.prices.name if interface.prices else None
    return METRIC_TEXT[metric].format(table=table)


def write(interface, metric="insns", tree=None, resolution=1, rule="half"):
    """The module's text. `tree`: a merged tree (merge.Leaf, Node); without it every class."""
    w = _Writer(interface, metric)
    body = w.body(tree)
    pcv = ", pcv=()" if w.variables else ""
    given = ", pcv" if w.variables else ""
    return "\n".join(
        [
            *header(interface, metric, resolution, rule),
            "",
            "",
            f"PROGRAM = {interface.function.name!r}",
            f"SHA256 = {interface.program.sha256!r}",
            "",
            "",
            *_variables(w),
            f"def perf(packet, ctx=(), maps=(), env=(), data=(){pcv}):",
            f'    """What a packet costs: {metric_text(interface, metric)}.',
            "",
            "    `packet`: its bytes. `ctx`: {field of xdp_md: number}. `maps`: {map: {key bytes: value",
            "    bytes}} before the packet. `env`: answers of helpers. `data`: {section: bytes}.",
            *(["    `pcv`: {name of VARIABLES: number}, else 0."] if pcv else []),
            '    """',
            f"    return _answer(packet, ctx, maps, env, data{given})[0]",
            "",
            "",
            f"def bounds(packet, ctx=(), maps=(), env=(), data=(){pcv}):",
            '    """(least, most) of the packets that the interface does not tell apart from this one."""',
            f"    return _answer(packet, ctx, maps, env, data{given})[1:3]",
            "",
            "",
            "def verdict(packet, ctx=(), maps=(), env=(), data=()):",
            '    """XDP_PASS and so on; of merged classes None."""',
            "    return _answer(packet, ctx, maps, env, data)[3]",
            "",
            "",
            "def class_of(packet, ctx=(), maps=(), env=(), data=()):",
            '    """The name of the packet\'s class."""',
            "    return _answer(packet, ctx, maps, env, data)[4]",
            "",
            "",
            f"def _decide({', '.join(w.arguments)}):",
            "    # (cost, least, most, verdict, class)",
            *("    " + line if line else "" for line in body),
            "",
            "",
            *_answer(interface, w),
            _runtime(),
        ]
    )


def _variables(w):
    """What the performance-critical variables are, in a text that has some."""
    if not w.variables:
        return []
    return [
        "# Performance-critical variables: what the cost table prices beside a helper's base.",
        f"VARIABLES = {tuple(sorted(w.variables))!r}",
        "",
        "",
    ]


def header(interface, metric, resolution, rule):
    program = interface.program
    maps = "; ".join(
        f"{m.name} ({m.kind}, key {m.key_type or str(m.key_size) + ' bytes'}, value"
        f" {m.value_type or str(m.value_size) + ' bytes'}, {m.max_entries} entries)"
        for m in program.maps.values()
    )
    promise = f"no packet is off by more than {resolution}" if resolution > 1 else "exact"
    if rule == "full" and resolution > 1:
        promise = f"least and most of a class differ by less than {resolution}"
    if interface.explored.joined:
        promise = f"no packet is off by more than {resolution}" if resolution > 1 else "exact"
        if not interface.explored.complete:
            promise += ", intervals where time was over"
    name = program.path.rsplit("/", 1)[-1]
    return [
        f"# program: {interface.function.name} (section {interface.function.section}), {name}",
        f"# sha256: {program.sha256}",
        f"# metric: {metric_text(interface, metric)}",
        *(
            f"# cost table: {about}"
            for about in (interface.prices.about if metric == "cycles" else ())
        ),
        f"# resolution: {resolution}: {promise}",
        f"# maps: {maps or 'none'}",
        f"# classes: every packet and map state is in exactly one, {interface.partition}",
        *(f"# assumption: {a}" for a in interface.assumptions),
    ]


def _answer(interface, w):
    maps = [n for n, i in w.map_names.items()]
    given = ["pkt", "ctx", "env", "data", *(f"tables[{n!r}]" for n in maps)]
    given = ", ".join([*given, *(["pcv"] if w.variables else [])])
    lines = ["MAPS = {"]
    for name in maps:
        lines.append(f"    {name!r}: {_shape(interface.program.maps[name])},")
    return [
        *lines,
        "}",
        "",
        "",
        f"def _answer(packet, ctx, maps, env, data{', pcv=()' if w.variables else ''}):",
        *(
            [
                "    pcv = {**dict.fromkeys(VARIABLES, 0), **dict(pcv)}",
                "    for name in pcv:",
                "        if name not in VARIABLES:",
                "            raise KeyError(f'no variable {name!r}; there are {VARIABLES}')",
            ]
            if w.variables
            else []
        ),
        "    pkt, ctx, env = Packet(packet), Fields(ctx), Env(env)",
        "    given, tables = dict(maps), {}",
        "    for name, shape in MAPS.items():",
        "        tables[name] = _table(shape, given.get(name, {}))",
        "    data = {name: Value(content) for name, content in {**DATA, **dict(data)}.items()}",
        f"    return _decide({given})",
        "",
        "",
        "def _table(shape, entries):",
        "    if isinstance(entries, Map):",
        "        return entries",
        "    *numbers, inner = shape",
        "    if inner:",
        "        entries = {key: _table(inner, each) for key, each in dict(entries).items()}",
        "    return Map(*numbers, entries)",
        "",
        "",
        "DATA = {",
        *(
            f"    {name!r}: bytes.fromhex({d.content.hex()!r}),"
            for name, d in interface.program.data.items()
            if name in w.data_used
        ),
        "}",
        "",
        "",
    ]


def _shape(one):
    members = [m for m in one.value_fields]
    inner = _shape(one.inner) if one.inner else None
    return (
        f"({one.kind!r}, {one.key_size}, {one.value_size}, {one.max_entries}, {members!r}, {inner})"
    )


def _runtime():
    text = inspect.getsource(runtime).split("# -- from here on it is copied --\n")[1]
    return f"FIELDS = {layout.FIELDS!r}\nBITS = {layout.BITS!r}\n\n\n{text}"


class _Writer:
    def __init__(self, interface, metric):
        self.interface, self.metric = interface, metric
        used, self.data_used = set(), set()
        for one in interface.classes:
            terms = [*one.conditions, *(c for c, _ in one.verdicts)]
            terms += _choice_terms(one.cost)
            for term in terms:
                for leaf in t.leaves(term):
                    if leaf.op in ("has", "val"):
                        used.add(leaf.args[0].removesuffix("[]"))
                    elif leaf.op == "symbol" and leaf.args[0].startswith("free "):
                        used.add(leaf.args[0][5:].removesuffix("[]"))
        self.data_used = {n for n in used if n.startswith(".")}
        self.map_names = {n: _identifier(n) for n in interface.program.maps if n in used}
        self.variables = set()
        if metric == "cycles":
            for one in interface.classes:
                self.variables |= _variables_of(one.cost)
        self.arguments = ["pkt", "ctx", "env", "data", *self.map_names.values()]
        if self.variables:
            self.arguments.append("pcv")

    def body(self, tree):
        if self.interface.tree is None:
            return self.flat()
        tree = self.interface.tree if tree is None else tree
        return self.node(tree, [])

    # Trees

    def node(self, node, facts):
        """Lines for a tree: what ends soon comes first, so that nothing is nested deeper than
        needed.
        """
        names, out = self.interface.names, []
        while hasattr(node, "yes"):
            yes, no, c = node.yes, node.no, node.condition
            context = Context(facts)
            if _depth(yes) <= _depth(no):
                first, rest, holds = yes, no, True
            else:
                first, rest, holds = no, yes, False
            asked = c if holds else t.not_(c)
            out.append(f"if {names.condition(asked, context)}:")
            out += ["    " + line for line in self.node(first, [*facts, (c, holds)])]
            facts = [*facts, (c, not holds)]
            node = rest
        return [*out, *self.leaf(node, facts)]

    def leaf(self, one, facts):
        names = self.interface.names
        if not hasattr(one, "verdicts"):  # merged classes
            value = (one.low + one.high) // 2
            note = f"  # {one.low}..{one.high}" if one.low < one.high else ""
            costs = self.sums((value, one.low, one.high), one.terms)
            return [f"return {costs}, {one.verdict!r}, {one.name!r}{note}"]
        low, high = one.bounds[self.metric]
        verdict = repr(one.verdicts[-1][1])
        for condition, name in reversed(one.verdicts[:-1]):
            verdict = f"{name!r} if {names.condition(condition, Context(facts))} else {verdict}"
        variables = one.cost.variables if self.variables else {}
        costs = self.sums(((low + high) // 2, low, high), variables)
        return [f"return {costs}, {verdict}, {one.name!r}"]

    def sums(self, numbers, variables):
        """Costs, each with what the variables add, as text."""
        more = "".join(f" + {each} * pcv[{name!r}]" for name, each in sorted(variables.items()))
        return ", ".join(f"{number}{more}" for number in numbers)

    # Joined paths

    def flat(self):
        """Lines for classes of joined paths: shared terms get names, costs are sums."""
        classes = self.interface.classes
        roots = []
        for one in classes:
            roots += [*one.conditions, *(c for c, _ in one.verdicts), *_choice_terms(one.cost)]
        lets = _shared(roots)
        program = self.interface.program
        names = Names(program.maps, program.data, {})
        out = []
        for k, term in enumerate(lets):
            text = names.condition(term, Context()) if term.width == 0 else names.number(term)
            out.append(f"x{k + 1} = {text}")
            names.let[term.number] = f"x{k + 1}"
        for one in classes:
            condition = " and ".join(names.condition(c) for c in one.conditions) or "True"
            out.append(f"if {condition}:")
            out += ["    " + line for line in self.sum(one, names)]
        out.append("raise AssertionError('no class')")
        return out

    def sum(self, one, names):
        low, high = one.bounds[self.metric]
        out = [f"cost = {self.constant(one.cost)}"]
        out += [f"cost += {self.choice(c, names)}" for c in one.cost.choices if self.matters(c)]
        if one.rest is not None:
            out = [f"cost = {(low + high) // 2}  # what was left when time was over: {low}..{high}"]
            return [*out, f"return cost, {low}, {high}, None, {one.name!r}"]
        verdict = repr(one.verdicts[-1][1])
        for condition, name in reversed(one.verdicts[:-1]):
            verdict = f"{name!r} if {names.condition(condition)} else {verdict}"
        span = f"cost - {one.off}, cost + {one.off}" if one.off else "cost, cost"
        return [*out, f"return cost, {span}, {verdict}, {one.name!r}"]

    def constant(self, cost):
        """What a cost is without its choices, as text."""
        return self.sums((cost.of(self.metric),), cost.variables if self.variables else {})

    def matters(self, choice):
        sides = choice[1:]
        if any(each.bounds(self.metric) != (0, 0) for each in sides):
            return True
        return bool(self.variables) and any(_variables_of(each) for each in sides)

    def cost(self, cost, names):
        texts = [self.choice(c, names) for c in cost.choices if self.matters(c)]
        constant = self.constant(cost)
        return " + ".join([*([constant] if constant != "0" or not texts else []), *texts])

    def choice(self, choice, names):
        when, a, b = choice
        return f"({self.cost(a, names)} if {names.condition(when)} else {self.cost(b, names)})"


def _depth(node):
    """How deep a tree nests at least when it is written."""
    if not hasattr(node, "yes"):
        return 0
    a, b = sorted((_depth(node.yes), _depth(node.no)))
    return max(a + 1, b)


def _variables_of(cost):
    """Names of the variables of a cost and its choices."""
    found = set(cost.variables)
    for _, a, b in cost.choices:
        found |= _variables_of(a) | _variables_of(b)
    return found


def _choice_terms(cost):
    out = []
    for when, a, b in cost.choices:
        out += [when, *_choice_terms(a), *_choice_terms(b)]
    return out


def _shared(roots):
    """Terms that are used more than once and are more than a field, those needed first in front."""
    uses, seen, stack = {}, {}, list(roots)
    for r in roots:
        uses[r.number] = uses.get(r.number, 0) + 1
    while stack:
        one = stack.pop()
        if one.number in seen:
            continue
        seen[one.number] = one
        for a in one.args:
            if isinstance(a, t.Term):
                uses[a.number] = uses.get(a.number, 0) + 1
                stack.append(a)
    depth = {}
    for number in sorted(seen):
        one = seen[number]
        below = [depth[a.number] for a in one.args if isinstance(a, t.Term)]
        depth[number] = 1 + max(below, default=0)
    out = []
    for number in sorted(seen):
        one = seen[number]
        plain = one.op == "cat" and all(p.op in ("const", "pkt", "val") for p in one.args)
        if one.op in _COMPOUND and not plain and (uses[number] > 1 or depth[number] % 12 == 0):
            if depth[number] > 2:
                out.append(one)
    return out
