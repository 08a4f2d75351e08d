"""Reads a certificate: docs/certificates.md, "The file". What has another form is Refused."""

import itertools
import json
import re
from fractions import Fraction

MOST_CHARACTERS = 1 << 28
MOST_DIGITS = 40
MOST_DEPTH = 200
WORD, WIDEST = 1 << 63, 1 << 62
BRACKETS = {"[": 1, "{": 1, "]": -1, "}": -1}


class Refused(Exception):
    """It is no certificate, or does not prove its claim."""


class Unknown(Exception):
    """This checker cannot tell."""


def demand(condition, why):
    if not condition:
        raise Refused(why)


def load(path):
    with open(path, "rb") as file:
        return parse(file.read(4 * MOST_CHARACTERS + 1))


def parse(data):
    reading = {"parse_int": integer, "parse_float": none, "parse_constant": none}
    try:
        text = data.decode("utf-8")
        demand(len(text) <= MOST_CHARACTERS, "too long")
        marks = re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', text, re.DOTALL)
        levels = itertools.accumulate(BRACKETS.get(mark[0], 0) for mark in marks)
        demand(max(levels, default=0) <= MOST_DEPTH, "nested too deeply")
        data = json.loads(text, object_pairs_hook=members, **reading)
    except (ValueError, RecursionError) as error:
        raise Refused(f"no JSON: {error}") from None
    shape(data)
    return data


def members(pairs):
    demand(len(dict(pairs)) == len(pairs), "a name stands in one object twice")
    return dict(pairs)


def integer(text):
    demand(len(text) <= MOST_DIGITS, "a number of too many digits")
    return int(text)


def none(text):
    raise Refused(f"{text[:40]} is no whole number")


# ---- forms ----


def fits(value, form, what="it"):
    """Demands a form: a type, [what each of a list is], (what each part of a list is), {the members of an object; some
    with "?"}, or what a function demands.
    """
    if isinstance(form, type):
        demand(form is object or type(value) is form, f"{what} is no {form.__name__}")
    elif type(form) is list:
        fits(value, list, what)
        for each in value:
            fits(each, form[0], what)
    elif type(form) is tuple:
        fits(value, list, what)
        demand(len(value) == len(form), f"{what} is not of {len(form)} parts")
        for each, part in zip(value, form):
            fits(each, part, what)
    elif type(form) is dict:
        fits(value, dict, what)
        for name in form:
            demand(name.endswith("?") or name in value, f"{what} has no {name!r}")
        for name, each in value.items():
            known = name if name in form else f"{name}?"
            demand(known in form, f"{what} has {name[:40]!r}, which nobody knows")
            fits(each, form[known], repr(name))
    else:
        form(value, what)


def within(least=None, most=None):
    def whole_one(value, what):
        whole(value, what, least, most)

    return whole_one


def whole(value, what, least=None, most=None):
    demand(type(value) is int, f"{what} is no whole number")
    demand(least is None or value >= least, f"{what} is below {least}")
    demand(most is None or value <= most, f"{what} is above {most}")
    return value


def perhaps(form):
    """Or null."""
    return lambda value, what: value is None or fits(value, form, what)


def named(form):
    """An object of any names."""

    def named_so(value, what):
        fits(value, dict, what)
        fits(list(value.values()), [form], what)

    return named_so


def one_of(forms, key):
    """One of several forms, told apart by what `key` says of a value of the right type."""

    def told_apart(value, what):
        kind = key(value)
        demand(type(kind) in (str, frozenset) and kind in forms, f"no kind of {what}")
        fits(value, forms[kind], what)

    return told_apart


def number(value, what="what is proved"):
    if type(value) is int:
        return Fraction(value)
    written = type(value) is str and re.fullmatch(r"-?\d{1,40}(/\d{1,40})?", value, re.ASCII)
    demand(written, f"{what} is no number")
    demand(not written[1] or int(written[1][1:]), f"{what} is divided by 0")
    return Fraction(value)


def written(pattern):
    def written_so(value, what):
        fits(value, str, what)
        demand(re.fullmatch(pattern, value, re.ASCII), f"{what} has other characters, or too many")

    return written_so


def node(value, what):
    fits(value, list, what)
    demand(value and type(value[0]) is str, "no node")


def instant(value, what):
    node(value, what)
    arcs = {"max": len(value) - 1, "gate": 3, "edge": 1}.get(value[0])
    demand(arcs is not None, "no instant")
    more = (within(1, WORD), word) if value[0] == "edge" else ()
    fits(value, (str, *[(AT, AT)] * arcs, *more), "an instant")


word = within(-WORD, WORD - 1)
printable, variable = written(r'[ !"$-~]{1,10000}'), written(r"[\w.\[\]]{1,1000}")
COUNT, AT, HALF = within(0, 2**32 - 1), within(0), within(1 - WIDEST, WIDEST - 1)
SPACE = {
    "format": within(1, 1), "net": str,
    "variables": [(variable, within(-WIDEST, WIDEST), within(-WIDEST, WIDEST))], "nodes": [node],
    "params": named(AT), "fixed": named(word), "constraints": [AT],
    "tokens": [{"place": str, "properties": [str], "rows": [[AT]], "count": perhaps(AT), "at?": [AT]}],
    "terms?": {"E?": AT}, "done_count?": within(0, WORD - 1),
}  # fmt: skip
CHAIN = (word, [COUNT])
WEIGHED = {"multipliers": [word], "budget?": COUNT, "quantum?": word}
PART = {
    **WEIGHED, "instant": COUNT, "weight": word, "tolls?": [(COUNT, *CHAIN)], "behind?": COUNT,
}  # fmt: skip
STEP = one_of({
    "split": {"kind": str, "unit": COUNT, "tuple": COUNT},
    "no input": {"kind": str, "multipliers": [word], "denominator?": word},
    "point": {"kind": str},
    "relaxation": {"kind": str, **WEIGHED, "denominator": word, "parts?": [PART], "chains?": [CHAIN]},
    "solver": {"kind": str, "threshold": word, "smtlib": str},
}, lambda value: type(value) is dict and value.get("kind"))  # fmt: skip
PROBLEM = {
    "conditions": [AT], "fault?": AT, "orders": [(AT, AT, bool)], "instants": [perhaps(instant)],
    "target": [(word, AT)], "constant": word, "units": [[AT]], "limits": [(AT, bool)],
}  # fmt: skip
CLAIM = one_of({
    frozenset(form): form for form in (
        {"property": printable}, {"largest": printable, "proved": number}, {"least": printable, "proved": number},
    )
}, lambda value: type(value) is dict and frozenset(value))  # fmt: skip
REACHED = {"atom": list, "zones": COUNT, "values": within(0, WIDEST - 1), "enough": perhaps(HALF)}
SETTINGS = dict.fromkeys(("max_paths", "max_firings", "question_seconds", "enumerate"), int)
PATH = {"path": AT, "bound": word, "steps": [STEP]}
# Ways to prove a claim: its settings, and what bounds have. With `terms` paths have problems.
WAYS = {
    "tried": ({"inputs": int}, {}),
    "states": ({"most": within(1, 1_000_000)}, {"reached": [REACHED]}),
    "partition": (
        {**SETTINGS, "seed": within(0, WORD - 1)},
        {"paths": int, "certificates": [PATH], "offset?": object, "maximum?": object},
    ),
}
TOLD = {
    "paths": int, "certificates": [{**PATH, "problem": PROBLEM}], "offset": int, "maximum": bool,
}  # fmt: skip


def shape(data):
    fits(data, dict)
    way = next((way for way in WAYS if way in data), "partition")
    settings, bound = WAYS[way]
    told = way == "partition" and "terms" in data
    form = {
        "lpn certificate": within(1, 1),
        "claim": CLAIM,
        "stalls": perhaps(bool) if way == "states" else bool,
        "net": str,
        "space": SPACE,
        "interface denominator": within(1),
        way: settings,
        "bounds": [{"most": int, "form?": list, **(TOLD if told else bound)}],
        "witness": perhaps(named(int)),
    }
    fits(data, {**form, "terms": [node]} if told else form)
    for each in data["bounds"] if told else ():
        numbers = sorted(path["path"] for path in each["certificates"])
        one_each = len(numbers) == each["paths"] and numbers == list(range(len(numbers)))
        demand(one_each, "not every path has one bound")
