"""An input space as JSON data."""

from ..authoring.check import plain
from ..authoring.expr import Expr
from ..errors import listed, mistake
from .nodes import Nodes, made
from .terms import decided, plain_or
from .token import SpaceToken, any_later

__all__ = ["read", "written"]

FORMAT = 1


def written(space, terms=None):
    """What InputSpace.to_json says."""
    terms_of = Nodes(space._terms)
    add = terms_of.number
    params = {name: add(space._term(value)) for name, value in space._params.items()}
    tokens = []
    for place, rows in space._tokens.items():
        tokens.append(
            {
                "place": place,
                "properties": list(space._net[place].fields),
                "rows": [[add(space._term(v)) for v in row._values.values()] for row in rows],
                "count": add(space._counts[place]._id) if place in space._counts else None,
                **({"at": [add(space._term(t._at)) for t in rows]} if any_later(rows) else {}),
            }
        )
    constraints = [add(c._id) for c in space._constraints]
    more = {"terms": {name: add(number) for name, number in terms.items()}} if terms else {}
    return {
        "format": FORMAT,
        "net": space._net.name,
        "variables": [[v.name, v.lo, v.hi] for v in space._variables],
        "nodes": terms_of.nodes,
        "params": params,
        "fixed": {
            name: value for name, value in space._fixed().items() if name not in space._params
        },
        "tokens": tokens,
        "constraints": constraints,
        **({} if space._done_count is None else {"done_count": space._done_count}),
        **more,
    }


def read(space, data):
    """Fills a new space with what written() made. Raises Error, or what Python does for other data."""
    if data["format"] != FORMAT:
        raise mistake(
            "E-space",
            f"an input space in format {data['format']!r}; this program reads {FORMAT}",
        )
    for name, lo, hi in data["variables"]:
        if not isinstance(name, str):
            raise TypeError("a variable's name must be a string")
        space._variable(name, lo, hi)
    numbers = made(space._terms, data["nodes"], len(space._variables))

    def term(k):
        if type(k) is not int or not 0 <= k < len(numbers):
            raise IndexError("no such node")
        return Expr(space._scope, numbers[k])

    space.done_count = data.get("done_count")
    for name, k in data["params"].items():
        space._known_param(name)
        space._params[name] = plain_or(term(k))
    for name, value in data["fixed"].items():
        space._known_param(name)
        space._set[name] = plain(value, f"parameter '{name}'")
    for entry in data["tokens"]:
        place = space._place(entry["place"])
        if place.name in space._tokens:
            raise ValueError(f"tokens of '{place.name}' twice")
        if list(entry["properties"]) != list(place._type.fields):
            raise mistake(
                "E-space",
                f"place '{place.name}' has other properties in the file than in net "
                f"'{space._net.name}', where it has: {listed(place._type.fields)}",
            )
        count = None if entry["count"] is None else term(entry["count"])
        rows = []
        times = entry.get("at", [])
        if times and len(times) != len(entry["rows"]):
            raise ValueError(f"{len(times)} times for {len(entry['rows'])} tokens")
        for index, row in enumerate(entry["rows"]):
            if len(row) != len(place._type.fields):
                raise ValueError(f"token {index} of '{place.name}' has {len(row)} values")
            values = {name: plain_or(term(k)) for name, k in zip(place._type.fields, row)}
            present = True if count is None else decided(count > index)
            at = plain_or(term(times[index])) if times else 0
            rows.append(SpaceToken(place.name, index, values, present, at))
        space._tokens[place.name] = rows
        if count is not None:
            space._counts[place.name] = count
    space._constraints = [term(k) for k in data["constraints"]]
    for name, value in [*space._params.items(), *space._set.items()]:
        _kept(space, name, value)
    space._read_terms = {name: term(k)._id for name, k in data.get("terms", {}).items()}


def _kept(space, name, value):
    """A parameter that is read must be in its range for every input, as param() has it."""
    known = space._known_param(name)
    if known.range is None or isinstance(value, int):
        return space._fits(value, known.range, f"parameter '{name}'")
    lo, hi = known.range
    least, most = value._bounds()
    needed = ([value >= lo] if least < lo else []) + ([value <= hi] if most > hi else [])
    if not {each._id for each in needed} <= {each._id for each in space._constraints}:
        raise mistake(
            "E-range",
            f"parameter '{name}' = {space.text(value)} is {least}..{most}, and no condition keeps it in "
            f"its range {lo}..{hi}",
        )
    return None
