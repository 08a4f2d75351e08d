"""Reads a certificate: docs/certificates.md, "The file". What has another form is Refused."""

import json
import re
from fractions import Fraction

MOST_CHARACTERS = 1 << 28
MOST_DIGITS = 40
MOST_DEPTH = 200
WORD, WIDEST = 1 << 63, 1 << 62


class Refused(Exception):
    """It is no certificate, or does not prove its claim."""


class Unknown(Exception):
    """This checker cannot tell."""


def load(path):
    with open(path, "rb") as file:
        data = file.read(4 * MOST_CHARACTERS + 1)
    return parse(data)


def parse(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"no UTF-8: {error}") from None
    if len(text) > MOST_CHARACTERS:
        raise Refused("too long")
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text, re.DOTALL):
        if match[0] in "[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise Refused("nested too deeply")
        elif match[0] in "]}":
            depth -= 1
    try:
        data = json.loads(
            text,
            object_pairs_hook=members,
            parse_int=integer,
            parse_float=none,
            parse_constant=none,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(f"no JSON: {error}") from None
    shape(data)
    return data


def members(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("a name stands in one object twice")
    return found


def integer(text):
    if len(text) > MOST_DIGITS:
        raise Refused("a number of too many digits")
    return int(text)


def none(text):
    raise Refused(f"{text[:40]} is no whole number")


def demand(condition, why):
    if not condition:
        raise Refused(why)


def whole(value, what, least=None, most=None):
    demand(type(value) is int, f"{what} is no whole number")
    demand(least is None or value >= least, f"{what} is below {least}")
    demand(most is None or value <= most, f"{what} is above {most}")
    return value


def word(value, what):
    return whole(value, what, -WORD, WORD - 1)


def number(value):
    if type(value) is int:
        return Fraction(value)
    demand(
        type(value) is str and re.fullmatch(r"-?[0-9]{1,40}(/[0-9]{1,40})?", value, re.ASCII),
        "what is proved is no number",
    )
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise Refused("what is proved is divided by 0") from None


def truth(value, what):
    demand(type(value) is bool, f"{what} is neither true nor false")


def text_of(value, what):
    demand(type(value) is str, f"{what} is no text")
    return value


def words(value, what):
    fits(value, [word], what)


def claimed(value, what):
    clear = re.fullmatch(r'[ !"$-~]{1,10000}', text_of(value, what), re.ASCII)
    demand(clear, f"{what} is not printable")


def proper(value, what):
    return number(value)


def within(least=None, most=None):
    return lambda value, what: whole(value, what, least, most)


def perhaps(form):
    """Or null."""
    return lambda value, what: value is None or fits(value, form, what)


def named(form):
    """An object of any names."""

    def named_so(value, what):
        demand(type(value) is dict, f"{what} is no object")
        for each in value.values():
            fits(each, form, what)

    return named_so


def fits(value, form, what="it"):
    """Demands a form: [each of a list], (the entries of a list), {the members of an object; some with "?"}, or what
    a function demands.
    """
    if type(form) is list:
        demand(type(value) is list, f"{what} is no list")
        for each in value:
            fits(each, form[0], what)
    elif type(form) is tuple:
        demand(
            type(value) is list and len(value) == len(form), f"{what} is not of {len(form)} parts"
        )
        for each, part in zip(value, form):
            fits(each, part, what)
    elif type(form) is dict:
        demand(type(value) is dict, f"{what} is no object")
        names = {name.rstrip("?"): (part, name.endswith("?")) for name, part in form.items()}
        for name, (_, left_out) in names.items():
            demand(left_out or name in value, f"{what} has no {name!r}")
        for name, each in value.items():
            demand(name in names, f"{what} has {name[:40]!r}, which nobody knows")
            fits(each, names[name][0], f"{name!r}")
    else:
        form(value, what)


def anything(value, what):
    pass


def an_object(value, what):
    demand(type(value) is dict, f"{what} is no object")


def node(value, what):
    demand(type(value) is list and value and type(value[0]) is str, "no node")


def a_list(value, what):
    demand(type(value) is list, f"{what} is no list")


COUNT, AT, HALF = within(0, 2**32 - 1), within(0), within(1 - 2**62, 2**62 - 1)
SPACE = {
    "format": within(1, 1), "net": text_of,
    "variables": [(text_of, within(-WIDEST, WIDEST), within(-WIDEST, WIDEST))], "nodes": [node],
    "params": named(AT), "fixed": named(word), "constraints": [AT],
    "tokens": [{"place": text_of, "properties": [text_of], "rows": [[AT]], "count": perhaps(AT), "at?": [AT]}],
    "terms?": {"E?": AT}, "done_count?": within(0, WORD - 1),
}  # fmt: skip
CHAIN = (word, [COUNT])
PART = {
    "instant": COUNT, "weight": word, "multipliers": [word], "budget?": COUNT, "quantum?": word,
    "tolls?": [(COUNT, *CHAIN)], "behind?": COUNT,
}  # fmt: skip
STEPS = {
    "split": {"unit": COUNT, "tuple": COUNT},
    "no input": {"multipliers": [word], "denominator?": word},
    "point": {},
    "relaxation": {"denominator": word, "multipliers": [word], "budget?": COUNT, "quantum?": word,
                   "parts?": [PART], "chains?": [CHAIN]},
    "solver": {"threshold": word, "smtlib": text_of},
}  # fmt: skip
ARC = (AT, AT)
INSTANTS = {
    "gate": (text_of, ARC, ARC, ARC),
    "edge": (text_of, ARC, within(1, WORD), within(-WORD, WORD)),
}


def step(value, what):
    kind = value.get("kind") if type(value) is dict else None
    demand(type(kind) is str and kind in STEPS, "no kind of step")
    fits(value, {"kind": text_of, **STEPS[kind]}, "a step")


def instant(value, what):
    node(value, what)
    demand(value[0] in ("max", *INSTANTS), "no instant")
    fits(value, INSTANTS.get(value[0], (text_of, *(ARC for _ in value[1:]))), "an instant")


PROBLEM = {
    "conditions": [AT], "fault?": AT, "orders": [(AT, AT, truth)], "instants": [perhaps(instant)],
    "target": [(word, AT)], "constant": word, "units": [[AT]], "limits": [(AT, truth)],
}  # fmt: skip
REACHED = {
    "atom": a_list,
    "zones": COUNT,
    "values": within(0, 2**62 - 1),
    "enough": perhaps(HALF),
}
SETTINGS = {name: whole for name in ("max_paths", "max_firings", "question_seconds", "enumerate")}
WAYS = {
    "tried": {"inputs": whole},
    "states": {"most": within(1, 1_000_000)},
    "partition": {**SETTINGS, "seed": within(0, WORD - 1)},
}


def shape(data):
    an_object(data, "it")
    way = next((way for way in WAYS if way in data), "partition")
    told = way == "partition" and "terms" in data
    path = {"path": AT, "bound": word, "steps": [step], **({"problem": PROBLEM} if told else {})}
    more = (
        {"offset": whole, "maximum": truth} if told else {"offset?": anything, "maximum?": anything}
    )
    bound = {
        "tried": {},
        "states": {"reached": [REACHED]},
        "partition": {"paths": whole, "certificates": [path], **more},
    }[way]
    form = {
        "lpn certificate": within(1, 1),
        "claim": an_object,
        "stalls": perhaps(truth) if way == "states" else truth,
        "net": text_of,
        "space": SPACE,
        "interface denominator": within(1),
        way: WAYS[way],
        "bounds": [{"most": whole, "form?": a_list, **bound}],
        "witness": perhaps(named(whole)),
    }
    fits(data, {**form, "terms?": [node]} if way == "partition" else form)
    kinds = (
        {"property": claimed},
        {"largest": claimed, "proved": proper},
        {"least": claimed, "proved": proper},
    )
    kind = next((kind for kind in kinds if set(kind) == set(data["claim"])), None)
    demand(kind, "no such claim")
    fits(data["claim"], kind, "the claim")
    for each in data["bounds"] if told else ():
        numbers = sorted(path["path"] for path in each["certificates"])
        demand(len(numbers) == each["paths"], "not every path has one bound")
        demand(numbers == list(range(len(numbers))), "not every path has one bound")
