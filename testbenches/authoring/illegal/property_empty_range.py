"""A range without values."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[9, 1]
