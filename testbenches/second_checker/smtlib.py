"""The bound of a path as a question for any solver: SMT-LIB 2, to be unsatisfiable.

It asks for values of the variables that keep the space's constraints and the path's conditions and orders, and
have the target beyond the bound. Where a term could not be computed it has some value here, and a fault is
not asked for, so there may be more answers than inputs, never fewer.
"""

import subprocess

from document import Refused, Unknown

MADE = {
    "neg": "(- {0})", "abs": "(abs {0})", "bit_not": "(- (- {0}) 1)", "add": "(+ {0} {1})",
    "sub": "(- {0} {1})", "mul": "(* {0} {1})", "floor_div": "(div {0} {1})",
    "ceil_div": "(- (div (- {0}) {1}))", "mod": "(mod {0} {1})",
    "min": "(ite (< {0} {1}) {0} {1})", "max": "(ite (> {0} {1}) {0} {1})", "eq": "(= {0} {1})",
    "ne": "(distinct {0} {1})", "lt": "(< {0} {1})", "le": "(<= {0} {1})", "logical_not": "(not {0})",
    "logical_and": "(and {0} {1})", "logical_or": "(or {0} {1})", "select": "(ite {0} {1} {2})",
    "assume": "{1}",
}  # fmt: skip


def number(n):
    return str(n) if n >= 0 else f"(- {-n})"


def defined(terms, name, wanted, lines):
    """Lines that define these nodes, called name and number."""
    for k in terms.program(wanted):
        node = terms.nodes[k]
        kids = [f"{name}{kid}" for kid in terms.operands[k]]
        if node[0] == "constant":
            text = number(node[1])
        elif node[0] == "boolean":
            text = "true" if node[1] else "false"
        elif node[0] == "param":
            text = f"x{node[1]}"
        elif node[0] == "lookup":
            text = number(node[1][-1])
            for index in range(len(node[1]) - 2, -1, -1):
                text = f"(ite (= {kids[0]} {index}) {number(node[1][index])} {text})"
        elif node[0] in MADE:
            text = MADE[node[0]].format(*kids)
        else:
            raise Unknown(f"{node[0]} is not asked of solvers")
        kind = "Bool" if terms.kinds[k] else "Int"
        lines.append(f"(define-fun {name}{k} () {kind} {text})")


def largest(arcs):
    text = "0"
    for k, arc in enumerate(arcs):
        text = arc if k == 0 else f"(let ((a {text}) (b {arc})) (ite (> a b) a b))"
    return text


def instant(node):
    arcs = [f"(+ t{before} d{delay})" for before, delay in node[1]]
    if node[0] == "max":
        return largest(arcs)
    if node[0] == "gate":
        return f"(ite (< {arcs[0]} {arcs[1]}) {arcs[0]} {largest([arcs[0], arcs[2]])})"
    period, phase = node[2:]
    return f"(+ {number(phase)} (* {period} (- (div (- {number(phase)} {arcs[0]}) {period}))))"


def question(problem, maximum, bound):
    space, terms = problem.space, problem.terms
    lines = ["(set-logic ALL)"]
    for k, (_, lo, hi) in enumerate(space.variables):
        lines.append(f"(declare-const x{k} Int)")
        lines.append(f"(assert (and (<= {number(lo)} x{k}) (<= x{k} {number(hi)})))")
    defined(space.terms, "c", space.constraints, lines)
    lines += [f"(assert c{k})" for k in space.constraints]
    delays = [arc[1] for node in problem.instants if node for arc in node[1]]
    defined(terms, "d", problem.conditions + delays, lines)
    lines += [f"(assert d{k})" for k in problem.conditions]
    lines.append("(define-fun t0 () Int 0)")
    for v, node in enumerate(problem.instants):
        if node is not None:
            # A name of its own, not a definition: what solvers put in its place grows.
            lines.append(f"(declare-const t{v} Int)")
            lines.append(f"(assert (= t{v} {instant(node)}))")
            lines += [f"(assert (<= 0 d{delay}))" for _, delay in node[1]]
    for before, after, strict in problem.orders:
        lines.append(f"(assert ({'<' if strict else '<='} t{before} t{after}))")
    target = [number(problem.constant)]
    target += [f"(* {number(weight)} t{v})" for v, weight in problem.target.items()]
    lines.append(f"(assert ({'>' if maximum else '<'} (+ 0 {' '.join(target)}) {number(bound)}))")
    return "\n".join([*lines, "(check-sat)", ""])


def ask(text, seconds, program="cvc5"):
    """Raises Refused when there is an answer, Unknown when it cannot be told. cvc5 checks its own proof."""
    command = [program, "--lang=smt2", f"--tlimit={int(1000 * seconds)}", "--check-proofs", "-"]
    try:
        ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unknown(f"{program}: {error}") from None
    said = ran.stdout.split()
    if said[:1] == ["sat"]:
        raise Refused(f"{program} finds an input beyond the bound")
    if said != ["unsat"] or ran.returncode:
        raise Unknown(f"{program} says {(ran.stdout + ran.stderr).strip()[:100] or 'nothing'}")
