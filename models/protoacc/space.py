"""All messages of one shape, whose values are of any size."""

import lpn

from .inputs import read
from .messages import Field, Lowered, Message, key_bytes, varint_bytes
from .tokens import Bit, Item, Kind

_FIXED = (4, 8)  # bytes of a scalar that is taken to be of a type of fixed size
_VARINT = 10  # most bytes of another


class _Open(int):
    """Bytes of a value that are open: as many as in the file, but for the token."""

    low = high = variable = None


def space(
    net: lpn.Net,
    scalars: int = 1,
    strings: int = 1,
    least: int = 1,
    most: int = 64,
    like: str = None,
) -> lpn.InputSpace:
    """Every message of so many int64 fields and, with lower numbers, strings; or every one of the
    shape of a file's. All fields are present; the variables are the bytes of each value.

    Of a file's shape: the same fields, as many elements in each. Scalars of 4 and 8 bytes are taken
    to be of a type of fixed size, others are 1 to 10. A string keeps the bytes that its length
    takes: 1 to 127 bytes, 128 to 16383, ...; so does a submessage, whose values have ranges about
    the file's, as wide as that leaves.

    scalars, strings: how many, 1 to 15 together (their keys are one byte).
    least, most: bytes of a string, up to 127 (its length is one byte); 16-byte aligned. Of a longer
    string of a file its own bytes are the most.
    like: messages, as `lpn sim protoacc` reads them.
    """
    if not all(isinstance(n, int) for n in (scalars, strings, least, most)):
        raise ValueError("scalars, strings, least and most are whole numbers")
    if not 1 <= least <= most <= 127:
        raise ValueError(f"least and most must be 1 to 127, in order, got {least} and {most}")
    result = lpn.InputSpace(net)
    messages = _plain(scalars, strings) if like is None else read(like)
    for message in messages:
        for value in _open(message, like is not None, least, most)[1]:
            value.variable = int(value)
            if value.low < value.high:
                value.variable = result.integer(
                    f"bytes{len(result.variables)}", value.low, value.high
                )
    lowered = Lowered(messages, handlers_of(net))
    result.tokens("messages", len(messages))
    result.tokens("chunks", len(lowered.chunks), advance=[int(a) for a, in lowered.chunks])
    columns = [[int(value) for value in column] for column in zip(*lowered.bits)]
    result.tokens("bits", len(lowered.bits), **dict(zip(Bit.__annotations__, columns)))
    for k, items in enumerate(lowered.items):
        columns = dict(zip(Item.__annotations__, ([_token(v) for v in c] for c in zip(*items))))
        result.tokens(f"items{k}", len(items), **(columns if items else {}))
    return result


def handlers_of(net):
    """How many field handlers a net has."""
    return sum(name.startswith("items") for name in net.places)


def _token(value):
    return value.variable if isinstance(value, _Open) else int(value)


def _plain(scalars, strings):
    count = scalars + strings
    if min(scalars, strings) < 0 or not 1 <= count <= 15:
        raise ValueError(f"scalars and strings must be 1 to 15 together, got {count}")
    fields = [Field(count - k, Kind.SCALAR, [1]) for k in range(scalars)]
    fields += [Field(strings - k, Kind.STRING, [1]) for k in range(strings)]
    return [Message(fields, 1, count)]


def _open(message, like, least, most):
    """Makes the values of a message open, with their ranges; returns its bytes and these values."""
    size, found = 0, []
    for field in message.fields:
        key = key_bytes(field.number)
        if field.child is not None:
            own, values = _open(field.child, like, least, most)
            length = varint_bytes(own)
            _keep(own, length, values)
            size, found = size + own + length + key, found + values
        for k, value in enumerate(field.values):
            field.values[k] = opened = _Open(value)
            found.append(opened)
            size += value + key
            opened.low, opened.high = 1, _VARINT
            if field.kind == Kind.STRING:
                length = varint_bytes(value)
                size += length
                low, high = _of_length(length)
                opened.low, opened.high = max(low, least), min(high, max(most, value))
                opened.low = min(opened.low, value if like else opened.low)
            elif like and value in _FIXED:
                opened.low = opened.high = value
    return size, found


def _keep(size, length, values):
    """Narrows the ranges of a submessage's values, each alike, until its length, of which the file
    says `size`, always takes so many bytes.
    """
    low, high = _of_length(length)
    wide = [value for value in values if value.low < value.high]
    for value in wide:
        value.low = max(value.low, value - (size - low) // len(wide))
        value.high = min(value.high, value + (high - size) // len(wide))


def _of_length(bytes):
    """The least and the greatest length that a varint of so many bytes says."""
    return (0 if bytes == 1 else 1 << 7 * (bytes - 1)), (1 << 7 * bytes) - 1
