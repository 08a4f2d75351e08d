"""Messages as the serialiser sees them, and the tokens that they are for its net."""

from dataclasses import dataclass, field

import lpn

from .tokens import Advance, Kind, WORD_BYTES, string_words

# protoacc_serializer.scala, MAX_NESTED_LEVELS 25: the stacks' entry 0 is for no message.
DEEPEST = 24
MOST_NUMBERS = 2**20  # scanned one per cycle; a limit of this reader, not of the hardware
MOST_STRING = 2**31 - 1
WORD = 32  # has bits that are read at once


@dataclass
class Field:
    """A field that is present.

    kind: SCALAR, STRING, or CLOSE for a submessage. values: per element the bytes of a scalar as
    encoded, or of a string. skew: the address of its strings modulo 16.
    """

    number: int
    kind: Kind
    values: list = field(default_factory=list)
    repeated: bool = False
    skew: int = 0
    child: "Message" = None


@dataclass
class Message:
    """A message: the fields that are present, and the lowest and highest number of its type, absent
    ones included. submessages: numbers of the type that are submessages, present or not."""

    fields: list
    lowest: int = 1
    highest: int = 1
    submessages: frozenset = frozenset()


def varint_bytes(value: int) -> int:
    """Bytes of a number of up to 64 bits (varint.scala, CombinationalVarintEncode)."""
    return max(1, (value.bit_length() + 6) // 7)


def key_bytes(number: int) -> int:
    """Bytes of the key of a field: its number and three bits of wire type."""
    return varint_bytes(number << 3)


# Bytes that a value of a type can have as encoded (descriptortablehandler_serializer.scala,
# PROTO_TYPES; fieldhandler_serializer.scala). Four bytes of memory are at most five as a varint,
# eight ten; int32 is extended to eight.
_FOUR, _EIGHT = range(1, 6), range(1, 11)
ENCODED_BYTES = {
    **dict.fromkeys(("fixed64", "sfixed64", "double"), (8,)),
    **dict.fromkeys(("fixed32", "sfixed32", "float"), (4,)),
    **dict.fromkeys(("int64", "uint64", "sint64"), _EIGHT),
    **dict.fromkeys(("uint32", "sint32", "enum"), _FOUR),
    "int32": (*_FOUR, 10),
    "bool": (1,),
}


def fitting_bytes(type: str, where: str):
    """The bytes that a value of a scalar type can have. Raises ValueError for another type."""
    if type not in ENCODED_BYTES:
        raise ValueError(
            f"{where}: the hardware has no type {type!r}; it has "
            f"{', '.join(ENCODED_BYTES)}, string, bytes, message"
        )
    return ENCODED_BYTES[type]


def string_field(number: int, lengths: list, repeated: bool, skew: int, where: str) -> Field:
    """A field of strings. Raises ValueError for one that the hardware cannot read."""
    for length in lengths:
        if length == 0:
            raise ValueError(
                f"{where}: an empty string; the hardware loads no word and waits for one for ever "
                "(fieldhandler_serializer.scala, S_STRING_LOADDATA)"
            )
        if not 1 <= length <= MOST_STRING:
            raise ValueError(f"{where}: a string has 1 to {MOST_STRING} bytes, got {length}")
    return Field(number, Kind.STRING, lengths, repeated, skew)


class Lowered:
    """The tokens of messages, one after the other, for so many handlers.

    `chunks`, `bits`: tuples in the order of the properties of Chunk and Bit; `items`: per handler
    tuples in that of Item, and `at` where the string of each begins, in bytes from the first one's:
    the driver puts them one behind the other, in words of 16 bytes. `fields`: (handler, items, where
    each is) in the order of the output. `sizes`: bytes of each message. Raises ValueError, with the
    reason, for what the hardware cannot serialise.
    """

    def __init__(self, messages: list[Message], handlers: int) -> None:
        self.chunks, self.bits = [], []
        self.items, self.at = ([[] for _ in range(handlers)] for _ in range(2))
        self.fields = []
        self._free = 0
        self._next = 0  # FieldDispatchRouter: fields go to the handlers in turn
        self.sizes = []
        for message in messages:
            self.sizes.append(self._scan(message, 1))
            self._dispatch([(Kind.END, False, True, 0, 0, 0)])

    def marking(self, net: lpn.Net) -> lpn.Marking:
        """These tokens for a net."""
        marking = lpn.Marking(net)
        marking.add("messages", count=len(self.sizes))
        marking.add_rows("chunks", self.chunks)
        marking.add_rows("bits", self.bits)
        for k, items in enumerate(self.items):
            placed = "at" in net[f"items{k}"].fields
            rows = [(*item, at) for item, at in zip(items, self.at[k])] if placed else items
            marking.add_rows(f"items{k}", rows)
        return marking

    def _dispatch(self, items, at=(0,)):
        self.items[self._next].extend(items)
        self.at[self._next].extend(at)
        self.fields.append((self._next, items, at))
        self._next = (self._next + 1) % len(self.items)

    def _scan(self, message, depth):
        """Adds the has bits of a message, and of the messages in it, in the order of the scan;
        returns its bytes."""
        if depth > DEEPEST:
            raise ValueError(
                f"a message is nested deeper than {DEEPEST} levels, the hardware's stack "
                "(protoacc_serializer.scala, MAX_NESTED_LEVELS)"
            )
        span = message.highest - message.lowest + 1
        if span > MOST_NUMBERS:
            raise ValueError(
                f"a message type has field numbers {message.lowest} to {message.highest}; the "
                f"hardware scans every one, this reader at most {MOST_NUMBERS} of them"
            )
        # Nobody sets the has bit of a repeated field without elements.
        present = {f.number - message.lowest + 1: f for f in message.fields if f.values or f.child}
        submessages = {number - message.lowest + 1 for number in message.submessages}
        size, top = 0, span
        while True:
            low = top - top % WORD
            chunk = range(top, low - 1, -1)
            children = [bit for bit in chunk if bit in submessages]
            entered = next((bit for bit in children if bit in present), None)
            leaves = Advance.NEXT_MESSAGE if depth == 1 and low == 0 else Advance.NEXT_WORD
            self.chunks.append((Advance.STAY if children else leaves,))
            at_once = leaves if children and entered is None else Advance.STAY
            for bit in chunk if entered is None else range(top, entered - 1, -1):
                last = bit == (low if entered is None else entered)
                there = bit == 0 or bit in present
                self.bits.append((there, bit == entered, last, at_once if bit == top else 0))
                if there and bit and bit != entered:
                    size += self._field(present[bit])
            if entered is not None:
                size += self._child(present[entered], depth)
                top = entered - 1
            elif low == 0:
                return size
            else:
                top = low - 1

    def _field(self, field):
        """Adds the elements of a field, last first; returns its bytes."""
        items, at = [], []
        size = 0
        for value in reversed(field.values):
            key = key_bytes(field.number)
            if field.kind == Kind.STRING:
                key += varint_bytes(value)
            items.append([field.kind, field.repeated, False, value, field.skew, key])
            at.append(self._free)
            if field.kind == Kind.STRING:
                self._free += WORD_BYTES * string_words(value, field.skew)
            size += value + key
        items[-1][2] = True
        self._dispatch(items, at)
        return size

    def _child(self, field, depth):
        """Adds a submessage and its end; returns its bytes, with length and key."""
        size = self._scan(field.child, depth + 1)
        length, key = varint_bytes(size), key_bytes(field.number)
        self._dispatch([(Kind.CLOSE, False, True, length, 0, key)])
        return size + length + key
