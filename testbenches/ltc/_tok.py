"""Reader of .tok files: the initial markings of the reference toolchain's nets.

Per place a line `P <place> <tokens> <properties> <property names...>`, then, when the place has
properties, one line of integers per token.
"""

from array import array
from pathlib import Path

import lpn


def read(path):
    """The places of a .tok file: [(name, tokens, {property: array('q')})], in order of the file.

    Raises OSError when the file cannot be read and ValueError, with path and line, for what is
    not a .tok file.
    """
    lines = Path(path).read_text(encoding="ascii").splitlines()
    places, line = [], 0
    while line < len(lines):
        words = lines[line].split()
        line += 1
        if not words:
            continue
        try:
            if words[0] != "P":
                raise ValueError
            name, count, width = words[1], int(words[2]), int(words[3])
            properties = words[4:]
            if count < 0 or len(properties) != width:
                raise ValueError
        except (ValueError, IndexError):
            raise ValueError(
                f"{path}:{line}: expected 'P <place> <tokens> <properties> <names...>', "
                f"got {lines[line - 1]!r}"
            ) from None
        columns = {}
        if width:
            # All values of the place at once: a token at a time is ten times slower.
            try:
                values = array("q", map(int, " ".join(lines[line : line + count]).split()))
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{path}:{line}: tokens of {name}: {error}") from None
            if len(values) != count * width:
                raise ValueError(
                    f"{path}:{line}: {name} has {len(values)} values, not {count} x {width}"
                )
            columns = {key: values[k::width] for k, key in enumerate(properties)}
            line += count
        places.append((name, count, columns))
    return places


class BuiltIn:
    """`count` equal tokens that a net has itself: free slots, idle units, whose turn it is."""

    def __init__(self, count, **values):
        self.count = count
        self.values = values

    def check(self, path, name, count, columns):
        """Raises ValueError unless the file has the same tokens in its place `name`."""
        agree = count == self.count and columns.keys() == self.values.keys()
        for key, column in columns.items():
            agree = agree and all(value == self.values[key] for value in column)
        if not agree:
            values = "".join(f" with {key} {value}" for key, value in self.values.items())
            raise ValueError(
                f"{path}: place '{name}' must have {self.count} tokens{values}: they are part of "
                "the net"
            )


def marking(path, net, names, properties=None):
    """The marking of `net` that a .tok file holds.

    `names`: place of the file -> place of the net, or BuiltIn for tokens that the net has itself.
    The files repeat those, and must agree. `properties`: property of the file -> property of the
    net, where they differ.

    Raises as read does, ValueError for a place that `names` lacks or a file that does not agree,
    and lpn.Error for tokens that do not fit their place.
    """
    properties = properties or {}
    result = lpn.Marking(net)
    for name, count, columns in read(path):
        if name not in names:
            raise ValueError(f"{path}: net '{net.name}' knows no place '{name}'")
        place = names[name]
        if isinstance(place, BuiltIn):
            place.check(path, name, count, columns)
        elif columns:
            columns = {properties.get(key, key): column for key, column in columns.items()}
            result.add_columns(place, **columns)
        else:
            result.add(place, count=count)
    return result


def columns(marking, net):
    """{place: {property: [values]}} of what a marking holds; {} per place without properties."""
    found = {}
    for place in net.places:
        rows = marking.rows(place)
        if rows:
            found[place] = {
                name: [row[k] for row in rows] for k, name in enumerate(net[place].fields)
            }
    return found
