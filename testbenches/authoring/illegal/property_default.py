"""A property with a default."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[0, 9] = 3
