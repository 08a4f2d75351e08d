"""Paths of input classes as SMT-LIB 2: variables, conditions, and every instant up to the
latency.
"""

import re

import _lpn
from ..spaces.nodes import kids as kids_of

__all__ = ["path_text"]


def _symbol(name):
    return name if re.fullmatch(r"[A-Za-z_][\w.]*", name) else f"|{name}|"


def _number(value):
    return str(value) if value >= 0 else f"(- {-value})"


class _Writer:
    def __init__(self, space, core):
        self.core = core
        self.names = [_symbol(v.name) for v in space.variables]
        self.done = {}
        self.lines = []

    def term(self, number):
        """The symbol or literal of a term; what it is made of is defined before."""
        pending = [number]
        while pending:
            top = pending[-1]
            if top in self.done:
                pending.pop()
                continue
            made_by, *given = self.core.node(top)
            missing = [k for k in kids_of(made_by, given) if k not in self.done]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            self.done[top] = self.named(top, made_by, given)
        return self.done[number]

    def named(self, number, made_by, given):
        if made_by == "constant":
            return _number(given[0])
        if made_by == "boolean":
            return "true" if given[0] else "false"
        if made_by == "param":
            return self.names[given[0]]
        name = f"e{number}"
        kind = "Bool" if self.core.is_bool(number) else "Int"
        self.lines.append(f"(define-fun {name} () {kind} {self.formula(made_by, given)})")
        return name

    def formula(self, made_by, given):
        kids = [self.done[k] for k in kids_of(made_by, given)]
        if made_by == "lookup":
            text = _number(given[0][-1])
            for index in range(len(given[0]) - 2, -1, -1):
                text = f"(ite (= {kids[0]} {index}) {_number(given[0][index])} {text})"
            return text
        return _lpn.OPERATORS[made_by].smt.format(*kids)


def path_text(partition, each, path):
    """One path as SMT-LIB 2, satisfiable exactly by its inputs; `latency` is a function of them.

    Formulas are taken to have values: divisors positive, tables not left, nothing beyond 64 bits,
    as holds for inputs that do not fail.
    """
    space, core = partition.space, partition.core.variables
    writer = _Writer(space, core)
    head = [
        f"; net {space.net.name}: inputs that make "
        + ", ".join(f"{n} {name}" for name, n in each.commits.items()),
        "(set-logic ALL)",
    ]
    for name, v in zip(writer.names, space.variables):
        head.append(f"(declare-const {name} Int)")
        head.append(f"(assert (and (<= {_number(v.lo)} {name}) (<= {name} {_number(v.hi)})))")
    for condition in [c._id for c in space._constraints] + list(path._core.conditions):
        symbol = writer.term(condition)
        writer.lines.append(f"(assert {symbol})")
    orders = path._core.orders
    wanted = {instant for before, after, _ in orders for instant in (before, after)}
    if path.outcome == "latency":
        wanted.add(path._core.latency)
    needed, pending = set(), list(wanted)
    while pending:
        instant = pending.pop()
        if instant == 0 or instant in needed:
            continue
        needed.add(instant)
        pending += [before for before, _ in path._core.instant(instant)[1]]
    for instant in sorted(needed):
        writer.lines.append(
            f"(define-fun t{instant} () Int {_instant(writer, *path._core.instant(instant))})"
        )
    for before, after, strict in orders:
        writer.lines.append(f"(assert ({'<' if strict else '<='} {_time(before)} {_time(after)}))")
    if path.outcome == "latency":
        writer.lines.append(f"(define-fun latency () Int {_time(path._core.latency)})")
    return "\n".join([*head, *writer.lines, "(check-sat)"]) + "\n"


def _time(instant):
    return f"t{instant}" if instant else "0"


def _instant(writer, kind, after, period, phase):
    arcs = []
    for before, delay in after:
        delay = writer.term(delay)
        arcs.append(
            _time(before)
            if delay == "0"
            else delay
            if before == 0
            else f"(+ {_time(before)} {delay})"
        )
    if kind == "gate":
        start, closes, opens = arcs
        return f"(ite (< {start} {closes}) {start} (ite (> {start} {opens}) {start} {opens}))"
    if kind == "edge":
        return f"(+ {phase} (* {period} (- (div (- (- {arcs[0]} {phase})) {period}))))"
    # As nested choices: one operand after the other.
    text = "0"
    for arc in arcs:
        text = (
            arc
            if text == "0"
            else f"(let ((|so far| {text}) (|this one| {arc})) (ite (> |so far| |this one|) |so far| |this one|))"
        )
    return text
