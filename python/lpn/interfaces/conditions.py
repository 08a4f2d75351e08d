"""What a space requires of its tokens beyond their ranges, kept in the interface of a list."""

import re

import _lpn

from ..spaces import text as _space_text
from ..spaces.nodes import kids as kids_of
from ..spaces.nodes import made, with_kids

__all__ = ["conditions_of", "need_conditions"]

_PROPERTY = re.compile(r"(.*)\[(\d+)\]\.(\w+)")  # the variable that a token's property is


def conditions_of(space):
    """(the conditions as plain data, those that tokens do not tell as text) of a space.

    The data: {"variables": [[place, token, property, least, most]], "nodes": as of
    InputSpace.to_json, "constraints": [node]}.
    """
    data = space.to_json()
    kept = {"variables": [], "nodes": [], "constraints": []}
    variables, numbers, untold = {}, {}, []

    def keep(k):
        made_by, *given = data["nodes"][k]
        if k not in numbers:
            kids = [keep(kid) for kid in kids_of(made_by, given)]
            if made_by == "param":
                given = [variables.setdefault(given[0], len(variables))]
            else:
                given = with_kids(made_by, given, kids)
            numbers[k] = len(kept["nodes"])
            kept["nodes"].append([made_by, *given])
        return numbers[k]

    for condition, k in zip(space._constraints, data["constraints"]):
        read = space._terms.reads(condition._id)["params"]
        if all(_PROPERTY.fullmatch(data["variables"][v][0]) for v in read):
            kept["constraints"].append(keep(k))
        else:
            untold.append(space.text(condition))
    for v in variables:
        name, lo, hi = data["variables"][v]
        place, index, name = _PROPERTY.fullmatch(name).groups()
        kept["variables"].append([place, int(index), name, lo, hi])
    return kept, untold


def need_conditions(data, tokens):
    """Raises NotImplementedError unless {place: [{property: int}]} meet conditions_of a space."""
    if not data["constraints"]:
        return
    core, values, lacking = _lpn.Net("conditions"), [], set()
    for k, (place, index, name, lo, hi) in enumerate(data["variables"]):
        core.add_param(f"v{k}", lo, (lo, hi), 0, 0)
        rows = tokens.get(place, [])
        if index < len(rows):
            values.append(rows[index][name])
        else:
            values.append(lo)
            lacking.add(k)
    numbers = made(core, data["nodes"], len(values))
    for k in data["constraints"]:
        for v in lacking.intersection(core.reads(numbers[k])["params"]):
            place, index, name, *_ = data["variables"][v]
            raise NotImplementedError(
                f"a condition of the space that this interface was made for reads "
                f"{place}[{index}].{name}, but {place} has fewer tokens here"
            )
        if not _lpn.InputSpace(core, [], [], [numbers[k]]).contains(values):
            names = [f"{place}[{index}].{name}" for place, index, name, _, _ in data["variables"]]
            condition = _space_text.Writer(core, names).write(numbers[k])
            raise NotImplementedError(
                f"the tokens do not meet a condition of the space that this interface was made "
                f"for: {condition}"
            )
