"""The tokens of the serialiser's net."""

import enum

import lpn


WORD_BYTES = 16  # read, and written, at once
TAGS = 16  # reads that the memory has not answered: RequestQueueDepth


def string_words(bytes, skew):
    """Words that hold a string which begins so far into the first."""
    return (bytes + skew + (WORD_BYTES - 1)) // WORD_BYTES


class Advance(enum.IntEnum):
    """What the loader of has-bits words may do next."""

    STAY = 0
    NEXT_WORD = 1  # of this message, or of the one around it
    NEXT_MESSAGE = 2


class Kind(enum.IntEnum):
    """What a field handler has to do."""

    SCALAR = 0
    STRING = 1
    CLOSE = 2  # the end of a submessage
    END = 3  # the end of a message


class Chunk(lpn.Token):
    """Up to 32 has bits of a message, and the word that says which are submessages."""

    advance: Advance  # with that word: there are none


class Bit(lpn.Token):
    """A field number, from the highest of a chunk down; 0 is the end of the message."""

    present: bool
    child: bool  # a submessage
    last: bool  # of the chunk
    advance: Advance  # with the first bit: the chunk has submessages, and none is present


class Entry(lpn.Token):
    """An entry of a descriptor table."""

    child: bool


class Item(lpn.Token):
    """An element of a field, as its handler writes it: the value, then the key."""

    kind: Kind
    repeated: bool
    last: bool  # of its field
    bytes: lpn.Int[0, 2**31]  # of the value; CLOSE: of the submessage's length; END: 0
    skew: lpn.Int[0, 15]  # of a string: its address modulo 16
    key: lpn.Int[0, 15]  # bytes of the key, and of a string's length


class PlacedItem(Item):
    """An element, and where it is."""

    at: lpn.Int[0, 2**47]  # a string's first 16 bytes, from those of the first string


class Beats(lpn.Token):
    """A read or a write."""

    beats: lpn.Int[1, 2]  # of eight bytes


class PlacedRead(Beats):
    """A read at an address."""

    at: lpn.Int[0, 2**48 - 1]
    id: lpn.Int[0, 31]


class PlacedWrite(Beats):
    """A write at an address."""

    at: lpn.Int[0, 2**48 - 1]
    bytes: lpn.Int[1, 16]
    id: lpn.Int[0, 1]


class Beat(lpn.Token):
    """Eight bytes on the read port that all share."""

    client: lpn.Int[0, 15]
    last: bool  # of the read


class Loading(lpn.Token):
    """A string of which words are still to come."""

    left: lpn.Int[1, 2**27 + 1]


class Word(lpn.Token):
    """What a handler hands to the writer at once."""

    bytes: lpn.Int[0, 16]
    last: bool  # of the field
    ends: bool  # the message


class Turn(lpn.Token):
    """Which handler is next."""

    handler: lpn.Int[0, 13]


class Bytes(lpn.Token):
    """Bytes of output since the first message."""

    total: lpn.Int[0, 2**44]
