"""The module of an interface by steps: the rules of a net, and the loop that goes through them."""

import re

from ...errors import mistake
from ..closed_form import transition_text
from ..write import wrapped, wrapped_lines
from .formula import Gap, Writer, field, identifier

__all__ = ["write_steps"]

_WORDS = 2**63


def write_steps(header, net, rules, steps, facts):
    """The text. `facts`: model, parameters, clock, tokens, covered, conditions, done_count."""
    core = net._core
    types = [t for t in core.types if t.fields]
    for what, names in [
        ("parameters or types", [*net.params, *(t.name for t in types)]),
        *((f"fields of {t.name}", [f.name for f in t.fields]) for t in types),
    ]:
        written = field if what.startswith("fields") else identifier
        if len({written(name) for name in names}) < len(names):
            raise mistake("E-pi", f"two {what} have one name in Python; give them other names")
    lines = [
        "from collections import Counter, deque, namedtuple",
        "from heapq import heappop, heappush",
        "",
        f"CLOCK_PERIOD = {facts['clock']!r}  # nanoseconds per cycle",
        f"MODEL = {facts['model']!r}",
        wrapped(f"PARAMETERS = {facts['parameters']!r}", 4),
    ]
    if net.params:
        names = ", ".join(identifier(name) for name in net.params)
        names = f"({names})" if len(names) > 70 else names + "," * (len(net.params) == 1)
        lines.append(wrapped(f"{names} = PARAMETERS.values()", 4))
    lines += [
        "# How many tokens an input has in each place, and of all of them the ranges of their properties.",
        wrapped(f"TOKENS = {facts['tokens']!r}", 4),
        wrapped(f"COVERED = {facts['covered']!r}", 4),
        wrapped(f"CONDITIONS = {facts['conditions']!r}", 4),
        "",
    ]
    for t in types:
        fields = " ".join(field(f.name) for f in t.fields)
        lines.append(f'{identifier(t.name)} = namedtuple("{identifier(t.name)}", "{fields}")')
    ranges = [
        f"{identifier(t.name)}: {[tuple(f.range or (-_WORDS, _WORDS - 1)) for f in t.fields]!r}"
        for t in types
    ]
    lines.append(wrapped(f"RANGES = {{{', '.join(ranges)}}}", 4))
    places = _places(net, facts["tokens"])
    if any(step.writer.assumes for step in steps) or any("assume(" in line for line in places):
        lines += [_ASSUME, "", ""]
    lines += places
    lines.append(f"DONE_COUNT = {facts['done_count']}  # tokens of DONE that end a run")
    lines += ["", "", "# What a step costs and puts, of what it takes; None: it has to wait.", ""]
    for rule in rules:
        lines += _rule(rule)
    lines += [_STEP, "STEPS = ["]
    lines += [wrapped(_step(step) + ",", 8, 4) for step in steps]
    lines.append("]")
    return '"""' + wrapped_lines(header).strip() + '\n"""\n\n' + "\n".join(lines) + _TAIL


def _places(net, given):
    """What places are: which tokens they have at first, hold at most, must not keep."""
    core, start, types, rooms = net._core, {}, {}, {}
    for place in core.places:
        type, name = core.types[place.type], place.name
        if type.fields and name in given:
            types[name] = identifier(type.name)
        groups = [_initial(net, type, each) for each in place.initial]
        if groups:
            start[name] = " + ".join(groups)
        if place.capacity is not None:
            rooms[name] = _python(net, place.capacity[0])
    drain = [
        p.name
        for p in core.places
        if p.start or p.drain or p.capacity is not None and not (p.done or p.sink)
    ]
    done = [p.name for p in core.places if p.done] or None
    return [
        wrapped(f"TYPES = {{{', '.join(f'{n!r}: {t}' for n, t in types.items())}}}", 4),
        wrapped(f"FIRST = {{{', '.join(f'{n!r}: {t}' for n, t in start.items())}}}", 4),
        wrapped(f"CAPACITY = {{{', '.join(f'{n!r}: {t}' for n, t in rooms.items())}}}", 4),
        "# Places that must be empty at the end; those of results (None: any).",
        wrapped(f"DRAIN = {drain!r}", 4),
        wrapped(f"DONE = {done!r}", 4),
    ]


def _initial(net, type, group):
    count = "1" if group.count is None else _python(net, group.count[0])
    fields = ", ".join(_python(net, f[0]) for f in group.fields)
    if any(net._core.reads(f[0])["index"] for f in group.fields):
        return f"[{identifier(type.name)}({fields}) for index in range({count})]"
    token = f"{identifier(type.name)}({fields})" if type.fields else "()"
    if count == "1":
        return f"[{token}]"
    return f"[{token}] * {count if count.isalnum() else f'({count})'}"


def _python(net, formula):
    """A formula over parameters (and index) as Python."""
    parts = Writer(net, None, [], []).write(formula)
    return "".join(
        (identifier(p.value) if isinstance(p.value, str) else str(p.value))
        if isinstance(p, Gap)
        else p
        for p in parts
    )


def _rule(rule):
    others = len(rule.steps) - 1
    named = rule.steps[0].name + (f" and {others} more" if others else "")
    lines = [
        f"# {named}{_line(rule.steps[0])}",
        wrapped(f"def {rule.name}({', '.join(rule.params)}):", 8),
    ]
    if rule.when:
        several = len(rule.when) > 1
        tests = " and ".join(
            f"({t})" if several and re.search(r" (or|if) ", t) else t for t in rule.when
        )
        lines += [wrapped(f"if not ({tests}):", 8, 4), "        return None"]
    made = [rule.cost, *rule.made]
    if len(", ".join(made)) > 80:
        lines += ["    return (", *(wrapped(f"{each},", 12, 8) for each in made), "    )"]
    else:
        lines.append(f"    return {', '.join(made)}" + ("," if not rule.made else ""))
    return [*lines, "", ""]


def _line(step):
    """', dma.py:18' of where a transition is written, where that is known."""
    where = re.search(r" \((.*)\)$", transition_text(step.net, step.number))
    return f", {where[1]}" if where else ""


def _step(step):
    takes = [
        repr(name) if (taken, need) == (1, 1) else repr((name, taken, need))
        for name, taken, need in step.takes
    ]
    parts = [step.rule.name, f"[{', '.join(takes)}]", repr(step.puts)]
    if step.given:
        values = [identifier(v) if isinstance(v, str) else str(v) for v in step.given]
        parts.append(f"({', '.join(values)}{',' if len(values) == 1 else ''})")
    for name, value in (("counts", step.counts), ("empty", step.empty), ("some", step.some)):
        if value:
            parts.append(f"{name}={value!r}")
    for name, value in (("servers", step.servers), ("interval", step.interval)):
        if value is not None:
            parts.append(f"{name}={value}")
    if step.ordered:
        parts.append("ordered=True")
    if step.clock is not None:
        parts.append(f"clock=({step.clock}, {step.phase or 0})")
    return f"Step({', '.join(parts)})"


_ASSUME = """

def assume(condition, value, text):
    if not condition:
        raise NotImplementedError(f"the model does not hold: {text}")
    return value"""

_STEP = """# A step: its rule; the places that it takes a token from, or (place, taken, looked at); those it puts
# into; what else its rule is given. Without servers any number runs at once; clock: (period, phase);
# some: places of which the rule says how many tokens it takes.
Step = namedtuple(
    "Step",
    "rule takes puts given counts empty some servers interval ordered clock",
    defaults=((), (), (), (), None, 0, False, (1, 0)),
)"""

_TAIL = '''


def latency(x):
    """Cycles from the first clock to the last result of x, {place: [{property: value}, ...]}."""
    return sum(cycles for _, cycles in chain(x))


def throughput(x):
    """Inputs like this one per cycle, one after the other."""
    return 1 / (latency(x) or float("nan"))  # no pace without a cycle


def bottleneck(x):
    """The rule with the most cycles on the chain that decides, its waits included."""
    cycles = Counter()
    for name, more in chain(x):
        cycles[name] += more
    return max(cycles, key=cycles.get, default="nothing")


def chain(x):
    """[(rule, cycles)]: the steps that waited for each other, from the first clock to the last result."""
    place, held = need(x), Counter()  # place: (token, the end of the step that put it), in order
    steps = [step._replace(takes=[(t, 1, 1) if isinstance(t, str) else t for t in step.takes])
             for step in STEPS]
    under_way, last, made, starts, now = [], None, 0, 0, 0
    running, next_start, ended = [0] * len(steps), [0] * len(steps), [None] * len(steps)
    latest = [0] * len(steps)

    def edge(k, step):
        """When a step may start, by its interval and its clock."""
        period, phase = step.clock
        time = max(now, next_start[k])
        return time + (phase - time) % period

    def ready(k, step):
        """What a step that has all it needs costs and puts; else None."""
        if running[k] == step.servers:
            return None
        if any(len(place[p]) < need for p, _, need in step.takes):
            return None
        if any(place[p] or held[p] for p in step.empty):
            return None
        given = [place[p][0][0] if n == 1 else [place[p][i][0] for i in range(n)]
                 for p, _, n in step.takes]
        given += [len(place[p]) + (held[p] if what == "occupancy" else 0) for what, p in step.counts]
        return step.rule(*given, *step.given)

    while True:
        while under_way and under_way[0][0] == now:  # all that ends now, in the order of the steps
            _, k, _, put, taken, end = heappop(under_way)
            running[k], ended[k] = running[k] - 1, end
            held.subtract(taken)
            for name, tokens in zip(steps[k].puts, put):
                place[name].extend((token, end) for token in tokens)
                if tokens and (DONE is None or name in DONE):
                    made, last = made + len(tokens), end
            last = end if DONE is None else last
        k = 0
        while k < len(steps):  # then steps start, the first that can, until none can
            step, found = steps[k], ready(k, steps[k])
            if found is None or edge(k, step) > now:
                k += 1
                continue
            cost, *put = found
            numbers = [(p, number) for p, number, _ in step.takes]
            numbers += zip(step.some, put.pop()) if step.some else []
            for name, tokens in zip(step.puts, put):
                need_ranges(name, tokens)
            if cost < 0 or starts > 1_000_000:
                raise NotImplementedError("a cost below 0, or more than a million steps")
            taken = [(p, place[p].popleft()[1]) for p, number in numbers for _ in range(number)]
            causes = [end for _, end in taken] + [ended[k]] * (step.servers is not None)
            cause = max((e for e in causes if e), key=lambda end: end[1], default=None)
            taken = Counter(p for p, _ in taken)
            held.update(taken)
            due = max(now + cost * step.clock[0], latest[k] if step.ordered else 0)
            heappush(under_way, (due, k, starts, put, taken, (step.rule.__name__, due, cause)))
            starts, running[k], latest[k] = starts + 1, running[k] + 1, due
            next_start[k], k = now + step.interval * step.clock[0], 0
        if under_way and under_way[0][0] == now:
            continue
        if DONE_COUNT is not None and made >= DONE_COUNT:
            break
        times = [under_way[0][0]] if under_way else []
        times += [edge(k, step) for k, step in enumerate(steps) if ready(k, step)]
        if not times:
            left = [name for name in DRAIN if place[name] or held[name]]
            if left or DONE_COUNT is not None:
                raise NotImplementedError(f"the run stalls, with tokens left in {left}")
            break
        now = min(times)
    if last is None and DONE is not None:
        raise NotImplementedError("the run has no result")
    found = []
    while last:
        name, due, cause = last
        found.append((name, due - (cause[1] if cause else 0)))
        last = cause
    return found[::-1]


def need_ranges(name, tokens):
    for token in tokens:
        for value, (least, most) in zip(token, RANGES.get(type(token), ())):
            if not least <= value <= most:
                raise NotImplementedError(f"a token of {name} is out of its range: {token}")


def need(x):
    """{place: tokens at first}. Raises NotImplementedError unless x is like what it was made for."""
    unknown = [name for name in x if name not in TOKENS]
    if unknown:
        raise NotImplementedError(f"the interface knows no tokens in {', '.join(unknown)}")
    for name, (least, most) in TOKENS.items():
        rows = x.get(name, [])
        if not least <= len(rows) <= most:
            raise NotImplementedError(f"{name} must have {least}..{most} tokens, got {len(rows)}")
        for field, stretches in COVERED[name].items():
            ranges = [(low, high) for number, low, high in stretches for _ in range(number)]
            for k, (row, (low, high)) in enumerate(zip(rows, ranges)):
                if not low <= row[field] <= high:
                    raise NotImplementedError(
                        f"{name}[{k}].{field} must be {low}..{high}, got {row[field]}"
                    )
    names = [*FIRST, *x, *(p for s in STEPS for p in [*s.puts, *s.empty])]
    names += [t if isinstance(t, str) else t[0] for s in STEPS for t in s.takes]
    names += [p for s in STEPS for _, p in s.counts] + DRAIN
    place = {name: deque((token, None) for token in FIRST.get(name, ())) for name in names}
    for name, rows in x.items():
        fields, make = COVERED[name], TYPES.get(name)
        tokens = [make(*(row[field] for field in fields)) if make else () for row in rows]
        place[name].extend((token, None) for token in tokens)
    for name, most in CAPACITY.items():
        free = most - len(place.get(name, ()))
        if free < 0:
            raise NotImplementedError(f"{name} starts with more tokens than it holds")
        place[f"room in {name}"] = deque([((), None)] * free)
    return place
'''
