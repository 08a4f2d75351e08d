"""Messages from JSON: trees of the fields that are present, and the HyperProtoBench form."""

from .messages import Field, Message, fitting_bytes, string_field
from .tokens import Kind


def messages_of(data) -> list[Message]:
    """The messages of parsed JSON: a list of trees, or one or a list of HyperProtoBench objects.

    Raises ValueError, saying where, for what is neither.
    """
    if isinstance(data, dict):
        return [_benchmark(data, "message 0")]
    if not isinstance(data, list) or not data:
        raise ValueError(
            "expected a list of messages: of trees ([[type, number, ...], ...]) or of "
            "HyperProtoBench objects ({name: {type, is_repeated, data}})"
        )
    return [
        (_benchmark if isinstance(message, dict) else _tree)(message, f"message {k}")
        for k, message in enumerate(data)
    ]


def _tree(fields, where):
    """A message of [type, number, repeated, count, encoded bytes of each], ["string" or "bytes",
    number, repeated, lengths, address modulo 16] and ["message", number, fields]."""
    if not isinstance(fields, list):
        raise ValueError(f"{where}: expected a list of fields, got {_kind(fields)}")
    read = [_tree_field(field, f"{where}, field {k}") for k, field in enumerate(fields)]
    return _message(read, where)


def _tree_field(field, where):
    if not isinstance(field, list) or len(field) < 2 or not isinstance(field[0], str):
        raise ValueError(f"{where}: expected [type, number, ...], got {_kind(field)}")
    type, number = field[0], _whole(field[1], f"{where}: the field number")
    where = f"{where} ({type} {number})"
    if type == "message":
        if len(field) != 3:
            raise ValueError(f'{where}: expected ["message", number, [fields]]')
        return Field(number, Kind.CLOSE, child=_tree(field[2], where))
    if len(field) != 5:
        raise ValueError(
            f"{where}: expected 5 entries: type, number, repeated, and then count and encoded "
            "bytes, or lengths and misalignment of strings"
        )
    repeated = _flag(field[2], f"{where}: repeated")
    if type in ("string", "bytes"):
        values = _bytes_list(field[3], where)
        skew = _whole(field[4], f"{where}: the misalignment")
        if not 0 <= skew <= 15:
            raise ValueError(f"{where}: a misalignment is 0 to 15, got {skew}")
        read = string_field(number, values, repeated, skew, where)
    else:
        values = _bytes_list(field[4], where)
        count = _whole(field[3], f"{where}: the count")
        if count != len(values):
            raise ValueError(f"{where}: its count is {count}, but it has {len(values)} values")
        for value in values:
            if value not in fitting_bytes(type, where):
                raise ValueError(f"{where}: a value of this type is never {value} bytes")
        read = Field(number, Kind.SCALAR, values, repeated)
    if not repeated and len(values) != 1:
        raise ValueError(f"{where}: it is not repeated, but has {len(values)} values")
    return read


def _benchmark(fields, where):
    """A message of {name: {type, is_repeated, data}}: the first has the highest number, every one
    is present."""
    read = []
    for k, (name, field) in enumerate(fields.items()):
        here = f"{where}, {name}"
        if not isinstance(field, dict) or not {"type", "data"} <= field.keys():
            raise ValueError(f"{here}: expected {{type, is_repeated, data}}, got {_kind(field)}")
        number, data = len(fields) - k, field["data"]
        if field["type"] == "submessage":
            if not isinstance(data, dict):
                raise ValueError(
                    f"{here}: the data of a submessage is an object; repeated submessages are not "
                    "implemented in the hardware"
                )
            read.append(Field(number, Kind.CLOSE, child=_benchmark(data, here)))
            continue
        values = _bytes_list(data, here)
        repeated = _flag(field.get("is_repeated", False), f"{here}: is_repeated")
        repeated = repeated or len(values) != 1
        if field["type"] == "nonscalar":
            read.append(string_field(number, values, repeated, 0, here))
        elif field["type"] == "scalar":
            for value in values:
                if not 1 <= value <= 10:
                    raise ValueError(f"{here}: a scalar is 1 to 10 bytes, got {value}")
            read.append(Field(number, Kind.SCALAR, values, repeated))
        else:
            raise ValueError(
                f"{here}: the type {field['type']!r} is not scalar, nonscalar or submessage"
            )
    return _message(read, where)


def _message(fields, where):
    """Numbers from 1 to the highest that is there, those of submessages as they are there."""
    numbers = [field.number for field in fields]
    twice = next((n for k, n in enumerate(numbers) if n in numbers[:k]), None)
    if twice is not None:
        raise ValueError(f"{where}: the field number {twice} is there twice")
    for number in numbers:
        if not 1 <= number < 2**29:
            raise ValueError(f"{where}: a field number is 1 to 536870911, got {number}")
    children = frozenset(field.number for field in fields if field.child is not None)
    return Message(fields, 1, max(numbers, default=1), children)


def _bytes_list(values, where):
    if not isinstance(values, list):
        raise ValueError(f"{where}: expected a list of sizes in bytes, got {_kind(values)}")
    return [_whole(value, f"{where}: a size") for value in values]


def _whole(value, what):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{what} must be a whole number, got {_kind(value)}")
    return value


def _flag(value, what):
    if value not in (0, 1):  # true and false as well
        raise ValueError(f"{what} must be true or false, got {_kind(value)}")
    return bool(value)


def _kind(value):
    kinds = {str: "text", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), repr(value))
