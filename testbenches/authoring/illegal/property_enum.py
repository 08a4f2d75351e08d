"""An enumeration of strings."""

import enum

import lpn


class Kind(enum.Enum):
    READ = "r"
    WRITE = "w"


class Packet(lpn.Token):
    kind: Kind
