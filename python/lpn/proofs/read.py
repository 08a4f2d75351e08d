"""Certificates as text and as data: what has another form than `lpn smt --certificate` writes is
refused before anything is computed from it.
"""

import json
import re
from fractions import Fraction

from ..errors import without_place
from ..words import shortened
from .answer import FORMAT

__all__ = ["data_of", "data_of_text", "fraction", "refuse", "shape", "whole_number"]

_MOST_CHARACTERS = 1 << 28
_MOST_DIGITS = 40
_MOST_CLAIM = 10_000
_STEPS = {  # what a step of each kind has, and what it may have
    "split": (("unit", "tuple"), ()),
    "no input": (("multipliers",), ("denominator",)),
    "point": ((), ()),
    "relaxation": (("denominator", "multipliers"), ("budget", "quantum", "parts", "chains")),
    "solver": (("threshold", "smtlib"), ()),
}
MOST_STATES = 1_000_000  # that are looked at for one quantity
_NUMBER = re.compile(rf"-?\d{{1,{_MOST_DIGITS}}}(/\d{{1,{_MOST_DIGITS}}})?", re.ASCII)


def refuse(why):
    """The Error for what is no certificate."""
    return without_place(
        "E-certificate", f"this is no certificate as `lpn smt --certificate` writes it ({why})"
    )


def data_of(path):
    """The data of a certificate's file, read strictly: no member twice, whole numbers only.

    Raises Error "E-certificate" for anything else, and OSError where there is no such file.
    """
    with open(path, encoding="utf-8") as file:
        try:
            text = file.read(_MOST_CHARACTERS + 1)
        except UnicodeDecodeError as error:
            raise refuse(f"no UTF-8: {error.reason} at byte {error.start}") from None
    return data_of_text(text)


def data_of_text(text):
    """The data of a certificate's text, read as strictly."""
    if len(text) > _MOST_CHARACTERS:
        raise refuse(f"more than {_MOST_CHARACTERS} characters")
    try:
        return json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_int,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except ValueError as error:
        raise refuse(f"no JSON: {error}") from None
    except RecursionError:
        raise refuse("nested too deeply") from None


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise refuse(f"{_short(twice)} stands in one object twice")
    return members


def _int(text):
    if len(text) > _MOST_DIGITS:
        raise refuse(f"a number of {len(text)} digits")
    return int(text)


def _no_number(text):
    raise refuse(f"{text[:_MOST_DIGITS]} is no whole number")


def _short(value):
    return shortened(ascii(value))


def whole_number(value, what):
    """An int; True, 1.0 and infinity are none. Raises Error "E-certificate"."""
    if type(value) is not int:
        raise refuse(f"{what} is no whole number but {_short(value)}")
    return value


def fraction(value, what):
    """A Fraction of an int or of text such as "443/5". Raises Error "E-certificate"."""
    if type(value) is int:
        return Fraction(value)
    if type(value) is not str or not _NUMBER.fullmatch(value):
        raise refuse(f"{what} is no number but {_short(value)}")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise refuse(f"{what} is no number but {_short(value)}") from None


def _object(data, name, members, optional=()):
    if type(data) is not dict:
        raise refuse(f"{name} is no object")
    for member in members:
        if member not in data:
            raise refuse(f"{name} has no '{member}'")
    for member in data:
        if member not in members and member not in optional:
            raise refuse(f"{name} has {_short(member)}, which nobody knows")


def _list(value, name):
    if type(value) is not list:
        raise refuse(f"{name} is no list")
    return value


def _text(value, name):
    if type(value) is not str:
        raise refuse(f"{name} is no text")
    return value


def _claim(claim):
    if type(claim) is not dict or set(claim) not in (
        {"property"},
        {"largest", "proved"},
        {"least", "proved"},
    ):
        raise refuse("its claim is neither a property nor a largest or least quantity")
    for name, value in claim.items():
        if name == "proved":
            fraction(value, "what is proved")
        # What is shown to a reader must be all that is proved, so no comments.
        elif not re.fullmatch(rf"[ !-\"$-~]{{1,{_MOST_CLAIM}}}", _text(value, name), re.ASCII):
            raise refuse(f"its {name} is no formula of up to {_MOST_CLAIM} printable characters")


def _partition(data):
    _object(
        data,
        "'partition'",
        ("max_paths", "max_firings", "question_seconds", "enumerate", "seed"),
    )
    for name, value in data.items():
        whole_number(value, f"'{name}'")
    if not 0 <= data["seed"] < 1 << 63:
        raise refuse("the seed is outside 0..2**63 - 1")


def _space(space):
    members = ("format", "net", "variables", "nodes", "params", "fixed", "tokens", "constraints")
    _object(space, "the space", members, optional=("terms", "done_count"))
    if not 0 <= whole_number(space.get("done_count", 0), "the done count") < 1 << 63:
        raise refuse("the done count is outside 0..2**63 - 1")
    for name in ("variables", "nodes", "tokens", "constraints"):
        _list(space[name], f"the space's {name}")
    for name in ("variables", "nodes"):
        for each in space[name]:
            _list(each, f"one of the space's {name}")
    for entry in space["tokens"]:
        members = ("place", "properties", "rows", "count")
        _object(entry, "the space's tokens", members, optional=("at",))
        if "at" in entry and len(_list(entry["at"], "times of tokens")) == 0:
            raise refuse("times of no tokens")
        for row in _list(entry["rows"], "rows of tokens"):
            _list(row, "a row of tokens")
    _object(space.get("terms", {}), "the space's terms", (), optional=("E",))


def _reached(parts):
    for part in _list(parts, "what is bounded by states"):
        _object(part, "a bound by states", ("atom", "zones", "values", "enough"))
        _list(part["atom"], "an atom")
        for name, most in (("zones", 1 << 32), ("values", 1 << 62)):
            if not 0 <= whole_number(part[name], f"'{name}'") < most:
                raise refuse(f"'{name}' is outside 0..{most - 1}")
        enough = part["enough"]
        if enough is not None and abs(whole_number(enough, "what is enough")) >= 1 << 62:
            raise refuse("what is enough is beyond 2**62")


def _bound(bound, way, told):
    if way == "states":
        _object(bound, "a bound", ("most", "reached"), ("form",))
        whole_number(bound["most"], "a bound's most")
        _reached(bound["reached"])
        return
    tried = way == "tried"
    members = ("most",) if tried else ("most", "paths", "certificates")
    if told:
        members += ("offset", "maximum")
    optional = ("form",) if tried else ("form", "maximum", "offset")
    _object(bound, "a bound", members, optional)
    whole_number(bound["most"], "a bound's most")
    if tried:
        return
    if told or "offset" in bound:
        whole_number(bound["offset"], "a bound's offset")
    whole_number(bound["paths"], "a bound's number of paths")
    members = ("path", "bound", "steps", "problem") if told else ("path", "bound", "steps")
    for each in _list(bound["certificates"], "a bound's certificates"):
        _object(each, "a path's certificate", members)
        whole_number(each["path"], "the number of a path")
        for step in _list(each["steps"], "steps"):
            _step(step)


def _step(step):
    kind = step.get("kind") if type(step) is dict else None
    if type(kind) is not str or kind not in _STEPS:
        raise refuse(f"no kind of step {_short(kind)}")
    members, optional = _STEPS[kind]
    _object(step, "a step", ("kind", *members), optional)
    for part in _list(step.get("parts", []), "parts"):
        optional = ("budget", "quantum", "tolls", "behind")
        _object(part, "a part", ("instant", "weight", "multipliers"), optional)


def shape(data):
    """Raises Error "E-certificate" unless the data has the members of a certificate, each of its
    kind.
    """
    if type(data) is dict and "lpn certificate" in data and data["lpn certificate"] != FORMAT:
        raise without_place(
            "E-certificate",
            f"a certificate in format {_short(data['lpn certificate'])}; this program reads "
            f"{FORMAT}",
        )
    ways = [way for way in ("tried", "states") if type(data) is dict and way in data]
    way = (ways or ["partition"])[0]
    _object(
        data,
        "it",
        (
            "lpn certificate",
            "claim",
            "stalls",
            "net",
            "space",
            way,
            "bounds",
            "witness",
            "interface denominator",
        ),
        optional=("terms",) if way == "partition" else (),
    )
    whole_number(data["lpn certificate"], "the format")
    _claim(data["claim"])
    if type(data["stalls"]) is not bool and (way != "states" or data["stalls"] is not None):
        raise refuse("'stalls' is neither true nor false")
    _text(data["net"], "'net'")
    if way == "tried":
        _object(data["tried"], "'tried'", ("inputs",))
        whole_number(data["tried"]["inputs"], "the number of inputs")
    elif way == "states":
        _object(data["states"], "'states'", ("most",))
        if not 1 <= whole_number(data["states"]["most"], "the number of states") <= MOST_STATES:
            raise refuse(f"the number of states is outside 1..{MOST_STATES}")
    else:
        _partition(data["partition"])
    if whole_number(data["interface denominator"], "the interface's denominator") < 1:
        raise refuse("the interface is divided by what is not positive")
    _space(data["space"])
    for bound in _list(data["bounds"], "'bounds'"):
        _bound(bound, way, "terms" in data)
    if data["witness"] is not None:
        if type(data["witness"]) is not dict:
            raise refuse("its witness is no object")
        for name, value in data["witness"].items():
            whole_number(value, f"the witness's {_short(name)}")
