"""Reads a certificate: docs/certificates.md, "The file". What has another form is Refused."""

import json
import re
from fractions import Fraction

MOST_CHARACTERS = 1 << 28
MOST_DIGITS = 40
MOST_DEPTH = 200
WORD = 1 << 63
STEPS = {
    "split": (("unit", "tuple"), ()),
    "no input": (("multipliers",), ("denominator",)),
    "point": ((), ()),
    "relaxation": (("denominator", "multipliers"), ("budget", "quantum", "parts", "chains")),
    "solver": (("threshold", "smtlib"), ()),
}


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


def entries(value, what):
    demand(type(value) is list, f"{what} is no list")
    return value


def text_of(value, what):
    demand(type(value) is str, f"{what} is no text")
    return value


def has(value, what, names, optional=()):
    demand(type(value) is dict, f"{what} is no object")
    for name in names:
        demand(name in value, f"{what} has no {name!r}")
    for name in value:
        demand(name in names or name in optional, f"{what} has {name[:40]!r}, which nobody knows")
    return value


def shape(data):
    ways = [way for way in ("tried", "states") if type(data) is dict and way in data]
    way = (ways or ["partition"])[0]
    names = ["lpn certificate", "claim", "stalls", "net", "space", "bounds", "witness"]
    names += ["interface denominator", way]
    has(data, "it", names, ("terms",) if way == "partition" else ())
    demand(whole(data["lpn certificate"], "the format") == 1, "it is of another format")
    known = type(data["stalls"]) is bool or way == "states" and data["stalls"] is None
    demand(known, "'stalls' is neither true nor false")
    text_of(data["net"], "'net'")
    whole(data["interface denominator"], "the interface's denominator", 1)
    claim = data["claim"]
    demand(type(claim) is dict, "the claim is no object")
    demand(
        set(claim) in ({"property"}, {"largest", "proved"}, {"least", "proved"}), "no such claim"
    )
    for name, value in claim.items():
        if name == "proved":
            number(value)
        else:
            clear = re.fullmatch(r'[ !"$-~]{1,10000}', text_of(value, name), re.ASCII)
            demand(clear, f"its {name} is not printable")
    if way == "tried":
        whole(has(data["tried"], "'tried'", ("inputs",))["inputs"], "the number of inputs")
    elif way == "states":
        whole(has(data["states"], "'states'", ("most",))["most"], "states", 1, 1_000_000)
    else:
        settings = ("max_paths", "max_firings", "question_seconds", "enumerate", "seed")
        has(data["partition"], "'partition'", settings)
        for name, value in data["partition"].items():
            whole(value, name)
        whole(data["partition"]["seed"], "the seed", 0, WORD - 1)
    if data["witness"] is not None:
        demand(type(data["witness"]) is dict, "the witness is no object")
        for value in data["witness"].values():
            whole(value, "a value of the witness")
    for bound in entries(data["bounds"], "'bounds'"):
        shape_of_bound(bound, way, "terms" in data)


def shape_of_bound(bound, way, told):
    if way == "states":
        has(bound, "a bound", ("most", "reached"), ("form",))
        whole(bound["most"], "a bound's most")
        for part in entries(bound["reached"], "what is bounded by states"):
            has(part, "a bound by states", ("atom", "zones", "values", "enough"))
            entries(part["atom"], "an atom")
            whole(part["zones"], "zones", 0, 2**32 - 1)
            whole(part["values"], "values", 0, 2**62 - 1)
            if part["enough"] is not None:
                whole(part["enough"], "what is enough", 1 - 2**62, 2**62 - 1)
        return
    if way == "tried":
        has(bound, "a bound", ("most",), ("form",))
        whole(bound["most"], "a bound's most")
        return
    needed = ("most", "paths", "certificates") + (("offset", "maximum") if told else ())
    has(bound, "a bound", needed, ("form", "offset", "maximum"))
    whole(bound["most"], "a bound's most")
    whole(bound["paths"], "a bound's number of paths")
    if told:
        whole(bound["offset"], "a bound's offset")
        demand(type(bound["maximum"]) is bool, "'maximum' is neither true nor false")
    members = ("path", "bound", "steps") + (("problem",) if told else ())
    for each in entries(bound["certificates"], "a bound's certificates"):
        has(each, "a path's certificate", members)
        whole(each["path"], "the number of a path", 0)
        word(each["bound"], "a path's bound")
        for step in entries(each["steps"], "steps"):
            shape_of_step(step)
    if told:
        numbers = sorted(each["path"] for each in bound["certificates"])
        demand(len(numbers) == bound["paths"], "not every path has one bound")
        demand(numbers == list(range(len(numbers))), "not every path has one bound")


def shape_of_step(step):
    demand(type(step) is dict and type(step.get("kind")) is str, "a step has no kind")
    demand(step["kind"] in STEPS, "no kind of step")
    needed, optional = STEPS[step["kind"]]
    has(step, "a step", ("kind", *needed), optional)
    for name, value in step.items():
        if name in ("unit", "tuple", "budget"):
            whole(value, name, 0, 2**32 - 1)
        elif name in ("denominator", "quantum", "threshold"):
            word(value, name)
        elif name == "smtlib":
            text_of(value, name)
        elif name == "multipliers":
            words(value)
        elif name == "chains":
            for chain in entries(value, "chains"):
                demand(type(chain) is list and len(chain) == 2, "no chain")
                shape_of_chain(*chain)
        elif name == "parts":
            for part in entries(value, "parts"):
                shape_of_part(part)


def words(values):
    for each in entries(values, "multipliers"):
        word(each, "a multiplier")


def shape_of_chain(weight, arcs):
    word(weight, "a chain's weight")
    for arc in entries(arcs, "a chain's arcs"):
        whole(arc, "an arc", 0, 2**32 - 1)


def shape_of_part(part):
    needed = ("instant", "weight", "multipliers")
    has(part, "a part", needed, ("budget", "quantum", "tolls", "behind"))
    word(part["weight"], "a part's weight")
    words(part["multipliers"])
    for name in ("instant", "budget", "behind"):
        if name in part:
            whole(part[name], name, 0, 2**32 - 1)
    word(part.get("quantum", 1), "quantum")
    for toll in entries(part.get("tolls", []), "tolls"):
        demand(type(toll) is list and len(toll) == 3, "no toll")
        whole(toll[0], "a toll's instant", 0, 2**32 - 1)
        shape_of_chain(toll[1], toll[2])
